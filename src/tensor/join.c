/* Tensors one behind the other. Each is padded to the size of all, and a comparison of the place chooses whose element it is: kernels
   read no padding, and the whole fuses with what is before and behind it. */
#include <string.h>

#include "tensor/graph.h"

static qn_tensor *check(const char *function, qn_tensor *const *parts, size_t count, qn_tensors **tensors) {
    if (!parts || !count) return qn__failed(NULL, function, QN_ERROR_NULL, "there are no tensors");
    if (count > UINT32_MAX) return qn__failed(NULL, function, QN_ERROR_RANGE, "too many tensors");
    return qn__refuse(function, parts, (uint32_t)count, tensors);
}

static qn_tensor *check_part(qn_tensors *tensors, const qn__node *first, const qn__node *part, uint32_t d) {
    bool fits = part->rank == first->rank && part->type == first->type;
    for (uint32_t i = 0; fits && i < part->rank; i++) fits = i == d || part->sizes[i] == first->sizes[i];
    return fits ? NULL
                : qn__failed(tensors, "qn_concat", QN_ERROR_ARGUMENT,
                             "%s and %s differ in more than the size along axis %u", qn__describe(first).text,
                             qn__describe(part).text, (unsigned)d);
}

qn_tensor *qn_concat(qn_tensor *const *parts, size_t count, int32_t axis) {
    qn_tensors *tensors;
    uint32_t d;
    qn_tensor *wrong = check("qn_concat", parts, count, &tensors);
    if (wrong) return wrong;
    const qn__node *first = parts[0]->node;
    if (!qn__axis(axis, first->rank, &d))
        return qn__failed(tensors, "qn_concat", QN_ERROR_ARGUMENT, "%s has no axis %d",
                          qn__describe(first).text, (int)axis);
    uint64_t sizes[QN_MAX_RANK], total = 0, before = 0;
    for (size_t i = 0; i < count && !wrong; i++) {
        wrong = check_part(tensors, first, parts[i]->node, d);
        total += parts[i]->node->sizes[d];
    }
    if (wrong) return wrong;
    memcpy(sizes, first->sizes, sizeof sizes);
    sizes[d] = total;
    qn_tensor *place = qn__handle(tensors, qn__index_node(tensors, first->rank, sizes, d));
    qn_tensor *joined = NULL;
    for (size_t i = 0; i < count; i++) {
        const uint64_t size = parts[i]->node->sizes[d];
        if (!size) continue;
        qn_tensor *part = qn_pad(parts[i], (int32_t)d, before, total - before - size, 0);
        joined = joined ? qn_where(qn_less(place, before), joined, part) : part;
        before += size;
    }
    return joined ? joined : parts[0];
}

enum { ON_STACK = 64 };

qn_tensor *qn_stack(qn_tensor *const *parts, size_t count, int32_t axis) {
    qn_tensors *tensors;
    qn_tensor *wrong = check("qn_stack", parts, count, &tensors);
    if (wrong) return wrong;
    qn_tensor *few[ON_STACK];
    qn_tensor **raised = count <= ON_STACK ? few : qn__tensors_allocate(tensors, count * sizeof(qn_tensor *));
    if (!raised) return qn__failed_as(tensors, QN_ERROR_OUT_OF_MEMORY);
    for (size_t i = 0; i < count; i++) raised[i] = qn_unsqueeze(parts[i], axis);
    qn_tensor *joined = qn_concat(raised, count, axis);
    if (raised != few) qn__tensors_release(tensors, raised);
    return joined;
}
