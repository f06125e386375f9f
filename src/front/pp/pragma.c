/* Pragmas, as lines and as _Pragma("..."). Those that mean something to the parser become tokens. */
#include <string.h>

#include "front/pp/internal.h"

enum { SHOWN = 80 };

static bool is_word(const front_token *token, const char *word) {
    return token->kind == FRONT_T_IDENTIFIER && !strcmp(token->name->data, word);
}

/* The pragma's spelling goes along, for `cc -E`. */
static void emit(front_pp *pp, front_pragma pragma, const front_token *tokens, size_t len, front_loc loc) {
    qn__buf text;
    qn__buf_init(&text, pp->arena);
    qn__buf_puts(&text, "#pragma");
    for (size_t i = 0; i < len; i++) {
        if (!i || (tokens[i].flags & FRONT_SPACE)) qn__buf_putc(&text, ' ');
        qn__buf_append(&text, tokens[i].text, tokens[i].len);
    }
    front_token token = {.kind = FRONT_T_PRAGMA,
                         .flags = FRONT_LINE_START,
                         .loc = loc,
                         .text = text.data,
                         .len = (uint32_t)text.len};
    token.pragma = qn__arena_copy(pp->arena, &pragma, sizeof pragma);
    qn__pp_emit(pp, &token);
}

/* unroll | unroll N | unroll(N) | nounroll, where N may be a macro. */
static void do_unroll(front_pp *pp, const front_token *tokens, size_t len, front_loc loc) {
    front_pragma pragma = {.kind = FRONT_PRAGMA_UNROLL, .unroll = is_word(tokens, "unroll") ? -1 : 1};
    pp_tokens operand = {0};
    qn__pp_expand_list(pp, tokens + 1, len - 1, &operand);
    size_t from = 0, to = operand.len;
    if (to >= 2 && operand.data[0].kind == FRONT_T_LPAREN && operand.data[to - 1].kind == FRONT_T_RPAREN)
        from++, to--;
    if (operand.len && pragma.unroll < 0) {
        front_token number = to - from == 1 ? operand.data[from] : (front_token){0};
        if (number.kind == FRONT_T_NUMBER) qn__lex_number(&number, pp->diag, false);
        if (number.kind != FRONT_T_INT || number.integer > INT32_MAX) {
            qn__diag_error(pp->diag, operand.data[0].loc, "#pragma unroll needs a positive integer");
            return;
        }
        pragma.unroll = number.integer ? (int32_t)number.integer : 1;
    }
    emit(pp, pragma, tokens, len, loc);
}

static bool read_switch(const front_token *token, front_switch *setting) {
    static const char *const names[] = {[FRONT_OFF] = "OFF", [FRONT_ON] = "ON", [FRONT_DEFAULT] = "DEFAULT"};
    for (size_t i = 0; i < QN__COUNT(names); i++) {
        if (!is_word(token, names[i])) continue;
        *setting = (front_switch)i;
        return true;
    }
    return false;
}

static void do_contract(front_pp *pp, const front_token *tokens, size_t len, front_loc loc) {
    front_pragma pragma = {.kind = FRONT_PRAGMA_FP_CONTRACT};
    if (len == 3 && read_switch(&tokens[2], &pragma.setting))
        emit(pp, pragma, tokens, len, loc);
    else
        qn__diag_warning(pp->diag, FRONT_WARN_UNKNOWN_PRAGMA, loc,
                         "FP_CONTRACT needs ON, OFF or DEFAULT; ignored");
}

/* An extension is known if the macro of its name is predefined, under this name or once. */
static bool is_extension(front_pp *pp, const front_token *token) {
    if (is_word(token, "all")) return true;
    const front_macro *macro = qn__pp_macro(pp, token->name);
    return macro && macro->predefined && !strncmp(token->name->data, "cl_", 3);
}

/* OPENCL EXTENSION name : behaviour */
static void do_extension(front_pp *pp, const front_token *tokens, size_t len, front_loc loc) {
    front_pragma pragma = {.kind = FRONT_PRAGMA_EXTENSION};
    bool good = len == 5 && tokens[2].kind == FRONT_T_IDENTIFIER && tokens[3].kind == FRONT_T_COLON;
    bool on = good && (is_word(&tokens[4], "enable") || is_word(&tokens[4], "require"));
    bool off = good && (is_word(&tokens[4], "disable") || is_word(&tokens[4], "warn"));
    if (!on && !off) {
        qn__diag_warning(pp->diag, FRONT_WARN_UNKNOWN_PRAGMA, loc,
                         "#pragma OPENCL EXTENSION needs 'name : enable' or 'name : disable'; ignored");
        return;
    }
    if (!is_extension(pp, &tokens[2])) {
        qn__diag_warning(pp->diag, FRONT_WARN_EXTENSION, tokens[2].loc,
                         "the extension '%.*s' is not supported here",
                         (int)(tokens[2].len < SHOWN ? tokens[2].len : SHOWN), tokens[2].text);
        return;
    }
    pragma.extension = (qn__str){tokens[2].name->data, tokens[2].name->len};
    pragma.setting = on ? FRONT_ON : FRONT_OFF;
    emit(pp, pragma, tokens, len, loc);
}

void qn__pp_pragma(front_pp *pp, const front_token *tokens, size_t len, front_loc loc) {
    if (!len) return;
    bool open_cl = is_word(tokens, "OPENCL"), standard = is_word(tokens, "STDC");
    if (is_word(tokens, "once")) {
        qn__pp_file(pp)->lexer.source->once = true;
    } else if (is_word(tokens, "unroll") || is_word(tokens, "nounroll")) {
        do_unroll(pp, tokens, len, loc);
    } else if (open_cl && len > 1 && is_word(&tokens[1], "EXTENSION")) {
        do_extension(pp, tokens, len, loc);
    } else if ((open_cl || standard) && len > 1 && is_word(&tokens[1], "FP_CONTRACT")) {
        do_contract(pp, tokens, len, loc);
    } else {
        int length = (int)(tokens[0].len < SHOWN ? tokens[0].len : SHOWN);
        qn__diag_warning(pp->diag, FRONT_WARN_UNKNOWN_PRAGMA, loc, "unknown pragma '%.*s' is ignored", length,
                         tokens[0].text);
    }
}

/* ---- _Pragma ---- */

/* C99 6.10.9: the quotes go, \" and \\ lose their backslash. */
static qn__str destringize(front_pp *pp, const front_token *string) {
    qn__buf text;
    qn__buf_init(&text, pp->arena);
    for (uint32_t i = 1; i + 1 < string->len; i++) {
        char c = string->text[i];
        if (c == '\\' && i + 2 < string->len && (string->text[i + 1] == '"' || string->text[i + 1] == '\\'))
            c = string->text[++i];
        qn__buf_putc(&text, c);
    }
    return (qn__str){text.data ? text.data : "", text.len};
}

void qn__pp_pragma_operator(front_pp *pp, front_loc loc) {
    front_token open, string, close = {0};
    pp->pragma_call = true;
    qn__pp_next_expanded(pp, &open);
    qn__pp_next_expanded(pp, &string);
    if (open.kind == FRONT_T_LPAREN && string.kind == FRONT_T_STRING) qn__pp_next_expanded(pp, &close);
    pp->pragma_call = false;
    if (close.kind != FRONT_T_RPAREN) {
        qn__diag_error(pp->diag, loc, "_Pragma needs a string in parentheses");
        return;
    }
    front_lexer lexer;
    qn__str text = destringize(pp, &string);
    if (!qn__pp_charge(pp, text.len / sizeof(front_token) + 1)) return;
    qn__lex_init_text(&lexer, text, loc, pp->names, pp->diag);
    pp_tokens line = {0};
    front_token token;
    for (qn__lex_next(&lexer, &token); token.kind != FRONT_T_END && qn__pp_charge(pp, 1);
         qn__lex_next(&lexer, &token))
        qn__vec_push(pp->arena, &line, token);
    qn__pp_pragma(pp, line.data, line.len, loc);
}
