/* cuBLASLt, which has the types that cuBLAS lacks, on quern's CUDA context and stream. The few declarations needed are written
   out here (NVIDIA, cuBLAS library manual). */
#include "bench_peer.h"

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

/* cudaDataType of operands and result, cublasComputeType_t, and cudaDataType of the factors. */
static const struct {
    const char *type;
    int from, to, compute, factors;
} modes[] = {{"f32", 0, 0, 68, 0},    {"tf32", 0, 0, 77, 0},   {"bf16", 14, 14, 68, 0}, {"f16", 2, 2, 68, 0},
             {"e4m3", 28, 14, 68, 0}, {"e5m2", 29, 14, 68, 0}, {"i8", 3, 10, 72, 10}};
enum { NUM_MODES = sizeof modes / sizeof *modes };

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
    void *handle, *stream;
    qn_buffer *workspace;
    void *desc, *layouts[3]; /* of the product, and of its matrices: b, a, c, as the product is transposed */
    heuristic chosen;
#define MEMBER(member, symbol, parameters) int(*member) parameters;
    FUNCTIONS(MEMBER)
#undef MEMBER
} cublaslt;

static bool find_functions(cublaslt *c, void *library, char *why) {
    bool found = true;
#define FIND(member, symbol, parameters)                                                                     \
    found = found && bench_library_find(library, "cublasLt" #symbol, &c->member, why);
    FUNCTIONS(FIND)
#undef FIND
    return found;
}

static bool start(const bench_device *d, cublaslt *c, char *why) {
    uint64_t stream = 0;
    qn_status status = qn_stream_native(d->stream, QN_NATIVE_CUDA_STREAM, &stream);
    const qn_buffer_desc workspace = {.size = WORKSPACE, .uninitialised = true};
    if (!status) status = qn_buffer_create(d->device, &workspace, &c->workspace);
    if (!status) status = qn_stream_native_begin(d->stream, NULL, 0);
    const int failed = status ? 0 : c->create(&c->handle);
    if (!status) status = qn_stream_native_end(d->stream);
    if (status) snprintf(why, BENCH_WHY, "%s", qn_error_message(d->context));
    if (failed) snprintf(why, BENCH_WHY, "it does not start: status %d", failed);
    c->stream = (void *)(uintptr_t)stream;
    return !status && !failed;
}

static void *open_cublaslt(const bench_device *d, char *why) {
    static const char *const names[] = {"cublasLt64_13.dll", "cublasLt64_12.dll", "libcublasLt.so.13",
                                        "libcublasLt.so.12", "libcublasLt.so",    NULL};
    cublaslt *c = tool_alloc(sizeof *c);
    void *library = bench_library_open(names, why);
    if (library && find_functions(c, library, why) && start(d, c, why)) return c;
    qn_buffer_destroy(c->workspace);
    free(c);
    return NULL;
}

static int mode_of(const bench_type *type) {
    int i = 0;
    while (i < NUM_MODES && strcmp(modes[i].type, type->name) != 0) i++;
    return i;
}

static bool takes(const bench_type *type) { return mode_of(type) < NUM_MODES; }

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
    const int mode = mode_of(p->type), turned = OP_T;
    const int8_t fast = 1;
    const bool b_turned = p->type->is_turned,
               is_8_bits = p->type->from == QN_E4M3 || p->type->from == QN_E5M2;
    int failed = c->desc_create(&c->desc, modes[mode].compute, modes[mode].factors);
    if (!failed && b_turned) failed = c->desc_set(c->desc, DESC_TRANSA, &turned, sizeof turned);
    if (!failed && is_8_bits) failed = c->desc_set(c->desc, DESC_FAST_ACCUM, &fast, sizeof fast);
    if (!failed)
        failed = c->layout_create(&c->layouts[0], modes[mode].from, b_turned ? p->k : p->n,
                                  b_turned ? p->n : p->k, (int64_t)(b_turned ? p->k : p->n));
    if (!failed) failed = c->layout_create(&c->layouts[1], modes[mode].from, p->k, p->m, (int64_t)p->k);
    if (!failed) failed = c->layout_create(&c->layouts[2], modes[mode].to, p->n, p->m, (int64_t)p->n);
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
    const cublaslt *c = peer;
    const float factors[] = {1, 0};
    const int32_t whole[] = {1, 0};
    const bool is_whole = p->type->from == QN_I8;
    const void *one = is_whole ? (const void *)&whole[0] : &factors[0],
               *zero = is_whole ? (const void *)&whole[1] : &factors[1];
    void *const out = (void *)(uintptr_t)places[2].at;
    uint64_t workspace = 0;
    if (qn_buffer_native(c->workspace, QN_NATIVE_CUDA_POINTER, &workspace)) return false;
    return c->multiply(c->handle, c->desc, one, (void *)(uintptr_t)places[1].at, c->layouts[0],
                       (void *)(uintptr_t)places[0].at, c->layouts[1], zero, out, c->layouts[2], out,
                       c->layouts[2], c->chosen.algorithm, (void *)(uintptr_t)workspace, WORKSPACE,
                       c->stream) == 0;
}

static void close_cublaslt(void *peer) {
    cublaslt *c = peer;
    forget(c);
    c->destroy(c->handle);
    qn_buffer_destroy(c->workspace);
    free(c);
}

const bench_peer_type bench_cublaslt = {.name = "cublaslt",
                                        .kind = QN_DEVICE_CUDA,
                                        .open = open_cublaslt,
                                        .close = close_cublaslt,
                                        .takes = takes,
                                        .prepare = prepare,
                                        .multiply = multiply};
