/* What the files of the lowering share: its state, places (lvalues) and the functions for expressions,
   statements and built-ins. */
#ifndef QN__FRONT_LOWER_INTERNAL_H
#define QN__FRONT_LOWER_INTERNAL_H

#include "front/builtin.h"
#include "front/frozen.h"
#include "front/lower/lower.h"

/* A barrier of the kernel that is being lowered, and where it is written. */
typedef struct lower_barrier {
    ir_instr *instr;
    front_loc loc;
} lower_barrier;

/* What break, continue and goto find on their way out, innermost first. */
typedef struct lower_frame {
    struct lower_frame *outer;
    const ast_stmt *stmt;  /* loop, switch or label */
    ir_instr *break_to;    /* loops, switches; labels ahead: leaving it arrives at the label */
    ir_instr *continue_to; /* loops; labels behind: repeating it arrives at the label */
    bool continue_breaks;  /* continue is a break out of continue_to, a block that ends before the step */
    bool is_left;          /* something breaks to break_to */
} lower_frame;

typedef struct lower {
    const lower_config *config;
    qn__arena *arena;
    ir_module *module;
    ir_builder b;
    ast_decl *decl;   /* function that is being lowered */
    bool has_labels;  /* statements that gotos lead to may be in what is lowered */
    bool as_kernel;   /* it is lowered as a kernel, not as a function that another calls */
    ir_value *result; /* where a record result goes, or NULL */
    ir_value *state;  /* the address of the program's state, where the function uses it */
    lower_frame *frames;
    unsigned depth;     /* of nested expressions and statements */
    bool stopped;       /* too deep or too large: reported, nothing more is lowered */
    front_loc last_loc; /* cache of qn__lower_at */
    ir_loc last_resolved;
    qn__map strings;             /* contents to index of the __constant object + 1 */
    uint32_t *frozen_tables;     /* by index of the table: that of the __constant object + 1 */
    qn__map64 callables;         /* kernels called as functions: ast_decl to ir_function */
    QN__VEC(ast_decl *) pending; /* such kernels whose body is still to be lowered */
    QN__VEC(lower_barrier) barriers;
} lower;

/* An lvalue: an object in memory, part of one (bit-field, swizzle), or a parameter that stays a value. */
typedef struct lower_place {
    ir_value *pointer; /* NULL: `value` is the object's value, which never changes */
    ir_value *value;
    const ast_type *type; /* of the object; of a swizzle: of the whole vector */
    uint32_t align;
    uint16_t flags;             /* IR_VOLATILE; IR_READONLY for loads */
    const ast_field *bit_field; /* or NULL */
    uint8_t num_lanes;          /* swizzle; 0: the whole object */
    uint8_t lanes[16];
} lower_place;

/* ---- lower.c ---- */

lower *qn__lower_new(const lower_config *config, ir_module *module);
/* The bodies of the functions of the unit, some of which may have been called already. */
void qn__lower_bodies(lower *l, const ast_unit *unit);

/* Instructions made from now on come from this position. */
void qn__lower_at(lower *l, front_loc loc);
/* False, after an error at `loc`, where nesting is too deep or the module too large; else depth is one
   more. */
bool qn__lower_enter(lower *l, front_loc loc);
/* A loop with nothing in it, of the source at the position. */
ir_instr *qn__lower_loop(lower *l, front_loc loc);
void qn__lower_error(lower *l, front_loc loc, const char *message, const char *hint);
uint32_t qn__lower_global(lower *l, ast_decl *decl);                /* index of a __constant object */
uint32_t qn__lower_string(lower *l, qn__str bytes, bool is_format); /* the same of a string */
uint32_t qn__lower_table(lower *l, const char *name, const uint8_t *data, uint64_t size, uint32_t align);
ir_function *qn__lower_callee(lower *l, ast_decl *decl, front_loc loc); /* NULL after an error */
ir_value *qn__lower_temporary(lower *l, const ast_type *type, const char *name, uint32_t align);
/* Parameter that was kept as a value (or in IR_PARAM_SPACE): copied to a VAR at the function's start. */
void qn__lower_param_to_memory(lower *l, ast_decl *decl);

static inline bool qn__lower_is_dead(const lower *l) {
    return l->stopped || (l->b.region->last && qn__ir_is_jump(l->b.region->last));
}
static inline ir_value *qn__lower_result(ir_instr *instr) { return instr->results[0]; }
/* Like the value's type, but as it lies in memory: bool is a byte. */
ir_type qn__lower_memory_type(const ast_type *type);
/* The constant that a value folds to, or the value itself. */
ir_value *qn__lower_folded(lower *l, ir_value *value);

/* ---- diverge.c ---- */

/* Warns of the barriers in l->barriers that not all work-items may reach. */
void qn__lower_warn_divergence(lower *l, ir_function *kernel);

/* ---- place.c ---- */

lower_place qn__lower_place(lower *l, ast_expr *e);
ir_value *qn__lower_load(lower *l, const lower_place *place); /* not of records */
void qn__lower_store(lower *l, const lower_place *place, ir_value *value);
ir_value *qn__lower_address(lower *l, ast_expr *lvalue, ir_type pointer);
/* The object that a record-typed expression stands for; for a value it may be a temporary. */
lower_place qn__lower_record(lower *l, ast_expr *e);
void qn__lower_record_copy(lower *l, ir_value *to, uint32_t align, ast_expr *from);
/* A record's bytes, or a matrix fragment. */
void qn__lower_object_copy(lower *l, ir_value *to, ir_value *from, const ast_type *type, uint32_t align);
/* Flags of a load through the pointer value `e`. */
uint16_t qn__lower_pointer_flags(const lower *l, const ast_expr *e);

/* ---- expr.c ---- */

ir_value *qn__lower_value(lower *l, ast_expr *e); /* of a record: the address; of void: NULL */
void qn__lower_effects(lower *l, ast_expr *e);    /* for what it does only */
ir_value *qn__lower_truth(lower *l, ast_expr *e); /* scalar or pointer: IR_BOOL */
ir_value *qn__lower_mask(lower *l, ast_expr *e);  /* vector of integers: bool lanes, from the sign bits */
bool qn__lower_const_int(const ast_expr *e, int64_t *value);

/* ---- arith.c ---- */

ir_value *qn__lower_arith(lower *l, ast_binary op, const ast_type *type, ir_value *a, ir_value *b);
ir_value *qn__lower_compare(lower *l, ast_binary op, const ast_type *type, ir_value *a,
                            ir_value *b); /* bool */
ir_value *qn__lower_pointer_add(lower *l, ir_value *pointer, const ast_type *pointee, ir_value *index,
                                bool index_is_signed, bool negative);
ir_value *qn__lower_pointer_sub(lower *l, const ast_type *pointee, ir_value *a, ir_value *b);

/* ---- convert.c ---- */

ir_value *qn__lower_number(lower *l, ir_value *v, const ast_type *from, const ast_type *to,
                           ast_rounding rounding, bool saturate);
ir_value *qn__lower_bits(lower *l, ir_value *v, ir_type to);
ir_value *qn__lower_nonzero(lower *l, ir_value *v); /* != 0, lane by lane */
/* bool (lanes) as C's value of a comparison: 0/1 for scalars, 0/-1 for vectors. */
ir_value *qn__lower_from_bool(lower *l, ir_value *v, ir_type to);
/* Integer of any width to i64 or i32. */
ir_value *qn__lower_resize(lower *l, ir_value *v, ir_kind kind, bool is_signed);
ir_value *qn__lower_convert(lower *l, ast_expr *e); /* EXPR_CONVERT */
ir_rounding qn__lower_rounding(ast_rounding rounding, ir_rounding standard);
ir_value *qn__lower_float_convert(lower *l, ir_value *v, ir_type to, ir_rounding rounding);

/* ---- init.c ---- */

void qn__lower_init(lower *l, ir_value *pointer, const ast_type *type, uint32_t align, const ast_init *init);

/* ---- stmt.c, control.c, goto.c ---- */

void qn__lower_stmt(lower *l, ast_stmt *stmt);
void qn__lower_list(lower *l, ast_stmt *const *list, size_t len); /* statements of one block */
void qn__lower_switch(lower *l, ast_stmt *stmt);
void qn__lower_labelled_list(lower *l, ast_stmt *const *list, size_t len); /* one that may hold labels */
void qn__lower_goto(lower *l, ast_stmt *stmt);
/* Rewrites what jumps into a statement, below a compound statement; a switch that has such labels, and lowers it. */
void qn__lower_enter_statements(lower *l, ast_stmt *root);
void qn__lower_nested_switch(lower *l, ast_stmt *stmt);
void qn__lower_unreachable(lower *l);
bool qn__lower_ends_in_jump(const ast_stmt *stmt);
/* Calls visit for each statement inside (and stmt itself), outer ones first; stops at true, which it
   returns. */
bool qn__lower_find(ast_stmt *stmt, bool (*visit)(const ast_stmt *stmt, const void *user), const void *user);

/* ---- built-ins: builtin.c, memory.c, atomic.c, group.c, matrix.c ---- */

typedef ir_value *qn__lower_special(lower *l, ast_expr *e);
ir_value *qn__lower_builtin(lower *l, ast_expr *e);
qn__lower_special qn__lower_vload, qn__lower_vstore, qn__lower_vload_half, qn__lower_vstore_half,
    qn__lower_prefetch, qn__lower_async, qn__lower_native, qn__lower_quad_product, qn__lower_panel_product,
    qn__lower_printf;
qn__lower_special qn__lower_fence, qn__lower_atomic_old, qn__lower_atomic_inc, qn__lower_atomic_cmpxchg,
    qn__lower_atomic_init, qn__lower_atomic_load, qn__lower_atomic_store, qn__lower_atomic_fetch,
    qn__lower_atomic_cas, qn__lower_flag_test_set, qn__lower_flag_clear;
qn__lower_special qn__lower_query, qn__lower_linear_id, qn__lower_barrier, qn__lower_group_vote,
    qn__lower_group_broadcast, qn__lower_group_reduce, qn__lower_group_scan, qn__lower_sub_group_shuffle,
    qn__lower_ballot;
qn__lower_special qn__lower_matrix;
/* The combination for a type, from its signed form: smin becomes umin or fmin. */
ir_combine qn__lower_combine(int32_t combine, const ast_type *type);
unsigned qn__lower_fence_bits(const ast_expr *flags);

#endif
