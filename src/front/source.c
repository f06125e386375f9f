/* Sources and positions; see source.h. */
#include "front/source.h"

#include <errno.h>
#include <string.h>

#include "util/file.h"

void qn__sources_init(front_sources *sources, qn__arena *arena, front_file_read *read, void *user) {
    *sources = (front_sources){.arena = arena, .read = read, .user = user};
}

uint16_t qn__source_name(front_sources *sources, const char *name) {
    for (size_t i = 0; i < sources->names.len; i++)
        if (!strcmp(sources->names.data[i], name)) return (uint16_t)i;
    if (sources->names.len >= FRONT_MAX_SOURCES) return 0;
    const char *copy = qn__arena_strdup(sources->arena, name);
    qn__vec_push(sources->arena, &sources->names, copy);
    return (uint16_t)(sources->names.len - 1);
}

/* Bytes that a backslash at `at` and the line end behind it take; blanks between them do not count, as in
   other compilers. 0: the backslash stands for itself. */
static size_t splice_length(const char *at, const char *end) {
    const char *p = at + 1;
    while (p < end && (*p == ' ' || *p == '\t' || *p == '\r')) p++;
    return p < end && *p == '\n' ? (size_t)(p + 1 - at) : 0;
}

/* Takes the backslash-newlines out and notes where they were. */
static void clean_text(qn__arena *arena, front_source *source) {
    QN__VEC(uint32_t) splices = {0};
    const char *from = source->text.data, *end = from + source->text.len;
    char *clean = qn__arena_take(arena, source->text.len + 1);
    size_t len = 0;
    while (from < end) {
        const char *backslash = memchr(from, '\\', (size_t)(end - from));
        const char *stop = backslash ? backslash : end;
        memcpy(clean + len, from, (size_t)(stop - from));
        len += (size_t)(stop - from);
        from = stop;
        if (!backslash) break;
        size_t skip = splice_length(backslash, end);
        if (skip) {
            qn__vec_push(arena, &splices, (uint32_t)len);
            from += skip;
        } else {
            clean[len++] = *from++;
        }
    }
    clean[len] = 0;
    source->clean = (qn__str){clean, len};
    source->splices = splices.data;
    source->num_splices = (uint32_t)splices.len;
}

front_source *qn__source_add(front_sources *sources, const char *name, qn__str text) {
    if (sources->list.len >= FRONT_MAX_SOURCES) return NULL;
    front_source *source = QN__NEW(sources->arena, front_source);
    source->is_too_large = text.len > FRONT_MAX_SOURCE_BYTES;
    if (!text.data || source->is_too_large) text = QN__STR("");
    source->path = qn__arena_strdup(sources->arena, name);
    source->text = text;
    source->index = (uint16_t)sources->list.len;
    source->unit = sources->unit;
    source->name = qn__source_name(sources, name);
    clean_text(sources->arena, source);
    qn__vec_push(sources->arena, &sources->list, source);
    return source;
}

/* The file's memory is the allocator's, and the arena may escape while the text is copied, so the escape is caught here
   to give that memory back. */
bool qn__source_read(const char *path, qn__arena *arena, qn__str *text) {
    char *data;
    size_t size;
    const int error = qn__file_read(arena->allocator, path, FRONT_MAX_SOURCE_BYTES, &data, &size);
    *text = (qn__str){NULL, (size_t)FRONT_MAX_SOURCE_BYTES + 1};
    if (error) return error == EFBIG;
    jmp_buf *outer = arena->escape, inner;
    arena->escape = &inner;
    int reason = setjmp(inner);
    if (!reason) *text = (qn__str){qn__arena_strndup(arena, data, size), size};
    arena->escape = outer;
    qn__release(arena->allocator, data);
    if (reason) longjmp(*outer, reason);
    return true;
}

front_source *qn__source_open(front_sources *sources, const char *path) {
    qn__str key = qn__str_of(path), text = {0};
    const front_source *known = qn__map_get(&sources->by_path, key);
    if (known && known->unit == sources->unit) return sources->list.data[known->index];
    bool found = known           ? true
                 : sources->read ? sources->read(sources->user, path, sources->arena, &text)
                                 : qn__source_read(path, sources->arena, &text);
    if (!found) return NULL;
    front_source *source = qn__source_add(sources, path, known ? known->text : text);
    if (source && known) source->is_too_large = known->is_too_large;
    if (source) qn__map_set(sources->arena, &sources->by_path, key, source);
    return source;
}

ir_loc qn__source_resolve(const front_sources *sources, front_loc loc) {
    if (!loc.line || loc.file >= sources->list.len) return FRONT_NO_LOC;
    const front_source *source = sources->list.data[loc.file];
    size_t low = 0, high = source->marks.len;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (source->marks.data[middle].line <= loc.line)
            low = middle + 1;
        else
            high = middle;
    }
    if (!low) return (ir_loc){loc.line, loc.column, source->name};
    const front_line_mark *mark = &source->marks.data[low - 1];
    return (ir_loc){mark->presumed + (loc.line - mark->line), loc.column, mark->name};
}

/* Offsets at which the lines of the text begin. */
static void find_lines(qn__arena *arena, front_source *source) {
    QN__VEC(uint32_t) lines = {0};
    const char *text = source->text.data, *end = text + source->text.len;
    qn__vec_push(arena, &lines, 0);
    for (const char *p = text; p < end && (p = memchr(p, '\n', (size_t)(end - p))); p++)
        qn__vec_push(arena, &lines, (uint32_t)(p + 1 - text));
    source->lines = lines.data;
    source->num_lines = (uint32_t)lines.len;
}

qn__str qn__source_line(front_sources *sources, front_loc loc) {
    if (!loc.line || loc.file >= sources->list.len) return (qn__str){0};
    front_source *source = sources->list.data[loc.file];
    if (!source->lines) find_lines(sources->arena, source);
    if (loc.line > source->num_lines) return (qn__str){0};
    const char *line = source->text.data + source->lines[loc.line - 1];
    size_t left = source->text.len - source->lines[loc.line - 1];
    const char *newline = memchr(line, '\n', left);
    size_t len = newline ? (size_t)(newline - line) : left;
    if (len && line[len - 1] == '\r') len--;
    return (qn__str){line, len};
}
