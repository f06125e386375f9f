/* The least that launches cost with the OpenCL driver: arguments set once, the kernel enqueued in a loop. */
#include "gpu.h"
#include "opencl.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

enum { ITEMS = 64 };

static const char tiny_source[] =
    "__kernel void tiny(__global float *x, float a) { x[get_global_id(0)] += a; }\n";

struct bare {
    void *library;
    OPENCL_FUNCTIONS(OPENCL_MEMBER)
    cl_object device, context, queue, program, kernel, buffer;
};

static bool load_functions(bare *b, char *why) {
    b->library = dlopen("libOpenCL.so.1", RTLD_NOW | RTLD_LOCAL);
    bool all = b->library != NULL;
    void *symbol;
#define LOAD(result, name, parameters)                                                                       \
    symbol = all ? dlsym(b->library, #name) : NULL;                                                          \
    all = all && symbol;                                                                                     \
    memcpy(&b->name, &symbol, sizeof symbol);
    OPENCL_FUNCTIONS(LOAD)
#undef LOAD
    if (!all) snprintf(why, WHY_SIZE, "libOpenCL.so.1 is missing or lacks functions of OpenCL 1.2");
    return all;
}

/* The device whose name is part of the description. */
static bool find_device(bare *b, const char *description, char *why) {
    cl_object platforms[16], devices[16];
    cl_uint num_platforms = 0, count;
    if (b->clGetPlatformIDs(16, platforms, &num_platforms)) num_platforms = 0;
    for (cl_uint p = 0; p < num_platforms && p < 16; p++) {
        count = 0;
        if (b->clGetDeviceIDs(platforms[p], CL_DEVICE_TYPE_ALL, 16, devices, &count)) continue;
        for (cl_uint d = 0; d < count && d < 16; d++) {
            char name[256] = "";
            b->clGetDeviceInfo(devices[d], CL_DEVICE_NAME, sizeof name, name, NULL);
            b->device = devices[d];
            if (name[0] && strstr(description, name)) return true;
        }
    }
    if (!b->device) snprintf(why, WHY_SIZE, "there is no OpenCL device");
    return b->device != NULL;
}

static void close_bare(bare *b) {
    if (b->queue) b->clFinish(b->queue);
    if (b->buffer) b->clReleaseMemObject(b->buffer);
    if (b->kernel) b->clReleaseKernel(b->kernel);
    if (b->program) b->clReleaseProgram(b->program);
    if (b->queue) b->clReleaseCommandQueue(b->queue);
    if (b->context) b->clReleaseContext(b->context);
    free(b);
}

static bool make_kernel(bare *b) {
    cl_int status = 0;
    const char *source = tiny_source;
    float a = 1;
    b->context = b->clCreateContext(NULL, 1, &b->device, NULL, NULL, &status);
    if (b->context) b->queue = b->clCreateCommandQueue(b->context, b->device, 0, &status);
    if (b->queue) b->program = b->clCreateProgramWithSource(b->context, 1, &source, NULL, &status);
    if (!b->program || b->clBuildProgram(b->program, 1, &b->device, "", NULL, NULL)) return false;
    b->kernel = b->clCreateKernel(b->program, "tiny", &status);
    b->buffer = b->clCreateBuffer(b->context, CL_MEM_READ_WRITE, ITEMS * sizeof(float), NULL, &status);
    return b->kernel && b->buffer && !b->clSetKernelArg(b->kernel, 0, sizeof b->buffer, &b->buffer) &&
           !b->clSetKernelArg(b->kernel, 1, sizeof a, &a);
}

static bare *open_bare(const char *description, char *why) {
    bare *b = bench_alloc(sizeof *b);
    if (!load_functions(b, why)) {
        free(b);
        return NULL;
    }
    if (find_device(b, description, why)) {
        if (make_kernel(b)) return b;
        snprintf(why, WHY_SIZE, "a call of OpenCL failed");
    }
    close_bare(b);
    return NULL;
}

static int submit(bare *b) {
    const size_t items = ITEMS;
    return b->clEnqueueNDRangeKernel(b->queue, b->kernel, 1, NULL, &items, &items, 0, NULL, NULL);
}

static double since(int64_t begin, unsigned count) { return (double)(bench_now() - begin) * 1e-3 / count; }

static double launch(bare *b, unsigned count) {
    int status = 0;
    int64_t begin = bench_now();
    for (unsigned i = 0; i < count; i++) status |= submit(b);
    double time = since(begin, count);
    status |= b->clFinish(b->queue);
    return status ? -1 : time;
}

static double launch_wait(bare *b) {
    int64_t begin = bench_now();
    int status = submit(b) | b->clFinish(b->queue);
    return status ? -1 : since(begin, 1);
}

const bare_type bare_opencl = {"opencl", open_bare, launch, launch_wait, NULL, NULL, close_bare};
