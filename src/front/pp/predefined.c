/* Predefined macros: their names are entered into the table of names, their bodies are lexed when first
   used. */
#include <math.h>
#include <string.h>

#include "front/pp/internal.h"

typedef enum row_kind { ROW_TEXT, ROW_FUNCTION, ROW_F32, ROW_F64, ROW_DYNAMIC } row_kind;

typedef struct row {
    const char *name;
    uint8_t len, kind; /* row_kind */
    uint16_t std;
    qn__trait unless; /* the target has it */
    const char *body, *parameters;
    uint64_t bits; /* of a value; of a dynamic one which it is */
    size_t option; /* offset of a bool in front_options + 1, or 0 */
} row;

#define NAME(text) .name = text, .len = sizeof text - 1
static const row rows[] = {
#define MACRO(text, lexed, version, lacking)                                                                 \
    {NAME(text), .kind = ROW_TEXT, .std = version, .unless = lacking, .body = lexed},
#define FUNCTION(text, takes, lexed) {NAME(text), .kind = ROW_FUNCTION, .body = lexed, .parameters = takes},
#define VALUE32(text, value)         {NAME(text), .kind = ROW_F32, .bits = value},
#define VALUE64(text, value)         {NAME(text), .kind = ROW_F64, .unless = QN__TRAIT(lacks_f64), .bits = value},
#define OPTION(text, lexed, member)                                                                          \
    {NAME(text), .kind = ROW_TEXT, .body = lexed, .option = offsetof(front_options, member) + 1},
#define DYNAMIC(ID, text) {NAME(text), .kind = ROW_DYNAMIC, .bits = FRONT_DYNAMIC_##ID},
#include "front/pp/predefined.def"
};

static unsigned language_version(const front_pp *pp) { return pp->options->std ? pp->options->std : 120; }

static bool is_defined(const front_pp *pp, const row *r) {
    if (r->std > language_version(pp)) return false;
    if (r->option && !*(const bool *)((const char *)pp->options + r->option - 1)) return false;
    return !qn__has_trait(&pp->config.target, r->unless);
}

void qn__pp_predefine(front_pp *pp) {
    for (size_t i = 0; i < QN__COUNT(rows); i++)
        if (is_defined(pp, &rows[i]))
            qn__name_static(pp->names, rows[i].name, rows[i].len)->predefined = (uint16_t)(i + 1);
    /* A keyword since OpenCL C 2.0, and a name like any other before. */
    if (language_version(pp) >= 200) qn__name_static(pp->names, "generic", 7)->keyword = FRONT_T_GENERIC;
}

/* A float that has no literal, as a token that is already evaluated. */
static front_token value_token(const row *r) {
    front_token token = {.kind = FRONT_T_FLOAT, .text = r->name, .len = r->len};
    if (r->kind == ROW_F64) {
        memcpy(&token.real, &r->bits, sizeof token.real);
        token.literal = FRONT_F64;
        return token;
    }
    uint32_t bits = (uint32_t)r->bits;
    float value;
    memcpy(&value, &bits, sizeof value);
    token.real = value;
    token.literal = FRONT_F32;
    return token;
}

static void lex_definition(front_pp *pp, const row *r, front_macro *macro) {
    const char *text = r->body;
    if (r->kind == ROW_FUNCTION) text = qn__arena_printf(pp->arena, "(%s) %s", r->parameters, r->body);
    front_lexer lexer;
    qn__lex_init_text(&lexer, qn__str_of(text), FRONT_NO_LOC, pp->names, pp->diag);
    macro->function_like = r->kind == ROW_FUNCTION;
    qn__pp_read_definition(pp, &lexer, macro);
}

front_macro *qn__pp_make_predefined(front_pp *pp, front_name *name) {
    const row *r = &rows[name->predefined - 1];
    front_macro *macro = QN__NEW(pp->arena, front_macro);
    name->predefined = 0;
    name->macro = macro;
    macro->name = name;
    macro->predefined = true;
    if (r->kind == ROW_DYNAMIC) {
        macro->dynamic = (uint8_t)r->bits;
    } else if (r->kind == ROW_F32 || r->kind == ROW_F64) {
        macro->body = QN__NEW(pp->arena, front_token);
        *macro->body = value_token(r);
        macro->len = 1;
    } else {
        lex_definition(pp, r, macro);
    }
    return macro;
}

front_token qn__pp_string_token(front_pp *pp, qn__str text) {
    qn__buf out;
    qn__buf_init(&out, pp->arena);
    qn__buf_putc(&out, '"');
    for (size_t i = 0; i < text.len; i++) {
        if (text.data[i] == '"' || text.data[i] == '\\') qn__buf_putc(&out, '\\');
        qn__buf_putc(&out, text.data[i] == '\n' ? ' ' : text.data[i]);
    }
    qn__buf_putc(&out, '"');
    return (front_token){.kind = FRONT_T_STRING, .text = out.data, .len = (uint32_t)out.len};
}

static front_token number_token(front_pp *pp, uint64_t value) {
    const char *text = qn__arena_printf(pp->arena, "%llu", (unsigned long long)value);
    return (front_token){.kind = FRONT_T_NUMBER, .text = text, .len = (uint32_t)strlen(text)};
}

front_token qn__pp_dynamic(front_pp *pp, const front_macro *macro, const front_token *use) {
    ir_loc seen = qn__source_resolve(pp->config.sources, use->loc);
    front_token token = {0};
    switch ((front_dynamic)macro->dynamic) {
    case FRONT_DYNAMIC_LINE: token = number_token(pp, seen.line); break;
    case FRONT_DYNAMIC_COUNTER: token = number_token(pp, pp->counter++); break;
    case FRONT_DYNAMIC_INCLUDE_LEVEL: token = number_token(pp, pp->files.len - 1); break;
    case FRONT_DYNAMIC_C_VERSION: token = number_token(pp, language_version(pp)); break;
    case FRONT_DYNAMIC_FILE:
    case FRONT_STATIC:
        token = qn__pp_string_token(pp, qn__str_of(pp->config.sources->names.data[seen.file]));
        break;
    }
    qn__pp_charge(pp, 2 + token.len / sizeof token);
    token.loc = use->loc;
    token.flags = use->flags;
    return token;
}
