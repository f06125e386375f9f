/* Accuracy of the maths library on the CPU device: each function against long double, in units in the last
   place of the true value, within OpenCL's full-profile bounds (OpenCL C 7.4). The usual run takes samples:
   all exponents, the usual arguments more densely, and the special values in all combinations; of half every
   value. unit_api_maths --table         prints what docs/maths.md shows unit_api_maths --all NAME...   all
   2^32 floats of one-argument functions, some minutes each */
#include "api_support.h"

#include <math.h>

#include "maths_reference.h"

typedef enum number_type { HALF, FLOAT, DOUBLE, NUM_TYPES } number_type;

typedef struct type_info {
    const char *name;
    int digits, lowest; /* bits of the significand; exponent of the smallest number */
    int highest;        /* numbers are below 2^highest */
    size_t size;
} type_info;

static const type_info types[] = {
    {"half", 11, -24, 16, 2}, {"float", 24, -149, 128, 4}, {"double", 53, -1074, 1024, 8}};

typedef struct function_row {
    const char *name;
    const char *code;   /* gives r from a, b (of type T) and n (int) */
    double bounds[3];   /* half, float, double */
    unsigned arguments; /* 1: a; 2: a and b; 3: a and n */
    maths_reference *reference;
    bool any_zero_sign;
} function_row;

static const function_row functions[] = {
#define ROW(name, code, half, single, full, arguments, zero)                                                 \
    {#name, code, {half, single, full}, arguments, ref_##name, zero},
#include "maths_rows.h"
#undef ROW
};
enum { NUM_FUNCTIONS = sizeof functions / sizeof *functions };

/* ---- numbers ---- */

static long double half_value(uint16_t bits) {
    int exponent = bits >> 10 & 31;
    long double fraction = bits & 1023;
    long double value = exponent == 31  ? (fraction != 0 ? NAN : INFINITY)
                        : exponent == 0 ? ldexpl(fraction, -24)
                                        : ldexpl(fraction + 1024, exponent - 25);
    return bits >> 15 ? -value : value;
}

static long double load(number_type type, const void *data, size_t i) {
    if (type == HALF) return half_value(((const uint16_t *)data)[i]);
    return type == FLOAT ? (long double)((const float *)data)[i] : (long double)((const double *)data)[i];
}

static void store(number_type type, void *data, size_t i, double value) {
    if (type == FLOAT) ((float *)data)[i] = (float)value;
    if (type == DOUBLE) ((double *)data)[i] = value;
    if (type != HALF) return;
    uint16_t best = isnan(value) ? 0x7e00 : 0x7c00;
    for (uint32_t low = 0, high = 0x7c00; !isnan(value) && low <= high;) { /* nearest below, by bisection */
        uint32_t middle = (low + high) / 2;
        if (half_value((uint16_t)middle) > fabsl((long double)value)) {
            if (!middle) break;
            high = middle - 1;
        } else {
            best = (uint16_t)middle;
            low = middle + 1;
        }
    }
    ((uint16_t *)data)[i] = (uint16_t)(best | (signbit(value) ? 0x8000 : 0));
}

/* How far off, in ulps of the true value; HUGE_VAL: wrong altogether. */
static double error_ulps(const type_info *type, long double got, long double want, bool any_zero_sign) {
    if (isnan(want)) return isnan(got) ? 0 : HUGE_VAL;
    if (isnan(got)) return HUGE_VAL;
    if (want == got) return got == 0 && !any_zero_sign && !signbit(got) != !signbit(want) ? HUGE_VAL : 0;
    if (isinf(want)) return HUGE_VAL;
    int exponent;
    frexpl(want, &exponent);
    if (want == 0 || exponent - type->digits < type->lowest) exponent = type->lowest + type->digits;
    if (exponent > type->highest) exponent = type->highest;
    long double limit = ldexpl(1, type->highest);
    long double reached = isinf(got) ? copysignl(limit, got) : got;
    long double meant = fabsl(want) > limit ? copysignl(limit, want) : want;
    return (double)ldexpl(fabsl(reached - meant), type->digits - exponent);
}

/* ---- the device ---- */

typedef struct bench {
    qn_context *context;
    qn_device *device;
    bool flushes; /* denormal floats count as zero (OpenCL C 7.5.3) */
    size_t capacity;
    qn_buffer *a, *b, *n, *r;
} bench;

static void bench_open(bench *t, size_t capacity) {
    t->context = make_context(&(qn_context_desc){.disable_cache = true});
    t->device = get_device(t->context, test_device());
    qn_device_info info;
    assert_ok(t->context, qn_device_get_info(t->device, &info));
    t->flushes = !(info.capabilities & QN_CAN_F32_DENORMALS);
    t->capacity = capacity;
    t->a = make_buffer(t->device, capacity * 8, NULL);
    t->b = make_buffer(t->device, capacity * 8, NULL);
    t->n = make_buffer(t->device, capacity * 4, NULL);
    t->r = make_buffer(t->device, capacity * 8, NULL);
}

static void bench_close(bench *t) {
    qn_buffer_destroy(t->a);
    qn_buffer_destroy(t->b);
    qn_buffer_destroy(t->n);
    qn_buffer_destroy(t->r);
    qn_context_destroy(t->context);
}

static char *source_append(char *at, const function_row *f) {
    return at +
           sprintf(at,
                   "kernel void k_%s(global const T *as, global const T *bs, global const int *ns,"
                   " global T *rs) {\n"
                   "    size_t i = get_global_id(0);\n    T a = as[i], b = bs[i], r;\n    int n = ns[i];\n"
                   "    %s;\n    rs[i] = r;\n}\n",
                   f->name, f->code);
}

/* One program for the functions `first` to `last` of a type. */
static qn_program *make_kernels(bench *t, const type_info *type, size_t first, size_t last) {
    static char source[1 << 16];
    char *at = source;
    at += sprintf(at, "#pragma OPENCL EXTENSION cl_khr_fp16 : enable\ntypedef %s T;\n", type->name);
    for (size_t i = first; i < last; i++) at = source_append(at, &functions[i]);
    return make_program(t->device, source);
}

typedef struct worst_case {
    double ulps;
    long double a, b, got, want;
    int n;
    size_t left_out, flushed; /* on a device that takes denormal floats for zero */
} worst_case;

static bool is_denormal(long double value) { return value != 0 && fabsl(value) < 0x1p-126L; }

/* An argument that is read as zero; or a remainder, next to the quotient that is asked for, that is lost. */
static bool is_left_out(const function_row *f, long double a, long double b) {
    if (is_denormal(a) || (f->arguments == 2 && is_denormal(b))) return true;
    return f->reference == ref_remquo_bits && is_denormal(remainderl(a, b));
}

/* A result that is, or within its bound may be, a denormal float may be a zero of any sign. */
static bool is_flushed(const function_row *f, long double got, long double want) {
    return got == 0 && want != 0 && fabsl(want) < 0x1p-126L * (1 + f->bounds[FLOAT] * 0x1p-23L);
}

typedef struct samples {
    void *a, *b, *r;
    int32_t *n;
    size_t count;
} samples;

static void measure(bench *t, qn_program *program, number_type type, const function_row *f, const samples *s,
                    worst_case *worst) {
    char name[64];
    snprintf(name, sizeof name, "k_%s", f->name);
    qn_kernel *kernel = make_kernel(program, t->context, name);
    size_t bytes = s->count * types[type].size;
    assert_ok(t->context, qn_buffer_write(t->a, 0, s->a, bytes));
    assert_ok(t->context, qn_buffer_write(t->b, 0, s->b, bytes));
    assert_ok(t->context, qn_buffer_write(t->n, 0, s->n, s->count * 4));
    assert_ok(t->context, qn_launch(NULL, kernel, QN_RANGE(s->count), QN_ARGS(t->a, t->b, t->n, t->r)));
    assert_ok(t->context, qn_buffer_read(t->r, 0, s->r, bytes));
    qn_kernel_destroy(kernel);
    for (size_t i = 0; i < s->count; i++) {
        long double a = load(type, s->a, i), b = load(type, s->b, i), got = load(type, s->r, i);
        long double want = f->reference(a, b, s->n[i], (int)type);
        double ulps = error_ulps(&types[type], got, want, f->any_zero_sign);
        if (type == FLOAT && t->flushes) {
            bool leave_out = is_left_out(f, a, b);
            bool flushed = !leave_out && ulps > f->bounds[FLOAT] && is_flushed(f, got, want);
            worst->left_out += leave_out;
            worst->flushed += flushed;
            if (leave_out || flushed) continue;
        }
        if (ulps <= worst->ulps) continue;
        worst->ulps = ulps;
        worst->a = a, worst->b = b, worst->got = got, worst->want = want;
        worst->n = s->n[i];
    }
}

/* ---- samples ---- */

static uint64_t next_random(uint64_t *state) { /* xorshift64* (Vigna) */
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return *state * 0x2545F4914F6CDD1Du;
}

static double any_double(number_type type, uint64_t random, uint64_t kind) {
    double unit = (double)(int64_t)random * 0x1p-63;
    if (kind % 4 == 0) return ldexp(unit, (int)(kind >> 8 & 15) - 8);
    if (kind % 4 == 1) return unit * 32;
    if (kind % 4 == 2) return 1 + unit * ldexp(1, -(int)(kind >> 8 & 15));
    int span = types[type].highest - types[type].lowest;
    return ldexp(unit, types[type].lowest + (int)((kind >> 8) % (uint64_t)span) + 1);
}

static const double specials[] = {0,
                                  1,
                                  2,
                                  3,
                                  0.5,
                                  1.5,
                                  2.5,
                                  4,
                                  7,
                                  0.25,
                                  0.75,
                                  20,
                                  35.5,
                                  88.75,
                                  127.25,
                                  1000,
                                  1e10,
                                  1e30,
                                  1e300,
                                  0x1p-1074,
                                  0x1p-1022,
                                  0x1p-149,
                                  0x1p-126,
                                  0x1.fffffep127,
                                  0x1.fffffffffffffp1023,
                                  0x1p-24,
                                  65504,
                                  INFINITY,
                                  NAN};
static const int special_ints[] = {0, 1, -1, 2, -2, 3, -3, 10, 150, -150, 1074, -1074, INT32_MAX, INT32_MIN};

static samples samples_new(number_type type, size_t count) {
    enum { SPECIALS = sizeof specials / sizeof *specials, INTS = sizeof special_ints / sizeof *special_ints };
    samples s = {calloc(count, 8), calloc(count, 8), calloc(count, 8), calloc(count, 4), count};
    assert_true(s.a && s.b && s.r && s.n);
    uint64_t state = 0x9E3779B97F4A7C15u;
    for (size_t i = 0; i < count; i++) {
        uint64_t kind = next_random(&state);
        double a = any_double(type, next_random(&state), kind);
        double b = kind >> 60 == 0 ? a * (double)(kind >> 30 & 1023)
                                   : any_double(type, next_random(&state), kind >> 20);
        int n = (int)(int32_t)next_random(&state) >> (next_random(&state) % 31);
        if (i < 4 * SPECIALS * SPECIALS) {
            a = specials[i / 4 % SPECIALS];
            b = specials[i / 4 / SPECIALS];
            a = i & 1 ? -a : a;
            b = i & 2 ? -b : b;
            n = special_ints[i / 4 / SPECIALS % INTS];
        }
        store(type, s.a, i, a);
        store(type, s.b, i, b);
        s.n[i] = n;
        if (type == HALF && i >= 4 * SPECIALS * SPECIALS) ((uint16_t *)s.a)[i] = (uint16_t)i;
    }
    return s;
}

static void samples_free(samples *s) {
    free(s->a);
    free(s->b);
    free(s->r);
    free(s->n);
}

/* ---- runs ---- */

static unsigned check_type(number_type type, size_t count, bool print) {
    enum { AT_ONCE = 24 };
    bench t;
    unsigned failures = 0;
    size_t left_out = 0, flushed = 0;
    bench_open(&t, count);
    samples s = samples_new(type, count);
    for (size_t first = 0; first < NUM_FUNCTIONS; first += AT_ONCE) {
        size_t last = first + AT_ONCE < NUM_FUNCTIONS ? first + AT_ONCE : NUM_FUNCTIONS;
        qn_program *program = make_kernels(&t, &types[type], first, last);
        for (size_t i = first; i < last; i++) {
            const function_row *f = &functions[i];
            worst_case worst = {0};
            measure(&t, program, type, f, &s, &worst);
            if (print)
                printf("| %s | %s | %g | %.2f |\n", f->name, types[type].name, f->bounds[type], worst.ulps);
            left_out += worst.left_out;
            flushed += worst.flushed;
            if (worst.ulps <= f->bounds[type]) continue;
            failures++;
            print_error("%s of %s: %.4g ulp, at most %g: a %La b %La n %d gives %La, not %La\n", f->name,
                        types[type].name, worst.ulps, f->bounds[type], worst.a, worst.b, worst.n, worst.got,
                        worst.want);
        }
        qn_program_destroy(program);
    }
    if (left_out || flushed)
        print_message(
            "the device flushes denormal floats: %zu calls that meet one on the way in are not checked, %zu "
            "results are zero for one\n",
            left_out, flushed);
    samples_free(&s);
    bench_close(&t);
    return failures;
}

static void test_float(void **state) {
    (void)state;
    assert_int_equal(check_type(FLOAT, 40000, false), 0);
}
static void test_double(void **state) {
    (void)state;
    if (!device_can(QN_CAN_F64, "f64")) skip();
    assert_int_equal(check_type(DOUBLE, 40000, false), 0);
}
static void test_half(void **state) {
    (void)state;
    if (!device_can(QN_CAN_F16, "f16")) skip();
    assert_int_equal(check_type(HALF, 1 << 16, false), 0);
}

/* Every float, in pieces. */
static int check_all(const char *name) {
    enum { PIECE = 1 << 22 };
    const function_row *f = NULL;
    for (size_t i = 0; i < NUM_FUNCTIONS; i++)
        if (!strcmp(functions[i].name, name)) f = &functions[i];
    if (!f || f->arguments != 1) {
        fprintf(stderr, "%s is not a function of one argument\n", name);
        return 1;
    }
    bench t;
    bench_open(&t, PIECE);
    qn_program *program =
        make_kernels(&t, &types[FLOAT], (size_t)(f - functions), (size_t)(f - functions) + 1);
    samples s = {calloc(PIECE, 4), calloc(PIECE, 4), calloc(PIECE, 4), calloc(PIECE, 4), PIECE};
    assert_true(s.a && s.b && s.r && s.n);
    worst_case worst = {0};
    for (uint64_t start = 0; start < UINT64_C(1) << 32; start += PIECE) {
        for (uint32_t i = 0; i < PIECE; i++) ((uint32_t *)s.a)[i] = (uint32_t)start + i;
        measure(&t, program, FLOAT, f, &s, &worst);
    }
    printf("%s: %.4f ulp at %La, at most %g\n", name, worst.ulps, worst.a, f->bounds[FLOAT]);
    samples_free(&s);
    qn_program_destroy(program);
    bench_close(&t);
    return worst.ulps > f->bounds[FLOAT];
}

int main(int argc, char **argv) {
    static const struct CMUnitTest tests[] = {cmocka_unit_test(test_float), cmocka_unit_test(test_double),
                                              cmocka_unit_test(test_half)};
    int status = 0;
    if (argc > 1 && !strcmp(argv[1], "--table")) {
        for (int type = FLOAT; type <= DOUBLE; type++)
            status += (int)check_type((number_type)type, 1 << 19, true);
        return status + (int)check_type(HALF, 1 << 16, true);
    }
    if (argc > 1 && !strcmp(argv[1], "--all")) {
        for (int i = 2; i < argc; i++) status |= check_all(argv[i]);
        return status;
    }
    return run_device_tests(tests);
}
