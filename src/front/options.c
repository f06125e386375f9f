/* Compile options; see options.h. One table: an option sets one or more flags. */
#include "front/options.h"

#include <stddef.h>
#include <string.h>

typedef struct flag_option {
    const char *text;
    uint16_t sets[5]; /* offsets of bools in front_options */
    uint8_t count;
} flag_option;

#define AT(member) offsetof(front_options, member)

static const flag_option flag_options[] = {
    {"-cl-opt-disable", {AT(opt_disable)}, 1},
    {"-cl-single-precision-constant", {AT(single_precision_constant)}, 1},
    {"-cl-denorms-are-zero", {AT(denorms_are_zero)}, 1},
    {"-cl-fp32-correctly-rounded-divide-sqrt", {AT(correctly_rounded_divide_sqrt)}, 1},
    {"-cl-mad-enable", {AT(mad_enable)}, 1},
    {"-cl-no-signed-zeros", {AT(no_signed_zeros)}, 1},
    {"-cl-unsafe-math-optimizations", {AT(unsafe_math), AT(mad_enable), AT(no_signed_zeros)}, 3},
    {"-cl-finite-math-only", {AT(finite_math_only)}, 1},
    {"-cl-fast-relaxed-math",
     {AT(fast_relaxed_math), AT(unsafe_math), AT(finite_math_only), AT(mad_enable), AT(no_signed_zeros)},
     5},
    {"-cl-uniform-work-group-size", {AT(uniform_work_group_size)}, 1},
    {"-cl-no-subgroup-ifp", {AT(no_subgroup_ifp)}, 1},
    {"-cl-kernel-arg-info", {AT(kernel_arg_info)}, 1},
    {"-cl-strict-aliasing", {0}, 0}, /* of OpenCL 1.0; without effect since */
    {"-qn-unchecked", {AT(unchecked)}, 1},
    {"-qn-soft-f64", {AT(soft_f64)}, 1},
    {"-g", {AT(debug)}, 1},
    {"-w", {AT(no_warnings)}, 1},
    {"-Werror", {AT(warnings_are_errors)}, 1},
};

static const struct {
    const char *text;
    unsigned std;
} standards[] = {{"CL1.0", 100}, {"CL1.1", 110}, {"CL1.2", 120}, {"CL2.0", 200}, {"CL3.0", 300}};

enum { MAX_TEXT = 1 << 20, SHOWN = 60 };

static bool is_blank(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

/* Reads one word as a shell would: blanks part words, quotes and backslashes keep them. A backslash within
   double quotes quotes only itself and the quote. Returns 0 at the end, 1 for a word, -1 for a quote that is
   not closed. */
static int next_word(qn__arena *arena, const char **at, const char **word) {
    const char *p = *at;
    while (is_blank(*p)) p++;
    if (!*p) return 0;
    char quote = 0;
    qn__buf text;
    qn__buf_init(&text, arena);
    qn__buf_append(&text, "", 0);
    for (; *p && (quote || !is_blank(*p)); p++) {
        if (quote ? *p == quote : *p == '"' || *p == '\'') {
            quote = quote ? 0 : *p;
        } else if (*p == '\\' && quote != '\'' && p[1] && (!quote || p[1] == '"' || p[1] == '\\')) {
            qn__buf_putc(&text, *++p);
        } else {
            qn__buf_putc(&text, *p);
        }
    }
    *at = p;
    *word = text.data ? text.data : "";
    return quote ? -1 : 1;
}

static bool is_name(const char *text, size_t len) {
    for (size_t i = 0; i < len; i++) {
        char c = text[i];
        bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
        if (!letter && !(i && c >= '0' && c <= '9')) return false;
    }
    return len > 0;
}

/* What -D may name: a macro, or where `numbers` is set the @id of an `override`. */
static bool is_defined_name(const front_options *options, const char *text, size_t len) {
    return is_name(text, len) || (options->numbers && len && strspn(text, "0123456789") == len);
}

const char *qn__options_define(qn__arena *arena, const char *name, const char *value,
                               front_options *options) {
    const size_t length = strlen(name), word = strcspn(name, "(");
    const bool has_parameters = word < length;
    if (!is_defined_name(options, name, word) || (has_parameters && strchr(name, ')') != name + length - 1))
        return qn__arena_printf(arena, "'%.*s' is no name of a macro", SHOWN, name);
    const front_define define = {qn__arena_strdup(arena, name), value ? qn__arena_strdup(arena, value) : "1"};
    qn__vec_push(arena, &options->defines, define);
    return NULL;
}

/* NAME, NAME=VALUE or NAME(PARAMETERS)=VALUE. */
static const char *add_define(qn__arena *arena, front_options *options, const char *text, bool undefine) {
    size_t name_len = strcspn(text, undefine ? "" : "=("), len = name_len;
    const char *value = strchr(text, '=');
    if (text[name_len] == '(') {
        const char *close = strchr(text, ')');
        if (!close || (close[1] && close[1] != '='))
            return qn__arena_printf(arena, "the option '-D %.*s' lacks a ')' in front of '='", SHOWN, text);
        len = (size_t)(close + 1 - text);
        value = close[1] ? close + 1 : NULL;
    }
    if (!is_defined_name(options, text, name_len))
        return qn__arena_printf(arena, "the option '-%c %.*s' does not begin with the name of a macro",
                                undefine ? 'U' : 'D', SHOWN, text);
    front_define define = {qn__arena_strndup(arena, text, len), value ? value + 1 : "1"};
    if (undefine) define.value = NULL;
    qn__vec_push(arena, &options->defines, define);
    return NULL;
}

static const char *set_standard(qn__arena *arena, front_options *options, const char *text) {
    for (size_t i = 0; i < QN__COUNT(standards); i++) {
        if (strcmp(text, standards[i].text)) continue;
        options->std = standards[i].std;
        return NULL;
    }
    return qn__arena_printf(arena,
                            "the option '-cl-std=%.*s' names no version of OpenCL C; there are CL1.0, CL1.1, "
                            "CL1.2, CL2.0 and CL3.0",
                            SHOWN, text);
}

static const char *set_max_registers(qn__arena *arena, front_options *options, const char *text) {
    enum { LEAST = 16, MOST = 255 };
    uint32_t number = 0;
    for (const char *p = text; *p; p++)
        number = *p >= '0' && *p <= '9' && number <= MOST ? number * 10 + (uint32_t)(*p - '0') : MOST + 1;
    if (number < LEAST || number > MOST)
        return qn__arena_printf(arena, "the option '-cl-nv-maxrregcount=%.*s' takes a number from %d to %d",
                                SHOWN, text, LEAST, MOST);
    options->max_registers = number;
    return NULL;
}

static const char *unclosed_quote(qn__arena *arena, const char *word) {
    return qn__arena_printf(arena, "a quote is not closed in the compile options: %.*s", SHOWN, word);
}

/* -D, -U and -I, whose operand may be a word of its own. */
static const char *take_operand(qn__arena *arena, front_options *options, const char *word, const char **at) {
    const char *operand = word + 2;
    int got = *operand ? 1 : next_word(arena, at, &operand);
    if (got < 0) return unclosed_quote(arena, operand);
    if (!got) return qn__arena_printf(arena, "the option '%s' lacks its operand", word);
    if (word[1] != 'I') return add_define(arena, options, operand, word[1] == 'U');
    qn__vec_push(arena, &options->include_dirs, operand);
    return NULL;
}

static const char *take_option(qn__arena *arena, front_options *options, const char *word, const char **at) {
    for (size_t i = 0; i < QN__COUNT(flag_options); i++) {
        if (strcmp(word, flag_options[i].text)) continue;
        for (size_t k = 0; k < flag_options[i].count; k++)
            *(bool *)((char *)options + flag_options[i].sets[k]) = true;
        return NULL;
    }
    if (!strncmp(word, "-cl-std=", 8)) return set_standard(arena, options, word + 8);
    if (!strncmp(word, "-cl-nv-maxrregcount=", 20)) return set_max_registers(arena, options, word + 20);
    if (!strncmp(word, "-qn-tune=", 9)) {
        options->tune = word + 9;
        return NULL;
    }
    if (word[0] == '-' && (word[1] == 'D' || word[1] == 'U' || word[1] == 'I'))
        return take_operand(arena, options, word, at);
    return qn__arena_printf(arena, "unknown compile option '%.*s'", SHOWN, word);
}

const char *qn__options_parse(qn__arena *arena, const char *text, front_options *options) {
    const char *at = text ? text : "", *word = "", *error = NULL;
    if (strlen(at) > MAX_TEXT) return "the compile options are longer than a megabyte";
    int got;
    while (!error && (got = next_word(arena, &at, &word)) != 0) {
        if (got < 0) return unclosed_quote(arena, word);
        error = take_option(arena, options, word, &at);
    }
    return error;
}
