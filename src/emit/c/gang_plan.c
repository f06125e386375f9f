/* Shapes of values among the members of a gang, and which chunks run as gangs. Lines are found by an
   optimistic fixed point, as induction variables are: a value is a line until a source shows otherwise. */
#include "emit/c/gang.h"

enum { STRIDE_MOST = 1 << 16 };

typedef struct line_scan {
    const c_plan *plan;
    c_gang *gang;
    bool changed;
} line_scan;

static c_line line_of(const c_gang *gang, const ir_value *value) {
    if (value->value_kind > IR_VALUE_PARAM || !gang->row.varying[value->id])
        return (c_line){LINE_IS, false, 0};
    return gang->lines[value->id];
}

static void meet(line_scan *scan, const ir_value *value, c_line with) {
    c_line *line = &scan->gang->lines[value->id];
    if (with.state == 0 || line->state == LINE_NOT) return;
    bool too_far = with.stride > STRIDE_MOST || with.stride < -STRIDE_MOST;
    bool differs = line->state == LINE_IS && line->stride != with.stride;
    if (with.state == LINE_NOT || too_far || differs ||
        (value->value_kind == IR_VALUE_PARAM && with.guarded)) {
        *line = (c_line){LINE_NOT, false, 0};
        scan->changed = true;
    } else if (line->state != LINE_IS || line->guarded != (line->guarded || with.guarded)) {
        with.guarded = with.guarded || line->guarded;
        *line = with;
        scan->changed = true;
    }
}

/* ---- the lines of instructions ---- */

static bool is_id(const ir_value *value) {
    return value->value_kind == IR_VALUE_RESULT &&
           (value->def->op == IR_GLOBAL_ID || value->def->op == IR_LOCAL_ID);
}

/* A 32-bit value that does not wrap between neighbours: ids do not, and arithmetic that says so. */
static bool is_exact(const c_gang *gang, const ir_value *value, unsigned flag, unsigned depth) {
    if (value->value_kind > IR_VALUE_PARAM || !gang->row.varying[value->id]) return true;
    if (depth == 0 || value->value_kind == IR_VALUE_PARAM) return false;
    const ir_instr *def = value->def;
    if (def->op == IR_TRUNC) return is_id(def->operands[0]);
    if (def->op != IR_ADD && def->op != IR_SUB && def->op != IR_MUL && def->op != IR_SHL) return false;
    if (!(def->flags & flag)) return false;
    return is_exact(gang, def->operands[0], flag, depth - 1) &&
           is_exact(gang, def->operands[1], flag, depth - 1);
}

bool qn__c_line_is_exact(const c_gang *gang, const ir_instr *extension) {
    return is_exact(gang, extension->operands[0], extension->op == IR_SEXT ? IR_NSW : IR_NUW, 16);
}

static c_line sum(c_line a, c_line b, int sign) {
    if (a.state == 0 || b.state == 0) return (c_line){0};
    if (a.state == LINE_NOT || b.state == LINE_NOT) return (c_line){LINE_NOT, false, 0};
    return (c_line){LINE_IS, a.guarded || b.guarded, a.stride + sign * b.stride};
}

static c_line scaled(c_line a, const ir_value *by, bool shift) {
    if (a.state != LINE_IS) return a;
    if (!qn__ir_is_const(by)) return (c_line){LINE_NOT, false, 0};
    unsigned width = qn__ir_bits(by->type);
    int64_t factor = (int64_t)(by->bits[0] << (64 - width)) >> (64 - width);
    if (shift) factor = factor >= 0 && factor < 20 ? (int64_t)1 << factor : 0;
    if (factor == 0 || factor > STRIDE_MOST || factor < -STRIDE_MOST) return (c_line){LINE_NOT, false, 0};
    a.stride *= factor;
    return a;
}

static c_line line_of_instr(const c_gang *gang, const ir_instr *instr) {
    const ir_value *const *operands = (const ir_value *const *)instr->operands;
    ir_type type = instr->results[0]->type;
    c_line not_one = {LINE_NOT, false, 0};
    if (type.lanes != 1 || (type.kind != IR_I32 && type.kind != IR_I64 && type.kind != IR_PTR))
        return not_one;
    switch (instr->op) {
    case IR_GLOBAL_ID:
    case IR_LOCAL_ID: return (c_line){LINE_IS, false, 1};
    case IR_ADD:
    case IR_PTR_ADD: return sum(line_of(gang, operands[0]), line_of(gang, operands[1]), 1);
    case IR_SUB: return sum(line_of(gang, operands[0]), line_of(gang, operands[1]), -1);
    case IR_SHL: return scaled(line_of(gang, operands[0]), operands[1], true);
    case IR_MUL:
        if (qn__ir_is_const(operands[0])) return scaled(line_of(gang, operands[1]), operands[0], false);
        return scaled(line_of(gang, operands[0]), operands[1], false);
    case IR_TRUNC: {
        /* Of a guarded line the low half is free of the guard's condition, but not known to be. */
        c_line line = line_of(gang, operands[0]);
        return line.guarded ? not_one : line;
    }
    case IR_SEXT:
    case IR_ZEXT: {
        c_line line = line_of(gang, operands[0]);
        if (operands[0]->type.kind != IR_I32) return not_one;
        if (line.state == LINE_IS && !qn__c_line_is_exact(gang, instr)) line.guarded = true;
        return line;
    }
    default: return not_one;
    }
}

static bool leaves_varying(const c_gang *gang, const ir_instr *jump) {
    const ir_instr *target = qn__ir_jump_target(jump);
    for (const ir_instr *at = jump->parent->owner; at && at != target; at = at->parent->owner) {
        if (gang->row.varying_branch[at->mark]) return true;
    }
    return false;
}

static void visit(ir_instr *instr, void *user) {
    line_scan *scan = user;
    const c_gang *gang = scan->gang;
    if (instr->op == IR_LOOP || instr->op == IR_CONTINUE) {
        const ir_instr *loop = instr->op == IR_LOOP ? instr : instr->attr.target;
        const ir_region *body = loop->regions[0];
        bool divergent = instr->op == IR_CONTINUE && leaves_varying(gang, instr);
        for (uint32_t i = 0; i < body->num_params; i++) {
            ir_type type = body->params[i]->type;
            c_line line = line_of(gang, instr->operands[i]);
            bool number = type.kind == IR_I32 || type.kind == IR_I64 || type.kind == IR_PTR;
            bool kept = scan->plan->storage[body->params[i]->id] == STORAGE_CONTEXT;
            if (divergent || kept || !number || type.lanes != 1) line = (c_line){LINE_NOT, false, 0};
            meet(scan, body->params[i], line);
        }
    }
    if (qn__ir_is_jump(instr)) return;
    for (uint32_t i = 0; i < instr->num_results; i++) {
        const ir_value *result = instr->results[i];
        if (!gang->row.varying[result->id]) continue;
        bool plain = !qn__ir_is_construct(instr) && scan->plan->storage[result->id] != STORAGE_CONTEXT;
        meet(scan, result, plain ? line_of_instr(gang, instr) : (c_line){LINE_NOT, false, 0});
    }
}

/* ---- which chunks ---- */

enum { GATHER_COST = 3 };

/* What speaks for and against a gang in each chunk's loops: a gather (a load or store whose addresses are not
   a line) is done member by member and costs as much as GATHER_COST instructions win. Without loops the host compiler does it,
   but where an index of 32 bits may wrap, which only a gang looks at first; that pays where groups have a size that is known. */
typedef struct chunk_scan {
    const c_plan *plan;
    const c_gang *gang;
    bool *loops, *wraps, *refused;
    uint32_t *gathers, *others;
} chunk_scan;

static bool in_loop(const ir_instr *instr) {
    for (const ir_instr *at = instr->parent->owner; at; at = at->parent->owner)
        if (at->op == IR_LOOP) return true;
    return false;
}

static void weigh(chunk_scan *scan, const ir_instr *instr, uint32_t chunk) {
    if (!in_loop(instr) || qn__ir_is_jump(instr)) return;
    bool is_memory = instr->op == IR_LOAD || instr->op == IR_STORE;
    const ir_value *judged = is_memory ? instr->operands[0] : instr->num_results ? instr->results[0] : NULL;
    if (!judged || line_of(scan->gang, judged).state == LINE_IS) return;
    if (!is_memory && !qn__c_is_vector(judged->type)) return; /* no SIMD anyway */
    uint32_t *count = is_memory ? scan->gathers : scan->others;
    const ir_value *moved = instr->op == IR_STORE ? instr->operands[1]
                            : instr->num_results  ? instr->results[0]
                                                  : judged;
    count[chunk] += moved->type.lanes;
}

static void visit_chunk(ir_instr *instr, void *user) {
    chunk_scan *scan = user;
    uint32_t chunk = scan->plan->chunk[instr->mark];
    weigh(scan, instr, chunk);
    if (instr->op == IR_LOAD || instr->op == IR_STORE) {
        const c_line line = line_of(scan->gang, instr->operands[0]);
        if (line.state == LINE_IS && line.guarded) scan->wraps[chunk] = true;
    }
    if (instr->op == IR_LOOP && !scan->plan->in_step[instr->mark]) {
        scan->loops[chunk] = true;
        /* Loops over wide vectors fill the SIMD registers by themselves. */
        for (uint32_t i = 0; i < instr->regions[0]->num_params; i++)
            if (instr->regions[0]->params[i]->type.lanes >= 4) scan->refused[chunk] = true;
    }
    if (instr->op == IR_VAR) scan->refused[chunk] = true;
    for (uint32_t i = 0; i < instr->num_operands; i++) {
        const ir_value *operand = instr->operands[i];
        if (operand->value_kind == IR_VALUE_RESULT && operand->type.kind == IR_PTR &&
            operand->type.space == IR_PRIVATE)
            scan->refused[chunk] = true;
    }
}

c_gang *qn__c_gang_plan(qn__arena *arena, const c_plan *plan) {
    c_gang *gang = QN__NEW(arena, c_gang);
    size_t values = (size_t)plan->kernel->num_values + 1;
    bool *forced = QN__NEW_ARRAY(arena, bool, values);
    for (size_t i = 0; i < values; i++) forced[i] = plan->storage[i] == STORAGE_CONTEXT;
    gang->row = qn__uniformity_analyse_row(arena, plan->kernel, forced);
    gang->lines = QN__NEW_ARRAY(arena, c_line, values);
    gang->chunks = QN__NEW_ARRAY(arena, bool, (size_t)plan->num_chunks + 1);
    line_scan scan = {plan, gang, false};
    do {
        scan.changed = false;
        qn__ir_walk(plan->kernel->body, visit, &scan);
    } while (scan.changed);
    size_t num_chunks = (size_t)plan->num_chunks + 1;
    chunk_scan chunks = {.plan = plan,
                         .gang = gang,
                         .loops = gang->chunks,
                         .wraps = QN__NEW_ARRAY(arena, bool, num_chunks),
                         .refused = QN__NEW_ARRAY(arena, bool, num_chunks),
                         .gathers = QN__NEW_ARRAY(arena, uint32_t, num_chunks),
                         .others = QN__NEW_ARRAY(arena, uint32_t, num_chunks)};
    qn__ir_walk(plan->kernel->body, visit_chunk, &chunks);
    gang->wide = QN__NEW_ARRAY(arena, bool, num_chunks);
    const uint32_t *local = plan->kernel->reqd_local;
    const bool alone = local[0] == 1 && local[1] == 1 && local[2] == 1; /* nobody to go in step with */
    for (uint32_t i = 0; i < num_chunks; i++) {
        bool loops = gang->chunks[i];
        gang->chunks[i] = loops || (chunks.wraps[i] && plan->kernel->reqd_local[0]);
        bool scattered = chunks.gathers[i] * GATHER_COST > chunks.others[i];
        if (alone || chunks.refused[i] || scattered || plan->chunk_ordered[i]) gang->chunks[i] = false;
        gang->wide[i] = loops && !gang->chunks[i];
    }
    return gang;
}

c_shape qn__c_shape(const c_emitter *e, const ir_value *value) {
    if (value->value_kind > IR_VALUE_PARAM || !e->gang_plan->row.varying[value->id]) return SHAPE_ONE;
    return e->gang_plan->lines[value->id].state == LINE_IS ? SHAPE_LINE : SHAPE_GANG;
}

bool qn__c_is_vector(ir_type type) {
    return type.kind == IR_I32 || type.kind == IR_F32 || type.kind == IR_F16 || type.kind == IR_BOOL;
}
