/* For each place in the pattern and the name it is noted whether what follows matches, from the end on; then the way is clear. So no
   pattern takes longer than the product of the lengths. */
#include "tensor/pattern.h"

#include <quern/files.h>
#include <string.h>

/* A row of bits for the places of a name, and the one behind its end. */
typedef struct row {
    uint64_t bits[(QN__NAME_LONGEST + 64) / 64];
} row;

static bool has(const row *r, size_t i) { return r->bits[i / 64] >> i % 64 & 1; }

/* At a star its length, 2 for **; else 0. */
static size_t star_at(const char *pattern) { return pattern[0] != '*' ? 0 : pattern[1] == '*' ? 2 : 1; }

size_t qn__pattern_stars(const char *pattern) {
    size_t count = 0;
    if (strlen(pattern) > QN__PATTERN_LONGEST) return QN__PATTERN_STARS + 1;
    for (size_t star; *pattern; pattern += star ? star : 1) {
        star = star_at(pattern);
        count += star > 0;
    }
    return count;
}

/* The row of a place in the pattern, from that of the next one. */
static void fill_row(const char *pattern, const char *name, size_t size, const row *next, row *r) {
    const size_t star = star_at(pattern);
    memset(r, 0, sizeof *r);
    for (size_t i = size; i-- > 0;) {
        const bool takes = star == 2 || (star == 1 ? name[i] != '.' : name[i] == *pattern);
        if (takes && (has(next, i + 1) || (star && has(r, i + 1)))) r->bits[i / 64] |= (uint64_t)1 << i % 64;
    }
}

bool qn__pattern_match(const char *pattern, const char *name, qn__match *match) {
    row rows[QN__PATTERN_LONGEST + 1];
    const char *places[QN__PATTERN_LONGEST];
    const size_t size = strlen(name);
    size_t count = 0, i = 0;
    *match = (qn__match){0};
    if (size > QN__NAME_LONGEST || qn__pattern_stars(pattern) > QN__PATTERN_STARS) return false;
    for (const char *at = pattern; *at; at += star_at(at) ? star_at(at) : 1) places[count++] = at;
    memset(&rows[count], 0, sizeof rows[count]);
    rows[count].bits[size / 64] |= (uint64_t)1 << size % 64;
    for (size_t p = count; p-- > 0;) fill_row(places[p], name, size, &rows[p + 1], &rows[p]);
    if (!has(&rows[0], 0)) return false;
    for (size_t p = 0; p < count; p++) {
        const size_t begin = i++;
        if (!star_at(places[p])) continue;
        while (!has(&rows[p + 1], i)) i++;
        match->at[match->count] = begin;
        match->size[match->count++] = i - begin;
    }
    return true;
}

bool qn_pattern_matches(const char *pattern, const char *name) {
    qn__match match;
    return pattern && name && qn__pattern_match(pattern, name, &match);
}

bool qn__pattern_fill(const char *pattern, const char *name, const qn__match *match, char *to, size_t size) {
    size_t used = 0, stars = 0;
    for (size_t star; *pattern; pattern += star ? star : 1) {
        star = star_at(pattern);
        const char *part = star ? name + match->at[stars] : pattern;
        const size_t length = star ? match->size[stars] : 1;
        stars += star > 0;
        if (length >= size - used) return false;
        memcpy(to + used, part, length);
        used += length;
    }
    to[used] = 0;
    return true;
}
