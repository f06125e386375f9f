/* Lines for the context's log: its callback, or the standard error where $QUERN_LOG asks for it, which also sets the
   level. Without the variable and without a callback nothing is written. */
#include <stdio.h>
#include <string.h>

#include "runtime/runtime.h"
#include "util/file.h"

static const char *const words[] = {
    [QN_LOG_ERROR] = "error", [QN_LOG_WARNING] = "warning", [QN_LOG_INFO] = "info", [QN_LOG_DEBUG] = "debug"};

static void write_to_stderr(void *user, qn_log_level level, const char *message) {
    (void)user;
    fprintf(stderr, "quern: %s: %s\n", words[level], message);
}

void qn__log_init(qn_context *context) {
    const char *wanted = qn__environment("QUERN_LOG");
    context->log = context->desc.log;
    context->log_user = context->desc.log_user;
    context->log_level = context->desc.log_level;
    if (qn__checks_all() && !context->log) context->log = write_to_stderr;
    if (!wanted || !wanted[0]) return;
    if (!context->log) context->log = write_to_stderr;
    for (size_t level = 0; level < QN__COUNT(words); level++) {
        if (strcmp(wanted, words[level]) != 0) continue;
        context->log_level = (qn_log_level)level;
        return;
    }
    if (context->log_level < QN_LOG_WARNING) context->log_level = QN_LOG_WARNING;
    qn__log(context, QN_LOG_WARNING, "QUERN_LOG is '%.40s'; it can be error, warning, info or debug", wanted);
}

void qn__log(qn_context *context, qn_log_level level, const char *format, ...) {
    if (!qn__logs(context, level)) return;
    char text[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    context->log(context->log_user, level, text);
}

static void join(char *out, size_t size, const char *name, const uint64_t sizes[3], uint32_t dims) {
    const size_t at = strlen(out);
    snprintf(out + at, size - at, "%s%s %llu", at ? ", " : "", name, (unsigned long long)sizes[0]);
    for (uint32_t d = 1; d < dims; d++) {
        const size_t end = strlen(out);
        snprintf(out + end, size - end, "x%llu", (unsigned long long)sizes[d]);
    }
}

void qn__range_print(const qn__command *launch, char *out, size_t size) {
    const uint64_t local[3] = {launch->local[0], launch->local[1], launch->local[2]};
    out[0] = 0;
    join(out, size, "global", launch->global, launch->work_dim);
    join(out, size, "local", local, launch->work_dim);
    if (launch->offset[0] || launch->offset[1] || launch->offset[2])
        join(out, size, "offset", launch->offset, launch->work_dim);
}
