/* OpenCL drivers with compilers of their own as peers of quern bench: PoCL beside the processor, and beside quern's OpenCL devices
   the device's own driver, given the kernel files as they are. The few declarations needed are written out here (Khronos,
   OpenCL 1.2 API), so that neither headers nor a library are needed to build. */
#include <stdlib.h>
#include <string.h>

#include "bench_code.h"

typedef int32_t cl_int;
typedef uint32_t cl_uint;
typedef void *cl_object; /* every cl_* handle */

enum {
    CL_PLATFORM_NAME = 0x0902,
    CL_PROGRAM_BUILD_LOG = 0x1183,
    CL_MEM_READ_WRITE = 1,
    CL_MEM_COPY_HOST_PTR = 32
};
#define CL_DEVICE_TYPE_ALL 0xFFFFFFFFu

/* X(result, name, parameters) */
#define OPENCL_FUNCTIONS(X)                                                                                  \
    X(cl_int, clGetPlatformIDs, (cl_uint, cl_object *, cl_uint *))                                           \
    X(cl_int, clGetPlatformInfo, (cl_object, cl_uint, size_t, void *, size_t *))                             \
    X(cl_int, clGetDeviceIDs, (cl_object, uint64_t, cl_uint, cl_object *, cl_uint *))                        \
    X(cl_int, clGetDeviceInfo, (cl_object, cl_uint, size_t, void *, size_t *))                               \
    X(cl_object, clCreateContext, (const intptr_t *, cl_uint, cl_object *, void *, void *, cl_int *))        \
    X(cl_object, clCreateCommandQueue, (cl_object, cl_object, uint64_t, cl_int *))                           \
    X(cl_object, clCreateProgramWithSource, (cl_object, cl_uint, const char **, const size_t *, cl_int *))   \
    X(cl_int, clBuildProgram, (cl_object, cl_uint, const cl_object *, const char *, void *, void *))         \
    X(cl_int, clGetProgramBuildInfo, (cl_object, cl_object, cl_uint, size_t, void *, size_t *))              \
    X(cl_object, clCreateKernel, (cl_object, const char *, cl_int *))                                        \
    X(cl_int, clSetKernelArg, (cl_object, cl_uint, size_t, const void *))                                    \
    X(cl_object, clCreateBuffer, (cl_object, uint64_t, size_t, void *, cl_int *))                            \
    X(cl_int, clEnqueueWriteBuffer,                                                                          \
      (cl_object, cl_object, cl_uint, size_t, size_t, const void *, cl_uint, void *, void *))                \
    X(cl_int, clEnqueueReadBuffer,                                                                           \
      (cl_object, cl_object, cl_uint, size_t, size_t, void *, cl_uint, void *, void *))                      \
    X(cl_int, clEnqueueNDRangeKernel,                                                                        \
      (cl_object, cl_object, cl_uint, const size_t *, const size_t *, const size_t *, cl_uint, void *,       \
       void *))                                                                                              \
    X(cl_int, clFinish, (cl_object))                                                                         \
    X(cl_int, clReleaseMemObject, (cl_object))                                                               \
    X(cl_int, clReleaseKernel, (cl_object))                                                                  \
    X(cl_int, clReleaseProgram, (cl_object))                                                                 \
    X(cl_int, clReleaseCommandQueue, (cl_object))                                                            \
    X(cl_int, clReleaseContext, (cl_object))

typedef struct opencl {
    const bench_device *d;
#define MEMBER(result, name, parameters) result(*name) parameters;
    OPENCL_FUNCTIONS(MEMBER)
#undef MEMBER
    cl_object device, context;
    cl_object queue;           /* its own; NULL: quern's stream is used */
    cl_object program, kernel; /* of launches */
} opencl;

static bool load_functions(opencl *cl, char *why) {
    static const char *const names[] = {"OpenCL.dll", "libOpenCL.so.1", NULL};
#define SYMBOL(result, name, parameters) {#name, &cl->name},
    const bench_symbol symbols[] = {OPENCL_FUNCTIONS(SYMBOL)};
#undef SYMBOL
    return bench_library_load(names, symbols, sizeof symbols / sizeof *symbols, why);
}

static void close_opencl(void *peer) {
    opencl *cl = peer;
    if (cl->kernel) cl->clReleaseKernel(cl->kernel);
    if (cl->program) cl->clReleaseProgram(cl->program);
    if (cl->queue) {
        cl->clReleaseCommandQueue(cl->queue);
        cl->clReleaseContext(cl->context);
    }
    free(cl);
}

/* ---- PoCL ---- */

static bool find_pocl(opencl *cl, char *why) {
    enum { MOST = 16 };
    cl_object platforms[MOST];
    cl_uint count = 0;
    if (cl->clGetPlatformIDs(MOST, platforms, &count)) count = 0;
    for (cl_uint i = 0; i < count && i < MOST; i++) {
        char name[128] = "";
        cl->clGetPlatformInfo(platforms[i], CL_PLATFORM_NAME, sizeof name, name, NULL);
        if (strstr(name, "Portable Computing Language") &&
            cl->clGetDeviceIDs(platforms[i], CL_DEVICE_TYPE_ALL, 1, &cl->device, NULL) == 0)
            return true;
    }
    snprintf(why, BENCH_WHY, "no OpenCL platform is PoCL");
    return false;
}

/* Read by PoCL when its device is first asked for. */
static void set_threads(uint32_t threads) {
#if !defined(_WIN32)
    char text[16];
    snprintf(text, sizeof text, "%u", threads);
    setenv("POCL_MAX_PTHREAD_COUNT", text, 1);
#else
    (void)threads;
#endif
}

static void *open_pocl(const bench_device *d, char *why) {
    opencl *cl = tool_alloc(sizeof *cl);
    cl_int status = 0;
    cl->d = d;
    set_threads(d->info.compute_units);
    if (load_functions(cl, why) && find_pocl(cl, why)) {
        cl->context = cl->clCreateContext(NULL, 1, &cl->device, NULL, NULL, &status);
        if (cl->context) cl->queue = cl->clCreateCommandQueue(cl->context, cl->device, 0, &status);
        if (cl->queue) return cl;
        snprintf(why, BENCH_WHY, "it gives no queue: error %d", status);
    }
    free(cl);
    return NULL;
}

/* ---- a device's own driver ---- */

static void *open_driver(const bench_device *d, char *why) {
    opencl *cl = tool_alloc(sizeof *cl);
    uint64_t device = 0, context = 0;
    cl->d = d;
    if (load_functions(cl, why)) {
        qn_status status = qn_device_native(d->device, QN_NATIVE_OPENCL_DEVICE, &device);
        if (!status) status = qn_device_native(d->device, QN_NATIVE_OPENCL_CONTEXT, &context);
        cl->device = (cl_object)(uintptr_t)device;
        cl->context = (cl_object)(uintptr_t)context;
        if (!status) return cl;
        snprintf(why, BENCH_WHY, "%s", qn_error_message(d->context));
    }
    free(cl);
    return NULL;
}

/* From here to `leave` what the queue is given comes behind what quern's stream got. NULL: not possible. */
static cl_object enter(const opencl *cl) {
    uint64_t queue = 0;
    if (cl->queue) return cl->queue;
    if (qn_stream_native_begin(cl->d->stream, NULL, 0)) return NULL;
    if (qn_stream_native(cl->d->stream, QN_NATIVE_OPENCL_QUEUE, &queue) == QN_OK && queue)
        return (cl_object)(uintptr_t)queue;
    qn_stream_native_end(cl->d->stream);
    return NULL;
}

static bool leave(const opencl *cl) {
    return cl->queue ? cl->clFinish(cl->queue) == 0 : qn_stream_native_end(cl->d->stream) == QN_OK;
}

/* ---- programs ---- */

static bool build(const opencl *cl, const char *source, cl_object *program, char *why) {
    cl_int status = 0;
    size_t size = 0;
    *program = cl->clCreateProgramWithSource(cl->context, 1, &source, NULL, &status);
    if (!*program) snprintf(why, BENCH_WHY, "it makes no program: error %d", status);
    if (!*program || cl->clBuildProgram(*program, 1, &cl->device, "", NULL, NULL) == 0)
        return *program != NULL;
    cl->clGetProgramBuildInfo(*program, cl->device, CL_PROGRAM_BUILD_LOG, 0, NULL, &size);
    char *log = tool_alloc(size + 1);
    cl->clGetProgramBuildInfo(*program, cl->device, CL_PROGRAM_BUILD_LOG, size, log, NULL);
    log[strcspn(log, "\n")] = 0;
    snprintf(why, BENCH_WHY, "it does not compile the file: %.180s", log);
    free(log);
    return false;
}

/* ---- workloads ---- */

typedef struct session {
    const opencl *cl;
    const bench_workload *load;
    cl_object program, buffers[BENCH_MAX_BUFFERS];
    cl_object *kernels; /* one a step */
} session;

static void release(void *user) {
    session *s = user;
    const opencl *cl = s->cl;
    for (uint32_t i = 0; i < s->load->num_steps; i++)
        if (s->kernels[i]) cl->clReleaseKernel(s->kernels[i]);
    for (uint32_t i = 0; i < s->load->num_buffers; i++)
        if (s->buffers[i]) cl->clReleaseMemObject(s->buffers[i]);
    if (s->program) cl->clReleaseProgram(s->program);
    free(s->kernels);
    free(s);
}

static bool set_args(const session *s, uint32_t step) {
    cl_int status = 0;
    for (uint32_t a = 0; a < s->load->steps[step].num_args && !status; a++) {
        const bench_arg *arg = &s->load->steps[step].args[a];
        const bool is_local = arg->kind == BENCH_LOCAL, is_buffer = arg->kind == BENCH_BUFFER;
        status = s->cl->clSetKernelArg(s->kernels[step], a,
                                       is_local    ? arg->value.u
                                       : is_buffer ? sizeof(cl_object)
                                                   : sizeof arg->value,
                                       is_local    ? NULL
                                       : is_buffer ? (const void *)&s->buffers[arg->value.u]
                                                   : &arg->value);
    }
    return status == 0;
}

static bool make_objects(session *s, char *why) {
    const opencl *cl = s->cl;
    cl_int status = 0;
    for (uint32_t i = 0; i < s->load->num_buffers && !status; i++) {
        const bench_workload_buffer *b = &s->load->buffers[i];
        const uint64_t flags = CL_MEM_READ_WRITE | (b->data ? CL_MEM_COPY_HOST_PTR : 0u);
        s->buffers[i] = cl->clCreateBuffer(cl->context, flags, b->size, b->data, &status);
    }
    for (uint32_t i = 0; i < s->load->num_steps && !status; i++) {
        s->kernels[i] = cl->clCreateKernel(s->program, s->load->steps[i].kernel, &status);
        if (!status && !set_args(s, i)) status = -1;
    }
    if (status) snprintf(why, BENCH_WHY, "a call failed: error %d", status);
    return status == 0;
}

static void *prepare(void *peer, const bench_workload *load, const char *file, const char *source,
                     char *why) {
    const opencl *cl = peer;
    session *s = tool_alloc(sizeof *s);
    (void)file;
    *s = (session){.cl = cl, .load = load, .kernels = tool_alloc(load->num_steps * sizeof(cl_object))};
    if (build(cl, source, &s->program, why) && make_objects(s, why)) return s;
    release(s);
    return NULL;
}

static bool reset(void *user) {
    const session *s = user;
    const opencl *cl = s->cl;
    cl_object queue = enter(cl);
    cl_int status = 0;
    for (uint32_t i = 0; i < s->load->num_buffers && !status && queue; i++) {
        const bench_workload_buffer *b = &s->load->buffers[i];
        void *zeros = b->changing && !b->data ? tool_alloc(b->size) : NULL;
        if (b->changing)
            status = cl->clEnqueueWriteBuffer(queue, s->buffers[i], 1, 0, b->size, b->data ? b->data : zeros,
                                              0, NULL, NULL);
        free(zeros);
    }
    return queue && leave(cl) && !status;
}

static cl_int enqueue(const session *s, cl_object queue, uint32_t index) {
    const bench_workload_step *step = &s->load->steps[index];
    const size_t global[2] = {step->global[0], step->global[1]}, local[2] = {step->local[0], step->local[1]};
    return s->cl->clEnqueueNDRangeKernel(queue, s->kernels[index], global[1] ? 2 : 1, NULL, global,
                                         local[0] ? local : NULL, 0, NULL, NULL);
}

static bool run(void *user, uint32_t count) {
    const session *s = user;
    cl_object queue = enter(s->cl);
    cl_int status = 0;
    for (uint32_t i = 0; i < count && queue; i++)
        for (uint32_t k = 0; k < s->load->num_steps && !status; k++) status = enqueue(s, queue, k);
    return queue && leave(s->cl) && !status;
}

static bool read(void *user, uint32_t buffer, void *to) {
    const session *s = user;
    cl_object queue = enter(s->cl);
    const cl_int status = queue ? s->cl->clEnqueueReadBuffer(queue, s->buffers[buffer], 1, 0,
                                                             s->load->buffers[buffer].size, to, 0, NULL, NULL)
                                : -1;
    return queue && leave(s->cl) && !status;
}

/* ---- launches ---- */

static const char launch_source[] = "kernel void count(global uint *x, uint at, uint n) {\n"
                                    "    x[at + get_global_id(0)] += n;\n"
                                    "}\n";

static bool make_kernel(opencl *cl, bench_place counters) {
    char why[BENCH_WHY];
    cl_int status = 0;
    cl_object mem = (cl_object)(uintptr_t)counters.at;
    const cl_uint at = (cl_uint)(counters.offset / sizeof(cl_uint)), one = 1;
    if (cl->kernel) return true;
    if (!build(cl, launch_source, &cl->program, why)) return false;
    cl->kernel = cl->clCreateKernel(cl->program, "count", &status);
    return cl->kernel && cl->clSetKernelArg(cl->kernel, 0, sizeof mem, &mem) == 0 &&
           cl->clSetKernelArg(cl->kernel, 1, sizeof at, &at) == 0 &&
           cl->clSetKernelArg(cl->kernel, 2, sizeof one, &one) == 0;
}

/* Its arguments are set once: the counters are the same. It is called where the stream is entered already. */
static bool launch(void *peer, const bench_launches *what, bench_place counters, uint32_t count) {
    opencl *cl = peer;
    const size_t items = BENCH_LAUNCH_ITEMS;
    uint64_t handle = 0;
    cl_int status = 0;
    if (!make_kernel(cl, counters) || qn_stream_native(cl->d->stream, QN_NATIVE_OPENCL_QUEUE, &handle))
        return false;
    cl_object queue = (cl_object)(uintptr_t)handle;
    for (uint32_t i = 0; i < count && !status; i++) {
        status = cl->clEnqueueNDRangeKernel(queue, cl->kernel, 1, NULL, &items, &items, 0, NULL, NULL);
        if (!status && what->waits) status = cl->clFinish(queue);
    }
    return status == 0;
}

static const bench_code_peer code_peer = {prepare, reset, run, read, release};
const bench_peer_type bench_opencl_driver = {.name = "driver",
                                             .kind = QN_DEVICE_OPENCL,
                                             .open = open_driver,
                                             .close = close_opencl,
                                             .launch = launch,
                                             .code = &code_peer},
                      bench_pocl = {.name = "pocl",
                                    .kind = QN_DEVICE_CPU,
                                    .on_host = true,
                                    .open = open_pocl,
                                    .close = close_opencl,
                                    .code = &code_peer};
