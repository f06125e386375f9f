/* Products of a matrix and a vector written as one would: the sum stands in memory and the pointers may overlap, as far
   as the compiler knows. And a kernel that does nothing worth the time, which shows what stands around each launch. */

kernel void row_product(uint rows, uint columns, global float *a, global float *x, global float *sums) {
    uint row = get_global_id(0);
    if (row >= rows) return;
    sums[row] = 0;
    for (uint column = 0; column < columns; column++) sums[row] += a[row * columns + column] * x[column];
}

kernel void column_product(uint rows, uint columns, global float *a, global float *x, global float *sums) {
    uint column = get_global_id(0);
    if (column >= columns) return;
    sums[column] = 0;
    for (uint row = 0; row < rows; row++) sums[column] += a[row * columns + column] * x[row];
}

kernel void around(global float *out) { out[get_global_id(0)] = 1; }
