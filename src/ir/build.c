/* Making modules, functions and instructions. The builder checks nothing: qn__ir_verify does. It folds only
   what keeps the IR small for free (splats of constants, constant pointer offsets). */
#include <string.h>

#include "ir/internal.h"

/* ---- modules and functions ---- */

ir_module *qn__ir_module_new(qn__arena *arena) {
    ir_module *module = QN__NEW(arena, ir_module);
    module->arena = arena;
    return module;
}

ir_function *qn__ir_function_new(ir_module *module, const char *name, ir_type result) {
    ir_function *function = QN__NEW(module->arena, ir_function);
    function->module = module;
    function->name = name;
    function->result = result;
    function->now = IR_SETTLED;
    function->body = qn__ir_region_new(function, NULL);
    qn__vec_push(module->arena, &module->functions, function);
    return function;
}

static inline void note_type(ir_function *function, ir_type type) {
    function->lanes |= type.lanes;
    function->kinds |= 1u << type.kind;
    if (type.space == IR_GENERIC_SPACE) function->module->has_generic = true;
}

ir_value *qn__ir_value_new(ir_function *function, ir_type type, ir_value_kind kind, uint32_t index,
                           ir_instr *def) {
    ir_value *value = QN__NEW(function->module->arena, ir_value);
    note_type(function, type);
    value->type = type;
    value->value_kind = (uint8_t)kind;
    value->id = function->num_values++;
    if (kind == IR_VALUE_RESULT) value->changed = function->now;
    value->index = index;
    value->def = def;
    return value;
}

ir_value *qn__ir_arg_add(ir_function *function, ir_type type, const char *name) {
    ir_value *value = qn__ir_value_new(function, type, IR_VALUE_ARG, (uint32_t)function->args.len, NULL);
    value->name = name;
    qn__vec_push(function->module->arena, &function->args, (ir_arg){.value = value, .name = name});
    return value;
}

uint32_t qn__ir_global_add(ir_module *module, ir_global global) {
    qn__vec_push(module->arena, &module->globals, global);
    return (uint32_t)module->globals.len - 1;
}

uint32_t qn__ir_local_add(ir_function *function, ir_local local) {
    qn__vec_push(function->module->arena, &function->locals, local);
    return (uint32_t)function->locals.len - 1;
}

ir_function *qn__ir_function_find(ir_module *module, qn__str name) {
    for (size_t i = 0; i < module->functions.len; i++)
        if (qn__str_is(name, module->functions.data[i]->name)) return module->functions.data[i];
    return NULL;
}

ir_region *qn__ir_region_new(ir_function *function, ir_instr *owner) {
    qn__arena *arena = function->module->arena;
    ir_region *region = QN__NEW(arena, ir_region);
    region->function = function;
    region->owner = owner;
    if (!owner) return region;
    ir_region **regions = QN__NEW_ARRAY(arena, ir_region *, owner->num_regions + 1u);
    if (owner->num_regions) memcpy(regions, owner->regions, owner->num_regions * sizeof *regions);
    regions[owner->num_regions++] = region;
    owner->regions = regions;
    return region;
}

/* ---- the general form ---- */

/* An instruction, its results and its arrays: one piece of memory, as what walks over them likes it. */
typedef struct whole_instr {
    ir_instr instr;
    ir_value results[];
} whole_instr;

static whole_instr *whole_new(const ir_function *function, uint32_t num_operands, uint32_t num_results) {
    const size_t fixed = sizeof(whole_instr) + num_results * (sizeof(ir_value) + sizeof(ir_value *));
    return qn__arena_take(function->module->arena, fixed + num_operands * sizeof(ir_value *));
}

static void set_result(ir_function *function, whole_instr *whole, uint32_t index, ir_type type,
                       const char *name) {
    whole->results[index] = (ir_value){.type = type,
                                       .value_kind = IR_VALUE_RESULT,
                                       .id = function->num_values++,
                                       .index = index,
                                       .changed = function->now,
                                       .def = &whole->instr,
                                       .name = name};
    whole->instr.results[index] = &whole->results[index];
}

ir_instr *qn__ir_instr_new(ir_function *function, ir_op op, ir_value *const *operands, uint32_t num_operands,
                           const ir_type *results, uint32_t num_results) {
    whole_instr *whole = whole_new(function, num_operands, num_results);
    ir_value **pointers = (ir_value **)(whole->results + num_results);
    function->has[op] = true;
    whole->instr = (ir_instr){.op = (uint8_t)op,
                              .num_operands = num_operands,
                              .num_results = num_results,
                              .operands = num_operands ? pointers + num_results : NULL,
                              .results = num_results ? pointers : NULL};
    for (uint32_t i = 0; i < num_results; i++) {
        note_type(function, results[i]);
        set_result(function, whole, i, results[i], NULL);
    }
    for (uint32_t i = 0; i < num_operands; i++) whole->instr.operands[i] = operands[i];
    return &whole->instr;
}

ir_instr *qn__ir_instr_copy(ir_function *function, const ir_instr *instr) {
    whole_instr *whole = whole_new(function, instr->num_operands, instr->num_results);
    ir_value **pointers = (ir_value **)(whole->results + instr->num_results);
    ir_instr *copy = &whole->instr;
    *copy = *instr;
    copy->next = copy->prev = NULL;
    copy->parent = NULL;
    copy->mark = 0;
    copy->num_regions = 0;
    copy->regions = NULL;
    copy->operands = instr->num_operands ? pointers + instr->num_results : NULL;
    copy->results = instr->num_results ? pointers : NULL;
    for (uint32_t i = 0; i < instr->num_results; i++)
        set_result(function, whole, i, instr->results[i]->type, instr->results[i]->name);
    return copy;
}

ir_instr *qn__ir_emit(ir_builder *builder, ir_op op, ir_value *const *operands, uint32_t num_operands,
                      const ir_type *results, uint32_t num_results) {
    ir_instr *instr = qn__ir_instr_new(builder->function, op, operands, num_operands, results, num_results);
    instr->loc = builder->loc;
    instr->flags = builder->float_flags & qn__ir_ops[op].flags & (IR_CONTRACT | IR_FAST);
    if (builder->before)
        qn__ir_insert_before(instr, builder->before);
    else
        qn__ir_append(builder->region, instr);
    return instr;
}

static ir_value *emit1(ir_builder *builder, ir_op op, ir_value *const *operands, uint32_t count,
                       ir_type type) {
    return qn__ir_emit(builder, op, operands, count, &type, 1)->results[0];
}

/* Comparisons give a bool for each lane; other ops the type of `like`. */
static ir_type result_type(ir_op op, const ir_value *like) {
    int rule = qn__ir_ops[op].rule;
    bool compares = rule == RULE_COMPARE || rule == RULE_FCOMPARE;
    return compares ? qn__ir_type(IR_BOOL, like->type.lanes) : like->type;
}

ir_value *qn__ir_op1(ir_builder *builder, ir_op op, ir_value *a) {
    return emit1(builder, op, &a, 1, result_type(op, a));
}

ir_value *qn__ir_op2(ir_builder *builder, ir_op op, ir_value *a, ir_value *b) {
    ir_value *operands[] = {a, b};
    return emit1(builder, op, operands, 2, result_type(op, a));
}

ir_value *qn__ir_op3(ir_builder *builder, ir_op op, ir_value *a, ir_value *b, ir_value *c) {
    ir_value *operands[] = {a, b, c};
    return emit1(builder, op, operands, 3, result_type(op, qn__ir_ops[op].rule == RULE_SELECT ? b : a));
}

ir_value *qn__ir_convert(ir_builder *builder, ir_op op, ir_value *a, ir_type type) {
    return qn__ir_same(a->type, type) ? a : emit1(builder, op, &a, 1, type);
}

ir_value *qn__ir_select(ir_builder *builder, ir_value *condition, ir_value *a, ir_value *b) {
    return qn__ir_op3(builder, IR_SELECT, condition, a, b);
}

/* ---- vectors ---- */

ir_value *qn__ir_vector(ir_builder *builder, ir_value *const *scalars, unsigned lanes) {
    if (lanes == 1) return scalars[0];
    ir_type type = qn__ir_with_lanes(scalars[0]->type, lanes);
    uint64_t bits[16];
    unsigned known = 0;
    while (known < lanes && qn__ir_is_const(scalars[known])) {
        bits[known] = scalars[known]->bits[0];
        known++;
    }
    if (known == lanes) return qn__ir_const(builder->function, type, bits);
    return emit1(builder, IR_VECTOR, scalars, lanes, type);
}

ir_value *qn__ir_splat(ir_builder *builder, ir_value *scalar, unsigned lanes) {
    if (lanes == 1) return scalar;
    ir_type type = qn__ir_with_lanes(scalar->type, lanes);
    if (qn__ir_is_const(scalar)) return qn__ir_const_splat(builder->function, type, scalar->bits[0]);
    return emit1(builder, IR_SPLAT, &scalar, 1, type);
}

ir_value *qn__ir_extract(ir_builder *builder, ir_value *vector, unsigned lane) {
    if (vector->type.lanes == 1) return vector;
    ir_value *result = emit1(builder, IR_EXTRACT, &vector, 1, qn__ir_element(vector->type));
    result->def->attr.lanes[0] = (uint8_t)lane;
    return result;
}

ir_value *qn__ir_insert(ir_builder *builder, ir_value *vector, ir_value *scalar, unsigned lane) {
    if (vector->type.lanes == 1) return scalar;
    ir_value *operands[] = {vector, scalar};
    ir_value *result = emit1(builder, IR_INSERT, operands, 2, vector->type);
    result->def->attr.lanes[0] = (uint8_t)lane;
    return result;
}

ir_value *qn__ir_shuffle(ir_builder *builder, ir_value *a, ir_value *b, const uint8_t *lanes,
                         unsigned count) {
    ir_value *operands[] = {a, b};
    ir_value *result = emit1(builder, IR_SHUFFLE, operands, 2, qn__ir_with_lanes(a->type, count));
    memcpy(result->def->attr.lanes, lanes, count);
    return result;
}

/* ---- memory ---- */

/* Variables go behind those already at the start of the body. The last one is remembered, so that many of
   them do not cost quadratic time; a pass may have moved it since, hence the look at its place. */
void qn__ir_place_variable(ir_function *function, ir_instr *instr) {
    ir_instr *last = function->last_var;
    ir_instr *before = last && last->parent == function->body ? last->next : function->body->first;
    if (before)
        qn__ir_insert_before(instr, before);
    else
        qn__ir_append(function->body, instr);
    function->last_var = instr;
}

ir_value *qn__ir_variable(ir_builder *builder, ir_var var) {
    ir_function *function = builder->function;
    ir_type type = qn__ir_pointer(IR_PRIVATE);
    ir_instr *instr = qn__ir_instr_new(function, IR_VAR, NULL, 0, &type, 1);
    instr->loc = builder->loc;
    instr->attr.var = qn__arena_copy(function->module->arena, &var, sizeof var);
    instr->results[0]->name = var.name;
    qn__ir_place_variable(function, instr);
    return instr->results[0];
}

ir_value *qn__ir_ptr_offset(ir_builder *builder, ir_value *pointer, int64_t bytes) {
    if (bytes == 0) return pointer;
    ir_value *operands[] = {pointer, qn__ir_const_int(builder->function, IR_I64, 0)};
    const ir_instr *def = pointer->value_kind == IR_VALUE_RESULT ? pointer->def : NULL;
    if (def && def->op == IR_PTR_ADD) {
        int64_t inner = def->attr.offset;
        bool overflows = bytes > 0 ? inner > INT64_MAX - bytes : inner < INT64_MIN - bytes;
        if (!overflows) {
            memcpy(operands, def->operands, sizeof operands);
            bytes += inner;
        }
    }
    ir_value *result = emit1(builder, IR_PTR_ADD, operands, 2, pointer->type);
    result->def->attr.offset = bytes;
    return result;
}

ir_value *qn__ir_ptr_add(ir_builder *builder, ir_value *pointer, ir_value *bytes) {
    if (qn__ir_is_const(bytes)) return qn__ir_ptr_offset(builder, pointer, (int64_t)bytes->bits[0]);
    ir_value *operands[] = {pointer, bytes};
    return emit1(builder, IR_PTR_ADD, operands, 2, pointer->type);
}

static uint32_t align_or_natural(uint32_t align, ir_type type) {
    return align ? align : qn__ir_memory_size(type);
}

ir_value *qn__ir_load(ir_builder *builder, ir_value *pointer, ir_type type, uint32_t align, uint16_t flags) {
    ir_value *result = emit1(builder, IR_LOAD, &pointer, 1, type);
    result->def->attr.align = align_or_natural(align, type);
    result->def->flags = flags;
    return result;
}

ir_instr *qn__ir_store(ir_builder *builder, ir_value *pointer, ir_value *value, uint32_t align,
                       uint16_t flags) {
    ir_value *operands[] = {pointer, value};
    ir_instr *instr = qn__ir_emit(builder, IR_STORE, operands, 2, NULL, 0);
    instr->attr.align = align_or_natural(align, value->type);
    instr->flags = flags;
    return instr;
}

ir_instr *qn__ir_copy(ir_builder *builder, ir_value *to, ir_value *from, uint64_t size, uint32_t align) {
    ir_value *operands[] = {to, from};
    ir_instr *instr = qn__ir_emit(builder, IR_COPY, operands, 2, NULL, 0);
    instr->attr.size = size;
    instr->attr.align = align ? align : 1;
    return instr;
}

/* ---- work-items ---- */

ir_value *qn__ir_query(ir_builder *builder, ir_op op, uint32_t dim) {
    bool wide = qn__ir_ops[op].rule == RULE_QUERY64;
    ir_value *result = emit1(builder, op, NULL, 0, qn__ir_type(wide ? IR_I64 : IR_I32, 1));
    if (wide) result->def->attr.dim = dim;
    return result;
}

ir_instr *qn__ir_barrier(ir_builder *builder, unsigned fence, ir_scope scope) {
    ir_instr *instr = qn__ir_emit(builder, IR_BARRIER, NULL, 0, NULL, 0);
    instr->attr.fence = (uint8_t)fence;
    instr->attr.scope = (uint8_t)scope;
    return instr;
}

ir_value *qn__ir_combine(ir_builder *builder, ir_combine combine, ir_value *a, ir_value *b) {
    const ir_op op = qn__ir_combine_op(combine);
    return op == IR_OP_COUNT ? b : qn__ir_op2(builder, op, a, b);
}

/* ---- constructs and jumps ---- */

ir_instr *qn__ir_if(ir_builder *builder, ir_value *condition, const ir_type *results, uint32_t num_results) {
    ir_instr *instr = qn__ir_emit(builder, IR_IF, &condition, 1, results, num_results);
    qn__ir_region_new(builder->function, instr);
    qn__ir_region_new(builder->function, instr);
    return instr;
}

ir_instr *qn__ir_loop(ir_builder *builder, ir_value *const *inits, uint32_t num_inits, const ir_type *results,
                      uint32_t num_results) {
    ir_function *function = builder->function;
    ir_instr *instr = qn__ir_emit(builder, IR_LOOP, inits, num_inits, results, num_results);
    ir_region *region = qn__ir_region_new(function, instr);
    region->num_params = num_inits;
    if (num_inits) region->params = QN__NEW_ARRAY(function->module->arena, ir_value *, num_inits);
    for (uint32_t i = 0; i < num_inits; i++)
        region->params[i] = qn__ir_value_new(function, inits[i]->type, IR_VALUE_PARAM, i, instr);
    return instr;
}

ir_instr *qn__ir_block(ir_builder *builder, const ir_type *results, uint32_t num_results) {
    ir_instr *instr = qn__ir_emit(builder, IR_BLOCK, NULL, 0, results, num_results);
    qn__ir_region_new(builder->function, instr);
    return instr;
}

ir_instr *qn__ir_yield(ir_builder *builder, ir_value *const *values, uint32_t count) {
    return qn__ir_emit(builder, IR_YIELD, values, count, NULL, 0);
}

static ir_instr *emit_jump(ir_builder *builder, ir_op op, ir_instr *target, ir_value *const *values,
                           uint32_t count) {
    ir_instr *instr = qn__ir_emit(builder, op, values, count, NULL, 0);
    instr->attr.target = target;
    return instr;
}

ir_instr *qn__ir_break(ir_builder *builder, ir_instr *target, ir_value *const *values, uint32_t count) {
    return emit_jump(builder, IR_BREAK, target, values, count);
}

ir_instr *qn__ir_continue(ir_builder *builder, ir_instr *loop, ir_value *const *values, uint32_t count) {
    return emit_jump(builder, IR_CONTINUE, loop, values, count);
}

ir_instr *qn__ir_return(ir_builder *builder, ir_value *value) {
    return qn__ir_emit(builder, IR_RETURN, &value, value ? 1 : 0, NULL, 0);
}
