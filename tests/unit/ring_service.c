/* Rings for programs that do not wait, on any device: calls with a callback, the eventfd, marks of water, credits. */
#include "ring/internal.h"
#include "ring_support.h"

#include <pthread.h>
#if defined(__linux__)
#include <glob.h>
#include <poll.h>
#include <unistd.h>
#endif

enum { MANY = 200 };

/* What callbacks have told. */
typedef struct told {
    _Atomic int count;
    int wrong;
    qn_status status;
    rig *r;
} told;

static void note_reply(void *user, qn_status status, const qn_ring_message *reply, const void *payload) {
    told *t = user;
    const numbers *out = payload;
    if (status || reply->size != sizeof *out || out->x[0] != 2 * t->count + 1) t->wrong++;
    t->status = status;
    t->count++;
}

static void await_count(told *t, int count) {
    for (int i = 0; i < 60000 && t->count < count; i++) pause_ms(1);
    assert_int_equal(t->count, count);
}

/* As many as there is room for at a time; other messages are kept for who receives. */
static void calls_with_callbacks(void **state) {
    (void)state;
    rig r = start(&(qn_ring_desc){0});
    told t = {0};
    numbers other = {{1000}}, out;
    assert_ok(r.context, qn_ring_send(r.ring, NULL, &other, sizeof other, SECONDS(60)));
    for (int i = 0; i < MANY; i++) {
        const numbers in = {{i}};
        qn_status status;
        while ((status = qn_ring_call_async(r.ring, &in, sizeof in, note_reply, &t, SECONDS(60))) ==
               QN_ERROR_TIMEOUT)
            pause_ms(1);
        assert_ok(r.context, status);
    }
    await_count(&t, MANY);
    assert_int_equal(t.wrong, 0);
    assert_ok(r.context, qn_ring_receive(r.ring, NULL, &out, sizeof out, SECONDS(60)));
    assert_int_equal(out.x[0], 2001);
    /* Calls that wait get along with those that do not. */
    assert_ok(r.context, qn_ring_call(r.ring, &other, sizeof other, &out, sizeof out, SECONDS(60)));
    assert_int_equal(out.x[0], 2001);
    finish(&r);
}

/* A message that is sent wakes the thread of calls with callbacks, which has nothing to do then; it has to wake for the next call, too. */
static void a_call_after_a_message(void **state) {
    (void)state;
    rig r = start(&(qn_ring_desc){0});
    told t = {0};
    numbers in = {{0}}, out;
    for (int i = 0; i < 3; i++) {
        in.x[0] = i;
        assert_ok(r.context, qn_ring_call_async(r.ring, &in, sizeof in, note_reply, &t, SECONDS(60)));
        await_count(&t, i + 1);
        pause_ms(20);
        assert_ok(r.context, qn_ring_send(r.ring, NULL, &in, sizeof in, SECONDS(60)));
        assert_ok(r.context, qn_ring_receive(r.ring, NULL, &out, sizeof out, SECONDS(60)));
        pause_ms(20);
    }
    assert_int_equal(t.wrong, 0);
    finish(&r);
}

/* A message may come just as the thread of calls with callbacks lies down, too late for it and too early to wake it. The next call has
   to wake it all the same. */
static void a_call_after_a_message_that_woke_nobody(void **state) {
    (void)state;
    rig r = start(&(qn_ring_desc){0});
    told t = {0};
    for (int i = 0; i < 2; i++) {
        const numbers in = {{i}};
        assert_ok(r.context, qn_ring_call_async(r.ring, &in, sizeof in, note_reply, &t, SECONDS(60)));
        for (int k = 0; k < 60000 && t.count == i; k++) pause_ms(1);
        assert_int_equal(t.count, i + 1);
        while (!atomic_load(&r.ring->service.sleeps)) pause_ms(1);
        atomic_store(&r.ring->service.sleeps, false); /* as such a message does */
    }
    assert_int_equal(t.wrong, 0);
    finish(&r);
}

static void note_status(void *user, qn_status status, const qn_ring_message *reply, const void *payload) {
    told *t = user;
    if (reply || payload) t->wrong++;
    t->status = status;
    t->count++;
}

static void close_here(void *user, qn_status status, const qn_ring_message *reply, const void *payload) {
    told *t = user;
    (void)status, (void)reply, (void)payload;
    t->status = qn_ring_close(t->r->ring, 0);
    t->count++;
}

/* Each callback comes once, whatever becomes of the ring. */
static void calls_without_reply(void **state) {
    (void)state;
    rig r = make(&(qn_ring_desc){0});
    told late = {0}, stopped = {0}, closed = {0}, closing = {.r = &r};
    const numbers in = {{1}};
    assert_fails(r.context, qn_ring_call_async(r.ring, &in, sizeof in, note_status, &late, 0), QN_ERROR_STATE,
                 "qn_ring_call_async: ring 'twice' is created");
    assert_ok(r.context, qn_ring_launch(r.ring, SECONDS(60)));
    assert_fails(r.context, qn_ring_call_async(r.ring, &in, sizeof in, NULL, NULL, 0), QN_ERROR_NULL,
                 "callback is NULL");
    /* Dormant, it answers nothing, and a full queue is not waited for. */
    assert_ok(r.context, qn_ring_call_async(r.ring, &in, sizeof in, note_status, &late, 2000000));
    await_count(&late, 1);
    assert_int_equal(late.status, QN_ERROR_TIMEOUT);
    for (int i = 1; i < 64; i++)
        assert_ok(r.context, qn_ring_call_async(r.ring, &in, sizeof in, note_status, &stopped, QN_FOREVER));
    assert_fails(r.context, qn_ring_call_async(r.ring, &in, sizeof in, note_status, &stopped, QN_FOREVER),
                 QN_ERROR_TIMEOUT, "was full");
    assert_ok(r.context, qn_ring_stop(r.ring, QN_RING_DROP, SECONDS(60)));
    await_count(&stopped, 63);
    assert_int_equal(stopped.status, QN_ERROR_STATE);
    assert_ok(r.context, qn_ring_launch(r.ring, SECONDS(60)));
    assert_ok(r.context, qn_ring_activate(r.ring, SECONDS(60)));
    assert_ok(r.context, qn_ring_call_async(r.ring, &in, sizeof in, close_here, &closing, QN_FOREVER));
    await_count(&closing, 1);
    assert_int_equal(closing.status, QN_ERROR_STATE);
    assert_ok(r.context, qn_ring_pause(r.ring, SECONDS(60)));
    assert_ok(r.context, qn_ring_call_async(r.ring, &in, sizeof in, note_status, &closed, QN_FOREVER));
    finish(&r);
    assert_int_equal(closed.count, 1);
    assert_int_equal(closed.status, QN_ERROR_STATE);
    assert_int_equal(late.wrong + stopped.wrong + closed.wrong, 0);
}

/* A call whose thread is held up between its places among the calls and in the queue: the ring is stopped meanwhile, looked at, and
   launched again. Its message is answered then. */
static void a_call_beside_a_stop(void **state) {
    (void)state;
    rig r = start(&(qn_ring_desc){0});
    told first = {0}, t = {0};
    const numbers in = {{0}};
    assert_ok(r.context, qn_ring_call_async(r.ring, &in, sizeof in, note_reply, &first, SECONDS(60)));
    await_count(&first, 1);
    assert_ok(r.context, qn_ring_stop(r.ring, QN_RING_DRAIN, SECONDS(60)));
    const qn_ring_message message = qn__ring_address(r.ring, NULL, sizeof in, QN__RING_CALL, 1);
    const size_t size = r.ring->desc.reply_size;
    qn__ring_pending *call = r.ring->allocator.allocate(r.ring->allocator.user, sizeof *call + size);
    assert_non_null(call);
    *call = (qn__ring_pending){.id = message.id,
                               .reply = call + 1,
                               .size = size,
                               .callback = note_reply,
                               .user = &t,
                               .deadline_ns = QN_FOREVER};
    pthread_mutex_lock(&r.ring->receive_lock);
    qn__ring_add_pending(r.ring, call);
    r.ring->service.num_async++;
    qn__ring_service_due(r.ring);
    pthread_mutex_unlock(&r.ring->receive_lock);
    while (!atomic_load(&r.ring->service.sleeps)) pause_ms(1); /* it has looked */
    assert_int_equal(t.count, 0);
    assert_ok(r.context, qn_ring_launch(r.ring, SECONDS(60)));
    assert_ok(r.context, qn_ring_activate(r.ring, SECONDS(60)));
    qn__ring_wait none = qn__ring_wait_begin(0);
    assert_ok(r.context, qn__ring_put(r.ring, "test", &message, &in, &none));
    qn__ring_service_sent(r.ring, call, message.id, &none);
    await_count(&t, 1);
    assert_int_equal(t.wrong, 0);
    finish(&r);
}

static void credits(void **state) {
    (void)state;
    rig r = make(&(qn_ring_desc){0});
    const numbers in = {{1}};
    uint32_t count;
    assert_ok(r.context, qn_ring_launch(r.ring, SECONDS(60)));
    for (uint32_t i = 0; i < 64; i++) {
        assert_ok(r.context, qn_ring_get_credits(r.ring, 255, &count));
        assert_int_equal(count, 64 - i);
        qn_ring_message message = {.priority = 200};
        assert_ok(r.context, qn_ring_send(r.ring, &message, &in, sizeof in, 0));
    }
    assert_ok(r.context, qn_ring_get_credits(r.ring, 255, &count));
    assert_int_equal(count, 0);
    assert_ok(r.context, qn_ring_get_credits(r.ring, 0, &count));
    assert_int_equal(count, 64);
    assert_fails(r.context, qn_ring_get_credits(r.ring, 256, &count), QN_ERROR_RANGE, "priority is 256");
    assert_fails(r.context, qn_ring_get_credits(r.ring, 0, NULL), QN_ERROR_NULL, "credits is NULL");
    finish(&r);
}

#if defined(__linux__)

/* Waits for the descriptor until `wanted` has been told. */
static void await_events(const rig *r, int fd, uint32_t wanted) {
    for (uint32_t seen = 0; seen != wanted;) {
        struct pollfd poller = {.fd = fd, .events = POLLIN};
        uint32_t events;
        assert_int_equal(poll(&poller, 1, 60000), 1);
        assert_ok(r->context, qn_ring_take_events(r->ring, &events));
        assert_int_equal(events & ~wanted, 0);
        seen |= events;
    }
}

static bool is_readable(int fd) {
    struct pollfd poller = {.fd = fd, .events = POLLIN};
    return poll(&poller, 1, 5) != 0;
}

static void an_event_loop(void **state) {
    (void)state;
    rig r = make(&(qn_ring_desc){.high_water = 8, .low_water = 2});
    const numbers in = {{5}};
    numbers out;
    int fd, again;
    assert_fails(r.context, qn_ring_event_fd(r.ring, NULL), QN_ERROR_NULL, "fd is NULL");
    assert_fails(r.context, qn_ring_take_events(r.ring, NULL), QN_ERROR_NULL, "events is NULL");
    assert_ok(r.context, qn_ring_event_fd(r.ring, &fd));
    assert_ok(r.context, qn_ring_event_fd(r.ring, &again));
    assert_int_equal(fd, again);
    assert_ok(r.context, qn_ring_launch(r.ring, SECONDS(60)));
    for (int i = 0; i < 7; i++) assert_ok(r.context, qn_ring_send(r.ring, NULL, &in, sizeof in, SECONDS(60)));
    assert_false(is_readable(fd));
    assert_ok(r.context, qn_ring_send(r.ring, NULL, &in, sizeof in, SECONDS(60)));
    await_events(&r, fd, QN_RING_HIGH_WATER);
    assert_false(is_readable(fd));
    assert_ok(r.context, qn_ring_activate(r.ring, SECONDS(60)));
    await_events(&r, fd, QN_RING_LOW_WATER | QN_RING_RECEIVABLE);
    for (int i = 0; i < 8; i++)
        assert_ok(r.context, qn_ring_receive(r.ring, NULL, &out, sizeof out, SECONDS(60)));
    uint32_t events;
    pause_ms(5);
    assert_ok(r.context, qn_ring_take_events(r.ring, &events));
    assert_false(is_readable(fd));
    /* One message, as a server's loop has it. */
    for (int i = 0; i < 20; i++) {
        assert_ok(r.context, qn_ring_send(r.ring, NULL, &in, sizeof in, SECONDS(60)));
        await_events(&r, fd, QN_RING_RECEIVABLE);
        while (!qn_ring_receive(r.ring, NULL, &out, sizeof out, 0)) assert_int_equal(out.x[0], 11);
    }
    finish(&r);
}

/* A failure is told by the descriptor, and ends the calls that wait. */
static void a_failure_is_told(void **state) {
    (void)state;
    static const char text[] =
        "#include \"quern/ring.cl\"\n"
        "void poisoned(qn_ring *ring, local const void *in) { qn_ring_fail(ring, 7); }\n";
    rig r = start(&(qn_ring_desc){.program = {.source = text}, .handler = "poisoned"});
    told t = {0};
    int fd;
    assert_ok(r.context, qn_ring_event_fd(r.ring, &fd));
    assert_ok(r.context, qn_ring_call_async(r.ring, NULL, 0, note_status, &t, SECONDS(60)));
    await_events(&r, fd, QN_RING_HAS_FAILED);
    await_count(&t, 1);
    assert_int_equal(t.status, QN_ERROR_KERNEL_FAILED);
    assert_int_equal(t.wrong, 0);
    finish(&r);
}

/* The ring's file is there as long as the ring. */
static void a_report(void **state) {
    (void)state;
    char folder[] = "/tmp/quern-ring-XXXXXX", pattern[64], text[64] = "";
    glob_t found = {0};
    assert_non_null(mkdtemp(folder));
    snprintf(pattern, sizeof pattern, "%s/%ld-*.json", folder, (long)getpid());
    rig r = make(&(qn_ring_desc){0});
    assert_fails(r.context, qn_ring_report(r.ring, NULL), QN_ERROR_NULL, "folder is NULL");
    assert_ok(r.context, qn_ring_report(r.ring, folder));
    assert_fails(r.context, qn_ring_report(r.ring, folder), QN_ERROR_STATE, "ring 'twice' reports already");
    for (int i = 0; i < 60000 && glob(pattern, 0, NULL, &found) != 0; i++) pause_ms(1);
    assert_int_equal(found.gl_pathc, 1);
    FILE *file = fopen(found.gl_pathv[0], "r");
    assert_non_null(file);
    assert_non_null(fgets(text, sizeof text, file));
    fclose(file);
    globfree(&found);
    assert_ptr_equal(strstr(text, "{\"ring\": \"twice\", \"device\": "), text);
    finish(&r);
    assert_int_equal(rmdir(folder), 0);
}

#else

static void a_report(void **state) { (void)state; }

static void an_event_loop(void **state) {
    (void)state;
    rig r = make(&(qn_ring_desc){0});
    int fd;
    assert_fails(r.context, qn_ring_event_fd(r.ring, &fd), QN_ERROR_UNSUPPORTED, "no eventfd");
    finish(&r);
}

static void a_failure_is_told(void **state) { (void)state; }

#endif

/* ---- blocks ---- */

static const char block_text[] =
    "#include \"quern/ring.cl\"\n"
    "typedef struct numbers { int x[4]; } numbers;\n"
    "void sum(qn_ring *ring, local const numbers *in) {\n"
    "    global int *block = qn_ring_block(ring);\n"
    "    numbers out = {{block ? 0 : -1}};\n"
    "    if (in->x[0] == 9) { qn_ring_fail(ring, 9); return; }\n"
    "    if (block) for (int i = 0; i < QN_RING_BLOCK_SIZE / 4; i++) out.x[0] += block[i]++;\n"
    "    if (in->x[0] == 1) qn_ring_reply_block(ring, &out, sizeof out);\n"
    "    else qn_ring_reply(ring, &out, sizeof out);\n"
    "}\n";

static void cannot_take(const rig *r) {
    uint32_t block;
    void *bytes;
    assert_fails(r->context, qn_ring_take_block(r->ring, &block, &bytes), QN_ERROR_OUT_OF_MEMORY,
                 "none of the 2 blocks of ring 'sum' is free");
}

static int receive_sum(const rig *r, qn_ring_message *message) {
    numbers out;
    assert_ok(r->context, qn_ring_receive(r->ring, message, &out, sizeof out, SECONDS(60)));
    return out.x[0];
}

/* A message may come before the kernel has counted that it is done. */
static uint32_t take_soon(const rig *r, int32_t **bytes) {
    uint32_t block = 99;
    for (int i = 0; i < 60000 && qn_ring_take_block(r->ring, &block, (void **)bytes); i++) pause_ms(1);
    assert_true(block < 2);
    return block;
}

static void send_block(const rig *r, int what, uint32_t block) {
    const numbers in = {{what}};
    assert_ok(r->context, qn_ring_send_block(r->ring, NULL, &in, sizeof in, block, SECONDS(60)));
}

static void blocks(void **state) {
    (void)state;
    enum { INTS = 1024 };
    rig r = start(&(qn_ring_desc){.program = {.source = block_text},
                                  .handler = "sum",
                                  .message_type = "numbers",
                                  .blocks = 2,
                                  .block_size = 4 * INTS});
    int32_t *first, *second, *again;
    uint32_t a = take_soon(&r, &first), b = take_soon(&r, &second), c;
    qn_ring_message message;
    const numbers in = {{0}};
    cannot_take(&r);
    for (int i = 0; i < INTS; i++) first[i] = i, second[i] = 1;
    /* Several messages with one; it is free after the last, and after the program is done with it. */
    for (int i = 0; i < 3; i++) send_block(&r, 0, a);
    for (int i = 0; i < 3; i++) assert_int_equal(receive_sum(&r, &message), INTS * (INTS - 1) / 2 + i * INTS);
    assert_fails(r.context, qn_ring_get_block(r.ring, &message, &c, (void **)&again), QN_ERROR_STATE,
                 "has no block");
    cannot_take(&r);
    assert_ok(r.context, qn_ring_free_block(r.ring, a));
    assert_int_equal(take_soon(&r, &again), a);
    assert_ptr_equal(first, again);
    assert_int_equal(first[1], 4);
    /* Freed while it is on its way, it comes back with the answer. */
    send_block(&r, 1, b);
    assert_ok(r.context, qn_ring_free_block(r.ring, b));
    assert_int_equal(receive_sum(&r, &message), INTS);
    assert_ok(r.context, qn_ring_get_block(r.ring, &message, &c, (void **)&again));
    assert_int_equal(c, b);
    assert_int_equal(again[7], 2);
    cannot_take(&r);
    assert_ok(r.context, qn_ring_free_block(r.ring, b));
    assert_fails(r.context, qn_ring_free_block(r.ring, b), QN_ERROR_STATE, "does not hold block");
    assert_int_equal(take_soon(&r, &again), b);
    /* Without one. */
    assert_ok(r.context, qn_ring_send(r.ring, NULL, &in, sizeof in, SECONDS(60)));
    assert_int_equal(receive_sum(&r, NULL), -1);
    assert_fails(r.context, qn_ring_free_block(r.ring, 2), QN_ERROR_RANGE, "block is 2; ring 'sum' has 2");
    /* A dead letter's block is the program's. */
    send_block(&r, 9, b);
    assert_ok(r.context, qn_ring_free_block(r.ring, b));
    assert_fails(r.context, qn_ring_receive(r.ring, NULL, NULL, 0, SECONDS(60)), QN_ERROR_KERNEL_FAILED,
                 "code 9");
    assert_ok(r.context, qn_ring_restart(r.ring, SECONDS(60)));
    numbers out;
    assert_ok(r.context, qn_ring_dead_letter(r.ring, &message, &out, sizeof out));
    assert_ok(r.context, qn_ring_get_block(r.ring, &message, &c, (void **)&again));
    assert_int_equal(c, b);
    cannot_take(&r);
    assert_ok(r.context, qn_ring_free_block(r.ring, b));
    assert_int_equal(take_soon(&r, &again), b);
    finish(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(calls_with_callbacks),
        cmocka_unit_test(a_call_after_a_message),
        cmocka_unit_test(a_call_after_a_message_that_woke_nobody),
        cmocka_unit_test(calls_without_reply),
        cmocka_unit_test(a_call_beside_a_stop),
        cmocka_unit_test(credits),
        cmocka_unit_test(an_event_loop),
        cmocka_unit_test(a_failure_is_told),
        cmocka_unit_test(a_report),
        cmocka_unit_test(blocks),
    };
    return run_device_tests(tests);
}
