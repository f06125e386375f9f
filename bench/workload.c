/* Building and releasing workloads, reproducible input, time and medians. */
#include "bench.h"
#include "bench_text.h"

#include <quern/kernels.h>

#include <stdlib.h>
#include <string.h>
#include <time.h>

void *bench_alloc(size_t size) {
    void *memory = calloc(1, size ? size : 1);
    if (!memory) {
        fprintf(stderr, "quern_bench: out of memory\n");
        exit(3);
    }
    return memory;
}

unsigned workload_buffer(workload *load, size_t size, void *data, bool changing) {
    load->buffers[load->num_buffers] = (bench_buffer){size, data, changing};
    return load->num_buffers++;
}

void workload_step(workload *load, const char *kernel, uint64_t global_x, uint64_t global_y, uint32_t local_x,
                   uint32_t local_y, const bench_arg *args, unsigned num_args) {
    if (!load->steps) load->steps = bench_alloc(MAX_STEPS * sizeof *load->steps);
    bench_step *step = &load->steps[load->num_steps++];
    *step = (bench_step){
        .kernel = kernel, .global = {global_x, global_y}, .local = {local_x, local_y}, .num_args = num_args};
    memcpy(step->args, args, num_args * sizeof *args);
}

void workload_free(workload *load) {
    for (unsigned i = 0; i < load->num_buffers; i++) free(load->buffers[i].data);
    free(load->steps);
}

const char *bench_source(const char *name) {
    qn_program_desc desc = {0};
    const char *own = bench_text(name, NULL);
    return own ? own : qn_kernels_source(name, &desc) ? desc.source : NULL;
}

uint32_t bench_random(uint32_t *state) {
    uint32_t x = *state;
    x ^= x << 13;
    x ^= x >> 17;
    x ^= x << 5;
    return *state = x;
}

float bench_uniform(uint32_t *state, float low, float high) {
    return low + (high - low) * (float)(bench_random(state) >> 8) * 0x1p-24f;
}

float *bench_floats(size_t count, float low, float high, uint32_t seed) {
    float *values = bench_alloc(count * sizeof *values);
    for (size_t i = 0; i < count; i++) values[i] = bench_uniform(&seed, low, high);
    return values;
}

static int64_t read_clock(clockid_t clock) {
    struct timespec now;
    clock_gettime(clock, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

int64_t bench_now(void) { return read_clock(CLOCK_MONOTONIC); }

int64_t bench_cpu_now(void) { return read_clock(CLOCK_PROCESS_CPUTIME_ID); }

static int by_value(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double bench_median(double *values, size_t count) {
    if (count == 0) return 0;
    qsort(values, count, sizeof *values, by_value);
    return count % 2 ? values[count / 2] : 0.5 * (values[count / 2 - 1] + values[count / 2]);
}
