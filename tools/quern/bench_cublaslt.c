/* cuBLASLt, which has the types that cuBLAS lacks, on quern's CUDA context and stream. The few declarations needed are written
   out here (NVIDIA, cuBLAS library manual). */
#include "bench_nvidia.h"

#include <stdlib.h>
#include <string.h>

/* Attributes of a product, and of what is asked for. */
enum {
    DESC_TRANSA = 3,
    DESC_FAST_ACCUM = 25,
    PREF_WORKSPACE = 1,
    PREF_REDUCTIONS = 3,
    OP_T = 1,
    WORKSPACE = 32 << 20
};

/* cublasLtMatmulHeuristicResult_t. */
typedef struct heuristic {
    uint64_t algorithm[8];
    size_t workspace;
    int status;
    float waves;
    int reserved[4];
} heuristic;

/* X(member, symbol's end, parameters) */
#define FUNCTIONS(X)                                                                                         \
    X(create, Create, (void **handle))                                                                       \
    X(destroy, Destroy, (void *handle))                                                                      \
    X(desc_create, MatmulDescCreate, (void **desc, int compute, int factors))                                \
    X(desc_destroy, MatmulDescDestroy, (void *desc))                                                         \
    X(desc_set, MatmulDescSetAttribute, (void *desc, int attribute, const void *value, size_t size))         \
    X(layout_create, MatrixLayoutCreate,                                                                     \
      (void **layout, int type, uint64_t rows, uint64_t columns, int64_t ld))                                \
    X(layout_destroy, MatrixLayoutDestroy, (void *layout))                                                   \
    X(pref_create, MatmulPreferenceCreate, (void **preference))                                              \
    X(pref_destroy, MatmulPreferenceDestroy, (void *preference))                                             \
    X(pref_set, MatmulPreferenceSetAttribute,                                                                \
      (void *preference, int attribute, const void *value, size_t size))                                     \
    X(choose, MatmulAlgoGetHeuristic,                                                                        \
      (void *handle, void *desc, void *a, void *b, void *c, void *d, void *preference, int wanted,           \
       heuristic *results, int *found))                                                                      \
    X(multiply, Matmul,                                                                                      \
      (void *handle, void *desc, const void *alpha, const void *a, void *a_layout, const void *b,            \
       void *b_layout, const void *beta, const void *c, void *c_layout, void *d, void *d_layout,             \
       const uint64_t *algorithm, void *workspace, size_t workspace_size, void *stream))

typedef struct cublaslt {
    const bench_device *d;
    void *handle, *stream;
    bench_storage workspace;
    void *desc, *layouts[3]; /* of the product, and of its matrices: b, a, c, as the product is transposed */
    heuristic chosen;
    FUNCTIONS(BENCH_MEMBER)
} cublaslt;

static int start(void *peer) {
    cublaslt *c = peer;
    return c->create(&c->handle);
}

static void *open_cublaslt(const bench_device *d, char *why) {
    static const char *const names[] = {"cublasLt64_13.dll", "cublasLt64_12.dll", "libcublasLt.so.13",
                                        "libcublasLt.so.12", "libcublasLt.so",    NULL};
    cublaslt *c = tool_alloc(sizeof *c);
#define SYMBOL(member, symbol, parameters) {"cublasLt" #symbol, &c->member},
    const bench_symbol symbols[] = {FUNCTIONS(SYMBOL)};
#undef SYMBOL
    c->d = d;
    if (bench_library_load(names, symbols, sizeof symbols / sizeof *symbols, why) &&
        bench_nvidia_start(d, start, c, &c->stream, why))
        return c;
    free(c);
    return NULL;
}

static bool takes(const bench_type *type) { return type->from != QN_F64 && bench_nvidia_type_of(type); }

static void forget(cublaslt *c) {
    for (int i = 0; i < 3; i++)
        if (c->layouts[i]) c->layout_destroy(c->layouts[i]);
    if (c->desc) c->desc_destroy(c->desc);
    memset(c->layouts, 0, sizeof c->layouts);
    c->desc = NULL;
}

/* The product and its matrices. Matrices are column-major there: it computes the transposed product, of b and a. Sums of 8-bit
   floats may be as quern's are: with the bits that the units keep. */
static bool describe(cublaslt *c, const bench_product *p) {
    const bench_nvidia_type *t = bench_nvidia_type_of(p->type);
    const int turned = OP_T;
    const int8_t fast = 1;
    const bool b_turned = p->type->is_turned,
               is_8_bits = p->type->from == QN_E4M3 || p->type->from == QN_E5M2;
    int failed = c->desc_create(&c->desc, t->compute, t->factors);
    if (!failed && b_turned) failed = c->desc_set(c->desc, DESC_TRANSA, &turned, sizeof turned);
    if (!failed && is_8_bits) failed = c->desc_set(c->desc, DESC_FAST_ACCUM, &fast, sizeof fast);
    if (!failed)
        failed = c->layout_create(&c->layouts[0], t->from, b_turned ? p->k : p->n, b_turned ? p->n : p->k,
                                  (int64_t)(b_turned ? p->k : p->n));
    if (!failed) failed = c->layout_create(&c->layouts[1], t->from, p->k, p->m, (int64_t)p->k);
    if (!failed) failed = c->layout_create(&c->layouts[2], t->to, p->n, p->m, (int64_t)p->n);
    return !failed;
}

static bool choose(cublaslt *c) {
    const size_t workspace = WORKSPACE;
    const uint32_t in_full = 2; /* parts of a sum are added in its own type, not in that of the result */
    void *preference = NULL;
    int found = 0, failed = c->pref_create(&preference);
    if (!failed) failed = c->pref_set(preference, PREF_WORKSPACE, &workspace, sizeof workspace);
    if (!failed) failed = c->pref_set(preference, PREF_REDUCTIONS, &in_full, sizeof in_full);
    if (!failed)
        failed = c->choose(c->handle, c->desc, c->layouts[0], c->layouts[1], c->layouts[2], c->layouts[2],
                           preference, 1, &c->chosen, &found);
    if (preference) c->pref_destroy(preference);
    return !failed && found > 0 && c->chosen.status == 0;
}

static bool prepare(void *peer, const bench_product *p) {
    cublaslt *c = peer;
    forget(c);
    return describe(c, p) && choose(c);
}

static bool multiply(void *peer, const bench_product *p, const bench_place places[3]) {
    cublaslt *c = peer;
    const bench_nvidia_type *t = bench_nvidia_type_of(p->type);
    void *const out = bench_pointer(places[2]);
    void *workspace = bench_storage_take(c->d, &c->workspace, WORKSPACE);
    return workspace &&
           c->multiply(c->handle, c->desc, bench_nvidia_one(t), bench_pointer(places[1]), c->layouts[0],
                       bench_pointer(places[0]), c->layouts[1], bench_nvidia_zero(t), out, c->layouts[2], out,
                       c->layouts[2], c->chosen.algorithm, workspace, WORKSPACE, c->stream) == 0;
}

static void close_cublaslt(void *peer) {
    cublaslt *c = peer;
    forget(c);
    c->destroy(c->handle);
    qn_buffer_destroy(c->workspace.buffer);
    free(c);
}

const bench_peer_type bench_cublaslt = {.name = "cublaslt",
                                        .kind = QN_DEVICE_CUDA,
                                        .open = open_cublaslt,
                                        .close = close_cublaslt,
                                        .takes = takes,
                                        .prepare = prepare,
                                        .multiply = multiply};
