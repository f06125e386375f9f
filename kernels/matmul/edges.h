// Four neighbours of a row of a matrix, for the rungs that move vectors. What lies beyond the matrix is read as 0, and not
// written. Where rows are whole vectors (`columns` a multiple of 4), each is one access of 16 bytes.
static float4 load4(global const float *matrix, uint rows, uint columns, size_t row, size_t column) {
    global const float *at = matrix + row * columns + column;
    float4 v = 0.0f;
    if (row >= rows || column >= columns) return v;
    if (columns % 4 == 0) return *(global const float4 *)at;
    v.x = at[0];
    if (column + 1 < columns) v.y = at[1];
    if (column + 2 < columns) v.z = at[2];
    if (column + 3 < columns) v.w = at[3];
    return v;
}

static void store4(global float *matrix, uint rows, uint columns, size_t row, size_t column, float4 v) {
    global float *at = matrix + row * columns + column;
    if (row >= rows || column >= columns) return;
    if (columns % 4 == 0) {
        *(global float4 *)at = v;
        return;
    }
    at[0] = v.x;
    if (column + 1 < columns) at[1] = v.y;
    if (column + 2 < columns) at[2] = v.z;
    if (column + 3 < columns) at[3] = v.w;
}
