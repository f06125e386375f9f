/* A kernel test: a .cl file and the directives at its head (tests/README.md lists them). Shared by the
   runner, which knows only the public API of quern, and by the oracle, which knows only OpenCL's. */
#ifndef CL_CASE_H
#define CL_CASE_H

#include "../tools/quern/tool.h"

enum { CL_MAX_ARGS = 24, CL_MAX_RUNS = 48, CL_MAX_NOTES = 48 };

/* What a buffer holds after a run. `type` may differ from the argument's, to look at bits. */
typedef struct cl_expect {
    bool given;
    tool_type type;
    uint64_t components; /* of the whole buffer, lanes counted */
    unsigned char *data; /* as the buffer: a 3-vector takes 4 places */
    bool *unchecked;     /* one a component */
    double relative;     /* |a - b| <= relative * max(1, |b|) */
    uint64_t ulps;       /* distance in units in the last place */
    bool flushes;        /* zero stands for denormal floats, too */
} cl_expect;

typedef struct cl_arg {
    tool_arg arg;
    cl_expect expect;
} cl_arg;

typedef struct cl_run {
    const char *kernel;
    const char *options; /* those of the file where the run has none of its own */
    qn_range range;
    cl_arg args[CL_MAX_ARGS];
    uint32_t num_args;
    char *prints;      /* NULL: not looked at */
    uint32_t needs;    /* QN_CAN_*, of this run alone */
    const char *fails; /* "QN_ERROR_LAUNCH_SIZE part of the message", or NULL */
} cl_run;

/* "LINE: part of the message" of an error or warning; or "DEVICE reason" of a skip. */
typedef struct cl_note {
    enum { CL_ERROR, CL_WARNING, CL_SKIP } kind;
    unsigned line;
    const char *text;
} cl_note;

typedef struct cl_case {
    const char *path, *name; /* name: "pp_stringize" */
    char *source;
    size_t size;
    const char *options;     /* "" when there are none */
    uint32_t needs;          /* QN_CAN_* */
    uint64_t private_memory; /* bytes of private variables that it needs, too */
    cl_run runs[CL_MAX_RUNS];
    uint32_t num_runs, last_runs; /* last_runs: how many the last kernel: began */
    cl_note notes[CL_MAX_NOTES];
    uint32_t num_notes;
} cl_case;

/* Reads the file and its directives; prints to stderr what is wrong with them. The memory is never given
   back: a case is read once in a process that ends with it. */
bool cl_case_read(const char *path, cl_case *out);

/* The reason when the case skips this device ("cuda:0" matches a skip of "cuda"), else NULL. */
const char *cl_case_skip(const cl_case *test, const char *device);
/* "f64": the name of the first of these capabilities, as needs: has it. */
const char *cl_need_name(uint32_t bits);
uint32_t cl_case_count(const cl_case *test, int kind);
/* For devices that take denormal floats for zero (OpenCL C 7.5.3): where an argument of floats holds one at the start,
   that component of no buffer is checked; results that should be denormal may be zeros. Gives the number of
   expected values that are no longer checked. */
uint64_t cl_case_allow_flush(cl_case *test);

/* Compares a buffer's contents with what is expected. On a difference writes a sentence to `message`. */
bool cl_expect_check(const cl_expect *expect, const unsigned char *data, char *message, size_t size);
/* Two results of one argument: equal bit by bit (all NaNs alike), or within its tolerance; what is unchecked
   may differ. */
bool cl_results_agree(const cl_arg *arg, const unsigned char *a, const unsigned char *b, char *message,
                      size_t size);
/* The same text whatever the order of its lines: the order in which work-items print is open. */
bool cl_prints_agree(const char *expected, const char *printed);

#endif
