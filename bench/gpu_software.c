/* Drivers that compute on the processor: quern's SPIR-V on lavapipe beside the same kernels by glslang, and quern's OpenCL C
   on PoCL beside the kernel files as they are. The time of a run and its wait by the clock, or by the processor. */
#include "bench_text.h"
#include "gpu.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST_SAMPLES = 25 };

/* Whom quern stands beside; one of the two. */
typedef struct rival {
    engine *pocl;
    vulkan *vulkan;
} rival;

typedef struct pair {
    const char *device;
    const bench_case *which;
    workload load;
    session *ours, *pocl;
    vulkan_session *glslang;
} pair;

/* ---- the rival's side ---- */

static vulkan_session *prepare_glslang(vulkan *v, const workload *load, char *why) {
    const char **modules = bench_alloc(load->num_steps * sizeof *modules);
    size_t *sizes = bench_alloc(load->num_steps * sizeof *sizes);
    bool all = true;
    for (unsigned i = 0; i < load->num_steps && all; i++) {
        char name[64];
        snprintf(name, sizeof name, "%s.comp.spv", load->steps[i].kernel);
        modules[i] = bench_text(name, &sizes[i]);
        all = modules[i] != NULL;
    }
    vulkan_session *s = all ? vulkan_prepare(v, modules, sizes, load, why) : NULL;
    free(modules);
    free(sizes);
    return s;
}

static bool has_twin(const workload *load) {
    char name[64];
    snprintf(name, sizeof name, "%s.comp.spv", load->steps[0].kernel);
    return bench_text(name, NULL) != NULL;
}

static bool rival_reset(pair *p) {
    return p->glslang ? vulkan_reset(p->glslang) : engine_pocl.reset(p->pocl);
}
static bool rival_run(pair *p, char *why) {
    return p->glslang ? vulkan_run(p->glslang, why) : engine_pocl.run(p->pocl, why);
}
static bool rival_read(pair *p, void *out) {
    return p->glslang ? vulkan_read(p->glslang, p->load.result, out)
                      : engine_pocl.read(p->pocl, p->load.result, out);
}

/* ---- one case ---- */

static bool verify(pair *p) {
    char why[WHY_SIZE] = "no result";
    size_t size = p->load.buffers[p->load.result].size;
    void *result = bench_alloc(size);
    bool fine = true;
    for (int i = 0; i < 2 && fine; i++) {
        bool ran = i ? rival_reset(p) && rival_run(p, why) && rival_read(p, result)
                     : engine_quern.reset(p->ours) && engine_quern.run(p->ours, why) &&
                           engine_quern.read(p->ours, p->load.result, result);
        double error = ran ? p->which->error(&p->load, result) : INFINITY;
        fine = ran && error <= p->which->bound;
        if (!fine)
            report_failure("%s on %s%s: %s, error %.3g", p->which->name, p->device, i ? ", the peer" : "",
                           ran ? "wrong result" : why, error);
        memset(result, 0xff, size);
    }
    free(result);
    return fine;
}

static double timed(pair *p, const gpu_options *o, bool rival_s) {
    char why[WHY_SIZE];
    int64_t (*now)(void) = o->cpu_time ? bench_cpu_now : bench_now;
    if (rival_s)
        rival_reset(p);
    else
        engine_quern.reset(p->ours);
    int64_t begin = now();
    bool fine = rival_s ? rival_run(p, why) : engine_quern.run(p->ours, why);
    return fine ? (double)(now() - begin) * 1e-6 : -1;
}

static void measure(pair *p, const gpu_options *o, size_t index) {
    double ours[MOST_SAMPLES], theirs[MOST_SAMPLES];
    double once = fmax(timed(p, o, false), timed(p, o, true));
    unsigned samples = o->quick ? 3 : once > 150 ? 7 : once > 40 ? 15 : MOST_SAMPLES;
    for (unsigned n = 0; n < samples; n++) {
        ours[n] = timed(p, o, false);
        theirs[n] = timed(p, o, true);
    }
    double mine = gpu_median(ours, samples), peer = gpu_median(theirs, samples);
    report("| %s | %s | %s | %.3f | %.3f | %.2f |\n", p->device, p->which->name, p->load.size, mine, peer,
           peer / mine);
    report_figures("%zu %.9g", index, peer / mine);
}

static void run_case(const char *device, engine *quern, const rival *r, size_t index, const gpu_options *o) {
    char why[WHY_SIZE] = "";
    const bench_case *which = &bench_cases[index];
    pair p = {.device = device, .which = which};
    which->make(&p.load, o->quick ? BENCH_QUICK : BENCH_CPU);
    gpu_fix_groups(&p.load);
    if (r->vulkan && !has_twin(&p.load)) {
        workload_free(&p.load);
        return;
    }
    const char *source = bench_source(which->file);
    p.ours = engine_quern.prepare(quern, source, which->options, &p.load, why);
    if (!p.ours) report_failure("%s on %s: %s", which->name, device, why);
    if (p.ours && r->vulkan) p.glslang = prepare_glslang(r->vulkan, &p.load, why);
    if (p.ours && r->pocl) p.pocl = engine_pocl.prepare(r->pocl, source, which->options, &p.load, why);
    if (p.glslang || p.pocl) {
        if (verify(&p)) measure(&p, o, index);
    } else if (p.ours)
        report_failure("%s on %s, the peer: %s", which->name, device, why);
    if (p.ours) engine_quern.release(p.ours);
    if (p.glslang) vulkan_release(p.glslang);
    if (p.pocl) engine_pocl.release(p.pocl);
    workload_free(&p.load);
}

void gpu_software_child(const gpu_options *o, const char *device, size_t first) {
    char why[WHY_SIZE] = "", description[WHY_SIZE];
    rival r = {0};
    if (gpu_look(device, description) != GPU_SOFTWARE) return;
    if (strcmp(device, "vulkan") == 0)
        r.vulkan = vulkan_open(description, why);
    else
        r.pocl = engine_pocl.open((unsigned)sysconf(_SC_NPROCESSORS_ONLN), why);
    engine *quern = r.vulkan || r.pocl ? engine_quern_open(device, 0, why) : NULL;
    if (!quern) report("| %s | left out: %s | | | | |\n", device, why);
    for (size_t i = first; i < bench_num_cases && quern; i++) {
        if (!gpu_selected(o->only, bench_cases[i].name)) continue;
        report_case(i, bench_cases[i].name);
        run_case(device, quern, &r, i, o);
    }
    if (quern) engine_quern.close(quern);
    if (r.vulkan) vulkan_close(r.vulkan);
    if (r.pocl) engine_pocl.close(r.pocl);
}

static void hear(void *user, const char *figures) {
    size_t index;
    double ratio;
    if (sscanf(figures, "%zu %lf", &index, &ratio) == 2 && index < bench_num_cases)
        ratios_add(user, bench_cases[index].name, ratio);
}

static void run_device(const gpu_options *o, const char *device) {
    char what[96];
    ratios all = {0};
    gpu_run_child(o, "software", device, hear, &all);
    if (!all.count) return;
    snprintf(what, sizeof what, "code on %s in software, mean of %u (worst %.2f, %s)", device, all.count,
             all.worst, all.which);
    report_target(what, ratios_mean(&all), 0.95, true);
}

void gpu_software(const gpu_options *o) {
    static const char *const devices[] = {"vulkan", "opencl"};
    char why[WHY_SIZE];
    report("\n### Drivers in software\n\nPeers: the same kernels by glslang on the bare driver; the kernel "
           "files given to "
           "PoCL. Ratio: the peer's time / quern's%s.\n\n"
           "| device | case | size | quern ms | peer ms | ratio |\n|---|---|---|---:|---:|---:|\n",
           o->cpu_time ? "; processor time of all threads" : "");
    for (int i = 0; i < 2 && !gpu_stopped(); i++) {
        gpu_presence presence = gpu_look(devices[i], why);
        if (presence == GPU_SOFTWARE)
            run_device(o, devices[i]);
        else
            report("| %s | left out: %s%s | | | | |\n", devices[i], why,
                   presence == GPU_NONE ? "" : " is a GPU");
    }
}
