/* How a convolution is computed: in tiles (kernels/convolve/tile.cl, units.cl), of a size that suits the device and the shape; on a
   processor from padded images (packed.cl); or element by element where there is too little for either. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/convolve.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* Bands, lanes and sums of a work-item, as in matmul/tile.cl: down, across; of units (kernels/convolve/units.cl), whose lanes are
   sub-groups, the sums of such a one. `rate` is the share of the device's peak of multiply-adds that it reaches with enough of them,
   measured on an H200. */
typedef struct tile {
    const char *name;
    bool units;
    uint32_t wm, wn, lm, ln, tm, tn;
    double rate;
} tile;

static const tile tiles[] = {
    {"tile 128x128", false, 4, 1, 4, 8, 8, 16, 0.66}, {"tile 128x64", false, 2, 2, 8, 4, 8, 8, 0.70},
    {"tile 64x64", false, 2, 1, 4, 8, 8, 8, 0.66},    {"tile 32x32", false, 1, 1, 4, 8, 8, 4, 0.40},
    {"units 128x128", true, 2, 2, 1, 1, 64, 64, 3.7}, {"units 128x64", true, 2, 2, 1, 1, 64, 32, 2.25},
    {"units 64x64", true, 2, 2, 1, 1, 32, 32, 2.1},
};
enum { SMALLEST = 3, PACKED = COUNT(tiles), DIRECT, UNFOLDED, VARIANTS };

bool qn__convolve_is_tile(int variant) { return variant >= 0 && variant < PACKED; }

const char *qn_convolve_variant(uint32_t index) {
    return index < COUNT(tiles) ? tiles[index].name
           : index == PACKED    ? "packed"
           : index == DIRECT    ? "direct"
           : index == UNFOLDED  ? "unfolded"
                                : qn__convolve_quad_name(index - VARIANTS);
}

bool qn__convolve_is_unfolded(int variant) { return variant == UNFOLDED; }
int qn__convolve_first_quad(void) { return VARIANTS; }
bool qn__convolve_is_quad(int variant) { return variant >= VARIANTS; }

qn_status qn__convolve_find_variant(const qn_kernels *kernels, const char *function, const char *name,
                                    int *variant) {
    *variant = -1;
    if (!name) return QN_OK;
    for (int i = 0; qn_convolve_variant((uint32_t)i); i++)
        if (strcmp(qn_convolve_variant((uint32_t)i), name) == 0) {
            *variant = i;
            return QN_OK;
        }
    return qn__op_fail(kernels, QN_ERROR_ARGUMENT, "%s: there is no variant '%s' (see qn_convolve_variant)",
                       function, name);
}

/* A tile and its steps. */
typedef struct choice {
    const tile *tile;
    uint32_t step_channels, step_rows; /* without channels_together */
    bool channels_together;
    uint32_t parts;
} choice;

/* Of units: channels of a step, a run of 16 bytes, the side of a fragment. */
enum { UNITS_STEP = 32, UNITS_RUN = 8, UNITS_FRAGMENT = 16 };
enum { CHANNELS_STEP = 16, MIN_DEPTH = 16, MIN_OUTPUTS = 16, MAX_TAPS = 32, MAX_PARTS = 64 };

typedef struct plan {
    qn_kernel *kernel, *sum; /* `sum`: of the parts, or NULL */
    qn_range range, sum_range;
    uint32_t part;
    uint64_t work;         /* bytes */
    qn_kernel *pack, *pad; /* NULL: not packed */
    qn_range pack_range, pad_range;
} plan;

static uint64_t divide_up(uint64_t a, uint64_t b) { return a / b + (a % b != 0); }
static uint32_t items_of(const qn_kernels *kernels, const tile *t) {
    return t->wm * t->wn * (t->units ? kernels->info.sub_group_size : t->lm * t->ln);
}
static uint32_t down_of(const tile *t) { return t->wm * t->lm * t->tm; }
static uint32_t across_of(const tile *t) { return t->wn * t->ln * t->tn; }
static uint32_t sum_size(const qn__convolve_problem *p) { return p->type == QN_F64 ? 8 : 4; }
static bool has_vectors(qn_element type) { return type == QN_F32 || type == QN_F16 || type == QN_BF16; }

/* ---- what suits ---- */

/* Whether all that begins at these is at multiples of a run. */
static bool in_runs(int run, uint64_t begin, const int64_t *strides, int count, int64_t group) {
    bool good = begin % (uint64_t)run == 0 && group % run == 0;
    for (int i = 0; i < count; i++) good = good && strides[i] % run == 0;
    return good;
}

/* Whether a run of channels of a pixel can be loaded at once. */
static bool channels_together(const qn__convolve_problem *p, int run) {
    const qn__convolve_numbers *n = &p->numbers;
    const int64_t others[] = {n->from[0], n->from[2], n->from[3]};
    return n->channels >= 8 && n->channels % (uint32_t)run == 0 && n->from[1] == 1 && has_vectors(p->type) &&
           in_runs(run, n->from_begin, others, 3, n->groups > 1 ? n->from_group : 0);
}

static bool weights_together(const qn__convolve_problem *p, int run) {
    const qn__convolve_numbers *n = &p->numbers;
    const int64_t others[] = {n->weights[0], n->weights[2], n->weights[3]};
    return n->weights[1] == 1 &&
           in_runs(run, n->weights_begin, others, 3, n->groups > 1 ? n->weights_group : 0);
}

static bool weights_outputs_together(const qn__convolve_problem *p, int run) {
    const qn__convolve_numbers *n = &p->numbers;
    const int64_t others[] = {n->weights[1], n->weights[2], n->weights[3]};
    return n->weights[0] == 1 && n->outputs % (uint32_t)run == 0 &&
           in_runs(run, n->weights_begin, others, 3, n->groups > 1 ? n->weights_group : 0);
}

/* 1: a run of pixels, 2: one of outputs can be stored at once. */
static int to_along(const qn__convolve_problem *p, int run) {
    const qn__convolve_numbers *n = &p->numbers;
    const int64_t group = n->groups > 1 ? n->to_group : 0;
    const int64_t planes[] = {p->images > 1 ? n->to[0] : 0, n->to[1]},
                  pixels[] = {p->images > 1 ? n->to[0] : 0, n->to[2], n->to[3]};
    const bool packed = n->to[3] == 1 && (n->to_rows == 1 || n->to[2] == n->to_columns) &&
                        (uint64_t)n->to_rows * n->to_columns % (uint64_t)run == 0;
    if (!has_vectors(p->type)) return 0;
    if (packed && in_runs(run, n->to_begin, planes, 2, group)) return 1;
    return n->to[1] == 1 && n->outputs % (uint32_t)run == 0 && in_runs(run, n->to_begin, pixels, 3, group)
               ? 2
               : 0;
}

static void set_step(const qn__convolve_problem *p, choice *c) {
    const uint32_t taps = p->taps[0] * p->taps[1];
    c->step_rows = taps <= 12 ? p->taps[0] : 1;
    const uint32_t of_channel = c->step_rows * p->taps[1];
    c->step_channels = of_channel >= 8 ? 1 : (8 + of_channel / 2) / of_channel;
    c->channels_together = channels_together(p, 4);
}

static uint32_t depth_of_step(const qn__convolve_problem *p, const choice *c) {
    if (c->tile->units) return UNITS_STEP;
    return c->channels_together ? CHANNELS_STEP : c->step_channels * c->step_rows * p->taps[1];
}

/* The device's matrix units do the product; elsewhere it is plain arithmetic, which tiles do better. */
static bool has_units(const qn_kernels *kernels, qn_element type) {
    const qn_type wanted = type == QN_F16 ? QN_TYPE_F16 : QN_TYPE_BF16;
    qn_matrix_shape s;
    for (uint32_t i = 0; i < kernels->info.matrix_shapes; i++)
        if (qn_device_get_matrix_shape(kernels->device, i, &s) == QN_OK && s.a == wanted && s.b == wanted &&
            s.sum == QN_TYPE_F32 && UNITS_FRAGMENT % s.rows == 0 && UNITS_FRAGMENT % s.columns == 0 &&
            UNITS_FRAGMENT % s.k == 0)
            return true;
    return false;
}

/* Runs of a line of the tiles are loaded by whole work-groups. */
static bool fits_units(const qn_kernels *kernels, const qn__convolve_problem *p, const tile *t,
                       uint32_t parts) {
    const uint32_t items = items_of(kernels, t), runs = UNITS_STEP / UNITS_RUN;
    if (p->type != QN_F16 && p->type != QN_BF16) return false;
    if (!(kernels->info.capabilities & QN_CAN_SUB_GROUPS) || items == 0 || down_of(t) * runs % items)
        return false;
    return channels_together(p, UNITS_RUN) && (parts == 1 || to_along(p, 4) == 2) &&
           (p->variant >= 0 || has_units(kernels, p->type));
}

static bool fits(const qn_kernels *kernels, const qn__convolve_problem *p, const choice *c) {
    const tile *t = c->tile;
    const uint64_t pitch = t->units ? (UNITS_STEP + UNITS_RUN) * 2u : depth_of_step(p, c) * sum_size(p);
    const uint64_t local = 2 * pitch * (down_of(t) + across_of(t) + 8);
    if (kernels->info.max_local_size[0] < items_of(kernels, t) || local > kernels->info.local_memory)
        return false;
    if (t->units) return fits_units(kernels, p, t, c->parts);
    return p->type != QN_F64 || across_of(t) <= 64; /* registers */
}

static bool can_tile(const qn__convolve_problem *p) {
    const qn__convolve_numbers *n = &p->numbers;
    return p->taps[0] <= MAX_TAPS && p->taps[1] <= MAX_TAPS && n->channels > 0 &&
           (uint64_t)n->to_rows * n->to_columns <= INT32_MAX;
}

static bool suits_tiles(const qn_kernels *kernels, const qn__convolve_problem *p) {
    const qn__convolve_numbers *n = &p->numbers;
    if (p->variant >= 0) return qn__convolve_is_tile(p->variant);
    return !qn__is_processor(kernels) && n->outputs >= MIN_OUTPUTS &&
           (uint64_t)n->channels * p->taps[0] * p->taps[1] >= MIN_DEPTH;
}

/* ---- what it costs ---- */

/* In clocks of a compute unit of 128 lanes. Work-groups share it: with few of them there is nothing to do while they wait. Parts are
   written and read again, and are another launch. */
static double cost_of(const qn_kernels *kernels, const qn__convolve_problem *p, const tile *t,
                      uint32_t parts) {
    const qn__convolve_numbers *n = &p->numbers;
    const double units = kernels->info.compute_units ? kernels->info.compute_units : 1;
    const double groups = (double)divide_up(n->pixels, down_of(t)) *
                          (double)divide_up(n->outputs, across_of(t)) * n->groups * parts;
    const uint64_t step = t->units ? UNITS_STEP : 1,
                   channels = divide_up(divide_up(n->channels, parts), step) * step;
    const double depth = (double)channels * p->taps[0] * p->taps[1] + (t->units ? 128 : 16);
    const double of_group = (double)down_of(t) * across_of(t) * depth / (128 * t->rate);
    const double sums = ceil(groups / units) * items_of(kernels, t) / 128; /* work-groups of 128 at a time */
    const double alone = sums <= 1 ? 1.6 : sums <= 2 ? 1.2 : sums <= 3 ? 1.1 : 1;
    const double moved = (2.0 * parts + 1) * (double)n->pixels * n->outputs * n->groups * 4 / units;
    return ceil(groups / units) * of_group * alone + (parts > 1 ? moved / 16 + 6000 : 0);
}

static bool choose(const qn_kernels *kernels, const qn__convolve_problem *p, choice *best) {
    double least = INFINITY;
    choice c = {.parts = 1};
    set_step(p, &c);
    /* A driver that emulates a device spends more on large tiles than they give. */
    const int only = p->variant >= 0                               ? p->variant
                     : kernels->info.capabilities & QN_CAN_EMULATE ? SMALLEST
                                                                   : -1;
    for (int i = 0; i < (int)COUNT(tiles); i++) {
        if (only >= 0 && i != only) continue;
        for (uint32_t parts = 1; parts <= MAX_PARTS && (parts == 1 || p->numbers.channels / parts >= 8);
             parts *= 2) {
            c.tile = &tiles[i];
            c.parts = parts;
            const double cost = cost_of(kernels, p, c.tile, parts);
            if (cost >= least || !fits(kernels, p, &c)) continue;
            least = cost;
            *best = c;
        }
    }
    return least < INFINITY;
}

/* ---- the plan ---- */

typedef struct options {
    char text[1024];
    size_t size;
} options;

static void add(options *o, const char *format, ...) {
    va_list args;
    va_start(args, format);
    const int n = vsnprintf(o->text + o->size, sizeof o->text - o->size, format, args);
    va_end(args);
    o->size += n > 0 ? (size_t)n : 0;
    if (o->size >= sizeof o->text) o->size = sizeof o->text - 1;
}

static options common_options(const qn__convolve_problem *p) {
    const qn__element_info *e = qn__element(p->type);
    options o = {.size = 0};
    add(&o, "-D STORAGE=%s -D LOAD=%s -D STORE=%s -D VALUE=%s -D ROWS=%u -D COLUMNS=%u%s", e->storage,
        e->load, e->store, e->value, p->taps[0], p->taps[1], p->bias ? " -D BIAS" : "");
    return o;
}

static uint64_t pitch_of(const qn__convolve_problem *p) { return divide_up(p->numbers.pixels, 4) * 4; }

/* What counts pixels and sums. */
static const char *index_of(const qn__convolve_problem *p) {
    return (double)pitch_of(p) * p->numbers.outputs * p->numbers.groups < UINT32_MAX - 1024 ? "uint"
                                                                                            : "ulong";
}

static void add_tile_options(options *o, const qn__convolve_problem *p) {
    const qn__element_info *e = qn__element(p->type);
    add(o, " -D VALUE4=%s4 -D LOAD4=%s4 -D STORE4=%s4 -D INDEX=%s -D TO_ALONG=%d", e->value, e->load,
        e->store, index_of(p), to_along(p, 4));
}

static void add_choice(options *o, const qn__convolve_problem *p, const choice *c) {
    const tile *t = c->tile;
    add(o, " -D WM=%u -D WN=%u -D LM=%u -D LN=%u -D TM=%u -D TN=%u -D CHANNELS_TOGETHER=%d%s", t->wm, t->wn,
        t->lm, t->ln, t->tm, t->tn, c->channels_together, c->parts > 1 ? " -D SPLIT" : "");
    if (c->channels_together)
        add(o, " -D STEP=%d -D WEIGHTS_TOGETHER=%d", CHANNELS_STEP, weights_together(p, 4));
    else
        add(o, " -D STEP_CHANNELS=%u -D STEP_ROWS=%u -D NEXT=%s", c->step_channels, c->step_rows,
            p->numbers.from[3] * p->numbers.dilation[1] == 1 ? "1" : "(h.dilation[1]*h.from[3])");
}

static options units_options(const qn_kernels *kernels, const qn__convolve_problem *p, const choice *c) {
    const tile *t = c->tile;
    const int together = weights_together(p, UNITS_RUN) ? 1 : weights_outputs_together(p, UNITS_RUN) ? 2 : 0;
    options o = common_options(p);
    add(&o,
        " -D UNIT=%s -D INDEX=%s -D TO_ALONG=%d -D WM=%u -D WN=%u -D SM=%u -D SN=%u -D ITEMS=%u -D "
        "WEIGHTS_TOGETHER=%d%s",
        qn__element(p->type)->storage, index_of(p), to_along(p, UNITS_RUN) == 2 ? 2 : 0, t->wm, t->wn, t->tm,
        t->tn, items_of(kernels, t), together, c->parts > 1 ? " -D SPLIT" : "");
    return o;
}

static qn_status plan_tiles(qn_kernels *kernels, const qn__convolve_problem *p, choice *c, plan *out) {
    const qn__convolve_numbers *n = &p->numbers;
    const uint64_t down = divide_up(n->pixels, down_of(c->tile)),
                   across = divide_up(n->outputs, across_of(c->tile));
    options o = common_options(p);
    add_tile_options(&o, p);
    out->part = (uint32_t)divide_up(divide_up(n->channels, c->parts), UNITS_RUN) * UNITS_RUN; /* whole runs */
    c->parts = (uint32_t)divide_up(n->channels, out->part);
    out->range = (qn_range){.global = {down * across * items_of(kernels, c->tile), c->parts, n->groups},
                            .local = {items_of(kernels, c->tile), 1, 1}};
    if (c->parts > 1) {
        const uint64_t sums = pitch_of(p) * n->outputs * n->groups;
        out->work = sums * c->parts * sum_size(p);
        out->sum_range = (qn_range){
            .global = {(to_along(p, 4) == 2 ? n->pixels * n->outputs * n->groups : sums) / 4, 1, 1}};
        const qn_status status =
            qn__variant_get(kernels, &(qn__variant){"convolve/parts.cl", NULL, o.text}, &out->sum);
        if (status) return status;
    }
    add_choice(&o, p, c);
    const options of_units = units_options(kernels, p, c);
    const qn__variant tile = {"convolve/tile.cl", NULL, o.text},
                      units = {"convolve/units.cl", NULL, of_units.text};
    return qn__variant_get(kernels, c->tile->units ? &units : &tile, &out->kernel);
}

/* Outputs that a work-item computes: what it loads of the images serves all of them. */
static uint32_t outputs_together(const qn__convolve_problem *p) {
    const uint32_t outputs = p->numbers.outputs;
    return outputs >= 4 && outputs % 4 != 1 ? 4 : outputs == 3 || outputs == 2 ? outputs : 1;
}

static qn_status plan_direct(qn_kernels *kernels, const qn__convolve_problem *p, plan *out) {
    const qn__convolve_numbers *n = &p->numbers;
    const int64_t most = (int64_t)1 << 29; /* so that places of taps are far from the limits of an int */
    const bool near =
        n->rows < most && n->columns < most && llabs(n->padding[0]) < most && llabs(n->padding[1]) < most;
    const uint32_t together = outputs_together(p);
    /* work-items beside each other compute what lies together */
    const bool pixels_first = qn__is_processor(kernels) || llabs(n->to[3]) <= llabs(n->to[1]);
    const uint64_t runs = n->groups * divide_up(n->outputs, together);
    options o = common_options(p);
    add(&o, " -D OUTPUTS=%u -D PLACE=%s -D PIXELS_FIRST=%d", together, near ? "int" : "long", pixels_first);
    out->range =
        (qn_range){.global = {pixels_first ? n->to_columns : runs, pixels_first ? n->to_rows : n->to_columns,
                              p->images * (pixels_first ? runs : n->to_rows)}};
    return qn__variant_get(kernels, &(qn__variant){"convolve/direct.cl", NULL, o.text}, &out->kernel);
}

static qn_status plan_packed(qn_kernels *kernels, const qn__convolve_problem *p, plan *out) {
    options o = common_options(p);
    qn__convolve_packed packed;
    qn__convolve_packed_plan(kernels, p, &packed);
    qn__convolve_packed_options(kernels, p, o.text + o.size, sizeof o.text - o.size);
    out->range = packed.multiply;
    out->pack_range = packed.pack;
    out->pad_range = packed.pad;
    out->work = packed.work;
    qn__variant v = {"convolve/packed.cl", "pack", o.text};
    qn_status status = qn__variant_get(kernels, &v, &out->pack);
    v.kernel = "pad";
    if (!status) status = qn__variant_get(kernels, &v, &out->pad);
    v.kernel = "matmul";
    return status ? status : qn__variant_get(kernels, &v, &out->kernel);
}

static qn_status make(qn_kernels *kernels, const void *request, void *made) {
    const qn__convolve_problem *p = request;
    const qn__convolve_numbers *n = &p->numbers;
    plan *out = made;
    choice c = {.parts = 1};
    out->part = n->channels;
    if (can_tile(p) && suits_tiles(kernels, p) && choose(kernels, p, &c))
        return plan_tiles(kernels, p, &c, out);
    if (qn__convolve_is_tile(p->variant) || qn__convolve_is_quad(p->variant) ||
        qn__convolve_is_unfolded(p->variant))
        return qn__op_fail(kernels, QN_ERROR_ARGUMENT,
                           "qn_kernels_convolve: variant '%s' cannot do this on %s",
                           qn_convolve_variant((uint32_t)p->variant), kernels->info.name);
    if (qn__convolve_packed_fits(p) &&
        (p->variant == PACKED || (p->variant < 0 && qn__convolve_packed_pays(kernels, p))))
        return plan_packed(kernels, p, out);
    return plan_direct(kernels, p, out);
}

static const qn__op convolve_op = {"qn_kernels_convolve", sizeof(plan), make};

qn__key qn__convolve_key(const qn__convolve_problem *p) {
    enum { WORDS = sizeof(qn__convolve_numbers) / sizeof(uint64_t) };
    uint64_t words[WORDS];
    qn__convolve_numbers n = p->numbers;
    n.from_begin %= UNITS_RUN;
    n.weights_begin %= UNITS_RUN;
    n.to_begin %= UNITS_RUN;
    n.bias_begin = p->bias != NULL;
    memcpy(words, &n, sizeof words);
    qn__key key = {.count = 0};
    for (int i = 0; i < WORDS; i++) qn__key_add(&key, words[i]);
    qn__key_add(&key, (uint64_t)p->taps[0] << 32 | p->taps[1]);
    qn__key_add(&key, (uint64_t)p->type << 32 | (uint32_t)p->variant);
    return key;
}

/* For what is not there, and which the kernel does not touch, `to` stands in. */
static qn_arg buffer_arg(const qn__convolve_problem *p, qn_buffer *buffer) {
    return qn_arg_buffer(buffer ? buffer : p->to);
}

static qn_status launch(qn_stream *stream, const qn__convolve_problem *p, const plan *plan, qn_buffer *work) {
    qn__convolve_numbers n = p->numbers;
    n.part = plan->part;
    const qn_arg args[] = {
        QN_BYTES(n),          qn_arg_buffer(p->from), qn_arg_buffer(p->weights), buffer_arg(p, p->bias),
        qn_arg_buffer(p->to), buffer_arg(p, work)};
    const bool tiles = plan->range.local[0] > 0;
    return qn_launch(stream, plan->kernel, &plan->range, args,
                     COUNT(args) - !tiles); /* no `work` otherwise */
}

static qn_status launch_packed(qn_stream *stream, const qn__convolve_problem *p, const plan *plan,
                               qn_buffer *work) {
    const qn__convolve_numbers n = p->numbers;
    const qn_arg pack[] = {QN_BYTES(n), qn_arg_buffer(p->weights), qn_arg_buffer(work)},
                 pad[] = {QN_BYTES(n), qn_arg_buffer(p->from), qn_arg_buffer(work)},
                 multiply[] = {QN_BYTES(n), buffer_arg(p, p->bias), qn_arg_buffer(p->to),
                               qn_arg_buffer(work)};
    qn_status status = qn_launch(stream, plan->pack, &plan->pack_range, pack, COUNT(pack));
    if (!status) status = qn_launch(stream, plan->pad, &plan->pad_range, pad, COUNT(pad));
    return status ? status : qn_launch(stream, plan->kernel, &plan->range, multiply, COUNT(multiply));
}

static qn_status add_parts(qn_stream *stream, const qn__convolve_problem *p, const plan *plan,
                           qn_buffer *work) {
    qn__convolve_numbers n = p->numbers;
    n.part = plan->part;
    const qn_arg args[] = {QN_BYTES(n), buffer_arg(p, p->bias), qn_arg_buffer(p->to), qn_arg_buffer(work)};
    return qn_launch(stream, plan->sum, &plan->sum_range, args, COUNT(args));
}

qn_status qn__convolve_launch(qn_kernels *kernels, qn_stream *stream, const qn__convolve_problem *p) {
    if (qn__convolve_quads_fit(kernels, p)) return qn__convolve_quad_launch(kernels, stream, p, 1);
    if (qn__convolve_folds(kernels, p)) return qn__convolve_fold_launch(kernels, stream, p, false);
    const qn__key key = qn__convolve_key(p);
    plan plan;
    qn_status status = qn__plan_get(kernels, &convolve_op, &key, p, &plan);
    if (status) return status;
    qn_buffer *work = NULL;
    const qn_buffer_desc parts = {.size = plan.work,
                                  .uninitialised = true,
                                  .pool = kernels->pool,
                                  .label = "qn_kernels_convolve's work"};
    if (plan.work) status = qn_buffer_create(kernels->device, &parts, &work);
    if (!status) status = plan.pack ? launch_packed(stream, p, &plan, work) : launch(stream, p, &plan, work);
    if (!status && plan.sum) status = add_parts(stream, p, &plan, work);
    qn_buffer_destroy(work);
    return status;
}
