/* The functions of ops that are calls of kernels.h, for the table in call.c. */
#ifndef QN__TENSOR_CALLS_H
#define QN__TENSOR_CALLS_H

#include "tensor/graph.h"

qn__call qn__matmul_run;                                                     /* matmul.c */
qn__call qn__convolve_run, qn__convolve_input_run, qn__convolve_weights_run; /* convolve.c */
qn__gradient qn__convolve_gradient, qn__convolve_input_gradient, qn__convolve_weights_gradient;

#endif
