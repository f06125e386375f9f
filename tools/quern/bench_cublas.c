/* cuBLAS, by its stable C interface, on quern's CUDA context and stream. */
#include "bench_peer.h"

#include <stdlib.h>

/* cudaDataType, cublasComputeType_t (without TF32), cublasGemmAlgo_t, and the cublasMath_t without which parts of a sum may be
   added in the type of the operands. */
enum { R_32F = 0, R_16F = 2, R_16BF = 14, COMPUTE_32F = 68, ALGORITHM_DEFAULT = -1, SUMS_IN_FULL = 16 };

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

static bool takes(qn_element type) { return type == QN_F32 || type == QN_F16 || type == QN_BF16; }

/* It is column-major: the transposed product of the operands in the other order. */
static bool multiply(void *peer, const bench_product *p, const uint64_t pointers[3]) {
    const cublas *c = peer;
    const float one = 1, zero = 0;
    const int m = (int)p->m, n = (int)p->n, k = (int)p->k;
    const int type = p->type == QN_F32 ? R_32F : p->type == QN_F16 ? R_16F : R_16BF;
    return c->gemm(c->handle, 0, 0, n, m, k, &one, (void *)(uintptr_t)pointers[1], type, n,
                   (void *)(uintptr_t)pointers[0], type, k, &zero, (void *)(uintptr_t)pointers[2], type, n,
                   COMPUTE_32F, ALGORITHM_DEFAULT) == 0;
}

static void close_cublas(void *peer) {
    cublas *c = peer;
    c->destroy(c->handle);
    free(c);
}

const bench_peer_type bench_cublas = {"cublas", QN_DEVICE_CUDA, false,       open_cublas,
                                      takes,    multiply,       close_cublas};
