/* A device of the fake CUDA driver with kernels that it knows by their names. */
#ifndef QN_TEST_CUDA_RIG_H
#define QN_TEST_CUDA_RIG_H

#include "api_support.h"
#include "find_fake.h"

static const char source[] = "kernel void fill(global uint *p, uint value, uint n) {\n"
                             "    if (get_global_id(0) < n) p[get_global_id(0)] = value;\n"
                             "}\n"
                             "kernel void bad(void) {}\n"
                             "kernel void hang(void) {}\n";

typedef struct rig {
    qn_context *context;
    qn_device *device;
    qn_program *program;
    qn_kernel *fill, *bad, *hang;
    qn_buffer *buffer; /* of 1024 words */
} rig;

static inline rig make_rig(const qn_context_desc *desc) {
    rig r;
    fake.reset();
    r.context = make_context(desc);
    r.device = get_device(r.context, "cuda:0");
    r.program = make_program(r.device, source);
    r.fill = make_kernel(r.program, r.context, "fill");
    r.bad = make_kernel(r.program, r.context, "bad");
    r.hang = make_kernel(r.program, r.context, "hang");
    r.buffer = make_buffer(r.device, 4096, NULL);
    return r;
}

static const qn_context_desc no_cache = {.disable_cache = true};

static inline void drop_rig(rig *r) {
    qn_context_destroy(r->context);
    assert_int_equal(fake.live(FAKE_CONTEXTS), 0);
    assert_int_equal(fake.depth(), 0);
}

static inline void nothing_left(void) {
    for (int kind = 0; kind < FAKE_LIVE_COUNT; kind++)
        if (fake.live((fake_live_kind)kind)) fail_msg("%ld of kind %d", fake.live(kind), kind);
}

#endif
