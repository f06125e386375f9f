/* Loop-invariant code moves in front of the outermost loop in which nothing it depends on changes. What has
   no effect and cannot fail moves even if the loop would not have run it; a division, or a load from memory
   that the loop does not write, moves only from where every run of the loop comes by before anything can
   leave it.

       loop (%i = 0) {                          %k = mul %n, %n
         %k = mul %n, %n; ... }          ->     loop (%i = 0) { ... }

   One walk in program order: when an instruction is met, its operands have been moved already, so the depth
   where each became available is known. */
#include <string.h>

#include "pass/tools.h"

enum { MAX_DEPTH = 64 };

typedef struct hoister {
    qn__pass_context *context;
    uint8_t *depth_of;              /* by value id: loops around the place where the value is available */
    ir_instr *loops[MAX_DEPTH + 1]; /* [1] is the outermost around the place visited */
    bool changed;
} hoister;

static uint32_t operand_depth(const hoister *h, const ir_instr *instr) {
    uint32_t depth = 0;
    for (uint32_t i = 0; i < instr->num_operands; i++) {
        const uint32_t d = h->depth_of[instr->operands[i]->id];
        if (d > depth) depth = d;
    }
    return depth;
}

/* The depth to move to. `certain`: from entering the loop of this depth, or one inside it, one surely gets
   here. */
static uint32_t target_depth(const hoister *h, const ir_instr *instr, uint32_t depth, uint32_t certain) {
    const uint32_t lowest = operand_depth(h, instr);
    const bool load = instr->op == IR_LOAD;
    uint32_t target = depth;
    while (target > lowest) {
        if ((load || qn__may_trap(instr)) && target < certain) break;
        if (load && !(instr->flags & IR_READONLY) &&
            (h->loops[target]->mark & 1u << instr->operands[0]->type.space))
            break;
        target--;
    }
    return target;
}

static bool movable(const ir_instr *instr) {
    if (qn__effects(instr) <= IR_EFFECT_QUERY) return true;
    return instr->op == IR_LOAD && !(instr->flags & IR_VOLATILE);
}

/* Until then it is 0. */
static void set_depth(hoister *h, ir_value *const *values, uint32_t count, uint32_t depth) {
    for (uint32_t i = 0; depth && i < count; i++) h->depth_of[values[i]->id] = (uint8_t)depth;
}

static void visit(hoister *h, ir_region *region, uint32_t depth, uint32_t certain) {
    for (ir_instr *i = region->first, *next; i; i = next) {
        next = i->next;
        if (movable(i)) {
            if (!depth) continue;
            const uint32_t target = target_depth(h, i, depth, certain);
            set_depth(h, i->results, i->num_results, target);
            if (target == depth) continue;
            qn__ir_unlink(i);
            qn__ir_insert_before(i, h->loops[target + 1]);
            h->changed = true;
            continue;
        }
        set_depth(h, i->results, i->num_results, depth);
        if (!i->num_regions) continue;
        if (i->op == IR_LOOP && depth < MAX_DEPTH) {
            h->loops[depth + 1] = i;
            set_depth(h, i->regions[0]->params, i->regions[0]->num_params, depth + 1);
            visit(h, i->regions[0], depth + 1, certain);
        } else if (i->op != IR_LOOP) {
            for (uint32_t r = 0; r < i->num_regions; r++)
                visit(h, i->regions[r], depth, i->op == IR_BLOCK ? certain : depth + 1);
        }
        if (i->mark & QN__MARK_JUMPS_OUT) certain = depth + 1;
    }
}

bool qn__pass_licm(qn__pass_context *context) {
    ir_function *function = context->function;
    hoister h = {.context = context};
    if (!function->has[IR_LOOP]) return false;
    h.depth_of = QN__NEW_ARRAY(context->scratch, uint8_t, function->num_values + 1u);
    qn__mark_effects(function->body);
    visit(&h, function->body, 0, 0);
    return h.changed;
}
