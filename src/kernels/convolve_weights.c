/* The gradient of a convolution by its weights (kernels/convolve/weights.cl): in tiles, whose pixels are shared out among so many
   work-groups as the device wants, and then the sum of their parts; on processors from unfolded images (convolve_unfold.c), or element
   by element where there is too little for that. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "kernels/convolve.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* As in convolve_plan.c. */
typedef struct tile {
    uint32_t wm, wn, lm, ln, tm, tn;
    double rate;
} tile;

static const tile tiles[] = {
    {2, 2, 8, 4, 8, 8, 0.62}, /* 128 x 64 */
    {2, 1, 4, 8, 8, 8, 0.58}, /* 64 x 64 */
    {1, 1, 4, 8, 8, 4, 0.35}, /* 32 x 32 */
};

enum {
    STEP = 8,
    PAIR_ITEMS = 256,
    PAIR_TAPS = 64,
    MIN_ROWS = 16,
    MIN_OUTPUTS = 16,
    MIN_PART = 64,
    MAX_PARTS = 1024,
    MOST = 1 << 30
};

typedef struct plan {
    qn_kernel *kernel, *sum; /* `sum`: NULL without tiles */
    qn_range range, sum_range;
    uint32_t part, parts; /* pixels of a part, and how many there are */
    uint64_t work;        /* bytes */
} plan;

static uint64_t divide_up(uint64_t a, uint64_t b) { return a / b + (a % b != 0); }
static uint32_t items_of(const tile *t) { return t->wm * t->wn * t->lm * t->ln; }
static uint32_t down_of(const tile *t) { return t->wm * t->lm * t->tm; }
static uint32_t across_of(const tile *t) { return t->wn * t->ln * t->tn; }
static uint32_t sum_size(const qn__convolve_problem *p) { return p->type == QN_F64 ? 8 : 4; }

/* Channels and taps. */
static uint64_t rows_of(const qn__convolve_problem *p) {
    return (uint64_t)p->numbers.channels * p->taps[0] * p->taps[1];
}

/* In elements, of what a group of channels sees. */
static double reach(const uint64_t sizes[4], const int64_t strides[4]) {
    double sum = 0;
    for (int i = 0; i < 4; i++) sum += (double)(sizes[i] - 1) * fabs((double)strides[i]);
    return sum;
}

static bool is_near(const qn__convolve_problem *p) {
    const qn__convolve_numbers *n = &p->numbers;
    const uint64_t from[] = {p->images, n->channels, (uint64_t)n->rows, (uint64_t)n->columns},
                   to[] = {p->images, n->outputs, n->to_rows, n->to_columns};
    return reach(from, n->from) <= INT32_MAX && reach(to, n->to) <= INT32_MAX;
}

/* So that places of taps are far from the limits of an int. */
static bool is_small(const qn__convolve_problem *p) {
    const qn__convolve_numbers *n = &p->numbers;
    return n->rows + 2 * n->padding[0] < MOST && n->columns + 2 * n->padding[1] < MOST &&
           (uint64_t)n->to_rows * n->to_columns <= MOST;
}

/* Work-groups pay; a variant can want them on processors, too, for tests. */
static bool suits_groups(const qn_kernels *kernels, const qn__convolve_problem *p) {
    return is_small(p) && (p->variant < 0 ? !qn__is_processor(kernels) : qn__convolve_is_tile(p->variant));
}

static bool suits_tiles(const qn_kernels *kernels, const qn__convolve_problem *p) {
    return suits_groups(kernels, p) && rows_of(p) >= MIN_ROWS && p->numbers.outputs >= MIN_OUTPUTS &&
           rows_of(p) <= INT32_MAX;
}

/* A work-group for each channel and output, without tiles. */
static bool suits_pairs(const qn_kernels *kernels, const qn__convolve_problem *p) {
    return suits_groups(kernels, p) && kernels->info.max_local_size[0] >= PAIR_ITEMS &&
           p->taps[0] * (uint64_t)p->taps[1] <= PAIR_TAPS;
}

/* In clocks of a compute unit of 128 lanes. */
static double cost_of(const qn_kernels *kernels, const qn__convolve_problem *p, const tile *t,
                      uint64_t parts) {
    const qn__convolve_numbers *n = &p->numbers;
    const double units = kernels->info.compute_units ? kernels->info.compute_units : 1;
    const double groups = (double)divide_up(rows_of(p), down_of(t)) *
                          (double)divide_up(n->outputs, across_of(t)) * n->groups * (double)parts;
    const double depth = (double)divide_up(n->pixels, parts) + 32;
    const double items = ceil(groups / units) * items_of(t) / 128; /* work-groups of 128 at a time */
    const double alone = items <= 1 ? 1.6 : items <= 2 ? 1.2 : items <= 3 ? 1.1 : 1;
    const double moved = 2.0 * (double)parts * (double)rows_of(p) * n->outputs * n->groups * 4 / units;
    return ceil(groups / units) * down_of(t) * across_of(t) * depth / (128 * t->rate) * alone + moved / 16;
}

static const tile *choose(const qn_kernels *kernels, const qn__convolve_problem *p, uint64_t *parts) {
    const tile *best = NULL;
    double least = INFINITY;
    for (size_t i = 0; i < COUNT(tiles); i++) {
        const bool smallest = i + 1 == COUNT(tiles);
        if (kernels->info.max_local_size[0] < items_of(&tiles[i])) continue;
        if ((kernels->info.capabilities & QN_CAN_EMULATE) && !smallest) continue;
        for (uint64_t n = 1; n <= MAX_PARTS && (n == 1 || p->numbers.pixels / n >= MIN_PART);
             n += 1 + n / 16) {
            const double cost = cost_of(kernels, p, &tiles[i], n);
            if (cost >= least) continue;
            least = cost;
            best = &tiles[i];
            *parts = n;
        }
    }
    return best;
}

typedef struct options {
    char text[512];
} options;

static options options_of(const qn__convolve_problem *p, const tile *t) {
    const qn__element_info *e = qn__element(p->type);
    const qn__convolve_numbers *n = &p->numbers;
    options o;
    snprintf(o.text, sizeof o.text,
             "-D STORAGE=%s -D LOAD=%s -D STORE=%s -D VALUE=%s -D VALUE4=%s4 -D ROWS=%u -D COLUMNS=%u -D "
             "WM=%u -D WN=%u -D LM=%u "
             "-D LN=%u -D TM=%u -D TN=%u -D BK=%d -D OFFSET=%s -D FROM_CHANNELS_TOGETHER=%d -D "
             "GRADIENT_CHANNELS_TOGETHER=%d",
             e->storage, e->load, e->store, e->value, e->value, p->taps[0], p->taps[1], t->wm, t->wn, t->lm,
             t->ln, t->tm, t->tn, STEP, is_near(p) ? "int" : "long", llabs(n->from[1]) < llabs(n->from[3]),
             llabs(n->to[1]) < llabs(n->to[3]));
    return o;
}

static qn_status plan_tiles(qn_kernels *kernels, const qn__convolve_problem *p, const tile *t, uint64_t parts,
                            plan *out) {
    const qn__convolve_numbers *n = &p->numbers;
    const options o = options_of(p, t);
    const uint64_t pitch = divide_up(rows_of(p), 4) * 4,
                   part = divide_up(divide_up(n->pixels, parts), STEP) * STEP;
    if (part > UINT32_MAX)
        return qn__op_fail(kernels, QN_ERROR_ARGUMENT,
                           "qn_kernels_convolve_backward_weights: gradient has %llu pixels",
                           (unsigned long long)n->pixels);
    out->part = (uint32_t)part;
    out->parts = (uint32_t)divide_up(n->pixels, part);
    out->work = pitch * n->outputs * n->groups * out->parts * sum_size(p);
    out->range = (qn_range){
        .global = {divide_up(rows_of(p), down_of(t)) * divide_up(n->outputs, across_of(t)) * items_of(t),
                   out->parts, n->groups},
        .local = {items_of(t), 1, 1}};
    out->sum_range = (qn_range){.global = {rows_of(p), (uint64_t)n->outputs * n->groups, 1}};
    qn_status status =
        qn__variant_get(kernels, &(qn__variant){"convolve/weights.cl", "sum_parts", o.text}, &out->sum);
    return status ? status
                  : qn__variant_get(kernels, &(qn__variant){"convolve/weights.cl", "tiles", o.text},
                                    &out->kernel);
}

static qn_status make(qn_kernels *kernels, const void *request, void *made) {
    const qn__convolve_problem *p = request;
    const qn__convolve_numbers *n = &p->numbers;
    plan *out = made;
    uint64_t parts = 1;
    if (qn__convolve_is_quad(p->variant) || qn__convolve_is_unfolded(p->variant))
        return qn__op_fail(kernels, QN_ERROR_ARGUMENT,
                           "qn_kernels_convolve_backward_weights: variant '%s' cannot do this on %s",
                           qn_convolve_variant((uint32_t)p->variant), kernels->info.name);
    const tile *t = suits_tiles(kernels, p) ? choose(kernels, p, &parts) : NULL;
    if (t) return plan_tiles(kernels, p, t, parts, out);
    const options o = options_of(p, &tiles[COUNT(tiles) - 1]);
    if (suits_pairs(kernels, p)) {
        out->range =
            (qn_range){.global = {(uint64_t)n->channels * PAIR_ITEMS, (uint64_t)n->outputs * n->groups, 1},
                       .local = {PAIR_ITEMS, 1, 1}};
        return qn__variant_get(kernels, &(qn__variant){"convolve/weights_pairs.cl", NULL, o.text},
                               &out->kernel);
    }
    out->range =
        (qn_range){.global = {p->taps[1], p->taps[0], (uint64_t)n->channels * n->outputs * n->groups}};
    return qn__variant_get(kernels, &(qn__variant){"convolve/weights_direct.cl", NULL, o.text}, &out->kernel);
}

static const qn__op weights_op = {"qn_kernels_convolve_backward_weights", sizeof(plan), make};

static qn_status launch_tiles(qn_stream *stream, const qn__convolve_problem *p, const plan *plan,
                              qn_buffer *work) {
    qn__convolve_numbers n = p->numbers;
    n.part = plan->part;
    const qn_arg args[] = {QN_BYTES(n), qn_arg_buffer(p->from), qn_arg_buffer(p->to), qn_arg_buffer(work)},
                 sum_args[] = {QN_BYTES(n), qn_arg_buffer(p->weights), qn_arg_buffer(work),
                               qn_arg_unsigned(plan->parts)};
    const qn_status status = qn_launch(stream, plan->kernel, &plan->range, args, COUNT(args));
    return status ? status : qn_launch(stream, plan->sum, &plan->sum_range, sum_args, COUNT(sum_args));
}

static qn_status launch_direct(qn_stream *stream, const qn__convolve_problem *p, const plan *plan) {
    const qn__convolve_numbers n = p->numbers;
    const qn_arg args[] = {QN_BYTES(n), qn_arg_buffer(p->from), qn_arg_buffer(p->to),
                           qn_arg_buffer(p->weights)};
    return qn_launch(stream, plan->kernel, &plan->range, args, COUNT(args));
}

qn_status qn__convolve_weights_launch(qn_kernels *kernels, qn_stream *stream, const qn__convolve_problem *p) {
    if (qn__convolve_quads_fit(kernels, p)) return qn__convolve_quad_weights_launch(kernels, stream, p);
    if (qn__convolve_folds(kernels, p)) return qn__convolve_fold_launch(kernels, stream, p, true);
    if (qn__convolve_unfolds(kernels, p)) return qn__convolve_unfold_launch(kernels, stream, p);
    const qn__key key = qn__convolve_key(p);
    plan plan;
    qn_status status = qn__plan_get(kernels, &weights_op, &key, p, &plan);
    if (status || !plan.sum) return status ? status : launch_direct(stream, p, &plan);
    qn_buffer *work = NULL;
    const qn_buffer_desc parts = {
        .size = plan.work, .uninitialised = true, .label = "qn_kernels_convolve's parts"};
    status = qn_buffer_create(kernels->device, &parts, &work);
    if (!status) status = launch_tiles(stream, p, &plan, work);
    qn_buffer_destroy(work);
    return status;
}
