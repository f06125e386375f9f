/* A loader's progress bar, as text for who wants it. */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "data/loader.h"

enum { BAR = 20 };
static const double PAUSE = 0.1; /* seconds between two looks */

double qn__data_seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* "\repoch 3 [=======>    ] 120/938, 5210 examples/s, 12 s left, loss 0.12". Blanks clear what a longer line before has left. */
static void write_line(const qn_loader *l, uint64_t number, double elapsed, char *text, size_t size) {
    const uint64_t done = number % l->batches + 1, timed = number + 1 - l->epoch_first;
    const double rate = elapsed > 0 ? (double)timed / elapsed : 0;
    const unsigned filled = (unsigned)(done * BAR / l->batches);
    char bar[BAR + 1], left[32] = "";
    for (unsigned i = 0; i < BAR; i++) bar[i] = i < filled ? '=' : i == filled ? '>' : ' ';
    bar[BAR] = 0;
    if (done == l->batches)
        snprintf(left, sizeof left, "%.1f s", elapsed);
    else if (rate > 0)
        snprintf(left, sizeof left, "%.0f s left", (double)(l->batches - done) / rate);
    snprintf(text, size, "\repoch %llu [%s] %llu/%llu, %.0f examples/s, %s%s%s    %s",
             (unsigned long long)(number / l->batches + 1), bar, (unsigned long long)done,
             (unsigned long long)l->batches, rate * (double)l->desc.batch, left, *l->note ? ", " : "",
             l->note, done == l->batches ? "\n" : "");
}

void qn__loader_show(qn_loader *l, uint64_t number) {
    if (!l->desc.progress) return;
    const double now = qn__data_seconds();
    const bool is_last = (number + 1) % l->batches == 0;
    if (!is_last && now - l->shown < PAUSE) return;
    l->shown = now;
    char text[256];
    write_line(l, number, now - l->epoch_begin, text, sizeof text);
    l->desc.progress(l->desc.progress_user, text);
}

void qn_loader_note(qn_loader *loader, const char *note) {
    if (loader) snprintf(loader->note, sizeof loader->note, "%s", note ? note : "");
}

void qn_progress_to_file(void *file, const char *text) {
    if (!file || !text) return;
    fputs(text, file);
    fflush(file);
}
