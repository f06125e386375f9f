/* For targets without f16 arithmetic: the operands are widened to f32, the result is rounded back. f16
   remains as what memory holds, in moves, and in conversions to and from other floats. Sums, products,
   quotients and square roots come out as if rounded once (24 bits are enough for that); fma is fma of f32,
   rounded, as everywhere in quern. What concerns the sign bit alone is done on the 16 bits, as NaN has a sign, too,
   which conversions may lose (NVIDIA's OpenCL).

       %s = fadd %a, %b  (f16)     ->     %s = fconvert (fadd (fconvert %a), (fconvert %b))
       %n = fneg %a  (f16)         ->     %n = bitcast (xor (bitcast %a), 0x8000) */
#include "pass/tools.h"

typedef struct lowering {
    ir_builder builder;
    qn__rewrite rewrite;
    bool changed;
} lowering;

static ir_type wide(ir_type type) { return qn__ir_type(IR_F32, type.lanes); }

static ir_value *convert(lowering *l, ir_value *value, ir_type type) {
    return qn__ir_convert(&l->builder, IR_FCONVERT, value, type);
}

static bool takes_f16(const ir_instr *i) { return i->num_operands && i->operands[0]->type.kind == IR_F16; }
static bool gives_f16(const ir_instr *i) { return i->num_results && i->results[0]->type.kind == IR_F16; }

/* What computes on f16, as against moving it. */
static bool computes(const ir_instr *i) {
    switch (qn__ir_ops[i->op].rule) {
    case RULE_FLOAT:
    case RULE_FCOMPARE: return takes_f16(i);
    case RULE_GROUP: return takes_f16(i);
    case RULE_CONVERT:
        if (i->op == IR_F2S || i->op == IR_F2U) return takes_f16(i);
        return (i->op == IR_S2F || i->op == IR_U2F) && gives_f16(i);
    default: return false;
    }
}

/* An integer beyond f32's exact ones is beyond f16 altogether, so two roundings agree with one. */
static void lower(lowering *l, ir_instr *instr) {
    ir_value *operands[4];
    qn__ir_at(&l->builder, instr);
    for (uint32_t n = 0; n < instr->num_operands; n++) {
        operands[n] = instr->operands[n];
        if (operands[n]->type.kind == IR_F16) operands[n] = convert(l, operands[n], wide(operands[n]->type));
    }
    const ir_type type = gives_f16(instr) ? wide(instr->results[0]->type) : instr->results[0]->type;
    ir_instr *made = qn__ir_emit(&l->builder, (ir_op)instr->op, operands, instr->num_operands, &type, 1);
    made->flags = instr->flags;
    made->attr = instr->attr;
    ir_value *value = convert(l, made->results[0], instr->results[0]->type);
    if (gives_f16(instr) && (instr->op == IR_S2F || instr->op == IR_U2F))
        value->def->attr.rounding = instr->attr.rounding;
    qn__rewrite_set(&l->rewrite, instr->results[0], value);
    qn__ir_unlink(instr);
    l->changed = true;
}

static ir_value *masked(lowering *l, ir_op op, ir_value *bits, uint64_t mask) {
    return qn__ir_op2(&l->builder, op, bits, qn__ir_const_splat(l->builder.function, bits->type, mask));
}

static void lower_sign(lowering *l, ir_instr *instr) {
    enum { SIGN = 0x8000, REST = 0x7fff };
    const ir_type half = instr->results[0]->type, word = qn__ir_type(IR_I16, half.lanes);
    qn__ir_at(&l->builder, instr);
    ir_value *bits = qn__ir_convert(&l->builder, IR_BITCAST, instr->operands[0], word);
    if (instr->op == IR_FNEG)
        bits = masked(l, IR_XOR, bits, SIGN);
    else
        bits = masked(l, IR_AND, bits, REST);
    if (instr->op == IR_FCOPYSIGN) {
        ir_value *sign = qn__ir_convert(&l->builder, IR_BITCAST, instr->operands[1], word);
        bits = qn__ir_op2(&l->builder, IR_OR, bits, masked(l, IR_AND, sign, SIGN));
    }
    qn__rewrite_set(&l->rewrite, instr->results[0], qn__ir_convert(&l->builder, IR_BITCAST, bits, half));
    qn__ir_unlink(instr);
    l->changed = true;
}

static bool moves_sign(const ir_instr *i) {
    return gives_f16(i) && (i->op == IR_FNEG || i->op == IR_FABS || i->op == IR_FCOPYSIGN);
}

static void visit(lowering *l, ir_region *region) {
    for (ir_instr *i = region->first, *next; i; i = next) {
        next = i->next;
        qn__rewrite_operands(&l->rewrite, i);
        if (moves_sign(i)) {
            lower_sign(l, i);
            continue;
        }
        if (i->num_results == 1 && i->num_operands <= 3 && computes(i)) {
            lower(l, i);
            continue;
        }
        for (uint32_t r = 0; r < i->num_regions; r++) visit(l, i->regions[r]);
    }
}

bool qn__pass_lower_f16(qn__pass_context *context) {
    lowering l = {.changed = false};
    if (!qn__has_kind(context->function, IR_F16)) return false;
    visit(&l, context->function->body);
    return l.changed;
}
