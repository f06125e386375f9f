/* NVIDIA's run-time compiler as a peer of quern bench code: the same kernel files, as CUDA (bench_twin.c), launched by the bare driver.
   The few declarations needed are written out here (NVRTC's manual). */
#include <stdlib.h>
#include <string.h>

#include "bench_code.h"
#include "bench_cuda.h"
#include "bench_twin.h"

/* X(member, symbol's end, parameters): each gives 0 for success. */
#define FUNCTIONS(X)                                                                                         \
    X(create, CreateProgram,                                                                                 \
      (void **program, const char *source, const char *name, int headers, const char *const *texts,          \
       const char *const *names))                                                                            \
    X(destroy, DestroyProgram, (void **program))                                                             \
    X(compile, CompileProgram, (void *program, int count, const char *const *options))                       \
    X(code_size, GetCUBINSize, (void *program, size_t *size))                                                \
    X(code, GetCUBIN, (void *program, char *code))                                                           \
    X(log_size, GetProgramLogSize, (void *program, size_t *size))                                            \
    X(log, GetProgramLog, (void *program, char *log))

typedef struct nvrtc {
    bench_cuda cuda;
    int arch;
    FUNCTIONS(BENCH_MEMBER)
} nvrtc;

static void *open_nvrtc(const bench_device *d, char *why) {
    static const char *const names[] = {"libnvrtc.so.13", "/usr/local/cuda/lib64/libnvrtc.so.13",
                                        "libnvrtc.so.12", "/usr/local/cuda/lib64/libnvrtc.so.12",
                                        "libnvrtc.so",    NULL};
    nvrtc *n = tool_alloc(sizeof *n);
#define SYMBOL(member, symbol, parameters) {"nvrtc" #symbol, &n->member},
    const bench_symbol symbols[] = {FUNCTIONS(SYMBOL)};
#undef SYMBOL
    if (bench_library_load(names, symbols, sizeof symbols / sizeof *symbols, why) &&
        bench_cuda_open(d, &n->cuda, why) && bench_cuda_arch(&n->cuda, &n->arch, why))
        return n;
    free(n);
    return NULL;
}

static void keep_log(const nvrtc *n, void *program, char *why) {
    size_t size = 0;
    n->log_size(program, &size);
    char *log = tool_alloc(size + 1);
    if (size) n->log(program, log);
    log[strcspn(log, "\n")] = 0;
    snprintf(why, BENCH_WHY, "%.200s", log);
    free(log);
}

/* Machine code, from malloc; NULL: it does not compile. */
static char *compile(const nvrtc *n, const char *source, char *why) {
    char arch[64], *code = NULL;
    const char *const options[] = {arch, "--std=c++17", "--device-as-default-execution-space"};
    void *program = NULL;
    size_t size = 0;
    snprintf(arch, sizeof arch, "--gpu-architecture=sm_%d", n->arch);
    if (n->create(&program, source, "kernel.cu", 0, NULL, NULL)) {
        snprintf(why, BENCH_WHY, "it makes no program");
        return NULL;
    }
    if (n->compile(program, sizeof options / sizeof *options, options))
        keep_log(n, program, why);
    else if (n->code_size(program, &size) == 0 && n->code(program, code = tool_alloc(size + 1)) != 0)
        snprintf(why, BENCH_WHY, "it gives no code");
    n->destroy(&program);
    return code;
}

/* ---- sessions ---- */

typedef struct session {
    const nvrtc *n;
    const bench_workload *load;
    void *module;
    void **functions; /* one a step */
    bench_workload_buffers buffers;
    uint64_t places[BENCH_MAX_BUFFERS];
} session;

static void release(void *user) {
    session *s = user;
    const bench_cuda *c = &s->n->cuda;
    if (s->module && bench_cuda_enter(c, NULL, 0)) {
        c->wait(c->stream);
        c->unload(s->module);
        bench_cuda_leave(c);
    }
    bench_buffers_free(&s->buffers);
    free(s->functions);
    free(s);
}

static bool load_code(session *s, const char *code, char *why) {
    const bench_cuda *c = &s->n->cuda;
    if (!bench_cuda_enter(c, NULL, 0)) return false;
    int failed = c->load(&s->module, code);
    for (uint32_t i = 0; i < s->load->num_steps && !failed; i++)
        failed = c->get_function(&s->functions[i], s->module, s->load->steps[i].kernel);
    if (failed) snprintf(why, BENCH_WHY, "the driver does not load its code: status %d", failed);
    return bench_cuda_leave(c) && !failed;
}

static bool make_buffers(session *s, char *why) {
    qn_status status = bench_buffers_make(&s->buffers);
    for (uint32_t i = 0; i < s->load->num_buffers && !status; i++)
        status = qn_buffer_native(s->buffers.all[i], QN_NATIVE_CUDA_POINTER, &s->places[i]);
    if (status) snprintf(why, BENCH_WHY, "%s", qn_error_message(s->n->cuda.d->context));
    return !status;
}

static void *prepare(void *peer, const bench_workload *load, const char *file, const char *source,
                     char *why) {
    const nvrtc *n = peer;
    session *s = tool_alloc(sizeof *s);
    *s = (session){.n = n, .load = load, .buffers = {.d = n->cuda.d, .load = load}};
    s->functions = tool_alloc(load->num_steps * sizeof *s->functions);
    char *twin = bench_twin(file, source, why), *code = twin ? compile(n, twin, why) : NULL;
    const bool fine = code && load_code(s, code, why) && make_buffers(s, why);
    free(code);
    free(twin);
    if (fine) return s;
    release(s);
    return NULL;
}

static bool reset(void *user) { return bench_buffers_reset(&((session *)user)->buffers) == QN_OK; }

static int launch(session *s, uint32_t index) {
    bench_workload_step *step = &s->load->steps[index];
    void *params[BENCH_MAX_ARGS];
    uint32_t local = 0, count = 0;
    const uint64_t local_y = step->local[1] ? step->local[1] : 1,
                   global_y = step->global[1] ? step->global[1] : 1;
    for (uint32_t a = 0; a < step->num_args; a++) {
        bench_arg *arg = &step->args[a];
        if (arg->kind == BENCH_LOCAL)
            local += arg->value.u;
        else
            params[count++] =
                arg->kind == BENCH_BUFFER ? (void *)&s->places[arg->value.u] : (void *)&arg->value;
    }
    return s->n->cuda.launch(s->functions[index], (uint32_t)(step->global[0] / step->local[0]),
                             (uint32_t)(global_y / local_y), 1, step->local[0], (uint32_t)local_y, 1, local,
                             s->n->cuda.stream, params, NULL);
}

static bool run(void *user, uint32_t count) {
    session *s = user;
    const bench_cuda *c = &s->n->cuda;
    int failed = 0;
    if (!bench_cuda_enter(c, s->buffers.all, s->load->num_buffers)) return false;
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t k = 0; k < s->load->num_steps && !failed; k++) failed = launch(s, k);
    return bench_cuda_leave(c) && !failed;
}

static bool read(void *user, uint32_t buffer, void *to) {
    return bench_buffers_read(&((session *)user)->buffers, buffer, to) == QN_OK;
}

static void close_nvrtc(void *peer) { free(peer); }

static const bench_code_peer code_peer = {prepare, reset, run, read, release};
const bench_peer_type bench_nvrtc = {
    .name = "nvrtc", .kind = QN_DEVICE_CUDA, .open = open_nvrtc, .close = close_nvrtc, .code = &code_peer};
