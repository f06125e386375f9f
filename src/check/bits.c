/* How ops hand undefined bits on. Moves move them; and, or, sums, shifts and equality are as exact as Memcheck's; of all
   others a result is undefined in whole where an operand's lane is in any bit. */
#include <string.h>

#include "check/defined.h"

/* ---- operands ---- */

/* Elements of lanes of operands: value and undefined bits. */
typedef struct operand {
    const void *value;
    const unsigned char *bits; /* NULL: none is set */
    unsigned size, lanes;
    uint64_t mask;
} operand;

static operand operand_of(const qn__vm_frame *frame, const qn__vm_instr *instr, uint32_t k) {
    const ir_type type = instr->ir->operands[k]->type;
    const qn__check_note *note = instr->note;
    const unsigned width = qn__ir_bits(type);
    return (operand){qn__vm_slot(frame, instr->operands[k]),
                     qn__check_is_dirty(frame, instr, k) ? qn__check_bits(frame, note->slots[k]) : NULL,
                     qn__vm_lane_size(type), type.lanes,
                     width == 64 ? UINT64_MAX : ((uint64_t)1 << width) - 1};
}

static inline uint64_t bits_at(const operand *o, uint64_t at) {
    return o->bits ? qn__vm_get(o->bits, o->size, at) & o->mask : 0;
}
static inline uint64_t value_at(const operand *o, uint64_t at) {
    return qn__vm_get(o->value, o->size, at) & o->mask;
}

/* ---- rules of one lane ---- */

typedef struct pair {
    uint64_t a, b, va, vb; /* values; undefined bits */
    uint64_t mask;         /* of the operands */
    unsigned width;
} pair;

static uint64_t any_rule(const pair *p) { return p->va | p->vb ? UINT64_MAX : 0; }
static uint64_t both_rule(const pair *p) { return p->va | p->vb; }
static uint64_t and_rule(const pair *p) { return (p->va & p->vb) | (p->va & p->b) | (p->vb & p->a); }
static uint64_t or_rule(const pair *p) { return (p->va & p->vb) | (p->va & ~p->b) | (p->vb & ~p->a); }

/* From the lowest undefined bit upwards. */
static uint64_t sum_rule(const pair *p) {
    const uint64_t v = p->va | p->vb;
    return v | (0 - v);
}

static uint64_t equal_rule(const pair *p) {
    const uint64_t v = p->va | p->vb;
    return v && !((p->a ^ p->b) & ~v & p->mask) ? UINT64_MAX : 0;
}

static uint64_t shl_rule(const pair *p) { return p->vb ? UINT64_MAX : p->va << (p->b & (p->width - 1)); }
static uint64_t lshr_rule(const pair *p) { return p->vb ? UINT64_MAX : p->va >> (p->b & (p->width - 1)); }
static uint64_t ashr_rule(const pair *p) {
    const unsigned up = 64 - p->width;
    return p->vb ? UINT64_MAX : (uint64_t)((int64_t)(p->va << up) >> up >> (p->b & (p->width - 1)));
}

typedef uint64_t rule(const pair *p);

static rule *rule_of(ir_op op) {
    switch (op) {
    case IR_AND: return and_rule;
    case IR_OR: return or_rule;
    case IR_XOR:
    case IR_NOT: return both_rule;
    case IR_ADD:
    case IR_SUB:
    case IR_MUL:
    case IR_PTR_ADD: return sum_rule;
    case IR_EQ:
    case IR_NE: return equal_rule;
    case IR_SHL: return shl_rule;
    case IR_LSHR: return lshr_rule;
    case IR_ASHR: return ashr_rule;
    default: return any_rule;
    }
}

static uint64_t mask_of(ir_type type) {
    const unsigned width = qn__ir_bits(type);
    return width == 64 ? UINT64_MAX : ((uint64_t)1 << width) - 1;
}

static void by_lane(qn__vm_frame *frame, const qn__vm_instr *instr) {
    const uint32_t count = instr->ir->num_operands;
    const operand a = operand_of(frame, instr, 0), b = operand_of(frame, instr, count > 1);
    const operand c = operand_of(frame, instr, count > 2 ? 2 : 0);
    const ir_type type = instr->ir->results[0]->type;
    const uint64_t mask = mask_of(type);
    rule *apply = rule_of((ir_op)instr->ir->op);
    unsigned char *to = qn__check_bits(frame, instr->result);
    pair p = {.mask = a.mask, .width = qn__ir_bits(instr->ir->operands[0]->type)};
    for (unsigned l = 0; l < instr->lanes; l++)
        for (uint64_t i = 0; i < frame->items; i++) {
            const uint64_t at = l * frame->stride + i;
            p.a = value_at(&a, a.lanes > l ? at : i), p.va = bits_at(&a, a.lanes > l ? at : i);
            p.b = value_at(&b, b.lanes > l ? at : i),
            p.vb = count > 1 ? bits_at(&b, b.lanes > l ? at : i) : 0;
            if (count > 2) p.vb |= bits_at(&c, c.lanes > l ? at : i);
            qn__vm_set(to, instr->size, at, apply(&p) & mask);
        }
}

/* ---- moves ---- */

/* Operands without a bit set have none in their shadow either. */
static void clear_clean(qn__vm_frame *frame, const qn__vm_instr *instr) {
    const qn__check_note *note = instr->note;
    for (uint32_t k = 0; k < instr->ir->num_operands; k++) {
        const ir_type type = instr->ir->operands[k]->type;
        if (note->slots[k] == QN__CHECK_CLEAN || qn__check_is_dirty(frame, instr, k)) continue;
        memset(qn__check_bits(frame, note->slots[k]), 0,
               qn__vm_extent(frame, type.lanes) * qn__vm_lane_size(type));
    }
}

/* The op itself, on the bits. */
static void move(qn__vm_frame *frame, const qn__vm_instr *instr) {
    unsigned char *values = frame->values;
    clear_clean(frame, instr);
    frame->values = qn__check_state(frame)->value_shadow;
    instr->plain(frame, instr);
    frame->values = values;
}

/* The same where operand 1 is an index, whose value counts. */
static void move_by_index(qn__vm_frame *frame, const qn__vm_instr *instr) {
    const unsigned size = qn__vm_lane_size(instr->ir->operands[1]->type);
    unsigned char *index = qn__check_bits(frame, instr->b);
    if (qn__check_is_dirty(frame, instr, 1)) {
        memset(qn__check_bits(frame, instr->result), 0xff, qn__vm_extent(frame, instr->lanes) * instr->size);
        return;
    }
    clear_clean(frame, instr);
    memcpy(index, qn__vm_slot(frame, instr->b), frame->items * size);
    unsigned char *values = frame->values;
    frame->values = qn__check_state(frame)->value_shadow;
    instr->plain(frame, instr);
    frame->values = values;
    memset(index, 0, frame->items * size);
}

static void select(qn__vm_frame *frame, const qn__vm_instr *instr) {
    const operand condition = operand_of(frame, instr, 0), b = operand_of(frame, instr, 1),
                  c = operand_of(frame, instr, 2);
    const uint64_t mask = mask_of(instr->ir->results[0]->type);
    unsigned char *to = qn__check_bits(frame, instr->result);
    for (unsigned l = 0; l < instr->lanes; l++)
        for (uint64_t i = 0; i < frame->items; i++) {
            const uint64_t at = l * frame->stride + i, choice = condition.lanes > 1 ? at : i;
            const uint64_t chosen = value_at(&condition, choice) & 1 ? bits_at(&b, at) : bits_at(&c, at);
            const bool differs = value_at(&b, at) != value_at(&c, at);
            qn__vm_set(to, instr->size, at, bits_at(&condition, choice) && differs ? mask : chosen);
        }
}

/* ---- work-items together ---- */

/* The result of all that are active in a team is undefined if one of them is. */
static void by_team(qn__vm_frame *frame, const qn__vm_instr *instr) {
    const operand a = operand_of(frame, instr, 0);
    const uint64_t mask = mask_of(instr->ir->results[0]->type);
    const uint64_t size = qn__ir_is_of_sub_group(instr->ir) ? frame->program->sub_group_size : frame->items;
    unsigned char *to = qn__check_bits(frame, instr->result);
    for (uint64_t first = 0; first < frame->items; first += size) {
        const uint64_t end = first + size < frame->items ? first + size : frame->items;
        uint64_t any = 0;
        for (uint64_t i = first; i < end; i++) any |= frame->active[i] ? bits_at(&a, i) : 0;
        for (unsigned l = 0; l < instr->lanes; l++)
            for (uint64_t i = first; i < end; i++)
                qn__vm_set(to, instr->size, l * frame->stride + i, any ? mask : 0);
    }
}

void qn__check_hand_bits_on(qn__vm_frame *frame, const qn__vm_instr *instr) {
    const ir_op op = (ir_op)instr->ir->op;
    if (!((const qn__check_note *)instr->note)->is_tracked) return;
    switch (op) {
    case IR_VECTOR:
    case IR_SPLAT:
    case IR_EXTRACT:
    case IR_INSERT:
    case IR_SHUFFLE:
    case IR_BITCAST:
    case IR_TRUNC:
    case IR_ZEXT:
    case IR_SEXT:
    case IR_PTR2INT:
    case IR_INT2PTR: move(frame, instr); break;
    case IR_SELECT: select(frame, instr); break;
    case IR_EXTRACT_DYNAMIC:
    case IR_GROUP_BROADCAST:
    case IR_SUB_GROUP_SHUFFLE: move_by_index(frame, instr); break;
    default:
        if (qn__ir_is_together(op))
            by_team(frame, instr);
        else
            by_lane(frame, instr);
    }
}
