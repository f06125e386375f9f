/* The ranges and inputs of random kernels: the same for all programs that run them. */
#include "random_launch.h"

const char random_options[] = "-cl-std=CL3.0 -cl-fp32-correctly-rounded-divide-sqrt";

qn_range random_range(unsigned long long seed) {
    static const qn_range ranges[] = {{.global = {RANDOM_WIDTH, RANDOM_HEIGHT}, .local = {20, 2, 1}},
                                      {.global = {RANDOM_ITEMS}, .local = {64, 1, 1}},
                                      {.global = {RANDOM_WIDTH, RANDOM_HEIGHT}, .local = {32, 1, 1}},
                                      {.global = {RANDOM_ITEMS}, .local = {37, 1, 1}}};
    return ranges[seed % 4];
}

void random_inputs(int32_t ints[RANDOM_INPUTS], float floats[RANDOM_INPUTS]) {
    for (unsigned i = 0; i < RANDOM_INPUTS; i++) {
        ints[i] = (int32_t)(i * 2654435761u) >> (i % 29);
        floats[i] = (float)((int)(i * 7919 % 257) - 128) * 0.125f;
    }
    floats[3] = 1e30f;
}
