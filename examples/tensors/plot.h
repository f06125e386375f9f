/* Lines and dots as a picture, SVG: what a browser shows. */
#ifndef PLOT_H
#define PLOT_H

#include <math.h>
#include <stddef.h>
#include <stdio.h>

/* `x` NULL: 0, 1, 2, ... */
typedef struct plot_line {
    const char *name;
    const double *x, *y;
    size_t count;
    int dots; /* instead of a line */
} plot_line;

enum {
    PLOT_WIDTH = 640,
    PLOT_HEIGHT = 360,
    PLOT_LEFT = 60,
    PLOT_RIGHT = 20,
    PLOT_TOP = 40,
    PLOT_BOTTOM = 40
};

static const char *const plot_colours[] = {"#2060c0", "#d06020", "#309050", "#9040a0"};

/* 1, 2 or 5 times a power of ten: about five of them make the range. */
static inline double plot_step(double range) {
    const double power = pow(10, floor(log10(range / 5))), part = range / 5 / power;
    return power * (part < 1.5 ? 1 : part < 3.5 ? 2 : part < 7.5 ? 5 : 10);
}

typedef struct plot_axis {
    double low, high, from, to; /* values, and where they are in the picture */
} plot_axis;

static inline double plot_at(const plot_axis *a, double value) {
    return a->from + (value - a->low) / (a->high - a->low) * (a->to - a->from);
}

static inline void plot_fit(plot_axis *a, double value) {
    if (!isfinite(value)) return;
    if (value < a->low) a->low = value;
    if (value > a->high) a->high = value;
}

static inline void plot_ticks(FILE *f, const plot_axis *x, const plot_axis *y) {
    const double across = plot_step(x->high - x->low), up = plot_step(y->high - y->low);
    for (double v = ceil(x->low / across) * across; v <= x->high; v += across)
        fprintf(f, "<text x='%.1f' y='%d' text-anchor='middle'>%.6g</text>\n", plot_at(x, v),
                PLOT_HEIGHT - PLOT_BOTTOM + 18, fabs(v) < across / 1e6 ? 0 : v);
    for (double v = ceil(y->low / up) * up; v <= y->high; v += up)
        fprintf(f,
                "<path d='M%d %.1fH%d' stroke='#ddd'/><text x='%d' y='%.1f' text-anchor='end'>%.6g</text>\n",
                PLOT_LEFT, plot_at(y, v), PLOT_WIDTH - PLOT_RIGHT, PLOT_LEFT - 6, plot_at(y, v) + 4,
                fabs(v) < up / 1e6 ? 0 : v);
}

static inline void plot_points(FILE *f, const plot_line *line, const plot_axis *x, const plot_axis *y,
                               const char *colour) {
    if (!line->dots) fprintf(f, "<polyline fill='none' stroke='%s' stroke-width='1.5' points='", colour);
    for (size_t i = 0; i < line->count; i++) {
        if (!isfinite(line->y[i])) continue;
        const double px = plot_at(x, line->x ? line->x[i] : (double)i), py = plot_at(y, line->y[i]);
        if (line->dots)
            fprintf(f, "<circle cx='%.1f' cy='%.1f' r='2' fill='%s' fill-opacity='0.5'/>\n", px, py, colour);
        else
            fprintf(f, "%.1f,%.1f ", px, py);
    }
    if (!line->dots) fprintf(f, "'/>\n");
}

/* 0, or -1 where the file cannot be written (errno). */
static inline int plot_write(const char *path, const char *title, const plot_line *lines, size_t count) {
    plot_axis x = {HUGE_VAL, -HUGE_VAL, PLOT_LEFT, PLOT_WIDTH - PLOT_RIGHT},
              y = {HUGE_VAL, -HUGE_VAL, PLOT_HEIGHT - PLOT_BOTTOM, PLOT_TOP};
    for (size_t l = 0; l < count; l++)
        for (size_t i = 0; i < lines[l].count; i++) {
            plot_fit(&x, lines[l].x ? lines[l].x[i] : (double)i);
            plot_fit(&y, lines[l].y[i]);
        }
    if (!(x.high > x.low)) x.low = 0, x.high = 1;
    if (!(y.high > y.low)) y.low -= 1, y.high = y.low + 2;
    FILE *f = fopen(path, "w");
    if (!f) return -1;
    fprintf(f,
            "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 %d %d' font-family='sans-serif' "
            "font-size='12'>\n<rect width='%d' height='%d' fill='white'/>\n<text x='%d' y='22' "
            "font-size='15'>%s</text>\n",
            PLOT_WIDTH, PLOT_HEIGHT, PLOT_WIDTH, PLOT_HEIGHT, PLOT_LEFT, title);
    plot_ticks(f, &x, &y);
    for (size_t l = 0; l < count; l++) {
        const char *colour = plot_colours[l % 4];
        plot_points(f, &lines[l], &x, &y, colour);
        fprintf(f, "<text x='%d' y='22' text-anchor='end' fill='%s'>%s</text>\n",
                PLOT_WIDTH - PLOT_RIGHT - 110 * (int)(count - 1 - l), colour, lines[l].name);
    }
    fprintf(f, "</svg>\n");
    return fclose(f);
}

#endif
