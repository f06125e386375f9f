/* What the rings' tests share: a device with a ring whose handler doubles four numbers and adds one. */
#ifndef RING_SUPPORT_H
#define RING_SUPPORT_H

#include <quern/ring.h>

#include "api_support.h"

#define SECONDS(n) ((uint64_t)(n)*1000000000u)

typedef struct numbers {
    int32_t x[4];
} numbers;

static const char ring_text[] = "#include \"quern/ring.cl\"\n"
                                "typedef struct numbers { int x[4]; } numbers;\n"
                                "void twice(qn_ring *ring, local const numbers *in) {\n"
                                "    numbers out;\n"
                                "    for (int i = 0; i < 4; i++) out.x[i] = 2 * in->x[i] + 1;\n"
                                "    qn_ring_reply(ring, &out, sizeof out);\n"
                                "}\n";

typedef struct rig {
    qn_context *context;
    qn_device *device;
    qn_ring *ring;
    qn_buffer *state; /* of some */
} rig;

static inline void pause_ms(int ms) { nanosleep(&(struct timespec){.tv_nsec = ms * 1000000L}, NULL); }

/* Made, with the text above where `desc` has none. Sizes are the same for most tests, as each kind of ring is a kernel to
   compile. */
static inline rig make(const qn_ring_desc *desc) {
    rig r = {.context = make_context(NULL)};
    qn_ring_desc full = *desc;
    if (!full.program.source) full.program.source = ring_text;
    if (!full.handler && !full.loop) {
        full.handler = "twice";
        full.message_type = "numbers";
    }
    if (!full.capacity) full.capacity = 64;
    if (!full.bands) full.bands = 4;
    if (!full.message_size) full.message_size = sizeof(numbers);
    r.device = get_device(r.context, test_device());
    assert_ok(r.context, qn_ring_create(r.device, &full, &r.ring));
    return r;
}

static inline rig start(const qn_ring_desc *desc) {
    rig r = make(desc);
    assert_ok(r.context, qn_ring_launch(r.ring, SECONDS(60)));
    assert_ok(r.context, qn_ring_activate(r.ring, SECONDS(60)));
    return r;
}

static inline void finish(rig *r) {
    assert_ok(r->context, qn_ring_close(r->ring, SECONDS(60)));
    assert_ok(r->context, qn_context_close(r->context, SECONDS(60)));
}

static inline qn_ring_state state_of(const rig *r) {
    qn_ring_info info;
    assert_ok(r->context, qn_ring_get_info(r->ring, &info));
    return info.state;
}

static inline bool runs_by_launches(const rig *r) {
    qn_ring_info info;
    assert_ok(r->context, qn_ring_get_info(r->ring, &info));
    return info.mode == QN_RING_LAUNCHES;
}

/* What qn_ring_watch tells once the ring has failed. */
static inline qn_status wait_for_failure(const rig *r) {
    qn_status status = QN_OK;
    for (int i = 0; i < 60000 && !status; i++) {
        pause_ms(1);
        status = qn_ring_watch(r->ring);
    }
    return status;
}

#endif
