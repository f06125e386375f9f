/* What the files of the parser share. */
#ifndef QN__WGSL_PARSER_H
#define QN__WGSL_PARSER_H

#include "wgsl/ast.h"

typedef struct wgsl_parser {
    qn__arena *arena;
    front_diag *diag;
    wgsl_module *module;
    const wgsl_token *at;
    unsigned depth;           /* of nested expressions and statements */
    bool panic;               /* after an error: nothing more is reported until a place is found to go on */
    wgsl_stmt *loop;          /* innermost around, for `continue` */
    wgsl_decl *function;      /* around */
    bool no_break, no_return; /* in a `continuing` */
} wgsl_parser;

/* ---- parse.c ---- */

static inline bool qn__wf_peek(const wgsl_parser *p, wgsl_token_kind kind) { return p->at->kind == kind; }
void qn__wf_next(wgsl_parser *p);
bool qn__wf_take(wgsl_parser *p, wgsl_token_kind kind);
/* The same with an error where another token stands. `what` says behind what, or NULL. */
bool qn__wf_expect(wgsl_parser *p, wgsl_token_kind kind, const char *what);
/* After an error, at a token behind `begin`: to the end of the statement, or of the block around. */
void qn__wf_recover(wgsl_parser *p, const wgsl_token *begin);
void qn__wf_complain(wgsl_parser *p, front_loc loc, const char *format, ...) QN__PRINTF(3, 4);
qn__str qn__wf_expect_name(wgsl_parser *p, const char *of, front_loc *loc);
/* False, after an error, where too much is nested; else to be left with depth--. */
bool qn__wf_nest(wgsl_parser *p);
wgsl_decl *qn__wf_decl_new(wgsl_parser *p, wgsl_decl_kind kind);
void qn__wf_attributes(wgsl_parser *p, wgsl_attributes *list);
/* name (: type)? */
void qn__wf_typed_name(wgsl_parser *p, wgsl_decl *decl, const char *of);

/* ---- parse_expr.c ---- */

wgsl_expr *qn__wf_expr(wgsl_parser *p); /* NULL after an error */
wgsl_expr *qn__wf_type_expr(wgsl_parser *p);
wgsl_expr *qn__wf_lhs(wgsl_parser *p);
void qn__wf_list(wgsl_parser *p, wgsl_exprs *list, wgsl_token_kind end);
wgsl_expr *qn__wf_expr_new(wgsl_parser *p, wgsl_expr_kind kind, front_loc loc);
/* The operator that stands here, of one token or two: see wgsl_expr.op. */
unsigned qn__wf_operator(const wgsl_parser *p, uint8_t *joined);

/* ---- parse_stmt.c ---- */

wgsl_stmt *qn__wf_block(wgsl_parser *p);    /* never NULL */
wgsl_decl *qn__wf_variable(wgsl_parser *p); /* var, let, const, override: without the ';' */

#endif
