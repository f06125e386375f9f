/* Entry points to kernels: built-in values, bindings as parameters, workgroup memory zeroed (WGSL sections 12 and 14). */
#include <stdlib.h>
#include <string.h>

#include "wgsl/internal.h"

/* ---- at the kernel's begin ---- */

/* In front of all that is no variable. What was built goes on where it was, with w->b as it is given back. */
ir_builder qn__wf_begin(wgsl_lower *w) {
    ir_builder outer = w->b;
    ir_function *function = w->b.function;
    ir_instr *first = function->body->first;
    while (first && first->op == IR_VAR) first = first->next;
    const ir_loc loc = w->b.loc;
    if (first)
        qn__ir_at(&w->b, first);
    else
        qn__ir_at_end(&w->b, function->body);
    w->b.loc = loc;
    return outer;
}

/* ---- variables at module scope ---- */

static ir_value *private_variable(wgsl_lower *w, wgsl_binding *binding) {
    const ir_builder outer = qn__wf_begin(w);
    const char *name = qn__arena_strndup(w->arena, binding->decl->name.data, binding->decl->name.len);
    const wgsl_value place = qn__wf_variable_place(w, binding->type, name, WGSL_PRIVATE);
    const wgsl_value v = binding->decl->value ? *binding->decl->value : qn__wf_zero(w, binding->type);
    qn__wf_store(w, &place, &v);
    place.place.pointer->def->mark = WGSL_MARK_PRIVATE;
    w->b = outer;
    return place.place.pointer;
}

static ir_value *workgroup_variable(wgsl_lower *w, const wgsl_binding *binding) {
    const ir_type type = qn__ir_pointer(IR_LOCAL_SPACE);
    const ir_local local = {
        .name = qn__arena_strndup(w->arena, binding->decl->name.data, binding->decl->name.len),
        .size = (binding->type->size + 3) / 4 * 4,
        .align = binding->type->align < 4 ? 4 : binding->type->align};
    const uint32_t index = qn__ir_local_add(w->b.function, local);
    const ir_builder outer = qn__wf_begin(w);
    ir_instr *instr = qn__ir_emit(&w->b, IR_LOCAL, NULL, 0, &type, 1);
    instr->attr.index = index;
    w->b = outer;
    return instr->results[0];
}

/* ---- reflection ---- */

enum { MOST_FIELDS = 1024 };

typedef struct fields {
    wgsl_lower *w;
    QN__VEC(const char *) names;
    QN__VEC(uint32_t) words;
} fields;

static void add_field(fields *f, const wgsl_type *type, const char *path, uint64_t offset) {
    uint64_t count = 1;
    for (; type->kind == WGSL_ARRAY && type->length; type = type->element) count *= type->length;
    if (type->kind == WGSL_ATOMIC) type = type->element;
    if (f->names.len >= MOST_FIELDS || count > UINT32_MAX) return;
    const bool is_number = qn__wf_is_value(type);
    const wgsl_type *scalar = qn__wf_scalar_of(type);
    const uint32_t words[IR_FIELD_WORDS] = {(uint32_t)offset, is_number ? (uint32_t)scalar->size : 0,
                                            is_number ? qn__wf_lanes(type) : 1,
                                            is_number ? (qn__wf_is_float(scalar) ? IR_FIELD_FLOAT : 0u) |
                                                            (scalar->kind == WGSL_I32 ? IR_FIELD_SIGNED : 0u)
                                                      : 0,
                                            (uint32_t)count};
    qn__vec_push(f->w->arena, &f->names, path);
    for (unsigned i = 0; i < IR_FIELD_WORDS; i++) qn__vec_push(f->w->arena, &f->words, words[i]);
}

static void add_fields(fields *f, const wgsl_type *type, const char *path, uint64_t offset) {
    for (uint32_t i = 0; i < type->num_members && f->names.len < MOST_FIELDS; i++) {
        const wgsl_member *member = &type->members[i];
        const char *name =
            qn__arena_printf(f->w->arena, "%s%s%.*s", path, path[0] ? "." : "", QN__STR_PRINTF(member->name));
        if (member->type->kind == WGSL_STRUCT)
            add_fields(f, member->type, name, offset + member->offset);
        else
            add_field(f, member->type, name, offset + member->offset);
    }
}

/* With one element where the length is the buffer's to tell. */
static uint64_t least_size(const wgsl_type *type) {
    if (type->kind == WGSL_ARRAY && !type->length) return type->stride;
    if (type->kind != WGSL_STRUCT) return type->size;
    const wgsl_member *last = &type->members[type->num_members - 1];
    if (last->type->kind != WGSL_ARRAY || last->type->length) return type->size;
    return (last->offset + last->type->stride + type->align - 1) / type->align * type->align;
}

/* What a buffer is made of: the element of an array, or the whole. */
static void describe(wgsl_lower *w, ir_arg *arg, const wgsl_binding *binding) {
    const wgsl_type *element = binding->type;
    while (element->kind == WGSL_ARRAY) element = element->element;
    if (element->kind == WGSL_ATOMIC) element = element->element;
    const bool is_number = qn__wf_is_value(element);
    *arg = (ir_arg){.value = arg->value,
                    .name = arg->name,
                    .arg_kind = IR_ARG_BUFFER,
                    .flags = (uint8_t)(IR_ARG_RESTRICT | (binding->access == WGSL_READ ? IR_ARG_CONST : 0)),
                    .element = is_number ? qn__wf_memory_type(element) : qn__ir_type(IR_VOID, 1),
                    .is_signed = qn__wf_scalar_of(element)->kind == WGSL_I32,
                    .size = 8,
                    .align = 8,
                    .pointee_size = (uint32_t)element->size,
                    .least_size = least_size(binding->type),
                    .type_name = qn__wf_type_name(w, binding->type)};
    if (element->kind != WGSL_STRUCT) return;
    fields f = {.w = w};
    add_fields(&f, element, "", 0);
    arg->field_names = f.names.data;
    arg->fields = f.words.data;
    arg->num_fields = (uint32_t)f.names.len;
}

static ir_value *buffer(wgsl_lower *w, const wgsl_binding *binding) {
    const ir_space space = binding->space == WGSL_UNIFORM ? IR_CONSTANT_SPACE : IR_GLOBAL_SPACE;
    const char *name = qn__arena_strndup(w->arena, binding->decl->name.data, binding->decl->name.len);
    ir_value *pointer = qn__ir_arg_add(w->b.function, qn__ir_pointer(space), name);
    describe(w, &qn__vec_last(&w->b.function->args), binding);
    return pointer;
}

static void make(wgsl_lower *w, wgsl_binding *binding) {
    binding->function = w->b.function;
    binding->extent = binding->length = binding->last = NULL;
    switch (binding->space) {
    case WGSL_PRIVATE: binding->pointer = private_variable(w, binding); return;
    case WGSL_WORKGROUP: binding->pointer = workgroup_variable(w, binding); return;
    default: binding->pointer = buffer(w, binding);
    }
}

wgsl_value qn__wf_module_variable(wgsl_lower *w, wgsl_binding *binding, front_loc loc) {
    wgsl_value v = {.form = WGSL_FORM_PLACE, .stage = WGSL_STAGE_RUN, .type = binding->type};
    if (w->b.function == w->scratch)
        return qn__wf_error(w, loc, "variable '%.*s' is no constant", QN__STR_PRINTF(binding->decl->name));
    if (binding->function != w->b.function) make(w, binding);
    v.place = (wgsl_place){.pointer = binding->pointer,
                           .space = binding->space,
                           .access = binding->access,
                           .flags = (uint16_t)(binding->access == WGSL_READ ? IR_READONLY : 0),
                           .binding = binding,
                           .root = binding,
                           .is_module = true};
    return v;
}

/* ---- arrays whose length the buffer tells ---- */

static ir_value *extent(wgsl_lower *w, wgsl_binding *binding) {
    ir_value *size = qn__ir_arg_add(w->b.function, qn__ir_type(IR_I64, 1), NULL);
    ir_arg *arg = &qn__vec_last(&w->b.function->args);
    *arg = (ir_arg){.value = size,
                    .arg_kind = IR_ARG_VALUE,
                    .element = size->type,
                    .size = 8,
                    .align = 8,
                    .name = qn__arena_printf(w->arena, "%.*s_bytes", QN__STR_PRINTF(binding->decl->name)),
                    .type_name = "ulong",
                    .extent_of = binding->pointer->index + 1};
    return size;
}

/* The array at the end of the binding's type: how many elements the buffer has room for, one at least. */
void qn__wf_runtime_length(wgsl_lower *w, wgsl_binding *binding) {
    if (binding->length) return;
    const wgsl_type *array = binding->type;
    uint64_t offset = 0;
    if (array->kind == WGSL_STRUCT) {
        offset = array->members[array->num_members - 1].offset;
        array = array->members[array->num_members - 1].type;
    }
    binding->extent = extent(w, binding);
    const ir_builder outer = qn__wf_begin(w);
    ir_function *function = w->b.function;
    ir_value *room = binding->extent;
    if (offset) {
        ir_value *at = qn__ir_const_int(function, IR_I64, (int64_t)offset);
        room = qn__ir_op2(&w->b, IR_SUB, qn__ir_op2(&w->b, IR_UMAX, room, at), at);
    }
    room = qn__ir_op2(&w->b, IR_UDIV, room, qn__ir_const_int(function, IR_I64, (int64_t)array->stride));
    room = qn__ir_op2(&w->b, IR_UMIN, room, qn__ir_const_int(function, IR_I64, UINT32_MAX));
    room = qn__ir_convert(&w->b, IR_TRUNC, room, qn__ir_type(IR_I32, 1));
    ir_value *one = qn__ir_const_int(function, IR_I32, 1);
    binding->length = qn__ir_op2(&w->b, IR_UMAX, room, one);
    binding->last = qn__ir_op2(&w->b, IR_SUB, binding->length, one);
    w->b = outer;
}

/* ---- parameters in order ---- */

typedef struct ordered {
    const wgsl_binding *binding; /* of a buffer, or of what an extent is of */
    ir_arg arg;
} ordered;

static int compare(const void *a, const void *b) {
    const ordered *x = a, *y = b;
    if (!x->arg.extent_of != !y->arg.extent_of) return x->arg.extent_of ? 1 : -1;
    if (x->binding->group != y->binding->group) return x->binding->group < y->binding->group ? -1 : 1;
    return x->binding->number < y->binding->number ? -1 : x->binding->number > y->binding->number;
}

static const wgsl_binding *binding_of(const wgsl_lower *w, const ir_function *function,
                                      const ir_value *value) {
    for (size_t i = 0; i < w->bindings.len; i++) {
        const wgsl_binding *b = w->bindings.data[i];
        if (b->function == function && (b->pointer == value || b->extent == value)) return b;
    }
    return NULL;
}

static void order_parameters(wgsl_lower *w, ir_function *function) {
    const size_t count = function->args.len;
    ordered *all = QN__NEW_ARRAY(w->arena, ordered, count + 1);
    for (size_t i = 0; i < count; i++)
        all[i] = (ordered){binding_of(w, function, function->args.data[i].value), function->args.data[i]};
    qsort(all, count, sizeof *all, compare);
    for (size_t i = 0; i < count; i++) {
        function->args.data[i] = all[i].arg;
        all[i].arg.value->index = (uint32_t)i;
        if (all[i].arg.extent_of) function->args.data[i].extent_of = all[i].binding->pointer->index + 1;
        const bool is_twice = i && !all[i].arg.extent_of && !compare(&all[i - 1], &all[i]);
        if (!is_twice) continue;
        qn__wf_error(w, all[i].binding->decl->loc,
                     "'%.*s' has the same group and binding as '%.*s', and both are used by '%s'",
                     QN__STR_PRINTF(all[i].binding->decl->name),
                     QN__STR_PRINTF(all[i - 1].binding->decl->name), function->name);
    }
}

/* ---- built-in values ---- */

static ir_value *narrow(wgsl_lower *w, ir_value *v) {
    return qn__ir_convert(&w->b, IR_TRUNC, v, qn__ir_type(IR_I32, 1));
}

static ir_value *word(wgsl_lower *w, uint32_t value) {
    return qn__ir_const_int(w->b.function, IR_I32, value);
}

/* x + (y + z * size_y) * size_x, of 32 bits or 64 */
static ir_value *local_index(wgsl_lower *w, ir_kind kind) {
    ir_value *v = NULL;
    for (unsigned dim = 3; dim-- > 0;) {
        if (w->group_size[dim] == 1 && dim) continue;
        ir_value *id = qn__ir_query(&w->b, IR_LOCAL_ID, dim);
        if (kind == IR_I32) id = narrow(w, id);
        ir_value *size = qn__ir_const_int(w->b.function, kind, w->group_size[dim]);
        v = v ? qn__ir_op2(&w->b, IR_ADD, qn__ir_op2(&w->b, IR_MUL, v, size), id) : id;
    }
    return v;
}

static const struct value_row {
    const char *name;
    uint16_t op;
    bool is_vector, needs_extension;
} values[] = {{"global_invocation_id", IR_GLOBAL_ID, true, false},
              {"local_invocation_id", IR_LOCAL_ID, true, false},
              {"workgroup_id", IR_GROUP_ID, true, false},
              {"num_workgroups", IR_NUM_GROUPS, true, false},
              {"local_invocation_index", IR_OP_COUNT, false, false},
              {"subgroup_size", IR_MAX_SUB_GROUP_SIZE, false, true},
              {"subgroup_invocation_id", IR_SUB_GROUP_LOCAL_ID, false, true},
              {"subgroup_id", IR_SUB_GROUP_ID, false, true},
              {"num_subgroups", IR_NUM_SUB_GROUPS, false, true}};

static wgsl_value unknown_value(wgsl_lower *w, const wgsl_expr *e) {
    const wgsl_value error = qn__wf_error(w, e->loc, "there is no built-in value '%.*s' in compute shaders",
                                          QN__STR_PRINTF(e->name));
    qn__wf_hint(w, "there are global_invocation_id, local_invocation_id, local_invocation_index, "
                   "workgroup_id, num_workgroups, "
                   "subgroup_size and subgroup_invocation_id");
    return error;
}

static wgsl_value built_in(wgsl_lower *w, const wgsl_attribute *attribute, const wgsl_type *type,
                           front_loc loc) {
    const wgsl_expr *e = attribute->args.len == 1 ? attribute->args.data[0] : NULL;
    const struct value_row *row = NULL;
    if (!e || e->kind != WGSL_EXPR_NAME)
        return qn__wf_error(w, attribute->loc, "@builtin takes the name of a built-in value");
    for (size_t i = 0; i < QN__COUNT(values) && !row; i++)
        if (qn__str_is(e->name, values[i].name)) row = &values[i];
    if (!row) return unknown_value(w, e);
    const wgsl_type *scalar = w->scalars[WGSL_U32],
                    *wanted = qn__wf_vector(w, scalar, row->is_vector ? 3 : 1);
    if (type != wanted)
        return qn__wf_error(w, loc, "built-in value '%s' is '%s'", row->name, qn__wf_type_name(w, wanted));
    if (w->seen_values & 1u << (row - values))
        return qn__wf_error(w, loc, "built-in value '%s' is there twice", row->name);
    w->seen_values |= 1u << (row - values);
    if (row->needs_extension && !w->source->enables_subgroups) {
        const wgsl_value error =
            qn__wf_error(w, e->loc, "built-in value '%s' needs the extension subgroups", row->name);
        qn__wf_hint(w, "begin the module with 'enable subgroups;'");
        return error;
    }
    if (row->op == IR_OP_COUNT) return qn__wf_of_ir(scalar, local_index(w, IR_I32));
    if (!row->is_vector) return qn__wf_of_ir(scalar, qn__ir_query(&w->b, (ir_op)row->op, 0));
    wgsl_value lanes[3];
    for (unsigned i = 0; i < 3; i++)
        lanes[i] = qn__wf_of_ir(scalar, narrow(w, qn__ir_query(&w->b, (ir_op)row->op, i)));
    return qn__wf_gather(w, wanted, lanes);
}

static const wgsl_attributes *member_attributes(const wgsl_lower *w, const wgsl_type *type, uint32_t index) {
    const wgsl_decl *decl = qn__map_get(&w->source->names, type->name);
    return &decl->members.data[index]->attributes;
}

static wgsl_value parameter(wgsl_lower *w, const wgsl_decl *param) {
    const wgsl_type *type = qn__wf_type_of(w, param->type);
    if (!type) return (wgsl_value){.form = WGSL_FORM_ERROR};
    const wgsl_attribute *attribute = qn__wf_attribute(&param->attributes, "builtin");
    if (attribute) return built_in(w, attribute, type, param->loc);
    if (type->kind != WGSL_STRUCT)
        return qn__wf_error(w, param->loc, "parameter '%.*s' of an entry point needs @builtin",
                            QN__STR_PRINTF(param->name));
    wgsl_value *parts = QN__NEW_ARRAY(w->arena, wgsl_value, type->num_members + 1);
    for (uint32_t i = 0; i < type->num_members; i++) {
        attribute = qn__wf_attribute(member_attributes(w, type, i), "builtin");
        parts[i] = attribute ? built_in(w, attribute, type->members[i].type, type->members[i].loc)
                             : qn__wf_error(w, type->members[i].loc,
                                            "a member of an entry point's parameter needs @builtin");
    }
    return qn__wf_of_parts(w, type, parts, type->num_members);
}

/* ---- workgroup memory ---- */

/* Some words: a store each, the last one where there is so much. */
static void zero_few(wgsl_lower *w, ir_value *pointer, ir_value *first, uint64_t size, uint64_t step) {
    ir_value *to = qn__ir_ptr_add(&w->b, pointer, first);
    for (uint64_t at = 0; at < size; at += step) {
        ir_value *word_at = qn__ir_ptr_offset(&w->b, to, (int64_t)at);
        if (size - at >= step) {
            qn__ir_store(&w->b, word_at, word(w, 0), 4, 0);
            continue;
        }
        ir_value *rest = qn__ir_const_int(w->b.function, IR_I64, (int64_t)(size - at));
        ir_instr *is_there = qn__ir_if(&w->b, qn__ir_op2(&w->b, IR_ULT, first, rest), NULL, 0);
        const ir_builder outer = w->b;
        qn__ir_at_end(&w->b, is_there->regions[1]);
        qn__ir_yield(&w->b, NULL, 0);
        qn__ir_at_end(&w->b, is_there->regions[0]);
        qn__ir_store(&w->b, word_at, word(w, 0), 4, 0);
        qn__ir_yield(&w->b, NULL, 0);
        w->b = outer;
    }
}

/* Each work-item zeroes every so many-th word. */
static void zero_words(wgsl_lower *w, uint32_t index, ir_value *first, uint64_t step) {
    enum { FEW = 8 };
    const ir_type pointer = qn__ir_pointer(IR_LOCAL_SPACE);
    ir_function *function = w->b.function;
    const uint64_t size = function->locals.data[index].size;
    ir_instr *local = qn__ir_emit(&w->b, IR_LOCAL, NULL, 0, &pointer, 1);
    local->attr.index = index;
    if (size <= FEW * step) {
        zero_few(w, local->results[0], first, size, step);
        return;
    }
    ir_value *end = qn__ir_const_int(function, IR_I64, (int64_t)size);
    ir_instr *loop = qn__ir_loop(&w->b, &first, 1, NULL, 0);
    const ir_builder outer = w->b;
    ir_value *at = loop->regions[0]->params[0];
    qn__ir_at_end(&w->b, loop->regions[0]);
    ir_instr *more = qn__ir_if(&w->b, qn__ir_op2(&w->b, IR_ULT, at, end), NULL, 0);
    qn__ir_at_end(&w->b, more->regions[1]);
    qn__ir_break(&w->b, loop, NULL, 0);
    qn__ir_at_end(&w->b, more->regions[0]);
    qn__ir_yield(&w->b, NULL, 0);
    qn__ir_at_end(&w->b, loop->regions[0]);
    qn__ir_store(&w->b, qn__ir_ptr_add(&w->b, local->results[0], at), word(w, 0), 4, 0);
    ir_value *next = qn__ir_op2(&w->b, IR_ADD, at, qn__ir_const_int(function, IR_I64, (int64_t)step));
    qn__ir_continue(&w->b, loop, &next, 1);
    w->b = outer;
}

static void zero_workgroup_memory(wgsl_lower *w) {
    ir_function *function = w->b.function;
    if (!function->locals.len) return;
    const ir_builder outer = qn__wf_begin(w);
    const uint64_t items = (uint64_t)w->group_size[0] * w->group_size[1] * w->group_size[2];
    ir_value *first =
        qn__ir_op2(&w->b, IR_MUL, local_index(w, IR_I64), qn__ir_const_int(function, IR_I64, 4));
    for (uint32_t i = 0; i < function->locals.len; i++) zero_words(w, i, first, items * 4);
    qn__ir_barrier(&w->b, IR_FENCE_LOCAL, IR_SCOPE_WORK_GROUP);
    w->b = outer;
}

/* ---- kernels ---- */

static bool read_group_size(wgsl_lower *w, const wgsl_decl *decl) {
    const wgsl_attribute *size = qn__wf_attribute(&decl->attributes, "workgroup_size");
    uint64_t product = 1;
    if (!size) {
        qn__wf_error(w, decl->loc, "entry point '%.*s' needs @workgroup_size", QN__STR_PRINTF(decl->name));
        return false;
    }
    if (size->args.len > 3) qn__wf_error(w, size->loc, "@workgroup_size takes one to three numbers");
    for (size_t i = 0; i < 3; i++) {
        w->group_size[i] =
            i < size->args.len ? (uint32_t)qn__wf_attribute_number(w, size, i, 1, WGSL_STAGE_OVERRIDE) : 1;
        if (!size->args.len) qn__wf_error(w, size->loc, "@workgroup_size takes one to three numbers");
        if (!w->group_size[i]) return false;
        product *= w->group_size[i];
        if (product > INT32_MAX) {
            qn__wf_error(w, size->loc, "the work-group is too large");
            return false;
        }
    }
    return true;
}

static uint8_t severity_of(wgsl_lower *w, const wgsl_decl *decl) {
    const wgsl_attribute *a = qn__wf_attribute(&decl->attributes, "diagnostic");
    if (!a || a->args.len < 2 || !qn__str_is(a->args.data[1]->name, "subgroup_uniformity"))
        return w->source->subgroup_uniformity;
    if (qn__str_is(a->args.data[0]->name, "error")) return WGSL_SEVERITY_ERROR;
    return qn__str_is(a->args.data[0]->name, "warning") ? WGSL_SEVERITY_WARNING : WGSL_SEVERITY_OFF;
}

static ir_function *function_new(wgsl_lower *w, const wgsl_decl *decl) {
    const char *name = qn__arena_strndup(w->arena, decl->name.data, decl->name.len);
    ir_function *function = qn__ir_function_new(w->module, name, qn__ir_type(IR_VOID, 1));
    function->is_kernel = true;
    function->loc = qn__source_resolve(w->config->sources, decl->loc);
    function->uniform_groups = true;
    function->narrow_ids = true;
    function->is_total = true;
    memcpy(function->reqd_local, w->group_size, sizeof function->reqd_local);
    return function;
}

/* Lowers the body with these values for its parameters. */
static void body(wgsl_lower *w, wgsl_decl *decl, const wgsl_value *args, const wgsl_type *result) {
    wgsl_call frame = {.decl = decl, .is_kernel = true, .result = result, .first_symbol = w->symbols.len};
    for (size_t i = 0; i < decl->members.len; i++)
        qn__wf_declare(w, decl->members.data[i]->name, decl->members.data[i]->loc, args[i]);
    w->call = &frame;
    qn__wf_function_body(w, decl);
    qn__wf_at(w, decl->body->end);
    if (!qn__wf_is_dead(w)) qn__ir_return(&w->b, NULL);
    w->call = NULL;
    w->symbols.len = frame.first_symbol;
}

void qn__wf_entry(wgsl_lower *w, wgsl_decl *decl) {
    if (!read_group_size(w, decl)) return;
    if (decl->type)
        qn__wf_error(w, decl->loc, "entry point '%.*s' must have no result", QN__STR_PRINTF(decl->name));
    ir_function *function = function_new(w, decl);
    wgsl_value *args = QN__NEW_ARRAY(w->arena, wgsl_value, decl->members.len + 1);
    qn__ir_at_end(&w->b, function->body);
    qn__wf_at(w, decl->loc);
    w->gatherings.len = 0;
    w->entry = decl;
    w->seen_values = 0;
    w->sub_group_severity = severity_of(w, decl);
    for (size_t i = 0; i < decl->members.len; i++) args[i] = parameter(w, decl->members.data[i]);
    body(w, decl, args, decl->type ? qn__wf_type_of(w, decl->type) : NULL);
    order_parameters(w, function);
    if (!w->stopped) qn__wf_check_uniformity(w, function);
    zero_workgroup_memory(w);
    w->entry = NULL;
}

/* A value of the type, of which nothing is known. */
static wgsl_value some_value(wgsl_lower *w, const wgsl_type *type) {
    if (type->kind == WGSL_POINTER) {
        static const uint8_t spaces[] = {IR_PRIVATE, IR_PRIVATE, IR_LOCAL_SPACE, IR_CONSTANT_SPACE,
                                         IR_GLOBAL_SPACE};
        wgsl_value v = {.form = WGSL_FORM_POINTER, .stage = WGSL_STAGE_RUN, .type = type->element};
        ir_value *pointer = qn__ir_undef(w->b.function, qn__ir_pointer((ir_space)spaces[type->space]));
        v.place = (wgsl_place){.pointer = pointer, .space = type->space, .access = type->access};
        v.place.root = QN__NEW(w->arena, char);
        return v;
    }
    if (qn__wf_is_value(type)) return qn__wf_of_ir(type, qn__ir_undef(w->b.function, qn__wf_ir_type(type)));
    return qn__wf_load(w, qn__wf_variable_place(w, type, NULL, WGSL_FUNCTION));
}

/* A function that nothing calls is looked at in a kernel that is thrown away. */
void qn__wf_look_at(wgsl_lower *w, wgsl_decl *decl) {
    memset(w->group_size, 0, sizeof w->group_size);
    for (unsigned i = 0; i < 3; i++) w->group_size[i] = 1;
    ir_function *function = function_new(w, decl);
    function->name = "";
    qn__ir_at_end(&w->b, function->body);
    qn__wf_at(w, decl->loc);
    w->gatherings.len = 0;
    w->sub_group_severity = severity_of(w, decl);
    wgsl_value *args = QN__NEW_ARRAY(w->arena, wgsl_value, decl->members.len + 1);
    bool fine = true;
    for (size_t i = 0; i < decl->members.len; i++) {
        const wgsl_type *type = qn__wf_type_of(w, decl->members.data[i]->type);
        fine &= type != NULL;
        if (type) args[i] = some_value(w, type);
    }
    if (fine) qn__wf_call_function(w, decl, args, NULL);
}
