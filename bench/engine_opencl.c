/* An OpenCL driver with its own compiler as an engine, through OpenCL's loader, which is opened at run time: PoCL, or
   any other by its platform's name. */
#include "bench.h"
#include "opencl.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

struct engine {
    void *library;
    OPENCL_FUNCTIONS(OPENCL_MEMBER)
    cl_object device, context, queue;
    const char *platform; /* part of its name */
    char version[256];
};

struct session {
    engine *cl;
    const workload *load;
    cl_object program, buffers[MAX_BUFFERS];
    cl_object *kernels; /* one a step */
};

static bool load_functions(engine *cl, char *why) {
    cl->library = dlopen("libOpenCL.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!cl->library) {
        snprintf(why, WHY_SIZE, "there is no libOpenCL.so.1");
        return false;
    }
    bool all = true;
    void *symbol;
#define LOAD(result, name, parameters)                                                                       \
    symbol = dlsym(cl->library, #name);                                                                      \
    all = all && symbol;                                                                                     \
    memcpy(&cl->name, &symbol, sizeof symbol);
    OPENCL_FUNCTIONS(LOAD)
#undef LOAD
    if (!all) snprintf(why, WHY_SIZE, "libOpenCL.so.1 lacks functions of OpenCL 1.2");
    return all;
}

static bool find_device(engine *cl, char *why) {
    cl_object platforms[16];
    cl_uint count = 0;
    if (cl->clGetPlatformIDs(16, platforms, &count)) count = 0;
    for (cl_uint i = 0; i < count && i < 16; i++) {
        char name[128] = "";
        cl->clGetPlatformInfo(platforms[i], CL_PLATFORM_NAME, sizeof name, name, NULL);
        if (!strstr(name, cl->platform)) continue;
        cl->clGetPlatformInfo(platforms[i], CL_PLATFORM_VERSION, sizeof cl->version, cl->version, NULL);
        if (cl->clGetDeviceIDs(platforms[i], CL_DEVICE_TYPE_ALL, 1, &cl->device, NULL) == 0) return true;
    }
    snprintf(why, WHY_SIZE, "no OpenCL platform is %s", cl->platform);
    return false;
}

/* The library stays open: PoCL's threads may still be at its end. */
static void opencl_close(engine *cl) {
    if (cl->queue) cl->clReleaseCommandQueue(cl->queue);
    if (cl->context) cl->clReleaseContext(cl->context);
    free(cl);
}

engine *engine_opencl_open(const char *platform, char *why) {
    engine *cl = bench_alloc(sizeof *cl);
    cl_int status = 0;
    cl->platform = platform;
    if (load_functions(cl, why) && find_device(cl, why)) {
        cl->context = cl->clCreateContext(NULL, 1, &cl->device, NULL, NULL, &status);
        if (cl->context) cl->queue = cl->clCreateCommandQueue(cl->context, cl->device, 0, &status);
        if (cl->queue) return cl;
        snprintf(why, WHY_SIZE, "%s gives no queue (error %d)", platform, status);
    }
    opencl_close(cl);
    return NULL;
}

static engine *pocl_open(unsigned threads, char *why) {
    char text[16];
    snprintf(text, sizeof text, "%u", threads);
    setenv("POCL_MAX_PTHREAD_COUNT", text, 1);
    return engine_opencl_open("Portable Computing Language", why);
}

static const char *opencl_version(const engine *cl) { return cl->version; }

static void opencl_release(session *s) {
    for (unsigned i = 0; s->kernels && i < s->load->num_steps; i++)
        if (s->kernels[i]) s->cl->clReleaseKernel(s->kernels[i]);
    for (unsigned i = 0; i < s->load->num_buffers; i++)
        if (s->buffers[i]) s->cl->clReleaseMemObject(s->buffers[i]);
    if (s->program) s->cl->clReleaseProgram(s->program);
    free(s->kernels);
    free(s);
}

static bool build(session *s, const char *source, const char *options, char *why) {
    engine *cl = s->cl;
    cl_int status = 0;
    s->program = cl->clCreateProgramWithSource(cl->context, 1, &source, NULL, &status);
    if (!s->program) return false;
    if (cl->clBuildProgram(s->program, 1, &cl->device, options, NULL, NULL) == 0) return true;
    cl->clGetProgramBuildInfo(s->program, cl->device, CL_PROGRAM_BUILD_LOG, WHY_SIZE, why, NULL);
    return false;
}

static bool set_args(session *s, unsigned step) {
    cl_int status = 0;
    for (unsigned a = 0; a < s->load->steps[step].num_args; a++) {
        bench_arg arg = s->load->steps[step].args[a];
        const void *value = &arg.value;
        size_t size = sizeof arg.value;
        if (arg.kind == ARG_BUFFER) {
            value = &s->buffers[arg.value.u];
            size = sizeof(cl_object);
        } else if (arg.kind == ARG_LOCAL) {
            value = NULL;
            size = arg.value.u;
        }
        status |= s->cl->clSetKernelArg(s->kernels[step], a, size, value);
    }
    return status == 0;
}

static session *opencl_prepare(engine *cl, const char *source, const char *options, const workload *load,
                               char *why) {
    session *s = bench_alloc(sizeof *s);
    *s = (session){.cl = cl, .load = load};
    s->kernels = bench_alloc(load->num_steps * sizeof(cl_object));
    snprintf(why, WHY_SIZE, "%s: a call failed", cl->platform);
    cl_int status = 0;
    bool fine = build(s, source, options, why);
    for (unsigned i = 0; fine && i < load->num_buffers; i++) {
        const bench_buffer *b = &load->buffers[i];
        uint64_t flags = CL_MEM_READ_WRITE | (b->data ? CL_MEM_COPY_HOST_PTR : 0u);
        s->buffers[i] = cl->clCreateBuffer(cl->context, flags, b->size, b->data, &status);
        fine = s->buffers[i] != NULL;
    }
    for (unsigned i = 0; fine && i < load->num_steps; i++) {
        s->kernels[i] = cl->clCreateKernel(s->program, load->steps[i].kernel, &status);
        fine = s->kernels[i] && set_args(s, i);
    }
    if (fine) return s;
    opencl_release(s);
    return NULL;
}

static bool opencl_reset(session *s) {
    cl_int status = 0;
    for (unsigned i = 0; i < s->load->num_buffers; i++) {
        const bench_buffer *b = &s->load->buffers[i];
        if (!b->changing) continue;
        void *zeros = b->data ? NULL : bench_alloc(b->size);
        status |= s->cl->clEnqueueWriteBuffer(s->cl->queue, s->buffers[i], 1, 0, b->size,
                                              b->data ? b->data : zeros, 0, NULL, NULL);
        free(zeros);
    }
    return status == 0;
}

static cl_int enqueue(session *s) {
    cl_int status = 0;
    for (unsigned i = 0; i < s->load->num_steps && !status; i++) {
        const bench_step *step = &s->load->steps[i];
        size_t global[2] = {step->global[0], step->global[1]}, local[2] = {step->local[0], step->local[1]};
        status = s->cl->clEnqueueNDRangeKernel(s->cl->queue, s->kernels[i], global[1] ? 2 : 1, NULL, global,
                                               local[0] ? local : NULL, 0, NULL, NULL);
    }
    return status;
}

static cl_int finish(session *s, cl_int status, char *why) {
    if (!status) status = s->cl->clFinish(s->cl->queue);
    if (status) snprintf(why, WHY_SIZE, "%s: error %d", s->cl->platform, status);
    return status;
}

static bool opencl_run(session *s, char *why) { return finish(s, enqueue(s), why) == 0; }

/* By the clock: a wait at the end is part of it. */
double engine_opencl_time(session *s, unsigned repeats, char *why) {
    cl_int status = 0;
    const int64_t begin = bench_now();
    for (unsigned n = 0; n < repeats && !status; n++) status = enqueue(s);
    if (finish(s, status, why)) return -1;
    return (double)(bench_now() - begin) * 1e-6 / repeats;
}

static bool opencl_read(session *s, unsigned buffer, void *out) {
    return s->cl->clEnqueueReadBuffer(s->cl->queue, s->buffers[buffer], 1, 0, s->load->buffers[buffer].size,
                                      out, 0, NULL, NULL) == 0;
}

const engine_type engine_pocl = {
    .name = "PoCL",
    .open = pocl_open,
    .version = opencl_version,
    .prepare = opencl_prepare,
    .reset = opencl_reset,
    .run = opencl_run,
    .read = opencl_read,
    .release = opencl_release,
    .close = opencl_close,
};
