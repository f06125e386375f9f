/* Launches: arguments checked against reflection and packed into the argument block, sizes checked against
   the device. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "runtime/runtime.h"
#include "util/float.h"

enum { USUAL_PARAMS = 256, USUAL_ARGS_SIZE = 4096 };

/* A launch under construction. The arrays are not cleared: a launch is to cost less than a microsecond. */
typedef struct launch {
    const char *function; /* of the API, for messages */
    qn_kernel *kernel;
    const qn_device *device;
    const qn__kernel_info *info;
    qn_context *context;
    uint64_t local_memory;
    uint32_t num_buffers; /* of bindings and uses */
    bool may_have_null;   /* a null pointer among the arguments */
    /* The usual ones below; of a larger kernel, parts of `memory`. */
    unsigned char *args; /* the argument block */
    qn__binding *bindings;
    qn__use *uses;
    uint64_t *extents; /* by parameter */
    unsigned char *memory;
    _Alignas(16) unsigned char usual_args[USUAL_ARGS_SIZE];
    qn__binding usual_bindings[USUAL_PARAMS];
    qn__use usual_uses[USUAL_PARAMS];
    uint64_t usual_extents[USUAL_PARAMS];
} launch;

static qn_status wrong(const launch *l, uint32_t index, const char *what) {
    const qn__param_info *param = &l->info->params[index];
    return qn__fail(l->context, QN_ERROR_KERNEL_ARGUMENT, "%s: parameter %u of %s, '%s %s': %s", l->function,
                    (unsigned)index + 1, l->info->name, param->type_name, param->name, what);
}

/* ---- numbers ---- */

static bool store_integer(const qn__param_info *param, int64_t value, bool is_negative, unsigned char *to) {
    unsigned bits = param->size * 8;
    uint64_t word = (uint64_t)value;
    if (is_negative) {
        if (!param->is_signed || (bits < 64 && value < -((int64_t)1 << (bits - 1)))) return false;
    } else {
        uint64_t limit = bits < 64 ? ((uint64_t)1 << (bits - param->is_signed)) - 1
                                   : (param->is_signed ? (uint64_t)INT64_MAX : UINT64_MAX);
        if (word > limit) return false;
    }
    memcpy(to, &word, param->size); /* little-endian */
    return true;
}

static const qn__float_format *format_of(const qn__param_info *param) {
    static const qn__float_format *const small[] = {NULL, &qn__float_bf16, &qn__float_e4m3, &qn__float_e5m2};
    if (param->small_float && param->small_float < sizeof small / sizeof *small)
        return small[param->small_float];
    return param->lane_size == 2 ? &qn__float_16 : param->lane_size == 4 ? &qn__float_32 : &qn__float_64;
}

/* float and double are quick: a launch is to cost less than a microsecond. */
static bool store_float(const qn__param_info *param, double value, unsigned char *to) {
    const qn__float_format *format = format_of(param);
    const float single = (float)value;
    if (param->lane_size == sizeof value) {
        memcpy(to, &value, sizeof value);
        return true;
    }
    if (param->lane_size == sizeof single) {
        memcpy(to, &single, sizeof single);
        return !isfinite(value) || fabs(value) <= FLT_MAX;
    }
    if (isfinite(value) && fabs(value) > qn__float_largest(format)) return false;
    if (isinf(value) && format->finite) return false;
    const uint64_t bits = qn__float_from_double(format, value);
    memcpy(to, &bits, param->size); /* little-endian */
    return true;
}

/* An integer given for a floating-point parameter must be exact. */
static bool store_integer_as_float(const qn__param_info *param, double value, bool exact, unsigned char *to) {
    const qn__float_format *format = format_of(param);
    bool fits = exact && qn__float_to_double(format, qn__float_from_double(format, value)) == value;
    return fits && store_float(param, value, to);
}

static qn_status store_number(launch *l, uint32_t index, const qn_arg *arg, unsigned char *to) {
    const qn__param_info *param = &l->info->params[index];
    if (param->kind != QN__PARAM_VALUE) return wrong(l, index, "a number was given");
    if (param->lanes != 1)
        return wrong(l, index, "a number was given for a vector; pass its bytes (QN_BYTES)");
    bool negative = arg->kind == QN_ARG_SIGNED && arg->value.i < 0;
    bool is_real = arg->kind == QN_ARG_FLOAT || arg->kind == QN_ARG_DOUBLE, stored;
    if (param->is_float || param->small_float) {
        double value = is_real ? arg->value.d : negative ? (double)arg->value.i : (double)arg->value.u;
        bool exact = is_real || fabs(value) <= 9007199254740992.0;
        stored = is_real ? store_float(param, value, to) : store_integer_as_float(param, value, exact, to);
    } else {
        if (is_real) return wrong(l, index, "a floating-point number was given for an integer");
        stored = store_integer(param, arg->value.i, negative, to);
    }
    return stored ? QN_OK : wrong(l, index, "the number does not fit the type");
}

/* ---- the other kinds ---- */

static qn_status store_bytes(launch *l, uint32_t index, const qn_arg *arg, unsigned char *to) {
    const qn__param_info *param = &l->info->params[index];
    if (param->kind != QN__PARAM_VALUE && param->kind != QN__PARAM_STRUCT)
        return wrong(l, index, "bytes were given");
    if (!arg->value.bytes) return wrong(l, index, "the bytes are NULL");
    bool three = param->lanes == 3 && arg->size == param->size / 4 * 3;
    if (arg->size != param->size && !three)
        return qn__fail(l->context, QN_ERROR_KERNEL_ARGUMENT,
                        "%s: parameter %u of %s, '%s %s': %llu bytes were given, it has %u", l->function,
                        (unsigned)index + 1, l->info->name, param->type_name, param->name,
                        (unsigned long long)arg->size, (unsigned)param->size);
    memcpy(to, arg->value.bytes, arg->size);
    return QN_OK;
}

/* What the kernel takes for there without asking. */
static qn_status check_least(const launch *l, uint32_t index, const qn_buffer *buffer) {
    const qn__param_info *param = &l->info->params[index];
    if (QN__LIKELY(buffer->size >= param->least_size)) return QN_OK;
    return qn__fail(
        l->context, QN_ERROR_KERNEL_ARGUMENT,
        "%s: parameter %u of %s, '%s %s': the buffer has %llu bytes, its type takes %llu at least",
        l->function, (unsigned)index + 1, l->info->name, param->type_name, param->name,
        (unsigned long long)buffer->size, (unsigned long long)param->least_size);
}

static void bind_buffer(launch *l, uint32_t index, const qn__use *use) {
    const qn__param_info *param = &l->info->params[index];
    const qn_buffer *buffer = use->buffer;
    const uint64_t address = use->root->address + buffer->offset;
    const uint32_t n = l->num_buffers++;
    l->bindings[n] = (qn__binding){index, use->root->memory, buffer->offset, buffer->size};
    l->uses[n] = *use;
    l->uses[n].writes = param->is_written || param->is_faults;
    l->extents[index] = buffer->size;
    memcpy(l->args + param->offset, &address, sizeof address);
}

static qn_status store_buffer(launch *l, uint32_t index, const qn_arg *arg) {
    const qn__param_info *param = &l->info->params[index];
    if (param->kind != QN__PARAM_BUFFER)
        return wrong(l, index, arg->kind == QN_ARG_NULL ? "NULL was given" : "a buffer was given");
    if (arg->kind == QN_ARG_BUFFER) {
        qn_buffer *buffer = arg->value.buffer;
        if (!buffer) return wrong(l, index, "the buffer is NULL; qn_arg_null() passes a null pointer");
        qn_status status = qn__check(buffer, QN__OBJECT_BUFFER, l->function, param->name);
        if (status == QN_ERROR_ARGUMENT) return wrong(l, index, "the pointer is not a buffer");
        if (!status) status = check_least(l, index, buffer);
        if (status) return status;
        qn__use use = qn__use_of(buffer, false);
        if (QN__UNLIKELY(use.root->unified != NULL) && buffer->object.context == l->context) {
            status = qn__unified_on(use.root, l->device, &use.root);
            if (!status) bind_buffer(l, index, &use);
            return status;
        }
        if (buffer->device != l->device && (buffer->device->replaced || l->device->replaced))
            return qn__other_device(buffer->device, l->device, "%s", l->function);
        if (buffer->object.context != l->context || buffer->device != l->device)
            return qn__fail_both(
                l->context, buffer->object.context, QN_ERROR_WRONG_CONTEXT,
                "%s: parameter %u of %s, '%s %s': the buffer is of another device or context", l->function,
                (unsigned)index + 1, l->info->name, param->type_name, param->name);
        bind_buffer(l, index, &use);
    } else if (param->least_size) {
        return wrong(l, index, "NULL was given");
    } else {
        l->may_have_null = true;
    }
    return QN_OK;
}

static qn_status check_local(const launch *l, uint64_t wanted) {
    const qn_device *device = l->device;
    if (wanted <= device->info.local_memory) return QN_OK;
    return qn__fail(l->context, QN_ERROR_LAUNCH_SIZE, "%s: %s needs %llu bytes of local memory; %s has %llu",
                    l->function, l->info->name, (unsigned long long)wanted, device->name,
                    (unsigned long long)device->info.local_memory);
}

/* __local arguments lie one after another behind the kernel's own local variables, each aligned to 128 bytes,
   which is the largest type's (double16). */
static qn_status store_local(launch *l, uint32_t index, const qn_arg *arg, unsigned char *to) {
    if (l->info->params[index].kind != QN__PARAM_LOCAL)
        return wrong(l, index, "a local memory size was given");
    if (arg->size == 0) return wrong(l, index, "the local memory size is 0");
    uint64_t offset = (l->local_memory + 127) & ~(uint64_t)127;
    qn_status status = check_local(l, arg->size > UINT64_MAX - offset ? UINT64_MAX : offset + arg->size);
    if (status) return status;
    memcpy(to, &offset, sizeof offset);
    l->extents[index] = arg->size;
    l->local_memory = offset + arg->size;
    return QN_OK;
}

static qn_status store_arg(launch *l, uint32_t index, const qn_arg *arg) {
    l->extents[index] = 0;
    unsigned char *to = l->args + l->info->params[index].offset;
    switch (arg->kind) {
    case QN_ARG_SIGNED:
    case QN_ARG_UNSIGNED:
    case QN_ARG_FLOAT:
    case QN_ARG_DOUBLE: return store_number(l, index, arg, to);
    case QN_ARG_BUFFER:
    case QN_ARG_NULL: return store_buffer(l, index, arg);
    case QN_ARG_LOCAL: return store_local(l, index, arg, to);
    case QN_ARG_BYTES: return store_bytes(l, index, arg, to);
    }
    return wrong(l, index, "the argument has no valid kind");
}

/* A parameter that is none of the source's. Those whose memory it tells of stand before it. */
static void store_own(launch *l, uint32_t index) {
    const qn__param_info *param = &l->info->params[index];
    const qn_program *program = l->kernel->program;
    l->extents[index] = 0;
    if (param->extent_of)
        memcpy(l->args + param->offset, &l->extents[param->extent_of - 1], sizeof *l->extents);
    else {
        const qn__use use = qn__use_of(param->is_faults ? program->faults : program->state, false);
        bind_buffer(l, index, &use);
    }
}

/* All, or the values alone, that is what is no pointer. */
static qn_status store_args(launch *l, const qn_arg *args, size_t num_args, bool values_only) {
    const uint32_t wanted = qn__source_params(l->info);
    if (num_args != wanted)
        return qn__fail(l->context, QN_ERROR_ARGUMENT_COUNT, "%s: %s takes %u arguments, %zu were given",
                        l->function, l->info->name, (unsigned)wanted, num_args);
    if (num_args && !args) return qn__fail_null(l->context, l->function, "args");
    for (uint32_t i = 0; i < num_args; i++) {
        const uint8_t kind = l->info->params[i].kind;
        if (values_only && (kind == QN__PARAM_BUFFER || kind == QN__PARAM_LOCAL)) continue;
        qn_status status = store_arg(l, i, &args[i]);
        if (status) return status;
    }
    if (values_only) return QN_OK;
    for (uint32_t i = wanted; i < l->info->num_params; i++) store_own(l, i);
    return QN_OK;
}

/* ---- sizes ---- */

/* Whether all work-groups are made up of whole sub-groups, those at the end of the range, too. */
static bool has_whole_sub_groups(const launch *l, const qn__command *command) {
    enum { CORNERS = 8 }; /* a bit a dimension: the last group there, which may be smaller */
    for (unsigned corner = 0; corner < CORNERS; corner++) {
        uint64_t items = 1;
        for (unsigned d = 0; d < 3; d++) {
            const uint64_t rest = command->global[d] % command->local[d];
            items *= corner >> d & 1 && rest ? rest : command->local[d];
        }
        if (items % l->info->required_sub_group_size) return false;
    }
    return true;
}

/* What the kernel was told of all launches (-cl-uniform-work-group-size; WGSL) must hold for this one. */
static qn_status check_uniform(const launch *l, const qn__command *command) {
    const char *why = l->info->reqd_local[0] ? "has work-groups of a fixed size, all of them whole"
                                             : "was compiled with -cl-uniform-work-group-size";
    for (int d = 0; l->info->uniform_groups && d < 3; d++)
        if (command->global[d] % command->local[d])
            return qn__fail(l->context, QN_ERROR_LAUNCH_SIZE,
                            "%s: %s %s; in dimension %d global size %llu is no multiple of local size %u",
                            l->function, l->info->name, why, d, (unsigned long long)command->global[d],
                            (unsigned)command->local[d]);
    return QN_OK;
}

static qn_status check_sub_groups(const launch *l, const qn__command *command) {
    if (!l->info->whole_sub_groups || has_whole_sub_groups(l, command)) return QN_OK;
    return qn__fail(l->context, QN_ERROR_LAUNCH_SIZE,
                    "%s: %s uses matrix fragments, so its work-groups must be whole sub-groups of %u "
                    "work-items; local size %u,%u,%u and global size %llu,%llu,%llu leave some smaller",
                    l->function, l->info->name, (unsigned)l->info->required_sub_group_size,
                    (unsigned)command->local[0], (unsigned)command->local[1], (unsigned)command->local[2],
                    (unsigned long long)command->global[0], (unsigned long long)command->global[1],
                    (unsigned long long)command->global[2]);
}

static qn_status set_local(launch *l, const qn_range *range, qn__command *command) {
    const uint32_t *reqd = l->info->reqd_local;
    const qn_device *device = l->device;
    bool given = range->local[0] || range->local[1] || range->local[2];
    if (!given && reqd[0])
        memcpy(command->local, reqd, sizeof command->local);
    else if (!given)
        device->backend->choose_local(device->gpu, l->kernel->program->code, l->kernel->index,
                                      command->global, command->local);
    else
        for (int d = 0; d < 3; d++) command->local[d] = range->local[d] ? range->local[d] : 1;
    uint64_t items = 1;
    for (int d = 0; d < 3; d++) {
        if (reqd[0] && command->local[d] != reqd[d])
            return qn__fail(
                l->context, QN_ERROR_LAUNCH_SIZE, "%s: %s requires local size %u,%u,%u, not %u,%u,%u",
                l->function, l->info->name, (unsigned)reqd[0], (unsigned)reqd[1], (unsigned)reqd[2],
                (unsigned)command->local[0], (unsigned)command->local[1], (unsigned)command->local[2]);
        if (command->local[d] > device->info.max_local_size[d])
            return qn__fail(l->context, QN_ERROR_LAUNCH_SIZE,
                            "%s: local size %u in dimension %d; %s allows %u", l->function,
                            (unsigned)command->local[d], d, device->name,
                            (unsigned)device->info.max_local_size[d]);
        items *= command->local[d];
    }
    if (items <= device->info.max_group_size) {
        const qn_status status = check_uniform(l, command);
        return status ? status : check_sub_groups(l, command);
    }
    return qn__fail(l->context, QN_ERROR_LAUNCH_SIZE, "%s: a work-group of %llu work-items; %s allows %u",
                    l->function, (unsigned long long)items, device->name,
                    (unsigned)device->info.max_group_size);
}

/* Backends count work-groups in 64 bits. */
static qn_status check_product(const launch *l, const uint64_t global[3]) {
    const uint64_t limit = (uint64_t)1 << 62;
    if (global[1] <= limit / global[0] && global[2] <= limit / (global[0] * global[1])) return QN_OK;
    return qn__fail(l->context, QN_ERROR_LAUNCH_SIZE,
                    "%s: global size %llu,%llu,%llu is more than 2^62 work-items", l->function,
                    (unsigned long long)global[0], (unsigned long long)global[1],
                    (unsigned long long)global[2]);
}

/* As ids of WGSL have to be. */
static qn_status check_narrow(const launch *l, const qn__command *command) {
    for (int d = 0; d < 3; d++)
        if (command->offset[d] + command->global[d] > UINT32_MAX)
            return qn__fail(
                l->context, QN_ERROR_LAUNCH_SIZE,
                "%s: %s has ids of 32 bits; global size %llu at offset %llu in dimension %d is too "
                "much for them",
                l->function, l->info->name, (unsigned long long)command->global[d],
                (unsigned long long)command->offset[d], d);
    return QN_OK;
}

static qn_status set_sizes(launch *l, const qn_range *range, qn__command *command) {
    const qn_device *device = l->device;
    command->work_dim = 1;
    for (int d = 0; d < 3; d++) {
        command->global[d] = range->global[d] ? range->global[d] : 1;
        command->offset[d] = range->offset[d];
        if (range->global[d]) command->work_dim = (uint32_t)d + 1;
        if (command->global[d] > device->info.max_global_size[d] ||
            range->offset[d] > UINT64_MAX - command->global[d])
            return qn__fail(l->context, QN_ERROR_LAUNCH_SIZE,
                            "%s: global size %llu at offset %llu in dimension %d; %s allows %llu",
                            l->function, (unsigned long long)command->global[d],
                            (unsigned long long)range->offset[d], d, device->name,
                            (unsigned long long)device->info.max_global_size[d]);
    }
    if (range->global[0] == 0) return QN_OK;
    qn_status status = check_product(l, command->global);
    if (!status && l->info->narrow_ids) status = check_narrow(l, command);
    return status ? status : set_local(l, range, command);
}

static qn_status check_objects(qn_stream *stream, qn_kernel *kernel, const qn_range *range) {
    qn_status status = qn__check_beside(stream, kernel, QN__OBJECT_KERNEL, "qn_launch", "kernel");
    if (status) return status;
    qn_context *context = kernel->object.context;
    if (!range) return qn__fail_null(context, "qn_launch", "range");
    if (!stream) return QN_OK;
    status = qn__check_beside(kernel, stream, QN__OBJECT_STREAM, "qn_launch", "stream");
    if (status || stream->device == kernel->program->device) return status;
    if (stream->device->replaced || kernel->program->device->replaced)
        return qn__other_device(stream->device, kernel->program->device, "%s", "qn_launch");
    return qn__fail_both(context, stream->object.context, QN_ERROR_WRONG_CONTEXT,
                         "qn_launch: the stream is of %s, the kernel of %s%s", stream->device->name,
                         kernel->program->device->name,
                         stream->object.context == context ? "" : " in another context");
}

static void log_launch(const launch *l, const qn__command *command, bool recorded) {
    char range[QN__RANGE_TEXT];
    qn__range_print(command, range, sizeof range);
    qn__log(l->context, QN_LOG_DEBUG, "%s: launch %s, %s%s", l->device->name, l->info->name, range,
            recorded ? ", recorded" : "");
}

/* What was recorded before, in place of arguments that are not given. */
static void keep_args(launch *l, const qn__graph_step *before) {
    const qn__command *command = before->command;
    memcpy(l->args, command->args, command->args_size);
    memcpy(l->bindings, command->bindings, command->num_bindings * sizeof *l->bindings);
    memcpy(l->uses, before->uses, before->num_uses * sizeof *l->uses);
    memcpy(l->extents, command->extents, command->num_extents * sizeof *l->extents);
    l->num_buffers = command->num_bindings;
    l->local_memory = command->local_memory;
    l->may_have_null = true;
}

static void keep_sizes(qn__command *command, const qn__command *before) {
    command->work_dim = before->work_dim;
    memcpy(command->global, before->global, sizeof command->global);
    memcpy(command->offset, before->offset, sizeof command->offset);
    memcpy(command->local, before->local, sizeof command->local);
}

static qn__reach_range range_of(const qn__command *command) {
    qn__reach_range range;
    for (int d = 0; d < 3; d++) {
        range.global[d] = command->global[d];
        range.offset[d] = command->offset[d];
        range.local[d] = command->local[d];
    }
    return range;
}

/* Kernels may look at a pointer and leave it alone where it is null. What is sure to follow it would end the process, or take
   the device along. */
static qn_status check_nulls(const launch *l, const qn__command *command) {
    const qn__reach_range range = range_of(command);
    for (uint32_t i = 0; i < l->info->num_params; i++) {
        const bool is_null = l->info->params[i].kind == QN__PARAM_BUFFER && !l->extents[i];
        if (is_null && qn__reach(l->info, i, l->args, &range))
            return wrong(l, i, "it is null, and the kernel accesses it");
    }
    return QN_OK;
}

/* Of a safe kernel that which is right for the launch: where its limits do not hold, the one that checks every access. */
static void choose_kernel(launch *l, qn__command *command) {
    const qn__reach_range range = range_of(command);
    atomic_bool *may_have_faults = &l->kernel->program->may_have_faults;
    if (l->info->checked && !qn__stays_inside(l->info, l->args, l->extents, &range))
        command->kernel = l->info->checked - 1;
    if (!atomic_load_explicit(may_have_faults, memory_order_relaxed)) atomic_store(may_have_faults, true);
}

/* The whole command, checked. Of an empty launch the global size is 0. before: what stands for arguments and a range that
   are not given, or NULL. */
static qn_status prepare(launch *l, qn__command *command, const qn_range *range, const qn_arg *args,
                         size_t num_args, const qn__graph_step *before) {
    qn_status status = check_local(l, l->local_memory); /* the kernel's own */
    if (!status && before && !args && !num_args)
        keep_args(l, before);
    else if (!status)
        status = store_args(l, args, num_args, false);
    if (!status && before && !range)
        keep_sizes(command, before->command);
    else if (!status)
        status = set_sizes(l, range, command);
    if (range && range->global[0] == 0) command->global[0] = 0;
    if (!status && l->may_have_null && command->global[0]) status = check_nulls(l, command);
    if (!status && l->kernel->program->faults && command->global[0]) choose_kernel(l, command);
    command->bindings = l->bindings;
    command->num_bindings = l->num_buffers;
    command->extents = l->extents;
    command->num_extents = l->info->num_params;
    command->local_memory = l->local_memory;
    return status;
}

/* Buffers are used, then submitted, then noted: the locks are held for as short as can be. */
static qn_status submit(launch *l, qn_stream *stream, const qn__command *command) {
    qn_status status = qn__buffers_use(l->uses, l->num_buffers, stream, QN_MOVE_LAUNCH, l->function);
    const bool recorded = stream->recording != NULL;
    if (status || (command->global[0] == 0 && !recorded)) return status;
    uint64_t number;
    status = qn__stream_submit(stream, command, l->uses, l->num_buffers, &l->kernel->object, &number);
    if (number) qn__buffers_used(l->uses, l->num_buffers, stream, number);
    if (!status && qn__logs(l->context, QN_LOG_DEBUG)) log_launch(l, command, recorded);
    return status;
}

/* Room for the arguments; the sizes are bounded by the compiler (QN__MAX_ARGS_SIZE). */
static bool make_room(launch *l) {
    const size_t count = l->info->num_params, args = ((size_t)l->info->args_size + 15) & ~(size_t)15;
    l->memory = NULL;
    l->args = l->usual_args;
    l->bindings = l->usual_bindings;
    l->uses = l->usual_uses;
    l->extents = l->usual_extents;
    if (count <= USUAL_PARAMS && args <= USUAL_ARGS_SIZE) return true;
    const size_t bindings = count * sizeof *l->bindings, uses = count * sizeof *l->uses;
    l->memory = qn__allocate(&l->context->allocator, args + bindings + uses + count * sizeof *l->extents);
    if (!l->memory) return false;
    l->args = l->memory;
    l->bindings = (qn__binding *)(void *)(l->memory + args);
    l->uses = (qn__use *)(void *)(l->memory + args + bindings);
    l->extents = (uint64_t *)(void *)(l->memory + args + bindings + uses);
    return true;
}

/* Room, and what does not depend on range and arguments. */
static qn_status begin(launch *l, const char *function, qn_kernel *kernel, qn__command *command) {
    const qn__kernel_info *info = kernel->info;
    l->function = function;
    l->kernel = kernel;
    l->device = kernel->program->device;
    l->info = info;
    l->context = kernel->object.context;
    l->local_memory = info->static_local;
    l->num_buffers = 0;
    l->may_have_null = false;
    if (!make_room(l)) return qn__fail_memory(l->context, info->args_size);
    for (uint32_t i = 0; i < info->args_size; i += 16) memset(l->args + i, 0, 16); /* in registers */
    *command = (qn__command){.kind = QN__COMMAND_LAUNCH,
                             .code = kernel->program->code,
                             .kernel = kernel->index,
                             .kernel_name = info->name,
                             .args = l->args,
                             .args_size = info->args_size};
    return QN_OK;
}

static void end(launch *l) {
    if (l->memory) qn__release(&l->context->allocator, l->memory);
}

qn_status qn__launch_local(qn_kernel *kernel, const char *function, const qn_range *range,
                           uint32_t local[3]) {
    launch l;
    qn__command command;
    qn_status status = begin(&l, function, kernel, &command);
    if (status) return status;
    status = set_sizes(&l, range, &command);
    memcpy(local, command.local, sizeof command.local);
    end(&l);
    return status;
}

qn_status qn_launch(qn_stream *stream, qn_kernel *kernel, const qn_range *range, const qn_arg *args,
                    size_t num_args) {
    launch l;
    qn__command command;
    qn_status status = check_objects(stream, kernel, range);
    if (!status) status = begin(&l, "qn_launch", kernel, &command);
    if (status) return status;
    qn_stream *to = qn__stream_of(stream, kernel->program->device);
    status = prepare(&l, &command, range, args, num_args, NULL);
    if (!status && kernel->program->faults)
        atomic_store(&kernel->program->apart, qn__stream_is_apart(to) ? to : NULL);
    if (!status) status = submit(&l, to, &command);
    end(&l);
    return status;
}

qn_status qn__graph_set(qn_graph *graph, qn__graph_step *step, const char *function, const qn_range *range,
                        const qn_arg *args, size_t num_args) {
    launch l;
    qn__command command;
    qn_kernel *kernel = (qn_kernel *)step->object;
    qn_status status = begin(&l, function, kernel, &command);
    if (status) return status;
    status = prepare(&l, &command, range, args, num_args, step);
    if (!status) status = qn__buffers_check_writes(l.uses, l.num_buffers, function);
    if (!status) status = qn__graph_replace(graph, step, &command, l.uses, l.num_buffers);
    end(&l);
    return status;
}

/* ---- what a launch is sure to access ---- */

static qn__reach_range reach_range(const qn_range *range, const uint32_t reqd_local[3]) {
    const bool is_given = range->local[0] || range->local[1] || range->local[2];
    qn__reach_range all = {.global = {range->global[0], 1, 1}};
    for (int d = 0; d < 3; d++) {
        if (range->global[d]) all.global[d] = range->global[d];
        all.offset[d] = range->offset[d];
        all.local[d] = is_given ? (range->local[d] ? range->local[d] : 1) : reqd_local[d];
        if (all.offset[d] > UINT64_MAX - all.global[d]) all.global[0] = 0; /* no launch takes it */
    }
    return all;
}

qn_status qn_kernel_required_size(qn_kernel *kernel, uint32_t param, const qn_range *range,
                                  const qn_arg *args, size_t num_args, uint64_t *bytes) {
    static const char function[] = "qn_kernel_required_size";
    qn_status status = qn__check(kernel, QN__OBJECT_KERNEL, function, "kernel");
    if (status) return status;
    qn_context *context = kernel->object.context;
    const qn__kernel_info *info = kernel->info;
    if (!range) return qn__fail_null(context, function, "range");
    if (!bytes) return qn__fail_null(context, function, "bytes");
    *bytes = 0;
    if (param >= qn__source_params(info))
        return qn__fail(context, QN_ERROR_RANGE, "%s: index %u; %s has %u parameters", function,
                        (unsigned)param, info->name, (unsigned)qn__source_params(info));
    launch l;
    qn__command command;
    status = begin(&l, function, kernel, &command);
    if (status) return status;
    status = store_args(&l, args, num_args, true);
    const qn__reach_range wanted = reach_range(range, info->reqd_local);
    if (!status) *bytes = qn__reach(info, param, l.args, &wanted);
    if (!status && *bytes < info->params[param].least_size) *bytes = info->params[param].least_size;
    end(&l);
    return status;
}
