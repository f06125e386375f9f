/* Suppressions: findings that a text names are not told. A line has a kind of finding, a file, and what else the finding must
   have; the first line that fits a finding counts it. */
#include <stdio.h>
#include <string.h>

#include "check/internal.h"

struct qn__check_suppression {
    qn_finding_kind kind; /* NONE: all */
    const char *file;     /* patterns; NULL: any */
    const char *kernel, *object;
    uint32_t line; /* 0: any */
    qn_suppression told;
};

/* ---- patterns ---- */

/* `*` stands for any letters, `?` for one. */
static bool fits(const char *pattern, const char *text) {
    const char *star = NULL, *from = NULL;
    while (*text) {
        if (*pattern == '*') {
            star = pattern++;
            from = text;
        } else if (*pattern == '?' || *pattern == *text) {
            pattern++, text++;
        } else if (star) {
            pattern = star + 1;
            text = ++from;
        } else {
            return false;
        }
    }
    while (*pattern == '*') pattern++;
    return !*pattern;
}

/* The whole path, or what follows one of its slashes. */
static bool fits_file(const char *pattern, const char *path) {
    for (const char *at = path; at; at = strchr(at, '/')) {
        at += *at == '/';
        if (fits(pattern, at)) return true;
    }
    return false;
}

static bool fits_place(const qn__check_suppression *s, const qn_check_place *place) {
    return place->file && (!s->line || s->line == place->line) &&
           (!s->file || fits_file(s->file, place->file));
}

static bool suppresses(const qn__check_suppression *s, const qn_finding *finding) {
    if (s->kind && s->kind != finding->kind) return false;
    if (s->kernel && !fits(s->kernel, finding->kernel)) return false;
    if (s->object && !(finding->object && fits(s->object, finding->object))) return false;
    return fits_place(s, &finding->place) || fits_place(s, &finding->other);
}

bool qn__check_is_suppressed(qn__checker *checker, const qn_finding *finding) {
    for (size_t i = 0; i < checker->suppressions.len; i++)
        if (suppresses(checker->suppressions.data[i], finding)) {
            checker->suppressions.data[i]->told.count++;
            return true;
        }
    return false;
}

/* ---- reading them ---- */

typedef struct reader {
    qn__arena *arena;
    const char *path;
    uint32_t line;
    char *why;
    size_t size;
} reader;

static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

/* The next word of a line, which begins behind it then; empty: there is none. */
static qn__str next_word(qn__str *rest) {
    while (rest->len && is_blank(*rest->data)) rest->data++, rest->len--;
    qn__str word = {rest->data, 0};
    while (rest->len && !is_blank(*rest->data) && *rest->data != '#') rest->data++, rest->len--, word.len++;
    return word;
}

static bool refuse(const reader *r, qn__str word, const char *what) {
    snprintf(r->why, r->size, "%s:%u: '%.*s' %s", r->path, (unsigned)r->line,
             (int)(word.len < 60 ? word.len : 60), word.data, what);
    return false;
}

static bool read_kind(const reader *r, qn__str word, qn_finding_kind *kind) {
    static const char *const names[QN_FINDING_KIND_COUNT] = {
#define NAME(ID, name, title) [QN_FINDING_##ID] = (name),
        QN_FINDING_MAP(NAME)
#undef NAME
    };
    *kind = QN_FINDING_NONE;
    if (qn__str_equal(word, qn__str_of("*"))) return true;
    for (int k = 1; k < QN_FINDING_KIND_COUNT; k++)
        if (qn__str_equal(word, qn__str_of(names[k]))) *kind = (qn_finding_kind)k;
    return *kind ? true
                 : refuse(r, word, "is no kind of finding: one is out-of-bounds, race, ... or * for all");
}

/* "FILE" or "FILE:LINE" */
static bool read_file(const reader *r, qn__str word, qn__check_suppression *s) {
    size_t digits = 0;
    while (digits < word.len && word.data[word.len - 1 - digits] >= '0' &&
           word.data[word.len - 1 - digits] <= '9')
        digits++;
    const bool has_line = digits && digits < word.len && word.data[word.len - 1 - digits] == ':';
    for (size_t i = word.len - digits; has_line && i < word.len; i++) {
        if (s->line > UINT32_MAX / 10 - 1) return refuse(r, word, "has a line that is too large");
        s->line = s->line * 10 + (uint32_t)(word.data[i] - '0');
    }
    if (has_line && !s->line) return refuse(r, word, "has line 0; lines begin with 1");
    if (has_line) word.len -= digits + 1;
    s->file = qn__arena_strndup(r->arena, word.data, word.len);
    return true;
}

/* "kernel=NAME" or "object=NAME" */
static bool read_more(const reader *r, qn__str word, qn__check_suppression *s) {
    enum { PREFIX = sizeof "kernel=" - 1 }; /* "object=" is as long */
    const char **to = qn__str_starts(word, "kernel=")   ? &s->kernel
                      : qn__str_starts(word, "object=") ? &s->object
                                                        : NULL;
    if (!to) return refuse(r, word, "is neither kernel=NAME nor object=NAME");
    if (*to) return refuse(r, word, "says a second time what is said before");
    if (word.len == PREFIX) return refuse(r, word, "names nothing");
    *to = qn__arena_strndup(r->arena, word.data + PREFIX, word.len - PREFIX);
    return true;
}

/* One line; *out stays NULL where it has nothing. */
static bool read_line(const reader *r, qn__str line, qn__check_suppression **out) {
    qn__str rest = line, word = next_word(&rest);
    if (!word.len) return true;
    qn__check_suppression *s = QN__NEW(r->arena, qn__check_suppression);
    if (!read_kind(r, word, &s->kind)) return false;
    word = next_word(&rest);
    if (!word.len)
        return refuse(r, (qn__str){line.data, line.len},
                      "lacks a file: KIND FILE[:LINE] [kernel=NAME] [object=NAME]");
    if (!read_file(r, word, s)) return false;
    const char *end = rest.data;
    for (; (word = next_word(&rest)).len; end = rest.data)
        if (!read_more(r, word, s)) return false;
    s->told = (qn_suppression){.path = r->path,
                               .line = r->line,
                               .text = qn__arena_strndup(r->arena, line.data, (size_t)(end - line.data))};
    *out = s;
    return true;
}

static bool read_all(qn__checker *checker, const char *text, reader *r) {
    const size_t before = checker->suppressions.len;
    for (const char *at = text; *at; r->line++) {
        const size_t length = strcspn(at, "\n");
        qn__check_suppression *s = NULL;
        if (!read_line(r, (qn__str){at, length}, &s)) {
            checker->suppressions.len = before;
            return false;
        }
        if (s) qn__vec_push(r->arena, &checker->suppressions, s);
        at += length + (at[length] == '\n');
    }
    return true;
}

qn_status qn__check_suppress(qn__checker *checker, const char *text, const char *path, char *why,
                             size_t size) {
    jmp_buf escape;
    volatile bool fine = false;
    if (setjmp(escape)) {
        checker->kept.escape = NULL;
        return QN_ERROR_OUT_OF_MEMORY;
    }
    checker->kept.escape = &escape;
    reader r = {&checker->kept, qn__arena_strdup(&checker->kept, path), 1, why, size};
    fine = read_all(checker, text, &r);
    checker->kept.escape = NULL;
    return fine ? QN_OK : QN_ERROR_ARGUMENT;
}

uint32_t qn__check_suppression_count(const qn__checker *checker) {
    return (uint32_t)checker->suppressions.len;
}

void qn__check_suppression_get(const qn__checker *checker, uint32_t index, qn_suppression *suppression) {
    *suppression = checker->suppressions.data[index]->told;
}
