/* The benchmarks: what the files of this folder share. A case describes a computation as buffers and kernel
   launches (`workload`); an engine (quern, PoCL) can prepare a workload and run it. Cases know no engine and
   engines no case, so that both run exactly the same. */
#ifndef BENCH_H
#define BENCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum { MAX_BUFFERS = 8, MAX_ARGS = 8, MAX_STEPS = 512, WHY_SIZE = 2048 };

typedef enum arg_kind { ARG_BUFFER, ARG_UINT, ARG_INT, ARG_FLOAT, ARG_LOCAL } arg_kind;

/* A buffer's index, a number, or bytes of local memory. */
typedef struct bench_arg {
    arg_kind kind;
    union {
        uint32_t u;
        int32_t i;
        float f;
    } value;
} bench_arg;

#define BUF(index)   ((bench_arg){ARG_BUFFER, {.u = (index)}})
#define UINT(number) ((bench_arg){ARG_UINT, {.u = (number)}})
#define INT(number)  ((bench_arg){ARG_INT, {.i = (number)}})
#define REAL(number) ((bench_arg){ARG_FLOAT, {.f = (number)}})
#define LOCAL(bytes) ((bench_arg){ARG_LOCAL, {.u = (bytes)}})

/* One launch. local[0] of 0: the engine chooses. */
typedef struct bench_step {
    const char *kernel;
    uint64_t global[2];
    uint32_t local[2];
    bench_arg args[MAX_ARGS];
    unsigned num_args;
} bench_step;

/* `data` is what the buffer holds before a run; NULL: zeros. A `changing` buffer gets it again each time. */
typedef struct bench_buffer {
    size_t size;
    void *data;
    bool changing;
} bench_buffer;

typedef struct workload {
    bench_buffer buffers[MAX_BUFFERS];
    unsigned num_buffers, result; /* the buffer that is checked */
    bench_step *steps;
    unsigned num_steps;
    double bytes, flops; /* of one run; 0: not what counts */
    char size[32];       /* for the table */
} workload;

/* How large: to see that it works, for a processor, for a GPU (well past its cache). */
typedef enum bench_scale { BENCH_QUICK, BENCH_CPU, BENCH_GPU } bench_scale;

typedef struct bench_case {
    const char *name, *file, *options;
    void (*make)(workload *load, bench_scale scale);
    double (*error)(const workload *load, const void *result); /* against plain C in double */
    double bound;                                              /* on that error */
} bench_case;

/* cases_table.c: one row of cases.h each. */
extern const bench_case bench_cases[];
extern const size_t bench_num_cases;

/* Memory of workloads; ends the program when there is none. */
void *bench_alloc(size_t size);
unsigned workload_buffer(workload *load, size_t size, void *data, bool changing);
void workload_step(workload *load, const char *kernel, uint64_t global_x, uint64_t global_y, uint32_t local_x,
                   uint32_t local_y, const bench_arg *args, unsigned num_args);
#define STEP_ARGS(...)                                                                                       \
    (const bench_arg[]){__VA_ARGS__}, sizeof((const bench_arg[]){__VA_ARGS__}) / sizeof(bench_arg)
void workload_free(workload *load);

static inline uint32_t bench_pick(bench_scale scale, uint32_t quick, uint32_t cpu, uint32_t gpu) {
    return scale == BENCH_QUICK ? quick : scale == BENCH_CPU ? cpu : gpu;
}

/* The text of a kernel file of bench/kernels, or of one that ships with quern; NULL when there is none. */
const char *bench_source(const char *name);

/* Reproducible numbers (Marsaglia's xorshift). */
uint32_t bench_random(uint32_t *state);
float bench_uniform(uint32_t *state, float low, float high);
float *bench_floats(size_t count, float low, float high, uint32_t seed);

/* ---- engines ---- */

typedef struct engine engine;
typedef struct session session;

/* `why` has WHY_SIZE bytes. */
typedef struct engine_type {
    const char *name;
    engine *(*open)(unsigned threads, char *why);
    const char *(*version)(const engine *engine);
    session *(*prepare)(engine *engine, const char *source, const char *options, const workload *load,
                        char *why);
    bool (*reset)(session *session); /* puts the changing buffers' data back */
    bool (*run)(session *session, char *why);
    bool (*read)(session *session, unsigned buffer, void *out);
    void (*release)(session *session);
    void (*close)(engine *engine);
} engine_type;

extern const engine_type engine_quern, engine_pocl;

/* engine_quern on a device by its name; `threads` of 0: all. And the mean time in milliseconds of `repeats` runs,
   submitted together, by the device's own clock; negative when something failed. */
engine *engine_quern_open(const char *device, unsigned threads, char *why);
double engine_quern_time(session *session, unsigned repeats, char *why);
/* engine_pocl's functions on the first device of an OpenCL platform with this in its name; the time as above, but by
   the clock and with one wait. */
engine *engine_opencl_open(const char *platform, char *why);
double engine_opencl_time(session *session, unsigned repeats, char *why);

/* ---- measuring ---- */

int64_t bench_now(void);     /* nanoseconds */
int64_t bench_cpu_now(void); /* of all threads of this process */
double bench_median(double *values, size_t count);

#endif
