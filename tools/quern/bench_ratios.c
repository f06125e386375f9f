/* How quern compares with others over several figures. */
#include <math.h>
#include <string.h>

#include "bench.h"

void bench_means_add(bench_means *means, const char *of, double ratio, const char *what) {
    uint32_t i = 0;
    while (i < means->count && strcmp(means->all[i].of, of) != 0) i++;
    if (i == BENCH_MAX_MEANS) return;
    bench_mean *m = &means->all[i];
    if (i == means->count) {
        means->count++;
        *m = (bench_mean){.least = INFINITY};
        snprintf(m->of, sizeof m->of, "%s", of);
    }
    m->logs += log(ratio);
    m->count++;
    if (ratio >= m->least) return;
    m->least = ratio;
    snprintf(m->least_of, sizeof m->least_of, "%s", what);
}

void bench_means_print(const bench_means *means) {
    for (uint32_t i = 0; i < means->count; i++) {
        const bench_mean *m = &means->all[i];
        printf("  geometric mean: %.3f of the speed of %s; least: %.3f, %s\n", exp(m->logs / m->count), m->of,
               m->least, m->least_of);
    }
}

const bench_result *bench_elsewhere(const bench_device *d, const char *section, const char *what,
                                    size_t *from) {
    static const uint8_t unknown[sizeof d->info.uuid];
    if (memcmp(d->info.uuid, unknown, sizeof unknown) == 0) return NULL;
    while (*from < d->report->count) {
        const bench_result *r = &d->report->results[(*from)++];
        if (strcmp(r->section, section) == 0 && strcmp(r->what, what) == 0 && strcmp(r->by, "quern") != 0 &&
            strcmp(r->by, "safe") != 0 && strncmp(r->by, "tuned", 5) != 0 &&
            strcmp(r->device, d->info.name) != 0 && memcmp(r->uuid, d->info.uuid, sizeof r->uuid) == 0)
            return r;
    }
    return NULL;
}
