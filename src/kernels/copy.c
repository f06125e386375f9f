/* qn_copy and qn_fill. What is contiguous and of one type is left to the device's own copies and fills; for all else there
   is kernels/copy.cl. */
#include <stdio.h>
#include <string.h>

#include "kernels/op.h"

typedef struct plan {
    bool whole; /* qn_stream_copy or qn_stream_fill does it */
    uint64_t bytes;
    qn_kernel *kernel;
    qn_range range;
    qn__walk_block walk;
} plan;

/* Same types are moved as integers of their size. */
static const qn__element_info *as_bits(const qn__element_info *e) {
    static const qn_element by_size[] = {[1] = QN_U8, [2] = QN_U16, [4] = QN_U32, [8] = QN_U64};
    return qn__element(by_size[e->size]);
}

static qn_status copy_kernel(qn_kernels *kernels, const qn_copy_desc *d, const qn__walk *walk,
                             qn_kernel **kernel) {
    const bool same = d->from.type == d->to.type;
    const qn__element_info *from = qn__element(d->from.type), *to = qn__element(d->to.type);
    if (same) from = to = as_bits(to);
    char options[320];
    snprintf(options, sizeof options,
             "-D FROM=%s -D FROM_LOAD=%s -D TO=%s -D TO_STORE=%s -D CONVERT=%s -D RANK=%u%s", from->storage,
             from->load, to->storage, to->store, qn__element_conversion(d->from.type, d->to.type).text,
             walk->rank, walk->strides[0][0] == 1 && walk->strides[1][0] == 1 ? " -D CONTIGUOUS" : "");
    return qn__variant_get(kernels, &(qn__variant){"copy.cl", "copy", options}, kernel);
}

static qn_status make_copy(qn_kernels *kernels, const void *request, void *out) {
    const qn_copy_desc *d = request;
    plan *p = out;
    qn__walk walk;
    qn_status status = qn__walk_make(kernels, "qn_copy", (const qn_array *const[]){&d->to, &d->from},
                                     (const char *const[]){"to", "from"}, 2, &walk);
    if (status) return status;
    qn__walk_give_dimension(&walk, 2);
    if (d->from.type == d->to.type && walk.rank == 1 && walk.strides[0][0] == 1 && walk.strides[1][0] == 1) {
        p->whole = true;
        p->bytes = walk.sizes[0] * qn__element(d->to.type)->size;
        return QN_OK;
    }
    const bool wide = d->from.type != d->to.type && (d->from.type == QN_F64 || d->to.type == QN_F64);
    if (wide && !(kernels->info.capabilities & QN_CAN_F64))
        return qn__op_fail(kernels, QN_ERROR_UNSUPPORTED,
                           "qn_copy: %s has no f64, and cannot convert between %s and %s", kernels->info.name,
                           qn__element(d->from.type)->name, qn__element(d->to.type)->name);
    p->range = qn__walk_range(&walk);
    p->walk = qn__walk_block_of(&walk, 2);
    return copy_kernel(kernels, d, &walk, &p->kernel);
}

static const qn__op copy_op = {"qn_copy", sizeof(plan), make_copy};

static qn_status run_copy(const plan *p, qn_stream *stream, const qn_copy_desc *d) {
    const uint32_t size = qn__element(d->to.type)->size;
    if (p->whole)
        return qn_stream_copy(stream, d->from.buffer, d->from.offset * size, d->to.buffer,
                              d->to.offset * size, p->bytes);
    const qn_arg args[] = {qn_arg_bytes(p->walk.words, p->walk.size), qn_arg_unsigned(d->to.offset),
                           qn_arg_buffer(d->to.buffer), qn_arg_unsigned(d->from.offset),
                           qn_arg_buffer(d->from.buffer)};
    return qn_launch(stream, p->kernel, &p->range, args, sizeof args / sizeof *args);
}

qn_status qn_copy(qn_kernels *kernels, qn_stream *stream, const qn_copy_desc *desc) {
    qn_status status = qn__op_check(kernels, desc, "qn_copy");
    if (status) return status;
    qn_copy_desc d;
    status = qn__array_check_written(kernels, "qn_copy", "to", &desc->to, &d.to);
    if (!status) status = qn__array_check(kernels, "qn_copy", "from", &desc->from, &d.from);
    if (!status) status = qn__array_apart(kernels, "qn_copy", "to", &d.to, "from", &d.from);
    if (status) return status;
    qn__key key = {0};
    qn__key_add_array(&key, &d.to);
    qn__key_add_array(&key, &d.from);
    if (qn_array_count(&d.to) == 0) return QN_OK;
    plan p;
    status = qn__plan_get(kernels, &copy_op, &key, &d, &p);
    return status ? status : run_copy(&p, stream, &d);
}

static qn_status make_fill(qn_kernels *kernels, const void *request, void *out) {
    const qn_array *to = request;
    plan *p = out;
    qn__walk walk;
    const qn_status status = qn__walk_make(kernels, "qn_fill", (const qn_array *const[]){to},
                                           (const char *const[]){"to"}, 1, &walk);
    if (status) return status;
    qn__walk_give_dimension(&walk, 1);
    const qn__element_info *bits = as_bits(qn__element(to->type));
    if (walk.rank == 1 && walk.strides[0][0] == 1) {
        p->whole = true;
        p->bytes = walk.sizes[0] * bits->size;
        return QN_OK;
    }
    p->range = qn__walk_range(&walk);
    p->walk = qn__walk_block_of(&walk, 1);
    char options[320];
    snprintf(options, sizeof options,
             "-D FROM=%s -D FROM_LOAD=%s -D TO=%s -D TO_STORE=%s -D CONVERT= -D RANK=%u", bits->storage,
             bits->load, bits->storage, bits->store, walk.rank);
    return qn__variant_get(kernels, &(qn__variant){"copy.cl", "fill", options}, &p->kernel);
}

static const qn__op fill_op = {"qn_fill", sizeof(plan), make_fill};

qn_status qn_fill(qn_kernels *kernels, qn_stream *stream, const qn_fill_desc *desc) {
    qn_status status = qn__op_check(kernels, desc, "qn_fill");
    if (status) return status;
    qn_array to;
    status = qn__array_check_written(kernels, "qn_fill", "to", &desc->to, &to);
    if (status || qn_array_count(&to) == 0) return status;
    qn__key key = {0};
    qn__key_add_array(&key, &to);
    plan p;
    status = qn__plan_get(kernels, &fill_op, &key, &to, &p);
    if (status) return status;
    const uint32_t size = qn__element(to.type)->size;
    unsigned char value[8];
    if (desc->element)
        memcpy(value, desc->element, size);
    else
        qn__element_encode(to.type, desc->value, value);
    if (p.whole) return qn_stream_fill(stream, to.buffer, to.offset * size, p.bytes, value, size);
    const qn_arg args[] = {qn_arg_bytes(p.walk.words, p.walk.size), qn_arg_unsigned(to.offset),
                           qn_arg_buffer(to.buffer), qn_arg_bytes(value, size)};
    return qn_launch(stream, p.kernel, &p.range, args, sizeof args / sizeof *args);
}
