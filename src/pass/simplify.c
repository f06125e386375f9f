/* Constant folding and algebraic simplification: one walk in program order. An instruction is folded if all
   its operands are constants, has its constant moved to the right if it commutes, and is then tried against
   the rules: the table below (patterns of one level), then the functions of the peephole_* files (patterns
   that look into operands).

       %a = add 0, %x              %c = mul %x, 8
       %b = sub %a, %a       ->    shl %x, 3
                                   0                   (uses of %b)

   Float rules are exact unless the instruction is IR_FAST. What a rule makes is looked at again; every rule
   makes something simpler by one fixed order, and a budget ends the walk even if two rules should
   disagree. */
#include "pass/peephole.h"

enum { /* operand patterns */
       P_ANY,
       P_ZERO,  /* all bits zero: 0, +0.0, false */
       P_ONE,   /* integer 1 */
       P_ONES,  /* all bits set: -1, true */
       P_POW2,  /* integer power of two above 1 */
       P_SAME,  /* as operand 0 */
       P_FNEG0, /* -0.0 */
       P_FONE,
       P_FNEG1,
       P_FPOW2 /* power of two whose inverse is exact */
};

enum { /* results */
       R_A,
       R_B,
       R_C,
       R_ZERO,
       R_ONES,
       R_NOT_A,
       R_FNEG_A,
       R_SHL,   /* A << log2 B */
       R_LSHR,  /* A >> log2 B */
       R_MASK,  /* A & B - 1 */
       R_RECIP, /* A * 1/B */
       R_AND,
       R_OR,
       R_AND_C, /* A & C */
       R_OR_C,
       R_FADD_AC,
       R_FADD_BC,
       R_FMUL
};

enum {
    FAST = 1,
    BOOLS = 2,
    NUMBERS = 4
}; /* FAST: only with that flag; BOOLS: operands (of select: values) are bool */

typedef struct rule {
    uint8_t op, a, b, c, result, when;
} rule;

/* Sorted by op as in ops.def; constants of commuting ops are on the right already. */
static const rule rules[] = {
    {IR_ADD, P_ANY, P_ZERO, P_ANY, R_A, 0},          {IR_SUB, P_ANY, P_ZERO, P_ANY, R_A, 0},
    {IR_SUB, P_ANY, P_SAME, P_ANY, R_ZERO, 0},       {IR_MUL, P_ANY, P_ONE, P_ANY, R_A, 0},
    {IR_MUL, P_ANY, P_ZERO, P_ANY, R_ZERO, 0},       {IR_MUL, P_ANY, P_POW2, P_ANY, R_SHL, 0},
    {IR_UMULHI, P_ANY, P_ZERO, P_ANY, R_ZERO, 0},    {IR_UMULHI, P_ANY, P_ONE, P_ANY, R_ZERO, 0},
    {IR_UDIV, P_ANY, P_ONE, P_ANY, R_A, 0},          {IR_UDIV, P_ANY, P_POW2, P_ANY, R_LSHR, 0},
    {IR_UDIV, P_ZERO, P_ANY, P_ANY, R_A, 0},         {IR_SDIV, P_ANY, P_ONE, P_ANY, R_A, 0},
    {IR_SDIV, P_ZERO, P_ANY, P_ANY, R_A, 0},         {IR_UREM, P_ANY, P_ONE, P_ANY, R_ZERO, 0},
    {IR_UREM, P_ANY, P_POW2, P_ANY, R_MASK, 0},      {IR_UREM, P_ZERO, P_ANY, P_ANY, R_A, 0},
    {IR_SREM, P_ANY, P_ONE, P_ANY, R_ZERO, 0},       {IR_SREM, P_ZERO, P_ANY, P_ANY, R_A, 0},
    {IR_SMIN, P_ANY, P_SAME, P_ANY, R_A, 0},         {IR_SMAX, P_ANY, P_SAME, P_ANY, R_A, 0},
    {IR_UMIN, P_ANY, P_SAME, P_ANY, R_A, 0},         {IR_UMIN, P_ANY, P_ZERO, P_ANY, R_ZERO, 0},
    {IR_UMIN, P_ANY, P_ONES, P_ANY, R_A, 0},         {IR_UMAX, P_ANY, P_SAME, P_ANY, R_A, 0},
    {IR_UMAX, P_ANY, P_ZERO, P_ANY, R_A, 0},         {IR_UMAX, P_ANY, P_ONES, P_ANY, R_ONES, 0},
    {IR_AND, P_ANY, P_SAME, P_ANY, R_A, 0},          {IR_AND, P_ANY, P_ZERO, P_ANY, R_ZERO, 0},
    {IR_AND, P_ANY, P_ONES, P_ANY, R_A, 0},          {IR_OR, P_ANY, P_SAME, P_ANY, R_A, 0},
    {IR_OR, P_ANY, P_ZERO, P_ANY, R_A, 0},           {IR_OR, P_ANY, P_ONES, P_ANY, R_ONES, 0},
    {IR_XOR, P_ANY, P_SAME, P_ANY, R_ZERO, 0},       {IR_XOR, P_ANY, P_ZERO, P_ANY, R_A, 0},
    {IR_XOR, P_ANY, P_ONES, P_ANY, R_NOT_A, 0},      {IR_SHL, P_ANY, P_ZERO, P_ANY, R_A, 0},
    {IR_SHL, P_ZERO, P_ANY, P_ANY, R_ZERO, 0},       {IR_LSHR, P_ANY, P_ZERO, P_ANY, R_A, 0},
    {IR_LSHR, P_ZERO, P_ANY, P_ANY, R_ZERO, 0},      {IR_ASHR, P_ANY, P_ZERO, P_ANY, R_A, 0},
    {IR_ASHR, P_ZERO, P_ANY, P_ANY, R_ZERO, 0},      {IR_ASHR, P_ONES, P_ANY, P_ANY, R_ONES, 0},
    {IR_ROTL, P_ANY, P_ZERO, P_ANY, R_A, 0},         {IR_EQ, P_ANY, P_SAME, P_ANY, R_ONES, 0},
    {IR_EQ, P_ANY, P_ONES, P_ANY, R_A, BOOLS},       {IR_EQ, P_ANY, P_ZERO, P_ANY, R_NOT_A, BOOLS},
    {IR_NE, P_ANY, P_SAME, P_ANY, R_ZERO, 0},        {IR_NE, P_ANY, P_ZERO, P_ANY, R_A, BOOLS},
    {IR_NE, P_ANY, P_ONES, P_ANY, R_NOT_A, BOOLS},   {IR_SLT, P_ANY, P_SAME, P_ANY, R_ZERO, 0},
    {IR_SLE, P_ANY, P_SAME, P_ANY, R_ONES, 0},       {IR_ULT, P_ANY, P_SAME, P_ANY, R_ZERO, 0},
    {IR_ULT, P_ANY, P_ZERO, P_ANY, R_ZERO, 0},       {IR_ULE, P_ANY, P_SAME, P_ANY, R_ONES, 0},
    {IR_ULE, P_ZERO, P_ANY, P_ANY, R_ONES, 0},       {IR_ULE, P_ANY, P_ONES, P_ANY, R_ONES, NUMBERS},
    {IR_FADD, P_ANY, P_FNEG0, P_ANY, R_A, 0},        {IR_FADD, P_ANY, P_ZERO, P_ANY, R_A, FAST},
    {IR_FSUB, P_ANY, P_ZERO, P_ANY, R_A, 0},         {IR_FSUB, P_ANY, P_FNEG0, P_ANY, R_A, FAST},
    {IR_FSUB, P_ANY, P_SAME, P_ANY, R_ZERO, FAST},   {IR_FMUL, P_ANY, P_FONE, P_ANY, R_A, 0},
    {IR_FMUL, P_ANY, P_FNEG1, P_ANY, R_FNEG_A, 0},   {IR_FMUL, P_ANY, P_ZERO, P_ANY, R_ZERO, FAST},
    {IR_FDIV, P_ANY, P_FONE, P_ANY, R_A, 0},         {IR_FDIV, P_ANY, P_FNEG1, P_ANY, R_FNEG_A, 0},
    {IR_FDIV, P_ANY, P_FPOW2, P_ANY, R_RECIP, 0},    {IR_FMA, P_ANY, P_FONE, P_ANY, R_FADD_AC, 0},
    {IR_FMA, P_FONE, P_ANY, P_ANY, R_FADD_BC, 0},    {IR_FMA, P_ANY, P_ANY, P_FNEG0, R_FMUL, 0},
    {IR_FMIN, P_ANY, P_SAME, P_ANY, R_A, 0},         {IR_FMAX, P_ANY, P_SAME, P_ANY, R_A, 0},
    {IR_SELECT, P_ONES, P_ANY, P_ANY, R_B, 0},       {IR_SELECT, P_ZERO, P_ANY, P_ANY, R_C, 0},
    {IR_SELECT, P_ANY, P_ONES, P_ZERO, R_A, BOOLS},  {IR_SELECT, P_ANY, P_ZERO, P_ONES, R_NOT_A, BOOLS},
    {IR_SELECT, P_ANY, P_ANY, P_ZERO, R_AND, BOOLS}, {IR_SELECT, P_ANY, P_ONES, P_ANY, R_OR_C, BOOLS},
};

/* ---- matching ---- */

bool qn__splat_bits(const ir_value *value, uint64_t *bits) {
    if (!qn__ir_is_const(value)) return false;
    for (unsigned i = 1; i < value->type.lanes; i++)
        if (value->bits[i] != value->bits[0]) return false;
    *bits = value->bits[0];
    return true;
}

/* Sign, exponent and mantissa of the format as bit counts. */
typedef struct float_format {
    unsigned width, mantissa;
} float_format;

static float_format format_of(ir_type type) {
    static const float_format formats[] = {{16, 10}, {32, 23}, {64, 52}};
    return formats[type.kind - IR_F16];
}

static uint64_t float_one(ir_type type) {
    const float_format f = format_of(type);
    const uint64_t bias = (UINT64_C(1) << (f.width - f.mantissa - 2)) - 1;
    return bias << f.mantissa;
}

static uint64_t float_sign(ir_type type) { return UINT64_C(1) << (format_of(type).width - 1); }

/* The bits of 1/x for a power of two whose inverse is a normal number, else 0. */
static uint64_t exact_inverse(ir_type type, uint64_t bits) {
    const float_format f = format_of(type);
    const uint64_t exponents = (UINT64_C(1) << (f.width - f.mantissa - 1)) - 1;
    const uint64_t exponent = bits >> f.mantissa & exponents, sign = bits & float_sign(type);
    const uint64_t bias = exponents >> 1;
    if (bits & ((UINT64_C(1) << f.mantissa) - 1)) return 0;
    if (exponent == 0 || exponent >= 2 * bias) return 0;
    return sign | (2 * bias - exponent) << f.mantissa;
}

static bool matches(unsigned pattern, const ir_value *value, const ir_value *first) {
    uint64_t bits;
    if (pattern == P_ANY) return true;
    if (pattern == P_SAME) return value == first;
    if (!qn__splat_bits(value, &bits)) return false;
    const ir_type type = value->type;
    switch (pattern) {
    case P_ZERO: return bits == 0;
    case P_ONE: return bits == 1;
    case P_ONES: return bits == qn__lane_mask(type) && !qn__ir_is_float(type);
    case P_POW2: return bits > 1 && (bits & (bits - 1)) == 0;
    case P_FNEG0: return bits == float_sign(type);
    case P_FONE: return bits == float_one(type);
    case P_FNEG1: return bits == (float_one(type) | float_sign(type));
    case P_FPOW2: return exact_inverse(type, bits) != 0;
    default: return false;
    }
}

/* Result of a rule; the shift of `x * 2^k` keeps the no-overflow flags (k < width - 1 for the signed one). */
static ir_value *build(qn__peephole *p, const ir_instr *instr, unsigned result) {
    ir_builder *b = &p->builder;
    ir_value *const *v = instr->operands;
    const ir_type type = instr->results[0]->type;
    uint64_t bits = 0;
    if (instr->num_operands > 1) (void)qn__splat_bits(v[1], &bits);
    switch (result) {
    case R_A: return v[0];
    case R_B: return v[1];
    case R_C: return v[2];
    case R_ZERO: return qn__ir_const_splat(p->function, type, 0);
    case R_ONES: return qn__ir_const_splat(p->function, type, UINT64_MAX);
    case R_NOT_A: return qn__ir_op1(b, IR_NOT, v[0]);
    case R_FNEG_A: return qn__ir_op1(b, IR_FNEG, v[0]);
    case R_SHL: {
        const unsigned log = qn__trailing_zeros(bits);
        ir_value *shift = qn__ir_op2(b, IR_SHL, v[0], qn__ir_const_splat(p->function, type, log));
        shift->def->flags = instr->flags & (log == qn__ir_bits(type) - 1 ? IR_NUW : IR_NUW | IR_NSW);
        return shift;
    }
    case R_LSHR:
        return qn__ir_op2(b, IR_LSHR, v[0], qn__ir_const_splat(p->function, type, qn__trailing_zeros(bits)));
    case R_MASK: return qn__ir_op2(b, IR_AND, v[0], qn__ir_const_splat(p->function, type, bits - 1));
    case R_RECIP:
        return qn__ir_op2(b, IR_FMUL, v[0], qn__ir_const_splat(p->function, type, exact_inverse(type, bits)));
    case R_AND: return qn__ir_op2(b, IR_AND, v[0], v[1]);
    case R_AND_C: return qn__ir_op2(b, IR_AND, v[0], v[2]);
    case R_OR: return qn__ir_op2(b, IR_OR, v[0], v[1]);
    case R_OR_C: return qn__ir_op2(b, IR_OR, v[0], v[2]);
    case R_FADD_AC: return qn__ir_op2(b, IR_FADD, v[0], v[2]);
    case R_FADD_BC: return qn__ir_op2(b, IR_FADD, v[1], v[2]);
    case R_FMUL: return qn__ir_op2(b, IR_FMUL, v[0], v[1]);
    default: return NULL;
    }
}

static bool applies(const rule *r, const ir_instr *instr) {
    const ir_value *first = instr->operands[0];
    if ((r->when & FAST) && !(instr->flags & IR_FAST)) return false;
    if (r->when & BOOLS) {
        /* and/or of a select need a condition of as many lanes as the values have */
        const ir_type type = instr->op == IR_SELECT ? instr->results[0]->type : first->type;
        if (type.kind != IR_BOOL || type.lanes != first->type.lanes) return false;
    }
    if ((r->when & NUMBERS) && first->type.kind == IR_PTR) return false;
    if (!matches(r->a, first, first)) return false;
    if (instr->num_operands > 1 && !matches(r->b, instr->operands[1], first)) return false;
    return instr->num_operands < 3 || matches(r->c, instr->operands[2], first);
}

/* ---- the walk ---- */

enum { ROOMS = 6 };

struct qn__rule_index {
    uint16_t first[IR_OP_COUNT + 1]; /* rules of an op: [first[op], first[op + 1]) */
    qn__peephole_rule *deep[IR_OP_COUNT];
};

typedef struct simplifier {
    qn__peephole peephole;
    qn__rewrite rewrite;
    const qn__rule_index *index;
    uint32_t budget;
    bool changed;
} simplifier;

static const qn__rule_index *index_rules(qn__arena *arena) {
    static const qn__peephole_row *const rooms[ROOMS] = {qn__peephole_int,     qn__peephole_range,
                                                         qn__peephole_convert, qn__peephole_float,
                                                         qn__peephole_vector,  qn__peephole_memory};
    qn__rule_index *index = QN__NEW(arena, qn__rule_index);
    size_t next = 0;
    for (unsigned op = 0; op < IR_OP_COUNT; op++) {
        index->first[op] = (uint16_t)next;
        while (next < QN__COUNT(rules) && rules[next].op == op) next++;
    }
    index->first[IR_OP_COUNT] = (uint16_t)next;
    for (unsigned r = 0; r < ROOMS; r++)
        for (const qn__peephole_row *row = rooms[r]; row->rule; row++) index->deep[row->op] = row->rule;
    return index;
}

/* The first rule of the table that applies. Its patterns are of constants and of equal operands. */
static const rule *find_rule(const simplifier *s, const ir_instr *instr, bool has_constant) {
    if (!has_constant && (instr->num_operands < 2 || instr->operands[0] != instr->operands[1])) return NULL;
    const rule *end = &rules[s->index->first[instr->op + 1]];
    for (const rule *r = &rules[s->index->first[instr->op]]; r < end; r++)
        if (applies(r, instr)) return r;
    return NULL;
}

static uint32_t count_constants(const ir_instr *instr) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < instr->num_operands; i++) count += qn__ir_is_const(instr->operands[i]);
    return count;
}

/* As many instructions away a change matters: rules look that deep. */
enum { REACH = 3 }; /* below IR_SETTLED */

/* Whether the instruction has been tried as it is, and what its operands are made of too. A change counts one less with
   each instruction that it is away. */
static bool is_settled(const simplifier *s, const ir_instr *instr) {
    if (instr->num_results != 1 || instr->num_regions) return false;
    uint32_t changed = instr->results[0]->changed;
    if (changed == s->peephole.function->now) return false;
    for (uint32_t i = 0; i < instr->num_operands; i++)
        if (instr->operands[i]->changed > changed + 1) changed = instr->operands[i]->changed - 1;
    instr->results[0]->changed = changed;
    return changed + REACH <= s->peephole.function->now;
}

static ir_value *simplify_one(simplifier *s, ir_instr *instr) {
    const bool is_kept = qn__ir_is_kept_sum(instr);
    if (instr->num_results != 1 || instr->num_regions || !(is_kept || qn__ir_is_removable(instr)))
        return NULL;
    const uint32_t constants = count_constants(instr);
    if (constants == instr->num_operands || instr->op == IR_SELECT) {
        ir_value *folded = qn__ir_fold(s->peephole.function, instr);
        if (folded) return folded;
    }
    if (is_kept) return NULL;
    if (constants && !(instr->flags & IR_WRITTEN) && qn__ir_commutes(instr->op) &&
        qn__ir_is_const(instr->operands[0]) && !qn__ir_is_const(instr->operands[1])) {
        ir_value *constant = instr->operands[0];
        instr->operands[0] = instr->operands[1];
        instr->operands[1] = constant;
        s->changed = true;
    }
    const rule *found = find_rule(s, instr, constants > 0);
    qn__peephole_rule *deep = s->index->deep[instr->op];
    if (!found && !deep) return NULL;
    qn__ir_at(&s->peephole.builder, instr);
    s->peephole.fast = (instr->flags & IR_FAST) != 0;
    s->peephole.builder.float_flags = instr->flags & (IR_CONTRACT | IR_FAST);
    return found ? build(&s->peephole, instr, found->result) : deep(&s->peephole, instr);
}

/* Loads, which give a value, have their rule among the others. */
static bool has_offset(const ir_instr *i) {
    return i->op == IR_STORE || (i->op >= IR_ATOMIC_LOAD && i->op <= IR_ATOMIC_CAS);
}

static void walk(simplifier *s, ir_region *region) {
    for (ir_instr *i = region->first; i;) {
        qn__rewrite_operands(&s->rewrite, i);
        if (is_settled(s, i)) {
            i = i->next;
            continue;
        }
        ir_instr *prev = i->prev;
        ir_value *value = s->budget ? simplify_one(s, i) : NULL;
        if (value) {
            s->budget--;
            s->changed = true;
            if (value != i->results[0]) {
                if (!value->name && value->value_kind == IR_VALUE_RESULT) value->name = i->results[0]->name;
                qn__rewrite_set(&s->rewrite, i->results[0], value);
                qn__ir_unlink(i);
            }
            i = prev ? prev->next : region->first; /* what the rule made comes next */
            continue;
        }
        if (has_offset(i) && qn__fold_access_offset(i)) s->changed = true;
        for (uint32_t r = 0; r < i->num_regions; r++) walk(s, i->regions[r]);
        i = i->next;
    }
}

bool qn__pass_simplify(qn__pass_context *context) {
    simplifier s = {.peephole = {.function = context->function, .builder = {.function = context->function}}};
    s.peephole.target = &context->options->target;
    s.budget = 256 + 8 * context->function->num_values;
    if (!context->rules) context->rules = index_rules(context->module->arena);
    s.index = context->rules;
    walk(&s, context->function->body);
    context->function->now += IR_SETTLED;
    return s.changed;
}
