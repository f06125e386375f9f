/* Looking for the op that is the first to make a NaN or an infinity, where qn_tensors_desc.check_numbers asks for it: after each op. What an
   op makes of operands that have such numbers is theirs. */
#include <math.h>

#include "tensor/graph.h"

typedef qn_tensor *finder(qn_tensor *x);
static qn_tensor *not_finite(qn_tensor *x) { return qn_logical_not(qn_is_finite(x)); }
static qn_tensor *not_a_number(qn_tensor *x) { return qn_is_nan(x); }

/* Whether one of the node's elements is such, and the first place in order where. */
static bool has_any(qn_tensors *tensors, qn__node *node, finder *is_such, uint64_t *place) {
    if (!qn__is_float((qn_element)node->type) || !qn__node_count(node)) return false;
    qn__node_retain(node);
    qn_tensor *x = qn__handle(tensors, node);
    qn_tensor *such = qn_cast(qn_reshape(is_such(x), QN_SHAPE(QN_REST)), QN_F32);
    if (!(qn_tensor_item(qn_max(such, QN_ALL_AXES, false)) > 0)) return false;
    *place = (uint64_t)qn_tensor_item(qn_argmax(such, 0, false));
    return true;
}

/* The place of the first such number that the op is the one to make. */
static bool is_first(qn_tensors *tensors, qn__node *node, qn__node *const *sources, uint32_t count,
                     uint64_t *place) {
    uint64_t of_source;
    const bool is_nan = has_any(tensors, node, not_a_number, place);
    if (!is_nan && !has_any(tensors, node, not_finite, place)) return false;
    for (uint32_t i = 0; i < count; i++)
        if (has_any(tensors, sources[i], is_nan ? not_a_number : not_finite, &of_source)) return false;
    return true;
}

static double element_at(qn_tensors *tensors, qn__node *node, uint64_t place) {
    qn__node_retain(node);
    qn_tensor *flat = qn_reshape(qn__handle(tensors, node), QN_SHAPE(QN_REST));
    return qn_tensor_item(qn_slice(flat, 0, (int64_t)place, (int64_t)place + 1, 1));
}

static qn_tensor *look_at(qn_tensors *tensors, qn_tensor *x, qn__node *const *sources, uint32_t count) {
    const qn__kind kind = qn__ops[x->node->op].kind;
    const qn_tensors_desc desc = tensors->desc;
    uint64_t place = 0;
    double value = 0;
    if (kind == QN__LEAF || kind == QN__CREATE || kind == QN__VIEW || qn_scope_begin(tensors)) return x;
    /* What looks is not looked at. */
    tensors->desc.eager = tensors->desc.check_numbers = false;
    qn_no_gradient_begin(tensors);
    const bool found = is_first(tensors, x->node, sources, count, &place);
    if (found) value = element_at(tensors, x->node, place);
    qn_no_gradient_end(tensors);
    tensors->desc = desc;
    qn_scope_end(tensors);
    if (!found) return x;
    return qn__failed(tensors, qn__ops[x->node->op].word, QN_ERROR_KERNEL_FAILED,
                      "element %llu of %s is %s, which none of its operands has", (unsigned long long)place,
                      qn__describe(x->node).text,
                      isnan(value) ? "NaN"
                      : value < 0  ? "-infinity"
                                   : "infinity");
}

qn_tensor *qn__realise_at_once(qn_tensors *tensors, qn_tensor *x) {
    qn__node *sources[QN__SOURCES];
    const uint32_t count = tensors->desc.check_numbers ? x->node->num_sources : 0;
    for (uint32_t i = 0; i < count; i++) qn__node_retain(sources[i] = x->node->sources[i]);
    const qn_status status = qn__realise(tensors, &x->node, 1);
    qn_tensor *made = status ? qn__failed_as(tensors, status) : x;
    if (!status && tensors->desc.check_numbers) made = look_at(tensors, x, sources, count);
    for (uint32_t i = 0; i < count; i++) qn__node_release(sources[i]);
    return made;
}
