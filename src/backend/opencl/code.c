/* Programs: OpenCL C text built by the driver, or its binary from the disk cache. A cache file is a header with a
   checksum, the text (for the build without a required local size), and the driver's binary. */
#include <stdio.h>
#include <string.h>

#include "backend/opencl/opencl.h"
#include "util/file.h"
#include "util/hash.h"

enum { MAX_FILE = 256 << 20 };

typedef struct cl_file {
    char magic[8];
    uint64_t sum; /* of all behind it */
    uint64_t text_size, binary_size;
} cl_file;

static const char magic[8] = {'q', 'u', 'e', 'r', 'n', 'c', 'l', '1'};

/* ---- building ---- */

static void name_kernels(const qn__code *code, char *out, size_t size) {
    size_t used = 0;
    out[0] = 0;
    for (uint32_t i = 0; i < code->info->num_kernels && used < size; i++)
        used += (size_t)snprintf(out + used, size - used, "%s%s", i ? ", " : "", code->info->kernels[i].name);
}

static void explain_build(const qn__code *code, cl_object program, int32_t error, char *why) {
    const qn__gpu *gpu = code->gpu;
    char names[160], *log = NULL;
    size_t size = 0;
    name_kernels(code, names, sizeof names);
    gpu->cl->clGetProgramBuildInfo(program, gpu->device, CL_PROGRAM_BUILD_LOG, 0, NULL, &size);
    if (size) log = qn__allocate_zeroed(gpu->services->allocator, size + 1);
    if (log) gpu->cl->clGetProgramBuildInfo(program, gpu->device, CL_PROGRAM_BUILD_LOG, size, log, NULL);
    const char *start = log ? strstr(log, "error") : NULL;
    while (start && start > log && start[-1] != '\n') start--;
    snprintf(why, QN__WHY, "the OpenCL driver cannot compile %s: %s%s%.250s", names, qn__cl_error_name(error),
             log && *log ? ": " : "",
             start ? start
             : log ? log
                   : "");
    qn__release(gpu->services->allocator, log);
}

static qn_status build(qn__code *code, cl_object program, bool any_size, char *why) {
    const qn__gpu *gpu = code->gpu;
    char options[160];
    snprintf(options, sizeof options, "-cl-std=CL1.2%s%s",
             gpu->exact_division ? " -cl-fp32-correctly-rounded-divide-sqrt" : "",
             any_size ? " -DQN_ANY_LOCAL_SIZE" : "");
    int32_t error = gpu->cl->clBuildProgram(program, 1, &gpu->device, options, NULL, NULL);
    if (!error) return QN_OK;
    explain_build(code, program, error, why);
    return error == CL_OUT_OF_HOST_MEMORY ? QN_ERROR_OUT_OF_MEMORY : QN_ERROR_DRIVER;
}

static qn_status build_text(qn__code *code, bool any_size, cl_object *out, char *why) {
    const qn__cl *cl = code->gpu->cl;
    const char *text = code->text;
    int32_t error = 0;
    cl_object program = cl->clCreateProgramWithSource(code->gpu->context, 1, &text, &code->text_size, &error);
    if (error) {
        snprintf(why, QN__WHY, "the OpenCL driver takes no program: %s", qn__cl_error_name(error));
        return QN_ERROR_DRIVER;
    }
    qn_status status = build(code, program, any_size, why);
    if (status)
        cl->clReleaseProgram(program);
    else
        *out = program;
    return status;
}

/* ---- the cache's file ---- */

static void store(qn__code *code, const char *path) {
    const qn__gpu *gpu = code->gpu;
    const qn__allocator *allocator = gpu->services->allocator;
    size_t size = 0;
    if (gpu->cl->clGetProgramInfo(code->program, CL_PROGRAM_BINARY_SIZES, sizeof size, &size, NULL) || !size)
        return;
    size_t total = sizeof(cl_file) + code->text_size + size;
    unsigned char *data = qn__allocate(allocator, total);
    if (!data) return;
    cl_file file = {.text_size = code->text_size, .binary_size = size};
    unsigned char *binary = data + sizeof file + code->text_size;
    memcpy(file.magic, magic, sizeof magic);
    memcpy(data + sizeof file, code->text, code->text_size);
    if (!gpu->cl->clGetProgramInfo(code->program, CL_PROGRAM_BINARIES, sizeof binary, &binary, NULL)) {
        file.sum = qn__hash(data + sizeof file, total - sizeof file, file.text_size);
        memcpy(data, &file, sizeof file);
        int error = qn__file_write_atomic(path, data, total);
        char text[QN__WHY];
        snprintf(text, sizeof text, "opencl: the cache file %.300s: %s", path, strerror(error));
        if (error) gpu->services->log(gpu->services->log_user, QN_LOG_WARNING, text);
    }
    qn__release(allocator, data);
}

static bool is_whole(const char *data, size_t size, cl_file *file) {
    if (size < sizeof *file) return false;
    memcpy(file, data, sizeof *file);
    size_t rest = size - sizeof *file;
    return memcmp(file->magic, magic, sizeof magic) == 0 && file->text_size <= rest &&
           file->binary_size == rest - file->text_size &&
           file->sum == qn__hash(data + sizeof *file, rest, file->text_size);
}

static qn_status keep_text(qn__code *code, const char *text, size_t size) {
    code->text = qn__allocate(code->gpu->services->allocator, size + 1);
    if (!code->text) return QN_ERROR_OUT_OF_MEMORY;
    memcpy(code->text, text, size);
    code->text[size] = 0;
    code->text_size = size;
    return QN_OK;
}

static qn_status load_file(qn__code *code, const char *path, char *why) {
    const qn__gpu *gpu = code->gpu;
    char *data;
    size_t size;
    cl_file file;
    if (qn__file_read(gpu->services->allocator, path, MAX_FILE, &data, &size) == 0) {
        qn_status status = QN_ERROR_IO;
        int32_t error = 0;
        if (is_whole(data, size, &file)) {
            const unsigned char *binary = (unsigned char *)data + sizeof file + file.text_size;
            size_t binary_size = (size_t)file.binary_size;
            status = keep_text(code, data + sizeof file, (size_t)file.text_size);
            if (!status)
                code->program = gpu->cl->clCreateProgramWithBinary(gpu->context, 1, &gpu->device,
                                                                   &binary_size, &binary, NULL, &error);
            if (!status && (error || !code->program)) status = QN_ERROR_IO;
            if (!status) status = build(code, code->program, false, why);
        }
        qn__release(gpu->services->allocator, data);
        if (status != QN_ERROR_IO) return status;
    }
    snprintf(why, QN__WHY, "the cached code %.300s is missing or damaged", path);
    return QN_ERROR_IO;
}

/* ---- loading ---- */

static qn_status load(qn__code *code, const qn__code_source *source, char *why) {
    if (source->num_kernels == 0) return QN_OK;
    if (!source->text) return load_file(code, source->binary_path, why);
    qn_status status = keep_text(code, source->text, source->text_size);
    if (!status) status = build_text(code, false, &code->program, why);
    if (!status && source->binary_path) store(code, source->binary_path);
    return status;
}

qn_status qn__cl_code_load(qn__gpu *gpu, const qn__code_source *source, qn__code **out, char *why) {
    const qn__allocator *allocator = gpu->services->allocator;
    if (atomic_load(&gpu->lost)) return qn__cl_lost(gpu, why);
    qn__code *code = qn__allocate_zeroed(allocator, sizeof *code);
    if (!code) return QN_ERROR_OUT_OF_MEMORY;
    code->gpu = gpu;
    code->debug = source->debug;
    pthread_mutex_init(&code->lock, NULL);
    pthread_mutex_lock(&gpu->lock);
    code->next = gpu->codes;
    gpu->codes = code;
    pthread_mutex_unlock(&gpu->lock);
    code->info = qn__code_info_copy(allocator, source);
    if (code->info)
        code->kernels = qn__allocate_zeroed(allocator, (source->num_kernels + 1) * sizeof *code->kernels);
    qn_status status = code->kernels ? load(code, source, why) : QN_ERROR_OUT_OF_MEMORY;
    if (status)
        qn__cl_code_unload(gpu, code);
    else
        *out = code;
    return status;
}

static void release_instance(qn__code *code, cl_instance *instance) {
    if (instance->kernel) code->gpu->cl->clReleaseKernel(instance->kernel);
    qn__release(code->gpu->services->allocator, instance);
}

void qn__cl_code_unload(qn__gpu *gpu, qn__code *code) {
    const qn__allocator *allocator = gpu->services->allocator;
    pthread_mutex_lock(&gpu->lock);
    qn__code **link = &gpu->codes;
    while (*link != code) link = &(*link)->next;
    *link = code->next;
    pthread_mutex_unlock(&gpu->lock);
    for (uint32_t i = 0; code->kernels && i < code->info->num_kernels; i++)
        for (cl_instance *at = code->kernels[i].instances, *next; at; at = next) {
            next = at->next;
            release_instance(code, at);
        }
    if (code->program) gpu->cl->clReleaseProgram(code->program);
    if (code->any_size) gpu->cl->clReleaseProgram(code->any_size);
    pthread_mutex_destroy(&code->lock);
    qn__release(allocator, code->kernels);
    qn__release(allocator, code->info);
    qn__release(allocator, code->text);
    qn__release(allocator, code);
}

/* ---- kernel objects ---- */

static qn_status make_instance(qn__code *code, uint32_t index, bool any_size, cl_instance **out, char *why) {
    const qn__gpu *gpu = code->gpu;
    const qn__code_kernel *kernel = &code->info->kernels[index];
    qn_status status = QN_OK;
    if (any_size && !code->any_size) status = build_text(code, true, &code->any_size, why);
    if (status) return status;
    size_t values = (size_t)kernel->num_args + kernel->num_hidden;
    cl_instance *made = qn__allocate_zeroed(gpu->services->allocator,
                                            sizeof *made + values * sizeof *made->values + kernel->args_size);
    if (!made) return QN_ERROR_OUT_OF_MEMORY;
    made->values = (uint64_t *)(made + 1);
    made->args = (unsigned char *)(made->values + values);
    made->any_size = any_size;
    int32_t error = 0;
    made->kernel = gpu->cl->clCreateKernel(any_size ? code->any_size : code->program, kernel->symbol, &error);
    if (error || !made->kernel) {
        snprintf(why, QN__WHY, "kernel %.200s: the driver does not give it: %s", kernel->name,
                 qn__cl_error_name(error));
        made->kernel = NULL;
        release_instance(code, made);
        return QN_ERROR_DRIVER;
    }
    made->next = code->kernels[index].instances;
    code->kernels[index].instances = made;
    *out = made;
    return QN_OK;
}

/* Where the queue has none, a free one will do. */
static cl_instance *find_instance(const qn__code *code, uint32_t kernel, const qn__queue *queue,
                                  bool any_size) {
    cl_instance *free_one = NULL;
    for (cl_instance *at = code->kernels[kernel].instances; at; at = at->next) {
        if (at->any_size != any_size || at->graph) continue;
        if (queue && at->queue == queue) return at;
        if (!at->queue) free_one = at;
    }
    return free_one;
}

qn_status qn__cl_instance(qn__code *code, uint32_t kernel, qn__queue *queue, bool any_size, cl_instance **out,
                          char *why) {
    pthread_mutex_lock(&code->lock);
    cl_instance *found = find_instance(code, kernel, queue, any_size);
    qn_status status = found ? QN_OK : make_instance(code, kernel, any_size, &found, why);
    if (!status) {
        found->queue = queue;
        found->graph = queue == NULL;
        *out = found;
    }
    pthread_mutex_unlock(&code->lock);
    return status;
}

void qn__cl_instance_free(qn__code *code, uint32_t kernel, cl_instance *instance) {
    (void)kernel;
    pthread_mutex_lock(&code->lock);
    instance->graph = false;
    instance->queue = NULL;
    pthread_mutex_unlock(&code->lock);
}

void qn__cl_forget_queue(qn__queue *queue) {
    pthread_mutex_lock(&queue->gpu->lock);
    for (qn__code *code = queue->gpu->codes; code; code = code->next) {
        pthread_mutex_lock(&code->lock);
        for (uint32_t i = 0; code->kernels && i < code->info->num_kernels; i++)
            for (cl_instance *at = code->kernels[i].instances; at; at = at->next)
                if (at->queue == queue) at->queue = NULL;
        pthread_mutex_unlock(&code->lock);
    }
    pthread_mutex_unlock(&queue->gpu->lock);
}

/* ---- local sizes ---- */

static void ask_kernel(qn__code *code, uint32_t kernel) {
    cl_kernel_info *info = &code->kernels[kernel];
    char why[QN__WHY];
    cl_instance *instance = NULL;
    const qn__gpu *gpu = code->gpu;
    size_t group = 0, multiple = 0;
    if (qn__cl_instance(code, kernel, NULL, false, &instance, why) == QN_OK) {
        gpu->cl->clGetKernelWorkGroupInfo(instance->kernel, gpu->device, CL_KERNEL_WORK_GROUP_SIZE,
                                          sizeof group, &group, NULL);
        gpu->cl->clGetKernelWorkGroupInfo(instance->kernel, gpu->device,
                                          CL_KERNEL_PREFERRED_WORK_GROUP_SIZE_MULTIPLE, sizeof multiple,
                                          &multiple, NULL);
        qn__cl_instance_free(code, kernel, instance);
    }
    pthread_mutex_lock(&code->lock);
    info->multiple = multiple ? (uint32_t)multiple : gpu->warp;
    info->max_group = group && group < gpu->max_group ? (uint32_t)group : gpu->max_group;
    pthread_mutex_unlock(&code->lock);
}

static uint32_t power_above(uint64_t size, uint32_t limit) {
    uint32_t n = 1;
    while (n < size && n < limit) n *= 2;
    return n;
}

/* Drivers for processors compile a kernel anew for each local size: few sizes, and large ones. */
static void choose_for_cpu(const uint64_t global[3], uint32_t most, uint32_t local[3]) {
    uint32_t room = most < 256 ? most : 256;
    while (room & (room - 1)) room &= room - 1;
    for (int d = 0; d < 3; d++) {
        local[d] = power_above(global[d], room);
        room /= local[d];
    }
}

void qn__cl_choose_local(const qn__gpu *gpu, const qn__code *code, uint32_t kernel, const uint64_t global[3],
                         uint32_t local[3]) {
    qn__code *asked = (qn__code *)code;
    cl_kernel_info *info = &asked->kernels[kernel];
    pthread_mutex_lock(&asked->lock);
    bool known = info->max_group != 0;
    pthread_mutex_unlock(&asked->lock);
    if (!known) ask_kernel(asked, kernel);
    bool guarded = code->info->kernels[kernel].guarded;
    uint32_t dims = global[2] > 1 ? 3 : global[1] > 1 ? 2 : 1;
    if (gpu->is_cpu && guarded)
        choose_for_cpu(global, info->max_group, local);
    else
        qn__choose_local(global, dims, guarded, info->max_group, info->multiple, gpu->max_local, local);
}
