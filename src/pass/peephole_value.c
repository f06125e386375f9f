/* Simplifications of conversions, floats, selects and vectors that look into operands; see peephole.h. */
#include <string.h>

#include "pass/peephole.h"

/* ---- conversions ---- */

static ir_value *convert(qn__peephole *p, ir_op op, ir_value *x, ir_type type) {
    return qn__ir_convert(&p->builder, op, x, type);
}

/* The same operation on what the operands are cut to. */
static ir_value *narrowed(qn__peephole *p, const ir_value *value, ir_type type) {
    ir_value *operands[2];
    for (uint32_t i = 0; i < value->def->num_operands; i++)
        operands[i] = convert(p, IR_TRUNC, qn__operand_of(value, i), type);
    if (value->def->num_operands == 1) return qn__ir_op1(&p->builder, (ir_op)value->def->op, operands[0]);
    return qn__ir_op2(&p->builder, (ir_op)value->def->op, operands[0], operands[1]);
}

static ir_value *rule_trunc(qn__peephole *p, ir_instr *instr) {
    ir_value *a = instr->operands[0];
    const ir_type type = instr->results[0]->type;
    if (qn__ir_same(a->type, type)) return a;
    if (a->value_kind != IR_VALUE_RESULT) return NULL;
    const ir_op inner = (ir_op)a->def->op;
    if (p->target->wants_narrow && type.kind == IR_I32 && qn__narrows(a, type, 0))
        return narrowed(p, a, type);
    if (inner != IR_TRUNC && inner != IR_ZEXT && inner != IR_SEXT) return NULL;
    ir_value *x = qn__operand_of(a, 0);
    const unsigned from = qn__ir_bits(x->type), to = qn__ir_bits(type);
    return convert(p, inner == IR_TRUNC || from > to ? IR_TRUNC : inner, x, type);
}

/* Whether a size or an id is known to fit into the type. */
static bool is_narrow_query(const qn__peephole *p, const ir_value *value, ir_type type) {
    return value->value_kind == IR_VALUE_RESULT && qn__effects(value->def) == IR_EFFECT_QUERY &&
           qn__ir_bits(type) >= 32 && (p->function->narrow_ids || qn__ir_has(value->def->op, IR_SMALL));
}

static ir_value *rule_extend(qn__peephole *p, ir_instr *instr) {
    ir_value *a = instr->operands[0];
    const ir_type type = instr->results[0]->type;
    if (qn__ir_same(a->type, type)) return a;
    if (qn__defined_by(a, IR_ZEXT)) return convert(p, IR_ZEXT, qn__operand_of(a, 0), type);
    if (qn__defined_by(a, IR_SEXT) && instr->op == IR_SEXT)
        return convert(p, IR_SEXT, qn__operand_of(a, 0), type);
    if (instr->op == IR_ZEXT && qn__defined_by(a, IR_TRUNC) && a->type.kind != IR_BOOL) {
        ir_value *x = qn__operand_of(a, 0);
        if (qn__ir_same(x->type, type) && is_narrow_query(p, x, a->type)) return x;
        if (qn__ir_same(x->type, type))
            return qn__ir_op2(&p->builder, IR_AND, x,
                              qn__ir_const_splat(p->function, type, qn__lane_mask(a->type)));
    }
    return NULL;
}

static ir_value *rule_bitcast(qn__peephole *p, ir_instr *instr) {
    ir_value *a = instr->operands[0];
    const ir_type type = instr->results[0]->type;
    if (qn__ir_same(a->type, type)) return a;
    if (qn__defined_by(a, IR_BITCAST)) return convert(p, IR_BITCAST, qn__operand_of(a, 0), type);
    if (a->value_kind == IR_VALUE_UNDEF) return qn__ir_undef(p->function, type);
    return NULL;
}

static ir_value *rule_ptr2int(qn__peephole *p, ir_instr *instr) {
    (void)p;
    ir_value *a = instr->operands[0];
    return qn__defined_by(a, IR_INT2PTR) ? qn__operand_of(a, 0) : NULL;
}

static ir_value *rule_int2ptr(qn__peephole *p, ir_instr *instr) {
    (void)p;
    ir_value *a = instr->operands[0];
    if (!qn__defined_by(a, IR_PTR2INT)) return NULL;
    ir_value *pointer = qn__operand_of(a, 0);
    return qn__ir_same(pointer->type, instr->results[0]->type) ? pointer : NULL;
}

static ir_value *rule_fconvert(qn__peephole *p, ir_instr *instr) {
    (void)p;
    ir_value *a = instr->operands[0];
    const ir_type type = instr->results[0]->type;
    if (qn__ir_same(a->type, type)) return a;
    if (!qn__defined_by(a, IR_FCONVERT)) return NULL;
    ir_value *x = qn__operand_of(a, 0); /* widened exactly and brought back */
    return qn__ir_same(x->type, type) && a->type.kind > type.kind ? x : NULL;
}

const qn__peephole_row qn__peephole_convert[] = {
    {IR_TRUNC, rule_trunc},       {IR_ZEXT, rule_extend},
    {IR_SEXT, rule_extend},       {IR_BITCAST, rule_bitcast},
    {IR_PTR2INT, rule_ptr2int},   {IR_INT2PTR, rule_int2ptr},
    {IR_FCONVERT, rule_fconvert}, {0, NULL},
};

/* ---- floats ---- */

static bool negated(const ir_value *value, ir_value **x) {
    if (!qn__defined_by(value, IR_FNEG)) return false;
    *x = qn__operand_of(value, 0);
    return true;
}

static ir_value *with_flags(ir_value *value, const ir_instr *from) {
    value->def->flags = from->flags;
    return value;
}

static ir_value *rule_fadd(qn__peephole *p, ir_instr *instr) {
    ir_value *a = instr->operands[0], *b = instr->operands[1], *x;
    if (instr->op == IR_FADD) {
        if (negated(b, &x)) return with_flags(qn__ir_op2(&p->builder, IR_FSUB, a, x), instr);
        if (negated(a, &x)) return with_flags(qn__ir_op2(&p->builder, IR_FSUB, b, x), instr);
    } else if (negated(b, &x)) {
        return with_flags(qn__ir_op2(&p->builder, IR_FADD, a, x), instr);
    }
    return NULL;
}

/* -a * -b and -a / -b */
static ir_value *rule_fmul(qn__peephole *p, ir_instr *instr) {
    ir_value *x, *y;
    if (!negated(instr->operands[0], &x) || !negated(instr->operands[1], &y)) return NULL;
    return with_flags(qn__ir_op2(&p->builder, (ir_op)instr->op, x, y), instr);
}

static ir_value *rule_fneg(qn__peephole *p, ir_instr *instr) {
    (void)p;
    ir_value *x;
    return negated(instr->operands[0], &x) ? x : NULL;
}

static ir_value *rule_fabs(qn__peephole *p, ir_instr *instr) {
    ir_value *a = instr->operands[0], *x;
    if (qn__defined_by(a, IR_FABS)) return a;
    if (negated(a, &x)) return with_flags(qn__ir_op1(&p->builder, IR_FABS, x), instr);
    if (qn__defined_by(a, IR_FCOPYSIGN))
        return with_flags(qn__ir_op1(&p->builder, IR_FABS, qn__operand_of(a, 0)), instr);
    return NULL;
}

const qn__peephole_row qn__peephole_float[] = {
    {IR_FADD, rule_fadd},
    {IR_FSUB, rule_fadd},
    {IR_FMUL, rule_fmul},
    {IR_FDIV, rule_fmul},
    {IR_FNEG, rule_fneg},
    {IR_FABS, rule_fabs},
    {0, NULL},
};

/* ---- select and vectors ---- */

static ir_value *rule_select(qn__peephole *p, ir_instr *instr) {
    ir_value *c = instr->operands[0], *a = instr->operands[1], *b = instr->operands[2];
    if (a == b || b->value_kind == IR_VALUE_UNDEF) return a;
    if (a->value_kind == IR_VALUE_UNDEF) return b;
    if (qn__defined_by(c, IR_NOT)) return qn__ir_select(&p->builder, qn__operand_of(c, 0), b, a);
    if (qn__defined_by(a, IR_SELECT) && qn__operand_of(a, 0) == c)
        return qn__ir_select(&p->builder, c, qn__operand_of(a, 1), b);
    if (qn__defined_by(b, IR_SELECT) && qn__operand_of(b, 0) == c)
        return qn__ir_select(&p->builder, c, a, qn__operand_of(b, 2));
    return NULL;
}

ir_value *qn__known_lane(qn__peephole *p, ir_value *vector, unsigned lane) {
    for (unsigned steps = 0; steps < 64; steps++) {
        const ir_type element = qn__ir_element(vector->type);
        if (qn__ir_is_const(vector)) return qn__ir_const(p->function, element, &vector->bits[lane]);
        if (vector->value_kind == IR_VALUE_UNDEF) return qn__ir_undef(p->function, element);
        if (vector->value_kind != IR_VALUE_RESULT) return NULL;
        const ir_instr *def = vector->def;
        if (def->op == IR_VECTOR) return def->operands[lane];
        if (def->op == IR_SPLAT) return def->operands[0];
        if (def->op == IR_INSERT) {
            if (def->attr.lanes[0] == lane) return def->operands[1];
            vector = def->operands[0];
        } else if (def->op == IR_SHUFFLE) {
            const unsigned first = def->operands[0]->type.lanes, source = def->attr.lanes[lane];
            if (source == 255) return qn__ir_undef(p->function, element);
            vector = def->operands[source >= first];
            lane = source >= first ? source - first : source;
            if (vector->type.lanes == 1) return vector;
        } else {
            return NULL;
        }
    }
    return NULL;
}

static ir_value *rule_extract(qn__peephole *p, ir_instr *instr) {
    ir_value *vector = instr->operands[0];
    unsigned lane = instr->attr.lanes[0];
    ir_value *known = qn__known_lane(p, vector, lane);
    if (known) return known;
    bool moved = false; /* past inserts of other lanes and shuffles */
    for (unsigned steps = 0; steps < 64 && vector->value_kind == IR_VALUE_RESULT; steps++) {
        const ir_instr *def = vector->def;
        if (def->op == IR_INSERT) {
            vector = def->operands[0];
        } else if (def->op == IR_SHUFFLE) {
            const unsigned first = def->operands[0]->type.lanes, source = def->attr.lanes[lane];
            vector = def->operands[source >= first];
            lane = source >= first ? source - first : source;
        } else {
            break;
        }
        moved = true;
    }
    return moved ? qn__ir_extract(&p->builder, vector, lane) : NULL;
}

static ir_value *rule_extract_dynamic(qn__peephole *p, ir_instr *instr) {
    ir_value *vector = instr->operands[0], *index = instr->operands[1];
    const unsigned lanes = vector->type.lanes, rounded = lanes == 3 ? 4 : lanes;
    if (!qn__ir_is_const(index)) return NULL;
    const unsigned lane = (unsigned)(index->bits[0] & (rounded - 1));
    if (lane >= lanes) return qn__ir_undef(p->function, instr->results[0]->type);
    return qn__ir_extract(&p->builder, vector, lane);
}

/* All lanes taken from one vector: that vector, or a shuffle of it. */
static ir_value *regather(qn__peephole *p, const ir_instr *instr) {
    ir_value *source = NULL;
    uint8_t lanes[16];
    bool in_order = true;
    for (uint32_t i = 0; i < instr->num_operands; i++) {
        const ir_value *scalar = instr->operands[i];
        if (!qn__defined_by(scalar, IR_EXTRACT)) return NULL;
        if (source && qn__operand_of(scalar, 0) != source) return NULL;
        source = qn__operand_of(scalar, 0);
        lanes[i] = scalar->def->attr.lanes[0];
        in_order = in_order && lanes[i] == i;
    }
    if (in_order && source->type.lanes == instr->num_operands) return source;
    return qn__ir_shuffle(&p->builder, source, qn__ir_undef(p->function, source->type), lanes,
                          instr->num_operands);
}

static ir_value *rule_vector(qn__peephole *p, ir_instr *instr) {
    const ir_value *first = instr->operands[0];
    bool same = true;
    for (uint32_t i = 1; i < instr->num_operands; i++) same = same && instr->operands[i] == first;
    if (same) return qn__ir_splat(&p->builder, instr->operands[0], instr->num_operands);
    return regather(p, instr);
}

/* An insert after which every lane is known is a vector; a plain one where the base is not a lone vector
   op. */
static ir_value *rule_insert(qn__peephole *p, ir_instr *instr) {
    const unsigned lanes = instr->results[0]->type.lanes;
    ir_value *scalars[16];
    for (unsigned i = 0; i < lanes; i++) {
        scalars[i] =
            i == instr->attr.lanes[0] ? instr->operands[1] : qn__known_lane(p, instr->operands[0], i);
        if (!scalars[i] || scalars[i]->value_kind == IR_VALUE_UNDEF) return NULL;
    }
    return qn__ir_vector(&p->builder, scalars, lanes);
}

/* Looks through shuffles of shuffles one lane at a time; false if a lane comes from a third vector. */
static bool shuffle_sources(const ir_instr *instr, ir_value **sources, uint8_t *lanes, unsigned count) {
    sources[0] = sources[1] = NULL;
    for (unsigned i = 0; i < count; i++) {
        unsigned lane = instr->attr.lanes[i], first = instr->operands[0]->type.lanes;
        lanes[i] = 255;
        if (lane == 255) continue;
        ir_value *vector = instr->operands[lane >= first];
        if (lane >= first) lane -= first;
        if (qn__defined_by(vector, IR_SHUFFLE)) {
            const ir_instr *inner = vector->def;
            lane = inner->attr.lanes[lane];
            if (lane == 255) continue;
            first = inner->operands[0]->type.lanes;
            vector = inner->operands[lane >= first];
            if (lane >= first) lane -= first;
        }
        if (vector->value_kind == IR_VALUE_UNDEF) continue;
        const unsigned which = !sources[0] || sources[0] == vector ? 0 : 1;
        if (which && sources[1] && sources[1] != vector) return false;
        sources[which] = vector;
        lanes[i] = (uint8_t)(lane | (which ? 128 : 0));
    }
    return true;
}

static ir_value *rule_shuffle(qn__peephole *p, ir_instr *instr) {
    const ir_type type = instr->results[0]->type;
    ir_value *sources[2], *scalars[16];
    uint8_t lanes[16];
    unsigned known = 0;
    while (known < type.lanes && (scalars[known] = qn__known_lane(p, instr->results[0], known))) known++;
    if (known == type.lanes) return qn__ir_vector(&p->builder, scalars, type.lanes);
    if (!shuffle_sources(instr, sources, lanes, type.lanes)) return NULL;
    if (!sources[0]) return qn__ir_undef(p->function, type);
    if (sources[1] && !qn__ir_same(sources[0]->type, sources[1]->type)) return NULL;
    bool identity = qn__ir_same(sources[0]->type, type) && !sources[1];
    for (unsigned i = 0; i < type.lanes; i++) {
        identity = identity && (lanes[i] == i || lanes[i] == 255);
        if (lanes[i] != 255 && lanes[i] & 128)
            lanes[i] = (uint8_t)((lanes[i] & 127) + sources[0]->type.lanes);
    }
    if (identity) return sources[0];
    ir_value *second = sources[1] ? sources[1] : qn__ir_undef(p->function, sources[0]->type);
    if (second == instr->operands[1] && sources[0] == instr->operands[0] &&
        !memcmp(lanes, instr->attr.lanes, type.lanes))
        return NULL;
    return qn__ir_shuffle(&p->builder, sources[0], second, lanes, type.lanes);
}

const qn__peephole_row qn__peephole_vector[] = {
    {IR_SELECT, rule_select},
    {IR_EXTRACT, rule_extract},
    {IR_EXTRACT_DYNAMIC, rule_extract_dynamic},
    {IR_VECTOR, rule_vector},
    {IR_INSERT, rule_insert},
    {IR_SHUFFLE, rule_shuffle},
    {0, NULL},
};
