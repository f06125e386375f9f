/* Constant folding: each row is an instruction on constants and the constant that it gives. */
#include "ir/fold.h"
#include "ir_support.h"
#include "small_float_reference.h"

typedef struct row {
    const char *type, *instr, *value; /* value NULL: does not fold */
} row;

static const row rows[] = {
    /* Integers wrap at their width. */
    {"i8", "add i8 127, i8 1", "i8 -128"},
    {"i32", "sub i32 0, i32 1", "i32 -1"},
    {"i64", "mul i64 4294967296, i64 4294967296", "i64 0"},
    {"i32", "umulhi i32 -1, i32 -1", "i32 -2"},
    {"i32", "smulhi i32 -1, i32 -1", "i32 0"},
    {"i64", "umulhi i64 -1, i64 -1", "i64 -2"},
    {"i64", "smulhi i64 -9223372036854775808, i64 2", "i64 -1"},
    {"i32", "udiv i32 -1, i32 2", "i32 2147483647"},
    {"i32", "udiv i32 7, i32 0", "i32 7"},
    {"i32", "urem i32 7, i32 0", "i32 0"},
    {"i8", "sdiv i8 -128, i8 0", "i8 -128"},
    {"i64", "srem i64 -7, i64 0", "i64 0"},
    {"i32", "sdiv i32 -7, i32 2", "i32 -3"},
    {"i32", "sdiv i32 -2147483648, i32 -1", "i32 -2147483648"},
    {"i64", "sdiv i64 -9223372036854775808, i64 -1", "i64 -9223372036854775808"},
    {"i64", "srem i64 -9223372036854775808, i64 -1", "i64 0"},
    {"i32", "srem i32 -7, i32 2", "i32 -1"},
    {"i32", "urem i32 -7, i32 10", "i32 9"},
    {"i8", "smin i8 -1, i8 1", "i8 -1"},
    {"i8", "umin i8 -1, i8 1", "i8 1"},
    {"i16", "smax i16 -1, i16 1", "i16 1"},
    {"i16", "umax i16 -1, i16 1", "i16 -1"},
    {"i8", "and i8 12, i8 10", "i8 8"},
    {"i8", "or i8 12, i8 10", "i8 14"},
    {"bool", "not bool true", "bool false"},
    {"bool", "xor bool true, bool true", "bool false"},
    {"i8", "not i8 15", "i8 -16"},
    {"i32", "shl i32 1, i32 33", "i32 2"},
    {"i8", "lshr i8 -128, i8 7", "i8 1"},
    {"i8", "ashr i8 -128, i8 7", "i8 -1"},
    {"i64", "shl i64 1, i64 63", "i64 -9223372036854775808"},
    {"i8", "rotl i8 -127, i8 1", "i8 3"},
    {"i8", "rotl i8 -127, i8 8", "i8 -127"},
    {"i64", "rotl i64 1, i64 63", "i64 -9223372036854775808"},
    {"i8", "clz i8 1", "i8 7"},
    {"i8", "clz i8 0", "i8 8"},
    {"i64", "clz i64 0", "i64 64"},
    {"i16", "ctz i16 8", "i16 3"},
    {"i16", "ctz i16 0", "i16 16"},
    {"i32", "popcount i32 -1", "i32 32"},
    {"i32", "udot4 i32 -1, i32 16909060, i32 1", "i32 2551"},
    {"i32", "sdot4 i32 -1, i32 16909060, i32 2147483647", "i32 2147483637"},
    {"i32", "sudot4 i32 -1, i32 -1, i32 1", "i32 -1019"},
    {"i32x3", "add i32x3 (1, 2, 3), i32x3 10", "i32x3 (11, 12, 13)"},
    /* Comparisons. */
    {"bool", "slt i8 -1, i8 0", "bool true"},
    {"bool", "ult i8 -1, i8 0", "bool false"},
    {"bool", "ne i64 1, i64 2", "bool true"},
    {"bool", "ule ptr.local 0x8, ptr.local 0x7", "bool false"},
    {"bool", "eq ptr.global 0x0, ptr.global 0x0", "bool true"},
    {"boolx2", "sle i32x2 (1, 2), i32x2 (1, 1)", "boolx2 (true, false)"},
    {"bool", "feq f32 nan, f32 nan", "bool false"},
    {"bool", "fne f64 nan, f64 0.0", "bool true"},
    {"bool", "feq f32 0.0, f32 -0.0", "bool true"},
    {"bool", "flt f16 1.0, f16 1.5", "bool true"},
    {"bool", "fle f64 inf, f64 inf", "bool true"},
    /* Floats round to their own type. */
    {"f32", "fadd f32 16777216.0, f32 1.0", "f32 16777216.0"},
    {"f64", "fadd f64 16777216.0, f64 1.0", "f64 16777217.0"},
    {"f16", "fadd f16 2048.0, f16 1.0", "f16 2048.0"},
    {"f16", "fmul f16 65504.0, f16 2.0", "f16 inf"},
    {"f32", "fdiv f32 1.0, f32 3.0", "f32 0.33333334"},
    {"f32", "fdiv f32 1.0, f32 -0.0", "f32 -inf"},
    {"f32", "fdiv f32 0.0, f32 0.0", "f32 nan"},
    {"f64", "fsub f64 inf, f64 inf", "f64 nan"},
    {"f32", "frem f32 -7.5, f32 2.0", "f32 -1.5"},
    {"f32", "fneg f32 nan", "f32 bits 0xffc00000"},
    {"f32", "fneg f32 0.0", "f32 -0.0"},
    {"f32", "fabs f32 bits 0xffc00001", "f32 bits 0x7fc00001"},
    {"f32", "fcopysign f32 3.0, f32 -0.0", "f32 -3.0"},
    {"f32", "fma f32 0x1.000002p+0, f32 0x1.000002p+0, f32 -0x1.000004p+0", "f32 0x1p-46"},
    {"f16", "fma f16 0x1.004p-1, f16 0x1.ff8p-1, f16 1025.0", "f16 1025.0"}, /* half way, were it in float */
    {"f64", "fsqrt f64 2.0", "f64 0x1.6a09e667f3bcdp+0"},
    {"f32", "fsqrt f32 -1.0", "f32 nan"},
    {"f32", "fmin f32 nan, f32 1.0", "f32 1.0"},
    {"f32", "fmax f32 1.0, f32 nan", "f32 1.0"},
    {"f32", "frint f32 2.5", "f32 2.0"},
    {"f32", "frint f32 -0.5", "f32 -0.0"},
    {"f64", "ffloor f64 -0.5", "f64 -1.0"},
    {"f64", "fceil f64 0.25", "f64 1.0"},
    {"f64", "ftrunc f64 -1.75", "f64 -1.0"},
    {"f32", "native_sin f32 0.0", NULL},
    /* Conversions. */
    {"i8", "trunc i32 511", "i8 -1"},
    {"bool", "trunc i32 2", "bool false"},
    {"i32", "zext i8 -1", "i32 255"},
    {"i32", "sext i8 -1", "i32 -1"},
    {"i64", "sext bool true", "i64 -1"},
    {"f32", "fconvert f64 0x1.0000011p+0", "f32 0x1.000002p+0"},
    {"f32", "fconvert round zero f64 0x1.0000011p+0", "f32 1.0"},
    {"f16", "fconvert f32 0x1p-25", "f16 0.0"},
    {"f16", "fconvert round up f32 0x1p-25", "f16 0.00000006"},
    {"f16", "fconvert f32 65520.0", "f16 inf"},
    {"f16", "fconvert round zero f32 65520.0", "f16 65504.0"},
    {"i32", "f2s round zero f32 -1.5", "i32 -1"},
    {"i32", "f2s f32 2.5", "i32 2"},
    {"i32", "f2s round up f32 2.5", "i32 3"},
    {"i32", "f2s round down f32 -2.5", "i32 -3"},
    {"i32", "f2s f32 0x1p+40", "i32 2147483647"},
    {"i32", "f2s f32 nan", "i32 0"},
    {"i8", "f2u f32 -3.0", "i8 0"},
    {"i8", "f2u f32 300.0", "i8 -1"},
    {"f32", "s2f i32 16777217", "f32 16777216.0"},
    {"f32", "s2f round up i32 16777217", "f32 16777218.0"},
    {"f32", "u2f i64 -1", "f32 0x1p+64"},
    {"f32", "u2f bool true", "f32 1.0"},
    {"f64x2", "s2f i32x2 (-1, 2)", "f64x2 (-1.0, 2.0)"},
    {"i32", "bitcast f32 1.0", "i32 1065353216"},
    {"i8x4", "bitcast i32 0x04030201", "i8x4 (1, 2, 3, 4)"},
    {"i64", "bitcast i16x4 (1, 2, 3, 4)", "i64 1125912791875585"},
    {"i64", "ptr2int ptr.global 0x10", "i64 16"},
    {"ptr.local", "int2ptr i64 32", "ptr.local 0x20"},
    {"ptr.generic", "ptr_cast ptr.local 0x0", "ptr.generic 0x0"},
    {"ptr.global", "ptr_add offset 4 ptr.global 0x10, i64 -8", "ptr.global 0xc"},
    /* Choice and vectors. */
    {"i32", "select bool false, i32 1, i32 2", "i32 2"},
    {"i32", "select bool true, i32 1, undef i32", "i32 1"},
    {"i32", "select bool false, i32 1, undef i32", NULL},
    {"i32x2", "select boolx2 (true, false), i32x2 1, i32x2 2", "i32x2 (1, 2)"},
    {"i32x2", "vector i32 1, i32 2", "i32x2 (1, 2)"},
    {"f32x4", "splat f32 1.5", "f32x4 1.5"},
    {"i32", "extract [2] i32x4 (1, 2, 3, 4)", "i32 3"},
    {"i32", "extract_dynamic i32x4 (1, 2, 3, 4), i32 5", "i32 2"},
    {"i32", "extract_dynamic i32x3 (1, 2, 3), i32 3", NULL},
    {"i32x2", "insert [1] i32x2 0, i32 9", "i32x2 (0, 9)"},
    {"i32x4", "shuffle [3, 0, undef, 1] i32x2 (1, 2), i32x2 (3, 4)", "i32x4 (4, 1, 0, 2)"},
    /* What is not constant. */
    {"i32", "add i32 1, undef i32", NULL},
    {"i64", "global_id [0]", NULL},
    /* Small floats are integers. */
    {"i16", "f32_to_bf16 f32 1.0", "i16 16256"},
    {"i16", "f32_to_bf16 round up f32 0x1.01p0", "i16 16257"},
    {"f32", "bf16_to_f32 i16 16256", "f32 1.0"},
    {"i8x2", "f32_to_e4m3 f32x2 (1000.0, -1.0)", "i8x2 (127, -72)"},
    {"i8", "f32_to_e4m3_sat f32 1000.0", "i8 126"},
    {"i8", "f32_to_e5m2 f32 -1000000.0", "i8 -4"},
    {"f32", "e5m2_to_f32 i8 1", "f32 0x1p-16"},
};

/* Equal constants are one value, so the folded one is the one that the text returns. */
static void rows_fold(void **state) {
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const row *r = &rows[i];
        const char *undefined = qn__arena_printf(*state, "undef %s", r->type);
        const char *text = qn__arena_printf(*state, "function @f() -> %s {\n %%0: %s = %s\n return %s\n}\n",
                                            r->type, r->type, r->instr, r->value ? r->value : undefined);
        ir_module *module = ir_parsed(*state, text);
        const char *broken = qn__ir_verify(*state, module);
        if (broken) fail_msg("%s", broken);
        ir_function *f = module->functions.data[0];
        ir_value *folded = qn__ir_fold(f, f->body->first);
        if (!folded && !r->value) continue;
        if (folded == f->body->last->operands[0]) continue;
        if (folded) qn__ir_set_operands(f, f->body->last, &folded, 1);
        fail_msg("%s folded to:\n%s", r->instr, folded ? ir_printed(*state, module) : "nothing");
    }
}

/* Each op with a fold column is in the table above, so that a new row of ops.def brings its test. */
static void every_column_is_tested(void **state) {
    (void)state;
    for (unsigned op = 0; op < IR_OP_COUNT; op++) {
        size_t len = strlen(qn__ir_ops[op].name);
        bool found = !qn__ir_ops[op].foldable;
        for (size_t i = 0; i < sizeof rows / sizeof *rows && !found; i++)
            found = strncmp(rows[i].instr, qn__ir_ops[op].name, len) == 0 && rows[i].instr[len] == ' ';
        if (!found) fail_msg("no test folds %s", qn__ir_ops[op].name);
    }
}

static uint64_t half_of(double value, qn__rounding rounding) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return qn__float_convert(&qn__float_64, &qn__float_16, rounding, bits);
}

static void halves_round_trip(void **state) {
    (void)state;
    for (uint32_t bits = 0; bits <= 0xffff; bits++) {
        double value = qn__f16_to_double((uint16_t)bits);
        if (value != value) continue;
        assert_int_equal(qn__f16_from_double(value), bits);
        assert_int_equal(half_of(value, QN__ROUND_DOWN), bits);
    }
    assert_int_equal(qn__f16_from_double(65519.99), 0x7bff);
    assert_int_equal(qn__f16_from_double(65520.0), 0x7c00);
    assert_int_equal(half_of(1e300, QN__ROUND_ZERO), 0x7bff);
    assert_int_equal(half_of(-1e300, QN__ROUND_UP), 0xfbff);
    assert_int_equal(half_of(1e-300, QN__ROUND_UP), 1);
    assert_int_equal(qn__f16_from_double(-1e-300), 0x8000);
}

/* ---- small floats ---- */

static const struct {
    ir_op to, to_saturated, from;
    ir_kind kind;
} small_ops[NUM_SMALL_FORMATS] = {{IR_F32_TO_BF16, IR_OP_COUNT, IR_BF16_TO_F32, IR_I16},
                                  {IR_F32_TO_E4M3, IR_F32_TO_E4M3_SAT, IR_E4M3_TO_F32, IR_I8},
                                  {IR_F32_TO_E5M2, IR_F32_TO_E5M2_SAT, IR_E5M2_TO_F32, IR_I8}};

static uint32_t bits_of(float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static void check_rounding(unsigned n, float x, unsigned *guess) {
    static const ir_rounding modes[] = {
        [TO_EVEN] = IR_ROUND_EVEN, [TO_ZERO] = IR_ROUND_ZERO, [UP] = IR_ROUND_UP, [DOWN] = IR_ROUND_DOWN};
    for (int mode = TO_EVEN; mode <= DOWN; mode++)
        for (int saturates = 0; saturates < 2; saturates++) {
            const ir_op op = saturates ? small_ops[n].to_saturated : small_ops[n].to;
            if (op == IR_OP_COUNT) continue;
            const unsigned want =
                small_of(&small_formats[n], (long double)x, (small_rounding)mode, saturates, guess);
            const uint64_t got = qn__fold_convert(op, IR_F32, small_ops[n].kind, modes[mode], bits_of(x));
            if (got != want)
                fail_msg("%s of %a: %#x, not %#x", qn__ir_ops[op].name, (double)x, (unsigned)got, want);
        }
}

static void small_floats_are_rounded_as_defined(void **state) {
    (void)state;
    for (unsigned n = 0; n < NUM_SMALL_FORMATS; n++) {
        const small_format *f = &small_formats[n];
        unsigned guess = 0;
        for (unsigned code = 0; code <= f->largest; code++) {
            const float low = (float)small_size(f, code),
                        half = (float)(small_size(f, code + 1) / 2) + low / 2;
            for (int sign = -1; sign <= 1; sign += 2) {
                const float near[] = {low, half, nextafterf(low, INFINITY), nextafterf(half, 0),
                                      nextafterf(half, INFINITY)};
                for (size_t i = 0; i < sizeof near / sizeof *near; i++)
                    check_rounding(n, (float)sign * near[i], &guess);
            }
        }
        check_rounding(n, INFINITY, &guess);
        check_rounding(n, -INFINITY, &guess);
        check_rounding(n, NAN, &guess);
        check_rounding(n, 1e30f, &guess);
    }
}

static void small_floats_become_floats(void **state) {
    (void)state;
    for (unsigned n = 0; n < NUM_SMALL_FORMATS; n++)
        for (unsigned code = 0; code >> small_formats[n].bits == 0; code++) {
            const float want = (float)small_value(&small_formats[n], code);
            const uint64_t got =
                qn__fold_convert(small_ops[n].from, small_ops[n].kind, IR_F32, IR_ROUND_EVEN, code);
            if (isnan(want) ? (got & 0x7fffffff) <= 0x7f800000 : got != bits_of(want))
                fail_msg("%s %#x: %#x", small_formats[n].name, code, (unsigned)got);
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(rows_fold, ir_setup, ir_teardown),
        cmocka_unit_test(every_column_is_tested),
        cmocka_unit_test(halves_round_trip),
        cmocka_unit_test(small_floats_are_rounded_as_defined),
        cmocka_unit_test(small_floats_become_floats),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
