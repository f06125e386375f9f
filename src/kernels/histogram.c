/* qn_kernels_histogram, with kernels/bins.cl: each work-group counts in local memory, as long as the bins find room there. */
#include <math.h>
#include <stdio.h>

#include "kernels/op.h"

typedef struct plan {
    qn_kernel *kernel;
    qn_range range;
    uint64_t length;
    uint32_t bins;
} plan;

static bool by_range(const qn_histogram_desc *d) { return d->low != 0 || d->high != 0; }

static qn_status make(qn_kernels *kernels, const void *request, void *out) {
    const qn_histogram_desc *d = request;
    const qn_device_info *info = &kernels->info;
    const qn__element_info *e = qn__element(d->from.type);
    plan *p = out;
    const bool processor = qn__is_processor(kernels);
    const uint32_t group = processor ? 1 : info->max_local_size[0] < 512 ? info->max_local_size[0] : 512;
    const uint64_t units = info->compute_units ? info->compute_units : 16;
    p->length = qn_array_count(&d->from);
    p->bins = (uint32_t)d->to.sizes[0];
    /* A work-group that zeroes and adds its bins should have several elements for each of them. */
    uint32_t room = 256;
    while (room < p->bins) room *= 2;
    const bool local = (uint64_t)room * 4 <= info->local_memory / 2;
    const uint64_t each = local && room > 16 * group ? room : 16 * group;
    const uint64_t wanted = (p->length - 1) / each + 1, most = processor ? 2 * units : 2048 / group * units;
    p->range = (qn_range){.global = {(wanted < most ? wanted : most) * group}, .local = {group}};
    /* A processor's loads are its compiler's matter. */
    const uint32_t width = processor || d->from.offset % (16 / e->size) ? 1 : 16 / e->size;
    char options[160];
    const int at =
        snprintf(options, sizeof options, "-D STORAGE=%s -D N=%u -D WORD=%s -D GROUP=%u%s", e->storage, width,
                 qn__element_word(e->size * width), group, by_range(d) ? " -D RANGE" : "");
    if (local) snprintf(options + at, sizeof options - (size_t)at, " -D BINS=%u", room);
    return qn__variant_get(kernels, &(qn__variant){"bins.cl", "count", options}, &p->kernel);
}

static const qn__op histogram_op = {"qn_kernels_histogram", sizeof(plan), make};

static qn_status check_range(const qn_kernels *kernels, const qn_histogram_desc *d) {
    const qn__element_info *e = qn__element(d->from.type);
    if (!by_range(d) && e->is_float)
        return qn__op_fail(kernels, QN_ERROR_ARGUMENT,
                           "qn_kernels_histogram: from.type is %s, and low and high are both 0", e->name);
    if (by_range(d) &&
        !(isfinite((float)d->low) && isfinite((float)d->high) && (float)d->low < (float)d->high))
        return qn__op_fail(kernels, QN_ERROR_ARGUMENT,
                           "qn_kernels_histogram: low is %g and high is %g; low must be below high", d->low,
                           d->high);
    if (by_range(d) && d->from.type == QN_F64 && !(kernels->info.capabilities & QN_CAN_F64))
        return qn__op_fail(kernels, QN_ERROR_UNSUPPORTED, "qn_kernels_histogram: %s has no f64",
                           kernels->info.name);
    return QN_OK;
}

static qn_status check(const qn_kernels *kernels, const qn_stream *stream, const qn_histogram_desc *desc,
                       qn_histogram_desc *d) {
    qn_status status = qn__op_begin(kernels, stream, desc, "qn_kernels_histogram");
    if (status) return status;
    *d = *desc;
    status = qn__array_check(kernels, "qn_kernels_histogram", "from", &desc->from, &d->from);
    if (!status) status = qn__array_check_written(kernels, "qn_kernels_histogram", "to", &desc->to, &d->to);
    if (status) return status;
    if (d->to.type != QN_U32 || d->to.rank != 1 || d->to.sizes[0] > INT32_MAX)
        return qn__op_fail(kernels, QN_ERROR_ARGUMENT,
                           "qn_kernels_histogram: to is %s of %s; it must be one row of u32",
                           qn__shape(&d->to).text, qn__element(d->to.type)->name);
    status = qn__array_apart(kernels, "qn_kernels_histogram", "to", &d->to, "from", &d->from);
    return status ? status : check_range(kernels, d);
}

static qn_status run_packed(qn_kernels *kernels, qn_stream *stream, const qn_histogram_desc *d) {
    const uint64_t zero = 0;
    if (!d->accumulate) {
        const qn_status status =
            qn_stream_fill(stream, d->to.buffer, d->to.offset * 4, d->to.sizes[0] * 4, &zero, 4);
        if (status) return status;
    }
    if (qn_array_count(&d->from) == 0) return QN_OK;
    qn__key key = {0};
    qn__key_add_array(&key, &d->from);
    qn__key_add(&key, d->to.sizes[0]);
    qn__key_add(&key, (uint64_t)by_range(d) << 8 | d->from.offset % 16);
    plan p;
    const qn_status status = qn__plan_get(kernels, &histogram_op, &key, d, &p);
    if (status) return status;
    const float low = (float)d->low, high = (float)d->high;
    const qn_arg args[] = {qn_arg_unsigned(p.length),
                           qn_arg_unsigned(p.bins),
                           qn_arg_float(low),
                           qn_arg_float(high),
                           qn_arg_float((float)p.bins / (high - low)),
                           qn_arg_unsigned(d->from.offset),
                           qn_arg_buffer(d->from.buffer),
                           qn_arg_unsigned(d->to.offset),
                           qn_arg_buffer(d->to.buffer)};
    return qn_launch(stream, p.kernel, &p.range, args, sizeof args / sizeof *args);
}

qn_status qn_kernels_histogram(qn_kernels *kernels, qn_stream *stream, const qn_histogram_desc *desc) {
    qn_histogram_desc d, packed;
    qn_status status = check(kernels, stream, desc, &d);
    if (status || qn_array_count(&d.to) == 0) return status;
    qn__packed from = {0}, to = {0};
    status = qn__packed_open(kernels, stream, &d.from, &from);
    if (!status) status = qn__packed_open(kernels, stream, &d.to, &to);
    packed = d;
    packed.from = from.array;
    packed.to = to.array;
    if (!status) status = run_packed(kernels, stream, &packed);
    status = qn__packed_close(kernels, stream, &d.to, &to, status);
    return qn__packed_close(kernels, stream, NULL, &from, status);
}
