/* Choices that a search on a device has found to be better than the library's own (quern tune): read from a text when the qn_kernels is made,
   looked at by plans. docs/quern.1 describes the text. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/op.h"

struct qn__tuning {
    size_t count;
    qn__tuned lines[];
};

static const struct {
    const char *name, *words, *sizes;
    double reach;
} calls[QN__CALLS] = {
#define CALL(call, words, sizes, reach) {#call, words, sizes, reach},
#include "kernels/tunables.def"
};

static const struct {
    qn__call call;
    const char *name, *numbers;
    const char *(*names)(uint32_t index);
} tunables[QN__TUNABLES] = {
#define TUNABLE(call, name, numbers, names) {QN__CALL_##call, #name, numbers, names},
#include "kernels/tunables.def"
};

static uint32_t num_sizes(qn__call call) {
    uint32_t count = 1;
    for (const char *c = calls[call].sizes; *c; c++) count += *c == 'x';
    return count;
}

/* ---- what there is to set ---- */

bool qn_kernels_tunable(uint32_t index, qn_tunable *out) {
    if (index >= QN__TUNABLES || !out) return false;
    *out = (qn_tunable){calls[tunables[index].call].name, tunables[index].name};
    return true;
}

/* Number `value` of a parameter's values; 0: there are no more. */
static uint32_t number_at(qn__tunable what, uint32_t value) {
    const char *at = tunables[what].numbers;
    for (; value > 0 && at; value--) {
        at = strchr(at, ' ');
        if (at) at++;
    }
    return at ? (uint32_t)strtoul(at, NULL, 10) : 0;
}

static void write_value(qn__tunable what, uint32_t value, char *text, size_t size) {
    if (tunables[what].names)
        snprintf(text, size, "%s", tunables[what].names(value - 1));
    else
        snprintf(text, size, "%u", value);
}

bool qn_kernels_tunable_value(uint32_t index, uint32_t value, char *text, size_t size) {
    if (index >= QN__TUNABLES || !text || !size) return false;
    const qn__tunable what = (qn__tunable)index;
    const bool has_names = tunables[what].names != NULL;
    const uint32_t number = !has_names ? number_at(what, value) : tunables[what].names(value) ? value + 1 : 0;
    if (number) write_value(what, number, text, size);
    return number != 0;
}

/* ---- reading ---- */

/* What is left of a line. */
typedef struct reader {
    const qn_kernels *kernels;
    const char *at, *end;
    uint32_t line;
    bool is_ours; /* the lines are of a device like this one */
    qn__tuning *tuning;
} reader;

static qn_status fail(const reader *r, const char *format, ...) {
    char text[512];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    return qn__op_fail(r->kernels, QN_ERROR_ARGUMENT, "qn_kernels_create: tuning, line %u: %s", r->line,
                       text);
}

static bool is_space(char c) { return c == ' ' || c == '\t' || c == '\r'; }

/* Up to one of `ends`, or all that is left; without the space about it, cut to `size`. What it ended in is taken, too. */
static void take(reader *r, const char *ends, char *word, size_t size) {
    while (r->at < r->end && is_space(*r->at)) r->at++;
    const char *begin = r->at;
    while (r->at < r->end && !strchr(ends, *r->at)) r->at++;
    const char *end = r->at;
    if (r->at < r->end) r->at++;
    while (end > begin && is_space(end[-1])) end--;
    snprintf(word, size, "%.*s", (int)(end - begin), begin);
}

static bool parse_number(const char **at, uint64_t most, uint64_t *number) {
    char *end;
    if (**at < '1' || **at > '9') return false;
    *number = strtoull(*at, &end, 10);
    *at = end;
    return *number <= most;
}

static bool parse_sizes(const char *text, uint32_t count, uint64_t *sizes) {
    for (uint32_t i = 0; i < count; i++)
        if (!parse_number(&text, UINT64_MAX - 1, &sizes[i]) || *text++ != (i + 1 < count ? 'x' : 0))
            return false;
    return true;
}

static bool is_type(const char *word) {
    for (int t = 0; t < QN_ELEMENT_COUNT; t++)
        if (strcmp(word, qn_element_name((qn_element)t)) == 0) return true;
    return false;
}

/* Whether it is one of the words that `form` has, with bars between them, up to `end`. */
static bool is_one_of(const char *word, const char *form, const char *end) {
    for (const char *next; form < end; form = next + 1) {
        next = memchr(form, '|', (size_t)(end - form));
        if (!next) next = end;
        const size_t length = (size_t)(next - form);
        const bool is_operand = length == strlen("OPERAND") && memcmp(form, "OPERAND", length) == 0;
        if (is_operand || (length == strlen("TYPE") && memcmp(form, "TYPE", length) == 0)) {
            if (is_type(word) || (is_operand && strcmp(word, "tf32") == 0)) return true;
        } else if (strlen(word) == length && memcmp(form, word, length) == 0) {
            return true;
        }
    }
    return false;
}

/* The words and the sizes of a line, whose call has been read, up to the colon. */
static qn_status read_subject(reader *r, qn__tuned *t) {
    char word[64];
    size_t used = 0;
    for (const char *form = calls[t->call].words, *end; *form; form = *end ? end + 1 : end) {
        end = form + strcspn(form, " ");
        take(r, " \t", word, sizeof word);
        if (!is_one_of(word, form, end))
            return fail(r, "'%s' is no %.*s; a line is '%s %s %s: PARAMETER VALUE, ...'", word,
                        (int)(end - form), form, calls[t->call].name, calls[t->call].words,
                        calls[t->call].sizes);
        used += (size_t)snprintf(t->words + used, sizeof t->words - used, "%s%s", used ? " " : "", word);
        if (used >= sizeof t->words) return fail(r, "'%s' is too long", word);
        while (r->at < r->end && is_space(*r->at)) r->at++;
    }
    take(r, ":", word, sizeof word);
    if (!parse_sizes(word, num_sizes(t->call), t->sizes))
        return fail(r, "'%s' is no %s; a line is '%s %s %s: PARAMETER VALUE, ...'", word,
                    calls[t->call].sizes, calls[t->call].name, calls[t->call].words, calls[t->call].sizes);
    return QN_OK;
}

/* Names of a call's parameters, for messages. */
static void list_parameters(qn__call call, char *text, size_t size) {
    *text = 0;
    for (int i = 0; i < QN__TUNABLES; i++) {
        const size_t used = strlen(text);
        if (tunables[i].call == call)
            snprintf(text + used, size - used, "%s%s", used ? ", " : "", tunables[i].name);
    }
}

static qn_status read_value(const reader *r, qn__tunable what, const char *word, uint32_t *value) {
    *value = 0;
    for (uint32_t i = 0; tunables[what].names && tunables[what].names(i) && !*value; i++)
        if (strcmp(tunables[what].names(i), word) == 0) *value = i + 1;
    const char *at = word;
    uint64_t number = 0;
    const bool is_number = tunables[what].numbers && parse_number(&at, UINT32_MAX, &number) && !*at;
    for (uint32_t i = 0; is_number && number_at(what, i) && !*value; i++)
        if (number_at(what, i) == number) *value = (uint32_t)number;
    if (*value) return QN_OK;
    if (tunables[what].names)
        return fail(r, "%s has no %s '%s'; a text of another version of quern is to be made anew",
                    calls[tunables[what].call].name, tunables[what].name, word);
    return fail(r, "%s of %s is one of %s, not '%s'", tunables[what].name, calls[tunables[what].call].name,
                tunables[what].numbers, word);
}

/* The parameter of this name; QN__TUNABLES: the call has none. */
static qn__tunable find_parameter(qn__call call, const char *name) {
    int what = 0;
    while (what < QN__TUNABLES && (tunables[what].call != call || strcmp(tunables[what].name, name) != 0))
        what++;
    return (qn__tunable)what;
}

/* "NAME VALUE, NAME VALUE". */
static qn_status read_parameters(reader *r, qn__tuned *t) {
    char name[64], value[64], list[128];
    list_parameters(t->call, list, sizeof list);
    do {
        take(r, " \t", name, sizeof name);
        if (!*name) return fail(r, "there is no parameter: %s has %s", calls[t->call].name, list);
        const qn__tunable what = find_parameter(t->call, name);
        if (what == QN__TUNABLES)
            return fail(r, "%s has no parameter '%s': it has %s", calls[t->call].name, name, list);
        if (t->values[what]) return fail(r, "%s is set twice", name);
        take(r, ",", value, sizeof value);
        const qn_status status = read_value(r, what, value, &t->values[what]);
        if (status) return status;
    } while (r->at[-1] == ',');
    return QN_OK;
}

static qn_status read_call(reader *r, qn__call call) {
    qn__tuned t = {.call = call};
    qn_status status = read_subject(r, &t);
    if (!status) status = read_parameters(r, &t);
    if (!status && r->is_ours) r->tuning->lines[r->tuning->count++] = t;
    return status;
}

static void write_device(const qn_device_info *info, char *text, size_t size) {
    const size_t kind = strcspn(info->name, ":");
    snprintf(text, size, "device %.*s | %s | %s", (int)kind, info->name, info->description, info->driver);
}

void qn_kernels_tuning_device(const qn_kernels *kernels, char *text, size_t size) {
    if (!text || !size) return;
    *text = 0;
    if (kernels) write_device(&kernels->info, text, size);
}

/* "device KIND | DESCRIPTION | DRIVER". */
static qn_status read_device(reader *r) {
    char device[512], own[512];
    take(r, "", device, sizeof device);
    int bars = 0;
    for (const char *c = device; *c; c++) bars += *c == '|';
    if (bars < 2) return fail(r, "a device is 'KIND | DESCRIPTION | DRIVER', not '%.100s'", device);
    write_device(&r->kernels->info, own, sizeof own);
    r->is_ours = strcmp(device, own + strlen("device ")) == 0;
    return QN_OK;
}

static qn_status read_line(reader *r) {
    char word[64];
    take(r, " \t", word, sizeof word);
    if (!word[0] || word[0] == '#') return QN_OK;
    if (strcmp(word, "device") == 0) return read_device(r);
    for (int i = 0; i < QN__CALLS; i++)
        if (strcmp(calls[i].name, word) == 0) return read_call(r, (qn__call)i);
    char list[128] = "device";
    for (int i = 0; i < QN__CALLS; i++)
        snprintf(list + strlen(list), sizeof list - strlen(list), ", %s", calls[i].name);
    return fail(r, "'%s' begins no line of a tuning; %s do", word, list);
}

static qn_status read_lines(reader *r, const char *text) {
    qn_status status = QN_OK;
    for (; *text && !status; text += *text == '\n') {
        r->line++;
        r->at = text;
        r->end = text += strcspn(text, "\n");
        if (r->line > 1) status = read_line(r);
    }
    return status;
}

qn_status qn__tuning_read(const qn_kernels *kernels, const char *text, qn__tuning **out) {
    static const char head[] = QN_TUNING_HEAD, word[] = "quern tuning ";
    reader r = {.kernels = kernels, .line = 1};
    size_t lines = 1;
    const size_t length = strcspn(text, "\r\n");
    if (length != sizeof head - 1 || memcmp(text, head, length) != 0)
        return fail(&r,
                    strncmp(text, word, sizeof word - 1) == 0
                        ? "a tuning begins with '%s'; one of another version of quern is to be made anew"
                        : "a tuning begins with '%s'",
                    head);
    for (const char *c = text; *c; c++) lines += *c == '\n';
    r.line = 0;
    r.tuning = qn__op_allocate(kernels, sizeof *r.tuning + lines * sizeof *r.tuning->lines);
    if (!r.tuning) return QN_ERROR_OUT_OF_MEMORY;
    const qn_status status = read_lines(&r, text);
    if (status)
        qn__op_release(kernels, r.tuning);
    else
        *out = r.tuning;
    return status;
}

/* ---- looking ---- */

/* What loads of several neighbours care for: the power of two in a size, up to 16. */
static uint64_t alignment(uint64_t size) { return size & (0 - size) & 15 ? size & (0 - size) : 16; }

/* How far sizes are from those that were tuned, by their logarithms; infinite where the best choice is likely to be another one. */
static double distance(const qn__tuned *t, const uint64_t *sizes) {
    double sum = 0;
    for (uint32_t i = 0; i < num_sizes(t->call); i++) {
        const double apart = fabs(log2((double)t->sizes[i] / (double)sizes[i]));
        if (apart > calls[t->call].reach || alignment(t->sizes[i]) != alignment(sizes[i])) return INFINITY;
        sum += apart;
    }
    return sum;
}

qn__tuned qn__tuned_of(const qn_kernels *kernels, qn__call call, const uint64_t *sizes, const char *words,
                       ...) {
    const qn__tuning *tuning = kernels->tuning;
    const qn__tuned *best = NULL;
    double least = INFINITY;
    qn__tuned own = {.call = call};
    va_list args;
    va_start(args, words);
    vsnprintf(own.words, sizeof own.words, words, args);
    va_end(args);
    memcpy(own.sizes, sizes, num_sizes(call) * sizeof *sizes);
    for (size_t i = 0; tuning && i < tuning->count; i++) {
        const qn__tuned *t = &tuning->lines[i];
        if (t->call != call || strcmp(t->words, own.words) != 0) continue;
        const double away = distance(t, sizes);
        if (away < least) {
            least = away;
            best = t;
        }
    }
    if (best) memcpy(own.values, best->values, sizeof own.values);
    return own;
}

uint32_t qn__tuned_number(qn__tuned *t, qn__tunable what, uint32_t otherwise) {
    if (!t->values[what]) t->values[what] = otherwise;
    return t->values[what];
}

/* ---- what was chosen ---- */

static bool is_same_call(const qn__tuned *a, const qn__tuned *b) {
    return a->call == b->call && strcmp(a->words, b->words) == 0 &&
           memcmp(a->sizes, b->sizes, sizeof a->sizes) == 0;
}

void qn__tuned_keep(qn_kernels *kernels, const qn__tuned *tuned) {
    pthread_mutex_lock(&kernels->plan_lock);
    uint32_t at = 0;
    while (at < kernels->num_chosen && !is_same_call(&kernels->chosen[at], tuned)) at++;
    if (at == kernels->num_chosen && at < QN__CHOSEN) kernels->chosen[kernels->num_chosen++] = *tuned;
    pthread_mutex_unlock(&kernels->plan_lock);
}

static void write_line(const qn__tuned *t, char *text, size_t size) {
    size_t used = (size_t)snprintf(text, size, "%s %s ", calls[t->call].name, t->words);
    for (uint32_t i = 0; i < num_sizes(t->call) && used < size; i++)
        used +=
            (size_t)snprintf(text + used, size - used, i ? "x%llu" : "%llu", (unsigned long long)t->sizes[i]);
    const char *before = ":";
    for (int i = 0; i < QN__TUNABLES && used < size; i++) {
        char value[64];
        if (tunables[i].call != t->call || !t->values[i]) continue;
        write_value((qn__tunable)i, t->values[i], value, sizeof value);
        used += (size_t)snprintf(text + used, size - used, "%s %s %s", before, tunables[i].name, value);
        before = ",";
    }
}

bool qn_kernels_tuning_line(qn_kernels *kernels, uint32_t index, char *text, size_t size) {
    if (!kernels || !text || !size) return false;
    qn__tuned t;
    pthread_mutex_lock(&kernels->plan_lock);
    const bool is_there = index < kernels->num_chosen;
    if (is_there) t = kernels->chosen[index];
    pthread_mutex_unlock(&kernels->plan_lock);
    if (is_there) write_line(&t, text, size);
    return is_there;
}
