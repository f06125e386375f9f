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

void qn__buf_reserve(qn__buf *buf, size_t extra) {
    if (buf->cap - buf->len > extra) return;
    size_t cap = buf->cap ? buf->cap * 2 : 64;
    if (cap < buf->len + extra + 1) cap = buf->len + extra + 1;
    buf->data = qn__arena_grow(buf->arena, buf->data, buf->cap, cap);
    buf->cap = cap;
}

void qn__buf_append(qn__buf *buf, const char *data, size_t len) {
    qn__buf_reserve(buf, len);
    if (len) memcpy(buf->data + buf->len, data, len);
    buf->len += len;
    buf->data[buf->len] = 0;
}

void qn__buf_putc(qn__buf *buf, char c) {
    qn__buf_reserve(buf, 1);
    buf->data[buf->len++] = c;
    buf->data[buf->len] = 0;
}

void qn__buf_puts(qn__buf *buf, const char *text) { qn__buf_append(buf, text, strlen(text)); }

void qn__buf_putu(qn__buf *buf, uint64_t value) {
    char digits[20];
    size_t at = sizeof digits;
    do digits[--at] = (char)('0' + value % 10);
    while (value /= 10);
    qn__buf_append(buf, digits + at, sizeof digits - at);
}

static void put_signed(qn__buf *buf, int64_t value) {
    if (value < 0) qn__buf_putc(buf, '-');
    qn__buf_putu(buf, value < 0 ? 0 - (uint64_t)value : (uint64_t)value);
}

/* The directives that nearly all of a compiler's text is made of: %s %c %d %u %zu %lld %llu %%. False at another. */
static bool put_simple(qn__buf *buf, const char *format, va_list *args) {
    const char *p = format, *end = format + strlen(format);
    for (;;) {
        qn__buf_reserve(buf, (size_t)(end - p));
        while (p < end && *p != '%') buf->data[buf->len++] = *p++;
        buf->data[buf->len] = 0;
        if (p == end) return true;
        const char *mark = p;
        p = mark + 2;
        if (mark[1] == 's') {
            const char *text = va_arg(*args, const char *);
            qn__buf_puts(buf, text ? text : "(null)");
        } else if (mark[1] == 'c') {
            qn__buf_putc(buf, (char)va_arg(*args, int));
        } else if (mark[1] == 'u') {
            qn__buf_putu(buf, va_arg(*args, unsigned));
        } else if (mark[1] == 'd') {
            put_signed(buf, va_arg(*args, int));
        } else if (mark[1] == '%') {
            qn__buf_putc(buf, '%');
        } else if (strncmp(mark, "%zu", 3) == 0) {
            qn__buf_putu(buf, va_arg(*args, size_t));
            p++;
        } else if (strncmp(mark, "%lld", 4) == 0) {
            put_signed(buf, va_arg(*args, long long));
            p += 2;
        } else if (strncmp(mark, "%llu", 4) == 0) {
            qn__buf_putu(buf, va_arg(*args, unsigned long long));
            p += 2;
        } else {
            return false;
        }
    }
}

void qn__buf_vprintf(qn__buf *buf, const char *format, va_list args) {
    va_list simple, again;
    size_t start = buf->len;
    va_copy(simple, args);
    bool done = put_simple(buf, format, &simple);
    va_end(simple);
    if (done) return;
    va_copy(again, args);
    buf->len = start;
    int length = vsnprintf(buf->data + buf->len, buf->cap - buf->len, format, args);
    if (length > 0 && (size_t)length >= buf->cap - buf->len) {
        qn__buf_reserve(buf, (size_t)length);
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
