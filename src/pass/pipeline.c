/* The order of the passes, all of it. Level 0 inlines and lowers; level 1 is what always pays; level 2 is
   everything. A phase is repeated while it changes something, at most `rounds` times. */
#include <string.h>

#include "pass/tools.h"
#include "util/map.h"

typedef struct pass {
    const char *name;
    qn__pass_function *run;
    uint8_t level;   /* runs from this level on */
    bool module;     /* takes the module at once */
    uint32_t lacks;  /* runs only for targets that lack one of these; 0: for all */
    uint32_t unless; /* not for targets that lack one of these */
} pass;

typedef struct phase {
    const char *name;
    unsigned rounds;
    pass passes[16];
} phase;

static const phase phases[] = {
    {"before inlining, so that every copy is small",
     1,
     {{"mem2reg", qn__pass_mem2reg, 1, false, 0, 0},
      {"simplify", qn__pass_simplify, 1, false, 0, 0},
      {"flow", qn__pass_flow, 1, false, 0, 0},
      {"dce", qn__pass_dce, 1, false, 0, 0}}},
    {"inlining", 1, {{"inline", qn__pass_inline, 0, true, 0, 0}}},
    {"values",
     6,
     {{"sroa", qn__pass_sroa, 1, false, 0, 0},
      {"mem2reg", qn__pass_mem2reg, 1, false, 0, 0},
      {"simplify", qn__pass_simplify, 1, false, 0, 0},
      {"flow", qn__pass_flow, 1, false, 0, 0},
      {"ifconvert", qn__pass_ifconvert, 2, false, 0, 0},
      {"cse", qn__pass_cse, 1, false, 0, 0},
      {"dce", qn__pass_dce, 1, false, 0, 0},
      {"unroll", qn__pass_unroll, 2, false, 0, 0}}},
    {"loops",
     1,
     {{"licm", qn__pass_licm, 2, false, 0, 0},
      {"address", qn__pass_address, 2, false, 0, 0},
      {"licm", qn__pass_licm, 2, false, 0, 0},
      {"simplify", qn__pass_simplify, 2, false, 0, 0},
      {"cse", qn__pass_cse, 2, false, 0, 0},
      {"contract", qn__pass_contract, 2, false, 0, QN__LACKS_CONTRACTION},
      {"dce", qn__pass_dce, 2, false, 0, 0}}},
    {"what the target lacks",
     1,
     {{"lower_f16", qn__pass_lower_f16, 0, false, QN__LACKS_F16, 0},
      {"lower_long_vectors", qn__pass_lower_long_vectors, 0, false, QN__LACKS_LONG_VECTORS, 0},
      {"simplify", qn__pass_simplify, 1, false, QN__LACKS_F16 | QN__LACKS_LONG_VECTORS, 0},
      {"cse", qn__pass_cse, 1, false, QN__LACKS_F16 | QN__LACKS_LONG_VECTORS, 0},
      {"memvec", qn__pass_memvec, 2, false, QN__WANTS_VECTOR_MEMORY, 0},
      {"dce", qn__pass_dce, 1, false, QN__LACKS_F16 | QN__LACKS_LONG_VECTORS | QN__WANTS_VECTOR_MEMORY, 0}}},
};

/* ---- running ----------------------------------------------------------------------------------------------
 */

typedef struct runner {
    qn__pass_context context;
    qn__arena scratch;
    jmp_buf escape;
    jmp_buf *outer; /* the module's own */
} runner;

static bool selected(const pass *p, const qn__pass_options *options) {
    return p->run && options->level >= p->level && (!p->lacks || (p->lacks & options->lacks)) &&
           !(p->unless & options->lacks);
}

static void new_scratch(runner *r) {
    const qn__arena *arena = r->context.module->arena;
    qn__arena_init(&r->scratch, arena->allocator, arena->budget);
    r->scratch.escape = &r->escape;
}

/* One pass over the module or each of its functions. */
static bool run_pass(runner *r, const pass *p) {
    ir_module *module = r->context.module;
    const qn__pass_options *options = r->context.options;
    bool changed = false;
    for (size_t f = 0; f < (p->module ? 1 : module->functions.len) && !r->context.error; f++) {
        r->context.function = p->module ? NULL : module->functions.data[f];
        if (!p->module && !r->context.function->body) continue;
        if (p->run(&r->context)) changed = true;
        qn__arena_reset(&r->scratch);
    }
    if (!r->context.error && options->verify) {
        const char *broken = qn__ir_verify(module->arena, module);
        if (broken)
            r->context.error =
                qn__arena_printf(module->arena, "internal error after pass %s: %s", p->name, broken);
    }
    if (changed && options->dump && !r->context.error) options->dump(options->user, p->name, module);
    return changed;
}

/* A pass is idempotent enough that it need not run again before another one has changed something. */
static void run_phase(runner *r, const phase *ph) {
    unsigned version = 1, seen[QN__COUNT(ph->passes)] = {0};
    for (unsigned round = 0; round < ph->rounds; round++) {
        const unsigned before = version;
        for (size_t n = 0; n < QN__COUNT(ph->passes) && ph->passes[n].run; n++) {
            const pass *p = &ph->passes[n];
            if (!selected(p, r->context.options) || seen[n] == version) continue;
            if (run_pass(r, p)) version++;
            seen[n] = version;
            if (r->context.error) return;
        }
        if (version == before) return;
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
    for (size_t n = 0; n < QN__COUNT(phases) && !r->context.error; n++) run_phase(r, &phases[n]);
}

static void run_single(runner *r, const void *argument) { run_pass(r, argument); }

const char *qn__pass_run(ir_module *module, const qn__pass_options *options) {
    runner r = {.context = {.module = module, .options = options}};
    guarded(&r, run_all, NULL);
    return r.context.error;
}

static const pass *find(const char *name) {
    for (size_t n = 0; n < QN__COUNT(phases); n++)
        for (const pass *p = phases[n].passes; p->run; p++)
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
