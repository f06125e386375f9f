/* How a qn_kernels_matmul is done: a table of variants, a model of what each costs on a device with so many compute units, and the
   numbers and options that the kernels get. Tiles take any operands; so there always is one. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/matmul.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

typedef enum family { TILE, UNITS, QUAD, PACKED, VECTOR, STRIP } family;

/* A tile: wm by wn bands of lm by ln lanes of tm by tn elements, k in steps of `step`; for matrix units: wm by wn sub-groups
   of tm by tn elements, k in steps of 64 bytes, for which `step` stands; by quads: wm work-groups of a cluster that share
   tiles of b, wn quads that multiply, tn columns, and with lm the product is transposed. `resident`: such groups on a compute
   unit at a time; `rate`: of its peak, with all of them there. For tiles (see cost_of_tiles) `rate` is the limit that more and more
   groups would come near to, `alone` what a group adds to that, `fixed` its clocks beside the multiplications, `single` what they cost more where both operands
   are loaded one element at a time. All by fits to measurements on an H200: tiles to 2,700 of 32-bit floats. */
typedef struct variant {
    const char *name;
    family family;
    uint32_t wm, wn, lm, ln, tm, tn, step;
    uint32_t resident;
    double rate, alone, fixed, single;
} variant;

static const variant variants[] = {
    {"tile 128x128", TILE, 2, 2, 8, 4, 8, 16, 8, 2, 1.42, 1.18, 8440, 1.15},
    {"tile 64x128", TILE, 2, 2, 4, 8, 8, 8, 8, 3, 1.33, 1.75, 3130, 1.08},
    {"tile 64x128 by 16", TILE, 2, 2, 4, 8, 8, 8, 16, 3, 1.04, 1.07, 5520, 1.12},
    {"tile 128x64", TILE, 4, 1, 4, 8, 8, 8, 16, 3, 1.08, 1.33, 5420, 1.11},
    {"tile 64x64", TILE, 2, 2, 4, 8, 8, 4, 16, 7, 0.775, 1.25, 2020, 1.05},
    {"tile 32x32", TILE, 2, 1, 4, 8, 4, 4, 16, 10, 0.725, 5.50, 265, 1.22},
    {"tile 16x128", TILE, 1, 2, 4, 8, 4, 8, 16, 10, 0.783, 3.95, 1410, 1.14},
    {"tile 8x128", TILE, 1, 2, 2, 16, 4, 4, 32, 6, 0.539, 5.00, 1060, 1.05},
    {"tile 128x16", TILE, 2, 1, 8, 4, 8, 4, 16, 10, 0.50, 3.30, 370, 1.14},
    {"units 128x128", UNITS, 2, 2, 1, 1, 64, 64, 32, 2, 8, 0, 0, 0},
    {"units 64x64", UNITS, 2, 2, 1, 1, 32, 32, 32, 4, 5, 0, 0, 0},
    {"units 32x32", UNITS, 1, 1, 1, 1, 32, 32, 32, 12, 3, 0, 0, 0},
    {"quad 128x256 two", QUAD, 2, 2, 0, 0, 0, 256, 0, 1, 1, 0, 0, 0},
    {"quad 128x256", QUAD, 1, 2, 0, 0, 0, 256, 0, 1, 1, 0, 0, 0},
    {"quad 128x192 two", QUAD, 2, 2, 0, 0, 0, 192, 0, 1, 0.80, 0, 0, 0},
    {"quad 128x128 two", QUAD, 2, 2, 0, 0, 0, 128, 0, 1, 0.96, 0, 0, 0},
    {"quad 128x128", QUAD, 1, 2, 0, 0, 0, 128, 0, 1, 1, 0, 0, 0},
    {"quad 64x256", QUAD, 1, 1, 0, 0, 0, 256, 0, 1, 1, 0, 0, 0},
    {"quad 64x128", QUAD, 1, 1, 0, 0, 0, 128, 0, 2, 1, 0, 0, 0},
    {"quad 128x64", QUAD, 1, 2, 0, 0, 0, 64, 0, 2, 1, 0, 0, 0},
    {"quad 64x64", QUAD, 1, 1, 0, 0, 0, 64, 0, 3, 1, 0, 0, 0},
    {"quad turned 128x256 two", QUAD, 2, 2, 1, 0, 0, 256, 0, 1, 1, 0, 0, 0},
    {"quad turned 128x128 two", QUAD, 2, 2, 1, 0, 0, 128, 0, 1, 0.96, 0, 0, 0},
    {"quad turned 128x64", QUAD, 1, 2, 1, 0, 0, 64, 0, 2, 1, 0, 0, 0},
    {"quad turned 64x64", QUAD, 1, 1, 1, 0, 0, 64, 0, 3, 1, 0, 0, 0},
    {"quad turned 128x32", QUAD, 1, 2, 1, 0, 0, 32, 0, 2, 1, 0, 0, 0},
    {"quad turned 64x32", QUAD, 1, 1, 1, 0, 0, 32, 0, 3, 1, 0, 0, 0},
    {"quad turned 128x16", QUAD, 1, 2, 1, 0, 0, 16, 0, 2, 1, 0, 0, 0},
    {"quad turned 64x16", QUAD, 1, 1, 1, 0, 0, 16, 0, 3, 1, 0, 0, 0},
    {"quad turned 128x8", QUAD, 1, 2, 1, 0, 0, 8, 0, 2, 1, 0, 0, 0},
    {"quad turned 64x8", QUAD, 1, 1, 1, 0, 0, 8, 0, 3, 1, 0, 0, 0},
    {"packed", PACKED, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0},
    {"vector", VECTOR, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0},
    {"strip", STRIP, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0},
};
static const variant *const packed = &variants[COUNT(variants) - 3],
                            *const vector = &variants[COUNT(variants) - 2],
                            *const strip = &variants[COUNT(variants) - 1];
enum { SMALLEST = 5 }; /* the tile that any device can run */

const char *qn__matmul_variant_name(uint32_t index) {
    return index < COUNT(variants) ? variants[index].name : NULL;
}

static qn__matmul_quad quad_of(const variant *v, uint64_t splits) {
    return (qn__matmul_quad){v->wm, v->wn, v->tn, v->resident, v->family == QUAD && v->lm, v->rate, splits};
}
static uint32_t tile_rows(const variant *v) { return v->wm * v->lm * v->tm; }
static uint32_t tile_columns(const variant *v) { return v->wn * v->ln * v->tn; }
/* Lanes, of which the units' variants have those of a sub-group. */
static uint32_t tile_items(const qn_kernels *kernels, const variant *v) {
    return v->wm * v->wn * (v->family == UNITS ? kernels->info.sub_group_size : v->lm * v->ln);
}
static uint64_t divide_up(uint64_t a, uint64_t b) { return a / b + (a % b != 0); }

static bool is_double(const qn__matmul *q) { return q->arrays[QN__MATMUL_A].type == QN_F64; }
static bool is_integer(const qn__matmul *q) { return !qn__element(q->arrays[QN__MATMUL_A].type)->is_float; }

static uint64_t batches_of(const qn__matmul *q) {
    const qn_array *out = &q->arrays[QN__MATMUL_OUT];
    uint64_t count = 1;
    for (uint32_t d = 0; d + 2 < out->rank; d++) count *= out->sizes[d];
    return count;
}

/* ---- which operands a variant takes ---- */

/* Stride along k, and along the other dimension, of A or B. */
static int64_t along_k(const qn__matmul *q, qn__matmul_operand x) {
    return x == QN__MATMUL_A ? q->column[x] : q->row[x];
}
static int64_t along_side(const qn__matmul *q, qn__matmul_operand x) {
    return x == QN__MATMUL_A ? q->row[x] : q->column[x];
}

static bool fits_tile(const qn_kernels *kernels, const qn__matmul *q, const variant *v) {
    const uint64_t local = 2ull * v->step * (tile_rows(v) + tile_columns(v) + 8) * (is_double(q) ? 8 : 4);
    if (is_double(q) && v->tm * v->tn > 32) return false; /* registers */
    return local <= kernels->info.local_memory && tile_items(kernels, v) <= kernels->info.max_group_size;
}

/* The name of a type in fragments; NULL: they are not made of it. f32 is not without leave, as precision is lost. */
static const char *unit_of(const qn__matmul *q, qn_element type) {
    switch (type) {
    case QN_F16: return "half";
    case QN_BF16: return "qn_bf16";
    case QN_E4M3: return "qn_e4m3";
    case QN_E5M2: return "qn_e5m2";
    case QN_I8: return "char";
    case QN_U8: return "uchar";
    case QN_F32: return q->tf32 ? "float" : NULL;
    default: return NULL;
    }
}

static qn_type type_of(qn_element element) {
    switch (element) {
    case QN_F16: return QN_TYPE_F16;
    case QN_BF16: return QN_TYPE_BF16;
    case QN_E4M3: return QN_TYPE_E4M3;
    case QN_E5M2: return QN_TYPE_E5M2;
    case QN_I8: return QN_TYPE_I8;
    case QN_U8: return QN_TYPE_U8;
    default: return QN_TYPE_F32;
    }
}

/* What the fragments of kernels/matmul/units.cl are. */
enum { UNITS_SIDE = 16, UNITS_K_BYTES = 32, UNITS_STEP_BYTES = 64 };

/* The device's matrix units do the product; elsewhere it is plain arithmetic, which tiles do better. */
static bool has_units(const qn_kernels *kernels, const qn__matmul *q) {
    const qn_element a = q->arrays[QN__MATMUL_A].type, b = q->arrays[QN__MATMUL_B].type;
    const qn_type sum = is_integer(q) ? QN_TYPE_I32 : QN_TYPE_F32;
    const uint32_t k = UNITS_K_BYTES / qn__element(a)->size;
    qn_matrix_shape s;
    for (uint32_t i = 0; i < kernels->info.matrix_shapes; i++)
        if (qn_device_get_matrix_shape(kernels->device, i, &s) == QN_OK && s.a == type_of(a) &&
            s.b == type_of(b) && s.sum == sum && UNITS_SIDE % s.rows == 0 && UNITS_SIDE % s.columns == 0 &&
            k % s.k == 0)
            return true;
    return false;
}

/* Tiles, two of each operand, and a fragment of sums for each sub-group; lines of one piece more than they need. */
static uint64_t units_local(const variant *v) {
    enum { LINE = UNITS_STEP_BYTES + 16, FRAGMENT = UNITS_SIDE * (UNITS_SIDE + 4) * 4 };
    return 2ull * (tile_rows(v) + tile_columns(v)) * LINE + (uint64_t)v->wm * v->wn * FRAGMENT;
}

static bool fits_units(const qn_kernels *kernels, const qn__matmul *q, const variant *v) {
    const qn_element a = q->arrays[QN__MATMUL_A].type, b = q->arrays[QN__MATMUL_B].type;
    const uint32_t items = tile_items(kernels, v), pieces = 4; /* of 16 bytes in a line of 64 */
    if (!unit_of(q, a) || !unit_of(q, b) || (a != b && qn__element(a)->size != 1)) return false;
    if (!(kernels->info.capabilities & QN_CAN_SUB_GROUPS) || items == 0 ||
        items > kernels->info.max_group_size)
        return false;
    if (tile_rows(v) * pieces % items || tile_columns(v) * pieces % items) return false;
    return units_local(v) <= kernels->info.local_memory;
}

enum { STRIP_COLUMNS = 16 };

static bool fits(const qn_kernels *kernels, const qn__matmul *q, const variant *v) {
    if (v->family == TILE) return fits_tile(kernels, q, v);
    if (v->family == UNITS) return fits_units(kernels, q, v);
    if (v->family == PACKED) return qn__matmul_packed_fits(kernels, q);
    if (v->family == STRIP) return q->splits <= 1;
    if (v->family == QUAD) {
        const qn__matmul_quad quad = quad_of(v, q->splits);
        return qn__matmul_quad_fits(kernels, q, &quad);
    }
    return qn__matmul_vector_fits(kernels, q);
}

/* ---- what it costs, in clocks of a device of so many units ---- */

static uint32_t units_of(const qn_kernels *kernels) {
    return kernels->info.compute_units ? kernels->info.compute_units : 16;
}

/* How k is cut. Joined: the parts are work-groups of a cluster, which add each other's sums. */
typedef struct cut {
    uint64_t splits;
    bool joined;
} cut;

/* The parts of k are added by another launch, which reads them once. */
static double cost_of_parts(const qn_kernels *kernels, const qn__matmul *q, uint64_t splits) {
    const double bytes = 4.0 * (double)splits * (double)q->m * (double)q->n * (double)batches_of(q);
    return splits > 1 ? 12000 + 150.0 * (double)splits + bytes / (9.6 * units_of(kernels)) : 0;
}

static bool is_in_vectors(const qn__matmul *q, qn__matmul_operand x);

/* Clocks until `groups` groups are done of which so many are on a unit at a time. One of r there takes the time of its own
   multiplications `alone` times, for what it waits for, and the r / rate times that all of them take from each other. Few rounds
   are whole ones; of many the last ones overlap. */
static double cost_of_rounds(const variant *v, double groups, double units, double multiplications) {
    enum { FEW = 5 };
    const double own = v->fixed + multiplications * v->alone, on_unit = groups / units,
                 rounds = on_unit / v->resident;
    if (rounds < FEW)
        return ceil(ceil(on_unit) / v->resident) * own + ceil(on_unit) * multiplications / v->rate;
    return (rounds + 0.3) * own + on_unit * multiplications / v->rate;
}

static double bytes_moved(const qn__matmul *q) {
    const uint64_t elements[] = {q->m * q->n, q->m * q->k, q->k * q->n};
    double bytes = 0;
    for (int i = 0; i < 3; i++) bytes += (double)elements[i] * qn__element(q->arrays[i].type)->size;
    return bytes * (double)batches_of(q);
}

static double cost_of_tiles(const qn_kernels *kernels, const qn__matmul *q, const variant *v, cut c) {
    /* By how many groups a cluster has: what share of the units such clusters fill, and what one waits for the others. */
    static const double full_share[] = {[2] = 1, [4] = 1, [8] = 0.87};
    static const double waits[] = {[2] = 1.02, [4] = 1.04, [8] = 1.07};
    const double tiles = (double)divide_up(q->m, tile_rows(v)) * (double)divide_up(q->n, tile_columns(v)) *
                         (double)batches_of(q);
    const double units = units_of(kernels) * (c.joined ? full_share[c.splits] : 1);
    const uint64_t steps = divide_up(divide_up(q->k, c.splits), v->step);
    double multiplications = (double)tile_rows(v) * tile_columns(v) * (double)(steps * v->step) / 128;
    for (int x = QN__MATMUL_A; x <= QN__MATMUL_B; x++)
        if (!is_in_vectors(q, (qn__matmul_operand)x)) multiplications *= sqrt(v->single);
    if (is_double(q)) multiplications *= 2;
    const double rounds = cost_of_rounds(v, tiles * (double)c.splits, units, multiplications);
    const double least = bytes_moved(q) / (13.8 * units_of(kernels));
    const double clocks = fmax(rounds * (c.joined ? waits[c.splits] : 1), least);
    return clocks + (c.joined ? 3700 + 67.0 * (double)c.splits : cost_of_parts(kernels, q, c.splits));
}

static bool comes_in_pieces(const qn__matmul *q, qn__matmul_operand x);

static double cost_of_units(const qn_kernels *kernels, const qn__matmul *q, const variant *v,
                            uint64_t splits) {
    const double groups = (double)divide_up(q->m, tile_rows(v)) * (double)divide_up(q->n, tile_columns(v)) *
                          (double)batches_of(q) * (double)splits;
    const double on_unit = ceil(groups / units_of(kernels)), there = fmin(on_unit, v->resident) / v->resident;
    const double area = tile_rows(v) * tile_columns(v),
                 multiplications = area * ((double)divide_up(q->k, splits) + v->step);
    const double single = comes_in_pieces(q, QN__MATMUL_A) && comes_in_pieces(q, QN__MATMUL_B) ? 1 : 5,
                 results = 0.7; /* clocks of each sum's way out */
    const double clocks = single * multiplications / (128 * v->rate * (0.35 + 0.65 * there)) + area * results;
    return fmax(on_unit * clocks, bytes_moved(q) / (14.0 * units_of(kernels))) +
           cost_of_parts(kernels, q, splits);
}

/* ---- the choice ---- */

typedef struct choice {
    const variant *variant;
    cut cut;
} choice;

static bool can_join(const qn_kernels *kernels, const qn__matmul *q, const variant *v, uint64_t splits) {
    return v->family == TILE && (splits == 2 || splits == 4 || splits == 8) && splits <= q->k &&
           !is_double(q) && (kernels->info.capabilities & QN_CAN_COPY_TILES);
}

static double cost_of(const qn_kernels *kernels, const qn__matmul *q, const variant *v, cut c) {
    return v->family == TILE ? cost_of_tiles(kernels, q, v, c) : cost_of_units(kernels, q, v, c.splits);
}

/* The cheapest number of parts of a variant. */
static choice choose_cut(const qn_kernels *kernels, const qn__matmul *q, const variant *v, double *least) {
    static const uint8_t splits[] = {1, 2, 3, 4, 6, 8, 12, 16, 32, 64};
    choice best = {v, {1, false}};
    *least = INFINITY;
    for (size_t i = 0; i < 2 * COUNT(splits); i++) {
        const cut c = {q->splits ? q->splits : splits[i / 2], i % 2};
        const uint64_t steps = q->k / c.splits / v->step;
        if (c.joined != can_join(kernels, q, v, c.splits) && (c.joined || q->splits)) continue;
        if (c.splits > 1 && !q->splits && steps < (c.joined ? 2 : 4)) continue;
        const double cost = cost_of(kernels, q, v, c);
        if (cost >= *least) continue;
        *least = cost;
        best.cut = c;
    }
    return best;
}

/* The cheapest tile and number of parts. */
static choice choose_tile(const qn_kernels *kernels, const qn__matmul *q, const variant *only) {
    choice best = {only ? only : &variants[SMALLEST], {q->splits ? q->splits : 1, false}};
    double least = INFINITY;
    for (size_t i = 0; i < COUNT(variants); i++) {
        const variant *v = &variants[i];
        if ((v->family != TILE && v->family != UNITS) || (only && v != only) || !fits(kernels, q, v))
            continue;
        if (v->family == UNITS && !only && !has_units(kernels, q)) continue;
        double cost;
        const choice c = choose_cut(kernels, q, v, &cost);
        if (cost < least) {
            least = cost;
            best = c;
        }
    }
    return best;
}

/* The cheapest of these, if one costs less. */
static void choose_quad(const qn_kernels *kernels, const qn__matmul *q, const variant *only, double least,
                        choice *best) {
    static const uint8_t splits[] = {1, 2, 3, 4, 8, 16, 32, 64, 128};
    for (size_t i = 0; i < COUNT(variants) * COUNT(splits); i++) {
        const variant *v = &variants[i / COUNT(splits)];
        const uint64_t parts = q->splits ? q->splits : splits[i % COUNT(splits)];
        if (v->family != QUAD || (only && v != only) || (q->splits && i % COUNT(splits))) continue;
        const qn__matmul_quad quad = quad_of(v, parts);
        if (!qn__matmul_quad_fits(kernels, q, &quad)) continue;
        const double cost = qn__matmul_quad_cost(kernels, q, &quad);
        if (cost < least) {
            least = cost;
            *best = (choice){v, {parts, false}};
        }
    }
}

static choice choose(const qn_kernels *kernels, const qn__matmul *q) {
    const variant *v = q->variant < 0 ? NULL : &variants[q->variant];
    const bool processor =
        kernels->info.kind == QN_DEVICE_CPU || (kernels->info.capabilities & QN_CAN_EMULATE);
    if (!v && qn__matmul_vector_pays(kernels, q)) v = vector;
    if (!v && qn__matmul_packed_pays(kernels, q)) v = packed;
    if (!v && processor && q->splits <= 1) v = strip;
    choice best = {v, {1, false}};
    if (!v || v->family == TILE || v->family == UNITS) {
        best = choose_tile(kernels, q, v);
        if (!v) choose_quad(kernels, q, NULL, cost_of(kernels, q, best.variant, best.cut), &best);
    } else if (v->family == QUAD) {
        choose_quad(kernels, q, v, INFINITY, &best);
    } else if (v->family == VECTOR) {
        best.cut.splits = q->splits ? q->splits : qn__matmul_vector_splits(kernels, q);
    }
    return best;
}

/* With the choice of the tuning, if there is one and the caller made none. */
static qn__matmul tuned(const qn_kernels *kernels, const qn__matmul *q) {
    const qn__tuned like = {
        .sizes = {q->m, q->n, q->k},
        .types = {q->arrays[QN__MATMUL_A].type, q->arrays[QN__MATMUL_B].type, q->arrays[QN__MATMUL_OUT].type},
        .tf32 = q->tf32,
        .turned = {q->column[QN__MATMUL_A] != 1 && q->row[QN__MATMUL_A] == 1,
                   q->column[QN__MATMUL_B] != 1 && q->row[QN__MATMUL_B] == 1}};
    const bool is_open = q->variant < 0 && !q->splits && q->k > 0 && batches_of(q) == 1;
    const qn__tuned *found = is_open ? qn__tuning_find(kernels, &like) : NULL;
    qn__matmul t = *q;
    if (!found) return t;
    t.variant = found->variant;
    t.splits = found->splits;
    return fits(kernels, &t, &variants[t.variant]) ? t : *q; /* strides and epilogues have a say, too */
}

/* ---- options ---- */

typedef struct text {
    char at[2048];
    size_t size;
} text;

static void add(text *t, const char *format, ...) {
    va_list args;
    va_start(args, format);
    const int n = vsnprintf(t->at + t->size, sizeof t->at - t->size, format, args);
    va_end(args);
    t->size += n > 0 ? (size_t)n : 0;
    if (t->size >= sizeof t->at) t->size = sizeof t->at - 1;
}

static const char *const words_of[QN__MATMUL_OPERANDS] = {"OUT", "A", "B", "C", "BIAS", "RESIDUAL"};

static bool in_fours(const qn__matmul *q, qn__matmul_operand x, int64_t next, int64_t other) {
    return qn__matmul_in_runs(q, x, next, other, 4);
}

/* Whether neighbours along k are nearer than those along the other dimension. */
static bool taken_along_k(const qn__matmul *q, qn__matmul_operand x) {
    const int64_t k = along_k(q, x), side = along_side(q, x);
    return side != 1 && (k == 1 || llabs(k) < llabs(side));
}

static qn_element sum_of(const qn__matmul *q) {
    return is_double(q) ? QN_F64 : is_integer(q) ? QN_I32 : QN_F32;
}
static qn_element result_of(const qn__matmul *q) { return is_integer(q) && !q->plain ? QN_F32 : sum_of(q); }

/* Whether results can be stored four at a time. */
static bool has_store4(const qn__matmul *q) {
    const qn_element result = result_of(q), to = q->arrays[QN__MATMUL_OUT].type;
    const bool can = (result == QN_F32 && (to == QN_F32 || to == QN_F16 || to == QN_BF16)) ||
                     (result == QN_I32 && to == QN_I32);
    return can && in_fours(q, QN__MATMUL_OUT, q->column[QN__MATMUL_OUT], q->row[QN__MATMUL_OUT]);
}

static void add_types(text *t, const qn__matmul *q) {
    const qn_element sum = sum_of(q), result = result_of(q);
    const char *s = qn__element(sum)->value, *r = qn__element(result)->value;
    add(t, "-D SUM=%s -D SUM4=%s4 -D SUM16=%s16 -D RESULT=%s -D RESULT4=%s4 -D FACTOR=%s", s, s, s, r, r,
        is_double(q) ? "double" : "float");
    for (int i = 0; i < QN__MATMUL_OPERANDS; i++) {
        const qn__element_info *e = qn__element(q->has[i] ? q->arrays[i].type : QN_F32);
        add(t, " -D %s_T=%s -D %s_%s=%s", words_of[i], e->storage, words_of[i], i ? "LOAD" : "STORE",
            i ? e->load : e->store);
        if (i == QN__MATMUL_A || i == QN__MATMUL_B) add(t, " -D %s_LOAD4=%s4", words_of[i], e->load);
        if (i >= QN__MATMUL_C && q->has[i]) add(t, " -D HAS_%s", words_of[i]);
    }
    const qn_element to = q->arrays[QN__MATMUL_OUT].type;
    const bool narrows = result == QN_I32 && !qn__element(to)->is_float && to != QN_I32;
    const qn__conversion conversion = qn__element_conversion(result, to);
    const char *convert = narrows ? qn__element(to)->to_value : conversion.text;
    add(t, " -D TO_OUT=%s -D ACTIVATION=%d%s", convert, (int)q->activation, q->plain ? " -D PLAIN" : "");
    if (sum == QN_I32) add(t, " -D SUM_IS_INTEGER");
    if (has_store4(q)) add(t, " -D OUT_STORE4=%s4", qn__element(to)->store);
}

/* Whether the matrix units' kernel loads 16 bytes at a time. */
static bool comes_in_pieces(const qn__matmul *q, qn__matmul_operand x) {
    const int64_t k = along_k(q, x), side = along_side(q, x);
    const uint32_t run = 16 / qn__element(q->arrays[x].type)->size;
    return taken_along_k(q, x) ? qn__matmul_in_runs(q, x, k, side, run)
                               : qn__matmul_in_runs(q, x, side, k, run);
}

static void add_operand(text *t, const qn__matmul *q, qn__matmul_operand x) {
    add(t, " -D %s_ALONG_K=%d -D %s_VECTORS=%d", words_of[x], taken_along_k(q, x), words_of[x],
        comes_in_pieces(q, x));
}

static uint32_t strip_rows(const qn__matmul *q) { return q->m >= 8 ? 8 : q->m >= 4 ? 4 : 1; }

/* ---- the numbers ---- */

static qn_status set_numbers(const qn_kernels *kernels, const qn__matmul *q, qn__matmul_plan *p,
                             uint32_t *batches) {
    static const char *const names[QN__MATMUL_OPERANDS] = {"the batches of out",  "the batches of a",
                                                           "the batches of b",    "the batches of c",
                                                           "the batches of bias", "the batches of residual"};
    qn_array before[QN__MATMUL_OPERANDS] = {{0}};
    const qn_array *at[QN__MATMUL_OPERANDS];
    for (int i = 0; i < QN__MATMUL_OPERANDS; i++) {
        at[i] = &before[i];
        if (!q->has[i]) continue;
        before[i] = q->arrays[i];
        before[i].rank = before[i].rank > 2 ? before[i].rank - 2 : 0;
    }
    qn__walk walk;
    const qn_status status =
        qn__walk_make(kernels, "qn_kernels_matmul", at, names, QN__MATMUL_OPERANDS, &walk);
    if (status) return status;
    const uint64_t head[] = {0, 0, 0, 0, 0, 0, q->m, q->n, q->k, p->part};
    uint64_t *w = p->words;
    for (size_t i = 0; i < COUNT(head); i++) *w++ = head[i];
    static const qn__matmul_operand order[] = {QN__MATMUL_A, QN__MATMUL_B,    QN__MATMUL_OUT,
                                               QN__MATMUL_C, QN__MATMUL_BIAS, QN__MATMUL_RESIDUAL};
    for (size_t i = 0; i < COUNT(order); i++) {
        *w++ = (uint64_t)q->row[order[i]];
        *w++ = (uint64_t)q->column[order[i]];
    }
    for (uint32_t d = 0; d < walk.rank; d++) *w++ = walk.sizes[d];
    for (int i = 0; i < QN__MATMUL_OPERANDS; i++)
        for (uint32_t d = 0; d < walk.rank; d++) *w++ = (uint64_t)walk.strides[i][d];
    p->num_words = (uint32_t)(w - p->words);
    *batches = walk.rank;
    return QN_OK;
}

static void set_range(const qn_kernels *kernels, const qn__matmul *q, const choice *c, qn__matmul_plan *p) {
    const variant *v = c->variant;
    const uint64_t batches = batches_of(q);
    qn_range *r = &p->range;
    if (v->family == TILE || v->family == UNITS) {
        const uint64_t tiles = divide_up(q->m, tile_rows(v)) * divide_up(q->n, tile_columns(v));
        const cut cut = c->cut;
        *r = (qn_range){.global = {tiles * tile_items(kernels, v) * (cut.joined ? cut.splits : 1),
                                   cut.joined ? 1 : cut.splits, batches},
                        .local = {tile_items(kernels, v), 1, 1}};
    } else if (v->family == STRIP)
        *r = (qn_range){.global = {divide_up(q->n, STRIP_COLUMNS), divide_up(q->m, strip_rows(q)), batches}};
    else
        *r = qn__matmul_vector_range(kernels, q, c->cut.splits);
    p->finish_range = (qn_range){.global = {q->n, q->m, batches}};
}

static void add_units(text *t, const qn_kernels *kernels, const qn__matmul *q, const variant *v) {
    static const char *const bits[] = {[1] = "uchar", [2] = "ushort", [4] = "uint"};
    const qn_element a = q->arrays[QN__MATMUL_A].type, b = q->arrays[QN__MATMUL_B].type;
    const uint32_t size = qn__element(a)->size;
    add(t, " -D WM=%u -D WN=%u -D SM=%u -D SN=%u -D ITEMS=%u -D SIZE=%u -D BITS=%s -D A_UNIT=%s -D B_UNIT=%s",
        v->wm, v->wn, v->tm, v->tn, tile_items(kernels, v), size, bits[size], unit_of(q, a), unit_of(q, b));
    add(t, " -D BYTES=%d -D LANES=%u", UNITS_STEP_BYTES, kernels->info.sub_group_size);
    add_operand(t, q, QN__MATMUL_A);
    add_operand(t, q, QN__MATMUL_B);
}

static uint64_t sides_of(const qn__matmul *q, qn__matmul_operand x) {
    return x == QN__MATMUL_A ? q->m : q->n;
}

/* Whether a tile's kernel loads the operand four at a time: whole vectors, in which nothing lies beyond the matrix. */
static bool is_in_vectors(const qn__matmul *q, qn__matmul_operand x) {
    const bool k_first = taken_along_k(q, x);
    const int64_t k = along_k(q, x), side = along_side(q, x);
    return k_first ? q->k % 4 == 0 && in_fours(q, x, k, side)
                   : sides_of(q, x) % 4 == 0 && in_fours(q, x, side, k);
}

static void add_tile_operand(text *t, const qn__matmul *q, qn__matmul_operand x, uint32_t tile) {
    const bool k_first = taken_along_k(q, x);
    const int64_t near = k_first ? along_k(q, x) : along_side(q, x);
    add(t, " -D %s_ALONG_K=%d -D %s_NEAR=%d -D %s_VECTORS=%d -D SHORT_%s=%d", words_of[x], k_first,
        words_of[x], near == 1, words_of[x], is_in_vectors(q, x), words_of[x], sides_of(q, x) < tile);
}

static void add_tile(text *t, const qn__matmul *q, const variant *v) {
    add(t, " -D WM=%u -D WN=%u -D LM=%u -D LN=%u -D TM=%u -D TN=%u -D BK=%u", v->wm, v->wn, v->lm, v->ln,
        v->tm, v->tn, v->step);
    add_tile_operand(t, q, QN__MATMUL_A, tile_rows(v));
    add_tile_operand(t, q, QN__MATMUL_B, tile_columns(v));
    if (q->n % 4 == 0 && has_store4(q)) add(t, " -D WHOLE_RUNS");
}

static void add_family(text *t, const qn_kernels *kernels, const qn__matmul *q, const variant *v,
                       const qn__matmul_plan *p) {
    if (v->family == QUAD) {
        const qn__matmul_quad quad = quad_of(v, p->splits);
        qn__matmul_quad_options(q, &quad, &p->tensors, t->at + t->size, sizeof t->at - t->size);
        t->size += strlen(t->at + t->size);
    } else if (v->family == TILE) {
        add_tile(t, q, v);
    } else if (v->family == UNITS) {
        add_units(t, kernels, q, v);
    } else if (v->family == PACKED) {
        qn__matmul_packed_options(kernels, q, t->at + t->size, sizeof t->at - t->size);
        t->size += strlen(t->at + t->size);
    } else if (v->family == VECTOR) {
        qn__matmul_vector_options(kernels, q, t->at + t->size, sizeof t->at - t->size);
        t->size += strlen(t->at + t->size);
    } else {
        const qn_element b = q->arrays[QN__MATMUL_B].type;
        const bool vectors =
            q->column[QN__MATMUL_B] == 1 && q->n >= STRIP_COLUMNS && (b == QN_F32 || b == QN_F64);
        add(t, " -D ROWS=%u -D B_VECTORS=%d", strip_rows(q), vectors);
    }
}

/* Parts of k begin where vectors along k may, of 16 elements at most. */
enum { PART_UNIT = 16 };

/* None of the parts is empty. */
static void set_parts(const qn__matmul *q, cut *cut, qn__matmul_plan *p) {
    if (cut->splits > q->k) cut->splits = q->k ? q->k : 1;
    p->part = divide_up(divide_up(q->k, cut->splits), PART_UNIT) * PART_UNIT;
    if (!cut->joined) p->splits = cut->splits = p->part ? divide_up(q->k, p->part) : 1;
}

static qn_status make(qn_kernels *kernels, const void *request, void *plan) {
    static const char *const files[] = {"matmul/tile.cl",   "matmul/units.cl",  "matmul/quad.cl",
                                        "matmul/packed.cl", "matmul/vector.cl", "matmul/strip.cl"};
    const qn__matmul t = tuned(kernels, request), *q = &t;
    qn__matmul turned;
    qn__matmul_plan *p = plan;
    choice c = choose(kernels, q);
    if (q->variant >= 0 && !fits(kernels, q, &variants[q->variant]))
        return qn__op_fail(kernels, QN_ERROR_ARGUMENT, "qn_kernels_matmul: variant '%s' cannot do this on %s",
                           variants[q->variant].name, kernels->info.name);
    cut *cut = &c.cut;
    const qn__matmul_quad quad = quad_of(c.variant, cut->splits);
    if (quad.turned) turned = qn__matmul_turned(q);
    if (quad.turned) q = &turned;
    if (c.variant->family == QUAD)
        qn__matmul_quad_plan(kernels, q, &quad, p);
    else
        set_parts(q, cut, p);
    uint32_t batches = 0;
    qn_status status = set_numbers(kernels, q, p, &batches);
    if (status) return status;
    if (c.variant->family == PACKED)
        status = qn__matmul_packed_plan(kernels, q, batches_of(q), p);
    else if (c.variant->family != QUAD)
        set_range(kernels, q, &c, p);
    text options = {.size = 0};
    add_types(&options, q);
    add(&options, " -D BATCHES=%u", batches);
    if (quad.turned) add(&options, " -D TURNED");
    if (c.variant->family == QUAD) cut->splits = p->splits;
    if (cut->joined) {
        add(&options, " -D CLUSTER=%u", (unsigned)cut->splits);
    } else if (cut->splits > 1) {
        const uint64_t size = is_double(q) ? 8 : 4, elements = q->m * q->n * batches_of(q);
        if (elements > UINT64_MAX / size / cut->splits)
            return qn__op_fail(kernels, QN_ERROR_DEVICE_MEMORY,
                               "qn_kernels_matmul: %llu parts of k take too much memory",
                               (unsigned long long)cut->splits);
        p->work = elements * size * cut->splits;
        status = qn__variant_get(kernels, &(qn__variant){"matmul/finish.cl", NULL, options.at}, &p->finish);
        add(&options, " -D SPLIT");
    }
    add_family(&options, kernels, q, c.variant, p);
    qn__variant text = {files[c.variant->family], NULL, options.at};
    if (!status && c.variant->family == PACKED) {
        text.kernel = "pack";
        status = qn__variant_get(kernels, &text, &p->pack);
        text.kernel = "matmul";
    }
    return status ? status : qn__variant_get(kernels, &text, &p->kernel);
}

const qn__op qn__matmul_op = {"qn_kernels_matmul", sizeof(qn__matmul_plan), make};
