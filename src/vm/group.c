/* What a work-item knows of its place, and what work-items do together. Collectives work over the active ones
   of the group, or of the sub-group, in order of their linear local id; a kernel with collectives runs one
   whole group at a time, so that here a work-item's number is its linear local id. */
#include <string.h>

#include "vm/internal.h"

uint64_t qn__vm_group_size(const qn_cpu_launch *launch, unsigned dim, uint64_t group) {
    uint64_t rest = launch->global_size[dim] - group * launch->local_size[dim];
    return rest < launch->local_size[dim] ? rest : launch->local_size[dim];
}

/* ---- queries ---- */

static uint64_t group_of(const qn__vm_frame *frame, unsigned dim, uint64_t i) {
    return dim == 0 ? frame->group_x[i] : dim == 1 ? frame->group_y : frame->group_z;
}

static uint64_t group_items(const qn__vm_frame *frame, uint64_t i) {
    uint64_t items = 1;
    for (unsigned d = 0; d < 3; d++) items *= qn__vm_group_size(frame->launch, d, group_of(frame, d, i));
    return items;
}

static uint64_t sub_group_size(const qn__vm_frame *frame, uint64_t i) {
    uint64_t full = frame->program->sub_group_size;
    uint64_t rest = group_items(frame, i) - frame->linear[i] / full * full;
    return rest < full ? rest : full;
}

#define QUERY(NAME, TYPE, expression)                                                                        \
    static void NAME(qn__vm_frame *frame, const qn__vm_instr *instr) {                                       \
        const qn_cpu_launch *launch = frame->launch;                                                         \
        const unsigned d = instr->ir->attr.dim < 3 ? instr->ir->attr.dim : 0;                                \
        const uint64_t full = frame->program->sub_group_size;                                                \
        TYPE *result = qn__vm_slot(frame, instr->result);                                                    \
        (void)launch, (void)d, (void)full;                                                                   \
        for (uint64_t i = 0, n = frame->items; i < n; i++) result[i] = (TYPE)(expression);                   \
    }
QUERY(global_id, uint64_t,
      launch->global_offset[d] + group_of(frame, d, i) * launch->local_size[d] + frame->local_id[d][i])
QUERY(local_id, uint64_t, frame->local_id[d][i])
QUERY(group_id, uint64_t, group_of(frame, d, i))
QUERY(global_size, uint64_t, launch->global_size[d])
QUERY(local_size, uint64_t, qn__vm_group_size(launch, d, group_of(frame, d, i)))
QUERY(enqueued_local_size, uint64_t, launch->local_size[d])
QUERY(num_groups, uint64_t, launch->num_groups[d])
QUERY(global_offset, uint64_t, launch->global_offset[d])
QUERY(work_dim, uint32_t, launch->work_dim)
QUERY(sub_group_size_query, uint32_t, sub_group_size(frame, i))
QUERY(max_sub_group_size, uint32_t, full)
QUERY(num_sub_groups, uint32_t, (group_items(frame, i) + full - 1) / full)
QUERY(sub_group_id, uint32_t, frame->linear[i] / full)
QUERY(sub_group_local_id, uint32_t, frame->linear[i] % full)

/* ---- collectives ---- */

/* Work-items that act together: [begin, end). */
typedef struct team {
    uint64_t begin, end;
} team;

/* The next team of the instruction's scope, from begin == end == 0 on. */
static bool next_team(const qn__vm_frame *frame, ir_scope scope, team *t) {
    uint64_t size = scope == IR_SCOPE_SUB_GROUP ? frame->program->sub_group_size : frame->items;
    t->begin = t->end;
    t->end = t->begin + size < frame->items ? t->begin + size : frame->items;
    return t->begin < frame->items;
}

static void vote(qn__vm_frame *frame, const qn__vm_instr *instr, bool all) {
    const uint8_t *a = qn__vm_slot(frame, instr->a);
    uint8_t *result = qn__vm_slot(frame, instr->result);
    for (team t = {0, 0}; next_team(frame, instr->ir->attr.scope, &t);) {
        bool value = all;
        for (uint64_t i = t.begin; i < t.end; i++) {
            if (!frame->active[i]) continue;
            value = all ? value && (a[i] & 1) : value || (a[i] & 1);
        }
        memset(result + t.begin, value, t.end - t.begin);
    }
}

static void group_all(qn__vm_frame *frame, const qn__vm_instr *instr) { vote(frame, instr, true); }
static void group_any(qn__vm_frame *frame, const qn__vm_instr *instr) { vote(frame, instr, false); }

/* Gives work-item `to` the value that `from` has, or zero if there is no such one. */
static void take(qn__vm_frame *frame, const qn__vm_instr *instr, uint64_t to, uint64_t from, bool exists) {
    const void *a = qn__vm_slot(frame, instr->a);
    void *result = qn__vm_slot(frame, instr->result);
    for (unsigned l = 0; l < instr->lanes; l++) {
        uint64_t base = l * frame->stride;
        qn__vm_set(result, instr->size, base + to, exists ? qn__vm_get(a, instr->size, base + from) : 0);
    }
}

static void broadcast(qn__vm_frame *frame, const qn__vm_instr *instr) {
    const uint32_t *index = qn__vm_slot(frame, instr->b);
    for (team t = {0, 0}; next_team(frame, instr->ir->attr.scope, &t);) {
        uint64_t first = t.begin;
        while (first < t.end && !frame->active[first]) first++;
        if (first == t.end) continue;
        uint64_t from = t.begin + index[first];
        for (uint64_t i = first; i < t.end; i++)
            if (frame->active[i]) take(frame, instr, i, from, from < t.end && frame->active[from]);
    }
}

static void shuffle(qn__vm_frame *frame, const qn__vm_instr *instr) {
    const uint32_t *index = qn__vm_slot(frame, instr->b);
    for (team t = {0, 0}; next_team(frame, IR_SCOPE_SUB_GROUP, &t);) {
        for (uint64_t i = t.begin; i < t.end; i++) {
            uint64_t from = t.begin + index[i];
            if (frame->active[i]) take(frame, instr, i, from, from < t.end && frame->active[from]);
        }
    }
}

static void reduce(qn__vm_frame *frame, const qn__vm_instr *instr) {
    const void *a = qn__vm_slot(frame, instr->a);
    void *result = qn__vm_slot(frame, instr->result);
    ir_kind kind = instr->ir->operands[0]->type.kind;
    for (team t = {0, 0}; next_team(frame, instr->ir->attr.scope, &t);) {
        uint64_t sum = 0;
        bool any = false;
        for (uint64_t i = t.begin; i < t.end; i++) {
            if (!frame->active[i]) continue;
            uint64_t value = qn__vm_get(a, instr->size, i);
            sum = any ? qn__vm_combine(instr->ir->attr.combine, kind, sum, value) : value;
            any = true;
        }
        for (uint64_t i = t.begin; i < t.end; i++) qn__vm_set(result, instr->size, i, sum);
    }
}

static void scan(qn__vm_frame *frame, const qn__vm_instr *instr) {
    const void *a = qn__vm_slot(frame, instr->a);
    void *result = qn__vm_slot(frame, instr->result);
    ir_kind kind = instr->ir->operands[0]->type.kind;
    ir_combine combine = instr->ir->attr.combine;
    bool exclusive = instr->ir->flags & IR_EXCLUSIVE;
    for (team t = {0, 0}; next_team(frame, instr->ir->attr.scope, &t);) {
        uint64_t sum = qn__ir_combine_identity(combine, kind, false);
        bool any = false;
        for (uint64_t i = t.begin; i < t.end; i++) {
            if (!frame->active[i]) continue;
            uint64_t value = qn__vm_get(a, instr->size, i), before = sum;
            sum = any ? qn__vm_combine(combine, kind, sum, value) : value;
            any = true;
            qn__vm_set(result, instr->size, i, exclusive ? before : sum);
        }
    }
}

static void ballot(qn__vm_frame *frame, const qn__vm_instr *instr) {
    const uint8_t *a = qn__vm_slot(frame, instr->a);
    uint32_t *result = qn__vm_slot(frame, instr->result);
    for (team t = {0, 0}; next_team(frame, IR_SCOPE_SUB_GROUP, &t);) {
        uint32_t bits[4] = {0};
        for (uint64_t i = t.begin; i < t.end; i++) {
            uint64_t id = i - t.begin;
            if (frame->active[i]) bits[id / 32] |= (uint32_t)(a[i] & 1) << id % 32;
        }
        for (unsigned l = 0; l < 4; l++)
            for (uint64_t i = t.begin; i < t.end; i++) result[l * frame->stride + i] = bits[l];
    }
}

qn__vm_handler *qn__vm_pick_group(const ir_instr *instr) {
    static qn__vm_handler *const handlers[IR_OP_COUNT] = {
        [IR_GLOBAL_ID] = global_id,
        [IR_LOCAL_ID] = local_id,
        [IR_GROUP_ID] = group_id,
        [IR_GLOBAL_SIZE] = global_size,
        [IR_LOCAL_SIZE] = local_size,
        [IR_ENQUEUED_LOCAL_SIZE] = enqueued_local_size,
        [IR_NUM_GROUPS] = num_groups,
        [IR_GLOBAL_OFFSET] = global_offset,
        [IR_WORK_DIM] = work_dim,
        [IR_SUB_GROUP_SIZE] = sub_group_size_query,
        [IR_MAX_SUB_GROUP_SIZE] = max_sub_group_size,
        [IR_NUM_SUB_GROUPS] = num_sub_groups,
        [IR_SUB_GROUP_ID] = sub_group_id,
        [IR_SUB_GROUP_LOCAL_ID] = sub_group_local_id,
        [IR_GROUP_ALL] = group_all,
        [IR_GROUP_ANY] = group_any,
        [IR_GROUP_BROADCAST] = broadcast,
        [IR_GROUP_REDUCE] = reduce,
        [IR_GROUP_SCAN] = scan,
        [IR_SUB_GROUP_SHUFFLE] = shuffle,
        [IR_SUB_GROUP_BALLOT] = ballot,
    };
    return handlers[instr->op];
}
