/* Tokens of a WGSL text, its module-scope variables with bindings, and its functions. */
#include "wgsl_shape.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* ---- tokens ---- */

static const char *skip_block_comment(const char *at) {
    int depth = 0;
    do {
        if (at[0] == '/' && at[1] == '*')
            depth++, at += 2;
        else if (at[0] == '*' && at[1] == '/')
            depth--, at += 2;
        else
            at++;
    } while (depth && *at);
    return at;
}

static const char *skip_blank(const char *at) {
    for (;;) {
        if (isspace((unsigned char)*at))
            at++;
        else if (at[0] == '/' && at[1] == '/')
            at += strcspn(at, "\n\v\f\r");
        else if (at[0] == '/' && at[1] == '*')
            at = skip_block_comment(at);
        else
            return at;
    }
}

static bool in_word(char c) { return isalnum((unsigned char)c) || c == '_' || (unsigned char)c >= 0x80; }

static bool read_tokens(const char *at, wgsl_shape *shape) {
    for (at = skip_blank(at); *at; at = skip_blank(at)) {
        if (shape->num_tokens == WGSL_MAX_TOKENS) return false;
        wgsl_token *token = &shape->tokens[shape->num_tokens++];
        token->text = at;
        do at++;
        while (in_word(*token->text) && in_word(*at));
        token->length = (size_t)(at - token->text);
    }
    return true;
}

static bool is(const wgsl_shape *shape, uint32_t token, const char *text) {
    return token < shape->num_tokens && shape->tokens[token].length == strlen(text) &&
           memcmp(shape->tokens[token].text, text, strlen(text)) == 0;
}

static bool same(wgsl_token a, wgsl_token b) {
    return a.length == b.length && memcmp(a.text, b.text, a.length) == 0;
}

/* Behind the bracket that closes the one here. */
static uint32_t behind(const wgsl_shape *shape, uint32_t at, const char *open, const char *close) {
    for (int depth = 0; at < shape->num_tokens; at++) {
        depth += is(shape, at, open) - is(shape, at, close);
        if (depth == 0) return at + 1;
    }
    return at;
}

/* ---- declarations ---- */

typedef struct attributes {
    uint32_t first;
    uint32_t group, binding, local[3];
    bool bound;
} attributes;

static uint32_t number_at(const wgsl_shape *shape, uint32_t at) {
    return at < shape->num_tokens ? (uint32_t)strtoul(shape->tokens[at].text, NULL, 0) : 0;
}

/* "@name" or "@name(...)"; gives what is behind. */
static uint32_t read_attribute(const wgsl_shape *shape, uint32_t at, attributes *found) {
    const uint32_t name = at + 1, value = at + 3;
    if (!is(shape, at + 2, "(")) return at + 2;
    const uint32_t end = behind(shape, at + 2, "(", ")");
    if (is(shape, name, "group")) found->group = number_at(shape, value);
    if (is(shape, name, "binding")) {
        found->binding = number_at(shape, value);
        found->bound = true;
    }
    if (is(shape, name, "workgroup_size")) {
        uint32_t d = 0;
        for (; d < 3; d++) found->local[d] = 1;
        d = 0;
        for (uint32_t i = value; i < end - 1 && d < 3; i++)
            if (!is(shape, i, ",")) found->local[d++] = number_at(shape, i);
    }
    return end;
}

static bool add_binding(wgsl_shape *shape, uint32_t at, const attributes *found) {
    if (shape->num_bindings == WGSL_MAX_BINDINGS) return false;
    const wgsl_binding made = {.name = shape->tokens[behind(shape, at + 1, "<", ">")],
                               .group = found->group,
                               .binding = found->binding,
                               .uniform = is(shape, at + 2, "uniform")};
    uint32_t place = shape->num_bindings++;
    for (; place > 0; place--) {
        const wgsl_binding *before = &shape->bindings[place - 1];
        if (before->group < made.group || (before->group == made.group && before->binding < made.binding))
            break;
        shape->bindings[place] = *before;
    }
    shape->bindings[place] = made;
    return true;
}

static bool add_function(wgsl_shape *shape, uint32_t at, const attributes *found, uint32_t *end) {
    if (shape->num_functions == WGSL_MAX_FUNCTIONS) return false;
    wgsl_function *made = &shape->functions[shape->num_functions++];
    *made = (wgsl_function){.name = shape->tokens[at + 1], .first = found->first};
    memcpy(made->local, found->local, sizeof made->local);
    while (at < shape->num_tokens && !is(shape, at, "{")) at++;
    *end = made->end = behind(shape, at, "{", "}");
    return true;
}

bool wgsl_shape_read(const char *source, wgsl_shape *shape) {
    shape->num_tokens = shape->num_bindings = shape->num_functions = 0;
    if (!read_tokens(source, shape)) return false;
    attributes found = {.first = 0};
    for (uint32_t at = 0; at < shape->num_tokens;) {
        if (is(shape, at, "@")) {
            at = read_attribute(shape, at, &found);
            continue;
        }
        uint32_t next = at + 1;
        if (is(shape, at, "fn") && !add_function(shape, at, &found, &next)) return false;
        if (is(shape, at, "var") && found.bound && !add_binding(shape, at, &found)) return false;
        if (is(shape, at, "{"))
            next = behind(shape, at, "{", "}"); /* of a struct, whose members have attributes */
        at = next;
        if (is(shape, at - 1, ";") || is(shape, at - 1, "}")) found = (attributes){.first = at};
    }
    return true;
}

/* ---- use ---- */

const wgsl_function *wgsl_shape_function(const wgsl_shape *shape, const char *name) {
    for (uint32_t i = 0; i < shape->num_functions; i++)
        if (same(shape->functions[i].name, (wgsl_token){name, strlen(name)})) return &shape->functions[i];
    return NULL;
}

typedef struct reach {
    bool functions[WGSL_MAX_FUNCTIONS], bindings[WGSL_MAX_BINDINGS];
} reach;

static void visit(const wgsl_shape *shape, uint32_t function, reach *reached) {
    if (reached->functions[function]) return;
    reached->functions[function] = true;
    for (uint32_t i = shape->functions[function].first; i < shape->functions[function].end; i++) {
        for (uint32_t f = 0; f < shape->num_functions; f++)
            if (same(shape->tokens[i], shape->functions[f].name)) visit(shape, f, reached);
        for (uint32_t b = 0; b < shape->num_bindings; b++)
            reached->bindings[b] |= same(shape->tokens[i], shape->bindings[b].name);
    }
}

uint32_t wgsl_shape_uses(const wgsl_shape *shape, const wgsl_function *function,
                         const wgsl_binding *used[WGSL_MAX_BINDINGS]) {
    reach reached = {.functions = {false}};
    uint32_t count = 0;
    visit(shape, (uint32_t)(function - shape->functions), &reached);
    for (uint32_t b = 0; b < shape->num_bindings; b++)
        if (reached.bindings[b]) used[count++] = &shape->bindings[b];
    return count;
}
