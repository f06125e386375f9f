/* Which __constant pointers are to the program's own objects. OpenCL C 1.2 tells __constant and __global apart
   for good, and drivers limit what may be passed as __constant (often 64 KB), while quern does not: so a
   __constant argument is passed as a __global one unless its pointers meet with pointers to objects. */
#include "emit/clc/internal.h"

static void visit(ir_instr *instr, void *user) {
    clc_emitter *e = user;
    const qn__points_to *sets = &e->constant_sets;
    if (instr->op != IR_GLOBAL) return;
    e->space_is_object[qn__points_to_root(sets, instr->results[0]->id)] = true;
    if (e->module->globals.data[instr->attr.index].relocations.len)
        e->space_is_object[qn__points_to_root(sets, qn__points_to_escaped(sets, IR_CONSTANT_SPACE))] = true;
}

/* Literals are spelled as what they meet, so pointers that are compared are of one spelling. */
void qn__clc_find_spaces(clc_emitter *e) {
    e->constant_sets = qn__points_to_find(e->arena, e->kernel, 1u << IR_CONSTANT_SPACE, 0, true);
    e->space_is_object = QN__NEW_ARRAY(e->arena, bool, e->constant_sets.count);
    qn__ir_walk(e->kernel->body, visit, e);
}

bool qn__clc_is_object(const clc_emitter *e, const ir_value *pointer) {
    return pointer->value_kind <= IR_VALUE_ARG &&
           e->space_is_object[qn__points_to_root(&e->constant_sets, pointer->id)];
}
