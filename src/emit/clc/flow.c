/* Control flow in OpenCL C: if, while, for (;;), blocks, and jumps: break and continue where they leave the innermost
   loop, goto where they leave more. */
#include "emit/clc/internal.h"

/* ---- values that constructs set ---- */

static void declare(void *user, const ir_value *value) {
    clc_emitter *e = user;
    if (e->uses[value->id]) qn__clc_line(e, "%s%s;", qn__clc_declarator(e, value), qn__clc_name(e, value));
}

static void start(void *user, const ir_value *param, const ir_value *value) {
    clc_emitter *e = user;
    if (e->uses[param->id])
        qn__clc_line(e, "%s%s = %s;", qn__clc_declarator(e, param), qn__clc_name(e, param),
                     qn__clc_use(e, value));
}

static const char *condition(void *user, const ir_value *value) { return qn__clc_use(user, value); }

static bool is_used(void *user, const ir_value *value) {
    const clc_emitter *e = user;
    return e->uses[value->id] != 0;
}

static unsigned num_pieces(void *user, const ir_value *target) {
    (void)user, (void)target;
    return 1;
}

static const char *keep(void *user, const ir_value *target, const ir_value *value, unsigned index,
                        unsigned piece) {
    clc_emitter *e = user;
    const char *name = qn__arena_printf(e->arena, "next%u", index);
    (void)piece;
    qn__clc_line(e, "%s%s = %s;", qn__clc_declarator(e, target), name, qn__clc_use(e, value));
    return name;
}

static void set(void *user, const ir_value *target, const ir_value *value, const char *copy, unsigned piece) {
    clc_emitter *e = user;
    (void)piece;
    qn__clc_line(e, "%s = %s;", qn__clc_name(e, target), copy ? copy : qn__clc_use(e, value));
}

static void write_region(void *user, ir_region *region) { qn__clc_region(user, region); }

static bool write_loop(void *user, ir_instr *loop);

static const qn__c_dialect dialect = {.is_used = is_used,
                                      .num_pieces = num_pieces,
                                      .keep = keep,
                                      .set = set,
                                      .declare = declare,
                                      .start = start,
                                      .condition = condition,
                                      .loop = write_loop,
                                      .region = write_region};

static void assign(clc_emitter *e, ir_value *const *targets, ir_value *const *values, uint32_t count) {
    qn__c_hand_over(&e->text, e->arena, &dialect, e, targets, values, count);
}

static void jump(clc_emitter *e, const ir_instr *instr) {
    const ir_receivers to = qn__ir_receivers(instr);
    assign(e, to.values, instr->operands, to.count);
    if (qn__ir_jump_target(instr))
        qn__c_jump(&e->flow, instr);
    else
        qn__clc_line(e, "return;");
}

/* ---- loops ---- */

typedef struct breaks {
    const ir_instr *loop;
    unsigned count;
} breaks;

static void count_break(ir_instr *instr, void *user) {
    breaks *b = user;
    if (instr->op == IR_BREAK && instr->attr.target == b->loop) b->count++;
}

/* A loop that begins with a comparison, whose only use is to leave it right there, and that is left nowhere else: that `if`,
   else NULL. Such a loop is spelled with `while`: a compiler may take it that it ends, which it must not of for (;;)
   (C11, 6.8.5p6), and does more to it; PoCL gains a quarter. */
static const ir_instr *leaving_if(const clc_emitter *e, const ir_instr *loop) {
    ir_region *body = loop->regions[0];
    const ir_instr *compare = body->first, *leave = compare->next;
    unsigned rule = qn__ir_ops[compare->op].rule;
    if ((rule != RULE_COMPARE && rule != RULE_FCOMPARE) || !leave || leave->op != IR_IF ||
        leave->operands[0] != compare->results[0] || e->uses[compare->results[0]->id] != 1)
        return NULL;
    for (uint32_t i = 0; i < leave->num_results; i++)
        if (e->uses[leave->results[i]->id]) return NULL;
    bool then_leaves = leave->regions[0]->first->op == IR_BREAK;
    const ir_instr *jump_out = leave->regions[!then_leaves]->first,
                   *stay = leave->regions[then_leaves]->first;
    breaks b = {.loop = loop};
    qn__ir_walk(body, count_break, &b);
    bool fits =
        jump_out->op == IR_BREAK && jump_out->attr.target == loop && stay->op == IR_YIELD && b.count == 1;
    return fits ? leave : NULL;
}

static void emit_instr(clc_emitter *e, ir_instr *instr);

static void emit_while(clc_emitter *e, ir_instr *loop, const ir_instr *leave) {
    const ir_instr *first = leave->regions[0]->first, *jump_out = first;
    bool negated = first->op == IR_BREAK;
    if (!negated) jump_out = leave->regions[1]->first;
    const char *test = qn__clc_expression(e, loop->regions[0]->first);
    const char *head = qn__arena_printf(e->arena, negated ? "while (!%s) {" : "while (%s) {", test);
    const ir_instr *outer = qn__c_open_loop(&e->flow, loop, head);
    for (ir_instr *i = leave->next; i; i = i->next) emit_instr(e, i);
    qn__c_repeat_label(&e->flow, loop);
    qn__c_close_loop(&e->flow, outer);
    assign(e, loop->results, jump_out->operands, jump_out->num_operands);
}

/* "#pragma unroll N", or none. */
static void hint(clc_emitter *e, const ir_instr *loop) {
    enum { ITERATIONS = 4 };
    int32_t iterations = loop->attr.unroll;
    if (!iterations && e->options->target.tries_loop_hints) iterations = 1;
    if (!iterations && e->options->target.tries_unroll_hints) iterations = ITERATIONS;
    if (iterations > 0) qn__clc_line(e, "#pragma unroll %d", iterations);
    if (iterations < 0) qn__clc_line(e, "#pragma unroll");
}

static bool write_loop(void *user, ir_instr *loop) {
    clc_emitter *e = user;
    const ir_instr *leave = leaving_if(e, loop);
    hint(e, loop);
    if (leave) emit_while(e, loop, leave);
    return leave != NULL;
}

static bool is_dead(const clc_emitter *e, const ir_instr *instr) {
    if (qn__ir_ops[instr->op].effects > IR_EFFECT_READ || (instr->flags & IR_VOLATILE)) return false;
    return instr->num_results && !e->uses[instr->results[0]->id];
}

static void emit_instr(clc_emitter *e, ir_instr *instr) {
    if (instr->loc.line) qn__clc_locate(e, instr->loc);
    if (qn__ir_is_construct(instr))
        qn__c_construct(&e->flow, &dialect, e, instr);
    else if (qn__ir_is_jump(instr))
        jump(e, instr);
    else if (instr->op != IR_VAR && !is_dead(e, instr) && !qn__clc_memory(e, instr) &&
             !qn__clc_group(e, instr))
        qn__clc_op(e, instr);
}

/* ---- loads before what may branch ---- */

enum { MOST_LOADED = 8 };

/* Scalars that a region has loaded from buffers and not yet waited for. */
typedef struct loaded {
    const ir_value *values[MOST_LOADED];
    unsigned count;
} loaded;

/* The letter of asm's constraints for a register; 0: none that is used here. */
static char register_letter(ir_type type) {
    if (type.lanes != 1) return 0;
    switch (type.kind) {
    case IR_F32: return 'f';
    case IR_F64: return 'd';
    case IR_I32: return 'r';
    case IR_I64: return 'l';
    default: return 0;
    }
}

static void note_load(const clc_emitter *e, loaded *l, const ir_instr *i) {
    if (i->op != IR_LOAD || i->operands[0]->type.space != IR_GLOBAL_SPACE || is_dead(e, i)) return;
    const ir_value *value = i->results[0];
    if (register_letter(value->type) && l->count < MOST_LOADED) l->values[l->count++] = value;
}

/* Exact quotients and roots have a branch for denormal numbers and the like, 64-bit quotients for large ones. */
static bool may_branch(const ir_instr *i) {
    if (!qn__ir_has(i->op, IR_SLOW)) return false;
    const ir_type type = i->results[0]->type;
    return qn__ir_is_float(type) ? !(i->flags & IR_FAST) : qn__ir_bits(type) == 64;
}

/* NVIDIA's compiler moves a load to its first use; behind a branch it is waited for by itself. To an empty piece of
   assembly all of them are operands, so that they are under way together before the branch. */
static void keep_loads(clc_emitter *e, loaded *l) {
    if (l->count > 1) {
        qn__buf operands;
        qn__buf_init(&operands, e->arena);
        for (unsigned n = 0; n < l->count; n++)
            qn__buf_printf(&operands, "%s\"+%c\"(%s)", n ? ", " : "", register_letter(l->values[n]->type),
                           qn__clc_name(e, l->values[n]));
        qn__clc_line(e, "#ifdef __NV_CL_C_VERSION");
        qn__clc_line(e, "asm(\"\" : %s);", operands.data);
        qn__clc_line(e, "#endif");
    }
    l->count = 0;
}

void qn__clc_region(clc_emitter *e, ir_region *region) {
    loaded l = {.count = 0};
    for (ir_instr *i = region->first; i; i = i->next) {
        if (may_branch(i)) keep_loads(e, &l);
        emit_instr(e, i);
        note_load(e, &l, i);
    }
}
