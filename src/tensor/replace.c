/* Values that take over the memory of those that they replace: a parameter's new value that of the old one. A kernel can write there if each
   element of the old value is read by nobody but the work-item that writes the same element, before it does, and no later kernel
   reads any. Kernels of elements read all that they need of an element before they store. */
#include "tensor/plan.h"

/* `last_read` is the number, from 1, of the last launch that reads a leaf, `reader` the group of it that does, `astray` the last launch that
   reads an element in another iteration than the element's own: of several groups none knows when the others read. */
static void note_read(qn__schedule *s, const qn__node *node, uint32_t launch, uint32_t group, bool astray) {
    qn__item *item = &s->items[node->index];
    if (astray || (item->last_read == launch && item->reader != group)) item->astray = launch;
    item->last_read = launch;
    item->reader = group;
}

static qn_status note_reads(qn__schedule *s, uint32_t group, uint32_t launch) {
    const bool calls = s->groups[group].call != NULL;
    qn__node *reads[QN__CALL_READS];
    const uint32_t count = calls ? qn__call_reads(s, group, reads) : 0;
    for (uint32_t i = 0; i < count; i++) note_read(s, reads[i], launch, group, true);
    if (calls) return QN_OK;
    const qn_status status = qn__group_demand(s, group);
    for (size_t i = 0; i < s->demand.count && !status; i++) {
        const qn__instance *instance = &s->demand.instances[i];
        if (!instance->node->realised) continue;
        const qn__place own = qn__place_of_own(&s->demand.loops, instance->node, false);
        note_read(s, instance->node, launch, group,
                  !qn__place_equal(&own, &instance->place, instance->node->rank));
    }
    return status;
}

static bool can_take_over(const qn__schedule *s, const qn__node *node, const qn__node *old) {
    const uint32_t group = s->items[node->index].group;
    if (group == QN__NONE) return false;
    if (old->mark != s->tensors->walk) return true; /* nobody reads it */
    uint32_t launch = 0;
    for (size_t at = 0; at < s->num_groups; at += qn__launch_size(s, at)) {
        launch++;
        if (s->groups[s->order[at]].launch == s->groups[group].launch) break;
    }
    const qn__item *item = &s->items[old->index];
    const bool of_elements = !s->groups[group].call && !qn__group_has_reductions(&s->groups[group]);
    return item->last_read < launch ||
           (of_elements && item->last_read == launch && item->reader == group && item->astray < launch);
}

qn_status qn__replacements_find(qn__schedule *s, qn__node *const *asked, qn__node *const *replaced,
                                size_t count) {
    qn_status status = QN_OK;
    uint32_t launch = 0;
    for (size_t at = 0, end; at < s->num_groups && !status; at = end) {
        end = at + qn__launch_size(s, at);
        launch++;
        for (size_t i = at; i < end && !status; i++) status = note_reads(s, s->order[i], launch);
    }
    for (size_t i = 0; i < count && !status; i++)
        if (replaced[i]) s->items[asked[i]->index].takes_over = can_take_over(s, asked[i], replaced[i]);
    return status;
}
