/* What a kernel does, counted: operations and bytes, when asked for. Every instruction gets one more handler in front of the
   checker's, which counts the work-items that come by; what it counts is summed when the launch is done. */
#include "check/profile.h"

#include <string.h>

/* ---- counting ---- */

static void counted(qn__vm_frame *frame, const qn__vm_instr *instr) {
    const qn__check_note *note = instr->note;
    qn__check_counter *counter = note->counter;
    counter->items += frame->count;
    counter->times++;
    if (counter->looks) qn__check_lanes_look(frame, instr, counter);
    const uint64_t steps = frame->steps;
    note->checked(frame, instr);
    if (counter->looks) qn__check_lanes_ran(counter, frame->steps - steps);
}

void qn__check_count_instr(qn__check_program *program, qn__vm_instr *instr, qn__check_note *note) {
    const uint32_t also = program->checker->settings.also;
    if (!(also & (QN_CHECK_PROFILE | QN_CHECK_PERFORMANCE))) return;
    qn__check_counter *counter = QN__NEW(program->arena, qn__check_counter);
    *counter = (qn__check_counter){.instr = instr};
    if (also & QN_CHECK_PERFORMANCE) qn__check_lanes_attach(program, counter);
    note->counter = counter;
    note->checked = instr->run;
    instr->run = counted;
    qn__vec_push(program->arena, &program->counters, counter);
}

/* ---- what an instruction is ---- */

static uint64_t *float_operations(qn_check_profile *p, ir_kind kind) {
    return kind == IR_F16 ? &p->f16 : kind == IR_F64 ? &p->f64 : &p->f32;
}

static uint64_t *integer_operations(qn_check_profile *p, ir_kind kind) {
    switch (kind) {
    case IR_I8: return &p->i8;
    case IR_I16: return &p->i16;
    case IR_I64:
    case IR_PTR: return &p->i64;
    default: return &p->i32;
    }
}

static bool is_special(ir_op op) {
    return op == IR_FDIV || op == IR_FREM || op == IR_FSQRT || (op >= IR_NATIVE_EXP2 && op <= IR_NATIVE_DIV);
}

static void add_operations(qn_check_profile *p, const ir_instr *ir, uint64_t items) {
    const ir_op op = (ir_op)ir->op;
    const ir_type type = ir->num_operands ? ir->operands[0]->type : qn__ir_type(IR_VOID, 1);
    const ir_kind kind = (ir_kind)type.kind;
    const uint64_t lanes = items * type.lanes;
    switch (qn__ir_ops[op].rule) {
    case RULE_FLOAT:
        *float_operations(p, kind) += op == IR_FMA ? 2 * lanes : lanes;
        if (is_special(op)) p->special += lanes;
        break;
    case RULE_FCOMPARE: *float_operations(p, kind) += lanes; break;
    case RULE_INT:
    case RULE_LOGIC:
    case RULE_BYTES:
    case RULE_COMPARE: *integer_operations(p, kind) += lanes; break;
    case RULE_PTR_ADD: p->i64 += lanes; break;
    case RULE_CONVERT: p->conversions += lanes; break;
    default: break;
    }
}

static void add_bytes(qn_check_profile *p, unsigned space, uint64_t read, uint64_t written) {
    switch (space) {
    case IR_LOCAL_SPACE: p->local_read += read, p->local_written += written; break;
    case IR_PRIVATE: p->private_read += read, p->private_written += written; break;
    case IR_CONSTANT_SPACE:
    case IR_PARAM_SPACE: p->constant_read += read; break;
    default: p->global_read += read, p->global_written += written;
    }
}

static void add_accesses(qn_check_profile *p, const qn__vm_instr *instr, uint64_t items) {
    const ir_instr *ir = instr->ir;
    const ir_op op = (ir_op)ir->op;
    const bool is_atomic = op >= IR_ATOMIC_LOAD && op <= IR_ATOMIC_CAS;
    const uint64_t bytes = items * instr->lanes * instr->size;
    if (op == IR_COPY) {
        add_bytes(p, ir->operands[0]->type.space, 0, items * ir->attr.size);
        add_bytes(p, ir->operands[1]->type.space, items * ir->attr.size, 0);
    }
    if (op != IR_LOAD && op != IR_STORE && !is_atomic) return;
    const bool reads = op != IR_STORE && op != IR_ATOMIC_STORE,
               writes = op != IR_LOAD && op != IR_ATOMIC_LOAD;
    add_bytes(p, ir->operands[0]->type.space, reads ? bytes : 0, writes ? bytes : 0);
    if (is_atomic) p->atomics += items;
}

/* ---- the end of a launch ---- */

static qn_check_profile *find_profile(qn__checker *checker, const ir_function *kernel) {
    for (size_t i = 0; i < checker->profiles.len; i++)
        if (strcmp(checker->profiles.data[i]->kernel, kernel->name) == 0) return checker->profiles.data[i];
    qn_check_profile *made = QN__NEW(&checker->arena, qn_check_profile);
    *made = (qn_check_profile){.kernel = qn__arena_strdup(&checker->arena, kernel->name)};
    qn__vec_push(&checker->arena, &checker->profiles, made);
    return made;
}

static void add_launch(qn__check_run_state *r, qn_check_profile *p) {
    for (size_t i = 0; i < r->program->counters.len; i++) {
        const qn__check_counter *counter = r->program->counters.data[i];
        add_operations(p, counter->instr->ir, counter->items);
        add_accesses(p, counter->instr, counter->items);
        if (counter->instr->ir->op == IR_BARRIER) p->barriers += counter->times;
    }
    p->launches++;
    for (size_t i = 0; i < r->groups.len; i++) {
        uint64_t items = 1;
        for (unsigned d = 0; d < 3; d++) items *= qn__vm_group_size(r->launch, d, r->groups.data[i].id[d]);
        p->work_items += items;
    }
    const uint64_t bytes = p->global_read + p->global_written;
    p->intensity = bytes ? (double)(p->f16 + p->f32 + p->f64) / (double)bytes : 0;
}

void qn__check_profile_begin(const qn__check_program *program) {
    for (size_t i = 0; i < program->counters.len; i++) {
        program->counters.data[i]->items = program->counters.data[i]->times = 0;
        if (program->counters.data[i]->looks) qn__check_lanes_begin(program->counters.data[i]);
    }
}

/* Of the kernel, and of functions that it calls. */
static void report_unused(qn__check_run_state *r) {
    const ir_function *kernel = r->program->vm->kernel;
    for (size_t i = 0; i < kernel->unused.len; i++) {
        const ir_unused *unused = &kernel->unused.data[i];
        const ir_instr at = {.op = IR_STORE, .loc = unused->stored};
        qn__check_stand_in s;
        qn__check_stand_in_for(&s, r, r->groups.data[0].id, (const uint64_t[3]){0, 0, 0});
        const qn__check_report found = {.kind = QN_FINDING_UNUSED,
                                        .frame = &s.frame,
                                        .instr = &at,
                                        .object = unused->name,
                                        .declared = unused->declared};
        QN__CHECK_REPORT(r->checker, &found, "'%.100s' is given a value here, and nothing reads it",
                         unused->name);
    }
}

void qn__check_profile_end(qn__check_run_state *r, uint64_t local_memory) {
    const uint32_t also = r->checker->settings.also;
    if (also & QN_CHECK_PROFILE) add_launch(r, find_profile(r->checker, r->program->vm->kernel));
    if ((also & QN_CHECK_UNUSED) && r->groups.len) report_unused(r);
    if (!(also & QN_CHECK_PERFORMANCE) || !r->groups.len) return;
    qn__check_lanes_report(r);
    qn__check_occupancy_report(r, local_memory);
}

uint32_t qn__check_profile_count(const qn__checker *checker) { return (uint32_t)checker->profiles.len; }

void qn__check_profile_get(const qn__checker *checker, uint32_t index, qn_check_profile *profile) {
    *profile = *checker->profiles.data[index];
}
