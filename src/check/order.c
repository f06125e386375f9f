/* What atomics and fences order. A release tells what its group has done up to then, and what that group knew; whoever
   acquires what it wrote, or what read-modify-writes made of it, knows that from then on. What work-items of one group
   know of other groups they know together, and of its own group a work-item knows all up to the release: more than the
   model of OpenCL 2.0 says, so that what is told is a race for certain, and one of a work-group that does not meet before its
   leader releases may be missed. The host is taken for one that acquires all that kernels release in memory which it shares, and releases
   that again in all words there: it may, and its atomics are not seen. */
#include "check/internal.h"

struct qn__check_release {
    uint32_t group, time;            /* index in the run's groups */
    bool is_narrow;                  /* for its own group alone */
    const qn__check_acquired *known; /* what it knew */
    uint64_t address;                /* the one that leads to it; 0: several do */
    uint32_t visited;
    bool is_kept; /* by what others know, or a fence: it stays as it is */
};

struct qn__check_acquired {
    qn__check_release *what;
    const qn__check_acquired *next;
};

/* Of a launch whose kernel has fences, or atomics that order. */
struct qn__check_order {
    qn__map64 released;                 /* by address: a qn__check_release that reading it leads to */
    const qn__check_acquired *known;    /* by this group */
    const qn__check_acquired **pending; /* by work-item: read, and not fenced yet */
    qn__check_release **fenced;         /* by work-item: its last release fence */
    uint32_t *until;                    /* by work-item: what its own group did up to then is known to it */
    qn__check_release *last;            /* by this group, or NULL */
    uint64_t items;
    uint32_t visits;
};

qn__check_order *qn__check_order_new(qn__arena *arena, uint64_t items) {
    qn__check_order *o = QN__NEW(arena, qn__check_order);
    o->pending = QN__NEW_ARRAY(arena, const qn__check_acquired *, items);
    o->fenced = QN__NEW_ARRAY(arena, qn__check_release *, items);
    o->until = QN__NEW_ARRAY(arena, uint32_t, items);
    o->items = items;
    return o;
}

void qn__check_order_begin_group(qn__check_order *o) {
    o->known = NULL;
    o->last = NULL;
    for (uint64_t i = 0; i < o->items; i++) {
        o->pending[i] = NULL;
        o->fenced[i] = NULL;
        o->until[i] = 0;
    }
}

static bool acquires(unsigned order) {
    return order == IR_ACQUIRE || order == IR_ACQ_REL || order == IR_SEQ_CST;
}
static bool releases(unsigned order) {
    return order == IR_RELEASE || order == IR_ACQ_REL || order == IR_SEQ_CST;
}

bool qn__check_orders(const ir_instr *instr) {
    if (instr->op == IR_FENCE) return true;
    const bool is_atomic = instr->op >= IR_ATOMIC_LOAD && instr->op <= IR_ATOMIC_CAS;
    return is_atomic && instr->attr.order != IR_RELAXED;
}

static const qn__check_acquired *with(qn__arena *arena, qn__check_release *what,
                                      const qn__check_acquired *next) {
    qn__check_acquired *acquired = QN__NEW(arena, qn__check_acquired);
    *acquired = (qn__check_acquired){what, next};
    what->is_kept = true;
    return acquired;
}

static uint32_t this_group(const qn__check_run_state *r) { return (uint32_t)r->groups.len - 1; }

/* Whether what the second list knows is known by the first, as far as a look at its newest tells. */
static bool has_list(const qn__check_acquired *list, const qn__check_acquired *other) {
    enum { NEWEST = 8 };
    for (unsigned n = 0; list && list != other && n < NEWEST; n++) list = list->next;
    return list == other;
}

static bool has_release(const qn__check_acquired *list, const qn__check_release *what) {
    enum { NEWEST = 8 };
    for (unsigned n = 0; list && n < NEWEST; n++, list = list->next)
        if (list->what == what) return true;
    return false;
}

/* What is done from now on is later than the release. Of one address, as of a counter or lock in a loop, there is one for the group, which gets
   later, until somebody keeps it: memory is bounded by what is known, not by how often. */
static qn__check_release *release(qn__check_run_state *r, bool is_narrow, uint64_t address) {
    qn__check_order *o = r->order;
    qn__check_release *last = o->last;
    if (last && last->is_narrow == is_narrow && last->known == o->known) {
        const bool is_now = last->time == r->checker->time;
        if (is_now && last->address != address) last->address = 0;
        if (!is_now && !last->is_kept && address && last->address == address) last->time = r->checker->time;
        if (last->time == r->checker->time) return last;
    }
    qn__check_release *made = QN__NEW(r->arena, qn__check_release);
    *made = (qn__check_release){.group = this_group(r),
                                .time = r->checker->time,
                                .is_narrow = is_narrow,
                                .known = o->known,
                                .address = address};
    return o->last = made;
}

static void acquire(qn__check_run_state *r, uint64_t item, qn__check_release *from) {
    qn__check_order *o = r->order;
    if (from->group == this_group(r)) {
        if (from->time > o->until[item]) o->until[item] = from->time;
        if (has_list(o->known, from->known)) return;
    } else if (from->is_narrow || has_release(o->known, from)) {
        return;
    }
    o->known = with(r->arena, from, o->known);
}

/* Whether who acquires the second knows all that the first tells. */
static bool covers(const qn__check_release *made, const qn__check_release *before) {
    if (made == before || has_release(made->known, before)) return true;
    return made->group == before->group && made->time >= before->time &&
           made->is_narrow <= before->is_narrow && has_list(made->known, before->known);
}

/* Makes the one that the address leads to the later one, if it knows as much and nobody keeps it. */
static bool extend(const qn__check_release *made, qn__check_release *before, uint64_t address) {
    if (before->group != made->group || before->time > made->time || before->is_narrow != made->is_narrow)
        return false;
    if (before->is_kept || before->address != address || !has_list(before->known, made->known)) return false;
    before->time = made->time;
    return true;
}

static void read_atomic(qn__check_run_state *r, uint64_t item, qn__check_release *from, bool now) {
    if (!from) return;
    if (now)
        acquire(r, item, from);
    else if (r->program->has_fences && !has_release(r->order->pending[item], from))
        r->order->pending[item] = with(r->arena, from, r->order->pending[item]);
}

/* Stands for all words of memory that is shared with the host: no atomic is there. */
static const uint64_t by_host = 1;

static void write_atomic(qn__check_run_state *r, const ir_instr *instr, uint64_t item, uint64_t address,
                         qn__check_release *before) {
    qn__check_order *o = r->order;
    const bool keeps = instr->op != IR_ATOMIC_STORE || address == by_host; /* a release sequence goes on */
    qn__check_release *made = o->fenced[item];
    if (releases(instr->attr.order)) made = release(r, instr->attr.scope <= IR_SCOPE_WORK_GROUP, address);
    if (made && before && keeps && extend(made, before, address)) {
        made = before;
    } else if (made && before && keeps && !covers(made, before)) {
        qn__check_release *both = QN__NEW(r->arena, qn__check_release);
        *both = *made;
        both->address = address;
        both->is_kept = false;
        both->known = with(r->arena, before, made->known);
        made = both;
    }
    if (made || !keeps) qn__map64_set(r->arena, &o->released, address, made);
}

static uint64_t key_of(qn__check_run_state *r, uint64_t address) {
    const qn__check_region *region = r->checker->shares ? qn__check_find(r->checker, address) : NULL;
    return region && region->is_shared ? by_host : address;
}

void qn__check_order_atomic(qn__vm_frame *frame, const qn__vm_instr *instr) {
    qn__check_run_state *r = qn__check_state(frame);
    const ir_instr *ir = instr->ir;
    const uint64_t *pointer = qn__vm_slot(frame, instr->a);
    if (!r->order) return;
    for (uint64_t i = 0; i < frame->items; i++) {
        if (!frame->active[i]) continue;
        const uint64_t address = key_of(r, pointer[i] + (uint64_t)ir->attr.offset);
        qn__check_release *before = qn__map64_get(&r->order->released, address);
        if (ir->op != IR_ATOMIC_STORE) read_atomic(r, i, before, acquires(ir->attr.order));
        if (ir->op != IR_ATOMIC_LOAD) write_atomic(r, ir, i, address, before);
    }
    qn__check_tick(r);
}

void qn__check_order_fence(qn__vm_frame *frame, const qn__vm_instr *instr) {
    qn__check_run_state *r = qn__check_state(frame);
    qn__check_order *o = r->order;
    for (uint64_t i = 0; i < frame->items; i++) {
        if (!frame->active[i]) continue;
        if (acquires(instr->ir->attr.order)) {
            for (const qn__check_acquired *a = o->pending[i]; a; a = a->next) acquire(r, i, a->what);
            o->pending[i] = NULL;
        }
        if (releases(instr->ir->attr.order)) {
            o->fenced[i] = release(r, false, 0);
            o->fenced[i]->is_kept = true;
        }
    }
    qn__check_tick(r);
    instr->plain(frame, instr);
}

/* The latest time up to which the list knows a group. Each release is looked at once. */
static bool knows(qn__check_order *o, const qn__check_acquired *list, uint32_t group, uint32_t time) {
    for (; list; list = list->next) {
        qn__check_release *what = list->what;
        if (what->visited == o->visits) continue;
        what->visited = o->visits;
        if (what->group == group && what->time >= time) return true;
        if (knows(o, what->known, group, time)) return true;
    }
    return false;
}

bool qn__check_is_known_to(qn__check_run_state *r, uint64_t item, qn__check_stamp before) {
    qn__check_order *o = r->order;
    const uint32_t time = qn__stamp_time(before);
    if (!o) return false;
    const uint32_t group = (uint32_t)(qn__check_group_at(r, time) - r->groups.data);
    if (group == this_group(r)) return time <= o->until[item];
    o->visits++;
    return knows(o, o->known, group, time);
}
