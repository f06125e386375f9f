/* String slices and the string builder; see str.h. */
#include "util/str.h"

#include <stdio.h>
#include <string.h>

qn__str qn__str_of(const char *text) { return (qn__str){text, text ? strlen(text) : 0}; }

bool qn__str_equal(qn__str a, qn__str b) {
    return a.len == b.len && (a.len == 0 || memcmp(a.data, b.data, a.len) == 0);
}

bool qn__str_is(qn__str a, const char *text) { return qn__str_equal(a, qn__str_of(text)); }

bool qn__str_starts(qn__str text, const char *prefix) {
    size_t len = strlen(prefix);
    return text.len >= len && memcmp(text.data, prefix, len) == 0;
}

void qn__buf_init(qn__buf *buf, qn__arena *arena) { *buf = (qn__buf){.arena = arena}; }

/* Makes room for `extra` bytes and the terminating zero. */
static void reserve(qn__buf *buf, size_t extra) {
    if (buf->cap - buf->len > extra) return;
    size_t cap = buf->cap ? buf->cap * 2 : 64;
    if (cap < buf->len + extra + 1) cap = buf->len + extra + 1;
    buf->data = qn__arena_grow(buf->arena, buf->data, buf->cap, cap);
    buf->cap = cap;
}

void qn__buf_append(qn__buf *buf, const char *data, size_t len) {
    reserve(buf, len);
    if (len) memcpy(buf->data + buf->len, data, len);
    buf->len += len;
    buf->data[buf->len] = 0;
}

void qn__buf_putc(qn__buf *buf, char c) { qn__buf_append(buf, &c, 1); }

void qn__buf_puts(qn__buf *buf, const char *text) { qn__buf_append(buf, text, strlen(text)); }

void qn__buf_vprintf(qn__buf *buf, const char *format, va_list args) {
    va_list again;
    va_copy(again, args);
    reserve(buf, 64);
    int length = vsnprintf(buf->data + buf->len, buf->cap - buf->len, format, args);
    if (length > 0 && (size_t)length >= buf->cap - buf->len) {
        reserve(buf, (size_t)length);
        vsnprintf(buf->data + buf->len, buf->cap - buf->len, format, again);
    }
    if (length > 0) buf->len += (size_t)length;
    va_end(again);
}

void qn__buf_printf(qn__buf *buf, const char *format, ...) {
    va_list args;
    va_start(args, format);
    qn__buf_vprintf(buf, format, args);
    va_end(args);
}

void qn__buf_putu(qn__buf *buf, uint64_t value) {
    char digits[20];
    size_t at = sizeof digits;
    do digits[--at] = (char)('0' + value % 10);
    while (value /= 10);
    qn__buf_append(buf, digits + at, sizeof digits - at);
}
