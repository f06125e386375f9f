/* What a device likes: each case with one thing or another compiled differently (the option -qn-tune; docs/debugging.md).
   For finding out where time goes that another way in to the same GPU does not take; no part of a whole run. Each
   case has a process of its own, which does it as it is first and last: the two tell what a difference is worth. */
#include "gpu.h"

#include <string.h>

enum { NUM_VARIANTS = 16 };

static const struct tuned {
    const char *device, *variants[NUM_VARIANTS]; /* "": as it is */
} devices[] = {
    {"cuda", {"", "plain-copies", "one-iteration", "head-tests", "scalar-memory", ""}},
    {"vulkan",
     {"", "one-iteration", "end-tests", "hint-loops", "hint-unroll", "exact-fma", "loose-fma",
      "loose-division", "no-float-modes", "glsl-memory", "pairs", "one-iteration,exact-fma",
      "one-iteration,loose-fma", "one-iteration,loose-fma,pairs", "loose-fma,loose-division,no-float-modes",
      ""}},
    {"opencl", {"", "one-iteration", "one-iteration,hint-unroll", "hint-loops", "end-tests", ""}},
};
enum { NUM_DEVICES = sizeof devices / sizeof *devices };

/* The cases of all, and one for async copies. */
static size_t num_cases(void) { return bench_num_cases + 1; }

static const bench_case *case_at(size_t i) { return i < bench_num_cases ? &bench_cases[i] : &gpu_tiles; }

static unsigned count_variants(const struct tuned *t) {
    unsigned count = 0;
    while (count < NUM_VARIANTS && t->variants[count]) count++;
    return count;
}

static const struct tuned *find(const char *device) {
    for (size_t i = 0; i < NUM_DEVICES; i++)
        if (strcmp(devices[i].device, device) == 0) return &devices[i];
    return NULL;
}

static void run_case(const gpu_options *o, const struct tuned *t, engine *quern, const bench_case *which) {
    workload load = {0};
    which->make(&load, o->quick ? BENCH_QUICK : BENCH_GPU);
    gpu_fix_groups(&load);
    report("| %s |", which->name);
    for (unsigned i = 0; i < count_variants(t); i++) {
        char options[96];
        snprintf(options, sizeof options, "-qn-tune=%s", t->variants[i]);
        double ms = gpu_code_time(o, t->device, quern, which, &load, options);
        report(ms > 0 ? " %.4f |" : " |", ms);
    }
    report("\n");
    workload_free(&load);
}

void gpu_variants_child(const gpu_options *o, const char *device, size_t first) {
    char why[WHY_SIZE] = "";
    const struct tuned *t = find(device);
    engine *quern = t ? engine_quern_open(device, 0, why) : NULL;
    if (!quern) {
        report_failure("variants on %s: %s", device, why);
        return;
    }
    for (size_t i = first; i < num_cases(); i++) {
        if (!gpu_selected(o->only, case_at(i)->name)) continue;
        report_case(i, case_at(i)->name);
        run_case(o, t, quern, case_at(i));
    }
    engine_quern.close(quern);
}

static void table_head(const struct tuned *t, const char *description) {
    const unsigned count = count_variants(t);
    report("\n%s (%s), ms:\n\n| case |", t->device, description);
    for (unsigned i = 0; i < count; i++) report(" %s |", *t->variants[i] ? t->variants[i] : "as it is");
    report("\n|---|");
    for (unsigned i = 0; i < count; i++) report("---:|");
    report("\n");
}

void gpu_variants(const gpu_options *o) {
    char why[WHY_SIZE] = "";
    report("\n### Variants\n\nEach case compiled with `-qn-tune` of the column's words.\n");
    for (size_t d = 0; d < NUM_DEVICES && !gpu_stopped(); d++) {
        const gpu_presence presence = gpu_look(devices[d].device, why);
        if (presence != GPU_PRESENT && !(presence == GPU_SOFTWARE && o->quick)) {
            report("- %s: left out: %s\n", devices[d].device, why);
            continue;
        }
        table_head(&devices[d], why);
        for (size_t i = 0; i < num_cases() && !gpu_stopped(); i++) {
            gpu_options one = *o;
            if (!gpu_selected(o->only, case_at(i)->name)) continue;
            one.only = case_at(i)->name;
            gpu_run_child(&one, "variants", devices[d].device, NULL, NULL);
        }
    }
}
