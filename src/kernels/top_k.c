/* qn_kernels_top_k, with kernels/top_k.cl: the last key that is wanted is found digit by digit, then those before it are taken, and sorted. A
   row is a work-group's; where rows are few and long they are cut into parts. Where most of a row is wanted it is sorted. Where few are,
   kernels/top_few.cl reads the row once. Many short rows on a processor, without places, are another thing (network.h). */
#include <stdio.h>
#include <string.h>

#include "kernels/network.h"

static qn_status check_shape(const qn_kernels *kernels, const char *name, const qn_array *to,
                             const qn_array *from) {
    bool good = to->rank == from->rank && from->rank > 0;
    for (uint32_t d = 0; good && d + 1 < from->rank; d++) good = to->sizes[d] == from->sizes[d];
    good = good && to->sizes[to->rank - 1] <= from->sizes[from->rank - 1];
    if (good) return QN_OK;
    return qn__op_fail(
        kernels, QN_ERROR_ARGUMENT,
        "qn_kernels_top_k: %s is %s and from is %s; their sizes must be the same but for the last, of "
        "which it may have fewer",
        name, qn__shape(to).text, qn__shape(from).text);
}

static qn_status check_indices(const qn_kernels *kernels, const qn_top_k_desc *desc, qn_top_k_desc *d) {
    qn_status status =
        qn__array_check_written(kernels, "qn_kernels_top_k", "to_indices", &desc->to_indices, &d->to_indices);
    if (!status) status = check_shape(kernels, "to_indices", &d->to_indices, &d->from);
    if (status) return status;
    const qn__element_info *e = qn__element(d->to_indices.type);
    if (e->is_float || e->size < 4)
        return qn__op_fail(kernels, QN_ERROR_ARGUMENT,
                           "qn_kernels_top_k: to_indices.type is %s; indices are i32, u32, i64 or u64",
                           e->name);
    if (d->to_indices.sizes[d->from.rank - 1] != d->to.sizes[d->from.rank - 1])
        return qn__op_fail(kernels, QN_ERROR_ARGUMENT, "qn_kernels_top_k: to_indices is %s and to is %s",
                           qn__shape(&d->to_indices).text, qn__shape(&d->to).text);
    status = qn__array_apart(kernels, "qn_kernels_top_k", "to_indices", &d->to_indices, "to", &d->to);
    if (!status)
        status = qn__array_apart(kernels, "qn_kernels_top_k", "to_indices", &d->to_indices, "from", &d->from);
    return status;
}

static qn_status check(const qn_kernels *kernels, const qn_stream *stream, const qn_top_k_desc *desc,
                       qn_top_k_desc *d) {
    qn_status status = qn__op_begin(kernels, stream, desc, "qn_kernels_top_k");
    if (status) return status;
    *d = *desc;
    status = qn__array_check(kernels, "qn_kernels_top_k", "from", &desc->from, &d->from);
    if (!status) status = qn__array_check_written(kernels, "qn_kernels_top_k", "to", &desc->to, &d->to);
    if (!status && d->to.type != d->from.type)
        return qn__op_fail(kernels, QN_ERROR_ARGUMENT, "qn_kernels_top_k: to.type is %s and from.type is %s",
                           qn__element(d->to.type)->name, qn__element(d->from.type)->name);
    if (!status) status = check_shape(kernels, "to", &d->to, &d->from);
    if (!status) status = qn__array_apart(kernels, "qn_kernels_top_k", "to", &d->to, "from", &d->from);
    return status || !desc->to_indices.buffer ? status : check_indices(kernels, desc, d);
}

enum { FEW_GROUP = 256 };
enum { SORTED = 1024 }; /* the most that a work-group sorts in local memory */

/* A call whose arrays have been checked; its arrays are contiguous. */
typedef struct request {
    const qn_top_k_desc *d;
    uint64_t rows, length, wanted;
    bool with_indices;
} request;

typedef struct plan {
    qn_kernel *whole; /* or all of the next */
    qn_kernel *count, *pick, *tally, *begin, *take;
    qn_kernel *sort_taken; /* after `take`; NULL where so many are wanted that qn_kernels_sort does it */
    uint32_t group, parts, bits, digit;
    uint64_t part;
    qn_kernel *first,
        *merge; /* where few are wanted: of a part or the whole of a row; of what parts have found */
    bool sorts_all, leaves_order; /* leaves_order: qn_kernels_sort has to follow */
    qn__network network;          /* without a kernel: all of the above */
} plan;

static uint64_t divide_up(uint64_t a, uint64_t b) { return a / b + (a % b != 0); }
static uint64_t least(uint64_t a, uint64_t b) { return a < b ? a : b; }

static uint32_t choose_group(const qn_kernels *kernels, const request *r) {
    if (qn__is_processor(kernels)) return 1;
    const uint32_t wanted = r->length < 1u << 14   ? 256
                            : r->length < 1u << 17 ? 512
                                                   : 1024,
                   most = kernels->info.max_local_size[0];
    uint32_t group = 1;
    while (group * 2 <= wanted && group * 2 <= most) group *= 2;
    return group;
}

/* Few of a long row: what kernels/top_few.cl keeps in local memory, or in order. */
static bool are_few(const qn_kernels *kernels, const request *r) {
    enum { FEW_IN_ORDER = 64, FEW = 128, LEAST_ROW = 1 << 12 };
    if (qn__is_processor(kernels)) return r->wanted <= FEW_IN_ORDER;
    return r->wanted <= FEW && r->length >= LEAST_ROW && kernels->info.max_local_size[0] >= FEW_GROUP &&
           kernels->info.max_group_size >= FEW_GROUP;
}

/* `each`: work-groups that a unit of a GPU has of them. */
static void choose_parts(const qn_kernels *kernels, const request *r, uint32_t each, plan *p) {
    const uint64_t units = kernels->info.compute_units ? kernels->info.compute_units : 16;
    const uint64_t groups = p->group == 1 ? 2 * units : each * units, worth = 1u << 15;
    const uint64_t parts = r->rows < groups ? groups / r->rows : 1;
    p->part = divide_up(r->length, least(parts, divide_up(r->length, worth)));
    p->parts = (uint32_t)divide_up(r->length, p->part);
}

/* Of the program with these `kernels`: what nobody launches takes a driver's compiler time, too. */
static void options_of(const request *r, const plan *p, const char *kernels, bool sorted, char *text,
                       size_t size) {
    static const char *const words[] = {[1] = "uchar", [2] = "ushort", [4] = "uint", [8] = "ulong"};
    const qn_element type = r->d->from.type;
    const qn__element_info *key = qn__element(type);
    const bool is_signed = type >= QN_I8 && type <= QN_I64;
    int at = snprintf(text, size,
                      "-cl-uniform-work-group-size -D %s -D KEY=%s -D BITS=%u -D DIGIT=%u -D GROUP=%u%s%s%s",
                      kernels, words[key->size], p->bits, p->digit, p->group,
                      key->is_float ? " -D FLOAT"
                      : is_signed   ? " -D SIGNED"
                                    : "",
                      r->d->smallest ? "" : " -D DESCENDING", r->with_indices ? " -D INDEX=" : "");
    if (r->with_indices)
        at += snprintf(text + at, size - (size_t)at, "%s", words[qn__element(r->d->to_indices.type)->size]);
    uint32_t room = 2;
    while (room < r->wanted) room *= 2;
    if (sorted) snprintf(text + at, size - (size_t)at, " -D SORTED=%u", room);
}

/* A row whose keys a work-group holds in registers, so that few of them are candidates: so many keys a work-item. 0: it does not, or
   there is no local memory for the candidates of so many work-items. */
static uint32_t hold_row(const qn_kernels *kernels, const request *r, plan *p) {
    enum { BYTES = 128, MOST = 512, PLACE = 4, CANDIDATES = 4 /* a work-item */, COUNTS = 2048 };
    const uint32_t size = qn__element(r->d->from.type)->size, ahead = BYTES / (size < 4 ? 4 : size);
    uint32_t group = FEW_GROUP;
    while (group < MOST && (uint64_t)group * ahead < r->length) group *= 2;
    const uint64_t local = (uint64_t)group * CANDIDATES * (size + PLACE) + COUNTS;
    if ((uint64_t)group * ahead < r->length || group > kernels->info.max_local_size[0] ||
        group > kernels->info.max_group_size || local > kernels->info.local_memory)
        return 0;
    p->group = group;
    return ahead;
}

static qn_status make_few(qn_kernels *kernels, const request *r, plan *p) {
    char text[256], last[320], merge[288];
    p->digit = 8;
    const bool processor = qn__is_processor(kernels);
    p->group = processor ? 1 : FEW_GROUP;
    choose_parts(kernels, r, 3, p);
    const uint32_t ahead = !processor && p->parts == 1 ? hold_row(kernels, r, p) : 0;
    options_of(r, p, "FEW", processor, text, sizeof text);
    snprintf(last, sizeof last, "%s -D LAST", text);
    if (ahead)
        snprintf(last + strlen(last), sizeof last - strlen(last), " -D ONCE -D AHEAD=%u", (unsigned)ahead);
    snprintf(merge, sizeof merge, "%s -D LAST -D MERGE", text);
    const bool parts = p->parts > 1;
    qn_status status =
        qn__variant_get(kernels, &(qn__variant){"top_few.cl", NULL, parts ? text : last}, &p->first);
    if (!status && parts)
        status = qn__variant_get(kernels, &(qn__variant){"top_few.cl", NULL, merge}, &p->merge);
    return status;
}

static qn__network_rows network_rows(const request *r) {
    return (qn__network_rows){r->d->from, r->d->to, r->rows, r->length, r->wanted, !r->d->smallest};
}

static qn_status make_top_k(qn_kernels *kernels, const void *given, void *out) {
    const request *r = given;
    plan *p = out;
    const qn__network_rows rows = network_rows(r);
    const qn_status found = r->with_indices ? QN_OK : qn__network_get(kernels, &rows, &p->network);
    if (found || p->network.kernel) return found;
    p->sorts_all = r->length > UINT32_MAX || (r->wanted > SORTED && r->wanted > r->length / 2);
    if (p->sorts_all) return QN_OK;
    p->bits = qn__element(r->d->from.type)->size * 8;
    p->digit = p->bits > 16 ? 11 : 8;
    if (are_few(kernels, r)) return make_few(kernels, r, p);
    p->group = choose_group(kernels, r);
    choose_parts(kernels, r, 4, p);
    p->leaves_order = r->wanted > SORTED;
    const bool parts = p->parts > 1;
    char whole[256], in_parts[256], taken[256];
    options_of(r, p, "WHOLE", !p->leaves_order, whole, sizeof whole);
    options_of(r, p, "PARTS", false, in_parts, sizeof in_parts);
    options_of(r, p, "TAKEN", true, taken, sizeof taken);
    const struct {
        const char *name, *options;
        qn_kernel **kernel;
        bool wanted;
    } all[] = {{"whole", whole, &p->whole, !parts},
               {"count", in_parts, &p->count, parts},
               {"pick", in_parts, &p->pick, parts},
               {"tally", in_parts, &p->tally, parts},
               {"begin", in_parts, &p->begin, parts},
               {"take", in_parts, &p->take, parts},
               {"sort_taken", taken, &p->sort_taken, parts && !p->leaves_order}};
    qn_status status = QN_OK;
    for (size_t i = 0; i < sizeof all / sizeof *all && !status; i++)
        if (all[i].wanted)
            status = qn__variant_get(kernels, &(qn__variant){"top_k.cl", all[i].name, all[i].options},
                                     all[i].kernel);
    return status;
}

static const qn__op top_k_op = {"qn_kernels_top_k", sizeof(plan), make_top_k};

/* ---- the launches ---- */

/* Where keys and their places go: to the results, or to memory of our own, in the order of the row. */
typedef struct results {
    qn_buffer *keys, *indices;
    uint64_t keys_at, indices_at;
} results;

typedef struct work {
    qn_stream *stream;
    const plan *p;
    const request *r;
    qn_buffer *limits, *found, *counts;
} work;

static size_t add_results(const work *w, const results *to, qn_arg *args, size_t count) {
    args[count++] = qn_arg_unsigned(to->keys_at);
    args[count++] = qn_arg_buffer(to->keys);
    if (!w->r->with_indices) return count;
    args[count++] = qn_arg_unsigned(to->indices_at);
    args[count++] = qn_arg_buffer(to->indices);
    return count;
}

static qn_status launch(const work *w, qn_kernel *kernel, uint64_t groups, const qn_arg *args, size_t count) {
    const uint32_t group = w->p->group;
    return qn_launch(w->stream, kernel, &(qn_range){.global = {groups * group}, .local = {group}}, args,
                     count);
}

static qn_status take_whole(const work *w, const results *to) {
    const request *r = w->r;
    qn_arg args[8] = {qn_arg_unsigned(r->length), qn_arg_unsigned(r->wanted),
                      qn_arg_unsigned(r->d->from.offset), qn_arg_buffer(r->d->from.buffer)};
    return launch(w, w->p->whole, r->rows, args, add_results(w, to, args, 4));
}

/* The digits of the last key that is wanted, from the highest. */
static qn_status find_limits(const work *w) {
    const plan *p = w->p;
    const request *r = w->r;
    const qn_arg limits = qn_arg_buffer(w->limits), found = qn_arg_buffer(w->found),
                 wanted = qn_arg_unsigned(r->wanted);
    const qn_arg begin[] = {wanted, qn_arg_unsigned(0), limits, found};
    qn_status status = launch(w, p->pick, r->rows, begin, 4);
    for (uint32_t high = p->bits; high > 0 && !status; high = high > p->digit ? high - p->digit : 0) {
        const qn_arg count[] = {qn_arg_unsigned(r->length),
                                qn_arg_unsigned(p->part),
                                qn_arg_unsigned(p->parts),
                                qn_arg_unsigned(high),
                                qn_arg_unsigned(r->d->from.offset),
                                qn_arg_buffer(r->d->from.buffer),
                                limits,
                                found};
        const qn_arg pick[] = {wanted, qn_arg_unsigned(high), limits, found};
        status = launch(w, p->count, r->rows * p->parts, count, 8);
        if (!status) status = launch(w, p->pick, r->rows, pick, 4);
    }
    return status;
}

static qn_status take_parts(const work *w, const results *to) {
    const plan *p = w->p;
    const request *r = w->r;
    const qn_arg length = qn_arg_unsigned(r->length), part = qn_arg_unsigned(p->part),
                 parts = qn_arg_unsigned(p->parts), from = qn_arg_unsigned(r->d->from.offset),
                 keys = qn_arg_buffer(r->d->from.buffer), limits = qn_arg_buffer(w->limits),
                 counts = qn_arg_buffer(w->counts);
    qn_status status = find_limits(w);
    const qn_arg tally[] = {length, part, parts, from, keys, limits, counts}, begin[] = {parts, counts};
    if (!status) status = launch(w, p->tally, r->rows * p->parts, tally, 7);
    if (!status) status = launch(w, p->begin, r->rows, begin, 2);
    qn_arg take[12] = {length, part, parts, qn_arg_unsigned(r->wanted), from, keys, limits, counts};
    const size_t count = add_results(w, to, take, 8);
    return status ? status : launch(w, p->take, r->rows * p->parts, take, count);
}

static qn_status sort_parts(const work *w, const results *from, const results *to) {
    qn_arg args[8] = {qn_arg_unsigned(w->r->wanted), qn_arg_buffer(from->keys)};
    size_t count = 2;
    if (w->r->with_indices) args[count++] = qn_arg_buffer(from->indices);
    return launch(w, w->p->sort_taken, w->r->rows, args, add_results(w, to, args, count));
}

/* By qn_kernels_sort, which keeps the order of equal keys. */
static qn_status sort_taken(qn_kernels *kernels, const work *w, const results *from) {
    const qn_top_k_desc *d = w->r->d;
    qn_sort_desc sort = {.keys = d->to, .to_keys = d->to, .descending = !d->smallest};
    sort.keys.buffer = from->keys;
    sort.keys.offset = 0;
    if (w->r->with_indices) {
        sort.values = sort.to_values = d->to_indices;
        sort.values.buffer = from->indices;
        sort.values.offset = 0;
    }
    return qn_kernels_sort(kernels, w->stream, &sort);
}

static qn_status get_memory(qn_kernels *kernels, work *w, results *taken) {
    enum { LIMIT = 24 }; /* bytes of a limit at most */
    const plan *p = w->p;
    const request *r = w->r;
    const uint64_t count = r->rows * r->wanted, bins = r->rows * 4 << p->digit;
    qn_status status = QN_OK;
    if (p->parts > 1 || p->leaves_order) {
        status = qn__scratch(kernels, count * qn__element(r->d->from.type)->size, &taken->keys);
        if (!status && r->with_indices)
            status = qn__scratch(kernels, count * qn__element(r->d->to_indices.type)->size, &taken->indices);
    }
    if (status || p->parts == 1) return status;
    status = qn__scratch(kernels, r->rows * LIMIT, &w->limits);
    if (!status) status = qn__scratch(kernels, bins, &w->found);
    if (!status) status = qn__scratch(kernels, r->rows * p->parts * 8, &w->counts);
    return status ? status : qn_stream_fill(w->stream, w->found, 0, bins, &(uint32_t){0}, 4);
}

static qn_status select_all(qn_kernels *kernels, qn_stream *stream, const plan *p, const request *r) {
    work w = {.stream = stream, .p = p, .r = r};
    const results final = {r->d->to.buffer, r->d->to_indices.buffer, r->d->to.offset,
                           r->d->to_indices.offset};
    results taken = {0};
    qn_status status = get_memory(kernels, &w, &taken);
    const results *to = taken.keys ? &taken : &final;
    if (!status) status = p->parts > 1 ? take_parts(&w, to) : take_whole(&w, to);
    if (!status && p->leaves_order)
        status = sort_taken(kernels, &w, &taken);
    else if (!status && p->parts > 1)
        status = sort_parts(&w, &taken, &final);
    qn_buffer_destroy(taken.keys);
    qn_buffer_destroy(taken.indices);
    qn_buffer_destroy(w.limits);
    qn_buffer_destroy(w.found);
    qn_buffer_destroy(w.counts);
    return status;
}

/* ---- where few are wanted ---- */

static size_t add_limits(const request *r, uint64_t length, uint64_t part, uint64_t parts, uint64_t begin,
                         qn_arg *args) {
    const uint64_t numbers[] = {length, part, parts, r->wanted, begin};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) args[i] = qn_arg_unsigned(numbers[i]);
    return sizeof numbers / sizeof *numbers;
}

/* The parts' own first ones, then the first of those. */
static qn_status select_few_in_parts(const work *w, const results *found, const results *to) {
    const plan *p = w->p;
    const request *r = w->r;
    qn_arg args[12];
    size_t count = add_limits(r, r->length, p->part, p->parts, r->d->from.offset, args);
    args[count++] = qn_arg_buffer(r->d->from.buffer);
    args[count++] = qn_arg_buffer(found->keys);
    args[count++] = qn_arg_buffer(found->indices);
    const qn_status status = launch(w, p->first, r->rows * p->parts, args, count);
    if (status) return status;
    const uint64_t candidates = r->wanted * p->parts;
    count = add_limits(r, candidates, candidates, 1, 0, args);
    args[count++] = qn_arg_buffer(found->keys);
    args[count++] = qn_arg_buffer(found->indices);
    return launch(w, p->merge, r->rows, args, add_results(w, to, args, count));
}

static qn_status select_few(qn_kernels *kernels, qn_stream *stream, const plan *p, const request *r) {
    const work w = {.stream = stream, .p = p, .r = r};
    const results to = {r->d->to.buffer, r->d->to_indices.buffer, r->d->to.offset, r->d->to_indices.offset};
    if (p->parts == 1) {
        qn_arg args[12];
        size_t count = add_limits(r, r->length, p->part, 1, r->d->from.offset, args);
        args[count++] = qn_arg_buffer(r->d->from.buffer);
        return launch(&w, p->first, r->rows, args, add_results(&w, &to, args, count));
    }
    results found = {0};
    const uint64_t candidates = r->rows * r->wanted * p->parts;
    qn_status status = qn__scratch(kernels, candidates * qn__element(r->d->from.type)->size, &found.keys);
    if (!status) status = qn__scratch(kernels, candidates * sizeof(uint32_t), &found.indices);
    if (!status) status = select_few_in_parts(&w, &found, &to);
    qn_buffer_destroy(found.keys);
    qn_buffer_destroy(found.indices);
    return status;
}

/* ---- by sorting all ---- */

/* The begin of each row of `sorted`, which is contiguous and of from's sizes. */
static qn_status copy_begins(qn_kernels *kernels, qn_stream *stream, const qn_array *from, qn_buffer *sorted,
                             const qn_array *to) {
    qn_array view = *to;
    view.buffer = sorted;
    view.offset = 0;
    int64_t stride = 1;
    for (uint32_t d = from->rank; d-- > 0; stride *= (int64_t)from->sizes[d]) view.strides[d] = stride;
    return qn_kernels_copy(kernels, stream, &(qn_copy_desc){.to = *to, .from = view});
}

static qn_status sort_all(qn_kernels *kernels, qn_stream *stream, const qn_top_k_desc *d, qn_buffer **keys,
                          qn_buffer **indices) {
    const uint64_t count = qn_array_count(&d->from);
    const bool with_indices = d->to_indices.buffer != NULL;
    qn_sort_desc sort = {.keys = d->from, .to_keys = d->from, .descending = !d->smallest};
    for (uint32_t i = 0; i < QN_MAX_RANK; i++) sort.to_keys.strides[i] = 0;
    sort.to_keys.offset = 0;
    qn_status status = qn__scratch(kernels, count * qn__element(d->from.type)->size, keys);
    sort.to_keys.buffer = *keys;
    if (!status && with_indices) {
        status = qn__scratch(kernels, count * qn__element(d->to_indices.type)->size, indices);
        sort.to_values = sort.to_keys;
        sort.to_values.buffer = *indices;
        sort.to_values.type = d->to_indices.type;
    }
    if (!status) status = qn_kernels_sort(kernels, stream, &sort);
    if (!status) status = copy_begins(kernels, stream, &d->from, *keys, &d->to);
    if (!status && with_indices) status = copy_begins(kernels, stream, &d->from, *indices, &d->to_indices);
    return status;
}

/* ---- the call ---- */

static qn_status run_sort(qn_kernels *kernels, qn_stream *stream, const qn_top_k_desc *d) {
    qn_buffer *keys = NULL, *indices = NULL;
    const qn_status status = sort_all(kernels, stream, d, &keys, &indices);
    qn_buffer_destroy(keys);
    qn_buffer_destroy(indices);
    return status;
}

/* All arrays are contiguous. */
static qn_status run(qn_kernels *kernels, qn_stream *stream, const qn_top_k_desc *d) {
    const uint32_t last = d->from.rank - 1;
    const request r = {.d = d,
                       .length = d->from.sizes[last],
                       .wanted = d->to.sizes[last],
                       .rows = qn_array_count(&d->to) / d->to.sizes[last],
                       .with_indices = d->to_indices.buffer != NULL};
    qn__key key = {0};
    qn__key_add(&key,
                (uint64_t)d->smallest << 8 | (r.with_indices ? qn__element(d->to_indices.type)->size : 0));
    qn__key_add(&key, r.wanted);
    qn__key_add_array(&key, &d->from);
    plan p;
    const qn_status status = qn__plan_get(kernels, &top_k_op, &key, &r, &p);
    if (status) return status;
    const qn__network_rows rows = network_rows(&r);
    if (p.network.kernel) return qn__network_launch(stream, &p.network, &rows);
    if (p.first) return select_few(kernels, stream, &p, &r);
    return p.sorts_all ? run_sort(kernels, stream, d) : select_all(kernels, stream, &p, &r);
}

qn_status qn_kernels_top_k(qn_kernels *kernels, qn_stream *stream, const qn_top_k_desc *desc) {
    qn_top_k_desc d;
    qn_status status = check(kernels, stream, desc, &d);
    if (status || qn_array_count(&d.to) == 0) return status;
    qn__packed from = {0}, to = {0}, indices = {0};
    status = qn__packed_open(kernels, stream, &d.from, &from);
    if (!status) status = qn__packed_blank(kernels, &d.to, &to);
    if (!status && d.to_indices.buffer) status = qn__packed_blank(kernels, &d.to_indices, &indices);
    const qn_top_k_desc packed = {from.array, to.array, indices.array, d.smallest};
    if (!status) status = run(kernels, stream, &packed);
    status = qn__packed_close(kernels, stream, &d.to, &to, status);
    status = qn__packed_close(kernels, stream, &d.to_indices, &indices, status);
    qn__packed_close(kernels, stream, NULL, &from, status);
    return status;
}
