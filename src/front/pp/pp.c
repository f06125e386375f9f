/* The preprocessor's frame: the stack of files, the next token, the result; see pp.h. */
#include "front/pp/pp.h"

#include <string.h>

#include "front/pp/internal.h"

pp_file *qn__pp_file(front_pp *pp) { return &qn__vec_last(&pp->files); }

static front_token end_token(front_pp *pp) {
    front_lexer *lexer = &qn__pp_file(pp)->lexer;
    size_t column = (size_t)(lexer->at - lexer->line_start) + 1;
    front_loc loc = {lexer->line, column > UINT16_MAX ? UINT16_MAX : (uint16_t)column, lexer->source->index};
    return (front_token){.kind = FRONT_T_END, .flags = FRONT_LINE_START, .loc = loc, .text = ""};
}

static void stop(front_pp *pp, const char *what, uint64_t limit) {
    if (pp->diag->stopped) return;
    qn__diag_error(pp->diag, end_token(pp).loc, "%s: the limit is %llu", what, (unsigned long long)limit);
    pp->diag->stopped = true;
}

bool qn__pp_charge(front_pp *pp, uint64_t amount) {
    pp->work += amount;
    if (pp->work <= pp->max_work) return true;
    stop(pp, "too much work in preprocessing, in tokens handled", pp->max_work);
    return false;
}

void qn__pp_emit(front_pp *pp, const front_token *token) {
    if (pp->out.len >= pp->config.max_tokens)
        stop(pp, "the program is too large, in tokens after macro expansion", pp->config.max_tokens);
    else
        qn__vec_push(pp->arena, &pp->out, *token);
}

/* ---- files ---- */

bool qn__pp_enter(front_pp *pp, front_source *source, front_loc from) {
    pp->bytes += source->clean.len + 64;
    if (pp->bytes > PP_MAX_BYTES) {
        stop(pp, "too much text is included, in bytes", PP_MAX_BYTES);
        return false;
    }
    if (!source->is_main && !source->included_from.line) source->included_from = from;
    if (source->is_too_large)
        qn__diag_error(pp->diag, from, "'%s' has more than %d MiB, the most that a source may have",
                       source->path, FRONT_MAX_SOURCE_BYTES >> 20);
    pp_file file = {.first_condition = pp->conditions.len};
    qn__lex_init(&file.lexer, source, pp->names, pp->diag);
    qn__vec_push(pp->arena, &pp->files, file);
    return true;
}

/* -D and -U as a source of #define and #undef lines, so that they get the same checks and messages. */
static front_source *command_line(front_pp *pp) {
    qn__buf text;
    qn__buf_init(&text, pp->arena);
    for (size_t i = 0; i < pp->options->defines.len; i++) {
        const front_define *define = &pp->options->defines.data[i];
        size_t start = text.len;
        if (define->value)
            qn__buf_printf(&text, "#define %s %s", define->name, define->value);
        else
            qn__buf_printf(&text, "#undef %s", define->name);
        for (; start < text.len; start++)
            if (text.data[start] == '\n') text.data[start] = ' ';
        if (text.data[text.len - 1] == '\\') qn__buf_puts(&text, "/**/"); /* it would join the next line */
        qn__buf_putc(&text, '\n');
    }
    return qn__source_add(pp->config.sources, "<command line>", (qn__str){text.data, text.len});
}

/* ---- tokens ---- */

/* A macro's name that is met while the macro is open is never expanded, not even later (C99 6.10.3.4p2). */
static void mark_open(front_token *token) {
    if (token->kind == FRONT_T_IDENTIFIER && token->name->macro && token->name->macro->open)
        token->flags |= FRONT_NO_EXPAND;
}

static bool read_list(front_pp *pp, front_token *token) {
    pp_list *list = &qn__vec_last(&pp->lists);
    if (list->at == list->end) {
        if (list->macro) list->macro->open = false;
        pp->lists.len--;
        return false;
    }
    *token = *list->at++;
    if (list->moves) {
        token->loc = list->loc;
        token->flags |= FRONT_FROM_MACRO;
    }
    if (list->first) {
        token->flags = (uint8_t)((token->flags & ~(FRONT_LINE_START | FRONT_SPACE)) | list->first_flags);
        list->first = false;
    }
    return true;
}

/* The file has no more tokens: goes on in the one that included it. False: this was the last one. */
static bool leave_file(front_pp *pp) {
    if (pp->files.len == 1 || pp->in_call || pp->pragma_call) return false;
    qn__pp_close_conditions(pp, qn__pp_file(pp));
    pp->files.len--;
    return true;
}

void qn__pp_next(front_pp *pp, front_token *token) {
    for (;;) {
        if (pp->diag->stopped || !qn__pp_charge(pp, 1)) break;
        if (pp->lists.len > pp->base) {
            if (!read_list(pp, token)) continue;
            mark_open(token);
            return;
        }
        if (pp->isolated) break;
        qn__lex_next(&qn__pp_file(pp)->lexer, token);
        if (token->kind == FRONT_T_HASH && (token->flags & FRONT_LINE_START)) {
            qn__pp_directive(pp, token);
            continue;
        }
        if (token->kind == FRONT_T_END && leave_file(pp)) continue;
        mark_open(token);
        return;
    }
    *token = end_token(pp);
}

/* ---- running ---- */

static void note_origin(front_diag *diag, front_loc loc, void *user) {
    for (const front_pp *pp = user; pp; pp = pp->before)
        for (size_t i = 0; i < pp->expansions.len; i++) {
            const front_macro *macro = pp->expansions.data[i].macro;
            if (!qn__loc_same(pp->expansions.data[i].loc, loc) || !macro->loc.line) continue;
            qn__diag_note(diag, macro->loc, "expanded from macro '%.*s'",
                          (int)(macro->name->len < 80 ? macro->name->len : 80), macro->name->data);
            return;
        }
}

static const front_options no_options = {.std = 0};

static front_pp *start(const front_pp_config *config, front_source *main) {
    front_pp *pp = QN__NEW(config->arena, front_pp);
    pp->config = *config;
    if (!pp->config.max_tokens) pp->config.max_tokens = PP_MAX_TOKENS;
    if (!pp->config.max_include) pp->config.max_include = PP_MAX_INCLUDE;
    pp->max_work = 4 * (uint64_t)pp->config.max_tokens;
    pp->options = config->options ? config->options : &no_options;
    pp->arena = config->arena;
    pp->names = config->names;
    pp->diag = config->diag;
    pp->before = pp->diag->origin == note_origin ? pp->diag->origin_user : NULL;
    pp->diag->origin = note_origin;
    pp->diag->origin_user = pp;
    pp->name_defined = qn__name_str(pp->names, QN__STR("defined"));
    pp->name_has_include = qn__name_str(pp->names, QN__STR("__has_include"));
    pp->name_pragma = qn__name_str(pp->names, QN__STR("_Pragma"));
    pp->name_va_args = qn__name_str(pp->names, QN__STR("__VA_ARGS__"));
    main->is_main = true;
    pp->config.sources->unit++;
    qn__pp_predefine(pp);
    qn__pp_enter(pp, main, FRONT_NO_LOC);
    if (pp->options->defines.len) {
        front_source *source = command_line(pp);
        if (source) qn__pp_enter(pp, source, FRONT_NO_LOC);
    }
    return pp;
}

static bool may_expand(const front_pp *pp, const front_name *name) {
    return name->macro || name->predefined || name == pp->name_pragma;
}

/* Most tokens stand in a file and are no macro's name: they are read to where they stay. Stops before one that needs
   more. */
static void pass_plain(front_pp *pp) {
    while (pp->out.len < pp->config.max_tokens && !pp->diag->stopped && qn__pp_charge(pp, 1)) {
        qn__vec_reserve(pp->arena, &pp->out, pp->out.len + 1);
        front_token *token = &pp->out.data[pp->out.len];
        qn__lex_next(&qn__pp_file(pp)->lexer, token);
        if (token->kind == FRONT_T_END) return; /* which the lexer gives again */
        if (token->kind == FRONT_T_HASH && (token->flags & FRONT_LINE_START)) {
            const front_token hash = *token;
            qn__pp_directive(pp, &hash);
        } else if (token->kind == FRONT_T_IDENTIFIER && may_expand(pp, token->name)) {
            pp->ahead = *token;
            qn__vec_push(pp->arena, &pp->lists, (pp_list){.at = &pp->ahead, .end = &pp->ahead + 1});
            return;
        } else {
            pp->out.len++;
        }
    }
}

static front_pp *expand(const front_pp_config *config, front_source *main) {
    front_pp *pp = start(config, main);
    qn__vec_reserve(pp->arena, &pp->out, main->clean.len / 3 + 16);
    front_token token;
    for (;;) {
        if (!pp->lists.len) pass_plain(pp);
        qn__pp_next_expanded(pp, &token);
        if (token.kind == FRONT_T_END) break;
        if (token.kind == FRONT_T_IDENTIFIER && token.name == pp->name_pragma)
            qn__pp_pragma_operator(pp, token.loc);
        else
            qn__pp_emit(pp, &token);
    }
    qn__pp_close_conditions(pp, &pp->files.data[0]);
    qn__vec_push(pp->arena, &pp->out, token);
    return pp;
}

front_tokens qn__pp_expand(const front_pp_config *config, front_source *main) {
    front_pp *pp = expand(config, main);
    return (front_tokens){pp->out.data, pp->out.len};
}

/* ---- tokens of the language ---- */

/* Joins the string literals that begin at `at` (phase 6); gives the first one behind them. */
static size_t join_strings(front_pp *pp, size_t at, front_token *result) {
    qn__buf text;
    qn__buf_init(&text, pp->arena);
    for (; at < pp->out.len && pp->out.data[at].kind == FRONT_T_STRING; at++)
        qn__lex_string(&pp->out.data[at], pp->diag, &text);
    qn__str *string = QN__NEW(pp->arena, qn__str);
    *string = (qn__str){text.data ? text.data : "", text.len};
    result->string = string;
    return at;
}

static bool floats_are_single(const front_pp *pp) {
    return pp->options->single_precision_constant || pp->config.target.lacks_f64;
}

front_tokens qn__pp_run(const front_pp_config *config, front_source *main) {
    front_pp *pp = expand(config, main);
    bool single = floats_are_single(pp);
    front_token *data = pp->out.data;
    size_t len = 0;
    for (size_t i = 0; i < pp->out.len;) {
        front_token *token = &data[i];
        if (token->kind == FRONT_T_STRING)
            i = join_strings(pp, i, token);
        else
            i++;
        if (!qn__lex_convert(token, pp->diag, single)) continue;
        if (token != &data[len]) data[len] = *token;
        len++;
    }
    return (front_tokens){data, len};
}

/* ---- printing ---- */

static bool is_word(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/* Whether two tokens that touch would be read as others; being wrong costs a blank. */
static bool might_paste(const front_token *a, const front_token *b) {
    static const char *const pairs[] = {"->", "/*", "<:", "<%", "%:", "%>", ":>"};
    if (!a->len || !b->len) return false;
    char last = a->text[a->len - 1], first = b->text[0];
    if (is_word(last) && is_word(first)) return true;
    if (a->kind == FRONT_T_NUMBER && (first == '.' || (strchr("eEpP", last) && strchr("+-", first))))
        return true;
    if (last == '.' && (first == '.' || b->kind == FRONT_T_NUMBER)) return true;
    if (first == '=' && strchr("+-*/%&|^<>=!", last)) return true;
    if (first == last && strchr("+-&|<>#/", last)) return true;
    for (size_t i = 0; i < QN__COUNT(pairs); i++)
        if (last == pairs[i][0] && first == pairs[i][1]) return true;
    return false;
}

void qn__pp_print(qn__buf *out, front_tokens tokens) {
    for (size_t i = 0; i < tokens.len; i++) {
        const front_token *token = &tokens.data[i];
        bool new_line = (token->flags & FRONT_LINE_START) || token->kind == FRONT_T_PRAGMA ||
                        (i && token[-1].kind == FRONT_T_PRAGMA);
        if (i && new_line)
            qn__buf_putc(out, '\n');
        else if (i && ((token->flags & FRONT_SPACE) || might_paste(token - 1, token)))
            qn__buf_putc(out, ' ');
        qn__buf_append(out, token->text, token->len);
    }
}
