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
    bool stores_tiles, staged, turned;
    uint32_t stages;
    uint32_t parts; /* of k, which a cluster adds up */
    uint32_t tail;  /* parts of the last tiles, which another launch adds up; 0: they are not cut */
} qn__matmul_tensors;

enum { QN__MATMUL_WORDS = 22 + 7 * (QN_MAX_RANK - 2) };

/* What kernels/matmul/numbers.h calls numbers, `finish` the kernel that adds the parts of k. */
typedef struct qn__matmul_plan {
    qn_kernel *pack, *kernel, *finish;
    qn_range pack_range, range, finish_range;
    uint32_t block_rows, block_columns; /* 0, or of C, for each work-item */
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

/* matmul_operands.c */

/* Stride along k, and along the other dimension, of A or B; the size of that one. */
int64_t qn__matmul_along_k(const qn__matmul *q, qn__matmul_operand x);
int64_t qn__matmul_along_side(const qn__matmul *q, qn__matmul_operand x);
uint64_t qn__matmul_side(const qn__matmul *q, qn__matmul_operand x);
uint64_t qn__matmul_batches(const qn__matmul *q);
bool qn__matmul_is_double(const qn__matmul *q);
bool qn__matmul_is_integer(const qn__matmul *q);
/* Whether so many neighbours are at addresses that are multiples of their size, in every batch: `next` and `other` are the
   strides along them and along the other dimension. Runs of f64, which would be longer than what buffers are aligned to, are in
   pairs only. */
bool qn__matmul_in_runs(const qn__matmul *q, qn__matmul_operand x, int64_t next, int64_t other, uint32_t run);
bool qn__matmul_in_pairs(const qn__matmul *q, qn__matmul_operand x, int64_t next, int64_t other);
bool qn__matmul_in_fours(const qn__matmul *q, qn__matmul_operand x, int64_t next, int64_t other);
/* Whether neighbours along k are nearer than those along the other dimension. */
bool qn__matmul_taken_along_k(const qn__matmul *q, qn__matmul_operand x);
/* Whether the matrix units' kernel loads 16 bytes at a time. */
bool qn__matmul_in_pieces(const qn__matmul *q, qn__matmul_operand x);
/* Whether a tile's kernel loads the operand four at a time: whole vectors, in which nothing lies beyond the matrix. */
bool qn__matmul_in_vectors(const qn__matmul *q, qn__matmul_operand x);

/* matmul_choice.c */
typedef enum qn__matmul_family {
    QN__BY_TILES,
    QN__BY_UNITS,
    QN__BY_QUADS,
    QN__BY_PACKED,
    QN__BY_PANELS,
    QN__BY_VECTOR,
    QN__BY_STRIP
} qn__matmul_family;

/* A tile: wm by wn bands of lm by ln lanes of tm by tn elements, k in steps of `step`; for matrix units: wm by wn sub-groups
   of tm by tn elements, k in steps of 64 bytes (f64: 128), for which `step` stands; by quads: wm work-groups of a cluster that share
   tiles of b, wn quads that multiply, tn columns, and with lm the product is transposed. `resident`: such groups on a compute
   unit at a time; `rate`: of its peak, with all of them there. For tiles (see cost_of_tiles) `rate` is the limit that more and more
   groups would come near to, `alone` what a group adds to that, `fixed` its clocks beside the multiplications, `single` what they cost more where both operands
   are loaded one element at a time. All by fits to measurements on an H200: tiles to 2,700 of 32-bit floats. Of units `fixed`
   are the clocks that a step waits for. */
typedef struct qn__matmul_variant {
    const char *name;
    qn__matmul_family family;
    uint32_t wm, wn, lm, ln, tm, tn, step;
    uint32_t resident;
    double rate, alone, fixed, single;
} qn__matmul_variant;

/* How k is cut. Joined: the parts are work-groups of a cluster, which add each other's sums. */
typedef struct qn__matmul_cut {
    uint64_t splits;
    bool joined;
} qn__matmul_cut;

typedef struct qn__matmul_choice {
    const qn__matmul_variant *variant;
    qn__matmul_cut cut;
} qn__matmul_choice;

enum { QN__MATMUL_STAGES = 3 }; /* tiles of f64 that matrix units have room for */
/* Bytes of k that matrix units take in a step. */
uint32_t qn__matmul_units_bytes(const qn__matmul *q);

/* What the tuning says of such a product. */
qn__tuned qn__matmul_tuned(const qn_kernels *kernels, const qn__matmul *q);
/* Whether the caller leaves all to the library, and the tuning may have a say. */
bool qn__matmul_is_open(const qn__matmul *q);
/* Takes the tuning's choice into `q`, if there is one and the caller made none. QN_ERROR_ARGUMENT where the variant that is asked for
   does not take the operands. */
qn_status qn__matmul_choose(const qn_kernels *kernels, qn__matmul *q, qn__matmul_choice *choice);
qn__matmul_quad qn__matmul_quad_of(const qn__matmul_variant *v, uint64_t splits);
uint32_t qn__matmul_tile_rows(const qn__matmul_variant *v);
uint32_t qn__matmul_tile_columns(const qn__matmul_variant *v);
/* Lanes, of which the units' variants have those of a sub-group. */
uint32_t qn__matmul_tile_items(const qn_kernels *kernels, const qn__matmul_variant *v);
/* The name of a type in fragments; NULL: they are not made of it. f32 is not without leave, as precision is lost. */
const char *qn__matmul_unit(const qn__matmul *q, qn_element type);
const char *qn__matmul_variant_name(uint32_t index);
uint32_t qn__matmul_variant_index(const qn__matmul_variant *v);

/* matmul_panels.c */
bool qn__matmul_panels_fits(const qn_kernels *kernels, const qn__matmul *q);
bool qn__matmul_panels_pays(const qn_kernels *kernels, const qn__matmul *q);
void qn__matmul_panels_options(const qn__matmul *q, char *out, size_t size);
/* Sets the ranges, the block and `work`. */
qn_status qn__matmul_panels_plan(const qn_kernels *kernels, const qn__matmul *q, qn__matmul_plan *p);

/* matmul_packed.c */
bool qn__matmul_packed_fits(const qn_kernels *kernels, const qn__matmul *q);
bool qn__matmul_packed_pays(const qn_kernels *kernels, const qn__matmul *q); /* strips would take longer */
void qn__matmul_packed_options(const qn_kernels *kernels, const qn__matmul *q, uint64_t batches, char *out,
                               size_t size);
/* Sets the ranges, the block and, where b is packed by a launch of its own, `work`. */
qn_status qn__matmul_packed_plan(const qn_kernels *kernels, const qn__matmul *q, uint64_t batches,
                                 qn__matmul_plan *p);

/* matmul_vector.c */
bool qn__matmul_vector_fits(const qn_kernels *kernels, const qn__matmul *q);
bool qn__matmul_vector_pays(const qn_kernels *kernels, const qn__matmul *q); /* it is the best way */
void qn__matmul_vector_keep(qn_kernels *kernels, const qn__matmul *q); /* what was chosen, for a tuning */
uint64_t qn__matmul_vector_splits(const qn_kernels *kernels, const qn__matmul *q);
void qn__matmul_vector_options(const qn_kernels *kernels, const qn__matmul *q, char *out, size_t size);
qn_range qn__matmul_vector_range(const qn_kernels *kernels, const qn__matmul *q, uint64_t splits);
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
