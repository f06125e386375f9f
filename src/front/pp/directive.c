/* Directives: conditionals, definitions, #line, #error (C99 6.10.1 to 6.10.5). Skipped groups are read line
   by line without making tokens of them. */
#include <string.h>

#include "front/pp/internal.h"

enum { SHOWN = 200 }; /* bytes of source text that a message repeats */

static int shown(size_t len) { return len > SHOWN ? SHOWN : (int)len; }

static front_lexer *lexer_of(front_pp *pp) { return &qn__pp_file(pp)->lexer; }

/* The tokens up to the end of the line. */
static pp_tokens read_line(front_pp *pp) {
    pp_tokens line = {0};
    front_token token;
    for (;;) {
        qn__lex_next(lexer_of(pp), &token);
        if (token.kind == FRONT_T_END || !qn__pp_charge(pp, 1)) return line;
        qn__vec_push(pp->arena, &line, token);
    }
}

static pp_tokens read_expanded_line(front_pp *pp) {
    pp_tokens line = read_line(pp), expanded = {0};
    qn__pp_expand_list(pp, line.data, line.len, &expanded);
    return expanded;
}

static void expect_line_end(front_pp *pp, const char *directive) {
    front_token token;
    qn__lex_next(lexer_of(pp), &token);
    if (token.kind == FRONT_T_END) return;
    qn__diag_warning(pp->diag, FRONT_WARN_PREPROCESSOR, token.loc, "text behind #%s is ignored", directive);
    qn__diag_hint(pp->diag, "make it a comment");
}

/* ---- conditionals ---- */

static bool evaluate_if(front_pp *pp, front_loc loc) {
    bool outer = pp->in_if;
    pp->in_if = true;
    pp_tokens line = read_expanded_line(pp);
    pp->in_if = outer;
    return qn__pp_evaluate(pp, line.data, line.len, loc);
}

/* The name behind #ifdef; NULL: reported. */
static front_name *read_macro_name(front_pp *pp, const char *directive, front_token *token) {
    qn__lex_next(lexer_of(pp), token);
    if (token->kind == FRONT_T_IDENTIFIER) return token->name;
    qn__diag_error(pp->diag, token->loc, "#%s needs the name of a macro", directive);
    return NULL;
}

static bool evaluate_ifdef(front_pp *pp, const char *directive) {
    front_token token;
    front_name *name = read_macro_name(pp, directive, &token);
    if (!name) return false;
    expect_line_end(pp, directive);
    return qn__pp_macro(pp, name) || name == pp->name_has_include;
}

typedef enum conditional {
    NOT_CONDITIONAL,
    IF,
    IFDEF,
    IFNDEF,
    ELIF,
    ELIFDEF,
    ELIFNDEF,
    ELSE,
    ENDIF
} conditional;

static conditional conditional_of(const front_token *token) {
    static const char *const names[] = {"",        "if",       "ifdef", "ifndef", "elif",
                                        "elifdef", "elifndef", "else",  "endif"};
    for (size_t i = IF; token->kind == FRONT_T_IDENTIFIER && i < QN__COUNT(names); i++)
        if (!strcmp(token->name->data, names[i])) return (conditional)i;
    return NOT_CONDITIONAL;
}

/* Whether the group behind #if, #ifdef, #elif and so on is to be read. */
static bool evaluate(front_pp *pp, conditional which, const front_token *token) {
    switch (which) {
    case IF:
    case ELIF: return evaluate_if(pp, token->loc);
    case IFDEF:
    case ELIFDEF: return evaluate_ifdef(pp, token->name->data);
    case IFNDEF:
    case ELIFNDEF: return !evaluate_ifdef(pp, token->name->data);
    default: return true;
    }
}

/* #elif, #else or #endif of the innermost condition. True: the group behind it is to be read. */
static bool next_group(front_pp *pp, conditional which, const front_token *token) {
    pp_condition *condition = &qn__vec_last(&pp->conditions);
    if (condition->seen_else && which != ENDIF) {
        qn__diag_error(pp->diag, token->loc, "#%s behind #else", token->name->data);
        qn__diag_note(pp->diag, condition->loc, "the condition begins here");
    }
    if (which == ENDIF) {
        expect_line_end(pp, "endif");
        pp->conditions.len--;
        return true;
    }
    if (which == ELSE) {
        condition->seen_else = true;
        expect_line_end(pp, "else");
    }
    if (condition->taken) return false;
    bool value = evaluate(pp, which, token);
    qn__vec_last(&pp->conditions).taken = value;
    return value;
}

/* Reads on to the group of the innermost condition that is to be read, or behind its #endif. */
static void skip_groups(front_pp *pp) {
    front_lexer *lexer = lexer_of(pp);
    unsigned depth = 0;
    front_token token;
    for (bool reading = false; !reading;) {
        qn__lex_skip_line(lexer);
        lexer->directive = false;
        lexer->quiet = true;
        qn__lex_next(lexer, &token);
        lexer->quiet = false;
        if (token.kind == FRONT_T_END) return;
        lexer->directive = true;
        if (token.kind != FRONT_T_HASH || !(token.flags & FRONT_LINE_START)) continue;
        qn__lex_next(lexer, &token);
        conditional which = conditional_of(&token);
        if (which >= IF && which <= IFNDEF)
            depth++;
        else if (which != NOT_CONDITIONAL && !depth)
            reading = next_group(pp, which, &token);
        else if (which == ENDIF)
            depth--;
    }
}

static void do_conditional(front_pp *pp, conditional which, const front_token *token) {
    if (which <= IFNDEF) {
        bool value = evaluate(pp, which, token);
        qn__vec_push(pp->arena, &pp->conditions, (pp_condition){.loc = token->loc, .taken = value});
        if (!value) skip_groups(pp);
    } else if (pp->conditions.len <= qn__pp_file(pp)->first_condition) {
        qn__diag_error(pp->diag, token->loc, "#%s without #if", token->name->data);
    } else if (which == ENDIF) {
        next_group(pp, ENDIF, token);
    } else {
        qn__vec_last(&pp->conditions).taken = true; /* the group just read */
        next_group(pp, which, token);
        skip_groups(pp);
    }
}

void qn__pp_close_conditions(front_pp *pp, const pp_file *file) {
    for (; pp->conditions.len > file->first_condition; pp->conditions.len--) {
        qn__diag_error(pp->diag, qn__vec_last(&pp->conditions).loc, "#if without #endif");
        qn__diag_hint(pp->diag, "add #endif where the condition ends");
    }
}

/* ---- #define, #undef ---- */

static bool same_token(const front_token *a, const front_token *b, bool first) {
    uint8_t mask = FRONT_PASTE | FRONT_STRINGIZE | (first ? 0 : FRONT_SPACE);
    if (a->kind != b->kind || a->len != b->len || ((a->flags ^ b->flags) & mask)) return false;
    return !memcmp(a->text, b->text, a->len);
}

static bool same_macro(const front_macro *a, const front_macro *b) {
    if (a->function_like != b->function_like || a->variadic != b->variadic ||
        a->num_params != b->num_params || a->len != b->len)
        return false;
    for (uint32_t i = 0; i < a->num_params; i++)
        if (a->params[i] != b->params[i]) return false;
    for (uint32_t i = 0; i < a->len; i++)
        if (!same_token(&a->body[i], &b->body[i], !i)) return false;
    return true;
}

/* `defined` and what stands for it cannot be macros; those that depend on their place should not be. */
static bool check_name(front_pp *pp, const front_token *token, const char *directive) {
    if (token->name == pp->name_defined || token->name == pp->name_has_include ||
        token->name == pp->name_pragma || token->name == pp->name_va_args) {
        qn__diag_error(pp->diag, token->loc, "#%s of '%s', which is a part of the language", directive,
                       token->name->data);
        return false;
    }
    const front_macro *old = qn__pp_macro(pp, token->name);
    if (old && old->dynamic)
        qn__diag_warning(pp->diag, FRONT_WARN_MACRO_REDEFINED, token->loc, "#%s of the built-in macro %s",
                         directive, token->name->data);
    return true;
}

static void do_define(front_pp *pp, const front_token *directive) {
    (void)directive;
    front_lexer *lexer = lexer_of(pp);
    front_token token;
    front_name *name = read_macro_name(pp, "define", &token);
    if (!name || !check_name(pp, &token, "define")) return;
    front_macro *macro = QN__NEW(pp->arena, front_macro);
    macro->name = name;
    macro->loc = token.loc;
    macro->function_like = *lexer->at == '(';
    if (!macro->function_like && lexer->at < lexer->end && !strchr(" \t\r\n\f\v/", *lexer->at))
        qn__diag_warning(pp->diag, FRONT_WARN_PREPROCESSOR, token.loc,
                         "white space is missing behind the name %s", name->data);
    if (!qn__pp_read_definition(pp, lexer, macro)) return;
    const front_macro *old = name->macro;
    if (old && !old->predefined && !same_macro(old, macro)) {
        qn__diag_warning(pp->diag, FRONT_WARN_MACRO_REDEFINED, token.loc, "macro '%s' is defined anew",
                         name->data);
        qn__diag_note(pp->diag, old->loc, "the definition before is here");
    }
    name->macro = macro;
    name->predefined = 0;
}

static void do_undef(front_pp *pp, const front_token *directive) {
    (void)directive;
    front_token token;
    front_name *name = read_macro_name(pp, "undef", &token);
    if (!name || !check_name(pp, &token, "undef")) return;
    expect_line_end(pp, "undef");
    name->macro = NULL;
    name->predefined = 0;
}

/* ---- #line, #error, #warning, #pragma, #include ---- */

/* Marks are kept in the order of their lines; a file read twice sets them twice. */
static void add_mark(front_pp *pp, front_source *source, front_line_mark mark) {
    size_t at = source->marks.len;
    while (at && source->marks.data[at - 1].line >= mark.line) at--;
    if (at < source->marks.len && source->marks.data[at].line == mark.line) {
        source->marks.data[at] = mark;
        return;
    }
    qn__vec_push(pp->arena, &source->marks, mark);
    memmove(source->marks.data + at + 1, source->marks.data + at,
            (source->marks.len - 1 - at) * sizeof *source->marks.data);
    source->marks.data[at] = mark;
}

/* #line NUMBER ["FILE"], and `# NUMBER "FILE" FLAGS` as preprocessors write it. */
static void set_line(front_pp *pp, const pp_tokens *line, front_loc loc) {
    uint64_t number = 0;
    const front_token *token = line->data;
    bool good = line->len && token->kind == FRONT_T_NUMBER;
    for (uint32_t i = 0; good && i < token->len; i++) {
        good = token->text[i] >= '0' && token->text[i] <= '9' && number < INT32_MAX;
        number = number * 10 + (uint64_t)(token->text[i] - '0');
    }
    if (!good || number > INT32_MAX) {
        qn__diag_error(pp->diag, loc, "#line needs a line number, in decimal digits");
        return;
    }
    front_lexer *lexer = lexer_of(pp);
    front_loc here = {lexer->line, 1, lexer->source->index};
    uint16_t name = qn__source_resolve(pp->config.sources, here).file;
    if (line->len > 1 && line->data[1].kind != FRONT_T_STRING) {
        qn__diag_error(pp->diag, line->data[1].loc, "#line needs a file name in quotes behind the number");
        return;
    }
    if (line->len > 1) {
        qn__buf text;
        qn__buf_init(&text, pp->arena);
        qn__lex_string(&line->data[1], pp->diag, &text);
        name = qn__source_name(pp->config.sources, text.data ? text.data : "");
    }
    add_mark(pp, lexer->source, (front_line_mark){lexer->line + 1, (uint32_t)number, name});
}

static void do_line(front_pp *pp, const front_token *directive) {
    pp_tokens line = read_expanded_line(pp);
    set_line(pp, &line, directive->loc);
}

static void do_error(front_pp *pp, const front_token *directive) {
    qn__str text = qn__lex_rest(lexer_of(pp));
    qn__diag_error(pp->diag, directive->loc, "#error %.*s", shown(text.len), text.data);
}

static void do_warning(front_pp *pp, const front_token *directive) {
    qn__str text = qn__lex_rest(lexer_of(pp));
    qn__diag_warning(pp->diag, FRONT_WARN_USER, directive->loc, "#warning %.*s", shown(text.len), text.data);
}

static void do_pragma(front_pp *pp, const front_token *directive) {
    pp_tokens line = read_line(pp);
    qn__pp_pragma(pp, line.data, line.len, directive->loc);
}

static void do_include(front_pp *pp, const front_token *directive) { qn__pp_include(pp, directive->loc); }

typedef struct directive {
    const char *name;
    void (*act)(front_pp *pp, const front_token *token);
} directive;

static const directive directives[] = {{"define", do_define},  {"include", do_include}, {"undef", do_undef},
                                       {"pragma", do_pragma},  {"line", do_line},       {"error", do_error},
                                       {"warning", do_warning}};

static void do_named(front_pp *pp, const front_token *token) {
    conditional which = conditional_of(token);
    if (which != NOT_CONDITIONAL) {
        do_conditional(pp, which, token);
        return;
    }
    for (size_t i = 0; i < QN__COUNT(directives); i++) {
        if (strcmp(token->name->data, directives[i].name)) continue;
        directives[i].act(pp, token);
        return;
    }
    qn__diag_error(pp->diag, token->loc, "there is no directive #%.*s", shown(token->len), token->text);
}

/* An #include makes another file the current one, so the lexer of this one is looked up again behind it. */
void qn__pp_directive(front_pp *pp, const front_token *hash) {
    size_t file = pp->files.len - 1;
    lexer_of(pp)->directive = true;
    front_token token;
    qn__lex_next(lexer_of(pp), &token);
    if (token.kind == FRONT_T_IDENTIFIER) {
        do_named(pp, &token);
    } else if (token.kind == FRONT_T_NUMBER) {
        pp_tokens line = {0}, rest;
        qn__vec_push(pp->arena, &line, token);
        rest = read_line(pp);
        if (rest.len) qn__vec_push(pp->arena, &line, rest.data[0]);
        set_line(pp, &line, token.loc);
    } else if (token.kind != FRONT_T_END) {
        qn__diag_error(pp->diag, hash->loc, "the name of a directive is expected behind '#'");
    }
    front_lexer *lexer = &pp->files.data[file].lexer;
    if (lexer->directive) qn__lex_skip_line(lexer);
    lexer->directive = false;
}
