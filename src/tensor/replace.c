/* Values that take over the memory of those that they replace: a parameter's new value that of the old one. A kernel can write there if each
   element of the old value is read by nobody but the work-item that writes the same element, before it does, and no later kernel
   reads any. Kernels of elements read all that they need of an element before they store. */
#include "tensor/plan.h"

/* `last_read` is the place in order, from 1, of the last group that reads a leaf, `astray` that of the last one that reads an element
   in another iteration than the element's own. */
static void note_read(qn__schedule *s, const qn__node *node, uint32_t place, bool astray) {
    qn__item *item = &s->items[node->index];
    item->last_read = place;
    if (astray) item->astray = place;
}

static qn_status note_reads(qn__schedule *s, uint32_t place) {
    const uint32_t group = s->order[place - 1];
    const qn__node *call = s->groups[group].call;
    for (uint32_t i = 0; call && i < call->num_sources; i++)
        note_read(s, qn__call_source(call->sources[i]).node, place, true);
    if (call && s->groups[group].epilogue != QN__NONE) {
        const qn__epilogue *e = &s->epilogues[s->groups[group].epilogue];
        const uint32_t reads[] = {e->bias, e->residual};
        for (uint32_t i = 0; i < 2; i++)
            if (reads[i] != QN__NONE)
                note_read(s, qn__call_source(s->walk->nodes[reads[i]]).node, place, true);
    }
    if (call) return QN_OK;
    const qn_status status = qn__group_demand(s, group);
    for (size_t i = 0; i < s->demand.count && !status; i++) {
        const qn__instance *instance = &s->demand.instances[i];
        if (!instance->node->realised) continue;
        const qn__place own = qn__place_of_own(&s->demand.loops, instance->node, false);
        note_read(s, instance->node, place, !qn__place_equal(&own, &instance->place, instance->node->rank));
    }
    return status;
}

static bool can_take_over(const qn__schedule *s, const qn__node *node, const qn__node *old) {
    const uint32_t group = s->items[node->index].group;
    if (group == QN__NONE) return false;
    if (old->mark != s->tensors->walk) return true; /* nobody reads it */
    uint32_t place = 1;
    while (s->order[place - 1] != group) place++;
    const qn__item *item = &s->items[old->index];
    const bool of_elements = !s->groups[group].call && !qn__group_has_reductions(&s->groups[group]);
    return item->last_read < place || (of_elements && item->last_read == place && item->astray < place);
}

qn_status qn__replacements_find(qn__schedule *s, qn__node *const *asked, qn__node *const *replaced,
                                size_t count) {
    qn_status status = QN_OK;
    for (uint32_t place = 1; place <= s->num_groups && !status; place++) status = note_reads(s, place);
    for (size_t i = 0; i < count && !status; i++)
        if (replaced[i]) s->items[asked[i]->index].takes_over = can_take_over(s, asked[i], replaced[i]);
    return status;
}
