/* qn_kernels_compact and qn_kernels_unique, with kernels/compact.cl: in one kernel where work-groups go on while others wait, else in three. */
#include <stdio.h>

#include "kernels/op.h"

typedef struct request {
    const char *name;
    qn_array from, mask, to, count;
    bool has_mask;
} request;

typedef struct plan {
    qn_kernel *count, *begin, *move;
    qn_kernel *sweep; /* or NULL */
    uint32_t group, chunks;
    uint64_t states; /* bytes of what the tiles of `sweep` tell and are told */
    uint64_t length, chunk_size;
} plan;

static const char *bits_of(qn_element type) {
    static const char *const words[] = {[1] = "uchar", [2] = "ushort", [4] = "uint", [8] = "ulong"};
    return words[qn__element(type)->size];
}

static qn_status make_sweep(qn_kernels *kernels, const request *r, plan *p) {
    enum { SUBS = 4, REGISTERS = 64 };
    const uint32_t size = qn__element(r->from.type)->size,
                   mask = r->has_mask ? qn__element(r->mask.type)->size : size,
                   wider = size > mask ? size : mask, usual = wider > 4 ? 2 : 4;
    const bool together = r->from.offset % usual == 0 && (!r->has_mask || r->mask.offset % usual == 0);
    const uint32_t width = together ? usual : 1, items = width == 1 ? 16 : 32,
                   rounds = (size > 4 ? items / 2 : items) / width, count = p->length > UINT32_MAX ? 8 : 4;
    p->group = SUBS * kernels->info.sub_group_size;
    p->chunk_size = (uint64_t)p->group * rounds * width;
    p->chunks = (uint32_t)((p->length - 1) / p->chunk_size + 1);
    p->states = 2 * (uint64_t)p->chunks * 2 * count;
    char options[448];
    int at = snprintf(
        options, sizeof options,
        "-cl-uniform-work-group-size -cl-nv-maxrregcount=%u -D ELEMENT=%s -D TOTAL=%s -D GROUP=%u -D SUBS=%u "
        "-D SWEEP -D ROUNDS=%u -D N=%u -D ELEMENT_WORD=%s -D VALUE=%s",
        (unsigned)REGISTERS, bits_of(r->from.type), bits_of(r->count.type), p->group, (unsigned)SUBS, rounds,
        width, qn__element_word(size * width), count == 8 ? "ulong" : "uint");
    if (r->has_mask)
        snprintf(options + at, sizeof options - (size_t)at, " -D MASK=%s -D MASK_WORD=%s",
                 bits_of(r->mask.type), qn__element_word(mask * width));
    return qn__variant_get(kernels, &(qn__variant){"compact.cl", "sweep", options}, &p->sweep);
}

static qn_status make(qn_kernels *kernels, const void *request_, void *out) {
    const request *r = request_;
    const qn_device_info *info = &kernels->info;
    plan *p = out;
    p->length = qn_array_count(&r->from);
    if (info->kind == QN_DEVICE_CUDA && p->length < UINT64_C(1) << 40) return make_sweep(kernels, r, p);
    p->group = qn__is_processor(kernels) ? 1 : info->max_local_size[0] < 256 ? info->max_local_size[0] : 256;
    const uint64_t least = p->group == 1 ? 1u << 14 : 16 * p->group,
                   units = info->compute_units ? info->compute_units : 16;
    const uint64_t tiles = (p->length - 1) / least + 1, wanted = p->group == 1 ? 2 * units : 16 * units;
    const uint64_t chunks = tiles < wanted ? tiles : wanted;
    p->chunk_size = ((tiles - 1) / chunks + 1) * least;
    p->chunks = (uint32_t)((p->length - 1) / p->chunk_size + 1);
    char options[160];
    int at =
        snprintf(options, sizeof options, "-cl-uniform-work-group-size -D ELEMENT=%s -D TOTAL=%s -D GROUP=%u",
                 bits_of(r->from.type), bits_of(r->count.type), p->group);
    if (r->has_mask)
        snprintf(options + at, sizeof options - (size_t)at, " -D MASK=%s", bits_of(r->mask.type));
    qn_status status = qn__variant_get(kernels, &(qn__variant){"compact.cl", "count", options}, &p->count);
    if (!status) status = qn__variant_get(kernels, &(qn__variant){"compact.cl", "begin", options}, &p->begin);
    if (!status) status = qn__variant_get(kernels, &(qn__variant){"compact.cl", "move", options}, &p->move);
    return status;
}

static const qn__op compact_op = {"qn_kernels_compact", sizeof(plan), make};

static qn_status launch(qn_stream *stream, const plan *p, const request *r, qn_buffer *counts) {
    const qn_range all = {.global = {(uint64_t)p->chunks * p->group}, .local = {p->group}};
    const qn_range one = {.global = {p->group}, .local = {p->group}};
    const qn_arg length = qn_arg_unsigned(p->length), chunk = qn_arg_unsigned(p->chunk_size),
                 room = qn_arg_unsigned(qn_array_count(&r->to)), sums = qn_arg_buffer(counts);
    const qn_arg from[] = {qn_arg_unsigned(r->from.offset), qn_arg_buffer(r->from.buffer)};
    const qn_arg to[] = {qn_arg_unsigned(r->to.offset),
                         r->to.buffer ? qn_arg_buffer(r->to.buffer) : qn_arg_null()};
    const qn_arg mask[] = {qn_arg_unsigned(r->mask.offset),
                           r->has_mask ? qn_arg_buffer(r->mask.buffer) : qn_arg_null()};
    const qn_arg *keeps = r->has_mask ? mask : from;
    const qn_arg count_args[] = {length, chunk, sums, keeps[0], keeps[1]};
    qn_status status = qn_launch(stream, p->count, &all, count_args, 5);
    const qn_arg begin_args[] = {qn_arg_unsigned(p->chunks), sums, qn_arg_unsigned(r->count.offset),
                                 qn_arg_buffer(r->count.buffer)};
    if (!status) status = qn_launch(stream, p->begin, &one, begin_args, 4);
    const qn_arg move_args[] = {length, chunk, room, sums, from[0], from[1], to[0], to[1], mask[0], mask[1]};
    return status ? status : qn_launch(stream, p->move, &all, move_args, r->has_mask ? 10 : 8);
}

/* What all tiles tell and are told, behind the ticket. */
static qn_status sweep(qn_kernels *kernels, qn_stream *stream, const plan *p, const request *r) {
    enum { TICKET = 128 };
    qn_buffer *states;
    qn_status status = qn__scratch(kernels, TICKET + p->states, &states);
    if (status) return status;
    status = qn_stream_fill(stream, states, 0, TICKET + p->states, &(uint32_t){0}, 4);
    const qn_arg args[] = {qn_arg_unsigned(p->length),
                           qn_arg_unsigned(p->chunks),
                           qn_arg_unsigned(qn_array_count(&r->to)),
                           qn_arg_unsigned(r->from.offset),
                           qn_arg_buffer(r->from.buffer),
                           qn_arg_unsigned(r->to.offset),
                           r->to.buffer ? qn_arg_buffer(r->to.buffer) : qn_arg_null(),
                           qn_arg_unsigned(r->count.offset),
                           qn_arg_buffer(r->count.buffer),
                           qn_arg_buffer(states),
                           qn_arg_unsigned(TICKET / 8),
                           qn_arg_unsigned(r->mask.offset),
                           r->has_mask ? qn_arg_buffer(r->mask.buffer) : qn_arg_null()};
    const qn_range all = {.global = {((uint64_t)p->chunks + 1) * p->group}, .local = {p->group}};
    if (!status) status = qn_launch(stream, p->sweep, &all, args, r->has_mask ? 13 : 11);
    qn_buffer_destroy(states);
    return status;
}

static qn_status run_packed(qn_kernels *kernels, qn_stream *stream, const request *r) {
    qn__key key = {0};
    qn__key_add_array(&key, &r->from);
    qn__key_add(&key, r->has_mask ? qn__element(r->mask.type)->size : 0);
    qn__key_add(&key, qn__element(r->count.type)->size << 8 | r->from.offset % 4 << 4 | r->mask.offset % 4);
    plan p;
    qn_buffer *counts = NULL;
    qn_status status = qn__plan_get(kernels, &compact_op, &key, r, &p);
    if (!status && p.sweep) return sweep(kernels, stream, &p, r);
    if (!status) status = qn__scratch(kernels, (p.chunks + 1) * sizeof(uint64_t), &counts);
    if (!status) status = launch(stream, &p, r, counts);
    qn_buffer_destroy(counts);
    return status;
}

static qn_status check_count(const qn_kernels *kernels, const qn_array *count, request *r) {
    qn_status status = qn__array_check_written(kernels, r->name, "count", count, &r->count);
    if (status) return status;
    const qn__element_info *e = qn__element(r->count.type);
    if (e->is_float || e->size < 4 || qn_array_count(&r->count) != 1)
        return qn__op_fail(kernels, QN_ERROR_ARGUMENT,
                           "%s: count is %s of %s; it must be one element of i32, u32, i64 or u64", r->name,
                           qn__shape(&r->count).text, e->name);
    status = qn__array_apart(kernels, r->name, "count", &r->count, "from", &r->from);
    return status ? status : qn__array_apart(kernels, r->name, "count", &r->count, "to", &r->to);
}

static qn_status check(const qn_kernels *kernels, const qn_array *from, const qn_array *to,
                       const qn_array *count, request *r) {
    qn_status status = qn__array_check(kernels, r->name, "from", from, &r->from);
    if (!status) status = qn__array_check_written(kernels, r->name, "to", to, &r->to);
    if (!status && r->to.type != r->from.type)
        return qn__op_fail(kernels, QN_ERROR_ARGUMENT, "%s: to.type is %s and from.type is %s", r->name,
                           qn__element(r->to.type)->name, qn__element(r->from.type)->name);
    if (!status && r->to.rank != 1)
        return qn__op_fail(kernels, QN_ERROR_ARGUMENT, "%s: to has %u dimensions; it must have one", r->name,
                           r->to.rank);
    if (!status) status = qn__array_apart(kernels, r->name, "to", &r->to, "from", &r->from);
    return status ? status : check_count(kernels, count, r);
}

static qn_status run(qn_kernels *kernels, qn_stream *stream, const request *r) {
    if (qn_array_count(&r->from) == 0)
        return qn_kernels_fill(kernels, stream, &(qn_fill_desc){.to = r->count});
    /* What is beyond the count stays: a copy begins with it. */
    qn__packed from = {0}, mask = {0}, to = {0};
    qn_status status = qn__packed_open(kernels, stream, &r->from, &from);
    if (!status && r->has_mask) status = qn__packed_open(kernels, stream, &r->mask, &mask);
    if (!status) status = qn__packed_open(kernels, stream, &r->to, &to);
    const request packed = {r->name, from.array, mask.array, to.array, r->count, r->has_mask};
    if (!status) status = run_packed(kernels, stream, &packed);
    status = qn__packed_close(kernels, stream, &r->to, &to, status);
    qn__packed_close(kernels, stream, NULL, &from, status);
    qn__packed_close(kernels, stream, NULL, &mask, status);
    return status;
}

qn_status qn_kernels_compact(qn_kernels *kernels, qn_stream *stream, const qn_compact_desc *desc) {
    qn_status status = qn__op_begin(kernels, stream, desc, "qn_kernels_compact");
    if (status) return status;
    request r = {.name = "qn_kernels_compact", .has_mask = true};
    status = check(kernels, &desc->from, &desc->to, &desc->count, &r);
    if (!status) status = qn__array_check(kernels, r.name, "mask", &desc->mask, &r.mask);
    if (!status) status = qn__array_alike(kernels, r.name, "mask", &r.mask, "from", &r.from);
    if (status) return status;
    if (qn__element(r.mask.type)->is_float)
        return qn__op_fail(kernels, QN_ERROR_ARGUMENT,
                           "qn_kernels_compact: mask.type is %s; it must be bool or an integer",
                           qn__element(r.mask.type)->name);
    status = qn__array_apart(kernels, r.name, "to", &r.to, "mask", &r.mask);
    if (!status) status = qn__array_apart(kernels, r.name, "count", &r.count, "mask", &r.mask);
    return status ? status : run(kernels, stream, &r);
}

qn_status qn_kernels_unique(qn_kernels *kernels, qn_stream *stream, const qn_unique_desc *desc) {
    qn_status status = qn__op_begin(kernels, stream, desc, "qn_kernels_unique");
    if (status) return status;
    request r = {.name = "qn_kernels_unique"};
    status = check(kernels, &desc->from, &desc->to, &desc->count, &r);
    return status ? status : run(kernels, stream, &r);
}
