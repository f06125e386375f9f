/* String slices (not zero-terminated) and a string builder in an arena. */
#ifndef QN__STR_H
#define QN__STR_H

#include <stdbool.h>

#include "util/arena.h"

typedef struct qn__str {
    const char *data;
    size_t len;
} qn__str;

#define QN__STR(literal)       ((qn__str){(literal), sizeof(literal) - 1})
#define QN__STR_PRINTF(string) (int)(string).len, (string).data /* for "%.*s" */

qn__str qn__str_of(const char *text); /* NULL gives the empty slice */
bool qn__str_equal(qn__str a, qn__str b);
bool qn__str_is(qn__str a, const char *text);
bool qn__str_starts(qn__str text, const char *prefix);

/* Of each word (letters, digits, underscores) of more than `word` characters, and of the whole if it has more than
   `most`, the start stays, with dots behind it. */
void qn__shorten(char *text, size_t word, size_t most);

/* Text under construction; always zero-terminated after the first append. */
typedef struct qn__buf {
    qn__arena *arena;
    char *data;
    size_t len, cap;
} qn__buf;

void qn__buf_init(qn__buf *buf, qn__arena *arena);
void qn__buf_reserve(qn__buf *buf, size_t extra); /* room for that many more bytes and the closing zero */
void qn__buf_putc(qn__buf *buf, char c);
void qn__buf_puts(qn__buf *buf, const char *text);
void qn__buf_append(qn__buf *buf, const char *data, size_t len);
void qn__buf_printf(qn__buf *buf, const char *format, ...) QN__PRINTF(2, 3);
void qn__buf_vprintf(qn__buf *buf, const char *format, va_list args);
void qn__buf_putu(qn__buf *buf, uint64_t value); /* decimal; faster than printf */

#endif
