/* The bare CUDA driver: what a careful user of its API would do, with nothing around it. Opened at run time; the few
   declarations needed are written out here (CUDA driver API manual). The context is the device's primary one, which
   quern uses too. */
#include "gpu_cuda.h"

#include "gpu.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

enum {
    ATTRIBUTE_CC_MAJOR = 75,
    ATTRIBUTE_CC_MINOR = 76,
    FUNCTION_SHARED = 1,
    FUNCTION_LOCAL = 3,
    FUNCTION_REGS = 4
};

struct cuda_session {
    cuda *c;
    const workload *load;
    cu_object module, begin, end;
    cu_object *functions; /* one a step */
    uint64_t buffers[MAX_BUFFERS];
};

static bool load_functions(cuda *c, char *why) {
    c->library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!c->library) {
        snprintf(why, WHY_SIZE, "there is no libcuda.so.1");
        return false;
    }
    bool all = true;
    void *symbol;
#define LOAD(name, symbol_name, parameters)                                                                  \
    symbol = dlsym(c->library, #symbol_name);                                                                \
    all = all && symbol;                                                                                     \
    memcpy(&c->name, &symbol, sizeof symbol);
    CUDA_FUNCTIONS(LOAD)
#undef LOAD
    if (!all) snprintf(why, WHY_SIZE, "libcuda.so.1 lacks functions");
    return all;
}

bool cuda_good(const cuda *c, int status, const char *what, char *why) {
    const char *text = NULL;
    if (status == 0) return true;
    c->error_string(status, &text);
    snprintf(why, WHY_SIZE, "%s: %s", what, text ? text : "unknown error");
    return false;
}

cuda *cuda_open(char *why) {
    cuda *c = bench_alloc(sizeof *c);
    char name[128] = "";
    int major = 0, minor = 0, version = 0;
    bool fine = load_functions(c, why) && cuda_good(c, c->init(0), "cuInit", why) &&
                cuda_good(c, c->device_get(&c->device, 0), "cuDeviceGet", why) &&
                cuda_good(c, c->context_retain(&c->context, c->device), "cuDevicePrimaryCtxRetain", why) &&
                cuda_good(c, c->context_set(c->context), "cuCtxSetCurrent", why) &&
                cuda_good(c, c->stream_create(&c->stream, 1), "cuStreamCreate", why);
    if (!fine) {
        cuda_close(c);
        return NULL;
    }
    c->device_name(name, sizeof name, c->device);
    c->driver_version(&version);
    c->device_attribute(&major, ATTRIBUTE_CC_MAJOR, c->device);
    c->device_attribute(&minor, ATTRIBUTE_CC_MINOR, c->device);
    c->arch = 10 * major + minor;
    snprintf(c->description, sizeof c->description, "%s, driver API %d.%d", name, version / 1000,
             version % 1000 / 10);
    return c;
}

void cuda_close(cuda *c) {
    if (c->stream) c->stream_destroy(c->stream);
    if (c->context) c->context_release(c->device);
    free(c);
}

const char *cuda_device(const cuda *c) { return c->description; }
int cuda_arch(const cuda *c) { return c->arch; }

/* ---- workloads ---- */

static bool make_buffer(cuda_session *s, unsigned index, char *why) {
    const bench_buffer *b = &s->load->buffers[index];
    cuda *c = s->c;
    return cuda_good(c, c->alloc(&s->buffers[index], b->size), "cuMemAlloc", why) &&
           cuda_good(c, c->memset8(s->buffers[index], 0, b->size), "cuMemsetD8", why) &&
           (!b->data || cuda_good(c, c->upload(s->buffers[index], b->data, b->size), "cuMemcpyHtoD", why));
}

cuda_session *cuda_prepare(cuda *c, const void *image, const workload *load, char *why) {
    cuda_session *s = bench_alloc(sizeof *s);
    *s = (cuda_session){.c = c, .load = load};
    s->functions = bench_alloc(load->num_steps * sizeof(cu_object));
    bool fine = cuda_good(c, c->context_set(c->context), "cuCtxSetCurrent", why) &&
                cuda_good(c, c->module_load(&s->module, image), "cuModuleLoadData", why);
    for (unsigned i = 0; fine && i < load->num_steps; i++)
        fine = cuda_good(c, c->module_function(&s->functions[i], s->module, load->steps[i].kernel),
                         load->steps[i].kernel, why);
    for (unsigned i = 0; fine && i < load->num_buffers; i++) fine = make_buffer(s, i, why);
    fine = fine && cuda_good(c, c->event_create(&s->begin, 0), "cuEventCreate", why) &&
           cuda_good(c, c->event_create(&s->end, 0), "cuEventCreate", why);
    if (fine) return s;
    cuda_release(s);
    return NULL;
}

bool cuda_reset(cuda_session *s) {
    int status = 0;
    for (unsigned i = 0; i < s->load->num_buffers; i++) {
        const bench_buffer *b = &s->load->buffers[i];
        if (!b->changing) continue;
        status |= b->data ? s->c->upload(s->buffers[i], b->data, b->size)
                          : s->c->memset8(s->buffers[i], 0, b->size);
    }
    return !status && !s->c->context_synchronize();
}

static int launch(cuda_session *s, unsigned index) {
    const bench_step *step = &s->load->steps[index];
    void *params[MAX_ARGS];
    uint32_t shared = 0;
    unsigned count = 0, local_y = step->local[1] ? step->local[1] : 1;
    uint64_t global_y = step->global[1] ? step->global[1] : 1;
    for (unsigned a = 0; a < step->num_args; a++) {
        const bench_arg *arg = &step->args[a];
        if (arg->kind == ARG_LOCAL)
            shared += arg->value.u;
        else
            params[count++] =
                arg->kind == ARG_BUFFER ? (void *)&s->buffers[arg->value.u] : (void *)&arg->value;
    }
    return s->c->launch(s->functions[index], (uint32_t)(step->global[0] / step->local[0]),
                        (uint32_t)(global_y / local_y), 1, step->local[0], local_y, 1, shared, s->c->stream,
                        params, NULL);
}

double cuda_time(cuda_session *s, unsigned repeats, char *why) {
    float ms = 0;
    cuda *c = s->c;
    c->context_set(c->context);
    int status = c->event_record(s->begin, c->stream);
    for (unsigned i = 0; i < repeats; i++)
        for (unsigned k = 0; k < s->load->num_steps && !status; k++) status = launch(s, k);
    if (!status) status = c->event_record(s->end, c->stream);
    if (!status) status = c->event_synchronize(s->end);
    if (!status) status = c->event_elapsed(&ms, s->begin, s->end);
    return cuda_good(c, status, "CUDA", why) ? (double)ms / repeats : -1;
}

bool cuda_read(cuda_session *s, unsigned buffer, void *out) {
    return s->c->download(out, s->buffers[buffer], s->load->buffers[buffer].size) == 0;
}

void cuda_release(cuda_session *s) {
    cuda *c = s->c;
    c->context_synchronize();
    for (unsigned i = 0; i < s->load->num_buffers; i++)
        if (s->buffers[i]) c->free(s->buffers[i]);
    if (s->begin) c->event_destroy(s->begin);
    if (s->end) c->event_destroy(s->end);
    if (s->module) c->module_unload(s->module);
    free(s->functions);
    free(s);
}

bool cuda_kernel_usage(cuda *c, const void *image, const char *name, cuda_usage *usage, char *why) {
    cu_object module = NULL, function = NULL;
    c->context_set(c->context);
    bool fine = cuda_good(c, c->module_load(&module, image), "cuModuleLoadData", why) &&
                cuda_good(c, c->module_function(&function, module, name), name, why);
    if (fine) {
        c->function_attribute(&usage->registers, FUNCTION_REGS, function);
        c->function_attribute(&usage->spill_bytes, FUNCTION_LOCAL, function);
        c->function_attribute(&usage->shared_bytes, FUNCTION_SHARED, function);
    }
    if (module) c->module_unload(module);
    return fine;
}

/* ---- memory ---- */

uint64_t cuda_alloc(cuda *c, size_t size) {
    uint64_t memory = 0;
    c->context_set(c->context);
    return c->alloc(&memory, size) ? 0 : memory;
}

void cuda_free(cuda *c, uint64_t memory) {
    if (memory) c->free(memory);
}

void *cuda_host_alloc(cuda *c, size_t size) {
    void *memory = NULL;
    c->context_set(c->context);
    return c->host_alloc(&memory, size, 0) ? NULL : memory;
}

void cuda_host_free(cuda *c, void *memory) {
    if (memory) c->host_free(memory);
}

double cuda_copy_time(cuda *c, uint64_t to, uint64_t from, size_t size) {
    cu_object begin = NULL, end = NULL;
    float ms = 0;
    c->context_set(c->context);
    int status = c->event_create(&begin, 0) | c->event_create(&end, 0);
    if (!status) status = c->event_record(begin, c->stream);
    if (!status) status = c->copy_async(to, from, size, c->stream);
    if (!status) status = c->event_record(end, c->stream);
    if (!status) status = c->event_synchronize(end);
    if (!status) status = c->event_elapsed(&ms, begin, end);
    if (begin) c->event_destroy(begin);
    if (end) c->event_destroy(end);
    return status ? -1 : (double)ms;
}

double cuda_upload_time(cuda *c, uint64_t to, const void *from, size_t size) {
    c->context_set(c->context);
    int64_t begin = bench_now();
    bool fine = !c->upload_async(to, from, size, c->stream) && !c->stream_synchronize(c->stream);
    return fine ? (double)(bench_now() - begin) * 1e-6 : -1;
}

double cuda_download_time(cuda *c, void *to, uint64_t from, size_t size) {
    c->context_set(c->context);
    int64_t begin = bench_now();
    bool fine = !c->download_async(to, from, size, c->stream) && !c->stream_synchronize(c->stream);
    return fine ? (double)(bench_now() - begin) * 1e-6 : -1;
}
