/* Inside of the PTX target: the state of a kernel that is written, and what the files of the target share.
   A value lives in one register a lane, so that taking vectors apart and putting them together costs nothing:
   the lanes of the result are the registers of the operands. Registers are of four kinds, by size only; PTX
   lets an untyped register be an operand of any type of its size, so bit casts are free, too. ptxas allocates
   the machine's own registers.
   Integers of 8 and 16 bits live in 32-bit registers, whose upper bits may be anything unless the operand says
   how they were extended; they are extended where that matters. Pointers to local and private memory are
   32-bit addresses in their own space; others are 64-bit. An i64 whose high half is known to be zero stays in 32
   bits until somebody wants 64. An i64 of which only the low half is ever looked at
   (plan.c) is computed in 32 bits.
   Source: "Parallel Thread Execution ISA", NVIDIA. */
#ifndef QN__PTX_INTERNAL_H
#define QN__PTX_INTERNAL_H

#include "emit/emit.h"
#include "pass/analysis.h"

typedef enum ptx_class { PTX_PRED, PTX_B16, PTX_B32, PTX_B64, PTX_CLASS_COUNT } ptx_class;

typedef enum ptx_operand_kind {
    PTX_NONE,
    PTX_REG,
    PTX_INT,    /* bits, cut to the class */
    PTX_FLOAT,  /* the bits of a float of the class's size */
    PTX_SYMBOL, /* address of a variable, plus bits */
    PTX_NUMBER, /* what else a line's pattern asks for: a signed number */
    PTX_TEXT
} ptx_operand_kind;

/* What is known of the upper bits of an 8-bit or 16-bit integer in a 32-bit register. */
enum { PTX_ZERO_EXTENDED = 1, PTX_SIGN_EXTENDED = 2 };

typedef struct ptx_operand {
    uint8_t kind, cls, extended;
    bool is_def;  /* of a line: the register is written */
    uint32_t reg; /* REG: its number in the class; SYMBOL: which (ptx_symbol) */
    union {
        uint64_t bits;    /* of a pointer in a register: bytes to add, which ld and st do for nothing */
        const char *text; /* which lives as long as the kernel */
    };
} ptx_operand;

/* Variables an address may name; globals follow, by index. */
typedef enum ptx_symbol { PTX_PARAMS, PTX_LOCALS, PTX_DYNAMIC, PTX_DEPOT, PTX_FIRST_GLOBAL } ptx_symbol;

/* Flags of a value, found before emission. */
enum {
    PTX_USED_SEXT = 1 << 0, /* 8 or 16 bits: extended so somewhere */
    PTX_USED_ZEXT = 1 << 1,
    PTX_USED_BITS = 1 << 2, /* float: more than arithmetic looks at it */
    PTX_SHORT = 1 << 3,     /* i64 that is below 2^32 and computed in 32 bits */
    PTX_USED_WORDS = 1 << 4 /* vector of 8 or 16 bits: who uses it wants its words (qn__ptx_keep_words) */
};

typedef enum ptx_line_kind {
    PTX_LINE_OTHER,
    PTX_LINE_MOVE,
    PTX_LINE_LABEL,
    PTX_LINE_BRANCH,
    PTX_LINE_END
} ptx_line_kind;

/* A line of the body. A branch's and a label's last operand is the label's number. */
typedef struct ptx_line {
    const char *text; /* a pattern, or the name of an op before its operands */
    uint32_t first_operand, num_operands;
    uint8_t kind;
    bool is_pattern, predicated, dropped;
} ptx_line;

enum {
    PTX_FIRST_ADDRESS = 16
}; /* of private and __local objects where pointers to them may be compared with null */

typedef struct ptx_emitter {
    qn__arena *arena;
    ir_module *module;
    const qn__emit_options *options;
    qn__emit_result *result;
    QN__VEC(ptx_line) lines; /* of the kernel's body */
    QN__VEC(ptx_operand) operands;
    uint32_t arch;        /* of the device; 0: the lowest */
    uint32_t need_target; /* what has been used so far: sm times 10 and ISA version times 10 */
    uint32_t need_version;
    bool is_specific;                /* instructions of this architecture alone: sm_90a */
    bool *global_used, dynamic_used; /* module's variables */
    ir_loc loc;                      /* of what is emitted now */

    /* the kernel */
    ir_function *function;
    const char *symbol;
    QN__VEC(ptx_operand) lanes;
    uint32_t *first_lane; /* by value id: in these; 0: not there yet */
    const ptx_operand *
        *words; /* by value id: the 32-bit registers that a vector of smaller numbers lies in, too; or NULL */
    uint32_t *uses;        /* by value id */
    const bool *read_only; /* by value id: pointers to where nobody writes; NULL: there are none */
    uint8_t *flags;        /* by value id */
    const uint8_t
        *demand; /* by value id: QN__WANT_*; an i64 of which not all is wanted is computed in 32 bits */
    uint32_t num_registers[PTX_CLASS_COUNT];
    uint32_t next_label;
    uint32_t num_instrs;
    uint32_t *exits;  /* by mark of a construct: jumps that give its results */
    uint32_t *labels; /* by mark of a construct: its end; the next number is its head or other branch */
    QN__VEC(qn__implicit) implicit;
    uint32_t args_size, params_size;
    uint64_t depot_size, static_local;
    uint32_t depot_align;
    uint32_t *local_offset; /* by index of a __local variable */
    ptx_operand locals;     /* address of the __local variables */
    bool locals_in_dynamic; /* too large for a static array */
    bool uses_group;        /* barriers, collectives, sizes of groups: not guarded */
    bool uses_sync, uses_printf, uses_locals;
    bool sets_registers; /* qn_registers_take, qn_registers_give */
    bool
        compares_near; /* pointers to private or __local memory, which begin at 0: no object may, as 0 is null */
    bool uses_events, joins_events; /* of async copies; some events are shared by more than one */
    ptx_operand newest, joined;     /* async.c: the numbers of copies' groups */
    ir_loc last_loc;                /* told in debug mode */
} ptx_emitter;

/* lines.c: lines, operands and values. Operands in a pattern: = is for a register that is written, $ for another operand,
   # for a number (int64_t), ~ for a text. A line gets its tab and newline. */
void qn__ptx(ptx_emitter *e, const char *pattern, ...);
static inline bool qn__ptx_is_operand(char c) {
    enum { HALF = 64 };
    const uint64_t lower = UINT64_C(1) << '=' | UINT64_C(1) << '$' | UINT64_C(1) << '#';
    return (unsigned char)c < HALF ? lower >> c & 1 : c == '~';
}
/* The same with the operands in an array; the pattern lives as long as the kernel. */
void qn__ptx_list(ptx_emitter *e, const char *pattern, const ptx_operand *operands, uint32_t count);
void qn__ptx_label(ptx_emitter *e, uint32_t label);
ptx_operand qn__ptx_new(ptx_emitter *e, ptx_class cls);
/* "op result, a[, b[, c]]" with a new result. */
ptx_operand qn__ptx_op1(ptx_emitter *e, const char *op, ptx_class cls, ptx_operand a);
ptx_operand qn__ptx_op2(ptx_emitter *e, const char *op, ptx_class cls, ptx_operand a, ptx_operand b);
ptx_operand qn__ptx_op3(ptx_emitter *e, const char *op, ptx_class cls, ptx_operand a, ptx_operand b,
                        ptx_operand c);
ptx_operand qn__ptx_int(ptx_class cls, uint64_t bits);
ptx_operand qn__ptx_address(ptx_symbol symbol, ptx_class cls, uint64_t offset);
ptx_operand qn__ptx_in_register(ptx_emitter *e, ptx_operand a);
ptx_operand qn__ptx_low(ptx_emitter *e, ptx_operand a); /* low half of 64 bits; 32 bits as they are */
/* An integer of `width` bits extended to 32 (to 64 from 64). */
ptx_operand qn__ptx_zext(ptx_emitter *e, ptx_operand a, unsigned width);
ptx_operand qn__ptx_sext(ptx_emitter *e, ptx_operand a, unsigned width);
void qn__ptx_move(ptx_emitter *e, ptx_operand to, ptx_operand from);
void qn__ptx_require(ptx_emitter *e, uint32_t target, uint32_t version); /* sm * 10, ISA * 10 */
void qn__ptx_fail(ptx_emitter *e, const char *message);
void qn__ptx_refuse(ptx_emitter *e, const ir_instr *instr); /* the target has no such op */

/* The registers of a value that is there. */
static inline ptx_operand qn__ptx_held(const ptx_emitter *e, const ir_value *value, unsigned lane) {
    return e->lanes.data[e->first_lane[value->id] + lane];
}
ptx_class qn__ptx_class_of(const ptx_emitter *e, const ir_value *value);
/* Of the register that it is computed in, which uses as 64 bits extend. */
static inline ptx_class qn__ptx_held_class(const ptx_emitter *e, const ir_value *value) {
    return e->flags[value->id] & PTX_SHORT ? PTX_B32 : qn__ptx_class_of(e, value);
}
ptx_operand qn__ptx_use(ptx_emitter *e, const ir_value *value, unsigned lane);
/* An i64 that may be in 32 bits, with zeros above. */
ptx_operand qn__ptx_use_short(ptx_emitter *e, const ir_value *value, unsigned lane);
bool qn__ptx_is_short(ptx_operand a); /* such a one, or a constant */
/* A pointer that may have bytes to add. */
ptx_operand qn__ptx_use_pointer(ptx_emitter *e, const ir_value *pointer);
void qn__ptx_define(ptx_emitter *e, const ir_value *value, unsigned lane, ptx_operand operand);
/* Its lanes stand in these words, too: who wants words need not put them together. */
void qn__ptx_keep_words(ptx_emitter *e, const ir_value *value, const ptx_operand *words, unsigned count);
/* New registers for all lanes, to be moved to. */
void qn__ptx_declare(ptx_emitter *e, const ir_value *value);
static inline bool qn__ptx_is_near(const ir_value *pointer) {
    return pointer->type.space == IR_LOCAL_SPACE || pointer->type.space == IR_PRIVATE;
}

/* plan.c */
void qn__ptx_plan(ptx_emitter *e);
/* The instruction for a select of f32 that gives the smaller or larger of a value and a constant; or NULL. It
   keeps no more of a NaN than that it is one. */
const char *qn__ptx_clamp(const ptx_emitter *e, const ir_instr *select);
/* True for an i64 product of an extended i32 with a small constant factor; `instr` may be one. */
bool qn__ptx_find_wide_product(const ir_instr *instr, const ir_value **source, bool *is_signed,
                               uint64_t *factor);
static inline bool qn__ptx_is_wide_product(const ir_instr *instr, const ir_value **source, bool *is_signed,
                                           uint64_t *factor) {
    const bool may_be =
        (instr->op == IR_SHL || instr->op == IR_MUL) && instr->results[0]->type.kind == IR_I64;
    return may_be && qn__ptx_find_wide_product(instr, source, is_signed, factor);
}

/* coalesce.c: makes the kernel's body better. */
void qn__ptx_coalesce(ptx_emitter *e);

/* text.c: appends the kernel's body. */
void qn__ptx_print(const ptx_emitter *e, qn__buf *text);

/* kernel.c */
void qn__ptx_kernel(ptx_emitter *e, ir_function *kernel, qn__buf *text);
ptx_operand qn__ptx_implicit(ptx_emitter *e, qn__implicit_kind kind, unsigned dim);     /* loads it */
ptx_operand qn__ptx_implicit_low(ptx_emitter *e, qn__implicit_kind kind, unsigned dim); /* 32 bits of it */
void qn__ptx_region(ptx_emitter *e, ir_region *region);                                 /* flow.c */

/* One instruction; false: not of this file's kind. */
bool qn__ptx_arith(ptx_emitter *e, const ir_instr *instr);   /* arith.c */
bool qn__ptx_convert(ptx_emitter *e, const ir_instr *instr); /* convert.c */
/* One lane of a division, where a short way is known to be exact; divide.c. */
bool qn__ptx_divide(ptx_emitter *e, const ir_instr *instr, unsigned lane);
bool qn__ptx_small_float(ptx_emitter *e, const ir_instr *instr); /* small_float.c */
/* 32 bits of a value's lanes as they lie in memory, and 16 of a vector of bytes; convert.c. */
ptx_operand qn__ptx_word(ptx_emitter *e, const ir_value *source, unsigned word);
ptx_operand qn__ptx_byte_pair(ptx_emitter *e, const ir_value *source, unsigned first);
bool qn__ptx_vector(ptx_emitter *e, const ir_instr *instr); /* vector.c */
bool qn__ptx_memory(ptx_emitter *e, const ir_instr *instr); /* memory.c */
bool qn__ptx_async(ptx_emitter *e, const ir_instr *instr);  /* async.c */
bool qn__ptx_atomic(ptx_emitter *e, const ir_instr *instr); /* atomic.c */
bool qn__ptx_query(ptx_emitter *e, const ir_instr *instr);  /* query.c */
bool qn__ptx_group(ptx_emitter *e, const ir_instr *instr);  /* group.c */
bool qn__ptx_matrix(ptx_emitter *e, const ir_instr *instr); /* matrix.c */
bool qn__ptx_native(ptx_emitter *e, const ir_instr *instr); /* native.c */

/* Two values of a kind joined (reductions, compare-and-swap loops). */
ptx_operand qn__ptx_combine(ptx_emitter *e, ir_combine combine, ir_kind kind, ptx_operand a, ptx_operand b);
/* The work-item's ids (query.c), in 32 bits but for the global id. */
ptx_operand qn__ptx_linear_id(ptx_emitter *e);
ptx_operand qn__ptx_group_items(ptx_emitter *e);
/* Whether every work-group is sure to have the required size; whether all sub-groups are sure to have 32 members. */
bool qn__ptx_has_size(const ptx_emitter *e);
bool qn__ptx_has_whole_sub_groups(ptx_emitter *e);
ptx_operand qn__ptx_global_id(ptx_emitter *e, unsigned dim);
ptx_operand qn__ptx_lane(ptx_emitter *e);
/* Work-items of the group from the first of this sub-group on. */
ptx_operand qn__ptx_sub_group_rest(ptx_emitter *e);

/* An address as an operand of ld and st, ready for "[$+#]"; memory.c. */
typedef struct ptx_place {
    const char *space; /* "global", "shared", "local", "param" */
    ptx_operand base;
    int64_t offset;
} ptx_place;
ptx_place qn__ptx_place(ptx_emitter *e, const ir_value *pointer, int64_t offset);

/* async.c: what a kernel with events begins with. */
void qn__ptx_async_begin(ptx_emitter *e);

#endif
