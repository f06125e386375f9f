/* For the checker (wants_checks): accesses that it is to see stay as the source has them, in number, place and order. What
   can go wrong with memory is in the access itself, so that none may be merged with another, moved out of a loop, or
   dropped because nobody wants its value.

       %x = load i32 %p   ->   %x = load i32 volatile %p

   Before inlining those of memory that work-items share are kept; behind it, when it shows where pointers lead to, those of
   private arrays that do not lie at a constant place within them. The others become values, as ever. The flag `written` tells
   what the program's own text says from what only serves it: quotients and shifts that are not the library's, and accesses that
   are volatile by themselves. */
#include "pass/tools.h"

static uint64_t bytes_of(const ir_instr *access) {
    if (access->op == IR_COPY) return access->attr.size;
    const ir_type type = access->op == IR_LOAD ? access->results[0]->type : access->operands[1]->type;
    return (uint64_t)qn__ir_bits(type) / 8 * type.lanes;
}

/* A private access at a constant place within its variable. */
static bool is_within(const ir_instr *access, const ir_value *pointer) {
    int64_t offset = access->op == IR_COPY ? 0 : access->attr.offset;
    enum { FAR = 1 << 30 };
    for (; qn__defined_by(pointer, IR_PTR_ADD); pointer = pointer->def->operands[0]) {
        const ir_instr *add = pointer->def;
        if (!qn__ir_is_const(add->operands[1])) return false;
        const int64_t step = (int64_t)add->operands[1]->bits[0];
        if (step < -FAR || step > FAR || add->attr.offset < -FAR || add->attr.offset > FAR) return false;
        offset += step + add->attr.offset;
        if (offset < -FAR || offset > FAR) return false;
    }
    if (!qn__defined_by(pointer, IR_VAR)) return false;
    const uint64_t size = pointer->def->attr.var->size, bytes = bytes_of(access);
    return offset >= 0 && (uint64_t)offset <= size && bytes <= size - (uint64_t)offset;
}

typedef struct keeper {
    bool is_private; /* these, else those of shared memory */
    bool is_library; /* or its language defines all of arithmetic */
    bool overflows;  /* are looked for */
    bool changed;
} keeper;

static bool is_wanted(const keeper *k, const ir_instr *access, const ir_value *pointer) {
    const unsigned space = pointer->type.space;
    if (k->is_private) return space == IR_PRIVATE && !is_within(access, pointer);
    return space == IR_GLOBAL_SPACE || space == IR_LOCAL_SPACE || space == IR_GENERIC_SPACE;
}

static void mark_arithmetic(const keeper *k, ir_instr *instr) {
    const bool is_whole =
        (instr->op >= IR_UDIV && instr->op <= IR_SREM) || (instr->op >= IR_SHL && instr->op <= IR_ASHR);
    const bool is_sum = (instr->op == IR_ADD || instr->op == IR_SUB || instr->op == IR_MUL) && k->overflows &&
                        (instr->flags & IR_NSW);
    const bool converts = instr->op == IR_F2S || instr->op == IR_F2U;
    if (k->is_library && converts)
        instr->flags &= (uint16_t)~IR_WRITTEN; /* lowering marks what does not saturate */
    if (!k->is_library && (is_whole || is_sum)) instr->flags |= IR_WRITTEN;
}

static void visit(ir_instr *instr, void *user) {
    keeper *k = user;
    const bool is_access = instr->op == IR_LOAD || instr->op == IR_STORE || instr->op == IR_COPY;
    if (!k->is_private) mark_arithmetic(k, instr);
    if (is_access && !k->is_private && (instr->flags & IR_VOLATILE)) instr->flags |= IR_WRITTEN;
    if (!is_access || (instr->flags & IR_VOLATILE)) return;
    if (!is_wanted(k, instr, instr->operands[0]) &&
        (instr->op != IR_COPY || !is_wanted(k, instr, instr->operands[1])))
        return;
    instr->flags = (uint16_t)((instr->flags & ~IR_READONLY) | IR_VOLATILE);
    k->changed = true;
}

static bool keep(qn__pass_context *context, bool is_private) {
    keeper k = {.is_private = is_private,
                .is_library = context->function->is_library || context->function->is_total,
                .overflows = context->options->target.wants_overflows};
    qn__ir_walk(context->function->body, visit, &k);
    return k.changed;
}

bool qn__pass_keep_shared(qn__pass_context *context) { return keep(context, false); }
bool qn__pass_keep_private(qn__pass_context *context) { return keep(context, true); }
