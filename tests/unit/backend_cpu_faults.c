/* Faults in kernels on the CPU device: they end the launch, with the kernel's name and the place, and the device goes on. What is not
   of a kernel goes to the process as before, whenever its handlers were installed. What may end the process runs in a child. */
#if defined(__GLIBC__) || defined(__linux__)
#define _GNU_SOURCE /* feenableexcept */
#endif
#include "api_support.h"

#include <fenv.h>
#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>

enum { MIB = 1 << 20, LARGE = MIB, WORDS = LARGE / 4, FAR = 100000000, HOST_GOT_IT = 42 };

static const char source[] =
    "kernel void put(global int *x, int by) { x[get_global_id(0) + by] = 7; }\n"
    "kernel void get(global const int *y, int by, global int *x) { x[get_global_id(0)] = y[get_global_id(0) "
    "+ by]; }\n"
    "kernel void nowhere(global int *x, global int *y) { if (x[0] != 99) x[get_global_id(0)] = y[0]; }\n"
    "kernel void invert(global float *x) { x[get_global_id(0)] = 1.0f / x[get_global_id(0)]; }\n";

typedef struct world {
    qn_context *context;
    qn_device *device;
    qn_program *program;
    qn_buffer *x, *y;
} world;

static void nothing_printed(void *user, const char *text, size_t size) { (void)user, (void)text, (void)size; }

static world make_world_of(const qn_context_desc *more) {
    qn_context_desc desc = more ? *more : (qn_context_desc){0};
    desc.print = nothing_printed;
    world w = {.context = make_context(&desc)};
    w.device = get_device(w.context, "cpu");
    w.program = make_program(w.device, source);
    w.x = make_buffer(w.device, LARGE, NULL);
    w.y = make_buffer(w.device, LARGE, NULL);
    qn_stream *stream = qn_device_stream(w.device);
    assert_ok(w.context, qn_stream_fill(stream, w.x, 0, LARGE, &(int){0}, 4));
    assert_ok(w.context, qn_stream_fill(stream, w.y, 0, LARGE, &(int){5}, 4));
    return w;
}

static world make_world(void) { return make_world_of(NULL); }

static qn_kernel *kernel_of(const world *w, const char *name) {
    return make_kernel(w->program, w->context, name);
}

/* All threads of the pool and the stream's work on after it. */
static void assert_goes_on(const world *w) {
    int first = 0, last = 0;
    assert_ok(w->context, qn_launch(NULL, kernel_of(w, "put"), QN_RANGE(WORDS), QN_ARGS(w->x, 0)));
    assert_ok(w->context, qn_buffer_read(w->x, 0, &first, 4));
    assert_ok(w->context, qn_buffer_read(w->x, LARGE - 4, &last, 4));
    assert_int_equal(first + last, 14);
}

#define assert_faults(w, name, range, args, part)                                                            \
    do {                                                                                                     \
        assert_ok((w)->context, qn_launch(NULL, kernel_of(w, name), range, args));                           \
        assert_fails((w)->context, qn_device_wait((w)->device, QN_FOREVER), QN_ERROR_KERNEL_FAILED,          \
                     "kernel " name ": an access");                                                          \
        if (!strstr(qn_error_message((w)->context), part))                                                   \
            fail_msg("%s said: %s", name, qn_error_message((w)->context));                                   \
        assert_goes_on(w);                                                                                   \
    } while (0)

static void faults_end_the_launch(void **state) {
    (void)state;
    world w = make_world();
    assert_faults(&w, "put", QN_RANGE(64), QN_ARGS(w.x, FAR), "of the 1048576 of 'x'");
    assert_faults(&w, "put", QN_RANGE(WORDS + 8), QN_ARGS(w.x, 0), "at byte 1048576 of the 1048576 of 'x'");
    assert_faults(&w, "put", QN_RANGE(64), QN_ARGS(w.x, -2048), "of the 1048576 of 'x'");
    assert_faults(&w, "get", QN_RANGE(64), QN_ARGS(w.y, WORDS, w.x), "of the 1048576 of 'y'");
    assert_faults(&w, "nowhere", QN_RANGE(64), QN_ARGS(w.x, qn_arg_null()), "by way of a null pointer");
    for (int i = 0; i < 8; i++)
        assert_faults(&w, "put", QN_RANGE(MIB), QN_ARGS(w.x, FAR),
                      "; a safe program, or the checker, tells the line");
    qn_context_destroy(w.context);
}

/* The launch is told, the others of the stream are done. */
static void later_commands_are_done(void **state) {
    (void)state;
    world w = make_world();
    int word = 0;
    assert_ok(w.context, qn_launch(NULL, kernel_of(&w, "put"), QN_RANGE(64), QN_ARGS(w.x, FAR)));
    assert_ok(w.context, qn_launch(NULL, kernel_of(&w, "put"), QN_RANGE(64), QN_ARGS(w.x, 0)));
    assert_fails(w.context, qn_device_wait(w.device, QN_FOREVER), QN_ERROR_KERNEL_FAILED, "kernel put: ");
    assert_ok(w.context, qn_buffer_read(w.x, 63 * 4, &word, 4));
    assert_int_equal(word, 7);
    qn_context_destroy(w.context);
}

/* Nothing behind a large buffer is the process's. */
static void large_buffers_are_fenced(void **state) {
    (void)state;
    world w = make_world();
    enum { COUNT = 16 };
    qn_buffer *buffers[COUNT];
    for (int i = 0; i < COUNT; i++) {
        const uint64_t size = (256 << 10) + 256 * (uint64_t)i * 77;
        buffers[i] = make_buffer(w.device, size, NULL);
        assert_ok(w.context, qn_launch(NULL, kernel_of(&w, "put"), QN_RANGE(1),
                                       QN_ARGS(buffers[i], (int)(size / 4 - 1))));
        assert_ok(w.context, qn_device_wait(w.device, QN_FOREVER));
        assert_faults(&w, "put", QN_RANGE(1), QN_ARGS(buffers[i], (int)(size / 4)), "of 'x'");
        if (i & 1) qn_buffer_destroy(buffers[i]);
    }
    qn_context_destroy(w.context);
}

#ifdef __GLIBC__
static void arithmetic_faults_are_told(void **state) {
    (void)state;
    const int rounding = fegetround();
    assert_int_equal(fesetround(FE_UPWARD), 0);
    feenableexcept(FE_DIVBYZERO); /* threads that are begun from here on have it from this one */
    world w = make_world();
    assert_ok(w.context, qn_launch(NULL, kernel_of(&w, "invert"), QN_RANGE(64), QN_ARGS(w.x)));
    assert_fails(w.context, qn_device_wait(w.device, QN_FOREVER), QN_ERROR_KERNEL_FAILED,
                 "kernel invert: an arithmetic fault");
    assert_goes_on(&w);
    assert_int_equal(fegetexcept(), FE_DIVBYZERO);
    assert_int_equal(fegetround(), FE_UPWARD);
    fedisableexcept(FE_DIVBYZERO);
    fesetround(rounding);
    qn_context_destroy(w.context);
}
#endif

/* ---- the host's own ---- */

static struct sigaction before;
static volatile sig_atomic_t of_host;

static void on_fault(int signal, siginfo_t *info, void *context) {
    (void)info, (void)context;
    _exit(signal == SIGSEGV ? HOST_GOT_IT : 1);
}

static void on_fault_in_front(int signal, siginfo_t *info, void *context) {
    if (of_host) _exit(HOST_GOT_IT);
    before.sa_sigaction(signal, info, context);
}

static void install(void (*handler)(int, siginfo_t *, void *)) {
    struct sigaction action = {.sa_sigaction = handler, .sa_flags = SA_SIGINFO};
    sigemptyset(&action.sa_mask);
    assert_int_equal(sigaction(SIGSEGV, &action, &before), 0);
}

static void fault(void) {
    volatile int *volatile nothing = NULL;
    of_host = 1;
    *nothing = 1;
}

static void *fault_on_a_thread(void *unused) {
    fault();
    return unused;
}

static void fault_in_a_kernel(const world *w) {
    assert_ok(w->context, qn_launch(NULL, kernel_of(w, "put"), QN_RANGE(64), QN_ARGS(w->x, FAR)));
    assert_fails(w->context, qn_device_wait(w->device, QN_FOREVER), QN_ERROR_KERNEL_FAILED, "kernel put");
    assert_goes_on(w);
}

static void installed_before(void) {
    install(on_fault);
    world w = make_world();
    fault_in_a_kernel(&w);
    fault();
}

static void installed_after(void) {
    world w = make_world();
    install(on_fault_in_front);
    fault_in_a_kernel(&w);
    world another = make_world();
    fault_in_a_kernel(&another);
    fault();
}

static void another_thread(void) {
    pthread_t thread;
    install(on_fault);
    world w = make_world();
    fault_in_a_kernel(&w);
    pthread_create(&thread, NULL, fault_on_a_thread, NULL);
    pthread_join(thread, NULL);
}

static void sent_by_somebody(void) {
    install(on_fault);
    world w = make_world();
    fault_in_a_kernel(&w);
    kill(getpid(), SIGSEGV);
    pause();
}

static void after_the_context(void) {
    install(on_fault);
    world w = make_world(), another = make_world();
    struct sigaction now;
    fault_in_a_kernel(&w);
    qn_context_destroy(w.context);
    fault_in_a_kernel(&another);
    qn_context_destroy(another.context);
    if (!sigaction(SIGSEGV, NULL, &now) && now.sa_sigaction == on_fault) fault();
}

static void left_alone(void) {
    install(on_fault);
    world w = make_world_of(&(qn_context_desc){.cpu_leave_signals = true});
    assert_ok(w.context, qn_launch(NULL, kernel_of(&w, "put"), QN_RANGE(64), QN_ARGS(w.x, FAR)));
    qn_device_wait(w.device, QN_FOREVER);
}

static void without_a_handler(void) {
    signal(SIGSEGV, SIG_DFL);
    world w = make_world();
    fault_in_a_kernel(&w);
    fault();
}

static int status_of(void (*body)(void)) {
    fflush(stdout);
    const pid_t child = fork();
    if (child == 0) {
        const struct rlimit none = {0, 0};
        setrlimit(RLIMIT_CORE, &none);
        body();
        _exit(0);
    }
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    return status;
}

static void the_host_gets_its_own_faults(void **state) {
    (void)state;
    static const struct {
        const char *name;
        void (*body)(void);
    } cases[] = {{"installed before", installed_before},   {"installed after", installed_after},
                 {"another thread", another_thread},       {"sent", sent_by_somebody},
                 {"after the context", after_the_context}, {"left alone", left_alone}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const int status = status_of(cases[i].body);
        if (!WIFEXITED(status) || WEXITSTATUS(status) != HOST_GOT_IT)
            fail_msg("%s: %#x", cases[i].name, status);
    }
}

static void without_handlers_it_ends(void **state) {
    (void)state;
    const int status = status_of(without_a_handler);
    assert_true(WIFSIGNALED(status));
    assert_int_equal(WTERMSIG(status), SIGSEGV);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_host_gets_its_own_faults), /* children are begun before there are threads */
        cmocka_unit_test(without_handlers_it_ends),     cmocka_unit_test(faults_end_the_launch),
        cmocka_unit_test(later_commands_are_done),      cmocka_unit_test(large_buffers_are_fenced),
#ifdef __GLIBC__
        cmocka_unit_test(arithmetic_faults_are_told),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
