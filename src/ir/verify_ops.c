/* The verifier's rules about one instruction by itself: the types that its rule in ops.def asks for, and its
   attributes and flags. */
#include "ir/internal.h"
#include "ir/matrix.h"

/* ---- types ---- */

static bool is_number(ir_type t) { return qn__ir_is_int(t) || qn__ir_is_float(t); }
static bool is_scalar(ir_type t, ir_kind kind) { return t.kind == kind && t.lanes == 1; }
static bool is_memory(ir_type t) { return is_number(t) || t.kind == IR_PTR; }

static bool is_writable(ir_type pointer) {
    return pointer.kind == IR_PTR && pointer.space != IR_CONSTANT_SPACE && pointer.space != IR_PARAM_SPACE;
}

static bool is_in_generic(ir_type pointer) {
    return pointer.space == IR_PRIVATE || pointer.space == IR_GLOBAL_SPACE || pointer.space == IR_LOCAL_SPACE;
}

/* Atomics work on scalars of 32 and 64 bits. */
static bool is_atomic(ir_type t) { return is_number(t) && t.lanes == 1 && qn__ir_bits(t) >= 32; }

static ir_type operand(const ir_instr *instr, uint32_t i) { return instr->operands[i]->type; }
static ir_type result(const ir_instr *instr) { return instr->results[0]->type; }

/* All operands of the result's type. */
static bool is_uniform(const ir_instr *instr) {
    for (uint32_t i = 0; i < instr->num_operands; i++)
        if (!qn__ir_same(operand(instr, i), result(instr))) return false;
    return true;
}

static const char *broken_arithmetic(const ir_instr *instr) {
    if (!is_uniform(instr)) return "operands and result must be of one type";
    ir_type t = result(instr);
    switch (qn__ir_ops[instr->op].rule) {
    case RULE_INT: return qn__ir_is_int(t) ? NULL : "the type must be an integer";
    case RULE_BYTES: return t.kind == IR_I32 ? NULL : "the type must be i32 or vectors of it";
    case RULE_LOGIC:
        return qn__ir_is_int(t) || t.kind == IR_BOOL ? NULL : "the type must be an integer or bool";
    default: break;
    }
    if (instr->op >= IR_NATIVE_EXP2 && instr->op <= IR_NATIVE_DIV)
        return t.kind == IR_F32 ? NULL : "the type must be f32";
    return qn__ir_is_float(t) ? NULL : "the type must be a float";
}

static const char *broken_compare(const ir_instr *instr) {
    ir_type t = operand(instr, 0), r = result(instr);
    if (!qn__ir_same(t, operand(instr, 1))) return "operands must be of one type";
    if (r.kind != IR_BOOL || r.lanes != t.lanes) return "the result must be bool, in as many lanes";
    if (qn__ir_ops[instr->op].rule == RULE_FCOMPARE)
        return qn__ir_is_float(t) ? NULL : "operands must be floats";
    bool equality = instr->op == IR_EQ || instr->op == IR_NE;
    const bool is_signed = qn__ir_is_signed(instr->op);
    if (qn__ir_is_int(t) || (equality && t.kind == IR_BOOL) || (!is_signed && t.kind == IR_PTR)) return NULL;
    return "operands must be integers (or pointers where unsigned; or bool for eq and ne)";
}

static const char *broken_convert(const ir_instr *instr) {
    ir_type a = operand(instr, 0), r = result(instr);
    unsigned from = qn__ir_bits(a), to = qn__ir_bits(r);
    bool int_or_bool = qn__ir_is_int(a) || a.kind == IR_BOOL;
    if (a.lanes != r.lanes) return "a conversion keeps the number of lanes";
    switch (instr->op) {
    case IR_TRUNC:
        return qn__ir_is_int(a) && (qn__ir_is_int(r) || r.kind == IR_BOOL) && to < from
                   ? NULL
                   : "trunc goes from an integer to a narrower one or to bool";
    case IR_ZEXT:
    case IR_SEXT:
        return int_or_bool && qn__ir_is_int(r) && to > from
                   ? NULL
                   : "it goes from an integer or bool to a wider integer";
    case IR_FCONVERT:
        return qn__ir_is_float(a) && qn__ir_is_float(r) ? NULL : "fconvert goes from float to float";
    case IR_BF16_TO_F32:
        return a.kind == IR_I16 && r.kind == IR_F32 ? NULL : "bf16_to_f32 goes from i16 to f32";
    case IR_F32_TO_BF16:
        return a.kind == IR_F32 && r.kind == IR_I16 ? NULL : "f32_to_bf16 goes from f32 to i16";
    case IR_E4M3_TO_F32:
    case IR_E5M2_TO_F32: return a.kind == IR_I8 && r.kind == IR_F32 ? NULL : "it goes from i8 to f32";
    case IR_F32_TO_E4M3:
    case IR_F32_TO_E4M3_SAT:
    case IR_F32_TO_E5M2:
    case IR_F32_TO_E5M2_SAT: return a.kind == IR_F32 && r.kind == IR_I8 ? NULL : "it goes from f32 to i8";
    case IR_F2S:
    case IR_F2U: return qn__ir_is_float(a) && qn__ir_is_int(r) ? NULL : "it goes from float to integer";
    case IR_S2F: return qn__ir_is_int(a) && qn__ir_is_float(r) ? NULL : "s2f goes from integer to float";
    case IR_U2F: return int_or_bool && qn__ir_is_float(r) ? NULL : "u2f goes from integer or bool to float";
    case IR_PTR2INT:
        return a.kind == IR_PTR && r.kind == IR_I64 ? NULL : "ptr2int goes from a pointer to i64";
    case IR_PTR_CAST:
        return a.kind == IR_PTR && r.kind == IR_PTR &&
                       ((is_in_generic(a) && r.space == IR_GENERIC_SPACE) ||
                        (is_in_generic(r) && a.space == IR_GENERIC_SPACE))
                   ? NULL
                   : "ptr_cast goes from private, global or local to generic, or back";
    default: return a.kind == IR_I64 && r.kind == IR_PTR ? NULL : "int2ptr goes from i64 to a pointer";
    }
}

static const char *broken_bitcast(const ir_instr *instr) {
    ir_type a = operand(instr, 0), r = result(instr);
    if (!is_number(a) || !is_number(r)) return "bitcast takes and gives numbers";
    return qn__ir_bits(a) * a.lanes == qn__ir_bits(r) * r.lanes ? NULL : "bitcast keeps the number of bits";
}

static const char *broken_select(const ir_instr *instr) {
    ir_type c = operand(instr, 0), r = result(instr);
    if (!qn__ir_same(operand(instr, 1), r) || !qn__ir_same(operand(instr, 2), r))
        return "operands 1 and 2 and the result must be of one type";
    return c.kind == IR_BOOL && (c.lanes == 1 || c.lanes == r.lanes)
               ? NULL
               : "the condition must be bool, one or one a lane";
}

static const char *broken_vector(const ir_instr *instr) {
    ir_type r = result(instr), element = qn__ir_element(r);
    switch (qn__ir_ops[instr->op].rule) {
    case RULE_VECTOR:
        if (r.lanes < 2 || instr->num_operands != r.lanes)
            return "vector takes one operand a lane, two at least";
        for (uint32_t i = 0; i < instr->num_operands; i++)
            if (!qn__ir_same(operand(instr, i), element)) return "operands must be of the element's type";
        return NULL;
    case RULE_SPLAT:
        return r.lanes > 1 && qn__ir_same(operand(instr, 0), element) ? NULL
                                                                      : "splat takes the vector's element";
    case RULE_EXTRACT:
        if (r.lanes != 1 || operand(instr, 0).lanes < 2 || !qn__ir_same(qn__ir_element(operand(instr, 0)), r))
            return "it takes a vector and gives its element";
        if (instr->op == IR_EXTRACT_DYNAMIC &&
            (!qn__ir_is_int(operand(instr, 1)) || operand(instr, 1).lanes != 1))
            return "the lane must be a scalar integer";
        return NULL;
    case RULE_INSERT:
        if (r.lanes < 2 || !qn__ir_same(operand(instr, 0), r))
            return "insert takes and gives one vector type";
        return qn__ir_same(operand(instr, 1), element) ? NULL : "operand 1 must be of the element's type";
    default:
        if (!qn__ir_same(operand(instr, 0), operand(instr, 1))) return "operands must be of one type";
        return r.lanes > 1 && operand(instr, 0).lanes > 1 && operand(instr, 0).kind == r.kind
                   ? NULL
                   : "shuffle goes from vectors to a vector of the same kind";
    }
}

static const char *broken_address(const ir_instr *instr) {
    ir_type r = result(instr);
    if (qn__ir_ops[instr->op].rule == RULE_POINTER_RESULT) {
        ir_space space = instr->op == IR_VAR     ? IR_PRIVATE
                         : instr->op == IR_LOCAL ? IR_LOCAL_SPACE
                                                 : IR_CONSTANT_SPACE;
        return qn__ir_same(r, qn__ir_pointer(space)) ? NULL : "the result must be a pointer to its space";
    }
    if (r.kind != IR_PTR || !qn__ir_same(operand(instr, 0), r))
        return "ptr_add takes and gives one pointer type";
    return is_scalar(operand(instr, 1), IR_I64) ? NULL : "operand 1 must be i64";
}

static const char *broken_copy(const ir_instr *instr) {
    const uint64_t size = instr->attr.size;
    if (operand(instr, 1).kind != IR_PTR) return "operand 1 must be a pointer";
    if (!(instr->flags & IR_ASYNC)) return NULL;
    if (operand(instr, 0).space != IR_LOCAL_SPACE || operand(instr, 1).space != IR_GLOBAL_SPACE)
        return "an async copy goes from global to local memory";
    return (size == 4 || size == 8 || size == 16) && instr->attr.align >= size
               ? NULL
               : "an async copy is of 4, 8 or 16 bytes, aligned to as many";
}

static const char *broken_memory(const ir_instr *instr) {
    ir_type pointer = operand(instr, 0);
    if (pointer.kind != IR_PTR) return "operand 0 must be a pointer";
    bool atomic =
        instr->op != IR_LOAD && instr->op != IR_STORE && instr->op != IR_COPY && instr->op != IR_PREFETCH;
    bool writes = qn__ir_ops[instr->op].effects != IR_EFFECT_READ && instr->op != IR_ATOMIC_LOAD;
    if (writes && !is_writable(pointer)) return "its address space cannot be written";
    if (atomic && pointer.space == IR_PARAM_SPACE) return "its address space has no atomics";
    switch (qn__ir_ops[instr->op].rule) {
    case RULE_COPY: return broken_copy(instr);
    case RULE_PREFETCH: return NULL;
    case RULE_LOAD:
        if (atomic) break;
        return is_memory(result(instr)) ? NULL : "only numbers and pointers can be loaded";
    case RULE_STORE:
        if (atomic) return is_atomic(operand(instr, 1)) ? NULL : "atomics take scalars of 32 or 64 bits";
        return is_memory(operand(instr, 1)) ? NULL : "only numbers and pointers can be stored";
    default:
        for (uint32_t i = 1; i < instr->num_operands; i++)
            if (!qn__ir_same(operand(instr, i), result(instr)))
                return "values and result must be of one type";
        break;
    }
    return is_atomic(result(instr)) ? NULL : "atomics take scalars of 32 or 64 bits";
}

static const char *broken_group(const ir_instr *instr) {
    ir_type r = result(instr);
    switch (qn__ir_ops[instr->op].rule) {
    case RULE_QUERY32: return is_scalar(r, IR_I32) ? NULL : "the result must be i32";
    case RULE_QUERY64: return is_scalar(r, IR_I64) ? NULL : "the result must be i64";
    case RULE_VOTE:
        return is_scalar(r, IR_BOOL) && is_scalar(operand(instr, 0), IR_BOOL) ? NULL
                                                                              : "it takes and gives a bool";
    case RULE_GROUP:
        return is_uniform(instr) && is_number(r) && r.lanes == 1 ? NULL
                                                                 : "it takes and gives one scalar number";
    case RULE_GROUP_INDEX:
        if (!is_number(r) || !qn__ir_same(operand(instr, 0), r))
            return "it takes and gives one type of number";
        return is_scalar(operand(instr, 1), IR_I32) ? NULL : "operand 1 must be i32";
    default:
        return qn__ir_same(r, qn__ir_type(IR_I32, 4)) && is_scalar(operand(instr, 0), IR_BOOL)
                   ? NULL
                   : "it takes a bool and gives i32x4";
    }
}

/* ---- matrix fragments ---- */

static unsigned num_matrices(const ir_instr *instr) {
    unsigned count = 0;
    while (count < IR_MATRICES && instr->attr.matrices[count].element) count++;
    return count;
}

static bool is_element(const ir_instr *instr, ir_type t) {
    return is_scalar(t, qn__ir_matrix_info(instr->attr.matrices[0])->kind);
}

/* Operands that follow the pointers to fragments, and the result. */
static const char *broken_matrix_values(const ir_instr *instr) {
    switch (instr->op) {
    case IR_MATRIX_FILL:
        return is_element(instr, operand(instr, 1)) ? NULL : "operand 1 must be of the element's type";
    case IR_MATRIX_LOAD:
    case IR_MATRIX_STORE:
        if (operand(instr, 1).kind != IR_PTR) return "operand 1 must be a pointer";
        if (instr->op == IR_MATRIX_STORE && !is_writable(operand(instr, 1)))
            return "its address space cannot be written";
        return is_scalar(operand(instr, 2), IR_I64) ? NULL : "operand 2 must be i64";
    case IR_MATRIX_GET:
    case IR_MATRIX_SET:
        if (!is_scalar(operand(instr, 1), IR_I32)) return "operand 1 must be i32";
        return is_element(instr, instr->num_results ? result(instr) : operand(instr, 2))
                   ? NULL
                   : "the element must be of its type";
    case IR_MATRIX_ROW:
    case IR_MATRIX_COLUMN:
        if (!is_scalar(operand(instr, 0), IR_I32)) return "operand 0 must be i32";
        /* fallthrough */
    case IR_MATRIX_LENGTH: return is_scalar(result(instr), IR_I32) ? NULL : "the result must be i32";
    default: return NULL;
    }
}

static const char *broken_matrix(const ir_instr *instr) {
    const ir_matrix *m = instr->attr.matrices;
    const bool is_query = qn__ir_ops[instr->op].effects == IR_EFFECT_QUERY;
    const unsigned count = num_matrices(instr);
    unsigned wanted = instr->op == IR_MATRIX_MULTIPLY_ADD ? 3 : instr->op == IR_MATRIX_CONVERT ? 2 : 1;
    if (count != wanted) return "it does not tell of as many matrices as it takes";
    for (unsigned i = 0; i < count; i++) {
        if (!qn__ir_matrix_valid(m[i])) return "there is no such matrix";
        if (!is_query && !qn__ir_same(operand(instr, i), qn__ir_pointer(IR_PRIVATE)))
            return "a fragment is given by a pointer to private memory";
    }
    if (instr->op == IR_MATRIX_CONVERT && (m[0].rows != m[1].rows || m[0].columns != m[1].columns))
        return "a conversion keeps the shape";
    if (instr->op == IR_MATRIX_MULTIPLY_ADD && !qn__ir_matrix_has_product(m[0], m[1], m[2]))
        return "there is no such product";
    return broken_matrix_values(instr);
}

static const char *broken_mma(const ir_instr *instr) {
    if (num_matrices(instr) != IR_MATRICES) return "it tells of three matrices";
    if (!instr->num_results || instr->num_operands <= instr->num_results) return "operands are missing";
    for (uint32_t i = 0; i < instr->num_operands; i++) {
        const bool is_double = instr->attr.matrices[0].element == IR_MATRIX_F64;
        const ir_type word = qn__ir_type(is_double ? IR_F64 : IR_I32, 1),
                      wanted = i < instr->num_results ? instr->results[i]->type : word;
        if (!qn__ir_same(operand(instr, i), wanted)) return "operands are words, or of the sum's type";
    }
    return NULL;
}

static const char *broken_ldmatrix(const ir_instr *instr) {
    if (!qn__ir_same(operand(instr, 0), qn__ir_pointer(IR_LOCAL_SPACE)))
        return "operand 0 must be a pointer to local memory";
    for (uint32_t i = 0; i < instr->num_results; i++)
        if (!is_scalar(instr->results[i]->type, IR_I32)) return "the results must be i32";
    return instr->num_results == 1 || instr->num_results == 2 || instr->num_results == 4
               ? NULL
               : "it gives 1, 2 or 4 words";
}

static const char *broken_event(const ir_instr *instr) {
    return is_scalar(operand(instr, 0), IR_I32) && (!instr->num_results || is_scalar(result(instr), IR_I32))
               ? NULL
               : "events are i32";
}

static const char *broken_printf(const ir_instr *instr) {
    for (uint32_t i = 0; i < instr->num_operands; i++)
        if (!is_memory(operand(instr, i))) return "operands must be numbers or pointers";
    return is_scalar(result(instr), IR_I32) ? NULL : "the result must be i32";
}

static const char *broken_call(const ir_function *function, const ir_instr *instr) {
    const ir_function *callee = instr->attr.callee;
    if (!callee || callee->module != function->module) return "it must call a function of the module";
    if (callee->args.len != instr->num_operands) return "wrong number of arguments";
    for (uint32_t i = 0; i < instr->num_operands; i++)
        if (!qn__ir_same(callee->args.data[i].value->type, operand(instr, i)))
            return "an argument differs from the function's";
    if (callee->result.kind == IR_VOID)
        return instr->num_results == 0 ? NULL : "the function gives no result";
    return instr->num_results == 1 && qn__ir_same(result(instr), callee->result)
               ? NULL
               : "the result differs from the function's";
}

static const char *broken_construct(const ir_instr *instr) {
    if (instr->op == IR_IF)
        return is_scalar(operand(instr, 0), IR_BOOL) ? NULL : "the condition must be one bool";
    const ir_region *region = instr->regions[0];
    if (instr->op == IR_BLOCK) return NULL;
    if (region->num_params != instr->num_operands) return "a loop has one parameter an operand";
    for (uint32_t i = 0; i < region->num_params; i++)
        if (!region->params[i] || !qn__ir_same(region->params[i]->type, operand(instr, i)))
            return "a loop's parameter and operand must be of one type";
    return NULL;
}

const char *qn__ir_broken_types(const ir_function *function, const ir_instr *instr) {
    switch ((ir_rule)qn__ir_ops[instr->op].rule) {
    case RULE_INT:
    case RULE_LOGIC:
    case RULE_BYTES:
    case RULE_FLOAT: return broken_arithmetic(instr);
    case RULE_COMPARE:
    case RULE_FCOMPARE: return broken_compare(instr);
    case RULE_CONVERT: return broken_convert(instr);
    case RULE_BITCAST: return broken_bitcast(instr);
    case RULE_SELECT: return broken_select(instr);
    case RULE_VECTOR:
    case RULE_SPLAT:
    case RULE_EXTRACT:
    case RULE_INSERT:
    case RULE_SHUFFLE: return broken_vector(instr);
    case RULE_POINTER_RESULT:
    case RULE_PTR_ADD: return broken_address(instr);
    case RULE_LOAD:
    case RULE_STORE:
    case RULE_COPY:
    case RULE_ATOMIC_RMW:
    case RULE_ATOMIC_CAS:
    case RULE_PREFETCH: return broken_memory(instr);
    case RULE_QUERY32:
    case RULE_QUERY64:
    case RULE_VOTE:
    case RULE_GROUP:
    case RULE_GROUP_INDEX:
    case RULE_BALLOT: return broken_group(instr);
    case RULE_MATRIX: return broken_matrix(instr);
    case RULE_MMA: return broken_mma(instr);
    case RULE_LDMATRIX: return broken_ldmatrix(instr);
    case RULE_EVENT: return broken_event(instr);
    case RULE_PRINTF: return broken_printf(instr);
    case RULE_NATIVE: return NULL; /* the front end's call was checked */
    case RULE_CALL: return broken_call(function, instr);
    case RULE_CONSTRUCT: return broken_construct(instr);
    case RULE_NONE:
    case RULE_JUMP: return NULL;
    }
    return NULL;
}

/* ---- attributes ---- */

static bool is_power_of_two(uint32_t n) { return n && (n & (n - 1)) == 0; }

static const char *broken_lanes(const ir_instr *instr, uint32_t uses) {
    unsigned lanes = operand(instr, 0).lanes;
    if (uses & IR_ATTR_LANE) return instr->attr.lanes[0] < lanes ? NULL : "the vector has no such lane";
    for (unsigned i = 0; i < result(instr).lanes; i++)
        if (instr->attr.lanes[i] != 255 && instr->attr.lanes[i] >= 2 * lanes)
            return "the vectors have no such lane";
    return NULL;
}

static const char *broken_order(const ir_instr *instr) {
    const ir_attr *attr = &instr->attr;
    if (attr->order >= IR_ORDER_COUNT) return "no such memory order";
    bool acquires = attr->order == IR_ACQUIRE || attr->order == IR_ACQ_REL;
    bool releases = attr->order == IR_RELEASE || attr->order == IR_ACQ_REL;
    if (instr->op == IR_ATOMIC_LOAD && releases) return "a load does not release";
    if (instr->op == IR_ATOMIC_STORE && acquires) return "a store does not acquire";
    if (instr->op == IR_ATOMIC_CAS && (attr->order_fail >= IR_ORDER_COUNT || attr->order_fail == IR_RELEASE ||
                                       attr->order_fail == IR_ACQ_REL))
        return "a failed exchange does not release";
    return NULL;
}

static const char *broken_scope(const ir_instr *instr) {
    unsigned scope = instr->attr.scope;
    if (scope >= IR_SCOPE_COUNT) return "no such scope";
    if (instr->flags & IR_ACTIVE && scope != IR_SCOPE_SUB_GROUP) return "only a sub-group's may be active";
    return !qn__ir_is_together((ir_op)instr->op) || scope == IR_SCOPE_SUB_GROUP ||
                   scope == IR_SCOPE_WORK_GROUP
               ? NULL
               : "the scope must be sub_group or work_group";
}

static const char *broken_index(const ir_function *function, const ir_instr *instr) {
    const ir_module *module = function->module;
    uint32_t index = instr->attr.index;
    if (instr->op == IR_LOCAL) return index < function->locals.len ? NULL : "the function has no such local";
    if (instr->op == IR_NATIVE) return index < IR_NATIVE_COUNT ? NULL : "there is no such native instruction";
    if (instr->op == IR_QUAD_PRODUCT)
        return index < IR_QUAD_CODES && index % IR_QUAD_ROWS < IR_QUAD_ELEMENTS
                   ? NULL
                   : "there are no such products";
    if (instr->op == IR_PANEL_PRODUCT) return index < IR_PANEL_KINDS ? NULL : "there are no such panels";
    if (index >= module->globals.len) return "the module has no such constant";
    return instr->op != IR_PRINTF || module->globals.data[index].is_format ? NULL : "it must name a format";
}

const char *qn__ir_broken_attrs(const ir_function *function, const ir_instr *instr) {
    const ir_attr *attr = &instr->attr;
    uint32_t uses = qn__ir_ops[instr->op].has;
    if (instr->flags & ~qn__ir_ops[instr->op].flags) return "a flag that the op does not have";
    const char *broken = NULL;
    if (uses & (IR_ATTR_LANE | IR_ATTR_LANES)) broken = broken_lanes(instr, uses);
    if (!broken && uses & IR_ATTR_ORDER) broken = broken_order(instr);
    if (!broken && uses & IR_ATTR_SCOPE) broken = broken_scope(instr);
    if (!broken && uses & IR_ATTR_INDEX) broken = broken_index(function, instr);
    if (broken) return broken;
    if (uses & IR_ATTR_ALIGN && !is_power_of_two(attr->align)) return "the alignment must be a power of two";
    if (uses & IR_ATTR_COMBINE &&
        !qn__ir_combine_fits(attr->combine, result(instr), instr->op == IR_ATOMIC_RMW))
        return "its type does not combine this way";
    if (uses & IR_ATTR_FENCE && attr->fence & ~(IR_FENCE_LOCAL | IR_FENCE_GLOBAL)) return "no such fence";
    if (uses & IR_ATTR_DIM && attr->dim > 2) return "dimensions are 0, 1 and 2";
    if (uses & IR_ATTR_ROUNDING && attr->rounding >= IR_ROUNDING_COUNT) return "no such rounding mode";
    if (uses & IR_ATTR_VAR && !(attr->var && is_power_of_two(attr->var->align)))
        return "a variable's alignment must be a power of two";
    if (uses & IR_ATTR_UNROLL && attr->unroll < -1) return "no such unroll hint";
    return NULL;
}
