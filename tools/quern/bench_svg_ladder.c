/* A ladder as a picture: its rungs as bars, and a roofline: what a rung does beside the most that memory lets it do, if each of its
   loads came from there, and the most that the units can do. */
#include <math.h>

#include "bench_svg.h"

enum { ROW = 28, HEAD = 64, FOOT = 56, LABELS = 250, BARS = 190, PLOT_LEFT = 660, PLOT_WIDTH = 340 };

double bench_svg_ladder_height(const bench_ladder *l) { return HEAD + l->count * ROW + FOOT; }

/* The device reaches `most`, which a rung may have passed where the measure of the peak was unlucky. */
static double most_of(const bench_ladder *l) {
    double most = fmax(l->peak, l->units_peak);
    for (uint32_t i = 0; i < l->count; i++) most = fmax(most, l->rungs[i].rate);
    return most;
}

static void draw_bars(FILE *file, const bench_ladder *l, double top) {
    const double scale = BARS / most_of(l), peak = LABELS + l->peak * scale;
    char rate[32], label[64];
    for (uint32_t i = 0; i < l->count; i++) {
        const double y = top + i * ROW, width = fmax(l->rungs[i].rate * scale, 1);
        snprintf(label, sizeof label, "%u  %s", i + 1, l->rungs[i].adds);
        bench_svg_text(file, 16, y + 18, "name", label);
        fprintf(file, "<rect class=\"bar\" x=\"%d\" y=\"%.1f\" width=\"%.1f\" height=\"%d\" rx=\"2\"/>\n",
                LABELS, y + 5, width, ROW - 10);
        snprintf(label, sizeof label, "%s, %.1f %%", bench_with_unit(rate, l->rungs[i].rate, "FLOP/s"),
                 l->rungs[i].rate / l->rungs[i].peak * 100);
        bench_svg_text(file, fmax(LABELS + BARS, peak) + 10, y + 18, "soft", label);
    }
    bench_svg_line(file, "roof", peak, top, peak, top + l->count * ROW);
    snprintf(label, sizeof label, "peak %s", bench_with_unit(rate, l->peak, "FLOP/s"));
    bench_svg_text(file, peak, top + l->count * ROW + 16, "roof-text middle", label);
    snprintf(label, sizeof label, "a loop in C: %s", bench_with_unit(rate, l->scalar, "FLOP/s"));
    bench_svg_text(file, 16, top + l->count * ROW + 16, "soft", label);
}

/* ---- the roofline: both axes logarithmic ---- */

typedef struct axes {
    double left, top, width, height;
    double first_x, last_x, first_y, last_y; /* logarithms, of 2 and of 10 */
} axes;

static double x_at(const axes *a, double intensity) {
    return a->left + (log2(intensity) - a->first_x) / (a->last_x - a->first_x) * a->width;
}

static double y_at(const axes *a, double rate) {
    return a->top + (a->last_y - log10(rate)) / (a->last_y - a->first_y) * a->height;
}

static axes axes_of(const bench_ladder *l, double top) {
    axes a = {
        PLOT_LEFT, top, PLOT_WIDTH, l->count * ROW, -3, 7, log10(l->bandwidth / 8), log10(most_of(l)) + 0.15};
    for (uint32_t i = 0; i < l->count; i++) a.first_y = fmin(a.first_y, log10(l->rungs[i].rate));
    a.first_y = floor(a.first_y);
    return a;
}

static void draw_grid(FILE *file, const axes *a) {
    char label[32];
    for (double x = a->first_x; x <= a->last_x; x += 2) {
        const double at = x_at(a, exp2(x));
        bench_svg_line(file, "grid", at, a->top, at, a->top + a->height);
        snprintf(label, sizeof label, x < 0 ? "1/%g" : "%g", exp2(fabs(x)));
        bench_svg_text(file, at, a->top + a->height + 16, "soft middle", label);
    }
    for (double y = a->first_y; y <= a->last_y; y++) {
        bench_svg_line(file, "grid", a->left, y_at(a, pow(10, y)), a->left + a->width, y_at(a, pow(10, y)));
        bench_svg_text(file, a->left - 6, y_at(a, pow(10, y)) + 4, "soft end",
                       bench_with_unit(label, pow(10, y), ""));
    }
    bench_svg_text(file, a->left + a->width / 2, a->top + a->height + 34, "soft middle",
                   "FLOP/s by FLOP for each byte that loads ask of global memory");
}

static void draw_roof(FILE *file, const axes *a, const bench_ladder *l) {
    const double ridge = l->peak / l->bandwidth, first = exp2(a->first_x), last = exp2(a->last_x);
    const double turn = fmin(fmax(ridge, first), last);
    char rate[32], label[64];
    bench_svg_line(file, "roof", x_at(a, first), y_at(a, fmin(l->bandwidth * first, l->peak)), x_at(a, turn),
                   y_at(a, fmin(l->bandwidth * turn, l->peak)));
    if (turn < last)
        bench_svg_line(file, "roof", x_at(a, turn), y_at(a, l->peak), x_at(a, last), y_at(a, l->peak));
    const double units_turn = fmin(fmax(l->units_peak / l->bandwidth, turn), last);
    if (l->units_peak > l->peak) {
        bench_svg_line(file, "roof", x_at(a, turn), y_at(a, fmin(l->bandwidth * turn, l->units_peak)),
                       x_at(a, units_turn), y_at(a, fmin(l->bandwidth * units_turn, l->units_peak)));
        if (units_turn < last)
            bench_svg_line(file, "roof", x_at(a, units_turn), y_at(a, l->units_peak), x_at(a, last),
                           y_at(a, l->units_peak));
    }
    snprintf(label, sizeof label, "memory %s", bench_with_unit(rate, l->bandwidth, "B/s"));
    const double middle = sqrt(first * turn);
    bench_svg_text(file, x_at(a, middle) - 10, y_at(a, fmin(l->bandwidth * middle, l->peak)) - 6,
                   "roof-text end", label);
}

/* Where the number of rung `at` goes: above those of earlier rungs that it would cover. */
static double label_at(const bench_ladder *l, const double *labels, uint32_t at, double y) {
    const double least = 11;
    bool moved = true;
    while (moved) { /* it may cover another one then */
        moved = false;
        for (uint32_t i = 0; i < at && !moved; i++) {
            moved = l->rungs[i].intensity == l->rungs[at].intensity && fabs(labels[i] - y) < least;
            if (moved) y = labels[i] - least;
        }
    }
    return y;
}

static void draw_dots(FILE *file, const axes *a, const bench_ladder *l) {
    double labels[BENCH_MAX_RUNGS];
    for (uint32_t i = 0; i < l->count; i++) {
        const double x = x_at(a, l->rungs[i].intensity), y = y_at(a, l->rungs[i].rate);
        char label[16];
        snprintf(label, sizeof label, "%u", i + 1);
        labels[i] = label_at(l, labels, i, y);
        fprintf(file, "<circle class=\"dot\" cx=\"%.1f\" cy=\"%.1f\" r=\"4\"/>\n", x, y);
        bench_svg_text(file, x + 8, labels[i] + 4, "number", label);
    }
}

void bench_svg_ladder(FILE *file, const bench_ladder *l, double top) {
    char title[256];
    const axes a = axes_of(l, top + HEAD);
    snprintf(title, sizeof title, "%s: %s", l->device, l->description);
    bench_svg_text(file, 16, top + 26, "title", title);
    snprintf(title, sizeof title, "C = A B of 32-bit floats (of bf16 for matrix units), %llu x %llu x %llu",
             (unsigned long long)l->shape[0], (unsigned long long)l->shape[1],
             (unsigned long long)l->shape[2]);
    bench_svg_text(file, 16, top + 46, "soft", title);
    draw_bars(file, l, top + HEAD);
    draw_grid(file, &a);
    draw_roof(file, &a, l);
    draw_dots(file, &a, l);
}
