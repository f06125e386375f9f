/* The functions of ops that are calls of kernels.h, for the table in call.c. */
#ifndef QN__TENSOR_CALLS_H
#define QN__TENSOR_CALLS_H

#include "tensor/graph.h"

qn__call qn__matmul_run; /* matmul.c */

#endif
