/* From emitted C to loaded code: the host's C compiler makes a shared object, which is loaded from the cache's file or
   from a work folder. Without a compiler, and where the text is too much for it, the IR is prepared for the interpreter. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "backend/common/common.h"
#include "backend/cpu/compiler.h"
#include "backend/cpu/object.h"
#include "util/dynamic.h"
#include "util/elf.h"
#include "util/file.h"
#include "util/folder.h"
#include "util/hash.h"

enum { SUB_GROUP = QN__CPU_SUB_GROUP, MAX_OBJECT = 256 << 20 };

/* Stands in the cache for an object that the C compiler does not make within its limits. */
static const char too_much[] = "too much for the C compiler\n";

/* ---- the cache's file ---- */

static void write_cached(const qn__gpu *gpu, const char *path, const void *data, size_t size) {
    qn__code_file_write(gpu->services, path, (qn__section[QN__MAX_SECTIONS]){{data, size}});
}

static void store_too_much(const qn__gpu *gpu, const char *path) {
    write_cached(gpu, path, too_much, sizeof too_much);
}

typedef enum cached { MISSING, OBJECT, TOO_MUCH } cached;

/* Also what the C compiler cuts off from the function, as "kernel_groups.cold". */
static bool is_of_kernel(const char *function, const char *kernel) {
    const size_t length = strlen(kernel), more = sizeof QN__CPU_GROUPS - 1;
    if (strncmp(function, kernel, length) != 0 || strncmp(function + length, QN__CPU_GROUPS, more) != 0)
        return false;
    return function[length + more] == 0 || function[length + more] == '.';
}

/* The object has the functions nearly in the order of the kernels. */
static void note_sizes(qn__code *code, const void *object, size_t size) {
    const uint32_t count = code->info->num_kernels;
    qn__elf elf;
    qn__elf_part part;
    if (!qn__elf_read(&elf, object, size)) return;
    for (uint32_t i = 0; i < count; i++) code->kernels[i].code_size = 0;
    uint32_t at = 0;
    for (uint64_t s = 0; s < elf.num_symbols; s++) {
        if (!qn__elf_function(&elf, s, &part) || !strstr(part.name, QN__CPU_GROUPS)) continue;
        uint32_t tried = 0;
        for (; tried < count && !is_of_kernel(part.name, code->info->kernels[at].name); tried++)
            at = (at + 1) % count;
        if (tried < count) code->kernels[at].code_size += part.size;
    }
}

/* What the C compiler has made: looked at, and put into the cache if there is one. */
static void keep(qn__code *code, const char *object, const char *path) {
    const qn__gpu *gpu = code->gpu;
    char *data;
    size_t size;
    if (qn__private_read(gpu->services->allocator, object, MAX_OBJECT, &data, &size)) return;
    note_sizes(code, data, size);
    if (path) write_cached(gpu, path, data, size);
    qn__release(gpu->services->allocator, data);
}

/* What the opened file of the cache holds. */
static cached look_at(qn__code *code, int file) {
    const qn__gpu *gpu = code->gpu;
    char *data;
    size_t size;
    qn__section object[QN__MAX_SECTIONS];
    if (qn__file_read_open(gpu->services->allocator, file, MAX_OBJECT, &data, &size)) return MISSING;
    const bool whole = qn__code_file_unpack(data, size, object);
    const bool gave_up =
        whole && object->size == sizeof too_much && memcmp(object->data, too_much, sizeof too_much) == 0;
    if (whole && !gave_up) note_sizes(code, object->data, object->size);
    qn__release(gpu->services->allocator, data);
    return !whole ? MISSING : gave_up ? TOO_MUCH : OBJECT;
}

static bool make_work_folder(qn__gpu *gpu, qn__work_folder *work, char *why) {
    bool ignored;
    const int error = qn__work_folder_make(work, &ignored);
    if (ignored)
        gpu->services->log(
            gpu->services->log_user, QN_LOG_WARNING,
            "cpu: $TMPDIR is not used: no folder can be made there that other users cannot change");
    if (error == EPERM)
        snprintf(why, QN__WHY,
                 "no folder for the C compiler: other users can rename files in /tmp (chmod +t /tmp)");
    else if (error)
        snprintf(why, QN__WHY, "no folder for the C compiler can be made: %s", strerror(error));
    return error == 0;
}

/* ---- loading ---- */

static qn_status open_library(qn__code *code, const char *path, const qn__code_source *source, char *why) {
    char error[QN__WHY];
    code->library = qn__dynamic_open(path, false, NULL, error, sizeof error);
    if (!code->library) {
        snprintf(why, QN__WHY, "cannot load the compiled kernels: %.300s", error);
        return QN_ERROR_DRIVER;
    }
    const uint32_t *version = qn__dynamic_symbol(code->library, "qn_cpu_abi_version");
    if (!version || *version != QN__CPU_ABI_VERSION) {
        snprintf(why, QN__WHY, "the compiled kernels are of another version");
        return QN_ERROR_DRIVER;
    }
    if (source->info->constants_size) {
        void *constants = qn__dynamic_symbol(code->library, QN__CPU_CONSTANTS);
        if (!constants) {
            snprintf(why, QN__WHY, "the compiled kernels lack " QN__CPU_CONSTANTS);
            return QN_ERROR_DRIVER;
        }
        memcpy(constants, source->info->constants, (size_t)source->info->constants_size);
    }
    for (uint32_t i = 0; i < source->info->num_kernels; i++) {
        if (qn__dynamic_symbol(code->library, source->info->kernels[i].symbol)) continue;
        snprintf(why, QN__WHY, "the compiled kernels lack %.200s", source->info->kernels[i].symbol);
        return QN_ERROR_DRIVER;
    }
    for (uint32_t i = 0; i < source->info->num_kernels; i++) {
        void *symbol = qn__dynamic_symbol(code->library, source->info->kernels[i].symbol);
        qn_cpu_kernel *function;
        memcpy(&function, &symbol, sizeof symbol);
        atomic_store(&code->kernels[i].function, function); /* launches may be waiting for it */
    }
    return QN_OK;
}

qn_status qn__cpu_interpret(qn__code *code, const struct ir_module *module, const qn__code_source *source,
                            char *why) {
    jmp_buf escape;
    code->arena.escape = &escape;
    if (setjmp(escape)) {
        snprintf(why, QN__WHY, "out of memory while preparing kernels");
        return QN_ERROR_OUT_OF_MEMORY;
    }
    for (uint32_t i = 0; i < source->info->num_kernels; i++) {
        const char *error = NULL;
        code->kernels[i].program =
            qn__vm_prepare_named(&code->arena, module, source->info->kernels[i].name, SUB_GROUP, &error);
        if (!code->kernels[i].program) {
            snprintf(why, QN__WHY, "kernel %.200s: %.200s", source->info->kernels[i].name, error);
            return QN_ERROR_UNSUPPORTED;
        }
        code->kernels[i].uses_sync |= qn__vm_uses_sync(code->kernels[i].program);
    }
    return QN_OK;
}

static qn_status interpret_instead(qn__code *code, const qn__code_source *source, char *why) {
    const struct ir_module *module = source->get_module(source->get_module_user, why);
    return module ? qn__cpu_interpret(code, module, source, why) : QN_ERROR_DRIVER;
}

/* The file that is loaded is the one that was looked at; gdb reads it too, as long as the folder is open. */
static qn_status load_cached(qn__code *code, const qn__code_source *source, cached *found, char *why) {
    int folder, file;
    const char *name;
    char path[PATH_MAX];
    *found = MISSING;
    if (qn__folder_of(source->binary_path, &folder, &name)) return QN_ERROR_IO;
    if (qn__folder_file(folder, name, &file) == 0) {
        *found = look_at(code, file);
        qn__file_close(file);
    }
    qn_status status = QN_ERROR_IO;
    if (*found == OBJECT) {
        qn__folder_loadable(folder, name, source->debug, path, sizeof path);
        status = open_library(code, path, source, why);
    }
    if (!status && source->debug)
        code->folder = folder;
    else
        qn__folder_close(folder);
    return status;
}

/* The dynamic loader wants a file, which need not stay. */
static qn_status load_memory(qn__gpu *gpu, qn__code *code, const qn__code_source *source, char *why) {
    qn__work_folder work;
    char path[PATH_MAX + 16];
    if (!make_work_folder(gpu, &work, why)) return QN_ERROR_DRIVER;
    snprintf(path, sizeof path, "%s/" QN__CC_OBJECT, work.path);
    const int error = qn__folder_write(work.folder, QN__CC_OBJECT, source->binary, source->binary_size);
    if (error) snprintf(why, QN__WHY, "cannot write to %.200s: %s", work.path, strerror(error));
    note_sizes(code, source->binary, source->binary_size);
    const qn_status status = error ? QN_ERROR_DRIVER : open_library(code, path, source, why);
    qn__work_folder_remove(&work);
    return status;
}

qn_status qn__cpu_load_binary(qn__gpu *gpu, qn__code *code, const qn__code_source *source, char *why) {
    if (source->binary) return load_memory(gpu, code, source, why);
    cached found;
    const qn_status status = load_cached(code, source, &found, why);
    if (found == OBJECT) return status;
    if (found == TOO_MUCH) {
        gpu->services->log(
            gpu->services->log_user, QN_LOG_WARNING,
            "cpu: the C compiler has not compiled this program within its limits before: it is "
            "interpreted");
        return interpret_instead(code, source, why);
    }
    snprintf(why, QN__WHY, "the cached code %.300s is missing or damaged", source->binary_path);
    return QN_ERROR_IO;
}

/* ---- compiling ---- */

/* From the cache, or from the work folder: the cache's file may be trimmed away by now. */
static qn_status load_object(qn__code *code, const qn__work_folder *work, const qn__code_source *source,
                             char *why) {
    char object[PATH_MAX + 16];
    cached found;
    snprintf(object, sizeof object, "%s/" QN__CC_OBJECT, work->path);
    keep(code, object, source->binary_path);
    if (source->binary_path && load_cached(code, source, &found, why) == QN_OK) return QN_OK;
    return code->library ? QN_ERROR_DRIVER : open_library(code, object, source, why);
}

static qn_status compile_in(qn__gpu *gpu, qn__code *code, const qn__work_folder *work,
                            const qn__code_source *source, const atomic_bool *stop, char *why) {
    const int error = qn__folder_write(work->folder, QN__CC_SOURCE, source->text, source->text_size);
    if (error) {
        snprintf(why, QN__WHY, "cannot write to %.200s: %s", work->path, strerror(error));
        return QN_ERROR_DRIVER;
    }
    switch (qn__cc_compile(gpu, work, source, stop, why)) {
    case QN__CC_DONE: return load_object(code, work, source, why);
    case QN__CC_FAILED: return QN_ERROR_DRIVER;
    case QN__CC_TOO_MUCH: break;
    }
    if (source->binary_path) store_too_much(gpu, source->binary_path);
    return code->background ? QN_OK : interpret_instead(code, source, why); /* or as it has been so far */
}

qn_status qn__cpu_compile_text(qn__gpu *gpu, qn__code *code, const qn__code_source *source,
                               const atomic_bool *stop, char *why) {
    qn__work_folder work;
    if (!make_work_folder(gpu, &work, why)) return QN_ERROR_DRIVER;
    const qn_status status = compile_in(gpu, code, &work, source, stop, why);
    if (!atomic_exchange(&gpu->swept, true)) qn__work_folder_sweep(&work);
    qn__work_folder_remove(&work);
    return status;
}

qn_status qn__cpu_code_object(qn__gpu *gpu, const qn__code_source *source, char **object, size_t *size,
                              char *why) {
    qn__work_folder work;
    char path[PATH_MAX + 16];
    if (!gpu->compiler[0]) {
        snprintf(why, QN__WHY,
                 "there is no C compiler for it: install one, or name the other targets: ptx,spirv,clc,ir");
        return QN_ERROR_DRIVER;
    }
    if (!make_work_folder(gpu, &work, why)) return QN_ERROR_DRIVER;
    snprintf(path, sizeof path, "%s/" QN__CC_OBJECT, work.path);
    int error = qn__folder_write(work.folder, QN__CC_SOURCE, source->text, source->text_size);
    const qn__cc_result result = error ? QN__CC_DONE : qn__cc_compile(gpu, &work, source, NULL, why);
    if (result == QN__CC_TOO_MUCH) snprintf(why, QN__WHY, "it is too much for the C compiler");
    if (!error && result == QN__CC_DONE)
        error = qn__private_read(gpu->services->allocator, path, MAX_OBJECT, object, size);
    if (error) snprintf(why, QN__WHY, "the files in %.200s: %s", work.path, strerror(error));
    qn__work_folder_remove(&work);
    return error || result != QN__CC_DONE ? QN_ERROR_DRIVER : QN_OK;
}
