/* Plain instructions of the C target, lane by lane: vectors are kept as scalars, one C variable a lane, so
   that the host compiler is free to vectorise over work-items. */
#include "emit/c/gang.h"

/* ---- work-item queries ---- */

static const char *sub_group_query(c_emitter *e, const ir_instr *instr) {
    unsigned size = e->sub_group_size;
    const char *item = e->gang && e->gang->in_lane ? "(item + l)" : "item";
    switch (instr->op) {
    case IR_SUB_GROUP_SIZE:
        return qn__arena_printf(e->arena, "(items - %s / %u * %u < %u ? items - %s / %u * %u : %u)", item,
                                size, size, size, item, size, size, size);
    case IR_MAX_SUB_GROUP_SIZE:
        return qn__arena_printf(e->arena, "(full_items < %u ? (i32)full_items : %u)", size, size);
    case IR_NUM_SUB_GROUPS: return qn__arena_printf(e->arena, "(items + %u) / %u", size - 1, size);
    case IR_SUB_GROUP_ID: return qn__arena_printf(e->arena, "%s / %u", item, size);
    default: return qn__arena_printf(e->arena, "%s %% %u", item, size);
    }
}

/* The loop counter of a dimension; inside a loop over a gang's members, the member's. */
static const char *counter(c_emitter *e, unsigned dim) {
    if (dim == 0 && e->gang && e->gang->in_lane) return "(id0 + l)";
    return qn__arena_printf(e->arena, "id%u", dim);
}

static const char *query(c_emitter *e, const ir_instr *instr) {
    unsigned dim = instr->attr.dim < 3 ? instr->attr.dim : 2;
    switch (instr->op) {
    case IR_GLOBAL_ID: return qn__arena_printf(e->arena, "(base%u + %s)", dim, counter(e, dim));
    case IR_LOCAL_ID: return qn__arena_printf(e->arena, "(i64)%s", counter(e, dim));
    case IR_GROUP_ID: return qn__arena_printf(e->arena, "(i64)group%u", dim);
    case IR_LOCAL_SIZE: return qn__arena_printf(e->arena, "(i64)count%u", dim);
    case IR_GLOBAL_SIZE: return qn__arena_printf(e->arena, "(i64)launch->global_size[%u]", dim);
    case IR_ENQUEUED_LOCAL_SIZE: return qn__arena_printf(e->arena, "(i64)launch->local_size[%u]", dim);
    case IR_NUM_GROUPS: return qn__arena_printf(e->arena, "(i64)launch->num_groups[%u]", dim);
    case IR_GLOBAL_OFFSET: return qn__arena_printf(e->arena, "(i64)launch->global_offset[%u]", dim);
    case IR_WORK_DIM: return "(i32)launch->work_dim";
    default: return sub_group_query(e, instr);
    }
}

/* The id behind `trunc i32 (global_id)`, or NULL. */
static const ir_instr *narrow_id(const ir_value *value) {
    if (value->value_kind != IR_VALUE_RESULT || value->def->op != IR_TRUNC) return NULL;
    if (value->type.kind != IR_I32 || value->type.lanes != 1) return NULL;
    const ir_value *id = value->def->operands[0];
    if (id->value_kind != IR_VALUE_RESULT) return NULL;
    return id->def->op == IR_GLOBAL_ID || id->def->op == IR_LOCAL_ID ? id->def : NULL;
}

/* Ids in 32 bits as sums of a 32-bit base and the loop counter, without a truncation: the host compiler then
   sees that addresses made from them step by one. A group never straddles a multiple of 2^31 in practice; one
   that did would compute ids beyond the type instead of wrapping. */
static const char *id_expression(c_emitter *e, const ir_instr *instr) {
    const ir_instr *id = narrow_id(instr->results[0]);
    if (id) {
        unsigned dim = id->attr.dim < 3 ? id->attr.dim : 2;
        if (id->op == IR_LOCAL_ID) return counter(e, dim);
        return qn__arena_printf(e->arena, "(narrow%u + %s)", dim, counter(e, dim));
    }
    if ((instr->op != IR_SEXT && instr->op != IR_ZEXT) || instr->results[0]->type.kind != IR_I64) return NULL;
    id = narrow_id(instr->operands[0]);
    if (!id) return NULL;
    unsigned dim = id->attr.dim < 3 ? id->attr.dim : 2;
    if (id->op == IR_LOCAL_ID) return qn__arena_printf(e->arena, "(i64)%s", counter(e, dim));
    const char *extended = instr->op == IR_ZEXT ? "(u32)" : "";
    return qn__arena_printf(e->arena, "((i64)%snarrow%u + %s)", extended, dim, counter(e, dim));
}

/* ---- scalar operations, a lane at a time ---- */

static bool rounds_f16(const ir_instr *instr) {
    switch (instr->op) {
    case IR_FADD:
    case IR_FSUB:
    case IR_FMUL:
    case IR_FDIV:
    case IR_FSQRT:
    case IR_FREM: return true;
    default: return instr->op >= IR_NATIVE_EXP2 && instr->op <= IR_NATIVE_DIV;
    }
}

static const char *lane_of(c_emitter *e, const ir_instr *instr, uint32_t operand, unsigned lane) {
    if (operand >= instr->num_operands) return "";
    const ir_value *value = instr->operands[operand];
    return qn__c_use(e, value, value->type.lanes == 1 ? 0 : lane);
}

static const char *spelled(c_emitter *e, const ir_instr *instr, const qn__c_spelling *spelling,
                           unsigned lane) {
    qn__c_pattern with = {.result = (ir_kind)instr->results[0]->type.kind,
                          .operand = (ir_kind)instr->operands[0]->type.kind,
                          .a = lane_of(e, instr, 0, lane),
                          .b = lane_of(e, instr, 1, lane),
                          .c = lane_of(e, instr, 2, lane)};
    if (with.result == IR_F16) with.result = IR_F32;
    if (instr->op == IR_SELECT) with.operand = with.result;
    if (spelling->helper) qn__c_helper(e, spelling->helper_name, spelling->helper, &with);
    qn__buf text;
    qn__buf_init(&text, e->arena);
    qn__c_expand(&text, spelling->expression, &with);
    return text.data;
}

void qn__c_refuse(c_emitter *e, const ir_instr *instr) {
    const char *name = qn__ir_ops[instr->op].name;
    if (e->result->error) return;
    e->result->error = qn__arena_printf(e->arena, "the C target has no '%s' of these types", name);
    e->result->error_loc = instr->loc;
}

static void elementwise(c_emitter *e, const ir_instr *instr) {
    const ir_value *result = instr->results[0];
    const qn__c_spelling *spelling = qn__c_spelling_of(instr);
    bool half = result->type.kind == IR_F16;
    for (unsigned lane = 0; lane < result->type.lanes; lane++) {
        const char *text = qn__c_conversion(e, instr, lane_of(e, instr, 0, lane));
        if (!text && half && instr->op == IR_FMA) {
            /* Products of f16 are exact in f32, and f64 has room for the sum. */
            text = qn__arena_printf(e->arena, "(f64)(%s * %s) + (f64)%s", lane_of(e, instr, 0, lane),
                                    lane_of(e, instr, 1, lane), lane_of(e, instr, 2, lane));
            text = qn__c_round_f16_f64(e, text);
        } else if (!text && spelling) {
            text = spelled(e, instr, spelling, lane);
            if (half && rounds_f16(instr)) text = qn__c_round_f16(e, text);
        }
        if (!text) {
            qn__c_refuse(e, instr);
            return;
        }
        qn__c_define(e, result, lane, text);
    }
}

/* ---- vectors ---- */

static const char *shuffled(c_emitter *e, const ir_instr *instr, unsigned lane) {
    unsigned from = instr->attr.lanes[lane], first = instr->operands[0]->type.lanes;
    if (from >= first + instr->operands[1]->type.lanes) return "0";
    if (from < first) return qn__c_use(e, instr->operands[0], from);
    return qn__c_use(e, instr->operands[1], from - first);
}

static const char *extract_dynamic(c_emitter *e, const ir_instr *instr) {
    const ir_value *vector = instr->operands[0];
    unsigned lanes = vector->type.lanes == 3 ? 4 : vector->type.lanes;
    qn__buf text;
    qn__buf_init(&text, e->arena);
    qn__buf_printf(&text, "((%s[]){", qn__c_scalar((ir_kind)vector->type.kind));
    for (unsigned lane = 0; lane < lanes; lane++)
        qn__buf_printf(&text, "%s%s", lane ? ", " : "",
                       lane < vector->type.lanes ? qn__c_use(e, vector, lane) : "0");
    qn__buf_printf(&text, "})[%s & %u]", qn__c_use(e, instr->operands[1], 0), lanes - 1);
    return text.data;
}

static bool vector_op(c_emitter *e, const ir_instr *instr) {
    const ir_value *result = instr->num_results ? instr->results[0] : NULL;
    for (unsigned lane = 0; result && lane < result->type.lanes; lane++) {
        const char *text;
        switch (instr->op) {
        case IR_VECTOR: text = qn__c_use(e, instr->operands[lane], 0); break;
        case IR_SPLAT: text = qn__c_use(e, instr->operands[0], 0); break;
        case IR_EXTRACT: text = qn__c_use(e, instr->operands[0], instr->attr.lanes[0]); break;
        case IR_EXTRACT_DYNAMIC: text = extract_dynamic(e, instr); break;
        case IR_INSERT:
            text = lane == instr->attr.lanes[0] ? qn__c_use(e, instr->operands[1], 0)
                                                : qn__c_use(e, instr->operands[0], lane);
            break;
        case IR_SHUFFLE: text = shuffled(e, instr, lane); break;
        default: return false;
        }
        qn__c_define(e, result, lane, text);
    }
    return result != NULL;
}

/* ---- the choice ---- */

static const char *pointer_text(c_emitter *e, const ir_instr *instr) {
    switch (instr->op) {
    case IR_LOCAL: return qn__arena_printf(e->arena, "local%u", instr->attr.index);
    case IR_GLOBAL:
        e->global_used[instr->attr.index] = true;
        return qn__arena_printf(e->arena, "(u8 *)&qn_constant%u", instr->attr.index);
    case IR_PTR_ADD: {
        const char *pointer = qn__c_use(e, instr->operands[0], 0),
                   *bytes = qn__c_use(e, instr->operands[1], 0);
        if (!instr->attr.offset) return qn__arena_printf(e->arena, "%s + %s", pointer, bytes);
        return qn__arena_printf(e->arena, "%s + %s + %lldL", pointer, bytes, (long long)instr->attr.offset);
    }
    default: return NULL;
    }
}

const char *qn__c_simple(c_emitter *e, const ir_instr *instr, unsigned lane) {
    const char *text = pointer_text(e, instr);
    if (text) return text;
    const qn__c_spelling *spelling = qn__c_spelling_of(instr);
    return spelling ? spelled(e, instr, spelling, lane) : NULL;
}

static bool is_dead(const c_emitter *e, const ir_instr *instr) {
    unsigned effects = qn__ir_ops[instr->op].effects;
    if (effects > IR_EFFECT_READ || (instr->flags & IR_VOLATILE) || instr->num_results == 0) return false;
    return e->plan->uses[instr->results[0]->id] == 0;
}

void qn__c_instr(c_emitter *e, ir_instr *instr) {
    if (instr->op == IR_VAR || is_dead(e, instr)) return;
    qn__c_locate(e, instr->loc);
    if (qn__c_wide_instr(e, instr) || qn__c_memory(e, instr)) return;
    const char *text = pointer_text(e, instr);
    if (!text && qn__ir_ops[instr->op].effects == IR_EFFECT_QUERY) text = query(e, instr);
    if (!text && instr->num_results) text = id_expression(e, instr);
    if (text) {
        qn__c_define(e, instr->results[0], 0, text);
    } else if (instr->op == IR_BITCAST) {
        qn__c_bitcast(e, instr);
    } else if (!instr->num_results || !instr->num_operands) {
        qn__c_refuse(e, instr);
    } else if (!vector_op(e, instr)) {
        elementwise(e, instr);
    }
}
