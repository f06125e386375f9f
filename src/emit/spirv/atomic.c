/* Atomics and fences for SPIR-V, in the Vulkan memory model. Sequential consistency is not in it: acquire and
   release stand for it. The scope of the device is that of its queues' family, which needs no capability. Floats
   are exchanged as the integers of their bits; what there is no instruction for is a loop around compare and
   exchange. Private memory is nobody else's: there they are plain accesses. */
#include "emit/spirv/internal.h"

uint32_t qn__spv_scope(spv *e, unsigned scope) {
    if (!qn__spv_is_vulkan(e) && scope >= IR_SCOPE_DEVICE) return qn__spv_u32(e, SP_SCOPE_DEVICE);
    switch (scope) {
    case IR_SCOPE_WORK_ITEM: return qn__spv_u32(e, SP_SCOPE_INVOCATION);
    case IR_SCOPE_SUB_GROUP: return qn__spv_u32(e, SP_SCOPE_SUBGROUP);
    case IR_SCOPE_WORK_GROUP: return qn__spv_u32(e, SP_SCOPE_WORKGROUP);
    case IR_SCOPE_DEVICE: return qn__spv_u32(e, SP_SCOPE_QUEUE_FAMILY);
    default: qn__spv_need(e, CAP_DEVICE_SCOPE); return qn__spv_u32(e, SP_SCOPE_DEVICE);
    }
}

static uint32_t semantics(spv *e, unsigned order, bool loads, bool stores) {
    uint32_t memory = SP_UNIFORM_MEMORY | SP_WORKGROUP_MEMORY;
    bool acquires = loads && order != IR_RELAXED && order != IR_RELEASE;
    bool releases = stores && order != IR_RELAXED && order != IR_ACQUIRE;
    uint32_t bits = acquires && releases ? SP_ACQUIRE_RELEASE
                    : acquires           ? SP_ACQUIRE
                    : releases           ? SP_RELEASE
                                         : 0;
    if (!bits) return qn__spv_u32(e, 0);
    if (acquires && qn__spv_is_vulkan(e)) bits |= SP_MAKE_VISIBLE;
    if (releases && qn__spv_is_vulkan(e)) bits |= SP_MAKE_AVAILABLE;
    return qn__spv_u32(e, bits | memory);
}

/* ---- where ---- */

typedef struct target {
    const ir_instr *instr;
    uint32_t pointer, type, scope;
    ir_type bits; /* the integer that is exchanged */
    bool is_private;
} target;

static uint32_t pointer_to(spv *e, const ir_instr *instr, ir_type type) {
    const ir_value *pointer = instr->operands[0];
    const spv_class *class = qn__spv_class(e, pointer);
    if (qn__spv_is_wide(pointer->type))
        return qn__spv_pointer_at(e, qn__spv_further(e, qn__spv_use(e, pointer), instr->attr.offset), type);
    if (!class) {
        qn__spv_fail(e, "an atomic operation on a null pointer");
        return 0;
    }
    if (class->unit != qn__ir_bits(type) / 8)
        qn__spv_fail(e, "the device has no atomics on memory that is accessed in other sizes, too");
    return qn__spv_element(e, class, qn__spv_low(e, pointer), instr->attr.offset, false);
}

/* Nobody outside of the group sees its local memory: where the operation orders nothing else, the group is scope enough. */
static unsigned scope_of(const ir_instr *instr) {
    const bool narrow = instr->operands[0]->type.space == IR_LOCAL_SPACE && instr->attr.order == IR_RELAXED &&
                        instr->attr.scope > IR_SCOPE_WORK_GROUP;
    return narrow ? IR_SCOPE_WORK_GROUP : instr->attr.scope;
}

static target target_of(spv *e, const ir_instr *instr, ir_type type) {
    target t = {.instr = instr};
    t.bits = qn__ir_type(qn__ir_bits(type) == 64 ? IR_I64 : IR_I32, 1);
    t.is_private = instr->operands[0]->type.space == IR_PRIVATE;
    if (t.bits.kind == IR_I64 && !t.is_private) qn__spv_need(e, CAP_INT64_ATOMICS);
    t.pointer = pointer_to(e, instr, t.bits);
    t.type = qn__spv_type(e, t.bits);
    t.scope = qn__spv_scope(e, scope_of(instr));
    return t;
}

static uint32_t to_bits(spv *e, const target *t, ir_type type, uint32_t value) {
    return qn__ir_is_float(type) ? SPV(e, SP_BITCAST, t->type, value) : value;
}

static uint32_t from_bits(spv *e, ir_type type, uint32_t value) {
    return qn__ir_is_float(type) ? SPV(e, SP_BITCAST, qn__spv_type(e, type), value) : value;
}

/* ---- joining ---- */

static uint32_t join(spv *e, ir_combine combine, ir_type type, uint32_t old, uint32_t value) {
    const ir_op op = qn__ir_combine_op(combine);
    if (op == IR_OP_COUNT) return value;
    return qn__spv_arith(e, op, type, old, value);
}

static uint32_t exchange_loop(spv *e, const target *t, ir_type type, uint32_t value) {
    uint32_t none = qn__spv_u32(e, 0), before = e->label;
    uint32_t header = qn__spv_id(e), next = qn__spv_id(e), merge = qn__spv_id(e), body = qn__spv_id(e);
    uint32_t first = SPV(e, SP_ATOMIC_LOAD, t->type, t->pointer, t->scope, none);
    SPV_DO(e, SP_BRANCH, header);
    qn__spv_begin_block(e, header);
    uint32_t old = SPV(e, SP_PHI, t->type, first, before, 0, next);
    size_t gap = e->code.len - 2;
    SPV_DO(e, SP_LOOP_MERGE, merge, next, 0);
    SPV_DO(e, SP_BRANCH, body);
    qn__spv_begin_block(e, body);
    uint32_t joined = join(e, (ir_combine)t->instr->attr.combine, type, from_bits(e, type, old), value);
    uint32_t got =
        SPV(e, SP_ATOMIC_COMPARE_EXCHANGE, t->type, t->pointer, t->scope,
            semantics(e, t->instr->attr.order, true, true), none, to_bits(e, t, type, joined), old);
    uint32_t done = SPV(e, SP_I_EQUAL, qn__spv_bool(e), got, old);
    SPV_DO(e, SP_BRANCH_CONDITIONAL, done, merge, next);
    qn__spv_begin_block(e, next);
    e->code.data[gap] = got;
    SPV_DO(e, SP_BRANCH, header);
    qn__spv_begin_block(e, merge);
    return from_bits(e, type, got);
}

static uint32_t float_add(spv *e, const ir_instr *instr, ir_type type, uint32_t value) {
    bool is_double = type.kind == IR_F64;
    qn__spv_need(e, is_double ? CAP_DOUBLE_ATOMIC_ADD : CAP_FLOAT_ATOMIC_ADD);
    return SPV(e, SP_ATOMIC_F_ADD, qn__spv_type(e, type), pointer_to(e, instr, type),
               qn__spv_scope(e, instr->attr.scope), semantics(e, instr->attr.order, true, true), value);
}

static uint32_t read_modify_write(spv *e, const ir_instr *instr) {
    static const uint16_t ops[IR_COMBINE_COUNT] = {
        [IR_COMBINE_ADD] = SP_ATOMIC_I_ADD,     [IR_COMBINE_SUB] = SP_ATOMIC_I_SUB,
        [IR_COMBINE_XCHG] = SP_ATOMIC_EXCHANGE, [IR_COMBINE_AND] = SP_ATOMIC_AND,
        [IR_COMBINE_OR] = SP_ATOMIC_OR,         [IR_COMBINE_XOR] = SP_ATOMIC_XOR,
        [IR_COMBINE_SMIN] = SP_ATOMIC_S_MIN,    [IR_COMBINE_SMAX] = SP_ATOMIC_S_MAX,
        [IR_COMBINE_UMIN] = SP_ATOMIC_U_MIN,    [IR_COMBINE_UMAX] = SP_ATOMIC_U_MAX,
    };
    ir_type type = instr->results[0]->type;
    unsigned combine = instr->attr.combine;
    uint32_t value = qn__spv_use(e, instr->operands[1]);
    bool direct_add = combine == IR_COMBINE_FADD && type.kind == IR_F32 &&
                      qn__spv_is_wide(instr->operands[0]->type) && !e->options->target.lacks_float_atomic_add;
    if (direct_add) return float_add(e, instr, type, value);
    target t = target_of(e, instr, type);
    if (t.is_private) {
        uint32_t old = from_bits(e, type, SPV(e, SP_LOAD, t.type, t.pointer));
        SPV_DO(e, SP_STORE, t.pointer, to_bits(e, &t, type, join(e, (ir_combine)combine, type, old, value)));
        return old;
    }
    if (!ops[combine]) return exchange_loop(e, &t, type, value);
    return from_bits(e, type,
                     SPV(e, ops[combine], t.type, t.pointer, t.scope,
                         semantics(e, instr->attr.order, true, true), to_bits(e, &t, type, value)));
}

static uint32_t compare_exchange(spv *e, const ir_instr *instr) {
    ir_type type = instr->results[0]->type;
    uint32_t expected = qn__spv_use(e, instr->operands[1]), value = qn__spv_use(e, instr->operands[2]);
    target t = target_of(e, instr, type);
    expected = to_bits(e, &t, type, expected), value = to_bits(e, &t, type, value);
    if (t.is_private) {
        uint32_t old = SPV(e, SP_LOAD, t.type, t.pointer);
        uint32_t same = SPV(e, SP_I_EQUAL, qn__spv_bool(e), old, expected);
        SPV_DO(e, SP_STORE, t.pointer, SPV(e, SP_SELECT, t.type, same, value, old));
        return from_bits(e, type, old);
    }
    /* Failing may acquire only what succeeding does. */
    unsigned order = instr->attr.order, fails = instr->attr.order_fail;
    if (order == IR_RELAXED || order == IR_RELEASE) fails = IR_RELAXED;
    return from_bits(e, type,
                     SPV(e, SP_ATOMIC_COMPARE_EXCHANGE, t.type, t.pointer, t.scope,
                         semantics(e, order, true, true), semantics(e, fails, true, false), value, expected));
}

static void atomic_load(spv *e, const ir_instr *instr) {
    ir_type type = instr->results[0]->type;
    target t = target_of(e, instr, type);
    uint32_t bits = t.is_private ? SPV(e, SP_LOAD, t.type, t.pointer)
                                 : SPV(e, SP_ATOMIC_LOAD, t.type, t.pointer, t.scope,
                                       semantics(e, instr->attr.order, true, false));
    qn__spv_define(e, instr->results[0], from_bits(e, type, bits));
}

static void atomic_store(spv *e, const ir_instr *instr) {
    ir_type type = instr->operands[1]->type;
    uint32_t value = qn__spv_use(e, instr->operands[1]);
    target t = target_of(e, instr, type);
    value = to_bits(e, &t, type, value);
    if (t.is_private)
        SPV_DO(e, SP_STORE, t.pointer, value);
    else
        SPV_DO(e, SP_ATOMIC_STORE, t.pointer, t.scope, semantics(e, instr->attr.order, false, true), value);
}

static void fence(spv *e, const ir_instr *instr) {
    if (instr->attr.order == IR_RELAXED || instr->attr.scope == IR_SCOPE_WORK_ITEM) return;
    SPV_DO(e, SP_MEMORY_BARRIER, qn__spv_scope(e, instr->attr.scope),
           semantics(e, instr->attr.order, true, true));
}

bool qn__spv_atomic(spv *e, const ir_instr *instr) {
    switch (instr->op) {
    case IR_ATOMIC_LOAD: atomic_load(e, instr); return true;
    case IR_ATOMIC_STORE: atomic_store(e, instr); return true;
    case IR_ATOMIC_RMW: qn__spv_define(e, instr->results[0], read_modify_write(e, instr)); return true;
    case IR_ATOMIC_CAS: qn__spv_define(e, instr->results[0], compare_exchange(e, instr)); return true;
    case IR_FENCE: fence(e, instr); return true;
    default: return false;
    }
}
