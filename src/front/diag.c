/* Diagnostics; see diag.h. The layout follows clang's. */
#include "front/diag.h"

#include <string.h>

enum {
    MAX_ERRORS = 100,
    MAX_WARNINGS = 1000,
    TAB = 8,
    WINDOW = 160,
    LEAD = 60,
    MAX_WORD = 100,
    MAX_TEXT = 800
};

static const char *const warning_names[FRONT_WARN_COUNT] = {
#define WARNING(ID, name) name,
#include "front/warnings.def"
#undef WARNING
};

const char *qn__diag_warning_name(front_warning warning) { return warning_names[warning]; }

void qn__diag_init(front_diag *diag, qn__arena *arena, front_sources *sources) {
    *diag = (front_diag){.arena = arena, .sources = sources, .max_errors = MAX_ERRORS};
}

/* ---- collecting ---- */

/* The same place of a header that another file has included, too. */
static bool is_same_line(const front_diag *diag, front_loc a, front_loc b) {
    if (a.line != b.line || a.column != b.column) return false;
    const front_source *of_a = diag->sources->list.data[a.file], *of_b = diag->sources->list.data[b.file];
    return !of_a->is_main && !of_b->is_main && !strcmp(of_a->path, of_b->path);
}

/* An error is a repetition if there is one at its place, a warning if the same was said there; and what was said of a header
   when another file included it. */
static bool is_repetition(const front_diag *diag, const front_message *message) {
    if (!message->loc.line) return false;
    for (size_t i = 0; i < diag->messages.len; i++) {
        const front_message *other = &diag->messages.data[i];
        const bool is_here = qn__loc_same(other->loc, message->loc);
        if (other->severity != message->severity || !other->loc.line) continue;
        if (!is_here && !is_same_line(diag, other->loc, message->loc)) continue;
        if ((is_here && !message->is_warning) || !strcmp(other->text, message->text)) return true;
    }
    return false;
}

static void add(front_diag *diag, front_message message) {
    if (diag->stopped || is_repetition(diag, &message)) {
        diag->muted = true;
        return;
    }
    if (message.severity == FRONT_ERROR && diag->errors >= diag->max_errors) {
        message = (front_message){.severity = FRONT_ERROR, .text = "too many errors, stopping here"};
        diag->stopped = true;
    }
    diag->muted = false;
    diag->last = diag->messages.len;
    qn__vec_push(diag->arena, &diag->messages, message);
    if (diag->stopped) return;
    if (message.severity == FRONT_ERROR)
        diag->errors++;
    else
        diag->warnings++;
    if (diag->origin && message.loc.line) diag->origin(diag, message.loc, diag->origin_user);
}

/* A message quotes what the source has, which may be a name of megabytes: of long words and messages the start is shown. */
static const char *compose(front_diag *diag, const char *format, va_list args) {
    char *text = qn__arena_vprintf(diag->arena, format, args);
    qn__shorten(text, MAX_WORD, MAX_TEXT);
    return text;
}

void qn__diag_error(front_diag *diag, front_loc loc, const char *format, ...) {
    va_list args;
    va_start(args, format);
    const char *text = compose(diag, format, args);
    va_end(args);
    add(diag, (front_message){.severity = FRONT_ERROR, .loc = loc, .text = text});
}

void qn__diag_warning(front_diag *diag, front_warning warning, front_loc loc, const char *format, ...) {
    if (diag->no_warnings || diag->warnings >= MAX_WARNINGS) {
        diag->muted = true;
        return;
    }
    va_list args;
    va_start(args, format);
    const char *text = compose(diag, format, args);
    va_end(args);
    add(diag, (front_message){.severity = diag->warnings_are_errors ? FRONT_ERROR : FRONT_WARNING,
                              .warning = (uint8_t)warning,
                              .is_warning = true,
                              .loc = loc,
                              .text = text});
}

void qn__diag_note(front_diag *diag, front_loc loc, const char *format, ...) {
    if (diag->muted || diag->stopped) return;
    va_list args;
    va_start(args, format);
    const char *text = compose(diag, format, args);
    va_end(args);
    qn__vec_push(diag->arena, &diag->messages,
                 (front_message){.severity = FRONT_NOTE, .loc = loc, .text = text});
}

void qn__diag_hint(front_diag *diag, const char *format, ...) {
    if (diag->muted || !diag->messages.len) return;
    va_list args;
    va_start(args, format);
    diag->messages.data[diag->last].hint = compose(diag, format, args);
    va_end(args);
}

void qn__diag_range(front_diag *diag, front_loc from, uint32_t length) {
    if (diag->muted || !diag->messages.len) return;
    front_message *message = &diag->messages.data[diag->last];
    if (from.line != message->loc.line || from.file != message->loc.file) return;
    message->range_column = from.column;
    message->range_length = length;
}

/* ---- printing ---- */

/* One step through a source line: some bytes that stand as `width` columns on the screen. */
typedef struct cell {
    size_t bytes;
    unsigned column, width; /* on the screen, from 0 */
    bool plain;             /* bytes are shown as they are */
} cell;

/* Bytes of a well-formed UTF-8 sequence, 0 if it is none. */
static size_t utf8_length(const unsigned char *p, size_t left, uint32_t *code) {
    size_t len = p[0] >= 0xc2 && p[0] < 0xe0   ? 2
                 : p[0] >= 0xe0 && p[0] < 0xf0 ? 3
                 : p[0] >= 0xf0 && p[0] < 0xf5 ? 4
                                               : 0;
    if (!len || len > left) return 0;
    *code = p[0] & (0xffu >> (len + 1));
    for (size_t i = 1; i < len; i++) {
        if ((p[i] & 0xc0) != 0x80) return 0;
        *code = *code << 6 | (p[i] & 0x3f);
    }
    bool overlong = (len == 3 && *code < 0x800) || (len == 4 && *code < 0x10000);
    bool invalid = (*code >= 0xd800 && *code < 0xe000) || *code > 0x10ffff || *code < 0xa0;
    return overlong || invalid ? 0 : len;
}

/* Columns that a terminal gives a character; the large blocks are enough for a caret. */
static unsigned code_width(uint32_t code) {
    if (code >= 0x300 && code < 0x370) return 0;
    bool wide = (code >= 0x1100 && code < 0x1160) || (code >= 0x2e80 && code < 0xa4d0) ||
                (code >= 0xac00 && code < 0xd7a4) || (code >= 0xf900 && code < 0xfb00) ||
                (code >= 0xfe30 && code < 0xfe70) || (code >= 0xff00 && code < 0xff61) ||
                (code >= 0x1f300 && code < 0x1fb00) || (code >= 0x20000 && code < 0x3fffe);
    return wide ? 2 : 1;
}

static cell next_cell(qn__str line, size_t at, unsigned column) {
    const unsigned char *p = (const unsigned char *)line.data + at;
    uint32_t code = 0;
    if (*p == '\t') return (cell){1, column, TAB - column % TAB, false};
    if (*p >= 0x20 && *p < 0x7f) return (cell){1, column, 1, true};
    size_t bytes = *p < 0x80 ? 0 : utf8_length(p, line.len - at, &code);
    if (bytes) return (cell){bytes, column, code_width(code), true};
    return (cell){1, column, 4, false}; /* shown as <7F> */
}

static void put_repeated(qn__buf *out, char c, unsigned count) {
    while (count--) qn__buf_putc(out, c);
}

static void put_cell(qn__buf *out, qn__str line, size_t at, cell c) {
    if (c.plain)
        qn__buf_append(out, line.data + at, c.bytes);
    else if (line.data[at] == '\t')
        put_repeated(out, ' ', c.width);
    else
        qn__buf_printf(out, "<%02X>", (unsigned char)line.data[at]);
}

/* Screen column of the byte `offset` of the line. */
static unsigned screen_column(qn__str line, size_t offset) {
    unsigned column = 0;
    for (size_t at = 0; at < offset && at < line.len;) {
        cell c = next_cell(line, at, column);
        at += c.bytes;
        column += c.width;
    }
    return column;
}

/* The line, or of a long one the part around the caret, and below it the caret and the underlined range. */
static void print_excerpt(front_diag *diag, qn__buf *out, const front_message *message) {
    qn__str line = qn__source_line(diag->sources, message->loc);
    if (!line.len || !message->loc.column || message->loc.column > line.len + 1) return;
    size_t caret = message->loc.column - 1u;
    size_t range = message->range_column ? message->range_column - 1u : 0;
    size_t range_end = range + message->range_length;
    unsigned caret_column = screen_column(line, caret);
    unsigned first = caret_column > WINDOW - LEAD ? caret_column - LEAD : 0, last = first + WINDOW;
    qn__buf marks;
    qn__buf_init(&marks, diag->arena);
    if (first) qn__buf_puts(out, "..."), qn__buf_puts(&marks, "   ");
    unsigned column = 0;
    size_t at = 0;
    while (at < line.len && column < last) {
        cell c = next_cell(line, at, column);
        if (column >= first) {
            put_cell(out, line, at, c);
            bool here = caret >= at && caret < at + c.bytes, inside = at >= range && at < range_end;
            for (unsigned i = 0; i < c.width; i++)
                qn__buf_putc(&marks, here && !i ? '^' : inside ? '~' : ' ');
        }
        at += c.bytes;
        column += c.width;
    }
    if (at < line.len) qn__buf_puts(out, "...");
    if (caret >= line.len) qn__buf_putc(&marks, '^');
    while (marks.len && marks.data[marks.len - 1] == ' ') marks.len--;
    qn__buf_putc(out, '\n');
    qn__buf_append(out, marks.data, marks.len);
    qn__buf_putc(out, '\n');
}

static void print_place(front_diag *diag, qn__buf *out, front_loc loc) {
    ir_loc shown = qn__source_resolve(diag->sources, loc);
    qn__buf_printf(out, "%s:%u:", diag->sources->names.data[shown.file], (unsigned)shown.line);
}

/* The chain of inclusions above a message in an included file, told once for a run of messages there. */
static void print_inclusion(front_diag *diag, qn__buf *out, front_loc loc, unsigned *last_file) {
    if (!loc.line || loc.file == *last_file) return;
    *last_file = loc.file;
    const front_source *source = diag->sources->list.data[loc.file];
    for (unsigned depth = 0; source->included_from.line && depth < 64; depth++) {
        qn__buf_puts(out, "In file included from ");
        print_place(diag, out, source->included_from);
        qn__buf_putc(out, '\n');
        source = diag->sources->list.data[source->included_from.file];
    }
}

static void print_message(front_diag *diag, qn__buf *out, const front_message *message) {
    static const char *const severities[] = {"note", "warning", "error"};
    if (message->loc.line) {
        print_place(diag, out, message->loc);
        qn__buf_printf(out, "%u: ", (unsigned)message->loc.column);
    }
    qn__buf_printf(out, "%s: %s", severities[message->severity], message->text);
    if (message->is_warning)
        qn__buf_printf(out, " [%s-W%s]", message->severity == FRONT_ERROR ? "-Werror," : "",
                       warning_names[message->warning]);
    qn__buf_putc(out, '\n');
    if (message->loc.line) print_excerpt(diag, out, message);
    if (message->hint) qn__buf_printf(out, "hint: %s\n", message->hint);
}

static void print_count(qn__buf *out, uint32_t count, const char *what) {
    qn__buf_printf(out, "%u %s%s", (unsigned)count, what, count == 1 ? "" : "s");
}

void qn__diag_print(front_diag *diag, qn__buf *out) {
    unsigned last_file = UINT32_MAX;
    for (size_t i = 0; i < diag->messages.len; i++) {
        if (diag->messages.data[i].severity != FRONT_NOTE)
            print_inclusion(diag, out, diag->messages.data[i].loc, &last_file);
        print_message(diag, out, &diag->messages.data[i]);
    }
    if (!diag->errors && !diag->warnings) return;
    if (diag->errors) print_count(out, diag->errors, "error");
    if (diag->errors && diag->warnings) qn__buf_puts(out, " and ");
    if (diag->warnings) print_count(out, diag->warnings, "warning");
    qn__buf_puts(out, " generated.\n");
}
