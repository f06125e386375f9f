/* Rows of quern bench kernels, a call of kernels.h each: how it is called, what it must move, and what its result is. A file has
   those that belong together; bench_kernels.c measures them. */
#ifndef BENCH_KERNELS_H
#define BENCH_KERNELS_H

#include "bench_peer.h"

/* What all rows work on. */
typedef struct bench_operands {
    bench_device *d;
    uint64_t count, side; /* elements, and of the largest square among them */
    uint32_t image[BENCH_IMAGE_NUMBERS];
    float *x, *y; /* the operands' values */
    uint32_t *
        places; /* indices of a table's rows, and columns of a sparse matrix: a quarter as many as elements */
    qn_buffer *from, *other, *to, *indices, *starts;
    qn_buffer *narrow; /* the first operand in bf16 */
} bench_operands;

typedef struct bench_row {
    const char *what;
    qn_status (*run)(const bench_operands *t);
    bool (*is_right)(const bench_operands *t, const void *result); /* of the contents of `to` */
    uint32_t bytes;                                                /* that must be moved for an element */
    bool is_square;                                                /* of elements that are a square matrix */
    /* Where the bytes are not so many for each element: what is done; where it is not bytes, its unit. */
    double (*work)(const bench_operands *t);
    const char *unit;
    qn_status (*prepare)(const bench_operands *t); /* puts into `to` what `run` reads there; NULL: nothing */
} bench_row;

typedef struct bench_row_list {
    const bench_row *rows;
    uint32_t count;
} bench_row_list;

extern const bench_row_list bench_rows_of_maps, bench_rows_of_order, bench_rows_of_sums,
    bench_rows_of_softmax, bench_rows_of_images, bench_rows_of_attention;

/* Row number `index`; NULL: there are no more. */
const bench_row *bench_row_at(uint32_t index);
/* Not where there are too few elements for it. */
bool bench_row_has_work(const bench_operands *operands, const bench_row *row);
/* Runs it once on operands that are as it wants them, and checks the result. Exit status, after a message. */
int bench_row_verify(bench_operands *operands, const bench_row *row);
/* For the device's number of elements. Close them even after a failure. Exit status, after a message. */
int bench_operands_open(bench_device *d, bench_operands *operands);
void bench_operands_close(bench_operands *operands);

/* All elements of a buffer, and the square of them. */
qn_array bench_floats(const bench_operands *t, qn_buffer *buffer);
qn_array bench_square(const bench_operands *t, qn_buffer *buffer);
float bench_number(const void *result, uint64_t i);

/* `indices` are of the rows of the first operand, as a table of rows of so many elements; as columns of a sparse matrix so many are in
   one of its rows, which are as many as the table's. */
enum { BENCH_TABLE_ROW = 128, BENCH_SPARSE_ROW = 32 };
uint64_t bench_table_rows(const bench_operands *t);

#endif
