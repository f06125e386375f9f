/* Loops of safe kernels go round as often as the options allow, all of a work-item's together: what is left is counted down where a
   loop goes round, and when nothing is, the loop is left there with zeros, and so is each that comes behind it.

       continue @0 %x   ->   if %left == 0 { note it; break @0 0 } else { %left = %left - 1; yield }   continue @0 %x

   A loop that is not counted (IR_UNCOUNTED) begins each iteration with the whole budget, where loops in it are counted.
   Work-items that meet in a loop must leave it together. So loops with barriers count apart from those without, which each
   work-item may go round as often as it likes, and so do loops in which sub-groups meet. */
#include <stdio.h>
#include <string.h>

#include "pass/guard.h"
#include "util/faults.h"

enum { FREE_ITERATIONS = 1024 }; /* of a loop with all in it, when their number is constant */

/* Who meets in a loop. */
typedef enum meeting { NOBODY, SUB_GROUP, GROUP, NUM_MEETINGS } meeting;

typedef struct budgeter {
    qn__pass_context *context;
    ir_function *kernel;
    ir_value *faults;
    ir_value *left[NUM_MEETINGS]; /* variables; NULL: no loop needs it */
    bool changed;
} budgeter;

/* ---- what need not be counted ---- */

static uint32_t bounded_inside(budgeter *b, ir_region *region);

/* How often the loop and those in it go round at most, or more than FREE_ITERATIONS. */
static uint32_t bounded_iterations(budgeter *b, ir_instr *loop) {
    uint32_t iterations;
    if (!qn__count_iterations(b->context, b->kernel, loop, FREE_ITERATIONS, &iterations))
        return FREE_ITERATIONS + 1;
    const uint64_t all = (uint64_t)iterations * (1 + (uint64_t)bounded_inside(b, loop->regions[0]));
    return all > FREE_ITERATIONS ? FREE_ITERATIONS + 1 : (uint32_t)all;
}

static uint32_t bounded_inside(budgeter *b, ir_region *region) {
    uint32_t sum = 0;
    for (ir_instr *i = region->first; i && sum <= FREE_ITERATIONS; i = i->next) {
        if (i->op == IR_LOOP) {
            sum += bounded_iterations(b, i);
            continue;
        }
        for (uint32_t r = 0; r < i->num_regions; r++) sum += bounded_inside(b, i->regions[r]);
    }
    return sum;
}

static meeting meeting_in(const ir_region *region) {
    meeting most = NOBODY;
    for (const ir_instr *i = region->first; i; i = i->next) {
        meeting here = NOBODY;
        if (qn__ir_is_together((ir_op)i->op)) here = qn__ir_is_of_sub_group(i) ? SUB_GROUP : GROUP;
        for (uint32_t r = 0; r < i->num_regions; r++) {
            const meeting inside = meeting_in(i->regions[r]);
            if (inside > here) here = inside;
        }
        if (here > most) most = here;
    }
    return most;
}

/* ---- counting ---- */

static const ir_type count_type = {.kind = IR_I32, .lanes = 1};

static void refill(budgeter *b, ir_builder *at, meeting who) {
    qn__ir_store(at, b->left[who], qn__ir_const_int(b->kernel, IR_I32, b->context->options->loop_budget), 0,
                 0);
}

static ir_value *count_left(budgeter *b, meeting who) {
    if (b->left[who]) return b->left[who];
    ir_builder at = {.function = b->kernel};
    b->left[who] = qn__ir_variable(&at, (ir_var){.name = "qn_left", .size = 4, .align = 4});
    ir_instr *first = b->kernel->body->first;
    while (first->op == IR_VAR) first = first->next;
    qn__ir_at(&at, first);
    refill(b, &at, who);
    return b->left[who];
}

/* Leaves the loop: what it would have come to is not known, so it is nothing. */
static void leave(budgeter *b, ir_builder *at, ir_instr *loop) {
    ir_value **zeros = QN__NEW_ARRAY(b->context->scratch, ir_value *, loop->num_results + 1u);
    for (uint32_t r = 0; r < loop->num_results; r++)
        zeros[r] = qn__ir_const_splat(b->kernel, loop->results[r]->type, 0);
    qn__ir_break(at, loop, zeros, loop->num_results);
}

static void count_jump(budgeter *b, ir_instr *jump, uint32_t site, ir_value *left) {
    ir_instr *loop = jump->attr.target;
    ir_function *kernel = b->kernel;
    ir_value *none = qn__ir_const_int(kernel, IR_I32, 0), *one = qn__ir_const_int(kernel, IR_I32, 1);
    ir_builder at = {.function = kernel};
    qn__ir_at(&at, jump);
    ir_value *count = qn__ir_load(&at, left, count_type, 0, 0);
    ir_instr *branch = qn__ir_if(&at, qn__ir_op2(&at, IR_EQ, count, none), NULL, 0);
    branch->flags |= IR_BRANCH;
    qn__ir_at_end(&at, branch->regions[0]);
    qn__note_fault(&at, &(qn__fault){b->faults, qn__ir_const_int(kernel, IR_I32, site),
                                     qn__ir_const_int(kernel, IR_I64, 0),
                                     qn__ir_const_int(kernel, IR_I64, (int64_t)QN__FAULT_OF_LOOP)});
    leave(b, &at, loop);
    qn__ir_at_end(&at, branch->regions[1]);
    qn__ir_store(&at, left, qn__ir_op2(&at, IR_SUB, count, one), 0, 0);
    qn__ir_yield(&at, NULL, 0);
    b->changed = true;
}

static void count_jumps(budgeter *b, ir_region *region, const ir_instr *loop, uint32_t site, ir_value *left) {
    for (ir_instr *i = region->first; i; i = i->next) {
        for (uint32_t r = 0; r < i->num_regions; r++) count_jumps(b, i->regions[r], loop, site, left);
        if (i->op == IR_CONTINUE && i->attr.target == loop) count_jump(b, i, site, left);
    }
}

/* What nothing came to, behind a loop without an end, now is come to. */
static void end_behind(budgeter *b, ir_instr *loop) {
    ir_instr *end = loop->next;
    if (end->op != IR_UNREACHABLE) return;
    ir_builder at = {.function = b->kernel};
    qn__ir_at(&at, end);
    qn__ir_return(&at, NULL);
    qn__ir_unlink(end);
}

static unsigned visit(budgeter *b, ir_region *region);

static void count_loop(budgeter *b, ir_instr *loop, meeting who) {
    char what[96];
    snprintf(what, sizeof what, "has a loop that goes on when a work-item's have gone round %u times",
             (unsigned)b->context->options->loop_budget);
    const uint32_t site = qn__add_site(b->context->module, loop->loc, b->kernel->name, what);
    count_jumps(b, loop->regions[0], loop, site, count_left(b, who));
    end_behind(b, loop);
}

static void refill_in(budgeter *b, const ir_instr *loop, unsigned counted) {
    ir_builder at = {.function = b->kernel};
    qn__ir_at(&at, loop->regions[0]->first);
    for (int who = NOBODY; who < NUM_MEETINGS; who++)
        if (counted >> who & 1) refill(b, &at, (meeting)who);
}

/* Whose loops are counted in it, a bit each. */
static unsigned visit(budgeter *b, ir_region *region) {
    unsigned counted = 0;
    for (ir_instr *i = region->first; i; i = i->next) {
        if (i->op == IR_LOOP && bounded_iterations(b, i) <= FREE_ITERATIONS) continue;
        unsigned inside = 0;
        for (uint32_t r = 0; r < i->num_regions; r++) inside |= visit(b, i->regions[r]);
        if (i->op == IR_LOOP && i->flags & IR_UNCOUNTED) {
            refill_in(b, i, inside);
        } else if (i->op == IR_LOOP) {
            const meeting who = meeting_in(i->regions[0]);
            count_loop(b, i, who);
            inside |= 1u << who;
        }
        counted |= inside;
    }
    return counted;
}

void qn__budget_loops(qn__pass_context *context, ir_function *kernel, ir_value *faults) {
    budgeter b = {.context = context, .kernel = kernel, .faults = faults};
    if (!kernel->has[IR_LOOP]) return;
    visit(&b, kernel->body);
    if (!b.changed || context->options->level == 0) return;
    context->function = kernel;
    qn__pass_mem2reg(context);
}
