/* The bounds of every access: a kernel that goes outside of what its pointer leads to ends with a message, and the host's
   memory stays as it was. Where it is known to which object a pointer leads (objects.c), the access must lie in it; other
   pointers may lead to any memory of the launch and the device, if all bytes of the access lie in one piece of it. */
#include <stdio.h>
#include <string.h>

#include "vm/internal.h"

/* An object's bytes: work-item i's begin at begin + i * step. */
typedef struct extent {
    uint64_t begin, step, size;
} extent;

static uint64_t word_of(const qn__vm_frame *frame, uint32_t arg) {
    uint64_t word;
    memcpy(&word, frame->launch->args + frame->program->args.data[arg].offset, sizeof word);
    return word;
}

static extent extent_of(const qn__vm_frame *frame, const qn__vm_object *object) {
    const qn__vm_program *program = frame->program;
    const uint64_t local = (uintptr_t)frame->local, privates = (uintptr_t)frame->privates;
    switch (object->kind) {
    case QN__VM_BUFFER:
        return (extent){word_of(frame, object->index), 0, frame->bounds->extents[object->index]};
    case QN__VM_LOCAL_ARG:
        return (extent){local + word_of(frame, object->index), 0, frame->bounds->extents[object->index]};
    case QN__VM_STRUCT:
        return (extent){(uintptr_t)frame->launch->args + program->args.data[object->index].offset, 0,
                        object->size};
    case QN__VM_PRIVATE: return (extent){privates + object->place, program->private_size, object->size};
    case QN__VM_LOCAL: return (extent){local + object->place, 0, object->size};
    case QN__VM_CONSTANT: return (extent){(uintptr_t)program->globals[object->index], 0, object->size};
    default: return (extent){0};
    }
}

static bool holds(const extent *e, uint64_t i, uint64_t address, uint64_t size) {
    return size <= e->size && address - (e->begin + i * e->step) <= e->size - size;
}

/* ---- pointers that may lead anywhere ---- */

/* Memory that work-item i may access and that has all of the bytes. */
static bool look_up(qn__vm_frame *frame, uint64_t i, uint64_t address, uint64_t size, extent *found) {
    const qn__vm_program *program = frame->program;
    const qn__vm_bounds *bounds = frame->bounds;
    *found = (extent){frame->hit[0], 0, frame->hit[1]};
    if (holds(found, 0, address, size)) return true;
    for (size_t k = 1; k < program->objects.len; k++) {
        const extent e = extent_of(frame, &program->objects.data[k]);
        if (!holds(&e, i, address, size)) continue;
        *found = (extent){e.begin + i * e.step, 0, e.size};
        if (e.step == 0) frame->hit[0] = e.begin, frame->hit[1] = e.size;
        return true;
    }
    for (size_t k = 0; k < program->kernel->module->globals.len; k++) { /* reached from others */
        *found = (extent){(uintptr_t)program->globals[k], 0, program->kernel->module->globals.data[k].size};
        if (holds(found, 0, address, size)) return true;
    }
    if (!bounds->find_memory || !bounds->find_memory(bounds->user, address, &found->begin, &found->size))
        return false;
    frame->hit[0] = found->begin, frame->hit[1] = found->size;
    return holds(found, 0, address, size);
}

/* ---- messages ---- */

static const char *verb(const qn__vm_instr *instr, unsigned operand) {
    switch (instr->ir->op) {
    case IR_LOAD:
    case IR_ATOMIC_LOAD: return "reads";
    case IR_COPY:
    case IR_PANEL_PRODUCT: return operand ? "reads" : "writes";
    case IR_ATOMIC_RMW:
    case IR_ATOMIC_CAS: return "changes";
    case IR_PRINTF: return "prints a string of";
    default: return "writes";
    }
}

static uint64_t global_id(const qn__vm_frame *frame, unsigned d, uint64_t i) {
    const uint64_t group = d == 0 ? frame->group_x[i] : d == 1 ? frame->group_y : frame->group_z;
    return frame->launch->global_offset[d] + group * frame->launch->local_size[d] + frame->local_id[d][i];
}

/* "saxpy.cl:3: work-item 7 reads 4 bytes": all but where. */
static size_t put_access(const qn__vm_frame *frame, const qn__vm_instr *instr, unsigned operand, uint64_t i,
                         uint64_t size) {
    const ir_module *module = frame->program->kernel->module;
    const ir_loc loc = instr->ir->loc.line ? instr->ir->loc : frame->program->kernel->loc;
    char *at = frame->why, item[80] = "";
    const char *const end = at + QN__VM_WHY;
    size_t length = 0;
    for (unsigned d = 0; d < frame->launch->work_dim && d < 3; d++)
        length += (size_t)snprintf(item + length, sizeof item - length, "%s%llu", d ? "," : "",
                                   (unsigned long long)global_id(frame, d, i));
    if (loc.line && loc.file < module->files.len)
        at += snprintf(at, 200, "%.180s:%u: ", module->files.data[loc.file], (unsigned)loc.line);
    const bool several = frame->launch->work_dim > 1;
    at += snprintf(at, (size_t)(end - at), "work-item %s%s%s %s %llu byte%s ", several ? "(" : "", item,
                   several ? ")" : "", verb(instr, operand), (unsigned long long)size, size == 1 ? "" : "s");
    return (size_t)(at - frame->why);
}

static const char *kind_text(qn__vm_object_kind kind) {
    switch (kind) {
    case QN__VM_PRIVATE: return "a private variable";
    case QN__VM_LOCAL: return "a local variable";
    case QN__VM_CONSTANT: return "a constant object";
    default: return "an argument";
    }
}

/* Where an access is outside of what the pointer leads to. */
static void put_place(const qn__vm_object *object, const extent *e, uint64_t i, uint64_t address, char *to,
                      size_t room) {
    enum { NEAR_NULL = 4096 };
    const long long distance = (long long)(address - (e->begin + i * e->step));
    const bool is_named = object->name && object->name[0] && object->name[0] != '.';
    const char *quote = is_named ? "'" : "", *name = is_named ? object->name : kind_text(object->kind);
    if (object->kind == QN__VM_UNKNOWN && address < NEAR_NULL)
        snprintf(to, room, "through a null pointer");
    else if (object->kind == QN__VM_UNKNOWN)
        snprintf(to, room, "at 0x%llx, which is in no memory that it may use, or past its end",
                 (unsigned long long)address);
    else if (e->size == 0 && object->kind == QN__VM_BUFFER)
        snprintf(to, room, "through %s%.100s%s, which is null", quote, name, quote);
    else
        snprintf(to, room, "at byte %lld of %s%.100s%s, which has %llu", distance, quote, name, quote,
                 (unsigned long long)e->size);
}

static bool stop(qn__vm_frame *frame) {
    frame->error = frame->why;
    frame->count = 0;
    return false;
}

static bool refuse(qn__vm_frame *frame, const qn__vm_instr *instr, unsigned operand, uint64_t i,
                   uint64_t address, uint64_t size, bool is_inside) {
    const qn__vm_object *object = &frame->program->objects.data[instr->objects[operand]];
    const extent e = extent_of(frame, object);
    const size_t length = put_access(frame, instr, operand, i, size);
    char *to = frame->why + length;
    const size_t room = QN__VM_WHY - length;
    if (is_inside)
        snprintf(to, room, "at 0x%llx, but atomics are done at multiples of their size",
                 (unsigned long long)address);
    else
        put_place(object, &e, i, address, to, room);
    return stop(frame);
}

/* ---- checks ---- */

static bool is_inside(qn__vm_frame *frame, const qn__vm_object *object, const extent *e, uint64_t i,
                      uint64_t address, uint64_t size) {
    extent found;
    return object->kind == QN__VM_UNKNOWN ? look_up(frame, i, address, size, &found)
                                          : holds(e, i, address, size);
}

/* One work-item after another, to the first that may not. Atomics do not cross what the processor does at once. */
static bool check_each(qn__vm_frame *frame, const qn__vm_instr *instr, unsigned operand,
                       const uint64_t *pointer, uint64_t offset, uint64_t size, bool is_atomic) {
    const qn__vm_object *object = &frame->program->objects.data[instr->objects[operand]];
    const extent e = extent_of(frame, object);
    for (uint64_t i = 0; i < frame->items; i++) {
        const uint64_t address = pointer[i] + offset;
        if (!frame->active[i]) continue;
        const bool inside = is_inside(frame, object, &e, i, address, size);
        if (!inside || (is_atomic && address % size))
            return refuse(frame, instr, operand, i, address, size, inside);
    }
    return true;
}

/* Whether all active work-items are within a known object, without branches and in operations that every processor has for
   vectors: of `at` and what is left behind it, neither has the highest bit (objects are smaller than that). */
static bool all_inside(const qn__vm_frame *frame, const extent *e, const uint64_t *pointer, uint64_t offset,
                       uint64_t size) {
    if (size > e->size) return false;
    const uint64_t begin = e->begin - offset, step = e->step, most = e->size - size;
    const uint8_t *active = frame->active;
    uint64_t outside = 0;
    if (frame->count == frame->items)
        for (uint64_t i = 0, n = frame->items; i < n; i++) {
            const uint64_t at = pointer[i] - begin - i * step;
            outside |= at | (most - at);
        }
    else
        for (uint64_t i = 0, n = frame->items; i < n; i++) {
            const uint64_t at = pointer[i] - begin - i * step;
            outside |= (at | (most - at)) & (0 - (uint64_t)active[i]);
        }
    return !(outside >> 63);
}

static bool all_aligned(const qn__vm_frame *frame, const uint64_t *pointer, uint64_t offset, uint64_t size) {
    uint64_t bits = 0;
    for (uint64_t i = 0, n = frame->items; i < n; i++)
        bits |= (pointer[i] + offset) & (0 - (uint64_t)frame->active[i]);
    return bits % size == 0;
}

bool qn__vm_may_access(qn__vm_frame *frame, const qn__vm_instr *instr, unsigned operand, int64_t offset,
                       uint64_t size) {
    if (!frame->bounds || !size) return true;
    const uint64_t *pointer = qn__vm_slot(frame, operand == 0   ? instr->a
                                                 : operand == 1 ? instr->b
                                                                : instr->c);
    const bool is_atomic = instr->ir->op >= IR_ATOMIC_LOAD && instr->ir->op <= IR_ATOMIC_CAS;
    const extent e = extent_of(frame, &frame->program->objects.data[instr->objects[operand]]);
    if (all_inside(frame, &e, pointer, (uint64_t)offset, size) &&
        (!is_atomic || all_aligned(frame, pointer, (uint64_t)offset, size)))
        return true;
    return check_each(frame, instr, operand, pointer, (uint64_t)offset, size, is_atomic);
}

/* ---- strings that are printed ---- */

bool qn__vm_may_print(qn__vm_frame *frame, const qn__vm_instr *instr, uint64_t i, uint64_t address,
                      uint64_t most) {
    extent e = {0};
    if (!frame->bounds || !address || !most) return true;
    uint64_t left = look_up(frame, i, address, 1, &e) ? e.begin + e.size - address : 0;
    if (left >= most || (left && memchr((const void *)(uintptr_t)address, 0, (size_t)left))) return true;
    const size_t length = put_access(frame, instr, 0, i, left + 1);
    snprintf(frame->why + length, QN__VM_WHY - length, "at 0x%llx, of which it may read %llu",
             (unsigned long long)address, (unsigned long long)left);
    return stop(frame);
}
