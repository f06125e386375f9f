/* The parser's core: reading tokens, scopes, errors and recovery, and the two entries: a whole file, and a
   text of the function library, which is parsed in a world of names of its own when a call first needs it. */
#include "front/parse/parser.h"

#include <string.h>

/* ---- tokens ---- */

void qn__advance(front_parser *p) {
    if (p->at < p->end) p->at++;
    if (p->diag->stopped) p->at = p->end;
}

bool qn__accept(front_parser *p, front_token_kind kind) {
    if (p->at->kind != kind) return false;
    qn__advance(p);
    return true;
}

/* Just behind the token before the current one, where something is missing. */
static front_loc missing_loc(const front_parser *p) {
    if (p->at == p->first) return p->at->loc;
    const front_token *before = p->at - 1;
    front_loc loc = before->loc;
    if (loc.column + before->len < UINT16_MAX && !(before->flags & FRONT_FROM_MACRO))
        loc.column = (uint16_t)(loc.column + before->len);
    return loc;
}

static void panic(front_parser *p, front_loc loc, const char *text) {
    p->panic = true;
    qn__diag_error(p->diag, loc, "%s", text);
    if (p->diag->stopped) p->at = p->end;
}

void qn__syntax_error(front_parser *p, const char *format, ...) {
    if (p->panic) return;
    va_list args;
    va_start(args, format);
    const char *text = qn__arena_vprintf(p->arena, format, args);
    va_end(args);
    bool is_behind = qn__peek(p, FRONT_T_END) || (p->at->flags & FRONT_LINE_START);
    panic(p, is_behind ? missing_loc(p) : qn__here(p), text);
}

bool qn__expect(front_parser *p, front_token_kind kind, const char *where) {
    if (qn__accept(p, kind)) return true;
    const char *name = qn__token_kind_name(kind);
    if (!p->panic)
        panic(p, missing_loc(p),
              qn__arena_printf(p->arena, "expected %s%s%s", name, where ? " " : "", where ? where : ""));
    return false;
}

static int bracket_of(unsigned kind) {
    switch (kind) {
    case FRONT_T_LPAREN:
    case FRONT_T_LBRACKET:
    case FRONT_T_LBRACE: return 1;
    case FRONT_T_RPAREN:
    case FRONT_T_RBRACKET:
    case FRONT_T_RBRACE: return -1;
    default: return 0;
    }
}

void qn__skip_to(front_parser *p, front_token_kind kind) {
    for (unsigned depth = 0; p->at < p->end; qn__advance(p)) {
        unsigned here = p->at->kind;
        if (depth == 0 && here == kind) {
            qn__advance(p);
            return;
        }
        if (here == FRONT_T_RBRACE && depth == 0) return;
        int bracket = bracket_of(here);
        if (bracket > 0) depth++;
        if (bracket < 0 && depth > 0) depth--;
        if (here == FRONT_T_RBRACE && depth == 0 && kind == FRONT_T_SEMICOLON) {
            qn__advance(p); /* a block ends a declaration too */
            return;
        }
    }
}

bool qn__enter(front_parser *p) {
    if (p->nesting < FRONT_MAX_NESTING) {
        p->nesting++;
        return true;
    }
    p->panic = false;
    qn__syntax_error(p, "nested more than %d levels deep", FRONT_MAX_NESTING);
    p->diag->stopped = true; /* what is skipped would be missed further on */
    p->at = p->end;
    return false;
}

const char *qn__type_text(front_parser *p, const ast_type *type) { return qn__type_name(p->arena, type); }

unsigned qn__standard(const front_parser *p) {
    const front_options *options = p->context->options;
    return options && options->std ? options->std : 120;
}

/* ---- scopes ---- */

void qn__scope_push(front_parser *p) { p->level++; }

void qn__scope_pop(front_parser *p) {
    while (p->symbols && p->symbols->level == p->level) {
        p->symbols->name->binding = p->symbols->outer;
        p->symbols = p->symbols->previous;
    }
    p->level--;
}

static front_symbol *lookup_kind(front_parser *p, front_name *name, bool tag) {
    for (front_symbol *symbol = name->binding; symbol; symbol = symbol->outer) {
        if (symbol->level < p->base_level && symbol->level > p->file_level) continue;
        if ((symbol->symbol_kind == SYMBOL_TAG) == tag) return symbol;
    }
    return NULL;
}

front_symbol *qn__lookup(front_parser *p, front_name *name) { return lookup_kind(p, name, false); }
front_symbol *qn__lookup_tag(front_parser *p, front_name *name) { return lookup_kind(p, name, true); }

front_symbol *qn__declare(front_parser *p, front_symbol_kind kind, front_name *name, front_loc loc) {
    front_symbol *symbol = QN__NEW(p->arena, front_symbol);
    symbol->symbol_kind = (uint8_t)kind;
    symbol->name = name;
    symbol->loc = loc;
    symbol->level = p->level;
    symbol->outer = name->binding;
    symbol->previous = p->symbols;
    name->binding = symbol;
    p->symbols = symbol;
    return symbol;
}

/* Edit distance, given up beyond `limit` (Damerau's, without transpositions further apart). */
static unsigned distance(qn__str a, qn__str b, unsigned limit) {
    enum { LONGEST = 40 };
    unsigned rows[3][LONGEST + 1];
    if (a.len > LONGEST || b.len > LONGEST) return limit + 1;
    for (unsigned j = 0; j <= b.len; j++) rows[0][j] = j;
    for (unsigned i = 1; i <= a.len; i++) {
        unsigned *now = rows[i % 3], *before = rows[(i + 2) % 3], *two_before = rows[(i + 1) % 3];
        unsigned least = now[0] = i;
        for (unsigned j = 1; j <= b.len; j++) {
            bool same = a.data[i - 1] == b.data[j - 1];
            unsigned best = before[j - 1] + !same;
            if (before[j] + 1 < best) best = before[j] + 1;
            if (now[j - 1] + 1 < best) best = now[j - 1] + 1;
            bool swapped = i > 1 && j > 1 && a.data[i - 1] == b.data[j - 2] && a.data[i - 2] == b.data[j - 1];
            if (swapped && two_before[j - 2] + 1 < best) best = two_before[j - 2] + 1;
            now[j] = best;
            if (best < least) least = best;
        }
        if (least > limit) return limit + 1;
    }
    return rows[a.len % 3][b.len];
}

const char *qn__did_you_mean(front_parser *p, front_name *name) {
    enum { MOST_SYMBOLS = 2000 };
    if (name->len < 3 || p->diag->errors > 20) return NULL;
    unsigned limit = name->len < 6 ? 1 : 2, looked_at = 0;
    const char *best = NULL;
    qn__str wanted = {name->data, name->len};
    for (front_symbol *s = p->symbols; s && looked_at < MOST_SYMBOLS; s = s->previous, looked_at++) {
        if (s->symbol_kind == SYMBOL_TAG || s->name == name || s->level < p->base_level) continue;
        unsigned found = distance(wanted, (qn__str){s->name->data, s->name->len}, limit);
        if (found > limit) continue;
        best = s->name->data;
        limit = found - 1;
        if (found <= 1) break;
    }
    return best ? best : qn__builtin_suggest(wanted);
}

/* ---- functions ---- */

void qn__function_begin(front_parser *p, ast_decl *function) {
    p->function = function;
    p->labels.len = p->gotos.len = 0;
    p->loop = p->breakable = p->switch_stmt = NULL;
    p->unroll = 0;
}

static void goto_resolve(front_parser *p, ast_stmt *stmt) {
    for (size_t i = 0; i < p->labels.len; i++) {
        front_label *label = &p->labels.data[i];
        if (strcmp(label->name->data, stmt->label) != 0) continue;
        stmt->target = label->stmt;
        return;
    }
    qn__diag_error(p->diag, stmt->loc, "use of undeclared label '%s'", stmt->label);
}

void qn__function_end(front_parser *p) {
    if (p->labels.len > FRONT_MAX_LABELS || p->gotos.len > FRONT_MAX_LABELS)
        qn__diag_error(p->diag, p->function->loc, "too many labels in function '%s'", p->function->name);
    else
        for (size_t i = 0; i < p->gotos.len; i++) goto_resolve(p, p->gotos.data[i]);
    p->function->uses_goto = p->gotos.len > 0;
    p->function = NULL;
}

/* ---- a file ---- */

static void parser_init(front_parser *p, front_context *context, front_tokens tokens) {
    *p = (front_parser){.context = context,
                        .file = p,
                        .arena = context->arena,
                        .diag = context->diag,
                        .types = &context->types,
                        .first = tokens.data,
                        .at = tokens.data,
                        .end = tokens.data + tokens.len - 1,
                        .level = 1,
                        .base_level = 1,
                        .file_level = 1,
                        .contract = true};
}

void qn__front_context_init(front_context *context) {
    qn__types_init(&context->types, context->arena);
    context->unit = QN__NEW(context->arena, ast_unit);
    qn__names_init(&context->library_names, context->arena);
    context->library_tokens = (qn__map64){0};
    context->instances = (qn__map){0};
    context->frozen_decls = (qn__map64){0};
    context->generics = (qn__map64){0};
    context->statics = (qn__map64){0};
    context->library_level = 0;
    context->calls.len = context->linked.len = context->unknown.len = context->files.len = 0;
}

/* translation-unit: external-declaration* */
void qn__parse_file(front_context *context, front_tokens tokens) {
    front_parser *p = QN__NEW(context->arena, front_parser);
    parser_init(p, context, tokens);
    qn__vec_push(context->arena, &context->files, p);
    while (!qn__peek(p, FRONT_T_END)) {
        const front_token *before = p->at;
        p->panic = false;
        qn__parse_external_declaration(p);
        if (p->panic && p->at < p->end) qn__skip_to(p, FRONT_T_SEMICOLON);
        if (p->at == before) qn__advance(p);
    }
}

ast_unit *qn__parse_end(front_context *context) {
    qn__link(context);
    qn__check_recursion(context);
    qn__inherit_facts(context);
    qn__refuse_images(context);
    for (size_t i = 0; i < context->files.len; i++) qn__scope_pop(context->files.data[i]);
    return context->unit;
}

ast_unit *qn__parse(front_context *context, front_tokens tokens) {
    qn__parse_file(context, tokens);
    return qn__parse_end(context);
}

/* ---- the library ---- */

static front_tokens library_lex(front_context *context, qn__str text, const char *name) {
    uint64_t key = (uint64_t)(uintptr_t)text.data;
    front_tokens *known = qn__map64_get(&context->library_tokens, key);
    if (known) return *known;
    QN__VEC(front_token) tokens = {0};
    const char *file = qn__arena_printf(context->arena, "<library>/%s", name);
    front_source *source = qn__source_add(context->sources, file, text);
    front_lexer lexer;
    front_token token = {.kind = FRONT_T_END};
    if (source) qn__lex_init(&lexer, source, &context->library_names, context->diag);
    do {
        if (source) qn__lex_next(&lexer, &token);
        if (token.kind == FRONT_T_END || qn__lex_convert(&token, context->diag, false))
            qn__vec_push(context->arena, &tokens, token);
    } while (token.kind != FRONT_T_END);
    front_tokens *made = QN__NEW(context->arena, front_tokens);
    *made = (front_tokens){tokens.data, tokens.len};
    qn__map64_set(context->arena, &context->library_tokens, key, made);
    return *made;
}

static qn__str instance_key(front_context *context, qn__str text, const char *name,
                            const front_type_binding *bindings, size_t num_bindings) {
    qn__buf key;
    qn__buf_init(&key, context->arena);
    qn__buf_puts(&key, name);
    qn__buf_append(&key, (const char *)&text.data, sizeof text.data);
    for (size_t i = 0; i < num_bindings; i++)
        qn__buf_append(&key, (const char *)&bindings[i].type, sizeof bindings[i].type);
    return (qn__str){key.data, key.len};
}

static ast_decl *library_parse(front_context *context, front_tokens tokens, const char *name,
                               const front_type_binding *bindings, size_t num_bindings) {
    front_parser parser, *p = &parser;
    parser_init(p, context, tokens);
    p->is_library = true;
    p->level = p->base_level = context->library_level;
    p->file_level = 0;
    front_name *wanted = qn__name(&context->library_names, name, strlen(name));
    for (size_t i = 0; i < num_bindings; i++) {
        front_name *bound = qn__name(&context->library_names, bindings[i].name, strlen(bindings[i].name));
        qn__declare(p, SYMBOL_TYPEDEF, bound, FRONT_NO_LOC)->type = bindings[i].type;
    }
    while (!qn__peek(p, FRONT_T_END)) {
        const front_token *before = p->at;
        p->panic = false;
        qn__parse_external_declaration(p);
        if (p->panic) qn__skip_to(p, FRONT_T_SEMICOLON);
        if (p->at == before) qn__advance(p);
    }
    front_symbol *symbol = qn__lookup(p, wanted);
    ast_decl *decl = symbol ? symbol->decl : NULL;
    qn__scope_pop(p);
    return decl;
}

ast_decl *qn__parse_library(front_context *context, qn__str text, const char *name,
                            const front_type_binding *bindings, size_t num_bindings) {
    /* Each parse has scope levels of its own, above those of the parse around it, whose names it must not
       see. */
    enum { MOST_NESTED = 32, LEVELS = 1 << 12 };
    qn__str key = instance_key(context, text, name, bindings, num_bindings);
    ast_decl *known = qn__map_get(&context->instances, key);
    if (known) return known;
    if (context->library_nesting >= MOST_NESTED) {
        qn__diag_error(context->diag, FRONT_NO_LOC, "library function '%s' calls itself", name);
        return NULL;
    }
    front_tokens tokens = library_lex(context, text, name);
    uint32_t outer_level = context->library_level;
    context->library_nesting++;
    context->library_level += LEVELS;
    ast_decl *decl = library_parse(context, tokens, name, bindings, num_bindings);
    context->library_level = outer_level;
    context->library_nesting--;
    if (!decl) qn__diag_error(context->diag, FRONT_NO_LOC, "library text does not define '%s'", name);
    if (decl) qn__map_set(context->arena, &context->instances, key, decl);
    return decl;
}

void qn__parse_soft_f64(front_context *context) {
    static const char *const functions[] = {
#define SOFT(op, name) name,
#define ALSO(name)     name,
#include "ir/soft.def"
    };
    for (size_t i = 0; i < QN__COUNT(functions); i++) {
        const front_library_entry *entry = qn__library_find(qn__str_of(functions[i]), AST_VOID);
        ast_decl *function =
            qn__parse_library(context, (qn__str){entry->text, entry->length}, entry->name, NULL, 0);
        if (function) function->is_pure |= entry->is_pure;
    }
}
