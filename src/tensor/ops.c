/* Ops of the table from operands: types are promoted, shapes broadcast, and the node made. */
#include <string.h>

#include "tensor/graph.h"

enum { OPERANDS = 3 };

/* What an op is called with, as it becomes settled. */
typedef struct request {
    qn_tensors *tensors;
    const char *function;
    qn__op op;
    const qn_operand *operands;
    uint32_t count;
    qn__node *nodes[OPERANDS]; /* NULL: a number */
    qn_element computed;       /* the operands' type, and the result's but for truths */
    uint32_t rank;
    uint64_t sizes[QN_MAX_RANK];
} request;

/* The condition of `where` keeps to itself. */
static bool is_condition(const request *r, uint32_t i) { return r->op == QN__OP_WHERE && i == 0; }

static qn_tensor *collect(request *r) {
    qn_tensor *tensors[OPERANDS] = {0};
    uint32_t count = 0;
    for (uint32_t i = 0; i < r->count; i++)
        if (r->operands[i].kind == QN_OPERAND_TENSOR) tensors[count++] = r->operands[i].value.tensor;
    qn_tensor *wrong = qn__refuse(r->function, tensors, count, &r->tensors);
    if (wrong) return wrong;
    if (!count) return qn__failed(NULL, r->function, QN_ERROR_NULL, "none of the operands is a tensor");
    for (uint32_t i = 0, t = 0; i < r->count; i++)
        r->nodes[i] = r->operands[i].kind == QN_OPERAND_TENSOR ? qn__node_of(tensors[t++]) : NULL;
    return NULL;
}

/* What a number makes of the type of the tensors beside it. */
static qn_element with_number(qn_element type, qn_operand_kind kind) {
    if (qn__is_float(type) || kind == QN_OPERAND_BOOL) return type;
    if (kind == QN_OPERAND_FLOAT) return QN_F32;
    return type == QN_BOOL ? QN_I64 : type;
}

static qn_tensor *choose_type(request *r) {
    qn_element type = QN_ELEMENT_COUNT;
    const qn__node *first = NULL;
    for (uint32_t i = 0; i < r->count; i++) {
        const qn__node *n = r->nodes[i];
        if (!n || is_condition(r, i)) continue;
        const qn_element both = first ? qn__common_type(type, (qn_element)n->type) : (qn_element)n->type;
        if (both == QN_ELEMENT_COUNT)
            return qn__failed(r->tensors, r->function, QN_ERROR_ARGUMENT,
                              "%s and %s have no common type; cast one of them (qn_cast)",
                              qn__describe(first).text, qn__describe(n).text);
        type = both;
        if (!first) first = n;
    }
    if (!first) type = QN_BOOL; /* where(condition, 1, 2) */
    for (uint32_t i = 0; i < r->count; i++)
        if (!r->nodes[i]) type = with_number(type, r->operands[i].kind);
    r->computed = type;
    return NULL;
}

static qn_tensor *apply_rule(request *r) {
    const qn__rule rule = qn__ops[r->op].rule;
    if (rule == QN__REAL && !qn__is_float(r->computed)) r->computed = QN_F32;
    if (rule == QN__WHOLE && qn__is_float(r->computed))
        return qn__failed(r->tensors, r->function, QN_ERROR_ARGUMENT, "it is of integers and bool, not of %s",
                          qn_element_name(r->computed));
    return NULL;
}

static qn_tensor *check_numbers(const request *r) {
    for (uint32_t i = 0; i < r->count; i++)
        if (!r->nodes[i] && !qn__holds(r->computed, &r->operands[i]))
            return qn__failed(r->tensors, r->function, QN_ERROR_ARGUMENT,
                              "%s does not have the number that operand %u is; cast the tensor (qn_cast)",
                              qn_element_name(r->computed), (unsigned)i + 1);
    return NULL;
}

static qn_tensor *broadcast(request *r) {
    const qn__node *one = NULL;
    for (uint32_t i = 0; i < r->count; i++)
        if (r->nodes[i] && r->nodes[i]->rank > r->rank) r->rank = r->nodes[i]->rank;
    for (uint32_t d = 0; d < r->rank; d++) r->sizes[d] = 1;
    for (uint32_t i = 0; i < r->count; i++) {
        const qn__node *n = r->nodes[i];
        if (!n) continue;
        const uint32_t before = r->rank - n->rank;
        for (uint32_t d = 0; d < n->rank; d++) {
            uint64_t *size = &r->sizes[before + d];
            if (*size == 1 || n->sizes[d] == *size) {
                *size = n->sizes[d];
            } else if (n->sizes[d] != 1) {
                return qn__failed(r->tensors, r->function, QN_ERROR_ARGUMENT,
                                  "%s and %s cannot be broadcast to one shape: sizes %llu and %llu",
                                  one ? qn__describe(one).text : "", qn__describe(n).text,
                                  (unsigned long long)*size, (unsigned long long)n->sizes[d]);
            }
        }
        if (!one || n->rank > one->rank) one = n;
    }
    return NULL;
}

qn__node *qn__number_node(qn_tensors *tensors, qn_element type, const qn_operand *value) {
    qn__node *node = qn__node_make(tensors, QN__OP_FULL, type, 0, NULL);
    if (node) node->number = qn__number_of(value, type);
    return node;
}

/* Converted where it lies, and turned then: a product reads its operands in either order. */
static qn__node *cast_below(qn__node *turned, qn_element type) {
    qn__node *cast = qn__map_node(turned->owner, QN__OP_CAST, type, &turned->sources[0], 1);
    qn__node *view =
        cast ? qn__node_make(turned->owner, QN__OP_PERMUTE, type, turned->rank, turned->sizes) : NULL;
    if (view) {
        view->attributes = turned->attributes;
        qn__node_add_source(view, cast);
    }
    qn__node_release(cast);
    return view;
}

qn__node *qn__cast_node(qn__node *node, qn_element type) {
    if (!node || node->type == type) return node;
    if (node->op == QN__OP_PERMUTE && qn__view_is_clear(node)) {
        qn__node *view = cast_below(node, type);
        qn__node_release(node);
        return view;
    }
    qn__node *cast = qn__map_node(node->owner, QN__OP_CAST, type, &node, 1);
    qn__node_release(node);
    return cast;
}

qn__node *qn__map_node(qn_tensors *tensors, qn__op op, qn_element type, qn__node *const *sources,
                       uint32_t count) {
    qn__node *node = qn__node_make(tensors, op, type, sources[0]->rank, sources[0]->sizes);
    for (uint32_t i = 0; node && i < count; i++) qn__node_add_source(node, sources[i]);
    return node;
}

/* Operand `i` as the op computes with it, counted. */
static qn__node *prepare(const request *r, uint32_t i) {
    const qn_element type = is_condition(r, i) ? QN_BOOL : r->computed;
    qn__node *node = r->nodes[i];
    if (!node)
        node = qn__number_node(r->tensors, type, &r->operands[i]);
    else
        qn__node_retain(node);
    return qn__expand_node(qn__cast_node(node, type), r->rank, r->sizes);
}

/* Operands in the order of one whose channels lie together. */
static bool turn_operands(const request *r, qn__node **sources) {
    bool complete = true;
    for (uint32_t i = 0; i < r->count; i++)
        complete = (sources[i] = qn__channels_turn(sources[i])) && complete;
    return complete;
}

static qn_tensor *make(const request *r) {
    const qn_element type = qn__ops[r->op].rule == QN__TRUTH ? QN_BOOL : r->computed;
    qn__node *sources[OPERANDS] = {NULL}, *node = NULL;
    bool complete = true, turned = false;
    for (uint32_t i = 0; i < r->count && complete; i++) complete = (sources[i] = prepare(r, i)) != NULL;
    for (uint32_t i = 0; i < r->count && complete; i++) turned = turned || qn__channels_below(sources[i]);
    if (complete && turned) complete = turn_operands(r, sources);
    if (complete) node = qn__map_node(r->tensors, r->op, type, sources, r->count);
    if (turned) node = qn__channels_view(node);
    for (uint32_t i = 0; i < r->count; i++) qn__node_release(sources[i]);
    return qn__handle(r->tensors, node);
}

qn_tensor *qn__apply(qn__op op, const char *function, const qn_operand *operands, uint32_t count) {
    request r = {.function = function, .op = op, .operands = operands, .count = count};
    qn_tensor *wrong = collect(&r);
    if (!wrong) wrong = choose_type(&r);
    if (!wrong) wrong = apply_rule(&r);
    if (!wrong) wrong = check_numbers(&r);
    if (!wrong) wrong = broadcast(&r);
    return wrong ? wrong : make(&r);
}
