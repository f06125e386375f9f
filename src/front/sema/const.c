/* Constant expressions: values of array sizes, case labels and enumerators, and the bytes of __constant
   objects. Evaluates the typed tree; what it does not know is not constant. The number of steps is limited,
   because constants that refer to each other could take exponential time. */
#include <math.h>
#include <string.h>

#include "front/parse/parser.h"

enum { MOST_STEPS = 100000, MOST_HEIGHT = 600 };

typedef union lane_value {
    uint64_t u; /* truncated to the type, sign-extended */
    double f;
} lane_value;

typedef struct constant {
    const ast_type *type; /* number, vector or pointer */
    lane_value lanes[16];
    ast_decl *target; /* pointer: the object, or NULL; lanes[0].u is the offset or the address */
} constant;

typedef struct evaluator {
    front_parser *p;
    unsigned steps;
} evaluator;

static bool evaluate(evaluator *v, const ast_expr *e, constant *out);

static bool is_float(const constant *c) { return qn__type_is_float(qn__type_element(c->type)); }

/* ---- operators ---- */

static bool int_binary(ast_binary op, const ast_type *type, uint64_t a, uint64_t b, uint64_t *out) {
    bool is_signed = qn__type_is_signed(type);
    int64_t sa = (int64_t)a, sb = (int64_t)b;
    unsigned count = (unsigned)(b & (qn__type_bits(type) - 1));
    switch (op) {
    case BINARY_ADD: *out = a + b; return true;
    case BINARY_SUB: *out = a - b; return true;
    case BINARY_MUL: *out = a * b; return true;
    case BINARY_DIV:
    case BINARY_REM:
        if (b == 0 || (is_signed && sb == -1 && sa == INT64_MIN)) return false;
        if (op == BINARY_DIV)
            *out = is_signed ? (uint64_t)(sa / sb) : a / b;
        else
            *out = is_signed ? (uint64_t)(sa % sb) : a % b;
        return true;
    case BINARY_SHL: *out = a << count; return true;
    case BINARY_SHR: *out = !is_signed || sa >= 0 ? a >> count : ~(~a >> count); return true;
    case BINARY_AND: *out = a & b; return true;
    case BINARY_OR: *out = a | b; return true;
    case BINARY_XOR: *out = a ^ b; return true;
    case BINARY_EQ: *out = a == b; return true;
    case BINARY_NE: *out = a != b; return true;
    case BINARY_LT: *out = is_signed ? sa < sb : a < b; return true;
    case BINARY_LE: *out = is_signed ? sa <= sb : a <= b; return true;
    case BINARY_GT: *out = is_signed ? sa > sb : a > b; return true;
    case BINARY_GE: *out = is_signed ? sa >= sb : a >= b; return true;
    }
    return false;
}

static bool float_binary(ast_binary op, double a, double b, double *out) {
    switch (op) {
    case BINARY_ADD: *out = a + b; return true;
    case BINARY_SUB: *out = a - b; return true;
    case BINARY_MUL: *out = a * b; return true;
    case BINARY_DIV: *out = a / b; return true;
    default: return false;
    }
}

static bool float_compare(ast_binary op, double a, double b) {
    switch (op) {
    case BINARY_EQ: return a == b;
    case BINARY_NE: return a != b;
    case BINARY_LT: return a < b;
    case BINARY_LE: return a <= b;
    case BINARY_GT: return a > b;
    default: return a >= b;
    }
}

static bool pointer_binary(const ast_expr *e, const constant *a, const constant *b, constant *out) {
    uint64_t size = a->type->kind == AST_POINTER ? a->type->base->size : 1;
    *out = *a;
    out->type = e->type;
    switch (e->binary) {
    case BINARY_ADD: out->lanes[0].u = a->lanes[0].u + b->lanes[0].u * size; return true;
    case BINARY_SUB:
        if (b->type->kind != AST_POINTER) {
            out->lanes[0].u = a->lanes[0].u - b->lanes[0].u * size;
            return true;
        }
        if (a->target != b->target || size == 0) return false;
        out->target = NULL;
        out->lanes[0].u = (uint64_t)((int64_t)(a->lanes[0].u - b->lanes[0].u) / (int64_t)size);
        return true;
    default: break;
    }
    if (a->target != b->target || b->type->kind != AST_POINTER) return false;
    out->target = NULL;
    return int_binary((ast_binary)e->binary, e->type, a->lanes[0].u, b->lanes[0].u, &out->lanes[0].u);
}

static bool evaluate_binary(evaluator *v, const ast_expr *e, constant *out) {
    constant a, b;
    if (!evaluate(v, e->a, &a) || !evaluate(v, e->b, &b)) return false;
    if (a.type->kind == AST_POINTER) return pointer_binary(e, &a, &b, out);
    *out = (constant){.type = e->type};
    bool compares = e->binary >= BINARY_EQ;
    const ast_type *element = qn__type_element(a.type);
    for (unsigned i = 0; i < qn__type_lanes(e->type); i++) {
        lane_value x = a.lanes[i], y = b.lanes[i];
        uint64_t truth = 0;
        if (is_float(&a) && compares) {
            truth = float_compare((ast_binary)e->binary, x.f, y.f);
        } else if (is_float(&a)) {
            if (!float_binary((ast_binary)e->binary, x.f, y.f, &out->lanes[i].f)) return false;
            out->lanes[i].f = qn__round_to(element, out->lanes[i].f);
            continue;
        } else {
            if (!int_binary((ast_binary)e->binary, element, x.u, y.u, &truth)) return false;
        }
        bool is_mask = compares && e->type->kind == AST_VECTOR;
        out->lanes[i].u = compares ? (is_mask ? UINT64_C(0) - truth : truth) : qn__wrap_int(element, truth);
    }
    return true;
}

static bool evaluate_unary(evaluator *v, const ast_expr *e, constant *out) {
    constant a;
    if (!evaluate(v, e->a, &a)) return false;
    *out = (constant){.type = e->type};
    for (unsigned i = 0; i < qn__type_lanes(e->type); i++) {
        lane_value x = a.lanes[i];
        bool is_zero = is_float(&a) ? x.f == 0 : x.u == 0;
        switch (e->unary) {
        case UNARY_NEGATE:
            if (is_float(&a))
                out->lanes[i].f = -x.f;
            else
                out->lanes[i].u = qn__wrap_int(qn__type_element(e->type), UINT64_C(0) - x.u);
            break;
        case UNARY_COMPLEMENT: out->lanes[i].u = qn__wrap_int(qn__type_element(e->type), ~x.u); break;
        default: out->lanes[i].u = e->type->kind == AST_VECTOR ? UINT64_C(0) - is_zero : is_zero; break;
        }
    }
    return true;
}

static bool evaluate_truth(evaluator *v, const ast_expr *e, bool *out) {
    constant a;
    if (!evaluate(v, e, &a)) return false;
    *out = a.target || (is_float(&a) ? a.lanes[0].f != 0 : a.lanes[0].u != 0);
    return true;
}

static bool evaluate_logical(evaluator *v, const ast_expr *e, constant *out) {
    bool a, b;
    if (!evaluate_truth(v, e->a, &a)) return false;
    *out = (constant){.type = e->type};
    bool decided = e->binary == BINARY_AND ? !a : a;
    b = a;
    if (!decided && !evaluate_truth(v, e->b, &b)) return false;
    out->lanes[0].u = b;
    return true;
}

static bool evaluate_select(evaluator *v, const ast_expr *e, constant *out) {
    constant a, b, c;
    if (!evaluate(v, e->a, &a) || !evaluate(v, e->b, &b) || !evaluate(v, e->c, &c)) return false;
    *out = (constant){.type = e->type};
    for (unsigned i = 0; i < qn__type_lanes(e->type); i++) {
        bool is_set = a.lanes[i].u >> (qn__type_bits(a.type) - 1) & 1;
        out->lanes[i] = is_set ? b.lanes[i] : c.lanes[i];
    }
    return true;
}

/* ---- conversions and vectors ---- */

static lane_value convert_lane(lane_value x, const ast_type *from, const ast_type *to) {
    lane_value out;
    if (qn__type_is_float(from)) {
        if (qn__type_is_float(to))
            out.f = qn__round_to(to, x.f);
        else
            out.u = qn__wrap_int(to, qn__float_to_int(to, x.f));
    } else if (qn__type_is_float(to)) {
        out.f = qn__int_to_float(from, x.u, to);
    } else {
        out.u = qn__wrap_int(to, x.u);
    }
    return out;
}

static void put_lane(uint8_t *to, const ast_type *element, lane_value value) {
    uint64_t bits = value.u;
    if (element->kind == AST_FLOAT) {
        float single = (float)value.f;
        memcpy(to, &single, sizeof single);
        return;
    }
    if (qn__type_is_float(element)) bits = qn__float_from_double(qn__type_format(element), value.f);
    for (unsigned i = 0; i < element->size; i++) to[i] = (uint8_t)(bits >> (8 * i));
}

static lane_value get_lane(const uint8_t *from, const ast_type *element) {
    lane_value out = {.u = 0};
    if (element->kind == AST_FLOAT) {
        float single;
        memcpy(&single, from, sizeof single);
        out.f = (double)single;
        return out;
    }
    for (unsigned i = 0; i < element->size; i++) out.u |= (uint64_t)from[i] << (8 * i);
    if (qn__type_is_float(element))
        out.f = qn__float_to_double(qn__type_format(element), out.u);
    else
        out.u = qn__wrap_int(element, out.u);
    return out;
}

static void put_lanes(uint8_t *to, const constant *c) {
    const ast_type *element = qn__type_element(c->type);
    for (unsigned i = 0; i < qn__type_lanes(c->type); i++)
        put_lane(to + i * element->size, element, c->lanes[i]);
}

static void get_lanes(const uint8_t *from, constant *c) {
    const ast_type *element = qn__type_element(c->type);
    for (unsigned i = 0; i < qn__type_lanes(c->type); i++)
        c->lanes[i] = get_lane(from + i * element->size, element);
}

static bool evaluate_convert(evaluator *v, const ast_expr *e, constant *out) {
    constant a;
    if (!evaluate(v, e->a, &a)) return false;
    *out = (constant){.type = e->type};
    const ast_type *from = qn__type_element(a.type), *to = qn__type_element(e->type);
    uint8_t bytes[128] = {0};
    switch (e->convert) {
    case CONVERT_NUMBER:
        if (e->rounding != ROUND_DEFAULT || e->saturate) return false;
        for (unsigned i = 0; i < qn__type_lanes(e->type); i++)
            out->lanes[i] = convert_lane(a.lanes[i], from, to);
        return true;
    case CONVERT_TO_BOOL:
        out->lanes[0].u = a.target || (is_float(&a) ? a.lanes[0].f != 0 : a.lanes[0].u != 0);
        return true;
    case CONVERT_SPLAT:
        for (unsigned i = 0; i < qn__type_lanes(e->type); i++) out->lanes[i] = a.lanes[0];
        return true;
    case CONVERT_BITS:
        put_lanes(bytes, &a);
        get_lanes(bytes, out);
        return true;
    case CONVERT_POINTER:
    case CONVERT_TO_POINTER:
        out->lanes[0] = a.lanes[0];
        out->target = a.target;
        return true;
    default: out->lanes[0] = a.lanes[0]; return e->convert == CONVERT_FROM_POINTER && !a.target;
    }
}

static bool evaluate_vector(evaluator *v, const ast_expr *e, constant *out) {
    *out = (constant){.type = e->type};
    unsigned lane = 0;
    for (size_t i = 0; i < e->args.len; i++) {
        constant part;
        if (!evaluate(v, e->args.data[i], &part)) return false;
        for (unsigned j = 0; j < qn__type_lanes(part.type) && lane < 16; j++)
            out->lanes[lane++] = part.lanes[j];
    }
    return lane == qn__type_lanes(e->type);
}

static bool evaluate_swizzle(evaluator *v, const ast_expr *e, constant *out) {
    constant a;
    if (e->a->is_lvalue || !evaluate(v, e->a, &a)) return false;
    *out = (constant){.type = e->type->unqualified};
    for (unsigned i = 0; i < e->num_lanes; i++) out->lanes[i] = a.lanes[e->lanes[i] & 15];
    return true;
}

/* ---- objects ---- */

/* An object of program lifetime and the offset in it that an lvalue names. */
static bool evaluate_place(evaluator *v, const ast_expr *e, ast_decl **target, uint64_t *offset) {
    constant a, b;
    if (++v->steps > MOST_STEPS || e->height > MOST_HEIGHT) return false;
    switch (e->expr_kind) {
    case EXPR_VARIABLE:
        *target = e->decl;
        *offset = 0;
        return e->decl->decl_kind == DECL_VARIABLE && e->decl->type->space == IR_CONSTANT_SPACE;
    case EXPR_MEMBER:
        if (!e->is_lvalue || e->field->is_bit_field || !evaluate_place(v, e->a, target, offset)) return false;
        *offset += e->field->offset;
        return true;
    case EXPR_DEREF:
        if (!evaluate(v, e->a, &a)) return false;
        *target = a.target;
        *offset = a.lanes[0].u;
        return a.target != NULL;
    case EXPR_INDEX:
        if (!evaluate(v, e->a, &a) || !evaluate(v, e->b, &b)) return false;
        *target = a.target;
        *offset = a.lanes[0].u + b.lanes[0].u * e->type->size;
        return a.target != NULL;
    case EXPR_STRING: {
        ast_decl *decl = QN__NEW(v->p->arena, ast_decl);
        decl->decl_kind = DECL_VARIABLE;
        decl->name = qn__arena_printf(v->p->arena, ".string%zu", v->p->context->unit->constants.len);
        decl->type = e->type;
        decl->loc = e->loc;
        decl->align = 1;
        decl->data = (const uint8_t *)e->string.data;
        qn__vec_push(v->p->arena, &v->p->context->unit->constants, decl);
        *target = decl;
        *offset = 0;
        return true;
    }
    default: return false;
    }
}

/* What is read from a __constant object, or from a const variable with a constant initializer. */
static bool evaluate_load(evaluator *v, const ast_expr *e, constant *out) {
    const ast_expr *place = e->a;
    *out = (constant){.type = e->type};
    if (!qn__type_is_scalar(e->type) && e->type->kind != AST_VECTOR) return false;
    if (place->expr_kind == EXPR_VARIABLE && place->decl->type->space == IR_PRIVATE) {
        const ast_decl *decl = place->decl;
        bool is_constant = (decl->type->quals & AST_CONST) && !(decl->type->quals & AST_VOLATILE) &&
                           decl->init && decl->init->items.len == 1 &&
                           decl->init->items.data[0].type->unqualified == e->type;
        return is_constant && evaluate(v, decl->init->items.data[0].value, out);
    }
    ast_decl *target = NULL;
    uint64_t offset = 0;
    if (!evaluate_place(v, place, &target, &offset) || !target->data) return false;
    if (offset > target->type->size || e->type->size > target->type->size - offset) return false;
    get_lanes(target->data + offset, out);
    return true;
}

static bool evaluate_address(evaluator *v, const ast_expr *e, constant *out) {
    uint64_t offset = 0;
    *out = (constant){.type = e->type};
    if (!evaluate_place(v, e->a, &out->target, &offset)) return false;
    out->lanes[0].u = offset;
    return true;
}

static bool evaluate(evaluator *v, const ast_expr *e, constant *out) {
    bool condition;
    if (++v->steps > MOST_STEPS || e->height > MOST_HEIGHT || qn__type_is_error(v->p->types, e->type))
        return false;
    switch (e->expr_kind) {
    case EXPR_INT:
        *out = (constant){.type = e->type};
        out->lanes[0].u = e->int_value;
        return e->type->kind != AST_EVENT;
    case EXPR_FLOAT:
        *out = (constant){.type = e->type};
        out->lanes[0].f = e->float_value;
        return true;
    case EXPR_UNARY: return evaluate_unary(v, e, out);
    case EXPR_BINARY: return evaluate_binary(v, e, out);
    case EXPR_LOGICAL: return evaluate_logical(v, e, out);
    case EXPR_SELECT: return evaluate_select(v, e, out);
    case EXPR_CONVERT: return evaluate_convert(v, e, out);
    case EXPR_VECTOR: return evaluate_vector(v, e, out);
    case EXPR_SWIZZLE: return evaluate_swizzle(v, e, out);
    case EXPR_LOAD: return evaluate_load(v, e, out);
    case EXPR_ADDRESS:
    case EXPR_DECAY: return evaluate_address(v, e, out);
    case EXPR_CONDITIONAL:
        return evaluate_truth(v, e->a, &condition) && evaluate(v, condition ? e->b : e->c, out);
    default: return false;
    }
}

/* ---- entries ---- */

bool qn__const_int(front_parser *p, const ast_expr *e, int64_t *value) {
    evaluator v = {.p = p};
    constant result;
    if (!qn__type_is_integer(e->type) || !evaluate(&v, e, &result) || result.target) return false;
    *value = (int64_t)result.lanes[0].u;
    return true;
}

bool qn__const_bytes(front_parser *p, const ast_expr *e, uint8_t *to, ast_decl **target, int64_t *addend) {
    evaluator v = {.p = p};
    constant result;
    *target = NULL;
    *addend = 0;
    if (!evaluate(&v, e, &result)) return false;
    if (result.type->kind != AST_POINTER) {
        put_lanes(to, &result);
        return true;
    }
    if (result.target) {
        *target = result.target;
        *addend = (int64_t)result.lanes[0].u;
    } else {
        for (unsigned i = 0; i < 8; i++) to[i] = (uint8_t)(result.lanes[0].u >> (8 * i));
    }
    return true;
}

static void put_bit_field(uint8_t *unit, const ast_field *field, const uint8_t *value) {
    for (unsigned i = 0; i < field->bit_width; i++) {
        unsigned at = field->bit_offset + i;
        unsigned bit = value[i / 8] >> (i % 8) & 1;
        unit[at / 8] = (uint8_t)((unit[at / 8] & ~(1u << (at % 8))) | bit << (at % 8));
    }
}

/* A record copied from another __constant object. */
static bool copy_record(front_parser *p, const ast_expr *e, uint8_t *to) {
    evaluator v = {.p = p};
    ast_decl *from = NULL;
    uint64_t offset = 0;
    if (e->expr_kind != EXPR_LOAD || !evaluate_place(&v, e->a, &from, &offset)) return false;
    bool fits = from->data && from->addresses.len == 0 && offset <= from->type->size &&
                e->type->size <= from->type->size - offset;
    if (fits) memcpy(to, from->data + offset, (size_t)e->type->size);
    return fits;
}

static bool image_item(front_parser *p, ast_decl *decl, uint8_t *data, const ast_init_item *item) {
    uint8_t bytes[128] = {0}, *to = data + item->offset;
    ast_decl *target = NULL;
    int64_t addend = 0;
    if (qn__is_error(p, item->value)) return true;
    if (item->value->expr_kind == EXPR_STRING) {
        memcpy(to, item->value->string.data, item->value->string.len);
        return true;
    }
    if (qn__type_is_record(item->type)) return copy_record(p, item->value, to);
    if (!qn__const_bytes(p, item->value, bytes, &target, &addend)) return false;
    if (item->bit_field) {
        put_bit_field(to, item->bit_field, bytes);
        return true;
    }
    memcpy(to, bytes, (size_t)(qn__type_lanes(item->type) * qn__type_element(item->type)->size));
    if (target) {
        struct ast_address address = {item->offset, target, addend};
        qn__vec_push(p->arena, &decl->addresses, address);
    }
    return true;
}

void qn__constant_image(front_parser *p, ast_decl *decl) {
    uint8_t *data = qn__arena_alloc(p->arena, (size_t)decl->type->size);
    for (size_t i = 0; i < decl->init->items.len; i++) {
        const ast_init_item *item = &decl->init->items.data[i];
        if (image_item(p, decl, data, item)) continue;
        qn__diag_error(p->diag, item->value->loc, "initializer of %s variable '%s' is not a constant",
                       decl->is_state ? "global" : "__constant", decl->name);
        if (decl->is_state) qn__diag_hint(p->diag, "addresses are not known yet; let a kernel store them");
        return;
    }
    decl->data = data;
}
