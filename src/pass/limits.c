/* Where a kernel's accesses may lie, as intervals (ir/limits.h). One walk in program order makes a node of each integer that an
   address depends on. What a condition says of its operands holds in the region behind it:

       if (slt %i, %n) { store x[%i] }        inside, %i is what it was and below %n

   A loop's parameter that only grows is at least what it began with (RISING), one that shrinks at most that. That it only grows is
   so where no continue gives less than that, which is a limit of its own: the proof is by induction over the iterations, of
   all loops together, for each interval holds as long as those of the iterations before did. One whose bits constants turn, set or
   clear stays within the bits of these and of what it began with. */
#include "ir/limits.h"

#include <string.h>

#include "ir/reach.h"
#include "pass/guard.h"
#include "util/hash.h"

static const uint32_t not_yet = UINT32_MAX, unknown = UINT32_MAX - 1;

/* A value's node where the walk is. */
typedef struct known {
    uint32_t fixed;       /* told by a condition or a construct, or not_yet */
    uint32_t made, epoch; /* computed, in which scope */
} known;

typedef struct change {
    uint32_t id, before;
} change;

/* An access that a limit was noted for. */
typedef struct judged {
    ir_instr *instr;
    unsigned access;
    uint32_t limit;
} judged;

/* One number is not more than another. */
typedef struct ordered {
    const ir_value *less, *more;
} ordered;

/* A loop's parameter that is `step` more each time; nodes. Not where the step is node 0. */
typedef struct stride {
    uint32_t begin, step;
} stride;

enum { NODE_SLOTS = 2 * QN__LIMIT_NODES };

typedef struct limiter {
    qn__arena *arena, *scratch;
    const ir_function *kernel;
    known *values; /* by id */
    QN__VEC(uint32_t) nodes, limits;
    QN__VEC(change) changes; /* of `fixed`, to be taken back */
    QN__VEC(ordered) orders; /* what conditions say, likewise */
    QN__VEC(judged) judged;
    uint32_t *results;          /* of constructs by value id: what the jumps so far have given */
    bool *wanders;              /* by id of a loop's parameter: its course could not be relied on */
    stride *strides;            /* by id of a loop's parameter */
    QN__VEC(uint32_t) params;   /* by limit: the parameter whose course it is of, or 0 */
    uint32_t slots[NODE_SLOTS]; /* 1 + the node, by a hash of its words */
    uint32_t num_nodes, num_limits, epoch, last_epoch;
    bool is_complete; /* what loops rest on is among the limits */
} limiter;

/* ---- nodes ---- */

static uint32_t *slot_of(limiter *l, const uint32_t *words) {
    uint32_t at = (uint32_t)qn__hash((const char *)words, QN__LIMIT_WORDS * sizeof *words, 0) % NODE_SLOTS;
    while (l->slots[at] && memcmp(&l->nodes.data[(size_t)(l->slots[at] - 1) * QN__LIMIT_WORDS], words,
                                  QN__LIMIT_WORDS * sizeof *words) != 0)
        at = (at + 1) % NODE_SLOTS;
    return &l->slots[at];
}

/* The node of these words; equal ones are one. */
static uint32_t add_node(limiter *l, unsigned op, unsigned kind, unsigned from, uint32_t a, uint32_t b,
                         uint32_t c) {
    const uint32_t words[QN__LIMIT_WORDS] = {op | kind << 8 | from << 16, a, b, c};
    uint32_t *slot = slot_of(l, words);
    if (*slot) return *slot - 1;
    if (l->num_nodes == QN__LIMIT_NODES) return unknown;
    for (unsigned i = 0; i < QN__LIMIT_WORDS; i++) qn__vec_push(l->scratch, &l->nodes, words[i]);
    *slot = ++l->num_nodes;
    return l->num_nodes - 1;
}

static uint32_t add_const(limiter *l, unsigned kind, int64_t value) {
    return add_node(l, QN__SPAN_CONST, kind, kind, (uint32_t)value, (uint32_t)((uint64_t)value >> 32), 0);
}

static uint32_t any(limiter *l, unsigned kind) { return add_node(l, QN__SPAN_ANY, kind, kind, 0, 0, 0); }

static bool is_number(ir_type type) {
    return type.lanes == 1 && (qn__ir_is_int(type) || type.kind == IR_BOOL);
}

static int64_t signed_bits(const ir_value *constant) {
    const unsigned bits = qn__ir_bits(constant->type);
    if (bits == 1) return (int64_t)(constant->bits[0] & 1);
    return (int64_t)(constant->bits[0] << (64 - bits)) >> (64 - bits);
}

static uint32_t add_arg(limiter *l, const ir_value *arg, uint64_t byte, ir_type type) {
    return add_node(l, QN__SPAN_ARG, type.kind, type.kind, arg->index, (uint32_t)byte, qn__ir_bits(type) / 8);
}

/* A field of a struct by value. */
static uint32_t loaded(limiter *l, const ir_instr *load) {
    const ir_value *at = load->operands[0];
    int64_t byte = load->attr.offset;
    while (qn__defined_by(at, IR_PTR_ADD) && qn__ir_is_const(at->def->operands[1])) {
        byte += (int64_t)at->def->operands[1]->bits[0] + at->def->attr.offset;
        at = at->def->operands[0];
    }
    const ir_type type = load->results[0]->type;
    const bool is_field =
        at->value_kind == IR_VALUE_ARG && at->type.space == IR_PARAM_SPACE && byte >= 0 && byte <= INT32_MAX;
    return is_field ? add_arg(l, at, (uint64_t)byte, type) : any(l, type.kind);
}

static bool is_ordered(const limiter *l, const ir_value *less, const ir_value *more) {
    for (size_t i = 0; i < l->orders.len; i++)
        if (l->orders.data[i].less == less && l->orders.data[i].more == more) return true;
    return false;
}

/* Bits of a number, or of what it is a multiple of by a shift. */
static bool is_part(const ir_value *less, const ir_value *more) {
    const ir_value *whole = qn__defined_by(more, IR_SHL) ? more->def->operands[0] : more;
    if (!qn__defined_by(less, IR_AND)) return false;
    for (unsigned k = 0; k < 2; k++)
        if (less->def->operands[k] == more || less->def->operands[k] == whole) return true;
    return false;
}

static uint32_t node_of(limiter *l, const ir_value *value, unsigned depth);

static uint32_t computed(limiter *l, const ir_instr *i, ir_type type, unsigned depth) {
    uint32_t nodes[3] = {0, 0, 0};
    if (qn__reach_is_query(i->op)) return add_node(l, i->op, type.kind, type.kind, i->attr.dim, 0, 0);
    if (i->op >= IR_SUB_GROUP_SIZE && i->op <= IR_SUB_GROUP_LOCAL_ID)
        return add_node(l, i->op, type.kind, type.kind, 0, 0, 0);
    if (i->op == IR_LOAD) return loaded(l, i);
    if (i->op == IR_EXTRACT && i->operands[0]->value_kind == IR_VALUE_ARG)
        return add_arg(l, i->operands[0], i->attr.lanes[0] * (qn__ir_bits(type) / 8u), type);
    if (!qn__reach_is_node(i->op) || i->num_operands > 3) return any(l, type.kind);
    for (uint32_t k = 0; k < i->num_operands; k++) {
        nodes[k] = node_of(l, i->operands[k], depth + 1);
        if (nodes[k] == unknown) return unknown;
    }
    const bool is_rest = i->op == IR_SUB && (is_ordered(l, i->operands[1], i->operands[0]) ||
                                             is_part(i->operands[1], i->operands[0]));
    const unsigned op = is_rest ? QN__SPAN_REST : i->op;
    return add_node(l, op, type.kind, i->operands[0]->type.kind, nodes[0], nodes[1], nodes[2]);
}

/* The node of a value where the walk is; `unknown` where there is no room for one. */
static uint32_t node_of(limiter *l, const ir_value *value, unsigned depth) {
    enum { DEEPEST = 60 };
    known *v = &l->values[value->id];
    if (v->fixed != not_yet) return v->fixed;
    if (v->epoch == l->epoch) return v->made;
    if (!is_number(value->type) || depth > DEEPEST)
        return is_number(value->type) ? any(l, value->type.kind) : unknown;
    uint32_t made;
    switch (value->value_kind) {
    case IR_VALUE_CONST: made = add_const(l, value->type.kind, signed_bits(value)); break;
    case IR_VALUE_ARG: made = add_arg(l, value, 0, value->type); break;
    case IR_VALUE_RESULT:
        made = qn__ir_is_construct(value->def) ? any(l, value->type.kind)
                                               : computed(l, value->def, value->type, depth);
        break;
    default: made = any(l, value->type.kind); break;
    }
    v->made = made;
    v->epoch = l->epoch;
    return made;
}

/* ---- scopes ---- */

static void fix(limiter *l, const ir_value *value, uint32_t node) {
    if (node == unknown || qn__ir_is_const(value)) return;
    qn__vec_push(l->scratch, &l->changes, ((change){value->id, l->values[value->id].fixed}));
    l->values[value->id].fixed = node;
}

typedef struct scope {
    size_t changes, orders;
    uint32_t epoch;
} scope;

/* What is computed from now on is apart from what was before. */
static void renew(limiter *l) { l->epoch = ++l->last_epoch; }

static scope enter(limiter *l) {
    const scope s = {l->changes.len, l->orders.len, l->epoch};
    renew(l);
    return s;
}

static void leave(limiter *l, scope s) {
    while (l->changes.len > s.changes) {
        const change c = l->changes.data[--l->changes.len];
        l->values[c.id].fixed = c.before;
    }
    l->orders.len = s.orders;
    l->epoch = s.epoch;
}

/* ---- conditions ---- */

/* What is left of a parameter that goes on by steps lies on one of them: below 64, with steps of 16, it is 48 at most. */
static uint32_t in_steps(limiter *l, const ir_value *value, uint32_t node) {
    const unsigned kind = value->type.kind;
    while (qn__defined_by(value, IR_ZEXT) || qn__defined_by(value, IR_SEXT)) value = value->def->operands[0];
    const stride *s = &l->strides[value->id];
    if (value->value_kind != IR_VALUE_PARAM || !s->step || node == unknown) return node;
    return add_node(l, QN__SPAN_STEPS, kind, kind, node, s->begin, s->step);
}

static void restrict_to(limiter *l, const ir_value *value, unsigned op, uint32_t other);

/* What holds of the sum of a number and a constant holds of the number, less the constant; and what is then known of that, of the sum. Sums
   may wrap around: where the difference does not, it is the number all the same. */
static void restrict_sum(limiter *l, const ir_value *sum, uint32_t now) {
    const unsigned kind = sum->type.kind;
    const ir_value *number = sum->def->operands[0], *constant = sum->def->operands[1];
    const uint32_t by = node_of(l, constant, 0);
    if (!qn__ir_is_const(constant) || by == unknown || now == unknown) return;
    restrict_to(l, number, QN__SPAN_BOTH, add_node(l, IR_SUB, kind, kind, now, by, 0));
    const uint32_t left = node_of(l, number, 0);
    const uint32_t again = left == unknown ? unknown : add_node(l, IR_ADD, kind, kind, left, by, 0);
    if (again != unknown) fix(l, sum, add_node(l, QN__SPAN_BOTH, kind, kind, now, again, 0));
}

static void restrict_to(limiter *l, const ir_value *value, unsigned op, uint32_t other) {
    const uint32_t before = node_of(l, value, 0);
    if (before == unknown || other == unknown) return;
    const uint32_t now =
        in_steps(l, value, add_node(l, op, value->type.kind, value->type.kind, before, other, 0));
    fix(l, value, now);
    if (qn__defined_by(value, IR_ADD)) restrict_sum(l, value, now);
    if (qn__defined_by(value, IR_SEXT) && now != unknown) /* the number is the same */
        restrict_to(l, value->def->operands[0], QN__SPAN_BOTH, now);
}

/* a < b, or with `equal` a <= b. */
static void order(limiter *l, const ir_value *a, const ir_value *b, bool equal, bool is_signed) {
    const uint32_t below = node_of(l, a, 0), above = node_of(l, b, 0);
    qn__vec_push(l->scratch, &l->orders, ((ordered){a, b}));
    if (is_signed) {
        restrict_to(l, a, equal ? QN__SPAN_UP_TO : QN__SPAN_BELOW, above);
        restrict_to(l, b, equal ? QN__SPAN_FROM : QN__SPAN_ABOVE, below);
    } else {
        restrict_to(l, a, equal ? QN__SPAN_UUP_TO : QN__SPAN_UBELOW, above);
        restrict_to(l, b, equal ? QN__SPAN_UFROM : QN__SPAN_UABOVE, below);
    }
}

static void assume(limiter *l, const ir_value *condition, bool holds, unsigned depth) {
    enum { DEEPEST = 16 };
    if (condition->value_kind != IR_VALUE_RESULT || condition->type.lanes != 1 || depth > DEEPEST) return;
    const ir_instr *i = condition->def;
    switch (i->op) {
    case IR_NOT: assume(l, i->operands[0], !holds, depth + 1); break;
    case IR_AND:
    case IR_OR:
        for (unsigned k = 0; k < 2 && holds == (i->op == IR_AND); k++)
            assume(l, i->operands[k], holds, depth + 1);
        break;
    case IR_SLT:
    case IR_SLE:
    case IR_ULT:
    case IR_ULE: {
        const bool equal = i->op == IR_SLE || i->op == IR_ULE, is_signed = i->op == IR_SLT || i->op == IR_SLE;
        if (!is_number(i->operands[0]->type)) break;
        if (holds)
            order(l, i->operands[0], i->operands[1], equal, is_signed);
        else
            order(l, i->operands[1], i->operands[0], !equal, is_signed);
        break;
    }
    case IR_EQ:
    case IR_NE:
        if (holds != (i->op == IR_EQ) || !is_number(i->operands[0]->type)) break;
        restrict_to(l, i->operands[0], QN__SPAN_BOTH, node_of(l, i->operands[1], 0));
        restrict_to(l, i->operands[1], QN__SPAN_BOTH, node_of(l, i->operands[0], 0));
        break;
    default: break;
    }
}

/* ---- accesses ---- */

/* The number of the limit; `unknown` where there is no room. */
static uint32_t add_limit(limiter *l, qn__limit_kind kind, uint32_t a, uint32_t b, uint32_t c) {
    const uint32_t words[QN__LIMIT_WORDS] = {kind, a, b, c};
    for (uint32_t i = 0; i < l->num_limits; i++)
        if (!memcmp(&l->limits.data[(size_t)i * QN__LIMIT_WORDS], words, sizeof words)) return i;
    if (l->num_limits == QN__LIMITS_MOST) return unknown;
    for (unsigned i = 0; i < QN__LIMIT_WORDS; i++) qn__vec_push(l->scratch, &l->limits, words[i]);
    qn__vec_push(l->scratch, &l->params, 0);
    return l->num_limits++;
}

/* The pointer's distance from the begin of its memory. */
static uint32_t distance(limiter *l, const ir_value *pointer, int64_t offset) {
    uint32_t total = not_yet;
    for (; qn__defined_by(pointer, IR_PTR_ADD); pointer = pointer->def->operands[0]) {
        const uint32_t bytes = node_of(l, pointer->def->operands[1], 0);
        if (bytes == unknown) return unknown;
        total = total == not_yet ? bytes : add_node(l, IR_ADD, IR_I64, IR_I64, total, bytes, 0);
        if (total == unknown) return unknown;
        offset += pointer->def->attr.offset;
    }
    if (total == not_yet || !offset) return total == not_yet ? add_const(l, IR_I64, offset) : total;
    const uint32_t constant = add_const(l, IR_I64, offset);
    return constant == unknown ? unknown : add_node(l, IR_ADD, IR_I64, IR_I64, total, constant, 0);
}

/* The limit that keeps the access within its memory, or `unknown`. */
static uint32_t limit_of(limiter *l, const qn__access *access) {
    const qn__memory memory = qn__memory_of(l->kernel, access->pointer);
    if (!memory.root || !access->size || access->size > UINT32_MAX) return unknown;
    if (memory.param < 0 && access->size > memory.size) return unknown;
    const uint32_t at = distance(l, access->pointer, access->offset);
    if (at == unknown) return unknown;
    const uint64_t last = memory.size - access->size;
    if (memory.param >= 0)
        return add_limit(l, QN__LIMIT_PARAM, at, (uint32_t)memory.param, (uint32_t)access->size);
    return add_limit(l, QN__LIMIT_SIZE, at, (uint32_t)last, (uint32_t)(last >> 32));
}

static void look_at(limiter *l, ir_instr *instr) {
    qn__access accesses[QN__MOST_ACCESSES];
    const unsigned count = qn__accesses_of(instr, accesses);
    if (count) instr->mark = 0;
    for (unsigned k = 0; k < count; k++) {
        const uint32_t limit = limit_of(l, &accesses[k]);
        if (limit != unknown) qn__vec_push(l->scratch, &l->judged, ((judged){instr, k, limit}));
    }
}

/* ---- loops ---- */

/* How a parameter goes on from one iteration to the next. */
typedef enum course {
    STAYS,
    RISES,
    FALLS,
    TURNS,          /* it stays within its bits and those of some constants */
    CHANGES_PLACES, /* it is what it or another parameter of the loop was */
    WANDERS
} course;

/* The sum that the next value is, perhaps of the parameter made wide and then narrow again. */
static const ir_instr *sum_of(const ir_value *param, const ir_value *next) {
    const ir_instr *i = next->value_kind == IR_VALUE_RESULT ? next->def : NULL;
    if (i && i->op == IR_TRUNC && i->operands[0]->value_kind == IR_VALUE_RESULT) i = i->operands[0]->def;
    if (!i || i->op != IR_ADD) return NULL;
    for (unsigned k = 0; k < 2; k++) {
        const ir_value *from = i->operands[k];
        if (qn__defined_by(from, IR_ZEXT) || qn__defined_by(from, IR_SEXT)) from = from->def->operands[0];
        if (from == param) return i;
    }
    return NULL;
}

/* Whether the next value is the parameter with bits of constants, which are collected, turned, set or cleared, or is it in some branches:
   the index of one of two buffers, say. */
static bool is_turned(const ir_value *param, const ir_value *next, uint64_t *bits, unsigned depth) {
    enum { DEEPEST = 8 };
    if (next == param) return true;
    if (next->value_kind != IR_VALUE_RESULT || depth == DEEPEST) return false;
    const ir_instr *i = next->def;
    if (i->op == IR_SELECT)
        return is_turned(param, i->operands[1], bits, depth + 1) &&
               is_turned(param, i->operands[2], bits, depth + 1);
    if (i->op == IR_IF) {
        bool all = true;
        for (uint32_t r = 0; r < i->num_regions && all; r++) {
            const ir_instr *last = i->regions[r]->last;
            all = last && last->op == IR_YIELD &&
                  is_turned(param, last->operands[next->index], bits, depth + 1);
        }
        return all;
    }
    if (i->op != IR_XOR && i->op != IR_OR && i->op != IR_AND) return false;
    const ir_value *by = i->operands[qn__ir_is_const(i->operands[1])];
    if (!qn__ir_is_const(by) || signed_bits(by) < 0) return false;
    *bits |= (uint64_t)signed_bits(by);
    return is_turned(param, i->operands[by == i->operands[0]], bits, depth + 1);
}

static course step_of(const ir_value *param, const ir_value *next) {
    if (next == param) return STAYS;
    if (next->value_kind == IR_VALUE_PARAM && next->def == param->def && is_number(param->type))
        return CHANGES_PLACES;
    if (next->value_kind != IR_VALUE_RESULT || !is_number(param->type)) return WANDERS;
    const ir_instr *sum = sum_of(param, next), *i = sum ? sum : next->def;
    const ir_value *by = i->num_operands == 2 ? i->operands[i->operands[0] == param] : NULL;
    switch (i->op) {
    case IR_ADD: return qn__ir_is_const(by) && signed_bits(by) < 0 ? FALLS : RISES;
    case IR_SHL:
    case IR_MUL:
    case IR_SMAX:
    case IR_UMAX: return RISES;
    case IR_SUB:
    case IR_LSHR:
    case IR_ASHR:
    case IR_UDIV:
    case IR_SDIV:
    case IR_SMIN:
    case IR_UMIN: return FALLS;
    default: {
        uint64_t bits = 0;
        return is_turned(param, next, &bits, 0) ? TURNS : WANDERS;
    }
    }
}

static void join_courses(const ir_region *region, const ir_instr *loop, course *courses) {
    for (const ir_instr *i = region->first; i; i = i->next) {
        for (uint32_t r = 0; r < i->num_regions; r++) join_courses(i->regions[r], loop, courses);
        if (i->op != IR_CONTINUE || i->attr.target != loop) continue;
        for (uint32_t k = 0; k < i->num_operands; k++) {
            const course c = step_of(loop->regions[0]->params[k], i->operands[k]);
            if (courses[k] == STAYS)
                courses[k] = c;
            else if (c != STAYS && c != courses[k])
                courses[k] = WANDERS;
        }
    }
}

/* Parameters that take the places of others which go on in another way wander. True: one has been found. */
static bool spoil(const ir_region *region, const ir_instr *loop, course *courses) {
    bool any_found = false;
    for (const ir_instr *i = region->first; i; i = i->next) {
        for (uint32_t r = 0; r < i->num_regions; r++) any_found |= spoil(i->regions[r], loop, courses);
        if (i->op != IR_CONTINUE || i->attr.target != loop) continue;
        for (uint32_t k = 0; k < i->num_operands; k++) {
            if (courses[k] != CHANGES_PLACES) continue;
            const course of = courses[i->operands[k]->index];
            if (of == STAYS || of == CHANGES_PLACES) continue;
            courses[k] = WANDERS;
            any_found = true;
        }
    }
    return any_found;
}

/* Whatever places they change, the parameters are what some began with. */
static uint32_t any_begin(limiter *l, const ir_region *body, const course *courses, const uint32_t *begins,
                          unsigned kind) {
    uint32_t node = not_yet;
    for (uint32_t k = 0; k < body->num_params; k++) {
        const ir_type type = body->params[k]->type;
        if ((courses[k] != STAYS && courses[k] != CHANGES_PLACES) || !is_number(type) || type.kind != kind)
            continue;
        if (begins[k] == unknown) return unknown;
        node = node == not_yet || node == begins[k]
                   ? begins[k]
                   : add_node(l, QN__SPAN_JOIN, kind, kind, node, begins[k], 0);
        if (node == unknown) return unknown;
    }
    return node;
}

/* Of all that a parameter which turns goes on as. */
static uint64_t turned_bits(const ir_region *region, const ir_value *param) {
    uint64_t bits = 0;
    for (const ir_instr *i = region->first; i; i = i->next) {
        for (uint32_t r = 0; r < i->num_regions; r++) bits |= turned_bits(i->regions[r], param);
        if (i->op == IR_CONTINUE && i->attr.target == param->def)
            (void)is_turned(param, i->operands[param->index], &bits, 0);
    }
    return bits;
}

static uint32_t param_node(limiter *l, const ir_value *param, course c, uint32_t begin) {
    const unsigned kind = param->type.kind;
    if (begin == unknown || c == WANDERS || l->wanders[param->id]) return any(l, kind);
    if (c == STAYS) return begin;
    if (c == TURNS) {
        const uint32_t bits = add_const(l, kind, (int64_t)turned_bits(param->def->regions[0], param));
        return bits == unknown ? any(l, kind) : add_node(l, IR_OR, kind, kind, begin, bits, 0);
    }
    return add_node(l, c == RISES ? QN__SPAN_RISING : QN__SPAN_FALLING, kind, kind, begin, 0, 0);
}

/* What loops around the walk are known by. */
typedef struct loop_course {
    const ir_instr *loop;
    const course *courses;
    const uint32_t *begins;
    const struct loop_course *outer;
} loop_course;

static void walk(limiter *l, const ir_region *region, const loop_course *loops);

/* Each continue must go on as the parameter was taken to; where that cannot be noted, no limit can be relied on. */
static bool look_at_continue(limiter *l, const ir_instr *jump, const loop_course *loops) {
    while (loops && loops->loop != jump->attr.target) loops = loops->outer;
    if (!loops) return false;
    bool noted = true;
    for (uint32_t k = 0; k < jump->num_operands; k++) {
        const course c = loops->courses[k];
        const ir_value *param = jump->attr.target->regions[0]->params[k];
        if ((c != RISES && c != FALLS) || loops->begins[k] == unknown || l->wanders[param->id]) continue;
        const uint32_t next = node_of(l, jump->operands[k], 0);
        const qn__limit_kind kind = c == RISES ? QN__LIMIT_NOT_BELOW : QN__LIMIT_NOT_ABOVE;
        const uint32_t limit = next == unknown ? unknown : add_limit(l, kind, next, loops->begins[k], 0);
        if (limit == unknown)
            noted = false;
        else
            l->params.data[limit] = param->id;
    }
    return noted;
}

/* The number that each continue adds to the parameter, if that is one and the same. */
static const ir_value *common_step(const ir_region *region, const ir_instr *loop, uint32_t k,
                                   const ir_value *step, bool *differs) {
    const ir_value *param = loop->regions[0]->params[k];
    for (const ir_instr *i = region->first; i; i = i->next) {
        for (uint32_t r = 0; r < i->num_regions; r++)
            step = common_step(i->regions[r], loop, k, step, differs);
        if (i->op != IR_CONTINUE || i->attr.target != loop) continue;
        const ir_instr *sum = sum_of(param, i->operands[k]);
        const ir_value *first = sum ? sum->operands[0] : NULL;
        while (first && (qn__defined_by(first, IR_ZEXT) || qn__defined_by(first, IR_SEXT)))
            first = first->def->operands[0];
        const ir_value *by = sum ? sum->operands[first == param] : NULL;
        if (!by || (step && by != step)) *differs = true;
        step = by;
    }
    return step;
}

/* The same in each iteration, as licm would find. */
static bool is_invariant(const ir_value *value, const ir_instr *loop, unsigned depth) {
    enum { DEEPEST = 6 };
    if (qn__is_visible(value, loop)) return true;
    if (value->value_kind != IR_VALUE_RESULT || depth > DEEPEST) return false;
    const ir_effects effects = qn__effects(value->def);
    if (effects != IR_EFFECT_PURE && effects != IR_EFFECT_QUERY) return false;
    for (uint32_t k = 0; k < value->def->num_operands; k++)
        if (!is_invariant(value->def->operands[k], loop, depth + 1)) return false;
    return true;
}

static void find_strides(limiter *l, const ir_instr *loop, const course *courses, const uint32_t *begins) {
    const ir_region *body = loop->regions[0];
    for (uint32_t k = 0; k < body->num_params; k++) {
        const ir_value *param = body->params[k];
        bool differs = false;
        l->strides[param->id] = (stride){0, 0};
        if (courses[k] != RISES || begins[k] == unknown || l->wanders[param->id]) continue;
        const ir_value *step = common_step(body, loop, k, NULL, &differs);
        if (!step || differs || !is_invariant(step, loop, 0)) continue;
        const uint32_t node = node_of(l, step, 0);
        if (node != unknown) l->strides[param->id] = (stride){begins[k], node};
    }
}

static void walk_loop(limiter *l, const ir_instr *loop, const loop_course *outer) {
    const ir_region *body = loop->regions[0];
    course *courses = QN__NEW_ARRAY(l->scratch, course, body->num_params + 1u);
    uint32_t *begins = QN__NEW_ARRAY(l->scratch, uint32_t, body->num_params + 1u);
    join_courses(body, loop, courses);
    while (spoil(body, loop, courses)) continue;
    for (uint32_t k = 0; k < body->num_params; k++)
        begins[k] = is_number(body->params[k]->type) ? node_of(l, loop->operands[k], 0) : unknown;
    find_strides(l, loop, courses, begins);
    const scope s = enter(l);
    for (uint32_t k = 0; k < body->num_params; k++)
        if (is_number(body->params[k]->type))
            fix(l, body->params[k],
                courses[k] == CHANGES_PLACES ? any_begin(l, body, courses, begins, body->params[k]->type.kind)
                                             : param_node(l, body->params[k], courses[k], begins[k]));
    walk(l, body, &(loop_course){loop, courses, begins, outer});
    leave(l, s);
}

/* ---- the walk ---- */

static void give_results(limiter *l, const ir_instr *jump) {
    const ir_receivers to = qn__ir_receivers(jump);
    if (jump->op == IR_CONTINUE) return;
    for (uint32_t k = 0; k < to.count; k++) {
        if (!is_number(to.values[k]->type)) continue;
        uint32_t *result = &l->results[to.values[k]->id];
        const uint32_t given = node_of(l, jump->operands[k], 0);
        const unsigned kind = to.values[k]->type.kind;
        if (*result == not_yet)
            *result = given;
        else if (*result != given && *result != unknown)
            *result = given == unknown ? unknown : add_node(l, QN__SPAN_JOIN, kind, kind, *result, given, 0);
    }
}

/* Constructs are left with what their jumps have given. */
static void take_results(limiter *l, const ir_instr *construct) {
    for (uint32_t k = 0; k < construct->num_results; k++) {
        const ir_value *result = construct->results[k];
        if (!is_number(result->type)) continue;
        const uint32_t node = l->results[result->id];
        fix(l, result, node == not_yet || node == unknown ? any(l, result->type.kind) : node);
    }
}

static bool goes_on(const ir_region *region) { return region->last && region->last->op == IR_YIELD; }

static void walk_if(limiter *l, const ir_instr *branch, const loop_course *loops) {
    for (uint32_t r = 0; r < branch->num_regions; r++) {
        const scope s = enter(l);
        assume(l, branch->operands[0], r == 0, 0);
        renew(l);
        walk(l, branch->regions[r], loops);
        leave(l, s);
    }
    /* Where only one of them goes on, so does what it is for. */
    const bool first = goes_on(branch->regions[0]), second = goes_on(branch->regions[1]);
    renew(l);
    if (first != second) assume(l, branch->operands[0], first, 0);
}

static void walk(limiter *l, const ir_region *region, const loop_course *loops) {
    const scope s = enter(l);
    for (ir_instr *i = region->first; i; i = i->next) {
        look_at(l, i);
        if (i->op == IR_IF) walk_if(l, i, loops);
        if (i->op == IR_LOOP) walk_loop(l, i, loops);
        if (i->op == IR_BLOCK) walk(l, i->regions[0], loops);
        if (qn__ir_is_construct(i)) {
            take_results(l, i);
            renew(l);
        }
        if (qn__ir_is_jump(i)) give_results(l, i);
        if (i->op == IR_CONTINUE && !look_at_continue(l, i, loops)) l->is_complete = false;
    }
    leave(l, s);
}

/* ---- the verdict ---- */

/* The least that a launch can be: what does not hold then never does, for it depends on what is in memory. A 32-bit index
   from there is below 2^32, which no memory is taken to be large enough for. */
static const uint64_t one_item[3] = {1, 1, 1}, no_offset[3];
static const uint32_t one_local[3] = {1, 1, 1};
static const qn__limits_launch least_launch = {
    .global = one_item, .offset = no_offset, .local = one_local, .all_one = true};

static const uint32_t *limit_at(const limiter *l, uint32_t index) {
    return &l->limits.data[(size_t)index * QN__LIMIT_WORDS];
}

static qn__span *spans_of(const limiter *l, const qn__limits_launch *launch) {
    qn__span *spans = QN__NEW_ARRAY(l->scratch, qn__span, l->num_nodes + 1u);
    qn__limits_evaluate(l->nodes.data, l->num_nodes, launch, spans);
    return spans;
}

/* Whether all that must hold of loops does so whatever the launch. */
static bool loops_hold(const limiter *l, const qn__span *spans, const qn__limits_launch *nothing) {
    for (uint32_t i = 0; i < l->num_limits; i++)
        if (limit_at(l, i)[0] >= QN__LIMIT_NOT_BELOW && !qn__limit_holds(limit_at(l, i), spans, nothing))
            return false;
    return true;
}

/* Parameters of loops that do not go as they seemed to. */
static bool find_wandering(limiter *l) {
    const qn__span *spans = spans_of(l, &least_launch);
    bool any_found = false;
    for (uint32_t i = 0; i < l->num_limits; i++) {
        if (limit_at(l, i)[0] < QN__LIMIT_NOT_BELOW || qn__limit_holds(limit_at(l, i), spans, &least_launch))
            continue;
        l->wanders[l->params.data[i]] = true;
        any_found = true;
    }
    return any_found;
}

static void mark(const limiter *l, const uint8_t *verdicts) {
    for (size_t i = 0; i < l->judged.len; i++) {
        const judged *j = &l->judged.data[i];
        j->instr->mark |= (uint32_t)verdicts[j->limit] << (j->access * QN__LIMIT_BITS);
    }
}

static qn__limits words_of(const limiter *l) {
    QN__VEC(uint32_t) words = {0};
    qn__vec_push(l->arena, &words, qn__ir_ops_signature());
    qn__vec_push(l->arena, &words, l->num_nodes);
    qn__vec_push(l->arena, &words, l->num_limits);
    for (size_t i = 0; i < l->nodes.len; i++) qn__vec_push(l->arena, &words, l->nodes.data[i]);
    for (size_t i = 0; i < l->limits.len; i++) qn__vec_push(l->arena, &words, l->limits.data[i]);
    return (qn__limits){words.data, (uint32_t)words.len, false};
}

/* Says what the limits come to, and keeps those that a launch has to be asked about. */
static void judge(limiter *l) {
    const qn__limits_launch nothing = {.args = NULL};
    const qn__span *always = spans_of(l, &nothing), *at_least = spans_of(l, &least_launch);
    uint8_t *verdicts = QN__NEW_ARRAY(l->scratch, uint8_t, l->num_limits + 1u);
    const bool loops = loops_hold(l, always, &nothing);
    uint32_t kept = 0;
    for (uint32_t i = 0; i < l->num_limits; i++) {
        const uint32_t *limit = limit_at(l, i);
        const bool is_certain = loops && qn__limit_holds(limit, always, &nothing);
        const bool is_possible = qn__limit_holds(limit, at_least, &least_launch);
        verdicts[i] = is_certain ? QN__IS_INSIDE : is_possible ? QN__IS_LIMITED : QN__MAY_LEAVE;
        if (verdicts[i] == QN__IS_LIMITED)
            memmove(&l->limits.data[(size_t)kept++ * QN__LIMIT_WORDS], limit,
                    QN__LIMIT_WORDS * sizeof *limit);
    }
    mark(l, verdicts);
    l->num_limits = kept;
    l->limits.len = (size_t)kept * QN__LIMIT_WORDS;
}

/* Limits of accesses, beside those of loops that they rest on. */
static bool has_accesses(const limiter *l) {
    for (uint32_t i = 0; i < l->num_limits; i++)
        if (limit_at(l, i)[0] < QN__LIMIT_NOT_BELOW) return true;
    return false;
}

static void begin(limiter *l) {
    memset(l->slots, 0, sizeof l->slots);
    l->nodes.len = l->limits.len = l->params.len = l->judged.len = l->changes.len = l->orders.len = 0;
    l->num_nodes = l->num_limits = 0;
    l->is_complete = true;
    for (uint32_t i = 0; i <= l->kernel->num_values; i++) {
        l->values[i] = (known){.fixed = not_yet};
        l->results[i] = not_yet;
    }
    l->epoch = l->last_epoch = 0;
    add_const(l, IR_I64, 0); /* operands that are none are node 0 */
    renew(l);
}

/* What is relied on beside: those arguments are multiples of QN__MULTIPLE. */
static bool limit_multiples(limiter *l, const bool *multiples) {
    for (size_t i = 0; i < l->kernel->args.len; i++) {
        const ir_value *arg = l->kernel->args.data[i].value;
        if (!multiples[i]) continue;
        const uint32_t number = add_arg(l, arg, 0, arg->type);
        const uint32_t mask = add_const(l, arg->type.kind, QN__MULTIPLE - 1);
        if (number == unknown || mask == unknown) return false;
        const uint32_t rest = add_node(l, IR_AND, arg->type.kind, arg->type.kind, number, mask, 0);
        if (rest == unknown || add_limit(l, QN__LIMIT_SIZE, rest, 0, 0) == unknown) return false;
    }
    return true;
}

qn__limits qn__find_limits(qn__arena *arena, qn__arena *scratch, ir_function *kernel, const bool *multiples) {
    enum { ROUNDS = 4 };
    limiter *l = QN__NEW(scratch, limiter);
    l->arena = arena, l->scratch = scratch, l->kernel = kernel;
    l->values = QN__NEW_ARRAY(scratch, known, kernel->num_values + 1u);
    l->results = QN__NEW_ARRAY(scratch, uint32_t, kernel->num_values + 1u);
    l->wanders = QN__NEW_ARRAY(scratch, bool, kernel->num_values + 1u);
    l->strides = QN__NEW_ARRAY(scratch, stride, kernel->num_values + 1u);
    for (unsigned round = 0; round < ROUNDS; round++) {
        begin(l);
        walk(l, kernel->body, NULL);
        if (!l->is_complete || !find_wandering(l)) break;
    }
    if (!l->is_complete) return (qn__limits){NULL, 0, false};
    judge(l);
    if (!has_accesses(l)) return (qn__limits){NULL, 0, false};
    const bool relies = multiples && limit_multiples(l, multiples);
    qn__limits limits = words_of(l);
    limits.has_multiples = relies;
    return limits;
}
