/* What the files of qn_kernels_convolve and its gradients share: a convolution as a call asks for it, and one as kernels compute it. */
#ifndef QN__KERNELS_CONVOLVE_H
#define QN__KERNELS_CONVOLVE_H

#include "kernels/op.h"

/* Checked, with all strides and defaults. `from` are the images that the weights meet, `to` what comes out: gradients have the
   arrays in the same places. */
typedef struct qn__convolution {
    qn_array from, weights, bias, to;
    uint32_t stride[2], padding[2], dilation[2], groups;
    int variant; /* of qn_convolve_variant; -1: to be chosen */
} qn__convolution;

/* As kernels/convolve/problem.h has it. */
typedef struct qn__convolve_numbers {
    uint64_t pixels;
    uint32_t to_rows, to_columns, channels, outputs, part, groups;
    int32_t rows, columns, stride[2], dilation[2];
    int64_t padding[2];
    uint64_t from_begin, weights_begin, bias_begin, to_begin;
    int64_t from[4], weights[4], to[4], bias;
    int64_t from_group, weights_group, to_group;
} qn__convolve_numbers;

/* A convolution with any signs: weights may go backwards, padding may be below 0. */
typedef struct qn__convolve_problem {
    qn__convolve_numbers numbers;
    qn_element type;
    uint64_t images;
    uint32_t taps[2];
    int variant;
    qn_buffer *from, *weights, *bias, *to;
} qn__convolve_problem;

/* That of qn_kernels_convolve. */
qn__convolve_problem qn__convolve_problem_of(const qn__convolution *c);
qn_status qn__convolve_find_variant(const qn_kernels *kernels, const char *function, const char *name,
                                    int *variant);
/* Whether it is a variant by tiles. */
bool qn__convolve_is_tile(int variant);
/* Whether it is that of convolve_unfold.c, for gradients by weights. */
bool qn__convolve_is_unfolded(int variant);
/* All of the problem but where arrays begin, of which it counts whether vectors may begin there. */
qn__key qn__convolve_key(const qn__convolve_problem *problem);
/* Enqueues it. There is something to compute. */
qn_status qn__convolve_launch(qn_kernels *kernels, qn_stream *stream, const qn__convolve_problem *problem);
/* The gradient by the weights, of which there is one at least: `weights` are written, `to` is the other gradient. */
qn_status qn__convolve_weights_launch(qn_kernels *kernels, qn_stream *stream,
                                      const qn__convolve_problem *problem);

/* convolve_quad.c: convolutions, gradients by images and by weights, by quads of sub-groups. Their variants come after the others. */
const char *qn__convolve_quad_name(uint32_t index); /* NULL behind the last one */
int qn__convolve_first_quad(void);
bool qn__convolve_is_quad(int variant);
bool qn__convolve_quads_fit(const qn_kernels *kernels, const qn__convolve_problem *problem);
/* Windows of the same arrays whose results are different ones, up to so many, can be computed together. */
enum { QN__CONVOLVE_PHASES = 4 };
bool qn__convolve_quads_join(const qn_kernels *kernels, const qn__convolve_problem *problems, uint32_t count);
qn_status qn__convolve_quad_launch(qn_kernels *kernels, qn_stream *stream,
                                   const qn__convolve_problem *problems, uint32_t count);
qn_status qn__convolve_quad_weights_launch(qn_kernels *kernels, qn_stream *stream,
                                           const qn__convolve_problem *problem);

/* convolve_fold.c: few channels, by quads. */
bool qn__convolve_folds(const qn_kernels *kernels, const qn__convolve_problem *problem);
/* What quads compute, of folded images and weights. */
qn__convolve_problem qn__convolve_folded(const qn__convolve_problem *problem, qn_buffer *images,
                                         qn_buffer *weights);
/* `by_weights`: the gradient by them. */
qn_status qn__convolve_fold_launch(qn_kernels *kernels, qn_stream *stream,
                                   const qn__convolve_problem *problem, bool by_weights);

/* convolve_unfold.c: gradients by weights on processors. */
bool qn__convolve_unfolds(const qn_kernels *kernels, const qn__convolve_problem *problem);
qn_status qn__convolve_unfold_launch(qn_kernels *kernels, qn_stream *stream,
                                     const qn__convolve_problem *problem);

/* convolve_packed.c */
typedef struct qn__convolve_packed {
    qn_range pack, pad, multiply;
    uint64_t work; /* bytes */
} qn__convolve_packed;
bool qn__convolve_packed_pays(const qn_kernels *kernels, const qn__convolve_problem *problem);
bool qn__convolve_packed_fits(const qn__convolve_problem *problem);
/* The options beside those of all kernels. */
void qn__convolve_packed_options(const qn_kernels *kernels, const qn__convolve_problem *problem, char *out,
                                 size_t size);
void qn__convolve_packed_plan(const qn_kernels *kernels, const qn__convolve_problem *problem,
                              qn__convolve_packed *out);

#endif
