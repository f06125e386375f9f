/* An OpenCL driver for tests on machines without one, built as libOpenCL.so.1. It is like NVIDIA's in how it takes
   programs: their binary is PTX, which it makes machine code at each start; machine code is taken as it is. It has
   the fake CUDA driver's first device. Memory is host memory, commands are done when they are queued, kernels do
   nothing. Tests steer it through the fake_cl_* functions (fake_opencl.h). */
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backend/opencl/api.h"

#define API                               __attribute__((visibility("default")))
#define DECLARE(result, name, parameters) API result name parameters;
QN__CL_FUNCTIONS(DECLARE)
#undef DECLARE
API void fake_cl_reset(void);
API void fake_cl_fault(const char *function, int nth, int result);
API long fake_cl_count(const char *function);
API long fake_cl_live(void);
API long fake_cl_translated(void);
API long fake_cl_assembled(void);
API long fake_cl_warned(void);

enum {
    INVALID_VALUE = -30,
    INVALID_MEM_OBJECT = -38,
    INVALID_BINARY = -42,
    INVALID_EXECUTABLE = -45,
    INVALID_KERNEL_NAME = -46
};

enum function_number {
#define ROW(result, name, parameters) N_##name,
    QN__CL_FUNCTIONS(ROW)
#undef ROW
        N_COUNT
};

static const char *const function_names[] = {
#define ROW(result, name, parameters) #name,
    QN__CL_FUNCTIONS(ROW)
#undef ROW
};

/* One kind of object for all. */
struct qn__cl_object {
    unsigned references;
    cl_object context; /* of memory */
    size_t size;
    unsigned char *data; /* of memory; of a program: text, PTX or machine code */
    bool own_data;
    bool built;
    char log[128];
};

static struct qn__cl_object platform, device;

static struct {
    pthread_mutex_t lock;
    long counts[N_COUNT], live, translated, assembled, warned;
    struct {
        int nth, result; /* counts down; 0: none */
    } faults[N_COUNT];
    uint64_t clock_ns;
} fake = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* ---- faults and counts ---- */

static int number_of(const char *name) {
    for (int i = 0; i < N_COUNT; i++)
        if (strcmp(function_names[i], name) == 0) return i;
    fprintf(stderr, "fake driver: no function %s\n", name);
    exit(3);
}

void fake_cl_reset(void) {
    pthread_mutex_lock(&fake.lock);
    memset(fake.counts, 0, sizeof fake.counts);
    memset(fake.faults, 0, sizeof fake.faults);
    fake.translated = fake.assembled = fake.warned = 0;
    pthread_mutex_unlock(&fake.lock);
}

void fake_cl_fault(const char *function, int nth, int result) {
    int n = number_of(function);
    fake.faults[n].nth = nth;
    fake.faults[n].result = result;
}

long fake_cl_count(const char *function) { return fake.counts[number_of(function)]; }
long fake_cl_live(void) { return fake.live; }
long fake_cl_translated(void) { return fake.translated; }
long fake_cl_assembled(void) { return fake.assembled; }
long fake_cl_warned(void) { return fake.warned; }

static int call(int number) {
    pthread_mutex_lock(&fake.lock);
    fake.counts[number]++;
    int result = 0;
    if (fake.faults[number].nth > 0 && --fake.faults[number].nth == 0) result = fake.faults[number].result;
    pthread_mutex_unlock(&fake.lock);
    return result;
}

#define CALL(name)                                                                                           \
    do {                                                                                                     \
        int fault = call(N_##name);                                                                          \
        if (fault) return fault;                                                                             \
    } while (0)

/* A function that makes an object. */
#define CALL_TO_MAKE(name)                                                                                   \
    do {                                                                                                     \
        *error = call(N_##name);                                                                             \
        if (*error) return NULL;                                                                             \
    } while (0)

/* ---- objects ---- */

static cl_object make(size_t size) {
    cl_object object = calloc(1, sizeof *object);
    object->references = 1;
    object->size = size;
    object->own_data = size != 0;
    if (size) object->data = calloc(size, 1);
    pthread_mutex_lock(&fake.lock);
    fake.live++;
    pthread_mutex_unlock(&fake.lock);
    return object;
}

static int32_t release(cl_object object) {
    pthread_mutex_lock(&fake.lock);
    bool last = --object->references == 0;
    if (last) fake.live--;
    pthread_mutex_unlock(&fake.lock);
    if (!last) return 0;
    if (object->own_data) free(object->data);
    free(object);
    return 0;
}

/* ---- what is asked ---- */

static int32_t answer(const void *data, size_t length, size_t size, void *out, size_t *needed) {
    if (needed) *needed = length;
    if (!out) return 0;
    if (size < length) return INVALID_VALUE;
    memcpy(out, data, length);
    return 0;
}

static int32_t answer_text(const char *text, size_t size, void *out, size_t *needed) {
    return answer(text, strlen(text) + 1, size, out, needed);
}

static int32_t answer_number(uint64_t value, size_t size, void *out, size_t *needed) {
    return answer(&value, size < sizeof value ? size : sizeof value, size, out, needed);
}

int32_t clGetPlatformIDs(uint32_t room, cl_object *out, uint32_t *count) {
    CALL(clGetPlatformIDs);
    if (out && room) out[0] = &platform;
    if (count) *count = 1;
    return 0;
}

int32_t clGetPlatformInfo(cl_object which, uint32_t what, size_t size, void *out, size_t *needed) {
    (void)which;
    CALL(clGetPlatformInfo);
    return answer_text(what == CL_PLATFORM_NAME ? "Fake CUDA" : "OpenCL 3.0 Fake", size, out, needed);
}

int32_t clGetDeviceIDs(cl_object which, uint64_t types, uint32_t room, cl_object *out, uint32_t *count) {
    (void)which, (void)types;
    CALL(clGetDeviceIDs);
    if (out && room) out[0] = &device;
    if (count) *count = 1;
    return 0;
}

int32_t clGetDeviceInfo(cl_object which, uint32_t what, size_t size, void *out, size_t *needed) {
    static const char extensions[] =
        "cl_khr_fp64 cl_khr_int64_base_atomics cl_khr_int64_extended_atomics cl_khr_device_uuid "
        "cl_nv_device_attribute_query";
    const size_t sizes[3] = {1024, 1024, 64};
    unsigned char uuid[16];
    (void)which;
    CALL(clGetDeviceInfo);
    memset(uuid, 0xa0, sizeof uuid);
    switch (what) {
    case CL_DEVICE_VERSION: return answer_text("OpenCL 3.0 Fake", size, out, needed);
    case CL_DEVICE_NAME: return answer_text("Fake GPU 0", size, out, needed);
    case CL_DRIVER_VERSION: return answer_text("580.1", size, out, needed);
    case CL_DEVICE_EXTENSIONS: return answer_text(extensions, size, out, needed);
    case CL_DEVICE_UUID_KHR: return answer(uuid, sizeof uuid, size, out, needed);
    case CL_DEVICE_MAX_WORK_ITEM_SIZES: return answer(sizes, sizeof sizes, size, out, needed);
    case CL_DEVICE_TYPE: return answer_number(1 << 2, size, out, needed);
    case CL_DEVICE_ADDRESS_BITS: return answer_number(64, size, out, needed);
    case CL_DEVICE_AVAILABLE:
    case CL_DEVICE_COMPILER_AVAILABLE:
    case CL_DEVICE_ENDIAN_LITTLE: return answer_number(1, size, out, needed);
    case CL_DEVICE_MAX_COMPUTE_UNITS: return answer_number(132, size, out, needed);
    case CL_DEVICE_MAX_WORK_GROUP_SIZE: return answer_number(1024, size, out, needed);
    case CL_DEVICE_MAX_MEM_ALLOC_SIZE:
    case CL_DEVICE_GLOBAL_MEM_SIZE: return answer_number(1 << 30, size, out, needed);
    case CL_DEVICE_LOCAL_MEM_SIZE: return answer_number(48 << 10, size, out, needed);
    case CL_DEVICE_MAX_PARAMETER_SIZE: return answer_number(4352, size, out, needed);
    case CL_DEVICE_WARP_SIZE_NV: return answer_number(32, size, out, needed);
    case CL_DEVICE_SINGLE_FP_CONFIG:
        return answer_number(CL_FP_DENORM | CL_FP_FMA | CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT, size, out,
                             needed);
    default: return INVALID_VALUE;
    }
}

/* ---- contexts, queues, memory ---- */

cl_object clCreateContext(const intptr_t *properties, uint32_t count, const cl_object *devices, void *notify,
                          void *user, int32_t *error) {
    (void)properties, (void)count, (void)devices, (void)notify, (void)user;
    CALL_TO_MAKE(clCreateContext);
    return make(0);
}

cl_object clCreateCommandQueue(cl_object context, cl_object which, uint64_t properties, int32_t *error) {
    (void)context, (void)which, (void)properties;
    CALL_TO_MAKE(clCreateCommandQueue);
    return make(0);
}

cl_object clCreateBuffer(cl_object context, uint64_t flags, size_t size, void *host, int32_t *error) {
    CALL_TO_MAKE(clCreateBuffer);
    const bool given = (flags & CL_MEM_USE_HOST_PTR) != 0;
    cl_object memory = make(given ? 0 : size);
    if (given) memory->data = host;
    memory->context = context;
    return memory;
}

int32_t clRetainMemObject(cl_object memory) {
    pthread_mutex_lock(&fake.lock);
    memory->references++;
    pthread_mutex_unlock(&fake.lock);
    return 0;
}

int32_t clGetMemObjectInfo(cl_object memory, uint32_t what, size_t size, void *out, size_t *needed) {
    const uint32_t type = CL_MEM_OBJECT_BUFFER;
    if (!memory->context) return INVALID_MEM_OBJECT;
    switch (what) {
    case CL_MEM_TYPE: return answer(&type, sizeof type, size, out, needed);
    case CL_MEM_SIZE: return answer(&memory->size, sizeof memory->size, size, out, needed);
    case CL_MEM_CONTEXT: return answer(&memory->context, sizeof memory->context, size, out, needed);
    default: return INVALID_VALUE;
    }
}

int32_t clReleaseContext(cl_object context) { return release(context); }
int32_t clReleaseCommandQueue(cl_object queue) { return release(queue); }
int32_t clReleaseMemObject(cl_object memory) { return release(memory); }

/* ---- programs ---- */

static cl_object make_program(const void *data, size_t size) {
    cl_object program = make(0);
    program->data = calloc(size + 1, 1);
    program->own_data = true;
    program->size = size;
    memcpy(program->data, data, size);
    return program;
}

static bool is_ptx(const unsigned char *data) {
    return strncmp((const char *)data, "// fake\n.version", 16) == 0;
}

cl_object clCreateProgramWithSource(cl_object context, uint32_t count, const char **texts,
                                    const size_t *sizes, int32_t *error) {
    (void)context, (void)count;
    CALL_TO_MAKE(clCreateProgramWithSource);
    return make_program(texts[0], sizes[0]);
}

cl_object clCreateProgramWithBinary(cl_object context, uint32_t count, const cl_object *devices,
                                    const size_t *sizes, const unsigned char **binaries, int32_t *statuses,
                                    int32_t *error) {
    (void)context, (void)count, (void)devices, (void)statuses;
    CALL_TO_MAKE(clCreateProgramWithBinary);
    cl_object program = make_program(binaries[0], sizes[0]);
    if (is_ptx(program->data)) return program;
    release(program);
    *error = INVALID_BINARY;
    return NULL;
}

/* A text's kernels: the word behind the `void ` that comes after each `__kernel `. */
static void translate(cl_object program, bool any_size) {
    const char *at = (const char *)program->data;
    size_t size = program->size * 2 + 256, used;
    char *ptx = malloc(size);
    used = (size_t)snprintf(ptx, size, "// fake\n.version 8.4\n.target sm_90, texmode_independent\n%s",
                            any_size ? "" : "// required sizes\n");
    while ((at = strstr(at, "__kernel ")) && (at = strstr(at, "void "))) {
        at += strlen("void ");
        used += (size_t)snprintf(ptx + used, size - used, ".entry %.*s() {}\n", (int)strcspn(at, "("), at);
    }
    free(program->data);
    program->data = (unsigned char *)ptx;
    program->size = used;
    pthread_mutex_lock(&fake.lock);
    fake.translated++;
    pthread_mutex_unlock(&fake.lock);
}

int32_t clBuildProgram(cl_object program, uint32_t count, const cl_object *devices, const char *options,
                       void *notify, void *user) {
    (void)count, (void)devices, (void)notify, (void)user;
    CALL(clBuildProgram);
    if (strstr((const char *)program->data, "qn_kernel_refused(")) {
        snprintf(program->log, sizeof program->log, "<kernel>:1:2: error: the fake driver refuses this\n");
        return CL_BUILD_PROGRAM_FAILURE;
    }
    if (!is_ptx(program->data)) translate(program, strstr(options, "QN_ANY_LOCAL_SIZE") != NULL);
    pthread_mutex_lock(&fake.lock);
    fake.assembled++;
    fake.warned += strstr(options, " -w") == NULL;
    pthread_mutex_unlock(&fake.lock);
    program->built = true;
    return 0;
}

int32_t clGetProgramInfo(cl_object program, uint32_t what, size_t size, void *out, size_t *needed) {
    CALL(clGetProgramInfo);
    if (what == CL_PROGRAM_BINARY_SIZES)
        return answer(&program->size, sizeof program->size, size, out, needed);
    unsigned char *to;
    memcpy(&to, out, sizeof to);
    memcpy(to, program->data, program->size);
    return 0;
}

int32_t clGetProgramBuildInfo(cl_object program, cl_object which, uint32_t what, size_t size, void *out,
                              size_t *needed) {
    (void)which, (void)what;
    CALL(clGetProgramBuildInfo);
    return answer_text(program->log, size, out, needed);
}

int32_t clReleaseProgram(cl_object program) { return release(program); }

cl_object clCreateKernel(cl_object program, const char *name, int32_t *error) {
    char entry[256];
    CALL_TO_MAKE(clCreateKernel);
    snprintf(entry, sizeof entry, ".entry %.200s(", name);
    const char *text = (const char *)program->data;
    if (program->built && strstr(text, entry)) return make(0);
    *error = program->built ? INVALID_KERNEL_NAME : INVALID_EXECUTABLE;
    return NULL;
}

int32_t clReleaseKernel(cl_object kernel) { return release(kernel); }

int32_t clSetKernelArg(cl_object kernel, uint32_t index, size_t size, const void *value) {
    (void)kernel, (void)index, (void)size, (void)value;
    CALL(clSetKernelArg);
    return 0;
}

int32_t clGetKernelWorkGroupInfo(cl_object kernel, cl_object which, uint32_t what, size_t size, void *out,
                                 size_t *needed) {
    (void)kernel, (void)which;
    CALL(clGetKernelWorkGroupInfo);
    return answer_number(what == CL_KERNEL_WORK_GROUP_SIZE ? 1024 : 32, size, out, needed);
}

/* ---- commands ---- */

static int32_t done(cl_object *event) {
    if (event) *event = make(0);
    return 0;
}

#define WAITS    uint32_t num_waits, const cl_object *waits, cl_object *event
#define NO_WAITS (void)num_waits, (void)waits

int32_t clEnqueueNDRangeKernel(cl_object queue, cl_object kernel, uint32_t dims, const size_t *offset,
                               const size_t *global, const size_t *local, WAITS) {
    (void)queue, (void)kernel, (void)dims, (void)offset, (void)global, (void)local, NO_WAITS;
    CALL(clEnqueueNDRangeKernel);
    return done(event);
}

int32_t clEnqueueReadBuffer(cl_object queue, cl_object memory, uint32_t blocking, size_t offset, size_t size,
                            void *to, WAITS) {
    (void)queue, (void)blocking, NO_WAITS;
    CALL(clEnqueueReadBuffer);
    memcpy(to, memory->data + offset, size);
    return done(event);
}

int32_t clEnqueueWriteBuffer(cl_object queue, cl_object memory, uint32_t blocking, size_t offset, size_t size,
                             const void *from, WAITS) {
    (void)queue, (void)blocking, NO_WAITS;
    CALL(clEnqueueWriteBuffer);
    memcpy(memory->data + offset, from, size);
    return done(event);
}

int32_t clEnqueueCopyBuffer(cl_object queue, cl_object from, cl_object to, size_t from_offset,
                            size_t to_offset, size_t size, WAITS) {
    (void)queue, NO_WAITS;
    CALL(clEnqueueCopyBuffer);
    memmove(to->data + to_offset, from->data + from_offset, size);
    return done(event);
}

int32_t clEnqueueFillBuffer(cl_object queue, cl_object memory, const void *pattern, size_t pattern_size,
                            size_t offset, size_t size, WAITS) {
    (void)queue, NO_WAITS;
    CALL(clEnqueueFillBuffer);
    for (size_t at = 0; at < size; at += pattern_size)
        memcpy(memory->data + offset + at, pattern, pattern_size);
    return done(event);
}

void *clEnqueueMapBuffer(cl_object queue, cl_object memory, uint32_t blocking, uint64_t flags, size_t offset,
                         size_t size, WAITS, int32_t *error) {
    (void)queue, (void)blocking, (void)flags, (void)size, NO_WAITS;
    CALL_TO_MAKE(clEnqueueMapBuffer);
    done(event);
    return memory->data + offset;
}

int32_t clEnqueueUnmapMemObject(cl_object queue, cl_object memory, void *host, WAITS) {
    (void)queue, (void)memory, (void)host, NO_WAITS;
    CALL(clEnqueueUnmapMemObject);
    return done(event);
}

int32_t clEnqueueMarkerWithWaitList(cl_object queue, WAITS) {
    (void)queue, NO_WAITS;
    CALL(clEnqueueMarkerWithWaitList);
    return done(event);
}

int32_t clEnqueueBarrierWithWaitList(cl_object queue, WAITS) {
    (void)queue, NO_WAITS;
    CALL(clEnqueueBarrierWithWaitList);
    return done(event);
}

int32_t clFlush(cl_object queue) {
    (void)queue;
    CALL(clFlush);
    return 0;
}

int32_t clFinish(cl_object queue) {
    (void)queue;
    CALL(clFinish);
    return 0;
}

/* ---- events ---- */

int32_t clWaitForEvents(uint32_t count, const cl_object *events) {
    (void)count, (void)events;
    CALL(clWaitForEvents);
    return 0;
}

int32_t clGetEventInfo(cl_object event, uint32_t what, size_t size, void *out, size_t *needed) {
    (void)event, (void)what;
    CALL(clGetEventInfo);
    return answer_number(CL_COMPLETE, size, out, needed);
}

int32_t clGetEventProfilingInfo(cl_object event, uint32_t what, size_t size, void *out, size_t *needed) {
    (void)event, (void)what;
    CALL(clGetEventProfilingInfo);
    pthread_mutex_lock(&fake.lock);
    uint64_t now = fake.clock_ns += 1000;
    pthread_mutex_unlock(&fake.lock);
    return answer_number(now, size, out, needed);
}

int32_t clRetainEvent(cl_object event) {
    pthread_mutex_lock(&fake.lock);
    event->references++;
    pthread_mutex_unlock(&fake.lock);
    return 0;
}

int32_t clReleaseEvent(cl_object event) { return release(event); }
