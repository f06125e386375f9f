/* Which way a qn_kernels_matmul goes: a table of variants, and a model of what each costs on a device with so many compute units. Tiles take
   any operands; so there always is one. */
#include <math.h>

#include "kernels/matmul.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

static const qn__matmul_variant variants[] = {
    {"tile 128x128", QN__BY_TILES, 2, 2, 8, 4, 8, 16, 8, 2, 1.42, 1.18, 8440, 1.15},
    {"tile 64x128", QN__BY_TILES, 2, 2, 4, 8, 8, 8, 8, 3, 1.33, 1.75, 3130, 1.08},
    {"tile 64x128 by 16", QN__BY_TILES, 2, 2, 4, 8, 8, 8, 16, 3, 1.04, 1.07, 5520, 1.12},
    {"tile 128x64", QN__BY_TILES, 4, 1, 4, 8, 8, 8, 16, 3, 1.08, 1.33, 5420, 1.11},
    {"tile 64x64", QN__BY_TILES, 2, 2, 4, 8, 8, 4, 16, 7, 0.775, 1.25, 2020, 1.05},
    {"tile 32x32", QN__BY_TILES, 2, 1, 4, 8, 4, 4, 16, 10, 0.725, 5.50, 265, 1.22},
    {"tile 16x128", QN__BY_TILES, 1, 2, 4, 8, 4, 8, 16, 10, 0.783, 3.95, 1410, 1.14},
    {"tile 8x128", QN__BY_TILES, 1, 2, 2, 16, 4, 4, 32, 6, 0.539, 5.00, 1060, 1.05},
    {"tile 128x16", QN__BY_TILES, 2, 1, 8, 4, 8, 4, 16, 10, 0.50, 3.30, 370, 1.14},
    {"units 128x128", QN__BY_UNITS, 2, 2, 1, 1, 64, 64, 32, 2, 8, 0, 0, 0},
    {"units 64x64", QN__BY_UNITS, 2, 2, 1, 1, 32, 32, 32, 4, 5, 0, 0, 0},
    {"units 32x32", QN__BY_UNITS, 1, 1, 1, 1, 32, 32, 32, 12, 3, 0, 5000, 0},
    {"quad 128x256 two", QN__BY_QUADS, 2, 2, 0, 0, 0, 256, 0, 1, 1, 0, 0, 0},
    {"quad 128x256", QN__BY_QUADS, 1, 2, 0, 0, 0, 256, 0, 1, 1, 0, 0, 0},
    {"quad 128x192 two", QN__BY_QUADS, 2, 2, 0, 0, 0, 192, 0, 1, 0.80, 0, 0, 0},
    {"quad 128x128 two", QN__BY_QUADS, 2, 2, 0, 0, 0, 128, 0, 1, 0.96, 0, 0, 0},
    {"quad 128x128", QN__BY_QUADS, 1, 2, 0, 0, 0, 128, 0, 1, 1, 0, 0, 0},
    {"quad 64x256", QN__BY_QUADS, 1, 1, 0, 0, 0, 256, 0, 1, 1, 0, 0, 0},
    {"quad 64x128", QN__BY_QUADS, 1, 1, 0, 0, 0, 128, 0, 2, 1, 0, 0, 0},
    {"quad 128x64", QN__BY_QUADS, 1, 2, 0, 0, 0, 64, 0, 2, 1, 0, 0, 0},
    {"quad 64x64", QN__BY_QUADS, 1, 1, 0, 0, 0, 64, 0, 3, 1, 0, 0, 0},
    {"quad turned 128x256 two", QN__BY_QUADS, 2, 2, 1, 0, 0, 256, 0, 1, 1, 0, 0, 0},
    {"quad turned 128x128 two", QN__BY_QUADS, 2, 2, 1, 0, 0, 128, 0, 1, 0.96, 0, 0, 0},
    {"quad turned 128x64", QN__BY_QUADS, 1, 2, 1, 0, 0, 64, 0, 2, 1, 0, 0, 0},
    {"quad turned 64x64", QN__BY_QUADS, 1, 1, 1, 0, 0, 64, 0, 3, 1, 0, 0, 0},
    {"quad turned 128x32", QN__BY_QUADS, 1, 2, 1, 0, 0, 32, 0, 2, 1, 0, 0, 0},
    {"quad turned 64x32", QN__BY_QUADS, 1, 1, 1, 0, 0, 32, 0, 3, 1, 0, 0, 0},
    {"quad turned 128x16", QN__BY_QUADS, 1, 2, 1, 0, 0, 16, 0, 2, 1, 0, 0, 0},
    {"quad turned 64x16", QN__BY_QUADS, 1, 1, 1, 0, 0, 16, 0, 3, 1, 0, 0, 0},
    {"quad turned 128x8", QN__BY_QUADS, 1, 2, 1, 0, 0, 8, 0, 2, 1, 0, 0, 0},
    {"quad turned 64x8", QN__BY_QUADS, 1, 1, 1, 0, 0, 8, 0, 3, 1, 0, 0, 0},
    {"packed", QN__BY_PACKED, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0},
    {"panels", QN__BY_PANELS, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0},
    {"vector", QN__BY_VECTOR, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0},
    {"strip", QN__BY_STRIP, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0},
};
static const qn__matmul_variant *const packed = &variants[COUNT(variants) - 4],
                                       *const panels = &variants[COUNT(variants) - 3],
                                       *const vector = &variants[COUNT(variants) - 2],
                                       *const strip = &variants[COUNT(variants) - 1];
enum { SMALLEST = 5 }; /* the tile that any device can run */

uint32_t qn__matmul_variant_index(const qn__matmul_variant *v) { return (uint32_t)(v - variants); }

const char *qn__matmul_variant_name(uint32_t index) {
    return index < COUNT(variants) ? variants[index].name : NULL;
}

qn__matmul_quad qn__matmul_quad_of(const qn__matmul_variant *v, uint64_t splits) {
    return (qn__matmul_quad){v->wm,   v->wn, v->tn, v->resident, v->family == QN__BY_QUADS && v->lm,
                             v->rate, splits};
}

uint32_t qn__matmul_tile_rows(const qn__matmul_variant *v) { return v->wm * v->lm * v->tm; }

uint32_t qn__matmul_tile_columns(const qn__matmul_variant *v) { return v->wn * v->ln * v->tn; }

uint32_t qn__matmul_tile_items(const qn_kernels *kernels, const qn__matmul_variant *v) {
    return v->wm * v->wn * (v->family == QN__BY_UNITS ? kernels->info.sub_group_size : v->lm * v->ln);
}

static uint64_t divide_up(uint64_t a, uint64_t b) { return a / b + (a % b != 0); }

/* ---- which operands a variant takes ---- */

const char *qn__matmul_unit(const qn__matmul *q, qn_element type) {
    switch (type) {
    case QN_F16: return "half";
    case QN_BF16: return "qn_bf16";
    case QN_E4M3: return "qn_e4m3";
    case QN_E5M2: return "qn_e5m2";
    case QN_I8: return "char";
    case QN_U8: return "uchar";
    case QN_F64: return "double";
    case QN_F32: return q->tf32 ? "float" : NULL;
    default: return NULL;
    }
}

static bool fits_tile(const qn_kernels *kernels, const qn__matmul *q, const qn__matmul_variant *v) {
    const uint64_t local = 2ull * v->step * (qn__matmul_tile_rows(v) + qn__matmul_tile_columns(v) + 8) *
                           (qn__matmul_is_double(q) ? 8 : 4);
    if (qn__matmul_is_double(q) && v->tm * v->tn > 32) return false; /* registers */
    return local <= kernels->info.local_memory &&
           qn__matmul_tile_items(kernels, v) <= kernels->info.max_group_size;
}

static qn_type type_of(qn_element element) {
    switch (element) {
    case QN_F16: return QN_TYPE_F16;
    case QN_BF16: return QN_TYPE_BF16;
    case QN_E4M3: return QN_TYPE_E4M3;
    case QN_E5M2: return QN_TYPE_E5M2;
    case QN_I8: return QN_TYPE_I8;
    case QN_U8: return QN_TYPE_U8;
    case QN_F64: return QN_TYPE_F64;
    default: return QN_TYPE_F32;
    }
}

/* What the fragments of kernels/matmul/units.cl are. */
enum { UNITS_SIDE = 16, UNITS_K_BYTES = 32, UNITS_LEAST_K = 8 };

/* The device's matrix units do the product; elsewhere it is plain arithmetic, which tiles do better. */
static bool has_units(const qn_kernels *kernels, const qn__matmul *q) {
    const qn_element a = q->arrays[QN__MATMUL_A].type, b = q->arrays[QN__MATMUL_B].type;
    const qn_type sum = qn__matmul_is_integer(q)  ? QN_TYPE_I32
                        : qn__matmul_is_double(q) ? QN_TYPE_F64
                                                  : QN_TYPE_F32;
    const uint32_t k = qn__matmul_is_double(q) ? UNITS_LEAST_K : UNITS_K_BYTES / qn__element(a)->size;
    qn_matrix_shape s;
    for (uint32_t i = 0; i < kernels->info.matrix_shapes; i++)
        if (qn_device_get_matrix_shape(kernels->device, i, &s) == QN_OK && s.a == type_of(a) &&
            s.b == type_of(b) && s.sum == sum && UNITS_SIDE % s.rows == 0 && UNITS_SIDE % s.columns == 0 &&
            k % s.k == 0)
            return true;
    return false;
}

uint32_t qn__matmul_units_bytes(const qn__matmul *q) {
    enum { BYTES = 64 };
    return qn__matmul_is_double(q) ? 2 * BYTES : BYTES;
}

/* Tiles, two of each operand, of f64 as many as are on their way and one, and a fragment of sums for each sub-group; lines of one piece
   more than they need, of f64 two. */
static uint64_t units_local(const qn__matmul *q, const qn__matmul_variant *v) {
    enum { FRAGMENT = UNITS_SIDE * (UNITS_SIDE + 4) };
    const uint64_t line = qn__matmul_units_bytes(q) + (qn__matmul_is_double(q) ? 32 : 16),
                   sum = qn__matmul_is_double(q) ? 8 : 4,
                   tiles = qn__matmul_is_double(q) ? QN__MATMUL_STAGES : 2;
    return tiles * (qn__matmul_tile_rows(v) + qn__matmul_tile_columns(v)) * line +
           sum * v->wm * v->wn * FRAGMENT;
}

/* Three work-groups are to share a unit's registers. */
static bool units_hold(const qn__matmul *q, const qn__matmul_variant *v) {
    enum { MOST_DOUBLES = 32 * 32 };
    return !qn__matmul_is_double(q) || v->tm * v->tn <= MOST_DOUBLES;
}

static bool fits_units(const qn_kernels *kernels, const qn__matmul *q, const qn__matmul_variant *v) {
    const qn_element a = q->arrays[QN__MATMUL_A].type, b = q->arrays[QN__MATMUL_B].type;
    const uint32_t items = qn__matmul_tile_items(kernels, v), pieces = qn__matmul_units_bytes(q) / 16;
    const uint32_t rows = qn__matmul_tile_rows(v), columns = qn__matmul_tile_columns(v);
    if (!qn__matmul_unit(q, a) || !qn__matmul_unit(q, b) || (a != b && qn__element(a)->size != 1))
        return false;
    if (!(kernels->info.capabilities & QN_CAN_SUB_GROUPS) || items == 0 ||
        items > kernels->info.max_group_size)
        return false;
    if (rows * pieces % items || columns * pieces % items) return false;
    if (items < (rows > columns ? rows : columns) * qn__element(a)->size / 16)
        return false; /* whole lines at once */
    return units_hold(q, v) && units_local(q, v) <= kernels->info.local_memory;
}

static bool fits(const qn_kernels *kernels, const qn__matmul *q, const qn__matmul_variant *v) {
    if (v->family == QN__BY_TILES) return fits_tile(kernels, q, v);
    if (v->family == QN__BY_UNITS) return fits_units(kernels, q, v);
    if (v->family == QN__BY_PACKED) return qn__matmul_packed_fits(kernels, q);
    if (v->family == QN__BY_PANELS) return qn__matmul_panels_fits(kernels, q);
    if (v->family == QN__BY_STRIP) return q->splits <= 1;
    if (v->family == QN__BY_QUADS) {
        const qn__matmul_quad quad = qn__matmul_quad_of(v, q->splits);
        return qn__matmul_quad_fits(kernels, q, &quad);
    }
    return qn__matmul_vector_fits(kernels, q);
}

/* ---- what it costs, in clocks of a device of so many units ---- */

static uint32_t units_of(const qn_kernels *kernels) {
    return kernels->info.compute_units ? kernels->info.compute_units : 16;
}

/* The parts of k are added by another launch, which reads them once. */
static double cost_of_parts(const qn_kernels *kernels, const qn__matmul *q, uint64_t splits) {
    const double bytes = 4.0 * (double)splits * (double)q->m * (double)q->n * (double)qn__matmul_batches(q);
    return splits > 1 ? 12000 + 150.0 * (double)splits + bytes / (9.6 * units_of(kernels)) : 0;
}

/* Clocks until `groups` groups are done of which so many are on a unit at a time. One of r there takes the time of its own
   multiplications `alone` times, for what it waits for, and the r / rate times that all of them take from each other. Few rounds
   are whole ones; of many the last ones overlap. */
static double cost_of_rounds(const qn__matmul_variant *v, double groups, double units,
                             double multiplications) {
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
    return bytes * (double)qn__matmul_batches(q);
}

static double cost_of_tiles(const qn_kernels *kernels, const qn__matmul *q, const qn__matmul_variant *v,
                            qn__matmul_cut c) {
    /* By how many groups a cluster has: what share of the units such clusters fill, and what one waits for the others. */
    static const double full_share[] = {[2] = 1, [4] = 1, [8] = 0.87};
    static const double waits[] = {[2] = 1.02, [4] = 1.04, [8] = 1.07};
    const double tiles = (double)divide_up(q->m, qn__matmul_tile_rows(v)) *
                         (double)divide_up(q->n, qn__matmul_tile_columns(v)) * (double)qn__matmul_batches(q);
    const double units = units_of(kernels) * (c.joined ? full_share[c.splits] : 1);
    const uint64_t steps = divide_up(divide_up(q->k, c.splits), v->step);
    double multiplications =
        (double)qn__matmul_tile_rows(v) * qn__matmul_tile_columns(v) * (double)(steps * v->step) / 128;
    for (int x = QN__MATMUL_A; x <= QN__MATMUL_B; x++)
        if (!qn__matmul_in_vectors(q, (qn__matmul_operand)x)) multiplications *= sqrt(v->single);
    if (qn__matmul_is_double(q)) multiplications *= 2;
    const double rounds = cost_of_rounds(v, tiles * (double)c.splits, units, multiplications);
    const double least = bytes_moved(q) / (13.8 * units_of(kernels));
    const double clocks = fmax(rounds * (c.joined ? waits[c.splits] : 1), least);
    return clocks + (c.joined ? 3700 + 67.0 * (double)c.splits : cost_of_parts(kernels, q, c.splits));
}

static double cost_of_units(const qn_kernels *kernels, const qn__matmul *q, const qn__matmul_variant *v,
                            uint64_t splits) {
    const double groups = (double)divide_up(q->m, qn__matmul_tile_rows(v)) *
                          (double)divide_up(q->n, qn__matmul_tile_columns(v)) *
                          (double)qn__matmul_batches(q) * (double)splits;
    const double on_unit = ceil(groups / units_of(kernels)), there = fmin(on_unit, v->resident) / v->resident;
    const double area = qn__matmul_tile_rows(v) * qn__matmul_tile_columns(v),
                 multiplications = area * ((double)divide_up(q->k, splits) + v->step),
                 rate = qn__matmul_is_double(q) ? v->rate / 6 : v->rate;
    const bool in_pieces = qn__matmul_in_pieces(q, QN__MATMUL_A) && qn__matmul_in_pieces(q, QN__MATMUL_B);
    const double single = in_pieces                 ? 1
                          : qn__matmul_is_double(q) ? 2
                                                    : 5,
                 results = qn__matmul_is_double(q) ? 1.4 : 0.7; /* clocks of each sum's way out */
    const double clocks = single * multiplications / (128 * rate * (0.35 + 0.65 * there)) + area * results,
                 steps = (double)divide_up(divide_up(q->k, splits), v->step),
                 waits = ceil(on_unit / v->resident) * steps * v->fixed;
    return fmax(fmax(on_unit * clocks, waits), bytes_moved(q) / (14.0 * units_of(kernels))) +
           cost_of_parts(kernels, q, splits);
}

/* ---- the choice ---- */

static bool can_join(const qn_kernels *kernels, const qn__matmul *q, const qn__matmul_variant *v,
                     uint64_t splits) {
    return v->family == QN__BY_TILES && (splits == 2 || splits == 4 || splits == 8) && splits <= q->k &&
           !qn__matmul_is_double(q) && (kernels->info.capabilities & QN_CAN_COPY_TILES);
}

static double cost_of(const qn_kernels *kernels, const qn__matmul *q, const qn__matmul_variant *v,
                      qn__matmul_cut c) {
    return v->family == QN__BY_TILES ? cost_of_tiles(kernels, q, v, c)
                                     : cost_of_units(kernels, q, v, c.splits);
}

/* The cheapest number of parts of a variant. */
static qn__matmul_choice choose_cut(const qn_kernels *kernels, const qn__matmul *q,
                                    const qn__matmul_variant *v, double *least) {
    static const uint8_t splits[] = {1, 2, 3, 4, 6, 8, 12, 16, 32, 64, 128};
    qn__matmul_choice best = {v, {1, false}};
    *least = INFINITY;
    for (size_t i = 0; i < 2 * COUNT(splits); i++) {
        const qn__matmul_cut c = {q->splits ? q->splits : splits[i / 2], i % 2};
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
static qn__matmul_choice choose_tile(const qn_kernels *kernels, const qn__matmul *q,
                                     const qn__matmul_variant *only) {
    qn__matmul_choice best = {only ? only : &variants[SMALLEST], {q->splits ? q->splits : 1, false}};
    double least = INFINITY;
    for (size_t i = 0; i < COUNT(variants); i++) {
        const qn__matmul_variant *v = &variants[i];
        if ((v->family != QN__BY_TILES && v->family != QN__BY_UNITS) || (only && v != only) ||
            !fits(kernels, q, v))
            continue;
        if (v->family == QN__BY_UNITS && !only && !has_units(kernels, q)) continue;
        double cost;
        const qn__matmul_choice c = choose_cut(kernels, q, v, &cost);
        if (cost < least) {
            least = cost;
            best = c;
        }
    }
    return best;
}

/* The cheapest of these, if one costs less. */
static void choose_quad(const qn_kernels *kernels, const qn__matmul *q, const qn__matmul_variant *only,
                        double least, qn__matmul_choice *best) {
    static const uint8_t splits[] = {1, 2, 3, 4, 8, 16, 32, 64, 128};
    for (size_t i = 0; i < COUNT(variants) * COUNT(splits); i++) {
        const qn__matmul_variant *v = &variants[i / COUNT(splits)];
        const uint64_t parts = q->splits ? q->splits : splits[i % COUNT(splits)];
        if (v->family != QN__BY_QUADS || (only && v != only) || (q->splits && i % COUNT(splits))) continue;
        const qn__matmul_quad quad = qn__matmul_quad_of(v, parts);
        if (!qn__matmul_quad_fits(kernels, q, &quad)) continue;
        const double cost = qn__matmul_quad_cost(kernels, q, &quad);
        if (cost < least) {
            least = cost;
            *best = (qn__matmul_choice){v, {parts, false}};
        }
    }
}

static qn__matmul_choice choose(const qn_kernels *kernels, const qn__matmul *q) {
    const qn__matmul_variant *v = q->variant < 0 ? NULL : &variants[q->variant];
    const bool processor =
        kernels->info.kind == QN_DEVICE_CPU || (kernels->info.capabilities & QN_CAN_EMULATE);
    if (!v && qn__matmul_vector_pays(kernels, q)) v = vector;
    if (!v && qn__matmul_panels_pays(kernels, q)) v = panels;
    if (!v && qn__matmul_packed_pays(kernels, q)) v = packed;
    if (!v && processor && q->splits <= 1) v = strip;
    qn__matmul_choice best = {v, {1, false}};
    if (!v || v->family == QN__BY_TILES || v->family == QN__BY_UNITS) {
        best = choose_tile(kernels, q, v);
        if (!v) choose_quad(kernels, q, NULL, cost_of(kernels, q, best.variant, best.cut), &best);
    } else if (v->family == QN__BY_QUADS) {
        choose_quad(kernels, q, v, INFINITY, &best);
    } else if (v->family == QN__BY_VECTOR) {
        best.cut.splits = q->splits ? q->splits : qn__matmul_vector_splits(kernels, q);
    }
    return best;
}

/* ---- what a tuning says ---- */

bool qn__matmul_is_open(const qn__matmul *q) {
    return q->variant < 0 && !q->splits && q->k > 0 && qn__matmul_batches(q) == 1;
}

static bool is_turned(const qn__matmul *q, qn__matmul_operand x) {
    return q->column[x] != 1 && q->row[x] == 1;
}

qn__tuned qn__matmul_tuned(const qn_kernels *kernels, const qn__matmul *q) {
    const char *types[3];
    for (int i = 0; i < 3; i++) {
        static const qn__matmul_operand order[] = {QN__MATMUL_A, QN__MATMUL_B, QN__MATMUL_OUT};
        const qn_element type = q->arrays[order[i]].type;
        types[i] = q->tf32 && type == QN_F32 && order[i] != QN__MATMUL_OUT ? "tf32" : qn__element(type)->name;
    }
    return qn__tuned_of(kernels, QN__CALL_matmul, (const uint64_t[]){q->m, q->n, q->k}, "%s %s %s %c%c",
                        types[0], types[1], types[2], is_turned(q, QN__MATMUL_A) ? 't' : 'n',
                        is_turned(q, QN__MATMUL_B) ? 't' : 'n');
}

/* With the choice of the tuning, if there is one and the caller made none. */
static qn__matmul tuned(const qn_kernels *kernels, const qn__matmul *q) {
    qn__matmul t = *q;
    if (!qn__matmul_is_open(q)) return t;
    const qn__tuned found = qn__matmul_tuned(kernels, q);
    t.variant = (int)found.values[QN__TUNE_matmul_variant] - 1;
    t.splits = found.values[QN__TUNE_matmul_parts];
    /* Strides and epilogues have a say, too. */
    return t.variant < 0 || fits(kernels, &t, &variants[t.variant]) ? t : *q;
}

qn_status qn__matmul_choose(const qn_kernels *kernels, qn__matmul *q, qn__matmul_choice *c) {
    *q = tuned(kernels, q);
    *c = choose(kernels, q);
    if (q->variant < 0 || fits(kernels, q, &variants[q->variant])) return QN_OK;
    return qn__op_fail(kernels, QN_ERROR_ARGUMENT, "qn_kernels_matmul: variant '%s' cannot do this on %s",
                       variants[q->variant].name, kernels->info.name);
}
