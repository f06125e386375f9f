/* Arithmetic of the program that OpenCL C leaves undefined, of those work-items that do it. */
#include <math.h>

#include "check/defined.h"
#include "ir/fold.h"

static void tell(const qn__vm_frame *frame, const qn__vm_instr *instr, qn_finding_kind kind, uint64_t i,
                 const char *what) {
    const qn__check_report found = {.kind = kind, .frame = frame, .instr = instr->ir, .item = i};
    char text[96];
    QN__CHECK_REPORT(qn__check_state(frame)->checker, &found, "%s %s", qn__check_item_text(frame, i, text),
                     what);
}

/* Quotients and remainders. */
static void divide(qn__vm_frame *frame, const qn__vm_instr *instr) {
    const void *a = qn__vm_slot(frame, instr->a), *b = qn__vm_slot(frame, instr->b);
    const ir_op op = (ir_op)instr->ir->op;
    const bool is_signed = op == IR_SDIV || op == IR_SREM;
    const unsigned size = instr->size;
    const uint64_t ones = UINT64_MAX >> (64 - 8 * size), least = (uint64_t)1 << (8 * size - 1);
    for (unsigned l = 0; l < instr->lanes; l++)
        for (uint64_t i = 0; i < frame->items; i++) {
            const uint64_t at = l * frame->stride + i, divisor = qn__vm_get(b, size, at);
            if (!frame->active[i]) continue;
            if (!divisor) tell(frame, instr, QN_FINDING_DIVISION, i, "divides by zero");
            if (is_signed && divisor == ones && qn__vm_get(a, size, at) == least)
                tell(frame, instr, QN_FINDING_DIVISION, i, "divides the least integer by -1");
        }
    qn__check_hand_on(frame, instr);
}

static double number_of(const void *slot, ir_kind kind, uint64_t at) {
    switch (kind) {
    case IR_F16: return qn__f16_to_double(((const uint16_t *)slot)[at]);
    case IR_F32: return (double)((const float *)slot)[at];
    default: return ((const double *)slot)[at];
    }
}

static void to_integer(qn__vm_frame *frame, const qn__vm_instr *instr) {
    const ir_kind kind = (ir_kind)instr->ir->operands[0]->type.kind;
    const bool is_signed = instr->ir->op == IR_F2S;
    const void *a = qn__vm_slot(frame, instr->a);
    const double limit = ldexp(1, (int)(8u * instr->size) - is_signed), least = is_signed ? -limit : 0;
    for (unsigned l = 0; l < instr->lanes; l++)
        for (uint64_t i = 0; i < frame->items; i++) {
            if (!frame->active[i]) continue;
            const double value = trunc(number_of(a, kind, l * frame->stride + i));
            if (!(value >= least && value < limit))
                tell(frame, instr, QN_FINDING_CONVERSION, i,
                     isnan(value) ? "converts a NaN to an integer"
                                  : "converts a float to an integer type that does not hold it");
        }
    qn__check_hand_on(frame, instr);
}

qn__vm_handler *qn__check_pick_arith(const ir_instr *instr) {
    if (!(instr->flags & IR_WRITTEN)) return NULL;
    switch (instr->op) {
    case IR_UDIV:
    case IR_SDIV:
    case IR_UREM:
    case IR_SREM: return divide;
    case IR_F2S:
    case IR_F2U: return to_integer;
    default: return NULL;
    }
}
