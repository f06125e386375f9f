/* qn_kernels_matmul: every variant, types, strides, batches and epilogues, against sums in double precision; what is refused. */
#include "kernels_common.h"

/* How a matrix lies: its rows one after the other, its columns, with gaps between, from the end backwards. */
typedef enum layout { ROWS, COLUMNS, GAPS, GAPS_OF_FOUR, BACKWARDS, LAYOUTS } layout;

typedef struct operand {
    qn_array array;
    void *data;
    uint64_t count;
} operand;

/* [batches, rows, columns]; without batches, 0, two dimensions. */
static operand make_operand(kernels_fixture *f, qn_element type, uint64_t batches, uint64_t rows,
                            uint64_t columns, layout how, uint32_t seed) {
    operand o = {.array = {.type = type, .rank = batches ? 3 : 2}};
    const uint64_t pitch = (how == COLUMNS ? rows : columns) + (how == GAPS           ? 3
                                                                : how == GAPS_OF_FOUR ? 4 - columns % 4
                                                                                      : 0);
    const uint64_t step = how == COLUMNS ? columns * pitch : rows * pitch;
    const int64_t row = how == COLUMNS ? 1 : (int64_t)pitch, column = how == COLUMNS ? (int64_t)pitch : 1;
    const uint32_t at = batches ? 1 : 0;
    o.count = step * (batches ? batches : 1) + 9;
    o.array.offset = how == GAPS ? 5 : how == GAPS_OF_FOUR ? 4 : 0;
    if (batches) o.array.sizes[0] = batches, o.array.strides[0] = (int64_t)step;
    o.array.sizes[at] = rows;
    o.array.sizes[at + 1] = columns;
    o.array.strides[at] = row;
    o.array.strides[at + 1] = column;
    if (how == BACKWARDS && rows) {
        o.array.offset += (rows - 1) * pitch;
        o.array.strides[at] = -row;
    }
    const bool whole = element_epsilon(type) == 0;
    o.data = random_elements(type, o.count,
                             whole && type != QN_U8 ? -20
                             : whole                ? 0
                                                    : -1,
                             whole ? 20 : 1, seed);
    o.array.buffer = elements_buffer(f, type, o.count, o.data);
    return o;
}

static void end_operand(operand *o) {
    free(o->data);
    qn_buffer_destroy(o->array.buffer);
}

/* The element for an index of `out`, whose dimensions are [batch, row, column] or the last two; what is missing, or of size 1,
   is repeated. */
static double element_for(const operand *o, uint64_t batch, uint64_t row, uint64_t column) {
    const uint64_t index[3] = {batch, row, column};
    uint64_t own[QN_MAX_RANK] = {0};
    for (uint32_t d = 0; d < o->array.rank; d++) {
        const uint64_t i = index[3 - o->array.rank + d];
        own[d] = o->array.sizes[d] == 1 ? 0 : i;
    }
    return element_get(o->array.type, o->data, element_place(&o->array, own));
}

typedef struct problem {
    uint64_t batches, m, n, k;
    qn_element a, b, out;
    layout of_a, of_b, of_out;
    double alpha, beta, scale;
    bool bias_of_rows, bias, residual, one_a; /* one_a: a is the same for all batches */
    qn_activation activation;
    const char *variant;
    uint32_t splits;
    bool tf32;
} problem;

static double activate(qn_activation how, double x) {
    switch (how) {
    case QN_ACTIVATION_RELU: return x < 0 ? 0 : x;
    case QN_ACTIVATION_GELU: return x * 0.5 * (1 + erf(x * sqrt(0.5)));
    case QN_ACTIVATION_GELU_TANH:
        return x * 0.5 * (1 + tanh(sqrt(2 / 3.14159265358979324) * (x + 0.044715 * x * x * x)));
    case QN_ACTIVATION_SILU: return x / (1 + exp(-x));
    case QN_ACTIVATION_TANH: return tanh(x);
    case QN_ACTIVATION_SIGMOID: return 1 / (1 + exp(-x));
    default: return x;
    }
}

/* One element's value and bound. */
typedef struct expected {
    double value, bound;
} expected;

static bool is_quad(const char *variant) { return variant && strncmp(variant, "quad", 4) == 0; }

static expected expect(const problem *p, const operand *a, const operand *b, const operand *out,
                       const operand *bias, const operand *residual, uint64_t batch, uint64_t row,
                       uint64_t column) {
    const double alpha = p->alpha == 0 ? 1 : p->alpha, scale = p->scale == 0 ? 1 : p->scale;
    const double epsilon = p->a == QN_F64 ? 0x1p-53 : 0x1p-24;
    double sum = 0, size = 0;
    for (uint64_t i = 0; i < p->k; i++) {
        const double product = element_for(a, batch, row, i) * element_for(b, batch, i, column);
        sum += product;
        size += fabs(product);
    }
    double v = alpha * sum,
           bound = element_epsilon(p->a) > 0 ? fabs(alpha) * size * epsilon * ((double)p->k + 2) : 0;
    if (p->tf32) bound += fabs(alpha) * size * 0x1p-9;
    if (is_quad(p->variant) && (p->a == QN_E4M3 || p->a == QN_E5M2)) bound += fabs(alpha) * size * 0x1p-12;
    if (p->beta != 0) v += p->beta * element_for(out, batch, row, column);
    if (p->bias || p->bias_of_rows) v += element_for(bias, batch, row, column);
    bound += 8 * epsilon * (fabs(v) + 2);
    v = activate(p->activation, v) * scale;
    bound = bound * 1.2 * fabs(scale) + 8 * epsilon * fabs(v);
    if (p->residual) v += element_for(residual, batch, row, column);
    return (expected){v, bound + epsilon * fabs(v)};
}

static void check_result(const problem *p, const operand *a, const operand *b, const operand *out,
                         const operand *bias, const operand *residual, const void *got) {
    uint64_t index[QN_MAX_RANK] = {0};
    unsigned char *touched = calloc(out->count, 1);
    assert_non_null(touched);
    do {
        const uint32_t at = out->array.rank - 2;
        const uint64_t batch = at ? index[0] : 0, row = index[at], column = index[at + 1];
        const uint64_t place = element_place(&out->array, index);
        expected e = expect(p, a, b, out, bias, residual, batch, row, column);
        const double value = element_get(p->out, got, place);
        const narrow_type t = narrow_of(p->out);
        /* Half of the last place, also of the smallest numbers. */
        double half = element_epsilon(p->out) * fabs(e.value) + (t.bits ? ldexp(1, -t.bias - t.mantissa) : 0);
        if (element_epsilon(p->out) ==
            0) { /* to the type's limits; by cutting off, where the epilogue made fractions */
            const double most = p->out == QN_I8 ? 127 : INT32_MAX, least = p->out == QN_I8 ? -128 : INT32_MIN;
            e.value = e.value > most ? most : e.value < least ? least : e.value;
            half = p->alpha == 0 ? 0 : 1;
            e.bound = p->alpha == 0 ? 0 : e.bound;
        }
        touched[place] = 1;
        if (!(fabs(value - e.value) <= e.bound + half))
            fail_msg("%s splits %u, %llux%llux%llu %s x %s -> %s, layouts %d %d %d: [%llu %llu %llu] is "
                     "%.9g, not %.9g +- %.3g",
                     p->variant ? p->variant : "(chosen)", p->splits, (unsigned long long)p->m,
                     (unsigned long long)p->n, (unsigned long long)p->k, qn_element_name(p->a),
                     qn_element_name(p->b), qn_element_name(p->out), p->of_a, p->of_b, p->of_out,
                     (unsigned long long)batch, (unsigned long long)row, (unsigned long long)column, value,
                     e.value, e.bound + half);
    } while (next_index(&out->array, index));
    const uint32_t size = qn_element_size(p->out);
    for (uint64_t i = 0; i < out->count; i++)
        if (!touched[i] &&
            memcmp((const char *)got + i * size, (const char *)out->data + i * size, size) != 0)
            fail_msg("%s: element %llu beside the result was written", p->variant ? p->variant : "(chosen)",
                     (unsigned long long)i);
    free(touched);
}

static void solve(kernels_fixture *f, const problem *p, uint32_t seed) {
    operand a = make_operand(f, p->a, p->one_a ? 0 : p->batches, p->m, p->k, p->of_a, seed),
            b = make_operand(f, p->b, p->batches, p->k, p->n, p->of_b, seed + 1),
            out = make_operand(f, p->out, p->batches, p->m, p->n, p->of_out, seed + 2),
            bias = make_operand(f, QN_F32, 0, p->bias_of_rows ? p->m : 1, p->bias_of_rows ? 1 : p->n, ROWS,
                                seed + 3),
            residual = make_operand(f, QN_F16, p->batches, p->m, p->n, COLUMNS, seed + 4);
    qn_matmul_desc desc = {.out = out.array,
                           .a = a.array,
                           .b = b.array,
                           .alpha = p->alpha,
                           .beta = p->beta,
                           .activation = p->activation,
                           .scale = p->scale,
                           .variant = p->variant,
                           .splits = p->splits,
                           .tf32 = p->tf32};
    if (p->bias || p->bias_of_rows) desc.bias = bias.array;
    if (p->residual) desc.residual = residual.array;
    assert_ok(f->context, qn_kernels_matmul(f->kernels, NULL, &desc));
    void *got = buffer_contents(f, out.array.buffer);
    check_result(p, &a, &b, &out, &bias, &residual, got);
    free(got);
    operand *const all[] = {&a, &b, &out, &bias, &residual};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) end_operand(all[i]);
}

static bool is_units(const char *variant) { return strncmp(variant, "units", 5) == 0; }
static bool is_panels(const char *variant) { return variant && strcmp(variant, "panels") == 0; }
static bool is_vector(const char *variant) { return variant && strcmp(variant, "vector") == 0; }

/* A GPU's driver compiles fast. The interpreter is slow, and software devices take seconds to compile: there some cases are
   tried, and no large tiles on the latter. */
static bool is_tried(const kernels_fixture *f, uint32_t number, const char *variant) {
    if (is_panels(variant)) return f->info.kind == QN_DEVICE_CPU && number % 2 == 0;
    if (variant && strcmp(variant, "packed") == 0) return f->info.vector_bytes > 0 && number % 2 == 0;
    if (f->info.capabilities & QN_CAN_EMULATE)
        return number % 26 == 0 && !(variant && (strstr(variant, "64") || strstr(variant, "128")));
    return f->info.kind != QN_DEVICE_CPU || number % 4 == 0;
}

static void every_variant_takes_any_size_and_layout(void **state) {
    (void)state;
    kernels_fixture f = make_kernels_quickly();
    const char *variant;
    uint32_t number = 0;
    for (uint32_t v = 0; (variant = qn_matmul_variant(v)); v++)
        for (int how = 0; how < LAYOUTS; how++, number++) {
            const bool too_large =
                is_units(variant) && strstr(variant, "128") && f.info.local_memory < 1 << 16;
            if (is_quad(variant) || too_large || !is_tried(&f, number, variant)) continue;
            problem p = {.m = 37 + 2 * v,
                         .n = 45,
                         .k = 41,
                         .of_a = (layout)how,
                         .of_b = (layout)((how + v) % LAYOUTS),
                         .of_out = (layout)((how + 2) % LAYOUTS),
                         .variant = variant};
            if (is_units(variant)) p.a = p.b = how % 2 ? QN_BF16 : QN_F16;
            if (is_panels(variant)) p.a = p.b = QN_BF16;
            if (is_vector(variant)) *(how % 2 ? &p.m : &p.n) = 1;
            solve(&f, &p, number);
            const bool odd = how % 2; /* else in vectors of four and, as to k, whole steps */
            p.k = odd ? 67 : 64;
            p.m = is_vector(variant) && odd ? 1 : odd ? 131 : 132;
            p.n = is_vector(variant) && !odd ? 1 : odd ? 135 : 136;
            if (!(f.info.capabilities & QN_CAN_EMULATE)) solve(&f, &p, number + 100);
        }
    end_kernels(&f);
}

/* One of each family, by the processor's compiler too. */
static void final_code_does_the_same(void **state) {
    (void)state;
    if (testing("vulkan") || testing("opencl")) skip(); /* there all code is final */
    kernels_fixture f = make_kernels();
    static const char *const variants[] = {"tile 32x32", "units 32x32", "vector", "strip"};
    for (size_t i = 0; i < sizeof variants / sizeof *variants; i++) {
        problem p = {.m = is_vector(variants[i]) ? 1 : 45, .n = 50, .k = 70, .variant = variants[i]};
        if (is_units(variants[i])) p.a = p.b = QN_BF16;
        solve(&f, &p, 1);
        assert_ok(f.context, qn_kernels_wait(f.kernels, QN_FOREVER));
        solve(&f, &p, 2);
    }
    end_kernels(&f);
}

/* Several parts of k and several blocks, each of more than a tile; parts of tiles at the edges; B as it lies, packed by each block
   and by a launch of its own. By the final code, as the interpreter would take long. */
static void processors_pack_panels(void **state) {
    (void)state;
    kernels_fixture f = make_kernels();
    static const problem problems[] = {
        {.m = 150, .n = 170, .k = 150},
        {.m = 129, .n = 201, .k = 1100},
        {.m = 400, .n = 300, .k = 50},
        {.m = 1, .n = 1, .k = 1},
        {.m = 70, .n = 2, .k = 300},
        {.m = 33, .n = 2, .k = 70, .a = QN_I8, .b = QN_I8, .out = QN_I32},
        {.m = 28, .n = 64, .k = 900, .of_b = COLUMNS},
        {.m = 64, .n = 130, .k = 80, .of_a = COLUMNS, .of_out = COLUMNS},
        {.batches = 3, .one_a = true, .m = 29, .n = 33, .k = 40, .b = QN_BF16, .out = QN_F16},
        {.batches = 2, .m = 31, .n = 37, .k = 260, .a = QN_F64, .b = QN_F64, .out = QN_F64},
        {.m = 40, .n = 50, .k = 257, .a = QN_I8, .b = QN_U8, .out = QN_I32},
        {.m = 40, .n = 83, .k = 3101, .a = QN_I8, .b = QN_I8, .out = QN_I32},
        {.batches = 2, .m = 29, .n = 50, .k = 258, .a = QN_U8, .b = QN_U8, .out = QN_I32, .of_b = COLUMNS},
        {.m = 30,
         .n = 35,
         .k = 280,
         .alpha = 0.5,
         .beta = 2,
         .scale = 3,
         .bias = true,
         .residual = true,
         .a = QN_F16}};
    for (size_t i = 0; i < sizeof problems / sizeof *problems && f.info.vector_bytes; i++) {
        problem p = problems[i], few = p;
        p.variant = few.variant = "packed";
        few.k = 3;
        solve(&f, &few, (uint32_t)i);
        assert_ok(f.context, qn_kernels_wait(f.kernels, QN_FOREVER));
        solve(&f, &p, (uint32_t)i + 40);
    }
    if (!f.info.vector_bytes) print_message("skipped: %s has no such registers\n", f.info.name);
    qn_buffer *x = elements_buffer(&f, QN_F32, 600, NULL), *y = elements_buffer(&f, QN_F32, 600, NULL);
    const qn_matmul_desc none = {.out = QN_ARRAY(x, QN_F32, 20, 20),
                                 .a = QN_ARRAY(y, QN_F32, 20, 0),
                                 .b = QN_ARRAY(y, QN_F32, 0, 20),
                                 .variant = "packed"};
    assert_int_equal(qn_kernels_matmul(f.kernels, NULL, &none), QN_ERROR_ARGUMENT); /* nothing to pack */
    end_kernels(&f);
}

/* A as it lies and packed, several parts of k and blocks, every pair of types; the interpreter's and the final code's. */
static void processors_multiply_panels(void **state) {
    (void)state;
    kernels_fixture f = make_kernels();
    static const problem problems[] = {
        {.m = 33, .n = 40, .k = 64, .a = QN_BF16, .b = QN_BF16},
        {.m = 70, .n = 300, .k = 1056, .a = QN_BF16, .b = QN_BF16, .out = QN_BF16},
        {.batches = 2, .one_a = true, .m = 20, .n = 50, .k = 37, .a = QN_BF16, .b = QN_BF16, .of_a = COLUMNS},
        {.batches = 2,
         .m = 40,
         .n = 33,
         .k = 70,
         .a = QN_BF16,
         .b = QN_BF16,
         .of_b = COLUMNS,
         .beta = 2,
         .bias = true},
        {.m = 64, .n = 40, .k = 1088, .a = QN_I8, .b = QN_I8, .out = QN_I32},
        {.m = 7, .n = 40, .k = 130, .a = QN_I8, .b = QN_U8, .out = QN_I32},
        {.m = 40, .n = 32, .k = 67, .a = QN_U8, .b = QN_I8, .out = QN_I32},
        {.m = 40, .n = 35, .k = 64, .a = QN_U8, .b = QN_U8, .out = QN_I32}};
    for (size_t i = 0; i < sizeof problems / sizeof *problems && f.info.kind == QN_DEVICE_CPU; i++) {
        problem p = problems[i], few = p;
        p.variant = few.variant = "panels";
        few.n = 3;
        if (i % 2) solve(&f, &few, (uint32_t)i);
        assert_ok(f.context, qn_kernels_wait(f.kernels, QN_FOREVER));
        solve(&f, &p, (uint32_t)i + 40);
    }
    if (f.info.kind != QN_DEVICE_CPU) print_message("skipped: %s is no processor\n", f.info.name);
    end_kernels(&f);
}

static const char *choice_of(kernels_fixture *f, uint64_t m, uint64_t n, qn_element in, qn_element result) {
    enum { K = 64 };
    qn_buffer *a = elements_buffer(f, in, m * K, NULL), *b = elements_buffer(f, in, K * n, NULL),
              *out = elements_buffer(f, result, m * n, NULL);
    const qn_matmul_desc desc = {
        .out = QN_ARRAY(out, result, m, n), .a = QN_ARRAY(a, in, m, K), .b = QN_ARRAY(b, in, K, n)};
    const char *variant;
    uint32_t splits;
    assert_ok(f->context, qn_kernels_matmul_choice(f->kernels, &desc, &variant, &splits));
    return variant;
}

/* Which processors multiply panels in hardware differs by what they are of. */
static void panels_are_chosen_where_they_are_hardware(void **state) {
    (void)state;
    kernels_fixture f = make_kernels();
    const bool tiles = f.info.capabilities & QN_CAN_MULTIPLY_PANELS,
               of_bf16 = f.info.capabilities & QN_CAN_MULTIPLY_BF16_PANELS;
    assert_true(of_bf16 || !tiles);
    assert_int_equal(is_panels(choice_of(&f, 64, 64, QN_BF16, QN_BF16)), of_bf16);
    assert_int_equal(is_panels(choice_of(&f, 16, 64, QN_BF16, QN_F32)), tiles);
    assert_int_equal(is_panels(choice_of(&f, 64, 64, QN_I8, QN_I32)), tiles);
    assert_false(is_panels(choice_of(&f, 64, 64, QN_F32, QN_F32)));
    if (f.info.vector_bytes) /* two columns are enough for registers */
        assert_string_equal(choice_of(&f, 256, 2, QN_F32, QN_F32), "packed");
    print_message("%s: %s\n", f.info.name, tiles ? "tiles" : of_bf16 ? "pairs of bf16" : "no panels");
    end_kernels(&f);
}

/* Strides that tile copies take and others, for which operands are copied first; results that are stored by tiles and others. */
static void quads(void **state) {
    (void)state;
    kernels_fixture f = make_kernels();
    static const qn_element types[][3] = {{QN_F16, QN_F16, QN_F16},   {QN_BF16, QN_BF16, QN_BF16},
                                          {QN_BF16, QN_BF16, QN_F32}, {QN_E4M3, QN_E4M3, QN_BF16},
                                          {QN_E5M2, QN_E5M2, QN_F16}, {QN_I8, QN_I8, QN_I32},
                                          {QN_U8, QN_U8, QN_F32},     {QN_F32, QN_F32, QN_F32}};
    const char *variant;
    uint32_t number = 0;
    for (uint32_t v = 0; (variant = qn_matmul_variant(v)); v++)
        for (size_t t = 0; t < sizeof types / sizeof *types && is_quad(variant); t++)
            for (int how = 0; how < 6; how++, number++) {
                const problem p = {.batches = how == 4 ? 3 : 0,
                                   .m = how % 2 ? 201 : 256,
                                   .n = how % 2 ? 279 : 320,
                                   .k = how % 2 ? 131 : 208,
                                   .a = types[t][0],
                                   .b = types[t][1],
                                   .out = types[t][2],
                                   .of_a = how & 2 ? COLUMNS : ROWS,
                                   .of_b = (how + (int)t) % 3 ? ROWS : COLUMNS,
                                   .of_out = how == 5 ? COLUMNS : ROWS,
                                   .alpha = how > 2 ? 0.5 : 0,
                                   .beta = how == 3 ? 2 : 0,
                                   .bias = how == 4,
                                   .one_a = how == 4 && t % 2,
                                   .activation = how == 5 ? QN_ACTIVATION_RELU : 0,
                                   .tf32 = types[t][0] == QN_F32,
                                   .variant = variant};
                /* each driver's compile takes a second */
                if (f.info.capabilities & QN_CAN_COPY_TILES && number % 24 == v) solve(&f, &p, number);
            }
    if (!(f.info.capabilities & QN_CAN_COPY_TILES))
        print_message("skipped: %s has no tile copies\n", f.info.name);
    end_kernels(&f);
}

/* Few rows, for which the transposed product is computed, and parts of k, which a cluster adds up and more of them in memory. */
static void quads_of_few_rows_and_parts(void **state) {
    (void)state;
    kernels_fixture f = make_kernels();
    static const problem problems[] = {{.m = 1,
                                        .n = 300,
                                        .k = 520,
                                        .a = QN_BF16,
                                        .b = QN_BF16,
                                        .out = QN_BF16,
                                        .variant = "quad turned 64x8",
                                        .splits = 4},
                                       {.m = 7,
                                        .n = 200,
                                        .k = 1000,
                                        .a = QN_F16,
                                        .b = QN_F16,
                                        .out = QN_F32,
                                        .variant = "quad turned 128x8",
                                        .splits = 3,
                                        .alpha = 0.5,
                                        .beta = 2,
                                        .bias = true,
                                        .residual = true},
                                       {.m = 13,
                                        .n = 130,
                                        .k = 2100,
                                        .a = QN_BF16,
                                        .b = QN_BF16,
                                        .out = QN_BF16,
                                        .variant = "quad turned 64x16",
                                        .splits = 16},
                                       {.m = 30,
                                        .n = 140,
                                        .k = 300,
                                        .a = QN_I8,
                                        .b = QN_I8,
                                        .out = QN_I32,
                                        .variant = "quad turned 128x32",
                                        .splits = 2},
                                       {.batches = 3,
                                        .m = 50,
                                        .n = 136,
                                        .k = 264,
                                        .a = QN_BF16,
                                        .b = QN_BF16,
                                        .out = QN_BF16,
                                        .of_out = COLUMNS,
                                        .variant = "quad turned 128x64"},
                                       {.batches = 2,
                                        .m = 64,
                                        .n = 200,
                                        .k = 1032,
                                        .a = QN_BF16,
                                        .b = QN_BF16,
                                        .out = QN_BF16,
                                        .variant = "quad turned 64x64",
                                        .splits = 24,
                                        .bias = true},
                                       {.m = 130,
                                        .n = 136,
                                        .k = 1100,
                                        .a = QN_BF16,
                                        .b = QN_BF16,
                                        .out = QN_F32,
                                        .variant = "quad 128x128",
                                        .splits = 20},
                                       {.m = 64,
                                        .n = 300,
                                        .k = 520,
                                        .a = QN_E4M3,
                                        .b = QN_E4M3,
                                        .out = QN_BF16,
                                        .of_b = COLUMNS,
                                        .variant = "quad 64x256",
                                        .splits = 5},
                                       {.batches = 2,
                                        .m = 66,
                                        .n = 72,
                                        .k = 40,
                                        .a = QN_F16,
                                        .b = QN_F16,
                                        .out = QN_F16,
                                        .variant = "quad 64x64",
                                        .splits = 8},
                                       {.m = 140,
                                        .n = 300,
                                        .k = 200,
                                        .a = QN_F32,
                                        .b = QN_F32,
                                        .out = QN_F32,
                                        .tf32 = true,
                                        .variant = "quad turned 128x256 two"},
                                       {.m = 70,
                                        .n = 128,
                                        .k = 64,
                                        .a = QN_F32,
                                        .b = QN_F32,
                                        .out = QN_F32,
                                        .tf32 = true,
                                        .variant = "quad 64x128"}};
    for (size_t i = 0; i < sizeof problems / sizeof *problems; i++)
        if (f.info.capabilities & QN_CAN_COPY_TILES) solve(&f, &problems[i], (uint32_t)i);
    if (!(f.info.capabilities & QN_CAN_COPY_TILES))
        print_message("skipped: %s has no tile copies\n", f.info.name);
    end_kernels(&f);
}

static void k_is_split(void **state) {
    (void)state;
    kernels_fixture f = make_kernels_quickly();
    const struct {
        const char *variant;
        uint64_t m, n, k;
        uint32_t splits;
    } cases[] = {{"tile 32x32", 33, 20, 100, 3},
                 {"vector", 1, 130, 77, 4},
                 {"tile 32x32", 5, 6, 3, 8},
                 {"vector", 50, 1, 600, 2},
                 {"tile 16x128", 3, 140, 64, 2},
                 {"tile 32x32", 36, 40, 200, 4}, /* parts of 50 would begin beside vectors of four */
                 {"vector", 40, 1, 600, 4},
                 {"tile 64x64", 70, 65, 300, 2},
                 {"tile 32x32", 32, 36, 40, 8}, /* fewer steps than parts */
                 {"vector", 1, 70, 900, 20},
                 {"tile 32x32", 37, 45, 700, 30}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (uint64_t batches = 0; batches <= 2; batches += 2) {
            const problem p = {.batches = batches,
                               .m = cases[i].m,
                               .n = cases[i].n,
                               .k = cases[i].k,
                               .alpha = 0.5,
                               .beta = 2,
                               .bias = true,
                               .variant = cases[i].variant,
                               .splits = cases[i].splits};
            if (is_tried(&f, (uint32_t)i * 3 + (uint32_t)batches, p.variant)) solve(&f, &p, (uint32_t)i);
        }
    end_kernels(&f);
}

/* Long enough for all loads under way at a time, with ends of lines and less than a run of neighbours. */
static void long_vectors(void **state) {
    (void)state;
    kernels_fixture f = make_kernels_quickly();
    static const problem problems[] = {
        {.m = 1, .n = 139, .k = 700, .a = QN_BF16, .b = QN_BF16, .out = QN_BF16, .of_b = GAPS_OF_FOUR},
        {.m = 1, .n = 136, .k = 700, .a = QN_BF16, .b = QN_BF16, .out = QN_BF16},
        {.m = 1, .n = 21, .k = 2504, .a = QN_F16, .b = QN_F16, .out = QN_F32, .of_b = COLUMNS, .bias = true},
        {.m = 35, .n = 1, .k = 1403, .splits = 2},
        {.batches = 2, .m = 1, .n = 150, .k = 333, .of_a = GAPS},
        {.m = 40, .n = 1, .k = 1030, .a = QN_I8, .b = QN_I8, .out = QN_I32, .of_a = GAPS},
        {.m = 1, .n = 96, .k = 530, .a = QN_I8, .b = QN_U8, .out = QN_I32},
        {.m = 9, .n = 1, .k = 4096, .a = QN_E4M3, .b = QN_E4M3, .out = QN_F32},
        {.m = 64, .n = 1, .k = 520, .a = QN_F64, .b = QN_F64, .out = QN_F64, .of_a = COLUMNS}};
    for (size_t i = 0; i < sizeof problems / sizeof *problems; i++) {
        problem p = problems[i];
        p.variant = "vector";
        if (has_type(&f, p.a) && is_tried(&f, (uint32_t)i * 13, p.variant)) solve(&f, &p, (uint32_t)i);
    }
    end_kernels(&f);
}

static void types_are_paired(void **state) {
    (void)state;
    kernels_fixture f = make_kernels_quickly();
    static const qn_element types[][3] = {
        {QN_F16, QN_F16, QN_F16},  {QN_BF16, QN_BF16, QN_BF16}, {QN_BF16, QN_BF16, QN_F32},
        {QN_F32, QN_BF16, QN_F16}, {QN_E4M3, QN_E5M2, QN_F32},  {QN_E5M2, QN_E4M3, QN_BF16},
        {QN_I8, QN_I8, QN_I32},    {QN_U8, QN_I8, QN_F32},      {QN_I8, QN_I8, QN_I8},
        {QN_F64, QN_F64, QN_F64},  {QN_F64, QN_F64, QN_F32},    {QN_F16, QN_F16, QN_E4M3}};
    uint32_t number = 0;
    for (size_t t = 0; t < sizeof types / sizeof *types; t++)
        for (int way = 0; way < 3; way++, number++) {
            problem p = {.m = 40,
                         .n = 36,
                         .k = 24,
                         .a = types[t][0],
                         .b = types[t][1],
                         .out = types[t][2],
                         .of_b = way == 1 ? COLUMNS : ROWS};
            if (way == 0) p.variant = "tile 32x32";
            if (way == 1) p.m = 1, p.variant = "vector";
            if (way == 2) p.alpha = 0.25, p.bias = true; /* integers go through floats */
            if (has_type(&f, p.a) && is_tried(&f, number, p.variant)) solve(&f, &p, number);
        }
    end_kernels(&f);
}

/* What matrix units take: the same results from any device, with or without them; but a software device takes a minute to compile
   one of these kernels. */
static void units_take_their_types(void **state) {
    (void)state;
    kernels_fixture f = make_kernels_quickly();
    if (f.info.capabilities & QN_CAN_EMULATE) {
        end_kernels(&f);
        skip();
    }
    static const qn_element types[][3] = {{QN_F16, QN_F16, QN_F16},   {QN_BF16, QN_BF16, QN_F32},
                                          {QN_E4M3, QN_E4M3, QN_F16}, {QN_E4M3, QN_E5M2, QN_F32},
                                          {QN_I8, QN_U8, QN_I32},     {QN_F32, QN_F32, QN_F32},
                                          {QN_F64, QN_F64, QN_F64},   {QN_F64, QN_F64, QN_F32}};
    uint32_t number = 0;
    for (size_t t = 0; t < sizeof types / sizeof *types; t++)
        for (int how = 0; how < 5; how++, number++) {
            const bool too_large = types[t][0] == QN_F64 && how == 4 && f.info.local_memory < 1 << 17;
            if (too_large || (types[t][0] == QN_F64 && !(f.info.capabilities & QN_CAN_F64))) continue;
            problem p = {.m = 70,
                         .n = 48,
                         .k = 80,
                         .a = types[t][0],
                         .b = types[t][1],
                         .out = types[t][2],
                         .of_a = how & 1 ? COLUMNS : ROWS,
                         .of_b = how & 2 ? COLUMNS : ROWS,
                         .tf32 = types[t][0] == QN_F32,
                         .variant = how == 4 ? "units 64x64" : "units 32x32",
                         .splits = how == 3 ? 2 : 0,
                         .bias = how == 2};
            if (!is_tried(&f, number, NULL)) continue;
            if (how == 2) p.alpha = 0.5;
            solve(&f, &p, number);
        }
    end_kernels(&f);
}

static void epilogues_and_batches(void **state) {
    (void)state;
    kernels_fixture f = make_kernels_quickly();
    for (int how = 0; how < QN_ACTIVATION_COUNT; how++) {
        const problem p = {.batches = how % 2 ? 3 : 0,
                           .m = how < 3 ? 39 : 19,
                           .n = how < 3 ? 35 : 21,
                           .k = 10,
                           .alpha = 1.5,
                           .beta = how % 3 ? 0.5 : 0,
                           .scale = how % 2 ? 0 : 3,
                           .bias = how % 3 == 0,
                           .bias_of_rows = how % 3 == 1,
                           .residual = how % 2 == 0,
                           .activation = (qn_activation)how,
                           .of_out = (layout)(how % LAYOUTS),
                           .one_a = how == 3,
                           .variant = how % 2 ? NULL : "tile 32x32"};
        if (is_tried(&f, (uint32_t)how, NULL)) solve(&f, &p, (uint32_t)how);
    }
    const problem empty = {.m = 3, .n = 4, .k = 0, .beta = 2, .bias = true},
                  nothing = {.m = 0, .n = 4, .k = 5};
    solve(&f, &empty, 1);
    operand a = make_operand(&f, QN_F32, 0, nothing.m, nothing.k, ROWS, 1),
            b = make_operand(&f, QN_F32, 0, 5, 4, ROWS, 2);
    assert_ok(f.context,
              qn_kernels_matmul(
                  f.kernels, NULL,
                  &(qn_matmul_desc){.out = {.rank = 2, .sizes = {0, 4}}, .a = a.array, .b = b.array}));
    end_operand(&a);
    end_operand(&b);
    end_kernels(&f);
}

static void many_batch_dimensions(void **state) {
    (void)state;
    kernels_fixture f = make_kernels();
    /* [2, 3, 4, 4] of a [3, 1..] and a b [2, 1, 4, 4]. */
    float *a = random_elements(QN_F32, 48, -1, 1, 1), *b = random_elements(QN_F32, 32, -1, 1, 2), *got;
    qn_buffer *on_a = elements_buffer(&f, QN_F32, 48, a), *on_b = elements_buffer(&f, QN_F32, 32, b),
              *on_out = elements_buffer(&f, QN_F32, 96, NULL);
    const qn_matmul_desc desc = {.out = QN_ARRAY(on_out, QN_F32, 2, 3, 4, 4),
                                 .a = QN_ARRAY(on_a, QN_F32, 3, 4, 4),
                                 .b = QN_ARRAY(on_b, QN_F32, 2, 1, 4, 4),
                                 .variant = "tile 32x32"};
    assert_ok(f.context, qn_kernels_matmul(f.kernels, NULL, &desc));
    got = buffer_contents(&f, on_out);
    for (int i = 0; i < 96; i++) {
        double sum = 0;
        for (int p = 0; p < 4; p++)
            sum += (double)a[i / 16 % 3 * 16 + i / 4 % 4 * 4 + p] * b[i / 48 * 16 + p * 4 + i % 4];
        assert_true(fabs(got[i] - sum) < 1e-5);
    }
    free(a);
    free(b);
    free(got);
    end_kernels(&f);
}

static void wrong_calls_are_refused(void **state) {
    (void)state;
    kernels_fixture f = make_kernels();
    qn_buffer *x = elements_buffer(&f, QN_F32, 100, NULL), *y = elements_buffer(&f, QN_F32, 100, NULL),
              *z = elements_buffer(&f, QN_F32, 100, NULL);
    const qn_matmul_desc good = {
        .out = QN_ARRAY(z, QN_F32, 4, 6), .a = QN_ARRAY(x, QN_F32, 4, 5), .b = QN_ARRAY(y, QN_F32, 5, 6)};
    assert_ok(f.context, qn_kernels_matmul(f.kernels, NULL, &good));
#define REFUSED(status, message, ...)                                                                        \
    do {                                                                                                     \
        qn_matmul_desc desc = good;                                                                          \
        __VA_ARGS__;                                                                                         \
        assert_fails(f.context, qn_kernels_matmul(f.kernels, NULL, &desc), status, message);                 \
    } while (0)
    REFUSED(QN_ERROR_ARGUMENT, "a (4x6) by b (5x6) is not out (4x6)", desc.a = QN_ARRAY(x, QN_F32, 4, 6));
    REFUSED(QN_ERROR_ARGUMENT, "a has 1 dimensions", desc.a = QN_ARRAY(x, QN_F32, 20));
    REFUSED(QN_ERROR_ARGUMENT, "a is i32 and b is f32", desc.a.type = QN_I32);
    REFUSED(QN_ERROR_ARGUMENT, "a is i8 and b is f32", desc.a.type = QN_I8);
    REFUSED(QN_ERROR_ARGUMENT, "out and a share memory", desc.a = QN_ARRAY(z, QN_F32, 4, 5));
    REFUSED(QN_ERROR_ARGUMENT, "bias (5) cannot be broadcast to out (4x6)",
            desc.bias = QN_ARRAY(x, QN_F32, 5));
    REFUSED(QN_ERROR_ARGUMENT, "the batches of a", desc.a = QN_ARRAY(x, QN_F32, 2, 4, 5);
            desc.out = QN_ARRAY(z, QN_F32, 3, 4, 6));
    REFUSED(QN_ERROR_ARGUMENT, "activation is 77", desc.activation = (qn_activation)77);
    REFUSED(QN_ERROR_ARGUMENT, "variant 'units 32x32' cannot do this",
            desc.variant = "units 32x32"); /* no tf32 */
    REFUSED(QN_ERROR_ARGUMENT, "no variant 'tile'", desc.variant = "tile");
    REFUSED(QN_ERROR_ARGUMENT, "variant 'vector' cannot do this", desc.variant = "vector");
    REFUSED(QN_ERROR_RANGE, "out (4x60 of f32)", desc.out = QN_ARRAY(z, QN_F32, 4, 60));
    REFUSED(QN_ERROR_ARGUMENT, "residual share memory", desc.residual = QN_ARRAY(z, QN_F32, 4, 6);
            desc.residual.offset = 1);
    end_kernels(&f);
}

/* Recorded once, with work space between two kernels, and launched after the operands have changed. */
static void products_are_recorded_in_graphs(void **state) {
    (void)state;
    kernels_fixture f = make_kernels();
    enum { N = 24 };
    float *a = random_elements(QN_F32, N * N, -1, 1, 1), *b = random_elements(QN_F32, N * N, -1, 1, 2);
    qn_buffer *on_a = elements_buffer(&f, QN_F32, N * N, NULL), *on_b = elements_buffer(&f, QN_F32, N * N, b),
              *on_out = elements_buffer(&f, QN_F32, N * N, NULL);
    qn_stream *stream;
    qn_graph *graph;
    assert_ok(f.context, qn_stream_create(f.device, &stream));
    assert_ok(f.context, qn_graph_begin(stream));
    const qn_matmul_desc desc = {.out = QN_ARRAY(on_out, QN_F32, N, N),
                                 .a = QN_ARRAY(on_a, QN_F32, N, N),
                                 .b = QN_ARRAY(on_b, QN_F32, N, N),
                                 .variant = "tile 32x32",
                                 .splits = 3};
    assert_ok(f.context, qn_kernels_matmul(f.kernels, stream, &desc));
    assert_ok(f.context, qn_graph_end(stream, &graph));
    assert_int_equal(qn_graph_launch_count(graph), 2);
    assert_ok(f.context, qn_buffer_write(on_a, 0, a, N * N * sizeof *a));
    for (int i = 0; i < 2; i++) assert_ok(f.context, qn_graph_launch(NULL, graph));
    float *got = buffer_contents(&f, on_out);
    for (int i = 0; i < N * N; i++) {
        double sum = 0;
        for (int p = 0; p < N; p++) sum += (double)a[i / N * N + p] * b[p * N + i % N];
        assert_true(fabs(got[i] - sum) < 1e-4);
    }
    free(a);
    free(b);
    free(got);
    qn_graph_destroy(graph);
    qn_stream_destroy(stream);
    end_kernels(&f);
}

/* Rows that lie more than 2^31 elements apart, in buffers of which little is touched. */
static void elements_beyond_2_31_are_reached(void **state) {
    (void)state;
    kernels_fixture f = make_kernels();
    const uint64_t apart = (1ull << 31) + 64, size = apart + 64;
    if (f.info.max_buffer < size || f.info.memory < 4 * size) {
        print_message("skipped: %s has no buffers of %llu bytes\n", f.info.name, (unsigned long long)size);
        end_kernels(&f);
        return;
    }
    int8_t a[2][16], b[16][16];
    for (int i = 0; i < 16; i++)
        for (int j = 0; j < 16; j++) b[i][j] = (int8_t)(i * 3 - j);
    for (int i = 0; i < 32; i++) a[i / 16][i % 16] = (int8_t)(i - 9);
    qn_buffer *on_a = NULL, *on_b = make_buffer(f.device, sizeof b, b),
              *on_out = make_buffer(f.device, 2 * 16 * 4, NULL);
    assert_ok(f.context,
              qn_buffer_create(f.device, &(qn_buffer_desc){.size = size, .uninitialised = true}, &on_a));
    for (int i = 0; i < 2; i++) assert_ok(f.context, qn_buffer_write(on_a, (uint64_t)i * apart, a[i], 16));
    const qn_matmul_desc desc = {.out = QN_ARRAY(on_out, QN_I32, 2, 16),
                                 .a = {on_a, 0, QN_I8, 2, {2, 16}, {(int64_t)apart, 1}},
                                 .b = QN_ARRAY(on_b, QN_I8, 16, 16)};
    assert_ok(f.context, qn_kernels_matmul(f.kernels, NULL, &desc));
    int32_t got[2][16];
    assert_ok(f.context, qn_buffer_read(on_out, 0, got, sizeof got));
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 16; j++) {
            int32_t sum = 0;
            for (int p = 0; p < 16; p++) sum += a[i][p] * b[p][j];
            assert_int_equal(got[i][j], sum);
        }
    /* And as the target of a strided fill. */
    assert_ok(f.context,
              qn_kernels_fill(
                  f.kernels, NULL,
                  &(qn_fill_desc){.to = {on_a, 0, QN_I8, 2, {2, 16}, {(int64_t)apart, 1}}, .value = 7}));
    int8_t filled[16];
    assert_ok(f.context, qn_buffer_read(on_a, apart, filled, 16));
    for (int i = 0; i < 16; i++) assert_int_equal(filled[i], 7);
    end_kernels(&f);
}

/* One in a is in its row, also by zeros; those that are in out before are not read. */
static void nans_are_where_they_are_multiplied(void **state) {
    (void)state;
    enum { M = 37, N = 21, K = 40, ROW = 5 };
    kernels_fixture f = make_kernels_quickly();
    float *a = random_elements(QN_F32, M * K, -1, 1, 1), *b = calloc(K * N, sizeof *b),
          *out = malloc(M * N * sizeof *out);
    static const char *const ways[] = {
        NULL, "tile 32x32", "units 32x32", "quad 64x64", "quad turned 64x8", "packed", "vector", "strip"};
    assert_non_null(b);
    assert_non_null(out);
    a[ROW * K + 7] = NAN;
    for (int i = 0; i < M * N; i++) out[i] = NAN;
    qn_buffer *buffers[] = {elements_buffer(&f, QN_F32, M * K, a), elements_buffer(&f, QN_F32, K * N, b),
                            elements_buffer(&f, QN_F32, M * N, out)};
    for (uint32_t v = 0; v < (testing("cuda") ? sizeof ways / sizeof *ways : 2); v++)
        for (uint32_t splits = 1; splits < 4; splits += 2) {
            const qn_matmul_desc d = {.a = QN_ARRAY(buffers[0], QN_F32, M, K),
                                      .b = QN_ARRAY(buffers[1], QN_F32, K, N),
                                      .out = QN_ARRAY(buffers[2], QN_F32, M, N),
                                      .tf32 = true,
                                      .variant = ways[v],
                                      .splits = splits};
            assert_ok(f.context, qn_buffer_write(buffers[2], 0, out, M * N * sizeof *out));
            if (qn_kernels_matmul(f.kernels, NULL, &d) == QN_ERROR_ARGUMENT)
                continue; /* what does not take it */
            float *got = buffer_contents(&f, buffers[2]);
            for (int i = 0; i < M * N; i++)
                if (i / N == ROW ? !isnan(got[i]) : got[i] != 0)
                    fail_msg("%s, %u parts: %g at %d, %d", ways[v] ? ways[v] : "any", splits, (double)got[i],
                             i / N, i % N);
            free(got);
        }
    free(a), free(b), free(out);
    for (int i = 0; i < 3; i++) qn_buffer_destroy(buffers[i]);
    end_kernels(&f);
}

/* On the CPU device, whose memory is new to the system each time. */
static void memory_between_kernels_is_kept(void **state) {
    (void)state;
    kernels_fixture f = make_kernels_quickly();
    qn_memory_stats stats;
    problem p = {.m = 20, .n = 30, .k = 64, .splits = 2};
    solve(&f, &p, 1);
    assert_ok(f.context, qn_device_wait(f.device, QN_FOREVER));
    assert_ok(f.context, qn_device_memory(f.device, &stats));
    if (f.info.kind == QN_DEVICE_CPU) assert_true(stats.pooled >= 2 * 20 * 30 * sizeof(float));
    qn_kernels_destroy(f.kernels);
    assert_ok(f.context, qn_device_memory(f.device, &stats));
    if (f.info.kind == QN_DEVICE_CPU) assert_int_equal(stats.pooled, 0);
    qn_context_destroy(f.context);
}

/* With `packed` the one test that an emulated processor has time for. */
int main(int argc, char **argv) {
    const struct CMUnitTest of_panels[] = {cmocka_unit_test(processors_pack_panels)};
    if (argc > 1 && strcmp(argv[1], "packed") == 0) return run_device_tests(of_panels);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wrong_calls_are_refused),
        cmocka_unit_test(every_variant_takes_any_size_and_layout),
        cmocka_unit_test(final_code_does_the_same),
        cmocka_unit_test(processors_pack_panels),
        cmocka_unit_test(processors_multiply_panels),
        cmocka_unit_test(panels_are_chosen_where_they_are_hardware),
        cmocka_unit_test(quads),
        cmocka_unit_test(quads_of_few_rows_and_parts),
        cmocka_unit_test(k_is_split),
        cmocka_unit_test(long_vectors),
        cmocka_unit_test(types_are_paired),
        cmocka_unit_test(units_take_their_types),
        cmocka_unit_test(epilogues_and_batches),
        cmocka_unit_test(many_batch_dimensions),
        cmocka_unit_test(products_are_recorded_in_graphs),
        cmocka_unit_test(nans_are_where_they_are_multiplied),
        cmocka_unit_test(elements_beyond_2_31_are_reached),
        cmocka_unit_test(memory_between_kernels_is_kept),
    };
    return run_device_tests(tests);
}
