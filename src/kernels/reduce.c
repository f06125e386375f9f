/* qn_kernels_reduce. A team of work-items makes one result, or a piece of one where results are few; kernels/reduce.cl says how. How
   the work is cut depends on shape and strides alone, so that the same sums come out everywhere. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "kernels/op.h"

static const char *const words[QN_REDUCE_COUNT] = {
#define WORD(name, word) #word,
    QN_REDUCE_MAP(WORD)
#undef WORD
};

enum {
    LOCAL = 256,  /* work-items of a group, or what the device has */
    COLUMNS = 32, /* teams of a group, where neighbours in memory are of different results */
    WORTH = 16,   /* steps that a work-item should have before a result is cut into pieces */
    ENOUGH = 4096 /* groups that fill any device */
};

/* Of elements of a type. */
typedef struct types {
    qn_element value, result;
    const char *least;
} types;

static bool is_signed(qn_element type) { return type >= QN_I8 && type <= QN_I64; }

static qn_element float_of(qn_element type) { return type == QN_F64 ? QN_F64 : QN_F32; }

static types types_of(const qn_reduce_desc *d) {
    const qn_element from = d->from.type;
    const bool real = qn__element(from)->is_float;
    const qn_element own = real ? float_of(from) : from;
    const qn_element wide = real ? own : is_signed(from) ? QN_I64 : QN_U64;
    switch (d->operation) {
    case QN_REDUCE_MEAN: return (types){wide, float_of(from), "0"};
    case QN_REDUCE_PRODUCT: return (types){wide, wide, "1"};
    case QN_REDUCE_MAX: return (types){own, own, real ? "NAN" : qn__element_limit(own, false)};
    case QN_REDUCE_MIN: return (types){own, own, real ? "NAN" : qn__element_limit(own, true)};
    case QN_REDUCE_ARGMAX: return (types){own, QN_U64, qn__element_limit(own, false)};
    case QN_REDUCE_ARGMIN: return (types){own, QN_U64, qn__element_limit(own, true)};
    case QN_REDUCE_NORM2: return (types){float_of(from), float_of(from), "0"};
    case QN_REDUCE_ANY: return (types){real ? own : from, QN_BOOL, "0"};
    case QN_REDUCE_ALL: return (types){real ? own : from, QN_BOOL, "1"};
    default: return (types){wide, wide, "0"};
    }
}

/* A call whose arrays have been checked, taken apart. */
typedef struct request {
    qn_reduce_desc d;
    qn_array kept, to, reduced,
        index; /* `to` without the dimensions that are reduced; the others are of `from` */
    uint64_t outputs, elements;
} request;

static void add_dimension(qn_array *a, uint64_t size, int64_t stride) {
    a->sizes[a->rank] = size;
    a->strides[a->rank++] = stride;
}

static qn_status take_apart(const qn_kernels *kernels, const qn_reduce_desc *d, request *r) {
    const uint32_t axes = d->axes ? d->axes : (1u << d->from.rank) - 1;
    if (axes >> d->from.rank)
        return qn__op_fail(kernels, QN_ERROR_ARGUMENT,
                           "qn_kernels_reduce: axes is 0x%x, but from has %u dimensions", (unsigned)axes,
                           d->from.rank);
    *r = (request){.d = *d};
    r->kept.type = r->reduced.type = d->from.type;
    r->to.type = d->to.type;
    const bool all = d->to.rank == d->from.rank;
    bool fits = true;
    for (uint32_t i = 0, next = 0; i < d->from.rank; i++) {
        const bool is_reduced = axes >> i & 1;
        if (is_reduced)
            add_dimension(&r->reduced, d->from.sizes[i], d->from.strides[i]);
        else
            add_dimension(&r->kept, d->from.sizes[i], d->from.strides[i]);
        if (is_reduced && !all) continue;
        const uint64_t size = next < d->to.rank ? d->to.sizes[next] : 0;
        fits = fits && next < d->to.rank && size == (is_reduced ? 1 : d->from.sizes[i]);
        if (fits && !is_reduced) add_dimension(&r->to, size, d->to.strides[next]);
        next++;
    }
    if (!fits || (!all && d->to.rank != r->kept.rank))
        return qn__op_fail(
            kernels, QN_ERROR_ARGUMENT,
            "qn_kernels_reduce: to (%s) is not from (%s) without axes 0x%x, nor with sizes of 1 there",
            qn__shape(&d->to).text, qn__shape(&d->from).text, (unsigned)axes);
    r->index = r->reduced;
    int64_t stride = 1;
    for (uint32_t i = r->index.rank; i-- > 0; stride *= (int64_t)r->index.sizes[i])
        r->index.strides[i] = stride;
    r->outputs = qn_array_count(&r->kept);
    r->elements = qn_array_count(&r->reduced);
    return QN_OK;
}

/* How a launch cuts the work. */
typedef struct cut {
    bool columns;
    uint32_t local, team;
    uint32_t width, across; /* neighbours that a work-item loads as one: of one result, or one of each */
    uint64_t length, pieces;
    uint32_t lanes, streams; /* of vectors on a processor; 0: by teams */
} cut;

static uint64_t ceil_divide(uint64_t a, uint64_t b) { return a / b + (a % b != 0); }

static uint32_t power_up_to(uint64_t value, uint32_t most) {
    uint32_t p = 1;
    while (p < most && p * 2 <= value) p *= 2;
    return p;
}

/* How many neighbours a work-item can load as one. */
static uint32_t choose_width(const request *r, const qn__walk *kept, const qn__walk *reduced) {
    const uint32_t width = 16 / qn__element(r->d.from.type)->size;
    if (reduced->rank > 1 || reduced->strides[0][0] != 1 || reduced->strides[1][0] != 1) return 1;
    if (r->d.from.offset % width) return 1;
    for (uint32_t d = 0; d < kept->rank; d++)
        if (kept->sizes[d] > 1 && kept->strides[0][d] % (int64_t)width) return 1;
    return width;
}

/* How many results a work-item can make whose elements are neighbours. */
static uint32_t choose_across(const request *r, const qn__walk *kept, const qn__walk *reduced) {
    const uint32_t size = qn__element(r->d.from.type)->size, across = size > 4 ? 16 / size : 4;
    if (kept->strides[0][0] != 1 || kept->sizes[0] % across || r->d.from.offset % across) return 1;
    if (r->outputs < (uint64_t)COLUMNS * across) return 1;
    for (uint32_t d = 1; d < kept->rank; d++)
        if (kept->strides[0][d] % (int64_t)across) return 1;
    for (uint32_t d = 0; d < reduced->rank; d++)
        if (reduced->strides[0][d] % (int64_t)across) return 1;
    return across;
}

static uint64_t step_of(int64_t stride) { return stride < 0 ? 0 - (uint64_t)stride : (uint64_t)stride; }

/* ---- on a processor: kernels/reduce_line.cl ---- */

/* Elements of such a type have vectors, or become floats one by one. */
static bool has_vectors(qn_element type) {
    return type == QN_F32 || type == QN_F64 || (!qn__element(type)->is_float && type != QN_BOOL);
}

static bool is_where(qn_reduce_operation operation) {
    return operation == QN_REDUCE_ARGMAX || operation == QN_REDUCE_ARGMIN;
}

static uint32_t lanes_of(const request *r) {
    enum { BYTES = 64, MOST = 16 };
    const uint32_t from = qn__element(r->d.from.type)->size, value = qn__element(types_of(&r->d).value)->size,
                   lanes = BYTES / (from > value ? from : value);
    return lanes < MOST ? lanes : MOST;
}

static bool takes_lines(const qn_kernels *kernels, const request *r) {
    const qn_element value = types_of(&r->d).value;
    if (!qn__is_processor(kernels) || r->d.operation == QN_REDUCE_ANY || r->d.operation == QN_REDUCE_ALL ||
        r->d.from.type == QN_BOOL)
        return false;
    return !is_where(r->d.operation) || (qn__element(value)->size >= 4 && r->elements <= INT32_MAX);
}

/* Pieces of so many elements keep chains of sums short. False: nothing lies side by side. */
static bool choose_lines(const qn_kernels *kernels, const request *r, const qn__walk *kept,
                         const qn__walk *reduced, cut *c) {
    enum {
        STREAMS = 4,
        LEAST_ROW = 32,
        LONGEST_ROW = 1 << 16,
        LONGEST_COLUMN = 1 << 10,
        SHORT_COLUMN = 1 << 8,
        FEW = 64
    };
    if (!takes_lines(kernels, r)) return false;
    c->local = 1;
    c->lanes = lanes_of(r);
    if (c->columns) {
        const uint64_t side = kept->sizes[0];
        if (kept->strides[0][0] != 1 || side < c->lanes) return false;
        c->streams = side >= (uint64_t)STREAMS * c->lanes ? STREAMS : 1;
        const uint64_t groups = ceil_divide(side, (uint64_t)c->streams * c->lanes) * (r->outputs / side);
        c->length = groups < FEW ? SHORT_COLUMN : LONGEST_COLUMN;
    } else {
        if (reduced->rank > 1 || reduced->strides[0][0] != 1 || r->elements < LEAST_ROW) return false;
        c->length = LONGEST_ROW;
    }
    c->pieces = ceil_divide(r->elements, c->length);
    return true;
}

static cut choose_cut(qn_kernels *kernels, const request *r, const qn__walk *kept, const qn__walk *reduced) {
    const bool is_near = step_of(kept->strides[0][0]) < step_of(reduced->strides[0][0]);
    cut c = {.columns = r->outputs >= COLUMNS / 2 && r->elements > 1 && is_near}, lines = c;
    if (choose_lines(kernels, r, kept, reduced, &lines)) return lines;
    qn__tuned tuned =
        qn__tuned_of(kernels, QN__CALL_reduce, (const uint64_t[]){r->outputs, r->elements}, "%s %s %s %s",
                     qn__element(r->d.from.type)->name, qn__element(r->d.to.type)->name,
                     words[r->d.operation], c.columns ? "columns" : "rows");
    c.local =
        power_up_to(kernels->info.max_group_size, qn__tuned_number(&tuned, QN__TUNE_reduce_items, LOCAL));
    tuned.values[QN__TUNE_reduce_items] = c.local;
    c.width = c.columns ? 1 : choose_width(r, kept, reduced);
    c.across = c.columns ? choose_across(r, kept, reduced) : 1;
    c.team = c.columns ? (c.local > COLUMNS ? c.local / COLUMNS : 1)
                       : power_up_to(r->elements / (2 * c.width), c.local);
    const uint64_t groups = ceil_divide(r->outputs, (uint64_t)c.local / c.team * c.across);
    const uint64_t worth =
        (uint64_t)c.team * c.width * qn__tuned_number(&tuned, QN__TUNE_reduce_steps, WORTH);
    qn__tuned_keep(kernels, &tuned);
    c.pieces = ENOUGH / (groups < ENOUGH ? groups : ENOUGH);
    if (c.pieces > ceil_divide(r->elements, worth)) c.pieces = ceil_divide(r->elements, worth);
    c.length = ceil_divide(ceil_divide(r->elements, c.pieces), c.width) * c.width;
    c.pieces = ceil_divide(r->elements, c.length);
    return c;
}

typedef struct stage {
    qn_kernel *kernel;
    uint64_t groups, elements, length, pieces;
    uint32_t local;
} stage;

typedef struct plan {
    qn__walk_block kept, reduced;
    uint64_t outputs, count;
    uint64_t workspace; /* bytes; 0: one stage */
    stage stages[2];
} plan;

static qn_status get_kernel(qn_kernels *kernels, const request *r, const cut *c, const qn__walk *kept,
                            const qn__walk *reduced, bool split, bool partials, qn_kernel **kernel) {
    const types t = types_of(&r->d);
    const qn__element_info *from = qn__element(r->d.from.type), *value = qn__element(t.value);
    char options[1024];
    snprintf(
        options, sizeof options,
        "-D REDUCE_%s -D FROM=%s -D FROM_LOADED=%s -D FROM_CONVERT=%s -D FROM_WORD=%s -D VALUE=%s "
        "-D RESULT=%s -D TO=%s -D TO_CONVERT=%s -D LEAST=%s -D KEPT=%u -D REDUCED=%u -D LOCAL=%u -D TEAM=%u "
        "-D N=%u -D ACROSS=%u%s%s%s%s",
        words[r->d.operation], from->storage, from->value,
        qn__element_conversion(r->d.from.type, t.value).text,
        qn__element_word(from->size * (c->across > 1 ? c->across : c->width)), value->value,
        qn__element(t.result)->value, qn__element(r->d.to.type)->storage,
        qn__element_conversion(t.result, r->d.to.type).text, t.least, kept->rank, reduced->rank, c->local,
        c->team, c->width, c->across, value->is_float ? " -D REAL" : "", c->columns ? " -D COLUMNS" : "",
        split ? " -D SPLIT" : "", partials ? " -D PARTIALS" : "");
    return qn__variant_get(kernels, &(qn__variant){"reduce.cl", "reduce", options}, kernel);
}

static qn_status get_line_kernel(qn_kernels *kernels, const request *r, const cut *c, const qn__walk *kept,
                                 const qn__walk *reduced, qn_kernel **kernel) {
    const types t = types_of(&r->d);
    const qn__element_info *from = qn__element(r->d.from.type), *value = qn__element(t.value);
    char options[1024], columns[32] = "";
    if (c->columns) snprintf(columns, sizeof columns, " -D COLUMNS=%u", c->streams);
    snprintf(
        options, sizeof options,
        "-D REDUCE_%s -D FROM=%s -D FROM_LOADED=%s -D FROM_CONVERT=%s -D VALUE=%s -D RESULT=%s -D TO=%s -D "
        "TO_CONVERT=%s -D LEAST=%s -D KEPT=%u -D REDUCED=%u -D W=%u%s%s%s%s%s%s",
        words[r->d.operation], from->storage, from->value,
        qn__element_conversion(r->d.from.type, t.value).text, value->value, qn__element(t.result)->value,
        qn__element(r->d.to.type)->storage, qn__element_conversion(t.result, r->d.to.type).text, t.least,
        kept->rank, reduced->rank, c->lanes, value->is_float ? " -D REAL" : "",
        has_vectors(r->d.from.type) ? "" : " -D BY_ONE", columns, c->pieces > 1 ? " -D SPLIT" : "",
        is_where(r->d.operation) ? " -D WHERE" : "",
        value->size == 8   ? " -D MASK=ulong"
        : value->size == 4 ? " -D MASK=uint"
                           : "");
    return qn__variant_get(kernels, &(qn__variant){"reduce_line.cl", "reduce", options}, kernel);
}

static uint64_t groups_of_lines(const request *r, const cut *c, const qn__walk *kept) {
    if (!c->columns) return r->outputs * c->pieces;
    return ceil_divide(kept->sizes[0], (uint64_t)c->streams * c->lanes) * (r->outputs / kept->sizes[0]) *
           c->pieces;
}

static uint64_t groups_of(const request *r, const cut *c) {
    const uint32_t teams = c->local / c->team;
    return c->columns ? ceil_divide(r->outputs / c->across, teams) * c->pieces
                      : ceil_divide(r->outputs * c->pieces, teams);
}

static qn_status plan_stages(qn_kernels *kernels, const request *r, const qn__walk *kept,
                             const qn__walk *reduced, plan *p) {
    const cut c = choose_cut(kernels, r, kept, reduced);
    const bool split = c.pieces > 1;
    qn_status status;
    p->stages[0] = (stage){NULL,        c.lanes ? groups_of_lines(r, &c, kept) : groups_of(r, &c),
                           r->elements, c.length,
                           c.pieces,    c.local};
    if (c.lanes)
        status = get_line_kernel(kernels, r, &c, kept, reduced, &p->stages[0].kernel);
    else
        status = get_kernel(kernels, r, &c, kept, reduced, split, false, &p->stages[0].kernel);
    if (status || !split) return status;
    const types t = types_of(&r->d);
    p->workspace = r->outputs * c.pieces * (is_where(r->d.operation) ? 16 : qn__element(t.value)->size);
    cut second = {.local = c.local, .width = 1, .across = 1, .length = c.pieces, .pieces = 1};
    second.team = power_up_to(c.pieces, c.local);
    p->stages[1] = (stage){NULL, groups_of(r, &second), c.pieces, c.pieces, 1, second.local};
    return get_kernel(kernels, r, &second, kept, reduced, false, true, &p->stages[1].kernel);
}

static qn_status make_reduce(qn_kernels *kernels, const void *given, void *out) {
    const request *r = given;
    plan *p = out;
    const bool wide = r->d.from.type == QN_F64 || r->d.to.type == QN_F64;
    if (wide && !(kernels->info.capabilities & QN_CAN_F64))
        return qn__op_fail(kernels, QN_ERROR_UNSUPPORTED, "qn_kernels_reduce: %s has no f64",
                           kernels->info.name);
    qn__walk kept, reduced;
    qn_status status =
        qn__walk_make(kernels, "qn_kernels_reduce", (const qn_array *const[]){&r->kept, &r->to},
                      (const char *const[]){"from", "to"}, 2, &kept);
    if (!status)
        status =
            qn__walk_make(kernels, "qn_kernels_reduce", (const qn_array *const[]){&r->reduced, &r->index},
                          (const char *const[]){"from", "from"}, 2, &reduced);
    if (status) return status;
    qn__walk_give_dimension(&kept, 2);
    qn__walk_give_dimension(&reduced, 2);
    p->outputs = r->outputs;
    p->count = r->elements;
    p->kept = qn__walk_block_of(&kept, 2);
    p->reduced = qn__walk_block_of(&reduced, 2);
    return plan_stages(kernels, r, &kept, &reduced, p);
}

static const qn__op reduce_op = {"qn_kernels_reduce", sizeof(plan), make_reduce};

static qn_status launch(qn_stream *stream, const plan *p, const stage *s, uint64_t from_begin,
                        qn_buffer *from, uint64_t to_begin, qn_buffer *to) {
    const qn_range range = {.global = {s->groups * s->local}, .local = {s->local}};
    const qn_arg args[] = {qn_arg_bytes(p->kept.words, p->kept.size),
                           qn_arg_bytes(p->reduced.words, p->reduced.size),
                           qn_arg_unsigned(p->outputs),
                           qn_arg_unsigned(p->count),
                           qn_arg_unsigned(s->elements),
                           qn_arg_unsigned(s->length),
                           qn_arg_unsigned(s->pieces),
                           qn_arg_unsigned(from_begin),
                           qn_arg_buffer(from),
                           qn_arg_unsigned(to_begin),
                           qn_arg_buffer(to)};
    return qn_launch(stream, s->kernel, &range, args, sizeof args / sizeof *args);
}

static qn_status run(qn_kernels *kernels, qn_stream *stream, const plan *p, const qn_reduce_desc *d) {
    if (!p->workspace)
        return launch(stream, p, &p->stages[0], d->from.offset, d->from.buffer, d->to.offset, d->to.buffer);
    qn_buffer *partials;
    qn_status status = qn__scratch(kernels, p->workspace, &partials);
    if (status) return status;
    status = launch(stream, p, &p->stages[0], d->from.offset, d->from.buffer, 0, partials);
    if (!status) status = launch(stream, p, &p->stages[1], 0, partials, d->to.offset, d->to.buffer);
    qn_buffer_destroy(partials);
    return status;
}

/* What is made of no elements. */
static qn_status fill_empty(qn_kernels *kernels, qn_stream *stream, const qn_reduce_desc *d) {
    switch (d->operation) {
    case QN_REDUCE_SUM:
    case QN_REDUCE_NORM2:
    case QN_REDUCE_ANY: return qn_kernels_fill(kernels, stream, &(qn_fill_desc){.to = d->to});
    case QN_REDUCE_PRODUCT:
    case QN_REDUCE_ALL: return qn_kernels_fill(kernels, stream, &(qn_fill_desc){.to = d->to, .value = 1});
    case QN_REDUCE_MEAN: return qn_kernels_fill(kernels, stream, &(qn_fill_desc){.to = d->to, .value = NAN});
    default:
        return qn__op_fail(kernels, QN_ERROR_ARGUMENT,
                           "qn_kernels_reduce: from (%s) has no elements, of which there is no %s",
                           qn__shape(&d->from).text, words[d->operation]);
    }
}

qn_status qn_kernels_reduce(qn_kernels *kernels, qn_stream *stream, const qn_reduce_desc *desc) {
    qn_status status = qn__op_begin(kernels, stream, desc, "qn_kernels_reduce");
    if (status) return status;
    if ((unsigned)desc->operation >= QN_REDUCE_COUNT)
        return qn__op_fail(kernels, QN_ERROR_ARGUMENT,
                           "qn_kernels_reduce: operation is %u, which is no qn_reduce_operation",
                           (unsigned)desc->operation);
    qn_reduce_desc d = *desc;
    request r = {.outputs = 0};
    status = qn__array_check_written(kernels, "qn_kernels_reduce", "to", &desc->to, &d.to);
    if (!status) status = qn__array_check(kernels, "qn_kernels_reduce", "from", &desc->from, &d.from);
    if (!status) status = qn__array_apart(kernels, "qn_kernels_reduce", "to", &d.to, "from", &d.from);
    if (!status) status = take_apart(kernels, &d, &r);
    if (status || r.outputs == 0) return status;
    if (r.elements == 0) return fill_empty(kernels, stream, &d);
    qn__key key = {0};
    qn__key_add(&key, (uint64_t)d.operation << 32 | d.axes);
    qn__key_add_array(&key, &d.to);
    qn__key_add_array(&key, &d.from);
    qn__key_add(&key, d.from.offset % 16);
    plan p;
    status = qn__plan_get(kernels, &reduce_op, &key, &r, &p);
    return status ? status : run(kernels, stream, &p, &d);
}
