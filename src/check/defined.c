/* Undefined bits: where they come from, how ops hand them on, and where they matter, which is a branch, an address or what is
   written to buffers. What is told of once counts as defined from there on. */
#include "check/defined.h"

#include <stdio.h>
#include <string.h>

/* ---- which values may be undefined ---- */

typedef struct search {
    bool *tracked;
    bool buffers; /* too */
    bool changed;
} search;

static void track(search *s, const ir_value *value, bool tracked) {
    if (!tracked || s->tracked[value->id]) return;
    s->tracked[value->id] = s->changed = true;
}

static bool is_memory_op(const ir_instr *instr) {
    return instr->op == IR_LOAD || (instr->op >= IR_ATOMIC_LOAD && instr->op <= IR_ATOMIC_CAS);
}

static void visit(ir_instr *instr, void *user) {
    search *s = user;
    bool any = false;
    for (uint32_t k = 0; k < instr->num_operands; k++) any |= s->tracked[instr->operands[k]->id];
    const ir_receivers to = qn__ir_receivers(instr);
    for (uint32_t k = 0; k < to.count && k < instr->num_operands; k++)
        track(s, to.values[k], s->tracked[instr->operands[k]->id]);
    if (qn__ir_is_construct(instr)) return;
    if (is_memory_op(instr)) {
        const unsigned space = instr->operands[0]->type.space;
        any = space == IR_PRIVATE || space == IR_LOCAL_SPACE || space == IR_GENERIC_SPACE ||
              (s->buffers && space == IR_GLOBAL_SPACE);
    }
    any |= instr->op == IR_SUB_GROUP_SHUFFLE; /* from who is not there */
    for (uint32_t k = 0; k < instr->num_results && instr->op != IR_PRINTF; k++)
        track(s, instr->results[k], any);
}

const bool *qn__check_find_tracked(qn__arena *arena, const ir_function *kernel, bool buffers) {
    search s = {QN__NEW_ARRAY(arena, bool, kernel->num_values + 1u), buffers, true};
    while (s.changed) {
        s.changed = false;
        qn__ir_walk(kernel->body, visit, &s);
    }
    return s.tracked;
}

/* ---- what is known of operands ---- */

static const qn__check_note *note_of(const qn__vm_instr *instr) { return instr->note; }

bool qn__check_is_dirty(const qn__vm_frame *frame, const qn__vm_instr *instr, uint32_t k) {
    const qn__check_note *note = note_of(instr);
    return note->slots && note->slots[k] != QN__CHECK_CLEAN && qn__check_state(frame)->dirty[note->slots[k]];
}

static bool any_dirty(const qn__vm_frame *frame, const qn__vm_instr *instr) {
    for (uint32_t k = 0; k < instr->ir->num_operands; k++)
        if (qn__check_is_dirty(frame, instr, k)) return true;
    return false;
}

static void set_dirty(const qn__vm_frame *frame, const qn__vm_instr *instr, bool dirty) {
    if (note_of(instr)->is_tracked) qn__check_state(frame)->dirty[instr->result] = dirty;
}

/* ---- handing on ---- */

void qn__check_hand_on(qn__vm_frame *frame, const qn__vm_instr *instr) {
    const bool dirty = any_dirty(frame, instr);
    if (dirty) qn__check_hand_bits_on(frame, instr);
    set_dirty(frame, instr, dirty);
    instr->plain(frame, instr);
}

/* What is taken from a work-item that is not there, or does not take part, is undefined. */
void qn__check_hand_shuffle_on(qn__vm_frame *frame, const qn__vm_instr *instr) {
    const uint32_t *index = qn__vm_slot(frame, instr->b);
    const uint64_t size = frame->program->sub_group_size;
    uint8_t *dirty = &qn__check_state(frame)->dirty[instr->result];
    unsigned char *bits = qn__check_bits(frame, instr->result);
    qn__check_hand_on(frame, instr);
    for (uint64_t i = 0; i < frame->items && note_of(instr)->is_tracked; i++) {
        const uint64_t from = i / size * size + index[i];
        if (!frame->active[i] || (index[i] < size && from < frame->items && frame->active[from])) continue;
        qn__check_state(frame)->lost_shuffle = instr->ir;
        if (!*dirty) memset(bits, 0, qn__vm_extent(frame, instr->lanes) * instr->size);
        *dirty = true;
        for (unsigned l = 0; l < instr->lanes; l++)
            memset(bits + (l * frame->stride + i) * instr->size, 0xff, instr->size);
    }
}

/* The values that a jump or a loop hands over. */
static void hand_copy_over(const qn__vm_frame *frame, const qn__vm_copy *copy) {
    qn__check_run_state *r = qn__check_state(frame);
    const bool from_dirty = r->dirty[copy->from], all = frame->count == frame->all;
    if (!from_dirty && !r->dirty[copy->to]) return;
    unsigned char *from = qn__check_bits(frame, copy->from), *to = qn__check_bits(frame, copy->to);
    if (!r->dirty[copy->to])
        memset(to, 0, copy->lanes * frame->stride * copy->size); /* of those that wait, too */
    for (unsigned l = 0; l < copy->lanes; l++)
        for (uint64_t i = 0; i < frame->items; i++) {
            const uint64_t at = (l * frame->stride + i) * copy->size;
            if (!frame->active[i]) continue;
            if (from_dirty)
                memcpy(to + at, from + at, copy->size);
            else
                memset(to + at, 0, copy->size);
        }
    r->dirty[copy->to] = from_dirty || !all;
}

void qn__check_hand_copies(qn__vm_frame *frame, const qn__vm_instr *instr) {
    for (uint32_t k = 0; k < instr->num_copies; k++)
        if (instr->copies[k].tracked) hand_copy_over(frame, &instr->copies[k]);
}

static void hand_over(qn__vm_frame *frame, const qn__vm_instr *instr) {
    qn__check_hand_copies(frame, instr);
    instr->plain(frame, instr);
}

/* ---- where it matters ---- */

/* The first active work-item that has an undefined bit in the operand; its bits count as defined from now on. */
static bool find_undefined(qn__vm_frame *frame, const qn__vm_instr *instr, uint32_t k, uint64_t *item) {
    const ir_type type = instr->ir->operands[k]->type;
    const unsigned size = qn__vm_lane_size(type);
    unsigned char *bits = qn__check_bits(frame, note_of(instr)->slots[k]);
    bool found = false;
    for (uint64_t i = 0; i < frame->items; i++) {
        bool undefined = false;
        for (unsigned l = 0; l < type.lanes && frame->active[i]; l++) {
            const uint64_t at = l * frame->stride + i;
            undefined |= qn__vm_get(bits, size, at) != 0;
            qn__vm_set(bits, size, at, 0);
        }
        if (undefined && !found) *item = i;
        found |= undefined;
    }
    return found;
}

/* Whether a value of the work-item has an undefined bit, as its slot still tells. */
static bool is_undefined(const qn__vm_frame *frame, const ir_value *value, uint64_t item) {
    const qn__check_run_state *r = qn__check_state(frame);
    const uint32_t slot = r->program->slots[value->id];
    if (slot == QN__CHECK_CLEAN || !r->dirty[slot]) return false;
    const unsigned char *bits = qn__check_bits(frame, slot);
    for (unsigned l = 0; l < value->type.lanes; l++)
        if (qn__vm_get(bits, qn__vm_lane_size(value->type), l * frame->stride + item)) return true;
    return false;
}

/* What a break gives as the construct's result of that number. */
static const ir_value *left_with(const ir_region *region, const ir_instr *construct, uint32_t index) {
    for (const ir_instr *i = region->first; i; i = i->next) {
        if (i->op == IR_BREAK && i->attr.target == construct) return i->operands[index];
        for (uint32_t r = 0; r < i->num_regions; r++) {
            const ir_value *found = left_with(i->regions[r], construct, index);
            if (found) return found;
        }
    }
    return NULL;
}

/* The load that stands for a variable without a value (mem2reg.c), where a branch gives it, or a loop begins with it or leaves it. */
static const ir_instr *find_unset(const ir_value *value, unsigned depth) {
    enum { FAR = 8, UNSET = IR_VOLATILE | IR_READONLY };
    const ir_instr *def = value ? value->def : NULL, *found = NULL;
    if (!def || depth > FAR) return NULL;
    if (value->value_kind == IR_VALUE_PARAM) return find_unset(def->operands[value->index], depth + 1);
    if (value->value_kind != IR_VALUE_RESULT) return NULL;
    if (def->op == IR_LOAD)
        return (def->flags & UNSET) == UNSET && def->operands[0]->type.space == IR_PRIVATE ? def : NULL;
    if (def->op == IR_LOOP || def->op == IR_BLOCK)
        return find_unset(left_with(def->regions[0], def, value->index), depth + 1);
    for (uint32_t r = 0; r < def->num_regions && def->op == IR_IF && !found; r++) {
        const ir_instr *last = def->regions[r]->last;
        if (last && last->op == IR_YIELD) found = find_unset(last->operands[value->index], depth + 1);
    }
    return found;
}

/* The load that a value of the work-item comes from, or the shuffle that took nothing, as far as its instructions tell: of operands that
   are undefined, before others. */
static const ir_instr *find_load(const qn__vm_frame *frame, const ir_value *value, uint64_t item,
                                 unsigned depth) {
    enum { FAR = 24 };
    const qn__check_run_state *r = qn__check_state(frame);
    const bool *tracked = r->program->tracked;
    if (depth > FAR || !tracked[value->id] || !value->def) return NULL;
    if (value->value_kind == IR_VALUE_RESULT && is_memory_op(value->def)) return value->def;
    if (value->value_kind != IR_VALUE_RESULT || qn__ir_is_construct(value->def)) return find_unset(value, 0);
    for (int others = 0; others < 2; others++) {
        for (uint32_t k = 0; k < value->def->num_operands; k++) {
            const ir_value *operand = value->def->operands[k];
            const bool is_wanted = is_undefined(frame, operand, item) != (others != 0);
            const ir_instr *load = is_wanted ? find_load(frame, operand, item, depth + 1) : NULL;
            if (load) return load;
        }
        if (value->def == r->lost_shuffle) return value->def;
    }
    return NULL;
}

/* What a pointer leads into, as far as its instructions tell; NULL: that is not known. */
static const void *variable_of(const ir_function *kernel, const ir_value *pointer) {
    while (pointer->value_kind == IR_VALUE_RESULT && pointer->def->op == IR_PTR_ADD)
        pointer = pointer->def->operands[0];
    if (pointer->value_kind == IR_VALUE_ARG) return &kernel->args.data[pointer->index];
    if (pointer->value_kind != IR_VALUE_RESULT) return NULL;
    if (pointer->def->op == IR_VAR) return pointer->def->attr.var;
    return pointer->def->op == IR_LOCAL ? &kernel->locals.data[pointer->def->attr.index] : NULL;
}

/* Its name, and where it is declared, as far as that is known. */
static qn__check_origin variable_at(const ir_function *kernel, const ir_value *pointer) {
    while (pointer->value_kind == IR_VALUE_RESULT && pointer->def->op == IR_PTR_ADD)
        pointer = pointer->def->operands[0];
    if (pointer->value_kind == IR_VALUE_ARG)
        return (qn__check_origin){.name = pointer->name, .declared = kernel->args.data[pointer->index].loc};
    if (pointer->value_kind != IR_VALUE_RESULT) return (qn__check_origin){.name = pointer->name};
    if (pointer->def->op == IR_VAR)
        return (qn__check_origin){.name = pointer->def->attr.var->name, .declared = pointer->def->loc};
    if (pointer->def->op != IR_LOCAL) return (qn__check_origin){.name = pointer->name};
    const ir_local *local = &kernel->locals.data[pointer->def->attr.index];
    return (qn__check_origin){.name = local->name, .declared = local->loc};
}

static qn__check_origin *copied_into(qn__check_run_state *r, const void *variable) {
    for (unsigned k = 0; k < r->num_origins && variable; k++)
        if (r->origins[k].of == variable) return &r->origins[k];
    return NULL;
}

/* The variable that nobody has written, of which the value is made: not one that it was copied into. */
static qn__check_origin find_origin(const qn__vm_frame *frame, const ir_value *value, uint64_t item) {
    const ir_function *kernel = frame->program->kernel;
    const ir_instr *load = find_load(frame, value, item, 0);
    if (load && load->op == IR_SUB_GROUP_SHUFFLE) return (qn__check_origin){.shuffle = load};
    if (!load) return (qn__check_origin){.name = value->name};
    const qn__check_origin *copied =
        copied_into(qn__check_state(frame), variable_of(kernel, load->operands[0]));
    return copied ? *copied : variable_at(kernel, load->operands[0]);
}

static bool is_named(const qn__check_origin *origin) {
    return origin->name && origin->name[0] && origin->name[0] != '.';
}

/* Undefined bits are stored into a variable: the first time in a work-group, where they are from is kept. */
static void note_copy(const qn__vm_frame *frame, const qn__vm_instr *instr, uint32_t operand) {
    qn__check_run_state *r = qn__check_state(frame);
    const ir_value *value = instr->ir->operands[operand];
    const void *variable = variable_of(frame->program->kernel, instr->ir->operands[0]);
    if (!variable || r->num_origins == QN__CHECK_ORIGINS || copied_into(r, variable)) return;
    uint64_t item = 0;
    while (item < frame->items && !(frame->active[item] && is_undefined(frame, value, item))) item++;
    if (item == frame->items) return;
    qn__check_origin origin = find_origin(frame, value, item);
    origin.of = variable;
    if (is_named(&origin) || origin.shuffle) r->origins[r->num_origins++] = origin;
}

static void sink(qn__vm_frame *frame, const qn__vm_instr *instr, uint32_t k, const char *what) {
    uint64_t item = 0;
    if (!qn__check_is_dirty(frame, instr, k) || !find_undefined(frame, instr, k, &item)) return;
    const qn__check_origin origin = find_origin(frame, instr->ir->operands[k], item);
    const bool has_name = is_named(&origin);
    const qn__check_report found = {.kind = QN_FINDING_UNINITIALISED,
                                    .frame = frame,
                                    .instr = instr->ir,
                                    .item = item,
                                    .object = has_name ? origin.name : NULL,
                                    .declared = origin.declared};
    char text[96], source[192];
    if (origin.shuffle)
        snprintf(source, sizeof source,
                 "what a shuffle in line %u takes from a work-item that is not there, or elsewhere",
                 (unsigned)origin.shuffle->loc.line);
    else
        snprintf(source, sizeof source, "%s%.100s%s, which nobody has written", has_name ? "'" : "",
                 has_name ? origin.name : "memory", has_name ? "'" : "");
    QN__CHECK_REPORT(qn__check_state(frame)->checker, &found, "%s of %s depends on %s", what,
                     qn__check_item_text(frame, item, text), source);
}

static void branch(qn__vm_frame *frame, const qn__vm_instr *instr) {
    sink(frame, instr, 0, "a branch");
    instr->plain(frame, instr);
}

static void print(qn__vm_frame *frame, const qn__vm_instr *instr) {
    for (uint32_t k = 0; k < instr->ir->num_operands; k++) sink(frame, instr, k, "what is printed");
    instr->plain(frame, instr);
}

void qn__check_pointer_bits(qn__vm_frame *frame, const qn__vm_instr *instr, unsigned operand) {
    sink(frame, instr, operand, "an address");
}

/* ---- memory ---- */

/* Where the undefined bits of work-item i's bytes at an address are; NULL: they are defined. */
static unsigned char *bits_at(const qn__vm_frame *frame, uint64_t address) {
    const qn__check_run_state *r = qn__check_state(frame);
    if (address - (uintptr_t)frame->privates < r->private_bytes)
        return r->private_shadow + (address - (uintptr_t)frame->privates);
    if (address - (uintptr_t)frame->local < r->local_size)
        return r->local_shadow + (address - (uintptr_t)frame->local);
    const qn__check_region *region = r->program->buffers ? qn__check_find(r->checker, address) : NULL;
    return region && region->bits ? region->bits + (address - region->begin) : NULL;
}

static const qn__check_object *object_of(const qn__vm_frame *frame, const qn__vm_instr *instr,
                                         unsigned operand) {
    return &qn__check_state(frame)->objects[instr->objects[operand]];
}

static bool has_bits(const qn__check_object *object) { return !object->is_known || object->shadow; }

static unsigned char *bits_of(const qn__vm_frame *frame, const qn__check_object *object, uint64_t address) {
    return object->is_known ? (unsigned char *)(uintptr_t)(address + object->shadow)
                            : bits_at(frame, address);
}

/* Whether any of the bytes that are loaded has an undefined bit: of a known object, and of one lane. */
static bool any_undefined(const qn__vm_frame *frame, const qn__check_object *object, const uint64_t *pointer,
                          uint64_t offset, unsigned size, uint64_t end) {
    const uint64_t shadow = object->shadow + offset;
    uint64_t any = 0;
    for (uint64_t i = 0; i < end; i++) {
        uint64_t bits = 0;
        if (!frame->active[i]) continue;
        const unsigned char *from = (const unsigned char *)(uintptr_t)(pointer[i] + shadow);
        switch (size) { /* each a load of the processor's */
        case 4: memcpy(&bits, from, 4); break;
        case 8: memcpy(&bits, from, 8); break;
        case 2: memcpy(&bits, from, 2); break;
        default: bits = *from;
        }
        any |= bits;
    }
    return any != 0;
}

static void gather_bits(const qn__vm_frame *frame, const qn__vm_instr *instr,
                        const qn__check_object *object) {
    const uint64_t *pointer = qn__vm_slot(frame, instr->a), offset = (uint64_t)instr->ir->attr.offset;
    const unsigned size = instr->size;
    unsigned char *to = qn__check_bits(frame, instr->result);
    for (unsigned l = 0; l < instr->lanes; l++)
        for (uint64_t i = 0; i < frame->items; i++) {
            unsigned char *at = to + (l * frame->stride + i) * size;
            const unsigned char *from =
                frame->active[i] ? bits_of(frame, object, pointer[i] + offset + l * size) : NULL;
            if (from)
                memcpy(at, from, size);
            else
                memset(at, 0, size);
        }
}

static bool any_bits(const unsigned char *bits, uint64_t size) {
    uint64_t any = 0;
    for (; size >= 8; bits += 8, size -= 8) {
        uint64_t word;
        memcpy(&word, bits, 8);
        any |= word;
    }
    while (size--) any |= *bits++;
    return any != 0;
}

void qn__check_load_bits(qn__vm_frame *frame, const qn__vm_instr *instr, uint64_t end, bool is_row) {
    const qn__check_object *object = object_of(frame, instr, 0);
    const uint64_t *pointer = qn__vm_slot(frame, instr->a), offset = (uint64_t)instr->ir->attr.offset;
    if (!note_of(instr)->is_tracked) return;
    bool dirty = has_bits(object);
    if (is_row && dirty) {
        dirty = any_bits(bits_of(frame, object, pointer[0] + offset), end * instr->size);
    } else if (object->is_known && dirty) {
        dirty = false;
        for (unsigned l = 0; l < instr->lanes && !dirty; l++)
            dirty = any_undefined(frame, object, pointer, offset + l * instr->size, instr->size, end);
    }
    if (dirty) gather_bits(frame, instr, object);
    qn__check_state(frame)->dirty[instr->result] = dirty;
}

/* Whether the bytes may be in a buffer, where undefined bits are an output. */
static bool is_output(const qn__vm_instr *instr) {
    const unsigned space = instr->ir->operands[0]->type.space;
    return space == IR_GLOBAL_SPACE || space == IR_CONSTANT_SPACE;
}

void qn__check_store_bits(qn__vm_frame *frame, const qn__vm_instr *instr, bool is_row) {
    const qn__check_object *object = object_of(frame, instr, 0);
    const bool is_cas = instr->ir->op == IR_ATOMIC_CAS, is_rmw = instr->ir->op == IR_ATOMIC_RMW;
    const uint32_t operand = is_cas ? 2 : 1;
    if (is_output(instr)) {
        sink(frame, instr, operand, "what is written to a buffer");
        if (is_cas) sink(frame, instr, 1, "an atomic comparison");
        if (!object->shadow) return;
    }
    if (!has_bits(object)) return;
    const uint64_t *pointer = qn__vm_slot(frame, instr->a), offset = (uint64_t)instr->ir->attr.offset;
    const bool dirty = qn__check_is_dirty(frame, instr, operand);
    const bool joins = is_cas || (is_rmw && instr->ir->attr.combine != IR_COMBINE_XCHG);
    const unsigned char *from = dirty ? qn__check_bits(frame, note_of(instr)->slots[operand]) : NULL;
    if (joins && !dirty) return;
    if (dirty) note_copy(frame, instr, operand);
    if (is_row && !dirty) {
        memset(bits_of(frame, object, pointer[0] + offset), 0, frame->count * instr->size);
        return;
    }
    for (unsigned l = 0; l < instr->lanes; l++)
        for (uint64_t i = 0; i < frame->items; i++) {
            unsigned char *to =
                frame->active[i] ? bits_of(frame, object, pointer[i] + offset + l * instr->size) : NULL;
            if (!to) continue;
            if (dirty)
                memcpy(to, from + (l * frame->stride + i) * instr->size, instr->size);
            else
                memset(to, 0, instr->size);
        }
}

void qn__check_copy_bits(qn__vm_frame *frame, const qn__vm_instr *instr) {
    const qn__check_object *to = object_of(frame, instr, 0), *from = object_of(frame, instr, 1);
    const uint64_t *to_pointer = qn__vm_slot(frame, instr->a), *from_pointer = qn__vm_slot(frame, instr->b);
    const size_t size = (size_t)instr->ir->attr.size;
    for (uint64_t i = 0; i < frame->items && has_bits(to); i++) {
        if (!frame->active[i]) continue;
        unsigned char *at = bits_of(frame, to, to_pointer[i]);
        const unsigned char *source = has_bits(from) ? bits_of(frame, from, from_pointer[i]) : NULL;
        if (at && source)
            memmove(at, source, size);
        else if (at)
            memset(at, 0, size);
    }
}

qn__vm_handler *qn__check_pick_bits(const ir_instr *instr) {
    switch (instr->op) {
    case IR_IF: return branch;
    case IR_PRINTF: return print;
    case IR_BLOCK: return NULL;
    default: return qn__ir_is_jump(instr) ? hand_over : qn__check_hand_on;
    }
}
