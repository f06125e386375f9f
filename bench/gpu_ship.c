/* Programs to ship: a .qnb in memory is loaded, and a kernel of it made ready to be launched, beside the bare driver with what is
   in it, for PTX and for machine code, in turn. */
#include "gpu.h"
#include "gpu_cuda.h"

#include <stdlib.h>
#include <string.h>

enum { SAMPLES = 25, QUICK_SAMPLES = 3, MAX_THREADS_PER_BLOCK = 0 /* a CUfunction_attribute */ };
static const char kernel_file[] = "lines300.cl";

typedef struct shipped {
    qn_context *context;
    qn_device *device;
    cuda *bare;
    char *data; /* the .qnb */
    size_t size;
    const void *image; /* in it: what the driver takes */
    char kernel[128];  /* one of its kernels */
} shipped;

static bool failed(const shipped *s, const char *what) {
    report_failure("ship: %s: %s", what, qn_error_message(s->context));
    return false;
}

/* A PTX text, or an ELF image, in the file. */
static const void *find_image(const shipped *s, const char *mark) {
    const size_t length = strlen(mark);
    for (size_t at = 0; at + length <= s->size; at++)
        if (memcmp(s->data + at, mark, length) == 0) return s->data + at;
    return NULL;
}

static bool pack(shipped *s, bool machine_code) {
    char arch[16];
    const qn_program_desc program = {.source = bench_source(kernel_file)};
    qn_pack_desc desc = {.program = &program, .devices = "cuda"};
    snprintf(arch, sizeof arch, "sm_%d", cuda_arch(s->bare));
    if (!machine_code) desc = (qn_pack_desc){.program = &program, .targets = "ptx", .archs = arch};
    if (qn_program_pack(s->context, &desc, &s->data, &s->size, NULL)) return failed(s, "qn_program_pack");
    s->image = find_image(s, machine_code ? "\177ELF" : ".version");
    if (!s->image) report_failure("ship: the file has no code for the driver");
    return s->image != NULL;
}

enum { LOADED, READY, NUM_FIGURES }; /* the program; its first kernel, which can be launched */
static const char *const figure_names[NUM_FIGURES] = {"loaded", "a kernel ready"};

static double since(int64_t begin) { return (double)(bench_now() - begin) * 1e-6; }

/* Milliseconds from the bytes in memory. */
static bool load_packed(shipped *s, bool machine_code, double ms[NUM_FIGURES]) {
    qn_program *program = NULL;
    qn_kernel *kernel = NULL;
    qn_program_times times = {0};
    const qn_program_desc desc = {.binary = s->data, .binary_size = s->size};
    const int64_t begin = bench_now();
    qn_status status = qn_program_create(s->device, &desc, &program);
    ms[LOADED] = since(begin);
    if (!status) status = qn_kernel_create(program, qn_program_kernel_name(program, 0), &kernel);
    ms[READY] = since(begin);
    if (status) failed(s, "the packed program");
    if (!status) qn_program_get_times(program, &times);
    if (!status) snprintf(s->kernel, sizeof s->kernel, "%s", qn_program_kernel_name(program, 0));
    if (!status && machine_code && !times.from_cache) report_failure("ship: machine code was compiled");
    qn_kernel_destroy(kernel);
    qn_program_destroy(program);
    return !status;
}

/* What a launch needs to know of the kernel is asked: drivers put it on the device no earlier than that. */
static bool load_bare(const shipped *s, double ms[NUM_FIGURES]) {
    char why[WHY_SIZE];
    cu_object module = NULL, function = NULL;
    int threads = 0;
    const cuda *c = s->bare;
    c->context_set(c->context);
    const int64_t begin = bench_now();
    bool fine = cuda_good(c, c->module_load(&module, s->image), "cuModuleLoadData", why);
    ms[LOADED] = since(begin);
    fine = fine && cuda_good(c, c->module_function(&function, module, s->kernel), s->kernel, why) &&
           cuda_good(c, c->function_attribute(&threads, MAX_THREADS_PER_BLOCK, function), s->kernel, why);
    ms[READY] = since(begin);
    if (!fine) report_failure("ship: %s", why);
    if (module) c->module_unload(module);
    return fine;
}

static void print_row(const shipped *s, const char *code, int figure, double ms, double bare_ms) {
    char what[96];
    report("| %s | %zu | %s | %.4f | %.4f | %.2f |\n", code, s->size, figure_names[figure], ms, bare_ms,
           ms / bare_ms);
    snprintf(what, sizeof what, "%s from a .qnb, %s / the bare driver", code, figure_names[figure]);
    report_target(what, ms / bare_ms, 1.5, false);
}

static void rows(const gpu_options *o, shipped *s, bool machine_code) {
    const unsigned samples = o->quick ? QUICK_SAMPLES : SAMPLES;
    double packed[NUM_FIGURES][SAMPLES], bare[NUM_FIGURES][SAMPLES], ms[NUM_FIGURES];
    if (!pack(s, machine_code)) return;
    for (unsigned i = 0; i < samples; i++) {
        if (!load_packed(s, machine_code, ms)) return;
        for (int f = 0; f < NUM_FIGURES; f++) packed[f][i] = ms[f];
        if (!load_bare(s, ms)) return;
        for (int f = 0; f < NUM_FIGURES; f++) bare[f][i] = ms[f];
    }
    for (int f = 0; f < NUM_FIGURES; f++)
        print_row(s, machine_code ? "machine code" : "PTX", f, gpu_median(packed[f], samples),
                  gpu_median(bare[f], samples));
}

/* In a process of its own. */
void gpu_ship_child(const gpu_options *o, const char *device, size_t first) {
    shipped s = {0};
    char why[WHY_SIZE] = "";
    (void)first;
    s.bare = cuda_open(why);
    const qn_context_desc desc = {.disable_cache = true};
    if (!s.bare)
        report_failure("ship: %s", why);
    else if (qn_context_create(&desc, &s.context) || qn_device_get(s.context, device, &s.device))
        failed(&s, device);
    for (int machine_code = 0; s.device && machine_code < 2; machine_code++) {
        rows(o, &s, machine_code);
        qn_text_free(s.context, s.data);
        s.data = NULL;
    }
    qn_context_destroy(s.context);
    if (s.bare) cuda_close(s.bare);
}

void gpu_ship(const gpu_options *o) {
    char why[WHY_SIZE];
    report("\n### Programs to ship\n\n%s from a .qnb in memory, and the same code by the bare driver "
           "(cuModuleLoadData; cuModuleGetFunction and cuFuncGetAttribute of one kernel); no caches.\n",
           kernel_file);
    if (gpu_look("cuda", why) != GPU_PRESENT) {
        report("\nleft out: %s\n", why);
        return;
    }
    report("\n| code | bytes | | quern ms | driver ms | ratio |\n|---|---:|---|---:|---:|---:|\n");
    gpu_run_child(o, "ship", "cuda", NULL, NULL);
}
