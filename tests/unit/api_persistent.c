/* Streams that may never be done, on any device: everything else on the device goes on beside a kernel that spins until the
   host sets a word, and what was left is no reason to hang. */
#include "api_support.h"

#include <stdatomic.h>

/* Ends after a minute or more in any case: a test that fails is to fail, and not to hang. */
static const char source[] =
    "kernel void spin(global volatile atomic_int *flag, long most) {\n"
    "    atomic_store_explicit(&flag[1], 1, memory_order_relaxed, memory_scope_all_svm_devices);\n"
    "    long i = 0;\n"
    "    while (atomic_load_explicit(&flag[0], memory_order_relaxed, memory_scope_all_svm_devices) == 0)\n"
    "        if (++i == most) break;\n"
    "    atomic_store_explicit(&flag[2], i == most ? 2 : 1, memory_order_relaxed, "
    "memory_scope_all_svm_devices);\n"
    "}\n"
    "kernel void add(global int *a, int v) { a[get_global_id(0)] += v; }\n"
    "kernel void twice(global int *a) { a[get_global_id(0)] *= 2; }\n";

typedef struct spinner {
    fixture f;
    qn_kernel *add, *twice;
    qn_stream *stream;
    qn_buffer *flag;
    atomic_int *words; /* the flag, as the host sees it */
} spinner;

/* A processor goes round once a cycle, a GPU looks over the bus, or in its memory, each time. */
static int64_t endless(const qn_device_info *info) {
    const bool by_processor = testing("cpu") || info->capabilities & QN_CAN_EMULATE;
    return by_processor ? (int64_t)1 << 38 : (int64_t)1 << 28;
}

static bool has_it(void) {
    return device_can(QN_CAN_PERSIST, "persistent streams") &&
           device_can(QN_CAN_SHARE_COHERENTLY, "memory that both see alike");
}

static void pause_ms(int ms) { nanosleep(&(struct timespec){.tv_nsec = ms * 1000000L}, NULL); }

static spinner start_spinner(bool persistent) {
    spinner s = {.f = make_fixture(test_device(), source, "spin")};
    const qn_buffer_desc desc = {.size = 64, .memory = QN_MEMORY_SHARED};
    qn_device_info info;
    s.add = make_kernel(s.f.program, s.f.context, "add");
    s.twice = make_kernel(s.f.program, s.f.context, "twice");
    assert_ok(s.f.context, qn_stream_create(s.f.device, &s.stream));
    assert_ok(s.f.context, qn_stream_set_persistent(s.stream, persistent));
    assert_ok(s.f.context, qn_buffer_create(s.f.device, &desc, &s.flag));
    s.words = qn_buffer_host(s.flag);
    assert_ok(s.f.context, qn_device_get_info(s.f.device, &info));
    assert_ok(s.f.context, qn_launch(s.stream, s.f.kernel, QN_RANGE(1), QN_ARGS(s.flag, endless(&info))));
    assert_int_equal(qn_stream_wait(s.stream, 1000000), QN_ERROR_TIMEOUT); /* and it is with the device */
    for (int i = 0; i < 60000 && !atomic_load(&s.words[1]); i++) pause_ms(1);
    assert_int_equal(atomic_load(&s.words[1]), 1);
    return s;
}

static bool spins(const spinner *s) { return atomic_load(&s->words[2]) == 0; }

/* ---- everything else goes on ---- */

static void transfers_and_launches(const spinner *s) {
    int host[256] = {0};
    qn_stream *other;
    qn_buffer *buffer = make_buffer(s->f.device, sizeof host, NULL);
    assert_ok(s->f.context, qn_stream_create(s->f.device, &other));
    for (int i = 0; i < 4; i++) {
        assert_ok(s->f.context, qn_launch(other, s->add, QN_RANGE(256), QN_ARGS(buffer, 2)));
        assert_ok(s->f.context, qn_stream_wait(other, QN_FOREVER));
        assert_ok(s->f.context, qn_launch(NULL, s->add, QN_RANGE(256), QN_ARGS(buffer, 3)));
        assert_ok(s->f.context, qn_buffer_read(buffer, 0, host, sizeof host));
    }
    assert_int_equal(host[200], 20);
    assert_ok(s->f.context, qn_device_wait(s->f.device, QN_FOREVER));
    qn_stream_destroy(other);
    qn_buffer_destroy(buffer);
}

static void maps_and_allocations(const spinner *s) {
    int *mapped;
    enum { SIZE = 8 << 20 };
    for (int i = 0; i < 3; i++) {
        qn_buffer *buffer = make_buffer(s->f.device, SIZE, NULL);
        assert_ok(s->f.context, qn_buffer_map(buffer, QN_MAP_WRITE, (void **)&mapped));
        for (int k = 0; k < SIZE / 4; k++) mapped[k] = k;
        assert_ok(s->f.context, qn_buffer_unmap(buffer));
        assert_ok(s->f.context, qn_launch(NULL, s->add, QN_RANGE(SIZE / 4), QN_ARGS(buffer, 5)));
        assert_ok(s->f.context, qn_buffer_map(buffer, QN_MAP_READ, (void **)&mapped));
        assert_int_equal(mapped[SIZE / 4 - 1], SIZE / 4 + 4);
        assert_ok(s->f.context, qn_buffer_unmap(buffer));
        qn_buffer_destroy(buffer);
    }
    assert_ok(s->f.context, qn_device_trim(s->f.device));
}

/* CUDA's driver loads none then, and would wait: that is refused. */
static void programs(const spinner *s) {
    static const char text[] = "kernel void thrice(global int *a) { a[get_global_id(0)] *= 3; }";
    const qn_program_desc desc = {.source = text};
    int host[4] = {5, 6, 7, 8};
    qn_program *program;
    if (testing("cuda")) {
        assert_fails(s->f.context, qn_program_create(s->f.device, &desc, &program), QN_ERROR_STATE,
                     "loads no code while a kernel that may never end is on the device, kernel spin");
        return;
    }
    assert_ok(s->f.context, qn_program_create(s->f.device, &desc, &program));
    qn_kernel *thrice = make_kernel(program, s->f.context, NULL);
    qn_buffer *buffer = make_buffer(s->f.device, sizeof host, host);
    assert_ok(s->f.context, qn_launch(NULL, thrice, QN_RANGE(4), QN_ARGS(buffer)));
    assert_ok(s->f.context, qn_buffer_read(buffer, 0, host, sizeof host));
    assert_int_equal(host[3], 24);
    qn_kernel_destroy(thrice);
    qn_program_destroy(program);
    qn_buffer_destroy(buffer);
}

static void graphs_and_events(const spinner *s) {
    int host[4] = {0};
    bool done = false;
    qn_graph *graph;
    qn_event *event;
    qn_buffer *buffer = make_buffer(s->f.device, sizeof host, NULL);
    assert_ok(s->f.context, qn_event_create(s->f.device, &event));
    assert_ok(s->f.context, qn_launch(NULL, s->add, QN_RANGE(4), QN_ARGS(buffer, 3)));
    assert_ok(s->f.context, qn_graph_begin(qn_device_stream(s->f.device)));
    assert_ok(s->f.context, qn_launch(NULL, s->twice, QN_RANGE(4), QN_ARGS(buffer)));
    assert_ok(s->f.context, qn_graph_end(qn_device_stream(s->f.device), &graph));
    assert_ok(s->f.context, qn_graph_launch(NULL, graph));
    assert_ok(s->f.context, qn_stream_record(NULL, event));
    assert_ok(s->f.context, qn_event_wait(event, QN_FOREVER));
    assert_ok(s->f.context, qn_event_done(event, &done));
    assert_true(done);
    assert_ok(s->f.context, qn_buffer_read(buffer, 0, host, sizeof host));
    assert_int_equal(host[3], 6);
    qn_graph_destroy(graph);
    qn_buffer_destroy(buffer);
    qn_event_destroy(event);
}

static void everything_else_goes_on(void **state) {
    (void)state;
    if (!has_it()) return;
    spinner s = start_spinner(true);
    transfers_and_launches(&s);
    maps_and_allocations(&s);
    programs(&s);
    graphs_and_events(&s);
    void *pointer;
    assert_ok(s.f.context, qn_buffer_map(s.flag, QN_MAP_READ, &pointer)); /* although the kernel has it */
    assert_ok(s.f.context, qn_buffer_unmap(s.flag));
    assert_true(spins(&s));
    assert_int_equal(qn_stream_wait(s.stream, 0), QN_ERROR_TIMEOUT);
    atomic_store(&s.words[0], 1);
    assert_ok(s.f.context, qn_stream_wait(s.stream, 60000000000u));
    assert_int_equal(atomic_load(&s.words[2]), 1);
    qn_stream_destroy(s.stream);
    assert_ok(s.f.context, qn_context_close(s.f.context, QN_FOREVER));
}

/* ---- leaving ---- */

/* The kernel's memory stays: it ends by itself once the host has set the word, and then all goes. */
static void a_stream_is_left(void **state) {
    (void)state;
    if (!has_it()) return;
    spinner s = start_spinner(false);
    qn_device_info info;
    assert_ok(s.f.context, qn_device_get_info(s.f.device, &info));
    const bool cancels = info.capabilities & QN_CAN_CANCEL;
    const double start = test_seconds();
    assert_fails(s.f.context, qn_stream_close(s.stream, 5000000), QN_ERROR_TIMEOUT,
                 cancels
                     ? "qn_stream_close: not done in 5 ms; unfinished: kernel spin; the work was cancelled"
                     : "qn_stream_close: not done in 5 ms; unfinished: kernel spin; the work is left to the "
                       "driver, with all that it uses");
    assert_true(test_seconds() - start < 60);
    assert_fails(s.f.context, qn_stream_wait(s.stream, 0), QN_ERROR_DESTROYED, "destroyed");
    assert_ok(s.f.context, qn_device_wait(s.f.device, QN_FOREVER));
    transfers_and_launches(&s);
    maps_and_allocations(&s);
    assert_int_equal(spins(&s), !cancels || atomic_load(&s.words[2]) == 0);
    atomic_store(&s.words[0], 1);
    for (int i = 0; i < 60000 && !cancels && spins(&s); i++) pause_ms(1);
    qn_buffer_destroy(s.flag);
    const qn_status status = qn_context_close(s.f.context, 60000000000u);
    if (status) fail_msg("%s: %s", qn_status_name(status), qn_error_message(NULL));
}

/* Destroying a persistent stream, and a context that has one, waits for nothing. */
static void destroying_waits_for_none(void **state) {
    (void)state;
    if (!has_it()) return;
    for (int round = 0; round < 2; round++) {
        spinner s = start_spinner(true);
        double start = test_seconds();
        if (round == 0) qn_stream_destroy(s.stream);
        assert_true(test_seconds() - start < 60);
        transfers_and_launches(&s);
        atomic_store(&s.words[0], round == 0); /* the first ends; the second is left, or cancelled */
        for (int i = 0; i < 60000 && round == 0 && spins(&s); i++) {
            if (testing("cpu")) break; /* it was cancelled */
            pause_ms(1);
        }
        start = test_seconds();
        qn_device_info info;
        assert_ok(s.f.context, qn_device_get_info(s.f.device, &info));
        const bool is_left = round && !(info.capabilities & QN_CAN_CANCEL);
        const qn_status status = qn_context_close(s.f.context, QN_FOREVER);
        if (status != (round ? QN_ERROR_TIMEOUT : QN_OK))
            fail_msg("round %d: %s: %s", round, qn_status_name(status), qn_error_message(NULL));
        if (round)
            assert_non_null(strstr(qn_error_message(NULL), is_left
                                                               ? "kernel spin was left running"
                                                               : "kernel spin was not done, and cancelled"));
        assert_true(test_seconds() - start < 60);
        if (is_left) atomic_store(&s.words[0], 1); /* its memory is still there */
        for (int i = 0; i < 60000 && is_left && spins(&s); i++) pause_ms(1);
        if (is_left) assert_false(spins(&s));
    }
}

/* A deadline for a context whose kernel does not end in time. */
static void a_context_is_closed_in_time(void **state) {
    (void)state;
    if (!has_it()) return;
    spinner s = start_spinner(false);
    qn_device_info info;
    assert_ok(s.f.context, qn_device_get_info(s.f.device, &info));
    const bool cancels = info.capabilities & QN_CAN_CANCEL;
    const double start = test_seconds();
    assert_int_equal(qn_context_close(s.f.context, 20000000), QN_ERROR_TIMEOUT);
    assert_non_null(strstr(qn_error_message(NULL), cancels ? "kernel spin was not done, and cancelled"
                                                           : "kernel spin was left running"));
    assert_true(test_seconds() - start < 60);
    if (cancels) return;
    assert_true(spins(&s));
    atomic_store(&s.words[0], 1);
    for (int i = 0; i < 60000 && spins(&s); i++) pause_ms(1);
    assert_false(spins(&s));
}

static void what_cannot_be(void **state) {
    (void)state;
    fixture f = make_fixture(test_device(), source, "add");
    qn_stream *stream = qn_device_stream(f.device), *used;
    qn_buffer *buffer = make_buffer(f.device, 64, NULL);
    qn_device_info info;
    assert_ok(f.context, qn_device_get_info(f.device, &info));
    assert_fails(f.context, qn_stream_set_persistent(stream, true), QN_ERROR_ARGUMENT, "default stream");
    assert_fails(f.context, qn_stream_close(stream, 0), QN_ERROR_ARGUMENT, "default stream");
    assert_ok(f.context, qn_stream_create(f.device, &used));
    assert_ok(f.context, qn_launch(used, f.kernel, QN_RANGE(4), QN_ARGS(buffer, 1)));
    assert_fails(f.context, qn_stream_set_persistent(used, true), QN_ERROR_STATE, "given work already");
    assert_ok(f.context, qn_stream_close(used, QN_FOREVER));
    assert_ok(f.context, qn_stream_create(f.device, &used));
    if (info.capabilities & QN_CAN_PERSIST) {
        assert_ok(f.context, qn_stream_set_persistent(used, true));
        assert_ok(f.context, qn_stream_set_persistent(used, false));
        assert_ok(f.context, qn_stream_set_persistent(used, true));
        assert_ok(f.context, qn_launch(used, f.kernel, QN_RANGE(4), QN_ARGS(buffer, 1)));
        assert_ok(f.context, qn_stream_wait(used, QN_FOREVER));
    } else {
        assert_fails(f.context, qn_stream_set_persistent(used, true), QN_ERROR_UNSUPPORTED, info.name);
    }
    assert_ok(f.context, qn_stream_close(used, 0));
    assert_ok(f.context, qn_stream_close(NULL, 0));
    assert_int_equal(qn_context_close(NULL, 0), QN_OK);
    assert_int_equal(qn_context_close(f.context, 0), QN_OK);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(everything_else_goes_on),
        cmocka_unit_test(a_stream_is_left),
        cmocka_unit_test(destroying_waits_for_none),
        cmocka_unit_test(a_context_is_closed_in_time),
        cmocka_unit_test(what_cannot_be),
    };
    return run_device_tests(tests);
}
