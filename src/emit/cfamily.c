/* Types and op spellings for targets in the C family. The tables are the whole truth of how an op
   reads; each row is one op on scalars, as ir/ops.def defines it. */
#include "emit/cfamily.h"

static const char *const scalar_names[IR_KIND_COUNT] = {
    [IR_VOID] = "void", [IR_BOOL] = "b1", [IR_I8] = "i8",   [IR_I16] = "i16", [IR_I32] = "i32",
    [IR_I64] = "i64",   [IR_F16] = "f32", [IR_F32] = "f32", [IR_F64] = "f64", [IR_PTR] = "u8 *",
};

static const char *const unsigned_names[IR_KIND_COUNT] = {
    [IR_VOID] = "void", [IR_BOOL] = "b1", [IR_I8] = "u8",   [IR_I16] = "u16", [IR_I32] = "u32",
    [IR_I64] = "u64",   [IR_F16] = "u16", [IR_F32] = "u32", [IR_F64] = "u64", [IR_PTR] = "u64",
};

const char *qn__c_scalar(ir_kind kind) { return scalar_names[kind]; }
const char *qn__c_unsigned(ir_kind kind) { return unsigned_names[kind]; }

bool qn__c_is_identifier(const char *text) {
    if (!text || !*text) return false;
    for (const char *p = text; *p; p++) {
        bool letter = (*p >= 'a' && *p <= 'z') || (*p >= 'A' && *p <= 'Z') || *p == '_';
        if (!letter && !(p != text && *p >= '0' && *p <= '9')) return false;
    }
    return true;
}

void qn__c_quote(qn__buf *out, const char *text) {
    qn__buf_putc(out, '"');
    for (const unsigned char *p = (const unsigned char *)text; *p; p++) {
        if (*p == '"' || *p == '\\') {
            qn__buf_putc(out, '\\');
            qn__buf_putc(out, (char)*p);
        } else if (*p < 32 || *p > 126) {
            qn__buf_printf(out, "\\%03o", *p);
        } else {
            qn__buf_putc(out, (char)*p);
        }
    }
    qn__buf_putc(out, '"');
}

/* ---- patterns ---- */

static unsigned width_of(ir_kind kind) { return qn__ir_bits(qn__ir_type(kind, 1)); }

static void placeholder(qn__buf *out, char which, const qn__c_pattern *with) {
    switch (which) {
    case 'a': qn__buf_puts(out, with->a); break;
    case 'b': qn__buf_puts(out, with->b); break;
    case 'c': qn__buf_puts(out, with->c); break;
    case 't': qn__buf_puts(out, scalar_names[with->result]); break;
    case 'u': qn__buf_puts(out, unsigned_names[with->result]); break;
    case 'n': qn__buf_puts(out, width_of(with->result) < 32 ? "u32" : unsigned_names[with->result]); break;
    case 'k': qn__buf_puts(out, scalar_names[with->operand]); break;
    case 'v': qn__buf_puts(out, unsigned_names[with->operand]); break;
    case 'w': qn__buf_putu(out, width_of(with->result)); break;
    case 'm': qn__buf_putu(out, width_of(with->result) - 1); break;
    case 'f': qn__buf_puts(out, with->operand == IR_F64 ? "" : "f"); break;
    default: qn__buf_putc(out, which); break;
    }
}

void qn__c_expand(qn__buf *out, const char *pattern, const qn__c_pattern *with) {
    for (const char *p = pattern; *p; p++) {
        if (*p == '%' && p[1]) {
            placeholder(out, *++p, with);
        } else {
            qn__buf_putc(out, *p);
        }
    }
}

/* ---- spellings ---- */

#define HELPER(name, parameters, body)                                                                       \
    "qn_" name "_%t", "static inline %t qn_" name "_%t(" parameters ") { " body " }\n"
/* c + the sum of the products of four bytes, those of a read as A and those of b as B. */
#define DOT4(name, A, B)                                                                                     \
    HELPER(name, "i32 a, i32 b, i32 c",                                                                      \
           "for (i32 i = 0; i < 32; i += 8) c = (i32)((u32)c + (u32)((i32)(" A ")(a >> i) * (i32)(" B        \
           ")(b >> i)));\n    return c;")

static const qn__c_spelling spellings[IR_OP_COUNT] = {
    [IR_ADD] = {.expression = "(%t)((%n)%a + (%n)%b)"},
    [IR_SUB] = {.expression = "(%t)((%n)%a - (%n)%b)"},
    [IR_MUL] = {.expression = "(%t)((%n)%a * (%n)%b)"},
    /* gcc 12 loses the signs when it vectorises the high half of a product more than twice as wide. */
    [IR_UMULHI] = {"qn_umulhi_%t(%a, %b)",
                   HELPER("umulhi", "%t a, %t b",
                          "if (%w < 32) return (%t)((u32)(%u)a * (u32)(%u)b >> (%w & 31)); "
                          "if (%w == 32) return (%t)((u64)(%u)a * (u64)(%u)b >> 32); "
                          "return (%t)(((unsigned __int128)(%u)a * (unsigned __int128)(%u)b) >> %w);")},
    [IR_SMULHI] = {"qn_smulhi_%t(%a, %b)", HELPER("smulhi", "%t a, %t b",
                                                  "if (%w < 32) return (%t)((int)a * (int)b >> (%w & 31)); "
                                                  "if (%w == 32) return (%t)((i64)a * (i64)b >> 32); "
                                                  "return (%t)(((__int128)a * (__int128)b) >> %w);")},
    [IR_UDIV] = {"qn_udiv_%t(%a, %b)", HELPER("udiv", "%t a, %t b", "return b ? (%t)((%u)a / (%u)b) : a;")},
    [IR_UREM] = {"qn_urem_%t(%a, %b)", HELPER("urem", "%t a, %t b", "return b ? (%t)((%u)a %% (%u)b) : 0;")},
    [IR_SDIV] = {"qn_sdiv_%t(%a, %b)",
                 HELPER("sdiv", "%t a, %t b",
                        "return b == 0 ? a : b == -1 ? (%t)(0 - (%n)a) : (%t)(a / b);")},
    [IR_SREM] = {"qn_srem_%t(%a, %b)",
                 HELPER("srem", "%t a, %t b", "return b == 0 || b == -1 ? 0 : (%t)(a %% b);")},
    [IR_SMIN] = {.expression = "(%a < %b ? %a : %b)"},
    [IR_SMAX] = {.expression = "(%a > %b ? %a : %b)"},
    [IR_UMIN] = {.expression = "((%u)%a < (%u)%b ? %a : %b)"},
    [IR_UMAX] = {.expression = "((%u)%a > (%u)%b ? %a : %b)"},
    [IR_AND] = {.expression = "(%t)(%a & %b)"},
    [IR_OR] = {.expression = "(%t)(%a | %b)"},
    [IR_XOR] = {.expression = "(%t)(%a ^ %b)"},
    [IR_NOT] = {.expression = "(%t)~%a"},
    [IR_SHL] = {.expression = "(%t)((%n)%a << (%b & %m))"},
    [IR_LSHR] = {.expression = "(%t)((%u)%a >> (%b & %m))"},
    [IR_ASHR] = {.expression = "(%t)(%a >> (%b & %m))"},
    [IR_ROTL] = {"qn_rotl_%t(%a, %b)",
                 HELPER("rotl", "%t a, %t b",
                        "return (%t)(((%n)(%u)a << (b & %m)) | ((%u)a >> ((%w - (b & %m)) & %m)));")},
    [IR_CLZ] = {"qn_clz_%t(%a)",
                HELPER("clz", "%t a", "return (%t)((%u)a ? __builtin_clzl((u64)(%u)a) - (64 - %w) : %w);")},
    [IR_CTZ] = {"qn_ctz_%t(%a)",
                HELPER("ctz", "%t a", "return (%t)((%u)a ? __builtin_ctzl((u64)(%u)a) : %w);")},
    [IR_POPCOUNT] = {.expression = "(%t)__builtin_popcountl((u64)(%u)%a)"},

    [IR_UDOT4] = {"qn_udot4_%t(%a, %b, %c)", DOT4("udot4", "u8", "u8")},
    [IR_SDOT4] = {"qn_sdot4_%t(%a, %b, %c)", DOT4("sdot4", "i8", "i8")},
    [IR_SUDOT4] = {"qn_sudot4_%t(%a, %b, %c)", DOT4("sudot4", "i8", "u8")},

    [IR_EQ] = {.expression = "(%a == %b)"},
    [IR_NE] = {.expression = "(%a != %b)"},
    [IR_SLT] = {.expression = "(%a < %b)"},
    [IR_SLE] = {.expression = "(%a <= %b)"},
    [IR_ULT] = {.expression = "((%v)%a < (%v)%b)"},
    [IR_ULE] = {.expression = "((%v)%a <= (%v)%b)"},
    [IR_FEQ] = {.expression = "(%a == %b)"},
    [IR_FNE] = {.expression = "(%a != %b)"},
    [IR_FLT] = {.expression = "(%a < %b)"},
    [IR_FLE] = {.expression = "(%a <= %b)"},

    [IR_FADD] = {.expression = "(%a + %b)"},
    [IR_FSUB] = {.expression = "(%a - %b)"},
    [IR_FMUL] = {.expression = "(%a * %b)"},
    [IR_FDIV] = {.expression = "(%a / %b)"},
    [IR_FREM] = {.expression = "__builtin_fmod%f(%a, %b)"},
    [IR_FNEG] = {.expression = "(-%a)"},
    [IR_FABS] = {.expression = "__builtin_fabs%f(%a)"},
    [IR_FCOPYSIGN] = {.expression = "__builtin_copysign%f(%a, %b)"},
    [IR_FMA] = {.expression = "__builtin_fma%f(%a, %b, %c)"},
    [IR_FSQRT] = {.expression = "__builtin_sqrt%f(%a)"},
    [IR_FMIN] = {.expression = "(%b != %b ? %a : %a < %b ? %a : %b)"},
    [IR_FMAX] = {.expression = "(%b != %b ? %a : %a > %b ? %a : %b)"},
    [IR_FFLOOR] = {.expression = "__builtin_floor%f(%a)"},
    [IR_FCEIL] = {.expression = "__builtin_ceil%f(%a)"},
    [IR_FTRUNC] = {.expression = "__builtin_trunc%f(%a)"},
    [IR_FRINT] = {.expression = "__builtin_rint%f(%a)"},
    [IR_NATIVE_EXP2] = {.expression = "__builtin_exp2%f(%a)"},
    [IR_NATIVE_LOG2] = {.expression = "__builtin_log2%f(%a)"},
    [IR_NATIVE_SIN] = {.expression = "__builtin_sin%f(%a)"},
    [IR_NATIVE_COS] = {.expression = "__builtin_cos%f(%a)"},
    [IR_NATIVE_RECIP] = {.expression = "(1 / %a)"},
    [IR_NATIVE_RSQRT] = {.expression = "(1 / __builtin_sqrt%f(%a))"},
    [IR_NATIVE_SQRT] = {.expression = "__builtin_sqrt%f(%a)"},
    [IR_NATIVE_DIV] = {.expression = "(%a / %b)"},

    [IR_TRUNC] = {.expression = "(%t)%a"},
    [IR_ZEXT] = {.expression = "(%t)(%v)%a"},
    [IR_SEXT] = {.expression = "(%t)%a"},
    [IR_PTR2INT] = {.expression = "(%t)%a"},
    [IR_INT2PTR] = {.expression = "(%t)%a"},
    [IR_SELECT] = {.expression = "(%a ? %b : %c)"},
};

static const qn__c_spelling no_signed_wrap[IR_OP_COUNT] = {
    [IR_ADD] = {.expression = "(%a + %b)"},
    [IR_SUB] = {.expression = "(%a - %b)"},
    [IR_MUL] = {.expression = "(%a * %b)"},
};

/* Divisors that are known constants other than 0 and -1. */
static const qn__c_spelling by_constant[IR_OP_COUNT] = {
    [IR_UDIV] = {.expression = "(%t)((%u)%a / (%u)%b)"}, [IR_UREM] = {.expression = "(%t)((%u)%a %% (%u)%b)"},
    [IR_SDIV] = {.expression = "(%t)(%a / %b)"},         [IR_SREM] = {.expression = "(%t)(%a %% %b)"},
    [IR_SHL] = {.expression = "(%t)((%n)%a << %b)"},     [IR_LSHR] = {.expression = "(%t)((%u)%a >> %b)"},
    [IR_ASHR] = {.expression = "(%t)(%a >> %b)"},
};

static const qn__c_spelling on_bool[IR_OP_COUNT] = {
    [IR_NOT] = {.expression = "(!%a)"},
    [IR_SEXT] = {.expression = "(%t)(0 - (%t)%a)"},
    [IR_ZEXT] = {.expression = "(%t)%a"},
};

static const qn__c_spelling trunc_to_bool = {.expression = "(b1)(%a & 1)"};

/* True for a splat or scalar constant with which division and shifts need no guard. */
static bool is_safe_constant(const ir_instr *instr) {
    if (instr->num_operands != 2 || !qn__ir_is_const(instr->operands[1])) return false;
    const ir_value *value = instr->operands[1];
    unsigned width = qn__ir_bits(value->type);
    bool shift = instr->op == IR_SHL || instr->op == IR_LSHR || instr->op == IR_ASHR;
    for (unsigned i = 0; i < value->type.lanes; i++) {
        uint64_t ones = width == 64 ? UINT64_MAX : ((uint64_t)1 << width) - 1;
        uint64_t bits = value->bits[i] & ones;
        if (shift ? bits >= width : bits == 0 || bits == ones) return false;
    }
    return true;
}

/* gcc computes -(a * b + c) as -(a * b) - c, whose zero has another sign. It does so where it sees the sum, which a
   value from memory or out of a construct may turn out to be. */
static const qn__c_spelling negated_sum = {
    "qn_neg_%t(%a)", HELPER("neg", "%t a", "union { %t f; %u i; } x = {a}; x.i ^= (%u)1 << %m; return x.f;")};

static bool may_be_fma(const ir_value *value) {
    if (value->value_kind == IR_VALUE_PARAM) return true;
    if (value->value_kind != IR_VALUE_RESULT) return false;
    const ir_instr *def = value->def;
    if (def->op == IR_LOAD) return def->operands[0]->type.space == IR_PRIVATE;
    unsigned rule = qn__ir_ops[def->op].rule;
    return def->op == IR_FMA || rule == RULE_CONSTRUCT || rule == RULE_SELECT ||
           (rule >= RULE_VECTOR && rule <= RULE_SHUFFLE);
}

const qn__c_spelling *qn__c_spelling_of(const ir_instr *instr) {
    const qn__c_spelling *row = NULL;
    if (instr->num_results != 1 || instr->num_operands == 0) return NULL;
    ir_type result = instr->results[0]->type, operand = instr->operands[0]->type;
    if (instr->op == IR_TRUNC && result.kind == IR_BOOL) return &trunc_to_bool;
    if (instr->op == IR_FNEG && may_be_fma(instr->operands[0])) return &negated_sum;
    if (operand.kind == IR_BOOL) row = &on_bool[instr->op];
    if ((instr->flags & IR_NSW) && qn__ir_is_int(result) && qn__ir_bits(result) >= 32)
        row = &no_signed_wrap[instr->op];
    if (by_constant[instr->op].expression && is_safe_constant(instr)) row = &by_constant[instr->op];
    if (row && row->expression) return row;
    row = &spellings[instr->op];
    return row->expression ? row : NULL;
}
