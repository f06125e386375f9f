/* The search of quern tune. What the library chose for a call it says as a line of a tuning; other choices are such lines with other values,
   each tried by a qn_kernels of its own. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tune.h"

/* How long a candidate is looked at. */
static const double look_ns = 1e6;
/* A choice has to be better than the library's by this part. */
static const double worth = 0.02;
/* What comes as near to the best is looked at with other values of the parameters behind it. */
static const double near = 1.3;

enum { LINE = 256, PARAMETERS = 8 };

void tune_append(tune_text *t, const char *words) {
    const size_t length = strlen(words);
    if (t->size + length + 1 > t->capacity) {
        const size_t capacity = 2 * (t->size + length + 1);
        char *grown = tool_alloc(capacity);
        if (t->size) memcpy(grown, t->at, t->size);
        free(t->at);
        t->at = grown;
        t->capacity = capacity;
    }
    memcpy(t->at + t->size, words, length + 1);
    t->size += length;
}

bool tune_is_over(const tune_search *s) { return bench_now() >= s->end; }

/* A call within a case: "reduce f32 f32 sum rows 1x4096", what the library chose for it, and what is quicker. */
typedef struct subject {
    const tune_search *s;
    tune_case *c;
    char name[LINE], own[LINE], best[LINE];
    uint32_t parameters[PARAMETERS], count; /* of qn_kernels_tunable */
    double best_ns, own_ns;
    uint32_t tried;
} subject;

/* ---- one candidate ---- */

/* A qn_kernels with this line; the case's, for the time being. */
static int use_line(subject *u, const char *line, qn_kernels **kernels) {
    tune_text text = {0};
    tune_append(&text, u->s->head);
    tune_append(&text, line);
    const qn_status status =
        qn_kernels_create(u->s->d->device, &(qn_kernels_desc){.tuning = text.at}, kernels);
    free(text.at);
    if (status) return tool_fail_status(u->s->d->context, status);
    u->c->kernels = *kernels;
    return TOOL_OK;
}

/* The line of the subject, of those that the case's kernels have chosen. False: there is none. */
static bool find_chosen(const subject *u, char line[LINE]) {
    for (uint32_t i = 0; qn_kernels_tuning_line(u->c->kernels, i, line, LINE); i++)
        if (strncmp(line, u->name, strlen(u->name)) == 0 && line[strlen(u->name)] == ':') return true;
    return false;
}

/* Whether `chosen` sets all that `asked` does: "variant tile 32x32, parts 4" is in it, item for item. */
static bool has_settings(const char *chosen, const char *asked) {
    char item[LINE];
    const char *settings = strchr(chosen, ':');
    const char *at = strchr(asked, ':');
    while (settings && at && *at) {
        at += strspn(at, ":, ");
        const size_t length = strcspn(at, ",");
        snprintf(item, sizeof item, " %.*s", (int)length, at);
        const char *found = strstr(settings, item);
        while (found && found[strlen(item)] != ',' && found[strlen(item)]) found = strstr(found + 1, item);
        if (!found) return false;
        at += length;
    }
    return true;
}

/* The quickest of a few samples: what is slower at once is looked at no longer. */
static int sample(subject *u, double *ns) {
    enum { LOOKS = 3, MOST = 64 };
    const bench_task task = {.run = u->c->run, .user = u->c->user};
    double first;
    int result = bench_sample(u->s->d, &task, 1, &first); /* the first may be slow */
    if (!result) result = bench_sample(u->s->d, &task, 1, &first);
    *ns = first;
    const double runs = look_ns / fmax(first, 1);
    const uint32_t count = runs > MOST ? MOST : runs > 1 ? (uint32_t)runs : 1;
    for (int i = 0; i < LOOKS && !result && first < 2 * u->best_ns; i++) {
        double again;
        result = bench_sample(u->s->d, &task, count, &again);
        if (!result) *ns = fmin(*ns, again);
    }
    return result;
}

/* Compiles, too. On the processor what the first call compiles is final later. */
static int run_once(const subject *u) {
    qn_status status = u->c->run(u->c->user, 0, 1);
    if (!status) status = qn_kernels_wait(u->c->kernels, QN_FOREVER);
    return status ? tool_fail_status(u->s->d->context, status) : TOOL_OK;
}

/* INFINITY: the call cannot be done so, or that is what the library does. */
static int look(subject *u, const char *line, double *ns) {
    qn_kernels *kernels;
    char chosen[LINE];
    *ns = INFINITY;
    int result = use_line(u, line, &kernels);
    if (result) return result;
    bench_progress(u->s->d, line);
    result = run_once(u);
    if (!result && find_chosen(u, chosen) && has_settings(chosen, line) && strcmp(chosen, u->own) != 0) {
        result = sample(u, ns);
        u->tried++;
        if (!result && *ns < u->best_ns) {
            u->best_ns = *ns;
            memcpy(u->best, chosen, sizeof u->best);
        }
    }
    qn_kernels_destroy(kernels);
    return result;
}

/* ---- the search ---- */

/* All values of the parameter number `level`, behind those that `line` sets; then, of those that came near, the ones behind it. */
static int try_values(subject *u, const char *line, uint32_t level) {
    enum { MOST = 64 };
    double times[MOST];
    qn_tunable t;
    char value[64], more[LINE];
    uint32_t count = 0;
    int result = TOOL_OK;
    if (level == u->count) return TOOL_OK;
    qn_kernels_tunable(u->parameters[level], &t);
    for (int pass = 0; pass < 2; pass++)
        for (uint32_t i = 0;
             i < MOST && !result && qn_kernels_tunable_value(u->parameters[level], i, value, sizeof value);
             i++) {
            if (pass == 1 && (i >= count || times[i] > near * u->best_ns)) continue;
            if (tune_is_over(u->s)) return TOOL_OK;
            const int length =
                snprintf(more, sizeof more, "%s%s %s %s", line, strchr(line, ':') ? "," : ":", t.name, value);
            if (length >= (int)sizeof more) return TOOL_OK; /* no line is as long */
            result = pass == 0 ? look(u, more, &times[i]) : try_values(u, more, level + 1);
            if (pass == 0) count = i + 1;
        }
    return result;
}

static void find_parameters(subject *u) {
    qn_tunable t;
    u->count = 0;
    for (uint32_t i = 0; qn_kernels_tunable(i, &t) && u->count < PARAMETERS; i++) {
        const size_t length = strlen(t.call);
        if (strncmp(u->name, t.call, length) == 0 && u->name[length] == ' ') u->parameters[u->count++] = i;
    }
}

/* ---- what comes out ---- */

static int measure(subject *u, const char *line, bench_time *time) {
    const bench_task task = {.run = u->c->run, .user = u->c->user};
    qn_kernels *kernels;
    int result = use_line(u, line, &kernels);
    if (result) return result;
    bench_progress(u->s->d, line);
    result = run_once(u);
    if (!result) result = bench_measure(u->s->d, &task, time);
    if (!result) result = u->c->check(u->c->user, time->runs);
    qn_kernels_destroy(kernels);
    return result;
}

static void keep(const subject *u) {
    tune_append(u->s->out, u->best);
    tune_append(u->s->out, "\n");
}

static int search_subject(subject *u) {
    bench_time own, found;
    find_parameters(u);
    int result = measure(u, "", &own);
    if (result) return result;
    u->best_ns = u->own_ns = own.median;
    *u->best = 0;
    result = try_values(u, u->name, 0);
    if (!result && *u->best) result = measure(u, u->best, &found);
    bench_progress(u->s->d, NULL);
    if (result) return result;
    printf("  %-44s %10.2f", u->name, own.median * 1e-3);
    if (*u->best && found.high < own.low && found.median < (1 - worth) * own.median) {
        keep(u);
        printf(" %10.2f %7.3f %s", found.median * 1e-3, found.median / own.median, strchr(u->best, ':') + 1);
    } else {
        printf(" %10s %7s  as it is", "", "");
    }
    printf("  (%u tried)\n", u->tried);
    fflush(stdout);
    return TOOL_OK;
}

int tune_case_search(const tune_search *s, tune_case *c) {
    char lines[PARAMETERS][LINE];
    uint32_t count = 0;
    subject first = {.s = s, .c = c};
    qn_kernels *kernels;
    int result = use_line(&first, "", &kernels);
    if (result) return result;
    result = run_once(&first);
    while (!result && count < PARAMETERS && qn_kernels_tuning_line(kernels, count, lines[count], LINE))
        count++;
    qn_kernels_destroy(kernels);
    for (uint32_t i = 0; i < count && !result && !tune_is_over(s); i++) {
        subject u = {.s = s, .c = c};
        memcpy(u.own, lines[i], LINE);
        memcpy(u.name, lines[i], LINE);
        u.name[strcspn(u.name, ":")] = 0;
        result = search_subject(&u);
    }
    return result;
}
