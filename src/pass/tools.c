/* Shared edits of the passes; see tools.h. */
#include "pass/tools.h"

#include <string.h>

void qn__pass_refuse(qn__pass_context *context, ir_loc loc, const char *message) {
    const ir_module *module = context->module;
    const char *file = loc.line && loc.file < module->files.len ? module->files.data[loc.file] : NULL;
    if (context->error) return;
    context->error =
        qn__arena_printf(module->arena, file ? "%s (%s:%u)" : "%s", message, file, (unsigned)loc.line);
    if (context->options->unsupported) *context->options->unsupported = true;
}

/* ---- replacing values ---- */

void qn__rewrite_set(qn__rewrite *rewrite, ir_value *from, ir_value *to) {
    to = qn__rewrite_get(to); /* chains stay short, and never close */
    if (from == to) return;
    from->instead = to;
    rewrite->any = true;
}

void qn__rewrite_results(qn__rewrite *rewrite, const ir_instr *instr, ir_value *const *values) {
    for (uint32_t i = 0; i < instr->num_results; i++) qn__rewrite_set(rewrite, instr->results[i], values[i]);
}

/* ---- editing ---- */

/* A copy of `old` with room for `count` more. */
static ir_value **longer(ir_function *function, ir_value **old, uint32_t length, uint32_t count) {
    ir_value **values = QN__NEW_ARRAY(function->module->arena, ir_value *, (size_t)length + count);
    if (length) memcpy(values, old, length * sizeof *values);
    return values;
}

void qn__results_extend(ir_function *function, ir_instr *construct, const ir_type *types,
                        const char *const *names, uint32_t count) {
    if (!count) return;
    construct->results = longer(function, construct->results, construct->num_results, count);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t index = construct->num_results++;
        construct->results[index] = qn__ir_value_new(function, types[i], IR_VALUE_RESULT, index, construct);
        construct->results[index]->name = names[i];
    }
}

void qn__params_extend(ir_function *function, ir_instr *loop, ir_value *const *inits,
                       const char *const *names, uint32_t count) {
    if (!count) return;
    ir_region *region = loop->regions[0];
    qn__operands_extend(function, loop, inits, count);
    region->params = longer(function, region->params, region->num_params, count);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t index = region->num_params++;
        region->params[index] = qn__ir_value_new(function, inits[i]->type, IR_VALUE_PARAM, index, loop);
        region->params[index]->name = names[i];
    }
}

void qn__operands_extend(ir_function *function, ir_instr *instr, ir_value *const *values, uint32_t count) {
    if (!count) return;
    instr->operands = longer(function, instr->operands, instr->num_operands, count);
    memcpy(instr->operands + instr->num_operands, values, count * sizeof *values);
    instr->num_operands += count;
}

void qn__results_swap(ir_instr *a, ir_instr *b) {
    ir_value **results = a->results;
    a->results = b->results;
    b->results = results;
    for (uint32_t i = 0; i < a->num_results; i++) {
        a->results[i]->def = a;
        b->results[i]->def = b;
    }
}

static uint32_t keep_values(ir_value **values, uint32_t count, const bool *keep, bool renumber) {
    uint32_t kept = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (!keep[i]) continue;
        values[kept] = values[i];
        if (renumber) values[kept]->index = kept;
        kept++;
    }
    return kept;
}

void qn__operands_keep(ir_instr *instr, const bool *keep) {
    instr->num_operands = keep_values(instr->operands, instr->num_operands, keep, false);
}
void qn__results_keep(ir_instr *instr, const bool *keep) {
    instr->num_results = keep_values(instr->results, instr->num_results, keep, true);
}
void qn__params_keep(ir_region *region, const bool *keep) {
    region->num_params = keep_values(region->params, region->num_params, keep, true);
}

void qn__move_range(ir_instr *first, ir_instr *last, ir_instr *before) {
    for (ir_instr *i = first, *next; i; i = next) {
        next = i == last ? NULL : i->next;
        qn__ir_unlink(i);
        qn__ir_insert_before(i, before);
    }
}

void qn__splice_body(ir_region *region, ir_instr *before) {
    if (region->first != region->last) qn__move_range(region->first, region->last->prev, before);
}

void qn__cut_after(ir_instr *instr) {
    while (instr->next) qn__ir_unlink(instr->next);
}

bool qn__may_trap(const ir_instr *instr) {
    if (qn__effects(instr) != IR_EFFECT_PURE_TRAP) return false;
    const ir_value *divisor = instr->operands[1];
    if (!qn__ir_is_const(divisor)) return true;
    const unsigned width = qn__ir_bits(divisor->type);
    for (unsigned i = 0; i < divisor->type.lanes; i++)
        if (divisor->bits[i] == 0 || divisor->bits[i] == UINT64_MAX >> (64 - width)) return true;
    return false;
}

bool qn__is_visible(const ir_value *value, const ir_instr *construct) {
    const ir_region *home = NULL;
    if (value->value_kind == IR_VALUE_RESULT)
        home = value->def->parent;
    else if (value->value_kind == IR_VALUE_PARAM)
        home = value->def->regions[0];
    else
        return true;
    for (const ir_region *r = construct->parent; r; r = r->owner ? r->owner->parent : NULL)
        if (r == home) return true;
    return false;
}

/* ---- what a construct does ---- */

enum {
    ALL_SPACES = (1 << IR_SPACE_COUNT) - 1,
    SHARED = 1 << IR_GLOBAL_SPACE | 1 << IR_LOCAL_SPACE | 1 << IR_GENERIC_SPACE
};

/* What may be changed by a write through such a pointer. */
static uint32_t written(ir_type pointer) {
    return pointer.space == IR_GENERIC_SPACE ? ALL_SPACES : 1u << pointer.space | 1u << IR_GENERIC_SPACE;
}

uint32_t qn__effects_of_writer(const ir_instr *instr) {
    switch (instr->op) {
    case IR_STORE:
    case IR_COPY: return written(instr->operands[0]->type);
    case IR_VAR:
    case IR_PRINTF: return instr->op == IR_PRINTF ? QN__MARK_SYNC : 0;
    case IR_CALL: return ALL_SPACES | QN__MARK_SYNC;
    default: break;
    }
    switch (qn__effects(instr)) {
    case IR_EFFECT_WRITE: return ALL_SPACES;
    case IR_EFFECT_SYNC: return SHARED | QN__MARK_SYNC;
    case IR_EFFECT_READWRITE: { /* an atomic publishes and acquires what others wrote */
        uint32_t own = instr->num_operands ? written(instr->operands[0]->type) : 0;
        return SHARED | own | QN__MARK_SYNC;
    }
    default: return 0;
    }
}

/* Gives the effects of a region, without those of where it jumps to. */
static uint32_t mark_region(ir_region *region) {
    uint32_t all = 0;
    for (ir_instr *i = region->first; i; i = i->next) {
        if (qn__effects(i) <= IR_EFFECT_READ) continue;
        if (qn__ir_is_construct(i)) {
            uint32_t bits = 0;
            i->mark = 0;
            for (uint32_t r = 0; r < i->num_regions; r++) bits |= mark_region(i->regions[r]);
            i->mark |= bits;
            all |= i->mark & ~(uint32_t)QN__MARK_JUMPS_OUT;
        } else {
            all |= qn__effects_of_writer(i);
        }
        if (!qn__ir_is_jump(i) || i->op == IR_YIELD) continue;
        const ir_instr *target = qn__ir_jump_target(i);
        for (ir_instr *c = region->owner; c && c != target; c = c->parent->owner)
            c->mark |= QN__MARK_JUMPS_OUT;
    }
    return all;
}

void qn__mark_effects(ir_region *region) { mark_region(region); }

/* ---- bits ---- */

static ir_type integer_of(unsigned bits) {
    return qn__ir_type(bits == 8 ? IR_I8 : bits == 16 ? IR_I16 : bits == 32 ? IR_I32 : IR_I64, 1);
}

/* Lane `index` of narrower ones: a part of a lane. */
static ir_value *cut_bits(ir_builder *b, ir_value *lane, unsigned index, unsigned from_bits,
                          unsigned to_bits) {
    const ir_type from = integer_of(from_bits);
    ir_value *value = qn__ir_convert(b, IR_BITCAST, lane, from);
    ir_value *by = qn__ir_const_int(b->function, (ir_kind)from.kind, index * to_bits);
    return qn__ir_convert(b, IR_TRUNC, qn__ir_op2(b, IR_LSHR, value, by), integer_of(to_bits));
}

/* A wider lane: several put together. */
static ir_value *join_bits(ir_builder *b, ir_value *const *lanes, unsigned from_bits, unsigned to_bits) {
    const ir_type to = integer_of(to_bits);
    ir_value *value = NULL;
    for (unsigned k = 0; k < to_bits / from_bits; k++) {
        ir_value *piece = qn__ir_convert(b, IR_BITCAST, lanes[k], integer_of(from_bits));
        piece = qn__ir_convert(b, IR_ZEXT, piece, to);
        piece = qn__ir_op2(b, IR_SHL, piece, qn__ir_const_int(b->function, (ir_kind)to.kind, k * from_bits));
        value = value ? qn__ir_op2(b, IR_OR, value, piece) : piece;
    }
    return value;
}

void qn__regroup_bits(ir_builder *builder, ir_value *const *in, ir_type from, ir_type to, ir_value **out) {
    const unsigned from_bits = qn__ir_bits(from), to_bits = qn__ir_bits(to);
    for (unsigned i = 0; i < to.lanes; i++) {
        if (from_bits > to_bits) {
            const unsigned ratio = from_bits / to_bits;
            out[i] = cut_bits(builder, in[i / ratio], i % ratio, from_bits, to_bits);
        } else {
            out[i] = join_bits(builder, in + i * (to_bits / from_bits), from_bits, to_bits);
        }
        out[i] = qn__ir_convert(builder, IR_BITCAST, out[i], qn__ir_element(to));
    }
}
