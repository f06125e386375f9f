/* Preparing kernels: which instructions the checker stands in front of. */
#include "check/internal.h"

static uint32_t *tracked_slots(const qn__check_program *program, const qn__vm_instr *instr) {
    const ir_instr *ir = instr->ir;
    uint32_t *slots = NULL;
    for (uint32_t k = 0; k < ir->num_operands; k++) {
        if (!program->tracked[ir->operands[k]->id]) continue;
        if (!slots) {
            slots = QN__NEW_ARRAY(program->arena, uint32_t, ir->num_operands);
            for (uint32_t n = 0; n < ir->num_operands; n++) slots[n] = QN__CHECK_CLEAN;
        }
        slots[k] = instr->operands[k];
    }
    return slots;
}

static bool hands_tracked_over(const qn__vm_instr *instr) {
    for (uint32_t k = 0; k < instr->num_copies; k++)
        if (instr->copies[k].tracked) return true;
    return false;
}

static uint32_t add_place(qn__check_program *program, const ir_instr *instr) {
    if (program->places.len + 1 < QN__CHECK_PLACES) qn__vec_push(program->arena, &program->places, instr);
    return (uint32_t)program->places.len - 1;
}

static bool writes_anywhere(const qn__vm_instr *instr) {
    const ir_op op = (ir_op)instr->ir->op;
    const bool writes = op == IR_STORE || op == IR_COPY || (op > IR_ATOMIC_LOAD && op <= IR_ATOMIC_CAS);
    return writes && instr->objects[0] == 0; /* QN__VM_UNKNOWN */
}

static void attach(void *user, qn__vm_instr *instr) {
    qn__check_program *program = user;
    const ir_instr *ir = instr->ir;
    qn__check_note *note = QN__NEW(program->arena, qn__check_note);
    note->slots = tracked_slots(program, instr);
    note->is_tracked = !qn__ir_is_construct(ir) && ir->num_results && program->tracked[ir->results[0]->id];
    if (note->is_tracked) program->slots[ir->results[0]->id] = instr->result;
    instr->note = note;
    qn__vm_handler *handler = qn__check_pick_access(ir);
    if (handler) note->place = add_place(program, ir);
    program->writes_anywhere |= writes_anywhere(instr);
    program->orders |= qn__check_orders(ir);
    program->has_fences |= ir->op == IR_FENCE;
    if (!handler) handler = qn__check_pick_sync(ir);
    if (!handler) handler = qn__check_pick_arith(ir, program->checker->settings.also);
    if (!handler && (note->slots || note->is_tracked || hands_tracked_over(instr)))
        handler = qn__check_pick_bits(ir);
    if (handler) instr->run = handler;
    qn__check_count_instr(program, instr, note);
}

qn__check_program *qn__check_prepare(qn__checker *checker, qn__arena *arena, const ir_module *module,
                                     const char *kernel, uint32_t sub_group_size, const char **error) {
    ir_function *function = qn__ir_function_find((ir_module *)module, qn__str_of(kernel));
    *error = "it is not in the module";
    if (!function) return NULL;
    qn__check_program *program = QN__NEW(arena, qn__check_program);
    *program = (qn__check_program){.checker = checker,
                                   .arena = arena,
                                   .module = module,
                                   .buffers = checker->settings.also & QN_CHECK_BUFFERS};
    program->tracked = qn__check_find_tracked(arena, function, checker->settings.also & QN_CHECK_BUFFERS);
    program->slots = QN__NEW_ARRAY(arena, uint32_t, function->num_values + 1u);
    for (uint32_t i = 0; i <= function->num_values; i++) program->slots[i] = QN__CHECK_CLEAN;
    const qn__vm_watch watch = {attach, program->tracked, program};
    program->vm = qn__vm_prepare_watched(arena, function, sub_group_size, &watch, error);
    return program->vm ? program : NULL;
}
