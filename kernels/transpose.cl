// Transpose of a row-major matrix of `height` rows and `width` columns, both multiples of 16. A group moves a
// 16 by 16 tile through local memory, so that reads and writes both run along rows; the odd row length keeps
// the columns of the tile in different memory banks. Global size: width, height; local size: 16, 16.
kernel __attribute__((reqd_work_group_size(16, 16, 1))) void transpose(uint width, uint height,
                                                                      global const float *restrict in,
                                                                      global float *restrict out) {
    local float tile[16][17];
    size_t x = get_local_id(0), y = get_local_id(1);
    size_t left = get_group_id(0) * 16, top = get_group_id(1) * 16;
    tile[y][x] = in[(top + y) * width + left + x];
    barrier(CLK_LOCAL_MEM_FENCE);
    out[(left + y) * height + top + x] = tile[x][y];
}
