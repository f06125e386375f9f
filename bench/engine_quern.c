/* A device of quern as an engine: the CPU device, or one by name. */
#include "bench.h"

#include <quern/quern.h>
#include <stdlib.h>
#include <string.h>

struct engine {
    qn_context *context;
    qn_device *device;
    char version[256];
};

struct session {
    engine *engine;
    const workload *load;
    qn_program *program;
    qn_event *begin, *end;
    qn_buffer *buffers[MAX_BUFFERS];
    qn_kernel **kernels; /* one a step */
};

static bool good(const engine *e, qn_status status, char *why) {
    if (status) snprintf(why, WHY_SIZE, "%s: %s", qn_status_name(status), qn_error_message(e->context));
    return !status;
}

static void quern_close(engine *e) {
    qn_context_destroy(e->context);
    free(e);
}

engine *engine_quern_open(const char *device, unsigned threads, char *why) {
    engine *e = bench_alloc(sizeof *e);
    /* Without the cache: what is measured is this build of quern, and its final code. */
    qn_context_desc desc = {.cpu_threads = threads, .disable_cache = true, .cpu_compile_first = true};
    if (!good(e, qn_context_create(&desc, &e->context), why) ||
        !good(e, qn_device_get(e->context, device, &e->device), why)) {
        quern_close(e);
        return NULL;
    }
    qn_device_info info;
    qn_device_get_info(e->device, &info);
    snprintf(e->version, sizeof e->version, "quern %s, %s, %s", qn_version(), info.description, info.driver);
    return e;
}

static engine *quern_open(unsigned threads, char *why) { return engine_quern_open("cpu", threads, why); }

static const char *quern_version(const engine *e) { return e->version; }

static void quern_release(session *s) {
    for (unsigned i = 0; s->kernels && i < s->load->num_steps; i++) qn_kernel_destroy(s->kernels[i]);
    for (unsigned i = 0; i < s->load->num_buffers; i++) qn_buffer_destroy(s->buffers[i]);
    qn_program_destroy(s->program);
    qn_event_destroy(s->begin);
    qn_event_destroy(s->end);
    free(s->kernels);
    free(s);
}

static session *quern_prepare(engine *e, const char *source, const char *options, const workload *load,
                              char *why) {
    session *s = bench_alloc(sizeof *s);
    *s = (session){.engine = e, .load = load};
    s->kernels = bench_alloc(load->num_steps * sizeof(qn_kernel *));
    qn_program_desc desc = {.source = source, .options = options};
    bool fine = good(e, qn_program_create(e->device, &desc, &s->program), why);
    for (unsigned i = 0; fine && i < load->num_steps; i++)
        fine = good(e, qn_kernel_create(s->program, load->steps[i].kernel, &s->kernels[i]), why);
    for (unsigned i = 0; fine && i < load->num_buffers; i++) {
        qn_buffer_desc buffer = {.size = load->buffers[i].size, .data = load->buffers[i].data};
        fine = good(e, qn_buffer_create(e->device, &buffer, &s->buffers[i]), why);
    }
    fine = fine && good(e, qn_event_create(e->device, &s->begin), why) &&
           good(e, qn_event_create(e->device, &s->end), why);
    if (fine) return s;
    quern_release(s);
    return NULL;
}

static bool quern_reset(session *s) {
    qn_stream *stream = qn_device_stream(s->engine->device);
    for (unsigned i = 0; i < s->load->num_buffers; i++) {
        const bench_buffer *b = &s->load->buffers[i];
        if (!b->changing) continue;
        uint32_t zero = 0;
        qn_status status = b->data ? qn_buffer_write(s->buffers[i], 0, b->data, b->size)
                                   : qn_stream_fill(stream, s->buffers[i], 0, b->size, &zero, sizeof zero);
        if (status) return false;
    }
    return qn_stream_wait(stream, QN_FOREVER) == QN_OK;
}

static qn_arg convert(const session *s, bench_arg arg) {
    switch (arg.kind) {
    case ARG_BUFFER: return qn_arg_buffer(s->buffers[arg.value.u]);
    case ARG_UINT: return qn_arg_unsigned(arg.value.u);
    case ARG_INT: return qn_arg_signed(arg.value.i);
    case ARG_FLOAT: return qn_arg_float(arg.value.f);
    default: return qn_arg_local(arg.value.u);
    }
}

static bool submit(session *s, char *why) {
    for (unsigned i = 0; i < s->load->num_steps; i++) {
        const bench_step *step = &s->load->steps[i];
        qn_range range = {.global = {step->global[0], step->global[1]},
                          .local = {step->local[0], step->local[1]}};
        qn_arg args[MAX_ARGS];
        for (unsigned a = 0; a < step->num_args; a++) args[a] = convert(s, step->args[a]);
        if (!good(s->engine, qn_launch(NULL, s->kernels[i], &range, args, step->num_args), why)) return false;
    }
    return true;
}

static bool finish(session *s, char *why) {
    return good(s->engine, qn_stream_wait(qn_device_stream(s->engine->device), QN_FOREVER), why);
}

static bool quern_run(session *s, char *why) { return submit(s, why) && finish(s, why); }

double engine_quern_time(session *s, unsigned repeats, char *why) {
    qn_stream *stream = qn_device_stream(s->engine->device);
    int64_t ns = 0;
    bool fine = good(s->engine, qn_stream_record(stream, s->begin), why);
    for (unsigned i = 0; i < repeats && fine; i++) fine = submit(s, why);
    fine = fine && good(s->engine, qn_stream_record(stream, s->end), why) && finish(s, why) &&
           good(s->engine, qn_event_elapsed(s->begin, s->end, &ns), why);
    return fine ? (double)ns * 1e-6 / repeats : -1;
}

static bool quern_read(session *s, unsigned buffer, void *out) {
    return qn_buffer_read(s->buffers[buffer], 0, out, s->load->buffers[buffer].size) == QN_OK;
}

const engine_type engine_quern = {
    .name = "quern",
    .open = quern_open,
    .version = quern_version,
    .prepare = quern_prepare,
    .reset = quern_reset,
    .run = quern_run,
    .read = quern_read,
    .release = quern_release,
    .close = quern_close,
};
