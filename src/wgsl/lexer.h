/* WGSL's tokens (WGSL section 3). A module is short, so all its tokens are made at once; then those '<' and '>' that
   enclose template parameters are marked (section 3.9), which needs to look ahead. */
#ifndef QN__WGSL_LEXER_H
#define QN__WGSL_LEXER_H

#include "front/diag.h"

typedef enum wgsl_token_kind {
    WGSL_T_END,
    WGSL_T_NAME,
    WGSL_T_NUMBER,
    WGSL_T_TEMPLATE_BEGIN, /* a '<' and a '>' around template parameters */
    WGSL_T_TEMPLATE_END,
#define TOKEN(ID, spelling) WGSL_T_##ID,
#include "wgsl/tokens.def"
    WGSL_T_COUNT
} wgsl_token_kind;

typedef struct wgsl_token {
    uint8_t kind; /* wgsl_token_kind */
    bool joined;  /* the next character follows without a blank: '>' '>' is a shift */
    front_loc loc;
    qn__str text; /* of the source */
} wgsl_token;

/* The tokens, the last of which is the end. Errors go to `diag`. */
const wgsl_token *qn__wf_lex(qn__arena *arena, const front_source *source, front_diag *diag);

/* The same of a text of the library's, without positions. */
const wgsl_token *qn__wf_lex_text(qn__arena *arena, const char *text, front_diag *diag);

const char *qn__wf_token_name(wgsl_token_kind kind); /* "';'" */

/* A word that WGSL keeps for later versions (section 3.8 and 16.2). */
bool qn__wf_is_reserved(qn__str name);

#endif
