/* Pure ops on the VM: each row is an instruction on constants and the constant it must give. */
#include "vm_support.h"

typedef struct row {
    const char *type, *instr, *expected;
} row;

static const row integers[] = {
    {"i8", "add i8 200, i8 100", "i8 44"},
    {"i32", "add i32 2147483647, i32 1", "i32 -2147483648"},
    {"i64", "sub i64 0, i64 1", "i64 -1"},
    {"i16", "mul i16 300, i16 300", "i16 24464"},
    {"i8", "umulhi i8 255, i8 255", "i8 254"},
    {"i32", "umulhi i32 -1, i32 -1", "i32 -2"},
    {"i64", "umulhi i64 -1, i64 -1", "i64 -2"},
    {"i64", "smulhi i64 -1, i64 5", "i64 -1"},
    {"i64", "smulhi i64 4611686018427387904, i64 -8", "i64 -2"},
    {"i32", "smulhi i32 -2147483648, i32 -2147483648", "i32 1073741824"},
    {"i32", "udiv i32 -2, i32 3", "i32 1431655764"},
    {"i32", "udiv i32 7, i32 0", "i32 7"},
    {"i32", "sdiv i32 -7, i32 2", "i32 -3"},
    {"i32", "sdiv i32 -2147483648, i32 -1", "i32 -2147483648"},
    {"i64", "sdiv i64 -9223372036854775808, i64 -1", "i64 -9223372036854775808"},
    {"i64", "sdiv i64 1, i64 0", "i64 1"},
    {"i8", "urem i8 200, i8 7", "i8 4"},
    {"i32", "srem i32 -7, i32 4", "i32 -3"},
    {"i64", "srem i64 -9223372036854775808, i64 -1", "i64 0"},
    {"i8", "smin i8 -1, i8 1", "i8 -1"},
    {"i8", "umin i8 -1, i8 1", "i8 1"},
    {"i16", "smax i16 -1, i16 1", "i16 1"},
    {"i16", "umax i16 -1, i16 1", "i16 -1"},
    {"i32", "and i32 12, i32 10", "i32 8"},
    {"i32", "or i32 12, i32 10", "i32 14"},
    {"i32", "xor i32 12, i32 10", "i32 6"},
    {"i8", "not i8 1", "i8 -2"},
    {"i32", "shl i32 1, i32 33", "i32 2"},
    {"i64", "shl i64 1, i64 63", "i64 -9223372036854775808"},
    {"i8", "lshr i8 -128, i8 15", "i8 1"},
    {"i32", "ashr i32 -8, i32 34", "i32 -2"},
    {"i16", "rotl i16 4097, i16 20", "i16 17"},
    {"i64", "rotl i64 -9223372036854775807, i64 1", "i64 3"},
    {"i32", "rotl i32 5, i32 32", "i32 5"},
    {"i8", "clz i8 1", "i8 7"},
    {"i32", "clz i32 0", "i32 32"},
    {"i64", "clz i64 -1", "i64 0"},
    {"i16", "ctz i16 0", "i16 16"},
    {"i64", "ctz i64 4294967296", "i64 32"},
    {"i64", "popcount i64 -1", "i64 64"},
    {"i8", "popcount i8 -2", "i8 7"},
    {"i32", "udot4 i32 -1, i32 16909060, i32 1", "i32 2551"},
    {"i32", "sdot4 i32 -1, i32 16909060, i32 2147483647", "i32 2147483637"},
    {"i32", "sudot4 i32 -1, i32 -1, i32 1", "i32 -1019"},
    {"i32x3", "add i32x3 (1, 2, 3), i32x3 10", "i32x3 (11, 12, 13)"},
    {"i8x16", "sub i8x16 0, i8x16 1", "i8x16 -1"},
};

static const row comparisons[] = {
    {"bool", "eq i8 3, i8 3", "true"},
    {"bool", "eq bool true, bool false", "false"},
    {"bool", "ne i64 4294967296, i64 0", "true"},
    {"bool", "slt i8 -1, i8 1", "true"},
    {"bool", "ult i8 -1, i8 1", "false"},
    {"bool", "sle i32 -5, i32 -5", "true"},
    {"bool", "ule i64 -1, i64 1", "false"},
    {"bool", "ult ptr.global 0x10, ptr.global 0x20", "true"},
    {"bool", "feq f32 nan, f32 nan", "false"},
    {"bool", "fne f32 nan, f32 nan", "true"},
    {"bool", "feq f64 0.0, f64 -0.0", "true"},
    {"bool", "flt f16 1.0, f16 1.5", "true"},
    {"bool", "fle f32 nan, f32 1.0", "false"},
    {"bool", "and bool true, bool false", "false"},
    {"bool", "xor bool true, bool true", "false"},
    {"bool", "not bool true", "false"},
    {"bool", "trunc i8 2", "false"},
    {"bool", "trunc i64 3", "true"},
};

static const row floats[] = {
    {"f32", "fadd f32 0.1, f32 0.2", "f32 0x1.333334p-2"},
    {"f64", "fadd f64 0.1, f64 0.2", "f64 0x1.3333333333334p-2"},
    {"f16", "fadd f16 2048.0, f16 1.0", "f16 2048.0"},
    {"f16", "fadd f16 2048.0, f16 3.0", "f16 2052.0"},
    {"f16", "fmul f16 256.0, f16 256.0", "f16 inf"},
    {"f16", "fdiv f16 1.0, f16 3.0", "f16 0x1.554p-2"},
    {"f32", "fsub f32 1.0, f32 0x1p-25", "f32 1.0"},
    {"f32", "fdiv f32 1.0, f32 3.0", "f32 0x1.555556p-2"},
    {"f32", "fdiv f32 1.0, f32 0.0", "f32 inf"},
    {"f32", "frem f32 -7.5, f32 2.0", "f32 -1.5"},
    {"f64", "frem f64 0x1p1000, f64 3.0", "f64 1.0"},
    {"f32", "fneg f32 0.0", "f32 -0.0"},
    {"f16", "fneg f16 1.5", "f16 -1.5"},
    {"f64", "fabs f64 -inf", "f64 inf"},
    {"f32", "fcopysign f32 3.0, f32 -0.0", "f32 -3.0"},
    {"f32", "fma f32 0x1.000002p0, f32 0x1.000002p0, f32 -0x1.000004p0", "f32 0x1p-46"},
    {"f64", "fma f64 0x1.0000000000001p0, f64 0x1.0000000000001p0, f64 -0x1.0000000000002p0", "f64 0x1p-104"},
    /* The exact sum is just below half way to 1026; rounded to float first it would be half way. */
    {"f16", "fma f16 0x1.004p-1, f16 0x1.ff8p-1, f16 1025.0", "f16 1025.0"},
    {"f32", "fsqrt f32 2.0", "f32 0x1.6a09e6p0"},
    {"f16", "fsqrt f16 2.0", "f16 0x1.6ap0"},
    {"f32", "fmin f32 nan, f32 2.0", "f32 2.0"},
    {"f64", "fmax f64 3.0, f64 nan", "f64 3.0"},
    {"f32", "ffloor f32 -1.5", "f32 -2.0"},
    {"f32", "fceil f32 -0.5", "f32 -0.0"},
    {"f64", "ftrunc f64 -1.75", "f64 -1.0"},
    {"f32", "frint f32 2.5", "f32 2.0"},
    {"f16", "frint f16 3.5", "f16 4.0"},
    {"f32", "native_exp2 f32 3.0", "f32 8.0"},
    {"f32", "native_log2 f32 8.0", "f32 3.0"},
    {"f32", "native_sin f32 0.0", "f32 0.0"},
    {"f32", "native_cos f32 0.0", "f32 1.0"},
    {"f32", "native_recip f32 4.0", "f32 0.25"},
    {"f32", "native_rsqrt f32 4.0", "f32 0.5"},
    {"f32", "native_sqrt f32 4.0", "f32 2.0"},
    {"f32", "native_div f32 3.0, f32 4.0", "f32 0.75"},
    {"f32x4", "fmul f32x4 (1.0, 2.0, 3.0, 4.0), f32x4 0.5", "f32x4 (0.5, 1.0, 1.5, 2.0)"},
};

static const row conversions[] = {
    {"i8", "trunc i32 511", "i8 -1"},
    {"i16", "trunc i64 65537", "i16 1"},
    {"i64", "zext i8 -1", "i64 255"},
    {"i32", "zext bool true", "i32 1"},
    {"i8", "zext bool true", "i8 1"},
    {"i64", "sext i8 -1", "i64 -1"},
    {"i32", "sext bool true", "i32 -1"},
    {"i64", "sext bool true", "i64 -1"},
    {"i32", "f2s round zero f32 3000000000.0", "i32 2147483647"},
    {"i32", "f2s round zero f32 -inf", "i32 -2147483648"},
    {"i32", "f2s round zero f32 nan", "i32 0"},
    {"i32", "f2s round zero f32 -1.75", "i32 -1"},
    {"i32", "f2s f32 2.5", "i32 2"},
    {"i32", "f2s round up f32 2.1", "i32 3"},
    {"i32", "f2s round down f32 -2.1", "i32 -3"},
    {"i8", "f2s round zero f64 -128.9", "i8 -128"},
    {"i8", "f2s round zero f32 1000.0", "i8 127"},
    {"i8", "f2u round zero f32 -3.0", "i8 0"},
    {"i8", "f2u round zero f32 255.9", "i8 -1"},
    {"i8", "f2u f32 254.5", "i8 -2"},
    {"i64", "f2u round zero f64 0x1p63", "i64 -9223372036854775808"},
    {"i64", "f2u round zero f32 0x1p64", "i64 -1"},
    {"i64", "f2s round zero f64 0x1p63", "i64 9223372036854775807"},
    {"i64", "f2s round zero f64 -0x1p63", "i64 -9223372036854775808"},
    {"i32", "f2s round zero f16 -inf", "i32 -2147483648"},
    {"f32", "s2f i32 16777217", "f32 16777216.0"},
    {"f32", "s2f round up i32 16777217", "f32 16777218.0"},
    {"f32", "s2f round zero i32 -16777219", "f32 -16777218.0"},
    {"f32", "s2f round down i32 -16777217", "f32 -16777218.0"},
    {"f32", "u2f i32 -1", "f32 0x1p32"},
    {"f32", "u2f round zero i64 -1", "f32 0x1.fffffep63"},
    {"f64", "u2f i64 -1", "f64 0x1p64"},
    {"f64", "s2f i64 -9007199254740993", "f64 -0x1p53"},
    {"f16", "s2f i32 65520", "f16 inf"},
    {"f16", "s2f round zero i32 65535", "f16 65504.0"},
    {"f32", "u2f bool true", "f32 1.0"},
    {"f32", "fconvert f64 0.1", "f32 0x1.99999ap-4"},
    {"f32", "fconvert round down f64 0.1", "f32 0x1.999998p-4"},
    {"f32", "fconvert f64 0x1p200", "f32 inf"},
    {"f32", "fconvert round zero f64 0x1p200", "f32 0x1.fffffep127"},
    {"f32", "fconvert round up f64 -0x1p200", "f32 -0x1.fffffep127"},
    {"f32", "fconvert round up f64 0x1p-1000", "f32 0x1p-149"},
    {"f32", "fconvert f64 0x1.8p-149", "f32 0x1p-148"},
    {"f64", "fconvert f32 0x1p-149", "f64 0x1p-149"},
    {"f16", "fconvert f32 65519.0", "f16 65504.0"},
    {"f16", "fconvert f32 65520.0", "f16 inf"},
    {"f16", "fconvert f32 0x1p-25", "f16 0.0"},
    {"f16", "fconvert f32 0x1.8p-25", "f16 0x1p-24"},
    {"f32", "fconvert f16 0x1p-24", "f32 0x1p-24"},
    {"i32", "bitcast f32 1.0", "i32 1065353216"},
    {"i8x4", "bitcast i32 67305985", "i8x4 (1, 2, 3, 4)"},
    {"i64", "bitcast i32x2 (1, 2)", "i64 8589934593"},
    {"f32x2", "bitcast i64 1065353216", "f32x2 (1.0, 0.0)"},
    {"i16x8", "bitcast i64x2 (1, 65536)", "i16x8 (1, 0, 0, 0, 0, 1, 0, 0)"},
    {"i64", "ptr2int ptr.global 0x1234", "i64 4660"},
};

static const row vectors[] = {
    {"i32", "select bool true, i32 1, i32 2", "i32 1"},
    {"f64", "select bool false, f64 1.0, f64 2.0", "f64 2.0"},
    {"i8x3", "select boolx3 (true, false, true), i8x3 1, i8x3 2", "i8x3 (1, 2, 1)"},
    {"i16x4", "select bool false, i16x4 1, i16x4 (5, 6, 7, 8)", "i16x4 (5, 6, 7, 8)"},
    {"i32x3", "vector i32 1, i32 2, i32 3", "i32x3 (1, 2, 3)"},
    {"f32x8", "splat f32 1.5", "f32x8 1.5"},
    {"i32", "extract [2] i32x4 (1, 2, 3, 4)", "i32 3"},
    {"i32", "extract_dynamic i32x4 (1, 2, 3, 4), i32 7", "i32 4"},
    {"i64", "extract_dynamic i64x3 (1, 2, 3), i64 1", "i64 2"},
    {"i8x4", "insert [1] i8x4 (1, 2, 3, 4), i8 9", "i8x4 (1, 9, 3, 4)"},
    {"i32x4", "shuffle [3, 4, 0, 6] i32x4 (1, 2, 3, 4), i32x4 (5, 6, 7, 8)", "i32x4 (4, 5, 1, 7)"},
    {"i32x2", "shuffle [2, 3] i32x3 (1, 2, 3), i32x3 (5, 6, 7)", "i32x2 (3, 5)"},
};

/* Work-items 0 to 4 each store the instruction's result and the constant; bools are stored as numbers. */
static const char number_text[] = "kernel @k(%%out: ptr.global buffer size 8 align 8) {\n"
                                  "%%id: i64 = global_id [0]\n"
                                  "%%at: i64 = mul %%id, i64 256\n"
                                  "%%p: ptr.global = ptr_add %%out, %%at\n"
                                  "%%r: %s = %s\n"
                                  "store align 1 %%p, %%r\n"
                                  "store align 1 offset 128 %%p, %s\n"
                                  "return\n}\n";
static const char bool_text[] = "kernel @k(%%out: ptr.global buffer size 8 align 8) {\n"
                                "%%id: i64 = global_id [0]\n"
                                "%%at: i64 = mul %%id, i64 256\n"
                                "%%p: ptr.global = ptr_add %%out, %%at\n"
                                "%%r: %s = %s\n"
                                "%%n: i8 = zext %%r\n"
                                "%%e: i8 = zext bool %s\n"
                                "store align 1 %%p, %%n\n"
                                "store align 1 offset 128 %%p, %%e\n"
                                "return\n}\n";

static void check_row(const row *r) {
    char text[1024];
    bool is_bool = strcmp(r->type, "bool") == 0;
    snprintf(text, sizeof text, is_bool ? bool_text : number_text, r->type, r->instr, r->expected);
    unsigned char memory[5][2][128] = {{{0}}};
    uint64_t args[] = {(uintptr_t)memory};
    vm_ok(&(vm_launch){.text = text, .global = {5}, .local = {5}, .args = args});
    for (unsigned i = 0; i < 5; i++)
        if (memcmp(memory[i][0], memory[i][1], 128) != 0) fail_msg("%s is not %s", r->instr, r->expected);
}

#define TABLE_TEST(NAME)                                                                                     \
    static void test_##NAME(void **state) {                                                                  \
        (void)state;                                                                                         \
        for (size_t i = 0; i < QN__COUNT(NAME); i++) check_row(&NAME[i]);                                    \
    }
TABLE_TEST(integers)
TABLE_TEST(comparisons)
TABLE_TEST(floats)
TABLE_TEST(conversions)
TABLE_TEST(vectors)

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_integers),    cmocka_unit_test(test_comparisons), cmocka_unit_test(test_floats),
        cmocka_unit_test(test_conversions), cmocka_unit_test(test_vectors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
