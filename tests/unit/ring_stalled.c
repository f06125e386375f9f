/* A ring's thread that is held up between a look and what comes of it, as a busy system may do: the thread is that of the library, with
   a place to wait in. */
#include "ring/internal.h"
#include "ring_support.h"

static void write_report(struct qn_ring *ring);
#define qn__ring_write_report write_report
#include "../../src/ring/service.c"
#undef qn__ring_write_report

static _Atomic bool stalls;
static _Atomic bool is_stalled, goes_on;

/* Between the look for a failure and the calls that it ends. */
static void write_report(struct qn_ring *ring) {
    qn__ring_write_report(ring);
    if (atomic_load(&ring->state) != QN_RING_FAILED || !atomic_exchange(&stalls, false)) return;
    is_stalled = true;
    while (!goes_on) pause_ms(1);
}

static const char fussy_text[] = "#include \"quern/ring.cl\"\n"
                                 "typedef struct numbers { int x[4]; } numbers;\n"
                                 "void fussy(qn_ring *ring, local const numbers *in) {\n"
                                 "    if (in->x[0] < 0) qn_ring_fail(ring, 7);\n"
                                 "    else qn_ring_reply(ring, in, sizeof *in);\n"
                                 "}\n";

typedef struct told {
    _Atomic int count;
    qn_status status;
    int value;
} told;

static void note(void *user, qn_status status, const qn_ring_message *reply, const void *payload) {
    told *t = user;
    (void)reply;
    t->status = status;
    if (payload) t->value = ((const numbers *)payload)->x[0];
    t->count++;
}

static void call(const rig *r, int value, told *t) {
    const numbers in = {{value}};
    assert_ok(r->context, qn_ring_call_async(r->ring, &in, sizeof in, note, t, SECONDS(60)));
}

static void await_count(const told *t) {
    for (int i = 0; i < 60000 && !t->count; i++) pause_ms(1);
    assert_int_equal(t->count, 1);
}

/* The ring has recovered when its thread goes on: the failure ends the call that came before, and not the one behind it. */
static void a_failure_that_is_over(void **state) {
    (void)state;
    rig r = start(&(qn_ring_desc){.program = {.source = fussy_text}, .handler = "fussy"});
    told before = {0}, failed = {0}, behind = {0};
    call(&r, 3, &before);
    await_count(&before);
    assert_int_equal(before.status, QN_OK);
    atomic_store(&stalls, true);
    call(&r, -1, &failed);
    while (!is_stalled) pause_ms(1); /* nobody else has looked */
    assert_ok(r.context, qn_ring_restart(r.ring, SECONDS(60)));
    call(&r, 5, &behind); /* it waits, as the ring is dormant */
    goes_on = true;
    await_count(&failed);
    assert_int_equal(failed.status, QN_ERROR_KERNEL_FAILED);
    pause_ms(20);
    assert_int_equal(behind.count, 0);
    assert_ok(r.context, qn_ring_activate(r.ring, SECONDS(60)));
    await_count(&behind);
    assert_int_equal(behind.status, QN_OK);
    assert_int_equal(behind.value, 5);
    finish(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_failure_that_is_over)};
    return run_device_tests(tests);
}
