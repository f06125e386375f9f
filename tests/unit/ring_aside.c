/* Rings whose kernels step aside, as CUDA's driver wants for loading code: nothing is lost, and they come back. Where kernels do not
   stay there is nothing to leave. */
#include <pthread.h>
#include <quern/kernels.h>

#include "ring/internal.h"
#include "ring_support.h"

enum { MESSAGES = 4000, FEW = 100, BATCH = 20 };

static bool leave_and_come_back(qn_ring *ring, int waits_ms) {
    const uint32_t epoch = atomic_load(&ring->epoch);
    qn__ring_leave(ring);
    for (int i = 0; i < 60000 && atomic_load(&ring->control->parked) != epoch; i++) pause_ms(1);
    const bool has_left = qn_stream_wait(ring->stream, SECONDS(60)) == QN_OK;
    pause_ms(waits_ms);
    qn__ring_come_back(ring);
    return has_left;
}

typedef struct disturber {
    qn_ring *ring;
    pthread_t thread;
    atomic_bool stops;
    int left;
    bool failed;
} disturber;

static void *disturb(void *user) {
    disturber *d = user;
    while (!atomic_load(&d->stops)) {
        if (!leave_and_come_back(d->ring, d->left % 3)) d->failed = true;
        d->left++;
        pause_ms(1);
    }
    return NULL;
}

static void begin_disturbing(disturber *d, qn_ring *ring) {
    *d = (disturber){.ring = ring};
    assert_int_equal(pthread_create(&d->thread, NULL, disturb, d), 0);
}

static void end_disturbing(disturber *d) {
    atomic_store(&d->stops, true);
    assert_int_equal(pthread_join(d->thread, NULL), 0);
    assert_false(d->failed);
}

static uint64_t launches_of(const rig *r) {
    qn_ring_stats stats;
    assert_ok(r->context, qn_ring_get_stats(r->ring, &stats));
    return stats.launches;
}

/* By calls, and in batches: each once, in order. */
static void answer_all(const rig *r, bool in_order) {
    bool is_seen[MESSAGES] = {false};
    const int count = testing("cuda") ? MESSAGES : FEW; /* a processor's threads are others' too */
    for (int i = 0; i < count / 2; i++) {
        const numbers in = {{i}};
        numbers out = {{0}};
        assert_ok(r->context, qn_ring_call(r->ring, &in, sizeof in, &out, sizeof out, SECONDS(60)));
        assert_int_equal(out.x[0], 2 * i + 1);
    }
    for (int i = 0; i < count; i += BATCH) {
        numbers in[BATCH] = {{{0}}}, out;
        for (int k = 0; k < BATCH; k++) in[k].x[0] = i + k;
        const qn_ring_batch batch = {in, sizeof *in, sizeof *in, BATCH, 0, 0};
        assert_ok(r->context, qn_ring_send_batch(r->ring, &batch, NULL, SECONDS(60)));
        for (int k = 0; k < BATCH; k++) {
            assert_ok(r->context, qn_ring_receive(r->ring, NULL, &out, sizeof out, SECONDS(60)));
            const int which = (out.x[0] - 1) / 2;
            if (in_order) assert_int_equal(which, i + k);
            assert_in_range(which, i, i + BATCH - 1);
            assert_false(is_seen[which]);
            is_seen[which] = true;
        }
    }
}

static const qn_ring_desc kinds[] = {
    {.idle = QN_RING_CONTINUOUS},
    {.idle = QN_RING_ADAPTIVE},
    {.idle = QN_RING_EVENTS},
    {.idle = QN_RING_CONTINUOUS, .group_size = 16, .per_item = true},
    {.idle = QN_RING_CONTINUOUS, .groups = 2},
    {.idle = QN_RING_ADAPTIVE, .groups = 2},
};

static bool can_keep(uint32_t groups) {
    qn_context *context = make_context(NULL);
    qn_device_info info;
    assert_ok(context, qn_device_get_info(get_device(context, test_device()), &info));
    qn_context_destroy(context);
    return info.compute_units >= 2 * groups;
}

static void messages_are_answered_once(void **state) {
    (void)state;
    const bool has_several = can_keep(2);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        if (kinds[i].groups > 1 && !has_several) continue;
        rig r = start(&kinds[i]);
        disturber d;
        if (runs_by_launches(&r)) {
            finish(&r);
            skip();
        }
        begin_disturbing(&d, r.ring);
        answer_all(&r, kinds[i].groups < 2);
        while (launches_of(&r) <
               3) { /* of a quick machine; one that has parked by itself comes back for a message alone */
            answer_all(&r, kinds[i].groups < 2);
            pause_ms(1);
        }
        end_disturbing(&d);
        const numbers in = {{7}};
        numbers out = {{0}};
        assert_ok(r.context, qn_ring_call(r.ring, &in, sizeof in, &out, sizeof out, SECONDS(60)));
        assert_int_equal(out.x[0], 15);
        assert_ok(r.context, qn_ring_stop(r.ring, QN_RING_DRAIN, SECONDS(60)));
        finish(&r);
    }
}

static bool all_run(const rig *r) {
    const qn__ring_group *groups = qn__ring_groups(r->ring);
    for (uint32_t i = 0; i < r->ring->desc.groups; i++)
        if (atomic_load(&groups[i].status) != QN__GROUP_RUNNING) return false;
    return true;
}

/* One that is asked to leave, and at once not any more, comes back with all of its work-groups, though nobody calls. */
static void it_is_called_back_at_once(void **state) {
    (void)state;
    enum { TIMES = 200 };
    for (uint32_t groups = 1; groups <= 2; groups++) {
        rig r = start(&(qn_ring_desc){.idle = QN_RING_CONTINUOUS, .groups = groups});
        if (runs_by_launches(&r) || !can_keep(groups)) {
            finish(&r);
            skip();
        }
        for (int i = 0; i < TIMES; i++) {
            qn__ring_leave(r.ring);
            for (volatile int k = 0; k < i * 10; k++) {
            }
            qn__ring_come_back(r.ring);
            for (int k = 0; k < 10000 && !all_run(&r); k++) pause_ms(1);
            assert_true(all_run(&r));
        }
        finish(&r);
    }
}

/* One that looks for ever is launched again though nobody calls, and in the state that it had; what was sent meanwhile waits. */
static void it_comes_back(void **state) {
    (void)state;
    rig r = make(&kinds[0]);
    const numbers in = {{20}};
    numbers out = {{0}};
    if (runs_by_launches(&r)) {
        finish(&r);
        skip();
    }
    assert_true(leave_and_come_back(r.ring, 0)); /* it is not there yet */
    assert_int_equal(launches_of(&r), 0);
    assert_ok(r.context, qn_ring_launch(r.ring, SECONDS(60)));
    assert_true(leave_and_come_back(r.ring, 0));
    assert_int_equal(launches_of(&r), 2);
    assert_ok(r.context, qn_ring_activate(r.ring, SECONDS(60)));
    assert_ok(r.context, qn_ring_pause(r.ring, SECONDS(60)));
    assert_true(leave_and_come_back(r.ring, 0));
    assert_int_equal(launches_of(&r), 3);
    assert_ok(r.context, qn_ring_resume(r.ring, SECONDS(60)));
    qn__ring_leave(r.ring);
    qn__ring_leave(r.ring); /* for two */
    assert_ok(r.context, qn_stream_wait(r.ring->stream, SECONDS(60)));
    assert_ok(r.context, qn_ring_send(r.ring, NULL, &in, sizeof in, SECONDS(60)));
    assert_fails(r.context, qn_ring_stop(r.ring, QN_RING_DRAIN, 5000000), QN_ERROR_TIMEOUT, "had not ended");
    qn__ring_come_back(r.ring);
    assert_int_equal(launches_of(&r), 3);
    qn__ring_come_back(r.ring);
    assert_ok(r.context, qn_ring_stop(r.ring, QN_RING_DRAIN, SECONDS(60)));
    assert_int_equal(launches_of(&r), 4);
    assert_ok(r.context, qn_ring_receive(r.ring, NULL, &out, sizeof out, SECONDS(60)));
    assert_int_equal(out.x[0], 41);
    qn__ring_leave(r.ring);
    qn__ring_come_back(r.ring);
    assert_int_equal(launches_of(&r), 4);
    finish(&r);
}

static const char slow_text[] = "#include \"quern/ring.cl\"\n"
                                "void slow(qn_ring *ring, local const int *in) {\n"
                                "    int out = *in + 1;\n"
                                "    while (!qn_ring_should_stop(ring)) {}\n"
                                "    qn_ring_reply(ring, &out, sizeof out);\n"
                                "}\n";

/* A handler that looks whether it should stop is told. */
static void a_long_handler_comes_back(void **state) {
    (void)state;
    rig r = start(&(qn_ring_desc){.program = {.source = slow_text},
                                  .handler = "slow",
                                  .message_type = "int",
                                  .message_size = sizeof(int32_t)});
    int32_t number = 5;
    if (runs_by_launches(&r)) {
        finish(&r);
        skip();
    }
    assert_ok(r.context, qn_ring_send(r.ring, NULL, &number, sizeof number, SECONDS(60)));
    while (atomic_load(&qn__ring_groups(r.ring)->taken) == 0) pause_ms(1);
    assert_true(leave_and_come_back(r.ring, 0));
    assert_ok(r.context, qn_ring_receive(r.ring, NULL, &number, sizeof number, SECONDS(60)));
    assert_int_equal(number, 6);
    finish(&r);
}

enum { PROGRAMS = 20 };

/* Each of another text, and used. */
static bool make_programs(const rig *r) {
    for (int i = 0; i < PROGRAMS; i++) {
        char text[128];
        int32_t value = 0;
        snprintf(text, sizeof text, "kernel void set(global int *p) { *p = %d; }\n", 1000 + i);
        qn_program *program;
        qn_kernel *kernel;
        qn_buffer *buffer;
        qn_status status = qn_program_create(r->device, &(qn_program_desc){.source = text}, &program);
        if (!status) status = qn_kernel_create(program, NULL, &kernel);
        if (!status) status = qn_buffer_create(r->device, &(qn_buffer_desc){.size = sizeof value}, &buffer);
        if (!status) status = qn_launch(qn_device_stream(r->device), kernel, QN_RANGE(1), QN_ARGS(buffer));
        if (!status) status = qn_buffer_read(buffer, 0, &value, sizeof value);
        if (status || value != 1000 + i) return false;
        qn_buffer_destroy(buffer);
        qn_kernel_destroy(kernel);
        qn_program_destroy(program);
    }
    return true;
}

/* What compiles when it is called. */
static bool sort_numbers(const rig *r) {
    enum { COUNT = 3000 };
    uint32_t numbers[COUNT];
    qn_kernels *kernels = NULL;
    for (uint32_t i = 0; i < COUNT; i++) numbers[i] = i * 2654435761u;
    qn_buffer *keys = make_buffer(r->device, sizeof numbers, numbers);
    qn_status status = qn_kernels_create(r->device, NULL, &kernels);
    const qn_array array = QN_ARRAY(keys, QN_U32, COUNT);
    const qn_sort_desc desc = {.keys = array, .to_keys = array};
    if (!status) status = qn_kernels_sort(kernels, NULL, &desc);
    if (!status) status = qn_buffer_read(keys, 0, numbers, sizeof numbers);
    for (uint32_t i = 1; i < COUNT && !status; i++)
        if (numbers[i - 1] > numbers[i]) return false;
    qn_kernels_destroy(kernels);
    qn_buffer_destroy(keys);
    return !status;
}

typedef struct maker {
    const rig *r;
    bool succeeded;
    atomic_bool ended;
    char why[256];
} maker;

static void *make_all(void *user) {
    maker *m = user;
    m->succeeded = make_programs(m->r) && sort_numbers(m->r);
    snprintf(m->why, sizeof m->why, "%.250s", qn_error_message(m->r->context));
    atomic_store(&m->ended, true);
    return NULL;
}

/* What a program does beside a ring, with the device's own driver. */
static void programs_are_made_beside_it(void **state) {
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        rig r = start(&kinds[i]);
        maker m = {.r = &r};
        pthread_t thread;
        assert_int_equal(pthread_create(&thread, NULL, make_all, &m), 0);
        int count = 0;
        double longest = 0;
        for (bool is_last = false; !is_last; count++) {
            const numbers in = {{count}};
            numbers out = {{0}};
            is_last = atomic_load(&m.ended);
            const double begin = test_seconds();
            assert_ok(r.context, qn_ring_call(r.ring, &in, sizeof in, &out, sizeof out, SECONDS(60)));
            assert_int_equal(out.x[0], 2 * count + 1);
            const double passed = test_seconds() - begin;
            if (passed > longest) longest = passed;
        }
        assert_int_equal(pthread_join(thread, NULL), 0);
        if (!m.succeeded) fail_msg("a program beside the ring: %s", m.why);
        print_message("%d calls beside %d programs, the longest %.2f ms, %d launches of the ring\n", count,
                      PROGRAMS, 1e3 * longest, (int)launches_of(&r));
        finish(&r);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(messages_are_answered_once),
        cmocka_unit_test(it_is_called_back_at_once),
        cmocka_unit_test(it_comes_back),
        cmocka_unit_test(a_long_handler_comes_back),
        cmocka_unit_test(programs_are_made_beside_it),
    };
    setenv("QUERN_CPU_THREADS", "4", 0); /* else two work-groups have no room on a small machine */
    return run_device_tests(tests);
}
