/* Figures as bars, a picture for each section and device. Where another library did the same, the bar is quern's speed as a part of
   its own, and a line says where they are equal; else the figure as a part of the largest one of its unit. */
#include <math.h>
#include <string.h>

#include "bench_svg.h"

enum { ROW = 22, HEAD = 44, FOOT = 16, LABELS = 470, BARS = 260, EQUAL = 160 /* pixels of a ratio of 1 */ };

static bool is_own(const bench_result *r) { return strcmp(r->by, "quern") == 0; }

static bool is_same_picture(const bench_result *a, const bench_result *b) {
    return strcmp(a->section, b->section) == 0 && strcmp(a->device, b->device) == 0 && !a->is_drawn &&
           !b->is_drawn;
}

/* A figure of a picture, beside one of another library; NULL: beside none. */
typedef struct bar {
    const bench_result *own, *other;
    double most; /* of the figures with its unit; 0: the figure alone, without a bar */
} bar;

/* Whether `other` is the same as `own` by someone else, on the same device or, earlier in the run, through another
   interface of the same hardware. */
static bool is_rival(const bench_result *own, const bench_result *other) {
    static const uint8_t unknown[sizeof own->uuid];
    if (is_own(other) || strcmp(own->section, other->section) != 0 || strcmp(own->what, other->what) != 0 ||
        strcmp(own->unit, other->unit) != 0)
        return false;
    if (strcmp(own->device, other->device) == 0) return true;
    return other < own && memcmp(own->uuid, unknown, sizeof unknown) != 0 &&
           memcmp(own->uuid, other->uuid, sizeof unknown) == 0;
}

static double speed(const bench_result *r) { return r->is_time ? 1 / r->value : r->value; }

static void draw_bar(FILE *file, const bar *b, bool is_first, double y) {
    char figure[32], label[128];
    const double ratio = b->other ? speed(b->own) / speed(b->other) : 0;
    const double width = b->other ? ratio * EQUAL : b->most > 0 ? b->own->value / b->most * BARS : 0;
    bench_with_unit(figure, b->own->is_time ? b->own->value * 1e-9 : b->own->value,
                    b->own->is_time ? "s" : b->own->unit);
    if (is_first) bench_svg_text(file, 16, y + 15, "name", b->own->what);
    if (width > 0)
        fprintf(file, "<rect class=\"%s\" x=\"%d\" y=\"%.1f\" width=\"%.1f\" height=\"%d\" rx=\"2\"/>\n",
                b->other && ratio < 1 ? "slower" : "bar", LABELS, y + 4, fmax(fmin(width, BARS), 1), ROW - 8);
    if (b->other && strcmp(b->own->device, b->other->device) != 0)
        snprintf(label, sizeof label, "%s, %.2f of %s on %s", figure, ratio, b->other->by, b->other->device);
    else if (b->other)
        snprintf(label, sizeof label, "%s, %.2f of %s", figure, ratio, b->other->by);
    else
        snprintf(label, sizeof label, "%s", figure);
    bench_svg_text(file, LABELS + BARS + 10, y + 15, "soft", label);
}

static double most_of(const bench_report *report, const bench_result *like) {
    double most = 0;
    for (size_t i = 0; i < report->count; i++) {
        const bench_result *r = &report->results[i];
        if (is_own(r) && is_same_picture(r, like) && strcmp(r->unit, like->unit) == 0)
            most = fmax(most, r->value);
    }
    return most;
}

static bool has_rivals(const bench_report *report, const bench_result *own) {
    for (size_t i = 0; i < report->count; i++)
        if (is_rival(own, &report->results[i]) && report->results[i].value > 0) return true;
    return false;
}

/* The bars of one figure; how many. */
static uint32_t draw_figure(FILE *file, const bench_report *report, const bench_result *own, bool of_ratios,
                            double y) {
    bar b = {own, NULL, of_ratios ? 0 : most_of(report, own)};
    uint32_t count = 0;
    for (size_t i = 0; i < report->count; i++) {
        b.other = &report->results[i];
        if (!is_rival(own, b.other) || !(b.other->value > 0)) continue;
        if (file) draw_bar(file, &b, count == 0, y + count * ROW);
        count++;
    }
    b.other = NULL;
    if (count == 0 && file) draw_bar(file, &b, true, y);
    return count ? count : 1;
}

/* The picture that `first` is the first figure of; its height. */
static double draw_picture(FILE *file, const bench_report *report, const bench_result *first, double top) {
    const bench_result *end = report->results + report->count;
    char title[256];
    double y = top + HEAD;
    bool of_ratios = false;
    for (const bench_result *r = first; r < end; r++)
        of_ratios = of_ratios || (is_own(r) && is_same_picture(r, first) && has_rivals(report, r));
    snprintf(title, sizeof title, "%s on %s: %s", first->section, first->device, first->description);
    if (file) bench_svg_text(file, 16, top + 26, "title", title);
    for (const bench_result *r = first; r < end; r++)
        if (is_own(r) && is_same_picture(r, first) && r->value > 0)
            y += draw_figure(file, report, r, of_ratios, y) * ROW;
    if (file && of_ratios) bench_svg_line(file, "roof", LABELS + EQUAL, top + HEAD, LABELS + EQUAL, y);
    return y + FOOT - top;
}

static bool is_first_of_picture(const bench_report *report, const bench_result *result) {
    if (result->is_drawn || !is_own(result)) return false;
    for (const bench_result *r = report->results; r < result; r++)
        if (is_own(r) && is_same_picture(r, result)) return false;
    return true;
}

double bench_svg_bars(FILE *file, const bench_report *report, double top) {
    double y = top;
    for (size_t i = 0; i < report->count; i++)
        if (is_first_of_picture(report, &report->results[i]))
            y += draw_picture(file, report, &report->results[i], y);
    return y - top;
}
