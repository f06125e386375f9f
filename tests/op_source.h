/* Kernels of one operation each, or one idiom, as OpenCL C text: every operation with every type and number of lanes
   that it is for. Each reads up to three values, and writes one: `kernel void NAME(global R *o, global const A *x,
   global const B *y, global const C *z)`. All are defined: signed numbers do not overflow, shifts stay below the
   width. What the standard leaves open (the zero that fmin gives) is made the same before it can show. */
#ifndef OP_SOURCE_H
#define OP_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum op_kind {
    OP_CHAR,
    OP_UCHAR,
    OP_SHORT,
    OP_USHORT,
    OP_INT,
    OP_UINT,
    OP_LONG,
    OP_ULONG,
    OP_HALF,
    OP_FLOAT,
    OP_DOUBLE,
    OP_KINDS
} op_kind;

enum { OP_TEXT = 4096, OP_MOST_LANES = 16, OP_GROUP = 16 };

/* What a kernel is about. */
enum {
    OP_ARITHMETIC = 1 << 0, /* operators and built-in functions */
    OP_CONVERSIONS = 1 << 1,
    OP_MEMORY = 1 << 2, /* values through memory of each space, volatile or not */
    OP_IDIOMS = 1 << 3, /* of 8 and 16 bits, mostly */
    OP_RANDOM = 1 << 4, /* random expressions over small integers; as many as asked for */
    OP_ALL_FAMILIES = (1 << 5) - 1
};
extern const char *const op_family_names[]; /* by bit */

typedef struct op_kernel {
    unsigned family;
    op_kind result, operands[3];
    unsigned ulps; /* that devices may be off by */
    char text[OP_TEXT];
} op_kernel;

/* Bytes of a number of the kind, and its name. */
unsigned op_size(op_kind kind);
const char *op_name(op_kind kind);
static inline bool op_is_float(op_kind kind) { return kind >= OP_HALF; }

/* Calls `visit` for each kernel of the families; the kernel's name in the text is k and its number. `seed` and
   `count`: which random expressions, and how many. Ends where visit gives false. */
typedef bool op_visitor(void *user, const op_kernel *kernel, unsigned number);
void op_each(unsigned families, uint64_t seed, unsigned count, op_visitor *visit, void *user);

#endif
