/* How the work-items of a sub-group, the lanes of the hardware, go together: which memory they touch at a time, and how many
   of them take part. Reports are of the sums over a launch. Sectors and banks are those of NVIDIA's GPUs; others' are as wide or wider. */
#include <stdio.h>
#include <string.h>

#include "check/profile.h"

enum {
    SECTOR = 32, /* bytes that global memory moves at a time */
    BANKS = 32,  /* of local memory, each of 4 bytes */
    BANK_BYTES = 4,
    MOST_LANES = 128, /* of a sub-group */
    MOST_UNITS = MOST_LANES * 5,
    FEW = 8,           /* lanes: so few are not looked at */
    WEIGHTY = 40,      /* instructions that a branch or loop takes; what is shorter costs little */
    REPORTED_IDLE = 25 /* per cent */
};

/* Of an access: what each of its sub-groups touched. Of a construct: lanes that were in its regions, and that came to it. */
struct qn__check_lanes {
    uint64_t times;        /* sub-groups that came by */
    uint64_t units;        /* sectors, or turns of the banks, all together */
    uint64_t ideal;        /* that would do */
    uint64_t pairs, alike; /* of neighbours; those at the usual distance */
    int64_t stride;        /* usual distance, in bytes */
    uint64_t votes;
    uint64_t worst; /* units of one sub-group, the one of the work-item: */
    uint64_t group[3], local_id[3];
    uint16_t *came;     /* construct: by sub-group */
    uint32_t weight[2]; /* instructions of its regions */
    uint64_t slots, used;
    uint64_t runs, steps; /* of the construct; see qn__vm_frame.steps */
    bool is_local;
};

/* ---- which instructions ---- */

static uint32_t weigh(const ir_region *region) {
    uint32_t weight = 0;
    for (const ir_instr *ir = region->first; ir; ir = ir->next) {
        weight++;
        for (unsigned k = 0; k < ir->num_regions; k++) weight += weigh(ir->regions[k]);
    }
    return weight;
}

static qn__check_lanes *construct_of(qn__check_program *program, const ir_instr *ir) {
    qn__check_lanes *lanes = qn__map64_get(&program->constructs, (uintptr_t)ir);
    if (lanes) return lanes;
    lanes = QN__NEW(program->arena, qn__check_lanes);
    lanes->came = QN__NEW_ARRAY(program->arena, uint16_t, QN__CHECK_ITEMS);
    for (unsigned k = 0; k < ir->num_regions && k < 2; k++) lanes->weight[k] = weigh(ir->regions[k]);
    qn__map64_set(program->arena, &program->constructs, (uintptr_t)ir, lanes);
    return lanes;
}

static bool diverges(const ir_instr *ir) { return ir->op == IR_IF || ir->op == IR_LOOP; }

void qn__check_lanes_attach(qn__check_program *program, qn__check_counter *counter) {
    const ir_instr *ir = counter->instr->ir;
    const ir_instr *owner = ir->parent ? ir->parent->owner : NULL;
    const unsigned space = ir->num_operands ? ir->operands[0]->type.space : IR_PRIVATE;
    if ((ir->op == IR_LOAD || ir->op == IR_STORE) && (space == IR_GLOBAL_SPACE || space == IR_LOCAL_SPACE)) {
        counter->access = QN__NEW(program->arena, qn__check_lanes);
        counter->access->is_local = space == IR_LOCAL_SPACE;
    }
    if (diverges(ir)) counter->construct = construct_of(program, ir);
    if (owner && diverges(owner) && ir->parent->first == ir) {
        counter->owner = construct_of(program, owner);
        counter->region = owner->num_regions > 1 && owner->regions[1] == ir->parent;
    }
    counter->looks = counter->access || counter->construct || counter->owner;
}

void qn__check_lanes_begin(qn__check_counter *counter) {
    qn__check_lanes *a = counter->access, *c = counter->construct;
    if (a) *a = (qn__check_lanes){.is_local = a->is_local};
    if (c) c->slots = c->used = c->worst = c->runs = c->steps = 0;
}

/* ---- memory ---- */

/* Numbers without those that came before; most come in order. */
typedef struct set {
    uint64_t list[MOST_UNITS];
    unsigned count;
} set;

static void put(set *s, uint64_t number) {
    unsigned at = s->count;
    while (at && s->list[at - 1] > number) at--;
    if ((at && s->list[at - 1] == number) || s->count == MOST_UNITS) return;
    memmove(s->list + at + 1, s->list + at, (s->count - at) * sizeof *s->list);
    s->list[at] = number;
    s->count++;
}

/* Work-items of one sub-group that are active, and their addresses. */
typedef struct team {
    uint64_t address[MOST_LANES];
    uint8_t lane[MOST_LANES];
    unsigned count;
    uint64_t first; /* work-item */
} team;

static void keep_worst(qn__check_lanes *a, const qn__vm_frame *frame, uint64_t units, uint64_t item) {
    if (units <= a->worst) return;
    a->worst = units;
    a->group[0] = frame->group_x[item], a->group[1] = frame->group_y, a->group[2] = frame->group_z;
    for (unsigned d = 0; d < 3; d++) a->local_id[d] = frame->local_id[d][item];
}

/* The distance that most neighbours are at: Boyer and Moore's vote. */
static void vote(qn__check_lanes *a, const team *t) {
    for (unsigned i = 1; i < t->count; i++) {
        const int64_t distance = (int64_t)(t->address[i] - t->address[i - 1]) / (t->lane[i] - t->lane[i - 1]);
        if (!a->votes) a->stride = distance, a->alike = 0;
        a->votes = distance == a->stride ? a->votes + 1 : a->votes - 1;
        a->alike += distance == a->stride;
        a->pairs++;
    }
}

static void put_sectors(set *s, uint64_t address, uint64_t size) {
    for (uint64_t at = address / SECTOR; at <= (address + size - 1) / SECTOR; at++) put(s, at);
}

/* What would do is what the same lanes touch in an array with an element for each lane. */
static uint64_t count_sectors(const team *t, uint64_t size, uint64_t *ideal) {
    set sectors = {.count = 0}, dense = {.count = 0};
    for (unsigned i = 0; i < t->count; i++) {
        put_sectors(&sectors, t->address[i], size);
        put_sectors(&dense, t->lane[i] * size, size);
    }
    *ideal = dense.count;
    return sectors.count;
}

/* Turns that the banks take for the lanes that are served at once: the most words that one of them has to give. */
static uint64_t count_turns(const team *t, uint64_t size, unsigned from, unsigned to) {
    set words = {.count = 0};
    unsigned of_bank[BANKS] = {0}, most = 0;
    for (unsigned i = from; i < to; i++)
        for (uint64_t at = t->address[i] / BANK_BYTES; at <= (t->address[i] + size - 1) / BANK_BYTES; at++)
            put(&words, at);
    for (unsigned i = 0; i < words.count; i++) {
        const unsigned count = ++of_bank[words.list[i] % BANKS];
        if (count > most) most = count;
    }
    return most;
}

static uint64_t count_units(const qn__check_lanes *a, const team *t, uint64_t size, uint64_t *ideal) {
    if (!a->is_local) return count_sectors(t, size, ideal);
    const unsigned at_once = size > BANK_BYTES ? (unsigned)(BANKS * BANK_BYTES / size) : BANKS;
    uint64_t turns = 0;
    *ideal = 0;
    for (unsigned i = 0; at_once && i < t->count; i += at_once) {
        turns += count_turns(t, size, i, i + at_once < t->count ? i + at_once : t->count);
        ++*ideal;
    }
    return turns;
}

static void look_at_access(const qn__vm_frame *frame, const qn__vm_instr *instr, qn__check_lanes *a) {
    const uint64_t *pointer = qn__vm_slot(frame, instr->a), offset = (uint64_t)instr->ir->attr.offset;
    const uint64_t size = (uint64_t)instr->lanes * instr->size, lanes = frame->program->sub_group_size;
    for (uint64_t first = 0; first < frame->items; first += lanes) {
        const uint64_t end = first + lanes < frame->items ? first + lanes : frame->items;
        team t = {.count = 0};
        for (uint64_t i = first; i < end; i++) {
            if (!frame->active[i]) continue;
            if (!t.count) t.first = i;
            t.lane[t.count] = (uint8_t)(i - first);
            t.address[t.count++] = pointer[i] + offset - (a->is_local ? (uintptr_t)frame->local : 0);
        }
        if (t.count < FEW) continue;
        uint64_t ideal = 0;
        const uint64_t units = count_units(a, &t, size, &ideal);
        a->times++;
        a->units += units;
        a->ideal += ideal;
        vote(a, &t);
        keep_worst(a, frame, units, t.first);
    }
}

/* ---- constructs ---- */

static uint16_t count_active(const qn__vm_frame *frame, uint64_t first) {
    const uint64_t lanes = frame->program->sub_group_size;
    uint16_t count = 0;
    for (uint64_t i = first; i < frame->items && i < first + lanes; i++) count += frame->active[i];
    return count;
}

static void look_at_construct(const qn__vm_frame *frame, qn__check_lanes *c) {
    const uint64_t lanes = frame->program->sub_group_size;
    for (uint64_t first = 0; first < frame->items; first += lanes)
        c->came[first / lanes] = count_active(frame, first);
}

static void look_at_region(const qn__vm_frame *frame, qn__check_lanes *c, unsigned region) {
    const uint64_t lanes = frame->program->sub_group_size;
    for (uint64_t first = 0; first < frame->items; first += lanes) {
        const uint64_t count = count_active(frame, first), came = c->came[first / lanes];
        if (!count) continue;
        c->slots += came * c->weight[region];
        c->used += count * c->weight[region];
        uint64_t item = first;
        while (!frame->active[item]) item++;
        keep_worst(c, frame, 1 + came - count, item);
    }
}

void qn__check_lanes_look(const qn__vm_frame *frame, const qn__vm_instr *instr, qn__check_counter *counter) {
    if (counter->owner) look_at_region(frame, counter->owner, counter->region);
    if (counter->construct) look_at_construct(frame, counter->construct);
    if (counter->access) look_at_access(frame, instr, counter->access);
}

void qn__check_lanes_ran(qn__check_counter *counter, uint64_t steps) {
    if (!counter->construct) return;
    counter->construct->runs++;
    counter->construct->steps += steps;
}

/* ---- reports ---- */

void qn__check_stand_in_for(qn__check_stand_in *s, qn__check_run_state *r, const uint64_t group[3],
                            const uint64_t local_id[3]) {
    s->group_x = group[0];
    s->frame = (qn__vm_frame){.program = r->program->vm,
                              .launch = r->launch,
                              .watcher = r,
                              .items = 1,
                              .stride = 1,
                              .group_x = &s->group_x,
                              .group_y = group[1],
                              .group_z = group[2]};
    for (unsigned d = 0; d < 3; d++) {
        s->local_id[d] = local_id[d];
        s->frame.local_id[d] = &s->local_id[d];
    }
}

static double ratio(uint64_t a, uint64_t b) { return b ? (double)a / (double)b : 0; }

/* "4096 bytes apart" */
static void distance_text(const qn__check_lanes *a, char *text, size_t size) {
    if (a->alike * 2 > a->pairs)
        snprintf(text, size, "%lld bytes apart", (long long)a->stride);
    else
        snprintf(text, size, "at various distances");
}

static void report_access(qn__check_run_state *r, const qn__check_counter *counter) {
    const qn__check_lanes *a = counter->access;
    const qn__vm_object *object = &r->program->vm->objects.data[counter->instr->objects[0]];
    const bool is_named = object->name && object->name[0] && object->name[0] != '.';
    /* An array that does not begin at a sector takes one more. */
    if (a->units < 2 * a->ideal || a->units <= a->ideal + (a->is_local ? 0 : a->times)) return;
    qn__check_stand_in s;
    char distance[64];
    qn__check_stand_in_for(&s, r, a->group, a->local_id);
    distance_text(a, distance, sizeof distance);
    const qn__check_object *run = &r->objects[counter->instr->objects[0]];
    const qn__check_report found = {.kind = a->is_local ? QN_FINDING_BANK_CONFLICT : QN_FINDING_UNCOALESCED,
                                    .frame = &s.frame,
                                    .instr = counter->instr->ir,
                                    .object = is_named ? object->name : NULL,
                                    .object_size = run->size,
                                    .size = (uint64_t)counter->instr->lanes * counter->instr->size,
                                    .declared = object->loc,
                                    .region = run->region,
                                    .object_begin = run->begin};
    const char *verb = counter->instr->ir->op == IR_LOAD ? "read" : "write";
    const char *name = is_named ? object->name : a->is_local ? "local memory" : "memory";
    if (a->is_local)
        QN__CHECK_REPORT(
            r->checker, &found,
            "neighbours in a sub-group %s %llu bytes %s in '%.100s': a %.1f-way bank conflict on average, "
            "%llu turns at most",
            verb, (unsigned long long)found.size, distance, name, ratio(a->units, a->ideal),
            (unsigned long long)a->worst);
    else
        QN__CHECK_REPORT(
            r->checker, &found,
            "neighbours in a sub-group %s %llu bytes %s in '%.100s': %.1f sectors of %d bytes on average, "
            "where %.1f would hold them",
            verb, (unsigned long long)found.size, distance, name, ratio(a->units, a->times), SECTOR,
            ratio(a->ideal, a->times));
}

static void report_construct(qn__check_run_state *r, const qn__check_counter *counter) {
    const qn__check_lanes *c = counter->construct;
    const bool is_loop = counter->instr->ir->op == IR_LOOP;
    if (c->steps < c->runs * WEIGHTY || !c->slots) return;
    if (c->used * 100 > c->slots * (100 - REPORTED_IDLE)) return;
    qn__check_stand_in s;
    qn__check_stand_in_for(&s, r, c->group, c->local_id);
    const qn__check_report found = {
        .kind = QN_FINDING_DIVERGENT_BRANCH, .frame = &s.frame, .instr = counter->instr->ir};
    const double idle = 100 * (1 - ratio(c->used, c->slots));
    if (is_loop)
        QN__CHECK_REPORT(
            r->checker, &found,
            "work-items of a sub-group leave this loop at different times: %.0f %% of the lanes that came "
            "to it are idle in it",
            idle);
    else
        QN__CHECK_REPORT(
            r->checker, &found,
            "work-items of a sub-group go different ways here: %.0f %% of the lanes that came are idle in "
            "the branches",
            idle);
}

void qn__check_lanes_report(qn__check_run_state *r) {
    for (size_t i = 0; i < r->program->counters.len; i++) {
        const qn__check_counter *counter = r->program->counters.data[i];
        if (counter->access) report_access(r, counter);
        if (counter->construct) report_construct(r, counter);
    }
}
