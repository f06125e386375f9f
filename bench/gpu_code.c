/* Code quality: each kernel of the set on quern's cuda device, as PTX, in turn with the same text compiled by NVRTC and
   launched by the bare driver, and with the kernel file as it is on NVIDIA's own OpenCL; after that on quern's vulkan and
   opencl devices of the same GPU, beside those figures. */
#include "gpu.h"

#include "cases.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    QUERN,
    NVRTC,
    OPENCL,
    NUM_RUNNERS,
    SAMPLES = 25,
    MAX_CASES = 32,
    NUM_DEVICES = 3,
    WARM_UP_NS = 400000000
};
static const char *const devices[NUM_DEVICES] = {"cuda", "vulkan", "opencl"};

/* What a process measures with; the peers on cuda only. */
typedef struct rig {
    const gpu_options *options;
    const char *device;
    nvrtc *compiler;
    cuda *bare;
    qn_context *translator;
    engine *quern, *opencl;
} rig;

/* One case on both runners. */
typedef struct trial {
    rig *rig;
    const bench_case *which;
    workload load;
    session *ours, *opencl;
    cuda_session *twin;
    double ms[NUM_RUNNERS];
    cuda_usage our_usage, their_usage;
} trial;

void gpu_fix_groups(workload *load) {
    for (unsigned i = 0; i < load->num_steps; i++) {
        bench_step *step = &load->steps[i];
        if (step->local[0] == 0) {
            step->local[0] = step->global[1] ? 32 : 256;
            step->local[1] = step->global[1] ? 8 : 0;
        }
        while (step->global[0] % step->local[0]) step->local[0] /= 2;
        while (step->local[1] && step->global[1] % step->local[1]) step->local[1] /= 2;
    }
}

gpu_presence gpu_look(const char *device, char *why) {
    static struct {
        char device[16], why[WHY_SIZE];
        gpu_presence presence;
    } known[8];
    unsigned at = 0;
    while (at < 7 && known[at].device[0] && strcmp(known[at].device, device) != 0) at++;
    if (!known[at].device[0]) {
        qn_context *context = NULL;
        qn_device *found = NULL;
        qn_device_info info = {0};
        snprintf(known[at].device, sizeof known[at].device, "%s", device);
        bool there = !qn_context_create(NULL, &context) && !qn_device_get(context, device, &found) &&
                     !qn_device_get_info(found, &info);
        snprintf(known[at].why, WHY_SIZE, "%s", there ? info.description : qn_error_message(context));
        if (there) known[at].presence = info.capabilities & QN_CAN_EMULATE ? GPU_SOFTWARE : GPU_PRESENT;
        qn_context_destroy(context);
    }
    snprintf(why, WHY_SIZE, "%s", known[at].why);
    return known[at].presence;
}

/* ---- runners ---- */

static double time_runner(trial *t, int runner, unsigned repeats, char *why) {
    switch (runner) {
    case NVRTC: return cuda_time(t->twin, repeats, why);
    case OPENCL: return engine_opencl_time(t->opencl, repeats, why);
    default: return engine_quern_time(t->ours, repeats, why);
    }
}

static bool have(const trial *t, int runner) {
    return runner == NVRTC ? t->twin != NULL : runner == OPENCL ? t->opencl != NULL : t->ours != NULL;
}

static void drop(trial *t, int runner) {
    if (!have(t, runner)) return;
    switch (runner) {
    case NVRTC: cuda_release(t->twin), t->twin = NULL; break;
    case OPENCL: engine_pocl.release(t->opencl), t->opencl = NULL; break;
    default: engine_quern.release(t->ours), t->ours = NULL; break;
    }
}

/* A first run, and its result. */
static bool try_runner(trial *t, int runner, void *result, char *why) {
    const unsigned buffer = t->load.result;
    if (runner == NVRTC)
        return cuda_reset(t->twin) && cuda_time(t->twin, 1, why) >= 0 && cuda_read(t->twin, buffer, result);
    const engine_type *type = runner == OPENCL ? &engine_pocl : &engine_quern;
    session *s = runner == OPENCL ? t->opencl : t->ours;
    return type->reset(s) && type->run(s, why) && type->read(s, buffer, result);
}

static const char *runner_name(const trial *t, int runner) {
    return runner == NVRTC ? "NVRTC" : runner == OPENCL ? "NVIDIA's OpenCL" : t->rig->device;
}

/* PTX by quern, for reading what it takes. */
static void measure_usage(trial *t, const char *image) {
    char *ptx = NULL, arch[16], why[WHY_SIZE];
    const char *name = t->load.steps[0].kernel;
    snprintf(arch, sizeof arch, "sm_%d", cuda_arch(t->rig->bare));
    qn_translate_desc desc = {
        .program = {.source = bench_source(t->which->file)}, .target = "ptx", .arch = arch};
    cuda_kernel_usage(t->rig->bare, image, name, &t->their_usage, why);
    if (qn_translate(t->rig->translator, &desc, &ptx, NULL) == QN_OK)
        cuda_kernel_usage(t->rig->bare, ptx, name, &t->our_usage, why);
    qn_text_free(t->rig->translator, ptx);
}

static void prepare_twin(trial *t, char *why) {
    rig *r = t->rig;
    size_t size;
    if (!r->bare || !r->compiler) return;
    char *source = gpu_twin_source(t->which->file, why);
    char *image = source ? nvrtc_compile(r->compiler, source, cuda_arch(r->bare), false, &size, why) : NULL;
    if (image) {
        measure_usage(t, image);
        t->twin = cuda_prepare(r->bare, image, &t->load, why);
    }
    free(image);
    free(source);
    if (!t->twin) report_failure("%s: %s", t->which->name, why);
}

static void prepare(trial *t) {
    char why[WHY_SIZE] = "";
    const char *source = bench_source(t->which->file);
    t->ours = engine_quern.prepare(t->rig->quern, source, t->which->options, &t->load, why);
    if (!t->ours) report_failure("%s on %s: %s", t->which->name, t->rig->device, why);
    prepare_twin(t, why);
    if (!t->rig->opencl) return;
    t->opencl = engine_pocl.prepare(t->rig->opencl, source, t->which->options, &t->load, why);
    if (!t->opencl) report_failure("%s on NVIDIA's OpenCL: %s", t->which->name, why);
}

/* A first run of each, its result checked; who fails is out. */
static void verify(trial *t) {
    void *result = bench_alloc(t->load.buffers[t->load.result].size);
    for (int i = 0; i < NUM_RUNNERS; i++) {
        char why[WHY_SIZE] = "no result";
        if (!have(t, i)) continue;
        memset(result, 0xff, t->load.buffers[t->load.result].size);
        bool ran = try_runner(t, i, result, why);
        double error = ran ? t->which->error(&t->load, result) : INFINITY;
        if (ran && error <= t->which->bound) continue;
        report_failure("%s on %s: %s, error %.3g, allowed %.3g", t->which->name, runner_name(t, i),
                       ran ? "wrong result" : why, error, t->which->bound);
        drop(t, i);
    }
    free(result);
}

/* Milliseconds of a run. While the host prepared the case the GPU was idle, and some drivers (NVIDIA's Vulkan) have
   lowered its clocks, down to a quarter; they rise again after a while under load. */
static double warm_up(trial *t) {
    const int64_t until = bench_now() + (t->rig->options->quick ? 0 : WARM_UP_NS);
    char why[WHY_SIZE] = "";
    double once = 0.001;
    do
        for (int i = 0; i < NUM_RUNNERS; i++)
            if (have(t, i)) once = fmax(0.001, time_runner(t, i, once > 1 ? 2 : 20, why));
    while (bench_now() < until);
    return once;
}

static void measure(trial *t) {
    static double times[NUM_RUNNERS][SAMPLES];
    unsigned samples = t->rig->options->quick ? 3 : SAMPLES;
    char why[WHY_SIZE] = "";
    double once = warm_up(t);
    /* Long enough that the clock's steps do not count and submitting stays ahead. */
    double least = t->rig->options->sample_ms;
    unsigned repeats = once > least ? 1 : once > 0.02 ? (unsigned)(least / once) + 1 : 100;
    for (unsigned n = 0; n < samples; n++) {
        for (int i = 0; i < NUM_RUNNERS; i++) {
            if (!have(t, i)) continue;
            times[i][n] = time_runner(t, i, repeats, why);
            if (times[i][n] >= 0) continue;
            report_failure("%s on %s: %s", t->which->name, runner_name(t, i), why);
            drop(t, i);
        }
    }
    for (int i = 0; i < NUM_RUNNERS; i++) t->ms[i] = have(t, i) ? gpu_median(times[i], samples) : 0;
}

/* The row of cuda; of the others the parent makes it, which knows NVRTC's figure. */
static void print_row(const trial *t) {
    double ours = t->ms[QUERN], theirs = t->ms[NVRTC], opencl = t->ms[OPENCL];
    bool flops = t->load.flops > 0 && t->load.bytes == 0;
    report("| %s | %s |", t->which->name, t->load.size);
    report(theirs > 0 ? " %.4f |" : " |", theirs);
    report(ours > 0 ? " %.4f |" : " |", ours);
    report(ours > 0 && theirs > 0 ? " %.3f |" : " |", theirs / ours);
    report(opencl > 0 ? " %.4f |" : " |", opencl);
    report(ours > 0 && opencl > 0 ? " %.3f |" : " |", opencl / ours);
    if (ours > 0 && (flops || t->load.bytes > 0))
        report(" %.4g %s |", (flops ? t->load.flops : t->load.bytes) / ours * 1e-9,
               flops ? "TFLOP/s" : "TB/s");
    else
        report(" |");
    report(" %d/%d | %d/%d |\n", t->our_usage.registers, t->their_usage.registers, t->our_usage.spill_bytes,
           t->their_usage.spill_bytes);
}

static void run_case(rig *r, size_t index) {
    trial t = {.rig = r, .which = &bench_cases[index]};
    int64_t begin = bench_now();
    t.which->make(&t.load, r->options->quick ? BENCH_QUICK : BENCH_GPU);
    gpu_fix_groups(&t.load);
    prepare(&t);
    verify(&t);
    measure(&t);
    if (strcmp(r->device, "cuda") == 0) print_row(&t);
    report_figures("%zu %.9g %.9g %.9g", index, t.ms[QUERN], t.ms[NVRTC], t.ms[OPENCL]);
    for (int i = 0; i < NUM_RUNNERS; i++) drop(&t, i);
    workload_free(&t.load);
    fprintf(stderr, "quern_gpu_bench: %s on %s took %.1f s\n", t.which->name, r->device,
            (double)(bench_now() - begin) * 1e-9);
}

double gpu_code_time(const gpu_options *o, const char *device, engine *quern, const bench_case *which,
                     const workload *load, const char *options) {
    rig r = {.options = o, .device = device, .quern = quern};
    bench_case with_options = *which;
    with_options.options = options;
    trial t = {.rig = &r, .which = &with_options, .load = *load};
    prepare(&t);
    verify(&t);
    measure(&t);
    drop(&t, QUERN);
    return t.ms[QUERN];
}

/* ---- a device, in a process of its own ---- */

static void open_peers(rig *r) {
    char why[WHY_SIZE] = "";
    r->bare = cuda_open(why);
    if (r->bare) r->compiler = nvrtc_open(why);
    qn_context_create(NULL, &r->translator);
    if (!r->compiler) report_failure("code: no NVRTC: %s", why);
    r->opencl = engine_opencl_open("NVIDIA", why);
    if (!r->opencl) report("- NVIDIA's OpenCL: left out: %s\n", why);
}

void gpu_code_child(const gpu_options *o, const char *device, size_t first) {
    rig r = {.options = o, .device = device};
    char why[WHY_SIZE] = "";
    r.quern = engine_quern_open(device, 0, why);
    if (!r.quern) {
        report_failure("code on %s: %s", device, why);
        return;
    }
    if (strcmp(device, "cuda") == 0) open_peers(&r);
    for (size_t at = first; at < bench_num_cases; at++) {
        size_t i = o->reverse ? bench_num_cases - 1 - at : at;
        if (!gpu_selected(o->only, bench_cases[i].name)) continue;
        report_case(at, bench_cases[i].name);
        run_case(&r, i);
    }
    engine_quern.close(r.quern);
    if (r.opencl) engine_pocl.close(r.opencl);
    if (r.bare) cuda_close(r.bare);
    free(r.compiler);
    qn_context_destroy(r.translator);
}

/* ---- the section ---- */

typedef struct code_report {
    const char *device;
    bool is_cuda;
    double peer_ms[NUM_RUNNERS][MAX_CASES];
    ratios ratios[NUM_RUNNERS];
} code_report;

static void hear(void *user, const char *figures) {
    code_report *c = user;
    size_t index;
    double ms[NUM_RUNNERS], ratio[NUM_RUNNERS];
    if (sscanf(figures, "%zu %lf %lf %lf", &index, &ms[QUERN], &ms[NVRTC], &ms[OPENCL]) != 4) return;
    if (index >= MAX_CASES) return;
    for (int peer = NVRTC; peer < NUM_RUNNERS; peer++) {
        if (c->is_cuda) c->peer_ms[peer][index] = ms[peer];
        ratio[peer] = ms[QUERN] > 0 ? c->peer_ms[peer][index] / ms[QUERN] : 0;
        const bool is_work = bench_cases[index].make != around_make;
        if (is_work) ratios_add(&c->ratios[peer], bench_cases[index].name, ratio[peer]);
    }
    if (c->is_cuda) return;
    report("| %s |", bench_cases[index].name);
    report(ms[QUERN] > 0 ? " %.4f |" : " |", ms[QUERN]);
    for (int peer = NVRTC; peer < NUM_RUNNERS; peer++)
        report(ratio[peer] > 0 ? " %.3f |" : " |", ratio[peer]);
    report("\n");
}

static void table_head(bool is_cuda, const char *device, const char *description) {
    if (is_cuda)
        report("\ncuda (%s), in turn with NVRTC's code launched by the bare driver and with NVIDIA's own "
               "OpenCL; "
               "rate; registers and bytes of local memory (spills among them) of the first kernel, "
               "quern/NVRTC:\n\n"
               "| case | size | NVRTC ms | cuda ms | ratio | OpenCL ms | ratio | rate | registers | local |\n"
               "|---|---|---:|---:|---:|---:|---:|---:|---:|---:|\n",
               description);
    else
        report("\n%s (%s), beside the figures above:\n\n| case | %s ms | to NVRTC | to NVIDIA's OpenCL |\n"
               "|---|---:|---:|---:|\n",
               device, description, device);
}

static void report_peer(void) {
    char why[WHY_SIZE] = "";
    nvrtc *compiler = nvrtc_open(why);
    if (!compiler) {
        report("- NVRTC: left out: %s\n", why);
        return;
    }
    int major, minor;
    nvrtc_version(compiler, &major, &minor);
    report("- NVRTC %d.%d, its default options\n", major, minor);
    free(compiler);
}

static void report_means(const code_report *c, double least) {
    static const char *const peers[NUM_RUNNERS] = {[NVRTC] = "NVRTC", [OPENCL] = "NVIDIA's OpenCL"};
    char what[96];
    report("\n");
    for (int peer = NVRTC; peer < NUM_RUNNERS; peer++) {
        const ratios *r = &c->ratios[peer];
        if (!r->count) continue;
        report("To %s, geometric mean of %u: %.3f; worst: %.3f, %s.\n", peers[peer], r->count, ratios_mean(r),
               r->worst, r->which);
    }
    const ratios *r = &c->ratios[NVRTC];
    if (!r->count) return;
    snprintf(what, sizeof what, "code on %s, mean of %u (worst %.3f, %s)", c->device, r->count, r->worst,
             r->which);
    report_target(what, ratios_mean(r), least, true);
    snprintf(what, sizeof what, "code on %s, worst: %s", c->device, r->which);
    if (c->is_cuda) report_target(what, r->worst, 0.90, true);
}

void gpu_code(const gpu_options *o) {
    static const double means[NUM_DEVICES] = {0.97, 0.90, 0.95};
    static code_report c;
    char why[WHY_SIZE] = "";
    report("\n### Code quality\n\nRatio: the peer's time / quern's, above 1 quern is faster.\n\n");
    report_peer();
    for (int e = 0; e < NUM_DEVICES && !gpu_stopped(); e++) {
        c.device = devices[e];
        c.is_cuda = e == 0;
        memset(c.ratios, 0, sizeof c.ratios);
        if (gpu_look(devices[e], why) != GPU_PRESENT) {
            report("- %s: left out: %s\n", devices[e], why);
            continue;
        }
        table_head(c.is_cuda, devices[e], why);
        gpu_run_child(o, "code", devices[e], hear, &c);
        report_means(&c, means[e]);
    }
}

/* ---- PTX for reading ---- */

static bool write_text(const char *folder, const char *name, const char *by, const char *text, size_t size) {
    char path[1024];
    snprintf(path, sizeof path, "%s/%s.%s.ptx", folder, name, by);
    FILE *file = fopen(path, "w");
    bool fine = file && fwrite(text, 1, size, file) == size;
    if (file && fclose(file)) fine = false;
    if (!fine) fprintf(stderr, "quern_gpu_bench: cannot write %s\n", path);
    return fine;
}

int gpu_dump(const char *folder, const char *only, int arch) {
    char why[WHY_SIZE] = "", name[16];
    nvrtc *compiler = nvrtc_open(why);
    qn_context *context = NULL;
    int result = 0;
    if (!compiler) fprintf(stderr, "quern_gpu_bench: %s\n", why);
    if (qn_context_create(NULL, &context)) return 3;
    snprintf(name, sizeof name, "sm_%d", arch);
    for (size_t i = 0; i < bench_num_cases; i++) {
        const bench_case *c = &bench_cases[i];
        if (!gpu_selected(only, c->name)) continue;
        size_t size = 0;
        char *ours = NULL, *source = gpu_twin_source(c->file, why);
        char *theirs = source && compiler ? nvrtc_compile(compiler, source, arch, true, &size, why) : NULL;
        if (theirs) write_text(folder, c->name, "nvrtc", theirs, strlen(theirs));
        if (!theirs) fprintf(stderr, "quern_gpu_bench: %s: %s\n", c->name, why), result = 1;
        qn_translate_desc desc = {
            .program = {.source = bench_source(c->file)}, .target = "ptx", .arch = name, .size = &size};
        if (qn_translate(context, &desc, &ours, NULL) == QN_OK)
            write_text(folder, c->name, "quern", ours, size);
        else
            fprintf(stderr, "quern_gpu_bench: %s: %s\n", c->name, qn_error_message(context)), result = 1;
        qn_text_free(context, ours);
        free(theirs);
        free(source);
    }
    qn_context_destroy(context);
    free(compiler);
    return result;
}
