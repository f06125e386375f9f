/* The lexer: source text -> preprocessing tokens (C99 6.4). It reads the text without backslash-newlines and
   consults the list of where they were to keep count of physical lines. A zero byte behind the text lets it
   look ahead without asking for the end. */
#include <string.h>

#include "front/token.h"

/* What a byte may be part of. */
enum { BEGIN = 1, DIGIT = 2, BLANK = 4 };

static const uint8_t classes[256] = {
    ['_'] = BEGIN,  ['a'] = BEGIN,  ['b'] = BEGIN, ['c'] = BEGIN, ['d'] = BEGIN,  ['e'] = BEGIN,
    ['f'] = BEGIN,  ['g'] = BEGIN,  ['h'] = BEGIN, ['i'] = BEGIN, ['j'] = BEGIN,  ['k'] = BEGIN,
    ['l'] = BEGIN,  ['m'] = BEGIN,  ['n'] = BEGIN, ['o'] = BEGIN, ['p'] = BEGIN,  ['q'] = BEGIN,
    ['r'] = BEGIN,  ['s'] = BEGIN,  ['t'] = BEGIN, ['u'] = BEGIN, ['v'] = BEGIN,  ['w'] = BEGIN,
    ['x'] = BEGIN,  ['y'] = BEGIN,  ['z'] = BEGIN, ['A'] = BEGIN, ['B'] = BEGIN,  ['C'] = BEGIN,
    ['D'] = BEGIN,  ['E'] = BEGIN,  ['F'] = BEGIN, ['G'] = BEGIN, ['H'] = BEGIN,  ['I'] = BEGIN,
    ['J'] = BEGIN,  ['K'] = BEGIN,  ['L'] = BEGIN, ['M'] = BEGIN, ['N'] = BEGIN,  ['O'] = BEGIN,
    ['P'] = BEGIN,  ['Q'] = BEGIN,  ['R'] = BEGIN, ['S'] = BEGIN, ['T'] = BEGIN,  ['U'] = BEGIN,
    ['V'] = BEGIN,  ['W'] = BEGIN,  ['X'] = BEGIN, ['Y'] = BEGIN, ['Z'] = BEGIN,  ['0'] = DIGIT,
    ['1'] = DIGIT,  ['2'] = DIGIT,  ['3'] = DIGIT, ['4'] = DIGIT, ['5'] = DIGIT,  ['6'] = DIGIT,
    ['7'] = DIGIT,  ['8'] = DIGIT,  ['9'] = DIGIT, [' '] = BLANK, ['\t'] = BLANK, ['\r'] = BLANK,
    ['\f'] = BLANK, ['\v'] = BLANK,
};

static bool is_class(char c, int class) { return classes[(unsigned char)c] & class; }

void qn__lex_init(front_lexer *lexer, front_source *source, front_names *names, front_diag *diag) {
    *lexer = (front_lexer){.source = source,
                           .names = names,
                           .diag = diag,
                           .at = source->clean.data,
                           .end = source->clean.data + source->clean.len,
                           .line_start = source->clean.data,
                           .line = 1,
                           .flags = FRONT_LINE_START};
    if (source->clean.len >= 3 && !memcmp(lexer->at, "\xef\xbb\xbf", 3)) lexer->at += 3; /* byte order mark */
}

void qn__lex_init_text(front_lexer *lexer, qn__str text, front_loc loc, front_names *names,
                       front_diag *diag) {
    *lexer = (front_lexer){.names = names,
                           .diag = diag,
                           .at = text.data,
                           .end = text.data + text.len,
                           .line_start = text.data,
                           .line = 1,
                           .fixed = loc};
}

/* ---- positions ---- */

/* Counts the lines of the backslash-newlines up to `at`. */
static void pass_splices(front_lexer *lexer, const char *at) {
    const front_source *source = lexer->source;
    while (lexer->next_splice < source->num_splices) {
        const char *splice = source->clean.data + source->splices[lexer->next_splice];
        if (splice > at) return;
        lexer->line++;
        lexer->line_start = splice;
        lexer->next_splice++;
    }
}

static inline front_loc place(front_lexer *lexer, const char *at) {
    if (!lexer->source) return lexer->fixed;
    if (lexer->next_splice < lexer->source->num_splices) pass_splices(lexer, at);
    size_t column = (size_t)(at - lexer->line_start) + 1;
    return (front_loc){lexer->line, column > UINT16_MAX ? UINT16_MAX : (uint16_t)column,
                       lexer->source->index};
}

static void pass_newline(front_lexer *lexer, const char *newline) {
    if (lexer->source && lexer->next_splice < lexer->source->num_splices) pass_splices(lexer, newline);
    lexer->line++;
    lexer->line_start = newline + 1;
}

/* ---- white space ---- */

/* A block comment is one blank, wherever it ends. */
static void skip_comment(front_lexer *lexer) {
    front_loc loc = place(lexer, lexer->at);
    const char *p = lexer->at + 2;
    for (;; p++) {
        if (*p == '\n') {
            pass_newline(lexer, p);
        } else if (*p == '*' && p[1] == '/') {
            lexer->at = p + 2;
            return;
        } else if (!*p && p >= lexer->end) {
            lexer->at = lexer->end;
            if (lexer->quiet) return;
            qn__diag_error(lexer->diag, loc, "comment is not closed");
            qn__diag_hint(lexer->diag, "it reaches to the end of the file; add '*/'");
            return;
        }
    }
}

static const char *line_end(const char *at, const char *end) {
    const char *newline = memchr(at, '\n', (size_t)(end - at));
    return newline ? newline : end;
}

static void skip_space(front_lexer *lexer) {
    for (;;) {
        const char *p = lexer->at;
        while (is_class(*p, BLANK)) p++;
        if (p > lexer->at) lexer->flags |= FRONT_SPACE;
        lexer->at = p;
        if (*p == '\n' && !lexer->directive) {
            pass_newline(lexer, p);
            lexer->at++;
            lexer->flags = FRONT_LINE_START;
            continue;
        }
        if (*p != '/' || (p[1] != '/' && p[1] != '*')) return;
        if (p[1] == '/')
            lexer->at = line_end(p, lexer->end);
        else
            skip_comment(lexer);
        lexer->flags |= FRONT_SPACE;
    }
}

bool qn__lex_is_paren_next(const front_lexer *lexer) {
    front_lexer ahead = *lexer;
    ahead.quiet = true;
    skip_space(&ahead);
    return *ahead.at == '(';
}

/* ---- tokens ---- */

static const char *number_end(const char *p) {
    for (;; p++) {
        if ((*p == '+' || *p == '-') && (p[-1] == 'e' || p[-1] == 'E' || p[-1] == 'p' || p[-1] == 'P'))
            continue;
        if (!is_class(*p, BEGIN | DIGIT) && *p != '.') return p;
    }
}

/* Behind the closing quote, or at the end of the line if there is none. */
static const char *quoted_end(const char *p, const char *end, bool *closed) {
    char quote = *p++;
    for (; p < end && *p != '\n'; p++) {
        if (*p == quote) {
            *closed = true;
            return p + 1;
        }
        if (*p == '\\' && p + 1 < end && p[1] != '\n') p++;
    }
    *closed = false;
    return p;
}

static void lex_quoted(front_lexer *lexer, front_token *token) {
    bool closed;
    char quote = *lexer->at;
    lexer->at = quoted_end(lexer->at, lexer->end, &closed);
    token->kind = quote == '"' ? FRONT_T_STRING : FRONT_T_CHAR;
    if (closed || lexer->quiet) return;
    qn__diag_error(lexer->diag, token->loc, "missing closing %s", quote == '"' ? "'\"'" : "quote (')");
    qn__diag_hint(lexer->diag, "a %s ends on the line on which it begins",
                  quote == '"' ? "string" : "character literal");
}

/* Bytes of a character that begins no token, so that a message can name all of a UTF-8 sequence. */
static size_t other_length(const char *p) {
    size_t len = 1;
    if (((unsigned char)*p & 0xc0) == 0xc0)
        while (len < 4 && ((unsigned char)p[len] & 0xc0) == 0x80) len++;
    return len;
}

/* Longest match (C99 6.4p4). Digraphs are other spellings of the same kinds. */
static front_token_kind punctuator(const char *p, unsigned *len) {
#define ONE(kind) return *len = 1, FRONT_T_##kind
#define TWO(second, kind)                                                                                    \
    if (p[1] == (second)) return *len = 2, FRONT_T_##kind
#define MORE(n, text, kind)                                                                                  \
    if (!strncmp(p, text, n)) return *len = n, FRONT_T_##kind
    switch (*p) {
    case '[': ONE(LBRACKET);
    case ']': ONE(RBRACKET);
    case '(': ONE(LPAREN);
    case ')': ONE(RPAREN);
    case '{': ONE(LBRACE);
    case '}': ONE(RBRACE);
    case '~': ONE(TILDE);
    case '?': ONE(QUESTION);
    case ';': ONE(SEMICOLON);
    case ',': ONE(COMMA);
    case '.': MORE(3, "...", ELLIPSIS); ONE(DOT);
    case '-':
        TWO('>', ARROW);
        TWO('-', MINUS_MINUS);
        TWO('=', MINUS_ASSIGN);
        ONE(MINUS);
    case '+':
        TWO('+', PLUS_PLUS);
        TWO('=', PLUS_ASSIGN);
        ONE(PLUS);
    case '&':
        TWO('&', AMP_AMP);
        TWO('=', AMP_ASSIGN);
        ONE(AMP);
    case '|':
        TWO('|', PIPE_PIPE);
        TWO('=', PIPE_ASSIGN);
        ONE(PIPE);
    case '*': TWO('=', STAR_ASSIGN); ONE(STAR);
    case '/': TWO('=', SLASH_ASSIGN); ONE(SLASH);
    case '!': TWO('=', NOT_EQUAL); ONE(EXCLAIM);
    case '=': TWO('=', EQUAL); ONE(ASSIGN);
    case '^': TWO('=', CARET_ASSIGN); ONE(CARET);
    case '#': TWO('#', HASH_HASH); ONE(HASH);
    case ':': TWO('>', RBRACKET); ONE(COLON);
    case '%':
        MORE(4, "%:%:", HASH_HASH);
        TWO(':', HASH);
        TWO('>', RBRACE);
        TWO('=', PERCENT_ASSIGN);
        ONE(PERCENT);
    case '<':
        MORE(3, "<<=", SHL_ASSIGN);
        TWO('<', SHL);
        TWO('=', LESS_EQUAL);
        TWO(':', LBRACKET);
        TWO('%', LBRACE);
        ONE(LESS);
    case '>':
        MORE(3, ">>=", SHR_ASSIGN);
        TWO('>', SHR);
        TWO('=', GREATER_EQUAL);
        ONE(GREATER);
    default: *len = 0; return FRONT_T_OTHER;
    }
#undef ONE
#undef TWO
#undef MORE
}

static void lex_other(front_lexer *lexer, front_token *token) {
    unsigned len;
    token->kind = (uint16_t)punctuator(lexer->at, &len);
    lexer->at += len ? len : other_length(lexer->at);
    if (lexer->at > lexer->end) lexer->at = lexer->end;
}

void qn__lex_next(front_lexer *lexer, front_token *token) {
    skip_space(lexer);
    const char *start = lexer->at;
    *token = (front_token){.flags = lexer->flags, .loc = place(lexer, start), .text = start};
    lexer->flags = 0;
    if (is_class(*start, BEGIN)) {
        const char *p = start;
        uint32_t hash = FRONT_NAME_HASH;
        while (is_class(*p, BEGIN | DIGIT)) hash = qn__name_hash(hash, *p++);
        lexer->at = p;
        token->kind = FRONT_T_IDENTIFIER;
        token->name = qn__name_hashed(lexer->names, start, (size_t)(p - start), hash);
    } else if (is_class(*start, DIGIT) || (*start == '.' && is_class(start[1], DIGIT))) {
        lexer->at = number_end(start + 1);
        token->kind = FRONT_T_NUMBER;
    } else if (*start == '"' || *start == '\'') {
        lex_quoted(lexer, token);
    } else if (start >= lexer->end || *start == '\n') {
        lexer->flags = token->flags;
    } else {
        lex_other(lexer, token);
    }
    token->len = (uint32_t)(lexer->at - start);
}

/* ---- parts of lines, for directives ---- */

bool qn__lex_header_name(front_lexer *lexer, qn__str *name) {
    skip_space(lexer);
    if (*lexer->at != '<') return false;
    const char *start = lexer->at + 1, *end = line_end(start, lexer->end);
    const char *close = memchr(start, '>', (size_t)(end - start));
    if (!close) return false;
    *name = (qn__str){start, (size_t)(close - start)};
    lexer->at = close + 1;
    return true;
}

qn__str qn__lex_rest(front_lexer *lexer) {
    const char *start = lexer->at, *end = line_end(start, lexer->end);
    lexer->at = end;
    while (start < end && is_class(*start, BLANK)) start++;
    while (end > start && is_class(end[-1], BLANK)) end--;
    return (qn__str){start, (size_t)(end - start)};
}

void qn__lex_skip_line(front_lexer *lexer) {
    bool closed;
    for (;;) {
        char c = *lexer->at;
        if (c == '\n' || (!c && lexer->at >= lexer->end)) return;
        if (c == '"' || c == '\'')
            lexer->at = quoted_end(lexer->at, lexer->end, &closed);
        else if (c == '/' && lexer->at[1] == '/')
            lexer->at = line_end(lexer->at, lexer->end);
        else if (c == '/' && lexer->at[1] == '*')
            skip_comment(lexer);
        else
            lexer->at++;
    }
}
