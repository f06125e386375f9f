/* The disk cache: a second context compiles nothing, damage is noticed, changed includes count, processes
   share it, the size is bounded. `unit_api_cache N`: it is N processes that share. */
#include "api_support.h"

#include <dirent.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static const char source[] = "#include \"value.h\"\nkernel void f(global int *a) { a[0] = VALUE; }\n"
                             "kernel void image(image2d_t a) {}\n"; /* refused, from the cache as well */

enum { MAX_PROCESSES = 16 };
static int processes = 4;

typedef struct place {
    char dir[64], header[96], options[96];
} place;

static place make_place(void) {
    place p;
    snprintf(p.dir, sizeof p.dir, "/tmp/quern-cache-XXXXXX");
    assert_non_null(mkdtemp(p.dir));
    snprintf(p.header, sizeof p.header, "%s/value.h", p.dir);
    snprintf(p.options, sizeof p.options, "-I %s", p.dir);
    return p;
}

static void write_text(const char *path, const char *text) {
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static void remove_place(const place *p) {
    char command[128];
    snprintf(command, sizeof command, "rm -r %s", p->dir);
    assert_int_equal(system(command), 0);
}

/* Builds and runs in a new context; the kernel's result, and whether it came from the cache. */
static int run(const place *p, bool *cached, uint64_t limit) {
    qn_context *context = make_context(
        &(qn_context_desc){.cache_dir = p->dir, .cache_limit = limit, .cpu_compile_first = true});
    qn_device *device = get_device(context, test_device());
    qn_program *program;
    qn_program_times times;
    int out = -1;
    assert_ok(context, qn_program_create(device, &(qn_program_desc){.source = source, .options = p->options},
                                         &program));
    assert_ok(context, qn_program_get_times(program, &times));
    qn_kernel *kernel = NULL;
    assert_int_equal(qn_kernel_create(program, "image", &kernel), QN_ERROR_UNSUPPORTED);
    assert_non_null(strstr(qn_error_message(context), "kernel.cl:3: kernel 'image' uses 'image2d_t'"));
    kernel = make_kernel(program, context, NULL);
    qn_buffer *buffer = make_buffer(device, sizeof out, NULL);
    assert_ok(context, qn_launch(NULL, kernel, QN_RANGE(1), QN_ARGS(buffer)));
    assert_ok(context, qn_buffer_read(buffer, 0, &out, sizeof out));
    *cached = times.from_cache;
    qn_context_destroy(context);
    return out;
}

static bool keeps_text; /* asked before the tests: drivers do not survive that a process forks */

static void a_second_context_loads(void **state) {
    (void)state;
    if (keeps_text) skip();
    place p = make_place();
    bool cached;
    write_text(p.header, "#define VALUE 5\n");
    assert_int_equal(run(&p, &cached, 0), 5);
    assert_false(cached);
    assert_int_equal(run(&p, &cached, 0), 5);
    assert_true(cached);
    write_text(p.header, "#define VALUE 6\n"); /* an include has changed */
    assert_int_equal(run(&p, &cached, 0), 6);
    assert_false(cached);
    remove_place(&p);
}

/* A program that is still loaded must not stand in for one that was built of changed files. */
static void changed_includes_count_beside_a_live_program(void **state) {
    (void)state;
    place p = make_place();
    qn_context *context = make_context(&(qn_context_desc){.cache_dir = p.dir, .cpu_compile_first = true});
    qn_device *device = get_device(context, test_device());
    bool cached;
    for (int value = 5; value < 8; value++) {
        char text[40];
        int out = -1;
        qn_program *program;
        snprintf(text, sizeof text, "#define VALUE %d\n", value);
        write_text(p.header, text);
        if (value == 7) assert_int_equal(run(&p, &cached, 0), 7); /* from the cache, below */
        qn_program_desc desc = {.source = source, .options = p.options};
        assert_ok(context, qn_program_create(device, &desc, &program));
        qn_kernel *kernel = make_kernel(program, context, NULL);
        qn_buffer *buffer = make_buffer(device, sizeof out, NULL);
        assert_ok(context, qn_launch(NULL, kernel, QN_RANGE(1), QN_ARGS(buffer)));
        assert_ok(context, qn_buffer_read(buffer, 0, &out, sizeof out));
        assert_int_equal(out, value);
    }
    qn_context_destroy(context);
    remove_place(&p);
}

/* Flips a byte in the middle of each entry, or of each other file of the cache (named by 32 digits), or cuts it
   off. */
static int damage(const place *p, bool entry_file, bool cut) {
    DIR *dir = opendir(p->dir);
    int count = 0;
    for (struct dirent *entry; (entry = readdir(dir));) {
        char path[400];
        const char *dot = strchr(entry->d_name, '.');
        if (!dot || dot - entry->d_name != 32 || (strcmp(dot, ".qn") == 0) != entry_file) continue;
        snprintf(path, sizeof path, "%s/%s", p->dir, entry->d_name);
        struct stat info;
        assert_int_equal(stat(path, &info), 0);
        if (cut)
            assert_int_equal(truncate(path, info.st_size / 2), 0);
        else {
            FILE *file = fopen(path, "r+b");
            fseek(file, info.st_size / 2, SEEK_SET);
            int byte = fgetc(file);
            fseek(file, info.st_size / 2, SEEK_SET);
            fputc(byte ^ 0x55, file);
            fclose(file);
        }
        count++;
    }
    closedir(dir);
    return count;
}

static void damaged_entries_are_rebuilt(void **state) {
    (void)state;
    if (keeps_text) skip();
    place p = make_place();
    bool cached;
    write_text(p.header, "#define VALUE 7\n");
    assert_int_equal(run(&p, &cached, 0), 7);
    for (int i = 0; i < 4; i++) {
        assert_int_equal(damage(&p, i & 1, i & 2), 1);
        assert_int_equal(run(&p, &cached, 0), 7);
        assert_false(cached);
        assert_int_equal(run(&p, &cached, 0), 7);
        assert_true(cached);
    }
    remove_place(&p);
}

static void the_size_is_bounded(void **state) {
    (void)state;
    place p = make_place();
    qn_context *context =
        make_context(&(qn_context_desc){.cache_dir = p.dir, .cache_limit = 60000, .cpu_compile_first = true});
    qn_device *device = get_device(context, test_device());
    qn_cache_stats stats;
    for (int i = 0; i < 8; i++) {
        char text[100];
        qn_program *program;
        snprintf(text, sizeof text, "kernel void f(global int *a) { a[0] = %d; }", i);
        assert_ok(context, qn_program_create(device, &(qn_program_desc){.source = text}, &program));
        qn_program_destroy(program);
    }
    assert_ok(context, qn_cache_get_stats(context, &stats));
    assert_true(stats.bytes <= 60000);
    assert_int_equal(stats.misses, 8);
    assert_ok(context, qn_cache_clear(context));
    assert_ok(context, qn_cache_get_stats(context, &stats));
    assert_int_equal(stats.entries, 0);
    qn_context_destroy(context);
    remove_place(&p);
}

/* In a process of its own, as a user's second start: a driver may remember what this process has compiled. */
static int run_in_process(const place *p) {
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        bool cached;
        int value = run(p, &cached, 0);
        _exit(value == 8 ? cached : 2);
    }
    int status = -1;
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void a_second_process_compiles_nothing(void **state) {
    (void)state;
    if (keeps_text) skip();
    place p = make_place();
    write_text(p.header, "#define VALUE 8\n");
    assert_int_equal(run_in_process(&p), 0);
    assert_int_equal(run_in_process(&p), 1);
    assert_int_equal(run_in_process(&p), 1);
    remove_place(&p);
}

static void processes_share_it(void **state) {
    (void)state;
    if (keeps_text) skip();
    place p = make_place();
    write_text(p.header, "#define VALUE 9\n");
    pid_t children[MAX_PROCESSES];
    for (int i = 0; i < processes; i++) {
        children[i] = fork();
        if (children[i] == 0) {
            bool cached;
            for (int n = 0; n < 2; n++)
                if (run(&p, &cached, 0) != 9) _exit(1);
            _exit(cached ? 0 : 2);
        }
    }
    for (int i = 0; i < processes; i++) {
        int status;
        waitpid(children[i], &status, 0);
        assert_true(WIFEXITED(status));
        assert_int_equal(WEXITSTATUS(status), 0);
    }
    remove_place(&p);
}

static void it_can_be_off(void **state) {
    (void)state;
    qn_context *context = make_context(&(qn_context_desc){.disable_cache = true});
    assert_string_equal(qn_cache_dir(context), "");
    qn_device *device = get_device(context, test_device());
    make_program(device, "kernel void f(global int *a) { a[0] = 1; }");
    qn_context_destroy(context);
}

int main(int argc, char **argv) {
    if (argc > 1) processes = (int)strtol(argv[1], NULL, 10);
    if (processes < 1 || processes > MAX_PROCESSES) return 2;
    keeps_text = text_is_kept();
    const struct CMUnitTest tests[] = {
        /* first those that fork: drivers do not survive that */
        cmocka_unit_test(a_second_process_compiles_nothing),
        cmocka_unit_test(processes_share_it),
        cmocka_unit_test(a_second_context_loads),
        cmocka_unit_test(changed_includes_count_beside_a_live_program),
        cmocka_unit_test(damaged_entries_are_rebuilt),
        cmocka_unit_test(the_size_is_bounded),
        cmocka_unit_test(it_can_be_off),
    };
    return run_device_tests(tests);
}
