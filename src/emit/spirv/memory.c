/* Loads, stores and copies for SPIR-V. An access that the memory's type and alignment allow is one instruction;
   any other is put together from units: the parts, of 1, 2 or 4 bytes, that the alignment or the variable's type
   allows, as 32-bit numbers. */
#include "emit/spirv/internal.h"

/* ---- accesses ---- */

/* Memory that is accessed in units. */
typedef struct access {
    const spv_class *class; /* NULL: a buffer, or the parameters */
    uint32_t address;       /* buffer */
    uint32_t index;         /* place; byte address in the parameters */
    bool is_param, is_volatile, is_shared;
    unsigned unit;
    int64_t offset;
} access;

bool qn__spv_is_shared(const spv *e, const ir_value *pointer, const ir_instr *instr) {
    if (!qn__spv_is_vulkan(e)) return false;
    if (pointer->type.space == IR_LOCAL_SPACE) return e->plan.shares;
    return e->plan.shares_buffers && qn__spv_is_wide(pointer->type) && !(instr->flags & IR_READONLY) &&
           !(e->read_only && e->read_only[pointer->id]);
}

static ir_type unit_type(unsigned bytes) {
    return qn__ir_type(bytes == 1 ? IR_I8 : bytes == 2 ? IR_I16 : IR_I32, 1);
}

/* Appends memory operands to the `count` arguments of a load or store. */
static unsigned operands(uint32_t *args, unsigned count, bool is_volatile, bool shared, unsigned align) {
    uint32_t mask =
        (is_volatile ? SP_VOLATILE : 0) | (align ? SP_ALIGNED : 0) | (shared ? SP_NON_PRIVATE : 0);
    if (mask) args[count++] = mask;
    if (align) args[count++] = align;
    return count;
}

static uint32_t load(spv *e, uint32_t type, uint32_t pointer, bool is_volatile, bool shared, unsigned align) {
    uint32_t args[3] = {pointer};
    unsigned count = operands(args, 1, is_volatile, shared, align);
    return qn__spv_emit(e, SP_LOAD, type, args, count);
}

static void store(spv *e, uint32_t pointer, uint32_t value, bool is_volatile, bool shared, unsigned align) {
    uint32_t args[4] = {pointer, value};
    unsigned count = operands(args, 2, is_volatile, shared, align);
    qn__spv_do(e, SP_STORE, args, count);
}

/* In a buffer: what memory holds as what a value is, and back. */
static uint32_t load_from(spv *e, ir_type type, uint32_t pointer, bool is_volatile, bool shared,
                          unsigned align) {
    uint32_t value = load(e, qn__spv_stored_type(e, type), pointer, is_volatile, shared, align);
    if (!qn__spv_is_held(e, type.kind)) return value;
    return SPV(e, SP_U_CONVERT, qn__spv_memory_type(e, type), value);
}

static void store_to(spv *e, ir_type type, uint32_t pointer, uint32_t value, bool is_volatile, bool shared,
                     unsigned align) {
    if (qn__spv_is_held(e, type.kind)) value = SPV(e, SP_U_CONVERT, qn__spv_stored_type(e, type), value);
    store(e, pointer, value, is_volatile, shared, align);
}

static access access_of(spv *e, const ir_value *pointer, const ir_instr *instr, int64_t offset,
                        unsigned unit) {
    access a = {.class = qn__spv_class(e, pointer), .unit = unit, .offset = offset};
    a.is_volatile = instr->flags & IR_VOLATILE;
    a.is_shared = qn__spv_is_shared(e, pointer, instr);
    a.is_param = pointer->type.space == IR_PARAM_SPACE;
    if (qn__spv_is_wide(pointer->type))
        a.address = qn__spv_use(e, pointer);
    else
        a.index = qn__spv_low(e, pointer);
    return a;
}

static uint32_t read_param(spv *e, const access *a, int64_t bytes) {
    uint32_t address = qn__spv_add(e, a->index, qn__spv_u32(e, (uint32_t)(a->offset + bytes)));
    uint32_t word = qn__spv_block_word(e, qn__spv_shr(e, address, 2)), by;
    if (a->unit == 4) return word;
    by = qn__spv_shl(e, qn__spv_and(e, address, 3), 3);
    word = SPV(e, SP_SHIFT_RIGHT_LOGICAL, qn__spv_u32t(e), word, by);
    return qn__spv_and(e, word, a->unit == 1 ? 0xff : 0xffff);
}

/* ---- parts of words ---- */

typedef struct part {
    uint32_t pointer, shift; /* of the word; bits from its lowest */
    uint32_t mask;           /* of the part when it is the lowest */
} part;

/* Whether the device lacks accesses to buffers of this size. */
static bool lacks_storage(const spv *e, unsigned bytes) {
    const qn__target *target = &e->options->target;
    return (bytes == 1 && target->lacks_storage_8) || (bytes == 2 && target->lacks_storage_16);
}

static bool is_of_word(const spv *e, const access *a) {
    return a->class ? a->class->packed : lacks_storage(e, a->unit);
}

static part part_at(spv *e, const access *a, int64_t bytes) {
    part p = {.mask = a->unit == 1 ? 0xff : a->unit == 2 ? 0xffff : UINT32_MAX};
    uint32_t at;
    if (a->class) {
        at = qn__spv_add(e, a->index, qn__spv_u32(e, (uint32_t)(a->offset + bytes)));
        p.pointer = qn__spv_element(e, a->class, at, 0, false);
    } else {
        spv_pair address = qn__spv_split(e, qn__spv_further(e, a->address, a->offset + bytes));
        at = address.lo;
        address.lo = qn__spv_and(e, at, ~3u);
        p.pointer = qn__spv_pointer_at(e, qn__spv_join(e, address), qn__ir_type(IR_I32, 1));
    }
    p.shift = a->unit == 4 ? 0 : qn__spv_shl(e, qn__spv_and(e, at, 3), 3);
    return p;
}

/* Others may write the rest of the word meanwhile: but for private memory, parts are written atomically. */
static uint32_t contention_scope(spv *e, const access *a) {
    if (!a->class) return qn__spv_scope(e, IR_SCOPE_DEVICE);
    return a->class->space == IR_LOCAL_SPACE ? qn__spv_scope(e, IR_SCOPE_WORK_GROUP) : 0;
}

static uint32_t read_part(spv *e, const access *a, int64_t bytes) {
    part p = part_at(e, a, bytes);
    uint32_t word = qn__spv_u32t(e), scope = contention_scope(e, a), value;
    if (scope && a->is_shared && a->unit < 4)
        value = SPV(e, SP_ATOMIC_LOAD, word, p.pointer, scope, qn__spv_u32(e, 0));
    else
        value = load(e, word, p.pointer, a->is_volatile, a->is_shared, a->class ? 0 : 4);
    if (p.shift) value = SPV(e, SP_SHIFT_RIGHT_LOGICAL, word, value, p.shift);
    return qn__spv_and(e, value, p.mask);
}

static void write_part(spv *e, const access *a, int64_t bytes, uint32_t bits) {
    part p = part_at(e, a, bytes);
    uint32_t word = qn__spv_u32t(e), scope = contention_scope(e, a), none = qn__spv_u32(e, 0);
    if (a->unit == 4) {
        store(e, p.pointer, bits, a->is_volatile, a->is_shared, 0);
        return;
    }
    bits = SPV(e, SP_SHIFT_LEFT, word, qn__spv_and(e, bits, p.mask), p.shift);
    uint32_t rest = SPV(e, SP_NOT, word, SPV(e, SP_SHIFT_LEFT, word, qn__spv_u32(e, p.mask), p.shift));
    if (scope) {
        SPV(e, SP_ATOMIC_AND, word, p.pointer, scope, none, rest);
        SPV(e, SP_ATOMIC_OR, word, p.pointer, scope, none, bits);
        return;
    }
    uint32_t old = load(e, word, p.pointer, a->is_volatile, false, 0);
    old = SPV(e, SP_BITWISE_AND, word, old, rest);
    store(e, p.pointer, SPV(e, SP_BITWISE_OR, word, old, bits), a->is_volatile, false, 0);
}

/* ---- units ---- */

/* The unit `bytes` behind the access's start, zero-extended. */
static uint32_t read_unit(spv *e, const access *a, int64_t bytes) {
    if (a->is_param) return read_param(e, a, bytes);
    if (is_of_word(e, a)) return read_part(e, a, bytes);
    ir_type type = unit_type(a->unit);
    uint32_t pointer, value;
    if (a->class) {
        type.kind = a->class->kind;
        pointer = qn__spv_element(e, a->class, a->index, a->offset + bytes, false);
        value = load(e, qn__spv_memory_type(e, type), pointer, a->is_volatile, a->is_shared, 0);
    } else {
        pointer = qn__spv_pointer_at(e, qn__spv_further(e, a->address, a->offset + bytes), type);
        value = load_from(e, type, pointer, a->is_volatile, a->is_shared, a->unit);
    }
    return qn__spv_lane_bits(e, (ir_kind)type.kind, value);
}

static void write_unit(spv *e, const access *a, int64_t bytes, uint32_t bits) {
    if (is_of_word(e, a)) {
        write_part(e, a, bytes, bits);
        return;
    }
    ir_type type = unit_type(a->unit);
    uint32_t pointer;
    if (a->class) {
        type.kind = a->class->kind;
        pointer = qn__spv_element(e, a->class, a->index, a->offset + bytes, false);
        store(e, pointer, qn__spv_bitcast_lane(e, (ir_kind)type.kind, bits), a->is_volatile, a->is_shared, 0);
    } else {
        pointer = qn__spv_pointer_at(e, qn__spv_further(e, a->address, a->offset + bytes), type);
        store_to(e, type, pointer, qn__spv_bitcast_lane(e, (ir_kind)type.kind, bits), a->is_volatile,
                 a->is_shared, a->unit);
    }
}

/* `width` bytes, at most 4, as a number. */
static uint32_t read_bits(spv *e, const access *a, int64_t bytes, unsigned width) {
    uint32_t bits = read_unit(e, a, bytes);
    for (unsigned i = a->unit; i < width; i += a->unit)
        bits = qn__spv_or(e, bits, qn__spv_shl(e, read_unit(e, a, bytes + i), 8 * i));
    return bits;
}

static void write_bits(spv *e, const access *a, int64_t bytes, unsigned width, uint32_t bits) {
    for (unsigned i = 0; i < width; i += a->unit) write_unit(e, a, bytes + i, qn__spv_shr(e, bits, 8 * i));
}

static uint32_t read_lane(spv *e, const access *a, int64_t bytes, ir_kind kind) {
    unsigned width = qn__ir_bits(qn__ir_type(kind, 1)) / 8;
    if (width < 8) return qn__spv_bitcast_lane(e, kind, read_bits(e, a, bytes, width));
    spv_pair pair;
    pair.lo = read_bits(e, a, bytes, 4);
    pair.hi = read_bits(e, a, bytes + 4, 4);
    if (kind != IR_F64) return qn__spv_join(e, pair);
    uint32_t both = SPV(e, SP_COMPOSITE_CONSTRUCT, qn__spv_pair(e), pair.lo, pair.hi);
    return SPV(e, SP_BITCAST, qn__spv_scalar(e, IR_F64), both);
}

static void write_lane(spv *e, const access *a, int64_t bytes, ir_kind kind, uint32_t lane) {
    unsigned width = qn__ir_bits(qn__ir_type(kind, 1)) / 8;
    if (width < 8) {
        write_bits(e, a, bytes, width, qn__spv_lane_bits(e, kind, lane));
        return;
    }
    spv_pair pair;
    if (kind == IR_F64) {
        uint32_t both = SPV(e, SP_BITCAST, qn__spv_pair(e), lane), word = qn__spv_u32t(e);
        pair.lo = qn__spv_extract(e, word, both, 0), pair.hi = qn__spv_extract(e, word, both, 1);
    } else {
        pair = qn__spv_split(e, lane);
    }
    write_bits(e, a, bytes, 4, pair.lo);
    write_bits(e, a, bytes + 4, 4, pair.hi);
}

static uint32_t read_composed(spv *e, const access *a, ir_type type) {
    unsigned width = qn__ir_bits(type) / 8;
    uint32_t lanes[16];
    for (unsigned i = 0; i < type.lanes; i++)
        lanes[i] = read_lane(e, a, (int64_t)i * width, (ir_kind)type.kind);
    return qn__spv_build(e, qn__spv_memory_type(e, type), lanes, type.lanes);
}

static uint32_t lane_of(spv *e, ir_type type, uint32_t value, unsigned lane) {
    if (type.lanes == 1) return value;
    return qn__spv_extract(e, qn__spv_memory_type(e, qn__ir_element(type)), value, lane);
}

static void write_composed(spv *e, const access *a, ir_type type, uint32_t value) {
    unsigned width = qn__ir_bits(type) / 8;
    for (unsigned i = 0; i < type.lanes; i++)
        write_lane(e, a, (int64_t)i * width, (ir_kind)type.kind, lane_of(e, type, value, i));
}

uint32_t qn__spv_param(spv *e, ir_type type, uint32_t address, uint32_t align) {
    unsigned width = qn__ir_bits(type) / 8, unit = width < align ? width : align;
    access a = {.is_param = true, .index = address, .unit = unit > 4 ? 4 : unit};
    return read_composed(e, &a, type);
}

/* ---- buffers ---- */

/* The alignment of scalars that an access needs: a pair is two words. */
static unsigned scalar_align(const spv *e, ir_type type) {
    unsigned width = qn__ir_bits(type) / 8;
    return width == 8 && type.kind != IR_F64 && !e->native ? 4 : width;
}

/* The unit of an access that must be put together; 0: one instruction does it. */
static unsigned global_unit(const spv *e, ir_type type, unsigned align) {
    unsigned width = qn__ir_bits(type) / 8, unit = align > 4 ? 4 : align;
    if (lacks_storage(e, width)) return unit < width ? unit : width;
    return align < scalar_align(e, type) ? unit : 0;
}

static uint32_t load_global(spv *e, const ir_instr *instr, ir_type type) {
    const ir_value *pointer = instr->operands[0];
    unsigned align = instr->attr.align, unit = global_unit(e, type, align);
    if (unit) {
        access a = access_of(e, pointer, instr, instr->attr.offset, unit);
        return read_composed(e, &a, type);
    }
    uint32_t p = qn__spv_pointer_at(e, qn__spv_further(e, qn__spv_use(e, pointer), instr->attr.offset), type);
    return load_from(e, type, p, instr->flags & IR_VOLATILE, qn__spv_is_shared(e, pointer, instr), align);
}

static void store_global(spv *e, const ir_instr *instr, ir_type type, uint32_t value) {
    const ir_value *pointer = instr->operands[0];
    unsigned align = instr->attr.align, unit = global_unit(e, type, align);
    if (unit) {
        access a = access_of(e, pointer, instr, instr->attr.offset, unit);
        write_composed(e, &a, type, value);
        return;
    }
    uint32_t p = qn__spv_pointer_at(e, qn__spv_further(e, qn__spv_use(e, pointer), instr->attr.offset), type);
    store_to(e, type, p, value, instr->flags & IR_VOLATILE, qn__spv_is_shared(e, pointer, instr), align);
}

/* ---- variables ---- */

/* A class's scalar or element as the accessed kind of the same width, and back. */
static uint32_t recast(spv *e, ir_type from, ir_type to, uint32_t value) {
    if (from.kind == to.kind || (from.kind == IR_I64 && to.kind == IR_PTR) ||
        (from.kind == IR_PTR && to.kind == IR_I64))
        return value;
    qn__spv_type(e, from); /* a bitcast takes types of arithmetic */
    return SPV(e, SP_BITCAST, qn__spv_type(e, to), value);
}

static bool is_direct(const spv_class *class, ir_type type) {
    return class->unit == qn__ir_bits(type) / 8 && !class->packed;
}

/* The unit of an access that is put together. */
static unsigned class_unit(const spv_class *class, ir_type type, unsigned align) {
    unsigned width = qn__ir_bits(type) / 8, unit = width < align ? width : align;
    return class->packed && unit < class->unit ? unit : class->unit;
}

static uint32_t load_class(spv *e, const ir_instr *instr, const spv_class *class, ir_type type) {
    const ir_value *pointer = instr->operands[0];
    bool is_volatile = instr->flags & IR_VOLATILE, shared = qn__spv_is_shared(e, pointer, instr);
    uint32_t index = qn__spv_low(e, pointer), lanes[16];
    unsigned width = type.lanes == 3 ? 4 : type.lanes;
    if (!is_direct(class, type)) {
        unsigned unit = class_unit(class, type, instr->attr.align);
        access a = access_of(e, pointer, instr, instr->attr.offset, unit);
        return read_composed(e, &a, type);
    }
    ir_type scalar = qn__ir_type((ir_kind) class->kind, 1), element = qn__ir_with_lanes(scalar, class->lanes);
    if (class->lanes > 1 && class->lanes == width) {
        uint32_t p = qn__spv_element(e, class, index, instr->attr.offset, true);
        uint32_t value = load(e, qn__spv_type(e, element), p, is_volatile, shared, 0);
        if (type.lanes == 3) {
            element.lanes = 3;
            value = SPV(e, SP_VECTOR_SHUFFLE, qn__spv_type(e, element), value, value, 0, 1, 2);
        }
        return recast(e, element, type, value);
    }
    for (unsigned i = 0; i < type.lanes; i++) {
        uint32_t p = qn__spv_element(e, class, index, instr->attr.offset + (int64_t)i * class->unit, false);
        lanes[i] = load(e, qn__spv_type(e, scalar), p, is_volatile, shared, 0);
    }
    uint32_t value =
        qn__spv_build(e, qn__spv_type(e, qn__ir_with_lanes(scalar, type.lanes)), lanes, type.lanes);
    return recast(e, scalar, type, value);
}

static void store_class(spv *e, const ir_instr *instr, const spv_class *class, ir_type type, uint32_t value) {
    const ir_value *pointer = instr->operands[0];
    bool is_volatile = instr->flags & IR_VOLATILE, shared = qn__spv_is_shared(e, pointer, instr);
    uint32_t index = qn__spv_low(e, pointer);
    if (!is_direct(class, type)) {
        unsigned unit = class_unit(class, type, instr->attr.align);
        access a = access_of(e, pointer, instr, instr->attr.offset, unit);
        write_composed(e, &a, type, value);
        return;
    }
    ir_type kept = qn__ir_type((ir_kind) class->kind, type.lanes);
    value = recast(e, type, kept, value);
    if (class->lanes > 1 && class->lanes == type.lanes) {
        store(e, qn__spv_element(e, class, index, instr->attr.offset, true), value, is_volatile, shared, 0);
        return;
    }
    for (unsigned i = 0; i < type.lanes; i++) {
        uint32_t p = qn__spv_element(e, class, index, instr->attr.offset + (int64_t)i * class->unit, false);
        store(e, p, lane_of(e, kept, value, i), is_volatile, shared, 0);
    }
}

/* ---- instructions ---- */

static void load_instr(spv *e, const ir_instr *instr) {
    const ir_value *pointer = instr->operands[0], *result = instr->results[0];
    ir_type type = result->type;
    const spv_class *class = qn__spv_class(e, pointer);
    uint32_t value;
    if (!e->uses[result->id] && !(instr->flags & IR_VOLATILE)) return;
    if (pointer->type.space == IR_PARAM_SPACE) {
        uint32_t address = qn__spv_low(e, pointer);
        address = qn__spv_add(e, address, qn__spv_u32(e, (uint32_t)instr->attr.offset));
        value = qn__spv_param(e, type, address, instr->attr.align);
    } else if (qn__spv_is_wide(pointer->type)) {
        value = load_global(e, instr, type);
    } else if (class) {
        value = load_class(e, instr, class, type);
    } else {
        value = qn__spv_undef(e, qn__spv_memory_type(e, type)); /* of null */
    }
    if (qn__spv_is_place(type)) value = qn__spv_place(e, result, qn__spv_half(e, value, 0));
    qn__spv_define(e, result, value);
}

/* The value to store; a constant of 8 or 16 bits is made by a conversion, which needs no arithmetic. */
static uint32_t stored(spv *e, const ir_value *value) {
    ir_type type = value->type;
    if (qn__spv_is_place(type)) return qn__spv_widen(e, qn__spv_address(e, value), false);
    if (!qn__ir_is_const(value) || qn__ir_bits(type) > 16) return qn__spv_use(e, value);
    uint32_t lanes[16];
    for (unsigned i = 0; i < type.lanes; i++)
        lanes[i] = qn__spv_bitcast_lane(e, (ir_kind)type.kind, qn__spv_u32(e, (uint32_t)value->bits[i]));
    return qn__spv_build(e, qn__spv_memory_type(e, type), lanes, type.lanes);
}

static void store_instr(spv *e, const ir_instr *instr) {
    const ir_value *pointer = instr->operands[0];
    const spv_class *class = qn__spv_class(e, pointer);
    if (instr->operands[1]->value_kind == IR_VALUE_UNDEF) return;
    uint32_t value = stored(e, instr->operands[1]);
    if (qn__spv_is_wide(pointer->type))
        store_global(e, instr, instr->operands[1]->type, value);
    else if (class)
        store_class(e, instr, class, instr->operands[1]->type, value);
}

/* ---- copies ---- */

enum { STRAIGHT_UNITS = 64 };

static unsigned copy_unit(spv *e, const ir_instr *copy) {
    uint64_t bits = copy->attr.align | copy->attr.size | 4;
    unsigned unit = (unsigned)(bits & (0 - bits));
    for (int i = 0; i < 2; i++) {
        const spv_class *class = qn__spv_class(e, copy->operands[i]);
        if (class && class->unit < unit) unit = class->unit;
    }
    return unit;
}

/* The access at a number of units, which is an id, from the start. */
static access moved(spv *e, const access *a, uint32_t units) {
    access b = *a;
    if (!a->class && !a->is_param) {
        b.address = qn__spv_indexed(e, a->address, units, false, a->unit);
        return b;
    }
    uint32_t step = a->is_param ? 1 : a->class->step, bytes = qn__spv_mul(e, units, a->unit);
    unsigned shift = 0;
    while (step >> shift > 1) shift++;
    b.index = qn__spv_add(e, a->index, qn__spv_shr(e, bytes, shift));
    return b;
}

/* `stride` units an iteration, so that every step of an index is whole. */
static void copy_in_loop(spv *e, const access *to, const access *from, uint64_t size, unsigned stride) {
    uint32_t word = qn__spv_u32t(e), before = e->label, count = qn__spv_u32(e, (uint32_t)(size / to->unit));
    uint32_t header = qn__spv_id(e), body = qn__spv_id(e), next = qn__spv_id(e), merge = qn__spv_id(e);
    SPV_DO(e, SP_BRANCH, header);
    qn__spv_begin_block(e, header);
    uint32_t i = SPV(e, SP_PHI, word, qn__spv_u32(e, 0), before, 0, next);
    size_t gap = e->code.len - 2, chains = e->chains.len;
    uint32_t more = SPV(e, SP_U_LESS, qn__spv_bool(e), i, count);
    SPV_DO(e, SP_LOOP_MERGE, merge, next, 0);
    SPV_DO(e, SP_BRANCH_CONDITIONAL, more, body, merge);
    qn__spv_begin_block(e, body);
    access a = moved(e, to, i), b = moved(e, from, i);
    for (unsigned k = 0; k < stride; k++)
        write_unit(e, &a, (int64_t)k * a.unit, read_unit(e, &b, (int64_t)k * b.unit));
    SPV_DO(e, SP_BRANCH, next);
    qn__spv_forget(e, chains);
    qn__spv_begin_block(e, next);
    const uint32_t sum = SPV(e, SP_I_ADD, word, i, qn__spv_u32(e, stride));
    e->code.data[gap] = sum;
    SPV_DO(e, SP_BRANCH, header);
    qn__spv_begin_block(e, merge);
}

static void copy_instr(spv *e, const ir_instr *instr) {
    unsigned unit = copy_unit(e, instr), stride = 1;
    uint64_t units = instr->attr.size / unit, i = 0;
    access to = access_of(e, instr->operands[0], instr, instr->attr.offset, unit);
    access from = access_of(e, instr->operands[1], instr, 0, unit);
    bool nowhere = (!to.class && !to.address) || (!from.class && !from.address && !from.is_param);
    if (nowhere) return;
    if (to.class && to.class->step / unit > stride) stride = to.class->step / unit;
    if (from.class && from.class->step / unit > stride) stride = from.class->step / unit;
    if (units > STRAIGHT_UNITS) {
        i = units / stride * stride;
        copy_in_loop(e, &to, &from, i * unit, stride);
    }
    for (; i < units; i++) {
        int64_t at = (int64_t)(i * unit);
        write_unit(e, &to, at, read_unit(e, &from, at));
    }
}

bool qn__spv_memory(spv *e, const ir_instr *instr) {
    switch (instr->op) {
    case IR_LOAD: load_instr(e, instr); return true;
    case IR_STORE: store_instr(e, instr); return true;
    case IR_COPY: copy_instr(e, instr); return true;
    case IR_PREFETCH: return true;
    default: return false;
    }
}
