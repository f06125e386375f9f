/* The C compiler of the CPU device: whatever the host does with its children, whatever the compiler refuses, and however
   long it would take, kernels run; and its files lie where nobody else can change them, and are gone afterwards. Shell
   scripts stand in for the compiler. */
#include "api_support.h"

#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/file.h>
#include <sys/stat.h>

static const char source[] = "kernel void f(global int *a, local int *l) {\n"
                             "    local int own[20];\n"
                             "    int i = get_local_id(0);\n"
                             "    own[i] = i; l[i] = 1;\n"
                             "    barrier(CLK_LOCAL_MEM_FENCE);\n"
                             "    a[get_global_id(0)] = own[3 - i] + l[3 - i];\n"
                             "}\n";

typedef struct place {
    char dir[64], compiler[96], calls[96], temporary[256], log[4096];
    qn_context *context;
} place;

static void note(void *user, qn_log_level level, const char *message) {
    place *p = user;
    const size_t length = strlen(p->log);
    if (level == QN_LOG_WARNING) snprintf(p->log + length, sizeof p->log - length, "%s\n", message);
}

static int setup(void **state) {
    place *p = calloc(1, sizeof *p);
    assert_non_null(p);
    snprintf(p->dir, sizeof p->dir, "/tmp/quern-compiler-XXXXXX");
    assert_non_null(mkdtemp(p->dir));
    snprintf(p->compiler, sizeof p->compiler, "%s/compiler", p->dir);
    snprintf(p->calls, sizeof p->calls, "%s/calls", p->dir);
    /* longer than 40 characters */
    snprintf(p->temporary, sizeof p->temporary, "%s/a-folder-for-temporary-files-with-a-long-name", p->dir);
    assert_int_equal(mkdir(p->temporary, 0700), 0);
    setenv("TMPDIR", p->temporary, 1);
    *state = p;
    return 0;
}

static int teardown(void **state) {
    place *p = *state;
    char command[128];
    unsetenv("TMPDIR");
    signal(SIGCHLD, SIG_DFL);
    snprintf(command, sizeof command, "rm -r %s", p->dir);
    int result = system(command);
    free(p);
    return result;
}

/* A compiler that notes how it is called, does `script`, and is then the system's. */
static void write_compiler(const place *p, const char *script) {
    FILE *file = fopen(p->compiler, "wb");
    assert_non_null(file);
    fprintf(file, "#!/bin/sh\necho \"$*\" >>%s\n%s\nexec cc \"$@\"\n", p->calls, script);
    fclose(file);
    assert_int_equal(chmod(p->compiler, 0755), 0);
}

/* How often it was called with a text among its arguments. */
static int count_calls(const place *p, const char *with) {
    char line[4096];
    FILE *file = fopen(p->calls, "rb");
    int count = 0;
    while (file && fgets(line, sizeof line, file)) count += strstr(line, with) != NULL;
    if (file) fclose(file);
    return count;
}

static qn_status build(place *p, const char *compiler, bool cache, qn_program **program) {
    p->log[0] = 0;
    p->context = make_context(&(qn_context_desc){.cpu_compiler = compiler,
                                                 .cpu_compile_first = true,
                                                 .cache_dir = cache ? p->dir : NULL,
                                                 .disable_cache = !cache,
                                                 .log = note,
                                                 .log_user = p,
                                                 .log_level = QN_LOG_WARNING});
    return qn_program_create(get_device(p->context, "cpu"), &(qn_program_desc){.source = source}, program);
}

/* Builds and runs in a new context; whether the program came from the cache. */
static bool run_cached(place *p, const char *compiler, bool cache) {
    qn_program *program;
    qn_program_times times;
    int out[4];
    assert_ok(p->context, build(p, compiler, cache, &program));
    assert_ok(p->context, qn_program_get_times(program, &times));
    qn_kernel *kernel = make_kernel(program, p->context, NULL);
    qn_buffer *buffer = make_buffer(get_device(p->context, "cpu"), sizeof out, NULL);
    assert_ok(p->context, qn_launch(NULL, kernel, QN_RANGE_LOCAL(QN_GROUP(4), QN_GROUP(4)),
                                    QN_ARGS(buffer, qn_arg_local(16))));
    assert_ok(p->context, qn_buffer_read(buffer, 0, out, sizeof out));
    for (int i = 0; i < 4; i++) assert_int_equal(out[i], 4 - i);
    qn_context_destroy(p->context);
    return times.from_cache;
}

static void run(place *p, const char *compiler) { run_cached(p, compiler, false); }

/* ---- the host's children ---- */

static void the_host_ignores_its_children(void **state) {
    signal(SIGCHLD, SIG_IGN);
    run(*state, NULL);
}

static atomic_bool reaping;

static void *reap_all(void *user) {
    (void)user;
    while (atomic_load(&reaping))
        if (waitpid(-1, NULL, WNOHANG) <= 0) sched_yield();
    return NULL;
}

static void the_host_reaps_its_children(void **state) {
    pthread_t thread;
    atomic_store(&reaping, true);
    assert_int_equal(pthread_create(&thread, NULL, reap_all, NULL), 0);
    run(*state, NULL);
    atomic_store(&reaping, false);
    pthread_join(thread, NULL);
}

/* ---- what the compiler cannot do ---- */

static void a_refused_flag_is_left_out(void **state) {
    place *p = *state;
    write_compiler(p,
                   "case \"$*\" in *-march=native*) echo \"error: bad value 'native'\" >&2; exit 1;; esac");
    run(p, p->compiler);
    assert_non_null(strstr(p->log, "refuses -march=native"));
    assert_int_equal(count_calls(p, ""), 2);
    qn_program *program;
    assert_ok(p->context, build(p, p->compiler, false, &program));
    assert_ok(p->context, qn_program_create(get_device(p->context, "cpu"),
                                            &(qn_program_desc){.source = "kernel void g() {}"}, &program));
    assert_int_equal(count_calls(p, "-march=native"), 2); /* once a device */
    qn_context_destroy(p->context);
}

static void an_error_is_an_error(void **state) {
    place *p = *state;
    qn_program *program;
    write_compiler(p, "echo 'kernel.c:7: error: no such thing' >&2; exit 1");
    assert_fails(p->context, build(p, p->compiler, false, &program), QN_ERROR_DRIVER, "error: no such thing");
    assert_string_equal(p->log, "");
    qn_context_destroy(p->context);
    snprintf(p->compiler, sizeof p->compiler, "%s/calls", p->dir); /* no program, though it may be run */
    assert_int_equal(chmod(p->calls, 0755), 0);
    assert_fails(p->context, build(p, p->compiler, false, &program), QN_ERROR_DRIVER, "the C compiler");
    qn_context_destroy(p->context);
}

static void limits_are_set(void **state) {
    place *p = *state;
    write_compiler(p, "test $(ulimit -t) -le 60 && test $(ulimit -v) -le 4194304 || exit 1");
    run(p, p->compiler);
}

static void a_cheaper_level_is_tried(void **state) {
    place *p = *state;
    const char *const signs[] = {"echo 'cc1: out of memory allocating 7 bytes' >&2; exit 1", "kill -KILL $$",
                                 "echo 'cc: fatal error: Killed signal terminated program cc1' >&2; exit 1",
                                 "echo 'internal compiler error: in f' >&2; exit 4"};
    for (size_t i = 0; i < 4; i++) {
        char script[200];
        snprintf(script, sizeof script, "case \"$*\" in *-O0*) ;; *) %s;; esac", signs[i]);
        write_compiler(p, script);
        run(p, p->compiler);
        if (!strstr(p->log, "at -O2 the C compiler does not compile kernel f") ||
            !strstr(p->log, "it is compiled at -O0"))
            fail_msg("case %zu was told as: %s", i, p->log);
    }
    assert_int_equal(count_calls(p, "-O2"), 4);
    assert_int_equal(count_calls(p, "-O0"), 4);
}

static void what_no_level_compiles_is_interpreted(void **state) {
    place *p = *state;
    write_compiler(p, "kill -KILL $$");
    run(p, p->compiler);
    assert_non_null(strstr(p->log, "it is interpreted"));
    assert_int_equal(count_calls(p, ""), 2);
    assert_false(run_cached(p, p->compiler, true));
    assert_int_equal(count_calls(p, ""), 4);
    assert_true(run_cached(p, p->compiler, true)); /* the cache knows */
    assert_non_null(strstr(p->log, "it is interpreted"));
    assert_int_equal(count_calls(p, ""), 4);
}

/* ---- large constants ---- */

static const char large_source[] =
    "constant int a[1 << 20] = {5, 6, 7, [70000] = 8, [1048575] = 9};\n"
    "constant struct { char c; float4 f; } s[20000] = {[19999] = {3, (float4)(1, 2, 3, 4)}};\n"
    "constant int small[3] = {1, 2, 3};\n"
    "constant int *constant p[2] = {a + 70000, small + 1};\n"
    "kernel void f(global int *o) { int i = get_global_id(0);\n"
    "    const int at[4] = {1, 69999, 70000, 1048575};\n"
    "    o[i] = a[at[i]] + s[19996 + i].c * 100 + (int)s[19996 + i].f.w * 1000 + p[i & 1][0] * 10000; }\n";

/* Compiles and runs it; whether it came from the cache. */
static bool run_large(place *p, const char *compiler) {
    static const int wanted[4] = {80006, 20000, 80008, 20000 + 9 + 300 + 4000};
    qn_program *program;
    qn_program_times times;
    int out[4];
    qn_context *context = make_context(&(qn_context_desc){.cpu_compiler = compiler, .cache_dir = p->dir});
    qn_device *device = get_device(context, "cpu");
    assert_ok(context, qn_program_create(device, &(qn_program_desc){.source = large_source}, &program));
    assert_ok(context, qn_program_wait(program, QN_FOREVER));
    assert_ok(context, qn_program_get_times(program, &times));
    qn_buffer *buffer = make_buffer(device, sizeof out, NULL);
    assert_ok(context, qn_launch(NULL, make_kernel(program, context, NULL), QN_RANGE(4), QN_ARGS(buffer)));
    assert_ok(context, qn_buffer_read(buffer, 0, out, sizeof out));
    for (int i = 0; i < 4; i++) assert_int_equal(out[i], wanted[i]);
    qn_context_destroy(context);
    return times.from_cache;
}

static void large_constants_are_not_spelled(void **state) {
    place *p = *state;
    write_compiler(p, "for f; do case $f in *.c) test $(wc -c <$f) -lt 50000 || exit 1;; esac; done");
    assert_false(run_large(p, p->compiler));
    assert_true(run_large(p, p->compiler));
    run_large(p, "none");
}

/* ---- its files ---- */

static int count_folders(const place *p) {
    DIR *dir = opendir(p->temporary);
    int count = 0;
    for (struct dirent *entry; (entry = readdir(dir));) count += entry->d_name[0] != '.';
    closedir(dir);
    return count;
}

static void files_lie_in_the_folder_that_is_named(void **state) {
    place *p = *state;
    write_compiler(p, "");
    run(p, p->compiler);
    assert_int_equal(count_calls(p, p->temporary), 1);
    assert_int_equal(count_folders(p), 0);
}

static void a_folder_that_others_can_change_is_not_used(void **state) {
    place *p = *state;
    write_compiler(p, "");
    assert_int_equal(chmod(p->temporary, 0777), 0);
    run(p, p->compiler);
    assert_int_equal(count_calls(p, p->temporary), 0);
    assert_non_null(strstr(p->log, "$TMPDIR"));
    assert_int_equal(chmod(p->temporary, 01777), 0); /* others cannot rename in it */
    run(p, p->compiler);
    assert_int_equal(count_calls(p, p->temporary), 1);
}

/* As if it had been made long ago. */
static void make_old(const char *path) {
    const struct timespec times[2] = {{.tv_sec = 1000000000}, {.tv_sec = 1000000000}};
    assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
}

static void make_left(const place *p, const char *name, bool old, char path[600]) {
    char file[620];
    snprintf(path, 600, "%s/%s", p->temporary, name);
    assert_int_equal(mkdir(path, 0700), 0);
    snprintf(file, sizeof file, "%s/kernel.c", path);
    FILE *text = fopen(file, "wb");
    assert_non_null(text);
    fclose(text);
    if (old) make_old(path);
}

static void a_killed_process_leaves_nothing_for_long(void **state) {
    place *p = *state;
    char path[600];
    write_compiler(p, "sleep 10; exit 1");
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        qn_program *program;
        build(p, p->compiler, false, &program);
        _exit(0);
    }
    while (count_calls(p, "") == 0) nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    assert_int_equal(count_folders(p), 1);
    DIR *dir = opendir(p->temporary);
    for (struct dirent *entry; (entry = readdir(dir));)
        if (entry->d_name[0] != '.') snprintf(path, sizeof path, "%s/%s", p->temporary, entry->d_name);
    closedir(dir);
    run(p, NULL);
    assert_int_equal(count_folders(p), 1); /* so young that it may just have been made */
    make_old(path);
    run(p, NULL);
    assert_int_equal(count_folders(p), 0);
}

static void what_is_in_use_or_not_ours_stays(void **state) {
    place *p = *state;
    char used[600], other[600], foreign[600], linked[600];
    make_left(p, "quern-work-used00", true, used);
    make_left(p, "something-else", true, other);
    make_left(p, "quern-work-nobody", true, foreign);
    snprintf(linked, sizeof linked, "%s/quern-work-linked", p->temporary);
    assert_int_equal(symlink(other, linked), 0);
    if (geteuid() == 0) assert_int_equal(chown(foreign, 65534, 65534), 0);
    const int folder = open(used, O_RDONLY | O_DIRECTORY);
    assert_true(folder >= 0);
    assert_int_equal(flock(folder, LOCK_EX), 0);
    run(p, NULL);
    assert_int_equal(count_folders(p), geteuid() == 0 ? 4 : 3);
    close(folder);
    run(p, NULL);
    assert_int_equal(access(used, F_OK), -1);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(the_host_ignores_its_children),
        TEST(the_host_reaps_its_children),
        TEST(a_refused_flag_is_left_out),
        TEST(an_error_is_an_error),
        TEST(limits_are_set),
        TEST(a_cheaper_level_is_tried),
        TEST(what_no_level_compiles_is_interpreted),
        TEST(large_constants_are_not_spelled),
        TEST(files_lie_in_the_folder_that_is_named),
        TEST(a_folder_that_others_can_change_is_not_used),
        TEST(a_killed_process_leaves_nothing_for_long),
        TEST(what_is_in_use_or_not_ours_stays),
    };
    if (system("cc --version >/dev/null 2>&1") != 0) {
        printf("skipped: there is no C compiler\n");
        return TEST_SKIPPED;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
