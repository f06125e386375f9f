/* The GPU benchmark, quern_gpu_bench: what its files share. Each figure is a ratio between quern and a peer that does
   the same work in the same run, in turn with it: NVRTC and the bare CUDA driver, the bare Vulkan and OpenCL
   drivers, glslang, PoCL. A missing device or peer is a line in the report. */
#ifndef GPU_H
#define GPU_H

#include "bench.h"

#include <quern/quern.h>

typedef struct gpu_options {
    const char *only;     /* cases, as --only of quern_bench */
    const char *sections; /* likewise */
    bool quick, cpu_time;
    bool reverse;       /* cases of `code` from the last to the first */
    unsigned sample_ms; /* how long a sample of `code` lasts at least */
} gpu_options;

/* ---- report: Markdown, to the standard output and to a file ---- */

bool report_open(const char *path); /* NULL: no file */
void report_to_parent(FILE *pipe);  /* all of it: this process is a child */
void report(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* A figure and what it is to be (`limit`): shown in the table at the end. at_least: else at most. */
void report_target(const char *what, double value, double limit, bool at_least);
/* Something did not work that should: shown at the end, and the exit status is 1. */
void report_failure(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* In a child: the case that comes next; figures for the parent's gpu_hear. */
void report_case(size_t index, const char *name);
void report_figures(const char *format, ...) __attribute__((format(printf, 1, 2)));
enum { REPORT_MARK = 1 }; /* begins a line to the parent that is no text: then a letter and a space */
bool report_close(void);  /* prints the table of targets; false: there were failures */

/* Is `name` in a comma-separated list of beginnings? */
bool gpu_selected(const char *list, const char *name);
double gpu_median(const double *values, size_t count);
double gpu_quantile(const double *values, size_t count, double part);

/* Geometric means of ratios. */
typedef struct ratios {
    double logs, worst;
    unsigned count;
    const char *which;
} ratios;
void ratios_add(ratios *r, const char *name, double ratio);
double ratios_mean(const ratios *r);

/* ---- sections ---- */

void gpu_code(const gpu_options *o);
void gpu_bandwidth(const gpu_options *o);
void gpu_overhead(const gpu_options *o);
void gpu_compile(const gpu_options *o);
void gpu_software(const gpu_options *o);
void gpu_peer(const gpu_options *o);
void gpu_ship(const gpu_options *o);
void gpu_variants(const gpu_options *o); /* only where it is asked for */
/* Writes PTX of every case, by quern and by NVRTC, into a folder: for reading, needs no GPU. */
int gpu_dump(const char *folder, const char *only, int arch);
/* ---- children: what runs on a device runs in a process of its own ---- */

/* What each does there; cases before `first` are left out. */
void gpu_code_child(const gpu_options *o, const char *device, size_t first);
void gpu_bandwidth_child(const gpu_options *o, const char *device, size_t first);
void gpu_transfers_child(const gpu_options *o, const char *device, size_t first);
void gpu_overhead_child(const gpu_options *o, const char *device, size_t first);
void gpu_start_child(const gpu_options *o, const char *device, size_t first);
void gpu_peer_child(const gpu_options *o, const char *device, size_t first);
void gpu_software_child(const gpu_options *o, const char *device, size_t first);
void gpu_ship_child(const gpu_options *o, const char *device, size_t first);
void gpu_variants_child(const gpu_options *o, const char *device, size_t first);
/* Its text and failures are reported; figures go to `hear`. */
typedef void gpu_hear(void *user, const char *figures);
void gpu_run_child(const gpu_options *o, const char *part, const char *device, gpu_hear *hear, void *user);
int gpu_child(const gpu_options *o, const char *part, const char *device, const char *first);
/* A signal to end: children are ended, the report is finished. */
void gpu_stop_on_signals(void);
bool gpu_stopped(void);

typedef enum gpu_presence { GPU_NONE, GPU_SOFTWARE, GPU_PRESENT } gpu_presence;
/* Is there such a device? Its description in `why`, else why not. Looked for once. */
gpu_presence gpu_look(const char *device, char *why);
/* Makes every launch's local size explicit, so that all engines run the same groups. */
void gpu_fix_groups(workload *load);
/* Milliseconds of a case on a device of quern with these compile options, its result checked; 0: that failed. */
double gpu_code_time(const gpu_options *o, const char *device, engine *quern, const bench_case *which,
                     const workload *load, const char *options);
extern const bench_case gpu_tiles; /* of async copies; for `variants` alone */

/* ---- the CUDA twin of a kernel file ---- */

/* The whole text for NVRTC, to be freed, or NULL. */
char *gpu_twin_source(const char *file, char *why);

typedef struct nvrtc nvrtc;
nvrtc *nvrtc_open(char *why);
void nvrtc_version(const nvrtc *n, int *major, int *minor);
/* Machine code or PTX text for sm_`arch`, to be freed, or NULL. */
char *nvrtc_compile(const nvrtc *n, const char *source, int arch, bool ptx, size_t *size, char *why);

/* ---- the bare CUDA driver ---- */

typedef struct cuda cuda;
typedef struct cuda_session cuda_session;

typedef struct cuda_usage {
    int registers, spill_bytes, shared_bytes, arch;
} cuda_usage;

cuda *cuda_open(char *why);
void cuda_close(cuda *c);
const char *cuda_device(const cuda *c); /* "NVIDIA H200, driver 13.0" */
int cuda_arch(const cuda *c);           /* 90 */

/* `image`: machine code or PTX whose kernels take the workload's arguments but its LOCAL ones. */
cuda_session *cuda_prepare(cuda *c, const void *image, const workload *load, char *why);
bool cuda_reset(cuda_session *s);
double cuda_time(cuda_session *s, unsigned repeats, char *why); /* as engine_quern_time */
bool cuda_read(cuda_session *s, unsigned buffer, void *out);
void cuda_release(cuda_session *s);
/* What kernel `name` of an image takes; false: it does not load. */
bool cuda_kernel_usage(cuda *c, const void *image, const char *name, cuda_usage *usage, char *why);

/* Memory: device (0: none), pinned host memory, and copies; all wait. Times in milliseconds, by events or the clock. */
uint64_t cuda_alloc(cuda *c, size_t size);
void cuda_free(cuda *c, uint64_t memory);
void *cuda_host_alloc(cuda *c, size_t size);
void cuda_host_free(cuda *c, void *memory);
double cuda_copy_time(cuda *c, uint64_t to, uint64_t from, size_t size);
double cuda_upload_time(cuda *c, uint64_t to, const void *from, size_t size);
double cuda_download_time(cuda *c, void *to, uint64_t from, size_t size);

/* ---- the least that a launch can cost: `what` is done `count` times without waiting, the microseconds of one; or
        once with waiting. Negative: not possible. ---- */

typedef struct bare bare;
typedef struct bare_type {
    const char *name;                                  /* the device's: "cuda" */
    bare *(*open)(const char *description, char *why); /* of the quern device that it stands beside */
    double (*launch)(bare *b, unsigned count);
    double (*launch_wait)(bare *b);
    double (*graph)(bare *b, unsigned count); /* of GRAPH_KERNELS kernels; NULL: there is no such thing */
    double (*graph_wait)(bare *b);
    void (*close)(bare *b);
} bare_type;

enum { GRAPH_KERNELS = 20 };
extern const bare_type bare_cuda, bare_vulkan, bare_opencl;

/* ---- SPIR-V by glslang on the bare Vulkan driver ---- */

typedef struct vulkan vulkan;
typedef struct vulkan_session vulkan_session;
vulkan *vulkan_open(const char *description, char *why);
const char *vulkan_device(const vulkan *v);
void vulkan_close(vulkan *v);
/* `modules[i]` (SPIR-V, GLSL's main) is the kernel of step i. */
vulkan_session *vulkan_prepare(vulkan *v, const char *const *modules, const size_t *sizes,
                               const workload *load, char *why);
bool vulkan_reset(vulkan_session *s);
bool vulkan_submit(vulkan_session *s, char *why);
bool vulkan_wait(vulkan_session *s, char *why);
bool vulkan_run(vulkan_session *s, char *why); /* both */
bool vulkan_read(vulkan_session *s, unsigned buffer, void *out);
void vulkan_release(vulkan_session *s);

/* Copies of `size` bytes between pinned memory of the host and the device's own, recorded before; the time, in
   milliseconds, from submitting to done (below 0: failed), by the queue that computes or by one for copies alone. */
typedef struct vulkan_copies vulkan_copies;
vulkan_copies *vulkan_copies_open(vulkan *v, uint64_t size, char *why);
double vulkan_copies_time(vulkan_copies *c, bool up, bool copy_queue);
void vulkan_copies_close(vulkan_copies *c);

#endif
