/* Rows that processors sort in the lanes of vectors: qn_kernels_sort and qn_kernels_top_k where they are many and no places are asked for. */
#ifndef QN__KERNELS_NETWORK_H
#define QN__KERNELS_NETWORK_H

#include "kernels/op.h"

/* The `wanted` first of each row of `length` keys; both arrays are contiguous. `to` may be `from` where all are wanted. */
typedef struct qn__network_rows {
    qn_array from, to;
    uint64_t rows, length, wanted;
    bool descending;
} qn__network_rows;

typedef struct qn__network {
    qn_kernel *kernel; /* NULL: it is not for these rows, or for this device */
    uint32_t lanes;
} qn__network;

/* Looks at the type of `from`, not at where the arrays are. */
qn_status qn__network_get(qn_kernels *kernels, const qn__network_rows *r, qn__network *n);
qn_status qn__network_launch(qn_stream *stream, const qn__network *n, const qn__network_rows *r);

#endif
