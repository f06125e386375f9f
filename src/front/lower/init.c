/* Initialisers of variables and compound literals: zero first, then each item in order. Objects of few parts
   are zeroed part by part, so that scalar replacement sees plain stores; large ones by a loop, and large
   tables of constants are copied from a __constant image. */
#include <string.h>

#include "front/lower/internal.h"

enum { MAX_ZERO_STORES = 128, MIN_IMAGE_ITEMS = 33 };

/* ---- zeroing ---- */

/* Number of scalars and vectors in an object, counted no further than `limit`. */
static uint64_t count_parts(const ast_type *type, uint64_t limit) {
    if (type->kind == AST_ARRAY) {
        uint64_t each = count_parts(type->base, limit);
        return each && type->length > limit / each ? limit + 1 : each * type->length;
    }
    if (!qn__type_is_record(type)) return 1;
    uint64_t count = 0;
    for (size_t i = 0; i < type->record->fields.len && count <= limit; i++)
        count += count_parts(type->record->fields.data[i].type, limit);
    return count;
}

static void zero_loop(lower *l, ir_value *pointer, uint64_t size, uint32_t align);

static uint32_t align_at(uint32_t align, uint64_t offset) {
    while (align > 1 && offset % align) align /= 2;
    return align;
}

static void zero_parts(lower *l, ir_value *pointer, const ast_type *type, uint64_t offset, uint32_t align) {
    if (type->kind == AST_ARRAY) {
        for (uint64_t i = 0; i < type->length; i++)
            zero_parts(l, pointer, type->base, offset + i * type->base->size, align);
    } else if (type->kind == AST_UNION) {
        ir_value *at = qn__ir_ptr_offset(&l->b, pointer, (int64_t)offset);
        zero_loop(l, at, type->size, align_at(align, offset));
    } else if (type->kind == AST_STRUCT) {
        for (size_t i = 0; i < type->record->fields.len; i++) {
            const ast_field *field = &type->record->fields.data[i];
            zero_parts(l, pointer, field->type, offset + field->offset, align);
        }
    } else {
        ir_value *at = qn__ir_ptr_offset(&l->b, pointer, (int64_t)offset);
        ir_value *zero = qn__ir_const_splat(l->b.function, qn__lower_memory_type(type), 0);
        qn__ir_store(&l->b, at, zero, align_at(align, offset), 0);
    }
}

static void zero_bytes(lower *l, ir_value *pointer, uint64_t from, uint64_t size, uint32_t align) {
    while (from < size) {
        uint64_t step = 8;
        while (step > align || step > size - from) step /= 2;
        ir_kind kind = step == 8 ? IR_I64 : step == 4 ? IR_I32 : step == 2 ? IR_I16 : IR_I8;
        ir_value *at = qn__ir_ptr_offset(&l->b, pointer, (int64_t)from);
        qn__ir_store(&l->b, at, qn__ir_const_int(l->b.function, kind, 0), (uint32_t)step, 0);
        from += step;
    }
}

static void zero_loop(lower *l, ir_value *pointer, uint64_t size, uint32_t align) {
    uint64_t step = align >= 8 ? 8 : align, whole = size - size % step;
    if (size / step <= MAX_ZERO_STORES) {
        zero_bytes(l, pointer, 0, size, align);
        return;
    }
    ir_kind kind = step == 8 ? IR_I64 : step == 4 ? IR_I32 : step == 2 ? IR_I16 : IR_I8;
    ir_function *function = l->b.function;
    ir_value *start = qn__ir_const_int(function, IR_I64, 0);
    ir_instr *loop = qn__ir_loop(&l->b, &start, 1, NULL, 0);
    ir_region *after = l->b.region;
    qn__ir_at_end(&l->b, loop->regions[0]);
    ir_value *offset = loop->regions[0]->params[0];
    ir_value *end = qn__ir_const_int(function, IR_I64, (int64_t)whole);
    ir_instr *branch = qn__ir_if(&l->b, qn__ir_op2(&l->b, IR_ULT, offset, end), NULL, 0);
    qn__ir_at_end(&l->b, branch->regions[0]);
    qn__ir_yield(&l->b, NULL, 0);
    qn__ir_at_end(&l->b, branch->regions[1]);
    qn__ir_break(&l->b, loop, NULL, 0);
    qn__ir_at_end(&l->b, loop->regions[0]);
    ir_value *zero = qn__ir_const_int(function, kind, 0);
    qn__ir_store(&l->b, qn__ir_ptr_add(&l->b, pointer, offset), zero, (uint32_t)step, 0);
    ir_value *next = qn__ir_op2(&l->b, IR_ADD, offset, qn__ir_const_int(function, IR_I64, (int64_t)step));
    qn__ir_continue(&l->b, loop, &next, 1);
    qn__ir_at_end(&l->b, after);
    zero_bytes(l, pointer, whole, size, align);
}

static void zero(lower *l, ir_value *pointer, const ast_type *type, uint32_t align) {
    if (count_parts(type, MAX_ZERO_STORES) <= MAX_ZERO_STORES)
        zero_parts(l, pointer, type, 0, align);
    else
        zero_loop(l, pointer, type->size, align);
}

/* ---- images ---- */

static void put_bits(uint8_t *to, uint64_t bits, unsigned size) {
    for (unsigned i = 0; i < size; i++) to[i] = (uint8_t)(bits >> 8 * i);
}

/* Writes a number's bytes; false where the item is not a constant number. */
static bool put_number(uint8_t *to, const ast_expr *e) {
    if (!qn__type_is_scalar(e->type)) return false;
    if (e->expr_kind == EXPR_INT) {
        put_bits(to, e->int_value, (unsigned)e->type->size);
        return true;
    }
    if (e->expr_kind != EXPR_FLOAT) return false;
    put_bits(to, qn__float_from_double(qn__type_format(e->type), e->float_value), (unsigned)e->type->size);
    return true;
}

static bool copy_image(lower *l, ir_value *pointer, const ast_type *type, uint32_t align,
                       const ast_init *init) {
    if (init->items.len < MIN_IMAGE_ITEMS) return false;
    for (size_t i = 0; i < init->items.len; i++) {
        const ast_init_item *item = &init->items.data[i];
        bool is_number = item->value->expr_kind == EXPR_INT || item->value->expr_kind == EXPR_FLOAT;
        if (!is_number || item->bit_field || item->offset + item->value->type->size > type->size)
            return false;
    }
    uint8_t *data = qn__arena_alloc(l->arena, (size_t)type->size);
    for (size_t i = 0; i < init->items.len; i++)
        if (!put_number(data + init->items.data[i].offset, init->items.data[i].value)) return false;
    uint32_t index = qn__lower_table(l, ".init", data, type->size, align);
    ir_type constant = qn__ir_pointer(IR_CONSTANT_SPACE);
    ir_instr *table = qn__ir_emit(&l->b, IR_GLOBAL, NULL, 0, &constant, 1);
    table->attr.index = index;
    qn__ir_copy(&l->b, pointer, table->results[0], type->size, align);
    return true;
}

/* ---- items ---- */

static void init_string(lower *l, ir_value *pointer, const ast_init_item *item) {
    qn__str text = item->value->string;
    uint64_t size = item->type->size, given = text.len < size ? text.len : size;
    for (uint64_t i = 0; i < given; i++) {
        ir_value *at = qn__ir_ptr_offset(&l->b, pointer, (int64_t)i);
        qn__ir_store(&l->b, at, qn__ir_const_int(l->b.function, IR_I8, (uint8_t)text.data[i]), 1, 0);
    }
    ir_value *rest = qn__ir_ptr_offset(&l->b, pointer, (int64_t)given);
    zero_loop(l, rest, size - given, 1);
}

static void init_item(lower *l, ir_value *pointer, uint32_t align, const ast_init_item *item) {
    ast_expr *e = item->value;
    if (qn__type_is_record(item->type)) {
        qn__lower_at(l, e->loc);
        ir_value *to = qn__ir_ptr_offset(&l->b, pointer, (int64_t)item->offset);
        qn__lower_record_copy(l, to, align_at(align, item->offset), e);
        return;
    }
    bool is_string = item->type->kind == AST_ARRAY && e->expr_kind == EXPR_STRING;
    ir_value *v = is_string ? NULL : qn__lower_value(l, e);
    qn__lower_at(l, e->loc);
    ir_value *to = qn__ir_ptr_offset(&l->b, pointer, (int64_t)item->offset);
    if (is_string) {
        init_string(l, to, item);
        return;
    }
    lower_place place = {.pointer = to,
                         .type = item->type,
                         .align = align_at(align, item->offset),
                         .bit_field = item->bit_field};
    qn__lower_store(l, &place, v);
}

void qn__lower_init(lower *l, ir_value *pointer, const ast_type *type, uint32_t align, const ast_init *init) {
    if (align < type->align) align = type->align;
    if (copy_image(l, pointer, type, align, init)) return;
    if (init->zero_first) zero(l, pointer, type, align);
    for (size_t i = 0; i < init->items.len; i++) init_item(l, pointer, align, &init->items.data[i]);
}
