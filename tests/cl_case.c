/* Directives of kernel tests: reading them, and comparing results with them. */
#include "cl_case.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* What the tool's files for arguments ask of whoever uses them. */
int tool_fail(int status, const char *format, ...) {
    va_list args;
    va_start(args, format);
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
    va_end(args);
    return status;
}

void *tool_alloc(size_t size) {
    void *memory = calloc(1, size ? size : 1);
    if (memory) return memory;
    exit(tool_fail(3, "out of memory (%zu bytes)", size));
}

static char *copy(const char *text, size_t length) {
    char *to = tool_alloc(length + 1);
    memcpy(to, text, length);
    return to;
}

/* ---- expectations ---- */

static uint64_t place(tool_type type, uint64_t component) {
    uint64_t slot = type.lanes == 3 ? component / 3 * 4 + component % 3 : component;
    return slot * tool_type_scalar_size(type.type);
}

/* Takes "~1e-6" or "ulp 4" off the end of the values. */
static bool take_tolerance(char *text, cl_expect *expect) {
    char *mark = strchr(text, '~'), *end;
    if (mark)
        expect->relative = strtod(mark + 1, &end);
    else if ((mark = strstr(text, "ulp ")))
        expect->ulps = strtoull(mark + 4, &end, 10);
    else
        return true;
    if (end[strspn(end, " ")]) return false;
    *mark = 0;
    return true;
}

static bool take_value(char *value, cl_expect *expect, uint64_t index) {
    value += strspn(value, " ");
    size_t length = strlen(value);
    while (length && value[length - 1] == ' ') length--;
    expect->unchecked[index] = length == 1 && *value == '*';
    return expect->unchecked[index] ||
           tool_value_parse(value, length, expect->type.type, expect->data + place(expect->type, index));
}

/* [TYPE:] V, V, ... [~TOLERANCE | ulp N]; the values repeat to fill the buffer. */
static const char *read_expect(char *text, cl_arg *arg) {
    cl_expect *expect = &arg->expect;
    if (arg->arg.kind != ARG_BUFFER && arg->arg.kind != ARG_FILE)
        return "expect: stands behind the buffer argument it is about";
    expect->given = true;
    expect->type = arg->arg.type;
    char *colon = strchr(text, ':');
    if (colon) {
        if (!tool_type_parse(text, (size_t)(colon - text), &expect->type))
            return "expect: of an unknown type";
        text = colon + 1;
    }
    if (!take_tolerance(text, expect)) return "expect: a tolerance is ~1e-6 or ulp 4";
    expect->components = arg->arg.size / tool_type_size(expect->type) * expect->type.lanes;
    expect->data = tool_alloc(arg->arg.size);
    expect->unchecked = tool_alloc(expect->components * sizeof(bool));
    uint64_t count = 0;
    for (char *value = strtok(text, ","); value; value = strtok(NULL, ",")) {
        if (count == expect->components) return "expect: has more values than the buffer";
        if (!take_value(value, expect, count++)) return "expect: a value is no number of the type";
    }
    if (count == 0 || expect->components % count) return "expect: the values do not fill the buffer";
    unsigned size = tool_type_scalar_size(expect->type.type);
    for (uint64_t i = count; i < expect->components; i++) {
        memcpy(expect->data + place(expect->type, i), expect->data + place(expect->type, i - count), size);
        expect->unchecked[i] = expect->unchecked[i - count];
    }
    return NULL;
}

/* ---- directives ---- */

/* NAME, NAME, ...: what follows is for each of them. */
static const char *read_kernel(cl_case *test, char *text) {
    test->last_runs = 0;
    for (char *name = strtok(text, ", "); name; name = strtok(NULL, ", ")) {
        if (test->num_runs == CL_MAX_RUNS) return "too many kernel: directives";
        cl_run *run = &test->runs[test->num_runs++];
        run->kernel = name;
        run->options = test->options;
        run->range.global[0] = 1;
        test->last_runs++;
    }
    return test->last_runs ? NULL : "kernel: takes names";
}

static const char *read_sizes(char *text, uint64_t sizes[3]) {
    char *end = text;
    for (int d = 0; d < 3; d++) {
        errno = 0;
        sizes[d] = strtoull(text, &end, 0);
        if (end == text || errno) return "a size is X[, Y[, Z]]";
        end += strspn(end, " ");
        if (*end != ',') break;
        text = end + 1;
    }
    return *end ? "a size is X[, Y[, Z]]" : NULL;
}

static const char *read_local(cl_run *run, char *text) {
    uint64_t sizes[3] = {0};
    const char *error = read_sizes(text, sizes);
    for (int d = 0; d < 3; d++) run->range.local[d] = (uint32_t)sizes[d];
    return error;
}

static const char *read_arg(cl_run *run, char *text) {
    if (run->num_args == CL_MAX_ARGS) return "too many arguments";
    return tool_arg_parse(text, &run->args[run->num_args++].arg) ? "a bad argument" : NULL;
}

static char unescape(const char **text) {
    char c = *(*text)++;
    if (c != '\\') return c;
    c = *(*text)++;
    switch (c) {
    case 'n': return '\n';
    case 't': return '\t';
    default: return c;
    }
}

/* "text\n", added to what earlier lines gave. */
static const char *read_prints(cl_run *run, const char *text) {
    size_t length = run->prints ? strlen(run->prints) : 0;
    char *all = tool_alloc(length + strlen(text) + 1);
    if (run->prints) memcpy(all, run->prints, length);
    run->prints = all;
    if (*text++ != '"') return "prints: takes a string in quotes";
    while (*text && *text != '"') all[length++] = unescape(&text);
    return *text == '"' && text[1] == 0 ? NULL : "prints: the closing quote is missing";
}

static const char *read_note(cl_case *test, int kind, char *text) {
    if (test->num_notes == CL_MAX_NOTES) return "too many error:, warning: and skip: directives";
    cl_note *note = &test->notes[test->num_notes++];
    note->kind = kind;
    note->text = text;
    if (kind == CL_SKIP) return NULL;
    char *end;
    note->line = (unsigned)strtoul(text, &end, 10);
    if (end == text || *end != ':') return "an error or warning is LINE: part of the message";
    note->text = end + 1 + strspn(end + 1, " ");
    return NULL;
}

static const struct need {
    const char *name;
    uint32_t bit;
} needs[] = {{"f16", QN_CAN_F16},
             {"f64", QN_CAN_F64},
             {"i64_atomics", QN_CAN_I64_ATOMICS},
             {"sub_groups", QN_CAN_SUB_GROUPS},
             {"printf", QN_CAN_PRINTF},
             {"f32_denormals", QN_CAN_F32_DENORMALS}};

enum { NUM_NEEDS = sizeof needs / sizeof needs[0] };

/* "private 40000" */
static bool read_private(cl_case *test, const char *text) {
    if (test->num_runs || strncmp(text, "private ", 8) != 0) return false;
    char *end;
    test->private_memory = strtoull(text + 8, &end, 10);
    return test->private_memory && !*end;
}

/* Of the file, or of the run that it stands behind. */
static const char *read_needs(cl_case *test, const char *text) {
    if (read_private(test, text)) return NULL;
    for (size_t i = 0; i < NUM_NEEDS; i++) {
        if (strcmp(text, needs[i].name) != 0) continue;
        if (!test->num_runs) test->needs |= needs[i].bit;
        for (uint32_t r = test->num_runs - test->last_runs; r < test->num_runs; r++)
            test->runs[r].needs |= needs[i].bit;
        return NULL;
    }
    return "needs: takes f16, f64, i64_atomics, sub_groups, printf, f32_denormals or, of the file, private "
           "BYTES";
}

const char *cl_need_name(uint32_t bits) {
    for (size_t i = 0; i < NUM_NEEDS; i++)
        if (bits & needs[i].bit) return needs[i].name;
    return "what it needs";
}

static const char *read_options(cl_case *test, const char *text) {
    if (!test->num_runs) test->options = text;
    for (uint32_t r = test->num_runs - test->last_runs; r < test->num_runs; r++) test->runs[r].options = text;
    return NULL;
}

static const char *read_run_directive(cl_run *run, const char *word, char *text) {
    if (strcmp(word, "global") == 0) return read_sizes(text, run->range.global);
    if (strcmp(word, "offset") == 0) return read_sizes(text, run->range.offset);
    if (strcmp(word, "local") == 0) return read_local(run, text);
    if (strcmp(word, "arg") == 0) return read_arg(run, text);
    if (strcmp(word, "prints") == 0) return read_prints(run, text);
    if (strcmp(word, "expect") == 0)
        return run->num_args ? read_expect(text, &run->args[run->num_args - 1])
                             : "expect: stands behind the argument it is about";
    run->fails = text; /* "fails" */
    return NULL;
}

static const char *read_directive(cl_case *test, const char *word, char *text) {
    if (strcmp(word, "kernel") == 0) return read_kernel(test, text);
    if (strcmp(word, "options") == 0) return read_options(test, text);
    if (strcmp(word, "needs") == 0) return read_needs(test, text);
    if (strcmp(word, "skip") == 0) return read_note(test, CL_SKIP, text);
    if (strcmp(word, "error") == 0) return read_note(test, CL_ERROR, text);
    if (strcmp(word, "warning") == 0) return read_note(test, CL_WARNING, text);
    if (test->num_runs == 0) return "it belongs to a run: it stands behind kernel:";
    const char *error = NULL;
    for (uint32_t r = test->num_runs - test->last_runs; r < test->num_runs && !error; r++)
        error = read_run_directive(&test->runs[r], word, copy(text, strlen(text)));
    return error;
}

static const char *const words[] = {"kernel", "global", "local", "offset", "arg",     "expect", "prints",
                                    "fails",  "error",  "needs", "skip",   "warning", "options"};

/* The word of a line "// word: text", or NULL; *text is behind the colon. */
static const char *directive_word(const char *line, const char **text) {
    line += 2 + strspn(line + 2, " ");
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        size_t length = strlen(words[i]);
        if (strncmp(line, words[i], length) == 0 && line[length] == ':') {
            *text = line + length + 1;
            return words[i];
        }
    }
    return NULL;
}

/* The text of a directive without spaces around it. A line that ends in a comma goes on in the next
   comment. */
static char *directive_text(const char *text, const char **next) {
    char *all = tool_alloc(1);
    size_t length = 0;
    for (;;) {
        const char *end = text + strcspn(text, "\n");
        text += strspn(text, " ");
        size_t part = (size_t)(end - text);
        char *longer = tool_alloc(length + part + 1);
        memcpy(longer, all, length);
        memcpy(longer + length, text, part);
        all = longer;
        length += part;
        while (length && isspace((unsigned char)all[length - 1])) all[--length] = 0;
        *next = *end ? end + 1 : end;
        if (length == 0 || all[length - 1] != ',' || strncmp(*next, "//", 2) != 0) return all;
        text = *next + 2;
    }
}

static bool read_head(cl_case *test) {
    const char *line = test->source;
    unsigned number = 1;
    bool good = true;
    while (strncmp(line, "//", 2) == 0 || *line == '\n') {
        const char *text, *next = line + strcspn(line, "\n");
        if (*next) next++;
        const char *word = *line == '\n' ? NULL : directive_word(line, &text), *error = NULL;
        if (word) error = read_directive(test, word, directive_text(text, &next));
        if (error) tool_fail(0, "%s:%u: %s", test->path, number, error);
        good &= !error;
        for (; line < next; line++) number += *line == '\n';
    }
    for (; *line; number++) { /* a run further down would never be */
        const char *text, *word = strncmp(line, "//", 2) ? NULL : directive_word(line, &text);
        if (word && !strcmp(word, "kernel")) {
            tool_fail(0, "%s:%u: kernel: stands behind the head of the file", test->path, number);
            return false;
        }
        line += strcspn(line, "\n");
        line += *line == '\n';
    }
    if (good && test->num_runs == 0 && cl_case_count(test, CL_ERROR) == 0) {
        tool_fail(0, "%s: neither kernel: nor error: at its head", test->path);
        return false;
    }
    return good;
}

bool cl_case_read(const char *path, cl_case *out) {
    *out = (cl_case){.path = path, .options = ""};
    unsigned char *text;
    const char *error = tool_file_read(path, &text, &out->size);
    if (error) {
        tool_fail(0, "%s: %s", path, error);
        return false;
    }
    out->source = copy((const char *)text, out->size);
    free(text);
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    out->name = copy(name, strcspn(name, "."));
    return read_head(out);
}

const char *cl_case_skip(const cl_case *test, const char *device) {
    size_t kind = strcspn(device, ":");
    for (uint32_t i = 0; i < test->num_notes; i++) {
        const cl_note *note = &test->notes[i];
        size_t length = strcspn(note->text, " ");
        if (note->kind == CL_SKIP && (length == kind || length == strlen(device)) &&
            strncmp(note->text, device, length) == 0)
            return note->text + length + strspn(note->text + length, " ");
    }
    return NULL;
}

uint32_t cl_case_count(const cl_case *test, int kind) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < test->num_notes; i++) count += (int)test->notes[i].kind == kind;
    return count;
}

/* ---- devices that flush denormal floats ---- */

static bool bits_are_denormal(uint64_t bits) { return !(bits & 0x7F800000) && bits & 0x007FFFFF; }

static tool_type seen_type(const cl_arg *arg) {
    if (arg->expect.given) return arg->expect.type;
    return arg->arg.has_type ? arg->arg.type : (tool_type){QN_TYPE_U8, 1};
}

static uint64_t components_of(const cl_arg *arg, tool_type type) {
    return arg->arg.size / tool_type_size(type) * type.lanes;
}

static uint64_t uncheck(cl_run *run, uint64_t index) {
    uint64_t count = 0;
    for (uint32_t a = 0; a < run->num_args; a++) {
        cl_arg *arg = &run->args[a];
        if (!arg->expect.unchecked || index >= components_of(arg, seen_type(arg))) continue;
        count += arg->expect.given && !arg->expect.unchecked[index];
        arg->expect.unchecked[index] = true;
    }
    return count;
}

uint64_t cl_case_allow_flush(cl_case *test) {
    uint64_t count = 0;
    for (cl_run *run = test->runs; run < test->runs + test->num_runs; run++) {
        for (cl_arg *arg = run->args; arg < run->args + run->num_args; arg++) {
            if (arg->arg.kind != ARG_BUFFER && arg->arg.kind != ARG_FILE) continue;
            arg->expect.flushes = true;
            if (!arg->expect.unchecked)
                arg->expect.unchecked = tool_alloc(components_of(arg, seen_type(arg)) * sizeof(bool));
        }
        for (cl_arg *arg = run->args; arg < run->args + run->num_args; arg++) {
            const tool_type type = arg->arg.type;
            bool holds =
                arg->arg.kind == ARG_VALUE || (arg->arg.kind == ARG_BUFFER && !arg->arg.uninitialised);
            if (!holds || !arg->arg.has_type || type.type != QN_TYPE_F32) continue;
            for (uint64_t i = 0; i < components_of(arg, type); i++) {
                uint32_t bits;
                memcpy(&bits, (const unsigned char *)arg->arg.data + place(type, i), sizeof bits);
                if (bits_are_denormal(bits)) count += uncheck(run, i);
            }
        }
    }
    return count;
}

/* ---- comparing ---- */

static bool is_real(qn_type type) { return type >= QN_TYPE_F16; }

static uint64_t bits_of(const unsigned char *from, qn_type type) {
    uint64_t bits = 0;
    memcpy(&bits, from, tool_type_scalar_size(type));
    return bits;
}

static bool bits_are_nan(uint64_t bits, qn_type type) {
    static const uint64_t infinity[] = {0x7C00, 0x7F800000, 0x7FF0000000000000, 0x7F80, 0x7E, 0x7C};
    uint64_t sign = (uint64_t)1 << (8 * tool_type_scalar_size(type) - 1);
    return (bits & (sign - 1)) > infinity[type - QN_TYPE_F16];
}

/* Numbers in the order of the reals, neighbours one apart. */
static int64_t ordered(uint64_t bits, qn_type type) {
    uint64_t sign = (uint64_t)1 << (8 * tool_type_scalar_size(type) - 1);
    return bits & sign ? -(int64_t)(bits & (sign - 1)) : (int64_t)bits;
}

static double real_of(const unsigned char *from, qn_type type) {
    float narrow;
    double wide;
    if (type == QN_TYPE_F32) {
        memcpy(&narrow, from, sizeof narrow);
        return (double)narrow;
    }
    memcpy(&wide, from, sizeof wide);
    return wide;
}

static bool component_agrees(const cl_expect *expect, qn_type type, const unsigned char *a,
                             const unsigned char *b) {
    uint64_t x = bits_of(a, type), y = bits_of(b, type);
    if (x == y) return true;
    if (!is_real(type)) return false;
    bool x_nan = bits_are_nan(x, type), y_nan = bits_are_nan(y, type);
    if (x_nan || y_nan) return x_nan && y_nan;
    if (expect->flushes && type == QN_TYPE_F32) {
        const uint64_t magnitude = 0x7FFFFFFF;
        if (!(x & magnitude) && bits_are_denormal(y)) return true;
        if (!(y & magnitude) && bits_are_denormal(x)) return true;
    }
    int64_t i = ordered(x, type), j = ordered(y, type);
    uint64_t distance = i > j ? (uint64_t)i - (uint64_t)j : (uint64_t)j - (uint64_t)i;
    if (distance <= expect->ulps && (expect->ulps || expect->relative > 0)) return true;
    if (expect->relative <= 0 || (type != QN_TYPE_F32 && type != QN_TYPE_F64)) return false;
    double p = real_of(a, type), q = real_of(b, type);
    return isfinite(p) && isfinite(q) && fabs(p - q) <= expect->relative * fmax(1, fabs(q));
}

static void value_text(char *to, size_t size, const unsigned char *from, qn_type type) {
    FILE *out = fmemopen(to, size, "w");
    if (!out) return;
    tool_value_print(out, from, type);
    fclose(out);
}

static bool compare(const cl_expect *expect, tool_type type, uint64_t components, const unsigned char *a,
                    const unsigned char *b, char *message, size_t size) {
    uint64_t wrong = 0, first = 0;
    for (uint64_t i = 0; i < components; i++) {
        if (expect->unchecked && expect->unchecked[i]) continue;
        if (component_agrees(expect, type.type, a + place(type, i), b + place(type, i))) continue;
        if (wrong++ == 0) first = i;
    }
    if (wrong == 0) return true;
    char x[64] = "", y[64] = "";
    value_text(x, sizeof x, a + place(type, first), type.type);
    value_text(y, sizeof y, b + place(type, first), type.type);
    snprintf(message, size, "component %llu is %s, not %s (%llu of %llu differ)", (unsigned long long)first,
             x, y, (unsigned long long)wrong, (unsigned long long)components);
    return false;
}

bool cl_expect_check(const cl_expect *expect, const unsigned char *data, char *message, size_t size) {
    return !expect->given ||
           compare(expect, expect->type, expect->components, data, expect->data, message, size);
}

bool cl_results_agree(const cl_arg *arg, const unsigned char *a, const unsigned char *b, char *message,
                      size_t size) {
    tool_type type = seen_type(arg);
    return compare(&arg->expect, type, components_of(arg, type), a, b, message, size);
}

static int by_line(const void *a, const void *b) {
    const char *x = *(char *const *)a, *y = *(char *const *)b;
    size_t m = strcspn(x, "\n"), n = strcspn(y, "\n"), length = m < n ? m : n;
    int order = memcmp(x, y, length);
    return order ? order : (int)(m > n) - (int)(m < n);
}

/* The lines of a text in alphabetical order. */
static size_t sort_lines(const char *text, const char **lines, size_t room) {
    size_t count = 0;
    while (*text && count < room) {
        lines[count++] = text;
        text += strcspn(text, "\n");
        if (*text) text++;
    }
    qsort(lines, count, sizeof *lines, by_line);
    return count;
}

bool cl_prints_agree(const char *expected, const char *printed) {
    enum { MAX_LINES = 4096 };
    const char *a[MAX_LINES], *b[MAX_LINES];
    size_t length = strlen(expected), count = sort_lines(expected, a, MAX_LINES);
    if (length != strlen(printed) || count != sort_lines(printed, b, MAX_LINES)) return false;
    for (size_t i = 0; i < count; i++)
        if (by_line(&a[i], &b[i])) return false;
    return true;
}
