/* quern bench: what its files share. Whatever is measured is a task that bench_measure repeats, on a device between two
   events or on the host by the clock; what comes out is a row of the report, which is what is printed, written as JSON and
   compared with an earlier run. */
#ifndef BENCH_H
#define BENCH_H

#include <quern/kernels.h>

#include "tool.h"

enum { BENCH_MAX_SHAPES = 64, BENCH_MAX_SPLITS = 16 };

typedef struct bench_options {
    const char *devices;             /* names with commas, "all", or NULL: the default one */
    const char *against;             /* peers' names with commas, or "all"; NULL: none */
    const char *json, *svg, *before; /* files; NULL: none */
    double soak;                     /* seconds of full load that `rings` is put under instead; 0: none */
    double seconds;                  /* of measuring, for each figure; 0: as many as suit the sections */
    bool ladder;
    bool safe;         /* `code` as safe programs, too */
    bool is_brief;     /* all sections are measured: with operands no larger than need be */
    const char *types; /* of products, with commas; NULL: the device's usual ones */
    uint64_t shapes[BENCH_MAX_SHAPES][3]; /* m, n, k of products */
    uint32_t num_shapes;                  /* 0: likewise */
    const char *variants;                 /* of qn_kernels_matmul, with commas, or "all"; NULL: it chooses */
    uint32_t splits[BENCH_MAX_SPLITS];    /* parts of k */
    uint32_t num_splits;                  /* 0: it chooses */
    const char *tuning_file;
    const char *
        tuning; /* its text, from quern tune: its choices are measured beside the library's own; NULL: none */
    const char
        *tune; /* words of -qn-tune, sets of them with colons between: ways to compile `code`; NULL: none */
    const char
        *only; /* rows of `kernels`, `code` and `tensor` whose names begin so, with commas; NULL: all */
    uint64_t elements; /* of what the other kernels work on; 0: as many as suit the device */
} bench_options;

/* As program_option: -1 taken, 0 no option, else the exit status after a message. */
int bench_option(bench_options *options, int argc, char **argv, int *i);
/* Whether they go together. Exit status, after a message. */
int bench_options_check(const bench_options *options);
/* The next name of a list with commas, cut to `size`; false: there are no more. */
bool bench_list_next(const char **list, char *name, size_t size);

typedef struct bench_device bench_device;

/* ---- what came out ---- */

typedef struct bench_result {
    char section[16], device[32], what[112], by[40]; /* these four name it */
    char description[160];                           /* of the device */
    char unit[16];
    bool is_time;            /* less is better */
    double value, low, high; /* the median, and what most samples lie between */
    uint32_t samples;
    /* In this run alone: of the hardware; whether it is in a ladder's picture. */
    uint8_t uuid[16];
    bool is_drawn;
} bench_result;

enum { BENCH_MAX_RUNGS = 16 };

/* A ladder, for its picture. Rates in FLOP/s and bytes/s. */
typedef struct bench_ladder {
    char device[32], description[160];
    uint64_t shape[3];
    double peak, units_peak, bandwidth, scalar; /* units_peak 0: no matrix units for the last rung */
    uint32_t count;
    struct {
        const char *adds;
        double rate, intensity; /* FLOP for each byte that its loads ask of global memory */
        double peak;            /* of what it multiplies with */
    } rungs[BENCH_MAX_RUNGS];
} bench_ladder;

/* Of the section under way. */
typedef struct bench_progress_steps {
    uint32_t done, count; /* count 0: not known */
} bench_progress_steps;

typedef struct bench_report {
    bench_result *results;
    size_t count, capacity;
    bench_ladder *ladders;
    size_t num_ladders;
    bench_progress_steps steps;
} bench_report;

/* What they give is there until the next one is added. */
bench_result *bench_report_add(bench_report *report);
/* With its names set. */
bench_result *bench_report_row(const bench_device *d, const char *section, const char *what, const char *by,
                               const char *unit);
bench_ladder *bench_report_add_ladder(bench_report *report);
void bench_report_free(bench_report *report);
/* Exit statuses, after a message. */
int bench_report_write(const bench_report *report, const char *path);
int bench_report_read(const char *path, bench_report *report);
/* Prints what differs by more than both spreads. TOOL_DIFFERENT: something has become worse. */
int bench_compare(const bench_report *report, const bench_report *before, const char *path);
int bench_draw(const bench_report *report, const char *path);

/* ---- measuring ---- */

/* A device under measurement. */
struct bench_device {
    const bench_options *options;
    bench_report *report;
    qn_context *context;
    qn_device *device;
    qn_device_info info;
    qn_stream *stream;
    qn_event *begin, *end;
    qn_kernels *kernels; /* without a tuning */
    qn_kernels *tuned;   /* NULL: there is none */
};

int bench_device_open(bench_device *d, qn_context *context, const char *name);
/* The text of a file of `quern tune`, from malloc. Exit status, after a message. */
int bench_tuning_read(const char *path, char **text);
void bench_device_close(bench_device *d);
/* Whether one of the names that `kernels`, `code` and `tensor` know begins so. */
bool bench_kernels_begins(const char *name);
bool bench_code_begins(const char *name);
bool bench_tensor_begins(const char *name);
/* Whether a row of this name is, by the options. */
bool bench_is_asked_for(const bench_device *d, const char *what);
bool bench_is_gpu(const bench_device *d); /* no processor, and no driver that runs on one */

/* Does runs number `first` to `first + count - 1`, or submits them to the device's stream. The number is for taking other
   operands each time. */
typedef struct bench_task {
    qn_status (*run)(void *user, uint32_t first, uint32_t count);
    void *user;
    bool on_host;                   /* is done when `run` returns; timed by the clock */
    qn_status (*after)(void *user); /* of each sample, not timed; may be NULL */
} bench_task;

/* Nanoseconds of one run: the median of samples, and the tenth and the ninetieth of a hundred. */
typedef struct bench_time {
    double median, low, high;
    uint32_t samples, runs; /* runs: all, those of the warm-up too */
} bench_time;

/* Warms up, then takes samples for the seconds of the options, at least three. Exit status, after a message. */
int bench_measure(const bench_device *d, const bench_task *task, bench_time *time);
/* Nanoseconds of one of `count` runs, without all that. */
int bench_sample(const bench_device *d, const bench_task *task, uint32_t count, double *ns);
/* Puts `work / time` a second into the report's row; or the time, where `work` is 0. */
void bench_rate(bench_result *result, double work, const bench_time *time);
/* A table whose rows are figures, and such a row, which goes into the report as `bench_rate` says: by "quern", or by a peer,
   whose line names it alone. `note` ends the line. */
void bench_print_head(const bench_device *d, const char *section);
void bench_print_figure(const bench_device *d, const char *section, const char *what, const char *by,
                        double work, const char *unit, const bench_time *time, const char *note);
/* "61.2 TFLOP/s", "3.80 us": three digits. */
const char *bench_with_unit(char out[32], double value, const char *unit);
/* Half the distance between low and high, of the value. */
double bench_spread(const bench_result *result);

/* Geometric means of quern's speed by that of others. */
typedef struct bench_mean {
    char of[80]; /* "cublas", "cublas on cuda:0" */
    double logs, least;
    uint32_t count;
    char least_of[112];
} bench_mean;

enum { BENCH_MAX_MEANS = 24 };
typedef struct bench_means {
    bench_mean all[BENCH_MAX_MEANS];
    uint32_t count;
} bench_means;

void bench_means_add(bench_means *means, const char *of, double ratio, const char *what);
void bench_means_print(const bench_means *means);

/* What other libraries did on the same hardware through another of its interfaces, earlier in this run: cuBLAS's figures are the
   measure of a GPU's Vulkan device too. The next from *from on, which begins with 0; NULL: there are no more. */
const bench_result *bench_elsewhere(const bench_device *d, const char *section, const char *what,
                                    size_t *from);

/* A bar and what is being measured, in a line on the terminal, if that is where messages go. NULL: takes it away. */
void bench_progress(const bench_device *d, const char *what);
/* The section has so many steps from here on; one of them is done, which takes the line away. */
void bench_steps(const bench_device *d, uint32_t count);
void bench_step(const bench_device *d);

/* Several copies of an operand, one a run, so that no cache holds it from one run to the next. */
typedef struct bench_copies {
    qn_buffer *buffer, **views;
    uint32_t count;
} bench_copies;

/* How many copies of operands that take `bytes` together are more than caches hold. */
uint32_t bench_copies_needed(const bench_device *d, uint64_t bytes);
/* data NULL: bytes of all ones, which are NaNs. */
int bench_copies_create(const bench_device *d, uint64_t size, const void *data, uint32_t count,
                        bench_copies *copies);
void bench_copies_free(bench_copies *copies);
/* Bytes that no cache of the device's holds. */
uint64_t bench_beyond_caches(const bench_device *d);

/* A folder for the time being, and the end of it, which has to be empty. */
enum { BENCH_FOLDER = 512 };
bool bench_folder_make(char path[BENCH_FOLDER]);
void bench_folder_remove(const char *path);

int64_t bench_now(void); /* nanoseconds */
/* Uniform in [-1, 1): the same numbers for the same seed. */
float *bench_random(size_t count, uint32_t seed);

/* Rates that the device reaches in this run: of multiply-adds of 32-bit floats, in FLOP/s, and of copying, in bytes/s read
   and written. */
int bench_peak(const bench_device *d, double *flops);
/* Of matrix units that multiply bf16 and sum f32; 0: the device has none. */
int bench_units_peak(const bench_device *d, double *flops);
int bench_bandwidth(const bench_device *d, double *bytes);

/* ---- products of matrices ---- */

/* What a product is of: elements of operands and result, and what errors its sums may have. */
typedef struct bench_type {
    const char *name; /* "f32", "tf32" */
    qn_element from, to;
    bool tf32;
    bool is_turned; /* b is stored by columns, as libraries want it for this type */
    bool is_usual;  /* measured on a GPU where none is asked for */
    int bits; /* operands are whole parts of 1/2^bits (integers: the parts), which the type has exactly */
    double
        summing; /* the rounding of a sum, as a part of it: those of e4m3 and e5m2 may be added with 13 bits */
    double rounding; /* of a result */
} bench_type;

/* Their names, for messages. */
#define BENCH_TYPES "f32, bf16, f16, tf32, e4m3, e5m2, i8, f64"

const bench_type *bench_type_at(uint32_t index);      /* NULL: there are no more */
const bench_type *bench_type_named(const char *name); /* NULL: there is none */

/* What an element is checked by: the sum in double precision, and that of the products' sizes. */
typedef struct bench_expected {
    double sum, magnitude;
} bench_expected;

/* C = A B with contiguous row-major matrices. */
typedef struct bench_product {
    uint64_t m, n, k;
    const bench_type *type;
    float *a, *b;              /* their values */
    bench_copies on_device[3]; /* a, b, c */
    bench_expected *expected;  /* of the elements that are checked; NULL before the first check */
} bench_product;

int bench_product_create(const bench_device *d, const uint64_t shape[3], const bench_type *type,
                         bench_product *product);
void bench_product_free(bench_product *product);
/* Elements of `c`, which has m by n, against sums in double precision: the largest difference, as a part of what rounding
   may amount to; up to 1 is right. */
double bench_product_error(bench_product *product, const void *c);
/* The same for the device's copies after `runs` runs, which are then made NaNs again. Exit status after a message: wrong is
   TOOL_DIFFERENT. */
int bench_product_check(const bench_device *d, bench_product *product, uint32_t runs, const char *what);

/* One way to do it: what qn_kernels_matmul is told. */
typedef struct bench_way {
    const char *variant; /* NULL: it chooses */
    uint32_t splits;     /* 0: it chooses */
} bench_way;

/* qn_kernels_matmul of a product's copies again and again, with these kernels. */
typedef struct bench_matmul {
    const bench_device *d;
    qn_kernels *kernels;
    const bench_product *product;
    bench_way way;
} bench_matmul;

/* For bench_task. */
qn_status bench_matmul_submit(void *matmul, uint32_t first, uint32_t count);
/* The first call compiles; on the processor what it compiles is final later. `can`: whether this way takes the operands; one that
   is not told to does. Exit status, after a message. */
int bench_matmul_compile(bench_matmul *m, bool *can);
/* Compiles, measures and checks. */
int bench_matmul_measure(bench_matmul *m, bench_product *product, const char *what, bench_time *time,
                         bool *can);
/* Shapes met in practice that a device of this kind does in seconds. False: there are no more. */
bool bench_matmul_shape(const bench_device *d, uint32_t index, uint64_t shape[3]);
/* The types that are asked for, or the device's usual ones; NULL: there are no more. */
const bench_type *bench_matmul_type(const bench_device *d, uint32_t index);

/* ---- sections ---- */

int bench_ladder_run(bench_device *d);
int bench_matmul_run(bench_device *d);
int bench_kernels_run(bench_device *d);
int bench_code_run(bench_device *d);
int bench_tensor_run(bench_device *d);
int bench_start_run(bench_device *d);
int bench_launch_run(bench_device *d);
int bench_rings_run(bench_device *d);
int bench_memory_run(bench_device *d);
int bench_transfer_run(bench_device *d);
int bench_compile_run(bench_device *d);
int bench_packed_run(bench_device *d); /* a part of it */

#endif
