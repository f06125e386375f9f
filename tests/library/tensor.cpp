/* tensor.h in C++17: shapes, operands that are tensors or numbers, a chain of ops. */
#include <quern/tensor.h>

#include <cstdio>

int main() {
    qn_context *context = nullptr;
    qn_device *device = nullptr;
    qn_tensors *t = nullptr;
    const float in[6] = {1, 2, 3, 4, 5, 6.5f};
    float out[2] = {};
    if (qn_context_create(nullptr, &context) || qn_device_get(context, "cpu", &device) ||
        qn_tensors_create(device, nullptr, &t)) {
        std::printf("tensor.cpp: %s\n", qn_error_message(context));
        return 1;
    }
    qn_tensor *x = qn_from_data(t, QN_F32, QN_SHAPE(2, 3), in);
    qn_tensor *y = qn_sum(qn_relu(qn_subtract(qn_multiply(x, 2), qn_add(1.5, qn_mean(x, QN_AXES(-1), true)))),
                          QN_AXES(1), false);
    if (qn_tensor_read(y, out, sizeof out)) {
        std::printf("tensor.cpp: %s\n", qn_error_message(context));
        return 1;
    }
    const bool good =
        out[0] == 3 && out[1] > 10.9f && out[1] < 11.1f; /* 0 + .5 + 2.5, and of 8 10 13 less 6.67 */
    if (!good) std::printf("tensor.cpp: %g %g\n", out[0], out[1]);
    qn_tensors_destroy(t);
    qn_context_destroy(context);
    return !good;
}
