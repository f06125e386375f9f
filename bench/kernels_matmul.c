/* quern_kernels_bench: qn_matmul beside cuBLAS, which is opened where it is there, over shapes met in practice; the ladder; and
   what a call costs beside a bare launch. Times are the device's; each result is checked against sums in double precision.
     quern_kernels_bench [--device NAME] [--type f32|f16|bf16|f64] [--shape M,N,K]... [--variant NAME] [--splits N]
     quern_kernels_bench --ladder N [--device NAME]
     quern_kernels_bench --overhead [--device NAME]
   Cases are turned about between quern and the peer; what is shown is the median. */
#include <dlfcn.h>
#include <math.h>
#include <quern/kernels.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"

enum { SAMPLES = 7, CHECKS = 64, SHAPES = 64 };

typedef struct shape {
    uint32_t m, n, k;
} shape;

static const shape usual[] = {
    {256, 256, 256},    {512, 512, 512},    {1024, 1024, 1024}, {2048, 2048, 2048}, {4096, 4096, 4096},
    {8192, 8192, 8192}, {1000, 1000, 1000}, {1023, 1023, 1023}, {1025, 1025, 1025}, {2047, 2047, 2047},
    {3000, 3000, 3000}, {4097, 4097, 4097}, {1, 768, 768},      {1, 3072, 768},     {1, 768, 3072},
    {1, 4096, 4096},    {1, 11008, 4096},   {1, 4096, 11008},   {8, 768, 768},      {8, 3072, 768},
    {8, 768, 3072},     {8, 4096, 4096},    {8, 11008, 4096},   {8, 4096, 11008},   {64, 768, 768},
    {64, 3072, 768},    {64, 768, 3072},    {64, 4096, 4096},   {64, 11008, 4096},  {64, 4096, 11008},
    {512, 768, 768},    {512, 3072, 768},   {512, 768, 3072},   {512, 4096, 4096},  {512, 11008, 4096},
    {512, 4096, 11008}, {16384, 64, 1024},  {64, 16384, 1024},  {8192, 8192, 64},   {128, 128, 65536},
};

/* cuBLAS, by the names of its library. Matrices are column-major there: it computes the transpose, B' A'. */
typedef struct cublas {
    void *handle;
    int (*create)(void **);
    int (*set_stream)(void *, void *);
    int (*gemm)(void *, int, int, int, int, int, const void *, const void *, int, int, const void *, int, int,
                const void *, void *, int, int, int, int);
} cublas;

typedef struct bench {
    qn_context *context;
    qn_device *device;
    qn_stream *stream;
    qn_kernels *kernels;
    qn_event *begin, *end;
    cublas peer;
    qn_element type;
    const char *variant;
    uint32_t splits;
    bool wrong;
} bench;

static void good(const bench *b, qn_status status, const char *what) {
    if (!status) return;
    fprintf(stderr, "quern_kernels_bench: %s: %s\n", what, qn_error_message(b->context));
    exit(2);
}

/* dlsym gives an object's address; C has no other way to a function's. */
static void find(void *library, const char *name, void *function) {
    void *at = dlsym(library, name);
    memcpy(function, &at, sizeof at);
}

static void open_peer(bench *b) {
    static const char *const names[] = {"libcublas.so.13", "libcublas.so.12", "libcublas.so.11",
                                        "libcublas.so"};
    uint64_t stream = 0;
    if (qn_stream_native(b->stream, QN_NATIVE_CUDA_STREAM, &stream)) return;
    void *library = NULL;
    for (size_t i = 0; i < sizeof names / sizeof *names && !library; i++)
        library = dlopen(names[i], RTLD_NOW);
    if (!library) {
        printf("cuBLAS is not there: %s\n", dlerror());
        return;
    }
    find(library, "cublasCreate_v2", &b->peer.create);
    find(library, "cublasSetStream_v2", &b->peer.set_stream);
    find(library, "cublasGemmEx", &b->peer.gemm);
    if (!b->peer.create || !b->peer.set_stream || !b->peer.gemm) return;
    good(b, qn_stream_native_begin(b->stream, NULL, 0), "the stream");
    if (b->peer.create(&b->peer.handle) || b->peer.set_stream(b->peer.handle, (void *)(uintptr_t)stream)) {
        printf("cuBLAS does not start\n");
        b->peer.handle = NULL;
    }
    good(b, qn_stream_native_end(b->stream), "the stream");
}

typedef struct product {
    shape s;
    qn_buffer *a, *b, *c;
    void *on_host[2];
} product;

static float number_at(qn_element type, const void *data, size_t i) {
    const uint16_t half = ((const uint16_t *)data)[type == QN_F32 || type == QN_F64 ? 0 : i];
    if (type == QN_F32) return ((const float *)data)[i];
    if (type == QN_F64) return (float)((const double *)data)[i];
    if (type == QN_BF16) {
        const uint32_t bits = (uint32_t)half << 16;
        float value;
        memcpy(&value, &bits, sizeof value);
        return value;
    }
    const int exponent = half >> 10 & 31;
    const double size = exponent ? ldexp(1024 + (half & 1023), exponent - 25) : ldexp(half & 1023, -24);
    return (float)(half >> 15 ? -size : size);
}

/* Whole eighths from -1 to 1: every type has them exactly. */
static void *numbers(qn_element type, size_t count, uint32_t seed) {
    const size_t size = qn_element_size(type);
    unsigned char *data = bench_alloc(count * size), table[17][8];
    for (int i = 0; i < 17; i++) {
        const float value = (float)(i - 8) / 8;
        const double wide = value;
        uint32_t bits;
        memcpy(&bits, &value, sizeof bits);
        const uint16_t upper = (uint16_t)(bits >> 16);
        /* The same in 5 bits of exponent and 10 of mantissa. */
        const uint16_t half =
            (uint16_t)(value == 0 ? 0
                                  : (bits >> 16 & 0x8000) | ((((bits >> 23) & 255) - 112) << 10) |
                                        (bits >> 13 & 1023));
        memcpy(table[i],
               type == QN_F64    ? (const void *)&wide
               : type == QN_F32  ? (const void *)&value
               : type == QN_BF16 ? (const void *)&upper
                                 : &half,
               size);
    }
    for (size_t i = 0; i < count; i++) memcpy(data + i * size, table[bench_random(&seed) % 17], size);
    return data;
}

static qn_buffer *buffer_of(const bench *b, size_t count, const void *data) {
    qn_buffer *buffer;
    good(b,
         qn_buffer_create(b->device,
                          &(qn_buffer_desc){.size = count * qn_element_size(b->type), .data = data}, &buffer),
         "a buffer");
    return buffer;
}

static void multiply(const bench *b, const product *p) {
    const shape s = p->s;
    const qn_matmul_desc desc = {.out = QN_ARRAY(p->c, b->type, s.m, s.n),
                                 .a = QN_ARRAY(p->a, b->type, s.m, s.k),
                                 .b = QN_ARRAY(p->b, b->type, s.k, s.n),
                                 .variant = b->variant,
                                 .splits = b->splits};
    good(b, qn_matmul(b->kernels, b->stream, &desc), "qn_matmul");
}

/* cudaDataType and cublasComputeType_t. */
static int data_type(qn_element t) { return t == QN_F32 ? 0 : t == QN_F64 ? 1 : t == QN_F16 ? 2 : 14; }

static void multiply_by_peer(const bench *b, const product *p) {
    const float one = 1, zero = 0;
    const double wide_one = 1, wide_zero = 0;
    const bool wide = b->type == QN_F64;
    uint64_t at[3];
    qn_buffer *const buffers[] = {p->a, p->b, p->c};
    for (int i = 0; i < 3; i++)
        good(b, qn_buffer_native(buffers[i], QN_NATIVE_CUDA_POINTER, &at[i]), "a pointer");
    const int type = data_type(b->type), m = (int)p->s.m, n = (int)p->s.n, k = (int)p->s.k;
    const int status = b->peer.gemm(b->peer.handle, 0, 0, n, m, k, wide ? (const void *)&wide_one : &one,
                                    (void *)(uintptr_t)at[1], type, n, (void *)(uintptr_t)at[0], type, k,
                                    wide ? (const void *)&wide_zero : &zero, (void *)(uintptr_t)at[2], type,
                                    n, wide ? 70 : 68, -1);
    if (status) {
        fprintf(stderr, "quern_kernels_bench: cublasGemmEx: status %d\n", status);
        exit(2);
    }
}

/* Seconds of one product, of `count` that are submitted together. */
static double time_of(const bench *b, const product *p, bool peer, unsigned count) {
    qn_buffer *const buffers[] = {p->a, p->b, p->c};
    int64_t ns;
    good(b, qn_stream_record(b->stream, b->begin), "an event");
    if (peer) good(b, qn_stream_native_begin(b->stream, buffers, 3), "the stream");
    for (unsigned i = 0; i < count; i++)
        if (peer)
            multiply_by_peer(b, p);
        else
            multiply(b, p);
    if (peer) good(b, qn_stream_native_end(b->stream), "the stream");
    good(b, qn_stream_record(b->stream, b->end), "an event");
    good(b, qn_stream_wait(b->stream, QN_FOREVER), "running");
    good(b, qn_event_elapsed(b->begin, b->end, &ns), "the time");
    return (double)ns * 1e-9 / count;
}

/* Of some elements. */
static bool is_right(const bench *b, const product *p) {
    const shape s = p->s;
    const size_t size = qn_element_size(b->type);
    const double epsilon = b->type == QN_F64 ? 1e-12 : 1e-6, rounding = b->type == QN_BF16  ? 0x1p-8
                                                                        : b->type == QN_F16 ? 0x1p-11
                                                                                            : 0;
    uint32_t seed = 9;
    for (int i = 0; i < CHECKS; i++) {
        const size_t row = bench_random(&seed) % s.m, column = bench_random(&seed) % s.n;
        double sum = 0, sizes = 0;
        uint64_t got = 0;
        for (size_t q = 0; q < s.k; q++) {
            const double x = (double)number_at(b->type, p->on_host[0], row * s.k + q) *
                             number_at(b->type, p->on_host[1], q * s.n + column);
            sum += x;
            sizes += fabs(x);
        }
        good(b, qn_buffer_read(p->c, (row * s.n + column) * size, &got, size), "reading");
        const double value = number_at(b->type, &got, 0);
        if (!(fabs(value - sum) <= sizes * epsilon + fabs(sum) * rounding + 1e-6)) {
            printf("WRONG: %ux%ux%u [%zu, %zu] is %g, not %g\n", s.m, s.n, s.k, row, column, value, sum);
            return false;
        }
    }
    return true;
}

/* The ratio to the peer, or 0. */
static double run_shape(bench *b, shape s) {
    product p = {.s = s,
                 .on_host = {numbers(b->type, (size_t)s.m * s.k, 1), numbers(b->type, (size_t)s.k * s.n, 2)}};
    p.a = buffer_of(b, (size_t)s.m * s.k, p.on_host[0]);
    p.b = buffer_of(b, (size_t)s.k * s.n, p.on_host[1]);
    p.c = buffer_of(b, (size_t)s.m * s.n, NULL);
    double times[2][SAMPLES];
    multiply(b, &p);
    good(b, qn_kernels_wait(b->kernels, QN_FOREVER), "compiling");
    const bool right = is_right(b, &p), has_peer = b->peer.handle != NULL;
    const double once = time_of(b, &p, false, 1);
    const unsigned count = once > 0.02 ? 1 : once > 0 ? (unsigned)(0.02 / once) % 2000 + 1 : 1;
    for (int i = 0; i < SAMPLES; i++)
        for (int peer = 0; peer <= has_peer; peer++) times[peer][i] = time_of(b, &p, peer, count);
    const double seconds = bench_median(times[0], SAMPLES),
                 theirs = has_peer ? bench_median(times[1], SAMPLES) : 0;
    const double flops = 2.0 * s.m * s.n * s.k;
    printf("| %ux%ux%u | %.4f ms | %.2f TFLOP/s |", s.m, s.n, s.k, seconds * 1e3, flops / seconds * 1e-12);
    if (has_peer) printf(" %.4f ms | %.3f |", theirs * 1e3, theirs / seconds);
    printf("%s\n", right ? "" : " WRONG");
    fflush(stdout);
    b->wrong = b->wrong || !right;
    free(p.on_host[0]);
    free(p.on_host[1]);
    qn_buffer_destroy(p.a);
    qn_buffer_destroy(p.b);
    qn_buffer_destroy(p.c);
    return theirs / seconds;
}

static void run_shapes(bench *b, const shape *shapes, size_t count) {
    double logs = 0;
    printf("| m x n x k, %s | qn_matmul | | %s\n|---|---|---|%s\n", qn_element_name(b->type),
           b->peer.handle ? "cuBLAS | of its speed |" : "", b->peer.handle ? "---|---|" : "");
    for (size_t i = 0; i < count; i++) logs += log(run_shape(b, shapes[i]));
    if (b->peer.handle) printf("geometric mean: %.3f of cuBLAS's speed\n", exp(logs / (double)count));
}

static void run_ladder(bench *b, uint32_t n) {
    product p = {.s = {n, n, n},
                 .on_host = {numbers(QN_F32, (size_t)n * n, 1), numbers(QN_F32, (size_t)n * n, 2)}};
    b->type = QN_F32;
    p.a = buffer_of(b, (size_t)n * n, p.on_host[0]);
    p.b = buffer_of(b, (size_t)n * n, p.on_host[1]);
    p.c = buffer_of(b, (size_t)n * n, NULL);
    double before = 0;
    qn_rung r;
    printf("| rung, n = %u | adds | GFLOP/s | of the rung before |\n|---|---|---|---|\n", n);
    for (uint32_t i = 0; qn_matmul_rung(i, n, n, &r); i++) {
        qn_program *program;
        qn_kernel *kernel;
        qn_program_desc desc = {0};
        double times[SAMPLES];
        int64_t ns;
        if (!qn_kernels_source(r.file, &desc)) exit(2);
        good(b, qn_program_create(b->device, &desc, &program), r.file);
        good(b, qn_kernel_create(program, "matmul", &kernel), r.file);
        good(b, qn_program_wait(program, QN_FOREVER), r.file);
        for (int s = -1; s < SAMPLES; s++) {
            good(b, qn_stream_record(b->stream, b->begin), "an event");
            good(b, qn_launch(b->stream, kernel, &r.range, QN_ARGS(n, n, n, p.a, p.b, p.c)), r.file);
            good(b, qn_stream_record(b->stream, b->end), "an event");
            good(b, qn_stream_wait(b->stream, QN_FOREVER), r.file);
            good(b, qn_event_elapsed(b->begin, b->end, &ns), "the time");
            if (s >= 0) times[s] = (double)ns;
        }
        const double took = bench_median(times, SAMPLES);
        const bool right = is_right(b, &p);
        printf("| %s | %s | %.0f | %.2f |%s\n", r.file, r.adds, 2.0 * n * n * n / took,
               before > 0 ? before / took : 1, right ? "" : " WRONG");
        fflush(stdout);
        before = took;
        b->wrong = b->wrong || !right;
        qn_kernel_destroy(kernel);
        qn_program_destroy(program);
    }
    free(p.on_host[0]);
    free(p.on_host[1]);
}

/* The host's time of a call, of the best of some batches: the device does little. */
static void run_overhead(bench *b) {
    enum { CALLS = 200, BATCHES = 50 };
    static const char text[] =
        "typedef struct { ulong w[22]; } numbers;\n"
        "kernel __attribute__((reqd_work_group_size(64, 1, 1))) void bare(numbers s, global float *a, "
        "global float *b, global float *c, global float *d, global float *e, global float *f, float x, "
        "float y, float z, global float *g) { if (s.w[0] == 1) c[0] = a[0] + b[0] + x + y + z; }\n";
    const shape s = {16, 16, 16};
    product p = {
        .s = s, .a = buffer_of(b, 256, NULL), .b = buffer_of(b, 256, NULL), .c = buffer_of(b, 256, NULL)};
    qn_program *program;
    qn_kernel *kernel;
    const uint64_t words[22] = {0};
    int64_t least[2] = {INT64_MAX, INT64_MAX};
    good(b, qn_program_create(b->device, &(qn_program_desc){.source = text}, &program), "the kernel");
    good(b, qn_program_wait(program, QN_FOREVER), "the kernel");
    good(b, qn_kernel_create(program, "bare", &kernel), "the kernel");
    multiply(b, &p);
    good(b, qn_kernels_wait(b->kernels, QN_FOREVER), "compiling");
    for (int i = 0; i < BATCHES; i++)
        for (int bare = 0; bare < 2; bare++) {
            const int64_t begin = bench_now();
            for (int j = 0; j < CALLS; j++)
                if (bare)
                    good(b,
                         qn_launch(
                             b->stream, kernel, QN_RANGE_LOCAL(QN_GROUP(64), QN_GROUP(64)),
                             QN_ARGS(QN_BYTES(words), p.a, p.b, p.c, p.c, p.c, p.c, 1.0f, 0.0f, 1.0f, p.c)),
                         "a launch");
                else
                    multiply(b, &p);
            const int64_t took = (bench_now() - begin) / CALLS;
            if (took < least[bare]) least[bare] = took;
            good(b, qn_stream_wait(b->stream, QN_FOREVER), "running");
        }
    printf("qn_matmul %lld ns, a bare launch with as many arguments %lld ns: %lld ns more\n",
           (long long)least[0], (long long)least[1], (long long)(least[0] - least[1]));
}

typedef struct options {
    const char *device;
    shape shapes[SHAPES];
    size_t num_shapes;
    uint32_t ladder;
    bool overhead;
} options;

static bool read_option(bench *b, options *o, const char *name, const char *value) {
    if (strcmp(name, "--overhead") == 0) return o->overhead = true;
    if (!value) return false;
    if (strcmp(name, "--device") == 0) return (o->device = value) != NULL;
    if (strcmp(name, "--variant") == 0) return (b->variant = value) != NULL;
    if (strcmp(name, "--splits") == 0) return (b->splits = (uint32_t)strtoul(value, NULL, 10)) > 0;
    if (strcmp(name, "--ladder") == 0) return (o->ladder = (uint32_t)strtoul(value, NULL, 10)) > 0;
    if (strcmp(name, "--shape") == 0 && o->num_shapes < SHAPES) {
        shape *s = &o->shapes[o->num_shapes++];
        return sscanf(value, "%u,%u,%u", &s->m, &s->n, &s->k) == 3 && s->m && s->n && s->k;
    }
    static const qn_element types[] = {QN_F32, QN_F16, QN_BF16, QN_F64};
    for (size_t i = 0; i < sizeof types / sizeof *types && strcmp(name, "--type") == 0; i++)
        if (strcmp(qn_element_name(types[i]), value) == 0) {
            b->type = types[i];
            return true;
        }
    return false;
}

int main(int argc, char **argv) {
    bench b = {.type = QN_F32};
    options o = {0};
    for (int i = 1; i < argc; i++) {
        const bool alone = strcmp(argv[i], "--overhead") == 0;
        if (!read_option(&b, &o, argv[i], alone || i + 1 == argc ? NULL : argv[i + 1])) {
            fprintf(
                stderr,
                "quern_kernels_bench: what is '%s'? (the head of bench/kernels_matmul.c lists the options)\n",
                argv[i]);
            return 1;
        }
        i += !alone;
    }
    if (qn_context_create(NULL, &b.context)) return 2;
    good(&b, qn_device_get(b.context, o.device, &b.device), "the device");
    good(&b, qn_kernels_create(b.device, NULL, &b.kernels), "the kernels");
    good(&b, qn_event_create(b.device, &b.begin), "an event");
    good(&b, qn_event_create(b.device, &b.end), "an event");
    b.stream = qn_device_stream(b.device);
    qn_device_info info;
    good(&b, qn_device_get_info(b.device, &info), "the device");
    printf("%s: %s\n", info.name, info.description);
    if (o.overhead) {
        run_overhead(&b);
    } else if (o.ladder) {
        run_ladder(&b, o.ladder);
    } else {
        open_peer(&b);
        run_shapes(&b, o.num_shapes ? o.shapes : usual,
                   o.num_shapes ? o.num_shapes : sizeof usual / sizeof *usual);
    }
    qn_kernels_destroy(b.kernels);
    qn_context_destroy(b.context);
    return b.wrong;
}
