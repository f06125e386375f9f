/* Tensors: how near the functions come that devices compute in ways of their own, over floats of all sizes. */
#include <float.h>

#include "tensor_common.h"

static double sigmoid(double x) { return 1 / (1 + exp(-x)); }
static double silu(double x) { return x / (1 + exp(-x)); }
static double gelu(double x) { return 0.5 * x * erfc(-x * 0.70710678118654752440); }
static double gelu_tanh(double x) {
    return silu(1.59576912160573071176 * (x + 0.044715 * x * x * x)) * x /
           (1.59576912160573071176 * (x + 0.044715 * x * x * x));
}

/* In units of 2^-24 of the value; in tails more, as a rounded argument there stands for many values: `tail` times x^2 of them. */
static const struct {
    const char *name;
    qn_tensor *(*of_tensors)(qn_tensor *x);
    double (*of_numbers)(double x);
    double units, tail;
} functions[] = {
    {"exp", qn_exp, exp, 8, 0},
    {"tanh", qn_tanh, tanh, 8, 0},
    {"sigmoid", qn_sigmoid, sigmoid, 8, 0},
    {"silu", qn_silu, silu, 8, 0},
    {"gelu", qn_gelu, gelu, 8, 4},
    {"gelu_tanh", qn_gelu_tanh, gelu_tanh, 8, 4},
};

enum { COUNT = 1 << 18 };

/* Both signs, exponents from 2^-40 to 2^7, all digits. */
static float number(uint32_t i) {
    const uint32_t exponent = 87 + i / 2 % 47, digits = (i * 2654435761u) >> 9;
    const union {
        uint32_t bits;
        float f;
    } u = {(i & 1) << 31 | exponent << 23 | digits};
    return u.f;
}

/* Results below the least normal number may be 0, and what gelu makes of numbers below -5.5 has an error as 1 has. */
static double allowed(int f, double x, double y) {
    const double of_value = (functions[f].units + functions[f].tail * x * x) * 0x1p-24 * fabs(y);
    return of_value + 0x1p-119 + (functions[f].of_numbers == gelu && x < -5.5 ? 0x1p-24 : 0);
}

static void functions_are_near(void **state) {
    tensor_fixture *t = fixture_of(state);
    float *x = malloc(COUNT * sizeof *x), *y = malloc(COUNT * sizeof *y);
    for (uint32_t i = 0; i < COUNT; i++) x[i] = number(i);
    for (int f = 0; f < (int)(sizeof functions / sizeof *functions); f++) {
        double worst = 0;
        read_floats(t, functions[f].of_tensors(qn_from_data(t->t, QN_F32, QN_SHAPE(COUNT), x)), y, COUNT);
        for (int i = 0; i < COUNT; i++) {
            const double wanted = functions[f].of_numbers((double)x[i]), off = fabs((double)y[i] - wanted);
            if (fabs(wanted) > (double)FLT_MAX || fabs(wanted) < 0x1p-119) continue;
            worst = fmax(worst, off / allowed(f, (double)x[i], wanted));
            if (!(off <= allowed(f, (double)x[i], wanted)))
                fail_msg("%s(%.9g) is %.9g instead of %.9g", functions[f].name, (double)x[i], (double)y[i],
                         wanted);
        }
        printf("%s: %.2f of what is allowed\n", functions[f].name, worst);
    }
    free(x);
    free(y);
}

static void find_near(void *user, const char *line) {
    bool *found = user;
    *found = *found || strstr(line, "near_");
}

/* Functions of what is known to lie within 1 go by other ways. */
static void functions_of_bounded_numbers_are_near(void **state) {
    tensor_fixture *t = fixture_of(state);
    float *x = malloc(COUNT * sizeof *x), *s = malloc(COUNT * sizeof *s), *y = malloc(COUNT * sizeof *y);
    for (uint32_t i = 0; i < COUNT; i++) x[i] = number(i);
    read_floats(t, qn_sin(qn_from_data(t->t, QN_F32, QN_SHAPE(COUNT), x)), s, COUNT);
    for (int f = 1; f < 5; f++) {
        bool is_near = false;
        double worst = 0;
        qn_tensor *of = functions[f].of_tensors(qn_sin(qn_from_data(t->t, QN_F32, QN_SHAPE(COUNT), x)));
        assert_ok(t->context,
                  qn_tensor_explain(&of, 1, &(qn_explain_desc){.text = true}, find_near, &is_near));
        assert_true(is_near);
        read_floats(t, of, y, COUNT);
        for (int i = 0; i < COUNT; i++) {
            const double wanted = functions[f].of_numbers((double)s[i]);
            worst = fmax(worst, fabs((double)y[i] - wanted) / (8 * 0x1p-24 * fabs(wanted) + 0x1p-119));
        }
        printf("%s of what is within 1: %.2f of what is allowed\n", functions[f].name, worst);
        assert_true(worst <= 1);
    }
    free(x);
    free(s);
    free(y);
}

/* What lies above 0 is its own rectified value, and no number that may be below it is; NaNs stay. */
static void rectified_numbers(void **state) {
    tensor_fixture *f = fixture_of(state);
    const float x[] = {-2, NAN, 0, 0.5f, INFINITY, -0.1f};
    static const float of_abs[] = {2, NAN, 0, 0.5f, INFINITY, 0.1f},
                       of_gelu[] = {0, NAN, 0, 0.345731f, INFINITY, 0};
    float y[6], z[6];
    qn_tensor *v = qn_from_data(f->t, QN_F32, QN_SHAPE(6), x);
    read_floats(f, qn_relu(qn_abs(v)), y, 6);
    read_floats(f, qn_relu(qn_gelu(qn_relu(v))), z, 6);
    for (int i = 0; i < 6; i++) {
        assert_true(i == 1 ? isnan(y[i]) : y[i] == of_abs[i]);
        assert_true(i == 1 ? isnan(z[i]) : i == 4 ? isinf(z[i]) : fabsf(z[i] - of_gelu[i]) < 1e-6f);
    }
    read_floats(f, qn_relu(qn_gelu(v)), y, 6);
    assert_true(y[0] == 0 && y[5] == 0);
    read_floats(f, qn_relu(qn_subtract(qn_abs(qn_sin(v)), qn_tanh(qn_abs(v)))), z, 6);
    assert_true(z[0] == 0 && isnan(z[1]) && z[5] > 0);
}

static void ends_are_right(void **state) {
    tensor_fixture *f = fixture_of(state);
    const float x[] = {INFINITY, -INFINITY, NAN, 0, 200, -200};
    static const struct {
        qn_tensor *(*of)(qn_tensor *x);
        float wanted[6];
    } ends[] = {
        {qn_exp, {INFINITY, 0, NAN, 1, INFINITY, 0}}, {qn_tanh, {1, -1, NAN, 0, 1, -1}},
        {qn_sigmoid, {1, 0, NAN, 0.5f, 1, 0}},        {qn_silu, {INFINITY, 0, NAN, 0, 200, 0}},
        {qn_gelu, {INFINITY, 0, NAN, 0, 200, 0}},     {qn_gelu_tanh, {INFINITY, 0, NAN, 0, 200, 0}},
    };
    for (int e = 0; e < (int)(sizeof ends / sizeof *ends); e++) {
        float y[6];
        const bool has_limit = ends[e].wanted[1] == -1 || e < 3; /* others are -inf times 0 there */
        read_floats(f, ends[e].of(qn_from_data(f->t, QN_F32, QN_SHAPE(6), x)), y, 6);
        for (int i = 0; i < 6; i++) {
            const float wanted = ends[e].wanted[i];
            if (i == 1 && !has_limit) continue;
            if (isnan(wanted) ? !isnan(y[i]) : y[i] != wanted)
                fail_msg("function %d of %g: %g", e, (double)x[i], (double)y[i]);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(functions_are_near),
                                       cmocka_unit_test(functions_of_bounded_numbers_are_near),
                                       cmocka_unit_test(rectified_numbers), cmocka_unit_test(ends_are_right)};
    return run_tensor_tests(tests, NULL);
}
