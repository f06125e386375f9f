/* The C compiler in the background. A program is interpreted from the start; a thread of its own has it compiled and
   puts each kernel's function in its place, which launches take from the next work-group on. As many compilers run at
   once as the device has threads. */
#include "backend/cpu/background.h"

#include <stdio.h>
#include <string.h>

#include "backend/cpu/object.h"
#include "util/file.h"
#include "util/thread.h"

struct qn__cpu_background {
    qn__code *code;
    qn__code_source source; /* its path is `path` */
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    atomic_bool ready; /* the functions are in their places */
    atomic_bool stop;
    bool runs, done; /* the compiler was started; all is over. Guarded by lock */
    uint64_t start_ns;
    qn_status status;
    char why[QN__WHY], path[];
};

/* ---- the thread ---- */

/* Waits until fewer compilers run than there are threads; false when the program goes away first. */
static bool take_slot(qn__cpu_background *b) {
    qn__gpu *gpu = b->code->gpu;
    pthread_mutex_lock(&gpu->compile_lock);
    while (!atomic_load(&b->stop) && gpu->compiling >= gpu->num_workers)
        pthread_cond_wait(&gpu->compile_left, &gpu->compile_lock);
    const bool taken = !atomic_load(&b->stop);
    if (taken) gpu->compiling++;
    pthread_mutex_unlock(&gpu->compile_lock);
    return taken;
}

static void give_slot(qn__gpu *gpu) {
    pthread_mutex_lock(&gpu->compile_lock);
    gpu->compiling--;
    pthread_cond_broadcast(&gpu->compile_left);
    pthread_mutex_unlock(&gpu->compile_lock);
}

static void log_failure(const qn__cpu_background *b) {
    const qn__services *services = b->code->gpu->services;
    char text[QN__WHY + 128];
    snprintf(text, sizeof text, "cpu: %s; kernel %.80s is interpreted", b->why,
             b->source.info->kernels[0].name);
    services->log(services->log_user, QN_LOG_WARNING, text);
}

static void log_time(const qn__cpu_background *b, uint64_t start_ns) {
    const qn__services *services = b->code->gpu->services;
    char text[256];
    snprintf(text, sizeof text, "cpu: kernel %.80s compiled by %.80s in %.0f ms",
             b->source.info->kernels[0].name, b->code->gpu->driver, (double)(qn__now_ns() - start_ns) / 1e6);
    services->log(services->log_user, QN_LOG_DEBUG, text);
    if (services->did)
        services->did(services->did_user, "C compiler", b->source.info->kernels[0].name, start_ns);
}

static void compile(qn__cpu_background *b) {
    qn__gpu *gpu = b->code->gpu;
    const uint64_t start = qn__now_ns();
    pthread_mutex_lock(&b->lock);
    b->runs = true;
    pthread_mutex_unlock(&b->lock);
    b->status = qn__cpu_compile_text(gpu, b->code, &b->source, &b->stop, b->why);
    give_slot(gpu);
    if (b->status) {
        if (!atomic_load(&b->stop)) log_failure(b);
        return;
    }
    log_time(b, start);
    pthread_mutex_lock(&b->lock);
    atomic_store(&b->ready, b->code->library != NULL);
    pthread_cond_broadcast(&b->changed);
    pthread_mutex_unlock(&b->lock);
    if (b->source.binary_path) b->source.stored(b->source.stored_user);
}

static void *background_main(void *argument) {
    qn__cpu_background *b = argument;
    if (take_slot(b)) compile(b);
    pthread_mutex_lock(&b->lock);
    b->done = true;
    pthread_cond_broadcast(&b->changed);
    pthread_mutex_unlock(&b->lock);
    return NULL;
}

/* ---- for the program ---- */

bool qn__cpu_background_start(qn__code *code, const qn__code_source *source) {
    const char *path = source->binary_path ? source->binary_path : "";
    const size_t length = strlen(path) + 1;
    qn__cpu_background *b = qn__allocate_zeroed(code->gpu->services->allocator, sizeof *b + length);
    if (!b) return false;
    b->code = code;
    b->source = *source;
    memcpy(b->path, path, length);
    if (source->binary_path) b->source.binary_path = b->path;
    b->start_ns = qn__now_ns();
    pthread_mutex_init(&b->lock, NULL);
    qn__cond_init(&b->changed);
    code->background = b;
    if (qn__thread_start(&b->thread, background_main, b)) return true;
    code->background = NULL;
    pthread_cond_destroy(&b->changed);
    pthread_mutex_destroy(&b->lock);
    qn__release(code->gpu->services->allocator, b);
    return false;
}

/* Waits until all is over, or until the functions are in their places; false when the time is up. */
static bool wait_for(qn__cpu_background *b, bool for_ready, uint64_t timeout_ns) {
    const struct timespec until = qn__deadline(timeout_ns);
    bool in_time = true;
    pthread_mutex_lock(&b->lock);
    while (!b->done && !(for_ready && atomic_load(&b->ready)) && in_time)
        in_time = qn__cond_wait(&b->changed, &b->lock, timeout_ns, &until);
    pthread_mutex_unlock(&b->lock);
    return in_time;
}

void qn__cpu_background_end(qn__code *code) {
    qn__cpu_background *b = code->background;
    if (!b) return;
    pthread_mutex_lock(&b->lock);
    const bool runs = b->runs;
    pthread_mutex_unlock(&b->lock);
    /* as long again as it has run: then the cache has the code next time, and the program's life is at most doubled */
    if (runs) wait_for(b, false, qn__now_ns() - b->start_ns);
    pthread_mutex_lock(&code->gpu->compile_lock);
    atomic_store(&b->stop, true);
    pthread_cond_broadcast(&code->gpu->compile_left);
    pthread_mutex_unlock(&code->gpu->compile_lock);
    pthread_join(b->thread, NULL);
    pthread_cond_destroy(&b->changed);
    pthread_mutex_destroy(&b->lock);
    qn__release(code->gpu->services->allocator, b);
    code->background = NULL;
}

qn_status qn__cpu_code_wait(qn__code *code, uint64_t timeout_ns, char *why) {
    qn__cpu_background *b = code->background;
    if (!b) return QN_OK;
    if (!wait_for(b, false, timeout_ns)) return QN_ERROR_TIMEOUT;
    if (b->status) memcpy(why, b->why, sizeof b->why);
    return b->status;
}

/* ---- for a launch ---- */

void qn__cpu_background_grace(qn__code *code) {
    enum { GRACE_NS = 35000000 };
    qn__cpu_background *b = code->background;
    const uint64_t left = b && !atomic_load(&b->ready) ? qn__time_left(b->start_ns, GRACE_NS) : 0;
    if (left) wait_for(b, true, left);
}

const atomic_bool *qn__cpu_background_ready(const qn__code *code) {
    return code->background ? &code->background->ready : NULL;
}
