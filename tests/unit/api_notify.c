/* Being told that work is done, without waiting: callbacks of streams, and descriptors of events in a poll loop. */
#include "api_support.h"

#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>

/* What callbacks have told. */
typedef struct told {
    pthread_mutex_t lock;
    int calls, last; /* last: its place */
    bool in_order;
    qn_status status;
    char message[200];
    pthread_t thread;
} told;

#define NOBODY                                                                                               \
    { .lock = PTHREAD_MUTEX_INITIALIZER, .last = -1, .in_order = true }

typedef struct place {
    told *told;
    int index;
} place;

static void tell(void *user, qn_status status, const char *message) {
    const place *p = user;
    told *t = p->told;
    pthread_mutex_lock(&t->lock);
    t->calls++;
    t->in_order &= p->index == t->last + 1;
    t->last = p->index;
    t->status = status;
    snprintf(t->message, sizeof t->message, "%s", message);
    t->thread = pthread_self();
    pthread_mutex_unlock(&t->lock);
}

static int calls(told *t) {
    pthread_mutex_lock(&t->lock);
    const int count = t->calls;
    pthread_mutex_unlock(&t->lock);
    return count;
}

static bool comes(told *t, int count) {
    const double end = test_seconds() + 60;
    while (calls(t) < count && test_seconds() < end) nanosleep(&(struct timespec){.tv_nsec = 200000}, NULL);
    return calls(t) == count;
}

static void a_callback_comes_once_behind_the_work(void **state) {
    (void)state;
    fixture f = make_fixture(test_device(), SPIN_SOURCE, "spin");
    qn_stream *stream;
    assert_ok(f.context, qn_stream_create(f.device, &stream));
    qn_buffer *buffer = make_buffer(f.device, 4, NULL);
    const int count = spin_for(&f, 0.1);
    told t = NOBODY;
    place first = {&t, 0}, second = {&t, 1}, third = {&t, 2};
    qn_event *behind;
    bool done;
    assert_ok(f.context, qn_event_create(f.device, &behind));
    assert_ok(f.context, qn_stream_on_done(stream, tell, &first)); /* nothing to wait for */
    assert_true(comes(&t, 1));
    assert_ok(f.context, spin(&f, stream, buffer, count));
    assert_ok(f.context, qn_stream_record(stream, behind));
    assert_ok(f.context, qn_stream_on_done(stream, tell, &second));
    const int told_by_now = calls(&t);
    assert_ok(f.context, qn_event_done(behind, &done));
    assert_true(told_by_now == 1 || done);                 /* done: on a busy machine */
    assert_ok(f.context, spin(&f, stream, buffer, count)); /* not waited for by the second */
    assert_ok(f.context, qn_stream_on_done(stream, tell, &third));
    assert_ok(f.context, qn_stream_wait(stream, QN_FOREVER));
    assert_true(comes(&t, 3));
    assert_true(t.in_order);
    assert_int_equal(t.status, QN_OK);
    assert_string_equal(t.message, "");
    assert_false(pthread_equal(t.thread, pthread_self()));
    nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL);
    assert_int_equal(calls(&t), 3);
    qn_context_destroy(f.context);
    assert_int_equal(t.calls, 3);
}

/* Nobody waits here: the callbacks alone tell. */
static void many_come_in_order(void **state) {
    enum { MANY = 500 };
    (void)state;
    fixture f = make_fixture(test_device(), SPIN_SOURCE, "spin");
    qn_buffer *buffer = make_buffer(f.device, 4, NULL);
    static place places[MANY];
    told t = NOBODY;
    for (int i = 0; i < MANY; i++) {
        places[i] = (place){&t, i};
        assert_ok(f.context, qn_launch(NULL, f.kernel, QN_RANGE(1), QN_ARGS(buffer, 10)));
        assert_ok(f.context, qn_stream_on_done(qn_device_stream(f.device), tell, &places[i]));
    }
    assert_true(comes(&t, MANY));
    assert_true(t.in_order);
    qn_context_destroy(f.context);
}

static void all_come_before_the_end(void **state) {
    (void)state;
    fixture f = make_fixture(test_device(), SPIN_SOURCE, "spin");
    qn_buffer *buffer = make_buffer(f.device, 4, NULL);
    const int count = spin_for(&f, 0.02);
    told t = NOBODY;
    place places[4];
    for (int i = 0; i < 4; i++) {
        qn_stream *stream;
        places[i] = (place){&t, i};
        assert_ok(f.context, qn_stream_create(f.device, &stream));
        assert_ok(f.context, spin(&f, stream, buffer, count));
        assert_ok(f.context, qn_stream_on_done(stream, tell, &places[i]));
        if (i % 2) qn_stream_destroy(stream);
    }
    qn_context_destroy(f.context);
    assert_int_equal(t.calls, 4);
    assert_int_equal(t.status, QN_OK);
}

static void what_cannot_be_waited_for(void **state) {
    (void)state;
    fixture f = make_fixture(test_device(), SPIN_SOURCE, "spin");
    qn_stream *stream = qn_device_stream(f.device);
    qn_graph *graph;
    qn_event *event;
    int fd = 5;
    assert_fails(f.context, qn_stream_on_done(stream, NULL, NULL), QN_ERROR_NULL, "callback is NULL");
    assert_ok(f.context, qn_graph_begin(stream));
    assert_fails(f.context, qn_stream_on_done(stream, tell, NULL), QN_ERROR_STATE, "records a graph");
    assert_ok(f.context, qn_graph_end(stream, &graph));
    assert_ok(f.context, qn_event_create(f.device, &event));
    assert_fails(f.context, qn_event_fd(event, NULL), QN_ERROR_NULL, "fd is NULL");
    assert_fails(f.context, qn_event_fd(NULL, &fd), QN_ERROR_NULL, "event is NULL");
    assert_int_equal(fd, -1);
    qn_context_destroy(f.context);
}

/* ---- descriptors ---- */

static bool readable(int fd, int timeout_ms) {
    struct pollfd one = {.fd = fd, .events = POLLIN};
    return poll(&one, 1, timeout_ms) == 1 && (one.revents & POLLIN);
}

static void an_event_loop_over_streams(void **state) {
    enum { STREAMS = 4, ROUNDS = 3 };
    (void)state;
    fixture f = make_fixture(test_device(), SPIN_SOURCE, "spin");
    const int count = spin_for(&f, 0.005);
    qn_stream *streams[STREAMS];
    qn_buffer *buffers[STREAMS];
    qn_event *events[STREAMS];
    struct pollfd polled[STREAMS];
    for (int i = 0; i < STREAMS; i++) {
        assert_ok(f.context, qn_stream_create(f.device, &streams[i]));
        assert_ok(f.context, qn_event_create(f.device, &events[i]));
        buffers[i] = make_buffer(f.device, 4, NULL);
        polled[i].events = POLLIN;
        assert_ok(f.context, qn_event_fd(events[i], &polled[i].fd));
        assert_ok(f.context, spin(&f, streams[i], buffers[i], count * (i + 1)));
        assert_ok(f.context, qn_stream_record(streams[i], events[i]));
    }
    int rounds[STREAMS] = {0}, left = STREAMS;
    while (left) {
        if (poll(polled, STREAMS, 60000) <= 0) fail_msg("nothing becomes readable");
        for (int i = 0; i < STREAMS; i++) {
            bool done;
            if (!(polled[i].revents & POLLIN)) continue;
            assert_ok(f.context, qn_event_done(events[i], &done));
            assert_true(done);
            if (++rounds[i] == ROUNDS) {
                polled[i].fd = -1;
                left--;
                continue;
            }
            assert_ok(f.context, spin(&f, streams[i], buffers[i], count * (i + 1)));
            assert_ok(f.context, qn_stream_record(streams[i], events[i]));
        }
    }
    qn_context_destroy(f.context);
}

static void a_descriptor_is_for_the_newest_recording(void **state) {
    (void)state;
    fixture f = make_fixture(test_device(), SPIN_SOURCE, "spin");
    qn_stream *stream;
    qn_event *event;
    int fd, again;
    bool done;
    uint64_t bytes;
    const int count = spin_for(&f, 0.2);
    qn_buffer *buffer = make_buffer(f.device, 4, NULL);
    assert_ok(f.context, qn_stream_create(f.device, &stream));
    assert_ok(f.context, qn_event_create(f.device, &event));
    assert_ok(f.context, qn_stream_record(stream, event)); /* before it has a descriptor */
    assert_ok(f.context, qn_event_fd(event, &fd));
    assert_ok(f.context, qn_event_fd(event, &again));
    assert_int_equal(fd, again);
    assert_true(readable(fd, 60000));
    assert_true(readable(fd, 0)); /* and stays so */
    assert_ok(f.context, spin(&f, stream, buffer, count));
    assert_ok(f.context, qn_stream_record(stream, event));
    const bool was_readable = readable(fd, 0);
    assert_ok(f.context, qn_event_done(event, &done));
    assert_true(done || !was_readable);
    assert_true(readable(fd, 60000));
    assert_ok(f.context, qn_event_done(event, &done));
    assert_true(done);
    assert_int_equal(read(fd, &bytes, sizeof bytes), sizeof bytes); /* who reads it has it unreadable */
    assert_false(readable(fd, 0));
    qn_context_destroy(f.context);
    assert_int_equal(write(fd, &bytes, sizeof bytes), -1); /* closed with its event */
}

static void launches_of_a_graph_move_it(void **state) {
    (void)state;
    fixture f = make_fixture(test_device(), SPIN_SOURCE, "spin");
    qn_stream *stream = qn_device_stream(f.device);
    qn_buffer *buffer = make_buffer(f.device, 4, NULL);
    qn_event *event;
    qn_graph *graph;
    uint64_t bytes;
    int fd;
    assert_ok(f.context, qn_event_create(f.device, &event));
    assert_ok(f.context, qn_event_fd(event, &fd));
    assert_ok(f.context, qn_graph_begin(stream));
    assert_ok(f.context, qn_launch(stream, f.kernel, QN_RANGE(1), QN_ARGS(buffer, 10)));
    assert_ok(f.context, qn_stream_record(stream, event));
    assert_ok(f.context, qn_graph_end(stream, &graph));
    assert_false(readable(fd, 0));
    for (int i = 0; i < 3; i++) {
        assert_ok(f.context, qn_graph_launch(stream, graph));
        assert_true(readable(fd, 60000));
        assert_int_equal(read(fd, &bytes, sizeof bytes), sizeof bytes);
    }
    qn_context_destroy(f.context);
}

static void never_recorded_is_never_readable(void **state) {
    (void)state;
    fixture f = make_fixture(test_device(), SPIN_SOURCE, "spin");
    qn_event *event;
    int fd;
    assert_ok(f.context, qn_event_create(f.device, &event));
    assert_ok(f.context, qn_event_fd(event, &fd));
    assert_false(readable(fd, 2));
    qn_event_destroy(event);
    qn_context_destroy(f.context);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_callback_comes_once_behind_the_work),
        cmocka_unit_test(many_come_in_order),
        cmocka_unit_test(all_come_before_the_end),
        cmocka_unit_test(what_cannot_be_waited_for),
        cmocka_unit_test(an_event_loop_over_streams),
        cmocka_unit_test(a_descriptor_is_for_the_newest_recording),
        cmocka_unit_test(launches_of_a_graph_move_it),
        cmocka_unit_test(never_recorded_is_never_readable),
    };
    return run_device_tests(tests);
}
