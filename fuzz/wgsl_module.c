/* libFuzzer target: the WGSL front end, from text to IR. The input's first line is taken for compile options, the rest is
   the module. What has no error must pass the verifier. */
#include <stdlib.h>
#include <string.h>

#include "wgsl/wgsl.h"

enum { BUDGET = 512 << 20, MAX_INSTRS = 100000, MAX_INPUT = 1 << 16 };

static void compile(qn__arena *arena, const char *options_text, qn__str text) {
    front_sources sources;
    front_diag diag;
    front_options options = {.numbers = true};
    qn__buf out;
    qn__buf_init(&out, arena);
    qn__sources_init(&sources, arena, NULL, NULL);
    qn__diag_init(&diag, arena, &sources);
    qn__options_parse(arena, options_text, &options);
    front_context context = {.arena = arena, .sources = &sources, .diag = &diag, .options = &options};
    qn__front_context_init(&context);
    const lower_config config = {
        .arena = arena, .sources = &sources, .diag = &diag, .options = &options, .max_instrs = MAX_INSTRS};
    wgsl_module *tree = qn__wf_parse(arena, qn__source_add(&sources, "fuzz.wgsl", text), &diag);
    const ir_module *module = qn__wf_lower(&config, &context, tree);
    if (!diag.errors && qn__ir_verify(arena, module)) abort();
    qn__diag_print(&diag, &out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    qn__arena arena;
    qn__allocator allocator = {0};
    jmp_buf escape;
    if (size > MAX_INPUT) return 0;
    qn__arena_init(&arena, &allocator, BUDGET);
    arena.escape = &escape;
    if (setjmp(escape) == 0) {
        const char *text = qn__arena_strndup(&arena, (const char *)data, size),
                   *line = memchr(text, '\n', size);
        const size_t head = line ? (size_t)(line + 1 - text) : 0;
        const char *words =
            head && strncmp(text, "//", 2) != 0 ? qn__arena_strndup(&arena, text, head - 1) : NULL;
        compile(&arena, words, (qn__str){text + head, size - head});
    }
    qn__arena_free(&arena);
    return 0;
}
