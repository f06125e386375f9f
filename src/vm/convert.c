/* Conversions. The meaning is qn__fold_convert's, for every pair of types and rounding mode, one element at a
   time; the common pairs have loops that the host does in one instruction a value and that give the same. */
#include "ir/fold.h"
#include "vm/internal.h"

static void convert_any(qn__vm_frame *frame, const qn__vm_instr *instr) {
    const ir_instr *ir = instr->ir;
    ir_type from = ir->operands[0]->type, to = ir->results[0]->type;
    unsigned from_size = qn__vm_lane_size(from), to_size = qn__vm_lane_size(to);
    const void *a = qn__vm_slot(frame, instr->a);
    void *result = qn__vm_slot(frame, instr->result);
    for (uint64_t i = 0, n = qn__vm_extent(frame, instr->lanes); i < n; i++) {
        uint64_t bits = qn__vm_get(a, from_size, i);
        qn__vm_set(result, to_size, i, qn__fold_convert(ir->op, from.kind, to.kind, ir->attr.rounding, bits));
    }
}

#define LOOP(NAME, FROM, TO, expression)                                                                     \
    static void NAME(qn__vm_frame *frame, const qn__vm_instr *instr) {                                       \
        const FROM *a = qn__vm_slot(frame, instr->a);                                                        \
        TO *result = qn__vm_slot(frame, instr->result);                                                      \
        for (uint64_t i = 0, n = qn__vm_extent(frame, instr->lanes); i < n; i++) {                           \
            FROM x = a[i];                                                                                   \
            result[i] = (TO)(expression);                                                                    \
        }                                                                                                    \
    }

/* Integer to integer: KIND is the wider type, by which the loops are named for both directions. */
#define RESIZE(NARROW, UN, SN, WIDE, UW, SW)                                                                 \
    LOOP(TRUNC_##WIDE##_##NARROW, UW, UN, x)                                                                 \
    LOOP(ZEXT_##NARROW##_##WIDE, UN, UW, x)                                                                  \
    LOOP(SEXT_##NARROW##_##WIDE, SN, SW, x)
RESIZE(I8, uint8_t, int8_t, I16, uint16_t, int16_t)
RESIZE(I8, uint8_t, int8_t, I32, uint32_t, int32_t)
RESIZE(I8, uint8_t, int8_t, I64, uint64_t, int64_t)
RESIZE(I16, uint16_t, int16_t, I32, uint32_t, int32_t)
RESIZE(I16, uint16_t, int16_t, I64, uint64_t, int64_t)
RESIZE(I32, uint32_t, int32_t, I64, uint64_t, int64_t)
LOOP(ZEXT_BOOL_I32, uint8_t, uint32_t, x & 1)
LOOP(SEXT_BOOL_I32, uint8_t, uint32_t, 0 - (uint32_t)(x & 1))

/* Integer to float to nearest even (the host's own mode), and back to zero; the limits are powers of two,
   exact in every float type. */
#define FLOATING(INT, UI, SI, FLOAT, TF, SIGN_LIMIT)                                                         \
    LOOP(S2F_##INT##_##FLOAT, SI, TF, x)                                                                     \
    LOOP(U2F_##INT##_##FLOAT, UI, TF, x)                                                                     \
    LOOP(F2S_##FLOAT##_##INT, TF, UI,                                                                        \
         x >= (TF)SIGN_LIMIT    ? (UI)((UI)SIGN_LIMIT - 1)                                                   \
         : x >= -(TF)SIGN_LIMIT ? (UI)(SI)x                                                                  \
         : x < 0                ? (UI)SIGN_LIMIT                                                             \
                                : 0)                                                                                        \
    LOOP(F2U_##FLOAT##_##INT, TF, UI, x >= 2 * (TF)SIGN_LIMIT ? (UI)-1 : x > 0 ? (UI)x : 0)
#define FLOATINGS(FLOAT, TF)                                                                                 \
    FLOATING(I8, uint8_t, int8_t, FLOAT, TF, 0x80)                                                           \
    FLOATING(I16, uint16_t, int16_t, FLOAT, TF, 0x8000)                                                      \
    FLOATING(I32, uint32_t, int32_t, FLOAT, TF, 0x80000000u)                                                 \
    FLOATING(I64, uint64_t, int64_t, FLOAT, TF, 0x8000000000000000u)
FLOATINGS(F32, float)
FLOATINGS(F64, double)
LOOP(FCONVERT_F32_F64, float, double, x)
LOOP(FCONVERT_F64_F32, double, float, x)

static void copy_pointer(qn__vm_frame *frame, const qn__vm_instr *instr) {
    const uint64_t *a = qn__vm_slot(frame, instr->a);
    uint64_t *result = qn__vm_slot(frame, instr->result);
    for (uint64_t i = 0, n = frame->items; i < n; i++) result[i] = a[i];
}

typedef struct row {
    uint8_t op, from, to;
    uint8_t rounding; /* the only one the loop can do */
    qn__vm_handler *run;
} row;

#define RESIZE_ROWS(NARROW, WIDE)                                                                            \
    {IR_TRUNC, IR_##WIDE, IR_##NARROW, 0, TRUNC_##WIDE##_##NARROW},                                          \
        {IR_ZEXT, IR_##NARROW, IR_##WIDE, 0, ZEXT_##NARROW##_##WIDE}, {                                      \
        IR_SEXT, IR_##NARROW, IR_##WIDE, 0, SEXT_##NARROW##_##WIDE                                           \
    }
#define FLOATING_ROWS(INT, FLOAT)                                                                            \
    {IR_S2F, IR_##INT, IR_##FLOAT, IR_ROUND_EVEN, S2F_##INT##_##FLOAT},                                      \
        {IR_U2F, IR_##INT, IR_##FLOAT, IR_ROUND_EVEN, U2F_##INT##_##FLOAT},                                  \
        {IR_F2S, IR_##FLOAT, IR_##INT, IR_ROUND_ZERO, F2S_##FLOAT##_##INT}, {                                \
        IR_F2U, IR_##FLOAT, IR_##INT, IR_ROUND_ZERO, F2U_##FLOAT##_##INT                                     \
    }
static const row rows[] = {
    RESIZE_ROWS(I8, I16),
    RESIZE_ROWS(I8, I32),
    RESIZE_ROWS(I8, I64),
    RESIZE_ROWS(I16, I32),
    RESIZE_ROWS(I16, I64),
    RESIZE_ROWS(I32, I64),
    {IR_ZEXT, IR_BOOL, IR_I32, 0, ZEXT_BOOL_I32},
    {IR_SEXT, IR_BOOL, IR_I32, 0, SEXT_BOOL_I32},
    FLOATING_ROWS(I8, F32),
    FLOATING_ROWS(I16, F32),
    FLOATING_ROWS(I32, F32),
    FLOATING_ROWS(I64, F32),
    FLOATING_ROWS(I8, F64),
    FLOATING_ROWS(I16, F64),
    FLOATING_ROWS(I32, F64),
    FLOATING_ROWS(I64, F64),
    {IR_FCONVERT, IR_F32, IR_F64, IR_ROUND_EVEN, FCONVERT_F32_F64},
    {IR_FCONVERT, IR_F64, IR_F32, IR_ROUND_EVEN, FCONVERT_F64_F32},
};

qn__vm_handler *qn__vm_pick_convert(const ir_instr *instr) {
    if (instr->op == IR_PTR2INT || instr->op == IR_INT2PTR) return copy_pointer;
    if (instr->op < IR_TRUNC || instr->op > IR_U2F) return NULL;
    ir_type from = instr->operands[0]->type, to = instr->results[0]->type;
    bool rounds = instr->op >= IR_FCONVERT;
    for (size_t i = 0; i < QN__COUNT(rows); i++) {
        if (rows[i].op == instr->op && rows[i].from == from.kind && rows[i].to == to.kind &&
            (!rounds || rows[i].rounding == instr->attr.rounding))
            return rows[i].run;
    }
    return convert_any;
}
