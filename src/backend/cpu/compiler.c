/* Runs the host's C compiler. No kernel may keep it busy for minutes: each level has a limit of processor time, all
   have one of memory, and behind the cheapest level there is the interpreter. Sizes of texts choose the first level. */
#include "backend/cpu/compiler.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "util/file.h"
#include "util/process.h"

enum { MAX_LEVEL_FLAGS = 3, DEADLINE_FACTOR = 4 }; /* wall time to processor time, on a busy machine */
static const uint64_t memory_limit = (uint64_t)2 << 30;

typedef struct level {
    const char *name;
    size_t most_text;                       /* bytes of C text: a longer one starts further down */
    unsigned seconds;                       /* of processor time */
    bool native;                            /* with -march=native */
    const char *flags[MAX_LEVEL_FLAGS];     /* for any compiler */
    const char *gcc_flags[MAX_LEVEL_FLAGS]; /* what clang does by itself, or has not */
} level;

/* Vectorisation as at -O3, by its cost, which gcc must be told. The rest of -O3 takes three times as long to compile
   and was not faster on any benchmark (docs/results/cpu.md). Texts of over 300 KiB would take more than some three
   seconds: -O1 takes a third less, for kernels that run up to a seventh longer. Without vectorisation they would run
   up to seven times longer. Of two megabytes on, -O1 mostly reaches its limit; -O0 manages half a megabyte a second. */
static const level levels[] = {
    {"-O2", 300 << 10, 30, true, {"-O2"}, {"-fvect-cost-model=dynamic"}},
    {"-O1", 2 << 20, 30, true, {"-O1"}, {"-fvect-cost-model=dynamic", "-ftree-vectorize"}},
    {"-O0", 6 << 20, 20, false, {"-O0"}, {NULL}},
};
static const level debug_level = {"-O0 -g", SIZE_MAX, 60, false, {"-O0", "-g"}, {NULL}};

static const char *const common_flags[] = {
    "-std=gnu11",         "-shared",           "-fPIC", "-w", "-fno-strict-aliasing", "-fno-math-errno",
    "-fno-trapping-math", "-ffp-contract=off", "-x",    "c"};

/* What compilers, assemblers and linkers say when a limit has ended them, or they have failed by themselves. */
static const char *const limit_signs[] = {
    "out of memory", "memory exhausted",       "annot allocate", "bad_alloc",
    "Killed",        "CPU time limit",         "due to signal",  "signal terminated program",
    "mmap failed",   "internal compiler error"};

/* One run of the compiler. */
typedef struct run {
    qn__gpu *gpu;
    const level *level;
    bool native;
    const char *machine; /* or NULL */
    const atomic_bool *stop;
    char source[PATH_MAX + 16], object[PATH_MAX + 16], errors[PATH_MAX + 16];
} run;

static void warn(const qn__gpu *gpu, const char *text) {
    gpu->services->log(gpu->services->log_user, QN_LOG_WARNING, text);
}

static size_t add(const char **args, size_t n, const char *const *flags, size_t most) {
    for (size_t i = 0; i < most && flags[i]; i++) args[n++] = flags[i];
    return n;
}

static int start(const run *r) {
    const char *args[40];
    char march[48];
    size_t n = 0;
    args[n++] = r->gpu->compiler;
    n = add(args, n, r->level->flags, MAX_LEVEL_FLAGS);
    if (!strstr(r->gpu->driver, "clang")) n = add(args, n, r->level->gcc_flags, MAX_LEVEL_FLAGS);
    snprintf(march, sizeof march, "-march=%.32s", r->machine ? r->machine : "native");
    if (r->native || r->machine) args[n++] = march;
    n = add(args, n, common_flags, QN__COUNT(common_flags));
    args[n++] = "-o";
    args[n++] = r->object;
    args[n++] = r->source;
    args[n++] = "-lm";
    args[n] = NULL;
    return qn__process_run(&(qn__process){.args = args,
                                          .errors = r->errors,
                                          .memory = memory_limit,
                                          .cpu_seconds = r->level->seconds,
                                          .seconds = r->level->seconds * DEADLINE_FACTOR,
                                          .stop = r->stop});
}

/* The first error that the compiler names. */
static void explain(const qn__gpu *gpu, const char *text, int status, char *why) {
    const int length =
        snprintf(why, QN__WHY, "the C compiler %.100s failed (status %d)", gpu->compiler, status);
    const char *error = strstr(text, "error:");
    snprintf(why + length, (size_t)(QN__WHY - length), ": %.300s", error ? error : text);
}

static bool is_stopped(const run *r) { return r->stop && atomic_load(r->stop); }

static qn__cc_result judge(const run *r, int status, char *why) {
    if (status == 0) return QN__CC_DONE;
    if (is_stopped(r)) return QN__CC_FAILED;
    if (status == QN__PROCESS_KILLED) return QN__CC_TOO_MUCH;
    if (status == QN__PROCESS_FAILED) {
        snprintf(why, QN__WHY, "the C compiler %.100s cannot be started: %s", r->gpu->compiler,
                 strerror(errno));
        return QN__CC_FAILED;
    }
    const qn__allocator *allocator = r->gpu->services->allocator;
    char *text = NULL;
    size_t size;
    const int error = qn__private_read(allocator, r->errors, 1 << 20, &text, &size);
    bool limited = false;
    for (size_t i = 0; !error && i < QN__COUNT(limit_signs); i++)
        limited |= strstr(text, limit_signs[i]) != NULL;
    if (!limited) explain(r->gpu, error ? strerror(error) : text, status, why);
    qn__release(allocator, text);
    return limited ? QN__CC_TOO_MUCH : QN__CC_FAILED;
}

/* A compiler that knows no -march=native is asked without; what it says of the program counts. */
static qn__cc_result run_level(run *r, char *why) {
    char ignored[QN__WHY];
    r->native = !r->machine && r->level->native && !atomic_load(&r->gpu->refuses_native);
    const qn__cc_result result = judge(r, start(r), why);
    if (result != QN__CC_FAILED || !r->native || is_stopped(r)) return result;
    r->native = false;
    if (judge(r, start(r), ignored) != QN__CC_DONE) return result;
    if (!atomic_exchange(&r->gpu->refuses_native, true)) {
        char text[QN__WHY];
        snprintf(text, sizeof text,
                 "cpu: the C compiler %.200s refuses -march=native: kernels are compiled without it",
                 r->gpu->compiler);
        warn(r->gpu, text);
    }
    return QN__CC_DONE;
}

static void log_step(const qn__gpu *gpu, const qn__code_source *source, const level *from, const char *next) {
    char text[QN__WHY];
    snprintf(text, sizeof text,
             "cpu: at %s the C compiler does not compile kernel %.80s in %u seconds and %u MiB: %s",
             from->name, source->info->kernels[0].name, from->seconds, (unsigned)(memory_limit >> 20), next);
    warn(gpu, text);
}

static const level *first_level(const qn__code_source *source) {
    if (source->debug) return &debug_level;
    for (size_t i = 0; i < QN__COUNT(levels); i++)
        if (source->text_size <= levels[i].most_text) return &levels[i];
    return NULL;
}

static void log_size(const qn__gpu *gpu, const qn__code_source *source, const level *level) {
    char text[QN__WHY];
    snprintf(text, sizeof text, "cpu: kernel %.80s makes %zu KiB of C: it is %s%s",
             source->info->kernels[0].name, source->text_size >> 10, level ? "compiled at " : "interpreted",
             level ? level->name : "");
    gpu->services->log(gpu->services->log_user, level && level->native ? QN_LOG_INFO : QN_LOG_WARNING, text);
}

qn__cc_result qn__cc_compile(qn__gpu *gpu, const qn__work_folder *work, const qn__code_source *source,
                             const atomic_bool *stop, char *why) {
    const level *cheapest = &levels[QN__COUNT(levels) - 1], *level = first_level(source);
    run r = {.gpu = gpu, .machine = source->machine, .stop = stop};
    snprintf(r.source, sizeof r.source, "%s/" QN__CC_SOURCE, work->path);
    snprintf(r.object, sizeof r.object, "%s/" QN__CC_OBJECT, work->path);
    snprintf(r.errors, sizeof r.errors, "%s/errors", work->path);
    if (level != &levels[0] && !source->debug) log_size(gpu, source, level);
    while (level) {
        r.level = level;
        const qn__cc_result result = run_level(&r, why);
        if (result != QN__CC_TOO_MUCH) return result;
        const bool last = level == cheapest || source->text_size > cheapest->most_text;
        log_step(gpu, source, level, last ? "it is interpreted" : "it is compiled at -O0");
        level = last ? NULL : cheapest;
    }
    return QN__CC_TOO_MUCH;
}
