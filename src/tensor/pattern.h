/* Names that match patterns: * is one character or more other than '.', ** any one or more. */
#ifndef QN__TENSOR_PATTERN_H
#define QN__TENSOR_PATTERN_H

#include <stdbool.h>
#include <stddef.h>

enum { QN__PATTERN_STARS = 8, QN__PATTERN_LONGEST = 255, QN__NAME_LONGEST = 1023 };

/* What each star stood for, the shortest that fits, from the first on. */
typedef struct qn__match {
    size_t count, at[QN__PATTERN_STARS], size[QN__PATTERN_STARS];
} qn__match;

/* How many stars; beyond QN__PATTERN_STARS where there are too many of them, or the pattern is too long. */
size_t qn__pattern_stars(const char *pattern);
/* Names that are too long match nothing. */
bool qn__pattern_match(const char *pattern, const char *name, qn__match *match);
/* Puts what the stars of the match with `name` stood for in place of those of `pattern`, which has no more. False: it is longer
   than `size`. */
bool qn__pattern_fill(const char *pattern, const char *name, const qn__match *match, char *to, size_t size);

#endif
