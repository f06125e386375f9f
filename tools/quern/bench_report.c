/* The rows of a report: kept, written as JSON, and read again. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"

bench_result *bench_report_add(bench_report *report) {
    if (report->count == report->capacity) {
        const size_t capacity = report->capacity ? report->capacity * 2 : 64;
        bench_result *grown = tool_alloc(capacity * sizeof *grown);
        if (report->count) memcpy(grown, report->results, report->count * sizeof *grown);
        free(report->results);
        report->results = grown;
        report->capacity = capacity;
    }
    bench_result *result = &report->results[report->count++];
    *result = (bench_result){0};
    return result;
}

bench_result *bench_report_row(const bench_device *d, const char *section, const char *what, const char *by,
                               const char *unit) {
    bench_result *result = bench_report_add(d->report);
    snprintf(result->section, sizeof result->section, "%s", section);
    snprintf(result->device, sizeof result->device, "%s", d->info.name);
    snprintf(result->description, sizeof result->description, "%s", d->info.description);
    snprintf(result->what, sizeof result->what, "%s", what);
    snprintf(result->by, sizeof result->by, "%s", by);
    snprintf(result->unit, sizeof result->unit, "%s", unit);
    memcpy(result->uuid, d->info.uuid, sizeof result->uuid);
    return result;
}

const char *bench_with_unit(char out[32], double value, const char *unit) {
    static const char *const steps[] = {"n", "u", "m", "", "k", "M", "G", "T", "P"};
    size_t step = 3;
    while (value >= 999.5 && step + 1 < sizeof steps / sizeof *steps) {
        value /= 1000;
        step++;
    }
    while (value < 0.9995 && value > 0 && step > 0) {
        value *= 1000;
        step--;
    }
    snprintf(out, 32, "%.*f %s%s", value < 9.995 ? 2 : value < 99.95 ? 1 : 0, value, steps[step], unit);
    return out;
}

enum { NAMES = 56 };

void bench_print_head(const bench_device *d, const char *section) {
    printf("%s on %s: %s\n\n  %-*s       median   spread\n", section, d->info.name, d->info.description,
           NAMES, "");
}

void bench_print_figure(const bench_device *d, const char *section, const char *what, const char *by,
                        double work, const char *unit, const bench_time *time, const char *note) {
    bench_result *result = bench_report_row(d, section, what, by, unit);
    char name[NAMES + 1], figure[32];
    snprintf(name, sizeof name, "  by %s", by);
    bench_rate(result, work, time);
    bench_with_unit(figure, result->is_time ? result->value * 1e-9 : result->value,
                    result->is_time ? "s" : unit);
    bench_progress(d, NULL);
    printf("  %-*s %12s %6.1f %%%s%s\n", NAMES, strcmp(by, "quern") == 0 ? what : name, figure,
           bench_spread(result) * 100, *note ? "  " : "", note);
    fflush(stdout);
}

bench_ladder *bench_report_add_ladder(bench_report *report) {
    bench_ladder *grown = tool_alloc((report->num_ladders + 1) * sizeof *grown);
    if (report->num_ladders) memcpy(grown, report->ladders, report->num_ladders * sizeof *grown);
    free(report->ladders);
    report->ladders = grown;
    return &report->ladders[report->num_ladders++];
}

void bench_report_free(bench_report *report) {
    free(report->results);
    free(report->ladders);
    *report = (bench_report){0};
}

/* ---- the fields of a row, as JSON names them ---- */

typedef enum field_kind { FIELD_TEXT, FIELD_NUMBER, FIELD_COUNT, FIELD_BOOL } field_kind;

typedef struct field {
    const char *name;
    field_kind kind;
    size_t offset, size;
} field;

#define FIELD(name, kind)                                                                                    \
    { #name, kind, offsetof(bench_result, name), sizeof(((bench_result *)0)->name) }

static const field fields[] = {
    FIELD(section, FIELD_TEXT), FIELD(device, FIELD_TEXT),  FIELD(description, FIELD_TEXT),
    FIELD(what, FIELD_TEXT),    FIELD(by, FIELD_TEXT),      FIELD(unit, FIELD_TEXT),
    FIELD(is_time, FIELD_BOOL), FIELD(value, FIELD_NUMBER), FIELD(low, FIELD_NUMBER),
    FIELD(high, FIELD_NUMBER),  FIELD(samples, FIELD_COUNT)};
enum { NUM_FIELDS = sizeof fields / sizeof *fields };

/* ---- writing ---- */

static void write_text(FILE *file, const char *text) {
    putc('"', file);
    for (; *text; text++) {
        if (*text == '"' || *text == '\\') putc('\\', file);
        if ((unsigned char)*text >= 32) putc(*text, file);
    }
    putc('"', file);
}

static void write_field(FILE *file, const field *f, const bench_result *result) {
    const char *at = (const char *)result + f->offset;
    fprintf(file, "\"%s\": ", f->name);
    switch (f->kind) {
    case FIELD_TEXT: write_text(file, at); break;
    case FIELD_NUMBER: fprintf(file, "%.9g", *(const double *)(const void *)at); break;
    case FIELD_COUNT: fprintf(file, "%" PRIu32, *(const uint32_t *)at); break;
    case FIELD_BOOL: fputs(*(const bool *)at ? "true" : "false", file); break;
    }
}

int bench_report_write(const bench_report *report, const char *path) {
    errno = 0;
    FILE *file = fopen(path, "w");
    if (!file) return tool_fail(TOOL_RUN_FAILED, "%s: %s", path, strerror(errno));
    fprintf(file, "{\"quern\": \"%s\", \"results\": [\n", qn_version());
    for (size_t i = 0; i < report->count; i++) {
        for (int f = 0; f < NUM_FIELDS; f++) {
            fputs(f ? ", " : "{", file);
            write_field(file, &fields[f], &report->results[i]);
        }
        fputs(i + 1 < report->count ? "},\n" : "}\n", file);
    }
    fputs("]}\n", file);
    const bool failed = ferror(file) != 0;
    if (fclose(file) == 0 && !failed) return TOOL_OK;
    return tool_fail(TOOL_RUN_FAILED, "%s: %s", path, strerror(errno ? errno : EIO));
}

/* ---- reading: as much of JSON as any writer of such a file could use ---- */

typedef struct reader {
    const char *at; /* zero-terminated */
} reader;

static bool next_is(reader *r, char c) {
    r->at += strspn(r->at, " \t\r\n");
    if (*r->at != c) return false;
    r->at++;
    return true;
}

/* A string, cut to `size`. Of escapes only the quoted characters themselves are kept. */
static bool read_text(reader *r, char *out, size_t size) {
    size_t used = 0;
    if (!next_is(r, '"')) return false;
    for (; *r->at && *r->at != '"'; r->at++) {
        if (*r->at == '\\' && r->at[1]) r->at++;
        if (used + 1 < size) out[used++] = *r->at;
    }
    if (size) out[used] = 0;
    return next_is(r, '"');
}

static bool read_number(reader *r, double *value) {
    char *end;
    r->at += strspn(r->at, " \t\r\n");
    *value = strtod(r->at, &end);
    const bool is_number = end != r->at;
    r->at = end;
    return is_number;
}

static bool read_bool(reader *r, bool *value) {
    r->at += strspn(r->at, " \t\r\n");
    *value = strncmp(r->at, "true", 4) == 0;
    if (!*value && strncmp(r->at, "false", 5) != 0) return false;
    r->at += *value ? 4 : 5;
    return true;
}

/* A text, a number or a truth value that nobody asks for. */
static bool skip_value(reader *r) {
    double number;
    bool truth;
    r->at += strspn(r->at, " \t\r\n");
    if (*r->at == '"') return read_text(r, NULL, 0);
    return read_bool(r, &truth) || read_number(r, &number);
}

static bool read_value(reader *r, const char *name, bench_result *result) {
    const field *f = fields;
    while (f < fields + NUM_FIELDS && strcmp(f->name, name) != 0) f++;
    if (f == fields + NUM_FIELDS) return skip_value(r);
    char *at = (char *)result + f->offset;
    double number = 0;
    if (f->kind == FIELD_TEXT) return read_text(r, at, f->size);
    if (f->kind == FIELD_BOOL) return read_bool(r, (bool *)at);
    if (!read_number(r, &number)) return false;
    if (f->kind == FIELD_NUMBER) *(double *)(void *)at = number;
    if (f->kind == FIELD_COUNT) *(uint32_t *)at = number >= 0 && number < 1e9 ? (uint32_t)number : 0;
    return true;
}

static bool read_result(reader *r, bench_result *result) {
    char name[32];
    if (!next_is(r, '{')) return false;
    do {
        if (!read_text(r, name, sizeof name) || !next_is(r, ':') || !read_value(r, name, result))
            return false;
    } while (next_is(r, ','));
    return next_is(r, '}');
}

static bool read_results(reader *r, bench_report *report) {
    if (!next_is(r, '[')) return false;
    if (next_is(r, ']')) return true;
    do {
        if (!read_result(r, bench_report_add(report))) return false;
    } while (next_is(r, ','));
    return next_is(r, ']');
}

static bool read_report(reader *r, bench_report *report) {
    char name[32];
    bool found = false;
    if (!next_is(r, '{')) return false;
    do {
        if (!read_text(r, name, sizeof name) || !next_is(r, ':')) return false;
        const bool is_results = strcmp(name, "results") == 0;
        if (!(is_results ? read_results(r, report) : skip_value(r))) return false;
        found = found || is_results;
    } while (next_is(r, ','));
    return next_is(r, '}') && found;
}

int bench_report_read(const char *path, bench_report *report) {
    unsigned char *data;
    size_t size;
    const char *error = tool_file_read(path, &data, &size);
    if (error) return tool_fail(TOOL_RUN_FAILED, "%s: %s", path, error);
    char *text = tool_alloc(size + 1);
    if (size) memcpy(text, data, size);
    free(data);
    reader r = {text};
    const bool is_report = read_report(&r, report);
    free(text);
    return is_report ? TOOL_OK : tool_fail(TOOL_RUN_FAILED, "%s is no report of quern bench --json", path);
}
