/* A function's body as 16-bit words, for functions that are constant data: those of the library that are embedded
   already optimised. Values have numbers: arguments, then constants, then what instructions make, in the order of the
   text. What only a kernel's own function can hold (calls, atomics, group operations) cannot be packed.

       function:  number of values, of constants; constants: type, four words a lane; the body's region
       region:    number of parameters, their types; number of instructions, these
       instr:     op | results << 8 | regions << 12, flags | operands << 8, types, operands, attribute, regions */
#include <string.h>

#include "ir/internal.h"

enum { MAX_OPERANDS = 255, MAX_RESULTS = 15, UNDEFINED = 0x8000, NOT_NUMBERED = UINT16_MAX };

/* ---- what an op's attribute takes ---- */

typedef enum attr_shape {
    ATTR_NONE,
    ATTR_LANE,
    ATTR_LANES,
    ATTR_INDEX,
    ATTR_ROUNDING,
    ATTR_MEMORY,
    ATTR_VAR,
    ATTR_UNROLL,
    ATTR_TARGET,
    ATTR_REFUSED
} attr_shape;

/* Functions that are packed know no work-items, nor what touches more of memory than a load or a store. */
static attr_shape shape_of(ir_op op) {
    const ir_op_info *info = &qn__ir_ops[op];
    switch (info->has & IR_ATTRS) {
    case 0:
        return info->effects <= IR_EFFECT_PURE_TRAP || info->effects == IR_EFFECT_CONTROL ? ATTR_NONE
                                                                                          : ATTR_REFUSED;
    case IR_ATTR_LANE: return ATTR_LANE;
    case IR_ATTR_LANES: return ATTR_LANES;
    case IR_ATTR_INDEX: return op == IR_GLOBAL ? ATTR_INDEX : ATTR_REFUSED;
    case IR_ATTR_ROUNDING: return ATTR_ROUNDING;
    case IR_ATTR_OFFSET:
    case IR_ATTR_OFFSET | IR_ATTR_ALIGN: return ATTR_MEMORY;
    case IR_ATTR_VAR: return ATTR_VAR;
    case IR_ATTR_UNROLL: return ATTR_UNROLL;
    case IR_ATTR_TARGET: return ATTR_TARGET;
    default: return ATTR_REFUSED;
    }
}

/* ---- packing ---- */

typedef struct packer {
    qn__arena *arena;
    ir_packed *out;
    uint16_t *numbers; /* by value id */
    uint32_t num_values;
    bool fails;
} packer;

static void put(packer *p, uint64_t word) {
    if (word > UINT16_MAX) p->fails = true;
    qn__vec_push(p->arena, p->out, (uint16_t)word);
}

static void put_wide(packer *p, uint64_t bits) {
    for (unsigned shift = 0; shift < 64; shift += 16) put(p, bits >> shift & UINT16_MAX);
}

static void put_type(packer *p, ir_type type, unsigned more) {
    put(p, type.kind | (unsigned)type.lanes << 4 | (unsigned)type.space << 9 | more);
}

static void number(packer *p, const ir_value *value) {
    if (p->num_values >= NOT_NUMBERED) p->fails = true;
    p->numbers[value->id] = (uint16_t)p->num_values++;
}

static void put_constants(packer *p, ir_region *region, uint32_t *count) {
    for (const ir_instr *i = region->first; i; i = i->next) {
        for (uint32_t o = 0; o < i->num_operands; o++) {
            const ir_value *value = i->operands[o];
            const bool is_const = qn__ir_is_const(value);
            if ((!is_const && value->value_kind != IR_VALUE_UNDEF) || p->numbers[value->id] != NOT_NUMBERED)
                continue;
            number(p, value);
            ++*count;
            put_type(p, value->type, is_const ? 0 : UNDEFINED);
            for (unsigned lane = 0; is_const && lane < value->type.lanes; lane++)
                put_wide(p, value->bits[lane]);
        }
        for (uint32_t r = 0; r < i->num_regions; r++) put_constants(p, i->regions[r], count);
    }
}

static void put_attr(packer *p, const ir_instr *i) {
    uint32_t depth = 0;
    switch (shape_of((ir_op)i->op)) {
    case ATTR_NONE: break;
    case ATTR_LANE: put(p, i->attr.lanes[0]); break;
    case ATTR_LANES:
        for (unsigned lane = 0; lane < i->results[0]->type.lanes; lane++) put(p, i->attr.lanes[lane]);
        break;
    case ATTR_INDEX: put(p, i->attr.index); break;
    case ATTR_ROUNDING: put(p, i->attr.rounding); break;
    case ATTR_MEMORY:
        put(p, i->attr.align);
        put_wide(p, (uint64_t)i->attr.offset);
        break;
    case ATTR_VAR:
        put_wide(p, i->attr.var->size);
        put(p, i->attr.var->align);
        break;
    case ATTR_UNROLL: put_wide(p, (uint32_t)i->attr.unroll); break;
    case ATTR_TARGET:
        for (const ir_instr *owner = i->parent->owner; owner != i->attr.target; depth++)
            owner = owner->parent->owner;
        put(p, depth);
        break;
    case ATTR_REFUSED: p->fails = true; break;
    }
}

static void put_region(packer *p, const ir_region *region) {
    uint32_t count = 0;
    put(p, region->num_params);
    for (uint32_t n = 0; n < region->num_params; n++) {
        put_type(p, region->params[n]->type, 0);
        number(p, region->params[n]);
    }
    for (const ir_instr *i = region->first; i; i = i->next) count++;
    put(p, count);
    for (const ir_instr *i = region->first; i; i = i->next) {
        if (i->num_operands > MAX_OPERANDS || i->num_results > MAX_RESULTS || i->flags > UINT8_MAX)
            p->fails = true;
        put(p, i->op | i->num_results << 8 | (uint32_t)i->num_regions << 12);
        put(p, i->flags | i->num_operands << 8);
        for (uint32_t n = 0; n < i->num_results; n++) put_type(p, i->results[n]->type, 0);
        for (uint32_t n = 0; n < i->num_operands; n++) {
            const uint16_t operand = p->numbers[i->operands[n]->id];
            if (operand == NOT_NUMBERED) p->fails = true;
            put(p, operand);
        }
        put_attr(p, i);
        if (p->fails) return;
        /* What a construct gives is seen behind it only, but has its number before what it holds. */
        for (uint32_t n = 0; n < i->num_results; n++) number(p, i->results[n]);
        for (uint32_t r = 0; r < i->num_regions; r++) put_region(p, i->regions[r]);
    }
}

bool qn__ir_pack(qn__arena *arena, const ir_function *function, ir_packed *out) {
    packer p = {.arena = arena, .out = out};
    p.numbers = QN__NEW_ARRAY(arena, uint16_t, function->num_values + 1u);
    memset(p.numbers, 0xff, function->num_values * sizeof *p.numbers);
    for (size_t i = 0; i < function->args.len; i++) number(&p, function->args.data[i].value);
    uint32_t count = 0;
    const size_t start = out->len;
    put(&p, 0);
    put(&p, 0);
    put_constants(&p, function->body, &count);
    put_region(&p, function->body);
    out->data[start] = (uint16_t)p.num_values;
    out->data[start + 1] = (uint16_t)count;
    return !p.fails;
}

/* ---- unpacking ---- */

typedef struct unpacker {
    ir_function *function;
    const uint16_t *at;
    ir_value **values; /* by number */
    uint32_t num_values;
    const ir_unpack_globals *globals;
} unpacker;

static uint64_t take_wide(unpacker *u) {
    uint64_t bits = 0;
    for (unsigned shift = 0; shift < 64; shift += 16) bits |= (uint64_t)*u->at++ << shift;
    return bits;
}

static ir_type take_type(unpacker *u) {
    const unsigned word = *u->at++;
    return (ir_type){(uint8_t)(word & 15), (uint8_t)(word >> 4 & 31), (uint8_t)(word >> 9 & 7)};
}

static void take_constants(unpacker *u) {
    for (uint32_t count = *u->at++; count; count--) {
        const bool is_undefined = *u->at & UNDEFINED;
        const ir_type type = take_type(u);
        uint64_t bits[16];
        for (unsigned lane = 0; !is_undefined && lane < type.lanes; lane++) bits[lane] = take_wide(u);
        u->values[u->num_values++] =
            is_undefined ? qn__ir_undef(u->function, type) : qn__ir_const(u->function, type, bits);
    }
}

static void take_attr(unpacker *u, ir_instr *i) {
    switch (shape_of((ir_op)i->op)) {
    case ATTR_NONE:
    case ATTR_REFUSED: break;
    case ATTR_LANE: i->attr.lanes[0] = (uint8_t)*u->at++; break;
    case ATTR_LANES:
        for (unsigned lane = 0; lane < i->results[0]->type.lanes; lane++)
            i->attr.lanes[lane] = (uint8_t)*u->at++;
        break;
    case ATTR_INDEX: i->attr.index = u->globals->index(u->globals->user, *u->at++); break;
    case ATTR_ROUNDING: i->attr.rounding = (uint8_t)*u->at++; break;
    case ATTR_MEMORY:
        i->attr.align = *u->at++;
        i->attr.offset = (int64_t)take_wide(u);
        break;
    case ATTR_VAR:
        i->attr.var = QN__NEW(u->function->module->arena, ir_var);
        i->attr.var->size = take_wide(u);
        i->attr.var->align = *u->at++;
        break;
    case ATTR_UNROLL: i->attr.unroll = (int32_t)take_wide(u); break;
    case ATTR_TARGET:
        i->attr.target = i->parent->owner;
        for (uint32_t depth = *u->at++; depth; depth--) i->attr.target = i->attr.target->parent->owner;
        break;
    }
}

static void take_region(unpacker *u, ir_region *region);

static void take_instr(unpacker *u, ir_region *region) {
    const unsigned head = *u->at++, more = *u->at++;
    const uint32_t num_results = head >> 8 & MAX_RESULTS, num_operands = more >> 8;
    ir_type types[MAX_RESULTS];
    ir_value *operands[MAX_OPERANDS];
    for (uint32_t n = 0; n < num_results; n++) types[n] = take_type(u);
    for (uint32_t n = 0; n < num_operands; n++) operands[n] = u->values[*u->at++];
    ir_instr *i =
        qn__ir_instr_new(u->function, (ir_op)(head & UINT8_MAX), operands, num_operands, types, num_results);
    i->flags = more & UINT8_MAX;
    qn__ir_append(region, i);
    take_attr(u, i);
    for (uint32_t n = 0; n < num_results; n++) u->values[u->num_values++] = i->results[n];
    for (unsigned r = 0; r < head >> 12; r++) take_region(u, qn__ir_region_new(u->function, i));
}

static void take_region(unpacker *u, ir_region *region) {
    region->num_params = *u->at++;
    if (region->num_params)
        region->params = QN__NEW_ARRAY(u->function->module->arena, ir_value *, region->num_params);
    for (uint32_t n = 0; n < region->num_params; n++)
        u->values[u->num_values++] = region->params[n] =
            qn__ir_value_new(u->function, take_type(u), IR_VALUE_PARAM, n, region->owner);
    for (uint32_t count = *u->at++; count; count--) take_instr(u, region);
}

void qn__ir_unpack(ir_function *function, const uint16_t *words, const ir_unpack_globals *globals) {
    unpacker u = {.function = function, .at = words + 1, .globals = globals};
    const uint32_t total = *words;
    u.values = QN__NEW_ARRAY(function->module->arena, ir_value *, total);
    for (size_t i = 0; i < function->args.len; i++) u.values[u.num_values++] = function->args.data[i].value;
    take_constants(&u);
    take_region(&u, function->body);
}
