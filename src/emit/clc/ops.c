/* Operations on values in OpenCL C: the table of spellings, conversions (OpenCL C 6.2.3), vectors. */
#include "emit/clc/internal.h"

/* ---- spellings ----
   %a %b %c  operands     %t  result's type    %s  its signed twin    %k %v  the same of operand 0
   %m        width - 1    %l  lanes, empty for one    %r  rounding: rte ...
   `vector` is for more than one lane where that differs. `helper` defines a function that is called. */

typedef struct spelling {
    const char *scalar, *vector;
    const char *helper_name, *scalar_helper, *vector_helper;
} spelling;

#define SIGNED2(f)                                                                                           \
    { "(%t)" f "((%s)%a, (%s)%b)", "as_%t(" f "(as_%s(%a), as_%s(%b)))", NULL, NULL, NULL }
#define BOTH(text)                                                                                           \
    { text, NULL, NULL, NULL, NULL }

static const spelling spellings[IR_OP_COUNT] = {
    [IR_ADD] = BOTH("(%t)(%a + %b)"),
    [IR_SUB] = BOTH("(%t)(%a - %b)"),
    [IR_MUL] = BOTH("(%t)(%a * %b)"),
    [IR_UMULHI] = BOTH("mul_hi(%a, %b)"),
    [IR_SMULHI] = SIGNED2("mul_hi"),
    [IR_UDIV] = BOTH("(%t)(%a / %b)"),
    [IR_UREM] = BOTH("(%t)(%a %% %b)"),
    [IR_SDIV] = {"(%t)((%s)%a / (%s)%b)", "as_%t(as_%s(%a) / as_%s(%b))", NULL, NULL, NULL},
    [IR_SREM] = {"(%t)((%s)%a %% (%s)%b)", "as_%t(as_%s(%a) %% as_%s(%b))", NULL, NULL, NULL},
    [IR_SMIN] = SIGNED2("min"),
    [IR_SMAX] = SIGNED2("max"),
    [IR_UMIN] = BOTH("min(%a, %b)"),
    [IR_UMAX] = BOTH("max(%a, %b)"),
    [IR_AND] = BOTH("(%t)(%a & %b)"),
    [IR_OR] = BOTH("(%t)(%a | %b)"),
    [IR_XOR] = BOTH("(%t)(%a ^ %b)"),
    [IR_NOT] = BOTH("(%t)(~%a)"),
    [IR_SHL] = BOTH("(%t)(%a << (%b & (%t)(%m)))"),
    [IR_LSHR] = BOTH("(%t)(%a >> (%b & (%t)(%m)))"),
    [IR_ASHR] = {"(%t)((%s)%a >> (%b & (%t)(%m)))", "as_%t(as_%s(%a) >> as_%s(%b & (%t)(%m)))", NULL, NULL,
                 NULL},
    [IR_ROTL] = BOTH("rotate(%a, %b)"),
    [IR_CLZ] = BOTH("clz(%a)"),
    [IR_CTZ] = BOTH("popcount((%t)(~%a & (%t)(%a - (%t)(1))))"),
    [IR_POPCOUNT] = BOTH("popcount(%a)"),

    [IR_EQ] = BOTH("(%a == %b)"),
    [IR_NE] = BOTH("(%a != %b)"),
    [IR_SLT] = {"((%v)%a < (%v)%b)", "(as_%v(%a) < as_%v(%b))", NULL, NULL, NULL},
    [IR_SLE] = {"((%v)%a <= (%v)%b)", "(as_%v(%a) <= as_%v(%b))", NULL, NULL, NULL},
    [IR_ULT] = BOTH("(%a < %b)"),
    [IR_ULE] = BOTH("(%a <= %b)"),
    [IR_FEQ] = BOTH("(%a == %b)"),
    [IR_FNE] = BOTH("(%a != %b)"),
    [IR_FLT] = BOTH("(%a < %b)"),
    [IR_FLE] = BOTH("(%a <= %b)"),

    [IR_FADD] = BOTH("(%a + %b)"),
    [IR_FSUB] = BOTH("(%a - %b)"),
    [IR_FMUL] = BOTH("(%a * %b)"),
    [IR_FDIV] = BOTH("(%a / %b)"),
    [IR_FREM] = BOTH("fmod(%a, %b)"),
    [IR_FNEG] = BOTH("(-%a)"),
    [IR_FABS] = BOTH("fabs(%a)"),
    [IR_FCOPYSIGN] = BOTH("copysign(%a, %b)"),
    [IR_FMA] = BOTH("fma(%a, %b, %c)"),
    [IR_FSQRT] = BOTH("sqrt(%a)"),
    [IR_FMIN] = BOTH("fmin(%a, %b)"),
    [IR_FMAX] = BOTH("fmax(%a, %b)"),
    [IR_FFLOOR] = BOTH("floor(%a)"),
    [IR_FCEIL] = BOTH("ceil(%a)"),
    [IR_FTRUNC] = BOTH("trunc(%a)"),
    [IR_FRINT] = BOTH("rint(%a)"),
    [IR_NATIVE_EXP2] = BOTH("native_exp2(%a)"),
    [IR_NATIVE_LOG2] = BOTH("native_log2(%a)"),
    [IR_NATIVE_SIN] = BOTH("native_sin(%a)"),
    [IR_NATIVE_COS] = BOTH("native_cos(%a)"),
    [IR_NATIVE_RECIP] = BOTH("native_recip(%a)"),
    [IR_NATIVE_RSQRT] = BOTH("rsqrt(%a)"),
    [IR_NATIVE_SQRT] = BOTH("native_sqrt(%a)"),
    [IR_NATIVE_DIV] = BOTH("native_divide(%a, %b)"),

    [IR_TRUNC] = {"(%t)%a", "convert_%t(%a)", NULL, NULL, NULL},
    [IR_ZEXT] = {"(%t)%a", "convert_%t(%a)", NULL, NULL, NULL},
    [IR_SEXT] = {"(%t)(%s)(%v)%a", "as_%t(convert_%s(as_%v(%a)))", NULL, NULL, NULL},
    [IR_F2S] = BOTH("as_%t(convert_%s_sat_%r(%a))"),
    [IR_F2U] = BOTH("convert_%t_sat_%r(%a)"),
    [IR_S2F] = {"convert_%t_%r((%v)%a)", "convert_%t_%r(as_%v(%a))", NULL, NULL, NULL},
    [IR_U2F] = BOTH("convert_%t_%r(%a)"),
    [IR_PTR2INT] = BOTH("(ulong)%a"),
};

/* Amounts that are known and below the width. */
static const spelling by_amount[IR_OP_COUNT] = {
    [IR_SHL] = BOTH("(%t)(%a << %b)"),
    [IR_LSHR] = BOTH("(%t)(%a >> %b)"),
};

/* To the nearest is how the language converts where nothing is said, and what compilers see through. */
static const spelling to_nearest[IR_OP_COUNT] = {
    [IR_S2F] = {"(%t)(%v)%a", "convert_%t(as_%v(%a))", NULL, NULL, NULL},
    [IR_U2F] = {"(%t)%a", "convert_%t(%a)", NULL, NULL, NULL},
};

/* NVIDIA's driver gives the smallest number for a NaN here, where the language has 0. */
static const spelling of_a_number[IR_OP_COUNT] = {
    [IR_F2S] = BOTH("as_%t(convert_%s_sat_%r(%a == %a ? %a : (%k)(0)))"),
    [IR_F2U] = BOTH("convert_%t_sat_%r(%a == %a ? %a : (%k)(0))"),
};

static const spelling no_signed_wrap[IR_OP_COUNT] = {
    [IR_ADD] = BOTH("(%t)((%s)%a + (%s)%b)"),
    [IR_SUB] = BOTH("(%t)((%s)%a - (%s)%b)"),
    [IR_MUL] = BOTH("(%t)((%s)%a * (%s)%b)"),
};

/* Operand 0 is a bool, or one a lane. */
static const spelling on_bool[IR_OP_COUNT] = {
    [IR_NOT] = {"(!%a)", "(~%a)", NULL, NULL, NULL},
    [IR_ZEXT] = {"(%t)%a", "convert_%t(%a & 1)", NULL, NULL, NULL},
    [IR_SEXT] = {"(%t)(%s)(-(int)%a)", "as_%t(convert_%s(%a))", NULL, NULL, NULL},
    [IR_U2F] = {"(%t)%a", "convert_%t(%a & 1)", NULL, NULL, NULL},
};

static const spelling on_pointer[IR_OP_COUNT] = {
    [IR_ULT] = BOTH("((ulong)%a < (ulong)%b)"),
    [IR_ULE] = BOTH("((ulong)%a <= (ulong)%b)"),
};

static const spelling trunc_to_bool = {"(bool)(%a & 1)", "(convert_int%l(%a & (%k)(1)) != (int%l)(0))", NULL,
                                       NULL, NULL};
/* int promotes the operands, whose product it may not hold. */
static const spelling mul_16 = BOTH("(%t)((uint)%a * (uint)%b)");
static const spelling fast_div = BOTH("native_divide(%a, %b)");
/* 1 / b for a b that is neither tiny nor huge: NVIDIA's compiler would test for that; as in emit/ptx/divide.c. */
static const spelling moderate_reciprocal = {
    "qn_reciprocal(%b)", NULL, "qn_reciprocal",
    "#ifdef __NV_CL_C_VERSION\n"
    "static inline float qn_reciprocal(float d) {\n    float r;\n"
    "    asm(\"rcp.approx.ftz.f32 %%0, %%1;\" : \"=f\"(r) : \"f\"(d));\n"
    "    return fma(fma(-d, r, 1.0f), r, r);\n}\n"
    "#else\n#define qn_reciprocal(d) (1.0f / (d))\n#endif\n",
    NULL};

/* ---- patterns ---- */

static const char *rounding_name(unsigned rounding) {
    static const char *const names[] = {"rte", "rtz", "rtp", "rtn"};
    return names[rounding & 3];
}

typedef struct pattern {
    ir_type result, operand;
    const char *a, *b, *c, *rounding;
} pattern;

static void placeholder(clc_emitter *e, qn__buf *out, char which, const pattern *with) {
    switch (which) {
    case 'a': qn__buf_puts(out, with->a); break;
    case 'b': qn__buf_puts(out, with->b); break;
    case 'c': qn__buf_puts(out, with->c); break;
    case 't': qn__buf_puts(out, qn__clc_type(e, with->result)); break;
    case 's': qn__buf_puts(out, qn__clc_signed(e, with->result)); break;
    case 'k': qn__buf_puts(out, qn__clc_type(e, with->operand)); break;
    case 'v': qn__buf_puts(out, qn__clc_signed(e, with->operand)); break;
    case 'm': qn__buf_putu(out, qn__ir_bits(with->result) - 1); break;
    case 'r': qn__buf_puts(out, with->rounding); break;
    case 'l':
        if (with->operand.lanes > 1) qn__buf_putu(out, with->operand.lanes);
        break;
    default: qn__buf_putc(out, which); break;
    }
}

static void expand(clc_emitter *e, qn__buf *out, const char *text, const pattern *with) {
    for (const char *p = text; *p; p++) {
        if (*p == '%' && p[1]) {
            placeholder(e, out, *++p, with);
        } else {
            qn__buf_putc(out, *p);
        }
    }
}

static const char *expanded(clc_emitter *e, const char *text, const pattern *with) {
    qn__buf out;
    qn__buf_init(&out, e->arena);
    expand(e, &out, text, with);
    return out.data;
}

static void need_helper(clc_emitter *e, const char *name, const char *text, const pattern *with) {
    if (qn__clc_need(e, expanded(e, name, with))) expand(e, &e->helpers, text, with);
}

/* ---- the choice of a row ---- */

static bool is_small_constant(const ir_instr *instr) {
    if (instr->num_operands != 2 || !qn__ir_is_const(instr->operands[1])) return false;
    const ir_value *value = instr->operands[1];
    for (unsigned i = 0; i < value->type.lanes; i++)
        if (value->bits[i] >= qn__ir_bits(value->type)) return false;
    return true;
}

static const spelling *row_of(const ir_instr *instr) {
    const spelling *row = NULL;
    ir_type result = instr->results[0]->type, operand = instr->operands[0]->type;
    if (instr->op == IR_TRUNC && result.kind == IR_BOOL) return &trunc_to_bool;
    if (instr->attr.rounding == IR_ROUND_EVEN) row = &to_nearest[instr->op];
    if (of_a_number[instr->op].scalar && (operand.kind == IR_F64 || result.kind == IR_I64))
        row = &of_a_number[instr->op];
    if (operand.kind == IR_BOOL) row = &on_bool[instr->op];
    if (operand.kind == IR_PTR) row = &on_pointer[instr->op];
    if (instr->op == IR_MUL && result.kind == IR_I16 && result.lanes == 1) row = &mul_16;
    if (instr->op == IR_FDIV && result.kind == IR_F32 && result.lanes == 1 &&
        qn__ir_is_splat(instr->operands[0], 0x3f800000) && qn__is_moderate(instr->operands[1]))
        row = &moderate_reciprocal;
    if (instr->op == IR_FDIV && result.kind == IR_F32 && (instr->flags & IR_FAST)) row = &fast_div;
    if ((instr->flags & IR_NSW) && result.lanes == 1 && qn__ir_is_int(result) && qn__ir_bits(result) >= 32)
        row = &no_signed_wrap[instr->op];
    if (by_amount[instr->op].scalar && is_small_constant(instr)) row = &by_amount[instr->op];
    if (row && row->scalar) return row;
    row = &spellings[instr->op];
    return row->scalar ? row : NULL;
}

/* A float constant as an integer, computed here: PoCL 3.1 gives 0 for such conversions that stand side by side when
   one of them is out of range. NULL: not one. */
static const char *constant_as_integer(clc_emitter *e, const ir_instr *instr) {
    if (instr->op != IR_F2S && instr->op != IR_F2U) return NULL;
    const ir_value *value = qn__ir_fold(e->kernel, instr);
    return value ? qn__clc_use(e, value) : NULL;
}

/* An unsigned sum that is known not to wrap, extended: the sum of the extended ones, of which compilers make an address
   and an offset. NULL: not one. */
static const char *extended_sum(clc_emitter *e, const ir_instr *instr) {
    const ir_value *sum = instr->op == IR_ZEXT ? instr->operands[0] : NULL;
    if (!sum || sum->value_kind != IR_VALUE_RESULT || sum->def->op != IR_ADD || !(sum->def->flags & IR_NUW) ||
        sum->type.lanes != 1)
        return NULL;
    const char *type = qn__clc_type(e, instr->results[0]->type);
    return qn__arena_printf(e->arena, "(%s)((%s)%s + (%s)%s)", type, type,
                            qn__clc_use(e, sum->def->operands[0]), type,
                            qn__clc_use(e, sum->def->operands[1]));
}

static const char *spelled(clc_emitter *e, const ir_instr *instr) {
    const char *special = constant_as_integer(e, instr);
    if (!special) special = extended_sum(e, instr);
    if (special) return special;
    if (qn__clc_is_low_word(instr)) return qn__clc_low_word(e, instr);
    if (!instr->num_results || !instr->num_operands) return NULL;
    const spelling *row = row_of(instr);
    if (!row) return NULL;
    ir_type result = instr->results[0]->type, operand = instr->operands[0]->type;
    pattern with = {.result = result,
                    .operand = operand,
                    .a = qn__clc_use(e, instr->operands[0]),
                    .b = instr->num_operands > 1 ? qn__clc_use(e, instr->operands[1]) : "",
                    .c = instr->num_operands > 2 ? qn__clc_use(e, instr->operands[2]) : "",
                    .rounding = rounding_name(instr->attr.rounding)};
    bool vector = operand.lanes > 1;
    if (row->helper_name)
        need_helper(e, row->helper_name, vector ? row->vector_helper : row->scalar_helper, &with);
    const char *text = expanded(e, vector && row->vector ? row->vector : row->scalar, &with);
    unsigned rule = qn__ir_ops[instr->op].rule;
    bool compares = rule == RULE_COMPARE || rule == RULE_FCOMPARE;
    if (compares && vector && operand.kind != IR_BOOL && qn__ir_bits(operand) != 32)
        text = qn__arena_printf(e->arena, "convert_int%u(%s)", operand.lanes, text);
    return text;
}

/* ---- conversions between floats ---- */

/* f16 goes through memory: only vload_half and vstore_half know it without cl_khr_fp16. */
static const char *from_half(clc_emitter *e, const ir_instr *instr) {
    ir_type to = instr->results[0]->type;
    pattern with = {.result = qn__ir_type(IR_F32, to.lanes), .operand = instr->operands[0]->type};
    need_helper(
        e, "qn_from_half%l",
        "static inline %t qn_from_half%l(%k a) { return vload_half%l(0, (const __private half *)&a); }\n",
        &with);
    with.a = qn__clc_use(e, instr->operands[0]);
    with.b = qn__clc_type(e, to);
    return expanded(e, to.kind == IR_F64 ? "convert_%b(qn_from_half%l(%a))" : "qn_from_half%l(%a)", &with);
}

static const char *to_half(clc_emitter *e, const ir_instr *instr) {
    pattern with = {.result = instr->results[0]->type,
                    .operand = instr->operands[0]->type,
                    .a = qn__clc_use(e, instr->operands[0]),
                    .rounding = rounding_name(instr->attr.rounding)};
    need_helper(e, "qn_to_half_%r_%k",
                "static inline %t qn_to_half_%r_%k(%k a) {\n    %t r;\n"
                "    vstore_half%l_%r(a, 0, (__private half *)&r);\n    return r;\n}\n",
                &with);
    return expanded(e, "qn_to_half_%r_%k(%a)", &with);
}

static const char *float_to_float(clc_emitter *e, const ir_instr *instr) {
    ir_type from = instr->operands[0]->type, to = instr->results[0]->type;
    if (from.kind == to.kind) return qn__clc_use(e, instr->operands[0]);
    if (from.kind == IR_F16) return from_half(e, instr);
    if (to.kind == IR_F16) return to_half(e, instr);
    pattern with = {.result = to,
                    .a = qn__clc_use(e, instr->operands[0]),
                    .rounding = rounding_name(instr->attr.rounding)};
    return expanded(e, to.kind == IR_F64 ? "convert_%t(%a)" : "convert_%t_%r(%a)", &with);
}

static const char *bitcast(clc_emitter *e, const ir_instr *instr) {
    const char *from = qn__clc_type(e, instr->operands[0]->type);
    const char *to = qn__clc_type(e, instr->results[0]->type), *value = qn__clc_use(e, instr->operands[0]);
    return qn__arena_printf(e->arena, "as_%s(%s)", qn__str_is(qn__str_of(from), to) ? from : to, value);
}

/* ---- vectors ---- */

static const char *lane_of(clc_emitter *e, const ir_value *vector, unsigned lane) {
    return qn__arena_printf(e->arena, "%s.s%x", qn__clc_use(e, vector), lane);
}

static const char *vector(clc_emitter *e, const ir_instr *instr) {
    ir_type type = instr->results[0]->type;
    const char *minus = type.kind == IR_BOOL ? "-(int)" : "";
    qn__buf text;
    qn__buf_init(&text, e->arena);
    qn__buf_printf(&text, "(%s)(", qn__clc_type(e, type));
    for (uint32_t i = 0; i < instr->num_operands; i++)
        qn__buf_printf(&text, "%s%s%s", i ? ", " : "", minus, qn__clc_use(e, instr->operands[i]));
    qn__buf_putc(&text, ')');
    return text.data;
}

static const char *extract(clc_emitter *e, const ir_instr *instr) {
    const char *lane = lane_of(e, instr->operands[0], instr->attr.lanes[0]);
    return instr->results[0]->type.kind == IR_BOOL ? qn__arena_printf(e->arena, "(%s != 0)", lane) : lane;
}

/* A tree of choices by the bits of the lane's number. */
static void choose(qn__buf *out, unsigned first, unsigned count, unsigned lanes) {
    if (count == 1) {
        qn__buf_printf(out, "a.s%x", first < lanes ? first : lanes - 1);
        return;
    }
    qn__buf_printf(out, "(i & %u ? ", count / 2);
    choose(out, first + count / 2, count / 2, lanes);
    qn__buf_puts(out, " : ");
    choose(out, first, count / 2, lanes);
    qn__buf_putc(out, ')');
}

static const char *extract_dynamic(clc_emitter *e, const ir_instr *instr) {
    ir_type type = instr->operands[0]->type;
    const char *name = qn__arena_printf(e->arena, "qn_lane_%s", qn__clc_type(e, type));
    if (qn__clc_need(e, name)) {
        ir_type element = qn__ir_element(type);
        qn__buf_printf(&e->helpers, "static inline %s %s(%s a, uint i) { return ",
                       type.kind == IR_BOOL ? "int" : qn__clc_type(e, element), name, qn__clc_type(e, type));
        choose(&e->helpers, 0, type.lanes == 3 ? 4 : type.lanes, type.lanes);
        qn__buf_puts(&e->helpers, "; }\n");
    }
    const char *text =
        qn__arena_printf(e->arena, "%s(%s, (uint)%s)", name, qn__clc_use(e, instr->operands[0]),
                         qn__clc_use(e, instr->operands[1]));
    return type.kind == IR_BOOL ? qn__arena_printf(e->arena, "(%s != 0)", text) : text;
}

static void insert(clc_emitter *e, const ir_instr *instr) {
    const ir_value *result = instr->results[0];
    qn__clc_define(e, result, qn__clc_use(e, instr->operands[0]));
    if (!e->uses[result->id]) return;
    qn__clc_line(e, "%s.s%x = %s%s;", qn__clc_name(e, result), instr->attr.lanes[0],
                 result->type.kind == IR_BOOL ? "-(int)" : "", qn__clc_use(e, instr->operands[1]));
}

static const char *shuffle(clc_emitter *e, const ir_instr *instr) {
    unsigned lanes = instr->results[0]->type.lanes, from = instr->operands[0]->type.lanes;
    bool all_a = true, all_b = true;
    uint8_t which[16];
    for (unsigned i = 0; i < lanes; i++) {
        which[i] = instr->attr.lanes[i] < 2 * from ? instr->attr.lanes[i] : 255;
        all_a = all_a && (which[i] < from || which[i] == 255);
        all_b = all_b && which[i] >= from;
    }
    qn__buf text;
    qn__buf_init(&text, e->arena);
    if (all_a || all_b) {
        qn__buf_printf(&text, "%s.s", qn__clc_use(e, instr->operands[all_a ? 0 : 1]));
        for (unsigned i = 0; i < lanes; i++)
            qn__buf_printf(&text, "%x", which[i] == 255 ? 0 : which[i] % from);
        return text.data;
    }
    qn__buf_printf(&text, "(%s)(", qn__clc_type(e, instr->results[0]->type));
    for (unsigned i = 0; i < lanes; i++) {
        unsigned lane = which[i] == 255 ? 0 : which[i];
        qn__buf_printf(&text, "%s%s", i ? ", " : "", lane_of(e, instr->operands[lane >= from], lane % from));
    }
    qn__buf_putc(&text, ')');
    return text.data;
}

static const char *choice(clc_emitter *e, const ir_instr *instr) {
    ir_type type = instr->results[0]->type;
    const char *c = qn__clc_use(e, instr->operands[0]), *a = qn__clc_use(e, instr->operands[1]);
    const char *b = qn__clc_use(e, instr->operands[2]);
    if (instr->operands[0]->type.lanes == 1) return qn__arena_printf(e->arena, "(%s ? %s : %s)", c, a, b);
    if (type.kind != IR_BOOL && qn__ir_bits(type) != 32)
        c = qn__arena_printf(e->arena, "convert_%s(%s)", qn__clc_signed(e, type), c);
    return qn__arena_printf(e->arena, "select(%s, %s, %s)", b, a, c);
}

const char *qn__clc_expression(clc_emitter *e, const ir_instr *instr) {
    switch (instr->op) {
    case IR_FCONVERT: return float_to_float(e, instr);
    case IR_BITCAST: return bitcast(e, instr);
    case IR_VECTOR:
    case IR_SPLAT: return vector(e, instr);
    case IR_EXTRACT: return extract(e, instr);
    case IR_EXTRACT_DYNAMIC: return extract_dynamic(e, instr);
    case IR_SHUFFLE: return shuffle(e, instr);
    case IR_SELECT: return choice(e, instr);
    default: return spelled(e, instr);
    }
}

void qn__clc_op(clc_emitter *e, const ir_instr *instr) {
    if (instr->op == IR_INSERT) {
        insert(e, instr);
        return;
    }
    const char *text = qn__clc_expression(e, instr);
    if (text) {
        qn__clc_define(e, instr->results[0], text);
    } else {
        qn__clc_error(
            e, qn__arena_printf(e->arena, "the OpenCL C target cannot do '%s'", qn__ir_ops[instr->op].name));
    }
}
