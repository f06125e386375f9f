/* cuBLAS, by its stable C interface, on quern's CUDA context and stream. */
#include "bench_nvidia.h"

#include <stdlib.h>

/* cublasGemmAlgo_t, and the cublasMath_t without which parts of a sum may be added in the type of the operands. */
enum { ALGORITHM_DEFAULT = -1, SUMS_IN_FULL = 16 };

typedef struct cublas {
    void *handle, *stream;
    int (*create)(void **handle);
    int (*destroy)(void *handle);
    int (*set_stream)(void *handle, void *stream);
    int (*set_mode)(void *handle, int mode);
    int (*gemm)(void *handle, int op_a, int op_b, int m, int n, int k, const void *alpha, const void *a,
                int a_type, int lda, const void *b, int b_type, int ldb, const void *beta, void *c,
                int c_type, int ldc, int compute, int algorithm);
} cublas;

static int start(void *peer) {
    cublas *c = peer;
    int failed = c->create(&c->handle);
    if (!failed) failed = c->set_stream(c->handle, c->stream);
    return failed ? failed : c->set_mode(c->handle, SUMS_IN_FULL);
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
    const bench_symbol symbols[] = {{"cublasCreate_v2", &c->create},
                                    {"cublasDestroy_v2", &c->destroy},
                                    {"cublasSetStream_v2", &c->set_stream},
                                    {"cublasSetMathMode", &c->set_mode},
                                    {"cublasGemmEx", &c->gemm}};
    if (bench_library_load(names, symbols, sizeof symbols / sizeof *symbols, why) &&
        bench_nvidia_start(d, start, c, &c->stream, why))
        return c;
    free(c);
    return NULL;
}

/* Those with results of the operands' type. */
static bool takes(const bench_type *type) {
    const bench_nvidia_type *t = bench_nvidia_type_of(type);
    return t && t->from == t->to;
}

/* It is column-major: the transposed product of the operands in the other order. */
static bool multiply(void *peer, const bench_product *p, const bench_place places[3]) {
    const cublas *c = peer;
    const bench_nvidia_type *t = bench_nvidia_type_of(p->type);
    const int m = (int)p->m, n = (int)p->n, k = (int)p->k;
    return c->gemm(c->handle, 0, 0, n, m, k, bench_nvidia_one(t), bench_pointer(places[1]), t->from, n,
                   bench_pointer(places[0]), t->from, k, bench_nvidia_zero(t), bench_pointer(places[2]),
                   t->to, n, t->compute, ALGORITHM_DEFAULT) == 0;
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
