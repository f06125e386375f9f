/* qn_kernels_attention: checks, and the kernels for every device. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "kernels/attention.h"

enum { MOST_SIZE = 256, RANK = 4 };

static const char *const names[QN__ATTENTION_ARRAYS] = {"q",    "k",        "v",    "out",  "logs",
                                                        "mask", "gradient", "to_q", "to_k", "to_v"};

static bool is_written(const qn__attention *a, uint32_t i) {
    return i >= QN__ATTENTION_TO_Q ||
           (!a->has[QN__ATTENTION_GRADIENT] && (i == QN__ATTENTION_OUT || i == QN__ATTENTION_LOGS));
}

/* ---- checks ---- */

static qn_status check_type(const qn_kernels *kernels, const qn__attention *a, uint32_t i) {
    const qn_element type = a->arrays[i].type, own = a->arrays[QN__ATTENTION_Q].type,
                     logs = own == QN_F64 ? QN_F64 : QN_F32;
    if (i == QN__ATTENTION_MASK &&
        (type == QN_BOOL || (qn__element(type)->is_float && (type != QN_F64 || own == QN_F64))))
        return QN_OK;
    if (i == QN__ATTENTION_MASK)
        return qn__op_fail(kernels, QN_ERROR_ARGUMENT,
                           "%s: mask.type is %s; it must be bool or a float type, f64 with operands of f64",
                           a->function, qn__element(type)->name);
    if (i == QN__ATTENTION_LOGS && type != logs)
        return qn__op_fail(kernels, QN_ERROR_ARGUMENT, "%s: logs.type is %s; for %s it must be %s",
                           a->function, qn__element(type)->name, qn__element(own)->name,
                           qn__element(logs)->name);
    if (i != QN__ATTENTION_LOGS && (type != own || !qn__element(own)->is_float))
        return qn__op_fail(kernels, QN_ERROR_ARGUMENT,
                           "%s: %s.type is %s and q.type is %s; they must be one float type", a->function,
                           names[i], qn__element(type)->name, qn__element(own)->name);
    if (own == QN_F64 && !(kernels->info.capabilities & QN_CAN_F64))
        return qn__op_fail(kernels, QN_ERROR_UNSUPPORTED, "%s: %s has no f64", a->function,
                           kernels->info.name);
    return QN_OK;
}

/* Which array's shape that of array `i` is. */
static qn_status check_shape(const qn_kernels *kernels, const qn__attention *a, uint32_t i) {
    const qn_array *x = &a->arrays[i];
    const bool of_keys =
        i == QN__ATTENTION_K || i == QN__ATTENTION_V || i == QN__ATTENTION_TO_K || i == QN__ATTENTION_TO_V;
    const bool of_size =
        i == QN__ATTENTION_Q || i == QN__ATTENTION_K || i == QN__ATTENTION_TO_Q || i == QN__ATTENTION_TO_K;
    const uint64_t wanted[RANK] = {a->batches, of_keys ? a->key_heads : a->heads,
                                   of_keys ? a->keys : a->queries, of_size ? a->size : a->value_size};
    const uint32_t rank = i == QN__ATTENTION_LOGS ? 3 : RANK;
    bool fits = x->rank == rank;
    for (uint32_t d = 0; d < rank && fits; d++) fits = x->sizes[d] == wanted[d];
    if (fits) return QN_OK;
    qn_array shape = {.rank = rank};
    for (uint32_t d = 0; d < rank; d++) shape.sizes[d] = wanted[d];
    return qn__op_fail(kernels, QN_ERROR_ARGUMENT, "%s: %s is %s; with q %s, k %s and v %s it must be %s",
                       a->function, names[i], qn__shape(x).text, qn__shape(&a->arrays[QN__ATTENTION_Q]).text,
                       qn__shape(&a->arrays[QN__ATTENTION_K]).text,
                       qn__shape(&a->arrays[QN__ATTENTION_V]).text, qn__shape(&shape).text);
}

/* Gives the mask four dimensions, the repeated ones with strides of 0. */
static qn_status broadcast_mask(const qn_kernels *kernels, qn__attention *a) {
    const qn_array given = a->arrays[QN__ATTENTION_MASK];
    const uint64_t wanted[RANK] = {a->batches, a->heads, a->queries, a->keys};
    qn_array *mask = &a->arrays[QN__ATTENTION_MASK];
    bool fits = given.rank <= RANK;
    for (uint32_t d = 0; d < RANK && fits; d++) {
        const bool own = d + given.rank >= RANK;
        const uint64_t size = own ? given.sizes[d + given.rank - RANK] : 1;
        fits = size == 1 || size == wanted[d];
        mask->sizes[d] = wanted[d];
        mask->strides[d] = size == 1 ? 0 : given.strides[d + given.rank - RANK];
    }
    if (!fits)
        return qn__op_fail(
            kernels, QN_ERROR_ARGUMENT,
            "%s: mask (%s) cannot be broadcast to %llux%llux%llux%llu (batches, heads, queries, keys)",
            a->function, qn__shape(&given).text, (unsigned long long)wanted[0], (unsigned long long)wanted[1],
            (unsigned long long)wanted[2], (unsigned long long)wanted[3]);
    mask->rank = RANK;
    return QN_OK;
}

static qn_status check_sizes(const qn_kernels *kernels, qn__attention *a) {
    const qn_array *q = &a->arrays[QN__ATTENTION_Q], *k = &a->arrays[QN__ATTENTION_K],
                   *v = &a->arrays[QN__ATTENTION_V];
    for (uint32_t i = QN__ATTENTION_Q; i <= QN__ATTENTION_V; i++)
        if (a->arrays[i].rank != RANK)
            return qn__op_fail(kernels, QN_ERROR_ARGUMENT,
                               "%s: %s is %s; it must have four dimensions: batches, heads, length, size",
                               a->function, names[i], qn__shape(&a->arrays[i]).text);
    if (q->sizes[3] > MOST_SIZE || v->sizes[3] > MOST_SIZE || !q->sizes[3] || !v->sizes[3])
        return qn__op_fail(kernels, QN_ERROR_ARGUMENT,
                           "%s: heads have %llu and %llu elements (q, v); 1 to %d are possible", a->function,
                           (unsigned long long)q->sizes[3], (unsigned long long)v->sizes[3], MOST_SIZE);
    a->batches = q->sizes[0], a->heads = q->sizes[1], a->queries = q->sizes[2],
    a->size = (uint32_t)q->sizes[3];
    a->key_heads = k->sizes[1], a->keys = k->sizes[2], a->value_size = (uint32_t)v->sizes[3];
    if (a->heads > UINT32_MAX || (a->key_heads ? a->heads % a->key_heads != 0 : a->heads != 0))
        return qn__op_fail(kernels, QN_ERROR_ARGUMENT,
                           "%s: q has %llu heads and k %llu: the first must be a multiple of the second",
                           a->function, (unsigned long long)a->heads, (unsigned long long)a->key_heads);
    if (!(fabs(a->scale) < INFINITY))
        return qn__op_fail(kernels, QN_ERROR_ARGUMENT, "%s: scale is %g", a->function, a->scale);
    if (a->scale == 0) a->scale = 1 / sqrt(a->size);
    return QN_OK;
}

static qn_status check_apart(const qn_kernels *kernels, const qn__attention *a) {
    qn_status status = QN_OK;
    for (uint32_t i = 0; i < QN__ATTENTION_ARRAYS; i++)
        for (uint32_t j = 0; j < QN__ATTENTION_ARRAYS && !status; j++)
            if (a->has[i] && a->has[j] && is_written(a, i) && i != j && !(is_written(a, j) && j < i))
                status =
                    qn__array_apart(kernels, a->function, names[i], &a->arrays[i], names[j], &a->arrays[j]);
    return status;
}

/* Of one query, heads that share keys become queries of one head: the keys are then read once for all of them. The query is the last one and
   sees all keys. */
static void join_heads(qn__attention *a) {
    const uint64_t shared = a->heads / a->key_heads;
    for (uint32_t i = 0; i < QN__ATTENTION_ARRAYS; i++) {
        qn_array *x = &a->arrays[i];
        if (!a->has[i] || i == QN__ATTENTION_K || i == QN__ATTENTION_V || i == QN__ATTENTION_TO_K ||
            i == QN__ATTENTION_TO_V)
            continue;
        x->strides[2] = x->strides[1];
        x->strides[1] *= (int64_t)shared;
        x->sizes[1] = a->key_heads;
        x->sizes[2] = shared;
    }
    a->heads = a->key_heads;
    a->queries = shared;
    a->causal = false;
}

const char *qn_attention_variant(uint32_t index) {
    static const char *const words[] = {"rows", "tile", "quad"};
    return index < sizeof words / sizeof *words ? words[index] : NULL;
}

static qn_status find_way(const qn_kernels *kernels, const char *variant, qn__attention *a) {
    a->way = QN__ATTENTION_ANY;
    if (!variant) return QN_OK;
    for (uint32_t i = 0; qn_attention_variant(i); i++)
        if (strcmp(qn_attention_variant(i), variant) == 0) {
            a->way = (qn__attention_way)(i + 1);
            return QN_OK;
        }
    return qn__op_fail(kernels, QN_ERROR_ARGUMENT, "%s: there is no variant '%s' (see qn_attention_variant)",
                       a->function, variant);
}

qn_status qn__attention_read(const qn_kernels *kernels, const qn_array *const *given, const char *variant,
                             qn__attention *a) {
    qn_status status = find_way(kernels, variant, a);
    for (uint32_t i = 0; i < QN__ATTENTION_ARRAYS; i++) a->has[i] = given[i] != NULL;
    for (uint32_t i = 0; i < QN__ATTENTION_ARRAYS && !status; i++)
        if (a->has[i])
            status = (is_written(a, i) ? qn__array_check_written : qn__array_check)(
                kernels, a->function, names[i], given[i], &a->arrays[i]);
    if (!status) status = check_sizes(kernels, a);
    for (uint32_t i = 0; i < QN__ATTENTION_ARRAYS && !status; i++) {
        if (!a->has[i]) continue;
        status = check_type(kernels, a, i);
        if (!status && i != QN__ATTENTION_MASK) status = check_shape(kernels, a, i);
    }
    if (!status && a->has[QN__ATTENTION_MASK]) status = broadcast_mask(kernels, a);
    if (!status && a->queries == 1 && a->keys && a->heads > a->key_heads) join_heads(a);
    if (!status && a->way == QN__ATTENTION_QUAD && !qn__attention_quad_fits(kernels, a))
        status = qn__op_fail(kernels, QN_ERROR_ARGUMENT, "%s: %s cannot do this by quads", a->function,
                             kernels->info.name);
    return status ? status : check_apart(kernels, a);
}

/* ---- the kernels for every device ---- */

qn__attention_problem qn__attention_problem_of(const qn__attention *a) {
    qn__attention_problem p = {.queries = a->queries,
                               .keys = a->keys,
                               .heads = (uint32_t)a->heads,
                               .shared = (uint32_t)(a->heads / a->key_heads),
                               .size = a->size,
                               .value_size = a->value_size,
                               .causal = a->causal,
                               .is_logged = a->has[QN__ATTENTION_LOGS]};
    for (uint32_t i = 0; i < QN__ATTENTION_ARRAYS; i++) {
        const qn_array *x = &a->arrays[i];
        if (a->has[i])
            p.views[i] = (qn__attention_view){x->offset, x->strides[0], x->strides[1], x->strides[2],
                                              x->rank > 3 ? x->strides[3] : 0};
    }
    if (a->arrays[QN__ATTENTION_Q].type == QN_F64)
        p.scale.wide = a->scale;
    else
        p.scale.single = (float)a->scale;
    return p;
}

/* On software devices barriers cost more than they save, and compiling large kernels, too. */
qn__attention_way qn__attention_way_for(const qn_kernels *kernels, const qn__attention *a) {
    if (a->way != QN__ATTENTION_ANY) return a->way;
    if (qn__attention_quad_fits(kernels, a)) return QN__ATTENTION_QUAD;
    const bool is_software = qn__is_processor(kernels) || (kernels->info.capabilities & QN_CAN_EMULATE);
    return is_software ? QN__ATTENTION_ROWS : QN__ATTENTION_TILE;
}

qn__attention_shape qn__attention_shape_for(const qn_kernels *kernels, const qn__attention *a) {
    const qn_device_info *info = &kernels->info;
    const bool is_large = info->max_group_size >= 256 && info->max_local_size[0] >= 256 &&
                          info->local_memory >= (uint64_t)30 << 10;
    if (a->arrays[QN__ATTENTION_Q].type != QN_F64 && is_large) return (qn__attention_shape){64, 256};
    return (qn__attention_shape){32, 64};
}

qn_status qn__attention_kernel(qn_kernels *kernels, const qn__attention *a, const char *file,
                               const char *name, const char *more, qn_kernel **kernel) {
    const qn__element_info *e = qn__element(a->arrays[QN__ATTENTION_Q].type),
                           *mask = qn__element(a->arrays[QN__ATTENTION_MASK].type);
    char options[640];
    const int at = snprintf(options, sizeof options, "-D ELEMENT=%s -D LOAD=%s -D STORE=%s -D VALUE=%s%s",
                            e->storage, e->load, e->store, e->value, more);
    if (a->has[QN__ATTENTION_MASK])
        snprintf(options + at, sizeof options - (size_t)at,
                 " -D HAS_MASK -D MASK_TYPE=%s -D MASK_LOAD=%s -D MASK_IS_BOOL=%d", mask->storage, mask->load,
                 !mask->is_float);
    return qn__variant_get(kernels, &(qn__variant){file, name, options}, kernel);
}

qn_status qn__attention_row_kernel(qn_kernels *kernels, const qn__attention *a, const char *name,
                                   const char *define, qn_kernel **kernel) {
    enum { STEP = 64 };
    const uint32_t most = a->size > a->value_size ? a->size : a->value_size;
    char more[64];
    snprintf(more, sizeof more, " -D %s -D MOST=%u", define, ((most - 1) / STEP + 1) * STEP);
    return qn__attention_kernel(kernels, a, "attention/rows.cl", name, more, kernel);
}

qn_status qn__attention_tile_kernel(qn_kernels *kernels, const qn__attention *a, const char *file,
                                    const char *name, const char *define, uint32_t chunked,
                                    qn_kernel **kernel) {
    enum { WIDTH = 4, DEPTH = 16 };
    const qn__attention_shape s = qn__attention_shape_for(kernels, a);
    char more[160];
    snprintf(more, sizeof more, " -D VECTOR=%s%d -D W=%d -D DEPTH=%d -D SIDE=%u -D GROUP=%u -D CHUNKS=%u%s",
             qn__element(a->arrays[QN__ATTENTION_Q].type)->value, WIDTH, WIDTH, DEPTH, s.side, s.group,
             (chunked - 1) / s.side + 1, define);
    return qn__attention_kernel(kernels, a, file, name, more, kernel);
}

qn_range qn__attention_range(const qn_kernels *kernels, const qn__attention *a, qn__attention_problem *p,
                             uint64_t rows, uint64_t heads) {
    if (qn__attention_way_for(kernels, a) == QN__ATTENTION_ROWS)
        return (qn_range){.global = {rows * a->batches * heads}};
    const qn__attention_shape s = qn__attention_shape_for(kernels, a);
    p->blocks = (rows - 1) / s.side + 1;
    return (qn_range){.global = {p->blocks * a->batches * heads * s.group}, .local = {s.group}};
}

void qn__attention_key(const qn__attention *a, qn__key *key) {
    qn__key_add(key, a->arrays[QN__ATTENTION_Q].type);
    qn__key_add(key, a->has[QN__ATTENTION_MASK] ? 1 + (uint64_t)a->arrays[QN__ATTENTION_MASK].type : 0);
    qn__key_add(key, a->size);
    qn__key_add(key, a->value_size);
    qn__key_add(key, a->way);
}

static qn_status make_plain(qn_kernels *kernels, const void *request, void *plan) {
    const qn__attention *a = request;
    if (qn__attention_way_for(kernels, a) == QN__ATTENTION_ROWS)
        return qn__attention_row_kernel(kernels, a, "attention", "FORWARD", plan);
    return qn__attention_tile_kernel(kernels, a, "attention/forward.cl", "attention", "", a->value_size,
                                     plan);
}

static const qn__op plain_op = {"qn_kernels_attention", sizeof(qn_kernel *), make_plain};

static qn_arg buffer_of(const qn__attention *a, uint32_t i) {
    return qn_arg_buffer(a->has[i] && a->arrays[i].buffer ? a->arrays[i].buffer
                                                          : a->arrays[QN__ATTENTION_OUT].buffer);
}

static qn_status run_plain(qn_kernels *kernels, qn_stream *stream, const qn__attention *a) {
    qn__key key = {0};
    qn_kernel *kernel = NULL;
    qn__attention_key(a, &key);
    const qn_status status = qn__plan_get(kernels, &plain_op, &key, a, &kernel);
    if (status) return status;
    qn__attention_problem p = qn__attention_problem_of(a);
    const qn_range range = qn__attention_range(kernels, a, &p, a->queries, a->heads);
    const qn_arg args[] = {QN_BYTES(p),
                           buffer_of(a, QN__ATTENTION_Q),
                           buffer_of(a, QN__ATTENTION_K),
                           buffer_of(a, QN__ATTENTION_V),
                           buffer_of(a, QN__ATTENTION_OUT),
                           buffer_of(a, QN__ATTENTION_LOGS),
                           buffer_of(a, QN__ATTENTION_MASK)};
    return qn_launch(stream, kernel, &range, args, sizeof args / sizeof *args - !a->has[QN__ATTENTION_MASK]);
}

/* Without keys, no query sees any: zeros, and logarithms of 0. */
static qn_status run_empty(qn_kernels *kernels, qn_stream *stream, const qn__attention *a) {
    qn_status status = qn_kernels_fill(kernels, stream, &(qn_fill_desc){.to = a->arrays[QN__ATTENTION_OUT]});
    if (!status && a->has[QN__ATTENTION_LOGS])
        status = qn_kernels_fill(kernels, stream,
                                 &(qn_fill_desc){.to = a->arrays[QN__ATTENTION_LOGS], .value = -INFINITY});
    return status;
}

qn_status qn_kernels_attention(qn_kernels *kernels, qn_stream *stream, const qn_attention_desc *desc) {
    qn_status status = qn__op_begin(kernels, stream, desc, "qn_kernels_attention");
    if (status) return status;
    qn__attention a = {.function = "qn_kernels_attention", .causal = desc->causal, .scale = desc->scale};
    const qn_array *const given[QN__ATTENTION_ARRAYS] = {
        [QN__ATTENTION_Q] = &desc->q,
        [QN__ATTENTION_K] = &desc->k,
        [QN__ATTENTION_V] = &desc->v,
        [QN__ATTENTION_OUT] = &desc->out,
        [QN__ATTENTION_LOGS] = desc->logs.buffer ? &desc->logs : NULL,
        [QN__ATTENTION_MASK] = desc->mask.buffer ? &desc->mask : NULL};
    status = qn__attention_read(kernels, given, desc->variant, &a);
    if (status || a.batches == 0 || a.heads == 0 || a.queries == 0) return status;
    if (a.keys == 0) return run_empty(kernels, stream, &a);
    return qn__attention_way_for(kernels, &a) == QN__ATTENTION_QUAD ? qn__attention_quad(kernels, stream, &a)
                                                                    : run_plain(kernels, stream, &a);
}
