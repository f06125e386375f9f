/* ring.h in C++17: a ring on the processor answers a call. */
#include <quern/ring.h>

#include <cstdio>

static const char text[] = "#include \"quern/ring.cl\"\n"
                           "void twice(qn_ring *ring, local const int *in) {\n"
                           "    int out = 2 * *in;\n"
                           "    qn_ring_reply(ring, &out, sizeof out);\n"
                           "}\n";

int main() {
    qn_context *context = nullptr;
    qn_device *device = nullptr;
    qn_ring *ring = nullptr;
    qn_ring_desc desc = {};
    desc.program.source = text;
    desc.handler = "twice";
    desc.message_type = "int";
    desc.message_size = sizeof(int);
    int in = 21, out = 0;
    qn_status status = qn_context_create(nullptr, &context);
    if (!status) status = qn_device_get(context, "cpu", &device);
    if (!status) status = qn_ring_create(device, &desc, &ring);
    if (!status) status = qn_ring_launch(ring, QN_FOREVER);
    if (!status) status = qn_ring_activate(ring, QN_FOREVER);
    if (!status) status = qn_ring_call(ring, &in, sizeof in, &out, sizeof out, QN_FOREVER);
    if (status) std::printf("%s\n", qn_error_message(context));
    qn_ring_destroy(ring);
    qn_context_destroy(context);
    return status || out != 42;
}
