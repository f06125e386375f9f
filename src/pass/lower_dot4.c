/* Products of four bytes where the target has no instruction for them: the bytes by themselves, extended, multiplied
   and summed, which a compiler for vectors sees through.

       %d = sdot4 %a, %b, %c   ->   %d = %c + (%a << 24 >> 24) * (%b << 24 >> 24) + ...

   Vectors of words are split where there is one for scalars alone. */
#include "pass/tools.h"

typedef struct lowering {
    const qn__target *target;
    ir_builder builder;
    qn__rewrite rewrite;
    bool changed;
} lowering;

/* A word whose bytes are there by themselves already is not taken apart again. */
static ir_value *bytes_of(const ir_value *word) {
    if (!qn__defined_by(word, IR_BITCAST)) return NULL;
    ir_value *bytes = word->def->operands[0];
    return bytes->type.kind == IR_I8 && word->type.lanes == 1 ? bytes : NULL;
}

static ir_value *with(ir_builder *b, ir_op op, ir_value *word, unsigned number) {
    if (number == (op == IR_AND ? UINT32_MAX : 0)) return word;
    return qn__ir_op2(b, op, word, qn__ir_const_splat(b->function, word->type, number));
}

static ir_value *byte_of(ir_builder *b, ir_value *word, unsigned lane, bool is_signed) {
    ir_value *bytes = bytes_of(word);
    if (bytes) {
        const ir_op extend = is_signed ? IR_SEXT : IR_ZEXT;
        return qn__ir_convert(b, extend, qn__ir_extract(b, bytes, lane), word->type);
    }
    if (is_signed) return with(b, IR_ASHR, with(b, IR_SHL, word, 24 - 8 * lane), 24);
    return with(b, IR_AND, with(b, IR_LSHR, word, 8 * lane), lane == 3 ? UINT32_MAX : 255);
}

static ir_value *written_out(ir_builder *b, const ir_instr *instr) {
    ir_value *sum = instr->operands[2];
    for (unsigned lane = 0; lane < 4; lane++) {
        ir_value *first = byte_of(b, instr->operands[0], lane, instr->op != IR_UDOT4);
        ir_value *second = byte_of(b, instr->operands[1], lane, instr->op == IR_SDOT4);
        ir_value *product = qn__ir_op2(b, IR_MUL, first, second);
        product->def->flags = IR_NSW;
        sum = qn__ir_op2(b, IR_ADD, sum, product);
    }
    return sum;
}

static ir_value *split(ir_builder *b, const ir_instr *instr) {
    const unsigned lanes = instr->results[0]->type.lanes;
    ir_value *made[16];
    for (unsigned lane = 0; lane < lanes; lane++) {
        ir_value *of[3];
        for (unsigned i = 0; i < 3; i++) of[i] = qn__ir_extract(b, instr->operands[i], lane);
        made[lane] = qn__ir_op3(b, (ir_op)instr->op, of[0], of[1], of[2]);
    }
    return qn__ir_vector(b, made, lanes);
}

static void lower(lowering *l, ir_instr *instr) {
    const bool is_vector = instr->results[0]->type.lanes > 1;
    if (is_vector ? l->target->has_dot4_vectors : l->target->has_dot4) return;
    qn__ir_at(&l->builder, instr);
    ir_value *sum = l->target->has_dot4 ? split(&l->builder, instr) : written_out(&l->builder, instr);
    qn__rewrite_set(&l->rewrite, instr->results[0], sum);
    qn__ir_unlink(instr);
    l->changed = true;
}

static void visit(lowering *l, ir_region *region) {
    for (ir_instr *i = region->first, *next; i; i = next) {
        next = i->next;
        qn__rewrite_operands(&l->rewrite, i);
        for (uint32_t r = 0; r < i->num_regions; r++) visit(l, i->regions[r]);
        if (qn__ir_ops[i->op].rule == RULE_BYTES) lower(l, i);
    }
}

bool qn__pass_lower_dot4(qn__pass_context *context) {
    lowering l = {.target = &context->options->target, .builder = {.function = context->function}};
    if (!qn__has_op(context->function, IR_UDOT4, IR_SUDOT4)) return false;
    visit(&l, context->function->body);
    return l.changed;
}
