/* The parser with its semantic checks: tokens -> the typed tree of ast.h. A program is one file or several, each a
   translation unit with names of its own, which linkage joins at the end. A front_context holds what they share: the
   arena, the diagnostics, the table of types and the library functions instantiated so far. The tree may be lowered when diag->errors is zero afterwards. Recursive descent; each function of the
   grammar is named after the rule it reads. */
#ifndef QN__FRONT_PARSE_H
#define QN__FRONT_PARSE_H

#include "front/ast.h"
#include "front/pp/pp.h"
#include "front/type.h"

/* Who calls whom: for the search for recursion and for functions without a body. */
typedef struct front_call {
    ast_decl *caller, *callee;
    front_loc loc;
} front_call;

struct front_symbol;
struct front_parser;

/* A declaration of a name that other declarations may mean as well. */
typedef struct front_linked {
    ast_decl *decl;
    const struct front_symbol *symbol;
    struct front_parser *file;
} front_linked;

/* A name that was used and not known, and the message that says so. */
typedef struct front_unknown {
    const char *name;
    size_t message;
    const struct front_parser *file;
} front_unknown;

typedef struct front_context {
    /* Set by the caller. */
    qn__arena *arena;
    front_sources *sources;
    front_diag *diag;
    const front_options *options; /* NULL: none */
    qn__target target;
    const struct front_frozen_library *frozen; /* library functions that need no parsing; NULL: none */

    /* The parser's. */
    ast_types types;
    ast_unit *unit;
    front_names library_names; /* of library texts: a kernel's names and macros are not seen there */
    qn__map64 library_tokens;  /* by address of the text */
    qn__map instances;         /* by name and bindings: the ast_decl */
    qn__map64 frozen_decls;    /* by address of the words: the ast_decl */
    qn__map64 generics;        /* by ast_decl: functions whose pointers have any address space */
    qn__map64 statics;        /* by the token behind its name: the ast_decl of a function's static variable */
    unsigned library_nesting; /* library functions being parsed, one in another */
    uint32_t library_level;   /* of scopes, of the innermost */
    QN__VEC(front_call) calls;
    QN__VEC(front_linked) linked;
    QN__VEC(front_unknown) unknown;
    QN__VEC(struct front_parser *) files;
} front_context;

/* Readies a context whose first part is set. */
void qn__front_context_init(front_context *context);

/* Parses a file of the program. Errors are in the diagnostics. The names of its tokens are those of no other file. */
void qn__parse_file(front_context *context, front_tokens tokens);
/* Joins the files that were parsed. The unit is never NULL. */
ast_unit *qn__parse_end(front_context *context);
/* Both, for a program of one file. */
ast_unit *qn__parse(front_context *context, front_tokens tokens);

/* A name that stands for a type in a library text: T, S, I, U, ... */
typedef struct front_type_binding {
    const char *name;
    const ast_type *type;
} front_type_binding;

/* The function called `name` of a library text (which may hold further functions before it, its helpers),
   with the bindings as typedef names. The same name and bindings give the same declaration again. NULL and an
   error when the text is wrong. */
ast_decl *qn__parse_library(front_context *context, qn__str text, const char *name,
                            const front_type_binding *bindings, size_t num_bindings);

/* The functions of src/lib/soft.cl that doubles made of integers call (ir/soft.def), for the unit. */
void qn__parse_soft_f64(front_context *context);

/* The tree as compact S-expressions, one function a line or more: for tests and debugging. */
void qn__ast_print(qn__buf *out, const ast_unit *unit);

#endif
