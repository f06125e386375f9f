/* What the tests of the IR share: an arena that fails the test when memory is short, and text in and out. */
#ifndef QN__TEST_IR_SUPPORT_H
#define QN__TEST_IR_SUPPORT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "ir/ir.h"

/* Fails the test instead of returning NULL, so the arena never needs its escape. */
static void *ir_allocate(void *user, size_t size) {
    (void)user;
    void *memory = malloc(size);
    if (!memory) fail_msg("out of memory");
    return memory;
}

static void ir_release(void *user, void *memory) {
    (void)user;
    free(memory);
}

static inline int ir_setup(void **state) {
    static const qn__allocator allocator = {.allocate = ir_allocate, .release = ir_release};
    static qn__arena arena;
    qn__arena_init(&arena, &allocator, 0);
    *state = &arena;
    return 0;
}

static inline int ir_teardown(void **state) {
    qn__arena_free(*state);
    return 0;
}

static inline ir_module *ir_parsed(qn__arena *arena, const char *text) {
    const char *error = NULL;
    ir_module *module = qn__ir_parse(arena, text, strlen(text), &error);
    if (!module) fail_msg("%s\nin:\n%s", error, text);
    return module;
}

static inline const char *ir_printed(qn__arena *arena, const ir_module *module) {
    qn__buf out;
    qn__buf_init(&out, arena);
    qn__ir_print(&out, module);
    return out.len ? out.data : "";
}

#endif
