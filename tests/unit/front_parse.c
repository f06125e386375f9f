/* The parser and the semantic checks: source -> the printed tree, or the messages that it gets. */
#include "front/parse/parse.h"
#include "front_help.h"

static ast_unit *parse(help *h, const char *text) {
    front_tokens tokens = help_tokens(h, text);
    front_context *context = QN__NEW(&h->arena, front_context);
    *context = (front_context){.arena = &h->arena,
                               .sources = &h->sources,
                               .diag = &h->diag,
                               .options = &h->options,
                               .target = h->target};
    qn__front_context_init(context);
    return qn__parse(context, tokens);
}

static const char *tree(help *h, const ast_unit *unit) {
    qn__buf out;
    qn__buf_init(&out, &h->arena);
    qn__buf_puts(&out, "");
    qn__ast_print(&out, unit);
    return out.data;
}

/* ---- expressions: `source` stands in a function with these variables ---- */

static const char prelude[] =
    "typedef struct { float4 v; int n[3]; uint a : 3, b : 9; } S;\n"
    "enum { RED, GREEN = 5, BLUE };\n"
    "__constant int table[3] = {1, 2, 3};\n"
    "int twice(int x) { return x; }\n"
    "void f(int i, uint u, char c, uchar uc, long l, ulong ul, float x, double d, bool b,\n"
    "  float4 v, float2 w, int4 iv, uchar4 cv, float3 t, S s, __global int *g,\n"
    "  __local float *lp, int *p, __global S *gs, __global const float4 *gv) {\n";

typedef struct tree_case {
    const char *source, *tree;
} tree_case;

static const tree_case expressions[] = {
    /* C's conversions */
    {"i + u;", "(+ (to uint (load i)) (load u))"},
    {"c + uc;", "(+ (to int (load c)) (to int (load uc)))"},
    {"u + l;", "(+ (to long (load u)) (load l))"},
    {"l + ul;", "(+ (to ulong (load l)) (load ul))"},
    {"i * x;", "(* (to float (load i)) (load x))"},
    {"x * 2.0;", "(* (to double (load x)) 2:double)"},
    {"x * 2.0f;", "(* (load x) 2:float)"},
    {"c << l;", "(<< (to int (load c)) (load l))"},
    {"b = i;", "(= b (bool (load i)))"},
    {"c = 300;", "(= c 44:char)"},
    {"-1;", "-1"},
    {"4294967295;", "4294967295:long"},
    {"0xffffffff;", "4294967295:uint"},
    {"'a' + BLUE;", "(+ 97 6)"},
    {"i && x;", "(&& (bool (load i)) (bool (load x)))"},
    {"!x;", "(! (bool (load x)))"},
    {"i ? u : c;", "(?: (bool (load i)) (load u) (to uint (load c)))"},
    {"c += x;", "(+=:float c (load x))"},
    {"c++;", "(post++ c)"},
    {"--*p;", "(pre-- (deref (load p)))"},
    {"s.a - 4;", "(- (to int (load (.a s))) 4)"},
    {"sizeof(S) + sizeof v;", "(+ 32:ulong 16:ulong)"},
    {"vec_step(float3);", "4"},
    {"_Alignof(float4);", "16:ulong"},
    /* pointers */
    {"g[i] = 1;", "(= (index (load g) (to long (load i))) 1)"},
    {"g[u];", "(index (load g) (to ulong (load u)))"},
    {"*(g + 1);", "(deref (+ (load g) 1:long))"},
    {"&g[1] - g;", "(- (& (index (load g) 1:long)) (load g))"},
    {"g == 0;", "(== (load g) (int2ptr __global int* 0:long))"},
    {"gs->n[1];", "(index (decay (.n (deref (load gs)))) 1:long)"},
    {"(__global char *)g + 3;", "(+ (ptr __global char* (load g)) 3:long)"},
    {"(ulong)g;", "(ptr2int ulong (load g))"},
    {"table[i];", "(index (decay table) (to long (load i)))"},
    {"s = *gs;", "(= s (load (deref (load gs))))"},
    {"(S){.n = {[1] = 7}, .b = 2}.n[1];",
     "(index (decay (.n (literal S {0, 20 = 7, 28.3:9 = 2:uint}))) 1:long)"},
    /* vectors */
    {"v * x;", "(* (load v) (splat float4 (load x)))"},
    {"v * 2;", "(* (load v) (splat float4 2:float))"},
    {"cv + 1;", "(+ (load cv) (splat uchar4 1:uchar))"},
    {"v < x;", "(< (load v) (splat float4 (load x)))"},
    {"iv << 2;", "(<< (load iv) (splat int4 2))"},
    {"!v;", "(! (load v))"},
    {"iv && iv;", "(& (!= (load iv) (splat int4 0)) (!= (load iv) (splat int4 0)))"},
    {"iv ? v : x;", "(select (load iv) (load v) (splat float4 (load x)))"},
    {"(float4)(w, 1, i);", "(vec float4 (load w) 1:float (to float (load i)))"},
    {"(float4)(1);", "(splat float4 1:float)"},
    {"(float4)(w, w).xyz;", "(.s012 (vec float4 (load w) (load w)))"},
    {"(float4){w, 1, 2};", "(literal float4 {0 = (load w), 8 = 1:float, 12 = 2:float})"},
    {"(int2)(b);", "(splat int2 (neg (to int (load b))))"},
    {"v.xy = w.yx;", "(= (.s01 v) (load (.s10 w)))"},
    {"v.hi.x = v.odd.s0;", "(= (.s2 v) (load (.s1 v)))"},
    {"v.xx;", "(.s00 (load v))"},
    {"t.hi;", "(.s22 (load t))"},
    {"v.w += 1;", "(+=:float (.s3 v) 1:float)"},
    {"v[i];", "(index (ptr float* (& v)) (to long (load i)))"},
    {"gv[1].s3;", "(.s3 (index (load gv) 1:long))"},
    {"v.r = v.a;", "(= (.s0 v) (load (.s3 v)))"},
    /* conversions by name */
    {"convert_int4_sat_rtp(v);", "(to_sat_rtp int4 (load v))"},
    {"convert_uchar(x);", "(to uchar (load x))"},
    {"as_int4(v);", "(as int4 (load v))"},
    {"as_float3(v);", "(as float3 (load v))"},
    /* calls */
    {"twice(x);", "(call twice (to int (load x)))"},
    {"(twice)(i);", "(call twice (load i))"},
    {"get_global_id(0);", "(get_global_id 0:uint)"},
    {"i = sin(x) > 1;", "(= i (> (call sin (load x)) 1:float))"},
    {"fma(v, v, v);", "(fma (load v) (load v) (load v))"},
    {"barrier(CLK_LOCAL_MEM_FENCE);", "(barrier 1:uint)"},
    {"vload4(0, lp);", "(vload4 0:ulong (load lp))"},
    {"atomic_add(g, 1);", "(atomic_add (load g) 1)"},
    /* statements */
    {"const int n = 4; int a[n * 2]; a[1] = 0;",
     "(var n const int {0 = 4})\n (var a int[8])\n (= (index (decay a) 1:long) 0)"},
    {"int a[][2] = {1, 2, 3};", "(var a int[2][2] {0, 0 = 1, 4 = 2, 8 = 3})"},
    {"int a[] = {[2] = 5, 6, [0] = 1};", "(var a int[4] {0, 8 = 5, 12 = 6, 0 = 1})"},
    {"char a[] = \"ab\";", "(var a char[3] {0 = \"ab\"})"},
    {"float4 a[2] = {v, {1, 2, 3, 4}};",
     "(var a float4[2] {0 = (load v), 16 = 1:float, 20 = 2:float, 24 = 3:float, 28 = 4:float})"},
    {"switch (c) { case 'a': i = 1; default: break; }",
     "(switch (to int (load c))\n  (block\n   (case 97\n    (= i 1))\n   (default\n    (break))))"},
    {"for (;;) { if (i) break; else continue; }",
     "(for\n  (block\n   (if (bool (load i))\n    (break)\n    (continue))))"},
    {"do i--; while (i > 0);", "(do-while (bool (> (load i) 0))\n  (post-- i))"},
    {"\n#pragma unroll 4\nwhile (i) i--;", "(while unroll 4 (bool (load i))\n  (post-- i))"},
    {"goto end; i = 1; end: ;", "(goto end)\n (= i 1)\n (label end\n  (empty))"},
};

static void check_tree(const tree_case *test) {
    help h;
    help_start(&h);
    const ast_unit *unit = parse(&h, qn__arena_printf(&h.arena, "%s%s\n}", prelude, test->source));
    if (h.diag.errors) fail_msg("%s\n%s", test->source, help_messages(&h));
    const char *body = strstr(tree(&h, unit), "gv __global const float4*)");
    assert_non_null(body);
    body += strlen("gv __global const float4*)\n ");
    const char *wanted = qn__arena_printf(&h.arena, "%s)\n", test->tree);
    if (strcmp(body, wanted) != 0) fail_msg("%s\n got %s want %s", test->source, body, wanted);
    help_stop(&h);
}

static void trees(void **state) {
    (void)state;
    for (size_t i = 0; i < QN__COUNT(expressions); i++) check_tree(&expressions[i]);
}

/* ---- whole files: pieces of the tree ---- */

typedef struct file_case {
    unsigned std;
    const char *source, *has;
} file_case;

static const file_case files[] = {
    {120, "__constant float2 a[2] = {(float2)(1, 2), {3, 4}};",
     "float2[2] 0000803f 00000040 00004040 00008040"},
    {120, "__constant int a[2] = {1, 2}; __constant int *__constant p = &a[1];", "0=&a+4"},
    {120, "__constant char *__constant s[] = {\"x\", 0};", "0=&.string0+0"},
    {120,
     "struct P { uchar c; uint a : 3, b : 5; } __attribute__((packed)); __constant struct P p = {1, 5, 17};",
     "struct P 018d)"},
    {120, "typedef struct { int x; union { int y; float z; }; } T; __constant T t = {.z = 1, .x = 2};",
     "(constant t __constant T 02000000 0000803f)"},
    {120, "__constant int n = sizeof(int[3]) + (1 ? 2 : 3) * 10 - ~0;", "__constant int 21000000"},
    {120, "__constant float x = -1.5f / 3 + (float)(7 % 4);", "__constant float 00002040"},
    {120, "int f(int x); int g(void) { return f(1); } int f(int y) { return y; }", "(return (call f 1))"},
    {120,
     "int __attribute__((overloadable)) f(int x) { return x; }\n"
     "float __attribute__((overloadable)) f(float x) { return x; }\n"
     "float g(char c, double d) { return f(c) + f(1.0f); }",
     "(return (+ (to float (call f (to int (load c)))) (call f 1:float)))"},
    {120, "float min(float a) { return a; } float g(int i) { return min(i); }",
     "(call min (to float (load i)))"},
    {120, "void f(float a[4], const int b) { a[b] = 1; }", "(a float*, b const int)"},
    {120, "__kernel void k(__local int *l) { __local int m[2][3]; m[1][2] = l[0]; }",
     "(var m __local int[2][3])"},
    {120, "__kernel void k(__global int *o) { __constant int t[2] = {3, 4}; o[0] = t[1]; }",
     "(constant t __constant int[2] 03000000 04000000)"},
    {200, "float f(float *p) { float *q = p; return *q; } __kernel void k(__global float *a) { *a = f(a); }",
     "(function f float (p __global float*)\n (var q __global float* {0 = (load p)})"},
    {300,
     "void f(atomic_int *p) { atomic_fetch_add(p, 1); }\n"
     "__kernel void k(__local atomic_int *a, __global atomic_int *b) { f(a); f(b); }",
     "(call f (load b))"},
};

static void check_file(const file_case *test) {
    help h;
    help_start(&h);
    h.options.std = test->std;
    const ast_unit *unit = parse(&h, test->source);
    if (h.diag.errors) fail_msg("%s\n%s", test->source, help_messages(&h));
    const char *whole = tree(&h, unit);
    if (!strstr(whole, test->has)) fail_msg("%s\n got %s want %s", test->source, whole, test->has);
    help_stop(&h);
}

static void whole_files(void **state) {
    (void)state;
    for (size_t i = 0; i < QN__COUNT(files); i++) check_file(&files[i]);
}

/* ---- messages ---- */

/* The messages in order, each with its position; a text that begins with "hint: " is the hint of the last. */
typedef struct message_case {
    const char *source;
    const char *messages[6];
} message_case;

static const message_case wrong[] = {
    {"int f(void) { return x; }", {"1:22: error: use of undeclared identifier 'x'"}},
    {"int f(int count) { return coutn; }",
     {"1:27: error: use of undeclared identifier 'coutn'", "hint: did you mean 'count'?"}},
    {"int f(void) { return get_gobal_id(0); }",
     {"1:22: error: call to undeclared function 'get_gobal_id'", "hint: did you mean 'get_global_id'?"}},
    {"void f(foo x) {}", {"1:8: error: unknown type name 'foo'"}},
    {"void f(void) { foo x; int y = z; }",
     {"1:16: error: unknown type name 'foo'", "1:31: error: use of undeclared identifier 'z'"}},
    {"void f(void) { int a = 1 }\nvoid g(void) { q = 1; }",
     {"1:25: error: expected ';' after the declaration", "2:16: error: use of undeclared"}},
    {"void f(int a, int a) {}",
     {"1:19: error: redefinition of 'a'", "1:12: note: previous definition is here"}},
    {"int f(int); float f(int);",
     {"1:19: error: conflicting types for 'f'", "1:5: note: previous declaration is here"}},
    {"void f(int a); void g(void) { f(); f(1, 2); }",
     {"1:33: error: too few arguments to 'f': 1 expected, 0 given",
      "1:6: note:", "1:36: error: too many arguments to 'f'"}},
    {"void f(int *p); void g(__global int *q) { f(q); }",
     {"1:45: error: argument 1 of 'f': '__global int*' to 'int*' would change the address space from "
      "__global to __private",
      "hint: a pointer without an address space points to private memory: declare it as '__global int*'"}},
    {"void f(__global float4 *g, int4 i) { *g = i; }",
     {"1:41: error: assignment: cannot convert 'int4' to 'float4'",
      "hint: vectors are converted by name: convert_float4(...)"}},
    {"void f(float4 v, double d) { v = v * d; }",
     {"1:36: error: scalar of type 'double' has a greater rank than the elements of 'float4'",
      "hint: convert it: (float)(...)"}},
    {"void f(float2 v) { v = (float2)(1, 2, 3); }",
     {"1:24: error: vector literal of type 'float2' needs 2 components, but has 3"}},
    {"void f(float2 v) { v.z = 1; v.xx = v; v.q; }",
     {"1:22: error: 'float2' has 2 components: '.z' is out of range",
      "1:34: error: expression is not assignable", "1:41: error: '.q' names no components of 'float2'"}},
    {"void f(__constant int *p) { *p = 1; }", {"1:32: error: cannot write to __constant memory"}},
    {"int x = 1;", {"1:5: error: variable 'x' at file scope must be in the __constant or __global"}},
    {"void f(int n) { int a[n]; }", {"1:23: error: size of an array is not a constant expression"}},
    {"void f(void) { int (*p)(int); }", {"1:21: error: pointers to functions are not allowed in OpenCL C"}},
    {"void f(int n, ...) {}", {"1:15: error: functions with a variable number of arguments are not allowed"}},
    {"int g(int); int f(int x) { return g(x); } int g(int x) { return f(x); }",
     {"1:65: error: recursion: 'f' calls itself through other functions"}},
    {"int f(int); int g(void) { return f(1); }", {"1:34: error: function 'f' is called but never defined"}},
    {"extern __global int x; int g(void) { return x; }",
     {"1:21: error: variable 'x' is used but never defined"}},
    {"int g(void) { extern __constant int t[2]; return t[0]; }",
     {"1:37: error: variable 't' is used but never defined"}},
    {"int g(void) { float f(int); return f(1); } int f(int x) { return x; }",
     {"1:21: error: conflicting types for 'f'", "1:48: note: it is defined here"}},
    {"int g(void) { extern __global long x; return x; } __global int x;",
     {"1:36: error: conflicting types for 'x'", "1:64: note: it is defined here"}},
    {"int g(void) { extern int x; return 1; }",
     {"1:26: error: extern variable 'x' must be in the __constant or __global address space"}},
    {"__kernel void k(image2d_t i) {}", {"1:15: warning: kernel 'k' uses 'image2d_t'"}},
    {"__kernel void k(queue_t q) {}", {"1:17: error: pipes and queues on the device are not supported"}},
    {"__kernel void k(float *p) {}",
     {"1:24: error: kernel parameter 'p' of type 'float*' points to private memory"}},
    {"__kernel void k(bool b) {}", {"1:22: error: kernel parameter 'b' of type 'bool' has no size"}},
    {"__kernel void k(size_t n) {}",
     {"1:24: error: kernel parameter 'n' of type 'ulong' (size_t or the like)"}},
    {"__kernel void k(__global int **p) {}",
     {"1:32: error: kernel parameter 'p' of type '__global int**' is a pointer to a pointer"}},
    {"__kernel int k(void) { return 1; }", {"1:14: error: kernel 'k' must return void"}},
    {"__kernel void k(void) { __local int x = 1; }",
     {"1:37: error: variable 'x' in local memory cannot have an initializer"}},
    {"void f(int i) { switch (i) { case 1: case 1: ; } }",
     {"1:38: error: duplicate case value", "1:30: note: the first is here"}},
    {"void f(void) { break; }", {"1:16: error: 'break' outside of a loop or switch"}},
    {"void f(void) { goto out; }", {"1:21: error: use of undeclared label 'out'"}},
    {"_Static_assert(sizeof(int) == 8, \"wide\");", {"1:1: error: static assertion failed: wide"}},
    {"struct S { struct S { int a; }; };", {"1:19: error: redefinition of 'S'"}},
    {"struct S { int a; struct S s; int a; };",
     {"1:28: error: field 's' has incomplete type 'struct S'", "1:35: error: duplicate member 'a'"}},
    {"void f(void) { barrier(); }", {"1:16: error: 'barrier' takes 1 argument"}},
    {"void f(void) { if (1) {", {"1:24: error: expected '}' at the end of the block"}},
    /* warnings */
    {"void f(int a) { if (a = 1) return; }", {"1:23: warning: assignment used as a condition"}},
    {"void f(int a) { a == 1; }",
     {"1:19: warning: result of the comparison is not used", "hint: write '=' to assign"}},
    {"void f(float a) { sqrt(a); }", {"1:19: warning: result of 'sqrt' is not used"}},
    {"int f(int a) { if (a) return 1; }",
     {"1:33: warning: function 'f' does not return a value on every path"}},
    {"int f(int a) { while (1) { if (a) return 1; } }", {NULL}},
    {"void f(long a) { printf(\"%d\\n\", a); }",
     {"1:26: warning: conversion 1 of the format, '%d', does not fit argument 1 of type 'long'"}},
    {"void f(float4 a, int b) { printf(\"%v4hlf %d %%\\n\", a, b); }", {NULL}},
    {"void f(int a) { printf(\"%d %d\\n\", a); }",
     {"1:28: warning: conversion 2 of the format, '%d', has no argument"}},
    {"void f(int a) { int b[2]; b[2] = a / 0 + (a << 40); }",
     {"1:29: warning: index 2 is outside of the array", "1:36: warning: division by zero",
      "1:45: warning: shift count"}},
    {"void f(int a, int b) { a = a & b == 1; }", {"1:34: warning: '==' binds tighter than '&'"}},
    {"void __attribute__((strange(1, 2), unused)) f(void) {}",
     {"1:21: warning: unknown attribute 'strange' ignored"}},
};

static const char *describe(help *h) {
    static const char *const severities[] = {"note", "warning", "error"};
    qn__buf out;
    qn__buf_init(&out, &h->arena);
    qn__buf_puts(&out, "");
    for (size_t i = 0; i < h->diag.messages.len; i++) {
        const front_message *m = &h->diag.messages.data[i];
        qn__buf_printf(&out, "%u:%u: %s: %s\n", m->loc.line, m->loc.column, severities[m->severity], m->text);
        if (m->hint) qn__buf_printf(&out, "hint: %s\n", m->hint);
    }
    return out.data;
}

static void check_messages(const message_case *test) {
    help h;
    help_start(&h);
    parse(&h, test->source);
    const char *got = describe(&h), *at = got;
    if (!test->messages[0] && *got) fail_msg("%s\n got %s", test->source, got);
    for (size_t j = 0; j < QN__COUNT(test->messages) && test->messages[j]; j++) {
        at = strstr(at, test->messages[j]);
        if (!at) fail_msg("%s\n got %s want %s", test->source, got, test->messages[j]);
        at++;
    }
    help_stop(&h);
}

static void messages(void **state) {
    (void)state;
    for (size_t i = 0; i < QN__COUNT(wrong); i++) check_messages(&wrong[i]);
}

/* ---- limits ---- */

typedef struct nested_case {
    const char *before, *repeated, *after, *message;
} nested_case;

static const nested_case nested[] = {
    {"int f(void) { return ", "(", "", "nested more than 256 levels deep"},
    {"int f(void) { return ", "- ", "1; }", "nested more than 256 levels deep"},
    {"void f(void) ", "{", "", "nested more than 256 levels deep"},
    {"int f(int a) { return a", " + a", "; }", "operators one in another"},
    {"int f(int a) { return ", "a ? 1 : ", "2; }", "nested more than 256 levels deep"},
    {"void f(void) { int ", "*", "p; }", "nested too deeply"},
    {"void f(void) { int a", "[1]", "; }", "nested more than 256 levels deep"},
    {"struct S ", "{ struct ", "", "nested more than 256 levels deep"},
    {"void f(void) { int a[] = ", "{", "", "nested more than 256 levels deep"},
};

static void check_limit(const nested_case *test) {
    help h;
    help_start(&h);
    qn__buf text;
    qn__buf_init(&text, &h.arena);
    qn__buf_puts(&text, test->before);
    for (int j = 0; j < 5000; j++) qn__buf_puts(&text, test->repeated);
    qn__buf_puts(&text, test->after);
    parse(&h, text.data);
    assert_true(h.diag.errors > 0);
    if (!strstr(describe(&h), test->message)) fail_msg("%s: %s", test->repeated, describe(&h));
    help_stop(&h);
}

static void limits(void **state) {
    (void)state;
    for (size_t i = 0; i < QN__COUNT(nested); i++) check_limit(&nested[i]);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(trees), cmocka_unit_test(whole_files),
                                       cmocka_unit_test(messages), cmocka_unit_test(limits)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
