/* quern bench code: what its files share. A case describes a computation as buffers and kernel launches; quern and others, each with its
   own compiler, run it. Cases know nothing of who runs them, so that all do exactly the same. */
#ifndef BENCH_CODE_H
#define BENCH_CODE_H

#include "bench_peer.h"

enum { BENCH_MAX_BUFFERS = 8, BENCH_MAX_ARGS = 8, BENCH_MAX_STEPS = 512 };

typedef enum bench_arg_kind { BENCH_BUFFER, BENCH_UINT, BENCH_INT, BENCH_FLOAT, BENCH_LOCAL } bench_arg_kind;

/* A buffer's index, a number, or bytes of local memory. */
typedef struct bench_arg {
    bench_arg_kind kind;
    union {
        uint32_t u;
        int32_t i;
        float f;
    } value;
} bench_arg;

#define BUF(index)   ((bench_arg){BENCH_BUFFER, {.u = (index)}})
#define UINT(number) ((bench_arg){BENCH_UINT, {.u = (number)}})
#define INT(number)  ((bench_arg){BENCH_INT, {.i = (number)}})
#define REAL(number) ((bench_arg){BENCH_FLOAT, {.f = (number)}})
#define LOCAL(bytes) ((bench_arg){BENCH_LOCAL, {.u = (bytes)}})

/* One launch. local[0] of 0: who runs it chooses. */
typedef struct bench_workload_step {
    const char *kernel;
    uint64_t global[2];
    uint32_t local[2];
    bench_arg args[BENCH_MAX_ARGS];
    uint32_t num_args;
} bench_workload_step;

/* `data` is what the buffer holds before a run; NULL: zeros. A `changing` buffer gets it again before a result is checked. */
typedef struct bench_workload_buffer {
    size_t size;
    void *data;
    bool changing;
} bench_workload_buffer;

struct bench_workload {
    bench_workload_buffer buffers[BENCH_MAX_BUFFERS];
    uint32_t num_buffers, result; /* the buffer that is checked */
    bench_workload_step *steps;
    uint32_t num_steps;
    double bytes, flops; /* of one run; 0: not what counts */
    char size[32];       /* for the table */
};

/* How large: to see that it works, for a processor, for a GPU (well past its cache). */
typedef enum bench_scale { BENCH_QUICK, BENCH_CPU, BENCH_GPU } bench_scale;

typedef struct bench_case {
    const char *name, *file;
    void (*make)(bench_workload *load, bench_scale scale);
    double (*error)(const bench_workload *load, const void *result); /* against plain C in double */
    double bound;                                                    /* on that error */
} bench_case;

typedef struct bench_case_list {
    const bench_case *cases;
    uint32_t count;
} bench_case_list;

extern const bench_case_list bench_cases_of_floats, bench_cases_of_integers, bench_cases_of_rows;

/* ---- for cases ---- */

/* `data` is from malloc, and the workload's from then on. */
uint32_t bench_workload_add(bench_workload *load, size_t size, void *data, bool changing);
void bench_workload_launch(bench_workload *load, const char *kernel, uint64_t global_x, uint64_t global_y,
                           uint32_t local_x, uint32_t local_y, const bench_arg *args, uint32_t num_args);
#define BENCH_ARGS(...)                                                                                      \
    (const bench_arg[]){__VA_ARGS__}, sizeof((const bench_arg[]){__VA_ARGS__}) / sizeof(bench_arg)
void bench_workload_free(bench_workload *load);
/* Makes each launch's work-groups explicit, for drivers that would each choose their own. */
void bench_workload_fix_groups(bench_workload *load);
void bench_workload_fix_group(bench_workload_step *step);

/* Marsaglia's xorshift; a state of 0 stays. */
uint32_t bench_workload_random(uint32_t *state);
float *bench_workload_floats(size_t count, float low, float high, uint32_t seed);

/* ---- for who runs them on quern's buffers ---- */

typedef struct bench_workload_buffers {
    const bench_device *d;
    const bench_workload *load;
    qn_buffer *all[BENCH_MAX_BUFFERS];
} bench_workload_buffers;

/* With their data. What is made when one fails is there to be freed. */
qn_status bench_buffers_make(bench_workload_buffers *buffers);
/* On the device's stream. */
qn_status bench_buffers_reset(const bench_workload_buffers *buffers);
/* Waits for the stream. */
qn_status bench_buffers_read(const bench_workload_buffers *buffers, uint32_t index, void *to);
void bench_buffers_free(bench_workload_buffers *buffers);

static inline uint32_t bench_pick(bench_scale scale, uint32_t quick, uint32_t cpu, uint32_t gpu) {
    return scale == BENCH_QUICK ? quick : scale == BENCH_CPU ? cpu : gpu;
}

#endif
