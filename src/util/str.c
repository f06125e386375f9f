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

static bool is_word(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

static const char dots[] = "...";

void qn__shorten(char *text, size_t word, size_t most) {
    char *to = text;
    for (const char *at = text; *at;) {
        size_t length = 0;
        while (is_word(at[length])) length++;
        const bool cut = length > word;
        const size_t kept = cut ? word - (sizeof dots - 1) : length ? length : 1;
        memmove(to, at, kept);
        to += kept;
        if (cut) memcpy(to, dots, sizeof dots - 1);
        if (cut) to += sizeof dots - 1;
        at += length ? length : 1;
    }
    *to = 0;
    if ((size_t)(to - text) > most) memcpy(text + most - (sizeof dots - 1), dots, sizeof dots);
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

/* ---- numbers and patterns ---- */

enum { NUMBER_SIZE = 24 }; /* room for any number */

static char *write_unsigned(char *at, uint64_t value) {
    char digits[NUMBER_SIZE];
    unsigned count = 0;
    do digits[count++] = (char)('0' + value % 10);
    while (value /= 10);
    while (count) *at++ = digits[--count];
    return at;
}

static char *write_signed(char *at, int64_t value) {
    if (value < 0) *at++ = '-';
    return write_unsigned(at, value < 0 ? 0 - (uint64_t)value : (uint64_t)value);
}

/* What stands up to `at`, which is in the buffer's storage, is the text. */
static void end_at(qn__buf *buf, char *at) {
    *at = 0;
    buf->len = (size_t)(at - buf->data);
}

/* Room for `extra` bytes, a number and the zero behind `at`; gives where `at` is now. */
static char *more_room(qn__buf *buf, char *at, size_t extra) {
    if ((size_t)(buf->data + buf->cap - at) > extra + NUMBER_SIZE) return at;
    buf->len = (size_t)(at - buf->data);
    qn__buf_reserve(buf, extra + NUMBER_SIZE);
    return buf->data + buf->len;
}

void qn__buf_putu(qn__buf *buf, uint64_t value) {
    qn__buf_reserve(buf, NUMBER_SIZE);
    end_at(buf, write_unsigned(buf->data + buf->len, value));
}

/* The directives that nearly all of a compiler's text is made of: %s %c %d %u %zu %lld %llu %%. False at another. */
static bool put_simple(qn__buf *buf, const char *format, va_list *args) {
    const size_t left = strlen(format); /* no more than that of the format is still to come */
    qn__buf_reserve(buf, left + NUMBER_SIZE);
    char *at = buf->data + buf->len;
    for (const char *p = format; *p; p++) {
        if (*p != '%') {
            *at++ = *p;
            continue;
        }
        p++;
        if (*p == 's') {
            const char *text = va_arg(*args, const char *);
            if (!text) text = "(null)";
            const size_t length = strlen(text);
            at = more_room(buf, at, left + length);
            memcpy(at, text, length);
            at += length;
            continue;
        }
        at = more_room(buf, at, left);
        if (*p == 'c') {
            *at++ = (char)va_arg(*args, int);
        } else if (*p == 'u') {
            at = write_unsigned(at, va_arg(*args, unsigned));
        } else if (*p == 'd') {
            at = write_signed(at, va_arg(*args, int));
        } else if (*p == '%') {
            *at++ = '%';
        } else if (strncmp(p, "zu", 2) == 0) {
            at = write_unsigned(at, va_arg(*args, size_t));
            p++;
        } else if (strncmp(p, "lld", 3) == 0) {
            at = write_signed(at, va_arg(*args, long long));
            p += 2;
        } else if (strncmp(p, "llu", 3) == 0) {
            at = write_unsigned(at, va_arg(*args, unsigned long long));
            p += 2;
        } else {
            return false;
        }
    }
    end_at(buf, at);
    return true;
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
