/* quern.h's macros in C++17: ranges and arguments by their types, temporaries for the length of a call. */
#include <quern/quern.h>

#include <cstdio>

namespace {
struct pair {
    float a;
    int b;
};
const char source[] =
    "typedef struct { float a; int b; } pair;\n"
    "kernel void k(global float *x, int n, float f, uchar u, pair s, local float *t, global int *none) {\n"
    "    size_t i = get_global_id(0) + get_global_id(1) * 4;\n"
    "    t[get_local_id(0)] = 1;\n"
    "    if (i < n) x[i] = f * i + u + s.a + s.b + t[get_local_id(0)] + get_local_size(0) * 100 + (none ? "
    "1e6f : 0);\n"
    "}\n";
int failures = 0;

void expect(const float *got, float first, float last) {
    if (got[0] == first && got[15] == last) return;
    std::printf("words.cpp: %g and %g, wanted %g and %g\n", static_cast<double>(got[0]),
                static_cast<double>(got[15]), static_cast<double>(first), static_cast<double>(last));
    failures++;
}
} // namespace

int main() {
    qn_context *context = nullptr;
    qn_device *device = nullptr;
    qn_program *program = nullptr;
    qn_kernel *kernel = nullptr;
    qn_buffer *x = nullptr;
    qn_program_desc desc = {};
    desc.source = source;
    qn_buffer_desc buffer = {};
    buffer.size = 16 * sizeof(float);
    if (qn_context_create(nullptr, &context) || qn_device_get(context, "cpu", &device) ||
        qn_program_create(device, &desc, &program) || qn_kernel_create(program, nullptr, &kernel) ||
        qn_buffer_create(device, &buffer, &x)) {
        std::puts(qn_error_message(context));
        return 1;
    }
    const int n = 16;
    const size_t wide = 4;
    const unsigned char u = 7;
    const pair s = {0.5f, 2};
    const uint64_t wider_than_32_bits[] = {uint64_t{1} << 32, (uint64_t{1} << 32) + 4};
    float got[16];
    if (qn_launch(nullptr, kernel, QN_RANGE_LOCAL(QN_GROUP(wide, 4), QN_GROUP(2, 2)),
                  QN_ARGS(x, n, 2.0f, u, QN_BYTES(s), qn_arg_local(64), nullptr)) ||
        qn_buffer_read(x, 0, got, sizeof got))
        failures++;
    expect(got, 210.5f, 240.5f);
    if (qn_launch(nullptr, kernel, QN_RANGE_LOCAL(QN_GROUP(n), QN_GROUP(4)),
                  QN_ARGS(x, 16L, 1.0, true, QN_BYTES(s), qn_arg_local(64), x)) ||
        qn_buffer_read(x, 0, got, sizeof got))
        failures++;
    expect(got, 1000404.5f, 1000419.5f);
    if (qn_launch(nullptr, kernel, QN_RANGE(0), QN_ARGS(x, 16u, 1, '\1', QN_BYTES(s), qn_arg_local(64), x)))
        failures++;
    for (const uint64_t wide : wider_than_32_bits)
        if (qn_launch(nullptr, kernel, QN_RANGE_LOCAL(QN_GROUP(n), QN_GROUP(wide)),
                      QN_ARGS(x, n, 2.0f, u, QN_BYTES(s), qn_arg_local(64), nullptr)) != QN_ERROR_LAUNCH_SIZE)
            failures++;
    if (qn_launch(nullptr, kernel, QN_RANGE(8), QN_NO_ARGS) != QN_ERROR_ARGUMENT_COUNT) failures++;
    if (failures) std::puts(qn_error_message(context));
    qn_context_destroy(context);
    return failures != 0;
}
