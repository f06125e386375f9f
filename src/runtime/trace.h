/* What streams ran, and when the device began and ended it: for the trace of $QUERN_TRACE, with what was compiled, a file that
   Perfetto and chrome://tracing open; and for the history (history.h). A context without either has none of this, and its calls
   are short. */
#ifndef QN__TRACE_H
#define QN__TRACE_H

#include "quern/history.h"
#include "runtime/runtime.h"

typedef struct qn__span qn__span; /* a command */

void qn__trace_start(qn_context *context); /* sets context->trace where it is asked for and can be had */
/* The end, in order: no more is looked at by a thread; the streams and devices go; the file is closed. */
void qn__trace_stop(qn_context *context);
void qn__trace_leave(qn_stream *stream); /* whose work is done */
void qn__trace_forget(qn_device *device);
void qn__trace_free(qn_context *context);

/* Around the submission of a command, or of a graph's part of `count` commands (command NULL); the stream's lock is held.
   `held`: it is not handed to the backend now. begin gives NULL where it is not traced; it is only called where the context is observed. */
qn__span *qn__trace_begin(qn_stream *stream, const qn__command *command, size_t count, bool held);
void qn__trace_end(qn_stream *stream, qn__span *span, qn_status status);

/* Something that a thread of the host did until now; `detail` (or NULL) says more. Does nothing without a trace. */
void qn__trace_host(qn_context *context, const char *category, const char *name, const char *detail,
                    uint64_t begin_ns, uint64_t end_ns);

/* The ring of the newest launches (history.c); add numbers the entry, skip leaves numbers out. */
typedef struct qn__history qn__history;
qn__history *qn__history_new(const qn__allocator *allocator); /* NULL: out of memory */
void qn__history_free(const qn__allocator *allocator, qn__history *history);
void qn__history_add(qn__history *history, const qn_history_entry *entry);
void qn__history_skip(qn__history *history, uint64_t count);
/* The context's, from now on fed, or no longer. NULL: there is none; with `on` the status says why. */
qn__history *qn__trace_history(qn_context *context, bool on, qn_status *status);
/* The same, with all in it that is known to be done. */
qn__history *qn__trace_observe(qn_context *context);

#endif
