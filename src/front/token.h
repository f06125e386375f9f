/* Tokens and the lexer. The lexer splits a source into preprocessing tokens (C99 6.4); the preprocessor
   (pp.h) works on these; at the end each is turned into a token of the language, its literal evaluated, its
   keyword recognised. Names are interned: two identifiers are the same if their front_name pointers are. */
#ifndef QN__FRONT_TOKEN_H
#define QN__FRONT_TOKEN_H

#include "front/diag.h"
#include "front/source.h"

typedef enum front_token_kind {
    FRONT_T_END,        /* last token of the array; its position is the end of the main source */
    FRONT_T_IDENTIFIER, /* name */
    FRONT_T_INT,        /* integer, literal: FRONT_INT_* bits */
    FRONT_T_FLOAT,      /* real, literal: front_float_suffix */
    FRONT_T_CHAR,       /* integer: the value as OpenCL's int, sign-extended to 64 bits */
    FRONT_T_STRING, /* string: adjacent literals joined, escapes decoded, zero byte behind it not counted */
    FRONT_T_PRAGMA, /* pragma */
    /* Kinds that only the preprocessor sees. */
    FRONT_T_NUMBER,      /* a preprocessing number, not yet evaluated */
    FRONT_T_OTHER,       /* a character that begins no token */
    FRONT_T_PLACEMARKER, /* an empty argument of ## */
    FRONT_T_PARAMETER,   /* in a macro's body: parameter number `integer` */
#define PUNCTUATOR(ID, spelling) FRONT_T_##ID,
#include "front/tokens.def"
#define KEYWORD(ID, spelling) FRONT_T_##ID,
#include "front/tokens.def"
    FRONT_T_COUNT
} front_token_kind;

/* Flags of a token. */
enum {
    FRONT_LINE_START = 1 << 0, /* first on its line */
    FRONT_SPACE = 1 << 1,      /* white space before it */
    FRONT_NO_EXPAND = 1 << 2,  /* identifier of a macro that is being expanded: stays as it is */
    FRONT_FROM_MACRO = 1 << 3, /* comes from the body of a macro, which `loc` is the expansion of */
    FRONT_PASTE = 1 << 4,      /* in a macro's body: followed by ## */
    FRONT_STRINGIZE = 1 << 5   /* in a macro's body: parameter with # before it */
};

/* FRONT_T_INT: how it was written. The parser picks the type by C99 6.4.4.1 with int and long. */
enum { FRONT_INT_UNSIGNED = 1, FRONT_INT_LONG = 2, FRONT_INT_DECIMAL = 4 };

/* FRONT_T_FLOAT: its type. A literal without a suffix is given as FRONT_F32, and rounded once to float, under
   -cl-single-precision-constant and where doubles are not supported. `real` is exact: rounded to that
   type. */
typedef enum front_float_suffix { FRONT_F64, FRONT_F32, FRONT_F16 } front_float_suffix;

typedef enum front_pragma_kind {
    FRONT_PRAGMA_UNROLL,     /* #pragma unroll, unroll N, unroll(N), nounroll: stands before the loop */
    FRONT_PRAGMA_EXTENSION,  /* #pragma OPENCL EXTENSION name : behaviour */
    FRONT_PRAGMA_FP_CONTRACT /* #pragma OPENCL FP_CONTRACT ON|OFF|DEFAULT, also with STDC */
} front_pragma_kind;

typedef enum front_switch { FRONT_OFF, FRONT_ON, FRONT_DEFAULT } front_switch;

typedef struct front_pragma {
    front_pragma_kind kind;
    int32_t unroll;       /* as ir_attr.unroll: -1 fully, 1 not at all, n > 1 that often */
    qn__str extension;    /* "cl_khr_fp64", "all"; unknown names were warned about and are not passed on */
    front_switch setting; /* FP_CONTRACT; EXTENSION: FRONT_ON for enable and require, FRONT_OFF for disable */
} front_pragma;

struct front_macro;

/* An interned identifier. */
typedef struct front_name {
    const char *data; /* zero-terminated */
    uint32_t len;
    uint32_t hash;
    uint16_t keyword;    /* front_token_kind, or 0 */
    uint16_t predefined; /* row of the table of predefined macros + 1 while not yet defined from it, or 0 */
    struct front_macro *macro; /* the preprocessor's */
    bool is_type;              /* the parser's: a type that is not known */
    bool is_reported;          /* the parser's: as a type, or a word of another language, that is not known */
    void *binding;             /* the parser's: innermost declaration in scope, for instance */
} front_name;

typedef struct front_token {
    uint16_t kind; /* front_token_kind */
    uint8_t flags;
    uint8_t literal; /* FRONT_INT_* bits or front_float_suffix */
    uint32_t len;    /* bytes of the spelling */
    front_loc
        loc; /* in a macro expansion: where the outermost macro stands; an argument's tokens keep theirs */
    const char *text; /* spelling, not zero-terminated */
    union {
        front_name *name;           /* identifiers and keywords */
        uint64_t integer;           /* FRONT_T_INT, FRONT_T_CHAR */
        double real;                /* FRONT_T_FLOAT */
        const qn__str *string;      /* FRONT_T_STRING */
        const front_pragma *pragma; /* FRONT_T_PRAGMA */
    };
} front_token;

typedef struct front_tokens {
    front_token *data; /* ends in a FRONT_T_END, which `len` counts */
    size_t len;
} front_tokens;

/* "identifier", "'+='", "'while'", ...: for messages. */
const char *qn__token_kind_name(front_token_kind kind);

/* ---- names ---- */

typedef struct front_names {
    qn__arena *arena;
    front_name **slots;
    uint32_t len, cap; /* cap is a power of two */
} front_names;

/* An empty table but for the keywords. */
void qn__names_init(front_names *names, qn__arena *arena);
front_name *qn__name(front_names *names, const char *data, size_t len); /* finds or adds; copies the text */
/* The same for who goes over the text anyway and makes the hash, byte by byte from FRONT_NAME_HASH. */
#define FRONT_NAME_HASH 2166136261u
static inline uint32_t qn__name_hash(uint32_t hash, char next) {
    return (hash ^ (unsigned char)next) * 16777619u;
}
front_name *qn__name_hashed(front_names *names, const char *data, size_t len, uint32_t hash);
/* The same for text that outlives the table: a literal's, not copied. */
front_name *qn__name_static(front_names *names, const char *data, size_t len);
static inline front_name *qn__name_str(front_names *names, qn__str text) {
    return qn__name(names, text.data, text.len);
}

/* ---- lexer ---- */

typedef struct front_lexer {
    front_source *source; /* NULL: a piece of text all of whose tokens stand at `fixed` */
    front_names *names;
    front_diag *diag;
    const char *at, *end;   /* a zero byte stands at `end` */
    const char *line_start; /* of the current physical line */
    uint32_t line;          /* physical */
    uint32_t next_splice;   /* index into source->splices */
    front_loc fixed;
    uint8_t flags;  /* FRONT_LINE_START, FRONT_SPACE for the next token */
    bool directive; /* in a directive: the end of the line reads as FRONT_T_END and is not passed */
    bool quiet;     /* in a skipped group: no messages on broken literals */
} front_lexer;

void qn__lex_init(front_lexer *lexer, front_source *source, front_names *names, front_diag *diag);
/* For pieces of text that are no source: pasted tokens, bodies of predefined macros. */
void qn__lex_init_text(front_lexer *lexer, qn__str text, front_loc loc, front_names *names, front_diag *diag);
/* The next preprocessing token; FRONT_T_END at the end, again and again. */
void qn__lex_next(front_lexer *lexer, front_token *token);
/* If the next thing on the line is `<name>`, reads it; else false and nothing is read. */
bool qn__lex_header_name(front_lexer *lexer, qn__str *name);
/* The rest of the line as written, comments included, blanks around it left out; read up to the line's
   end. */
qn__str qn__lex_rest(front_lexer *lexer);
/* Skips to the end of the line, which is not passed, without making tokens; comments that go on are
   followed. */
void qn__lex_skip_line(front_lexer *lexer);
/* Whether the next token is a `(`, on this line or, outside directives, a later one. Reads nothing. */
bool qn__lex_is_paren_next(const front_lexer *lexer);

/* Turns a preprocessing token into one of the language: number -> FRONT_T_INT/FLOAT, identifier -> keyword,
   character constant evaluated, a character that begins no token reported (and dropped: returns false).
   Strings are joined by the preprocessor. `single`: literals without a suffix are float. */
bool qn__lex_convert(front_token *token, front_diag *diag, bool single);
/* Evaluates a FRONT_T_NUMBER in place; reports what is wrong and goes on with some value. */
void qn__lex_number(front_token *token, front_diag *diag, bool single);
/* Evaluates a character constant in place. */
void qn__lex_char(front_token *token, front_diag *diag);
/* Appends the bytes of a string literal, escapes decoded. */
void qn__lex_string(const front_token *token, front_diag *diag, qn__buf *out);

/* A number as written ("1.5e3", "0x1.8p3", without suffix) rounded once, to nearest even, to a float of the
   kind, whatever the locale. *out_of_range is set where it overflows to infinity or a value other than
   zero becomes zero. */
double qn__number_parse(const char *text, size_t len, front_float_suffix kind, bool *out_of_range);

#endif
