/* Arithmetic and comparison: one tight loop for each op and type, made from the fold column of ir/ops.def, so
   that what the VM computes is what the table says. f16 is computed in double, where no result of these ops
   is rounded in a way that shows after the rounding to f16, fma included: its exact sum either fits 53 bits
   or differs from the larger summand, an f16 itself, by less than can matter. */
#include <math.h>

#include "ir/fold.h"
#include "vm/internal.h"

/* The ops without a fold expression are the device's own approximations: the host's libm in float. */
typedef float approximation(float a, float b);
static float native_exp2(float a, float b) { return (void)b, exp2f(a); }
static float native_log2(float a, float b) { return (void)b, log2f(a); }
static float native_sin(float a, float b) { return (void)b, sinf(a); }
static float native_cos(float a, float b) { return (void)b, cosf(a); }
static float native_recip(float a, float b) { return (void)b, 1.0f / a; }
static float native_rsqrt(float a, float b) { return (void)b, 1.0f / sqrtf(a); }
static float native_sqrt(float a, float b) { return (void)b, sqrtf(a); }
static float native_div(float a, float b) { return a / b; }

static approximation *const approximations[IR_OP_COUNT] = {
    [IR_NATIVE_EXP2] = native_exp2, [IR_NATIVE_LOG2] = native_log2,   [IR_NATIVE_SIN] = native_sin,
    [IR_NATIVE_COS] = native_cos,   [IR_NATIVE_RECIP] = native_recip, [IR_NATIVE_RSQRT] = native_rsqrt,
    [IR_NATIVE_SQRT] = native_sqrt, [IR_NATIVE_DIV] = native_div};
#define NO_FOLD approximations[op]((float)fa, (float)fb)

static double half_value(uint16_t bits) { return qn__f16_to_double(bits); }
static uint16_t half_bits(double value) { return qn__f16_from_double(value); }
static float float_value(uint32_t bits) {
    union {
        uint32_t bits;
        float value;
    } u = {bits};
    return u.value;
}
static uint32_t float_bits(float value) {
    union {
        float value;
        uint32_t bits;
    } u = {value};
    return u.bits;
}
static double double_value(uint64_t bits) {
    union {
        uint64_t bits;
        double value;
    } u = {bits};
    return u.value;
}
static uint64_t double_bits(double value) {
    union {
        double value;
        uint64_t bits;
    } u = {value};
    return u.bits;
}

/* ---- loops over work-items ---- */

/* Sign extension of a bool must give -1 for true, as for any other one-bit integer. */
#define SIGN_BOOL(x) (-(int64_t)((x)&1))
#define SIGN_I8(x)   ((int64_t)(int8_t)(x))
#define SIGN_I16(x)  ((int64_t)(int16_t)(x))
#define SIGN_I32(x)  ((int64_t)(int32_t)(x))
#define SIGN_I64(x)  ((int64_t)(x))
#define SIGN_PTR(x)  ((int64_t)(x))
#define CUT_BOOL(x)  ((uint8_t)((x)&1))
#define CUT_I8(x)    ((uint8_t)(x))
#define CUT_I16(x)   ((uint16_t)(x))
#define CUT_I32(x)   ((uint32_t)(x))
#define CUT_I64(x)   ((uint64_t)(x))

#define INTEGER_LOOP(ID, KIND, TYPE, WIDTH, RESULT, CUT, fold)                                               \
    static void ID##_##KIND(qn__vm_frame *frame, const qn__vm_instr *instr) {                                \
        const TYPE *a = qn__vm_slot(frame, instr->a), *b = qn__vm_slot(frame, instr->b);                     \
        RESULT *result = qn__vm_slot(frame, instr->result);                                                  \
        const unsigned w = WIDTH;                                                                            \
        (void)w;                                                                                             \
        for (uint64_t i = 0, n = qn__vm_extent(frame, instr->lanes); i < n; i++) {                           \
            uint64_t ua = a[i], ub = b[i];                                                                   \
            int64_t sa = SIGN_##KIND(ua), sb = SIGN_##KIND(ub);                                              \
            (void)sa, (void)sb, (void)ub;                                                                    \
            result[i] = CUT(fold);                                                                           \
        }                                                                                                    \
    }

/* Three operands of i32, which are what their bits are. */
#define BYTES_LOOP(ID, fold)                                                                                 \
    static void ID##_I32(qn__vm_frame *frame, const qn__vm_instr *instr) {                                   \
        const uint32_t *a = qn__vm_slot(frame, instr->a), *b = qn__vm_slot(frame, instr->b),                 \
                       *c = qn__vm_slot(frame, instr->c);                                                    \
        uint32_t *result = qn__vm_slot(frame, instr->result);                                                \
        for (uint64_t i = 0, n = qn__vm_extent(frame, instr->lanes); i < n; i++) {                           \
            uint64_t ua = a[i], ub = b[i], uc = c[i];                                                        \
            result[i] = CUT_I32(fold);                                                                       \
        }                                                                                                    \
    }

#define FLOAT_LOOP(ID, KIND, TYPE, VALUE, WIDE, RESULT, CUT, fold)                                           \
    static void ID##_##KIND(qn__vm_frame *frame, const qn__vm_instr *instr) {                                \
        const TYPE *a = qn__vm_slot(frame, instr->a), *b = qn__vm_slot(frame, instr->b),                     \
                   *c = qn__vm_slot(frame, instr->c);                                                        \
        RESULT *result = qn__vm_slot(frame, instr->result);                                                  \
        const ir_op op = IR_##ID;                                                                            \
        (void)op, (void)c;                                                                                   \
        for (uint64_t i = 0, n = qn__vm_extent(frame, instr->lanes); i < n; i++) {                           \
            WIDE fa = VALUE(a[i]), fb = VALUE(b[i]), fc = VALUE(c[i]);                                       \
            (void)fb, (void)fc;                                                                              \
            result[i] = CUT(fold);                                                                           \
        }                                                                                                    \
    }

/* The rules that mean arithmetic, and all the others. A row becomes MAKE_<class>(ID, fold), which is defined
   anew for each thing that is made of the table. */
#define CLASS_RULE_INT                                                 INT
#define CLASS_RULE_LOGIC                                               LOGIC
#define CLASS_RULE_BYTES                                               BYTES
#define CLASS_RULE_COMPARE                                             COMPARE
#define CLASS_RULE_FLOAT                                               FLOAT
#define CLASS_RULE_FCOMPARE                                            FCOMPARE
#define CLASS_RULE_NONE                                                OTHER
#define CLASS_RULE_CONVERT                                             OTHER
#define CLASS_RULE_BITCAST                                             OTHER
#define CLASS_RULE_SELECT                                              OTHER
#define CLASS_RULE_VECTOR                                              OTHER
#define CLASS_RULE_SPLAT                                               OTHER
#define CLASS_RULE_EXTRACT                                             OTHER
#define CLASS_RULE_INSERT                                              OTHER
#define CLASS_RULE_SHUFFLE                                             OTHER
#define CLASS_RULE_POINTER_RESULT                                      OTHER
#define CLASS_RULE_PTR_ADD                                             OTHER
#define CLASS_RULE_LOAD                                                OTHER
#define CLASS_RULE_STORE                                               OTHER
#define CLASS_RULE_COPY                                                OTHER
#define CLASS_RULE_ATOMIC_RMW                                          OTHER
#define CLASS_RULE_ATOMIC_CAS                                          OTHER
#define CLASS_RULE_PREFETCH                                            OTHER
#define CLASS_RULE_EVENT                                               OTHER
#define CLASS_RULE_QUERY32                                             OTHER
#define CLASS_RULE_QUERY64                                             OTHER
#define CLASS_RULE_VOTE                                                OTHER
#define CLASS_RULE_GROUP                                               OTHER
#define CLASS_RULE_GROUP_INDEX                                         OTHER
#define CLASS_RULE_BALLOT                                              OTHER
#define CLASS_RULE_MATRIX                                              OTHER
#define CLASS_RULE_MMA                                                 OTHER
#define CLASS_RULE_LDMATRIX                                            OTHER
#define CLASS_RULE_NATIVE                                              OTHER
#define CLASS_RULE_PRINTF                                              OTHER
#define CLASS_RULE_CALL                                                OTHER
#define CLASS_RULE_CONSTRUCT                                           OTHER
#define CLASS_RULE_JUMP                                                OTHER
#define MAKE(class, ID, fold)                                          MAKE_CLASS(class, ID, fold)
#define MAKE_CLASS(class, ID, fold)                                    MAKE_##class(ID, fold)
#define OP(ID, name, operands, results, rule, effects, has, fold, doc) MAKE(CLASS_##rule, ID, fold)
#define MAKE_OTHER(ID, fold)

#define MAKE_INT(ID, fold)                                                                                   \
    INTEGER_LOOP(ID, I8, uint8_t, 8, uint8_t, CUT_I8, fold)                                                  \
    INTEGER_LOOP(ID, I16, uint16_t, 16, uint16_t, CUT_I16, fold)                                             \
    INTEGER_LOOP(ID, I32, uint32_t, 32, uint32_t, CUT_I32, fold)                                             \
    INTEGER_LOOP(ID, I64, uint64_t, 64, uint64_t, CUT_I64, fold)
#define MAKE_BYTES(ID, fold) BYTES_LOOP(ID, fold)
#define MAKE_LOGIC(ID, fold)                                                                                 \
    INTEGER_LOOP(ID, BOOL, uint8_t, 1, uint8_t, CUT_BOOL, fold)                                              \
    MAKE_INT(ID, fold)
#define MAKE_COMPARE(ID, fold)                                                                               \
    INTEGER_LOOP(ID, BOOL, uint8_t, 1, uint8_t, CUT_BOOL, fold)                                              \
    INTEGER_LOOP(ID, I8, uint8_t, 8, uint8_t, CUT_BOOL, fold)                                                \
    INTEGER_LOOP(ID, I16, uint16_t, 16, uint8_t, CUT_BOOL, fold)                                             \
    INTEGER_LOOP(ID, I32, uint32_t, 32, uint8_t, CUT_BOOL, fold)                                             \
    INTEGER_LOOP(ID, I64, uint64_t, 64, uint8_t, CUT_BOOL, fold)                                             \
    INTEGER_LOOP(ID, PTR, uint64_t, 64, uint8_t, CUT_BOOL, fold)
#define MAKE_FLOAT(ID, fold)
#define MAKE_FCOMPARE(ID, fold)
#include "ir/ops.def"
#undef MAKE_INT
#undef MAKE_LOGIC
#undef MAKE_BYTES
#undef MAKE_COMPARE
#undef MAKE_FLOAT
#undef MAKE_FCOMPARE

#define MAKE_INT(ID, fold)
#define MAKE_LOGIC(ID, fold)
#define MAKE_BYTES(ID, fold)
#define MAKE_COMPARE(ID, fold)

#define F(function) function
#define MAKE_FLOAT(ID, fold)                                                                                 \
    FLOAT_LOOP(ID, F16, uint16_t, half_value, double, uint16_t, half_bits, fold)                             \
    FLOAT_LOOP(ID, F64, double, , double, double, , fold)
#define MAKE_FCOMPARE(ID, fold)                                                                              \
    FLOAT_LOOP(ID, F16, uint16_t, half_value, double, uint8_t, CUT_BOOL, fold)                               \
    FLOAT_LOOP(ID, F64, double, , double, uint8_t, CUT_BOOL, fold)
#include "ir/ops.def"
#undef F
#undef MAKE_FLOAT
#undef MAKE_FCOMPARE

#define F(function)             function##f
#define MAKE_FLOAT(ID, fold)    FLOAT_LOOP(ID, F32, float, , float, float, , fold)
#define MAKE_FCOMPARE(ID, fold) FLOAT_LOOP(ID, F32, float, , float, uint8_t, CUT_BOOL, fold)
#include "ir/ops.def"
#undef F
#undef MAKE_INT
#undef MAKE_LOGIC
#undef MAKE_BYTES
#undef MAKE_COMPARE
#undef MAKE_FLOAT
#undef MAKE_FCOMPARE

#define INTEGER_COLUMNS(ID)     [IR_I8] = ID##_I8, [IR_I16] = ID##_I16, [IR_I32] = ID##_I32, [IR_I64] = ID##_I64
#define MAKE_INT(ID, fold)      [IR_##ID] = {INTEGER_COLUMNS(ID)},
#define MAKE_BYTES(ID, fold)    [IR_##ID] = {[IR_I32] = ID##_I32},
#define MAKE_LOGIC(ID, fold)    [IR_##ID] = {[IR_BOOL] = ID##_BOOL, INTEGER_COLUMNS(ID)},
#define MAKE_COMPARE(ID, fold)  [IR_##ID] = {[IR_BOOL] = ID##_BOOL, INTEGER_COLUMNS(ID), [IR_PTR] = ID##_PTR},
#define MAKE_FLOAT(ID, fold)    [IR_##ID] = {[IR_F16] = ID##_F16, [IR_F32] = ID##_F32, [IR_F64] = ID##_F64},
#define MAKE_FCOMPARE(ID, fold) MAKE_FLOAT(ID, fold)
static qn__vm_handler *const loops[IR_OP_COUNT][IR_KIND_COUNT] = {
#include "ir/ops.def"
};
#undef MAKE_INT
#undef MAKE_LOGIC
#undef MAKE_BYTES
#undef MAKE_COMPARE
#undef MAKE_FLOAT
#undef MAKE_FCOMPARE

qn__vm_handler *qn__vm_pick_arith(const ir_instr *instr) {
    if (!qn__ir_ops[instr->op].foldable && !approximations[instr->op]) return NULL;
    return instr->num_operands ? loops[instr->op][instr->operands[0]->type.kind] : NULL;
}

/* ---- one value: how atomics and collectives combine ---- */

#define MAKE_INT(ID, fold)                                                                                   \
    case IR_##ID:                                                                                            \
        return fold;
#define MAKE_LOGIC(ID, fold) MAKE_INT(ID, fold)
#define MAKE_BYTES(ID, fold)
#define MAKE_COMPARE(ID, fold)
#define MAKE_FLOAT(ID, fold)
#define MAKE_FCOMPARE(ID, fold)
static uint64_t integer_value(ir_op op, unsigned w, uint64_t ua, uint64_t ub) {
    int64_t sa = (int64_t)(ua << (64 - w)) >> (64 - w), sb = (int64_t)(ub << (64 - w)) >> (64 - w);
    switch (op) {
#include "ir/ops.def"
    default: return ua;
    }
}
#undef MAKE_INT
#undef MAKE_LOGIC
#undef MAKE_FLOAT
#define MAKE_INT(ID, fold)
#define MAKE_LOGIC(ID, fold)
#define MAKE_FLOAT(ID, fold)                                                                                 \
    case IR_##ID:                                                                                            \
        return fold;
#define F(function) function##f
static float float_result(ir_op op, float fa, float fb) {
    const float fc = 0;
    switch (op) {
#include "ir/ops.def"
    default: return fa;
    }
}
#undef F
#define F(function) function
static double double_result(ir_op op, double fa, double fb) {
    const double fc = 0;
    switch (op) {
#include "ir/ops.def"
    default: return fa;
    }
}

uint64_t qn__vm_combine(ir_combine combine, ir_kind kind, uint64_t a, uint64_t b) {
    const ir_op op = qn__ir_combine_op(combine);
    if (op == IR_OP_COUNT) return b;
    switch (kind) {
    case IR_F16: return half_bits(double_result(op, half_value((uint16_t)a), half_value((uint16_t)b)));
    case IR_F32: return float_bits(float_result(op, float_value((uint32_t)a), float_value((uint32_t)b)));
    case IR_F64: return double_bits(double_result(op, double_value(a), double_value(b)));
    default: {
        unsigned w = qn__ir_bits(qn__ir_type(kind, 1));
        return w ? integer_value(op, w, a, b) & (UINT64_MAX >> (64 - w)) : 0;
    }
    }
}
