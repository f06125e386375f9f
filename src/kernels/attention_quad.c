/* qn_kernels_attention by quads of sub-groups, which feed the matrix units of compute capability 9.0 from tiles in local memory (kernels/attention/quad.cl).
   The device copies tiles by maps of the tensors; operands that it cannot copy so, for their strides, are first copied. */
#include <stdio.h>
#include <string.h>

#include "kernels/attention.h"

enum { CHUNK = QN__ATTENTION_CHUNK, UNIT = 16, SIZE = 2, GIVEN = 24, OPERANDS = 4 };

/* For heads of so many chunks of 64 elements. */
static const struct way {
    uint32_t quads, keys, stages, registers;
} ways[] = {{3, 128, 2, 160}, {2, 128, 2, 240}, {2, 64, 2, 240}, {2, 64, 1, 240}};

static const qn__attention_array operands[OPERANDS] = {QN__ATTENTION_Q, QN__ATTENTION_K, QN__ATTENTION_V,
                                                       QN__ATTENTION_OUT};

uint32_t qn__attention_chunks(const qn__attention *a) { return (a->size - 1) / CHUNK + 1; }

/* ---- maps ---- */

static bool stride_fits(int64_t stride) {
    return stride > 0 && stride * SIZE % UNIT == 0 && stride < (int64_t)1 << 38;
}

/* Heads are planes of the tensor, or lie beside each other in its rows. */
bool qn__attention_describe(const qn_array *x, uint32_t rows, qn_tensor_desc *d, qn__attention_heads *h) {
    const uint64_t batches = x->sizes[0], num_heads = x->sizes[1];
    const int64_t batch = x->strides[0], head = x->strides[1], row = x->strides[2];
    const bool one_row = x->sizes[2] == 1;
    if (x->offset * SIZE % UNIT || x->strides[3] != 1 || !(one_row || stride_fits(row))) return false;
    *d = (qn_tensor_desc){.offset = x->offset * SIZE,
                          .element_size = SIZE,
                          .sizes = {x->sizes[3], x->sizes[2], batches},
                          .tile = {CHUNK, rows}};
    if (!one_row) d->strides[0] = (uint64_t)row * SIZE;
    const bool even = batches == 1 || num_heads == 1 || batch == head * (int64_t)num_heads;
    if (even && batches * num_heads <= INT32_MAX) {
        const int64_t plane = num_heads == 1 ? batch : head;
        *h = (qn__attention_heads){0, 1, (uint32_t)num_heads};
        d->sizes[2] = batches * num_heads;
        if (d->sizes[2] > 1) d->strides[1] = (uint64_t)plane * SIZE;
        return d->sizes[2] == 1 || stride_fits(plane);
    }
    const uint64_t wide = (num_heads - 1) * (uint64_t)head + x->sizes[3];
    if (head <= 0 || x->sizes[3] % CHUNK || wide > (uint64_t)row || wide > INT32_MAX || !stride_fits(batch))
        return false;
    *h = (qn__attention_heads){(uint32_t)head, 0, 1};
    d->sizes[0] = wide;
    d->strides[1] = (uint64_t)batch * SIZE;
    return true;
}

bool qn__attention_quad_fits(const qn_kernels *kernels, const qn__attention *a) {
    const qn_element type = a->arrays[QN__ATTENTION_Q].type;
    const uint64_t most = INT32_MAX, heads = a->batches * a->heads;
    const bool is_narrow = type == QN_F16 || type == QN_BF16;
    const bool is_whole = a->size % (UNIT / SIZE) == 0 && a->value_size % (UNIT / SIZE) == 0 &&
                          (a->value_size - 1) / CHUNK + 1 == qn__attention_chunks(a);
    for (uint32_t i = 0; i < QN__ATTENTION_ARRAYS;
         i++) { /* those that lie together are not copied by qn__packed_open */
        const qn_array *x = &a->arrays[i];
        qn_tensor_desc desc;
        qn__attention_heads h;
        const bool counts = a->has[i] && i != QN__ATTENTION_LOGS && i != QN__ATTENTION_MASK;
        if (counts && qn__array_is_packed(x) && !qn__attention_describe(x, CHUNK, &desc, &h)) return false;
    }
    if (a->has[QN__ATTENTION_GRADIENT] && qn__attention_chunks(a) > QN__ATTENTION_BACKWARD_CHUNKS)
        return false;
    return (kernels->info.capabilities & QN_CAN_COPY_TILES) && is_narrow && is_whole &&
           !a->has[QN__ATTENTION_MASK] && a->scale > 0 && a->queries && a->keys && a->queries <= most / 2 &&
           a->keys <= most / 2 && heads <= most && heads * (a->queries / CHUNK + 1) <= most;
}

qn_status qn__attention_bring(qn_kernels *kernels, qn_stream *stream, const qn_array *x, bool is_result,
                              qn__packed *packed) {
    qn_tensor_desc desc;
    qn__attention_heads h;
    *packed = (qn__packed){.array = *x};
    if (qn__attention_describe(x, CHUNK, &desc, &h)) return QN_OK;
    return is_result ? qn__packed_blank(kernels, x, packed) : qn__packed_open(kernels, stream, x, packed);
}

/* ---- the kernel ---- */

void qn__attention_quad_options(const qn__attention *a, uint32_t quads, uint32_t stages, uint32_t registers,
                                char *out, size_t size) {
    const bool is_half = a->arrays[QN__ATTENTION_Q].type == QN_F16;
    snprintf(out, size,
             "-D Q=%s -D PACK=%s -D CHUNKS=%u -D QUADS=%u -D STAGES=%u -D GIVE=%d -D TAKE=%u -D CAUSAL=%d",
             is_half ? "half" : "qn_bf16", is_half ? "convert_half2" : "convert_qn_bf16x2",
             qn__attention_chunks(a), quads, stages, GIVEN, registers, a->causal);
}

qn_range qn__attention_quad_range(const qn_kernels *kernels, uint64_t tiles, uint32_t quads) {
    const uint64_t units = kernels->info.compute_units, items = ((uint64_t)quads + 1) * 128;
    return (qn_range){.global = {(tiles < units || !units ? tiles : units) * items}, .local = {items, 1, 1}};
}

static qn_status make(qn_kernels *kernels, const void *request, void *plan) {
    const qn__attention *a = request;
    const struct way *w = &ways[qn__attention_chunks(a) - 1];
    char options[256], more[64];
    qn__attention_quad_options(a, w->quads, w->stages, w->registers, options, sizeof options);
    snprintf(more, sizeof more, " -D TURNS -D KEYS=%u%s", w->keys,
             a->has[QN__ATTENTION_LOGS] ? " -D LOGS" : "");
    strcat(options, more);
    return qn__variant_get(kernels, &(qn__variant){"attention/quad.cl", NULL, options}, plan);
}

static const qn__op quad_op = {"qn_kernels_attention by quads", sizeof(qn_kernel *), make};

/* As in the kernel. */
typedef struct shape {
    qn__attention_heads operands[OPERANDS];
    uint32_t queries, keys, heads, shared, blocks, all, together;
    float scale;
    uint32_t parts, part_tiles;
    uint64_t log_begin;
    int64_t log_batch, log_head, log_row;
} shape;

uint32_t qn__attention_together(const qn__attention *a, uint64_t all, uint64_t shared) {
    enum {
        CACHE = 128 << 20
    }; /* fewer at a time are shared out worse, which costs more than what the cache lacks */
    const uint64_t of_head = 2 * (a->keys > a->queries ? a->keys : a->queries) * a->size * SIZE,
                   fit = CACHE / of_head * shared, most = fit > shared ? fit : shared;
    return (uint32_t)(most < all ? most : all);
}

/* With fewer blocks of queries than units, keys are cut into parts, of four tiles at least. */
static uint32_t parts_of(const qn_kernels *kernels, const qn__attention *a) {
    enum { LEAST = 4 };
    const struct way *w = &ways[qn__attention_chunks(a) - 1];
    const uint64_t blocks = ((a->queries - 1) / (w->quads * CHUNK) + 1) * a->batches * a->heads,
                   most = a->keys / (LEAST * w->keys), wanted = kernels->info.compute_units / blocks,
                   parts = wanted < most ? wanted : most;
    return parts > 1 ? (uint32_t)parts : 1;
}

/* `parts` of each head have results of their own. */
static shape shape_of(const qn__attention *a, const struct way *w, uint32_t parts) {
    static const double log2_e = 1.44269504088896341;
    const qn_array *logs = &a->arrays[QN__ATTENTION_LOGS];
    const uint32_t rows = w->quads * CHUNK;
    const uint64_t all = a->batches * a->heads * parts, shared = a->heads / a->key_heads;
    shape s = {.queries = (uint32_t)a->queries,
               .keys = (uint32_t)a->keys,
               .heads = (uint32_t)a->heads * parts,
               .shared = (uint32_t)shared,
               .blocks = (uint32_t)((a->queries - 1) / rows + 1),
               .all = (uint32_t)all,
               .together = qn__attention_together(a, all, shared * parts),
               .scale = (float)(a->scale * log2_e),
               .parts = parts,
               .part_tiles = (uint32_t)(((a->keys - 1) / w->keys + parts) / parts)};
    if (a->has[QN__ATTENTION_LOGS]) {
        s.log_begin = logs->offset;
        s.log_batch = logs->strides[0], s.log_head = logs->strides[1], s.log_row = logs->strides[2];
    }
    return s;
}

static qn_status launch(qn_kernels *kernels, qn_stream *stream, const qn__attention *a, uint32_t parts,
                        const qn__packed *packed, qn_kernel *kernel) {
    const struct way *w = &ways[qn__attention_chunks(a) - 1];
    shape s = shape_of(a, w, parts);
    qn_tensor_map maps[OPERANDS];
    qn_arg args[2 * OPERANDS + 2];
    qn_status status = QN_OK;
    for (uint32_t i = 0; i < OPERANDS && !status; i++) {
        qn_tensor_desc desc;
        qn__attention_describe(&packed[i].array, operands[i] == QN__ATTENTION_K ? w->keys : CHUNK, &desc,
                               &s.operands[i]);
        status = qn_buffer_tensor_map(packed[i].array.buffer, &desc, &maps[i]);
        args[i] = qn_arg_bytes(&maps[i], sizeof maps[i]);
        args[OPERANDS + 1 + i] = qn_arg_buffer(packed[i].array.buffer);
    }
    args[OPERANDS] = QN_BYTES(s);
    args[2 * OPERANDS + 1] = qn_arg_buffer(a->has[QN__ATTENTION_LOGS] ? a->arrays[QN__ATTENTION_LOGS].buffer
                                                                      : packed[OPERANDS - 1].array.buffer);
    const qn_range range = qn__attention_quad_range(kernels, (uint64_t)s.blocks * s.all, w->quads);
    return status ? status : qn_launch(stream, kernel, &range, args, sizeof args / sizeof *args);
}

static qn_status run(qn_kernels *kernels, qn_stream *stream, const qn__attention *a, uint32_t parts) {
    qn__key key = {0};
    qn_kernel *kernel = NULL;
    qn__attention_key(a, &key);
    qn__key_add(&key, (uint64_t)a->causal << 1 | a->has[QN__ATTENTION_LOGS]);
    qn_status status = qn__plan_get(kernels, &quad_op, &key, a, &kernel);
    qn__packed packed[OPERANDS] = {{.copy = NULL}};
    for (uint32_t i = 0; i < OPERANDS && !status; i++) {
        const bool is_result = operands[i] == QN__ATTENTION_OUT;
        status = qn__attention_bring(kernels, stream, &a->arrays[operands[i]], is_result, &packed[i]);
    }
    if (!status) status = launch(kernels, stream, a, parts, packed, kernel);
    for (uint32_t i = 0; i < OPERANDS; i++)
        status = qn__packed_close(kernels, stream,
                                  operands[i] == QN__ATTENTION_OUT ? &a->arrays[QN__ATTENTION_OUT] : NULL,
                                  &packed[i], status);
    return status;
}

/* ---- parts of keys ---- */

/* As in join.cl. */
typedef struct join_view {
    uint64_t begin;
    int64_t batch, head, row;
} join_view;

typedef struct join_shape {
    join_view out, logs;
    uint64_t queries, count;
    uint32_t heads, parts, size;
} join_shape;

static join_view view_of(const qn_array *x) {
    return (join_view){x->offset, x->strides[0], x->strides[1], x->strides[2]};
}

static qn_status make_join(qn_kernels *kernels, const void *request, void *plan) {
    const qn__attention *a = request;
    char options[64];
    snprintf(options, sizeof options, "-D Q=%s%s", qn__element(a->arrays[QN__ATTENTION_Q].type)->storage,
             a->has[QN__ATTENTION_LOGS] ? " -D LOGS" : "");
    return qn__variant_get(kernels, &(qn__variant){"attention/join.cl", NULL, options}, plan);
}

static const qn__op join_op = {"qn_kernels_attention's parts", sizeof(qn_kernel *), make_join};

static qn_status join(qn_kernels *kernels, qn_stream *stream, const qn__attention *a,
                      const qn__attention *parts, uint32_t num_parts) {
    const qn_array *out = &a->arrays[QN__ATTENTION_OUT], *logs = &a->arrays[QN__ATTENTION_LOGS];
    qn__key key = {0};
    qn_kernel *kernel = NULL;
    qn__packed packed;
    qn__key_add(&key, out->type);
    qn__key_add(&key, a->has[QN__ATTENTION_LOGS]);
    qn_status status = qn__plan_get(kernels, &join_op, &key, a, &kernel);
    if (!status) status = qn__attention_bring(kernels, stream, out, true, &packed);
    if (status) return status;
    const join_shape s = {view_of(&packed.array), view_of(logs), a->queries,   qn_array_count(out),
                          (uint32_t)a->heads,     num_parts,     a->value_size};
    const qn_arg args[] = {QN_BYTES(s), qn_arg_buffer(parts->arrays[QN__ATTENTION_OUT].buffer),
                           qn_arg_buffer(parts->arrays[QN__ATTENTION_LOGS].buffer),
                           qn_arg_buffer(packed.array.buffer),
                           qn_arg_buffer(a->has[QN__ATTENTION_LOGS] ? logs->buffer : packed.array.buffer)};
    status = qn_launch(stream, kernel, &(qn_range){.global = {s.count}}, args, sizeof args / sizeof *args);
    return qn__packed_close(kernels, stream, out, &packed, status);
}

/* A contiguous array for the results of parts. */
static qn_status make_results(qn_kernels *kernels, const qn__attention *a, uint32_t parts, qn_element type,
                              uint64_t size, qn_array *array) {
    *array = QN_ARRAY(NULL, type, a->batches, a->heads * parts, a->queries, size);
    array->strides[3] = 1, array->strides[2] = (int64_t)size,
    array->strides[1] = (int64_t)(size * a->queries);
    array->strides[0] = array->strides[1] * (int64_t)(a->heads * parts);
    const qn_buffer_desc desc = {.size = qn_array_count(array) * qn__element(type)->size,
                                 .uninitialised = true,
                                 .label = "qn_kernels_attention's parts"};
    return qn_buffer_create(kernels->device, &desc, &array->buffer);
}

qn_status qn__attention_quad(qn_kernels *kernels, qn_stream *stream, const qn__attention *a) {
    const uint32_t parts = parts_of(kernels, a);
    if (parts == 1) return run(kernels, stream, a, 1);
    qn__attention own = *a;
    qn_array *out = &own.arrays[QN__ATTENTION_OUT], *logs = &own.arrays[QN__ATTENTION_LOGS];
    own.has[QN__ATTENTION_LOGS] = true;
    out->buffer = logs->buffer = NULL;
    qn_status status = make_results(kernels, a, parts, out->type, a->value_size, out);
    if (!status) status = make_results(kernels, a, parts, QN_F32, 1, logs);
    if (!status) status = run(kernels, stream, &own, parts);
    if (!status) status = join(kernels, stream, a, &own, parts);
    qn_buffer_destroy(out->buffer);
    qn_buffer_destroy(logs->buffer);
    return status;
}
