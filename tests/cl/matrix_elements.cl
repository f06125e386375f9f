// A work-item's share of a fragment: its elements, where they are in the matrix, and all of them converted.
// kernel: shares
// global: 32
// arg: buf:int:32=-1
// expect: 0
// kernel: converted
// global: 32
// arg: buf:int:32=-1
// expect: 0
#define GROUP __attribute__((reqd_work_group_size(32, 1, 1)))

/* Work-items count what they hold: each element of the matrix once, of the operands as of the accumulator. */
#define COUNT(T, rows, columns, use, seen, wrong)                                                            \
    {                                                                                                        \
        qn_matrix(T, rows, columns, use) m;                                                                  \
        qn_matrix_fill(&m, 1);                                                                               \
        for (int i = 0; i < qn_matrix_length(&m); i++) {                                                     \
            int row = qn_matrix_row(&m, i), column = qn_matrix_column(&m, i);                                \
            qn_matrix_set(&m, i, (T)(row * 3 + column + (int)qn_matrix_get(&m, i)));                         \
            if (leads) atomic_inc(&seen[row * columns + column]);                                            \
        }                                                                                                    \
        barrier(CLK_LOCAL_MEM_FENCE);                                                                        \
        local T out[rows * columns];                                            \
        qn_matrix_store(&m, out, columns, qn_row_major);                                                     \
        barrier(CLK_LOCAL_MEM_FENCE);                                                                        \
        for (int i = me; i < rows * columns; i += 32)                                                        \
            wrong += out[i] != (T)(i / columns * 3 + i % columns + 1);                                       \
    }

kernel GROUP void shares(global int *result) {
    local int seen[256];
    int me = (int)get_local_id(0), wrong = 0, leads = get_sub_group_id() == 0;
    for (int i = me; i < 256; i += 32) seen[i] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    COUNT(half, 16, 16, qn_use_a, seen, wrong)
    COUNT(half, 16, 16, qn_use_b, seen, wrong)
    COUNT(float, 16, 16, qn_use_accumulator, seen, wrong)
    for (int i = me; i < 256; i += 32) wrong += seen[i] != 3;
    result[me] = wrong;
}

typedef qn_matrix(float, 16, 16, qn_use_accumulator) sums;
typedef qn_matrix(half, 16, 16, qn_use_accumulator) halves;
typedef qn_matrix(half, 16, 16, qn_use_a) factors;

/* By value, by pointer, as a result, in an array, chosen: copies are copies. */
sums plus(sums a, const sums *b) {
    for (int i = 0; i < qn_matrix_length(&a); i++) qn_matrix_set(&a, i, qn_matrix_get(&a, i) + qn_matrix_get(b, i));
    return a;
}

kernel GROUP void converted(global int *wrong) {
    local float in[256];
    local half out[256];
    int me = (int)get_local_id(0), bad = 0;
    for (int i = me; i < 256; i += 32) in[i] = (float)(i % 37) + 0.25f;
    barrier(CLK_LOCAL_MEM_FENCE);
    sums all[2], total;
    qn_matrix_fill(&all[0], 1.0f);
    qn_matrix_load(&all[1], in, 16, qn_row_major);
    total = all[0];
    total = plus(total, &all[1]);
    sums chosen = get_num_groups(0) > 100 ? all[0] : total;
    qn_matrix_fill(&total, 0);
    halves narrow;
    factors factor;
    qn_matrix_convert(&narrow, &chosen);
    qn_matrix_store(&narrow, out, 16, qn_row_major);
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int i = me; i < 256; i += 32) bad += (float)out[i] != in[i] + 1;
    barrier(CLK_LOCAL_MEM_FENCE);
    qn_matrix_convert(&factor, &chosen);
    qn_matrix_store(&factor, out, 16, qn_column_major);
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int i = me; i < 256; i += 32) bad += (float)out[i % 16 * 16 + i / 16] != in[i] + 1;
    wrong[me] = bad;
}
