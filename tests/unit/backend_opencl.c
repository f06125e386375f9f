/* The OpenCL backend by itself: transfers, order, events, graphs, deadlines, what kernels print, the file of the disk
   cache, a lost device. On a processor everything runs twice: as it is, and as on a GPU with memory of its own.
   Skipped where there is no OpenCL device. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "backend/opencl/opencl.h"
#include "compile.h"
#include "util/file.h"
#include "util/folder.h"

extern const qn_backend qn__backend_opencl;
static const qn_backend *const backend = &qn__backend_opencl;

static const char source[] =
    "kernel void add(global int *a, int v) { a[get_global_id(0)] += v; }\n"
    "kernel __attribute__((reqd_work_group_size(8, 1, 1))) void turn(global int *a, local int *t) {\n"
    "    int l = get_local_id(0), n = get_local_size(0);\n"
    "    t[l] = a[get_global_id(0)];\n"
    "    barrier(CLK_LOCAL_MEM_FENCE);\n"
    "    a[get_global_id(0)] = t[n - 1 - l];\n"
    "}\n"
    "kernel void say(int v) { printf(\"%d;\", v); }\n"
    "kernel void spin(global float *a, int n) {\n"
    "    float x = a[0];\n"
    "    for (int i = 0; i < n; i++) x = x * 0.999f + (float)(i & 3);\n"
    "    a[0] = x;\n"
    "}\n";
enum { ADD, TURN, SAY, SPIN };

typedef struct rig {
    qn__services services;
    qn__allocator allocator;
    qn__driver *driver;
    qn__gpu *gpu;
    qn__code *code;
    qn__queue *queue;
    qn__compile_result compiled;
    qn__code_source source;
    char printed[1024], why[QN__WHY];
    size_t length;
} rig;

static rig r;

static void no_log(void *user, qn_log_level level, const char *message) {
    (void)user, (void)level, (void)message;
}

static void take_print(void *user, const char *text, size_t size) {
    rig *to = user;
    if (to->length + size >= sizeof to->printed) return;
    memcpy(to->printed + to->length, text, size);
    to->length += size;
    to->printed[to->length] = 0;
}

#define fine(call)                                                                                           \
    do {                                                                                                     \
        if ((call) != QN_OK) fail_msg("%s: %s", #call, r.why);                                               \
    } while (0)

/* ---- the start ---- */

static void compile(void) {
    qn__target target = {0};
    backend->target(r.gpu, &target);
    qn__compile_request request = {.source = source, .name = "test.cl", .target = target, .level = 2};
    if (qn__compile(&request, &r.compiled)) fail_msg("%s", r.compiled.log);
    r.source = (qn__code_source){
        .text = r.compiled.text, .text_size = r.compiled.text_size, .info = &r.compiled.info};
}

static int open_device(void **state) {
    (void)state;
    uint32_t count = 0;
    memset(&r, 0, sizeof r);
    r.services =
        (qn__services){.allocator = &r.allocator, .log = no_log, .print = take_print, .print_user = &r};
    if (backend->open(&r.services, &r.driver, &count, r.why)) return -1;
    fine(backend->gpu_open(r.driver, 0, &r.gpu, r.why));
    compile();
    fine(backend->code_load(r.gpu, &r.source, &r.code, r.why));
    fine(backend->queue_create(r.gpu, &r.queue, r.why));
    return 0;
}

static int open_separate(void **state) {
    int failed = open_device(state);
    if (!failed) r.gpu->is_cpu = false;
    return failed;
}

static int close_device(void **state) {
    (void)state;
    backend->queue_destroy(r.queue);
    backend->code_unload(r.gpu, r.code);
    assert_int_equal(atomic_load(&r.gpu->used), 0);
    assert_null(r.gpu->codes);
    assert_null(r.gpu->pinned);
    backend->gpu_close(r.gpu);
    backend->close(r.driver);
    qn__compile_free(&r.compiled);
    return 0;
}

/* ---- small things ---- */

typedef struct memory {
    qn__memory *memory;
    uint64_t address;
    void *host;
} memory;

static memory make(uint64_t size) {
    memory m;
    fine(backend->memory_create(r.gpu, size, &m.memory, &m.address, &m.host, r.why));
    assert_true(m.address != 0);
    assert_true((m.host != NULL) == r.gpu->is_cpu);
    return m;
}

static uint64_t submit(qn__command command) {
    uint64_t number = 0;
    fine(backend->submit(r.queue, &command, &number, r.why));
    return number;
}

static uint64_t put(memory m, uint64_t offset, const void *data, uint64_t size) {
    return submit((qn__command){
        .kind = QN__COMMAND_WRITE, .to = m.memory, .to_offset = offset, .size = size, .host = (void *)data});
}

static void read_now(memory m, uint64_t offset, void *data, uint64_t size) {
    uint64_t number = submit((qn__command){
        .kind = QN__COMMAND_READ, .from = m.memory, .from_offset = offset, .size = size, .host = data});
    fine(backend->wait(r.queue, number, QN_FOREVER, r.why));
}

static uint32_t index_of(int kernel) {
    static const char *const names[] = {"add", "turn", "say", "spin"};
    for (uint32_t i = 0; i < r.source.info->num_kernels; i++)
        if (!strcmp(r.compiled.info.kernels[i].name, names[kernel])) return i;
    fail_msg("no kernel %s", names[kernel]);
    return 0;
}

/* A launch over one buffer at an offset and one number; the binding must live as long as the command. */
static qn__command launch_of(int kernel, unsigned char *args, qn__binding *binding, int value, uint64_t items,
                             uint32_t local) {
    uint32_t k = index_of(kernel);
    memset(args, 0, 64);
    for (uint32_t i = 0; i < r.compiled.info.kernels[k].num_params; i++) {
        const qn__param_info *arg = &r.compiled.info.kernels[k].params[i];
        if (arg->kind == QN__PARAM_VALUE) memcpy(args + arg->offset, &value, sizeof value);
    }
    return (qn__command){.kind = QN__COMMAND_LAUNCH,
                         .code = r.code,
                         .kernel = k,
                         .kernel_name = r.compiled.info.kernels[k].name,
                         .work_dim = 1,
                         .global = {items, 1, 1},
                         .local = {local, 1, 1},
                         .args = args,
                         .args_size = r.compiled.info.kernels[k].args_size,
                         .bindings = binding,
                         .num_bindings = binding ? 1 : 0,
                         .local_memory = kernel == TURN ? 8 * sizeof(int) : 0};
}

/* ---- tests ---- */

static void transfers_keep_their_order(void **state) {
    (void)state;
    memory a = make(64), b = make(64);
    unsigned char data[64], out[64];
    for (int i = 0; i < 64; i++) data[i] = (unsigned char)i;
    put(a, 0, data, sizeof data);
    memset(data, 0xee, sizeof data); /* the write has its own copy */
    submit((qn__command){.kind = QN__COMMAND_COPY, .to = b.memory, .from = a.memory, .size = 64});
    submit((qn__command){.kind = QN__COMMAND_COPY,
                         .to = b.memory,
                         .from = b.memory,
                         .to_offset = 8,
                         .size = 40}); /* overlaps */
    submit((qn__command){.kind = QN__COMMAND_FILL,
                         .to = b.memory,
                         .to_offset = 48,
                         .size = 8,
                         .pattern = {1, 2},
                         .pattern_size = 2});
    read_now(b, 0, out, sizeof out);
    for (int i = 0; i < 64; i++)
        assert_int_equal(out[i], i < 8 ? i : i < 48 ? i - 8 : i < 56 ? 1 + i % 2 : i);
    backend->memory_destroy(r.gpu, a.memory);
    backend->memory_destroy(r.gpu, b.memory);
}

static void launches_take_their_arguments(void **state) {
    (void)state;
    memory a = make(256), b = make(256);
    unsigned char args[64];
    int out[64];
    for (int i = 0; i < 2; i++) {
        submit((qn__command){
            .kind = QN__COMMAND_FILL, .to = i ? b.memory : a.memory, .size = 256, .pattern_size = 1});
    }
    /* the same kernel object with another buffer, offset, number and size each time; 13 is no multiple of 4 */
    for (int i = 0; i < 4; i++) {
        qn__binding binding = {.memory = i % 2 ? b.memory : a.memory, .offset = 16 * (uint64_t)i};
        submit(launch_of(ADD, args, &binding, i + 1, 13, 4));
    }
    read_now(a, 0, out, sizeof out);
    for (int i = 0; i < 64; i++) assert_int_equal(out[i], (i < 13) + 3 * (i >= 8 && i < 21));
    read_now(b, 0, out, sizeof out);
    for (int i = 0; i < 64; i++) assert_int_equal(out[i], 2 * (i >= 4 && i < 17) + 4 * (i >= 12 && i < 25));
    /* the last group is smaller than the required size */
    qn__binding binding = {.memory = a.memory};
    for (int i = 0; i < 64; i++) out[i] = i;
    put(a, 0, out, sizeof out);
    submit(launch_of(TURN, args, &binding, 0, 11, 8));
    read_now(a, 0, out, sizeof out);
    for (int i = 0; i < 12; i++) assert_int_equal(out[i], i < 8 ? 7 - i : i < 11 ? 18 - i : i);
    backend->memory_destroy(r.gpu, a.memory);
    backend->memory_destroy(r.gpu, b.memory);
}

/* More launches that print than there are print buffers. */
static void prints_come_in_order(void **state) {
    (void)state;
    unsigned char args[64];
    char expected[1024] = "";
    uint64_t number = 0;
    for (int i = 0; i < 40; i++) {
        number = submit(launch_of(SAY, args, NULL, i, 1, 1));
        snprintf(expected + strlen(expected), sizeof expected - strlen(expected), "%d;", i);
    }
    fine(backend->wait(r.queue, number, QN_FOREVER, r.why));
    assert_string_equal(r.printed, expected);
    assert_true(backend->completed(r.queue) == number);
}

static qn__cl real;

static int32_t refuse_launch(cl_object queue, cl_object kernel, uint32_t dims, const size_t *offset,
                             const size_t *global, const size_t *local, uint32_t num_waits,
                             const cl_object *waits, cl_object *event) {
    (void)queue, (void)kernel, (void)dims, (void)offset, (void)global, (void)local;
    (void)num_waits, (void)waits, (void)event;
    return CL_OUT_OF_HOST_MEMORY;
}

/* A number stands for what of it got to the device; it prints nothing, and its code may go once that is done. */
static void a_refused_launch_prints_nothing(void **state) {
    (void)state;
    unsigned char args[64];
    qn__code *other;
    uint64_t number = 0;
    fine(backend->code_load(r.gpu, &r.source, &other, r.why));
    qn__command command = launch_of(SAY, args, NULL, 1, 1, 1);
    command.code = other;
    submit(command);
    real = r.driver->cl;
    r.driver->cl.clEnqueueNDRangeKernel = refuse_launch;
    assert_int_equal(backend->submit(r.queue, &command, &number, r.why), QN_ERROR_OUT_OF_MEMORY);
    r.driver->cl = real;
    assert_int_equal(number, 2);
    fine(backend->wait(r.queue, number, QN_FOREVER, r.why));
    assert_true(backend->completed(r.queue) == number);
    backend->code_unload(r.gpu, other);
    number = submit(launch_of(SAY, args, NULL, 2, 1, 1));
    assert_int_equal(number, 3);
    fine(backend->wait(r.queue, number, QN_FOREVER, r.why));
    assert_string_equal(r.printed, "1;2;");
}

/* What is not yet recorded is not done: another thread may just be at it. */
static void an_event_is_waited_for_before_it_is_recorded(void **state) {
    (void)state;
    qn__mark *mark;
    fine(backend->mark_create(r.gpu, &mark, r.why));
    for (uint64_t version = 1; version < 3; version++) {
        assert_int_equal(backend->mark_wait(mark, version, 1000000, r.why), QN_ERROR_TIMEOUT);
        submit((qn__command){.kind = QN__COMMAND_RECORD, .mark = mark, .mark_version = version});
        fine(backend->mark_wait(mark, version, QN_FOREVER, r.why));
    }
    backend->mark_destroy(mark);
}

static void events_join_queues(void **state) {
    (void)state;
    qn__queue *other, *first = r.queue;
    qn__mark *begin, *end;
    unsigned char args[64];
    memory a = make(64);
    int out;
    uint64_t from = 0, to = 0;
    fine(backend->queue_create(r.gpu, &other, r.why));
    fine(backend->mark_create(r.gpu, &begin, r.why));
    fine(backend->mark_create(r.gpu, &end, r.why));
    submit((qn__command){.kind = QN__COMMAND_FILL, .to = a.memory, .size = 64, .pattern_size = 1});
    submit((qn__command){.kind = QN__COMMAND_RECORD, .mark = begin, .mark_version = 1});
    qn__binding binding = {.memory = a.memory};
    for (int i = 0; i < 20; i++) submit(launch_of(ADD, args, &binding, 1, 1, 1));
    submit((qn__command){.kind = QN__COMMAND_RECORD, .mark = end, .mark_version = 1});
    r.queue = other;
    submit((qn__command){.kind = QN__COMMAND_WAIT, .mark = end, .mark_version = 1});
    read_now(a, 0, &out, sizeof out);
    assert_int_equal(out, 20);
    fine(backend->mark_wait(end, 1, QN_FOREVER, r.why));
    assert_true(backend->mark_done(begin, 1, &from) && backend->mark_done(end, 1, &to));
    assert_true(to > from);
    assert_false(backend->mark_done(end, 2, &to));
    backend->queue_destroy(other);
    r.queue = first;
    backend->mark_destroy(begin);
    backend->mark_destroy(end);
    backend->memory_destroy(r.gpu, a.memory);
}

/* What was submitted before the first event comes before it and what follows, in the other queue. */
static void time_is_kept_from_the_first_event_on(void **state) {
    (void)state;
    enum { BEFORE = 30, ITEMS = 4096 };
    static int out[ITEMS];
    qn__mark *mark;
    uint64_t time = 0;
    unsigned char args[64];
    memory a = make(sizeof out);
    qn__binding binding = {.memory = a.memory};
    fine(backend->mark_create(r.gpu, &mark, r.why));
    submit((qn__command){.kind = QN__COMMAND_FILL, .to = a.memory, .size = sizeof out, .pattern_size = 1});
    for (int i = 0; i < BEFORE; i++) submit(launch_of(ADD, args, &binding, 1, ITEMS, 64));
    assert_null(r.queue->untimed);
    for (uint64_t version = 1; version <= 2; version++) {
        submit((qn__command){.kind = QN__COMMAND_RECORD, .mark = mark, .mark_version = version});
        assert_non_null(r.queue->untimed);
        submit((qn__command){.kind = QN__COMMAND_COPY,
                             .to = a.memory,
                             .from = a.memory,
                             .to_offset = sizeof out / 2,
                             .size = sizeof out / 2});
        submit(launch_of(ADD, args, &binding, 1, ITEMS / 2, 64));
    }
    read_now(a, 0, out, sizeof out);
    for (int i = 0; i < ITEMS; i++) assert_int_equal(out[i], i < ITEMS / 2 ? BEFORE + 2 : BEFORE + 1);
    fine(backend->mark_wait(mark, 2, QN_FOREVER, r.why));
    assert_true(backend->mark_done(mark, 2, &time) && time > 0);
    backend->mark_destroy(mark);
    backend->memory_destroy(r.gpu, a.memory);
}

/* ---- how often the driver is called ---- */

static struct { unsigned launches, arguments, flushes; } calls;

static int32_t count_launch(cl_object queue, cl_object kernel, uint32_t dims, const size_t *offset,
                            const size_t *global, const size_t *local, uint32_t num_waits,
                            const cl_object *waits, cl_object *event) {
    calls.launches++;
    assert_null(event);
    return real.clEnqueueNDRangeKernel(queue, kernel, dims, offset, global, local, num_waits, waits, event);
}

static int32_t count_argument(cl_object kernel, uint32_t index, size_t size, const void *value) {
    calls.arguments++;
    return real.clSetKernelArg(kernel, index, size, value);
}

static int32_t count_flush(cl_object queue) {
    calls.flushes++;
    return real.clFlush(queue);
}

/* Launches with every other function of the driver taken away. */
static void launch_counted(qn__command *command, unsigned count, int change) {
    real = r.driver->cl;
    memset(&calls, 0, sizeof calls);
    r.driver->cl = (qn__cl){
        .clEnqueueNDRangeKernel = count_launch, .clSetKernelArg = count_argument, .clFlush = count_flush};
    for (unsigned i = 0; i < count; i++) {
        int value = 1 + (int)i * change;
        memcpy((unsigned char *)command->args + r.compiled.info.kernels[command->kernel].params[1].offset,
               &value, sizeof value);
        submit(*command);
    }
    r.driver->cl = real;
}

static void a_launch_is_one_call(void **state) {
    (void)state;
    unsigned char args[64];
    memory a = make(256);
    qn__binding binding = {.memory = a.memory};
    qn__command command = launch_of(ADD, args, &binding, 1, 64, 64);
    uint64_t number = submit(command);
    fine(backend->wait(r.queue, number, QN_FOREVER, r.why));
    launch_counted(&command, 100, 0);
    assert_int_equal(calls.launches, 100);
    assert_int_equal(calls.arguments, 0);
    assert_int_equal(calls.flushes, 2); /* of the first, as the device is idle, and of 64 */
    launch_counted(&command, 20, 1);
    assert_int_equal(calls.launches, 20);
    assert_int_equal(calls.arguments, 19);
    fine(backend->wait(r.queue, atomic_load(&r.queue->flight.submitted), QN_FOREVER, r.why));
    backend->memory_destroy(r.gpu, a.memory);
}

static void graphs_repeat(void **state) {
    (void)state;
    enum { STEPS = 5 };
    unsigned char args[STEPS][64];
    qn__binding bindings[STEPS];
    qn__command commands[STEPS + 1];
    qn__replay *replay;
    memory a = make(256);
    int out[64], seven = 7;
    uint64_t number = 0;
    for (int i = 0; i < STEPS; i++) {
        bindings[i] = (qn__binding){.memory = a.memory};
        commands[i] = launch_of(ADD, args[i], &bindings[i], i, 64, 16);
    }
    commands[STEPS] = (qn__command){
        .kind = QN__COMMAND_WRITE, .to = a.memory, .to_offset = 4, .size = sizeof seven, .host = &seven};
    submit((qn__command){.kind = QN__COMMAND_FILL, .to = a.memory, .size = 256, .pattern_size = 1});
    fine(backend->replay_create(r.gpu, commands, STEPS + 1, &replay, r.why));
    seven = 8;
    for (int i = 0; i < 3; i++) fine(backend->replay_submit(r.queue, replay, &number, r.why));
    read_now(a, 0, out, sizeof out);
    for (int i = 0; i < 64; i++) assert_int_equal(out[i], i == 1 ? 7 : 30);
    backend->replay_destroy(r.gpu, replay);
    backend->memory_destroy(r.gpu, a.memory);
}

static void a_deadline_names_the_kernel(void **state) {
    (void)state;
    unsigned char args[64];
    memory a = make(64);
    qn__binding binding = {.memory = a.memory};
    submit((qn__command){.kind = QN__COMMAND_FILL, .to = a.memory, .size = 64, .pattern_size = 1});
    uint64_t number = submit(launch_of(SPIN, args, &binding, 1, 1, 1)); /* the driver compiles */
    fine(backend->wait(r.queue, number, QN_FOREVER, r.why));
    number = submit(launch_of(SPIN, args, &binding, 200000000, 1, 1));
    assert_int_equal(backend->wait(r.queue, number, 1000000, r.why), QN_ERROR_TIMEOUT);
    char names[160];
    backend->unfinished(r.queue, names, sizeof names);
    assert_string_equal(names, "spin");
    assert_true(backend->completed(r.queue) < number);
    fine(backend->wait(r.queue, number, QN_FOREVER, r.why));
    assert_true(backend->completed(r.queue) == number);
    backend->memory_destroy(r.gpu, a.memory);
}

static void a_graphs_kernels_are_named(void **state) {
    (void)state;
    unsigned char args[3][64];
    memory a = make(64);
    qn__binding binding = {.memory = a.memory};
    const qn__command commands[] = {launch_of(SPIN, args[0], &binding, 200000000, 1, 1),
                                    launch_of(ADD, args[1], &binding, 1, 1, 1),
                                    launch_of(SPIN, args[0], &binding, 200000000, 1, 1)};
    qn__replay *replay;
    uint64_t number = submit(launch_of(SPIN, args[2], &binding, 1, 1, 1)); /* the driver compiles */
    fine(backend->wait(r.queue, number, QN_FOREVER, r.why));
    fine(backend->replay_create(r.gpu, commands, 3, &replay, r.why));
    fine(backend->replay_submit(r.queue, replay, &number, r.why));
    assert_int_equal(backend->wait(r.queue, number, 1000000, r.why), QN_ERROR_TIMEOUT);
    char names[160];
    backend->unfinished(r.queue, names, sizeof names);
    assert_string_equal(names, "spin or add");
    fine(backend->wait(r.queue, number, QN_FOREVER, r.why));
    backend->unfinished(r.queue, names, sizeof names);
    assert_string_equal(names, "");
    backend->replay_destroy(r.gpu, replay);
    backend->memory_destroy(r.gpu, a.memory);
}

static void bad_text_is_explained(void **state) {
    (void)state;
    qn__code *code = NULL;
    qn__code_source bad = r.source;
    bad.text = "__kernel void qn_kernel_add(__global int *a) { a[0] = nonsense; }\n";
    bad.text_size = strlen(bad.text);
    assert_int_equal(backend->code_load(r.gpu, &bad, &code, r.why), QN_ERROR_DRIVER);
    assert_non_null(strstr(r.why, "cannot compile add"));
    assert_non_null(strstr(r.why, "nonsense"));
}

static void a_file_is_loaded_or_refused(void **state) {
    (void)state;
    char folder[] = "/tmp/quern-test-XXXXXX", path[64], *data;
    size_t size;
    qn__code *code = NULL;
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/code", folder);
    qn__code_source stored = r.source;
    stored.binary_path = path;
    fine(backend->code_load(r.gpu, &stored, &code, r.why));
    backend->code_unload(r.gpu, code);
    stored.text = NULL;
    fine(backend->code_load(r.gpu, &stored, &code, r.why));
    backend->code_unload(r.gpu, code);
    assert_int_equal(qn__file_read(&r.allocator, path, 0, &data, &size), 0);
    for (size_t at = 0; at < size; at += size / 7) {
        data[at] ^= 16;
        assert_int_equal(qn__private_write(path, data, size), 0);
        data[at] ^= 16;
        assert_int_equal(backend->code_load(r.gpu, &stored, &code, r.why), QN_ERROR_IO);
    }
    assert_int_equal(qn__private_write(path, data, size / 2), 0);
    assert_int_equal(backend->code_load(r.gpu, &stored, &code, r.why), QN_ERROR_IO);
    qn__release(&r.allocator, data);
    unlink(path);
    rmdir(folder);
}

static void memory_runs_out(void **state) {
    (void)state;
    memory m;
    assert_int_equal(backend->memory_create(r.gpu, (uint64_t)1 << 50, &m.memory, &m.address, &m.host, r.why),
                     QN_ERROR_DEVICE_MEMORY);
    assert_non_null(strstr(r.why, "1125899906842624 bytes"));
    void *host = NULL;
    fine(backend->host_create(r.gpu, 5000, &host, r.why));
    for (int i = 0; i < 5000; i++) assert_int_equal(((unsigned char *)host)[i], 0);
    backend->host_destroy(r.gpu, host);
}

/* As if the driver had reported it. Everything returns, and says so once. */
static void a_lost_device_returns(void **state) {
    (void)state;
    unsigned char args[64];
    memory a = make(64), b;
    qn__binding binding = {.memory = a.memory};
    uint64_t number = submit(launch_of(ADD, args, &binding, 1, 1, 1));
    assert_int_equal(qn__lose(&r.gpu->loss, r.why, "the device stopped"), QN_ERROR_DEVICE_LOST);
    qn__command more = launch_of(ADD, args, &binding, 1, 1, 1);
    assert_int_equal(backend->submit(r.queue, &more, &number, r.why), QN_ERROR_DEVICE_LOST);
    assert_string_equal(r.why, "the device stopped");
    assert_int_equal(backend->wait(r.queue, 1, QN_FOREVER, r.why), QN_ERROR_DEVICE_LOST);
    fine(backend->wait(r.queue, 1, QN_FOREVER, r.why));
    assert_int_equal(backend->memory_create(r.gpu, 64, &b.memory, &b.address, &b.host, r.why),
                     QN_ERROR_DEVICE_LOST);
    /* The device goes on, as it is not lost in truth: not with memory that is gone. */
    assert_int_equal(r.gpu->cl->clFinish(r.queue->queue), 0);
    backend->memory_destroy(r.gpu, a.memory);
}

#define TWICE(test)                                                                                          \
    cmocka_unit_test_setup_teardown(test, open_device, close_device),                                        \
        cmocka_unit_test_setup_teardown(test, open_separate, close_device)

int main(void) {
    const struct CMUnitTest tests[] = {
        TWICE(transfers_keep_their_order),
        TWICE(launches_take_their_arguments),
        TWICE(prints_come_in_order),
        TWICE(a_refused_launch_prints_nothing),
        TWICE(an_event_is_waited_for_before_it_is_recorded),
        TWICE(events_join_queues),
        TWICE(time_is_kept_from_the_first_event_on),
        TWICE(a_launch_is_one_call),
        TWICE(graphs_repeat),
        TWICE(a_deadline_names_the_kernel),
        TWICE(a_graphs_kernels_are_named),
        TWICE(bad_text_is_explained),
        TWICE(a_file_is_loaded_or_refused),
        TWICE(memory_runs_out),
        TWICE(a_lost_device_returns),
    };
    qn__allocator allocator = {0};
    qn__services services = {.allocator = &allocator, .log = no_log, .print = take_print, .print_user = &r};
    qn__driver *driver;
    uint32_t count;
    char why[QN__WHY];
    if (backend->open(&services, &driver, &count, why)) {
        printf("skipped: no OpenCL device: %s\n", why);
        return 77;
    }
    bool is_cpu = driver->devices[0].is_cpu;
    backend->close(driver);
    if (!is_cpu) printf("the device has memory of its own: both runs are the same\n");
    return cmocka_run_group_tests_name("backend.opencl", tests, NULL, NULL);
}
