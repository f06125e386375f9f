/* Tokens of the language: kinds, values of literals, positions, and what is said of broken ones. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "front_help.h"
#include "util/float.h"

/* One token as text: what the parser would see of it. */
static void spell(qn__buf *out, const front_token *t) {
    static const char suffixes[] = {'d', 'f', 'h'};
    switch (t->kind) {
    case FRONT_T_INT:
        qn__buf_printf(out, "int:%llu", (unsigned long long)t->integer);
        if (t->literal & FRONT_INT_UNSIGNED) qn__buf_putc(out, 'u');
        if (t->literal & FRONT_INT_LONG) qn__buf_putc(out, 'l');
        if (!(t->literal & FRONT_INT_DECIMAL)) qn__buf_putc(out, 'x');
        break;
    case FRONT_T_FLOAT: qn__buf_printf(out, "%c:%.17g", suffixes[t->literal], t->real); break;
    case FRONT_T_CHAR: qn__buf_printf(out, "char:%lld", (long long)t->integer); break;
    case FRONT_T_STRING:
        qn__buf_puts(out, "str:");
        for (size_t i = 0; i < t->string->len; i++) {
            unsigned char c = (unsigned char)t->string->data[i];
            qn__buf_printf(out, c > ' ' && c < 127 ? "%c" : "<%02x>", c);
        }
        break;
    case FRONT_T_IDENTIFIER: qn__buf_printf(out, "%s", t->name->data); break;
    default: qn__buf_printf(out, "%s", qn__token_kind_name((front_token_kind)t->kind)); break;
    }
}

typedef struct lex_case {
    const char *text, *expected, *message;
} lex_case;

static const lex_case cases[] = {
    {"0 7 010 0x1F 0b101 4294967296 18446744073709551615u",
     "int:0x int:7 int:8x int:31x int:5x int:4294967296 "
     "int:18446744073709551615u",
     NULL},
    {"1u 1L 1ul 1LU 1ll 0xfULL", "int:1u int:1l int:1ul int:1ul int:1l int:15ulx", NULL},
    {"18446744073709551616", "int:0", "too large"},
    {"089", "int:0x", "'8' is no digit of an octal literal"},
    {"0b12", "int:1x", "'2' is no digit of a binary literal"},
    {"12abc", "int:12", "'abc' is no suffix of an integer literal"},
    {"0x", "int:0x", "'x' is no suffix"},
    {"1lul", "int:1ul", "no suffix"},
    {"1.0 .5f 2.h 1e3 1E-3f 0x1p4 0x.8p1f 0x1.8p-1 00.5 1.f",
     "d:1 f:0.5 h:2 d:1000 f:0.0010000000474974513 d:16 f:1 d:0.75 d:0.5 f:1", NULL},
    {"1f", "f:1", "'f' is no suffix of an integer literal"},
    {"1.0l", "d:1", "no long double"},
    {"1.0x", "d:1", "'x' is no suffix of a floating literal"},
    {"1.2.3", "d:0", "is not a number"},
    {"0x1.8", "d:0", "needs an exponent"},
    {"1e", "d:1", "is no suffix of a floating literal"},
    {"1e99f", "f:inf", "too large for its type"},
    {"1e-99f", "f:0", "too small for its type"},
    {"'a' '\\n' '\\'' '\\0' '\\377' '\\x41' '\"' '\\e'",
     "char:97 char:10 char:39 char:0 char:-1 char:65 char:34 char:27", NULL},
    {"'ab'", "char:24930", "more than one character"},
    {"''", "char:0", "is empty"},
    {"'\\400'", "char:0", "does not fit"},
    {"'\\q'", "char:113", "unknown escape"},
    {"\"a\" \"b\\n\" \"\"  \"\\x414\"", "str:ab<0a><14>", "does not fit"},
    {"\"\"", "str:", NULL},
    {"\"a\\\nb\"", "str:ab", NULL},
    {"\"abc", "str:abc", "missing closing"},
    {"'a", "char:97", "missing closing"},
    {"__kernel kernel global __global inline __inline__ restrict __restrict half bool _Bool float4 size_t",
     "'__kernel' '__kernel' '__global' '__global' 'inline' 'inline' 'restrict' 'restrict' 'half' 'bool' "
     "'bool' float4 "
     "size_t",
     NULL},
    {"a+++b->c<<=1>>=...<:<%%:", "a '++' '+' b '->' c '<<=' int:1 '>>=' '...' '[' '{' '#'", NULL},
    {"v.xy.s01 1.xx", "v '.' xy '.' s01 d:1", "no suffix"},
    {"a @ b ` c", "a b c", "'@' has no meaning"},
    {"a \xc3\xa9 b", "a b", "can only stand in comments and strings"},
    {"\"\xc3\xa9\" // \xc3\xa9", "str:<c3><a9>", NULL},
    {"\xef\xbb\xbfint x", "'int' x", NULL},
    {"a/**/b//c\nd", "a b d", NULL},
    {"NAN INFINITY HUGE_VAL", "f:nan f:inf d:inf", NULL},
    {"FLT_MAX FLT_MIN DBL_EPSILON HALF_MAX",
     "f:3.4028234663852886e+38 f:1.1754943508222875e-38 d:2.2204460492503131e-16 "
     "h:65504",
     NULL},
};

static int run_case(const lex_case *c) {
    help h;
    help_start(&h);
    front_tokens tokens = help_tokens(&h, c->text);
    qn__buf out;
    qn__buf_init(&out, &h.arena);
    qn__buf_puts(&out, "");
    for (size_t i = 0; i + 1 < tokens.len; i++) {
        if (i) qn__buf_putc(&out, ' ');
        spell(&out, &tokens.data[i]);
    }
    const char *messages = help_messages(&h);
    bool good =
        !strcmp(out.data, c->expected) && (c->message ? strstr(messages, c->message) != NULL : !*messages);
    if (!good)
        print_error("%s\n--- expected\n%s\n--- got\n%s\n%s\n", c->text, c->expected, out.data, messages);
    help_stop(&h);
    return !good;
}

static void test_cases(void **state) {
    (void)state;
    int bad = 0;
    for (size_t i = 0; i < QN__COUNT(cases); i++) bad += run_case(&cases[i]);
    assert_int_equal(bad, 0);
}

static void test_single_constants(void **state) {
    (void)state;
    help h;
    help_start(&h);
    h.options.single_precision_constant = true;
    front_tokens t = help_tokens(&h, "0.1 1.0h");
    assert_int_equal(t.data[0].literal, FRONT_F32);
    assert_true(t.data[0].real == (double)0.1f);
    assert_int_equal(t.data[1].literal, FRONT_F16);
    help_stop(&h);
}

/* ---- numbers against the C library, which rounds correctly ---- */

static uint64_t next_random(uint64_t *seed) {
    *seed ^= *seed << 13, *seed ^= *seed >> 7, *seed ^= *seed << 17;
    return *seed;
}

static void check_number(const char *text) {
    bool out_of_range;
    double d = qn__number_parse(text, strlen(text), FRONT_F64, &out_of_range), wanted = strtod(text, NULL);
    if (memcmp(&d, &wanted, sizeof d)) fail_msg("%s as double: %a, not %a", text, d, wanted);
    double f = qn__number_parse(text, strlen(text), FRONT_F32, &out_of_range), wanted_f = strtof(text, NULL);
    if (memcmp(&f, &wanted_f, sizeof f)) fail_msg("%s as float: %a, not %a", text, f, wanted_f);
}

static void test_random_numbers(void **state) {
    (void)state;
    uint64_t seed = 88172645463325252u;
    char text[128];
    for (int i = 0; i < 20000; i++) {
        uint64_t bits = next_random(&seed);
        double value;
        memcpy(&value, &bits, sizeof value);
        value = fabs(value);
        if (isfinite(value)) {
            snprintf(text, sizeof text, "%.*e", (int)(bits % 30), value);
            check_number(text);
            snprintf(text, sizeof text, "%a", value);
            check_number(text);
        }
        uint32_t low = (uint32_t)bits & 0x7fffffff;
        float f;
        memcpy(&f, &low, sizeof f);
        if (!isfinite(f)) continue;
        /* The midpoint of two floats, and what lies a little above and below. */
        double middle = ((double)f + (double)nextafterf(f, 0)) / 2;
        snprintf(text, sizeof text, "%.60e", middle);
        check_number(text);
        snprintf(text, sizeof text, "%.12e", middle);
        check_number(text);
        snprintf(text, sizeof text, "0x%llx.%llxp%d", (unsigned long long)bits,
                 (unsigned long long)(bits >> 3), (int)(bits % 2400) - 1200);
        check_number(text);
        snprintf(text, sizeof text, "%llu.%llu", (unsigned long long)(bits >> (bits % 60)),
                 (unsigned long long)bits);
        check_number(text);
    }
}

static void test_hard_numbers(void **state) {
    (void)state;
    static const char *const texts[] = {"0",
                                        "0.0",
                                        "0e999999999",
                                        "1e999999999",
                                        "1e-999999999",
                                        "1e99999999999999999999",
                                        "4.9e-324",
                                        "2.47e-324",
                                        "2.4703282292062327208e-324",
                                        "2.4703282292062328e-324",
                                        "1.7976931348623157e308",
                                        "1.7976931348623158e308",
                                        "1.7976931348623159e308",
                                        "2.2250738585072011e-308",
                                        "9007199254740993",
                                        "9007199254740992.99999999999",
                                        "9007199254740993.00000000000000000000000000000000000000000000000001",
                                        "1.1754943508222875e-38",
                                        "7.0064923216240853546186479164495806564013097093825788587853914e-46",
                                        "7.0064923216240853546186479164495806564013097093825788587853915e-46",
                                        "3.4028235677973366e38",
                                        "3.4028235677973367e38",
                                        "16777217",
                                        "16777217.0000000001",
                                        "16777219",
                                        "0x1p-1074",
                                        "0x1p-1075",
                                        "0x1.8p-1075",
                                        "0x1.0000000000000000000000000001p-1075",
                                        "0x1.fffffffffffffp1023",
                                        "0x1.fffffffffffff8p1023",
                                        "0x1.fffffep127",
                                        "0x1.ffffffp127",
                                        "0x1p-149",
                                        "0x1p-150",
                                        "0x1.000002p-150",
                                        "0x0p99",
                                        "0x10000000000000000p0",
                                        "0x1ffffffffffffffffp0",
                                        "00000000000000000000000000000001.5",
                                        "0.000000000000000000000000000000000000001"};
    for (size_t i = 0; i < QN__COUNT(texts); i++) check_number(texts[i]);
    /* A midpoint with its deciding digit far behind those that are kept. */
    enum { ZEROS = 3000 };
    static char text[ZEROS + 32];
    strcpy(text, "9007199254740993.");
    memset(text + 17, '0', ZEROS);
    strcpy(text + 17 + ZEROS, "1");
    check_number(text);
    memset(text, '7', sizeof text - 1);
    check_number(text);
}

/* Every half, and the midpoints between two. */
static void test_halves(void **state) {
    (void)state;
    char text[64];
    for (uint32_t bits = 0; bits < 0x7bff; bits++) {
        double low = qn__f16_to_double((uint16_t)bits), high = qn__f16_to_double((uint16_t)(bits + 1));
        double middle = (low + high) / 2;
        bool out_of_range;
        snprintf(text, sizeof text, "%.40e", low);
        assert_true(qn__number_parse(text, strlen(text), FRONT_F16, &out_of_range) == low);
        snprintf(text, sizeof text, "%.40e", middle);
        assert_true(qn__number_parse(text, strlen(text), FRONT_F16, &out_of_range) ==
                    (bits & 1 ? high : low));
        snprintf(text, sizeof text, "%a", nextafter(middle, 1e9));
        assert_true(qn__number_parse(text, strlen(text), FRONT_F16, &out_of_range) == high);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cases),          cmocka_unit_test(test_single_constants),
        cmocka_unit_test(test_random_numbers), cmocka_unit_test(test_hard_numbers),
        cmocka_unit_test(test_halves),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
