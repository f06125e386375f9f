/* Memory in OpenCL C: addresses, loads, stores, copies, atomics (OpenCL C 1.2, 6.12.11), fences. Pointers are
   to bytes; an access casts to a type that may alias any other and has the alignment that is known. */
#include "emit/clc/internal.h"

/* ---- addresses ---- */

static const char *moved(clc_emitter *e, const ir_value *pointer, int64_t offset) {
    const char *text = qn__clc_use(e, pointer);
    if (pointer->value_kind >= IR_VALUE_CONST)
        text = qn__arena_printf(e->arena, "((%s uchar *)%s)", qn__clc_space(e, pointer), text);
    if (!offset) return text;
    return qn__arena_printf(e->arena, "(%s %c %lluul)", text, offset < 0 ? '-' : '+',
                            offset < 0 ? 0 - (unsigned long long)offset : (unsigned long long)offset);
}

static void pointer_add(clc_emitter *e, const ir_instr *instr) {
    const char *text = moved(e, instr->operands[0], instr->attr.offset);
    const char *bytes = qn__clc_use(e, instr->operands[1]);
    qn__clc_define(e, instr->results[0], qn__arena_printf(e->arena, "%s + (long)%s", text, bytes));
}

/* The name of a type for access to memory: m_float4_16. */
static const char *memory_type(clc_emitter *e, ir_type type, unsigned align) {
    const char *value = qn__clc_type(e, type);
    const char *name = qn__arena_printf(e->arena, "m_%s_%u", value, align);
    if (qn__clc_need(e, name))
        qn__buf_printf(&e->helpers, "typedef %s %s __attribute__((aligned(%u), may_alias));\n", value, name,
                       align);
    return name;
}

/* What is accessed, as an lvalue. */
static const char *place_at(clc_emitter *e, const ir_instr *instr, ir_type type, int64_t more) {
    const ir_value *pointer = instr->operands[0];
    unsigned natural = qn__ir_memory_size(type), align = instr->attr.align ? instr->attr.align : natural;
    if (more && align > natural) align = natural;
    if (align > natural) align = natural;
    const char *name = memory_type(e, type, align);
    if (instr->flags & IR_VOLATILE) name = qn__arena_printf(e->arena, "volatile %s", name);
    const char *text = qn__clc_index(e, instr, name, natural, more);
    if (text) return text;
    return qn__arena_printf(e->arena, "*(%s %s *)%s", qn__clc_space(e, pointer), name,
                            moved(e, pointer, instr->attr.offset + more));
}

/* ---- loads and stores; three lanes one by one, for the fourth is not theirs ---- */

static void load(clc_emitter *e, const ir_instr *instr) {
    const ir_value *result = instr->results[0];
    ir_type element = qn__ir_element(result->type);
    unsigned size = qn__ir_memory_size(element);
    if (result->type.lanes == 3) {
        const char *lanes[3];
        for (unsigned i = 0; i < 3; i++) lanes[i] = place_at(e, instr, element, (int64_t)i * size);
        qn__clc_define(e, result,
                       qn__arena_printf(e->arena, "(%s)(%s, %s, %s)", qn__clc_type(e, result->type), lanes[0],
                                        lanes[1], lanes[2]));
        return;
    }
    const char *text = place_at(e, instr, result->type, 0);
    if (result->type.kind == IR_PTR)
        text = qn__arena_printf(e->arena, "(%s uchar *)%s", qn__clc_space(e, result), text);
    qn__clc_define(e, result, text);
}

static void store(clc_emitter *e, const ir_instr *instr) {
    const ir_value *value = instr->operands[1];
    ir_type element = qn__ir_element(value->type);
    unsigned size = qn__ir_memory_size(element);
    const char *text = qn__clc_use(e, value);
    if (value->type.lanes == 3) {
        for (unsigned i = 0; i < 3; i++)
            qn__clc_line(e, "%s = %s.s%u;", place_at(e, instr, element, (int64_t)i * size), text, i);
        return;
    }
    qn__clc_line(e, "%s = %s%s;", place_at(e, instr, value->type, 0),
                 value->type.kind == IR_PTR ? "(ulong)" : "", text);
}

static void copy(clc_emitter *e, const ir_instr *instr) {
    static const ir_type units[] = {
        {IR_I8, 1, 0}, {IR_I16, 1, 0}, {IR_I32, 1, 0}, {IR_I64, 1, 0}, {IR_I32, 4, 0}};
    unsigned log = 0;
    while (log < 4 && (instr->attr.align >> (log + 1)) && instr->attr.size >= (2u << log)) log++;
    const char *to = qn__clc_space(e, instr->operands[0]), *from = qn__clc_space(e, instr->operands[1]);
    const char *name = qn__arena_printf(e->arena, "qn_copy%s%s_%u", to, from, 1u << log);
    const char *unit = memory_type(e, units[log], 1u << log), *byte = memory_type(e, units[0], 1);
    if (qn__clc_need(e, name))
        qn__buf_printf(
            &e->helpers,
            "static inline void %s(%s uchar *to, const %s uchar *from, ulong size) {\n"
            "    ulong i = 0;\n"
            "    for (; i + %u <= size; i += %u) *(%s %s *)(to + i) = *(const %s %s *)(from + i);\n"
            "    for (; i < size; i++) *(%s %s *)(to + i) = *(const %s %s *)(from + i);\n}\n",
            name, to, from, 1u << log, 1u << log, to, unit, from, unit, to, byte, from, byte);
    qn__clc_line(e, "%s(%s, %s, %lluul);", name, qn__clc_use(e, instr->operands[0]),
                 qn__clc_use(e, instr->operands[1]), (unsigned long long)instr->attr.size);
}

static void prefetch(clc_emitter *e, const ir_instr *instr) {
    if (instr->operands[0]->type.space != IR_GLOBAL_SPACE) return;
    qn__clc_line(e, "prefetch((const __global uchar *)%s, %llu);",
                 moved(e, instr->operands[0], instr->attr.offset), (unsigned long long)instr->attr.size);
}

/* ---- fences ---- */

#define MEM_FENCE "mem_fence(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE)"

/* NVIDIA's mem_fence orders within the work-group only. */
void qn__clc_fence(clc_emitter *e, unsigned scope) {
    static const struct {
        const char *name, *nvidia;
    } wide[] = {{"qn_fence", "membar.gl"}, {"qn_fence_all", "membar.sys"}}, *fence;
    if (scope < IR_SCOPE_DEVICE) {
        qn__clc_line(e, MEM_FENCE ";");
        return;
    }
    fence = &wide[scope >= IR_SCOPE_ALL_DEVICES];
    if (qn__clc_need(e, fence->name))
        qn__buf_printf(&e->helpers,
                       "#ifdef __NV_CL_C_VERSION\n"
                       "#define %s() asm volatile(\"%s;\" ::: \"memory\")\n"
                       "#else\n"
                       "#define %s() " MEM_FENCE "\n"
                       "#endif\n",
                       fence->name, fence->nvidia, fence->name);
    qn__clc_line(e, "%s();", fence->name);
}

static void fence_before(clc_emitter *e, const ir_instr *instr) {
    unsigned order = instr->attr.order;
    if (order == IR_RELEASE || order == IR_ACQ_REL || order == IR_SEQ_CST)
        qn__clc_fence(e, instr->attr.scope);
}

static void fence_after(clc_emitter *e, const ir_instr *instr) {
    unsigned order = instr->attr.order, fails = instr->op == IR_ATOMIC_CAS ? instr->attr.order_fail : 0u;
    bool acquires = order == IR_ACQUIRE || order == IR_ACQ_REL || order == IR_SEQ_CST;
    if (acquires || fails == IR_ACQUIRE || fails == IR_SEQ_CST) qn__clc_fence(e, instr->attr.scope);
}

/* ---- atomics ---- */

static bool is_long(ir_type type) { return qn__ir_bits(type) == 64; }

/* Memory that others see; private memory has no atomics in OpenCL C. */
static bool is_shared(const ir_value *pointer) {
    return pointer->type.space == IR_GLOBAL_SPACE || pointer->type.space == IR_LOCAL_SPACE;
}

/* "atomic_add", or "atom_add" for 64 bits. */
static const char *prefix(clc_emitter *e, ir_type type) {
    if (!is_long(type)) return "atomic_";
    e->uses_64_atomic = true;
    if (e->options->target.lacks_i64_atomics)
        qn__clc_error(e, "the device has no atomics on 64-bit integers");
    return "atom_";
}

static const char *bits_of(clc_emitter *e, const ir_value *value) {
    const char *text = qn__clc_use(e, value);
    if (!qn__ir_is_float(value->type)) return text;
    return qn__arena_printf(e->arena, "as_%s(%s)", is_long(value->type) ? "ulong" : "uint", text);
}

static const char *from_bits(clc_emitter *e, ir_type type, const char *text) {
    return qn__ir_is_float(type) ? qn__arena_printf(e->arena, "as_%s(%s)", qn__clc_type(e, type), text)
                                 : text;
}

static const char *atomic_place(clc_emitter *e, const ir_instr *instr, const char *type) {
    return qn__arena_printf(e->arena, "(volatile %s %s *)%s", qn__clc_space(e, instr->operands[0]), type,
                            moved(e, instr->operands[0], instr->attr.offset));
}

/* How two values join where there is no atomic function for it; a is the old one. */
static const char *const joined[IR_COMBINE_COUNT] = {
    [IR_COMBINE_ADD] = "a + b",
    [IR_COMBINE_SUB] = "a - b",
    [IR_COMBINE_XCHG] = "b",
    [IR_COMBINE_AND] = "a & b",
    [IR_COMBINE_OR] = "a | b",
    [IR_COMBINE_XOR] = "a ^ b",
    [IR_COMBINE_SMIN] = "(long)a < (long)b ? a : b",
    [IR_COMBINE_SMAX] = "(long)a > (long)b ? a : b",
    [IR_COMBINE_UMIN] = "min(a, b)",
    [IR_COMBINE_UMAX] = "max(a, b)",
    [IR_COMBINE_FADD] = "a + b",
    [IR_COMBINE_FMIN] = "fmin(a, b)",
    [IR_COMBINE_FMAX] = "fmax(a, b)",
};

/* Read-modify-write by a function of our own: a loop of compare-and-exchange, or plain on private memory. */
static const char *rmw_helper(clc_emitter *e, const ir_instr *instr) {
    ir_type type = instr->results[0]->type;
    unsigned combine = instr->attr.combine;
    const char *space = qn__clc_space(e, instr->operands[0]), *value = qn__clc_type(e, type);
    const char *bits = is_long(type) ? "ulong" : "uint";
    const char *name = qn__arena_printf(e->arena, "qn_%s%s_%s", qn__ir_combine_name(combine), space, value);
    if (!qn__clc_need(e, name)) return name;
    const char *join = joined[combine];
    if (!is_long(type) && combine == IR_COMBINE_SMIN) join = "(int)a < (int)b ? a : b";
    if (!is_long(type) && combine == IR_COMBINE_SMAX) join = "(int)a > (int)b ? a : b";
    qn__buf_printf(&e->helpers, "static inline %s %s(volatile %s %s *p, %s b) {\n", value, name, space, bits,
                   value);
    if (is_shared(instr->operands[0])) {
        qn__buf_printf(&e->helpers,
                       "    %s old = *p;\n    for (;;) {\n        %s a = as_%s(old);\n        %s new_ = "
                       "as_%s((%s)(%s));\n"
                       "        %s seen = %scmpxchg(p, old, new_);\n"
                       "        if (seen == old) return a;\n        old = seen;\n    }\n}\n",
                       bits, value, value, bits, bits, value, join, bits, prefix(e, type));
    } else {
        qn__buf_printf(&e->helpers, "    %s a = as_%s(*p);\n    *p = as_%s((%s)(%s));\n    return a;\n}\n",
                       value, value, bits, value, join);
    }
    return name;
}

static const char *rmw_function(unsigned combine) {
    static const char *const names[IR_COMBINE_COUNT] = {"add", "sub", "xchg", "and", "or",
                                                        "xor", "min", "max",  "min", "max"};
    return names[combine];
}

static void atomic_rmw(clc_emitter *e, const ir_instr *instr) {
    const ir_value *result = instr->results[0];
    ir_type type = result->type;
    unsigned combine = instr->attr.combine;
    const char *function = rmw_function(combine), *bits = is_long(type) ? "ulong" : "uint", *text;
    const bool is_signed = qn__ir_combine_is_signed(combine);
    if (function && is_shared(instr->operands[0])) {
        const char *sign = is_long(type) ? "long" : "int";
        text = qn__arena_printf(e->arena, is_signed ? "(%s)%s%s(%s, (%s)%s)" : "(%s)%s%s(%s, (%s)(%s))", bits,
                                prefix(e, type), function, atomic_place(e, instr, is_signed ? sign : bits),
                                is_signed ? sign : bits, bits_of(e, instr->operands[1]));
        text = from_bits(e, type, text);
    } else {
        text = qn__arena_printf(e->arena, "%s(%s, %s)", rmw_helper(e, instr), atomic_place(e, instr, bits),
                                qn__clc_use(e, instr->operands[1]));
    }
    fence_before(e, instr);
    qn__clc_define(e, result, text);
    fence_after(e, instr);
}

static void atomic_cas(clc_emitter *e, const ir_instr *instr) {
    ir_type type = instr->results[0]->type;
    const char *bits = is_long(type) ? "ulong" : "uint", *space = qn__clc_space(e, instr->operands[0]);
    const char *function = qn__arena_printf(e->arena, "%scmpxchg", prefix(e, type));
    if (!is_shared(instr->operands[0])) {
        function = qn__arena_printf(e->arena, "qn_cas%s_%s", space, bits);
        if (qn__clc_need(e, function))
            qn__buf_printf(&e->helpers,
                           "static inline %s %s(volatile %s %s *p, %s a, %s b) {\n    %s old = *p;\n"
                           "    if (old == a) *p = b;\n    return old;\n}\n",
                           bits, function, space, bits, bits, bits, bits);
    }
    fence_before(e, instr);
    const char *text = qn__arena_printf(e->arena, "%s(%s, %s, %s)", function, atomic_place(e, instr, bits),
                                        bits_of(e, instr->operands[1]), bits_of(e, instr->operands[2]));
    qn__clc_define(e, instr->results[0], from_bits(e, type, text));
    fence_after(e, instr);
}

static void atomic_load(clc_emitter *e, const ir_instr *instr) {
    ir_type type = instr->results[0]->type;
    const char *place = atomic_place(e, instr, is_long(type) ? "ulong" : "uint");
    if (instr->attr.order == IR_SEQ_CST) qn__clc_fence(e, instr->attr.scope);
    qn__clc_define(e, instr->results[0], from_bits(e, type, qn__arena_printf(e->arena, "*(%s)", place)));
    fence_after(e, instr);
}

static void atomic_store(clc_emitter *e, const ir_instr *instr) {
    ir_type type = instr->operands[1]->type;
    fence_before(e, instr);
    qn__clc_line(e, "*(%s) = %s;", atomic_place(e, instr, is_long(type) ? "ulong" : "uint"),
                 bits_of(e, instr->operands[1]));
    if (instr->attr.order == IR_SEQ_CST) qn__clc_fence(e, instr->attr.scope);
}

/* ---- the choice ---- */

bool qn__clc_memory(clc_emitter *e, const ir_instr *instr) {
    switch (instr->op) {
    case IR_LOCAL:
        qn__clc_define(e, instr->results[0], qn__arena_printf(e->arena, "local%u", instr->attr.index));
        return true;
    case IR_GLOBAL:
        e->global_used[instr->attr.index] = true;
        qn__clc_define(e, instr->results[0],
                       qn__arena_printf(e->arena, "(__constant uchar *)&constant%u", instr->attr.index));
        return true;
    case IR_INT2PTR:
        qn__clc_define(e, instr->results[0],
                       qn__arena_printf(e->arena, "(%s uchar *)%s", qn__clc_space(e, instr->results[0]),
                                        qn__clc_use(e, instr->operands[0])));
        return true;
    case IR_PTR_ADD: pointer_add(e, instr); return true;
    case IR_LOAD: load(e, instr); return true;
    case IR_STORE: store(e, instr); return true;
    case IR_COPY: copy(e, instr); return true;
    case IR_ATOMIC_LOAD: atomic_load(e, instr); return true;
    case IR_ATOMIC_STORE: atomic_store(e, instr); return true;
    case IR_ATOMIC_RMW: atomic_rmw(e, instr); return true;
    case IR_ATOMIC_CAS: atomic_cas(e, instr); return true;
    case IR_FENCE: qn__clc_fence(e, instr->attr.scope); return true;
    case IR_PREFETCH: prefetch(e, instr); return true;
    default: return false;
    }
}
