/* Compile options as clBuildProgram takes them: one string, split as a shell would. */
#ifndef QN__FRONT_OPTIONS_H
#define QN__FRONT_OPTIONS_H

#include <stdbool.h>

#include "util/str.h"
#include "util/vec.h"

/* One -D or -U, in order. */
typedef struct front_define {
    const char *name;  /* "N", or "F(x)" for a function-like macro */
    const char *value; /* NULL for -U; "1" for -D NAME */
} front_define;

/* Zeroed: all defaults (OpenCL C 1.2, optimised, IEEE rules but for contraction). */
typedef struct front_options {
    QN__VEC(front_define) defines;
    QN__VEC(const char *) include_dirs;
    unsigned std;           /* -cl-std=CLx.y: 100, 110, 120, 200 or 300; 0: not given, that is 120 */
    uint32_t max_registers; /* -cl-nv-maxrregcount=N; 0: not given */
    bool opt_disable;       /* -cl-opt-disable */
    bool single_precision_constant;
    bool denorms_are_zero;
    bool correctly_rounded_divide_sqrt; /* -cl-fp32-correctly-rounded-divide-sqrt */
    bool mad_enable;                    /* also by -cl-unsafe-math-optimizations */
    bool no_signed_zeros;               /* the same */
    bool unsafe_math;                   /* also by -cl-fast-relaxed-math */
    bool finite_math_only;              /* the same */
    bool fast_relaxed_math;
    bool uniform_work_group_size;
    bool no_subgroup_ifp;
    bool kernel_arg_info;
    bool numbers;             /* set before: -D takes numbers for names, too */
    bool unchecked;           /* -qn-unchecked: WGSL's indices are taken as they are */
    bool soft_f64;            /* -qn-soft-f64: doubles of integers where the device has none */
    bool debug;               /* -g */
    bool no_warnings;         /* -w */
    bool warnings_are_errors; /* -Werror */
    const char *tune;         /* -qn-tune=WORD,...; NULL: not given. The words are src/compile.c's */
} front_options;

/* Adds the options in `text` (NULL: none) to `options`. Returns NULL, or a message on what is wrong. */
const char *qn__options_parse(qn__arena *arena, const char *text, front_options *options);
/* Adds a macro, NAME or NAME(PARAMETERS), after those that are there; the value, as it is; NULL: 1. Gives a message
   likewise. */
const char *qn__options_define(qn__arena *arena, const char *name, const char *value, front_options *options);

#endif
