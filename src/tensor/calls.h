/* The functions of ops that are calls of kernels.h, for the table in call.c. */
#ifndef QN__TENSOR_CALLS_H
#define QN__TENSOR_CALLS_H

#include "tensor/graph.h"

qn__finishing_call qn__matmul_run;                         /* matmul.c */
qn__finishing_call qn__convolve_run;                       /* convolve.c */
uint32_t qn__convolve_channels(const qn__node *node);      /* the dimension of its result that they are */
qn__call qn__convolve_input_run, qn__convolve_weights_run; /* convolve.c */
qn__gradient qn__convolve_gradient, qn__convolve_input_gradient, qn__convolve_weights_gradient;
qn__call qn__max_pool_run, qn__max_pool_backward_run; /* pool.c */
qn__gradient qn__max_pool_gradient, qn__max_pool_backward_gradient;
qn__call qn__attention_run, qn__attention_backward_run; /* attention.c */
qn__gradient qn__attention_gradient, qn__attention_backward_gradient;
qn__call qn__take_run; /* take.c */
qn__call qn__scatter_run;
qn__call qn__scan_run; /* cumulative.c */
qn__call qn__sort_run; /* order.c */
qn__call qn__top_k_run;
qn__call qn__compact_run; /* select.c */
qn__call qn__unique_run;
qn__call qn__histogram_run;
qn__call qn__cholesky_run, qn__solve_run, qn__solve_triangular_run, qn__determinant_run; /* linear.c */
qn__call qn__qr_run, qn__eigen_run, qn__svd_run;

/* Their gradients. */
qn__gradient qn__take_gradient, qn__scatter_gradient, qn__scan_gradient;
qn__gradient qn__cholesky_gradient, qn__solve_gradient, qn__solve_triangular_gradient,
    qn__determinant_gradient; /* linear_gradients.c */
qn__gradient qn__qr_gradient, qn__eigen_gradient, qn__svd_gradient;

#endif
