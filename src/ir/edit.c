/* Changing the IR in place, for passes. Operands, results and parameters are plain arrays of the module's
   arena; a replaced array is left there. */
#include <string.h>

#include "ir/internal.h"

bool qn__ir_is_removable_effect(const ir_instr *instr) {
    if (instr->op == IR_VAR) return true;
    if (qn__ir_effects(instr) == IR_EFFECT_CONVERGENT) return true;
    /* What is read only as well is mem2reg's, for the checker: it is undefined, wherever it is read. */
    if (instr->op == IR_LOAD) return !(instr->flags & IR_VOLATILE) || (instr->flags & IR_READONLY);
    return instr->op == IR_CALL && instr->attr.callee->is_const;
}

/* ---- lists ---- */

void qn__ir_unlink(ir_instr *instr) {
    ir_region *region = instr->parent;
    if (region->function->last_var == instr) region->function->last_var = instr->prev;
    if (instr->prev)
        instr->prev->next = instr->next;
    else
        region->first = instr->next;
    if (instr->next)
        instr->next->prev = instr->prev;
    else
        region->last = instr->prev;
    instr->prev = instr->next = NULL;
    instr->parent = NULL;
}

void qn__ir_insert_before(ir_instr *instr, ir_instr *before) {
    ir_region *region = before->parent;
    instr->parent = region;
    instr->prev = before->prev;
    instr->next = before;
    if (before->prev)
        before->prev->next = instr;
    else
        region->first = instr;
    before->prev = instr;
}

void qn__ir_append(ir_region *region, ir_instr *instr) {
    instr->parent = region;
    instr->prev = region->last;
    instr->next = NULL;
    if (region->last)
        region->last->next = instr;
    else
        region->first = instr;
    region->last = instr;
}

/* ---- operands, results, parameters ---- */

void qn__ir_set_operands(ir_function *function, ir_instr *instr, ir_value *const *values, uint32_t count) {
    if (count > instr->num_operands) {
        instr->operands = qn__arena_copy(function->module->arena, values, count * sizeof *values);
    } else if (count) {
        memmove(instr->operands, values, count * sizeof *values);
    }
    instr->num_operands = count;
}

static ir_value **extended(qn__arena *arena, ir_value *const *values, uint32_t count, ir_value *last) {
    ir_value **longer = QN__NEW_ARRAY(arena, ir_value *, (size_t)count + 1);
    if (count) memcpy(longer, values, count * sizeof *values);
    longer[count] = last;
    return longer;
}

ir_value *qn__ir_result_add(ir_instr *construct, ir_type type, const char *name) {
    ir_function *function = construct->regions[0]->function;
    ir_value *result = qn__ir_value_new(function, type, IR_VALUE_RESULT, construct->num_results, construct);
    result->name = name;
    construct->results =
        extended(function->module->arena, construct->results, construct->num_results, result);
    construct->num_results++;
    return result;
}

ir_value *qn__ir_param_add(ir_instr *loop, ir_value *init, const char *name) {
    ir_region *region = loop->regions[0];
    ir_function *function = region->function;
    ir_value *param = qn__ir_value_new(function, init->type, IR_VALUE_PARAM, region->num_params, loop);
    param->name = name;
    region->params = extended(function->module->arena, region->params, region->num_params, param);
    region->num_params++;
    loop->operands = extended(function->module->arena, loop->operands, loop->num_operands, init);
    loop->num_operands++;
    return param;
}

/* ---- walks ---- */

void qn__ir_walk(ir_region *region, void (*visit)(ir_instr *instr, void *user), void *user) {
    for (ir_instr *instr = region->first, *next; instr; instr = next) {
        next = instr->next;
        visit(instr, user);
        if (!instr->parent) continue;
        for (unsigned i = 0; i < instr->num_regions; i++) qn__ir_walk(instr->regions[i], visit, user);
    }
}

typedef struct replacement {
    ir_value *const *map;
    uint32_t num_values;
} replacement;

static void replace_operands(ir_instr *instr, void *user) {
    const replacement *r = user;
    for (uint32_t i = 0; i < instr->num_operands; i++) {
        ir_value *value = instr->operands[i];
        /* The bound ends a chain that a wrong map has closed to a ring. */
        for (uint32_t steps = 0; r->map[value->id] && steps < r->num_values; steps++)
            value = r->map[value->id];
        if (instr->operands[i] != value) qn__ir_touch(instr);
        instr->operands[i] = value;
    }
}

void qn__ir_replace(ir_function *function, ir_value *const *map) {
    replacement r = {map, function->num_values};
    qn__ir_walk(function->body, replace_operands, &r);
}

static void count_region(const ir_region *region, uint32_t *uses) {
    for (const ir_instr *instr = region->first; instr; instr = instr->next) {
        for (uint32_t i = 0; i < instr->num_operands; i++) uses[instr->operands[i]->id]++;
        for (unsigned i = 0; i < instr->num_regions; i++) count_region(instr->regions[i], uses);
    }
}

uint32_t *qn__ir_count_uses(qn__arena *arena, const ir_function *function) {
    uint32_t *uses = QN__NEW_ARRAY(arena, uint32_t, function->num_values);
    count_region(function->body, uses);
    return uses;
}

uint32_t qn__ir_count_instrs(const ir_region *region) {
    uint32_t count = 0;
    for (const ir_instr *instr = region->first; instr; instr = instr->next) {
        count++;
        for (unsigned i = 0; i < instr->num_regions; i++) count += qn__ir_count_instrs(instr->regions[i]);
    }
    return count;
}

/* ---- cloning ---- */

/* A construct being copied, with those around it: where a jump's target went. */
typedef struct clone_frame {
    const ir_instr *from;
    ir_instr *to;
    const struct clone_frame *outer;
} clone_frame;

static ir_value *clone_value(ir_function *function, const ir_function *from, ir_value **map,
                             ir_value *value) {
    if (map[value->id]) return map[value->id];
    if (function == from) return value;
    /* What the caller did not map can only be a constant of the other function. */
    ir_value *own = value->value_kind == IR_VALUE_CONST ? qn__ir_const(function, value->type, value->bits)
                                                        : qn__ir_undef(function, value->type);
    return map[value->id] = own;
}

static void clone_results(const ir_instr *instr, ir_instr *copy, ir_value **map) {
    for (uint32_t i = 0; i < instr->num_results; i++) {
        copy->results[i]->name = instr->results[i]->name;
        map[instr->results[i]->id] = copy->results[i];
    }
}

static void clone_region(ir_builder *builder, const ir_region *from, ir_value **map,
                         const clone_frame *outer);

static void clone_params(const ir_region *from, ir_region *to, ir_value **map, ir_instr *loop) {
    ir_function *function = to->function;
    to->num_params = from->num_params;
    if (from->num_params) to->params = QN__NEW_ARRAY(function->module->arena, ir_value *, from->num_params);
    for (uint32_t i = 0; i < from->num_params; i++) {
        const ir_value *param = from->params[i];
        to->params[i] = qn__ir_value_new(function, param->type, IR_VALUE_PARAM, i, loop);
        to->params[i]->name = param->name;
        map[param->id] = to->params[i];
    }
}

/* What a construct inside the copy has become. */
static ir_instr *clone_target(ir_instr *target, const clone_frame *outer) {
    for (const clone_frame *frame = outer; frame; frame = frame->outer)
        if (frame->from == target) return frame->to;
    return target;
}

/* An instruction of another function is as old here as there. */
static uint32_t changed_here(const ir_function *function, const ir_function *from, uint32_t changed) {
    const uint32_t age = from->now - changed;
    return age < function->now ? function->now - age : 0;
}

static ir_instr *clone_shell(ir_builder *builder, const ir_region *from, const ir_instr *instr,
                             ir_value **map) {
    ir_function *function = builder->function;
    ir_instr *copy = qn__ir_instr_copy(function, instr);
    bool is_new = function == from->function; /* or has got an argument's value */
    for (uint32_t i = 0; i < instr->num_operands; i++) {
        is_new |= instr->operands[i]->value_kind == IR_VALUE_ARG;
        copy->operands[i] = clone_value(function, from->function, map, instr->operands[i]);
    }
    for (uint32_t i = 0; i < instr->num_results; i++) map[instr->results[i]->id] = copy->results[i];
    if (!is_new && instr->num_results)
        copy->results[0]->changed = changed_here(function, from->function, instr->results[0]->changed);
    return copy;
}

static void clone_regions(const ir_builder *builder, const ir_instr *instr, ir_instr *copy, ir_value **map,
                          const clone_frame *outer) {
    const clone_frame frame = {instr, copy, outer};
    for (unsigned i = 0; i < instr->num_regions; i++) {
        ir_builder inner = *builder;
        qn__ir_at_end(&inner, qn__ir_region_new(builder->function, copy));
        clone_params(instr->regions[i], inner.region, map, copy);
        clone_region(&inner, instr->regions[i], map, &frame);
    }
}

static void clone_region(ir_builder *builder, const ir_region *from, ir_value **map,
                         const clone_frame *outer) {
    for (const ir_instr *instr = from->first; instr; instr = instr->next) {
        if (instr->op == IR_VAR) { /* variables live at the start of a body, wherever the copy goes */
            ir_value *variable = qn__ir_variable(builder, *instr->attr.var);
            variable->def->loc = instr->loc;
            clone_results(instr, variable->def, map);
            continue;
        }
        ir_instr *copy = clone_shell(builder, from, instr, map);
        if (builder->before)
            qn__ir_insert_before(copy, builder->before);
        else
            qn__ir_append(builder->region, copy);
        if (instr->num_regions)
            clone_regions(builder, instr, copy, map, outer);
        else if (instr->op == IR_BREAK || instr->op == IR_CONTINUE)
            copy->attr.target = clone_target(instr->attr.target, outer);
    }
}

static void inherit(ir_function *function, const ir_function *from) {
    for (unsigned op = 0; op < IR_OP_COUNT; op++) function->has[op] |= from->has[op];
    function->lanes |= from->lanes;
    function->kinds |= from->kinds;
}

void qn__ir_clone_into(ir_builder *builder, const ir_region *from, ir_value **map) {
    if (builder->function != from->function) inherit(builder->function, from->function);
    clone_region(builder, from, map, NULL);
}

/* ---- moving ---- */

static void adopt_region(ir_function *function, ir_region *region, const ir_function *from, ir_value **map);

static void adopt(ir_function *function, ir_instr *instr, const ir_function *from, ir_value **map) {
    bool has_arg = false;
    for (uint32_t n = 0; n < instr->num_operands; n++) {
        if (instr->operands[n]->value_kind < IR_VALUE_ARG) continue;
        has_arg |= instr->operands[n]->value_kind == IR_VALUE_ARG;
        instr->operands[n] = clone_value(function, from, map, instr->operands[n]);
    }
    if (instr->num_results)
        instr->results[0]->changed =
            has_arg ? function->now : changed_here(function, from, instr->results[0]->changed);
    for (uint32_t n = 0; n < instr->num_results; n++) instr->results[n]->id = function->num_values++;
    for (uint32_t r = 0; r < instr->num_regions; r++) adopt_region(function, instr->regions[r], from, map);
}

static void adopt_region(ir_function *function, ir_region *region, const ir_function *from, ir_value **map) {
    region->function = function;
    for (uint32_t n = 0; n < region->num_params; n++) region->params[n]->id = function->num_values++;
    for (ir_instr *i = region->first; i; i = i->next) adopt(function, i, from, map);
}

void qn__ir_move_into(ir_builder *builder, ir_region *from, ir_value **map) {
    ir_function *function = builder->function;
    inherit(function, from->function);
    for (ir_instr *i = from->first, *next; i; i = next) {
        next = i->next;
        adopt(function, i, from->function, map);
        if (i->op == IR_VAR)
            qn__ir_place_variable(function, i);
        else if (builder->before)
            qn__ir_insert_before(i, builder->before);
        else
            qn__ir_append(builder->region, i);
    }
    from->first = from->last = NULL;
}
