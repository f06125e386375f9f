/* The parser: directives and declarations of a module (WGSL sections 4, 5 and 10). Each function of the grammar is named after
   the rule that it reads. */
#include <string.h>

#include "wgsl/parser.h"

enum { MOST_NESTED = 200 };

/* ---- tokens and errors ---- */

void qn__wf_next(wgsl_parser *p) { p->at += p->at->kind != WGSL_T_END; }

bool qn__wf_take(wgsl_parser *p, wgsl_token_kind kind) {
    if (p->at->kind != kind) return false;
    qn__wf_next(p);
    return true;
}

void qn__wf_complain(wgsl_parser *p, front_loc loc, const char *format, ...) {
    if (p->panic) return;
    va_list args;
    va_start(args, format);
    const char *text = qn__arena_vprintf(p->arena, format, args);
    va_end(args);
    qn__diag_error(p->diag, loc, "%s", text);
    p->panic = true;
}

static const char *found(const wgsl_parser *p) {
    if (p->at->kind == WGSL_T_END) return "the end of the file";
    return qn__arena_printf(p->arena, "'%.*s'", (int)(p->at->text.len < 40 ? p->at->text.len : 40),
                            p->at->text.data);
}

bool qn__wf_expect(wgsl_parser *p, wgsl_token_kind kind, const char *what) {
    if (p->panic) return false;
    if (qn__wf_take(p, kind)) return true;
    qn__wf_complain(p, p->at->loc, "expected '%s'%s%s, found %s", qn__wf_token_name(kind), what ? " " : "",
                    what ? what : "", found(p));
    return false;
}

qn__str qn__wf_expect_name(wgsl_parser *p, const char *of, front_loc *loc) {
    const wgsl_token *token = p->at;
    *loc = token->loc;
    if (!qn__wf_take(p, WGSL_T_NAME)) {
        const bool is_keyword = token->kind >= WGSL_T_ALIAS && token->kind <= WGSL_T_WHILE;
        qn__wf_complain(p, token->loc, "expected the name of %s, found %s%s", of,
                        is_keyword ? "the keyword " : "", found(p));
    } else if (qn__wf_is_reserved(token->text)) {
        qn__diag_error(p->diag, token->loc, "'%.*s' is a reserved word of WGSL and no name",
                       QN__STR_PRINTF(token->text));
    } else if (qn__str_starts(token->text, "__")) {
        qn__diag_error(p->diag, token->loc, "'%.*s' begins with two underscores, which names must not",
                       QN__STR_PRINTF(token->text));
    }
    return token->text;
}

bool qn__wf_nest(wgsl_parser *p) {
    if (p->depth < MOST_NESTED) return p->depth++, true;
    qn__wf_complain(p, p->at->loc, "nested too deeply");
    return false;
}

wgsl_decl *qn__wf_decl_new(wgsl_parser *p, wgsl_decl_kind kind) {
    wgsl_decl *decl = QN__NEW(p->arena, wgsl_decl);
    decl->kind = (uint8_t)kind;
    decl->loc = p->at->loc;
    return decl;
}

/* ---- attributes ---- */

/* attribute: '@' name argument_list? */
void qn__wf_attributes(wgsl_parser *p, wgsl_attributes *list) {
    while (qn__wf_take(p, WGSL_T_AT)) {
        wgsl_attribute attribute = {.name = p->at->text, .loc = p->at->loc};
        const bool is_name =
            p->at->kind == WGSL_T_NAME || p->at->kind == WGSL_T_CONST || p->at->kind == WGSL_T_DIAGNOSTIC;
        if (!is_name)
            qn__wf_complain(p, p->at->loc, "expected an attribute's name behind '@', found %s", found(p));
        qn__wf_next(p);
        if (qn__wf_take(p, WGSL_T_OPEN)) qn__wf_list(p, &attribute.args, WGSL_T_CLOSE);
        qn__vec_push(p->arena, list, attribute);
        if (p->panic) return;
    }
}

/* ---- directives ---- */

static void enable(wgsl_parser *p) {
    static const char *const refused[] = {"clip_distances", "dual_source_blending", "primitive_index"};
    const wgsl_token *token = p->at;
    qn__wf_next(p);
    if (qn__str_is(token->text, "f16")) {
        p->module->enables_f16 = true;
    } else if (qn__str_is(token->text, "subgroups")) {
        p->module->enables_subgroups = true;
    } else {
        bool is_graphics = false;
        for (size_t i = 0; i < QN__COUNT(refused); i++) is_graphics |= qn__str_is(token->text, refused[i]);
        qn__diag_error(p->diag, token->loc,
                       is_graphics
                           ? "the extension '%.*s' is for the graphics stages, which quern does not have"
                           : "there is no extension '%.*s' here",
                       QN__STR_PRINTF(token->text));
        qn__diag_hint(p->diag, "the extensions for compute shaders are f16 and subgroups");
    }
}

/* Features of the language that compute shaders may have asked for. */
static void require(wgsl_parser *p) {
    static const char *const features[] = {"readonly_and_readwrite_storage_textures",
                                           "packed_4x8_integer_dot_product",
                                           "unrestricted_pointer_parameters", "pointer_composite_access"};
    const wgsl_token *token = p->at;
    qn__wf_next(p);
    for (size_t i = 0; i < QN__COUNT(features); i++)
        if (qn__str_is(token->text, features[i])) return;
    qn__diag_error(p->diag, token->loc, "there is no language feature '%.*s' here",
                   QN__STR_PRINTF(token->text));
    qn__diag_hint(p->diag, "there are %s, %s and %s", features[1], features[2], features[3]);
}

/* '(' severity ',' name ('.' name)? ')' */
static void diagnostic(wgsl_parser *p) {
    static const char *const severities[] = {"error", "warning", "off", "info"};
    qn__wf_expect(p, WGSL_T_OPEN, "behind 'diagnostic'");
    const wgsl_token *severity = p->at;
    unsigned which = 0;
    while (which < QN__COUNT(severities) && !qn__str_is(severity->text, severities[which])) which++;
    if (which == QN__COUNT(severities))
        qn__wf_complain(p, severity->loc, "expected a severity (error, warning, info or off), found %s",
                        found(p));
    qn__wf_next(p);
    qn__wf_expect(p, WGSL_T_COMMA, NULL);
    if (qn__str_is(p->at->text, "subgroup_uniformity"))
        p->module->subgroup_uniformity = which < 3 ? (uint8_t)which : WGSL_SEVERITY_OFF;
    qn__wf_next(p);
    if (qn__wf_take(p, WGSL_T_DOT)) qn__wf_next(p);
    qn__wf_take(p, WGSL_T_COMMA);
    qn__wf_expect(p, WGSL_T_CLOSE, NULL);
}

/* global_directive: (enable | requires) name (',' name)* ','? ';' | diagnostic ... ';' */
static bool directive(wgsl_parser *p) {
    const wgsl_token_kind kind = (wgsl_token_kind)p->at->kind;
    if (kind != WGSL_T_ENABLE && kind != WGSL_T_REQUIRES && kind != WGSL_T_DIAGNOSTIC) return false;
    if (p->module->decls.len)
        qn__diag_error(p->diag, p->at->loc, "'%s' stands behind a declaration; directives come first",
                       qn__wf_token_name(kind));
    qn__wf_next(p);
    if (kind == WGSL_T_DIAGNOSTIC) {
        diagnostic(p);
    } else {
        do {
            if (qn__wf_peek(p, WGSL_T_SEMICOLON)) break;
            if (!qn__wf_peek(p, WGSL_T_NAME))
                qn__wf_complain(p, p->at->loc, "expected a name, found %s", found(p));
            if (p->panic) break;
            kind == WGSL_T_ENABLE ? enable(p) : require(p);
        } while (qn__wf_take(p, WGSL_T_COMMA));
    }
    qn__wf_expect(p, WGSL_T_SEMICOLON, "behind a directive");
    return true;
}

/* ---- declarations ---- */

void qn__wf_typed_name(wgsl_parser *p, wgsl_decl *decl, const char *of) {
    decl->name = qn__wf_expect_name(p, of, &decl->loc);
    if (qn__wf_take(p, WGSL_T_COLON)) decl->type = qn__wf_type_expr(p);
}

/* 'struct' name '{' (member ',')* '}' */
static wgsl_decl *structure(wgsl_parser *p) {
    wgsl_decl *decl = qn__wf_decl_new(p, WGSL_DECL_STRUCT);
    qn__wf_next(p);
    decl->name = qn__wf_expect_name(p, "a struct", &decl->loc);
    qn__wf_expect(p, WGSL_T_OPEN_BRACE, NULL);
    while (!p->panic && !qn__wf_peek(p, WGSL_T_CLOSE_BRACE)) {
        wgsl_decl *member = qn__wf_decl_new(p, WGSL_DECL_MEMBER);
        qn__wf_attributes(p, &member->attributes);
        qn__wf_typed_name(p, member, "a member");
        if (!member->type)
            qn__wf_complain(p, p->at->loc, "expected ':' and the type of the member, found %s", found(p));
        qn__vec_push(p->arena, &decl->members, member);
        if (!qn__wf_take(p, WGSL_T_COMMA)) break;
    }
    qn__wf_expect(p, WGSL_T_CLOSE_BRACE, "or ',' behind a member");
    if (!p->panic && !decl->members.len)
        qn__diag_error(p->diag, decl->loc, "struct '%.*s' needs a member", QN__STR_PRINTF(decl->name));
    return decl;
}

/* 'fn' name '(' (param ',')* ')' ('->' attribute* type)? block */
static wgsl_decl *function(wgsl_parser *p) {
    wgsl_decl *decl = qn__wf_decl_new(p, WGSL_DECL_FUNCTION);
    qn__wf_next(p);
    decl->name = qn__wf_expect_name(p, "a function", &decl->loc);
    qn__wf_expect(p, WGSL_T_OPEN, NULL);
    while (!p->panic && !qn__wf_peek(p, WGSL_T_CLOSE)) {
        wgsl_decl *param = qn__wf_decl_new(p, WGSL_DECL_PARAMETER);
        qn__wf_attributes(p, &param->attributes);
        qn__wf_typed_name(p, param, "a parameter or ')'");
        if (!param->type)
            qn__wf_complain(p, p->at->loc, "expected ':' and the type of the parameter, found %s", found(p));
        qn__vec_push(p->arena, &decl->members, param);
        if (!qn__wf_take(p, WGSL_T_COMMA)) break;
    }
    qn__wf_expect(p, WGSL_T_CLOSE, "or ',' behind a parameter");
    if (qn__wf_take(p, WGSL_T_ARROW)) {
        qn__wf_attributes(p, &decl->result);
        decl->type = qn__wf_type_expr(p);
    }
    if (p->panic) return decl;
    p->function = decl;
    decl->body = qn__wf_block(p);
    p->function = NULL;
    return decl;
}

static wgsl_decl *alias(wgsl_parser *p) {
    wgsl_decl *decl = qn__wf_decl_new(p, WGSL_DECL_ALIAS);
    qn__wf_next(p);
    decl->name = qn__wf_expect_name(p, "an alias", &decl->loc);
    qn__wf_expect(p, WGSL_T_ASSIGN, NULL);
    decl->init = qn__wf_type_expr(p);
    qn__wf_expect(p, WGSL_T_SEMICOLON, "behind an alias");
    return decl;
}

static wgsl_decl *const_assert(wgsl_parser *p) {
    wgsl_decl *decl = qn__wf_decl_new(p, WGSL_DECL_ASSERT);
    qn__wf_next(p);
    decl->init = qn__wf_expr(p);
    qn__wf_expect(p, WGSL_T_SEMICOLON, "behind const_assert");
    return decl;
}

static wgsl_decl *global_decl(wgsl_parser *p) {
    wgsl_decl *decl;
    switch (p->at->kind) {
    case WGSL_T_STRUCT: return structure(p);
    case WGSL_T_FN: return function(p);
    case WGSL_T_ALIAS: return alias(p);
    case WGSL_T_CONST_ASSERT: return const_assert(p);
    case WGSL_T_VAR:
    case WGSL_T_CONST:
    case WGSL_T_OVERRIDE:
    case WGSL_T_LET:
        if (qn__wf_peek(p, WGSL_T_LET)) {
            qn__diag_error(p->diag, p->at->loc, "'let' stands in functions only");
            qn__diag_hint(p->diag, "'const' and 'override' are there for the module's values");
        }
        decl = qn__wf_variable(p);
        qn__wf_expect(p, WGSL_T_SEMICOLON, "behind a declaration");
        return decl;
    default: qn__wf_complain(p, p->at->loc, "expected a declaration, found %s", found(p)); return NULL;
    }
}

/* ---- going on after errors ---- */

static bool begins_declaration(wgsl_token_kind kind) {
    return kind == WGSL_T_FN || kind == WGSL_T_STRUCT || kind == WGSL_T_ALIAS || kind == WGSL_T_OVERRIDE;
}

void qn__wf_recover(wgsl_parser *p, const wgsl_token *begin) {
    int depth = 0;
    const wgsl_token *error = p->at;
    for (p->at = begin; p->at->kind != WGSL_T_END; qn__wf_next(p)) {
        const wgsl_token_kind kind = (wgsl_token_kind)p->at->kind;
        if (kind == WGSL_T_CLOSE_BRACE && !depth) break;
        if (begins_declaration(kind) && p->at >= error && p->at > begin) break;
        depth += (kind == WGSL_T_OPEN_BRACE) - (kind == WGSL_T_CLOSE_BRACE);
        const bool ends = !depth && (kind == WGSL_T_SEMICOLON || kind == WGSL_T_CLOSE_BRACE);
        if (!ends || p->at < error) continue;
        qn__wf_next(p);
        break;
    }
    p->panic = false;
}

/* ---- the module ---- */

static void add_decl(wgsl_parser *p, wgsl_decl *decl) {
    wgsl_module *module = p->module;
    const wgsl_decl *other = decl->name.len ? qn__map_get(&module->names, decl->name) : NULL;
    qn__vec_push(p->arena, &module->decls, decl);
    if (other) {
        qn__diag_error(p->diag, decl->loc, "'%.*s' is declared twice", QN__STR_PRINTF(decl->name));
        qn__diag_note(p->diag, other->loc, "the other declaration is here");
    } else if (decl->name.len) {
        qn__map_set(p->arena, &module->names, decl->name, decl);
    }
}

wgsl_module *qn__wf_parse(qn__arena *arena, const front_source *source, front_diag *diag) {
    wgsl_module *module = QN__NEW(arena, wgsl_module);
    module->arena = arena;
    module->diag = diag;
    wgsl_parser parser = {.arena = arena, .diag = diag, .module = module}, *p = &parser;
    p->at = qn__wf_lex(arena, source, diag);
    while (!qn__wf_peek(p, WGSL_T_END) && !diag->stopped) {
        const wgsl_token *begin = p->at;
        wgsl_attributes attributes = {0};
        if (qn__wf_take(p, WGSL_T_SEMICOLON)) continue;
        wgsl_decl *decl = NULL;
        if (!directive(p)) {
            qn__wf_attributes(p, &attributes);
            decl = p->panic ? NULL : global_decl(p);
        }
        if (decl) decl->attributes = attributes;
        if (decl) decl->is_broken |= p->panic;
        if (decl && (decl->name.len || !p->panic)) add_decl(p, decl);
        if (!p->panic) continue;
        qn__wf_recover(p, begin);
        if (p->at == begin) qn__wf_next(p);
        p->depth = 0;
        p->no_break = p->no_return = false;
        p->loop = NULL;
        p->function = NULL;
    }
    return module;
}
