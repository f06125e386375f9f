/* quern run: one kernel over arguments from the command line. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "compare.h"
#include "run.h"

/* ---- options ---- */

static bool sizes_parse(const char *text, uint64_t sizes[3]) {
    for (int d = 0; d < 3; d++) {
        char *end;
        errno = 0;
        sizes[d] = strtoull(text, &end, 0);
        if (end == text || errno || *text == '-') return false;
        if (*end == 0) return true;
        if (*end != ',') return false;
        text = end + 1;
    }
    return false;
}

static int set_sizes(const char *option, const char *text, uint64_t sizes[3]) {
    if (sizes_parse(text, sizes)) return -1;
    return tool_fail(TOOL_USAGE, "%s is X[,Y[,Z]], not '%s'", option, text);
}

static int set_local(const char *text, uint32_t local[3]) {
    uint64_t sizes[3] = {0};
    int result = set_sizes("--local", text, sizes);
    for (int d = 0; d < 3; d++) {
        if (sizes[d] > UINT32_MAX) return tool_fail(TOOL_USAGE, "--local %s is too large", text);
        local[d] = (uint32_t)sizes[d];
    }
    return result;
}

static int set_time(const char *text, unsigned *time) {
    char *end;
    unsigned long count = strtoul(text, &end, 10);
    if (end == text || *end || count == 0 || count > 1000000)
        return tool_fail(TOOL_USAGE, "--time is a number of runs, not '%s'", text);
    *time = (unsigned)count;
    return -1;
}

static int set_timeout(const char *text, uint64_t *timeout_ns) {
    char *end;
    const double seconds = strtod(text, &end);
    if (end == text || *end || !(seconds > 0 && seconds <= 1e6))
        return tool_fail(TOOL_USAGE, "--timeout is a number of seconds, not '%s'", text);
    *timeout_ns = (uint64_t)(seconds * 1e9);
    return -1;
}

static int set_tolerance(const char *text, double *tolerance) {
    char *end;
    *tolerance = strtod(text, &end);
    if (end == text || *end || !(*tolerance >= 0))
        return tool_fail(TOOL_USAGE, "--tolerance is a number that is not negative, not '%s'", text);
    return -1;
}

/* As program_option. */
static int run_option(run_options *o, int argc, char **argv, int *i) {
    enum { KERNEL, DEVICE, LOCAL, OFFSET, TIME, TIMEOUT, TOLERANCE, GLOBAL, NUM_OPTIONS };
    static const char *const names[NUM_OPTIONS] = {"--kernel", "--device",  "--local",     "--offset",
                                                   "--time",   "--timeout", "--tolerance", "--global"};
    const char *value = NULL, *given = argv[*i];
    int option = 0;
    if (strcmp(given, "--compare") == 0) {
        o->compare = true;
        return -1;
    }
    if (strcmp(given, "--check") == 0) {
        o->check = true;
        return -1;
    }
    const int checks = o->check ? check_option(&o->checks, argc, argv, i) : 0;
    if (checks) return checks;
    while (option < NUM_OPTIONS && !option_value(names[option], argc, argv, i, &value)) option++;
    if (option == NUM_OPTIONS) return 0;
    if (!value) return needs_value(given);
    switch (option) {
    case KERNEL: o->kernel = value; return -1;
    case DEVICE: o->device = value; return -1;
    case LOCAL: return set_local(value, o->range.local);
    case OFFSET: return set_sizes("--offset", value, o->range.offset);
    case TIME: return set_time(value, &o->time);
    case TIMEOUT: return set_timeout(value, &o->timeout_ns);
    case TOLERANCE: return set_tolerance(value, &o->tolerance);
    default: o->has_global = true; return set_sizes("--global", value, o->range.global);
    }
}

static named_buffer *find_named(const run_options *o, const char *name) {
    for (size_t i = 0; i < o->num_named; i++)
        if (strcmp(o->named[i].name, name) == 0) return &o->named[i];
    return NULL;
}

/* An ARG has a colon behind its kind, where a path has none or a drive before it. */
static bool is_file(const run_options *o, const char *word) {
    const char *colon = strchr(word, ':');
    if (!o->program.num_files) return true;
    if (strcmp(word, "-") == 0) return true;
    return tool_ends_with(word, ".cl") && (!colon || colon == word + 1) && !find_named(o, word);
}

int run_parse(int argc, char **argv, run_options *o) {
    for (int i = 1; i < argc; i++) {
        int result = program_option(&o->program, argc, argv, &i);
        if (result == 0) result = run_option(o, argc, argv, &i);
        if (result > 0) return result;
        if (result < 0) continue;
        if (argv[i][0] == '-' && argv[i][1]) return tool_fail(TOOL_USAGE, "unknown option '%s'", argv[i]);
        if (is_file(o, argv[i])) {
            if ((result = program_file(&o->program, argv[i]))) return result;
            continue;
        }
        if (o->num_args == MAX_ARGS) return tool_fail(TOOL_USAGE, "more than %d arguments", MAX_ARGS);
        tool_arg *arg = &o->args[o->num_args++];
        named_buffer *named = find_named(o, argv[i]);
        if (named)
            *arg = (tool_arg){.kind = ARG_NAMED, .text = argv[i], .named = &named->arg};
        else if ((result = tool_arg_parse(argv[i], arg)))
            return result;
    }
    if (!o->program.num_files) return tool_fail(TOOL_USAGE, "no file; see `quern run --help`");
    const bool has_several = o->device && strchr(o->device, ',');
    if (o->compare != has_several)
        return tool_fail(TOOL_USAGE,
                         o->compare ? "--compare needs several devices: --device A,B"
                                    : "several devices ('%s') need --compare",
                         o->device);
    if (is_chain(o)) {
        if (o->program.num_files > 1) return tool_fail(TOOL_USAGE, "a chain names its files itself");
        if (!o->has_global && !o->num_args && !o->kernel && !o->compare && !o->time) return TOOL_OK;
        return tool_fail(TOOL_USAGE, "of a chain's launches nothing is said here; see `quern run --help`");
    }
    if (!o->has_global) return tool_fail(TOOL_USAGE, "--global X[,Y[,Z]] is needed: how many work-items");
    return TOOL_OK;
}

/* ---- arguments against the kernel's parameters ---- */

static int mismatch(const tool_arg *arg, const qn_param_info *param, const char *what) {
    return tool_fail(TOOL_USAGE, "argument '%s' for parameter '%s %s': %s", arg->text, param->type_name,
                     param->name, what);
}

static bool same_number(qn_type a, qn_type b) {
    bool a_real = a >= QN_TYPE_F16, b_real = b >= QN_TYPE_F16;
    return a_real || b_real ? a == b : tool_type_scalar_size(a) == tool_type_scalar_size(b);
}

/* The bytes are used as they are: as numbers of another type they are nonsense. */
static void compare_elements(const tool_arg *arg, const qn_param_info *param) {
    if (!arg->has_type || param->type == QN_TYPE_BYTES || same_number(param->type, arg->type.type)) return;
    tool_warn("argument '%s' for parameter '%s %s': its elements are of type %s", arg->text, param->type_name,
              param->name, tool_type_name(arg->type.type));
}

static int make_buffer(qn_device *device, tool_arg *arg, const qn_param_info *param, qn_arg *out) {
    qn_context *context = qn_device_context(device);
    if (param->kind == QN_PARAM_LOCAL) return mismatch(arg, param, "local memory is local:BYTES");
    if (param->kind != QN_PARAM_BUFFER) return mismatch(arg, param, "the parameter is no buffer");
    compare_elements(arg, param);
    if (!arg->has_type) {
        arg->type = (tool_type){param->type, param->lanes};
        if (param->type == QN_TYPE_BYTES || arg->size % tool_type_size(arg->type))
            arg->type = (tool_type){QN_TYPE_U8, 1};
    }
    qn_buffer_desc desc = {.size = arg->size,
                           .data = arg->uninitialised ? NULL : arg->data,
                           .uninitialised = arg->uninitialised,
                           .label = param->name};
    qn_status status = qn_buffer_create(device, &desc, &arg->buffer);
    *out = qn_arg_buffer(arg->buffer);
    return status ? tool_fail_status(context, status) : TOOL_OK;
}

static int make_value(const tool_arg *arg, const qn_param_info *param, qn_arg *out) {
    if (param->kind == QN_PARAM_LOCAL) return mismatch(arg, param, "local memory is local:BYTES");
    if (param->kind != QN_PARAM_VALUE)
        return mismatch(arg, param, "the parameter is a pointer: give buf:, file: or null");
    if (param->type == QN_TYPE_BYTES)
        return mismatch(
            arg, param,
            "the parameter is a struct: give its fields as struct:{NAME=VALUE,...}, or its bytes as raw:HEX");
    if (param->lanes != arg->type.lanes || !same_number(param->type, arg->type.type))
        return mismatch(arg, param, "the types differ; begin it with the parameter's");
    *out = qn_arg_bytes(arg->data, arg->size);
    return TOOL_OK;
}

/* The first launch that uses it makes the buffer. */
static int use_named(qn_device *device, tool_arg *named, const qn_param_info *param, qn_arg *out) {
    if (!named->buffer || param->kind != QN_PARAM_BUFFER) return make_buffer(device, named, param, out);
    compare_elements(named, param);
    *out = qn_arg_buffer(named->buffer);
    return TOOL_OK;
}

static int make_arg(qn_device *device, tool_arg *arg, const qn_param_info *param, qn_arg *out) {
    switch (arg->kind) {
    case ARG_NAMED: return use_named(device, arg->named, param, out);
    case ARG_VALUE: return make_value(arg, param, out);
    case ARG_BUFFER:
    case ARG_FILE: return make_buffer(device, arg, param, out);
    case ARG_NULL:
        if (param->kind != QN_PARAM_BUFFER) return mismatch(arg, param, "the parameter is no buffer");
        *out = qn_arg_null();
        return TOOL_OK;
    case ARG_LOCAL:
        if (param->kind != QN_PARAM_LOCAL) return mismatch(arg, param, "the parameter is no local pointer");
        *out = qn_arg_local(arg->size);
        return TOOL_OK;
    case ARG_STRUCT:
    case ARG_RAW:
        if (param->kind != QN_PARAM_VALUE) return mismatch(arg, param, "the parameter is a pointer");
        *out = qn_arg_bytes(arg->data, arg->size);
        return TOOL_OK;
    }
    return TOOL_USAGE;
}

static int wrong_count(const qn_kernel *kernel, const qn_kernel_info *info, size_t given) {
    int result =
        tool_fail(TOOL_USAGE, "%s takes %u arguments, %zu were given:", info->name, info->num_params, given);
    for (uint32_t i = 0; i < info->num_params; i++) {
        qn_param_info param;
        qn_kernel_get_param(kernel, i, &param);
        fprintf(stderr, "  %s %s\n", param.type_name, param.name);
    }
    return result;
}

int run_make_args(qn_device *device, qn_kernel *kernel, run_options *o, qn_arg *args) {
    qn_kernel_info info;
    qn_kernel_get_info(kernel, &info);
    if (info.num_params != o->num_args) return wrong_count(kernel, &info, o->num_args);
    for (uint32_t i = 0; i < info.num_params; i++) {
        qn_param_info param;
        qn_kernel_get_param(kernel, i, &param);
        int result =
            o->args[i].kind == ARG_STRUCT ? tool_struct_fill(kernel, i, &param, &o->args[i]) : TOOL_OK;
        if (!result) result = make_arg(device, &o->args[i], &param, &args[i]);
        if (result) return result;
    }
    return TOOL_OK;
}

static void warn_of_size(const tool_arg *arg, const qn_param_info *param, uint64_t bytes) {
    const unsigned size = arg->has_type ? tool_type_size(arg->type) : param->element_size;
    if (size)
        tool_warn("argument '%s' for parameter '%s %s' is too small: the kernel accesses %llu "
                  "elements, it has %llu",
                  arg->text, param->type_name, param->name, (unsigned long long)((bytes + size - 1) / size),
                  (unsigned long long)(arg->size / size));
    else
        tool_warn("argument '%s' for parameter '%s %s' is too small: the kernel accesses %llu bytes, "
                  "it has %llu",
                  arg->text, param->type_name, param->name, (unsigned long long)bytes,
                  (unsigned long long)arg->size);
}

/* Buffers that the range is sure to reach past the end of. */
void run_check_sizes(qn_kernel *kernel, const run_options *o, const qn_arg *args) {
    for (uint32_t i = 0; i < o->num_args; i++) {
        uint64_t bytes;
        qn_param_info param;
        const tool_arg *arg = o->args[i].named ? o->args[i].named : &o->args[i];
        if (!arg->buffer || qn_kernel_get_param(kernel, i, &param) ||
            qn_kernel_required_size(kernel, i, &o->range, args, o->num_args, &bytes))
            continue;
        if (bytes > arg->size) warn_of_size(arg, &param, bytes);
    }
}

/* ---- running ---- */

static qn_status run_once(qn_kernel *kernel, const run_options *o, const qn_arg *args, qn_device *device) {
    qn_status status = qn_launch(NULL, kernel, &o->range, args, o->num_args);
    return status ? status : qn_stream_wait(qn_device_stream(device), o->timeout_ns);
}

static int by_value(const void *a, const void *b) {
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return x < y ? -1 : x > y;
}

static uint64_t buffer_bytes(const run_options *o) {
    uint64_t bytes = 0;
    for (size_t i = 0; i < o->num_args; i++) bytes += o->args[i].buffer ? o->args[i].size : 0;
    return bytes;
}

/* The median of `count` launches as the device sees them. */
static qn_status time_kernel(qn_kernel *kernel, const run_options *o, const qn_arg *args, qn_device *device,
                             unsigned count, double *median_ns) {
    qn_event *begin = NULL, *end = NULL;
    int64_t *times = tool_alloc(count * sizeof *times);
    qn_status status = qn_event_create(device, &begin);
    if (!status) status = qn_event_create(device, &end);
    for (unsigned i = 0; i < count && !status; i++) {
        status = qn_stream_record(NULL, begin);
        if (!status) status = qn_launch(NULL, kernel, &o->range, args, o->num_args);
        if (!status) status = qn_stream_record(NULL, end);
        if (!status) status = qn_stream_wait(qn_device_stream(device), o->timeout_ns);
        if (!status) status = qn_event_elapsed(begin, end, &times[i]);
    }
    qsort(times, count, sizeof *times, by_value);
    *median_ns = (double)times[count / 2];
    qn_event_destroy(begin);
    qn_event_destroy(end);
    free(times);
    return status;
}

static double seconds_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* All buffers to the device, then those that the kernel may write back. */
static qn_status time_transfers(qn_kernel *kernel, const run_options *o) {
    uint64_t bytes[2] = {0, 0};
    double seconds[2] = {0, 0};
    qn_status status = QN_OK;
    for (int back = 0; back < 2 && !status; back++)
        for (uint32_t i = 0; i < o->num_args && !status; i++) {
            const tool_arg *arg = &o->args[i];
            qn_param_info param;
            if (!arg->buffer || !arg->data || qn_kernel_get_param(kernel, i, &param)) continue;
            if (back && (param.is_const || param.is_constant_space)) continue;
            const double start = seconds_now();
            status = back ? qn_buffer_read(arg->buffer, 0, arg->data, arg->size)
                          : qn_buffer_write(arg->buffer, 0, arg->data, arg->size);
            seconds[back] += seconds_now() - start;
            bytes[back] += arg->size;
        }
    if (!status && bytes[0])
        printf("transfer: %.3f us to the device (%llu bytes), %.3f us back (%llu bytes)\n", seconds[0] * 1e6,
               (unsigned long long)bytes[0], seconds[1] * 1e6, (unsigned long long)bytes[1]);
    return status;
}

static void print_compile_time(const qn_program *program) {
    qn_program_times times;
    if (qn_program_get_times(program, &times)) return;
    printf("compile: %.3f ms", (double)times.compile_ns / 1e6);
    if (times.from_cache)
        printf(" and %.3f ms to load it, from the cache\n", (double)times.driver_ns / 1e6);
    else
        printf(" by quern, %.3f ms by the device's driver or compiler\n", (double)times.driver_ns / 1e6);
}

static qn_status time_runs(qn_program *program, qn_kernel *kernel, const run_options *o, const qn_arg *args,
                           qn_device *device) {
    double median = 0;
    print_compile_time(program);
    qn_status status = time_transfers(kernel, o);
    if (!status) status = time_kernel(kernel, o, args, device, o->time, &median);
    if (status) return status;
    printf("kernel: median of %u: %.3f us", o->time, median / 1e3);
    if (buffer_bytes(o))
        printf(", %.2f GB/s over the buffers' %llu bytes", (double)buffer_bytes(o) / median,
               (unsigned long long)buffer_bytes(o));
    putchar('\n');
    return QN_OK;
}

static int write_outputs(qn_context *context, qn_kernel *kernel, run_options *o) {
    for (uint32_t i = 0; i < o->num_args; i++) {
        tool_arg *arg = &o->args[i];
        if (!arg->output) continue;
        qn_param_info param;
        qn_kernel_get_param(kernel, i, &param);
        qn_status status = qn_buffer_read(arg->buffer, 0, arg->data, arg->size);
        if (status) return tool_fail_status(context, status);
        int result = tool_arg_write(arg, param.name, arg->data, o->range.global);
        if (result) return result;
    }
    return TOOL_OK;
}

static bool is_usage(qn_status status) {
    return status == QN_ERROR_ARGUMENT_COUNT || status == QN_ERROR_KERNEL_ARGUMENT ||
           status == QN_ERROR_NO_KERNEL || status == QN_ERROR_NO_DEVICE || status == QN_ERROR_ARGUMENT;
}

/* Whether what was not done in time is now, as it was cancelled. */
static bool is_ended(qn_device *device) {
    const uint64_t grace_ns = 10000000000;
    qn_stream *stream = device ? qn_device_stream(device) : NULL;
    return stream && !qn_stream_cancel(stream) && qn_stream_wait(stream, grace_ns) != QN_ERROR_TIMEOUT;
}

/* A kernel that does not end and cannot be cancelled cannot be waited for: the process ends with it. */
int run_fail(qn_context *context, qn_device *device, qn_status status) {
    int result = tool_fail_status(context, status);
    if (status == QN_ERROR_TIMEOUT && !is_ended(device)) {
        fflush(NULL);
        _exit(result);
    }
    return is_usage(status) ? TOOL_USAGE : result;
}

/* ---- comparing ---- */

/* The buffers that have a place to go to; where none has, those that the kernel may write. */
static void choose_outputs(const qn_kernel *kernel, const run_options *o, comparison *c) {
    for (int may_write = 0; may_write < 2 && !c->num_outputs; may_write++)
        for (uint32_t i = 0; i < o->num_args && c->num_outputs < COMPARE_OUTPUTS; i++) {
            const tool_arg *arg = &o->args[i];
            qn_param_info param;
            if (!arg->buffer || qn_kernel_get_param(kernel, i, &param)) continue;
            const bool is_read = param.is_const || param.is_constant_space || arg->read_only;
            if (may_write ? is_read : !arg->output) continue;
            c->outputs[c->num_outputs].index = i;
            c->outputs[c->num_outputs].arg = arg;
            snprintf(c->outputs[c->num_outputs++].name, sizeof c->outputs[0].name, "%s", param.name);
        }
}

/* The device's results after the first run, and its time of more. */
static qn_status gather(qn_kernel *kernel, const run_options *o, const qn_arg *args, qn_device *device,
                        comparison *c) {
    enum { USUAL_RUNS = 5 };
    qn_device_info info;
    const size_t row = c->num_rows++;
    qn_status status = qn_device_get_info(device, &info);
    if (row == 0) choose_outputs(kernel, o, c);
    c->rows[row].device = status ? "" : info.name;
    for (size_t i = 0; i < c->num_outputs && !status; i++) {
        const tool_arg *arg = c->outputs[i].arg;
        c->rows[row].data[i] = tool_alloc(arg->size);
        status = qn_buffer_read(arg->buffer, 0, c->rows[row].data[i], arg->size);
    }
    if (!status && !c->untimed)
        status =
            time_kernel(kernel, o, args, device, o->time ? o->time : USUAL_RUNS, &c->rows[row].median_ns);
    return status;
}

/* ---- on a device ---- */

/* c: NULL, or what gathers results of several devices; those of the first go to their places. */
static int run_kernel(qn_context *context, qn_device *device, qn_program *program, qn_kernel *kernel,
                      run_options *o, comparison *c) {
    qn_arg args[MAX_ARGS];
    const bool is_first = !c || c->num_rows == 0;
    int result = run_make_args(device, kernel, o, args);
    if (result) return result;
    if (is_first) run_check_sizes(kernel, o, args);
    qn_status status = run_once(kernel, o, args, device);
    fflush(stdout);
    if (!status && c) status = gather(kernel, o, args, device, c);
    if (status) return run_fail(context, device, status);
    if (c) return TOOL_OK;
    result = write_outputs(context, kernel, o);
    if (!result && o->time) {
        status = time_runs(program, kernel, o, args, device);
        if (status) return run_fail(context, device, status);
    }
    return result;
}

static int run_on(qn_context *context, const char *name, const qn_program_desc *desc, run_options *o,
                  comparison *c) {
    qn_device *device = NULL;
    qn_program *program = NULL;
    qn_kernel *kernel = NULL;
    const bool is_measured = o->time || c;
    qn_status status = qn_device_get(context, name, &device);
    if (!status) status = qn_program_create(device, desc, &program);
    if (!status && is_measured)
        status = qn_program_wait(program, QN_FOREVER); /* its final code is measured */
    if (!status && (!c || c->num_rows == 0)) fputs(qn_program_log(program), stderr);
    if (!status) status = qn_kernel_create(program, o->kernel, &kernel);
    int result =
        status ? run_fail(context, device, status) : run_kernel(context, device, program, kernel, o, c);
    for (size_t i = 0; i < o->num_args; i++) {
        qn_buffer_destroy(o->args[i].buffer);
        o->args[i].buffer = NULL;
    }
    qn_kernel_destroy(kernel);
    qn_program_destroy(program);
    return result;
}

static int write_compared(const run_options *o, const comparison *c) {
    int result = TOOL_OK;
    for (size_t i = 0; i < c->num_outputs && !result; i++)
        if (c->outputs[i].arg->output)
            result =
                tool_arg_write(c->outputs[i].arg, c->outputs[i].name, c->rows[0].data[i], o->range.global);
    return result;
}

static int compare_devices(qn_context *context, const qn_program_desc *desc, run_options *o) {
    comparison *c = tool_alloc(sizeof *c);
    char *names = tool_alloc(strlen(o->device) + 1);
    strcpy(names, o->device);
    int result = TOOL_OK;
    for (char *name = names, *rest; name && !result; name = rest) { /* drivers use strtok */
        rest = strchr(name, ',');
        if (rest) *rest++ = 0;
        if (c->num_rows == COMPARE_DEVICES)
            result = tool_fail(TOOL_USAGE, "--compare takes %d devices at most", COMPARE_DEVICES);
        else
            result = run_on(context, name, desc, o, c);
    }
    if (!result) result = write_compared(o, c);
    if (!result) result = comparison_print(c, o->tolerance);
    comparison_free(c);
    free(names);
    free(c);
    return result;
}

/* The same launch with other orders of work-groups and work-items: results that differ depend on it. */
static int explore(qn_context *context, const qn_program_desc *desc, run_options *o) {
    comparison *c = tool_alloc(sizeof *c);
    const uint64_t first = o->checks.desc.seed;
    c->untimed = true;
    int result = TOOL_OK;
    for (unsigned i = 0; i <= o->checks.explore && !result; i++) {
        char what[80];
        o->checks.desc.seed = i ? first + i : 0;
        result = check_configure(context, &o->checks);
        if (!result) result = run_on(context, o->device, desc, o, c);
        snprintf(what, sizeof what, "with the schedule of --seed %llu",
                 (unsigned long long)o->checks.desc.seed);
        if (result || i == 0) continue;
        if (comparison_differs(c, o->tolerance, what)) result = TOOL_DIFFERENT;
        comparison_drop_last(c);
    }
    if (!result) result = write_compared(o, c);
    comparison_free(c);
    free(c);
    return result;
}

static int build_and_run(qn_context *context, run_options *o) {
    qn_program_desc desc = {0};
    if (!program_options_fill(&o->program, &desc)) return TOOL_RUN_FAILED;
    if (o->check && o->checks.explore) return explore(context, &desc, o);
    return o->compare ? compare_devices(context, &desc, o) : run_on(context, o->device, &desc, o, NULL);
}

void run_free(run_options *o) {
    for (size_t i = 0; i < o->num_args; i++) {
        qn_buffer_destroy(o->args[i].buffer);
        free(o->args[i].data);
    }
    program_options_free(&o->program);
    free(o);
}

/* Findings are printed at the end, in the form that was asked for, and not to the log as well. */
static void ignore_log(void *user, qn_log_level level, const char *message) {
    (void)user, (void)level, (void)message;
}

static int run_here(qn_context *context, run_options *o) {
    if (o->check && o->device && strcmp(o->device, "check") != 0 && !check_is_wanted())
        return tool_fail(TOOL_USAGE,
                         "--device %s: kernels are checked on the device 'check', which interprets them",
                         o->device);
    if (o->check) o->device = "check";
    int result = o->check ? check_begin(context, &o->checks) : TOOL_OK;
    if (!result) result = is_chain(o) ? chain_run(context, o) : build_and_run(context, o);
    return o->check ? check_finish(context, &o->checks, result) : result;
}

int run_main(int argc, char **argv, bool check) {
    run_options *o = tool_alloc(sizeof *o);
    o->timeout_ns = QN_FOREVER;
    o->check = check || check_is_wanted();
    qn_context *context = NULL;
    int result = run_parse(argc, argv, o);
    const qn_context_desc desc = {.log = o->check && !getenv("QUERN_LOG") ? ignore_log : NULL};
    if (!result && qn_context_create(&desc, &context))
        result = tool_fail(TOOL_RUN_FAILED, "no context: out of memory");
    if (!result) faults_watch();
    if (!result) result = run_here(context, o);
    run_free(o);
    qn_context_destroy(context);
    return result;
}

static int run(int argc, char **argv) { return run_main(argc, argv, false); }

const tool_command tool_run = {
    "run", "run a kernel of .cl files on buffers, files and numbers",
    "usage: quern run FILE.cl... [--kernel NAME] --global X[,Y[,Z]] [--local X[,Y[,Z]]] [--offset X[,Y[,Z]]] "
    "[--device NAME]\n"
    "                 " PROGRAM_OPTIONS_USAGE "\n"
    "                 [--compare] [--tolerance T] [--time N] [--timeout S] [--check]\n"
    "                 ARG...\n"
    "       quern run FILE.qnc [--device NAME] [--timeout S]\n\n"
    "FILE.cl may be -: the standard input. " PROGRAM_FILES_HELP
    "The names of all but the first end in .cl. FILE.qnc is a chain, lines of\n"
    "  buffer NAME ARG      a buffer of all launches: buf: or file:, written at the end where it has an "
    "@PATH\n"
    "  run FILE.cl... ARG... a launch as on the command line, with NAMEs among its ARGs\n"
    "  repeat N, end        the launches between them are done N times; #: a comment\n\n"
    "One ARG a kernel parameter, in order:\n"
    "  TYPE:V[,V...]        a value: int:5  float4:1,2,3,4  uchar:0xff  float:nan  bf16:1.5  e4m3x4:1\n"
    "  buf:TYPE:N[=V,...]   a buffer of N elements, the values repeated to fill it, zeros without; of a "
    "struct, "
    "some in\n                       types of their own: buf:uint:4=64,float:0.5,int:-1,0\n"
    "  file:PATH            a buffer from .npy, .png or .jpg (uchar4 pixels), or any file's bytes\n"
    "  null                 a null pointer\n"
    "  local:BYTES          local memory\n"
    "  struct:{F=V,...}     a struct: fields F (light.on, steps[1]) or inner structs F={...}, zeros where "
    "not named\n"
    "  raw:HEX              the bytes of a by-value argument\n"
    "buf and file take flags: buf+ro: (read only), buf+wo: (write only), buf+uninit: (contents not "
    "defined).\n"
    "A buffer ARG may end in @PATH: written there after the run, as .npy, .png or raw bytes; @- prints its "
    "values.\n"
    "With --time the first run's results are written. A file whose own name has an @ is taken as it is.\n\n"
    "  --kernel NAME     may be left out when there is one kernel\n"
    "  --global X[,Y[,Z]]  work-items; --local: of a work-group (left out: quern chooses); --offset: of the "
    "first\n"
    "  --device NAME     as `quern devices` lists them\n"
    "  --device A,B --compare  run it on each, print times and the largest differences from A's results\n"
    "  --tolerance T     differences up to T, absolute or relative, are fine (0)\n"
    "  --time N          run it N more times, print the times of compiling, of transfers and of the kernel\n"
    "  --timeout S       give up when a run takes longer than S seconds\n"
    "  --check           as `quern check`: look for faults in the kernel (QUERN_CHECK=1 does it, "
    "too)\n" PROGRAM_OPTIONS_HELP "exit status: 0 done; 1 the kernel does not compile; 2 usage; 3 the run "
    "failed; 4 results differ, or\nfaults were found\n\n"
    "example: quern run saxpy.cl --global 4 int:4 float:2 buf:float:4=1,2,3,4 buf:float:4=1@-\n",
    run};
