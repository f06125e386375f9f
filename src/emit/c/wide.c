/* Wide values: vectors of one work-item that are SIMD vectors in C instead of one variable a lane. They are used
   in chunks with loops that do not run as gangs, where the host compiler vectorises over work-items in vain and a
   kernel's own vectors are all the parallelism there is. Operations without a spelling here are put together lane
   by lane. */
#include "emit/c/gang.h"

/* Compilers keep vectors that no register holds in memory; those of 32 bytes they split well. */
static bool fits_register(const c_emitter *e, ir_type type) {
    const unsigned bytes = type.lanes * qn__ir_bits(type) / 8, most = e->options->target.vector_bytes;
    return bytes <= (most > 32 ? most : 32);
}

bool qn__c_is_wide(const c_emitter *e, const ir_value *value) {
    const c_plan *plan = e->plan;
    ir_type type = value->type;
    if (value->value_kind > IR_VALUE_PARAM || (type.lanes != 4 && type.lanes != 8 && type.lanes != 16))
        return false;
    if (type.kind != IR_F32 && type.kind != IR_F64 && type.kind != IR_I32) return false;
    if (!fits_register(e, type)) return false;
    const ir_instr *def = value->def;
    if (e->options->debug || plan->in_step[def->mark] || !e->gang_plan->wide[plan->chunk[def->mark]])
        return false;
    return plan->storage[value->id] == STORAGE_ITEM || plan->hoisted[def->mark];
}

const char *qn__c_wide_type(c_emitter *e, ir_type type, const char *suffix) {
    const char *scalar = qn__c_scalar((ir_kind)type.kind);
    const char *name = qn__arena_printf(e->arena, "v%u%s%s", type.lanes, scalar, suffix);
    const char *extra = *suffix ? ", aligned(4), may_alias" : "";
    if (qn__c_need(e, name))
        qn__buf_printf(&e->helpers, "typedef %s %s __attribute__((vector_size(%u)%s));\n", scalar, name,
                       type.lanes * qn__ir_bits(type) / 8, extra);
    return name;
}

const char *qn__c_wide_use(c_emitter *e, const ir_value *value) {
    if (qn__c_is_wide(e, value)) return qn__c_name(e, value);
    qn__buf text;
    qn__buf_init(&text, e->arena);
    qn__buf_printf(&text, "(%s){", qn__c_wide_type(e, value->type, ""));
    for (unsigned lane = 0; lane < value->type.lanes; lane++) {
        if (lane) qn__buf_puts(&text, ", ");
        qn__buf_puts(&text, qn__c_use(e, value, lane));
    }
    qn__buf_puts(&text, "}");
    return text.data;
}

static const char *fused(c_emitter *e, const ir_instr *instr) {
    ir_type type = instr->results[0]->type;
    const char *vector = qn__c_wide_type(e, type, "");
    const char *name = qn__arena_printf(e->arena, "qn_fma_%s", vector);
    static const struct {
        ir_kind kind;
        unsigned lanes;
        const char *condition, *spelling;
    } table[] = {{IR_F32, 4, "__FMA__", "ps(a, b, c)"},
                 {IR_F32, 8, "__FMA__", "ps256(a, b, c)"},
                 {IR_F32, 16, "__AVX512F__", "ps512_mask(a, b, c, -1, 4)"},
                 {IR_F64, 4, "__FMA__", "pd256(a, b, c)"},
                 {IR_F64, 8, "__AVX512F__", "pd512_mask(a, b, c, -1, 4)"}};
    for (size_t i = 0; i < QN__COUNT(table); i++) {
        if (table[i].kind != type.kind || table[i].lanes != type.lanes || !qn__c_need(e, name)) continue;
        qn__buf_printf(&e->helpers,
                       "static inline %s %s(%s a, %s b, %s c) {\n#ifdef %s\n    return "
                       "__builtin_ia32_vfmadd%s;\n#else\n    for (i32 i = 0; i < %u; ++i) a[i] = "
                       "__builtin_fma%s(a[i], b[i], c[i]);\n    return a;\n#endif\n}\n",
                       vector, name, vector, vector, vector, table[i].condition, table[i].spelling,
                       type.lanes, type.kind == IR_F32 ? "f" : "");
    }
    return qn__arena_printf(e->arena, "%s(%s, %s, %s)", name, qn__c_wide_use(e, instr->operands[0]),
                            qn__c_wide_use(e, instr->operands[1]), qn__c_wide_use(e, instr->operands[2]));
}

/* Of words: the products of a's bytes, signed, and b's, unsigned. VNNI has an instruction for it; else even and odd bytes are
   multiplied and added in pairs of 16 bits, which is exact. */
static const char *mixed_dot_helper(c_emitter *e, ir_type type) {
    static const struct {
        unsigned lanes;
        const char *vnni, *gcc, *clang, *pairs_if, *pairs, *rest;
    } table[] = {
        {4, "defined __AVX512VNNI__ && defined __AVX512VL__ || defined __AVXVNNI__", "vpdpbusd_v4si",
         "vpdpbusd128", "defined __SSE2__", "pmaddwd128", ""},
        {8, "defined __AVX512VNNI__ && defined __AVX512VL__ || defined __AVXVNNI__", "vpdpbusd_v8si",
         "vpdpbusd256", "defined __AVX2__", "pmaddwd256", ""},
        {16, "defined __AVX512VNNI__", "vpdpbusd_v16si", "vpdpbusd512",
         "defined __AVX512BW__ && !defined __clang__", "pmaddwd512_mask", ", (words){0}, -1"},
    };
    const char *vector = qn__c_wide_type(e, type, "");
    const char *name = qn__arena_printf(e->arena, "qn_sudot4_%s", vector);
    for (size_t i = 0; i < QN__COUNT(table); i++) {
        if (table[i].lanes != type.lanes || !qn__c_need(e, name)) continue;
        qn__buf_printf(&e->helpers,
                       "static inline %s %s(%s a, %s b, %s c) {\n#if %s\n#ifdef __clang__\n"
                       "    return __builtin_ia32_%s(c, b, a);\n#else\n"
                       "    return __builtin_ia32_%s(c, b, a);\n#endif\n#else\n",
                       vector, name, vector, vector, vector, table[i].vnni, table[i].clang, table[i].gcc);
        for (unsigned t = 0; t < 5; t++) {
            static const char *const types[] = {"i8 bytes", "u8 ubytes", "i16 halves", "u32 uwords",
                                                "i32 words"};
            qn__buf_printf(&e->helpers, "    typedef %s __attribute__((vector_size(%u)));\n", types[t],
                           4 * (unsigned)type.lanes);
        }
        qn__buf_printf(
            &e->helpers,
            "#if %s\n    const words even = __builtin_ia32_%s((halves)((uwords)(halves)a << 8) >> 8, "
            "(halves)(b & 0xff00ff)%s),\n"
            "                odd = __builtin_ia32_%s((halves)a >> 8, (halves)((uwords)b >> 8 & "
            "0xff00ff)%s);\n"
            "    return (%s)((uwords)c + (uwords)even + (uwords)odd);\n#else\n",
            table[i].pairs_if, table[i].pairs, table[i].rest, table[i].pairs, table[i].rest, vector);
        qn__buf_printf(&e->helpers,
                       "    uwords sum = (uwords)c;\n    for (i32 i = 0; i < %u; ++i)\n"
                       "        sum[i / 4] += (u32)((i32)((bytes)a)[i] * (i32)((ubytes)b)[i]);\n"
                       "    return (%s)sum;\n#endif\n#endif\n}\n",
                       4 * (unsigned)type.lanes, vector);
    }
    return name;
}

/* The others by that one: bytes with their upper bit flipped are 128 off. */
static const char *dotted(c_emitter *e, const ir_instr *instr) {
    static const char *const bodies[] = {
        [IR_SDOT4 - IR_UDOT4] = "(uwords)%s(a, b ^ (i32)0x80808080, c) - (uwords)%s(a, (%s){0} | "
                                "(i32)0x80808080, (%s){0})",
        [0] = "(uwords)%s(a ^ (i32)0x80808080, b, c) + ((uwords)%s((%s){0} | 0x01010101, b, (%s){0}) << 7)"};
    const ir_type type = instr->results[0]->type;
    const char *vector = qn__c_wide_type(e, type, ""), *name = mixed_dot_helper(e, type);
    if (instr->op != IR_SUDOT4) {
        const char *mixed = name;
        name = qn__arena_printf(e->arena, "qn_%s_%s", qn__ir_ops[instr->op].name, vector);
        if (qn__c_need(e, name)) {
            qn__buf_printf(&e->helpers,
                           "static inline %s %s(%s a, %s b, %s c) {\n    typedef u32 uwords "
                           "__attribute__((vector_size(%u)));\n    return (%s)(",
                           vector, name, vector, vector, vector, 4 * (unsigned)type.lanes, vector);
            qn__buf_printf(&e->helpers, bodies[instr->op - IR_UDOT4], mixed, mixed, vector, vector);
            qn__buf_puts(&e->helpers, ");\n}\n");
        }
    }
    return qn__arena_printf(e->arena, "%s(%s, %s, %s)", name, qn__c_wide_use(e, instr->operands[0]),
                            qn__c_wide_use(e, instr->operands[1]), qn__c_wide_use(e, instr->operands[2]));
}

/* Integers that fit i32, to floats: both steps are instructions of SIMD units, and the first is found by the
   compiler. */
static const char *converted(c_emitter *e, const ir_instr *instr) {
    const ir_value *a = instr->operands[0];
    ir_type narrow = qn__ir_type(IR_I32, a->type.lanes);
    ir_kind kind = (ir_kind)a->type.kind;
    const char *vector = qn__c_wide_type(e, instr->results[0]->type, ""), *extended = "";
    if (kind == IR_I32 && instr->op == IR_S2F) {
        if (instr->attr.rounding != IR_ROUND_EVEN) return NULL;
        return qn__arena_printf(e->arena, "__builtin_convertvector(%s, %s)", qn__c_wide_use(e, a), vector);
    }
    if (kind != IR_I8 && kind != IR_I16) return NULL;
    if (instr->op == IR_U2F) extended = kind == IR_I8 ? "(u8)" : "(u16)";
    qn__buf text;
    qn__buf_init(&text, e->arena);
    qn__buf_printf(&text, "__builtin_convertvector((%s){", qn__c_wide_type(e, narrow, ""));
    for (unsigned lane = 0; lane < a->type.lanes; lane++)
        qn__buf_printf(&text, "%s%s%s", lane ? ", " : "", extended, qn__c_use(e, a, lane));
    qn__buf_printf(&text, "}, %s)", vector);
    return text.data;
}

/* Of two vectors of the result's type, in one piece: from lanes alone compilers do not find the instruction when shuffles follow each other.
   The helper is a macro, from whose arguments parentheses keep the commas between lanes. */
static const char *shuffled(c_emitter *e, const ir_instr *instr) {
    const ir_value *a = instr->operands[0], *b = instr->operands[1];
    const ir_type type = instr->results[0]->type;
    if (!qn__ir_same(a->type, type) || !qn__ir_same(b->type, type)) return NULL;
    const char *places =
        qn__c_wide_type(e, qn__ir_type(qn__ir_bits(type) == 64 ? IR_I64 : IR_I32, type.lanes), "");
    const char *name = qn__arena_printf(e->arena, "qn_shuffle_%s", places);
    if (qn__c_need(e, name))
        qn__buf_printf(&e->helpers,
                       "#ifdef __clang__\n#define %s(a, b, ...) __builtin_shufflevector(a, b, __VA_ARGS__)\n"
                       "#else\n#define %s(a, b, ...) __builtin_shuffle(a, b, (%s){__VA_ARGS__})\n#endif\n",
                       name, name, places);
    qn__buf text;
    qn__buf_init(&text, e->arena);
    qn__buf_printf(&text, "%s((%s), (%s)", name, qn__c_wide_use(e, a), qn__c_wide_use(e, b));
    for (unsigned lane = 0; lane < type.lanes; lane++) {
        const unsigned from = instr->attr.lanes[lane];
        qn__buf_printf(&text, ", %u", from < 2u * type.lanes ? from : 0);
    }
    qn__buf_puts(&text, ")");
    return text.data;
}

/* Of so many words. */
static const char *unsigned_type(c_emitter *e, unsigned lanes) {
    const char *name = qn__arena_printf(e->arena, "v%uu32", lanes);
    if (qn__c_need(e, name))
        qn__buf_printf(&e->helpers, "typedef u32 %s __attribute__((vector_size(%u)));\n", name, 4 * lanes);
    return name;
}

/* Of all lanes by one constant. */
static const char *shifted(c_emitter *e, const ir_instr *instr) {
    const ir_value *a = instr->operands[0], *by = instr->operands[1];
    const ir_type type = instr->results[0]->type;
    if (!qn__ir_is_const(by) || by->bits[0] >= qn__ir_bits(type)) return NULL;
    for (unsigned lane = 1; lane < by->type.lanes; lane++)
        if (by->bits[lane] != by->bits[0]) return NULL;
    return qn__arena_printf(e->arena, "(%s)((%s)%s %s %u)", qn__c_wide_type(e, type, ""),
                            instr->op == IR_ASHR ? qn__c_wide_type(e, type, "")
                                                 : unsigned_type(e, type.lanes),
                            qn__c_wide_use(e, a), instr->op == IR_SHL ? "<<" : ">>", (unsigned)by->bits[0]);
}

static const char *operation(c_emitter *e, const ir_instr *instr) {
    static const struct {
        ir_op op;
        const char *spelling;
        bool is_unsigned;
    } table[] = {
        {IR_FADD, "+", false}, {IR_FSUB, "-", false}, {IR_FMUL, "*", false}, {IR_FDIV, "/", false},
        {IR_ADD, "+", true},   {IR_SUB, "-", true},   {IR_MUL, "*", true},   {IR_AND, "&", false},
        {IR_OR, "|", false},   {IR_XOR, "^", false},
    };
    ir_type type = instr->results[0]->type;
    const char *vector = qn__c_wide_type(e, type, "");
    for (size_t i = 0; i < QN__COUNT(table); i++) {
        if (table[i].op != instr->op) continue;
        const char *cast = "";
        if (table[i].is_unsigned) {
            cast = qn__arena_printf(e->arena, "(%s)", unsigned_type(e, type.lanes));
        }
        return qn__arena_printf(e->arena, "(%s)(%s%s %s %s%s)", vector, cast,
                                qn__c_wide_use(e, instr->operands[0]), table[i].spelling, cast,
                                qn__c_wide_use(e, instr->operands[1]));
    }
    const ir_value *a = instr->num_operands ? instr->operands[0] : NULL;
    switch (instr->op) {
    case IR_FNEG: return qn__arena_printf(e->arena, "-%s", qn__c_wide_use(e, a));
    case IR_FMA: return fused(e, instr);
    case IR_UDOT4:
    case IR_SDOT4:
    case IR_SUDOT4: return dotted(e, instr);
    case IR_S2F:
    case IR_U2F: return converted(e, instr);
    case IR_SHUFFLE: return shuffled(e, instr);
    case IR_SHL:
    case IR_LSHR:
    case IR_ASHR: return shifted(e, instr);
    case IR_BITCAST:
        if (a->type.lanes != type.lanes) return NULL;
        return qn__arena_printf(e->arena, "(%s)%s", vector, qn__c_wide_use(e, a));
    case IR_SELECT:
        if (a->type.lanes != 1) return NULL;
        return qn__arena_printf(e->arena, "%s ? %s : %s", qn__c_use(e, a, 0),
                                qn__c_wide_use(e, instr->operands[1]), qn__c_wide_use(e, instr->operands[2]));
    case IR_LOAD:
        if ((instr->flags & IR_VOLATILE) || (instr->attr.align && instr->attr.align < 4)) return NULL;
        return qn__arena_printf(e->arena, "*(%s *)(%s + %lldL)", qn__c_wide_type(e, type, "_near"),
                                qn__c_use(e, a, 0), (long long)instr->attr.offset);
    default: return NULL;
    }
}

bool qn__c_wide_instr(c_emitter *e, const ir_instr *instr) {
    if (e->gang) return false;
    if (instr->op == IR_STORE) {
        const ir_value *value = instr->operands[1];
        if (!qn__c_is_wide(e, value) || (instr->flags & IR_VOLATILE) ||
            (instr->attr.align && instr->attr.align < 4))
            return false;
        qn__c_line(e, "*(%s *)(%s + %lldL) = %s;", qn__c_wide_type(e, value->type, "_near"),
                   qn__c_use(e, instr->operands[0], 0), (long long)instr->attr.offset, qn__c_name(e, value));
        return true;
    }
    if (instr->num_results != 1 || !qn__c_is_wide(e, instr->results[0])) return false;
    const char *text = operation(e, instr);
    if (text)
        qn__c_line(e, "%s %s = %s;", qn__c_wide_type(e, instr->results[0]->type, ""),
                   qn__c_name(e, instr->results[0]), text);
    return text != NULL;
}
