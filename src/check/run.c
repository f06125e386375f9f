/* A launch under the checker: group after group, on one thread. */
#include <stdlib.h>
#include <string.h>

#include "check/internal.h"

enum { ALIGN = QN__CPU_ALIGN };
static const uint64_t usual_budget = (uint64_t)1 << 28;

uint32_t qn__check_tick(qn__check_run_state *r) { return ++r->checker->time; }

/* Stamps of 32 bits do not run out in a launch: those of earlier ones are forgotten when they might. */
static void renew_time(qn__checker *checker) {
    if (checker->time < UINT32_MAX / 2) return;
    for (qn__check_region *region = checker->regions; region; region = region->next) {
        qn__check_cells_free(checker, region);
        region->shift = 2;
    }
    checker->time = 1;
}

const qn__check_group *qn__check_group_at(const qn__check_run_state *r, uint32_t time) {
    size_t low = 0, high = r->groups.len;
    while (high - low > 1) {
        const size_t middle = (low + high) / 2;
        if (r->groups.data[middle].begin <= time)
            low = middle;
        else
            high = middle;
    }
    return &r->groups.data[low];
}

/* ---- what the objects are ---- */

static uint64_t word_of(const qn__check_run_state *r, uint32_t arg) {
    uint64_t word;
    memcpy(&word, r->launch->args + r->program->vm->args.data[arg].offset, sizeof word);
    return word;
}

static void set_object(qn__check_run_state *r, size_t k, const uint64_t *extents, const unsigned char *local,
                       const unsigned char *privates) {
    const qn__vm_program *vm = r->program->vm;
    const qn__vm_object *object = &vm->objects.data[k];
    qn__check_object *o = &r->objects[k];
    *o = (qn__check_object){.size = object->size, .is_known = object->kind != QN__VM_UNKNOWN};
    switch (object->kind) {
    case QN__VM_BUFFER:
        o->begin = word_of(r, object->index);
        o->size = extents[object->index];
        o->region = o->size ? qn__check_find(r->checker, o->begin) : NULL;
        if (o->region && o->region->bits) o->shadow = (uintptr_t)o->region->bits - o->region->begin;
        o->is_read_only = vm->kernel->args.data[object->index].value->type.space == IR_CONSTANT_SPACE;
        break;
    case QN__VM_LOCAL_ARG:
        o->begin = (uintptr_t)local + word_of(r, object->index);
        o->size = extents[object->index];
        break;
    case QN__VM_STRUCT:
        o->begin = (uintptr_t)r->launch->args + vm->args.data[object->index].offset;
        o->is_read_only = true;
        break;
    case QN__VM_PRIVATE:
        o->begin = (uintptr_t)privates + object->place;
        o->step = vm->private_size;
        o->shadow = (uintptr_t)r->private_shadow - (uintptr_t)privates;
        break;
    case QN__VM_LOCAL: o->begin = (uintptr_t)local + object->place; break;
    case QN__VM_CONSTANT:
        o->begin = (uintptr_t)vm->globals[object->index];
        o->is_read_only = true;
        break;
    default: break;
    }
    if (object->kind == QN__VM_LOCAL || object->kind == QN__VM_LOCAL_ARG) {
        o->region = r->local_region;
        o->shadow = (uintptr_t)r->local_shadow - (uintptr_t)local;
    }
}

/* Buffers that the launch may write need cells; the others nobody can race for. */
static void find_written(qn__check_run_state *r) {
    const qn__vm_program *vm = r->program->vm;
    for (qn__check_region *region = r->checker->regions; region; region = region->next)
        region->is_written = r->program->writes_anywhere;
    for (size_t k = 1; k < vm->objects.len; k++) {
        const qn__vm_object *object = &vm->objects.data[k];
        if (object->kind != QN__VM_BUFFER || !r->objects[k].region) continue;
        if (!(vm->kernel->args.data[object->index].flags & IR_ARG_NO_WRITE))
            r->objects[k].region->is_written = true;
    }
}

/* ---- groups ---- */

static void begin_group(qn__vm_frame *frame) {
    qn__check_run_state *r = qn__check_state(frame);
    const qn__vm_program *vm = r->program->vm;
    const uint32_t now = qn__check_tick(r);
    r->local = (qn__check_window){now, now, now}; /* local memory begins with the group */
    r->global.group = r->global.barrier = now;
    qn__vec_push(r->arena, &r->groups,
                 (qn__check_group){now, {frame->group_x[0], frame->group_y, frame->group_z}});
    if (r->order) qn__check_order_begin_group(r->order);
    memset(r->dirty, 0, vm->values_size + 1);
    r->num_origins = 0;
    /* Undefined bytes are the same in each run. */
    memset(frame->privates, 0, r->private_bytes);
    memset(frame->local, 0, r->local_size);
    memset(r->private_shadow, 0xff, r->private_bytes);
    memset(r->local_shadow, 0xff, r->local_size);
}

static uint64_t group_items(const qn_cpu_launch *launch) {
    return launch->local_size[0] * launch->local_size[1] * launch->local_size[2];
}

static unsigned char *allocate_aligned(qn__arena *arena, uint64_t size) {
    unsigned char *memory = qn__arena_take(arena, (size_t)size + ALIGN);
    return memory + (ALIGN - (uintptr_t)memory % ALIGN) % ALIGN;
}

/* Groups [number, end) of a row. One that is stopped does not keep the others from running. */
static const char *run_row(qn__check_run_state *r, uint64_t number, uint64_t end, unsigned char *local,
                           unsigned char *scratch) {
    const qn_cpu_launch *launch = r->launch;
    const uint64_t width = launch->num_groups[0], row = number / width,
                   past = number % width + (end - number);
    const uint64_t budget = r->checker->settings.budget ? r->checker->settings.budget : usual_budget;
    const char *error = qn__vm_spent;
    for (uint64_t x = number % width; error == qn__vm_spent && x < past;
         x = qn__vec_last(&r->groups).id[0] + 1) {
        r->is_spent = false;
        error = qn__vm_run_watched(r->program->vm, launch, x, past, row % launch->num_groups[1],
                                   row / launch->num_groups[1], local, scratch, budget, r, begin_group);
    }
    return error == qn__vm_spent ? NULL : error;
}

static uint64_t common_divisor(uint64_t a, uint64_t b) {
    while (b) {
        const uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* An order of `count` groups that meets each once: from `first` on in steps of `step`, modulo their number. */
static void choose_order(uint64_t seed, uint64_t count, uint64_t *step, uint64_t *first) {
    *step = 1;
    *first = 0;
    if (!seed || count < 2) return;
    uint64_t mixed = seed * 0x9e3779b97f4a7c15u;
    mixed ^= mixed >> 29;
    *first = mixed % count;
    *step = (mixed >> 20) % count;
    while (common_divisor(*step, count) != 1) *step = (*step + 1) % count;
}

static const char *run_groups(qn__check_run_state *r, unsigned char *local, unsigned char *scratch) {
    const qn_cpu_launch *launch = r->launch;
    const qn_check_desc *settings = &r->checker->settings;
    const uint64_t total = launch->num_groups[0] * launch->num_groups[1] * launch->num_groups[2];
    const uint64_t count = settings->groups && settings->groups < total ? settings->groups : total;
    uint64_t step, chosen;
    choose_order(settings->seed, count, &step, &chosen);
    r->checker->stats.launches++;
    r->checker->stats.groups += count;
    r->checker->stats.groups_left_out += total - count;
    const char *error = NULL;
    if (count == total && !settings->seed) {
        for (uint64_t i = 0; i < total && !error; i += launch->num_groups[0])
            error = run_row(r, i, i + launch->num_groups[0], local, scratch);
        return error;
    }
    for (uint64_t i = 0; i < count && !error; i++, chosen = (chosen + step) % count) {
        const uint64_t number = chosen * (total / count) + chosen * (total % count) / count;
        error = run_row(r, number, number + 1, local, scratch);
    }
    return error;
}

static const char *run(qn__check_run_state *r, const uint64_t *extents, uint64_t local_memory) {
    const qn__vm_program *vm = r->program->vm;
    const uint64_t items = group_items(r->launch), stride = (items + 15) / 16 * 16;
    const uint64_t scratch_size = qn__vm_scratch_size(vm, items);
    if (items > QN__CHECK_ITEMS || scratch_size == UINT64_MAX)
        return "its work-groups are too large to check";
    unsigned char *scratch = allocate_aligned(r->arena, scratch_size);
    unsigned char *local = allocate_aligned(r->arena, local_memory);
    /* Where the interpreter puts private variables: behind the values. */
    const unsigned char *privates = scratch + vm->values_size * stride;
    privates += (0 - (uint64_t)(uintptr_t)privates) & (vm->private_align - 1);
    r->local_size = local_memory;
    r->private_bytes = vm->private_size * stride;
    r->local_shadow = allocate_aligned(r->arena, local_memory + 1);
    r->private_shadow = allocate_aligned(r->arena, r->private_bytes + 1);
    r->value_shadow = allocate_aligned(r->arena, vm->values_size * stride + 1);
    memset(r->value_shadow, 0, vm->values_size * stride + 1);
    r->dirty = QN__NEW_ARRAY(r->arena, uint8_t, vm->values_size + 1);
    r->saved = QN__NEW_ARRAY(r->arena, uint8_t, stride);
    r->ordered = QN__NEW_ARRAY(r->arena, uint8_t, stride);
    r->sub_barriers = QN__NEW_ARRAY(r->arena, uint32_t, 2 * (items + 1));
    r->local_region = &r->checker->local;
    *r->local_region = (qn__check_region){
        .begin = (uintptr_t)local, .size = local_memory, .shift = 2, .is_local = true, .is_written = true};
    if (r->program->orders) r->order = qn__check_order_new(r->arena, items);
    r->objects = QN__NEW_ARRAY(r->arena, qn__check_object, vm->objects.len + 1);
    for (size_t k = 0; k < vm->objects.len; k++) set_object(r, k, extents, local, privates);
    find_written(r);
    qn__check_profile_begin(r->program);
    const uint64_t taken = qn__arena_used(r->arena);
    qn__check_shadow_add(r->checker, taken);
    const char *error = run_groups(r, local, scratch);
    if (!error) qn__check_profile_end(r, local_memory);
    qn__check_shadow_add(r->checker,
                         qn__arena_used(r->arena) - taken); /* of groups, and what they know of each other */
    r->checker->shadow -= qn__arena_used(r->arena);
    return error;
}

const char *qn__check_run(qn__checker *checker, const qn__check_program *program, const qn_cpu_launch *launch,
                          const uint64_t *extents, uint64_t local_memory) {
    qn__arena arena;
    jmp_buf escape;
    const char *volatile error = "out of memory for its shadow memory";
    renew_time(checker);
    qn__arena_init(&arena, checker->allocator, 0);
    if (setjmp(escape) == 0) {
        arena.escape = checker->arena.escape = &escape;
        qn__check_run_state *r = QN__NEW(&arena, qn__check_run_state);
        const uint32_t now = ++checker->time;
        *r = (qn__check_run_state){.checker = checker,
                                   .program = program,
                                   .launch = launch,
                                   .arena = &arena,
                                   .local = {now, now, now},
                                   .global = {now, now, now}};
        error = run(r, extents, local_memory);
    }
    checker->arena.escape = NULL;
    qn__check_cells_free(checker, &checker->local);
    qn__arena_free(&arena);
    if (checker->is_out_of_memory && !error) error = "out of memory for its shadow memory";
    checker->is_out_of_memory = false;
    return error;
}
