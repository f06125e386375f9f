/* The intermediate representation: structured control flow in SSA form.
   A function's body is a region: a list of instructions that ends in one jump. `if`, `loop` and `block` are
   instructions that own regions; values flow out of them as their results and around a loop as its region's
   parameters, so there are no phi instructions, and a value may be used after its definition in the same
   region and in regions nested there, nowhere else. Jumps name the construct they leave (after WebAssembly's
   structured control and MLIR's region arguments). Everything lives in the module's arena. Types are named
   ir_*, functions qn__ir_*. */
#ifndef QN__IR_H
#define QN__IR_H

#include <stdbool.h>
#include <stdint.h>

#include "ir/loc.h"
#include "util/float.h"
#include "util/map.h"
#include "util/str.h"
#include "util/vec.h"

/* ---- types ---- */

typedef enum ir_kind {
    IR_VOID,
    IR_BOOL,
    IR_I8,
    IR_I16,
    IR_I32,
    IR_I64,
    IR_F16,
    IR_F32,
    IR_F64,
    IR_PTR, /* 64 bits in memory, whatever the space */
    IR_KIND_COUNT
} ir_kind;

typedef enum ir_space {
    IR_PRIVATE,
    IR_GLOBAL_SPACE,
    IR_CONSTANT_SPACE, /* __constant buffers and program-scope tables */
    IR_LOCAL_SPACE,
    IR_PARAM_SPACE, /* a by-value struct argument's bytes; read only */
    IR_GENERIC_SPACE, /* private, global or local, as it turns out at run time; no target sees it (lower_generic) */
    IR_SPACE_COUNT
} ir_space;

typedef struct ir_type {
    _Alignas(uint32_t) uint8_t kind; /* ir_kind; aligned, so that a type is moved as one word */
    uint8_t lanes;                   /* 1, 2, 3, 4, 8 or 16; pointers and void: 1 */
    uint8_t space;                   /* ir_space of a pointer, else 0 */
} ir_type;

static inline bool qn__ir_same(ir_type a, ir_type b) {
    return a.kind == b.kind && a.lanes == b.lanes && a.space == b.space;
}
static inline ir_type qn__ir_type(ir_kind kind, unsigned lanes) {
    return (ir_type){(uint8_t)kind, (uint8_t)lanes, 0};
}
static inline ir_type qn__ir_pointer(ir_space space) { return (ir_type){IR_PTR, 1, (uint8_t)space}; }
static inline ir_type qn__ir_with_lanes(ir_type type, unsigned lanes) {
    type.lanes = (uint8_t)lanes;
    return type;
}
static inline ir_type qn__ir_element(ir_type type) { return qn__ir_with_lanes(type, 1); }
static inline bool qn__ir_is_int(ir_type t) { return t.kind >= IR_I8 && t.kind <= IR_I64; }
static inline bool qn__ir_is_float(ir_type t) { return t.kind >= IR_F16 && t.kind <= IR_F64; }
extern const uint8_t qn__ir_kind_bits[IR_KIND_COUNT];
/* Of one lane; bool: 1, pointer: 64, void: 0. */
static inline unsigned qn__ir_bits(ir_type type) {
    return type.kind < IR_KIND_COUNT ? qn__ir_kind_bits[type.kind] : 0;
}
unsigned qn__ir_memory_size(ir_type type); /* bytes as laid out in memory: a 3-vector takes 4 lanes */
const char *qn__ir_space_name(ir_space space);
/* "f32", "i32x4", "ptr.global"; the text is the arena's or static. */
const char *qn__ir_type_name(qn__arena *arena, ir_type type);

/* ---- ops ---- */

typedef enum ir_op {
#define OP(ID, name, operands, results, rule, effects, has, fold, doc) IR_##ID,
#include "ir/ops.def"
#undef OP
    IR_OP_COUNT /* no more than 256 */
} ir_op;

typedef enum ir_rule {
    RULE_NONE,
    RULE_INT,      /* all operands and the result: one integer type */
    RULE_LOGIC,    /* the same, integer or bool */
    RULE_BYTES,    /* the same, i32 or vectors of it */
    RULE_COMPARE,  /* two operands of one type; result bool of their lanes */
    RULE_FCOMPARE, /* the same for floats */
    RULE_FLOAT,    /* all operands and the result: one float type */
    RULE_CONVERT,  /* kinds by op, lanes kept */
    RULE_BITCAST,  /* total bits kept */
    RULE_SELECT,   /* bool or lanes of bool; two of the result's type */
    RULE_VECTOR,   /* one scalar a lane */
    RULE_SPLAT,
    RULE_EXTRACT,
    RULE_INSERT,
    RULE_SHUFFLE,
    RULE_POINTER_RESULT, /* var: private; local: local; global: constant */
    RULE_PTR_ADD,        /* pointer, i64 -> the same pointer type */
    RULE_LOAD,           /* pointer -> any type but bool and void */
    RULE_STORE,          /* pointer, any type but bool and void */
    RULE_COPY,           /* pointer, pointer */
    RULE_ATOMIC_RMW,     /* pointer, scalar of 32 or 64 bits -> the same */
    RULE_ATOMIC_CAS,
    RULE_PREFETCH,
    RULE_EVENT, /* i32 -> i32 or nothing */
    RULE_QUERY32,
    RULE_QUERY64,
    RULE_VOTE,        /* bool -> bool */
    RULE_GROUP,       /* scalar number -> the same */
    RULE_GROUP_INDEX, /* any number (vectors too), i32 -> the first's type */
    RULE_BALLOT,
    RULE_MATRIX, /* pointers to fragments, as attr.matrices tells; values of their elements */
    RULE_MMA,
    RULE_LDMATRIX,
    RULE_NATIVE,
    RULE_PRINTF,
    RULE_CALL,
    RULE_CONSTRUCT,
    RULE_JUMP
} ir_rule;

typedef enum ir_effects {
    IR_EFFECT_PURE,
    IR_EFFECT_PURE_TRAP,
    IR_EFFECT_QUERY,
    IR_EFFECT_READ,
    IR_EFFECT_WRITE,
    IR_EFFECT_READWRITE,
    IR_EFFECT_CONVERGENT,
    IR_EFFECT_SYNC,
    IR_EFFECT_CONTROL
} ir_effects;

#define IR_ANY 255 /* operands or results in a varying number */

typedef struct ir_op_info {
    const char *name;
    uint8_t operands, results;
    uint8_t rule;    /* ir_rule */
    uint8_t effects; /* ir_effects */
    uint32_t has;    /* IR_ATTR_* bits, and what follows them */
    uint16_t flags;  /* those that mean something for it */
    bool foldable;   /* has a fold column; qn__ir_fold knows more, by hand */
    const char *doc;
} ir_op_info;

/* Which parts of ir_attr an op uses, and its properties: the column `has`. */
enum {
    IR_ATTR_LANE = 1 << 0,
    IR_ATTR_LANES = 1 << 1,
    IR_ATTR_ALIGN = 1 << 2,
    IR_ATTR_OFFSET = 1 << 3,
    IR_ATTR_SIZE = 1 << 4,
    IR_ATTR_ORDER = 1 << 5,
    IR_ATTR_FAIL = 1 << 6,
    IR_ATTR_SCOPE = 1 << 7,
    IR_ATTR_COMBINE = 1 << 8,
    IR_ATTR_FENCE = 1 << 9,
    IR_ATTR_DIM = 1 << 10,
    IR_ATTR_INDEX = 1 << 11,
    IR_ATTR_ROUNDING = 1 << 12,
    IR_ATTR_VAR = 1 << 13,
    IR_ATTR_CALLEE = 1 << 14,
    IR_ATTR_TARGET = 1 << 15,
    IR_ATTR_UNROLL = 1 << 16,
    IR_ATTR_MATRIX = 1 << 17,
    IR_ATTRS = (1 << 18) - 1,
    IR_COMMUTES = 1 << 18, /* its first two operands may be swapped */
    IR_SIGNED = 1 << 19,   /* it reads its operands as signed */
    IR_UNSIGNED = 1 << 20, /* as unsigned */
    IR_LOW = 1 << 21,      /* the low bits of its result are made of as many of its operands */
    IR_SLOW = 1 << 22,     /* as long as several others */
    IR_VARIES = 1 << 23,   /* work-items get different values, whatever they bring */
    IR_LEVELS = 1 << 24,   /* all of its scope get the same, whatever they bring */
    IR_WHOLE = 1 << 25,    /* its value tells of the group as it runs */
    IR_SMALL = 1 << 26,    /* at most about the size of a work-group */
    IR_POSITIVE = 1 << 27  /* never 0 */
};

extern const ir_op_info qn__ir_ops[IR_OP_COUNT];
static inline bool qn__ir_commutes(unsigned op) { return qn__ir_ops[op].has & IR_COMMUTES; }
static inline bool qn__ir_is_signed(unsigned op) { return qn__ir_ops[op].has & IR_SIGNED; }
/* Whether it has all of those properties and attributes. */
static inline bool qn__ir_has(unsigned op, uint32_t what) { return (qn__ir_ops[op].has & what) == what; }
bool qn__ir_op_by_name(qn__str name, ir_op *op);
/* A number that changes with the table of ops: where numbers of ops are kept in files, it tells those of another build. */
uint32_t qn__ir_ops_signature(void);
/* Work-items act together: the active ones all take part. */
static inline bool qn__ir_is_together(ir_op op) {
    return qn__ir_ops[op].effects == IR_EFFECT_CONVERGENT || qn__ir_ops[op].effects == IR_EFFECT_SYNC;
}

/* Flags of an instruction. */
enum {
    IR_NSW = 1 << 0,       /* signed arithmetic does not overflow */
    IR_NUW = 1 << 1,       /* unsigned arithmetic does not overflow */
    IR_CONTRACT = 1 << 2,  /* fmul and fadd/fsub may become fma; an fma may be rounded twice */
    IR_FAST = 1 << 3,      /* approximate, reassociate, assume finite */
    IR_VOLATILE = 1 << 4,  /* memory access stays as written */
    IR_READONLY = 1 << 5,  /* load: nothing writes there while the kernel runs (const restrict, __constant) */
    IR_EXCLUSIVE = 1 << 6, /* group_scan */
    IR_ASYNC = 1 << 7,     /* copy: need not be done before async_wait */
    IR_BRANCH = 1 << 8,    /* if: work-items seldom differ; a branch, not both sides and selects */
    IR_ACTIVE = 1 << 9,    /* of a sub-group together: some of it may be elsewhere, those that come by act */
    IR_TRANSPOSED =
        1 << 10, /* matrix_load, matrix_store: columns lie together, not rows; ldmatrix: as its row says */
    IR_UNCOUNTED =
        1 << 11, /* loop: no part of a budget of iterations, which begins anew with each of its own */
    IR_WRITTEN =
        1
        << 12 /* for the checker: quotient, shift, sum, float to integer: the program's own; umin: of an index; access: volatile there, too */
};

typedef enum ir_rounding {
    IR_ROUND_EVEN = QN__ROUND_EVEN,
    IR_ROUND_ZERO = QN__ROUND_ZERO,
    IR_ROUND_UP = QN__ROUND_UP,
    IR_ROUND_DOWN = QN__ROUND_DOWN
} ir_rounding;

typedef enum ir_order { IR_RELAXED, IR_ACQUIRE, IR_RELEASE, IR_ACQ_REL, IR_SEQ_CST } ir_order;

typedef enum ir_scope {
    IR_SCOPE_WORK_ITEM,
    IR_SCOPE_SUB_GROUP,
    IR_SCOPE_WORK_GROUP,
    IR_SCOPE_DEVICE,
    IR_SCOPE_ALL_DEVICES
} ir_scope;

/* How atomic_rmw, group_reduce and group_scan join two values. */
typedef enum ir_combine {
#define COMBINE(ID, name, op, where, numbers) IR_COMBINE_##ID,
#include "ir/combines.def"
    IR_COMBINE_COUNT
} ir_combine;

const char *qn__ir_combine_name(unsigned combine);
ir_op qn__ir_combine_op(
    unsigned combine); /* on the two values; IR_OP_COUNT for an exchange, which takes the second */
bool qn__ir_combine_is_signed(unsigned combine);
/* What makes no difference joined with, as its bits. `exact`: not even to -0 and NaN; else what an exclusive scan gives
   the first work-item. */
uint64_t qn__ir_combine_identity(unsigned combine, ir_kind kind, bool exact);
/* The same of integers of up to 32 bits, extended to a word as they are joined there. */
uint32_t qn__ir_combine_nothing(unsigned combine, ir_kind kind);

enum { IR_FENCE_LOCAL = 1, IR_FENCE_GLOBAL = 2 };

/* A fragment of a matrix, which the work-items of a sub-group hold together, each a share of its elements. */
typedef enum ir_matrix_element {
    IR_MATRIX_NONE,
#define ELEMENT(ID, name, kind, uses, to_float, from_float) IR_MATRIX_##ID,
#include "ir/matrices.def"
    IR_MATRIX_ELEMENTS
} ir_matrix_element;

typedef enum ir_matrix_use { IR_USE_A, IR_USE_B, IR_USE_ACCUMULATOR, IR_MATRIX_USES } ir_matrix_use;

typedef struct ir_matrix {
    uint8_t element;       /* ir_matrix_element; 0: none */
    uint8_t rows, columns; /* 8, 16, 32 or 64 */
    uint8_t use;           /* ir_matrix_use */
} ir_matrix;

enum { IR_MATRICES = 3 }; /* that an instruction tells of, at most */

typedef enum ir_native {
#define NATIVE(ID, name, signature, arch, version, pattern, doc) IR_NATIVE_##ID,
#include "ir/natives.def"
    IR_NATIVE_COUNT
} ir_native;

/* attr.index of quad_product: the elements of a and b, how they lie, and whether a is in registers. */
/* panel_product: what a word of a and one of b are made of. */
typedef enum ir_panel_kind {
    IR_PANEL_BF16,
    IR_PANEL_SS, /* bytes of a, of b: s signed, u unsigned */
    IR_PANEL_SU,
    IR_PANEL_US,
    IR_PANEL_UU,
    IR_PANEL_KINDS
} ir_panel_kind;

typedef enum ir_quad_element {
    IR_QUAD_F16,
    IR_QUAD_BF16,
    IR_QUAD_TF32,
    IR_QUAD_I8,
    IR_QUAD_U8,
    IR_QUAD_E4M3,
    IR_QUAD_E5M2,
    IR_QUAD_ELEMENTS
} ir_quad_element;
/* The rows of b lie together, not its columns; the columns of a, not its rows; a is IR_QUAD_WORDS words of the work-item's. */
enum {
    IR_QUAD_ROWS = 1 << 3,
    IR_QUAD_COLUMNS = 1 << 4,
    IR_QUAD_HELD = 1 << 5,
    IR_QUAD_CODES = 1 << 6,
    IR_QUAD_WORDS = 16
};

/* ---- values, instructions, regions ---- */

typedef struct ir_value ir_value;
typedef struct ir_instr ir_instr;
typedef struct ir_region ir_region;
typedef struct ir_function ir_function;
typedef struct ir_module ir_module;

typedef enum ir_value_kind {
    IR_VALUE_RESULT, /* of an instruction */
    IR_VALUE_PARAM,  /* of a loop's region */
    IR_VALUE_ARG,    /* of the function */
    IR_VALUE_CONST,
    IR_VALUE_UNDEF
} ir_value_kind;

struct ir_value {
    ir_type type;
    uint8_t value_kind; /* ir_value_kind */
    uint32_t id;        /* dense in the function (ir_function.num_values): index for side tables */
    uint32_t index;     /* which result, parameter or argument */
    uint32_t changed;   /* first RESULT: ir_function.now when the instruction was made or last changed */
    ir_instr *def;      /* RESULT: the instruction; PARAM: the loop; else NULL */
    const char *name;   /* source name, a hint for printers; may be NULL */
    ir_value *instead;  /* what a pass has replaced it by (qn__rewrite): nothing uses it after that pass */
    const uint64_t
        *bits; /* CONST: one word a lane, zero-extended (floats: their bits; pointer: address, 0 is null) */
};

/* What a debugger is told of a private variable: enough for scalars, vectors and arrays of them. */
typedef struct ir_debug_type {
    ir_type type; /* element; IR_VOID: unknown (struct) */
    bool is_signed;
    uint32_t lengths[3]; /* array lengths, outermost first; 0: none */
} ir_debug_type;

typedef struct ir_var {
    const char *name; /* NULL for a temporary */
    uint64_t size;    /* bytes */
    uint32_t align;
    ir_debug_type debug;
    ir_matrix matrix; /* a fragment, or an array of them; element 0: none */
} ir_var;

typedef struct ir_attr {
    union {
        uint8_t lanes[16]; /* extract, insert, shuffle */
        struct {
            uint32_t align;
            uint8_t order, order_fail, scope;
            union {
                uint8_t combine;
                uint8_t fence; /* IR_FENCE_* bits: fence, barrier */
            };
            int64_t offset;
            uint64_t size; /* copy, prefetch */
        };
        uint32_t dim;                    /* queries */
        uint32_t index;                  /* local, global, printf */
        uint8_t rounding;                /* conversions */
        ir_var *var;                     /* var */
        ir_function *callee;             /* call */
        ir_instr *target;                /* break, continue */
        ir_matrix matrices[IR_MATRICES]; /* of the pointers among the operands; what follows the last is 0 */
        int32_t unroll;                  /* loop: 0 no hint, 1 do not unroll, n > 1 that often, -1 fully */
    };
} ir_attr;

/* What nearly every walk reads comes first: passes are bound by fetching instructions. */
struct ir_instr {
    ir_instr *next;
    uint8_t op; /* ir_op */
    uint8_t num_regions;
    uint16_t flags;
    uint32_t mark; /* scratch for the pass that runs */
    uint32_t num_operands, num_results;
    ir_value **operands;
    ir_value **results;
    ir_region **regions;
    ir_region *parent;
    ir_instr *prev;
    ir_loc loc;
    ir_attr attr;
};

struct ir_region {
    ir_instr *first, *last; /* last is the jump once the region is complete */
    ir_instr *owner;        /* NULL: the function's body */
    ir_function *function;
    uint32_t num_params;
    ir_value **params;
};

/* Acts together, with the work-items of its sub-group alone. */
static inline bool qn__ir_is_of_sub_group(const ir_instr *i) {
    return qn__ir_is_together((ir_op)i->op) &&
           (!qn__ir_has(i->op, IR_ATTR_SCOPE) || i->attr.scope == IR_SCOPE_SUB_GROUP);
}

/* The op's effects in the scope of this instruction: collectives of a work-group may be done with barriers. */
static inline ir_effects qn__ir_effects(const ir_instr *instr) {
    const ir_effects effects = (ir_effects)qn__ir_ops[instr->op].effects;
    const bool orders = effects == IR_EFFECT_CONVERGENT && instr->attr.scope == IR_SCOPE_WORK_GROUP;
    if (effects == IR_EFFECT_PURE && (instr->flags & IR_WRITTEN)) return IR_EFFECT_PURE_TRAP;
    return orders ? IR_EFFECT_SYNC : effects;
}

/* ---- functions and modules ---- */

typedef enum ir_arg_kind {
    IR_ARG_VALUE,  /* scalar or vector by value */
    IR_ARG_STRUCT, /* by-value aggregate: the value is a pointer in IR_PARAM_SPACE */
    IR_ARG_BUFFER, /* __global or __constant pointer */
    IR_ARG_LOCAL,  /* __local pointer: size given at launch */
    IR_ARG_PRINT /* added by a pass behind all others: pointer to the print buffer; not a parameter to users */
} ir_arg_kind;

enum {
    IR_ARG_CONST = 1,
    IR_ARG_RESTRICT = 2,
    IR_ARG_VOLATILE = 4,
    IR_ARG_NO_WRITE = 8,
    IR_ARG_NO_READ = 16,
    IR_ARG_STATE = 32, /* behind those of the source: the program's own variables, which the runtime passes */
    IR_ARG_FAULTS = 64 /* of a safe kernel, the last: where it notes accesses outside (util/faults.h) */
};

typedef enum ir_small_float {
    IR_SMALL_NONE,
    IR_SMALL_BF16,
    IR_SMALL_E4M3,
    IR_SMALL_E5M2,
    IR_SMALL_FLOAT_COUNT
} ir_small_float;

/* A function parameter: value and what reflection tells of it. */
typedef struct ir_arg {
    ir_value *value;
    uint8_t arg_kind;               /* ir_arg_kind (kernels) */
    uint8_t flags;                  /* IR_ARG_CONST ... */
    bool is_signed;                 /* integer element type is signed */
    uint8_t small_float;            /* ir_small_float: what integers of the element type are to the source */
    ir_type element;                /* pointee's type if a number or vector, else IR_VOID */
    uint32_t size, align;           /* bytes of the value in the argument block (pointers: 8) */
    uint32_t pointee_size;          /* bytes; 0 for void */
    uint64_t least_size;            /* of a buffer: bytes that it has; 0: it may be NULL */
    const char *name, *type_name;   /* "x", "float4*" */
    const char *const *field_names; /* of a struct by value or pointed to, as in code_info.def */
    const uint32_t *fields;
    ir_loc loc;          /* of its declaration; line 0: not known */
    uint32_t num_fields; /* words of `fields` are IR_FIELD_WORDS times as many */
    uint32_t
        extent_of; /* of a safe kernel: 1 + the parameter whose memory has so many bytes; 0: it is none */
} ir_arg;

/* A field: byte offset, bytes of a lane (0: no number), lanes, IR_FIELD_* bits, elements of the array that it is, else 1.
   From IR_FIELD_SMALL on its ir_small_float. */
enum { IR_FIELD_WORDS = 5, IR_FIELD_FLOAT = 1, IR_FIELD_SIGNED = 2, IR_FIELD_SMALL = 4 };

typedef struct ir_local {
    const char *name;
    uint64_t size;
    uint32_t align;
    ir_loc loc; /* of its declaration */
} ir_local;

/* A variable or array that is given values that nothing reads, for the checker. */
typedef struct ir_unused {
    const char *name;
    ir_loc declared, stored;
} ir_unused;

/* The constants of a function, by hash; use qn__ir_const. */
typedef struct ir_constants {
    ir_value **slots;
    uint32_t len, cap;
} ir_constants;

/* ir_function.now begins here; so much less, and what has changed then has been simplified since. */
enum { IR_SETTLED = 4 };

struct ir_function {
    ir_module *module;
    const char *name;
    bool is_kernel;
    bool is_const;   /* __attribute__((const/pure)) or a maths helper: calls may be merged */
    bool is_library; /* of the maths library: what it does is done by the line that calls it */
    bool
        is_total; /* its language says what every quotient, shift and conversion gives: the checker has nothing to find there */
    bool
        is_tidy; /* the passes before inlining have nothing to do: they have been there when the library was built */
    ir_type result; /* kernels: void */
    QN__VEC(ir_arg) args;
    QN__VEC(ir_local) locals; /* __local variables (kernels; merged into the kernel by inlining) */
    ir_region *body;
    uint32_t num_values;   /* ids handed out */
    bool has[IR_OP_COUNT]; /* ops that it has, or has had; set where instructions are made */
    uint32_t lanes,
        kinds;    /* of the types of its values, now or before: numbers of lanes ored, 1 << ir_kind ored */
    uint32_t now; /* grows with each run of simplify, which looks at what has changed since the last */
    uint32_t reqd_local[3]; /* reqd_work_group_size; 0: none */
    uint32_t hint_local[3];
    uint32_t required_sub_group_size; /* 0: none */
    uint32_t cluster;                 /* work-groups of a cluster in dimension 0; 0: none */
    bool whole_sub_groups;            /* all sub-groups are of that size, the last of a work-group, too */
    uint32_t max_registers;           /* of a work-item, where the target has a say in that; 0: as it likes */
    bool uniform_groups;       /* a launch's work-groups are all of one size: none at the end is smaller */
    bool narrow_ids;           /* a launch's sizes and ids are below 2^32 */
    const char *vec_type_hint; /* or NULL */
    ir_loc loc;
    const uint32_t *reach; /* what a kernel is sure to access (ir/reach.h) */
    uint32_t num_reach;
    const uint32_t *limits; /* of a safe kernel: what bounds accesses that it does not check (ir/limits.h) */
    uint32_t num_limits;
    ir_function *checked;      /* the same kernel for where they do not hold; NULL: there are no limits */
    bool is_checked;           /* is one */
    QN__VEC(ir_unused) unused; /* those of functions that are inlined, too */
    ir_constants constants;
    ir_instr *last_var;                    /* where qn__ir_variable goes on; kept by the builder */
    uint32_t index, num_calls, num_copies; /* of qn__survey, for the inliner */
};

/* A place in a __constant object that holds the address of another. */
typedef struct ir_relocation {
    uint64_t offset;
    uint32_t target; /* index of the __constant object */
    int64_t addend;
} ir_relocation;

typedef struct ir_global {
    const char *name; /* unique in the module */
    uint64_t size;
    uint32_t align;
    const uint8_t *data; /* size bytes */
    QN__VEC(ir_relocation) relocations;
    ir_loc loc;      /* of its declaration */
    bool is_format;  /* printf format string */
    ir_type element; /* element type for printing as a table, or IR_VOID */
} ir_global;

struct ir_module {
    qn__arena *arena;
    QN__VEC(ir_function *) functions;
    QN__VEC(ir_global) globals;
    QN__VEC(const char *) files; /* source file names for ir_loc */
    QN__VEC(qn__str) texts;      /* of the files, for targets with wants_checks; empty where there is none */
    QN__VEC(const char *) sites; /* of safe kernels: what each check is of, by qn__faults.site */
    bool has_generic;            /* pointers to the generic address space may be there */
    uint32_t max_instrs;         /* passes give up with an escape beyond this many; 0: no limit */
};

ir_module *qn__ir_module_new(qn__arena *arena);
ir_function *qn__ir_function_new(ir_module *module, const char *name, ir_type result);
ir_value *qn__ir_arg_add(ir_function *function, ir_type type,
                         const char *name);                      /* fills value and name only */
uint32_t qn__ir_global_add(ir_module *module, ir_global global); /* gives its index */
uint32_t qn__ir_local_add(ir_function *function, ir_local local);
ir_function *qn__ir_function_find(ir_module *module, qn__str name); /* or NULL */

/* ---- constants: interned per function, so equal constants are one value ---- */

ir_value *qn__ir_const(ir_function *function, ir_type type, const uint64_t *bits); /* bits: one word a lane */
ir_value *qn__ir_const_splat(ir_function *function, ir_type type, uint64_t bits);  /* also scalars */
ir_value *qn__ir_const_int(ir_function *function, ir_kind kind, int64_t value);
ir_value *qn__ir_const_float(ir_function *function, ir_kind kind, double value); /* rounded to the kind */
ir_value *qn__ir_const_bool(ir_function *function, bool value);
ir_value *qn__ir_undef(ir_function *function, ir_type type);
static inline bool qn__ir_is_const(const ir_value *value) { return value->value_kind == IR_VALUE_CONST; }
/* True where every lane of a constant equals `bits`. */
bool qn__ir_is_splat(const ir_value *value, uint64_t bits);

/* ---- building ---- */

/* Where instructions go: at the end of `region`, or before `before` if set. `loc` is given to each. */
typedef struct ir_builder {
    ir_function *function;
    ir_region *region;
    ir_instr *before;
    ir_loc loc;
    uint16_t float_flags; /* IR_CONTRACT / IR_FAST for fadd, fsub, fmul, fdiv... */
} ir_builder;

static inline void qn__ir_at_end(ir_builder *builder, ir_region *region) {
    builder->function = region->function;
    builder->region = region;
    builder->before = NULL;
}
static inline void qn__ir_at(ir_builder *builder, ir_instr *before) { /* also takes its loc */
    qn__ir_at_end(builder, before->parent);
    builder->before = before;
    builder->loc = before->loc;
}

/* The general form: results are made with the given types. Operands are copied. */
ir_instr *qn__ir_emit(ir_builder *builder, ir_op op, ir_value *const *operands, uint32_t num_operands,
                      const ir_type *results, uint32_t num_results);
/* One result whose type follows from the rule (RULE_INT, LOGIC, BYTES, COMPARE, FLOAT, SELECT). */
ir_value *qn__ir_op1(ir_builder *builder, ir_op op, ir_value *a);
ir_value *qn__ir_op2(ir_builder *builder, ir_op op, ir_value *a, ir_value *b);
ir_value *qn__ir_op3(ir_builder *builder, ir_op op, ir_value *a, ir_value *b, ir_value *c);
ir_value *qn__ir_convert(ir_builder *builder, ir_op op, ir_value *a,
                         ir_type type); /* a itself if same type */
ir_value *qn__ir_select(ir_builder *builder, ir_value *condition, ir_value *a, ir_value *b);
ir_value *qn__ir_vector(ir_builder *builder, ir_value *const *scalars, unsigned lanes);
ir_value *qn__ir_splat(ir_builder *builder, ir_value *scalar, unsigned lanes); /* lanes 1: the scalar */
ir_value *qn__ir_extract(ir_builder *builder, ir_value *vector, unsigned lane);
ir_value *qn__ir_insert(ir_builder *builder, ir_value *vector, ir_value *scalar, unsigned lane);
ir_value *qn__ir_shuffle(ir_builder *builder, ir_value *a, ir_value *b, const uint8_t *lanes, unsigned count);
ir_value *qn__ir_variable(ir_builder *builder, ir_var var); /* a VAR at the start of the function's body */
ir_value *qn__ir_ptr_add(ir_builder *builder, ir_value *pointer, ir_value *bytes); /* folds constant bytes */
ir_value *qn__ir_ptr_offset(ir_builder *builder, ir_value *pointer, int64_t bytes);
/* align 0: natural for the type */
ir_value *qn__ir_load(ir_builder *builder, ir_value *pointer, ir_type type, uint32_t align, uint16_t flags);
ir_instr *qn__ir_store(ir_builder *builder, ir_value *pointer, ir_value *value, uint32_t align,
                       uint16_t flags);
ir_instr *qn__ir_copy(ir_builder *builder, ir_value *to, ir_value *from, uint64_t size, uint32_t align);
ir_value *qn__ir_query(ir_builder *builder, ir_op op, uint32_t dim);
ir_instr *qn__ir_barrier(ir_builder *builder, unsigned fence, ir_scope scope);
ir_value *qn__ir_combine(ir_builder *builder, ir_combine combine, ir_value *a,
                         ir_value *b); /* as plain ops */

/* Constructs: made empty; fill the regions with the builder, each to end in a jump. */
ir_instr *qn__ir_if(ir_builder *builder, ir_value *condition, const ir_type *results, uint32_t num_results);
ir_instr *qn__ir_loop(ir_builder *builder, ir_value *const *inits, uint32_t num_inits, const ir_type *results,
                      uint32_t num_results); /* region parameters have the inits' types */
ir_instr *qn__ir_block(ir_builder *builder, const ir_type *results, uint32_t num_results);
ir_instr *qn__ir_yield(ir_builder *builder, ir_value *const *values, uint32_t count);
ir_instr *qn__ir_break(ir_builder *builder, ir_instr *target, ir_value *const *values, uint32_t count);
ir_instr *qn__ir_continue(ir_builder *builder, ir_instr *loop, ir_value *const *values, uint32_t count);
ir_instr *qn__ir_return(ir_builder *builder, ir_value *value); /* NULL for void */

/* ---- editing (for passes) ---- */

/* To be called where an instruction gets other operands or attributes. */
static inline void qn__ir_touch(ir_instr *instr) {
    if (instr->num_results) instr->results[0]->changed = instr->parent->function->now;
}

static inline bool qn__ir_is_jump(const ir_instr *i) { return i->op >= IR_YIELD; }
static inline bool qn__ir_is_construct(const ir_instr *i) { return i->op >= IR_IF && i->op <= IR_BLOCK; }
/* Where a jump goes: the construct that it leaves or repeats; NULL for return and unreachable. */
static inline ir_instr *qn__ir_jump_target(const ir_instr *jump) {
    if (jump->op == IR_YIELD) return jump->parent->owner;
    return jump->op == IR_BREAK || jump->op == IR_CONTINUE ? jump->attr.target : NULL;
}
/* The values that receive the operands of a jump, or of a loop, one each: results of a construct, parameters of a
   loop. There are none for others. */
typedef struct ir_receivers {
    ir_value *const *values;
    uint32_t count;
} ir_receivers;
static inline ir_receivers qn__ir_receivers(const ir_instr *i) {
    const ir_instr *target = i->op == IR_LOOP ? i : qn__ir_jump_target(i);
    if (!target) return (ir_receivers){0};
    if (i->op == IR_LOOP || i->op == IR_CONTINUE)
        return (ir_receivers){target->regions[0]->params, target->regions[0]->num_params};
    return (ir_receivers){target->results, target->num_results};
}
/* Nothing but its results matters: can be removed when they are unused. */
bool qn__ir_is_removable_effect(const ir_instr *instr); /* of an op that is not pure */
/* A sum or product that a checker looks at (wants_overflows): it stays as the source has it. */
static inline bool qn__ir_is_kept_sum(const ir_instr *i) {
    return (i->flags & IR_WRITTEN) && (i->op == IR_ADD || i->op == IR_SUB || i->op == IR_MUL);
}
static inline bool qn__ir_is_removable(const ir_instr *i) {
    if (qn__ir_is_kept_sum(i)) return false;
    return qn__ir_ops[i->op].effects <= IR_EFFECT_QUERY || qn__ir_is_removable_effect(i);
}
void qn__ir_unlink(ir_instr *instr); /* takes it out of its region */
void qn__ir_insert_before(ir_instr *instr, ir_instr *before);
void qn__ir_append(ir_region *region, ir_instr *instr);
void qn__ir_set_operands(ir_function *function, ir_instr *instr, ir_value *const *values, uint32_t count);
/* A value that stands nowhere yet. */
ir_value *qn__ir_value_new(ir_function *function, ir_type type, ir_value_kind kind, uint32_t index,
                           ir_instr *def);
ir_value *qn__ir_result_add(ir_instr *construct, ir_type type, const char *name);
ir_value *qn__ir_param_add(ir_instr *loop, ir_value *init, const char *name); /* adds operand and parameter */
/* A new empty region, the next one of its owner (NULL: a body). */
ir_region *qn__ir_region_new(ir_function *function, ir_instr *owner);
/* Replaces uses: map[id] is the new value or NULL to keep; chains are followed. One walk over the
   function. */
void qn__ir_replace(ir_function *function, ir_value *const *map);
/* Number of uses of each value, indexed by id; the array is the arena's. */
uint32_t *qn__ir_count_uses(qn__arena *arena, const ir_function *function);
/* Calls visit for every instruction, constructs before their regions, in order; the visitor may unlink the
   instruction it is given. */
void qn__ir_walk(ir_region *region, void (*visit)(ir_instr *instr, void *user), void *user);
/* Copies the instructions of `from` to the builder's place; map[id] gives the new value of an old one and is
   extended. Jumps that leave `from` itself (yield, or break/continue/return past it) are copied as they are,
   with targets inside the copy renamed. Variables go to the start of the body, constants are interned anew
   where `from` belongs to another function; indices of its locals are copied as they are. `map` must hold at
   least from->function->num_values entries. */
void qn__ir_clone_into(ir_builder *builder, const ir_region *from, ir_value **map);
/* The same for the body of another function that is not needed there any more: its instructions themselves go to the
   builder's place. `map` is wanted for the arguments and extended by constants only. */
void qn__ir_move_into(ir_builder *builder, ir_region *from, ir_value **map);
uint32_t qn__ir_count_instrs(const ir_region *region);

/* Constant folding by ops.def and by hand for conversions and vectors: the constant or NULL. */
ir_value *qn__ir_fold(ir_function *function, const ir_instr *instr);

/* ---- constant data ---- */

/* A function's body in words, to be kept in a program's constant data. */
typedef QN__VEC(uint16_t) ir_packed;

/* Appends the body to `out`. False where it holds what cannot be packed; `out` is of no use then. */
bool qn__ir_pack(qn__arena *arena, const ir_function *function, ir_packed *out);

/* Which __constant object of the module an index in packed words means. */
typedef struct ir_unpack_globals {
    uint32_t (*index)(void *user, uint32_t packed);
    void *user;
} ir_unpack_globals;

/* Fills the empty body of a function that has the arguments of the packed one. The words are trusted. */
void qn__ir_unpack(ir_function *function, const uint16_t *words, const ir_unpack_globals *globals);

/* ---- text ---- */

void qn__ir_print(qn__buf *out, const ir_module *module);
void qn__ir_print_function(qn__buf *out, const ir_function *function);
/* Parses a module. On error returns NULL and sets *error to "line:column: message" in the arena. */
ir_module *qn__ir_parse(qn__arena *arena, const char *text, size_t size, const char **error);
/* NULL if the module obeys every rule; else the first broken one as a message with the instruction's
   text. */
const char *qn__ir_verify(qn__arena *arena, const ir_module *module);

#endif
