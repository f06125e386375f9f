/* Rows of quern bench tensor: a computation of tensors each. bench_tensor.c runs them; a file has those that belong together. */
#ifndef BENCH_TENSOR_H
#define BENCH_TENSOR_H

#include <quern/nn.h>

#include "bench_peer.h"

/* What a row has: tensors of its own, which are gone behind it, so that the most memory is the row's. */
typedef struct bench_tensors {
    bench_device *d;
    qn_tensors *t;
    uint64_t elements; /* of the large operands */
    bool is_small;     /* so few that models are made smaller, too */
    double copying;    /* bytes/s, in the same run */
} bench_tensors;

typedef struct bench_tensor_row {
    const char *what;
    uint32_t number; /* for functions of several rows */
    int (*measure)(bench_tensors *b, const struct bench_tensor_row *row);
} bench_tensor_row;

typedef struct bench_tensor_list {
    const bench_tensor_row *rows;
    uint32_t count;
} bench_tensor_list;

extern const bench_tensor_list bench_tensor_maps, bench_tensor_host, bench_tensor_models;

/* An exit status after a message, where a tensor's or a call's status is a failure. */
int bench_tensor_fail(const bench_tensors *b, qn_status status);
/* Prints a row's figure, of this size ("" : there is but one), with the most memory that it took behind `note`, and keeps it for the peer's
   ratio. */
void bench_tensor_print(bench_tensors *b, const bench_tensor_row *row, const char *of, double work,
                        const char *unit, const bench_time *time, const char *note);

/* ---- PyTorch ---- */

/* What quern took for a row, in nanoseconds. */
typedef struct bench_tensor_taken {
    char what[40], label[96]; /* the row, and its figure's name, which has its size */
    double ns, work;
    char unit[16];
} bench_tensor_taken;
/* Measures the same rows by PyTorch, in a Python of its own, and prints what it says. Exit status, after a message. */
int bench_torch_run(const bench_tensors *b, const bench_tensor_taken *taken, uint32_t count);

/* ---- models ---- */

/* A step of training on one batch, which is the same each time: so its loss has to become less. */
typedef struct bench_model {
    bench_tensors *b;
    qn_module module;
    qn_optimizer optimizer; /* not used where module has no parameters */
    uint64_t batch;
    qn_tensor *inputs[2]; /* retained */
    qn_step *step;
    /* The loss of the inputs. */
    qn_tensor *(*loss)(struct bench_model *model, qn_tensor *const *inputs);
    bool updates;   /* else the gradients are what the step makes */
    const char *of; /* its size, for people; "": there is but one */
    void *parts;
} bench_model;

/* Makes and measures the step of a model that has its parts; the time of one. Exit status, after a message. */
int bench_model_measure(bench_model *model, const bench_tensor_row *row);

#endif
