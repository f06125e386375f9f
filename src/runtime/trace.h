/* The trace of $QUERN_TRACE: what streams ran and when the device began and ended it, and what was compiled, in a file that
   Perfetto and chrome://tracing open. A context without the variable has none, and its calls are short. */
#ifndef QN__TRACE_H
#define QN__TRACE_H

#include "runtime/runtime.h"

typedef struct qn__span qn__span; /* a command */

void qn__trace_start(qn_context *context); /* sets context->trace where it is asked for and can be had */
/* The end, in order: no more is looked at by a thread; the streams and devices go; the file is closed. */
void qn__trace_stop(qn_context *context);
void qn__trace_leave(qn_stream *stream); /* whose work is done */
void qn__trace_forget(qn_device *device);
void qn__trace_free(qn_context *context);

/* Around the submission of a command, or of a graph's part of `count` commands (command NULL); the stream's lock is held.
   `held`: it is not handed to the backend now. begin gives NULL where it is not traced; both are only called where the context has a trace. */
qn__span *qn__trace_begin(qn_stream *stream, const qn__command *command, size_t count, bool held);
void qn__trace_end(qn_stream *stream, qn__span *span, qn_status status);

/* Something that a thread of the host did until now; `detail` (or NULL) says more. Does nothing without a trace. */
void qn__trace_host(qn_context *context, const char *category, const char *name, const char *detail,
                    uint64_t begin_ns, uint64_t end_ns);

#endif
