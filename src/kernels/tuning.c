/* Choices that a search on a device has found to be better than those of the models (quern tune): read from a text when the
   qn_kernels is made, looked at by plans. docs/quern.1 describes the text. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/matmul.h"

struct qn__tuning {
    size_t count;
    qn__tuned products[];
};

/* ---- reading ---- */

/* The words of a line; a bar is a word. */
typedef struct reader {
    const qn_kernels *kernels;
    const char *at, *end; /* of what is left of the line */
    uint32_t line;
    bool is_ours; /* the lines are of a device like this one */
    qn__tuning *tuning;
} reader;

static qn_status fail(const reader *r, const char *format, ...) {
    char text[256];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    return qn__op_fail(r->kernels, QN_ERROR_ARGUMENT, "qn_kernels_create: tuning, line %u: %s", r->line,
                       text);
}

static void skip_space(reader *r) {
    while (r->at < r->end && (*r->at == ' ' || *r->at == '\t')) r->at++;
}

/* Up to the next space, or with `is_rest` all that is left without what space it ends in; cut to `size`. */
static void take(reader *r, bool is_rest, char *word, size_t size) {
    skip_space(r);
    const char *begin = r->at, *end = begin;
    while (end < r->end && (is_rest || (*end != ' ' && *end != '\t'))) end++;
    r->at = end;
    while (is_rest && end > begin && (end[-1] == ' ' || end[-1] == '\t' || end[-1] == '\r')) end--;
    snprintf(word, size, "%.*s", (int)(end - begin), begin);
}

static bool parse_number(const char **at, uint64_t most, uint64_t *number) {
    char *end;
    if (**at < '1' || **at > '9') return false;
    *number = strtoull(*at, &end, 10);
    *at = end;
    return *number <= most;
}

static bool parse_sizes(const char *text, uint64_t sizes[3]) {
    for (int i = 0; i < 3; i++)
        if (!parse_number(&text, UINT64_MAX - 1, &sizes[i]) || *text++ != (i < 2 ? 'x' : 0)) return false;
    return true;
}

static bool parse_type(const char *word, qn_element *type) {
    for (int t = 0; t < QN_ELEMENT_COUNT; t++)
        if (strcmp(word, qn_element_name((qn_element)t)) == 0) {
            *type = (qn_element)t;
            return true;
        }
    return false;
}

/* "matmul A B OUT LAYOUT MxNxK PARTS VARIANT". */
static qn_status read_product(reader *r) {
    qn__tuned t = {.variant = -1};
    char word[64];
    for (int i = 0; i < 3; i++) {
        take(r, false, word, sizeof word);
        const bool is_tf32 = i < 2 && strcmp(word, "tf32") == 0;
        t.tf32 |= is_tf32;
        t.types[i] = QN_F32;
        if (!is_tf32 && !parse_type(word, &t.types[i])) return fail(r, "'%s' is no type", word);
    }
    take(r, false, word, sizeof word);
    if (strlen(word) != 2 || strspn(word, "nt") != 2)
        return fail(r, "'%s' is no layout: nn, nt, tn or tt", word);
    for (int i = 0; i < 2; i++) t.turned[i] = word[i] == 't';
    take(r, false, word, sizeof word);
    if (!parse_sizes(word, t.sizes)) return fail(r, "'%s' is no MxNxK", word);
    take(r, false, word, sizeof word);
    const char *at = word;
    uint64_t parts = 0;
    const bool is_left = strcmp(word, "0") == 0; /* to the library */
    if (!is_left && (!parse_number(&at, UINT16_MAX, &parts) || *at))
        return fail(r, "'%s' is no number of parts", word);
    t.splits = is_left ? 0 : (uint32_t)parts;
    take(r, true, word, sizeof word);
    for (uint32_t i = 0; qn_matmul_variant(i) && t.variant < 0; i++)
        if (strcmp(qn_matmul_variant(i), word) == 0) t.variant = (int)i;
    if (t.variant < 0)
        return fail(
            r, "qn_kernels_matmul has no variant '%s'; a text of another version of quern is to be made anew",
            word);
    if (r->is_ours) r->tuning->products[r->tuning->count++] = t;
    return QN_OK;
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
    take(r, true, device, sizeof device);
    int bars = 0;
    for (const char *c = device; *c; c++) bars += *c == '|';
    if (bars < 2) return fail(r, "a device is 'KIND | DESCRIPTION | DRIVER', not '%.100s'", device);
    write_device(&r->kernels->info, own, sizeof own);
    r->is_ours = strcmp(device, own + strlen("device ")) == 0;
    return QN_OK;
}

static const struct {
    const char *word;
    qn_status (*read)(reader *r);
} kinds[] = {{"device", read_device}, {"matmul", read_product}};
enum { NUM_KINDS = sizeof kinds / sizeof *kinds };

static qn_status read_line(reader *r) {
    char word[32];
    take(r, false, word, sizeof word);
    if (!word[0] || word[0] == '#' || word[0] == '\r') return QN_OK;
    for (int i = 0; i < NUM_KINDS; i++)
        if (strcmp(kinds[i].word, word) == 0) return kinds[i].read(r);
    return fail(r, "'%s' is no line of a tuning", word);
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
    static const char head[] = QN_TUNING_HEAD;
    reader r = {.kernels = kernels, .line = 1};
    size_t lines = 1;
    const size_t length = strcspn(text, "\r\n");
    if (length != sizeof head - 1 || memcmp(text, head, length) != 0)
        return fail(&r, "a tuning begins with '%s'", head);
    for (const char *c = text; *c; c++) lines += *c == '\n';
    r.line = 0;
    r.tuning = qn__op_allocate(kernels, sizeof *r.tuning + lines * sizeof *r.tuning->products);
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
static double distance(const qn__tuned *t, const uint64_t sizes[3]) {
    double sum = 0;
    for (int i = 0; i < 3; i++) {
        const double apart = fabs(log2((double)t->sizes[i] / (double)sizes[i]));
        if (apart > QN__TUNING_REACH || alignment(t->sizes[i]) != alignment(sizes[i])) return INFINITY;
        sum += apart;
    }
    return sum;
}

const qn__tuned *qn__tuning_find(const qn_kernels *kernels, const qn__tuned *like) {
    const qn__tuning *tuning = kernels->tuning;
    const qn__tuned *best = NULL;
    double least = INFINITY;
    for (size_t i = 0; tuning && i < tuning->count; i++) {
        const qn__tuned *t = &tuning->products[i];
        if (t->tf32 != like->tf32 || memcmp(t->turned, like->turned, sizeof t->turned) != 0 ||
            memcmp(t->types, like->types, sizeof t->types) != 0)
            continue;
        const double away = distance(t, like->sizes);
        if (away < least) {
            least = away;
            best = t;
        }
    }
    return best;
}
