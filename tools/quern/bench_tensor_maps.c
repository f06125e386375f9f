/* Rows of quern bench tensor: graphs that have to become one kernel, beside copying. Two rows of each result are computed again on the
   host. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench_tensor.h"

enum { COLUMNS = 4096, FEW_COLUMNS = 64, MOST_OPS = 10 };

/* ---- chains ---- */

/* What a chain is made of: an op of the value so far and the element of y, for tensors and for numbers. */
static qn_tensor *with_sum(qn_tensor *v, qn_tensor *y) { return qn_add(v, y); }
static qn_tensor *with_product(qn_tensor *v, qn_tensor *y) { return qn_multiply(v, y); }
static qn_tensor *with_larger(qn_tensor *v, qn_tensor *y) { return qn_maximum(v, qn_multiply(y, 0.25)); }
static qn_tensor *with_line(qn_tensor *v, qn_tensor *y) { return (void)y, qn_multiply_add(v, 1.5, -0.25); }
static qn_tensor *with_relu(qn_tensor *v, qn_tensor *y) { return (void)y, qn_relu(v); }
static qn_tensor *with_tanh(qn_tensor *v, qn_tensor *y) { return (void)y, qn_tanh(v); }
static qn_tensor *with_sigmoid(qn_tensor *v, qn_tensor *y) { return (void)y, qn_sigmoid(v); }
static qn_tensor *with_abs(qn_tensor *v, qn_tensor *y) { return (void)y, qn_abs(v); }
static qn_tensor *with_gelu(qn_tensor *v, qn_tensor *y) { return (void)y, qn_gelu(v); }
static qn_tensor *with_silu(qn_tensor *v, qn_tensor *y) { return (void)y, qn_silu(v); }

static double sum(double v, double y) { return v + y; }
static double product(double v, double y) { return v * y; }
static double larger(double v, double y) { return fmax(v, 0.25 * y); }
static double line(double v, double y) { return (void)y, 1.5 * v - 0.25; }
static double relu(double v, double y) { return (void)y, fmax(v, 0); }
static double tangent(double v, double y) { return (void)y, tanh(v); }
static double sigmoid(double v, double y) { return (void)y, 1 / (1 + exp(-v)); }
static double size(double v, double y) { return (void)y, fabs(v); }
static double gelu(double v, double y) { return (void)y, 0.5 * v * erfc(-v * 0.70710678118654752440); }
static double silu(double v, double y) { return (void)y, v / (1 + exp(-v)); }

static const struct {
    qn_tensor *(*of_tensors)(qn_tensor *v, qn_tensor *y);
    double (*of_numbers)(double v, double y);
    bool reads; /* y */
} ops[] = {
    {with_sum, sum, true},          {with_product, product, true}, {with_larger, larger, true},
    {with_line, line, false},       {with_relu, relu, false},      {with_tanh, tangent, false},
    {with_sigmoid, sigmoid, false}, {with_abs, size, false},       {with_gelu, gelu, false},
    {with_silu, silu, false},
};
enum { NUM_OPS = sizeof ops / sizeof *ops };

/* Up to ten maps, and the sum of a row's elements before number `at` of them, times what is left; or as the last op, at the end. */
typedef struct chain {
    uint32_t count, op[MOST_OPS], at;
    bool is_last, reads;
} chain;

static chain make_chain(uint32_t number) {
    uint32_t state = number * 2654435761u + 12345;
    chain c = {.reads = false};
#define NEXT(n) ((state = state * 1664525u + 1013904223u) >> 16) % (n)
    c.count = 1 + NEXT(MOST_OPS);
    for (uint32_t i = 0; i < c.count; i++) c.op[i] = NEXT(NUM_OPS);
    c.at = NEXT(c.count + 1);
#undef NEXT
    c.is_last = c.at == c.count;
    for (uint32_t i = 0; i < c.count; i++) c.reads = c.reads || ops[c.op[i]].reads;
    return c;
}

static double to_mean(uint64_t columns) { return 1 / (double)columns; }

static qn_tensor *chain_of_tensors(const chain *c, qn_tensor *x, qn_tensor *y, uint64_t columns) {
    qn_tensor *v = x;
    for (uint32_t i = 0; i <= c->count; i++) {
        if (i == c->at) {
            qn_tensor *mean = qn_multiply(qn_sum(v, QN_AXES(-1), true), to_mean(columns));
            v = c->is_last ? mean : qn_subtract(v, mean);
        }
        if (i < c->count) v = ops[c->op[i]].of_tensors(v, y);
    }
    return v;
}

static void chain_of_numbers(const chain *c, const float *x, const float *y, double *v, uint64_t columns) {
    for (uint64_t j = 0; j < columns; j++) v[j] = (double)x[j];
    for (uint32_t i = 0; i <= c->count; i++) {
        if (i == c->at) {
            double mean = 0;
            for (uint64_t j = 0; j < columns; j++) mean += v[j] * to_mean(columns);
            for (uint64_t j = 0; j < columns; j++) v[j] = c->is_last ? mean : v[j] - mean;
        }
        for (uint64_t j = 0; j < columns && i < c->count; j++)
            v[j] = ops[c->op[i]].of_numbers(v[j], (double)y[j]);
    }
}

/* ---- the others ---- */

static qn_tensor *map_of_tensors(const chain *c, qn_tensor *x, qn_tensor *y, uint64_t columns) {
    (void)c, (void)columns;
    return qn_multiply(qn_gelu(qn_add(qn_multiply(x, y), 1)), y);
}

static void map_of_numbers(const chain *c, const float *x, const float *y, double *v, uint64_t columns) {
    (void)c;
    for (uint64_t j = 0; j < columns; j++) v[j] = gelu((double)x[j] * (double)y[j] + 1, 0) * (double)y[j];
}

static qn_tensor *softmax_of_tensors(const chain *c, qn_tensor *x, qn_tensor *y, uint64_t columns) {
    (void)c, (void)y, (void)columns;
    return qn_softmax(x, -1);
}

static void softmax_of_numbers(const chain *c, const float *x, const float *y, double *v, uint64_t columns) {
    double all = 0;
    (void)c, (void)y;
    for (uint64_t j = 0; j < columns; j++) all += v[j] = exp((double)x[j]);
    for (uint64_t j = 0; j < columns; j++) v[j] /= all;
}

static qn_tensor *norm_of_tensors(const chain *c, qn_tensor *x, qn_tensor *y, uint64_t columns) {
    (void)c, (void)y, (void)columns;
    qn_tensor *centred = qn_subtract(x, qn_mean(x, QN_AXES(-1), true));
    return qn_multiply(centred, qn_rsqrt(qn_add(qn_mean(qn_square(centred), QN_AXES(-1), true), 1e-5)));
}

static void norm_of_numbers(const chain *c, const float *x, const float *y, double *v, uint64_t columns) {
    double mean = 0, variance = 0;
    (void)c, (void)y;
    for (uint64_t j = 0; j < columns; j++) mean += (double)x[j] * to_mean(columns);
    for (uint64_t j = 0; j < columns; j++)
        variance += ((double)x[j] - mean) * ((double)x[j] - mean) * to_mean(columns);
    for (uint64_t j = 0; j < columns; j++) v[j] = ((double)x[j] - mean) / sqrt(variance + 1e-5);
}

/* x as columns that are rows here: element j of row i is x[j, i], for x as so many rows as there are columns. */
static qn_tensor *turned(qn_tensor *x, uint64_t columns) {
    return qn_transpose(qn_reshape(x, QN_SHAPE(columns, QN_REST)), 0, 1);
}

static qn_tensor *transpose_of_tensors(const chain *c, qn_tensor *x, qn_tensor *y, uint64_t columns) {
    (void)c, (void)y;
    return qn_add(turned(x, columns), 1);
}

static void transpose_of_numbers(const chain *c, const float *x, const float *y, double *v,
                                 uint64_t columns) {
    (void)c, (void)y;
    for (uint64_t j = 0; j < columns; j++) v[j] = (double)x[j] + 1;
}

/* ---- measuring ---- */

typedef struct work {
    bench_tensors *b;
    chain c;
    uint64_t rows, columns;
    bool turns;                /* rows of the result are columns of x */
    qn_tensor *x, *y, *result; /* retained */
    qn_tensor *(*of_tensors)(const chain *c, qn_tensor *x, qn_tensor *y, uint64_t columns);
    void (*of_numbers)(const chain *c, const float *x, const float *y, double *v, uint64_t columns);
} work;

static qn_status compute(void *user, uint32_t first, uint32_t count) {
    const work *w = user;
    qn_status status = QN_OK;
    (void)first;
    for (uint32_t i = 0; i < count && !status; i++) {
        status = qn_scope_begin(w->b->t);
        if (status) return status;
        status = qn_tensor_realize(w->of_tensors(&w->c, w->x, w->y, w->columns));
        qn_scope_end(w->b->t);
    }
    return status;
}

static qn_status prepare(work *w) {
    qn_tensors *t = w->b->t;
    qn_status status = qn_scope_begin(t);
    if (status) return status;
    w->x =
        qn_tensor_retain(qn_subtract(qn_multiply(qn_rand(t, QN_F32, QN_SHAPE(w->rows, w->columns)), 4), 2));
    w->y =
        qn_tensor_retain(qn_subtract(qn_multiply(qn_rand(t, QN_F32, QN_SHAPE(w->rows, w->columns)), 2), 1));
    status = qn_realize((qn_tensor *[]){w->x, w->y}, 2);
    qn_scope_end(t);
    return status;
}

static qn_status read_row(qn_tensor *x, uint64_t row, float *to) {
    qn_tensor *one = qn_slice(x, 0, (int64_t)row, (int64_t)row + 1, 1);
    return qn_tensor_read(one, to, qn_tensor_count(one) * sizeof *to);
}

static int check_row(work *w, const bench_tensor_row *row, qn_tensor *result, uint64_t at) {
    float *x = tool_alloc(3 * w->columns * sizeof *x), *y = x + w->columns, *z = y + w->columns;
    double *v = tool_alloc(w->columns * sizeof *v);
    const uint64_t count = qn_tensor_shape(result).sizes[1];
    qn_status status = read_row(w->turns ? turned(w->x, w->columns) : w->x, at, x);
    if (!status) status = read_row(w->y, at, y);
    if (!status) status = read_row(result, at, z);
    int exit_status = bench_tensor_fail(w->b, status);
    if (!exit_status) w->of_numbers(&w->c, x, y, v, w->columns);
    for (uint64_t j = 0; j < count && !exit_status; j++)
        if (!(fabs((double)z[j] - v[j]) <= 2e-5 * (1 + fabs(v[j]))))
            exit_status =
                tool_fail(TOOL_DIFFERENT, "%s: element %llu of row %llu is %g instead of %g", row->what,
                          (unsigned long long)j, (unsigned long long)at, (double)z[j], v[j]);
    free(x);
    free(v);
    return exit_status;
}

/* Computes it once, as one kernel, and checks the first and the last row. */
static int verify(work *w, const bench_tensor_row *row) {
    qn_tensors_stats before, after;
    qn_status status = qn_scope_begin(w->b->t);
    if (status) return bench_tensor_fail(w->b, status);
    qn_tensor *result = w->of_tensors(&w->c, w->x, w->y, w->columns);
    qn_tensors_get_stats(w->b->t, &before);
    status = qn_tensor_realize(result);
    qn_tensors_get_stats(w->b->t, &after);
    int exit_status = bench_tensor_fail(w->b, status);
    if (!exit_status && after.launches - before.launches != 1)
        exit_status = tool_fail(TOOL_DIFFERENT, "%s: it is %llu kernels instead of one", row->what,
                                (unsigned long long)(after.launches - before.launches));
    if (!exit_status) exit_status = check_row(w, row, result, 0);
    if (!exit_status) exit_status = check_row(w, row, result, w->rows - 1);
    qn_scope_end(w->b->t);
    return exit_status ? exit_status : bench_tensor_fail(w->b, qn_tensors_wait(w->b->t, QN_FOREVER));
}

/* `bytes`: of an element of the operands. */
static int measure(work *w, const bench_tensor_row *row, double bytes) {
    bench_tensors *b = w->b;
    w->columns = b->elements < 4 * COLUMNS ? FEW_COLUMNS : COLUMNS;
    w->rows = b->elements / w->columns ? b->elements / w->columns : 1;
    const bench_task task = {.run = compute, .user = w};
    bench_time time;
    char note[64], of[32];
    int result = bench_tensor_fail(b, prepare(w));
    if (!result) result = verify(w, row);
    if (!result) result = bench_measure(b->d, &task, &time);
    if (result) return result;
    const double moved = bytes * (double)(w->rows * w->columns);
    snprintf(note, sizeof note, "%.3f of copying", moved / time.median * 1e9 / b->copying);
    snprintf(of, sizeof of, "%llu elements", (unsigned long long)(w->rows * w->columns));
    bench_tensor_print(b, row, of, moved, "B/s", &time, note);
    return TOOL_OK;
}

static int measure_map(bench_tensors *b, const bench_tensor_row *row) {
    return measure(&(work){.b = b, .of_tensors = map_of_tensors, .of_numbers = map_of_numbers}, row, 12);
}
static int measure_softmax(bench_tensors *b, const bench_tensor_row *row) {
    return measure(&(work){.b = b, .of_tensors = softmax_of_tensors, .of_numbers = softmax_of_numbers}, row,
                   8);
}
static int measure_norm(bench_tensors *b, const bench_tensor_row *row) {
    return measure(&(work){.b = b, .of_tensors = norm_of_tensors, .of_numbers = norm_of_numbers}, row, 8);
}
static int measure_transpose(bench_tensors *b, const bench_tensor_row *row) {
    work w = {.b = b, .of_tensors = transpose_of_tensors, .of_numbers = transpose_of_numbers, .turns = true};
    return measure(&w, row, 8);
}
static int measure_chain(bench_tensors *b, const bench_tensor_row *row) {
    work w = {
        .b = b, .of_tensors = chain_of_tensors, .of_numbers = chain_of_numbers, .c = make_chain(row->number)};
    return measure(&w, row, (w.c.is_last ? 4 : 8) + (w.c.reads ? 4 : 0));
}

static const bench_tensor_row rows[] = {
    {"gelu(x*y+1)*y", 0, measure_map}, {"transpose+1", 0, measure_transpose}, {"softmax", 0, measure_softmax},
    {"layer norm", 0, measure_norm},   {"chain 1", 1, measure_chain},         {"chain 2", 2, measure_chain},
    {"chain 3", 3, measure_chain},     {"chain 4", 4, measure_chain},         {"chain 5", 5, measure_chain},
    {"chain 6", 6, measure_chain},     {"chain 7", 7, measure_chain},         {"chain 8", 8, measure_chain},
    {"chain 9", 9, measure_chain},     {"chain 10", 10, measure_chain},       {"chain 11", 11, measure_chain},
    {"chain 12", 12, measure_chain},   {"chain 13", 13, measure_chain},       {"chain 14", 14, measure_chain},
    {"chain 15", 15, measure_chain},   {"chain 16", 16, measure_chain},       {"chain 17", 17, measure_chain},
    {"chain 18", 18, measure_chain},   {"chain 19", 19, measure_chain},       {"chain 20", 20, measure_chain},
};
const bench_tensor_list bench_tensor_maps = {rows, sizeof rows / sizeof *rows};
