/* y = 2 * x + y on the best device there is, in C++20. */
#include <quern/quern.hpp>

#include <iostream>

static const char source[] = R"(
    kernel void saxpy(uint n, float a, global const float *restrict x, global float *restrict y) {
        size_t i = get_global_id(0);
        if (i < n) y[i] = a * x[i] + y[i];
    }
)";

int main() try {
    const std::vector<float> xs = {1, 2, 3, 4, 5, 6, 7, 8}, ys = {10, 20, 30, 40, 50, 60, 70, 80};
    quern::context context;
    quern::device device = context.device();
    quern::program program(device, source);
    quern::buffer<float> x(device, xs), y(device, ys);
    program.kernel().launch(quern::range(xs.size()), xs.size(), 2.0f, x, y);
    for (float value : y.read()) std::cout << value << ' ';
    std::cout << '\n';
} catch (const quern::error &error) {
    std::cerr << error.what() << '\n';
    return 1;
}
