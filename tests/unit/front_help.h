/* What the tests of the preprocessor and its kin share: a compile's worth of state, and files from a
   table. */
#ifndef FRONT_HELP_H
#define FRONT_HELP_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "front/pp/pp.h"

typedef struct help_file {
    const char *path, *text;
} help_file;

typedef struct help {
    qn__arena arena;
    jmp_buf escape;
    front_sources sources;
    front_diag diag;
    front_names names;
    front_options options;
    qn__target target;
    front_pp_config config;
    const help_file *files; /* ends in a NULL path */
} help;

static inline bool help_read(void *user, const char *path, qn__arena *arena, qn__str *text) {
    (void)arena;
    help *h = user;
    for (const help_file *file = h->files; file && file->path; file++) {
        if (strcmp(file->path, path)) continue;
        *text = qn__str_of(file->text);
        return true;
    }
    return false;
}

#define help_start(h)                                                                                        \
    do {                                                                                                     \
        memset((h), 0, sizeof *(h));                                                                         \
        qn__arena_init(&(h)->arena, NULL, 0);                                                                \
        (h)->arena.escape = &(h)->escape;                                                                    \
        if (setjmp((h)->escape)) fail_msg("the arena escaped");                                              \
        qn__sources_init(&(h)->sources, &(h)->arena, help_read, (h));                                        \
        qn__diag_init(&(h)->diag, &(h)->arena, &(h)->sources);                                               \
        qn__names_init(&(h)->names, &(h)->arena);                                                            \
        (h)->target = (qn__target){0};                                                                       \
    } while (0)

static inline void help_stop(help *h) { qn__arena_free(&h->arena); }

static inline const front_pp_config *help_config(help *h) {
    h->config.arena = &h->arena;
    h->config.sources = &h->sources;
    h->config.diag = &h->diag;
    h->config.names = &h->names;
    h->config.options = &h->options;
    h->config.target = h->target;
    return &h->config;
}

/* The preprocessed text, as qn__pp_print shows it. */
static inline const char *help_expand(help *h, const char *text) {
    front_source *source = qn__source_add(&h->sources, "test.cl", qn__str_of(text));
    front_tokens tokens = qn__pp_expand(help_config(h), source);
    qn__buf out;
    qn__buf_init(&out, &h->arena);
    qn__buf_puts(&out, "");
    qn__pp_print(&out, tokens);
    while (out.len && (out.data[out.len - 1] == '\n' || out.data[out.len - 1] == ' '))
        out.data[--out.len] = 0;
    return out.data ? out.data : "";
}

static inline front_tokens help_tokens(help *h, const char *text) {
    front_source *source = qn__source_add(&h->sources, "test.cl", qn__str_of(text));
    return qn__pp_run(help_config(h), source);
}

static inline const char *help_messages(help *h) {
    qn__buf out;
    qn__buf_init(&out, &h->arena);
    qn__diag_print(&h->diag, &out);
    return out.data ? out.data : "";
}

#endif
