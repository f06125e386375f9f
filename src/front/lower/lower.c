/* Lowering of a program: __constant objects, functions with their parameters, kernels with what reflection tells
   of them. Records are passed to functions as the address of the caller's copy and returned through a hidden
   first parameter. Program-scope variables in global memory lie in one block, the program's state; a function that
   uses it has its address as a hidden last parameter, a kernel as a last argument that the runtime gives. */
#include <string.h>

#include "front/lower/internal.h"

enum { MAX_DEPTH = 2600 }; /* beyond what the parser lets pass (FRONT_MAX_HEIGHT and some) */

/* ---- state ---- */

void qn__lower_at(lower *l, front_loc loc) {
    if (!qn__loc_same(loc, l->last_loc)) {
        l->last_loc = loc;
        l->last_resolved = qn__source_resolve(l->config->sources, loc);
    }
    l->b.loc = l->last_resolved;
}

ir_instr *qn__lower_loop(lower *l, front_loc loc) {
    ir_instr *loop = qn__ir_loop(&l->b, NULL, 0, NULL, 0);
    const front_sources *sources = l->config->sources;
    if (loc.line && sources->list.data[loc.file]->is_uncounted) loop->flags |= IR_UNCOUNTED;
    return loop;
}

void qn__lower_error(lower *l, front_loc loc, const char *message, const char *hint) {
    qn__diag_error(l->config->diag, loc, "%s", message);
    if (hint) qn__diag_hint(l->config->diag, "%s", hint);
}

static void stop(lower *l, front_loc loc, const char *message, const char *hint) {
    if (!l->stopped) qn__lower_error(l, loc, message, hint);
    l->stopped = true;
}

bool qn__lower_enter(lower *l, front_loc loc) {
    if (l->depth >= MAX_DEPTH) stop(l, loc, "nested too deeply", "split the expression or the statement up");
    uint32_t limit = l->config->max_instrs;
    if (limit && l->b.function && l->b.function->num_values > limit)
        stop(l, loc, "function is too large to compile", NULL);
    if (l->stopped) return false;
    l->depth++;
    return true;
}

ir_type qn__lower_memory_type(const ast_type *type) {
    ir_type result = qn__type_to_ir(type);
    if (result.kind == IR_BOOL) result.kind = IR_I8;
    return result;
}

ir_value *qn__lower_folded(lower *l, ir_value *value) {
    if (value->value_kind != IR_VALUE_RESULT) return value;
    ir_value *constant = qn__ir_fold(l->b.function, value->def);
    return constant ? constant : value;
}

/* ---- __constant objects ---- */

static const char *unique_global_name(lower *l, const char *name) {
    for (size_t i = 0; i < l->module->globals.len; i++)
        if (!strcmp(l->module->globals.data[i].name, name))
            return qn__arena_printf(l->arena, "%s.%u", name, (unsigned)l->module->globals.len);
    return name;
}

/* The element that a table of numbers is made of, through arrays of arrays. */
static ir_type table_element(const ast_type *type) {
    while (type->kind == AST_ARRAY) type = type->base;
    return type->kind == AST_POINTER ? qn__ir_type(IR_VOID, 1) : qn__lower_memory_type(type);
}

uint32_t qn__lower_global(lower *l, ast_decl *decl) {
    if (decl->is_lowered) return decl->global_index;
    decl->is_lowered = true;
    uint64_t size = decl->type->size;
    ir_global global = {.name = unique_global_name(l, decl->name),
                        .size = size,
                        .align = decl->align ? decl->align : decl->type->align,
                        .loc = qn__source_resolve(l->config->sources, decl->loc),
                        .element = table_element(decl->type)};
    global.data = decl->data ? decl->data : qn__arena_alloc(l->arena, (size_t)size);
    decl->global_index = qn__ir_global_add(l->module, global);
    for (size_t i = 0; i < decl->addresses.len; i++) {
        uint32_t target = qn__lower_global(l, qn__decl_definition(decl->addresses.data[i].target));
        ir_relocation relocation = {.offset = decl->addresses.data[i].offset,
                                    .target = target,
                                    .addend = decl->addresses.data[i].addend};
        qn__vec_push(l->arena, &l->module->globals.data[decl->global_index].relocations, relocation);
    }
    return decl->global_index;
}

uint32_t qn__lower_table(lower *l, const char *name, const uint8_t *data, uint64_t size, uint32_t align) {
    return qn__ir_global_add(l->module, (ir_global){.name = unique_global_name(l, name),
                                                    .data = data,
                                                    .size = size,
                                                    .align = align,
                                                    .element = qn__ir_type(IR_VOID, 1)});
}

/* Equal strings are one object; a string that is also a format is a format. */
uint32_t qn__lower_string(lower *l, qn__str bytes, bool is_format) {
    uintptr_t known = (uintptr_t)qn__map_get(&l->strings, bytes);
    if (!known) {
        const char *name = qn__arena_printf(l->arena, ".str%u", (unsigned)l->strings.len);
        uint8_t *data = qn__arena_alloc(l->arena, bytes.len + 1);
        if (bytes.len) memcpy(data, bytes.data, bytes.len);
        bool has_zero = bytes.len && !bytes.data[bytes.len - 1];
        known = 1 + (uintptr_t)qn__ir_global_add(l->module, (ir_global){.name = name,
                                                                        .data = data,
                                                                        .size = bytes.len + !has_zero,
                                                                        .align = 1,
                                                                        .element = qn__ir_type(IR_I8, 1)});
        qn__map_set(l->arena, &l->strings, bytes, (void *)known);
    }
    if (is_format) l->module->globals.data[known - 1].is_format = true;
    return (uint32_t)(known - 1);
}

/* ---- signatures ---- */

static const char *unique_function_name(lower *l, const char *name) {
    if (!qn__ir_function_find(l->module, qn__str_of(name))) return name;
    return qn__arena_printf(l->arena, "%s.%u", name, (unsigned)l->module->functions.len);
}

static ir_function *new_callable(lower *l, ast_decl *decl) {
    const ast_type *result = decl->type->base;
    ir_type type = qn__type_is_record(result) ? qn__ir_type(IR_VOID, 1) : qn__type_to_ir(result);
    ir_function *function = qn__ir_function_new(l->module, unique_function_name(l, decl->name), type);
    function->is_const = decl->is_pure;
    function->is_library = decl->is_library;
    function->loc = qn__source_resolve(l->config->sources, decl->loc);
    if (qn__type_is_record(result)) qn__ir_arg_add(function, qn__ir_pointer(IR_PRIVATE), "result");
    for (size_t i = 0; i < decl->params.len; i++) {
        const ast_decl *param = decl->params.data[i];
        bool is_record = qn__type_is_record(param->type);
        qn__ir_arg_add(function, is_record ? qn__ir_pointer(IR_PRIVATE) : qn__type_to_ir(param->type),
                       param->name ? param->name : "");
    }
    if (decl->uses_state) qn__ir_arg_add(function, qn__ir_pointer(IR_GLOBAL_SPACE), "state");
    return function;
}

static uint8_t arg_flags(const ast_type *type) {
    const ast_type *pointee = type->base;
    unsigned flags = 0;
    if (pointee->quals & AST_CONST) flags |= IR_ARG_CONST;
    if (pointee->quals & AST_VOLATILE) flags |= IR_ARG_VOLATILE;
    if (type->quals & AST_RESTRICT) flags |= IR_ARG_RESTRICT;
    return (uint8_t)flags;
}

static ir_type element_type(const ast_type *type) {
    bool is_number = qn__type_is_scalar(type) || type->kind == AST_VECTOR;
    return is_number ? qn__lower_memory_type(type) : qn__ir_type(IR_VOID, 1);
}

static uint8_t small_float(const ast_type *type) {
    const ast_type *element = qn__type_element(type);
    return (uint8_t)(qn__type_is_small_float(element) ? element->kind - AST_BF16 + IR_SMALL_BF16
                                                      : IR_SMALL_NONE);
}

static void describe_pointer(ir_arg *arg, const ast_type *type) {
    const ast_type *pointee = type->base;
    arg->arg_kind = pointee->space == IR_LOCAL_SPACE ? IR_ARG_LOCAL : IR_ARG_BUFFER;
    arg->flags = arg_flags(type);
    arg->element = element_type(pointee);
    arg->is_signed = qn__type_is_signed(pointee);
    arg->small_float = small_float(pointee);
    arg->pointee_size = pointee->size > UINT32_MAX ? 0 : (uint32_t)pointee->size;
    arg->size = arg->align = 8;
}

/* Without qualifiers and address spaces, of which the argument's other fields tell: "float4*". */
static const char *arg_type_name(lower *l, const ast_type *type) {
    if (type->kind != AST_POINTER) return qn__type_name(l->arena, type->unqualified);
    ast_type plain = *type->unqualified;
    plain.base = type->base->unqualified;
    return qn__type_name(l->arena, &plain);
}

/* ---- the fields of structs, for reflection ---- */

enum { MOST_FIELDS = 1024 };

typedef struct fields {
    lower *l;
    QN__VEC(const char *) names;
    QN__VEC(uint32_t) words;
    bool overflows;
} fields;

static void add_fields(fields *f, const ast_type *type, const char *path, uint64_t offset);

/* A number, a vector, an array of these, or what is neither. */
static void add_field(fields *f, const ast_type *type, const char *path, uint64_t offset) {
    uint64_t count = 1;
    for (; type->kind == AST_ARRAY; type = type->base) count *= type->length;
    const ir_type number = element_type(type);
    const bool is_number = number.kind != IR_VOID && number.kind != IR_PTR;
    f->overflows |= f->names.len >= MOST_FIELDS || count > UINT32_MAX || offset > UINT32_MAX;
    if (f->overflows) return;
    const uint32_t words[IR_FIELD_WORDS] = {
        (uint32_t)offset, is_number ? qn__ir_bits(number) / 8u : 0, is_number ? number.lanes : 1,
        (qn__ir_is_float(number) ? IR_FIELD_FLOAT : 0u) | (qn__type_is_signed(type) ? IR_FIELD_SIGNED : 0u) |
            small_float(type) * (uint32_t)IR_FIELD_SMALL,
        (uint32_t)count};
    qn__vec_push(f->l->arena, &f->names, path);
    for (unsigned i = 0; i < IR_FIELD_WORDS; i++) qn__vec_push(f->l->arena, &f->words, words[i]);
}

static bool holds_records(const ast_type *type) {
    while (type->kind == AST_ARRAY) type = type->base;
    return qn__type_is_record(type);
}

static void add_member(fields *f, const ast_type *type, const char *path, uint64_t offset) {
    if (qn__type_is_record(type))
        add_fields(f, type, path, offset);
    else if (type->kind != AST_ARRAY || !holds_records(type))
        add_field(f, type, path, offset);
    else
        for (uint64_t i = 0; i < type->length && !f->overflows; i++)
            add_member(f, type->base, qn__arena_printf(f->l->arena, "%s[%llu]", path, (unsigned long long)i),
                       offset + i * type->base->size);
}

/* Bit-fields are left out: they have no bytes of their own. */
static void add_fields(fields *f, const ast_type *type, const char *path, uint64_t offset) {
    for (size_t i = 0; i < type->record->fields.len && !f->overflows; i++) {
        const ast_field *field = &type->record->fields.data[i];
        const char *between = path[0] && field->name ? "." : "";
        if (field->is_bit_field) continue;
        const char *name =
            qn__arena_printf(f->l->arena, "%s%s%s", path, between, field->name ? field->name : "");
        add_member(f, field->type, name, offset + field->offset);
    }
}

static void describe_fields(lower *l, ir_arg *arg, const ast_type *type) {
    fields f = {.l = l};
    if (!qn__type_is_record(type) || !type->record->is_complete) return;
    add_fields(&f, type, "", 0);
    if (f.overflows) return; /* too many to be of use */
    arg->field_names = f.names.data;
    arg->fields = f.words.data;
    arg->num_fields = (uint32_t)f.names.len;
}

static void add_kernel_arg(lower *l, ir_function *function, const ast_decl *param) {
    const ast_type *type = param->type;
    bool is_record = qn__type_is_record(type);
    const char *name = param->name ? param->name : "";
    qn__ir_arg_add(function, is_record ? qn__ir_pointer(IR_PARAM_SPACE) : qn__type_to_ir(type), name);
    ir_arg *arg = &qn__vec_last(&function->args);
    arg->type_name = arg_type_name(l, type);
    arg->loc = qn__source_resolve(l->config->sources, param->loc);
    describe_fields(l, arg, type->kind == AST_POINTER ? type->base : type);
    if (type->kind == AST_POINTER) {
        describe_pointer(arg, type);
        return;
    }
    arg->arg_kind = is_record ? IR_ARG_STRUCT : IR_ARG_VALUE;
    arg->element = element_type(type);
    arg->is_signed = qn__type_is_signed(type);
    arg->small_float = small_float(type);
    arg->size = (uint32_t)type->size;
    arg->align = type->align;
}

static void add_state_arg(ir_function *function) {
    qn__ir_arg_add(function, qn__ir_pointer(IR_GLOBAL_SPACE), "state");
    ir_arg *arg = &qn__vec_last(&function->args);
    arg->type_name = "__global void*";
    arg->arg_kind = IR_ARG_BUFFER;
    arg->flags = IR_ARG_STATE;
    arg->element = qn__ir_type(IR_VOID, 1);
    arg->size = arg->align = 8;
}

static ir_function *new_kernel(lower *l, ast_decl *decl) {
    ir_function *function = qn__ir_function_new(l->module, decl->name, qn__ir_type(IR_VOID, 1));
    function->is_kernel = true;
    function->loc = qn__source_resolve(l->config->sources, decl->loc);
    memcpy(function->reqd_local, decl->reqd_local, sizeof function->reqd_local);
    memcpy(function->hint_local, decl->hint_local, sizeof function->hint_local);
    function->required_sub_group_size = decl->sub_group_size;
    function->cluster = decl->cluster;
    function->uniform_groups = l->config->options && l->config->options->uniform_work_group_size;
    function->max_registers = l->config->options ? l->config->options->max_registers : 0;
    function->vec_type_hint = decl->vec_type_hint;
    for (size_t i = 0; i < decl->params.len; i++) add_kernel_arg(l, function, decl->params.data[i]);
    if (decl->uses_state) add_state_arg(function);
    return function;
}

/* The __constant object of a table that a frozen function reads. */
static uint32_t frozen_table(void *user, uint32_t index) {
    lower *l = user;
    const front_frozen_library *library = l->config->frozen;
    const front_frozen_table *table = &library->tables[index];
    if (!l->frozen_tables) l->frozen_tables = QN__NEW_ARRAY(l->arena, uint32_t, library->num_tables);
    if (!l->frozen_tables[index])
        l->frozen_tables[index] =
            1 + qn__ir_global_add(l->module, (ir_global){.name = unique_global_name(l, table->name),
                                                         .data = table->data,
                                                         .size = table->size,
                                                         .align = table->align,
                                                         .element = table->element});
    return l->frozen_tables[index] - 1;
}

static ir_function *new_frozen(lower *l, ast_decl *decl) {
    const ir_unpack_globals globals = {frozen_table, l};
    ir_function *function = new_callable(l, decl);
    function->is_tidy = true;
    qn__ir_unpack(function, decl->frozen, &globals);
    function->now += IR_SETTLED;
    return function;
}

ir_function *qn__lower_callee(lower *l, ast_decl *decl, front_loc loc) {
    if (!decl->is_defined) {
        qn__diag_error(l->config->diag, loc, "function '%s' is called but never defined", decl->name);
        qn__diag_note(l->config->diag, decl->loc, "it is declared here");
        return NULL;
    }
    if (!decl->is_kernel) {
        if (!decl->function) decl->function = decl->frozen ? new_frozen(l, decl) : new_callable(l, decl);
        return decl->function;
    }
    ir_function *function = qn__map64_get(&l->callables, (uint64_t)(uintptr_t)decl);
    if (!function) {
        function = new_callable(l, decl);
        qn__map64_set(l->arena, &l->callables, (uint64_t)(uintptr_t)decl, function);
        qn__vec_push(l->arena, &l->pending, decl);
    }
    return function;
}

/* ---- variables ---- */

static ir_debug_type debug_type(const ast_type *type) {
    ir_debug_type debug = {.type = {IR_VOID, 1, 0}};
    unsigned dims = 0;
    for (; type->kind == AST_ARRAY; type = type->base) {
        if (dims == QN__COUNT(debug.lengths) || type->length > UINT32_MAX)
            return (ir_debug_type){{IR_VOID, 1, 0}, false, {0}};
        debug.lengths[dims++] = (uint32_t)type->length;
    }
    if (qn__type_is_record(type)) return (ir_debug_type){{IR_VOID, 1, 0}, false, {0}};
    debug.type = qn__lower_memory_type(type);
    debug.is_signed = qn__type_is_signed(type);
    return debug;
}

ir_value *qn__lower_temporary(lower *l, const ast_type *type, const char *name, uint32_t align) {
    ir_var var = {.name = name, .size = type->size, .align = align, .debug = debug_type(type)};
    const ast_type *element = type;
    while (element->kind == AST_ARRAY) element = element->base;
    if (qn__type_is_matrix(element)) var.matrix = element->record->matrix;
    if (align < type->align) var.align = type->align;
    return qn__ir_variable(&l->b, var);
}

void qn__lower_param_to_memory(lower *l, ast_decl *decl) {
    ir_value *value = decl->address;
    ir_value *pointer = qn__lower_temporary(l, decl->type, decl->name, decl->align);
    ir_builder at_start = l->b;
    if (pointer->def->next)
        qn__ir_at(&at_start, pointer->def->next);
    else
        qn__ir_at_end(&at_start, l->b.function->body);
    at_start.loc = l->b.loc;
    if (qn__type_is_record(decl->type)) {
        qn__ir_copy(&at_start, pointer, value, decl->type->size, decl->type->align);
    } else {
        if (value->type.kind == IR_BOOL)
            value = qn__ir_convert(&at_start, IR_ZEXT, value, qn__ir_type(IR_I8, 1));
        qn__ir_store(&at_start, pointer, value, decl->type->align, 0);
    }
    decl->address = pointer;
    decl->is_lowered = true;
}

/* A parameter is a value (is_lowered false) until something needs its address; a debugger does at once. */
static void bind_params(lower *l, const ast_decl *decl) {
    bool debug = l->config->options && l->config->options->debug && !decl->is_library;
    size_t hidden = l->result ? 1 : 0;
    for (size_t i = 0; i < decl->params.len; i++) {
        ast_decl *param = decl->params.data[i];
        param->address = l->b.function->args.data[i + hidden].value;
        param->is_lowered = !l->as_kernel && qn__type_is_record(param->type);
        qn__lower_at(l, param->loc);
        if (!param->is_lowered && (param->is_assigned || param->is_address_taken || debug))
            qn__lower_param_to_memory(l, param);
    }
}

/* ---- bodies ---- */

static void lower_body(lower *l, ast_decl *decl, ir_function *function, bool as_kernel) {
    bool is_exact = decl->is_library;
    bool fast = l->config->options && l->config->options->fast_relaxed_math;
    l->decl = decl;
    l->as_kernel = as_kernel;
    l->has_labels = decl->uses_goto;
    if (decl->uses_goto) qn__lower_enter_statements(l, decl->body);
    l->barriers.len = 0;
    l->b.float_flags =
        is_exact ? 0 : (uint16_t)((decl->is_contracted ? IR_CONTRACT : 0) | (fast ? IR_FAST : 0));
    qn__ir_at_end(&l->b, function->body);
    bool has_result_param = !as_kernel && qn__type_is_record(decl->type->base);
    l->result = has_result_param ? function->args.data[0].value : NULL;
    l->state = decl->uses_state ? qn__vec_last(&function->args).value : NULL;
    bind_params(l, decl);
    qn__lower_stmt(l, decl->body);
    if (!qn__lower_is_dead(l)) {
        qn__lower_at(l, decl->body->end);
        bool has_value = function->result.kind != IR_VOID;
        qn__ir_return(&l->b, has_value ? qn__ir_undef(function, function->result) : NULL);
    }
    if (as_kernel && !l->stopped) qn__lower_warn_divergence(l, function);
}

void qn__lower_bodies(lower *l, const ast_unit *unit) {
    for (size_t i = 0; i < unit->functions.len && !l->stopped; i++) {
        ast_decl *decl = unit->functions.data[i];
        ir_function *function = decl->is_kernel ? decl->function : qn__lower_callee(l, decl, decl->loc);
        lower_body(l, decl, function, decl->is_kernel);
    }
    for (size_t i = 0; i < l->pending.len && !l->stopped; i++) {
        ast_decl *decl = l->pending.data[i];
        lower_body(l, decl, qn__lower_callee(l, decl, decl->loc), false);
    }
}

lower *qn__lower_new(const lower_config *config, ir_module *module) {
    lower *l = QN__NEW(config->arena, lower);
    l->config = config;
    l->arena = config->arena;
    l->module = module;
    l->module->max_instrs = config->max_instrs;
    return l;
}

ir_module *qn__lower(const lower_config *config, const ast_unit *unit) {
    lower *l = qn__lower_new(config, qn__ir_module_new(config->arena));
    for (size_t i = 0; i < unit->functions.len; i++) {
        ast_decl *decl = unit->functions.data[i];
        decl->function = decl->is_kernel ? new_kernel(l, decl) : NULL;
    }
    qn__lower_bodies(l, unit);
    for (size_t i = 0; i < config->sources->names.len; i++)
        qn__vec_push(l->arena, &l->module->files, config->sources->names.data[i]);
    return l->module;
}
