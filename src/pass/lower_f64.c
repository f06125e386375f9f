/* Doubles for targets that have none, where the program asks for them (-qn-soft-f64): each is the i64 of its bits, and what is
   computed is computed by the functions of src/lib/soft.cl, which the front end has put into the module. Before inlining, so that
   their calls are like all others.

       %s = fadd %a, %b (f64)   ->   %s = call f64_add(%a, %b)   (i64)
       %c = flt %a, %b          ->   %c = ne (call f64_lt(%a, %b)), 0
       %f = fconvert %a (f16)   ->   %f = fconvert (bitcast (call f64_to_float(%a, 4)))  rounded to odd first, so that once is right */
#include <string.h>

#include "pass/lowering.h"

static const ir_type I64 = {IR_I64, 1, 0}, I32 = {IR_I32, 1, 0}, F32 = {IR_F32, 1, 0};

static const char *const names[IR_OP_COUNT] = {
#define SOFT(op, name) [IR_##op] = name,
#include "ir/soft.def"
};

/* ---- what cannot be done ---- */

static bool has_double_matrix(const ir_instr *i) {
    if (!qn__ir_has(i->op, IR_ATTR_MATRIX)) return false;
    for (unsigned n = 0; n < IR_MATRICES; n++)
        if (i->attr.matrices[n].element == IR_MATRIX_F64) return true;
    return false;
}

static bool is_double(ir_type type) { return type.kind == IR_F64; }

static bool has_doubles(const ir_instr *i) {
    for (uint32_t n = 0; n < i->num_operands; n++)
        if (is_double(i->operands[n]->type)) return true;
    for (uint32_t n = 0; n < i->num_results; n++)
        if (is_double(i->results[n]->type)) return true;
    return false;
}

/* Long integers are rounded to the nearest double only. */
static bool is_directed(const ir_instr *i) {
    const bool counts = i->op == IR_S2F || i->op == IR_U2F;
    return counts && i->operands[0]->type.kind == IR_I64 && i->attr.rounding != IR_ROUND_EVEN;
}

static const char *refusal(const ir_instr *i) {
    if (has_double_matrix(i)) return "matrix fragments of double are not made of integers (-qn-soft-f64)";
    if (!has_doubles(i)) return NULL;
    switch (qn__ir_ops[i->op].rule) {
    case RULE_FLOAT:
    case RULE_FCOMPARE:
        if (i->op == IR_FNEG || i->op == IR_FABS || i->op == IR_FCOPYSIGN || names[i->op]) return NULL;
        return "this function of double is not made of integers (-qn-soft-f64)";
    case RULE_CONVERT:
        return is_directed(i)
                   ? "with -qn-soft-f64 long integers become doubles by rounding to the nearest only"
                   : NULL;
    case RULE_GROUP: return "reductions and scans of double are not made of integers (-qn-soft-f64)";
    case RULE_ATOMIC_RMW:
        if (i->attr.combine == IR_COMBINE_XCHG) return NULL;
        return "atomic sums of double are not made of integers (-qn-soft-f64)";
    case RULE_MMA:
    case RULE_NATIVE: return "products of double by matrix units are not made of integers (-qn-soft-f64)";
    default: return NULL;
    }
}

/* ---- the types ---- */

typedef struct retyping {
    ir_function *function;
    bool changed;
} retyping;

static void retype(retyping *r, ir_value *value) {
    if (!is_double(value->type)) return;
    value->type.kind = IR_I64;
    r->changed = true;
}

/* Constants are known by their types: another one stands for each. */
static ir_value *operand(retyping *r, ir_value *value) {
    if (!is_double(value->type)) return value;
    const ir_type type = qn__ir_type(IR_I64, value->type.lanes);
    if (qn__ir_is_const(value)) return qn__ir_const(r->function, type, value->bits);
    return value->value_kind == IR_VALUE_UNDEF ? qn__ir_undef(r->function, type) : value;
}

static void look(ir_instr *i, void *user) {
    qn__pass_context *context = user;
    const char *why = refusal(i);
    if (why) qn__pass_refuse(context, i->loc, why);
}

static void visit(ir_instr *i, void *user) {
    retyping *r = user;
    for (uint32_t n = 0; n < i->num_operands; n++) i->operands[n] = operand(r, i->operands[n]);
    for (uint32_t n = 0; n < i->num_results; n++) retype(r, i->results[n]);
    for (uint32_t n = 0; n < i->num_regions; n++)
        for (uint32_t k = 0; k < i->regions[n]->num_params; k++) retype(r, i->regions[n]->params[k]);
}

static bool retype_function(ir_function *function) {
    retyping r = {.function = function};
    for (size_t i = 0; i < function->args.len; i++) retype(&r, function->args.data[i].value);
    if (is_double(function->result)) function->result.kind = IR_I64;
    qn__ir_walk(function->body, visit, &r);
    function->kinds |= 1u << IR_I64;
    return r.changed;
}

/* ---- calls ---- */

/* The library's, whatever the program calls its own. */
static ir_function *soft_function(const ir_module *module, const char *name) {
    const size_t length = strlen(name);
    for (size_t i = 0; i < module->functions.len; i++) {
        ir_function *function = module->functions.data[i];
        const char end = strncmp(function->name, name, length) ? 'x' : function->name[length];
        if (function->is_library && (end == 0 || end == '.')) return function;
    }
    return NULL;
}

static ir_value *call(qn__lowering *l, const char *name, ir_value *const *operands, uint32_t count) {
    ir_function *callee = soft_function(l->context->module, name);
    if (!callee) {
        qn__pass_refuse(l->context, (ir_loc){0}, "internal error: doubles made of integers lack a function");
        return qn__ir_undef(l->b.function, I64);
    }
    ir_instr *made = qn__ir_emit(&l->b, IR_CALL, operands, count, &callee->result, 1);
    made->attr.callee = callee;
    return made->results[0];
}

static ir_value *whole(qn__lowering *l, ir_value *value, ir_rounding rounding) {
    ir_value *const operands[] = {value, qn__make_int(l, I32, rounding)};
    return call(l, "f64_whole", operands, 2);
}

/* ---- conversions ---- */

static ir_value *convert_float(qn__lowering *l, const ir_instr *i, ir_value *value) {
    const ir_type to = qn__ir_element(i->results[0]->type);
    if (to.kind == IR_I64) {
        value = qn__make_convert(l, IR_FCONVERT, value, F32);
        value = qn__make_convert(l, IR_BITCAST, value, I32);
        return call(l, "f64_from_float", &value, 1);
    }
    enum { TO_ODD = 4 };
    const uint64_t rounding = to.kind == IR_F16 ? TO_ODD : i->attr.rounding;
    ir_value *const operands[] = {value, qn__make_int(l, I32, rounding)};
    value = qn__make_convert(l, IR_BITCAST, call(l, "f64_to_float", operands, 2), F32);
    if (to.kind == IR_F32) return value;
    value = qn__ir_convert(&l->b, IR_FCONVERT, value, to);
    value->def->attr.rounding = i->attr.rounding;
    return value;
}

static ir_value *from_integer(qn__lowering *l, const ir_instr *i, ir_value *value) {
    value = qn__make_convert(l, i->op == IR_S2F ? IR_SEXT : IR_ZEXT, value, I64);
    return call(l, names[i->op], &value, 1);
}

static ir_value *to_integer(qn__lowering *l, const ir_instr *i, ir_value *value) {
    const ir_type to = qn__ir_element(i->results[0]->type);
    const unsigned bits = qn__ir_bits(to);
    const uint64_t most = (i->op == IR_F2S ? UINT64_C(1) << (bits - 1) : UINT64_C(1) << (bits & 63)) - 1;
    if (i->attr.rounding != IR_ROUND_ZERO) value = whole(l, value, (ir_rounding)i->attr.rounding);
    value = call(l, names[i->op], &value, 1);
    if (bits == 64) return value;
    value = qn__make2(l, i->op == IR_F2S ? IR_SMIN : IR_UMIN, value, qn__make_int(l, I64, most));
    if (i->op == IR_F2S) value = qn__make2(l, IR_SMAX, value, qn__make_int(l, I64, ~most));
    return qn__make_convert(l, IR_TRUNC, value, to);
}

/* ---- the pass ---- */

static ir_value *on_bits(qn__lowering *l, const ir_instr *i, ir_value *const *operands) {
    const uint64_t sign = UINT64_C(1) << 63;
    ir_value *a = operands[0];
    if (i->op == IR_FNEG) return qn__make2(l, IR_XOR, a, qn__make_int(l, I64, sign));
    ir_value *size = qn__make2(l, IR_AND, a, qn__make_int(l, I64, ~sign));
    if (i->op == IR_FABS) return size;
    return qn__make2(l, IR_OR, size, qn__make2(l, IR_AND, operands[1], qn__make_int(l, I64, sign)));
}

static ir_value *lower_lane(qn__lowering *l, const ir_instr *i, ir_value *const *operands) {
    static const ir_rounding roundings[IR_OP_COUNT] = {[IR_FRINT] = IR_ROUND_EVEN,
                                                       [IR_FTRUNC] = IR_ROUND_ZERO,
                                                       [IR_FCEIL] = IR_ROUND_UP,
                                                       [IR_FFLOOR] = IR_ROUND_DOWN};
    switch (i->op) {
    case IR_FNEG:
    case IR_FABS:
    case IR_FCOPYSIGN: return on_bits(l, i, operands);
    case IR_FRINT:
    case IR_FTRUNC:
    case IR_FCEIL:
    case IR_FFLOOR: return whole(l, operands[0], roundings[i->op]);
    case IR_FCONVERT: return convert_float(l, i, operands[0]);
    case IR_S2F:
    case IR_U2F: return from_integer(l, i, operands[0]);
    case IR_F2S:
    case IR_F2U: return to_integer(l, i, operands[0]);
    default: break;
    }
    ir_value *made = call(l, names[i->op], operands, i->num_operands);
    if (qn__ir_ops[i->op].rule != RULE_FCOMPARE) return made;
    return qn__make2(l, IR_NE, made, qn__make_int(l, made->type, 0));
}

/* Of floats' ops those are doubles' that have i64 now. */
static ir_value *lower(qn__lowering *l, ir_instr *i) {
    const bool counts = i->op == IR_S2F || i->op == IR_U2F, gives = i->op == IR_F2S || i->op == IR_F2U;
    const bool takes = names[i->op] || i->op == IR_FNEG || i->op == IR_FABS || i->op == IR_FCOPYSIGN;
    const bool from = !counts && i->operands[0]->type.kind == IR_I64;
    const bool to = !gives && i->results[0]->type.kind == IR_I64;
    return takes && (from || to) ? qn__make_lanes(l, i, lower_lane) : NULL;
}

bool qn__pass_lower_f64(qn__pass_context *context) {
    const uint64_t rules = 1ull << RULE_FLOAT | 1ull << RULE_FCOMPARE | 1ull << RULE_CONVERT;
    ir_module *module = context->module;
    bool changed = false;
    for (size_t i = 0; i < module->globals.len; i++)
        if (is_double(module->globals.data[i].element)) module->globals.data[i].element.kind = IR_I64;
    for (size_t i = 0; i < module->functions.len; i++) {
        ir_function *function = context->function = module->functions.data[i];
        if (!function->body || !qn__has_kind(function, IR_F64)) continue;
        qn__ir_walk(function->body, look, context);
        if (context->error) return true;
        if (!retype_function(function)) continue;
        qn__lower_rules(context, rules, lower, NULL);
        function->is_tidy = false;
        changed = true;
    }
    qn__survey(context);
    return changed;
}
