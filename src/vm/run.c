/* Running a prepared kernel. A kernel with barriers or collectives runs a work-group at a time. One without
   runs a chunk of work-items at a time, however its group is cut, so that what it works on stays in the
   processor's caches; and if it has neither __local memory nor atomics, a chunk goes on into the next groups
   of the row. With atomics it may not: of two groups, the one that spins for a lock would keep the other from
   leaving it. */
#include <string.h>

#include "vm/internal.h"

enum { DEPTH_STACK = 512 }; /* bytes of the two calls for a level of nesting, at most */

uint64_t qn__vm_static_local(const qn__vm_program *program) { return program->static_local; }
bool qn__vm_has_loops(const qn__vm_program *program) { return program->has_loops; }
bool qn__vm_uses_sync(const qn__vm_program *program) { return program->uses_sync; }
uint64_t qn__vm_stack(const qn__vm_program *program) { return (uint64_t)program->depth * DEPTH_STACK; }

/* ---- scratch memory ---- */

enum { IDS_SIZE = 5 * sizeof(uint64_t), MAX_STRIDE = 1 << 24, MAX_SCRATCH = 16 << 20 };

static uint64_t bytes_per_item(const qn__vm_program *program) {
    return program->values_size + program->private_size + IDS_SIZE + sizeof(uint16_t) + 1;
}

/* Slots start at multiples of 16 bytes: their place, in bytes a work-item, times the stride. Work-items with large
   private variables run fewer at once. */
static uint64_t stride_for(const qn__vm_program *program, uint64_t items) {
    uint64_t stride = items ? items : 1;
    if (program->uses_sync) return (stride + 15) / 16 * 16;
    if (stride > QN__VM_CHUNK || !program->uses_local) stride = QN__VM_CHUNK;
    while (stride > 16 && stride * bytes_per_item(program) > MAX_SCRATCH) stride /= 2;
    return (stride + 15) / 16 * 16;
}

uint64_t qn__vm_scratch_size(const qn__vm_program *program, uint64_t items) {
    if (program->uses_sync && items > MAX_STRIDE) return UINT64_MAX;
    uint64_t stride = stride_for(program, items);
    return stride * bytes_per_item(program) + program->private_align + program->print_size;
}

/* Cuts scratch memory into the frame's arrays, those with the strictest alignment first. */
static void lay_out(qn__vm_frame *frame, unsigned char *scratch) {
    const qn__vm_program *program = frame->program;
    uint64_t stride = frame->stride;
    frame->values = scratch;
    scratch += program->values_size * stride;
    uint64_t gap = (0 - (uint64_t)(uintptr_t)scratch) & (program->private_align - 1);
    frame->privates = scratch + gap;
    scratch = frame->privates + program->private_size * stride;
    uint64_t **ids[] = {&frame->group_x, &frame->local_id[0], &frame->local_id[1], &frame->local_id[2],
                        &frame->linear};
    for (size_t i = 0; i < QN__COUNT(ids); i++, scratch += stride * sizeof(uint64_t))
        *ids[i] = (uint64_t *)(void *)scratch;
    frame->codes = (uint16_t *)(void *)scratch;
    frame->active = scratch + stride * sizeof(uint16_t);
    frame->print_area = frame->active + stride;
}

/* ---- what is the same for all groups ---- */

static void splat(const qn__vm_frame *frame, uint32_t slot, unsigned size, unsigned lane, uint64_t bits) {
    unsigned char *first = (unsigned char *)qn__vm_slot(frame, slot) + lane * size * frame->stride;
    for (uint64_t i = 0; i < frame->stride; i++) qn__vm_set(first, size, i, bits);
}

static void set_constants(const qn__vm_frame *frame) {
    for (size_t k = 0; k < frame->program->constants.len; k++) {
        const qn__vm_constant *constant = &frame->program->constants.data[k];
        const ir_value *value = constant->value;
        unsigned size = qn__vm_lane_size(value->type);
        for (unsigned l = 0; l < value->type.lanes; l++)
            splat(frame, constant->slot, size, l, value->bits ? value->bits[l] : 0);
    }
}

static void set_args(const qn__vm_frame *frame) {
    for (size_t k = 0; k < frame->program->args.len; k++) {
        const qn__vm_arg *arg = &frame->program->args.data[k];
        const unsigned char *bytes = frame->launch->args + arg->offset;
        ir_type type = arg->ir->value->type;
        unsigned size = qn__vm_lane_size(type);
        for (unsigned l = 0; l < type.lanes; l++) {
            uint64_t bits = 0; /* hosts are little-endian, as kernels are */
            if (type.kind != IR_PTR || type.space != IR_PARAM_SPACE) memcpy(&bits, bytes + l * size, size);
            if (type.kind == IR_PTR && type.space == IR_LOCAL_SPACE) bits += (uintptr_t)frame->local;
            if (type.kind == IR_PTR && type.space == IR_PARAM_SPACE) bits = (uintptr_t)bytes;
            splat(frame, arg->slot, size, l, bits);
        }
    }
}

/* ---- chunks ---- */

/* The next work-item to run. */
typedef struct cursor {
    uint64_t group, end;
    uint64_t size[3], id[3]; /* of that group; of the work-item in it */
} cursor;

static void begin_group(const qn__vm_frame *frame, cursor *at) {
    const uint64_t groups[3] = {at->group, frame->group_y, frame->group_z};
    for (unsigned d = 0; d < 3; d++) {
        at->size[d] = qn__vm_group_size(frame->launch, d, groups[d]);
        at->id[d] = 0;
    }
}

/* To the next work-item of the group, in linear order; false past the last one. */
static bool advance(cursor *at) {
    for (unsigned d = 0; d < 3; d++) {
        if (++at->id[d] < at->size[d]) return true;
        at->id[d] = 0;
    }
    return false;
}

/* A whole group, which fits. */
static uint64_t fill_group(qn__vm_frame *frame, const cursor *at) {
    uint64_t n = 0;
    for (uint64_t z = 0; z < at->size[2]; z++)
        for (uint64_t y = 0; y < at->size[1]; y++)
            for (uint64_t x = 0; x < at->size[0]; x++, n++) {
                frame->group_x[n] = at->group;
                frame->local_id[0][n] = x;
                frame->local_id[1][n] = y;
                frame->local_id[2][n] = z;
                frame->linear[n] = n;
            }
    return n;
}

static uint64_t fill_from(qn__vm_frame *frame, cursor *at) {
    uint64_t capacity = frame->stride, n = 0;
    const qn__vm_program *program = frame->program;
    bool mixes_groups = !program->uses_sync && !program->uses_local && !program->uses_atomics, more = true;
    while (n < capacity && at->group < at->end && more) {
        frame->group_x[n] = at->group;
        for (unsigned d = 0; d < 3; d++) frame->local_id[d][n] = at->id[d];
        frame->linear[n] = (at->id[2] * at->size[1] + at->id[1]) * at->size[0] + at->id[0];
        n++;
        if (!advance(at)) {
            at->group++;
            more = mixes_groups;
            if (at->group < at->end) begin_group(frame, at);
        }
    }
    return n;
}

static void fill_chunk(qn__vm_frame *frame, cursor *at) {
    uint64_t n;
    if (frame->program->uses_sync) {
        n = fill_group(frame, at);
        if (++at->group < at->end) begin_group(frame, at);
    } else {
        n = fill_from(frame, at);
    }
    frame->all = frame->items = frame->count = n;
    memset(frame->active, 1, n);
    for (uint64_t i = 0; i < n; i++) frame->codes[i] = 1;
}

const char qn__vm_cancelled[] = "the launch was cancelled";
const char qn__vm_left[] = "the kernel is left to its compiled form";

static const char *run(const qn__vm_program *program, const qn_cpu_launch *launch, uint64_t begin_x,
                       uint64_t end_x, uint64_t y, uint64_t z, unsigned char *local, unsigned char *scratch,
                       const qn__vm_frame *setting) {
    qn__vm_frame frame = {.program = program,
                          .launch = launch,
                          .local = local,
                          .group_y = y,
                          .group_z = z,
                          .max_steps = setting->max_steps,
                          .ready = setting->ready,
                          .bounds = setting->bounds,
                          .why = setting->why,
                          .watcher = setting->watcher,
                          .begin = setting->begin};
    frame.stride = stride_for(program, launch->local_size[0] * launch->local_size[1] * launch->local_size[2]);
    lay_out(&frame, scratch);
    set_constants(&frame);
    set_args(&frame);
    cursor at = {.group = begin_x, .end = end_x};
    if (begin_x < end_x) begin_group(&frame, &at);
    while (at.group < at.end && !frame.error) {
        fill_chunk(&frame, &at);
        frame.steps = 0;
        if (frame.begin) frame.begin(&frame);
        qn__vm_run_region(&frame, &program->body);
    }
    return frame.error;
}

const char *qn__vm_run(const qn__vm_program *program, const qn_cpu_launch *launch, uint64_t begin_x,
                       uint64_t end_x, uint64_t y, uint64_t z, unsigned char *local, unsigned char *scratch,
                       uint64_t max_steps) {
    return run(program, launch, begin_x, end_x, y, z, local, scratch,
               &(qn__vm_frame){.max_steps = max_steps});
}

const char *qn__vm_run_until(const qn__vm_program *program, const qn_cpu_launch *launch, uint64_t begin_x,
                             uint64_t end_x, uint64_t y, uint64_t z, unsigned char *local,
                             unsigned char *scratch, const atomic_bool *ready, const qn__vm_bounds *bounds,
                             char *why) {
    return run(program, launch, begin_x, end_x, y, z, local, scratch,
               &(qn__vm_frame){.ready = ready, .bounds = bounds, .why = why});
}

const char *qn__vm_run_watched(const qn__vm_program *program, const qn_cpu_launch *launch, uint64_t begin_x,
                               uint64_t end_x, uint64_t y, uint64_t z, unsigned char *local,
                               unsigned char *scratch, uint64_t max_steps, void *watcher,
                               void (*begin)(qn__vm_frame *frame)) {
    return run(program, launch, begin_x, end_x, y, z, local, scratch,
               &(qn__vm_frame){.max_steps = max_steps, .watcher = watcher, .begin = begin});
}
