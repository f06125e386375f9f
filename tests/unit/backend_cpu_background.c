/* The C compiler in the background of the CPU device. A script stands in for it: it waits for a file to be there, and
   makes 222 of each 111 in the C text, so that a result shows which form of the kernel has computed it. */
#include "api_support.h"

#include <sys/stat.h>

static const char source[] = "kernel void release(global volatile atomic_int *go) { atomic_store(go, 1); }\n"
                             "kernel void plain(global int *out) { out[get_global_id(0)] = 111; }\n"
                             "kernel void reads(global int *out, global volatile atomic_int *go) {\n"
                             "    while (atomic_load(go) == 0);\n"
                             "    out[get_global_id(0)] = 111;\n"
                             "}\n"
                             "kernel void writes(global int *out, global volatile atomic_int *go) {\n"
                             "    out[get_global_id(0)] = 111;\n"
                             "    while (atomic_load(go) == 0);\n"
                             "}\n"
                             "kernel void tells(int n) { printf(\"111 %d\\n\", n); }\n";

enum { N = 1024, GROUP = 256, INTERPRETED = 111, COMPILED = 222 };

typedef struct place {
    char dir[32], compiler[64], gate[64], pid[64], log[1024], printed[256];
    qn_context *context;
    qn_device *device;
    qn_program *program;
    qn_buffer *out, *go;
} place;

static void note(void *user, qn_log_level level, const char *message) {
    place *p = user;
    if (level == QN_LOG_WARNING) snprintf(p->log, sizeof p->log, "%s", message);
}

static void collect(void *user, const char *text, size_t size) {
    place *p = user;
    snprintf(p->printed, sizeof p->printed, "%.*s", (int)size, text);
}

static void write_file(const char *path, const char *text, mode_t mode) {
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
    assert_int_equal(chmod(path, mode), 0);
}

/* A folder with a compiler that waits; `last` is its last command, for the source $s and the arguments "$@". */
static place make_place(const char *last) {
    place p = {.dir = "/tmp/quern-late-XXXXXX"};
    char text[700];
    assert_non_null(mkdtemp(p.dir));
    snprintf(p.compiler, sizeof p.compiler, "%s/cc", p.dir);
    snprintf(p.gate, sizeof p.gate, "%s/gate", p.dir);
    snprintf(p.pid, sizeof p.pid, "%s/pid", p.dir);
    snprintf(text, sizeof text,
             "#!/bin/sh\necho $$ >> %s\nwhile [ ! -e %s ]; do sleep 0.01; done\n"
             "for a in \"$@\"; do case $a in *kernel.c) s=$a;; esac; done\n"
             "sed -i 's/111/222/g' \"$s\"\n%s\n",
             p.pid, p.gate, last);
    write_file(p.compiler, text, 0700);
    return p;
}

static void open_gate(const place *p) { write_file(p->gate, "", 0600); }

static void remove_place(const place *p) {
    char command[64];
    snprintf(command, sizeof command, "rm -r %s", p->dir);
    assert_int_equal(system(command), 0);
}

static void start(place *p, const qn_context_desc *more) {
    qn_context_desc desc = more ? *more : (qn_context_desc){.disable_cache = true};
    desc.cpu_compiler = p->compiler;
    desc.cpu_threads = 1;
    desc.log = note;
    desc.log_user = p;
    desc.log_level = QN_LOG_WARNING;
    desc.print = collect;
    desc.print_user = p;
    p->log[0] = p->printed[0] = 0;
    p->context = make_context(&desc);
    p->device = get_device(p->context, "cpu");
    p->out = make_buffer(p->device, N * sizeof(int), NULL);
    p->go = make_buffer(p->device, sizeof(int), NULL);
    assert_ok(p->context, qn_program_create(p->device, &(qn_program_desc){.source = source}, &p->program));
}

static qn_status launch(place *p, qn_stream *stream, const char *name) {
    qn_kernel *kernel = make_kernel(p->program, p->context, name);
    const qn_range *range = QN_RANGE_LOCAL(QN_GROUP(N), QN_GROUP(GROUP));
    const qn_status status = strcmp(name, "plain") == 0
                                 ? qn_launch(stream, kernel, range, QN_ARGS(p->out))
                                 : qn_launch(stream, kernel, range, QN_ARGS(p->out, p->go));
    qn_kernel_destroy(kernel);
    return status;
}

/* The first and the last work-item have these results. */
static void check(place *p, int first, int last) {
    int out[N];
    assert_ok(p->context, qn_buffer_read(p->out, 0, out, sizeof out));
    assert_int_equal(out[0], first);
    assert_int_equal(out[N - 1], last);
}

/* ---- what runs when ---- */

static void the_first_launch_does_not_wait(void **state) {
    (void)state;
    place p = make_place("exec cc \"$@\"");
    start(&p, NULL);
    qn_program_times times;
    assert_ok(p.context, launch(&p, NULL, "plain"));
    check(&p, INTERPRETED, INTERPRETED);
    qn_kernel *tells = make_kernel(p.program, p.context, "tells");
    assert_ok(p.context, qn_launch(NULL, tells, QN_RANGE(1), QN_ARGS(7)));
    assert_ok(p.context, qn_device_wait(p.device, QN_FOREVER));
    assert_string_equal(p.printed, "111 7\n");
    assert_fails(p.context, qn_program_wait(p.program, 1000000), QN_ERROR_TIMEOUT, "not done in 1 ms");
    open_gate(&p);
    assert_ok(p.context, qn_program_wait(p.program, QN_FOREVER));
    assert_ok(p.context, qn_program_wait(p.program, 0));
    assert_ok(p.context, qn_program_get_times(p.program, &times));
    assert_true(times.driver_ns > 1000000);
    assert_ok(p.context, launch(&p, NULL, "plain"));
    check(&p, COMPILED, COMPILED);
    assert_ok(p.context, qn_launch(NULL, tells, QN_RANGE(1), QN_ARGS(7)));
    assert_ok(p.context, qn_device_wait(p.device, QN_FOREVER));
    assert_string_equal(p.printed, "222 7\n");
    assert_string_equal(p.log, "");
    qn_context_destroy(p.context);
    remove_place(&p);
}

/* A launch that is in the middle of it when the code comes. What has written nothing yet is begun anew; the other's
   first work-group stays the interpreter's. */
static int goes_on_compiled(const char *kernel, int milliseconds) {
    const struct timespec pause = {.tv_nsec = milliseconds * 1000000L};
    place p = make_place("exec cc \"$@\"");
    qn_stream *other;
    int out[N];
    start(&p, NULL);
    assert_ok(p.context, qn_stream_create(p.device, &other));
    assert_ok(p.context, launch(&p, other, kernel));
    assert_fails(p.context, qn_stream_wait(other, (uint64_t)pause.tv_nsec), QN_ERROR_TIMEOUT, kernel);
    open_gate(&p);
    assert_ok(p.context, qn_program_wait(p.program, QN_FOREVER));
    nanosleep(&pause, NULL); /* it is begun anew */
    qn_kernel *release = make_kernel(p.program, p.context, "release");
    assert_ok(p.context, qn_launch(NULL, release, QN_RANGE(1), QN_ARGS(p.go)));
    assert_ok(p.context, qn_stream_wait(qn_device_stream(p.device), QN_FOREVER));
    assert_ok(p.context, qn_stream_wait(other, QN_FOREVER));
    assert_ok(p.context, qn_buffer_read(p.out, 0, out, sizeof out));
    assert_int_equal(out[N - 1], COMPILED);
    qn_context_destroy(p.context);
    remove_place(&p);
    return out[0];
}

/* On a busy machine it may need longer to begin, and to see that there is code. */
static void a_running_launch_goes_on_compiled(void **state) {
    (void)state;
    for (int ms = 100; goes_on_compiled("reads", ms) != COMPILED; ms += 400) assert_true(ms < 900);
    for (int ms = 100; goes_on_compiled("writes", ms) != INTERPRETED; ms += 400) assert_true(ms < 900);
}

static void who_asks_gets_compiled_code_at_once(void **state) {
    (void)state;
    place p = make_place("exec cc \"$@\"");
    open_gate(&p);
    start(&p, &(qn_context_desc){.disable_cache = true, .cpu_compile_first = true});
    assert_ok(p.context, launch(&p, NULL, "plain"));
    check(&p, COMPILED, COMPILED);
    qn_program_destroy(p.program);
    qn_context_destroy(p.context);
    start(&p, NULL);
    qn_program_destroy(p.program);
    const qn_program_desc desc = {.source = source, .debug = true};
    assert_ok(p.context, qn_program_create(p.device, &desc, &p.program));
    assert_ok(p.context, launch(&p, NULL, "plain"));
    check(&p, COMPILED, COMPILED);
    qn_context_destroy(p.context);
    remove_place(&p);
}

/* ---- what goes wrong ---- */

static void a_late_failure_leaves_the_interpreter(void **state) {
    (void)state;
    place p = make_place("echo 'kernel.c:1: error: out of luck' >&2; exit 1");
    start(&p, NULL);
    open_gate(&p);
    assert_fails(p.context, qn_program_wait(p.program, QN_FOREVER), QN_ERROR_DRIVER, "error: out of luck");
    assert_non_null(strstr(p.log, "error: out of luck"));
    assert_non_null(strstr(p.log, "is interpreted"));
    assert_ok(p.context, launch(&p, NULL, "plain"));
    check(&p, INTERPRETED, INTERPRETED);
    qn_context_destroy(p.context);
    remove_place(&p);
}

/* The compiler that was started first; one that only nobody has reaped does not run. */
static bool runs(const place *p) {
    char path[64], state = 'Z';
    long pid = 0;
    FILE *file = fopen(p->pid, "rb");
    if (!file) return false;
    if (fscanf(file, "%ld", &pid) != 1) pid = 0;
    fclose(file);
    snprintf(path, sizeof path, "/proc/%ld/stat", pid);
    file = pid ? fopen(path, "rb") : NULL;
    if (!file) return false;
    if (fscanf(file, "%*d (%*[^)]) %c", &state) != 1) state = 'Z';
    fclose(file);
    return state != 'Z';
}

/* At most as long again as it has run; and it is gone then. */
static void a_program_that_goes_ends_its_compiler(void **state) {
    (void)state;
    for (int whole = 0; whole < 2; whole++) {
        place p = make_place("exec cc \"$@\"");
        start(&p, NULL);
        const double begin = test_seconds();
        while (!runs(&p)) nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
        assert_ok(p.context, launch(&p, NULL, "plain"));
        check(&p, INTERPRETED, INTERPRETED);
        const double lived = test_seconds() - begin, end = test_seconds();
        if (!whole) qn_program_destroy(p.program);
        qn_context_destroy(p.context);
        assert_true(test_seconds() - end < 600 + 2 * lived); /* and not for the hour that the gate is shut */
        for (int i = 0; i < 12000 && runs(&p); i++)          /* a killed process takes a moment to go */
            nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL);
        assert_false(runs(&p));
        assert_string_equal(p.log, "");
        remove_place(&p);
    }
}

static int compilers_started(const place *p) {
    int count = 0;
    FILE *file = fopen(p->pid, "rb");
    for (int c; file && (c = fgetc(file)) != EOF;) count += c == '\n';
    if (file) fclose(file);
    return count;
}

/* As many compilers as threads: here one. */
static void compilers_take_turns(void **state) {
    (void)state;
    place p = make_place("exec cc \"$@\"");
    qn_program *more[4];
    start(&p, NULL);
    while (!runs(&p)) nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    for (int i = 0; i < 4; i++)
        assert_ok(p.context, qn_program_create(p.device, &(qn_program_desc){.source = source}, &more[i]));
    nanosleep(&(struct timespec){.tv_nsec = 50000000}, NULL);
    assert_int_equal(compilers_started(&p), 1);
    qn_program_destroy(more[3]); /* before its turn */
    open_gate(&p);
    for (int i = 0; i < 3; i++) assert_ok(p.context, qn_program_wait(more[i], QN_FOREVER));
    assert_int_equal(compilers_started(&p), 4);
    qn_context_destroy(p.context);
    remove_place(&p);
}

/* ---- the cache ---- */

static void the_cache_gets_what_is_compiled(void **state) {
    (void)state;
    place p = make_place("exec cc \"$@\"");
    char cache[64];
    qn_program_times times;
    snprintf(cache, sizeof cache, "%s/cache", p.dir);
    const qn_context_desc desc = {.cache_dir = cache};
    start(&p, &desc); /* ended early: nothing is kept */
    qn_context_destroy(p.context);
    start(&p, &desc);
    assert_ok(p.context, qn_program_get_times(p.program, &times));
    assert_false(times.from_cache);
    open_gate(&p);
    assert_ok(p.context, qn_program_wait(p.program, QN_FOREVER));
    qn_context_destroy(p.context);
    start(&p, &desc);
    assert_ok(p.context, qn_program_get_times(p.program, &times));
    assert_true(times.from_cache);
    assert_ok(p.context, launch(&p, NULL, "plain"));
    check(&p, COMPILED, COMPILED);
    qn_context_destroy(p.context);
    remove_place(&p);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_launch_does_not_wait),
        cmocka_unit_test(a_running_launch_goes_on_compiled),
        cmocka_unit_test(who_asks_gets_compiled_code_at_once),
        cmocka_unit_test(a_late_failure_leaves_the_interpreter),
        cmocka_unit_test(a_program_that_goes_ends_its_compiler),
        cmocka_unit_test(compilers_take_turns),
        cmocka_unit_test(the_cache_gets_what_is_compiled),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
