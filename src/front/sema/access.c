/* Semantic checks of access: variables, addresses, elements, members, components of vectors; and of explicit
   conversions: casts and vector literals (OpenCL C 6.1.6, 6.1.7, 6.2). */
#include "front/parse/parser.h"

#include <string.h>

ast_expr *qn__sema_variable(front_parser *p, ast_decl *decl, front_loc loc) {
    ast_expr *e = qn__expr(p, EXPR_VARIABLE, decl->type, loc, NULL, NULL, NULL);
    qn__touch_image_type(p, decl->type, loc);
    if (decl->is_state && p->function) p->function->uses_state = true;
    e->decl = decl;
    decl->mentions++;
    e->is_lvalue = true;
    return e;
}

/* ---- & and [] ---- */

ast_expr *qn__sema_address(front_parser *p, ast_expr *a, front_loc loc) {
    if (qn__is_error(p, a)) return a;
    if (!a->is_lvalue) {
        qn__diag_error(p->diag, loc, "cannot take the address of a value of type '%s'",
                       qn__type_text(p, a->type));
        return qn__expr_error(p, loc);
    }
    if (a->expr_kind == EXPR_MEMBER && a->field->is_bit_field) {
        qn__diag_error(p->diag, loc, "cannot take the address of bit-field '%s'", a->field->name);
        return qn__expr_error(p, loc);
    }
    if (a->expr_kind == EXPR_SWIZZLE) {
        if (a->num_lanes > 1) {
            qn__diag_error(p->diag, loc, "cannot take the address of several components of a vector");
            return qn__expr_error(p, loc);
        }
        qn__diag_warning(p->diag, FRONT_WARN_PORTABILITY, loc, "address of a vector's component");
    }
    qn__check_lvalue_root(p, a, true);
    const ast_type *type = qn__type_pointer(p->types, a->type);
    if (qn__type_is_error(p->types, type)) return qn__expr_error(p, loc);
    return qn__expr(p, EXPR_ADDRESS, type, loc, a, NULL, NULL);
}

/* A new object that holds a value. */
static ast_expr *object_of(front_parser *p, ast_expr *value, front_loc loc) {
    ast_expr *e = qn__expr(p, EXPR_COMPOUND, value->type, loc, NULL, NULL, NULL);
    if (qn__is_error(p, e)) return e;
    ast_init_item item = {.type = value->type, .value = value};
    e->init = QN__NEW(p->arena, ast_init);
    qn__vec_push(p->arena, &e->init->items, item);
    if (value->height >= e->height) e->height = (uint16_t)(value->height + 1);
    e->is_lvalue = true;
    qn__expr_args(p, e);
    return e;
}

/* v[i] of a vector goes through a pointer to its first component. */
static ast_expr *vector_elements(front_parser *p, ast_expr *a, front_loc loc) {
    qn__check_lvalue_root(p, a, true);
    qn__check_lvalue_root(p, a, false);
    const ast_type *element = qn__type_qualified(p->types, a->type->base, a->type->quals, a->type->space);
    ast_expr *address = qn__expr(p, EXPR_ADDRESS, qn__type_pointer(p->types, a->type), loc, a, NULL, NULL);
    return qn__sema_cast_to(p, address, qn__type_pointer(p->types, element));
}

static void warn_bounds(front_parser *p, uint64_t length, const ast_expr *index, const char *what) {
    int64_t value = 0;
    if (index->expr_kind != EXPR_INT) return;
    value = (int64_t)index->int_value;
    if (value >= 0 && (uint64_t)value < length) return;
    qn__diag_warning(p->diag, FRONT_WARN_BOUNDS, index->loc,
                     "index %lld is outside of %s, which has %llu elements", (long long)value, what,
                     (unsigned long long)length);
}

ast_expr *qn__sema_index(front_parser *p, ast_expr *a, ast_expr *b, front_loc loc) {
    if (qn__is_error(p, a)) return a;
    if (qn__is_error(p, b)) return b;
    if ((b->type->kind == AST_POINTER || b->type->kind == AST_ARRAY) && qn__type_is_integer(a->type)) {
        ast_expr *swap = a;
        a = b;
        b = swap;
    }
    b = qn__sema_value(p, b);
    if (qn__is_error(p, b)) return b;
    /* Of a value, or of some components, there is only a copy to choose from. */
    const bool is_copy = a->type->kind == AST_VECTOR && (!a->is_lvalue || a->expr_kind == EXPR_SWIZZLE);
    if (is_copy) a = object_of(p, qn__sema_value(p, a), loc);
    uint64_t length = a->type->kind == AST_ARRAY    ? a->type->length
                      : a->type->kind == AST_VECTOR ? a->type->lanes
                                                    : 0;
    const char *what = a->type->kind == AST_VECTOR ? "the vector" : "the array";
    if (a->type->kind == AST_ARRAY)
        a = qn__sema_decay(p, a);
    else if (a->type->kind == AST_VECTOR)
        a = vector_elements(p, a, loc);
    else
        a = qn__sema_value(p, a);
    if (qn__is_error(p, a)) return a;
    if (a->type->kind != AST_POINTER) {
        qn__diag_error(p->diag, loc, "'%s' is neither array, pointer nor vector", qn__type_text(p, a->type));
        return qn__expr_error(p, loc);
    }
    if (!qn__type_is_integer(b->type)) {
        qn__diag_error(p->diag, b->loc, "index has type '%s', which is no integer",
                       qn__type_text(p, b->type));
        return qn__expr_error(p, loc);
    }
    if (!qn__type_is_complete(a->type->base)) {
        qn__diag_error(p->diag, loc, "elements of incomplete type '%s'", qn__type_text(p, a->type->base));
        return qn__expr_error(p, loc);
    }
    bool is_signed = qn__type_is_signed(qn__sema_promote(p, b->type));
    b = qn__sema_cast_to(p, b, p->types->scalars[is_signed ? AST_LONG : AST_ULONG]);
    if (length) warn_bounds(p, length, b, what);
    ast_expr *e = qn__expr(p, EXPR_INDEX, a->type->base, loc, a, b, NULL);
    e->is_lvalue = true;
    return is_copy ? qn__sema_value(p, e) : e;
}

/* ---- members ---- */

enum { MOST_ANONYMOUS = 8 };

static size_t find_field(const ast_type *record, const char *name, const ast_field **path, unsigned depth) {
    for (size_t i = 0; i < record->record->fields.len; i++) {
        const ast_field *field = &record->record->fields.data[i];
        path[0] = field;
        if (field->name) {
            if (field->name == name || strcmp(field->name, name) == 0) return 1;
        } else if (!field->is_bit_field && depth + 1 < MOST_ANONYMOUS) {
            size_t found = find_field(field->type, name, path + 1, depth + 1);
            if (found) return found + 1;
        }
    }
    return 0;
}

size_t qn__field_find(const ast_type *record, const char *name, const ast_field **path) {
    return find_field(record, name, path, 0);
}

static ast_expr *record_member(front_parser *p, ast_expr *a, front_name *name, front_loc loc) {
    const ast_field *path[MOST_ANONYMOUS];
    if (!a->type->record->is_complete) {
        qn__diag_error(p->diag, loc, "'%s' is not defined", qn__type_text(p, a->type->unqualified));
        return qn__expr_error(p, loc);
    }
    size_t length = qn__field_find(a->type, name->data, path);
    if (!length) {
        qn__diag_error(p->diag, loc, "no member named '%s' in '%s'", name->data,
                       qn__type_text(p, a->type->unqualified));
        return qn__expr_error(p, loc);
    }
    for (size_t i = 0; i < length; i++) {
        const ast_type *type = path[i]->type;
        unsigned quals = type->quals | (a->type->quals & (AST_CONST | AST_VOLATILE));
        type =
            qn__type_qualified(p->types, type, quals, a->is_lvalue ? a->type->space : (unsigned)IR_PRIVATE);
        ast_expr *e = qn__expr(p, EXPR_MEMBER, a->is_lvalue ? type : type->unqualified, loc, a, NULL, NULL);
        e->is_lvalue = a->is_lvalue;
        e->field = path[i];
        a = e;
    }
    return a;
}

/* ---- components of vectors ---- */

typedef struct swizzle {
    uint8_t lanes[16];
    unsigned num;
    bool is_rgba;
} swizzle;

static int hex_digit(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

static bool swizzle_half(qn__str name, unsigned lanes, swizzle *out) {
    unsigned half = lanes == 3 ? 2 : lanes / 2;
    bool lo = qn__str_is(name, "lo"), hi = qn__str_is(name, "hi");
    bool even = qn__str_is(name, "even"), odd = qn__str_is(name, "odd");
    if (!lo && !hi && !even && !odd) return false;
    for (unsigned i = 0; i < half; i++) {
        unsigned lane = lo ? i : hi ? half + i : even ? 2 * i : 2 * i + 1;
        out->lanes[i] =
            (uint8_t)(lane < lanes ? lane : lanes - 1); /* the fourth of a 3-vector is undefined */
    }
    out->num = half;
    return true;
}

/* .xyzw, .rgba, .s0123, .lo ...: the lanes named; false if it is no such name. */
static bool swizzle_parse(qn__str name, unsigned lanes, swizzle *out) {
    if (swizzle_half(name, lanes, out)) return true;
    bool is_hex = name.len > 1 && (name.data[0] == 's' || name.data[0] == 'S');
    if (is_hex) name = (qn__str){name.data + 1, name.len - 1};
    if (name.len == 0 || name.len > 16) return false;
    bool is_rgba = !is_hex && memchr("rgba", name.data[0], 4);
    for (size_t i = 0; i < name.len; i++) {
        const char *letters = is_rgba ? "rgba" : "xyzw";
        const char *at = memchr(letters, name.data[i], 4);
        int lane = is_hex ? hex_digit(name.data[i]) : at ? (int)(at - letters) : -1;
        if (lane < 0) return false;
        out->lanes[i] = (uint8_t)lane;
    }
    out->num = (unsigned)name.len;
    out->is_rgba = is_rgba;
    return true;
}

static bool has_repeats(const swizzle *s) {
    unsigned seen = 0;
    for (unsigned i = 0; i < s->num; i++) {
        if (seen >> s->lanes[i] & 1) return true;
        seen |= 1u << s->lanes[i];
    }
    return false;
}

static bool check_swizzle(front_parser *p, const swizzle *s, const ast_type *type, front_name *name,
                          front_loc loc) {
    for (unsigned i = 0; i < s->num; i++) {
        if (s->lanes[i] < type->lanes) continue;
        qn__diag_error(p->diag, loc, "'%s' has %u components: '.%s' is out of range",
                       qn__type_text(p, type->unqualified), type->lanes, name->data);
        return false;
    }
    bool good = s->num <= 4 || s->num == 8 || s->num == 16;
    if (!good)
        qn__diag_error(p->diag, loc, "'.%s' names %u components; vectors have 2, 3, 4, 8 or 16", name->data,
                       s->num);
    return good;
}

static ast_expr *vector_member(front_parser *p, ast_expr *a, front_name *name, front_loc loc) {
    swizzle s = {.num = 0};
    const ast_type *type = a->type;
    if (!swizzle_parse((qn__str){name->data, name->len}, type->lanes, &s)) {
        qn__diag_error(p->diag, loc, "'.%s' names no components of '%s'", name->data,
                       qn__type_text(p, type->unqualified));
        qn__diag_hint(p->diag, "components are .x .y .z .w, .s0 to .sf, .lo .hi .even .odd");
        return qn__expr_error(p, loc);
    }
    if (!check_swizzle(p, &s, type, name, loc)) return qn__expr_error(p, loc);
    bool is_lvalue = a->is_lvalue;
    if (a->expr_kind == EXPR_SWIZZLE) { /* of a swizzle: one swizzle of the vector beneath */
        for (unsigned i = 0; i < s.num; i++) s.lanes[i] = a->lanes[s.lanes[i]];
        a = a->a;
        is_lvalue = a->is_lvalue;
    }
    const ast_type *result = qn__type_vector(p->types, type->base, s.num);
    if (is_lvalue) result = qn__type_qualified(p->types, result, type->quals, type->space);
    ast_expr *e = qn__expr(p, EXPR_SWIZZLE, result, loc, a, NULL, NULL);
    if (qn__is_error(p, e)) return e;
    memcpy(e->lanes, s.lanes, sizeof e->lanes);
    e->num_lanes = (uint8_t)s.num;
    e->is_lvalue = is_lvalue && !has_repeats(&s);
    if (is_lvalue && !e->is_lvalue) { /* only to be read */
        e->a = qn__sema_value(p, a);
        e->type = result->unqualified;
        e->height++;
    }
    return e;
}

ast_expr *qn__sema_member(front_parser *p, ast_expr *a, front_name *name, bool arrow, front_loc loc) {
    if (qn__is_error(p, a)) return a;
    if (arrow) {
        a = qn__sema_value(p, a);
        if (qn__is_error(p, a)) return a;
        if (a->type->kind != AST_POINTER) {
            qn__diag_error(p->diag, loc, "'%s' is no pointer", qn__type_text(p, a->type));
            if (qn__type_is_record(a->type)) qn__diag_hint(p->diag, "use '.' instead of '->'");
            return qn__expr_error(p, loc);
        }
        ast_expr *object = qn__expr(p, EXPR_DEREF, a->type->base, loc, a, NULL, NULL);
        object->is_lvalue = true;
        if (qn__is_error(p, object)) return object;
        a = object;
    }
    if (qn__type_is_record(a->type)) return record_member(p, a, name, loc);
    if (a->type->kind == AST_VECTOR) return vector_member(p, a, name, loc);
    qn__diag_error(p->diag, loc, "'%s' has no members", qn__type_text(p, a->type));
    bool points_to_one = a->type->kind == AST_POINTER &&
                         (qn__type_is_record(a->type->base) || a->type->base->kind == AST_VECTOR);
    if (points_to_one) qn__diag_hint(p->diag, "use '->' instead of '.'");
    return qn__expr_error(p, loc);
}

/* ---- casts ---- */

static ast_expr *refuse_cast(front_parser *p, const ast_expr *a, const ast_type *type, front_loc loc) {
    qn__diag_error(p->diag, loc, "cannot cast '%s' to '%s'", qn__type_text(p, a->type),
                   qn__type_text(p, type));
    if (a->type->kind == AST_VECTOR && type->kind == AST_VECTOR)
        qn__diag_hint(p->diag, "use convert_%s(...) for values or as_%s(...) for bits",
                      qn__type_text(p, type), qn__type_text(p, type));
    return qn__expr_error(p, loc);
}

static ast_expr *cast_pointer(front_parser *p, ast_expr *a, const ast_type *type, front_loc loc) {
    const ast_type *from = a->type->base, *to = type->base;
    if (from->space == to->space) return qn__sema_cast_to(p, a, type);
    if (qn__is_null_constant(a)) return qn__sema_cast_to(p, a->a, type);
    if (to->space == IR_GENERIC_SPACE) /* whatever it was */
        return qn__sema_cast_to(p, a, qn__type_in_space(p, type, from->space));
    if (from->space == IR_GENERIC_SPACE && to->space != IR_CONSTANT_SPACE)
        return qn__sema_cast_to(p, a, type);
    static const char *const names[IR_SPACE_COUNT] = {"__private", "__global",  "__constant",
                                                      "__local",   "__private", "__generic"};
    qn__diag_error(p->diag, loc, "cast from '%s' to '%s' would change the address space",
                   qn__type_text(p, a->type), qn__type_text(p, type));
    if (to->space == IR_PRIVATE)
        qn__diag_hint(p->diag, "name the address space: (%s %s*)", names[from->space],
                      qn__type_text(p, to->unqualified));
    return qn__expr_error(p, loc);
}

/* A bool in a vector is all bits of each lane (OpenCL C 6.2.2). */
static ast_expr *splat_bool(front_parser *p, ast_expr *a, const ast_type *type, front_loc loc) {
    ast_expr *number = qn__sema_cast_to(p, a, p->types->scalars[AST_INT]);
    number = qn__sema_unary(p, FRONT_T_MINUS, number, loc);
    return qn__sema_cast_to(p, number, type);
}

ast_expr *qn__sema_cast(front_parser *p, ast_expr *a, const ast_type *type, front_loc loc) {
    type = type->unqualified;
    if (qn__type_is_error(p->types, type)) return qn__expr_error(p, loc);
    if (type->kind == AST_VOID) {
        if (qn__is_error(p, a)) return a;
        p->unevaluated++; /* (void)x says that x is meant not to be used */
        if (a->type->kind != AST_VOID) a = qn__sema_value(p, a);
        p->unevaluated--;
        return qn__sema_cast_to(p, a, type);
    }
    a = qn__sema_value(p, a);
    if (qn__is_error(p, a) || a->type == type) return a;
    const ast_type *from = a->type;
    bool to_number = qn__type_is_scalar(type) || type->kind == AST_VECTOR;
    if (from->kind == AST_BOOL && type->kind == AST_VECTOR && qn__type_is_integer(type->base))
        return splat_bool(p, a, type, loc);
    if (qn__type_is_scalar(from) && to_number) {
        ast_expr *e = qn__sema_cast_to(p, a, type);
        return e;
    }
    if (from->kind == AST_POINTER && type->kind == AST_POINTER) return cast_pointer(p, a, type, loc);
    if (from->kind == AST_POINTER && qn__type_is_integer(type)) return qn__sema_cast_to(p, a, type);
    if (qn__type_is_integer(from) && type->kind == AST_POINTER) return qn__sema_cast_to(p, a, type);
    if (type->kind == AST_EVENT && qn__is_null_constant(a)) return qn__sema_cast_to(p, a, type);
    return refuse_cast(p, a, type, loc);
}

/* ---- vector literals ---- */

/* One argument of a vector literal, its lanes added to *lanes; NULL after an error. */
static ast_expr *literal_part(front_parser *p, ast_expr *a, const ast_type *type, unsigned *lanes) {
    a = qn__sema_value(p, a);
    if (qn__is_error(p, a)) return NULL;
    const ast_type *element = type->base;
    *lanes += qn__type_lanes(a->type);
    if (qn__type_is_scalar(a->type)) return qn__sema_cast_to(p, a, element);
    if (a->type->kind != AST_VECTOR) {
        qn__diag_error(p->diag, a->loc, "'%s' cannot be a part of a vector", qn__type_text(p, a->type));
        return NULL;
    }
    if (a->type->base == element) return a;
    qn__diag_error(p->diag, a->loc, "part of type '%s' in a vector of type '%s'", qn__type_text(p, a->type),
                   qn__type_text(p, type));
    qn__diag_hint(p->diag, "convert it: convert_%s(...)",
                  qn__type_text(p, qn__type_vector(p->types, element, a->type->lanes)));
    return NULL;
}

ast_expr *qn__sema_vector_literal(front_parser *p, const ast_type *type, ast_expr **args, size_t num_args,
                                  front_loc loc) {
    type = type->unqualified;
    ast_expr *e = qn__expr(p, EXPR_VECTOR, type, loc, NULL, NULL, NULL);
    unsigned lanes = 0;
    for (size_t i = 0; i < num_args; i++) {
        ast_expr *part = literal_part(p, args[i], type, &lanes);
        if (!part) return qn__expr_error(p, loc);
        qn__vec_push(p->arena, &e->args, part);
        if (lanes > 16) break;
    }
    if (lanes != type->lanes) {
        qn__diag_error(p->diag, loc, "vector literal of type '%s' needs %u components, but has %s%u",
                       qn__type_text(p, type), type->lanes, lanes > 16 ? "at least " : "", lanes);
        return qn__expr_error(p, loc);
    }
    qn__expr_args(p, e);
    return e;
}
