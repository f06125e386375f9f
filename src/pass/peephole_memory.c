/* Pointer arithmetic with constants joins, constant parts go into the offset of the access, and reads of
   constant tables at known places become constants; see peephole.h. */
#include <string.h>

#include "pass/peephole.h"

static bool sum_fits(int64_t a, int64_t b, int64_t *sum) {
    if (b > 0 ? a > INT64_MAX - b : a < INT64_MIN - b) return false;
    *sum = a + b;
    return true;
}

static ir_value *pointer_add(qn__peephole *p, ir_value *base, ir_value *bytes, int64_t offset,
                             unsigned flags) {
    ir_value *operands[] = {base, bytes};
    ir_instr *add = qn__ir_emit(&p->builder, IR_PTR_ADD, operands, 2, &base->type, 1);
    add->attr.offset = offset;
    add->flags = (uint16_t)flags;
    return add->results[0];
}

static ir_value *rule_ptr_add(qn__peephole *p, ir_instr *instr) {
    ir_value *base = instr->operands[0], *bytes = instr->operands[1];
    int64_t offset = instr->attr.offset;
    if (qn__ir_is_const(bytes)) {
        if (bytes->bits[0] != 0) {
            if (!sum_fits(offset, (int64_t)bytes->bits[0], &offset)) return NULL;
            instr->operands[1] = qn__ir_const_int(p->function, IR_I64, 0);
            instr->attr.offset = offset;
            return instr->results[0];
        }
        if (offset == 0) return base;
    }
    if (!qn__defined_by(base, IR_PTR_ADD)) return NULL;
    const ir_instr *inner = base->def;
    const bool outer_const = qn__ir_is_const(bytes), inner_const = qn__ir_is_const(inner->operands[1]);
    if (!outer_const && !inner_const) return NULL;
    if (!sum_fits(offset, inner->attr.offset, &offset)) return NULL;
    return pointer_add(p, inner->operands[0], outer_const ? inner->operands[1] : bytes, offset,
                       instr->flags & inner->flags);
}

/* An access at a pointer plus a constant. Also for stores and atomics, which have no rule of their own
   kind. */
bool qn__fold_access_offset(ir_instr *instr) {
    if (!instr->num_operands || !qn__defined_by(instr->operands[0], IR_PTR_ADD)) return false;
    const ir_instr *add = instr->operands[0]->def;
    int64_t offset;
    if (!qn__ir_is_const(add->operands[1]) || add->operands[1]->bits[0] != 0) return false;
    if (!sum_fits(instr->attr.offset, add->attr.offset, &offset)) return false;
    instr->operands[0] = add->operands[0];
    instr->attr.offset = offset;
    qn__ir_touch(instr);
    return true;
}

/* The value in a constant table. Places that hold addresses of other tables stay loads. */
static ir_value *table_value(qn__peephole *p, const ir_instr *load) {
    const ir_value *pointer = load->operands[0];
    const ir_type type = load->results[0]->type;
    if (!qn__defined_by(pointer, IR_GLOBAL) || type.kind == IR_PTR || type.kind == IR_BOOL) return NULL;
    const ir_global *global = &p->function->module->globals.data[pointer->def->attr.index];
    const unsigned bytes = qn__ir_bits(type) / 8;
    const int64_t offset = load->attr.offset;
    if (!global->data || global->relocations.len || offset < 0 ||
        (uint64_t)offset + (uint64_t)bytes * type.lanes > global->size)
        return NULL;
    uint64_t bits[16] = {0};
    for (unsigned i = 0; i < type.lanes; i++)
        for (unsigned b = 0; b < bytes; b++) /* little-endian, as every target is */
            bits[i] |= (uint64_t)global->data[(uint64_t)offset + i * bytes + b] << (8 * b);
    return qn__ir_const(p->function, type, bits);
}

static ir_value *rule_load(qn__peephole *p, ir_instr *instr) {
    return qn__fold_access_offset(instr) ? instr->results[0] : table_value(p, instr);
}

const qn__peephole_row qn__peephole_memory[] = {{IR_PTR_ADD, rule_ptr_add}, {IR_LOAD, rule_load}, {0, NULL}};
