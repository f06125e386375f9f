/* Sums of vectors by a kernel that stays on the device: a message has two vectors, its reply their sum, both as vectors.h says to
   this program and to its kernel. The header's directory is compiled in, or given.
   Usage: quern_ring_vector_add [PICTURE.svg [DIRECTORY]] */
#include "shared.h"
#include "vectors.h"

enum { COUNT = 1000 };

static const char source[] = "#include \"quern/ring.cl\"\n"
                             "#include \"vectors.h\"\n"
                             "void add(qn_ring *ring, local const vectors *in) {\n"
                             "    sum out;\n"
                             "    for (int i = 0; i < LENGTH; i++) out.at[i] = in->a[i] + in->b[i];\n"
                             "    qn_ring_reply(ring, &out, sizeof out);\n"
                             "}\n";

/* Asks the ring for each sum, and counts those that are wrong. */
static qn_status ask(qn_ring *ring, int *wrong) {
    for (int k = 0; k < COUNT; k++) {
        vectors in;
        sum out;
        for (int i = 0; i < LENGTH; i++) in.a[i] = (float)(k + i), in.b[i] = (float)(2 * k);
        const qn_status status = qn_ring_call(ring, &in, sizeof in, &out, sizeof out, 10 * SECOND);
        if (status) return status;
        for (int i = 0; i < LENGTH; i++) *wrong += out.at[i] != (float)(3 * k + i);
    }
    return QN_OK;
}

int main(int argc, char **argv) {
    char options[1024];
    snprintf(options, sizeof options, "-I \"%s\"", argc > 2 ? argv[2] : EXAMPLE_DIR);
    const qn_ring_desc desc = {.program = {.source = source, .options = options},
                               .handler = "add",
                               .message_type = "vectors",
                               .message_size = sizeof(vectors),
                               .reply_size = sizeof(sum)};
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
