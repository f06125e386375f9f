/* Functions of functions: tangents (qn_jvp) beside differences and each other, and batches of examples (qn_vmap) beside examples one by one. */
#include "tensor_common.h"

static qn_tensor *turned(qn_tensor *x) { return qn_transpose(x, -1, -2); }

/* ---- functions of one example ---- */

static qn_tensor *maps(void *user, qn_tensor *const *x, size_t count) {
    (void)user, (void)count;
    return qn_add(qn_multiply(qn_sin(x[0]), qn_slice(x[1], 0, 0, 1, 1)), qn_softmax(x[0], 1));
}
static qn_tensor *reductions(void *user, qn_tensor *const *x, size_t count) {
    (void)user, (void)count;
    qn_tensor *most = qn_max(x[0], QN_AXES(0), true);
    return qn_subtract(qn_sum(qn_square(x[0]), QN_AXES(1), true),
                       qn_mean(qn_multiply(most, x[1]), QN_ALL_AXES, false));
}
static qn_tensor *views(void *user, qn_tensor *const *x, size_t count) {
    (void)user, (void)count;
    qn_tensor *around = qn_pad(qn_flip(turned(x[0]), QN_AXES(0)), 1, 1, 2, 7);
    qn_tensor *both = qn_concat((qn_tensor *[]){around, qn_tile(around, QN_SHAPE(1, 1))}, 2, 0);
    return qn_multiply(qn_reshape(both, QN_SHAPE(3, 2, QN_REST)), qn_sum(x[1], QN_ALL_AXES, false));
}
static qn_tensor *products(void *user, qn_tensor *const *x, size_t count) {
    (void)count;
    qn_tensor *shared = user; /* 2x3x3 beside the examples */
    return qn_matmul(qn_matmul(shared, x[0]),
                     qn_add(qn_matmul(turned(x[1]), x[1]), qn_matmul(turned(x[0]), x[0])));
}
static qn_tensor *ordered(void *user, qn_tensor *const *x, size_t count) {
    (void)user, (void)count;
    qn_tensor *places, *most = qn_top_k(x[0], 2, 1, false, &places);
    return qn_add(
        qn_multiply(qn_sum(most, QN_AXES(1), true), qn_sort(x[1], 0, true)),
        qn_add(qn_cumulative_sum(x[0], 1), qn_cast(qn_argsort(x[1], 1, false), qn_tensor_type(x[0]))));
}
static qn_tensor *taken(void *user, qn_tensor *const *x, size_t count) {
    (void)count;
    qn_tensor *indices = user; /* of all examples, and of each: where its rows are the largest */
    qn_tensor *rows = qn_take(x[0], indices, 0), *own = qn_argmax(x[1], 0, false);
    return qn_add(qn_take(x[0], own, 1), qn_sum(qn_add(rows, qn_take(rows, own, 1)), QN_AXES(0), false));
}
static qn_tensor *table(void *user, qn_tensor *const *x, size_t count) {
    (void)count;
    return qn_multiply(qn_take(user, qn_argmax(x[0], 1, false), 1),
                       2); /* rows of a table that examples share */
}
static qn_tensor *factors(void *user, qn_tensor *const *x, size_t count) {
    (void)user, (void)count;
    qn_tensor *square =
        qn_add(qn_matmul(x[0], turned(x[0])), qn_eye(qn_tensor_owner(x[0]), qn_tensor_type(x[0]), 3, 3, 0));
    qn_tensor *r, *q = qn_qr(square, false, &r), *v, *values = qn_eigen(square, &v);
    qn_tensor *sum = qn_add(qn_add(qn_cholesky(square), qn_inverse(square)), qn_matmul(q, qn_square(r)));
    return qn_add(qn_multiply(sum, qn_determinant(square)),
                  qn_add(values, qn_add(qn_square(v), qn_svd(square, NULL, NULL))));
}
static qn_tensor *images(void *user, qn_tensor *const *x, size_t count) {
    (void)count;
    qn_tensor *image = qn_reshape(x[0], QN_SHAPE(1, 2, 3, 2));
    return qn_convolution(image, user, NULL, &(qn_convolution_desc){.padding = {1, 1}});
}
static qn_tensor *gradients(void *user, qn_tensor *const *x, size_t count) {
    (void)user, (void)count;
    qn_tensor *own = qn_tensor_require_gradient(qn_multiply(x[0], 1), true), *g;
    qn_gradients(
        qn_multiply(qn_sum(qn_power(own, 3.0), QN_ALL_AXES, false), qn_max(x[1], QN_ALL_AXES, false)), &own,
        1, &g);
    return g;
}
static const qn_pool_desc overlapping = {.window = {2, 3}, .stride = {1, 2}, .padding = {1, 1}};
static qn_tensor *pooled(void *user, qn_tensor *const *x, size_t count) {
    (void)user, (void)count;
    qn_tensor *line = qn_max_pool(qn_unsqueeze(x[1], 0), &(qn_pool_desc){.window = {2}, .stride = {3}});
    return qn_multiply(qn_max_pool(qn_reshape(x[0], QN_SHAPE(1, 1, 3, 4)), &overlapping),
                       qn_sum(line, QN_ALL_AXES, false));
}
static qn_tensor *pooled_back(void *user, qn_tensor *const *x, size_t count) {
    (void)user, (void)count;
    qn_tensor *own = qn_tensor_require_gradient(qn_reshape(x[0], QN_SHAPE(1, 1, 3, 4)), true), *g;
    qn_gradients(qn_sum(qn_square(qn_max_pool(own, &overlapping)), QN_ALL_AXES, false), &own, 1, &g);
    return qn_multiply(g, qn_reshape(x[1], QN_SHAPE(1, 1, 3, 4)));
}
/* Of one factor gradients are not wanted. */
static qn_tensor *squares(void *user, qn_tensor *const *x, size_t count) {
    (void)user, (void)count;
    return qn_multiply(qn_square(x[0]), qn_add(qn_detach(x[1]), x[1]));
}
static qn_tensor *constant(void *user, qn_tensor *const *x, size_t count) {
    (void)user, (void)count;
    return qn_arange(qn_tensor_owner(x[0]), QN_F32, 0, 3, 1);
}

/* What a function uses beside its inputs. */
typedef struct shared {
    qn_tensor *matrices, *indices, *table, *weights;
} shared;

static shared make_shared(tensor_fixture *f) {
    static const int32_t indices[] = {2, 0, -1, 1};
    return (shared){scattered(f, QN_SHAPE(2, 3, 3), -1, 1, 4),
                    qn_from_data(f->t, QN_I32, QN_SHAPE(4), indices), scattered(f, QN_SHAPE(2, 4), -1, 1, 5),
                    scattered(f, QN_SHAPE(3, 2, 2, 2), -1, 1, 6)};
}

typedef struct transformed {
    const char *name;
    qn_tensor_function *function;
    void *user;
    bool only_batches; /* it has no tangent, or one that differences do not find */
} transformed;

enum { FUNCTIONS = 13 };

static void list_functions(const shared *s, transformed list[FUNCTIONS]) {
    const transformed all[FUNCTIONS] = {{"maps", maps, NULL, false},
                                        {"reductions", reductions, NULL, false},
                                        {"views", views, NULL, false},
                                        {"products", products, s->matrices, false},
                                        {"order", ordered, NULL, false},
                                        {"indices", taken, s->indices, false},
                                        {"indices of a table", table, s->table, true},
                                        {"factors", factors, NULL, false},
                                        {"images", images, s->weights, false},
                                        {"windows", pooled, NULL, false},
                                        {"windows' gradients", pooled_back, NULL, true},
                                        {"gradients", gradients, NULL, true},
                                        {"constants", constant, NULL, true}};
    memcpy(list, all, sizeof all);
}

/* ---- batches ---- */

static void read_doubles(tensor_fixture *f, qn_tensor *x, double *values, uint64_t most) {
    const uint64_t count = qn_tensor_count(x);
    assert_true(count <= most);
    if (qn_tensor_type(x) == QN_F64) {
        assert_ok(f->context, qn_tensor_read(x, values, count * sizeof *values));
        return;
    }
    float narrow[1024];
    assert_true(count <= 1024);
    read_floats(f, x, narrow, count);
    for (uint64_t i = 0; i < count; i++) values[i] = (double)narrow[i];
}

/* The function's results for each example alone are those of all together. */
static void check_batch(tensor_fixture *f, const transformed *c) {
    enum { EXAMPLES = 3 };
    static double one[1024], all[1024];
    qn_tensor *x[] = {scattered(f, QN_SHAPE(EXAMPLES, 3, 4), -1, 1.3, 1),
                      scattered(f, QN_SHAPE(EXAMPLES, 3, 4), 0.2, 1, 2)};
    qn_tensor *y = qn_vmap(c->function, c->user, x, 2);
    if (qn_tensor_status(y)) fail_msg("%s: %s", c->name, qn_error_message(f->context));
    read_doubles(f, y, all, 1024);
    for (int64_t e = 0; e < EXAMPLES; e++) {
        qn_tensor *example[2];
        for (int i = 0; i < 2; i++) example[i] = qn_squeeze(qn_slice(x[i], 0, e, e + 1, 1), QN_AXES(0));
        qn_tensor *wanted = c->function(c->user, example, 2);
        const uint64_t count = qn_tensor_count(wanted);
        assert_int_equal(count * EXAMPLES, qn_tensor_count(y));
        read_doubles(f, wanted, one, 1024);
        for (uint64_t i = 0; i < count; i++)
            if (!(fabs(one[i] - all[(uint64_t)e * count + i]) <= 2e-5 * (1 + fabs(one[i]))))
                fail_msg("%s: element %u of example %d is %g, not %g", c->name, (unsigned)i, (int)e,
                         all[(uint64_t)e * count + i], one[i]);
    }
}

/* The loop over examples, as a function: its gradients are those of the batch. */
static qn_tensor *batch_of(void *user, qn_tensor *const *x, size_t count) {
    const transformed *c = user;
    return qn_vmap(c->function, c->user, x, count);
}

/* What the function detaches is detached in the batch. */
static void gradients_stop(tensor_fixture *f) {
    float value[2];
    qn_tensor *x[] = {qn_tensor_require_gradient(counting(f, QN_SHAPE(2), 2, 1), true),
                      qn_tensor_require_gradient(counting(f, QN_SHAPE(2), 5, 1), true)},
              *g[2];
    assert_ok(f->context, qn_gradients(qn_vmap(squares, NULL, x, 2), x, 2, g));
    read_floats(f, g[0], value, 2);
    assert_near(value[1], 2 * 3 * 2 * 6);
    read_floats(f, g[1], value, 2);
    assert_near(value[1], 9);
}

static void batches(void **state) {
    tensor_fixture *f = fixture_of(state);
    transformed list[FUNCTIONS];
    assert_ok(f->context, qn_scope_begin(f->t));
    const shared s = make_shared(f);
    list_functions(&s, list);
    for (int i = 0; i < FUNCTIONS; i++) {
        assert_ok(f->context, qn_scope_begin(f->t));
        check_batch(f, &list[i]);
        assert_ok(f->context, qn_scope_end(f->t));
    }
    qn_tensor *x[] = {scattered(f, QN_SHAPE(2, 2, 3), -1, 1, 3), scattered(f, QN_SHAPE(2, 2, 3), -1, 1, 4)};
    check(f, "a batch's gradients", batch_of, &list[0], x, 2);
    gradients_stop(f);
    qn_tensor *none[] = {qn_zeros(f->t, QN_F32, QN_SHAPE(0, 3, 4)),
                         qn_zeros(f->t, QN_F32, QN_SHAPE(0, 3, 4))};
    const qn_shape shape = qn_tensor_shape(qn_vmap(maps, NULL, none, 2));
    assert_int_equal(shape.rank, 3);
    assert_true(shape.sizes[0] == 0 && shape.sizes[1] == 3 && shape.sizes[2] == 4);
    assert_ok(f->context, qn_scope_end(f->t));
}

/* ---- tangents ---- */

/* The function with the inputs moved along their tangents. */
static void moved(tensor_fixture *f, const transformed *c, qn_tensor *const *x, qn_tensor *const *v,
                  double by, double *values) {
    qn_tensor *y[2];
    for (int i = 0; i < 2; i++) y[i] = qn_add(x[i], qn_multiply(v[i], by));
    read_doubles(f, c->function(c->user, y, 2), values, 1024);
}

static void check_tangent(tensor_fixture *f, const transformed *c) {
    static double above[1024], below[1024], got[1024];
    qn_tensor *x[] = {scattered(f, QN_SHAPE(3, 4), -1, 1.3, 1), scattered(f, QN_SHAPE(3, 4), 0.2, 1, 2)},
              *v[] = {scattered(f, QN_SHAPE(3, 4), -1, 1, 3), scattered(f, QN_SHAPE(3, 4), -1, 1, 4)},
              *tangent;
    qn_tensor *y = qn_jvp(c->function, c->user, x, v, 2, &tangent);
    if (qn_tensor_status(y) || qn_tensor_status(tangent))
        fail_msg("%s: %s", c->name, qn_error_message(f->context));
    const bool wide = qn_tensor_type(x[0]) == QN_F64;
    const double step = wide ? 1e-6 : 1e-3, room = wide ? 2e-6 : 3e-2;
    moved(f, c, x, v, step, above);
    moved(f, c, x, v, -step, below);
    read_doubles(f, tangent, got, 1024);
    for (uint64_t i = 0; i < qn_tensor_count(y); i++) {
        const double wanted = (above[i] - below[i]) / (2 * step);
        if (!(fabs(got[i] - wanted) <= room * (1 + fabs(wanted))))
            fail_msg("%s: tangent %u is %g, not %g", c->name, (unsigned)i, got[i], wanted);
    }
    read_doubles(f, y, got, 1024);
    read_doubles(f, c->function(c->user, x, 2), above, 1024);
    for (uint64_t i = 0; i < qn_tensor_count(y); i++)
        assert_true(fabs(got[i] - above[i]) <= 1e-6 * (1 + fabs(got[i])));
}

/* x to its tangent along ones: the second derivative where the function is a tangent itself. */
static qn_tensor *tangent_of_cubes(void *user, qn_tensor *const *x, size_t count) {
    (void)user, (void)count;
    qn_tensor *one = qn_ones_like(x[0]), *tangent;
    qn_tensor *cube(void *, qn_tensor *const *, size_t);
    qn_jvp(cube, NULL, x, &one, 1, &tangent);
    return tangent;
}
qn_tensor *cube(void *user, qn_tensor *const *x, size_t count) {
    (void)user, (void)count;
    return qn_multiply(qn_square(x[0]), x[0]);
}

static void tangents(void **state) {
    tensor_fixture *f = fixture_of(state);
    transformed list[FUNCTIONS];
    float value[2];
    assert_ok(f->context, qn_scope_begin(f->t));
    const shared s = make_shared(f);
    list_functions(&s, list);
    for (int i = 0; i < FUNCTIONS; i++) {
        assert_ok(f->context, qn_scope_begin(f->t));
        if (!list[i].only_batches) check_tangent(f, &list[i]);
        assert_ok(f->context, qn_scope_end(f->t));
    }
    qn_tensor *x = counting(f, QN_SHAPE(2), 2, 1), *one = qn_ones_like(x), *second;
    read_floats(f, qn_jvp(tangent_of_cubes, NULL, &x, &one, 1, &second), value, 2);
    assert_near(value[1], 27);
    read_floats(f, second, value, 2); /* 6 x */
    assert_near(value[0], 12);
    assert_near(value[1], 18);
    qn_no_gradient_begin(f->t); /* needs no gradients of others */
    qn_jvp(cube, NULL, &x, &one, 1, &second);
    qn_no_gradient_end(f->t);
    read_floats(f, second, value, 2);
    assert_near(value[0], 12);
    read_floats(f, qn_vmap(tangent_of_cubes, NULL, &x, 1), value, 2); /* a batch of tangents */
    assert_near(value[1], 27);
    check(f, "a tangent's gradients", tangent_of_cubes, NULL,
          (qn_tensor *[]){scattered(f, QN_SHAPE(4), -1, 1, 1)}, 1);
    assert_ok(f->context, qn_scope_end(f->t));
}

/* Where each op is computed at once, too. */
static void batches_of_an_eager_owner(void **state) {
    (void)state;
    tensor_fixture f = make_tensors(&(qn_tensors_desc){.eager = true});
    transformed list[FUNCTIONS];
    const shared s = make_shared(&f);
    list_functions(&s, list);
    for (int i = 0; i < FUNCTIONS; i++) check_batch(&f, &list[i]);
    check_tangent(&f, &list[0]);
    end_tensors(&f);
}

/* ---- refusals ---- */

/* Keeps what it made of an example. */
static qn_tensor *asks(void *user, qn_tensor *const *x, size_t count) {
    (void)count;
    *(qn_tensor **)user = qn_tensor_retain(qn_sin(x[0]));
    float value = 0;
    assert_int_equal(qn_tensor_realize(qn_reshape(x[0], QN_SHAPE(2, 3))), QN_ERROR_STATE);
    assert_int_equal(qn_tensor_read(qn_sum(x[0], QN_ALL_AXES, false), &value, sizeof value), QN_ERROR_STATE);
    return qn_multiply(
        x[0], qn_tensor_item(qn_full(qn_tensor_owner(x[0]), QN_F32, QN_SCALAR, 2))); /* this has one */
}
static qn_tensor *counts(void *user, qn_tensor *const *x, size_t count) {
    (void)user, (void)count;
    return qn_histogram(x[0], 4, 0, 1);
}
static qn_tensor *writes(void *user, qn_tensor *const *x, size_t count) {
    (void)user, (void)count;
    return qn_scatter(x[0], qn_argmax(x[0], 0, true), qn_max(x[0], QN_AXES(0), true), 0);
}
static qn_tensor *own_weights(void *user, qn_tensor *const *x, size_t count) {
    (void)user, (void)count;
    qn_tensor *image = qn_reshape(x[0], QN_SHAPE(1, 1, 2, 3));
    return qn_convolution(image, image, NULL, NULL);
}
static qn_tensor *whole(void *user, qn_tensor *const *x, size_t count) {
    (void)user, (void)count;
    return qn_argmax(x[0], 0, false);
}
static qn_tensor *fails(void *user, qn_tensor *const *x, size_t count) {
    (void)user, (void)count;
    return qn_matmul(x[0], qn_ones(qn_tensor_owner(x[0]), QN_F32, QN_SHAPE(7, 7)));
}

static qn_tensor *calls_again(void *user, qn_tensor *const *x, size_t count) {
    return qn_recompute(whole, user, x, count);
}
static qn_tensor *none(void *user, qn_tensor *gradient) {
    (void)user, (void)gradient;
    return NULL;
}
static qn_tensor *hooked(void *user, qn_tensor *const *x, size_t count) {
    (void)count;
    return qn_hook_gradient(qn_sin(x[0]), none, user);
}

static void refusals(void **state) {
    tensor_fixture *f = fixture_of(state);
    qn_tensor *x = counting(f, QN_SHAPE(2, 6), 0, 0.1f), *row = counting(f, QN_SHAPE(3), 0, 1), *t;
    float values[12];
#define REFUSED(function, wanted, sentence)                                                                  \
    assert_fails(f->context, qn_tensor_status(qn_vmap(function, NULL, &x, 1)), wanted, sentence)
    read_floats(f, qn_vmap(asks, &t, &x, 1), values, 12);
    assert_near(values[11], 2.2);
    assert_fails(f->context, qn_tensor_read(t, values, 6 * sizeof *values), QN_ERROR_STATE,
                 "depends on one of qn_vmap's examples");
    qn_tensor_release(t);
    REFUSED(counts, QN_ERROR_UNSUPPORTED,
            "qn_vmap: histogram of u32 4: it is not made for several examples at once");
    REFUSED(writes, QN_ERROR_UNSUPPORTED, "it writes where each example has indices of its own");
    REFUSED(own_weights, QN_ERROR_UNSUPPORTED, "each example has weights of its own");
    REFUSED(calls_again, QN_ERROR_UNSUPPORTED, "a function of qn_recompute sees one example");
    read_floats(f, qn_vmap(hooked, NULL, &x, 1), values, 12); /* without gradients there is nothing to see */
    qn_tensor *w = qn_tensor_require_gradient(qn_add(x, 0), true);
    assert_fails(f->context, qn_tensor_status(qn_vmap(hooked, NULL, &w, 1)), QN_ERROR_UNSUPPORTED,
                 "a function of qn_hook_gradient sees one example");
    REFUSED(fails, QN_ERROR_ARGUMENT, "qn_matmul: f32 1x6 and f32 7x7 do not go together");
    assert_fails(f->context, qn_tensor_status(qn_vmap(counts, NULL, (qn_tensor *[]){x, row}, 2)),
                 QN_ERROR_ARGUMENT,
                 "input 1 is f32 3, and the first f32 2x6: their first dimensions are the examples");
    assert_int_equal(qn_tensor_status(qn_vmap(counts, NULL, &x, 0)), QN_ERROR_NULL);
    assert_int_equal(qn_tensor_status(qn_jvp(NULL, NULL, &x, &x, 1, NULL)), QN_ERROR_NULL);
    assert_fails(f->context, qn_tensor_status(qn_jvp(cube, NULL, &x, &row, 1, &t)), QN_ERROR_ARGUMENT,
                 "input 0 is f32 2x6, and its tangent f32 3");
    assert_fails(f->context, qn_tensor_status(t), QN_ERROR_ARGUMENT, "input 0 is f32 2x6");
    assert_fails(f->context, qn_tensor_status(qn_jvp(whole, NULL, &x, &x, 1, &t)), QN_ERROR_ARGUMENT,
                 "the function gives i64 6: of no float type");
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(batches), cmocka_unit_test(batches_of_an_eager_owner),
                                       cmocka_unit_test(tangents), cmocka_unit_test(refusals)};
    return run_tensor_tests(tests, NULL);
}
