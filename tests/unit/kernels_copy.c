/* qn_kernels_copy and qn_kernels_fill: every type to every type, strides of all kinds, what is refused; and what holds for all calls of
   kernels.h: graphs, views, failing allocations, the cost of a call. */
#include "kernels_common.h"

#include <stdatomic.h>

/* Numbers at which conversions differ: halves and ties, limits of the types, beyond them. */
static const double numbers[] = {
    0,     -0.0,   1,          -1,         0.5,          1.5,          2.5,         -2.5,
    3.25,  100,    127,        128,        200,          255,          256,         300,
    -128,  -129,   -300,       447,        448,          464,          465,         1000,
    32767, 32768,  65504,      65519,      65520,        57344,        61440,       65535,
    65536, 1e6,    16777217,   33554433,   2147483520,   4294967040.0, 1e10,        -1e10,
    1e20,  -1e20,  1.00390625, 1.01171875, 0.0009765625, 0.015625,     0.017578125, 1e-5,
    3e-5,  6.1e-5, 1e-7,       2.98e-8,    1.0000000298, 3e38,         -3e38,
};
enum { NUMBERS = sizeof numbers / sizeof *numbers };

static bool is_float(qn_element type) { return element_epsilon(type) > 0; }

static double low_of(qn_element type) {
    const int bits = (int)qn_element_size(type) * 8;
    return type >= QN_I8 && type <= QN_I64 ? -ldexp(1, bits - 1) : 0;
}

static double high_of(qn_element type) {
    const int bits = (int)qn_element_size(type) * 8;
    return type == QN_BOOL ? 1 : (type <= QN_I64 ? ldexp(1, bits - 1) : ldexp(1, bits)) - 1;
}

/* Element `i` of `from` converted to `to` at element `i` of `data`, as the header says. */
static void convert(qn_element from, const void *source, qn_element to, void *data, uint64_t i) {
    const double value = element_get(from, source, i);
    if (is_float(to) || to == QN_BOOL) {
        element_set(to, data, i, value);
    } else if (is_float(from)) {
        const uint32_t size = qn_element_size(to);
        unsigned char *at = (unsigned char *)data + i * size;
        if (isnan(value))
            memset(at, 0, size);
        else if (value >= high_of(to)) /* 2^63 - 1 is 2^63 as a double: all bits by hand */
            memset(at, 0xff, size), at[size - 1] = low_of(to) < 0 ? 0x7f : 0xff;
        else if (value <= low_of(to))
            memset(at, 0, size), at[size - 1] = low_of(to) < 0 ? 0x80 : 0;
        else
            element_set(to, data, i, trunc(value));
    } else { /* by the low bits */
        const uint32_t size = qn_element_size(from);
        unsigned char wide[8];
        memset(wide, value < 0 ? 0xff : 0, sizeof wide);
        memcpy(wide, (const unsigned char *)source + i * size, size);
        memcpy((unsigned char *)data + i * qn_element_size(to), wide, qn_element_size(to));
    }
}

/* The numbers as elements of a type, as far as it has them. */
static uint64_t make_numbers(qn_element type, void *data) {
    uint64_t count = 0;
    for (int i = 0; i < NUMBERS; i++) {
        const bool fits = numbers[i] >= low_of(type) && numbers[i] < high_of(type);
        if (is_float(type) || (fits && trunc(numbers[i]) == numbers[i]))
            element_set(type, data, count++, numbers[i]);
    }
    if (!is_float(type)) return count;
    if (type != QN_E4M3) element_set(type, data, count++, INFINITY);
    element_set(type, data, count++, NAN);
    return count;
}

static void check_same(qn_element from, const void *source, qn_element to, const void *got,
                       const void *wanted, uint64_t count) {
    for (uint64_t i = 0; i < count; i++) {
        const double g = element_get(to, got, i), w = element_get(to, wanted, i);
        const uint32_t size = qn_element_size(to);
        const bool same = memcmp((const char *)got + i * size, (const char *)wanted + i * size, size) == 0;
        if (!same && !(isnan(g) && isnan(w)))
            fail_msg("%.17g as %s became %.17g as %s, not %.17g", element_get(from, source, i),
                     qn_element_name(from), g, qn_element_name(to), w);
    }
}

/* All pairs of types where compiling is quick, and elsewhere some with each type on both sides. */
static bool is_tried(int from, int to) { return testing("cpu") || (from + 4 * to) % 11 == 0; }

static void types_convert_as_the_header_says(void **state) {
    (void)state;
    kernels_fixture f = make_kernels();
    uint64_t source[NUMBERS + 2], wanted[NUMBERS + 2];
    for (int from = 0; from < QN_ELEMENT_COUNT; from++) {
        const uint64_t count = make_numbers((qn_element)from, source);
        qn_buffer *in = elements_buffer(&f, (qn_element)from, count, source);
        for (int to = 0; to < QN_ELEMENT_COUNT; to++) {
            if (!is_tried(from, to)) continue;
            const bool possible =
                from == to || (has_type(&f, (qn_element)from) && has_type(&f, (qn_element)to));
            qn_buffer *out = elements_buffer(&f, (qn_element)to, count, NULL);
            const qn_copy_desc desc = {.from = QN_ARRAY(in, (qn_element)from, count),
                                       .to = QN_ARRAY(out, (qn_element)to, count)};
            if (possible) {
                assert_ok(f.context, qn_kernels_copy(f.kernels, NULL, &desc));
                void *got = buffer_contents(&f, out);
                for (uint64_t i = 0; i < count; i++)
                    convert((qn_element)from, source, (qn_element)to, wanted, i);
                check_same((qn_element)from, source, (qn_element)to, got, wanted, count);
                free(got);
            } else {
                assert_fails(f.context, qn_kernels_copy(f.kernels, NULL, &desc), QN_ERROR_UNSUPPORTED,
                             "has no f64");
            }
            qn_buffer_destroy(out);
        }
        qn_buffer_destroy(in);
    }
    end_kernels(&f);
}

/* Random strides of a random order of the dimensions, with gaps, of both signs; returns how many elements that reaches. */
static uint64_t random_layout(qn_array *a, uint32_t *seed) {
    uint32_t order[QN_MAX_RANK];
    uint64_t reach = 1 + next_random(seed) % 3;
    a->offset = next_random(seed) % 4;
    for (uint32_t d = 0; d < a->rank; d++) order[d] = d;
    for (uint32_t d = a->rank; d > 1; d--) {
        const uint32_t other = next_random(seed) % d, kept = order[d - 1];
        order[d - 1] = order[other];
        order[other] = kept;
    }
    for (uint32_t d = 0; d < a->rank; d++) {
        const uint32_t which = order[d];
        a->strides[which] = (int64_t)reach;
        if (next_random(seed) % 4 == 0) {
            a->strides[which] = -a->strides[which];
            a->offset += (a->sizes[which] - 1) * reach;
        }
        reach = reach * a->sizes[which] + next_random(seed) % 2;
    }
    return a->offset + reach + 1;
}

static void copy_of_layout(kernels_fixture *f, uint32_t seed) {
    qn_array to = {.type = QN_F32, .rank = next_random(&seed) % 6},
             from = {.type = seed % 3 ? QN_I16 : QN_F32};
    for (uint32_t d = 0; d < to.rank; d++) to.sizes[d] = 1 + next_random(&seed) % 5;
    from.rank = to.rank ? to.rank - next_random(&seed) % to.rank : 0;
    for (uint32_t d = 0; d < from.rank; d++) {
        from.sizes[d] = to.sizes[d + to.rank - from.rank];
        if (next_random(&seed) % 4 == 0) from.sizes[d] = 1; /* is repeated */
    }
    const uint64_t to_count = random_layout(&to, &seed), from_count = random_layout(&from, &seed);
    void *source = random_elements(from.type, from_count, -100, 100, seed);
    float *wanted = random_elements(QN_F32, to_count, -1, 1, seed + 1);
    from.buffer = elements_buffer(f, from.type, from_count, source);
    to.buffer = elements_buffer(f, QN_F32, to_count, wanted);
    uint64_t index[QN_MAX_RANK] = {0};
    do {
        uint64_t other[QN_MAX_RANK] = {0};
        for (uint32_t d = 0; d < from.rank; d++)
            other[d] = from.sizes[d] == 1 ? 0 : index[d + to.rank - from.rank];
        wanted[element_place(&to, index)] =
            (float)element_get(from.type, source, element_place(&from, other));
    } while (next_index(&to, index));
    assert_ok(f->context, qn_kernels_copy(f->kernels, NULL, &(qn_copy_desc){.to = to, .from = from}));
    float *got = buffer_contents(f, to.buffer);
    for (uint64_t i = 0; i < to_count; i++)
        if (got[i] != wanted[i])
            fail_msg("seed %u: element %llu is %g, not %g", seed, (unsigned long long)i, got[i], wanted[i]);
    free(got);
    free(source);
    free(wanted);
    qn_buffer_destroy(from.buffer);
    qn_buffer_destroy(to.buffer);
}

static void arrays_of_any_strides_are_copied(void **state) {
    (void)state;
    kernels_fixture f = make_kernels();
    const uint32_t count = testing("cpu") ? 60 : 12;
    for (uint32_t seed = 1; seed <= count; seed++) copy_of_layout(&f, seed * 77777);
    end_kernels(&f);
}

/* What GPUs move in packs and tiles: beginnings off alignment, odd pitches, dimensions in another order, repeated elements. `to` is
   contiguous but for a pitch of its rows; `from` has its dimensions at these strides. */
typedef struct large_case {
    qn_element from, to;
    uint32_t rank;
    uint64_t sizes[4];
    uint64_t to_offset, to_pitch; /* 0: as long as a row */
    uint64_t from_offset;
    int64_t from_strides[4];
} large_case;

static const large_case large_cases[] = {
    {QN_F32, QN_BF16, 1, {9001}, 3, 0, 3, {1}},              /* packs begin before the array */
    {QN_F32, QN_BF16, 1, {9001}, 3, 0, 4, {1}},              /* no common alignment */
    {QN_U16, QN_U16, 2, {37, 1023}, 0, 1024, 0, {1023, 1}},  /* odd pitch to even */
    {QN_U8, QN_U8, 2, {70, 60}, 16, 64, 32, {80, 1}},        /* aligned rows with an end that is not */
    {QN_F32, QN_F32, 2, {300, 4}, 0, 0, 1, {5, 1}},          /* short rows */
    {QN_F32, QN_F32, 2, {5, 4000}, 0, 0, 3999, {4000, -1}},  /* backwards */
    {QN_BF16, QN_F32, 2, {90, 130}, 0, 0, 5, {1, 0}},        /* each element a row */
    {QN_I8, QN_I32, 2, {50, 700}, 1, 0, 0, {0, 1}},          /* a row again and again */
    {QN_U8, QN_U8, 2, {132, 200}, 0, 0, 0, {1, 132}},        /* transposed: by words of four */
    {QN_U8, QN_U8, 2, {131, 67}, 1, 0, 3, {1, 133}},         /* by bytes, with edges */
    {QN_F16, QN_F32, 2, {129, 66}, 0, 0, 0, {1, 130}},       /* with conversion */
    {QN_F32, QN_F16, 2, {64, 128}, 2, 0, 0, {1, 64}},        /* whole tiles */
    {QN_U64, QN_U64, 2, {40, 70}, 0, 0, 0, {1, 41}},         /* eight bytes */
    {QN_I32, QN_I32, 3, {70, 5, 33}, 0, 0, 0, {1, 70, 350}}, /* all dimensions the other way round */
    {QN_U8, QN_U8, 4, {2, 30, 41, 3}, 0, 0, 0, {3690, 41, 1, 1230}}, /* images, channels last */
    {QN_U8, QN_U8, 4, {2, 3, 30, 41}, 0, 0, 0, {3690, 1, 123, 3}},   /* and first */
    {QN_I32, QN_I32, 3, {300, 3, 5}, 0, 0, 0, {15, 1, 3}},           /* many small matrices */
    {QN_F64, QN_F64, 2, {700, 2}, 0, 0, 0, {1, 700}},                /* pairs */
};

static void check_large(const kernels_fixture *f, const large_case *c) {
    qn_array to = {.offset = c->to_offset, .type = c->to, .rank = c->rank},
             from = {.offset = c->from_offset, .type = c->from, .rank = c->rank};
    int64_t stride = 1;
    uint64_t from_count = c->from_offset + 1;
    for (uint32_t d = c->rank; d-- > 0;) {
        to.sizes[d] = from.sizes[d] = c->sizes[d];
        to.strides[d] = stride;
        stride *= (int64_t)(d + 1 == c->rank && c->to_pitch ? c->to_pitch : c->sizes[d]);
        from.strides[d] = c->from_strides[d];
        if (from.strides[d] > 0) from_count += (c->sizes[d] - 1) * (uint64_t)from.strides[d];
    }
    const uint64_t to_count = c->to_offset + (uint64_t)stride + 1, size = qn_element_size(c->to);
    void *source = random_elements(c->from, from_count, 0, 15, 7);
    char *wanted = random_elements(c->to, to_count, 0, 15, 8);
    from.buffer = elements_buffer(f, c->from, from_count, source);
    to.buffer = elements_buffer(f, c->to, to_count, wanted);
    uint64_t index[QN_MAX_RANK] = {0};
    do
        element_set(c->to, wanted, element_place(&to, index),
                    element_get(c->from, source, element_place(&from, index)));
    while (next_index(&to, index));
    assert_ok(f->context, qn_kernels_copy(f->kernels, NULL, &(qn_copy_desc){.to = to, .from = from}));
    char *got = buffer_contents(f, to.buffer);
    for (uint64_t i = 0; i < to_count; i++)
        if (memcmp(got + i * size, wanted + i * size, size) != 0)
            fail_msg("case %u: element %llu is %g, not %g", (unsigned)(c - large_cases),
                     (unsigned long long)i, element_get(c->to, got, i), element_get(c->to, wanted, i));
    free(got);
    free(source);
    free(wanted);
    qn_buffer_destroy(from.buffer);
    qn_buffer_destroy(to.buffer);
}

static void large_arrays_are_moved_in_packs_and_tiles(void **state) {
    (void)state;
    kernels_fixture f = make_kernels();
    for (size_t i = 0; i < sizeof large_cases / sizeof *large_cases; i++) check_large(&f, &large_cases[i]);
    end_kernels(&f);
}

static void fills_touch_what_they_should(void **state) {
    (void)state;
    kernels_fixture f = make_kernels();
    const qn_element types[] = {QN_F32, QN_F16, QN_BF16, QN_E4M3, QN_E5M2, QN_I8, QN_U64, QN_BOOL};
    for (size_t t = 0; t < sizeof types / sizeof *types; t++) {
        const qn_element type = types[t];
        unsigned char wanted[60 * 8] = {0};
        qn_buffer *buffer = elements_buffer(&f, type, 60, NULL);
        /* A whole block, then every second column of three of its rows, then one element. */
        const qn_array block = {buffer, 10, type, 2, {5, 8}, {0}};
        const qn_array columns = {buffer, 11, type, 2, {3, 4}, {16, 2}};
        const qn_array one = {buffer, 59, type, 0, {0}, {0}};
        const uint64_t bits = 0x0102030405060708;
        assert_ok(f.context, qn_kernels_fill(f.kernels, NULL, &(qn_fill_desc){.to = block, .value = 2.7}));
        assert_ok(f.context,
                  qn_kernels_fill(f.kernels, NULL, &(qn_fill_desc){.to = columns, .value = -17.3}));
        assert_ok(f.context, qn_kernels_fill(f.kernels, NULL, &(qn_fill_desc){.to = one, .element = &bits}));
        const double two = 2.7, less = -17.3;
        uint64_t as_two = 0, as_less = 0;
        convert(QN_F64, &two, type, &as_two, 0);
        convert(QN_F64, &less, type, &as_less, 0);
        const uint32_t size = qn_element_size(type);
        for (uint32_t i = 10; i < 50; i++) memcpy(wanted + i * size, &as_two, size);
        for (uint32_t row = 0; row < 3; row++)
            for (uint32_t column = 0; column < 4; column++)
                memcpy(wanted + (11 + 16 * row + 2 * column) * size, &as_less, size);
        memcpy(wanted + 59 * size, &bits, size);
        void *got = buffer_contents(&f, buffer);
        assert_memory_equal(got, wanted, 60 * size);
        free(got);
        qn_buffer_destroy(buffer);
    }
    end_kernels(&f);
}

static void wrong_arrays_are_refused_with_their_numbers(void **state) {
    (void)state;
    kernels_fixture f = make_kernels();
    qn_buffer *buffer = elements_buffer(&f, QN_F32, 100, NULL), *view,
              *other = elements_buffer(&f, QN_F32, 100, NULL);
    assert_ok(f.context, qn_buffer_view(buffer, 160, 160, &view));
    const struct {
        qn_array to, from;
        qn_status status;
        const char *message;
    } cases[] = {
        {{.buffer = buffer, .type = (qn_element)99},
         QN_ARRAY(other, QN_F32, 1),
         QN_ERROR_ARGUMENT,
         "qn_kernels_copy: to.type is 99, which is no qn_element"},
        {{.buffer = buffer, .rank = 9},
         QN_ARRAY(other, QN_F32, 1),
         QN_ERROR_ARGUMENT,
         "to.rank is 9; at most 8"},
        {{.rank = 1, .sizes = {4}}, QN_ARRAY(other, QN_F32, 1), QN_ERROR_NULL, "to.buffer is NULL"},
        {QN_ARRAY(buffer, QN_F32, 4), {.rank = 1, .sizes = {4}}, QN_ERROR_NULL, "from.buffer is NULL"},
        {QN_ARRAY(buffer, QN_F32, 10, 11), QN_ARRAY(other, QN_F32, 1), QN_ERROR_RANGE,
         "to (10x11 of f32) reaches from element 0 to 109 of its buffer, which has 100"},
        {QN_ARRAY(buffer, QN_F32, 10),
         {other, 8, QN_F32, 1, {10}, {-1}},
         QN_ERROR_RANGE,
         "from (10 of f32) reaches from element -1 to 8 of its buffer"},
        {QN_ARRAY(buffer, QN_F32, 1ull << 33, 1ull << 33), QN_ARRAY(other, QN_F32, 1), QN_ERROR_RANGE,
         "reaches beyond 2^63 elements"},
        {{buffer, 0, QN_F32, 1, {4}, {INT64_MIN}}, QN_ARRAY(other, QN_F32, 1), QN_ERROR_RANGE, "to (4"},
        {{buffer, 0, QN_F32, 2, {4, 5}, {1, 0}},
         QN_ARRAY(other, QN_F32, 1),
         QN_ERROR_ARGUMENT,
         "to.strides[1] is 0 for 5 indices"},
        {QN_ARRAY(buffer, QN_F32, 4, 5), QN_ARRAY(other, QN_F32, 4, 6), QN_ERROR_ARGUMENT,
         "from (4x6) cannot be broadcast to to (4x5)"},
        {QN_ARRAY(buffer, QN_F32, 5), QN_ARRAY(other, QN_F32, 4, 5), QN_ERROR_ARGUMENT,
         "from has 2 dimensions, to only 1"},
        {QN_ARRAY(buffer, QN_F32, 41), QN_ARRAY(view, QN_F32, 41 - 1), QN_ERROR_ARGUMENT,
         "to and from share memory: bytes 0 to 164 and 160 to 320 of one buffer"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const qn_copy_desc desc = {.to = cases[i].to, .from = cases[i].from};
        assert_fails(f.context, qn_kernels_copy(f.kernels, NULL, &desc), cases[i].status, cases[i].message);
    }
    /* Side by side in one buffer is fine; so are arrays without elements. */
    assert_ok(f.context,
              qn_kernels_copy(f.kernels, NULL,
                              &(qn_copy_desc){QN_ARRAY(buffer, QN_F32, 40), QN_ARRAY(view, QN_F32, 40)}));
    assert_ok(f.context,
              qn_kernels_copy(f.kernels, NULL,
                              &(qn_copy_desc){{.rank = 2, .sizes = {0, 5}}, {.rank = 2, .sizes = {0, 5}}}));
    assert_ok(f.context, qn_kernels_fill(f.kernels, NULL, &(qn_fill_desc){.to = {.rank = 1}}));
    assert_fails(f.context, qn_kernels_copy(f.kernels, NULL, NULL), QN_ERROR_NULL,
                 "qn_kernels_copy: desc is NULL");
    assert_fails(f.context, qn_kernels_fill(NULL, NULL, &(qn_fill_desc){0}), QN_ERROR_NULL,
                 "qn_kernels_fill: kernels is NULL");
    assert_fails(f.context, qn_kernels_fill((qn_kernels *)buffer, NULL, &(qn_fill_desc){0}),
                 QN_ERROR_ARGUMENT, "no object of qn_kernels_create");
    qn_kernels *none;
    assert_fails(f.context, qn_kernels_create(f.device, NULL, NULL), QN_ERROR_NULL, "kernels is NULL");
    assert_fails(f.context, qn_kernels_create(NULL, NULL, &none), QN_ERROR_NULL, "device is NULL");
    assert_fails(f.context, qn_kernels_create_for(QN_HEADER_VERSION + 1, f.device, NULL, &none),
                 QN_ERROR_UNSUPPORTED, "header's version");
    assert_null(none);
    end_kernels(&f);
}

static void arrays_are_described(void **state) {
    (void)state;
    const qn_array a = {NULL, 0, QN_F32, 3, {2, 3, 4}, {0}}, t = qn_array_transpose(a, 0, 2);
    assert_true(t.sizes[0] == 4 && t.sizes[1] == 3 && t.sizes[2] == 2);
    assert_true(t.strides[0] == 1 && t.strides[1] == 4 && t.strides[2] == 12);
    assert_int_equal(qn_array_count(&t), 24);
    const qn_array p = qn_array_permute(a, (const uint32_t[]){2, 0, 1});
    assert_true(p.sizes[0] == 4 && p.sizes[1] == 2 && p.sizes[2] == 3);
    assert_true(p.strides[0] == 1 && p.strides[1] == 12 && p.strides[2] == 4);
    const qn_array none[] = {qn_array_permute(a, (const uint32_t[]){0, 1, 1}),
                             qn_array_permute(a, (const uint32_t[]){0, 1, 3}), qn_array_permute(a, NULL)};
    for (int i = 0; i < 3; i++) assert_memory_equal(&none[i], &a, sizeof a);
    assert_int_equal(qn_array_count(&(qn_array){.rank = 2, .sizes = {UINT64_MAX, 3}}), UINT64_MAX);
    assert_int_equal(qn_array_count(&(qn_array){.rank = 3, .sizes = {UINT64_MAX, 3, 0}}), 0);
    assert_int_equal(qn_array_count(&(qn_array){0}), 1);
    assert_string_equal(qn_element_name(QN_E4M3), "e4m3");
    assert_null(qn_element_name(QN_ELEMENT_COUNT));
    assert_int_equal(qn_element_size(QN_BF16), 2);
    assert_int_equal(qn_element_size((qn_element)-1), 0);
    qn_program_desc desc = {.options = "-D X"};
    assert_false(qn_kernels_source("no such.cl", &desc));
    assert_true(qn_kernels_source("copy.cl", &desc));
    assert_string_equal(desc.options, "-D X");
    assert_non_null(strstr(desc.source, "kernel void copy"));
    bool found = false;
    for (size_t i = 0; i < desc.num_headers; i++)
        found = found || strcmp(desc.headers[i].name, "element.h") == 0;
    assert_true(found);
}

static void copies_are_recorded_in_graphs(void **state) {
    (void)state;
    kernels_fixture f = make_kernels();
    const float first[6] = {1, 2, 3, 4, 5, 6}, second[6] = {7, 8, 9, 10, 11, 12};
    qn_buffer *in = make_buffer(f.device, sizeof first, first),
              *out = make_buffer(f.device, sizeof first, NULL);
    qn_stream *stream;
    qn_graph *graph;
    assert_ok(f.context, qn_stream_create(f.device, &stream));
    assert_ok(f.context, qn_graph_begin(stream));
    assert_ok(f.context,
              qn_kernels_copy(f.kernels, stream,
                              &(qn_copy_desc){QN_ARRAY(out, QN_F32, 3, 2),
                                              qn_array_transpose(QN_ARRAY(in, QN_F32, 2, 3), 0, 1)}));
    assert_ok(f.context, qn_graph_end(stream, &graph));
    assert_ok(f.context, qn_buffer_write(in, 0, second, sizeof second));
    assert_ok(f.context, qn_graph_launch(NULL, graph));
    const float wanted[6] = {7, 10, 8, 11, 9, 12};
    float got[6];
    assert_ok(f.context, qn_buffer_read(out, 0, got, sizeof got));
    assert_memory_equal(got, wanted, sizeof got);
    qn_graph_destroy(graph);
    qn_stream_destroy(stream);
    end_kernels(&f);
}

/* More shapes than plans are kept: nothing grows without end, and old shapes still work. */
static void shapes_without_end_take_bounded_memory(void **state) {
    (void)state;
    kernels_fixture f = make_kernels();
    enum { MOST = 150 };
    qn_buffer *in = make_buffer(f.device, MOST * MOST * 4, NULL),
              *out = make_buffer(f.device, MOST * MOST * 4, NULL);
    uint32_t calls = 0;
    for (uint64_t rows = 2; rows < MOST; rows += 2)
        for (uint64_t columns = 2; columns < MOST; columns++, calls++) { /* one kernel for all */
            const qn_fill_desc desc = {.to = {out, 0, QN_F32, 2, {rows, columns}, {MOST, 1}}};
            assert_ok(f.context, qn_kernels_fill(f.kernels, NULL, &desc));
        }
    assert_true(calls > 8000);
    const float one = 1;
    assert_ok(f.context,
              qn_kernels_fill(f.kernels, NULL,
                              &(qn_fill_desc){.to = {in, 0, QN_F32, 2, {2, 2}, {MOST, 1}}, .value = one}));
    float got;
    assert_ok(f.context, qn_buffer_read(in, (MOST + 1) * 4, &got, 4));
    assert_true(got == one);
    end_kernels(&f);
}

typedef struct counter {
    atomic_size_t live, total, fail_at;
} counter;

static bool fails(counter *c) { return c->fail_at && ++c->total >= c->fail_at; }

static void *counted_allocate(void *user, size_t size) {
    counter *c = user;
    void *memory = fails(c) ? NULL : malloc(size);
    c->live += memory != NULL;
    return memory;
}

static void *counted_reallocate(void *user, void *memory, size_t size) {
    counter *c = user;
    if (fails(c)) return NULL;
    c->live += memory == NULL;
    return realloc(memory, size);
}

static void counted_release(void *user, void *memory) {
    counter *c = user;
    if (memory) c->live--;
    free(memory);
}

static qn_status use_kernels(qn_context *context) {
    qn_device *device = NULL;
    qn_kernels *kernels = NULL;
    qn_buffer *buffer = NULL, *other = NULL;
    qn_status status = qn_device_get(context, "null", &device);
    if (!status) status = qn_buffer_create(device, &(qn_buffer_desc){.size = 64}, &buffer);
    if (!status) status = qn_buffer_create(device, &(qn_buffer_desc){.size = 64}, &other);
    if (!status) status = qn_kernels_create(device, NULL, &kernels);
    for (int i = 0; i < 2 && !status; i++)
        status = qn_kernels_copy(kernels, NULL,
                                 &(qn_copy_desc){QN_ARRAY(buffer, QN_F32, 16), QN_ARRAY(other, QN_I8, 16)});
    qn_kernels_destroy(kernels);
    qn_buffer_destroy(buffer);
    qn_buffer_destroy(other);
    return status;
}

static void every_allocation_may_fail(void **state) {
    (void)state;
    counter c = {0};
    bool succeeded = false;
    for (size_t at = 1; at < 3000 && !succeeded; at++) {
        atomic_store(&c.fail_at, 0);
        atomic_store(&c.total, 0);
        qn_context *context = make_context(
            &(qn_context_desc){.allocator = {counted_allocate, counted_reallocate, counted_release, &c},
                               .disable_cache = true,
                               .cpu_threads = 1});
        atomic_store(&c.fail_at, at);
        const qn_status status = use_kernels(context);
        if (status != QN_ERROR_OUT_OF_MEMORY && status != QN_ERROR_DEVICE_MEMORY) assert_ok(context, status);
        succeeded = atomic_load(&c.total) < at;
        atomic_store(&c.fail_at, 0);
        assert_ok(context, use_kernels(context));
        qn_context_destroy(context);
        assert_int_equal(atomic_load(&c.live), 0);
    }
    assert_true(succeeded);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arrays_are_described),
        cmocka_unit_test(types_convert_as_the_header_says),
        cmocka_unit_test(arrays_of_any_strides_are_copied),
        cmocka_unit_test(large_arrays_are_moved_in_packs_and_tiles),
        cmocka_unit_test(fills_touch_what_they_should),
        cmocka_unit_test(wrong_arrays_are_refused_with_their_numbers),
        cmocka_unit_test(copies_are_recorded_in_graphs),
        cmocka_unit_test(shapes_without_end_take_bounded_memory),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return run_device_tests(tests);
}
