// Matrix fragments of double: CUDA devices have matrix units for them from compute capability 8.0 on.
// needs: f64
// kernel: double_rr
// global: 32
// arg: buf:int:32=-1
// expect: 0
// kernel: double_rc
// global: 32
// arg: buf:int:32=-1
// expect: 0
// kernel: double_cr
// global: 32
// arg: buf:int:32=-1
// expect: 0
// kernel: fractions
// global: 32
// arg: buf:int:32=-1
// expect: 0
// kernel: converted
// global: 32
// arg: buf:int:32=-1
// expect: 0
// kernel: rounded_once
// global: 32
// arg: buf:int:32=-1
// expect: 0
#include "include/matrix.h"

PRODUCT(double_rr, double, double, double, double, 16, 16, 8, ROW_MAJOR, ROW_MAJOR, ROW_MAJOR)
PRODUCT(double_rc, double, double, double, double, 32, 16, 16, ROW_MAJOR, COLUMN_MAJOR, COLUMN_MAJOR)
PRODUCT(double_cr, double, double, double, double, 16, 8, 32, COLUMN_MAJOR, ROW_MAJOR, ROW_MAJOR)

#define GROUP __attribute__((reqd_work_group_size(32, 1, 1)))

/* What no float has: 2^-40 beside 1, exact in double. */
kernel GROUP void fractions(global int *wrong) {
    local double a[256], b[256], c[256];
    int me = (int)get_local_id(0), bad = 0;
    for (int i = me; i < 256; i += 32) {
        a[i] = i / 16 == i % 16 ? 1.0 + ldexp(1.0, -40) : 0.0;
        b[i] = i + ldexp((double)i, -30);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    qn_matrix(double, 16, 16, qn_use_a) x;
    qn_matrix(double, 16, 16, qn_use_b) y;
    qn_matrix(double, 16, 16, qn_use_accumulator) sum;
    qn_matrix_load(&x, a, 16, qn_row_major);
    qn_matrix_load(&y, b, 16, qn_row_major);
    qn_matrix_fill(&sum, 0.5);
    qn_matrix_multiply_add(&sum, &x, &y);
    qn_matrix_store(&sum, c, 16, qn_row_major);
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int i = me; i < 256; i += 32) bad += fabs(c[i] - (b[i] + ldexp(b[i], -40) + 0.5)) > ldexp(1.0, -42);
    wrong[me] = bad;
}

/* Elements where they are said to be, and as other types. */
kernel GROUP void converted(global int *wrong) {
    local double in[256], out[256];
    local float floats[256];
    local half halves[256];
    local int seen[256];
    int me = (int)get_local_id(0), bad = 0;
    for (int i = me; i < 256; i += 32) in[i] = i - 100 + ldexp(1.0, -40);
    for (int i = me; i < 256; i += 32) seen[i] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    qn_matrix(double, 16, 16, qn_use_accumulator) sum;
    qn_matrix(double, 16, 16, qn_use_a) factor;
    qn_matrix_load(&sum, in, 16, qn_row_major);
    qn_matrix_load(&factor, in, 16, qn_row_major);
    for (int i = 0; i < qn_matrix_length(&sum); i++) {
        const int at = qn_matrix_row(&sum, i) * 16 + qn_matrix_column(&sum, i);
        atomic_inc(&seen[at]);
        bad += qn_matrix_get(&sum, i) != in[at];
        qn_matrix_set(&sum, i, qn_matrix_get(&sum, i) + 1);
    }
    for (int i = 0; i < qn_matrix_length(&factor); i++) {
        const int at = qn_matrix_row(&factor, i) * 16 + qn_matrix_column(&factor, i);
        atomic_inc(&seen[at]);
        bad += qn_matrix_get(&factor, i) != in[at];
    }
    qn_matrix_store(&sum, out, 16, qn_row_major);
    qn_matrix(float, 16, 16, qn_use_accumulator) narrow;
    qn_matrix(half, 16, 16, qn_use_accumulator) narrower;
    qn_matrix(float, 16, 16, qn_use_a) other;
    qn_matrix_convert(&narrow, &sum);
    qn_matrix_convert(&narrower, &sum);
    qn_matrix_store(&narrow, floats, 16, qn_row_major);
    qn_matrix_store(&narrower, halves, 16, qn_column_major);
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int i = me; i < 256; i += 32) {
        bad += seen[i] != 2 * (int)get_num_sub_groups() || out[i] != in[i] + 1 || floats[i] != (float)out[i];
        bad += halves[i % 16 * 16 + i / 16] != (half)out[i];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    qn_matrix_convert(&other, &factor);
    qn_matrix_store(&other, floats, 16, qn_row_major);
    barrier(CLK_LOCAL_MEM_FENCE);
    qn_matrix_load(&other, floats, 16, qn_row_major);
    qn_matrix_convert(&factor, &other);
    qn_matrix_store(&factor, out, 16, qn_row_major);
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int i = me; i < 256; i += 32) bad += floats[i] != (float)in[i] || out[i] != (double)(float)in[i];
    wrong[me] = bad;
}

/* What lies a little above the middle of two numbers of bf16 is the upper one. */
kernel GROUP void rounded_once(global int *wrong) {
    local double in[256];
    local qn_bf16 small[256];
    int me = (int)get_local_id(0), bad = 0;
    for (int i = me; i < 256; i += 32) in[i] = 1.0 + ldexp(1.0, -8) + (i % 2 ? ldexp(1.0, -40) : 0);
    barrier(CLK_LOCAL_MEM_FENCE);
    qn_matrix(double, 16, 16, qn_use_accumulator) sum;
    qn_matrix(qn_bf16, 16, 16, qn_use_a) factor;
    qn_matrix_load(&sum, in, 16, qn_row_major);
    qn_matrix_convert(&factor, &sum);
    qn_matrix_store(&factor, small, 16, qn_row_major);
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int i = me; i < 256; i += 32) bad += (float)small[i] != (i % 2 ? 1.0078125f : 1.0f);
    wrong[me] = bad;
}
