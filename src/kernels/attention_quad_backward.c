/* qn_kernels_attention_backward by quads of sub-groups: what weights need of each query, then either all gradients in one pass, where those by
   queries are added up by all work-groups (kernels/attention/quad_joint.cl), and converted; or, so that two calls give the same bits and for longer
   heads, the gradients by queries and then those by keys and values (quad_backward.cl). */
#include <stdio.h>
#include <string.h>

#include "kernels/attention.h"

enum { CHUNK = QN__ATTENTION_CHUNK, PAIR = 8, PASS_MAPS = 6, PAIRS_GROUP = 256, PAIRS_ITEMS = 8 };

/* What is copied, in this order. */
enum { Q, K, V, OUT, GRADIENT, TO_Q, TO_K, TO_V, OPERANDS };
static const qn__attention_array operands[OPERANDS] = {
    QN__ATTENTION_Q,        QN__ATTENTION_K,    QN__ATTENTION_V,    QN__ATTENTION_OUT,
    QN__ATTENTION_GRADIENT, QN__ATTENTION_TO_Q, QN__ATTENTION_TO_K, QN__ATTENTION_TO_V};

/* The two passes, for heads of so many chunks. Of the maps: rows, columns, results; those of queries have one result. */
static const struct pass {
    uint8_t maps[PASS_MAPS];
    bool for_keys;
    struct {
        uint32_t quads, stages, registers;
    } ways[QN__ATTENTION_BACKWARD_CHUNKS];
} passes[2] = {{{Q, GRADIENT, K, V, TO_Q, TO_Q}, false, {{3, 4, 160}, {2, 2, 240}}},
               {{K, V, Q, GRADIENT, TO_K, TO_V}, true, {{2, 4, 240}, {2, 2, 240}}}};

/* In one pass. Registers: of quads that multiply, and of the one that adds. */
static const struct pass joint = {{K, V, Q, GRADIENT, TO_K, TO_V}, true, {{2, 4, 200}, {0, 0, 0}}};
enum { JOINT_CHUNKS = 1, ADDING = 88 };

typedef struct plan {
    qn_kernel *pairs, *passes[2], *joint, *queries;
} plan;

static bool is_joint(const qn__attention *a) {
    return !a->deterministic && qn__attention_chunks(a) <= JOINT_CHUNKS;
}

static qn_status make_joint(qn_kernels *kernels, const qn__attention *a, plan *p) {
    char options[256], more[32];
    qn__attention_quad_options(a, joint.ways[0].quads, joint.ways[0].stages, joint.ways[0].registers, options,
                               sizeof options);
    snprintf(more, sizeof more, " -D TAKE_ADDING=%d", ADDING);
    strcat(options, more);
    const qn_status status =
        qn__variant_get(kernels, &(qn__variant){"attention/quad_joint.cl", NULL, options}, &p->joint);
    return status ? status
                  : qn__variant_get(kernels, &(qn__variant){"attention/quad_queries.cl", NULL, options},
                                    &p->queries);
}

static qn_status make(qn_kernels *kernels, const void *request, void *out) {
    const qn__attention *a = request;
    plan *p = out;
    char options[256];
    snprintf(options, sizeof options, "-D Q=%s%s", qn__element(a->arrays[QN__ATTENTION_Q].type)->storage,
             is_joint(a) ? " -D SUMS" : "");
    qn_status status =
        qn__variant_get(kernels, &(qn__variant){"attention/quad_pairs.cl", NULL, options}, &p->pairs);
    if (is_joint(a)) return status ? status : make_joint(kernels, a, p);
    for (int i = 0; i < 2 && !status; i++) {
        const uint32_t w = qn__attention_chunks(a) - 1;
        qn__attention_quad_options(a, passes[i].ways[w].quads, passes[i].ways[w].stages,
                                   passes[i].ways[w].registers, options, sizeof options);
        if (passes[i].for_keys) strcat(options, " -D FOR_KEYS");
        status = qn__variant_get(kernels, &(qn__variant){"attention/quad_backward.cl", NULL, options},
                                 &p->passes[i]);
    }
    return status;
}

static const qn__op backward_op = {"qn_kernels_attention_backward by quads", sizeof(plan), make};

/* As in quad_pairs.cl. */
typedef struct rows {
    uint64_t begin;
    int64_t batch, head, row;
} rows;

typedef struct pairs_shape {
    rows out, gradient, logs;
    uint64_t queries, padded, all;
    uint32_t heads, size;
} pairs_shape;

static rows rows_of(const qn_array *x) {
    return (rows){x->offset, x->strides[0], x->strides[1], x->strides[2]};
}

static uint64_t padded_of(const qn__attention *a) { return ((a->queries - 1) / CHUNK + 1) * CHUNK; }

static qn_status launch_pairs(qn_stream *stream, const qn__attention *a, const qn__packed *packed,
                              const plan *p, qn_buffer *pairs, qn_buffer *sums) {
    const qn_array *logs = &a->arrays[QN__ATTENTION_LOGS];
    const pairs_shape s = {.out = rows_of(&packed[OUT].array),
                           .gradient = rows_of(&packed[GRADIENT].array),
                           .logs = rows_of(logs),
                           .queries = a->queries,
                           .padded = padded_of(a),
                           .all = padded_of(a) * a->batches * a->heads,
                           .heads = (uint32_t)a->heads,
                           .size = a->value_size};
    const qn_arg args[] = {QN_BYTES(s),
                           qn_arg_buffer(packed[OUT].array.buffer),
                           qn_arg_buffer(packed[GRADIENT].array.buffer),
                           qn_arg_buffer(logs->buffer),
                           qn_arg_buffer(pairs),
                           qn_arg_buffer(sums ? sums : pairs)};
    const qn_range range = {.global = {s.all * PAIRS_ITEMS}, .local = {PAIRS_GROUP}};
    return qn_launch(stream, p->pairs, &range, args, sizeof args / sizeof *args);
}

/* As in quad_backward.cl. */
typedef struct shape {
    qn__attention_heads maps[PASS_MAPS];
    uint32_t queries, keys, heads, shared, blocks, all, together, padded;
    float scale, score_scale;
} shape;

/* Heads that are computed side by side in one pass: so many that their sums of gradients by queries stay in the second-level cache, for adding in
   memory takes half as long again. But blocks of different lengths are shared out well among many heads only. */
static uint32_t joint_together(const qn__attention *a, uint64_t all) {
    enum { CACHE = 24 << 20, OF_QUERY = CHUNK * (2 + 2 + 4), OF_KEY = CHUNK * (2 + 2) };
    if (a->causal) return qn__attention_together(a, all, 1);
    const uint64_t of_head = a->queries * OF_QUERY * (a->heads / a->key_heads) + a->keys * OF_KEY,
                   fit = CACHE / of_head;
    return (uint32_t)(fit < 1 ? 1 : fit < all ? fit : all);
}

static shape shape_of(const qn__attention *a, const struct pass *pass, uint32_t quads) {
    static const double log2_e = 1.44269504088896341;
    const uint64_t side = pass->for_keys ? a->keys : a->queries, shared = a->heads / a->key_heads,
                   all = a->batches * (pass->for_keys ? a->key_heads : a->heads);
    return (shape){.queries = (uint32_t)a->queries,
                   .keys = (uint32_t)a->keys,
                   .heads = (uint32_t)a->heads,
                   .shared = (uint32_t)shared,
                   .blocks = (uint32_t)((side - 1) / (quads * CHUNK) + 1),
                   .all = (uint32_t)all,
                   .together = pass == &joint ? joint_together(a, all)
                                              : qn__attention_together(a, all, pass->for_keys ? 1 : shared),
                   .padded = (uint32_t)padded_of(a),
                   .scale = (float)a->scale,
                   .score_scale = (float)(a->scale * log2_e)};
}

/* Two queries a row, those of a tile without gaps. */
static qn_status map_pairs(const qn__attention *a, qn_buffer *pairs, qn_tensor_map *map) {
    const qn_tensor_desc desc = {.element_size = sizeof(float),
                                 .sizes = {4, padded_of(a) / 2 * a->batches * a->heads},
                                 .tile = {4, CHUNK / 2}};
    return qn_buffer_tensor_map(pairs, &desc, map);
}

/* `sums`: of the one pass, else NULL. */
static qn_status launch_pass(qn_kernels *kernels, qn_stream *stream, const qn__attention *a,
                             const qn__packed *packed, const struct pass *pass, qn_kernel *kernel,
                             qn_buffer *pairs, qn_buffer *sums) {
    enum { ARGS = PASS_MAPS + 2 + 4 + 4 };
    const uint32_t quads = pass->ways[qn__attention_chunks(a) - 1].quads;
    shape s = shape_of(a, pass, quads);
    qn_tensor_map maps[PASS_MAPS];
    qn_arg args[ARGS];
    for (uint32_t i = 0; i < PASS_MAPS; i++) {
        const qn_array *x = &packed[pass->maps[i]].array;
        qn_tensor_desc desc;
        qn__attention_describe(x, CHUNK, &desc, &s.maps[i]);
        const qn_status status = qn_buffer_tensor_map(x->buffer, &desc, &maps[i]);
        if (status) return status;
        args[i] = qn_arg_bytes(&maps[i], sizeof maps[i]);
    }
    uint32_t count = PASS_MAPS;
    qn_tensor_map pairs_map;
    if (sums) {
        const qn_status status = map_pairs(a, pairs, &pairs_map);
        if (status) return status;
        args[count++] = QN_BYTES(pairs_map);
    }
    args[count++] = QN_BYTES(s);
    static const uint8_t read[] = {Q, K, V, GRADIENT};
    for (uint32_t i = 0; i < 4; i++) args[count++] = qn_arg_buffer(packed[read[i]].array.buffer);
    args[count++] = qn_arg_buffer(pairs);
    if (sums) args[count++] = qn_arg_buffer(sums);
    for (uint32_t i = 0; i < 2; i++) args[count++] = qn_arg_buffer(packed[pass->maps[4 + i]].array.buffer);
    const qn_range range =
        qn__attention_quad_range(kernels, (uint64_t)s.blocks * s.all, quads + (sums ? 1 : 0));
    return qn_launch(stream, kernel, &range, args, count);
}

/* As in quad_queries.cl. */
typedef struct queries_shape {
    rows to;
    uint64_t all;
    uint32_t queries, padded, heads, size;
    float scale;
} queries_shape;

static qn_status launch_queries(qn_stream *stream, const qn__attention *a, const qn__packed *packed,
                                const plan *p, qn_buffer *sums) {
    const queries_shape s = {.to = rows_of(&packed[TO_Q].array),
                             .all = padded_of(a) / CHUNK * a->batches * a->heads,
                             .queries = (uint32_t)a->queries,
                             .padded = (uint32_t)padded_of(a),
                             .heads = (uint32_t)a->heads,
                             .size = a->size,
                             .scale = (float)a->scale};
    const qn_arg args[] = {QN_BYTES(s), qn_arg_buffer(sums), qn_arg_buffer(packed[TO_Q].array.buffer)};
    const qn_range range = {.global = {s.all * PAIRS_GROUP}, .local = {PAIRS_GROUP}};
    return qn_launch(stream, p->queries, &range, args, sizeof args / sizeof *args);
}

static qn_status run_joint(qn_kernels *kernels, qn_stream *stream, const qn__attention *a,
                           const qn__packed *packed, const plan *p, qn_buffer *pairs) {
    qn_buffer *sums = NULL;
    const qn_buffer_desc desc = {.size = padded_of(a) * a->batches * a->heads * CHUNK * sizeof(float),
                                 .uninitialised = true,
                                 .label = "qn_kernels_attention_backward's sums"};
    qn_status status = qn_buffer_create(kernels->device, &desc, &sums);
    if (!status) status = launch_pairs(stream, a, packed, p, pairs, sums);
    if (!status) status = launch_pass(kernels, stream, a, packed, &joint, p->joint, pairs, sums);
    if (!status) status = launch_queries(stream, a, packed, p, sums);
    qn_buffer_destroy(sums);
    return status;
}

static qn_status run_passes(qn_kernels *kernels, qn_stream *stream, const qn__attention *a,
                            const qn__packed *packed, const plan *p, qn_buffer *pairs) {
    qn_status status = launch_pairs(stream, a, packed, p, pairs, NULL);
    for (int i = 0; i < 2 && !status; i++)
        status = launch_pass(kernels, stream, a, packed, &passes[i], p->passes[i], pairs, NULL);
    return status;
}

qn_status qn__attention_quad_backward(qn_kernels *kernels, qn_stream *stream, const qn__attention *a) {
    qn__key key = {0};
    plan p;
    qn_buffer *pairs = NULL;
    qn__attention_key(a, &key);
    qn__key_add(&key, a->causal + 2u * a->deterministic);
    qn_status status = qn__plan_get(kernels, &backward_op, &key, a, &p);
    const qn_buffer_desc desc = {.size = padded_of(a) * a->batches * a->heads * PAIR,
                                 .uninitialised = true,
                                 .label = "qn_kernels_attention_backward's logarithms"};
    qn__packed packed[OPERANDS] = {{.copy = NULL}};
    for (uint32_t i = 0; i < OPERANDS && !status; i++)
        status = qn__attention_bring(kernels, stream, &a->arrays[operands[i]], i >= TO_Q, &packed[i]);
    if (!status) status = qn_buffer_create(kernels->device, &desc, &pairs);
    if (!status) status = (is_joint(a) ? run_joint : run_passes)(kernels, stream, a, packed, &p, pairs);
    qn_buffer_destroy(pairs);
    for (uint32_t i = 0; i < OPERANDS; i++)
        status =
            qn__packed_close(kernels, stream, i >= TO_Q ? &a->arrays[operands[i]] : NULL, &packed[i], status);
    return status;
}
