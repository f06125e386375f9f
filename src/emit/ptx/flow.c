/* Control flow of the PTX target: constructs become labels and branches, and the values that a jump hands over
   become moves into the registers of who receives them. */
#include "emit/ptx/internal.h"

typedef bool ptx_handler(ptx_emitter *e, const ir_instr *instr);

/* ---- moves ---- */

static bool same_register(ptx_operand a, ptx_operand b) {
    return a.kind == PTX_REG && b.kind == PTX_REG && a.cls == b.cls && a.reg == b.reg;
}

/* The receivers' registers were declared in this order, so those of a class are numbered upwards: a source
   among them that is numbered lower has been overwritten by then, and is saved first. */
static void assign(ptx_emitter *e, ir_receivers to, ir_value *const *from) {
    uint32_t lowest[PTX_CLASS_COUNT], lanes = 0;
    for (int c = 0; c < PTX_CLASS_COUNT; c++) lowest[c] = UINT32_MAX;
    for (uint32_t i = 0; i < to.count; i++) {
        ptx_operand first = qn__ptx_held(e, to.values[i], 0);
        if (first.reg < lowest[first.cls]) lowest[first.cls] = first.reg;
        lanes += to.values[i]->type.lanes;
    }
    ptx_operand *sources = QN__NEW_ARRAY(e->arena, ptx_operand, lanes + 1);
    uint32_t at = 0;
    for (uint32_t i = 0; i < to.count; i++) {
        for (unsigned l = 0; l < to.values[i]->type.lanes; l++, at++) {
            ptx_operand target = qn__ptx_held(e, to.values[i], l);
            bool is_low = from[i]->type.kind == IR_I64 && target.cls == PTX_B32;
            ptx_operand source = is_low ? qn__ptx_use_short(e, from[i], l) : qn__ptx_use(e, from[i], l);
            if (target.cls == PTX_B32) source = qn__ptx_low(e, source);
            if (source.kind == PTX_REG && source.cls == target.cls && source.reg >= lowest[source.cls] &&
                source.reg < target.reg) {
                ptx_operand saved = qn__ptx_new(e, target.cls);
                qn__ptx_move(e, saved, source);
                source = saved;
            }
            sources[at] = source;
        }
    }
    at = 0;
    for (uint32_t i = 0; i < to.count; i++) {
        for (unsigned l = 0; l < to.values[i]->type.lanes; l++, at++) {
            ptx_operand target = qn__ptx_held(e, to.values[i], l);
            if (!same_register(target, sources[at])) qn__ptx_move(e, target, sources[at]);
        }
    }
}

/* A construct with one way out needs no registers for its results: they are those of what that jump gives, which
   nothing changes before the construct runs again. */
static bool has_one_exit(const ptx_emitter *e, const ir_instr *construct) {
    return e->exits[construct->mark] == 1;
}

static void declare_results(ptx_emitter *e, const ir_instr *construct) {
    if (has_one_exit(e, construct)) return;
    for (uint32_t i = 0; i < construct->num_results; i++) qn__ptx_declare(e, construct->results[i]);
}

static void hand_over(ptx_emitter *e, const ir_instr *jump) {
    ir_receivers to = qn__ir_receivers(jump);
    if (jump->op == IR_CONTINUE || !to.count || !has_one_exit(e, qn__ir_jump_target(jump))) {
        assign(e, to, jump->operands);
        return;
    }
    for (uint32_t i = 0; i < to.count; i++)
        for (unsigned lane = 0; lane < to.values[i]->type.lanes; lane++)
            qn__ptx_define(e, to.values[i], lane, qn__ptx_use(e, jump->operands[i], lane));
}

/* ---- labels ---- */

/* A construct has two labels: its end, and the head of a loop. */
static uint32_t end_label(const ptx_emitter *e, const ir_instr *construct) {
    return e->labels[construct->mark];
}
static uint32_t head_label(const ptx_emitter *e, const ir_instr *loop) { return e->labels[loop->mark] + 1; }

static void new_labels(ptx_emitter *e, const ir_instr *construct) {
    e->labels[construct->mark] = e->next_label;
    e->next_label += 2;
}

static void branch(ptx_emitter *e, uint32_t label) { qn__ptx(e, "bra L#;", (int64_t)label); }

static void branch_where(ptx_emitter *e, ptx_operand condition, bool holds, uint32_t label) {
    qn__ptx(e, holds ? "@$ bra L#;" : "@!$ bra L#;", condition, (int64_t)label);
}

static uint32_t label_of(const ptx_emitter *e, const ir_instr *jump) {
    const ir_instr *target = qn__ir_jump_target(jump);
    return jump->op == IR_CONTINUE ? head_label(e, target) : end_label(e, target);
}

/* A jump that leaves its region and moves nothing. */
static bool is_bare_jump(const ptx_emitter *e, const ir_instr *instr) {
    if (instr->op == IR_RETURN) return true;
    if (instr->op == IR_BREAK && has_one_exit(e, qn__ir_jump_target(instr))) return true;
    return (instr->op == IR_BREAK || instr->op == IR_CONTINUE) && !instr->num_operands;
}

static void jump(ptx_emitter *e, const ir_instr *instr, bool falls_through) {
    if (instr->op == IR_RETURN) {
        qn__ptx(e, "ret;");
        return;
    }
    if (instr->op == IR_UNREACHABLE) {
        qn__ptx(e, "trap;");
        return;
    }
    hand_over(e, instr);
    if (!falls_through) branch(e, label_of(e, instr));
}

/* ---- constructs ---- */

static void region_falling_through(ptx_emitter *e, ir_region *region);

static void conditional_jump(ptx_emitter *e, ptx_operand condition, bool holds, const ir_instr *instr) {
    if (instr->op == IR_RETURN) {
        qn__ptx(e, holds ? "@$ ret;" : "@!$ ret;", condition);
        return;
    }
    hand_over(e, instr);
    branch_where(e, condition, holds, label_of(e, instr));
}

static bool only_yields(const ir_region *region) {
    return region->first == region->last && region->first->op == IR_YIELD;
}

/* One way does nothing but hand over values: they are there before the branch, which then jumps over the other. */
static void skipping(ptx_emitter *e, const ir_instr *instr, ptx_operand condition, bool holds,
                     ir_region *idle, ir_region *other) {
    hand_over(e, idle->first);
    branch_where(e, condition, holds, end_label(e, instr));
    region_falling_through(e, other);
}

static void if_construct(ptx_emitter *e, const ir_instr *instr) {
    ptx_operand condition = qn__ptx_in_register(e, qn__ptx_use(e, instr->operands[0], 0));
    ir_region *yes = instr->regions[0], *no = instr->regions[1];
    declare_results(e, instr);
    new_labels(e, instr);
    uint32_t end = end_label(e, instr);
    if (yes->first == yes->last && is_bare_jump(e, yes->first)) {
        conditional_jump(e, condition, true, yes->first);
        region_falling_through(e, no);
    } else if (no->first == no->last && is_bare_jump(e, no->first)) {
        conditional_jump(e, condition, false, no->first);
        region_falling_through(e, yes);
    } else if (only_yields(no)) {
        skipping(e, instr, condition, false, no, yes);
    } else if (only_yields(yes)) {
        skipping(e, instr, condition, true, yes, no);
    } else {
        branch_where(e, condition, false, end + 1);
        qn__ptx_region(e, yes);
        qn__ptx_label(e, end + 1);
        region_falling_through(e, no);
    }
    qn__ptx_label(e, end);
}

static void loop_construct(ptx_emitter *e, const ir_instr *instr) {
    ir_region *body = instr->regions[0];
    declare_results(e, instr);
    for (uint32_t i = 0; i < body->num_params; i++) qn__ptx_declare(e, body->params[i]);
    assign(e, qn__ir_receivers(instr), instr->operands);
    new_labels(e, instr);
    qn__ptx_label(e, head_label(e, instr));
    if (instr->attr.unroll == 1) qn__ptx(e, ".pragma \"nounroll\";");
    qn__ptx_region(e, body);
    qn__ptx_label(e, end_label(e, instr));
}

static void block_construct(ptx_emitter *e, const ir_instr *instr) {
    declare_results(e, instr);
    new_labels(e, instr);
    region_falling_through(e, instr->regions[0]);
    qn__ptx_label(e, end_label(e, instr));
}

/* ---- instructions ---- */

static void locate(ptx_emitter *e, ir_loc loc) {
    e->loc = loc;
    if (!e->options->debug || !loc.line || (loc.line == e->last_loc.line && loc.file == e->last_loc.file))
        return;
    e->last_loc = loc;
    qn__ptx(e, ".loc # # #", (int64_t)loc.file + 1, (int64_t)loc.line, (int64_t)loc.column);
}

static bool is_unused(const ptx_emitter *e, const ir_instr *instr) {
    if (!instr->num_results || !qn__ir_is_removable(instr)) return false;
    for (uint32_t i = 0; i < instr->num_results; i++)
        if (e->uses[instr->results[i]->id]) return false;
    return true;
}

static void plain(ptx_emitter *e, const ir_instr *instr) {
    static ptx_handler *const handlers[] = {qn__ptx_arith,  qn__ptx_async, qn__ptx_memory, qn__ptx_convert,
                                            qn__ptx_vector, qn__ptx_query, qn__ptx_atomic, qn__ptx_group,
                                            qn__ptx_matrix, qn__ptx_native};
    if (is_unused(e, instr)) return;
    for (size_t i = 0; i < QN__COUNT(handlers); i++)
        if (handlers[i](e, instr)) return;
    qn__ptx_refuse(e, instr);
    for (uint32_t i = 0; i < instr->num_results; i++) qn__ptx_declare(e, instr->results[i]);
}

static void emit_region(ptx_emitter *e, ir_region *region, bool falls_through) {
    for (ir_instr *instr = region->first; instr; instr = instr->next) {
        locate(e, instr->loc);
        switch (instr->op) {
        case IR_IF: if_construct(e, instr); break;
        case IR_LOOP: loop_construct(e, instr); break;
        case IR_BLOCK: block_construct(e, instr); break;
        default:
            if (qn__ir_is_jump(instr))
                jump(e, instr, falls_through && instr->op == IR_YIELD);
            else
                plain(e, instr);
        }
    }
}

void qn__ptx_region(ptx_emitter *e, ir_region *region) { emit_region(e, region, false); }

/* The construct's end follows at once: a yield need not branch there. */
static void region_falling_through(ptx_emitter *e, ir_region *region) { emit_region(e, region, true); }
