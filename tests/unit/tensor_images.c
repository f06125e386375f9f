/* Convolutions of one to three dimensions, their transposes and pooling beside loops in double precision; their gradients, of both orders. */
#include "tensor_common.h"

enum { MOST = 4096 };

/* Images, outputs or channels, and three dimensions; those that are not there have a size of 1. */
typedef struct cube {
    uint64_t sizes[5];
    double data[MOST];
} cube;

static double *at(cube *c, uint64_t n, uint64_t k, uint64_t z, uint64_t y, uint64_t x) {
    const uint64_t *s = c->sizes;
    return &c->data[(((n * s[1] + k) * s[2] + z) * s[3] + y) * s[4] + x];
}

static uint64_t size_of(const cube *c) {
    return c->sizes[0] * c->sizes[1] * c->sizes[2] * c->sizes[3] * c->sizes[4];
}

/* Numbers from -1 to 1, none of them near another's neighbour. */
static void fill(cube *c, double seed) {
    assert_true(size_of(c) <= MOST);
    for (uint64_t i = 0; i < size_of(c); i++)
        c->data[i] = 2 * fmod(seed + (double)(i + 1) * 0.6180339887, 1) - 1;
}

/* The last `dimensions` of the three are the tensor's. */
static qn_tensor *tensor_of(tensor_fixture *f, const cube *c, uint32_t dimensions) {
    static float data[MOST];
    qn_shape shape = {2 + dimensions, {c->sizes[0], c->sizes[1]}};
    for (uint32_t d = 0; d < dimensions; d++) shape.sizes[2 + d] = c->sizes[5 - dimensions + d];
    for (uint64_t i = 0; i < size_of(c); i++) data[i] = (float)c->data[i];
    return qn_from_data(f->t, QN_F32, shape, data);
}

static void assert_cube(tensor_fixture *f, qn_tensor *x, const cube *wanted) {
    static float got[MOST];
    read_floats(f, x, got, size_of(wanted));
    for (uint64_t i = 0; i < size_of(wanted); i++)
        if (!(fabs((double)got[i] - wanted->data[i]) < 2e-5))
            fail_msg("element %u is %g, not %g", (unsigned)i, (double)got[i], wanted->data[i]);
}

typedef struct convolution_case {
    uint32_t dimensions;
    uint64_t images, channels, outputs;
    uint64_t sizes[3], taps[3]; /* the last ones count */
    qn_convolution_desc desc;   /* of the tensor's dimensions */
    bool bias;
} convolution_case;

static const convolution_case cases[] = {
    {1, 2, 3, 4, {1, 1, 11}, {1, 1, 3}, {.groups = 1}, true},
    {1, 2, 4, 6, {1, 1, 12}, {1, 1, 3}, {.stride = {2}, .padding = {2}, .dilation = {2}, .groups = 2}, false},
    {2, 2, 3, 5, {1, 7, 6}, {1, 3, 2}, {.padding = {1, 0}}, true},
    {2,
     1,
     4,
     4,
     {1, 9, 8},
     {1, 3, 3},
     {.stride = {2, 3}, .padding = {1, 2}, .dilation = {2, 1}, .groups = 4},
     true},
    {3,
     2,
     2,
     3,
     {5, 6, 4},
     {3, 3, 2},
     {.stride = {2, 1, 1}, .padding = {1, 1, 0}, .dilation = {1, 2, 1}},
     true},
};

/* Parameter `which` (stride, padding, dilation) of dimension d of three. */
static uint64_t parameter(const convolution_case *c, const uint32_t *list, uint32_t d, uint32_t otherwise) {
    const uint32_t missing = 3 - c->dimensions;
    if (d < missing) return otherwise;
    return list[d - missing] ? list[d - missing] : otherwise;
}

/* What the taps of one element of the result meet: from[d], or the outside. */
static bool meets(const convolution_case *c, const uint64_t *to, const uint64_t *tap, const uint64_t *sizes,
                  uint64_t *from) {
    for (uint32_t d = 0; d < 3; d++) {
        const int64_t place = (int64_t)(to[d] * parameter(c, c->desc.stride, d, 1) +
                                        tap[d] * parameter(c, c->desc.dilation, d, 1)) -
                              (int64_t)parameter(c, c->desc.padding, d, 0);
        if (place < 0 || place >= (int64_t)sizes[d]) return false;
        from[d] = (uint64_t)place;
    }
    return true;
}

/* to += from weights, or from += to weights where `transposed`. */
static void convolve(const convolution_case *c, cube *from, cube *weights, cube *to, bool transposed) {
    const uint64_t groups = c->desc.groups ? c->desc.groups : 1, inputs = weights->sizes[1],
                   outputs = to->sizes[1] / groups;
    uint64_t p[3], tap[3], q[3];
    for (uint64_t n = 0; n < to->sizes[0]; n++)
        for (uint64_t k = 0; k < to->sizes[1]; k++)
            for (uint64_t i = 0; i < inputs; i++)
                for (p[0] = 0; p[0] < to->sizes[2]; p[0]++)
                    for (p[1] = 0; p[1] < to->sizes[3]; p[1]++)
                        for (p[2] = 0; p[2] < to->sizes[4]; p[2]++)
                            for (tap[0] = 0; tap[0] < weights->sizes[2]; tap[0]++)
                                for (tap[1] = 0; tap[1] < weights->sizes[3]; tap[1]++)
                                    for (tap[2] = 0; tap[2] < weights->sizes[4]; tap[2]++) {
                                        if (!meets(c, p, tap, from->sizes + 2, q)) continue;
                                        double *a = at(from, n, k / outputs * inputs + i, q[0], q[1], q[2]);
                                        double *b = at(to, n, k, p[0], p[1], p[2]);
                                        const double w = *at(weights, k, i, tap[0], tap[1], tap[2]);
                                        if (transposed)
                                            *a += *b * w;
                                        else
                                            *b += *a * w;
                                    }
}

static void make_case(const convolution_case *c, cube *x, cube *w, cube *y) {
    const uint64_t groups = c->desc.groups ? c->desc.groups : 1;
    *x = (cube){.sizes = {c->images, c->channels, c->sizes[0], c->sizes[1], c->sizes[2]}};
    *w = (cube){.sizes = {c->outputs, c->channels / groups, c->taps[0], c->taps[1], c->taps[2]}};
    *y = (cube){.sizes = {c->images, c->outputs}};
    for (uint32_t d = 0; d < 3; d++) {
        const uint64_t reach = (c->taps[d] - 1) * parameter(c, c->desc.dilation, d, 1) + 1;
        y->sizes[2 + d] = (c->sizes[d] + 2 * parameter(c, c->desc.padding, d, 0) - reach) /
                              parameter(c, c->desc.stride, d, 1) +
                          1;
    }
    fill(x, 0.1);
    fill(w, 0.3);
}

static void images_are_convolved(void **state) {
    tensor_fixture *f = fixture_of(state);
    static const float biases[] = {0.5f, -1, 2, 0, 1, 3};
    static cube x, w, y;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const convolution_case *c = &cases[i];
        make_case(c, &x, &w, &y);
        for (uint64_t e = 0; e < size_of(&y); e++)
            y.data[e] = c->bias ? (double)biases[e / (y.sizes[2] * y.sizes[3] * y.sizes[4]) % c->outputs] : 0;
        convolve(c, &x, &w, &y, false);
        qn_tensor *bias = c->bias ? qn_from_data(f->t, QN_F32, QN_SHAPE(c->outputs), biases) : NULL;
        assert_cube(
            f,
            qn_convolution(tensor_of(f, &x, c->dimensions), tensor_of(f, &w, c->dimensions), bias, &c->desc),
            &y);
    }
}

static void images_are_convolved_back(void **state) {
    tensor_fixture *f = fixture_of(state);
    static cube x, w, y;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const convolution_case *c = &cases[i];
        make_case(c, &x, &w, &y);
        fill(&y, 0.7);
        memset(x.data, 0, sizeof x.data);
        convolve(c, &x, &w, &y, true);
        qn_convolution_desc desc = c->desc;
        for (uint32_t d = 0; d < c->dimensions; d++) { /* what no window reaches is there, too */
            const uint32_t k = d + 3 - c->dimensions;
            const uint64_t reach = (c->taps[k] - 1) * parameter(c, c->desc.dilation, k, 1) + 1;
            const uint64_t whole = (y.sizes[2 + k] - 1) * parameter(c, c->desc.stride, k, 1) + reach -
                                   2 * parameter(c, c->desc.padding, k, 0);
            desc.further[d] = (uint32_t)(x.sizes[2 + k] - whole);
        }
        assert_cube(f,
                    qn_transposed_convolution(tensor_of(f, &y, c->dimensions),
                                              tensor_of(f, &w, c->dimensions), NULL, &desc),
                    &x);
    }
}

static qn_tensor *pair(void *user, qn_tensor *const *x, size_t count) {
    (void)count;
    return qn_square(qn_convolution(x[0], x[1], x[2], user));
}

static qn_tensor *pair_back(void *user, qn_tensor *const *x, size_t count) {
    (void)count;
    return qn_square(qn_transposed_convolution(x[0], x[1], NULL, user));
}

static qn_tensor *resized(void *user, qn_tensor *const *x, size_t count) {
    (void)count;
    return qn_square(qn_interpolate(x[0], user));
}

static qn_tensor *windows(void *user, qn_tensor *const *x, size_t count) {
    (void)count;
    qn_tensor *columns = qn_square(qn_unfold(qn_pixel_unshuffle(qn_pixel_shuffle(x[0], 2), 2), user));
    return qn_square(qn_fold(columns, 4, 5, user));
}

static qn_tensor *numbers(tensor_fixture *f, qn_shape shape, double seed) {
    double data[256];
    uint64_t count = 1;
    for (uint32_t d = 0; d < shape.rank; d++) count *= shape.sizes[d];
    assert_true(count <= 256);
    for (uint64_t i = 0; i < count; i++) data[i] = 2 * fmod(seed + (double)(i + 1) * 0.6180339887, 1) - 1;
    return qn_from_data(f->t, QN_F64, shape, data);
}

/* What the squares of all first gradients of a sum of squares add up to, for x of 2 x 3 x 3 and weights of 2 x 2 x 2 x 2; with its own gradients by both where
   `gradients` is not NULL. They want those of all three calls. */
static double squares(tensor_fixture *f, const double *data, double *gradients) {
    const qn_convolution_desc desc = {.padding = {1, 1}};
    qn_tensor *x[] = {qn_from_data(f->t, QN_F64, QN_SHAPE(1, 2, 3, 3), data),
                      qn_from_data(f->t, QN_F64, QN_SHAPE(2, 2, 2, 2), data + 18)};
    qn_tensor *first[2], *again[2];
    for (uint32_t i = 0; i < 2; i++) qn_tensor_require_gradient(x[i], true);
    qn_tensor *y = qn_square(qn_convolution(x[0], x[1], NULL, &desc));
    assert_ok(f->context, qn_gradients(y, x, 2, first));
    qn_tensor *sum = qn_add(qn_sum(qn_square(first[0]), QN_ALL_AXES, false),
                            qn_sum(qn_square(first[1]), QN_ALL_AXES, false));
    if (gradients) {
        assert_ok(f->context, qn_gradients(sum, x, 2, again));
        assert_ok(f->context, qn_tensor_read(again[0], gradients, 18 * sizeof *gradients));
        assert_ok(f->context, qn_tensor_read(again[1], gradients + 18, 16 * sizeof *gradients));
    }
    double value;
    assert_ok(f->context, qn_tensor_read(sum, &value, sizeof value));
    return value;
}

static void second_gradients_are_right(void **state) {
    tensor_fixture *f = fixture_of(state);
    if (!(f->info.capabilities & QN_CAN_F64)) skip();
    double data[34], gradients[34];
    for (uint32_t i = 0; i < 34; i++) data[i] = 2 * fmod(0.1 + (i + 1) * 0.6180339887, 1) - 1;
    squares(f, data, gradients);
    for (uint32_t i = 0; i < 34; i++) {
        const double was = data[i];
        data[i] = was + 1e-5;
        const double above = squares(f, data, NULL);
        data[i] = was - 1e-5;
        const double change = (above - squares(f, data, NULL)) / 2e-5;
        data[i] = was;
        if (!(fabs(change - gradients[i]) < 1e-5 * (1 + fabs(change))))
            fail_msg("by number %u: %g, not %g", i, gradients[i], change);
    }
}

static void gradients_are_right(void **state) {
    tensor_fixture *f = fixture_of(state);
    if (!(f->info.capabilities & QN_CAN_F64)) skip();
    qn_convolution_desc plain = {.padding = {1, 1}},
                        wide = {.stride = {2, 2}, .dilation = {1, 2}, .groups = 2};
    qn_tensor *x[] = {numbers(f, QN_SHAPE(1, 2, 4, 5), 0.1), numbers(f, QN_SHAPE(2, 2, 3, 3), 0.4),
                      numbers(f, QN_SHAPE(2), 0.2)};
    assert_ok(f->context, qn_check_gradients(pair, &plain, x, 3, NULL));
    assert_ok(f->context, qn_check_gradients(pair_back, &plain, x, 2, NULL));
    qn_tensor *g[] = {numbers(f, QN_SHAPE(1, 4, 5, 6), 0.1), numbers(f, QN_SHAPE(4, 2, 2, 2), 0.4),
                      numbers(f, QN_SHAPE(4), 0.2)};
    assert_ok(f->context, qn_check_gradients(pair, &wide, g, 3, NULL));
    qn_convolution_desc deep = {.padding = {1, 0, 1}};
    qn_tensor *v[] = {numbers(f, QN_SHAPE(1, 2, 3, 3, 4), 0.1), numbers(f, QN_SHAPE(2, 2, 2, 2, 3), 0.4),
                      numbers(f, QN_SHAPE(2), 0.2)};
    assert_ok(f->context, qn_check_gradients(pair, &deep, v, 3, NULL));
    qn_convolution_desc spread = {.stride = {2, 1, 2}, .padding = {1, 0, 0}, .further = {1, 0, 0}};
    assert_ok(f->context, qn_check_gradients(pair_back, &spread, v, 2, NULL));
}

/* Values are compared with PyTorch's (tests/tensor/test_torch.py). */
static void resized_images_and_windows_have_gradients(void **state) {
    tensor_fixture *f = fixture_of(state);
    if (!(f->info.capabilities & QN_CAN_F64)) skip();
    qn_tensor *x = numbers(f, QN_SHAPE(1, 2, 3, 4), 0.1), *columns = numbers(f, QN_SHAPE(1, 4, 4, 5), 0.2);
    for (uint32_t how = 0; how < 3; how++) {
        qn_interpolate_desc desc = {{5, 3}, (qn_interpolation)how, how == 2};
        assert_ok(f->context, qn_check_gradients(resized, &desc, &x, 1, NULL));
    }
    if (f->info.max_args_size < 2048)
        return; /* PoCL takes 768 bytes of arguments; a kernel of six taps has more */
    qn_unfold_desc desc = {.window = {2, 3}, .stride = {1, 2}, .padding = {0, 1}, .dilation = {2, 1}};
    assert_ok(f->context, qn_check_gradients(windows, &desc, &columns, 1, NULL));
}

/* ---- pooling ---- */

static qn_tensor *most(void *user, qn_tensor *const *x, size_t count) {
    (void)count;
    return qn_square(qn_max_pool(x[0], user));
}

static qn_tensor *mean(void *user, qn_tensor *const *x, size_t count) {
    (void)count;
    return qn_square(qn_average_pool(x[0], user));
}

static void windows_are_pooled(void **state) {
    tensor_fixture *f = fixture_of(state);
    static cube x, largest, average;
    x = (cube){.sizes = {2, 3, 1, 7, 6}};
    largest = average = (cube){.sizes = {2, 3, 1, 4, 3}}; /* (7 + 2 - 3) / 2 + 1, (6 - 2) / 2 + 1 */
    fill(&x, 0.2);
    for (uint64_t nk = 0; nk < 6; nk++)
        for (uint64_t r = 0; r < 4; r++)
            for (uint64_t c = 0; c < 3; c++) {
                double top = -INFINITY, sum = 0;
                for (uint64_t i = 0; i < 3; i++)
                    for (uint64_t j = 0; j < 2; j++) {
                        const uint64_t row = r * 2 + i, column = c * 2 + j; /* row of the padded image */
                        if (row < 1 || row > 7) continue;
                        const double e = *at(&x, nk / 3, nk % 3, 0, row - 1, column);
                        top = e > top ? e : top;
                        sum += e;
                    }
                *at(&largest, nk / 3, nk % 3, 0, r, c) = top;
                *at(&average, nk / 3, nk % 3, 0, r, c) = sum / 6;
            }
    qn_pool_desc desc = {.window = {3, 2}, .stride = {2, 2}, .padding = {1, 0}};
    assert_cube(f, qn_max_pool(tensor_of(f, &x, 2), &desc), &largest);
    assert_cube(f, qn_average_pool(tensor_of(f, &x, 2), &desc), &average);
    if (!(f->info.capabilities & QN_CAN_F64)) return;
    qn_tensor *small = numbers(f, QN_SHAPE(1, 2, 5, 4), 0.3);
    assert_ok(f->context, qn_check_gradients(most, &desc, &small, 1, NULL));
    assert_ok(f->context, qn_check_gradients(mean, &desc, &small, 1, NULL));
}

static qn_tensor *gradient_of_most(void *user, qn_tensor *const *x, size_t count) {
    (void)count;
    qn_tensor *own = qn_tensor_require_gradient(qn_multiply(x[0], 1), true), *g;
    qn_gradients(qn_sum(qn_power(qn_max_pool(own, user), 3.0), QN_ALL_AXES, false), &own, 1, &g);
    return g;
}

/* Of one to three dimensions, and gradients of gradients. */
static void gradients_of_windows_that_overlap(void **state) {
    tensor_fixture *f = fixture_of(state);
    if (!(f->info.capabilities & QN_CAN_F64)) skip();
    qn_pool_desc line = {.window = {3}, .stride = {2}, .padding = {1}}, plane = {{3, 3}, {2, 2}, {1, 1}},
                 volume = {{2, 3, 2}, {1, 2, 1}, {1, 0, 1}}, large = {{9, 8}, {1, 1}, {4, 4}};
    qn_tensor *x[] = {numbers(f, QN_SHAPE(2, 2, 9), 0.1), numbers(f, QN_SHAPE(1, 2, 6, 8), 0.2),
                      numbers(f, QN_SHAPE(1, 2, 3, 5, 4), 0.3), numbers(f, QN_SHAPE(1, 1, 6, 6), 0.4)};
    qn_pool_desc *const desc[] = {&line, &plane, &volume, &large};
    for (uint32_t i = 0; i < 4; i++) {
        assert_ok(f->context, qn_check_gradients(most, desc[i], &x[i], 1, NULL));
        if (i < 2) assert_ok(f->context, qn_check_gradients(gradient_of_most, desc[i], &x[i], 1, NULL));
    }
}

/* Of equal elements the first has the gradient, whether or not the largest were read before it was asked for. */
static void equal_elements_of_windows(void **state) {
    tensor_fixture *f = fixture_of(state);
    static const float values[16] = {0, 0, 0, 0, 0, 2, 2, 0, 0, 2, 2, 0, 0, 0, 0, 0};
    for (uint32_t is_read = 0; is_read < 2; is_read++) {
        float got[16], most_of[9];
        qn_tensor *x =
            qn_tensor_require_gradient(qn_from_data(f->t, QN_F32, QN_SHAPE(1, 1, 4, 4), values), true);
        qn_tensor *y = qn_max_pool(x, &(qn_pool_desc){.window = {2, 2}, .stride = {2, 2}, .padding = {1, 1}}),
                  *g;
        assert_int_equal(qn_tensor_count(y), 9);
        if (is_read) read_floats(f, y, most_of, 9);
        assert_ok(f->context, qn_gradients(qn_sum(y, QN_ALL_AXES, false), &x, 1, &g));
        read_floats(f, g, got, 16);
        /* Windows are of one element in the corners, of two at the edges, of four in the middle. */
        static const float by_place[16] = {1, 1, 0, 1, 1, 1, 0, 1, 0, 0, 0, 0, 1, 1, 0, 1};
        for (int i = 0; i < 16; i++) assert_true(got[i] == by_place[i]);
    }
}

/* ---- channels that lie together ---- */

/* A block of a network: convolutions, norms over the batch, a rectifier, a sum with what came in, pooling, means of planes. */
static qn_tensor *block(void *user, qn_tensor *const *x, size_t count) {
    (void)user;
    const qn_convolution_desc around = {.padding = {1, 1}};
    qn_tensor *y = qn_convolution(x[0], x[1], x[2], &around),
              *rest = qn_subtract(y, qn_mean(y, QN_AXES(0, 2, 3), true));
    y = qn_multiply(rest, qn_rsqrt(qn_add(qn_mean(qn_square(rest), QN_AXES(0, 2, 3), true), 0.1)));
    y = qn_relu(qn_add(qn_multiply(y, qn_reshape(x[2], QN_SHAPE(QN_REST, 1, 1))), 0.05));
    y = qn_add(qn_convolution(y, x[3], NULL, &around), x[0]);
    y = qn_max_pool(y, &(qn_pool_desc){.window = {3, 3}, .stride = {2, 2}, .padding = {1, 1}});
    y = qn_where(qn_greater(y, count == 4 ? -0.3 : 0), y, qn_multiply(y, 0.5));
    return qn_mean(qn_multiply(y, qn_flip(y, QN_AXES(3))), QN_AXES(2, 3), false);
}

/* Values and gradients do not depend on how images lie. Where they lie with channels together, what is made of them does, too. */
static void images_with_channels_together(void **state) {
    enum {
        IMAGES = 2,
        CHANNELS = 6,
        ROWS = 5,
        COLUMNS = 4,
        ALL = IMAGES * CHANNELS * ROWS * COLUMNS,
        WEIGHTS = CHANNELS * CHANNELS * 9
    };
    tensor_fixture *f = fixture_of(state);
    static float data[ALL], turned[ALL], weights[2][WEIGHTS], bias[CHANNELS],
        got[2][ALL + 2 * WEIGHTS + CHANNELS + IMAGES * CHANNELS];
    for (int i = 0; i < ALL; i++) {
        const int pixel = i % (ROWS * COLUMNS), channel = i / (ROWS * COLUMNS) % CHANNELS,
                  image = i / (CHANNELS * ROWS * COLUMNS);
        data[i] = (float)(2 * fmod((i + 1) * 0.6180339887, 1) - 1);
        turned[(image * ROWS * COLUMNS + pixel) * CHANNELS + channel] = data[i];
    }
    for (int i = 0; i < 2 * WEIGHTS; i++)
        weights[i / WEIGHTS][i % WEIGHTS] = (float)(fmod((i + 1) * 0.7548776662, 1) - 0.5) / 3;
    for (int i = 0; i < CHANNELS; i++) bias[i] = 0.1f * (float)(i + 1);
    for (int together = 0; together < 2; together++) {
        qn_tensor *x = qn_from_data(f->t, QN_F32, QN_SHAPE(IMAGES, CHANNELS, ROWS, COLUMNS), data);
        if (together)
            x = qn_permute(qn_from_data(f->t, QN_F32, QN_SHAPE(IMAGES, ROWS, COLUMNS, CHANNELS), turned),
                           QN_AXES(0, 3, 1, 2));
        const qn_shape shape = QN_SHAPE(CHANNELS, CHANNELS, 3, 3);
        qn_tensor *inputs[] = {x, qn_from_data(f->t, QN_F32, shape, weights[0]),
                               qn_from_data(f->t, QN_F32, QN_SHAPE(CHANNELS), bias),
                               qn_from_data(f->t, QN_F32, shape, weights[1])},
                  *gradients[4];
        for (int i = 0; i < 4; i++) inputs[i] = qn_tensor_require_gradient(inputs[i], true);
        qn_tensor *y = block(NULL, inputs, 4);
        assert_ok(f->context, qn_gradients(qn_sum(qn_square(y), QN_ALL_AXES, false), inputs, 4, gradients));
        float *at = got[together];
        read_floats(f, y, at, IMAGES * CHANNELS);
        at += IMAGES * CHANNELS;
        for (int i = 0; i < 4; i++) {
            read_floats(f, gradients[i], at, qn_tensor_count(gradients[i]));
            at += qn_tensor_count(gradients[i]);
        }
    }
    for (size_t i = 0; i < sizeof got[0] / sizeof *got[0]; i++)
        if (!(fabsf(got[0][i] - got[1][i]) <= 1e-4f * (1 + fabsf(got[0][i]))))
            fail_msg("number %u is %g, and %g with channels together", (unsigned)i, (double)got[0][i],
                     (double)got[1][i]);
}

/* In 16 bits, with enough channels for the kernels that want them together: as in 32, to what those bits allow. */
static void images_of_halves(void **state) {
    enum { CHANNELS = 32, SIDE = 8, ALL = 2 * CHANNELS * SIDE * SIDE, WEIGHTS = CHANNELS * CHANNELS * 9 };
    tensor_fixture *f = fixture_of(state);
    static float got[2][2 * CHANNELS + ALL + 2 * WEIGHTS + CHANNELS];
    const qn_shape weights = QN_SHAPE(CHANNELS, CHANNELS, 3, 3);
    qn_tensor *numbers_of[] = {qn_rand(f->t, QN_F32, QN_SHAPE(2, CHANNELS, SIDE, SIDE)),
                               qn_subtract(qn_rand(f->t, QN_F32, weights), 0.5),
                               qn_rand(f->t, QN_F32, QN_SHAPE(CHANNELS)),
                               qn_subtract(qn_rand(f->t, QN_F32, weights), 0.5)};
    for (int i = 0; i < 4; i++) numbers_of[i] = qn_cast(qn_multiply(numbers_of[i], i % 2 ? 0.1 : 1), QN_F16);
    assert_ok(f->context, qn_realize(numbers_of, 4));
    for (int half = 0; half < 2; half++) {
        qn_tensor *inputs[4], *gradients[4];
        for (int i = 0; i < 4; i++)
            inputs[i] = qn_tensor_require_gradient(qn_cast(numbers_of[i], half ? QN_F16 : QN_F32), true);
        qn_tensor *y = block(NULL, inputs, 4);
        assert_ok(f->context, qn_gradients(qn_mean(qn_square(y), QN_ALL_AXES, false), inputs, 4, gradients));
        float *at = got[half];
        read_floats(f, qn_cast(y, QN_F32), at, 2 * CHANNELS);
        at += 2 * CHANNELS;
        for (int i = 0; i < 4; i++) {
            read_floats(f, qn_cast(gradients[i], QN_F32), at, qn_tensor_count(gradients[i]));
            at += qn_tensor_count(gradients[i]);
        }
    }
    double difference[5] = {0}, size[5] = {0}; /* of y and each gradient: sums of squares */
    const size_t ends[] = {2 * CHANNELS, ALL, WEIGHTS, CHANNELS, WEIGHTS};
    for (size_t part = 0, i = 0; part < 5; part++) {
        for (size_t k = 0; k < ends[part]; k++, i++) {
            const double d = (double)got[0][i] - (double)got[1][i];
            difference[part] += d * d;
            size[part] += (double)got[0][i] * (double)got[0][i];
        }
        if (!(difference[part] <=
              0.01 * size[part])) /* a tenth of the length: what is chosen by maxima may differ */
            fail_msg("part %u differs by %g of %g", (unsigned)part, sqrt(difference[part]), sqrt(size[part]));
    }
}

/* Gradients of gradients, and what others see of such images. */
static void views_of_channels_together(void **state) {
    tensor_fixture *f = fixture_of(state);
    if (!(f->info.capabilities & QN_CAN_F64)) skip();
    qn_tensor *inputs[] = {qn_permute(numbers(f, QN_SHAPE(1, 4, 3, 2), 0.2), QN_AXES(0, 3, 1, 2)),
                           numbers(f, QN_SHAPE(2, 2, 3, 3), 0.3), numbers(f, QN_SHAPE(2), 0.4),
                           numbers(f, QN_SHAPE(2, 2, 3, 3), 0.5)};
    assert_ok(f->context, qn_check_gradients(block, NULL, inputs, 4, NULL));
    qn_tensor *y = qn_convolution(inputs[0], inputs[1], NULL, &(qn_convolution_desc){.padding = {1, 1}});
    qn_tensor *whole = qn_multiply(qn_slice(y, 1, 1, 2, 1), 1);
    double part[12], all[24];
    assert_int_equal(qn_tensor_count(y), 24);
    assert_ok(f->context, qn_tensor_read(y, all, sizeof all));
    assert_ok(f->context, qn_tensor_read(whole, part, sizeof part));
    for (int i = 0; i < 12; i++) assert_true(part[i] == all[12 + i]);
    assert_ok(f->context, qn_tensor_read(qn_sum(qn_relu(y), QN_AXES(1), false), part, sizeof part));
    for (int i = 0; i < 12; i++) assert_true(fabs(part[i] - fmax(all[i], 0) - fmax(all[12 + i], 0)) < 1e-12);
}

/* ---- refusals ---- */

static void find_questions(void *user, const char *text) {
    *(bool *)user = *(bool *)user || strstr(text, "? x") != NULL;
}

/* Each element of a window finds what it needs at the window's place, without asking whether it is there. */
static void gradients_of_windows_side_by_side(void **state) {
    enum { IMAGES = 6, ROWS = 4, COLUMNS = 6, ALL = IMAGES * ROWS * COLUMNS, OUT = ALL / 4 };
    tensor_fixture *f = fixture_of(state);
    float values[ALL], weights[OUT], got[ALL];
    for (int i = 0; i < ALL; i++) values[i] = (float)(i * 37 % ALL); /* no two are equal */
    for (int i = 0; i < OUT; i++) weights[i] = (float)(i + 1);
    const qn_shape shape = QN_SHAPE(2, IMAGES / 2, ROWS, COLUMNS);
    qn_tensor *x = qn_tensor_require_gradient(qn_from_data(f->t, QN_F32, shape, values), true), *gradient;
    qn_tensor *w = qn_from_data(f->t, QN_F32, QN_SHAPE(2, IMAGES / 2, ROWS / 2, COLUMNS / 2), weights);
    qn_tensor *y = qn_max_pool(x, &(qn_pool_desc){.window = {2, 2}});
    assert_ok(f->context, qn_gradients(qn_sum(qn_multiply(y, w), QN_ALL_AXES, false), &x, 1, &gradient));
    bool asks = false;
    const qn_explain_desc desc = {.text = true};
    assert_ok(f->context, qn_tensor_explain(&gradient, 1, &desc, find_questions, &asks));
    assert_false(asks);
    read_floats(f, gradient, got, ALL);
    for (int i = 0; i < ALL; i++) {
        const int row = i / COLUMNS, corner = (row - row % 2) * COLUMNS + i % COLUMNS / 2 * 2;
        bool largest = true;
        for (int k = 0; k < 4; k++)
            largest = largest && values[i] >= values[corner + k / 2 * COLUMNS + k % 2];
        const float wanted = largest ? weights[row / 2 * (COLUMNS / 2) + i % COLUMNS / 2] : 0;
        if (got[i] != wanted) fail_msg("element %d is %g instead of %g", i, (double)got[i], (double)wanted);
    }
}

static void assert_refused(tensor_fixture *f, const qn_tensor *x, const char *sentence) {
    assert_fails(f->context, qn_tensor_status(x), QN_ERROR_ARGUMENT, sentence);
}

static void wrong_ones_are_refused(void **state) {
    tensor_fixture *f = fixture_of(state);
    qn_tensor *x = qn_ones(f->t, QN_F32, QN_SHAPE(1, 4, 5, 5)),
              *w = qn_ones(f->t, QN_F32, QN_SHAPE(6, 4, 3, 3));
    assert_refused(f, qn_convolution(x, qn_ones(f->t, QN_F32, QN_SHAPE(6, 4)), NULL, NULL),
                   "one to three further dimensions");
    assert_refused(f, qn_convolution(x, qn_ones(f->t, QN_F32, QN_SHAPE(6, 3, 3, 3)), NULL, NULL),
                   "in 1 groups");
    assert_refused(f, qn_convolution(x, w, qn_ones(f->t, QN_F32, QN_SHAPE(5)), NULL),
                   "a bias of f32 5 for 6 outputs");
    assert_refused(f, qn_convolution(x, w, NULL, &(qn_convolution_desc){.dilation = {3, 1}}),
                   "a window of 7 does not fit into 5");
    assert_refused(f, qn_convolution(qn_cast(x, QN_I32), qn_cast(w, QN_I32), NULL, NULL), "of floats");
    assert_refused(f, qn_transposed_convolution(x, w, NULL, NULL), "do not go with images");
    assert_refused(f,
                   qn_transposed_convolution(x, qn_ones(f->t, QN_F32, QN_SHAPE(4, 2, 3, 3)), NULL,
                                             &(qn_convolution_desc){.further = {1, 0}}),
                   "1 further is no size");
    assert_refused(f, qn_max_pool(x, &(qn_pool_desc){.window = {6, 2}}), "a window of 6 for 5 elements");
    assert_refused(f,
                   qn_max_pool(qn_ones(f->t, QN_F32, QN_SHAPE(1, 1, 0, 4)),
                               &(qn_pool_desc){.window = {2, 2}, .padding = {1, 0}}),
                   "a window of 2 for 0 elements with a padding of 1");
    assert_refused(f, qn_max_pool(x, NULL), "a descriptor");
    assert_refused(f, qn_average_pool(qn_cast(x, QN_I32), &(qn_pool_desc){.window = {2, 2}}), "of floats");
    assert_refused(f, qn_interpolate(x, &(qn_interpolate_desc){{4}, QN_INTERPOLATE_LINEAR, false}),
                   "qn_interpolate: dimension 3: 0 elements from 5");
    assert_refused(f, qn_interpolate(x, &(qn_interpolate_desc){{4, 4}, QN_INTERPOLATE_NEAREST, true}),
                   "corners are aligned with QN_INTERPOLATE_LINEAR");
    assert_refused(f, qn_interpolate(x, &(qn_interpolate_desc){.sizes = {4, 4}, .how = (qn_interpolation)3}),
                   "3 is no qn_interpolation");
    assert_refused(f, qn_interpolate(qn_cast(x, QN_I32), &(qn_interpolate_desc){.sizes = {4, 4}}),
                   "images of i32 1x4x5x5: they are of floats");
    assert_refused(f, qn_unfold(x, NULL), "and a descriptor");
    assert_refused(f, qn_unfold(x, &(qn_unfold_desc){.window = {6, 2}}),
                   "a window that reaches over 6 elements of 5 with a padding of 0");
    assert_refused(
        f, qn_fold(qn_ones(f->t, QN_F32, QN_SHAPE(1, 4, 7)), 3, 3, &(qn_unfold_desc){.window = {2, 2}}),
        "of 3x3 elements there are 4 windows of 4 taps");
    assert_refused(f, qn_pixel_shuffle(x, 3), "their channels are not squares of 3 pixels");
    assert_refused(f, qn_pixel_unshuffle(x, 2), "they are not of squares of 2 pixels");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(images_are_convolved),
        cmocka_unit_test(images_are_convolved_back),
        cmocka_unit_test(gradients_are_right),
        cmocka_unit_test(second_gradients_are_right),
        cmocka_unit_test(windows_are_pooled),
        cmocka_unit_test(gradients_of_windows_that_overlap),
        cmocka_unit_test(equal_elements_of_windows),
        cmocka_unit_test(images_with_channels_together),
        cmocka_unit_test(images_of_halves),
        cmocka_unit_test(views_of_channels_together),
        cmocka_unit_test(resized_images_and_windows_have_gradients),
        cmocka_unit_test(gradients_of_windows_side_by_side),
        cmocka_unit_test(wrong_ones_are_refused),
    };
    return run_tensor_tests(tests, NULL);
}
