/* Libraries for the processor with the C interface of the BLAS, each with as many threads as quern's device has. */
#include "bench_peer.h"

#include <stdlib.h>

enum { ROW_MAJOR = 101, NO_TRANSPOSE = 111 };

typedef struct cblas {
    void (*sgemm)(int layout, int op_a, int op_b, int m, int n, int k, float alpha, const float *a, int lda,
                  const float *b, int ldb, float beta, float *c, int ldc);
} cblas;

/* How many threads: the name of the function for it, and whether it takes 64 bits. */
typedef struct thread_setter {
    const char *symbol;
    bool is_wide;
} thread_setter;

static bool set_threads(void *library, thread_setter setter, uint32_t threads, char *why) {
    void (*narrow)(int) = NULL;
    void (*wide)(int64_t) = NULL;
    if (!bench_library_find(library, setter.symbol, setter.is_wide ? (void *)&wide : (void *)&narrow, why))
        return false;
    if (setter.is_wide)
        wide(threads);
    else
        narrow((int)threads);
    return true;
}

static void *open_library(const bench_device *d, const char *const *names, thread_setter setter, char *why) {
    cblas *c = tool_alloc(sizeof *c);
    void *library = bench_library_open(names, why);
    if (library && bench_library_find(library, "cblas_sgemm", &c->sgemm, why) &&
        set_threads(library, setter, d->info.compute_units, why))
        return c;
    free(c);
    return NULL;
}

static void *open_openblas(const bench_device *d, char *why) {
    static const char *const names[] = {"libopenblas.dll", "libopenblas.so.0", "libopenblas.so", NULL};
    return open_library(d, names, (thread_setter){"openblas_set_num_threads", false}, why);
}

static void *open_blis(const bench_device *d, char *why) {
    static const char *const names[] = {"libblis.dll", "libblis.so.4", "libblis.so", NULL};
    return open_library(d, names, (thread_setter){"bli_thread_set_num_threads", true}, why);
}

/* Its threads are those of a library that it opens itself, and it ends the program where that is not there. */
static bool choose_threading(void *library, char *why) {
    static const char *const intel[] = {"libiomp5md.dll", "libiomp5.so", NULL}, *const gnu[] = {
                                                                                    "libgomp.so.1", NULL};
    enum { GNU = 3 };
    int (*set)(int layer) = NULL;
    if (bench_library_open(intel, why)) return true;
    return bench_library_open(gnu, why) &&
           bench_library_find(library, "MKL_Set_Threading_Layer", &set, why) && set(GNU) == GNU;
}

static void *open_mkl(const bench_device *d, char *why) {
    static const char *const names[] = {"mkl_rt.3.dll",
                                        "mkl_rt.2.dll",
                                        "libmkl_rt.so.3",
                                        "libmkl_rt.so.2",
                                        "libmkl_rt.so.1",
                                        "libmkl_rt.so",
                                        NULL};
    void *library = bench_library_open(names, why);
    if (!library || !choose_threading(library, why)) return NULL;
    return open_library(d, names, (thread_setter){"MKL_Set_Num_Threads", false}, why);
}

static bool takes(const bench_type *type) { return type->from == QN_F32 && !type->tf32; }

static bool multiply(void *peer, const bench_product *p, const bench_place places[3]) {
    const cblas *c = peer;
    const int m = (int)p->m, n = (int)p->n, k = (int)p->k;
    c->sgemm(ROW_MAJOR, NO_TRANSPOSE, NO_TRANSPOSE, m, n, k, 1, (const float *)(uintptr_t)places[0].at, k,
             (const float *)(uintptr_t)places[1].at, n, 0, (float *)(uintptr_t)places[2].at, n);
    return true;
}

static void close_library(void *peer) { free(peer); }

#define PEER(word)                                                                                           \
    {                                                                                                        \
        .name = #word, .kind = QN_DEVICE_CPU, .on_host = true, .open = open_##word, .close = close_library,  \
        .takes = takes, .multiply = multiply                                                                 \
    }
const bench_peer_type bench_openblas = PEER(openblas), bench_blis = PEER(blis), bench_mkl = PEER(mkl);
