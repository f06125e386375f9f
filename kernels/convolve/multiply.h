// A step of tile.cl and weights.cl: products of what local memory has of both matrices, BK of each.
static void spread(VALUE *to, local const VALUE *from) {
    const VALUE4 v = *(local const VALUE4 *)from;
    to[0] = v.x;
    to[1] = v.y;
    to[2] = v.z;
    to[3] = v.w;
}

// Columns outside, rows inside, up and down in turn: two multiplications after each other share an operand.
static void multiply(VALUE sum[TM][TN], local const VALUE *a_tile, local const VALUE *b_tile, uint y,
                     uint x) {
#pragma unroll
    for (uint i = 0; i < BK; i++) {
        VALUE rows[TM], columns[TN];
#pragma unroll
        for (uint p = 0; p < TM / 4; p++) spread(rows + p * 4, a_tile + i * A_PITCH + y + p * LM * 4);
#pragma unroll
        for (uint q = 0; q < TN / 4; q++) spread(columns + q * 4, b_tile + i * B_PITCH + x + q * LN * 4);
#pragma unroll
        for (uint q = 0; q < TN; q++)
#pragma unroll
            for (uint r = 0; r < TM; r++) {
                const uint p = q % 2 ? TM - 1 - r : r;
                sum[p][q] = fma(rows[p], columns[q], sum[p][q]);
            }
    }
}
