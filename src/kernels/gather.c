/* qn_kernels_gather and qn_kernels_scatter, with kernels/gather.cl. Where several indices are the same, a scatter adds by atomics, or sorts the
   indices first: where it is asked to be deterministic, and for types that have no atomics. On a processor of few threads for the call a
   work-item goes through all indices. */
#include <stdio.h>

#include "kernels/op.h"

/* The array that is as long as the indices reach is `whole`, the one with a slice for each index `chosen`. */
typedef struct request {
    const char *name, *whole_name, *chosen_name;
    qn_array whole, chosen, indices;
    uint32_t dimension;
    bool scatters, add, sorted;
} request;

typedef struct plan {
    qn_kernel *kernel;
    qn_range range;
    uint64_t length, chosen, inner; /* `inner` in words of `elements` */
    uint32_t elements;
    bool in_order;
} plan;

enum { GROUP = 256, TIMES = 4, WORD_BYTES = 16 };

/* Bytes that are moved at once: the largest word of which slices are made, at its multiples. */
static uint32_t word_bytes(const request *r, uint64_t inner) {
    const uint32_t size = qn__element(r->whole.type)->size;
    uint32_t bytes = WORD_BYTES;
    while (bytes > size &&
           (inner * size % bytes || r->whole.offset * size % bytes || r->chosen.offset * size % bytes))
        bytes /= 2;
    return bytes;
}

/* Groups of a size of their own, whose work-items have several indices. */
static int add_groups(char *options, size_t room, plan *p, uint64_t outer) {
    uint32_t lx = 1;
    while (lx < GROUP && lx < p->inner) lx *= 2;
    const uint32_t ly = GROUP / lx, each = ly * TIMES;
    const uint64_t groups = (p->chosen - 1) / each + 1;
    p->range = p->inner == 1 ? (qn_range){.global = {groups * ly, outer, 1}, .local = {ly, 1, 1}}
                             : (qn_range){.global = {(p->inner - 1) / lx * lx + lx, groups * ly, outer},
                                          .local = {lx, ly, 1}};
    return snprintf(options, room, " -D U=%d -D LX=%u -D LY=%u", TIMES, lx, ly);
}

/* Adding in the type of the elements is what the other ways come to. */
static bool adds_as_stored(qn_element type) {
    return type == QN_F32 || type == QN_F64 || (!qn__element(type)->is_float && qn__element(type)->size >= 4);
}

/* A processor's work-items, each with a part of every slice; 0: it is not worth it. An atomic add takes the time of some four others,
   and to sort an index takes that of many. */
static uint64_t parts_in_order(const qn_kernels *kernels, const request *r, uint64_t outer, uint64_t inner) {
    enum { WIDTH = 16, MOST_WIDTH = 1 << 30, FOR_ATOMICS = 4, FOR_SORT = 16 };
    if (!qn__is_processor(kernels) || !r->scatters || !(r->add ? adds_as_stored(r->whole.type) : r->sorted))
        return 0;
    const uint64_t units = kernels->info.compute_units, wide = inner / WIDTH;
    const uint64_t useful = wide < 1 ? 1 : wide < units ? wide : units, least = inner / MOST_WIDTH + 1;
    const uint64_t parts = useful > least ? useful : least;
    return units / (r->sorted ? FOR_SORT : FOR_ATOMICS) <= parts * outer ? parts : 0;
}

static qn_status make(qn_kernels *kernels, const void *request_, void *out) {
    static const char *const bits[] = {
        [1] = "uchar", [2] = "ushort", [4] = "uint", [8] = "ulong", [16] = "uint4"};
    const request *r = request_;
    const qn__element_info *e = qn__element(r->whole.type);
    const bool grouped = !r->sorted && !qn__is_processor(kernels) && kernels->info.max_group_size >= GROUP;
    plan *p = out;
    uint64_t outer = 1, inner = 1;
    for (uint32_t d = 0; d < r->dimension; d++) outer *= r->whole.sizes[d];
    for (uint32_t d = r->dimension + 1; d < r->whole.rank; d++) inner *= r->whole.sizes[d];
    const uint32_t word = grouped && !r->add ? word_bytes(r, inner) : e->size;
    p->elements = word / e->size;
    p->inner = inner / p->elements;
    p->length = r->whole.sizes[r->dimension];
    p->chosen = qn_array_count(&r->indices);
    const uint64_t parts = parts_in_order(kernels, r, outer, inner);
    p->in_order = parts > 0;
    const bool flat = p->inner == 1 && !p->in_order, sorted = r->sorted && !p->in_order;
    char options[320];
    int at = snprintf(options, sizeof options, "-D INDEX=%s -D STORAGE=%s%s",
                      qn__element(r->indices.type)->storage, r->add ? e->storage : bits[word],
                      flat ? " -D FLAT" : "");
    if (grouped)
        at += add_groups(options + at, sizeof options - (size_t)at, p, outer);
    else if (p->in_order)
        p->range = (qn_range){.global = {parts, outer, 1}, .local = {1, 1, 1}};
    else
        p->range = flat ? (qn_range){.global = {p->chosen, outer, 1}}
                        : (qn_range){.global = {p->inner, p->chosen, outer}};
    if (p->in_order)
        at += snprintf(options + at, sizeof options - (size_t)at, " -D IN_ORDER%s%s", r->add ? " -D ADD" : "",
                       inner == 1 ? " -D ONE" : "");
    if (sorted) at += snprintf(options + at, sizeof options - (size_t)at, " -D SORTED");
    if (r->add && sorted)
        snprintf(options + at, sizeof options - (size_t)at, " -D ADD -D VALUE=%s -D LOAD=%s -D STORE=%s",
                 e->value, e->load, e->store);
    else if (r->add && !p->in_order)
        snprintf(options + at, sizeof options - (size_t)at, " -D ATOMIC=atomic_%s", e->storage);
    return qn__variant_get(kernels, &(qn__variant){"gather.cl", r->scatters ? "scatter" : "gather", options},
                           &p->kernel);
}

static const qn__op gather_op = {"qn_kernels_gather", sizeof(plan), make};

static qn_arg buffer_of(const qn_array *a) { return a->buffer ? qn_arg_buffer(a->buffer) : qn_arg_null(); }

static qn_status launch(qn_stream *stream, const plan *p, const request *r, qn_buffer *sorted,
                        qn_buffer *places) {
    const qn_array *from = r->scatters ? &r->chosen : &r->whole, *to = r->scatters ? &r->whole : &r->chosen;
    const qn_arg args[] = {qn_arg_unsigned(p->length),
                           qn_arg_unsigned(p->chosen),
                           qn_arg_unsigned(p->inner),
                           sorted ? qn_arg_buffer(sorted) : qn_arg_unsigned(r->indices.offset),
                           sorted ? qn_arg_buffer(places) : buffer_of(&r->indices),
                           qn_arg_unsigned(from->offset / p->elements),
                           buffer_of(from),
                           qn_arg_unsigned(to->offset / p->elements),
                           buffer_of(to)};
    return qn_launch(stream, p->kernel, &p->range, args, sizeof args / sizeof *args);
}

/* The indices in order, and where they were; both are the caller's. */
static qn_status sort_indices(qn_kernels *kernels, qn_stream *stream, const request *r, qn_buffer **sorted,
                              qn_buffer **places) {
    const uint64_t count = qn_array_count(&r->indices);
    qn_status status = qn__scratch(kernels, count * qn__element(r->indices.type)->size, sorted);
    if (!status) status = qn__scratch(kernels, count * sizeof(uint64_t), places);
    if (status) return status;
    qn_array keys = r->indices, values;
    keys.rank = 1;
    keys.sizes[0] = count;
    keys.strides[0] = 1;
    qn_array to_keys = keys;
    to_keys.buffer = *sorted;
    to_keys.offset = 0;
    values = to_keys;
    values.buffer = *places;
    values.type = QN_U64;
    return qn_kernels_sort(kernels, stream,
                           &(qn_sort_desc){.keys = keys, .to_keys = to_keys, .to_values = values});
}

static qn_status run_packed(qn_kernels *kernels, qn_stream *stream, const request *r) {
    qn__key key = {0};
    qn__key_add_array(&key, &r->whole);
    qn__key_add_array(&key, &r->indices);
    qn__key_add(&key, r->dimension);
    qn__key_add(&key, r->whole.offset % WORD_BYTES << 8 | r->chosen.offset % WORD_BYTES);
    qn__key_add(&key, (uint64_t)r->scatters | (uint64_t)r->add << 1 | (uint64_t)r->sorted << 2);
    plan p;
    qn_buffer *sorted = NULL, *places = NULL;
    qn_status status = qn__plan_get(kernels, &gather_op, &key, r, &p);
    if (!status && r->sorted && !p.in_order) status = sort_indices(kernels, stream, r, &sorted, &places);
    if (!status) status = launch(stream, &p, r, sorted, places);
    qn_buffer_destroy(sorted);
    qn_buffer_destroy(places);
    return status;
}

static qn_status run(qn_kernels *kernels, qn_stream *stream, const request *r) {
    if (qn_array_count(&r->chosen) == 0) return QN_OK;
    if (r->scatters && qn_array_count(&r->whole) == 0) return QN_OK;
    qn__packed whole = {0}, chosen = {0}, indices = {0};
    qn_status status = qn__packed_open(kernels, stream, &r->indices, &indices);
    if (!status) status = qn__packed_open(kernels, stream, &r->whole, &whole);
    if (!status)
        status = r->scatters ? qn__packed_open(kernels, stream, &r->chosen, &chosen)
                             : qn__packed_blank(kernels, &r->chosen, &chosen);
    request packed = *r;
    packed.whole = whole.array;
    packed.chosen = chosen.array;
    packed.indices = indices.array;
    if (!status) status = run_packed(kernels, stream, &packed);
    status = qn__packed_close(kernels, stream, r->scatters ? &r->whole : NULL, &whole, status);
    status = qn__packed_close(kernels, stream, r->scatters ? NULL : &r->chosen, &chosen, status);
    return qn__packed_close(kernels, stream, NULL, &indices, status);
}

/* Whether `chosen` has the sizes of `whole` with those of the indices in place of the dimension. */
static bool fits(const request *r) {
    if (r->chosen.rank != r->whole.rank - 1 + r->indices.rank) return false;
    for (uint32_t d = 0; d < r->chosen.rank; d++) {
        const uint32_t in = r->indices.rank, after = d - in + 1;
        const uint64_t size = d < r->dimension        ? r->whole.sizes[d]
                              : d < r->dimension + in ? r->indices.sizes[d - r->dimension]
                                                      : r->whole.sizes[after];
        if (r->chosen.sizes[d] != size) return false;
    }
    return true;
}

static qn_status check(const qn_kernels *kernels, const request *r) {
    const qn__element_info *e = qn__element(r->indices.type);
    if (r->whole.type != r->chosen.type)
        return qn__op_fail(kernels, QN_ERROR_ARGUMENT,
                           "%s: to.type and from.type are %s and %s; they must be the same", r->name,
                           qn__element(r->scatters ? r->whole.type : r->chosen.type)->name,
                           qn__element(r->scatters ? r->chosen.type : r->whole.type)->name);
    if (e->is_float || e->size < 4)
        return qn__op_fail(kernels, QN_ERROR_ARGUMENT,
                           "%s: indices.type is %s; indices are i32, u32, i64 or u64", r->name, e->name);
    if (r->dimension >= r->whole.rank)
        return qn__op_fail(kernels, QN_ERROR_ARGUMENT, "%s: dimension is %u, and %s has %u", r->name,
                           r->dimension, r->whole_name, r->whole.rank);
    if (!fits(r))
        return qn__op_fail(
            kernels, QN_ERROR_ARGUMENT,
            "%s: %s is %s; it must be %s (%s) with the sizes of indices (%s) in place of dimension %u",
            r->name, r->chosen_name, qn__shape(&r->chosen).text, r->whole_name, qn__shape(&r->whole).text,
            qn__shape(&r->indices).text, r->dimension);
    const qn_array *to = r->scatters ? &r->whole : &r->chosen, *from = r->scatters ? &r->chosen : &r->whole;
    const qn_status status = qn__array_apart(kernels, r->name, "to", to, "from", from);
    return status ? status : qn__array_apart(kernels, r->name, "to", to, "indices", &r->indices);
}

qn_status qn_kernels_gather(qn_kernels *kernels, qn_stream *stream, const qn_gather_desc *desc) {
    qn_status status = qn__op_begin(kernels, stream, desc, "qn_kernels_gather");
    if (status) return status;
    request r = {
        .name = "qn_kernels_gather", .whole_name = "from", .chosen_name = "to", .dimension = desc->dimension};
    status = qn__array_check(kernels, r.name, "from", &desc->from, &r.whole);
    if (!status) status = qn__array_check(kernels, r.name, "indices", &desc->indices, &r.indices);
    if (!status) status = qn__array_check_written(kernels, r.name, "to", &desc->to, &r.chosen);
    if (!status) status = check(kernels, &r);
    return status ? status : run(kernels, stream, &r);
}

/* Decides how equal indices are done; refuses types that cannot be added. */
static qn_status choose(const qn_kernels *kernels, const qn_scatter_desc *desc, request *r) {
    const qn_element type = r->whole.type;
    r->sorted = desc->deterministic || (r->add && type != QN_F32 && type != QN_I32 && type != QN_U32);
    if (r->add && type == QN_BOOL)
        return qn__op_fail(kernels, QN_ERROR_ARGUMENT,
                           "qn_kernels_scatter: to.type is bool, which cannot be added");
    if (r->add && type == QN_F64 && !(kernels->info.capabilities & QN_CAN_F64))
        return qn__op_fail(kernels, QN_ERROR_UNSUPPORTED, "qn_kernels_scatter: %s has no f64",
                           kernels->info.name);
    return QN_OK;
}

qn_status qn_kernels_scatter(qn_kernels *kernels, qn_stream *stream, const qn_scatter_desc *desc) {
    qn_status status = qn__op_begin(kernels, stream, desc, "qn_kernels_scatter");
    if (status) return status;
    request r = {.name = "qn_kernels_scatter",
                 .whole_name = "to",
                 .chosen_name = "from",
                 .dimension = desc->dimension,
                 .scatters = true,
                 .add = desc->add};
    status = qn__array_check(kernels, r.name, "from", &desc->from, &r.chosen);
    if (!status) status = qn__array_check(kernels, r.name, "indices", &desc->indices, &r.indices);
    if (!status) status = qn__array_check_written(kernels, r.name, "to", &desc->to, &r.whole);
    if (!status) status = check(kernels, &r);
    if (!status) status = choose(kernels, desc, &r);
    return status ? status : run(kernels, stream, &r);
}
