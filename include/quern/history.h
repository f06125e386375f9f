/* quern/history.h: what a context's streams ran last; a program's own events in the trace.

   While it is kept, each launch that is done, and each launch of a graph, leaves an entry: what ran where and when, and how it
   ended. The newest of them stay, as many as were asked for; memory does not grow. It is the trace ($QUERN_TRACE) for a program
   that looks at itself: both may be on at once, and are fed by the same observations. */
#ifndef QUERN_HISTORY_H
#define QUERN_HISTORY_H

#include <quern/quern.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { QN_HISTORY_NAME = 64 };

typedef struct qn_history_entry {
    uint64_t
        number; /* counts the entries from 1, in the order in which the library saw that they were done */
    char kernel[QN_HISTORY_NAME]; /* its name, cut where it is longer; of a graph "" */
    uint32_t commands;            /* of a graph; else 0 */
    qn_device *device;
    const qn_stream *stream;     /* for comparing: it may be destroyed, and another one have its address */
    uint32_t work_dim, local[3]; /* of a graph zeros, as what follows */
    uint64_t global[3], offset[3];
    /* On CLOCK_MONOTONIC. It was submitted before it began; begin and end are the device's, 0: it was dropped before it
       ran, or the device does not tell. */
    uint64_t submitted_ns, begin_ns, end_ns;
    /* QN_OK; QN_ERROR_KERNEL_FAILED and the like: what the wait for it reported, or will; QN_ERROR_CANCELLED;
       QN_ERROR_DEVICE_LOST. Accesses that a safe program has dropped are no failure here. */
    qn_status status;
} qn_history_entry;

/* Keeps the newest `capacity` entries, up to 2^20, of what is submitted from now on; what was kept is forgotten, and numbers begin at 1
   again. 0: keeps none any more, and nothing is observed. A launch then costs the host some 0.2 us more on the processor's
   device; elsewhere two events of the driver's as well. Errors: QN_ERROR_RANGE, QN_ERROR_OUT_OF_MEMORY (also: no more threads). Any thread. */
QN_API qn_status qn_history_keep(qn_context *context, uint32_t capacity);
/* The oldest entries that are kept and have numbers above `after`, up to `capacity` of them, in their order; *count: how
   many. With `after` the last number that was read, a program gets each entry once; where the numbers leave some out, those
   were overwritten, or came too fast to be noted (65,536 in flight on a stream). All that was waited for is there. Errors:
   QN_ERROR_NULL, QN_ERROR_STATE (none is kept). Any thread. */
QN_API qn_status qn_history_read(qn_context *context, uint64_t after, qn_history_entry *entries,
                                 uint32_t capacity, uint32_t *count);

/* ---- the trace ---- */

/* An event of the program's own for the file of $QUERN_TRACE, on the track of the calling thread. */
typedef struct qn_trace_event {
    const char *name;
    uint64_t begin_ns, end_ns; /* on CLOCK_MONOTONIC */
    /* An arrow (a flow of the file's format) leads from one event to the other one with these two numbers, of which one has
       `ends`. Zeros: none. */
    uint64_t flow[2];
    bool ends;
} qn_trace_event;
/* Whether events go anywhere. Any thread. */
QN_API bool qn_trace_is_on(const qn_context *context);
/* Does nothing without a trace. Errors: QN_ERROR_NULL, QN_ERROR_RANGE (it ends before it begins). Any thread. */
QN_API qn_status qn_trace_add(qn_context *context, const qn_trace_event *event);

#ifdef __cplusplus
}
#endif

#endif
