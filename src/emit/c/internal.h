/* Inside of the C target: the plan of a kernel and the emitter's state.
   A kernel becomes loops over the work-items of a group, split where work-items must meet (after pocl's
   work-group functions, with the regions given by the structured IR instead of found in a flow graph). Code
   runs in one of two forms: "in step", outside the loops, once for all work-items of the group; and "per
   item", inside them. A maximal run of per-item instructions is a chunk; it becomes one loop nest. */
#ifndef QN__C_INTERNAL_H
#define QN__C_INTERNAL_H

#include "emit/cdata.h"
#include "emit/cflow.h"
#include "emit/emit.h"
#include "pass/analysis.h"

typedef enum c_storage {
    STORAGE_ITEM,    /* a C variable inside the loops of its chunk */
    STORAGE_GROUP,   /* a C variable outside: uniform */
    STORAGE_CONTEXT, /* lives across chunks and varies: an array over the work-items */
    STORAGE_AGAIN    /* lives across chunks, but is cheap: computed again where it is used */
} c_storage;

typedef struct c_plan {
    ir_function *kernel;
    qn__uniformity uniformity;
    uint32_t num_instrs, num_chunks;
    bool *in_step;       /* by mark: runs outside the item loops */
    bool *hoisted;       /* by mark: uniform, computed before its chunk's loops */
    uint32_t *chunk;     /* by mark; 0 for what is in step */
    bool *chunk_loops;   /* by chunk: lies in a loop that is in step */
    bool *chunk_ordered; /* by chunk: items may not be interleaved (atomics, output) */
    uint8_t *storage;    /* by value id: c_storage */
    uint32_t *uses;      /* by value id */
    bool sync;           /* there is something in step beyond the body itself */
    bool masked;         /* work-items of a group may diverge while others meet: `pend` tells which wait */
    bool flat;           /* groups do not matter: one loop over all x of the range */
} c_plan;

/* Room in scratch memory. */
typedef struct c_context_array {
    const char *type, *name;
    uint64_t size;  /* bytes a work-item */
    uint64_t align; /* not 0: there is one for all work-items, which run one after another */
} c_context_array;

struct c_gang;
struct c_gang_state;

typedef struct c_emitter {
    qn__arena *arena;
    ir_module *module;
    const qn__emit_options *options;
    qn__emit_result *result;
    qn__buf helpers;
    qn__c_writer text;
    qn__c_flow flow;
    qn__map helper_names;
    bool *global_used; /* by index of a __constant object */
    const c_plan *plan;
    const char **names; /* by value id */
    uint32_t *seen;     /* by value id: chunk epoch in which the value was made available */
    uint32_t epoch, chunk;
    bool per_item, next_used, done_used;
    uint32_t next_label;
    uint32_t sub_group_size;
    const struct c_gang *gang_plan;
    struct c_gang_state *gang;   /* while a chunk is emitted as gangs (gang.h), else NULL */
    bool gangs;                  /* some chunk is */
    bool has_to_f32, has_to_f64; /* conversions from f64, and to it */
    QN__VEC(c_context_array) contexts;
    const char *wide_lanes[16]; /* of the wide value that is being defined */
    qn__map variable_names;     /* of private variables, in debug mode */
    bool uses_printf;
    uint64_t stack; /* bytes of the kernel's arrays that lie on the stack */
} c_emitter;

/* plan.c */
c_plan *qn__c_plan(qn__arena *arena, ir_function *kernel);
static inline bool qn__c_is_varying(const c_plan *plan, const ir_value *value) {
    return plan->uniformity.varying[value->id];
}

/* text.c: lines, names, helpers */
#define qn__c_line(e, ...) qn__c_write(&(e)->text, __VA_ARGS__)
#define qn__c_open(e, ...) qn__c_write_open(&(e)->text, __VA_ARGS__)
static inline void qn__c_close(c_emitter *e, const char *text) { qn__c_write_close(&e->text, text); }
void qn__c_locate(c_emitter *e, ir_loc loc);                 /* what follows comes from there */
const char *qn__c_name(c_emitter *e, const ir_value *value); /* of all lanes together */
const char *qn__c_use(c_emitter *e, const ir_value *value, unsigned lane);
const char *qn__c_variable(c_emitter *e, const ir_value *value, unsigned lane); /* "i32 v7", "u8 *v8" */
const char *qn__c_context(c_emitter *e, const ir_value *value, unsigned lane);  /* name of its array */
/* True the first time: then the caller appends the definition to e->helpers. */
bool qn__c_need(c_emitter *e, const char *name);
/* The standard way: name and text are patterns. Gives the name. */
const char *qn__c_helper(c_emitter *e, const char *name, const char *text, const qn__c_pattern *with);
/* Declares a lane of a result as its storage wants it, and gives it the value of an expression. */
void qn__c_define(c_emitter *e, const ir_value *value, unsigned lane, const char *expression);
/* Declares a value that is assigned later (results of constructs, parameters of loops). */
void qn__c_declare(c_emitter *e, const ir_value *value);
/* targets[i] = values[i], all at once. */
void qn__c_assign(c_emitter *e, ir_value *const *targets, ir_value *const *values, uint32_t count);

/* instr.c: instructions that are no constructs, jumps or sync points */
void qn__c_instr(c_emitter *e, ir_instr *instr);
void qn__c_refuse(c_emitter *e, const ir_instr *instr); /* the target has no such op */
/* The value of an op on scalars, pointer arithmetic included, as text; NULL for other ops. */
const char *qn__c_simple(c_emitter *e, const ir_instr *instr, unsigned lane);
/* wide.c */
bool qn__c_is_wide(const c_emitter *e, const ir_value *value);
const char *qn__c_wide_type(c_emitter *e, ir_type type, const char *suffix); /* suffix "_near": in memory */
const char *qn__c_wide_use(c_emitter *e,
                           const ir_value *value);          /* any vector of f32 or i32 as a SIMD vector */
bool qn__c_wide_instr(c_emitter *e, const ir_instr *instr); /* false: lane by lane */
/* convert.c */
const char *qn__c_conversion(c_emitter *e, const ir_instr *instr, const char *operand);
void qn__c_bitcast(c_emitter *e, const ir_instr *instr);
const char *qn__c_round_f16(c_emitter *e, const char *expression); /* f32 expression -> nearest f16 value */
const char *qn__c_round_f16_f64(c_emitter *e, const char *expression); /* the same of an f64 */
const char *qn__c_half_to_float(c_emitter *e, const char *bits);
const char *qn__c_float_to_half(c_emitter *e, const char *value);
/* memory.c */
bool qn__c_memory(c_emitter *e, ir_instr *instr);              /* false: not its kind */
void qn__c_panel_product(c_emitter *e, const ir_instr *instr); /* panel.c */
/* `a combined with b` as an expression on scalars of one kind. */
const char *qn__c_combine(c_emitter *e, ir_combine combine, ir_kind kind, const char *a, const char *b);

/* item.c */
void qn__c_chunk(c_emitter *e, ir_instr *first);       /* to the next that is in step, or the region's end */
void qn__c_items_open(c_emitter *e, bool independent); /* the loops, and the mask */
void qn__c_items_close(c_emitter *e);
void qn__c_make_available(c_emitter *e, const ir_value *value); /* inside item loops, at their start */

/* group.c: sync points */
void qn__c_sync(c_emitter *e, ir_instr *instr);
/* look.c: where a loop begins an iteration, in one work-item or gang, and in step. */
void qn__c_look(c_emitter *e, const ir_instr *loop);
void qn__c_look_in_step(c_emitter *e, const ir_instr *loop);
/* Where a work-item or gang begins a chunk. */
void qn__c_look_between(c_emitter *e, const ir_instr *first);

/* step.c: what runs in step */
void qn__c_in_step(c_emitter *e, ir_region *region);

/* kernel.c */
void qn__c_kernel(c_emitter *e, ir_function *kernel);

/* data.c */
void qn__c_number(qn__buf *out, ir_kind kind, uint64_t bits); /* a constant's lane as an expression */
void qn__c_globals(c_emitter *e, qn__buf *out); /* after the kernels, which tell what they use */

/* How `pend` codes a jump to a construct. */
enum { PEND_BREAK = 1, PEND_CONTINUE = 2, PEND_ELSE = 3 };
static inline int qn__c_pend(const ir_instr *construct, int how) { return (int)(construct->mark * 4) + how; }

#endif
