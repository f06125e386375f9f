/* libFuzzer target: the whole front end, from text to IR. The input's first line is taken for compile
   options, the rest is the source. What parses without an error is lowered and must pass the verifier. */
#include <stdlib.h>
#include <string.h>

#include "front/lower/lower.h"
#include "front/parse/parse.h"

enum { BUDGET = 512 << 20, MAX_TOKENS = 20000, MAX_INSTRS = 100000 };

static bool read_nothing(void *user, const char *path, qn__arena *arena, qn__str *text) {
    (void)user, (void)path, (void)arena, (void)text;
    return false;
}

static void lower_unit(const front_context *context, const ast_unit *unit) {
    lower_config config = {.arena = context->arena,
                           .sources = context->sources,
                           .diag = context->diag,
                           .options = context->options,
                           .target = context->target,
                           .max_instrs = MAX_INSTRS};
    ir_module *module = qn__lower(&config, unit);
    if (context->diag->errors) return;
    const char *wrong = qn__ir_verify(context->arena, module);
    if (wrong) abort();
}

static void compile(qn__arena *arena, const char *options_text, qn__str text) {
    front_sources sources;
    front_diag diag;
    front_names names;
    front_options options = {.std = 0};
    qn__sources_init(&sources, arena, read_nothing, NULL);
    qn__diag_init(&diag, arena, &sources);
    qn__names_init(&names, arena);
    qn__options_parse(arena, options_text, &options);
    front_pp_config config = {.arena = arena,
                              .sources = &sources,
                              .diag = &diag,
                              .names = &names,
                              .options = &options,
                              .max_tokens = MAX_TOKENS};
    front_context context = {.arena = arena, .sources = &sources, .diag = &diag, .options = &options};
    qn__buf out;
    qn__buf_init(&out, arena);
    front_tokens tokens = qn__pp_run(&config, qn__source_add(&sources, "fuzz.cl", text));
    qn__front_context_init(&context);
    const ast_unit *unit = qn__parse(&context, tokens);
    if (!diag.errors) {
        qn__ast_print(&out, unit);
        lower_unit(&context, unit);
    }
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
        qn__str text = {(const char *)data + first, size - first};
        compile(&arena, qn__arena_strndup(&arena, (const char *)data, first), text);
    }
    qn__arena_free(&arena);
    return 0;
}
