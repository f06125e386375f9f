/* What the files of the preprocessor share. */
#ifndef QN__FRONT_PP_INTERNAL_H
#define QN__FRONT_PP_INTERNAL_H

#include "front/pp/pp.h"

/* Macros whose value depends on where they stand. */
typedef enum front_dynamic {
    FRONT_STATIC, /* no such macro */
#define DYNAMIC(ID, name) FRONT_DYNAMIC_##ID,
#include "front/pp/predefined.def"
} front_dynamic;

typedef struct front_macro {
    front_name *name;
    front_token *body; /* parameters are FRONT_T_PARAMETER, # and ## are flags on their operands */
    uint32_t len;
    uint32_t num_params; /* the variable one included */
    front_name **params;
    bool function_like, variadic;
    bool substitutes; /* the body has parameters, # or ##, so that it cannot be read as it is */
    bool open;        /* being expanded: its name stays as it is */
    bool predefined;
    uint8_t dynamic; /* front_dynamic */
    front_loc loc;
} front_macro;

/* A list of tokens to be read before the file goes on. */
typedef struct pp_list {
    const front_token *at, *end;
    front_macro *macro; /* open as long as the list is; or NULL */
    front_loc loc;      /* where the macro stands, given to its tokens if `moves` */
    bool moves;
    uint8_t first_flags; /* FRONT_LINE_START and FRONT_SPACE of the first token, if `first` */
    bool first;
} pp_list;

typedef struct pp_condition {
    front_loc loc;
    bool taken; /* one of its groups was */
    bool seen_else;
} pp_condition;

typedef struct pp_file {
    front_lexer lexer;
    size_t first_condition; /* conditions opened by this file come from here on */
} pp_file;

typedef QN__VEC(front_token) pp_tokens;

typedef struct pp_expansion {
    front_loc loc;
    const front_macro *macro;
} pp_expansion;

typedef struct front_pp {
    const struct front_pp *before; /* of the file preprocessed before, whose macros messages still name */
    front_pp_config config;
    const front_options *options;
    qn__arena *arena;
    front_names *names;
    front_diag *diag;
    QN__VEC(pp_file) files; /* innermost last; the first is never left */
    QN__VEC(pp_list) lists;
    QN__VEC(pp_condition) conditions;
    QN__VEC(pp_expansion) expansions; /* of macros named in files, for notes */
    size_t base;                      /* lists below this one are out of reach */
    bool isolated;                    /* lists only: what is behind them is FRONT_T_END, not the file */
    bool in_if;                       /* `defined` and __has_include are operators */
    bool in_call;                     /* collecting a macro's arguments */
    bool pragma_call;                 /* reading the operand of _Pragma */
    unsigned depth;                   /* of arguments within arguments */
    pp_tokens scratch;                /* stack of tokens: arguments of the macro calls that are open */
    pp_tokens out;
    front_token ahead; /* of the file, read already: a list of its own */
    uint64_t counter;  /* __COUNTER__ */
    uint64_t work;     /* tokens read and bytes made, in units of tokens */
    uint64_t max_work;
    uint64_t bytes; /* of all files entered */
    front_name *name_defined, *name_has_include, *name_pragma, *name_va_args;
} front_pp;

enum {
    PP_MAX_TOKENS = 1000000,
    PP_MAX_INCLUDE = 64,
    PP_MAX_DEPTH = 200,
    PP_MAX_PARAMETERS = 256,
    PP_MAX_BYTES = 256 << 20
};

/* pp.c */
pp_file *qn__pp_file(front_pp *pp);
/* Reads one token without expanding it: from the lists, then the file, whose directives are carried out. */
void qn__pp_next(front_pp *pp, front_token *token);
/* Charges `amount` tokens' worth of work; past the limit reports it once and makes everything end. */
bool qn__pp_charge(front_pp *pp, uint64_t amount);
void qn__pp_emit(front_pp *pp, const front_token *token);
bool qn__pp_enter(front_pp *pp, front_source *source, front_loc from);

/* macro.c */
/* Reads one token with macros expanded. */
void qn__pp_next_expanded(front_pp *pp, front_token *token);
/* Expands a finished list of tokens on its own and appends the result to `to`. */
void qn__pp_expand_list(front_pp *pp, const front_token *tokens, size_t len, pp_tokens *to);
/* The macro of a name, made from the table of predefined ones if need be; or NULL. */
front_macro *qn__pp_macro(front_pp *pp, front_name *name);
/* Reads what stands behind a macro's name: the parameter list with its '(' if macro->function_like is set,
   and the body up to the end of the line. False: reported. */
bool qn__pp_read_definition(front_pp *pp, front_lexer *lexer, front_macro *macro);

/* predefined.c */
void qn__pp_predefine(front_pp *pp);
front_macro *qn__pp_make_predefined(front_pp *pp, front_name *name);
front_token qn__pp_dynamic(front_pp *pp, const front_macro *macro, const front_token *use);
/* A string literal that spells `text`: quoted, quotes and backslashes escaped. */
front_token qn__pp_string_token(front_pp *pp, qn__str text);

/* directive.c */
/* The lexer stands behind the # that begins a directive; does it up to the end of its line. */
void qn__pp_directive(front_pp *pp, const front_token *hash);
/* Reports conditions that the file leaves open. */
void qn__pp_close_conditions(front_pp *pp, const pp_file *file);

/* pragma.c */
/* The tokens behind `#pragma` or in `_Pragma("...")`. */
void qn__pp_pragma(front_pp *pp, const front_token *tokens, size_t len, front_loc loc);
/* Reads `("...")` behind _Pragma. */
void qn__pp_pragma_operator(front_pp *pp, front_loc loc);

/* include.c */
/* Looks for a header as #include does; NULL if there is none. `tried` (may be NULL) collects the
   directories. */
front_source *qn__pp_find_header(front_pp *pp, qn__str name, bool angled, qn__buf *tried);
void qn__pp_include(front_pp *pp, front_loc loc);
/* The name in `<...>` or "..." out of tokens. */
bool qn__pp_header_of(front_pp *pp, const front_token *tokens, size_t len, qn__str *name, bool *angled);

/* expr.c */
/* Value of the controlling expression of #if, already expanded; wrong ones are reported and false. */
bool qn__pp_evaluate(front_pp *pp, const front_token *tokens, size_t len, front_loc loc);

#endif
