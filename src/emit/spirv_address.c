/* Addresses for SPIR-V: pointers into buffers as chains of OpPtrAccessChain, whose 32-bit indices are taken as
   signed and multiplied by the pointer type's ArrayStride in 64 bits, and indices into the variables of private
   and local memory. */
#include "emit/spirv_internal.h"

/* ---- u32 arithmetic that folds ---- */

static unsigned log2_of(uint32_t value) {
    unsigned bits = 0;
    while (value >> bits > 1) bits++;
    return bits;
}

uint32_t qn__spv_add(spv *e, uint32_t a, uint32_t b) {
    uint32_t x, y;
    bool ca = qn__spv_u32_value(e, a, &x), cb = qn__spv_u32_value(e, b, &y);
    if (ca && cb) return qn__spv_u32(e, x + y);
    if (ca && !x) return b;
    if (cb && !y) return a;
    return SPV(e, SP_I_ADD, qn__spv_u32t(e), a, b);
}

uint32_t qn__spv_mul(spv *e, uint32_t a, uint32_t factor) {
    uint32_t x;
    if (factor == 1) return a;
    if (qn__spv_u32_value(e, a, &x) || !factor) return qn__spv_u32(e, factor ? x * factor : 0);
    if (!(factor & (factor - 1))) return qn__spv_shl(e, a, log2_of(factor));
    return SPV(e, SP_I_MUL, qn__spv_u32t(e), a, qn__spv_u32(e, factor));
}

uint32_t qn__spv_shl(spv *e, uint32_t a, unsigned bits) {
    uint32_t x;
    if (!bits) return a;
    if (qn__spv_u32_value(e, a, &x)) return qn__spv_u32(e, x << bits);
    return SPV(e, SP_SHIFT_LEFT, qn__spv_u32t(e), a, qn__spv_u32(e, bits));
}

uint32_t qn__spv_shr(spv *e, uint32_t a, unsigned bits) {
    uint32_t x;
    if (!bits) return a;
    if (qn__spv_u32_value(e, a, &x)) return qn__spv_u32(e, x >> bits);
    return SPV(e, SP_SHIFT_RIGHT_LOGICAL, qn__spv_u32t(e), a, qn__spv_u32(e, bits));
}

uint32_t qn__spv_and(spv *e, uint32_t a, uint32_t mask) {
    uint32_t x;
    if (mask == UINT32_MAX) return a;
    if (qn__spv_u32_value(e, a, &x)) return qn__spv_u32(e, x & mask);
    return SPV(e, SP_BITWISE_AND, qn__spv_u32t(e), a, qn__spv_u32(e, mask));
}

uint32_t qn__spv_or(spv *e, uint32_t a, uint32_t b) {
    uint32_t x, y;
    bool ca = qn__spv_u32_value(e, a, &x), cb = qn__spv_u32_value(e, b, &y);
    if (ca && cb) return qn__spv_u32(e, x | y);
    if (ca && !x) return b;
    if (cb && !y) return a;
    return SPV(e, SP_BITWISE_OR, qn__spv_u32t(e), a, b);
}

/* ---- pointers into buffers ---- */

/* Narrow types in buffers ask for arithmetic on them, too, where the device has it: spirv-val takes a cast to a
   pointer for a use of what it points to. */
static void need_storage(spv *e, ir_kind kind) {
    static const struct {
        uint8_t kind, storage, arithmetic;
        uint32_t lacks;
    } rows[] = {{IR_I8, CAP_STORAGE_8, CAP_INT8, QN__NO_I8},
                {IR_I16, CAP_STORAGE_16, CAP_INT16, QN__NO_I16},
                {IR_F16, CAP_STORAGE_16, CAP_FLOAT16, QN__NO_F16}};
    for (size_t i = 0; i < QN__COUNT(rows); i++) {
        if (rows[i].kind != kind) continue;
        qn__spv_need(e, (spv_cap)rows[i].storage);
        if (!(e->options->device_lacks & rows[i].lacks)) qn__spv_need(e, (spv_cap)rows[i].arithmetic);
    }
}

uint32_t qn__spv_pointer_type(spv *e, ir_type pointee) {
    need_storage(e, (ir_kind)pointee.kind);
    return qn__spv_strided(e, qn__spv_memory_type(e, pointee), qn__ir_memory_size(pointee));
}

static uint32_t cast(spv *e, uint32_t pointer, uint32_t type) {
    uint32_t id = qn__spv_chain(e, pointer, type);
    if (id) return id;
    id = SPV(e, SP_BITCAST, type, pointer);
    qn__spv_note(e, pointer, type, id);
    return id;
}

uint32_t qn__spv_retype(spv *e, uint32_t typed, ir_type from, ir_type to) {
    uint32_t type = qn__spv_pointer_type(e, to);
    return type == qn__spv_pointer_type(e, from) ? typed : cast(e, typed, type);
}

/* pointer + index * stride */
static uint32_t step(spv *e, uint32_t pointer, ir_type pointee, uint32_t index, uint32_t stride) {
    uint32_t plain = qn__spv_pointer_type(e, pointee), base = pointer;
    uint32_t type = qn__spv_strided(e, qn__spv_memory_type(e, pointee), stride);
    if (type != plain) base = cast(e, pointer, type);
    uint32_t id = qn__spv_chain(e, base, index);
    if (id) return id;
    id = SPV(e, SP_PTR_ACCESS_CHAIN, plain, base, index);
    qn__spv_note(e, base, index, id);
    return id;
}

uint32_t qn__spv_offset(spv *e, uint32_t typed, ir_type pointee, int64_t bytes) {
    const int64_t far = (int64_t)1 << 30;
    if (bytes >= far || bytes < -far) {
        int64_t count = bytes >> 30;
        typed = step(e, typed, pointee, qn__spv_u32(e, (uint32_t)count), (uint32_t)far);
        bytes -= count * far;
    }
    if (!bytes) return typed;
    int64_t stride = qn__ir_memory_size(pointee);
    if (bytes % stride) stride = bytes & -bytes;
    return step(e, typed, pointee, qn__spv_u32(e, (uint32_t)(bytes / stride)), (uint32_t)stride);
}

static uint32_t term_word(spv *e, const spv_term *term) {
    return term->value->type.kind == IR_I64 ? qn__spv_low(e, term->value) : qn__spv_use(e, term->value);
}

/* The 64-bit value of a term whose scale cannot be a stride. */
static uint32_t term_wide(spv *e, const spv_term *term) {
    switch (term->kind) {
    case TERM_SIGNED:
    case TERM_UNSIGNED: return qn__spv_widen(e, term_word(e, term), term->kind == TERM_SIGNED);
    case TERM_BASE: return e->query[term->value->def->attr.dim];
    case TERM_PLACE: return qn__spv_widen(e, e->place[term->value->def->attr.dim], false);
    default: return qn__spv_use(e, term->value);
    }
}

static uint32_t add_wide(spv *e, uint32_t pointer, ir_type pointee, const spv_term *term) {
    uint32_t key = 0;
    if (term->kind == TERM_BASE && term->scale > 0 && term->scale < 1 << 24)
        key = 0x80000000u | term->value->def->attr.dim << 24 | (uint32_t)term->scale;
    uint32_t id = key ? qn__spv_chain(e, pointer, key) : 0;
    if (id) return id;
    uint32_t wide = qn__spv_wide(e);
    uint32_t number = SPV(e, e->native ? SP_CONVERT_PTR_TO_U : SP_BITCAST, wide, pointer);
    number = qn__spv_wide_add(e, number, qn__spv_wide_scale(e, term_wide(e, term), term->scale));
    id = SPV(e, e->native ? SP_CONVERT_U_TO_PTR : SP_BITCAST, qn__spv_pointer_type(e, pointee), number);
    if (key) qn__spv_note(e, pointer, key, id);
    return id;
}

/* Terms with a stride; negative ones by -x = ~x + 1, unsigned ones with their range moved to the signed one. */
static uint32_t add_index(spv *e, uint32_t pointer, ir_type pointee, const spv_term *term,
                          int64_t *constant) {
    uint32_t word = qn__spv_u32t(e);
    uint32_t index = term->kind == TERM_PLACE ? e->place[term->value->def->attr.dim] : term_word(e, term);
    int64_t scale = term->scale;
    if (term->kind == TERM_UNSIGNED && e->native) {
        index = SPV(e, SP_U_CONVERT, qn__spv_wide(e), index);
    } else if (term->kind == TERM_UNSIGNED) {
        index = SPV(e, SP_BITWISE_XOR, word, index, qn__spv_u32(e, 0x80000000));
        *constant += scale * ((int64_t)1 << 31);
    } else if (scale < 0) {
        index = SPV(e, SP_NOT, word, index);
        scale = -scale;
        *constant += scale;
    }
    return step(e, pointer, pointee, index, (uint32_t)scale);
}

static bool is_wide_term(const spv_term *term) {
    if (term->kind == TERM_WIDE || term->kind == TERM_BASE) return true;
    bool one_way = term->kind == TERM_UNSIGNED || term->kind == TERM_PLACE;
    return term->scale >= (int64_t)1 << 31 || term->scale <= (one_way ? 0 : -((int64_t)1 << 31));
}

static void global_ptr_add(spv *e, const ir_instr *instr) {
    const ir_value *result = instr->results[0];
    spv_value *v = &e->values[result->id];
    if (!v->need && v->pointee.kind == IR_VOID) return;
    ir_type pointee = v->pointee;
    uint32_t pointer = qn__spv_typed(e, instr->operands[0], pointee);
    spv_linear sum = {.constant = instr->attr.offset};
    qn__spv_linear(instr->operands[1], 1, false, &sum);
    for (unsigned i = 0; i < sum.count; i++)
        if (is_wide_term(&sum.terms[i])) pointer = add_wide(e, pointer, pointee, &sum.terms[i]);
    for (unsigned i = 0; i < sum.count; i++)
        if (!is_wide_term(&sum.terms[i]))
            pointer = add_index(e, pointer, pointee, &sum.terms[i], &sum.constant);
    v->typed = qn__spv_offset(e, pointer, pointee, sum.constant);
    if (v->need & NEED_FULL)
        v->id = SPV(e, e->native ? SP_CONVERT_PTR_TO_U : SP_BITCAST, qn__spv_wide(e), v->typed);
}

/* ---- places ---- */

void qn__spv_ptr_add(spv *e, const ir_instr *instr) {
    const ir_value *result = instr->results[0];
    if (qn__spv_is_wide(result->type)) {
        global_ptr_add(e, instr);
        return;
    }
    const spv_class *class = qn__spv_class(e, result);
    int64_t unit = class ? class->step : 1;
    spv_linear sum = {.constant = instr->attr.offset};
    qn__spv_linear(instr->operands[1], 1, true, &sum);
    uint32_t index = qn__spv_use_as(e, instr->operands[0], result);
    for (unsigned i = 0; i < sum.count; i++) {
        uint32_t factor = (uint32_t)(sum.terms[i].scale / unit);
        index = qn__spv_add(e, index, qn__spv_mul(e, term_word(e, &sum.terms[i]), factor));
    }
    qn__spv_define(e, result, qn__spv_add(e, index, qn__spv_u32(e, (uint32_t)(sum.constant / unit))));
}

uint32_t qn__spv_address(spv *e, const ir_value *place) {
    if (qn__ir_is_const(place)) return qn__spv_u32(e, (uint32_t)place->bits[0]);
    const spv_class *class = qn__spv_class(e, place);
    uint32_t index = qn__spv_low(e, place);
    if (!class) return index;
    return qn__spv_add(e, qn__spv_mul(e, index, class->step), qn__spv_u32(e, (uint32_t) class->base));
}

uint32_t qn__spv_place(spv *e, const ir_value *like, uint32_t address) {
    const spv_class *class = qn__spv_class(e, like);
    if (!class) return address;
    uint32_t offset = qn__spv_add(e, address, qn__spv_u32(e, (uint32_t)(0 - class->base)));
    uint32_t value;
    if (qn__spv_u32_value(e, offset, &value))
        return qn__spv_u32(e, (uint32_t)((int32_t)value / (int32_t) class->step));
    return qn__spv_shr(e, offset, log2_of(class->step));
}

uint32_t qn__spv_element(spv *e, const spv_class *class, uint32_t index, int64_t bytes, bool whole) {
    uint32_t element = (uint32_t) class->unit * class->lanes, storage, component = 0;
    unsigned lane_bits = log2_of(class->lanes);
    if (class->step == element) {
        unsigned shift = log2_of(element);
        index = qn__spv_add(e, index, qn__spv_u32(e, (uint32_t)(bytes >> shift)));
        component = qn__spv_u32(e, (uint32_t)(bytes & (element - 1)) / class->unit);
    } else {
        index = qn__spv_add(e, index, qn__spv_u32(e, (uint32_t)(bytes / class->step)));
        if (class->step < class->unit) index = qn__spv_shr(e, index, log2_of(class->unit));
        component = qn__spv_and(e, index, class->lanes - 1u);
        index = qn__spv_shr(e, index, lane_bits);
    }
    storage = class->space == IR_LOCAL_SPACE ? SP_WORKGROUP : SP_FUNCTION_CLASS;
    ir_type type = qn__ir_type((ir_kind) class->kind, whole ? class->lanes : 1);
    uint32_t pointer = qn__spv_pointer(e, storage, qn__spv_type(e, type));
    if (whole || class->lanes == 1) return SPV(e, SP_ACCESS_CHAIN, pointer, class->variable, index);
    return SPV(e, SP_ACCESS_CHAIN, pointer, class->variable, index, component);
}
