/* Puts the WGSL of tests/wgsl before a WebGPU implementation in place of quern, to judge the files: Tint, which is in Dawn, or
   naga, in wgpu-native, compiles each; `--run` runs them as well and compares with what they expect. Of a file with errors
   each line with one is tried alone, without the others: Tint refuses it there, and takes the file without all of them.
   Status 77 where there is no implementation (QUERN_WEBGPU_LIB).
   usage: wgsl_oracle [--run] [--print] FILE.wgsl|FOLDER... */
#include <dirent.h>
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "backend/webgpu/webgpu.h"
#include "cl_case.h"
#include "wgsl_shape.h"

enum { MAX_CONSTANTS = 16, MAX_GROUPS = 4 };

typedef struct oracle {
    qn__services services;
    qn__driver *driver;
    qn__gpu gpu;       /* as far as scopes, modules and buffers need it */
    uint32_t features; /* QN_CAN_* */
    bool strict;       /* Tint: it is known to find every error */
    bool run, print;
    const cl_case *test;
    wgsl_shape *shape;
    char *text; /* the test's source, or a part of it */
    bool failed;
} oracle;

static void fail(oracle *o, const char *where, const char *what) {
    o->failed = true;
    printf("      %s%s%s\n", where, *where ? ": " : "", what);
}

/* ---- the device ---- */

static void got_device(uint32_t status, wg_object device, wg_text message, void *user, void *second) {
    (void)message, (void)second;
    if (status == WG_SUCCESS) *(wg_object *)user = device;
}

static void was_lost(wg_object const *device, uint32_t reason, wg_text message, void *user, void *second) {
    (void)device, (void)reason, (void)message, (void)user, (void)second;
}

static void no_log(void *user, qn_log_level level, const char *message) {
    (void)user, (void)level, (void)message;
}

/* The numbers of f16 and of sub-groups among the features: they changed. */
static size_t choose_features(oracle *o, uint32_t features[2]) {
    static const uint32_t of_dawn[] = {8, 13}, of_wgpu[] = {11, 18}, bits[] = {QN_CAN_F16, QN_CAN_SUB_GROUPS};
    const uint32_t *numbers = o->strict ? of_dawn : of_wgpu;
    uint32_t (*has)(wg_object, uint32_t);
    void *library = dlopen(getenv("QUERN_WEBGPU_LIB"), RTLD_NOW),
         *symbol = library ? dlsym(library, "wgpuAdapterHasFeature") : NULL;
    size_t count = 0;
    if (!symbol) return 0;
    memcpy(&has, &symbol, sizeof has);
    for (int i = 0; i < 2; i++) {
        if (!has(o->gpu.adapter, numbers[i])) continue;
        features[count++] = numbers[i];
        o->features |= bits[i];
    }
    return count;
}

static bool open_device(oracle *o) {
    char why[QN__WHY] = "";
    uint32_t count, features[2];
    static qn__allocator allocator;
    wg_limits limits = {0};
    o->services = (qn__services){.allocator = &allocator, .log = no_log};
    if (qn__wg_open(&o->services, &o->driver, &count, why)) return tool_fail(false, "skipped: %s", why);
    o->strict = strcmp(o->driver->dialect->name, "Dawn") == 0;
    o->gpu = (qn__gpu){.services = &o->services,
                       .api = &o->driver->api,
                       .dialect = o->driver->dialect,
                       .instance = o->driver->instance,
                       .adapter = o->driver->adapters[0]};
    o->gpu.api->wgpuAdapterGetLimits(o->gpu.adapter, &limits);
    limits.chain = NULL;
    const wg_device_desc desc = {.num_features = choose_features(o, features),
                                 .features = features,
                                 .limits = &limits,
                                 .lost = {.mode = WG_ALLOW_PROCESS_EVENTS, .call = (void (*)(void))was_lost},
                                 .error = {.call = qn__wg_note_error, .user = &o->gpu}};
    const wg_callback callback = {
        .mode = WG_ALLOW_PROCESS_EVENTS, .call = (void (*)(void))got_device, .user = &o->gpu.device};
    o->gpu.api->wgpuAdapterRequestDevice(o->gpu.adapter, &desc, callback);
    for (int i = 0; i < 100 && !o->gpu.device; i++) o->gpu.api->wgpuInstanceProcessEvents(o->gpu.instance);
    if (!o->gpu.device) return tool_fail(false, "skipped: no device");
    o->gpu.queue = o->gpu.api->wgpuDeviceGetQueue(o->gpu.device);
    return true;
}

/* ---- modules ---- */

/* With all checks, as a browser makes it. NULL, with the message, where it is refused. */
static wg_object make_module(oracle *o, const char *text, char *message, size_t size) {
    wg_wgsl source = {.chain = {.type = WG_SHADER_SOURCE_WGSL}, .code = {text, strlen(text)}};
    const wg_labelled desc = {.chain = &source.chain};
    qn__wg_scope_begin(&o->gpu);
    wg_object module = o->gpu.api->wgpuDeviceCreateShaderModule(o->gpu.device, &desc);
    if (!qn__wg_scope_end(&o->gpu, message, size)) return module;
    if (module) o->gpu.api->wgpuShaderModuleRelease(module);
    return NULL;
}

/* The source in o->text with a line kept of those that have errors, 0: none; the rest of them is blank. */
static void keep_error(oracle *o, unsigned kept) {
    unsigned line = 1;
    memcpy(o->text, o->test->source, o->test->size + 1);
    for (char *at = o->text; *at; at++) {
        bool blank = false;
        for (uint32_t i = 0; i < o->test->num_notes; i++) {
            const cl_note *note = &o->test->notes[i];
            blank |= note->kind == CL_ERROR && note->line == line && line != kept;
        }
        if (*at == '\n')
            line++;
        else if (blank)
            *at = ' ';
    }
}

static void check_error(oracle *o, unsigned line) {
    char message[QN__WHY] = "", where[32], place[16];
    keep_error(o, line);
    snprintf(where, sizeof where, "line %u", line);
    snprintf(place, sizeof place, ":%u:", line);
    wg_object module = make_module(o, o->text, message, sizeof message);
    if (module) o->gpu.api->wgpuShaderModuleRelease(module);
    if (o->print) printf("      %s: %.400s\n", where, module ? "is taken" : message);
    if (!o->strict) return;
    if (module)
        fail(o, where, "is taken, but an error was expected");
    else if (!strstr(message, place))
        fail(o, where, message);
}

/* The lines that need one another: the file as it is. */
static void check_all(oracle *o) {
    char message[QN__WHY] = "";
    bool at_one = false;
    wg_object module = make_module(o, o->test->source, message, sizeof message);
    if (module) o->gpu.api->wgpuShaderModuleRelease(module);
    for (uint32_t i = 0; i < o->test->num_notes; i++) {
        char place[16];
        snprintf(place, sizeof place, ":%u:", o->test->notes[i].line);
        at_one |= o->test->notes[i].kind == CL_ERROR && strstr(message, place);
    }
    if (o->print) printf("      %.400s\n", module ? "is taken" : message);
    if (o->strict && (module || !at_one))
        fail(o, "the whole", module ? "is taken, but errors were expected" : message);
}

static void check_errors(oracle *o) {
    char message[QN__WHY] = "";
    if (cl_case_skip(o->test, "alone")) {
        check_all(o);
        return;
    }
    for (uint32_t i = 0; i < o->test->num_notes; i++)
        if (o->test->notes[i].kind == CL_ERROR) check_error(o, o->test->notes[i].line);
    keep_error(o, 0);
    wg_object module = make_module(o, o->text, message, sizeof message);
    if (module)
        o->gpu.api->wgpuShaderModuleRelease(module);
    else if (o->strict)
        fail(o, "without the lines with errors", message);
}

/* ---- runs ---- */

/* -D NAME=VALUE of an options line: values of override constants. */
static size_t read_constants(const char *options, wg_constant constants[MAX_CONSTANTS]) {
    size_t count = 0;
    char *text = tool_alloc(strlen(options) + 1);
    memcpy(text, options, strlen(options));
    for (char *word = strtok(text, " "); word; word = strtok(NULL, " ")) {
        char *equals = strchr(word, '=');
        if (!equals || count == MAX_CONSTANTS) continue;
        if (strncmp(word, "-D", 2) == 0) word += 2;
        *equals++ = 0;
        const double value = strcmp(equals, "true") == 0 ? 1 : strtod(equals, NULL);
        constants[count++] = (wg_constant){.key = qn__wg_text(word), .value = value};
    }
    return count;
}

static wg_object make_pipeline(oracle *o, wg_object module, const cl_run *run, char *message, size_t size) {
    wg_constant constants[MAX_CONSTANTS];
    wg_pipeline_desc desc = {.compute = {.module = module, .entry = qn__wg_text(run->kernel)}};
    desc.compute.num_constants = read_constants(run->options, constants);
    desc.compute.constants = constants;
    qn__wg_scope_begin(&o->gpu);
    wg_object pipeline = o->gpu.api->wgpuDeviceCreateComputePipeline(o->gpu.device, &desc);
    if (!qn__wg_scope_end(&o->gpu, message, size)) return pipeline;
    if (pipeline) o->gpu.api->wgpuComputePipelineRelease(pipeline);
    return NULL;
}

static uint64_t room_of(const cl_arg *arg) { return (arg->arg.size + 15) / 16 * 16; }

static wg_object make_buffer(oracle *o, uint64_t usage, uint64_t size) {
    char message[QN__WHY];
    wg_object buffer = qn__wg_buffer(&o->gpu, usage, size, message);
    if (buffer) return buffer;
    fprintf(stderr, "no buffer of %llu bytes: %s\n", (unsigned long long)size, message);
    exit(1);
}

static void make_buffers(oracle *o, const cl_run *run, const wgsl_binding *const *used, wg_object *buffers) {
    for (uint32_t i = 0; i < run->num_args; i++) {
        const cl_arg *arg = &run->args[i];
        buffers[i] = make_buffer(
            o, (used[i]->uniform ? WG_USE_UNIFORM : WG_USE_STORAGE) | WG_USE_COPY_FROM | WG_USE_COPY_TO,
            room_of(arg));
        o->gpu.api->wgpuQueueWriteBuffer(o->gpu.queue, buffers[i], 0, arg->arg.data, arg->arg.size);
    }
}

static void set_groups(oracle *o, const cl_run *run, const wgsl_binding *const *used, wg_object pipeline,
                       wg_object pass, wg_object *buffers) {
    for (uint32_t group = 0; group < MAX_GROUPS; group++) {
        wg_binding entries[CL_MAX_ARGS];
        size_t count = 0;
        for (uint32_t i = 0; i < run->num_args; i++) {
            const uint64_t size = used[i]->uniform ? room_of(&run->args[i]) : run->args[i].arg.size;
            if (used[i]->group == group)
                entries[count++] =
                    (wg_binding){.binding = used[i]->binding, .buffer = buffers[i], .size = size};
        }
        if (!count) continue;
        wg_object layout = o->gpu.api->wgpuComputePipelineGetBindGroupLayout(pipeline, group);
        const wg_group_desc desc = {.layout = layout, .num_entries = count, .entries = entries};
        wg_object made = o->gpu.api->wgpuDeviceCreateBindGroup(o->gpu.device, &desc);
        o->gpu.api->wgpuComputePassEncoderSetBindGroup(pass, group, made, 0, NULL);
        if (made) o->gpu.api->wgpuBindGroupRelease(made);
        if (layout) o->gpu.api->wgpuBindGroupLayoutRelease(layout);
    }
}

/* Groups of the launch; false where the sizes do not fit, or the shader's are no plain numbers and the test gives none. */
static bool count_groups(const oracle *o, const cl_run *run, uint32_t groups[3]) {
    const wgsl_function *function = wgsl_shape_function(o->shape, run->kernel);
    for (int d = 0; d < 3; d++) {
        const uint64_t global = run->range.global[d] ? run->range.global[d] : 1;
        uint64_t local = function ? function->local[d] : 0;
        if (run->range.local[0]) local = run->range.local[d] ? run->range.local[d] : 1;
        if (!local || global % local) return false;
        groups[d] = (uint32_t)(global / local);
    }
    return true;
}

static void was_mapped(uint32_t status, wg_text message, void *user, void *second) {
    (void)message, (void)second;
    *(uint32_t *)user = status;
}

static void tick(oracle *o) {
    if (o->gpu.api->wgpuDevicePoll)
        o->gpu.api->wgpuDevicePoll(o->gpu.device, 0, NULL);
    else if (o->gpu.api->wgpuDeviceTick)
        o->gpu.api->wgpuDeviceTick(o->gpu.device);
    o->gpu.api->wgpuInstanceProcessEvents(o->gpu.instance);
}

static void print_values(const cl_run *run, uint32_t index, const unsigned char *data) {
    const cl_arg *arg = &run->args[index];
    const tool_type type = arg->expect.given ? arg->expect.type : arg->arg.type;
    const unsigned size = tool_type_scalar_size(type.type);
    printf("=%s %u %s:", run->kernel, index, tool_type_name(type.type));
    for (uint64_t at = 0; at + size <= arg->arg.size; at += size) {
        if (type.lanes == 3 && at / size % 4 == 3) continue;
        printf(at ? ", " : " ");
        tool_value_print(stdout, data + at, type.type);
    }
    printf("\n");
}

static void check_buffer(oracle *o, const cl_run *run, uint32_t index, wg_object staging) {
    const cl_arg *arg = &run->args[index];
    uint32_t status = 0;
    char message[256], where[128];
    const wg_callback mapped = {
        .mode = WG_ALLOW_PROCESS_EVENTS, .call = (void (*)(void))was_mapped, .user = &status};
    o->gpu.api->wgpuBufferMapAsync(staging, WG_MAP_READ, 0, room_of(arg), mapped);
    while (!status) tick(o);
    const void *mapping =
        status == WG_SUCCESS ? o->gpu.api->wgpuBufferGetConstMappedRange(staging, 0, room_of(arg)) : NULL;
    snprintf(where, sizeof where, "%s, argument %u", run->kernel, index + 1);
    if (!mapping)
        fail(o, where, "cannot be read");
    else if (!cl_expect_check(&arg->expect, mapping, message, sizeof message))
        fail(o, where, message);
    if (mapping && o->print) print_values(run, index, mapping);
}

static void dispatch(oracle *o, const cl_run *run, wg_object pipeline, const uint32_t groups[3],
                     const wgsl_binding *const *used) {
    const qn__wg *api = o->gpu.api;
    wg_object buffers[CL_MAX_ARGS], staging[CL_MAX_ARGS];
    make_buffers(o, run, used, buffers);
    wg_object encoder = api->wgpuDeviceCreateCommandEncoder(o->gpu.device, NULL);
    wg_object pass = api->wgpuCommandEncoderBeginComputePass(encoder, NULL);
    api->wgpuComputePassEncoderSetPipeline(pass, pipeline);
    set_groups(o, run, used, pipeline, pass, buffers);
    api->wgpuComputePassEncoderDispatchWorkgroups(pass, groups[0], groups[1], groups[2]);
    api->wgpuComputePassEncoderEnd(pass);
    for (uint32_t i = 0; i < run->num_args; i++) {
        staging[i] = make_buffer(o, WG_USE_MAP_READ | WG_USE_COPY_TO, room_of(&run->args[i]));
        api->wgpuCommandEncoderCopyBufferToBuffer(encoder, buffers[i], 0, staging[i], 0,
                                                  room_of(&run->args[i]));
    }
    wg_object commands = api->wgpuCommandEncoderFinish(encoder, NULL);
    if (commands) api->wgpuQueueSubmit(o->gpu.queue, 1, &commands);
    for (uint32_t i = 0; i < run->num_args; i++) {
        if (commands) check_buffer(o, run, i, staging[i]);
        api->wgpuBufferRelease(staging[i]);
        api->wgpuBufferRelease(buffers[i]);
    }
    api->wgpuComputePassEncoderRelease(pass);
    if (commands) api->wgpuCommandBufferRelease(commands);
    api->wgpuCommandEncoderRelease(encoder);
}

static void run_kernel(oracle *o, const cl_run *run, wg_object module) {
    char message[QN__WHY] = "";
    uint32_t groups[3];
    const wgsl_binding *used[WGSL_MAX_BINDINGS];
    const wgsl_function *function = wgsl_shape_function(o->shape, run->kernel);
    if (!function || !count_groups(o, run, groups)) {
        fail(o, run->kernel, "there is no such entry point, or its groups do not divide the launch");
        return;
    }
    if (wgsl_shape_uses(o->shape, function, used) != run->num_args) {
        fail(o, run->kernel, "has another number of bindings than arguments");
        return;
    }
    wg_object pipeline = make_pipeline(o, module, run, message, sizeof message);
    if (!pipeline || run->fails) {
        if (!run->fails)
            fail(o, run->kernel, message);
        else if (pipeline && o->strict)
            fail(o, run->kernel, "makes a pipeline, but was expected to fail");
        return;
    }
    qn__wg_scope_begin(&o->gpu);
    dispatch(o, run, pipeline, groups, used);
    if (qn__wg_scope_end(&o->gpu, message, sizeof message)) fail(o, run->kernel, message);
    o->gpu.api->wgpuComputePipelineRelease(pipeline);
}

/* ---- files ---- */

static void try_file(oracle *o) {
    char message[QN__WHY] = "";
    if (cl_case_count(o->test, CL_ERROR)) {
        check_errors(o);
        return;
    }
    wg_object module = make_module(o, o->test->source, message, sizeof message);
    if (!module) {
        fail(o, "", message);
        return;
    }
    if (o->run && !wgsl_shape_read(o->test->source, o->shape)) fail(o, "", "the file is too large");
    const char *reason = cl_case_skip(o->test, o->strict ? "dawn" : "wgpu");
    if (o->run && reason) printf("      not run: %s\n", reason);
    for (uint32_t i = 0; i < o->test->num_runs && o->run && !reason && !o->failed; i++)
        if (!(o->test->runs[i].needs & ~o->features)) run_kernel(o, &o->test->runs[i], module);
    o->gpu.api->wgpuShaderModuleRelease(module);
}

/* 1: it failed. */
static int do_file(oracle *o, const char *path, unsigned *skipped) {
    cl_case *test = tool_alloc(sizeof *test);
    o->failed = false;
    o->test = test;
    if (!cl_case_read(path, test)) return 1;
    o->text = tool_alloc(test->size + 1);
    const char *reason = cl_case_skip(test, o->strict ? "tint" : "naga");
    const uint32_t lacks = test->needs & ~(o->features | QN_CAN_F32_DENORMALS);
    printf("%s%s%s\n", path, lacks || reason ? ": skipped: " : "",
           reason  ? reason
           : lacks ? cl_need_name(lacks)
                   : "");
    if (lacks || reason)
        ++*skipped;
    else
        try_file(o);
    free(o->text);
    return o->failed;
}

typedef struct tally {
    unsigned files, failed, skipped;
} tally;

static int is_wgsl(const struct dirent *entry) { return tool_ends_with(entry->d_name, ".wgsl"); }

/* A file, or those of a folder. */
static void do_path(oracle *o, const char *path, tally *all) {
    struct dirent **entries;
    const int count = scandir(path, &entries, is_wgsl, alphasort);
    for (int i = 0; i < count; i++) {
        const size_t size = strlen(path) + strlen(entries[i]->d_name) + 2;
        char *name = tool_alloc(size);
        snprintf(name, size, "%s/%s", path, entries[i]->d_name);
        do_path(o, name, all);
        free(entries[i]);
    }
    if (count >= 0) {
        free(entries);
        return;
    }
    all->files++;
    all->failed += (unsigned)do_file(o, path, &all->skipped);
}

int main(int argc, char **argv) {
    static oracle o;
    int first = 1;
    tally all = {0, 0, 0};
    for (; first < argc && argv[first][0] == '-'; first++) {
        o.run |= strcmp(argv[first], "--run") == 0;
        o.print |= strcmp(argv[first], "--print") == 0;
    }
    o.shape = tool_alloc(sizeof *o.shape);
    if (!open_device(&o)) return 77;
    for (int i = first; i < argc; i++) do_path(&o, argv[i], &all);
    printf("%s: %u files, %u failed, %u skipped\n", o.strict ? "Tint" : "naga", all.files, all.failed,
           all.skipped);
    fflush(stdout);
    return all.failed > 0 || all.files == 0;
}
