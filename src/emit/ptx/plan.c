/* What the PTX target wants to know of a kernel before it writes: how often values are used, which extension
   of small integers their uses want, whether anything looks at the bits of a float, and of which i64 only the
   low half matters (pass/demand.c). */
#include "emit/ptx/internal.h"

/* ---- counting ---- */

static bool is_narrow_int(const ir_value *value) {
    return value->type.kind == IR_I8 || value->type.kind == IR_I16;
}

/* The second operand of the select is what a NaN gives: the variable one needs an instruction of sm_80. */
const char *qn__ptx_clamp(const ptx_emitter *e, const ir_instr *select) {
    const ir_instr *test = select->operands[0]->def;
    if (!test || (test->op != IR_FLT && test->op != IR_FLE) || select->results[0]->type.kind != IR_F32)
        return NULL;
    const ir_value *a = test->operands[0], *b = test->operands[1];
    const ir_value *chosen = select->operands[1], *other = select->operands[2];
    const ir_value *limit = qn__ir_is_const(chosen) ? chosen : other;
    const bool smaller = a == chosen && b == other, keeps_nan = limit == chosen;
    if (!smaller && (a != other || b != chosen)) return NULL;
    if (!qn__ir_is_const(limit) || (keeps_nan && e->arch < 80)) return NULL;
    for (unsigned lane = 0; lane < limit->type.lanes; lane++) /* zeros are equal, but not the same; nor NaN */
        if ((uint32_t)limit->bits[lane] << 1 == 0 || (uint32_t)limit->bits[lane] << 1 >= 0xff000000u)
            return NULL;
    if (keeps_nan) return smaller ? "min.NaN.f32" : "max.NaN.f32";
    return smaller ? "min.f32" : "max.f32";
}

static bool looks_at_value_only(const ptx_emitter *e, const ir_instr *user) {
    if (user->op == IR_SELECT) return qn__ptx_clamp(e, user) != NULL;
    if (user->op == IR_FNEG || user->op == IR_FABS || user->op == IR_FCOPYSIGN) return false;
    return qn__ir_ops[user->op].rule == RULE_FLOAT || qn__ir_ops[user->op].rule == RULE_FCOMPARE ||
           user->op == IR_F2S || user->op == IR_F2U;
}

static bool wants_zeros(ir_op op) {
    return qn__ir_has(op, IR_UNSIGNED) || (qn__ir_ops[op].rule == RULE_COMPARE && !qn__ir_is_signed(op));
}

static bool takes_words(ir_op op) {
    return op == IR_BF16_TO_F32 || op == IR_E4M3_TO_F32 || op == IR_E5M2_TO_F32;
}

static void count_instr(ptx_emitter *e, const ir_instr *instr) {
    for (uint32_t i = 0; i < instr->num_operands; i++) {
        const ir_value *value = instr->operands[i];
        e->uses[value->id]++;
        if (qn__ir_is_float(value->type) && !looks_at_value_only(e, instr))
            e->flags[value->id] |= PTX_USED_BITS;
        if (is_narrow_int(value) && qn__ir_is_signed(instr->op)) e->flags[value->id] |= PTX_USED_SEXT;
        if (is_narrow_int(value) && wants_zeros((ir_op)instr->op)) e->flags[value->id] |= PTX_USED_ZEXT;
        if (takes_words((ir_op)instr->op)) e->flags[value->id] |= PTX_USED_WORDS;
    }
    const ir_value *source;
    bool is_signed;
    uint64_t factor;
    if (!qn__ptx_is_wide_product(instr, &source, &is_signed, &factor)) return;
    e->uses[instr->operands[0]->id]--;
    e->uses[source->id]++;
}

/* What one walk over the kernel finds. */
typedef struct counting {
    ptx_emitter *e;
    QN__VEC(const ir_instr *) exits; /* the construct of each break and yield */
    QN__VEC(const ir_instr *) loops;
    QN__VEC(const ir_instr *) choices; /* of floats */
} counting;

static void count(ir_instr *instr, void *user) {
    counting *c = user;
    ptx_emitter *e = c->e;
    instr->mark = e->num_instrs++;
    if (instr->op == IR_LOOP) qn__vec_push(e->arena, &c->loops, instr);
    if (instr->op == IR_BREAK || instr->op == IR_YIELD)
        qn__vec_push(e->arena, &c->exits, qn__ir_jump_target(instr));
    if (instr->op == IR_SELECT && instr->results[0]->type.kind == IR_F32)
        qn__vec_push(e->arena, &c->choices, instr);
    count_instr(e, instr);
    if (qn__ir_is_together((ir_op)instr->op)) e->uses_sync = e->uses_group = true;
    if (qn__ir_has(instr->op, IR_WHOLE)) e->uses_group = true;
    if (instr->op == IR_LOCAL) e->uses_locals = true;
    if ((instr->op == IR_EQ || instr->op == IR_NE) && instr->operands[0]->type.kind == IR_PTR)
        e->compares_near |= qn__ptx_is_near(instr->operands[0]);
    if (instr->op == IR_ASYNC_COMMIT) {
        e->uses_events = true;
        e->joins_events |= !qn__ir_is_const(instr->operands[0]) || instr->operands[0]->bits[0];
    }
}

/* A product of an extended i32 and a small constant, or a shift as one: `mul.wide` does it in one. */
bool qn__ptx_find_wide_product(const ir_instr *instr, const ir_value **source, bool *is_signed,
                               uint64_t *factor) {
    const ir_value *a = instr->operands[0], *b = instr->operands[1];
    if (b->value_kind != IR_VALUE_CONST || a->value_kind != IR_VALUE_RESULT || a->type.lanes != 1)
        return false;
    const ir_instr *extension = a->def;
    if (extension->op != IR_SEXT && extension->op != IR_ZEXT) return false;
    *source = extension->operands[0];
    if ((*source)->type.kind != IR_I32) return false;
    *is_signed = extension->op == IR_SEXT;
    *factor = instr->op == IR_SHL ? b->bits[0] < 31 ? (uint64_t)1 << b->bits[0] : 0 : b->bits[0];
    return *factor && *factor <= INT32_MAX;
}

/* ---- the high halves ---- */

/* Addresses are sums of addresses of the same size; the numbers by which is shifted and of lanes are small. */
static bool own_demand(qn__demand *d, const ir_instr *instr) {
    switch (instr->op) {
    case IR_INT2PTR:
    case IR_PTR_ADD:
        if (!qn__ptx_is_near(instr->results[0])) return false;
        qn__want(d, instr->operands[instr->op == IR_PTR_ADD], QN__WANT_LOW);
        return true;
    case IR_SHL:
    case IR_LSHR:
    case IR_ASHR:
    case IR_ROTL:
    case IR_EXTRACT_DYNAMIC: break;
    default: return false;
    }
    const bool all = instr->op != IR_SHL || d->wanted[instr->results[0]->id] & QN__WANT_ALL;
    qn__want(d, instr->operands[0], all ? QN__WANT_ALL : QN__WANT_LOW);
    qn__want(d, instr->operands[1], QN__WANT_LOW);
    return true;
}

static const qn__demand_rules demand_rules = {.near = 1 << IR_LOCAL_SPACE | 1 << IR_PRIVATE,
                                              .own = own_demand};

/* ---- the bits of floats ---- */

/* Where the bits of what a clamp gives matter, it is a choice like others. */
static void pass_bits(ptx_emitter *e, const ir_instr *select) {
    if (!(e->flags[select->results[0]->id] & PTX_USED_BITS) || !qn__ptx_clamp(e, select)) return;
    for (unsigned i = 1; i < 3; i++) e->flags[select->operands[i]->id] |= PTX_USED_BITS;
}

/* ---- loops that count in i64 and stay below 2^32 ---- */

static uint32_t count_continues(const ir_region *region, const ir_instr *loop) {
    uint32_t count = 0;
    for (const ir_instr *i = region->first; i; i = i->next) {
        count += i->op == IR_CONTINUE && i->attr.target == loop;
        for (uint32_t r = 0; r < i->num_regions; r++) count += count_continues(i->regions[r], loop);
    }
    return count;
}

/* A value is at most this. A group has 1024 work-items at most, for which twice that is taken. */
static uint64_t largest(const ir_value *value) {
    if (qn__ir_is_const(value)) return value->bits[0];
    const ir_instr *def = value->value_kind == IR_VALUE_RESULT ? value->def : NULL;
    if (def && def->op == IR_LOCAL_SIZE) return 2048;
    if (def && def->op == IR_ZEXT && def->operands[0]->type.kind <= IR_I32) return UINT32_MAX;
    return UINT64_MAX;
}

/* The test at the end of a loop, `a < b`, without which it goes on no further. */
static const ir_instr *end_test(const ir_instr *loop) {
    const ir_region *body = loop->regions[0];
    const ir_instr *round = body->last, *choice = round ? round->prev : NULL;
    if (!choice || round->op != IR_CONTINUE || round->attr.target != loop || choice->op != IR_IF) return NULL;
    const ir_instr *out = choice->regions[1]->last, *test = choice->operands[0]->def;
    const bool leaves = out && out->op == IR_BREAK && out->attr.target == loop;
    const bool counts = test && test->op == IR_ULT && test->operands[0]->type.kind == IR_I64;
    return leaves && counts && count_continues(body, loop) == 1 ? test : NULL;
}

/* The parameter is the start or below the test's limit, and the next one a step from it. */
static void find_short(ptx_emitter *e, const ir_instr *loop) {
    const ir_instr *test = end_test(loop);
    if (!test) return;
    const ir_value *next = test->operands[0];
    const ir_instr *step = next->value_kind == IR_VALUE_RESULT ? next->def : NULL;
    if (!step || (step->op != IR_ADD && step->op != IR_SHL)) return;
    const ir_value *param = step->operands[0], *by = step->operands[1];
    if (param->value_kind != IR_VALUE_PARAM || param->def != loop || next->type.lanes != 1) return;
    if (!qn__ir_is_const(by) || by->bits[0] > (step->op == IR_SHL ? 31 : UINT32_MAX)) return;
    const ir_region *body = loop->regions[0];
    if (body->last->operands[param->index] != next) return;
    const uint64_t start = largest(loop->operands[param->index]), limit = largest(test->operands[1]);
    if (start > UINT32_MAX || limit > UINT32_MAX) return;
    const uint64_t most = limit > start ? limit - 1 : start;
    if ((step->op == IR_SHL ? most << by->bits[0] : most + by->bits[0]) > UINT32_MAX) return;
    e->flags[param->id] |= PTX_SHORT;
    e->flags[next->id] |= PTX_SHORT;
}

void qn__ptx_plan(ptx_emitter *e) {
    ir_function *kernel = e->function;
    e->uses = QN__NEW_ARRAY(e->arena, uint32_t, kernel->num_values + 1);
    e->flags = QN__NEW_ARRAY(e->arena, uint8_t, kernel->num_values + 1);
    e->first_lane = QN__NEW_ARRAY(e->arena, uint32_t, kernel->num_values + 1);
    e->words = QN__NEW_ARRAY(e->arena, const ptx_operand *, kernel->num_values + 1);
    e->num_instrs = 0;
    counting c = {.e = e};
    qn__ir_walk(kernel->body, count, &c);
    e->labels = QN__NEW_ARRAY(e->arena, uint32_t, e->num_instrs + 1);
    e->exits = QN__NEW_ARRAY(e->arena, uint32_t, e->num_instrs + 1);
    for (size_t n = 0; n < c.exits.len; n++) e->exits[c.exits.data[n]->mark]++;
    e->demand = qn__find_demand(e->arena, kernel, &demand_rules);
    for (size_t n = c.choices.len; n-- > 0;) pass_bits(e, c.choices.data[n]);
    for (size_t n = 0; n < c.loops.len; n++) find_short(e, c.loops.data[n]);
    e->read_only = qn__find_read_only(e->arena, kernel);
}
