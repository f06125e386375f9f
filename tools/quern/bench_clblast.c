/* CLBlast on quern's OpenCL context and queue (its C interface, clblast_c.h). */
#include "bench_peer.h"

#include <stdlib.h>

enum { ROW_MAJOR = 101, NO_TRANSPOSE = 111 };

#define GEMM(name, number)                                                                                   \
    int (*name)(int layout, int op_a, int op_b, size_t m, size_t n, size_t k, number alpha, void *a,         \
                size_t a_offset, size_t lda, void *b, size_t b_offset, size_t ldb, number beta, void *c,     \
                size_t c_offset, size_t ldc, void **queue, void **event)

typedef struct clblast {
    GEMM(single, float);
    GEMM(wide, double);
    const bench_device *d;
} clblast;

static void *open_clblast(const bench_device *d, char *why) {
    static const char *const names[] = {"clblast.dll", "libclblast.so.1", "libclblast.so", NULL};
    clblast *c = tool_alloc(sizeof *c);
    void *library = bench_library_open(names, why);
    c->d = d;
    if (library && bench_library_find(library, "CLBlastSgemm", &c->single, why) &&
        bench_library_find(library, "CLBlastDgemm", &c->wide, why))
        return c;
    free(c);
    return NULL;
}

static bool takes(const bench_type *type) {
    return (type->from == QN_F32 && !type->tf32) || type->from == QN_F64;
}

static bool multiply(void *peer, const bench_product *p, const bench_place places[3]) {
    const clblast *c = peer;
    const size_t size = qn_element_size(p->type->from), m = p->m, n = p->n, k = p->k;
    void *mem[3];
    size_t at[3];
    uint64_t handle = 0;
    if (qn_stream_native(c->d->stream, QN_NATIVE_OPENCL_QUEUE, &handle)) return false;
    void *queue = (void *)(uintptr_t)handle;
    for (int i = 0; i < 3; i++) {
        mem[i] = (void *)(uintptr_t)places[i].at;
        at[i] = places[i].offset / size;
    }
#define CALL(gemm, one)                                                                                      \
    c->gemm(ROW_MAJOR, NO_TRANSPOSE, NO_TRANSPOSE, m, n, k, one, mem[0], at[0], k, mem[1], at[1], n, 0,      \
            mem[2], at[2], n, &queue, NULL) == 0
    return p->type->from == QN_F64 ? CALL(wide, 1) : CALL(single, 1);
#undef CALL
}

static void close_clblast(void *peer) { free(peer); }

const bench_peer_type bench_clblast = {.name = "clblast",
                                       .kind = QN_DEVICE_OPENCL,
                                       .open = open_clblast,
                                       .close = close_clblast,
                                       .takes = takes,
                                       .multiply = multiply};
