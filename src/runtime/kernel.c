/* Kernels and their reflection. */
#include <stdio.h>
#include <string.h>

#include "runtime/runtime.h"

/* One of that name that cannot be created; without a name, the only one. */
static const char *why_refused(const qn_program *program, const char *name) {
    if (!name)
        return program->info.num_refused == 1 && !program->info.num_kernels ? program->info.refused[0].why
                                                                            : NULL;
    for (uint32_t i = 0; i < program->info.num_refused; i++)
        if (!strcmp(program->info.refused[i].kernel, name)) return program->info.refused[i].why;
    return NULL;
}

static qn_status no_kernel(qn_program *program, const char *name) {
    const char *refused = why_refused(program, name);
    if (refused) return qn__fail_text(program->object.context, QN_ERROR_UNSUPPORTED, refused);
    char list[600] = "";
    size_t length = 0;
    for (uint32_t i = 0; i < qn__source_kernels(&program->info) && length < sizeof list - 80; i++)
        length += (size_t)snprintf(list + length, sizeof list - length, "%s%.60s", i ? ", " : "",
                                   program->info.kernels[i].name);
    qn_context *context = program->object.context;
    if (program->info.num_kernels == 0)
        return qn__fail(context, QN_ERROR_NO_KERNEL, "the program has no kernel");
    if (!name)
        return qn__fail(context, QN_ERROR_NO_KERNEL, "the program has several kernels, name one of: %s",
                        list);
    return qn__fail(context, QN_ERROR_NO_KERNEL, "no kernel '%.100s'; there are: %s", name, list);
}

static const qn__kernel_info *find(const qn_program *program, const char *name) {
    if (!name) return qn__source_kernels(&program->info) == 1 ? &program->info.kernels[0] : NULL;
    for (uint32_t i = 0; i < qn__source_kernels(&program->info); i++)
        if (strcmp(program->info.kernels[i].name, name) == 0) return &program->info.kernels[i];
    return NULL;
}

static qn_status prepare(qn_program *program, uint32_t index) {
    const qn_device *device = program->device;
    const qn_backend *backend = device->backend;
    char why[QN__WHY] = "";
    if (!backend->kernel_prepare) return QN_OK;
    const qn_status status = backend->kernel_prepare(device->gpu, program->code, index, why);
    if (!status) return QN_OK;
    return qn__fail(program->object.context, status, "qn_kernel_create: %s: %s", device->name,
                    qn__reason(why, status));
}

qn_status qn_kernel_create(qn_program *program, const char *name, qn_kernel **out) {
    if (out) *out = NULL;
    qn_status status = qn__check(program, QN__OBJECT_PROGRAM, "qn_kernel_create", "program");
    if (status) return status;
    if (!out) return qn__fail_null(program->object.context, "qn_kernel_create", "kernel");
    const qn__kernel_info *info = find(program, name);
    if (!info) return no_kernel(program, name);
    const qn_device *device = program->device;
    if (info->args_size > device->info.max_args_size)
        return qn__fail(program->object.context, QN_ERROR_UNSUPPORTED,
                        "qn_kernel_create: the %u parameters of %.100s take %u bytes; %s allows %u",
                        (unsigned)info->num_params, info->name, (unsigned)info->args_size, device->name,
                        (unsigned)device->info.max_args_size);
    const uint32_t index = (uint32_t)(info - program->info.kernels);
    status = prepare(program, index);
    if (!status && info->checked) status = prepare(program, info->checked - 1);
    if (status) return status;
    qn_kernel *kernel = qn__object_new(program->object.context, QN__OBJECT_KERNEL);
    if (!kernel) return QN_ERROR_OUT_OF_MEMORY;
    kernel->program = program;
    kernel->info = info;
    kernel->index = index;
    qn__retain(&program->object);
    *out = kernel;
    return QN_OK;
}

void qn_kernel_destroy(qn_kernel *kernel) {
    qn__handle_destroy(kernel, QN__OBJECT_KERNEL, "qn_kernel_destroy", "kernel");
}

void qn__kernel_finalise(qn_kernel *kernel) {
    if (kernel->program) qn__drop(&kernel->program->object);
}

qn_status qn_kernel_get_info(const qn_kernel *kernel, qn_kernel_info *info) {
    qn_status status = qn__check(kernel, QN__OBJECT_KERNEL, "qn_kernel_get_info", "kernel");
    if (status) return status;
    if (!info) return qn__fail_null(kernel->object.context, "qn_kernel_get_info", "info");
    const qn__kernel_info *k = kernel->info;
    qn_kernel_info known = {
        .name = k->name, .num_params = qn__source_params(k), .local_memory = k->static_local};
    memcpy(known.required_local_size, k->reqd_local, sizeof k->reqd_local);
    memcpy(known.local_size_hint, k->hint_local, sizeof k->hint_local);
    QN__WRITE(kernel->object.context, qn_kernel_info, info, &known);
    return QN_OK;
}

/* By bytes of a lane; unsigned, signed, floating point. What is left out are bytes. */
static const qn_type types[9][3] = {[1] = {QN_TYPE_U8, QN_TYPE_I8},
                                    [2] = {QN_TYPE_U16, QN_TYPE_I16, QN_TYPE_F16},
                                    [4] = {QN_TYPE_U32, QN_TYPE_I32, QN_TYPE_F32},
                                    [8] = {QN_TYPE_U64, QN_TYPE_I64, QN_TYPE_F64}};

/* As code_info.def numbers them. */
static qn_type small_type(uint32_t small_float) {
    static const qn_type small[] = {QN_TYPE_BYTES, QN_TYPE_BF16, QN_TYPE_E4M3, QN_TYPE_E5M2};
    return small[small_float < sizeof small / sizeof *small ? small_float : 0];
}

static qn_type type_of(const qn__param_info *param) {
    if (param->lane_size > 8) return QN_TYPE_BYTES;
    if (param->small_float) return small_type(param->small_float);
    return types[param->lane_size][param->is_float ? 2 : param->is_signed];
}

static qn_type field_type(uint32_t lane_size, uint32_t flags) {
    if (flags / 4) return small_type(flags / 4);
    return types[lane_size][flags & 1 ? 2 : flags >> 1 & 1];
}

qn_status qn_kernel_get_param(const qn_kernel *kernel, uint32_t index, qn_param_info *info) {
    qn_status status = qn__check(kernel, QN__OBJECT_KERNEL, "qn_kernel_get_param", "kernel");
    if (status) return status;
    if (!info) return qn__fail_null(kernel->object.context, "qn_kernel_get_param", "info");
    if (index >= qn__source_params(kernel->info))
        return qn__fail(kernel->object.context, QN_ERROR_RANGE,
                        "qn_kernel_get_param: index %u; %s has %u parameters", (unsigned)index,
                        kernel->info->name, (unsigned)qn__source_params(kernel->info));
    const qn__param_info *param = &kernel->info->params[index];
    const qn_param_info known = {
        .name = param->name,
        .type_name = param->type_name,
        .kind = param->kind == QN__PARAM_BUFFER  ? QN_PARAM_BUFFER
                : param->kind == QN__PARAM_LOCAL ? QN_PARAM_LOCAL
                                                 : QN_PARAM_VALUE,
        .type = type_of(param),
        .lanes = param->lanes ? param->lanes : 1,
        .size = param->size,
        .element_size = param->pointee_size,
        .is_constant_space = param->is_constant,
        .is_const = param->is_const,
        .is_restrict = param->is_restrict,
        .num_fields = param->num_field_names,
    };
    QN__WRITE(kernel->object.context, qn_param_info, info, &known);
    return QN_OK;
}

qn_status qn_kernel_get_field(const qn_kernel *kernel, uint32_t param, uint32_t index, qn_field_info *info) {
    static const char function[] = "qn_kernel_get_field";
    qn_status status = qn__check(kernel, QN__OBJECT_KERNEL, function, "kernel");
    if (status) return status;
    qn_context *context = kernel->object.context;
    if (!info) return qn__fail_null(context, function, "info");
    if (param >= qn__source_params(kernel->info))
        return qn__fail(context, QN_ERROR_RANGE, "%s: param %u; %s has %u parameters", function,
                        (unsigned)param, kernel->info->name, (unsigned)qn__source_params(kernel->info));
    const qn__param_info *of = &kernel->info->params[param];
    enum { WORDS = 5 }; /* code_info.def */
    if (index >= of->num_field_names || index >= of->num_fields / WORDS)
        return qn__fail(context, QN_ERROR_RANGE, "%s: index %u; '%s' has %u fields", function,
                        (unsigned)index, of->name, (unsigned)of->num_field_names);
    const uint32_t *field = of->fields + index * (size_t)WORDS;
    const uint32_t lane_size = field[1] <= 8 ? field[1] : 0;
    const qn_field_info known = {.name = of->field_names[index] ? of->field_names[index] : "",
                                 .type = field_type(lane_size, field[3]),
                                 .lanes = field[2],
                                 .offset = field[0],
                                 .count = field[4]};
    QN__WRITE(context, qn_field_info, info, &known);
    return QN_OK;
}

static uint32_t items_of(const uint32_t sizes[3]) { return sizes[0] * sizes[1] * sizes[2]; }

/* What holds on any device, where the backend does not know better. */
static void set_known(const qn_kernel *kernel, qn_kernel_resources *r) {
    const qn_device_info *info = &kernel->program->device->info;
    r->max_group_size = info->max_group_size;
    r->preferred_multiple = info->sub_group_size ? info->sub_group_size : 1;
    r->local_memory = kernel->info->static_local;
}

qn_status qn_kernel_get_resources(const qn_kernel *kernel, const qn_range *range,
                                  qn_kernel_resources *resources) {
    static const char function[] = "qn_kernel_get_resources";
    static const qn_range large = {.global = {1 << 20}};
    qn_status status = qn__check(kernel, QN__OBJECT_KERNEL, function, "kernel");
    if (status) return status;
    qn_context *context = kernel->object.context;
    if (!resources) return qn__fail_null(context, function, "resources");
    qn_device *device = kernel->program->device;
    const qn_backend *backend = device->backend;
    qn_kernel_resources r = {0};
    char why[QN__WHY] = "";
    if (!range || !range->global[0]) range = &large;
    status = qn__launch_local((qn_kernel *)kernel, function, range, r.local_size);
    if (status) return status;
    set_known(kernel, &r);
    if (backend->kernel_resources)
        status = backend->kernel_resources(device->gpu, kernel->program->code, kernel->index, r.local_size,
                                           &r, why);
    if (status) return qn__fail(context, status, "%s: %s", function, qn__reason(why, status));
    if (kernel->info->reqd_local[0]) r.max_group_size = items_of(kernel->info->reqd_local);
    r.resident_on_device = (uint64_t)r.resident_groups * device->info.compute_units;
    QN__WRITE(context, qn_kernel_resources, resources, &r);
    return QN_OK;
}
