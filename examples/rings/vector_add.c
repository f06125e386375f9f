/* Sums of vectors by a kernel that stays on the device: a message has two vectors, its reply their sum.
   Usage: quern_ring_vector_add [PICTURE.svg] */
#include "shared.h"

enum { LENGTH = 8, COUNT = 1000 };

typedef struct vectors {
    float a[LENGTH], b[LENGTH];
} vectors;

static const char source[] = "#include \"quern/ring.cl\"\n"
                             "typedef struct vectors { float a[8], b[8]; } vectors;\n"
                             "void add(qn_ring *ring, local const vectors *in) {\n"
                             "    float sum[8];\n"
                             "    for (int i = 0; i < 8; i++) sum[i] = in->a[i] + in->b[i];\n"
                             "    qn_ring_reply(ring, sum, sizeof sum);\n"
                             "}\n";

/* Asks the ring for each sum, and counts those that are wrong. */
static qn_status ask(qn_ring *ring, int *wrong) {
    for (int k = 0; k < COUNT; k++) {
        vectors in;
        float sum[LENGTH];
        for (int i = 0; i < LENGTH; i++) in.a[i] = (float)(k + i), in.b[i] = (float)(2 * k);
        const qn_status status = qn_ring_call(ring, &in, sizeof in, sum, sizeof sum, 10 * SECOND);
        if (status) return status;
        for (int i = 0; i < LENGTH; i++) *wrong += sum[i] != (float)(3 * k + i);
    }
    return QN_OK;
}

int main(int argc, char **argv) {
    const qn_ring_desc desc = {.program = {.source = source},
                               .handler = "add",
                               .message_type = "vectors",
                               .message_size = sizeof(vectors),
                               .reply_size = LENGTH * sizeof(float)};
    qn_context *context = NULL;
    qn_device *device = NULL;
    qn_ring *ring = NULL;
    int wrong = 0;
    qn_status status = qn_context_create(NULL, &context);
    if (!status) status = qn_device_get(context, NULL, &device);
    if (!status) status = start_ring(device, &desc, &ring);
    if (!status) status = ask(ring, &wrong);
    if (!status) report_ring(ring, "sums of vectors", argc > 1 ? argv[1] : NULL);
    if (status) fprintf(stderr, "%s: %s\n", qn_status_text(status), qn_error_message(context));
    printf("%d of %d numbers wrong\n", wrong, COUNT * LENGTH);
    qn_ring_destroy(ring);
    qn_context_destroy(context);
    return status || wrong;
}
