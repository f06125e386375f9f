/* A program of quern 0.1, built with the header of then (beside this file) and linked to today's library. Each struct that it
   hands over stands before bytes that are not its own: the library must neither take them for fields nor write there. */
#include <quern/quern.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int failures = 0;

static void expect(bool holds, const char *what, int line) {
    if (!holds) printf("program.c:%d: not so: %s\n", line, what), failures++;
}
#define EXPECT(condition) expect(condition, #condition, __LINE__)

enum { GUARD = 512, JUNK = 0xA5 };

/* A struct in the middle of junk, which its padding is, too. */
#define GUARDED(type, name)                                                                                  \
    struct {                                                                                                 \
        type is;                                                                                             \
        unsigned char guard[GUARD];                                                                          \
    } name;                                                                                                  \
    memset(&name, JUNK, sizeof name)
#define EXPECT_GUARD(name) EXPECT(is_junk(name.guard))

static bool is_junk(const unsigned char *guard) {
    for (int i = 0; i < GUARD; i++)
        if (guard[i] != JUNK) return false;
    return true;
}

static int live = 0, lines = 0;

static void *allocate(void *user, size_t size) {
    ++*(int *)user;
    return malloc(size);
}
static void *reallocate(void *user, void *memory, size_t size) {
    *(int *)user += !memory;
    return realloc(memory, size);
}
static void release(void *user, void *memory) {
    *(int *)user -= memory != NULL;
    free(memory);
}
static void log_line(void *user, qn_log_level level, const char *message) {
    (void)level, (void)message;
    ++*(int *)user;
}
static void print(void *user, const char *text, size_t size) { strncat(user, text, size); }

static char printed[64];

static qn_context *make_context(void) {
    GUARDED(qn_context_desc, desc);
    desc.is.allocator = (qn_allocator){allocate, reallocate, release, &live};
    desc.is.log = log_line;
    desc.is.log_user = &lines;
    desc.is.log_level = QN_LOG_ERROR;
    desc.is.print = print;
    desc.is.print_user = printed;
    desc.is.cache_dir = NULL;
    desc.is.cache_limit = 1 << 20;
    desc.is.disable_cache = true;
    desc.is.cpu_threads = 1;
    desc.is.cpu_compiler = "none";
    desc.is.cpu_compile_first = false;
    qn_context *context = NULL;
    EXPECT(qn_context_create(&desc.is, &context) == QN_OK);
    EXPECT_GUARD(desc);
    EXPECT(live > 0);
    return context;
}

static void look_at_devices(qn_context *context, qn_device *device) {
    for (uint32_t i = 0; i < qn_backend_count(context); i++) {
        GUARDED(qn_backend_info, backend);
        EXPECT(qn_backend_get(context, i, &backend.is) == QN_OK && backend.is.name);
        EXPECT_GUARD(backend);
    }
    GUARDED(qn_device_info, info);
    EXPECT(qn_device_get_info(device, &info.is) == QN_OK);
    EXPECT(strcmp(info.is.name, "cpu") == 0 && info.is.kind == QN_DEVICE_CPU && info.is.max_args_size > 0);
    EXPECT_GUARD(info);
    GUARDED(qn_memory_stats, stats);
    EXPECT(qn_device_memory(device, &stats.is) == QN_OK && stats.is.buffers == 1 && stats.is.used == 16);
    EXPECT_GUARD(stats);
    GUARDED(qn_cache_stats, cache);
    EXPECT(qn_cache_get_stats(context, &cache.is) == QN_OK && cache.is.entries == 0 && cache.is.misses == 0);
    EXPECT_GUARD(cache);
}

static qn_buffer *make_buffer(qn_device *device) {
    static const int data[4] = {1, 2, 3, 4};
    GUARDED(qn_buffer_desc, desc);
    desc.is.size = sizeof data;
    desc.is.data = data;
    desc.is.uninitialised = false;
    desc.is.label = "data";
    qn_buffer *buffer = NULL;
    EXPECT(qn_buffer_create(device, &desc.is, &buffer) == QN_OK);
    EXPECT_GUARD(desc);
    return buffer;
}

static void describe(qn_program_desc *desc) {
    static const qn_header headers[] = {{"one.h", "#define ONE 1\n"}, {"two.h", "#define TWO 2\n"}};
    desc->source = "#include \"one.h\"\n#include \"two.h\"\n"
                   "kernel void k(global int *x, int n, float f) {\n"
                   "    size_t i = get_global_id(0);\n"
                   "    x[i] = x[i] * N + n + ONE + TWO + (int)f;\n"
                   "    if (i == 1) printf(\"one %d\\n\", n);\n"
                   "}\n// junk";
    desc->source_size = strlen(desc->source) - 7;
    desc->path = "k.cl";
    desc->options = "-DN=10";
    desc->headers = headers;
    desc->num_headers = 2;
    desc->opt_level = 1;
    desc->debug = false;
    desc->disable_cache = true;
}

static qn_program *make_program(qn_device *device) {
    GUARDED(qn_program_desc, desc);
    describe(&desc.is);
    qn_program *program = NULL;
    const qn_status status = qn_program_create(device, &desc.is, &program);
    if (status) puts(qn_error_message(qn_device_context(device)));
    EXPECT(status == QN_OK);
    EXPECT_GUARD(desc);
    GUARDED(qn_program_times, times);
    EXPECT(qn_program_get_times(program, &times.is) == QN_OK);
    EXPECT(times.is.compile_ns > 0 && !times.is.from_cache);
    EXPECT_GUARD(times);
    return program;
}

static void look_at_kernel(qn_kernel *kernel) {
    GUARDED(qn_kernel_info, info);
    EXPECT(qn_kernel_get_info(kernel, &info.is) == QN_OK);
    EXPECT(strcmp(info.is.name, "k") == 0 && info.is.num_params == 3 && info.is.local_memory == 0);
    EXPECT_GUARD(info);
    GUARDED(qn_param_info, param);
    EXPECT(qn_kernel_get_param(kernel, 2, &param.is) == QN_OK);
    EXPECT(strcmp(param.is.name, "f") == 0 && param.is.type == QN_TYPE_F32 && !param.is.is_restrict);
    EXPECT_GUARD(param);
}

static void launch(qn_kernel *kernel, qn_buffer *buffer) {
    GUARDED(qn_range, range);
    range.is = (qn_range){.global = {3}, .offset = {1}};
    EXPECT(qn_launch(NULL, kernel, &range.is, QN_ARGS(buffer, 5, 2.5f)) == QN_OK);
    EXPECT_GUARD(range);
    int got[4] = {0};
    EXPECT(qn_buffer_read(buffer, 0, got, sizeof got) == QN_OK);
    EXPECT(got[0] == 1 && got[1] == 30 && got[2] == 40 && got[3] == 50);
    EXPECT(strcmp(printed, "one 5\n") == 0);
}

static void translate(qn_context *context) {
    GUARDED(qn_translate_desc, desc);
    size_t size = 0;
    describe(&desc.is.program);
    desc.is.target = "ptx";
    desc.is.dump_pass = NULL;
    desc.is.reflect = false;
    desc.is.arch = "sm_70";
    desc.is.size = &size;
    char *text = NULL, *log = NULL;
    const qn_status status = qn_translate(context, &desc.is, &text, &log);
    if (status) puts(qn_error_message(context));
    EXPECT(status == QN_OK && text && size == strlen(text) && strstr(text, ".target sm_70"));
    EXPECT_GUARD(desc);
    qn_text_free(context, text);
    qn_text_free(context, log);
}

int main(void) {
    EXPECT(QN_VERSION_MAJOR == 0 && QN_VERSION_MINOR == 1 && strcmp(qn_version(), "0.1.0") != 0);
    qn_context *context = make_context();
    qn_device *device = NULL;
    EXPECT(qn_device_get(context, "cpu", &device) == QN_OK);
    qn_buffer *buffer = make_buffer(device);
    look_at_devices(context, device);
    qn_program *program = make_program(device);
    qn_kernel *kernel = NULL;
    EXPECT(qn_kernel_create(program, "k", &kernel) == QN_OK);
    look_at_kernel(kernel);
    launch(kernel, buffer);
    translate(context);
    EXPECT(lines == 0);
    EXPECT(qn_kernel_create(program, "none", &kernel) == QN_ERROR_NO_KERNEL && lines == 1);
    qn_context_destroy(context);
    EXPECT(live == 0);
    return failures != 0;
}
