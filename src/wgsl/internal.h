/* What the files of the lowering share: types, values, its state. */
#ifndef QN__WGSL_INTERNAL_H
#define QN__WGSL_INTERNAL_H

#include "wgsl/wgsl.h"

/* ir_instr.mark until the uniformity of the kernel is known: a load that gives all of a work-group the same; a block that ends where
   `continue` goes; a variable at module scope. */
enum { WGSL_MARK_UNIFORM = 1, WGSL_MARK_CONTINUED = 2, WGSL_MARK_PRIVATE = 8 };

/* ---- types ---- */

typedef enum wgsl_kind {
    WGSL_VOID, /* of a call without a result */
    WGSL_BOOL,
    WGSL_ABSTRACT_INT,
    WGSL_ABSTRACT_FLOAT,
    WGSL_I32,
    WGSL_U32,
    WGSL_F32,
    WGSL_F16,
    WGSL_LAST_SCALAR = WGSL_F16,
    WGSL_VECTOR,
    WGSL_MATRIX,
    WGSL_ARRAY,
    WGSL_STRUCT,
    WGSL_ATOMIC,
    WGSL_POINTER
} wgsl_kind;

typedef enum wgsl_space {
    WGSL_FUNCTION,
    WGSL_PRIVATE,
    WGSL_WORKGROUP,
    WGSL_UNIFORM,
    WGSL_STORAGE,
    WGSL_TABLE, /* constants that are indexed; no space of the language */
    WGSL_SPACE_COUNT
} wgsl_space;

typedef enum wgsl_access { WGSL_READ = 1, WGSL_WRITE = 2, WGSL_READ_WRITE = 3 } wgsl_access;

typedef struct wgsl_type wgsl_type;

typedef struct wgsl_member {
    qn__str name;
    const wgsl_type *type;
    uint32_t offset;
    front_loc loc;
} wgsl_member;

/* Types are made once: the same type is the same pointer. Structs are themselves. */
struct wgsl_type {
    uint8_t kind;             /* wgsl_kind */
    uint8_t lanes;            /* vector: lanes; matrix: rows */
    uint8_t columns;          /* matrix */
    uint8_t space, access;    /* pointer */
    bool has_atomic;          /* is one or holds one: has no values, only places */
    bool has_runtime;         /* is, or ends in, an array of a length that is known when it runs */
    bool has_bool;            /* not in memory that the host sees */
    bool is_overridable;      /* an array whose length is no constant before overrides are set */
    const wgsl_type *element; /* vector, array, atomic: element; matrix: column; pointer: what it points to */
    uint64_t length;          /* array; 0: known when it runs */
    uint64_t size, stride;    /* bytes; a runtime array's size is 0 */
    uint32_t align;
    wgsl_member *members;
    uint32_t num_members;
    qn__str name; /* of a struct */
};

/* ---- values ---- */

/* When a value is known: for what language constructs want it. */
typedef enum wgsl_stage { WGSL_STAGE_CONST, WGSL_STAGE_OVERRIDE, WGSL_STAGE_RUN } wgsl_stage;

typedef enum wgsl_form {
    WGSL_FORM_ERROR, /* was complained about; whatever meets it is silent */
    WGSL_FORM_NONE,  /* of a call without a result */
    WGSL_FORM_VALUE, /* scalar or vector */
    WGSL_FORM_PARTS, /* matrix: columns; array, struct: elements */
    WGSL_FORM_ZERO,  /* array, struct or matrix of zeros */
    WGSL_FORM_PLACE, /* a reference */
    WGSL_FORM_COPY,  /* an array or struct in memory that nothing else writes */
    WGSL_FORM_POINTER,
    WGSL_FORM_TYPE,
    WGSL_FORM_FUNCTION,
    WGSL_FORM_BUILTIN
} wgsl_form;

typedef struct wgsl_binding wgsl_binding;

/* Where a reference leads. A lane of a vector is told apart: it is no memory of its own in a variable. */
typedef struct wgsl_place {
    ir_value *pointer;
    uint8_t space, access;
    uint16_t flags; /* of loads */
    bool is_lane;
    uint8_t lane;           /* where lane_index is NULL */
    ir_value *lane_index;   /* i32, below the number of lanes */
    const wgsl_type *whole; /* the vector */
    wgsl_binding *binding;  /* storage, uniform */
    const void *root;       /* the variable, and how it is reached: see alias.c */
    unsigned param;         /* 1 + the pointer parameter of the function around; 0: by name */
    bool is_module;         /* the variable stands at module scope */
} wgsl_place;

typedef struct wgsl_value {
    uint8_t form;          /* wgsl_form */
    uint8_t stage;         /* wgsl_stage */
    const wgsl_type *type; /* of a place: what is stored there; of a pointer: what it points to */
    const uint64_t *bits;  /* VALUE that is known: one word a lane; abstract numbers are i64 and f64 */
    ir_value *ir;          /* VALUE that is not */
    struct wgsl_value *parts;
    wgsl_place place;
    const wgsl_decl *decl; /* FUNCTION */
    const struct wgsl_builtin *builtin;
} wgsl_value;

/* ---- state ---- */

/* A variable at module scope in a kernel: made when it is first met there. */
struct wgsl_binding {
    wgsl_decl *decl;
    const wgsl_type *type;
    uint8_t space, access;
    uint32_t group, number;
    /* In the kernel that is being lowered. */
    const ir_function *function;
    ir_value *pointer;
    ir_value *extent; /* bytes of the buffer */
    ir_value *length; /* of its runtime array, i32 */
    ir_value *last;   /* the greatest index there, i32 */
};

typedef struct wgsl_symbol {
    qn__str name;
    front_loc loc;
    wgsl_value value;
} wgsl_symbol;

/* What break and continue leave. */
typedef struct wgsl_frame {
    struct wgsl_frame *outer;
    ir_instr *leave;  /* loop, or the block of a switch */
    ir_instr *repeat; /* the block that `continue` leaves, or the loop; NULL in a switch */
    bool is_left;
    size_t level;        /* names known before the statement of the body, or behind the body */
    size_t skipped;      /* the fewest at a `continue` */
    front_loc continued; /* where that is */
    bool is_continuing;  /* in the loop's `continuing`, which only `break if` leaves */
} wgsl_frame;

/* A way to a variable, by a pointer parameter or by name, and what a function does there. */
typedef struct wgsl_use {
    const void *root;
    unsigned param;
    bool reads, writes;
} wgsl_use;

/* A function that is being lowered, in the one that calls it. */
typedef struct wgsl_call {
    struct wgsl_call *outer;
    wgsl_decl *decl;
    const wgsl_type *result;
    size_t first_symbol; /* names below it are the caller's */
    ir_instr *block;     /* what `return` leaves; NULL: the kernel itself, or the body's end */
    wgsl_value value;    /* the result, or the variable that gets it */
    bool is_kernel;
    bool returned;    /* by a return that is the last statement */
    unsigned returns; /* that were met */
    front_loc loc;    /* of the call */
    QN__VEC(wgsl_use) uses;
    wgsl_frame *frames;
} wgsl_call;

/* What must be reached by all work-items together, or get a value that is the same for all. */
typedef struct wgsl_gathering {
    const ir_instr *instr;
    front_loc loc;
    const char *name;
    const char *inner; /* what a function called `name` does there, or NULL */
    front_loc inner_loc;
    bool is_of_sub_group;
    bool wants_value; /* of operand `operand` */
    uint8_t operand;
    uint8_t severity;
} wgsl_gathering;

enum { WGSL_MOST_BUILTINS = 256 };

typedef struct wgsl_lower {
    const lower_config *config;
    front_context *context;
    lower_library *library;
    qn__arena *arena;
    front_diag *diag;
    wgsl_module *source;
    ir_module *module;
    ir_builder b;
    front_loc loc;         /* that instructions come from */
    const wgsl_expr *expr; /* that is being evaluated, or NULL */
    ir_function *scratch;  /* for what stands at module scope */
    QN__VEC(const wgsl_type *) types;
    const wgsl_type *scalars[WGSL_LAST_SCALAR + 1];
    const wgsl_type *vectors[WGSL_LAST_SCALAR + 1][5];
    QN__VEC(wgsl_symbol) symbols; /* of functions, inner ones last */
    QN__VEC(wgsl_binding *) bindings;
    wgsl_call *call;
    size_t first_in_scope;  /* symbols of the innermost scope begin here */
    const wgsl_decl *entry; /* the entry point that is being lowered, or NULL */
    uint32_t group_size[3];
    uint32_t seen_values; /* built-in values of its parameters, a bit each */
    QN__VEC(wgsl_gathering) gatherings;
    wgsl_expr *parsed[WGSL_MOST_BUILTINS]; /* texts of built-in functions, by row */
    qn__map builtins;                      /* by name: the first row, or NULL */
    unsigned depth, calls;
    unsigned unevaluated; /* inside of what && or || leave out */
    bool stopped;
    bool unchecked; /* -qn-unchecked */
    uint32_t num_tables;
    uint8_t sub_group_severity; /* wgsl_severity */
} wgsl_lower;

/* ---- type.c ---- */

void qn__wf_types_init(wgsl_lower *w);
const wgsl_type *qn__wf_vector(wgsl_lower *w, const wgsl_type *element, unsigned lanes); /* 1: the scalar */
const wgsl_type *qn__wf_matrix(wgsl_lower *w, const wgsl_type *element, unsigned columns, unsigned rows);
const wgsl_type *qn__wf_array(wgsl_lower *w, const wgsl_type *element, uint64_t length);
const wgsl_type *qn__wf_pointer(wgsl_lower *w, const wgsl_type *element, unsigned space, unsigned access);
const wgsl_type *qn__wf_atomic_type(wgsl_lower *w, const wgsl_type *element);
/* A struct of the language's own, such as frexp's result. */
const wgsl_type *qn__wf_result_struct(wgsl_lower *w, const char *name, const char *const *names,
                                      const wgsl_type *const *types, uint32_t count);
void qn__wf_layout(
    wgsl_type
        *type); /* of a struct from its members, whose offsets have @align and @size applied by the caller */
const char *qn__wf_type_name(wgsl_lower *w, const wgsl_type *type);
/* The type that an expression means; NULL after an error. */
const wgsl_type *qn__wf_type_of(wgsl_lower *w, const wgsl_expr *e);
/* The same of a name and its parameters where it is a type of the language: NULL and *is_type false: it is none. `partial`: of
   vec3, array... without parameters, as a constructor may be written; *element_missing is set then. */
const wgsl_type *qn__wf_predeclared(wgsl_lower *w, const wgsl_expr *e, bool *is_type);
const wgsl_type *qn__wf_struct(wgsl_lower *w, wgsl_decl *decl);
ir_type qn__wf_ir_type(const wgsl_type *type);     /* scalars and vectors */
ir_type qn__wf_memory_type(const wgsl_type *type); /* the same in memory: bool is i32 */

static inline bool qn__wf_is_scalar(const wgsl_type *t) {
    return t->kind >= WGSL_BOOL && t->kind <= WGSL_LAST_SCALAR;
}
static inline bool qn__wf_is_number(const wgsl_type *t) {
    return t->kind > WGSL_BOOL && t->kind <= WGSL_LAST_SCALAR;
}
static inline bool qn__wf_is_value(const wgsl_type *t) {
    return qn__wf_is_scalar(t) || t->kind == WGSL_VECTOR;
}
/* Of scalars, vectors and matrices: the scalar. */
static inline const wgsl_type *qn__wf_scalar_of(const wgsl_type *t) {
    while (t->kind == WGSL_VECTOR || t->kind == WGSL_MATRIX) t = t->element;
    return t;
}
static inline unsigned qn__wf_lanes(const wgsl_type *t) { return t->kind == WGSL_VECTOR ? t->lanes : 1; }
bool qn__wf_is_abstract(const wgsl_type *t);
static inline bool qn__wf_is_float(const wgsl_type *scalar) {
    return scalar->kind == WGSL_F32 || scalar->kind == WGSL_F16 || scalar->kind == WGSL_ABSTRACT_FLOAT;
}
static inline bool qn__wf_is_int(const wgsl_type *scalar) {
    return scalar->kind == WGSL_I32 || scalar->kind == WGSL_U32 || scalar->kind == WGSL_ABSTRACT_INT;
}
/* Numbers and vectors in a value, counted no further than `limit`. */
uint64_t qn__wf_count_parts(const wgsl_type *type, uint64_t limit);
/* Elements of a type's values: columns, elements, members; and the type of each. */
uint64_t qn__wf_num_parts(const wgsl_type *type);
const wgsl_type *qn__wf_part_type(const wgsl_type *type, uint64_t index);
uint64_t qn__wf_part_offset(const wgsl_type *type, uint64_t index);

/* ---- value.c ---- */

/* An expression as it is written, in quotes; a long one has dots. */
const char *qn__wf_quote(wgsl_lower *w, const wgsl_expr *e);
wgsl_value qn__wf_error(wgsl_lower *w, front_loc loc, const char *format, ...) QN__PRINTF(3, 4);
void qn__wf_hint(wgsl_lower *w, const char *format, ...) QN__PRINTF(2, 3);
static inline bool qn__wf_is_error(const wgsl_value *v) { return v->form == WGSL_FORM_ERROR; }
wgsl_value qn__wf_known(wgsl_lower *w, const wgsl_type *type, const uint64_t *bits);
wgsl_value qn__wf_known_splat(wgsl_lower *w, const wgsl_type *type, uint64_t bits);
wgsl_value qn__wf_of_ir(const wgsl_type *type, ir_value *ir);
wgsl_value qn__wf_zero(wgsl_lower *w, const wgsl_type *type);
wgsl_value qn__wf_of_parts(wgsl_lower *w, const wgsl_type *type, const wgsl_value *parts, uint64_t count);
double qn__wf_number(const wgsl_value *v, unsigned lane); /* of a known float */
uint64_t qn__wf_float_bits(const wgsl_type *scalar, double value);
wgsl_value qn__wf_part(wgsl_lower *w, const wgsl_value *v, uint64_t index); /* of PARTS, ZERO, COPY */
/* A scalar or vector as a value of the IR. */
ir_value *qn__wf_ir(wgsl_lower *w, const wgsl_value *v);
/* The same value, of which nothing is known before it runs. */
wgsl_value qn__wf_at_run_time(wgsl_lower *w, wgsl_value v);
/* One op on scalars or vectors of one shape; known where all are. */
wgsl_value qn__wf_op(wgsl_lower *w, ir_op op, const wgsl_type *result, const wgsl_value *args,
                     unsigned count);
wgsl_value qn__wf_op1(wgsl_lower *w, ir_op op, const wgsl_type *result, wgsl_value a);
wgsl_value qn__wf_op2(wgsl_lower *w, ir_op op, const wgsl_type *result, wgsl_value a, wgsl_value b);
wgsl_value qn__wf_select(wgsl_lower *w, wgsl_value condition, wgsl_value a, wgsl_value b);
wgsl_value qn__wf_lane(wgsl_lower *w, const wgsl_value *vector, unsigned lane);
wgsl_value qn__wf_gather(wgsl_lower *w, const wgsl_type *vector, const wgsl_value *lanes);
wgsl_value qn__wf_splat(wgsl_lower *w, wgsl_value v, unsigned lanes);
wgsl_value qn__wf_shuffle(wgsl_lower *w, const wgsl_value *v, const uint8_t *lanes, unsigned count);
/* As a constructor converts: numbers and bool, of any lanes. */
wgsl_value qn__wf_cast(wgsl_lower *w, const wgsl_value *v, const wgsl_type *to, front_loc loc);
/* -1: not converted by itself; else how far apart they are (WGSL 6.1.2). */
int qn__wf_rank(const wgsl_type *from, const wgsl_type *to);
/* By itself, with an error where that cannot be or the value does not fit. `what` is told: "the argument". */
wgsl_value qn__wf_convert(wgsl_lower *w, wgsl_value v, const wgsl_type *to, front_loc loc, const char *what);
const wgsl_type *qn__wf_concrete_type(wgsl_lower *w, const wgsl_type *type);
wgsl_value qn__wf_concrete(wgsl_lower *w, wgsl_value v, front_loc loc);
/* An error where a float that is known is no number of its type. */
wgsl_value qn__wf_finite(wgsl_lower *w, wgsl_value v, front_loc loc);

/* ---- place.c ---- */

wgsl_value qn__wf_load(wgsl_lower *w, wgsl_value v); /* of a place; other values are themselves */
void qn__wf_store(wgsl_lower *w, const wgsl_value *place, const wgsl_value *v);
/* A variable of the work-item's, not initialised. */
wgsl_value qn__wf_variable_place(wgsl_lower *w, const wgsl_type *type, const char *name, wgsl_space space);
wgsl_value qn__wf_member(wgsl_lower *w, wgsl_value base, const wgsl_expr *e);
wgsl_value qn__wf_index(wgsl_lower *w, wgsl_value base, wgsl_value index, const wgsl_expr *e);
wgsl_value qn__wf_place_part(wgsl_lower *w, const wgsl_value *place, uint64_t index);
/* In memory, so that it can be indexed by what is not known. */
wgsl_value qn__wf_to_memory(wgsl_lower *w, const wgsl_value *v, const char *name);
void qn__wf_put_bytes(const wgsl_value *v, uint8_t *bytes, wgsl_lower *w);

/* ---- decl.c ---- */

/* What a name means; an error where nothing has it. */
wgsl_value qn__wf_lookup(wgsl_lower *w, const wgsl_expr *e);
void qn__wf_declare(wgsl_lower *w, qn__str name, front_loc loc, wgsl_value value);
void qn__wf_local_decl(wgsl_lower *w, wgsl_decl *decl);
void qn__wf_check_assert(wgsl_lower *w, const wgsl_decl *decl);
void qn__wf_resolve(wgsl_lower *w, wgsl_decl *decl);
void qn__wf_check_overrides(wgsl_lower *w);
const wgsl_attribute *qn__wf_attribute(const wgsl_attributes *list, const char *name);
/* The attribute's argument, a constant of at least `least`; 0 after an error. */
uint64_t qn__wf_attribute_number(wgsl_lower *w, const wgsl_attribute *attribute, size_t index, int64_t least,
                                 wgsl_stage stage);

/* ---- expr.c ---- */

wgsl_value qn__wf_eval(wgsl_lower *w, const wgsl_expr *e);   /* may be a place */
wgsl_value qn__wf_rvalue(wgsl_lower *w, const wgsl_expr *e); /* a value */
wgsl_value qn__wf_binary(wgsl_lower *w, unsigned op, unsigned joined, wgsl_value a, wgsl_value b,
                         front_loc loc);
wgsl_value qn__wf_multiply(wgsl_lower *w, wgsl_value a, wgsl_value b, front_loc loc);
/* A value known at `stage` of type i32, u32 or abstract; false after an error. */
bool qn__wf_const_int(wgsl_lower *w, const wgsl_expr *e, wgsl_stage stage, const char *what, int64_t *value);
bool qn__wf_enter(wgsl_lower *w, front_loc loc); /* to be left with depth-- */

/* ---- construct.c, call.c, builtin.c ---- */

wgsl_value qn__wf_construct(wgsl_lower *w, const wgsl_expr *e, const wgsl_type *type);
/* vec3(...), array(...): a type whose element the arguments tell. */
bool qn__wf_is_generator(qn__str name);
wgsl_value qn__wf_construct_inferred(wgsl_lower *w, const wgsl_expr *e);
wgsl_value qn__wf_call_expr(wgsl_lower *w, const wgsl_expr *e);
wgsl_value qn__wf_call_function(wgsl_lower *w, wgsl_decl *decl, const wgsl_value *args, const wgsl_expr *e);

/* A built-in function. Its signature is in builtins.def. */
typedef wgsl_value qn__wf_special(wgsl_lower *w, const struct wgsl_builtin *row, wgsl_value *args,
                                  unsigned count, const wgsl_expr *e);
typedef struct wgsl_builtin {
    const char *name, *signature;
    uint16_t on_float, on_signed, on_unsigned; /* ops, where there is no more to it */
    const char *
        text; /* an expression of a, b, c and d, or the name of a function of the library, applied lane by lane */
    qn__wf_special *special;
    double (*known1)(double), (*known2)(double, double); /* the library's function of constants */
    uint16_t variant;
} wgsl_builtin;

const wgsl_builtin *qn__wf_builtin(wgsl_lower *w, qn__str name);
wgsl_value qn__wf_builtin_call(wgsl_lower *w, const wgsl_builtin *row, const wgsl_expr *e);
/* Lane by lane. */
wgsl_value qn__wf_library_call(wgsl_lower *w, const char *name, const wgsl_value *args, unsigned count);
qn__wf_special qn__wf_atomic, qn__wf_barrier, qn__wf_uniform_load, qn__wf_sub_group, qn__wf_array_length,
    qn__wf_bitcast, qn__wf_choose, qn__wf_transpose, qn__wf_frexp, qn__wf_modf, qn__wf_ldexp, qn__wf_quantize,
    qn__wf_clamp, qn__wf_halves, qn__wf_dot4, qn__wf_refused;
/* That work-items come by together, or a value the same for all: to be checked when the kernel is whole. */
void qn__wf_gather_note(wgsl_lower *w, const ir_instr *instr, const char *name, bool is_of_sub_group,
                        int operand);

/* ---- alias.c ---- */

void qn__wf_note_use(wgsl_lower *w, const wgsl_place *place, bool writes);
/* At the end of a function that was called with `args` by `e` (NULL: it is only looked at). */
void qn__wf_end_uses(wgsl_lower *w, const wgsl_call *call, const wgsl_value *args, const wgsl_expr *e);

/* ---- stmt.c ---- */

void qn__wf_stmt(wgsl_lower *w, const wgsl_stmt *s);
void qn__wf_function_body(wgsl_lower *w, wgsl_decl *decl);
static inline bool qn__wf_is_dead(const wgsl_lower *w) {
    return w->stopped || (w->b.region->last && qn__ir_is_jump(w->b.region->last));
}

/* ---- entry.c, uniform.c ---- */

/* Where a variable at module scope lies in this kernel. */
wgsl_value qn__wf_module_variable(wgsl_lower *w, wgsl_binding *binding, front_loc loc);
ir_builder qn__wf_begin(wgsl_lower *w);
void qn__wf_runtime_length(wgsl_lower *w, wgsl_binding *binding);
void qn__wf_entry(wgsl_lower *w, wgsl_decl *decl);
void qn__wf_look_at(wgsl_lower *w, wgsl_decl *decl); /* for errors alone */
void qn__wf_check_uniformity(wgsl_lower *w, ir_function *kernel);
void qn__wf_at(wgsl_lower *w, front_loc loc);

#endif
