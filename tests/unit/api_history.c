/* The history of launches (history.h): each launch that is done, once, in a ring that does not grow. */
#include <pthread.h>
#include <quern/history.h>

#include "api_support.h"

static const char source[] =
    "kernel void add(global int *a, int by) { a[get_global_id(0)] += by; }\n"
    "kernel void fill(global int *a) { a[get_global_id(1) * 8 + get_global_id(0)] = 1; }\n";

enum { MOST = 512 };

typedef struct rig {
    fixture f;
    qn_kernel *fill;
    qn_buffer *x;
    qn_history_entry entries[MOST];
} rig;

static rig *make_rig(const char *device, uint32_t capacity) {
    rig *r = calloc(1, sizeof *r);
    r->f = make_fixture(device, source, "add");
    r->fill = make_kernel(r->f.program, r->f.context, "fill");
    r->x = make_buffer(r->f.device, 4096, NULL);
    if (capacity) assert_ok(r->f.context, qn_history_keep(r->f.context, capacity));
    return r;
}

static void end_rig(rig *r) {
    qn_context_destroy(r->f.context);
    free(r);
}

static void add(rig *r, qn_stream *stream, uint64_t items) {
    assert_ok(r->f.context, qn_launch(stream, r->f.kernel, QN_RANGE(items), QN_ARGS(r->x, 1)));
}

static uint32_t entries_of(rig *r, uint64_t after) {
    uint32_t count;
    assert_ok(r->f.context, qn_history_read(r->f.context, after, r->entries, MOST, &count));
    return count;
}

/* None begins before it was submitted, nor before the last of its stream has ended. */
static void check_times(const rig *r, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        const qn_history_entry *e = &r->entries[i];
        assert_true(e->submitted_ns && e->submitted_ns <= e->begin_ns && e->begin_ns <= e->end_ns);
        assert_true((double)e->end_ns <= test_seconds() * 1e9 + 1e3);
        for (uint32_t k = 0; k < i; k++)
            if (r->entries[k].stream == e->stream) assert_true(r->entries[k].end_ns <= e->begin_ns);
    }
}

static void launches_are_in_it(void **state) {
    const char *names[] = {test_device(), "null"};
    (void)state;
    for (int d = 0; d < 2; d++) {
        rig *r = make_rig(names[d], MOST);
        qn_stream *own, *stream = qn_device_stream(r->f.device);
        const qn_range two = {.global = {8, 4}, .local = {4, 2}, .offset = {0, 1}};
        assert_ok(r->f.context, qn_stream_create(r->f.device, &own));
        assert_int_equal(entries_of(r, 0), 0);
        for (uint64_t i = 1; i <= 10; i++) add(r, stream, i);
        assert_ok(r->f.context, qn_buffer_write(r->x, 0, "none", 4)); /* a copy is no launch */
        assert_ok(r->f.context, qn_launch(own, r->fill, &two, QN_ARGS(r->x)));
        assert_ok(r->f.context, qn_device_wait(r->f.device, QN_FOREVER));
        assert_int_equal(entries_of(r, 0), 11);
        check_times(r, 11);
        uint64_t next = 1;
        for (uint32_t i = 0; i < 11; i++) {
            const qn_history_entry *e = &r->entries[i];
            assert_int_equal(e->number, i + 1);
            assert_int_equal(e->status, QN_OK);
            assert_ptr_equal(e->device, r->f.device);
            assert_int_equal(e->commands, 0);
            if (e->stream == stream) {
                assert_string_equal(e->kernel, "add");
                assert_int_equal(e->work_dim, 1);
                assert_int_equal(e->global[0], next++);
                continue;
            }
            assert_ptr_equal(e->stream, own);
            assert_string_equal(e->kernel, "fill");
            assert_int_equal(e->work_dim, 2);
            assert_int_equal(e->global[1], 4);
            assert_int_equal(e->local[0], 4);
            assert_int_equal(e->local[1], 2);
            assert_int_equal(e->offset[1], 1);
        }
        assert_int_equal(next, 11);
        qn_stream_destroy(own);
        qn_kernel_destroy(r->fill);
        assert_int_equal(entries_of(r, 8), 3); /* what was read before is left out */
        assert_int_equal(r->entries[0].number, 9);
        end_rig(r);
    }
}

static void only_the_newest_stay(void **state) {
    (void)state;
    rig *r = make_rig("null", 7);
    uint32_t count;
    for (uint64_t i = 1; i <= 20; i++) add(r, NULL, i);
    assert_int_equal(entries_of(r, 0), 7);
    for (uint32_t i = 0; i < 7; i++) {
        assert_int_equal(r->entries[i].number, 14 + i);
        assert_int_equal(r->entries[i].global[0], 14 + i);
    }
    assert_ok(r->f.context, qn_history_read(r->f.context, 15, r->entries, 2, &count));
    assert_int_equal(count, 2);
    assert_int_equal(r->entries[1].number, 17);
    assert_int_equal(entries_of(r, 20), 0);
    assert_int_equal(entries_of(r, 1000), 0);
    assert_ok(r->f.context, qn_history_keep(r->f.context, 3)); /* begins anew */
    assert_int_equal(entries_of(r, 0), 0);
    add(r, NULL, 5);
    assert_int_equal(entries_of(r, 0), 1);
    assert_int_equal(r->entries[0].number, 1);
    assert_ok(r->f.context, qn_history_keep(r->f.context, 0));
    add(r, NULL, 6);
    assert_fails(r->f.context, qn_history_read(r->f.context, 0, r->entries, MOST, &count), QN_ERROR_STATE,
                 "qn_history_read: no history is kept; qn_history_keep begins one");
    assert_ok(r->f.context, qn_history_keep(r->f.context, 3));
    assert_int_equal(entries_of(r, 0), 0); /* 6 items were not observed */
    end_rig(r);
}

static void graphs_are_entries(void **state) {
    (void)state;
    rig *r = make_rig(test_device(), MOST);
    qn_stream *stream = qn_device_stream(r->f.device);
    qn_graph *graph;
    assert_ok(r->f.context, qn_graph_begin(stream));
    for (int i = 0; i < 3; i++) add(r, stream, 8);
    assert_ok(r->f.context, qn_graph_end(stream, &graph));
    for (int i = 0; i < 4; i++) assert_ok(r->f.context, qn_graph_launch(stream, graph));
    add(r, stream, 8);
    assert_ok(r->f.context, qn_stream_wait(stream, QN_FOREVER));
    assert_int_equal(entries_of(r, 0), 5);
    check_times(r, 5);
    for (int i = 0; i < 4; i++) {
        assert_string_equal(r->entries[i].kernel, "");
        assert_int_equal(r->entries[i].commands, 3);
    }
    assert_string_equal(r->entries[4].kernel, "add");
    end_rig(r);
}

/* An interpreted kernel that leaves its buffer fails; the launches beside it do not, nor do those of a graph without it. */
static void failures_are_told(void **state) {
    (void)state;
    qn_context *context = make_context(&(qn_context_desc){.cpu_compiler = "none"});
    qn_device *device = get_device(context, "cpu");
    qn_program *program = make_program(device, source);
    qn_kernel *kernel = make_kernel(program, context, "add");
    qn_buffer *x = make_buffer(device, 64, NULL);
    qn_stream *stream = qn_device_stream(device);
    qn_history_entry entries[8];
    qn_graph *graph;
    uint32_t count;
    assert_ok(context, qn_history_keep(context, 8));
    assert_ok(context, qn_graph_begin(stream));
    for (int i = 0; i < 3; i++)
        assert_ok(context, qn_launch(stream, kernel, QN_RANGE(i == 1 ? 17 : 16), QN_ARGS(x, 1)));
    assert_ok(context, qn_graph_end(stream, &graph));
    assert_ok(context, qn_launch(stream, kernel, QN_RANGE(16), QN_ARGS(x, 1)));
    assert_ok(context, qn_launch(stream, kernel, QN_RANGE(17), QN_ARGS(x, 1)));
    assert_ok(context, qn_launch(stream, kernel, QN_RANGE(16), QN_ARGS(x, 1)));
    assert_ok(context, qn_graph_launch(stream, graph));
    assert_fails(context, qn_stream_wait(stream, QN_FOREVER), QN_ERROR_KERNEL_FAILED, "reads 4 bytes");
    assert_ok(context, qn_history_read(context, 0, entries, 8, &count));
    assert_int_equal(count, 4);
    const qn_status wanted[] = {QN_OK, QN_ERROR_KERNEL_FAILED, QN_OK, QN_ERROR_KERNEL_FAILED};
    for (int i = 0; i < 4; i++) assert_int_equal(entries[i].status, wanted[i]);
    qn_context_destroy(context);
}

/* What was done before, what runs and what has not begun, and what comes afterwards. */
static void cancelled_work_is_told(void **state) {
    (void)state;
    if (!device_can(QN_CAN_CANCEL, "way to cancel")) return;
    fixture f = make_fixture(test_device(), SPIN_SOURCE, "spin");
    qn_buffer *x = make_buffer(f.device, 4, NULL);
    qn_stream *stream;
    enum { LAUNCHES = 40, TURNS = 50000000 };
    qn_history_entry entries[LAUNCHES + 1];
    uint32_t count;
    assert_ok(f.context, qn_stream_create(f.device, &stream));
    assert_ok(f.context, qn_history_keep(f.context, LAUNCHES + 1));
    for (int i = 0; i < LAUNCHES; i++)
        assert_ok(f.context, qn_launch(stream, f.kernel, QN_RANGE(1), QN_ARGS(x, TURNS)));
    assert_ok(f.context, qn_stream_cancel(stream));
    assert_int_equal(qn_stream_wait(stream, QN_FOREVER), QN_ERROR_CANCELLED);
    assert_ok(f.context, qn_launch(stream, f.kernel, QN_RANGE(1), QN_ARGS(x, 1)));
    assert_ok(f.context, qn_stream_wait(stream, QN_FOREVER));
    assert_ok(f.context, qn_history_read(f.context, 0, entries, LAUNCHES + 1, &count));
    assert_int_equal(count, LAUNCHES + 1);
    bool cancelled = false;
    for (int i = 0; i < LAUNCHES; i++) {
        if (!cancelled && entries[i].status == QN_OK) continue;
        assert_int_equal(entries[i].status, QN_ERROR_CANCELLED);
        if (cancelled) assert_int_equal(entries[i].begin_ns + entries[i].end_ns, 0); /* it never ran */
        cancelled = true;
    }
    assert_true(cancelled);
    assert_int_equal(entries[LAUNCHES].status, QN_OK);
    qn_context_destroy(f.context);
}

/* What another device holds back: its launches wait in the library for an event of the null device's, which comes later. */
static void held_launches_are_in_it(void **state) {
    (void)state;
    rig *r = make_rig(test_device(), MOST);
    qn_device *null = get_device(r->f.context, "null");
    qn_stream *stream = qn_device_stream(r->f.device);
    qn_event *event;
    assert_ok(r->f.context, qn_event_create(null, &event));
    assert_ok(r->f.context, qn_stream_record(qn_device_stream(null), event));
    assert_ok(r->f.context, qn_stream_wait_event(stream, event));
    for (int i = 0; i < 5; i++) add(r, stream, 8);
    assert_ok(r->f.context, qn_stream_wait(stream, QN_FOREVER));
    assert_int_equal(entries_of(r, 0), 5);
    check_times(r, 5);
    for (int i = 0; i < 5; i++) assert_int_equal(r->entries[i].status, QN_OK);
    end_rig(r);
}

enum { THREADS = 4, EACH = 200 };

static void *launch_many(void *user) {
    rig *r = user;
    qn_stream *stream;
    if (qn_stream_create(r->f.device, &stream)) return user;
    for (int i = 0; i < EACH; i++)
        if (qn_launch(stream, r->fill, QN_RANGE(8), QN_ARGS(r->x))) return user;
    const qn_status status = qn_stream_wait(stream, QN_FOREVER);
    qn_stream_destroy(stream);
    return status ? user : NULL;
}

/* Readers beside, and one who keeps it anew: each entry is whole, numbers go up, and in the end all are there. */
static void threads_share_it(void **state) {
    (void)state;
    rig *r = make_rig("null", 4096);
    pthread_t threads[THREADS];
    uint64_t last = 0, seen = 0;
    for (int i = 0; i < THREADS; i++) assert_int_equal(pthread_create(&threads[i], NULL, launch_many, r), 0);
    for (int round = 0; seen < THREADS * EACH && round < 100000; round++) {
        const uint32_t count = entries_of(r, last);
        for (uint32_t i = 0; i < count; i++) {
            assert_int_equal(r->entries[i].number, ++last);
            assert_string_equal(r->entries[i].kernel, "fill");
        }
        seen += count;
    }
    for (int i = 0; i < THREADS; i++) {
        void *failed;
        pthread_join(threads[i], &failed);
        assert_null(failed);
    }
    for (uint32_t more; (more = entries_of(r, last)) > 0; last += more) seen += more;
    assert_int_equal(seen, THREADS * EACH);
    end_rig(r);
}

static void wrong_calls_are_told(void **state) {
    (void)state;
    rig *r = make_rig("null", 0);
    uint32_t count = 9;
    assert_fails(r->f.context, qn_history_read(r->f.context, 0, r->entries, MOST, &count), QN_ERROR_STATE,
                 "no history is kept");
    assert_int_equal(count, 0);
    assert_fails(r->f.context, qn_history_keep(r->f.context, (1u << 20) + 1), QN_ERROR_RANGE,
                 "1048577 entries");
    assert_ok(r->f.context, qn_history_keep(r->f.context, 0));
    assert_ok(r->f.context, qn_history_keep(r->f.context, 4));
    assert_fails(r->f.context, qn_history_read(r->f.context, 0, NULL, 4, &count), QN_ERROR_NULL, "entries");
    assert_fails(r->f.context, qn_history_read(r->f.context, 0, r->entries, 4, NULL), QN_ERROR_NULL, "count");
    end_rig(r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(launches_are_in_it),     cmocka_unit_test(only_the_newest_stay),
        cmocka_unit_test(graphs_are_entries),     cmocka_unit_test(failures_are_told),
        cmocka_unit_test(cancelled_work_is_told), cmocka_unit_test(held_launches_are_in_it),
        cmocka_unit_test(threads_share_it),       cmocka_unit_test(wrong_calls_are_told),
    };
    return run_device_tests(tests);
}
