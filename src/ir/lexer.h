/* Tokens of the IR's text form. Errors leave by longjmp to the reader's own escape, so that the parser's
   functions read straight on; nothing but arena memory is held across. */
#ifndef QN__IR_LEXER_H
#define QN__IR_LEXER_H

#include "ir/internal.h"

typedef enum ir_token_kind {
    IR_TOKEN_END,
    IR_TOKEN_WORD,   /* text */
    IR_TOKEN_NUMBER, /* text, with its sign */
    IR_TOKEN_STRING, /* text without quotes, escapes replaced */
    IR_TOKEN_VALUE,  /* %name: text is the name */
    IR_TOKEN_AT,     /* @name or @"name": text is the name */
    IR_TOKEN_ARROW,
    IR_TOKEN_PUNCTUATION /* one character of text */
} ir_token_kind;

typedef struct ir_token {
    ir_token_kind kind;
    qn__str text;
    uint32_t line, column;
    bool starts_line;
} ir_token;

typedef struct ir_lexer {
    qn__arena *arena;
    const char *at, *end, *line_start;
    uint32_t line;
    ir_token token; /* the current one */
    const char *error;
    jmp_buf escape;
} ir_lexer;

void qn__ir_lex_start(ir_lexer *lexer, qn__arena *arena, const char *text, size_t size);
void qn__ir_lex_next(ir_lexer *lexer);
/* "line:column: message" at the current token. */
QN__NORETURN void qn__ir_lex_fail(ir_lexer *lexer, const char *format, ...) QN__PRINTF(2, 3);

bool qn__ir_lex_is(const ir_lexer *lexer, char punctuation);
bool qn__ir_lex_is_word(const ir_lexer *lexer, const char *word);
bool qn__ir_lex_accept(ir_lexer *lexer, char punctuation);
bool qn__ir_lex_accept_word(ir_lexer *lexer, const char *word);
void qn__ir_lex_expect(ir_lexer *lexer, char punctuation);

/* These take the current token or fail. */
uint64_t qn__ir_lex_unsigned(ir_lexer *lexer, uint64_t max);
int64_t qn__ir_lex_signed(ir_lexer *lexer);
uint64_t qn__ir_lex_integer(ir_lexer *lexer, unsigned width); /* signed or unsigned, cut to the width */
uint64_t qn__ir_lex_float(ir_lexer *lexer, ir_kind kind);     /* its bits */
const char *qn__ir_lex_string(ir_lexer *lexer);
unsigned qn__ir_lex_choice(ir_lexer *lexer, const char *const *names, unsigned count, const char *what);
/* Adjacent strings as one, raw or with pairs of hex digits as bytes. */
qn__str qn__ir_lex_bytes(ir_lexer *lexer, bool hex);

#endif
