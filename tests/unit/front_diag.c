/* What messages look like. */
#include "front_help.h"

static front_source *add(help *h, const char *text) {
    return qn__source_add(&h->sources, "a.cl", qn__str_of(text));
}

static front_loc at(const front_source *source, unsigned line, unsigned column) {
    return (front_loc){line, (uint16_t)column, source->index};
}

static void expect(help *h, const char *expected) {
    const char *got = help_messages(h);
    if (strcmp(got, expected)) fail_msg("\n--- expected\n%s\n--- got\n%s", expected, got);
}

static void test_layout(void **state) {
    (void)state;
    help h;
    help_start(&h);
    front_source *source = add(&h, "int a;\r\nfloat b = a + c;\nint d");
    qn__diag_error(&h.diag, at(source, 2, 15), "'%s' is not declared", "c");
    qn__diag_range(&h.diag, at(source, 2, 11), 5);
    qn__diag_hint(&h.diag, "did you mean 'd'?");
    qn__diag_note(&h.diag, at(source, 3, 5), "'d' is declared here");
    qn__diag_warning(&h.diag, FRONT_WARN_OTHER, at(source, 1, 7), "odd");
    expect(&h, "a.cl:2:15: error: 'c' is not declared\n"
               "float b = a + c;\n"
               "          ~~~~^\n"
               "hint: did you mean 'd'?\n"
               "a.cl:3:5: note: 'd' is declared here\n"
               "int d\n"
               "    ^\n"
               "a.cl:1:7: warning: odd [-Wother]\n"
               "int a;\n"
               "      ^\n"
               "1 error and 1 warning generated.\n");
    help_stop(&h);
}

/* The caret stands below its character whatever comes before it. */
static void test_columns(void **state) {
    (void)state;
    help h;
    help_start(&h);
    front_source *source = add(&h, "\ta\tb;\n\xc3\xa9\xe6\x97\xa5 x\n\xff\x01 x");
    qn__diag_error(&h.diag, at(source, 1, 4), "tab");
    qn__diag_error(&h.diag, at(source, 2, 7), "wide");
    qn__diag_error(&h.diag, at(source, 3, 4), "bytes");
    qn__diag_error(&h.diag, at(source, 9, 1), "no such line");
    qn__diag_error(&h.diag, at(source, 1, 60), "no such column");
    expect(&h, "a.cl:1:4: error: tab\n        a       b;\n                ^\n"
               "a.cl:2:7: error: wide\n\xc3\xa9\xe6\x97\xa5 x\n    ^\n"
               "a.cl:3:4: error: bytes\n<FF><01> x\n         ^\n"
               "a.cl:9:1: error: no such line\na.cl:1:60: error: no such column\n5 errors generated.\n");
    help_stop(&h);
}

static void test_long_line(void **state) {
    (void)state;
    help h;
    help_start(&h);
    static char text[3001];
    memset(text, 'x', 3000);
    text[1999] = '@';
    front_source *source = add(&h, text);
    qn__diag_error(&h.diag, at(source, 1, 2000), "far");
    const char *got = help_messages(&h), *line = strchr(got, '\n') + 1, *marks = strchr(line, '\n') + 1;
    assert_true(marks - line < 200 && !strncmp(line, "...x", 4));
    assert_int_equal(strchr(line, '@') - line, strchr(marks, '^') - marks);
    help_stop(&h);
}

static void test_repetition(void **state) {
    (void)state;
    help h;
    help_start(&h);
    front_source *source = add(&h, "a b");
    qn__diag_error(&h.diag, at(source, 1, 1), "first");
    qn__diag_error(&h.diag, at(source, 1, 1), "its consequence");
    qn__diag_note(&h.diag, at(source, 1, 3), "goes with the consequence");
    qn__diag_hint(&h.diag, "as does this");
    qn__diag_warning(&h.diag, FRONT_WARN_OTHER, at(source, 1, 1), "one");
    qn__diag_warning(&h.diag, FRONT_WARN_OTHER, at(source, 1, 1), "two");
    qn__diag_warning(&h.diag, FRONT_WARN_OTHER, at(source, 1, 1), "one");
    assert_int_equal(h.diag.messages.len, 3);
    assert_int_equal(h.diag.errors, 1);
    assert_int_equal(h.diag.warnings, 2);
    assert_null(h.diag.messages.data[0].hint);
    help_stop(&h);
}

static void test_too_many(void **state) {
    (void)state;
    help h;
    help_start(&h);
    front_source *source = add(&h, "");
    for (unsigned i = 1; i < 500; i++) qn__diag_error(&h.diag, at(source, i, 1), "again");
    assert_true(h.diag.stopped);
    assert_int_equal(h.diag.errors, 100);
    assert_non_null(
        strstr(help_messages(&h), "\nerror: too many errors, stopping here\n100 errors generated.\n"));
    help_stop(&h);
}

static void test_switches(void **state) {
    (void)state;
    help h;
    help_start(&h);
    front_source *source = add(&h, "x");
    h.diag.no_warnings = true;
    qn__diag_warning(&h.diag, FRONT_WARN_OTHER, at(source, 1, 1), "silent");
    qn__diag_hint(&h.diag, "silent");
    expect(&h, "");
    h.diag.no_warnings = false;
    h.diag.warnings_are_errors = true;
    qn__diag_warning(&h.diag, FRONT_WARN_SHIFT, at(source, 1, 1), "loud");
    expect(&h, "a.cl:1:1: error: loud [-Werror,-Wshift-count-overflow]\nx\n^\n1 error generated.\n");
    help_stop(&h);
}

/* Where a message comes from: inclusion, #line, macros. */
static void test_origins(void **state) {
    (void)state;
    static const help_file files[] = {{"b.h", "\n1x;\n"}, {NULL, NULL}};
    help h;
    help_start(&h);
    h.files = files;
    help_tokens(&h, "#include \"b.h\"\n#define ONE(x) 1y x\n  ONE(2z)\n#line 100 \"c.cl\"\n3w");
    expect(&h, "In file included from test.cl:1:\n"
               "b.h:2:1: error: 'x' is no suffix of an integer literal\n1x;\n^\n"
               "test.cl:3:3: error: 'y' is no suffix of an integer literal\n  ONE(2z)\n  ^\n"
               "test.cl:2:9: note: expanded from macro 'ONE'\n#define ONE(x) 1y x\n        ^\n"
               "test.cl:3:7: error: 'z' is no suffix of an integer literal\n  ONE(2z)\n      ^\n"
               "c.cl:100:1: error: 'w' is no suffix of an integer literal\n3w\n^\n"
               "4 errors generated.\n");
    help_stop(&h);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_layout),     cmocka_unit_test(test_columns),  cmocka_unit_test(test_long_line),
        cmocka_unit_test(test_repetition), cmocka_unit_test(test_too_many), cmocka_unit_test(test_switches),
        cmocka_unit_test(test_origins),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
