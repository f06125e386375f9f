/* Control flow in lock step. Each work-item's code says how deep it runs (qn__vm_frame.codes); a jump sends
   the active ones elsewhere by giving them another code, and the end of a construct takes up those that were
   sent to the region around it. A region is left early once nobody is active in it. */
#include <string.h>

#include "vm/internal.h"

const char qn__vm_spent[] = "the kernel was stopped: more steps than allowed";

static uint16_t running(unsigned depth) { return (uint16_t)(2 * depth + 1); }

void qn__vm_run_region(qn__vm_frame *frame, const qn__vm_region *region) {
    frame->steps += region->len;
    if (frame->max_steps && frame->steps > frame->max_steps) {
        frame->error = qn__vm_spent;
        frame->count = 0;
    }
    if (frame->ready && !frame->wrote && atomic_load_explicit(frame->ready, memory_order_acquire)) {
        frame->error = qn__vm_left;
        frame->count = 0;
    }
    if (atomic_load_explicit((_Atomic uint32_t *)&frame->launch->cancelled, memory_order_relaxed)) {
        frame->error = qn__vm_cancelled;
        frame->count = 0;
    }
    const qn__vm_instr *end = region->instrs + region->len;
    for (const qn__vm_instr *instr = region->instrs; instr < end && frame->count; instr++) {
        frame->wrote |= instr->writes;
        instr->run(frame, instr);
    }
}

/* The first `count` are active, and so may be those up to `items`. What the last ones would do is left out: in a tree of sums,
   most. */
static void set_active(qn__vm_frame *frame, uint64_t count, uint64_t items) {
    const uint8_t *active = frame->active;
    enum { AT_ONCE = 8 };
    uint64_t some = 0;
    while (items > count && items >= AT_ONCE && memcmp(active + items - AT_ONCE, &some, AT_ONCE) == 0)
        items -= AT_ONCE;
    while (items > count && !active[items - 1]) items--;
    frame->items = items;
    frame->count = frame->error ? 0 : count;
}

/* Makes active the work-items that run at this depth, of the first n. */
static void resume(qn__vm_frame *frame, unsigned depth, uint64_t n) {
    const uint16_t *codes = frame->codes;
    uint8_t *active = frame->active;
    uint64_t count = 0;
    for (uint64_t i = 0; i < n; i++) {
        active[i] = codes[i] == running(depth);
        count += active[i];
    }
    set_active(frame, count, n);
}

/* A region with a yield only, that gives nothing and that nobody watches. */
static bool is_empty(const qn__vm_region *region) {
    const qn__vm_instr *first = region->instrs;
    return region->len == 1 && first->ir->op == IR_YIELD && !first->num_copies && first->run == first->plain;
}

/* Of those that run at the depth around the construct, lets the ones whose condition has that value in. Gives their number. */
static uint64_t enter_branch(qn__vm_frame *frame, const qn__vm_instr *instr, bool value, uint64_t n) {
    const uint8_t *condition = qn__vm_slot(frame, instr->a);
    uint16_t *codes = frame->codes, from = running(instr->depth - 1u), to = running(instr->depth);
    uint8_t *active = frame->active;
    uint64_t count = 0;
    for (uint64_t i = 0; i < n; i++) {
        bool in = (codes[i] == from) & ((condition[i] & 1) == value);
        active[i] = in;
        codes[i] = in ? to : codes[i];
        count += in;
    }
    set_active(frame, count, n);
    if (frame->count) qn__vm_run_region(frame, &instr->regions[!value]);
    return count;
}

/* Gives the active ones a new code. */
static void send(qn__vm_frame *frame, uint16_t code) {
    uint16_t *codes = frame->codes;
    const uint8_t *active = frame->active;
    for (uint64_t i = 0, n = frame->items; i < n; i++) codes[i] = active[i] ? code : codes[i];
}

/* A yield of the first region sends its work-items to the depth around the `if`, where they would look like
   those that still wait for the second; what tells them apart is the condition, which nothing has
   overwritten. */
static void run_if(qn__vm_frame *frame, const qn__vm_instr *instr) {
    const uint64_t n = frame->items, came = frame->count;
    const uint64_t went = enter_branch(frame, instr, true, n);
    /* Who yields at once has the code of the depth around already. */
    if (went < came && !is_empty(&instr->regions[1])) enter_branch(frame, instr, false, n);
    resume(frame, instr->depth - 1u, n);
}

static void run_block(qn__vm_frame *frame, const qn__vm_instr *instr) {
    const uint64_t n = frame->items;
    send(frame, running(instr->depth));
    qn__vm_run_region(frame, &instr->regions[0]);
    resume(frame, instr->depth - 1u, n);
}

#define COPY_ACTIVE(TYPE)                                                                                    \
    for (unsigned l = 0; l < copy->lanes; l++) {                                                             \
        const TYPE *from = (const TYPE *)qn__vm_slot(frame, copy->from) + l * frame->stride;                 \
        TYPE *to = (TYPE *)qn__vm_slot(frame, copy->to) + l * frame->stride;                                 \
        for (uint64_t i = 0, n = frame->items; i < n; i++)                                                   \
            if (frame->active[i]) to[i] = from[i];                                                           \
    }

static void hand_over(qn__vm_frame *frame, const qn__vm_copy *copy) {
    if (frame->count == frame->items) {
        const uint64_t step = frame->stride * copy->size;
        unsigned char *to = qn__vm_slot(frame, copy->to), *from = qn__vm_slot(frame, copy->from);
        for (unsigned l = 0; l < copy->lanes; l++)
            memcpy(to + l * step, from + l * step, frame->items * copy->size);
        return;
    }
    switch (copy->size) {
    case 1: COPY_ACTIVE(uint8_t) break;
    case 2: COPY_ACTIVE(uint16_t) break;
    case 4: COPY_ACTIVE(uint32_t) break;
    default: COPY_ACTIVE(uint64_t) break;
    }
}

/* Those of the first n that wait for the loop's next iteration run again. */
static void take_up(qn__vm_frame *frame, unsigned depth, uint64_t n) {
    uint16_t *codes = frame->codes;
    for (uint64_t i = 0; i < n; i++) codes[i] = codes[i] == 2 * depth ? running(depth) : codes[i];
    resume(frame, depth, n);
}

static void run_loop(qn__vm_frame *frame, const qn__vm_instr *instr) {
    const uint64_t n = frame->items;
    for (uint32_t k = 0; k < instr->num_copies; k++) hand_over(frame, &instr->copies[k]);
    send(frame, running(instr->depth));
    while (frame->count) {
        qn__vm_run_region(frame, &instr->regions[0]);
        take_up(frame, instr->depth, n);
    }
    resume(frame, instr->depth - 1u, n);
}

static void jump(qn__vm_frame *frame, const qn__vm_instr *instr) {
    for (uint32_t k = 0; k < instr->num_copies; k++) hand_over(frame, &instr->copies[k]);
    send(frame, instr->code);
    frame->count = 0;
}

qn__vm_handler *qn__vm_pick_control(const ir_instr *instr) {
    switch (instr->op) {
    case IR_IF: return run_if;
    case IR_LOOP: return run_loop;
    case IR_BLOCK: return run_block;
    default: return qn__ir_is_jump(instr) ? jump : NULL;
    }
}
