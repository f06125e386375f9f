/* What the examples of rings share: starting one, and telling how long its messages took, as a table and as a picture. */
#ifndef RINGS_SHARED_H
#define RINGS_SHARED_H

#include <quern/ring.h>
#include <stdio.h>

#define SECOND ((uint64_t)1000000000)

static inline qn_status start_ring(qn_device *device, const qn_ring_desc *desc, qn_ring **ring) {
    qn_status status = qn_ring_create(device, desc, ring);
    if (!status) status = qn_ring_launch(*ring, 60 * SECOND);
    if (!status) status = qn_ring_activate(*ring, 60 * SECOND);
    return status;
}

/* How many messages took how long, a bar for each doubling. */
static inline void draw_latency(const qn_ring_latency *latency, const char *title, const char *path) {
    enum { WIDTH = 640, HEIGHT = 240, LEFT = 40, BOTTOM = 200, TALL = 150 };
    FILE *file = fopen(path, "w");
    if (!file) return;
    int first = 0, last = QN_RING_BUCKETS - 1;
    uint64_t most = 1;
    while (first < last && !latency->histogram[first]) first++;
    while (last > first && !latency->histogram[last]) last--;
    for (int i = first; i <= last; i++)
        if (latency->histogram[i] > most) most = latency->histogram[i];
    const double step = (double)(WIDTH - 2 * LEFT) / (last - first + 1);
    fprintf(file,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" font-family=\"sans-serif\" "
            "font-size=\"11\">\n<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>\n"
            "<text x=\"%d\" y=\"24\" font-size=\"14\">%s: p50 %.1f us, p99 %.1f us, longest %.1f us</text>\n",
            WIDTH, HEIGHT, LEFT, title, (double)latency->p50_ns / 1e3, (double)latency->p99_ns / 1e3,
            (double)latency->max_ns / 1e3);
    for (int i = first; i <= last; i++) {
        const double tall = TALL * (double)latency->histogram[i] / (double)most,
                     x = LEFT + step * (i - first);
        fprintf(file,
                "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" fill=\"#36c\"/>\n"
                "<text x=\"%.1f\" y=\"%d\">%.3g us</text>\n",
                x + 1, BOTTOM - tall, step - 2, tall, x, BOTTOM + 16, (double)((uint64_t)1 << i) / 1e3);
    }
    fprintf(file, "</svg>\n");
    fclose(file);
}

/* The table, and where `path` is given the picture. */
static inline void report_ring(qn_ring *ring, const char *title, const char *path) {
    qn_ring_info info;
    qn_ring_stats stats;
    if (qn_ring_get_info(ring, &info) || qn_ring_get_stats(ring, &stats)) return;
    printf("messages  p50         p99         longest     mode\n%-8llu  %-8.1f us %-8.1f us %-8.1f us %s\n",
           (unsigned long long)stats.handled, (double)stats.latency.p50_ns / 1e3,
           (double)stats.latency.p99_ns / 1e3, (double)stats.latency.max_ns / 1e3,
           info.mode == QN_RING_RESIDENT ? "stays on the device" : info.reason);
    if (path) draw_latency(&stats.latency, title, path);
}

#endif
