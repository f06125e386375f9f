/* Preparing a kernel: every instruction gets what runs it, every value a slot. A slot is used again once its
   value is dead, so that scratch memory stays small: a first walk finds each value's last use as an
   instruction of the region that defines it (a use inside a construct counts as the construct's), a second
   one hands out slots. Sharing is safe although pure ops overwrite the slots of inactive work-items too: a
   work-item that is inactive has left the region, or waits in the other branch of an `if`, and never reads a
   value of this one again. Values that inactive work-items do wait with (a loop's parameters, a construct's
   results) keep their slots to the construct's end. */
#include <string.h>

#include "vm/internal.h"

enum { MAX_BYTES_PER_ITEM = 1 << 30, LARGEST_VALUE = 16 * 8, NO_VALUE = -1 };
static const uint32_t no_slot = UINT32_MAX;

typedef struct preparation {
    qn__arena *arena;
    qn__vm_program *program;
    const qn__vm_watch *watch; /* or NULL */
    const char *error;
    uint32_t order;                       /* number of the instruction at hand, the same in both walks */
    uint32_t chain[QN__VM_MAX_DEPTH + 1]; /* numbers of the instructions that are walked, by depth */
    const ir_instr *constructs[QN__VM_MAX_DEPTH + 1]; /* whose regions have this depth */
    /* By value id. */
    uint16_t *depths;    /* of the region that defines it */
    uint32_t *last_uses; /* number of an instruction of that region */
    uint32_t *slots, *objects;
    int32_t *next_dying; /* chains values with the same last use */
    const ir_value **values;
    int32_t *dying; /* by instruction number: first value that dies there, or NO_VALUE */
    QN__VEC(uint32_t) free[2][LARGEST_VALUE + 1]; /* slots by size; those of tracked values apart */
} preparation;

static void fail(preparation *p, const char *error) {
    if (!p->error) p->error = error;
}

unsigned qn__vm_lane_size(ir_type type) { return (qn__ir_bits(type) + 7) / 8; }

/* ---- first walk: last uses ---- */

static void define(preparation *p, const ir_value *value, unsigned depth) {
    p->depths[value->id] = (uint16_t)depth;
    p->last_uses[value->id] = p->chain[depth];
    p->values[value->id] = value;
}

static bool is_permanent(const ir_value *value) {
    return value->value_kind != IR_VALUE_RESULT && value->value_kind != IR_VALUE_PARAM;
}

static void find_uses(preparation *p, const ir_region *region, unsigned depth) {
    if (depth > QN__VM_MAX_DEPTH) {
        fail(p, "control flow is nested too deeply");
        return;
    }
    for (const ir_instr *instr = region->first; instr && !p->error; instr = instr->next) {
        p->chain[depth] = p->order++;
        for (uint32_t k = 0; k < instr->num_operands; k++) {
            const ir_value *value = instr->operands[k];
            if (!is_permanent(value)) p->last_uses[value->id] = p->chain[p->depths[value->id]];
        }
        for (uint32_t k = 0; k < instr->num_results; k++) define(p, instr->results[k], depth);
        for (unsigned r = 0; r < instr->num_regions; r++) {
            for (uint32_t k = 0; k < instr->regions[r]->num_params; k++)
                define(p, instr->regions[r]->params[k], depth);
            find_uses(p, instr->regions[r], depth + 1);
        }
    }
}

static void chain_dying(preparation *p, uint32_t num_values) {
    p->dying = QN__NEW_ARRAY(p->arena, int32_t, p->order + 1);
    for (uint32_t i = 0; i <= p->order; i++) p->dying[i] = NO_VALUE;
    for (uint32_t id = 0; id < num_values; id++) {
        if (!p->values[id]) continue;
        p->next_dying[id] = p->dying[p->last_uses[id]];
        p->dying[p->last_uses[id]] = (int32_t)id;
    }
}

/* ---- slots ---- */

static uint32_t new_slot(preparation *p, uint64_t size) {
    uint64_t slot = p->program->values_size;
    if (slot + size > MAX_BYTES_PER_ITEM) {
        fail(p, "the kernel needs too much memory for each work-item");
        return 0;
    }
    p->program->values_size += size;
    return (uint32_t)slot;
}

static unsigned value_size(ir_type type) {
    unsigned size = qn__vm_lane_size(type) * type.lanes;
    return size <= LARGEST_VALUE ? size : LARGEST_VALUE;
}

static bool is_tracked(const preparation *p, const ir_value *value) {
    return p->watch && p->watch->tracked && p->watch->tracked[value->id];
}

static uint32_t take_slot(preparation *p, const ir_value *value) {
    const unsigned size = value_size(value->type), tracked = is_tracked(p, value);
    return p->free[tracked][size].len ? qn__vec_pop(&p->free[tracked][size]) : new_slot(p, size);
}

static void give_slot(preparation *p, const ir_value *value, uint32_t slot) {
    qn__vec_push(p->arena, &p->free[is_tracked(p, value)][value_size(value->type)], slot);
}

/* Constants (and undefined values, which are zero) are written once at the start of a run. */
static uint32_t slot_of(preparation *p, const ir_value *value) {
    if (p->slots[value->id] == no_slot) {
        p->slots[value->id] = new_slot(p, value_size(value->type));
        if (value->value_kind == IR_VALUE_CONST || value->value_kind == IR_VALUE_UNDEF)
            qn__vec_push(p->arena, &p->program->constants, (qn__vm_constant){value, p->slots[value->id]});
    }
    return p->slots[value->id];
}

static void release_dead(preparation *p, uint32_t order) {
    for (int32_t id = p->dying[order]; id != NO_VALUE; id = p->next_dying[id])
        give_slot(p, p->values[id], p->slots[id]);
}

/* ---- second walk: instructions ---- */

static qn__vm_handler *pick(const ir_instr *instr) {
    typedef qn__vm_handler *picker(const ir_instr *instr);
    static picker *const families[] = {qn__vm_pick_arith,   qn__vm_pick_memory, qn__vm_pick_convert,
                                       qn__vm_pick_data,    qn__vm_pick_group,  qn__vm_pick_matrix,
                                       qn__vm_pick_control, qn__vm_pick_atomic};
    qn__vm_handler *handler = NULL;
    for (size_t i = 0; i < QN__COUNT(families) && !handler; i++) handler = families[i](instr);
    return handler;
}

static void describe(preparation *p, const ir_instr *ir, qn__vm_instr *instr) {
    *instr = (qn__vm_instr){.run = pick(ir), .ir = ir};
    if (!instr->run) {
        fail(p, ir->op == IR_CALL ? "calls must be inlined before the kernel can run"
                                  : qn__arena_printf(p->arena, "the interpreter cannot do '%s' on this type",
                                                     qn__ir_ops[ir->op].name));
    }
    uint32_t *operands = QN__NEW_ARRAY(p->arena, uint32_t, ir->num_operands + 3u);
    for (uint32_t k = 0; k < ir->num_operands; k++) operands[k] = slot_of(p, ir->operands[k]);
    for (uint32_t k = ir->num_operands; k < 3; k++) operands[k] = operands[0];
    instr->operands = operands;
    instr->a = operands[0], instr->b = operands[1], instr->c = operands[2];
    for (uint32_t k = 0; k < ir->num_operands && k < QN__COUNT(instr->objects); k++)
        instr->objects[k] = p->objects[ir->operands[k]->id];
    for (uint32_t k = 0; k < ir->num_results; k++)
        p->slots[ir->results[k]->id] = take_slot(p, ir->results[k]);
    const ir_value *shape = ir->num_results        ? ir->results[0]
                            : ir->num_operands > 1 ? ir->operands[1]
                            : ir->num_operands     ? ir->operands[0]
                                                   : NULL;
    if (ir->num_results) instr->result = p->slots[ir->results[0]->id];
    if (ir->num_results && !ir->num_regions) {
        uint32_t *results = QN__NEW_ARRAY(p->arena, uint32_t, ir->num_results);
        for (uint32_t k = 0; k < ir->num_results; k++) results[k] = p->slots[ir->results[k]->id];
        instr->results = results;
    }
    if (shape) instr->lanes = shape->type.lanes, instr->size = (uint8_t)qn__vm_lane_size(shape->type);
}

static uint64_t aligned(uint64_t size, uint64_t align) { return (size + align - 1) & ~(align - 1); }

static uint64_t valid_align(uint64_t align) {
    return align && align <= 4096 && (align & (align - 1)) == 0 ? align : 16;
}

static void place_variable(preparation *p, qn__vm_instr *instr) {
    const ir_var *var = instr->ir->attr.var;
    uint64_t align = valid_align(var->align);
    if (align > p->program->private_align) p->program->private_align = align;
    instr->place = aligned(p->program->private_size, align);
    if (var->size > MAX_BYTES_PER_ITEM || instr->place + var->size > MAX_BYTES_PER_ITEM)
        fail(p, qn__arena_printf(
                    p->arena, "its private variables take over %d bytes, the most that the interpreter has",
                    MAX_BYTES_PER_ITEM));
    else
        p->program->private_size = instr->place + var->size;
    p->program->objects.data[p->objects[instr->ir->results[0]->id]].place = instr->place;
}

static uint64_t local_offset(const ir_function *kernel, uint32_t index) {
    uint64_t offset = 0;
    for (uint32_t i = 0; i < kernel->locals.len; i++) {
        offset = aligned(offset, valid_align(kernel->locals.data[i].align));
        if (i == index) break;
        offset += kernel->locals.data[i].size;
    }
    return offset;
}

static void place_global(preparation *p, qn__vm_instr *instr) {
    uint32_t index = instr->ir->attr.index;
    if (index >= p->program->kernel->module->globals.len)
        fail(p, "the kernel names a constant that does not exist");
    else
        instr->place = (uintptr_t)p->program->globals[index];
}

static void measure_print(preparation *p, const ir_instr *ir) {
    uint64_t size = 0;
    for (uint32_t k = 0; k < ir->num_operands; k++) size += LARGEST_VALUE;
    if (size > p->program->print_size) p->program->print_size = size;
}

/* ---- control flow ---- */

static qn__vm_copy copy_for(const preparation *p, const ir_value *target, uint32_t from, uint32_t to) {
    const ir_type type = target->type;
    return (qn__vm_copy){from, to, type.lanes, (uint8_t)qn__vm_lane_size(type), is_tracked(p, target)};
}

/* A continue that hands a parameter on as another one (as in a swap) must read all before it writes any. */
static bool needs_staging(const ir_instr *jump, const ir_region *body) {
    for (uint32_t k = 0; k < jump->num_operands; k++) {
        const ir_value *value = jump->operands[k];
        if (value->value_kind == IR_VALUE_PARAM && value->def == body->owner && value->index != k)
            return true;
    }
    return false;
}

/* Copies the operands to the targets' slots, by way of the staging slots if there are any. */
static void hand_values(preparation *p, qn__vm_instr *instr, ir_value *const *targets, uint32_t count,
                        const uint32_t *staging) {
    const ir_instr *ir = instr->ir;
    if (count != ir->num_operands) {
        fail(p, "a jump hands over the wrong number of values");
        return;
    }
    qn__vm_copy *copies = QN__NEW_ARRAY(p->arena, qn__vm_copy, 2u * (size_t)count + 1u);
    uint32_t n = 0;
    for (uint32_t k = 0; k < count; k++) {
        uint32_t to = staging ? staging[k] : slot_of(p, targets[k]);
        if (to != instr->operands[k]) copies[n++] = copy_for(p, targets[k], instr->operands[k], to);
    }
    for (uint32_t k = 0; staging && k < count; k++)
        copies[n++] = copy_for(p, targets[k], staging[k], slot_of(p, targets[k]));
    instr->copies = copies;
    instr->num_copies = n;
}

static void lower_continue(preparation *p, qn__vm_instr *instr, const ir_region *body) {
    if (!needs_staging(instr->ir, body)) {
        hand_values(p, instr, body->params, body->num_params, NULL);
        return;
    }
    uint32_t *staging = QN__NEW_ARRAY(p->arena, uint32_t, body->num_params);
    for (uint32_t k = 0; k < body->num_params; k++) staging[k] = take_slot(p, body->params[k]);
    hand_values(p, instr, body->params, body->num_params, staging);
    for (uint32_t k = 0; k < body->num_params; k++) give_slot(p, body->params[k], staging[k]);
}

static void lower_jump(preparation *p, qn__vm_instr *instr, unsigned depth) {
    const ir_instr *ir = instr->ir;
    if (ir->op == IR_RETURN || ir->op == IR_UNREACHABLE) return;
    unsigned target = depth;
    if (ir->op != IR_YIELD)
        while (target > 0 && p->constructs[target] != ir->attr.target) target--;
    if (target == 0) {
        fail(p, "a jump leaves a construct that does not enclose it");
        return;
    }
    const ir_instr *construct = p->constructs[target];
    if (ir->op == IR_CONTINUE) {
        instr->code = (uint16_t)(2 * target);
        lower_continue(p, instr, construct->regions[0]);
    } else {
        instr->code = (uint16_t)(2 * (target - 1) + 1);
        hand_values(p, instr, construct->results, construct->num_results, NULL);
    }
}

static void lower_region(preparation *p, const ir_region *region, unsigned depth, qn__vm_region *out);

static void lower_construct(preparation *p, qn__vm_instr *instr, unsigned depth) {
    const ir_instr *ir = instr->ir;
    instr->depth = (uint16_t)(depth + 1);
    p->constructs[depth + 1] = ir;
    if (ir->op == IR_LOOP) {
        const ir_region *body = ir->regions[0];
        for (uint32_t k = 0; k < body->num_params; k++)
            p->slots[body->params[k]->id] = take_slot(p, body->params[k]);
        hand_values(p, instr, body->params, body->num_params, NULL);
    }
    for (unsigned r = 0; r < ir->num_regions && r < 2; r++)
        lower_region(p, ir->regions[r], depth + 1, &instr->regions[r]);
}

/* Whether others may see what it does: accesses to what only this work-group has are not. */
static bool is_seen(const ir_instr *ir) {
    const unsigned effects = qn__ir_ops[ir->op].effects;
    if (ir->op == IR_PRINTF || ir->op == IR_COPY) return true;
    if (ir->op == IR_ATOMIC_LOAD) return false;
    if (effects != IR_EFFECT_WRITE && effects != IR_EFFECT_READWRITE) return false;
    if (ir->op == IR_VAR || !ir->num_operands || ir->operands[0]->type.kind != IR_PTR) return false;
    const unsigned space = ir->operands[0]->type.space;
    return space != IR_PRIVATE && space != IR_LOCAL_SPACE;
}

static void lower_special(preparation *p, qn__vm_instr *instr, unsigned depth) {
    const ir_instr *ir = instr->ir;
    if (qn__ir_is_together((ir_op)ir->op)) p->program->uses_sync = true;
    if (ir->op == IR_LOOP) p->program->has_loops = true;
    instr->writes = is_seen(ir);
    if (ir->op == IR_ATOMIC_RMW || ir->op == IR_ATOMIC_CAS) p->program->uses_atomics = true;
    switch (ir->op) {
    case IR_VAR: place_variable(p, instr); break;
    case IR_LOCAL:
        instr->place = local_offset(p->program->kernel, ir->attr.index);
        p->program->objects.data[p->objects[ir->results[0]->id]].place = instr->place;
        break;
    case IR_PRINTF: measure_print(p, ir); QN__FALLTHROUGH;
    case IR_GLOBAL: place_global(p, instr); break;
    default:
        if (qn__ir_is_construct(ir)) lower_construct(p, instr, depth);
        if (qn__ir_is_jump(ir)) lower_jump(p, instr, depth);
    }
}

static void lower_region(preparation *p, const ir_region *region, unsigned depth, qn__vm_region *out) {
    if (depth >= p->program->depth) p->program->depth = depth + 1;
    uint32_t len = 0;
    for (const ir_instr *ir = region->first; ir; ir = ir->next) len++;
    *out = (qn__vm_region){QN__NEW_ARRAY(p->arena, qn__vm_instr, len + 1u), len};
    qn__vm_instr *instr = out->instrs;
    for (const ir_instr *ir = region->first; ir && !p->error; ir = ir->next, instr++) {
        uint32_t order = p->order++;
        describe(p, ir, instr);
        if (!p->error) lower_special(p, instr, depth);
        if (!p->error && p->watch) {
            instr->plain = instr->run;
            p->watch->attach(p->watch->user, instr);
        }
        release_dead(p, order);
    }
}

/* ---- the kernel's surroundings ---- */

static void lower_args(preparation *p) {
    const ir_function *kernel = p->program->kernel;
    uint64_t offset = 0;
    for (uint32_t i = 0; i < kernel->args.len; i++) {
        const ir_arg *arg = &kernel->args.data[i];
        ir_type type = arg->value->type;
        bool is_struct = type.kind == IR_PTR && type.space == IR_PARAM_SPACE;
        uint64_t natural = qn__ir_memory_size(type);
        uint64_t align = valid_align(type.kind == IR_PTR && !is_struct ? 8
                                     : arg->align                      ? arg->align
                                                                       : natural);
        offset = aligned(offset, align);
        qn__vec_push(p->arena, &p->program->args, (qn__vm_arg){arg, slot_of(p, arg->value), offset});
        offset += is_struct ? arg->size : natural;
        if (type.kind == IR_PTR && type.space == IR_LOCAL_SPACE) p->program->uses_local = true;
    }
}

/* Copies the module's __constant objects to where they stay, then fills in the addresses they hold. */
static void place_globals(preparation *p) {
    const ir_module *module = p->program->kernel->module;
    p->program->globals = QN__NEW_ARRAY(p->arena, unsigned char *, module->globals.len + 1);
    for (size_t i = 0; i < module->globals.len; i++) {
        const ir_global *global = &module->globals.data[i];
        uint64_t align = valid_align(global->align);
        if (global->size > MAX_BYTES_PER_ITEM) {
            fail(p, "a __constant object is too large");
            return;
        }
        uintptr_t memory = (uintptr_t)qn__arena_alloc(p->arena, (size_t)(global->size + align + 1));
        p->program->globals[i] = (unsigned char *)(uintptr_t)aligned(memory, align);
        if (global->size && global->data) memcpy(p->program->globals[i], global->data, (size_t)global->size);
    }
    for (size_t i = 0; i < module->globals.len; i++) {
        const ir_global *global = &module->globals.data[i];
        for (size_t r = 0; r < global->relocations.len; r++) {
            const ir_relocation *relocation = &global->relocations.data[r];
            if (relocation->target >= module->globals.len || global->size < 8 ||
                relocation->offset > global->size - 8) {
                fail(p, "a __constant object holds an address that does not exist");
                return;
            }
            uint64_t value =
                (uintptr_t)p->program->globals[relocation->target] + (uint64_t)relocation->addend;
            memcpy(p->program->globals[i] + relocation->offset, &value, sizeof value);
        }
    }
}

static void measure_locals(preparation *p) {
    const ir_function *kernel = p->program->kernel;
    for (uint32_t i = 0; i < kernel->locals.len; i++)
        if (kernel->locals.data[i].size > MAX_BYTES_PER_ITEM) fail(p, "a __local variable is too large");
    p->program->static_local = local_offset(kernel, UINT32_MAX);
    if (kernel->locals.len) p->program->uses_local = true;
}

static void allocate_tables(preparation *p, uint32_t num_values) {
    p->depths = QN__NEW_ARRAY(p->arena, uint16_t, num_values + 1u);
    p->last_uses = QN__NEW_ARRAY(p->arena, uint32_t, num_values + 1u);
    p->slots = QN__NEW_ARRAY(p->arena, uint32_t, num_values + 1u);
    p->next_dying = QN__NEW_ARRAY(p->arena, int32_t, num_values + 1u);
    p->values = QN__NEW_ARRAY(p->arena, const ir_value *, num_values + 1u);
    for (uint32_t i = 0; i <= num_values; i++) p->slots[i] = no_slot;
}

qn__vm_program *qn__vm_prepare_watched(qn__arena *arena, ir_function *kernel, uint32_t sub_group_size,
                                       const qn__vm_watch *watch, const char **error) {
    preparation *p = QN__NEW(arena, preparation);
    p->arena = arena;
    p->watch = watch;
    p->program = QN__NEW(arena, qn__vm_program);
    p->program->kernel = kernel;
    p->program->private_align = 16;
    p->program->uses_sync = watch != NULL;
    p->program->sub_group_size = sub_group_size ? sub_group_size : 32;
    if (kernel->required_sub_group_size) p->program->sub_group_size = kernel->required_sub_group_size;
    if (p->program->sub_group_size > 128) fail(p, "sub-groups have at most 128 work-items");

    allocate_tables(p, kernel->num_values);
    measure_locals(p);
    place_globals(p);
    find_uses(p, kernel->body, 0);
    if (!p->error) {
        chain_dying(p, kernel->num_values);
        p->objects = qn__vm_find_objects(arena, p->program);
        lower_args(p);
        p->order = 0;
        lower_region(p, kernel->body, 0, &p->program->body);
    }
    p->program->private_size = aligned(p->program->private_size, p->program->private_align);
    *error = p->error;
    return p->error ? NULL : p->program;
}

qn__vm_program *qn__vm_prepare(qn__arena *arena, ir_function *kernel, uint32_t sub_group_size,
                               const char **error) {
    return qn__vm_prepare_watched(arena, kernel, sub_group_size, NULL, error);
}

qn__vm_program *qn__vm_prepare_named(qn__arena *arena, const ir_module *module, const char *kernel,
                                     uint32_t sub_group_size, const char **error) {
    ir_function *function = qn__ir_function_find((ir_module *)module, qn__str_of(kernel));
    *error = "it is not in the module";
    return function ? qn__vm_prepare(arena, function, sub_group_size, error) : NULL;
}
