// qn_kernels_matmul on a processor, for matrices that are read many times: both are packed first, A into panels of MR rows and B into
// panels of NR columns, in which what a step along k takes lies together; then a work-item computes a block of C, tile by tile
// of MR by NR sums that stay in vector registers (Goto and van de Geijn, "Anatomy of High-Performance Matrix Multiplication";
// van Zee and van de Geijn, "BLIS"). k goes in parts of at most STEP, so that a panel of B stays in the nearest cache while the block's
// panels of A pass by, which stay in the next one; between parts the block's sums are in private memory. Panels are filled up
// with zeros.
// BYTES: A and B are of 8-bit integers, and a step is of four neighbours along k, as the bytes of a word. Processors multiply signed
// bytes by unsigned ones: if both are of the same kind, A_FLIP turns the upper bits of A's, which so are 128 less or more, and
// the sums of B's columns make up for it: CORRECTION times them is added. DOT is the product that takes them so.
// By -D: MR, VECTORS and LANES, NR being their product; STEP; TILES, how many a block has at most; A_SHARED and B_SHARED, one
// matrix for all batches; B_COLUMN, the stride along the rows of B where it is known; OUT_VECTORS, whole rows of a tile are stored as they are.
#include "numbers.h"

#define NR                 (LANES * VECTORS)
#define JOINED(x, y)       x##y
#define OF_LANES(x, lanes) JOINED(x, lanes)
#define VECTOR             OF_LANES(SUM, LANES)
#define LOAD_VECTOR        OF_LANES(vload, LANES)
#define STORE_VECTOR       OF_LANES(vstore, LANES)

#ifdef BYTES
#define STEP_OF_K 4
#define WORDS     OF_LANES(as_uint, LANES)
#define MULTIPLY_STEP(x, y, sum) ((sum) + DOT(WORDS(x), WORDS(y)))
// Four along k, of which so many are there.
#define WORD_OF(load, p, at, stride, there)                                                                  \
    ((uint)(load(p, at) & 255) | (there > 1 ? (uint)(load(p, at + stride) & 255) << 8 : 0) |                 \
     (there > 2 ? (uint)(load(p, at + 2 * stride) & 255) << 16 : 0) |                                        \
     (there > 3 ? (uint)(load(p, at + 3 * stride) & 255) << 24 : 0))
#define A_STEP(at) (WORD_OF(A_LOAD, a, (at), s.a_k, there) ^ A_FLIP)
#define B_STEP(at) WORD_OF(B_LOAD, b, (at), s.b_k, there)
#else
#define STEP_OF_K                1
#define MULTIPLY_STEP(x, y, sum) MULTIPLY_ADD(x, y, sum)
#define A_STEP(at)               A_LOAD(a, at)
#define B_STEP(at)               B_LOAD(b, at)
#endif

// Where the packed matrices are in `work`.
static ulong steps_of(numbers s) { return (s.k + STEP_OF_K - 1) / STEP_OF_K; }
static size_t panels_of(ulong count, uint size) { return (count + size - 1) / size; }
static size_t packed_a(numbers s, ulong batch) {
    return A_SHARED ? 0 : batch * panels_of(s.m, MR) * MR * steps_of(s);
}
static size_t packed_b(numbers s, ulong batch) {
    const size_t begin = packed_a(s, get_global_size(2)) + (A_SHARED ? panels_of(s.m, MR) * MR * steps_of(s) : 0);
    return (begin + 15) / 16 * 16 + (B_SHARED ? 0 : batch * panels_of(s.n, NR) * NR * steps_of(s));
}

// What a step along k takes of a panel: `count` of its SIZE elements are there, the others become zeros.
#define PACK(to, SIZE, count, element)                                                                       \
    do {                                                                                                     \
        SUM made[SIZE];                                                                                      \
        _Pragma("unroll") for (uint i = 0; i < SIZE; i++) made[i] = i < count ? (SUM)element : 0;            \
        _Pragma("unroll") for (uint i = 0; i < SIZE; i++) to[i] = made[i];                                   \
    } while (0)

// A step along k of a panel of A or B. Global size: steps along k; the panels of A, and behind them those of B; batches.
kernel void pack(PARAMETERS) {
    const size_t step = get_global_id(0), k = step * STEP_OF_K, batch = get_global_id(2), a_panels = panels_of(s.m, MR);
    const places at = places_of(s, batch);
#ifdef BYTES
    const ulong there = s.k - k;
#endif
    if (get_global_id(1) < a_panels) {
        if (A_SHARED && batch > 0) return;
        const size_t row = get_global_id(1) * MR, from = at.a + row * s.a_row + k * s.a_k;
        global SUM *to = work + packed_a(s, batch) + (row * steps_of(s) + step * MR);
        if (row + MR <= s.m)
            PACK(to, MR, MR, A_STEP(from + i * s.a_row));
        else
            PACK(to, MR, s.m - row, A_STEP(from + i * s.a_row));
    } else {
        if (B_SHARED && batch > 0) return;
        const size_t column = (get_global_id(1) - a_panels) * NR, from = at.b + column * s.b_column + k * s.b_k;
        global SUM *to = work + packed_b(s, batch) + (column * steps_of(s) + step * NR);
        if (column + NR <= s.n)
            PACK(to, NR, NR, B_STEP(from + i * B_COLUMN));
        else
            PACK(to, NR, s.n - column, B_STEP(from + i * B_COLUMN));
    }
}

static void multiply_panels(VECTOR sum[MR][VECTORS], global const SUM *a, global const SUM *b, uint steps) {
#ifdef CORRECTION
    VECTOR columns[VECTORS];
    #pragma unroll
    for (uint j = 0; j < VECTORS; j++) columns[j] = 0;
#endif
    for (uint p = 0; p < steps; p++) {
        VECTOR v[VECTORS];
        #pragma unroll
        for (uint j = 0; j < VECTORS; j++) v[j] = LOAD_VECTOR(j, b);
        #pragma unroll
        for (uint i = 0; i < MR; i++)
            #pragma unroll
            for (uint j = 0; j < VECTORS; j++) sum[i][j] = MULTIPLY_STEP((VECTOR)a[i], v[j], sum[i][j]);
#ifdef CORRECTION
        #pragma unroll
        for (uint j = 0; j < VECTORS; j++) columns[j] = MULTIPLY_STEP((VECTOR)0x01010101, v[j], columns[j]);
#endif
        a += MR;
        b += NR;
    }
#ifdef CORRECTION
    #pragma unroll
    for (uint i = 0; i < MR; i++)
        #pragma unroll
        for (uint j = 0; j < VECTORS; j++) sum[i][j] += CORRECTION * columns[j];
#endif
}

static void put_tile(global OUT_T *out, const SUM *tile, numbers s, const epilogue *e, const places *at, size_t row,
                     size_t column) {
    const uint rows = (uint)min(s.m - row, (ulong)MR), columns = (uint)min(s.n - column, (ulong)NR);
    for (uint i = 0; i < rows; i++)
        for (uint j = 0; j < columns; j++) put(out, tile[i * NR + j], s, e, at, row + i, column + j);
}

// Global size: blocks across, blocks down, batches; a block has so many rows and columns, whole tiles.
kernel void matmul(PARAMETERS, uint block_rows, uint block_columns) {
    const places at = places_of(s, get_global_id(2));
    const size_t first_row = get_global_id(1) * block_rows, first_column = get_global_id(0) * block_columns;
    const uint rows = (uint)min(s.m - first_row, (ulong)block_rows);
    const uint columns = (uint)min(s.n - first_column, (ulong)block_columns);
    const ulong all = steps_of(s);
    global const SUM *a_panels = work + packed_a(s, get_global_id(2)) + first_row * all;
    global const SUM *b_panels = work + packed_b(s, get_global_id(2)) + first_column * all;
    const epilogue e = EPILOGUE;
    SUM kept[TILES * MR * NR], tile[MR * NR];
    const ulong parts = (all + STEP - 1) / STEP, of_part = parts ? (all + parts - 1) / parts : 1; // none much shorter
    for (ulong k = 0; k < all; k += of_part) {
        const uint steps = (uint)min(all - k, of_part);
        const bool last = k + steps == all;
        uint index = 0;
        for (uint column = 0; column < columns; column += NR)
            for (uint row = 0; row < rows; row += MR) {
                SUM *keep = kept + index++ * (MR * NR);
                VECTOR sum[MR][VECTORS];
                #pragma unroll
                for (uint i = 0; i < MR; i++)
                    #pragma unroll
                    for (uint j = 0; j < VECTORS; j++) {
                        sum[i][j] = 0;
                        if (k > 0) sum[i][j] = LOAD_VECTOR(i * VECTORS + j, keep);
                    }
                multiply_panels(sum, a_panels + row * all + k * MR, b_panels + column * all + k * NR, steps);
                const size_t out_row = first_row + row, out_column = first_column + column;
#if OUT_VECTORS
                if (last && out_row + MR <= s.m && out_column + NR <= s.n) {
                    global OUT_T *to = out + at.out + out_row * s.out_row + out_column;
                    #pragma unroll
                    for (uint i = 0; i < MR; i++)
                        #pragma unroll
                        for (uint j = 0; j < VECTORS; j++) STORE_VECTOR(sum[i][j], j, to + i * s.out_row);
                    continue;
                }
#endif
                SUM *to = last ? tile : keep;
                #pragma unroll
                for (uint i = 0; i < MR; i++)
                    #pragma unroll
                    for (uint j = 0; j < VECTORS; j++) STORE_VECTOR(sum[i][j], i * VECTORS + j, to);
                if (last) put_tile(out, tile, s, &e, &at, out_row, out_column);
            }
    }
}
