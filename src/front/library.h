/* What the analysis asks about built-in functions: which overload a call means (builtin.c, from the rows of
   builtins.def), and the OpenCL C text of those that are written in src/lib (an index made at build time by
   src/lib/embed.c). Nothing here costs anything before a call to a built-in is met: names are found through a
   hash table that is constant data, and texts are parsed by qn__parse_library when first called. */
#ifndef QN__FRONT_LIBRARY_H
#define QN__FRONT_LIBRARY_H

#include "front/builtin.h"
#include "front/parse/parse.h"

/* ---- texts ---- */

typedef enum front_library_kind { LIBRARY_FUNCTION, LIBRARY_DATA } front_library_kind;

/* One definition of src/lib. Rules that library texts keep, and that their parser relies on:
     - no preprocessor directives, no macros: the kernel's macros and names must not be seen in them;
     - an identifier that is neither declared in the text, nor bound, nor a built-in, is another entry: find
   it with qn__library_find(name, AST_VOID), parse it with qn__parse_library and without bindings (a function,
   or for LIBRARY_DATA a `__constant` variable);
     - as_X and convert_X (with _sat, _rte...) also take a bound name for X: as_U(x), convert_I(x);
     - expressions mean what IEEE 754 says: no contraction, no -cl-fast-relaxed-math (ast_decl.is_library);
     - literals without suffix are double, whatever the options; double and half are there without pragmas. */
typedef struct front_library_entry {
    const char *name;
    uint8_t library_kind; /* front_library_kind */
    uint8_t element;  /* ast_kind that the first parameter is written for; AST_VOID: generic or a helper */
    bool is_pure;     /* neither reads nor writes memory, nor waits for other work-items */
    const char *text; /* the definition, zero-terminated */
    uint32_t length;
} front_library_entry;

/* The entry of that name, for that element type if there is one, else the one of element AST_VOID, else (only
   where `element` is AST_VOID) any. NULL: none. */
const front_library_entry *qn__library_find(qn__str name, ast_kind element);

/* ---- resolution of calls ---- */

enum { FRONT_MAX_BUILTIN_PARAMS = 10, FRONT_MAX_BINDINGS = 12 };

/* A call resolved. The caller converts each argument to its parameter type (number to number, and a scalar to
   a vector by converting to the element and splatting), makes a copy of `builtin`, and sets its function: LIB
   EXPR_CALL of qn__parse_library(library text, library->name, bindings) LIB_MAP  the same where `result` is a
   scalar; else EXPR_BUILTIN with builtin.function the parsed function: its bindings are those of the element
   types OP, SPECIAL  EXPR_BUILTIN */
typedef struct front_resolved {
    ast_builtin builtin; /* function is NULL */
    const ast_type *result;
    const ast_type *params[FRONT_MAX_BUILTIN_PARAMS];
    uint32_t num_params;
    bool is_variadic; /* printf: further arguments, after the default promotions (float stays float) */
    qn__trait needs;  /* that of the target; the caller complains where it lacks */
    const front_library_entry *library; /* LIB, LIB_MAP */
    front_type_binding bindings[FRONT_MAX_BINDINGS];
    uint32_t num_bindings;
    bool has_pointers; /* bindings of P and Q are among them */
} front_resolved;

typedef enum front_resolution {
    RESOLUTION_NONE, /* no built-in has this name */
    RESOLUTION_FAIL, /* the arguments do not fit: *message says why, *hint (may be NULL) lists the forms */
    RESOLUTION_OK
} front_resolution;

/* Which overload a call with arguments of these types means. Types are those of values: arrays decayed,
   without qualifiers. Arguments of the error type match anything. */
front_resolution qn__builtin_resolve(front_context *context, qn__str name, const ast_type *const *args,
                                     uint32_t num_args, front_resolved *out, const char **message,
                                     const char **hint);

/* The library function of a call that is resolved to one; NULL after an error. */
ast_decl *qn__library_function(front_context *context, const front_resolved *resolved, front_loc loc);

/* Whether a built-in function has this name. */
bool qn__builtin_exists(qn__str name);

/* The built-in name closest to a misspelt one, or NULL. */
const char *qn__builtin_suggest(qn__str name);

#endif
