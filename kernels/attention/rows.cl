// qn_kernels_attention and its gradients on processors, and wherever nothing else is: a work-item has a row, of a query or of a key, and goes
// through those of the other side, one after the other. Neighbours have neighbouring rows and so read the same of the other side.
// By -D: what problem.h says, MOST, elements of a head at most, and one of FORWARD, DOTS, FOR_QUERIES and FOR_KEYS: which kernel.
#include "problem.h"

#ifdef HAS_MASK
#define SCORE(score) masked(score, p, mask, batch, head, query, key)
#else
#define SCORE(score) (score)
#endif

static VALUE product(const VALUE *x, const matrix *m, ulong row) {
    VALUE sum = 0;
    for (uint c = 0; c < m->columns; c++) sum = fma(x[c], (VALUE)LOAD(m->at, (long)row * m->row + (long)c * m->column), sum);
    return sum;
}

static void add(VALUE *to, VALUE factor, const matrix *m, ulong row) {
    for (uint c = 0; c < m->columns; c++) to[c] = fma(factor, (VALUE)LOAD(m->at, (long)row * m->row + (long)c * m->column), to[c]);
}

static void bring(VALUE *to, const matrix *m, ulong row, VALUE factor) {
    for (uint c = 0; c < m->columns; c++) to[c] = factor * (VALUE)LOAD(m->at, (long)row * m->row + (long)c * m->column);
}

static void put(global ELEMENT *to, const view *v, ulong batch, ulong head, ulong row, uint columns, const VALUE *values, VALUE factor) {
    to += place(v, batch, head);
    for (uint c = 0; c < columns; c++) STORE(to, (long)row * v->row + (long)c * v->column, values[c] * factor);
}

#define ROW_OF(rows, num_heads)                                                                                      \
    const problem *p = &problem_of_call;                                                                             \
    const ulong row = get_global_id(0) % (rows), which = get_global_id(0) / (rows), row_head = which % (num_heads),    \
                batch = which / (num_heads)

#ifdef FORWARD
// The sums so far are scaled down whenever the largest score grows (Milakov and Gimelshein 2018).
kernel void attention(problem problem_of_call, global const ELEMENT *q, global const ELEMENT *k, global const ELEMENT *v, global ELEMENT *out,
                      global VALUE *logs MASK_PARAMETER) {
    ROW_OF(p->queries, p->heads);
    const ulong query = row, head = row_head, seen = seen_by(p, query);
    const matrix queries = matrix_of(q, &p->q, batch, head, p->queries, p->size),
                 keys = matrix_of(k, &p->k, batch, head / p->shared, p->keys, p->size),
                 values = matrix_of(v, &p->v, batch, head / p->shared, p->keys, p->value_size);
    VALUE own[MOST], sums[MOST], most = -INFINITY, sum = 0;
    bring(own, &queries, query, p->scale);
    for (uint c = 0; c < p->value_size; c++) sums[c] = 0;
    for (ulong key = 0; key < seen; key++) {
        const VALUE score = SCORE(product(own, &keys, key));
        if (score > most) {
            const VALUE factor = exp(most - score);
            for (uint c = 0; c < p->value_size; c++) sums[c] *= factor;
            sum *= factor;
            most = score;
        }
        const VALUE weight = score == -INFINITY ? 0 : exp(score - most);
        sum += weight;
        add(sums, weight, &values, key);
    }
    put(out, &p->out, batch, head, query, p->value_size, sums, sum > 0 ? 1 / sum : 0);
    if (p->is_logged) logs[place(&p->logs, batch, head) + (long)query * p->logs.row] = sum > 0 ? most + log(sum) : (VALUE)-INFINITY;
}
#endif

#ifdef DOTS
kernel void dots(problem problem_of_call, global const ELEMENT *out, global const ELEMENT *gradient, global VALUE *dots) {
    ROW_OF(p->queries, p->heads);
    const matrix x = matrix_of(out, &p->out, batch, row_head, p->queries, p->value_size),
                 y = matrix_of(gradient, &p->gradient, batch, row_head, p->queries, p->value_size);
    VALUE sum = 0;
    for (uint c = 0; c < p->value_size; c++) sum += element(&x, row, c) * element(&y, row, c);
    dots[get_global_id(0)] = sum;
}
#endif

#ifdef FOR_QUERIES
kernel void for_queries(problem problem_of_call, global const ELEMENT *q, global const ELEMENT *k, global const ELEMENT *v,
                        global const ELEMENT *gradient, global const VALUE *logs, global const VALUE *dots,
                        global ELEMENT *to_q MASK_PARAMETER) {
    ROW_OF(p->queries, p->heads);
    const ulong query = row, head = row_head, seen = seen_by(p, query);
    const matrix queries = matrix_of(q, &p->q, batch, head, p->queries, p->size),
                 keys = matrix_of(k, &p->k, batch, head / p->shared, p->keys, p->size),
                 values = matrix_of(v, &p->v, batch, head / p->shared, p->keys, p->value_size),
                 gradients = matrix_of(gradient, &p->gradient, batch, head, p->queries, p->value_size);
    const VALUE all = logs[place(&p->logs, batch, head) + (long)query * p->logs.row], dot = dots[get_global_id(0)];
    VALUE own[MOST], by_out[MOST], sums[MOST];
    bring(own, &queries, query, p->scale);
    bring(by_out, &gradients, query, 1);
    for (uint c = 0; c < p->size; c++) sums[c] = 0;
    for (ulong key = 0; key < seen; key++) {
        const VALUE score = SCORE(product(own, &keys, key));
        const VALUE weight = score == -INFINITY ? 0 : exp(score - all);
        add(sums, weight * (product(by_out, &values, key) - dot) * p->scale, &keys, key);
    }
    put(to_q, &p->to_q, batch, head, query, p->size, sums, 1);
}
#endif

#ifdef FOR_KEYS
kernel void for_keys(problem problem_of_call, global const ELEMENT *q, global const ELEMENT *k, global const ELEMENT *v,
                     global const ELEMENT *gradient, global const VALUE *logs, global const VALUE *dots, global ELEMENT *to_k,
                     global ELEMENT *to_v MASK_PARAMETER) {
    ROW_OF(p->keys, p->heads / p->shared);
    const ulong key = row;
    const matrix keys = matrix_of(k, &p->k, batch, row_head, p->keys, p->size),
                 values = matrix_of(v, &p->v, batch, row_head, p->keys, p->value_size);
    VALUE own[MOST], own_value[MOST], sums[MOST], value_sums[MOST];
    bring(own, &keys, key, p->scale);
    bring(own_value, &values, key, 1);
    for (uint c = 0; c < p->size; c++) sums[c] = 0;
    for (uint c = 0; c < p->value_size; c++) value_sums[c] = 0;
    for (ulong head = row_head * p->shared; head < (row_head + 1) * p->shared; head++) {
        const matrix queries = matrix_of(q, &p->q, batch, head, p->queries, p->size),
                     gradients = matrix_of(gradient, &p->gradient, batch, head, p->queries, p->value_size);
        global const VALUE *own_logs = logs + place(&p->logs, batch, head), *own_dots = dots + (batch * p->heads + head) * p->queries;
        for (ulong query = 0; query < p->queries; query++) {
            if (key >= seen_by(p, query)) continue;
            const VALUE score = SCORE(product(own, &queries, query));
            const VALUE weight = score == -INFINITY ? 0 : exp(score - own_logs[(long)query * p->logs.row]);
            add(value_sums, weight, &gradients, query);
            add(sums, weight * (product(own_value, &gradients, query) - own_dots[query]) * p->scale, &queries, query);
        }
    }
    put(to_k, &p->to_k, batch, row_head, key, p->size, sums, 1);
    put(to_v, &p->to_v, batch, row_head, key, p->value_size, value_sums, 1);
}
#endif
