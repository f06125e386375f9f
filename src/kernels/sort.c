/* qn_kernels_sort: radix sort with kernels/sort.cl. On devices whose work-groups go on while others wait a pass is one kernel, elsewhere
   three; a processor's work-items go through their chunks one by one. Many short rows of keys alone are another thing there (network.h). */
#include <stdio.h>

#include "kernels/network.h"

enum { BITS_A_PASS = 8, DIGITS = 256 };

/* How values come: from an array, or as the places of the keys. */
typedef enum values_kind { NO_VALUES, GIVEN_VALUES, PLACES } values_kind;

typedef struct request {
    qn_array keys, values, to_keys, to_values;
    values_kind kind;
    bool descending;
} request;

typedef struct plan {
    qn_kernel *count, *begin, *scatter;
    qn_kernel *count_all, *begin_all, *sweep; /* or NULL: three kernels a pass */
    qn_kernel *first;                         /* of the first pass, where values are places */
    uint32_t group, tile, passes, chunks, place_size, tiles;
    uint64_t rows, length, chunk_size;
    uint64_t batch;      /* rows that are sorted at once */
    qn__network network; /* without a kernel: all of the above */
} plan;

/* How a device sorts best: work-items, sub-groups and keys a work-item. */
typedef struct shape {
    uint32_t group, subs, items;
    bool sweeps;
} shape;

static uint32_t wider(const request *r) {
    const uint32_t key = qn__element(r->keys.type)->size,
                   value = r->kind ? qn__element(r->to_values.type)->size : 0;
    return key > value ? key : value;
}

static shape shape_of(qn_kernels *kernels, const request *r, uint64_t rows, uint64_t length) {
    const qn_device_info *info = &kernels->info;
    if (qn__is_processor(kernels) || info->sub_group_size < 4) return (shape){1, 1, 1, false};
    shape s = {.subs = 8, .items = wider(r) > 4 ? 8 : 16};
    if (info->capabilities & QN_CAN_EMULATE) s.items = 2; /* its compilers are slow with unrolled loops */
    s.sweeps = info->kind == QN_DEVICE_CUDA && rows == 1 && length < 1u << 30;
    if (s.sweeps) {
        /* Two work-groups a multiprocessor; a large tile looks back less. */
        s.subs = length >= 1u << 20 ? 16 : 8;
        s.items = wider(r) > 4 ? 8 : r->kind ? 16 : 20;
    }
    qn__tuned tuned = qn__tuned_of(kernels, QN__CALL_sort, (const uint64_t[]){rows, length}, "%s %s",
                                   qn__element(r->keys.type)->name,
                                   r->kind ? qn__element(r->to_values.type)->name : "none");
    s.subs = qn__tuned_number(&tuned, QN__TUNE_sort_sub_groups, s.subs);
    s.items = qn__tuned_number(&tuned, QN__TUNE_sort_items, s.items);
    while (s.subs > 1 && (s.subs * info->sub_group_size > info->max_local_size[0] ||
                          (s.subs + 4) * DIGITS * 4 > info->local_memory / 2))
        s.subs /= 2;
    s.group = s.subs * info->sub_group_size;
    /* Counts of sub-groups, three words a digit, a tile. */
    const uint64_t room = info->local_memory - (s.subs + 4) * DIGITS * 4;
    while (s.items > 1 && (uint64_t)s.group * s.items * wider(r) > room) s.items /= 2;
    s.sweeps = s.sweeps && s.group >= DIGITS;
    tuned.values[QN__TUNE_sort_sub_groups] = s.subs;
    tuned.values[QN__TUNE_sort_items] = s.items;
    qn__tuned_keep(kernels, &tuned);
    return s;
}

static void options_of(const request *r, const shape *s, const plan *p, bool first, char *text, size_t size) {
    static const char *const words[] = {[1] = "uchar", [2] = "ushort", [4] = "uint", [8] = "ulong"};
    const qn__element_info *key = qn__element(r->keys.type);
    const bool is_signed = r->keys.type >= QN_I8 && r->keys.type <= QN_I64;
    int at = snprintf(text, size,
                      "-cl-uniform-work-group-size -D KEY=%s -D BITS=%u -D PLACE=%s -D GROUP=%u -D SUBS=%u "
                      "-D ITEMS=%u%s%s%s",
                      words[key->size], key->size * 8, words[p->place_size], s->group, s->subs, s->items,
                      key->is_float ? " -D FLOAT"
                      : is_signed   ? " -D SIGNED"
                                    : "",
                      r->descending ? " -D DESCENDING" : "",
                      s->sweeps ? " -D SWEEP -D LOOK=4 -cl-nv-maxrregcount=64" : "");
    if (r->kind)
        snprintf(text + at, size - (size_t)at, " -D VALUE=%s%s", words[qn__element(r->to_values.type)->size],
                 first ? " -D FIRST" : "");
}

static qn_status get_kernels(qn_kernels *kernels, const request *r, const shape *s, plan *p) {
    char options[384], first[384];
    options_of(r, s, p, false, options, sizeof options);
    options_of(r, s, p, true, first, sizeof first);
    const struct {
        const char *name, *options;
        qn_kernel **kernel;
        bool wanted;
    } all[] = {
        {"count", options, &p->count, !s->sweeps},
        {"begin", options, &p->begin, !s->sweeps},
        {"scatter", options, &p->scatter, !s->sweeps},
        {"scatter", first, &p->first, !s->sweeps && r->kind == PLACES},
        {"count_all", options, &p->count_all, s->sweeps},
        {"begin_all", options, &p->begin_all, s->sweeps},
        {"sweep", options, &p->sweep, s->sweeps},
        {"sweep", first, &p->first, s->sweeps && r->kind == PLACES},
    };
    qn_status status = QN_OK;
    for (size_t i = 0; i < sizeof all / sizeof *all && !status; i++)
        if (all[i].wanted)
            status = qn__variant_get(kernels, &(qn__variant){"sort.cl", all[i].name, all[i].options},
                                     all[i].kernel);
    return status;
}

static uint64_t divide_up(uint64_t a, uint64_t b) { return a / b + (a % b != 0); }
static uint64_t least(uint64_t a, uint64_t b) { return a < b ? a : b; }

static qn__network_rows network_rows(const request *r, const plan *p) {
    return (qn__network_rows){r->keys, r->to_keys, p->rows, p->length, p->length, r->descending};
}

static qn_status make_sort(qn_kernels *kernels, const void *request_, void *out) {
    const request *r = request_;
    plan *p = out;
    const uint32_t rank = r->keys.rank;
    p->length = rank ? r->keys.sizes[rank - 1] : 1;
    p->rows = qn_array_count(&r->keys) / p->length;
    const qn__network_rows rows = network_rows(r, p);
    const qn_status status = r->kind ? QN_OK : qn__network_get(kernels, &rows, &p->network);
    if (status || p->network.kernel) return status;
    const shape s = shape_of(kernels, r, p->rows, p->length);
    p->group = s.group;
    p->passes = qn__element(r->keys.type)->size * 8 / BITS_A_PASS;
    p->place_size = p->length > UINT32_MAX ? 8 : 4;
    p->tile = s.group == 1 ? 1u << 14 : s.group * s.items; /* a chunk of a processor's is worth a task */
    p->tiles = (uint32_t)least(divide_up(p->length, p->tile), UINT32_MAX);
    const uint32_t units = kernels->info.compute_units ? kernels->info.compute_units : 16;
    const uint64_t groups = s.group == 1 ? 2 * units : least(8 * (uint64_t)units, 1024);
    const uint64_t chunks = least(p->tiles, p->rows < groups ? groups / p->rows : 1);
    p->chunk_size = divide_up(p->tiles, chunks) * p->tile;
    p->chunks = (uint32_t)divide_up(p->length, p->chunk_size);
    const uint64_t counters = 1u << 24; /* of all rows of a batch */
    p->batch = least(p->rows, divide_up(counters, (uint64_t)p->chunks * DIGITS));
    return get_kernels(kernels, r, &s, p);
}

static const qn__op sort_op = {"qn_kernels_sort", sizeof(plan), make_sort};

/* ---- the launches ---- */

/* Where keys and values of a batch are before or after a pass. */
typedef struct side {
    qn_buffer *keys, *values;
    uint64_t keys_at, values_at;
} side;

typedef struct work {
    qn_stream *stream;
    const plan *p;
    const request *r;
    side from, other, to;
    qn_buffer *counts; /* of chunks and rows; or of passes, then the tickets */
    qn_buffer *totals; /* of rows; or the states of tiles */
} work;

static qn_arg buffer_or_null(qn_buffer *buffer) { return buffer ? qn_arg_buffer(buffer) : qn_arg_null(); }

/* What a kernel gets of the values, behind `count` other arguments. */
static size_t add_values(const work *w, const side *from, const side *to, qn_arg *args, size_t count) {
    if (!w->r->kind) return count;
    args[count++] = qn_arg_unsigned(from->values_at);
    args[count++] = buffer_or_null(from->values);
    args[count++] = qn_arg_unsigned(to->values_at);
    args[count++] = qn_arg_buffer(to->values);
    return count;
}

static qn_range groups_of(const plan *p, uint64_t groups) {
    return (qn_range){.global = {groups * p->group}, .local = {p->group}};
}

static qn_status sweep(const work *w, uint32_t pass, const side *from, const side *to) {
    const plan *p = w->p;
    const uint64_t counts = (uint64_t)p->passes * DIGITS * 4;
    qn_status status =
        qn_stream_fill(w->stream, w->totals, 0, (uint64_t)p->tiles * DIGITS * 4, &(uint32_t){0}, 4);
    if (status) return status;
    if (pass == 0) {
        status = qn_stream_fill(w->stream, w->counts, 0, counts + p->passes * 256, &(uint32_t){0}, 4);
        const qn_range all = groups_of(p, least(p->tiles, 2048)), begins = groups_of(p, p->passes);
        const qn_arg keys[] = {qn_arg_unsigned(p->length), qn_arg_unsigned(from->keys_at),
                               qn_arg_buffer(from->keys), qn_arg_buffer(w->counts)};
        if (!status) status = qn_launch(w->stream, p->count_all, &all, keys, 4);
        if (!status) status = qn_launch(w->stream, p->begin_all, &begins, &keys[3], 1);
        if (status) return status;
    }
    qn_arg args[16] = {qn_arg_unsigned(p->length),     qn_arg_unsigned(pass * BITS_A_PASS),
                       qn_arg_unsigned(from->keys_at), qn_arg_buffer(from->keys),
                       qn_arg_unsigned(to->keys_at),   qn_arg_buffer(to->keys),
                       qn_arg_buffer(w->counts),       qn_arg_unsigned((counts + pass * 256) / 4),
                       qn_arg_buffer(w->totals)};
    const size_t count = add_values(w, from, to, args, 9);
    const qn_range range = groups_of(p, p->tiles);
    return qn_launch(w->stream, pass == 0 && p->first ? p->first : p->sweep, &range, args, count);
}

static qn_status three_kernels(const work *w, uint64_t rows, uint32_t pass, const side *from,
                               const side *to) {
    const plan *p = w->p;
    const qn_range chunks = groups_of(p, rows * p->chunks), digits = groups_of(p, rows * DIGITS);
    qn_arg args[16] = {qn_arg_unsigned(p->length),     qn_arg_unsigned(p->chunk_size),
                       qn_arg_unsigned(p->chunks),     qn_arg_unsigned(pass * BITS_A_PASS),
                       qn_arg_unsigned(from->keys_at), qn_arg_buffer(from->keys),
                       qn_arg_buffer(w->counts)};
    qn_status status = qn_launch(w->stream, p->count, &chunks, args, 7);
    const qn_arg sums[] = {qn_arg_unsigned(p->chunks), qn_arg_buffer(w->counts), qn_arg_buffer(w->totals)};
    if (!status) status = qn_launch(w->stream, p->begin, &digits, sums, 3);
    args[6] = qn_arg_unsigned(to->keys_at);
    args[7] = qn_arg_buffer(to->keys);
    args[8] = sums[1];
    args[9] = sums[2];
    const size_t count = add_values(w, from, to, args, 10);
    if (status) return status;
    return qn_launch(w->stream, pass == 0 && p->first ? p->first : p->scatter, &chunks, args, count);
}

static bool same_place(const side *a, const side *b) {
    return (a->keys == b->keys && a->keys_at == b->keys_at) ||
           (a->values && a->values == b->values && a->values_at == b->values_at);
}

/* A single pass cannot write over what it reads. */
static qn_status set_apart(const work *w, uint64_t rows, side *from) {
    const uint64_t count = rows * w->p->length;
    const uint32_t key = qn__element(w->r->keys.type)->size;
    qn_status status =
        qn_stream_copy(w->stream, from->keys, from->keys_at * key, w->other.keys, 0, count * key);
    if (!status && w->r->kind == GIVEN_VALUES) {
        const uint32_t value = qn__element(w->r->values.type)->size;
        status = qn_stream_copy(w->stream, from->values, from->values_at * value, w->other.values, 0,
                                count * value);
    }
    *from = w->other;
    return status;
}

static side side_at(const side *s, uint64_t element) {
    return (side){s->keys, s->values, s->keys_at + element, s->values_at + element};
}

static qn_status sort_batch(const work *w, uint64_t row, uint64_t rows) {
    const plan *p = w->p;
    side from = side_at(&w->from, row * p->length);
    const side last = side_at(&w->to, row * p->length);
    qn_status status = p->passes == 1 && same_place(&from, &last) ? set_apart(w, rows, &from) : QN_OK;
    for (uint32_t pass = 0; pass < p->passes && !status; pass++) {
        const side *to = (p->passes - pass) % 2 ? &last : &w->other;
        status = p->sweep ? sweep(w, pass, &from, to) : three_kernels(w, rows, pass, &from, to);
        from = *to;
    }
    return status;
}

static qn_status get_memory(qn_kernels *kernels, work *w) {
    const plan *p = w->p;
    const uint64_t count = p->batch * p->length;
    uint64_t counts = p->batch * DIGITS * p->place_size * p->chunks,
             totals = p->batch * DIGITS * p->place_size;
    if (p->sweep) {
        counts = (uint64_t)p->passes * (DIGITS * 4 + 256);
        totals = (uint64_t)p->tiles * DIGITS * 4;
    }
    qn_status status = qn__scratch(kernels, count * qn__element(w->r->keys.type)->size, &w->other.keys);
    if (!status && w->r->kind)
        status = qn__scratch(kernels, count * qn__element(w->r->to_values.type)->size, &w->other.values);
    if (!status) status = qn__scratch(kernels, counts, &w->counts);
    if (!status) status = qn__scratch(kernels, totals, &w->totals);
    return status;
}

static qn_status run_sort(qn_kernels *kernels, qn_stream *stream, const plan *p, const request *r) {
    work w = {.stream = stream,
              .p = p,
              .r = r,
              .from = {r->keys.buffer, r->kind == GIVEN_VALUES ? r->values.buffer : NULL, r->keys.offset,
                       r->values.offset},
              .to = {r->to_keys.buffer, r->kind ? r->to_values.buffer : NULL, r->to_keys.offset,
                     r->to_values.offset}};
    const qn__network_rows rows = network_rows(r, p);
    if (p->network.kernel) return qn__network_launch(stream, &p->network, &rows);
    qn_status status = get_memory(kernels, &w);
    for (uint64_t row = 0; row < p->rows && !status; row += p->batch)
        status = sort_batch(&w, row, least(p->batch, p->rows - row));
    qn_buffer_destroy(w.other.keys);
    qn_buffer_destroy(w.other.values);
    qn_buffer_destroy(w.counts);
    qn_buffer_destroy(w.totals);
    return status;
}

/* ---- the call ---- */

static qn_status check_alike(const qn_kernels *kernels, const char *name, const qn_array *a,
                             const char *other_name, const qn_array *other, bool types) {
    if (types && a->type != other->type)
        return qn__op_fail(kernels, QN_ERROR_ARGUMENT,
                           "qn_kernels_sort: %s.type is %s and %s.type is %s; they must be the same", name,
                           qn__element(a->type)->name, other_name, qn__element(other->type)->name);
    return qn__array_alike(kernels, "qn_kernels_sort", name, a, other_name, other);
}

/* `values` and `to_values`, and what they are for. */
static qn_status check_values(const qn_kernels *kernels, const qn_sort_desc *desc, request *r) {
    if (!desc->to_values.buffer) {
        if (!desc->values.buffer) return QN_OK;
        return qn__op_fail(kernels, QN_ERROR_NULL,
                           "qn_kernels_sort: to_values.buffer is NULL, but there are values");
    }
    r->kind = desc->values.buffer ? GIVEN_VALUES : PLACES;
    qn_status status =
        qn__array_check_written(kernels, "qn_kernels_sort", "to_values", &desc->to_values, &r->to_values);
    if (!status) status = check_alike(kernels, "to_values", &r->to_values, "keys", &r->keys, false);
    if (!status)
        status =
            qn__array_apart(kernels, "qn_kernels_sort", "to_values", &r->to_values, "to_keys", &r->to_keys);
    if (!status)
        status = qn__array_apart(kernels, "qn_kernels_sort", "to_values", &r->to_values, "keys", &r->keys);
    if (status) return status;
    if (r->kind == PLACES) {
        const qn__element_info *e = qn__element(r->to_values.type);
        const uint64_t length = r->keys.rank ? r->keys.sizes[r->keys.rank - 1] : 1;
        if (e->is_float || e->size < 4)
            return qn__op_fail(
                kernels, QN_ERROR_ARGUMENT,
                "qn_kernels_sort: to_values.type is %s; places of keys are i32, u32, i64 or u64", e->name);
        if (e->size == 4 && length > INT32_MAX)
            return qn__op_fail(kernels, QN_ERROR_ARGUMENT,
                               "qn_kernels_sort: to_values.type is %s, and rows have %llu keys", e->name,
                               (unsigned long long)length);
        return QN_OK;
    }
    status = qn__array_check(kernels, "qn_kernels_sort", "values", &desc->values, &r->values);
    if (!status) status = check_alike(kernels, "values", &r->values, "to_values", &r->to_values, true);
    if (!status)
        status = qn__array_apart(kernels, "qn_kernels_sort", "to_keys", &r->to_keys, "values", &r->values);
    if (!status && !qn__array_is_same(&r->values, &r->to_values))
        status =
            qn__array_apart(kernels, "qn_kernels_sort", "to_values", &r->to_values, "values", &r->values);
    return status;
}

static qn_status check(const qn_kernels *kernels, const qn_stream *stream, const qn_sort_desc *desc,
                       request *r) {
    qn_status status = qn__op_begin(kernels, stream, desc, "qn_kernels_sort");
    if (status) return status;
    *r = (request){.descending = desc->descending};
    status = qn__array_check(kernels, "qn_kernels_sort", "keys", &desc->keys, &r->keys);
    if (!status)
        status = qn__array_check_written(kernels, "qn_kernels_sort", "to_keys", &desc->to_keys, &r->to_keys);
    if (!status) status = check_alike(kernels, "to_keys", &r->to_keys, "keys", &r->keys, true);
    if (!status && !qn__array_is_same(&r->keys, &r->to_keys))
        status = qn__array_apart(kernels, "qn_kernels_sort", "to_keys", &r->to_keys, "keys", &r->keys);
    return status ? status : check_values(kernels, desc, r);
}

static qn_status sort_packed(qn_kernels *kernels, qn_stream *stream, const request *r) {
    qn__key key = {0};
    qn__key_add_array(&key, &r->keys);
    qn__key_add(&key, r->kind);
    qn__key_add(&key, r->kind ? qn__element(r->to_values.type)->size : 0);
    qn__key_add(&key, r->descending);
    plan p;
    const qn_status status = qn__plan_get(kernels, &sort_op, &key, r, &p);
    return status ? status : run_sort(kernels, stream, &p, r);
}

qn_status qn_kernels_sort(qn_kernels *kernels, qn_stream *stream, const qn_sort_desc *desc) {
    request r;
    qn_status status = check(kernels, stream, desc, &r);
    if (status || qn_array_count(&r.keys) == 0) return status;
    qn__packed keys = {0}, values = {0}, to_keys = {0}, to_values = {0};
    status = qn__packed_open(kernels, stream, &r.keys, &keys);
    if (!status) status = qn__packed_blank(kernels, &r.to_keys, &to_keys);
    if (!status && r.kind == GIVEN_VALUES) status = qn__packed_open(kernels, stream, &r.values, &values);
    if (!status && r.kind) status = qn__packed_blank(kernels, &r.to_values, &to_values);
    if (!status)
        status = sort_packed(
            kernels, stream,
            &(request){keys.array, values.array, to_keys.array, to_values.array, r.kind, r.descending});
    status = qn__packed_close(kernels, stream, &r.to_keys, &to_keys, status);
    status = qn__packed_close(kernels, stream, &r.to_values, &to_values, status);
    qn__packed_close(kernels, stream, NULL, &keys, status);
    qn__packed_close(kernels, stream, NULL, &values, status);
    return status;
}
