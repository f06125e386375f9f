/* Twins of kernel files that are written in WGSL, as peers of quern bench code. On WebGPU devices the implementation compiles them itself
   (bench_webgpu.c); on all others quern does, with its checks of indices or without. */
#include "bench_wgsl.h"

#include <stdlib.h>
#include <string.h>

#include "bench_text.h"

/* ---- what a launch is given, in WGSL's way ---- */

char *bench_wgsl_text(bench_workload_step *step) {
    char name[64], head[128];
    uint32_t words = 1;
    size_t size;
    snprintf(name, sizeof name, "%s.wgsl", step->kernel);
    const char *twin = bench_text(name, &size);
    if (!twin) return NULL;
    bench_workload_fix_group(step);
    for (uint32_t a = 0; a < step->num_args; a++)
        if (step->args[a].kind == BENCH_LOCAL) words = step->args[a].value.u / 4;
    const int length =
        snprintf(head, sizeof head, "const local_x = %uu; const local_y = %uu; const words = %uu;\n",
                 step->local[0], step->local[1] ? step->local[1] : 1, words);
    char *text = tool_alloc((size_t)length + size + 1);
    memcpy(text, head, (size_t)length);
    memcpy(text + length, twin, size + 1);
    return text;
}

uint32_t bench_wgsl_numbers(const bench_workload_step *step, unsigned char to[BENCH_WGSL_NUMBERS]) {
    uint32_t used = 0;
    memset(to, 0, BENCH_WGSL_NUMBERS);
    for (uint32_t a = 0; a < step->num_args; a++) {
        if (step->args[a].kind == BENCH_BUFFER || step->args[a].kind == BENCH_LOCAL) continue;
        memcpy(to + used, &step->args[a].value, 4);
        used += 4;
    }
    return used;
}

/* ---- quern as the compiler ---- */

typedef struct wgsl_step {
    qn_program *program;
    qn_kernel *kernel;
    qn_buffer *numbers;
    qn_range range;
    qn_arg args[BENCH_MAX_ARGS + 1];
    uint32_t num_args;
} wgsl_step;

typedef struct session {
    bench_workload_buffers buffers;
    wgsl_step *steps; /* as many as the workload has */
} session;

static void release(void *user) {
    session *s = user;
    for (uint32_t i = 0; i < s->buffers.load->num_steps; i++) {
        qn_kernel_destroy(s->steps[i].kernel);
        qn_program_destroy(s->steps[i].program);
        qn_buffer_destroy(s->steps[i].numbers);
    }
    bench_buffers_free(&s->buffers);
    free(s->steps);
    free(s);
}

static qn_status build(const session *s, wgsl_step *to, const char *kernel, const char *text,
                       const char *options) {
    const qn_program_desc desc = {.source = text, .language = QN_LANGUAGE_WGSL, .options = options};
    qn_status status = qn_program_create(s->buffers.d->device, &desc, &to->program);
    if (!status) status = qn_program_wait(to->program, QN_FOREVER);
    return status ? status : qn_kernel_create(to->program, kernel, &to->kernel);
}

static qn_status set_args(const session *s, const bench_workload_step *step, wgsl_step *to) {
    unsigned char numbers[BENCH_WGSL_NUMBERS];
    const uint32_t size = bench_wgsl_numbers(step, numbers);
    const qn_buffer_desc desc = {.size = size, .data = numbers};
    const qn_status status = size ? qn_buffer_create(s->buffers.d->device, &desc, &to->numbers) : QN_OK;
    if (!status && size) to->args[to->num_args++] = qn_arg_buffer(to->numbers);
    for (uint32_t a = 0; a < step->num_args; a++)
        if (step->args[a].kind == BENCH_BUFFER)
            to->args[to->num_args++] = qn_arg_buffer(s->buffers.all[step->args[a].value.u]);
    return status;
}

static void *prepare_with(const bench_device *d, const bench_workload *load, const char *options, char *why) {
    session *s = tool_alloc(sizeof *s);
    *s = (session){.buffers = {.d = d, .load = load}};
    s->steps = tool_alloc(load->num_steps * sizeof *s->steps);
    memset(s->steps, 0, load->num_steps * sizeof *s->steps);
    qn_status status = bench_buffers_make(&s->buffers);
    bool has_twin = true;
    for (uint32_t i = 0; i < load->num_steps && has_twin && !status; i++) {
        bench_workload_step step = load->steps[i];
        char *text = bench_wgsl_text(&step);
        has_twin = text != NULL;
        if (has_twin) status = build(s, &s->steps[i], step.kernel, text, options);
        if (has_twin && !status) status = set_args(s, &step, &s->steps[i]);
        s->steps[i].range = (qn_range){.global = {step.global[0], step.global[1]}};
        free(text);
    }
    if (has_twin && !status) return s;
    if (status) snprintf(why, BENCH_WHY, "%s", qn_error_message(d->context));
    release(s);
    return NULL;
}

static void *prepare(void *peer, const bench_workload *load, const char *file, const char *source,
                     char *why) {
    (void)file, (void)source;
    return prepare_with(*(const bench_device **)peer, load, "-qn-unchecked", why);
}

static void *prepare_checked(void *peer, const bench_workload *load, const char *file, const char *source,
                             char *why) {
    (void)file, (void)source;
    return prepare_with(*(const bench_device **)peer, load, NULL, why);
}

static bool reset(void *user) { return bench_buffers_reset(&((session *)user)->buffers) == QN_OK; }

static bool run(void *user, uint32_t count) {
    const session *s = user;
    qn_status status = QN_OK;
    for (uint32_t r = 0; r < count; r++)
        for (uint32_t i = 0; i < s->buffers.load->num_steps && !status; i++) {
            const wgsl_step *step = &s->steps[i];
            status = qn_launch(s->buffers.d->stream, step->kernel, &step->range, step->args, step->num_args);
        }
    return status == QN_OK;
}

static bool read_back(void *user, uint32_t buffer, void *to) {
    return bench_buffers_read(&((session *)user)->buffers, buffer, to) == QN_OK;
}

static void *open_wgsl(const bench_device *d, char *why) {
    const bench_device **device = tool_alloc(sizeof(const bench_device *));
    (void)why;
    *device = d;
    return device;
}

static const bench_code_peer unchecked = {prepare, reset, run, read_back, release},
                             checked = {prepare_checked, reset, run, read_back, release};

const bench_peer_type
    bench_wgsl = {.name = "wgsl", .is_anywhere = true, .open = open_wgsl, .close = free, .code = &unchecked},
    bench_wgsl_checked = {
        .name = "wgsl-checked", .is_anywhere = true, .open = open_wgsl, .close = free, .code = &checked};
