/* What the files of the generator of random kernels share: its state, what it plants, and expressions. */
#ifndef RANDOM_INTERNAL_H
#define RANDOM_INTERNAL_H

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "random_source.h"

/* ---- types ---- */

typedef enum kind { CHAR, UCHAR, SHORT, USHORT, INT, UINT, LONG, ULONG, FLOAT, DOUBLE, KINDS } kind;

typedef struct kind_facts {
    const char *name, *work; /* arithmetic is done in `work`, which does not overflow */
    unsigned bits;
    bool is_signed;
} kind_facts;

typedef struct variable {
    const char *name;
    kind kind;
    unsigned lanes;
} variable;

enum { NUM_VARIABLES = 28, NUM_UNIFORM = 4, LOCAL_INTS = 64 };

extern const kind_facts random_kinds[KINDS];
extern const variable random_variables[NUM_VARIABLES];

/* ---- the generator's state ---- */

typedef struct generator {
    uint64_t state;
    char *text;
    size_t length, size;
    unsigned features, indent, labels, loops;
    int budget;
    uint32_t active;      /* bits of variables[] */
    bool arrays, generic; /* private arrays; pointers to three address spaces */
    bool divergent;       /* work-items of a group may not all be here */
    bool returns;         /* work-items may have returned, or may */
    bool uniform;         /* expressions must be uniform */
    bool helper;          /* in a function that gives an int */
    unsigned nested;      /* loops around */
    bool steady[8];       /* by loop: barriers are in it, so no work-item may leave it alone */
    random_plant *plant;  /* NULL: no fault */
} generator;

static inline uint32_t below(generator *g, uint32_t n) {
    g->state = g->state * 6364136223846793005u + 1442695040888963407u;
    uint32_t x = (uint32_t)(g->state >> 33);
    return (x ^ x >> 15) % n;
}

static inline bool chance(generator *g, uint32_t one_in) { return below(g, one_in) == 0; }

static inline void put(generator *g, const char *format, ...) {
    va_list args;
    va_start(args, format);
    int more = vsnprintf(g->text + g->length, g->size - g->length, format, args);
    va_end(args);
    size_t left = g->size - g->length;
    g->length = more < 0 || (size_t)more >= left ? g->size : g->length + (size_t)more;
    if (g->length == g->size && g->size) g->text[--g->length] = 0;
}

/* ---- faults ---- */

/* Whether this place, which could have the fault, is the one that has it. */
static inline bool is_planted(generator *g, random_fault fault) {
    return g->plant && g->plant->fault == fault && g->plant->places++ == g->plant->at;
}

static inline bool tells(const generator *g) { return g->plant && g->plant->form == RANDOM_EVIDENCE; }

/* Before an access to what the group shares: its place among the words of `shared` and `counters`. */
static inline void note_access(generator *g, random_access kind, const char *place) {
    if (tells(g)) put(g, "note(evidence, gid, epoch, %d, %s); ", (int)kind, place);
}

static inline void meet_at_barrier(generator *g) {
    const bool is_left_out = is_planted(g, RANDOM_NO_BARRIER);
    if (!is_left_out || tells(g)) put(g, "barrier(CLK_LOCAL_MEM_FENCE);");
    if (!is_left_out && tells(g)) put(g, " epoch++;");
}

/* Behind the index that begins at `from`. */
static inline void plant_index(generator *g, size_t from, unsigned size) {
    char index[1024];
    const size_t length = g->length - from;
    if (!is_planted(g, RANDOM_FAR_INDEX) || length >= sizeof index) return;
    memcpy(index, g->text + from, length);
    index[length] = 0;
    g->length = from;
    put(g, tells(g) ? "far(evidence, %s + 1, %u)" : "%s + 1", index, size);
}

static inline void line(generator *g) { put(g, "%*s", (int)(4 * g->indent), ""); }

/* ---- expressions ---- */

void random_number(generator *g, kind k, unsigned depth);
void random_vector(generator *g, kind k, unsigned lanes, unsigned depth);
void random_condition(generator *g, unsigned depth);
/* One that is the same in all work-items of the group. */
void random_uniform_number(generator *g, unsigned depth);
/* An index below a power of two, which a fault may make one too far; and one that none does. */
void random_index_below(generator *g, unsigned size, unsigned depth);
void random_any_index(generator *g, unsigned size, unsigned depth);
/* A variable of the kind and number of lanes, or NULL. */
const variable *random_pick(generator *g, kind k, unsigned lanes);
const char *random_vector_name(char *name, kind k, unsigned lanes); /* "float4", in 16 bytes */

#endif
