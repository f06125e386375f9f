/* Data races: the stamps of two accesses to the same bytes, of which one writes, and nothing that orders them. */
#include <string.h>

#include "check/internal.h"

typedef struct toucher {
    qn__vm_frame *frame;
    const qn__vm_instr *instr;
    qn__check_region *region;
    qn__check_window window;
    const uint32_t *sub_barriers; /* by sub-group, for this memory, one in two; NULL: there were none */
    uint64_t sub_group_size;
    qn__check_access access;
    uint64_t stamp; /* without the work-item */
} toucher;

/* Of all that the stamp stands for. */
static inline bool is_ordered(const qn__check_window *window, qn__check_stamp before, qn__check_stamp now) {
    const uint32_t time = qn__stamp_time(before);
    if (time < window->launch) return true;
    if (time < window->group || (before & QN__STAMP_GROUPS)) return false;
    return time < window->barrier || !((before ^ now) & QN__STAMP_ITEM || before & QN__STAMP_SEVERAL);
}

/* By a barrier of the sub-group that both are in; `before` is of this group. */
static bool is_within_sub_group(const toucher *t, qn__check_stamp before, uint64_t item) {
    if (!t->sub_barriers) return false;
    const uint64_t team = item / t->sub_group_size;
    return qn__stamp_item(before) / t->sub_group_size == team &&
           qn__stamp_time(before) < t->sub_barriers[2 * team];
}

/* The flags of a read behind another, or of an atomic behind another: who else did it since when it matters. */
static inline uint64_t others(const toucher *t, qn__check_stamp before, qn__check_stamp now) {
    const uint32_t time = qn__stamp_time(before);
    if (time < t->window.launch) return 0;
    if (time < t->window.group) return QN__STAMP_GROUPS;
    uint64_t flags = before & QN__STAMP_GROUPS;
    if (time < t->window.barrier || is_within_sub_group(t, before, qn__stamp_item(now))) return flags;
    return flags | ((before ^ now) & QN__STAMP_ITEM ? QN__STAMP_SEVERAL : before & QN__STAMP_SEVERAL);
}

/* ---- what is seldom ---- */

/* A conflict that the window does not rule out. */
typedef struct conflict {
    const toucher *t;
    uint64_t item, address, size;
    qn__check_stamp before;
    bool with_write; /* `before` wrote */
} conflict;

static bool is_atomic(const conflict *c) {
    return c->t->access == QN__CHECK_ATOMIC_READ || c->t->access == QN__CHECK_ATOMIC;
}

/* As the source has it. */
static bool is_volatile(const ir_instr *instr) {
    const bool is_access = instr->op == IR_LOAD || instr->op == IR_STORE;
    return is_access && (instr->flags & (IR_VOLATILE | IR_WRITTEN)) == (IR_VOLATILE | IR_WRITTEN);
}

/* A volatile access of a word beside atomics is how programs before OpenCL 2.0 read and reset what atomics change. */
static bool both_atomic(const conflict *c) {
    const bool before_atomic = c->before & QN__STAMP_ATOMIC, now_atomic = is_atomic(c);
    const bool before_volatile = !before_atomic && (c->before & QN__STAMP_NARROW);
    if (!before_atomic && !now_atomic) return false;
    if (!before_atomic && !before_volatile) return false;
    if (!now_atomic && !is_volatile(c->t->instr->ir)) return false;
    const bool is_narrow = (now_atomic && c->t->instr->ir->attr.scope <= IR_SCOPE_WORK_GROUP) ||
                           (before_atomic && (c->before & QN__STAMP_NARROW));
    return qn__stamp_time(c->before) >= c->t->window.group || !is_narrow;
}

/* Writes of one value, as of a flag that several work-items set, do no harm. The stores of an instruction are still to
   come when it is checked. */
static bool writes_same(const conflict *c, const ir_instr *other) {
    const qn__vm_instr *instr = c->t->instr;
    if (c->t->access != QN__CHECK_WRITE || !c->with_write || instr->ir->op != IR_STORE) return false;
    const unsigned char *value = qn__vm_slot(c->t->frame, instr->b);
    const uint64_t stride = c->t->frame->stride, old = qn__stamp_item(c->before);
    for (unsigned l = 0; l < instr->lanes; l++) {
        const unsigned char *mine = value + (l * stride + c->item) * instr->size;
        const unsigned char *is = (const unsigned char *)(uintptr_t)(c->address + l * instr->size);
        if (other == instr->ir && old < c->t->frame->items &&
            qn__stamp_time(c->before) >= c->t->window.barrier)
            is = value + (l * stride + old) * instr->size;
        if (memcmp(mine, is, instr->size) != 0) return false;
    }
    return true;
}

static const char *noun(const ir_instr *instr, bool writes) {
    if (instr->op >= IR_ATOMIC_LOAD && instr->op <= IR_ATOMIC_CAS) return "atomic";
    return writes ? "write" : "read";
}

static const qn__vm_object *object_of(const conflict *c, unsigned operand) {
    return &c->t->frame->program->objects.data[c->t->instr->objects[operand]];
}

static const char *why(const conflict *c) {
    if (qn__stamp_time(c->before) >= c->t->window.group) return "no barrier for this memory lies between";
    const bool were_atomic = is_atomic(c) && (c->before & QN__STAMP_ATOMIC);
    return were_atomic ? "the scope of one is its work-group" : "only atomics order work-groups";
}

static void report(const conflict *c) {
    qn__check_run_state *r = qn__check_state(c->t->frame);
    const uint32_t place = qn__stamp_place(c->before);
    const ir_instr *other = place < r->program->places.len ? r->program->places.data[place] : NULL;
    if (other && writes_same(c, other)) return;
    const qn__vm_object *object =
        object_of(c, c->t->instr->ir->op == IR_COPY && c->t->access == QN__CHECK_READ);
    const bool is_named = object->name && object->name[0] && object->name[0] != '.';
    const uint64_t begin = object->kind == QN__VM_UNKNOWN
                               ? c->t->region->begin
                               : r->objects[object - c->t->frame->program->objects.data].begin;
    const qn__check_report found = {.kind = QN_FINDING_RACE,
                                    .frame = c->t->frame,
                                    .instr = c->t->instr->ir,
                                    .item = c->item,
                                    .other = other,
                                    .other_stamp = c->before,
                                    .object = is_named ? object->name : NULL,
                                    .object_size = c->t->region->size,
                                    .offset = (int64_t)(c->address - begin),
                                    .size = c->size,
                                    .declared = object->loc,
                                    .region = c->t->region,
                                    .object_begin = begin};
    const bool same_group = qn__stamp_time(c->before) >= c->t->window.group;
    const bool writes = c->t->access != QN__CHECK_READ && c->t->access != QN__CHECK_ATOMIC_READ;
    char text[96];
    QN__CHECK_REPORT(r->checker, &found, "%s and %s of byte %lld of %s%.100s%s by %s of %s: %s",
                     noun(c->t->instr->ir, writes),
                     other           ? noun(other, c->with_write)
                     : c->with_write ? "write"
                                     : "read",
                     (long long)found.offset, is_named ? "'" : "", is_named ? object->name : "memory",
                     is_named ? "'" : "", qn__check_item_text(c->t->frame, c->item, text),
                     same_group ? "a work-group" : "different work-groups", why(c));
}

static void resolve(const conflict *c) {
    const bool same_group = qn__stamp_time(c->before) >= c->t->window.group;
    if (both_atomic(c) || (same_group && is_within_sub_group(c->t, c->before, c->item))) return;
    if (qn__check_is_known_to(qn__check_state(c->t->frame), c->item, c->before)) return;
    report(c);
}

/* ---- stamping ---- */

static toucher begin(qn__vm_frame *frame, const qn__vm_instr *instr, qn__check_region *region,
                     qn__check_access access) {
    const qn__check_run_state *r = qn__check_state(frame);
    const qn__check_note *note = instr->note;
    toucher t = {.frame = frame,
                 .instr = instr,
                 .region = region,
                 .window = region->is_local ? r->local : r->global,
                 .sub_barriers = r->has_sub_barriers ? r->sub_barriers + !region->is_local : NULL,
                 .sub_group_size = frame->program->sub_group_size,
                 .access = access};
    t.stamp = (uint64_t)r->checker->time << 32 | note->place;
    if (access == QN__CHECK_ATOMIC_READ || access == QN__CHECK_ATOMIC) {
        t.stamp |= QN__STAMP_ATOMIC;
        if (instr->ir->attr.scope <= IR_SCOPE_WORK_GROUP) t.stamp |= QN__STAMP_NARROW;
    }
    if (is_volatile(instr->ir)) t.stamp |= QN__STAMP_NARROW;
    return t;
}

static void seldom(const toucher *t, uint64_t item, uint64_t address, uint64_t size, qn__check_stamp before,
                   bool with_write) {
    const conflict c = {t, item, address, size, before, with_write};
    resolve(&c);
}

/* Of two readers the one is kept that did not write before: it is the other one's write that is likely to come. */
static inline bool keeps_reader(const qn__check_cell *cell, qn__check_stamp now) {
    return !((cell->write ^ now) & QN__STAMP_ITEM) && ((cell->read ^ now) & QN__STAMP_ITEM);
}

/* Since the group's last barrier. */
static inline bool is_recent(const toucher *t, qn__check_stamp stamp) {
    return qn__stamp_time(stamp) >= t->window.barrier;
}

/* A plain read behind an atomic that a plain write has kept out of its place: one that only loads is no conflict. */
static void read_behind_atomic(const toucher *t, uint64_t item, uint64_t address, uint64_t size,
                               qn__check_stamp before) {
    const qn__check_run_state *r = qn__check_state(t->frame);
    const uint32_t place = qn__stamp_place(before);
    const bool is_load =
        place < r->program->places.len && r->program->places.data[place]->op == IR_ATOMIC_LOAD;
    if (!is_load) seldom(t, item, address, size, before, true);
}

static inline void touch_read(const toucher *t, qn__check_cell *cell, uint64_t item, uint64_t address,
                              uint64_t size) {
    const qn__check_stamp now = t->stamp | item << QN__CHECK_ITEM_SHIFT;
    if (!is_ordered(&t->window, cell->write, now)) seldom(t, item, address, size, cell->write, true);
    const bool behind_atomic = cell->read & QN__STAMP_ATOMIC;
    if (behind_atomic && !(now & QN__STAMP_ATOMIC) && !is_ordered(&t->window, cell->read, now))
        read_behind_atomic(t, item, address, size, cell->read);
    const uint64_t flags = others(t, cell->read, now);
    const bool keeps = behind_atomic ? is_recent(t, cell->read) : flags && keeps_reader(cell, now);
    cell->read = keeps ? cell->read | flags : now | flags;
}

/* A plain write of this launch is not forgotten for an atomic behind it, which others may do as well: the atomic takes the
   reader's place, unless somebody has just read. */
static inline void stamp_atomic(const toucher *t, qn__check_cell *cell, qn__check_stamp now) {
    if ((cell->write & QN__STAMP_ATOMIC) || qn__stamp_time(cell->write) < t->window.launch)
        cell->write = now | others(t, cell->write, now);
    else if ((cell->read & QN__STAMP_ATOMIC) || !is_recent(t, cell->read))
        cell->read = now | others(t, cell->read, now);
}

static inline void touch_write(const toucher *t, qn__check_cell *cell, uint64_t item, uint64_t address,
                               uint64_t size) {
    const qn__check_stamp now = t->stamp | item << QN__CHECK_ITEM_SHIFT;
    if (!is_ordered(&t->window, cell->write, now))
        seldom(t, item, address, size, cell->write, true);
    else if (!is_ordered(&t->window, cell->read, now))
        seldom(t, item, address, size, cell->read, false);
    if (now & QN__STAMP_ATOMIC)
        stamp_atomic(t, cell, now);
    else
        cell->write = now;
}

static inline void touch(const toucher *t, qn__check_cell *cells, uint64_t count, bool reads, uint64_t item,
                         uint64_t address, uint64_t size) {
    for (uint64_t n = 0; n < count; n++) {
        if (reads)
            touch_read(t, &cells[n], item, address, size);
        else
            touch_write(t, &cells[n], item, address, size);
    }
}

static bool is_read(const toucher *t) {
    return t->access == QN__CHECK_READ || t->access == QN__CHECK_ATOMIC_READ;
}

/* For constant `count` and `reads`, loops of their own. */
static inline void touch_all(const toucher *t, const uint64_t *pointer, uint64_t offset, uint64_t size,
                             uint64_t end, uint64_t count, bool reads) {
    const qn__vm_frame *frame = t->frame;
    const uint64_t begin = t->region->begin - offset;
    const unsigned shift = t->region->shift;
    qn__check_cell *cells = t->region->cells;
    const uint8_t *active = frame->active;
    for (uint64_t i = 0; i < end; i++)
        if (active[i])
            touch(t, cells + ((pointer[i] - begin) >> shift), count, reads, i, pointer[i] + offset, size);
}

void qn__check_race(qn__vm_frame *frame, const qn__vm_instr *instr, qn__check_region *region, uint64_t i,
                    uint64_t address, uint64_t size, qn__check_access access) {
    const toucher t = begin(frame, instr, region, access);
    const uint64_t offset = address - region->begin;
    qn__check_cell *cells = qn__check_cells(qn__check_state(frame)->checker, region, offset, size);
    if (cells) touch(&t, cells, size >> region->shift, is_read(&t), i, address, size);
}

void qn__check_race_all(qn__vm_frame *frame, const qn__vm_instr *instr, qn__check_region *region,
                        const uint64_t *pointer, uint64_t offset, uint64_t size, uint64_t end,
                        qn__check_access access) {
    const toucher t = begin(frame, instr, region, access);
    const uint64_t count = size >> region->shift;
    if (count == 1 && is_read(&t))
        touch_all(&t, pointer, offset, size, end, 1, true);
    else if (count == 1)
        touch_all(&t, pointer, offset, size, end, 1, false);
    else
        touch_all(&t, pointer, offset, size, end, count, is_read(&t));
}

/* Neither who wrote nor who read has anything to do with what this work-item does now: they did it before `limit`, when all is
   ordered, or were the same work-item, in this group. Gives a number with the highest bit set then; stamps never have it. */
static inline uint64_t quiet(qn__check_stamp before, qn__check_stamp now, uint64_t limit, uint64_t group) {
    const uint64_t others =
        (before ^ now) & (QN__STAMP_ITEM | QN__STAMP_ATOMIC | QN__STAMP_SEVERAL | QN__STAMP_GROUPS);
    return (before - limit) | ((others - 1) & (group - 1 - before));
}

/* A cell for each work-item, most of them quiet, so that there is little to ask. */
static void touch_row(const toucher *t, qn__check_cell *cells, uint64_t address, uint64_t size, uint64_t end,
                      bool reads) {
    enum { AT_ONCE = 16 };
    const qn__check_window *w = &t->window;
    const uint64_t limit = (uint64_t)(t->region->is_local ? w->barrier : w->launch) << 32;
    const uint64_t group = (uint64_t)w->group << 32, next = (uint64_t)1 << QN__CHECK_ITEM_SHIFT;
    uint64_t i = 0;
    for (; i + AT_ONCE <= end; i += AT_ONCE) {
        uint64_t all = UINT64_MAX;
        for (uint64_t k = 0; k < AT_ONCE; k++) {
            const qn__check_stamp now = t->stamp + (i + k) * next;
            all &= quiet(cells[i + k].write, now, limit, group) & quiet(cells[i + k].read, now, limit, group);
        }
        if (!(all >> 63)) {
            for (uint64_t k = i; k < i + AT_ONCE; k++)
                touch(t, &cells[k], 1, reads, k, address + k * size, size);
        } else if (reads) {
            for (uint64_t k = i; k < i + AT_ONCE; k++) cells[k].read = t->stamp + k * next;
        } else {
            for (uint64_t k = i; k < i + AT_ONCE; k++) cells[k].write = t->stamp + k * next;
        }
    }
    for (; i < end; i++) touch(t, &cells[i], 1, reads, i, address + i * size, size);
}

void qn__check_race_row(qn__vm_frame *frame, const qn__vm_instr *instr, qn__check_region *region,
                        uint64_t address, uint64_t size, uint64_t end, qn__check_access access) {
    const toucher t = begin(frame, instr, region, access);
    const uint64_t offset = address - region->begin;
    qn__check_cell *cells = qn__check_cells(qn__check_state(frame)->checker, region, offset, size);
    if (!cells) return;
    const uint64_t count = size >> region->shift;
    if (count == 1)
        touch_row(&t, cells, address, size, end, is_read(&t));
    else
        for (uint64_t i = 0; i < end; i++)
            touch(&t, cells + i * count, count, is_read(&t), i, address + i * size, size);
}
