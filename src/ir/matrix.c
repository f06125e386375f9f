/* The tables of matrix fragments, unrolled. */
#include "ir/matrix.h"

#define OPERAND     1
#define ACCUMULATOR 2

const ir_matrix_info qn__ir_matrix_elements[IR_MATRIX_ELEMENTS] = {
    [IR_MATRIX_NONE] = {"none", IR_VOID, false, false, IR_OP_COUNT, IR_OP_COUNT},
#define ELEMENT(ID, name, kind, uses, to_float, from_float)                                                  \
    [IR_MATRIX_##ID] = {name, kind, ((uses)&OPERAND) != 0, ((uses)&ACCUMULATOR) != 0, to_float, from_float},
#include "ir/matrices.def"
};

const char *const qn__ir_matrix_uses[IR_MATRIX_USES] = {"a", "b", "accumulator"};

static bool valid_size(unsigned n) { return n >= 8 && n <= 64 && (n & (n - 1)) == 0; }

bool qn__ir_matrix_valid(ir_matrix m) {
    const ir_matrix_info *info = qn__ir_matrix_info(m);
    if (!valid_size(m.rows) || !valid_size(m.columns) || m.use >= IR_MATRIX_USES) return false;
    return m.use == IR_USE_ACCUMULATOR ? info->is_accumulator : info->is_operand;
}

bool qn__ir_matrix_has_product(ir_matrix accumulator, ir_matrix a, ir_matrix b) {
    static const struct {
        uint8_t a, b, accumulator;
    } products[] = {
#define PRODUCT(a, b, accumulator) {IR_MATRIX_##a, IR_MATRIX_##b, IR_MATRIX_##accumulator},
#include "ir/matrices.def"
    };
    if (accumulator.use != IR_USE_ACCUMULATOR || a.use != IR_USE_A || b.use != IR_USE_B) return false;
    if (a.rows != accumulator.rows || b.columns != accumulator.columns || a.columns != b.rows) return false;
    for (size_t i = 0; i < QN__COUNT(products); i++)
        if (products[i].a == a.element && products[i].b == b.element &&
            products[i].accumulator == accumulator.element)
            return true;
    return false;
}
