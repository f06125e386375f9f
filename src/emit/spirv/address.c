/* Addresses for SPIR-V: numbers of 64 bits for buffers, cast to a pointer where they are accessed, and indices into
   the variables of private and local memory. Chains of OpPtrAccessChain would say the same, but drivers disagree on
   them: NVIDIA's takes an unsigned index as unsigned, where the specification says that all are signed, and
   crashes on large strides. Casts of numbers are what DXC and glslang give them. */
#include "emit/spirv/internal.h"

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

/* Whether the device has the type in buffers alone, without arithmetic. Where it has both, both are asked for. */
static bool is_storage_only(spv *e, ir_kind kind) {
    static const struct {
        uint8_t kind, storage, arithmetic;
        qn__trait lacks;
    } rows[] = {{IR_I8, CAP_STORAGE_8, CAP_INT8, QN__TRAIT(lacks_i8)},
                {IR_I16, CAP_STORAGE_16, CAP_INT16, QN__TRAIT(lacks_i16)},
                {IR_F16, CAP_STORAGE_16, CAP_FLOAT16, QN__TRAIT(lacks_f16)}};
    for (size_t i = 0; i < QN__COUNT(rows); i++) {
        if (rows[i].kind != kind) continue;
        qn__spv_need(e, (spv_cap)rows[i].storage);
        if (qn__has_trait(&e->options->target, rows[i].lacks)) return true;
        qn__spv_need(e, (spv_cap)rows[i].arithmetic);
    }
    return false;
}

/* spirv-val takes a cast to a pointer for a use of what it points to, unless the pointer is declared before that: so
   are GLSL's buffer references, which point to structures. */
static uint32_t boxed(spv *e, uint32_t type) {
    uint32_t id = (uint32_t)(uintptr_t)qn__map64_get(&e->boxes, type);
    if (id) return id;
    id = qn__spv_id(e);
    SPV_INTO(e, &e->globals, SP_TYPE_FORWARD_POINTER, id, SP_PHYSICAL_STORAGE);
    uint32_t box = SPV_ONCE(e, SP_TYPE_STRUCT, 0, type);
    SPV_INTO(e, &e->annotations, SP_MEMBER_DECORATE, box, 0, SP_OFFSET, 0);
    qn__spv_decorate(e, box, SP_BLOCK);
    SPV_INTO(e, &e->globals, SP_TYPE_POINTER, id, SP_PHYSICAL_STORAGE, box);
    qn__map64_set(e->arena, &e->boxes, type, (void *)(uintptr_t)id);
    return id;
}

uint32_t qn__spv_pointer_at(spv *e, uint32_t address, ir_type pointee) {
    bool storage_only = is_storage_only(e, (ir_kind)pointee.kind);
    uint32_t held = qn__spv_stored_type(e, pointee), type = qn__spv_pointer(e, SP_PHYSICAL_STORAGE, held);
    uint32_t id = qn__spv_chain(e, address, type);
    if (id) return id;
    unsigned cast = e->native ? SP_CONVERT_U_TO_PTR : SP_BITCAST;
    if (storage_only)
        id = SPV(e, SP_ACCESS_CHAIN, type, SPV(e, cast, boxed(e, held), address), qn__spv_u32(e, 0));
    else
        id = SPV(e, cast, type, address);
    qn__spv_note(e, address, type, id);
    return id;
}

static uint32_t add(spv *e, uint32_t a, uint32_t b) {
    uint32_t id = qn__spv_chain(e, a, b);
    if (id) return id;
    id = qn__spv_wide_add(e, a, b);
    qn__spv_note(e, a, b, id);
    return id;
}

uint32_t qn__spv_further(spv *e, uint32_t address, int64_t bytes) {
    return bytes ? add(e, address, qn__spv_u64(e, (uint64_t)bytes)) : address;
}

uint32_t qn__spv_indexed(spv *e, uint32_t address, uint32_t index, bool is_signed, int64_t scale) {
    enum { KEY_UNSIGNED = 0x50000000, KEY_SIGNED };
    uint32_t key = is_signed ? KEY_SIGNED : KEY_UNSIGNED, wide = qn__spv_chain(e, index, key);
    if (!wide) {
        wide = qn__spv_widen(e, index, is_signed);
        qn__spv_note(e, index, key, wide);
    }
    return qn__spv_scaled(e, address, wide, scale);
}

uint32_t qn__spv_scaled(spv *e, uint32_t address, uint32_t wide, int64_t scale) {
    if (scale == 1) return add(e, address, wide);
    uint32_t factor = qn__spv_u64(e, (uint64_t)scale), product = qn__spv_chain(e, wide, factor);
    if (!product) {
        product = qn__spv_wide_scale(e, wide, scale);
        qn__spv_note(e, wide, factor, product);
    }
    return add(e, address, product);
}

static uint32_t term_word(spv *e, const qn__term *term) {
    return term->value->type.kind == IR_I64 ? qn__spv_low(e, term->value) : qn__spv_use(e, term->value);
}

static uint32_t add_term(spv *e, uint32_t address, const qn__term *term) {
    const ir_value *value = term->value;
    if (qn__spv_is_split_id(term))
        return qn__spv_indexed(e, address, e->in_part[value->def->attr.dim], false, term->scale);
    if (term->kind == QN__TERM_WIDE) return qn__spv_scaled(e, address, qn__spv_use(e, value), term->scale);
    return qn__spv_indexed(e, address, term_word(e, term), term->kind == QN__TERM_SIGNED, term->scale);
}

/* What is the same for all work-items first. */
static void global_ptr_add(spv *e, const ir_instr *instr) {
    const ir_value *result = instr->results[0];
    if (!e->plan.demand[result->id]) return;
    uint32_t address = qn__spv_use(e, instr->operands[0]);
    qn__sum sum = {.constant = instr->attr.offset};
    qn__linear(instr->operands[1], 1, false, &sum);
    for (unsigned i = 0; i < sum.count; i++) {
        const qn__term *term = &sum.terms[i];
        if (qn__spv_is_split_id(term))
            address = qn__spv_scaled(e, address, e->query[term->value->def->attr.dim], term->scale);
    }
    for (unsigned i = 0; i < sum.count; i++) address = add_term(e, address, &sum.terms[i]);
    qn__spv_define(e, result, qn__spv_further(e, address, sum.constant));
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
    qn__sum sum = {.constant = instr->attr.offset};
    qn__linear(instr->operands[1], 1, true, &sum);
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
    index = qn__spv_mul(e, index, class->step);
    return qn__spv_add(e, index, qn__spv_u32(e, (uint32_t) class->base));
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

/* A whole element's index is a multiple of its lanes, and so is what it lies behind: the bytes between are added as
   elements, so that neighbours share the shift and differ by a constant. The index without them may be negative. */
static uint32_t whole_element(spv *e, const spv_class *class, uint32_t index, int64_t bytes) {
    enum { KEY_WHOLE = 0x50000010 };
    const unsigned element_bits = log2_of((uint32_t) class->unit * class->lanes);
    const uint32_t shift = element_bits - log2_of(class->step);
    uint32_t value, first = qn__spv_chain(e, index, KEY_WHOLE);
    if (qn__spv_u32_value(e, index, &value))
        first = qn__spv_u32(e, (uint32_t)((int32_t)value / (1 << shift)));
    if (!first) {
        first = SPV(e, SP_SHIFT_RIGHT_ARITHMETIC, qn__spv_u32t(e), index, qn__spv_u32(e, shift));
        qn__spv_note(e, index, KEY_WHOLE, first);
    }
    return qn__spv_add(e, first, qn__spv_u32(e, (uint32_t)(bytes >> element_bits)));
}

uint32_t qn__spv_element(spv *e, const spv_class *class, uint32_t index, int64_t bytes, bool whole) {
    uint32_t element = (uint32_t) class->unit * class->lanes, storage, component = 0;
    unsigned lane_bits = log2_of(class->lanes);
    if (whole && class->step != element && bytes % element == 0) {
        index = whole_element(e, class, index, bytes);
    } else if (class->step == element) {
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
