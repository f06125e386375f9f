/* Programs to ship: loading a .qnb beside cuModuleLoadData with what is in it, for PTX and for machine code, in turn. */
#include "gpu.h"
#include "gpu_cuda.h"

#include "shipped.h"

#include <stdlib.h>
#include <string.h>

enum { SAMPLES = 25, QUICK_SAMPLES = 3 };
static const char kernel_file[] = "lines300.cl";

typedef struct shipped {
    qn_context *context;
    qn_device *device;
    cuda *bare;
    char *data; /* the .qnb */
    size_t size;
    const void *image; /* in it: what the driver takes */
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
    const qn_program_desc program = {.source = shipped_kernel(kernel_file)};
    qn_pack_desc desc = {.program = &program, .devices = "cuda"};
    snprintf(arch, sizeof arch, "sm_%d", cuda_arch(s->bare));
    if (!machine_code) desc = (qn_pack_desc){.program = &program, .targets = "ptx", .archs = arch};
    if (qn_program_pack(s->context, &desc, &s->data, &s->size, NULL)) return failed(s, "qn_program_pack");
    s->image = find_image(s, machine_code ? "\177ELF" : ".version");
    if (!s->image) report_failure("ship: the file has no code for the driver");
    return s->image != NULL;
}

/* Milliseconds; negative: failed. */
static double load_packed(const shipped *s, bool machine_code) {
    qn_program *program = NULL;
    qn_program_times times = {0};
    const qn_program_desc desc = {.binary = s->data, .binary_size = s->size};
    const int64_t begin = bench_now();
    const qn_status status = qn_program_create(s->device, &desc, &program);
    const double ms = (double)(bench_now() - begin) * 1e-6;
    if (status) failed(s, "qn_program_create");
    if (!status) qn_program_get_times(program, &times);
    if (!status && machine_code && !times.from_cache) report_failure("ship: machine code was compiled");
    qn_program_destroy(program);
    return status ? -1 : ms;
}

static double load_bare(const shipped *s) {
    char why[WHY_SIZE];
    cu_object module = NULL;
    const int64_t begin = bench_now();
    const int status = s->bare->module_load(&module, s->image);
    const double ms = (double)(bench_now() - begin) * 1e-6;
    if (!cuda_good(s->bare, status, "cuModuleLoadData", why)) {
        report_failure("ship: %s", why);
        return -1;
    }
    s->bare->module_unload(module);
    return ms;
}

static void row(const gpu_options *o, shipped *s, bool machine_code) {
    const char *word = machine_code ? "machine code" : "PTX";
    const unsigned samples = o->quick ? QUICK_SAMPLES : SAMPLES;
    double packed[SAMPLES], bare[SAMPLES];
    char what[64];
    if (!pack(s, machine_code)) return;
    for (unsigned i = 0; i < samples; i++) {
        packed[i] = load_packed(s, machine_code);
        bare[i] = load_bare(s);
        if (packed[i] < 0 || bare[i] < 0) return;
    }
    const double ms = gpu_median(packed, samples), bare_ms = gpu_median(bare, samples);
    report("| %s | %zu | %.3f | %.3f | %.2f |\n", word, s->size, ms, bare_ms, ms / bare_ms);
    snprintf(what, sizeof what, "load %s from a .qnb / cuModuleLoadData", word);
    report_target(what, ms / bare_ms, 1.5, false);
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
        row(o, &s, machine_code);
        qn_text_free(s.context, s.data);
        s.data = NULL;
    }
    qn_context_destroy(s.context);
    if (s.bare) cuda_close(s.bare);
}

void gpu_ship(const gpu_options *o) {
    char why[WHY_SIZE];
    report("\n### Programs to ship\n\n%s from a .qnb, and the same code by the bare driver; no caches.\n",
           kernel_file);
    if (gpu_look("cuda", why) != GPU_PRESENT) {
        report("\nleft out: %s\n", why);
        return;
    }
    report("\n| code | bytes | quern ms | cuModuleLoadData ms | ratio |\n|---|---:|---:|---:|---:|\n");
    gpu_run_child(o, "ship", "cuda", NULL, NULL);
}
