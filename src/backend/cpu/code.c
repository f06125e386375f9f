/* Loaded programs: compiled, from the cache, or interpreted, for now or for good. */
#include "backend/cpu/background.h"
#include "backend/cpu/object.h"
#include "util/dynamic.h"
#include "util/folder.h"

/* Interpreted from now on, and compiled meanwhile; false where that cannot be. */
static bool start_in_background(qn__code *code, const qn__code_source *source) {
    char ignored[QN__WHY];
    if (!source->background || source->debug || !source->module) return false;
    if (qn__cpu_interpret(code, source->module, source, ignored) == QN_OK &&
        qn__cpu_background_start(code, source))
        return true;
    for (uint32_t i = 0; i < source->info->num_kernels; i++) code->kernels[i].program = NULL;
    return false;
}

static qn_status load(qn__gpu *gpu, qn__code *code, const qn__code_source *source, char *why) {
    if (source->info->num_kernels == 0) return QN_OK;
    if (source->text && start_in_background(code, source)) return QN_OK;
    if (source->text) return qn__cpu_compile_text(gpu, code, source, NULL, why);
    return source->module ? qn__cpu_interpret(code, source->module, source, why)
                          : qn__cpu_load_binary(gpu, code, source, why);
}

qn_status qn__cpu_code_load(qn__gpu *gpu, const qn__code_source *source, qn__code **out, char *why) {
    const qn__allocator *allocator = gpu->services->allocator;
    qn__code *code = qn__allocate_zeroed(allocator, sizeof *code);
    if (!code) return QN_ERROR_OUT_OF_MEMORY;
    code->gpu = gpu;
    code->folder = -1;
    qn__arena_init(&code->arena, allocator, 0);
    code->info = source->info;
    code->kernels = qn__allocate_zeroed(allocator, (code->info->num_kernels + 1) * sizeof *code->kernels);
    for (uint32_t i = 0; code->kernels && i < code->info->num_kernels; i++)
        code->kernels[i].uses_sync = code->info->kernels[i].uses_sync;
    qn_status status = code->kernels ? load(gpu, code, source, why) : QN_ERROR_OUT_OF_MEMORY;
    if (status)
        qn__cpu_code_unload(gpu, code);
    else
        *out = code;
    return status;
}

void qn__cpu_code_unload(qn__gpu *gpu, qn__code *code) {
    qn__cpu_background_end(code);
    if (code->library) qn__dynamic_close(code->library);
    if (code->folder >= 0) qn__folder_close(code->folder);
    qn__arena_free(&code->arena);
    qn__release(gpu->services->allocator, code->kernels);
    qn__release(gpu->services->allocator, code);
}
