/* Making and releasing workloads, and their numbers. */
#include <stdlib.h>
#include <string.h>

#include "bench_code.h"

uint32_t bench_workload_add(bench_workload *load, size_t size, void *data, bool changing) {
    load->buffers[load->num_buffers] = (bench_workload_buffer){size, data, changing};
    return load->num_buffers++;
}

void bench_workload_launch(bench_workload *load, const char *kernel, uint64_t global_x, uint64_t global_y,
                           uint32_t local_x, uint32_t local_y, const bench_arg *args, uint32_t num_args) {
    if (!load->steps) load->steps = tool_alloc(BENCH_MAX_STEPS * sizeof *load->steps);
    bench_workload_step *step = &load->steps[load->num_steps++];
    *step = (bench_workload_step){
        .kernel = kernel, .global = {global_x, global_y}, .local = {local_x, local_y}, .num_args = num_args};
    memcpy(step->args, args, num_args * sizeof *args);
}

void bench_workload_free(bench_workload *load) {
    for (uint32_t i = 0; i < load->num_buffers; i++) free(load->buffers[i].data);
    free(load->steps);
    *load = (bench_workload){.num_buffers = 0};
}

void bench_workload_fix_group(bench_workload_step *step) {
    if (step->local[0] == 0) {
        step->local[0] = step->global[1] ? 32 : 256;
        step->local[1] = step->global[1] ? 8 : 0;
    }
    while (step->global[0] % step->local[0]) step->local[0] /= 2;
    while (step->local[1] && step->global[1] % step->local[1]) step->local[1] /= 2;
}

void bench_workload_fix_groups(bench_workload *load) {
    for (uint32_t i = 0; i < load->num_steps; i++) bench_workload_fix_group(&load->steps[i]);
}

uint32_t bench_workload_random(uint32_t *state) {
    uint32_t x = *state;
    x ^= x << 13;
    x ^= x >> 17;
    x ^= x << 5;
    return *state = x;
}

float *bench_workload_floats(size_t count, float low, float high, uint32_t seed) {
    float *values = tool_alloc(count * sizeof *values);
    for (size_t i = 0; i < count; i++)
        values[i] = low + (high - low) * (float)(bench_workload_random(&seed) >> 8) * 0x1p-24f;
    return values;
}

/* ---- buffers ---- */

qn_status bench_buffers_make(bench_workload_buffers *b) {
    qn_status status = QN_OK;
    for (uint32_t i = 0; i < b->load->num_buffers && !status; i++) {
        const qn_buffer_desc desc = {.size = b->load->buffers[i].size, .data = b->load->buffers[i].data};
        status = qn_buffer_create(b->d->device, &desc, &b->all[i]);
    }
    return status;
}

qn_status bench_buffers_reset(const bench_workload_buffers *b) {
    const uint8_t zero = 0;
    qn_status status = QN_OK;
    for (uint32_t i = 0; i < b->load->num_buffers && !status; i++) {
        const bench_workload_buffer *from = &b->load->buffers[i];
        if (!from->changing) continue;
        status = from->data ? qn_stream_write(b->d->stream, b->all[i], 0, from->data, from->size)
                            : qn_stream_fill(b->d->stream, b->all[i], 0, from->size, &zero, 1);
    }
    return status;
}

qn_status bench_buffers_read(const bench_workload_buffers *b, uint32_t index, void *to) {
    const qn_status status = qn_stream_wait(b->d->stream, QN_FOREVER);
    return status ? status : qn_buffer_read(b->all[index], 0, to, b->load->buffers[index].size);
}

void bench_buffers_free(bench_workload_buffers *b) {
    for (uint32_t i = 0; i < b->load->num_buffers; i++) qn_buffer_destroy(b->all[i]);
}
