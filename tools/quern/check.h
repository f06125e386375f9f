/* What `quern check` has beside `quern run`. */
#ifndef TOOL_CHECK_H
#define TOOL_CHECK_H

#include <quern/check.h>

typedef struct check_options {
    bool json, sarif, summary, unused, performance;
    const char *suppress[8]; /* files */
    unsigned num_suppress;
    qn_check_desc desc;
    unsigned explore; /* other schedules that are tried */
    unsigned max;     /* findings that are printed; 0: all */
    int kept_output; /* of `begin`: the standard output, where only findings go, in a form for programs; -1: they do not */
} check_options;

/* As program_option. */
int check_option(check_options *o, int argc, char **argv, int *i);
bool check_is_wanted(void); /* $QUERN_CHECK is 1 */
/* Each gives an exit status. `begin` does once what is to be done, `configure` takes on what has changed in the settings. */
int check_begin(qn_context *context, check_options *o);
int check_configure(qn_context *context, const check_options *o);
/* Prints the findings of the device "check". `result` is the exit status of the run, which stays unless it went well and
   something was found. */
int check_finish(qn_context *context, const check_options *o, int result);

#endif
