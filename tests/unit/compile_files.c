/* Programs of several files: what each has for itself, what they share, and messages that name the right one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "compile.h"
#include "ir/ir.h"

enum { FILES = 3 };

static const qn__compile_header headers[] = {
    {"pair.h", "#pragma once\ntypedef struct pair { int a; global struct pair *next; float b[2]; } pair;\n",
     0},
    {"table.h", "#pragma once\n__constant int table[2] = {1, 2};\n", 0},
    {"/warns.h", "#pragma once\nint warns(int x) { x; return x; }\n", 0},
    {"typo.h", "#pragma once\n#ifdef WRONG\nint typo(int x) { return y; }\n#endif\n", 0},
    {"number.h", "#line 7 \"number.in\"\n#ifdef N\nint number = N;\n#endif\n", 0},
};

static qn__compile_status compile(const char *const texts[FILES], const char *options, qn__target_kind target,
                                  bool debug, qn__compile_result *result) {
    static const char *const names[FILES] = {"a.cl", "dir/b.cl", "c.cl"};
    qn__compile_source more[FILES - 1];
    qn__compile_header known[sizeof headers / sizeof *headers];
    size_t num_more = 0;
    for (; num_more + 1 < FILES && texts[num_more + 1]; num_more++)
        more[num_more] = (qn__compile_source){names[num_more + 1], texts[num_more + 1], 0};
    memcpy(known, headers, sizeof known);
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) known[i].size = strlen(known[i].text);
    const qn__compile_request request = {.source = texts[0],
                                         .name = names[0],
                                         .more = more,
                                         .num_more = num_more,
                                         .headers = known,
                                         .num_headers = sizeof known / sizeof *known,
                                         .no_files = true,
                                         .options = options,
                                         .dump = "",
                                         .verify = true,
                                         .debug = debug,
                                         .level = debug ? 0 : 2,
                                         .target.kind = target};
    return qn__compile(&request, result);
}

/* Programs that compile to so many kernels, without a word. */
static const struct {
    const char *files[FILES], *options;
    uint32_t kernels;
} right[] = {
    {{"kernel void a(global int *x) { *x = 1; }", "kernel void b(global int *x) { *x = 2; }",
      "kernel void c(global int *x) { *x = 3; }"},
     NULL,
     3},
    /* macros, also changed ones, and whether a header was read */
    {{"#define N 3\n#include \"pair.h\"\nkernel void a(global pair *x) { x->a = N + M; }",
      "#ifdef N\n#error N\n#endif\n#undef M\n#define M 2\n#include \"pair.h\"\n"
      "kernel void b(global pair *x) { x->a = M; }",
      "#if M != 5\n#error M\n#endif\n"},
     "-D M=5",
     2},
    /* static and inline names, types, enumerators, and tables with one name */
    {{"typedef int T; struct s { int a; }; enum { E = 1 }; static T f(T x) { return x + E; }\n"
      "inline int g(int x) { return x; } static __constant int t[1] = {1}; static __global int n = 4;\n"
      "kernel void a(global int *x) { struct s s = {1}; *x = f(g(s.a)) + t[0] + n; }",
      "typedef float T; struct s { float b[2]; }; enum { E = 2 }; static T f(T x) { return x * E; }\n"
      "inline float g(float x) { return x; } static __constant float t[2] = {1, 2}; static __global long n;\n"
      "kernel void b(global float *x) { struct s s = {{1, 2}}; *x = f(g(s.b[1])) + t[1] + n; }"},
     NULL,
     2},
    /* calls of what another file defines, in both directions */
    {{"int f(int x); int g(int x) { return x + 1; }\nkernel void a(global int *x) { *x = f(*x); }",
      "int g(int); int f(int x) { return 2 * g(x); }\nkernel void b(global int *x) { *x = g(*x); }"},
     NULL,
     2},
    /* structs of one header are one type, though they point to themselves */
    {{"#include \"pair.h\"\nint sum(pair p, global pair *q); pair made(int a);\n"
      "kernel void a(global pair *x) { pair p = made(3); x->a = sum(p, x); }",
      "#include \"pair.h\"\nint sum(pair p, global pair *q) { return p.a + q->a + (int)p.b[1]; }\n"
      "pair made(int a) { pair p = {a}; return p; }"},
     NULL,
     1},
    /* one that is not complete everywhere */
    {{"struct pair; int first(global struct pair *p);\n"
      "kernel void a(global int *x) { *x = first((global struct pair *)x); }",
      "#include \"pair.h\"\nint first(global pair *p) { return p->a; }"},
     NULL,
     1},
    /* variables at program scope, and the address of one in a table */
    {{"extern __constant int primes[]; extern __global int count; __constant int *__constant at[1] = "
      "{&primes[1]};\n"
      "kernel void a(global int *x) { *x = primes[1] + count++ + *at[0]; }",
      "__constant int primes[3] = {2, 3, 5}; __global int count = 7;\n"
      "kernel void b(global int *x) { extern __constant int *__constant at[1]; *x = count + *at[0]; }"},
     NULL,
     2},
    /* overloads */
    {{"#define O __attribute__((overloadable))\nint O f(int x); float O f(float x) { return x; }\n"
      "kernel void a(global int *x) { *x = f(1) + (int)f(1.0f); }",
      "#define O __attribute__((overloadable))\nint O f(int x) { return x; }\nlong O f(long x) { return x; "
      "}"},
     NULL,
     1},
    /* kernels call kernels */
    {{"kernel void b(global int *x); kernel void a(global int *x) { b(x); }",
      "kernel void b(global int *x) { *x = 1; }"},
     NULL,
     2},
    /* an inline function that is declared without the word, or extern, is everyone's */
    {{"int f(int); int g(int); kernel void a(global int *x) { *x = f(1) + g(2); }",
      "inline int f(int x) { return x; } int f(int); extern inline int g(int x) { return x; }"},
     NULL,
     1},
    /* pointers that name no address space, before and behind the definition, which is called in its file, too */
    {{"int f(int *p); kernel void a(global int *x, local int *y) { *x = f(x) + f(y); }",
      "int f(int *p) { return *p; } kernel void b(global int *x) { *x = f(x); }",
      "int f(int *p); kernel void c(global int *x) { int v = *x; *x = f(&v); }"},
     "-cl-std=CL2.0",
     3},
    /* files of nothing */
    {{"", "", "kernel void a(global int *x) { *x = 1; }"}, NULL, 1},
};

static void files_are_one_program(void **state) {
    (void)state;
    static const qn__target_kind targets[] = {QN__TARGET_IR, QN__TARGET_C, QN__TARGET_PTX, QN__TARGET_SPIRV,
                                              QN__TARGET_CLC};
    for (size_t i = 0; i < sizeof right / sizeof *right; i++)
        for (size_t t = 0; t < sizeof targets / sizeof *targets; t++) {
            qn__compile_result result;
            const qn__compile_status status =
                compile(right[i].files, right[i].options, targets[t], false, &result);
            if (status || *result.log) fail_msg("%s\n%s", right[i].files[0], result.log);
            assert_int_equal(result.info.num_kernels, right[i].kernels);
            qn__compile_free(&result);
        }
}

/* Programs that do not compile, and what is said. */
static const struct {
    const char *files[FILES], *options, *messages[3];
} wrong[] = {
    {{"kernel void a(global int *x) { *x = 1; }", "\nkernel void b(global int *x) { *x = y; }"},
     NULL,
     {"dir/b.cl:2:37: error: use of undeclared identifier 'y'\nkernel void b(", "1 error generated."}},
    {{"int f(void) { return x; }", "int g(void) { return y; }", "int h(void) { return z; }"},
     NULL,
     {"a.cl:1:22: error:", "dir/b.cl:1:22: error:", "c.cl:1:22: error: use of undeclared identifier 'z'"}},
    {{"#define N 3\ntypedef int T;", "int f(void) { return N; }\nT g(void) { return 1; }"},
     NULL,
     {"dir/b.cl:1:22: error: use of undeclared identifier 'N'", "dir/b.cl:2:1: error:"}},
    {{"kernel void k(global int *x) { *x = 1; }", "\nkernel void k(global int *x) { *x = 2; }"},
     NULL,
     {"dir/b.cl:2:13: error: redefinition of 'k'", "a.cl:1:13: note: previous definition is here"}},
    {{"static kernel void k(global int *x) { *x = 1; }", "static kernel void k(global float *x) { *x = 2; }"},
     NULL,
     {"dir/b.cl:1:20: error: redefinition of 'k'"}},
    {{"int f(int x) { return x; }", "", "int f(int x) { return x; }"},
     NULL,
     {"c.cl:1:5: error: redefinition of 'f'", "hint: write 'static' before it", "a.cl:1:5: note:"}},
    {{"int f(int x) { return x; }", "float f(float x) { return x; }"},
     NULL,
     {"dir/b.cl:1:7: error: redefinition of 'f'", "a.cl:1:5: note:"}},
    {{"#include \"table.h\"", "#include \"table.h\""},
     NULL,
     {"In file included from dir/b.cl:1:\ndir/table.h:2:16: error: redefinition of 'table'",
      "table.h:2:16: note: previous definition is here"}},
    {{"__global int n;", "__global int n;"}, NULL, {"dir/b.cl:1:14: error: redefinition of 'n'"}},
    {{"int f(int x);\nkernel void a(global int *x) { *x = f(1); }", "float f(int x) { return x; }"},
     NULL,
     {"a.cl:1:5: error: conflicting types for 'f'", "dir/b.cl:1:7: note: it is defined here"}},
    {{"struct s { int a; }; int f(struct s x); int g(void) { struct s x = {1}; return f(x); }",
      "struct s { int b; }; int f(struct s x) { return x.b; }"},
     NULL,
     {"a.cl:1:26: error: conflicting types for 'f'"}},
    {{"extern __constant int t[3]; int f(void) { return t[0]; }", "__constant int t[2] = {1, 2};"},
     NULL,
     {"a.cl:1:23: error: conflicting types for 't'", "dir/b.cl:1:16: note: it is defined here"}},
    {{"int t(void); int f(void) { return t(); }", "__constant int t = 1;"},
     NULL,
     {"a.cl:1:5: error: conflicting types for 't'"}},
    {{"int f(int x);\nkernel void a(global int *x) { *x = f(1); }", "static int f(int x) { return x; }"},
     NULL,
     {"a.cl:2:37: error: function 'f' is called but never defined",
      "dir/b.cl:1:12: note: this one is static and belongs to its file alone"}},
    {{"inline int f(int x) { return x; }", "int f(int x);\nkernel void a(global int *x) { *x = f(1); }"},
     NULL,
     {"dir/b.cl:2:37: error: function 'f' is called but never defined",
      "a.cl:1:12: note: this one is inline and belongs to its file alone"}},
    {{"int g(int); int f(int x) { return g(x); }", "int f(int);\nint g(int x) { return f(x); }"},
     NULL,
     {"recursion: 'f' calls itself through other functions", "a.cl:1:35: note:", "dir/b.cl:2:"}},
    /* what is not declared is defined elsewhere, below, or nowhere for this file */
    {{"kernel void a(global int *x) { *x = scaled(1) + table[2]; }",
      "\nint scaled(int x) { return x; }\n__constant int table[3] = {1, 2, 3};"},
     NULL,
     {"hint: it is defined in dir/b.cl:2: declare it in this file, too\na.cl:1:",
      "'table'\nkernel void a(global int *x) { *x = scaled(1) + table[2]; }\n",
      "hint: it is defined in dir/b.cl:3: declare it in this file, too\n2 errors generated."}},
    {{"kernel void a(global int *x) { *x = scaled(1); }\nstatic int scaled(int x) { return x; }",
      "int scalec(int x) { return x; }"},
     NULL,
     {"hint: it is defined below, in line 2: declare it before\n1 error"}},
    {{"int scalec(int); kernel void a(global int *x) { *x = scaled(1); }",
      "static int scaled(int x) { return x; }"},
     NULL,
     {"hint: did you mean 'scalec'?\n1 error"}},
    /* of a header that two files include each message is given once */
    {{"#include \"/warns.h\"", "#include \"/warns.h\""},
     "-Werror",
     {"In file included from a.cl:1:\n/warns.h:2:", "dir/b.cl:1:\n/warns.h:2:5: error: redefinition",
      "2 errors generated."}},
    /* macros of an earlier file, in what is found when all are read */
    {{"int f(int);\n#define CALL(x) f(x)\nkernel void a(global int *x) { *x = CALL(1); }",
      "#define CALL(x) 1"},
     NULL,
     {"a.cl:3:37: error: function 'f' is called but never defined",
      "a.cl:2:9: note: expanded from macro 'CALL'"}},
    /* the header that is wrong in one file is named as that file's */
    {{"#include \"typo.h\"", "#define WRONG\n#include \"typo.h\""},
     NULL,
     {"In file included from dir/b.cl:2:\ndir/typo.h:3:26: error: use of undeclared identifier 'y'",
      "1 error generated."}},
    /* lines that #line counts are counted anew */
    {{"#include \"number.h\"", "#define N 1\n#include \"number.h\""},
     NULL,
     {"In file included from dir/b.cl:2:\nnumber.in:8:5: error: variable 'number' at file scope"}},
    /* options are for all: what is wrong with them is said of each */
    {{"int a(void) { return M; }", "int b(void) { return M; }"},
     "-D M=m",
     {"a.cl:1:22: error: use of undeclared identifier 'm'", "dir/b.cl:1:22: error:"}},
    {{"int f(int *p); int a(global int *x) { return f(x); }", "int f(int *p) {\n  return q; }"},
     "-cl-std=CL3.0",
     {"dir/b.cl:2:10: error: use of undeclared identifier 'q'"}},
};

static void messages_name_the_file(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        qn__compile_result result;
        const qn__compile_status status =
            compile(wrong[i].files, wrong[i].options, QN__TARGET_C, false, &result);
        if (status != QN__COMPILE_SOURCE_ERROR) fail_msg("%s\n%s", wrong[i].files[0], result.log);
        for (size_t k = 0; k < 3 && wrong[i].messages[k]; k++)
            if (!strstr(result.log, wrong[i].messages[k]))
                fail_msg("%s is not in\n%s", wrong[i].messages[k], result.log);
        qn__compile_free(&result);
    }
}

/* FP_CONTRACT is a file's own. */
static void pragmas_end_with_the_file(void **state) {
    (void)state;
    static const char *const files[FILES] = {
        "#pragma OPENCL FP_CONTRACT OFF\nkernel void a(global float *x) { *x = *x * x[1] + x[2]; }",
        "kernel void b(global float *x) { *x = *x * x[1] + x[2]; }"};
    qn__compile_result result;
    assert_int_equal(compile(files, NULL, QN__TARGET_IR, false, &result), QN__COMPILE_OK);
    const char *a = strstr(result.dump, "kernel @a"), *b = strstr(result.dump, "kernel @b");
    const char *fused = strstr(result.dump, "fma");
    assert_true(a && b && a < b);
    assert_true(fused > b && !strstr(fused + 1, "fma"));
    qn__compile_free(&result);
}

/* For gdb and profilers each statement is of its file. */
static void positions_name_the_file(void **state) {
    (void)state;
    static const char *const files[FILES] = {
        "\nint f(int x);\nkernel void a(global int *x) {\n  *x = f(*x);\n}",
        "\n\n\nint f(int x) {\n  x++;\n  return x;\n}"};
    static const struct {
        qn__target_kind target;
        const char *parts[2];
    } wanted[] = {{QN__TARGET_C, {"#line 4 \"a.cl\"", "#line 5 \"dir/b.cl\""}},
                  {QN__TARGET_PTX, {".file 1 \"a.cl\"", ".file 2 \"dir/b.cl\""}}};
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        qn__compile_result result;
        assert_int_equal(compile(files, NULL, wanted[i].target, true, &result), QN__COMPILE_OK);
        for (size_t k = 0; k < 2; k++)
            if (!strstr(result.text, wanted[i].parts[k]))
                fail_msg("%s is not in\n%s", wanted[i].parts[k], result.text);
        qn__compile_free(&result);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(files_are_one_program),
        cmocka_unit_test(messages_name_the_file),
        cmocka_unit_test(pragmas_end_with_the_file),
        cmocka_unit_test(positions_name_the_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
