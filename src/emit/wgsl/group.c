/* Work-items in WGSL: the parameter block, ids and sizes as src/emit/gpu_abi.h has them, barriers. */
#include "emit/wgsl/internal.h"

/* ---- the parameter block ---- */

const char *qn__wgsl_param(wgsl_emitter *e, uint32_t offset) {
    e->uses_params = true;
    return qn__wgsl_text(e, "params_of_%s[%u].%c", e->symbol, offset / 16, "xyzw"[offset / 4 % 4]);
}

static bool is_long(qn__implicit_kind kind) {
    return kind == QN__IMPLICIT_GLOBAL_BASE || kind == QN__IMPLICIT_GLOBAL_SIZE ||
           kind == QN__IMPLICIT_GLOBAL_OFFSET;
}

uint32_t qn__wgsl_implicit(wgsl_emitter *e, qn__implicit_kind kind, uint32_t dim) {
    for (size_t i = 0; i < e->implicit.len; i++)
        if (e->implicit.data[i].kind == kind && e->implicit.data[i].dim == dim)
            return e->implicit.data[i].offset;
    const uint8_t size = is_long(kind) ? 8 : 4;
    const uint32_t begin = ((uint32_t)qn__args_size(e->kernel) + 3) / 4 * 4,
                   offset = begin + e->implicit_size;
    qn__implicit implicit = {.kind = (uint8_t)kind, .size = size, .dim = (uint16_t)dim, .offset = offset};
    qn__vec_push(e->arena, &e->implicit, implicit);
    e->implicit_size += size;
    e->uses_params = true;
    return offset;
}

static const char *word(wgsl_emitter *e, qn__implicit_kind kind, uint32_t dim) {
    return qn__wgsl_param(e, qn__wgsl_implicit(e, kind, dim));
}

/* ---- ids ---- */

static const char *const axes[] = {"x", "y", "z"};

const char *qn__wgsl_builtin(wgsl_emitter *e, unsigned which) {
    static const char *const names[] = {"global_id",   "local_id", "group_id",
                                        "local_index", "sub_size", "lane"};
    e->builtins |= 1u << which;
    return names[which];
}

/* Of global ids and groups' in x. A launch of one dimension with more groups than the device has in x comes in rows. */
static const char *const ids_in_rows[] = {[WGSL_GLOBAL_ID] = "global_x", [WGSL_GROUP_ID] = "group_x"};

void qn__wgsl_begin_rows(wgsl_emitter *e, qn__buf *out) {
    static const uint8_t ids[] = {WGSL_GLOBAL_ID, WGSL_GROUP_ID};
    for (uint32_t i = 0; i < QN__COUNT(ids); i++)
        if (e->rows & 1u << ids[i])
            qn__buf_printf(out, "    let %s = %s.x + group_id.y * %s;\n", ids_in_rows[ids[i]],
                           qn__wgsl_builtin(e, ids[i]), word(e, QN__IMPLICIT_ROW, i));
}

static const char *builtin(wgsl_emitter *e, unsigned which, uint32_t dim) {
    if (e->has_rows && dim == 0 && which != WGSL_LOCAL_ID) {
        e->rows |= 1u << which;
        e->builtins |= 1u << which | 1u << WGSL_GROUP_ID;
        return ids_in_rows[which];
    }
    return qn__wgsl_text(e, "%s.%s", qn__wgsl_builtin(e, which), axes[dim]);
}

void qn__wgsl_guard(wgsl_emitter *e) {
    const char *past[3];
    for (uint32_t d = 0; d < 3; d++)
        past[d] = qn__wgsl_text(e, "%s >= %s", builtin(e, WGSL_GLOBAL_ID, d), word(e, QN__IMPLICIT_LIMIT, d));
    qn__wgsl_open(e, "if ((%s) | (%s) | (%s)) {", past[0], past[1],
                  past[2]); /* one branch, where || has three */
    qn__wgsl_line(e, "return;");
    qn__wgsl_close(e, "}");
}

/* The id in this part of the launch, behind those before it. */
static const char *global_id(wgsl_emitter *e, const ir_instr *instr, bool low) {
    const uint32_t dim = instr->attr.dim, base = qn__wgsl_implicit(e, QN__IMPLICIT_GLOBAL_BASE, dim);
    const char *id = builtin(e, WGSL_GLOBAL_ID, dim);
    if (low) return qn__wgsl_text(e, "%s + %s", id, qn__wgsl_param(e, base));
    if (qn__wgsl_need(e, "qn_behind"))
        qn__buf_puts(&e->helpers, "fn qn_behind(lo: u32, hi: u32, by: u32) -> vec2<u32> {\n"
                                  "    let sum = lo + by;\n"
                                  "    return vec2<u32>(sum, hi + select(0u, 1u, sum < lo));\n}\n");
    return qn__wgsl_text(e, "qn_behind(%s, %s, %s)", qn__wgsl_param(e, base), qn__wgsl_param(e, base + 4),
                         id);
}

/* Queries whose values have one word, or two in the parameter block. */
static const char *query(wgsl_emitter *e, const ir_instr *instr, const char **high) {
    const uint32_t dim = qn__ir_ops[instr->op].rule == RULE_QUERY64 ? instr->attr.dim : 0;
    uint32_t offset;
    switch (instr->op) {
    case IR_LOCAL_ID: return builtin(e, WGSL_LOCAL_ID, dim);
    case IR_LOCAL_SIZE: return qn__wgsl_text(e, "local_%s", axes[dim]);
    case IR_ENQUEUED_LOCAL_SIZE: return word(e, QN__IMPLICIT_ENQUEUED_SIZE, dim);
    case IR_NUM_GROUPS: return word(e, QN__IMPLICIT_NUM_GROUPS, dim);
    case IR_GROUP_ID:
        return qn__wgsl_text(e, "%s + %s", builtin(e, WGSL_GROUP_ID, dim),
                             word(e, QN__IMPLICIT_GROUP_BASE, dim));
    case IR_WORK_DIM: return word(e, QN__IMPLICIT_WORK_DIM, 0);
    case IR_GLOBAL_SIZE:
    case IR_GLOBAL_OFFSET:
        offset = qn__wgsl_implicit(
            e, instr->op == IR_GLOBAL_SIZE ? QN__IMPLICIT_GLOBAL_SIZE : QN__IMPLICIT_GLOBAL_OFFSET, dim);
        *high = qn__wgsl_param(e, offset + 4);
        return qn__wgsl_param(e, offset);
    default: return qn__wgsl_sub_group_query(e, (ir_op)instr->op);
    }
}

static void define_query(wgsl_emitter *e, const ir_instr *instr) {
    const ir_value *result = instr->results[0];
    const bool wide = result->type.kind == IR_I64 && !qn__wgsl_is_low(e, result);
    const char *high = "0u";
    if (instr->op == IR_GLOBAL_ID) {
        qn__wgsl_define(e, result, global_id(e, instr, !wide));
        return;
    }
    const char *text = query(e, instr, &high);
    if (!text)
        qn__wgsl_error(e, "the WGSL target has no such id");
    else
        qn__wgsl_define(e, result, wide ? qn__wgsl_text(e, "vec2<u32>(%s, %s)", text, high) : text);
}

/* ---- together ---- */

/* What is in a loop comes before all of it. */
static void look_for_write(ir_instr *instr, void *user) {
    wgsl_emitter *e = user;
    const ir_effects effects = qn__ir_effects(instr);
    if ((effects != IR_EFFECT_WRITE && effects != IR_EFFECT_READWRITE) || !instr->num_operands) return;
    const ir_value *to = instr->operands[0];
    if (to->type.kind == IR_PTR && to->type.space != IR_GLOBAL_SPACE) return;
    uint32_t first = instr->mark;
    for (const ir_instr *at = instr->parent->owner; at; at = at->parent->owner)
        if (at->op == IR_LOOP) first = at->mark;
    if (first < e->first_write) e->first_write = first;
}

void qn__wgsl_find_first_write(wgsl_emitter *e) {
    e->first_write = UINT32_MAX;
    qn__ir_walk(e->kernel->body, look_for_write, e);
}

/* Buffers need none where nothing has been written to them: naga's is one for the whole device. */
static void barrier(wgsl_emitter *e, const ir_instr *instr) {
    if (instr->attr.fence & IR_FENCE_GLOBAL && instr->mark > e->first_write)
        qn__wgsl_line(e, "storageBarrier();");
    qn__wgsl_line(e, "workgroupBarrier();");
}

bool qn__wgsl_group(wgsl_emitter *e, const ir_instr *instr) {
    if (qn__ir_effects(instr) == IR_EFFECT_QUERY) {
        define_query(e, instr);
        return true;
    }
    if (instr->op == IR_BARRIER) {
        barrier(e, instr);
        return true;
    }
    const char *text = qn__ir_is_of_sub_group(instr) ? qn__wgsl_sub_group(e, instr) : NULL;
    if (text) qn__wgsl_define(e, instr->results[0], text);
    return text != NULL;
}
