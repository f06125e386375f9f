/* The WGSL target: text of WGSL for WebGPU, by the ABI of src/emit/gpu_abi.h (WGSL, W3C). This file is the frame: a
   module's variables, and kernels with their parameters. What WGSL lacks (addresses, 64-bit and narrow integers, jumps)
   passes have lowered, but for pointers, which plan.c finds arrays for. */
#include <string.h>

#include "emit/cfamily.h"
#include "emit/symbol.h"
#include "emit/wgsl/internal.h"

/* ---- parameters ---- */

static const char *value_of(wgsl_emitter *e, const ir_value *value, uint32_t offset) {
    const ir_type type = value->type;
    const unsigned size = qn__ir_bits(type) / 8;
    const char *word = qn__wgsl_param(e, offset);
    if (size == 8) {
        if (qn__wgsl_is_low(e, value)) return word;
        return qn__wgsl_text(e, "vec2<u32>(%s, %s)", word, qn__wgsl_param(e, offset + 4));
    }
    if (size < 4)
        return qn__wgsl_text(e, "(%s >> %uu) & 0x%xu", word, offset % 4 * 8, size == 1 ? 0xffu : 0xffffu);
    return type.kind == IR_F32 ? qn__wgsl_text(e, "bitcast<f32>(%s)", word) : word;
}

static void unpack_value(wgsl_emitter *e, const ir_value *value, uint32_t offset) {
    const ir_type type = value->type;
    if (type.lanes == 1) {
        qn__wgsl_define(e, value, value_of(e, value, offset));
        return;
    }
    ir_value lane = *value;
    lane.type = qn__ir_element(type);
    qn__buf text;
    qn__buf_init(&text, e->arena);
    qn__buf_printf(&text, "%s(", qn__wgsl_type(e, type));
    for (unsigned i = 0; i < type.lanes; i++)
        qn__buf_printf(&text, "%s%s", i ? ", " : "",
                       value_of(e, &lane, offset + i * (qn__ir_bits(type) / 8)));
    qn__buf_putc(&text, ')');
    qn__wgsl_define(e, value, text.data);
}

static void unpack(wgsl_emitter *e) {
    for (size_t i = 0; i < e->kernel->args.len; i++) {
        const ir_arg *arg = &e->kernel->args.data[i];
        if (arg->arg_kind == IR_ARG_VALUE && e->uses[arg->value->id])
            unpack_value(e, arg->value, e->params[i].offset);
    }
}

/* ---- the module's variables ---- */

static bool is_buffer(const wgsl_class *class) {
    return class->space == IR_GLOBAL_SPACE || class->space == IR_CONSTANT_SPACE;
}

/* Whether a parameter's name may stand in the text: the emitter has variables of its own. */
static bool is_usable(const char *name) {
    return qn__c_is_identifier(name) && name[0] != '_' && strcmp(name, "params") != 0 &&
           strncmp(name, "local", 5) != 0;
}

/* A name that no other variable of the module has. */
static const char *unique(wgsl_emitter *e, const char *name, size_t number) {
    const char *own = qn__wgsl_text(e, "%s_of_%s", is_usable(name) ? name : "memory", e->symbol);
    return qn__wgsl_need(e, own) ? own : qn__wgsl_text(e, "memory%zu_of_%s", number, e->symbol);
}

static void add_binding(wgsl_emitter *e, uint32_t number, uint32_t param) {
    qn__vec_push(e->arena, &e->bindings, number);
    qn__vec_push(e->arena, &e->bindings, param);
}

static void name_buffer(wgsl_emitter *e, wgsl_object *object) {
    object->name = object->arg < 0 ? "constants" : unique(e, object->name, (size_t)object->arg);
}

/* Those that something accesses: others an implementation would leave out. */
static void declare_buffer(wgsl_emitter *e, const wgsl_object *object) {
    const wgsl_class *class = &e->classes.data[object->class_index];
    const bool is_param = object->arg >= 0,
               prints = is_param && e->kernel->args.data[object->arg].arg_kind == IR_ARG_PRINT;
    const char *element = !is_param      ? "u32"
                          : class->quads ? (class->kind == IR_F32 ? "vec4<f32>" : "vec4<u32>")
                                         : qn__wgsl_element_type(e, class);
    const uint32_t number = !is_param ? QN__WGSL_CONSTANTS
                            : prints  ? QN__WGSL_PRINT
                                      : QN__WGSL_PARAM + (uint32_t)object->arg;
    const bool reads = !class->is_written && !class->atomic;
    e->prints |= prints;
    if (!object->is_used) return;
    add_binding(e, number + (reads ? QN__WGSL_READS : 0),
                is_param && !prints ? (uint32_t)object->arg : QN__WGSL_NO_PARAM);
    if (is_param || qn__wgsl_need(e, "constants"))
        qn__buf_printf(&e->globals, "@group(0) @binding(%u) var<storage, %s> %s: array<%s>;\n", number,
                       reads ? "read" : "read_write", object->name, element);
}

static void declare_local(wgsl_emitter *e, wgsl_class *class, size_t number) {
    const char *element = qn__wgsl_element_type(e, class);
    const unsigned size = class->halves ? 2 : 4;
    class->name = qn__wgsl_text(e, "local%zu_of_%s", number, e->symbol);
    const char *length = qn__wgsl_text(e, "%llu", (unsigned long long)(class->size ? class->size / size : 1));
    if (class->has_dynamic) {
        e->has_dynamic = true;
        qn__buf_printf(&e->globals, "override words_of_%s: u32 = 1u;\n", e->symbol);
        length = qn__wgsl_text(e, class->halves ? "%llu + 2u * words_of_%s" : "%llu + words_of_%s",
                               (unsigned long long)class->size / size, e->symbol);
    }
    if (class->quads) {
        length = class->has_dynamic ? qn__wgsl_text(e, "(%s + 3u) / 4u", length)
                                    : qn__wgsl_text(e, "%llu", (unsigned long long)(class->size + 15) / 16);
        element = qn__wgsl_text(e, "vec4<%s>", element);
    }
    qn__buf_printf(&e->globals, "var<workgroup> %s: array<%s, %s>;\n", class->name, element, length);
}

static void name_memory(wgsl_emitter *e) {
    for (size_t i = 0; i < e->objects.len; i++)
        if (is_buffer(&e->classes.data[e->objects.data[i].class_index])) name_buffer(e, &e->objects.data[i]);
    for (size_t i = 0; i < e->classes.len; i++)
        if (e->classes.data[i].space == IR_LOCAL_SPACE) declare_local(e, &e->classes.data[i], i);
}

/* Whether a launch may have to bind one memory for buffers of several types, or more buffers than a device binds. */
static bool wants_one_type(const wgsl_emitter *e) {
    enum { ALWAYS_BOUND = 8 };
    const wgsl_class *first = NULL;
    bool differ = false, written = false;
    uint32_t count = 0;
    for (size_t i = 0; i < e->objects.len; i++) {
        const wgsl_object *object = &e->objects.data[i];
        const wgsl_class *class = &e->classes.data[object->class_index];
        if (!is_buffer(class) || object->arg < 0 || !object->is_used) continue;
        if (!first) first = class;
        differ |= class->atomic != first->atomic || class->kind != first->kind ||
                  class->halves != first->halves || class->quads != first->quads;
        written |= class->is_written || class->atomic;
        count++;
    }
    return (differ && written) || count > ALWAYS_BOUND;
}

static void declare_buffers(wgsl_emitter *e) {
    e->bindings.data = NULL; /* the last kernel's are kept by its description */
    e->bindings.len = e->bindings.cap = 0;
    for (size_t i = 0; i < e->objects.len; i++)
        if (is_buffer(&e->classes.data[e->objects.data[i].class_index]))
            declare_buffer(e, &e->objects.data[i]);
    e->wants_alike |= wants_one_type(e);
}

/* ---- kernels ---- */

static void look(ir_instr *instr, void *user) {
    wgsl_emitter *e = user;
    instr->mark = e->num_instrs++;
    const bool together = qn__ir_is_together((ir_op)instr->op);
    e->uses_sync |= together;
    if ((instr->op == IR_GLOBAL_ID || instr->op == IR_GROUP_ID) && instr->attr.dim) e->has_rows = false;
    if (together || qn__ir_has(instr->op, IR_WHOLE)) e->guarded = false;
}

static void signature(wgsl_emitter *e, qn__buf *out) {
    static const char *const builtins[WGSL_BUILTINS] = {"global_invocation_id", "local_invocation_id",
                                                        "workgroup_id",         "local_invocation_index",
                                                        "subgroup_size",        "subgroup_invocation_id"};
    const char *comma = "";
    const bool in_line = e->uses_sub_groups,
               numbers = in_line && e->builtins & (1u << WGSL_GLOBAL_ID | 1u << WGSL_LOCAL_ID);
    const uint32_t made = in_line ? 1u << WGSL_GLOBAL_ID | 1u << WGSL_LOCAL_ID : 0;
    if (numbers) e->builtins |= 1u << WGSL_LOCAL_INDEX | 1u << WGSL_GROUP_ID;
    qn__buf_printf(out, "\n@compute @workgroup_size(%s)\nfn %s(",
                   in_line ? "local_x * local_y * local_z" : "local_x, local_y, local_z", e->symbol);
    for (unsigned i = 0; i < WGSL_BUILTINS; i++) {
        if (!(e->builtins & ~made & 1u << i)) continue;
        qn__buf_printf(out, "%s@builtin(%s) %s: %s", comma, builtins[i], qn__wgsl_builtin(e, i),
                       i <= WGSL_GROUP_ID ? "vec3<u32>" : "u32");
        comma = ", ";
    }
    qn__buf_puts(out, ") {\n");
    if (numbers) qn__buf_puts(out, qn__wgsl_numbers);
    qn__wgsl_begin_rows(e, out);
    if (e->uses_zero) qn__buf_puts(out, "    var zero = 0u; /* not known to compilers of constants */\n");
    if (e->hides) /* the number of dimensions is 3 at most */
        qn__buf_printf(out, "    let nothing = %s >> 2u; /* 0 */\n",
                       qn__wgsl_param(e, qn__wgsl_implicit(e, QN__IMPLICIT_WORK_DIM, 0)));
}

/* A comment that tells where in the block each argument is, for people and for programs that fill it without quern's runtime:
   "// params_of_K, in bytes: 0 uint n, 4 limit_x". Those of the source have types. */
static void tell_params(wgsl_emitter *e, const qn__kernel_info *kernel) {
    static const char *const names[QN__IMPLICIT_KIND_COUNT] = {[QN__IMPLICIT_GLOBAL_BASE] = "global_base",
                                                               [QN__IMPLICIT_GLOBAL_SIZE] = "global_size",
                                                               [QN__IMPLICIT_GLOBAL_OFFSET] = "global_offset",
                                                               [QN__IMPLICIT_GROUP_BASE] = "group_base",
                                                               [QN__IMPLICIT_NUM_GROUPS] = "num_groups",
                                                               [QN__IMPLICIT_ENQUEUED_SIZE] = "local_size",
                                                               [QN__IMPLICIT_WORK_DIM] = "work_dim",
                                                               [QN__IMPLICIT_OVERHANG] = "overhang",
                                                               [QN__IMPLICIT_LIMIT] = "limit",
                                                               [QN__IMPLICIT_ROW] = "row"};
    const char *comma = "";
    qn__buf_printf(&e->globals, "// params_of_%s, in bytes: ", e->symbol);
    for (uint32_t i = 0; i < kernel->num_params; i++) {
        const qn__param_info *param = &kernel->params[i];
        if (param->kind == QN__PARAM_BUFFER || param->kind == QN__PARAM_LOCAL) continue;
        qn__buf_printf(&e->globals, "%s%u %s %s", comma, param->offset, param->type_name, param->name);
        comma = ", ";
    }
    for (uint32_t i = 0; i < kernel->num_implicit; i++) {
        const qn__implicit *implicit = &kernel->implicit[i];
        qn__buf_printf(&e->globals, "%s%u ", comma, implicit->offset);
        comma = ", ";
        if (implicit->kind == QN__IMPLICIT_BUFFER_OFFSET)
            qn__buf_printf(&e->globals, "offset_of_%s", kernel->params[implicit->dim].name);
        else if (implicit->kind == QN__IMPLICIT_WORK_DIM || implicit->kind == QN__IMPLICIT_OVERHANG)
            qn__buf_puts(&e->globals, names[implicit->kind]);
        else
            qn__buf_printf(&e->globals, "%s_%c", names[implicit->kind], "xyz"[implicit->dim]);
    }
    qn__buf_puts(&e->globals, "\n");
}

static void describe(wgsl_emitter *e, qn__kernel_info *kernel) {
    static const uint32_t word = 4;
    const uint32_t begin = (kernel->args_size + 3) / 4 * 4;
    kernel->symbol = e->symbol;
    kernel->uses_sync = e->uses_sync;
    kernel->uses_printf = e->prints;
    kernel->guarded = e->guarded;
    kernel->params_size = e->uses_params ? begin + e->implicit_size : 0;
    if (kernel->params_size % 16) kernel->params_size += 16 - kernel->params_size % 16;
    kernel->implicit = e->implicit.data;
    kernel->num_implicit = (uint32_t)e->implicit.len;
    kernel->local_units = e->has_dynamic ? &word : NULL;
    kernel->num_local_units = e->has_dynamic;
    kernel->bindings = e->bindings.data;
    kernel->num_bindings = (uint32_t)e->bindings.len;
    if (e->uses_params) tell_params(e, kernel);
    if (e->uses_params)
        qn__buf_printf(&e->globals,
                       "@group(0) @binding(%u) var<uniform> params_of_%s: array<vec4<u32>, %u>;\n",
                       QN__WGSL_PARAMS, e->symbol, kernel->params_size / 16);
}

static void begin_kernel(wgsl_emitter *e, ir_function *kernel, const qn__kernel_info *info) {
    e->kernel = kernel;
    e->loc = kernel->loc;
    e->symbol = qn__wgsl_text(e, "qn_kernel_%s", qn__symbol_of(e->arena, kernel->name));
    e->params = info->params;
    e->static_local = info->static_local;
    e->uses = qn__ir_count_uses(e->arena, kernel);
    e->implicit.data = NULL; /* the last kernel's are kept by its description */
    e->implicit.len = e->implicit.cap = 0;
    e->implicit_size = e->num_instrs = e->num_temps = e->builtins = e->rows = 0;
    e->guarded = e->has_rows = true;
    e->uses_sync = e->prints = e->uses_params = e->uses_zero = e->has_dynamic = e->hides = false;
    e->uses_sub_groups = false;
    e->text.depth = 1;
}

static void emit_kernel(wgsl_emitter *e, ir_function *kernel, qn__buf *text) {
    qn__kernel_info *info = qn__describe_kernel(e->arena, &e->result->info, kernel);
    qn__buf body;
    qn__buf_init(&body, e->arena);
    begin_kernel(e, kernel, info);
    e->text.out = &body;
    qn__wgsl_plan(e);
    name_memory(e);
    qn__ir_walk(kernel->body, look, e);
    e->divergent = NULL;
    qn__wgsl_find_agreements(e);
    qn__wgsl_find_first_write(e);
    if (e->options->target.lacks_loop_results || e->options->target.lacks_lasting_code)
        e->divergent = qn__uniformity_analyse(e->arena, kernel).varying_branch; /* numbers alike */
    qn__c_flow_begin(&e->flow, e->arena, &e->text, e->num_instrs);
    if (e->guarded) qn__wgsl_guard(e);
    unpack(e);
    qn__wgsl_variables(e);
    qn__wgsl_region(e, kernel->body);
    declare_buffers(e);
    e->enables_sub_groups |= e->uses_sub_groups;
    signature(e, text);
    if (body.len) qn__buf_append(text, body.data, body.len);
    qn__buf_puts(text, "}\n");
    describe(e, info);
}

static void local_size(const ir_module *module, qn__buf *out) {
    const uint32_t *size = NULL;
    for (size_t i = 0; i < module->functions.len; i++) {
        const ir_function *function = module->functions.data[i];
        if (!size && function->is_kernel && function->reqd_local[0]) size = function->reqd_local;
    }
    for (unsigned d = 0; d < 3; d++)
        qn__buf_printf(out, "override local_%c: u32 = %uu;\n", "xyz"[d],
                       size && size[d] ? size[d]
                       : d || size     ? 1
                                       : 64);
}

/* Appends the module; tells whether another with buffers of one type may be wanted. */
static bool write_module(qn__arena *arena, ir_module *module, const qn__emit_options *options, bool one_type,
                         qn__emit_result *result, qn__buf *text) {
    wgsl_emitter e = {
        .arena = arena, .module = module, .options = options, .result = result, .one_type = one_type};
    qn__buf body;
    *result = (qn__emit_result){0};
    qn__buf_init(&body, arena);
    qn__buf_init(&e.helpers, arena);
    qn__buf_init(&e.globals, arena);
    qn__wgsl_place_constants(&e);
    for (size_t i = 0; i < module->functions.len; i++)
        if (module->functions.data[i]->is_kernel) emit_kernel(&e, module->functions.data[i], &body);
    if (e.enables_f16) qn__buf_puts(text, "enable f16;\n");
    if (e.enables_sub_groups) qn__buf_puts(text, qn__wgsl_directives);
    local_size(module, text);
    if (e.globals.len) qn__buf_append(text, e.globals.data, e.globals.len);
    if (e.helpers.len) qn__buf_append(text, e.helpers.data, e.helpers.len);
    if (body.len) qn__buf_append(text, body.data, body.len);
    return e.wants_alike;
}

/* Whether launches of the one are launches of the other: what a kernel only reads may be bound for writing there. */
static bool are_launched_alike(const qn__kernel_info *a, const qn__kernel_info *b) {
    bool alike = a->params_size == b->params_size && a->num_implicit == b->num_implicit &&
                 a->num_bindings == b->num_bindings && a->guarded == b->guarded;
    for (uint32_t i = 0; i < a->num_implicit && alike; i++)
        alike = memcmp(&a->implicit[i], &b->implicit[i], sizeof *a->implicit) == 0;
    for (uint32_t i = 0; i < a->num_bindings && alike; i++)
        alike = (a->bindings[i] | QN__WGSL_READS) == (b->bindings[i] | QN__WGSL_READS);
    return alike;
}

static void add_module_of_one_type(qn__arena *arena, ir_module *module, const qn__emit_options *options,
                                   const qn__emit_result *result, qn__buf *text) {
    qn__emit_result other;
    qn__buf more;
    qn__buf_init(&more, arena);
    write_module(arena, module, options, true, &other, &more);
    bool alike = !other.error;
    for (uint32_t i = 0; i < result->info.num_kernels && alike; i++)
        alike = are_launched_alike(&result->info.kernels[i], &other.info.kernels[i]);
    if (!alike) return;
    qn__buf_puts(text, QN__WGSL_ONE_TYPE);
    qn__buf_append(text, more.data, more.len);
}

static void emit(qn__arena *arena, ir_module *module, const qn__emit_options *options,
                 qn__emit_result *result) {
    qn__buf text;
    qn__buf_init(&text, arena);
    const bool wants_more = write_module(arena, module, options, false, result, &text);
    if (wants_more && !result->error && options->target.wants_one_buffer_type)
        add_module_of_one_type(arena, module, options, result, &text);
    result->text = text.data;
    result->size = text.len;
}

const qn__emitter qn__emitter_wgsl = {
    .base =
        {
            .lacks_f64 = true,
            .lacks_f16 = true,
            .lacks_i8 = true,
            .lacks_i16 = true,
            .lacks_i64 = true,
            .lacks_i64_atomics = true,
            .lacks_conversions = true,
            .lacks_float_atomic_add = true,
            .lacks_linear_sub_groups = true,
            .lacks_sub_group_barriers = true,
            .lacks_sub_group_scans = true,
            .lacks_collectives = true,
            .lacks_printf = true,
            .lacks_long_vectors = true,
            .lacks_far_jumps = true,
            .lacks_fast_fma64 = true,
            .lacks_loop_hints = true,
            .has_group_size = true,
            .wants_narrow = true,
            .private_bytes = 32 << 10,
        },
    .emit = emit,
};
