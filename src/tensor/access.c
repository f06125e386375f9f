/* Where a group's kernel reads and writes, as sums of its loop variables; and loops joined where all of these go on from one to the
   other. */
#include <string.h>

#include "tensor/kernel.h"

/* ---- values ---- */

static qn__form address(const qn__node *node, const qn__place *place) {
    qn__form a = {.base = node->realised ? (int64_t)node->offset : 0};
    int64_t strides[QN_MAX_RANK];
    if (node->realised)
        memcpy(strides, node->strides, sizeof strides);
    else
        qn__contiguous_strides(node->rank, node->sizes, strides);
    for (uint32_t d = 0; d < node->rank; d++) {
        a.base += strides[d] * place->forms[d].base;
        for (uint32_t l = 0; l < QN__LOOPS; l++) a.steps[l] += strides[d] * place->forms[d].steps[l];
    }
    return a;
}

static bool is_own_reduction(const qn__maker *m, const qn__node *node) {
    const qn__item *item = &m->schedule->items[node->index];
    return item->group == m->number && item->extent == QN__REDUCTION;
}

static qn_status add_array(qn__maker *m, qn__node *node, bool written, const qn__form *form) {
    for (uint32_t i = 0; i < m->num_arrays; i++)
        if (m->arrays[i].node == node && m->arrays[i].written == written) return QN_OK;
    if (m->num_arrays == QN__KERNEL_ARRAYS)
        return qn__tensors_fail(m->schedule->tensors, QN_ERROR_INTERNAL,
                                "tensors: a kernel of too many arrays");
    m->arrays[m->num_arrays++] = (qn__access){node, *form, written};
    return QN_OK;
}

static qn_status find_value(qn__maker *m, uint32_t i) {
    const qn__instance *instance = &m->demand->instances[i];
    const qn__node *node = instance->node;
    qn__value *v = &m->values[i];
    v->loads = instance->stopped && !is_own_reduction(m, node);
    if (v->loads) {
        v->form = address(node, &instance->place);
        return add_array(m, instance->node, false, &v->form);
    }
    if (node->op == QN__OP_INDEX) v->form = instance->place.forms[node->attributes.axis];
    return QN_OK;
}

static qn_status find_outputs(qn__maker *m) {
    qn_status status = QN_OK;
    for (size_t i = 0; i < m->group->count && !status; i++) {
        qn__node *node = m->schedule->walk->nodes[m->group->members[i]];
        const qn__item *item = &m->schedule->items[node->index];
        const qn__place place = qn__place_of_own(&m->demand->loops, node, item->extent != QN__WHOLE_SPACE);
        const qn__form form = address(node, &place);
        if (item->stored) status = add_array(m, node, true, &form);
    }
    return status;
}

/* ---- joining loops ---- */

typedef struct all_forms {
    qn__maker *maker;
    size_t next;
} all_forms;

/* One form after the other; NULL at the end. */
static qn__form *next_form(all_forms *all) {
    qn__maker *m = all->maker;
    size_t i = all->next++;
    if (i < m->demand->count) return &m->values[i].form;
    i -= m->demand->count;
    if (i < m->num_arrays) return &m->arrays[i].form;
    i -= m->num_arrays;
    return i < m->demand->num_conditions ? &m->demand->conditions[i].form : NULL;
}

/* Whether loop l + 1 goes on in loop l, everywhere. */
static bool goes_on(qn__maker *m, uint32_t l) {
    const qn__loop *outer = &m->loops.at[l], *inner = outer + 1;
    if (outer->reduced != inner->reduced) return false;
    all_forms all = {m, 0};
    for (const qn__form *f; (f = next_form(&all));)
        if (f->steps[l] != f->steps[l + 1] * (int64_t)inner->size) return false;
    return true;
}

static void join(qn__maker *m, uint32_t l) {
    all_forms all = {m, 0};
    for (qn__form *f; (f = next_form(&all));)
        memmove(&f->steps[l], &f->steps[l + 1], (QN__LOOPS - 1 - l) * sizeof *f->steps);
    m->loops.at[l].size *= m->loops.at[l + 1].size;
    memmove(&m->loops.at[l + 1], &m->loops.at[l + 2], (m->loops.count - l - 2) * sizeof *m->loops.at);
    m->loops.count--;
}

static void join_loops(qn__maker *m) {
    m->loops = m->demand->loops;
    for (uint32_t l = m->loops.count; l-- > 1;)
        if (goes_on(m, l - 1)) join(m, l - 1);
}

/* ---- what depends on what ---- */

uint32_t qn__inner_loop(const qn__maker *m) {
    for (uint32_t l = m->loops.count; l-- > 0;)
        if (m->loops.at[l].reduced == m->has_rows) return l;
    return QN__NONE;
}

/* Whether a loop of a map is one that a work-item goes through. */
static bool is_of_element(const qn__maker *m, uint32_t loop) {
    return loop == qn__inner_loop(m) || (m->shape.turns && loop == m->shape.across);
}

bool qn__is_inner(const qn__maker *m, const qn__form *form) {
    for (uint32_t l = 0; l < m->loops.count; l++)
        if (form->steps[l] && (m->has_rows ? m->loops.at[l].reduced : is_of_element(m, l))) return true;
    return false;
}

static bool is_inner_condition(const qn__maker *m, uint32_t condition) {
    for (; condition; condition = m->demand->conditions[condition - 1].outer)
        if (qn__is_inner(m, &m->demand->conditions[condition - 1].form)) return true;
    return false;
}

static uint32_t phase_of_reduction(const qn__maker *m, qn__node *node) {
    const qn__root root = {node->sources[0], false};
    const qn__instance *source = qn__demand_root(m->demand, &root);
    return m->values[source - m->demand->instances].phase + 1;
}

static bool has_steps(const qn__maker *m, const qn__form *form) {
    for (uint32_t l = 0; l < m->loops.count; l++)
        if (form->steps[l]) return true;
    return false;
}

/* Its sources are related already. What is read under a condition stays where that is known; and a single number may be written
   where it was read, by the one work-item that has it, so that no other may read it. */
static bool is_fixed(const qn__maker *m, uint32_t i) {
    const qn__instance *instance = &m->demand->instances[i];
    if (qn__iterations(m, false) == 1 || has_steps(m, &m->values[i].form) ||
        is_own_reduction(m, instance->node))
        return false;
    if (instance->place.condition || instance->node->op == QN__OP_PAD) return false;
    for (uint32_t s = 0; s < instance->node->num_sources && !instance->stopped; s++)
        if (!m->values[instance->sources[s]].is_fixed) return false;
    return true;
}

static void relate(qn__maker *m, uint32_t i) {
    const qn__instance *instance = &m->demand->instances[i];
    qn__node *node = instance->node;
    qn__value *v = &m->values[i];
    v->is_inner = qn__is_inner(m, &v->form);
    v->is_fixed = is_fixed(m, i);
    if (v->loads) v->is_inner = v->is_inner || is_inner_condition(m, instance->place.condition);
    if (is_own_reduction(m, node)) v->phase = phase_of_reduction(m, node);
    if (instance->stopped) return;
    for (uint32_t s = 0; s < node->num_sources; s++) {
        const qn__value *source = &m->values[instance->sources[s]];
        v->is_inner = v->is_inner || source->is_inner;
        if (source->phase > v->phase) v->phase = source->phase;
    }
    if (node->op == QN__OP_PAD) v->is_inner = v->is_inner || is_inner_condition(m, instance->condition);
}

/* What has to be computed before an instance, one after the other; QN__NONE: nothing more. */
static uint32_t before(const qn__maker *m, uint32_t i, uint32_t number) {
    const qn__instance *instance = &m->demand->instances[i];
    qn__node *node = instance->node;
    if (!instance->stopped) return number < node->num_sources ? instance->sources[number] : QN__NONE;
    if (number || !is_own_reduction(m, node)) return QN__NONE;
    const qn__root root = {node->sources[0], false};
    return (uint32_t)(qn__demand_root(m->demand, &root) - m->demand->instances);
}

/* Depth first from what is stored, so that groups of the same structure have the same text. An instance that waits is in `stack`; `names` counts
   what has been gone into. */
static qn_status sort_instances(qn__maker *m) {
    qn_tensors *tensors = m->schedule->tensors;
    const uint32_t count = (uint32_t)m->demand->count;
    qn__instance *instances = m->demand->instances;
    uint32_t *stack = qn__tensors_allocate(tensors, (count + 1) * sizeof *stack), done = 0;
    if (!stack) return QN_ERROR_OUT_OF_MEMORY;
    for (uint32_t i = 0; i < count; i++) instances[i].names = 0;
    for (uint32_t root = 0; root < count; root++) {
        uint32_t depth = 0;
        if (!instances[root].names) stack[depth++] = root;
        while (depth) {
            const uint32_t i = stack[depth - 1], next = before(m, i, instances[i].names++);
            if (next == QN__NONE)
                m->order[done++] = stack[--depth];
            else if (!instances[next].names)
                stack[depth++] = next;
        }
    }
    qn__tensors_release(tensors, stack);
    return QN_OK;
}

/* Its sources have bounds already. What is read is not known, and what constants are is no part of the text. */
static qn__bounds find_bounds(const qn__maker *m, uint32_t i) {
    const qn__instance *instance = &m->demand->instances[i];
    const qn__node *node = instance->node;
    const qn__op_info *info = &qn__ops[node->op];
    qn__bounds of[3] = {qn__unbounded, qn__unbounded, qn__unbounded};
    if (instance->stopped || qn__value_type((qn_element)node->type) != QN_F32) return qn__unbounded;
    if (info->kind != QN__MAP && info->kind != QN__VIEW) return qn__unbounded;
    for (uint32_t s = 0; s < node->num_sources; s++) of[s] = m->values[instance->sources[s]].bounds;
    if (node->op == QN__OP_PAD)
        return (qn__bounds){fminf(of[0].low, of[1].low), fmaxf(of[0].high, of[1].high)};
    return info->kind == QN__VIEW ? of[0] : qn__bounds_of((qn__op)node->op, of);
}

void qn__accesses_relate(qn__maker *m) {
    for (size_t i = 0; i < m->demand->count; i++) relate(m, m->order[i]);
}

qn_status qn__accesses_find(qn__maker *m) {
    qn_status status = sort_instances(m);
    for (uint32_t i = 0; i < m->demand->count && !status; i++) status = find_value(m, i);
    if (!status) status = find_outputs(m);
    if (status) return status;
    join_loops(m);
    qn__accesses_relate(m);
    for (size_t i = 0; i < m->demand->count; i++) m->values[m->order[i]].bounds = find_bounds(m, m->order[i]);
    return QN_OK;
}
