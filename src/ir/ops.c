/* The tables behind the ops and the types: ops.def unrolled into qn__ir_ops, and the spelling and meaning of
   types, flags and attributes. Adding an op is a row in ops.def. */
#include <string.h>

#include "ir/internal.h"

/* FOLDABLE(fold) is 0 where the fold column says NO_FOLD (which then brings a second argument), else 1. */
#define NO_FOLD           ~, 0
#define SECOND(a, b, ...) b
#define FOLDABLE(...)     SECOND(__VA_ARGS__, 1, ~)

/* The words of the column `has`; flags lie above the rest. */
#define FLAG(bit)  ((uint64_t)IR_##bit << 32)
#define NONE       0u
#define COMMUTES   IR_COMMUTES
#define SIGNED     IR_SIGNED
#define UNSIGNED   IR_UNSIGNED
#define LOW        IR_LOW
#define SLOW       IR_SLOW
#define VARIES     IR_VARIES
#define LEVELS     IR_LEVELS
#define WHOLE      IR_WHOLE
#define SMALL      IR_SMALL
#define POSITIVE   IR_POSITIVE
#define LANE       IR_ATTR_LANE
#define LANES      IR_ATTR_LANES
#define ALIGN      IR_ATTR_ALIGN
#define OFFSET     IR_ATTR_OFFSET
#define SIZE       IR_ATTR_SIZE
#define ORDER      IR_ATTR_ORDER
#define FAIL       IR_ATTR_FAIL
#define SCOPE      IR_ATTR_SCOPE
#define COMBINE    IR_ATTR_COMBINE
#define FENCES     IR_ATTR_FENCE
#define DIM        IR_ATTR_DIM
#define INDEX      IR_ATTR_INDEX
#define ROUNDING   IR_ATTR_ROUNDING
#define VARIABLE   IR_ATTR_VAR
#define CALLEE     IR_ATTR_CALLEE
#define TARGET     IR_ATTR_TARGET
#define UNROLL     IR_ATTR_UNROLL
#define MATRIX     IR_ATTR_MATRIX
#define ACCESS     (ALIGN | OFFSET | VOLATILE | WRITTEN)
#define ATOMIC     (ACCESS | ORDER | SCOPE)
#define NSW        FLAG(NSW)
#define VOLATILE   FLAG(VOLATILE)
#define READONLY   FLAG(READONLY)
#define EXCLUSIVE  FLAG(EXCLUSIVE)
#define ASYNC      FLAG(ASYNC)
#define BRANCH     FLAG(BRANCH)
#define ACTIVE     FLAG(ACTIVE)
#define TRANSPOSED FLAG(TRANSPOSED)
#define UNCOUNTED  FLAG(UNCOUNTED)
#define WRITTEN    FLAG(WRITTEN)

/* The flags of all ops of a rule. */
#define RULE_FLAGS(rule)                                                                                     \
    ((rule) == RULE_INT                                ? IR_NSW | IR_NUW                                     \
     : (rule) == RULE_FLOAT || (rule) == RULE_FCOMPARE ? IR_CONTRACT | IR_FAST                               \
                                                       : 0)

#define ANY IR_ANY
#define OP(ID, name, operands, results, rule, effects, has, fold, doc)                                       \
    {name,                                                                                                   \
     operands,                                                                                               \
     results,                                                                                                \
     rule,                                                                                                   \
     IR_EFFECT_##effects,                                                                                    \
     (uint32_t)(has),                                                                                        \
     (uint16_t)((uint64_t)(has) >> 32 | RULE_FLAGS(rule)),                                                   \
     FOLDABLE(fold),                                                                                         \
     doc},
const ir_op_info qn__ir_ops[IR_OP_COUNT] = {
#include "ir/ops.def"
};
#undef OP
#undef ANY

const char *const qn__ir_kind_names[IR_KIND_COUNT] = {"void", "bool", "i8",  "i16", "i32",
                                                      "i64",  "f16",  "f32", "f64", "ptr"};
const char *const qn__ir_space_names[IR_SPACE_COUNT] = {"private", "global", "constant",
                                                        "local",   "param",  "generic"};
const char *const qn__ir_flag_names[IR_FLAG_COUNT] = {
    "nsw",   "nuw",    "contract", "fast",       "volatile",  "readonly", "exclusive",
    "async", "branch", "active",   "transposed", "uncounted", "written"};
const char *const qn__ir_rounding_names[IR_ROUNDING_COUNT] = {"even", "zero", "up", "down"};
const char *const qn__ir_order_names[IR_ORDER_COUNT] = {"relaxed", "acquire", "release", "acq_rel",
                                                        "seq_cst"};
const char *const qn__ir_scope_names[IR_SCOPE_COUNT] = {"work_item", "sub_group", "work_group", "device",
                                                        "all_devices"};
const char *const qn__ir_arg_kind_names[IR_ARG_KIND_COUNT] = {"value", "struct", "buffer", "local", "print"};
const char *const qn__ir_small_float_names[IR_SMALL_FLOAT_COUNT] = {"", "bf16", "e4m3", "e5m2"};
const char *const qn__ir_arg_flag_names[IR_ARG_FLAG_COUNT] = {"const",    "restrict", "volatile",
                                                              "no_write", "no_read",  "state"};

const uint8_t qn__ir_kind_bits[IR_KIND_COUNT] = {0, 1, 8, 16, 32, 64, 16, 32, 64, 64};

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

uint32_t qn__ir_ops_signature(void) {
    uint32_t hash = 0x811c9dc5; /* FNV-1a, of a few letters each: what launches ask for compilers then know */
#define LETTER(name, at) (uint32_t)(name)[(sizeof(name) - 1) * (at) / 4]
#define OP(ID, name, ...)                                                                                    \
    hash =                                                                                                   \
        (hash ^ (LETTER(name, 0) | LETTER(name, 1) << 8 | LETTER(name, 2) << 16 | LETTER(name, 3) << 24)) *  \
        0x01000193u;                                                                                         \
    hash = (hash ^ (uint32_t)sizeof(name)) * 0x01000193u;
#include "ir/ops.def"
#undef OP
#undef LETTER
    return hash;
}
