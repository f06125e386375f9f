/* Every call of kernels.h that takes a stream: recorded in a graph it does what it does at once, also with other contents of the
   same buffers, and again. While a stream records, what would wait for the device is refused: so no call waits. */
#include "kernels_common.h"

enum { ROWS = 12, COLUMNS = 40, COUNT_OF_ALL = ROWS * COLUMNS, RESULTS = 8192 };

/* What the calls work on: `x` changes between the runs; `indices` are below ROWS, `starts` ascend to COUNT_OF_ALL. */
typedef struct operands {
    qn_buffer *x, *y, *indices, *starts, *out, *more;
} operands;

#define GRID(buffer)    QN_ARRAY(o->buffer, QN_F32, ROWS, COLUMNS)
#define HEAD(buffer)    QN_ARRAY(o->buffer, QN_F32, 1, 1, ROWS, COLUMNS)
#define LINE(buffer)    QN_ARRAY(o->buffer, QN_F32, COUNT_OF_ALL)
#define ONE(buffer)     QN_ARRAY(o->buffer, QN_U32, 1)
#define SQUARES(buffer) QN_ARRAY(o->buffer, QN_F32, 4, 6, 6)

/* X(name, the descriptor's struct without its ends, its fields): calls qn_NAME. */
#define CALLS(X)                                                                                             \
    X(copy, copy, .to = QN_ARRAY(o->out, QN_F16, COLUMNS, ROWS), .from = qn_array_transpose(GRID(x), 0, 1))  \
    X(fill, fill, .to = LINE(out), .value = 3)                                                               \
    X(map, map, .function = QN_MAP_MULTIPLY_ADD, .to = GRID(out), .from = {GRID(x), GRID(y), GRID(x)})       \
    X(reduce, reduce, .operation = QN_REDUCE_MAX, .axes = 1, .to = QN_ARRAY(o->out, QN_F32, COLUMNS),        \
      .from = GRID(x))                                                                                       \
    X(scan, scan, .to = LINE(out), .from = LINE(x), .reverse = true)                                         \
    X(layer_norm_backward, norm_backward, .to = GRID(out), .from = GRID(x), .gradient = GRID(y),             \
      .to_weight = QN_ARRAY(o->more, QN_F32, COLUMNS))                                                       \
    X(rms_norm_backward, norm_backward, .to = GRID(out), .from = GRID(x), .gradient = GRID(y))               \
    X(attention, attention, .q = HEAD(x), .k = HEAD(y), .v = HEAD(y), .out = HEAD(out), .causal = true)      \
    X(attention_backward, attention_backward, .q = HEAD(x), .k = HEAD(y), .v = HEAD(y), .out = HEAD(y),      \
      .logs = QN_ARRAY(o->y, QN_F32, 1, 1, ROWS), .gradient = HEAD(y), .to_q = HEAD(out),                    \
      .to_k = HEAD(more), .to_v = {o->more, 1000, QN_F32, 4, {1, 1, ROWS, COLUMNS}, {0}})                    \
    X(softmax, softmax, .to = GRID(out), .from = GRID(x))                                                    \
    X(softmax_backward, softmax_backward, .to = GRID(out), .result = GRID(x), .gradient = GRID(y))           \
    X(layer_norm, norm, .to = GRID(out), .from = GRID(x))                                                    \
    X(rms_norm, norm, .to = GRID(out), .from = GRID(x))                                                      \
    X(random, random, .to = LINE(out), .seed = 5)                                                            \
    X(sort, sort, .keys = LINE(x), .to_keys = LINE(out),                                                     \
      .to_values = QN_ARRAY(o->more, QN_U32, COUNT_OF_ALL))                                                  \
    X(top_k, top_k, .from = GRID(x), .to = QN_ARRAY(o->out, QN_F32, ROWS, 5),                                \
      .to_indices = QN_ARRAY(o->more, QN_I32, ROWS, 5))                                                      \
    X(compact, compact, .from = LINE(y), .mask = QN_ARRAY(o->x, QN_U8, COUNT_OF_ALL), .to = LINE(out),       \
      .count = ONE(more))                                                                                    \
    X(unique, unique, .from = QN_ARRAY(o->x, QN_U8, 4 * COUNT_OF_ALL),                                       \
      .to = QN_ARRAY(o->out, QN_U8, 4 * COUNT_OF_ALL), .count = ONE(more))                                   \
    X(gather, gather, .from = GRID(x), .indices = QN_ARRAY(o->indices, QN_U32, 30),                          \
      .to = QN_ARRAY(o->out, QN_F32, 30, COLUMNS))                                                           \
    X(scatter, scatter, .from = GRID(x), .indices = QN_ARRAY(o->indices, QN_U32, ROWS), .to = GRID(out),     \
      .add = true, .deterministic = true)                                                                    \
    X(histogram, histogram, .from = LINE(x), .to = QN_ARRAY(o->out, QN_U32, 64), .low = -4, .high = 4)       \
    X(spmv, spmv, .starts = QN_ARRAY(o->starts, QN_U32, ROWS + 1),                                           \
      .columns = QN_ARRAY(o->indices, QN_U32, COUNT_OF_ALL), .values = LINE(x),                              \
      .x = QN_ARRAY(o->y, QN_F32, ROWS), .y = QN_ARRAY(o->out, QN_F32, ROWS))                                \
    X(convolve, convolve, .from = QN_ARRAY(o->x, QN_F32, 2, 2, 10, 12),                                      \
      .weights = QN_ARRAY(o->y, QN_F32, 3, 2, 3, 3), .to = QN_ARRAY(o->out, QN_F32, 2, 3, 8, 10))            \
    X(convolve_backward_input, convolve_backward_input, .to = QN_ARRAY(o->out, QN_F32, 2, 2, 10, 12),        \
      .weights = QN_ARRAY(o->y, QN_F32, 3, 2, 3, 3), .gradient = QN_ARRAY(o->x, QN_F32, 2, 3, 8, 10))        \
    X(convolve_backward_weights, convolve_backward_weights, .from = QN_ARRAY(o->x, QN_F32, 2, 2, 10, 12),    \
      .to = QN_ARRAY(o->out, QN_F32, 3, 2, 3, 3), .gradient = QN_ARRAY(o->y, QN_F32, 2, 3, 8, 10))           \
    X(blur, blur, .from = GRID(x), .weights = QN_ARRAY(o->y, QN_F32, 5), .to = GRID(out))                    \
    X(max_pool, max_pool, .from = GRID(x), .to = QN_ARRAY(o->out, QN_F32, ROWS / 2, COLUMNS / 2),            \
      .taps = QN_ARRAY(o->more, QN_U8, ROWS / 2, COLUMNS / 2), .window = {3, 3}, .stride = {2, 2},           \
      .padding = {1, 1})                                                                                     \
    X(max_pool_backward, max_pool_backward, .gradient = QN_ARRAY(o->x, QN_F32, ROWS / 2, COLUMNS / 2),       \
      .taps = QN_ARRAY(o->indices, QN_U8, ROWS / 2, COLUMNS / 2), .to = GRID(out), .window = {3, 3},         \
      .stride = {2, 2}, .padding = {1, 1})                                                                   \
    X(cholesky, cholesky, .from = SQUARES(y), .to = SQUARES(out))                                            \
    X(solve, solve, .matrix = SQUARES(x), .from = SQUARES(y), .to = SQUARES(out))                            \
    X(solve_triangular, solve_triangular, .matrix = SQUARES(x), .from = SQUARES(y), .to = SQUARES(out))      \
    X(determinant, determinant, .from = SQUARES(x), .sign = QN_ARRAY(o->out, QN_F32, 4))                     \
    X(qr, qr, .from = SQUARES(x), .q = SQUARES(out), .r = SQUARES(more))                                     \
    X(eigen, eigen, .from = SQUARES(x), .values = QN_ARRAY(o->out, QN_F32, 4, 6))                            \
    X(svd, svd, .from = SQUARES(x), .u = SQUARES(out), .v = SQUARES(more))                                   \
    X(matmul, matmul, .a = GRID(x), .b = qn_array_transpose(GRID(y), 0, 1), .splits = 2,                     \
      .out = QN_ARRAY(o->out, QN_F32, ROWS, ROWS))

#define CALL_FUNCTION(name, struct_name, ...)                                                                \
    static qn_status call_##name(qn_kernels *kernels, qn_stream *stream, const operands *o) {                \
        const qn_##struct_name##_desc desc = {__VA_ARGS__};                                                  \
        return qn_kernels_##name(kernels, stream, &desc);                                                    \
    }
CALLS(CALL_FUNCTION)

typedef struct call {
    const char *name;
    qn_status (*run)(qn_kernels *kernels, qn_stream *stream, const operands *o);
} call;

static const call calls[] = {
#define CALL_ROW(name, struct_name, ...) {#name, call_##name},
    CALLS(CALL_ROW)};

static operands make_operands(const kernels_fixture *f) {
    float *y = random_elements(QN_F32, COUNT_OF_ALL, -1, 1, 3);
    uint32_t *indices = random_elements(QN_U32, COUNT_OF_ALL, 0, ROWS, 4), starts[ROWS + 1];
    for (uint32_t i = 0; i <= ROWS; i++) starts[i] = i * COLUMNS;
    const operands o = {.x = elements_buffer(f, QN_F32, COUNT_OF_ALL, NULL),
                        .y = elements_buffer(f, QN_F32, COUNT_OF_ALL, y),
                        .indices = elements_buffer(f, QN_U32, COUNT_OF_ALL, indices),
                        .starts = elements_buffer(f, QN_U32, ROWS + 1, starts),
                        .out = make_buffer(f->device, RESULTS, NULL),
                        .more = make_buffer(f->device, RESULTS, NULL)};
    free(y);
    free(indices);
    return o;
}

/* Both results as they were before the call: zeros. */
static void prepare(const kernels_fixture *f, const operands *o, const float *x) {
    static const char zeros[RESULTS];
    assert_ok(f->context, qn_buffer_write(o->x, 0, x, COUNT_OF_ALL * sizeof *x));
    assert_ok(f->context, qn_buffer_write(o->out, 0, zeros, RESULTS));
    assert_ok(f->context, qn_buffer_write(o->more, 0, zeros, RESULTS));
}

typedef struct results {
    char out[RESULTS], more[RESULTS];
} results;

static void read_results(const kernels_fixture *f, const operands *o, results *r) {
    assert_ok(f->context, qn_buffer_read(o->out, 0, r->out, RESULTS));
    assert_ok(f->context, qn_buffer_read(o->more, 0, r->more, RESULTS));
}

static void check_call(const kernels_fixture *f, const operands *o, const call *c, float *const x[2]) {
    results expected[2], got;
    qn_stream *stream;
    qn_graph *graph;
    for (int i = 0; i < 2; i++) {
        prepare(f, o, x[i]);
        assert_ok(f->context, c->run(f->kernels, NULL, o));
        read_results(f, o, &expected[i]);
    }
    assert_ok(f->context, qn_stream_create(f->device, &stream));
    assert_ok(f->context, qn_graph_begin(stream));
    assert_ok(f->context, c->run(f->kernels, stream, o));
    assert_ok(f->context, qn_graph_end(stream, &graph));
    for (int i = 0; i < 3; i++) {
        prepare(f, o, x[i % 2]);
        assert_ok(f->context, qn_graph_launch(NULL, graph));
        read_results(f, o, &got);
        if (memcmp(&got, &expected[i % 2], sizeof got) != 0)
            fail_msg("qn_kernels_%s: launch %d of the graph gave something else than the call", c->name,
                     i + 1);
    }
    qn_graph_destroy(graph);
    qn_stream_destroy(stream);
}

static void every_call_is_recorded(void **state) {
    (void)state;
    kernels_fixture f = make_kernels_quickly();
    const operands o = make_operands(&f);
    float *x[2];
    for (uint32_t i = 0; i < 2; i++) x[i] = random_elements(QN_F32, COUNT_OF_ALL, -3, 3, 10 + i);
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) check_call(&f, &o, &calls[i], x);
    for (int i = 0; i < 2; i++) free(x[i]);
    end_kernels(&f);
}

/* The message names the call that was made and its field, not what it is made of. */
static void check_refused(const kernels_fixture *f, const call *c, qn_status status, qn_status wanted,
                          const char *what) {
    char begin[64];
    const char *message = qn_error_message(f->context);
    snprintf(begin, sizeof begin, "qn_kernels_%s: ", c->name);
    if (status != wanted || strncmp(message, begin, strlen(begin)) != 0 || !strstr(message, what))
        fail_msg("qn_kernels_%s: %s, '%s' is not '%s...%s'", c->name, qn_status_name(status), message, begin,
                 what);
}

static void what_is_of_others_is_refused_by_the_call(void **state) {
    (void)state;
    kernels_fixture f = make_kernels_quickly();
    qn_device *other = get_device(f.context, "null");
    if (other == f.device) { /* QUERN_CHECK=1 */
        end_kernels(&f);
        skip();
    }
    const operands own = make_operands(&f);
    qn_context *other_context = make_context(NULL);
    qn_device *far = get_device(other_context, "null");
    qn_buffer *others = make_buffer(other, RESULTS, NULL), *far_ones = make_buffer(far, RESULTS, NULL),
              *fixed;
    qn_stream *stream;
    assert_ok(f.context, qn_stream_create(other, &stream));
    assert_ok(f.context,
              qn_buffer_create(f.device, &(qn_buffer_desc){.size = RESULTS, .read_only = true}, &fixed));
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        operands o = own;
        check_refused(&f, &calls[i], calls[i].run(f.kernels, stream, &o), QN_ERROR_WRONG_CONTEXT,
                      "the stream is of null");
        o.out = others;
        check_refused(&f, &calls[i], calls[i].run(f.kernels, NULL, &o), QN_ERROR_WRONG_CONTEXT,
                      ".buffer is of null");
        o.out = far_ones;
        check_refused(&f, &calls[i], calls[i].run(f.kernels, NULL, &o), QN_ERROR_WRONG_CONTEXT,
                      ".buffer is of another context");
        o.out = fixed;
        check_refused(&f, &calls[i], calls[i].run(f.kernels, NULL, &o), QN_ERROR_ARGUMENT,
                      ".buffer is read-only");
    }
    qn_stream_destroy(stream);
    qn_buffer_destroy(others), qn_buffer_destroy(far_ones), qn_buffer_destroy(fixed);
    qn_context_destroy(other_context);
    end_kernels(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_call_is_recorded),
                                       cmocka_unit_test(what_is_of_others_is_refused_by_the_call)};
    return run_device_tests(tests);
}
