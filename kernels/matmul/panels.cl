// qn_kernels_matmul by products of panels (qn_panel_product_*, docs/language.md): of bf16 or 8-bit integers, of which 2 or 4 neighbours
// along k are a word. B is packed first, in panels of 32 columns whose rows are words; A stays where it is if its rows are whole
// steps of 16 words, else it is packed in such rows. Then a work-item computes a block of C, 32 rows at a time, by parts of k
// that are in the first cache with these rows; between parts the sums are in memory, where those of 32 x 32 lie together.
// What is packed is filled up with zeros. The last of A's rows, taken as they are, begin so much further up that there are 32.
// By -D: BITS, an element's bits; IN_WORD, elements in a word; PRODUCT, the function; STEP, words of a part; B_SHARED and A_SHARED, one
// matrix for all batches; A_ROWS, A stays; B_COLUMN, the stride along the rows of B where it is known; PLAIN_ROWS, nothing is done to sums, whose rows are
// side by side.
#include "numbers.h"

#define SIDE  32
#define GROUP 16 // words

static ulong groups_of(ulong count, ulong size) { return (count + size - 1) / size; }
static ulong words_of(numbers s) { return groups_of(s.k, IN_WORD * GROUP) * GROUP; }
static ulong parts_of(numbers s) { return groups_of(words_of(s), STEP); }
static ulong part_of(numbers s) { return groups_of(words_of(s), parts_of(s) * GROUP) * GROUP; }

// Where things are in `work`, in words: the panels of a part of B, rows of A, sums.
static size_t panels_at(numbers s, ulong batch, ulong part, ulong panel) {
    return (((B_SHARED ? 0 : batch) * parts_of(s) + part) * groups_of(s.n, SIDE) + panel) * part_of(s) * SIDE;
}
static size_t rows_at(numbers s, ulong batches, ulong batch, ulong row) {
    return panels_at(s, B_SHARED ? 1 : batches, B_SHARED ? parts_of(s) : 0, 0) +
           ((A_SHARED ? 0 : batch) * groups_of(s.m, SIDE) * SIDE + row) * words_of(s);
}
static size_t sums_at(numbers s, ulong batches, ulong batch, ulong group, ulong panel) {
    const ulong groups = groups_of(s.m, SIDE);
    return (A_ROWS ? rows_at(s, batches, 0, 0) : rows_at(s, batches, A_SHARED ? 0 : batches, A_SHARED ? groups * SIDE : 0)) +
           ((batch * groups + group) * groups_of(s.n, SIDE) + panel) * (SIDE * SIDE);
}

// Elements k and behind, of those there are s.k.
static uint word_of(global const BITS *p, ulong k, ulong all, long stride) {
    uint word = 0;
    #pragma unroll
    for (uint i = 0; i < IN_WORD; i++)
        if (k + i < all) word |= (uint)p[i * stride] << (i * 32 / IN_WORD);
    return word;
}

// Whole words, all of which are loaded before any is stored: the C compiler makes vectors of them then.
static void pack_row(global uint *to, global const BITS *b, numbers s) {
    uint words[SIDE];
    #pragma unroll
    for (uint i = 0; i < SIDE; i++) words[i] = word_of(b + i * B_COLUMN, 0, IN_WORD, s.b_k);
    #pragma unroll
    for (uint i = 0; i < SIDE; i++) to[i] = words[i];
}

static void pack_b(global uint *to, global const BITS *b, numbers s, size_t from, ulong column, ulong first, uint words) {
    const uint count = (uint)min(s.n - column, (ulong)SIDE);
    for (size_t w = 0; w < words; w++, to += SIDE) {
        const ulong k = (first + w) * IN_WORD;
        global const BITS *at = b + from + column * s.b_column + k * s.b_k;
        if (count == SIDE && k + IN_WORD <= s.k)
            pack_row(to, at, s);
        else
            for (uint i = 0; i < SIDE; i++) to[i] = i < count ? word_of(at + i * s.b_column, k, s.k, s.b_k) : 0;
    }
}

static void pack_a(global uint *to, global const BITS *a, numbers s, size_t from, ulong row, ulong first, uint words) {
    for (uint i = 0; i < SIDE; i++)
        for (uint w = 0; w < words; w++) {
            const ulong k = (first + w) * IN_WORD;
            to[i * words_of(s) + first + w] =
                row + i < s.m ? word_of(a + from + (row + i) * s.a_row + k * s.a_k, k, s.k, s.a_k) : 0;
        }
}

// Global size: the panels of B, and behind them 32 rows of A; parts of k; batches.
kernel void pack(PARAMETERS) {
    const ulong panels = groups_of(s.n, SIDE), index = get_global_id(0), part = get_global_id(1),
                batch = get_global_id(2), first = part * part_of(s);
    const uint words = (uint)min(words_of(s) - first, part_of(s));
    const places at = places_of(s, batch);
    global uint *to = (global uint *)work;
    if (index < panels) {
        if (!B_SHARED || batch == 0)
            pack_b(to + panels_at(s, batch, part, index), (global const BITS *)b, s, at.b, index * SIDE, first, words);
    } else if (!A_SHARED || batch == 0) {
        const ulong row = (index - panels) * SIDE;
        pack_a(to + rows_at(s, get_global_size(2), batch, row), (global const BITS *)a, s, at.a, row, first, words);
    }
}

// A tile's sums, of which the rows from `row` on are stored.
static void put_tile(global OUT_T *out, global const SUM *sums, numbers s, const epilogue *e, const places *at, size_t from_row,
                     size_t row, size_t column) {
    const size_t rows = min(s.m, from_row + SIDE), columns = min(s.n, column + SIDE);
    for (size_t r = row; r < rows; r++) {
        global const SUM *of_row = sums + (r - from_row) * SIDE;
        size_t c = column;
#if PLAIN_ROWS
        if (columns == column + SIDE) {
            RESULT whole[SIDE];
            #pragma unroll
            for (uint i = 0; i < SIDE; i++) whole[i] = (RESULT)of_row[i];
            #pragma unroll
            for (uint i = 0; i < SIDE; i++) OUT_STORE(out, at->out + r * s.out_row + column + i, TO_OUT(whole[i]));
            continue;
        }
#endif
        for (; c < columns; c++) put(out, of_row[c - column], s, e, at, r, c);
    }
}

// Global size: blocks across, blocks down, batches; a block has so many rows and columns, whole tiles.
kernel void matmul(PARAMETERS, uint block_rows, uint block_columns) {
    const ulong batch = get_global_id(2), batches = get_global_size(2);
    const places at = places_of(s, batch);
    const size_t first_row = get_global_id(1) * block_rows, first_column = get_global_id(0) * block_columns;
    const size_t rows = min(s.m, first_row + block_rows), columns = min(s.n, first_column + block_columns);
    const uint panels = (uint)groups_of(columns - first_column, SIDE);
    const ulong of_part = part_of(s), all = words_of(s);
    const epilogue e = EPILOGUE;
    for (ulong part = 0, first = 0; first < all; part++, first += of_part) {
        const uint words = (uint)min(all - first, of_part);
        global const uint *b_panels = (global const uint *)work + panels_at(s, batch, part, first_column / SIDE);
        for (size_t row = first_row; row < rows; row += SIDE) {
#if A_ROWS
            const size_t from_row = min(row, s.m - SIDE), a_row = s.a_row * (32 / IN_WORD / 8);
            global const uint *a_rows =
                (global const uint *)((global const BITS *)a + at.a + from_row * s.a_row) + first;
#else
            const size_t from_row = row, a_row = words_of(s) * 4;
            global const uint *a_rows = (global const uint *)work + rows_at(s, batches, batch, row) + first;
#endif
            global SUM *sums = work + sums_at(s, batches, batch, row / SIDE, first_column / SIDE);
            PRODUCT(sums, a_rows, b_panels, a_row, of_part * (SIDE * 4), words, panels, part > 0);
            if (first + words < all) continue;
            for (uint i = 0; i < panels; i++)
                put_tile(out, sums + i * (SIDE * SIDE), s, &e, &at, from_row, row, first_column + i * SIDE);
        }
    }
}
