// What the kernels of qn_kernels_attention share that are for GPUs: a work-group of GROUP work-items has a block of SIDE rows and goes through
// blocks of SIDE columns, of which it makes SIDE x SIDE scores; rows are queries and columns keys, or the other way round. Both kinds of
// products are made of pieces of 4 rows and W columns, PIECES of them a work-item's.
// By -D beside those of problem.h: VECTOR, W VALUEs; SIDE, GROUP, DEPTH (elements of rows in local memory at a time); CHUNKS, sizes of
// results / SIDE rounded up.
#include "problem.h"

#define ACROSS (SIDE / W)
#define PIECES (SIDE / 4 * ACROSS / GROUP)
#define PITCH  (SIDE + W)                        // of lines in local memory
#define LANES  (GROUP > SIDE ? GROUP / SIDE : 1) // work-items that have a row of scores together
#define ROWS   (GROUP > SIDE ? 1 : SIDE / GROUP) // rows of scores that a work-item has

#define UNROLL _Pragma("unroll")

// Local memory of a group: scores, and what products take.
typedef struct tiles {
    local VALUE *scores, *a, *b; // SIDE lines; DEPTH each, or b alone of SIDE / 2 lines
} tiles;
#define TILES(name)                                                                                          \
    local VALUE name##_scores[SIDE * PITCH] __attribute__((aligned(64))),                                    \
        name##_a[DEPTH * PITCH] __attribute__((aligned(64))),                                                \
        name##_b[DEPTH * PITCH] __attribute__((aligned(64)));                                                \
    const tiles name = {name##_scores, name##_a, name##_b}

#define EACH_PIECE(i, row, column)                                                                           \
    UNROLL for (uint i = 0, row = lid / ACROSS * 4, column = lid % ACROSS * W; i < PIECES;                   \
                i++, row = (lid + i * GROUP) / ACROSS * 4, column = (lid + i * GROUP) % ACROSS * W)
#define EACH_4(r) _Pragma("unroll") for (uint r = 0; r < 4; r++)

// Rows as lines of their elements number `first` to `first` + DEPTH: line c holds element c of all rows.
static void bring_across(local VALUE *to, const matrix *m, ulong row, uint first, uint lid) {
    for (uint i = lid; i < SIDE * DEPTH; i += GROUP)
        to[i % DEPTH * PITCH + i / DEPTH] = element(m, row + i / DEPTH, first + i % DEPTH);
}

// sums = the products of SIDE rows of a with SIDE rows of b.
static void multiply_rows(VECTOR (*sums)[4], const tiles *t, const matrix *a, ulong a_row, const matrix *b,
                          ulong b_row, uint lid) {
    EACH_PIECE(i, row, column) EACH_4(r) sums[i][r] = 0;
    for (uint first = 0; first < a->columns; first += DEPTH) {
        barrier(CLK_LOCAL_MEM_FENCE);
        bring_across(t->a, a, a_row, first, lid);
        bring_across(t->b, b, b_row, first, lid);
        barrier(CLK_LOCAL_MEM_FENCE);
        EACH_PIECE(i, row, column) {
            for (uint c = 0; c < DEPTH; c++) {
                const VECTOR y = *(local const VECTOR *)(t->b + c * PITCH + column);
                EACH_4(r) sums[i][r] += t->a[c * PITCH + row + r] * y;
            }
        }
    }
}

// sums += weights, SIDE x SIDE in local memory, times SIDE rows of b.
static void multiply_weights(VECTOR (*sums)[PIECES][4], const tiles *t, const matrix *b, ulong b_row,
                             uint lid) {
    UNROLL for (uint chunk = 0; chunk < CHUNKS; chunk++) for (uint line = 0; line < SIDE; line += DEPTH) {
        barrier(CLK_LOCAL_MEM_FENCE);
        for (uint i = lid; i < SIDE * DEPTH; i += GROUP)
            t->b[i / SIDE * PITCH + i % SIDE] = element(b, b_row + line + i / SIDE, chunk * SIDE + i % SIDE);
        barrier(CLK_LOCAL_MEM_FENCE);
        EACH_PIECE(i, row, column) {
            for (uint j = 0; j < DEPTH; j++) {
                const VECTOR y = *(local const VECTOR *)(t->b + j * PITCH + column);
                EACH_4(r) sums[chunk][i][r] += t->scores[(row + r) * PITCH + line + j] * y;
            }
        }
    }
}

static void keep(local VALUE *to, VECTOR (*pieces)[4], uint lid) {
    EACH_PIECE(i, row, column) EACH_4(r) * (local VECTOR *)(to + (row + r) * PITCH + column) = pieces[i][r];
}

// Of the sums of a block, what lies in the array.
static void put(global ELEMENT *to, const view *v, ulong batch, ulong head, ulong first_row, ulong rows,
                uint columns, VECTOR (*sums)[PIECES][4], local const VALUE *scales, uint lid) {
    to += place(v, batch, head);
    UNROLL for (uint chunk = 0; chunk < CHUNKS; chunk++) EACH_PIECE(i, row, column) EACH_4(r) {
        union {
            VECTOR all;
            VALUE each[W];
        } u;
        u.all = sums[chunk][i][r] * (scales ? scales[row + r] : (VALUE)1);
#pragma unroll
        for (uint w = 0; w < W; w++) {
            const uint c = chunk * SIDE + column + w;
            if (first_row + row + r < rows && c < columns)
                STORE(to, (long)(first_row + row + r) * v->row + (long)c * v->column, u.each[w]);
        }
    }
}
