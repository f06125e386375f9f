/* quern bench --compare: what has changed since an earlier run. */
#include <math.h>
#include <string.h>

#include "bench.h"

static bool is_same(const bench_result *a, const bench_result *b) {
    return strcmp(a->section, b->section) == 0 && strcmp(a->device, b->device) == 0 &&
           strcmp(a->what, b->what) == 0 && strcmp(a->by, b->by) == 0 && strcmp(a->unit, b->unit) == 0;
}

static const bench_result *find(const bench_report *report, const bench_result *like) {
    for (size_t i = 0; i < report->count; i++)
        if (is_same(&report->results[i], like)) return &report->results[i];
    return NULL;
}

/* Neither sample's middle reaches into the other's, and the medians differ by a part that is worth a word. */
static bool has_changed(const bench_result *now, const bench_result *before) {
    const double least = 0.01;
    if (now->low <= before->high && before->low <= now->high) return false;
    return fabs(now->value / before->value - 1) > least;
}

static void print_name(const bench_result *r) {
    printf("%s on %s, %s, by %s", r->section, r->device, r->what, r->by);
}

/* Whether it is worse. */
static bool print_change(const bench_result *now, const bench_result *before) {
    const double faster = before->is_time ? before->value / now->value : now->value / before->value;
    printf("  %5.2fx %s: ", faster > 1 ? faster : 1 / faster, faster > 1 ? "faster" : "slower");
    print_name(now);
    printf(": %.4g %s, was %.4g\n", now->value, now->unit, before->value);
    return faster < 1;
}

static void print_missing(const bench_report *in, const bench_report *from, const char *why) {
    for (size_t i = 0; i < in->count; i++) {
        if (find(from, &in->results[i])) continue;
        printf("  %s: ", why);
        print_name(&in->results[i]);
        putchar('\n');
    }
}

/* The first figure of a device that both have. */
static bool is_first_of_device(const bench_report *report, const bench_report *before,
                               const bench_result *now) {
    for (const bench_result *r = report->results; r < now; r++)
        if (strcmp(r->device, now->device) == 0 && find(before, r)) return false;
    return find(before, now) != NULL;
}

/* Figures of other hardware are compared as they are, but not without a word. */
static void print_other_hardware(const bench_report *report, const bench_report *before) {
    for (size_t i = 0; i < report->count; i++) {
        const bench_result *now = &report->results[i];
        if (!is_first_of_device(report, before, now)) continue;
        const char *then = find(before, now)->description;
        if (strcmp(then, now->description) != 0)
            printf("  %s is another device: %s now, %s then\n", now->device, now->description,
                   *then ? then : "one without a name");
    }
}

int bench_compare(const bench_report *report, const bench_report *before, const char *path) {
    size_t compared = 0, changed = 0, worse = 0;
    printf("Beside %s:\n", path);
    print_other_hardware(report, before);
    for (size_t i = 0; i < report->count; i++) {
        const bench_result *now = &report->results[i], *then = find(before, now);
        if (!then || !(then->value > 0) || !(now->value > 0)) continue;
        compared++;
        if (!has_changed(now, then)) continue;
        changed++;
        worse += print_change(now, then);
    }
    print_missing(report, before, "only now");
    print_missing(before, report, "only then");
    printf("  %zu of %zu figures differ beyond their spread, %zu for the worse\n", changed, compared, worse);
    return worse ? TOOL_DIFFERENT : TOOL_OK;
}
