/* A device under measurement: its objects, copies of operands beyond its caches, and the rates that it can reach. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench.h"

int bench_device_open(bench_device *d, qn_context *context, const char *name) {
    d->context = context;
    qn_status status = qn_device_get(context, name, &d->device);
    if (!status) status = qn_device_get_info(d->device, &d->info);
    if (!status) status = qn_stream_create(d->device, &d->stream);
    if (!status) status = qn_event_create(d->device, &d->begin);
    if (!status) status = qn_event_create(d->device, &d->end);
    if (!status) status = qn_kernels_create(d->device, NULL, &d->kernels);
    if (!status && d->options->tuning)
        status = qn_kernels_create(d->device, &(qn_kernels_desc){.tuning = d->options->tuning}, &d->tuned);
    return status ? tool_fail_status(context, status) : TOOL_OK;
}

void bench_device_close(bench_device *d) {
    qn_kernels_destroy(d->kernels);
    qn_kernels_destroy(d->tuned);
    qn_event_destroy(d->begin);
    qn_event_destroy(d->end);
    qn_stream_destroy(d->stream);
    if (d->device) qn_device_trim(d->device);
}

bool bench_is_gpu(const bench_device *d) {
    return d->info.kind != QN_DEVICE_CPU && !(d->info.capabilities & QN_CAN_EMULATE);
}

bool bench_is_asked_for(const bench_device *d, const char *what) {
    const char *list = d->options->only;
    char begin[64];
    while (list && bench_list_next(&list, begin, sizeof begin))
        if (strncmp(what, begin, strlen(begin)) == 0) return true;
    return !d->options->only;
}

/* ---- copies ---- */

uint64_t bench_beyond_caches(const bench_device *d) {
    const uint64_t most = (uint64_t)256 << 20;
#ifdef _SC_LEVEL3_CACHE_SIZE
    const long cache = bench_is_gpu(d) ? 0 : sysconf(_SC_LEVEL3_CACHE_SIZE);
    if (cache > 0) return (uint64_t)cache * 2;
#endif
    return d->info.memory / 8 < most ? d->info.memory / 8 : most;
}

uint32_t bench_copies_needed(const bench_device *d, uint64_t bytes) {
    enum { MOST = 512 };
    const uint64_t needed = bench_beyond_caches(d) / (bytes ? bytes : 1) + 1;
    return needed < MOST ? (uint32_t)needed : MOST;
}

static qn_status fill(const bench_device *d, const bench_copies *c, uint64_t size, const void *data) {
    const uint8_t ones = 0xff;
    if (!data) return qn_stream_fill(d->stream, c->buffer, 0, qn_buffer_size(c->buffer), &ones, 1);
    qn_status status = qn_stream_write(d->stream, c->views[0], 0, data, size);
    for (uint32_t i = 1; i < c->count && !status; i++)
        status = qn_stream_copy(d->stream, c->views[0], 0, c->views[i], 0, size);
    return status;
}

int bench_copies_create(const bench_device *d, uint64_t size, const void *data, uint32_t count,
                        bench_copies *copies) {
    const uint64_t pitch = (size + 255) / 256 * 256;
    const qn_buffer_desc desc = {.size = pitch * count, .uninitialised = true, .label = "operand"};
    *copies = (bench_copies){.views = tool_alloc(count * sizeof(qn_buffer *)), .count = count};
    qn_status status = qn_buffer_create(d->device, &desc, &copies->buffer);
    for (uint32_t i = 0; i < count && !status; i++)
        status = qn_buffer_view(copies->buffer, i * pitch, size, &copies->views[i]);
    if (!status) status = fill(d, copies, size, data);
    if (!status) status = qn_stream_wait(d->stream, QN_FOREVER);
    return status ? tool_fail_status(d->context, status) : TOOL_OK;
}

void bench_copies_free(bench_copies *copies) {
    for (uint32_t i = 0; i < copies->count; i++) qn_buffer_destroy(copies->views[i]);
    free(copies->views);
    qn_buffer_destroy(copies->buffer);
    *copies = (bench_copies){0};
}

/* ---- rates ---- */

/* peak: CHAINS independent sequences of multiply-adds in each work-item, of vectors T, x = a x + b again and again. */
static const char rates_source[] =
    "kernel void peak(global T *out, float a, float b, uint count) {\n"
    "    T x[CHAINS], sum = 0;\n"
    "    const size_t id = get_global_id(0);\n"
    "    __attribute__((opencl_unroll_hint(CHAINS)))\n"
    "    for (int c = 0; c < CHAINS; c++) x[c] = (T)(float)(id % 64 + c);\n"
    "    for (uint i = 0; i < count; i++) {\n"
    "        __attribute__((opencl_unroll_hint(CHAINS)))\n"
    "        for (int c = 0; c < CHAINS; c++) x[c] = fma(x[c], (T)a, (T)b);\n"
    "    }\n"
    "    __attribute__((opencl_unroll_hint(CHAINS)))\n"
    "    for (int c = 0; c < CHAINS; c++) sum += x[c];\n"
    "    out[id] = sum;\n"
    "}\n"
    "#ifdef UNITS\n" /* the same of fragments, which all have one element in all places */
    "kernel void units(global float *out, float a, float b, uint count) {\n"
    "    qn_matrix(float, 16, 16, qn_use_accumulator) sum[CHAINS];\n"
    "    qn_matrix(qn_bf16, 16, 16, qn_use_a) x;\n"
    "    qn_matrix(qn_bf16, 16, 16, qn_use_b) y;\n"
    "    qn_matrix_fill(&x, a);\n"
    "    qn_matrix_fill(&y, b);\n"
    "    __attribute__((opencl_unroll_hint(CHAINS)))\n"
    "    for (int c = 0; c < CHAINS; c++) qn_matrix_fill(&sum[c], c);\n"
    "    for (uint i = 0; i < count; i++) {\n"
    "        __attribute__((opencl_unroll_hint(CHAINS)))\n"
    "        for (int c = 0; c < CHAINS; c++) qn_matrix_multiply_add(&sum[c], &x, &y);\n"
    "    }\n"
    "    const size_t id = get_group_id(0) * get_num_sub_groups() + get_sub_group_id();\n"
    "    __attribute__((opencl_unroll_hint(CHAINS)))\n"
    "    for (int c = 0; c < CHAINS; c++)\n"
    "        qn_matrix_store(&sum[c], out + (id * CHAINS + c) * 256, 16, qn_row_major);\n"
    "}\n"
    "#endif\n"
    "kernel void copy(global const float4 *restrict from, global float4 *restrict to) {\n"
    "    to[get_global_id(0)] = from[get_global_id(0)];\n"
    "}\n";

/* Which one fills a device's units depends on how it makes vectors of work-items. */
static const struct {
    const char *options;
    uint32_t lanes, chains;
} shapes[] = {{"-D T=float -D CHAINS=16", 1, 16},
              {"-D T=float4 -D CHAINS=8", 4, 8},
              {"-D T=float8 -D CHAINS=12", 8, 12},
              {"-D T=float16 -D CHAINS=8", 16, 8},
              {"-D T=float16 -D CHAINS=16", 16, 16}};
enum { NUM_SHAPES = sizeof shapes / sizeof *shapes, GROUP = 64, LEAST_STEPS = 16, MOST_STEPS = 4096 };

typedef struct rate_task {
    const bench_device *d;
    qn_program *program;
    qn_kernel *kernel;
    bench_copies from, to;
    qn_range range;
    uint32_t steps; /* of each sequence */
} rate_task;

static int rate_kernel(rate_task *t, const char *options, const char *name) {
    const qn_program_desc desc = {.source = rates_source, .path = "rates.cl", .options = options};
    qn_status status = qn_program_create(t->d->device, &desc, &t->program);
    if (!status) status = qn_kernel_create(t->program, name, &t->kernel);
    if (!status) status = qn_program_wait(t->program, QN_FOREVER);
    return status ? tool_fail_status(t->d->context, status) : TOOL_OK;
}

static void rate_free(rate_task *t) {
    qn_kernel_destroy(t->kernel);
    qn_program_destroy(t->program);
    bench_copies_free(&t->from);
    bench_copies_free(&t->to);
}

static const float factor = 0.999f, summand = 0.5f;

static qn_status run_peak(void *user, uint32_t first, uint32_t count) {
    const rate_task *t = user;
    qn_status status = QN_OK;
    (void)first;
    for (uint32_t i = 0; i < count && !status; i++)
        status =
            qn_launch(t->d->stream, t->kernel, &t->range, QN_ARGS(t->to.views[0], factor, summand, t->steps));
    return status;
}

/* Each sequence is a geometric one. */
static int check_peak(const rate_task *t, uint32_t lanes, uint32_t chains) {
    const uint64_t count = t->range.global[0] * lanes;
    const double power = pow((double)factor, t->steps), limit = (double)summand / (1 - (double)factor);
    float *values = tool_alloc(count * sizeof *values);
    qn_status status = qn_buffer_read(t->to.buffer, 0, values, count * sizeof *values);
    int result = status ? tool_fail_status(t->d->context, status) : TOOL_OK;
    for (uint64_t i = 0; i < count && !result; i++) {
        double expected = 0;
        for (uint32_t c = 0; c < chains; c++)
            expected += power * (double)(i / lanes % 64 + c) + limit * (1 - power);
        if (!(fabs((double)values[i] - expected) <= 1e-3 * expected))
            result = tool_fail(TOOL_DIFFERENT, "%s: the loop of multiply-adds gives %g instead of %g",
                               t->d->info.name, (double)values[i], expected);
    }
    free(values);
    return result;
}

/* So many steps that a launch takes a while, where its cost does not count: an interpreter's are slow. */
static int choose_steps(rate_task *t) {
    const double enough_ns = 1e6;
    const bench_task task = {.run = run_peak, .user = t};
    double ns = 0;
    for (t->steps = LEAST_STEPS;; t->steps *= 4) {
        int result = bench_sample(t->d, &task, 1, &ns); /* the first one may be slow */
        if (!result) result = bench_sample(t->d, &task, 1, &ns);
        if (result || ns >= enough_ns || t->steps >= MOST_STEPS) return result;
    }
}

static int peak_of(const bench_device *d, uint32_t shape, double *flops) {
    const uint32_t lanes = shapes[shape].lanes, chains = shapes[shape].chains;
    const uint32_t units = d->info.compute_units ? d->info.compute_units : 16;
    const uint64_t items = (uint64_t)units * (bench_is_gpu(d) ? 128 : 4) * GROUP;
    rate_task t = {.d = d, .range = {.global = {items}, .local = {GROUP}}};
    const bench_task task = {.run = run_peak, .user = &t};
    bench_time time = {.median = 0};
    int result = rate_kernel(&t, shapes[shape].options, "peak");
    if (!result) result = bench_copies_create(d, items * lanes * sizeof(float), NULL, 1, &t.to);
    if (!result) result = choose_steps(&t);
    if (!result) result = bench_measure(d, &task, &time);
    if (!result) result = check_peak(&t, lanes, chains);
    if (!result) *flops = 2.0 * t.steps * chains * lanes * (double)items / time.median * 1e9;
    rate_free(&t);
    return result;
}

int bench_peak(const bench_device *d, double *flops) {
    *flops = 0;
    for (uint32_t i = 0; i < NUM_SHAPES; i++) {
        double rate = 0;
        bench_progress(d, "peak of multiply-adds");
        const int result = peak_of(d, i, &rate);
        if (result) return result;
        *flops = fmax(*flops, rate);
    }
    return TOOL_OK;
}

enum { UNITS_CHAINS = 8, FRAGMENT = 16 };

/* Every step adds as much to each element; the sums are exact. */
static int check_units(const rate_task *t, uint64_t count) {
    const double step = FRAGMENT * 1.0 * (double)summand; /* the factor is 1 in bf16 */
    float *values = tool_alloc(count * sizeof *values);
    const qn_status status = qn_buffer_read(t->to.buffer, 0, values, count * sizeof *values);
    int result = status ? tool_fail_status(t->d->context, status) : TOOL_OK;
    for (uint64_t i = 0; i < count && !result; i++) {
        const double expected = (double)(i / FRAGMENT / FRAGMENT % UNITS_CHAINS) + t->steps * step;
        if ((double)values[i] != expected)
            result = tool_fail(TOOL_DIFFERENT, "%s: the loop of matrix units gives %g instead of %g",
                               t->d->info.name, (double)values[i], expected);
    }
    free(values);
    return result;
}

static bool has_bf16_units(const bench_device *d) {
    qn_matrix_shape s;
    for (uint32_t i = 0; i < d->info.matrix_shapes; i++)
        if (qn_device_get_matrix_shape(d->device, i, &s) == QN_OK && s.a == QN_TYPE_BF16) return true;
    return false;
}

int bench_units_peak(const bench_device *d, double *flops) {
    *flops = 0;
    if (!has_bf16_units(d)) return TOOL_OK;
    enum { SUB_GROUPS = 4, EACH = 8 };
    const uint32_t group = SUB_GROUPS * d->info.sub_group_size;
    const uint64_t groups = (uint64_t)(d->info.compute_units ? d->info.compute_units : 16) * EACH;
    const uint64_t products = groups * SUB_GROUPS * UNITS_CHAINS, count = products * FRAGMENT * FRAGMENT;
    rate_task t = {.d = d, .range = {.global = {groups * group}, .local = {group}}};
    const bench_task task = {.run = run_peak, .user = &t};
    bench_time time = {.median = 0};
    bench_progress(d, "peak of matrix units");
    int result = rate_kernel(&t, "-D UNITS -D T=float -D CHAINS=8", "units");
    if (!result) result = bench_copies_create(d, count * sizeof(float), NULL, 1, &t.to);
    if (!result) result = choose_steps(&t);
    if (!result) result = bench_measure(d, &task, &time);
    if (!result) result = check_units(&t, count);
    if (!result)
        *flops = 2.0 * FRAGMENT * FRAGMENT * FRAGMENT * t.steps * (double)products / time.median * 1e9;
    rate_free(&t);
    return result;
}

static qn_status run_copy(void *user, uint32_t first, uint32_t count) {
    const rate_task *t = user;
    qn_status status = QN_OK;
    (void)first;
    for (uint32_t i = 0; i < count && !status; i++)
        status = qn_launch(t->d->stream, t->kernel, &t->range, QN_ARGS(t->from.buffer, t->to.buffer));
    return status;
}

static int check_copy(const rate_task *t, const float *data, uint64_t bytes) {
    float *values = tool_alloc(bytes);
    const qn_status status = qn_buffer_read(t->to.buffer, 0, values, bytes);
    const int result = status ? tool_fail_status(t->d->context, status) : TOOL_OK;
    const bool is_same = memcmp(values, data, bytes) == 0;
    free(values);
    if (result || is_same) return result;
    return tool_fail(TOOL_DIFFERENT, "%s: a copy differs from what was copied", t->d->info.name);
}

/* All of it, unless the device is so slow that caches do not matter. */
static int choose_part(rate_task *t, uint64_t bytes) {
    const double enough_ns = 5e7;
    const bench_task task = {.run = run_copy, .user = t};
    double ns = 0;
    for (uint64_t part = 256;; part /= 4) {
        t->range.global[0] = bytes / 16 / part;
        const int result = bench_sample(t->d, &task, 1, &ns);
        if (result || ns >= enough_ns || part == 1) return result;
    }
}

int bench_bandwidth(const bench_device *d, double *rate) {
    const uint64_t bytes = bench_beyond_caches(d) / 4096 * 4096;
    float *data = bench_random(bytes / sizeof(float), 1);
    rate_task t = {.d = d};
    const bench_task task = {.run = run_copy, .user = &t};
    bench_time time = {.median = 0};
    bench_progress(d, "bandwidth of copies");
    int result = rate_kernel(&t, shapes[0].options, "copy");
    if (!result) result = bench_copies_create(d, bytes, data, 1, &t.from);
    if (!result) result = bench_copies_create(d, bytes, NULL, 1, &t.to);
    if (!result) result = choose_part(&t, bytes);
    if (!result) result = bench_measure(d, &task, &time);
    const uint64_t copied = t.range.global[0] * 16;
    if (!result) result = check_copy(&t, data, copied);
    if (!result) *rate = 2.0 * (double)copied / time.median * 1e9;
    rate_free(&t);
    free(data);
    return result;
}
