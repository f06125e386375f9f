/* qn_kernels_attention_backward: the products of `out` and its gradient, then the gradients of queries, then those of keys and values. */
#include "kernels/attention.h"

typedef struct plan {
    qn_kernel *dots, *for_queries, *for_keys;
} plan;

static qn_status make_plain(qn_kernels *kernels, const void *request, void *out) {
    static const char file[] = "attention/backward.cl";
    const qn__attention *a = request;
    const uint32_t larger = a->size > a->value_size ? a->size : a->value_size;
    const bool rows = qn__attention_way_for(kernels, a) == QN__ATTENTION_ROWS;
    plan *p = out;
    qn_status status = qn__attention_row_kernel(kernels, a, "dots", "DOTS", &p->dots);
    if (!status)
        status =
            rows ? qn__attention_row_kernel(kernels, a, "for_queries", "FOR_QUERIES", &p->for_queries)
                 : qn__attention_tile_kernel(kernels, a, file, "for_queries", "", a->size, &p->for_queries);
    if (!status)
        status =
            rows ? qn__attention_row_kernel(kernels, a, "for_keys", "FOR_KEYS", &p->for_keys)
                 : qn__attention_tile_kernel(kernels, a, file, "for_keys", " -D KEYS", larger, &p->for_keys);
    return status;
}

static const qn__op plain_op = {"qn_kernels_attention_backward", sizeof(plan), make_plain};

static qn_arg buffer_of(const qn__attention *a, uint32_t i) { return qn_arg_buffer(a->arrays[i].buffer); }

static qn_status launch(qn_kernels *kernels, qn_stream *stream, const qn__attention *a, const plan *plan,
                        qn_buffer *dots) {
    enum { DOTS_ARGS = 4, QUERIES_ARGS = 8, KEYS_ARGS = 9 };
    const bool masked = a->has[QN__ATTENTION_MASK];
    const uint64_t rows = a->batches * a->heads * a->queries;
    qn__attention_problem p = qn__attention_problem_of(a);
    const qn_arg mask = masked ? buffer_of(a, QN__ATTENTION_MASK) : qn_arg_null();
    const qn_arg dots_args[DOTS_ARGS] = {QN_BYTES(p), buffer_of(a, QN__ATTENTION_OUT),
                                         buffer_of(a, QN__ATTENTION_GRADIENT), qn_arg_buffer(dots)};
    qn_status status = qn_launch(stream, plan->dots, &(qn_range){.global = {rows}}, dots_args, DOTS_ARGS);
    qn_arg args[KEYS_ARGS + 1] = {QN_BYTES(p),
                                  buffer_of(a, QN__ATTENTION_Q),
                                  buffer_of(a, QN__ATTENTION_K),
                                  buffer_of(a, QN__ATTENTION_V),
                                  buffer_of(a, QN__ATTENTION_GRADIENT),
                                  buffer_of(a, QN__ATTENTION_LOGS),
                                  qn_arg_buffer(dots),
                                  buffer_of(a, QN__ATTENTION_TO_Q),
                                  mask};
    const qn_range queries = qn__attention_range(kernels, a, &p, a->queries, a->heads);
    if (!status) status = qn_launch(stream, plan->for_queries, &queries, args, QUERIES_ARGS + masked);
    const qn_range keys = qn__attention_range(kernels, a, &p, a->keys, a->key_heads);
    args[KEYS_ARGS - 2] = buffer_of(a, QN__ATTENTION_TO_K);
    args[KEYS_ARGS - 1] = buffer_of(a, QN__ATTENTION_TO_V);
    args[KEYS_ARGS] = mask;
    return status ? status : qn_launch(stream, plan->for_keys, &keys, args, KEYS_ARGS + masked);
}

static qn_status run_plain(qn_kernels *kernels, qn_stream *stream, const qn__attention *a) {
    qn__key key = {0};
    plan p;
    qn_buffer *dots = NULL;
    qn__attention_key(a, &key);
    qn_status status = qn__plan_get(kernels, &plain_op, &key, a, &p);
    const qn_buffer_desc desc = {.size = a->batches * a->heads * a->queries *
                                         (a->arrays[QN__ATTENTION_Q].type == QN_F64 ? 8 : 4),
                                 .uninitialised = true,
                                 .label = "qn_kernels_attention_backward's products"};
    if (!status) status = qn_buffer_create(kernels->device, &desc, &dots);
    if (!status) status = launch(kernels, stream, a, &p, dots);
    qn_buffer_destroy(dots);
    return status;
}

qn_status qn_kernels_attention_backward(qn_kernels *kernels, qn_stream *stream,
                                        const qn_attention_backward_desc *desc) {
    qn_status status = qn__op_begin(kernels, stream, desc, "qn_kernels_attention_backward");
    if (status) return status;
    qn__attention a = {.function = "qn_kernels_attention_backward",
                       .causal = desc->causal,
                       .deterministic = desc->deterministic,
                       .scale = desc->scale};
    const qn_array *const given[QN__ATTENTION_ARRAYS] = {
        [QN__ATTENTION_Q] = &desc->q,       [QN__ATTENTION_K] = &desc->k,
        [QN__ATTENTION_V] = &desc->v,       [QN__ATTENTION_OUT] = &desc->out,
        [QN__ATTENTION_LOGS] = &desc->logs, [QN__ATTENTION_MASK] = desc->mask.buffer ? &desc->mask : NULL,
        [QN__ATTENTION_TO_Q] = &desc->to_q, [QN__ATTENTION_GRADIENT] = &desc->gradient,
        [QN__ATTENTION_TO_K] = &desc->to_k, [QN__ATTENTION_TO_V] = &desc->to_v};
    status = qn__attention_read(kernels, given, desc->variant, &a);
    if (status || a.batches == 0 || a.heads == 0) return status;
    if (a.queries && a.keys)
        return qn__attention_way_for(kernels, &a) == QN__ATTENTION_QUAD
                   ? qn__attention_quad_backward(kernels, stream, &a)
                   : run_plain(kernels, stream, &a);
    for (uint32_t i = QN__ATTENTION_TO_Q; i <= QN__ATTENTION_TO_V && !status; i++)
        status = qn_kernels_fill(kernels, stream, &(qn_fill_desc){.to = a.arrays[i]});
    return status;
}
