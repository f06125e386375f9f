/* What the tests of emitted text share: looking for text, and for what a kernel asks of the backend. */
#ifndef QN__TEST_EMIT_TEXT_H
#define QN__TEST_EMIT_TEXT_H

#include "emit/emit.h"
#include "ir_support.h"

static void has(const qn__emit_result *result, const char *text) {
    if (!strstr(result->text, text)) fail_msg("no '%s' in:\n%s", text, result->text);
}

static void has_not(const qn__emit_result *result, const char *text) {
    if (strstr(result->text, text)) fail_msg("'%s' in:\n%s", text, result->text);
}

static inline bool asks(const qn__kernel_info *kernel, qn__implicit_kind kind, unsigned dim) {
    for (uint32_t i = 0; i < kernel->num_implicit; i++)
        if (kernel->implicit[i].kind == kind && kernel->implicit[i].dim == dim) return true;
    return false;
}

#endif
