/* Addresses as sums: the bytes added to a pointer are taken apart into constant + scale * value + ...,
   looking through sign extensions of sums that do not overflow. Constant parts go into the offsets of the
   accesses, so that neighbours share an address; parts that do not change in a loop are added first, so that
   loop-invariant motion takes them out.

       %j = add nsw %i, 3                            %w = sext %i
       %w = sext %j                                  %b = shl %w, 2
       %b = shl %w, 2                        ->      %p = ptr_add %base, %b
       %p = ptr_add %base, %b                        load offset 12 %p
       load %p

   An address is taken apart only where that yields a constant or parts of different loops. In private, local
   and constant memory the constant stays with the rest: without it the address may lie before its object,
   which the compilers that some targets feed (not those with wants_offsets) take to be impossible. */
#include "pass/peephole.h"

enum { MAX_TERMS = 8, MAX_EXPRESSION = 16, MAX_STEPS = 64 };

typedef struct term {
    ir_value *value; /* before extension */
    ir_op extend;    /* IR_SEXT, IR_ZEXT, or IR_BITCAST for none */
    uint64_t scale;
} term;

typedef struct sum {
    term terms[MAX_TERMS];
    unsigned count;
    uint64_t constant;
    unsigned steps; /* shared subexpressions are walked each time */
    bool failed;
} sum;

typedef struct linearizer {
    ir_function *function;
    ir_builder builder;
    qn__rewrite rewrite;
    uint16_t *depth_of; /* by id: loops around the definition */
    uint32_t num_ids;
    bool anywhere; /* addresses may lie outside their objects */
    bool changed;
} linearizer;

/* ---- taking apart ---- */

static void add_term(sum *s, ir_value *value, ir_op extend, uint64_t scale) {
    for (unsigned i = 0; i < s->count; i++) {
        if (s->terms[i].value != value || s->terms[i].extend != extend) continue;
        s->terms[i].scale += scale;
        return;
    }
    if (s->count == MAX_TERMS)
        s->failed = true;
    else
        s->terms[s->count++] = (term){value, extend, scale};
}

static uint64_t widened(const ir_value *constant, ir_op extend) {
    const unsigned shift = 64 - qn__ir_bits(constant->type);
    const uint64_t bits = constant->bits[0];
    return extend == IR_SEXT ? (uint64_t)((int64_t)(bits << shift) >> shift) : bits;
}

/* Adds scale * extend(value). Inside an extension only steps that do not overflow in its sense are looked
   through. */
static void take_apart(sum *s, ir_value *value, ir_op extend, uint64_t scale, unsigned depth) {
    if (qn__ir_is_const(value)) {
        s->constant += scale * widened(value, extend);
        return;
    }
    if (value->value_kind != IR_VALUE_RESULT || depth > MAX_EXPRESSION || ++s->steps > MAX_STEPS) {
        add_term(s, value, extend, scale);
        return;
    }
    const ir_instr *def = value->def;
    const unsigned needed = extend == IR_SEXT ? IR_NSW : extend == IR_ZEXT ? IR_NUW : 0;
    const bool exact = (def->flags & needed) == needed;
    ir_value *a = def->num_operands ? def->operands[0] : NULL,
             *b = def->num_operands > 1 ? def->operands[1] : NULL;
    if (def->op == IR_ADD && exact) {
        take_apart(s, a, extend, scale, depth + 1);
        take_apart(s, b, extend, scale, depth + 1);
    } else if (def->op == IR_SUB && exact) {
        take_apart(s, a, extend, scale, depth + 1);
        take_apart(s, b, extend, 0 - scale, depth + 1);
    } else if (def->op == IR_MUL && exact && qn__ir_is_const(b)) {
        take_apart(s, a, extend, scale * widened(b, extend), depth + 1);
    } else if (def->op == IR_SHL && exact && qn__ir_is_const(b)) {
        take_apart(s, a, extend, scale << (b->bits[0] & (qn__ir_bits(value->type) - 1)), depth + 1);
    } else if ((def->op == IR_SEXT || def->op == IR_ZEXT) && extend == IR_BITCAST &&
               a->type.kind != IR_BOOL) {
        take_apart(s, a, (ir_op)def->op, scale, depth + 1);
    } else {
        add_term(s, value, extend, scale);
    }
}

/* ---- putting together ---- */

static uint32_t depth_of(const linearizer *l, const ir_value *value) {
    return value->id < l->num_ids ? l->depth_of[value->id] : 0;
}

static ir_value *extended(linearizer *l, const term *t) {
    return t->extend == IR_BITCAST ? t->value
                                   : qn__ir_convert(&l->builder, t->extend, t->value, qn__ir_type(IR_I64, 1));
}

static ir_value *scaled(linearizer *l, ir_value *value, uint64_t scale) {
    if (scale == 1) return value;
    unsigned log = 0;
    while (log < 63 && scale >> log != 1) log++;
    if (scale == UINT64_C(1) << log)
        return qn__ir_op2(&l->builder, IR_SHL, value, qn__ir_const_int(l->function, IR_I64, log));
    return qn__ir_op2(&l->builder, IR_MUL, value, qn__ir_const_int(l->function, IR_I64, (int64_t)scale));
}

/* The sum of the terms of one depth, those of one scale together; NULL if there are none. */
static ir_value *sum_at(linearizer *l, sum *s, uint32_t depth) {
    ir_value *total = NULL;
    for (unsigned i = 0; i < s->count; i++) {
        if (!s->terms[i].scale || depth_of(l, s->terms[i].value) != depth) continue;
        const uint64_t scale = s->terms[i].scale;
        ir_value *group = NULL;
        for (unsigned j = i; j < s->count; j++) {
            if (s->terms[j].scale != scale || depth_of(l, s->terms[j].value) != depth) continue;
            ir_value *value = extended(l, &s->terms[j]);
            group = group ? qn__ir_op2(&l->builder, IR_ADD, group, value) : value;
            s->terms[j].scale = 0; /* done */
        }
        group = scaled(l, group, scale);
        total = total ? qn__ir_op2(&l->builder, IR_ADD, total, group) : group;
    }
    return total;
}

static uint32_t deepest(const linearizer *l, const sum *s) {
    uint32_t depth = 0;
    for (unsigned i = 0; i < s->count; i++)
        if (depth_of(l, s->terms[i].value) > depth) depth = depth_of(l, s->terms[i].value);
    return depth;
}

static bool depths_differ(const linearizer *l, const sum *s) {
    for (unsigned i = 1; i < s->count; i++)
        if (depth_of(l, s->terms[i].value) != depth_of(l, s->terms[0].value)) return true;
    return false;
}

static bool keeps_constant(const linearizer *l, const ir_value *pointer) {
    return pointer->type.space != IR_GLOBAL_SPACE && !l->anywhere;
}

/* The pointer without its constant part, and that behind it. */
static ir_value *rebuild(linearizer *l, const ir_instr *instr, sum *s, bool apart) {
    ir_value *pointer = instr->operands[0];
    if (apart) {
        const uint32_t last = deepest(l, s);
        for (uint32_t depth = 0; depth <= last; depth++) {
            ir_value *bytes = sum_at(l, s, depth);
            if (depth == last && s->constant && keeps_constant(l, pointer)) {
                ir_value *constant = qn__ir_const_int(l->function, IR_I64, (int64_t)s->constant);
                bytes = bytes ? qn__ir_op2(&l->builder, IR_ADD, bytes, constant) : constant;
                s->constant = 0;
            }
            if (bytes) pointer = qn__ir_ptr_add(&l->builder, pointer, bytes);
        }
    } else {
        pointer = qn__ir_ptr_add(&l->builder, pointer, instr->operands[1]);
    }
    const uint64_t offset = (uint64_t)instr->attr.offset + (apart ? s->constant : 0);
    if (!offset) return pointer;
    ir_value *operands[] = {pointer, qn__ir_const_int(l->function, IR_I64, 0)};
    ir_instr *add = qn__ir_emit(&l->builder, IR_PTR_ADD, operands, 2, &pointer->type, 1);
    add->attr.offset = (int64_t)offset;
    return add->results[0];
}

/* A constant that was added last to the pointer below is added last here. */
static void pull_offset(const linearizer *l, ir_instr *instr) {
    const ir_value *base = instr->operands[0];
    if (!qn__defined_by(base, IR_PTR_ADD) || keeps_constant(l, base)) return;
    const ir_instr *below = base->def;
    if (!qn__ir_is_const(below->operands[1])) return;
    instr->attr.offset += below->attr.offset + (int64_t)below->operands[1]->bits[0];
    instr->operands[0] = below->operands[0];
    qn__ir_touch(instr);
}

static ir_value *linearize(linearizer *l, ir_instr *instr) {
    sum s = {.count = 0};
    pull_offset(l, instr);
    if (qn__ir_is_const(instr->operands[1])) return NULL;
    take_apart(&s, instr->operands[1], IR_BITCAST, 1, 0);
    const bool constant = s.constant && !keeps_constant(l, instr->operands[0]);
    const bool apart = !s.failed && (constant || depths_differ(l, &s));
    if (!apart && !instr->attr.offset) return NULL;
    qn__ir_at(&l->builder, instr);
    return rebuild(l, instr, &s, apart);
}

/* ---- the walk ---- */

static bool is_access(const ir_instr *i) {
    return i->op == IR_LOAD || i->op == IR_STORE || (i->op >= IR_ATOMIC_LOAD && i->op <= IR_ATOMIC_CAS);
}

/* Until then it is 0. Nesting has a bound. */
static void set_depth(linearizer *l, ir_value *const *values, uint32_t count, uint32_t depth) {
    for (uint32_t i = 0; depth && i < count; i++)
        if (values[i]->id < l->num_ids) l->depth_of[values[i]->id] = (uint16_t)depth;
}

static void visit(linearizer *l, ir_region *region, uint32_t depth) {
    for (ir_instr *i = region->first, *next; i; i = next) {
        next = i->next;
        qn__rewrite_operands(&l->rewrite, i);
        set_depth(l, i->results, i->num_results, depth);
        if (is_access(i) && qn__fold_access_offset(i)) l->changed = true;
        ir_value *pointer = i->op == IR_PTR_ADD ? linearize(l, i) : NULL;
        if (pointer) {
            qn__rewrite_set(&l->rewrite, i->results[0], pointer);
            qn__ir_unlink(i);
            l->changed = true;
            continue;
        }
        for (uint32_t r = 0; r < i->num_regions; r++) {
            const uint32_t inner = depth + (i->op == IR_LOOP);
            set_depth(l, i->regions[r]->params, i->regions[r]->num_params, inner);
            visit(l, i->regions[r], inner);
        }
    }
}

bool qn__pass_address(qn__pass_context *context) {
    linearizer l = {.function = context->function, .builder = {.function = context->function}};
    l.anywhere = context->options->target.wants_offsets;
    l.num_ids = context->function->num_values;
    l.depth_of = QN__NEW_ARRAY(context->scratch, uint16_t, l.num_ids + 1u);
    visit(&l, context->function->body, 0);
    return l.changed;
}
