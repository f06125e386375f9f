/* The preprocessor: source text -> the array of tokens that the parser reads (C99 5.1.1.2, phases 2 to 6;
   OpenCL C 6.10). Macros are expanded with a stack of token lists on which a macro that is open cannot be
   expanded again, as in most C compilers. Predefined macros stand in predefined.def and are lexed when first
   used. */
#ifndef QN__FRONT_PP_H
#define QN__FRONT_PP_H

#include "front/options.h"
#include "front/token.h"
#include "target/target.h"

typedef struct front_pp_config {
    qn__arena *arena;
    front_sources *sources;
    front_diag *diag;
    front_names *names;
    const front_options *options; /* NULL: none */
    qn__target target;            /* decides on predefined macros */
    /* Limits; 0 stands for the default in brackets. */
    uint32_t max_tokens;  /* tokens in the result, and a few times that in between [1 million] */
    uint32_t max_include; /* depth of inclusion [64] */
} front_pp_config;

/* Preprocesses `main` into tokens of the language, for the parser. What is wrong is in the diagnostics; the
   tokens are always well formed and end in FRONT_T_END. */
front_tokens qn__pp_run(const front_pp_config *config, front_source *main);
/* The same, stopping before literals are evaluated and keywords recognised: what `cc -E` shows. */
front_tokens qn__pp_expand(const front_pp_config *config, front_source *main);
/* Spells tokens with single spaces where the source had white space, and line ends. */
void qn__pp_print(qn__buf *out, front_tokens tokens);

#endif
