/* Built-ins on matrix fragments: an op each. */
#include "front/lower/internal.h"

static void note_fragments(const ast_expr *e, ir_instr *made) {
    unsigned count = 0;
    for (size_t i = 0; i < e->args.len && count < IR_MATRICES; i++) {
        const ast_type *type = e->args.data[i]->type;
        if (type->kind != AST_POINTER || !qn__type_is_matrix(type->base)) return;
        made->attr.matrices[count++] = type->base->record->matrix;
    }
}

ir_value *qn__lower_matrix(lower *l, ast_expr *e) {
    enum { LAYOUT = 3, MOST = 4 };
    const ir_op op = (ir_op)e->builtin->variant;
    const bool has_layout = op == IR_MATRIX_LOAD || op == IR_MATRIX_STORE;
    const bool is_query = qn__ir_ops[op].effects == IR_EFFECT_QUERY; /* of the type alone */
    ir_value *operands[MOST];
    uint32_t count = 0;
    for (size_t i = 0; i < e->args.len && i < (has_layout ? LAYOUT : MOST); i++) {
        ir_value *v = qn__lower_value(l, e->args.data[i]);
        if (!is_query || i > 0) operands[count++] = v;
    }
    qn__lower_at(l, e->loc);
    const ir_type type = qn__type_to_ir(e->type);
    ir_instr *made = qn__ir_emit(&l->b, op, operands, count, &type, type.kind != IR_VOID);
    note_fragments(e, made);
    int64_t layout = 0;
    if (has_layout && qn__lower_const_int(e->args.data[LAYOUT], &layout) && layout)
        made->flags |= IR_TRANSPOSED;
    return made->num_results ? made->results[0] : NULL;
}

void qn__lower_object_copy(lower *l, ir_value *to, ir_value *from, const ast_type *type, uint32_t align) {
    if (!qn__type_is_matrix(type)) {
        if (type->size) qn__ir_copy(&l->b, to, from, type->size, align);
        return;
    }
    ir_value *operands[] = {to, from};
    ir_instr *made = qn__ir_emit(&l->b, IR_MATRIX_CONVERT, operands, 2, NULL, 0);
    made->attr.matrices[0] = made->attr.matrices[1] = type->record->matrix;
}
