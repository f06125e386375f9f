/* Convolutions and their gradients by quads of sub-groups (kernels/convolve/quad.cl, quad_weights.cl), whose tiles the device copies by
   maps of images. Operands that no map takes, for their strides, are first copied: images to NHWC, weights to outputs, taps, channels. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/convolve.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* Quads down and across, columns of each, work-groups that a compute unit is to hold, registers of a work-item that multiplies (0: the
   compiler shares them out), work-groups of a cluster, which share columns. Several across, or in a cluster, are for gradients by weights. */
typedef struct quad {
    const char *name;
    uint32_t down, across, columns, resident, registers, cluster;
} quad;

static const quad quads[] = {
    {"quad 64x64", 1, 1, 64, 3, 0, 1},          {"quad 128x64", 2, 1, 64, 2, 0, 1},
    {"quad 256x64", 4, 1, 64, 1, 0, 1},         {"quad 64x128", 1, 1, 128, 2, 0, 1},
    {"quad 128x128", 2, 1, 128, 1, 0, 1},       {"quad 192x128", 3, 1, 128, 1, 0, 1},
    {"quad 256x128", 4, 1, 128, 1, 0, 1},       {"quad 64x192", 1, 1, 192, 1, 0, 1},
    {"quad 128x192", 2, 1, 192, 1, 0, 1},       {"quad 192x192", 3, 1, 192, 1, 0, 1},
    {"quad 64x256", 1, 1, 256, 1, 0, 1},        {"quad 128x256", 2, 1, 256, 1, 232, 1},
    {"quad 64x384", 1, 2, 192, 1, 0, 1},        {"quad 64x192 two", 1, 1, 192, 1, 0, 2},
    {"quad 128x128 two", 2, 1, 128, 1, 0, 2},   {"quad 128x192 two", 2, 1, 192, 1, 0, 2},
    {"quad 128x256 two", 2, 1, 256, 1, 232, 2}, {"quad 128x192 four", 2, 1, 192, 1, 0, 4},
};

enum { ELEMENT = 2, BLOCK = 64, ROW_BYTES = 128, BLOCK_BYTES = 8192, ITEMS = 128, MOST_STAGES = 8 };
enum { MIN_CHANNELS = 16, MIN_OUTPUTS = 16, MOST_PARTS = 256, MOST_OFFSET = 255, MOST_STEP = 8, FAR = 128 };

/* As kernels/convolve/quad.h has it. */
typedef struct window {
    uint32_t pixels, rows, columns, channels, outputs;
    int32_t first[2], stride[2], dilation[2];
    uint32_t tap_rows, tap_columns;
    int32_t tap_first, tap_row, tap_column;
    uint32_t part, parts;
    uint64_t bias_begin;
    int64_t bias;
} window;

/* As kernels/convolve/quad_weights.cl has it. */
typedef struct places {
    uint64_t begin;
    int64_t output, channel, row, column;
} places;

/* Operands that are copied, or that results are copied to. */
enum { FROM = 1, WEIGHTS = 2, TO = 4 };

typedef struct plan {
    qn_kernel *kernel, *sum; /* `sum`: NULL where one part has it all and stores it */
    qn_range range, sum_range;
    window windows[QN__CONVOLVE_PHASES];
    uint32_t down, columns; /* of a tile */
    unsigned copied;
    bool from_plain, to_plain;
    uint64_t work; /* bytes */
} plan;

const char *qn__convolve_quad_name(uint32_t index) { return index < COUNT(quads) ? quads[index].name : NULL; }

static uint64_t divide_up(uint64_t a, uint64_t b) { return a / b + (a % b != 0); }
static uint32_t quads_of(const quad *q) { return q->down * q->across; }
static uint32_t rows_of(const quad *q) { return q->down * BLOCK * q->cluster; }
static uint32_t wide(const quad *q) { return q->columns * q->across; }

/* ---- operands ---- */

/* Images as a map takes them: channels together, everything else at multiples of 16 bytes. */
static bool image_fits(const int64_t strides[4], const uint64_t sizes[4], uint64_t begin) {
    const int64_t unit = 16 / ELEMENT, most = (int64_t)1 << 38;
    bool good = begin % (uint64_t)unit == 0 && (strides[1] == 1 || sizes[1] == 1);
    for (int i = 0; i < 4; i++)
        good = good &&
               (i == 1 || sizes[i] == 1 || (strides[i] > 0 && strides[i] % unit == 0 && strides[i] < most));
    return good;
}

/* The images' sizes in the order of their strides. */
static void from_sizes(const qn__convolve_problem *p, uint64_t out[4]) {
    const qn__convolve_numbers *n = &p->numbers;
    const uint64_t sizes[4] = {p->images, n->channels, (uint64_t)n->rows, (uint64_t)n->columns};
    memcpy(out, sizes, sizeof sizes);
}
static void to_sizes(const qn__convolve_problem *p, uint64_t out[4]) {
    const qn__convolve_numbers *n = &p->numbers;
    const uint64_t sizes[4] = {p->images, n->outputs, n->to_rows, n->to_columns};
    memcpy(out, sizes, sizeof sizes);
}

/* Weights as a map takes them: rows of channels, or of outputs, a tap's after the other's. Taps may go backwards. */
typedef struct taps {
    bool fits, by_outputs;
    uint64_t begin, count;
    int64_t unit, other;
} taps;

static int64_t common_divisor(int64_t a, int64_t b) { return b ? common_divisor(b, a % b) : a; }

/* Strides of the taps that there are several of. */
static void steps_of_taps(const qn__convolve_problem *p, int64_t steps[2]) {
    for (int i = 0; i < 2; i++) steps[i] = p->taps[i] > 1 ? p->numbers.weights[2 + i] : 0;
}

/* Of all of them: the map has the taps of each. */
static taps taps_of(const qn__convolve_problem *p, uint32_t count) {
    const qn__convolve_numbers *n = &p[0].numbers;
    const int64_t unit = 16 / ELEMENT;
    int64_t lowest = 0, highest = 0, step = 0; /* from the first one's first tap on */
    for (uint32_t i = 0; i < count; i++) {
        const int64_t begin = (int64_t)(p[i].numbers.weights_begin - n->weights_begin);
        int64_t steps[2], least = begin, most = begin;
        steps_of_taps(&p[i], steps);
        for (int d = 0; d < 2; d++) {
            const int64_t last = (int64_t)(p[i].taps[d] - 1) * steps[d];
            if (last < 0) least += last;
            if (last > 0) most += last;
            step = common_divisor(step, llabs(steps[d]));
        }
        step = common_divisor(step, llabs(begin));
        if (least < lowest) lowest = least;
        if (most > highest) highest = most;
    }
    taps t = {.by_outputs = n->weights[1] != 1,
              .begin = n->weights_begin - (uint64_t)-lowest,
              .unit = step ? step : unit};
    t.count = (uint64_t)((highest - lowest) / t.unit) + 1;
    t.other = t.by_outputs ? n->weights[1] : n->weights[0];
    const int64_t together = t.by_outputs ? n->weights[0] : n->weights[1];
    t.fits = together == 1 && t.unit % unit == 0 && t.other > 0 && t.other % unit == 0 &&
             t.begin % (uint64_t)unit == 0 && t.count < INT32_MAX;
    return t;
}

/* Strides of NHWC, with channels up to whole runs of 16 bytes. */
static void pack_strides(const uint64_t sizes[4], int64_t strides[4]) {
    strides[1] = 1;
    strides[3] = (int64_t)(divide_up(sizes[1], 16 / ELEMENT) * (16 / ELEMENT));
    strides[2] = strides[3] * (int64_t)sizes[3];
    strides[0] = strides[2] * (int64_t)sizes[2];
}

/* Whether pixels follow each other, through rows and images. */
static bool is_dense(const int64_t strides[4], const uint64_t sizes[4]) {
    return (sizes[2] == 1 || strides[2] == strides[3] * (int64_t)sizes[3]) &&
           (sizes[0] == 1 || strides[0] == strides[3] * (int64_t)(sizes[2] * sizes[3]));
}

/* Whether the window's positions are the images' pixels, in their order. */
static bool from_is_plain(const qn__convolve_problem *p) {
    const qn__convolve_numbers *n = &p->numbers;
    uint64_t sizes[4];
    from_sizes(p, sizes);
    const bool one = p->taps[0] == 1 && p->taps[1] == 1;
    const bool all = n->to_rows == (uint32_t)n->rows && n->to_columns == (uint32_t)n->columns;
    return one && all && n->padding[0] == 0 && n->padding[1] == 0 && is_dense(n->from, sizes);
}
static bool to_is_plain(const qn__convolve_problem *p) {
    uint64_t sizes[4];
    to_sizes(p, sizes);
    return is_dense(p->numbers.to, sizes);
}

static bool window_reaches(const qn__convolve_problem *p) {
    const qn__convolve_numbers *n = &p->numbers;
    const int64_t sizes[2] = {n->rows, n->columns}, positions[2] = {n->to_rows, n->to_columns};
    bool good = true;
    for (int i = 0; i < 2; i++) {
        const int64_t first = -n->padding[i],
                      last = first + (positions[i] - 1) * n->stride[i] - (sizes[i] - 1);
        good = good && first >= -FAR && first < FAR && last >= -FAR && last < FAR &&
               n->stride[i] <= MOST_STEP && (int64_t)(p->taps[i] - 1) * n->dilation[i] <= MOST_OFFSET;
    }
    return good;
}

bool qn__convolve_quads_fit(const qn_kernels *kernels, const qn__convolve_problem *p) {
    const qn__convolve_numbers *n = &p->numbers;
    if (!(kernels->info.capabilities & QN_CAN_COPY_TILES) || n->groups != 1) return false;
    if (p->type != QN_F16 && p->type != QN_BF16) return false;
    if (p->variant >= 0 && !qn__convolve_is_quad(p->variant)) return false;
    const uint64_t most = INT32_MAX / 2;
    return n->channels >= MIN_CHANNELS && n->outputs >= MIN_OUTPUTS && n->pixels <= most &&
           n->outputs <= most && n->channels <= most && p->taps[0] > 0 && p->taps[1] > 0 && n->rows > 0 &&
           n->columns > 0 && (uint64_t)p->taps[0] * p->taps[1] * n->channels <= most && window_reaches(p);
}

/* ---- what it costs ---- */

/* One use of the kernels: tiles of `down` x `across`, summed over steps of 64. */
typedef struct product {
    uint64_t rows, columns, steps;
    bool rows_windowed, columns_windowed; /* copied by a window's map, which takes longer */
    bool by_weights, whole;               /* not in parts */
} product;

/* In clocks, and bytes a clock of one compute unit, as src/kernels/matmul_quad.c has them from measurements. */
static const struct {
    double launch, tile, stored, row, window_row, units, work;
} clocks = {5560, 1900, 30, 2.06, 4.3, 1.05, 17.3};

static double cost_of(const qn_kernels *kernels, const product *w, const quad *q, uint64_t parts) {
    const double units = kernels->info.compute_units ? kernels->info.compute_units : 1;
    const double tiles =
        (double)(divide_up(w->rows, rows_of(q)) * q->cluster) * (double)divide_up(w->columns, wide(q));
    const double multiply = 2.0 * quads_of(q) * q->columns * clocks.units,
                 copy = q->down * BLOCK * (w->rows_windowed ? clocks.window_row : clocks.row) +
                        wide(q) * (w->columns_windowed ? clocks.window_row : clocks.row) / q->cluster;
    const double step = multiply > copy ? multiply : copy, steps = (double)divide_up(w->steps, parts);
    const bool added = parts > 1;
    const double stored = (double)q->down * BLOCK * wide(q) * (added ? 2 * ELEMENT : ELEMENT) / clocks.stored;
    const double waves = ceil(tiles * (double)parts / (units * q->resident)) * q->resident;
    const double of_tile = steps * step + (clocks.tile + stored) / q->resident;
    const double moved = (double)parts * (double)w->rows * (double)w->columns * 4 * 2;
    return waves * of_tile + (added ? clocks.launch + moved / (clocks.work * units) : 0);
}

static uint32_t stages_of(const qn_kernels *kernels, const quad *q, bool stores) {
    const uint64_t reserved = 1024; /* of each group, and for barriers */
    const uint64_t all = (kernels->info.local_memory + reserved) / q->resident,
                   used = 2 * reserved + (stores ? 2ull * BLOCK_BYTES * quads_of(q) : 0),
                   stage = (uint64_t)ROW_BYTES * (q->down * BLOCK + wide(q));
    const uint64_t stages = all > used ? (all - used) / stage : 0;
    return stages < MOST_STAGES ? (uint32_t)stages : MOST_STAGES;
}

static const quad *choose(const qn_kernels *kernels, const product *w, int variant, uint64_t *parts) {
    const quad *best = NULL;
    double least = INFINITY;
    for (int i = 0; i < (int)COUNT(quads); i++) {
        const quad *q = &quads[i];
        if (variant >= 0 && variant != i) continue;
        if ((!w->by_weights && q->across * q->cluster > 1) || stages_of(kernels, q, !w->by_weights) < 2)
            continue;
        for (uint64_t n = 1; n <= (w->whole ? 1 : MOST_PARTS) && n <= w->steps; n++) {
            const double cost = cost_of(kernels, w, q, n);
            if (cost >= least) continue;
            least = cost;
            best = q;
            *parts = n;
        }
    }
    return best;
}

/* ---- the plan ---- */

typedef struct options {
    char text[512];
} options;

static options options_of(const qn__convolve_problem *p, const quad *q, uint32_t stages, const char *more) {
    const bool half = p->type == QN_F16;
    options o;
    char registers[32] = "";
    if (q->registers) snprintf(registers, sizeof registers, " -D REGISTERS=%u", q->registers);
    snprintf(
        o.text, sizeof o.text,
        "-D Q=%s -D PACK=convert_%s -D DOWN=%u -D ACROSS=%u -D CLUSTER=%u -D COLUMNS=%u -D STAGES=%u%s%s",
        half ? "half" : "qn_bf16", half ? "half2" : "qn_bf16x2", q->down, q->across, q->cluster, q->columns,
        stages, registers, more);
    return o;
}

static window window_of(const qn__convolve_problem *p) {
    const qn__convolve_numbers *n = &p->numbers;
    window w = {.pixels = (uint32_t)n->pixels,
                .rows = n->to_rows,
                .columns = n->to_columns,
                .channels = n->channels,
                .outputs = n->outputs,
                .tap_rows = p->taps[0],
                .tap_columns = p->taps[1],
                .part = UINT32_MAX,
                .parts = 1,
                .bias = n->bias};
    for (int i = 0; i < 2; i++) {
        w.first[i] = (int32_t)-n->padding[i];
        w.stride[i] = n->stride[i];
        w.dilation[i] = n->dilation[i];
    }
    return w;
}

static void share_out(const qn_kernels *kernels, const product *w, const quad *q, uint64_t parts, plan *out) {
    const uint64_t part = divide_up(w->steps, parts), items = ITEMS * (1 + quads_of(q));
    const uint32_t shares = (uint32_t)divide_up(w->steps, part);
    if (shares > 1) {
        out->windows[0].part = (uint32_t)part;
        out->windows[0].parts = shares;
    }
    out->down = q->down;
    out->columns = q->columns;
    const uint64_t tiles = divide_up(w->rows, rows_of(q)) * divide_up(w->columns, wide(q)) * shares,
                   units = kernels->info.compute_units, there = units * q->resident / q->cluster;
    out->range = (qn_range){.global = {(tiles < there || !there ? tiles : there) * q->cluster * items},
                            .local = {items}};
    if (shares > 1) out->work = 4 * w->rows * w->columns * shares;
}

static int variant_of(const qn__convolve_problem *p) {
    return p->variant < 0 ? -1 : p->variant - qn__convolve_first_quad();
}

static qn_status refuse(const qn_kernels *kernels, const qn__convolve_problem *p) {
    return qn__op_fail(kernels, QN_ERROR_ARGUMENT, "qn_kernels_convolve: variant '%s' cannot do this on %s",
                       qn_convolve_variant((uint32_t)p->variant), kernels->info.name);
}

static unsigned copied_of(const qn__convolve_problem *p, bool weights) {
    uint64_t from[4], to[4];
    from_sizes(p, from);
    to_sizes(p, to);
    return (image_fits(p->numbers.from, from, p->numbers.from_begin) ? 0 : FROM) |
           (image_fits(p->numbers.to, to, p->numbers.to_begin) ? 0 : TO) |
           (weights && !taps_of(p, 1).fits ? WEIGHTS : 0);
}

/* Copies are dense. */
static bool from_is_plain_then(const qn__convolve_problem *p, unsigned copied) {
    qn__convolve_problem packed = *p;
    uint64_t sizes[4];
    from_sizes(p, sizes);
    if (copied & FROM) pack_strides(sizes, packed.numbers.from);
    return from_is_plain(&packed);
}

/* What `make` gets: windows that are computed together. */
typedef struct request {
    const qn__convolve_problem *problems;
    uint32_t count;
} request;

/* Of all windows: their positions, and the steps of one on average. */
static product product_of(const request *r) {
    const qn__convolve_numbers *n = &r->problems[0].numbers;
    product w = {.columns = n->outputs, .whole = r->count > 1};
    double steps = 0;
    for (uint32_t i = 0; i < r->count; i++) {
        const qn__convolve_problem *p = &r->problems[i];
        w.rows += p->numbers.pixels;
        steps += (double)p->numbers.pixels * p->taps[0] * p->taps[1] * (double)divide_up(n->channels, BLOCK);
    }
    w.steps = (uint64_t)ceil(steps / (double)w.rows);
    return w;
}

static qn_status make_images(qn_kernels *kernels, const void *given, void *made) {
    const request *r = given;
    const qn__convolve_problem *p = &r->problems[0];
    plan *out = made;
    out->copied = copied_of(p, true);
    out->from_plain = r->count == 1 && from_is_plain_then(p, out->copied);
    product w = product_of(r);
    w.rows_windowed = !out->from_plain;
    uint64_t parts = 1;
    const quad *q = choose(kernels, &w, variant_of(p), &parts);
    if (!q) return refuse(kernels, p);
    for (uint32_t i = 0; i < r->count; i++) out->windows[i] = window_of(&r->problems[i]);
    share_out(kernels, &w, q, parts, out);
    const taps t = taps_of(p, r->count);
    char more[128];
    snprintf(more, sizeof more, " -D PHASES=%u%s%s%s%s", r->count,
             t.by_outputs && t.fits ? " -D WEIGHTS_BY_OUTPUTS" : "", p->bias ? " -D BIAS" : "",
             out->work ? " -D SPLIT" : "", out->from_plain ? " -D FROM_PLAIN" : "");
    const options o = options_of(p, q, stages_of(kernels, q, !out->work), more);
    qn__variant v = {"convolve/quad.cl", "convolve", o.text};
    qn_status status = qn__variant_get(kernels, &v, &out->kernel);
    if (status || !out->work) return status;
    v.kernel = "sum_parts";
    out->sum_range = (qn_range){.global = {p->numbers.outputs, p->numbers.pixels}};
    return qn__variant_get(kernels, &v, &out->sum);
}

static qn_status make_weights(qn_kernels *kernels, const void *given, void *made) {
    const qn__convolve_problem *p = ((const request *)given)->problems;
    const qn__convolve_numbers *n = &p->numbers;
    plan *out = made;
    const uint64_t all_taps = (uint64_t)p->taps[0] * p->taps[1];
    out->copied = copied_of(p, false);
    out->from_plain = from_is_plain_then(p, out->copied);
    out->to_plain = (out->copied & TO) || to_is_plain(p);
    const product w = {.rows = n->outputs,
                       .columns = divide_up(n->channels, BLOCK) * BLOCK * all_taps,
                       .steps = divide_up(n->pixels, BLOCK),
                       .rows_windowed = !out->to_plain,
                       .columns_windowed = !out->from_plain,
                       .by_weights = true};
    uint64_t parts = 1;
    const quad *q = choose(kernels, &w, variant_of(p), &parts);
    if (!q) return refuse(kernels, p);
    out->windows[0] = window_of(p);
    share_out(kernels, &w, q, parts, out);
    char more[96];
    snprintf(more, sizeof more, "%s%s%s", out->from_plain ? " -D FROM_PLAIN" : "",
             out->to_plain ? " -D GRADIENT_PLAIN" : "", out->work ? "" : " -D WHOLE");
    const options o = options_of(p, q, stages_of(kernels, q, false), more);
    qn__variant v = {"convolve/quad_weights.cl", "weights_gradient", o.text};
    const qn_status status = qn__variant_get(kernels, &v, &out->kernel);
    if (status || !out->work) return status;
    v.kernel = "sum_parts";
    out->sum_range = (qn_range){.global = {n->channels, all_taps, n->outputs}};
    return qn__variant_get(kernels, &v, &out->sum);
}

static const qn__op images_op = {"qn_kernels_convolve by quads", sizeof(plan), make_images},
                    weights_op = {"qn_kernels_convolve_backward_weights by quads", sizeof(plan),
                                  make_weights};

/* ---- a call ---- */

/* A problem whose operands may be copies: `arrays` are what the caller has. */
typedef struct call {
    qn_kernels *kernels;
    qn_stream *stream;
    qn__convolve_problem p[QN__CONVOLVE_PHASES];
    uint32_t count;       /* several have no copies */
    qn_buffer *copies[3]; /* from, weights, to */
    qn_array to;          /* of the caller */
} call;

static qn_status create(call *c, int which, uint64_t elements) {
    const qn_buffer_desc desc = {
        .size = elements * ELEMENT, .uninitialised = true, .label = "qn_kernels_convolve's copy"};
    return qn_buffer_create(c->kernels->device, &desc, &c->copies[which]);
}

static qn_array array_of(qn_element type, qn_buffer *buffer, uint64_t begin, const uint64_t sizes[4],
                         const int64_t strides[4]) {
    qn_array a = {.buffer = buffer, .offset = begin, .type = type, .rank = 4};
    memcpy(a.sizes, sizes, 4 * sizeof *sizes);
    memcpy(a.strides, strides, 4 * sizeof *strides);
    return a;
}

/* Puts a copy, or room for results, in the place of an operand. */
static qn_status bring(call *c, int which, const uint64_t sizes[4], qn_buffer **buffer, uint64_t *begin,
                       int64_t strides[4], bool is_read) {
    const qn_array given = array_of(c->p[0].type, *buffer, *begin, sizes, strides);
    int64_t packed[4];
    pack_strides(sizes, packed);
    qn_status status = create(c, which, (uint64_t)packed[0] * sizes[0]);
    if (status) return status;
    const qn_array copy = array_of(c->p[0].type, c->copies[which], 0, sizes, packed);
    if (is_read) status = qn_kernels_copy(c->kernels, c->stream, &(qn_copy_desc){.to = copy, .from = given});
    if (!is_read) c->to = given;
    *buffer = c->copies[which];
    *begin = 0;
    memcpy(strides, packed, sizeof packed);
    return status;
}

static qn_status bring_all(call *c, unsigned copied, bool reads_to) {
    qn__convolve_problem *p = c->p;
    qn__convolve_numbers *n = &p->numbers;
    uint64_t from[4], to[4];
    from_sizes(p, from);
    to_sizes(p, to);
    const uint64_t weights[4] = {n->outputs, n->channels, p->taps[0], p->taps[1]};
    qn_status status = QN_OK;
    if (copied & FROM) status = bring(c, 0, from, &p->from, &n->from_begin, n->from, true);
    if ((copied & WEIGHTS) && !status)
        status = bring(c, 1, weights, &p->weights, &n->weights_begin, n->weights, true);
    if ((copied & TO) && !status) status = bring(c, 2, to, &p->to, &n->to_begin, n->to, reads_to);
    return status;
}

/* Rows of a matrix, `columns` of it. */
static qn_status map_pixels(qn_buffer *buffer, uint64_t begin, uint64_t columns, int64_t stride,
                            const qn__convolve_problem *p, uint32_t positions, qn_tensor_map *map) {
    const qn_tensor_desc d = {.offset = begin * ELEMENT,
                              .element_size = ELEMENT,
                              .sizes = {columns, p->numbers.pixels},
                              .strides = {(uint64_t)stride * ELEMENT},
                              .tile = {BLOCK, positions}};
    return qn_buffer_tensor_map(buffer, &d, map);
}

static qn_status map_images(const qn__convolve_problem *p, bool plain, uint32_t positions,
                            qn_tensor_map *map) {
    const qn__convolve_numbers *n = &p->numbers;
    if (plain) return map_pixels(p->from, n->from_begin, n->channels, n->from[3], p, positions, map);
    qn_window_desc d = {.offset = n->from_begin * ELEMENT,
                        .element_size = ELEMENT,
                        .sizes = {n->channels, (uint64_t)n->columns, (uint64_t)n->rows, p->images},
                        .strides = {(uint64_t)n->from[3] * ELEMENT, (uint64_t)n->from[2] * ELEMENT,
                                    (uint64_t)n->from[0] * ELEMENT},
                        .first = {(int32_t)-n->padding[1], (int32_t)-n->padding[0]},
                        .steps = {(uint32_t)n->stride[1], (uint32_t)n->stride[0]},
                        .positions = {n->to_columns, n->to_rows},
                        .tile = {BLOCK, positions}};
    return qn_buffer_window_map(p->from, &d, map);
}

static qn_status map_results(const qn__convolve_problem *p, bool plain, qn_tensor_map *map) {
    const qn__convolve_numbers *n = &p->numbers;
    if (plain) return map_pixels(p->to, n->to_begin, n->outputs, n->to[3], p, BLOCK, map);
    qn_window_desc d = {
        .offset = n->to_begin * ELEMENT,
        .element_size = ELEMENT,
        .sizes = {n->outputs, n->to_columns, n->to_rows, p->images},
        .strides = {(uint64_t)n->to[3] * ELEMENT, (uint64_t)n->to[2] * ELEMENT, (uint64_t)n->to[0] * ELEMENT},
        .positions = {n->to_columns, n->to_rows},
        .tile = {BLOCK, BLOCK}};
    return qn_buffer_window_map(p->to, &d, map);
}

static qn_status map_weights(const qn__convolve_problem *p, const taps *t, uint32_t columns,
                             qn_tensor_map *map) {
    const qn__convolve_numbers *n = &p->numbers;
    const uint64_t outputs = n->outputs, channels = n->channels;
    qn_tensor_desc d = {
        .offset = t->begin * ELEMENT,
        .element_size = ELEMENT,
        .sizes = {t->by_outputs ? outputs : channels, t->count, t->by_outputs ? channels : outputs},
        .strides = {(uint64_t)t->unit * ELEMENT, (uint64_t)t->other * ELEMENT},
        .tile = {BLOCK, 1, t->by_outputs ? BLOCK : columns}};
    return qn_buffer_tensor_map(p->weights, &d, map);
}

static window placed(const window *w, const qn__convolve_problem *p, const taps *t) {
    window placed = *w;
    int64_t steps[2];
    steps_of_taps(p, steps);
    placed.tap_first = (int32_t)((p->numbers.weights_begin - t->begin) / (uint64_t)t->unit);
    placed.tap_row = (int32_t)(steps[0] / t->unit);
    placed.tap_column = (int32_t)(steps[1] / t->unit);
    placed.bias_begin = p->numbers.bias_begin;
    return placed;
}

static qn_status launch_images(call *c, const plan *plan, qn_buffer *work) {
    const qn__convolve_problem *p = c->p;
    const qn__convolve_numbers *n = &p->numbers;
    const taps t = taps_of(p, c->count);
    qn_tensor_map weights, maps[2 * QN__CONVOLVE_PHASES] = {{{0}}}; /* of images, of results */
    window windows[QN__CONVOLVE_PHASES];
    qn_status status = map_weights(p, &t, plan->columns, &weights);
    for (uint32_t i = 0; i < c->count && !status; i++) {
        windows[i] = placed(&plan->windows[i], &c->p[i], &t);
        status = map_images(&c->p[i], plan->from_plain, plan->down * BLOCK, &maps[i]);
        if (!status && !plan->work) status = map_results(&c->p[i], false, &maps[c->count + i]);
    }
    if (status) return status;
    qn_buffer *bias = p->bias ? p->bias : p->to;
    const qn_arg args[] = {QN_BYTES(weights),
                           qn_arg_bytes(maps, 2 * c->count * (uint32_t)sizeof *maps),
                           qn_arg_bytes(windows, c->count * (uint32_t)sizeof *windows),
                           qn_arg_buffer(p->from),
                           qn_arg_buffer(p->weights),
                           qn_arg_buffer(bias),
                           qn_arg_buffer(p->to),
                           qn_arg_buffer(work ? work : p->to)};
    status = qn_launch(c->stream, plan->kernel, &plan->range, args, COUNT(args));
    if (status || !work) return status;
    const qn_arg sum_args[] = {QN_BYTES(windows[0]), qn_arg_buffer(bias),   qn_arg_buffer(p->to),
                               qn_arg_buffer(work),  QN_BYTES(n->to_begin), QN_BYTES(n->to[0]),
                               QN_BYTES(n->to[2]),   QN_BYTES(n->to[3])};
    return qn_launch(c->stream, plan->sum, &plan->sum_range, sum_args, COUNT(sum_args));
}

static qn_status launch_weights(call *c, const plan *plan, qn_buffer *work) {
    const qn__convolve_problem *p = c->p;
    const qn__convolve_numbers *n = &p->numbers;
    const window w = plan->windows[0];
    qn_tensor_map maps[2];
    qn_status status = map_images(p, plan->from_plain, BLOCK, &maps[0]);
    if (!status) status = map_results(p, plan->to_plain, &maps[1]);
    if (status) return status;
    const places at = {n->weights_begin, n->weights[0], n->weights[1], n->weights[2], n->weights[3]};
    const qn_arg args[] = {QN_BYTES(maps[0]),
                           QN_BYTES(maps[1]),
                           QN_BYTES(w),
                           QN_BYTES(at),
                           qn_arg_buffer(p->from),
                           qn_arg_buffer(p->to),
                           qn_arg_buffer(p->weights),
                           qn_arg_buffer(work ? work : p->weights)},
                 sum_args[] = {QN_BYTES(w), QN_BYTES(at), qn_arg_buffer(p->weights), qn_arg_buffer(work)};
    status = qn_launch(c->stream, plan->kernel, &plan->range, args, COUNT(args));
    return status || !work ? status
                           : qn_launch(c->stream, plan->sum, &plan->sum_range, sum_args, COUNT(sum_args));
}

static void add_key(const qn__key *from, qn__key *to) {
    for (uint32_t i = 0; i < from->count; i++) qn__key_add(to, from->words[i]);
}

static qn_status launch(qn_kernels *kernels, qn_stream *stream, const request *r, const qn__op *op) {
    const bool weights = op == &weights_op;
    call c = {.kernels = kernels, .stream = stream, .count = r->count};
    qn__key key = {.count = 0};
    plan plan;
    for (uint32_t i = 0; i < r->count; i++) {
        const qn__key one = qn__convolve_key(&r->problems[i]);
        add_key(&one, &key);
        c.p[i] = r->problems[i];
    }
    qn_status status = qn__plan_get(kernels, op, &key, r, &plan);
    if (status) return status;
    qn_buffer *work = NULL;
    const qn_buffer_desc parts = {
        .size = plan.work, .uninitialised = true, .label = "qn_kernels_convolve's parts"};
    if (plan.work) status = qn_buffer_create(kernels->device, &parts, &work);
    if (!status) status = bring_all(&c, plan.copied, weights);
    if (!status) status = weights ? launch_weights(&c, &plan, work) : launch_images(&c, &plan, work);
    if (!status && c.to.rank) {
        const qn_array results = array_of(c.p[0].type, c.p[0].to, 0, c.to.sizes, c.p[0].numbers.to);
        status = qn_kernels_copy(kernels, stream, &(qn_copy_desc){.to = c.to, .from = results});
    }
    for (int i = 0; i < 3; i++) qn_buffer_destroy(c.copies[i]);
    qn_buffer_destroy(work);
    return status;
}

qn_status qn__convolve_quad_launch(qn_kernels *kernels, qn_stream *stream, const qn__convolve_problem *p,
                                   uint32_t count) {
    return launch(kernels, stream, &(request){p, count}, &images_op);
}

bool qn__convolve_quads_join(const qn_kernels *kernels, const qn__convolve_problem *p, uint32_t count) {
    bool good = count <= QN__CONVOLVE_PHASES && taps_of(p, count).fits;
    for (uint32_t i = 0; i < count && good; i++)
        good = qn__convolve_quads_fit(kernels, &p[i]) && copied_of(&p[i], false) == 0;
    return good;
}

/* The gradient by weights of one tap as a product of two matrices that lie in memory as they are. */
static bool is_product(const qn__convolve_problem *p) {
    return p->variant < 0 && copied_of(p, false) == 0 && from_is_plain(p) && to_is_plain(p);
}

static qn_status multiply(qn_kernels *kernels, qn_stream *stream, const qn__convolve_problem *p) {
    const qn__convolve_numbers *n = &p->numbers;
    const qn_matmul_desc desc = {
        .out = {p->weights,
                n->weights_begin,
                p->type,
                2,
                {n->outputs, n->channels},
                {n->weights[0], n->weights[1]}},
        .a = {p->to, n->to_begin, p->type, 2, {n->outputs, n->pixels}, {1, n->to[3]}},
        .b = {p->from, n->from_begin, p->type, 2, {n->pixels, n->channels}, {n->from[3], 1}}};
    return qn_kernels_matmul(kernels, stream, &desc);
}

qn_status qn__convolve_quad_weights_launch(qn_kernels *kernels, qn_stream *stream,
                                           const qn__convolve_problem *p) {
    return is_product(p) ? multiply(kernels, stream, p)
                         : launch(kernels, stream, &(request){p, 1}, &weights_op);
}
