/* Code from the disk cache is run: a folder or a file there that another user can change is not used, whenever it comes
   to be like that, and a warning tells. A process with more rights than its user takes no paths from the environment.
   `unit_api_cache_trust --dir` prints where the cache is. */
#include "api_support.h"

#include <dirent.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <sys/wait.h>

static const char source[] = "kernel void f(global int *a) { a[0] = 5; }\n";
enum { NOBODY = 65534 };

typedef struct place {
    char parent[64], dir[96], aside[96], warning[1024];
    int warnings;
    qn_context *context;
    qn_device *device;
} place;

static void note(void *user, qn_log_level level, const char *message) {
    place *p = user;
    if (level != QN_LOG_WARNING || !strstr(message, "cache")) return;
    p->warnings++;
    snprintf(p->warning, sizeof p->warning, "%s", message);
}

/* Builds and runs; whether it came from the cache. */
static bool is_cached(place *p) {
    qn_program *program;
    qn_program_times times;
    int out = -1;
    assert_ok(p->context, qn_program_create(p->device, &(qn_program_desc){.source = source}, &program));
    assert_ok(p->context, qn_program_get_times(program, &times));
    qn_kernel *kernel = make_kernel(program, p->context, NULL);
    qn_buffer *buffer = make_buffer(p->device, sizeof out, NULL);
    assert_ok(p->context, qn_launch(NULL, kernel, QN_RANGE(1), QN_ARGS(buffer)));
    assert_ok(p->context, qn_buffer_read(buffer, 0, &out, sizeof out));
    assert_int_equal(out, 5);
    qn_buffer_destroy(buffer);
    qn_kernel_destroy(kernel);
    qn_program_destroy(program);
    return times.from_cache;
}

static void open_context(place *p) {
    p->warnings = 0;
    p->context = make_context(&(qn_context_desc){.cpu_compile_first = true,
                                                 .cache_dir = p->dir,
                                                 .log = note,
                                                 .log_user = p,
                                                 .log_level = QN_LOG_WARNING});
    p->device = get_device(p->context, test_device());
    p->warnings = 0;
}

/* A folder with the kernel's entry in it. */
static int setup(void **state) {
    place *p = calloc(1, sizeof *p);
    assert_non_null(p);
    *state = p;
    snprintf(p->parent, sizeof p->parent, "/tmp/quern-trust-XXXXXX");
    assert_non_null(mkdtemp(p->parent));
    snprintf(p->dir, sizeof p->dir, "%s/a/b", p->parent);
    snprintf(p->aside, sizeof p->aside, "%s/aside", p->parent);
    open_context(p);
    is_cached(p);
    assert_true(is_cached(p));
    return 0;
}

static int teardown(void **state) {
    place *p = *state;
    char command[128];
    qn_context_destroy(p->context);
    snprintf(command, sizeof command, "rm -r %s", p->parent);
    int result = system(command);
    free(p);
    return result;
}

static void assert_refused(place *p, const char *part) {
    p->warnings = 0;
    assert_false(is_cached(p));
    assert_int_equal(p->warnings, 1);
    if (!strstr(p->warning, part)) fail_msg("the warning says: %s", p->warning);
    qn_cache_stats stats;
    assert_ok(p->context, qn_cache_get_stats(p->context, &stats));
    assert_int_equal(stats.entries, 0);
    assert_false(is_cached(p)); /* nothing was stored */
    assert_int_equal(p->warnings, 1);
}

static void a_folder_that_others_can_write_to(void **state) {
    place *p = *state;
    assert_int_equal(chmod(p->dir, 0777), 0);
    assert_refused(p, "chmod go-w");
    assert_int_equal(chmod(p->dir, 0755), 0);
    assert_true(is_cached(p));
}

static void a_link_in_the_folders_place(void **state) {
    place *p = *state;
    assert_int_equal(rename(p->dir, p->aside), 0);
    assert_int_equal(symlink(p->aside, p->dir), 0);
    assert_refused(p, "symbolic link");
    assert_fails(p->context, qn_cache_clear(p->context), QN_ERROR_IO, "symbolic link");
    assert_int_equal(unlink(p->dir), 0);
    assert_int_equal(rename(p->aside, p->dir), 0);
    assert_true(is_cached(p));
}

/* As when a cleaner has taken the folder away, and somebody made one in its place. */
static void a_folder_of_another_user(void **state) {
    place *p = *state;
    if (geteuid() != 0) skip(); /* cannot give files away */
    assert_int_equal(chown(p->dir, NOBODY, NOBODY), 0);
    assert_refused(p, "belongs to user 65534");
    assert_fails(p->context, qn_cache_clear(p->context), QN_ERROR_IO, "belongs to user 65534");
}

static void a_folder_in_one_of_another_user(void **state) {
    place *p = *state;
    char above[96];
    if (geteuid() != 0) skip();
    snprintf(above, sizeof above, "%s/a", p->parent);
    assert_ok(p->context, qn_cache_clear(p->context));
    assert_int_equal(rmdir(p->dir), 0);
    assert_int_equal(chown(above, NOBODY, NOBODY), 0);
    assert_refused(p, "another user's folder");
    assert_int_not_equal(access(p->dir, F_OK), 0);
}

static void a_folder_that_was_removed_is_made_again(void **state) {
    place *p = *state;
    assert_ok(p->context, qn_cache_clear(p->context));
    assert_int_equal(rmdir(p->dir), 0);
    assert_false(is_cached(p));
    assert_true(is_cached(p));
    struct stat info;
    assert_int_equal(stat(p->dir, &info), 0);
    assert_int_equal(info.st_mode & 0777, 0700);
}

/* The entry, or the code beside it. */
static void find_file(const place *p, bool entry_file, char *path, size_t size) {
    DIR *dir = opendir(p->dir);
    path[0] = 0;
    for (struct dirent *entry; (entry = readdir(dir));) {
        const char *dot = strchr(entry->d_name, '.');
        if (dot && dot - entry->d_name == 32 && (strcmp(dot, ".qn") == 0) == entry_file)
            snprintf(path, size, "%s/%s", p->dir, entry->d_name);
    }
    closedir(dir);
    assert_true(path[0]);
}

static void files_that_others_can_change(void **state) {
    place *p = *state;
    for (int i = 0; i < 6; i++) {
        char path[512];
        find_file(p, i & 1, path, sizeof path);
        if (i / 2 == 0) {
            assert_int_equal(chmod(path, 0666), 0);
        } else if (i / 2 == 1) {
            assert_int_equal(rename(path, p->aside), 0);
            assert_int_equal(symlink(p->aside, path), 0);
        } else {
            if (geteuid() != 0) break;
            assert_int_equal(chown(path, NOBODY, NOBODY), 0);
        }
        if (is_cached(p)) fail_msg("case %d was loaded", i);
        assert_true(is_cached(p)); /* what was stored is trusted */
    }
}

static void two_contexts_load_one_entry(void **state) {
    place *p = *state;
    place other = {.context = NULL};
    memcpy(other.dir, p->dir, sizeof other.dir);
    open_context(&other);
    assert_true(is_cached(&other));
    assert_true(is_cached(p));
    qn_context_destroy(other.context);
}

/* ---- privileged processes ---- */

static void copy_program(const char *to) {
    char text[4096];
    FILE *in = fopen("/proc/self/exe", "rb"), *out = fopen(to, "wb");
    assert_true(in && out);
    for (size_t n; (n = fread(text, 1, sizeof text, in));) assert_int_equal(fwrite(text, 1, n, out), n);
    fclose(in);
    assert_int_equal(fclose(out), 0);
    assert_int_equal(chmod(to, 04755), 0);
}

/* What the program prints when another user starts it; false: the loader found its libraries only by way of the
   environment, which such a program does not ask. */
static bool run_as_nobody(const char *program, char *text, size_t size) {
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        dup2(ends[1], 1);
        dup2(ends[1], 2);
        if (setgid(NOBODY) || setuid(NOBODY)) _exit(1);
        execl(program, program, "--dir", (char *)NULL);
        _exit(1);
    }
    close(ends[1]);
    ssize_t got = read(ends[0], text, size - 1);
    close(ends[0]);
    text[got > 0 ? got : 0] = 0;
    int status;
    waitpid(child, &status, 0);
    assert_true(WIFEXITED(status));
    if (WEXITSTATUS(status) == 127) return false;
    assert_int_equal(WEXITSTATUS(status), 0);
    return true;
}

static void a_privileged_process_asks_no_environment(void **state) {
    place *p = *state;
    char program[128], text[256];
    if (geteuid() != 0) skip(); /* cannot make a set-user-ID program */
    assert_int_equal(chmod(p->parent, 0755), 0);
    snprintf(program, sizeof program, "%s/program", p->parent);
    copy_program(program);
    setenv("QUERN_CACHE_DIR", "/tmp/quern-chosen", 1);
    setenv("QUERN_LOG", "loud", 1); /* any other process is told that there is no such level */
    char trace[128];
    snprintf(trace, sizeof trace, "%s/trace.json", p->parent);
    setenv("QUERN_TRACE", trace, 1);
    const bool ran = run_as_nobody(program, text, sizeof text);
    unsetenv("QUERN_TRACE");
    unsetenv("QUERN_CACHE_DIR");
    unsetenv("QUERN_LOG");
    if (!ran) skip();                            /* a build with libraries beside it */
    if (strncmp(text, "secure", 6) != 0) skip(); /* /tmp allows no set-user-ID */
    assert_null(strstr(text, "quern-chosen"));
    assert_null(strstr(text, "QUERN_LOG"));
    assert_int_not_equal(access(trace, F_OK), 0);
    assert_non_null(strstr(text, "/tmp/quern-0"));
}

static int print_dir(void) {
    qn_context *context;
    if (qn_context_create(NULL, &context)) return 1;
    printf("%s %s\n", getauxval(AT_SECURE) ? "secure" : "plain", qn_cache_dir(context));
    qn_context_destroy(context);
    return 0;
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(int argc, char **argv) {
    if (argc > 1 && strcmp(argv[1], "--dir") == 0) return print_dir();
    const struct CMUnitTest tests[] = {
        TEST(a_privileged_process_asks_no_environment), /* it forks: drivers do not survive that */
        TEST(a_folder_that_others_can_write_to),
        TEST(a_link_in_the_folders_place),
        TEST(a_folder_of_another_user),
        TEST(a_folder_in_one_of_another_user),
        TEST(a_folder_that_was_removed_is_made_again),
        TEST(files_that_others_can_change),
        TEST(two_contexts_load_one_entry),
    };
    if (text_is_kept()) {
        printf("skipped: the cache has text, which the driver compiles\n");
        return TEST_SKIPPED;
    }
    return run_device_tests(tests);
}
