/* What the files of qn_kernels_matmul share: what a call asks for, and what is decided for it. */
#ifndef QN__KERNELS_MATMUL_H
#define QN__KERNELS_MATMUL_H

#include "kernels/op.h"

typedef enum qn__matmul_operand {
    QN__MATMUL_OUT,
    QN__MATMUL_A,
    QN__MATMUL_B,
    QN__MATMUL_C,
    QN__MATMUL_BIAS,
    QN__MATMUL_RESIDUAL,
    QN__MATMUL_OPERANDS
} qn__matmul_operand;

/* Arrays that are not there have no buffer, and no strides. */
typedef struct qn__matmul {
    qn_array arrays[QN__MATMUL_OPERANDS];
    bool has[QN__MATMUL_OPERANDS];
    uint64_t m, n, k;
    int64_t row[QN__MATMUL_OPERANDS], column[QN__MATMUL_OPERANDS]; /* strides along the last two dimensions */
    qn_activation activation;
    bool plain;  /* no epilogue */
    int variant; /* of the table, or -1 */
    bool tf32;
    uint32_t splits; /* 0: to be chosen */
} qn__matmul;

/* A variant by quads of sub-groups (kernels/matmul/quad.cl): work-groups of a cluster that share tiles of b, quads that multiply, 64
   rows each, columns of a tile, and how many groups a compute unit is to hold. `turned`: the transposed product is computed, so
   that few rows become few columns. `splits`: parts of k. */
typedef struct qn__matmul_quad {
    uint32_t cluster, quads, columns, resident;
    bool turned;
    double rate; /* of what bounds it */
    uint64_t splits;
} qn__matmul_quad;

/* What a product by quads gets: the maps of a, b and out, and which of a and b is first copied to rows along k. */
typedef struct qn__matmul_tensors {
    qn_tensor_desc descs[3];
    uint32_t batches, batched[2];
    bool copied[2];
    bool stores_tiles, turned;
    uint32_t stages;
    uint32_t parts; /* of k, which a cluster adds up */
} qn__matmul_tensors;

enum { QN__MATMUL_WORDS = 22 + 7 * (QN_MAX_RANK - 2) };

/* What kernels/matmul/numbers.h calls numbers, `finish` the kernel that adds the parts of k. */
typedef struct qn__matmul_plan {
    qn_kernel *pack, *kernel, *finish;
    qn_range pack_range, range, finish_range;
    uint32_t block_rows, block_columns; /* with `pack`: of C, for each work-item */
    uint64_t work;                      /* bytes between them */
    bool has_tensors;
    qn__matmul_tensors tensors;
    uint64_t part, splits;
    uint32_t num_words;
    uint64_t words[QN__MATMUL_WORDS];
} qn__matmul_plan;

/* Where words of the block are that the call sets. */
enum { QN__MATMUL_BEGINS = 0, QN__MATMUL_PART = 9 };

extern const qn__op qn__matmul_op; /* a request is a qn__matmul */
const char *qn__matmul_variant_name(uint32_t index);

/* matmul_packed.c */
bool qn__matmul_packed_fits(const qn_kernels *kernels, const qn__matmul *q);
bool qn__matmul_packed_pays(const qn_kernels *kernels, const qn__matmul *q); /* strips would take longer */
void qn__matmul_packed_options(const qn_kernels *kernels, const qn__matmul *q, char *out, size_t size);
/* Sets the ranges, the block and `work`. */
qn_status qn__matmul_packed_plan(const qn_kernels *kernels, const qn__matmul *q, uint64_t batches,
                                 qn__matmul_plan *p);

/* matmul_vector.c */
bool qn__matmul_vector_fits(const qn_kernels *kernels, const qn__matmul *q);
bool qn__matmul_vector_pays(const qn_kernels *kernels, const qn__matmul *q); /* it is the best way */
uint64_t qn__matmul_vector_splits(const qn_kernels *kernels, const qn__matmul *q);
void qn__matmul_vector_options(const qn_kernels *kernels, const qn__matmul *q, char *out, size_t size);
qn_range qn__matmul_vector_range(const qn_kernels *kernels, const qn__matmul *q, uint64_t splits);
/* Whether so many neighbours are at addresses that are multiples of their size, in every batch: `next` and `other` are the
   strides along them and along the other dimension. */
bool qn__matmul_in_runs(const qn__matmul *q, qn__matmul_operand x, int64_t next, int64_t other, uint32_t run);

/* matmul_quad.c */
bool qn__matmul_quad_fits(const qn_kernels *kernels, const qn__matmul *q, const qn__matmul_quad *v);
double qn__matmul_quad_cost(const qn_kernels *kernels, const qn__matmul *q,
                            const qn__matmul_quad *v); /* clocks */
/* The product with rows and columns exchanged: out' = b' a'. */
qn__matmul qn__matmul_turned(const qn__matmul *q);
/* Of what is computed: the turned product, where the variant has that. Sets part and splits too. */
void qn__matmul_quad_plan(const qn_kernels *kernels, const qn__matmul *q, const qn__matmul_quad *v,
                          qn__matmul_plan *p);
/* The options beside those of all kernels. */
void qn__matmul_quad_options(const qn__matmul *q, const qn__matmul_quad *v, const qn__matmul_tensors *t,
                             char *out, size_t size);
/* Before the other arguments of the launch: `args` has room for QN__MATMUL_TENSOR_ARGS, `maps` for three. Brings a and b
   where they are copied: `brought` has those buffers then, which are the caller's to destroy. */
enum { QN__MATMUL_TENSOR_ARGS = 6 };
qn_status qn__matmul_quad_bring(qn_kernels *kernels, qn_stream *stream, const qn__matmul *q,
                                const qn__matmul_tensors *t, qn_buffer *brought[2], qn_tensor_map maps[3],
                                qn_arg *args);

#endif
