/* Loops that only read go round without notes of what is outside, and once more, with them, where something was:

       %v = loop { ... load ... }    ->    store %seen, 0
                                           %w = loop { ... a load that gives zero outside, and sets %seen ... }
                                           %v = if ne (load %seen), 0 { yield loop { ... load ... } } else { yield %w }

   Nothing but a loop's results shows that it was run, so twice is as good as once. Without a note, which is a branch and an atomic,
   its loads can be under way together. The variable becomes a value, by mem2reg. */
#include "pass/guard.h"

enum { MOST_INSTRS = 300 };

typedef struct judging {
    const ir_instr *loop;
    unsigned least, count;
    bool is_quiet, has_checks;
} judging;

static bool stays_in(const ir_instr *jump, const ir_instr *loop) {
    const ir_instr *target = qn__ir_jump_target(jump);
    if (!target) return false;
    const ir_instr *at = jump->parent->owner;
    while (at != target && at != loop) at = at->parent->owner;
    return at == target;
}

static void judge(ir_instr *i, void *user) {
    judging *j = user;
    qn__access accesses[QN__MOST_ACCESSES];
    const bool is_plain = !qn__ir_is_jump(i) && !qn__ir_is_construct(i);
    if (qn__ir_is_jump(i) && !stays_in(i, j->loop)) j->is_quiet = false;
    if (is_plain && qn__effects(i) > IR_EFFECT_READ) j->is_quiet = false;
    if (i->op == IR_LOAD && i->flags & IR_VOLATILE) j->is_quiet = false;
    if (++j->count > MOST_INSTRS) j->is_quiet = false;
    const unsigned count = qn__accesses_of(i, accesses);
    for (unsigned k = 0; k < count; k++) j->has_checks |= qn__limit_of(i, k) < j->least;
}

typedef struct splitter {
    qn__arena *scratch;
    ir_function *kernel;
    unsigned least;
    qn__quiet_loops *found;
} splitter;

typedef QN__VEC(uint32_t) numbers;
typedef struct marking {
    qn__arena *scratch;
    numbers marks;
    size_t at;
} marking;

static void take_mark(ir_instr *i, void *user) {
    marking *m = user;
    qn__vec_push(m->scratch, &m->marks, i->mark);
}

static void give_mark(ir_instr *i, void *user) {
    marking *m = user;
    i->mark = m->marks.data[m->at++];
}

static void split(splitter *s, ir_instr *loop) {
    static const ir_type word = {.kind = IR_I32, .lanes = 1};
    ir_function *kernel = s->kernel;
    ir_value *none = qn__ir_const_int(kernel, IR_I32, 0);
    ir_builder b = {.function = kernel};
    marking m = {.scratch = s->scratch};
    const uint32_t count = loop->num_results;
    ir_type *types = QN__NEW_ARRAY(s->scratch, ir_type, count + 1u);
    for (uint32_t r = 0; r < count; r++) types[r] = loop->results[r]->type;
    qn__ir_walk(loop->regions[0], take_mark, &m);

    ir_value *seen = qn__ir_variable(&b, (ir_var){.name = "qn_outside", .size = 4, .align = 4});
    qn__ir_at(&b, loop);
    qn__ir_store(&b, seen, none, 0, 0)->mark = QN__IS_INSIDE;
    ir_instr *again = qn__ir_if(&b, qn__ir_const_int(kernel, IR_BOOL, 0), types, count);
    again->flags |= IR_BRANCH;
    qn__ir_unlink(loop);
    qn__ir_append(again->regions[0], loop);
    ir_value **map = QN__NEW_ARRAY(s->scratch, ir_value *, kernel->num_values);
    qn__ir_at(&b, again);
    qn__ir_clone_into(&b, again->regions[0], map);
    ir_instr *quiet = again->prev;
    qn__ir_walk(quiet->regions[0], give_mark, &m);
    ir_value *last = qn__ir_load(&b, seen, word, 0, 0);
    last->def->mark = QN__IS_INSIDE;
    again->operands[0] = qn__ir_op2(&b, IR_NE, last, none);

    qn__results_swap(again, loop);
    qn__ir_at_end(&b, again->regions[0]);
    qn__ir_yield(&b, loop->results, count);
    qn__ir_at_end(&b, again->regions[1]);
    qn__ir_yield(&b, quiet->results, count);
    qn__vec_push(s->scratch, s->found, ((qn__quiet_loop){quiet, seen}));
}

static void visit(splitter *s, ir_region *region) {
    for (ir_instr *i = region->first, *next; i; i = next) {
        next = i->next;
        judging j = {.loop = i, .least = s->least, .is_quiet = i->op == IR_LOOP};
        if (j.is_quiet) qn__ir_walk(i->regions[0], judge, &j);
        if (j.is_quiet && j.has_checks) {
            split(s, i);
            continue;
        }
        for (uint32_t r = 0; r < i->num_regions; r++) visit(s, i->regions[r]);
    }
}

void qn__split_loops(qn__arena *scratch, ir_function *kernel, unsigned least, qn__quiet_loops *found) {
    splitter s = {scratch, kernel, least, found};
    visit(&s, kernel->body);
}
