/* Atomics and fences of the PTX target. With an order stronger than relaxed there are two ways: the qualifiers of
   PTX's memory model (sm_70, ISA 6.0) where the device is known to have it, else fences on both sides, which any
   device understands. */
#include "emit/ptx/internal.h"

static const char *scope_name(unsigned scope) {
    return scope >= IR_SCOPE_ALL_DEVICES ? ".sys" : scope == IR_SCOPE_DEVICE ? ".gpu" : ".cta";
}

static bool has_model(ptx_emitter *e) { return e->arch >= 70; }

static void membar(ptx_emitter *e, unsigned scope) {
    qn__ptx(e, "membar.~;", scope >= IR_SCOPE_ALL_DEVICES ? "sys" : scope == IR_SCOPE_DEVICE ? "gl" : "cta");
}

/* What an access is qualified with. */
typedef struct ordered {
    const char *sem, *scope;
    bool fence_after;
} ordered;

static bool acquires(unsigned order) { return order != IR_RELAXED && order != IR_RELEASE; }
static bool releases(unsigned order) { return order != IR_RELAXED && order != IR_ACQUIRE; }

/* Writes what must come before a read-modify-write. Without a word the scope is the device. */
static ordered begin(ptx_emitter *e, unsigned order, unsigned scope, bool shared) {
    ordered o = {"", shared || scope == IR_SCOPE_DEVICE ? "" : scope_name(scope), false};
    if (order == IR_RELAXED) return o;
    if (!has_model(e)) {
        if (releases(order)) membar(e, scope);
        o.fence_after = acquires(order);
        return o;
    }
    qn__ptx_require(e, 70, 60);
    if (order == IR_SEQ_CST) qn__ptx(e, "fence.sc~;", scope_name(scope));
    o.sem = order == IR_ACQUIRE ? ".acquire" : order == IR_RELEASE ? ".release" : ".acq_rel";
    o.scope = scope_name(scope);
    return o;
}

static void end(ptx_emitter *e, ordered o, unsigned scope) {
    if (o.fence_after) membar(e, scope);
}

/* ---- read-modify-write ---- */

static const char *rmw_name(unsigned combine, ir_kind kind) {
    static const char *const names[IR_COMBINE_COUNT][2] = {
        [IR_COMBINE_ADD] = {"add.u32", "add.u64"},    [IR_COMBINE_SUB] = {"add.u32", "add.u64"},
        [IR_COMBINE_XCHG] = {"exch.b32", "exch.b64"}, [IR_COMBINE_AND] = {"and.b32", "and.b64"},
        [IR_COMBINE_OR] = {"or.b32", "or.b64"},       [IR_COMBINE_XOR] = {"xor.b32", "xor.b64"},
        [IR_COMBINE_SMIN] = {"min.s32", "min.s64"},   [IR_COMBINE_SMAX] = {"max.s32", "max.s64"},
        [IR_COMBINE_UMIN] = {"min.u32", "min.u64"},   [IR_COMBINE_UMAX] = {"max.u32", "max.u64"},
        [IR_COMBINE_FADD] = {"add.f32", "add.f64"},
    };
    return names[combine][kind == IR_I64 || kind == IR_F64];
}

static ptx_class class_of(ir_kind kind) { return kind == IR_I64 || kind == IR_F64 ? PTX_B64 : PTX_B32; }

static ptx_operand negated(ptx_emitter *e, ptx_operand a) {
    bool wide = a.cls == PTX_B64;
    return qn__ptx_op2(e, wide ? "sub.s64" : "sub.s32", (ptx_class)a.cls, qn__ptx_int((ptx_class)a.cls, 0),
                       a);
}

static const char *bits_name(ptx_class cls) { return cls == PTX_B64 ? "b64" : "b32"; }

static ptx_operand cas(ptx_emitter *e, const ptx_place *place, ordered o, ptx_operand expected,
                       ptx_operand desired) {
    ptx_operand old = qn__ptx_new(e, (ptx_class)desired.cls);
    qn__ptx(e, "atom~~.~.cas.~ =, [$+#], $, $;", o.sem, o.scope, place->space,
            bits_name((ptx_class)desired.cls), old, place->base, place->offset, expected, desired);
    return old;
}

/* What there is no instruction for: try until nobody came between. */
static ptx_operand rmw_loop(ptx_emitter *e, const ptx_place *place, ordered o, unsigned combine, ir_kind kind,
                            ptx_operand value) {
    ptx_class cls = class_of(kind);
    ptx_operand old = qn__ptx_new(e, cls), again = qn__ptx_new(e, PTX_PRED);
    uint32_t head = e->next_label++;
    qn__ptx(e, "ld.volatile.~.~ =, [$+#];", place->space, bits_name(cls), old, place->base, place->offset);
    qn__ptx_label(e, head);
    ptx_operand desired = qn__ptx_combine(e, (ir_combine)combine, kind, old, value);
    ptx_operand found = cas(e, place, o, old, desired);
    qn__ptx(e, "setp.ne.~ =, $, $;", cls == PTX_B64 ? "s64" : "s32", again, found, old);
    qn__ptx_move(e, old, found);
    qn__ptx(e, "@$ bra L#;", again, (int64_t)head);
    return old;
}

/* Private memory is nobody else's. */
static ptx_operand rmw_own(ptx_emitter *e, const ptx_place *place, unsigned combine, ir_kind kind,
                           ptx_operand value) {
    ptx_class cls = class_of(kind);
    ptx_operand old = qn__ptx_new(e, cls);
    qn__ptx(e, "ld.local.~ =, [$+#];", bits_name(cls), old, place->base, place->offset);
    ptx_operand desired = qn__ptx_combine(e, (ir_combine)combine, kind, old, value);
    qn__ptx(e, "st.local.~ [$+#], $;", bits_name(cls), place->base, place->offset, desired);
    return old;
}

static void rmw(ptx_emitter *e, const ir_instr *instr) {
    const ir_value *pointer = instr->operands[0], *result = instr->results[0];
    const ir_kind kind = (ir_kind)result->type.kind;
    const unsigned combine = instr->attr.combine, order = instr->attr.order, scope = instr->attr.scope;
    ptx_place place = qn__ptx_place(e, pointer, instr->attr.offset);
    ptx_operand value = qn__ptx_use(e, instr->operands[1], 0);
    if (pointer->type.space == IR_PRIVATE) {
        qn__ptx_define(e, result, 0, rmw_own(e, &place, combine, kind, value));
        return;
    }
    const char *name = rmw_name(combine, kind);
    ordered o = begin(e, order, scope, pointer->type.space == IR_LOCAL_SPACE);
    bool unused = !e->uses[result->id] && combine != IR_COMBINE_XCHG && (!o.sem[0] || order == IR_RELEASE);
    if (combine == IR_COMBINE_SUB) value = negated(e, value);
    ptx_operand old = qn__ptx_int(class_of(kind), 0);
    if (!name) {
        old = rmw_loop(e, &place, o, combine, kind, value);
    } else if (unused) {
        qn__ptx(e, "red~~.~.~ [$+#], $;", o.sem, o.scope, place.space, name, place.base, place.offset, value);
    } else {
        old = qn__ptx_new(e, class_of(kind));
        qn__ptx(e, "atom~~.~.~ =, [$+#], $;", o.sem, o.scope, place.space, name, old, place.base,
                place.offset, value);
    }
    end(e, o, scope);
    qn__ptx_define(e, result, 0, old);
}

static unsigned joined_order(const ir_instr *instr) {
    unsigned order = instr->attr.order, fail = instr->attr.order_fail;
    if (order == IR_SEQ_CST || fail == IR_SEQ_CST) return IR_SEQ_CST;
    if (!acquires(fail) || acquires(order)) return order;
    return order == IR_RELEASE ? IR_ACQ_REL : IR_ACQUIRE;
}

static void compare_and_swap(ptx_emitter *e, const ir_instr *instr) {
    const ir_value *pointer = instr->operands[0], *result = instr->results[0];
    ptx_place place = qn__ptx_place(e, pointer, instr->attr.offset);
    ptx_operand expected = qn__ptx_use(e, instr->operands[1], 0),
                desired = qn__ptx_use(e, instr->operands[2], 0);
    ptx_class cls = class_of((ir_kind)result->type.kind);
    if (expected.kind == PTX_FLOAT) expected.kind = PTX_INT;
    if (desired.kind == PTX_FLOAT) desired.kind = PTX_INT;
    ptx_operand old;
    if (pointer->type.space == IR_PRIVATE) {
        bool wide = cls == PTX_B64;
        old = qn__ptx_new(e, cls);
        qn__ptx(e, "ld.local.~ =, [$+#];", bits_name(cls), old, place.base, place.offset);
        ptx_operand same = qn__ptx_op2(e, wide ? "setp.eq.s64" : "setp.eq.s32", PTX_PRED, old, expected);
        desired = qn__ptx_op3(e, wide ? "selp.b64" : "selp.b32", cls, desired, old, same);
        qn__ptx(e, "st.local.~ [$+#], $;", bits_name(cls), place.base, place.offset, desired);
    } else {
        ordered o = begin(e, joined_order(instr), instr->attr.scope, pointer->type.space == IR_LOCAL_SPACE);
        old = cas(e, &place, o, expected, desired);
        end(e, o, instr->attr.scope);
    }
    qn__ptx_define(e, result, 0, old);
}

/* ---- loads, stores, fences ---- */

static void atomic_load(ptx_emitter *e, const ir_instr *instr) {
    const ir_value *pointer = instr->operands[0], *result = instr->results[0];
    const unsigned order = instr->attr.order, scope = instr->attr.scope;
    ptx_place place = qn__ptx_place(e, pointer, instr->attr.offset);
    ptx_class cls = class_of((ir_kind)result->type.kind);
    ptx_operand r = qn__ptx_new(e, cls);
    bool own = pointer->type.space == IR_PRIVATE;
    if (own || !has_model(e)) {
        if (order == IR_SEQ_CST && !own) membar(e, scope);
        qn__ptx(e, "ld~.~.~ =, [$+#];", own ? "" : ".volatile", place.space, bits_name(cls), r, place.base,
                place.offset);
        if (acquires(order) && !own) membar(e, scope);
    } else {
        qn__ptx_require(e, 70, 60);
        if (order == IR_SEQ_CST) qn__ptx(e, "fence.sc~;", scope_name(scope));
        qn__ptx(e, "ld~~.~.~ =, [$+#];", acquires(order) ? ".acquire" : ".relaxed", scope_name(scope),
                place.space, bits_name(cls), r, place.base, place.offset);
    }
    qn__ptx_define(e, result, 0, r);
}

static void atomic_store(ptx_emitter *e, const ir_instr *instr) {
    const ir_value *pointer = instr->operands[0], *value = instr->operands[1];
    const unsigned order = instr->attr.order, scope = instr->attr.scope;
    ptx_place place = qn__ptx_place(e, pointer, instr->attr.offset);
    const char *bits = bits_name(class_of((ir_kind)value->type.kind));
    ptx_operand a = qn__ptx_use(e, value, 0);
    bool own = pointer->type.space == IR_PRIVATE;
    if (own || !has_model(e)) {
        if (releases(order) && !own) membar(e, scope);
        qn__ptx(e, "st~.~.~ [$+#], $;", own ? "" : ".volatile", place.space, bits, place.base, place.offset,
                a);
        if (order == IR_SEQ_CST && !own) membar(e, scope);
        return;
    }
    qn__ptx_require(e, 70, 60);
    if (order == IR_SEQ_CST) qn__ptx(e, "fence.sc~;", scope_name(scope));
    qn__ptx(e, "st~~.~.~ [$+#], $;", releases(order) ? ".release" : ".relaxed", scope_name(scope),
            place.space, bits, place.base, place.offset, a);
}

static void fence(ptx_emitter *e, const ir_instr *instr) {
    const unsigned order = instr->attr.order, scope = instr->attr.scope;
    if (order == IR_RELAXED || scope == IR_SCOPE_WORK_ITEM) return;
    if (!has_model(e)) {
        membar(e, scope);
        return;
    }
    qn__ptx_require(e, 70, 60);
    qn__ptx(e, "fence~~;", order == IR_SEQ_CST ? ".sc" : ".acq_rel", scope_name(scope));
}

bool qn__ptx_atomic(ptx_emitter *e, const ir_instr *instr) {
    switch (instr->op) {
    case IR_ATOMIC_LOAD: atomic_load(e, instr); return true;
    case IR_ATOMIC_STORE: atomic_store(e, instr); return true;
    case IR_ATOMIC_RMW: rmw(e, instr); return true;
    case IR_ATOMIC_CAS: compare_and_swap(e, instr); return true;
    case IR_FENCE: fence(e, instr); return true;
    default: return false;
    }
}
