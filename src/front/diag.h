/* Diagnostics: errors, warnings, notes and hints with their positions, collected and printed as people know
   them from clang: `FILE:LINE:COLUMN: error: message`, the source line, a caret, and `hint: ...`. Nothing
   stops at the first error. Only the first error of a position is kept: what follows there is mostly its
   consequence. Messages are printed in the order in which they came. All memory is the arena's. */
#ifndef QN__FRONT_DIAG_H
#define QN__FRONT_DIAG_H

#include "front/source.h"
#include "util/compiler.h"

typedef enum front_severity { FRONT_NOTE, FRONT_WARNING, FRONT_ERROR } front_severity;

typedef enum front_warning {
#define WARNING(ID, name) FRONT_WARN_##ID,
#include "front/warnings.def"
#undef WARNING
    FRONT_WARN_COUNT
} front_warning;

typedef struct front_message {
    uint8_t severity; /* front_severity */
    uint8_t warning;  /* front_warning, where severity is FRONT_WARNING or it became an error by -Werror */
    bool is_warning;
    front_loc loc;
    uint32_t range_column, range_length; /* bytes of the line to underline with ~; length 0: none */
    const char *text;                    /* one message, no capital, no full stop */
    const char *hint;                    /* or NULL */
} front_message;

typedef struct front_diag front_diag;
/* Called behind each error and warning so that the preprocessor can add the note "expanded from macro
   'M'". */
typedef void front_diag_origin(front_diag *diag, front_loc loc, void *user);

struct front_diag {
    qn__arena *arena;
    front_sources *sources;
    QN__VEC(front_message) messages;
    uint32_t errors, warnings; /* counts; a warning under -Werror counts as an error */
    uint32_t max_errors;       /* default 100; then "too many errors" and `stopped` */
    bool no_warnings;          /* -w */
    bool warnings_are_errors;  /* -Werror */
    bool stopped;              /* too many errors: whoever works should leave soon; errors > 0 holds */
    bool muted;                /* the last error or warning was dropped, so notes and hints to it are too */
    front_diag_origin *origin;
    void *origin_user;
    size_t last; /* the last error or warning in `messages`, which hints and ranges belong to */
};

void qn__diag_init(front_diag *diag, qn__arena *arena, front_sources *sources);

void qn__diag_error(front_diag *diag, front_loc loc, const char *format, ...) QN__PRINTF(3, 4);
void qn__diag_warning(front_diag *diag, front_warning warning, front_loc loc, const char *format, ...)
    QN__PRINTF(4, 5);
/* Belongs to the error or warning before it: `note: previous declaration is here`. FRONT_NO_LOC: no
   position. */
void qn__diag_note(front_diag *diag, front_loc loc, const char *format, ...) QN__PRINTF(3, 4);
/* One message on what to do, shown below the excerpt of the last error or warning (the last one given
   wins). */
void qn__diag_hint(front_diag *diag, const char *format, ...) QN__PRINTF(2, 3);
/* Underlines `length` bytes from `from` (a place on the same line, else nothing happens). */
void qn__diag_range(front_diag *diag, front_loc from, uint32_t length);

/* All messages as text, and a last line "2 errors and 1 warning generated." where there are any. */
void qn__diag_print(front_diag *diag, qn__buf *out);
const char *qn__diag_warning_name(front_warning warning);

#endif
