/* Constants and the floating-point formats they are held in. Constants are interned in their function, so
   that equal constants are one value and passes compare pointers. Rounding is done in integers: it depends
   neither on the host's rounding mode nor on its locale. */
#include <string.h>

#include "ir/fold.h"
#include "ir/internal.h"

/* ---- interning ---- */

static uint64_t lane_mask(ir_type type) {
    unsigned bits = qn__ir_bits(type);
    return bits >= 64 ? UINT64_MAX : (UINT64_C(1) << bits) - 1;
}

/* `bits` is NULL for what is undefined. */
static size_t hash_of(ir_type type, ir_value_kind kind, const uint64_t *bits) {
    const uint64_t factor = 0x9E3779B97F4A7C15u;
    uint64_t hash =
        (uint64_t)type.kind | (uint64_t)type.lanes << 8 | (uint64_t)type.space << 16 | (uint64_t)kind << 24;
    for (unsigned i = 0; bits && i < type.lanes; i++) {
        hash = (hash ^ bits[i]) * factor;
        hash ^= hash >> 32;
    }
    return (size_t)hash;
}

static bool is_same(const ir_value *value, ir_type type, ir_value_kind kind, const uint64_t *bits) {
    if (value->value_kind != kind || !qn__ir_same(value->type, type)) return false;
    for (unsigned i = 0; bits && i < type.lanes; i++)
        if (value->bits[i] != bits[i]) return false;
    return true;
}

/* Where it is, or the empty place for it. There is one. */
static ir_value **find(const ir_constants *in, ir_type type, ir_value_kind kind, const uint64_t *bits) {
    for (size_t i = hash_of(type, kind, bits);; i++) {
        ir_value **slot = &in->slots[i & (in->cap - 1)];
        if (!*slot || is_same(*slot, type, kind, bits)) return slot;
    }
}

static void grow(qn__arena *arena, ir_constants *constants) {
    ir_constants grown = {.len = constants->len, .cap = constants->cap ? constants->cap * 2 : 32};
    grown.slots = QN__NEW_ARRAY(arena, ir_value *, grown.cap);
    for (uint32_t i = 0; i < constants->cap; i++) {
        ir_value *value = constants->slots[i];
        if (value) *find(&grown, value->type, (ir_value_kind)value->value_kind, value->bits) = value;
    }
    *constants = grown;
}

static ir_value *intern(ir_function *function, ir_type type, ir_value_kind kind, const uint64_t *bits) {
    ir_constants *constants = &function->constants;
    qn__arena *arena = function->module->arena;
    if (constants->len * 2 >= constants->cap) grow(arena, constants);
    ir_value **slot = find(constants, type, kind, bits);
    if (*slot) return *slot;
    *slot = qn__ir_value_new(function, type, kind, 0, NULL);
    if (bits) (*slot)->bits = qn__arena_copy(arena, bits, type.lanes * sizeof *bits);
    constants->len++;
    return *slot;
}

ir_value *qn__ir_const(ir_function *function, ir_type type, const uint64_t *bits) {
    const uint64_t mask = lane_mask(type);
    uint64_t cut[16];
    for (unsigned i = 0; i < type.lanes && i < 16; i++) cut[i] = bits[i] & mask;
    return intern(function, type, IR_VALUE_CONST, cut);
}

bool qn__ir_is_interned(const ir_function *function, const ir_value *value) {
    const ir_constants *in = &function->constants;
    return in->cap && *find(in, value->type, (ir_value_kind)value->value_kind, value->bits) == value;
}

ir_value *qn__ir_const_splat(ir_function *function, ir_type type, uint64_t bits) {
    uint64_t lanes[16];
    bits &= lane_mask(type);
    for (unsigned i = 0; i < type.lanes && i < 16; i++) lanes[i] = bits;
    return intern(function, type, IR_VALUE_CONST, lanes);
}

ir_value *qn__ir_const_int(ir_function *function, ir_kind kind, int64_t value) {
    return qn__ir_const_splat(function, qn__ir_type(kind, 1), (uint64_t)value);
}

ir_value *qn__ir_const_float(ir_function *function, ir_kind kind, double value) {
    return qn__ir_const_splat(function, qn__ir_type(kind, 1), qn__ir_float_bits(kind, value));
}

ir_value *qn__ir_const_bool(ir_function *function, bool value) {
    return qn__ir_const_splat(function, qn__ir_type(IR_BOOL, 1), value);
}

ir_value *qn__ir_undef(ir_function *function, ir_type type) {
    return intern(function, type, IR_VALUE_UNDEF, NULL);
}

bool qn__ir_is_splat(const ir_value *value, uint64_t bits) {
    if (!qn__ir_is_const(value)) return false;
    for (unsigned i = 0; i < value->type.lanes; i++)
        if (value->bits[i] != (bits & lane_mask(value->type))) return false;
    return true;
}

/* ---- floats ---- */

double qn__ir_float_value(ir_kind kind, uint64_t bits) {
    uint64_t wide = qn__fold_convert(IR_FCONVERT, kind, IR_F64, IR_ROUND_EVEN, bits);
    double value;
    memcpy(&value, &wide, sizeof value);
    return value;
}

uint64_t qn__ir_float_bits(ir_kind kind, double value) {
    uint64_t bits;
    const float single = (float)value;
    if (kind == IR_F32 && (double)single == value) { /* nothing is rounded */
        uint32_t word;
        memcpy(&word, &single, sizeof word);
        return word;
    }
    memcpy(&bits, &value, sizeof bits);
    return kind == IR_F64 ? bits : qn__fold_convert(IR_FCONVERT, IR_F64, kind, IR_ROUND_EVEN, bits);
}

uint64_t qn__ir_float_decimal(ir_kind kind, bool negative, uint64_t digits, int decimals) {
    static const double powers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                    1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    double value = (double)digits;
    value = decimals >= 0 ? value / powers[decimals] : value * powers[-decimals];
    return qn__ir_float_bits(kind, negative ? -value : value);
}
