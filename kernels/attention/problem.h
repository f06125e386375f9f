// What all kernels of qn_kernels_attention share: the operands.
// By -D: ELEMENT, the arrays' type, with LOAD and STORE of element.h and VALUE, which is computed in; where there is a mask, HAS_MASK, MASK_TYPE,
// MASK_LOAD and MASK_IS_BOOL.
#include "../element.h"

// An array's strides over batches, heads, the length and a head's elements, and where it begins.
typedef struct view {
    ulong begin;
    long batch, head, row, column;
} view;

typedef struct problem {
    view q, k, v, out, logs, mask, gradient, to_q, to_k, to_v;
    ulong queries, keys, blocks; // blocks of rows
    uint heads, shared;          // heads of queries, and how many of them have one head of keys
    uint size, value_size;       // elements of a head of q and k, and of v
    uint causal, is_logged;
    VALUE scale;
} problem;

// The rows of an array that one head has.
typedef struct matrix {
    global const ELEMENT *at;
    long row, column;
    ulong rows;
    uint columns;
} matrix;

static size_t place(const view *v, ulong batch, ulong head) {
    return v->begin + (long)batch * v->batch + (long)head * v->head;
}

static matrix matrix_of(global const ELEMENT *at, const view *v, ulong batch, ulong head, ulong rows,
                        uint columns) {
    const matrix m = {at + place(v, batch, head), v->row, v->column, rows, columns};
    return m;
}

static VALUE element(const matrix *m, ulong row, uint column) {
    return row < m->rows && column < m->columns
               ? (VALUE)LOAD(m->at, (long)row * m->row + (long)column * m->column)
               : (VALUE)0;
}

// Keys that a query sees: those in front of a place.
static ulong seen_by(const problem *p, ulong query) {
    if (!p->causal) return p->keys;
    const long seen = (long)query + 1 + (long)p->keys - (long)p->queries;
    return seen < 0 ? 0 : min((ulong)seen, p->keys);
}

#ifdef HAS_MASK
#define MASK_PARAMETER , global const MASK_TYPE *mask
// The score with the mask.
static VALUE masked(VALUE score, const problem *p, global const MASK_TYPE *mask, ulong batch, ulong head,
                    ulong query, ulong key) {
    const size_t at = place(&p->mask, batch, head) + (long)query * p->mask.row + (long)key * p->mask.column;
#if MASK_IS_BOOL
    return MASK_LOAD(mask, at) ? score : -INFINITY;
#else
    return score + (VALUE)MASK_LOAD(mask, at);
#endif
}
#define MASKED(score, batch, head, query, key) masked(score, p, mask, batch, head, query, key)
#else
#define MASK_PARAMETER
#define MASKED(score, batch, head, query, key) (score)
#endif
