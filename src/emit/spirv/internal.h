/* What the files of the SPIR-V target share. A kernel is planned first (plan.c, classes.c) and
   written then, in one walk.

   Values. An IR value has up to two forms, and only those that are needed are written where it is defined:
   `id`, the value itself, and `low`, the low 32 bits of an i64.
   i64 values and global addresses are "wide": 64-bit integers where the module needs the capability for its own
   arithmetic or the device prefers them, else pairs of 32-bit words (low first), so that addresses and sizes alone
   never ask for it. A global pointer is its address as a number, cast to a pointer at each access.
   A private, local or parameter pointer is an index (`low`) into the variable of its class: the objects that a
   pointer may point to are one class and share one variable. */
#ifndef QN__SPIRV_INTERNAL_H
#define QN__SPIRV_INTERNAL_H

#include "emit/emit.h"
#include "emit/spirv/words.h"
#include "pass/analysis.h"

typedef QN__VEC(uint32_t) spv_words;

/* Capabilities that a module may ask for; the table of their numbers is in module.c. */
typedef enum spv_cap {
    CAP_INT8,
    CAP_INT16,
    CAP_INT64,
    CAP_FLOAT16,
    CAP_FLOAT64,
    CAP_STORAGE_8,
    CAP_STORAGE_16,
    CAP_INT64_ATOMICS,
    CAP_FLOAT_ATOMIC_ADD,
    CAP_DOUBLE_ATOMIC_ADD,
    CAP_DEVICE_SCOPE,
    CAP_FLOAT_CONTROLS,
    CAP_DENORM_PRESERVE,
    CAP_ROUNDING_RTE,
    CAP_GROUP,
    CAP_GROUP_VOTE,
    CAP_GROUP_ARITHMETIC,
    CAP_GROUP_BALLOT,
    CAP_GROUP_SHUFFLE,
    CAP_DOT,
    CAP_DOT_PACKED,
    CAP_MATRIX,
    CAP_BF16,
    CAP_BF16_MATRIX,
    CAP_FLOAT8,
    CAP_FLOAT8_MATRIX,
    CAP_COUNT
} spv_cap;

typedef struct spv_value {
    uint32_t id, low;
} spv_value;

/* A private variable, a __local variable or a __local parameter. */
typedef struct spv_object {
    uint64_t size;
    uint32_t align;
    ir_space space;
    int local_arg;    /* its number among the kernel's __local parameters; -1: none */
    uint64_t address; /* what pointers to it are as numbers; parameters in a joint class: see address_id */
    uint32_t address_id;
    uint32_t class_index;
} spv_object;

/* Objects that share a variable: an array of elements of `lanes` scalars of `unit` bytes. Pointers are kept as
   multiples of `step` bytes from its start. */
typedef struct spv_class {
    ir_space space;
    uint32_t num_objects, num_args;
    int local_arg;      /* of the only object; -1 */
    bool escapes;       /* pointers come from memory or integers, too */
    bool atomic, mixed; /* mixed: not all scalars accessed are `unit` bytes */
    bool has_half;      /* f16 is among them */
    bool packed;        /* words of which accesses that are narrower take a part; step is 1 */
    uint8_t unit, kind, lanes;
    uint8_t copy_unit;              /* what copies can move at once; 0: there are none */
    uint8_t most_lanes, lane_limit; /* of vectors accessed, and what their alignment allows */
    uint32_t step;
    ir_matrix matrix;     /* of fragments: elements are such, and nothing else; element 0: it is not */
    uint64_t offset_bits; /* all bits set in any offset */
    uint64_t size, base;  /* bytes of the objects; number of the first byte's address */
    uint32_t variable;
} spv_class;

/* A pointer value derived once and used again in the same region or below. */
typedef struct spv_chain {
    uint64_t made_of; /* of an id and a key */
    uint32_t id;
    uint32_t before; /* the one before it of its bucket: its index + 1 */
} spv_chain;

enum { SPV_BUCKETS = 256 };

typedef struct spv_jumps { /* of a construct that is being written */
    const ir_instr *construct;
    uint32_t merge, next;        /* labels; `next`: a loop's continue target */
    bool rounds;                 /* a loop that is left at its header alone: see loses_results */
    spv_words breaks, continues; /* for each jump to them its block's label, then its values */
    struct spv_jumps *outer;
} spv_jumps;

/* A variable in local memory; the kernels of a module share it, as one of them runs at a time. */
typedef struct spv_local {
    uint32_t pointer, variable;
    const ir_function *user; /* the latest */
} spv_local;

/* What is found of a kernel before the first is written (plan.c). */
typedef struct spv_plan {
    spv_value *values;     /* by value id */
    const uint8_t *demand; /* by value id: QN__WANT_*, the forms that are needed of wide values */
    QN__VEC(const ir_instr *)
    near;                /* what makes or goes through pointers to private and local memory, in order */
    uint64_t queries;    /* bits: query op - IR_GLOBAL_ID, times 3, plus dim */
    bool shares;         /* work-items see each other's writes: accesses are not private */
    bool shares_buffers; /* also those to buffers: barriers of local memory alone do not order them */
    bool uses_sync, uses_constants, guarded;
} spv_plan;

typedef struct spv {
    qn__arena *arena;
    ir_module *module;
    const qn__emit_options *options;
    qn__emit_result *result;
    jmp_buf give_up;

    /* the module */
    uint32_t caps;                                                        /* bits of spv_cap */
    spv_words entries, modes, strings, names, annotations, globals, code; /* code: all functions */
    uint32_t next_id, glsl;
    uint32_t types[IR_KIND_COUNT][17]; /* by kind and lanes, as in memory; 0: not asked for yet */
    qn__map64 interned, small;         /* instructions of `globals` by hash; words of constants by id */
    qn__map64 built_ins;
    qn__map64 boxes; /* pointers to structures of one narrow value, by its type */
    bool native;     /* wide values are 64-bit integers */
    uint32_t held;   /* bits by kind: see qn__spv_is_held */
    uint32_t local_size[3];
    bool linear; /* sub-groups are used: groups are one-dimensional for the device, see declare_local_size */
    uint64_t *constant_offset; /* of each __constant object in the blob; UINT64_MAX: not there */
    uint32_t *line_files;      /* OpString by file */
    QN__VEC(spv_local) locals;

    /* the kernel */
    ir_function *function;
    spv_plan plan;
    spv_words interface;
    uint32_t label; /* of the block being written */
    uint32_t kinds; /* bits by kind: are computed with */
    QN__VEC(qn__implicit) implicit;
    uint32_t block, block_size; /* push constant variable; bytes with the implicit arguments */
    uint32_t block_address;     /* of the block, where it is in memory */
    uint32_t *arg_offsets;
    QN__VEC(spv_object) objects;
    QN__VEC(spv_class) classes;
    qn__points_to places; /* sets of pointers to private and local memory; its own nodes are the objects */
    uint32_t *class_of;   /* by root: the class's index + 1 */
    uint32_t *object;     /* by value: its index + 1, of VAR, LOCAL and arguments */
    uint32_t *local_units;
    uint32_t num_local_args;
    uint32_t query[3 * 16]; /* what they give: 32 bits; wide for global size and offset, and for the global id
                               that of the part's first work-item */
    uint32_t in_part[3];    /* number of this work-item in the grid part */
    const bool *divergent; /* by mark: loops that work-items leave apart; for lacks_loop_results, else NULL */
    const bool *together;  /* by mark: conditions that lanes past a group's end share; the same */
    uint32_t *uses;        /* by value id */
    const bool *read_only; /* by value id: pointers to where nobody writes; NULL: none */
    QN__VEC(spv_chain) chains;
    uint32_t newest[SPV_BUCKETS]; /* of each bucket of chains: its index + 1 */
    spv_jumps *jumps;
    ir_loc loc;
} spv;

/* ---- module.c: words, types, constants ---- */

void qn__spv_do(spv *e, unsigned op, const uint32_t *args, unsigned count);
uint32_t qn__spv_emit(spv *e, unsigned op, uint32_t type, const uint32_t *args, unsigned count);
static inline uint32_t qn__spv_make(spv *e, unsigned op, const uint32_t *type_and_args, unsigned count) {
    return qn__spv_emit(e, op, type_and_args[0], type_and_args + 1, count - 1);
}
#define SPV_COUNT(...) (sizeof((uint32_t[]){__VA_ARGS__}) / sizeof(uint32_t))
/* The result's type and the operands. One list, which compilers take from left to right: ids are handed out in that order. */
#define SPV(e, op, ...)            qn__spv_make((e), (op), (const uint32_t[]){__VA_ARGS__}, SPV_COUNT(__VA_ARGS__))
#define SPV_DO(e, op, ...)         qn__spv_do((e), (op), (const uint32_t[]){__VA_ARGS__}, SPV_COUNT(__VA_ARGS__))
#define SPV_GLSL(e, fn, type, ...) SPV(e, SP_EXT_INST, type, qn__spv_glsl(e), fn, __VA_ARGS__)
uint32_t qn__spv_glsl(spv *e);
static inline uint32_t qn__spv_id(spv *e) { return e->next_id++; }
void qn__spv_words(spv *e, spv_words *section, unsigned op, const uint32_t *args, unsigned count);
void qn__spv_append(spv *e, spv_words *to, const spv_words *from);
#define SPV_INTO(e, section, op, ...)                                                                        \
    qn__spv_words((e), (section), (op), (const uint32_t[]){__VA_ARGS__}, SPV_COUNT(__VA_ARGS__))
void qn__spv_text(spv *e, spv_words *section, unsigned op, const uint32_t *args, unsigned count,
                  const char *text, const uint32_t *after, unsigned num_after);
/* A global instruction, once: its id. `type` 0: it has no type (types themselves). */
uint32_t qn__spv_intern(spv *e, unsigned op, uint32_t type, const uint32_t *args, unsigned count);
static inline uint32_t qn__spv_once(spv *e, unsigned op, const uint32_t *type_and_args, unsigned count) {
    return qn__spv_intern(e, op, type_and_args[0], type_and_args + 1, count - 1);
}
#define SPV_ONCE(e, op, ...) qn__spv_once((e), (op), (const uint32_t[]){__VA_ARGS__}, SPV_COUNT(__VA_ARGS__))
void qn__spv_finish(spv *e);

/* The memory model: Vulkan's, or that of GLSL, where every access may be seen by others after a barrier. */
static inline bool qn__spv_is_vulkan(const spv *e) { return !e->options->target.tries_glsl_memory; }
void qn__spv_need(spv *e, spv_cap cap); /* gives up where the device lacks it */
QN__NORETURN void qn__spv_fail(spv *e, const char *message);

uint32_t qn__spv_block_array(spv *e, uint32_t words);
uint32_t qn__spv_void(spv *e);
uint32_t qn__spv_make_type(spv *e, ir_type type);
/* For loads and stores; pointers and i64: wide. */
static inline uint32_t qn__spv_memory_type(spv *e, ir_type type) {
    const uint32_t known = e->types[type.kind][type.lanes];
    return known ? known : qn__spv_make_type(e, type);
}
static inline uint32_t qn__spv_scalar(spv *e, ir_kind kind) {
    return qn__spv_memory_type(e, qn__ir_type(kind, 1));
}
uint32_t qn__spv_uint(spv *e, unsigned bits);
uint32_t qn__spv_vector(spv *e, uint32_t scalar, unsigned lanes); /* lanes 1: the scalar */
uint32_t qn__spv_type(spv *e, ir_type type);                      /* as in memory, for arithmetic */
/* Numbers of 8 or 16 bits are values of 32, zeros above, where the device has them in buffers at most; buffers
   hold them as qn__spv_stored_type, an integer. What computes on them has been lowered. */
static inline bool qn__spv_is_held(const spv *e, unsigned kind) { return e->held >> kind & 1; }
uint32_t qn__spv_stored_type(spv *e, ir_type type);
uint32_t qn__spv_held(spv *e, ir_type type, uint32_t words); /* cuts off what is above; `type` is held */
static inline uint32_t qn__spv_wide(spv *e) { return qn__spv_scalar(e, IR_I64); }
static inline uint32_t qn__spv_pair(spv *e) { return qn__spv_memory_type(e, qn__ir_type(IR_I32, 2)); }
static inline uint32_t qn__spv_u32t(spv *e) { return qn__spv_scalar(e, IR_I32); }
static inline uint32_t qn__spv_bools(spv *e, unsigned lanes) {
    return qn__spv_memory_type(e, qn__ir_type(IR_BOOL, lanes));
}
static inline uint32_t qn__spv_bool(spv *e) { return qn__spv_bools(e, 1); }
uint32_t qn__spv_pointer(spv *e, unsigned storage, uint32_t type);
uint32_t qn__spv_u32(spv *e, uint32_t value);
uint32_t qn__spv_u64(spv *e, uint64_t value); /* wide */
uint32_t qn__spv_f32(spv *e, float value);
uint32_t qn__spv_int(spv *e, ir_type type, uint64_t value); /* splat, arithmetic types */
uint32_t qn__spv_float(spv *e, ir_type type, double value); /* splat */
uint32_t qn__spv_bits(spv *e, ir_type type, uint64_t bits); /* a scalar as ir_value holds it */
uint32_t qn__spv_undef(spv *e, uint32_t type);
uint32_t qn__spv_spec(spv *e, uint32_t number, uint32_t value); /* a specialisation constant */
bool qn__spv_u32_value(spv *e, uint32_t id, uint32_t *value);   /* of a u32 constant */
void qn__spv_decorate(spv *e, uint32_t id, uint32_t decoration);

/* ---- plan.c ---- */

void qn__spv_plan(spv *e); /* of e->function */
/* For s2f and u2f of an i64: whether its low word says all; then *is_signed tells how to read it. */
bool qn__spv_is_word(const ir_instr *convert, bool *is_signed);
static inline bool qn__spv_is_wide(ir_type type) {
    return type.kind == IR_I64 ||
           (type.kind == IR_PTR && (type.space == IR_GLOBAL_SPACE || type.space == IR_CONSTANT_SPACE));
}
/* A global id, of which an address takes two parts: that of the grid part's first work-item and the number in the part. */
static inline bool qn__spv_is_split_id(const qn__term *term) {
    return term->kind == QN__TERM_WIDE && term->value->value_kind == IR_VALUE_RESULT &&
           term->value->def->op == IR_GLOBAL_ID;
}
static inline bool qn__spv_is_place(ir_type type) { return type.kind == IR_PTR && !qn__spv_is_wide(type); }
/* Of what its first operands point to. */
static inline bool qn__spv_is_access(const ir_instr *instr) {
    const unsigned rule = qn__ir_ops[instr->op].rule;
    return (rule >= RULE_LOAD && rule <= RULE_ATOMIC_CAS) || rule == RULE_MATRIX;
}

/* ---- classes.c: private and local memory ---- */

void qn__spv_classes(spv *e);                              /* the plan */
void qn__spv_class_variables(spv *e);                      /* declares their variables */
spv_class *qn__spv_class(spv *e, const ir_value *pointer); /* NULL: it points nowhere */
/* The index of the first byte of what VAR, LOCAL or a __local argument stands for. */
uint32_t qn__spv_object_place(spv *e, const ir_value *pointer);

/* ---- kernel.c ---- */

void qn__spv_kernel(spv *e, ir_function *function);
void qn__spv_query(spv *e, const ir_instr *instr);
uint32_t qn__spv_never(spv *e); /* a false that drivers cannot fold */
/* Vectors that SPIR-V does not have: of more than four lanes, and of pairs of words. */
static inline bool qn__spv_is_long(const spv *e, ir_type type) {
    return type.lanes > 4 || (type.lanes > 1 && type.kind == IR_I64 && !e->native);
}
/* A lane of such an argument, which is not a value in one piece. */
uint32_t qn__spv_arg_lane(spv *e, const ir_value *arg, unsigned lane);
uint32_t qn__spv_implicit_word(spv *e, qn__implicit_kind kind, unsigned dim, unsigned word);
uint32_t qn__spv_block_word(spv *e, uint32_t index); /* index: an id; loads one u32 of the parameters */
/* The forms of a value, writing what can be derived. */
uint32_t qn__spv_first_use(spv *e, const ir_value *value);
static inline uint32_t qn__spv_use(spv *e, const ir_value *value) {
    const uint32_t id = e->plan.values[value->id].id; /* a place has none */
    return id ? id : qn__spv_first_use(e, value);
}
uint32_t qn__spv_use_as(spv *e, const ir_value *value,
                        const ir_value *like);       /* a constant place: of its class */
uint32_t qn__spv_low(spv *e, const ir_value *value); /* low 32 bits; index of a place */
/* Gives a value its id (a place: its index) and writes what else is needed of it. */
void qn__spv_define(spv *e, const ir_value *value, uint32_t id);
uint32_t qn__spv_value_type(spv *e, const ir_value *value);
/* Looks up and notes what is derived from an id, for this region and those within. */
uint32_t qn__spv_chain(const spv *e, uint32_t from, uint32_t key);
void qn__spv_note(spv *e, uint32_t from, uint32_t key, uint32_t id);
void qn__spv_forget(spv *e, size_t kept); /* all notes but the first `kept` */
void qn__spv_line(spv *e, ir_loc loc);

/* ---- control.c ---- */

void qn__spv_region(spv *e, const ir_region *region);
uint32_t qn__spv_begin_block(spv *e, uint32_t label);

/* ---- instr.c, wide.c, convert.c ---- */

void qn__spv_instr(spv *e, const ir_instr *instr);
uint32_t qn__spv_arith(spv *e, ir_op op, ir_type type, uint32_t a, uint32_t b); /* two operands, not wide */
uint32_t qn__spv_extract(spv *e, uint32_t type, uint32_t vector, unsigned lane);
uint32_t qn__spv_build(spv *e, uint32_t type, const uint32_t *parts, unsigned count);

typedef struct spv_pair {
    uint32_t lo, hi;
} spv_pair;
uint32_t qn__spv_widen(spv *e, uint32_t word, bool is_signed);
uint32_t qn__spv_half(spv *e, uint32_t wide, unsigned index); /* 0: the low word, 1: the high one */
spv_pair qn__spv_split(spv *e, uint32_t wide);
void qn__spv_note_halves(spv *e, uint32_t wide, spv_pair pair); /* what split gives from now on */
uint32_t qn__spv_join(spv *e, spv_pair pair);
uint32_t qn__spv_wide_add(spv *e, uint32_t a, uint32_t b);
uint32_t qn__spv_wide_scale(spv *e, uint32_t a, int64_t scale);
uint32_t qn__spv_low_op(spv *e, const ir_instr *instr); /* the low half only */

/* The operand of a float op whose constant zeros drivers would take too lightly. */
uint32_t qn__spv_hide_zero(spv *e, const ir_value *value);

bool qn__spv_convert(spv *e, const ir_instr *instr);
uint32_t qn__spv_bitcast_lane(spv *e, ir_kind to, uint32_t bits); /* u32 bits to a lane of 32 bits or less */
uint32_t qn__spv_lane_bits(spv *e, ir_kind from, uint32_t lane);  /* and back, zero-extended */

/* ---- address.c ---- */

void qn__spv_ptr_add(spv *e, const ir_instr *instr);
/* Addresses in buffers, which are wide: as a pointer, `bytes` further, and further by a number times `scale`, of 32
   bits or wide. Each is written once in a region and those within. */
uint32_t qn__spv_pointer_at(spv *e, uint32_t address, ir_type pointee);
uint32_t qn__spv_further(spv *e, uint32_t address, int64_t bytes);
uint32_t qn__spv_indexed(spv *e, uint32_t address, uint32_t index, bool is_signed, int64_t scale);
uint32_t qn__spv_scaled(spv *e, uint32_t address, uint32_t wide, int64_t scale);
/* u32 arithmetic that folds constants. */
uint32_t qn__spv_add(spv *e, uint32_t a, uint32_t b);
uint32_t qn__spv_mul(spv *e, uint32_t a, uint32_t factor);
uint32_t qn__spv_shl(spv *e, uint32_t a, unsigned bits);
uint32_t qn__spv_shr(spv *e, uint32_t a, unsigned bits);
uint32_t qn__spv_and(spv *e, uint32_t a, uint32_t mask);
uint32_t qn__spv_or(spv *e, uint32_t a, uint32_t b);
uint32_t qn__spv_address(spv *e, const ir_value *place);                /* a place as a number: u32 */
uint32_t qn__spv_place(spv *e, const ir_value *like, uint32_t address); /* and back, for like's class */
/* Pointer to a scalar of a class's variable (or to an element, `whole`), `bytes` from the place `index`. */
uint32_t qn__spv_element(spv *e, const spv_class *class, uint32_t index, int64_t bytes, bool whole);

/* ---- matrix.c ---- */

bool qn__spv_matrix(spv *e, const ir_instr *instr);
uint32_t qn__spv_matrix_type(spv *e, ir_matrix m);
/* Bytes that addresses of rows (of columns, transposed) of a fragment in memory are a multiple of. */
unsigned qn__spv_matrix_align(const ir_instr *instr);
/* Bytes that a fragment counts for in private memory. */
uint32_t qn__spv_matrix_step(const spv *e, ir_matrix m);

/* ---- memory.c, atomic.c ---- */

/* Other work-items may write there, or see what is written. */
bool qn__spv_is_shared(const spv *e, const ir_value *pointer, const ir_instr *instr);

bool qn__spv_memory(spv *e, const ir_instr *instr);
/* A value from the 32-bit words of the parameter block. */
uint32_t qn__spv_param(spv *e, ir_type type, uint32_t address, uint32_t align);
bool qn__spv_atomic(spv *e, const ir_instr *instr);
uint32_t qn__spv_scope(spv *e, unsigned scope); /* a constant, of an ir_scope */

/* ---- group.c ---- */

bool qn__spv_group(spv *e, const ir_instr *instr);
uint32_t qn__spv_any(spv *e, uint32_t condition); /* of a sub-group: whether it holds for one */

#endif
