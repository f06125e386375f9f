/* #include: where headers are looked for. "name" is looked for beside the file that includes it, then in the
   -I directories; <name> in these only. */
#include <string.h>

#include "front/pp/internal.h"

enum { MAX_NAME = 4096 };

static front_source *try_path(front_pp *pp, qn__str directory, qn__str name, qn__buf *tried) {
    bool slash = directory.len && directory.data[directory.len - 1] != '/';
    const char *path = qn__arena_printf(pp->arena, "%.*s%s%.*s", QN__STR_PRINTF(directory), slash ? "/" : "",
                                        QN__STR_PRINTF(name));
    if (tried) {
        if (tried->len) qn__buf_puts(tried, ", ");
        if (tried->len < MAX_NAME)
            qn__buf_printf(tried, "'%.*s'", (int)(directory.len ? directory.len : 1),
                           directory.len ? directory.data : ".");
    }
    return qn__source_open(pp->config.sources, path);
}

/* What comes before the last slash, the slash included. */
static qn__str directory_of(const char *path) {
    const char *slash = strrchr(path, '/');
    return (qn__str){path, slash ? (size_t)(slash + 1 - path) : 0};
}

front_source *qn__pp_find_header(front_pp *pp, qn__str name, bool angled, qn__buf *tried) {
    front_source *source = NULL;
    if (!name.len || name.len > MAX_NAME || memchr(name.data, 0, name.len)) return NULL;
    if (name.data[0] == '/') return try_path(pp, (qn__str){"", 0}, name, tried);
    if (!angled) source = try_path(pp, directory_of(qn__pp_file(pp)->lexer.source->path), name, tried);
    for (size_t i = 0; !source && i < pp->options->include_dirs.len; i++)
        source = try_path(pp, qn__str_of(pp->options->include_dirs.data[i]), name, tried);
    return source;
}

bool qn__pp_header_of(front_pp *pp, const front_token *tokens, size_t len, qn__str *name, bool *angled) {
    if (len == 1 && tokens[0].kind == FRONT_T_STRING && tokens[0].len >= 2) {
        *name = (qn__str){tokens[0].text + 1, tokens[0].len - 2};
        *angled = false;
        return true;
    }
    if (len < 3 || tokens[0].kind != FRONT_T_LESS || tokens[len - 1].kind != FRONT_T_GREATER) return false;
    qn__buf text;
    qn__buf_init(&text, pp->arena);
    for (size_t i = 1; i + 1 < len; i++) {
        if (i > 1 && (tokens[i].flags & FRONT_SPACE)) qn__buf_putc(&text, ' ');
        qn__buf_append(&text, tokens[i].text, tokens[i].len);
    }
    *name = (qn__str){text.data, text.len};
    *angled = true;
    return true;
}

/* The operand of #include: <name>, "name", or macros that expand to either. */
static bool read_operand(front_pp *pp, front_loc loc, qn__str *name, bool *angled) {
    front_lexer *lexer = &qn__pp_file(pp)->lexer;
    if (qn__lex_header_name(lexer, name)) return *angled = true;
    pp_tokens line = {0}, expanded = {0};
    front_token token;
    for (qn__lex_next(lexer, &token); token.kind != FRONT_T_END && qn__pp_charge(pp, 1);
         qn__lex_next(lexer, &token))
        qn__vec_push(pp->arena, &line, token);
    qn__pp_expand_list(pp, line.data, line.len, &expanded);
    if (qn__pp_header_of(pp, expanded.data, expanded.len, name, angled)) return true;
    qn__diag_error(pp->diag, expanded.len ? expanded.data[0].loc : loc, "#include needs \"name\" or <name>");
    return false;
}

void qn__pp_include(front_pp *pp, front_loc loc) {
    qn__str name;
    bool angled;
    if (!read_operand(pp, loc, &name, &angled)) return;
    if (pp->files.len > pp->config.max_include) {
        qn__diag_error(pp->diag, loc, "#include is nested more than %u deep",
                       (unsigned)pp->config.max_include);
        qn__diag_hint(pp->diag, "does a file include itself? Guard it with #pragma once");
        pp->diag->stopped = true;
        return;
    }
    qn__buf tried;
    qn__buf_init(&tried, pp->arena);
    front_source *source = qn__pp_find_header(pp, name, angled, &tried);
    if (!source) {
        qn__diag_error(pp->diag, loc, "cannot find the file '%.*s'", (int)(name.len < 200 ? name.len : 200),
                       name.data);
        if (tried.len)
            qn__diag_hint(pp->diag, "looked in %s; add a directory with -I", tried.data);
        else
            qn__diag_hint(pp->diag, "add the directory it is in with -I");
        return;
    }
    if (!source->once) qn__pp_enter(pp, source, loc);
}
