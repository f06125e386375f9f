/* Compile options: text in, flags and lists out, or a message. */
#include "front_help.h"

typedef struct option_case {
    const char *text, *expected; /* defines and directories in order; NULL: an error */
    const char *error;           /* a part of the message */
} option_case;

static const option_case cases[] = {
    {NULL, "", NULL},
    {"", "", NULL},
    {"  \t ", "", NULL},
    {"-D A", "D A=1", NULL},
    {"-DA -DB= -D C=x=y", "D A=1;D B=;D C=x=y", NULL},
    {"-D 'A=b c' -D \"B=d\\\"e\\\"\" -DC=\\\"f\\\"", "D A=b c;D B=d\"e\";D C=\"f\"", NULL},
    {"-DF(x)=x -D 'G(x, y)=x+y' -DH(x)", "D F(x)=x;D G(x, y)=x+y;D H(x)=1", NULL},
    {"-U A -UB", "U A;U B", NULL},
    {"-I dir -I'a b' -I .", "I dir;I a b;I .", NULL},
    {"-cl-std=CL1.2 -cl-mad-enable -w -Werror -g -cl-opt-disable -cl-kernel-arg-info", "", NULL},
    {"-cl-std=CL4.0", NULL, "'-cl-std=CL4.0' names no version"},
    {"-cl-foo", NULL, "unknown compile option '-cl-foo'"},
    {"foo", NULL, "unknown compile option 'foo'"},
    {"-D", NULL, "'-D' lacks its operand"},
    {"-I", NULL, "'-I' lacks its operand"},
    {"-D 1x", NULL, "does not begin with the name"},
    {"-D =x", NULL, "does not begin with the name"},
    {"-U a=b", NULL, "does not begin with the name"},
    {"-D F(x", NULL, "lacks a ')'"},
    {"-D \"A=1", NULL, "a quote is not closed"},
};

static void put(qn__buf *out, const char *text) {
    if (out->len) qn__buf_putc(out, ';');
    qn__buf_puts(out, text);
}

static int run_case(const option_case *c) {
    help h;
    help_start(&h);
    const char *error = qn__options_parse(&h.arena, c->text, &h.options);
    qn__buf out;
    qn__buf_init(&out, &h.arena);
    qn__buf_append(&out, "", 0);
    for (size_t i = 0; i < h.options.defines.len; i++) {
        const front_define *define = &h.options.defines.data[i];
        put(&out, define->value ? "D " : "U ");
        qn__buf_puts(&out, define->name);
        if (define->value) qn__buf_printf(&out, "=%s", define->value);
    }
    for (size_t i = 0; i < h.options.include_dirs.len; i++) {
        put(&out, "I ");
        qn__buf_puts(&out, h.options.include_dirs.data[i]);
    }
    const char *got = error ? error : out.data ? out.data : "";
    bool good = c->error ? error && strstr(error, c->error) : !error && !strcmp(got, c->expected);
    if (!good) print_error("%s\n--- got\n%s\n", c->text ? c->text : "NULL", got);
    help_stop(&h);
    return !good;
}

static void test_cases(void **state) {
    (void)state;
    int bad = 0;
    for (size_t i = 0; i < QN__COUNT(cases); i++) bad += run_case(&cases[i]);
    assert_int_equal(bad, 0);
}

static void test_flags(void **state) {
    (void)state;
    help h;
    help_start(&h);
    assert_null(
        qn__options_parse(&h.arena,
                          "-cl-std=CL3.0 -cl-fast-relaxed-math -cl-denorms-are-zero "
                          "-cl-single-precision-constant -cl-fp32-correctly-rounded-divide-sqrt "
                          "-cl-uniform-work-group-size -cl-nv-maxrregcount=64 -qn-tune=one-iteration,pairs",
                          &h.options));
    assert_int_equal(h.options.std, 300);
    assert_true(h.options.fast_relaxed_math && h.options.unsafe_math && h.options.finite_math_only);
    assert_true(h.options.mad_enable && h.options.no_signed_zeros && h.options.denorms_are_zero);
    assert_true(h.options.single_precision_constant && h.options.correctly_rounded_divide_sqrt);
    assert_true(h.options.uniform_work_group_size);
    assert_int_equal(h.options.max_registers, 64);
    assert_string_equal(h.options.tune, "one-iteration,pairs");
    assert_false(h.options.opt_disable || h.options.debug || h.options.no_warnings);
    help_stop(&h);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_cases), cmocka_unit_test(test_flags)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
