/* qn_kernels_random: Philox, kernels/random.cl. The numbers depend on seed, offset and type alone: kernels compute them from integers by the
   same code everywhere, so that they are the same on every device. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "kernels/op.h"

enum { GROUP = 256, BLOCKS = 8 };

typedef struct plan {
    qn_kernel *kernel;
    qn__walk_block walk;
    uint64_t count;
    /* Contiguous: so many a work-item, in groups of GROUP; a processor's has one, as its compiler makes vectors of work-items. Else 0. */
    uint32_t blocks;
} plan;

/* The array's dimensions as they are, the last one first: numbers go by the order of indices, not of addresses. */
static qn__walk in_order(const qn_array *to) {
    qn__walk w = {0};
    for (uint32_t d = to->rank; d-- > 0;) {
        const uint64_t size = to->sizes[d];
        const int64_t stride = to->strides[d];
        const uint32_t last = w.rank - 1;
        if (size == 1) continue;
        if (w.rank && (uint64_t)stride == (uint64_t)w.strides[0][last] * w.sizes[last]) {
            w.sizes[last] *= size;
            continue;
        }
        w.sizes[w.rank] = size;
        w.strides[0][w.rank++] = stride;
    }
    qn__walk_give_dimension(&w, 1);
    return w;
}

static bool is_wide(qn_element type) { return qn__element(type)->size == 8; }

/* What numbers of a type are computed in. */
static qn_element computed(qn_element type) {
    if (!qn__element(type)->is_float) return type == QN_BOOL ? QN_U8 : type;
    return type == QN_F64 ? QN_F64 : QN_F32;
}

static uint32_t block_count(qn_element type) { return is_wide(type) ? 2 : 4; }

/* Whether blocks begin at multiples of their size in memory. */
static bool is_aligned(const qn_random_desc *d) {
    return (d->to.offset - d->offset) % block_count(d->to.type) == 0;
}

static qn_status make_random(qn_kernels *kernels, const void *request, void *out) {
    const qn_random_desc *d = request;
    plan *p = out;
    const qn_element type = d->to.type, value = computed(type);
    if (type == QN_F64 && !(kernels->info.capabilities & QN_CAN_F64))
        return qn__op_fail(kernels, QN_ERROR_UNSUPPORTED, "qn_kernels_random: %s has no f64",
                           kernels->info.name);
    const qn__walk walk = in_order(&d->to);
    p->walk = qn__walk_block_of(&walk, 1);
    p->count = qn_array_count(&d->to);
    const bool packed = walk.rank == 1 && walk.strides[0][0] == 1 && kernels->info.max_group_size >= GROUP;
    p->blocks = !packed ? 0 : qn__is_processor(kernels) ? 1 : BLOCKS;
    char options[320];
    int at = snprintf(options, sizeof options, "-D TO=%s -D VALUE=%s -D TO_CONVERT=%s -D RANK=%u%s%s%s",
                      qn__element(type)->storage, qn__element(value)->value,
                      qn__element_conversion(value, type).text, walk.rank, is_wide(type) ? " -D WIDE" : "",
                      qn__element(type)->is_float ? "" : " -D WHOLE",
                      d->distribution == QN_RANDOM_NORMAL ? " -D NORMAL" : "");
    if (packed)
        snprintf(options + at, sizeof options - (size_t)at, " -D GROUP=%d -D BLOCKS=%u -D TO_WORD=%s%s",
                 GROUP, p->blocks,
                 qn__element_word(qn__element(type)->size * (is_aligned(d) ? block_count(type) : 1)),
                 p->blocks == 1 ? " -D APART" : "");
    return qn__variant_get(kernels, &(qn__variant){"random.cl", "random", options}, &p->kernel);
}

static const qn__op random_op = {"qn_kernels_random", sizeof(plan), make_random};

/* The smallest number, and how many there are; 0: all of the type. */
static void whole_range(const qn_random_desc *d, unsigned char first[8], uint64_t *span) {
    const qn_element type = computed(d->to.type);
    qn__element_encode(type, d->a, first);
    *span = d->a == 0 && d->b == 0 ? d->to.type == QN_BOOL ? 2 : 0 : (uint64_t)(d->b - d->a);
}

static qn_status launch(qn_stream *stream, const plan *p, const qn_random_desc *d) {
    const bool whole = !qn__element(d->to.type)->is_float;
    const uint32_t size = qn__element(computed(d->to.type))->size;
    const bool standard = d->a == 0 && d->b == 0;
    const bool normal = d->distribution == QN_RANDOM_NORMAL;
    unsigned char a[8], b[8];
    uint64_t span = 0;
    if (whole) {
        whole_range(d, a, &span);
    } else {
        qn__element_encode(computed(d->to.type), d->a, a);
        qn__element_encode(computed(d->to.type), standard ? 1 : normal ? d->b : d->b - d->a, b);
    }
    const uint32_t a_block = block_count(d->to.type);
    const uint64_t blocks = (d->offset % a_block + p->count - 1) / a_block + 1;
    const qn_range range =
        p->blocks ? (qn_range){.global = {((blocks - 1) / ((uint64_t)GROUP * p->blocks) + 1) * GROUP},
                               .local = {GROUP, 1, 1}}
                  : (qn_range){.global = {blocks}};
    const qn_arg args[] = {qn_arg_bytes(p->walk.words, p->walk.size),
                           qn_arg_unsigned(d->seed),
                           qn_arg_unsigned(d->offset),
                           qn_arg_unsigned(p->count),
                           qn_arg_bytes(a, size),
                           whole ? qn_arg_unsigned(span) : qn_arg_bytes(b, size),
                           qn_arg_unsigned(d->to.offset),
                           qn_arg_buffer(d->to.buffer)};
    const uint32_t first = p->blocks ? 1 : 0; /* who is contiguous needs no walk */
    return qn_launch(stream, p->kernel, &range, args + first, sizeof args / sizeof *args - first);
}

static qn_status check_numbers(const qn_kernels *kernels, const qn_random_desc *d) {
    const bool whole = !qn__element(d->to.type)->is_float;
    if ((unsigned)d->distribution > QN_RANDOM_NORMAL)
        return qn__op_fail(kernels, QN_ERROR_ARGUMENT,
                           "qn_kernels_random: distribution is %u, which is no qn_distribution",
                           (unsigned)d->distribution);
    if (whole && d->distribution == QN_RANDOM_NORMAL)
        return qn__op_fail(kernels, QN_ERROR_ARGUMENT,
                           "qn_kernels_random: to is of %s; normal numbers need a float type",
                           qn__element(d->to.type)->name);
    if (!isfinite(d->a) || !isfinite(d->b) || (d->distribution == QN_RANDOM_UNIFORM && d->b < d->a))
        return qn__op_fail(kernels, QN_ERROR_ARGUMENT, "qn_kernels_random: a is %g and b is %g", d->a, d->b);
    const double most = ldexp(1, is_wide(d->to.type) ? 64 : 32);
    if (whole && (d->b - d->a >= most || (d->a == d->b && d->a != 0)))
        return qn__op_fail(kernels, QN_ERROR_ARGUMENT,
                           "qn_kernels_random: there are no %g numbers from a to b", d->b - d->a);
    return QN_OK;
}

qn_status qn_kernels_random(qn_kernels *kernels, qn_stream *stream, const qn_random_desc *desc) {
    qn_status status = qn__op_begin(kernels, stream, desc, "qn_kernels_random");
    if (status) return status;
    qn_random_desc d = *desc;
    status = qn__array_check_written(kernels, "qn_kernels_random", "to", &desc->to, &d.to);
    if (!status) status = check_numbers(kernels, &d);
    if (status || qn_array_count(&d.to) == 0) return status;
    if (d.offset > UINT64_MAX - qn_array_count(&d.to))
        return qn__op_fail(kernels, QN_ERROR_ARGUMENT,
                           "qn_kernels_random: offset and the elements of to pass 2^64");
    qn__key key = {0};
    qn__key_add(&key, (uint64_t)d.distribution << 1 | is_aligned(&d));
    qn__key_add_array(&key, &d.to);
    plan p;
    status = qn__plan_get(kernels, &random_op, &key, &d, &p);
    return status ? status : launch(stream, &p, &d);
}
