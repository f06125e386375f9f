/* Several devices of one context: copies between them, and streams that wait for events of others. The devices are
   arguments, as far as they are there; without any they are the processor and the null device. That one and the fake CUDA
   driver's, which run no kernel of these, take part in the copies. */
#include <pthread.h>

#include "api_support.h"

static const char source[] = "kernel void add(global uint *a, uint v) { a[get_global_id(0)] += v; }\n"
                             "kernel void twice(global uint *a) { a[get_global_id(0)] *= 2; }\n" SPIN_SOURCE;

enum { MOST = 6, WORDS = 1000 };

typedef struct member {
    qn_device *device;
    qn_device_info info;
    bool computes;
    qn_program *program;
    qn_kernel *add, *twice, *spin;
} member;

typedef struct world {
    qn_context *context;
    member members[MOST];
    int count, computing; /* those that compute come first */
} world;

static void add_member(world *w, const char *name) {
    member *m = &w->members[w->count];
    if (qn_device_get(w->context, name, &m->device) || qn_device_get_info(m->device, &m->info)) return;
    w->count++;
    m->computes = m->info.kind != QN_DEVICE_NULL && strncmp(m->info.description, "Fake", 4) != 0;
    if (!m->computes) return;
    w->computing++;
    m->program = make_program(m->device, source);
    m->add = make_kernel(m->program, w->context, "add");
    m->twice = make_kernel(m->program, w->context, "twice");
    m->spin = make_kernel(m->program, w->context, "spin");
}

static char *usual[] = {(char[]){"cpu"}, (char[]){"null"}, NULL}, **names = usual;

/* Those that compute are in front. */
static world make_world(void) {
    world w = {.context = make_context(NULL)};
    for (int i = 0; names[i] && w.count < MOST; i++) add_member(&w, names[i]);
    for (int i = 0, front = 0; i < w.count; i++) {
        const member m = w.members[i];
        if (!m.computes) continue;
        w.members[i] = w.members[front];
        w.members[front++] = m;
    }
    return w;
}

static qn_stream *stream_on(const world *w, const member *m) {
    qn_stream *stream;
    assert_ok(w->context, qn_stream_create(m->device, &stream));
    return stream;
}

static qn_event *event_on(const world *w, const member *m) {
    qn_event *event;
    assert_ok(w->context, qn_event_create(m->device, &event));
    return event;
}

/* A test that found nothing to look at among these devices has passed nothing. */
static void end_world(world *w, int looked_at, const char *wanted) {
    qn_context_destroy(w->context);
    if (looked_at) return;
    print_message("skipped: it takes %s\n", wanted);
    skip();
}

/* ---- copies ---- */

static void fill_random(unsigned char *bytes, size_t size, unsigned seed) {
    for (size_t i = 0; i < size; i++) {
        seed = seed * 1664525u + 1013904223u;
        bytes[i] = (unsigned char)(seed >> 24);
    }
}

static void copy_and_check(const world *w, const member *from, const member *to, const member *on,
                           size_t size, size_t from_offset, size_t to_offset) {
    const size_t from_size = size + from_offset + 5, to_size = size + to_offset + 3;
    unsigned char *data = malloc(from_size), *back = malloc(to_size), *wanted = malloc(to_size);
    fill_random(data, from_size, (unsigned)size);
    fill_random(wanted, to_size, 7);
    qn_buffer *a = make_buffer(from->device, from_size, data), *b = make_buffer(to->device, to_size, wanted);
    qn_stream *stream = stream_on(w, on);
    assert_ok(w->context, qn_stream_copy(stream, a, from_offset, b, to_offset, size));
    qn_buffer_destroy(a); /* it is kept until the copy is done */
    assert_ok(w->context, qn_stream_wait(stream, QN_FOREVER));
    assert_ok(w->context, qn_buffer_read(b, 0, back, to_size));
    memcpy(wanted + to_offset, data + from_offset, size);
    if (memcmp(back, wanted, to_size) != 0)
        fail_msg("%zu bytes from %s to %s by a stream of %s", size, from->info.name, to->info.name,
                 on->info.name);
    qn_buffer_destroy(b);
    qn_stream_destroy(stream);
    free(data);
    free(back);
    free(wanted);
}

static void copies_reach_every_device(void **state) {
    (void)state;
    static const size_t sizes[] = {
        1, 4099, 21000003}; /* the last in several pieces, more than are under way at once */
    world w = make_world();
    for (int a = 0; a < w.count; a++)
        for (int b = 0; b < w.count; b++)
            for (int s = 0; s < 3 && a != b; s++) {
                const member *from = &w.members[a], *to = &w.members[b];
                copy_and_check(&w, from, to, from, sizes[s], 3, 16);
                copy_and_check(&w, from, to, to, sizes[s], 0, 5);
            }
    qn_context_destroy(w.context);
}

/* What the host wrote into a map goes along, and a map behind a copy sees it. */
static void copies_and_maps_see_each_other(void **state) {
    (void)state;
    world w = make_world();
    for (int a = 0; a < w.count; a++)
        for (int b = 0; b < w.count; b++) {
            const member *from = &w.members[a], *to = &w.members[b];
            uint32_t *words;
            if (a == b) continue;
            qn_buffer *x = make_buffer(from->device, 4 * WORDS, NULL),
                      *y = make_buffer(to->device, 4 * WORDS, NULL);
            for (uint32_t round = 1; round < 6; round++) {
                qn_stream *stream = qn_device_stream(round % 2 ? from->device : to->device);
                assert_ok(w.context, qn_buffer_map(x, QN_MAP_WRITE, (void **)&words));
                for (int i = 0; i < WORDS; i++) words[i] = round;
                assert_ok(w.context, qn_buffer_unmap(x));
                assert_ok(w.context,
                          qn_buffer_map(y, QN_MAP_WRITE, (void **)&words)); /* newer, but for what comes */
                for (int i = 0; i < WORDS; i++) words[i] = 100 + round;
                assert_ok(w.context, qn_buffer_unmap(y));
                assert_ok(w.context, qn_stream_copy(stream, x, 0, y, 40, 400));
                assert_ok(w.context, qn_buffer_map(y, QN_MAP_READ, (void **)&words)); /* waits for it */
                for (uint32_t i = 0; i < WORDS; i++)
                    if (words[i] != (i >= 10 && i < 110 ? round : 100 + round))
                        fail_msg("%s to %s: word %u is %u", from->info.name, to->info.name, (unsigned)i,
                                 (unsigned)words[i]);
                assert_fails(w.context, qn_stream_copy(stream, x, 0, y, 0, 4), QN_ERROR_STATE, "is mapped");
                assert_ok(w.context, qn_buffer_unmap(y));
            }
            qn_buffer_destroy(x);
            qn_buffer_destroy(y);
        }
    qn_context_destroy(w.context);
}

/* ---- order ---- */

static qn_status add(const member *m, qn_stream *stream, qn_buffer *buffer, uint32_t value) {
    return qn_launch(stream, m->add, QN_RANGE(WORDS), QN_ARGS(buffer, value));
}

/* Round and round over all devices that compute, without a wait of the host's: each adds, doubles and hands on; every round's
   result is kept on the first. By turns the stream of the sender copies, and that of the receiver. */
static void pipelines_go_round(void **state) {
    (void)state;
    enum { ROUNDS = 40 };
    world w = make_world();
    if (w.computing < 2) print_message("%d of the devices computes\n", w.computing);
    if (!w.computing) {
        end_world(&w, 0, "a device that runs kernels");
        return;
    }
    qn_stream *streams[MOST];
    qn_buffer *buffers[MOST], *kept[ROUNDS];
    qn_event *events[MOST];
    const int n = w.computing;
    for (int i = 0; i < n; i++) {
        streams[i] = stream_on(&w, &w.members[i]);
        buffers[i] = make_buffer(w.members[i].device, 4 * WORDS, NULL);
        events[i] = event_on(&w, &w.members[i]);
    }
    uint32_t wanted[ROUNDS], value = 0;
    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < n; i++) {
            const int next = (i + 1) % n;
            const member *m = &w.members[i];
            assert_ok(w.context, add(m, streams[i], buffers[i], (uint32_t)(round + i)));
            assert_ok(w.context, qn_launch(streams[i], m->twice, QN_RANGE(WORDS), QN_ARGS(buffers[i])));
            value = (value + (uint32_t)(round + i)) * 2;
            if (n == 1) continue;
            const bool sends = (round + i) % 2;
            if (sends)
                assert_ok(w.context, qn_stream_copy(streams[i], buffers[i], 0, buffers[next], 0, 4 * WORDS));
            assert_ok(w.context, qn_stream_record(streams[i], events[i]));
            assert_ok(w.context, qn_stream_wait_event(streams[next], events[i]));
            if (!sends)
                assert_ok(w.context,
                          qn_stream_copy(streams[next], buffers[i], 0, buffers[next], 0, 4 * WORDS));
        }
        wanted[round] = value;
        kept[round] = make_buffer(w.members[0].device, 4 * WORDS, NULL);
        assert_ok(w.context, qn_stream_copy(streams[0], buffers[0], 0, kept[round], 0, 4 * WORDS));
        if (n == 1) continue;
        assert_ok(w.context,
                  qn_stream_record(streams[0], events[0])); /* the last must not overwrite it before */
        assert_ok(w.context, qn_stream_wait_event(streams[n - 1], events[0]));
    }
    assert_ok(w.context, qn_stream_wait(streams[0], QN_FOREVER));
    uint32_t words[WORDS];
    for (int round = 0; round < ROUNDS; round++) {
        assert_ok(w.context, qn_buffer_read(kept[round], 0, words, sizeof words));
        for (int i = 0; i < WORDS; i++)
            if (words[i] != wanted[round])
                fail_msg("round %d: word %d is %u, not %u", round, i, (unsigned)words[i],
                         (unsigned)wanted[round]);
    }
    qn_context_destroy(w.context);
}

/* A kernel that takes about that long on this device. */
static int spin_count(const world *w, const member *m, double seconds) {
    const fixture f = {w->context, m->device, m->program, m->spin};
    const int count = spin_for(&f, seconds);
    return m->info.kind == QN_DEVICE_VULKAN && count > 30000 ? 30000
                                                             : count; /* lavapipe's limit of iterations */
}

/* Where the driver itself waits nothing is held: what is submitted comes out the same, but its reads into ordinary memory
   block, and deadlines know one stream. */
static bool waits_itself(const member *a, const member *b) {
    return a->info.kind == QN_DEVICE_CUDA && b->info.kind == QN_DEVICE_CUDA;
}

/* What is submitted to m behind a wait for so many kernels of the slow device comes out as in order. True when the host had
   submitted all of it, and waited a millisecond, before those kernels ended. */
static bool submit_behind(const world *w, const member *slow, const member *m, int kernels) {
    static uint32_t one[WORDS], out[WORDS], out_z[WORDS]; /* what fails leaves reads under way */
    const int count = spin_count(w, slow, 0.05);
    qn_stream *first = stream_on(w, slow), *held = stream_on(w, m), *third = stream_on(w, m);
    qn_buffer *spun = make_buffer(slow->device, 4, NULL), *x = make_buffer(m->device, 4 * WORDS, NULL),
              *y = make_buffer(m->device, 4 * WORDS, NULL), *z = make_buffer(slow->device, 4 * WORDS, NULL);
    qn_event *reached = event_on(w, slow), *behind = event_on(w, m);
    qn_graph *graph;
    uint32_t five = 5;
    bool done = true;
    for (int i = 0; i < WORDS; i++) one[i] = 1;
    assert_ok(w->context, qn_graph_begin(third));
    assert_ok(w->context, add(m, third, x, 10));
    assert_ok(w->context, add(m, third, x, 20));
    assert_ok(w->context, qn_graph_end(third, &graph));
    for (int i = 0; i < kernels; i++)
        assert_ok(w->context, qn_launch(first, slow->spin, QN_RANGE(1), QN_ARGS(spun, count)));
    assert_ok(w->context, qn_stream_record(first, reached));
    assert_ok(w->context, qn_stream_wait_event(held, reached));
    assert_ok(w->context, qn_stream_write(held, x, 0, one, sizeof one));           /* 1 */
    memset(one, 0xff, sizeof one);                                                 /* it was copied */
    assert_ok(w->context, add(m, held, x, 100));                                   /* 101 */
    assert_ok(w->context, qn_graph_launch(held, graph));                           /* 131 */
    assert_ok(w->context, qn_graph_set_launch(graph, 0, NULL, QN_ARGS(x, 1000u))); /* for later ones */
    assert_ok(w->context, qn_stream_copy(held, x, 0, y, 0, 4 * WORDS));
    assert_ok(w->context, qn_stream_fill(held, x, 0, 4 * WORDS, &five, 4)); /* 5 */
    assert_ok(w->context, qn_stream_record(held, behind));
    assert_ok(w->context, qn_stream_wait_event(third, behind)); /* of the same device: held too */
    assert_ok(w->context, add(m, third, x, 2));                 /* 7 */
    assert_ok(w->context, qn_stream_read(third, x, 0, out, sizeof out));
    assert_ok(w->context, qn_stream_wait_event(first, behind)); /* and back */
    assert_ok(w->context, qn_stream_copy(first, y, 0, z, 0, 4 * WORDS));
    qn_buffer_destroy(y);
    qn_event_destroy(reached);
    qn_graph_destroy(graph);
    const qn_status status = qn_event_wait(behind, 1000000);
    if (status) assert_non_null(strstr(qn_error_message(w->context), "was not reached in 1 ms"));
    assert_ok(w->context, qn_event_wait(behind, QN_FOREVER));
    assert_ok(w->context, qn_event_done(behind, &done));
    assert_true(done);
    assert_ok(w->context, qn_stream_wait(third, QN_FOREVER));
    assert_ok(w->context, qn_stream_wait(first, QN_FOREVER));
    assert_ok(w->context, qn_buffer_read(z, 0, out_z, sizeof out_z));
    for (int i = 0; i < WORDS; i++)
        if (out[i] != 7 || out_z[i] != 131)
            fail_msg("%s behind %s: word %d is %u and %u, not 7 and 131", m->info.name, slow->info.name, i,
                     (unsigned)out[i], (unsigned)out_z[i]);
    qn_stream_destroy(first);
    qn_stream_destroy(held);
    qn_stream_destroy(third);
    return status == QN_ERROR_TIMEOUT;
}

/* What is submitted behind a wait for a slow device is held, whatever it is, and the host goes on at once. On a busy machine
   the slow kernels may have ended before it: then there are more of them. */
static void a_held_stream_takes_everything(void **state) {
    (void)state;
    world w = make_world();
    int looked_at = 0;
    for (int a = 0; a < w.computing; a++)
        for (int b = 0; b < w.computing; b++) {
            const member *slow = &w.members[a], *m = &w.members[b];
            if (a == b) continue;
            looked_at++;
            bool went_on = waits_itself(slow, m);
            if (went_on) (void)submit_behind(&w, slow, m, 4);
            for (int kernels = 4; kernels < 500 && !went_on; kernels *= 4)
                went_on = submit_behind(&w, slow, m, kernels);
            if (!went_on) fail_msg("%s behind %s: the host was held", m->info.name, slow->info.name);
        }
    end_world(&w, looked_at, "two devices that run kernels");
}

/* What a wait of a millisecond says of x on m that waits for so many kernels of the slow device. */
static void wait_behind(world *w, const member *slow, const member *m, int kernels, char *said, size_t room) {
    const int count = spin_count(w, slow, 0.05);
    qn_stream *first = stream_on(w, slow), *held = stream_on(w, m);
    qn_buffer *spun = make_buffer(slow->device, 4, NULL), *x = make_buffer(m->device, 4 * WORDS, NULL);
    qn_event *event = event_on(w, slow);
    for (int i = 0; i < kernels; i++)
        assert_ok(w->context, qn_launch(first, slow->spin, QN_RANGE(1), QN_ARGS(spun, count)));
    assert_ok(w->context, qn_stream_record(first, event));
    assert_ok(w->context, qn_stream_wait_event(held, event));
    assert_ok(w->context, add(m, held, x, 1));
    const qn_status status = qn_stream_wait(held, 1000000);
    snprintf(said, room, "%s: %s", qn_status_name(status), status ? qn_error_message(w->context) : "");
    assert_ok(w->context, qn_stream_wait(held, QN_FOREVER));
    qn_stream_destroy(held);
    qn_stream_destroy(first);
    qn_buffer_destroy(x);
    qn_buffer_destroy(spun);
    qn_event_destroy(event);
}

/* The device that is waited for is named, with its kernel. On a busy machine the kernels may have ended before the wait
   looks at them: then there are more of them. */
static void deadlines_name_the_other_device(void **state) {
    (void)state;
    world w = make_world();
    int looked_at = 0;
    for (int a = 0; a < w.computing; a++)
        for (int b = 0; b < w.computing; b++) {
            const member *slow = &w.members[a], *m = &w.members[b];
            char wanted[96], said[512] = "";
            if (a == b) continue;
            looked_at++;
            if (waits_itself(slow, m))
                snprintf(wanted, sizeof wanted, "unfinished: kernel add");
            else
                snprintf(wanted, sizeof wanted, "unfinished: kernel add, spin; it waits for %s",
                         slow->info.name);
            for (int kernels = 3; kernels < 1000 && !strstr(said, wanted); kernels *= 4)
                wait_behind(&w, slow, m, kernels, said, sizeof said);
            if (!strstr(said, wanted)) fail_msg("a wait said \"%s\", not \"%s\"", said, wanted);
        }
    end_world(&w, looked_at, "two devices that run kernels");
}

/* What a cancelled stream leaves is the caller's: a copy that has begun has ended by then, and has not begun else. */
static void cancelled_copies_are_over(void **state) {
    enum { SIZE = 24 << 20, STEP = 1 << 12, TIMES = 6 };
    (void)state;
    world w = make_world();
    int looked_at = 0;
    for (int round = 0; round < TIMES * w.count; round++) {
        const member *from = &w.members[round % w.count], *to = &w.members[(round + 1) % w.count];
        if (!(to->info.capabilities & QN_CAN_CANCEL)) continue;
        looked_at++;
        qn_buffer *a = make_buffer(from->device, SIZE, NULL), *b = make_buffer(to->device, SIZE, NULL);
        qn_stream *stream = stream_on(&w, to);
        assert_ok(w.context, qn_stream_copy(stream, a, 0, b, 0, SIZE));
        nanosleep(&(struct timespec){.tv_nsec = 1000000L * (round / w.count)}, NULL);
        assert_ok(w.context, qn_stream_cancel(stream));
        const qn_status status = qn_stream_wait(stream, QN_FOREVER);
        assert_true(status == QN_OK || status == QN_ERROR_CANCELLED);
        unsigned char *mine;
        assert_ok(w.context, qn_buffer_map(b, QN_MAP_WRITE, (void **)&mine));
        for (size_t i = 0; i < SIZE; i += STEP) mine[i] = 9;
        nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL);
        for (size_t i = 0; i < SIZE; i += STEP)
            if (mine[i] != 9) fail_msg("a copy to %s goes on after it was cancelled", to->info.name);
        assert_ok(w.context, qn_buffer_unmap(b));
        qn_buffer_destroy(a);
        qn_buffer_destroy(b);
        qn_stream_destroy(stream);
    }
    end_world(&w, looked_at, "a device that can cancel");
}

static void wrong_mixtures_are_refused(void **state) {
    (void)state;
    world w = make_world();
    qn_context *other = make_context(NULL);
    qn_device *first = w.members[0].device, *null = get_device(w.context, "null"),
              *foreign = get_device(other, "null");
    qn_buffer *a = make_buffer(first, 64, NULL), *b = make_buffer(null, 64, NULL),
              *c = make_buffer(foreign, 64, NULL);
    qn_stream *stream = stream_on(&w, &w.members[0]);
    qn_event *event, *event_of_null;
    qn_graph *graph;
    assert_ok(other, qn_event_create(foreign, &event));
    assert_ok(w.context, qn_event_create(null, &event_of_null));
    assert_ok(w.context, qn_stream_record(NULL, event_of_null));
    assert_fails(w.context, qn_stream_copy(stream, a, 0, c, 0, 4), QN_ERROR_WRONG_CONTEXT, "of two contexts");
    assert_fails(w.context, qn_stream_copy(stream, a, 0, b, 61, 4), QN_ERROR_RANGE,
                 "bytes 61 to 65 of a buffer of 64");
    assert_fails(w.context, qn_stream_copy(stream, a, 65, b, 0, 0), QN_ERROR_RANGE, "bytes 65 to 65");
    assert_ok(w.context, qn_stream_copy(stream, a, 64, b, 0, 0));
    for (int i = 1; i < w.count; i++)
        if (w.members[i].device != null)
            assert_fails(w.context, qn_stream_copy(qn_device_stream(w.members[i].device), a, 0, b, 0, 4),
                         QN_ERROR_WRONG_CONTEXT, "the stream is of neither");
    for (int i = 0; i < 2; i++) { /* either context has the sentence */
        qn_context *asked = i ? other : w.context;
        assert_fails(asked, qn_stream_wait_event(stream, event), QN_ERROR_WRONG_CONTEXT,
                     "qn_stream_wait_event: the event is of another context");
        assert_fails(asked, qn_stream_record(stream, event), QN_ERROR_WRONG_CONTEXT,
                     "qn_stream_record: the event is of another context");
    }
    assert_fails(w.context, qn_stream_record(stream, event_of_null), QN_ERROR_WRONG_CONTEXT,
                 "of another device");
    assert_ok(w.context, qn_graph_begin(stream));
    assert_fails(w.context, qn_stream_copy(stream, a, 0, b, 0, 4), QN_ERROR_STATE,
                 "cannot be recorded in a graph");
    assert_fails(w.context, qn_stream_wait_event(stream, event_of_null), QN_ERROR_STATE,
                 "cannot be recorded");
    assert_ok(w.context, qn_graph_end(stream, &graph));
    qn_context_destroy(other);
    qn_context_destroy(w.context);
}

static bool are_too_few(void) {
    world w = make_world();
    if (w.count < 2) print_message("skipped: %d of the devices are there\n", w.count);
    qn_context_destroy(w.context);
    return w.count < 2;
}

int main(int count, char **arguments) {
    if (count > 1) names = arguments + 1;
    if (are_too_few()) return TEST_SKIPPED;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(copies_reach_every_device),
        cmocka_unit_test(copies_and_maps_see_each_other),
        cmocka_unit_test(pipelines_go_round),
        cmocka_unit_test(a_held_stream_takes_everything),
        cmocka_unit_test(deadlines_name_the_other_device),
        cmocka_unit_test(cancelled_copies_are_over),
        cmocka_unit_test(wrong_mixtures_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
