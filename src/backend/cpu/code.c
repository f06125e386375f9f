/* From emitted C to loaded code: the system's C compiler makes a shared object, which is loaded from the
   cache's file or a temporary one. A file of the cache ends in a checksum behind the ELF image, so that a
   damaged one is not loaded. Without a compiler the IR is prepared for the interpreter. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "backend/cpu/cpu.h"
#include "util/file.h"
#include "util/hash.h"

extern char **environ;

enum { SUB_GROUP = QN__CPU_SUB_GROUP, MAX_OBJECT = 256 << 20, FOOTER = 16, LONG_TEXT = 300 << 10 };
#define FOOTER_MAGIC "quernso1"

static const char *const common_flags[] = {
    "-std=gnu11",         "-shared",           "-fPIC", "-w", "-fno-strict-aliasing", "-fno-math-errno",
    "-fno-trapping-math", "-ffp-contract=off", "-x",    "c"};
/* Vectorisation as at -O3, by its cost, which gcc must be told. The rest of -O3 takes three times as long to
   compile and was not faster on any benchmark (docs/results/cpu.md). */
static const char *const fast_flags[] = {"-O2", "-march=native", "-fvect-cost-model=dynamic"};
/* For texts of over LONG_TEXT bytes, where the above would take more than some three seconds: a third less, for
   kernels that run up to a seventh longer. Without vectorisation they would run up to seven times longer. */
static const char *const long_flags[] = {"-O1", "-march=native", "-fvect-cost-model=dynamic",
                                         "-ftree-vectorize"};
static const char *const debug_flags[] = {"-O0", "-g"};

/* A private directory for the files of one compile. */
typedef struct work_dir {
    char dir[64], source[96], object[96], errors[96];
} work_dir;

static bool make_work_dir(work_dir *w, char *why) {
    const char *base = getenv("TMPDIR");
    snprintf(w->dir, sizeof w->dir, "%.40s/quern-XXXXXX",
             base && base[0] == '/' && strlen(base) <= 40 ? base : "/tmp");
    if (!mkdtemp(w->dir)) {
        snprintf(why, QN__WHY, "cannot make a directory for the C compiler: %s", strerror(errno));
        return false;
    }
    snprintf(w->source, sizeof w->source, "%s/kernel.c", w->dir);
    snprintf(w->object, sizeof w->object, "%s/kernel.so", w->dir);
    snprintf(w->errors, sizeof w->errors, "%s/errors", w->dir);
    return true;
}

static void remove_work_dir(const work_dir *w) {
    unlink(w->source);
    unlink(w->object);
    unlink(w->errors);
    rmdir(w->dir);
}

static bool write_file(const char *path, const char *data, size_t size, char *why) {
    int error = qn__file_write_atomic(path, data, size);
    if (error) snprintf(why, QN__WHY, "cannot write %.200s: %s", path, strerror(error));
    return error == 0;
}

/* Runs the compiler with its errors in a file. Its exit status, or -1. */
static int spawn_compiler(const char *const *args, const char *errors) {
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_addopen(&actions, 2, errors, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    pid_t pid;
    int status = posix_spawn(&pid, args[0], &actions, NULL, (char *const *)args, environ);
    posix_spawn_file_actions_destroy(&actions);
    if (status) return -1;
    while (waitpid(pid, &status, 0) < 0)
        if (errno != EINTR) return -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void explain(const qn__gpu *gpu, const work_dir *w, int status, char *why) {
    char *text;
    size_t size;
    int length = snprintf(why, QN__WHY, "the C compiler %.100s failed (status %d)", gpu->compiler, status);
    if (qn__file_read(gpu->services->allocator, w->errors, 1 << 20, &text, &size)) return;
    const char *error = strstr(text, "error:");
    snprintf(why + length, (size_t)(QN__WHY - length), ": %.300s", error ? error : text);
    qn__release(gpu->services->allocator, text);
}

static bool run_compiler(const qn__gpu *gpu, const work_dir *w, const qn__code_source *source, char *why) {
    const char *args[32];
    size_t n = 0;
    args[n++] = gpu->compiler;
    const bool is_clang = strstr(gpu->driver, "clang") != NULL;
    const bool is_long = source->text_size > LONG_TEXT && !is_clang;
    const char *const *flags = source->debug ? debug_flags : is_long ? long_flags : fast_flags;
    size_t num_flags = is_long ? QN__COUNT(long_flags) : QN__COUNT(fast_flags);
    if (source->debug || is_clang) num_flags = 2;
    for (size_t i = 0; i < num_flags; i++) args[n++] = flags[i];
    for (size_t i = 0; i < QN__COUNT(common_flags); i++) args[n++] = common_flags[i];
    args[n++] = "-o";
    args[n++] = w->object;
    args[n++] = w->source;
    args[n++] = "-lm";
    args[n] = NULL;
    int status = spawn_compiler(args, w->errors);
    if (status) explain(gpu, w, status, why);
    return status == 0;
}

/* ---- the cache's file ---- */

static void store(const qn__gpu *gpu, const work_dir *w, const char *path) {
    const qn__allocator *allocator = gpu->services->allocator;
    char *data;
    size_t size;
    if (qn__file_read(allocator, w->object, MAX_OBJECT, &data, &size)) return;
    char *grown = qn__reallocate(allocator, data, size + FOOTER);
    if (grown) {
        uint64_t sum = qn__hash(grown, size, 0);
        memcpy(grown + size, FOOTER_MAGIC, 8);
        memcpy(grown + size + 8, &sum, 8);
        int error = qn__file_write_atomic(path, grown, size + FOOTER);
        char text[QN__WHY];
        snprintf(text, sizeof text, "cpu: the cache file %.300s: %s", path, strerror(error));
        if (error) gpu->services->log(gpu->services->log_user, QN_LOG_WARNING, text);
    }
    qn__release(allocator, grown ? grown : data);
}

static bool is_whole(const qn__gpu *gpu, const char *path) {
    char *data;
    size_t size;
    if (qn__file_read(gpu->services->allocator, path, MAX_OBJECT, &data, &size)) return false;
    uint64_t sum = 0;
    bool whole = size > FOOTER && memcmp(data + size - FOOTER, FOOTER_MAGIC, 8) == 0;
    if (whole) memcpy(&sum, data + size - 8, 8);
    whole = whole && sum == qn__hash(data, size - FOOTER, 0);
    qn__release(gpu->services->allocator, data);
    return whole;
}

/* ---- loading ---- */

static qn_status open_library(qn__code *code, const char *path, const qn__code_source *source, char *why) {
    code->library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!code->library) {
        snprintf(why, QN__WHY, "cannot load the compiled kernels: %.300s", dlerror());
        return QN_ERROR_DRIVER;
    }
    const uint32_t *version = dlsym(code->library, "qn_cpu_abi_version");
    if (!version || *version != QN__CPU_ABI_VERSION) {
        snprintf(why, QN__WHY, "the compiled kernels are of another version");
        return QN_ERROR_DRIVER;
    }
    for (uint32_t i = 0; i < source->info->num_kernels; i++) {
        void *symbol = dlsym(code->library, source->info->kernels[i].symbol);
        if (!symbol) {
            snprintf(why, QN__WHY, "the compiled kernels lack %.200s", source->info->kernels[i].symbol);
            return QN_ERROR_DRIVER;
        }
        memcpy(&code->kernels[i].function, &symbol, sizeof symbol);
    }
    return QN_OK;
}

static qn_status compile_text(qn__gpu *gpu, qn__code *code, const qn__code_source *source, char *why) {
    work_dir w;
    if (!make_work_dir(&w, why)) return QN_ERROR_DRIVER;
    qn_status status = QN_ERROR_DRIVER;
    if (write_file(w.source, source->text, source->text_size, why) && run_compiler(gpu, &w, source, why)) {
        if (source->binary_path) store(gpu, &w, source->binary_path);
        bool stored = source->binary_path && is_whole(gpu, source->binary_path);
        if (stored) status = open_library(code, source->binary_path, source, why);
        if (!code->library) status = open_library(code, w.object, source, why); /* or just trimmed away */
    }
    remove_work_dir(&w);
    return status;
}

static qn_status load_binary(qn__gpu *gpu, qn__code *code, const qn__code_source *source, char *why) {
    if (is_whole(gpu, source->binary_path)) return open_library(code, source->binary_path, source, why);
    snprintf(why, QN__WHY, "the cached code %.300s is missing or damaged", source->binary_path);
    return QN_ERROR_IO;
}

static qn_status interpret(qn__code *code, const qn__code_source *source, char *why) {
    jmp_buf escape;
    code->arena.escape = &escape;
    if (setjmp(escape)) {
        snprintf(why, QN__WHY, "out of memory while preparing kernels");
        return QN_ERROR_OUT_OF_MEMORY;
    }
    for (uint32_t i = 0; i < source->info->num_kernels; i++) {
        const char *error = NULL;
        code->kernels[i].program = qn__vm_prepare_named(&code->arena, source->module,
                                                        source->info->kernels[i].name, SUB_GROUP, &error);
        if (!code->kernels[i].program) {
            snprintf(why, QN__WHY, "kernel %.200s: %.200s", source->info->kernels[i].name, error);
            return QN_ERROR_UNSUPPORTED;
        }
        code->kernels[i].uses_sync = qn__vm_uses_sync(code->kernels[i].program);
    }
    return QN_OK;
}

static qn_status load(qn__gpu *gpu, qn__code *code, const qn__code_source *source, char *why) {
    if (source->info->num_kernels == 0) return QN_OK;
    if (source->text) return compile_text(gpu, code, source, why);
    return source->module ? interpret(code, source, why) : load_binary(gpu, code, source, why);
}

qn_status qn__cpu_code_load(qn__gpu *gpu, const qn__code_source *source, qn__code **out, char *why) {
    const qn__allocator *allocator = gpu->services->allocator;
    qn__code *code = qn__allocate_zeroed(allocator, sizeof *code);
    if (!code) return QN_ERROR_OUT_OF_MEMORY;
    code->gpu = gpu;
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
    if (code->library) dlclose(code->library);
    qn__arena_free(&code->arena);
    qn__release(gpu->services->allocator, code->kernels);
    qn__release(gpu->services->allocator, code);
}
