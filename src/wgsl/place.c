/* References: where a variable, or a part of one, lies; loads and stores; indices, which are clamped (WGSL section 14.6, as
   one of the ways that it allows) unless the program is compiled unchecked. Lanes of a vector in a variable of the work-item's
   own are taken from the whole, so that the vector becomes a value; in memory that others see they are written alone. */
#include <string.h>

#include "wgsl/internal.h"

enum { MOST_LOADED = 32, MOST_ZEROED = 64 };

/* ---- words and bytes ---- */

static ir_value *wide(wgsl_lower *w, uint64_t value) {
    return qn__ir_const_int(w->b.function, IR_I64, (int64_t)value);
}

static bool is_private(const wgsl_place *place) {
    return place->space == WGSL_FUNCTION || place->space == WGSL_PRIVATE;
}

static const wgsl_type *stored_type(const wgsl_value *v) {
    return v->type->kind == WGSL_ATOMIC ? v->type->element : v->type;
}

static wgsl_value from_memory(wgsl_lower *w, const wgsl_type *type, ir_value *loaded) {
    if (qn__wf_scalar_of(type)->kind == WGSL_BOOL)
        loaded = qn__ir_op2(&w->b, IR_NE, loaded, qn__ir_const_splat(w->b.function, loaded->type, 0));
    return qn__wf_of_ir(type, loaded);
}

static ir_value *for_memory(wgsl_lower *w, const wgsl_value *v) {
    ir_value *value = qn__wf_ir(w, v);
    if (value->type.kind != IR_BOOL) return value;
    return qn__ir_convert(&w->b, IR_ZEXT, value, qn__wf_memory_type(v->type));
}

/* ---- parts ---- */

wgsl_value qn__wf_place_part(wgsl_lower *w, const wgsl_value *place, uint64_t index) {
    wgsl_value part = *place;
    part.type = qn__wf_part_type(place->type, index);
    part.place.pointer =
        qn__ir_ptr_offset(&w->b, place->place.pointer, (int64_t)qn__wf_part_offset(place->type, index));
    return part;
}

static ir_value *lane_address(wgsl_lower *w, const wgsl_place *place, uint64_t size) {
    if (!place->lane_index) return qn__ir_ptr_offset(&w->b, place->pointer, (int64_t)(place->lane * size));
    ir_value *index = qn__ir_convert(&w->b, IR_ZEXT, place->lane_index, qn__ir_type(IR_I64, 1));
    return qn__ir_ptr_add(&w->b, place->pointer, qn__ir_op2(&w->b, IR_MUL, index, wide(w, size)));
}

static wgsl_value load_lane(wgsl_lower *w, const wgsl_value *v) {
    const wgsl_place *place = &v->place;
    wgsl_value whole = *v;
    whole.type = place->whole;
    whole.place.is_lane = false;
    if (!is_private(place)) {
        whole.place.pointer = lane_address(w, place, v->type->size);
        whole.type = v->type;
        return qn__wf_load(w, whole);
    }
    whole = qn__wf_load(w, whole);
    if (!place->lane_index) return qn__wf_lane(w, &whole, place->lane);
    ir_value *operands[] = {qn__wf_ir(w, &whole), place->lane_index};
    const ir_type type = qn__wf_ir_type(v->type);
    return qn__wf_of_ir(v->type, qn__ir_emit(&w->b, IR_EXTRACT_DYNAMIC, operands, 2, &type, 1)->results[0]);
}

/* An array or struct: its parts where they are few, else a copy. */
static wgsl_value load_parts(wgsl_lower *w, const wgsl_value *v) {
    if (v->type->kind != WGSL_MATRIX && qn__wf_count_parts(v->type, MOST_LOADED) > MOST_LOADED) {
        wgsl_value copy = qn__wf_variable_place(w, v->type, NULL, WGSL_FUNCTION);
        qn__ir_copy(&w->b, copy.place.pointer, v->place.pointer, v->type->size, v->type->align);
        copy.form = WGSL_FORM_COPY;
        copy.stage = WGSL_STAGE_RUN;
        return copy;
    }
    const uint64_t count = qn__wf_num_parts(v->type);
    wgsl_value parts[MOST_LOADED];
    for (uint64_t i = 0; i < count; i++) parts[i] = qn__wf_load(w, qn__wf_place_part(w, v, i));
    return qn__wf_of_parts(w, v->type, parts, count);
}

/* A place in a uniform variable that no index tells is read when the kernel begins, as an argument by value would be: what is there
   never changes, and the buffer has it. */
static bool is_argument(const wgsl_lower *w, const wgsl_place *place, int64_t *offset) {
    const ir_value *at = place->pointer;
    *offset = 0;
    for (; at->value_kind == IR_VALUE_RESULT; at = at->def->operands[0]) {
        if (at->def->op != IR_PTR_ADD || !qn__ir_is_const(at->def->operands[1])) return false;
        *offset += (int64_t)at->def->operands[1]->bits[0] + at->def->attr.offset;
    }
    return place->space == WGSL_UNIFORM && place->binding && place->binding->pointer == at &&
           place->binding->function == w->b.function;
}

static ir_value *load_from(wgsl_lower *w, const wgsl_value *v) {
    const ir_type type = qn__wf_memory_type(v->type);
    int64_t offset;
    if (!is_argument(w, &v->place, &offset))
        return qn__ir_load(&w->b, v->place.pointer, type, v->type->align, v->place.flags);
    const ir_builder outer = qn__wf_begin(w);
    ir_value *at = qn__ir_ptr_offset(&w->b, v->place.binding->pointer, offset);
    ir_value *loaded = qn__ir_load(&w->b, at, type, v->type->align, v->place.flags);
    w->b = outer;
    return loaded;
}

wgsl_value qn__wf_load(wgsl_lower *w, wgsl_value v) {
    if (v.form == WGSL_FORM_COPY && (qn__wf_is_value(v.type) || v.type->kind == WGSL_MATRIX))
        v.form = WGSL_FORM_PLACE;
    if (v.form != WGSL_FORM_PLACE) return v;
    qn__wf_note_use(w, &v.place, false);
    if (v.place.is_lane) return load_lane(w, &v);
    if (!qn__wf_is_value(v.type)) return load_parts(w, &v);
    return from_memory(w, v.type, load_from(w, &v));
}

/* ---- stores ---- */

static void store_lane(wgsl_lower *w, const wgsl_value *place, const wgsl_value *v) {
    wgsl_value whole = *place;
    whole.place.is_lane = false;
    if (!is_private(&place->place)) {
        whole.place.pointer = lane_address(w, &place->place, place->type->size);
        qn__wf_store(w, &whole, v);
        return;
    }
    whole.type = place->place.whole;
    const wgsl_value old = qn__wf_load(w, whole);
    const unsigned lanes = whole.type->lanes;
    wgsl_value made[4];
    for (unsigned i = 0; i < lanes; i++) {
        const wgsl_value before = qn__wf_lane(w, &old, i);
        if (!place->place.lane_index) {
            made[i] = i == place->place.lane ? *v : before;
            continue;
        }
        ir_value *number = qn__ir_const_int(w->b.function, IR_I32, i);
        ir_value *is_this = qn__ir_op2(&w->b, IR_EQ, place->place.lane_index, number);
        made[i] =
            qn__wf_of_ir(v->type, qn__ir_select(&w->b, is_this, qn__wf_ir(w, v), qn__wf_ir(w, &before)));
    }
    const wgsl_value vector = qn__wf_gather(w, whole.type, made);
    qn__wf_store(w, &whole, &vector);
}

/* Many zeros: by a loop over words, or halves of them. */
static void zero_loop(wgsl_lower *w, ir_value *pointer, const wgsl_type *type) {
    const unsigned unit = type->size % 4 || type->align < 4 ? 2 : 4;
    const ir_type word = qn__ir_type(unit == 4 ? IR_I32 : IR_I16, 1);
    ir_value *begin = wide(w, 0);
    ir_instr *loop = qn__ir_loop(&w->b, &begin, 1, NULL, 0);
    const ir_builder outer = w->b;
    qn__ir_at_end(&w->b, loop->regions[0]);
    ir_value *at = loop->regions[0]->params[0];
    ir_instr *more = qn__ir_if(&w->b, qn__ir_op2(&w->b, IR_ULT, at, wide(w, type->size)), NULL, 0);
    qn__ir_at_end(&w->b, more->regions[0]);
    qn__ir_store(&w->b, qn__ir_ptr_add(&w->b, pointer, at), qn__ir_const_splat(w->b.function, word, 0), unit,
                 0);
    ir_value *next = qn__ir_op2(&w->b, IR_ADD, at, wide(w, unit));
    qn__ir_continue(&w->b, loop, &next, 1);
    qn__ir_at_end(&w->b, more->regions[1]);
    qn__ir_break(&w->b, loop, NULL, 0);
    qn__ir_at_end(&w->b, loop->regions[0]);
    qn__ir_emit(&w->b, IR_UNREACHABLE, NULL, 0, NULL, 0);
    w->b = outer;
}

void qn__wf_store(wgsl_lower *w, const wgsl_value *place, const wgsl_value *v) {
    if (v->form == WGSL_FORM_ERROR || place->form != WGSL_FORM_PLACE) return;
    qn__wf_note_use(w, &place->place, true);
    if (place->place.is_lane) {
        store_lane(w, place, v);
        return;
    }
    const wgsl_type *type = stored_type(place);
    if (qn__wf_is_value(type)) {
        qn__ir_store(&w->b, place->place.pointer, for_memory(w, v), type->align, 0);
        return;
    }
    if (v->form == WGSL_FORM_COPY) {
        qn__ir_copy(&w->b, place->place.pointer, v->place.pointer, type->size, type->align);
        return;
    }
    if (v->form == WGSL_FORM_ZERO && qn__wf_count_parts(type, MOST_ZEROED) > MOST_ZEROED) {
        zero_loop(w, place->place.pointer, type);
        return;
    }
    for (uint64_t i = 0; i < qn__wf_num_parts(type); i++) {
        const wgsl_value to = qn__wf_place_part(w, place, i), part = qn__wf_part(w, v, i);
        qn__wf_store(w, &to, &part);
    }
}

/* ---- variables ---- */

static ir_debug_type debug_type(const wgsl_type *type) {
    ir_debug_type debug = {.type = {IR_VOID, 1, 0}};
    unsigned dims = 0;
    for (; type->kind == WGSL_ARRAY && dims < QN__COUNT(debug.lengths); type = type->element)
        debug.lengths[dims++] = (uint32_t)type->length;
    if (!qn__wf_is_value(type)) return (ir_debug_type){.type = {IR_VOID, 1, 0}};
    debug.type = qn__wf_memory_type(type);
    debug.is_signed = qn__wf_scalar_of(type)->kind == WGSL_I32;
    return debug;
}

wgsl_value qn__wf_variable_place(wgsl_lower *w, const wgsl_type *type, const char *name, wgsl_space space) {
    const uint64_t size = type->size ? type->size : 4;
    const ir_var var = {.name = name, .size = size, .align = type->align, .debug = debug_type(type)};
    wgsl_value v = {.form = WGSL_FORM_PLACE, .stage = WGSL_STAGE_RUN, .type = type};
    v.place = (wgsl_place){
        .pointer = qn__ir_variable(&w->b, var), .space = (uint8_t)space, .access = WGSL_READ_WRITE};
    v.place.root = v.place.pointer;
    return v;
}

/* ---- constants in memory ---- */

void qn__wf_put_bytes(const wgsl_value *v, uint8_t *bytes, wgsl_lower *w) {
    if (v->form == WGSL_FORM_ZERO) return;
    if (v->form == WGSL_FORM_VALUE) {
        const unsigned size = (unsigned)qn__wf_scalar_of(v->type)->size;
        for (unsigned i = 0; i < qn__wf_lanes(v->type); i++)
            for (unsigned k = 0; k < size; k++) bytes[i * size + k] = (uint8_t)(v->bits[i] >> (8 * k));
        return;
    }
    for (uint64_t i = 0; i < qn__wf_num_parts(v->type); i++) {
        const wgsl_value part = qn__wf_part(w, v, i);
        qn__wf_put_bytes(&part, bytes + qn__wf_part_offset(v->type, i), w);
    }
}

static ir_type table_element(const wgsl_type *type) {
    while (type->kind == WGSL_ARRAY || type->kind == WGSL_MATRIX) type = type->element;
    return qn__wf_is_value(type) && type->lanes != 3 ? qn__wf_memory_type(type) : qn__ir_type(IR_VOID, 1);
}

/* All of it is known: a table of the module's. */
static wgsl_value to_table(wgsl_lower *w, const wgsl_value *v) {
    const wgsl_type *type = v->type;
    uint8_t *bytes = qn__arena_alloc(w->arena, (size_t)type->size);
    qn__wf_put_bytes(v, bytes, w);
    const char *name = qn__arena_printf(w->arena, "table.%u", (unsigned)w->num_tables++);
    const uint32_t index = qn__ir_global_add(w->module, (ir_global){.name = name,
                                                                    .data = bytes,
                                                                    .size = type->size,
                                                                    .align = type->align,
                                                                    .element = table_element(type)});
    const ir_type pointer = qn__ir_pointer(IR_CONSTANT_SPACE);
    ir_instr *global = qn__ir_emit(&w->b, IR_GLOBAL, NULL, 0, &pointer, 1);
    global->attr.index = index;
    wgsl_value place = {.form = WGSL_FORM_COPY, .stage = WGSL_STAGE_RUN, .type = type};
    place.place = (wgsl_place){
        .pointer = global->results[0], .space = WGSL_TABLE, .access = WGSL_READ, .flags = IR_READONLY};
    return place;
}

wgsl_value qn__wf_to_memory(wgsl_lower *w, const wgsl_value *v, const char *name) {
    if (v->form == WGSL_FORM_PLACE || v->form == WGSL_FORM_COPY) return *v;
    const wgsl_value concrete = qn__wf_concrete(w, *v, FRONT_NO_LOC);
    if (concrete.form == WGSL_FORM_ERROR) return concrete;
    if (concrete.stage != WGSL_STAGE_RUN) return to_table(w, &concrete);
    wgsl_value place = qn__wf_variable_place(w, concrete.type, name, WGSL_FUNCTION);
    qn__wf_store(w, &place, &concrete);
    place.form = WGSL_FORM_COPY;
    return place;
}

/* ---- members and swizzles ---- */

/* The lanes that a swizzle names; 0: it is none. */
static unsigned read_swizzle(qn__str name, unsigned lanes, uint8_t picked[4], bool *too_far) {
    static const char *const sets[] = {"xyzw", "rgba"};
    if (!name.len || name.len > 4) return 0;
    for (unsigned s = 0; s < QN__COUNT(sets); s++) {
        unsigned count = 0;
        for (; count < name.len; count++) {
            const char *at = memchr(sets[s], name.data[count], 4);
            if (!at) break;
            picked[count] = (uint8_t)(at - sets[s]);
        }
        if (count < name.len) continue;
        for (unsigned i = 0; i < count; i++) *too_far |= picked[i] >= lanes;
        return count;
    }
    return 0;
}

static wgsl_value swizzle(wgsl_lower *w, wgsl_value base, const wgsl_expr *e) {
    uint8_t picked[4];
    bool too_far = false;
    const unsigned count = read_swizzle(e->name, base.type->lanes, picked, &too_far);
    if (!count || too_far)
        return qn__wf_error(w, e->loc, "'%s' has no '%.*s'", qn__wf_type_name(w, base.type),
                            QN__STR_PRINTF(e->name));
    if (base.form == WGSL_FORM_PLACE && count == 1) {
        base.place.is_lane = true;
        base.place.whole = base.type;
        base.place.lane = picked[0];
        base.place.lane_index = NULL;
        base.type = base.type->element;
        return base;
    }
    base = qn__wf_load(w, base);
    return qn__wf_shuffle(w, &base, picked, count);
}

wgsl_value qn__wf_member(wgsl_lower *w, wgsl_value base, const wgsl_expr *e) {
    if (qn__wf_is_error(&base)) return base;
    if (base.type && base.type->kind == WGSL_VECTOR) return swizzle(w, base, e);
    if (!base.type || base.type->kind != WGSL_STRUCT)
        return qn__wf_error(w, e->loc, "'%s' has no member '%.*s'",
                            base.type ? qn__wf_type_name(w, base.type) : "this", QN__STR_PRINTF(e->name));
    for (uint32_t i = 0; i < base.type->num_members; i++) {
        if (!qn__str_equal(base.type->members[i].name, e->name)) continue;
        if (base.form == WGSL_FORM_PLACE || base.form == WGSL_FORM_COPY)
            return qn__wf_place_part(w, &base, i);
        return qn__wf_part(w, &base, i);
    }
    return qn__wf_error(w, e->loc, "struct '%s' has no member '%.*s'", qn__wf_type_name(w, base.type),
                        QN__STR_PRINTF(e->name));
}

/* ---- indices ---- */

static wgsl_value index_outside(wgsl_lower *w, const wgsl_value *base, int64_t index, front_loc loc) {
    return qn__wf_error(w, loc, "index %lld is out of bounds of '%s'", (long long)index,
                        qn__wf_type_name(w, base->type));
}

static int64_t known_index(const wgsl_value *index) {
    return index->type->kind == WGSL_I32 ? (int32_t)index->bits[0] : (int64_t)index->bits[0];
}

/* What a u32 is at most, by what it is made of: ids in the work-group, masks, remainders, and sums of these. */
static uint64_t most_of(const wgsl_lower *w, const ir_value *v, unsigned depth) {
    if (qn__ir_is_const(v)) return v->bits[0];
    const ir_instr *def = v->value_kind == IR_VALUE_RESULT ? v->def : NULL;
    if (!def || !depth || v->type.lanes > 1) return UINT32_MAX;
    const uint64_t a =
        def->num_operands && def->op != IR_TRUNC ? most_of(w, def->operands[0], depth - 1) : UINT32_MAX;
    const uint64_t b = def->num_operands > 1 ? most_of(w, def->operands[1], depth - 1) : UINT32_MAX;
    uint64_t most = UINT32_MAX;
    switch (def->op) {
    case IR_TRUNC: {
        const ir_instr *from = def->operands[0]->def;
        if (from && from->op == IR_LOCAL_ID) most = w->group_size[from->attr.dim] - 1u;
        break;
    }
    case IR_AND:
    case IR_UMIN: most = a < b ? a : b; break;
    case IR_UREM: most = qn__ir_is_const(def->operands[1]) && b ? b - 1 : UINT32_MAX; break;
    case IR_ADD: most = a + b; break;
    case IR_MUL: most = a * b; break;
    default: break;
    }
    return most < UINT32_MAX ? most : UINT32_MAX;
}

/* As u32, at most `last`. */
static ir_value *clamped(wgsl_lower *w, const wgsl_value *index, ir_value *last) {
    enum { DEPTH = 6 };
    ir_value *at = qn__wf_ir(w, index);
    const bool is_inside = qn__ir_is_const(last) && most_of(w, at, DEPTH) <= last->bits[0];
    if (w->unchecked || is_inside) return at;
    ir_value *nearest = qn__ir_op2(&w->b, IR_UMIN, at, last);
    if (w->config->target.wants_checks && nearest->def) nearest->def->flags |= IR_WRITTEN;
    return nearest;
}

static ir_value *word(wgsl_lower *w, uint64_t value) {
    return qn__ir_const_int(w->b.function, IR_I32, (int64_t)value);
}

static wgsl_value index_vector(wgsl_lower *w, wgsl_value base, const wgsl_value *index) {
    const wgsl_type *element = base.type->element;
    const bool is_place = base.form == WGSL_FORM_PLACE;
    if (index->bits && !is_place) return qn__wf_lane(w, &base, (unsigned)index->bits[0]);
    ir_value *lane = index->bits ? NULL : clamped(w, index, word(w, base.type->lanes - 1));
    if (!is_place) {
        base = qn__wf_concrete(w, base, FRONT_NO_LOC);
        if (qn__wf_is_error(&base)) return base;
        ir_value *operands[] = {qn__wf_ir(w, &base), lane};
        const ir_type type = qn__wf_ir_type(base.type->element);
        return qn__wf_of_ir(base.type->element,
                            qn__ir_emit(&w->b, IR_EXTRACT_DYNAMIC, operands, 2, &type, 1)->results[0]);
    }
    base.place.is_lane = true;
    base.place.whole = base.type;
    base.place.lane = index->bits ? (uint8_t)index->bits[0] : 0;
    base.place.lane_index = lane;
    base.type = element;
    return base;
}

/* A column of a matrix that is a value. */
static wgsl_value pick_column(wgsl_lower *w, wgsl_value base, const wgsl_value *index) {
    base = qn__wf_concrete(w, base, FRONT_NO_LOC);
    if (qn__wf_is_error(&base)) return base;
    wgsl_value picked = qn__wf_part(w, &base, base.type->columns - 1u);
    for (unsigned i = base.type->columns - 1u; i-- > 0;) {
        const wgsl_value column = qn__wf_part(w, &base, i);
        const wgsl_value is_this =
            qn__wf_of_ir(w->scalars[WGSL_BOOL], qn__ir_op2(&w->b, IR_EQ, qn__wf_ir(w, index), word(w, i)));
        picked = qn__wf_select(w, is_this, column, picked);
    }
    picked.stage = WGSL_STAGE_RUN;
    return picked;
}

static wgsl_value index_memory(wgsl_lower *w, wgsl_value base, const wgsl_value *index) {
    const uint64_t count = qn__wf_num_parts(base.type);
    wgsl_value part = base;
    part.type = base.type->element;
    ir_value *last = NULL;
    if (!count && !w->unchecked && base.place.binding) {
        qn__wf_runtime_length(w, base.place.binding);
        last = base.place.binding->last;
    } else {
        last = word(w, count - 1);
    }
    ir_value *at = clamped(w, index, last);
    if (qn__ir_is_const(at) && count) return qn__wf_place_part(w, &base, at->bits[0]);
    const bool is_signed = w->unchecked && index->type->kind != WGSL_U32;
    at = qn__ir_convert(&w->b, is_signed ? IR_SEXT : IR_ZEXT, at, qn__ir_type(IR_I64, 1));
    ir_value *bytes = qn__ir_op2(&w->b, IR_MUL, at, wide(w, base.type->stride));
    if (bytes->def) bytes->def->flags |= IR_NSW;
    part.place.pointer = qn__ir_ptr_add(&w->b, base.place.pointer, bytes);
    return part;
}

wgsl_value qn__wf_index(wgsl_lower *w, wgsl_value base, wgsl_value index, const wgsl_expr *e) {
    if (qn__wf_is_error(&base) || qn__wf_is_error(&index)) return (wgsl_value){.form = WGSL_FORM_ERROR};
    const unsigned kind = base.type ? base.type->kind : WGSL_VOID;
    if (kind != WGSL_VECTOR && kind != WGSL_MATRIX && kind != WGSL_ARRAY)
        return qn__wf_error(w, e->loc, "'%s' cannot be indexed",
                            base.type ? qn__wf_type_name(w, base.type) : "this");
    if (index.form != WGSL_FORM_VALUE || !qn__wf_is_int(index.type))
        return qn__wf_error(w, e->b->loc, "an index must be i32 or u32, not '%s'",
                            index.type ? qn__wf_type_name(w, index.type) : "nothing");
    const uint64_t count = kind == WGSL_VECTOR ? base.type->lanes : qn__wf_num_parts(base.type);
    if (index.bits && index.stage != WGSL_STAGE_RUN) {
        const int64_t at = known_index(&index);
        if (at < 0 || (count && (uint64_t)at >= count)) return index_outside(w, &base, at, e->b->loc);
    }
    index = qn__wf_concrete(w, index, e->b->loc);
    if (index.stage == WGSL_STAGE_RUN) index = qn__wf_at_run_time(w, index);
    if (qn__wf_is_error(&index)) return index;
    const uint8_t stage = index.stage > base.stage ? index.stage : base.stage;
    if (kind == WGSL_VECTOR && base.form == WGSL_FORM_COPY) base = qn__wf_load(w, base);
    if (kind == WGSL_VECTOR) {
        base = index_vector(w, base, &index);
    } else if (base.form == WGSL_FORM_PARTS || base.form == WGSL_FORM_ZERO) {
        if (index.bits)
            base = qn__wf_part(w, &base, index.bits[0]);
        else if (kind == WGSL_MATRIX)
            return pick_column(w, base, &index);
        else
            return index_memory(w, qn__wf_to_memory(w, &base, NULL), &index);
    } else {
        return index_memory(w, base, &index);
    }
    base.stage = stage;
    return base;
}
