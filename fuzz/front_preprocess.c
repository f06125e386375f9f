/* libFuzzer target: the preprocessor with its diagnostics. The input's first line is taken for compile
   options, the rest is the source, which may include itself as "self.h". */
#include <stdlib.h>
#include <string.h>

#include "front/pp/pp.h"

enum { BUDGET = 256 << 20, MAX_TOKENS = 20000 };

typedef struct input {
    qn__str text;
} input;

static bool read_self(void *user, const char *path, qn__arena *arena, qn__str *text) {
    (void)arena;
    if (strcmp(path, "self.h")) return false;
    *text = ((const input *)user)->text;
    return true;
}

/* Touches every token as a parser would. */
static void use(front_tokens tokens) {
    uint64_t sum = 0;
    for (size_t i = 0; i < tokens.len; i++) {
        const front_token *token = &tokens.data[i];
        if (token->kind == FRONT_T_STRING) sum += token->string->len;
        if (token->kind == FRONT_T_IDENTIFIER) sum += token->name->len;
        if (token->kind == FRONT_T_PRAGMA) sum += (uint64_t)token->pragma->unroll;
        if (token->len) sum += (unsigned char)token->text[token->len - 1];
    }
    if (!tokens.len || tokens.data[tokens.len - 1].kind != FRONT_T_END || sum == UINT64_MAX) abort();
}

static void preprocess(qn__arena *arena, const char *options_text, input *in) {
    front_sources sources;
    front_diag diag;
    front_names names;
    front_options options = {.std = 0};
    qn__sources_init(&sources, arena, read_self, in);
    qn__diag_init(&diag, arena, &sources);
    qn__names_init(&names, arena);
    qn__options_parse(arena, options_text, &options);
    front_pp_config config = {.arena = arena,
                              .sources = &sources,
                              .diag = &diag,
                              .names = &names,
                              .options = &options,
                              .max_tokens = MAX_TOKENS};
    use(qn__pp_run(&config, qn__source_add(&sources, "fuzz.cl", in->text)));
    qn__buf out;
    qn__buf_init(&out, arena);
    qn__diag_print(&diag, &out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    qn__arena arena;
    jmp_buf escape;
    qn__arena_init(&arena, NULL, BUDGET);
    arena.escape = &escape;
    if (!setjmp(escape)) {
        const uint8_t *newline = size ? memchr(data, '\n', size) : NULL;
        size_t first = newline ? (size_t)(newline - data) : 0;
        input in = {{(const char *)data + first, size - first}};
        preprocess(&arena, qn__arena_strndup(&arena, (const char *)data, first), &in);
    }
    qn__arena_free(&arena);
    return 0;
}
