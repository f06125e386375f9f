/* qn_kernels_matmul by quads of sub-groups, which feed the matrix units of compute capability 9.0 from tiles in local memory. The device
   copies tiles by maps of the tensors; operands that it cannot copy so, for their strides, are first copied to rows along k. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "kernels/matmul.h"

enum { QUAD_ROWS = 64, QUAD_ITEMS = 128, ROW_BYTES = 128, UNIT = 16 };
enum { CHUNK_BYTES = 8192, MOST_STAGES = 12, MOST_PARTS = 8 /* of a cluster */ };

static const struct product {
    const char *type, *sum;            /* in the kernel */
    bool a_has_layouts, b_has_layouts; /* either dimension may be the one whose elements lie together */
} products[QN_ELEMENT_COUNT] = {
    [QN_F32] = {"float", "float", true, false}, /* as tf32; such an a goes through registers */
    [QN_F16] = {"half", "float", true, true},       [QN_BF16] = {"qn_bf16", "float", true, true},
    [QN_E4M3] = {"qn_e4m3", "float", false, false}, [QN_E5M2] = {"qn_e5m2", "float", false, false},
    [QN_I8] = {"char", "int", false, false},        [QN_U8] = {"uchar", "int", false, false},
};

static qn_element type_of(const qn__matmul *q) { return q->arrays[QN__MATMUL_A].type; }
static uint64_t divide_up(uint64_t a, uint64_t b) { return a / b + (a % b != 0); }

/* The dimension of `out` that counts batches, from the end; 0: there is none. -1: there are several. */
static int batch_dimension(const qn__matmul *q) {
    const qn_array *out = &q->arrays[QN__MATMUL_OUT];
    int found = 0;
    for (uint32_t d = 0; d + 2 < out->rank; d++)
        if (out->sizes[d] != 1) found = found ? -1 : (int)(out->rank - d);
    return found;
}

static int64_t batch_stride(const qn__matmul *q, qn__matmul_operand x) {
    const qn_array *array = &q->arrays[x];
    const int d = batch_dimension(q);
    if (d <= 0 || (uint32_t)d > array->rank || array->sizes[array->rank - (uint32_t)d] == 1) return 0;
    return array->strides[array->rank - (uint32_t)d];
}

static uint64_t batches_of(const qn__matmul *q) {
    const qn_array *out = &q->arrays[QN__MATMUL_OUT];
    const int d = batch_dimension(q);
    return d > 0 ? out->sizes[out->rank - (uint32_t)d] : 1;
}

/* Whether elements lie together along one dimension and the strides of the others are ones that tile copies take. */
static bool strides_fit(const qn_array *array, int64_t together, int64_t other, int64_t batch) {
    const int64_t size = qn_element_size(array->type), most = (int64_t)1 << 39;
    const bool aligned =
        other * size % UNIT == 0 && batch * size % UNIT == 0 && array->offset * (uint64_t)size % UNIT == 0;
    return together == 1 && aligned && other > 0 && batch >= 0 && other < most && batch < most;
}

static bool lies_along_k(const qn__matmul *q, qn__matmul_operand x) {
    return strides_fit(&q->arrays[x], qn__matmul_along_k(q, x), qn__matmul_along_side(q, x),
                       batch_stride(q, x));
}
static bool lies_along_side(const qn__matmul *q, qn__matmul_operand x) {
    const struct product *p = &products[type_of(q)];
    return (x == QN__MATMUL_A ? p->a_has_layouts : p->b_has_layouts) &&
           strides_fit(&q->arrays[x], qn__matmul_along_side(q, x), qn__matmul_along_k(q, x),
                       batch_stride(q, x));
}
/* Tiles of b by rows are blocks of 64 columns. */
static bool is_copied(const qn__matmul *q, const qn__matmul_quad *v, qn__matmul_operand x) {
    const bool takes_sides = x == QN__MATMUL_A || v->columns % 64 == 0;
    return !lies_along_k(q, x) && !(takes_sides && lies_along_side(q, x));
}

qn__matmul qn__matmul_turned(const qn__matmul *q) {
    qn__matmul t = *q;
    t.m = q->n;
    t.n = q->m;
    for (int i = 0; i < QN__MATMUL_OPERANDS; i++) {
        const int from = i == QN__MATMUL_A ? QN__MATMUL_B : i == QN__MATMUL_B ? QN__MATMUL_A : i;
        t.arrays[i] = q->arrays[from];
        t.row[i] = q->column[from];
        t.column[i] = q->row[from];
    }
    return t;
}

static uint32_t rows_of(const qn__matmul_quad *v) { return QUAD_ROWS * v->quads; }
static uint32_t step_of(const qn__matmul *q) { return ROW_BYTES / qn_element_size(type_of(q)); }

/* Of k, which a cluster adds up; more of them go through memory. */
static uint32_t parts_of(const qn__matmul *q, const qn__matmul_quad *v) {
    const uint64_t steps = divide_up(q->k, step_of(q)), parts = v->splits < steps ? v->splits : steps;
    return parts < 2 || v->cluster > 1 ? 1 : parts < MOST_PARTS ? (uint32_t)parts : MOST_PARTS;
}
static uint64_t work_splits_of(const qn__matmul *q, const qn__matmul_quad *v) {
    return divide_up(v->splits ? v->splits : 1, parts_of(q, v));
}

/* Elements whose sums need no other type on their way; of 4 bytes or 2. */
static bool stores_tiles(const qn__matmul *q, const qn__matmul_quad *v) {
    const qn_array *out = &q->arrays[QN__MATMUL_OUT];
    const bool is_float = qn__element(type_of(q))->is_float;
    const bool good = is_float ? out->type == QN_F16 || out->type == QN_BF16 || out->type == QN_F32
                               : out->type == QN_I32 && q->plain;
    return good && v->splits <= 1 && v->columns * qn_element_size(out->type) % ROW_BYTES == 0 &&
           strides_fit(out, q->column[QN__MATMUL_OUT], q->row[QN__MATMUL_OUT],
                       batch_stride(q, QN__MATMUL_OUT));
}

/* Whether results of other tiles go through local memory on their way, so that neighbours are written together. Parts of a cluster's
   product are added there. */
static bool is_staged(const qn__matmul *q, const qn__matmul_quad *v) {
    const int64_t next = v->turned ? q->row[QN__MATMUL_OUT] : q->column[QN__MATMUL_OUT];
    return !stores_tiles(q, v) && parts_of(q, v) == 1 && (work_splits_of(q, v) > 1 || next == 1);
}
enum { STAGED_BYTES = 64 * 33 * 4 };

/* Work-groups, of which a compute unit is to hold some. */
static uint64_t groups_of(const qn__matmul *q, const qn__matmul_quad *v) {
    return divide_up(q->m, (uint64_t)rows_of(v) * v->cluster) * v->cluster * divide_up(q->n, v->columns) *
           batches_of(q) * parts_of(q, v) * work_splits_of(q, v);
}
/* Clusters leave some units empty. */
static uint64_t filled_units(const qn_kernels *kernels, const qn__matmul *q, const qn__matmul_quad *v) {
    const uint64_t units = kernels->info.compute_units;
    return parts_of(q, v) > 2 ? units * 7 / 8 : units;
}
static uint32_t resident_of(const qn_kernels *kernels, const qn__matmul *q, const qn__matmul_quad *v) {
    const uint64_t units = filled_units(kernels, q, v),
                   wanted = divide_up(groups_of(q, v), units ? units : 1);
    return wanted < v->resident ? (uint32_t)wanted : v->resident;
}

/* Tiles of k ahead: as many as local memory holds. */
static uint32_t stages_of(const qn_kernels *kernels, const qn__matmul *q, const qn__matmul_quad *v) {
    const uint64_t reserved = 1024; /* of each group, and for barriers */
    const uint64_t all = (kernels->info.local_memory + reserved) / resident_of(kernels, q, v),
                   way_out = stores_tiles(q, v) ? 2 * CHUNK_BYTES
                             : is_staged(q, v)  ? STAGED_BYTES
                                                : 0,
                   used = 2 * reserved + way_out * v->quads, stage = ROW_BYTES * (rows_of(v) + v->columns);
    const uint64_t stages = all > used ? (all - used) / stage : 0;
    return stages < MOST_STAGES ? (uint32_t)stages : MOST_STAGES;
}

static bool fits_turned(const qn_kernels *kernels, const qn__matmul *q, const qn__matmul_quad *v) {
    const uint64_t most = INT32_MAX; /* places in tensors */
    const uint32_t stages = stages_of(kernels, q, v), sum = 4;
    const bool holds_sums = rows_of(v) * sum <= stages * ROW_BYTES; /* where tiles of b were */
    const bool good = products[type_of(q)].type && (q->tf32 || type_of(q) != QN_F32) &&
                      q->arrays[QN__MATMUL_B].type == type_of(q) && q->m <= most && q->n <= most && q->k &&
                      q->k <= most;
    if (v->splits > 1 && (v->cluster > 1 || !holds_sums)) return false;
    return good && stages > 1 && batch_dimension(q) >= 0 &&
           batches_of(q) * divide_up(q->m, QUAD_ROWS) * divide_up(q->n, 8) * (v->splits ? v->splits : 1) <=
               most;
}

bool qn__matmul_quad_fits(const qn_kernels *kernels, const qn__matmul *q, const qn__matmul_quad *v) {
    if (!(kernels->info.capabilities & QN_CAN_COPY_TILES)) return false;
    if (!v->turned) return fits_turned(kernels, q, v);
    const qn__matmul turned = qn__matmul_turned(q);
    return fits_turned(kernels, &turned, v);
}

/* ---- what it costs ---- */

/* In clocks, and bytes a clock of each compute unit. Fitted to all variants on 30 shapes on an H200, most within a tenth: with these
   numbers the choice is within 2 % of the best on average. */
static const struct {
    double launch;              /* of a copy */
    double group;               /* begin and end of one */
    double units, local_memory; /* times what they take by themselves */
    double latency;
    double copied,
        beside; /* from cache to local memory, by one unit; times more where rows begin within lines */
    double cached, memory;      /* by all */
    double joined, joined_sums; /* parts in a cluster */
    double single;              /* a result that no tile store takes */
    double finish;              /* the launch that adds parts */
    double tail;                /* the same for those of the last tiles, and what else it costs to cut them */
    double rest;                /* of what is shorter, memory's time or that of the units */
} clocks = {5560, 1125, 1.03, 0.88, 2270, 62.0, 2.04, 57.4, 17.3, 3670, 0.23, 0.1, 7950, 30000, 0.136};

static double cost_of_copy(const qn_kernels *kernels, const qn__matmul *q, const qn__matmul_quad *v,
                           qn__matmul_operand x) {
    const double bytes = 2.0 * (double)qn__matmul_side(q, x) * (double)q->k * qn_element_size(type_of(q)) *
                         (batch_stride(q, x) ? (double)batches_of(q) : 1);
    return is_copied(q, v, x) ? clocks.launch + bytes / (clocks.memory * kernels->info.compute_units) : 0;
}

/* How much more a tile's way from cache takes: rows that begin within lines of 128 bytes are in two of them. */
static double way_of(const qn__matmul *q, const qn__matmul_quad *v, qn__matmul_operand x) {
    const int64_t pitch = lies_along_k(q, x) ? qn__matmul_along_side(q, x) : qn__matmul_along_k(q, x);
    return !is_copied(q, v, x) && pitch * qn_element_size(type_of(q)) % ROW_BYTES ? clocks.beside : 1;
}

/* Of a step, which is 128 bytes of k: that a group multiplies while the unit has so many of them, and all units together read.
   The matrix units do 64 rows by 32 columns in 64 clocks; local memory moves 128 bytes a clock, what comes and what each quad reads. */
static double cost_of_step(const qn_kernels *kernels, const qn__matmul *q, const qn__matmul_quad *v,
                           double there) {
    const double rows = rows_of(v), columns = v->columns;
    const double multiplies = rows * columns / 32, moves = v->quads * (QUAD_ROWS + columns) + rows + columns;
    const double units = kernels->info.compute_units,
                 bytes =
                     (rows * way_of(q, v, QN__MATMUL_A) + columns / v->cluster * way_of(q, v, QN__MATMUL_B)) *
                     ROW_BYTES;
    const double alone =
        fmax(fmax(multiplies * clocks.units, moves * clocks.local_memory) / v->rate, bytes / clocks.copied);
    const double all = bytes * fmin((double)groups_of(q, v), units * there) / (clocks.cached * units);
    return fmax(fmax(alone * there, all), clocks.latency / stages_of(kernels, q, v));
}

static double cost_of_turned(const qn_kernels *kernels, const qn__matmul *q, const qn__matmul_quad *v) {
    const uint32_t parts = parts_of(q, v),
                   units = kernels->info.compute_units ? kernels->info.compute_units : 1;
    const uint64_t work = work_splits_of(q, v), there = resident_of(kernels, q, v);
    const double steps = (double)divide_up(divide_up(q->k, step_of(q)), parts * work),
                 batches = (double)batches_of(q);
    const double area = rows_of(v) * (double)v->columns, results = batches * (double)q->m * (double)q->n;
    const uint64_t filled = filled_units(kernels, q, v) / v->cluster * v->cluster * there;
    const double rounds = (double)divide_up(groups_of(q, v), filled ? filled : 1);
    const double way_out = parts > 1            ? clocks.joined + area * clocks.joined_sums
                           : stores_tiles(q, v) ? 0
                                                : area * clocks.single;
    const double group = clocks.group + way_out;
    const double read = batches * (double)q->k * ((double)q->m + (double)q->n) * qn_element_size(type_of(q)),
                 written = results * qn_element_size(q->arrays[QN__MATMUL_OUT].type);
    const double compute = rounds * (steps * cost_of_step(kernels, q, v, (double)there) + group),
                 memory = clocks.group + (read + written) / (clocks.memory * units);
    const double finish = work > 1 ? clocks.finish + 6 * (double)work * results / (clocks.memory * units) : 0;
    return fmax(compute, memory) + clocks.rest * fmin(compute, memory) + finish +
           cost_of_copy(kernels, q, v, QN__MATMUL_A) + cost_of_copy(kernels, q, v, QN__MATMUL_B);
}

/* ---- the last tiles ---- */

/* Tiles, each of a cluster, of which the device has `there` at a time: of the last ones, if they are less than half of those, each is cut into
   `parts` of `steps` along k. 0: none are. */
typedef struct tail {
    uint64_t tiles, there, parts, steps;
} tail;

static uint64_t tiles_of(const qn__matmul *q, const qn__matmul_quad *v) {
    return divide_up(q->m, (uint64_t)rows_of(v) * v->cluster) * divide_up(q->n, v->columns) * batches_of(q);
}

static tail tail_of(const qn_kernels *kernels, const qn__matmul *q, const qn__matmul_quad *v) {
    enum { LEAST_STEPS = 4 };
    const uint64_t tiles = tiles_of(q, v), steps = divide_up(q->k, step_of(q)),
                   there = (uint64_t)kernels->info.compute_units * resident_of(kernels, q, v) / v->cluster;
    tail t = {.tiles = there ? tiles % there : 0, .there = there, .steps = steps};
    const bool simple = q->plain && batches_of(q) == 1 && !q->splits && v->splits <= 1 && !v->turned;
    if (!simple || !stores_tiles(q, v) || tiles < there || !t.tiles) return t;
    const uint64_t parts = there / t.tiles, most = steps / LEAST_STEPS;
    t.parts = parts < most ? parts : most;
    if (t.parts < 2) t.parts = 0;
    if (t.parts) t.steps = divide_up(steps, t.parts);
    if (t.parts) t.parts = divide_up(steps, t.steps);
    return t;
}

/* How many clocks are saved. */
static double gain_of_tail(const qn_kernels *kernels, const qn__matmul *q, const qn__matmul_quad *v, tail t) {
    const double steps = (double)divide_up(q->k, step_of(q)) - (double)t.steps;
    const double sums = (double)(t.tiles * t.parts * v->cluster) * rows_of(v) * v->columns;
    const double step = cost_of_step(kernels, q, v, (double)resident_of(kernels, q, v));
    return t.parts ? steps * step - clocks.tail - 8 * sums / (clocks.memory * kernels->info.compute_units)
                   : 0;
}

double qn__matmul_quad_cost(const qn_kernels *kernels, const qn__matmul *q, const qn__matmul_quad *v) {
    if (!v->turned)
        return cost_of_turned(kernels, q, v) - fmax(gain_of_tail(kernels, q, v, tail_of(kernels, q, v)), 0);
    const qn__matmul turned = qn__matmul_turned(q);
    return cost_of_turned(kernels, &turned, v);
}

/* ---- the plan ---- */

/* Rows along k of a copied operand, in elements: whole lines of the cache. */
static uint64_t pitch_of(const qn__matmul *q) { return divide_up(q->k, step_of(q)) * step_of(q); }

static void describe(const qn__matmul *q, const qn__matmul_quad *v, qn__matmul_operand x,
                     qn__matmul_tensors *t) {
    const uint32_t i = x == QN__MATMUL_B, size = qn_element_size(type_of(q)), per_row = ROW_BYTES / size;
    const uint64_t sides = qn__matmul_side(q, x), batch = (uint64_t)batch_stride(q, x);
    qn_tensor_desc *d = &t->descs[i];
    t->copied[i] = is_copied(q, v, x);
    t->batched[i] = batch != 0;
    *d = (qn_tensor_desc){.element_size = size, .sizes = {q->k, sides, batch ? t->batches : 1}};
    if (t->copied[i]) {
        d->strides[0] = pitch_of(q) * size;
        d->strides[1] = d->strides[0] * sides;
    } else {
        d->strides[1] = batch * size;
    }
    d->tile[0] = per_row;
    d->tile[1] = x == QN__MATMUL_A ? rows_of(v) : v->columns / v->cluster;
    if (t->copied[i]) return;
    if (lies_along_k(q, x)) {
        d->strides[0] = (uint64_t)qn__matmul_along_side(q, x) * size;
        return;
    }
    d->sizes[0] = sides;
    d->sizes[1] = q->k;
    d->strides[0] = (uint64_t)qn__matmul_along_k(q, x) * size;
    d->tile[1] = per_row;
}

static void describe_out(const qn__matmul *q, qn__matmul_tensors *t) {
    const uint32_t size = qn_element_size(q->arrays[QN__MATMUL_OUT].type);
    t->descs[2] = (qn_tensor_desc){.element_size = size,
                                   .sizes = {q->n, q->m, t->batches},
                                   .strides = {(uint64_t)q->row[QN__MATMUL_OUT] * size,
                                               (uint64_t)batch_stride(q, QN__MATMUL_OUT) * size},
                                   .tile = {ROW_BYTES / size, QUAD_ROWS}};
}

/* Of the last tiles, where that pays: the memory that their parts take, and who adds them. */
static void plan_tail(const qn_kernels *kernels, const qn__matmul *q, const qn__matmul_quad *v,
                      qn__matmul_plan *p) {
    enum { SUM_BYTES = 4, SUMS_AT_ONCE = 4 };
    const tail t = tail_of(kernels, q, v);
    if (gain_of_tail(kernels, q, v, t) <= 0) return;
    const uint64_t groups = t.tiles * v->cluster, sums = v->columns / 2 / SUMS_AT_ONCE;
    p->tensors.tail = (uint32_t)t.parts;
    p->part = t.steps * step_of(q);
    p->work = groups * t.parts * rows_of(v) * v->columns * SUM_BYTES;
    p->finish_range =
        (qn_range){.global = {QUAD_ITEMS * sums, groups * v->quads, 1}, .local = {QUAD_ITEMS, 1, 1}};
}

void qn__matmul_quad_plan(const qn_kernels *kernels, const qn__matmul *q, const qn__matmul_quad *v,
                          qn__matmul_plan *p) {
    qn__matmul_tensors *t = &p->tensors;
    *t = (qn__matmul_tensors){.batches = (uint32_t)batches_of(q),
                              .stores_tiles = stores_tiles(q, v),
                              .staged = is_staged(q, v),
                              .turned = v->turned,
                              .stages = stages_of(kernels, q, v),
                              .parts = parts_of(q, v)};
    describe(q, v, QN__MATMUL_A, t);
    describe(q, v, QN__MATMUL_B, t);
    if (t->stores_tiles) describe_out(q, t);
    p->has_tensors = true;
    const uint64_t steps = divide_up(q->k, step_of(q)), part = divide_up(steps, work_splits_of(q, v));
    p->part = part * step_of(q);
    p->splits = divide_up(steps, part);
    const uint64_t cluster = v->cluster * t->parts, items = QUAD_ITEMS * (1 + v->quads);
    const uint64_t tiles = divide_up(q->m, (uint64_t)rows_of(v) * v->cluster) * divide_up(q->n, v->columns) *
                           t->batches * p->splits,
                   there = kernels->info.compute_units * resident_of(kernels, q, v) / v->cluster;
    const uint64_t clusters = t->parts > 1 || tiles < there ? tiles : there ? there : 1;
    p->range = (qn_range){.global = {clusters * cluster * items}, .local = {items, 1, 1}};
    p->finish_range = (qn_range){.global = {v->turned ? q->m : q->n, v->turned ? q->n : q->m, t->batches}};
    plan_tail(kernels, q, v, p);
}

/* How two neighbours of an operand of the epilogue are read at once; NULL: they cannot be. */
static const char *pair_of(const qn__matmul *q, qn__matmul_operand x) {
    const qn_element type = q->arrays[x].type;
    const char *name = type == QN_F32    ? "PAIR_F32"
                       : type == QN_BF16 ? "PAIR_BF16"
                       : type == QN_F16  ? "PAIR_F16"
                                         : NULL;
    const bool is_even = qn__matmul_in_pairs(q, x, q->column[x], q->row[x]);
    return is_even && (x != QN__MATMUL_BIAS || q->row[x] == 0) ? name : NULL;
}

/* The epilogue's options, where it takes two neighbours at a time. */
static void add_pairs(const qn__matmul *q, const qn__matmul_tensors *t, char *out, size_t size) {
    const char *bias = q->has[QN__MATMUL_BIAS] ? pair_of(q, QN__MATMUL_BIAS) : "PAIR_F32",
               *residual = q->has[QN__MATMUL_RESIDUAL] ? pair_of(q, QN__MATMUL_RESIDUAL) : "PAIR_F32";
    const bool is_float = qn__element(type_of(q))->is_float;
    if (t->stores_tiles && !q->plain && !q->has[QN__MATMUL_C] && is_float && q->n % 2 == 0 && bias &&
        residual)
        snprintf(out, size, " -D PAIRS -D BIAS_PAIR=%s -D RESIDUAL_PAIR=%s", bias, residual);
}

void qn__matmul_quad_options(const qn__matmul *q, const qn__matmul_quad *v, const qn__matmul_tensors *t,
                             char *out, size_t size) {
    const struct product *product = &products[type_of(q)];
    const int by_rows = !t->copied[1] && !lies_along_k(q, QN__MATMUL_B),
              by_columns = !t->copied[0] && !lies_along_k(q, QN__MATMUL_A);
    const bool large = v->quads * v->columns >= 256 && v->resident == 1; /* as all registers are given out */
    const char *pack = "";
    if (t->stores_tiles) switch (q->arrays[QN__MATMUL_OUT].type) {
        case QN_F16: pack = " -D OUT_TILES -D PACK=convert_half2"; break;
        case QN_BF16: pack = " -D OUT_TILES -D PACK=convert_qn_bf16x2"; break;
        case QN_I32: pack = " -D OUT_TILES -D OUT_PAIR=int2"; break;
        default: pack = " -D OUT_TILES -D OUT_PAIR=float2"; break;
        }
    snprintf(out, size,
             " -D Q=%s -D QSUM=%s -D QSUM4=%s4 -D AS_SUM4=as_%s4 -D LAYOUT=%d -D CLUSTER=%u -D PARTS=%u -D "
             "QUADS=%u -D COLUMNS=%u "
             "-D STAGES=%u%s%s%s%s%s",
             product->type, product->sum, product->sum, product->sum, by_rows + 2 * by_columns, v->cluster,
             t->parts, v->quads, v->columns, t->stages, large && v->quads == 2 ? " -D REGISTERS=232" : "",
             by_columns && type_of(q) == QN_F32 ? " -D HELD" : "", t->staged ? " -D STAGED" : "",
             t->tail ? " -D TAIL" : "", pack);
    const size_t used = strlen(out);
    add_pairs(q, t, out + used, size - used);
}

/* ---- a call ---- */

static qn_status copy_operand(qn_kernels *kernels, qn_stream *stream, const qn__matmul *q,
                              const qn__matmul_tensors *t, uint32_t i, qn_buffer **buffer) {
    const qn__matmul_operand x = i ? QN__MATMUL_B : QN__MATMUL_A;
    const qn_array *from = &q->arrays[x];
    const qn_tensor_desc *d = &t->descs[i];
    const uint64_t batches = d->sizes[2], sides = qn__matmul_side(q, x), pitch = pitch_of(q);
    const qn_buffer_desc desc = {
        .size = batches * d->strides[1], .uninitialised = true, .label = "qn_kernels_matmul's copy"};
    qn_status status = qn_buffer_create(kernels->device, &desc, buffer);
    if (status) return status;
    qn_copy_desc copy = {
        .to = {*buffer,
               0,
               from->type,
               3,
               {batches, sides, q->k},
               {(int64_t)(sides * pitch), (int64_t)pitch, 1}},
        .from = {from->buffer,
                 from->offset,
                 from->type,
                 3,
                 {batches, sides, q->k},
                 {batch_stride(q, x), qn__matmul_along_side(q, x), qn__matmul_along_k(q, x)}}};
    return qn_kernels_copy(kernels, stream, &copy);
}

qn_status qn__matmul_quad_bring(qn_kernels *kernels, qn_stream *stream, const qn__matmul *q,
                                const qn__matmul_tensors *t, qn_buffer *brought[2], qn_tensor_map maps[3],
                                qn_arg *args) {
    static const qn__matmul_operand order[] = {QN__MATMUL_A, QN__MATMUL_B, QN__MATMUL_OUT};
    qn_status status = QN_OK;
    qn__matmul turned;
    if (t->turned) {
        turned = qn__matmul_turned(q);
        q = &turned;
    }
    memset(maps, 0, 3 * sizeof *maps);
    for (uint32_t i = 0; i < 3 && !status; i++) {
        const qn_array *array = &q->arrays[order[i]];
        qn_tensor_desc desc = t->descs[i];
        if (i == 2 && !t->stores_tiles) break;
        if (i < 2 && t->copied[i])
            status = copy_operand(kernels, stream, q, t, i, &brought[i]);
        else
            desc.offset = array->offset * qn_element_size(array->type);
        if (!status)
            status = qn_buffer_tensor_map(i < 2 && brought[i] ? brought[i] : array->buffer, &desc, &maps[i]);
    }
    for (int i = 0; i < 3; i++) args[i] = qn_arg_bytes(&maps[i], sizeof maps[i]);
    args[3] = qn_arg_unsigned(t->batches);
    args[4] = qn_arg_unsigned(t->batched[0]);
    args[5] = qn_arg_unsigned(t->batched[1]);
    return status;
}
