/* How many low bits of integers and addresses are known to be zero: forward data flow to a fixed point from "all of them", which
   a loop's parameters keep as long as all that they are given has them:

       loop (%i = 0) { ... continue %i + 16 }        %i has four */
#include "pass/analysis.h"

enum { ALL = 63 };

typedef struct finder {
    const ir_function *kernel;
    uint8_t *zeros; /* by value id */
    bool changed;
} finder;

static unsigned of_bits(uint64_t bits) {
    unsigned count = 0;
    while (count < ALL && !(bits >> count & 1)) count++;
    return count;
}

static unsigned smaller(unsigned a, unsigned b) { return a < b ? a : b; }

static unsigned of_value(const finder *f, const ir_value *value) {
    if (!qn__ir_is_const(value)) return f->zeros[value->id];
    uint64_t bits = 0;
    for (unsigned lane = 0; lane < value->type.lanes; lane++) bits |= value->bits[lane];
    return of_bits(bits);
}

/* Of those from one on. */
static unsigned of_operands(const finder *f, const ir_instr *i, uint32_t from) {
    unsigned least = ALL;
    for (uint32_t k = from; k < i->num_operands; k++) least = smaller(least, of_value(f, i->operands[k]));
    return least;
}

static unsigned of_shift(const finder *f, const ir_instr *i) {
    const ir_value *by = i->operands[1];
    const unsigned zeros = of_value(f, i->operands[0]);
    const bool is_known = qn__ir_is_const(by) && qn__ir_is_splat(by, by->bits[0]);
    const unsigned count = is_known ? (unsigned)by->bits[0] & (qn__ir_bits(i->results[0]->type) - 1) : 0;
    if (i->op == IR_SHL) return smaller(zeros + count, ALL);
    return is_known && zeros > count ? zeros - count : 0;
}

static unsigned of_result(const finder *f, const ir_instr *i) {
    switch (i->op) {
    case IR_VAR: return of_bits(i->attr.var->align);
    case IR_LOCAL: return of_bits(f->kernel->locals.data[i->attr.index].align);
    case IR_GLOBAL: return of_bits(f->kernel->module->globals.data[i->attr.index].align);
    case IR_PTR_ADD: return smaller(of_operands(f, i, 0), of_bits((uint64_t)i->attr.offset));
    case IR_ADD:
    case IR_SUB:
    case IR_OR:
    case IR_XOR:
    case IR_SMIN:
    case IR_SMAX:
    case IR_UMIN:
    case IR_UMAX:
    case IR_UREM:
    case IR_SREM:
    case IR_TRUNC:
    case IR_ZEXT:
    case IR_SEXT:
    case IR_PTR2INT:
    case IR_INT2PTR:
    case IR_VECTOR:
    case IR_SPLAT:
    case IR_EXTRACT:
    case IR_INSERT:
    case IR_SHUFFLE: return of_operands(f, i, 0);
    case IR_SELECT: return of_operands(f, i, 1);
    case IR_MUL: return smaller(of_value(f, i->operands[0]) + of_value(f, i->operands[1]), ALL);
    case IR_AND: {
        const unsigned a = of_value(f, i->operands[0]), b = of_value(f, i->operands[1]);
        return a > b ? a : b;
    }
    case IR_SHL:
    case IR_LSHR:
    case IR_ASHR: return of_shift(f, i);
    default: return 0;
    }
}

static void lower(finder *f, const ir_value *value, unsigned zeros) {
    if (zeros >= f->zeros[value->id]) return;
    f->zeros[value->id] = (uint8_t)zeros;
    f->changed = true;
}

static void visit(ir_instr *i, void *user) {
    finder *f = user;
    if (i->op == IR_LOOP || qn__ir_is_jump(i)) {
        const ir_receivers to = qn__ir_receivers(i);
        for (uint32_t k = 0; k < to.count; k++) lower(f, to.values[k], of_value(f, i->operands[k]));
    } else if (i->op != IR_IF && i->op != IR_BLOCK) {
        const unsigned zeros = i->num_results ? of_result(f, i) : 0;
        for (uint32_t k = 0; k < i->num_results; k++) lower(f, i->results[k], zeros);
    }
}

static unsigned of_arg(const ir_arg *arg, bool is_multiple) {
    if (arg->arg_kind == IR_ARG_BUFFER || arg->arg_kind == IR_ARG_LOCAL) return of_bits(QN__BEGIN_ALIGN);
    if (arg->arg_kind == IR_ARG_STRUCT) return of_bits(arg->align);
    return is_multiple ? of_bits(QN__MULTIPLE) : 0;
}

const uint8_t *qn__find_zeros(qn__arena *arena, const ir_function *kernel, const bool *multiples) {
    finder f = {kernel, QN__NEW_ARRAY(arena, uint8_t, kernel->num_values + 1u), false};
    for (uint32_t i = 0; i < kernel->num_values; i++) f.zeros[i] = ALL;
    for (size_t i = 0; i < kernel->args.len; i++) {
        const ir_arg *arg = &kernel->args.data[i];
        f.zeros[arg->value->id] = (uint8_t)of_arg(arg, multiples && multiples[i]);
    }
    do {
        f.changed = false;
        qn__ir_walk(kernel->body, visit, &f);
    } while (f.changed);
    return f.zeros;
}
