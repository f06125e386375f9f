/* The lowering by itself: pieces of text that the IR of a kernel has, or has not, before any pass; and the
   errors that only the lowering finds. What kernels compute is tested by compile_language.c. */
#include "front/lower/lower.h"
#include "front/parse/parse.h"
#include "front_help.h"

typedef struct lower_case {
    const char *source;
    const char *has[6]; /* in this order */
    const char *has_not;
} lower_case;

static const lower_case cases[] = {
    /* int index: widened first, then scaled */
    {"kernel void k(global float *a, int i) { a[i] = 1; }",
     {"sext", "mul nsw", "ptr_add nsw", "store"},
     NULL},
    /* signed arithmetic may not overflow; unsigned wraps */
    {"kernel void k(global int *a, int i) { *a = i + 3; }", {"add nsw"}, NULL},
    {"kernel void k(global uint *a, uint i) { *a = i + 3; }", {"add "}, "nsw"},
    /* a comparison is a condition as it is */
    {"kernel void k(global int *a, int i) { if (i < 3 && i > 1) *a = 1; }",
     {"slt", "slt", "and", "if"},
     "zext"},
    /* what may not be evaluated early gets a branch */
    {"kernel void k(global int *a, int i) { if (i > 3 && a[i]) *a = 1; }",
     {"slt", "if", "load", "yield", "if"},
     NULL},
    {"kernel void k(global int *a, int i) { *a = i ? a[1] : 2; }", {"if", "load", "yield"}, "select"},
    {"kernel void k(global int *a, int i) { *a = i ? i + 1 : 2; }", {"select"}, "if"},
    /* loads of what nobody writes */
    {"kernel void k(global const float *restrict a, global float *b, int i) { b[i] = a[i]; }",
     {"load readonly"},
     NULL},
    {"kernel void k(global const float *a, global float *b, int i) { b[i] = a[i]; }", {"load"}, "readonly"},
    {"kernel void k(constant float *a, global float *b, int i) { b[i] = a[i]; }", {"load readonly"}, NULL},
    {"kernel void k(global volatile int *a) { a[0] = a[1]; }", {"load volatile", "store volatile"}, NULL},
    /* parameters that never change stay values; a struct's bytes are read in place */
    {"kernel void k(global int *a, int n) { *a = n; }", {"store"}, "var"},
    {"typedef struct { int x, y; } S; kernel void k(global int *a, S s) { *a = s.y; }",
     {"ptr.param", "load"},
     "copy"},
    {"typedef struct { int x, y; } S; kernel void k(global int *a, S s) { s.x = 1; *a = s.x; }",
     {"copy", "store"},
     NULL},
    /* a swizzle in shared memory is written by components, a private one in registers */
    {"kernel void k(global float4 *a) { a->xz = (float2)(1, 2); }", {"store", "store"}, "load"},
    {"kernel void k(global float4 *a) { float4 v = *a; v.xz = (float2)(1, 2); *a = v; }",
     {"insert", "insert"},
     NULL},
    {"kernel void k(global float4 *a, global float *b) { *b = a[1].z; }", {"f32 = load align 8"}, "extract"},
    /* loops: continue needs a block only where a step follows */
    {"kernel void k(global int *a, int n) { for (int i = 0; i < n; i++) a[i] = 0; }",
     {"loop", "break", "continue"},
     "block"},
    {"kernel void k(global int *a, int n) { for (int i = 0; i < n; i++) { if (a[i]) continue; a[i] = 1; } }",
     {"loop", "block", "break", "continue"},
     NULL},
    {"kernel void k(global int *a, int n) { while (n-- > 0) { if (a[n]) continue; a[n] = 1; } }",
     {"loop"},
     "block"},
    /* maths: fused where allowed */
    {"kernel void k(global float *a, float b) { *a = *a * b + 1.0f; }",
     {"fmul contract", "fadd contract"},
     NULL},
    {"\n#pragma OPENCL FP_CONTRACT OFF\nkernel void k(global float *a, float b) { *a = *a * b; }",
     {"fmul"},
     "contract"},
    {"kernel void k(global float *a, float b) { *a = *a * b; }\n#pragma OPENCL FP_CONTRACT OFF\n",
     {"fmul contract"},
     NULL},
    {"kernel void j(global float *a) {\n#pragma OPENCL FP_CONTRACT OFF\n*a = 1; }\n"
     "kernel void k(global float *a, float b) { *a = *a * b; }",
     {"fmul contract"},
     NULL},
    {"kernel void k(global float *a, float b) {\n#pragma OPENCL FP_CONTRACT OFF\n*a = *a * b; }",
     {"fmul"},
     "contract"},
    {"kernel void k(global uint *a) { a[0] = get_global_id(1) + get_local_size(7); }",
     {"global_id"},
     "local_size"},
};

static char *lowered(help *h, const char *source) {
    front_source *main = qn__source_add(&h->sources, "k.cl", qn__str_of(source));
    front_tokens tokens = qn__pp_run(help_config(h), main);
    front_context *context = QN__NEW(&h->arena, front_context);
    *context = (front_context){.arena = &h->arena,
                               .sources = &h->sources,
                               .diag = &h->diag,
                               .options = &h->options,
                               .target = h->target};
    qn__front_context_init(context);
    ast_unit *unit = qn__parse(context, tokens);
    qn__buf out;
    qn__buf_init(&out, &h->arena);
    ir_module *module = NULL;
    if (!h->diag.errors) {
        lower_config config = {.arena = &h->arena,
                               .sources = &h->sources,
                               .diag = &h->diag,
                               .options = &h->options,
                               .target = h->target};
        module = qn__lower(&config, unit);
    }
    if (h->diag.errors) {
        qn__diag_print(&h->diag, &out);
        return out.data;
    }
    const char *broken = qn__ir_verify(&h->arena, module);
    if (broken) fail_msg("%s\n%s", source, broken);
    qn__ir_print(&out, module);
    return out.data;
}

static void test_shapes(void **state) {
    (void)state;
    for (size_t i = 0; i < QN__COUNT(cases); i++) {
        help h;
        help_start(&h);
        char *text = lowered(&h, cases[i].source);
        if (h.diag.errors) fail_msg("%s", text);
        char *body = strchr(text, '{'), *at = body ? strchr(body, '\n') : text;
        for (int k = 0; k < 6 && cases[i].has[k]; k++) {
            char *found = strstr(k || strncmp(cases[i].has[k], "ptr.", 4) ? at : text, cases[i].has[k]);
            if (!found) fail_msg("%s\nno '%s' in\n%s", cases[i].source, cases[i].has[k], text);
            if (found >= at) at = found + 1;
        }
        if (cases[i].has_not && strstr(strchr(body, '\n'), cases[i].has_not))
            fail_msg("%s\nthere is '%s' in\n%s", cases[i].source, cases[i].has_not, text);
        help_stop(&h);
    }
}

static const struct error_case {
    const char *source, *message;
} errors[] = {
    {"kernel void k(global int *a, int n) { if (n) goto b; a: *a = 1; b: if (n < 5) goto a; }",
     "jumps into a loop"},
    {"int f(int n); kernel void k(global int *a) { *a = f(1); }", "never defined"},
    {"kernel void k(global char *f) { printf(f); }", "format"},
};

static void test_errors(void **state) {
    (void)state;
    for (size_t i = 0; i < QN__COUNT(errors); i++) {
        help h;
        help_start(&h);
        char *text = lowered(&h, errors[i].source);
        if (!h.diag.errors || !strstr(text, errors[i].message))
            fail_msg("%s\nno '%s' in\n%s", errors[i].source, errors[i].message, text);
        help_stop(&h);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_shapes), cmocka_unit_test(test_errors)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
