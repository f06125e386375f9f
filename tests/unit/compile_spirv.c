/* The SPIR-V target: what modules ask of a device, and what they ask of the backend. That they are valid is shown by
   tests/emit/check_spirv.py, that they are right by the kernel tests on Vulkan devices; modules for devices that
   lack something are given to spirv-val here, where it is installed. */
#include "emit/emit.h"
#include "spirv_support.h"

/* Numbers of capabilities and instructions in the specification. */
enum {
    SHADER = 1,
    FLOAT16 = 9,
    FLOAT64 = 10,
    INT64 = 11,
    INT64_ATOMICS = 12,
    INT16 = 22,
    INT8 = 39,
    GROUP = 61,
    GROUP_VOTE = 62,
    GROUP_ARITHMETIC = 63,
    GROUP_BALLOT = 64,
    GROUP_SHUFFLE = 65,
    STORAGE_16 = 4433,
    STORAGE_8 = 4448,
    DENORMALS = 4464,
    FLOAT_CONTROLS = 4466,
    NEAREST = 4467,
    MEMORY_MODEL = 5345,
    DEVICE_SCOPE = 5346,
    ADDRESSES = 5347,
    DOT_PACKED = 6018,
    DOT = 6019,
    FLOAT_ATOMIC_ADD = 6033,
    OP_SOURCE = 3,
    OP_LINE = 8,
    OP_CAPABILITY = 17,
    OP_EXECUTION_MODE = 16,
    OP_TYPE_INT = 21,
    OP_TYPE_VECTOR = 23,
    OP_LOAD = 61,
    OP_PTR_ACCESS_CHAIN = 67,
    OP_DECORATE = 71,
    OP_F_DIV = 136,
    OP_S_REM = 138,
    OP_SHIFT_RIGHT_ARITHMETIC = 195,
    OP_SHIFT_LEFT = 196,
    OP_LOOP_MERGE = 246,
    OP_SELECTION_MERGE = 247,
    NO_CONTRACTION = 42
};

enum { MOST = 12 };

typedef struct expected {
    const char *source;
    qn__target target;
    uint32_t capabilities[MOST]; /* behind the three that all have */
} expected;

/* Of what the device has and lacks; the rest of the target is put in. */
static qn__target spirv(qn__target target) {
    target.kind = QN__TARGET_SPIRV;
    return target;
}

#define WITH(trait) ((qn__target){.trait = true})
#define WIDE        WITH(wants_wide_addresses)

static void compiled(qn__compile_result *result, const char *source, qn__target target) {
    qn__compile_request request = {
        .source = source, .name = "k.cl", .target = spirv(target), .level = 2, .verify = true};
    if (qn__compile(&request, result) != QN__COMPILE_OK) fail_msg("%s\n%s", result->log, source);
    assert_int_equal(result->text_size % 4, 0);
}

typedef struct counted {
    uint32_t capabilities[64], num_capabilities;
    uint32_t op, operand, value,
        count; /* instructions `op` whose word `operand` is `value`; operand 0: any */
} counted;

static void visit(const qn__compile_result *result, size_t at, unsigned op, unsigned length, void *user) {
    counted *c = user;
    if (op == OP_CAPABILITY) c->capabilities[c->num_capabilities++] = word(result, at + 1);
    if (op == c->op && (!c->operand || (c->operand < length && word(result, at + c->operand) == c->value)))
        c->count++;
}

static bool is_in(const uint32_t *list, uint32_t count, uint32_t value) {
    for (uint32_t i = 0; i < count; i++)
        if (list[i] == value) return true;
    return false;
}

static void asks_for(const expected *e) {
    static const uint32_t always[] = {SHADER, MEMORY_MODEL, ADDRESSES, INT64};
    uint32_t num_always = e->target.wants_wide_addresses ? 4 : 3;
    qn__compile_result result;
    counted c = {0};
    compiled(&result, e->source, e->target);
    each(&result, visit, &c);
    for (uint32_t i = 0; i < c.num_capabilities; i++)
        if (!is_in(always, num_always, c.capabilities[i]) && !is_in(e->capabilities, MOST, c.capabilities[i]))
            fail_msg("capability %u is not used by:\n%s", (unsigned)c.capabilities[i], e->source);
    for (uint32_t i = 0; i < num_always; i++)
        assert_true(is_in(c.capabilities, c.num_capabilities, always[i]));
    for (uint32_t i = 0; i < MOST && e->capabilities[i]; i++)
        if (!is_in(c.capabilities, c.num_capabilities, e->capabilities[i]))
            fail_msg("capability %u is not asked for by:\n%s", (unsigned)e->capabilities[i], e->source);
    validate(&result, e->source);
    qn__compile_free(&result);
}

#define K "kernel void k("

static void modules_ask_for_what_they_use(void **state) {
    (void)state;
    static const expected rows[] = {
        {K "global int *o) { o[get_global_id(0)] = 1; }", {0}, {0}},
        /* sizes and pointers are no 64-bit integers */
        {K "global uint *o, uint n) { for (size_t i = get_global_id(0); i < n; i += get_global_size(0)) o[i "
           "* n] = i; }",
         {0},
         {0}},
        {K "global float *o, uint n) { global float *p = o + n; while (p > o) *--p = get_global_id(1); }",
         {0},
         {FLOAT_CONTROLS}},
        {K "global int *o, int n) { int a[8]; for (int i = 0; i < 8; i++) a[(i * n) & 7] = i;"
           "local int *volatile p; local int l[4]; p = l + n; *p = a[n & 7]; barrier(1); o[0] = l[n & 3] + "
           "(p == l); }",
         {0},
         {0}},
        {K "global float *o) { o[0] = sin(o[1]) + (float)get_global_id(0); }", {0}, {FLOAT_CONTROLS}},
        {K "global int *o, constant int4 *p) { o[0] = p[o[1]].z; }", {0}, {0}},
        {"constant int t[5] = {3, 1, 4, 1, 5};" K "global int *o) { o[0] = t[o[1]]; }", {0}, {0}},
        {K "global int *o) { printf(\"%d\\n\", o[0]); }", {0}, {0}},
        {K "global int *o) { atomic_add(o, 1); barrier(CLK_GLOBAL_MEM_FENCE); o[1] = o[0]; }", {0}, {0}},
        {K "global float *o) { vstore_half(o[0], 0, (global half *)o + 9); }",
         {0},
         {STORAGE_16, FLOAT16, FLOAT_CONTROLS}},
        {K "global float *o) { o[0] = o[1] < o[2]; }", {.has_denormals = true}, {FLOAT_CONTROLS, DENORMALS}},
        {K "global float *o) { o[0] = o[1] * o[2]; }",
         {.has_denormals = true, .has_nearest = true},
         {FLOAT_CONTROLS, DENORMALS}},
        {K "global double *o) { o[0] = o[1] * o[2]; }",
         {.has_denormals = true, .has_nearest = true},
         {FLOAT64, FLOAT_CONTROLS, DENORMALS, NEAREST}},
        {K "global long *o) { o[0] += o[1]; }", {0}, {INT64}},
        {K "global long *o) { o[0] += o[1] * o[2]; }", {.lacks_i64 = true}, {0}},
        {K "global double *o) { o[0] += 2; }", {0}, {FLOAT64, FLOAT_CONTROLS}},
        {K "global double *o) { o[0] += 2; }", {.lacks_float_controls = true}, {FLOAT64}},
        {K "global char *o) { o[0] += o[1]; }", {0}, {INT8, STORAGE_8}},
        {K "global char *o) { o[0] += o[1]; }", {.lacks_i8 = true}, {STORAGE_8}},
        {K "global uchar *o) { o[0] += o[1]; }", {.lacks_i8 = true, .lacks_i64 = true}, {STORAGE_8}},
        {K "global ushort *o) { o[0] += o[1]; }", {.lacks_i16 = true}, {STORAGE_16}},
        {K "global char4 *o, char c, uchar2 d) { char p[7] = {3}; p[c & 7] = d.x; o[0] = max(o[1], o[2] / c) "
           "<< 3;"
           "o[3] = o[4].x < c ? (char4)(p[d.y & 7]) : -o[5]; }",
         {.lacks_i8 = true},
         {STORAGE_8}},
        {K "global short3 *o, short c) { local short l[9]; l[c] = c * 3; barrier(1); o[0] = rotate(o[1], c) "
           "+ l[o[2].x];"
           "o[3] = convert_short3_sat(convert_float3(o[4]) * 3); }",
         {.lacks_i16 = true, .lacks_i64 = true},
         {STORAGE_16, FLOAT_CONTROLS}},
        {K "global half4 *o, half n) { o[0] = o[1] * n + fabs(o[2]) < o[3] ? -o[4] : convert_half4(o[5] / "
           "n); }",
         {.lacks_f16 = true, .lacks_i16 = true},
         {STORAGE_16, FLOAT_CONTROLS}},
        {K "global half *o) { private half h[4]; vstore_half4(vload_half4(0, o) + 1, 0, h); o[5] = "
           "h[(int)o[1]];"
           "vstore_half3_rtz(vload_half3(2, o), 3, o); }",
         {.lacks_f16 = true},
         {STORAGE_16, FLOAT_CONTROLS}},
        {K "global char *o, global short4 *s) { o[1] = o[0] / 3; s[1] = s[0] * s[2].yxwz; vstore3(vload3(1, "
           "o), 2, o); }",
         {.lacks_storage_8 = true, .lacks_storage_16 = true},
         {INT8, INT16}},
        {K "global char *o, global short4 *s, global half *h) { o[1] = o[0] / 3; s[1] = s[0]; h[3] = h[2]; }",
         {.lacks_storage_8 = true,
          .lacks_storage_16 = true,
          .lacks_i8 = true,
          .lacks_i16 = true,
          .lacks_f16 = true,
          .lacks_i64 = true},
         {0}},
        {K "global uint *o) { local union { uint w; uchar b[4]; ushort h; } u; u.b[o[0] & 3] = 1; "
           "atomic_inc(&u.w);"
           "o[0] = u.b[2] + u.h; }",
         {0},
         {INT8, INT16}},
        {K "global half *o) { vstore_half(vload_half(1, o) * 2, 0, o); }",
         {.lacks_f16 = true, .lacks_i16 = true},
         {STORAGE_16, FLOAT_CONTROLS}},
        {K "global short *o) { o[0] *= o[1]; }", {0}, {INT16, STORAGE_16}},
        {K "global int *o) { o[get_sub_group_local_id()] = get_sub_group_size(); }", {0}, {GROUP}},
        {K "global int *o) { o[0] = dot_4x8packed_ss_int(o[1], o[2]); }", {0}, {0}},
        {K "global int *o) { o[0] = dot_acc_sat_4x8packed_us_int(o[1], 5, o[2]); }",
         {.has_dot4 = true},
         {DOT, DOT_PACKED}},
        {K "global int *o) { o[0] = sub_group_all(o[1]); }", {0}, {GROUP, GROUP_VOTE}},
        {K "global int *o) { o[0] = sub_group_reduce_add(o[1]); }", {0}, {GROUP, GROUP_ARITHMETIC}},
        {K "global int *o) { o[0] = sub_group_shuffle(o[1], o[2]); }", {0}, {GROUP, GROUP_SHUFFLE}},
        {K "global uint4 *o) { o[0] = sub_group_ballot(o[1].x); }", {0}, {GROUP, GROUP_BALLOT}},
        {K "global long *o) { atom_add(o, 1l); }", {0}, {INT64, INT64_ATOMICS}},
        {K "global int *o) { atomic_fetch_add_explicit((global atomic_int *)o, 1, memory_order_relaxed,"
           "memory_scope_all_svm_devices); }",
         {0},
         {DEVICE_SCOPE}},
        {K "local int *l) { atomic_fetch_add_explicit((local atomic_int *)l, 1, memory_order_relaxed,"
           "memory_scope_all_svm_devices); }", /* which nobody outside of the group sees */
         {0},
         {0}},
        {K "global float *o) { o[0] = fma(o[1], o[2], o[3]); }",
         {.lacks_exact_fma = true},
         {FLOAT64, FLOAT_CONTROLS}},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        expected numbers = rows[i];
        asks_for(&rows[i]);
        numbers.target.wants_wide_addresses = true;
        if (!numbers.target.lacks_i64) asks_for(&numbers);
    }
}

static void remainders_of_negative_numbers_are_defined(void **state) {
    (void)state;
    const char *source = K "global int *o, global long *l, global short4 *s) { o[0] %= o[1]; l[0] %= l[1];"
                           "s[0] %= s[1]; }";
    qn__compile_result result;
    counted c = {.op = OP_S_REM};
    compiled(&result, source, (qn__target){0});
    each(&result, visit, &c);
    assert_int_equal(c.count, 0);
    validate(&result, source);
    qn__compile_free(&result);
}

/* What is not a sum or a product is done on the bits; comparisons with normal constants need not be. */
static void denormal_numbers_are_compared_by_bits(void **state) {
    (void)state;
    static const char source[] = K "global float *o, global float4 *v) { float x = o[0], y = o[1];"
                                   "o[2] = (x < y) + (x <= y) + (x == y) + (x != y) + (x < 0) + (0 <= x);"
                                   "o[3] = fabs(x); v[0] = select(v[1], v[2], v[1] < v[2]); }";
    enum { OP_EXT_INST = 12, F_ABS = 4, OP_F_LESS = 184 };
    for (int flushes = 0; flushes < 2; flushes++) {
        qn__compile_result result;
        counted compares = {.op = OP_F_LESS}, sizes = {.op = OP_EXT_INST, .operand = 4, .value = F_ABS};
        compiled(&result, source, (qn__target){.has_denormals = true, .lacks_denormal_compares = flushes});
        each(&result, visit, &compares);
        each(&result, visit, &sizes);
        assert_int_equal(compares.count == 0, flushes);
        assert_int_equal(sizes.count, !flushes);
        validate(&result, source);
        qn__compile_free(&result);
    }
    qn__compile_result result;
    counted compares = {.op = OP_F_LESS};
    compiled(&result, K "global float *o) { o[0] = o[1] < 4.0f; }", WITH(lacks_denormal_compares));
    each(&result, visit, &compares);
    assert_int_equal(compares.count, 1);
    qn__compile_free(&result);
}

/* Drivers disagree on what an index of this instruction is, and crash. */
static void buffers_are_addressed_by_numbers(void **state) {
    (void)state;
    static const char *const sources[] = {
        K "global int *o) { o[get_group_id(0)] = o[get_global_id(0) - 1]; }",
        K "global int *o, uint n, int k) { o[n] = o[k - 1] + o[n >> 1] + o[-k]; }",
        K "global char *o, long n) { global int *p = (global int *)(o + n); p[-1] = *p; }",
        "typedef struct { int a[40]; } s;" K "global s *o, uint n) { o[n] = o[n + 1]; }",
        K "global int *o, int16 a, int16 b, int16 c, uint n) { o[0] = a.s1 + b.s2 + c.s3; }",
        K "global int *o, uint n) { atomic_inc(&o[n]); printf(\"%d\\n\", o[1]); }"};
    for (size_t i = 0; i < sizeof sources / sizeof *sources; i++)
        for (int wide = 0; wide < 2; wide++) {
            qn__compile_result result;
            counted c = {.op = OP_PTR_ACCESS_CHAIN};
            compiled(&result, sources[i], (qn__target){.wants_wide_addresses = wide});
            each(&result, visit, &c);
            assert_int_equal(c.count, 0);
            validate(&result, sources[i]);
            qn__compile_free(&result);
        }
}

static void what_the_device_lacks_is_refused(void **state) {
    (void)state;
    static const struct {
        const char *source;
        qn__target target;
        const char *log;
        bool in_front; /* the language lacks it, too */
    } rows[] = {
        {"\n" K "global double *o) {\n o[0] += 1; }", {.lacks_f64 = true}, "no double precision", true},
        {K "global long *o) {\n atom_add(o, 1l); }",
         {.lacks_i64 = true},
         "no 64-bit integers (k.cl:2)",
         false},
        {K "global long *o) {\n atom_add(o, 1l); }",
         {.lacks_i64_atomics = true},
         "no 64-bit atomics (k.cl:2)",
         false},
        {K "global uint4 *o) {\n o[0] = sub_group_ballot(1); }",
         {.lacks_sub_group_shuffle = true},
         "no sub-group ballot (k.cl:2)",
         false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        qn__compile_request request = {
            .source = rows[i].source, .name = "k.cl", .target = spirv(rows[i].target), .level = 2};
        qn__compile_result result;
        assert_int_equal(qn__compile(&request, &result),
                         rows[i].in_front ? QN__COMPILE_SOURCE_ERROR : QN__COMPILE_UNSUPPORTED);
        if (!strstr(result.log, rows[i].log)) fail_msg("'%s' is not in: %s", rows[i].log, result.log);
        qn__compile_free(&result);
    }
}

/* Whatever of these a device lacks, alone or together, the module is valid, and asks for none of it. */
static void any_lack_gives_a_valid_module(void **state) {
    (void)state;
    static const char source[] =
        "typedef struct { char c; short s; half h; long l; } rec;\n" K
        "global rec *r, global char *o, constant short *t, local uchar *w) {\n"
        "    size_t i = get_global_id(0); rec x = r[i];\n"
        "    switch (x.c) { case 1: x.s += t[i & 3]; break; case -2: x.s *= 3; break; default: x.s = -x.s; "
        "}\n"
        "    w[get_local_id(0)] = x.c; barrier(CLK_LOCAL_MEM_FENCE);\n"
        "    x.c = w[get_local_size(0) - 1 - get_local_id(0)] + sub_group_broadcast(x.s, 0);\n"
        "    char *p = x.s & 1 ? (char *)&x.l : &x.c; *p = 7; x.l ^= (long)x.s << 40; x.h = x.h * 3 + x.c;\n"
        "    r[i] = x; o[i] = work_group_any(x.c > 3) ? (char)x.l : x.c; long3 l = (long3)(x.l, i, 3);\n"
        "    global char *q = o + x.s; if (q == o + 1) o[i] = (l * l.zxy).y >> 9;\n"
        "    uchar16 v = vload16(0, (global uchar *)o); v = v.s0123456789abcdef + (uchar16)(x.c);\n"
        "    if (x.l == 77) vstore16(v, 1, (global uchar *)o); }\n";
    static const struct {
        qn__trait lacks;
        uint32_t capability;
    } rows[] = {{QN__TRAIT(lacks_f16), FLOAT16},         {QN__TRAIT(lacks_i8), INT8},
                {QN__TRAIT(lacks_i16), INT16},           {QN__TRAIT(lacks_i64), INT64},
                {QN__TRAIT(lacks_storage_8), STORAGE_8}, {QN__TRAIT(lacks_storage_16), STORAGE_16}};
    for (uint32_t set = 0; set < 64; set++) {
        qn__target target = {0};
        qn__compile_result result;
        counted c = {0};
        for (size_t i = 0; i < 6; i++) qn__set_trait(&target, rows[i].lacks, set >> i & 1);
        compiled(&result, source, target);
        each(&result, visit, &c);
        for (size_t i = 0; i < 6; i++)
            if (set >> i & 1) assert_false(is_in(c.capabilities, c.num_capabilities, rows[i].capability));
        validate(&result, source);
        qn__compile_free(&result);
    }
}

/* ---- what the backend is told ---- */

static const qn__implicit *implicit(const qn__kernel_info *kernel, qn__implicit_kind kind, unsigned dim) {
    for (uint32_t i = 0; i < kernel->num_implicit; i++)
        if (kernel->implicit[i].kind == kind && kernel->implicit[i].dim == dim) return &kernel->implicit[i];
    return NULL;
}

static void hidden_parameters_follow_the_arguments(void **state) {
    (void)state;
    qn__compile_result result;
    compiled(&result, K "global int *o, char c) { o[get_global_id(1)] = c; }", (qn__target){0});
    const qn__kernel_info *kernel = &result.info.kernels[0];
    assert_true(kernel->guarded);
    assert_false(kernel->uses_sync);
    const qn__implicit *base = implicit(kernel, QN__IMPLICIT_GLOBAL_BASE, 1);
    assert_non_null(base);
    assert_int_equal(base->offset, 16); /* behind a pointer and a char, aligned */
    assert_int_equal(base->size, 8);
    assert_null(implicit(kernel, QN__IMPLICIT_GLOBAL_BASE, 0));
    for (unsigned d = 0; d < 3; d++) assert_non_null(implicit(kernel, QN__IMPLICIT_LIMIT, d));
    assert_int_equal(kernel->params_size, 36);
    qn__compile_free(&result);
}

static void kernels_with_barriers_are_not_guarded(void **state) {
    (void)state;
    qn__compile_result result;
    compiled(&result, K "global int *o) { barrier(CLK_LOCAL_MEM_FENCE); o[0] = get_local_id(0); }",
             (qn__target){0});
    assert_false(result.info.kernels[0].guarded);
    assert_true(result.info.kernels[0].uses_sync);
    assert_int_equal(result.info.kernels[0].num_implicit, 0);
    assert_int_equal(result.info.kernels[0].params_size, 8);
    qn__compile_free(&result);
}

/* Elements of a __local parameter are as wide as all its accesses allow. */
static void local_parameters_have_units(void **state) {
    (void)state;
    qn__compile_result result;
    compiled(&result,
             K "local float4 *a, local char *b, local int *c, global int *o) {"
               "a[o[0]] = (float4)(o[1]); b[o[2]] = 1; c[o[3]] = 2; barrier(CLK_LOCAL_MEM_FENCE);"
               "o[0] = a[o[4]].y + b[o[5]] + c[o[6]]; }",
             (qn__target){0});
    const qn__kernel_info *kernel = &result.info.kernels[0];
    assert_int_equal(kernel->num_local_units, 3);
    assert_int_equal(kernel->local_units[0], 16);
    assert_int_equal(kernel->local_units[1], 1);
    assert_int_equal(kernel->local_units[2], 4);
    validate(&result, "local parameters");
    qn__compile_free(&result);
    compiled(
        &result,
        K
        "local int *a, local int *b, global int *o) { local int l[4]; local int *p = o[0] ? a : o[1] ? b : l;"
        "p[o[2]] = 1; barrier(CLK_LOCAL_MEM_FENCE); o[0] = a[1] + b[o[1]] + l[o[3]]; }",
        (qn__target){0});
    assert_int_equal(result.info.kernels[0].local_units[0], 16); /* one variable for what p may point to */
    validate(&result, "local parameters that pointers mix");
    qn__compile_free(&result);
}

static void constants_are_a_blob(void **state) {
    (void)state;
    qn__compile_result result;
    compiled(&result,
             "constant int t[3] = {1, 2, 3}; constant int *constant p[2] = {t + 1, t};"
             "constant int unused[2] = {7, 8};" K "global int *o) { o[0] = p[o[1]][o[2]]; }",
             (qn__target){0});
    assert_non_null(implicit(&result.info.kernels[0], QN__IMPLICIT_CONSTANTS, 0));
    assert_int_equal(result.info.num_relocations, 2);
    assert_true(result.info.constants_size >= 28 && result.info.constants_size <= 48);
    uint64_t first;
    memcpy(&first, result.info.constants + result.info.relocations[0], sizeof first);
    int32_t value;
    memcpy(&value, result.info.constants + first, sizeof value);
    assert_int_equal(value, 2);
    qn__compile_free(&result);
}

static void large_blocks_are_in_memory(void **state) {
    (void)state;
    qn__compile_result result;
    const char *source =
        "typedef struct s { float a[40]; } s;" K "s x, global float *o) { o[0] = x.a[(int)o[1]]; }";
    compiled(&result, source, (qn__target){0});
    assert_true(result.info.kernels[0].params_size > QN__MAX_PUSH_CONSTANTS);
    validate(&result, source);
    qn__compile_free(&result);
}

/* ---- memory ---- */

static uint32_t count_loads(const char *source, qn__target target) {
    qn__compile_result result;
    counted c = {.op = OP_LOAD};
    compiled(&result, source, target);
    each(&result, visit, &c);
    validate(&result, source);
    qn__compile_free(&result);
    return c.count;
}

static void local_vectors_stay_whole(void **state) {
    (void)state;
    const char *vectors = K "global float4 *o) { local float4 l[64]; int i = get_local_id(0); l[i] = o[i];"
                            "barrier(CLK_LOCAL_MEM_FENCE); o[i] = l[63 - i]; }";
    const char *scalars = K "global float *o) { local float l[64]; int i = get_local_id(0); l[i] = o[i];"
                            "barrier(CLK_LOCAL_MEM_FENCE); o[i] = l[63 - i]; }";
    assert_int_equal(count_loads(vectors, (qn__target){0}), count_loads(scalars, (qn__target){0}));
}

/* All that a pointer can be on a device without 64-bit integers. */
static void addresses_need_no_int64(void **state) {
    (void)state;
    static const char *const sources[] = {
        K "global int *o, uint u, int i, ulong n) { o[u] = 1; o[i] = 2; o[-i] = 3; o[u - n] = 4; o[n * u] = "
          "5; }",
        K "global int *o, uint n) { global int *p = n ? o : o + n; for (uint i = 0; i < n; i++, p += n) *p = "
          "i; }",
        K "global int *o) { o[0] = (ulong)o > 77 ? (int)((ulong)o >> 3) : (int)((ulong)o / 12); }",
        "typedef struct s { global int *p; local int *l; } s;" K
        "global s *o, local int *l) { s x = o[0]; o[1] = x;"
        "o[1].l = l; x.p[get_global_id(0)] = *o[1].l; }",
        K "global char *o, ulong a, ulong b) { *(global ulong *)(o + 1) = a / b + rotate(a, b) + mul_hi(a, "
          "b); }",
        K "global float *o, ulong a, long b) { o[0] = a; o[1] = b; o[2] = (ulong)o[3]; o[4] = (long)o[5]; }",
        K
        "global long3 *o, long2 a, ulong16 b) { local long4 l[2]; long8 p[2] = {as_long8(b.hi), a.xyxyxyxy};"
        "l[0] = p[o[0].x & 1].s2107; barrier(1); o[1] = l[0].zyx / a.y + o[2] * convert_long3(a.xyx < "
        "a.yyy); }",
        K "global long *o) { o[0] = sub_group_reduce_add(o[1]); o[2] = sub_group_scan_exclusive_min(o[3]);"
          "o[4] = work_group_reduce_max(o[5]); o[6] = sub_group_shuffle(o[7], 3); }",
    };
    for (size_t i = 0; i < sizeof sources / sizeof *sources; i++) {
        expected none = {sources[i], {.lacks_i64 = true}, {FLOAT_CONTROLS, STORAGE_8, INT8}};
        qn__compile_result result;
        counted c = {0};
        compiled(&result, sources[i], none.target);
        each(&result, visit, &c);
        assert_false(is_in(c.capabilities, c.num_capabilities, INT64));
        validate(&result, sources[i]);
        qn__compile_free(&result);
    }
}

/* ---- the option -qn-tune ---- */

static uint32_t count_tuned(const char *source, const char *options, qn__target target, counted c) {
    qn__compile_request request = {.source = source,
                                   .name = "k.cl",
                                   .options = options,
                                   .target = spirv(target),
                                   .level = 2,
                                   .verify = true};
    qn__compile_result result;
    if (qn__compile(&request, &result) != QN__COMPILE_OK)
        fail_msg("%s\n%s", result.log, options ? options : "");
    each(&result, visit, &c);
    validate(&result, source);
    qn__compile_free(&result);
    return c.count;
}

/* An fma that the source asks for stays one; contraction's may be taken apart. */
static void fma_is_exact_where_it_was_asked_for(void **state) {
    (void)state;
    const counted exact = {.op = OP_DECORATE, .operand = 2, .value = NO_CONTRACTION};
    const char *asked = K "global float *o, float a, float b) { o[0] = fma(a, b, o[1]); }";
    const char *contracted = K "global float *o, float a, float b) { o[0] = a * b + o[1]; }";
    const char *mad = K "global float *o, float a, float b) { o[0] = mad(a, b, o[1]); }";
    assert_int_equal(count_tuned(asked, NULL, (qn__target){0}, exact), 1);
    assert_int_equal(count_tuned(contracted, NULL, (qn__target){0}, exact), 0);
    assert_int_equal(count_tuned(mad, NULL, (qn__target){0}, exact), 0);
    assert_int_equal(count_tuned(contracted, "-qn-tune=exact-fma", (qn__target){0}, exact), 1);
    assert_int_equal(count_tuned(asked, "-qn-tune=loose-fma", (qn__target){0}, exact), 0);
}

static void devices_are_tuned_by_words(void **state) {
    (void)state;
    const char *loop =
        K "global float *o, uint n) { float s = 0; for (uint i = 0; i < n; i++) s += o[i]; o[0] = s; }";
    const char *quotient = K "global float *o) { o[0] = o[1] / o[2]; }";
    const counted loops = {.op = OP_LOOP_MERGE}, divisions = {.op = OP_F_DIV},
                  wide = {.op = OP_TYPE_INT, .operand = 2, .value = 64},
                  unrolled = {.op = OP_LOOP_MERGE, .operand = 3, .value = 1},
                  modes = {.op = OP_CAPABILITY, .operand = 1, .value = FLOAT_CONTROLS};
    assert_int_equal(count_tuned(loop, "", (qn__target){0}, loops), 1);
    assert_int_equal(count_tuned(loop, "", WITH(wants_unrolled), loops), 2);
    assert_int_equal(count_tuned(loop, "-qn-tune=one-iteration", WITH(wants_unrolled), loops), 1);
    assert_int_equal(count_tuned(loop, "-qn-tune=four-iterations,end-tests", (qn__target){0}, loops), 2);
    assert_int_equal(count_tuned(loop, "-qn-tune=hint-unroll", (qn__target){0}, unrolled), 1);
    assert_int_equal(count_tuned(loop, "-qn-tune=hint-loops", (qn__target){0}, unrolled), 0);
    assert_int_equal(count_tuned(loop, "-qn-tune=no-float-modes", (qn__target){0}, modes), 0);
    assert_int_equal(count_tuned(loop, "", WIDE, wide), 1);
    assert_int_equal(count_tuned(loop, "-qn-tune=pairs", WIDE, wide), 0);
    assert_int_equal(count_tuned(quotient, "-qn-tune=loose-division", (qn__target){0}, divisions), 1);
    const char *shared =
        K "global int *o, local int *l) { l[get_local_id(0)] = o[0]; barrier(CLK_LOCAL_MEM_FENCE);"
          "o[get_local_id(0)] = l[1]; atomic_inc(o + 99); mem_fence(CLK_GLOBAL_MEM_FENCE); }";
    const counted vulkan = {.op = OP_CAPABILITY, .operand = 1, .value = MEMORY_MODEL};
    assert_int_equal(count_tuned(shared, "", (qn__target){0}, vulkan), 1);
    assert_int_equal(count_tuned(shared, "-qn-tune=glsl-memory", (qn__target){0}, vulkan), 0);
    qn__compile_request request = {
        .source = quotient, .options = "-qn-tune=one-iteration,haste", .target.kind = QN__TARGET_SPIRV};
    qn__compile_result result;
    assert_int_equal(qn__compile(&request, &result), QN__COMPILE_BAD_OPTION);
    assert_non_null(strstr(result.log, "knows no 'haste'"));
    qn__compile_free(&result);
}

/* Steps that double or halve up to the size of a group are few, and known once there is a pipeline. */
static void ladders_ask_to_be_unrolled(void **state) {
    (void)state;
    static const struct {
        const char *steps; /* what stands between the parentheses of `for` */
        bool wants;
        uint32_t count;
    } rows[] = {
        {"size_t s = 1; s < get_local_size(0); s *= 2", true, 1},
        {"uint s = get_local_size(0) / 2; s > 0; s >>= 1", true, 1},
        {"uint s = get_local_size(0) / 2; s; s /= 2", true, 1},
        {"uint s = 1; s < get_local_size(0); s *= 2", false, 0}, /* processors */
        {"uint s = 1; s < n; s *= 2", true, 0},
        {"uint s = n; s > 0; s >>= 1", true, 0},
        {"uint s = 1; s < get_local_size(0); s += 7", true, 0},
        {"uint s = 1; s < get_local_size(0); s = l[s]", true, 0},
    };
    const counted unrolled = {.op = OP_LOOP_MERGE, .operand = 3, .value = 1};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char source[300];
        snprintf(source, sizeof source,
                 K "global uint *o, uint n, local uint *l) { for (%s) { l[get_local_id(0)] += l[s];"
                   "barrier(CLK_LOCAL_MEM_FENCE); } o[0] = l[0]; }",
                 rows[i].steps);
        assert_int_equal(
            count_tuned(source, "",
                        (qn__target){.wants_unrolled = rows[i].wants, .wants_wide_addresses = true},
                        unrolled),
            rows[i].count);
    }
}

/* A reciprocal whose divisor is known to be neither tiny nor huge has no test; a quotient's is one branch. */
static void quotients_are_corrected(void **state) {
    (void)state;
    const char *moderate = K "global float *o) { o[0] = 1 / (clamp(o[1], 1.0f, 9.0f) + 1); }";
    const char *inverse = K "global float4 *o) { o[0] = 1 / o[1]; }";
    const char *quotient = K "global float4 *o) { o[0] = o[1] / o[2]; }";
    const char *half_quotient =
        "#pragma OPENCL EXTENSION cl_khr_fp16 : enable\n" K "global half *o) { o[0] = o[1] / o[2]; }";
    const counted divisions = {.op = OP_F_DIV}, shifts = {.op = OP_SHIFT_LEFT},
                  branches = {.op = OP_SELECTION_MERGE};
    assert_int_equal(count_tuned(moderate, "", WIDE, shifts), 0);
    assert_int_equal(count_tuned(inverse, "", WIDE, shifts), 1);
    assert_int_equal(count_tuned(inverse, "", WIDE, divisions), 1);
    assert_int_equal(count_tuned(quotient, "", WIDE, shifts), 2);
    assert_int_equal(count_tuned(quotient, "", WIDE, branches), 2); /* with the guard */
    assert_int_equal(count_tuned(half_quotient, "", WIDE, branches), 2);
    assert_int_equal(count_tuned(quotient, "-cl-fast-relaxed-math", WIDE, branches), 1);
}

/* What nobody writes is nobody's to share: reads of it may move past barriers. */
static void constant_arguments_are_private(void **state) {
    (void)state;
    enum { ALIGNED = 2, NON_PRIVATE = 0x20 };
    const char *moved =
        K "int n, global const float *restrict a, global float *o, local float *l) { a += n;"
          "l[get_local_id(0)] = a[1]; barrier(CLK_LOCAL_MEM_FENCE); o[get_local_id(0)] = l[n]; }";
    const char *written =
        K "int n, global float *a, local float *l) { a += n;"
          "l[get_local_id(0)] = a[1]; barrier(CLK_LOCAL_MEM_FENCE); a[get_local_id(0)] = l[n]; }";
    const char *ordered =
        K "int n, global float *a) { a[n] = 1; barrier(CLK_GLOBAL_MEM_FENCE); a[1] = a[n + 7]; }";
    const char *ordered_constant =
        K "int n, global const float *restrict a, global float *o) { a += n; o[n] = a[2];"
          "barrier(CLK_GLOBAL_MEM_FENCE); o[1] = a[7]; }";
    const char *fenced =
        K "int n, global int *a) { a[n] = 1; mem_fence(CLK_GLOBAL_MEM_FENCE); a[1] = a[n + 7]; }";
    const char *counting = K "global int *o, local int *l) { atomic_inc(l + o[get_local_id(0)]); }";
    const counted kept = {.op = OP_LOAD, .operand = 4, .value = ALIGNED},
                  shared = {.op = OP_LOAD, .operand = 4, .value = ALIGNED | NON_PRIVATE};
    assert_int_equal(count_tuned(moved, "", WIDE, kept), 1);
    assert_int_equal(count_tuned(moved, "", WIDE, shared), 0);
    assert_int_equal(count_tuned(written, "", WIDE, shared), 0); /* a barrier of local memory */
    assert_int_equal(count_tuned(ordered, "", WIDE, shared), 1);
    assert_int_equal(count_tuned(ordered_constant, "", WIDE, shared), 0);
    assert_int_equal(count_tuned(fenced, "", WIDE, shared), 1);
    assert_int_equal(count_tuned(counting, "", WIDE, shared), 0);
}

/* Vectors in local memory that scalars are stored to: neighbours differ by a constant, not each by a shift. */
static void whole_vectors_share_a_shift(void **state) {
    (void)state;
    const char *source =
        K "global float4 *o, int n) { local float l[256]; int i = get_local_id(0);"
          "l[i] = n; barrier(CLK_LOCAL_MEM_FENCE); float4 s = 0;"
          "for (int k = 0; k < 8; k++) s += *(local float4 *)&l[i * 4 + k * 16]; o[i] = s; }";
    const counted shifts = {.op = OP_SHIFT_RIGHT_ARITHMETIC};
    assert_in_range(count_tuned(source, "", WIDE, shifts), 1, 2); /* of eight */
}

static void required_sizes_are_defaults(void **state) {
    (void)state;
    qn__compile_result result;
    compiled(&result,
             "__attribute__((reqd_work_group_size(8, 4, 2)))" K
             "global int *o) { o[0] = get_local_size(0); }",
             (qn__target){0});
    counted c = {.op = OP_EXECUTION_MODE, .operand = 4, .value = 4};
    each(&result, visit, &c);
    assert_int_equal(c.count, 1);
    qn__compile_free(&result);
}

static void lines_are_named_when_debugging(void **state) {
    (void)state;
    const char *source = K "global int *o) {\n o[0] =\n 1;\n}";
    for (int debug = 0; debug < 2; debug++) {
        qn__compile_request request = {.source = source,
                                       .name = "k.cl",
                                       .target.kind = QN__TARGET_SPIRV,
                                       .debug = debug,
                                       .verify = true};
        qn__compile_result result;
        assert_int_equal(qn__compile(&request, &result), QN__COMPILE_OK);
        counted c = {.op = OP_LINE, .operand = 2, .value = 2};
        each(&result, visit, &c);
        assert_int_equal(c.count > 0, debug);
        validate(&result, source);
        qn__compile_free(&result);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(modules_ask_for_what_they_use),
        cmocka_unit_test(buffers_are_addressed_by_numbers),
        cmocka_unit_test(denormal_numbers_are_compared_by_bits),
        cmocka_unit_test(remainders_of_negative_numbers_are_defined),
        cmocka_unit_test(what_the_device_lacks_is_refused),
        cmocka_unit_test(any_lack_gives_a_valid_module),
        cmocka_unit_test(hidden_parameters_follow_the_arguments),
        cmocka_unit_test(kernels_with_barriers_are_not_guarded),
        cmocka_unit_test(local_parameters_have_units),
        cmocka_unit_test(constants_are_a_blob),
        cmocka_unit_test(large_blocks_are_in_memory),
        cmocka_unit_test(local_vectors_stay_whole),
        cmocka_unit_test(addresses_need_no_int64),
        cmocka_unit_test(fma_is_exact_where_it_was_asked_for),
        cmocka_unit_test(devices_are_tuned_by_words),
        cmocka_unit_test(ladders_ask_to_be_unrolled),
        cmocka_unit_test(quotients_are_corrected),
        cmocka_unit_test(constant_arguments_are_private),
        cmocka_unit_test(whole_vectors_share_a_shift),
        cmocka_unit_test(required_sizes_are_defaults),
        cmocka_unit_test(lines_are_named_when_debugging),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
