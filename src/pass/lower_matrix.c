/* Matrix fragments become private memory of which each work-item has a share, and products become what the target has: PTX's
   mma.sync on words of registers, or plain arithmetic with shuffles, which is right everywhere.

       var "m" size 16 matrix f16 16 16 a        var "m" size 16
       matrix_load %m, %p, %stride          ->   %0 = load ...; store %m, %0; ...
       matrix_multiply_add %c, %m, %n            %a = load %m; ...; %d = mma ... %a ...; store %c, %d

   sroa and mem2reg then make values of the memory, as of other arrays. A function has one form for all of its fragments: words
   where all that it does with them has such instructions, else elements. For SPIR-V, where fragments are types, there is a
   third form: they stay fragments, cut into pieces of the shapes that the device lists. */
#include "pass/matrix.h"

ir_value *qn__matrix_add(qn__matrix_lowering *l, ir_value *a, ir_value *b) {
    if (qn__ir_is_const(a) && !a->bits[0]) return b;
    if (qn__ir_is_const(b) && !b->bits[0]) return a;
    return qn__ir_op2(&l->b, IR_ADD, a, b);
}

static ir_value *shifted(qn__matrix_lowering *l, ir_op op, ir_value *a, uint32_t power) {
    if (power == 1) return a;
    return qn__ir_op2(&l->b, op, a, qn__ir_const_splat(l->b.function, a->type, qn__trailing_zeros(power)));
}

ir_value *qn__matrix_times(qn__matrix_lowering *l, ir_value *a, uint32_t factor) {
    return shifted(l, IR_SHL, a, factor);
}

ir_value *qn__matrix_over(qn__matrix_lowering *l, ir_value *a, uint32_t divisor) {
    return shifted(l, IR_LSHR, a, divisor);
}

ir_value *qn__matrix_modulo(qn__matrix_lowering *l, ir_value *a, uint32_t divisor) {
    if (divisor == 1) return qn__matrix_word(l, 0);
    return qn__ir_op2(&l->b, IR_AND, a, qn__matrix_word(l, divisor - 1));
}

ir_value *qn__matrix_lane(qn__matrix_lowering *l) { return qn__ir_query(&l->b, IR_SUB_GROUP_LOCAL_ID, 0); }

static ir_value *wide(qn__matrix_lowering *l, ir_value *a) {
    return qn__ir_convert(&l->b, IR_ZEXT, a, qn__ir_type(IR_I64, 1));
}

ir_value *qn__matrix_address(qn__matrix_lowering *l, ir_value *memory, ir_value *line, ir_value *stride,
                             ir_value *bytes) {
    ir_value *offset = qn__ir_op2(&l->b, IR_MUL, wide(l, line), stride);
    memory = qn__ir_ptr_add(&l->b, memory, offset);
    return qn__ir_ptr_add(&l->b, memory, wide(l, bytes));
}

ir_value *qn__matrix_stride(qn__matrix_lowering *l, const ir_instr *instr) {
    return qn__matrix_times(l, instr->operands[2], qn__ir_matrix_bytes(instr->attr.matrices[0]));
}

/* f64 as an f32 whose last bit is 1 where it is not exact, so that rounding it to fewer bits rounds it once. */
static ir_value *odd_float(qn__matrix_lowering *l, ir_value *value) {
    const unsigned lanes = value->type.lanes;
    const ir_type f32 = qn__ir_type(IR_F32, lanes), i32 = qn__ir_type(IR_I32, lanes);
    ir_value *cut = qn__ir_convert(&l->b, IR_FCONVERT, value, f32);
    cut->def->attr.rounding = IR_ROUND_ZERO;
    ir_value *differs =
        qn__ir_op2(&l->b, IR_FNE, qn__ir_convert(&l->b, IR_FCONVERT, cut, value->type), value);
    ir_value *bits = qn__ir_convert(&l->b, IR_BITCAST, cut, i32);
    bits = qn__ir_op2(&l->b, IR_OR, bits, qn__ir_convert(&l->b, IR_ZEXT, differs, i32));
    return qn__ir_convert(&l->b, IR_BITCAST, bits, f32);
}

ir_value *qn__matrix_convert_value(qn__matrix_lowering *l, ir_value *value, ir_matrix from, ir_matrix to) {
    const ir_matrix_info *was = qn__ir_matrix_info(from), *becomes = qn__ir_matrix_info(to);
    const ir_type type = qn__ir_type(becomes->kind, value->type.lanes);
    const bool was_int = was->to_float == IR_S2F || was->to_float == IR_U2F;
    const bool becomes_int = becomes->from_float == IR_F2S || becomes->from_float == IR_F2U;
    if (from.element == to.element) return value;
    if (was_int && becomes_int) {
        const unsigned bits = qn__ir_bits(value->type), wanted = qn__ir_bits(type);
        const ir_op extend = was->to_float == IR_U2F ? IR_ZEXT : IR_SEXT;
        return bits == wanted ? value : qn__ir_convert(&l->b, wanted < bits ? IR_TRUNC : extend, value, type);
    }
    const bool direct = becomes->from_float == IR_FCONVERT; /* half, float and double */
    if (direct && (was_int || was->to_float == IR_FCONVERT))
        return qn__ir_convert(&l->b, was->to_float, value, type);
    if (from.element == IR_MATRIX_F64 && !becomes_int)
        value = odd_float(l, value);
    else if (from.element != IR_MATRIX_F32 && from.element != IR_MATRIX_F64)
        value = qn__ir_convert(&l->b, was->to_float, value, qn__ir_type(IR_F32, value->type.lanes));
    if (to.element == IR_MATRIX_F32) return value;
    ir_value *made = qn__ir_convert(&l->b, becomes->from_float, value, type);
    made->def->attr.rounding = becomes_int ? IR_ROUND_ZERO : IR_ROUND_EVEN;
    return made;
}

/* ---- the pass ---- */

static bool is_copy(const ir_instr *i) {
    return i->op == IR_MATRIX_CONVERT && qn__ir_matrix_same(i->attr.matrices[0], i->attr.matrices[1]);
}

static ir_value *copy(qn__matrix_lowering *l, const ir_instr *i) {
    const ir_matrix m = i->attr.matrices[0];
    const uint32_t bytes = qn__ir_matrix_bytes(m);
    qn__ir_copy(&l->b, i->operands[0], i->operands[1], (uint64_t)qn__ir_matrix_share(m, l->size) * bytes,
                bytes);
    return NULL;
}

static ir_value *length(qn__matrix_lowering *l, const ir_instr *i) {
    return qn__matrix_word(l, qn__ir_matrix_share(i->attr.matrices[0], l->size));
}

static ir_value *lower(qn__matrix_lowering *l, const qn__matrix_form *form, const ir_instr *i) {
    switch (i->op) {
    case IR_MATRIX_FILL: return form->fill(l, i);
    case IR_MATRIX_LOAD: return form->load(l, i);
    case IR_MATRIX_STORE: return form->store(l, i);
    case IR_MATRIX_MULTIPLY_ADD: return form->multiply_add(l, i);
    case IR_MATRIX_CONVERT: return is_copy(i) && !form->keeps ? copy(l, i) : form->convert(l, i);
    case IR_MATRIX_GET: return form->get(l, i);
    case IR_MATRIX_SET: return form->set(l, i);
    case IR_MATRIX_ROW: return form->row(l, i);
    case IR_MATRIX_COLUMN: return form->column(l, i);
    default: return form->keeps ? form->length(l, i) : length(l, i);
    }
}

static void visit(qn__matrix_lowering *l, const qn__matrix_form *form, ir_region *region) {
    for (ir_instr *i = region->first, *next; i; i = next) {
        next = i->next;
        qn__rewrite_operands(&l->rewrite, i);
        for (uint32_t r = 0; r < i->num_regions; r++) visit(l, form, i->regions[r]);
        if (i->op == IR_VAR && i->attr.var->matrix.element)
            i->attr.var->matrix =
                form->keeps ? qn__matrix_piece(&l->cut, i->attr.var->matrix) : (ir_matrix){0};
        if (qn__ir_ops[i->op].rule != RULE_MATRIX) continue;
        qn__ir_at(&l->b, i);
        ir_value *result = lower(l, form, i);
        if (i->num_results) qn__rewrite_set(&l->rewrite, i->results[0], result);
        qn__ir_unlink(i);
    }
}

typedef struct survey {
    const qn__target *target;
    uint32_t size;
    const ir_instr *too_small; /* a fragment of fewer elements than a sub-group has work-items */
    bool has_words;
} survey;

static void look(ir_instr *i, void *user) {
    survey *s = user;
    if (qn__ir_ops[i->op].rule != RULE_MATRIX) return;
    for (unsigned m = 0; m < IR_MATRICES && i->attr.matrices[m].element; m++)
        if (!qn__ir_matrix_share(i->attr.matrices[m], s->size)) s->too_small = i;
    s->has_words = s->has_words && (is_copy(i) || qn__matrix_has_words(s->target, i));
}

/* Rows of fragments in local memory begin at multiples of 16 bytes: so do the arrays that they are in. */
static void align_locals(ir_function *function) {
    enum { ROW_ALIGN = 16 };
    for (size_t i = 0; i < function->locals.len; i++)
        if (function->locals.data[i].align < ROW_ALIGN) function->locals.data[i].align = ROW_ALIGN;
}

bool qn__pass_lower_matrix(qn__pass_context *context) {
    ir_function *function = context->function;
    const qn__target *target = &context->options->target;
    if (!qn__has_op(function, IR_MATRIX_FILL, IR_MATRIX_LENGTH)) return false;
    const uint32_t nominal = target->sub_group_size ? target->sub_group_size : 32;
    if (!function->required_sub_group_size) function->required_sub_group_size = nominal;
    function->whole_sub_groups = true;
    survey s = {.target = target,
                .size = function->required_sub_group_size,
                .has_words = target->has_mma && function->required_sub_group_size == 32};
    qn__ir_walk(function->body, look, &s);
    if (s.too_small) {
        qn__pass_refuse(context, s.too_small->loc,
                        "a matrix fragment has fewer elements than a sub-group has work-items");
        return false;
    }
    if (s.size < nominal || s.size < QN__MATRIX_LEAST_GROUP || s.size > QN__MATRIX_MOST_GROUP) {
        qn__pass_refuse(context, function->loc,
                        "matrix fragments need sub-groups of this device's own size: ask for no other");
        return false;
    }
    align_locals(function);
    qn__matrix_lowering l = {.b = {.function = function}, .context = context, .size = s.size};
    const bool has_pieces =
        target->has_matrices && s.size == nominal && qn__matrix_find_pieces(target, function, &l.cut);
    visit(&l,
          s.has_words  ? &qn__matrix_words
          : has_pieces ? &qn__matrix_pieces
                       : &qn__matrix_plain,
          function->body);
    return true;
}
