/* Every access of a kernel: whether it is within what its pointer leads to, aligned and allowed. One that is not is told and
   not done: its work-items are taken out of the mask while the interpreter does it, and what they load is zero. */
#include <stdio.h>
#include <string.h>

#include "check/internal.h"

enum { NEAR_NULL = 4096 };

/* One access of an instruction: COPY has two. */
typedef struct access {
    qn__vm_frame *frame;
    const qn__vm_instr *instr;
    unsigned operand;
    const uint64_t *pointer;
    uint64_t offset, size, align;
    uint64_t end; /* one past the last work-item that is active */
    bool
        is_row; /* all before it are, and each accesses the bytes behind those of the one before, all of them inside */
    qn__check_access kind;
} access;

static bool writes(const access *a) { return a->kind == QN__CHECK_WRITE || a->kind == QN__CHECK_ATOMIC; }
static bool is_atomic(const access *a) {
    return a->kind == QN__CHECK_ATOMIC_READ || a->kind == QN__CHECK_ATOMIC;
}

static const qn__vm_object *vm_object(const access *a) {
    return &a->frame->program->objects.data[a->instr->objects[a->operand]];
}

/* ---- taking work-items out ---- */

static void refuse(qn__vm_frame *frame, uint64_t i) {
    qn__check_run_state *r = qn__check_state(frame);
    if (!r->is_masked) memcpy(r->saved, frame->active, frame->items);
    r->is_masked = true;
    frame->count -= frame->active[i];
    frame->active[i] = 0;
}

static void take_back(qn__vm_frame *frame, const qn__vm_instr *instr) {
    qn__check_run_state *r = qn__check_state(frame);
    const bool has_result = instr->ir->num_results != 0;
    for (uint64_t i = 0; i < frame->items; i++) {
        if (r->saved[i] == frame->active[i]) continue;
        frame->active[i] = 1;
        frame->count++;
        for (unsigned l = 0; has_result && l < instr->lanes; l++)
            qn__vm_set(qn__vm_slot(frame, instr->result), instr->size, l * frame->stride + i, 0);
    }
    r->is_masked = false;
}

/* ---- what is wrong ---- */

static const char *verb(const access *a) {
    if (a->kind == QN__CHECK_READ || a->kind == QN__CHECK_ATOMIC_READ) return "reads";
    return a->instr->ir->op == IR_ATOMIC_RMW || a->instr->ir->op == IR_ATOMIC_CAS ? "changes" : "writes";
}

static const char *kind_of(const qn__vm_object *object) {
    switch (object->kind) {
    case QN__VM_PRIVATE: return "a private variable";
    case QN__VM_LOCAL: return "a local variable";
    case QN__VM_LOCAL_ARG: return "local memory";
    case QN__VM_CONSTANT: return "a constant object";
    case QN__VM_STRUCT: return "an argument";
    default: return "a buffer";
    }
}

static bool has_name(const qn__vm_object *object) {
    return object->name && object->name[0] && object->name[0] != '.';
}

static void tell(const access *a, qn_finding_kind kind, uint64_t i, const qn__check_object *object,
                 const char *where) {
    const qn__vm_object *known = vm_object(a);
    const uint64_t address = a->pointer[i] + a->offset;
    char item[96];
    const qn__check_report found = {.kind = kind,
                                    .frame = a->frame,
                                    .instr = a->instr->ir,
                                    .item = i,
                                    .object = has_name(known) ? known->name : NULL,
                                    .object_size = object ? object->size : 0,
                                    .size = a->size,
                                    .offset =
                                        object ? (int64_t)(address - (object->begin + i * object->step)) : 0,
                                    .declared = known->loc,
                                    .region = object ? object->region : NULL,
                                    .object_begin = object ? object->begin : 0};
    QN__CHECK_REPORT(qn__check_state(a->frame)->checker, &found, "%s %s %llu byte%s %s",
                     qn__check_item_text(a->frame, i, item), verb(a), (unsigned long long)a->size,
                     a->size == 1 ? "" : "s", where);
}

/* "at byte 32 of 'out', a buffer of 32 bytes" */
static void tell_outside(const access *a, uint64_t i, const qn__check_object *object) {
    const qn__vm_object *known = vm_object(a);
    const long long distance = (long long)(a->pointer[i] + a->offset - (object->begin + i * object->step));
    char where[256];
    if (known->kind == QN__VM_BUFFER && !object->size) {
        snprintf(where, sizeof where, "through '%.100s', which is null", known->name);
        tell(a, QN_FINDING_NULL_POINTER, i, object, where);
        return;
    }
    if (has_name(known))
        snprintf(where, sizeof where, "at byte %lld of '%.100s', %s of %llu bytes", distance, known->name,
                 kind_of(known), (unsigned long long)object->size);
    else
        snprintf(where, sizeof where, "at byte %lld of %s of %llu bytes", distance, kind_of(known),
                 (unsigned long long)object->size);
    tell(a, QN_FINDING_OUT_OF_BOUNDS, i, object, where);
}

static void tell_misaligned(const access *a, uint64_t i) {
    char where[128];
    snprintf(where, sizeof where,
             "at an address that is %llu bytes past a multiple of %llu, which its type needs",
             (unsigned long long)((a->pointer[i] + a->offset) % a->align), (unsigned long long)a->align);
    tell(a, QN_FINDING_MISALIGNED, i, NULL, where);
}

static void tell_read_only(const access *a, uint64_t i, const qn__check_object *object) {
    const qn__vm_object *known = vm_object(a);
    char where[192];
    snprintf(where, sizeof where, "of %s%.100s%s, which is read-only", has_name(known) ? "'" : "",
             has_name(known) ? known->name : "constant memory", has_name(known) ? "'" : "");
    tell(a, QN_FINDING_READ_ONLY, i, object, where);
}

/* ---- pointers that may lead anywhere ---- */

static bool holds(uint64_t begin, uint64_t size, uint64_t address, uint64_t bytes) {
    return bytes <= size && address - begin <= size - bytes;
}

/* The memory that work-item i's pointer leads to, with all of the bytes. */
static bool look_up(const access *a, uint64_t i, uint64_t address, qn__check_object *found) {
    qn__check_run_state *r = qn__check_state(a->frame);
    const qn__vm_program *program = a->frame->program;
    for (size_t k = 1; k < program->objects.len; k++) {
        *found = r->objects[k];
        found->begin += i * found->step;
        found->step = 0;
        if (holds(found->begin, found->size, address, a->size)) return true;
    }
    *found = (qn__check_object){.is_read_only = true, .is_known = true};
    for (size_t k = 0; k < program->kernel->module->globals.len; k++) { /* reached from others */
        found->begin = (uintptr_t)program->globals[k],
        found->size = program->kernel->module->globals.data[k].size;
        if (holds(found->begin, found->size, address, a->size)) return true;
    }
    qn__check_region *region = qn__check_find(r->checker, address);
    *found = (qn__check_object){.region = region, .is_known = true};
    if (!region) return false;
    found->begin = region->begin, found->size = region->size;
    return !region->is_freed && holds(region->begin, region->size, address, a->size);
}

/* The memory of the launch that ends or begins nearest to an address, where that is within a few bytes: what a pointer from a
   table has most likely left. NULL: there is none. */
static const qn__vm_object *nearest(const access *a, uint64_t i, uint64_t address, qn__check_object *found) {
    enum { NEAR = 4096 };
    const qn__check_run_state *r = qn__check_state(a->frame);
    const qn__vm_program *program = a->frame->program;
    const qn__vm_object *best = NULL;
    uint64_t least = NEAR;
    for (size_t k = 1; k < program->objects.len; k++) {
        const qn__check_object *object = &r->objects[k];
        const uint64_t begin = object->begin + i * object->step, end = begin + object->size;
        const uint64_t distance = address < begin ? begin - address : address >= end ? address - end : 0;
        if (!object->is_known || !object->size || distance >= least || !has_name(&program->objects.data[k]))
            continue;
        least = distance;
        best = &program->objects.data[k];
        *found = *object;
        found->begin = begin;
    }
    return best;
}

static void tell_wild(const access *a, uint64_t i) {
    const uint64_t address = a->pointer[i] + a->offset;
    qn__check_object near;
    const qn__vm_object *object = nearest(a, i, address, &near);
    char where[256];
    if (object)
        snprintf(
            where, sizeof where,
            "in no memory that it may use: at byte %lld of '%.100s', %s of %llu bytes, which is the nearest",
            (long long)(address - near.begin), object->name, kind_of(object), (unsigned long long)near.size);
    else
        snprintf(where, sizeof where, "at 0x%llx, which is in no memory that it may use, or past its end",
                 (unsigned long long)address);
    tell(a, QN_FINDING_WILD_POINTER, i, NULL, where);
}

static void tell_lost(const access *a, uint64_t i, const qn__check_object *near) {
    const uint64_t address = a->pointer[i] + a->offset;
    char where[160];
    if (address < NEAR_NULL) {
        tell(a, QN_FINDING_NULL_POINTER, i, NULL, "through a null pointer");
    } else if (near->region && near->region->is_freed) {
        snprintf(where, sizeof where, "at byte %llu of a buffer of %llu bytes that has been destroyed",
                 (unsigned long long)(address - near->begin), (unsigned long long)near->size);
        tell(a, QN_FINDING_FREED_BUFFER, i, near, where);
    } else if (near->region) {
        snprintf(where, sizeof where, "at byte %llu of a buffer of %llu bytes",
                 (unsigned long long)(address - near->begin), (unsigned long long)near->size);
        tell(a, QN_FINDING_OUT_OF_BOUNDS, i, near, where);
    } else {
        tell_wild(a, i);
    }
}

/* ---- one work-item after another ---- */

static bool is_inside(const access *a, uint64_t i, const qn__check_object *object, qn__check_object *found) {
    const uint64_t address = a->pointer[i] + a->offset;
    if (!object->is_known) {
        if (look_up(a, i, address, found)) return true;
        tell_lost(a, i, found);
        return false;
    }
    *found = *object;
    if (holds(object->begin + i * object->step, object->size, address, a->size)) return true;
    tell_outside(a, i, object);
    return false;
}

static void check_one(const access *a, uint64_t i, const qn__check_object *object) {
    qn__check_object found;
    const uint64_t address = a->pointer[i] + a->offset;
    if (!is_inside(a, i, object, &found)) {
        refuse(a->frame, i);
        return;
    }
    if (writes(a) && found.is_read_only) {
        tell_read_only(a, i, &found);
        refuse(a->frame, i);
        return;
    }
    if (a->align > 1 && address % a->align) {
        tell_misaligned(a, i);
        if (is_atomic(a)) refuse(a->frame, i);
        if (is_atomic(a)) return;
    }
    if (found.region && (found.region->is_written || found.region->is_local))
        qn__check_race(a->frame, a->instr, found.region, i, address, a->size, a->kind);
}

/* ---- all at once ---- */

/* Without branches, as bounds.c does it: of `at` and what is left behind it, neither has the highest bit. */
static bool all_inside(const access *a, const qn__check_object *object, uint64_t *bits) {
    const qn__vm_frame *frame = a->frame;
    if (!object->is_known || a->size > object->size) return false;
    const uint64_t begin = object->begin - a->offset, step = object->step, most = object->size - a->size;
    const uint64_t *pointer = a->pointer, low = a->align > 1 ? a->align - 1 : 0;
    const uint8_t *active = frame->active;
    uint64_t outside = 0, uneven = 0;
    if (frame->count == frame->items)
        for (uint64_t i = 0, n = a->end; i < n; i++) {
            const uint64_t at = pointer[i] - begin - i * step;
            outside |= at | (most - at);
            uneven |= pointer[i] + a->offset;
        }
    else
        for (uint64_t i = 0, n = a->end; i < n; i++) {
            const uint64_t at = pointer[i] - begin - i * step, mask = 0 - (uint64_t)active[i];
            outside |= (at | (most - at)) & mask;
            uneven |= (pointer[i] + a->offset) & mask;
        }
    *bits = uneven;
    return !(outside >> 63) && !(uneven & low);
}

/* Most accesses are of neighbours: then one look at both ends tells where all of them are. */
static bool is_row_inside(const access *a, const qn__check_object *object) {
    const uint64_t *pointer = a->pointer, first = pointer[0], size = a->size, end = a->end;
    if (a->frame->count != end || a->instr->lanes != 1 || !object->is_known || object->step || is_atomic(a))
        return false;
    if (pointer[end - 1] != first + (end - 1) * size) return false;
    uint64_t differ = 0, wanted = first;
    for (uint64_t i = 0; i < end; i++, wanted += size) differ |= pointer[i] ^ wanted;
    if (differ || (a->align > 1 && ((first + a->offset) | size) & (a->align - 1))) return false;
    return holds(object->begin, object->size, first + a->offset, end * size);
}

static void check(access *a) {
    qn__check_run_state *r = qn__check_state(a->frame);
    const qn__check_object *object = &r->objects[a->instr->objects[a->operand]];
    qn__check_region *region = object->region;
    if (!a->size) return;
    if (a->end && !(writes(a) && object->is_read_only)) a->is_row = is_row_inside(a, object);
    if (a->is_row) {
        if (region && (region->is_written || region->is_local))
            qn__check_race_row(a->frame, a->instr, region, a->pointer[0] + a->offset, a->size, a->end,
                               a->kind);
        return;
    }
    uint64_t bits = 0; /* of all addresses */
    if (!all_inside(a, object, &bits) || (writes(a) && object->is_read_only)) {
        for (uint64_t i = 0; i < a->end; i++)
            if (a->frame->active[i]) check_one(a, i, object);
        return;
    }
    if (!region || !(region->is_written || region->is_local)) return;
    const bool is_fine = region->shift == 0 || (bits | a->size) % 4 == 0;
    if (qn__check_cells(r->checker, region, is_fine ? 0 : 1, is_fine ? 4 : 1))
        qn__check_race_all(a->frame, a->instr, region, a->pointer, a->offset, a->size, a->end, a->kind);
}

static access describe(qn__vm_frame *frame, const qn__vm_instr *instr, unsigned operand,
                       qn__check_access kind) {
    const ir_instr *ir = instr->ir;
    const bool is_copy = ir->op == IR_COPY;
    access a = {.frame = frame,
                .instr = instr,
                .operand = operand,
                .pointer = qn__vm_slot(frame, operand ? instr->b : instr->a),
                .align = ir->attr.align,
                .end = frame->items,
                .kind = kind};
    while (a.end && !frame->active[a.end - 1]) a.end--;
    a.offset = is_copy ? 0 : (uint64_t)ir->attr.offset;
    a.size = is_copy ? ir->attr.size : (uint64_t)instr->lanes * instr->size;
    if (is_atomic(&a)) a.align = a.size;
    return a;
}

/* An atomic of one work-item after another, in an order that follows from the seed. */
static void run_in_order(qn__vm_frame *frame, const qn__vm_instr *instr) {
    uint8_t *active = frame->active;
    const uint64_t n = frame->items, first = qn__check_state(frame)->checker->settings.seed % n;
    uint8_t *all = qn__check_state(frame)->ordered;
    memcpy(all, active, n);
    memset(active, 0, n);
    for (uint64_t k = 0; k < n; k++) {
        const uint64_t i = (first + n - k) % n;
        if (!all[i]) continue;
        active[i] = 1;
        instr->plain(frame, instr);
        active[i] = 0;
    }
    memcpy(active, all, n);
}

/* What the interpreter would do, at once. */
static void move_row(const access *a) {
    void *memory = (void *)(uintptr_t)(a->pointer[0] + a->offset);
    if (writes(a))
        memcpy(memory, qn__vm_slot(a->frame, a->instr->b), a->end * a->size);
    else
        memcpy(qn__vm_slot(a->frame, a->instr->result), memory, a->end * a->size);
}

static void run(qn__vm_frame *frame, const qn__vm_instr *instr, qn__check_access kind) {
    access a = describe(frame, instr, 0, kind);
    qn__check_pointer_bits(frame, instr, 0);
    check(&a);
    if (kind == QN__CHECK_WRITE || kind == QN__CHECK_ATOMIC) qn__check_store_bits(frame, instr, a.is_row);
    if (a.is_row)
        move_row(&a);
    else if (is_atomic(&a) && qn__check_state(frame)->checker->settings.seed)
        run_in_order(frame, instr);
    else
        instr->plain(frame, instr);
    if (instr->ir->num_results) qn__check_load_bits(frame, instr, a.end, a.is_row);
    if (is_atomic(&a)) qn__check_order_atomic(frame, instr);
    if (qn__check_state(frame)->is_masked) take_back(frame, instr);
}

static void load(qn__vm_frame *frame, const qn__vm_instr *instr) { run(frame, instr, QN__CHECK_READ); }
static void store(qn__vm_frame *frame, const qn__vm_instr *instr) { run(frame, instr, QN__CHECK_WRITE); }
static void atomic_read(qn__vm_frame *frame, const qn__vm_instr *instr) {
    run(frame, instr, QN__CHECK_ATOMIC_READ);
}
static void atomic_change(qn__vm_frame *frame, const qn__vm_instr *instr) {
    run(frame, instr, QN__CHECK_ATOMIC);
}

static void copy(qn__vm_frame *frame, const qn__vm_instr *instr) {
    access to = describe(frame, instr, 0, QN__CHECK_WRITE), from = describe(frame, instr, 1, QN__CHECK_READ);
    qn__check_pointer_bits(frame, instr, 0);
    qn__check_pointer_bits(frame, instr, 1);
    check(&from);
    check(&to);
    qn__check_copy_bits(frame, instr);
    instr->plain(frame, instr);
    if (qn__check_state(frame)->is_masked) take_back(frame, instr);
}

qn__vm_handler *qn__check_pick_access(const ir_instr *instr) {
    switch (instr->op) {
    case IR_LOAD: return load;
    case IR_STORE: return store;
    case IR_COPY: return copy;
    case IR_ATOMIC_LOAD: return atomic_read;
    case IR_ATOMIC_STORE:
    case IR_ATOMIC_RMW:
    case IR_ATOMIC_CAS: return atomic_change;
    default: return NULL;
    }
}
