/* The preprocessor: source text -> the array of tokens that the parser reads (C99 5.1.1.2, phases 2 to 6;
   OpenCL C 6.10). Macros are expanded with a stack of token lists on which a macro that is open cannot be
   expanded again, as in most C compilers. Predefined macros stand in predefined.def and are lexed when first
   used. */
#ifndef QN__FRONT_PP_H
#define QN__FRONT_PP_H

#include "front/options.h"
#include "front/token.h"

/* What the target offers: decides on predefined macros here and on what the parser accepts. */
typedef enum front_feature {
    FRONT_FP64 = 1 << 0,
    FRONT_FP16 = 1 << 1,
    FRONT_INT64 = 1 << 2,            /* 64-bit integers; full profile: always */
    FRONT_INT64_ATOMICS = 1 << 3,    /* cl_khr_int64_base_atomics, cl_khr_int64_extended_atomics */
    FRONT_SUBGROUPS = 1 << 4,        /* id, size, any, all, broadcast, reduce, scan, barrier */
    FRONT_SUBGROUP_SHUFFLE = 1 << 5, /* shuffle, shuffle_xor, shuffle_up, shuffle_down */
    FRONT_SUBGROUP_BALLOT = 1 << 6,
    FRONT_GROUP_COLLECTIVES = 1 << 7, /* work_group_reduce, scan, broadcast, any, all */
    FRONT_C11_ATOMICS = 1 << 8,       /* atomic_load_explicit, ... */
    FRONT_PRINTF = 1 << 9,
    FRONT_FAST_FMA32 = 1 << 10, /* fma is as fast as a multiplication */
    FRONT_FAST_FMA64 = 1 << 11,
    FRONT_FLOAT_ATOMICS = 1 << 12, /* cl_ext_float_atomics: add, min and max on float */
    FRONT_ASYNC_COPIES = 1 << 13   /* the IR's async copies; the language has its functions in any case */
} front_feature;

typedef struct front_features {
    uint32_t bits; /* front_feature */
} front_features;

/* Everything that the language offers, but images. */
#define FRONT_ALL_FEATURES ((front_features){0x1fff})

typedef struct front_pp_config {
    qn__arena *arena;
    front_sources *sources;
    front_diag *diag;
    front_names *names;
    const front_options *options; /* NULL: none */
    front_features features;
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
