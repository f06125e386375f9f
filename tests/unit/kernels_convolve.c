/* qn_kernels_convolve and qn_kernels_blur against plain loops in double precision: strides, padding, dilation, groups, bias, both orders of dimensions, tiles
   that end within and behind the array; what is refused. */
#include "kernels_common.h"

typedef struct convolve_case {
    qn_element type;
    uint64_t from[4], weights[4];
    uint32_t stride[2], padding[2], dilation[2], groups;
    bool bias, channels_last;
    const char *variant;
} convolve_case;

static uint64_t factor(uint32_t given) { return given ? given : 1; }

static uint64_t size_out(const convolve_case *c, int i) {
    return (c->from[2 + i] + 2 * c->padding[i] - (c->weights[2 + i] - 1) * factor(c->dilation[i]) - 1) /
               factor(c->stride[i]) +
           1;
}

/* Four dimensions in the order NCHW, in memory as such or with the channels last. */
static qn_array images(const convolve_case *c, qn_buffer *buffer, const uint64_t sizes[4]) {
    if (!c->channels_last) return QN_ARRAY(buffer, c->type, sizes[0], sizes[1], sizes[2], sizes[3]);
    const qn_array last = QN_ARRAY(buffer, c->type, sizes[0], sizes[2], sizes[3], sizes[1]);
    return qn_array_permute(last, (const uint32_t[]){0, 3, 1, 2});
}

/* The arrays of a convolution: each is the sum of products of the two others. */
typedef enum side { FROM, WEIGHTS, TO, SIDES } side;

typedef struct sides {
    qn_array arrays[SIDES]; /* without buffers */
    void *data[SIDES];
} sides;

static sides sides_of(const convolve_case *c, uint32_t seed) {
    const uint64_t to[4] = {c->from[0], c->weights[0], size_out(c, 0), size_out(c, 1)};
    sides s = {{images(c, NULL, c->from), images(c, NULL, c->weights), images(c, NULL, to)}, {NULL}};
    for (int i = 0; i < SIDES; i++)
        s.data[i] = random_elements(c->type, qn_array_count(&s.arrays[i]), -1, 1, seed + (uint32_t)i);
    return s;
}

static void free_sides(sides *s) {
    for (int i = 0; i < SIDES; i++) free(s->data[i]);
}

/* What the elements of one side should be: the sums, the sums of the sizes of what is added, and how many there are. */
typedef struct wanted {
    double *sum, *size, *terms;
} wanted;

static void add_product(const convolve_case *c, const sides *s, side of, const uint64_t places[SIDES],
                        wanted *w) {
    const side x = of == FROM ? TO : FROM, y = of == WEIGHTS ? TO : WEIGHTS;
    const double product =
        element_get(c->type, s->data[x], places[x]) * element_get(c->type, s->data[y], places[y]);
    w->sum[places[of]] += product;
    w->size[places[of]] += fabs(product);
    w->terms[places[of]]++;
}

/* All products that the element of TO is the sum of. */
static void add_products(const convolve_case *c, const sides *s, side of, const uint64_t at[QN_MAX_RANK],
                         wanted *w) {
    const uint64_t outputs = c->weights[0] / factor(c->groups), first = at[1] / outputs * c->weights[1];
    for (uint64_t k = 0; k < c->weights[1]; k++)
        for (uint64_t r = 0; r < c->weights[2]; r++)
            for (uint64_t t = 0; t < c->weights[3]; t++) {
                const uint64_t row =
                                   at[2] * factor(c->stride[0]) + r * factor(c->dilation[0]) - c->padding[0],
                               column =
                                   at[3] * factor(c->stride[1]) + t * factor(c->dilation[1]) - c->padding[1];
                if (row >= c->from[2] || column >= c->from[3]) continue; /* also what is below 0 */
                const uint64_t in[QN_MAX_RANK] = {at[0], first + k, row, column},
                               tap[QN_MAX_RANK] = {at[1], k, r, t};
                const uint64_t places[SIDES] = {element_place(&s->arrays[FROM], in),
                                                element_place(&s->arrays[WEIGHTS], tap),
                                                element_place(&s->arrays[TO], at)};
                add_product(c, s, of, places, w);
            }
}

static wanted wanted_of(const convolve_case *c, const sides *s, side of) {
    const uint64_t count = qn_array_count(&s->arrays[of]);
    wanted w = {calloc(count, sizeof(double)), calloc(count, sizeof(double)), calloc(count, sizeof(double))};
    assert_true(w.sum && w.size && w.terms);
    uint64_t at[QN_MAX_RANK] = {0};
    do add_products(c, s, of, at, &w);
    while (next_index(&s->arrays[TO], at));
    return w;
}

/* `bias`: for each output, or NULL. */
static void check_side(const convolve_case *c, const sides *s, side of, const void *got, const void *bias,
                       uint32_t seed) {
    static const char *const names[] = {"the gradient by from", "the gradient by the weights", "to"};
    wanted w = wanted_of(c, s, of);
    uint64_t at[QN_MAX_RANK] = {0};
    do {
        const uint64_t place = element_place(&s->arrays[of], at);
        const double sum = w.sum[place] + (bias ? element_get(c->type, bias, at[1]) : 0);
        const double bound =
            (w.size[place] + 1) * (w.terms[place] + 2) * (c->type == QN_F64 ? 0x1p-53 : 0x1p-24) +
            fabs(sum) * element_epsilon(c->type) * 2;
        const double result = element_get(c->type, got, place);
        if (!(fabs(result - sum) <= bound))
            fail_msg("case %u: %s at (%llu, %llu, %llu, %llu) is %.9g, not %.9g", seed, names[of],
                     (unsigned long long)at[0], (unsigned long long)at[1], (unsigned long long)at[2],
                     (unsigned long long)at[3], result, sum);
    } while (next_index(&s->arrays[of], at));
    free(w.sum), free(w.size), free(w.terms);
}

/* Arrays with buffers; `of` is left without what it should become. */
static void give_buffers(const kernels_fixture *f, const convolve_case *c, const sides *s, side of,
                         qn_array arrays[SIDES]) {
    for (int i = 0; i < SIDES; i++) {
        const uint64_t count = qn_array_count(&s->arrays[i]);
        arrays[i] = s->arrays[i];
        arrays[i].buffer = elements_buffer(f, c->type, count, i == (int)of ? NULL : s->data[i]);
    }
}

static void take_buffers(qn_array arrays[SIDES]) {
    for (int i = 0; i < SIDES; i++) qn_buffer_destroy(arrays[i].buffer);
}

#define WINDOW(c)                                                                                            \
    .stride = {(c)->stride[0], (c)->stride[1]}, .padding = {(c)->padding[0], (c)->padding[1]},               \
    .dilation = {(c)->dilation[0], (c)->dilation[1]}, .groups = (c)->groups, .variant = (c)->variant

static void check_convolve(kernels_fixture *f, const convolve_case *c, uint32_t seed) {
    if (!has_type(f, c->type)) return;
    sides s = sides_of(c, seed);
    qn_array arrays[SIDES];
    give_buffers(f, c, &s, TO, arrays);
    qn_convolve_desc d = {.from = arrays[FROM], .weights = arrays[WEIGHTS], .to = arrays[TO], WINDOW(c)};
    void *bias = random_elements(c->type, c->weights[0], -1, 1, seed + SIDES);
    if (c->bias) {
        d.bias = QN_ARRAY(NULL, c->type, c->weights[0]);
        d.bias.buffer = elements_buffer(f, c->type, c->weights[0], bias);
    }
    assert_ok(f->context, qn_kernels_convolve(f->kernels, NULL, &d));
    void *got = buffer_contents(f, arrays[TO].buffer);
    check_side(c, &s, TO, got, c->bias ? bias : NULL, seed);
    free(got), free(bias);
    qn_buffer_destroy(d.bias.buffer);
    take_buffers(arrays);
    free_sides(&s);
}

static void check_backward_input(kernels_fixture *f, const convolve_case *c, uint32_t seed) {
    if (!has_type(f, c->type)) return;
    sides s = sides_of(c, seed);
    qn_array arrays[SIDES];
    give_buffers(f, c, &s, FROM, arrays);
    const qn_convolve_backward_input_desc d = {
        .gradient = arrays[TO], .weights = arrays[WEIGHTS], .to = arrays[FROM], WINDOW(c)};
    assert_ok(f->context, qn_kernels_convolve_backward_input(f->kernels, NULL, &d));
    void *got = buffer_contents(f, arrays[FROM].buffer);
    check_side(c, &s, FROM, got, NULL, seed);
    free(got);
    take_buffers(arrays);
    free_sides(&s);
}

static void check_backward_weights(kernels_fixture *f, const convolve_case *c, uint32_t seed) {
    if (!has_type(f, c->type)) return;
    sides s = sides_of(c, seed);
    qn_array arrays[SIDES];
    give_buffers(f, c, &s, WEIGHTS, arrays);
    const qn_convolve_backward_weights_desc d = {
        .gradient = arrays[TO], .from = arrays[FROM], .to = arrays[WEIGHTS], WINDOW(c)};
    assert_ok(f->context, qn_kernels_convolve_backward_weights(f->kernels, NULL, &d));
    void *got = buffer_contents(f, arrays[WEIGHTS].buffer);
    check_side(c, &s, WEIGHTS, got, NULL, seed);
    free(got);
    take_buffers(arrays);
    free_sides(&s);
}

static const convolve_case cases[] = {
    {.type = QN_F32, .from = {2, 3, 7, 9}, .weights = {4, 3, 3, 3}, .padding = {1, 1}, .bias = true},
    {.type = QN_F32,
     .from = {2, 8, 9, 7},
     .weights = {20, 8, 3, 3},
     .padding = {1, 1},
     .channels_last = true},
    {.type = QN_F32,
     .from = {1, 6, 15, 12},
     .weights = {36, 3, 3, 5},
     .stride = {2, 1},
     .padding = {0, 2},
     .groups = 2,
     .bias = true},
    {.type = QN_F32, .from = {3, 17, 5, 5}, .weights = {70, 17, 1, 1}},
    {.type = QN_F32,
     .from = {2, 6, 10, 10},
     .weights = {6, 1, 3, 3},
     .dilation = {2, 3},
     .padding = {1, 4},
     .groups = 6},
    {.type = QN_F16, .from = {1, 16, 6, 6}, .weights = {16, 16, 3, 3}, .padding = {1, 1}, .bias = true},
    {.type = QN_BF16, .from = {1, 4, 6, 6}, .weights = {5, 4, 2, 2}, .channels_last = true},
    {.type = QN_F64, .from = {1, 5, 6, 6}, .weights = {16, 5, 2, 2}, .stride = {3, 2}},
    /* rows of taps one by one; more pixels than a tile */
    {.type = QN_F32,
     .from = {2, 3, 21, 24},
     .weights = {18, 3, 7, 7},
     .stride = {2, 2},
     .padding = {3, 3},
     .bias = true},
    /* in parts of the channels, in both orders */
    {.type = QN_F32, .from = {1, 67, 4, 4}, .weights = {68, 67, 3, 3}, .padding = {1, 1}, .bias = true},
    {.type = QN_F32,
     .from = {1, 72, 5, 3},
     .weights = {36, 72, 3, 3},
     .stride = {1, 2},
     .padding = {2, 1},
     .bias = true,
     .channels_last = true},
    /* groups of channels that lie together; strides and dilations with a common divisor, and more stride than taps */
    {.type = QN_F16, .from = {2, 24, 9, 8}, .weights = {32, 12, 1, 3}, .groups = 2, .channels_last = true},
    {.type = QN_F32,
     .from = {2, 5, 13, 15},
     .weights = {17, 5, 3, 2},
     .stride = {4, 3},
     .dilation = {2, 3},
     .padding = {3, 1}},
    {.type = QN_F32,
     .from = {1, 20, 8, 9},
     .weights = {16, 20, 2, 1},
     .stride = {3, 4},
     .channels_last = true},
    /* for matrix units: more outputs than a tile has, outputs that are no eights, parts of the channels */
    {.type = QN_F16,
     .from = {2, 16, 9, 7},
     .weights = {72, 16, 3, 3},
     .padding = {1, 1},
     .bias = true,
     .channels_last = true},
    {.type = QN_BF16,
     .from = {1, 80, 6, 5},
     .weights = {36, 80, 2, 3},
     .stride = {1, 2},
     .channels_last = true},
    /* for quads of sub-groups: runs of eight everywhere; taps of a stride apart; images and weights that are first copied */
    {.type = QN_F16,
     .from = {3, 24, 13, 9},
     .weights = {72, 24, 3, 3},
     .stride = {2, 1},
     .padding = {1, 1},
     .channels_last = true},
    {.type = QN_BF16,
     .from = {1, 72, 10, 12},
     .weights = {24, 72, 3, 2},
     .dilation = {2, 3},
     .padding = {2, 4},
     .bias = true,
     .channels_last = true},
    /* Rows of fewer columns than half a vector, more than a work-item pads, in two phases. */
    {.type = QN_F32, .from = {2, 32, 70, 3}, .weights = {24, 32, 2, 1}, .stride = {2, 1}},
    {.type = QN_BF16, .from = {2, 16, 9, 8}, .weights = {32, 16, 1, 1}, .stride = {2, 2}},
    {.type = QN_F16, .from = {3, 24, 5, 9}, .weights = {40, 24, 1, 1}, .channels_last = true},
    /* few channels, folded for quads: with a stride of 2, and rows and columns that begin differently; with one of 1 */
    {.type = QN_F16,
     .from = {2, 3, 22, 19},
     .weights = {24, 3, 7, 7},
     .stride = {2, 2},
     .padding = {3, 3},
     .bias = true,
     .channels_last = true},
    {.type = QN_BF16, .from = {2, 4, 11, 14}, .weights = {16, 4, 4, 5}, .stride = {2, 2}, .padding = {2, 1}},
    {.type = QN_BF16,
     .from = {1, 5, 9, 9},
     .weights = {32, 5, 3, 3},
     .padding = {1, 1},
     .channels_last = true},
    /* from padded copies, with phases of rows and of columns; several tiles of a row, panels and blocks */
    {.type = QN_F32,
     .from = {2, 10, 12, 75},
     .weights = {30, 5, 3, 4},
     .stride = {2, 3},
     .padding = {2, 1},
     .dilation = {3, 2},
     .groups = 2,
     .bias = true,
     .variant = "packed"},
};

enum { NUM_CASES = sizeof cases / sizeof *cases };

/* Drivers that emulate a device take a second or more to compile a kernel: they get some of the cases. */
static uint32_t cases_apart(const kernels_fixture *f, uint32_t emulated) {
    return f->info.capabilities & QN_CAN_EMULATE ? emulated : 1;
}

static void images_are_convolved(void **state) {
    (void)state;
    kernels_fixture f = make_kernels();
    for (uint32_t i = 0; i < NUM_CASES; i += cases_apart(&f, 2)) check_convolve(&f, &cases[i], i);
    end_kernels(&f);
}

static void gradients_by_images_are_computed(void **state) {
    (void)state;
    kernels_fixture f = make_kernels();
    for (uint32_t i = 0; i < NUM_CASES; i += cases_apart(&f, 3)) check_backward_input(&f, &cases[i], i);
    end_kernels(&f);
}

static void gradients_by_weights_are_computed(void **state) {
    (void)state;
    kernels_fixture f = make_kernels();
    for (uint32_t i = 0; i < NUM_CASES; i += cases_apart(&f, 3)) check_backward_weights(&f, &cases[i], i);
    end_kernels(&f);
}

/* Matrix units take 16-bit floats whose channels lie together in eights. */
static bool takes_units(const convolve_case *c) {
    return c->channels_last && (c->type == QN_F16 || c->type == QN_BF16) && c->weights[1] % 8 == 0;
}

/* Whatever the device would choose: tiles of all sizes in turn, units of all sizes where they can. */
static void variants_compute_the_same(void **state) {
    (void)state;
    static const char *const tiles[] = {"tile 32x32", "tile 64x64", "tile 128x64", "tile 128x128"};
    static const char *const units[] = {"units 64x64", "units 128x64", "units 128x128"};
    kernels_fixture f = make_kernels_quickly();
    if (f.info.capabilities & QN_CAN_EMULATE) {
        end_kernels(&f);
        skip(); /* seconds for each kernel */
    }
    for (uint32_t i = 0; i < NUM_CASES; i++) {
        convolve_case c = cases[i];
        c.variant = tiles[c.type == QN_F64 ? 1 : i % 4]; /* the largest has too many registers for it */
        check_convolve(&f, &c, i);
        check_backward_weights(&f, &c, i); /* by work-groups, whatever the tile */
        if (i % 3 == 0) check_backward_input(&f, &c, i);
        c.variant = units[i % 3];
        if (!takes_units(&c)) continue;
        check_convolve(&f, &c, i);
        if (c.weights[0] % 8 == 0) check_backward_input(&f, &c, i);
    }
    end_kernels(&f);
}

/* As processors compute what is large: in one piece; in pieces of images, the last one shorter; in pieces of rows of an image. */
static void gradients_by_weights_are_computed_from_unfolded_images(void **state) {
    (void)state;
    static const convolve_case large[] = {
        {.type = QN_F16, .from = {5, 64, 17, 21}, .weights = {6, 32, 3, 3}, .padding = {1, 1}, .groups = 2},
        {.type = QN_F32, .from = {2, 160, 37, 21}, .weights = {4, 160, 3, 3}, .padding = {1, 1}},
    };
    kernels_fixture f = make_kernels_quickly();
    for (uint32_t i = 1; i < NUM_CASES; i += 2 * cases_apart(&f, 3)) {
        convolve_case c = cases[i];
        c.variant = "unfolded";
        check_backward_weights(&f, &c, i);
    }
    end_kernels(&f);
    f = make_kernels();
    for (uint32_t i = 0; i < sizeof large / sizeof *large; i++) {
        convolve_case c = large[i];
        c.variant = "unfolded";
        check_backward_weights(&f, &c, i);
    }
    end_kernels(&f);
}

/* Gradients by weights have tiles that nothing else has. */
static bool is_for_weights(const char *variant) {
    return strcmp(variant, "quad 64x384") == 0 || strstr(variant, " two") || strstr(variant, " four");
}

/* All tiles of quads, where the device has any, each for some of the cases: the driver takes its time to compile. */
static void quads_compute_the_same(void **state) {
    (void)state;
    kernels_fixture f = make_kernels_quickly();
    if (!(f.info.capabilities & QN_CAN_COPY_TILES)) {
        end_kernels(&f);
        skip();
    }
    for (uint32_t v = 0; qn_convolve_variant(v); v++)
        for (uint32_t i = 0; i < NUM_CASES; i++) {
            convolve_case c = cases[i];
            c.variant = qn_convolve_variant(v);
            const bool small = c.type == QN_F16 || c.type == QN_BF16;
            if ((v + i) % 5 || strncmp(c.variant, "quad", 4) != 0 || !small || c.groups > 1 ||
                c.weights[0] < 16 || c.from[1] < 16)
                continue;
            check_backward_weights(&f, &c, i);
            if (is_for_weights(c.variant)) continue;
            check_convolve(&f, &c, i);
            check_backward_input(&f, &c, i);
        }
    end_kernels(&f);
}

static void wrong_convolutions_are_refused(void **state) {
    (void)state;
    kernels_fixture f = make_kernels();
    qn_buffer *a = elements_buffer(&f, QN_F32, 1000, NULL), *b = elements_buffer(&f, QN_F32, 1000, NULL),
              *c = elements_buffer(&f, QN_F32, 1000, NULL);
    const qn_array x = QN_ARRAY(a, QN_F32, 1, 4, 5, 5), w = QN_ARRAY(b, QN_F32, 6, 4, 3, 3),
                   y = QN_ARRAY(c, QN_F32, 1, 6, 3, 3);
    const struct {
        qn_convolve_desc desc;
        const char *message;
    } cases[] = {
        {{.from = x, .weights = w, .to = y, .stride = {2}},
         "qn_kernels_convolve: to is 1x6x3x3; it must be 1x6x2x3"},
        {{.from = x, .weights = w, .to = y, .groups = 2},
         "in 2 groups weights must have 2 times fewer channels"},
        {{.from = QN_ARRAY(a, QN_F32, 4, 5, 5), .weights = w, .to = y}, "have 3, 4 and 4 dimensions"},
        {{.from = x, .weights = w, .to = QN_ARRAY(c, QN_I32, 1, 6, 3, 3)},
         "weights and to are f32, f32 and i32"},
        {{.from = x, .weights = w, .to = y, .bias = QN_ARRAY(b, QN_F32, 5)}, "bias is 5; it must be 6"},
        {{.from = x, .weights = w, .to = y, .dilation = {3}},
         "the taps of weights (6x4x3x3) span 7 rows with dilation 3, and from (1x4x5x5) has 5 with its "
         "padding of 0"},
        {{.from = x, .weights = w, .to = QN_ARRAY(a, QN_F32, 1, 6, 3, 3)}, "to and from share memory"},
        {{.from = x, .weights = w, .to = y, .variant = "best"}, "there is no variant 'best'"},
        {{.from = x, .weights = w, .to = y, .variant = "units 64x64"},
         "variant 'units 64x64' cannot do this on"},
        {{.from = x, .weights = w, .to = y, .variant = "unfolded"}, "variant 'unfolded' cannot do this on"},
        {{.from = x, .weights = w, .to = y, .padding = {0, 1u << 31}},
         "padding[1] is 2147483648; it must be below 2^31"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_fails(f.context, qn_kernels_convolve(f.kernels, NULL, &cases[i].desc), QN_ERROR_ARGUMENT,
                     cases[i].message);
    assert_fails(f.context, qn_kernels_convolve(f.kernels, NULL, NULL), QN_ERROR_NULL,
                 "qn_kernels_convolve: desc is NULL");
    assert_fails(f.context, qn_kernels_convolve_backward_input(f.kernels, NULL, NULL), QN_ERROR_NULL,
                 "qn_kernels_convolve_backward_input: desc is NULL");
    const qn_convolve_backward_input_desc backward = {
        .gradient = y, .weights = w, .to = QN_ARRAY(a, QN_F32, 1, 4, 6, 5)};
    assert_fails(f.context, qn_kernels_convolve_backward_input(f.kernels, NULL, &backward), QN_ERROR_ARGUMENT,
                 "qn_kernels_convolve_backward_input: gradient is 1x6x3x3; it must be 1x6x4x3");
    const qn_convolve_backward_weights_desc of_weights = {
        .gradient = y, .from = x, .to = QN_ARRAY(b, QN_F32, 6, 3, 3, 3)};
    assert_fails(
        f.context, qn_kernels_convolve_backward_weights(f.kernels, NULL, &of_weights), QN_ERROR_ARGUMENT,
        "from is 1x4x5x5 and to is 6x3x3x3; in 1 groups to must have 1 times fewer channels than from");
    qn_buffer_destroy(a), qn_buffer_destroy(b), qn_buffer_destroy(c);
    end_kernels(&f);
}

static uint64_t clamped(int64_t at, uint64_t size) {
    return at < 0 ? 0 : at < (int64_t)size ? (uint64_t)at : size - 1;
}

static void check_blur(kernels_fixture *f, qn_element type, const uint64_t sizes[3], uint64_t taps,
                       bool transposed, uint32_t seed) {
    if (!has_type(f, type)) return;
    qn_array from = QN_ARRAY(NULL, type, sizes[0], sizes[1], sizes[2]), to = from;
    if (transposed) {
        from = qn_array_transpose(QN_ARRAY(NULL, type, sizes[0], sizes[2], sizes[1]), 1, 2);
        to = qn_array_transpose(QN_ARRAY(NULL, type, sizes[1], sizes[0], sizes[2]), 0, 1);
    }
    const uint64_t count = qn_array_count(&from);
    void *x = random_elements(type, count, 0, 200, seed);
    float *w = random_elements(QN_F32, taps, 0, 2 / (double)taps, seed + 1);
    qn_buffer *weights = elements_buffer(f, QN_F32, taps, w);
    from.buffer = elements_buffer(f, type, count, x);
    to.buffer = elements_buffer(f, type, count, NULL);
    assert_ok(
        f->context,
        qn_kernels_blur(f->kernels, NULL,
                        &(qn_blur_desc){.from = from, .weights = QN_ARRAY(weights, QN_F32, taps), .to = to}));
    void *got = buffer_contents(f, to.buffer);
    const int64_t radius = (int64_t)taps / 2;
    uint64_t at[QN_MAX_RANK] = {0};
    do {
        double wanted = 0;
        for (int64_t r = -radius; r <= radius; r++)
            for (int64_t c = -radius; c <= radius; c++) {
                const uint64_t in[QN_MAX_RANK] = {at[0], clamped((int64_t)at[1] + r, sizes[1]),
                                                  clamped((int64_t)at[2] + c, sizes[2])};
                wanted +=
                    (double)w[r + radius] * w[c + radius] * element_get(type, x, element_place(&from, in));
            }
        const bool whole = element_epsilon(type) == 0;
        if (type == QN_U8 && wanted > 255) wanted = 255;
        const double bound =
            fabs(wanted) * (2 * element_epsilon(type) + 4 * (double)taps * 0x1p-24) + (whole ? 0.501 : 0);
        const double result = element_get(type, got, element_place(&to, at));
        if (!(fabs(result - wanted) <= bound))
            fail_msg("%s: (%llu, %llu, %llu) is %.9g, not %.9g", qn_element_name(type),
                     (unsigned long long)at[0], (unsigned long long)at[1], (unsigned long long)at[2], result,
                     wanted);
    } while (next_index(&to, at));
    free(x), free(w), free(got);
    qn_buffer_destroy(from.buffer), qn_buffer_destroy(to.buffer), qn_buffer_destroy(weights);
}

static void images_are_blurred(void **state) {
    (void)state;
    kernels_fixture f = make_kernels();
    check_blur(&f, QN_F32, (const uint64_t[]){1, 33, 47}, 5, false, 1);
    check_blur(&f, QN_U8, (const uint64_t[]){3, 25, 140}, 3, false, 2);
    check_blur(&f, QN_F16, (const uint64_t[]){2, 9, 8}, 3, true, 3);
    check_blur(&f, QN_F32, (const uint64_t[]){2, 2, 3}, 5, false, 4); /* wider than the image */
    check_blur(&f, QN_U16, (const uint64_t[]){2, 30, 11}, 17, true,
               6); /* one pass after the other on all devices */
    check_blur(&f, QN_F64, (const uint64_t[]){1, 1, 5}, 1, false, 5);
    end_kernels(&f);
}

static void wrong_blurs_are_refused(void **state) {
    (void)state;
    kernels_fixture f = make_kernels();
    qn_buffer *a = elements_buffer(&f, QN_F32, 100, NULL), *b = elements_buffer(&f, QN_F32, 100, NULL),
              *c = elements_buffer(&f, QN_F32, 100, NULL);
    const qn_array x = QN_ARRAY(a, QN_F32, 5, 5), w = QN_ARRAY(b, QN_F32, 3), y = QN_ARRAY(c, QN_F32, 5, 5);
    const struct {
        qn_blur_desc desc;
        const char *message;
    } cases[] = {
        {{.from = x, .weights = QN_ARRAY(b, QN_F32, 4), .to = y},
         "qn_kernels_blur: weights is 4 of f32; it must be an odd number of f32"},
        {{.from = x, .weights = QN_ARRAY(b, QN_F16, 3), .to = y}, "weights is 3 of f16"},
        {{.from = x, .weights = w, .to = QN_ARRAY(c, QN_F32, 5, 4)}, "to is 5x4 and from is 5x5"},
        {{.from = QN_ARRAY(a, QN_F32, 25), .weights = w, .to = QN_ARRAY(c, QN_F32, 25)},
         "from has 1 dimensions; an image has two, and others before them"},
        {{.from = x, .weights = w, .to = QN_ARRAY(c, QN_I32, 5, 5)}, "from.type and to.type are f32 and i32"},
        {{.from = x, .weights = w, .to = x}, "to and from share memory"},
        {{.from = x, .weights = QN_ARRAY(c, QN_F32, 3), .to = y}, "to and weights share memory"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_fails(f.context, qn_kernels_blur(f.kernels, NULL, &cases[i].desc), QN_ERROR_ARGUMENT,
                     cases[i].message);
    assert_fails(f.context, qn_kernels_blur(f.kernels, NULL, NULL), QN_ERROR_NULL,
                 "qn_kernels_blur: desc is NULL");
    qn_buffer_destroy(a), qn_buffer_destroy(b), qn_buffer_destroy(c);
    end_kernels(&f);
}

int main(void) {
    if (device_is_missing()) return TEST_SKIPPED;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(images_are_convolved),
        cmocka_unit_test(gradients_by_images_are_computed),
        cmocka_unit_test(gradients_by_weights_are_computed),
        cmocka_unit_test(gradients_by_weights_are_computed_from_unfolded_images),
        cmocka_unit_test(quads_compute_the_same),
        cmocka_unit_test(variants_compute_the_same),
        cmocka_unit_test(wrong_convolutions_are_refused),
        cmocka_unit_test(images_are_blurred),
        cmocka_unit_test(wrong_blurs_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
