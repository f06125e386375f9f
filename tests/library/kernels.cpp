/* kernels.h in C++17: arrays by their sizes, a copy that converts. */
#include <quern/kernels.h>

#include <cstdio>

int main() {
    qn_context *context = nullptr;
    qn_device *device = nullptr;
    qn_kernels *kernels = nullptr;
    qn_buffer *x = nullptr, *y = nullptr;
    const float in[6] = {1, 2, 3, 4, 5, 6.5f};
    int32_t out[6] = {};
    qn_buffer_desc desc = {};
    desc.size = sizeof in;
    desc.data = in;
    if (qn_context_create(nullptr, &context) || qn_device_get(context, "cpu", &device) ||
        qn_kernels_create(device, nullptr, &kernels) || qn_buffer_create(device, &desc, &x) ||
        qn_buffer_create(device, &desc, &y)) {
        std::printf("kernels.cpp: %s\n", qn_error_message(context));
        return 1;
    }
    qn_copy_desc copy = {};
    copy.to = QN_ARRAY(y, QN_I32, 3, 2);
    copy.from = qn_array_transpose(QN_ARRAY(x, QN_F32, 2, 3), 0, 1);
    if (qn_kernels_copy(kernels, nullptr, &copy) || qn_buffer_read(y, 0, out, sizeof out)) {
        std::printf("kernels.cpp: %s\n", qn_error_message(context));
        return 1;
    }
    const bool good = out[0] == 1 && out[1] == 4 && out[2] == 2 && out[5] == 6;
    if (!good) std::printf("kernels.cpp: %d %d %d ... %d\n", out[0], out[1], out[2], out[5]);
    qn_kernels_destroy(kernels);
    qn_context_destroy(context);
    return !good;
}
