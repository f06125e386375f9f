/* Which buffers a kernel only reads: the flag no_write of its arguments, which reflection hands on (is_written in
   code_info.def), so that a launch leaves the host's side of such a buffer valid.

       kernel @f(%0.in: ptr.global buffer, ...)   ->   kernel @f(%0.in: ptr.global buffer no_write, ...)

   Pointers are followed by sets (points_to.c). What an argument shares with all that goes through memory or integers
   is written if anything there is; of a pointer to const the source's promise counts then. It stands where
   variables have become values, and before lowerings take pointers apart. */
#include "pass/tools.h"

typedef struct finder {
    const qn__points_to *sets;
    bool *written; /* by root */
    bool any;      /* a call may write through all of them */
    bool by_map; /* a tile may be stored to what any of them leads to, but where the source promises not to */
} finder;

/* Atomic loads count as writes by their effect alone. */
static bool writes(const ir_instr *instr) {
    const bool may = qn__effects(instr) == IR_EFFECT_WRITE || qn__effects(instr) == IR_EFFECT_READWRITE;
    const bool adds = instr->op == IR_NATIVE && instr->attr.index == IR_NATIVE_ADD4;
    return (may || adds) && instr->op != IR_ATOMIC_LOAD && instr->num_operands;
}

static void look_at(ir_instr *instr, void *user) {
    finder *f = user;
    f->any |= instr->op == IR_CALL;
    f->by_map |= instr->op == IR_NATIVE &&
                 (instr->attr.index == IR_NATIVE_TILE_STORE || instr->attr.index == IR_NATIVE_WINDOW_STORE);
    if (!writes(instr)) return;
    const ir_value *to = instr->operands[0];
    if (to->type.kind == IR_PTR && to->type.space == IR_GLOBAL_SPACE && to->value_kind <= IR_VALUE_ARG)
        f->written[qn__points_to_root(f->sets, to->id)] = true;
}

static bool is_only_read(const finder *f, const ir_arg *arg) {
    const uint32_t root = qn__points_to_root(f->sets, arg->value->id);
    if (f->by_map && !(arg->flags & IR_ARG_CONST)) return false;
    const uint32_t mixed = qn__points_to_root(f->sets, qn__points_to_escaped(f->sets, IR_GLOBAL_SPACE));
    return !f->written[root] || (root == mixed && (arg->flags & IR_ARG_CONST));
}

bool qn__pass_no_write(qn__pass_context *context) {
    const ir_function *kernel = context->function;
    if (!kernel->is_kernel) return false;
    const qn__points_to sets = qn__points_to_find(context->scratch, kernel, 1u << IR_GLOBAL_SPACE, 0, false);
    finder f = {&sets, QN__NEW_ARRAY(context->scratch, bool, sets.count), false, false};
    bool changed = false;
    qn__ir_walk(kernel->body, look_at, &f);
    for (size_t i = 0; i < kernel->args.len && !f.any; i++) {
        ir_arg *arg = &kernel->args.data[i];
        const bool is_global = arg->arg_kind == IR_ARG_BUFFER && arg->value->type.space == IR_GLOBAL_SPACE;
        if (!is_global || (arg->flags & IR_ARG_NO_WRITE) || !is_only_read(&f, arg)) continue;
        arg->flags |= IR_ARG_NO_WRITE;
        changed = true;
    }
    return changed;
}
