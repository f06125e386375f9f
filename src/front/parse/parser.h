/* What the parser's files share: the state of a parse, scopes, and the semantic checks that the grammar's
   functions call. Not for others; they use parse.h.
   Errors do not stop a parse. A syntax error sets `panic`, which silences further ones until the statement or
   declaration is left; an expression that was complained about gets the type `types->error`, which every
   check lets pass. */
#ifndef QN__FRONT_PARSER_H
#define QN__FRONT_PARSER_H

#include "front/library.h"
#include "front/parse/parse.h"

/* Limits on what is nested: of constructs in the source, which the parser recurses on, and of the operators
   in one expression, which whoever walks the tree recurses on. */
enum { FRONT_MAX_NESTING = 256, FRONT_MAX_HEIGHT = 2000, FRONT_MAX_LABELS = 4096 };
enum { FRONT_MAX_OBJECT = INT32_MAX }; /* bytes of one object */

typedef enum front_symbol_kind {
    SYMBOL_TYPEDEF,
    SYMBOL_OBJECT,
    SYMBOL_FUNCTION,
    SYMBOL_ENUMERATOR,
    SYMBOL_TAG
} front_symbol_kind;

/* What a name means in a scope. */
typedef struct front_symbol {
    struct front_symbol *outer;    /* what it meant outside */
    struct front_symbol *previous; /* the symbol declared before this one */
    front_name *name;
    uint8_t symbol_kind;
    bool is_overloadable; /* function */
    uint32_t level;       /* of its scope; 0: predeclared */
    const ast_type *type; /* typedef, tag, enumerator */
    ast_decl *decl;       /* object; function: the first overload */
    int64_t value;        /* enumerator */
    front_loc loc;
    QN__VEC(ast_decl *) overloads;
} front_symbol;

typedef struct front_label {
    front_name *name;
    ast_stmt *stmt; /* NULL until defined */
    front_loc loc;  /* of the first use */
} front_label;

typedef struct front_parser {
    front_context *context;
    struct front_parser
        *file; /* of the file that is parsed; this one but within a generic function's instance */
    qn__arena *arena;
    front_diag *diag;
    ast_types *types;
    const front_token *first;
    const front_token *at;  /* the token to be read */
    const front_token *end; /* the last one */
    bool panic;
    bool is_library;
    bool contract; /* FP_CONTRACT */
    unsigned nesting;
    front_symbol *symbols;      /* newest */
    uint32_t level, base_level; /* symbols below base_level but above file_level are another parse's */
    uint32_t file_level;

    /* The function being parsed. */
    ast_decl *function;
    QN__VEC(front_label) labels;
    QN__VEC(ast_stmt *) gotos; /* .label set, .target to come */
    ast_stmt *loop;            /* innermost loop, for continue */
    ast_stmt *breakable;       /* innermost loop or switch */
    ast_stmt *switch_stmt;
    qn__map64 *switch_values; /* of switch_stmt: the cases seen, by value */
    ast_stmt *switch_default;
    unsigned in_expression; /* statement expressions around, which no jump leaves */
    unsigned unevaluated;   /* operands around that are looked at for their type only */
    int32_t unroll;         /* hint that stands before the loop to come */

    /* While a function is parsed for the address spaces of a call (generic.c). */
    const uint8_t *instance_spaces; /* of its parameters, while these are read; NULL: none */
    ast_decl **instance;            /* gets the function */
    unsigned instance_nesting;
    QN__VEC(ast_stmt *) null_returns; /* while its result's address space is open */

    /* A pointer that names no address space got two of them (space.c): the function is read again. */
    bool is_given_up, all_generic;
} front_parser;

/* ---- parse.c: tokens, scopes, errors ---- */

static inline bool qn__peek(const front_parser *p, front_token_kind kind) { return p->at->kind == kind; }
static inline front_loc qn__here(const front_parser *p) { return p->at->loc; }
void qn__advance(front_parser *p);
bool qn__accept(front_parser *p, front_token_kind kind);
/* Reads the token or complains: "expected ';' after expression". `where` may be NULL. */
bool qn__expect(front_parser *p, front_token_kind kind, const char *where);
void qn__syntax_error(front_parser *p, const char *format, ...) QN__PRINTF(2, 3);
/* Steps over tokens, brackets in pairs, up to and with the kind, but not past a `}` that closes the block. */
void qn__skip_to(front_parser *p, front_token_kind kind);
/* Brackets a recursion of the grammar; where false, an error was reported and the parse is at its end. */
bool qn__enter(front_parser *p);
static inline void qn__leave(front_parser *p) { p->nesting--; }

void qn__scope_push(front_parser *p);
void qn__scope_pop(front_parser *p);
/* Visible meaning of a name, tags apart; NULL: none. */
front_symbol *qn__lookup(front_parser *p, front_name *name);
front_symbol *qn__lookup_tag(front_parser *p, front_name *name);
front_symbol *qn__declare(front_parser *p, front_symbol_kind kind, front_name *name, front_loc loc);
const char *qn__did_you_mean(front_parser *p, front_name *name); /* NULL: nothing near */
void qn__function_begin(front_parser *p, ast_decl *function);
void qn__function_end(front_parser *p);
const char *qn__type_text(front_parser *p, const ast_type *type);
unsigned qn__standard(const front_parser *p); /* 120, 200, 300 */

/* ---- decl.c, declarator.c, spec.c, attr.c, init.c ---- */

/* Attributes of a declaration, type or statement, gathered. */
typedef struct front_attributes {
    uint32_t align; /* 0: none */
    bool packed, is_const, is_overloadable;
    uint32_t reqd_local[3], hint_local[3], sub_group_size, cluster;
    const char *vec_type_hint;
    int32_t unroll;        /* 0: none */
    unsigned vector_lanes; /* ext_vector_type */
} front_attributes;

typedef struct front_specifiers {
    const ast_type *type;
    bool is_typedef, is_extern, is_static, is_inline, is_kernel, has_space;
    bool is_size_type; /* size_t and the like by name */
    front_loc loc;
    const front_token *start;
    front_attributes attributes;
} front_specifiers;

typedef struct front_declarator {
    const ast_type *type;
    front_name *name; /* NULL: abstract */
    front_loc loc;
    bool is_function; /* the outermost derivation: params are in scope of the body */
    QN__VEC(ast_decl *) params;
    QN__VEC(front_name *) param_names;
    bool has_space;    /* what is read so far names the address space of what a '*' would point to */
    bool has_unspaced; /* function: a parameter is a pointer without address space */
    bool
        is_pointer_unspaced; /* pointer whose pointee was given no address space; of a function: its result */
    front_attributes attributes;
} front_declarator;

bool qn__is_type_start(front_parser *p, const front_token *token);
bool qn__is_declaration_start(front_parser *p);
void qn__parse_attributes(front_parser *p, front_attributes *attributes);
bool qn__parse_specifiers(front_parser *p, front_specifiers *specifiers, bool storage);
void qn__parse_declarator(front_parser *p, const front_specifiers *specifiers, front_declarator *declarator,
                          bool in_parameter);
const ast_type *qn__parse_type_name(front_parser *p);
void qn__parse_external_declaration(front_parser *p);
ast_stmt *qn__parse_declaration(front_parser *p); /* in a block; through the `;` */
void qn__parse_static_assert(front_parser *p);
/* Reads an initializer for an object of the type; *type is completed where it is an array without length. */
ast_init *qn__parse_initializer(front_parser *p, const ast_type **type);
/* The bytes of a __constant object from its initializer. */
void qn__constant_image(front_parser *p, ast_decl *decl);

/* ---- link.c ---- */

/* Notes a function, or a variable at file scope or declared extern. */
void qn__link_note(front_parser *p, ast_decl *decl, const front_symbol *symbol);
/* Behind the error that says that a name is not known: hints at its definition, should there be one. */
void qn__link_unknown(front_parser *p, const front_name *name);
/* Points declarations at definitions; reports what is defined twice, or used and never defined. */
void qn__link(front_context *context);

/* ---- generic.c ---- */

/* Keeps a definition that begins at `start`, whose body is next, for its calls; false: parse it now. */
bool qn__generic_define(front_parser *p, const front_token *start, const front_declarator *declarator,
                        const ast_decl *decl);
/* Parses a definition that is kept, for callers that know no more than its declaration: with generic parameters. */
void qn__generic_finish(front_parser *file, ast_decl *decl);
/* The instance of a function for these arguments; the function itself where it has none. */
ast_decl *qn__generic_callee(front_parser *p, ast_decl *callee, ast_expr *const *args, size_t num_args);

/* ---- expr.c, stmt.c ---- */

ast_expr *qn__parse_expression(front_parser *p); /* comma expression */
ast_expr *qn__parse_assignment(front_parser *p);
ast_expr *qn__parse_conditional(front_parser *p);
/* An integer constant expression; false and an error if it is none. */
bool qn__parse_constant(front_parser *p, const char *what, int64_t *value, const ast_type **type);
ast_stmt *qn__parse_compound(front_parser *p, bool own_scope);
/* ({ ... }), from its brace on, through the parenthesis. */
ast_expr *qn__parse_statement_expression(front_parser *p, front_loc loc);

/* ---- front/sema ---- */

ast_expr *qn__expr(front_parser *p, ast_expr_kind kind, const ast_type *type, front_loc loc, ast_expr *a,
                   ast_expr *b, ast_expr *c);
ast_expr *qn__expr_error(front_parser *p, front_loc loc);
ast_expr *qn__expr_int(front_parser *p, const ast_type *type, uint64_t value, front_loc loc);
ast_expr *qn__expr_float(front_parser *p, const ast_type *type, double value, front_loc loc);
void qn__expr_args(front_parser *p, ast_expr *e); /* after args were set: checks the height */
static inline bool qn__is_error(const front_parser *p, const ast_expr *e) {
    return qn__type_is_error(p->types, e->type);
}
double qn__round_to(const ast_type *type, double value); /* to float, half */
double qn__int_to_float(const ast_type *from, uint64_t value, const ast_type *to);
uint64_t qn__float_to_int(const ast_type *to, double value); /* saturating, NaN to 0 */
uint64_t qn__wrap_int(const ast_type *type, uint64_t value); /* truncated to the type, sign-extended */

/* Lvalue to value, array to pointer; complains about what has no value (functions). */
ast_expr *qn__sema_value(front_parser *p, ast_expr *e);
ast_expr *qn__sema_decay(front_parser *p, ast_expr *array);
/* Conversion that is known to be right, literals folded. */
ast_expr *qn__sema_cast_to(front_parser *p, ast_expr *value, const ast_type *type);
ast_expr *qn__sema_bool(front_parser *p, ast_expr *e, const char *what);
const ast_type *qn__sema_promote(front_parser *p, const ast_type *type);
/* Brings both values to their common type; NULL type and an error where there is none. */
const ast_type *qn__sema_usual(front_parser *p, ast_expr **a, ast_expr **b, front_loc loc);
/* Complains where the type is a vector of small floats: operators do not compute with these. */
bool qn__sema_refuse_small(front_parser *p, const char *op, const ast_type *type, front_loc loc);
/* Where a value goes, for messages: "initialization", or argument `index` (from 1) of `callee`. */
typedef struct front_use {
    const char *what, *callee;
    size_t index;
    const ast_decl *param; /* or NULL */
} front_use;
/* Implicit conversion as by assignment. */
ast_expr *qn__sema_coerce(front_parser *p, ast_expr *e, const ast_type *type, front_loc loc, front_use use);
/* How well a value fits a parameter: 0 exactly, more is worse, -1 not at all. */
int qn__sema_fit(front_parser *p, const ast_expr *value, const ast_type *param);
bool qn__is_null_constant(const ast_expr *e);

ast_expr *qn__sema_variable(front_parser *p, ast_decl *decl, front_loc loc);
ast_expr *qn__sema_unary(front_parser *p, front_token_kind op, ast_expr *a, front_loc loc);
ast_expr *qn__sema_increment(front_parser *p, ast_expr *a, bool is_decrement, bool is_postfix, front_loc loc);
ast_expr *qn__sema_binary(front_parser *p, ast_binary op, ast_expr *a, ast_expr *b, front_loc loc);
ast_expr *qn__sema_logical(front_parser *p, ast_binary op, ast_expr *a, ast_expr *b, front_loc loc);
ast_expr *qn__sema_conditional(front_parser *p, ast_expr *a, ast_expr *b, ast_expr *c, front_loc loc);
ast_expr *qn__sema_assign(front_parser *p, ast_expr *a, ast_expr *b, front_loc loc);
ast_expr *qn__sema_assign_op(front_parser *p, ast_binary op, ast_expr *a, ast_expr *b, front_loc loc);
ast_expr *qn__sema_comma(front_parser *p, ast_expr *a, ast_expr *b, front_loc loc);
ast_expr *qn__sema_address(front_parser *p, ast_expr *a, front_loc loc);
ast_expr *qn__sema_index(front_parser *p, ast_expr *a, ast_expr *b, front_loc loc);
ast_expr *qn__sema_member(front_parser *p, ast_expr *a, front_name *name, bool arrow, front_loc loc);
ast_expr *qn__sema_cast(front_parser *p, ast_expr *a, const ast_type *type, front_loc loc);
/* as_type: the bits of a value as another type of the same size. */
ast_expr *qn__sema_reinterpret(front_parser *p, ast_expr *a, const ast_type *type, front_loc loc);
ast_expr *qn__sema_vector_literal(front_parser *p, const ast_type *type, ast_expr **args, size_t num_args,
                                  front_loc loc);
/* A field by name, looked for in anonymous members too; `path` gets the fields on the way (at most 8). */
size_t qn__field_find(const ast_type *record, const char *name, const ast_field **path);
/* Call of a name or of an expression that names a function. */
ast_expr *qn__sema_call_name(front_parser *p, front_name *name, ast_expr **args, size_t num_args,
                             front_loc loc, front_loc end);
bool qn__is_builtin_name(front_parser *p, qn__str name);
ast_decl *
qn__lvalue_root(const ast_expr *e); /* the variable that it is, or is a part of; NULL behind a pointer */
void qn__check_lvalue_root(front_parser *p, ast_expr *e, bool is_address); /* notes address taken, assigned */

/* ---- front/sema/image.c ---- */

bool qn__type_is_opaque(const ast_type *type); /* an image or a sampler */
/* The function that is parsed uses `what`, or, if it is one of images, this type. */
void qn__touch_image(front_parser *p, front_loc loc, const char *what);
void qn__touch_image_type(front_parser *p, const ast_type *type, front_loc loc);
/* Takes the functions that use images from the unit, with all that call them. */
void qn__refuse_images(front_context *context);
/* A built-in function of images, CLK_RGBA and the like, a sampler of an int; NULL: none of that. */
/* space.c */
/* Whether a pointer that names no address space is generic: OpenCL C 2.0 and later. */
bool qn__has_generic(const front_parser *p);
/* The pointer type with another address space of what it points to. */
const ast_type *qn__type_in_space(front_parser *p, const ast_type *pointer, unsigned space);
/* The pointer type `type`, which names no address space, in that of the pointer type `from`. */
const ast_type *qn__sema_space_of_value(front_parser *p, const ast_type *type, const ast_type *from);
/* Before a = b: where a is a pointer whose address space is still open, it is that of b. */
void qn__sema_settle_space(front_parser *p, ast_expr *a, const ast_expr *b);
/* The same for the value that the function being parsed returns here; of NULL it learns nothing yet. */
void qn__sema_settle_result(front_parser *p, ast_stmt *stmt, const ast_expr *value);
/* Gives the function up where `decl` has taken an address space (or a pointer to it is a pointer to one that has) and
   now has to hold another; it is read again with all such pointers generic. */
bool qn__sema_second_space(front_parser *p, const ast_decl *decl, const ast_type *from, const ast_type *to);
/* Brings pointers to one address space where that can be: the generic one. False: it cannot. */
bool qn__sema_join_spaces(front_parser *p, ast_expr **a, ast_expr **b);
/* The same for what either of is chosen at run time. */
bool qn__sema_arm_spaces(front_parser *p, ast_expr **a, ast_expr **b);
/* to_global, to_local, to_private, get_fence; NULL: none of them. */
ast_expr *qn__sema_space_call(front_parser *p, qn__str name, ast_expr **args, size_t num_args, front_loc loc);

ast_expr *qn__sema_image_call(front_parser *p, qn__str name, ast_expr **args, size_t num_args, front_loc loc);
ast_expr *qn__sema_image_constant(front_parser *p, qn__str name, front_loc loc);
ast_expr *qn__sema_sampler(front_parser *p, ast_expr *e, const ast_type *type);

/* ---- front/sema/matrix.c ---- */

/* qn_matrix(element, rows, columns, use). */
const ast_type *qn__sema_matrix_type(front_parser *p, const ast_type *element, int64_t rows, int64_t columns,
                                     int64_t use, front_loc loc);
ast_expr *qn__sema_matrix_call(front_parser *p, qn__str name, ast_expr **args, size_t num_args,
                               front_loc loc);
ast_expr *qn__sema_matrix_constant(front_parser *p, qn__str name, front_loc loc);
/* Whether an object of the type may be where it is declared; else there is an error. */
bool qn__matrix_place(front_parser *p, const ast_type *type, front_loc loc);

/* ---- front/sema/foreign.c ---- */

/* A word of another language that begins a declaration. */
bool qn__is_foreign_specifier(front_parser *p, const front_token *token);
/* Reports, once, an unknown name that is a word of another language; false: it is none. */
bool qn__foreign_word(front_parser *p, front_name *name, front_loc loc);

/* Values of constant expressions. */
bool qn__const_int(front_parser *p, const ast_expr *e, int64_t *value);
/* Writes the value as it lies in memory (type->size bytes at `to`); an address leaves zero bytes and gives
   its object and addend. False if the expression is not constant. */
bool qn__const_bytes(front_parser *p, const ast_expr *e, uint8_t *to, ast_decl **target, int64_t *addend);

/* ---- warn.c, front/sema/kernel.c, front/sema/format.c ---- */

void qn__warn_condition(front_parser *p, const ast_expr *e, bool parenthesized);
void qn__warn_unused(front_parser *p, const ast_expr *e);
void qn__warn_uninitialised(front_parser *p, const ast_expr *lvalue);
/* A constant that loses its value as the type that it is converted to without being told to. */
void qn__warn_constant(front_parser *p, const ast_expr *e, const ast_type *type);
/* A comparison of converted operands whose result one operand's type settles. */
void qn__warn_tautology(front_parser *p, ast_binary op, const ast_expr *a, const ast_expr *b, front_loc loc);
void qn__warn_no_return(front_parser *p, const ast_decl *function);
/* Checks the arguments behind a format and brings them to what it prints; false after an error. */
bool qn__check_printf(front_parser *p, const ast_expr *literal, ast_expr **args, size_t num_args);
void qn__check_kernel(front_parser *p, const ast_decl *function);
void qn__check_recursion(front_context *context);
void qn__inherit_facts(front_context *context); /* images and state used: by the callers, too */

#endif
