/* Source texts of one compile and positions in them.
   A position is small and physical: which source, which line, which byte of the line. What `#line` makes of
   it is looked up when somebody wants to see it, and the excerpt for a message is found through the line
   number, so that tokens and AST nodes carry 8 bytes and no more. Files come from a callback, or from disk
   without one. Everything lives in the arena. */
#ifndef QN__FRONT_SOURCE_H
#define QN__FRONT_SOURCE_H

#include <stdbool.h>
#include <stdint.h>

#include "ir/loc.h"
#include "util/map.h"
#include "util/str.h"
#include "util/vec.h"

/* `file` indexes front_sources.list, `line` and `column` (bytes) count from 1; line 0: no position. A column
   beyond 65535 is given as 65535. Before a position goes into the IR, pass it through qn__source_resolve. */
typedef ir_loc front_loc;

#define FRONT_NO_LOC ((front_loc){0, 0, 0})

static inline bool qn__loc_same(front_loc a, front_loc b) {
    return a.line == b.line && a.column == b.column && a.file == b.file;
}

/* From line `line` on, `#line` says that lines count from `presumed` in the file called names.data[name]. */
typedef struct front_line_mark {
    uint32_t line, presumed;
    uint16_t name;
} front_line_mark;

typedef struct front_source {
    const char *path;        /* as opened: what `#include "x"` in it is relative to */
    qn__str text;            /* as read; excerpts come from here */
    qn__str clean;           /* without backslash-newlines; the lexer reads this; a zero byte follows */
    const uint32_t *splices; /* offsets in `clean` where a backslash-newline was, rising */
    uint32_t num_splices;
    uint16_t index;          /* in front_sources.list */
    uint16_t name;           /* in front_sources.names */
    uint16_t unit;           /* the translation unit that has opened it, see front_sources */
    bool once;               /* `#pragma once` was seen */
    bool is_too_large;       /* over FRONT_MAX_SOURCE_BYTES: there is no text */
    bool is_main;            /* not included by another */
    bool is_uncounted;       /* its loops have no part in a budget of iterations */
    front_loc included_from; /* of the first inclusion */
    QN__VEC(front_line_mark) marks;
    const uint32_t *lines; /* offset of each line in `text`; made when first asked for */
    uint32_t num_lines;
} front_source;

/* Looks for the file `path` (a directory and the name as written, joined). Returns whether it is there, and
 *sets text to contents that live as long as the compile. Of a file of more than FRONT_MAX_SOURCE_BYTES only the
   length counts. */
typedef bool front_file_read(void *user, const char *path, qn__arena *arena, qn__str *text);

typedef struct front_sources {
    qn__arena *arena;
    front_file_read *read; /* NULL: from disk */
    void *user;
    QN__VEC(front_source *) list;
    qn__map by_path; /* of the opened ones */
    uint16_t unit; /* the translation unit being read: a file that two of them include is a source of each */
    QN__VEC(const char *) names; /* what resolved positions index; copy to ir_module.files */
} front_sources;

enum { FRONT_MAX_SOURCES = 4096, FRONT_MAX_SOURCE_BYTES = 64 << 20 };

void qn__sources_init(front_sources *sources, qn__arena *arena, front_file_read *read, void *user);
/* Registers a text, kept by reference. One of more than FRONT_MAX_SOURCE_BYTES is marked instead (is_too_large).
   `name` is what messages call it. NULL if there are too many sources. */
front_source *qn__source_add(front_sources *sources, const char *name, qn__str text);
/* A file's text from disk; a front_file_read but for the user's pointer. */
bool qn__source_read(const char *path, qn__arena *arena, qn__str *text);
/* Opens a file; a path that this translation unit has opened before gives the same source again, and no path is read
   twice. NULL when it cannot be read. */
front_source *qn__source_open(front_sources *sources, const char *path);
/* Index of a file name in sources->names, added if new (beyond 65535 names: 0). */
uint16_t qn__source_name(front_sources *sources, const char *name);
/* The position as `#line` wants it seen, with `file` an index into sources->names. */
ir_loc qn__source_resolve(const front_sources *sources, front_loc loc);
/* Text of a physical line without its line end; empty when there is none. */
qn__str qn__source_line(front_sources *sources, front_loc loc);

#endif
