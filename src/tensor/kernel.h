/* How a group becomes a kernel: what its files share. access.c finds out where memory is read and written and joins loops; shape.c
   decides how the work is cut; value.c writes what elements are, kernel.c what is done with them. assemble.c makes the whole, of one group
   or, by multi.c, of several. */
#ifndef QN__TENSOR_KERNEL_H
#define QN__TENSOR_KERNEL_H

#include "tensor/plan.h"

/* What is known of an instance of the demand. */
typedef struct qn__value {
    qn__form form;        /* of a load: the address, of an INDEX: the number */
    bool loads;           /* it is read from memory */
    bool is_inner;        /* it differs from one iteration of the inner loop to the next */
    bool is_fixed;        /* it is the same for all work-items */
    uint32_t phase;       /* reductions of so many phases have to be done before */
    bool needed, written; /* by the phase that is being written; in the text already */
    uint64_t phases;      /* that need it, as bits */
    bool held, kept;      /* registers keep it for later phases; they have it already */
    bool turned;          /* it is read by way of a tile */
    qn__bounds bounds;    /* of f32 */
    uint32_t parameter;   /* of loads and constants: which of the kernel's */
    char name[16];
} qn__value;

/* An array that the kernel reads or writes. */
typedef struct qn__access {
    qn__node *node;
    qn__form form; /* of outputs: the address */
    bool written;
} qn__access;

/* How work-items share a group's rows. */
typedef enum qn__team {
    QN__ALONE,     /* a work-item has a row, or an element of a map */
    QN__SUB_GROUP, /* so many neighbours of a sub-group */
    QN__GROUP,     /* a work-group */
    QN__COLUMNS /* rows lie across: neighbours have neighbouring rows, and the work-items above each other one */
} qn__team;

typedef struct qn__shape {
    qn__team team;
    uint32_t lanes; /* work-items of a row */
    uint32_t rows;  /* of a work-group */
    uint32_t width; /* elements that a work-item takes at once */
    uint32_t
        held; /* times that a work-item takes so many, if it keeps its share of a row in registers; 0: it does not */
    bool exact; /* and all of these are of the row */
    uint32_t
        ahead; /* times that are one turn of the loop, so that their loads are on the way together; 0: it is one */
    bool flat; /* of maps: all loops are one dimension of the launch */
    bool
        nests; /* of teams: they go through the innermost loop together, again and again for the other ones */
    bool
        walks; /* each work-item of a team goes through the shares of all: quick where that is done once for all of them */
    bool wide;       /* places are 64-bit */
    bool turns;      /* of maps: by way of tiles, as some arrays lie along another loop than the innermost: */
    uint32_t across; /* this one */
    qn_range range;
} qn__shape;

enum { QN__KERNEL_ARRAYS = 64, QN__KERNEL_CONSTANTS = 128 }; /* the scheduler stays below */

typedef struct qn__maker {
    qn__schedule *schedule;
    const qn__group *group;
    uint32_t number; /* of the group */
    qn__demand *demand;
    qn__loops loops;   /* joined */
    qn__value *values; /* by instance */
    uint32_t *order;   /* instances, sources first */
    qn__access arrays[QN__KERNEL_ARRAYS];
    uint32_t num_arrays;
    bool has_rows; /* it reduces */
    bool together; /* it is to be one kernel with other groups, if it can */
    qn__shape shape;
    /* The text. */
    qn__text types, helpers, head;
    qn__text fixed; /* what is the same for all work-items, before the others' text */
    int64_t *numbers;
    size_t num_numbers, number_room;
    uint32_t constants[QN__KERNEL_CONSTANTS]; /* nodes */
    uint32_t num_constants;
    bool failed, too_large;
    qn__text words; /* of its ops, for people */
    uint64_t operations, bytes;
} qn__maker;

/* The innermost loop: of maps the last, of rows the last that is reduced. QN__NONE: there is none. */
uint32_t qn__inner_loop(const qn__maker *m);
bool qn__is_inner(const qn__maker *m, const qn__form *form); /* whether it depends on inner loops */
/* Fills in values and arrays, and joins loops that go on where others end. */
qn_status qn__accesses_find(qn__maker *m);
/* Finds out anew which values differ within the inner loops. */
void qn__accesses_relate(qn__maker *m);
void qn__shape_choose(qn__maker *m);
/* Iterations of the loops that are reduced, or of the others. */
uint64_t qn__iterations(const qn__maker *m, bool reduced);
/* Whether a map of one dimension has a name for its work-item's number as 64 bits, for what lies in the order of its loops: with it a processor's
   compiler sees that neighbouring work-items have neighbouring places. */
bool qn__counts_through(const qn__maker *m);
/* Whether it can be a part of a kernel of several groups: its work-items are a row, and need none of their group. */
bool qn__can_be_part(const qn__maker *m);
/* Whether the elements of a pack, neighbours along the inner loop, lie side by side and aligned. */
bool qn__is_packed(const qn__maker *m, const qn__form *form);

/* ---- value.c ---- */

/* The place in n.v[..] of a number that the kernel gets. */
uint32_t qn__number_add(qn__maker *m, int64_t value);
/* The form, of element k of a pack if `k`. */
void qn__form_add(qn__maker *m, qn__text *to, const qn__form *form, bool k);
/* Loop variables of the loops that are reduced or not, from one that counts through all of them. */
void qn__loop_variables_add(qn__maker *m, qn__text *to, bool reduced, const char *from, const char *indent);
/* The type of a pack of elements that take so many bytes. */
void qn__pack_define(qn__maker *m, const char *storage, uint32_t bytes);
uint32_t qn__array_number(const qn__maker *m, const qn__node *node, bool written);
/* Writes what an instance's value is, its sources being written. Packs are read in front of the loop through their elements, in `packs`. */
void qn__value_write(qn__maker *m, uint32_t instance, qn__text *to, qn__text *packs, const char *indent);

/* ---- turn.c ---- */

/* Whether tiles are worth it, which is the shape then. */
bool qn__turn_choose(qn__maker *m);
/* The places of the work-group's tile; then, before the elements, tiles are read, and the loop through what is written begins, which ends with
   two braces. */
void qn__turn_begin(qn__maker *m);
void qn__turn_read(qn__maker *m);
/* The element of a value that comes by way of a tile. */
void qn__turn_load(const qn__maker *m, qn__text *to, uint32_t instance, const char *indent);

/* ---- kernel.c ---- */

/* Writes what the group does: arrays, constants, numbers and text of the maker. */
qn_status qn__group_write(qn__maker *m);

/* ---- assemble.c ---- */

/* What is counted by the work-items, which is the first thing that a group's text needs: `item` is theirs. */
void qn__begin_add(const qn__maker *m, qn__text *to, const char *item);
/* Compiles a text, and fills in what the step has of it; the text goes. */
qn_status qn__step_compile(qn_tensors *tensors, qn__text *text, qn__step *step);
/* Arguments of a step: numbers first, as 32-bit ones or not. */
qn_status qn__step_numbers(qn_tensors *tensors, qn__step *step, const int64_t *numbers, size_t count,
                           bool wide, uint32_t arguments);
void qn__step_add_buffer(qn__step *step, const qn__node *node);

/* ---- multi.c ---- */

/* One kernel of several groups that can be parts, and fit. */
qn_status qn__parts_assemble(qn__maker *const *parts, size_t count, qn__step *step);
/* Whether one kernel can have the arguments of all these. */
bool qn__parts_fit(qn__maker *const *parts, size_t count);
/* Whether two groups have the same text. */
bool qn__parts_equal(const qn__maker *a, const qn__maker *b);

#endif
