/* What the passes share: their context, a value-replacement map that grows with the function, and edits of
   regions that more than one pass makes. The common shape of a pass is one walk in program order that
   rewrites operands through the map as it meets them: definitions come before uses everywhere but in a loop's
   continue, whose operands are met later in the same walk. */
#ifndef QN__PASS_TOOLS_H
#define QN__PASS_TOOLS_H

#include "ir/ir.h"
#include "pass/analysis.h"
#include "pass/pass.h"

typedef struct qn__rule_index qn__rule_index;

typedef struct qn__pass_context {
    ir_module *module;
    ir_function *function; /* the one to work on; module passes ignore it */
    const qn__pass_options *options;
    qn__arena *scratch;          /* freed after the pass */
    const qn__rule_index *rules; /* of simplify, made when it first runs */
    const char *error;           /* set by a pass that gives up: a message in the module's arena */
} qn__pass_context;

/* Returns whether it changed anything. */
typedef bool qn__pass_function(qn__pass_context *context);

/* The passes; `inline`, `guard`, `lower_f64` and `lower_wide` take the module, the others context->function. */
qn__pass_function qn__pass_inline, qn__pass_mem2reg, qn__pass_sroa, qn__pass_simplify, qn__pass_flow,
    qn__pass_dce, qn__pass_cse, qn__pass_licm, qn__pass_unroll, qn__pass_ifconvert, qn__pass_contract,
    qn__pass_address, qn__pass_memvec, qn__pass_lower_f16, qn__pass_lower_long_vectors, qn__pass_lower_printf,
    qn__pass_lower_jumps, qn__pass_lower_collectives, qn__pass_rotate, qn__pass_unroll_counted,
    qn__pass_lower_sub_groups, qn__pass_lower_wide_groups, qn__pass_lower_narrow, qn__pass_lower_denormals,
    qn__pass_lower_division, qn__pass_lower_dot4, qn__pass_lower_int_division, qn__pass_lower_byte_swaps,
    qn__pass_lower_constant_division, qn__pass_lower_cut_signs, qn__pass_lower_active, qn__pass_lower_fma,
    qn__pass_lower_wide, qn__pass_lower_moved_f16, qn__pass_ladders, qn__pass_carry, qn__pass_lower_generic,
    qn__pass_no_write, qn__pass_reach, qn__pass_lower_small_floats, qn__pass_lower_matrix,
    qn__pass_lower_long_differences, qn__pass_lower_long_signs, qn__pass_keep_shared, qn__pass_find_unused,
    qn__pass_keep_private, qn__pass_guard, qn__pass_lower_conversions, qn__pass_narrow_loops,
    qn__pass_lower_f64;

/* Sets num_copies of every function: how many copies of it inlining makes. */
void qn__survey(qn__pass_context *context);
typedef QN__VEC(ir_instr *) qn__calls;
/* The same, where the calls in each function are known, by its place in the module. */
void qn__count_copies(qn__pass_context *context, const qn__calls *calls);
/* Of a number that is not 0; of a power of two its logarithm. */
static inline unsigned qn__trailing_zeros(uint64_t bits) {
    unsigned count = 0;
    while (!(bits >> count & 1)) count++;
    return count;
}
/* Whether the function may have one of the ops first..last. */
static inline bool qn__has_op(const ir_function *function, ir_op first, ir_op last) {
    for (unsigned op = first; op <= (unsigned)last; op++)
        if (function->has[op]) return true;
    return false;
}

static inline bool qn__has_kind(const ir_function *function, ir_kind kind) {
    return function->kinds >> kind & 1;
}

/* The pass gives up, because the target cannot do what stands at `loc`. */
void qn__pass_refuse(qn__pass_context *context, ir_loc loc, const char *message);

/* ---- replacing values ---- */

/* What is replaced is noted in the values themselves (ir_value.instead). The pass that notes it has to rewrite all
   that may use them. */
typedef struct qn__rewrite {
    bool any; /* a value has been replaced */
} qn__rewrite;

void qn__rewrite_set(qn__rewrite *rewrite, ir_value *from, ir_value *to);
static inline ir_value *qn__rewrite_get(ir_value *value) {
    while (value->instead) value = value->instead;
    return value;
}
static inline void qn__rewrite_operands(const qn__rewrite *rewrite, ir_instr *instr) {
    if (!rewrite->any) return;
    for (uint32_t i = 0; i < instr->num_operands; i++) {
        if (!instr->operands[i]->instead) continue;
        instr->operands[i] = qn__rewrite_get(instr->operands[i]);
        qn__ir_touch(instr);
    }
}
/* Maps each result of `instr` to the value of the same index. */
void qn__rewrite_results(qn__rewrite *rewrite, const ir_instr *instr, ir_value *const *values);

/* ---- editing ---- */

/* Variables stand first in a function. */
static inline bool qn__has_variables(const ir_function *function) {
    return function->body->first && function->body->first->op == IR_VAR;
}
/* What gives a pointer to private memory, or NULL: it is none, or a parameter or an argument. */
static inline ir_instr *qn__private_pointer(const ir_value *value) {
    const bool is_private = value->type.kind == IR_PTR && value->type.space == IR_PRIVATE;
    return is_private && value->value_kind == IR_VALUE_RESULT ? value->def : NULL;
}
static inline ir_effects qn__effects(const ir_instr *instr) { return qn__ir_effects(instr); }
static inline bool qn__defined_by(const ir_value *value, ir_op op) {
    return value->value_kind == IR_VALUE_RESULT && value->def->op == op;
}

/* Loaded, or a lane of what is. */
static inline bool qn__is_loaded(const ir_value *value) {
    while (qn__defined_by(value, IR_EXTRACT)) value = value->def->operands[0];
    return qn__defined_by(value, IR_LOAD);
}

/* Could fail where the program did not run it: a division, but by a constant other than 0 and -1. */
bool qn__may_trap(const ir_instr *instr);

/* New results (or loop parameters) for many values at once. */
void qn__results_extend(ir_function *function, ir_instr *construct, const ir_type *types,
                        const char *const *names, uint32_t count);
void qn__params_extend(ir_function *function, ir_instr *loop, ir_value *const *inits,
                       const char *const *names, uint32_t count);
/* Appends operands to an instruction. */
void qn__operands_extend(ir_function *function, ir_instr *instr, ir_value *const *values, uint32_t count);
/* Each gives the other's results, which are of the same types: who used those of `a` uses those of `b`. */
void qn__results_swap(ir_instr *a, ir_instr *b);
/* Keeps the operands, results or parameters whose keep[i] is set. */
void qn__operands_keep(ir_instr *instr, const bool *keep);
void qn__results_keep(ir_instr *instr, const bool *keep);
void qn__params_keep(ir_region *region, const bool *keep);

/* A bitcast between vectors of other numbers of lanes, as shifts of integers: `from` lanes to `to` lanes. */
void qn__regroup_bits(ir_builder *builder, ir_value *const *in, ir_type from, ir_type to, ir_value **out);

/* Moves the instructions first..last (inclusive, of one region) before `before`. */
void qn__move_range(ir_instr *first, ir_instr *last, ir_instr *before);
/* Moves everything of `region` but its jump before `before`. */
void qn__splice_body(ir_region *region, ir_instr *before);
/* Removes whatever follows `instr` in its region. */
void qn__cut_after(ir_instr *instr);
/* Whether a value that is seen somewhere in a construct is seen behind it, too. */
bool qn__is_visible(const ir_value *value, const ir_instr *construct);
/* Turns ifs that break out of the block into ifs around what follows them, where that copies nothing (flow.c).
   What it replaces, the rewrite then knows. At most that many ifs come to stand in one another. */
enum { QN__MOST_NESTED = 32 };
void qn__block_to_ifs(qn__pass_context *context, qn__rewrite *rewrite, ir_instr *block);

/* Whether a loop goes round a constant number of times, at most `most`, where it is not left earlier (unroll.c). */
bool qn__count_iterations(qn__pass_context *context, ir_function *function, ir_instr *loop, uint32_t most,
                          uint32_t *iterations);

/* ---- what a construct does ---- */

/* Bits of spaces written (1 << ir_space), set in `mark` of every construct by qn__mark_effects, with: */
enum {
    QN__MARK_JUMPS_OUT = 1 << 16, /* holds a jump to outside itself */
    QN__MARK_SYNC = 1 << 17,      /* barrier, collective of a work-group, atomic, fence, printf, call */
    QN__MARK_SPACES = 0xffff
};
uint32_t qn__effects_of_writer(const ir_instr *instr);
/* The same bits for one plain instruction. */
static inline uint32_t qn__instr_effects(const ir_instr *instr) {
    return qn__effects(instr) <= IR_EFFECT_READ ? 0 : qn__effects_of_writer(instr);
}
void qn__mark_effects(ir_region *region);

#endif
