/* The order of the passes, all of it. Level 0 inlines and lowers; level 1 is what always pays; level 2 is
   everything. A phase of several rounds is repeated for the functions that changed, where that may pay: small
   ones, those that still have variables, which may become values, and those where loops were unrolled. A pass
   does not see a function again before another one has changed it. */
#include <string.h>

#include "pass/tools.h"
#include "util/map.h"

/* LOOPS is a FUNCTION whose changes are worth another round; CHANGED one that this phase has changed; COPIED one of
   which inlining makes several, unless it is tidy already; GENERIC one of a module with generic pointers. */
enum { FUNCTION, LOOPS, CHANGED, COPIED, GENERIC, MODULE };

typedef struct pass {
    const char *name;
    qn__pass_function *run;
    uint8_t level;     /* runs from this level on */
    uint8_t takes;     /* what it works on */
    qn__trait only[4]; /* runs for targets with one of these; none: for all */
    qn__trait unless;  /* not for targets with this */
} pass;

enum { MAX_PASSES = 24, SMALL_FUNCTION = 300 };

typedef struct phase {
    const char *name;
    unsigned rounds;
    pass passes[MAX_PASSES];
} phase;

/* For which targets. */
#define ALL                   {0}, 0
#define ONLY(trait)           {QN__TRAIT(trait)}, 0
#define EITHER(trait, second) {QN__TRAIT(trait), QN__TRAIT(second)}, 0
#define ONE_OF(trait, second, third, fourth)                                                                 \
    {QN__TRAIT(trait), QN__TRAIT(second), QN__TRAIT(third), QN__TRAIT(fourth)}, 0
#define UNLESS(trait) {0}, QN__TRAIT(trait)

static const phase phases[] = {
    {"what a checker wants to see",
     1,
     {{"keep_shared", qn__pass_keep_shared, 0, FUNCTION, ONLY(wants_checks)},
      {"find_unused", qn__pass_find_unused, 0, FUNCTION, ONLY(wants_checks)}}},
    {"doubles for devices that have none",
     1,
     {{"lower_f64", qn__pass_lower_f64, 0, MODULE, ONLY(wants_soft_f64)}}},
    {"before inlining, so that every copy is small",
     1,
     {{"mem2reg", qn__pass_mem2reg, 1, COPIED, ALL},
      {"simplify", qn__pass_simplify, 1, COPIED, ALL},
      {"flow", qn__pass_flow, 1, COPIED, ALL},
      {"ifconvert", qn__pass_ifconvert, 2, COPIED, UNLESS(wants_checks)},
      {"cse", qn__pass_cse, 1, COPIED, ALL},
      {"dce", qn__pass_dce, 1, COPIED, ALL}}},
    {"inlining",
     1,
     {{"inline", qn__pass_inline, 0, MODULE, ALL},
      {"keep_private", qn__pass_keep_private, 0, FUNCTION, ONLY(wants_checks)}}},
    {"pointers whose address space is not written",
     1,
     {{"sroa", qn__pass_sroa, 1, GENERIC, ALL}, /* shows more of where they are from */
      {"mem2reg", qn__pass_mem2reg, 1, GENERIC, ALL},
      {"simplify", qn__pass_simplify, 1, GENERIC, ALL},
      {"flow", qn__pass_flow, 1, GENERIC, ALL},
      {"ifconvert", qn__pass_ifconvert, 2, GENERIC, UNLESS(wants_checks)},
      {"dce", qn__pass_dce, 1, GENERIC, ALL},
      {"lower_generic", qn__pass_lower_generic, 0, GENERIC, ALL}}},
    {"matrix fragments, whose parts are then seen",
     1,
     {{"lower_matrix", qn__pass_lower_matrix, 0, FUNCTION, ALL}}},
    {"values",
     6,
     {{"sroa", qn__pass_sroa, 1, FUNCTION, ALL},
      {"mem2reg", qn__pass_mem2reg, 1, FUNCTION, ALL},
      {"simplify", qn__pass_simplify, 1, FUNCTION, ALL},
      {"flow", qn__pass_flow, 1, FUNCTION, ALL},
      {"ifconvert", qn__pass_ifconvert, 2, FUNCTION, UNLESS(wants_checks)},
      {"cse", qn__pass_cse, 1, FUNCTION, ALL},
      {"dce", qn__pass_dce, 1, FUNCTION, ALL},
      {"narrow_loops", qn__pass_narrow_loops, 2, LOOPS, ONLY(lacks_i64)},
      {"unroll", qn__pass_unroll, 2, LOOPS, ALL}}},
    {"where accesses lie",
     1,
     {{"reach", qn__pass_reach, 1, FUNCTION, ALL}, {"guard", qn__pass_guard, 0, MODULE, ALL}}},
    {"what is noted of accesses, in the functions with checks, too",
     1,
     {{"mem2reg", qn__pass_mem2reg, 1, FUNCTION, ONLY(wants_quiet_loops)}}},
    {"loops",
     1,
     {{"licm", qn__pass_licm, 2, FUNCTION, ALL},
      {"unroll_counted", qn__pass_unroll_counted, 2, FUNCTION, ONLY(wants_unrolled)},
      {"rotate", qn__pass_rotate, 2, FUNCTION, EITHER(wants_end_tests, wants_large_end_tests)},
      {"address", qn__pass_address, 2, FUNCTION, ALL},
      {"licm", qn__pass_licm, 2, FUNCTION, ALL},
      {"simplify", qn__pass_simplify, 2, FUNCTION, ALL},
      {"cse", qn__pass_cse, 2, FUNCTION, ALL},
      {"carry", qn__pass_carry, 2, FUNCTION, ALL},
      {"contract", qn__pass_contract, 2, FUNCTION, UNLESS(lacks_fast_fma32)},
      {"dce", qn__pass_dce, 2, FUNCTION, ALL},
      {"no_write", qn__pass_no_write, 0, FUNCTION, ALL}}},
    {"what the target lacks",
     1,
     {{"lower_printf", qn__pass_lower_printf, 0, FUNCTION, ONLY(lacks_printf)},
      {"mem2reg", qn__pass_mem2reg, 0, FUNCTION,
       EITHER(lacks_sub_groups, lacks_sub_group_barriers)}, /* shows what is uniform */
      {"lower_active", qn__pass_lower_active, 0, FUNCTION, EITHER(lacks_active, lacks_i64)},
      {"lower_sub_groups", qn__pass_lower_sub_groups, 0, FUNCTION,
       EITHER(lacks_sub_groups, lacks_sub_group_barriers)},
      {"lower_collectives", qn__pass_lower_collectives, 0, FUNCTION, ONLY(lacks_collectives)},
      {"lower_wide_groups", qn__pass_lower_wide_groups, 0, FUNCTION, ONLY(lacks_i64)},
      {"lower_dot4", qn__pass_lower_dot4, 0, FUNCTION, ALL},
      {"lower_small_floats", qn__pass_lower_small_floats, 0, FUNCTION, UNLESS(has_small_floats)},
      {"lower_f16", qn__pass_lower_f16, 0, FUNCTION, ONLY(lacks_f16)},
      {"lower_constant_division", qn__pass_lower_constant_division, 1, FUNCTION,
       ONLY(lacks_constant_division)},
      {"lower_int_division", qn__pass_lower_int_division, 0, FUNCTION,
       EITHER(lacks_zero_divisors, lacks_division_overflow)},
      {"lower_long_vectors", qn__pass_lower_long_vectors, 0, FUNCTION, EITHER(lacks_long_vectors, lacks_i64)},
      {"lower_conversions", qn__pass_lower_conversions, 0, FUNCTION,
       EITHER(lacks_conversions, lacks_float_controls)},
      {"lower_jumps", qn__pass_lower_jumps, 0, FUNCTION, ONLY(lacks_far_jumps)},
      {"simplify", qn__pass_simplify, 1, CHANGED, ALL},
      {"cse", qn__pass_cse, 1, CHANGED, ALL},
      {"dce", qn__pass_dce, 1, CHANGED, ALL},
      {"memvec", qn__pass_memvec, 2, FUNCTION, ONLY(wants_vector_memory)},
      {"lower_byte_swaps", qn__pass_lower_byte_swaps, 0, FUNCTION, ONLY(lacks_byte_swaps)},
      {"lower_narrow", qn__pass_lower_narrow, 0, FUNCTION,
       ONE_OF(lacks_i8, lacks_i16, lacks_f16, lacks_cut_signs)},
      {"dce", qn__pass_dce, 1, CHANGED, ONE_OF(lacks_i8, lacks_i16, lacks_f16, lacks_cut_signs)}}},
    {"what nothing may simplify again",
     1,
     {{"lower_wide", qn__pass_lower_wide, 0, MODULE, EITHER(lacks_i64, lacks_i64_bits)},
      {"dce", qn__pass_dce, 0, FUNCTION, EITHER(lacks_i64, wants_words)},
      {"lower_division", qn__pass_lower_division, 0, FUNCTION, EITHER(lacks_division, lacks_f16_division)},
      {"lower_fma", qn__pass_lower_fma, 0, FUNCTION, ONLY(lacks_exact_fma)},
      {"lower_denormals", qn__pass_lower_denormals, 0, FUNCTION,
       EITHER(lacks_denormal_compares, has_denormals)},
      {"lower_moved_f16", qn__pass_lower_moved_f16, 0, FUNCTION, ONLY(lacks_f16_values)},
      {"lower_cut_signs", qn__pass_lower_cut_signs, 0, FUNCTION, ONLY(lacks_cut_signs)},
      {"lower_long_differences", qn__pass_lower_long_differences, 0, FUNCTION, ONLY(lacks_long_differences)},
      {"lower_long_signs", qn__pass_lower_long_signs, 0, FUNCTION, ONLY(lacks_long_signs)},
      {"ladders", qn__pass_ladders, 0, FUNCTION, ONLY(has_group_size)}}},
};

/* ---- running ---- */

/* How far a function has come in a phase. */
typedef struct progress {
    unsigned version, started; /* counts changes; what it was when the round began */
    unsigned seen[MAX_PASSES]; /* the version that a pass has left */
    bool again, done;
} progress;

typedef struct runner {
    qn__pass_context context;
    qn__arena scratch;
    jmp_buf escape;
    jmp_buf *outer;       /* the module's own */
    progress *progress;   /* by function */
    size_t num_functions; /* that the phase began with; those that a pass adds are the next one's */
} runner;

static bool is_for(const pass *p, const qn__target *target) {
    if (qn__has_trait(target, p->unless)) return false;
    for (size_t i = 0; i < QN__COUNT(p->only); i++)
        if (qn__has_trait(target, p->only[i])) return true;
    return !p->only[0];
}

static bool selected(const runner *r, const pass *p) {
    const qn__pass_options *options = r->context.options;
    return p->run && options->level >= p->level && (p->takes != GENERIC || r->context.module->has_generic) &&
           is_for(p, &options->target);
}

static void new_scratch(runner *r) {
    const qn__arena *arena = r->context.module->arena;
    qn__arena_init(&r->scratch, arena->allocator, arena->budget);
    r->scratch.store = arena->store;
    r->scratch.escape = &r->escape;
}

/* Bookkeeping after a pass, over one function or all. */
static void finish_pass(runner *r, const pass *p, bool changed) {
    ir_module *module = r->context.module;
    const qn__pass_options *options = r->context.options;
    qn__arena_reset(&r->scratch);
    if (!r->context.error && options->verify) {
        const char *broken = qn__ir_verify(module->arena, module);
        if (broken)
            r->context.error =
                qn__arena_printf(module->arena, "internal error after pass %s: %s", p->name, broken);
    }
    if (changed && options->dump && !r->context.error) options->dump(options->user, p->name, module);
}

/* Whether a region has at most *room instructions, which it is less by them. */
static bool is_small(const ir_region *region, unsigned *room) {
    for (const ir_instr *i = region->first; i; i = i->next) {
        if (!*room) return false;
        --*room;
        for (uint32_t r = 0; r < i->num_regions; r++)
            if (!is_small(i->regions[r], room)) return false;
    }
    return true;
}

static bool has_work(const ir_function *function) {
    unsigned room = SMALL_FUNCTION;
    return qn__has_variables(function) || is_small(function->body, &room);
}

/* The pass has left the function as it is now; it may stand in the phase more than once. */
static void note_seen(progress *pr, const phase *ph, const pass *p) {
    for (size_t m = 0; m < MAX_PASSES; m++)
        if (ph->passes[m].run == p->run) pr->seen[m] = pr->version;
}

/* One pass, number `n` of its phase, over the functions that have changed since it saw them. */
static void run_on_functions(runner *r, const phase *ph, const pass *p, size_t n) {
    ir_module *module = r->context.module;
    bool any = false;
    for (size_t f = 0; f < r->num_functions && !r->context.error; f++) {
        progress *pr = &r->progress[f];
        ir_function *function = r->context.function = module->functions.data[f];
        if (!function->body || pr->done || pr->seen[n] == pr->version) continue;
        if (p->takes == CHANGED && pr->version == pr->started) continue;
        if (p->takes == COPIED && (function->num_copies < 2 || function->is_tidy)) continue;
        if (p->run(&r->context)) {
            pr->version++;
            pr->again |= p->takes == LOOPS;
            any = true;
        }
        note_seen(pr, ph, p);
        qn__arena_reset(&r->scratch);
    }
    finish_pass(r, p, any);
}

static void run_pass(runner *r, const phase *ph, const pass *p, size_t n) {
    if (p->takes == MODULE)
        finish_pass(r, p, p->run(&r->context));
    else
        run_on_functions(r, ph, p, n);
}

/* Chooses the functions for the next round; false if there are none. */
static bool next_round(runner *r) {
    const ir_module *module = r->context.module;
    bool any = false;
    for (size_t f = 0; f < r->num_functions; f++) {
        progress *pr = &r->progress[f];
        const ir_function *function = module->functions.data[f];
        pr->done = !function->body || pr->version == pr->started || !(pr->again || has_work(function));
        pr->started = pr->version;
        pr->again = false;
        any = any || !pr->done;
    }
    return any;
}

static void start_phase(runner *r) {
    const ir_module *module = r->context.module;
    r->num_functions = module->functions.len;
    r->progress = QN__NEW_ARRAY(module->arena, progress, r->num_functions + 1);
    for (size_t f = 0; f < r->num_functions; f++) r->progress[f].version = r->progress[f].started = 1;
}

static void run_phase(runner *r, const phase *ph) {
    start_phase(r);
    for (unsigned round = 0; round < ph->rounds; round++) {
        for (size_t n = 0; n < QN__COUNT(ph->passes) && ph->passes[n].run; n++) {
            const pass *p = &ph->passes[n];
            if (selected(r, p)) run_pass(r, ph, p, n);
            if (r->context.error) return;
        }
        if (round + 1 == ph->rounds || !next_round(r)) return;
    }
}

/* The scratch arena must not outlive an escape from the module's arena: both leave through here. */
static void guarded(runner *r, void (*body)(runner *, const void *), const void *argument) {
    qn__arena *arena = r->context.module->arena;
    r->outer = arena->escape;
    new_scratch(r);
    r->context.scratch = &r->scratch;
    const int reason = setjmp(r->escape);
    if (reason == 0) {
        arena->escape = &r->escape;
        body(r, argument);
    }
    arena->escape = r->outer;
    qn__arena_free(&r->scratch);
    if (reason != 0) longjmp(*r->outer, reason);
}

static void run_all(runner *r, const void *unused) {
    (void)unused;
    const qn__pass_options *options = r->context.options;
    if (options->dump) options->dump(options->user, "lower", r->context.module);
    qn__survey(&r->context);
    qn__arena_reset(&r->scratch);
    for (size_t n = 0; n < QN__COUNT(phases) && !r->context.error; n++) run_phase(r, &phases[n]);
}

static void run_single(runner *r, const void *argument) {
    const pass *p = argument;
    phase alone = {p->name, 1, {*p}};
    if (p->takes != MODULE) alone.passes[0].takes = FUNCTION;
    start_phase(r);
    run_pass(r, &alone, &alone.passes[0], 0);
}

const char *qn__pass_run(ir_module *module, const qn__pass_options *options) {
    runner r = {.context = {.module = module, .options = options}};
    guarded(&r, run_all, NULL);
    return r.context.error;
}

static const pass *find(const char *name) {
    for (size_t n = 0; n < QN__COUNT(phases); n++)
        for (const pass *p = phases[n].passes; p < phases[n].passes + MAX_PASSES && p->run; p++)
            if (strcmp(p->name, name) == 0) return p;
    return NULL;
}

bool qn__pass_exists(const char *name) { return find(name) != NULL; }

bool qn__pass_run_one(ir_module *module, const char *name, const qn__pass_options *options,
                      const char **error) {
    const pass *p = find(name);
    *error = NULL;
    if (!p) return false;
    runner r = {.context = {.module = module, .options = options}};
    guarded(&r, run_single, p);
    *error = r.context.error;
    return true;
}
