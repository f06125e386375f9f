/* What the files of quern bench --svg share. Places are in pixels, from the left and the top. */
#ifndef BENCH_SVG_H
#define BENCH_SVG_H

#include "bench.h"

enum { BENCH_SVG_WIDTH = 1040 };

void bench_svg_text(FILE *file, double x, double y, const char *class, const char *content);
void bench_svg_line(FILE *file, const char *class, double x, double y, double to_x, double to_y);

double bench_svg_ladder_height(const bench_ladder *l);
void bench_svg_ladder(FILE *file, const bench_ladder *l, double top);
/* All figures that are in no ladder, from `top` on; gives the height. file NULL: only that. */
double bench_svg_bars(FILE *file, const bench_report *report, double top);

#endif
