/* libFuzzer target: compile options. What is wrong with them is a sentence that is no longer than it needs to be; given
   twice they mean the same as given once. */
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#include "front/options.h"

enum { BUDGET = 16 << 20, MAX_SENTENCE = 512 };

static void check(qn__arena *arena, const char *text) {
    front_options once = {.std = 0}, twice = {.std = 0};
    const char *wrong = qn__options_parse(arena, text, &once);
    if (wrong && (!*wrong || strlen(wrong) > MAX_SENTENCE)) abort();
    if (wrong) return;
    const char *again = qn__options_parse(arena, text, &twice);
    if (!again) again = qn__options_parse(arena, text, &twice);
    if (again || once.std != twice.std || once.debug != twice.debug ||
        once.opt_disable != twice.opt_disable || once.fast_relaxed_math != twice.fast_relaxed_math ||
        once.no_warnings != twice.no_warnings || once.warnings_are_errors != twice.warnings_are_errors ||
        !once.tune != !twice.tune)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    qn__arena arena;
    jmp_buf escape;
    qn__arena_init(&arena, NULL, BUDGET);
    arena.escape = &escape;
    if (!setjmp(escape)) check(&arena, qn__arena_strndup(&arena, (const char *)data, size));
    qn__arena_free(&arena);
    return 0;
}
