/* Fuzzes the IR's text form: no text may crash the parser, the printer or the verifier, and what is printed
   must parse back to the same text and be judged the same. */
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#include "ir/ir.h"

enum { BUDGET = 64 << 20 };

static qn__buf printed(qn__arena *arena, const ir_module *module) {
    qn__buf out;
    qn__buf_init(&out, arena);
    qn__buf_puts(&out, "");
    qn__ir_print(&out, module);
    return out;
}

static void check(qn__arena *arena, const char *text, size_t size) {
    const char *error = NULL;
    ir_module *module = qn__ir_parse(arena, text, size, &error);
    if (!module) {
        if (!error) abort();
        return;
    }
    const char *broken = qn__ir_verify(arena, module);
    qn__buf first = printed(arena, module);
    ir_module *again = qn__ir_parse(arena, first.data, first.len, &error);
    if (!again) abort();
    qn__buf second = printed(arena, again);
    if (first.len != second.len || memcmp(first.data, second.data, first.len) != 0) abort();
    if (!broken != !qn__ir_verify(arena, again)) abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    qn__arena arena;
    jmp_buf escape;
    qn__arena_init(&arena, NULL, BUDGET);
    arena.escape = &escape;
    if (!setjmp(escape)) check(&arena, (const char *)data, size);
    qn__arena_free(&arena);
    return 0;
}
