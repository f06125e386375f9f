/* What the tests of the SPIR-V target share: reading a module, and showing it to spirv-val. */
#ifndef QN__TEST_SPIRV_SUPPORT_H
#define QN__TEST_SPIRV_SUPPORT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "compile.h"

static inline uint32_t word(const qn__compile_result *result, size_t index) {
    uint32_t value;
    memcpy(&value, result->text + index * 4, sizeof value);
    return value;
}

/* Calls visit for each instruction. */
static inline void
each(const qn__compile_result *result,
     void (*visit)(const qn__compile_result *, size_t at, unsigned op, unsigned length, void *), void *user) {
    size_t count = result->text_size / 4;
    assert_true(count > 5);
    assert_int_equal(word(result, 0), 0x07230203);
    assert_int_equal(word(result, 1), 0x00010500);
    for (size_t at = 5; at < count;) {
        unsigned length = word(result, at) >> 16;
        assert_true(length > 0 && at + length <= count);
        visit(result, at, word(result, at) & 0xffff, length, user);
        at += length;
    }
}

/* Runs spirv-val on the module, if there is one, and it is not older than what it is shown. */
static inline void validate(const qn__compile_result *result, const char *source) {
    char path[] = "/tmp/quern-spirv-XXXXXX", command[256];
    int file = mkstemp(path);
    assert_true(file >= 0);
    assert_int_equal(write(file, result->text, result->text_size), (ssize_t)result->text_size);
    close(file);
    snprintf(command, sizeof command,
             "! command -v spirv-val > /dev/null || spirv-val --target-env vulkan1.2 %s > %s.log 2>&1 ||"
             " grep -q 'Invalid capability operand' %s.log",
             path, path, path);
    int status = system(command);
    unlink(path);
    snprintf(command, sizeof command, "%s.log", path);
    unlink(command);
    if (status) fail_msg("spirv-val refuses the module of:\n%s", source);
}

#endif
