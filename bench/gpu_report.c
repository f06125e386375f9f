/* The report: Markdown tables, written to the standard output and to a file alike; at its end what was to be reached
   and what failed. */
#include "gpu.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_TARGETS = 64, MAX_FAILURES = 64, TEXT_SIZE = 200 };

typedef struct target {
    char what[TEXT_SIZE];
    double value, limit;
    bool at_least;
} target;

/* The program's one report. */
static struct {
    FILE *file, *parent;
    target targets[MAX_TARGETS];
    unsigned num_targets;
    char failures[MAX_FAILURES][WHY_SIZE];
    unsigned num_failures;
} the;

bool report_open(const char *path) {
    the.file = path ? fopen(path, "w") : NULL;
    return !path || the.file;
}

void report_to_parent(FILE *pipe) { the.parent = pipe; }

static void write_both(const char *format, va_list args) {
    va_list again;
    if (the.parent) {
        vfprintf(the.parent, format, args);
        fflush(the.parent);
        return;
    }
    va_copy(again, args);
    vprintf(format, args);
    fflush(stdout);
    if (the.file) {
        vfprintf(the.file, format, again);
        fflush(the.file);
    }
    va_end(again);
}

void report(const char *format, ...) {
    va_list args;
    va_start(args, format);
    write_both(format, args);
    va_end(args);
}

static void tell(char kind, const char *text) { report("%c%c %s\n", REPORT_MARK, kind, text); }

void report_case(size_t index, const char *name) {
    char text[TEXT_SIZE];
    snprintf(text, sizeof text, "%zu %s", index, name);
    tell('C', text);
}

void report_figures(const char *format, ...) {
    char text[TEXT_SIZE];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    tell('V', text);
}

void report_target(const char *what, double value, double limit, bool at_least) {
    if (the.parent) {
        char text[2 * TEXT_SIZE];
        snprintf(text, sizeof text, "%.9g %.9g %d %s", value, limit, at_least, what);
        tell('T', text);
        return;
    }
    if (the.num_targets == MAX_TARGETS) return;
    target *t = &the.targets[the.num_targets++];
    *t = (target){.value = value, .limit = limit, .at_least = at_least};
    snprintf(t->what, sizeof t->what, "%s", what);
}

void report_failure(const char *format, ...) {
    char text[WHY_SIZE];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    text[strcspn(text, "\n")] = 0;
    if (the.parent) {
        tell('F', text);
        return;
    }
    fprintf(stderr, "quern_gpu_bench: %s\n", text);
    if (the.num_failures < MAX_FAILURES) snprintf(the.failures[the.num_failures++], WHY_SIZE, "%s", text);
}

bool report_close(void) {
    if (the.num_targets) report("\n### Targets\n\n| what | measured | target | |\n|---|---:|---:|---|\n");
    for (unsigned i = 0; i < the.num_targets; i++) {
        const target *t = &the.targets[i];
        bool met = t->at_least ? t->value >= t->limit : t->value <= t->limit;
        report("| %s | %.3g | %s %.3g | %s |\n", t->what, t->value, t->at_least ? "at least" : "at most",
               t->limit, met ? "met" : "MISSED");
    }
    if (the.num_failures) report("\n### Failures\n\n");
    for (unsigned i = 0; i < the.num_failures; i++) report("- %s\n", the.failures[i]);
    if (the.file) fclose(the.file);
    return the.num_failures == 0;
}

bool gpu_selected(const char *list, const char *name) {
    if (!list) return true;
    while (*list) {
        size_t length = strcspn(list, ",");
        if (length && strncmp(list, name, length) == 0) return true;
        list += length + (list[length] == ',');
    }
    return false;
}

double gpu_quantile(const double *values, size_t count, double part) {
    double *copy = bench_alloc(count * sizeof *copy);
    memcpy(copy, values, count * sizeof *copy);
    bench_median(copy, count); /* sorts */
    double found = count ? copy[(size_t)(part * (double)(count - 1) + 0.5)] : 0;
    free(copy);
    return found;
}

double gpu_median(const double *values, size_t count) { return gpu_quantile(values, count, 0.5); }

void ratios_add(ratios *r, const char *name, double ratio) {
    if (!(ratio > 0)) return;
    r->logs += log(ratio);
    if (r->count++ == 0 || ratio < r->worst) {
        r->worst = ratio;
        r->which = name;
    }
}

double ratios_mean(const ratios *r) { return r->count ? exp(r->logs / r->count) : 0; }
