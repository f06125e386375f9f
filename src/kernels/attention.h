/* What the calls of attention share: their arrays, checked, and the ways to compute them. */
#ifndef QN__KERNELS_ATTENTION_H
#define QN__KERNELS_ATTENTION_H

#include "kernels/op.h"

typedef enum qn__attention_array {
    QN__ATTENTION_Q,
    QN__ATTENTION_K,
    QN__ATTENTION_V,
    QN__ATTENTION_OUT,
    QN__ATTENTION_LOGS,
    QN__ATTENTION_MASK,
    QN__ATTENTION_GRADIENT,
    QN__ATTENTION_TO_Q,
    QN__ATTENTION_TO_K,
    QN__ATTENTION_TO_V,
    QN__ATTENTION_ARRAYS
} qn__attention_array;

/* How: any that fits; a work-item a row; tiles by work-groups; quads of sub-groups. Behind the first, in the order of qn_attention_variant. */
typedef enum qn__attention_way {
    QN__ATTENTION_ANY,
    QN__ATTENTION_ROWS,
    QN__ATTENTION_TILE,
    QN__ATTENTION_QUAD
} qn__attention_way;

/* A call. */
typedef struct qn__attention {
    const char *function;
    qn_array arrays[QN__ATTENTION_ARRAYS];
    bool has[QN__ATTENTION_ARRAYS]; /* logs and a mask may be absent */
    bool causal, deterministic;
    qn__attention_way way;
    double scale;
    uint64_t batches, heads, key_heads, queries, keys;
    uint32_t size, value_size;
} qn__attention;

/* ---- what runs on every device ---- */

/* As in kernels/attention/problem.h. */
typedef struct qn__attention_view {
    uint64_t begin;
    int64_t batch, head, row, column;
} qn__attention_view;

typedef struct qn__attention_problem {
    qn__attention_view views[QN__ATTENTION_ARRAYS];
    uint64_t queries, keys, blocks;
    uint32_t heads, shared, size, value_size, causal, is_logged;
    union {
        float single;
        double wide;
    } scale;
} qn__attention_problem;

/* Sides of tiles and work-items of groups. */
typedef struct qn__attention_shape {
    uint32_t side, group;
} qn__attention_shape;

qn__attention_way qn__attention_way_for(const qn_kernels *kernels, const qn__attention *a);
qn__attention_shape qn__attention_shape_for(const qn_kernels *kernels, const qn__attention *a);
qn__attention_problem qn__attention_problem_of(const qn__attention *a);
/* Of a launch for so many rows of so many heads; sets p->blocks. */
qn_range qn__attention_range(const qn_kernels *kernels, const qn__attention *a, qn__attention_problem *p,
                             uint64_t rows, uint64_t heads);
/* The kernel `name` of `file`, with what problem.h wants and `more`. */
qn_status qn__attention_kernel(qn_kernels *kernels, const qn__attention *a, const char *file,
                               const char *name, const char *more, qn_kernel **kernel);
/* One of rows.cl, with the define that chooses it. */
qn_status qn__attention_row_kernel(qn_kernels *kernels, const qn__attention *a, const char *name,
                                   const char *define, qn_kernel **kernel);
/* One of those with tiles; `chunked` elements have the rows of its results. */
qn_status qn__attention_tile_kernel(qn_kernels *kernels, const qn__attention *a, const char *file,
                                    const char *name, const char *define, uint32_t chunked,
                                    qn_kernel **kernel);
/* What all calls depend on. */
void qn__attention_key(const qn__attention *a, qn__key *key);

/* Checks the arrays in `given`, which are NULL where a call does not have them, and fills in *a, which has `function`, `causal` and
   `scale`. */
qn_status qn__attention_read(const qn_kernels *kernels, const qn_array *const *given, const char *variant,
                             qn__attention *a);

/* ---- by quads of sub-groups, which feed matrix units ---- */

enum { QN__ATTENTION_CHUNK = 64 /* elements of a head that are copied together, and rows of a quad */ };

/* As in kernels/attention/quad.h: where a head begins in its map. */
typedef struct qn__attention_heads {
    uint32_t head_x, head_z, batch_z;
} qn__attention_heads;

bool qn__attention_quad_fits(const qn_kernels *kernels, const qn__attention *a);
/* The gradients' registers are enough for heads of up to 128 elements. */
enum { QN__ATTENTION_BACKWARD_CHUNKS = 2 };
uint32_t qn__attention_chunks(const qn__attention *a);
/* How tiles of so many rows of an array are copied. False: they cannot be, for its strides. */
bool qn__attention_describe(const qn_array *x, uint32_t rows, qn_tensor_desc *desc,
                            qn__attention_heads *heads);
/* The array, or a copy that qn__attention_describe takes; `is_result`: without contents. */
qn_status qn__attention_bring(qn_kernels *kernels, qn_stream *stream, const qn_array *x, bool is_result,
                              qn__packed *packed);
/* Heads whose keys and values the second-level cache holds together, of so many; `shared` are neighbours with the same ones. */
uint32_t qn__attention_together(const qn__attention *a, uint64_t all, uint64_t shared);
/* What quad.h wants by -D. */
void qn__attention_quad_options(const qn__attention *a, uint32_t quads, uint32_t stages, uint32_t registers,
                                char *out, size_t size);
qn_range qn__attention_quad_range(const qn_kernels *kernels, uint64_t tiles, uint32_t quads);
qn_status qn__attention_quad(qn_kernels *kernels, qn_stream *stream, const qn__attention *a);
qn_status qn__attention_quad_backward(qn_kernels *kernels, qn_stream *stream, const qn__attention *a);

#endif
