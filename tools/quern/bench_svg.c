/* quern bench --svg: ladders, and the figures of other sections as bars. Plain SVG without scripts, whose colours follow the
   reader's light or dark scheme. */
#include <errno.h>
#include <string.h>

#include "bench_svg.h"

static const char style[] =
    "<style>\n"
    "text { font: 13px system-ui, 'Segoe UI', Helvetica, Arial, sans-serif; fill: #1f2328 }\n"
    ".title { font-size: 16px; font-weight: 600 }\n"
    ".soft { fill: #59636e; font-size: 12px }\n"
    ".end { text-anchor: end }\n"
    ".middle { text-anchor: middle }\n"
    ".bar { fill: #0969da }\n"
    ".slower { fill: #bc4c00 }\n"
    ".line { stroke: #59636e; fill: none }\n"
    ".grid { stroke: #d1d9e0; fill: none }\n"
    ".roof { stroke: #bc4c00; stroke-width: 2; fill: none }\n"
    ".roof-text { fill: #bc4c00; font-size: 12px }\n"
    ".dot { fill: #0969da }\n"
    "@media (prefers-color-scheme: dark) {\n"
    "text { fill: #f0f6fc }\n"
    ".soft { fill: #9198a1 }\n"
    ".bar, .dot { fill: #4493f8 }\n"
    ".line { stroke: #9198a1 }\n"
    ".grid { stroke: #3d444d }\n"
    ".roof { stroke: #f0883e }\n"
    ".slower { fill: #f0883e }\n"
    ".roof-text { fill: #f0883e }\n"
    "}\n"
    "</style>\n";

void bench_svg_text(FILE *file, double x, double y, const char *class, const char *content) {
    fprintf(file, "<text x=\"%.1f\" y=\"%.1f\" class=\"%s\">", x, y, class);
    for (; *content; content++) {
        if (*content == '&')
            fputs("&amp;", file);
        else if (*content == '<')
            fputs("&lt;", file);
        else if ((unsigned char)*content >= 32)
            putc(*content, file);
    }
    fputs("</text>\n", file);
}

void bench_svg_line(FILE *file, const char *class, double x, double y, double to_x, double to_y) {
    fprintf(file, "<line class=\"%s\" x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\"/>\n", class, x, y, to_x,
            to_y);
}

int bench_draw(const bench_report *report, const char *path) {
    double height = bench_svg_bars(NULL, report, 0), top = 0;
    for (size_t i = 0; i < report->num_ladders; i++) height += bench_svg_ladder_height(&report->ladders[i]);
    errno = 0;
    FILE *file = fopen(path, "w");
    if (!file) return tool_fail(TOOL_RUN_FAILED, "%s: %s", path, strerror(errno));
    fprintf(
        file,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%.0f\" viewBox=\"0 0 %d %.0f\">\n%s",
        BENCH_SVG_WIDTH, height, BENCH_SVG_WIDTH, height, style);
    for (size_t i = 0; i < report->num_ladders; i++) {
        bench_svg_ladder(file, &report->ladders[i], top);
        top += bench_svg_ladder_height(&report->ladders[i]);
    }
    bench_svg_bars(file, report, top);
    fputs("</svg>\n", file);
    const bool failed = ferror(file) != 0;
    if (fclose(file) == 0 && !failed) return TOOL_OK;
    return tool_fail(TOOL_RUN_FAILED, "%s: %s", path, strerror(errno ? errno : EIO));
}
