/* Contexts and devices: hooks, names, what is said of a missing device; and the allocation-failure sweep:
   whatever allocation fails, the call says so, nothing leaks and the context stays usable. */
#include <quern/history.h>

#include "api_support.h"

#include <stdatomic.h>

/* An allocator that counts, and fails from the n-th allocation on. */
typedef struct counter {
    atomic_size_t live, total; /* streams allocate on threads of their own */
    atomic_size_t fail_at;     /* 0: never */
} counter;

static bool fails(counter *c) { return c->fail_at && ++c->total >= c->fail_at; }

static void *counting_allocate(void *user, size_t size) {
    counter *c = user;
    void *memory = fails(c) ? NULL : malloc(size);
    c->live += memory != NULL;
    return memory;
}

static void *counting_reallocate(void *user, void *memory, size_t size) {
    counter *c = user;
    if (fails(c)) return NULL;
    c->live += memory == NULL;
    return realloc(memory, size);
}

static void counting_release(void *user, void *memory) {
    counter *c = user;
    if (memory) c->live--;
    free(memory);
}

static qn_context_desc counted(counter *c, const char *compiler) {
    return (qn_context_desc){.allocator = {counting_allocate, counting_reallocate, counting_release, c},
                             .cpu_threads = 1,
                             .cpu_compiler = compiler,
                             .cpu_compile_first = true,
                             .disable_cache = true};
}

static const char source[] =
    "#define TWICE(x) ((x) * 2)\n"
    "typedef struct { int a; float4 b; } item;\n"
    "constant int table[4] = {1, 2, 3, 4};\n"
    "static float helper(float x, int n) { for (int i = 0; i < n; i++) x = sin(x) + table[i & 3]; return x; "
    "}\n"
    "kernel void f(global float *a, item it, int n) {\n"
    "    int i = get_global_id(0);\n"
    "    switch (n) { case 1: a[i] = helper(a[i], TWICE(n)); break; default: a[i] = it.b.x; }\n"
    "}\n";

/* The host's side of a device that has one of its own: the null device. */
static qn_status use_maps(qn_context *context) {
    qn_device *device;
    qn_buffer *buffer = NULL;
    void *at;
    qn_status status = qn_device_get(context, "null", &device);
    if (!status) status = qn_buffer_create(device, &(qn_buffer_desc){.size = 100}, &buffer);
    unsigned maps = 0;
    for (uint64_t i = 0; i < 10 && !status; i++) {
        const uint64_t at_byte = i * 8;
        status = i % 2 ? qn_stream_map(NULL, buffer, QN_MAP_READ, at_byte, 20, &at)
                       : qn_buffer_map_range(buffer, (qn_map_access)(1 + i % 3), at_byte, 5, &at);
        maps += !status;
    }
    while (maps--) qn_buffer_unmap(buffer);
    if (!status) status = qn_buffer_write(buffer, 0, "x", 1);
    qn_buffer_destroy(buffer);
    return status;
}

/* A pool, a buffer on two devices, and a history of it. */
static qn_status use_sides(qn_context *context) {
    qn_device *device = NULL, *other;
    qn_memory_pool *pool = NULL;
    qn_buffer *in_pool = NULL, *unified = NULL;
    void *at;
    char bytes[64];
    qn_status status = qn_device_get(context, test_device(), &device);
    if (!status) status = qn_device_get(context, "null", &other);
    if (!status) status = qn_history_keep(context, 4);
    if (!status) status = qn_memory_pool_create(device, &(qn_memory_pool_desc){.label = "p"}, &pool);
    if (!status) status = qn_buffer_create(device, &(qn_buffer_desc){.size = 64, .pool = pool}, &in_pool);
    qn_buffer_destroy(in_pool);
    if (!status)
        status =
            qn_buffer_create(device, &(qn_buffer_desc){.size = 64, .memory = QN_MEMORY_UNIFIED}, &unified);
    if (!status) status = qn_stream_fill(qn_device_stream(device), unified, 0, 64, "x", 1);
    if (!status) status = qn_stream_fill(qn_device_stream(other), unified, 4, 8, "y", 1);
    if (!status) status = qn_buffer_map_range(unified, QN_MAP_WRITE, 20, 4, &at);
    if (!status) status = qn_buffer_unmap(unified);
    if (!status) status = qn_stream_prefetch(qn_device_stream(device), unified, QN_SIDE_DEVICE);
    if (!status) status = qn_buffer_read(unified, 0, bytes, sizeof bytes);
    if (!status) status = qn_device_wait(device, QN_FOREVER);
    qn_buffer_destroy(unified);
    qn_memory_pool_destroy(pool);
    qn_history_keep(context, 0);
    return status;
}

/* Memory of the host's that a device works with. */
static qn_status use_host(qn_context *context, qn_device *device) {
    static _Alignas(16) char own[64];
    qn_buffer *buffer = NULL, *shared = NULL, *imported = NULL;
    qn_device_info info;
    void *pinned = NULL;
    qn_status status = qn_device_get_info(device, &info);
    if (!status) status = qn_buffer_create(device, &(qn_buffer_desc){.size = 64}, &buffer);
    if (!status) status = qn_host_alloc(device, 64, &pinned);
    if (!status) status = qn_stream_write(NULL, buffer, 0, pinned, 64);
    if (!status && info.capabilities & QN_CAN_SHARE_COHERENTLY)
        status = qn_buffer_create(device, &(qn_buffer_desc){.size = 64, .memory = QN_MEMORY_SHARED}, &shared);
    if (!status && info.capabilities & QN_CAN_IMPORT_HOST)
        status = qn_buffer_create(device, &(qn_buffer_desc){.size = 64, .host = own}, &imported);
    if (!status) status = qn_device_wait(device, QN_FOREVER);
    qn_host_free(device, pinned);
    qn_buffer_destroy(imported);
    qn_buffer_destroy(shared);
    qn_buffer_destroy(buffer);
    return status ? status : use_maps(context);
}

/* Everything that allocates: 0 when all of it worked. */
static qn_status use(qn_context *context) {
    qn_device *device;
    qn_program *program = NULL;
    qn_kernel *kernel = NULL;
    qn_buffer *buffer = NULL, *view = NULL;
    qn_stream *stream = NULL;
    qn_event *event = NULL;
    qn_graph *graph = NULL;
    qn_status status = qn_device_get(context, test_device(), &device);
    if (!status) status = qn_program_create(device, &(qn_program_desc){.source = source}, &program);
    if (!status) status = qn_kernel_create(program, "f", &kernel);
    if (!status) status = qn_buffer_create(device, &(qn_buffer_desc){.size = 64, .label = "a"}, &buffer);
    if (!status) status = qn_buffer_view(buffer, 16, 16, &view);
    if (!status) status = qn_stream_create(device, &stream);
    if (!status) status = qn_event_create(device, &event);
    char item[32] = {0};
    if (!status) status = qn_launch(stream, kernel, QN_RANGE(4), QN_ARGS(buffer, QN_BYTES(item), 1));
    if (!status) status = qn_stream_record(stream, event);
    if (!status) status = qn_stream_wait(stream, QN_FOREVER);
    if (!status) status = qn_graph_begin(stream);
    if (!status) {
        status = qn_launch(stream, kernel, QN_RANGE(4), QN_ARGS(view, QN_BYTES(item), 2));
        qn_status ended = qn_graph_end(stream, &graph);
        if (!status) status = ended;
    }
    if (!status) status = qn_graph_launch(stream, graph);
    if (!status) status = qn_stream_wait(stream, QN_FOREVER);
    qn_graph_destroy(graph);
    qn_event_destroy(event);
    qn_stream_destroy(stream);
    qn_buffer_destroy(view);
    qn_buffer_destroy(buffer);
    qn_kernel_destroy(kernel);
    qn_program_destroy(program);
    return status ? status : use_host(context, device);
}

typedef qn_status use_function(qn_context *context);

static size_t count_allocations(const char *compiler, use_function *use_all) {
    counter c = {.fail_at = SIZE_MAX};
    qn_context_desc desc = counted(&c, compiler);
    qn_context *context = make_context(&desc);
    assert_ok(context, use_all(context));
    qn_context_destroy(context);
    assert_int_equal(c.live, 0);
    return c.total;
}

/* One failure at each place, up to `step` apart so that the test stays quick where a compile is slow. */
static void sweep(const char *compiler, size_t step, use_function *use_all) {
    size_t total = count_allocations(compiler, use_all);
    assert_true(total > 20);
    if (!testing("cpu")) step = total / 40 + 1; /* each opens the driver anew */
    for (size_t n = 1; n <= total; n += step) {
        counter c = {.fail_at = n};
        qn_context_desc desc = counted(&c, compiler);
        qn_context *context;
        qn_status status = qn_context_create(&desc, &context);
        if (!status) {
            status = use_all(context);
            c.fail_at = 0;
            if (status) assert_ok(context, use_all(context)); /* still usable */
            qn_context_destroy(context);
        }
        if (status != QN_ERROR_OUT_OF_MEMORY && status != QN_ERROR_DEVICE_MEMORY)
            fail_msg("allocation %zu of %zu failed, the status was %s", n, total, qn_status_name(status));
        if (c.live) fail_msg("allocation %zu of %zu failed, %zu blocks leaked", n, total, (size_t)c.live);
    }
}

static void every_allocation_may_fail(void **state) {
    (void)state;
    if (!testing("cpu")) skip(); /* the interpreter is the processor's */
    sweep("none", 1, use);
}

static void every_allocation_may_fail_with_the_compiler(void **state) {
    (void)state;
    sweep(NULL, 3, use);
}

static void every_allocation_for_sides_may_fail(void **state) {
    (void)state;
    sweep("none", 1, use_sides);
}

static void nothing_leaks_over_many_rounds(void **state) {
    (void)state;
    counter c = {.fail_at = SIZE_MAX};
    qn_context_desc desc = counted(&c, "none");
    qn_context *context = make_context(&desc);
    int rounds = testing("cpu") ? 1000 : 40; /* each compiles */
    for (int i = 0; i < rounds / 10; i++) assert_ok(context, use(context));
    size_t live = c.live;
    for (int i = 0; i < rounds; i++) assert_ok(context, use(context));
    assert_int_equal(c.live, live);
    qn_context_destroy(context);
    assert_int_equal(c.live, 0);
}

static bool is_mapped(const char *library) {
    FILE *maps = fopen("/proc/self/maps", "r");
    char line[1024];
    bool found = false;
    assert_non_null(maps);
    while (!found && fgets(line, sizeof line, maps)) found = strstr(line, library) != NULL;
    fclose(maps);
    return found;
}

/* The first test of the process: libraries stay. */
static void software_drivers_stay_closed_for_the_default(void **state) {
    (void)state;
    if (getenv("QUERN_DEVICE") || access("/dev/dri", F_OK) == 0 || access("/proc/driver/nvidia", F_OK) == 0)
        skip(); /* there may be a GPU, or a device is named */
    qn_context *context = make_context(NULL);
    qn_device *device;
    qn_device_info info;
    assert_ok(context, qn_device_get(context, NULL, &device));
    assert_ok(context, qn_device_get_info(device, &info));
    if (info.kind == QN_DEVICE_CPU) {
        assert_false(is_mapped("/libvulkan"));
        assert_false(is_mapped("/libOpenCL"));
    }
    qn_context_destroy(context);
}

static void devices_are_found_by_name(void **state) {
    (void)state;
    qn_context *context = make_context(NULL);
    qn_device *device, *best;
    assert_true(qn_device_count(context) >= 1);
    for (uint32_t i = 0; i < qn_device_count(context); i++) {
        qn_device_info listed;
        assert_ok(context, qn_device_get_info(qn_device_at(context, i), &listed));
        assert_int_not_equal(listed.kind, QN_DEVICE_NULL);
    }
    assert_ok(context, qn_device_get(context, "cpu", &device));
    assert_ok(context, qn_device_get(context, NULL, &best));
    qn_device_info info;
    assert_ok(context, qn_device_get_info(best, &info));
    assert_int_not_equal(info.kind, QN_DEVICE_NULL);
    assert_fails(context, qn_device_get(context, "gpu:7", &device), QN_ERROR_NO_DEVICE, "there are: ");
    assert_null(strstr(qn_error_message(context), "null")); /* it is for tests */
    assert_null(device);
    assert_fails(context, qn_device_get(context, "cpu", NULL), QN_ERROR_NULL, "device");
    assert_null(qn_device_at(context, 99));
    assert_ok(context, qn_device_get(context, "cpu", &device));
    assert_ptr_equal(qn_device_context(device), context);
    qn_context_destroy(context);
}

/* What the table of targets and the backends say comes out as bits that have words. */
static void capabilities_have_names(void **state) {
    (void)state;
    static const uint32_t everywhere = QN_CAN_F16 | QN_CAN_SUB_GROUPS | QN_CAN_PRINTF;
    static const uint32_t of_targets = QN_CAN_F16 | QN_CAN_SUB_GROUPS | QN_CAN_PRINTF | QN_CAN_F64 |
                                       QN_CAN_I64_ATOMICS | QN_CAN_F32_DENORMALS;
    qn_context *context = make_context(NULL);
    qn_device *device;
    qn_device_info info;
    for (uint32_t i = 0; i < qn_device_count(context); i++) {
        assert_ok(context, qn_device_get_info(qn_device_at(context, i), &info));
        assert_int_equal(info.capabilities & everywhere, everywhere);
        for (uint32_t bit = 1; bit; bit <<= 1)
            if (info.capabilities & bit) assert_non_null(qn_capability_name(bit));
    }
    assert_ok(context, qn_device_get(context, "cpu", &device));
    assert_ok(context, qn_device_get_info(device, &info));
    const uint32_t of_processors = QN_CAN_MULTIPLY_PANELS | QN_CAN_MULTIPLY_BF16_PANELS; /* of some */
    assert_int_equal(info.capabilities & ~of_processors, of_targets | QN_CAN_SHARE_MEMORY |
                                                             QN_CAN_SHARE_COHERENTLY | QN_CAN_IMPORT_HOST |
                                                             QN_CAN_CANCEL | QN_CAN_PERSIST);
    assert_int_equal(info.private_memory, 0);
    assert_ok(context, qn_device_get(context, "null", &device));
    assert_ok(context, qn_device_get_info(device, &info));
    assert_int_equal(info.capabilities, of_targets | QN_CAN_CANCEL | QN_CAN_PERSIST);
    qn_context_destroy(context);
    assert_string_equal(qn_capability_name(QN_CAN_F64), "f64");
    assert_string_equal(qn_capability_name(QN_CAN_EMULATE), "emulated");
    assert_null(qn_capability_name(0));
    assert_null(qn_capability_name(QN_CAN_F16 | QN_CAN_F64));
    assert_null(qn_capability_name(UINT32_C(1) << 31));
}

/* A kernel of each shape that a device tells compiles there; a device without any says so. */
static void matrix_shapes_are_told(void **state) {
    (void)state;
    static const char *const types[] = {
        [QN_TYPE_F16] = "half",     [QN_TYPE_F32] = "float",    [QN_TYPE_BF16] = "qn_bf16",
        [QN_TYPE_E4M3] = "qn_e4m3", [QN_TYPE_E5M2] = "qn_e5m2", [QN_TYPE_I8] = "char",
        [QN_TYPE_U8] = "uchar",     [QN_TYPE_I32] = "int",      [QN_TYPE_F64] = "double"};
    qn_context *context = make_context(NULL);
    qn_device *device;
    qn_device_info info;
    assert_ok(context, qn_device_get(context, NULL, &device));
    assert_ok(context, qn_device_get_info(device, &info));
    assert_int_equal(info.matrix_shapes != 0, (info.capabilities & QN_CAN_MULTIPLY_MATRICES) != 0);
    qn_matrix_shape shape;
    for (uint32_t i = 0; i < info.matrix_shapes; i++) {
        char options[256];
        assert_ok(context, qn_device_get_matrix_shape(device, i, &shape));
        snprintf(options, sizeof options, "-D A=%s -D B=%s -D C=%s -D M=%u -D N=%u -D K=%u", types[shape.a],
                 types[shape.b], types[shape.sum], shape.rows, shape.columns, shape.k);
        const qn_program_desc desc = {
            .source = "kernel void run(global C *c, global const A *a, global const B *b) {\n"
                      "    qn_matrix(A, M, K, qn_use_a) x; qn_matrix(B, K, N, qn_use_b) y;\n"
                      "    qn_matrix(C, M, N, qn_use_accumulator) z;\n"
                      "    qn_matrix_load(&x, a, K, qn_row_major);\n"
                      "    qn_matrix_load(&y, b, K, qn_column_major);\n"
                      "    qn_matrix_fill(&z, 0);\n"
                      "    qn_matrix_multiply_add(&z, &x, &y);\n"
                      "    qn_matrix_store(&z, c, N, qn_row_major);\n"
                      "}\n",
            .options = options};
        qn_program *program = NULL;
        assert_ok(context, qn_program_create(device, &desc, &program));
        qn_program_destroy(program);
    }
    assert_fails(context, qn_device_get_matrix_shape(device, info.matrix_shapes, &shape), QN_ERROR_RANGE,
                 "shapes");
    assert_fails(context, qn_device_get_matrix_shape(device, 0, NULL), QN_ERROR_NULL, "shape");
    qn_context_destroy(context);
}

static void the_environment_chooses(void **state) {
    (void)state;
    qn_context *context = make_context(NULL);
    qn_device *device;
    qn_device_info info;
    setenv("QUERN_DEVICE", "null", 1);
    assert_ok(context, qn_device_get(context, NULL, &device));
    assert_ok(context, qn_device_get_info(device, &info));
    assert_string_equal(info.name, "null");
    setenv("QUERN_DEVICE", "moon", 1);
    assert_fails(context, qn_device_get(context, NULL, &device), QN_ERROR_NO_DEVICE, "moon");
    unsetenv("QUERN_DEVICE");
    qn_context_destroy(context);
}

static void bad_contexts_are_refused(void **state) {
    (void)state;
    qn_context *context;
    assert_int_equal(qn_context_create(NULL, NULL), QN_ERROR_NULL);
    qn_context_desc half = {.allocator = {.allocate = counting_allocate}};
    assert_int_equal(qn_context_create(&half, &context), QN_ERROR_ARGUMENT);
    assert_null(context);
    assert_string_equal(qn_status_name(QN_ERROR_RANGE), "QN_ERROR_RANGE");
    assert_string_equal(qn_status_name((qn_status)999), "QN_ERROR_UNKNOWN");
    assert_true(strlen(qn_error_message(NULL)) > 0);
    qn_context_destroy(NULL);
}

static void keep_line(void *user, qn_log_level level, const char *message) {
    assert_int_equal(level, QN_LOG_ERROR);
    snprintf(user, 200, "%s", message);
}

static void a_newer_header_is_refused(void **state) {
    (void)state;
    char line[200] = "";
    const qn_context_desc desc = {.log = keep_line, .log_user = line};
    qn_context *context = (qn_context *)line;
    assert_int_equal(qn_context_create_for(QN_HEADER_VERSION + 1, &desc, &context), QN_ERROR_UNSUPPORTED);
    assert_null(context);
    assert_non_null(strstr(line, "newer quern.h"));
    assert_non_null(strstr(qn_error_message(NULL), "newer quern.h"));
    assert_int_equal(qn_context_create_for(UINT32_MAX, NULL, &context), QN_ERROR_UNSUPPORTED);
    assert_int_equal(qn_context_create_for(0, &desc, &context), QN_ERROR_ARGUMENT);
    assert_int_equal(qn_context_create_for(QN_HEADER_VERSION, NULL, NULL), QN_ERROR_NULL);
    for (uint32_t version = 1; version <= QN_HEADER_VERSION; version++) {
        assert_int_equal(qn_context_create_for(version, NULL, &context), QN_OK);
        qn_context_destroy(context);
    }
}

/* A compile like one before it finds its memory in the context: it asks for no more than the text. */
static void the_second_compile_asks_for_little(void **state) {
    (void)state;
    counter c = {0};
    qn_context_desc desc = counted(&c, NULL);
    qn_context *context = make_context(&desc);
    const qn_translate_desc translation = {.program = {.source = source}, .target = "ptx"};
    for (int i = 0; i < 3; i++) {
        char *text = NULL;
        c.fail_at = i ? SIZE_MAX : 0; /* counts */
        c.total = 0;
        assert_int_equal(qn_translate(context, &translation, &text, NULL), QN_OK);
        qn_text_free(context, text);
        assert_true(c.total <= 1);
    }
    c.fail_at = 0;
    qn_context_destroy(context);
    assert_int_equal(c.live, 0);
}

typedef struct log_count {
    int lines;
} log_count;

static void count_line(void *user, qn_log_level level, const char *message) {
    (void)level;
    ((log_count *)user)->lines += message[0] != 0;
}

static void hear_of_loops(void *user, qn_log_level level, const char *message) {
    if (level == QN_LOG_WARNING && strstr(message, "loops after")) *(bool *)user = true;
}

/* What is said of the device's loops is what a loop does that goes around more often; and it is in the log. */
static void the_limit_of_loops_is_known(void **state) {
    (void)state;
    const uint32_t wanted = 100000;
    bool heard = false;
    qn_context *context = make_context(
        &(qn_context_desc){.log = hear_of_loops, .log_user = &heard, .log_level = QN_LOG_WARNING});
    qn_device *device = get_device(context, test_device());
    qn_device_info info;
    assert_ok(context, qn_device_get_info(device, &info));
    assert_int_equal(heard, info.loop_limit != 0);
    qn_program *program = make_program(device, "kernel void turns(global volatile uint *a, uint n) {\n"
                                               "    for (uint i = 0; i < n; i++) a[0] += 1;\n}\n");
    qn_kernel *kernel = make_kernel(program, context, "turns");
    qn_buffer *buffer = make_buffer(device, 4, NULL);
    uint32_t turns = 0;
    assert_ok(context, qn_launch(NULL, kernel, QN_RANGE(1), QN_ARGS(buffer, wanted)));
    assert_ok(context, qn_buffer_read(buffer, 0, &turns, sizeof turns));
    assert_int_equal(turns, info.loop_limit ? info.loop_limit : wanted);
    qn_context_destroy(context);
}

static void libraries_above_leave_sentences_and_take_memory(void **state) {
    (void)state;
    counter c = {0};
    qn_context_desc desc = counted(&c, "none");
    qn_context *context = make_context(&desc), *plain = make_context(NULL);
    qn_allocator a;
    assert_int_equal(qn_error_set(context, QN_ERROR_RANGE, "qx_call: n is 7"), QN_ERROR_RANGE);
    assert_string_equal(qn_error_message(context), "qx_call: n is 7");
    assert_fails(context, qn_error_set(context, QN_ERROR_RANGE, NULL), QN_ERROR_NULL, "message is NULL");
    assert_fails(context, qn_context_get_allocator(context, NULL), QN_ERROR_NULL, "allocator is NULL");
    assert_ok(context, qn_context_get_allocator(context, &a));
    const size_t live = c.live;
    void *memory = a.allocate(a.user, 10);
    assert_int_equal(c.live, live + 1);
    a.release(a.user, memory);
    assert_ok(plain, qn_context_get_allocator(plain, &a));
    memory = a.reallocate(a.user, a.allocate(a.user, 10), 1000);
    assert_non_null(memory);
    a.release(a.user, memory);
    qn_context_destroy(context);
    qn_context_destroy(plain);
}

static void the_log_hook_hears(void **state) {
    (void)state;
    log_count count = {0};
    qn_context *context = make_context(&(qn_context_desc){.log = count_line,
                                                          .log_user = &count,
                                                          .log_level = QN_LOG_WARNING,
                                                          .cpu_compiler = "no-such-compiler"});
    qn_device *device = get_device(context, "cpu");
    assert_true(count.lines >= 1); /* the compiler is missing: kernels are interpreted */
    qn_program *program = make_program(device, "kernel void f(global int *a) { a[0] = 3; }");
    assert_int_equal(qn_program_kernel_count(program), 1);
    assert_string_equal(qn_program_kernel_name(program, 0), "f");
    assert_null(qn_program_kernel_name(program, 1));
    qn_context_destroy(context);
}

/* $QUERN_LOG is above what the descriptor says, and above it only. */
static void the_environment_sets_the_level(void **state) {
    (void)state;
    const struct {
        const char *wanted;
        bool hears;
    } cases[] = {{"debug", true}, {"info", false}, {"error", false}, {"", false}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        log_count count = {0};
        setenv("QUERN_LOG", cases[i].wanted, 1);
        qn_context *context = make_context(
            &(qn_context_desc){.log = count_line, .log_user = &count, .log_level = QN_LOG_WARNING});
        make_buffer(get_device(context, "null"), 16, NULL);
        qn_context_destroy(context);
        unsetenv("QUERN_LOG");
        assert_int_equal(count.lines > 0, cases[i].hears);
    }
}

/* Nothing is allocated for a sentence that no memory is left for: the thread has room for one. */
static void sentences_stay_without_memory(void **state) {
    (void)state;
    counter c = {.live = 0};
    qn_context *context = make_context(&(qn_context_desc){
        .allocator = {counting_allocate, counting_reallocate, counting_release, &c}, .cpu_threads = 1});
    char most[400], told[400];
    memset(most, 'x', sizeof most - 1);
    most[sizeof most - 1] = 0;
    for (int had_one = 0; had_one < 2; had_one++) {
        c.fail_at = 1;
        const char *longer = had_one ? most : "no memory is left";
        assert_int_equal(qn_error_set(context, QN_ERROR_OUT_OF_MEMORY, longer), QN_ERROR_OUT_OF_MEMORY);
        strcpy(told, qn_error_message(context));
        assert_int_equal(strlen(told), strlen(longer) < 255 ? strlen(longer) : 255);
        assert_memory_equal(told, longer, strlen(told));
        /* Handed on, it stays; and another takes its place. */
        assert_int_equal(qn_error_set(context, QN_ERROR_IO, qn_error_message(context)), QN_ERROR_IO);
        assert_string_equal(qn_error_message(context), told);
        assert_fails(context, qn_device_get(NULL, "cpu", NULL), QN_ERROR_NULL, "context");
        assert_int_equal(qn_error_set(context, QN_ERROR_OUT_OF_MEMORY, told), QN_ERROR_OUT_OF_MEMORY);
        c.fail_at = 0;
        c.total = 0;
        assert_int_equal(qn_error_set(context, QN_ERROR_IO, qn_error_message(context)), QN_ERROR_IO);
        assert_string_equal(qn_error_message(NULL), "");
        if (had_one) assert_string_equal(qn_error_message(context), told);
        assert_int_equal(qn_error_set(context, QN_ERROR_IO, "there is some again"), QN_ERROR_IO);
        assert_string_equal(qn_error_message(context), "there is some again");
    }
    qn_context_destroy(context);
    assert_int_equal(c.live, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(software_drivers_stay_closed_for_the_default),
        cmocka_unit_test(devices_are_found_by_name),
        cmocka_unit_test(capabilities_have_names),
        cmocka_unit_test(matrix_shapes_are_told),
        cmocka_unit_test(the_environment_chooses),
        cmocka_unit_test(bad_contexts_are_refused),
        cmocka_unit_test(a_newer_header_is_refused),
        cmocka_unit_test(the_limit_of_loops_is_known),
        cmocka_unit_test(libraries_above_leave_sentences_and_take_memory),
        cmocka_unit_test(the_log_hook_hears),
        cmocka_unit_test(the_environment_sets_the_level),
        cmocka_unit_test(the_second_compile_asks_for_little),
        cmocka_unit_test(nothing_leaks_over_many_rounds),
        cmocka_unit_test(sentences_stay_without_memory),
        cmocka_unit_test(every_allocation_may_fail),
        cmocka_unit_test(every_allocation_for_sides_may_fail),
        cmocka_unit_test(every_allocation_may_fail_with_the_compiler),
    };
    return run_device_tests(tests);
}
