/* Arithmetic of the program that OpenCL C leaves undefined, of those work-items that do it. */
#include <math.h>
#include <stdio.h>

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
            if (value >= least && value < limit) continue;
            char text[96] = "converts a NaN to an integer";
            if (!isnan(value))
                snprintf(text, sizeof text, "converts %g to %s integer of %u bits, which does not hold it",
                         value, is_signed ? "a signed" : "an unsigned", 8u * instr->size);
            tell(frame, instr, QN_FINDING_CONVERSION, i, text);
        }
    qn__check_hand_on(frame, instr);
}

/* An index of WGSL, and the last one. */
static void index_inside(qn__vm_frame *frame, const qn__vm_instr *instr) {
    const void *a = qn__vm_slot(frame, instr->a), *b = qn__vm_slot(frame, instr->b);
    for (uint64_t i = 0; i < frame->items; i++) {
        const uint64_t index = qn__vm_get(a, instr->size, i), last = qn__vm_get(b, instr->size, i);
        char what[128];
        if (!frame->active[i] || index <= last) continue;
        snprintf(what, sizeof what, "has the index %lld where %llu is the last one, which is taken then",
                 (long long)(int32_t)index, (unsigned long long)last);
        tell(frame, instr, QN_FINDING_OUT_OF_BOUNDS, i, what);
    }
    qn__check_hand_on(frame, instr);
}

/* ---- when asked ---- */

static void shift(qn__vm_frame *frame, const qn__vm_instr *instr) {
    const void *b = qn__vm_slot(frame, instr->b);
    for (unsigned l = 0; l < instr->lanes; l++)
        for (uint64_t i = 0; i < frame->items; i++)
            if (frame->active[i] && qn__vm_get(b, instr->size, l * frame->stride + i) >= 8 * instr->size)
                tell(frame, instr, QN_FINDING_SHIFT, i, "shifts by the width of the type or more");
    qn__check_hand_on(frame, instr);
}

static int64_t signed_at(const void *slot, unsigned size, uint64_t at) {
    const unsigned up = 64 - 8 * size;
    return (int64_t)(qn__vm_get(slot, size, at) << up) >> up;
}

static bool overflows(ir_op op, int64_t a, int64_t b, unsigned size) {
    const int64_t most = (int64_t)(UINT64_MAX >> (65 - 8 * size)), least = -most - 1;
    if (op == IR_ADD) return b > 0 ? a > most - b : a < least - b;
    if (op == IR_SUB) return b < 0 ? a > most + b : a < least + b;
    if (a == 0 || b == 0) return false;
    if (a == -1) return b == least;
    if (b == -1) return a == least;
    return (a > 0) == (b > 0) ? (a > 0 ? a > most / b : a < most / b)
                              : (a > 0 ? b < least / a : a < least / b);
}

static void sum(qn__vm_frame *frame, const qn__vm_instr *instr) {
    const void *a = qn__vm_slot(frame, instr->a), *b = qn__vm_slot(frame, instr->b);
    const unsigned size = instr->size;
    for (unsigned l = 0; l < instr->lanes; l++)
        for (uint64_t i = 0; i < frame->items; i++) {
            const uint64_t at = l * frame->stride + i;
            if (frame->active[i] &&
                overflows((ir_op)instr->ir->op, signed_at(a, size, at), signed_at(b, size, at), size))
                tell(frame, instr, QN_FINDING_OVERFLOW, i, "has a signed result that its type does not hold");
        }
    qn__check_hand_on(frame, instr);
}

/* The first that is not finite, of numbers that are. */
static void floating(qn__vm_frame *frame, const qn__vm_instr *instr) {
    const ir_kind kind = (ir_kind)instr->ir->results[0]->type.kind;
    qn__check_hand_on(frame, instr);
    const void *result = qn__vm_slot(frame, instr->result);
    for (unsigned l = 0; l < instr->lanes; l++)
        for (uint64_t i = 0; i < frame->items; i++) {
            const uint64_t at = l * frame->stride + i;
            double inputs[3] = {0};
            bool finite = true;
            if (!frame->active[i] || isfinite(number_of(result, kind, at))) continue;
            for (uint32_t k = 0; k < instr->ir->num_operands && k < 3; k++) {
                inputs[k] = number_of(qn__vm_slot(frame, instr->operands[k]), kind, at);
                finite &= isfinite(inputs[k]) != 0;
            }
            char text[160];
            snprintf(text, sizeof text, "makes %s of %.9g, %.9g and %.9g",
                     isnan(number_of(result, kind, at)) ? "a NaN" : "an infinity", inputs[0], inputs[1],
                     inputs[2]);
            if (instr->ir->num_operands < 3)
                snprintf(text, sizeof text,
                         instr->ir->num_operands == 2 ? "makes %s of %.9g and %.9g" : "makes %s of %.9g",
                         isnan(number_of(result, kind, at)) ? "a NaN" : "an infinity", inputs[0], inputs[1]);
            if (finite) tell(frame, instr, QN_FINDING_NAN, i, text);
        }
}

static qn__vm_handler *pick_asked(const ir_instr *instr, uint32_t also) {
    const bool is_sum = instr->op == IR_ADD || instr->op == IR_SUB || instr->op == IR_MUL;
    const bool is_shift = instr->op >= IR_SHL && instr->op <= IR_ASHR;
    if ((also & QN_CHECK_SHIFTS) && is_shift && (instr->flags & IR_WRITTEN)) return shift;
    if ((also & QN_CHECK_OVERFLOWS) && is_sum && (instr->flags & IR_NSW)) return sum;
    if ((also & QN_CHECK_NANS) && qn__ir_ops[instr->op].rule == RULE_FLOAT) return floating;
    return NULL;
}

qn__vm_handler *qn__check_pick_arith(const ir_instr *instr, uint32_t also) {
    qn__vm_handler *asked = also ? pick_asked(instr, also) : NULL;
    if (asked || !(instr->flags & IR_WRITTEN)) return asked;
    switch (instr->op) {
    case IR_UDIV:
    case IR_SDIV:
    case IR_UREM:
    case IR_SREM: return divide;
    case IR_F2S:
    case IR_F2U: return to_integer;
    case IR_UMIN: return index_inside;
    default: return NULL;
    }
}
