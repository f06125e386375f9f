/* The plan of a kernel for SPIR-V: which forms of each wide value are needed, and whether the module is to have
   64-bit integers. One walk backwards: uses come before definitions, and where they do not (around a loop) the
   full value is taken. Addresses are sums of terms (qn__spv_linear); values that occur as terms only are not
   written at all. */
#include "emit/spirv/internal.h"

/* ---- what is known of values ---- */

enum { DEPTH = 6 };

static bool is_query(const ir_value *value) {
    return value->value_kind == IR_VALUE_RESULT && qn__ir_ops[value->def->op].effects == IR_EFFECT_QUERY;
}

/* An i64 query whose value is below 2^31. */
static bool is_small_query(const ir_value *value) {
    if (!is_query(value)) return false;
    unsigned op = value->def->op;
    return op == IR_LOCAL_ID || op == IR_LOCAL_SIZE || op == IR_ENQUEUED_LOCAL_SIZE;
}

/* As a signed number of its type not below 0. */
static bool is_non_negative(const ir_value *value, unsigned depth) {
    if (qn__ir_is_const(value)) return !(value->bits[0] >> (qn__ir_bits(value->type) - 1) & 1);
    if (value->value_kind != IR_VALUE_RESULT || !depth) return false;
    const ir_instr *def = value->def;
    ir_value *const *with = def->operands;
    switch (def->op) {
    case IR_ZEXT: return true;
    case IR_TRUNC: return is_small_query(with[0]);
    case IR_AND:
    case IR_UMIN: return is_non_negative(with[0], depth - 1) || is_non_negative(with[1], depth - 1);
    case IR_SMAX: return is_non_negative(with[0], depth - 1) || is_non_negative(with[1], depth - 1);
    case IR_UREM: return is_non_negative(with[1], depth - 1) || is_non_negative(with[0], depth - 1);
    case IR_UDIV:
    case IR_SREM: return is_non_negative(with[0], depth - 1);
    case IR_LSHR:
        return (qn__ir_is_const(with[1]) && with[1]->bits[0] > 0) || is_non_negative(with[0], depth - 1);
    case IR_SHL: return (def->flags & IR_NSW) && is_non_negative(with[0], depth - 1);
    case IR_ADD:
    case IR_MUL:
        return (def->flags & IR_NSW) && is_non_negative(with[0], depth - 1) &&
               is_non_negative(with[1], depth - 1);
    case IR_SELECT: return is_non_negative(with[1], depth - 1) && is_non_negative(with[2], depth - 1);
    case IR_SUB_GROUP_ID:
    case IR_SUB_GROUP_LOCAL_ID:
    case IR_SUB_GROUP_SIZE: return true;
    default: return is_small_query(value);
    }
}

spv_term_kind qn__spv_narrow(const ir_value *value) {
    if (value->value_kind != IR_VALUE_RESULT) return TERM_WIDE;
    const ir_instr *def = value->def;
    ir_value *const *with = def->operands;
    if (is_small_query(value)) return TERM_SIGNED;
    switch (def->op) {
    case IR_SEXT: return TERM_SIGNED;
    case IR_ZEXT:
        return is_non_negative(with[0], DEPTH) || with[0]->type.kind != IR_I32 ? TERM_SIGNED : TERM_UNSIGNED;
    case IR_GROUP_ID:
    case IR_NUM_GROUPS: return TERM_UNSIGNED;
    case IR_AND:
        if (!qn__ir_is_const(with[1])) return TERM_WIDE;
        return with[1]->bits[0] < 1u << 31 ? TERM_SIGNED : with[1]->bits[0] >> 32 ? TERM_WIDE : TERM_UNSIGNED;
    case IR_LSHR:
        if (!qn__ir_is_const(with[1]) || with[1]->bits[0] < 32) return TERM_WIDE;
        return with[1]->bits[0] > 32 ? TERM_SIGNED : TERM_UNSIGNED;
    default: return TERM_WIDE;
    }
}

bool qn__spv_is_word(const ir_instr *convert, bool *is_signed) {
    const ir_value *value = convert->operands[0];
    if (value->type.kind != IR_I64 || value->type.lanes != 1) return false;
    spv_term_kind kind = qn__spv_narrow(value);
    *is_signed = kind == TERM_SIGNED;
    return kind == TERM_UNSIGNED ||
           (kind == TERM_SIGNED && (convert->op == IR_S2F || value->def->op != IR_SEXT));
}

/* ---- sums ---- */

static void add_term(spv_linear *sum, const ir_value *value, int64_t scale, spv_term_kind kind) {
    for (unsigned i = 0; i < sum->count; i++) {
        spv_term *term = &sum->terms[i];
        if (term->value != value || term->kind != kind) continue;
        term->scale = (int64_t)((uint64_t)term->scale + (uint64_t)scale);
        if (!term->scale) *term = sum->terms[--sum->count];
        return;
    }
    sum->terms[sum->count++] = (spv_term){value, scale, kind};
}

static void add_constant(spv_linear *sum, uint64_t value, int64_t scale) {
    sum->constant = (int64_t)((uint64_t)sum->constant + value * (uint64_t)scale);
}

/* An i32 as a term; a sum with a constant that does not wrap gives its constant. */
static void add_word(spv_linear *sum, const ir_value *word, int64_t scale, spv_term_kind kind) {
    const ir_instr *def = word->value_kind == IR_VALUE_RESULT ? word->def : NULL;
    if (kind == TERM_SIGNED && def && def->op == IR_ADD && (def->flags & IR_NSW) &&
        qn__ir_is_const(def->operands[1])) {
        add_constant(sum, (uint64_t)(int64_t)(int32_t)def->operands[1]->bits[0], scale);
        word = def->operands[0];
    }
    if (qn__ir_is_const(word)) {
        int32_t value = (int32_t)word->bits[0];
        add_constant(sum, kind == TERM_SIGNED ? (uint64_t)(int64_t)value : (uint32_t)value, scale);
        return;
    }
    add_term(sum, word, scale, kind);
}

static unsigned add_leaf(const ir_value *value, int64_t scale, bool low, spv_linear *sum, unsigned room) {
    const ir_instr *def = value->value_kind == IR_VALUE_RESULT ? value->def : NULL;
    if (def && (def->op == IR_SEXT || def->op == IR_ZEXT) && def->operands[0]->type.kind == IR_I32) {
        spv_term_kind kind = low ? TERM_SIGNED : qn__spv_narrow(value);
        /* Extended with zeros and signed: the word is not negative, but a sum in it could be. */
        if (def->op == IR_ZEXT && kind == TERM_SIGNED)
            add_term(sum, def->operands[0], scale, kind);
        else
            add_word(sum, def->operands[0], scale, kind);
        return 1;
    }
    if (!low && def && def->op == IR_GLOBAL_ID && room >= 2) {
        add_term(sum, value, scale, TERM_BASE);
        add_term(sum, value, scale, TERM_PLACE);
        return 2;
    }
    add_term(sum, value, scale, low ? TERM_SIGNED : qn__spv_narrow(value));
    return 1;
}

static unsigned add_value(const ir_value *value, int64_t scale, bool low, spv_linear *sum, unsigned room,
                          unsigned depth) {
    if (value->value_kind == IR_VALUE_UNDEF) return 0;
    if (qn__ir_is_const(value)) {
        add_constant(sum, value->bits[0], scale);
        return 0;
    }
    const ir_instr *def = value->value_kind == IR_VALUE_RESULT ? value->def : NULL;
    if (!def || !depth) return add_leaf(value, scale, low, sum, room);
    ir_value *const *with = def->operands;
    uint64_t factor = 0;
    switch (def->op) {
    case IR_ADD:
    case IR_SUB: {
        if (room < 2) break;
        unsigned used = add_value(with[0], scale, low, sum, room - 1, depth - 1);
        int64_t other = def->op == IR_ADD ? scale : (int64_t)(0 - (uint64_t)scale);
        return used + add_value(with[1], other, low, sum, room - used, depth - 1);
    }
    case IR_SHL:
        if (qn__ir_is_const(with[1])) factor = (uint64_t)1 << (with[1]->bits[0] & 63);
        break;
    case IR_MUL:
        if (qn__ir_is_const(with[1])) factor = with[1]->bits[0];
        break;
    default: break;
    }
    const int64_t limit = (int64_t)1 << 31; /* of strides */
    if (factor && factor < (uint64_t)limit && scale > -limit && scale < limit) {
        int64_t product = scale * (int64_t)factor;
        if (product > -limit && product < limit)
            return add_value(with[0], product, low, sum, room, depth - 1);
    }
    return add_leaf(value, scale, low, sum, room);
}

void qn__spv_linear(const ir_value *value, int64_t scale, bool low, spv_linear *sum) {
    add_value(value, scale, low, sum, SPV_MAX_TERMS, DEPTH);
}

/* ---- needs ---- */

static void need(spv *e, const ir_value *value, unsigned what) {
    if (qn__spv_is_wide(value->type)) e->values[value->id].need |= (uint8_t)what;
}

static void need_operands(spv *e, const ir_instr *instr, unsigned what) {
    for (uint32_t i = 0; i < instr->num_operands; i++) need(e, instr->operands[i], what);
}

static void want_int64(spv *e, const ir_instr *instr, bool hard) {
    if (hard && !e->needs_wide) {
        e->needs_wide = true;
        e->wide_loc = instr->loc;
    }
    e->wants_wide = true;
}

static bool is_int64(ir_type type) { return type.kind == IR_I64; }

static void visit_ptr_add(spv *e, const ir_instr *instr) {
    const ir_value *result = instr->results[0];
    bool wide = qn__spv_is_wide(result->type);
    if (wide && !e->values[result->id].need) return;
    spv_linear sum = {0};
    qn__spv_linear(instr->operands[1], 1, !wide, &sum);
    for (unsigned i = 0; i < sum.count; i++) {
        const spv_term *term = &sum.terms[i];
        if (term->kind == TERM_WIDE)
            need(e, term->value, NEED_FULL);
        else if (term->kind <= TERM_UNSIGNED)
            need(e, term->value, NEED_LOW);
    }
    need(e, instr->operands[0], NEED_FULL);
}

/* Ops whose low half is made of the low halves of the operands. */
static bool is_low_op(const ir_instr *instr) {
    switch (instr->op) {
    case IR_ADD:
    case IR_SUB:
    case IR_MUL:
    case IR_AND:
    case IR_OR:
    case IR_XOR:
    case IR_NOT:
    case IR_SELECT:
    case IR_SEXT:
    case IR_ZEXT: return true;
    case IR_SHL: return qn__ir_is_const(instr->operands[1]);
    default: return qn__ir_ops[instr->op].effects == IR_EFFECT_QUERY;
    }
}

/* A pure op with one i64. */
static void visit_int64(spv *e, const ir_instr *instr) {
    spv_value *v = &e->values[instr->results[0]->id];
    if (!v->need) return;
    if (v->need == NEED_LOW && !is_low_op(instr)) v->need |= NEED_FULL;
    switch (instr->op) {
    case IR_UDIV:
    case IR_SDIV:
    case IR_UREM:
    case IR_SREM:
    case IR_UMULHI:
    case IR_SMULHI:
    case IR_BITCAST:
    case IR_SMIN:
    case IR_SMAX:
    case IR_UMIN:
    case IR_UMAX:
    case IR_CLZ:
    case IR_CTZ:
    case IR_POPCOUNT: want_int64(e, instr, false); break;
    default: break;
    }
    need_operands(e, instr, v->need & NEED_FULL ? NEED_FULL : NEED_LOW);
}

static void visit_access(spv *e, const ir_instr *instr) {
    ir_type type = instr->op == IR_COPY || instr->op == IR_PREFETCH ? qn__ir_type(IR_I32, 1)
                   : instr->num_results                             ? instr->results[0]->type
                                                                    : instr->operands[1]->type;
    bool atomic = instr->op >= IR_ATOMIC_LOAD && instr->op <= IR_ATOMIC_CAS;
    if (is_int64(type) || (atomic && qn__ir_bits(type) == 64)) want_int64(e, instr, atomic || type.lanes > 1);
    if (instr->op != IR_PREFETCH) need_operands(e, instr, NEED_FULL);
}

static void visit_query(spv *e, const ir_instr *instr) {
    unsigned bit = (instr->op - IR_GLOBAL_ID) * 3 + (instr->op < IR_WORK_DIM ? instr->attr.dim : 0);
    e->queries |= (uint64_t)1 << bit;
    if (instr->op == IR_LOCAL_SIZE || instr->op > IR_WORK_DIM) e->guarded = false;
    if (instr->op > IR_WORK_DIM) e->linear = true;
}

static void visit_region(spv *e, const ir_region *region);

/* An atomic or a fence: what it orders, or could be used to. */
static void see_order(spv *e, const ir_instr *instr) {
    bool local = instr->op != IR_FENCE && instr->operands[0]->type.space == IR_LOCAL_SPACE;
    e->shares = true;
    e->shares_buffers |= !local || instr->attr.order != IR_RELAXED;
}

static void visit(spv *e, const ir_instr *instr) {
    const ir_effects effects = qn__ir_effects(instr);
    if (effects == IR_EFFECT_QUERY) visit_query(e, instr);
    if (effects == IR_EFFECT_SYNC) e->shares = true;
    if (qn__ir_is_together((ir_op)instr->op)) {
        e->uses_sync = true;
        e->shares_buffers |= instr->op == IR_BARRIER && instr->attr.fence & IR_FENCE_GLOBAL;
        e->guarded = false;
        e->linear |= instr->op != IR_BARRIER;
    }
    for (uint32_t i = 0; i < instr->num_results; i++)
        if (is_int64(instr->results[i]->type) && instr->results[i]->type.lanes > 1)
            want_int64(e, instr, true);
    for (unsigned i = instr->num_regions; i-- > 0;) visit_region(e, instr->regions[i]);
    if (instr->op == IR_LOOP)
        for (uint32_t i = 0; i < instr->num_operands; i++) need(e, instr->regions[0]->params[i], NEED_FULL);
    switch (instr->op) {
    case IR_PTR_ADD: visit_ptr_add(e, instr); return;
    case IR_ATOMIC_LOAD:
    case IR_ATOMIC_STORE:
    case IR_ATOMIC_RMW:
    case IR_ATOMIC_CAS:
    case IR_FENCE: see_order(e, instr); break;
    case IR_TRUNC: /* a vector has no low half that is kept apart */
        need(e, instr->operands[0], instr->operands[0]->type.lanes == 1 ? NEED_LOW : NEED_FULL);
        return;
    case IR_S2F:
    case IR_U2F: {
        bool is_signed;
        need(e, instr->operands[0], qn__spv_is_word(instr, &is_signed) ? NEED_LOW : NEED_FULL);
        return;
    }
    case IR_GROUP_REDUCE:
    case IR_GROUP_SCAN:
        if (is_int64(instr->results[0]->type)) want_int64(e, instr, true);
        break;
    default: break;
    }
    if (effects >= IR_EFFECT_READ && instr->num_operands && instr->operands[0]->type.kind == IR_PTR &&
        effects <= IR_EFFECT_READWRITE) {
        visit_access(e, instr);
        return;
    }
    bool pure = effects <= IR_EFFECT_QUERY;
    if (pure && instr->num_results == 1 && is_int64(instr->results[0]->type) &&
        instr->results[0]->type.lanes == 1)
        visit_int64(e, instr);
    else
        need_operands(e, instr, NEED_FULL);
}

static void visit_region(spv *e, const ir_region *region) {
    for (const ir_instr *i = region->last; i; i = i->prev) visit(e, i);
}

/* ---- what the device lacks ---- */

static void check_type(spv *e, ir_type type) {
    if (type.kind == IR_F64) qn__spv_need(e, CAP_FLOAT64);
}

/* Types are declared where they are first met, which may be far from the instruction at fault: the one that the device
   lacks altogether is looked for here. */
static void visit_types(ir_instr *instr, void *user) {
    spv *e = user;
    e->loc = instr->loc;
    for (uint32_t i = 0; i < instr->num_results; i++) check_type(e, instr->results[i]->type);
    for (uint32_t i = 0; i < instr->num_operands; i++) check_type(e, instr->operands[i]->type);
}

void qn__spv_plan(spv *e) {
    const ir_function *function = e->function;
    if (e->options->target.lacks_f64) qn__ir_walk(function->body, visit_types, e);
    e->values = QN__NEW_ARRAY(e->arena, spv_value, function->num_values + 1);
    e->queries = 0;
    e->shares = e->shares_buffers = e->uses_sync = false;
    e->guarded = true;
    visit_region(e, function->body);
    for (size_t i = 0; i < function->args.len; i++) {
        const ir_value *value = function->args.data[i].value;
        if (is_int64(value->type) && (e->values[value->id].need || value->type.lanes > 1))
            e->wants_wide = true;
    }
}
