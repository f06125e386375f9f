/* qn_kernels_matmul where one operand is a vector (kernels/matmul/vector.cl): how a group's work-items share the lines of the matrix. */
#include <stdio.h>
#include <string.h>

#include "kernels/matmul.h"

/* A group's work-items: lanes next to each other along k or along the side, and lines of the matrix or slices of k. */
typedef struct sharing {
    bool along_k, alone; /* work-items take lines alone, by vectors as wide as registers: on processors */
    uint32_t width, lanes, others, depth;
} sharing;

static uint64_t divide_up(uint64_t a, uint64_t b) { return a / b + (a % b != 0); }

/* The operand that is the matrix: the other one is a row or a column. */
static qn__matmul_operand matrix_of(const qn__matmul *q) { return q->m == 1 ? QN__MATMUL_B : QN__MATMUL_A; }
static qn__matmul_operand vector_of(const qn__matmul *q) { return q->m == 1 ? QN__MATMUL_A : QN__MATMUL_B; }

/* Stride along k, and along the other dimension. */
static int64_t along_k(const qn__matmul *q, qn__matmul_operand x) {
    return x == QN__MATMUL_A ? q->column[x] : q->row[x];
}
static int64_t along_side(const qn__matmul *q, qn__matmul_operand x) {
    return x == QN__MATMUL_A ? q->row[x] : q->column[x];
}

static uint64_t sides_of(const qn__matmul *q) { return q->m == 1 ? q->n : q->m; }
static uint64_t batches_of(const qn__matmul *q) {
    const qn_array *out = &q->arrays[QN__MATMUL_OUT];
    uint64_t count = 1;
    for (uint32_t d = 0; d + 2 < out->rank; d++) count *= out->sizes[d];
    return count;
}
static uint64_t units_of(const qn_kernels *kernels) {
    return kernels->info.compute_units ? kernels->info.compute_units : 16;
}

enum { RUN = 4 }; /* of a processor's loads, which may begin anywhere */

/* Neighbours of the matrix in one load of a GPU: 16 bytes of them, four, or one. */
static uint32_t width_of(const qn__matmul *q, bool lines) {
    const qn__matmul_operand x = matrix_of(q);
    const int64_t next = lines ? along_k(q, x) : along_side(q, x),
                  other = lines ? along_side(q, x) : along_k(q, x);
    const uint32_t most = 16 / qn_element_size(q->arrays[x].type);
    return qn__matmul_in_runs(q, x, next, other, most) ? most
           : qn__matmul_in_runs(q, x, next, other, 4)  ? 4
                                                       : 1;
}

/* On a GPU: as many groups as units or more, and all of them there at a time, as registers allow. Measured on an H200. */
static void share_on_gpu(const qn_kernels *kernels, const qn__matmul *q, sharing *s) {
    enum {
        LINE_ITEMS = 128,
        SUB_GROUP = 32,
        BYTES = 128,
        LEAST_BYTES = 64,
        MOST_ITEMS = 512,
        LEAST_ITEMS = 128,
        DEPTH = 8
    };
    const uint64_t units = units_of(kernels), all = sides_of(q) * batches_of(q);
    const uint32_t size = qn_element_size(q->arrays[matrix_of(q)].type), most = kernels->info.max_group_size;
    s->depth = s->width == 16 ? DEPTH / 2 : DEPTH;
    if (s->along_k) {
        s->lanes = SUB_GROUP;
        while (s->lanes < LINE_ITEMS && all * s->lanes < units * 1024 &&
               q->k / s->width / s->lanes >= 2 * s->depth)
            s->lanes *= 2;
        s->others = LINE_ITEMS / s->lanes;
        return;
    }
    s->lanes = BYTES / size / s->width;
    if (s->lanes > SUB_GROUP) s->lanes = SUB_GROUP;
    if (divide_up(all, s->lanes * s->width) < units * 3 / 4 && s->lanes * s->width * size > LEAST_BYTES)
        s->lanes /= 2;
    uint64_t items = most < MOST_ITEMS ? LEAST_ITEMS : MOST_ITEMS;
    while (items > LEAST_ITEMS && divide_up(all, s->lanes * s->width) * items > units * MOST_ITEMS)
        items /= 2;
    s->others = (uint32_t)items / s->lanes;
    while (s->others > 4 && q->k < 4ull * s->others) s->others /= 2;
}

/* Four lines, two steps of each at a time, unless threads would be without: quicker than 4 by 1 and 4, 8 by 1 and 2, 16 by 1 on Zen 5. */
static void share_alone(const qn_kernels *kernels, const qn__matmul *q, sharing *s) {
    enum { LINES = 4, LOADS = 2 };
    const uint32_t lanes = kernels->info.vector_bytes / (q->arrays[matrix_of(q)].type == QN_F64 ? 8 : 4);
    s->width = lanes < RUN ? RUN : lanes;
    s->lanes = 1;
    s->others = LINES;
    s->depth = LOADS;
    while (s->others > 1 && divide_up(sides_of(q) * batches_of(q), s->others) < units_of(kernels))
        s->others /= 2;
}

static sharing share_untuned(const qn_kernels *kernels, const qn__matmul *q) {
    const qn__matmul_operand x = matrix_of(q);
    sharing s = {.along_k = along_side(q, x) != 1 || along_k(q, x) == 1};
    if (!qn__is_processor(kernels)) {
        s.width = width_of(q, s.along_k);
        share_on_gpu(kernels, q, &s);
        return s;
    }
    const bool runs = (s.along_k ? along_k(q, x) : along_side(q, x)) == 1;
    s.alone = s.along_k && runs;
    if (s.alone) {
        share_alone(kernels, q, &s);
        return s;
    }
    s.width = runs ? RUN : 1;
    s.lanes = s.along_k ? 128 : 32;
    s.others = s.along_k ? 1 : 4;
    s.depth = 4;
    return s;
}

/* A group of that many work-items, whose sums have room. */
static bool can_share(const qn_kernels *kernels, const qn__matmul *q, const sharing *s) {
    if (s->alone) return s->lanes == 1 && s->width >= RUN && s->width <= 16 && s->others <= 16;
    const uint64_t items = (uint64_t)s->lanes * s->others, sums = s->along_k ? items : items * s->width,
                   size = q->arrays[matrix_of(q)].type == QN_F64 ? 8 : 4;
    return items <= kernels->info.max_group_size && sums * size <= kernels->info.local_memory;
}

static qn__tuned tuned_of(const qn_kernels *kernels, const qn__matmul *q, const sharing *s) {
    return qn__tuned_of(kernels, QN__CALL_vector, (const uint64_t[]){sides_of(q), q->k}, "%s %s",
                        qn__element(q->arrays[matrix_of(q)].type)->name, s->along_k ? "along_k" : "across");
}

static sharing share(const qn_kernels *kernels, const qn__matmul *q) {
    const sharing own = share_untuned(kernels, q);
    qn__tuned t = tuned_of(kernels, q, &own);
    sharing s = own;
    uint32_t *lanes = own.alone ? &s.width : &s.lanes; /* of a vector, or work-items */
    *lanes = qn__tuned_number(&t, QN__TUNE_vector_lanes, *lanes);
    s.others = qn__tuned_number(&t, QN__TUNE_vector_lines, own.others);
    s.depth = qn__tuned_number(&t, QN__TUNE_vector_loads, own.depth);
    return can_share(kernels, q, &s) ? s : own;
}

void qn__matmul_vector_keep(qn_kernels *kernels, const qn__matmul *q) {
    const sharing s = share(kernels, q);
    qn__tuned t = tuned_of(kernels, q, &s);
    t.values[QN__TUNE_vector_lanes] = s.alone ? s.width : s.lanes;
    t.values[QN__TUNE_vector_lines] = s.others;
    t.values[QN__TUNE_vector_loads] = s.depth;
    qn__tuned_keep(kernels, &t);
}

bool qn__matmul_vector_fits(const qn_kernels *kernels, const qn__matmul *q) {
    return (q->m == 1 || q->n == 1) && kernels->info.max_group_size >= 128;
}

bool qn__matmul_vector_pays(const qn_kernels *kernels, const qn__matmul *q) {
    const qn__matmul_operand x = matrix_of(q);
    if (!qn__matmul_vector_fits(kernels, q) || (along_k(q, x) != 1 && along_side(q, x) != 1)) return false;
    return !qn__is_processor(kernels) || q->m != 1 || along_k(q, x) == 1;
}

/* Enough groups for the whole device, none with too little to do. */
uint64_t qn__matmul_vector_splits(const qn_kernels *kernels, const qn__matmul *q) {
    const sharing s = share(kernels, q);
    const uint64_t per_group = s.along_k ? s.others : s.lanes * s.width;
    const uint64_t groups = batches_of(q) * divide_up(sides_of(q), per_group);
    const uint64_t wanted = divide_up((qn__is_processor(kernels) ? 8 : 1) * units_of(kernels), 2 * groups);
    const uint64_t most = q->k / (16 * (s.along_k ? s.lanes * s.width : s.others));
    const uint64_t splits = wanted < most ? wanted : most;
    return splits > 64 ? 64 : splits ? splits : 1;
}

void qn__matmul_vector_options(const qn_kernels *kernels, const qn__matmul *q, char *out, size_t size) {
    const sharing s = share(kernels, q);
    const qn__matmul_operand x = matrix_of(q), v = vector_of(q);
    const qn_element type = q->arrays[x].type;
    const char *sum = type == QN_F64 ? "double" : qn__element(type)->is_float ? "float" : "int";
    const char *storage = qn__element(type)->storage;
    char width[16] = "", run[16] = "";
    if (s.width > 1) snprintf(width, sizeof width, "%u", s.width);
    if (s.width > 1) snprintf(run, sizeof run, "%s%u", strncmp(storage, "qn_", 3) == 0 ? "x" : "", s.width);
    const bool anywhere = qn__is_processor(kernels);
    const bool has_runs =
        s.along_k && s.width > 1 && q->arrays[v].type == type &&
        (anywhere ? along_k(q, v) == 1 : qn__matmul_in_runs(q, v, along_k(q, v), 0, s.width));
    snprintf(out, size,
             " -D WIDTH=%u -D RUN_T=%s%s -D SUM_NAME=%s -D SUMV=%s%s -D SUM8=%s8 -D DEPTH=%u -D LANES=%u -D "
             "%s=%u%s%s%s%s",
             s.width, storage, run, sum, sum, width, sum, s.depth, s.lanes, s.along_k ? "LINES" : "SLICES",
             s.others,
             s.alone    ? " -D ANYWHERE -D ALONE"
             : anywhere ? " -D ANYWHERE"
                        : "",
             has_runs ? " -D VECTOR_RUNS" : "", x == QN__MATMUL_B ? " -D VECTOR_IS_A" : "",
             s.along_k ? " -D ALONG_K" : "");
}

qn_range qn__matmul_vector_range(const qn_kernels *kernels, const qn__matmul *q, uint64_t splits) {
    const sharing s = share(kernels, q);
    const uint64_t batches = batches_of(q);
    const uint32_t items = s.alone ? 1 : s.lanes * s.others;
    if (s.along_k)
        return (qn_range){.global = {divide_up(sides_of(q), s.others) * items, splits, batches},
                          .local = {items, 1, 1}};
    return (qn_range){
        .global = {divide_up(sides_of(q), s.lanes * s.width) * s.lanes, splits * s.others, batches},
        .local = {s.lanes, s.others, 1}};
}
