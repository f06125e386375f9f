/* Macros: reading definitions, expanding calls (C99 6.10.3).
   A call pushes its replacement on the stack of lists and marks the macro open until that list has been read.
   Arguments are collected unexpanded; each is expanded on its own, once, when the body first asks for it. */
#include <string.h>

#include "front/pp/internal.h"

/* ---- definitions ---- */

static int find_parameter(const front_macro *macro, const front_name *name) {
    for (uint32_t i = 0; i < macro->num_params; i++)
        if (macro->params[i] == name) return (int)i;
    return -1;
}

static bool add_parameter(front_pp *pp, front_macro *macro, const front_token *token, front_name *name) {
    if (find_parameter(macro, name) >= 0) {
        qn__diag_error(pp->diag, token->loc, "two parameters of the macro are called '%.*s'", (int)token->len,
                       token->text);
        return false;
    }
    if (macro->num_params == PP_MAX_PARAMETERS) {
        qn__diag_error(pp->diag, token->loc, "the macro has more than %d parameters", PP_MAX_PARAMETERS);
        return false;
    }
    if (!macro->params) macro->params = QN__NEW_ARRAY(pp->arena, front_name *, PP_MAX_PARAMETERS);
    macro->params[macro->num_params++] = name;
    return true;
}

/* '(' [ name {',' name} [',' '...'] | name '...' | '...' ] ')', behind the parenthesis. */
static bool read_parameters(front_pp *pp, front_lexer *lexer, front_macro *macro) {
    front_token token;
    qn__lex_next(lexer, &token);
    if (token.kind == FRONT_T_RPAREN) return true;
    for (;; qn__lex_next(lexer, &token)) {
        front_name *name = token.kind == FRONT_T_IDENTIFIER ? token.name : NULL;
        if (name == pp->name_va_args) name = NULL;
        if (token.kind == FRONT_T_ELLIPSIS) {
            macro->variadic = true;
            if (!add_parameter(pp, macro, &token, pp->name_va_args)) return false;
        } else if (!name) {
            qn__diag_error(pp->diag, token.loc, "the name of a macro's parameter is expected here");
            return false;
        } else if (!add_parameter(pp, macro, &token, name)) {
            return false;
        }
        qn__lex_next(lexer, &token);
        if (token.kind == FRONT_T_ELLIPSIS && !macro->variadic) {
            macro->variadic = true;
            qn__lex_next(lexer, &token);
        }
        if (token.kind == FRONT_T_RPAREN) return true;
        if (token.kind == FRONT_T_COMMA && !macro->variadic) continue;
        qn__diag_error(pp->diag, token.loc, "%s is expected in the macro's parameter list",
                       macro->variadic ? "')'" : "',' or ')'");
        return false;
    }
}

/* Makes parameters of the names that are, and flags of # and ##. */
static bool read_body(front_pp *pp, front_lexer *lexer, front_macro *macro, front_token token,
                      pp_tokens *body) {
    bool stringize = false;
    for (; token.kind != FRONT_T_END; qn__lex_next(lexer, &token)) {
        int parameter = token.kind == FRONT_T_IDENTIFIER ? find_parameter(macro, token.name) : -1;
        if (token.kind == FRONT_T_HASH_HASH) {
            if (!body->len || stringize) {
                qn__diag_error(pp->diag, token.loc, "'##' cannot begin a macro's body");
                return false;
            }
            qn__vec_last(body).flags |= FRONT_PASTE;
            macro->substitutes = true;
            continue;
        }
        if (stringize && parameter < 0) {
            qn__diag_error(pp->diag, token.loc, "'#' must stand before a parameter of the macro");
            return false;
        }
        if (token.kind == FRONT_T_HASH && macro->function_like) {
            stringize = true;
            continue;
        }
        if (token.kind == FRONT_T_IDENTIFIER && token.name == pp->name_va_args && parameter < 0)
            qn__diag_error(pp->diag, token.loc, "__VA_ARGS__ can only stand in a macro that ends in '...'");
        if (parameter >= 0) {
            token.kind = FRONT_T_PARAMETER;
            token.integer = (uint64_t)parameter;
            if (stringize) token.flags |= FRONT_STRINGIZE;
            macro->substitutes = true;
        }
        stringize = false;
        if (!qn__pp_charge(pp, 1)) return false;
        qn__vec_push(pp->arena, body, token);
    }
    if (stringize || (body->len && (qn__vec_last(body).flags & FRONT_PASTE))) {
        qn__diag_error(pp->diag, token.loc, "'%s' cannot end a macro's body", stringize ? "#" : "##");
        return false;
    }
    return true;
}

bool qn__pp_read_definition(front_pp *pp, front_lexer *lexer, front_macro *macro) {
    front_token token;
    pp_tokens body = {0};
    qn__lex_next(lexer, &token);
    if (macro->function_like) {
        if (!read_parameters(pp, lexer, macro)) return false;
        qn__lex_next(lexer, &token);
    }
    if (!read_body(pp, lexer, macro, token, &body)) return false;
    if (body.len) body.data[0].flags &= (uint8_t)~FRONT_SPACE;
    macro->body = body.data;
    macro->len = (uint32_t)body.len;
    return true;
}

front_macro *qn__pp_macro(front_pp *pp, front_name *name) {
    if (name->macro) return name->macro;
    return name->predefined ? qn__pp_make_predefined(pp, name) : NULL;
}

/* ---- arguments ---- */

/* One argument: `len` tokens of pp->scratch, and its expansion, made when needed. */
typedef struct argument {
    size_t start, len;
    size_t expanded_start, expanded_len;
    bool expanded;
} argument;

/* Reads up to the ')' that ends the call. Commas part arguments, all but those of the variable one. False:
   there is no such ')'. *given counts the arguments; those beyond the macro's are read and forgotten. */
static bool read_arguments(front_pp *pp, const front_macro *macro, argument *args, uint32_t *given) {
    front_token token;
    unsigned parentheses = 0;
    uint32_t last = macro->num_params ? macro->num_params - 1 : 0;
    *given = 1;
    args[0] = (argument){.start = pp->scratch.len};
    for (;;) {
        qn__pp_next(pp, &token);
        if (token.kind == FRONT_T_END) return false;
        if (token.kind == FRONT_T_RPAREN && !parentheses--) return true;
        if (token.kind == FRONT_T_LPAREN) parentheses++;
        bool parts = token.kind == FRONT_T_COMMA && !parentheses && !(macro->variadic && *given == last + 1);
        if (parts) {
            if (++*given <= macro->num_params) args[*given - 1] = (argument){.start = pp->scratch.len};
            continue;
        }
        if (*given > last + 1) continue;
        if (token.flags & FRONT_LINE_START)
            token.flags = (uint8_t)((token.flags & ~FRONT_LINE_START) | FRONT_SPACE);
        qn__vec_push(pp->arena, &pp->scratch, token);
        args[*given - 1].len++;
    }
}

static bool check_count(front_pp *pp, const front_macro *macro, const front_token *use, const argument *args,
                        uint32_t given) {
    uint32_t wanted = macro->num_params;
    if (!wanted && given == 1 && !args[0].len) return true;
    if (given == wanted || (macro->variadic && given + 1 == wanted)) return true;
    if (given == 1 && !args[0].len && wanted != 1) given = 0;
    qn__diag_error(pp->diag, use->loc, "macro '%.*s' takes %s%u argument%s, but %u %s given", (int)use->len,
                   use->text, macro->variadic ? "at least " : "",
                   (unsigned)(macro->variadic ? wanted - 1 : wanted),
                   wanted - macro->variadic == 1 ? "" : "s", (unsigned)given, given == 1 ? "is" : "are");
    if (macro->loc.line) qn__diag_note(pp->diag, macro->loc, "the macro is defined here");
    return false;
}

/* What an empty list points to, so that no arithmetic is done on NULL. */
static const front_token nothing;

void qn__pp_expand_list(front_pp *pp, const front_token *tokens, size_t len, pp_tokens *to) {
    size_t base = pp->base;
    bool isolated = pp->isolated, in_call = pp->in_call;
    pp->base = pp->lists.len;
    pp->isolated = true;
    pp->in_call = false;
    if (!len) tokens = &nothing;
    qn__vec_push(pp->arena, &pp->lists, (pp_list){.at = tokens, .end = tokens + len});
    front_token token;
    for (qn__pp_next_expanded(pp, &token); token.kind != FRONT_T_END; qn__pp_next_expanded(pp, &token))
        qn__vec_push(pp->arena, to, token);
    for (; pp->lists.len > pp->base; pp->lists.len--)
        if (qn__vec_last(&pp->lists).macro) qn__vec_last(&pp->lists).macro->open = false;
    pp->base = base;
    pp->isolated = isolated;
    pp->in_call = in_call;
}

/* The scratch stack may move while it grows, so the argument is copied before it is expanded. */
static void expand_argument(front_pp *pp, argument *arg) {
    if (arg->expanded) return;
    arg->expanded = true;
    arg->expanded_start = pp->scratch.len;
    if (!arg->len || !qn__pp_charge(pp, arg->len)) return;
    front_token *copy = qn__arena_copy(pp->arena, pp->scratch.data + arg->start, arg->len * sizeof *copy);
    pp_tokens result = {0};
    qn__pp_expand_list(pp, copy, arg->len, &result);
    arg->expanded_start = pp->scratch.len;
    arg->expanded_len = result.len;
    for (size_t i = 0; i < result.len; i++) qn__vec_push(pp->arena, &pp->scratch, result.data[i]);
}

/* ---- # and ## ---- */

/* The argument's spelling as a string literal: white space becomes one blank, quotes and backslashes within
   literals are escaped. */
static front_token stringize(front_pp *pp, const argument *arg, const front_token *parameter) {
    qn__buf text;
    qn__buf_init(&text, pp->arena);
    qn__buf_putc(&text, '"');
    for (size_t i = 0; i < arg->len; i++) {
        const front_token *token = &pp->scratch.data[arg->start + i];
        if (i && (token->flags & FRONT_SPACE)) qn__buf_putc(&text, ' ');
        bool literal = token->kind == FRONT_T_STRING || token->kind == FRONT_T_CHAR;
        if (!qn__pp_charge(pp, 1 + token->len / sizeof *token)) break;
        for (uint32_t k = 0; k < token->len; k++) {
            if (literal && (token->text[k] == '"' || token->text[k] == '\\')) qn__buf_putc(&text, '\\');
            qn__buf_putc(&text, token->text[k]);
        }
    }
    qn__buf_putc(&text, '"');
    front_token result = {.kind = FRONT_T_STRING, .text = text.data, .len = (uint32_t)text.len};
    result.flags = parameter->flags & (FRONT_SPACE | FRONT_LINE_START);
    return result;
}

/* Makes `left` the token that both spell together. False: reported, `left` is unchanged. */
static bool paste(front_pp *pp, front_token *left, const front_token *right, front_loc loc) {
    uint8_t spaces = left->flags & (FRONT_SPACE | FRONT_LINE_START);
    if (right->kind == FRONT_T_PLACEMARKER) return true;
    if (left->kind == FRONT_T_PLACEMARKER) {
        *left = *right;
        left->flags = (uint8_t)((right->flags & ~(FRONT_SPACE | FRONT_LINE_START)) | spaces);
        return true;
    }
    size_t len = (size_t)left->len + right->len;
    if (!qn__pp_charge(pp, 2 + len / sizeof *left)) return true;
    char *text = qn__arena_alloc(pp->arena, len + 1);
    memcpy(text, left->text, left->len);
    memcpy(text + left->len, right->text, right->len);
    front_lexer lexer;
    front_token result;
    qn__lex_init_text(&lexer, (qn__str){text, len}, loc, pp->names, pp->diag);
    lexer.quiet = true;
    qn__lex_next(&lexer, &result);
    if (result.len != len || result.kind == FRONT_T_END) {
        qn__diag_error(pp->diag, loc, "'##' of '%.*s' and '%.*s' does not make one token",
                       (int)(left->len < 40 ? left->len : 40), left->text,
                       (int)(right->len < 40 ? right->len : 40), right->text);
        return false;
    }
    result.flags = (uint8_t)(spaces | FRONT_FROM_MACRO);
    *left = result;
    return true;
}

/* ---- substitution ---- */

typedef struct substitution {
    front_pp *pp;
    const front_macro *macro;
    front_loc loc; /* of the call */
    argument *args;
    uint32_t given;
    pp_tokens out;
    bool has_placemarkers;
} substitution;

static void put(substitution *s, front_token token, bool pasted) {
    front_pp *pp = s->pp;
    if (!qn__pp_charge(pp, 1)) return;
    if (token.kind == FRONT_T_PLACEMARKER) s->has_placemarkers = true;
    if (pasted && s->out.len && paste(pp, &qn__vec_last(&s->out), &token, s->loc)) return;
    qn__vec_push(pp->arena, &s->out, token);
}

/* A parameter: its argument expanded or, as an operand of ##, as written. */
static void put_argument(substitution *s, const front_token *parameter, bool pasted) {
    argument *arg = &s->args[parameter->integer];
    bool raw = pasted || (parameter->flags & FRONT_PASTE);
    if (!raw) expand_argument(s->pp, arg);
    size_t start = raw ? arg->start : arg->expanded_start, len = raw ? arg->len : arg->expanded_len;
    uint8_t spaces = parameter->flags & (FRONT_SPACE | FRONT_LINE_START);
    if (!len && raw)
        put(s, (front_token){.kind = FRONT_T_PLACEMARKER, .flags = spaces, .loc = s->loc, .text = ""},
            pasted);
    for (size_t i = 0; i < len; i++) {
        front_token token = s->pp->scratch.data[start + i];
        if (!i) token.flags = (uint8_t)((token.flags & ~(FRONT_SPACE | FRONT_LINE_START)) | spaces);
        put(s, token, pasted && !i);
    }
}

/* GNU's `, ## __VA_ARGS__`: the comma goes where the variable arguments are left out (not where they are
   given but empty, unless the macro has no other parameters), and nothing is pasted. */
static bool is_comma_paste(const substitution *s, uint32_t i) {
    const front_token *body = s->macro->body;
    return s->macro->variadic && body[i].kind == FRONT_T_COMMA && (body[i].flags & FRONT_PASTE) &&
           i + 1 < s->macro->len && body[i + 1].kind == FRONT_T_PARAMETER &&
           body[i + 1].integer == s->macro->num_params - 1 && !(body[i + 1].flags & FRONT_STRINGIZE);
}

static void substitute(substitution *s) {
    uint32_t params = s->macro->num_params;
    bool pasted = false;
    for (uint32_t i = 0; i < s->macro->len && !s->pp->diag->stopped; i++) {
        front_token token = s->macro->body[i];
        bool pastes = token.flags & FRONT_PASTE;
        if (is_comma_paste(s, i)) {
            bool absent = s->given < params || (params == 1 && !s->args[0].len);
            pastes = false;
            if (absent) {
                i++; /* the parameter goes too */
                pastes = s->macro->body[i].flags & FRONT_PASTE;
                token = (front_token){.kind = FRONT_T_PLACEMARKER, .text = "", .loc = s->loc};
            }
        }
        if (token.flags & FRONT_STRINGIZE) {
            front_token string = stringize(s->pp, &s->args[token.integer], &token);
            string.loc = s->loc;
            string.flags |= FRONT_FROM_MACRO;
            put(s, string, pasted);
        } else if (token.kind == FRONT_T_PARAMETER) {
            put_argument(s, &token, pasted);
        } else {
            token.loc = s->loc;
            token.flags = (uint8_t)((token.flags & ~FRONT_PASTE) | FRONT_FROM_MACRO);
            put(s, token, pasted);
        }
        pasted = pastes;
    }
    if (!s->has_placemarkers) return;
    size_t len = 0;
    for (size_t i = 0; i < s->out.len; i++)
        if (s->out.data[i].kind != FRONT_T_PLACEMARKER) s->out.data[len++] = s->out.data[i];
    s->out.len = len;
}

/* ---- calls ---- */

static void push_expansion(front_pp *pp, front_macro *macro, const front_token *use,
                           const front_token *tokens, size_t len, bool moves) {
    macro->open = true;
    if (!len) tokens = &nothing;
    qn__vec_push(pp->arena, &pp->lists,
                 (pp_list){.at = tokens,
                           .end = tokens + len,
                           .macro = macro,
                           .loc = use->loc,
                           .moves = moves,
                           .first_flags = use->flags & (FRONT_LINE_START | FRONT_SPACE),
                           .first = true});
}

/* Whether a '(' comes next; leaves lists that have come to their end. */
static bool is_call(front_pp *pp) {
    while (pp->lists.len > pp->base) {
        pp_list *list = &qn__vec_last(&pp->lists);
        if (list->at < list->end) return list->at->kind == FRONT_T_LPAREN;
        if (list->macro) list->macro->open = false;
        pp->lists.len--;
    }
    return !pp->isolated && qn__lex_is_paren_next(&qn__pp_file(pp)->lexer);
}

/* Reads the arguments and pushes the replacement. False: no call came of it, which was reported. */
static bool expand_call(front_pp *pp, front_macro *macro, const front_token *use) {
    argument few[8], *args = few;
    if (macro->num_params > QN__COUNT(few)) args = QN__NEW_ARRAY(pp->arena, argument, macro->num_params);
    memset(args, 0, sizeof *args * (macro->num_params ? macro->num_params : 1));
    size_t scratch = pp->scratch.len;
    bool in_call = pp->in_call;
    substitution s = {.pp = pp, .macro = macro, .loc = use->loc, .args = args};
    front_token paren;
    pp->in_call = true;
    qn__pp_next(pp, &paren);
    bool closed = read_arguments(pp, macro, args, &s.given);
    pp->in_call = in_call;
    if (!closed && !pp->diag->stopped) {
        qn__diag_error(pp->diag, use->loc, "the call of macro '%.*s' has no closing ')'", (int)use->len,
                       use->text);
        if (macro->loc.line) qn__diag_note(pp->diag, macro->loc, "the macro is defined here");
    }
    bool good = closed && check_count(pp, macro, use, args, s.given);
    if (good && macro->substitutes) {
        pp->depth++;
        substitute(&s);
        pp->depth--;
    }
    pp->scratch.len = scratch;
    if (!good) return false;
    if (macro->substitutes)
        push_expansion(pp, macro, use, s.out.data, s.out.len, false);
    else
        push_expansion(pp, macro, use, macro->body, macro->len, true);
    return true;
}

static void note_expansion(front_pp *pp, const front_macro *macro, const front_token *use) {
    if (!(use->flags & FRONT_FROM_MACRO) && macro->loc.line)
        qn__vec_push(pp->arena, &pp->expansions, (pp_expansion){use->loc, macro});
}

/* An object-like macro's ## needs no arguments but a copy of the body. */
static void expand_object(front_pp *pp, front_macro *macro, const front_token *use) {
    if (!macro->substitutes) {
        push_expansion(pp, macro, use, macro->body, macro->len, true);
        return;
    }
    substitution s = {.pp = pp, .macro = macro, .loc = use->loc};
    substitute(&s);
    push_expansion(pp, macro, use, s.out.data, s.out.len, false);
}

/* `defined X`, `defined(X)`, `__has_include(...)` in #if: the operand is read unexpanded. */
static void read_if_operator(front_pp *pp, front_token *token) {
    bool is_defined = token->name == pp->name_defined, closes = false;
    front_token operand, result = {.kind = FRONT_T_NUMBER, .text = "0", .len = 1, .loc = token->loc};
    pp_tokens header = {0};
    qn__pp_next(pp, &operand);
    if (operand.kind == FRONT_T_LPAREN) {
        closes = true;
        qn__pp_next(pp, &operand);
    }
    if (is_defined) {
        bool named = operand.kind == FRONT_T_IDENTIFIER;
        bool yes = named && (qn__pp_macro(pp, operand.name) || operand.name == pp->name_has_include);
        if (yes) result.text = "1";
        if (!named) qn__diag_error(pp->diag, operand.loc, "'defined' needs the name of a macro");
        if (closes && named) qn__pp_next(pp, &operand);
    } else {
        qn__str name;
        bool angled;
        for (; operand.kind != FRONT_T_END && operand.kind != FRONT_T_RPAREN; qn__pp_next(pp, &operand))
            qn__vec_push(pp->arena, &header, operand);
        if (!qn__pp_header_of(pp, header.data, header.len, &name, &angled))
            qn__diag_error(pp->diag, token->loc, "__has_include needs \"name\" or <name> in parentheses");
        else if (qn__pp_find_header(pp, name, angled, NULL))
            result.text = "1";
    }
    if (closes && operand.kind != FRONT_T_RPAREN) qn__diag_error(pp->diag, token->loc, "a ')' is missing");
    *token = result;
}

void qn__pp_next_expanded(front_pp *pp, front_token *token) {
    for (;;) {
        qn__pp_next(pp, token);
        if (token->kind != FRONT_T_IDENTIFIER) return;
        if (pp->in_if && (token->name == pp->name_defined || token->name == pp->name_has_include)) {
            read_if_operator(pp, token);
            return;
        }
        front_macro *macro = qn__pp_macro(pp, token->name);
        if (!macro || (token->flags & FRONT_NO_EXPAND)) return;
        if (macro->dynamic) {
            *token = qn__pp_dynamic(pp, macro, token);
            return;
        }
        if (!macro->function_like) {
            note_expansion(pp, macro, token);
            expand_object(pp, macro, token);
            continue;
        }
        if (!is_call(pp)) return;
        if (pp->depth >= PP_MAX_DEPTH) {
            qn__diag_error(pp->diag, token->loc, "macro calls are nested more than %d deep", PP_MAX_DEPTH);
            pp->diag->stopped = true;
            return;
        }
        note_expansion(pp, macro, token);
        expand_call(pp, macro, token);
    }
}
