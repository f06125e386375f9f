/* qn_kernels_blur, with kernels/separable.cl: few taps at once, many along the rows into memory of its own and then along the columns. */
#include <stdio.h>

#include "kernels/op.h"

enum { GROUP = 128, MOST_TAPS_AT_ONCE = 15, ROWS_AT_ONCE = 15, WIDTH = 4 };

typedef struct plan {
    qn_kernel *both; /* NULL: one after the other */
    qn_range range;
    qn_kernel *rows, *columns;
    qn_range over_rows, over_columns;
    uint64_t outer;
} plan;

static qn_status get_pass(qn_kernels *kernels, qn_element from, qn_element to, const char *convert, bool flat,
                          qn_kernel **kernel) {
    const qn__element_info *f = qn__element(from), *t = qn__element(to);
    char options[320];
    snprintf(options, sizeof options,
             "-D FROM=%s -D FROM_LOAD=%s -D TO=%s -D TO_STORE=%s -D VALUE=%s -D CONVERT=%s%s", f->storage,
             f->load, t->storage, t->store, from == QN_F64 ? "double" : "float", convert,
             flat ? " -D FLAT" : "");
    return qn__variant_get(kernels, &(qn__variant){"separable.cl", "along", options}, kernel);
}

/* The type between the passes. */
static qn_element middle_of(qn_element type) { return type == QN_F64 ? QN_F64 : QN_F32; }

static const char *rounding(qn_element type) {
    return type == QN_U8 ? "TO_U8" : type == QN_U16 ? "TO_U16" : "SAME";
}

/* Whether both passes can go at once: on GPUs, where a row's last sums stay in registers. */
static bool goes_at_once(const qn_kernels *kernels, const qn_blur_desc *d) {
    return d->weights.sizes[0] <= MOST_TAPS_AT_ONCE && !qn__is_processor(kernels) &&
           kernels->info.max_group_size >= GROUP;
}

static qn_status make_both(qn_kernels *kernels, const qn_blur_desc *d, plan *p) {
    const uint32_t rank = d->from.rank, taps = (uint32_t)d->weights.sizes[0],
                   steps = taps > 5 ? 3 * taps : ROWS_AT_ONCE / taps * taps;
    const uint64_t rows = d->from.sizes[rank - 2], columns = d->from.sizes[rank - 1];
    const qn__element_info *e = qn__element(d->from.type);
    const bool wide = columns % WIDTH == 0 && d->from.offset % WIDTH == 0 && d->to.offset % WIDTH == 0;
    const uint32_t width = wide ? WIDTH : WIDTH / 2;
    const char *word = qn__element_word(e->size * (wide ? width : 1));
    uint64_t lx = GROUP;
    while (lx > 32 && lx / 2 * width >= columns) lx /= 2;
    char options[320];
    snprintf(
        options, sizeof options,
        "-D FROM=%s -D FROM_LOADED=%s -D FROM_WORD=%s -D TO=%s -D TO_WORD=%s -D VALUE=%s -D CONVERT=%s -D "
        "TAPS=%u -D V=%u -D LX=%u -D STEPS=%u%s",
        e->storage, e->value, word, e->storage, word, d->from.type == QN_F64 ? "double" : "float",
        rounding(d->from.type), taps, width, (unsigned)lx, steps, wide ? "" : " -D UNEVEN");
    p->range =
        (qn_range){.global = {(columns - 1) / (lx * width) * lx + lx, (rows - 1) / steps + 1, p->outer},
                   .local = {(uint32_t)lx, 1, 1}};
    return qn__variant_get(kernels, &(qn__variant){"separable.cl", "both", options}, &p->both);
}

static qn_status make(qn_kernels *kernels, const void *request, void *out) {
    const qn_blur_desc *d = request;
    const uint32_t rank = d->from.rank;
    const qn_element type = d->from.type;
    const uint64_t rows = d->from.sizes[rank - 2], columns = d->from.sizes[rank - 1];
    plan *p = out;
    p->outer = qn_array_count(&d->from) / rows / columns;
    if (goes_at_once(kernels, d)) return make_both(kernels, d, p);
    p->over_rows = (qn_range){.global = {columns, p->outer * rows, 1}};
    p->over_columns = (qn_range){.global = {columns, rows, p->outer}};
    const qn_status status = get_pass(kernels, type, middle_of(type), "SAME", true, &p->rows);
    if (status) return status;
    return get_pass(kernels, middle_of(type), type, rounding(type), false, &p->columns);
}

static const qn__op blur_op = {"qn_kernels_blur", sizeof(plan), make};

static qn_status check(const qn_kernels *kernels, const qn_stream *stream, const qn_blur_desc *desc,
                       qn_blur_desc *d) {
    qn_status status = qn__op_begin(kernels, stream, desc, "qn_kernels_blur");
    if (status) return status;
    *d = *desc;
    status = qn__array_check(kernels, "qn_kernels_blur", "from", &desc->from, &d->from);
    if (!status) status = qn__array_check(kernels, "qn_kernels_blur", "weights", &desc->weights, &d->weights);
    if (!status) status = qn__array_check_written(kernels, "qn_kernels_blur", "to", &desc->to, &d->to);
    if (status) return status;
    const qn__element_info *e = qn__element(d->from.type);
    if (d->from.type != d->to.type || !(e->is_float || d->from.type == QN_U8 || d->from.type == QN_U16))
        return qn__op_fail(kernels, QN_ERROR_ARGUMENT,
                           "qn_kernels_blur: from.type and to.type are %s and %s; they must be the same, of "
                           "floats, u8 or u16",
                           e->name, qn__element(d->to.type)->name);
    status = qn__array_alike(kernels, "qn_kernels_blur", "to", &d->to, "from", &d->from);
    if (status) return status;
    if (d->from.rank < 2)
        return qn__op_fail(
            kernels, QN_ERROR_ARGUMENT,
            "qn_kernels_blur: from has %u dimensions; an image has two, and others before them",
            d->from.rank);
    if (d->weights.type != QN_F32 || d->weights.rank != 1 || d->weights.sizes[0] % 2 == 0 ||
        d->weights.sizes[0] > INT32_MAX)
        return qn__op_fail(kernels, QN_ERROR_ARGUMENT,
                           "qn_kernels_blur: weights is %s of %s; it must be an odd number of f32",
                           qn__shape(&d->weights).text, qn__element(d->weights.type)->name);
    if (d->from.type == QN_F64 && !(kernels->info.capabilities & QN_CAN_F64))
        return qn__op_fail(kernels, QN_ERROR_UNSUPPORTED, "qn_kernels_blur: %s has no f64",
                           kernels->info.name);
    status = qn__array_apart(kernels, "qn_kernels_blur", "to", &d->to, "from", &d->from);
    return status ? status
                  : qn__array_apart(kernels, "qn_kernels_blur", "to", &d->to, "weights", &d->weights);
}

static qn_status launch(qn_stream *stream, const plan *p, const qn_blur_desc *d, qn_buffer *middle) {
    const uint32_t rank = d->from.rank;
    const uint64_t rows = d->from.sizes[rank - 2], columns = d->from.sizes[rank - 1];
    const qn_arg taps = qn_arg_unsigned(d->weights.sizes[0]), begin = qn_arg_unsigned(d->weights.offset),
                 weights = qn_arg_buffer(d->weights.buffer);
    const qn_arg first[] = {qn_arg_unsigned(columns),
                            qn_arg_unsigned(1),
                            taps,
                            begin,
                            weights,
                            qn_arg_unsigned(d->from.offset),
                            qn_arg_buffer(d->from.buffer),
                            qn_arg_unsigned(0),
                            qn_arg_buffer(middle)};
    const qn_arg second[] = {qn_arg_unsigned(rows),
                             qn_arg_unsigned(columns),
                             taps,
                             begin,
                             weights,
                             qn_arg_unsigned(0),
                             qn_arg_buffer(middle),
                             qn_arg_unsigned(d->to.offset),
                             qn_arg_buffer(d->to.buffer)};
    const qn_status status = qn_launch(stream, p->rows, &p->over_rows, first, sizeof first / sizeof *first);
    return status ? status
                  : qn_launch(stream, p->columns, &p->over_columns, second, sizeof second / sizeof *second);
}

static qn_status launch_both(qn_stream *stream, const plan *p, const qn_blur_desc *d) {
    const uint32_t rank = d->from.rank;
    const qn_arg args[] = {qn_arg_unsigned(d->from.sizes[rank - 2]),
                           qn_arg_unsigned(d->from.sizes[rank - 1]),
                           qn_arg_unsigned(d->weights.offset),
                           qn_arg_buffer(d->weights.buffer),
                           qn_arg_unsigned(d->from.offset),
                           qn_arg_buffer(d->from.buffer),
                           qn_arg_unsigned(d->to.offset),
                           qn_arg_buffer(d->to.buffer)};
    return qn_launch(stream, p->both, &p->range, args, sizeof args / sizeof *args);
}

static qn_status run_packed(qn_kernels *kernels, qn_stream *stream, const qn_blur_desc *d) {
    qn__key key = {0};
    qn__key_add_array(&key, &d->from);
    qn__key_add(&key, d->weights.sizes[0]);
    qn__key_add(&key, d->from.offset % WIDTH << 8 | d->to.offset % WIDTH);
    plan p;
    qn_buffer *middle = NULL;
    qn_status status = qn__plan_get(kernels, &blur_op, &key, d, &p);
    if (!status && p.both) return launch_both(stream, &p, d);
    if (!status)
        status = qn__scratch(kernels, qn_array_count(&d->from) * qn__element(middle_of(d->from.type))->size,
                             &middle);
    if (!status) status = launch(stream, &p, d, middle);
    qn_buffer_destroy(middle);
    return status;
}

qn_status qn_kernels_blur(qn_kernels *kernels, qn_stream *stream, const qn_blur_desc *desc) {
    qn_blur_desc d;
    qn_status status = check(kernels, stream, desc, &d);
    if (status || qn_array_count(&d.to) == 0) return status;
    qn__packed from = {0}, weights = {0}, to = {0};
    status = qn__packed_open(kernels, stream, &d.from, &from);
    if (!status) status = qn__packed_open(kernels, stream, &d.weights, &weights);
    if (!status) status = qn__packed_blank(kernels, &d.to, &to);
    if (!status)
        status = run_packed(kernels, stream,
                            &(qn_blur_desc){.from = from.array, .weights = weights.array, .to = to.array});
    status = qn__packed_close(kernels, stream, &d.to, &to, status);
    qn__packed_close(kernels, stream, NULL, &from, status);
    qn__packed_close(kernels, stream, NULL, &weights, status);
    return status;
}
