/* The tables behind the ops and the types: ops.def unrolled into qn__ir_ops, and the spelling and meaning of
   types, flags and attributes. Adding an op is a row in ops.def; what it needs here is its attributes, if it
   has any. */
#include <string.h>

#include "ir/internal.h"

/* FOLDABLE(fold) is 0 where the fold column says NO_FOLD (which then brings a second argument), else 1. */
#define NO_FOLD           ~, 0
#define SECOND(a, b, ...) b
#define FOLDABLE(...)     SECOND(__VA_ARGS__, 1, ~)

#define ANY IR_ANY
#define OP(ID, name, operands, results, rule, effects, fold, doc)                                            \
    {name, operands, results, rule, IR_EFFECT_##effects, FOLDABLE(fold), doc},
const ir_op_info qn__ir_ops[IR_OP_COUNT] = {
#include "ir/ops.def"
};
#undef OP
#undef ANY

const char *const qn__ir_kind_names[IR_KIND_COUNT] = {"void", "bool", "i8",  "i16", "i32",
                                                      "i64",  "f16",  "f32", "f64", "ptr"};
const char *const qn__ir_space_names[IR_SPACE_COUNT] = {"private", "global", "constant", "local", "param"};
const char *const qn__ir_flag_names[IR_FLAG_COUNT] = {"nsw",      "nuw",      "contract",  "fast",
                                                      "volatile", "readonly", "exclusive", "unsigned",
                                                      "async",    "branch",   "active"};
const char *const qn__ir_rounding_names[IR_ROUNDING_COUNT] = {"even", "zero", "up", "down"};
const char *const qn__ir_order_names[IR_ORDER_COUNT] = {"relaxed", "acquire", "release", "acq_rel",
                                                        "seq_cst"};
const char *const qn__ir_scope_names[IR_SCOPE_COUNT] = {"work_item", "sub_group", "work_group", "device",
                                                        "all_devices"};
const char *const qn__ir_combine_names[IR_COMBINE_COUNT] = {"add",  "sub",  "xchg", "and",  "or",
                                                            "xor",  "smin", "smax", "umin", "umax",
                                                            "fadd", "fmin", "fmax", "mul",  "fmul"};
const char *const qn__ir_arg_kind_names[IR_ARG_KIND_COUNT] = {"value", "struct", "buffer", "local", "print"};
const char *const qn__ir_arg_flag_names[IR_ARG_FLAG_COUNT] = {"const",    "restrict", "volatile",
                                                              "no_write", "no_read",  "state"};

static const uint8_t kind_bits[IR_KIND_COUNT] = {0, 1, 8, 16, 32, 64, 16, 32, 64, 64};

unsigned qn__ir_bits(ir_type type) { return type.kind < IR_KIND_COUNT ? kind_bits[type.kind] : 0; }

unsigned qn__ir_memory_size(ir_type type) {
    unsigned lanes = type.lanes == 3 ? 4 : type.lanes;
    return (qn__ir_bits(type) + 7) / 8 * lanes;
}

const char *qn__ir_space_name(ir_space space) {
    return (unsigned)space < IR_SPACE_COUNT ? qn__ir_space_names[space] : "?";
}

const char *qn__ir_type_name(qn__arena *arena, ir_type type) {
    if (type.kind >= IR_KIND_COUNT) return "?";
    const char *kind = qn__ir_kind_names[type.kind];
    if (type.kind == IR_PTR) return qn__arena_printf(arena, "ptr.%s", qn__ir_space_name(type.space));
    return type.lanes == 1 ? kind : qn__arena_printf(arena, "%sx%u", kind, type.lanes);
}

bool qn__ir_type_valid(ir_type type) {
    if (type.kind == IR_VOID || type.kind >= IR_KIND_COUNT) return false;
    if (type.kind == IR_PTR) return type.lanes == 1 && type.space < IR_SPACE_COUNT;
    unsigned lanes = type.lanes;
    return type.space == 0 && ((lanes >= 1 && lanes <= 4) || lanes == 8 || lanes == 16);
}

bool qn__ir_op_by_name(qn__str name, ir_op *op) {
    for (unsigned i = 0; i < IR_OP_COUNT; i++) {
        const char *other = qn__ir_ops[i].name;
        if (strncmp(other, name.data, name.len) == 0 && other[name.len] == 0) {
            *op = (ir_op)i;
            return name.len > 0;
        }
    }
    return false;
}

uint32_t qn__ir_attrs(ir_op op) {
    enum { ACCESS = IR_ATTR_ALIGN | IR_ATTR_OFFSET, ATOMIC = ACCESS | IR_ATTR_ORDER | IR_ATTR_SCOPE };
    switch (op) {
    case IR_EXTRACT:
    case IR_INSERT: return IR_ATTR_LANE;
    case IR_SHUFFLE: return IR_ATTR_LANES;
    case IR_LOAD:
    case IR_STORE: return ACCESS;
    case IR_COPY: return IR_ATTR_ALIGN | IR_ATTR_SIZE;
    case IR_ATOMIC_LOAD:
    case IR_ATOMIC_STORE: return ATOMIC;
    case IR_ATOMIC_RMW: return ATOMIC | IR_ATTR_COMBINE;
    case IR_ATOMIC_CAS: return ATOMIC | IR_ATTR_FAIL;
    case IR_PREFETCH: return IR_ATTR_SIZE | IR_ATTR_OFFSET;
    case IR_PTR_ADD: return IR_ATTR_OFFSET;
    case IR_FENCE: return IR_ATTR_FENCE | IR_ATTR_ORDER | IR_ATTR_SCOPE;
    case IR_BARRIER: return IR_ATTR_FENCE | IR_ATTR_SCOPE;
    case IR_GROUP_ALL:
    case IR_GROUP_ANY:
    case IR_GROUP_BROADCAST: return IR_ATTR_SCOPE;
    case IR_GROUP_REDUCE:
    case IR_GROUP_SCAN: return IR_ATTR_SCOPE | IR_ATTR_COMBINE;
    case IR_LOCAL:
    case IR_GLOBAL:
    case IR_PRINTF: return IR_ATTR_INDEX;
    case IR_FCONVERT:
    case IR_F2S:
    case IR_F2U:
    case IR_S2F:
    case IR_U2F: return IR_ATTR_ROUNDING;
    case IR_VAR: return IR_ATTR_VAR;
    case IR_CALL: return IR_ATTR_CALLEE;
    case IR_BREAK:
    case IR_CONTINUE: return IR_ATTR_TARGET;
    case IR_LOOP: return IR_ATTR_UNROLL;
    default: return qn__ir_ops[op].rule == RULE_QUERY64 ? IR_ATTR_DIM : 0;
    }
}

uint16_t qn__ir_flags_allowed(ir_op op) {
    switch (op) {
    case IR_PTR_ADD: return IR_NSW;
    case IR_LOAD: return IR_VOLATILE | IR_READONLY;
    case IR_COPY: return IR_VOLATILE | IR_ASYNC;
    case IR_STORE:
    case IR_ATOMIC_LOAD:
    case IR_ATOMIC_STORE:
    case IR_ATOMIC_RMW:
    case IR_ATOMIC_CAS: return IR_VOLATILE;
    case IR_GROUP_SCAN: return IR_EXCLUSIVE | IR_ACTIVE;
    case IR_GROUP_REDUCE:
    case IR_GROUP_ALL:
    case IR_GROUP_ANY:
    case IR_SUB_GROUP_SHUFFLE:
    case IR_SUB_GROUP_BALLOT: return IR_ACTIVE;
    case IR_PRINTF: return IR_UNSIGNED;
    case IR_IF: return IR_BRANCH;
    default: break;
    }
    switch (qn__ir_ops[op].rule) {
    case RULE_INT: return IR_NSW | IR_NUW;
    case RULE_FLOAT:
    case RULE_FCOMPARE: return IR_CONTRACT | IR_FAST;
    default: return 0;
    }
}
