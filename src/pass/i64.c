/* Whether a module asks for 64-bit integers, beyond addresses and sizes: what loads or stores them, takes them as
   arguments or divides them is better done by them; atomics and vectors of them cannot be done otherwise. */
#include "pass/analysis.h"

static void see(qn__i64_use *use, const ir_instr *instr, bool needs) {
    use->wanted = true;
    if (needs && !use->needed) use->needed = instr;
}

static bool is_atomic(const ir_instr *instr) {
    return instr->op >= IR_ATOMIC_LOAD && instr->op <= IR_ATOMIC_CAS;
}

static void see_access(qn__i64_use *use, const ir_instr *instr) {
    const bool atomic = is_atomic(instr);
    const ir_type type = instr->num_results ? instr->results[0]->type : instr->operands[1]->type;
    if (type.kind == IR_I64 || (atomic && qn__ir_bits(type) == 64))
        see(use, instr, atomic || (type.kind == IR_I64 && type.lanes > 1));
}

static void see_instr(qn__i64_use *use, const ir_instr *instr) {
    switch (instr->op) {
    case IR_LOAD:
    case IR_STORE:
    case IR_ATOMIC_LOAD:
    case IR_ATOMIC_STORE:
    case IR_ATOMIC_RMW:
    case IR_ATOMIC_CAS: see_access(use, instr); return;
    case IR_UDIV:
    case IR_SDIV:
    case IR_UREM:
    case IR_SREM:
        if (instr->results[0]->type.kind == IR_I64) see(use, instr, false);
        break;
    case IR_GROUP_REDUCE:
    case IR_GROUP_SCAN:
        if (instr->results[0]->type.kind == IR_I64) see(use, instr, true);
        break;
    default: break;
    }
    for (uint32_t i = 0; i < instr->num_results; i++)
        if (instr->results[i]->type.kind == IR_I64 && instr->results[i]->type.lanes > 1)
            see(use, instr, true);
}

/* Most instructions have one result, of another type. */
static void visit(qn__i64_use *use, const ir_region *region) {
    for (const ir_instr *i = region->first; i; i = i->next) {
        if (i->num_results != 1 || i->results[0]->type.kind == IR_I64 || i->num_regions || is_atomic(i))
            see_instr(use, i);
        for (uint32_t r = 0; r < i->num_regions; r++) visit(use, i->regions[r]);
    }
}

qn__i64_use qn__find_i64_use(const ir_module *module) {
    qn__i64_use use = {0};
    for (size_t f = 0; f < module->functions.len; f++) {
        const ir_function *function = module->functions.data[f];
        if (!function->is_kernel) continue;
        for (size_t i = 0; i < function->args.len; i++)
            use.wanted |= function->args.data[i].value->type.kind == IR_I64;
        visit(&use, function->body);
    }
    return use;
}
