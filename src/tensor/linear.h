/* What the files of linear algebra share. */
#ifndef QN__TENSOR_LINEAR_H
#define QN__TENSOR_LINEAR_H

#include "tensor/calls.h"

/* Where an op is of matrices: *x becomes what is computed in, *own the type of the results. A failed tensor where it cannot be; NULL: fine. */
qn_tensor *qn__linear_matrices(const char *function, qn_tensor **x, bool square, qn_element *own);
/* The next of the results that lie in one row: from *begin on, of the batch of `like` with `rank` sizes behind that. */
qn_tensor *qn__linear_part(qn_tensor *row, uint64_t *begin, const qn__node *like, uint32_t rank,
                           uint64_t first, uint64_t second);

/* How many elements each of the results has that lie in the row of a call; gives their number. */
uint32_t qn__linear_counts(const qn__node *call, uint64_t *counts);

#endif
