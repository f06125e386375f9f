/* cuBLAS, by its stable C interface, on quern's CUDA context and stream. */
#include "bench_peer.h"

#include <stdlib.h>
#include <string.h>

/* cublasGemmAlgo_t, and the cublasMath_t without which parts of a sum may be added in the type of the operands. */
enum { ALGORITHM_DEFAULT = -1, SUMS_IN_FULL = 16 };

/* cudaDataType and cublasComputeType_t. */
static const struct {
    const char *type;
    int data, compute;
} modes[] = {{"f32", 0, 68}, {"f16", 2, 68}, {"bf16", 14, 68}, {"tf32", 0, 77}, {"f64", 1, 70}};
enum { NUM_MODES = sizeof modes / sizeof *modes };

typedef struct cublas {
    void *handle;
    int (*create)(void **handle);
    int (*destroy)(void *handle);
    int (*set_stream)(void *handle, void *stream);
    int (*set_mode)(void *handle, int mode);
    int (*gemm)(void *handle, int op_a, int op_b, int m, int n, int k, const void *alpha, const void *a,
                int a_type, int lda, const void *b, int b_type, int ldb, const void *beta, void *c,
                int c_type, int ldc, int compute, int algorithm);
} cublas;

static bool start(const bench_device *d, cublas *c, char *why) {
    uint64_t stream = 0;
    qn_status status = qn_stream_native(d->stream, QN_NATIVE_CUDA_STREAM, &stream);
    if (!status) status = qn_stream_native_begin(d->stream, NULL, 0);
    if (status) {
        snprintf(why, BENCH_WHY, "%s", qn_error_message(d->context));
        return false;
    }
    int failed = c->create(&c->handle);
    if (!failed) failed = c->set_stream(c->handle, (void *)(uintptr_t)stream);
    if (!failed) failed = c->set_mode(c->handle, SUMS_IN_FULL);
    if (failed) snprintf(why, BENCH_WHY, "it does not start: status %d", failed);
    return qn_stream_native_end(d->stream) == QN_OK && !failed;
}

static void *open_cublas(const bench_device *d, char *why) {
    static const char *const names[] = {"cublas64_13.dll",
                                        "cublas64_12.dll",
                                        "libcublas.so.13",
                                        "libcublas.so.12",
                                        "libcublas.so.11",
                                        "libcublas.so",
                                        NULL};
    cublas *c = tool_alloc(sizeof *c);
    void *library = bench_library_open(names, why);
    if (library && bench_library_find(library, "cublasCreate_v2", &c->create, why) &&
        bench_library_find(library, "cublasDestroy_v2", &c->destroy, why) &&
        bench_library_find(library, "cublasSetStream_v2", &c->set_stream, why) &&
        bench_library_find(library, "cublasSetMathMode", &c->set_mode, why) &&
        bench_library_find(library, "cublasGemmEx", &c->gemm, why) && start(d, c, why))
        return c;
    free(c);
    return NULL;
}

static int mode_of(const bench_type *type) {
    int i = 0;
    while (i < NUM_MODES && strcmp(modes[i].type, type->name) != 0) i++;
    return i;
}

static bool takes(const bench_type *type) { return mode_of(type) < NUM_MODES; }

/* It is column-major: the transposed product of the operands in the other order. */
static bool multiply(void *peer, const bench_product *p, const bench_place places[3]) {
    const cublas *c = peer;
    const float factors[] = {1, 0};
    const double wide[] = {1, 0};
    const bool is_wide = p->type->from == QN_F64;
    const void *one = is_wide ? (const void *)&wide[0] : &factors[0],
               *zero = is_wide ? (const void *)&wide[1] : &factors[1];
    const int m = (int)p->m, n = (int)p->n, k = (int)p->k, mode = mode_of(p->type), type = modes[mode].data;
    return c->gemm(c->handle, 0, 0, n, m, k, one, (void *)(uintptr_t)places[1].at, type, n,
                   (void *)(uintptr_t)places[0].at, type, k, zero, (void *)(uintptr_t)places[2].at, type, n,
                   modes[mode].compute, ALGORITHM_DEFAULT) == 0;
}

static void close_cublas(void *peer) {
    cublas *c = peer;
    c->destroy(c->handle);
    free(c);
}

const bench_peer_type bench_cublas = {.name = "cublas",
                                      .kind = QN_DEVICE_CUDA,
                                      .open = open_cublas,
                                      .close = close_cublas,
                                      .takes = takes,
                                      .multiply = multiply};
