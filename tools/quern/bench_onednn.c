/* oneDNN's products on the processor, by the calls that it has with the shape of a BLAS (dnnl.h); its threads are OpenMP's. */
#include "bench_peer.h"

#include <stdlib.h>

typedef struct onednn {
    int (*single)(char op_a, char op_b, int64_t m, int64_t n, int64_t k, float alpha, const float *a,
                  int64_t lda, const float *b, int64_t ldb, float beta, float *c, int64_t ldc);
    int (*whole)(char op_a, char op_b, char offset_kind, int64_t m, int64_t n, int64_t k, float alpha,
                 const int8_t *a, int64_t lda, int8_t a_offset, const int8_t *b, int64_t ldb, int8_t b_offset,
                 float beta, int32_t *c, int64_t ldc, const int32_t *c_offset);
} onednn;

/* Those that it was linked with, which are there once it is. */
static bool set_threads(uint32_t threads, char *why) {
    static const char *const names[] = {"libgomp.so.1", "libiomp5.so", "libomp.so.5", NULL};
    void (*set)(int) = NULL;
    void *library = bench_library_open(names, why);
    if (!library || !bench_library_find(library, "omp_set_num_threads", &set, why)) return false;
    set((int)threads);
    return true;
}

static void *open_onednn(const bench_device *d, char *why) {
    static const char *const names[] = {"dnnl.dll", "libdnnl.so.3", "libdnnl.so.2", "libdnnl.so", NULL};
    onednn *o = tool_alloc(sizeof *o);
    void *library = bench_library_open(names, why);
    if (library && bench_library_find(library, "dnnl_sgemm", &o->single, why) &&
        bench_library_find(library, "dnnl_gemm_s8s8s32", &o->whole, why) &&
        set_threads(d->info.compute_units, why))
        return o;
    free(o);
    return NULL;
}

static bool takes(const bench_type *type) {
    return (type->from == QN_F32 && !type->tf32) || type->from == QN_I8;
}

static bool multiply(void *peer, const bench_product *p, const bench_place places[3]) {
    const onednn *o = peer;
    const int64_t m = (int64_t)p->m, n = (int64_t)p->n, k = (int64_t)p->k;
    const bool turned = p->type->is_turned;
    const char op = turned ? 'T' : 'N';
    const int32_t zero = 0;
    const void *a = (const void *)(uintptr_t)places[0].at, *b = (const void *)(uintptr_t)places[1].at;
    void *c = (void *)(uintptr_t)places[2].at;
    if (p->type->from == QN_F32) return o->single('N', op, m, n, k, 1, a, k, b, turned ? k : n, 0, c, n) == 0;
    return o->whole('N', op, 'F', m, n, k, 1, a, k, 0, b, turned ? k : n, 0, 0, c, n, &zero) == 0;
}

static void close_onednn(void *peer) { free(peer); }

const bench_peer_type bench_onednn = {.name = "onednn",
                                      .kind = QN_DEVICE_CPU,
                                      .on_host = true,
                                      .open = open_onednn,
                                      .close = close_onednn,
                                      .takes = takes,
                                      .multiply = multiply};
