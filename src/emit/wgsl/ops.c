/* Operations on values in WGSL: the table of spellings, conversions, vectors. */
#include "emit/wgsl/internal.h"

/* ---- spellings ----
   %a %b %c  operands        %t  the result's type      %u  words of its lanes    %s  the same, signed
   %k %v %w  the same three of operand 0
   %m  all bits of the result    %i %x %y  its least number, signed, its largest one, signed and not, as floats
   A helper is a function that is called: its name begins with the same letters for all types. */

typedef struct spelling {
    const char *text, *helper_name, *helper;
} spelling;

#define PLAIN(text)                                                                                          \
    { text, NULL, NULL }
/* By its bits: drivers that promise nothing of NaN make true of x == x. */
#define IS_NAN(words, x) "(bitcast<" words ">(" x ") & " words "(0x7fffffffu)) > " words "(0x7f800000u)"
#define SIGNED2(f)       PLAIN("bitcast<%u>(" f "(bitcast<%s>(%a), bitcast<%s>(%b)))")

static const spelling spellings[IR_OP_COUNT] = {
    [IR_ADD] = PLAIN("%a + %b"),
    [IR_SUB] = PLAIN("%a - %b"),
    [IR_MUL] = PLAIN("%a * %b"),
    [IR_UMULHI] = {"qn_umulhi_%l(%a, %b)", "qn_umulhi_%l",
                   "fn qn_umulhi_%l(a: %u, b: %u) -> %u {\n"
                   "    let mask = %u(0xffffu);\n    let half = %u(16u);\n"
                   "    let low = (a & mask) * (b & mask);\n"
                   "    let middle = (a >> half) * (b & mask) + (low >> half);\n"
                   "    let other = (a & mask) * (b >> half) + (middle & mask);\n"
                   "    return (a >> half) * (b >> half) + (middle >> half) + (other >> half);\n}\n"},
    [IR_SMULHI] = {"qn_smulhi_%l(%a, %b)", "qn_smulhi_%l",
                   "fn qn_smulhi_%l(a: %u, b: %u) -> %u {\n"
                   "    let mask = %u(0xffffu);\n    let half = %u(16u);\n    let sign = %u(31u);\n"
                   "    let low = (a & mask) * (b & mask);\n"
                   "    let middle = (a >> half) * (b & mask) + (low >> half);\n"
                   "    let other = (a & mask) * (b >> half) + (middle & mask);\n"
                   "    let high = (a >> half) * (b >> half) + (middle >> half) + (other >> half);\n"
                   "    return high - (b & bitcast<%u>(bitcast<%s>(a) >> sign)) - (a & "
                   "bitcast<%u>(bitcast<%s>(b) >> sign));\n}\n"},
    [IR_UDIV] = PLAIN("%a / %b"),
    [IR_UREM] = PLAIN("%a %% %b"),
    [IR_SDIV] = PLAIN("bitcast<%u>(bitcast<%s>(%a) / bitcast<%s>(%b))"),
    /* SPIR-V's remainder, which naga makes of WGSL's, is undefined for negative numbers. */
    [IR_SREM] = {"qn_srem_%l(%a, %b)", "qn_srem_%l",
                 "fn qn_srem_%l(a: %u, b: %u) -> %u {\n"
                 "    let x = bitcast<%s>(a);\n    let y = select(bitcast<%s>(b), %s(1), b == %u(0u));\n"
                 "    return bitcast<%u>(x - x / y * y);\n}\n"},
    [IR_SMIN] = SIGNED2("min"),
    [IR_SMAX] = SIGNED2("max"),
    [IR_UMIN] = PLAIN("min(%a, %b)"),
    [IR_UMAX] = PLAIN("max(%a, %b)"),
    [IR_AND] = PLAIN("%a & %b"),
    [IR_OR] = PLAIN("%a | %b"),
    [IR_XOR] = PLAIN("%a ^ %b"),
    [IR_NOT] = PLAIN("~%a"),
    [IR_SHL] = PLAIN("%a << (%b & %u(31u))"),
    [IR_LSHR] = PLAIN("%a >> (%b & %u(31u))"),
    [IR_ASHR] = PLAIN("bitcast<%u>(bitcast<%s>(%a) >> (%b & %u(31u)))"),
    [IR_ROTL] = PLAIN("(%a << (%b & %u(31u))) | (%a >> ((%u(32u) - (%b & %u(31u))) & %u(31u)))"),
    [IR_CLZ] = PLAIN("countLeadingZeros(%a)"),
    [IR_CTZ] = PLAIN("countTrailingZeros(%a)"),
    [IR_POPCOUNT] = PLAIN("countOneBits(%a)"),

    /* Of floats `!=` is false with a NaN in implementations that make SPIR-V. */
    [IR_EQ] = PLAIN("%a == %b"),
    [IR_NE] = PLAIN("%a != %b"),
    [IR_SLT] = PLAIN("bitcast<%w>(%a) < bitcast<%w>(%b)"),
    [IR_SLE] = PLAIN("bitcast<%w>(%a) <= bitcast<%w>(%b)"),
    [IR_ULT] = PLAIN("%a < %b"),
    [IR_ULE] = PLAIN("%a <= %b"),
    [IR_FEQ] = PLAIN("%a == %b"),
    [IR_FNE] = PLAIN("!(%a == %b)"),
    [IR_FLT] = PLAIN("%a < %b"),
    [IR_FLE] = PLAIN("%a <= %b"),

    [IR_FADD] = PLAIN("%a + %b"),
    [IR_FSUB] = PLAIN("%a - %b"),
    [IR_FMUL] = PLAIN("%a * %b"),
    [IR_FDIV] = PLAIN("%a / %b"),
    [IR_FNEG] = PLAIN("bitcast<%t>(bitcast<%u>(%a) ^ %u(0x80000000u))"),
    [IR_FABS] = PLAIN("bitcast<%t>(bitcast<%u>(%a) & %u(0x7fffffffu))"),
    [IR_FCOPYSIGN] =
        PLAIN("bitcast<%t>((bitcast<%u>(%a) & %u(0x7fffffffu)) | (bitcast<%u>(%b) & %u(0x80000000u)))"),
    [IR_FMA] = PLAIN("fma(%a, %b, %c)"),
    [IR_FSQRT] = PLAIN("sqrt(%a)"),
    [IR_FMIN] = PLAIN("select(select(%b, %a, %a < %b), %a, " IS_NAN("%u", "%b") ")"),
    [IR_FMAX] = PLAIN("select(select(%b, %a, %a > %b), %a, " IS_NAN("%u", "%b") ")"),
    [IR_FFLOOR] = PLAIN("floor(%a)"),
    [IR_FCEIL] = PLAIN("ceil(%a)"),
    [IR_FTRUNC] = PLAIN("trunc(%a)"),
    [IR_FRINT] = PLAIN("round(%a)"),
    [IR_NATIVE_EXP2] = PLAIN("exp2(%a)"),
    [IR_NATIVE_LOG2] = PLAIN("log2(%a)"),
    [IR_NATIVE_SIN] = PLAIN("sin(%a)"),
    [IR_NATIVE_COS] = PLAIN("cos(%a)"),
    [IR_NATIVE_RECIP] = PLAIN("%t(1.0f) / %a"),
    [IR_NATIVE_RSQRT] = PLAIN("inverseSqrt(%a)"),
    [IR_NATIVE_SQRT] = PLAIN("sqrt(%a)"),
    [IR_NATIVE_DIV] = PLAIN("%a / %b"),

    /* Out of range they have saturated, and NaN is 0. */
    [IR_F2S] =
        PLAIN("bitcast<%u>(select(select(select(%s(%a), %s(-2147483647 - 1), %a < %k(-2147483648.0f)), "
              "%s(2147483647), %a >= %k(2147483648.0f)), %s(0), " IS_NAN("%v", "%a") "))"),
    [IR_F2U] = PLAIN("select(select(select(%u(%a), %u(0u), %a < %k(0.0f)), %u(0xffffffffu), "
                     "%a >= %k(4294967296.0f)), %u(0u), " IS_NAN("%v", "%a") ")"),
    [IR_S2F] = PLAIN("%t(bitcast<%w>(%a))"),
    [IR_U2F] = PLAIN("%t(%a)"),
};

/* To 8 and 16 bits: what is out of their range saturates, too. */
static const spelling to_narrow[IR_OP_COUNT] = {
    [IR_F2S] =
        PLAIN("bitcast<%u>(select(%s(clamp(%a, %k(%i), %k(%x))), %s(0), " IS_NAN("%v", "%a") ")) & %u(%m)"),
    [IR_F2U] = PLAIN("select(%u(clamp(%a, %k(0.0f), %k(%y))), %u(0u), " IS_NAN("%v", "%a") ")"),
};

/* What is compared with itself. */
static const spelling is_number = PLAIN("(bitcast<%v>(%a) & %v(0x7fffffffu)) <= %v(0x7f800000u)");
static const spelling is_nan = PLAIN(IS_NAN("%v", "%a"));

/* The sign is a word that compilers do not know. */
static const spelling negated_sum = PLAIN("bitcast<%t>(bitcast<%u>(%a) ^ %u(0x80000000u | nothing))");

static const spelling on_bool[IR_OP_COUNT] = {
    [IR_NOT] = PLAIN("!%a"),
    [IR_XOR] = PLAIN("%a != %b"),
    [IR_ZEXT] = PLAIN("select(%u(0u), %u(1u), %a)"),
    [IR_SEXT] = PLAIN("select(%u(0u), %u(%m), %a)"),
    [IR_U2F] = PLAIN("select(%t(0.0f), %t(1.0f), %a)"),
};

/* ---- patterns ---- */

typedef struct pattern {
    ir_type result, operand;
    const char *a, *b, *c;
} pattern;

static const char *ones(ir_type type) {
    const unsigned bits = qn__ir_bits(type);
    return bits == 8 ? "0xffu" : bits == 16 ? "0xffffu" : "0xffffffffu";
}

static void placeholder(wgsl_emitter *e, qn__buf *out, char which, const pattern *with) {
    const bool is_byte = with->result.kind == IR_I8;
    switch (which) {
    case 'a': qn__buf_puts(out, with->a); break;
    case 'b': qn__buf_puts(out, with->b); break;
    case 'c': qn__buf_puts(out, with->c); break;
    case 't': qn__buf_puts(out, qn__wgsl_type(e, with->result)); break;
    case 'u': qn__buf_puts(out, qn__wgsl_words(e, with->result, false)); break;
    case 's': qn__buf_puts(out, qn__wgsl_words(e, with->result, true)); break;
    case 'k': qn__buf_puts(out, qn__wgsl_type(e, with->operand)); break;
    case 'v': qn__buf_puts(out, qn__wgsl_words(e, with->operand, false)); break;
    case 'w': qn__buf_puts(out, qn__wgsl_words(e, with->operand, true)); break;
    case 'l': qn__buf_putu(out, with->result.lanes); break;
    case 'm': qn__buf_puts(out, ones(with->result)); break;
    case 'i': qn__buf_puts(out, is_byte ? "-128.0f" : "-32768.0f"); break;
    case 'x': qn__buf_puts(out, is_byte ? "127.0f" : "32767.0f"); break;
    case 'y': qn__buf_puts(out, is_byte ? "255.0f" : "65535.0f"); break;
    default: qn__buf_putc(out, which); break;
    }
}

static void expand(wgsl_emitter *e, qn__buf *out, const char *text, const pattern *with) {
    for (const char *p = text; *p; p++) {
        if (*p == '%' && p[1])
            placeholder(e, out, *++p, with);
        else
            qn__buf_putc(out, *p);
    }
}

static const char *expanded(wgsl_emitter *e, const char *text, const pattern *with) {
    qn__buf out;
    qn__buf_init(&out, e->arena);
    expand(e, &out, text, with);
    return out.data;
}

/* ---- operands ---- */

/* A lane of a value where it was made: what only moves it is seen through. */
typedef struct lane {
    const ir_value *value;
    unsigned at;
} lane;

static bool moves(lane *l) {
    const ir_instr *from = l->value->value_kind == IR_VALUE_RESULT ? l->value->def : NULL;
    if (!from) return false;
    switch (from->op) {
    case IR_EXTRACT: *l = (lane){from->operands[0], from->attr.lanes[0]}; return true;
    case IR_SPLAT: *l = (lane){from->operands[0], 0}; return true;
    case IR_VECTOR: *l = (lane){from->operands[l->at], 0}; return true;
    case IR_INSERT: {
        const bool is_new = l->at == from->attr.lanes[0];
        *l = is_new ? (lane){from->operands[1], 0} : (lane){from->operands[0], l->at};
        return true;
    }
    case IR_SHUFFLE: {
        const unsigned lanes = from->operands[0]->type.lanes, which = from->attr.lanes[l->at];
        const unsigned taken = which < 2 * lanes ? which : 0;
        *l = (lane){from->operands[taken >= lanes], taken % lanes};
        return true;
    }
    default: return false;
    }
}

static lane made(const ir_value *value, unsigned at) {
    lane l = {value, at};
    while (moves(&l)) continue;
    return l;
}

/* Whether an op of first..last made it. */
static bool is_of(lane l, ir_op first, ir_op last) {
    return l.value->value_kind == IR_VALUE_RESULT && l.value->def->op >= first && l.value->def->op <= last;
}

static bool is_sum(lane l) { return is_of(l, IR_FADD, IR_FSUB); }
static bool is_product(lane l) { return is_of(l, IR_FMUL, IR_FMUL); }
static bool is_const(lane l) { return qn__ir_is_const(l.value); }
static bool is_zero(lane l) { return is_const(l) && !(l.value->bits[l.at] & 0x7fffffff); }
static bool is_same(lane a, lane b) { return a.value == b.value && a.at == b.at; }

static lane term(lane l, uint32_t index) { return made(l.value->def->operands[index], l.at); }

static lane without_sign(lane l) {
    while (is_of(l, IR_FNEG, IR_FNEG)) l = term(l, 0);
    return l;
}

/* One of the result's terms is a constant, or `other` is one. */
static bool has_const(lane result, lane other) {
    return is_const(other) || is_const(term(result, 0)) || is_const(term(result, 1));
}

/* Loads that drivers may make one: of one place, where a store between them is to another binding; or of other widths, which may
   overlap. */
static bool may_load_same(lane a, lane b) {
    if (!is_of(a, IR_LOAD, IR_LOAD) || !is_of(b, IR_LOAD, IR_LOAD)) return false;
    const ir_instr *one = a.value->def, *other = b.value->def;
    return a.value->type.lanes != b.value->type.lanes ||
           (a.at == b.at && one->operands[0] == other->operands[0] && one->attr.offset == other->attr.offset);
}

/* The same but for its sign. */
static bool is_like(lane a, lane b) {
    a = without_sign(a);
    b = without_sign(b);
    return is_same(a, b) || may_load_same(a, b);
}

/* The same, or one of its terms is what else it meets. */
static bool has_like(lane result, lane other) {
    return has_const(result, other) || is_like(term(result, 0), other) || is_like(term(result, 1), other);
}

static bool share_factor(lane a, lane b) {
    return is_product(a) && is_product(b) && (has_like(a, term(b, 0)) || has_like(a, term(b, 1)));
}

/* A root, quotient or native function, whose square compilers know: x for that of its root. */
static bool is_function(lane l) {
    return is_of(l, IR_FDIV, IR_FDIV) || is_of(l, IR_FSQRT, IR_FSQRT) ||
           is_of(l, IR_NATIVE_EXP2, IR_NATIVE_DIV);
}

/* What compilers write otherwise, so that the result is not nearly the same: (a + b) - a, which is all of Kahan's and Knuth's sums,
   (a + 1) + b, which is how numbers are rounded, a * b + a * c, x - x, x - floor(x); of products (a * 2) * b alone, which is how
   numbers are scaled that would overflow. What is left bare has neither a term twice nor a constant, so that no compiler gains by another
   order, or is (a * b) * a, which is off by as little in any order, as long as all of it is within the range of floats. */
static bool is_rewritten(ir_op op, lane value, lane other, bool is_second) {
    if (is_zero(value)) return true;
    if (op == IR_FMUL)
        return is_product(value) ? has_const(value, other)
                                 : is_second && is_same(value, other) && is_function(value);
    return (is_second && is_same(value, other)) || is_of(value, IR_FFLOOR, IR_FRINT) ||
           (is_sum(value) && has_like(value, other)) || share_factor(value, other);
}

/* The residual of a quotient or root, -(q * b) + a: where a is a sum itself, compilers put it last, which rounds the product. */
static bool is_end_of_residual(const ir_instr *instr, uint32_t index, unsigned at) {
    if (index != 2) return false;
    const lane value = made(instr->operands[2], at);
    const bool is_residual = is_of(made(instr->operands[0], at), IR_FNEG, IR_FNEG) ||
                             is_of(made(instr->operands[1], at), IR_FNEG, IR_FNEG);
    return is_residual && (is_of(value, IR_FADD, IR_FMUL) || is_of(value, IR_FMA, IR_FMA));
}

static bool has_term(lane product, lane other) {
    return !is_const(other) && (is_like(term(product, 0), other) || is_like(term(product, 1), other));
}

/* a * b + c of which compilers take out a factor, which rounds otherwise: the last steps of quotients and roots. */
static bool has_factor_of_addend(const ir_instr *fma, lane addend, unsigned at) {
    bool any = false;
    for (unsigned i = 0; i < 2 && is_product(addend); i++) {
        const lane factor = made(fma->operands[i], at);
        any |=
            has_term(addend, factor) ||
            (is_product(factor) && (has_term(addend, term(factor, 0)) || has_term(addend, term(factor, 1))));
    }
    return any;
}

/* A zero that is added or multiplied has a sign, and makes NaN of infinity. */
static bool is_rewritten_in_fma(const ir_instr *instr, uint32_t index, unsigned at) {
    const lane value = made(instr->operands[index], at);
    return is_zero(value) || is_end_of_residual(instr, index, at) ||
           (index == 2 && has_factor_of_addend(instr, value, at));
}

/* Alike, perhaps as products of alike: x / x would be 1, also for zeros. */
static bool are_twins(lane a, lane b) {
    if (is_like(a, b) || !is_product(a) || !is_product(b)) return is_like(a, b);
    return (is_like(term(a, 0), term(b, 0)) && is_like(term(a, 1), term(b, 1))) ||
           (is_like(term(a, 0), term(b, 1)) && is_like(term(a, 1), term(b, 0)));
}

/* Also zeros that are divided, and an integer made of a float that was made of it. */
static bool may_be_rewritten(const ir_instr *instr, uint32_t index) {
    const ir_value *operand = instr->operands[index];
    bool any = false;
    for (unsigned at = 0; at < operand->type.lanes && !any; at++) {
        const lane value = made(operand, at);
        if (instr->op == IR_F2S || instr->op == IR_F2U)
            any = is_of(value, IR_S2F, IR_U2F);
        else if (operand->type.kind == IR_F32 && instr->op == IR_FDIV)
            any = is_zero(value) || (index == 1 && are_twins(made(instr->operands[0], at), value));
        else if (operand->type.kind == IR_F32 && instr->op >= IR_FADD && instr->op <= IR_FMUL)
            any = is_of(value, IR_EXTRACT_DYNAMIC, IR_EXTRACT_DYNAMIC) ||
                  is_rewritten((ir_op)instr->op, value, made(instr->operands[1 - index], at), index == 1);
        else if (operand->type.kind == IR_F32 && instr->op == IR_FMA)
            any = is_rewritten_in_fma(instr, index, at);
    }
    return any;
}

/* The same number behind a word that compilers do not know to be 0. */
static const char *hidden(wgsl_emitter *e, const ir_value *value, const char *text) {
    const char *words = qn__wgsl_words(e, value->type, false);
    e->hides = true;
    return qn__wgsl_text(e, "bitcast<%s>(bitcast<%s>(%s) ^ %s(nothing))", qn__wgsl_type(e, value->type),
                         words, text, words);
}

/* -(a * b + c) is -(a * b) - c but for the sign of zero. */
static bool is_negated_sum(const ir_instr *instr) {
    bool any = false;
    if (instr->op != IR_FNEG || instr->flags & IR_FAST) return false;
    for (unsigned at = 0; at < instr->operands[0]->type.lanes && !any; at++) {
        const lane value = made(instr->operands[0], at);
        any = is_sum(value) || is_of(value, IR_FMA, IR_FMA);
    }
    return any;
}

/* An operation on constants alone is one for the compiler, which refuses what is not finite or past the end; so is a
   division by a constant zero. */
static const char *operand(wgsl_emitter *e, const ir_instr *instr, uint32_t index) {
    const ir_value *value = instr->operands[index];
    const char *text = qn__wgsl_use(e, value);
    if (e->options->target.lacks_exact_sums && may_be_rewritten(instr, index)) return hidden(e, value, text);
    if (value->value_kind < IR_VALUE_CONST || value->type.kind == IR_PTR) return text;
    bool all = true;
    for (uint32_t i = 0; i < instr->num_operands; i++)
        all = all && instr->operands[i]->value_kind >= IR_VALUE_CONST;
    const bool divides = index == 1 && qn__ir_ops[instr->op].effects == IR_EFFECT_PURE_TRAP;
    if ((!all || index) && !divides) return text;
    const char *type = qn__wgsl_type(e, value->type), *words = qn__wgsl_words(e, value->type, false);
    e->uses_zero = true;
    if (value->type.kind == IR_BOOL) return qn__wgsl_text(e, "(%s & (zero == 0u))", text);
    if (value->type.kind == IR_F32)
        return qn__wgsl_text(e, "bitcast<%s>(bitcast<%s>(%s) | %s(zero))", type, words, text, words);
    return qn__wgsl_text(e, "(%s | %s(zero))", text, words);
}

static const char *spelled(wgsl_emitter *e, const ir_instr *instr) {
    if (instr->num_results != 1 || !instr->num_operands) return NULL;
    const ir_type result = instr->results[0]->type, from = instr->operands[0]->type;
    const spelling *row = &spellings[instr->op];
    if ((instr->op == IR_FEQ || instr->op == IR_FNE) && instr->operands[0] == instr->operands[1])
        row = instr->op == IR_FEQ ? &is_number : &is_nan;
    if (from.kind == IR_BOOL && on_bool[instr->op].text) row = &on_bool[instr->op];
    if (qn__ir_bits(result) < 32 && to_narrow[instr->op].text) row = &to_narrow[instr->op];
    if (e->options->target.lacks_exact_choices && is_negated_sum(instr)) {
        row = &negated_sum;
        e->hides = true;
    }
    if (!row->text) return NULL;
    pattern with = {.result = result, .operand = from, .a = operand(e, instr, 0)};
    with.b = instr->num_operands > 1 ? operand(e, instr, 1) : "";
    with.c = instr->num_operands > 2 ? operand(e, instr, 2) : "";
    if (row->helper && qn__wgsl_need(e, expanded(e, row->helper_name, &with)))
        expand(e, &e->helpers, row->helper, &with);
    return expanded(e, row->text, &with);
}

/* ---- i64, as far as it is moved and makes addresses ---- */

static const char *low_part(wgsl_emitter *e, const ir_instr *instr) {
    static const char *const signs[IR_OP_COUNT] = {
        [IR_ADD] = "+", [IR_SUB] = "-", [IR_MUL] = "*", [IR_AND] = "&", [IR_OR] = "|", [IR_XOR] = "^"};
    ir_value *const *with = instr->operands;
    const char *a = with[0]->type.kind == IR_I64 ? qn__wgsl_low(e, with[0]) : qn__wgsl_use(e, with[0]);
    switch (instr->op) {
    case IR_NOT: return qn__wgsl_text(e, "~%s", a);
    case IR_SHL:
        if ((with[1]->bits[0] & 63) > 31) return "0u";
        return qn__wgsl_text(e, "%s << %uu", a, (unsigned)with[1]->bits[0] & 31);
    case IR_SELECT:
        return qn__wgsl_text(e, "select(%s, %s, %s)", qn__wgsl_low(e, with[2]), qn__wgsl_low(e, with[1]), a);
    case IR_BITCAST: return qn__wgsl_text(e, "%s.x", a);
    default:
        return signs[instr->op] ? qn__wgsl_text(e, "%s %s %s", a, signs[instr->op], qn__wgsl_low(e, with[1]))
                                : NULL;
    }
}

static const char *extended(wgsl_emitter *e, const ir_instr *instr) {
    const ir_value *from = instr->operands[0], *result = instr->results[0];
    const ir_type type = from->type, to = result->type;
    const char *text = qn__wgsl_use(e, from), *words = qn__wgsl_words(e, to, false);
    if (type.kind == IR_BOOL) {
        text = qn__wgsl_text(e, "select(%s(0u), %s(%s), %s)", words, words,
                             instr->op == IR_ZEXT ? "1u" : ones(to), text);
        if (to.kind == IR_I64)
            text = qn__wgsl_text(e, "select(0u, %s, %s)", instr->op == IR_ZEXT ? "1u" : "0xffffffffu",
                                 qn__wgsl_use(e, from));
    } else if (instr->op == IR_SEXT && qn__ir_bits(type) < 32) {
        const unsigned by = 32 - qn__ir_bits(type);
        const char *is = qn__wgsl_words(e, to, true);
        if (to.kind == IR_I64) words = "u32", is = "i32";
        text = qn__wgsl_text(e, "bitcast<%s>(bitcast<%s>(%s << %s(%uu)) >> %s(%uu))", words, is, text, words,
                             by, words, by);
        if (to.kind == IR_I16) text = qn__wgsl_text(e, "(%s) & %s(0xffffu)", text, words);
    }
    if (to.kind != IR_I64 || qn__wgsl_is_low(e, result)) return text;
    text = qn__wgsl_let(e, text);
    if (instr->op == IR_ZEXT) return qn__wgsl_text(e, "vec2<u32>(%s, 0u)", text);
    return qn__wgsl_text(e, "vec2<u32>(%s, bitcast<u32>(bitcast<i32>(%s) >> 31u))", text, text);
}

static const char *truncated(wgsl_emitter *e, const ir_instr *instr) {
    const ir_value *from = instr->operands[0];
    const ir_type to = instr->results[0]->type;
    const char *text = from->type.kind == IR_I64 ? qn__wgsl_low(e, from) : qn__wgsl_use(e, from);
    const char *words = qn__wgsl_words(e, to, false);
    if (to.kind == IR_BOOL) return qn__wgsl_text(e, "(%s & %s(1u)) != %s(0u)", text, words, words);
    return qn__ir_bits(to) < 32 ? qn__wgsl_text(e, "%s & %s(%s)", text, words, ones(to)) : text;
}

/* Those of other lanes of narrow numbers have been lowered. */
static const char *bitcast(wgsl_emitter *e, const ir_instr *instr) {
    const ir_type from = instr->operands[0]->type, to = instr->results[0]->type;
    const char *text = qn__wgsl_use(e, instr->operands[0]);
    if (from.kind == to.kind) return text;
    if (from.kind == IR_F32 || to.kind == IR_F32)
        return qn__wgsl_text(e, "bitcast<%s>(%s)", qn__wgsl_type(e, to), text);
    return text;
}

/* ---- vectors ---- */

static const char *vector(wgsl_emitter *e, const ir_instr *instr) {
    qn__buf text;
    qn__buf_init(&text, e->arena);
    qn__buf_printf(&text, "%s(", qn__wgsl_value_type(e, instr->results[0]));
    for (uint32_t i = 0; i < instr->num_operands; i++)
        qn__buf_printf(&text, "%s%s", i ? ", " : "", qn__wgsl_use(e, instr->operands[i]));
    qn__buf_putc(&text, ')');
    return text.data;
}

static const char *lane_of(wgsl_emitter *e, const ir_value *vector, unsigned lane) {
    const bool is_array = vector->type.lanes > 4 || qn__ir_bits(vector->type) == 64;
    const char *text = qn__wgsl_use(e, vector);
    return is_array ? qn__wgsl_text(e, "%s[%u]", text, lane)
                    : qn__wgsl_text(e, "%s.%c", text, "xyzw"[lane & 3]);
}

static const char *extract_dynamic(wgsl_emitter *e, const ir_instr *instr) {
    const unsigned lanes = instr->operands[0]->type.lanes;
    const char *vector = qn__wgsl_use(e, instr->operands[0]);
    const ir_value *at = instr->operands[1];
    const char *index = at->type.kind == IR_I64 ? qn__wgsl_low(e, at) : qn__wgsl_use(e, at);
    if (at->value_kind >= IR_VALUE_CONST)
        return lane_of(e, instr->operands[0], (unsigned)at->bits[0] % lanes);
    if (instr->operands[0]->value_kind >= IR_VALUE_CONST) vector = qn__wgsl_let(e, vector);
    if (lanes == 3) return qn__wgsl_text(e, "%s[min(%s & 3u, 2u)]", vector, index);
    return qn__wgsl_text(e, "%s[%s & %uu]", vector, index, lanes - 1);
}

static const char *insert(wgsl_emitter *e, const ir_instr *instr) {
    const ir_type type = instr->results[0]->type;
    qn__buf text;
    qn__buf_init(&text, e->arena);
    qn__buf_printf(&text, "%s(", qn__wgsl_value_type(e, instr->results[0]));
    for (unsigned i = 0; i < type.lanes; i++) {
        const bool replaced = i == instr->attr.lanes[0];
        qn__buf_printf(&text, "%s%s", i ? ", " : "",
                       replaced ? qn__wgsl_use(e, instr->operands[1]) : lane_of(e, instr->operands[0], i));
    }
    qn__buf_putc(&text, ')');
    return text.data;
}

static const char *shuffle(wgsl_emitter *e, const ir_instr *instr) {
    const ir_type type = instr->results[0]->type;
    const unsigned from = instr->operands[0]->type.lanes;
    qn__buf text;
    qn__buf_init(&text, e->arena);
    qn__buf_printf(&text, "%s(", qn__wgsl_value_type(e, instr->results[0]));
    for (unsigned i = 0; i < type.lanes; i++) {
        const unsigned lane = instr->attr.lanes[i] < 2 * from ? instr->attr.lanes[i] : 0;
        qn__buf_printf(&text, "%s%s", i ? ", " : "", lane_of(e, instr->operands[lane >= from], lane % from));
    }
    qn__buf_putc(&text, ')');
    return text.data;
}

/* x < c ? c : x, of which compilers make the greatest of both: not x where that is NaN. */
static bool may_be_extreme(const ir_instr *instr, uint32_t index) {
    const ir_value *value = instr->operands[index];
    bool any = false;
    for (unsigned at = 0; value->type.kind == IR_F32 && at < value->type.lanes && !any; at++) {
        const bool is_vector = instr->operands[0]->type.lanes > 1;
        const lane condition = made(instr->operands[0], is_vector ? at : 0), chosen = made(value, at);
        if (!is_of(condition, IR_FLT, IR_FLE)) continue;
        any =
            !is_const(chosen) && (is_same(term(condition, 0), chosen) || is_same(term(condition, 1), chosen));
    }
    return any;
}

static const char *chosen(wgsl_emitter *e, const ir_instr *instr, uint32_t index) {
    const ir_value *value = instr->operands[index];
    const char *text = qn__wgsl_use_as(e, value, instr->results[0]);
    const bool hides = e->options->target.lacks_exact_choices && may_be_extreme(instr, index);
    return hides ? hidden(e, value, text) : text;
}

/* A pointer's form is that of what is chosen. */
static const char *choice(wgsl_emitter *e, const ir_instr *instr) {
    const char *a = chosen(e, instr, 1), *b = chosen(e, instr, 2);
    return qn__wgsl_text(e, "select(%s, %s, %s)", b, a, qn__wgsl_use(e, instr->operands[0]));
}

/* Pointers as numbers, and the buffers that they lead to. */
static const char *compared(wgsl_emitter *e, const ir_instr *instr) {
    static const char *const signs[IR_OP_COUNT] = {
        [IR_EQ] = "==", [IR_NE] = "!=", [IR_ULT] = "<", [IR_ULE] = "<="};
    const char *a = qn__wgsl_address(e, instr->operands[0]), *b = qn__wgsl_address(e, instr->operands[1]);
    return qn__wgsl_text(e, "%s %s %s", a, signs[instr->op], b);
}

static const char *expression(wgsl_emitter *e, const ir_instr *instr) {
    switch (instr->op) {
    case IR_ZEXT:
    case IR_SEXT: return extended(e, instr);
    case IR_TRUNC: return truncated(e, instr);
    case IR_FCONVERT:
        return instr->operands[0]->type.kind == instr->results[0]->type.kind
                   ? qn__wgsl_use_as(e, instr->operands[0], instr->results[0])
                   : qn__wgsl_half_conversion(e, instr, operand(e, instr, 0));
    case IR_BITCAST: return bitcast(e, instr);
    case IR_VECTOR:
    case IR_SPLAT: return vector(e, instr);
    case IR_EXTRACT: return lane_of(e, instr->operands[0], instr->attr.lanes[0]);
    case IR_EXTRACT_DYNAMIC: return extract_dynamic(e, instr);
    case IR_INSERT: return insert(e, instr);
    case IR_SHUFFLE: return shuffle(e, instr);
    case IR_SELECT: return choice(e, instr);
    default: return spelled(e, instr);
    }
}

static bool is_i64_arithmetic(const ir_instr *instr) {
    const unsigned rule = qn__ir_ops[instr->op].rule;
    return instr->results[0]->type.kind == IR_I64 && (rule == RULE_INT || rule == RULE_LOGIC);
}

void qn__wgsl_op(wgsl_emitter *e, const ir_instr *instr) {
    const bool low = instr->num_results == 1 && qn__wgsl_is_low(e, instr->results[0]);
    const char *text = NULL;
    if (low && instr->op != IR_ZEXT && instr->op != IR_SEXT)
        text = low_part(e, instr);
    else if (instr->num_operands && instr->operands[0]->type.kind == IR_PTR &&
             qn__ir_ops[instr->op].rule == RULE_COMPARE)
        text = compared(e, instr);
    else if (instr->num_results == 1 && !is_i64_arithmetic(instr))
        text = expression(e, instr);
    if (text)
        qn__wgsl_define(e, instr->results[0], text);
    else
        qn__wgsl_error(e, qn__wgsl_text(e, "the WGSL target cannot do '%s'", qn__ir_ops[instr->op].name));
}
