/* Programs with limits: the status arrives whatever the host does with its children, and nothing outlives a deadline. */
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "util/file.h"
#include "util/process.h"

static char errors[64];

static int run(const char *script, qn__process limits) {
    const char *args[] = {"/bin/sh", "-c", script, NULL};
    limits.args = args;
    limits.errors = errors;
    return qn__process_run(&limits);
}

static void assert_said(const char *part) {
    char text[512] = "";
    FILE *file = fopen(errors, "rb");
    assert_non_null(file);
    text[fread(text, 1, sizeof text - 1, file)] = 0;
    fclose(file);
    if (!strstr(text, part)) fail_msg("it said: %s", text);
}

static void the_status_and_the_errors_arrive(void **state) {
    (void)state;
    assert_int_equal(run("exit 0", (qn__process){0}), 0);
    assert_int_equal(run("echo wrong >&2; exit 7", (qn__process){.seconds = 60}), 7);
    assert_said("wrong\n");
    assert_int_equal(run("kill -9 $$", (qn__process){0}), QN__PROCESS_KILLED);
    assert_int_equal(run("echo \"$LC_ALL\" >&2", (qn__process){0}), 0);
    assert_said("C\n");
}

static void a_missing_program_is_a_status(void **state) {
    (void)state;
    const char *args[] = {"/nowhere/cc", NULL}, *many[80];
    assert_int_equal(qn__process_run(&(qn__process){.args = args, .errors = errors}), 127);
    for (size_t i = 0; i < 79; i++) many[i] = "x";
    many[79] = NULL;
    assert_int_equal(qn__process_run(&(qn__process){.args = many, .errors = errors}), QN__PROCESS_FAILED);
    assert_int_equal(errno, E2BIG);
}

static void the_host_may_ignore_its_children(void **state) {
    (void)state;
    void (*before)(int) = signal(SIGCHLD, SIG_IGN);
    /* the program waits for a child of its own, which it could not with SIGCHLD ignored */
    assert_int_equal(run("(exit 5) & wait $!", (qn__process){0}), 5);
    assert_int_equal(run("exit 0", (qn__process){0}), 0);
    signal(SIGCHLD, before);
}

static atomic_bool reaping;

static void *reap_all(void *user) {
    (void)user;
    while (atomic_load(&reaping))
        if (waitpid(-1, NULL, WNOHANG) <= 0) sched_yield();
    return NULL;
}

static void the_host_may_reap_its_children(void **state) {
    (void)state;
    pthread_t thread;
    atomic_store(&reaping, true);
    assert_int_equal(pthread_create(&thread, NULL, reap_all, NULL), 0);
    for (int i = 0; i < 20; i++) assert_int_equal(run("exit 9", (qn__process){0}), 9);
    atomic_store(&reaping, false);
    pthread_join(thread, NULL);
}

static void blocked_signals_do_not_reach_it(void **state) {
    (void)state;
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    const int status = run("kill -TERM $$; exit 3", (qn__process){0});
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    assert_int_equal(status, QN__PROCESS_KILLED);
}

/* Or has ended, and waits for its parent to look. */
static bool is_running(int process) {
    char path[40], state = 'Z';
    snprintf(path, sizeof path, "/proc/%d/stat", process);
    FILE *file = fopen(path, "r");
    if (!file) return false;
    const int fields = fscanf(file, "%*d (%*[^)]) %c", &state);
    fclose(file);
    return fields == 1 && state != 'Z';
}

static void the_deadline_takes_its_children_too(void **state) {
    (void)state;
    char script[160], path[80];
    int number = 0;
    snprintf(path, sizeof path, "%s.child", errors);
    snprintf(script, sizeof script, "sleep 600 & echo $! >%s; sleep 600", path);
    for (unsigned seconds = 1; number == 0 && seconds < 60; seconds *= 3) { /* it may not get there so soon */
        assert_int_equal(run(script, (qn__process){.seconds = seconds}), QN__PROCESS_KILLED);
        FILE *file = fopen(path, "r");
        if (file && fscanf(file, "%d", &number) != 1) number = 0;
        if (file) fclose(file);
    }
    assert_true(number > 1);
    for (int i = 0; i < 60000 && is_running(number); i++)
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    assert_false(is_running(number));
    unlink(path);
}

static void processor_time_has_a_limit(void **state) {
    (void)state;
    assert_int_equal(run("while :; do :; done", (qn__process){.cpu_seconds = 1, .seconds = 120}),
                     QN__PROCESS_KILLED);
}

static void memory_has_a_limit(void **state) {
    (void)state;
    assert_int_equal(run("test $(ulimit -v) = 307200", (qn__process){.memory = (uint64_t)300 << 20}), 0);
}

static void a_limit_of_the_host_stays(void **state) {
    (void)state;
    struct rlimit less = {.rlim_cur = 100, .rlim_max = 100};
    fflush(stdout);
    pid_t child = fork();
    if (child == 0)
        _exit(setrlimit(RLIMIT_CPU, &less) ||
              run("test $(ulimit -t) = 100", (qn__process){.cpu_seconds = 200}));
    int status;
    waitpid(child, &status, 0);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_status_and_the_errors_arrive),
        cmocka_unit_test(a_missing_program_is_a_status),
        cmocka_unit_test(the_host_may_ignore_its_children),
        cmocka_unit_test(the_host_may_reap_its_children),
        cmocka_unit_test(blocked_signals_do_not_reach_it),
        cmocka_unit_test(the_deadline_takes_its_children_too),
        cmocka_unit_test(processor_time_has_a_limit),
        cmocka_unit_test(memory_has_a_limit),
        cmocka_unit_test(a_limit_of_the_host_stays),
    };
    snprintf(errors, sizeof errors, "/tmp/quern-process-XXXXXX");
    const int file = mkstemp(errors);
    if (file < 0) return 1;
    close(file);
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    unlink(errors);
    return failed;
}
