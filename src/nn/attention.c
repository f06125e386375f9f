/* Attention of several heads, and the keys and values that generation keeps. */
#include <math.h>

#include "nn/nn.h"

/* ---- the cache ---- */

static const qn_module_type cache_type = {"kv_cache", NULL};

qn_status qn_kv_cache_init(qn_kv_cache *cache, qn_tensors *tensors, const qn_kv_cache_desc *desc) {
    qn_status status = qn__nn_check(cache, tensors, desc, __func__);
    if (!status)
        status = qn__nn_begin(tensors,
                              (qn__nn_size[]){{"batches", desc->batches},
                                              {"heads", desc->heads},
                                              {"capacity", desc->capacity},
                                              {"size", desc->size},
                                              {NULL, 0}},
                              __func__);
    if (status) return status;
    const qn_shape shape = QN_SHAPE(desc->batches, desc->heads, desc->capacity, desc->size);
    *cache = (qn_kv_cache){.capacity = desc->capacity};
    qn_module *m = &cache->module;
    qn_module_init(m, tensors, &cache_type);
    status = qn_module_add_parameter(m, "keys", &cache->keys, qn_zeros(tensors, desc->type, shape), false);
    if (!status)
        status =
            qn_module_add_parameter(m, "values", &cache->values, qn_zeros(tensors, desc->type, shape), false);
    return qn__nn_made(m, status);
}

/* The place in the cache of each of its columns, [capacity, 1], from `position` on: 0 is the first of the new ones. */
static qn_tensor *places(const qn_kv_cache *cache, qn_tensor *position) {
    qn_tensor *numbers = qn_arange(cache->module.tensors, QN_I64, 0, (double)cache->capacity, 1);
    return qn_subtract(qn_unsqueeze(numbers, 1), qn_reshape(qn_cast(position, QN_I64), QN_SCALAR));
}

static qn_status put(qn_tensor *kept, qn_tensor *x, qn_tensor *place, uint64_t count) {
    qn_tensor *is_new = qn_logical_and(qn_greater_equal(place, 0), qn_less(place, count));
    qn_tensor *columns = x;
    if (count > 1) columns = qn_take(x, qn_squeeze(qn_clip(place, 0, count - 1), QN_AXES(1)), 2);
    return qn_assign(kept, qn_where(is_new, qn_cast(columns, qn_tensor_type(kept)), kept));
}

qn_status qn_kv_cache_put(qn_kv_cache *cache, qn_tensor *k, qn_tensor *v, qn_tensor *position) {
    qn_tensor *const given[] = {k, v, position};
    qn_status status = QN_OK;
    for (uint32_t i = 0; i < 3 && !status; i++) status = qn_tensor_status(given[i]);
    if (status) return status;
    const qn_shape shape = qn_tensor_shape(k), other = qn_tensor_shape(v);
    if (shape.rank != 4 || other.rank != 4 || other.sizes[2] != shape.sizes[2] ||
        qn_tensor_count(position) != 1)
        return qn__nn_fail(
            cache->module.tensors, QN_ERROR_ARGUMENT,
            "qn_kv_cache_put: k and v are [batches, heads, length, size], position is one element");
    /* Without that the cache would be computed from all that was ever put. In a step that puts twice it cannot be asked for. */
    status = qn_module_realize(&cache->module);
    if (status && status != QN_ERROR_STATE) return status;
    qn_tensor *place = places(cache, position);
    qn_no_gradient_begin(cache->module.tensors);
    status = put(cache->keys.tensor, k, place, shape.sizes[2]);
    if (!status) status = put(cache->values.tensor, v, place, shape.sizes[2]);
    qn_no_gradient_end(cache->module.tensors);
    return status;
}

qn_tensor *qn_kv_cache_mask(qn_kv_cache *cache, uint64_t queries, qn_tensor *position) {
    if (qn_tensor_status(position)) return position;
    qn_tensor *query = qn_arange(cache->module.tensors, QN_I64, 0, (double)queries, 1);
    return qn_less_equal(qn_transpose(places(cache, position), 0, 1), qn_unsqueeze(query, 1));
}

/* ---- several heads ---- */

static qn_tensor *forward_heads(qn_module *module, qn_tensor *x) {
    return qn_multi_head_forward((qn_multi_head *)module, x, NULL, NULL, NULL);
}
static const qn_module_type heads_type = {"multi_head", forward_heads};

static qn_status check_heads(qn_tensors *tensors, const qn_multi_head_desc *d, uint64_t key_heads) {
    if (d->size && d->heads && d->size % d->heads == 0 && d->heads % key_heads == 0) return QN_OK;
    return qn__nn_fail(tensors, QN_ERROR_ARGUMENT,
                       "qn_multi_head_init: size %llu is not %llu heads of as many elements, or these are no "
                       "multiple of %llu heads of keys",
                       (unsigned long long)d->size, (unsigned long long)d->heads,
                       (unsigned long long)key_heads);
}

/* The projections of queries, keys and values: one matrix, or three where sizes differ. */
static qn_status add_projections(qn_multi_head *m, const qn_multi_head_desc *d) {
    qn_tensors *t = m->module.tensors;
    const uint64_t kept = m->key_heads * (d->size / d->heads), all = d->size + 2 * kept;
    const uint64_t key_size = d->key_size ? d->key_size : d->size,
                   value_size = d->value_size ? d->value_size : d->size;
    const struct {
        const char *name;
        qn_parameter *parameter;
        uint64_t rows, columns;
    } one = {"in_proj_weight", &m->in_proj_weight, all, d->size},
      three[] = {{"q_proj_weight", &m->q_proj_weight, d->size, d->size},
                 {"k_proj_weight", &m->k_proj_weight, kept, key_size},
                 {"v_proj_weight", &m->v_proj_weight, kept, value_size}};
    const bool is_one = key_size == d->size && value_size == d->size;
    qn_status status = QN_OK;
    for (uint32_t i = 0; i < (is_one ? 1 : 3) && !status; i++) {
        const qn_shape shape =
            is_one ? QN_SHAPE(one.rows, one.columns) : QN_SHAPE(three[i].rows, three[i].columns);
        status = qn_module_add_parameter(&m->module, is_one ? one.name : three[i].name,
                                         is_one ? one.parameter : three[i].parameter,
                                         qn_xavier_uniform(t, d->type, shape, 1), true);
    }
    if (!status && !d->no_bias)
        status = qn_module_add_parameter(&m->module, "in_proj_bias", &m->in_proj_bias,
                                         qn_zeros(t, d->type, QN_SHAPE(all)), true);
    return status;
}

/* The projection of the result, whose bias begins with zeros. */
static qn_status add_out(qn_multi_head *m, const qn_multi_head_desc *d) {
    qn_tensors *t = m->module.tensors;
    const qn_linear_desc desc = {
        .inputs = d->size, .outputs = d->size, .type = d->type, .no_bias = d->no_bias};
    qn_status status = qn_linear_init(&m->out_proj, t, &desc);
    if (status) return status;
    if (!d->no_bias) {
        status = qn_assign(m->out_proj.bias.tensor, qn_zeros(t, d->type, QN_SHAPE(d->size)));
        if (!status) status = qn_tensor_realize(m->out_proj.bias.tensor);
    }
    if (!status) status = qn_module_add(&m->module, "out_proj", &m->out_proj.module);
    if (status) qn_module_release(&m->out_proj.module);
    return status;
}

qn_status qn_multi_head_init(qn_multi_head *m, qn_tensors *tensors, const qn_multi_head_desc *desc) {
    qn_status status = qn__nn_check(m, tensors, desc, "qn_multi_head_init");
    if (status) return status;
    const uint64_t key_heads = desc->key_heads ? desc->key_heads : desc->heads ? desc->heads : 1;
    status = check_heads(tensors, desc, key_heads);
    if (!status) status = qn_scope_begin(tensors);
    if (status) return status;
    *m = (qn_multi_head){
        .heads = desc->heads, .key_heads = key_heads, .dropout = desc->dropout, .rotary = desc->rotary};
    qn_module_init(&m->module, tensors, &heads_type);
    status = add_projections(m, desc);
    if (!status) status = add_out(m, desc);
    return qn__nn_made(&m->module, status);
}

typedef struct projections {
    qn_tensor *q, *k, *v;
} projections;

/* Elements begin to end - 1 along the first dimension, but all of them where that is what they are. */
static qn_tensor *some(qn_tensor *x, uint64_t begin, uint64_t end) {
    return x ? qn_slice(x, 0, (int64_t)begin, (int64_t)end, 1) : NULL;
}

static projections project(const qn_multi_head *m, qn_tensor *query, qn_tensor *key, qn_tensor *value) {
    qn_tensor *weight = m->in_proj_weight.tensor, *bias = m->in_proj_bias.tensor;
    const uint64_t size = qn_tensor_shape(m->out_proj.weight.tensor).sizes[0],
                   kept = m->key_heads * (size / m->heads), all = size + 2 * kept;
    if (weight && query == key && key == value) { /* one product */
        qn_tensor *y = qn__nn_project(query, weight, bias);
        return (projections){qn_slice(y, -1, 0, (int64_t)size, 1),
                             qn_slice(y, -1, (int64_t)size, (int64_t)(size + kept), 1),
                             qn_slice(y, -1, (int64_t)(size + kept), (int64_t)all, 1)};
    }
    qn_tensor *weights[] = {m->q_proj_weight.tensor, m->k_proj_weight.tensor, m->v_proj_weight.tensor};
    if (weight) {
        weights[0] = some(weight, 0, size);
        weights[1] = some(weight, size, size + kept);
        weights[2] = some(weight, size + kept, all);
    }
    return (projections){qn__nn_project(query, weights[0], some(bias, 0, size)),
                         qn__nn_project(key, weights[1], some(bias, size, size + kept)),
                         qn__nn_project(value, weights[2], some(bias, size + kept, all))};
}

/* [batches, length, heads x size] as [batches, heads, length, size]. */
static qn_tensor *split(qn_tensor *x, uint64_t heads) {
    if (qn_tensor_status(x)) return x;
    const qn_shape s = qn_tensor_shape(x);
    return qn_transpose(qn_reshape(x, QN_SHAPE(s.sizes[0], s.sizes[1], heads, QN_REST)), 1, 2);
}

/* Keys and values go to the cache, and become all that is in it; the mask hides what is not. */
static qn_status use_cache(const qn_attending *how, projections *p, qn_tensor **mask) {
    qn_kv_cache *cache = how->cache;
    qn_status status = qn_kv_cache_put(cache, p->k, p->v, how->position);
    if (status) return status;
    const qn_element type = qn_tensor_type(p->q);
    p->k = qn_cast(cache->keys.tensor, type);
    p->v = qn_cast(cache->values.tensor, type);
    qn_tensor *seen = qn_kv_cache_mask(cache, qn_tensor_shape(p->q).sizes[2], how->position);
    if (!how->mask)
        *mask = seen;
    else if (qn_tensor_type(how->mask) == QN_BOOL)
        *mask = qn_logical_and(seen, how->mask);
    else
        *mask = qn_where(seen, how->mask, -INFINITY);
    return QN_OK;
}

static qn_tensor *turned(const qn_multi_head *m, qn_tensor *x, qn_tensor *position) {
    if (m->rotary <= 0 || qn_tensor_status(x)) return x;
    qn_tensor *places = NULL;
    if (position) {
        qn_tensor *numbers = qn_arange(m->module.tensors, QN_I64, 0, (double)qn_tensor_shape(x).sizes[2], 1);
        places = qn_add(numbers, qn_reshape(qn_cast(position, QN_I64), QN_SCALAR));
    }
    return qn_rotary(x, places, m->rotary, false);
}

static qn_tensor *attend(qn_multi_head *m, projections p, const qn_attending *how) {
    qn_tensor_attention_desc desc = {
        .causal = how->causal, .mask = how->mask, .dropout = m->module.training ? m->dropout : 0};
    p.q = turned(m, split(p.q, m->heads), how->position);
    p.k = turned(m, split(p.k, m->key_heads), how->position);
    p.v = split(p.v, m->key_heads);
    if (how->cache) {
        desc.causal = false;
        const qn_status status = use_cache(how, &p, &desc.mask);
        if (status)
            return qn_tensor_fail(m->module.tensors, status,
                                  qn_error_message(qn_device_context(qn_tensors_device(m->module.tensors))));
    }
    qn_tensor *y = qn_attention(p.q, p.k, p.v, &desc);
    return qn_tensor_status(y) ? y : qn_flatten(qn_transpose(y, 1, 2), 2, 3);
}

qn_tensor *qn_multi_head_forward(qn_multi_head *m, qn_tensor *query, qn_tensor *key, qn_tensor *value,
                                 const qn_attending *how) {
    static const qn_attending plain;
    if (!key) key = query;
    if (!value) value = key;
    qn_tensor *const given[] = {query, key, value};
    bool has_three = true;
    for (uint32_t i = 0; i < 3; i++) {
        if (qn_tensor_status(given[i])) return given[i];
        has_three = has_three && qn_tensor_shape(given[i]).rank == 3;
    }
    qn_module_begin(&m->module);
    qn_tensor *y;
    if (!has_three || (how && how->cache && !how->position))
        y = qn_tensor_fail(m->module.tensors, QN_ERROR_ARGUMENT,
                           has_three ? "qn_multi_head_forward: a cache wants the position, too"
                                     : "qn_multi_head_forward: its tensors are [batches, length, size]");
    else
        y = qn_linear_forward(&m->out_proj, attend(m, project(m, query, key, value), how ? how : &plain));
    return qn_module_end(&m->module, query, y);
}
