/* For targets whose vectors end at four lanes: a value of 8 or 16 lanes becomes two or four values of 4; and, where
   the target has i64 as a scalar at most, a vector of those becomes its lanes. What takes or gives such values
   through constructs takes and gives the parts.

       %c: f32x8 = fadd %a, %b     ->     %c0: f32x4 = fadd %a0, %b0;  %c1: f32x4 = fadd %a1, %b1

   An argument of that size is taken apart lane by lane, and printf is given it put together again: these two
   are all that a target must know of long vectors. */
#include <string.h>

#include "pass/tools.h"

enum { MOST_LANES = 4, MAX_PARTS = 16 };

typedef struct splitter {
    qn__pass_context *context;
    qn__arena *arena;
    ir_function *function;
    ir_builder builder;
    qn__map64 parts; /* value id -> array of its parts */
    qn__rewrite rewrite;
    bool no_wide; /* vectors of i64 */
    bool changed;
} splitter;

static unsigned part_lanes(const splitter *s, ir_type type) {
    return s->no_wide && type.kind == IR_I64 ? 1 : MOST_LANES;
}
static bool is_long(const splitter *s, ir_type type) { return type.lanes > part_lanes(s, type); }
static unsigned parts_in(const splitter *s, ir_type type) {
    return is_long(s, type) ? type.lanes / part_lanes(s, type) : 1;
}
static ir_type part_type(const splitter *s, ir_type type) {
    return is_long(s, type) ? qn__ir_with_lanes(type, part_lanes(s, type)) : type;
}

/* ---- parts of values ---- */

static ir_value **new_parts(splitter *s, const ir_value *value) {
    ir_value **parts = QN__NEW_ARRAY(s->arena, ir_value *, MAX_PARTS);
    qn__map64_set(s->arena, &s->parts, value->id, parts);
    s->changed = true;
    return parts;
}

static ir_value *vector_of(ir_builder *builder, ir_value *const *lanes, unsigned count) {
    return count == 1 ? lanes[0] : qn__ir_vector(builder, lanes, count);
}

/* An argument's lanes from..from+count-1, taken at the start of the body, for all to use. */
static ir_value *part_of_arg(splitter *s, ir_value *value, unsigned from, unsigned count) {
    ir_builder builder = {.function = s->function};
    ir_value *lanes[MOST_LANES];
    ir_instr *first = s->function->body->first;
    while (first->op == IR_VAR) first = first->next;
    qn__ir_at(&builder, first);
    for (unsigned i = 0; i < count; i++) lanes[i] = qn__ir_extract(&builder, value, from + i);
    return vector_of(&builder, lanes, count);
}

static ir_value **parts_of(splitter *s, ir_value *value) {
    ir_value **parts = qn__map64_get(&s->parts, value->id);
    if (parts) return parts;
    parts = new_parts(s, value);
    const ir_type type = part_type(s, value->type);
    for (unsigned p = 0; p < parts_in(s, value->type); p++) {
        if (qn__ir_is_const(value))
            parts[p] = qn__ir_const(s->function, type, value->bits + p * type.lanes);
        else if (value->value_kind == IR_VALUE_UNDEF)
            parts[p] = qn__ir_undef(s->function, type);
        else
            parts[p] = part_of_arg(s, value, p * type.lanes, type.lanes);
    }
    return parts;
}

/* A short value is its own and only part. */
static ir_value *part_of(splitter *s, ir_value *value, unsigned p) {
    return is_long(s, value->type) ? parts_of(s, value)[p] : value;
}

static ir_value *lane_of(splitter *s, ir_value *vector, unsigned lane) {
    const unsigned lanes = part_type(s, vector->type).lanes;
    ir_value *part = part_of(s, vector, lane / lanes);
    return lanes == 1 ? part : qn__ir_extract(&s->builder, part, lane % lanes);
}

/* Gives the instruction's result from single lanes. */
static void set_lanes(splitter *s, const ir_instr *instr, ir_value *const *lanes) {
    ir_value *result = instr->results[0];
    if (!is_long(s, result->type)) {
        qn__rewrite_set(&s->rewrite, result, vector_of(&s->builder, lanes, result->type.lanes));
        return;
    }
    ir_value **parts = new_parts(s, result);
    const unsigned step = part_lanes(s, result->type);
    for (unsigned p = 0; p < parts_in(s, result->type); p++)
        parts[p] = vector_of(&s->builder, lanes + p * step, step);
}

/* ---- plain instructions ---- */

static ir_value *like(splitter *s, const ir_instr *instr, ir_value *const *operands, ir_type type) {
    ir_instr *made = qn__ir_emit(&s->builder, (ir_op)instr->op, operands, instr->num_operands, &type, 1);
    made->flags = instr->flags;
    made->attr = instr->attr;
    return made->results[0];
}

/* Where operands and result are not cut alike: each lane by itself. */
static void split_to_lanes(splitter *s, ir_instr *instr) {
    const ir_type type = instr->results[0]->type;
    ir_value *lanes[16], *operands[3];
    for (unsigned i = 0; i < type.lanes; i++) {
        for (uint32_t o = 0; o < instr->num_operands; o++) {
            ir_value *operand = instr->operands[o];
            operands[o] = operand->type.lanes == 1 ? operand : lane_of(s, operand, i);
        }
        lanes[i] = like(s, instr, operands, qn__ir_element(type));
    }
    set_lanes(s, instr, lanes);
}

static bool has_vector_of_wide(const splitter *s, const ir_instr *instr) {
    const ir_type result = instr->results[0]->type;
    bool found = result.lanes > 1 && part_lanes(s, result) == 1;
    for (uint32_t o = 0; o < instr->num_operands; o++)
        found |= instr->operands[o]->type.lanes > 1 && part_lanes(s, instr->operands[o]->type) == 1;
    return found;
}

/* Lane by lane ops: on each part, with short operands (a scalar condition, an index) for all. */
static void split_elementwise(splitter *s, ir_instr *instr) {
    ir_value *result = instr->results[0];
    if (has_vector_of_wide(s, instr)) {
        split_to_lanes(s, instr);
        return;
    }
    ir_value **parts = new_parts(s, result);
    for (unsigned p = 0; p < parts_in(s, result->type); p++) {
        ir_value *operands[3];
        for (uint32_t o = 0; o < instr->num_operands; o++) operands[o] = part_of(s, instr->operands[o], p);
        parts[p] = like(s, instr, operands, part_type(s, result->type));
    }
}

/* Bits regrouped into lanes of another width, by shifts of integers. */
static void split_bitcast(splitter *s, ir_instr *instr) {
    ir_value *from = instr->operands[0], *in[16], *out[16];
    if (from->type.lanes == instr->results[0]->type.lanes) {
        split_elementwise(s, instr);
        return;
    }
    for (unsigned i = 0; i < from->type.lanes; i++) in[i] = lane_of(s, from, i);
    qn__regroup_bits(&s->builder, in, from->type, instr->results[0]->type, out);
    set_lanes(s, instr, out);
}

static void split_shuffle(splitter *s, ir_instr *instr) {
    ir_value *lanes[16];
    const unsigned first = instr->operands[0]->type.lanes;
    const ir_type element = qn__ir_element(instr->results[0]->type);
    for (unsigned i = 0; i < instr->results[0]->type.lanes; i++) {
        const unsigned lane = instr->attr.lanes[i];
        if (lane == 255)
            lanes[i] = qn__ir_undef(s->function, element);
        else
            lanes[i] = lane_of(s, instr->operands[lane >= first], lane >= first ? lane - first : lane);
    }
    set_lanes(s, instr, lanes);
}

/* The lane is in the part that the index's high bits choose. */
static void split_extract_dynamic(splitter *s, ir_instr *instr) {
    ir_builder *b = &s->builder;
    ir_value *vector = instr->operands[0], *index = instr->operands[1], *chosen = NULL;
    const ir_kind kind = (ir_kind)index->type.kind;
    const unsigned lanes = vector->type.lanes, step = part_lanes(s, vector->type);
    const unsigned mask = lanes == 3 ? 3 : lanes - 1;
    ir_value *inside = qn__ir_op2(b, IR_AND, index, qn__ir_const_int(s->function, kind, mask));
    for (unsigned p = 0; p < parts_in(s, vector->type); p++) {
        ir_value *operands[] = {part_of(s, vector, p), inside}, *lane = operands[0];
        const ir_type type = instr->results[0]->type;
        if (step > 1) lane = qn__ir_emit(b, IR_EXTRACT_DYNAMIC, operands, 2, &type, 1)->results[0];
        if (!chosen) {
            chosen = lane;
            continue;
        }
        ir_value *behind = qn__ir_op2(b, IR_ULE, qn__ir_const_int(s->function, kind, p * step), inside);
        chosen = qn__ir_select(b, behind, lane, chosen);
    }
    qn__rewrite_set(&s->rewrite, instr->results[0], chosen);
}

static uint32_t align_at(uint32_t align, uint32_t offset) {
    while (align > 1 && offset % align) align /= 2;
    return align;
}

static void split_access(splitter *s, ir_instr *instr) {
    const bool load = instr->op == IR_LOAD;
    ir_value *value = load ? instr->results[0] : instr->operands[1];
    ir_value **parts = load ? new_parts(s, value) : parts_of(s, value);
    const uint32_t step = qn__ir_bits(value->type) / 8 * part_lanes(s, value->type);
    for (unsigned p = 0; p < parts_in(s, value->type); p++) {
        const uint32_t align = align_at(instr->attr.align, p * step);
        ir_instr *made;
        if (load) {
            parts[p] =
                qn__ir_load(&s->builder, instr->operands[0], part_type(s, value->type), align, instr->flags);
            made = parts[p]->def;
        } else {
            made = qn__ir_store(&s->builder, instr->operands[0], parts[p], align, instr->flags);
        }
        made->attr.offset = instr->attr.offset + p * step;
    }
}

static void split_vector(splitter *s, ir_instr *instr) {
    ir_value **parts, *result = instr->results[0];
    switch (instr->op) {
    case IR_VECTOR: set_lanes(s, instr, instr->operands); break;
    case IR_SPLAT:
        parts = new_parts(s, result);
        parts[0] = instr->operands[0];
        if (part_lanes(s, result->type) > 1)
            parts[0] = qn__ir_splat(&s->builder, parts[0], part_lanes(s, result->type));
        for (unsigned p = 1; p < parts_in(s, result->type); p++) parts[p] = parts[0];
        break;
    case IR_EXTRACT:
        qn__rewrite_set(&s->rewrite, result, lane_of(s, instr->operands[0], instr->attr.lanes[0]));
        break;
    default: { /* insert */
        const unsigned lane = instr->attr.lanes[0], step = part_lanes(s, result->type);
        ir_value **from = parts_of(s, instr->operands[0]), **place;
        parts = new_parts(s, result);
        memcpy(parts, from, MAX_PARTS * sizeof *parts);
        place = &parts[lane / step];
        *place = step == 1 ? instr->operands[1]
                           : qn__ir_insert(&s->builder, *place, instr->operands[1], lane % step);
        break;
    }
    }
}

/* Anything else gets its long operands put together. */
static void join_operands(splitter *s, ir_instr *instr) {
    for (uint32_t o = 0; o < instr->num_operands; o++) {
        ir_value *lanes[16], *value = instr->operands[o];
        if (!is_long(s, value->type) || value->value_kind == IR_VALUE_ARG) continue;
        for (unsigned i = 0; i < value->type.lanes; i++) lanes[i] = lane_of(s, value, i);
        instr->operands[o] = qn__ir_vector(&s->builder, lanes, value->type.lanes);
    }
}

/* Returns whether the instruction is replaced. */
static bool split_plain(splitter *s, ir_instr *instr) {
    switch (instr->op) {
    case IR_LOAD:
    case IR_STORE: split_access(s, instr); return true;
    case IR_BITCAST: split_bitcast(s, instr); return true;
    case IR_SHUFFLE: split_shuffle(s, instr); return true;
    case IR_EXTRACT_DYNAMIC: split_extract_dynamic(s, instr); return true;
    case IR_VECTOR:
    case IR_SPLAT:
    case IR_EXTRACT:
    case IR_INSERT: split_vector(s, instr); return true;
    case IR_PRINTF: join_operands(s, instr); return false;
    default: split_elementwise(s, instr); return true;
    }
}

/* ---- constructs ---- */

static ir_value **expand(splitter *s, ir_value *const *values, uint32_t count, uint32_t *expanded) {
    ir_value **all = QN__NEW_ARRAY(s->arena, ir_value *, (size_t)count * MAX_PARTS + 1);
    *expanded = 0;
    for (uint32_t i = 0; i < count; i++)
        for (unsigned p = 0; p < parts_in(s, values[i]->type); p++)
            all[(*expanded)++] = part_of(s, values[i], p);
    return all;
}

static bool any_long(const splitter *s, ir_value *const *values, uint32_t count) {
    for (uint32_t i = 0; i < count; i++)
        if (is_long(s, values[i]->type)) return true;
    return false;
}

static void expand_operands(splitter *s, ir_instr *instr) {
    if (!any_long(s, instr->operands, instr->num_operands)) return;
    uint32_t count;
    ir_value **all = expand(s, instr->operands, instr->num_operands, &count);
    qn__ir_set_operands(s->function, instr, all, count);
}

/* Results or parameters: new ones at the end for the parts, the long ones then dropped; order within is by
   position. */
static void expand_results(splitter *s, ir_instr *instr) {
    if (!any_long(s, instr->results, instr->num_results)) return;
    ir_value **old = instr->results;
    const uint32_t count = instr->num_results;
    instr->num_results = 0;
    for (uint32_t i = 0; i < count; i++) {
        const ir_type type = part_type(s, old[i]->type);
        ir_value **parts = is_long(s, old[i]->type) ? new_parts(s, old[i]) : NULL;
        for (unsigned p = 0; p < parts_in(s, old[i]->type); p++) {
            qn__results_extend(s->function, instr, &type, &old[i]->name, 1);
            ir_value *made = instr->results[instr->num_results - 1];
            if (parts)
                parts[p] = made;
            else
                qn__rewrite_set(&s->rewrite, old[i], made);
        }
    }
}

static void expand_params(splitter *s, ir_instr *loop) {
    ir_region *body = loop->regions[0];
    if (!any_long(s, body->params, body->num_params)) return;
    ir_value **old = body->params, **inits = loop->operands;
    const uint32_t count = body->num_params;
    body->num_params = loop->num_operands = 0;
    for (uint32_t i = 0; i < count; i++) {
        ir_value **parts = is_long(s, old[i]->type) ? new_parts(s, old[i]) : NULL;
        for (unsigned p = 0; p < parts_in(s, old[i]->type); p++) {
            ir_value *init = part_of(s, inits[i], p);
            qn__params_extend(s->function, loop, &init, &old[i]->name, 1);
            ir_value *made = body->params[body->num_params - 1];
            if (parts)
                parts[p] = made;
            else
                qn__rewrite_set(&s->rewrite, old[i], made);
        }
    }
}

static void visit(splitter *s, ir_region *region) {
    for (ir_instr *i = region->first, *next; i; i = next) {
        next = i->next;
        qn__rewrite_operands(&s->rewrite, i);
        qn__ir_at(&s->builder, i);
        s->builder.float_flags = 0;
        if (qn__ir_is_construct(i)) {
            if (i->op == IR_LOOP) expand_params(s, i);
            for (uint32_t r = 0; r < i->num_regions; r++) visit(s, i->regions[r]);
            expand_results(s, i);
        } else if (qn__ir_is_jump(i)) {
            expand_operands(s, i);
        } else if (any_long(s, i->operands, i->num_operands) || any_long(s, i->results, i->num_results)) {
            if (split_plain(s, i)) qn__ir_unlink(i);
        }
    }
}

bool qn__pass_lower_long_vectors(qn__pass_context *context) {
    splitter s = {.context = context,
                  .arena = context->scratch,
                  .function = context->function,
                  .no_wide = context->options->target.lacks_i64};
    if (!s.no_wide && context->function->lanes < 2 * MOST_LANES) return false;
    visit(&s, context->function->body);
    return s.changed;
}
