/* From PTX to loaded code: the driver's linker makes a cubin, which is loaded, and kept in the cache's file. From
   that file nothing is compiled. The driver puts a kernel on the device when it is first asked about it, which takes
   longer than all else where there is a cubin: that waits until somebody wants the kernel. */
#include <stdio.h>
#include <string.h>

#include "backend/cuda/cuda.h"
#include "util/elf.h"

enum { LOG_SIZE = 8 << 10 };

/* ---- loading ---- */

/* A kernel's code is a section of the cubin that has its name. ptxas puts the last kernel first. */
static void note_sizes(qn__code *code, const void *cubin, size_t size) {
    static const char prefix[] = ".text.";
    const size_t length = sizeof prefix - 1;
    const uint32_t count = code->info->num_kernels;
    uint32_t at = 0;
    qn__elf elf;
    qn__elf_part part;
    if (!qn__elf_read(&elf, cubin, size)) return;
    for (uint64_t s = 0; s < elf.num_sections; s++) {
        if (!qn__elf_section(&elf, s, &part) || strncmp(part.name, prefix, length) != 0) continue;
        uint32_t tried = 0;
        for (; tried < count && strcmp(code->info->kernels[at].symbol, part.name + length) != 0; tried++)
            at = (at ? at : count) - 1;
        if (tried < count) code->kernels[at].code_size = part.size;
    }
}

static qn_status load_image(qn__gpu *gpu, qn__code *code, const void *image, size_t size, char *why) {
    qn_status status = qn__cuda_load_begin(gpu, why);
    if (status) return status;
    qn__cu_result result = gpu->cu->module_load(&code->module, image);
    if (qn__cuda_make_room(gpu, result)) result = gpu->cu->module_load(&code->module, image);
    qn__cuda_load_end(gpu);
    if (!result) {
        note_sizes(code, image, size);
        return QN_OK;
    }
    code->module = NULL;
    return qn__cuda_fail(gpu, result, "loading the compiled kernels", why);
}

/* The log's first error line, with the kernel it is in if there is just one. */
static qn_status compile_failed(qn__gpu *gpu, qn__cu_result result, const qn__code_source *source, char *log,
                                char *why) {
    char what[QN__WHY];
    char *error = strstr(log, "error");
    while (error && error > log && error[-1] != '\n') error--;
    char *text = error ? error : log;
    snprintf(what, sizeof what, "the driver does not compile %s%.80s%s%.300s",
             source->info->num_kernels == 1 ? "kernel " : "the kernels, first ",
             source->info->kernels[0].name, text[0] ? ": " : "", text);
    for (size_t end = strlen(what); end && what[end - 1] == '\n';) what[--end] = 0;
    gpu->services->log(gpu->services->log_user, QN_LOG_DEBUG, log);
    return qn__cuda_fail(gpu, result, what, why);
}

static qn_status link_text(qn__gpu *gpu, qn__code *code, const qn__code_source *source, char *log,
                           char *why) {
    const qn__cu *cu = gpu->cu;
    /* the log's size goes in as the value and comes back in its place */
    int options[] = {QN__CU_JIT_TARGET_FROM_CUCONTEXT, QN__CU_JIT_ERROR_LOG_BUFFER,
                     QN__CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES, QN__CU_JIT_OPTIMIZATION_LEVEL,
                     QN__CU_JIT_GENERATE_LINE_INFO};
    void *values[] = {NULL, log, (void *)(uintptr_t)LOG_SIZE, (void *)(uintptr_t)(source->quick ? 0 : 4),
                      (void *)(uintptr_t)1};
    unsigned count = source->debug ? QN__COUNT(options) : QN__COUNT(options) - 1;
    qn__cu_link link;
    void *cubin = NULL;
    size_t size = 0;
    qn__cu_result result = cu->link_create(count, options, values, &link);
    if (result) return compile_failed(gpu, result, source, log, why);
    /* with the zero byte behind the text */
    result = cu->link_add(link, QN__CU_JIT_INPUT_PTX, (void *)source->text, source->text_size + 1,
                          "kernels.ptx", 0, NULL, NULL);
    if (!result) result = cu->link_complete(link, &cubin, &size);
    qn_status status =
        result ? compile_failed(gpu, result, source, log, why) : load_image(gpu, code, cubin, size, why);
    if (!status && source->binary_path)
        qn__code_file_write(gpu->services, source->binary_path,
                            (qn__section[QN__MAX_SECTIONS]){{cubin, size}});
    cu->link_destroy(link);
    return status;
}

/* The linker compiles files that others may be linked to, and ignores there what kernels say of their registers
   (setmaxnreg, which quads of sub-groups want): those are loaded as text. The driver keeps their code in its own cache. */
static bool load_text(qn__gpu *gpu, qn__code *code, const qn__code_source *source) {
    char why[QN__WHY];
    if (source->quick || !strstr(source->text, "setmaxnreg")) return false;
    return load_image(gpu, code, source->text, 0, why) == QN_OK; /* the linker tells better what is wrong */
}

static qn_status compile_text(qn__gpu *gpu, qn__code *code, const qn__code_source *source, char *why) {
    if (load_text(gpu, code, source)) return QN_OK;
    char *log = qn__allocate_zeroed(gpu->services->allocator, LOG_SIZE + 1);
    if (!log) return QN_ERROR_OUT_OF_MEMORY;
    qn_status status = link_text(gpu, code, source, log, why);
    qn__release(gpu->services->allocator, log);
    return status;
}

static qn_status load_binary(qn__gpu *gpu, qn__code *code, const qn__code_source *source, char *why) {
    qn__section cubin[QN__MAX_SECTIONS];
    char *data;
    qn_status status = qn__code_file_open(gpu->services, source, cubin, &data, why);
    if (status) return status;
    status = load_image(gpu, code, cubin->data, cubin->size, why);
    qn__release(gpu->services->allocator, data);
    return status;
}

/* Static local memory beyond what a kernel can declare is dynamic as a whole (emit/gpu_abi.h). Beyond 48 KB in
   all a kernel must be allowed to have it. */
static qn__cu_result prepare_local(qn__gpu *gpu, qn__cuda_kernel *kernel, const qn__kernel_info *info) {
    int declared = 0;
    uint64_t rounded = (info->static_local + QN__LOCAL_ALIGN - 1) / QN__LOCAL_ALIGN * QN__LOCAL_ALIGN;
    kernel->static_local = info->static_local > QN__CUDA_STATIC_LOCAL ? 0 : rounded;
    if (gpu->shared_memory <= QN__CUDA_STATIC_LOCAL) return QN__CU_SUCCESS;
    qn__cu_result result =
        gpu->cu->function_get(&declared, QN__CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, kernel->function);
    if (result || (uint64_t)declared >= gpu->shared_memory) return result;
    return gpu->cu->function_set(kernel->function, QN__CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                                 (int)gpu->shared_memory - declared);
}

/* Left to itself the driver spreads the work-groups of a cluster over as many units, and clusters that would fit wait. It is a
   preference: a driver without it launches as well. */
static void prefer_balance(const qn__gpu *gpu, const qn__cuda_kernel *kernel) {
    enum { CLUSTERS_SINCE = 90 };
    if (gpu->arch < CLUSTERS_SINCE) return;
    (void)gpu->cu->function_set(kernel->function, QN__CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE,
                                QN__CU_CLUSTER_SCHEDULING_POLICY_LOAD_BALANCING);
}

static qn_status find_kernel(qn__gpu *gpu, const qn__code *code, const qn__kernel_info *info,
                             qn__cuda_kernel *kernel, char *why) {
    const qn__cu *cu = gpu->cu;
    int threads = 0, registers = 0;
    kernel->name = qn__cuda_intern(gpu, info->name);
    if (!kernel->name) return QN_ERROR_OUT_OF_MEMORY;
    qn__cu_result result = cu->module_function(&kernel->function, code->module, info->symbol);
    if (!result)
        result = cu->function_get(&threads, QN__CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, kernel->function);
    if (!result) result = cu->function_get(&registers, QN__CU_FUNC_ATTRIBUTE_NUM_REGS, kernel->function);
    if (!result) result = prepare_local(gpu, kernel, info);
    if (!result) prefer_balance(gpu, kernel);
    kernel->max_threads = threads > 0 ? (uint32_t)threads : 1;
    kernel->registers = (uint32_t)registers;
    if (!result) return QN_OK;
    char what[128];
    snprintf(what, sizeof what, "kernel %.100s", info->name);
    return qn__cuda_fail(gpu, result, what, why);
}

static qn_status load(qn__gpu *gpu, qn__code *code, const qn__code_source *source, char *why) {
    const qn__allocator *allocator = gpu->services->allocator;
    code->info = source->info;
    code->kernels = qn__allocate_zeroed(allocator, (source->info->num_kernels + 1) * sizeof *code->kernels);
    if (!code->kernels) return QN_ERROR_OUT_OF_MEMORY;
    if (source->info->num_kernels == 0) return QN_OK;
    return source->text ? compile_text(gpu, code, source, why) : load_binary(gpu, code, source, why);
}

qn_status qn__cuda_code_load(qn__gpu *gpu, const qn__code_source *source, qn__code **out, char *why) {
    if (qn__is_lost(&gpu->loss)) return qn__lost(&gpu->loss, why);
    qn__code *code = qn__allocate_zeroed(gpu->services->allocator, sizeof *code);
    if (!code) return QN_ERROR_OUT_OF_MEMORY;
    const bool entered = qn__cuda_enter(gpu);
    qn_status status = load(gpu, code, source, why);
    qn__cuda_leave(gpu, entered);
    if (status)
        qn__cuda_code_unload(gpu, code);
    else
        *out = code;
    return status;
}

static bool is_prepared(qn__gpu *gpu, const qn__cuda_kernel *kernel) {
    pthread_mutex_lock(&gpu->lock);
    const bool prepared = kernel->function != NULL;
    pthread_mutex_unlock(&gpu->lock);
    return prepared;
}

/* Several threads may find the same; who launches reads what the first has written. */
qn_status qn__cuda_kernel_prepare(qn__gpu *gpu, qn__code *code, uint32_t index, char *why) {
    qn__cuda_kernel *kernel = &code->kernels[index], found = {0};
    if (is_prepared(gpu, kernel)) return QN_OK;
    if (qn__is_lost(&gpu->loss)) return qn__lost(&gpu->loss, why);
    const bool entered = qn__cuda_enter(gpu);
    qn_status status = qn__cuda_load_begin(gpu, why);
    if (!status) {
        status = find_kernel(gpu, code, &code->info->kernels[index], &found, why);
        qn__cuda_load_end(gpu);
    }
    qn__cuda_leave(gpu, entered);
    if (status) return status;
    pthread_mutex_lock(&gpu->lock);
    found.code_size = kernel->code_size;
    if (!kernel->function) *kernel = found;
    pthread_mutex_unlock(&gpu->lock);
    return QN_OK;
}

static void unload(qn__gpu *gpu, qn__cuda_kept *kept) {
    const qn__allocator *allocator = gpu->services->allocator;
    qn__code *code = (qn__code *)kept;
    if (code->module) gpu->cu->module_unload(code->module);
    qn__release(allocator, code->kernels);
    qn__release(allocator, code);
}

void qn__cuda_code_unload(qn__gpu *gpu, qn__code *code) {
    const bool entered = qn__cuda_enter(gpu);
    qn__cuda_put_off(gpu, &code->kept, unload);
    qn__cuda_leave(gpu, entered);
}
