// y = A*x for a sparse matrix in compressed rows (CSR): row r has the values and columns from starts[r] up to
// starts[r+1]. One row a work-item: good for short rows of similar length.
kernel void spmv_rows(uint rows, global const uint *restrict starts, global const uint *restrict columns,
                      global const float *restrict values, global const float *restrict x,
                      global float *restrict y) {
    size_t row = get_global_id(0);
    if (row >= rows) return;
    float sum = 0.0f;
    for (uint i = starts[row]; i < starts[row + 1]; i++) sum += values[i] * x[columns[i]];
    y[row] = sum;
}

// One row a work-group, for long rows. The local size is a power of two; `partial` has a float for each
// work-item of a group.
kernel void spmv_groups(global const uint *restrict starts, global const uint *restrict columns,
                        global const float *restrict values, global const float *restrict x,
                        global float *restrict y, local float *partial) {
    size_t row = get_group_id(0), lid = get_local_id(0);
    float sum = 0.0f;
    for (size_t i = starts[row] + lid; i < starts[row + 1]; i += get_local_size(0)) sum += values[i] * x[columns[i]];
    partial[lid] = sum;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (size_t half_size = get_local_size(0) / 2; half_size > 0; half_size /= 2) {
        if (lid < half_size) partial[lid] += partial[lid + half_size];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (lid == 0) y[row] = partial[0];
}
