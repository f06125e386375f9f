/* qn_matmul by quads of sub-groups, which feed the matrix units of compute capability 9.0 from tiles in local memory. The device
   copies tiles by maps of the tensors; operands that it cannot copy so, for their strides, are first copied to rows along k. */
#include <stdio.h>
#include <string.h>

#include "kernels/matmul.h"

enum { ROWS = 128, ROW_BYTES = 128, ITEMS = 384, UNIT = 16 };

static const struct product {
    const char *type, *sum; /* in the kernel */
    bool has_layouts;       /* either dimension may be the one whose elements lie together */
} products[QN_ELEMENT_COUNT] = {
    [QN_F32] = {"float", "float", false}, /* as tf32 */
    [QN_F16] = {"half", "float", true},      [QN_BF16] = {"qn_bf16", "float", true},
    [QN_E4M3] = {"qn_e4m3", "float", false}, [QN_E5M2] = {"qn_e5m2", "float", false},
    [QN_I8] = {"char", "int", false},        [QN_U8] = {"uchar", "int", false},
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

/* Rows of an operand: of a, columns of b. */
static uint64_t sides_of(const qn__matmul *q, qn__matmul_operand x) {
    return x == QN__MATMUL_A ? q->m : q->n;
}
static int64_t along_k(const qn__matmul *q, qn__matmul_operand x) {
    return x == QN__MATMUL_A ? q->column[x] : q->row[x];
}
static int64_t along_side(const qn__matmul *q, qn__matmul_operand x) {
    return x == QN__MATMUL_A ? q->row[x] : q->column[x];
}

/* Whether elements lie together along one dimension and the strides of the others are ones that tile copies take. */
static bool strides_fit(const qn_array *array, int64_t together, int64_t other, int64_t batch) {
    const int64_t size = qn_element_size(array->type), most = (int64_t)1 << 39;
    const bool aligned =
        other * size % UNIT == 0 && batch * size % UNIT == 0 && array->offset * (uint64_t)size % UNIT == 0;
    return together == 1 && aligned && other > 0 && batch >= 0 && other < most && batch < most;
}

static bool lies_along_k(const qn__matmul *q, qn__matmul_operand x) {
    return strides_fit(&q->arrays[x], along_k(q, x), along_side(q, x), batch_stride(q, x));
}
static bool lies_along_side(const qn__matmul *q, qn__matmul_operand x) {
    return products[type_of(q)].has_layouts &&
           strides_fit(&q->arrays[x], along_side(q, x), along_k(q, x), batch_stride(q, x));
}
static bool is_copied(const qn__matmul *q, qn__matmul_operand x) {
    return !lies_along_k(q, x) && !lies_along_side(q, x);
}

bool qn__matmul_quad_fits(const qn_kernels *kernels, const qn__matmul *q) {
    const uint64_t most = INT32_MAX; /* places in tensors */
    const bool good = products[type_of(q)].type && (q->tf32 || type_of(q) != QN_F32) &&
                      q->arrays[QN__MATMUL_B].type == type_of(q) && q->splits <= 1 && q->m <= most &&
                      q->n <= most && q->k && q->k <= most;
    return good && (kernels->info.capabilities & QN_CAN_COPY_TILES) && batch_dimension(q) >= 0 &&
           batches_of(q) * divide_up(q->m, ROWS) * divide_up(q->n, 64) <= most;
}

/* ---- what it costs ---- */

static double cost_of_copy(const qn_kernels *kernels, const qn__matmul *q, qn__matmul_operand x) {
    const double bytes = 2.0 * (double)sides_of(q, x) * (double)q->k * qn_element_size(type_of(q)) *
                         (batch_stride(q, x) ? (double)batches_of(q) : 1);
    return is_copied(q, x) ? 5000 + bytes / (12.0 * kernels->info.compute_units) : 0;
}

/* A step is 128 bytes of k; the units take 128 rows and 256 columns of it in 1024 clocks. */
double qn__matmul_quad_cost(const qn_kernels *kernels, const qn__matmul *q, const qn__matmul_quad *v) {
    const uint64_t units = kernels->info.compute_units / v->cluster * v->cluster;
    const uint64_t tiles =
        divide_up(q->m, ROWS * v->cluster) * v->cluster * divide_up(q->n, v->columns) * batches_of(q);
    const double steps = (double)divide_up(q->k * qn_element_size(type_of(q)), ROW_BYTES);
    const double of_tile = steps * 4 * v->columns / v->rate + 2500;
    return (double)divide_up(tiles, units ? units : 1) * of_tile + cost_of_copy(kernels, q, QN__MATMUL_A) +
           cost_of_copy(kernels, q, QN__MATMUL_B);
}

/* ---- the plan ---- */

/* Rows along k of a copied operand, in elements. */
static uint64_t pitch_of(const qn__matmul *q) {
    const uint64_t unit = UNIT / qn_element_size(type_of(q));
    return divide_up(q->k, unit) * unit;
}

static void describe(const qn__matmul *q, const qn__matmul_quad *v, qn__matmul_operand x,
                     qn__matmul_tensors *t) {
    const uint32_t i = x == QN__MATMUL_B, size = qn_element_size(type_of(q)), per_row = ROW_BYTES / size;
    const uint64_t sides = sides_of(q, x), batch = (uint64_t)batch_stride(q, x);
    qn_tensor_desc *d = &t->descs[i];
    t->copied[i] = is_copied(q, x);
    t->batched[i] = batch != 0;
    *d = (qn_tensor_desc){.element_size = size, .sizes = {q->k, sides, batch ? t->batches : 1}};
    if (t->copied[i]) {
        d->strides[0] = pitch_of(q) * size;
        d->strides[1] = d->strides[0] * sides;
    } else {
        d->strides[1] = batch * size;
    }
    d->tile[0] = per_row;
    d->tile[1] = x == QN__MATMUL_A ? ROWS : v->columns / v->cluster;
    if (t->copied[i]) return;
    if (lies_along_k(q, x)) {
        d->strides[0] = (uint64_t)along_side(q, x) * size;
        return;
    }
    d->sizes[0] = sides;
    d->sizes[1] = q->k;
    d->strides[0] = (uint64_t)along_k(q, x) * size;
    d->tile[1] = per_row;
}

static bool stores_tiles(const qn__matmul *q) {
    const qn_array *out = &q->arrays[QN__MATMUL_OUT];
    const bool is_float = qn__element(type_of(q))->is_float;
    return is_float && (out->type == QN_F16 || out->type == QN_BF16) &&
           strides_fit(out, q->column[QN__MATMUL_OUT], q->row[QN__MATMUL_OUT],
                       batch_stride(q, QN__MATMUL_OUT));
}

void qn__matmul_quad_plan(const qn_kernels *kernels, const qn__matmul *q, const qn__matmul_quad *v,
                          qn__matmul_plan *p) {
    qn__matmul_tensors *t = &p->tensors;
    *t = (qn__matmul_tensors){.batches = (uint32_t)batches_of(q), .stores_tiles = stores_tiles(q)};
    describe(q, v, QN__MATMUL_A, t);
    describe(q, v, QN__MATMUL_B, t);
    if (t->stores_tiles) {
        const uint64_t size = 2;
        t->descs[2] = (qn_tensor_desc){.element_size = (uint32_t)size,
                                       .sizes = {q->n, q->m, t->batches},
                                       .strides = {(uint64_t)q->row[QN__MATMUL_OUT] * size,
                                                   (uint64_t)batch_stride(q, QN__MATMUL_OUT) * size},
                                       .tile = {ROW_BYTES / 2, 64}};
    }
    p->has_tensors = true;
    const uint64_t tiles = divide_up(q->m, ROWS * v->cluster) * divide_up(q->n, v->columns) * t->batches,
                   there = kernels->info.compute_units / v->cluster;
    const uint64_t clusters = tiles < there ? tiles : there ? there : 1;
    p->range = (qn_range){.global = {clusters * v->cluster * ITEMS}, .local = {ITEMS, 1, 1}};
}

void qn__matmul_quad_options(const qn__matmul *q, const qn__matmul_quad *v, const qn__matmul_tensors *t,
                             char *out, size_t size) {
    const struct product *product = &products[type_of(q)];
    const int by_rows = !t->copied[1] && !lies_along_k(q, QN__MATMUL_B),
              by_columns = !t->copied[0] && !lies_along_k(q, QN__MATMUL_A);
    const char *pack = !t->stores_tiles                           ? ""
                       : q->arrays[QN__MATMUL_OUT].type == QN_F16 ? " -D OUT_TILES -D PACK=convert_half2"
                                                                  : " -D OUT_TILES -D PACK=convert_qn_bf16x2";
    snprintf(out, size, " -D Q=%s -D QSUM=%s -D LAYOUT=%d -D CLUSTER=%u -D COLUMNS=%u -D STAGES=%u%s",
             product->type, product->sum, by_rows + 2 * by_columns, v->cluster, v->columns,
             v->stages + !t->stores_tiles, pack);
}

/* ---- a call ---- */

static qn_status copy_operand(qn_kernels *kernels, qn_stream *stream, const qn__matmul *q,
                              const qn__matmul_tensors *t, uint32_t i, qn_buffer **buffer) {
    const qn__matmul_operand x = i ? QN__MATMUL_B : QN__MATMUL_A;
    const qn_array *from = &q->arrays[x];
    const qn_tensor_desc *d = &t->descs[i];
    const uint64_t batches = d->sizes[2], sides = sides_of(q, x), pitch = pitch_of(q);
    const qn_buffer_desc desc = {
        .size = batches * d->strides[1], .uninitialised = true, .label = "qn_matmul's copy"};
    qn_status status = qn_buffer_create(kernels->device, &desc, buffer);
    if (status) return status;
    qn_copy_desc copy = {.to = {*buffer,
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
                                  {batch_stride(q, x), along_side(q, x), along_k(q, x)}}};
    return qn_copy(kernels, stream, &copy);
}

qn_status qn__matmul_quad_bring(qn_kernels *kernels, qn_stream *stream, const qn__matmul *q,
                                const qn__matmul_tensors *t, qn_buffer *brought[2], qn_tensor_map maps[3],
                                qn_arg *args) {
    static const qn__matmul_operand order[] = {QN__MATMUL_A, QN__MATMUL_B, QN__MATMUL_OUT};
    qn_status status = QN_OK;
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
