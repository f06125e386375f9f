/* What `quern run --compare` gathers from each device. */
#ifndef COMPARE_H
#define COMPARE_H

#include "tool.h"

enum { COMPARE_DEVICES = 16, COMPARE_OUTPUTS = 64 };

typedef struct difference {
    double largest; /* between two numbers; infinite where one alone is none */
    bool is_beyond; /* the tolerance */
    uint64_t place; /* the first number that is */
} difference;

typedef struct comparison {
    bool untimed; /* results alone */
    size_t num_outputs, num_rows;
    struct {
        uint32_t index; /* of the argument */
        const tool_arg *arg;
        char name[64]; /* the parameter's */
    } outputs[COMPARE_OUTPUTS];
    struct {
        const char *device;
        double median_ns;
        unsigned char *data[COMPARE_OUTPUTS]; /* from malloc */
    } rows[COMPARE_DEVICES];
} comparison;

/* Prints the table. TOOL_DIFFERENT after a message where numbers differ from the first device's by more than the
   tolerance, both as they are and relative to the number. */
int comparison_print(const comparison *c, double tolerance);
/* Whether the last row's results differ from the first's by more than the tolerance: then a message that begins with `what`. */
bool comparison_differs(const comparison *c, double tolerance, const char *what);
void comparison_drop_last(comparison *c);
void comparison_free(comparison *c);

#endif
