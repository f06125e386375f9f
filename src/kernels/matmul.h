/* What the files of qn_matmul share: what a call asks for, and what is decided for it. */
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

enum { QN__MATMUL_WORDS = 22 + 7 * (QN_MAX_RANK - 2) };

/* What kernels/matmul/numbers.h calls numbers, `finish` the kernel that adds the parts of k. */
typedef struct qn__matmul_plan {
    qn_kernel *kernel, *finish;
    qn_range range, finish_range;
    uint64_t work; /* bytes between the two */
    uint64_t part, splits;
    uint32_t num_words;
    uint64_t words[QN__MATMUL_WORDS];
} qn__matmul_plan;

/* Where words of the block are that the call sets. */
enum { QN__MATMUL_BEGINS = 0, QN__MATMUL_PART = 9 };

extern const qn__op qn__matmul_op; /* a request is a qn__matmul */
const char *qn__matmul_variant_name(uint32_t index);

#endif
