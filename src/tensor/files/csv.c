/* CSV as RFC 4180 has it, of numbers: a table of f64, whose missing fields are NaN. */
#include <math.h>
#include <string.h>

#include "tensor/files/archive.h"

enum { LONGEST_NUMBER = 500 };

typedef struct field {
    const uint8_t *at; /* without quotes around, and blanks around those */
    uint64_t size;
    bool is_quoted;
} field;

typedef struct reader {
    qn_archive *archive;
    const uint8_t *at, *end;
    uint64_t line; /* from 1 */
    char delimiter, comment;
    qn__decimals numbers;
    double *values;
    uint64_t count, room, columns, rows;
} reader;

static bool is_blank(const reader *r, uint8_t c) { return c == ' ' || (c == '\t' && r->delimiter != '\t'); }

static bool is_end_of_line(const uint8_t *at, const uint8_t *end) {
    return at == end || *at == '\n' || *at == '\r';
}

static void skip_blanks(reader *r) {
    while (r->at < r->end && is_blank(r, *r->at)) r->at++;
}

/* Behind the end of a line: \n, \r\n or \r. */
static void next_line(reader *r) {
    if (r->at < r->end && *r->at == '\r') {
        r->at++;
        if (r->at < r->end && *r->at == '\n') r->at++;
    } else if (r->at < r->end) {
        r->at++;
    }
    r->line++;
}

static void skip_line(reader *r) {
    while (!is_end_of_line(r->at, r->end)) r->at++;
    next_line(r);
}

/* To the next line with something on it. False: there is none. */
static bool find_record(reader *r) {
    while (r->at < r->end) {
        const uint8_t *begin = r->at;
        if (r->comment && *begin == (uint8_t)r->comment) {
            skip_line(r);
            continue;
        }
        skip_blanks(r);
        if (!is_end_of_line(r->at, r->end)) {
            r->at = begin;
            return true;
        }
        next_line(r);
    }
    return false;
}

static qn_status read_quoted(reader *r, field *f) {
    const uint64_t line = r->line;
    f->is_quoted = true;
    f->at = ++r->at;
    for (;; r->at++) {
        if (r->at == r->end)
            return qn__archive_fail(r->archive, QN_ERROR_ARGUMENT, "line %llu: a quote does not end",
                                    (unsigned long long)line);
        if (*r->at == '\n') r->line++;
        if (*r->at != '"') continue;
        if (r->end - r->at < 2 || r->at[1] != '"') break;
        r->at++; /* two stand for one */
    }
    f->size = (uint64_t)(r->at++ - f->at);
    skip_blanks(r);
    if (is_end_of_line(r->at, r->end) || *r->at == (uint8_t)r->delimiter) return QN_OK;
    return qn__archive_fail(r->archive, QN_ERROR_ARGUMENT,
                            "line %llu: there is something behind a quoted field",
                            (unsigned long long)r->line);
}

/* A field, and the delimiter behind it: *is_last is set where there is none, and the line ends. */
static qn_status read_field(reader *r, field *f, bool *is_last) {
    skip_blanks(r);
    *f = (field){.at = r->at};
    if (r->at < r->end && *r->at == '"') {
        const qn_status status = read_quoted(r, f);
        if (status) return status;
    } else {
        while (!is_end_of_line(r->at, r->end) && *r->at != (uint8_t)r->delimiter) r->at++;
        f->size = (uint64_t)(r->at - f->at);
        while (f->size && is_blank(r, f->at[f->size - 1])) f->size--;
    }
    *is_last = is_end_of_line(r->at, r->end);
    if (!*is_last) r->at++;
    return QN_OK;
}

/* ---- numbers ---- */

/* Whether it is the word, which is of lower case, in any. */
static bool is_word(const field *f, const char *word) {
    const size_t size = strlen(word);
    if (f->size != size) return false;
    for (size_t i = 0; i < size; i++) {
        const uint8_t c = f->at[i];
        if ((c >= 'A' && c <= 'Z' ? c + 32 : c) != (uint8_t)word[i]) return false;
    }
    return true;
}

static bool is_missing(const field *f) {
    static const char *const words[] = {"", "na", "n/a", "nan", "null", "none"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (is_word(f, words[i])) return true;
    return false;
}

static bool is_infinite(const field *f) {
    static const char *const words[] = {"inf", "+inf", "-inf", "infinity", "+infinity", "-infinity"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (is_word(f, words[i])) return true;
    return false;
}

static uint64_t digits_at(const field *f, uint64_t at) {
    uint64_t end = at;
    while (end < f->size && f->at[end] >= '0' && f->at[end] <= '9') end++;
    return end - at;
}

/* [+-] digits [. digits] [e [+-] digits], of which one of the first two has digits. */
static bool is_decimal(const field *f) {
    uint64_t at = f->size && (f->at[0] == '+' || f->at[0] == '-');
    const uint64_t whole = digits_at(f, at);
    uint64_t part = 0;
    at += whole;
    if (at < f->size && f->at[at] == '.') {
        part = digits_at(f, at + 1);
        at += 1 + part;
    }
    if (!whole && !part) return false;
    if (at < f->size && (f->at[at] == 'e' || f->at[at] == 'E')) {
        at++;
        if (at < f->size && (f->at[at] == '+' || f->at[at] == '-')) at++;
        const uint64_t power = digits_at(f, at);
        if (!power) return false;
        at += power;
    }
    return at == f->size;
}

static bool is_number(const field *f) { return is_missing(f) || is_infinite(f) || is_decimal(f); }

/* Of at most 15 digits without a power, which is a quotient of two numbers that are exact; false: of more. */
static bool read_short(const field *f, double *value) {
    static const double powers[] = {1e0, 1e1, 1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                    1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15};
    uint64_t number = 0, at = f->at[0] == '+' || f->at[0] == '-', behind = 0;
    bool has_point = false;
    if (f->size > 16) return false;
    for (; at < f->size; at++) {
        const uint8_t c = f->at[at];
        if (c == '.') {
            has_point = true;
            continue;
        }
        if (c == 'e' || c == 'E') return false;
        number = number * 10 + (c - (uint64_t)'0');
        behind += has_point;
    }
    if (number >= 1ull << 53 || behind > 15) return false;
    *value = (double)number / powers[behind];
    if (f->at[0] == '-') *value = -*value;
    return true;
}

static qn_status read_number(const reader *r, const field *f, uint64_t column, double *value) {
    if (is_missing(f)) {
        *value = NAN;
        return QN_OK;
    }
    if (is_infinite(f)) {
        *value = f->at[0] == '-' ? -INFINITY : INFINITY;
        return QN_OK;
    }
    if (!is_decimal(f) || f->size > LONGEST_NUMBER)
        return qn__archive_fail(
            r->archive, QN_ERROR_ARGUMENT, "line %llu, field %llu: %s is neither a number nor missing",
            (unsigned long long)r->line, (unsigned long long)column, qn__quote_of(f->at, f->size).text);
    if (read_short(f, value)) return QN_OK;
    char text[LONGEST_NUMBER + 1];
    memcpy(text, f->at, (size_t)f->size);
    text[f->size] = 0;
    *value = qn__decimal_of(&r->numbers, text);
    return QN_OK;
}

/* ---- lines ---- */

static qn_status add_value(reader *r, double value) {
    if (r->count == r->room) {
        const qn_archive *a = r->archive;
        const uint64_t wanted = r->room ? r->room * 2 : 1024;
        void *grown =
            wanted <= SIZE_MAX / sizeof *r->values
                ? a->allocator.reallocate(a->allocator.user, r->values, (size_t)wanted * sizeof *r->values)
                : NULL;
        if (!grown) return qn__archive_no_memory(a, wanted * sizeof *r->values);
        r->values = grown;
        r->room = wanted;
    }
    r->values[r->count++] = value;
    return QN_OK;
}

static qn_status read_record(reader *r) {
    const uint64_t line = r->line;
    uint64_t fields = 0;
    for (bool is_last = false; !is_last;) {
        field f;
        double value = 0;
        qn_status status = read_field(r, &f, &is_last);
        if (!status) status = read_number(r, &f, ++fields, &value);
        if (!status) status = add_value(r, value);
        if (status) return status;
    }
    next_line(r);
    if (!r->columns) r->columns = fields;
    if (fields != r->columns)
        return qn__archive_fail(r->archive, QN_ERROR_ARGUMENT,
                                "line %llu has %llu fields, those before it %llu", (unsigned long long)line,
                                (unsigned long long)fields, (unsigned long long)r->columns);
    r->rows++;
    return QN_OK;
}

/* The one of , ; and tabulator that the line has most of, outside of quotes. */
static char guess_delimiter(const reader *r) {
    uint64_t commas = 0, semicolons = 0, tabulators = 0;
    bool is_quoted = false;
    for (const uint8_t *at = r->at; at < r->end && (is_quoted || !is_end_of_line(at, r->end)); at++) {
        if (*at == '"') is_quoted = !is_quoted;
        if (is_quoted) continue;
        commas += *at == ',';
        semicolons += *at == ';';
        tabulators += *at == '\t';
    }
    if (semicolons > commas && semicolons >= tabulators) return ';';
    return tabulators > commas ? '\t' : ',';
}

/* Whether the line has something that is neither a number nor missing, and how many fields; the reader stays. */
static qn_status look_at_line(const reader *r, bool *has_text, uint64_t *fields) {
    reader ahead = *r;
    *has_text = false;
    *fields = 0;
    for (bool is_last = false; !is_last;) {
        field f;
        const qn_status status = read_field(&ahead, &f, &is_last);
        if (status) return status;
        *has_text = *has_text || !is_number(&f);
        ++*fields;
    }
    return QN_OK;
}

/* A field's text, two quotes in a quoted one being one. */
static qn_status keep_name(const reader *r, const field *f, qn_text *name) {
    char *to = qn__archive_keep(r->archive, f->size + 1);
    if (!to) return QN_ERROR_OUT_OF_MEMORY;
    name->text = to;
    for (uint64_t i = 0; i < f->size; i++) {
        *to++ = (char)f->at[i];
        if (f->is_quoted && f->at[i] == '"') i++;
    }
    name->size = (uint64_t)(to - name->text);
    return QN_OK;
}

static qn_status read_header(reader *r, uint64_t fields) {
    qn_metadata *m = qn__archive_add_metadata(r->archive);
    qn_text *names = m ? qn__archive_keep_array(r->archive, fields, sizeof *names) : NULL;
    if (!names) return QN_ERROR_OUT_OF_MEMORY;
    *m = (qn_metadata){.key = "columns", .kind = QN_METADATA_TEXT, .is_list = true, .count = fields};
    m->values.texts = names;
    for (uint64_t i = 0; i < fields; i++) {
        field f;
        bool is_last;
        qn_status status = read_field(r, &f, &is_last);
        if (!status) status = keep_name(r, &f, &names[i]);
        if (status) return status;
    }
    r->columns = fields;
    next_line(r);
    return QN_OK;
}

static qn_status read_lines(reader *r) {
    const qn_csv_desc *desc = &r->archive->desc.csv;
    if (r->end - r->at >= 3 && memcmp(r->at, "\xef\xbb\xbf", 3) == 0) r->at += 3; /* a byte order mark */
    if (!find_record(r)) return QN_OK;
    if (!r->delimiter) r->delimiter = guess_delimiter(r);
    bool has_text;
    uint64_t fields;
    qn_status status = look_at_line(r, &has_text, &fields);
    if (!status && (desc->header == QN_CSV_HEADER_LINE || (has_text && desc->header == QN_CSV_HEADER_GUESS)))
        status = read_header(r, fields);
    while (!status && find_record(r)) status = read_record(r);
    return status;
}

/* The numbers take the place of the text. */
static qn_status keep_values(reader *r) {
    qn_archive *a = r->archive;
    qn__entry *e = qn__archive_add(a);
    if (!e) return QN_ERROR_OUT_OF_MEMORY;
    e->array = (qn_host_array){.name = "data",
                               .encoding = QN_ENCODING_F64,
                               .rank = 2,
                               .sizes = {r->rows, r->columns},
                               .bytes = r->count * sizeof *r->values};
    qn__archive_release(a, a->owned);
    qn__unmap_file(&a->mapping);
    a->owned = r->values;
    r->values = NULL;
    a->bytes = a->owned ? a->owned : (const uint8_t *)"";
    a->size = e->packed = e->whole = e->array.bytes;
    e->at = a->bytes;
    return QN_OK;
}

qn_status qn__read_csv(qn_archive *a) {
    const qn_csv_desc *desc = &a->desc.csv;
    reader r = {.archive = a,
                .at = a->bytes,
                .end = a->bytes + a->size,
                .line = 1,
                .delimiter = desc->delimiter,
                .comment = desc->comment};
    if (desc->delimiter && strchr("\"\r\n ", desc->delimiter))
        return qn__archive_fail(a, QN_ERROR_ARGUMENT,
                                "csv.delimiter cannot be a quote, a blank or the end of a line");
    if ((unsigned)desc->header > QN_CSV_HEADER_LINE)
        return qn__archive_fail(a, QN_ERROR_ARGUMENT, "csv.header %d is none of qn_csv_header",
                                (int)desc->header);
    if (!qn__decimals_begin(&r.numbers)) return qn__archive_no_memory(a, sizeof r.numbers);
    qn_status status = read_lines(&r);
    qn__decimals_end(&r.numbers);
    if (!status) status = keep_values(&r);
    qn__archive_release(a, r.values);
    return status;
}
