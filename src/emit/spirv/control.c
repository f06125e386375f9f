/* Control flow for SPIR-V. The IR's constructs are those of SPIR-V: an `if` is a selection with its merge block, a
   `loop` has header, body, continue target and merge block, and results are phis of the merge blocks. A block that
   no path reaches ends in OpUnreachable or has undefined results. Structured control flow: SPIR-V
   specification 2.11. */
#include "emit/spirv/internal.h"

uint32_t qn__spv_begin_block(spv *e, uint32_t label) {
    SPV_INTO(e, &e->code, SP_LABEL, label);
    return e->label = label;
}

static void add_edge(spv *e, spv_words *list, ir_value *const *values, ir_value *const *like,
                     uint32_t count) {
    uint32_t ids[64], *all = count > 64 ? QN__NEW_ARRAY(e->arena, uint32_t, count) : ids;
    for (uint32_t i = 0; i < count; i++) all[i] = qn__spv_use_as(e, values[i], like[i]);
    qn__vec_push(e->arena, list, e->label);
    for (uint32_t i = 0; i < count; i++) qn__vec_push(e->arena, list, all[i]);
}

/* The phis of a block that has just begun; their ids. */
static uint32_t *write_phis(spv *e, const uint32_t *types, uint32_t count, const spv_words *from) {
    uint32_t stride = count + 1, num_edges = (uint32_t)from->len / stride;
    uint32_t *ids = QN__NEW_ARRAY(e->arena, uint32_t, stride);
    uint32_t *args = QN__NEW_ARRAY(e->arena, uint32_t, 2 * (size_t)num_edges + 1);
    for (uint32_t i = 0; i < count; i++) {
        for (uint32_t k = 0; k < num_edges; k++) {
            args[2 * k] = from->data[k * stride + 1 + i];
            args[2 * k + 1] = from->data[k * stride];
        }
        ids[i] =
            num_edges ? qn__spv_emit(e, SP_PHI, types[i], args, 2 * num_edges) : qn__spv_undef(e, types[i]);
    }
    return ids;
}

static void define_results(spv *e, const ir_instr *construct, const spv_words *from) {
    uint32_t count = construct->num_results, *types = QN__NEW_ARRAY(e->arena, uint32_t, (size_t)count + 1);
    for (uint32_t i = 0; i < count; i++) types[i] = qn__spv_value_type(e, construct->results[i]);
    uint32_t *ids = write_phis(e, types, count, from);
    for (uint32_t i = 0; i < count; i++) qn__spv_define(e, construct->results[i], ids[i]);
}

/* Lanes past the end of a group, where loads give 0, decide as those in it: llvmpipe would go round a loop for them alone, and its
   barriers would wait for the others. */
static uint32_t condition_of(spv *e, const ir_instr *instr) {
    const uint32_t condition = qn__spv_use(e, instr->operands[0]);
    return e->together && e->together[instr->mark] ? qn__spv_any(e, condition) : condition;
}

static void write_if(spv *e, const ir_instr *instr) {
    spv_jumps jumps = {.construct = instr, .outer = e->jumps};
    uint32_t condition = condition_of(e, instr), labels[2];
    jumps.merge = qn__spv_id(e);
    for (int r = 0; r < 2; r++) {
        const ir_region *region = instr->regions[r];
        bool empty = region->first->op == IR_YIELD;
        labels[r] = empty ? jumps.merge : qn__spv_id(e);
        if (empty) add_edge(e, &jumps.breaks, region->first->operands, instr->results, instr->num_results);
    }
    if (labels[0] == labels[1]) { /* both only yield: two edges from one block are not two for a phi */
        jumps.breaks.len = 0;
        for (int r = 0; r < 2; r++) labels[r] = qn__spv_id(e);
    }
    SPV_DO(e, SP_SELECTION_MERGE, jumps.merge, instr->flags & IR_BRANCH ? SP_DONT_FLATTEN : 0);
    SPV_DO(e, SP_BRANCH_CONDITIONAL, condition, labels[0], labels[1]);
    e->jumps = &jumps;
    for (int r = 0; r < 2; r++) {
        if (labels[r] == jumps.merge) continue;
        qn__spv_begin_block(e, labels[r]);
        qn__spv_region(e, instr->regions[r]);
    }
    e->jumps = jumps.outer;
    qn__spv_begin_block(e, jumps.merge);
    define_results(e, instr, &jumps.breaks);
}

static uint32_t loop_control(const spv *e, const ir_instr *loop) {
    const int32_t hint = loop->attr.unroll;
    if (hint == 1 || (!hint && e->options->target.tries_loop_hints)) return SP_DONT_UNROLL;
    return hint || e->options->target.tries_unroll_hints ? SP_UNROLL : 0;
}

/* For devices without loop results (lacks_loop_results) a loop that work-items leave apart is left at its header alone:
   a break goes round once more with a flag and the results, which are the header's phis then. Mesa's llvmpipe
   computes a value that is used behind a loop in every iteration and for all lanes, those that have left included;
   only what its headers' phis hold stays with a lane. Lanes past the end of a group, where loads give 0, stay in
   a loop as long as they like. */
static bool loses_results(const spv *e, const ir_instr *loop) {
    return e->divergent && loop->num_results && e->divergent[loop->mark];
}

static uint32_t truth(spv *e, bool value) { return qn__spv_int(e, qn__ir_type(IR_BOOL, 1), value); }

/* An edge to the continue target of such a loop: its parameters, its results and the flag. */
static void add_round(spv *e, spv_jumps *jumps, const ir_instr *jump) {
    const ir_instr *loop = jumps->construct;
    const ir_region *body = loop->regions[0];
    bool leaves = jump->op == IR_BREAK;
    uint32_t at = 0,
             *ids = QN__NEW_ARRAY(e->arena, uint32_t, (size_t)body->num_params + loop->num_results + 1);
    for (uint32_t i = 0; i < body->num_params; i++)
        ids[at++] = leaves ? qn__spv_undef(e, qn__spv_value_type(e, body->params[i]))
                           : qn__spv_use_as(e, jump->operands[i], body->params[i]);
    for (uint32_t i = 0; i < loop->num_results; i++)
        ids[at++] = leaves ? qn__spv_use_as(e, jump->operands[i], loop->results[i])
                           : qn__spv_undef(e, qn__spv_value_type(e, loop->results[i]));
    ids[at++] = truth(e, leaves);
    qn__vec_push(e->arena, &jumps->continues, e->label);
    for (uint32_t i = 0; i < at; i++) qn__vec_push(e->arena, &jumps->continues, ids[i]);
}

/* Phis of the header: the continue block's values are not known before the loop's end. They are written with a
   gap, filled then. */
typedef struct header {
    uint32_t count, *types, *ids;
    size_t *gaps;
} header;

static void add_phi(spv *e, header *h, uint32_t type, uint32_t first, uint32_t from, uint32_t next) {
    h->types[h->count] = type;
    h->ids[h->count] = SPV(e, SP_PHI, type, first, from, 0, next);
    h->gaps[h->count++] = e->code.len - 2;
}

static void fill_gaps(spv *e, const header *h, const spv_words *from) {
    uint32_t *next = write_phis(e, h->types, h->count, from);
    for (uint32_t i = 0; i < h->count; i++) e->code.data[h->gaps[i]] = next[i];
}

static header new_header(spv *e, size_t most) {
    return (header){0, QN__NEW_ARRAY(e->arena, uint32_t, most), QN__NEW_ARRAY(e->arena, uint32_t, most),
                    QN__NEW_ARRAY(e->arena, size_t, most)};
}

static void write_loop(spv *e, const ir_instr *instr) {
    spv_jumps jumps = {.construct = instr, .outer = e->jumps, .rounds = loses_results(e, instr)};
    const ir_region *region = instr->regions[0];
    uint32_t count = region->num_params, results = jumps.rounds ? instr->num_results : 0, before = e->label;
    header h = new_header(e, (size_t)count + results + 1);
    uint32_t *first = QN__NEW_ARRAY(e->arena, uint32_t, (size_t)count + 1);
    uint32_t start = qn__spv_id(e), body = qn__spv_id(e);
    for (uint32_t i = 0; i < count; i++) first[i] = qn__spv_use_as(e, instr->operands[i], region->params[i]);
    jumps.merge = qn__spv_id(e), jumps.next = qn__spv_id(e);
    SPV_DO(e, SP_BRANCH, start);
    qn__spv_begin_block(e, start);
    for (uint32_t i = 0; i < count; i++)
        add_phi(e, &h, qn__spv_value_type(e, region->params[i]), first[i], before, jumps.next);
    for (uint32_t i = 0; i < results; i++) {
        uint32_t type = qn__spv_value_type(e, instr->results[i]);
        add_phi(e, &h, type, qn__spv_intern(e, SP_CONSTANT_NULL, type, NULL, 0), before, jumps.next);
    }
    if (jumps.rounds) {
        uint32_t boolean = qn__spv_bool(e);
        add_phi(e, &h, boolean, truth(e, false), before, jumps.next);
    }
    size_t chains = e->chains.len;
    for (uint32_t i = 0; i < count; i++) qn__spv_define(e, region->params[i], h.ids[i]);
    SPV_DO(e, SP_LOOP_MERGE, jumps.merge, jumps.next, loop_control(e, instr));
    if (jumps.rounds)
        SPV_DO(e, SP_BRANCH_CONDITIONAL, h.ids[count + results], jumps.merge, body);
    else
        SPV_DO(e, SP_BRANCH, body);
    qn__spv_begin_block(e, body);
    e->jumps = &jumps;
    qn__spv_region(e, region);
    e->jumps = jumps.outer;
    qn__spv_begin_block(e, jumps.next);
    fill_gaps(e, &h, &jumps.continues);
    SPV_DO(e, SP_BRANCH, start);
    qn__spv_forget(e, chains);
    qn__spv_begin_block(e, jumps.merge);
    if (!jumps.rounds) define_results(e, instr, &jumps.breaks);
    for (uint32_t i = 0; i < results; i++) qn__spv_define(e, instr->results[i], h.ids[count + i]);
}

/* A block's closing yield: it is inlined where nothing else leaves it. */
static void write_block(spv *e, const ir_instr *instr) {
    spv_jumps jumps = {.construct = instr, .outer = e->jumps};
    uint32_t header = qn__spv_id(e), body = qn__spv_id(e);
    jumps.merge = qn__spv_id(e), jumps.next = qn__spv_id(e);
    SPV_DO(e, SP_BRANCH, header);
    qn__spv_begin_block(e, header);
    SPV_DO(e, SP_LOOP_MERGE, jumps.merge, jumps.next, 0);
    SPV_DO(e, SP_BRANCH, body);
    qn__spv_begin_block(e, body);
    e->jumps = &jumps;
    qn__spv_region(e, instr->regions[0]);
    e->jumps = jumps.outer;
    qn__spv_begin_block(e, jumps.next);
    SPV_DO(e, SP_BRANCH, header);
    qn__spv_begin_block(e, jumps.merge);
    define_results(e, instr, &jumps.breaks);
}

static spv_jumps *find_jumps(spv *e, const ir_instr *construct) {
    bool far = false;
    for (spv_jumps *at = e->jumps; at; at = at->outer) {
        if (at->construct == construct) {
            if (far) break;
            return at;
        }
        far |= at->construct->op != IR_IF;
    }
    qn__spv_fail(e, "a jump leaves more than one loop");
    return NULL;
}

static void write_jump(spv *e, const ir_instr *jump) {
    const ir_instr *target = qn__ir_jump_target(jump);
    const ir_receivers to = qn__ir_receivers(jump);
    spv_jumps *jumps;
    switch (jump->op) {
    case IR_RETURN: qn__spv_do(e, SP_RETURN, NULL, 0); break;
    case IR_UNREACHABLE: qn__spv_do(e, SP_UNREACHABLE, NULL, 0); break;
    case IR_CONTINUE:
        jumps = find_jumps(e, target);
        if (jumps->rounds)
            add_round(e, jumps, jump);
        else
            add_edge(e, &jumps->continues, jump->operands, to.values, to.count);
        SPV_DO(e, SP_BRANCH, jumps->next);
        break;
    default:
        jumps = find_jumps(e, target);
        if (jumps->rounds) {
            add_round(e, jumps, jump);
            SPV_DO(e, SP_BRANCH, jumps->next);
            break;
        }
        add_edge(e, &jumps->breaks, jump->operands, to.values, to.count);
        SPV_DO(e, SP_BRANCH, jumps->merge);
    }
}

void qn__spv_region(spv *e, const ir_region *region) {
    size_t chains = e->chains.len;
    for (const ir_instr *i = region->first; i; i = i->next) {
        qn__spv_line(e, i->loc);
        switch (i->op) {
        case IR_IF: write_if(e, i); break;
        case IR_LOOP: write_loop(e, i); break;
        case IR_BLOCK: write_block(e, i); break;
        case IR_YIELD:
        case IR_BREAK:
        case IR_CONTINUE:
        case IR_RETURN:
        case IR_UNREACHABLE: write_jump(e, i); break;
        default: qn__spv_instr(e, i);
        }
    }
    qn__spv_forget(e, chains);
}
