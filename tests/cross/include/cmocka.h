/* Stands in for cmocka where that is not to be had: for machines that tests are built for but not on. It has what the
   tests of quern use of it, under the same names. One program has one group at a time, and asserts on its main thread. */
#ifndef QN_CMOCKA_H
#define QN_CMOCKA_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

typedef void (*CMUnitTestFunction)(void **state);
typedef int (*CMFixtureFunction)(void **state);

struct CMUnitTest {
    const char *name;
    CMUnitTestFunction test_func;
    CMFixtureFunction setup_func, teardown_func;
    void *initial_state;
};

#define cmocka_unit_test(function)                                                                           \
    { #function, function, NULL, NULL, NULL }
#define cmocka_unit_test_setup_teardown(function, setup, teardown)                                           \
    { #function, function, setup, teardown, NULL }
#define cmocka_run_group_tests(tests, setup, teardown)                                                       \
    _cmocka_run_group_tests(#tests, tests, sizeof(tests) / sizeof *(tests), setup, teardown)
#define cmocka_run_group_tests_name(name, tests, setup, teardown)                                            \
    _cmocka_run_group_tests(name, tests, sizeof(tests) / sizeof *(tests), setup, teardown)

/* How a test ended; 0: it runs, or came to its end. */
enum { CMOCKA_FAILED = 1, CMOCKA_SKIPPED };
static jmp_buf cmocka_end;

static inline void print_message(const char *format, ...) {
    va_list list;
    va_start(list, format);
    vprintf(format, list);
    va_end(list);
}
static inline void print_error(const char *format, ...) {
    va_list list;
    va_start(list, format);
    vfprintf(stderr, format, list);
    va_end(list);
}

static inline _Noreturn void cmocka_leave(int how, const char *file, int line) {
    fprintf(stderr, "%s:%d: %s\n", file, line, how == CMOCKA_FAILED ? "failed" : "skipped");
    longjmp(cmocka_end, how);
}
#define fail()        cmocka_leave(CMOCKA_FAILED, __FILE__, __LINE__)
#define skip()        cmocka_leave(CMOCKA_SKIPPED, __FILE__, __LINE__)
#define fail_msg(...) (print_error(__VA_ARGS__), print_error("\n"), fail())

static inline void cmocka_assert(int holds, const char *what, const char *file, int line) {
    if (holds) return;
    print_error("not so: %s\n", what);
    cmocka_leave(CMOCKA_FAILED, file, line);
}
static inline void cmocka_assert_equal(uintmax_t a, uintmax_t b, int wanted, const char *what,
                                       const char *file, int line) {
    if ((a == b) == wanted) return;
    print_error("not so: %s (%#jx and %#jx)\n", what, a, b);
    cmocka_leave(CMOCKA_FAILED, file, line);
}
static inline void cmocka_assert_text(const char *a, const char *b, const char *file, int line) {
    if (a && b && strcmp(a, b) == 0) return;
    print_error("\"%s\" is not \"%s\"\n", a ? a : "NULL", b ? b : "NULL");
    cmocka_leave(CMOCKA_FAILED, file, line);
}

#define assert_true(condition)     cmocka_assert(!!(condition), #condition, __FILE__, __LINE__)
#define assert_false(condition)    cmocka_assert(!(condition), "!(" #condition ")", __FILE__, __LINE__)
#define assert_null(pointer)       cmocka_assert((pointer) == NULL, #pointer " == NULL", __FILE__, __LINE__)
#define assert_non_null(pointer)   cmocka_assert((pointer) != NULL, #pointer " != NULL", __FILE__, __LINE__)
#define assert_ptr_equal(a, b)     cmocka_assert((a) == (b), #a " == " #b, __FILE__, __LINE__)
#define assert_ptr_not_equal(a, b) cmocka_assert((a) != (b), #a " != " #b, __FILE__, __LINE__)
#define assert_int_equal(a, b)                                                                               \
    cmocka_assert_equal((uintmax_t)(a), (uintmax_t)(b), 1, #a " == " #b, __FILE__, __LINE__)
#define assert_int_not_equal(a, b)                                                                           \
    cmocka_assert_equal((uintmax_t)(a), (uintmax_t)(b), 0, #a " != " #b, __FILE__, __LINE__)
#define assert_in_range(value, low, high)                                                                    \
    cmocka_assert((uintmax_t)(value) >= (uintmax_t)(low) && (uintmax_t)(value) <= (uintmax_t)(high),         \
                  #value " in " #low " to " #high, __FILE__, __LINE__)
#define assert_string_equal(a, b) cmocka_assert_text(a, b, __FILE__, __LINE__)
#define assert_memory_equal(a, b, size)                                                                      \
    cmocka_assert(memcmp(a, b, size) == 0, "the bytes of " #a " and " #b " are equal", __FILE__, __LINE__)

static inline int cmocka_step(CMFixtureFunction fixture, CMUnitTestFunction test, void **state) {
    switch (setjmp(cmocka_end)) {
    case 0: break;
    case CMOCKA_SKIPPED: return CMOCKA_SKIPPED;
    default: return CMOCKA_FAILED;
    }
    if (test) test(state);
    return fixture && fixture(state) != 0 ? CMOCKA_FAILED : 0;
}
static inline int cmocka_run(const struct CMUnitTest *test, void **state) {
    if (cmocka_step(test->setup_func, NULL, state)) return CMOCKA_FAILED;
    const int how = cmocka_step(NULL, test->test_func, state);
    return cmocka_step(test->teardown_func, NULL, state) ? CMOCKA_FAILED : how;
}

/* The number of tests that failed. */
static inline int _cmocka_run_group_tests(const char *name, const struct CMUnitTest *tests, size_t count,
                                          CMFixtureFunction setup, CMFixtureFunction teardown) {
    static const char *const words[] = {"       OK ", "  FAILED  ", " SKIPPED  "};
    void *group_state = NULL;
    int failed = 0;
    if (setup && setup(&group_state) != 0) {
        print_error("%s: the group's setup failed\n", name);
        return (int)count;
    }
    for (size_t i = 0; i < count; i++) {
        void *state = tests[i].initial_state ? tests[i].initial_state : group_state;
        const int how = cmocka_run(&tests[i], &state);
        failed += how == CMOCKA_FAILED;
        print_message("[%s] %s\n", words[how], tests[i].name);
        fflush(stdout);
    }
    if (teardown) teardown(&group_state);
    return failed;
}

#endif
