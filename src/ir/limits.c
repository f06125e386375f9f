/* Interval arithmetic on the integer ops, for ir/limits.h: after R. E. Moore, "Interval Analysis". What may wrap around may be
   anything. */
#include "ir/limits.h"

#include <string.h>

#include "ir/reach.h"

static const qn__span none = {1, 0};

static bool is_none(qn__span s) { return s.low > s.high; }
static bool is_one(qn__span s) { return s.low == s.high; }
static bool is_natural(qn__span s) { return s.low >= 0; }
static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }
static int64_t most(int64_t a, int64_t b) { return a > b ? a : b; }

static qn__span all_of(unsigned kind) {
    if (kind == IR_BOOL) return (qn__span){0, 1};
    const unsigned bits = kind < IR_KIND_COUNT ? qn__ir_kind_bits[kind] : 64;
    if (bits == 0 || bits >= 64) return (qn__span){INT64_MIN, INT64_MAX};
    return (qn__span){-(INT64_C(1) << (bits - 1)), (INT64_C(1) << (bits - 1)) - 1};
}

static qn__span fitted(qn__span s, unsigned kind) {
    const qn__span all = all_of(kind);
    return s.low < all.low || s.high > all.high ? all : s;
}

static qn__span joined(qn__span a, qn__span b) {
    if (is_none(a)) return b;
    if (is_none(b)) return a;
    return (qn__span){least(a.low, b.low), most(a.high, b.high)};
}

static qn__span common(qn__span a, qn__span b) {
    return (qn__span){most(a.low, b.low), least(a.high, b.high)};
}

/* ---- arithmetic ---- */

static qn__span sum(qn__span a, qn__span b, unsigned kind) {
    qn__span s;
    if (__builtin_add_overflow(a.low, b.low, &s.low) || __builtin_add_overflow(a.high, b.high, &s.high))
        return all_of(kind);
    return fitted(s, kind);
}

static qn__span difference(qn__span a, qn__span b, unsigned kind) {
    qn__span s;
    if (__builtin_sub_overflow(a.low, b.high, &s.low) || __builtin_sub_overflow(a.high, b.low, &s.high))
        return all_of(kind);
    return fitted(s, kind);
}

static qn__span product(qn__span a, qn__span b, unsigned kind) {
    int64_t p, q, r, s;
    if (__builtin_mul_overflow(a.low, b.low, &p) || __builtin_mul_overflow(a.low, b.high, &q) ||
        __builtin_mul_overflow(a.high, b.low, &r) || __builtin_mul_overflow(a.high, b.high, &s))
        return all_of(kind);
    return fitted((qn__span){least(least(p, q), least(r, s)), most(most(p, q), most(r, s))}, kind);
}

/* Divisors are positive. */
static qn__span quotient(qn__span a, qn__span b) {
    const int64_t low = least(a.low / b.low, a.low / b.high), high = most(a.high / b.low, a.high / b.high);
    return (qn__span){low, high};
}

static qn__span unsigned_quotient(qn__span a, qn__span b, unsigned kind) {
    if (!is_natural(a) || !is_natural(b)) return all_of(kind);
    return b.low > 0 ? quotient(a, b) : (qn__span){0, a.high}; /* a zero divisor counts as 1 */
}

static qn__span remainder_of(qn__span a, qn__span b, unsigned kind) {
    if (b.low <= 0) return all_of(kind);
    const int64_t largest = b.high - 1;
    return (qn__span){a.low < 0 ? most(-largest, a.low) : 0, a.high > 0 ? least(largest, a.high) : 0};
}

static qn__span unsigned_remainder(qn__span a, qn__span b, unsigned kind) {
    if (!is_natural(b)) return all_of(kind);
    const int64_t largest = most(b.high - 1, 0);
    return (qn__span){0, is_natural(a) ? least(a.high, largest) : largest};
}

/* ---- bits ---- */

static unsigned width_of(unsigned kind) { return kind < IR_KIND_COUNT ? qn__ir_kind_bits[kind] : 64; }

static bool is_shift(qn__span by, unsigned kind) {
    return is_natural(by) && by.high < (int64_t)width_of(kind) && by.high < 63;
}

static qn__span shifted_left(qn__span a, qn__span by, unsigned kind) {
    if (!is_shift(by, kind)) return all_of(kind);
    return product(a, (qn__span){INT64_C(1) << by.low, INT64_C(1) << by.high}, kind);
}

static qn__span shifted_right(qn__span a, qn__span by, unsigned kind, bool is_signed) {
    if (!is_shift(by, kind)) return all_of(kind);
    if (is_natural(a)) return (qn__span){a.low >> by.high, a.high >> by.low};
    if (is_signed) return (qn__span){a.low >> by.low, a.high < 0 ? a.high >> by.high : a.high >> by.low};
    if (!by.low) return all_of(kind);
    return (qn__span){0, (int64_t)(UINT64_MAX >> (64 - width_of(kind)) >> by.low)};
}

static qn__span bits_common(qn__span a, qn__span b, unsigned kind) {
    if (a.low == a.high && b.low == b.high) return (qn__span){a.low & b.low, a.low & b.low};
    if (is_natural(a) && is_natural(b)) return (qn__span){0, least(a.high, b.high)};
    if (is_natural(a)) return (qn__span){0, a.high};
    return is_natural(b) ? (qn__span){0, b.high} : all_of(kind);
}

/* All bits up to the highest that is set. */
static int64_t filled(int64_t value) {
    for (unsigned s = 1; s < 64; s *= 2) value |= value >> s;
    return value;
}

static qn__span bits_joined(qn__span a, qn__span b, unsigned kind) {
    if (!is_natural(a) || !is_natural(b)) return all_of(kind);
    return (qn__span){0, filled(a.high | b.high)};
}

/* ---- as unsigned ---- */

static qn__span unsigned_least(qn__span a, qn__span b, unsigned kind) {
    if (is_natural(a) && is_natural(b)) return (qn__span){least(a.low, b.low), least(a.high, b.high)};
    return bits_common(a, b, kind);
}

static qn__span unsigned_most(qn__span a, qn__span b, unsigned kind) {
    if (!is_natural(a) || !is_natural(b)) return all_of(kind);
    return (qn__span){most(a.low, b.low), most(a.high, b.high)};
}

static qn__span widened(qn__span a, unsigned from) {
    if (is_natural(a)) return a;
    return (qn__span){0, from == IR_I64 ? INT64_MAX : (INT64_C(1) << width_of(from)) - 1};
}

/* ---- conditions ---- */

static qn__span below(qn__span a, qn__span b, bool equal) {
    if (is_none(b) || (!equal && b.high == INT64_MIN)) return none;
    return (qn__span){a.low, least(a.high, b.high - !equal)};
}

static qn__span above(qn__span a, qn__span b, bool equal) {
    if (is_none(b) || (!equal && b.low == INT64_MAX)) return none;
    return (qn__span){most(a.low, b.low + !equal), a.high};
}

/* A number that is less than one that is not negative is not negative either. */
static qn__span unsigned_below(qn__span a, qn__span b, bool equal) {
    if (!is_natural(b)) return a;
    return below((qn__span){most(a.low, 0), a.high}, b, equal);
}

static qn__span unsigned_above(qn__span a, qn__span b, bool equal) {
    return is_natural(a) && is_natural(b) ? above(a, b, equal) : a;
}

/* ---- nodes ---- */

static uint64_t groups_of(const qn__limits_launch *l, uint32_t d) {
    return (l->global[d] + l->local[d] - 1) / l->local[d];
}

static qn__span up_to(uint64_t count) {
    return (qn__span){0, count > (uint64_t)INT64_MAX ? INT64_MAX : (int64_t)(count - 1)};
}

static qn__span exactly(uint64_t value) {
    if (value > (uint64_t)INT64_MAX) return all_of(IR_I64);
    return (qn__span){(int64_t)value, (int64_t)value};
}

static qn__span query(const qn__limits_launch *l, unsigned op, uint32_t d) {
    const qn__span some = {1, INT64_MAX};
    if (!l->global || d > 2 || !l->local[d])
        return qn__ir_has(op, IR_POSITIVE) ? some : (qn__span){0, INT64_MAX};
    switch (op) {
    case IR_GLOBAL_ID: return sum(up_to(l->global[d]), exactly(l->offset[d]), IR_I64);
    case IR_LOCAL_ID: return up_to(l->local[d]);
    case IR_GROUP_ID: return up_to(groups_of(l, d));
    case IR_GLOBAL_SIZE: return exactly(l->global[d]);
    case IR_LOCAL_SIZE: return (qn__span){l->global[d] % l->local[d] ? 1 : l->local[d], l->local[d]};
    case IR_ENQUEUED_LOCAL_SIZE: return exactly(l->local[d]);
    case IR_NUM_GROUPS: return exactly(groups_of(l, d));
    case IR_GLOBAL_OFFSET: return exactly(l->offset[d]);
    default: return (qn__span){0, INT32_MAX};
    }
}

static qn__span sub_group_query(const qn__limits_launch *l, unsigned op) {
    const bool is_size = qn__ir_has(op, IR_POSITIVE);
    if (!l->global || op == IR_MAX_SUB_GROUP_SIZE) return (qn__span){is_size, INT32_MAX};
    const int64_t items = (int64_t)l->local[0] * l->local[1] * l->local[2];
    return (qn__span){is_size, is_size ? items : items - 1};
}

static uint32_t by_param(const qn__limits_launch *l, const uint32_t *first, uint32_t param) {
    return *(const uint32_t *)(const void *)((const unsigned char *)first + param * l->arg_stride);
}

static qn__span argument(const qn__limits_launch *l, const uint32_t *node, unsigned kind) {
    const uint32_t param = node[1], byte = node[2], size = node[3];
    if (l->all_one) return (qn__span){1, 1};
    if (!l->args || param >= l->num_args || size > sizeof(int64_t)) return all_of(kind);
    const uint32_t room = by_param(l, l->arg_sizes, param);
    if (byte > room || size > room - byte || !size) return all_of(kind);
    uint64_t bits = 0;
    memcpy(&bits, l->args + by_param(l, l->arg_offsets, param) + byte, size); /* little-endian */
    const unsigned above_it = 64 - 8 * size;
    const int64_t value = kind == IR_BOOL ? (int64_t)(bits & 1) : (int64_t)(bits << above_it) >> above_it;
    return (qn__span){value, value};
}

static qn__span integer_op(unsigned op, unsigned kind, qn__span a, qn__span b) {
    switch (op) {
    case IR_ADD: return sum(a, b, kind);
    case IR_SUB: return difference(a, b, kind);
    case IR_MUL: return product(a, b, kind);
    case IR_UDIV: return unsigned_quotient(a, b, kind);
    case IR_SDIV: return b.low > 0 ? quotient(a, b) : all_of(kind);
    case IR_UREM: return unsigned_remainder(a, b, kind);
    case IR_SREM: return remainder_of(a, b, kind);
    case IR_SMIN: return (qn__span){least(a.low, b.low), least(a.high, b.high)};
    case IR_SMAX: return (qn__span){most(a.low, b.low), most(a.high, b.high)};
    case IR_UMIN: return unsigned_least(a, b, kind);
    case IR_UMAX: return unsigned_most(a, b, kind);
    case IR_AND: return kind == IR_BOOL ? all_of(kind) : bits_common(a, b, kind);
    case IR_OR:
    case IR_XOR: return kind == IR_BOOL ? all_of(kind) : bits_joined(a, b, kind);
    case IR_NOT: return kind == IR_BOOL ? all_of(kind) : (qn__span){~a.high, ~a.low};
    case IR_SHL: return shifted_left(a, b, kind);
    case IR_LSHR: return shifted_right(a, b, kind, false);
    case IR_ASHR: return shifted_right(a, b, kind, true);
    case IR_CLZ:
    case IR_CTZ:
    case IR_POPCOUNT: return (qn__span){0, width_of(kind)};
    default: return all_of(kind);
    }
}

static qn__span convert(unsigned op, unsigned from, unsigned kind, qn__span a) {
    if (op == IR_ZEXT) return widened(a, from);
    if (op == IR_SEXT) return from == IR_BOOL ? (qn__span){-a.high, -a.low} : a;
    return fitted(a, kind);
}

/* Of numbers that are not negative nothing is lost then. */
static qn__span rest_of(qn__span a, qn__span b, unsigned kind) {
    if (!is_natural(a) || !is_natural(b)) return difference(a, b, kind);
    return (qn__span){most(a.low - b.high, 0), most(a.high - b.low, 0)};
}

/* Of numbers behind `begin`, a step apart, the last is at most that. */
static qn__span in_steps(qn__span a, qn__span begin, qn__span step) {
    if (!is_one(begin) || !is_one(step) || begin.low < 0 || step.low <= 0 || a.high < begin.low) return a;
    return (qn__span){a.low, a.high - (a.high - begin.low) % step.low};
}

static qn__span of_condition(unsigned op, qn__span a, qn__span b) {
    switch (op) {
    case QN__SPAN_BOTH: return common(a, b);
    case QN__SPAN_BELOW:
    case QN__SPAN_UP_TO: return below(a, b, op == QN__SPAN_UP_TO);
    case QN__SPAN_ABOVE:
    case QN__SPAN_FROM: return above(a, b, op == QN__SPAN_FROM);
    case QN__SPAN_UBELOW:
    case QN__SPAN_UUP_TO: return unsigned_below(a, b, op == QN__SPAN_UUP_TO);
    default: return unsigned_above(a, b, op == QN__SPAN_UFROM);
    }
}

static qn__span evaluate(const uint32_t *node, const qn__limits_launch *l, const qn__span *spans,
                         uint32_t at) {
    const unsigned op = node[0] & 255, kind = node[0] >> 8 & 255, from = node[0] >> 16 & 255;
    if (op == QN__SPAN_CONST) {
        const int64_t value = (int64_t)(node[1] | (uint64_t)node[2] << 32);
        return (qn__span){value, value};
    }
    if (op == QN__SPAN_ARG) return argument(l, node, kind);
    if (op == QN__SPAN_ANY) return all_of(kind);
    if (op < IR_OP_COUNT && qn__reach_is_query(op)) return fitted(query(l, op, node[1]), kind);
    if (op >= IR_SUB_GROUP_SIZE && op <= IR_SUB_GROUP_LOCAL_ID) return sub_group_query(l, op);
    if (node[1] >= at || node[2] >= at || node[3] >= at) return all_of(kind);
    const qn__span a = spans[node[1]], b = spans[node[2]], c = spans[node[3]];
    if (op == QN__SPAN_JOIN) return joined(a, b);
    if (op == IR_SELECT) return is_none(a) ? none : is_one(a) ? (a.low ? b : c) : joined(b, c);
    if (is_none(a)) return none;
    if (op == QN__SPAN_RISING) return (qn__span){a.low, all_of(kind).high};
    if (op == QN__SPAN_STEPS) return in_steps(a, b, c);
    if (op == QN__SPAN_REST) return is_none(b) ? none : rest_of(a, b, kind);
    if (op == QN__SPAN_FALLING) return (qn__span){all_of(kind).low, a.high};
    if (op >= QN__SPAN_LEAST) return of_condition(op, a, b);
    if (op >= IR_OP_COUNT) return all_of(kind);
    if (qn__ir_ops[op].rule == RULE_CONVERT) return convert(op, from, kind, a);
    return is_none(b) ? none : integer_op(op, kind, a, b);
}

void qn__limits_evaluate(const uint32_t *nodes, uint32_t count, const qn__limits_launch *launch,
                         qn__span *spans) {
    for (uint32_t i = 0; i < count; i++)
        spans[i] = evaluate(nodes + (size_t)i * QN__LIMIT_WORDS, launch, spans, i);
}

bool qn__limit_holds(const uint32_t *limit, const qn__span *spans, const qn__limits_launch *launch) {
    const qn__span s = spans[limit[1]];
    if (is_none(s)) return true;
    if (limit[0] == QN__LIMIT_SIZE) {
        const uint64_t size = limit[2] | (uint64_t)limit[3] << 32;
        return s.low >= 0 && (uint64_t)s.high <= size;
    }
    if (limit[0] == QN__LIMIT_PARAM) {
        if (launch->all_one) return s.low >= 0 && s.high < INT32_MAX;
        if (!launch->extents || limit[2] >= launch->num_args) return false;
        const uint64_t extent = launch->extents[limit[2]], bytes = limit[3];
        return s.low >= 0 && bytes <= extent && (uint64_t)s.high <= extent - bytes;
    }
    const qn__span t = spans[limit[2]];
    if (is_none(t)) return true;
    return limit[0] == QN__LIMIT_NOT_BELOW ? s.low >= t.low : s.high <= t.high;
}

bool qn__limits_hold(const uint32_t *words, uint32_t count, const qn__limits_launch *launch) {
    enum { HEADER = 3 };
    qn__span spans[QN__LIMIT_NODES];
    if (count < HEADER || words[0] != qn__ir_ops_signature()) return false;
    const uint32_t num_nodes = words[1], num_limits = words[2];
    if (num_nodes > QN__LIMIT_NODES || num_limits > QN__LIMITS_MOST || !num_nodes ||
        count - HEADER != (num_nodes + num_limits) * QN__LIMIT_WORDS)
        return false;
    const uint32_t *nodes = words + HEADER, *limits = nodes + (size_t)num_nodes * QN__LIMIT_WORDS;
    qn__limits_evaluate(nodes, num_nodes, launch, spans);
    for (uint32_t i = 0; i < num_limits; i++) {
        const uint32_t *limit = limits + (size_t)i * QN__LIMIT_WORDS;
        const bool is_pair = limit[0] >= QN__LIMIT_NOT_BELOW;
        if (limit[1] >= num_nodes || (is_pair && limit[2] >= num_nodes)) return false;
        if (!qn__limit_holds(limit, spans, launch)) return false;
    }
    return true;
}
