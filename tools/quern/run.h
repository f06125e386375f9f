/* What a line of `quern run` says, shared with chains of such lines. */
#ifndef RUN_H
#define RUN_H

#include "check.h"
#include "options.h"
#include "tool.h"

enum { MAX_ARGS = 256 };

/* A buffer that launches of a chain share. */
typedef struct named_buffer {
    const char *name;
    tool_arg arg;
} named_buffer;

typedef struct run_options {
    program_options program;
    const char *kernel, *device;
    qn_range range;
    bool has_global, compare;
    bool check; /* on the checker, whose findings are printed */
    check_options checks;
    double tolerance;
    unsigned time;
    uint64_t timeout_ns;
    tool_arg args[MAX_ARGS];
    size_t num_args;
    named_buffer *named; /* that arguments may name */
    size_t num_named;
} run_options;

/* The words of a line. TOOL_OK, or the exit status after a message. */
int run_parse(int argc, char **argv, run_options *o);
/* The whole command: run, or check. */
int run_main(int argc, char **argv, bool check);
/* The kernel's arguments, with buffers on the device. The same. */
int run_make_args(qn_device *device, qn_kernel *kernel, run_options *o, qn_arg *args);
/* Warns of buffers that are too small. */
void run_check_sizes(qn_kernel *kernel, const run_options *o, const qn_arg *args);
/* Prints what failed and gives the exit status. What was not done in time is cancelled on the device (NULL: there is none); a
   kernel that does not end all the same takes the process along. */
int run_fail(qn_context *context, qn_device *device, qn_status status);
void run_free(run_options *o);

/* faults.c: from now on a kernel that ends the process leaves a sentence and a status. */
void faults_watch(void);

/* chain.c: all of the file that is a chain. */
bool is_chain(const run_options *o);
int chain_run(qn_context *context, const run_options *o);

#endif
