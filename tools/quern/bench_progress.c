/* A bar on the terminal of how much of a section is done, and what is being measured. */
#include <unistd.h>

#include "bench.h"

enum { WIDTH = 24 };

void bench_steps(const bench_device *d, uint32_t count) {
    d->report->steps = (bench_progress_steps){0, count};
}

void bench_step(const bench_device *d) {
    bench_progress_steps *s = &d->report->steps;
    s->done += s->done < s->count;
    bench_progress(d, NULL);
}

void bench_progress(const bench_device *d, const char *what) {
    static const char full[] = "########################", empty[] = "........................";
    const bench_progress_steps *s = &d->report->steps;
    if (!isatty(STDERR_FILENO)) return;
    fflush(stdout); /* or its lines come between */
    fputs("\r\033[K", stderr);
    if (what && s->count) {
        const int part = (int)((uint64_t)s->done * WIDTH / s->count);
        fprintf(stderr, "[%.*s%.*s] %u of %u  ", part, full, WIDTH - part, empty, s->done, s->count);
    }
    if (what) fprintf(stderr, "%s: %s ...", d->info.name, what);
    fflush(stderr);
}
