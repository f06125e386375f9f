/* Built-ins that are instructions of one architecture (ir/natives.def), and products by quads of sub-groups, whose sums are an
   array of the work-item's, as a may be: they are read and written whole around each product, so that they become values. */
#include "front/lower/internal.h"

enum { MOST_OPERANDS = 10 };

ir_value *qn__lower_native(lower *l, ast_expr *e) {
    ir_value *operands[MOST_OPERANDS];
    const uint32_t count = e->args.len < MOST_OPERANDS ? (uint32_t)e->args.len : MOST_OPERANDS;
    for (uint32_t i = 0; i < count; i++) {
        const ast_expr *arg = e->args.data[i];
        operands[i] = qn__lower_value(l, e->args.data[i]);
        if (qn__type_is_record(arg->type) && operands[i]->type.space != IR_PARAM_SPACE)
            qn__lower_error(l, arg->loc, "a qn_tensor_map is given as the kernel's parameter that it is",
                            NULL);
    }
    qn__lower_at(l, e->loc);
    const ir_type type = qn__type_to_ir(e->type);
    ir_instr *made = qn__ir_emit(&l->b, IR_NATIVE, operands, count, &type, type.kind != IR_VOID);
    made->attr.index = (uint32_t)e->builtin->variant;
    return type.kind != IR_VOID ? made->results[0] : NULL;
}

static int element_of(const ast_type *pointer) {
    switch (pointer->base->kind) {
    case AST_HALF: return IR_QUAD_F16;
    case AST_FLOAT: return IR_QUAD_TF32;
    case AST_CHAR: return IR_QUAD_I8;
    case AST_UCHAR: return IR_QUAD_U8;
    case AST_BF16: return IR_QUAD_BF16;
    case AST_E4M3: return IR_QUAD_E4M3;
    case AST_E5M2: return IR_QUAD_E5M2;
    default: return -1;
    }
}

/* Constant, a multiple of 8 up to 256; 0: it is not. */
static uint32_t columns_of(lower *l, ast_expr *arg) {
    const ir_value *n = qn__lower_folded(l, qn__lower_value(l, arg));
    const bool fits = qn__ir_is_const(n) && n->bits[0] % 8 == 0 && n->bits[0] <= 256;
    if (!fits || !n->bits[0])
        qn__lower_error(l, arg->loc, "the product's columns are a constant multiple of 8 up to 256", NULL);
    return fits ? (uint32_t)n->bits[0] : 0;
}

/* Products whose types or layout there are not, reported. Returns attr.index. */
static uint32_t kind_of(lower *l, ast_expr *e, bool is_held) {
    ast_expr **args = e->args.data;
    const int element = element_of(args[3]->type);
    const bool has_ints = element == IR_QUAD_I8 || element == IR_QUAD_U8, is_wide = element > IR_QUAD_BF16;
    const ir_value *layout = qn__lower_folded(l, qn__lower_value(l, args[4]));
    if (element < 0 || has_ints != (args[0]->type->base->kind == AST_INT) ||
        (is_held && is_wide && element != IR_QUAD_TF32))
        qn__lower_error(
            l, e->loc,
            "there is no such product: those of floats have sums of float, char and uchar of int; "
            "a is in registers for 16-bit elements and float alone",
            NULL);
    const bool is_known = qn__ir_is_const(layout) && layout->bits[0] <= (is_held ? 1 : 3);
    if (!is_known || (layout->bits[0] && is_wide))
        qn__lower_error(
            l, args[4]->loc,
            "the layout is a constant, 0 to 3; other ones than 0 are those of 16-bit elements alone, "
            "and bit 1 of an a in local memory",
            NULL);
    return (uint32_t)(element < 0 ? 0 : element) |
           (is_known ? (uint32_t)layout->bits[0] * IR_QUAD_ROWS : 0u) | (is_held ? IR_QUAD_HELD : 0u);
}

enum { WORD_BYTES = 4 };

static void load_words(lower *l, ir_value *array, ir_type type, uint32_t count, ir_value **out) {
    for (uint32_t i = 0; i < count; i++)
        out[i] =
            qn__ir_load(&l->b, qn__ir_ptr_offset(&l->b, array, (int64_t)i * WORD_BYTES), type, WORD_BYTES, 0);
}

/* qn_quad_multiply_add(sums, n, a, b, layout, accumulate) */
ir_value *qn__lower_quad_product(lower *l, ast_expr *e) {
    enum { MOST_SUMS = 128 };
    ast_expr **args = e->args.data;
    const bool is_held = e->builtin->variant;
    const uint32_t kind = kind_of(l, e, is_held), num_sums = columns_of(l, args[1]) / 2,
                   num_words = is_held ? IR_QUAD_WORDS : 1;
    ir_value *sums = qn__lower_value(l, args[0]), *operands[IR_QUAD_WORDS + 2 + MOST_SUMS];
    ir_value *a = qn__lower_value(l, args[2]);
    operands[num_words] = qn__lower_value(l, args[3]);
    operands[num_words + 1] = qn__lower_value(l, args[5]);
    qn__lower_at(l, e->loc);
    const ir_type type = qn__ir_type(args[0]->type->base->kind == AST_INT ? IR_I32 : IR_F32, 1);
    ir_type types[MOST_SUMS];
    for (uint32_t i = 0; i < num_sums; i++) types[i] = type;
    if (is_held)
        load_words(l, a, qn__ir_type(IR_I32, 1), num_words, operands);
    else
        operands[0] = a;
    load_words(l, sums, type, num_sums, operands + num_words + 2);
    ir_instr *made = qn__ir_emit(&l->b, IR_QUAD_PRODUCT, operands, num_words + 2 + num_sums, types, num_sums);
    made->attr.index = kind;
    for (uint32_t i = 0; i < num_sums; i++)
        qn__ir_store(&l->b, qn__ir_ptr_offset(&l->b, sums, (int64_t)i * WORD_BYTES), made->results[i],
                     WORD_BYTES, 0);
    return NULL;
}

/* qn_panel_product_*(sums, a, b, a_row, panel, words, panels, more) */
ir_value *qn__lower_panel_product(lower *l, ast_expr *e) {
    enum { OPERANDS = 8 };
    ir_value *operands[OPERANDS];
    for (uint32_t i = 0; i < OPERANDS; i++) operands[i] = qn__lower_value(l, e->args.data[i]);
    qn__lower_at(l, e->loc);
    qn__ir_emit(&l->b, IR_PANEL_PRODUCT, operands, OPERANDS, NULL, 0)->attr.index =
        (uint32_t)e->builtin->variant;
    return NULL;
}
