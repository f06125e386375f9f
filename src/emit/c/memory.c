/* Memory in the C target: loads, stores, copies, atomics, printf.
   A work-group runs on one thread, so atomics on local memory are plain reads and writes. */
#include "emit/c/internal.h"

/* ---- loads and stores ---- */

static const char *memory_type(ir_kind kind) { return kind == IR_F16 ? "u16" : qn__c_scalar(kind); }

static unsigned lane_size(ir_type type) { return qn__ir_bits(type) / 8; }

/* A lane in memory as an lvalue. */
static const char *storage_at(c_emitter *e, const ir_instr *instr, ir_type type, unsigned lane) {
    const char *pointer = qn__c_use(e, instr->operands[0], 0), *name = memory_type((ir_kind)type.kind);
    int64_t offset = instr->attr.offset + (int64_t)lane * lane_size(type);
    if (instr->attr.align && instr->attr.align < lane_size(type)) {
        qn__c_pattern with = {.result = type.kind == IR_F16 ? IR_I16 : (ir_kind)type.kind};
        bool pointer_type = type.kind == IR_PTR;
        if (pointer_type) {
            if (qn__c_need(e, "ptr_near"))
                qn__buf_puts(&e->helpers, "typedef u8 *ptr_near __attribute__((aligned(1), may_alias));\n");
            name = "ptr_near";
        } else {
            name = qn__c_helper(e, "%t_near", "typedef %t %t_near __attribute__((aligned(1), may_alias));\n",
                                &with);
        }
    }
    const char *qualifier = instr->flags & IR_VOLATILE ? "volatile " : "";
    if (type.kind == IR_PTR && name[0] == 'u') {
        qualifier = "";
        name = instr->flags & IR_VOLATILE ? "u8 *volatile " : "u8 *";
    }
    if (offset == 0) return qn__arena_printf(e->arena, "*(%s%s *)%s", qualifier, name, pointer);
    return qn__arena_printf(e->arena, "*(%s%s *)(%s %c %lld)", qualifier, name, pointer,
                            offset < 0 ? '-' : '+', (long long)(offset < 0 ? -offset : offset));
}

static void emit_load(c_emitter *e, const ir_instr *instr) {
    const ir_value *result = instr->results[0];
    for (unsigned lane = 0; lane < result->type.lanes; lane++) {
        const char *text = storage_at(e, instr, result->type, lane);
        if (result->type.kind == IR_F16) text = qn__c_half_to_float(e, text);
        qn__c_define(e, result, lane, text);
    }
}

static void emit_store(c_emitter *e, const ir_instr *instr) {
    const ir_value *value = instr->operands[1];
    for (unsigned lane = 0; lane < value->type.lanes; lane++) {
        const char *text = qn__c_use(e, value, lane);
        if (value->type.kind == IR_F16) text = qn__c_float_to_half(e, text);
        qn__c_line(e, "%s = %s;", storage_at(e, instr, value->type, lane), text);
    }
}

static void emit_copy(c_emitter *e, const ir_instr *instr) {
    qn__c_line(e, "__builtin_memmove(%s, %s, %lluUL);", qn__c_use(e, instr->operands[0], 0),
               qn__c_use(e, instr->operands[1], 0), (unsigned long long)instr->attr.size);
}

/* ---- combining ---- */

static const char *const combine_patterns[IR_COMBINE_COUNT] = {
    [IR_COMBINE_ADD] = "(%t)((%n)%a + (%n)%b)",
    [IR_COMBINE_SUB] = "(%t)((%n)%a - (%n)%b)",
    [IR_COMBINE_XCHG] = "%b",
    [IR_COMBINE_AND] = "(%a & %b)",
    [IR_COMBINE_OR] = "(%a | %b)",
    [IR_COMBINE_XOR] = "(%a ^ %b)",
    [IR_COMBINE_SMIN] = "(%a < %b ? %a : %b)",
    [IR_COMBINE_SMAX] = "(%a > %b ? %a : %b)",
    [IR_COMBINE_UMIN] = "((%u)%a < (%u)%b ? %a : %b)",
    [IR_COMBINE_UMAX] = "((%u)%a > (%u)%b ? %a : %b)",
    [IR_COMBINE_FADD] = "(%a + %b)",
    [IR_COMBINE_FMIN] = "(%b != %b || %a < %b ? %a : %b)",
    [IR_COMBINE_FMAX] = "(%b != %b || %a > %b ? %a : %b)",
    [IR_COMBINE_MUL] = "(%t)((%n)%a * (%n)%b)",
    [IR_COMBINE_FMUL] = "(%a * %b)",
};

const char *qn__c_combine(c_emitter *e, ir_combine combine, ir_kind kind, const char *a, const char *b) {
    qn__buf text;
    qn__buf_init(&text, e->arena);
    qn__c_pattern with = {.result = kind, .operand = kind, .a = a, .b = b, .c = ""};
    qn__c_expand(&text, combine_patterns[combine], &with);
    bool rounds = combine == IR_COMBINE_FADD || combine == IR_COMBINE_FMUL;
    return kind == IR_F16 && rounds ? qn__c_round_f16(e, text.data) : text.data;
}

/* ---- atomics ---- */

static const char *const orders[] = {"__ATOMIC_RELAXED", "__ATOMIC_ACQUIRE", "__ATOMIC_RELEASE",
                                     "__ATOMIC_ACQ_REL", "__ATOMIC_SEQ_CST"};

static const char *order_of(unsigned order) { return orders[order <= IR_SEQ_CST ? order : IR_SEQ_CST]; }

static bool is_own(const ir_value *pointer) {
    return pointer->type.space == IR_LOCAL_SPACE || pointer->type.space == IR_PRIVATE;
}

/* The pointer with the constant offset. */
static const char *address_of(c_emitter *e, const ir_instr *instr) {
    const char *pointer = qn__c_use(e, instr->operands[0], 0);
    if (!instr->attr.offset) return pointer;
    return qn__arena_printf(e->arena, "(%s + %lldL)", pointer, (long long)instr->attr.offset);
}

static const char *rmw_in_one(unsigned combine, bool is_float) {
    if (is_float) return NULL;
    switch (combine) {
    case IR_COMBINE_ADD: return "__atomic_fetch_add";
    case IR_COMBINE_SUB: return "__atomic_fetch_sub";
    case IR_COMBINE_XCHG: return "__atomic_exchange_n";
    case IR_COMBINE_AND: return "__atomic_fetch_and";
    case IR_COMBINE_OR: return "__atomic_fetch_or";
    case IR_COMBINE_XOR: return "__atomic_fetch_xor";
    default: return NULL;
    }
}

static void emit_rmw(c_emitter *e, const ir_instr *instr) {
    const ir_value *result = instr->results[0];
    ir_kind kind = (ir_kind)result->type.kind;
    unsigned combine = instr->attr.combine;
    const char *type = qn__c_scalar(kind), *bits = qn__c_unsigned(kind);
    const char *address = address_of(e, instr), *value = qn__c_use(e, instr->operands[1], 0);
    bool own = is_own(instr->operands[0]), is_float = qn__ir_is_float(result->type);
    const char *function = rmw_in_one(combine, is_float);
    if (function && !own) {
        const char *text = qn__arena_printf(e->arena, "%s((%s *)%s, %s, %s)", function, type, address, value,
                                            order_of(instr->attr.order));
        qn__c_define(e, result, 0, text);
        return;
    }
    const char *name =
        qn__arena_printf(e->arena, "qn_%s_%s_%s", own ? "own" : "atomic", qn__ir_combine_name(combine), type);
    if (qn__c_need(e, name)) {
        const char *joined = qn__c_combine(e, (ir_combine)combine, kind, "old.v", "b");
        qn__buf_printf(&e->helpers,
                       "static inline %s %s(u8 *p, %s b) {\n    union { %s u; %s v; } old, new;\n", type,
                       name, type, bits, type);
        if (own) {
            qn__buf_printf(&e->helpers, "    old.u = *(%s *)p;\n    new.v = %s;\n    *(%s *)p = new.u;\n",
                           bits, joined, bits);
        } else {
            qn__buf_printf(
                &e->helpers,
                "    old.u = __atomic_load_n((%s *)p, __ATOMIC_RELAXED);\n    do {\n        new.v = %s;\n"
                "    } while (!__atomic_compare_exchange_n((%s *)p, &old.u, new.u, 1, __ATOMIC_SEQ_CST, "
                "__ATOMIC_RELAXED));\n",
                bits, joined, bits);
        }
        qn__buf_puts(&e->helpers, "    return old.v;\n}\n");
    }
    qn__c_define(e, result, 0, qn__arena_printf(e->arena, "%s(%s, %s)", name, address, value));
}

/* Compares bits, so floats come in and go out through unions. */
static void emit_cas(c_emitter *e, const ir_instr *instr) {
    const ir_value *result = instr->results[0];
    ir_kind kind = (ir_kind)result->type.kind;
    const char *type = qn__c_scalar(kind), *bits = qn__c_unsigned(kind);
    bool own = is_own(instr->operands[0]);
    const char *name = qn__arena_printf(e->arena, "qn_%s_cas_%s", own ? "own" : "atomic", type);
    if (qn__c_need(e, name)) {
        qn__buf_printf(&e->helpers,
                       "static inline %s %s(u8 *p, %s expected, %s desired) {\n"
                       "    union { %s v; %s u; } old = {expected}, new = {desired};\n",
                       type, name, type, type, type, bits);
        if (own) {
            qn__buf_printf(
                &e->helpers,
                "    %s found = *(%s *)p;\n    if (found == old.u) *(%s *)p = new.u;\n    old.u = found;\n",
                bits, bits, bits);
        } else {
            qn__buf_printf(&e->helpers,
                           "    __atomic_compare_exchange_n((%s *)p, &old.u, new.u, 0, __ATOMIC_SEQ_CST, "
                           "__ATOMIC_SEQ_CST);\n",
                           bits);
        }
        qn__buf_puts(&e->helpers, "    return old.v;\n}\n");
    }
    qn__c_define(e, result, 0,
                 qn__arena_printf(e->arena, "%s(%s, %s, %s)", name, address_of(e, instr),
                                  qn__c_use(e, instr->operands[1], 0), qn__c_use(e, instr->operands[2], 0)));
}

static void emit_atomic_load(c_emitter *e, const ir_instr *instr) {
    const ir_value *result = instr->results[0];
    ir_kind kind = (ir_kind)result->type.kind;
    const char *name = qn__arena_printf(e->arena, "qn_atomic_load_%s", qn__c_scalar(kind));
    if (qn__c_need(e, name)) {
        qn__buf_printf(
            &e->helpers,
            "static inline %s %s(u8 *p) {\n    union { %s u; %s v; } x = {__atomic_load_n((%s *)p, "
            "__ATOMIC_SEQ_CST)};\n    return x.v;\n}\n",
            qn__c_scalar(kind), name, qn__c_unsigned(kind), qn__c_scalar(kind), qn__c_unsigned(kind));
    }
    qn__c_define(e, result, 0, qn__arena_printf(e->arena, "%s(%s)", name, address_of(e, instr)));
}

static void emit_atomic_store(c_emitter *e, const ir_instr *instr) {
    const ir_value *value = instr->operands[1];
    ir_kind kind = (ir_kind)value->type.kind;
    unsigned order = instr->attr.order;
    const char *name = qn__arena_printf(e->arena, "qn_atomic_store_%s%s", qn__c_scalar(kind),
                                        order == IR_SEQ_CST ? "_seq_cst" : "");
    if (qn__c_need(e, name)) {
        qn__buf_printf(&e->helpers,
                       "static inline void %s(u8 *p, %s v) {\n    union { %s v; %s u; } x = {v};\n"
                       "    __atomic_store_n((%s *)p, x.u, %s);\n}\n",
                       name, qn__c_scalar(kind), qn__c_scalar(kind), qn__c_unsigned(kind),
                       qn__c_unsigned(kind), order == IR_SEQ_CST ? "__ATOMIC_SEQ_CST" : "__ATOMIC_RELEASE");
    }
    qn__c_line(e, "%s(%s, %s);", name, address_of(e, instr), qn__c_use(e, value, 0));
}

/* ---- printf ---- */

static void printf_value(c_emitter *e, const ir_value *value, uint64_t *at) {
    unsigned size = lane_size(value->type);
    for (unsigned lane = 0; lane < value->type.lanes; lane++) {
        *at = (*at + size - 1) / size * size;
        const char *text = qn__c_use(e, value, lane);
        if (value->type.kind == IR_F16) text = qn__c_float_to_half(e, text);
        const char *type = memory_type((ir_kind)value->type.kind);
        qn__c_line(e, "*(%s *)(values + %llu) = %s;", type, (unsigned long long)*at, text);
        *at += size;
    }
}

static void emit_printf(c_emitter *e, const ir_instr *instr) {
    uint64_t size = 0, at = 0;
    for (uint32_t i = 0; i < instr->num_operands; i++)
        size += (uint64_t)instr->operands[i]->type.lanes * lane_size(instr->operands[i]->type) + 8;
    const ir_value *result = instr->results[0];
    const ir_global *format = &e->module->globals.data[instr->attr.index];
    bool used = e->plan->uses[result->id] != 0;
    e->uses_printf = true;
    const char *status = qn__arena_printf(e->arena, "printed%u", e->next_label++);
    if (used) qn__c_line(e, "i32 %s;", status);
    qn__c_open(e, "{");
    qn__c_line(e, "u8 values[%llu] __attribute__((aligned(8)));", (unsigned long long)(size ? size : 1));
    for (uint32_t i = 0; i < instr->num_operands; i++) printf_value(e, instr->operands[i], &at);
    qn__buf text;
    qn__buf_init(&text, e->arena);
    qn__c_quote(&text, qn__arena_strndup(e->arena, (const char *)format->data, format->size));
    qn__c_line(e, "%s%slaunch->services->print(launch->services->user, %s, values, %llu);",
               used ? status : "", used ? " = " : "", text.data, (unsigned long long)at);
    qn__c_close(e, "}");
    if (used) qn__c_define(e, result, 0, status);
}

/* ---- the choice ---- */

bool qn__c_memory(c_emitter *e, ir_instr *instr) {
    switch (instr->op) {
    case IR_LOAD: emit_load(e, instr); return true;
    case IR_STORE: emit_store(e, instr); return true;
    case IR_COPY: emit_copy(e, instr); return true;
    case IR_ATOMIC_LOAD: emit_atomic_load(e, instr); return true;
    case IR_ATOMIC_STORE: emit_atomic_store(e, instr); return true;
    case IR_ATOMIC_RMW: emit_rmw(e, instr); return true;
    case IR_ATOMIC_CAS: emit_cas(e, instr); return true;
    case IR_FENCE: qn__c_line(e, "__atomic_thread_fence(%s);", order_of(instr->attr.order)); return true;
    case IR_PREFETCH: qn__c_line(e, "__builtin_prefetch(%s);", address_of(e, instr)); return true;
    case IR_PRINTF: emit_printf(e, instr); return true;
    case IR_PANEL_PRODUCT: qn__c_panel_product(e, instr); return true;
    default: return false;
    }
}
