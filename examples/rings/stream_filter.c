/* A filter of samples that come at a fixed rate, a block each 500 us, as from a sound card: a kernel that stays keeps what the filter
   remembers, and each block has to be back before the next one comes.
   Usage: quern_ring_stream_filter [PICTURE.svg] */
#include <math.h>
#include <time.h>

#include "shared.h"

enum { BLOCK = 64, BLOCKS = 1000, PERIOD_NS = 500000 };

typedef struct block {
    float at[BLOCK];
} block;

/* A low pass of second order (R. Bristow-Johnson's cookbook), at a tenth of the rate; on the host the same, to compare with. */
#define FILTER_STEP(x, y, z)                                                                                 \
    y = 0.0675f * x + z[0];                                                                                  \
    z[0] = 0.1349f * x + 1.1430f * y + z[1];                                                                 \
    z[1] = 0.0675f * x - 0.4128f * y

static const char source[] = "#include \"quern/ring.cl\"\n"
                             "typedef struct block { float at[64]; } block;\n"
                             "void filter(qn_ring *ring, local const block *in, global float *z) {\n"
                             "    block out;\n"
                             "    for (int i = 0; i < 64; i++) {\n"
                             "        const float x = in->at[i], y = 0.0675f * x + z[0];\n"
                             "        z[0] = 0.1349f * x + 1.1430f * y + z[1];\n"
                             "        z[1] = 0.0675f * x - 0.4128f * y;\n"
                             "        out.at[i] = y;\n"
                             "    }\n"
                             "    qn_ring_reply(ring, &out, sizeof out);\n"
                             "}\n";

static uint64_t now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * SECOND + (uint64_t)now.tv_nsec;
}

static void sleep_until(uint64_t when) {
    const uint64_t now = now_ns();
    if (now < when) nanosleep(&(struct timespec){.tv_nsec = (long)(when - now)}, NULL);
}

/* A tone, and noise that the filter takes away. */
static float sample(uint32_t i) { return sinf(0.02f * (float)i) + 0.3f * sinf(2.5f * (float)i); }

typedef struct result {
    int wrong, late;
} result;

/* One block: sent when its time has come, compared when it is back. */
static qn_status filter_block(qn_ring *ring, uint32_t number, uint64_t due, float z[2], result *r) {
    block in, out;
    for (uint32_t i = 0; i < BLOCK; i++) in.at[i] = sample(number * BLOCK + i);
    sleep_until(due);
    const qn_status status = qn_ring_call(ring, &in, sizeof in, &out, sizeof out, 10 * SECOND);
    if (status) return status;
    r->late += now_ns() > due + PERIOD_NS;
    for (uint32_t i = 0; i < BLOCK; i++) {
        float y;
        FILTER_STEP(in.at[i], y, z);
        r->wrong += !(fabsf(y - out.at[i]) <= 1e-4f);
    }
    return QN_OK;
}

static qn_status filter_all(qn_ring *ring, result *r) {
    float z[2] = {0, 0};
    const uint64_t begin = now_ns() + PERIOD_NS;
    for (uint32_t i = 0; i < BLOCKS; i++) {
        const qn_status status = filter_block(ring, i, begin + (uint64_t)i * PERIOD_NS, z, r);
        if (status) return status;
    }
    return QN_OK;
}

int main(int argc, char **argv) {
    const float zeros[2] = {0, 0};
    qn_context *context = NULL;
    qn_device *device = NULL;
    qn_buffer *state = NULL;
    qn_ring *ring = NULL;
    result r = {0, 0};
    qn_status status = qn_context_create(NULL, &context);
    if (!status) status = qn_device_get(context, NULL, &device);
    if (!status) status = qn_buffer_create(device, &(qn_buffer_desc){.size = sizeof zeros}, &state);
    if (!status) status = qn_buffer_write(state, 0, zeros, sizeof zeros);
    const qn_ring_desc desc = {.program = {.source = source},
                               .handler = "filter",
                               .message_type = "block",
                               .message_size = sizeof(block),
                               .reply_size = sizeof(block),
                               .state = state,
                               .state_type = "float",
                               .idle = QN_RING_CONTINUOUS};
    if (!status) status = start_ring(device, &desc, &ring);
    if (!status) status = filter_all(ring, &r);
    if (!status) report_ring(ring, "a block of 64 samples each 500 us", argc > 1 ? argv[1] : NULL);
    if (status) fprintf(stderr, "%s: %s\n", qn_status_text(status), qn_error_message(context));
    printf("%d of %d samples wrong; %d of %d blocks came after the next one's time\n", r.wrong,
           BLOCK * BLOCKS, r.late, BLOCKS);
    qn_ring_destroy(ring);
    qn_buffer_destroy(state);
    qn_context_destroy(context);
    return status || r.wrong;
}
