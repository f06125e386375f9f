/* A reader of JSON without recursion: nested values that are left out are counted, to a depth that fits into a word. */
#include "tensor/files/json.h"

#include <string.h>

enum { DEEPEST = 64 };

bool qn__json_wrong(qn__json *j, const char *problem) {
    if (!j->problem) j->problem = problem;
    return false;
}

static void skip_blanks(qn__json *j) {
    while (j->at < j->end && (*j->at == ' ' || *j->at == '\t' || *j->at == '\n' || *j->at == '\r')) j->at++;
}

bool qn__json_next_is(qn__json *j, char c) {
    if (j->problem) return false;
    skip_blanks(j);
    if (j->at == j->end || *j->at != (uint8_t)c) return false;
    j->at++;
    return true;
}

bool qn__json_expect(qn__json *j, char c) {
    if (qn__json_next_is(j, c)) return true;
    switch (c) {
    case '{': return qn__json_wrong(j, "an object, '{', was expected");
    case '[': return qn__json_wrong(j, "an array, '[', was expected");
    case ']': return qn__json_wrong(j, "',' or ']' was expected");
    case '}': return qn__json_wrong(j, "',' or '}' was expected");
    case ',': return qn__json_wrong(j, "',' was expected");
    case '"': return qn__json_wrong(j, "a string was expected");
    default: return qn__json_wrong(j, "':' was expected");
    }
}

bool qn__json_end(qn__json *j) {
    if (j->problem) return false;
    skip_blanks(j);
    return j->at == j->end || qn__json_wrong(j, "there is something behind the end");
}

/* ---- strings ---- */

static int hex_digit(uint8_t c) {
    if (c >= '0' && c <= '9') return c - '0';
    c |= 0x20;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* The four digits after \u. */
static bool read_hex(const uint8_t *at, const uint8_t *end, unsigned *value) {
    *value = 0;
    if (end - at < 4) return false;
    for (int i = 0; i < 4; i++) {
        const int digit = hex_digit(at[i]);
        if (digit < 0) return false;
        *value = *value << 4 | (unsigned)digit;
    }
    return true;
}

static char *put_character(char *to, unsigned c) {
    if (c < 0x80) {
        *to++ = (char)c;
        return to;
    }
    if (c < 0x800) {
        *to++ = (char)(0xc0 | c >> 6);
    } else {
        if (c < 0x10000) {
            *to++ = (char)(0xe0 | c >> 12);
        } else {
            *to++ = (char)(0xf0 | c >> 18);
            *to++ = (char)(0x80 | (c >> 12 & 63));
        }
        *to++ = (char)(0x80 | (c >> 6 & 63));
    }
    *to++ = (char)(0x80 | (c & 63));
    return to;
}

/* \uXXXX, two of them for what is beyond 16 bits; *at is behind the u. */
static char *unescape_number(const uint8_t **at, const uint8_t *end, char *to) {
    unsigned c, low;
    if (!read_hex(*at, end, &c)) return NULL;
    *at += 4;
    if (c >= 0xdc00 && c < 0xe000) return NULL;
    if (c >= 0xd800 && c < 0xdc00) {
        if (end - *at < 6 || (*at)[0] != '\\' || (*at)[1] != 'u' || !read_hex(*at + 2, end, &low))
            return NULL;
        if (low < 0xdc00 || low >= 0xe000) return NULL;
        *at += 6;
        c = 0x10000 + ((c - 0xd800) << 10) + (low - 0xdc00);
    }
    return put_character(to, c);
}

/* Replaces escapes; NULL where one is none. What comes out is never longer. */
static char *unescape(const uint8_t *at, const uint8_t *end, char *to) {
    static const char from[] = "\"\\/bfnrt", into[] = "\"\\/\b\f\n\r\t";
    while (at < end) {
        if (*at != '\\') {
            *to++ = (char)*at++;
            continue;
        }
        at++; /* a character follows: the string did not end here */
        const char *known = memchr(from, *at, sizeof from - 1);
        if (known) {
            *to++ = into[known - from];
            at++;
        } else {
            if (*at != 'u') return NULL;
            at++;
            to = unescape_number(&at, end, to);
            if (!to) return NULL;
        }
    }
    return to;
}

/* Moves behind a string whose opening quote was taken; *end is its closing quote. */
static bool find_end(qn__json *j, const uint8_t **end) {
    for (const uint8_t *at = j->at; at < j->end; at++) {
        if (*at == '"') {
            *end = at;
            return true;
        }
        if (*at < 0x20) {
            j->at = at;
            return qn__json_wrong(j, "there is a control character in a string");
        }
        if (*at == '\\' && ++at == j->end) break;
    }
    return qn__json_wrong(j, "a string begins here that does not end");
}

bool qn__json_text(qn__json *j, const char **text) {
    const uint8_t *end;
    if (!qn__json_expect(j, '"') || !find_end(j, &end)) return false;
    const uint64_t size = (uint64_t)(end - j->at);
    char *copy = qn__archive_keep(j->archive, size + 1);
    if (!copy) {
        j->is_out_of_memory = true;
        return qn__json_wrong(j, "memory is exhausted");
    }
    const char *copied = unescape(j->at, end, copy);
    if (!copied) return qn__json_wrong(j, "there is an escape in this string that is none");
    if (!qn__is_name(copy, (uint64_t)(copied - copy)))
        return qn__json_wrong(j, "this string is no UTF-8, or has a zero in it");
    j->at = end + 1;
    *text = copy;
    return true;
}

/* ---- numbers, and what is left out ---- */

bool qn__json_number(qn__json *j, uint64_t *number) {
    static const char wrong[] = "an integer from 0 to 2^64 - 1 was expected";
    if (j->problem) return false;
    skip_blanks(j);
    const uint8_t *at = j->at;
    *number = 0;
    for (; at < j->end && *at >= '0' && *at <= '9'; at++) {
        const uint64_t digit = *at - (uint64_t)'0';
        if (!qn__multiply(number, 10) || *number > UINT64_MAX - digit) return qn__json_wrong(j, wrong);
        *number += digit;
    }
    const bool has_zeros = at - j->at > 1 && *j->at == '0';
    const bool goes_on = at < j->end && (*at == '.' || *at == 'e' || *at == 'E');
    if (at == j->at || has_zeros || goes_on) return qn__json_wrong(j, wrong);
    j->at = at;
    return true;
}

static void skip_digits(qn__json *j) {
    while (j->at < j->end && *j->at >= '0' && *j->at <= '9') j->at++;
}

static bool skip_number(qn__json *j) {
    if (*j->at == '-') j->at++;
    const uint8_t *digits = j->at;
    skip_digits(j);
    if (j->at == digits) return qn__json_wrong(j, "a value was expected");
    if (j->at < j->end && *j->at == '.') {
        j->at++;
        skip_digits(j);
    }
    if (j->at < j->end && (*j->at == 'e' || *j->at == 'E')) {
        j->at++;
        if (j->at < j->end && (*j->at == '+' || *j->at == '-')) j->at++;
        skip_digits(j);
    }
    return true;
}

static bool skip_word(qn__json *j, const char *word) {
    const size_t size = strlen(word);
    if ((size_t)(j->end - j->at) < size || memcmp(j->at, word, size) != 0)
        return qn__json_wrong(j, "a value was expected");
    j->at += size;
    return true;
}

static bool skip_string(qn__json *j) {
    const uint8_t *end;
    if (!qn__json_expect(j, '"') || !find_end(j, &end)) return false;
    j->at = end + 1;
    return true;
}

static bool skip_plain(qn__json *j) {
    switch (*j->at) {
    case '"': return skip_string(j);
    case 't': return skip_word(j, "true");
    case 'f': return skip_word(j, "false");
    case 'n': return skip_word(j, "null");
    default: return skip_number(j);
    }
}

/* Closes what ends here. False: a value or a key comes next, or there is a problem. */
static bool close_ended(qn__json *j, uint64_t *is_object, int *depth) {
    while (*depth > 0) {
        if (qn__json_next_is(j, ',')) return false;
        if (!qn__json_expect(j, *is_object & 1 ? '}' : ']')) return false;
        *is_object >>= 1;
        --*depth;
    }
    return true;
}

bool qn__json_skip(qn__json *j) {
    uint64_t is_object = 0; /* a bit for each that is open, the innermost the lowest */
    int depth = 0;
    bool is_first = false; /* nothing has come yet in the innermost one */
    while (!j->problem) {
        skip_blanks(j);
        if (is_first && qn__json_next_is(j, is_object & 1 ? '}' : ']')) {
            is_object >>= 1;
            depth--;
            is_first = false;
            if (close_ended(j, &is_object, &depth)) return true;
            continue;
        }
        if (depth && (is_object & 1) && (!skip_string(j) || !qn__json_expect(j, ':'))) return false;
        skip_blanks(j);
        if (j->at == j->end) return qn__json_wrong(j, "a value was expected");
        const uint8_t c = *j->at;
        is_first = c == '{' || c == '[';
        if (is_first) {
            if (++depth > DEEPEST) return qn__json_wrong(j, "values are nested more than 64 deep");
            is_object = is_object << 1 | (c == '{');
            j->at++;
        } else if (skip_plain(j) && close_ended(j, &is_object, &depth)) {
            return true;
        }
    }
    return false;
}

/* ---- writing ---- */

/* The letter after a backslash; 0: it is written as it is, or as a number. */
static char escape_of(char c) {
    static const char from[] = "\"\\\b\f\n\r\t", into[] = "\"\\bfnrt";
    const char *known = memchr(from, c, sizeof from - 1);
    return known ? into[known - from] : 0;
}

uint64_t qn__json_quoted_size(const char *text) {
    uint64_t size = 2;
    for (; *text; text++) size += escape_of(*text) ? 2 : (unsigned char)*text < 0x20 ? 6 : 1;
    return size;
}

char *qn__json_quote(char *to, const char *text) {
    static const char digits[] = "0123456789abcdef";
    *to++ = '"';
    for (; *text; text++) {
        const unsigned char c = (unsigned char)*text;
        if (escape_of(*text)) {
            *to++ = '\\';
            *to++ = escape_of(*text);
        } else if (c < 0x20) {
            memcpy(to, "\\u00", 4);
            to[4] = digits[c >> 4];
            to[5] = digits[c & 15];
            to += 6;
        } else {
            *to++ = *text;
        }
    }
    *to++ = '"';
    return to;
}
