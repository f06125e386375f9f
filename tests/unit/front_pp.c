/* The preprocessor: text in, text out, and what it says about wrong text. */
#include "front_help.h"

typedef struct pp_case {
    const char *text, *expected;
    const char *message; /* a part of the messages; NULL: none are expected */
    const char *options;
} pp_case;

/* C99 6.10.3.5, examples 3 to 7, and the cases that preprocessors trip over. */
static const pp_case cases[] = {
    {"a b  c\n  d", "a b c\nd", NULL, NULL},
    {"#define x 3\n#define f(a) f(x * (a))\n#undef x\n#define x 2\n#define g f\n#define z z[0]\n"
     "#define h g(~\n#define m(a) a(w)\n#define w 0,1\n#define t(a) a\n#define p() int\n#define q(x) x\n"
     "#define r(x,y) x ## y\n#define str(x) # x\n"
     "f(y+1) + f(f(z)) % t(t(g)(0) + t)(1);\n"
     "g(x+(3,4)-w) | h 5) & m\n(f)^m(m);\n"
     "p() i[q()] = { q(1), r(2,3), r(4,), r(,5), r(,) };\n"
     "char c[2][6] = { str(hello), str() };",
     "f(2 * (y+1)) + f(2 * (f(2 * (z[0])))) % f(2 * (0)) + t(1);\n"
     "f(2 * (2+(3,4)-0,1)) | f(2 * (~ 5)) & f(2 * (0,1))^m(0,1);\n"
     "int i[] = { 1, 23, 4, 5, };\n"
     "char c[2][6] = { \"hello\", \"\" };",
     NULL, NULL},
    {"#define str(s) # s\n#define xstr(s) str(s)\n"
     "#define debug(s, t) printf(\"x\" # s \"= %d, x\" # t \"= %s\", \\\n x ## s, x ## t)\n"
     "#define INCFILE(n) vers ## n\n#define glue(a, b) a ## b\n#define xglue(a, b) glue(a, b)\n"
     "#define HIGHLOW \"hello\"\n#define LOW LOW \", world\"\n"
     "debug(1, 2);\n"
     "fputs(str(strncmp(\"abc\\0d\", \"abc\", '\\4') // this goes away\n == 0) str(: @\\n), s);\n"
     "xstr(INCFILE(2).h)\nglue(HIGH, LOW);\nxglue(HIGH, LOW)",
     "printf(\"x\" \"1\" \"= %d, x\" \"2\" \"= %s\", x1, x2);\n"
     "fputs(\"strncmp(\\\"abc\\\\0d\\\", \\\"abc\\\", '\\\\4') == 0\" \": @\\n\", s);\n"
     "\"vers2.h\"\n\"hello\";\n\"hello\" \", world\"",
     NULL, NULL},
    {"#define hash_hash # ## #\n#define mkstr(a) # a\n#define in_between(a) mkstr(a)\n"
     "#define join(c, d) in_between(c hash_hash d)\nchar p[] = join(x, y);",
     "char p[] = \"x ## y\";", NULL, NULL},
    {"#define t(x,y,z) x ## y ## z\nint j[] = { t(1,2,3), t(,4,5), t(6,,7), t(8,9,),\n t(10,,), t(,11,), "
     "t(,,12), t(,,) };",
     "int j[] = { 123, 45, 67, 89,\n10, 11, 12, };", NULL, NULL},
    {"#define debug(...) fprintf(stderr, __VA_ARGS__)\n#define showlist(...) puts(#__VA_ARGS__)\n"
     "#define report(test, ...) ((test)?puts(#test):\\\n printf(__VA_ARGS__))\n"
     "debug(\"Flag\");\ndebug(\"X = %d\\n\", x);\nshowlist(The first, second, and third items.);\n"
     "report(x>y, \"x is %d but y is %d\", x, y);",
     "fprintf(stderr, \"Flag\");\nfprintf(stderr, \"X = %d\\n\", x);\n"
     "puts(\"The first, second, and third items.\");\n"
     "((x>y)?puts(\"x>y\"): printf(\"x is %d but y is %d\", x, y));",
     NULL, NULL},
    {"#define e(f, ...) p(f, ## __VA_ARGS__)\n#define n(a, b...) q(a, ##b)\ne(1) e(1,) e(1,2,3) n(1) n(1, 2 "
     ", 3)",
     "p(1) p(1,) p(1, 2,3) q(1) q(1,2 , 3)", NULL, NULL},
    {"#define EMPTY\n#define f(x) x\n-EMPTY- f(-)- f(+)f(+) f(a)f(b)", "- - - - + + a b", NULL, NULL},
    {"#define foo foo + a(\n#define a(x) x foo\na(1) foo 2)", "1 foo + a( foo + 2 foo + a(", NULL, NULL},
    {"#define f(a) a*g\n#define g(a) f(a)\nf(2)(9)", "2*9*g", NULL, NULL},
    {"#define NIL(x) x\n#define G_0(arg) NIL(G_1)(arg)\n#define G_1(arg) NIL(arg)\nG_0(42)", "42", NULL,
     NULL},
    {"#define AB BA\n#define BA AB\nAB BA", "AB BA", NULL, NULL},
    {"#define f(x) #x\nf( a  \n b /* c */ d ) f('\"') f(\"\\n\")", "\"a b d\" \"'\\\"'\" \"\\\"\\\\n\\\"\"",
     NULL, NULL},
    {"#define f(x, y) x y\nf((a, b), [c) f", "(a, b) [c f", NULL, NULL},
    {"#define f(x) [x]\nf\n(1) f", "[1] f", NULL, NULL},
    {"#def\\\nine long_\\\nname 1\nlong_name lo\\\nng_name", "1 1", NULL, NULL},
    {"%:define x 1\nx <: :> <% %>", "1 <: :> <% %>", NULL, NULL},
    /* conditionals */
    {"#if 0\na don't /* #endif */\n#elif 1\nb\n#else\nc\n#endif", "b", NULL, NULL},
    {"#if 1\na\n#elif 1/0\nb\n#else\nc\n#endif\nd", "a\nd", NULL, NULL},
    {"#if 0\n#if 1\na\n#else\nb\n#endif\n#else\nc\n#endif", "c", NULL, NULL},
    {"#ifdef A\na\n#elifdef B\nb\n#endif\n#ifndef A\nc\n#endif", "b\nc", NULL, "-DB"},
    {"#if defined A && defined(B) && !defined C\nyes\n#endif", "yes", NULL, "-DA -D B"},
    {"#define HAS defined(A)\n#if HAS\nyes\n#endif", "yes", NULL, "-DA"},
    {"#if (2 + 3 * 4 == 14) && (7 / 2 == 3) && (-7 / 2 == -3) && (-7 % 3 == -1) && 1 << 4 == 16\nyes\n#endif",
     "yes", NULL, NULL},
    {"#if -1 < 0u\nno\n#elif -1 > 0u && 0x7fffffffffffffff + 0 > 0 && (1 ? -1 : 0u) > 0\nyes\n#endif", "yes",
     NULL, NULL},
    {"#if 0 && 1/0 || 1 || 1/0\nyes\n#endif\n#if 1 ? 2 : 1/0\nyes\n#endif", "yes\nyes", NULL, NULL},
    {"#if 'a' == 97 && '\\n' == 10 && undefined_name == 0 && true && !false\nyes\n#endif", "yes", NULL, NULL},
    {"#if ~0 == -1 && !0 && (-1 >> 1) == -1 && (-1 >> 70) == -1 && (1 << -1) == 0\nyes\n#endif", "yes", NULL,
     NULL},
    {"#if -9223372036854775807-1 == (-9223372036854775807-1) / -1\nyes\n#endif", "yes", NULL, NULL},
    {"#if 1/0\n#endif", "", "division by zero", NULL},
    {"#if 1 +\n#endif", "", "a value is expected", NULL},
    {"#if 1 1\n#endif", "", "an operator is expected", NULL},
    {"#if FOO(2)\n#endif", "", "no function-like macro", NULL},
    {"#if 1.0\n#endif", "", "needs integers", NULL},
    {"#if\n#endif", "", "needs an expression", NULL},
    {"#if 1\nx", "x", "#if without #endif", NULL},
    {"#endif", "", "#endif without #if", NULL},
    {"#else", "", "#else without #if", NULL},
    {"#if 0\n#else\n#else\n#endif", "", "#else behind #else", NULL},
    {"#if 1\n#endif FOO", "", "text behind #endif", NULL},
    /* places */
    {"__LINE__\n__LINE__ __FILE__\n#line 77\n__LINE__\n#line 5 \"a\\\\b.cl\"\n__LINE__ __FILE__",
     "1\n2 \"test.cl\"\n77\n5 \"a\\\\b.cl\"", NULL, NULL},
    {"#define L __LINE__\nL\nL __COUNTER__ __COUNTER__", "2\n3 0 1", NULL, NULL},
    {"# 12 \"x.h\" 1\n__LINE__ __FILE__", "12 \"x.h\"", NULL, NULL},
    {"#line abc", "", "#line needs a line number", NULL},
    /* predefined */
    {"__OPENCL_VERSION__ __OPENCL_C_VERSION__ CL_VERSION_1_2 __QUERN__", "300 120 120 1", NULL, NULL},
    {"__OPENCL_C_VERSION__ __opencl_c_fp64", "300 1", NULL, "-cl-std=CL3.0"},
    {"__opencl_c_fp64 cl_khr_fp64 __FAST_RELAXED_MATH__", "__opencl_c_fp64 1 1", NULL,
     "-cl-fast-relaxed-math"},
    {"INT_MIN NULL INFINITY M_PI_F",
     "(-2147483647-1) ((void*)0) INFINITY 3.14159265358979323846264338327950288f", NULL, NULL},
    {"__kernel_exec(64, float4) void f();",
     "__kernel __attribute__((work_group_size_hint(64,1,1))) __attribute__((vec_type_hint(float4))) void "
     "f();",
     NULL, NULL},
    {"#ifdef M_PI\n#undef M_PI\n#endif\n#define M_PI 3\n#define INT_MAX 5\nM_PI INT_MAX", "3 5", NULL, NULL},
    {"A B(7) C", "1 7+1 x y", NULL, "-DA '-DB(x)=x+1' -D \"C=x y\" -D E -U E"},
    /* wrong definitions and calls */
    {"#define f(a, a) a", "", "two parameters", NULL},
    {"#define f(a b) a", "", "',' or ')' is expected", NULL},
    {"#define f(", "", "is expected here", NULL},
    {"#define f(x) #y", "", "must stand before a parameter", NULL},
    {"#define f ## x", "", "cannot begin", NULL},
    {"#define f x ##", "", "cannot end", NULL},
    {"#define 3", "", "needs the name of a macro", NULL},
    {"#define defined", "", "part of the language", NULL},
    {"#define f(x) x\nf(1, 2)", "", "takes 1 argument, but 2 are given", NULL},
    {"#define f(x, y) x\nf(1)", "", "takes 2 arguments, but 1 is given", NULL},
    {"#define f(x, y) x ## y\nf(+, 1)", "+ 1", "does not make one token", NULL},
    {"#define f(x) x\nf(1", "", "no closing ')'", NULL},
    {"#define A 1\n#define A 2\nA", "2", "defined anew", NULL},
    {"#define A 1 + 2\n#define A  1  +  2\n#define A 1 + 2 /* same */\nA", "1 + 2", NULL, NULL},
    {"#error out of  luck\nx", "x", "#error out of  luck", NULL},
    {"#warning careful", "", "#warning careful", NULL},
    {"#foo\nx", "x", "there is no directive #foo", NULL},
    {"#\n# \n#!\nx", "x", "name of a directive", NULL},
    {"/* open", "", "comment is not closed", NULL},
    /* pragmas */
    {"#define N 4\n#pragma unroll N\nfor\n#pragma unroll\n#pragma nounroll\nx",
     "#pragma unroll N\nfor\n#pragma unroll\n#pragma nounroll\nx", NULL, NULL},
    {"#define DO(x) _Pragma(#x)\nDO(unroll(2)) for;", "#pragma unroll(2)\nfor;", NULL, NULL},
    {"#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n#pragma OPENCL FP_CONTRACT OFF\nx",
     "#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n#pragma OPENCL FP_CONTRACT OFF\nx", NULL, NULL},
    {"#pragma OPENCL EXTENSION cl_amd_foo : enable\nx", "x", "'cl_amd_foo' is not supported", NULL},
    {"#pragma foo\nx", "x", "unknown pragma 'foo'", NULL},
    {"#pragma unroll abc\nx", "x", "needs a positive integer", NULL},
    {"_Pragma(1)", ")", "_Pragma needs a string", NULL},
    /* inclusion */
    {"#include \"a.h\"\nA", "from_a from_sub_b\n1", NULL, NULL},
    {"#include <b.h>\n#include <b.h>", "from_sub_b\nfrom_sub_b", NULL, "-I sub"},
    {"#define H \"once.h\"\n#include H\n#include \"once.h\"\n#include <once.h>", "once", NULL, "-Isub -I."},
    {"#define S(x) <x.h>\n#include S(b)", "from_sub_b", NULL, "-I sub"},
    {"#if __has_include(\"a.h\") && !__has_include(<nope.h>) && defined __has_include\nyes\n#endif", "yes",
     NULL, NULL},
    {"#include \"nope.h\"\nx", "x", "cannot find the file 'nope.h'", NULL},
    {"#include nope", "", "#include needs", NULL},
    {"#include \"self.h\"", NULL, "nested more than 64 deep", NULL},
    {"#include \"open.h\"\nx", "x", "#if without #endif", NULL},
};

static const help_file files[] = {{"a.h", "#define A 1\nfrom_a\n#include \"sub/b.h\""},
                                  {"sub/b.h", "from_sub_b"},
                                  {"once.h", "#pragma once\nonce"},
                                  {"self.h", "#include \"self.h\""},
                                  {"open.h", "#if 1\n"},
                                  {"./once.h", "#pragma once\n"},
                                  {NULL, NULL}};

/* White space within a line does not matter to the comparison: "- -" and "--" differ, "a  b" and "a b" do
   not. */
static bool same_text(const char *a, const char *b) {
    while (*a || *b) {
        bool blank_a = *a == ' ' || *a == '\n', blank_b = *b == ' ' || *b == '\n';
        if (blank_a != blank_b || (!blank_a && *a != *b)) return false;
        while (*a == ' ' || *a == '\n') a++;
        while (*b == ' ' || *b == '\n') b++;
        if (!blank_a) a++, b++;
    }
    return true;
}

static int run_case(const pp_case *c) {
    help h;
    help_start(&h);
    h.files = files;
    const char *error = qn__options_parse(&h.arena, c->options, &h.options);
    const char *got = error ? error : help_expand(&h, c->text), *messages = help_messages(&h);
    int bad = 0;
    if (c->expected && !same_text(got, c->expected)) {
        print_error("%s\n--- expected\n%s\n--- got\n%s\n%s\n", c->text, c->expected, got, messages);
        bad = 1;
    } else if (c->message ? !strstr(messages, c->message) : h.diag.messages.len > 0) {
        print_error("%s\n--- expected message\n%s\n--- got\n%s\n", c->text, c->message ? c->message : "none",
                    messages);
        bad = 1;
    }
    help_stop(&h);
    return bad;
}

static void test_cases(void **state) {
    (void)state;
    int bad = 0;
    for (size_t i = 0; i < QN__COUNT(cases); i++) bad += run_case(&cases[i]);
    assert_int_equal(bad, 0);
}

/* What would run for ever, or fill memory, ends in an error. */
static void run_bomb(const char *text) {
    static const help_file twice[] = {{"twice.h", "#if __INCLUDE_LEVEL__ < 40\n#include \"twice.h\"\n"
                                                  "#include \"twice.h\"\n#endif\n"},
                                      {NULL, NULL}};
    help h;
    help_start(&h);
    h.files = twice;
    h.config.max_tokens = 100000;
    front_tokens tokens = help_tokens(&h, text);
    assert_int_equal(tokens.data[tokens.len - 1].kind, FRONT_T_END);
    assert_true(h.diag.errors > 0 && h.diag.stopped);
    assert_true(qn__arena_used(&h.arena) < 64 << 20);
    help_stop(&h);
}

static void test_limits(void **state) {
    (void)state;
    static const char *const bombs[] = {
        "#define a b b b b b b b b b b\n#define b c c c c c c c c c c\n#define c d d d d d d d d d d\n"
        "#define d e e e e e e e e e e\n#define e f f f f f f f f f f\n#define f g g g g g g g g g g\n"
        "#define g h h h h h h h h h h\n#define h 1\na",
        "#define f(x) x x x x\n"
        "f(f(f(f(f(f(f(f(f(f(f(f(f(f(f(f(f(f(f(f(1))))))))))))))))))))",
        "#define p(x) x ## x\n#define q(x) p(x)\n"
        "q(q(q(q(q(q(q(q(q(q(q(q(q(q(q(q(q(q(q(q(q(q(q(q(q(q(q(q(q(q(a))))))))))))))))))))))))))))))",
        "#include \"twice.h\"",
    };
    for (size_t i = 0; i < QN__COUNT(bombs); i++) run_bomb(bombs[i]);
}

/* Text of `first`, `open` many times, `middle`, `close` many times. */
static void run_nest(const char *first, const char *open, const char *middle, const char *close) {
    help h;
    help_start(&h);
    qn__buf text;
    qn__buf_init(&text, &h.arena);
    qn__buf_puts(&text, first);
    for (int k = 0; k < 5000; k++) qn__buf_puts(&text, open);
    qn__buf_puts(&text, middle);
    for (int k = 0; k < 5000; k++) qn__buf_puts(&text, close);
    qn__buf_puts(&text, "\n#endif\n");
    help_tokens(&h, text.data);
    assert_true(h.diag.errors > 0);
    help_stop(&h);
}

static void test_nesting(void **state) {
    (void)state;
    run_nest("#define f(x) x\n", "f(", "1", ")");
    run_nest("#define f(x) x\n", "f(", "1", "");
    run_nest("#if ", "(", "1", ")");
    run_nest("#if ", "-", "1", "");
    run_nest("#if 1", "?1:", "1", "");
}

/* A body's tokens stand where the macro is named, an argument's where they were written. */
static void test_positions(void **state) {
    (void)state;
    help h;
    help_start(&h);
    front_tokens t = help_tokens(&h, "#define f(x) (x)\n#define g f(2)\n  f( 1)\n g a\\\nb\\\n + c");
    static const struct {
        unsigned line, column;
    } expected[] = {{3, 3}, {3, 6}, {3, 3}, {4, 2}, {4, 2}, {4, 2}, {4, 4}, {6, 2}, {6, 4}};
    assert_int_equal(t.len, QN__COUNT(expected) + 1);
    for (size_t i = 0; i < QN__COUNT(expected); i++) {
        assert_int_equal(t.data[i].loc.line, expected[i].line);
        assert_int_equal(t.data[i].loc.column, expected[i].column);
    }
    assert_string_equal(t.data[6].name->data, "ab");
    help_stop(&h);
}

static void test_pragma_tokens(void **state) {
    (void)state;
    help h;
    help_start(&h);
    front_tokens t =
        help_tokens(&h, "#pragma unroll 8\n#pragma unroll\n#pragma nounroll\n#pragma unroll(1)\n"
                        "#pragma OPENCL EXTENSION all : disable\n#pragma STDC FP_CONTRACT DEFAULT\n");
    assert_int_equal(t.len, 7);
    assert_int_equal(t.data[0].pragma->unroll, 8);
    assert_int_equal(t.data[1].pragma->unroll, -1);
    assert_int_equal(t.data[2].pragma->unroll, 1);
    assert_int_equal(t.data[3].pragma->unroll, 1);
    assert_int_equal(t.data[4].pragma->kind, FRONT_PRAGMA_EXTENSION);
    assert_true(qn__str_is(t.data[4].pragma->extension, "all"));
    assert_int_equal(t.data[4].pragma->setting, FRONT_OFF);
    assert_int_equal(t.data[5].pragma->kind, FRONT_PRAGMA_FP_CONTRACT);
    assert_int_equal(t.data[5].pragma->setting, FRONT_DEFAULT);
    help_stop(&h);
}

/* What a target lacks it has no macros for. */
static void test_traits(void **state) {
    (void)state;
    help h;
    help_start(&h);
    h.target = (qn__target){.lacks_f64 = true, .lacks_i64_atomics = true};
    assert_string_equal(help_expand(&h, "cl_khr_fp64 M_PI M_PI_F DBL_MAX cl_khr_int64_base_atomics INT_MAX"),
                        "cl_khr_fp64 M_PI 3.14159265358979323846264338327950288f DBL_MAX "
                        "cl_khr_int64_base_atomics 2147483647");
    help_stop(&h);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cases),         cmocka_unit_test(test_limits),
        cmocka_unit_test(test_nesting),       cmocka_unit_test(test_positions),
        cmocka_unit_test(test_pragma_tokens), cmocka_unit_test(test_traits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
