/* Accuracy of the maths library on the CPU device: each function against long double, in units in the last
   place of the true value, within OpenCL's full-profile bounds (OpenCL C 7.4). Each is tried at points where
   its code takes another way (maths_points.h), at random, and near the worst of these; of half with every
   value. With --table it takes its time and prints what docs/maths.md shows; with --all NAME... it gives functions of
   one argument all 2^32 floats, some minutes each. */
#include "api_support.h"

#include <math.h>

#include "maths_numbers.h"
#include "maths_points.h"
#include "maths_reference.h"

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

/* ---- the device ---- */

typedef struct bench {
    qn_context *context;
    qn_device *device;
    bool flushes; /* denormal floats count as zero (OpenCL C 7.5.3) */
    size_t capacity;
    qn_buffer *a, *b, *n, *r;
    void *host_a, *host_b, *host_r;
    int32_t *host_n;
} bench;

static void bench_open(bench *t, size_t capacity) {
    t->context = make_context(&(qn_context_desc){.disable_cache = true, .cpu_compile_first = true});
    t->device = get_device(t->context, test_device());
    qn_device_info info;
    assert_ok(t->context, qn_device_get_info(t->device, &info));
    t->flushes = !(info.capabilities & QN_CAN_F32_DENORMALS);
    t->capacity = capacity;
    t->a = make_buffer(t->device, capacity * 8, NULL);
    t->b = make_buffer(t->device, capacity * 8, NULL);
    t->n = make_buffer(t->device, capacity * 4, NULL);
    t->r = make_buffer(t->device, capacity * 8, NULL);
    t->host_a = calloc(capacity, 8), t->host_b = calloc(capacity, 8);
    t->host_r = calloc(capacity, 8), t->host_n = calloc(capacity, 4);
    assert_true(t->host_a && t->host_b && t->host_r && t->host_n);
}

static void bench_close(bench *t) {
    free(t->host_a);
    free(t->host_b);
    free(t->host_r);
    free(t->host_n);
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

static qn_kernel *make_function_kernel(bench *t, qn_program *program, const function_row *f) {
    char name[64];
    snprintf(name, sizeof name, "k_%s", f->name);
    return make_kernel(program, t->context, name);
}

enum { WORST = 32 };

/* A call, as bits, and what became of it. */
typedef struct call {
    uint64_t a, b;
    int n;
    double ulps;
    long double got, want;
} call;

typedef struct findings {
    call worst[WORST];        /* the worst first */
    size_t left_out, flushed; /* on a device that takes denormal floats for zero */
} findings;

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

/* One function of one type under test, and the calls that wait for the device to have enough of them. */
typedef struct trial {
    bench *bench;
    const function_row *function;
    number_type type;
    qn_kernel *kernel;
    size_t count;
    findings found;
} trial;

/* Of calls with close arguments only the worst is kept, so that the search goes on from several places. */
static bool are_close(const trial *t, const call *x, const call *y) {
    const int shift = types[t->type].digits - 4;
    return (x->a ^ y->a) >> shift == 0 && (x->b ^ y->b) >> shift == 0;
}

static void note(trial *t, call c) {
    call *worst = t->found.worst;
    size_t at = 0;
    if (c.ulps <= 0) return;
    while (at < WORST - 1 && worst[at].ulps > 0 && !are_close(t, &worst[at], &c)) at++;
    if (c.ulps <= worst[at].ulps) return;
    for (; at > 0 && worst[at - 1].ulps < c.ulps; at--) worst[at] = worst[at - 1];
    worst[at] = c;
}

static void judge(trial *t, size_t i) {
    const bench *m = t->bench;
    const function_row *f = t->function;
    long double a = load(t->type, m->host_a, i), b = load(t->type, m->host_b, i);
    long double got = load(t->type, m->host_r, i), want = f->reference(a, b, m->host_n[i], (int)t->type);
    double ulps = error_ulps(&types[t->type], got, want, f->any_zero_sign);
    if (t->type == FLOAT && m->flushes) {
        bool leave_out = is_left_out(f, a, b);
        bool flushed = !leave_out && ulps > f->bounds[FLOAT] && is_flushed(f, got, want);
        t->found.left_out += leave_out;
        t->found.flushed += flushed;
        if (leave_out || flushed) return;
    }
    note(t, (call){bits_at(t->type, m->host_a, i), bits_at(t->type, m->host_b, i), m->host_n[i], ulps, got,
                   want});
}

static void run_trial(trial *t) {
    bench *m = t->bench;
    size_t bytes = t->count * types[t->type].size;
    if (!t->count) return;
    assert_ok(m->context, qn_buffer_write(m->a, 0, m->host_a, bytes));
    assert_ok(m->context, qn_buffer_write(m->b, 0, m->host_b, bytes));
    assert_ok(m->context, qn_buffer_write(m->n, 0, m->host_n, t->count * 4));
    assert_ok(m->context, qn_launch(NULL, t->kernel, QN_RANGE(t->count), QN_ARGS(m->a, m->b, m->n, m->r)));
    assert_ok(m->context, qn_buffer_read(m->r, 0, m->host_r, bytes));
    for (size_t i = 0; i < t->count; i++) judge(t, i);
    t->count = 0;
}

static void try_bits(trial *t, uint64_t a, uint64_t b, int n) {
    size_t size = types[t->type].size;
    memcpy((char *)t->bench->host_a + t->count * size, &a, size);
    memcpy((char *)t->bench->host_b + t->count * size, &b, size);
    t->bench->host_n[t->count] = n;
    if (++t->count == t->bench->capacity) run_trial(t);
}

/* ---- random calls ---- */

static uint64_t next_random(uint64_t *state) { /* xorshift64* (Vigna) */
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return *state * 0x2545F4914F6CDD1Du;
}

/* All exponents, the usual arguments more densely; significands of few ones or few zeros, as rounding errors of one kind
   add up there; and multiples of pi / 4. */
static double any_double(number_type type, uint64_t random, uint64_t kind) {
    double unit = (double)(int64_t)random * 0x1p-63;
    int span = types[type].highest - types[type].lowest;
    int exponent = types[type].lowest + (int)((kind >> 8) % (uint64_t)span) + 1;
    switch (kind & 7) {
    case 0: return ldexp(unit, (int)(kind >> 8 & 15) - 8);
    case 1: return unit * 32;
    case 2: return 1 + unit * ldexp(1, -(int)(kind >> 8 & 15));
    case 3: {
        double few = 1 + ldexp(random & 1 ? 1 : -1, -(int)(random >> 8 & 63)) +
                     ldexp(random & 2 ? 1 : -1, -(int)(random >> 16 & 63));
        return ldexp(random & 4 ? few : -few, exponent - 1);
    }
    case 4: return 0.7853981633974483 * (double)((int64_t)random >> (32 + (kind >> 8 & 31)));
    default: return ldexp(unit, exponent);
    }
}

static void try_random(trial *t, size_t count) {
    uint64_t state = 0x9E3779B97F4A7C15u;
    for (size_t i = 0; i < count; i++) {
        uint64_t kind = next_random(&state);
        double a = any_double(t->type, next_random(&state), kind);
        double b = kind >> 60 == 0 ? a * (double)(kind >> 30 & 1023)
                                   : any_double(t->type, next_random(&state), kind >> 20);
        int n = (int)(int32_t)next_random(&state) >> (next_random(&state) % 31);
        try_bits(t, t->type == HALF ? i : bits_of(t->type, a), bits_of(t->type, b), n);
    }
    run_trial(t);
}

/* Goes on from the worst calls so far to those near them, until a third of the rounds finds nothing worse. */
static void climb(trial *t, size_t count, unsigned most_rounds) {
    uint64_t state = 0xD1B54A32D192ED03u;
    unsigned in_vain = 0;
    if (t->type == HALF && t->function->arguments == 1) return;
    for (unsigned round = 0; round < most_rounds && in_vain * 3 < most_rounds; round++) {
        call from[WORST];
        memcpy(from, t->found.worst, sizeof from);
        for (size_t i = 0; i < count; i++) {
            const call *c = &from[i % WORST];
            uint64_t r[4];
            for (int k = 0; k < 4; k++) r[k] = next_random(&state);
            int width = types[t->type].digits; /* of the step in a and in b */
            uint64_t a = c->a + (uint64_t)((int64_t)r[0] >> (64 - width + (int)(r[1] % (unsigned)width)));
            uint64_t b = c->b + (uint64_t)((int64_t)r[2] >> (64 - width + (int)(r[3] % (unsigned)width)));
            try_bits(t, r[1] >> 62 ? a : c->a, r[3] >> 62 ? b : c->b, c->n + (int)((r[1] >> 32) % 3) - 1);
        }
        run_trial(t);
        in_vain = t->found.worst[0].ulps > from[0].ulps ? 0 : in_vain + 1;
    }
}

/* ---- calls at points ---- */

static const int special_ints[] = {
    0,         1,         -1,        2,          -2,         3,          -3,         10,
    22,        23,        24,        25,         52,         53,         54,         100,
    -100,      126,       -126,      127,        -127,       128,        149,        -149,
    150,       -150,      200,       -200,       400,        -400,       401,        -401,
    600,       -600,      1022,      -1022,      1023,       1024,       -1024,      1074,
    -1074,     1200,      -1200,     2097,       -2097,      3000,       -3000,      3001,
    277,       -278,      16383,     16384,      65535,      65536,      0x0ffffff,  0x1000000,
    0x1000001, INT32_MAX, INT32_MIN, -INT32_MAX, 0x7fffff80, 0x7fffffbf, 0x7fffffc0, 0x7fffffc1};

typedef struct edges {
    uint64_t bits[6 * MAX_POINTS];
    size_t count;
} edges;

/* Each point and its neighbours, with both signs. */
static void make_edges(number_type type, const points *p, edges *e) {
    e->count = 0;
    for (size_t i = 0; i < p->count; i++) {
        uint64_t bits = bits_of(type, p->values[i]), least = bits ? bits - 1 : 0;
        for (uint64_t at = least; at <= bits + isfinite(value_of(type, bits)); at++) {
            e->bits[e->count++] = at;
            e->bits[e->count++] = at | sign_bit(type);
        }
    }
}

/* Quotients close to the points, and of the smallest numbers all. */
static void try_quotients(trial *t, const points *p, const edges *e) {
    enum { SMALL = 32 };
    for (size_t i = 0; i < p->count; i++)
        for (size_t k = 0; k < e->count; k++) {
            double product = fabs(p->values[i] * value_of(t->type, e->bits[k]));
            uint64_t bits = bits_of(t->type, product);
            for (uint64_t at = bits ? bits - 1 : 0; at <= bits + isfinite(product); at++) {
                try_bits(t, at, e->bits[k], 0);
                try_bits(t, e->bits[k], at, 0);
            }
        }
    for (uint64_t a = 0; a < SMALL; a++)
        for (uint64_t b = 0; b < SMALL; b++)
            for (unsigned signs = 0; signs < 4; signs++)
                try_bits(t, a | (signs & 1 ? sign_bit(t->type) : 0), b | (signs & 2 ? sign_bit(t->type) : 0),
                         0);
}

static void try_points(trial *t) {
    enum { INTS = sizeof special_ints / sizeof *special_ints };
    const type_info *type = &types[t->type];
    const function_row *f = t->function;
    points p = {.count = 0}, quotients;
    static edges e;
    const char *texts_of = f->arguments == 1 ? NULL : f->name;
    /* A build that was carried elsewhere runs in a copy of the tree. */
    assert_true(add_texts(&p, "src/lib", texts_of) || add_texts(&p, QN__SOURCE_DIR "/src/lib", texts_of));
    add_known(&p, f->name);
    quotients = p;
    add_ends(&p, type->lowest, type->digits, type->highest);
    assert_true(p.count < MAX_POINTS);
    make_edges(t->type, &p, &e);
    size_t others = f->arguments == 2 ? e.count : f->arguments == 3 ? INTS : 1;
    for (size_t i = 0; i < e.count; i++)
        for (size_t k = 0; k < others; k++)
            try_bits(t, e.bits[i], f->arguments == 2 ? e.bits[k] : 0,
                     f->arguments == 3 ? special_ints[k] : 0);
    if (f->arguments == 2) try_quotients(t, &quotients, &e);
    run_trial(t);
}

/* ---- runs ---- */

typedef struct effort {
    size_t samples, near_worst;
    unsigned rounds;
    bool print;
} effort;

static bool check_function(trial *t, const effort *e) {
    const function_row *f = t->function;
    const type_info *type = &types[t->type];
    try_points(t);
    try_random(t, t->type == HALF ? 1 << 16 : e->samples);
    climb(t, e->near_worst, e->rounds);
    const call *worst = &t->found.worst[0];
    if (e->print) printf("| %s | %s | %g | %.2f |\n", f->name, type->name, f->bounds[t->type], worst->ulps);
    if (worst->ulps <= f->bounds[t->type]) return true;
    print_error("%s of %s: %.4g ulp, at most %g: a %a b %a n %d gives %La, not %La\n", f->name, type->name,
                worst->ulps, f->bounds[t->type], value_of(t->type, worst->a), value_of(t->type, worst->b),
                worst->n, worst->got, worst->want);
    return false;
}

static unsigned check_type(number_type type, const effort *e) {
    enum { AT_ONCE = 24, CAPACITY = 1 << 16 };
    bench m;
    unsigned failures = 0;
    size_t left_out = 0, flushed = 0;
    bench_open(&m, CAPACITY);
    for (size_t first = 0; first < NUM_FUNCTIONS; first += AT_ONCE) {
        size_t last = first + AT_ONCE < NUM_FUNCTIONS ? first + AT_ONCE : NUM_FUNCTIONS;
        qn_program *program = make_kernels(&m, &types[type], first, last);
        for (size_t i = first; i < last; i++) {
            trial t = {.bench = &m, .function = &functions[i], .type = type};
            t.kernel = make_function_kernel(&m, program, &functions[i]);
            failures += !check_function(&t, e);
            left_out += t.found.left_out;
            flushed += t.found.flushed;
            qn_kernel_destroy(t.kernel);
        }
        qn_program_destroy(program);
    }
    if (left_out || flushed)
        print_message(
            "the device flushes denormal floats: %zu calls that meet one on the way in are not checked, %zu "
            "results are zero for one\n",
            left_out, flushed);
    bench_close(&m);
    return failures;
}

static const effort usual = {.samples = 20000, .near_worst = 2000, .rounds = 6};

static void test_float(void **state) {
    (void)state;
    assert_int_equal(check_type(FLOAT, &usual), 0);
}
static void test_double(void **state) {
    (void)state;
    if (!device_can(QN_CAN_F64, "f64")) skip();
    assert_int_equal(check_type(DOUBLE, &usual), 0);
}
static void test_half(void **state) {
    (void)state;
    if (!device_can(QN_CAN_F16, "f16")) skip();
    assert_int_equal(check_type(HALF, &usual), 0);
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
    bench m;
    bench_open(&m, PIECE);
    qn_program *program =
        make_kernels(&m, &types[FLOAT], (size_t)(f - functions), (size_t)(f - functions) + 1);
    trial t = {.bench = &m, .function = f, .type = FLOAT, .kernel = make_function_kernel(&m, program, f)};
    for (uint64_t bits = 0; bits < UINT64_C(1) << 32; bits++) try_bits(&t, bits, 0, 0);
    run_trial(&t);
    const call *worst = &t.found.worst[0];
    printf("%s: %.4f ulp at %a, at most %g\n", name, worst->ulps, value_of(FLOAT, worst->a),
           f->bounds[FLOAT]);
    qn_kernel_destroy(t.kernel);
    qn_program_destroy(program);
    bench_close(&m);
    return worst->ulps > f->bounds[FLOAT];
}

int main(int argc, char **argv) {
    static const struct CMUnitTest tests[] = {cmocka_unit_test(test_float), cmocka_unit_test(test_double),
                                              cmocka_unit_test(test_half)};
    int status = 0;
    if (argc > 1 && !strcmp(argv[1], "--table")) {
        static const effort full = {.samples = 1 << 21, .near_worst = 1 << 15, .rounds = 64, .print = true};
        for (int type = HALF; type < NUM_TYPES; type++) status += (int)check_type((number_type)type, &full);
        return status;
    }
    if (argc > 1 && !strcmp(argv[1], "--all")) {
        for (int i = 2; i < argc; i++) status |= check_all(argv[i]);
        return status;
    }
    return run_device_tests(tests);
}
