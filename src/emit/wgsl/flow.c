/* Control flow in WGSL: if, loop, blocks, and jumps, which lead out of the innermost loop at most (lower_jumps). */
#include "emit/wgsl/internal.h"

static bool is_skipped(const wgsl_emitter *e, const ir_value *value) {
    return !e->uses[value->id] ||
           (value->type.kind == IR_I64 && value->type.lanes == 1 && !e->demand[value->id]);
}

/* ---- values that constructs set ---- */

static void declare(void *user, const ir_value *value) {
    wgsl_emitter *e = user;
    if (!is_skipped(e, value))
        qn__wgsl_line(e, "var %s: %s;", qn__wgsl_name(e, value), qn__wgsl_value_type(e, value));
}

/* A value where `target` takes it: perhaps its low word alone. */
static const char *given(wgsl_emitter *e, const ir_value *target, const ir_value *value) {
    return qn__wgsl_is_low(e, target) ? qn__wgsl_low(e, value) : qn__wgsl_use_as(e, value, target);
}

static void start(void *user, const ir_value *param, const ir_value *value) {
    wgsl_emitter *e = user;
    if (!is_skipped(e, param))
        qn__wgsl_line(e, "var %s: %s = %s;", qn__wgsl_name(e, param), qn__wgsl_value_type(e, param),
                      given(e, param, value));
}

static const char *condition(void *user, const ir_value *value) {
    wgsl_emitter *e = user;
    const char *text = e->condition ? e->condition : qn__wgsl_use(e, value);
    e->condition = NULL;
    return qn__wgsl_text(e, "(%s)", text);
}

/* A condition on arguments alone, with what the driver does not know to be false: grids have no more groups. */
static const char *unsettled(wgsl_emitter *e, const char *text) {
    e->builtins |= 1u << WGSL_GROUP_ID;
    return qn__wgsl_text(e, "%s || group_id.x > 65535u", text);
}

static bool is_used(void *user, const ir_value *value) { return !is_skipped(user, value); }

static unsigned num_pieces(void *user, const ir_value *target) {
    (void)user, (void)target;
    return 1;
}

static const char *keep(void *user, const ir_value *target, const ir_value *value, unsigned index,
                        unsigned piece) {
    wgsl_emitter *e = user;
    const char *name = qn__wgsl_text(e, "next%u", index);
    (void)piece;
    qn__wgsl_line(e, "let %s = %s;", name, given(e, target, value));
    return name;
}

static void set(void *user, const ir_value *target, const ir_value *value, const char *copy, unsigned piece) {
    wgsl_emitter *e = user;
    (void)piece;
    qn__wgsl_line(e, "%s = %s;", qn__wgsl_name(e, target), copy ? copy : given(e, target, value));
}

static void write_region(void *user, ir_region *region) { qn__wgsl_region(user, region); }

/* As in emit/spirv/control.c: on such a device a loop that work-items leave apart is left at its head alone, where a break
   comes by once more with a flag. */
static bool loses_results(const wgsl_emitter *e, const ir_instr *loop) {
    return e->divergent && loop->op == IR_LOOP && loop->num_results && e->divergent[loop->mark];
}

static bool write_loop(void *user, ir_instr *loop) {
    wgsl_emitter *e = user;
    if (loses_results(e, loop)) qn__wgsl_line(e, "var left%u = false;", loop->mark);
    const ir_instr *outer = qn__c_open_loop(&e->flow, loop, "loop {");
    if (loses_results(e, loop)) qn__wgsl_line(e, "if (left%u) { break; }", loop->mark);
    qn__wgsl_region(e, loop->regions[0]);
    qn__c_close_loop(&e->flow, outer);
    return true;
}

static const qn__c_dialect dialect = {.is_used = is_used,
                                      .num_pieces = num_pieces,
                                      .keep = keep,
                                      .set = set,
                                      .declare = declare,
                                      .start = start,
                                      .condition = condition,
                                      .loop = write_loop,
                                      .region = write_region};

static void jump(wgsl_emitter *e, const ir_instr *instr) {
    const ir_receivers to = qn__ir_receivers(instr);
    qn__c_hand_over(&e->text, e->arena, &dialect, e, to.values, instr->operands, to.count);
    const ir_instr *target = qn__ir_jump_target(instr);
    if (target && instr->op == IR_BREAK && loses_results(e, target)) {
        qn__wgsl_line(e, "left%u = true;", target->mark);
        qn__wgsl_line(e, "continue;");
    } else if (target)
        qn__c_jump(&e->flow, instr);
    else if (instr->parent->owner)
        qn__wgsl_line(e, "return;");
}

/* ---- instructions ---- */

static bool is_dead(const wgsl_emitter *e, const ir_instr *instr) {
    if (qn__ir_ops[instr->op].effects > IR_EFFECT_READ || (instr->flags & IR_VOLATILE)) return false;
    return instr->num_results && is_skipped(e, instr->results[0]);
}

static void emit_instr(wgsl_emitter *e, ir_instr *instr) {
    if (instr->loc.line) e->loc = instr->loc;
    if (instr->op == IR_IF && e->agrees[instr->mark])
        e->condition = qn__wgsl_agreed(e, qn__wgsl_use(e, instr->operands[0]));
    else if (instr->op == IR_IF && e->options->target.lacks_lasting_code && !e->divergent[instr->mark])
        e->condition = unsettled(e, qn__wgsl_use(e, instr->operands[0]));
    if (qn__ir_is_construct(instr))
        qn__c_construct(&e->flow, &dialect, e, instr);
    else if (qn__ir_is_jump(instr))
        jump(e, instr);
    else if (instr->op != IR_VAR && !is_dead(e, instr) && !qn__wgsl_memory(e, instr) &&
             !qn__wgsl_atomic(e, instr) && !qn__wgsl_group(e, instr))
        qn__wgsl_op(e, instr);
}

void qn__wgsl_region(wgsl_emitter *e, ir_region *region) {
    for (ir_instr *i = region->first; i; i = i->next) emit_instr(e, i);
}
