/* The history of launches: a ring of the newest entries, which the trace's reader fills (trace.c). */
#include "runtime/trace.h"
#include "util/file.h"

enum { MOST_ENTRIES = 1 << 20 };

struct qn__history {
    pthread_mutex_t lock;      /* of all below; nothing else is taken while it is held */
    qn_history_entry *entries; /* NULL: none is kept */
    uint32_t capacity;
    uint64_t last;     /* number of the newest */
    uint64_t since_ns; /* what was submitted before is not of it */
};

qn__history *qn__history_new(const qn__allocator *allocator) {
    qn__history *history = qn__allocate_zeroed(allocator, sizeof *history);
    if (history) pthread_mutex_init(&history->lock, NULL);
    return history;
}

void qn__history_free(const qn__allocator *allocator, qn__history *history) {
    if (!history) return;
    pthread_mutex_destroy(&history->lock);
    qn__release(allocator, history->entries);
    qn__release(allocator, history);
}

void qn__history_add(qn__history *history, const qn_history_entry *entry) {
    pthread_mutex_lock(&history->lock);
    if (history->entries && entry->submitted_ns >= history->since_ns) {
        qn_history_entry *to = &history->entries[history->last++ % history->capacity];
        *to = *entry;
        to->number = history->last;
    }
    pthread_mutex_unlock(&history->lock);
}

/* The places of what is left out hold no entry: their numbers are older. */
void qn__history_skip(qn__history *history, uint64_t count) {
    pthread_mutex_lock(&history->lock);
    history->last += count;
    pthread_mutex_unlock(&history->lock);
}

static uint32_t read_entries(qn__history *history, uint64_t after, qn_history_entry *out, uint32_t most) {
    uint64_t number = history->last > history->capacity ? history->last - history->capacity : 0;
    uint32_t count = 0;
    if (after > number) number = after;
    while (number < history->last && count < most) {
        const qn_history_entry *entry = &history->entries[number++ % history->capacity];
        if (entry->number == number) out[count++] = *entry;
    }
    return count;
}

/* The ring of before goes. */
static void replace(qn__history *history, const qn__allocator *allocator, qn_history_entry *entries,
                    uint32_t capacity) {
    pthread_mutex_lock(&history->lock);
    qn_history_entry *old = history->entries;
    history->entries = entries;
    history->capacity = capacity;
    history->last = 0;
    history->since_ns = qn__now_ns();
    pthread_mutex_unlock(&history->lock);
    qn__release(allocator, old);
}

qn_status qn_history_keep(qn_context *context, uint32_t capacity) {
    static const char function[] = "qn_history_keep";
    qn_status status = qn__check(context, QN__OBJECT_CONTEXT, function, "context");
    if (status) return status;
    const qn__allocator *allocator = &context->allocator;
    if (capacity > MOST_ENTRIES)
        return qn__fail(context, QN_ERROR_RANGE, "%s: %u entries; up to %d can be kept", function,
                        (unsigned)capacity, MOST_ENTRIES);
    qn_history_entry *entries = NULL;
    if (capacity) {
        entries = qn__allocate_zeroed(allocator, capacity * sizeof *entries);
        if (!entries) return qn__fail_memory(context, capacity * sizeof *entries);
    }
    qn__history *history = qn__trace_history(context, capacity != 0, &status);
    if (history)
        replace(history, allocator, entries, capacity);
    else
        qn__release(allocator, entries);
    if (!status) return QN_OK;
    return qn__fail(context, status, "%s: there is no more memory, or no more threads", function);
}

qn_status qn_history_read(qn_context *context, uint64_t after, qn_history_entry *entries, uint32_t capacity,
                          uint32_t *count) {
    static const char function[] = "qn_history_read";
    qn_status status = qn__check(context, QN__OBJECT_CONTEXT, function, "context");
    if (status) return status;
    if (!count) return qn__fail_null(context, function, "count");
    *count = 0;
    if (!entries && capacity) return qn__fail_null(context, function, "entries");
    qn__history *history = qn__trace_observe(context);
    if (history) pthread_mutex_lock(&history->lock);
    const bool is_kept = history && history->entries;
    if (is_kept) *count = read_entries(history, after, entries, capacity);
    if (history) pthread_mutex_unlock(&history->lock);
    if (is_kept) return QN_OK;
    return qn__fail(context, QN_ERROR_STATE, "%s: no history is kept; qn_history_keep begins one", function);
}
