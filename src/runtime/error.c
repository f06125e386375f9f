/* Messages: one a thread and context, in a list of the context's, so that there is no limit to the number of contexts (the
   system has 1,024 thread-specific keys). Only calls that fail look for theirs. A thread that ends leaves its slot, but
   not its message, to the one that gets its id. A call that fails without any object has no context to keep its message:
   the thread itself does, as it does while there is no memory for one. */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "runtime/runtime.h"

struct qn__message {
    qn__message *next;
    pthread_t owner;
    clockid_t clock; /* tells the owner from threads that had its id before */
    char *text;
    size_t cap;
};

/* About a call that had no context to tell, or whose context had no memory for it; until the thread's next failed call of which a context
   keeps the sentence. The last byte stays 0. */
static _Thread_local char homeless[256];

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

static clockid_t own_clock(void) {
    clockid_t clock = 0;
    (void)pthread_getcpuclockid(pthread_self(), &clock); /* made of the kernel's number of the thread */
    return clock;
}

/* The slot with the calling thread's id, or NULL. */
static qn__message *find_slot(const qn_context *const_context) {
    qn_context *context = (qn_context *)const_context;
    pthread_mutex_lock(&context->message_lock);
    qn__message *message = context->messages;
    while (message && !pthread_equal(message->owner, pthread_self())) message = message->next;
    pthread_mutex_unlock(&context->message_lock);
    return message;
}

static void add_slot(qn_context *context, qn__message *message) {
    pthread_mutex_lock(&context->message_lock);
    message->next = context->messages;
    context->messages = message;
    pthread_mutex_unlock(&context->message_lock);
}

/* The calling thread's, made if need be; NULL when out of memory. */
static qn__message *message_of(qn_context *context) {
    qn__message *message = find_slot(context);
    if (!message) {
        message = qn__allocate_zeroed(&context->allocator, sizeof *message);
        if (!message) return NULL;
        message->owner = pthread_self();
        add_slot(context, message);
    }
    message->clock = own_clock();
    return message;
}

/* Keeps the text, which may be the one that is kept; NULL when out of memory. */
static const char *keep(qn_context *context, const char *text) {
    qn__message *message = message_of(context);
    if (!message) return NULL;
    const size_t size = strlen(text) + 1;
    if (size > message->cap) {
        char *grown = qn__allocate(&context->allocator, size);
        if (!grown) {
            if (message->text) message->text[0] = 0;
            return NULL;
        }
        memcpy(grown, text, size);
        qn__release(&context->allocator, message->text);
        message->text = grown;
        message->cap = size;
    } else {
        memmove(message->text, text, size);
    }
    return message->text;
}

/* In the thread's own memory, as far as it goes. */
static const char *keep_here(const char *text) {
    const size_t length = strlen(text), most = sizeof homeless - 1;
    memmove(homeless, text, length < most ? length + 1 : most);
    return homeless;
}

qn_status qn__fail_text(qn_context *context, qn_status status, const char *text) {
    const char *kept = context ? keep(context, text) : NULL;
    if (!kept) kept = keep_here(text);
    /* Who waits with a deadline asks whether something is done: that it is not is an answer. */
    if (context)
        qn__log(context, status == QN_ERROR_TIMEOUT ? QN_LOG_DEBUG : QN_LOG_ERROR, "%s: %s",
                qn_status_name(status), kept);
    if (kept != homeless) homeless[0] = 0;
    return status;
}

qn_status qn__fail_both(qn_context *a, qn_context *b, qn_status status, const char *format, ...) {
    char text[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (b != a) qn__fail_text(b, status, text);
    return qn__fail_text(a, status, text);
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

qn_status qn_error_set(qn_context *context, qn_status status, const char *text) {
    const qn_status wrong =
        context ? qn__check(context, QN__OBJECT_CONTEXT, "qn_error_set", "context") : QN_OK;
    if (wrong) return wrong;
    if (!text) return qn__fail_null(context, "qn_error_set", "message");
    return qn__fail_text(context, status, text);
}

const char *qn_error_message(const qn_context *context) {
    if (homeless[0] || !context) return homeless;
    if (qn__check(context, QN__OBJECT_CONTEXT, "qn_error_message", "context"))
        return "qn_error_message: that is no context";
    const qn__message *message = find_slot(context);
    return message && message->text && message->clock == own_clock() ? message->text : "";
}

const char *qn__reason(const char *why, qn_status status) { return why[0] ? why : qn_status_text(status); }

void qn__messages_free(qn_context *context) {
    while (context->messages) {
        qn__message *next = context->messages->next;
        qn__release(&context->allocator, context->messages->text);
        qn__release(&context->allocator, context->messages);
        context->messages = next;
    }
}
