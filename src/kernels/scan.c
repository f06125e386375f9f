/* qn_kernels_scan, with kernels/scans.cl. Rows are scanned by a work-group each, or by work-items that are neighbours where neighbours in
   memory are of different rows. Where rows are too few to fill the device they are cut into parts: on devices whose work-groups go
   on while others wait in one kernel, elsewhere in three. How the work is cut depends on shape, strides and device alone. */
#include <stdio.h>
#include <string.h>

#include "kernels/op.h"

static const char *const words[QN_SCAN_COUNT] = {
#define WORD(name, word) #word,
    QN_SCAN_MAP(WORD)
#undef WORD
};

/* A call whose arrays have been checked: the rows' begins, and the dimension that is scanned. */
typedef struct request {
    const qn_scan_desc *d;
    qn_array from, to; /* without that dimension */
    uint64_t length;
    int64_t from_step, to_step;
} request;

typedef struct plan {
    qn_kernel *total, *begin, *scan; /* `total` and `begin` where rows have parts */
    qn_kernel *sweep;                /* or NULL */
    qn__walk_block rows;
    uint64_t count, length, part, parts;
    uint32_t group, words; /* of a value, of 32 bits */
    uint32_t width;        /* rows of a work-group that sweeps, where its work-items have their own */
    bool team;             /* a work-group for each part, or a work-item */
} plan;

/* Of `sweep`: sub-groups, and the registers that leave room for ten groups on a multiprocessor: while some wait, others load. */
enum { SWEEP_SUBS = 4, SWEEP_REGISTERS = 48 };

/* Where work-items have rows of their own: elements of a slice. */
enum { SWEEP_SLICES = 4, SWEEP_DEPTH = 32 };

/* How the work is cut. */
typedef struct shape {
    bool team, sweeps;
    uint32_t group, subs, width, rounds; /* or slices and their elements, where work-items sweep */
    uint64_t part;
} shape;

static uint64_t divide_up(uint64_t a, uint64_t b) { return a / b + (a % b != 0); }
static uint64_t least(uint64_t a, uint64_t b) { return a < b ? a : b; }
static uint64_t most(uint64_t a, uint64_t b) { return a > b ? a : b; }
static uint64_t size_of_step(int64_t step) { return step < 0 ? 0 - (uint64_t)step : (uint64_t)step; }

static bool is_signed(qn_element type) { return type >= QN_I8 && type <= QN_I64; }

/* What is computed in. Sums of integers need no more bits than are kept of them. */
static qn_element value_type(const qn_scan_desc *d) {
    const qn_element from = d->from.type, to = d->to.type;
    if (qn__element(from)->is_float) return from == QN_F64 ? QN_F64 : QN_F32;
    const bool joins = d->operation == QN_SCAN_SUM || d->operation == QN_SCAN_PRODUCT;
    const qn__element_info *kept = qn__element(joins ? to : from);
    const bool narrow = kept->size <= 4 && !kept->is_float && !(joins && to == QN_BOOL);
    if (narrow) return is_signed(from) ? QN_I32 : QN_U32;
    return is_signed(from) ? QN_I64 : QN_U64;
}

/* What rows begin with. An inclusive one of NaNs alone is NaN: nothing else may come in. */
static const char *first_value(const qn_scan_desc *d) {
    const bool real = qn__element(d->from.type)->is_float, largest = d->operation == QN_SCAN_MIN;
    if (d->operation == QN_SCAN_SUM) return "0";
    if (d->operation == QN_SCAN_PRODUCT) return "1";
    if (d->operation == QN_SCAN_LOG_SUM_EXP) return "-INFINITY";
    if (!real) return qn__element_limit(d->from.type, largest);
    return d->exclusive ? qn__element_limit(QN_F32, largest) : "NAN";
}

/* How many neighbours a work-item takes as one: 16 bytes of the wider type, at most 4; 1 where they do not lie so. */
static uint32_t choose_width(const request *r, const qn__walk *rows) {
    const uint32_t from = qn__element(r->d->from.type)->size, to = qn__element(r->d->to.type)->size;
    const uint32_t wider = from > to ? from : to, width = wider > 4 ? 16 / wider : 4;
    if (r->from_step != 1 || r->to_step != 1) return 1;
    if (r->from.offset % width || r->to.offset % width) return 1;
    for (uint32_t d = 0; d < rows->rank; d++)
        if (rows->sizes[d] > 1 &&
            (rows->strides[0][d] % (int64_t)width || rows->strides[1][d] % (int64_t)width))
            return 1;
    return width;
}

/* In one kernel, where so many strips of rows are there that each has a work-group's time to wait for the part before its own. */
static void sweep_across(const qn_kernels *kernels, const request *r, uint64_t count, shape *s) {
    enum { STRIPS_A_UNIT = 2 };
    const uint32_t sub = kernels->info.sub_group_size;
    const uint64_t strips = divide_up(count, sub ? sub : 1);
    if (kernels->info.kind != QN_DEVICE_CUDA ||
        strips < STRIPS_A_UNIT * (uint64_t)kernels->info.compute_units)
        return;
    const uint32_t depth = qn__element(value_type(r->d))->size > 4 ? SWEEP_DEPTH / 2 : SWEEP_DEPTH;
    const uint64_t part = (uint64_t)depth * SWEEP_SLICES;
    if (strips * divide_up(r->length, part) >= UINT32_MAX / 2) return;
    s->sweeps = true;
    s->subs = SWEEP_SLICES;
    s->rounds = depth;
    s->group = SWEEP_SLICES * sub;
    s->part = part;
}

static shape choose_shape(const qn_kernels *kernels, const request *r, const qn__walk *rows, uint64_t count) {
    const qn_device_info *info = &kernels->info;
    const uint64_t units = info->compute_units ? info->compute_units : 16;
    const bool processor = qn__is_processor(kernels);
    const uint32_t size = qn__element(value_type(r->d))->size;
    const bool across = rows->sizes[0] >= 16 && size_of_step(rows->strides[0][0]) < size_of_step(r->to_step);
    shape s = {.width = 1, .rounds = 1, .group = 64, .subs = 1};
    if (processor && !across) s.group = 1;
    s.team = !processor && !across && info->sub_group_size >= 4 && r->length > 32;
    if (!s.team) {
        const uint64_t wanted = processor ? 4 * units : 512 * units, worth = processor ? 1u << 14 : 64;
        const uint64_t parts = least(divide_up(wanted, count), divide_up(r->length, worth));
        s.part = divide_up(r->length, most(parts, 1));
        if (parts > 1 && across) sweep_across(kernels, r, count, &s);
        return s;
    }
    s.width = choose_width(r, rows);
    s.rounds = (size > 4 ? 8 : 16) / s.width;
    if (info->capabilities & QN_CAN_EMULATE) s.rounds = 1; /* its compilers are slow with unrolled loops */
    const uint32_t sub = info->sub_group_size;
    while (s.subs * 2 * sub <= info->max_local_size[0] && s.subs * 2 * sub <= 256 &&
           (uint64_t)s.subs * sub * s.rounds * s.width < r->length)
        s.subs *= 2;
    s.group = s.subs * sub;
    const uint64_t tile = (uint64_t)s.group * s.rounds * s.width, tiles = divide_up(r->length, tile);
    const uint64_t parts = least(tiles, divide_up(4 * units, count));
    s.part = divide_up(tiles, parts) * tile;
    s.sweeps = info->kind == QN_DEVICE_CUDA && parts > 1 && count * tiles < UINT32_MAX / 2;
    if (s.sweeps) {
        s.subs = SWEEP_SUBS;
        s.group = s.subs * sub;
        s.rounds = (size > 4 ? 16 : 32) / s.width;
        s.part = (uint64_t)s.group * s.rounds * s.width;
    }
    return s;
}

static void options_of(const request *r, const shape *s, const qn__walk *rows, char *text, size_t size) {
    const qn_scan_desc *d = r->d;
    const qn_element value = value_type(d);
    const qn__element_info *from = qn__element(d->from.type), *to = qn__element(d->to.type);
    int at = snprintf(
        text, size,
        "-cl-uniform-work-group-size -D SCAN_%s -D FROM=%s -D FROM_LOADED=%s -D FROM_CONVERT=%s -D "
        "FROM_WORD=%s "
        "-D TO=%s -D TO_CONVERT=%s -D TO_WORD=%s -D VALUE=%s -D LEAST=%s -D KEPT=%u -D GROUP=%u -D N=%u%s%s",
        words[d->operation], from->storage, from->value, qn__element_conversion(d->from.type, value).text,
        qn__element_word(from->size * s->width), to->storage, qn__element_conversion(value, d->to.type).text,
        qn__element_word(to->size * s->width), qn__element(value)->value, first_value(d), rows->rank,
        s->group, s->width, from->is_float ? " -D REAL" : "", d->exclusive ? " -D EXCLUSIVE" : "");
    if (s->team)
        at += snprintf(text + at, size - (size_t)at, " -D TEAM -D SUBS=%u -D ROUNDS=%u", s->subs, s->rounds);
    if (s->sweeps && s->team)
        snprintf(text + at, size - (size_t)at, " -D SWEEP -cl-nv-maxrregcount=%u", (unsigned)SWEEP_REGISTERS);
    else if (s->sweeps)
        snprintf(text + at, size - (size_t)at, " -D SWEEP -D SUBS=%u -D WIDTH=%u -D DEPTH=%u", s->subs,
                 s->group / s->subs, s->rounds);
}

static qn_status get_kernels(qn_kernels *kernels, const char *options, bool sweeps, plan *p) {
    const struct {
        const char *name;
        qn_kernel **kernel;
        bool wanted;
    } all[] = {{"sweep", &p->sweep, sweeps},
               {"scan", &p->scan, !sweeps},
               {"total", &p->total, !sweeps && p->parts > 1},
               {"begin", &p->begin, !sweeps && p->parts > 1}};
    qn_status status = QN_OK;
    for (size_t i = 0; i < sizeof all / sizeof *all && !status; i++)
        if (all[i].wanted)
            status =
                qn__variant_get(kernels, &(qn__variant){"scans.cl", all[i].name, options}, all[i].kernel);
    return status;
}

static qn_status make_scan(qn_kernels *kernels, const void *given, void *out) {
    const request *r = given;
    plan *p = out;
    const bool wide = r->d->from.type == QN_F64 || r->d->to.type == QN_F64;
    if (wide && !(kernels->info.capabilities & QN_CAN_F64))
        return qn__op_fail(kernels, QN_ERROR_UNSUPPORTED, "qn_kernels_scan: %s has no f64",
                           kernels->info.name);
    qn__walk rows;
    const qn_status status =
        qn__walk_make(kernels, "qn_kernels_scan", (const qn_array *const[]){&r->to, &r->from},
                      (const char *const[]){"to", "from"}, 2, &rows);
    if (status) return status;
    qn__walk_give_dimension(&rows, 2);
    p->count = qn_array_count(&r->to);
    const shape s = choose_shape(kernels, r, &rows, p->count);
    p->rows = qn__walk_block_of(&rows, 2);
    p->length = r->length;
    p->part = s.part;
    p->parts = divide_up(r->length, s.part);
    p->group = s.group;
    p->width = s.group / s.subs;
    p->team = s.team;
    p->words = (qn__element(value_type(r->d))->size + 3) / 4;
    char options[1024];
    options_of(r, &s, &rows, options, sizeof options);
    return get_kernels(kernels, options, s.sweeps, p);
}

static const qn__op scan_op = {"qn_kernels_scan", sizeof(plan), make_scan};

/* ---- the launches ---- */

static qn_range items(const plan *p, uint64_t count, bool groups) {
    const uint64_t all = groups ? count : divide_up(count, p->group);
    return (qn_range){.global = {all * p->group}, .local = {p->group}};
}

/* What all parts tell and are told, behind the ticket. Work-items that have rows of their own tell the next part of each row. */
static qn_status sweep(qn_kernels *kernels, qn_stream *stream, const plan *p, const request *r) {
    enum { TICKET = 128 };
    qn_buffer *states;
    const uint64_t strips = p->team ? p->count : divide_up(p->count, p->width), tiles = strips * p->parts,
                   told = p->count * p->parts * (p->team ? 2 : 1), bytes = TICKET + told * p->words * 8;
    qn_status status = qn__scratch(kernels, bytes, &states);
    if (status) return status;
    status = qn_stream_fill(stream, states, 0, bytes, &(uint32_t){0}, 4);
    qn_arg args[13] = {qn_arg_bytes(p->rows.words, p->rows.size)};
    size_t count = 1;
    if (!p->team) args[count++] = qn_arg_unsigned(p->count);
    args[count++] = qn_arg_unsigned(p->length);
    args[count++] = qn_arg_unsigned(p->team ? p->parts : strips);
    args[count++] = qn_arg_unsigned(p->team ? tiles : p->parts);
    const qn_arg rest[] = {qn_arg_signed(r->from_step),     qn_arg_signed(r->to_step),
                           qn_arg_unsigned(r->from.offset), qn_arg_buffer(r->from.buffer),
                           qn_arg_unsigned(r->to.offset),   qn_arg_buffer(r->to.buffer),
                           qn_arg_buffer(states),           qn_arg_unsigned(TICKET / 8)};
    memcpy(args + count, rest, sizeof rest);
    count += sizeof rest / sizeof *rest;
    const qn_range range = items(p, p->team ? tiles + 1 : tiles, true);
    if (!status) status = qn_launch(stream, p->sweep, &range, args, count);
    qn_buffer_destroy(states);
    return status;
}

static qn_status by_parts(qn_kernels *kernels, qn_stream *stream, const plan *p, const request *r) {
    qn_buffer *totals = NULL;
    qn_status status = QN_OK;
    if (p->parts > 1) status = qn__scratch(kernels, p->count * p->parts * p->words * 4, &totals);
    if (status) return status;
    const qn_range all = items(p, p->count * p->parts, p->team), rows = items(p, p->count, false);
    const qn_arg sums = totals ? qn_arg_buffer(totals) : qn_arg_null();
    qn_arg args[11] = {qn_arg_bytes(p->rows.words, p->rows.size),
                       qn_arg_unsigned(p->count),
                       qn_arg_unsigned(p->length),
                       qn_arg_unsigned(p->part),
                       qn_arg_signed(r->from_step),
                       qn_arg_unsigned(r->from.offset),
                       qn_arg_buffer(r->from.buffer),
                       sums};
    const qn_arg begins[] = {qn_arg_unsigned(p->count), qn_arg_unsigned(p->parts), sums};
    if (totals) status = qn_launch(stream, p->total, &all, args, 8);
    if (totals && !status) status = qn_launch(stream, p->begin, &rows, begins, 3);
    args[7] = qn_arg_signed(r->to_step);
    args[8] = qn_arg_unsigned(r->to.offset);
    args[9] = qn_arg_buffer(r->to.buffer);
    args[10] = sums;
    if (!status) status = qn_launch(stream, p->scan, &all, args, 11);
    qn_buffer_destroy(totals);
    return status;
}

/* ---- the call ---- */

static qn_status check(const qn_kernels *kernels, const qn_stream *stream, const qn_scan_desc *desc,
                       qn_scan_desc *d) {
    qn_status status = qn__op_begin(kernels, stream, desc, "qn_kernels_scan");
    if (status) return status;
    *d = *desc;
    if ((unsigned)d->operation >= QN_SCAN_COUNT)
        return qn__op_fail(kernels, QN_ERROR_ARGUMENT,
                           "qn_kernels_scan: operation is %u, which is no qn_scan_operation",
                           (unsigned)d->operation);
    status = qn__array_check(kernels, "qn_kernels_scan", "from", &desc->from, &d->from);
    if (!status) status = qn__array_check_written(kernels, "qn_kernels_scan", "to", &desc->to, &d->to);
    if (!status) status = qn__array_alike(kernels, "qn_kernels_scan", "to", &d->to, "from", &d->from);
    if (status) return status;
    if (d->operation == QN_SCAN_LOG_SUM_EXP && !qn__element(d->from.type)->is_float)
        return qn__op_fail(kernels, QN_ERROR_ARGUMENT,
                           "qn_kernels_scan: from is of %s; QN_SCAN_LOG_SUM_EXP is of floats",
                           qn__element(d->from.type)->name);
    if (d->dimension >= (d->from.rank ? d->from.rank : 1))
        return qn__op_fail(kernels, QN_ERROR_ARGUMENT,
                           "qn_kernels_scan: dimension is %u; the dimensions of from (%s) are 0 to %u",
                           (unsigned)d->dimension, qn__shape(&d->from).text,
                           (unsigned)(d->from.rank ? d->from.rank - 1 : 0));
    if (qn__array_is_same(&d->to, &d->from)) return QN_OK;
    return qn__array_apart(kernels, "qn_kernels_scan", "to", &d->to, "from", &d->from);
}

/* Takes the dimension that is scanned out of an array; a reverse scan is one with a step backwards. */
static int64_t take_out(const qn_scan_desc *d, const qn_array *array, qn_array *rows) {
    *rows = *array;
    if (array->rank == 0) return 1;
    const uint64_t size = array->sizes[d->dimension];
    int64_t step = array->strides[d->dimension];
    rows->rank--;
    for (uint32_t i = d->dimension; i < rows->rank; i++) {
        rows->sizes[i] = array->sizes[i + 1];
        rows->strides[i] = array->strides[i + 1];
    }
    if (!d->reverse) return step;
    rows->offset += (size - 1) * (uint64_t)step;
    return -step;
}

qn_status qn_kernels_scan(qn_kernels *kernels, qn_stream *stream, const qn_scan_desc *desc) {
    qn_scan_desc d;
    qn_status status = check(kernels, stream, desc, &d);
    if (status || qn_array_count(&d.to) == 0) return status;
    request r = {.d = &d, .length = d.from.rank ? d.from.sizes[d.dimension] : 1};
    r.from_step = take_out(&d, &d.from, &r.from);
    r.to_step = take_out(&d, &d.to, &r.to);
    qn__key key = {0};
    qn__key_add(&key,
                (uint64_t)d.operation << 40 | (uint64_t)d.dimension << 8 | d.exclusive << 1 | d.reverse);
    qn__key_add_array(&key, &d.to);
    qn__key_add_array(&key, &d.from);
    qn__key_add(&key, d.from.offset % 16 << 4 | d.to.offset % 16);
    plan p;
    status = qn__plan_get(kernels, &scan_op, &key, &r, &p);
    if (status) return status;
    return p.sweep ? sweep(kernels, stream, &p, &r) : by_parts(kernels, stream, &p, &r);
}
