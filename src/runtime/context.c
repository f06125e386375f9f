/* The context: hooks, services for backends, and the end of everything. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/runtime.h"
#include "runtime/trace.h"
#include "util/file.h"
#include "util/system.h"

#define TEXT_OF(x)  TEXT_OF_(x)
#define TEXT_OF_(x) #x

const char *qn_version(void) {
    return TEXT_OF(QN_VERSION_MAJOR) "." TEXT_OF(QN_VERSION_MINOR) "." TEXT_OF(QN_VERSION_PATCH);
}

static void log_from_backend(void *user, qn_log_level level, const char *message) {
    qn__log(user, level, "%s", message);
}

static void print_to_stdout(void *user, const char *text, size_t size) {
    (void)user;
    fwrite(text, 1, size, stdout);
}

static char *copy_text(qn_context *context, const char *text) {
    size_t size = strlen(text) + 1;
    char *copy = qn__allocate(&context->allocator, size);
    return copy ? memcpy(copy, text, size) : NULL;
}

/* Where the cache lives: "" when there is no place for it. Whether the folder can be trusted is seen at each use. */
static void default_cache_dir(char *out, size_t size) {
    const char *own = qn__environment("QUERN_CACHE_DIR");
    const bool fits =
        own ? (size_t)snprintf(out, size, "%s", own) < size : qn__default_cache_folder(out, size);
    if (!fits) out[0] = 0;
}

static bool copy_strings(qn_context *context) {
    char dir[4096] = "";
    const char *given = context->desc.cache_dir;
    if (given && strlen(given) < sizeof dir)
        memcpy(dir, given, strlen(given) + 1);
    else if (!given && !context->desc.disable_cache)
        default_cache_dir(dir, sizeof dir);
    if (context->desc.disable_cache) dir[0] = 0;
    context->cache_dir = copy_text(context, dir);
    const char *compiler =
        context->desc.cpu_compiler ? context->desc.cpu_compiler : qn__environment("QUERN_CC");
    if (compiler && !compiler[0]) compiler = NULL;
    if (compiler) context->cpu_compiler = copy_text(context, compiler);
    return context->cache_dir && (!compiler || context->cpu_compiler);
}

static unsigned cpu_threads(const qn_context_desc *desc) {
    enum { MOST = 4096 };
    const char *wanted = qn__environment("QUERN_CPU_THREADS");
    if (desc->cpu_threads || !wanted) return desc->cpu_threads < MOST ? desc->cpu_threads : MOST;
    long threads = strtol(wanted, NULL, 10);
    return threads > 0 && threads <= MOST ? (unsigned)threads : 0;
}

static void set_services(qn_context *context) {
    context->services = (qn__services){
        .allocator = &context->allocator,
        .log = log_from_backend,
        .log_user = context,
        .print = context->desc.print ? context->desc.print : print_to_stdout,
        .print_user = context->desc.print_user,
        .cpu_compiler = context->cpu_compiler,
        .cpu_threads = cpu_threads(&context->desc),
        .cpu_leave_signals = context->desc.cpu_leave_signals,
    };
}

static void context_release(qn_context *context) {
    qn__allocator allocator = context->allocator;
    qn__release(&allocator, context->cache_dir);
    qn__release(&allocator, context->cpu_compiler);
    qn__messages_free(context);
    qn__arena_store_free(&context->store);
    pthread_mutex_destroy(&context->message_lock);
    pthread_mutex_destroy(&context->lock);
    pthread_mutex_destroy(&context->open_lock);
    qn__notifier_free(context);
    qn__courier_free(&context->courier);
    context->object.magic = 0;
    qn__release(&allocator, context);
}

/* The log's fields are where all headers have them. */
static qn_status newer_header(uint32_t header, const qn_context_desc *desc) {
    char text[200];
    snprintf(text, sizeof text,
             "qn_context_create: the program was built with a newer quern.h (version %u) than quern %s knows "
             "(up to %u), and needs a newer libquern",
             (unsigned)header, qn_version(), (unsigned)QN_HEADER_VERSION);
    if (desc && desc->log) desc->log(desc->log_user, QN_LOG_ERROR, text);
    return qn__fail(NULL, QN_ERROR_UNSUPPORTED, "%s", text);
}

qn_status qn_context_create_for(uint32_t header, const qn_context_desc *desc, qn_context **out) {
    if (!out) return qn__fail_null(NULL, "qn_context_create", "context");
    *out = NULL;
    if (header == 0)
        return qn__fail(NULL, QN_ERROR_ARGUMENT, "qn_context_create_for: header versions begin with 1");
    if (header > QN_HEADER_VERSION) return newer_header(header, desc);
    qn_context_desc copy;
    qn__struct_read(header, QN__STRUCT_qn_context_desc, &copy, desc);
    qn_allocator a = copy.allocator;
    if ((a.allocate || a.reallocate || a.release) && !(a.allocate && a.reallocate && a.release))
        return qn__fail(NULL, QN_ERROR_ARGUMENT,
                        "qn_context_create: of the allocator's functions there are all three or none");
    qn__allocator allocator = {a.allocate, a.reallocate, a.release, a.user};
    qn_context *context = qn__allocate_zeroed(&allocator, sizeof *context);
    if (!context) return qn__fail_memory(NULL, sizeof *context);
    context->object.magic = QN__MAGIC + QN__OBJECT_CONTEXT;
    context->object.context = context;
    context->header = header;
    context->allocator = allocator;
    context->desc = copy;
    qn__log_init(context);
    qn__arena_store_init(&context->store, &context->allocator);
    pthread_mutex_init(&context->message_lock, NULL);
    pthread_mutex_init(&context->lock, NULL);
    pthread_mutex_init(&context->open_lock, NULL);
    qn__notifier_init(context);
    qn__courier_init(&context->courier);
    if (!copy_strings(context)) {
        context_release(context);
        return qn__fail_memory(NULL, sizeof *context);
    }
    set_services(context);
    qn__trace_start(context);
    *out = context;
    return QN_OK;
}

static void *plain_allocate(void *user, size_t size) {
    (void)user;
    return malloc(size);
}

static void *plain_reallocate(void *user, void *memory, size_t size) {
    (void)user;
    return realloc(memory, size);
}

static void plain_release(void *user, void *memory) {
    (void)user;
    free(memory);
}

qn_status qn_context_get_allocator(const qn_context *context, qn_allocator *out) {
    const qn_status status = qn__check(context, QN__OBJECT_CONTEXT, "qn_context_get_allocator", "context");
    if (status) return status;
    if (!out) return qn__fail_null((qn_context *)context, "qn_context_get_allocator", "allocator");
    const qn__allocator *a = &context->allocator;
    *out = a->allocate ? (qn_allocator){a->allocate, a->reallocate, a->release, a->user}
                       : (qn_allocator){plain_allocate, plain_reallocate, plain_release, NULL};
    return QN_OK;
}

void qn__context_leave(qn_context *context) {
    qn__objects_leave(context);
    atomic_store(&context->object.destroyed, true);
}

void qn__context_free(qn_context *context) {
    qn__objects_free(context);
    qn__trace_free(context);
    qn__drivers_close(context);
    context_release(context);
}
