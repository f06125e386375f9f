/* libFuzzer target: the records that kernels leave behind for printf. The first byte says how many of the lines that
   follow are strings of the program, formats among them; the rest is the buffer as a device might leave it. */
#include <stdlib.h>
#include <string.h>

#include "backend/common/common.h"

enum { MAX_STRINGS = 8 };

static void count_text(void *user, const char *text, size_t length) {
    size_t *sum = user;
    for (size_t i = 0; i < length; i++) *sum += (unsigned char)text[i];
}

static void count_log(void *user, qn_log_level level, const char *text) {
    (void)level;
    count_text(user, text, strlen(text));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char *strings[MAX_STRINGS];
    size_t at = 1, sum = 0, count = size ? data[0] % (MAX_STRINGS + 1) : 0;
    for (size_t i = 0; i < count; i++) {
        const uint8_t *end = at < size ? memchr(data + at, '\n', size - at) : NULL;
        const size_t length = !end ? 0 : (size_t)(end - data) - at;
        strings[i] = calloc(length + 1, 1);
        if (!strings[i]) abort();
        if (length) memcpy(strings[i], data + at, length);
        if (end) at += length + 1;
    }
    /* A copy of its own: what is read beyond it is found. */
    const size_t rest = at < size ? size - at : 0;
    unsigned char *buffer = malloc(rest + 1);
    if (!buffer) abort();
    if (rest) memcpy(buffer, data + at, rest);
    const qn__services services = {
        .print = count_text, .print_user = &sum, .log = count_log, .log_user = &sum};
    const qn__code_info code = {.strings = (const char *const *)strings, .num_strings = (uint32_t)count};
    qn__print_records(&services, &code, buffer, rest);
    free(buffer);
    for (size_t i = 0; i < count; i++) free(strings[i]);
    return 0;
}
