/* Work-items together: whether all come to a barrier or collective, what barriers order, and loops that do not end. */
#include "check/defined.h"

/* ---- who does not come ---- */

static const char *noun(const ir_instr *instr) {
    const bool is_sub_group = qn__ir_is_of_sub_group(instr);
    if (instr->op == IR_BARRIER && !instr->attr.fence) return "an async copy"; /* or what orders nothing */
    if (instr->op == IR_BARRIER) return is_sub_group ? "a sub-group barrier" : "a barrier";
    return is_sub_group ? "a sub-group collective" : "a work-group collective";
}

/* Of the team [begin, end), `here` are here and `away`, the first of those that are not, elsewhere. */
static void tell(const qn__vm_frame *frame, const qn__vm_instr *instr, uint64_t size, uint64_t here,
                 uint64_t away) {
    const qn__check_report found = {
        .kind = QN_FINDING_DIVERGENCE, .frame = frame, .instr = instr->ir, .item = away};
    char text[96];
    QN__CHECK_REPORT(qn__check_state(frame)->checker, &found,
                     "%s that %llu of the %llu work-items of a %s reach; %s %s", noun(instr->ir),
                     (unsigned long long)here, (unsigned long long)size,
                     qn__ir_is_of_sub_group(instr->ir) ? "sub-group" : "work-group",
                     qn__check_item_text(frame, away, text),
                     frame->codes[away] ? "is in another branch, or has left the loop" : "has returned");
}

static void check_team(const qn__vm_frame *frame, const qn__vm_instr *instr, uint64_t begin, uint64_t end) {
    uint64_t here = 0, away = end;
    for (uint64_t i = begin; i < end; i++) {
        here += frame->active[i];
        if (!frame->active[i] && away == end) away = i;
    }
    if (here && here != end - begin) tell(frame, instr, end - begin, here, away);
}

static void check_all_come(const qn__vm_frame *frame, const qn__vm_instr *instr) {
    const uint64_t all = frame->all;
    if (frame->count == all || (instr->ir->flags & IR_ACTIVE)) return;
    const uint64_t size = qn__ir_is_of_sub_group(instr->ir) ? frame->program->sub_group_size : all;
    for (uint64_t first = 0; first < all; first += size)
        check_team(frame, instr, first, first + size < all ? first + size : all);
}

/* Whose value all of a team get: they have to name the same one, and one of theirs. */
static void check_broadcast(const qn__vm_frame *frame, const qn__vm_instr *instr, uint64_t begin,
                            uint64_t end) {
    const uint32_t *index = qn__vm_slot(frame, instr->b);
    uint64_t first = begin;
    while (first < end && !frame->active[first]) first++;
    for (uint64_t i = first; i < end; i++) {
        if (!frame->active[i] || (index[i] == index[first] && index[i] < end - begin)) continue;
        const qn__check_report found = {
            .kind = QN_FINDING_DIVERGENCE, .frame = frame, .instr = instr->ir, .item = i};
        qn__checker *checker = qn__check_state(frame)->checker;
        char text[96], other[96];
        if (index[i] != index[first])
            QN__CHECK_REPORT(
                checker, &found,
                "a broadcast of number %u's value to %s, and of number %u's to %s: all have to name the same",
                (unsigned)index[first], qn__check_item_text(frame, first, other), (unsigned)index[i],
                qn__check_item_text(frame, i, text));
        else
            QN__CHECK_REPORT(checker, &found,
                             "a broadcast of number %u's value, where there are %llu work-items",
                             (unsigned)index[i], (unsigned long long)(end - begin));
        return;
    }
}

static void broadcast(qn__vm_frame *frame, const qn__vm_instr *instr) {
    const uint64_t all = frame->all;
    const uint64_t size = qn__ir_is_of_sub_group(instr->ir) ? frame->program->sub_group_size : all;
    check_all_come(frame, instr);
    for (uint64_t first = 0; first < all; first += size)
        check_broadcast(frame, instr, first, first + size < all ? first + size : all);
    qn__check_hand_on(frame, instr);
}

static void collective(qn__vm_frame *frame, const qn__vm_instr *instr) {
    check_all_come(frame, instr);
    qn__check_hand_on(frame, instr);
}

/* ---- barriers ---- */

static void shuffle(qn__vm_frame *frame, const qn__vm_instr *instr) {
    check_all_come(frame, instr);
    qn__check_hand_shuffle_on(frame, instr);
}

static void barrier(qn__vm_frame *frame, const qn__vm_instr *instr) {
    qn__check_run_state *r = qn__check_state(frame);
    check_all_come(frame, instr);
    const uint32_t now = qn__check_tick(r);
    const unsigned fence = instr->ir->attr.fence;
    if (instr->ir->attr.scope == IR_SCOPE_SUB_GROUP) {
        r->has_sub_barriers = true;
        for (uint64_t i = 0; i < frame->items; i++) {
            const uint64_t team = i / frame->program->sub_group_size;
            if (!frame->active[i]) continue;
            if (fence & IR_FENCE_LOCAL) r->sub_barriers[2 * team] = now;
            if (fence & IR_FENCE_GLOBAL) r->sub_barriers[2 * team + 1] = now;
        }
    } else {
        if (fence & IR_FENCE_LOCAL) r->local.barrier = now;
        if (fence & IR_FENCE_GLOBAL) r->global.barrier = now;
    }
    instr->plain(frame, instr);
}

/* ---- loops ---- */

static void loop(qn__vm_frame *frame, const qn__vm_instr *instr) {
    uint64_t item = 0;
    while (item + 1 < frame->items && !frame->active[item]) item++;
    qn__check_hand_copies(frame, instr);
    instr->plain(frame, instr);
    qn__check_run_state *r = qn__check_state(frame);
    if (frame->error != qn__vm_spent || r->is_spent) return;
    r->is_spent = true; /* loops around it are not to blame */
    const qn__check_report found = {
        .kind = QN_FINDING_RUNAWAY, .frame = frame, .instr = instr->ir, .item = item};
    QN__CHECK_REPORT(r->checker, &found, "a work-group was stopped in this loop after %llu steps",
                     (unsigned long long)frame->max_steps);
}

qn__vm_handler *qn__check_pick_sync(const ir_instr *instr) {
    if (instr->op == IR_LOOP) return loop;
    if (instr->op == IR_BARRIER) return barrier;
    if (instr->op == IR_FENCE) return qn__check_order_fence;
    if (instr->op == IR_GROUP_BROADCAST) return broadcast;
    if (instr->op == IR_SUB_GROUP_SHUFFLE) return shuffle;
    return qn__ir_is_together((ir_op)instr->op) ? collective : NULL;
}
