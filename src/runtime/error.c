/* Messages: one a thread and context, found through a thread-specific key of the context, so that there is no
   global state. A thread that ends leaves its slot to the one that gets its id: a destructor of the key could
   run beside the context's end. */
#include <stdio.h>
#include <string.h>

#include "runtime/runtime.h"

struct qn__message {
    qn__message *next;
    pthread_t owner;
    char *text;
    size_t cap;
};

static const char *const status_names[] = {
#define NAME(name, value, text) #name,
    QN_STATUS_MAP(NAME)
#undef NAME
};

static const char *const status_texts[] = {
#define TEXT(name, value, text) text,
    QN_STATUS_MAP(TEXT)
#undef TEXT
};

const char *qn_status_name(qn_status status) {
    return (unsigned)status < QN__COUNT(status_names) ? status_names[status] : "QN_ERROR_UNKNOWN";
}

const char *qn_status_text(qn_status status) {
    return (unsigned)status < QN__COUNT(status_texts) ? status_texts[status] : "an unknown status";
}

static qn__message *message_new(qn_context *context) {
    qn__message *message = context->messages;
    while (message && !pthread_equal(message->owner, pthread_self())) message = message->next;
    if (!message) {
        message = qn__allocate_zeroed(&context->allocator, sizeof *message);
        if (!message) return NULL;
        message->owner = pthread_self();
        message->next = context->messages;
        context->messages = message;
    }
    return message;
}

/* The calling thread's slot; NULL when out of memory. */
static qn__message *message_of(qn_context *context) {
    qn__message *message = pthread_getspecific(context->message_key);
    if (message) return message;
    pthread_mutex_lock(&context->lock);
    message = message_new(context);
    pthread_mutex_unlock(&context->lock);
    if (message) pthread_setspecific(context->message_key, message);
    return message;
}

qn_status qn__fail_text(qn_context *context, qn_status status, const char *text) {
    if (!context) return status;
    qn__message *message = message_of(context);
    if (!message) return status;
    size_t size = strlen(text) + 1;
    if (size > message->cap) {
        char *grown = qn__allocate(&context->allocator, size);
        if (!grown) {
            if (message->text) message->text[0] = 0;
            return status;
        }
        qn__release(&context->allocator, message->text);
        message->text = grown;
        message->cap = size;
    }
    memmove(message->text, text, size);
    qn__log(context, QN_LOG_ERROR, "%s: %s", qn_status_name(status), text);
    return status;
}

qn_status qn__fail(qn_context *context, qn_status status, const char *format, ...) {
    char text[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    return qn__fail_text(context, status, text);
}

qn_status qn__fail_null(qn_context *context, const char *function, const char *argument) {
    return qn__fail(context, QN_ERROR_NULL, "%s: %s is NULL", function, argument);
}

qn_status qn__fail_memory(qn_context *context, size_t size) {
    return qn__fail(context, QN_ERROR_OUT_OF_MEMORY, "out of host memory (%zu bytes were wanted)", size);
}

const char *qn_error_message(const qn_context *context) {
    if (!context) return "the context could not be made: see the status";
    const qn__message *message = pthread_getspecific(context->message_key);
    return message && message->text ? message->text : "";
}

void qn__messages_free(qn_context *context) {
    while (context->messages) {
        qn__message *next = context->messages->next;
        qn__release(&context->allocator, context->messages->text);
        qn__release(&context->allocator, context->messages);
        context->messages = next;
    }
}

void qn__log(qn_context *context, qn_log_level level, const char *format, ...) {
    if (!context->desc.log || level > context->desc.log_level) return;
    char text[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    context->desc.log(context->desc.log_user, level, text);
}
