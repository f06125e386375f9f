/* Instructions on gangs: vector spellings where there is one, else a loop over the members around the scalar
   spelling, which the host compiler vectorises or unrolls. */
#include "emit/c/gang.h"

const char qn__c_gang_prelude[] =
    "#ifdef __AVX512F__\n#define QN_W 16\n#elif defined __AVX__\n#define QN_W 8\n#else\n#define QN_W "
    "4\n#endif\n"
    "typedef i32 vi32 __attribute__((vector_size(4 * QN_W)));\n"
    "typedef u32 vu32 __attribute__((vector_size(4 * QN_W)));\n"
    "typedef f32 vf32 __attribute__((vector_size(4 * QN_W)));\n"
    "typedef i32 vi32_near __attribute__((vector_size(4 * QN_W), aligned(4), may_alias));\n"
    "typedef f32 vf32_near __attribute__((vector_size(4 * QN_W), aligned(4), may_alias));\n"
    "#define QN_MEMBERS for (i32 l = 0; l < QN_W; ++l)\n"
    "#if QN_W == 16\n"
    "#define QN_ALL(x) {x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x}\n"
    "static const vi32 qn_index = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};\n"
    "#elif QN_W == 8\n"
    "#define QN_ALL(x) {x, x, x, x, x, x, x, x}\n"
    "static const vi32 qn_index = {0, 1, 2, 3, 4, 5, 6, 7};\n"
    "#else\n"
    "#define QN_ALL(x) {x, x, x, x}\n"
    "static const vi32 qn_index = {0, 1, 2, 3};\n"
    "#endif\n"
    "static inline vi32 qn_splat_i32(i32 x) { return (vi32)QN_ALL(x); }\n"
    "static inline vf32 qn_splat_f32(f32 x) { return (vf32)QN_ALL(x); }\n"
    "static inline vi32 qn_line(i32 x, i32 s) {\n"
    "    return (vi32)((vu32)qn_splat_i32(x) + (vu32)qn_index * (vu32)qn_splat_i32(s));\n"
    "}\n"
    "static inline i32 qn_any(vi32 m) {\n"
    "#if QN_W == 16\n"
    "    return (unsigned short)__builtin_ia32_cmpd512_mask(m, (vi32){0}, 4, -1) != 0;\n"
    "#elif QN_W == 8\n"
    "    return __builtin_ia32_movmskps256((vf32)m) != 0;\n"
    "#elif defined __SSE2__\n"
    "    return __builtin_ia32_movmskps((vf32)m) != 0;\n"
    "#else\n"
    "    i32 any = 0;\n"
    "    QN_MEMBERS any |= m[l];\n"
    "    return any != 0;\n"
    "#endif\n"
    "}\n"
    "static inline i32 qn_all(vi32 m) { return !qn_any(~m); }\n"
    "static inline vi32 qn_select_i32(vi32 m, vi32 a, vi32 b) { return (a & m) | (b & ~m); }\n"
    "static inline vf32 qn_select_f32(vi32 m, vf32 a, vf32 b) {\n"
    "    return (vf32)(((vi32)a & m) | ((vi32)b & ~m));\n"
    "}\n"
    "static inline vf32 qn_fma(vf32 a, vf32 b, vf32 c) {\n"
    "#if QN_W == 16\n"
    "    return __builtin_ia32_vfmaddps512_mask(a, b, c, -1, 4);\n"
    "#elif QN_W == 8 && defined __FMA__\n"
    "    return __builtin_ia32_vfmaddps256(a, b, c);\n"
    "#else\n"
    "    vf32 r;\n"
    "    QN_MEMBERS r[l] = __builtin_fmaf(a[l], b[l], c[l]);\n"
    "    return r;\n"
    "#endif\n"
    "}\n"
    "static inline vf32 qn_sqrt(vf32 a) {\n"
    "#if QN_W == 16 && !defined __clang__\n"
    "    return __builtin_ia32_sqrtps512_mask(a, a, -1, 4);\n"
    "#elif QN_W == 16\n"
    "    return __builtin_ia32_sqrtps512(a, 4);\n"
    "#elif QN_W == 8\n"
    "    return __builtin_ia32_sqrtps256(a);\n"
    "#else\n"
    "    vf32 r;\n"
    "    QN_MEMBERS r[l] = __builtin_sqrtf(a[l]);\n"
    "    return r;\n"
    "#endif\n"
    "}\n"
    "#if QN_W == 16\n"
    "#define QN_ROUND(a, mode, name) __builtin_ia32_rndscaleps_mask(a, mode, a, -1, 4)\n"
    "#elif QN_W == 8\n"
    "#define QN_ROUND(a, mode, name) __builtin_ia32_roundps256(a, mode)\n"
    "#else\n"
    "#define QN_ROUND(a, mode, name) ({ vf32 r_; QN_MEMBERS r_[l] = name((a)[l]); r_; })\n"
    "#endif\n";

/* Of 32-bit numbers and bool (masks of -1 and 0). */
static const char *const patterns[IR_OP_COUNT] = {
    [IR_ADD] = "(vi32)((vu32)%a + (vu32)%b)",
    [IR_SUB] = "(vi32)((vu32)%a - (vu32)%b)",
    [IR_MUL] = "(vi32)((vu32)%a * (vu32)%b)",
    [IR_SMIN] = "qn_select_i32(%a < %b, %a, %b)",
    [IR_SMAX] = "qn_select_i32(%a > %b, %a, %b)",
    [IR_UMIN] = "qn_select_i32((vu32)%a < (vu32)%b, %a, %b)",
    [IR_UMAX] = "qn_select_i32((vu32)%a > (vu32)%b, %a, %b)",
    [IR_AND] = "(%a & %b)",
    [IR_OR] = "(%a | %b)",
    [IR_XOR] = "(%a ^ %b)",
    [IR_NOT] = "~%a",
    [IR_SHL] = "(vi32)((vu32)%a << ((vu32)%b & 31))",
    [IR_LSHR] = "(vi32)((vu32)%a >> ((vu32)%b & 31))",
    [IR_ASHR] = "(%a >> (%b & 31))",
    [IR_EQ] = "(%a == %b)",
    [IR_NE] = "(%a != %b)",
    [IR_SLT] = "(%a < %b)",
    [IR_SLE] = "(%a <= %b)",
    [IR_ULT] = "((vu32)%a < (vu32)%b)",
    [IR_ULE] = "((vu32)%a <= (vu32)%b)",
    [IR_FEQ] = "(%a == %b)",
    [IR_FNE] = "(%a != %b)",
    [IR_FLT] = "(%a < %b)",
    [IR_FLE] = "(%a <= %b)",
    [IR_FADD] = "(%a + %b)",
    [IR_FSUB] = "(%a - %b)",
    [IR_FMUL] = "(%a * %b)",
    [IR_FDIV] = "(%a / %b)",
    [IR_FNEG] = "(-%a)",
    [IR_FABS] = "(vf32)((vi32)%a & 0x7fffffff)",
    [IR_FCOPYSIGN] = "(vf32)(((vi32)%a & 0x7fffffff) | ((vi32)%b & (-0x7fffffff - 1)))",
    [IR_FMA] = "qn_fma(%a, %b, %c)",
    [IR_FSQRT] = "qn_sqrt(%a)",
    [IR_FMIN] = "qn_select_f32((%b != %b) | (%a < %b), %a, %b)",
    [IR_FMAX] = "qn_select_f32((%b != %b) | (%a > %b), %a, %b)",
    [IR_FFLOOR] = "QN_ROUND(%a, 9, __builtin_floorf)",
    [IR_FCEIL] = "QN_ROUND(%a, 10, __builtin_ceilf)",
    [IR_FTRUNC] = "QN_ROUND(%a, 11, __builtin_truncf)",
    [IR_FRINT] = "QN_ROUND(%a, 8, __builtin_rintf)",
    [IR_NATIVE_RECIP] = "(1.0f / %a)",
    [IR_NATIVE_RSQRT] = "(1.0f / qn_sqrt(%a))",
    [IR_NATIVE_SQRT] = "qn_sqrt(%a)",
    [IR_NATIVE_DIV] = "(%a / %b)",
    [IR_BITCAST] = "(%t)%a",
};

static const char *const native_names[] = {"f32", "i32"};

/* ---- names ---- */

static bool is_float_vector(ir_type type) { return type.kind == IR_F32 || type.kind == IR_F16; }

static const char *vector_type(ir_type type) { return is_float_vector(type) ? "vf32" : "vi32"; }

static const char *plain_name(c_emitter *e, const ir_value *value, unsigned lane) {
    struct c_gang_state *gang = e->gang;
    bool in_lane = gang->in_lane;
    gang->in_lane = false;
    const char *name = qn__c_use(e, value, lane);
    gang->in_lane = in_lane;
    return name;
}

/* One member's value, inside a loop over the members. */
const char *qn__c_gang_lane_use(c_emitter *e, const ir_value *value, unsigned lane) {
    const char *name = plain_name(e, value, lane);
    c_shape shape = qn__c_shape(e, value);
    if (shape == SHAPE_ONE) return name;
    if (shape == SHAPE_GANG) {
        bool is_bool = value->type.kind == IR_BOOL;
        return qn__arena_printf(e->arena, is_bool ? "(%s[l] != 0)" : "%s[l]", name);
    }
    if (e->gang->lane_texts[value->id]) return e->gang->lane_texts[value->id];
    long long stride = e->gang_plan->lines[value->id].stride;
    if (stride == 0) return name;
    if (value->type.kind == IR_I32)
        return qn__arena_printf(e->arena, "(i32)((u32)%s + (u32)(l * %lld))", name, stride);
    return qn__arena_printf(e->arena, "(%s + l * %lldL)", name, stride);
}

const char *qn__c_gang_use(c_emitter *e, const ir_value *value, unsigned lane) {
    const char *name = plain_name(e, value, lane);
    const char *native = native_names[!is_float_vector(value->type)];
    switch (qn__c_shape(e, value)) {
    case SHAPE_GANG: return name;
    case SHAPE_LINE:
        return qn__arena_printf(e->arena, "qn_line(%s, %lld)", name,
                                (long long)e->gang_plan->lines[value->id].stride);
    default:
        if (value->type.kind == IR_BOOL) return qn__arena_printf(e->arena, "qn_splat_i32(-(i32)%s)", name);
        return qn__arena_printf(e->arena, "qn_splat_%s(%s)", native, name);
    }
}

static void declare_lane(c_emitter *e, const ir_value *value, unsigned lane) {
    const char *name = plain_name(e, value, lane), *type = qn__c_scalar((ir_kind)value->type.kind);
    if (qn__c_is_vector(value->type)) {
        qn__c_line(e, "%s %s = {0};", vector_type(value->type), name);
    } else {
        qn__c_line(e, "%s %s[QN_W] = {0};", type, name);
    }
}

void qn__c_gang_declare(c_emitter *e, const ir_value *value) {
    if (qn__c_shape(e, value) != SHAPE_GANG) {
        qn__c_declare(e, value);
        return;
    }
    for (unsigned lane = 0; lane < value->type.lanes; lane++) declare_lane(e, value, lane);
}

/* ---- masks ---- */

const char *qn__c_full(c_emitter *e) {
    const c_mask *mask = qn__c_mask(e);
    return mask->full ? mask->full : qn__arena_printf(e->arena, "qn_all(%s)", mask->name);
}

static void open_members(c_emitter *e, bool masked) {
    if (masked) {
        qn__c_open(e, "QN_MEMBERS if (%s[l]) {", qn__c_mask(e)->name);
    } else {
        qn__c_open(e, "QN_MEMBERS {");
    }
    e->gang->in_lane = true;
}

static void close_members(c_emitter *e) {
    e->gang->in_lane = false;
    qn__c_close(e, "}");
}

void qn__c_gang_define_lane(c_emitter *e, const ir_value *value, unsigned lane, const char *expression) {
    if (!e->plan->uses[value->id]) {
        qn__c_line(e, "(void)%s;", expression);
    } else if (value->type.kind == IR_BOOL) {
        qn__c_line(e, "%s[l] = -(i32)%s;", plain_name(e, value, lane), expression);
    } else {
        qn__c_line(e, "%s[l] = %s;", plain_name(e, value, lane), expression);
    }
}

/* The value in the form that its kind has among gangs: a vector, or (in a loop over members) one member's. */
void qn__c_gang_set(c_emitter *e, const ir_value *target, const char *value, unsigned lane, bool masked) {
    const char *name = plain_name(e, target, lane);
    if (!masked) {
        qn__c_line(e, "%s = %s;", name, value);
    } else {
        qn__c_line(e, "%s = qn_select_%s(%s, %s, %s);", name, native_names[!is_float_vector(target->type)],
                   qn__c_mask(e)->name, value, name);
    }
}

void qn__c_gang_keep(c_emitter *e, const ir_value *to, const ir_value *from) {
    for (unsigned lane = 0; lane < to->type.lanes; lane++) {
        const char *array = qn__c_context(e, to, lane);
        bool vector = qn__c_is_vector(to->type) && to->type.kind != IR_BOOL;
        if (vector) {
            qn__c_line(e, "if (%s) *(%s_near *)&%s[item] = %s;", qn__c_full(e), vector_type(to->type), array,
                       qn__c_gang_use(e, from, lane));
            qn__c_line(e, "else");
        }
        open_members(e, true);
        qn__c_line(e, "%s[item + l] = %s;", array, qn__c_gang_lane_use(e, from, lane));
        close_members(e);
    }
}

void qn__c_gang_available(c_emitter *e, const ir_value *value) {
    for (unsigned lane = 0; lane < value->type.lanes; lane++) {
        const char *array = qn__c_context(e, value, lane);
        declare_lane(e, value, lane);
        if (qn__c_is_vector(value->type) && value->type.kind != IR_BOOL) {
            qn__c_line(e, "if (%s) %s = *(%s_near *)&%s[item];", qn__c_full(e), plain_name(e, value, lane),
                       vector_type(value->type), array);
            qn__c_line(e, "else");
        }
        open_members(e, true);
        qn__c_gang_define_lane(e, value, lane, qn__arena_printf(e->arena, "%s[item + l]", array));
        close_members(e);
    }
}

/* ---- memory ---- */

/* Consecutive members at consecutive 32-bit addresses: one vector access where all members are active. */
static bool is_row(const c_emitter *e, const ir_instr *instr, ir_type type) {
    const ir_value *pointer = instr->operands[0];
    if (type.lanes != 1 || (type.kind != IR_I32 && type.kind != IR_F32) || (instr->flags & IR_VOLATILE))
        return false;
    return qn__c_shape(e, pointer) == SHAPE_LINE && e->gang_plan->lines[pointer->id].stride == 4;
}

static const char *row_text(c_emitter *e, const ir_instr *instr, ir_type type) {
    return qn__arena_printf(e->arena, "*(%s_near *)(%s + %lldL)", vector_type(type),
                            plain_name(e, instr->operands[0], 0), (long long)instr->attr.offset);
}

static const char *row_condition(c_emitter *e, const ir_instr *instr) {
    const char *guard = e->gang->guards[instr->operands[0]->id];
    return guard ? qn__arena_printf(e->arena, "%s && %s", qn__c_full(e), guard) : qn__c_full(e);
}

/* At steps, as in a column: without a mask the host compiler makes more of it. */
static bool is_regular(const c_emitter *e, const ir_instr *instr) {
    const ir_value *pointer = instr->operands[0];
    return !(instr->flags & IR_VOLATILE) && qn__c_shape(e, pointer) == SHAPE_LINE &&
           !e->gang->guards[pointer->id];
}

static void gang_load(c_emitter *e, ir_instr *instr) {
    const ir_value *result = instr->results[0];
    for (unsigned lane = 0; lane < result->type.lanes; lane++) declare_lane(e, result, lane);
    if (is_row(e, instr, result->type)) {
        qn__c_line(e, "if (%s) %s = %s;", row_condition(e, instr), plain_name(e, result, 0),
                   row_text(e, instr, result->type));
        qn__c_line(e, "else");
    } else if (is_regular(e, instr)) {
        qn__c_open(e, "if (%s) {", qn__c_full(e));
        open_members(e, false);
        qn__c_instr(e, instr);
        close_members(e);
        qn__c_close(e, "}");
        qn__c_line(e, "else");
    }
    open_members(e, true);
    qn__c_instr(e, instr);
    close_members(e);
}

static void gang_effect(c_emitter *e, ir_instr *instr) {
    for (uint32_t i = 0; i < instr->num_results; i++) {
        if (e->plan->uses[instr->results[i]->id]) qn__c_gang_declare(e, instr->results[i]);
    }
    if (instr->op == IR_STORE && is_row(e, instr, instr->operands[1]->type)) {
        qn__c_line(e, "if (%s) %s = %s;", row_condition(e, instr),
                   row_text(e, instr, instr->operands[1]->type), qn__c_gang_use(e, instr->operands[1], 0));
        qn__c_line(e, "else");
    }
    open_members(e, true);
    qn__c_instr(e, instr);
    close_members(e);
}

/* ---- values ---- */

static bool all_vectors(const ir_instr *instr) {
    if (!qn__c_is_vector(instr->results[0]->type) || instr->results[0]->type.kind == IR_F16) return false;
    for (uint32_t i = 0; i < instr->num_operands; i++) {
        ir_type type = instr->operands[i]->type;
        if (!qn__c_is_vector(type) || type.kind == IR_F16) return false;
    }
    return true;
}

static const char *operand(c_emitter *e, const ir_instr *instr, uint32_t index, unsigned lane) {
    if (index >= instr->num_operands) return "";
    const ir_value *value = instr->operands[index];
    return qn__c_gang_use(e, value, value->type.lanes == 1 ? 0 : lane);
}

static const char *converted(c_emitter *e, const ir_instr *instr, unsigned lane) {
    ir_kind from = (ir_kind)instr->operands[0]->type.kind;
    const char *a = operand(e, instr, 0, lane);
    bool even = instr->attr.rounding == IR_ROUND_EVEN, is_bool = from == IR_BOOL;
    switch (instr->op) {
    case IR_ZEXT: return is_bool ? qn__arena_printf(e->arena, "(%s & 1)", a) : NULL;
    case IR_SEXT: return is_bool ? a : NULL;
    case IR_TRUNC: return qn__arena_printf(e->arena, "-(%s & 1)", a);
    case IR_S2F: return even ? qn__arena_printf(e->arena, "__builtin_convertvector(%s, vf32)", a) : NULL;
    case IR_U2F:
        if (is_bool) return qn__arena_printf(e->arena, "__builtin_convertvector(%s & 1, vf32)", a);
        return even ? qn__arena_printf(e->arena, "__builtin_convertvector((vu32)%s, vf32)", a) : NULL;
    case IR_F2S:
        if (instr->attr.rounding != IR_ROUND_ZERO) return NULL;
        if (qn__c_need(e, "qn_gang_f2s"))
            qn__buf_puts(&e->helpers,
                         "static inline vi32 qn_gang_f2s(vf32 a) {\n"
                         "    vi32 r = __builtin_convertvector(a, vi32);\n"
                         "    r = qn_select_i32(a >= 0x1p31f, qn_splat_i32(0x7fffffff), r);\n"
                         "    r = qn_select_i32(a < -0x1p31f, qn_splat_i32(-0x7fffffff - 1), r);\n"
                         "    return r & (a == a);\n}\n");
        return qn__arena_printf(e->arena, "qn_gang_f2s(%s)", a);
    default: return NULL;
    }
}

/* The vector expression of a lane, or NULL. */
static const char *vector_text(c_emitter *e, const ir_instr *instr, unsigned lane) {
    const ir_value *result = instr->results[0], *a = instr->num_operands ? instr->operands[0] : NULL;
    switch (instr->op) {
    case IR_VECTOR: return qn__c_gang_use(e, instr->operands[lane], 0);
    case IR_SPLAT: return qn__c_gang_use(e, a, 0);
    case IR_EXTRACT: return qn__c_gang_use(e, a, instr->attr.lanes[0]);
    case IR_INSERT:
        return lane == instr->attr.lanes[0] ? qn__c_gang_use(e, instr->operands[1], 0)
                                            : qn__c_gang_use(e, a, lane);
    case IR_SHUFFLE: {
        unsigned from = instr->attr.lanes[lane], first = a->type.lanes;
        if (from >= first + instr->operands[1]->type.lanes) return "(vi32){0}";
        return from < first ? qn__c_gang_use(e, a, from)
                            : qn__c_gang_use(e, instr->operands[1], from - first);
    }
    case IR_SELECT:
        return qn__arena_printf(e->arena, "qn_select_%s(%s, %s, %s)",
                                native_names[!is_float_vector(result->type)], operand(e, instr, 0, lane),
                                operand(e, instr, 1, lane), operand(e, instr, 2, lane));
    case IR_BITCAST:
        if (a->type.lanes != result->type.lanes) return NULL;
        return qn__arena_printf(e->arena, "(%s)%s", vector_type(result->type), operand(e, instr, 0, lane));
    default: break;
    }
    if (qn__ir_ops[instr->op].rule == RULE_CONVERT) return converted(e, instr, lane);
    if (!patterns[instr->op]) return NULL;
    qn__buf text;
    qn__buf_init(&text, e->arena);
    qn__c_pattern with = {.result = (ir_kind)result->type.kind,
                          .operand = (ir_kind)a->type.kind,
                          .a = operand(e, instr, 0, lane),
                          .b = operand(e, instr, 1, lane),
                          .c = operand(e, instr, 2, lane)};
    qn__c_expand(&text, patterns[instr->op], &with);
    return text.data;
}

static bool by_vectors(c_emitter *e, const ir_instr *instr) {
    const ir_value *result = instr->results[0];
    const char *text = all_vectors(instr) ? vector_text(e, instr, 0) : NULL;
    if (!text) return false;
    for (unsigned lane = 0; lane < result->type.lanes; lane++) {
        if (lane) text = vector_text(e, instr, lane);
        qn__c_line(e, "%s %s = (%s)%s;", vector_type(result->type), plain_name(e, result, lane),
                   vector_type(result->type), text);
    }
    return true;
}

/* ---- lines with guards ---- */

static void note_guard(c_emitter *e, ir_instr *instr) {
    struct c_gang_state *gang = e->gang;
    const ir_value *result = instr->results[0];
    if (!e->gang_plan->lines[result->id].guarded) return;
    bool extends = instr->op == IR_SEXT || instr->op == IR_ZEXT;
    const char *guard = NULL;
    for (uint32_t i = 0; i < instr->num_operands; i++) {
        const char *of = gang->guards[instr->operands[i]->id];
        if (of) guard = guard ? qn__arena_printf(e->arena, "%s && %s", guard, of) : of;
    }
    if (extends && !guard) {
        const char *name = plain_name(e, instr->operands[0], 0),
                   *unsign = instr->op == IR_ZEXT ? "(u32)" : "";
        long long stride = e->gang_plan->lines[result->id].stride;
        guard = qn__arena_printf(e->arena, "line%u", gang->next++);
        qn__c_line(e,
                   "const b1 %s = (i64)%s%s + (QN_W - 1) * %lldL == (i64)%s(i32)((u32)%s + (u32)((QN_W - 1) "
                   "* %lld));",
                   guard, unsign, name, stride, unsign, name, stride);
    }
    gang->guards[result->id] = guard;
    gang->in_lane = true;
    gang->lane_texts[result->id] = qn__arena_printf(e->arena, "(%s)", qn__c_simple(e, instr, 0));
    gang->in_lane = false;
}

/* ---- the choice ---- */

void qn__c_gang_instr(c_emitter *e, ir_instr *instr) {
    unsigned effects = qn__ir_ops[instr->op].effects;
    bool memory = effects >= IR_EFFECT_READ;
    if (instr->num_results && !e->plan->uses[instr->results[0]->id] && effects <= IR_EFFECT_READ) return;
    if (instr->num_results && qn__c_shape(e, instr->results[0]) != SHAPE_GANG) {
        qn__c_instr(e, instr);
        if (qn__c_shape(e, instr->results[0]) == SHAPE_LINE) note_guard(e, instr);
        return;
    }
    if (instr->op == IR_LOAD) {
        gang_load(e, instr);
    } else if (memory) {
        gang_effect(e, instr);
    } else if (!by_vectors(e, instr)) {
        qn__c_gang_declare(e, instr->results[0]);
        open_members(e, false);
        qn__c_instr(e, instr);
        close_members(e);
    }
    if (instr->num_results && e->plan->storage[instr->results[0]->id] == STORAGE_CONTEXT)
        qn__c_gang_keep(e, instr->results[0], instr->results[0]);
}
