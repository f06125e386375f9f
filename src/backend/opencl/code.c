/* Programs and their kernels: built from text, or from the binary that the disk cache keeps, by which nothing is
   compiled again. */
#include <stdio.h>
#include <string.h>

#include "backend/opencl/opencl.h"

/* The sections of the disk cache's file. */
typedef enum cl_section { TEXT, BINARY, ANY_SIZE /* the build without a required local size */ } cl_section;

/* ---- loading ---- */

static char *copy_text(const qn__gpu *gpu, const void *text, size_t size) {
    char *copy = qn__allocate(gpu->services->allocator, size + 1);
    if (!copy) return NULL;
    memcpy(copy, text, size);
    copy[size] = 0;
    return copy;
}

static bool keep_text(qn__code *code, const void *text, size_t size) {
    code->text = copy_text(code->gpu, text, size);
    code->text_size = size;
    return code->text != NULL;
}

/* Builds the text and puts the driver's binary into the cache's file beside what is there. */
static qn_status build_and_store(const qn__code *code, cl_section which, cl_object *program,
                                 qn__section *sections, char *why) {
    qn_status status = qn__cl_build_text(code, which == ANY_SIZE, program, why);
    if (status) return status;
    size_t size;
    unsigned char *binary = qn__cl_binary(code->gpu, *program, &size);
    if (!binary) return QN_OK;
    sections[which] = (qn__section){binary, size};
    qn__code_file_write(code->gpu->services, code->path, sections);
    qn__release(code->gpu->services->allocator, binary);
    return QN_OK;
}

/* NVIDIA's binaries are PTX, which its driver compiles at each start, unless its own cache (~/.nv) has it. The text is
   not always ended by a zero. */
static bool is_ptx(const qn__gpu *gpu, const unsigned char *binary, size_t size) {
    static const char word[] = ".version";
    const size_t length = sizeof word - 1, most = 4096;
    if (!gpu->is_nvidia || (size >= 4 && memcmp(binary, "\177ELF", 4) == 0)) return false;
    for (size_t at = 0; at + length <= size && at < most; at++)
        if (memcmp(binary + at, word, length) == 0) return true;
    return false;
}

static qn_status load_section(qn__code *code, cl_section which, cl_object *program,
                              const qn__section *sections, char *why) {
    const qn__section binary = sections[which];
    code->compiled |= is_ptx(code->gpu, binary.data, binary.size);
    return qn__cl_build_binary(code, binary.data, binary.size, which == ANY_SIZE, program, why);
}

static qn_status load_text(qn__code *code, const qn__code_source *source, char *why) {
    if (!keep_text(code, source->text, source->text_size)) return QN_ERROR_OUT_OF_MEMORY;
    if (!code->path) return qn__cl_build_text(code, false, &code->program, why);
    qn__section sections[QN__MAX_SECTIONS] = {[TEXT] = {code->text, code->text_size}};
    return build_and_store(code, BINARY, &code->program, sections, why);
}

static qn_status load_file(qn__code *code, const qn__code_source *source, char *why) {
    qn__section sections[QN__MAX_SECTIONS];
    char *file;
    qn_status status = qn__code_file_open(code->gpu->services, source, sections, &file, why);
    if (status) return status;
    status = QN_ERROR_OUT_OF_MEMORY;
    if (keep_text(code, sections[TEXT].data, sections[TEXT].size))
        status = load_section(code, BINARY, &code->program, sections, why);
    qn__release(code->gpu->services->allocator, file);
    return status;
}

static qn_status load(qn__code *code, const qn__code_source *source, char *why) {
    const char *path = source->binary_path;
    if (source->info->num_kernels == 0) return QN_OK;
    if (path && !(code->path = copy_text(code->gpu, path, strlen(path)))) return QN_ERROR_OUT_OF_MEMORY;
    return source->text ? load_text(code, source, why) : load_file(code, source, why);
}

/* The program without a required local size: from the cache's file, else built and added to it. */
static qn_status load_any_size(qn__code *code, char *why) {
    qn__section sections[QN__MAX_SECTIONS];
    qn_status status = QN_ERROR_IO;
    char *file = qn__code_file_read(code->gpu->services, code->path, sections, why);
    if (!file) return qn__cl_build_text(code, true, &code->any_size, why);
    if (sections[ANY_SIZE].size) status = load_section(code, ANY_SIZE, &code->any_size, sections, why);
    if (status) status = build_and_store(code, ANY_SIZE, &code->any_size, sections, why);
    qn__release(code->gpu->services->allocator, file);
    return status;
}

qn_status qn__cl_code_load(qn__gpu *gpu, const qn__code_source *source, qn__code **out, char *why) {
    const qn__allocator *allocator = gpu->services->allocator;
    if (qn__is_lost(&gpu->loss)) return qn__lost(&gpu->loss, why);
    qn__code *code = qn__allocate_zeroed(allocator, sizeof *code);
    if (!code) return QN_ERROR_OUT_OF_MEMORY;
    code->gpu = gpu;
    code->debug = source->debug;
    pthread_mutex_init(&code->lock, NULL);
    pthread_mutex_lock(&gpu->lock);
    code->next = gpu->codes;
    gpu->codes = code;
    pthread_mutex_unlock(&gpu->lock);
    code->info = source->info;
    code->kernels = qn__allocate_zeroed(allocator, (source->info->num_kernels + 1) * sizeof *code->kernels);
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

bool qn__cl_code_compiled(const qn__code *code) { return code->compiled; }

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
    qn__release(allocator, code->text);
    qn__release(allocator, code->path);
    qn__release(allocator, code);
}

/* ---- kernel objects ---- */

static qn_status make_instance(qn__code *code, uint32_t index, bool any_size, cl_instance **out, char *why) {
    const qn__gpu *gpu = code->gpu;
    const qn__kernel_info *kernel = &code->info->kernels[index];
    qn_status status = QN_OK;
    if (any_size && !code->any_size) status = load_any_size(code, why);
    if (status) return status;
    size_t values = (size_t)kernel->num_params + kernel->num_implicit;
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
    uint64_t private_memory = 0, local_memory = 0;
    if (qn__cl_instance(code, kernel, NULL, false, &instance, why) == QN_OK) {
        gpu->cl->clGetKernelWorkGroupInfo(instance->kernel, gpu->device, CL_KERNEL_WORK_GROUP_SIZE,
                                          sizeof group, &group, NULL);
        gpu->cl->clGetKernelWorkGroupInfo(instance->kernel, gpu->device,
                                          CL_KERNEL_PREFERRED_WORK_GROUP_SIZE_MULTIPLE, sizeof multiple,
                                          &multiple, NULL);
        gpu->cl->clGetKernelWorkGroupInfo(instance->kernel, gpu->device, CL_KERNEL_PRIVATE_MEM_SIZE,
                                          sizeof private_memory, &private_memory, NULL);
        gpu->cl->clGetKernelWorkGroupInfo(instance->kernel, gpu->device, CL_KERNEL_LOCAL_MEM_SIZE,
                                          sizeof local_memory, &local_memory, NULL);
        qn__cl_instance_free(code, kernel, instance);
    }
    pthread_mutex_lock(&code->lock);
    info->private_memory = private_memory;
    info->local_memory = local_memory;
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

static const cl_kernel_info *asked(const qn__code *const_code, uint32_t kernel) {
    qn__code *code = (qn__code *)const_code;
    cl_kernel_info *info = &code->kernels[kernel];
    pthread_mutex_lock(&code->lock);
    bool known = info->max_group != 0;
    pthread_mutex_unlock(&code->lock);
    if (!known) ask_kernel(code, kernel);
    return info;
}

void qn__cl_choose_local(const qn__gpu *gpu, const qn__code *code, uint32_t kernel, const uint64_t global[3],
                         uint32_t local[3]) {
    const cl_kernel_info *info = asked(code, kernel);
    bool guarded = code->info->kernels[kernel].guarded;
    uint32_t dims = global[2] > 1 ? 3 : global[1] > 1 ? 2 : 1;
    if (gpu->is_cpu && guarded)
        choose_for_cpu(global, info->max_group, local);
    else
        qn__choose_local(global, dims, guarded, info->max_group, info->multiple, gpu->max_local, local);
}

/* OpenCL tells neither registers nor occupancy. */
qn_status qn__cl_kernel_resources(qn__gpu *gpu, const qn__code *code, uint32_t kernel,
                                  const uint32_t local[3], qn_kernel_resources *resources, char *why) {
    (void)gpu, (void)local, (void)why;
    const cl_kernel_info *info = asked(code, kernel);
    resources->max_group_size = info->max_group;
    resources->preferred_multiple = info->multiple;
    resources->private_memory = info->private_memory;
    if (info->local_memory > resources->local_memory) resources->local_memory = info->local_memory;
    return QN_OK;
}
