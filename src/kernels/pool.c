/* qn_kernels_max_pool and its gradient, with kernels/pool.cl: a work-item makes some neighbours, of what the windows beside them share. */
#include <stdio.h>

#include "kernels/op.h"

enum {
    MOST_TAPS = 256,   /* that 8 bits number */
    MOST_AT_ONCE = 64, /* taps whose loops are unrolled where a gradient goes back */
    MOST_TILE = 32     /* elements that a work-item makes there */
};

/* Both calls, of planes of from or of what the gradient goes to, and of windows. What has no buffer is not asked for. */
typedef struct request {
    const char *function;
    qn_array plane, windows, taps;
    const uint32_t *window, *padding;
    uint32_t stride[2];
    bool backward;
    bool together; /* planes are channels that lie together */
} request;

typedef struct plan {
    qn_kernel *kernel;
    qn_range range;
} plan;

/* ---- the plan ---- */

static uint64_t side(const qn_array *a, uint32_t i) { return a->sizes[a->rank - 2 + i]; }

static uint64_t divide_up(uint64_t a, uint64_t b) { return (a + b - 1) / b; }

/* How many windows of a row a work-item has: on GPUs some, which lie together if rows allow it. */
static uint32_t choose_width(const qn_kernels *kernels, const request *r) {
    const uint32_t by_stride = r->stride[1] <= 2 ? 4 : r->stride[1] <= 4 ? 2 : 1;
    return qn__is_processor(kernels) || r->window[1] > 16 ? 1 : by_stride;
}

static bool lies_in_packs(const qn_array *a, uint32_t pack) {
    return side(a, 1) % pack == 0 && a->offset % pack == 0 && (pack & (pack - 1)) == 0;
}

static bool goes_by_tiles(const request *r, uint32_t width) {
    return r->window[0] * r->window[1] <= MOST_AT_ONCE &&
           (uint64_t)r->stride[0] * r->stride[1] * width <= MOST_TILE;
}

typedef struct options {
    char text[512];
    int length;
} options;

static options options_of(const request *r, uint32_t width) {
    const qn__element_info *e = qn__element(r->plane.type);
    const uint64_t elements = qn_array_count(&r->plane), windows = qn_array_count(&r->windows);
    const uint64_t reach = elements > windows ? elements : windows;
    options o;
    o.length = snprintf(
        o.text, sizeof o.text,
        "-D FROM=%s -D VALUE=%s -D KY=%u -D KX=%u -D SY=%u -D SX=%u -D PY=%u -D PX=%u -D V=%u -D FEW_WORD=%s "
        "-D TAPS_WORD=%s -D PLACE=%s%s%s",
        e->storage, e->value, r->window[0], r->window[1], r->stride[0], r->stride[1], r->padding[0],
        r->padding[1], width, qn__element_word(e->size * width), qn__element_word(width),
        reach < (uint64_t)1 << 30 ? "int" : "long", r->windows.buffer ? "" : " -D NO_VALUES",
        r->taps.buffer ? "" : " -D NO_TAPS");
    return o;
}

/* Channels of a pixel lie together: packs of them. */
static qn_status make_together(qn_kernels *kernels, const request *r, plan *p) {
    const uint64_t inner = r->plane.sizes[r->plane.rank - 3];
    uint32_t width = qn__is_processor(kernels) ? 1 : 16 / qn__element(r->plane.type)->size;
    while (width > 1 &&
           (inner % width || r->plane.offset % width || r->windows.offset % width || r->taps.offset % width))
        width /= 2;
    options o = options_of(r, width);
    snprintf(o.text + o.length, sizeof o.text - (size_t)o.length, " -D TOGETHER");
    p->range = (qn_range){.global = {qn_array_count(r->backward ? &r->plane : &r->windows) / width}};
    return qn__variant_get(
        kernels, &(qn__variant){"pool.cl", r->backward ? "spread_together" : "largest_together", o.text},
        &p->kernel);
}

static qn_status make(qn_kernels *kernels, const void *given, void *out) {
    const request *r = given;
    plan *p = out;
    if (r->together) return make_together(kernels, r, p);
    uint32_t width = choose_width(kernels, r);
    const bool by_tiles = r->backward && goes_by_tiles(r, width);
    if (r->backward && !by_tiles) width = 1;
    const uint32_t many = width * r->stride[1];
    /* In packs of what is read no work-item begins behind the end of a row. */
    const uint64_t packs =
        r->backward ? divide_up(side(&r->plane, 1), many) : divide_up(side(&r->windows, 1), width);
    const bool has_few = width > 1 && lies_in_packs(&r->windows, width) && r->taps.offset % width == 0 &&
                         packs * width <= side(&r->windows, 1),
               has_many = width > 1 && lies_in_packs(&r->plane, many) && packs * many <= side(&r->plane, 1);
    const uint64_t elements = qn_array_count(&r->plane),
                   planes = elements / side(&r->plane, 0) / side(&r->plane, 1);
    options o = options_of(r, width);
    snprintf(o.text + o.length, sizeof o.text - (size_t)o.length, " -D MANY_WORD=%s%s%s%s%s",
             qn__element_word(qn__element(r->plane.type)->size * many), r->backward ? "" : " -D LARGEST",
             by_tiles ? " -D TILE" : "", has_few ? " -D FEW" : "", has_many ? " -D MANY" : "");
    const uint64_t items = !r->backward ? packs * side(&r->windows, 0) * planes
                           : by_tiles   ? packs * divide_up(side(&r->plane, 0), r->stride[0]) * planes
                                        : elements;
    p->range = (qn_range){.global = {items}};
    return qn__variant_get(kernels, &(qn__variant){"pool.cl", r->backward ? "spread" : "largest", o.text},
                           &p->kernel);
}

static const qn__op pool_op = {"qn_kernels_max_pool", sizeof(plan), make};

/* ---- checks ---- */

static qn_status check_window(const qn_kernels *kernels, const request *r) {
    if (r->plane.rank < 2)
        return qn__op_fail(kernels, QN_ERROR_ARGUMENT,
                           "%s: %s of %u dimensions; a plane has two, and others before them", r->function,
                           qn__shape(&r->plane).text, r->plane.rank);
    for (uint32_t i = 0; i < 2; i++) {
        const uint64_t size = side(&r->plane, i), whole = size + 2 * (uint64_t)r->padding[i];
        if (!size || !r->window[i] || r->window[i] > whole || r->padding[i] >= r->window[i])
            return qn__op_fail(kernels, QN_ERROR_ARGUMENT,
                               "%s: a window of %u for %llu elements with a padding of %u", r->function,
                               r->window[i], (unsigned long long)size, r->padding[i]);
    }
    if ((uint64_t)r->window[0] * r->window[1] > MOST_TAPS)
        return qn__op_fail(kernels, QN_ERROR_ARGUMENT, "%s: a window of %u x %u; it has at most %d elements",
                           r->function, r->window[0], r->window[1], MOST_TAPS);
    return QN_OK;
}

/* Types and shapes of what comes from windows, whose names are given. */
static qn_status check_alike(const qn_kernels *kernels, const request *r, const char *plane,
                             const char *windows) {
    const qn__element_info *e = qn__element(r->plane.type);
    if (!e->is_float || r->windows.type != r->plane.type)
        return qn__op_fail(kernels, QN_ERROR_ARGUMENT,
                           "%s: %s.type and %s.type are %s and %s; they must be one type of floats",
                           r->function, plane, windows, e->name, qn__element(r->windows.type)->name);
    if (r->plane.type == QN_F64 && !(kernels->info.capabilities & QN_CAN_F64))
        return qn__op_fail(kernels, QN_ERROR_UNSUPPORTED, "%s: %s has no f64", r->function,
                           kernels->info.name);
    if (r->taps.buffer && r->taps.type != QN_U8)
        return qn__op_fail(kernels, QN_ERROR_ARGUMENT, "%s: taps.type is %s; it must be u8", r->function,
                           qn__element(r->taps.type)->name);
    const qn_status status = check_window(kernels, r);
    if (status) return status;
    qn_array wanted = r->plane;
    for (uint32_t i = 0; i < 2; i++)
        wanted.sizes[wanted.rank - 2 + i] =
            (side(&r->plane, i) + 2 * (uint64_t)r->padding[i] - r->window[i]) / r->stride[i] + 1;
    bool fits = r->windows.rank == wanted.rank;
    for (uint32_t d = 0; fits && d < wanted.rank; d++) fits = r->windows.sizes[d] == wanted.sizes[d];
    if (!fits)
        return qn__op_fail(kernels, QN_ERROR_ARGUMENT, "%s: %s is %s; it must be %s", r->function, windows,
                           qn__shape(&r->windows).text, qn__shape(&wanted).text);
    const bool has_taps = r->backward || r->taps.buffer;
    return has_taps ? qn__array_alike(kernels, r->function, "taps", &r->taps, windows, &r->windows) : QN_OK;
}

static void set_stride(request *r, const uint32_t *given) {
    for (uint32_t i = 0; i < 2; i++) r->stride[i] = given[i] ? given[i] : r->window[i];
}

static qn_status check_forward(const qn_kernels *kernels, const qn_max_pool_desc *d, request *r) {
    *r = (request){.function = "qn_kernels_max_pool", .window = d->window, .padding = d->padding};
    set_stride(r, d->stride);
    const bool has_values = d->to.buffer || !d->taps.buffer, has_taps = d->taps.buffer;
    qn_status status = qn__array_check(kernels, r->function, "from", &d->from, &r->plane);
    if (!status && has_values)
        status = qn__array_check_written(kernels, r->function, "to", &d->to, &r->windows);
    if (!status && has_taps)
        status = qn__array_check_written(kernels, r->function, "taps", &d->taps, &r->taps);
    if (!status && !has_values) {
        r->windows = r->taps;
        r->windows.type = r->plane.type;
        r->windows.buffer = NULL;
    }
    if (!status) status = check_alike(kernels, r, "from", has_values ? "to" : "taps");
    if (!status && has_values)
        status = qn__array_apart(kernels, r->function, "to", &r->windows, "from", &r->plane);
    if (!status && has_taps)
        status = qn__array_apart(kernels, r->function, "taps", &r->taps, "from", &r->plane);
    return status || !has_values || !has_taps
               ? status
               : qn__array_apart(kernels, r->function, "taps", &r->taps, "to", &r->windows);
}

static qn_status check_backward(const qn_kernels *kernels, const qn_max_pool_backward_desc *d, request *r) {
    *r = (request){.function = "qn_kernels_max_pool_backward",
                   .window = d->window,
                   .padding = d->padding,
                   .backward = true};
    set_stride(r, d->stride);
    qn_status status = qn__array_check(kernels, r->function, "gradient", &d->gradient, &r->windows);
    if (!status) status = qn__array_check(kernels, r->function, "taps", &d->taps, &r->taps);
    if (!status) status = qn__array_check_written(kernels, r->function, "to", &d->to, &r->plane);
    if (!status) status = check_alike(kernels, r, "to", "gradient");
    if (!status) status = qn__array_apart(kernels, r->function, "to", &r->plane, "gradient", &r->windows);
    return status ? status : qn__array_apart(kernels, r->function, "to", &r->plane, "taps", &r->taps);
}

/* ---- the calls ---- */

static qn_arg argument(const qn_array *a) { return a->buffer ? qn_arg_buffer(a->buffer) : qn_arg_null(); }

static qn_status run_packed(qn_kernels *kernels, qn_stream *stream, const request *r) {
    qn__key key = {0};
    qn__key_add_array(&key, &r->plane);
    qn__key_add_array(&key, &r->windows);
    for (uint32_t i = 0; i < 2; i++) {
        qn__key_add(&key, (uint64_t)r->window[i] << 32 | r->stride[i]);
        qn__key_add(&key, r->padding[i]);
    }
    qn__key_add(&key, (r->plane.offset % 16) << 32 | (r->windows.offset % 16) << 16 |
                          (r->taps.offset % 16) << 8 | r->together << 3 | (r->windows.buffer != NULL) << 2 |
                          (r->taps.buffer != NULL) << 1 | r->backward);
    plan p;
    const qn_status status = qn__plan_get(kernels, &pool_op, &key, r, &p);
    if (status) return status;
    const qn_array *first = r->backward ? &r->windows : &r->plane,
                   *second = r->backward ? &r->taps : &r->windows,
                   *third = r->backward ? &r->plane : &r->taps;
    qn_arg args[11];
    uint32_t count = 0;
    for (uint32_t i = 0; i < 4; i++)
        args[count++] = qn_arg_signed((int64_t)side(i < 2 ? &r->plane : &r->windows, i % 2));
    if (r->together) args[count++] = qn_arg_signed((int64_t)r->plane.sizes[r->plane.rank - 3]);
    for (uint32_t i = 0; i < 3; i++) {
        const qn_array *a = i == 0 ? first : i == 1 ? second : third;
        args[count++] = qn_arg_unsigned(a->offset);
        args[count++] = argument(a);
    }
    return qn_launch(stream, p.kernel, &p.range, args, count);
}

/* A contiguous copy where there is none: of what is read with its elements. */
static qn_status open(qn_kernels *kernels, qn_stream *stream, const qn_array *array, bool read,
                      qn__packed *packed) {
    *packed = (qn__packed){.array = *array};
    if (!array->buffer) return QN_OK;
    return read ? qn__packed_open(kernels, stream, array, packed) : qn__packed_blank(kernels, array, packed);
}

/* Whether the dimension before rows and columns is the innermost, and nothing is between. */
static bool lies_together(const qn_array *a) {
    const uint32_t rank = a->rank;
    if (rank < 3 || a->sizes[rank - 3] < 2) return false;
    qn_array usual = *a;
    const uint32_t order[] = {rank - 2, rank - 1, rank - 3};
    for (uint32_t i = 0; i < 3; i++) {
        usual.sizes[rank - 3 + i] = a->sizes[order[i]];
        usual.strides[rank - 3 + i] = a->strides[order[i]];
    }
    return qn__array_is_packed(&usual);
}

static qn_status run(qn_kernels *kernels, qn_stream *stream, const request *r) {
    const bool has_values = r->windows.buffer, has_taps = r->taps.buffer;
    if (lies_together(&r->plane) && (!has_values || lies_together(&r->windows)) &&
        (!has_taps || lies_together(&r->taps))) {
        request direct = *r;
        direct.together = true;
        return run_packed(kernels, stream, &direct);
    }
    qn__packed plane = {0}, windows = {0}, taps = {0};
    qn_status status = open(kernels, stream, &r->plane, !r->backward, &plane);
    if (!status) status = open(kernels, stream, &r->windows, r->backward, &windows);
    if (!status) status = open(kernels, stream, &r->taps, r->backward, &taps);
    request packed = *r;
    packed.plane = plane.array;
    packed.windows = windows.array;
    packed.taps = taps.array;
    if (!status) status = run_packed(kernels, stream, &packed);
    status = qn__packed_close(kernels, stream, r->backward ? &r->plane : NULL, &plane, status);
    status = qn__packed_close(kernels, stream, r->backward ? NULL : &r->windows, &windows, status);
    return qn__packed_close(kernels, stream, r->backward ? NULL : &r->taps, &taps, status);
}

qn_status qn_kernels_max_pool(qn_kernels *kernels, qn_stream *stream, const qn_max_pool_desc *desc) {
    request r = {0};
    qn_status status = qn__op_begin(kernels, stream, desc, "qn_kernels_max_pool");
    if (!status) status = check_forward(kernels, desc, &r);
    return status || qn_array_count(&r.windows) == 0 ? status : run(kernels, stream, &r);
}

qn_status qn_kernels_max_pool_backward(qn_kernels *kernels, qn_stream *stream,
                                       const qn_max_pool_backward_desc *desc) {
    request r = {0};
    qn_status status = qn__op_begin(kernels, stream, desc, "qn_kernels_max_pool_backward");
    if (!status) status = check_backward(kernels, desc, &r);
    return status || qn_array_count(&r.plane) == 0 ? status : run(kernels, stream, &r);
}
