/* The part of a kernel's description that does not depend on the target. */
#include "emit/emit.h"

#include <string.h>

/* Passes add arguments behind those of the source. */
static size_t num_params(const ir_function *kernel) {
    size_t count = kernel->args.len;
    while (count && kernel->args.data[count - 1].arg_kind == IR_ARG_PRINT) count--;
    return count;
}

static uint64_t aligned(uint64_t size, uint64_t align) {
    return align > 1 ? (size + align - 1) / align * align : size;
}

uint64_t qn__args_size(const ir_function *kernel) {
    uint64_t size = 0;
    for (size_t i = 0; i < num_params(kernel); i++)
        size = aligned(size, kernel->args.data[i].align) + kernel->args.data[i].size;
    return size;
}

static qn__param_kind kind_of(const ir_arg *arg) {
    static const uint8_t kinds[] = {[IR_ARG_VALUE] = QN__PARAM_VALUE,
                                    [IR_ARG_STRUCT] = QN__PARAM_STRUCT,
                                    [IR_ARG_BUFFER] = QN__PARAM_BUFFER,
                                    [IR_ARG_LOCAL] = QN__PARAM_LOCAL};
    return (qn__param_kind)kinds[arg->arg_kind];
}

static qn__param_info describe_param(const ir_arg *arg, uint64_t end) {
    const ir_type number = arg->element;
    const bool is_float = qn__ir_is_float(number);
    const bool is_pointer = arg->arg_kind == IR_ARG_BUFFER || arg->arg_kind == IR_ARG_LOCAL;
    const bool is_constant = is_pointer && arg->value->type.space == IR_CONSTANT_SPACE;
    const uint32_t align = arg->align ? arg->align : 1;
    return (qn__param_info){.name = arg->name,
                            .type_name = arg->type_name,
                            .kind = (uint8_t)kind_of(arg),
                            .lane_size =
                                is_float || qn__ir_is_int(number) ? (uint8_t)(qn__ir_bits(number) / 8) : 0,
                            .lanes = number.lanes,
                            .is_float = is_float,
                            .small_float = arg->small_float,
                            .is_signed = arg->is_signed,
                            .is_constant = is_constant,
                            .is_const = arg->flags & IR_ARG_CONST,
                            .is_restrict = arg->flags & IR_ARG_RESTRICT,
                            .is_state = arg->flags & IR_ARG_STATE,
                            .is_faults = arg->flags & IR_ARG_FAULTS,
                            .extent_of = arg->extent_of,
                            .is_written = is_pointer && !is_constant && !(arg->flags & IR_ARG_NO_WRITE),
                            .size = arg->size,
                            .align = align,
                            .offset = (uint32_t)aligned(end, align),
                            .pointee_size = arg->pointee_size,
                            .least_size = arg->least_size,
                            .field_names = arg->field_names,
                            .num_field_names = arg->num_fields,
                            .fields = arg->fields,
                            .num_fields = arg->num_fields * IR_FIELD_WORDS};
}

static uint64_t static_local(const ir_function *kernel) {
    uint64_t size = 0;
    for (size_t i = 0; i < kernel->locals.len; i++)
        size = aligned(size, kernel->locals.data[i].align) + kernel->locals.data[i].size;
    return size;
}

/* Among the kernels, which are described in the module's order. */
static uint32_t index_of(const ir_function *kernel) {
    const ir_module *module = kernel->module;
    uint32_t index = 0;
    for (size_t i = 0; module->functions.data[i] != kernel; i++)
        index += module->functions.data[i]->is_kernel;
    return index;
}

static void describe(qn__arena *arena, const ir_function *kernel, qn__kernel_info *info) {
    const size_t count = num_params(kernel);
    qn__param_info *params = QN__NEW_ARRAY(arena, qn__param_info, count + 1);
    uint64_t end = 0;
    for (size_t i = 0; i < count; i++) {
        params[i] = describe_param(&kernel->args.data[i], end);
        end = (uint64_t)params[i].offset + params[i].size;
    }
    *info = (qn__kernel_info){.name = kernel->name,
                              .params = params,
                              .num_params = (uint32_t)count,
                              .args_size = (uint32_t)end,
                              .required_sub_group_size = kernel->required_sub_group_size,
                              .whole_sub_groups = kernel->whole_sub_groups,
                              .uniform_groups = kernel->uniform_groups,
                              .narrow_ids = kernel->narrow_ids,
                              .vec_type_hint = kernel->vec_type_hint,
                              .reach = kernel->reach,
                              .num_reach = kernel->num_reach,
                              .limits = kernel->limits,
                              .num_limits = kernel->num_limits,
                              .checked = kernel->checked ? index_of(kernel->checked) + 1 : 0,
                              .is_checked = kernel->is_checked,
                              .static_local = static_local(kernel)};
    memcpy(info->reqd_local, kernel->reqd_local, sizeof info->reqd_local);
    memcpy(info->hint_local, kernel->hint_local, sizeof info->hint_local);
}

qn__kernel_info *qn__describe_kernel(qn__arena *arena, qn__code_info *info, const ir_function *kernel) {
    qn__kernel_info *kernels = (qn__kernel_info *)info->kernels;
    if (!kernels)
        info->kernels = kernels = QN__NEW_ARRAY(arena, qn__kernel_info, kernel->module->functions.len);
    qn__kernel_info *described = &kernels[info->num_kernels++];
    describe(arena, kernel, described);
    return described;
}

static void describe_all(qn__arena *arena, qn__code_info *info, const ir_module *module) {
    for (size_t i = 0; i < module->functions.len; i++)
        if (module->functions.data[i]->is_kernel) qn__describe_kernel(arena, info, module->functions.data[i]);
}

void qn__describe_strings(qn__arena *arena, qn__code_info *info, const ir_module *module) {
    const char **strings = QN__NEW_ARRAY(arena, const char *, module->globals.len + 1);
    for (size_t i = 0; i < module->globals.len; i++) {
        const ir_global *global = &module->globals.data[i];
        const bool ends = global->size && memchr(global->data, 0, global->size);
        strings[i] = ends ? (const char *)global->data : NULL;
    }
    info->strings = strings;
    info->num_strings = (uint32_t)module->globals.len;
}

void qn__describe_sites(qn__arena *arena, qn__code_info *info, const ir_module *module) {
    const char **sites = QN__NEW_ARRAY(arena, const char *, module->sites.len + 1);
    for (size_t i = 0; i < module->sites.len; i++) sites[i] = module->sites.data[i];
    info->sites = sites;
    info->num_sites = (uint32_t)module->sites.len;
}

static void emit_nothing(qn__arena *arena, ir_module *module, const qn__emit_options *options,
                         qn__emit_result *result) {
    (void)options;
    *result = (qn__emit_result){0};
    describe_all(arena, &result->info, module);
}

/* What a panel's product accesses is not for the checker to see. */
static void complete_ir(qn__target *target) { target->has_panels = !target->wants_checks; }

const qn__emitter qn__emitter_ir = {
    .base = {.has_small_floats = true}, .complete = complete_ir, .emit = emit_nothing};
