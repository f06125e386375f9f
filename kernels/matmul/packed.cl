// qn_kernels_matmul on a processor, for matrices that are read many times: a work-item computes a block of C, tile by tile of MR by NR
// sums that stay in vector registers (Goto and van de Geijn, "Anatomy of High-Performance Matrix Multiplication"; van Zee and
// van de Geijn, "BLIS"). What a step along k takes of B are VECTORS vectors side by side; of A it takes single elements, for which
// rows are as good as anything else. So A stays where it is, or MR of its rows are brought to private memory where they have other
// strides or another type. B is packed in panels of NR columns, in which the steps along k follow each other, unless its few rows
// are as good. k goes in parts of at most STEP: the block's part of B stays in the second cache while rows of A, which stay in
// the first one, pass by. Between parts the block's sums are in private memory.
// A tile at the end of A's rows begins so much further up that it is whole, and one at the end of B's columns so much further left that
// its vectors are; panels of fewer columns than a vector has are filled up with zeros. What two tiles of a block have both is stored by
// both of them; of what is another block's nothing is stored.
// BYTES: A and B are of 8-bit integers, and a step is of four neighbours along k, as the bytes of a word. Processors multiply signed
// bytes by unsigned ones: if both are of the same kind, A_FLIP turns the upper bits of A's, which so are 128 less or more, and
// the sums of B's columns make up for it: CORRECTION times them is added. DOT is the product that takes them so.
// By -D: MR, VECTORS and LANES, NR being their product; STEP; KEPT, the sums that a block has at most, and PANELS, its columns of tiles;
// B_FROM, WORK packed by another launch, PRIVATE by each block for itself, ROWS not packed; B_SHARED, one matrix for all
// batches; B_COLUMN, the stride along the rows of B where it is known, and B_VECTORS, they are loaded by vectors; A_ROWS, A is
// taken as it is; A_K, the stride along k where it is known, and A_ALONG_K, it is 1; OUT_VECTORS, whole rows of a tile are stored as they are;
// PLAIN_ROWS, they are converted at most.
#include "numbers.h"

#define WORK               0
#define PRIVATE            1
#define ROWS               2
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
#define A_STEP(at, there) (WORD_OF(A_LOAD, a, (at), s.a_k, there) ^ A_FLIP)
#define B_STEP(at, there) WORD_OF(B_LOAD, b, (at), s.b_k, there)
#else
#define STEP_OF_K                1
#define MULTIPLY_STEP(x, y, sum) MULTIPLY_ADD(x, y, sum)
#define A_STEP(at, there)        A_LOAD(a, at)
#define B_STEP(at, there)        B_LOAD(b, at)
#endif

// Neighbours are loaded before any of them is stored, which lets the C compiler make vectors of them.
#define RUN 16
#define MOVE_RUN(to, element)                                                                                \
    do {                                                                                                     \
        SUM made[RUN];                                                                                       \
        _Pragma("unroll") for (uint r = 0; r < RUN; r++) made[r] = (SUM)(element);                           \
        _Pragma("unroll") for (uint r = 0; r < RUN; r++) (to)[r] = made[r];                                  \
    } while (0)

#if A_ROWS
#define A_SPACE global
#else
#define A_SPACE private
#endif
#if B_FROM == PRIVATE
#define B_SPACE private
#else
#define B_SPACE global
#endif
#ifdef CORRECTION
#define PANEL_STEP(steps) ((steps) + 1) // behind a panel are the sums of its columns
#else
#define PANEL_STEP(steps) (steps)
#endif

static ulong steps_of(numbers s) { return (s.k + STEP_OF_K - 1) / STEP_OF_K; }
// None of the parts is much shorter than the others.
static ulong parts_of(numbers s) { return (steps_of(s) + STEP - 1) / STEP; }
static ulong part_of(numbers s) { return (steps_of(s) + parts_of(s) - 1) / parts_of(s); }

// The vectors that a tile at a column needs.
static uint vectors_at(numbers s, size_t column) { return (uint)min((s.n - column + LANES - 1) / LANES, (ulong)VECTORS); }
// Where they begin.
static size_t begin_at(numbers s, size_t column) {
    const uint used = vectors_at(s, column) * LANES;
    return s.n < used ? column : min(column, s.n - used);
}

// Where the panel of a column is in `work`.
static size_t packed(numbers s, ulong batch, ulong part, size_t column) {
    const size_t columns = (s.n + NR - 1) / NR * NR;
    return (((B_SHARED ? 0 : batch) * parts_of(s) + part) * columns + column) * PANEL_STEP(part_of(s));
}

// `steps` along k from `first` on, of the panels from a column on. Where those along k are the nearest of B's elements they are
// taken a line at a time.
static void pack_panel(B_SPACE SUM *to, global const B_T *b, numbers s, size_t from, size_t column, ulong first,
                       uint steps) {
    column = begin_at(s, column);
    const uint count = (uint)min(s.n - column, (ulong)vectors_at(s, column) * LANES);
    const ulong there = s.k - first * STEP_OF_K;
    from += column * s.b_column + first * STEP_OF_K * s.b_k;
#if B_ALONG_K
    for (uint line = 0; line < steps; line += RUN)
        for (uint i = 0; i < NR; i++) {
            const size_t column_from = from + i * s.b_column + line * STEP_OF_K * s.b_k;
            const bool whole = i < count && line + RUN <= steps && (line + RUN) * STEP_OF_K <= there;
            if (whole) {
                SUM made[RUN];
                #pragma unroll
                for (uint r = 0; r < RUN; r++) made[r] = (SUM)B_STEP(column_from + r * STEP_OF_K * s.b_k, STEP_OF_K);
                #pragma unroll
                for (uint r = 0; r < RUN; r++) to[(line + r) * NR + i] = made[r];
                continue;
            }
            for (uint p = line; p < min(line + RUN, steps); p++)
                to[p * NR + i] =
                    i < count ? (SUM)B_STEP(from + i * s.b_column + p * STEP_OF_K * s.b_k, there - p * STEP_OF_K) : 0;
        }
#else
    const uint used = (count + LANES - 1) / LANES * LANES; // what lies beyond is not multiplied
    for (size_t p = 0; p < steps; p++) {
        size_t i = 0;
        if (count == NR && (p + 1) * STEP_OF_K <= there) {
            for (; i + RUN <= NR; i += RUN)
                MOVE_RUN(to + p * NR + i, B_STEP(from + (i + r) * B_COLUMN + p * STEP_OF_K * s.b_k, STEP_OF_K));
            for (; i < NR; i++) to[p * NR + i] = (SUM)B_STEP(from + i * B_COLUMN + p * STEP_OF_K * s.b_k, STEP_OF_K);
            continue;
        }
#if B_VECTORS
        for (; i + LANES <= count; i += LANES) STORE_VECTOR(LOAD_VECTOR(0, b + from + p * s.b_k + i), 0, to + p * NR + i);
#endif
        for (; i < count; i++)
            to[p * NR + i] = (SUM)B_STEP(from + i * B_COLUMN + p * STEP_OF_K * s.b_k, there - p * STEP_OF_K);
        for (; i < used; i++) to[p * NR + i] = 0;
    }
#endif
#ifdef CORRECTION
    #pragma unroll
    for (uint j = 0; j < VECTORS; j++) {
        VECTOR sum = 0;
        for (uint p = 0; p < steps && j * LANES < count; p++)
            sum = MULTIPLY_STEP((VECTOR)0x01010101, LOAD_VECTOR(j, to + p * NR), sum);
        STORE_VECTOR(CORRECTION * sum, j, to + steps * NR);
    }
#endif
}

// The panels of `columns` columns, `size` elements each: whole ones along the rows of B, which are read once.
static void pack_panels(B_SPACE SUM *to, size_t size, global const B_T *b, numbers s, size_t from, size_t column,
                        uint columns, ulong first, uint steps) {
    uint done = 0;
#if B_VECTORS
    const uint whole = columns / NR;
    for (uint p = 0; p < steps; p++) {
        global const SUM *row = b + from + column + (first + p) * s.b_k;
        B_SPACE SUM *at = to + p * NR;
        for (uint i = 0; i < whole; i++) {
            #pragma unroll
            for (uint j = 0; j < VECTORS; j++) STORE_VECTOR(LOAD_VECTOR(j, row), j, at);
            row += NR;
            at += size;
        }
    }
    done = whole * NR;
#endif
    for (; done < columns; done += NR) pack_panel(to + done / NR * size, b, s, from, column + done, first, steps);
}

#if B_FROM == WORK
// Global size: the panels of B; parts of k; batches.
kernel void pack(PARAMETERS) {
    const size_t column = get_global_id(0) * NR;
    const ulong part = get_global_id(1), batch = get_global_id(2), first = part * part_of(s);
    if (B_SHARED && batch > 0) return;
    pack_panels(work + packed(s, batch, part, column), PANEL_STEP(part_of(s)) * NR, b, s, places_of(s, batch).b, column,
                (uint)min(s.n - column, (ulong)NR), first, (uint)min(steps_of(s) - first, part_of(s)));
}
#endif

#if !A_ROWS
// MR rows, `steps` along k from `first` on.
static void bring_rows(SUM *to, global const A_T *a, numbers s, size_t from, size_t row, ulong first, uint steps) {
    const uint count = (uint)min(s.m - row, (ulong)MR);
    from += row * s.a_row + first * STEP_OF_K * s.a_k;
#ifdef BYTES
    const ulong there = s.k - first * STEP_OF_K;
#endif
    for (uint i = 0; i < count; i++) {
        const size_t row_from = from + i * s.a_row;
        SUM *row = to + i * STEP;
        size_t p = 0;
#ifndef BYTES
        for (; p + RUN <= steps; p += RUN)
            MOVE_RUN(row + p, A_LOAD(a, row_from + (p + r) * A_K));
#elif A_ALONG_K
        for (; p + RUN <= steps && (p + RUN) * STEP_OF_K <= there; p += RUN)
            MOVE_RUN(row + p, as_uint(vload4(p + r, (global const uchar *)a + row_from)) ^ A_FLIP);
#endif
        for (; p < steps; p++)
            row[p] = (SUM)A_STEP(row_from + p * STEP_OF_K * A_K, there - p * STEP_OF_K);
    }
    for (uint i = count; i < MR; i++)
        for (uint p = 0; p < steps; p++) to[i * STEP + p] = 0;
}
#endif

// Where a tile's operands and sums lie. `columns` of it are C's.
typedef struct tile {
    A_SPACE const SUM *a;
    B_SPACE const SUM *b;
    SUM *kept;
    size_t a_row, b_step;
    uint steps;
    bool first, stored; // the first part of k; `kept` takes the sums, for `out` does not as they are
} tile;

// Of `vectors` vectors side by side. What they come to is stored to `to`, rows `row` elements apart, unless it is kept.
static void multiply(const tile *t, const uint vectors, global OUT_T *to, size_t row) {
    VECTOR sum[MR][VECTORS];
    #pragma unroll
    for (uint i = 0; i < MR; i++)
        #pragma unroll
        for (uint j = 0; j < vectors; j++) {
            sum[i][j] = 0;
            if (!t->first) sum[i][j] = LOAD_VECTOR(i * VECTORS + j, t->kept);
#ifdef CORRECTION
            sum[i][j] += LOAD_VECTOR(j, t->b + t->steps * NR);
#endif
        }
    A_SPACE const SUM *rows[(MR + 2) / 3]; // of every third one: with the stride, and twice the stride, no more registers
    #pragma unroll
    for (uint i = 0; i < MR; i += 3) rows[i / 3] = t->a + i * t->a_row;
    B_SPACE const SUM *b = t->b;
    for (uint p = 0; p < t->steps; p++) {
        VECTOR v[VECTORS];
        #pragma unroll
        for (uint j = 0; j < vectors; j++) v[j] = LOAD_VECTOR(j, b);
        #pragma unroll
        for (uint i = 0; i < MR; i++)
            #pragma unroll
            for (uint j = 0; j < vectors; j++) sum[i][j] = MULTIPLY_STEP((VECTOR)rows[i / 3][i % 3 * t->a_row], v[j], sum[i][j]);
        #pragma unroll
        for (uint i = 0; i < MR; i += 3) rows[i / 3]++;
        b += t->b_step;
    }
#if OUT_VECTORS
    if (t->stored) {
        #pragma unroll
        for (uint i = 0; i < MR; i++)
            #pragma unroll
            for (uint j = 0; j < vectors; j++) STORE_VECTOR(sum[i][j], j, to + i * row);
        return;
    }
#endif
    #pragma unroll
    for (uint i = 0; i < MR; i++)
        #pragma unroll
        for (uint j = 0; j < vectors; j++) STORE_VECTOR(sum[i][j], i * VECTORS + j, t->kept);
}

// Vectors beyond C's columns are left out.
static void multiply_columns(const tile *t, uint columns, global OUT_T *to, size_t row) {
    switch ((columns + LANES - 1) / LANES) {
#if VECTORS > 3
    case 3: multiply(t, 3, to, row); break;
#endif
#if VECTORS > 2
    case 2: multiply(t, 2, to, row); break;
#endif
    case 1: multiply(t, 1, to, row); break;
    default: multiply(t, VECTORS, to, row);
    }
}

// A tile, of which what is above `row` and left of `column` is other tiles'.
static void put_tile(global OUT_T *out, const SUM *sums, numbers s, const epilogue *e, const places *at, size_t from_row,
                     size_t from_column, size_t row, size_t column) {
    const size_t rows = min(s.m, from_row + MR), columns = min(s.n, from_column + NR);
    for (size_t r = row; r < rows; r++) {
        const SUM *of_row = sums + (r - from_row) * NR;
#if PLAIN_ROWS
        if (columns == column + NR) {
            RESULT whole[NR];
            #pragma unroll
            for (uint c = 0; c < NR; c++) whole[c] = (RESULT)of_row[c];
            #pragma unroll
            for (uint c = 0; c < NR; c++)
                OUT_STORE(out, at->out + r * s.out_row + column + c, TO_OUT(whole[c]));
            continue;
        }
#endif
        for (size_t c = column; c < columns; c++) put(out, of_row[c - from_column], s, e, at, r, c);
    }
}

// Global size: blocks across, blocks down, batches; a block has so many rows and columns, whole tiles.
kernel void matmul(PARAMETERS, uint block_rows, uint block_columns) {
    const places at = places_of(s, get_global_id(2));
    const size_t first_row = get_global_id(1) * block_rows, first_column = get_global_id(0) * block_columns;
    const uint rows = (uint)min(s.m - first_row, (ulong)block_rows);
    const uint columns = (uint)min(s.n - first_column, (ulong)block_columns);
    const ulong all = steps_of(s), of_part = part_of(s);
    const uint of_tile = of_part < all ? MR * NR : 0; // in a single part a tile is done when the next one begins
    const epilogue e = EPILOGUE;
    SUM kept[KEPT];
#if B_FROM == PRIVATE
    SUM panels[PANELS * NR * PANEL_STEP(STEP)];
#endif
#if !A_ROWS
    SUM brought[MR * STEP];
#endif
    for (ulong part = 0, k = 0; k < all; part++, k += of_part) {
        const uint steps = (uint)min(all - k, of_part);
        const bool last = k + steps == all;
#if B_FROM == PRIVATE
        pack_panels(panels, PANEL_STEP(of_part) * NR, b, s, at.b, first_column, columns, k, steps);
#elif B_FROM == WORK
        global const SUM *panels = work + packed(s, get_global_id(2), part, first_column);
#endif
        SUM *keep = kept;
        for (uint row = 0; row < rows; row += MR) {
            const size_t out_row = first_row + row, from_row = s.m < MR ? 0 : min(out_row, s.m - MR);
#if A_ROWS
            global const SUM *a_rows = a + at.a + from_row * s.a_row + k;
            const size_t a_row = s.a_row;
#else
            const SUM *a_rows = brought;
            const size_t a_row = STEP;
            bring_rows(brought, a, s, at.a, from_row, k, steps);
#endif
            for (uint column = 0; column < columns; column += NR, keep += of_tile) {
                const size_t out_column = first_column + column;
                const size_t from_column = begin_at(s, out_column);
#if B_FROM == ROWS
                const size_t b_step = s.b_k;
                global const SUM *panel = b + at.b + from_column + k * s.b_k;
#else
                const size_t b_step = NR;
                B_SPACE const SUM *panel = panels + column * PANEL_STEP(of_part);
#endif
                const uint there = (uint)min(s.n - from_column, (ulong)vectors_at(s, out_column) * LANES);
                const bool stored = OUT_VECTORS && last && from_row >= first_row && from_column >= first_column &&
                                    from_row + MR <= s.m && there % LANES == 0;
                const tile t = {a_rows, panel, keep, a_row, b_step, steps, k == 0, stored};
                multiply_columns(&t, there, out + at.out + from_row * s.out_row + from_column, s.out_row);
                if (last && !stored) put_tile(out, keep, s, &e, &at, from_row, from_column, out_row, out_column);
            }
        }
    }
}
