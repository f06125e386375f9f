/* qn_kernels_attention and its gradients against double precision: layouts, lengths, heads that share keys, masks, types, and what is refused. */
#include "kernels_common.h"

typedef enum mask_kind { NO_MASK, BOOLS, FLOATS } mask_kind;

typedef struct problem {
    qn_element type;
    uint64_t batches, heads, key_heads, queries, keys, size, value_size;
    bool causal, by_length; /* arrays are batches x length x heads x size */
    mask_kind mask;
    double scale;
    const char *variant;
} problem;

enum { Q, K, V, OUT, GRADIENT, TO_Q, TO_K, TO_V, ARRAYS };

typedef struct data {
    qn_array arrays[ARRAYS], logs, mask;
    void *host[ARRAYS];
    double *values[ARRAYS]; /* in the order of the indices */
    double *weights;        /* of one row */
    void *masked;
} data;

static const uint64_t *sizes_of(const problem *p, int i, uint64_t sizes[4]) {
    const bool of_keys = i == K || i == V || i == TO_K || i == TO_V,
               of_size = i == Q || i == K || i == TO_Q || i == TO_K;
    sizes[0] = p->batches;
    sizes[1] = of_keys ? p->key_heads : p->heads;
    sizes[2] = of_keys ? p->keys : p->queries;
    sizes[3] = of_size ? p->size : p->value_size;
    return sizes;
}

static qn_array shape_of(const problem *p, int i) {
    uint64_t s[4];
    sizes_of(p, i, s);
    return p->by_length ? qn_array_transpose(QN_ARRAY(NULL, p->type, s[0], s[2], s[1], s[3]), 1, 2)
                        : QN_ARRAY(NULL, p->type, s[0], s[1], s[2], s[3]);
}

static double *values_of(const qn_array *array, const void *host) {
    const uint64_t count = qn_array_count(array);
    double *values = malloc((count + 1) * sizeof *values);
    uint64_t index[QN_MAX_RANK] = {0};
    for (uint64_t i = 0; i < count; i++, next_index(array, index))
        values[i] = element_get(array->type, host, element_place(array, index));
    return values;
}

static data make_data(const kernels_fixture *f, const problem *p, uint32_t seed) {
    data d = {.host = {NULL}, .values = {NULL}};
    for (int i = 0; i < ARRAYS; i++) {
        d.arrays[i] = shape_of(p, i);
        const uint64_t count = qn_array_count(&d.arrays[i]);
        d.host[i] =
            i < OUT || i == GRADIENT ? random_elements(p->type, count, -1.5, 1.5, seed + (uint32_t)i) : NULL;
        d.arrays[i].buffer = elements_buffer(f, p->type, count, d.host[i]);
        if (d.host[i]) d.values[i] = values_of(&d.arrays[i], d.host[i]);
    }
    const qn_element wide = p->type == QN_F64 ? QN_F64 : QN_F32;
    d.logs = QN_ARRAY(NULL, wide, p->batches, p->heads, p->queries);
    d.logs.buffer = elements_buffer(f, wide, qn_array_count(&d.logs), NULL);
    if (p->mask == FLOATS) { /* one for each head, for all batches */
        d.mask = QN_ARRAY(NULL, QN_F32, p->heads, p->queries, p->keys);
        d.masked = random_elements(QN_F32, qn_array_count(&d.mask), -2, 2, seed + 20);
    } else if (p->mask == BOOLS) { /* one row for each batch, for all heads and queries */
        d.mask = QN_ARRAY(NULL, QN_BOOL, p->batches, 1, 1, p->keys);
        d.masked = random_elements(QN_BOOL, qn_array_count(&d.mask), 0, 3, seed + 20);
    }
    if (d.masked) d.mask.buffer = elements_buffer(f, d.mask.type, qn_array_count(&d.mask), d.masked);
    d.weights = malloc(p->keys * sizeof *d.weights + 1);
    return d;
}

static void end_data(data *d) {
    for (int i = 0; i < ARRAYS; i++) {
        free(d->host[i]);
        free(d->values[i]);
        qn_buffer_destroy(d->arrays[i].buffer);
    }
    qn_buffer_destroy(d->logs.buffer);
    qn_buffer_destroy(d->mask.buffer);
    free(d->masked);
    free(d->weights);
}

static double at(const data *d, int i, uint64_t batch, uint64_t head, uint64_t row, uint64_t column) {
    const uint64_t *sizes = d->arrays[i].sizes;
    return d->values[i][((batch * sizes[1] + head) * sizes[2] + row) * sizes[3] + column];
}

/* Fills d->weights with a query's weights; returns the logarithm of their sum. */
static double weigh(const problem *p, const data *d, uint64_t b, uint64_t h, uint64_t query) {
    const uint64_t kh = h / (p->heads / p->key_heads);
    const double scale = p->scale != 0 ? p->scale : 1 / sqrt((double)p->size);
    double most = -INFINITY, sum = 0;
    for (uint64_t j = 0; j < p->keys; j++) {
        double s = 0;
        for (uint64_t c = 0; c < p->size; c++) s += at(d, Q, b, h, query, c) * at(d, K, b, kh, j, c);
        s *= scale;
        if (p->mask == FLOATS) s += element_get(QN_F32, d->masked, (h * p->queries + query) * p->keys + j);
        const bool seen = (!p->causal || j + p->queries <= query + p->keys) &&
                          (p->mask != BOOLS || element_get(QN_BOOL, d->masked, b * p->keys + j) != 0);
        d->weights[j] = seen ? s : -INFINITY;
        most = fmax(most, d->weights[j]);
    }
    for (uint64_t j = 0; j < p->keys; j++) sum += d->weights[j] = isinf(most) ? 0 : exp(d->weights[j] - most);
    for (uint64_t j = 0; j < p->keys && sum > 0; j++) d->weights[j] /= sum;
    return sum > 0 ? most + log(sum) : -INFINITY;
}

/* What rounding to the type may be off in sums of products that are at most about `size`. */
static double bound_of(const problem *p, double size) {
    return p->type == QN_F64 ? 1e-12 * (1 + size) : (element_epsilon(p->type) * 4 + 4e-6) * (0.25 + size);
}

static void compare(const problem *p, const char *what, double got, double wanted, double size, uint64_t row,
                    uint64_t column) {
    if (got == wanted || fabs(got - wanted) <= bound_of(p, size)) return;
    fail_msg("%s, %ux%u/%ux%ux%u of %ux%u%s%s: %s at %u, %u is %.9g, not %.9g", qn_element_name(p->type),
             (unsigned)p->batches, (unsigned)p->heads, (unsigned)p->key_heads, (unsigned)p->queries,
             (unsigned)p->keys, (unsigned)p->size, (unsigned)p->value_size, p->causal ? ", causal" : "",
             p->mask ? ", mask" : "", what, (unsigned)row, (unsigned)column, got, wanted);
}

static void check_out(kernels_fixture *f, const problem *p, data *d) {
    const qn_attention_desc desc = {.q = d->arrays[Q],
                                    .k = d->arrays[K],
                                    .v = d->arrays[V],
                                    .out = d->arrays[OUT],
                                    .scale = p->scale,
                                    .causal = p->causal,
                                    .mask = d->mask,
                                    .logs = d->logs,
                                    .variant = p->variant};
    assert_ok(f->context, qn_kernels_attention(f->kernels, NULL, &desc));
    free(d->host[OUT]);
    free(d->values[OUT]);
    d->host[OUT] = buffer_contents(f, d->arrays[OUT].buffer);
    d->values[OUT] = values_of(&d->arrays[OUT], d->host[OUT]);
    void *logs = buffer_contents(f, d->logs.buffer);
    for (uint64_t b = 0; b < p->batches; b++)
        for (uint64_t h = 0; h < p->heads; h++)
            for (uint64_t i = 0; i < p->queries; i++) {
                const double all = weigh(p, d, b, h, i);
                compare(p, "the logarithm",
                        element_get(d->logs.type, logs, (b * p->heads + h) * p->queries + i), all, fabs(all),
                        i, 0);
                for (uint64_t c = 0; c < p->value_size; c++) {
                    double sum = 0;
                    for (uint64_t j = 0; j < p->keys; j++)
                        sum += d->weights[j] * at(d, V, b, h / (p->heads / p->key_heads), j, c);
                    compare(p, "out", at(d, OUT, b, h, i, c), sum, 1.5, i, c);
                }
            }
    free(logs);
}

/* Gradients as sums over all queries, into arrays of doubles that are contiguous. */
static void add_gradients(const problem *p, const data *d, uint64_t b, uint64_t h, uint64_t i,
                          double *const to[3]) {
    const uint64_t kh = h / (p->heads / p->key_heads);
    const double scale = p->scale != 0 ? p->scale : 1 / sqrt((double)p->size);
    double dot = 0;
    weigh(p, d, b, h, i);
    for (uint64_t j = 0; j < p->keys; j++)
        for (uint64_t c = 0; c < p->value_size; c++)
            dot += d->weights[j] * at(d, V, b, kh, j, c) * at(d, GRADIENT, b, h, i, c);
    for (uint64_t j = 0; j < p->keys; j++) {
        double slope = 0;
        for (uint64_t c = 0; c < p->value_size; c++) {
            slope += at(d, V, b, kh, j, c) * at(d, GRADIENT, b, h, i, c);
            to[2][((b * p->key_heads + kh) * p->keys + j) * p->value_size + c] +=
                d->weights[j] * at(d, GRADIENT, b, h, i, c);
        }
        slope = d->weights[j] * (slope - dot) * scale;
        for (uint64_t c = 0; c < p->size; c++) {
            to[0][((b * p->heads + h) * p->queries + i) * p->size + c] += slope * at(d, K, b, kh, j, c);
            to[1][((b * p->key_heads + kh) * p->keys + j) * p->size + c] += slope * at(d, Q, b, h, i, c);
        }
    }
}

static void check_gradients(kernels_fixture *f, const problem *p, data *d, bool deterministic) {
    static const char *const names[] = {"to_q", "to_k", "to_v"};
    double *wanted[3];
    const qn_attention_backward_desc desc = {.q = d->arrays[Q],
                                             .k = d->arrays[K],
                                             .v = d->arrays[V],
                                             .out = d->arrays[OUT],
                                             .logs = d->logs,
                                             .gradient = d->arrays[GRADIENT],
                                             .to_q = d->arrays[TO_Q],
                                             .to_k = d->arrays[TO_K],
                                             .to_v = d->arrays[TO_V],
                                             .scale = p->scale,
                                             .causal = p->causal,
                                             .mask = d->mask,
                                             .variant = p->variant,
                                             .deterministic = deterministic};
    assert_ok(f->context, qn_kernels_attention_backward(f->kernels, NULL, &desc));
    for (int i = 0; i < 3; i++) wanted[i] = calloc(qn_array_count(&d->arrays[TO_Q + i]) + 1, sizeof(double));
    for (uint64_t b = 0; b < p->batches; b++)
        for (uint64_t h = 0; h < p->heads; h++)
            for (uint64_t i = 0; i < p->queries; i++) add_gradients(p, d, b, h, i, wanted);
    for (int i = 0; i < 3; i++) {
        free(d->host[TO_Q + i]);
        d->host[TO_Q + i] = buffer_contents(f, d->arrays[TO_Q + i].buffer);
        const uint64_t count = qn_array_count(&d->arrays[TO_Q + i]);
        uint64_t index[QN_MAX_RANK] = {0};
        double largest = 0;
        for (uint64_t n = 0; n < count; n++) largest = fmax(largest, fabs(wanted[i][n]));
        for (uint64_t n = 0; n < count; n++, next_index(&d->arrays[TO_Q + i], index))
            compare(p, names[i],
                    element_get(p->type, d->host[TO_Q + i], element_place(&d->arrays[TO_Q + i], index)),
                    wanted[i][n], 2 * largest, index[2], index[3]);
        free(wanted[i]);
    }
}

static void check_problem(kernels_fixture *f, const problem *p, uint32_t seed) {
    if (!has_type(f, p->type)) return;
    data d = make_data(f, p, seed);
    check_out(f, p, &d);
    check_gradients(f, p, &d, false);
    if (f->info.capabilities & QN_CAN_COPY_TILES)
        check_gradients(f, p, &d, true); /* elsewhere it is the same */
    end_data(&d);
}

static void all_kinds_are_right(void **state) {
    (void)state;
    static const problem problems[] = {
        {QN_F32, 2, 3, 3, 17, 37, 24, 24, false, false, NO_MASK, 0, NULL},
        {QN_F32, 1, 2, 1, 50, 50, 64, 64, true, true, NO_MASK, 0, NULL},
        {QN_F32, 1, 2, 1, 5, 90, 40, 72, true, false, FLOATS, 0.3, NULL},
        {QN_F32, 2, 1, 1, 40, 9, 8, 3, true, false, NO_MASK, 0, NULL}, /* the first queries see nothing */
        {QN_F16, 1, 2, 2, 19, 65, 16, 16, false, true, BOOLS, 0, NULL},
        {QN_BF16, 1, 4, 1, 1, 80, 64, 64, true, false, NO_MASK, 0, NULL},
        {QN_F64, 1, 2, 2, 20, 30, 16, 20, true, false, BOOLS, 0, NULL},
        {QN_F32, 1, 1, 1, 3, 20, 256, 200, false, false, NO_MASK, 0, NULL},
    };
    kernels_fixture f = make_kernels_quickly();
    const uint32_t step = testing("cpu") || testing("cuda") ? 1
                          : testing("opencl")               ? 4
                                                            : 2; /* compiling takes time */
    for (uint32_t i = 1 % step; i < sizeof problems / sizeof *problems; i += step)
        check_problem(&f, &problems[i], i * 40 + 1);
    if (testing("cpu") || testing("cuda"))
        for (uint32_t i = 0; i < sizeof problems / sizeof *problems; i += 2) { /* what others take, on GPUs */
            problem p = problems[i];
            p.variant = testing("cpu") ? "tile" : "rows";
            check_problem(&f, &p, i * 40 + 3);
        }
    end_kernels(&f);
}

/* What matrix units may take. */
static void lengths_of_tiles(void **state) {
    (void)state;
    static const problem problems[] = {
        {QN_BF16, 1, 4, 2, 200, 300, 64, 64, true, false, NO_MASK, 0, NULL},
        {QN_BF16, 2, 2, 2, 130, 129, 64, 64, false, true, NO_MASK, 0, NULL},
        {QN_F16, 1, 3, 1, 257, 65, 128, 128, true, true, NO_MASK, 0, NULL},
        {QN_BF16, 1, 2, 2, 64, 400, 96, 96, false, false, NO_MASK, 0, NULL},
        {QN_F16, 1, 2, 1, 70, 150, 256, 256, true, false, NO_MASK, 0.05, NULL},
        {QN_BF16, 1, 2, 2, 100, 100, 80, 48, true, false, NO_MASK, 0, NULL},
        {QN_BF16, 2, 8, 2, 1, 1500, 128, 128, true, true, NO_MASK, 0, NULL}, /* keys in parts */
        {QN_F16, 1, 2, 2, 3, 1030, 64, 64, true, false, NO_MASK, 0, NULL},
        {QN_BF16, 3, 24, 8, 400, 400, 64, 64, true, true, NO_MASK, 0,
         NULL}, /* several blocks for a work-group */
    };
    kernels_fixture f = make_kernels();
    if (f.info.capabilities & QN_CAN_MULTIPLY_MATRICES)
        for (uint32_t i = 0; i < sizeof problems / sizeof *problems; i++)
            check_problem(&f, &problems[i], i * 40 + 2);
    end_kernels(&f);
}

static void nothing_to_see(void **state) {
    (void)state;
    const problem p = {QN_F32, 1, 2, 2, 3, 0, 4, 4, false, false, NO_MASK, 0, NULL};
    kernels_fixture f = make_kernels_quickly();
    check_problem(&f, &p, 1);
    const problem none = {QN_F32, 1, 2, 2, 0, 5, 4, 4, false, false, NO_MASK, 0, NULL};
    check_problem(&f, &none, 2);
    end_kernels(&f);
}

static void wrong_calls_are_refused(void **state) {
    (void)state;
    kernels_fixture f = make_kernels_quickly();
    qn_buffer *b[4];
    for (int i = 0; i < 4; i++) b[i] = elements_buffer(&f, QN_F32, 4096, NULL);
    const qn_array q = QN_ARRAY(b[0], QN_F32, 1, 4, 8, 16), k = QN_ARRAY(b[1], QN_F32, 1, 2, 10, 16),
                   v = QN_ARRAY(b[2], QN_F32, 1, 2, 10, 16), out = QN_ARRAY(b[3], QN_F32, 1, 4, 8, 16);
    const struct {
        qn_attention_desc desc;
        const char *message;
    } cases[] = {
        {{.q = QN_ARRAY(b[0], QN_F32, 4, 8, 16), .k = k, .v = v, .out = out},
         "q is 4x8x16; it must have four dimensions"},
        {{.q = q, .k = QN_ARRAY(b[1], QN_F32, 1, 3, 10, 16), .v = v, .out = out}, "q has 4 heads and k 3"},
        {{.q = q, .k = k, .v = QN_ARRAY(b[2], QN_F32, 1, 2, 9, 16), .out = out},
         "v is 1x2x9x16; with q 1x4x8x16"},
        {{.q = q, .k = k, .v = v, .out = QN_ARRAY(b[3], QN_F32, 1, 4, 7, 16)}, "it must be 1x4x8x16"},
        {{.q = q, .k = k, .v = v, .out = QN_ARRAY(b[3], QN_F16, 1, 4, 8, 16)},
         "out.type is f16 and q.type is f32"},
        {{.q = QN_ARRAY(b[0], QN_I32, 1, 4, 8, 16), .k = k, .v = v, .out = out}, "one float type"},
        {{.q = QN_ARRAY(b[0], QN_F32, 1, 1, 2, 257),
          .k = QN_ARRAY(b[1], QN_F32, 1, 1, 2, 257),
          .v = v,
          .out = out},
         "heads have 257 and 16 elements"},
        {{.q = q, .k = k, .v = v, .out = out, .mask = QN_ARRAY(b[1], QN_F32, 8, 9)},
         "mask (8x9) cannot be broadcast to 1x4x8x10"},
        {{.q = q, .k = k, .v = v, .out = out, .mask = QN_ARRAY(b[1], QN_I32, 8, 10)}, "mask.type is i32"},
        {{.q = q, .k = k, .v = v, .out = out, .logs = QN_ARRAY(b[1], QN_F16, 1, 4, 8)}, "logs.type is f16"},
        {{.q = q, .k = k, .v = v, .out = q}, "out and q share memory"},
        {{.q = q, .k = k, .v = v, .out = out, .logs = QN_ARRAY(b[2], QN_F32, 1, 4, 8)},
         "logs and v share memory"},
        {{.q = q, .k = k, .v = v, .out = out, .scale = INFINITY}, "scale is inf"},
        {{.q = q, .k = k, .v = v, .out = out, .variant = "best"}, "there is no variant 'best'"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_fails(f.context, qn_kernels_attention(f.kernels, NULL, &cases[i].desc), QN_ERROR_ARGUMENT,
                     cases[i].message);
    assert_fails(f.context, qn_kernels_attention(f.kernels, NULL, NULL), QN_ERROR_NULL,
                 "qn_kernels_attention: desc is NULL");
    assert_fails(f.context, qn_kernels_attention_backward(f.kernels, NULL, NULL), QN_ERROR_NULL,
                 "qn_kernels_attention_backward: desc is NULL");
    qn_attention_backward_desc back = {.q = q, .k = k, .v = v, .out = out, .gradient = out};
    assert_fails(f.context, qn_kernels_attention_backward(f.kernels, NULL, &back), QN_ERROR_NULL,
                 "qn_kernels_attention_backward: logs.buffer is NULL");
    for (int i = 0; i < 4; i++) qn_buffer_destroy(b[i]);
    end_kernels(&f);
}

int main(void) {
    if (device_is_missing()) return TEST_SKIPPED;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_kinds_are_right),
        cmocka_unit_test(lengths_of_tiles),
        cmocka_unit_test(nothing_to_see),
        cmocka_unit_test(wrong_calls_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
