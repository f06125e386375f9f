/* Text to tokens; see lexer.h. */
#include "wgsl/lexer.h"

#include <string.h>

static const struct spelling {
    const char *text;
    uint8_t len;
} spellings[WGSL_T_COUNT] = {
    [WGSL_T_END] = {"end of file", 11}, [WGSL_T_NAME] = {"name", 4},      [WGSL_T_NUMBER] = {"number", 6},
    [WGSL_T_TEMPLATE_BEGIN] = {"<", 1}, [WGSL_T_TEMPLATE_END] = {">", 1},
#define TOKEN(ID, spelling) [WGSL_T_##ID] = {spelling, sizeof(spelling) - 1},
#include "wgsl/tokens.def"
};

/* By the first letter, in one text, each word between blanks. */
static const char *const reserved[26] = {
    ['a' - 'a'] = " abstract active alignas alignof as asm asm_fragment async attribute auto await ",
    ['b' - 'a'] = " become ",
    ['c' - 'a'] = " cast catch class co_await co_return co_yield coherent column_major common compile "
                  "compile_fragment concept const_cast consteval constexpr constinit crate ",
    ['d' - 'a'] = " debugger decltype delete demote demote_to_helper do dynamic_cast ",
    ['e' - 'a'] = " enum explicit export extends extern external ",
    ['f' - 'a'] = " fallthrough filter final finally friend from fxgroup ",
    ['g' - 'a'] = " get goto groupshared ",
    ['h' - 'a'] = " highp ",
    ['i' - 'a'] = " impl implements import inline instanceof interface ",
    ['l' - 'a'] = " layout lowp ",
    ['m' - 'a'] = " macro macro_rules match mediump meta mod module move mut mutable ",
    ['n' - 'a'] = " NULL namespace new nil noexcept noinline nointerpolation non_coherent noncoherent "
                  "noperspective null nullptr ",
    ['o' - 'a'] = " of operator ",
    ['p' - 'a'] = " package packoffset partition pass patch pixelfragment precise precision premerge priv "
                  "protected pub public ",
    ['r' - 'a'] = " readonly ref regardless register reinterpret_cast require resource restrict ",
    ['s' - 'a'] = " Self self set shared sizeof smooth snorm static static_assert static_cast std "
                  "subroutine super ",
    ['t' - 'a'] = " target template this thread_local throw trait try type typedef typeid typename typeof ",
    ['u' - 'a'] = " union unless unorm unsafe unsized use using ",
    ['v' - 'a'] = " varying virtual volatile ",
    ['w' - 'a'] = " wgsl where with writeonly ",
    ['y' - 'a'] = " yield ",
};

bool qn__wf_is_reserved(qn__str name) {
    const unsigned letter = (unsigned)((name.data[0] | 0x20) - 'a');
    const char *at = letter < QN__COUNT(reserved) ? reserved[letter] : NULL;
    for (; at && at[1]; at = strchr(at + 1, ' '))
        if (!strncmp(at + 1, name.data, name.len) && at[1 + name.len] == ' ') return true;
    return false;
}

const char *qn__wf_token_name(wgsl_token_kind kind) { return spellings[kind].text; }

typedef struct lexer {
    qn__arena *arena;
    front_diag *diag;
    const front_source *source;
    const char *at, *end, *line_start;
    uint32_t line;
    uint8_t first[128]; /* by character: the first keyword or punctuation that begins with it */
    QN__VEC(wgsl_token) tokens;
} lexer;

static front_loc loc_at(const lexer *l, const char *at) {
    if (!l->source) return FRONT_NO_LOC;
    const size_t column = (size_t)(at - l->line_start) + 1;
    return (front_loc){
        .line = l->line, .column = (uint16_t)(column > 65535 ? 65535 : column), .file = l->source->index};
}

/* ---- characters ---- */

static bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
static bool is_digit(char c) { return c >= '0' && c <= '9'; }
static bool is_hex(char c) { return is_digit(c) || ((c | 0x20) >= 'a' && (c | 0x20) <= 'f'); }

/* A code point of more than a byte and its length; length 0: that is no UTF-8. */
static uint32_t decode(const char *at, const char *end, unsigned *length) {
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    const unsigned char first = (unsigned char)*at;
    const unsigned count = first >= 0xf0 && first < 0xf8 ? 4 : first >= 0xe0 ? 3 : 2;
    *length = 0;
    if (first < 0xc2 || first >= 0xf8 || end - at < (ptrdiff_t)count) return 0;
    uint32_t code = first & (0x7fu >> count);
    for (unsigned i = 1; i < count; i++) {
        if (((unsigned char)at[i] & 0xc0) != 0x80) return 0;
        code = code << 6 | ((unsigned char)at[i] & 0x3f);
    }
    if (code < least[count] || code > 0x10ffff || (code >= 0xd800 && code < 0xe000)) return 0;
    *length = count;
    return code;
}

/* Blanks beyond ASCII (section 3.3): next line, left-to-right and right-to-left marks, line and paragraph separators. */
static bool is_wide_blank(uint32_t code) {
    return code == 0x85 || code == 0x200e || code == 0x200f || code == 0x2028 || code == 0x2029;
}

/* What may stand in a name: letters, digits and marks of all scripts, but no punctuation, arrows, signs or private use. The blocks are
   cut coarsely, which takes more than Unicode's XID_Continue in a few places and nothing less. */
static bool is_wide_letter(uint32_t code) {
    if (code < 0xc0) return code == 0xaa || code == 0xb5 || code == 0xb7 || code == 0xba;
    if (code == 0xd7 || code == 0xf7) return false;
    if (code >= 0x2010 && code <= 0x205f) return code == 0x203f || code == 0x2040 || code == 0x2054;
    if (code >= 0x2190 && code <= 0x2bff) return false;
    if (code >= 0x3000 && code <= 0x3004) return false;
    if (code >= 0x3008 && code <= 0x3020) return false;
    if (code >= 0xe000 && code <= 0xf8ff) return false;
    if (code >= 0x1f000 && code <= 0x1faff) return false;
    return !is_wide_blank(code) && code < 0xe0200;
}

/* Length of the letter or digit of a name that stands here; 0: none does. */
static unsigned name_part(const lexer *l, const char *at) {
    unsigned length;
    if (at >= l->end) return 0;
    if ((unsigned char)*at < 0x80) return is_letter(*at) || is_digit(*at);
    return is_wide_letter(decode(at, l->end, &length)) ? length : 0;
}

/* ---- blanks and comments ---- */

static void new_line(lexer *l, const char *next) {
    l->line++;
    l->line_start = next;
}

static void skip_block(lexer *l) {
    const front_loc begin = loc_at(l, l->at);
    unsigned depth = 0;
    for (; l->at < l->end; l->at++) {
        const char next = l->at + 1 < l->end ? l->at[1] : 0;
        if (*l->at == '\n') new_line(l, l->at + 1);
        const bool opens = *l->at == '/' && next == '*', closes = *l->at == '*' && next == '/';
        if (!opens && !closes) continue;
        depth += opens ? 1 : -1u;
        l->at++;
        if (depth) continue;
        l->at++;
        return;
    }
    qn__diag_error(l->diag, begin, "comment is not closed");
    qn__diag_hint(l->diag, "comments nest: each '/*' needs a '*/' of its own");
}

/* A comment ends at any line break, be it one of Unicode's (section 3.3). */
static void skip_line(lexer *l) {
    unsigned length;
    for (; l->at < l->end && (*l->at < '\n' || *l->at > '\r'); l->at++) {
        if ((unsigned char)*l->at < 0x80) continue;
        const uint32_t code = decode(l->at, l->end, &length);
        if (code == 0x85 || code == 0x2028 || code == 0x2029) return;
    }
}

/* One blank or comment; false: something else stands here. */
static bool skip_blank(lexer *l) {
    const char c = *l->at, next = l->at + 1 < l->end ? l->at[1] : 0;
    unsigned length;
    if (c == '/' && next == '/') return skip_line(l), true;
    if (c == '/' && next == '*') return skip_block(l), true;
    if (c == '\n') new_line(l, l->at + 1);
    if (c == ' ' || (c >= '\t' && c <= '\r')) return l->at++, true;
    if ((unsigned char)c < 0x80 || !is_wide_blank(decode(l->at, l->end, &length))) return false;
    l->at += length;
    return true;
}

/* ---- tokens ---- */

static void push(lexer *l, wgsl_token_kind kind, const char *begin) {
    const char *at = l->at;
    const wgsl_token token = {.kind = (uint8_t)kind,
                              .joined = at < l->end && (*at == '>' || *at == '='),
                              .loc = loc_at(l, begin),
                              .text = {begin, (size_t)(at - begin)}};
    qn__vec_push(l->arena, &l->tokens, token);
}

static void lex_name(lexer *l) {
    const char *begin = l->at;
    for (unsigned length; (length = name_part(l, l->at)); l->at += length) {
    }
    const size_t len = (size_t)(l->at - begin);
    unsigned kind = len == 1 && *begin == '_' ? WGSL_T_UNDERSCORE : WGSL_T_NAME;
    const unsigned from = (unsigned char)*begin < 0x80 ? l->first[(unsigned char)*begin] : WGSL_T_COUNT;
    for (unsigned word = from; word <= WGSL_T_WHILE; word++)
        if (spellings[word].len == len && *spellings[word].text == *begin &&
            !memcmp(spellings[word].text, begin, len))
            kind = word;
    push(l, (wgsl_token_kind)kind, begin);
}

static void lex_number(lexer *l) {
    const char *begin = l->at;
    const bool hex = *l->at == '0' && l->at + 1 < l->end && (l->at[1] | 0x20) == 'x';
    if (hex) l->at += 2;
    for (; l->at < l->end; l->at++) {
        const char c = *l->at, before = l->at > begin ? l->at[-1] | 0x20 : 0;
        const bool is_sign = (c == '+' || c == '-') && before == (hex ? 'p' : 'e');
        const bool is_exponent = (c | 0x20) == (hex ? 'p' : 'e');
        if (!is_digit(c) && c != '.' && !is_exponent && !is_sign && !(hex && is_hex(c))) break;
    }
    if (l->at < l->end && strchr("iufh", *l->at) && *l->at) l->at++;
    push(l, WGSL_T_NUMBER, begin);
    if (!name_part(l, l->at)) return;
    qn__diag_error(l->diag, loc_at(l, begin), "a number ends in '%c', which is no suffix of one", *l->at);
    qn__diag_hint(l->diag, "the suffixes are i, u, f and h");
    while (name_part(l, l->at)) l->at += name_part(l, l->at);
}

static void lex_wrong(lexer *l) {
    unsigned length = 1;
    if ((unsigned char)*l->at >= 0x80) {
        decode(l->at, l->end, &length);
        qn__diag_error(l->diag, loc_at(l, l->at),
                       length ? "'%.*s' belongs to no token of WGSL" : "this is no UTF-8", (int)length,
                       l->at);
    } else if (*l->at > ' ' && *l->at < 0x7f) {
        qn__diag_error(l->diag, loc_at(l, l->at), "'%c' belongs to no token of WGSL", *l->at);
        if (*l->at == '#') qn__diag_hint(l->diag, "WGSL has no preprocessor");
    } else {
        qn__diag_error(l->diag, loc_at(l, l->at), "a character with code %d belongs to no token of WGSL",
                       *l->at);
    }
    l->at += length ? length : 1;
}

/* False: no token stands here. */
static bool lex_punctuation(lexer *l) {
    const char *begin = l->at;
    if ((unsigned char)*begin >= 0x80) return false;
    for (unsigned kind = l->first[(unsigned char)*begin]; kind < WGSL_T_COUNT; kind++) {
        const struct spelling *s = &spellings[kind];
        if (*s->text != *begin || (size_t)(l->end - begin) < s->len || memcmp(begin, s->text, s->len) != 0)
            continue;
        l->at += s->len;
        push(l, (wgsl_token_kind)kind, begin);
        return true;
    }
    return false;
}

static void lex_token(lexer *l) {
    const char *begin = l->at, next = l->at + 1 < l->end ? l->at[1] : 0;
    if (is_digit(*begin) || (*begin == '.' && is_digit(next)))
        lex_number(l);
    else if (name_part(l, begin))
        lex_name(l);
    else if (!lex_punctuation(l))
        lex_wrong(l);
}

/* ---- template lists ---- */

typedef struct candidate {
    wgsl_token *token;
    unsigned depth;
} candidate;

typedef struct templates {
    QN__VEC(candidate) open;
    unsigned depth;
} templates;

static void close_to(templates *t, unsigned depth) {
    while (t->open.len && qn__vec_last(&t->open).depth >= depth) t->open.len--;
}

static void discover(qn__arena *arena, templates *t, wgsl_token *token, const wgsl_token *before) {
    switch (token->kind) {
    case WGSL_T_LESS:
        if (before && (before->kind == WGSL_T_NAME || before->kind == WGSL_T_VAR))
            qn__vec_push(arena, &t->open, (candidate){token, t->depth});
        return;
    case WGSL_T_GREATER:
        if (!t->open.len || qn__vec_last(&t->open).depth != t->depth) return;
        qn__vec_pop(&t->open).token->kind = WGSL_T_TEMPLATE_BEGIN;
        token->kind = WGSL_T_TEMPLATE_END;
        return;
    case WGSL_T_OPEN:
    case WGSL_T_OPEN_BRACKET: t->depth++; return;
    case WGSL_T_CLOSE:
    case WGSL_T_CLOSE_BRACKET:
        close_to(t, t->depth);
        if (t->depth) t->depth--;
        return;
    case WGSL_T_AND_AND:
    case WGSL_T_OR_OR: close_to(t, t->depth); return;
    case WGSL_T_ASSIGN:
    case WGSL_T_SEMICOLON:
    case WGSL_T_OPEN_BRACE:
    case WGSL_T_COLON:
        t->open.len = 0;
        t->depth = 0;
        return;
    default: return;
    }
}

/* '>' '=' in one is no assignment: it ends no list of template parameters. */
static void discover_templates(lexer *l) {
    templates t = {.depth = 0};
    for (size_t i = 0; i < l->tokens.len; i++) {
        wgsl_token *token = &l->tokens.data[i], *before = i ? token - 1 : NULL;
        const bool is_joined = before && before->kind == WGSL_T_GREATER && before->joined;
        if (is_joined && token->kind == WGSL_T_ASSIGN) continue;
        discover(l->arena, &t, token, before);
    }
}

static const wgsl_token *lex(qn__arena *arena, const front_source *source, qn__str text, front_diag *diag) {
    lexer lexer = {.arena = arena,
                   .diag = diag,
                   .source = source,
                   .at = text.data,
                   .end = text.data + text.len,
                   .line_start = text.data,
                   .line = 1},
          *l = &lexer;
    memset(l->first, WGSL_T_COUNT, sizeof l->first);
    for (unsigned kind = WGSL_T_COUNT; kind-- > WGSL_T_ALIAS;)
        l->first[(unsigned char)*spellings[kind].text] = (uint8_t)kind;
    while (l->at < l->end && !diag->stopped)
        if (!skip_blank(l)) lex_token(l);
    l->at = l->end;
    push(l, WGSL_T_END, l->end);
    if (l->tokens.len > 1) { /* what lacks at the end lacks behind the last token */
        const wgsl_token *last = &l->tokens.data[l->tokens.len - 2];
        qn__vec_last(&l->tokens).loc = last->loc;
        if (last->loc.line) qn__vec_last(&l->tokens).loc.column += (uint16_t)last->text.len;
    }
    discover_templates(l);
    return l->tokens.data;
}

const wgsl_token *qn__wf_lex(qn__arena *arena, const front_source *source, front_diag *diag) {
    return lex(arena, source, source->text, diag);
}

const wgsl_token *qn__wf_lex_text(qn__arena *arena, const char *text, front_diag *diag) {
    return lex(arena, NULL, qn__str_of(text), diag);
}
