// Rung 10: matrix units.
// What it adds: sub-groups multiply fragments of matrices (qn_matrix), for which GPUs have units that do at once what takes each
// work-item hundreds of multiplications. The price is precision: A and B are of bf16, floats cut to 16 bits. Sums stay 32-bit
// floats.
// - A quarter of the tile, 64 by 64, is a sub-group's: 4 by 4 fragments of 16 by 16. A step along k of 16 takes 4 fragments of A
//   and 4 of B from local memory for 16 products of fragments.
// - Global memory is read in pieces of 16 bytes, 8 elements. A line in local memory is a piece longer than it need be, so that
//   lines below each other are in different banks.
// - Which work-item holds which element of a fragment is the device's own business. So sums go through local memory, a fragment
//   at a time, and from there to where C is.
// What stays as in rung 9: the next tiles are on their way in registers, bands of C, no questions about edges inside of the
// matrices. Local memory has room for one tile of each operand on every device, so a step has two barriers. Where there are no matrix units, the same text is plain arithmetic: right, and slow.
// A group of 128 computes 128 by 128. Global size: 128 times the number of such tiles, in one dimension.
#define ITEMS   128
#define SIDE    128
#define STEP    32
#define QUARTER 64
#define UNIT    16              // rows, columns and k of fragments
#define COUNT   (QUARTER / UNIT) // of them along a side of a quarter
#define PIECE   8               // elements of 16 bytes
#define PARTS   (SIDE * STEP / PIECE / ITEMS)
#define PITCH_A (STEP / PIECE + 1) // of a line in local memory: pieces
#define PITCH_B (SIDE / PIECE + 1)
#define PITCH_C (UNIT + 4)         // floats
#define BAND    8                  // tiles

typedef qn_matrix(qn_bf16, UNIT, UNIT, qn_use_a) fragment_a;
typedef qn_matrix(qn_bf16, UNIT, UNIT, qn_use_b) fragment_b;
typedef qn_matrix(float, UNIT, UNIT, qn_use_accumulator) fragment_c;
typedef local uint4 (*tile_a)[PITCH_A];
typedef local uint4 (*tile_b)[PITCH_B];

// A work-item's pieces of the next tiles, inside of the matrices.
typedef struct part {
    uint4 a[PARTS], b[PARTS];
} part;

// Where piece `i` is in tiles: line and piece of the line.
#define LINE_A(i) ((i) / (STEP / PIECE))
#define FROM_A(i) ((i) % (STEP / PIECE))
#define LINE_B(i) ((i) / (SIDE / PIECE))
#define FROM_B(i) ((i) % (SIDE / PIECE))

static part fetch(uint n, uint k, global const ushort *a, global const ushort *b) {
    part t;
    #pragma unroll
    for (uint p = 0; p < PARTS; p++) {
        const uint i = get_local_id(0) + p * ITEMS;
        t.a[p] = *(global const uint4 *)(a + (size_t)LINE_A(i) * k + FROM_A(i) * PIECE);
        t.b[p] = *(global const uint4 *)(b + (size_t)LINE_B(i) * n + FROM_B(i) * PIECE);
    }
    return t;
}

static void keep(part t, tile_a a_tile, tile_b b_tile) {
    #pragma unroll
    for (uint p = 0; p < PARTS; p++) {
        const uint i = get_local_id(0) + p * ITEMS;
        a_tile[LINE_A(i)][FROM_A(i)] = t.a[p];
        b_tile[LINE_B(i)][FROM_B(i)] = t.b[p];
    }
}

// 8 neighbours at the edges: what lies beyond the matrix is 0.
static uint4 load8(global const ushort *matrix, uint rows, uint columns, size_t row, size_t column) {
    ushort8 v = 0;
    for (uint i = 0; i < PIECE; i++) {
        const ushort next = row < rows && column + i < columns ? matrix[row * columns + column + i] : 0;
        v = (ushort8)(v.s1234, v.s567, next);
    }
    return as_uint4(v);
}

static void keep_checked(uint m, uint n, uint k, global const ushort *a, global const ushort *b, size_t row, size_t column,
                         uint step, tile_a a_tile, tile_b b_tile) {
    #pragma unroll 1
    for (uint i = get_local_id(0); i < PARTS * ITEMS; i += ITEMS) {
        a_tile[LINE_A(i)][FROM_A(i)] = load8(a, m, k, row + LINE_A(i), step + FROM_A(i) * PIECE);
        b_tile[LINE_B(i)][FROM_B(i)] = load8(b, k, n, step + LINE_B(i), column + FROM_B(i) * PIECE);
    }
}

static void multiply(fragment_c (*sum)[COUNT], tile_a a_tile, tile_b b_tile, uint y, uint x) {
    #pragma unroll
    for (uint i = 0; i < STEP; i += UNIT) {
        fragment_a rows[COUNT];
        fragment_b columns[COUNT];
        #pragma unroll
        for (uint p = 0; p < COUNT; p++) {
            qn_matrix_load(&rows[p], (local qn_bf16 *)&a_tile[y + p * UNIT][i / PIECE], PITCH_A * PIECE, qn_row_major);
            qn_matrix_load(&columns[p], (local qn_bf16 *)&b_tile[i][(x + p * UNIT) / PIECE], PITCH_B * PIECE, qn_row_major);
        }
        #pragma unroll
        for (uint p = 0; p < COUNT; p++)
            #pragma unroll
            for (uint q = 0; q < COUNT; q++) qn_matrix_multiply_add(&sum[p][q], &rows[p], &columns[q]);
    }
}

static void store(uint m, uint n, fragment_c (*sum)[COUNT], local float *strip, global float *c, size_t row, size_t column) {
    #pragma unroll
    for (uint p = 0; p < COUNT; p++)
        #pragma unroll
        for (uint q = 0; q < COUNT; q++) {
            qn_matrix_store(&sum[p][q], strip, PITCH_C, qn_row_major);
            barrier(CLK_LOCAL_MEM_FENCE);
            for (uint i = get_sub_group_local_id(); i < UNIT * UNIT; i += get_sub_group_size()) {
                const size_t r = row + p * UNIT + i / UNIT, s = column + q * UNIT + i % UNIT;
                if (r < m && s < n) c[r * n + s] = strip[i / UNIT * PITCH_C + i % UNIT];
            }
            barrier(CLK_LOCAL_MEM_FENCE);
        }
}

kernel __attribute__((reqd_work_group_size(ITEMS, 1, 1))) void
matmul(uint m, uint n, uint k, global const qn_bf16 *restrict a, global const qn_bf16 *restrict b, global float *restrict c) {
    local uint4 a_tile[SIDE][PITCH_A], b_tile[STEP][PITCH_B];
    local float strips[4][UNIT * PITCH_C];
    global const ushort *a_bits = (global const ushort *)a, *b_bits = (global const ushort *)b;
    const uint across = (n + SIDE - 1) / SIDE, down = (m + SIDE - 1) / SIDE, group = get_group_id(0);
    const uint band = group / (BAND * across), in_band = group % (BAND * across), high = min(down - band * BAND, (uint)BAND);
    const size_t row = (size_t)(band * BAND + in_band % high) * SIDE, column = (size_t)(in_band / high) * SIDE;
    const bool inside = row + SIDE <= m && column + SIDE <= n && k > 0 && k % STEP == 0 && n % PIECE == 0;
    // Four sub-groups of 32 have a quarter each. Fewer take one after another; of more, some do what others do, too.
    for (uint pass = 0; pass < 4; pass += get_num_sub_groups()) {
        const uint quarter = (pass + get_sub_group_id()) % 4, y = quarter / 2 * QUARTER, x = quarter % 2 * QUARTER;
        fragment_c sum[COUNT][COUNT];
        #pragma unroll
        for (uint p = 0; p < COUNT; p++)
            #pragma unroll
            for (uint q = 0; q < COUNT; q++) qn_matrix_fill(&sum[p][q], 0);
        if (inside) {
            global const ushort *from_a = a_bits + row * k, *from_b = b_bits + column;
            part next = fetch(n, k, from_a, from_b);
            for (uint step = STEP; step < k; step += STEP) {
                keep(next, a_tile, b_tile);
                barrier(CLK_LOCAL_MEM_FENCE);
                next = fetch(n, k, from_a += STEP, from_b += (size_t)STEP * n);
                multiply(sum, a_tile, b_tile, y, x);
                barrier(CLK_LOCAL_MEM_FENCE);
            }
            keep(next, a_tile, b_tile);
            barrier(CLK_LOCAL_MEM_FENCE);
            multiply(sum, a_tile, b_tile, y, x);
        } else {
            for (uint step = 0; step < k; step += STEP) {
                keep_checked(m, n, k, a_bits, b_bits, row, column, step, a_tile, b_tile);
                barrier(CLK_LOCAL_MEM_FENCE);
                multiply(sum, a_tile, b_tile, y, x);
                barrier(CLK_LOCAL_MEM_FENCE);
            }
        }
        store(m, n, sum, strips[quarter], c, row + y, column + x);
    }
}
