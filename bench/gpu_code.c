/* Code quality: each kernel of the set on quern's cuda device, as PTX, beside the same text compiled by NVRTC and
   launched by the bare driver; then on quern's vulkan and opencl devices of the same GPU beside that CUDA figure. */
#include "gpu.h"

#include "shipped.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { QUERN_CUDA, QUERN_VULKAN, QUERN_OPENCL, NVRTC, NUM_RUNNERS, SAMPLES = 25 };
static const char *const devices[] = {"cuda", "vulkan", "opencl"};

typedef struct rig {
    const gpu_options *options;
    nvrtc *compiler;
    cuda *bare;
    qn_context *translator;
    engine *engines[NVRTC];
    ratios ratios[NVRTC];
} rig;

/* One case on all runners. */
typedef struct trial {
    rig *rig;
    const bench_case *which;
    workload load;
    session *sessions[NVRTC];
    cuda_session *twin;
    double ms[NUM_RUNNERS];
    cuda_usage ours, theirs;
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
    qn_context *context = NULL;
    qn_device *found = NULL;
    qn_device_info info = {0};
    if (qn_context_create(NULL, &context)) return GPU_NONE;
    bool there = !qn_device_get(context, device, &found) && !qn_device_get_info(found, &info);
    snprintf(why, WHY_SIZE, "%s", there ? info.description : qn_error_message(context));
    qn_context_destroy(context);
    if (!there) return GPU_NONE;
    return info.capabilities & QN_CAN_EMULATE ? GPU_SOFTWARE : GPU_PRESENT;
}

/* ---- runners ---- */

static double time_runner(trial *t, int runner, unsigned repeats, char *why) {
    if (runner == NVRTC) return t->twin ? cuda_time(t->twin, repeats, why) : -1;
    return t->sessions[runner] ? engine_quern_time(t->sessions[runner], repeats, why) : -1;
}

static bool have(const trial *t, int runner) {
    return runner == NVRTC ? t->twin != NULL : t->sessions[runner] != NULL;
}

static void drop(trial *t, int runner) {
    if (runner == NVRTC && t->twin) cuda_release(t->twin);
    if (runner == NVRTC)
        t->twin = NULL;
    else if (t->sessions[runner])
        engine_quern.release(t->sessions[runner]);
    if (runner != NVRTC) t->sessions[runner] = NULL;
}

static const char *runner_name(int runner) { return runner == NVRTC ? "NVRTC" : devices[runner]; }

/* PTX by quern, for reading what it takes. */
static void measure_usage(trial *t, const char *image) {
    char *ptx = NULL, arch[16], why[WHY_SIZE];
    const char *name = t->load.steps[0].kernel;
    snprintf(arch, sizeof arch, "sm_%d", cuda_arch(t->rig->bare));
    qn_translate_desc desc = {
        .program = {.source = shipped_kernel(t->which->file)}, .target = "ptx", .arch = arch};
    cuda_kernel_usage(t->rig->bare, image, name, &t->theirs, why);
    if (qn_translate(t->rig->translator, &desc, &ptx, NULL) == QN_OK)
        cuda_kernel_usage(t->rig->bare, ptx, name, &t->ours, why);
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
    const char *source = shipped_kernel(t->which->file);
    for (int e = 0; e < NVRTC; e++) {
        if (!t->rig->engines[e]) continue;
        t->sessions[e] = engine_quern.prepare(t->rig->engines[e], source, t->which->options, &t->load, why);
        if (!t->sessions[e]) report_failure("%s on %s: %s", t->which->name, devices[e], why);
    }
    prepare_twin(t, why);
}

/* A first run of each, its result checked; who fails is out. */
static void verify(trial *t) {
    void *result = bench_alloc(t->load.buffers[t->load.result].size);
    for (int i = 0; i < NUM_RUNNERS; i++) {
        char why[WHY_SIZE] = "no result";
        if (!have(t, i)) continue;
        memset(result, 0xff, t->load.buffers[t->load.result].size);
        bool ran = i == NVRTC ? cuda_reset(t->twin) && cuda_time(t->twin, 1, why) >= 0 &&
                                    cuda_read(t->twin, t->load.result, result)
                              : engine_quern.reset(t->sessions[i]) && engine_quern.run(t->sessions[i], why) &&
                                    engine_quern.read(t->sessions[i], t->load.result, result);
        double error = ran ? t->which->error(&t->load, result) : INFINITY;
        if (ran && error <= t->which->bound) continue;
        report_failure("%s on %s: %s, error %.3g, allowed %.3g", t->which->name, runner_name(i),
                       ran ? "wrong result" : why, error, t->which->bound);
        drop(t, i);
    }
    free(result);
}

static void measure(trial *t) {
    static double times[NUM_RUNNERS][SAMPLES];
    unsigned samples = t->rig->options->quick ? 3 : SAMPLES;
    char why[WHY_SIZE] = "";
    double once = 0.001;
    for (int i = 0; i < NUM_RUNNERS; i++)
        if (have(t, i)) once = fmax(once, time_runner(t, i, 2, why));
    /* Long enough that the clock's steps do not count and submitting stays ahead. */
    unsigned repeats = once > 2 ? 1 : once > 0.02 ? (unsigned)(2 / once) + 1 : 100;
    for (unsigned n = 0; n < samples; n++) {
        for (int i = 0; i < NUM_RUNNERS; i++) {
            if (!have(t, i)) continue;
            times[i][n] = time_runner(t, i, repeats, why);
            if (times[i][n] >= 0) continue;
            report_failure("%s on %s: %s", t->which->name, runner_name(i), why);
            drop(t, i);
        }
    }
    for (int i = 0; i < NUM_RUNNERS; i++) t->ms[i] = have(t, i) ? gpu_median(times[i], samples) : 0;
}

/* ---- table ---- */

static void print_row(trial *t) {
    report("| %s | %s |", t->which->name, t->load.size);
    report(t->ms[NVRTC] > 0 ? " %.4f |" : " |", t->ms[NVRTC]);
    for (int i = 0; i < NVRTC; i++) {
        double ratio = t->ms[i] > 0 && t->ms[NVRTC] > 0 ? t->ms[NVRTC] / t->ms[i] : 0;
        if (t->ms[i] > 0)
            report(" %.4f |", t->ms[i]);
        else
            report(" |");
        if (ratio > 0)
            report(" %.3f |", ratio);
        else
            report(" |");
        ratios_add(&t->rig->ratios[i], t->which->name, ratio);
    }
    bool flops = t->load.flops > 0 && t->load.bytes == 0;
    if (t->ms[QUERN_CUDA] > 0 && (flops || t->load.bytes > 0))
        report(" %.4g %s |", (flops ? t->load.flops : t->load.bytes) / t->ms[QUERN_CUDA] * 1e-9,
               flops ? "TFLOP/s" : "TB/s");
    else
        report(" |");
    report(" %d/%d | %d/%d |\n", t->ours.registers, t->theirs.registers, t->ours.spill_bytes,
           t->theirs.spill_bytes);
}

static void run_case(rig *r, const bench_case *which) {
    trial t = {.rig = r, .which = which};
    which->make(&t.load, r->options->quick ? BENCH_QUICK : BENCH_GPU);
    gpu_fix_groups(&t.load);
    prepare(&t);
    verify(&t);
    measure(&t);
    print_row(&t);
    for (int i = 0; i < NUM_RUNNERS; i++) drop(&t, i);
    workload_free(&t.load);
}

static bool open_rig(rig *r) {
    char why[WHY_SIZE] = "";
    bool any = false;
    report("\n### Code quality\n\n");
    for (int e = 0; e < NVRTC; e++) {
        if (gpu_look(devices[e], why) == GPU_PRESENT) r->engines[e] = engine_quern_open(devices[e], 0, why);
        if (!r->engines[e]) report("- %s: left out: %s\n", devices[e], why);
        any = any || r->engines[e];
    }
    if (!any) return false;
    qn_context_create(NULL, &r->translator);
    r->bare = cuda_open(why);
    if (r->bare) r->compiler = nvrtc_open(why);
    if (!r->compiler) {
        report("- NVRTC: left out: %s\n", why);
        return true;
    }
    int major, minor;
    nvrtc_version(r->compiler, &major, &minor);
    report("- NVRTC %d.%d, sm_%d, its default options, launched by the bare driver on %s\n", major, minor,
           cuda_arch(r->bare), cuda_device(r->bare));
    return true;
}

void gpu_code(const gpu_options *o) {
    rig r = {.options = o};
    if (open_rig(&r)) {
        report("\nRatio: NVRTC's time / quern's, above 1 quern is faster. Registers and bytes of local "
               "memory (spills "
               "among them) of the first kernel: quern/NVRTC.\n\n"
               "| case | size | NVRTC ms | cuda ms | ratio | vulkan ms | ratio | opencl ms | ratio | cuda | "
               "registers "
               "| local |\n|---|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|\n");
        for (size_t i = 0; i < bench_num_cases; i++)
            if (gpu_selected(o->only, bench_cases[i].name)) run_case(&r, &bench_cases[i]);
    }
    static const double means[] = {0.97, 0.90, 0.95};
    for (int e = 0; e < NVRTC; e++) {
        char what[96];
        if (!r.ratios[e].count) continue;
        snprintf(what, sizeof what, "code on %s, mean of %u", devices[e], r.ratios[e].count);
        report_target(what, ratios_mean(&r.ratios[e]), means[e], true);
        snprintf(what, sizeof what, "code on %s, worst: %s", devices[e], r.ratios[e].which);
        if (e == QUERN_CUDA) report_target(what, r.ratios[e].worst, 0.90, true);
    }
    for (int e = 0; e < NVRTC; e++)
        if (r.engines[e]) engine_quern.close(r.engines[e]);
    if (r.bare) cuda_close(r.bare);
    free(r.compiler);
    qn_context_destroy(r.translator);
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
            .program = {.source = shipped_kernel(c->file)}, .target = "ptx", .arch = name, .size = &size};
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
