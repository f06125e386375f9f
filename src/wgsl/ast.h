/* The tree of a WGSL module as it was read: names are not looked up and types not known; a type is an expression. Lowering
   walks it (lower/), a function's body once for each place that calls it. */
#ifndef QN__WGSL_AST_H
#define QN__WGSL_AST_H

#include "wgsl/lexer.h"

typedef struct wgsl_expr wgsl_expr;
typedef struct wgsl_stmt wgsl_stmt;
typedef struct wgsl_decl wgsl_decl;

typedef QN__VEC(wgsl_expr *) wgsl_exprs;
typedef QN__VEC(wgsl_stmt *) wgsl_stmts;

typedef enum wgsl_expr_kind {
    WGSL_EXPR_NUMBER,  /* value, suffix */
    WGSL_EXPR_BOOL,    /* number */
    WGSL_EXPR_NAME,    /* name, parameters */
    WGSL_EXPR_CALL,    /* name, parameters, args */
    WGSL_EXPR_INDEX,   /* a [ b ] */
    WGSL_EXPR_MEMBER,  /* a . name */
    WGSL_EXPR_UNARY,   /* op a */
    WGSL_EXPR_BINARY,  /* a op b */
    WGSL_EXPR_ADDRESS, /* & a */
    WGSL_EXPR_INDIRECT /* * a */
} wgsl_expr_kind;

struct wgsl_expr {
    uint8_t kind; /* wgsl_expr_kind */
    uint8_t
        op; /* wgsl_token_kind of the operator; SHIFT_RIGHT and GREATER_EQUAL are GREATER with is_joined */
    uint8_t joined;  /* of an operator of two tokens that begins with '>': the second */
    char suffix;     /* of a number: i, u, f, h or 0 */
    bool is_float;   /* of a number */
    bool is_grouped; /* in parentheses */
    front_loc loc;   /* of the name, the operator, or where it begins */
    qn__str name;
    qn__str text;    /* as it is written */
    uint64_t number; /* an integer, or the bits of a double */
    wgsl_expr *a, *b;
    wgsl_exprs parameters; /* template parameters */
    wgsl_exprs args;
};

typedef struct wgsl_attribute {
    qn__str name;
    front_loc loc;
    wgsl_exprs args;
} wgsl_attribute;

typedef QN__VEC(wgsl_attribute) wgsl_attributes;

/* A variable, value, parameter, member, or what else has a name. */
typedef enum wgsl_decl_kind {
    WGSL_DECL_VAR, /* at module scope, or a function's */
    WGSL_DECL_LET,
    WGSL_DECL_CONST,
    WGSL_DECL_OVERRIDE,
    WGSL_DECL_ALIAS,
    WGSL_DECL_STRUCT,
    WGSL_DECL_FUNCTION,
    WGSL_DECL_ASSERT, /* init; no name */
    WGSL_DECL_PARAMETER,
    WGSL_DECL_MEMBER
} wgsl_decl_kind;

typedef QN__VEC(wgsl_decl *) wgsl_decls;

struct wgsl_decl {
    uint8_t kind;  /* wgsl_decl_kind */
    uint8_t state; /* while names are looked up: 0, 1 (in progress), 2 (done) */
    front_loc loc; /* of the name */
    qn__str name;
    wgsl_attributes attributes;
    wgsl_exprs parameters;  /* of var<...> */
    wgsl_expr *type;        /* NULL: as its initialiser's */
    wgsl_expr *init;        /* or NULL; the type of an alias */
    wgsl_decls members;     /* of a struct; parameters of a function */
    wgsl_attributes result; /* attributes of a function's result */
    wgsl_stmt *body;
    unsigned num_returns;     /* of a function */
    bool is_broken;           /* it was not read to its end: whatever names it is silent */
    bool is_lowered;          /* a function that something calls */
    struct wgsl_value *value; /* what the name means, once state is 2 */
    struct wgsl_binding *binding;
};

typedef enum wgsl_stmt_kind {
    WGSL_STMT_BLOCK,  /* body */
    WGSL_STMT_DECL,   /* decl */
    WGSL_STMT_ASSIGN, /* a op= b; op ASSIGN; a NULL: the phony assignment */
    WGSL_STMT_STEP,   /* a++, a--: op */
    WGSL_STMT_CALL,   /* a */
    WGSL_STMT_IF,     /* a, then, otherwise */
    WGSL_STMT_SWITCH, /* a, body: clauses */
    WGSL_STMT_CLAUSE, /* values, is_default; then */
    WGSL_STMT_LOOP,   /* init, a (condition), step, then; continuing, break_if */
    WGSL_STMT_BREAK,
    WGSL_STMT_CONTINUE,
    WGSL_STMT_RETURN, /* a or NULL */
} wgsl_stmt_kind;

struct wgsl_stmt {
    uint8_t kind;       /* wgsl_stmt_kind */
    uint8_t op, joined; /* as in wgsl_expr, without the '=' */
    bool is_default;    /* clause */
    uint8_t keyword;    /* loop: the token that begins it */
    bool has_continue;  /* loop: a statement in it continues it */
    front_loc loc, end; /* end: of the brace that closes a block */
    wgsl_expr *a, *b;
    wgsl_decl *decl;
    wgsl_stmts body;
    wgsl_exprs values;
    wgsl_stmt *init, *step, *then, *otherwise, *continuing;
    wgsl_expr *break_if; /* at the end of `continuing` */
    wgsl_attributes attributes;
};

/* Of a diagnostic filter; zero is the default. */
typedef enum wgsl_severity { WGSL_SEVERITY_ERROR, WGSL_SEVERITY_WARNING, WGSL_SEVERITY_OFF } wgsl_severity;

typedef struct wgsl_module {
    qn__arena *arena;
    front_diag *diag;
    wgsl_decls decls;
    qn__map names; /* of decls, but asserts */
    bool enables_f16;
    bool enables_subgroups;
    uint8_t subgroup_uniformity; /* wgsl_severity of what is wrong with sub-groups' uniformity */
} wgsl_module;

/* Never NULL; whole where diag got no new error. */
wgsl_module *qn__wf_parse(qn__arena *arena, const front_source *source, front_diag *diag);

/* An expression in the language's own text, whose parts have no position. */
wgsl_expr *qn__wf_parse_text(qn__arena *arena, front_diag *diag, const char *text);

#endif
