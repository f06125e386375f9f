/* Places: where an lvalue lies, and loads and stores of whole objects, bit-fields and swizzles. A swizzle in
   shared memory is read and written component by component, so that its neighbours are not touched. */
#include <string.h>

#include "front/lower/internal.h"

/* ---- pointers ---- */

/* The parameter that a pointer value is computed from, or NULL. */
static const ast_decl *pointer_root(const ast_expr *e) {
    for (unsigned steps = 0; steps < 64; steps++) {
        switch (e->expr_kind) {
        case EXPR_LOAD:
            if (e->a->expr_kind != EXPR_VARIABLE) return NULL;
            return e->a->decl->decl_kind == DECL_PARAMETER ? e->a->decl : NULL;
        case EXPR_CONVERT:
            if (e->convert != CONVERT_POINTER) return NULL;
            e = e->a;
            break;
        case EXPR_BINARY:
            if (e->a->type->kind != AST_POINTER) return NULL;
            e = e->a;
            break;
        case EXPR_ADDRESS:
        case EXPR_DECAY:
            for (e = e->a; e->expr_kind == EXPR_MEMBER; e = e->a) {
            }
            if (e->expr_kind != EXPR_INDEX && e->expr_kind != EXPR_DEREF) return NULL;
            e = e->a;
            break;
        default: return NULL;
        }
    }
    return NULL;
}

uint16_t qn__lower_pointer_flags(const lower *l, const ast_expr *e) {
    const ast_type *pointee = e->type->base;
    if (pointee->quals & AST_VOLATILE) return IR_VOLATILE;
    if (pointee->space == IR_CONSTANT_SPACE) return IR_READONLY;
    if (pointee->space != IR_GLOBAL_SPACE || !l->as_kernel) return 0;
    const ast_decl *root = pointer_root(e);
    if (!root || root->is_assigned || root->is_address_taken) return 0;
    const ast_type *type = root->type;
    bool is_readonly = (type->quals & AST_RESTRICT) && (type->base->quals & AST_CONST) &&
                       !(type->base->quals & AST_VOLATILE);
    return is_readonly ? IR_READONLY : 0;
}

/* ---- places ---- */

static uint16_t type_flags(const ast_type *type) {
    if (type->quals & AST_VOLATILE) return IR_VOLATILE;
    return type->space == IR_CONSTANT_SPACE ? IR_READONLY : 0;
}

static ir_value *object_address(lower *l, ir_op op, ir_space space, uint32_t index) {
    ir_type type = qn__ir_pointer(space);
    ir_instr *instr = qn__ir_emit(&l->b, op, NULL, 0, &type, 1);
    instr->attr.index = index;
    return instr->results[0];
}

static lower_place place_of_pointer(ir_value *pointer, const ast_type *type, uint32_t align, uint16_t flags) {
    return (lower_place){.pointer = pointer, .type = type, .align = align ? align : 1, .flags = flags};
}

static lower_place variable_place(lower *l, const ast_expr *e) {
    ast_decl *decl = qn__decl_definition(e->decl);
    const ast_type *type = decl->type;
    uint32_t align = decl->align > type->align ? decl->align : type->align;
    if (decl->decl_kind == DECL_PARAMETER) {
        if (!decl->is_lowered && !qn__type_is_record(type))
            return (lower_place){.value = decl->address, .type = type, .align = 1};
        return place_of_pointer(decl->address, type, type->align, type_flags(type));
    }
    if (decl->is_state) {
        ir_value *offset = qn__ir_const_int(l->b.function, IR_I64, (int64_t)decl->state_offset);
        return place_of_pointer(qn__ir_ptr_add(&l->b, l->state, offset), type, align, type_flags(type));
    }
    if (type->space == IR_CONSTANT_SPACE || decl->is_static_local) {
        uint32_t index = qn__lower_global(l, decl);
        return place_of_pointer(object_address(l, IR_GLOBAL, IR_CONSTANT_SPACE, index), type, align,
                                IR_READONLY);
    }
    if (type->space == IR_LOCAL_SPACE) {
        ir_value *pointer = object_address(l, IR_LOCAL, IR_LOCAL_SPACE, decl->global_index);
        return place_of_pointer(pointer, type, align, type_flags(type));
    }
    if (!decl->address || decl->address->def->parent->function != l->b.function)
        decl->address = qn__lower_temporary(l, type, decl->name, decl->align);
    return place_of_pointer(decl->address, type, align, type_flags(type));
}

/* a[b] of an array object needs no pointer in between: that of an argument's struct would have another
   space. */
static lower_place index_place(lower *l, ast_expr *e) {
    const ast_type *element = e->type;
    bool is_signed = qn__type_is_signed(e->b->type);
    if (e->a->expr_kind == EXPR_DECAY) {
        lower_place array = qn__lower_place(l, e->a->a);
        ir_value *index = qn__lower_value(l, e->b);
        qn__lower_at(l, e->loc);
        array.pointer = qn__lower_pointer_add(l, array.pointer, element, index, is_signed, false);
        array.type = element;
        if (array.align > element->align) array.align = element->align;
        return array;
    }
    uint16_t flags = qn__lower_pointer_flags(l, e->a);
    ir_value *base = qn__lower_value(l, e->a);
    ir_value *index = qn__lower_value(l, e->b);
    qn__lower_at(l, e->loc);
    ir_value *pointer = qn__lower_pointer_add(l, base, element, index, is_signed, false);
    return place_of_pointer(pointer, element, element->align, flags);
}

/* Largest power of two that divides the offset, but at most `align`. */
static uint32_t align_at(uint32_t align, uint64_t offset) {
    while (align > 1 && offset % align) align /= 2;
    return align;
}

static lower_place member_place(lower *l, ast_expr *e) {
    lower_place place = e->a->is_lvalue ? qn__lower_place(l, e->a) : qn__lower_record(l, e->a);
    qn__lower_at(l, e->loc);
    place.pointer = qn__ir_ptr_offset(&l->b, place.pointer, (int64_t)e->field->offset);
    place.align = align_at(place.align, e->field->offset);
    place.type = e->type;
    if (e->field->is_bit_field) place.bit_field = e->field;
    if (e->type->quals & AST_VOLATILE) place.flags = IR_VOLATILE;
    return place;
}

static lower_place swizzle_place(lower *l, ast_expr *e) {
    lower_place place = qn__lower_place(l, e->a);
    uint8_t lanes[16];
    for (unsigned i = 0; i < e->num_lanes; i++)
        lanes[i] = place.num_lanes ? place.lanes[e->lanes[i] & 15] : e->lanes[i];
    place.num_lanes = e->num_lanes;
    memcpy(place.lanes, lanes, e->num_lanes);
    return place;
}

lower_place qn__lower_place(lower *l, ast_expr *e) {
    switch (e->expr_kind) {
    case EXPR_VARIABLE: qn__lower_at(l, e->loc); return variable_place(l, e);
    case EXPR_DEREF: {
        if (e->a->expr_kind == EXPR_DECAY) { /* *array is array[0] */
            lower_place place = qn__lower_place(l, e->a->a);
            place.type = e->type;
            return place;
        }
        uint16_t flags = qn__lower_pointer_flags(l, e->a);
        return place_of_pointer(qn__lower_value(l, e->a), e->type, e->type->align, flags);
    }
    case EXPR_INDEX: return index_place(l, e);
    case EXPR_MEMBER: return member_place(l, e);
    case EXPR_SWIZZLE: return swizzle_place(l, e);
    case EXPR_STRING: {
        qn__lower_at(l, e->loc);
        uint32_t index = qn__lower_string(l, e->string, false);
        return place_of_pointer(object_address(l, IR_GLOBAL, IR_CONSTANT_SPACE, index), e->type, 1,
                                IR_READONLY);
    }
    case EXPR_COMPOUND: {
        qn__lower_at(l, e->loc);
        ir_value *pointer = qn__lower_temporary(l, e->type, NULL, e->type->align);
        qn__lower_init(l, pointer, e->type, e->type->align, e->init);
        return place_of_pointer(pointer, e->type, e->type->align, 0);
    }
    default: return qn__lower_record(l, e);
    }
}

lower_place qn__lower_record(lower *l, ast_expr *e) {
    if (e->expr_kind == EXPR_LOAD) return qn__lower_place(l, e->a);
    if (e->is_lvalue) return qn__lower_place(l, e);
    return place_of_pointer(qn__lower_value(l, e), e->type, e->type->align, 0);
}

void qn__lower_record_copy(lower *l, ir_value *to, uint32_t align, ast_expr *from) {
    lower_place source = qn__lower_record(l, from);
    qn__lower_at(l, from->loc);
    if (source.pointer)
        qn__lower_object_copy(l, to, source.pointer, from->type, align < source.align ? align : source.align);
}

/* The parameter that an lvalue is a part of, without a pointer in between; or NULL. */
static ast_decl *param_root(const ast_expr *e) {
    for (;;) {
        if (e->expr_kind == EXPR_VARIABLE) return e->decl->decl_kind == DECL_PARAMETER ? e->decl : NULL;
        bool is_part = e->expr_kind == EXPR_MEMBER || e->expr_kind == EXPR_SWIZZLE;
        bool is_element = e->expr_kind == EXPR_INDEX || e->expr_kind == EXPR_DEREF;
        if (is_part)
            e = e->a;
        else if (is_element && e->a->expr_kind == EXPR_DECAY)
            e = e->a->a;
        else
            return NULL;
    }
}

ir_value *qn__lower_address(lower *l, ast_expr *lvalue, ir_type pointer) {
    ast_decl *root = param_root(lvalue);
    if (root && !root->is_lowered) qn__lower_param_to_memory(l, root);
    lower_place place = qn__lower_place(l, lvalue);
    qn__lower_at(l, lvalue->loc);
    if (place.num_lanes) {
        int64_t size = (int64_t)qn__type_element(place.type)->size;
        place.pointer = qn__ir_ptr_offset(&l->b, place.pointer, place.lanes[0] * size);
    }
    if (qn__ir_same(place.pointer->type, pointer)) return place.pointer;
    ir_value *address = qn__ir_convert(&l->b, IR_PTR2INT, place.pointer, qn__ir_type(IR_I64, 1));
    return qn__ir_convert(&l->b, IR_INT2PTR, address, pointer);
}

/* ---- loads ---- */

static ir_value *from_memory(lower *l, ir_value *v, const ast_type *type) {
    if (type->kind != AST_BOOL) return v;
    return qn__ir_convert(&l->b, IR_TRUNC, v, qn__ir_type(IR_BOOL, 1));
}

static ir_value *to_memory(lower *l, ir_value *v) {
    if (v->type.kind != IR_BOOL) return v;
    return qn__ir_convert(&l->b, IR_ZEXT, v, qn__ir_type(IR_I8, v->type.lanes));
}

static ir_value *shift(lower *l, ir_op op, ir_value *v, unsigned amount) {
    if (!amount) return v;
    return qn__ir_op2(&l->b, op, v, qn__ir_const_splat(l->b.function, v->type, amount));
}

static ir_value *load_bits(lower *l, const lower_place *place) {
    const ast_field *field = place->bit_field;
    ir_type type = qn__lower_memory_type(field->type);
    ir_value *unit = qn__ir_load(&l->b, place->pointer, type, place->align, place->flags);
    unsigned width = qn__ir_bits(type), top = width - field->bit_offset - field->bit_width;
    bool is_signed = qn__type_is_signed(field->type);
    unit = shift(l, IR_SHL, unit, top);
    unit = shift(l, is_signed ? IR_ASHR : IR_LSHR, unit, width - field->bit_width);
    return from_memory(l, unit, field->type);
}

static ir_value *swizzled(lower *l, ir_value *vector, const lower_place *place) {
    if (place->num_lanes == 1) return qn__ir_extract(&l->b, vector, place->lanes[0]);
    return qn__ir_shuffle(&l->b, vector, vector, place->lanes, place->num_lanes);
}

static uint32_t lane_align(const lower_place *place, uint64_t offset) {
    return align_at(place->align, offset);
}

static ir_value *load_swizzle(lower *l, const lower_place *place) {
    ir_type type = qn__lower_memory_type(place->type);
    bool is_private = place->pointer->type.space == IR_PRIVATE;
    if (is_private || place->num_lanes > 1) {
        ir_value *vector = qn__ir_load(&l->b, place->pointer, type, place->align, place->flags);
        return swizzled(l, vector, place);
    }
    ir_type element = qn__ir_element(type);
    uint64_t offset = (uint64_t)place->lanes[0] * qn__ir_memory_size(element);
    ir_value *pointer = qn__ir_ptr_offset(&l->b, place->pointer, (int64_t)offset);
    return qn__ir_load(&l->b, pointer, element, lane_align(place, offset), place->flags);
}

ir_value *qn__lower_load(lower *l, const lower_place *place) {
    if (!place->pointer) return place->num_lanes ? swizzled(l, place->value, place) : place->value;
    if (place->bit_field) return load_bits(l, place);
    if (place->num_lanes) return load_swizzle(l, place);
    ir_type type = qn__lower_memory_type(place->type);
    ir_value *v = qn__ir_load(&l->b, place->pointer, type, place->align, place->flags);
    return from_memory(l, v, place->type);
}

/* ---- stores ---- */

static void store_bits(lower *l, const lower_place *place, ir_value *value) {
    const ast_field *field = place->bit_field;
    uint16_t flags = place->flags & IR_VOLATILE;
    ir_type type = qn__lower_memory_type(field->type);
    value = to_memory(l, value);
    if (field->bit_width < qn__ir_bits(type)) {
        uint64_t ones = ~UINT64_C(0) >> (64 - field->bit_width);
        uint64_t mask = ones << field->bit_offset;
        ir_value *unit = qn__ir_load(&l->b, place->pointer, type, place->align, flags);
        unit = qn__ir_op2(&l->b, IR_AND, unit, qn__ir_const_splat(l->b.function, type, ~mask));
        value = qn__ir_op2(&l->b, IR_AND, value, qn__ir_const_splat(l->b.function, type, ones));
        value = qn__ir_op2(&l->b, IR_OR, unit, shift(l, IR_SHL, value, field->bit_offset));
    }
    qn__ir_store(&l->b, place->pointer, value, place->align, flags);
}

/* Private vectors are loaded, changed and stored whole, which mem2reg turns into lane inserts. */
static void store_swizzle(lower *l, const lower_place *place, ir_value *value) {
    ir_type type = qn__lower_memory_type(place->type);
    uint16_t flags = place->flags & IR_VOLATILE;
    bool is_private = place->pointer->type.space == IR_PRIVATE;
    ir_value *vector = NULL;
    if (is_private) vector = qn__ir_load(&l->b, place->pointer, type, place->align, flags);
    for (unsigned i = 0; i < place->num_lanes; i++) {
        ir_value *lane = qn__ir_extract(&l->b, value, i);
        if (is_private) {
            vector = qn__ir_insert(&l->b, vector, lane, place->lanes[i]);
            continue;
        }
        uint64_t offset = (uint64_t)place->lanes[i] * qn__ir_memory_size(qn__ir_element(type));
        ir_value *pointer = qn__ir_ptr_offset(&l->b, place->pointer, (int64_t)offset);
        qn__ir_store(&l->b, pointer, lane, lane_align(place, offset), flags);
    }
    if (is_private) qn__ir_store(&l->b, place->pointer, vector, place->align, flags);
}

void qn__lower_store(lower *l, const lower_place *place, ir_value *value) {
    if (!place->pointer) return;
    if (place->bit_field)
        store_bits(l, place, value);
    else if (place->num_lanes)
        store_swizzle(l, place, value);
    else
        qn__ir_store(&l->b, place->pointer, to_memory(l, value), place->align, place->flags & IR_VOLATILE);
}
