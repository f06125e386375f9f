/* Initializers (C99 6.7.8): nested braces, designators and missing inner braces are flattened into a list of
   places and values. */
#include "front/parse/parser.h"

#include <string.h>

typedef struct init_state {
    front_parser *p;
    ast_init *init;
    ast_expr *pending; /* read, but its place is still being looked for */
    uint64_t covered;  /* bytes of the items so far */
    bool has_gaps;     /* designators or bit-fields: `covered` does not tell */
} init_state;

static void init_element(init_state *s, const ast_type *type, uint64_t offset, const ast_field *bit_field);
static const ast_type *init_braced(init_state *s, const ast_type *type, uint64_t offset,
                                   const ast_field *bit_field);

static void add_item(init_state *s, const ast_type *type, uint64_t offset, const ast_field *bit_field,
                     ast_expr *value) {
    ast_init_item item = {.offset = offset, .type = type, .bit_field = bit_field, .value = value};
    qn__vec_push(s->p->arena, &s->init->items, item);
    s->covered += type->size;
    s->has_gaps |= bit_field != NULL;
}

/* ---- single values ---- */

static bool is_char_array(const ast_type *type) {
    return type->kind == AST_ARRAY && (type->base->kind == AST_CHAR || type->base->kind == AST_UCHAR);
}

static bool is_aggregate(const ast_type *type) { return type->kind == AST_ARRAY || qn__type_is_record(type); }

/* A string for a char array, cut to its length; an array without length gets the string's. */
static const ast_type *init_string(init_state *s, const ast_type *type, uint64_t offset, ast_expr *string) {
    front_parser *p = s->p;
    if (type->is_incomplete) type = qn__type_array(p->types, type->base, string->string.len);
    if (string->string.len > type->length) {
        if (string->string.len > type->length + 1)
            qn__diag_warning(p->diag, FRONT_WARN_OTHER, string->loc,
                             "string is longer than the array of %llu characters",
                             (unsigned long long)type->length);
        string->string.len = (size_t)type->length;
    }
    s->has_gaps |= string->string.len < type->length;
    add_item(s, type, offset, NULL, string);
    return type;
}

static void init_value(init_state *s, const ast_type *type, uint64_t offset, const ast_field *bit_field,
                       ast_expr *e) {
    front_parser *p = s->p;
    e = qn__sema_value(p, e);
    e = qn__sema_coerce(p, e, type, e->loc, (front_use){.what = "initialization"});
    add_item(s, type, offset, bit_field, e);
}

/* ---- aggregates ---- */

/* Where the next value without designator goes, among the elements, fields or lanes of an object. */
typedef struct cursor {
    const ast_type *type;
    uint64_t offset;
    uint64_t index, length; /* length of an array without one is what fits */
    uint64_t used;          /* one beyond the highest index that got a value */
} cursor;

static uint64_t cursor_length(const ast_type *type) {
    switch (type->kind) {
    case AST_ARRAY:
        return type->is_incomplete ? FRONT_MAX_OBJECT / (type->base->size ? type->base->size : 1)
                                   : type->length;
    case AST_VECTOR: return type->lanes;
    case AST_UNION: return type->record->fields.len ? 1 : 0;
    default: return type->record->fields.len;
    }
}

static const ast_field *cursor_field(const cursor *c, uint64_t index) {
    return qn__type_is_record(c->type) ? &c->type->record->fields.data[index] : NULL;
}

/* Unnamed bit-fields take no value. */
static void skip_unnamed(cursor *c) {
    if (!qn__type_is_record(c->type)) return;
    uint64_t end = c->type->record->fields.len;
    while (c->index < end && cursor_field(c, c->index)->is_bit_field && !cursor_field(c, c->index)->name)
        c->index++;
    if (c->type->kind == AST_UNION && c->index > 0 && c->used == 0 && c->index < end)
        c->length = c->index + 1;
}

static void init_at(init_state *s, cursor *c, uint64_t index) {
    if (index >= c->used) c->used = index + 1;
    const ast_field *field = cursor_field(c, index);
    if (field) {
        init_element(s, field->type, c->offset + field->offset, field->is_bit_field ? field : NULL);
        return;
    }
    const ast_type *element = c->type->base;
    init_element(s, element, c->offset + index * element->size, NULL);
}

static bool is_designator(const front_parser *p) {
    return qn__peek(p, FRONT_T_DOT) || qn__peek(p, FRONT_T_LBRACKET);
}

/* A comma and a value without designator. */
static bool more_values(const front_parser *p) {
    return !p->panic && qn__peek(p, FRONT_T_COMMA) && p->at[1].kind != FRONT_T_RBRACE &&
           p->at[1].kind != FRONT_T_DOT && p->at[1].kind != FRONT_T_LBRACKET;
}

typedef struct place {
    const ast_type *type;
    uint64_t offset;
    const ast_field *bit_field;
} place;

/* '[' constant ']': false after an error. */
static bool index_designator(init_state *s, place *at, uint64_t *index) {
    front_parser *p = s->p;
    int64_t value = 0;
    front_loc loc = qn__here(p);
    qn__advance(p);
    bool known = qn__parse_constant(p, "index of a designator", &value, NULL);
    if (qn__peek(p, FRONT_T_ELLIPSIS)) qn__syntax_error(p, "ranges in designators are not supported");
    qn__expect(p, FRONT_T_RBRACKET, "after the index");
    if (!known || p->panic) return false;
    bool is_array = at->type->kind == AST_ARRAY || at->type->kind == AST_VECTOR;
    if (!is_array || value < 0 || (uint64_t)value >= cursor_length(at->type)) {
        qn__diag_error(p->diag, loc,
                       is_array ? "index of the designator is outside of the array"
                                : "index for something that is no array");
        return false;
    }
    *index = (uint64_t)value;
    at->offset += *index * at->type->base->size;
    at->type = at->type->base;
    return true;
}

static bool field_designator(init_state *s, place *at, uint64_t *index) {
    front_parser *p = s->p;
    const ast_field *path[8];
    qn__advance(p);
    const front_token *token = p->at;
    if (!qn__expect(p, FRONT_T_IDENTIFIER, "after '.'")) return false;
    size_t length = qn__type_is_record(at->type) ? qn__field_find(at->type, token->name->data, path) : 0;
    if (!length) {
        qn__diag_error(p->diag, token->loc, "no member named '%s' in '%s'", token->name->data,
                       qn__type_text(p, at->type->unqualified));
        return false;
    }
    *index = (uint64_t)(path[0] - at->type->record->fields.data);
    for (size_t i = 0; i < length; i++) at->offset += path[i]->offset;
    at->type = path[length - 1]->type;
    at->bit_field = path[length - 1]->is_bit_field ? path[length - 1] : NULL;
    return true;
}

/* The objects that the designators behind the first one went into: the values that follow go on there. */
enum { MAX_DESIGNATORS = 16 };
typedef struct designated {
    cursor inner[MAX_DESIGNATORS];
    unsigned count;
} designated;

/* designators: ('[' constant ']' | '.' identifier)+ '='; the cursor moves to the first one's element. */
static bool parse_designators(init_state *s, cursor *c, place *at, designated *path) {
    front_parser *p = s->p;
    *at = (place){c->type, c->offset, NULL};
    bool is_first = true;
    path->count = 0;
    s->has_gaps = true;
    while (is_designator(p)) {
        uint64_t index = 0;
        cursor inner = {.type = at->type, .offset = at->offset};
        bool good =
            qn__peek(p, FRONT_T_DOT) ? field_designator(s, at, &index) : index_designator(s, at, &index);
        if (!good) return false;
        if (is_first) {
            c->index = index;
        } else if (path->count < MAX_DESIGNATORS) {
            inner.length = cursor_length(inner.type);
            inner.index = inner.type->kind == AST_UNION ? inner.length : index + 1;
            path->inner[path->count++] = inner;
        }
        is_first = false;
    }
    qn__accept(p, FRONT_T_ASSIGN);
    return true;
}

static void skip_initializer(init_state *s) {
    front_parser *p = s->p;
    if (qn__peek(p, FRONT_T_LBRACE)) {
        qn__advance(p);
        qn__skip_to(p, FRONT_T_RBRACE);
    } else {
        qn__parse_assignment(p);
    }
}

static void designated_element(init_state *s, cursor *c) {
    front_parser *p = s->p;
    place at;
    designated path;
    if (!parse_designators(s, c, &at, &path)) {
        if (!s->p->panic) {
            qn__accept(s->p, FRONT_T_ASSIGN);
            skip_initializer(s);
        }
        return;
    }
    if (c->index >= c->used) c->used = c->index + 1;
    if (c->type->kind == AST_UNION) c->length = c->index + 1;
    init_element(s, at.type, at.offset, at.bit_field);
    c->index++;
    for (unsigned i = path.count; i-- > 0;) {
        cursor *inner = &path.inner[i];
        for (skip_unnamed(inner); inner->index < inner->length && more_values(p); skip_unnamed(inner)) {
            qn__advance(p);
            init_at(s, inner, inner->index++);
        }
    }
}

/* The next components of a vector in braces: a scalar, or a vector of the same elements, as in {v2, 0, 0}. */
static void init_components(init_state *s, cursor *c) {
    front_parser *p = s->p;
    const ast_type *element = c->type->base;
    uint64_t offset = c->offset + c->index * element->size;
    ast_expr *e = qn__sema_value(p, qn__parse_assignment(p));
    unsigned lanes = qn__type_lanes(e->type);
    if (e->type->kind == AST_VECTOR && e->type->base == element && c->index + lanes <= c->length) {
        add_item(s, e->type, offset, NULL, e);
        s->has_gaps |= lanes == 3; /* takes more room than it fills */
        c->index += lanes;
    } else {
        init_value(s, element, offset, NULL, e);
        c->index++;
    }
}

/* Elements up to the closing brace. */
static void init_list(init_state *s, cursor *c) {
    front_parser *p = s->p;
    while (!p->panic && !qn__peek(p, FRONT_T_RBRACE) && !qn__peek(p, FRONT_T_END)) {
        skip_unnamed(c);
        if (is_designator(p) && c->type->kind != AST_VECTOR) {
            designated_element(s, c);
        } else if (c->type->kind == AST_VECTOR && c->index < c->length && !qn__peek(p, FRONT_T_LBRACE)) {
            init_components(s, c);
        } else if (c->index < c->length) {
            init_at(s, c, c->index++);
        } else {
            qn__diag_warning(p->diag, FRONT_WARN_OTHER, qn__here(p),
                             "more initializers than elements of '%s'",
                             qn__type_text(p, c->type->unqualified));
            skip_initializer(s);
        }
        if (!qn__accept(p, FRONT_T_COMMA)) break;
    }
}

/* Elements of an object whose braces were left out: as many as it has. The first value is pending. */
static void init_elided(init_state *s, const ast_type *type, uint64_t offset) {
    front_parser *p = s->p;
    cursor c = {.type = type, .offset = offset, .length = cursor_length(type)};
    if (!qn__enter(p)) return;
    for (;;) {
        skip_unnamed(&c);
        if (c.index >= c.length || p->panic) break;
        init_at(s, &c, c.index++);
        skip_unnamed(&c);
        if (c.index >= c.length || !more_values(p)) break;
        qn__advance(p);
    }
    qn__leave(p);
}

/* One element: a value, a list in braces, or, for an aggregate, the first value of several. */
static void init_element(init_state *s, const ast_type *type, uint64_t offset, const ast_field *bit_field) {
    front_parser *p = s->p;
    if (!s->pending && qn__peek(p, FRONT_T_LBRACE)) {
        init_braced(s, type, offset, bit_field);
        return;
    }
    ast_expr *e = s->pending ? s->pending : qn__parse_assignment(p);
    s->pending = NULL;
    if (e->expr_kind == EXPR_STRING && is_char_array(type)) {
        init_string(s, type, offset, e);
    } else if (is_aggregate(type) && e->type->unqualified != type->unqualified && !qn__is_error(p, e)) {
        s->pending = e;
        init_elided(s, type, offset);
        if (s->pending)
            qn__diag_error(p->diag, e->loc, "'%s' has no element to initialize", qn__type_text(p, type));
        s->pending = NULL;
    } else if (type->kind == AST_ARRAY) {
        if (!qn__is_error(p, e))
            qn__diag_error(p->diag, e->loc, "an array cannot be initialized from an array");
    } else {
        init_value(s, type, offset, bit_field, e);
    }
}

/* '{' values '}' for an object; gives its type, completed by the number of elements. */
static const ast_type *init_braced(init_state *s, const ast_type *type, uint64_t offset,
                                   const ast_field *bit_field) {
    front_parser *p = s->p;
    if (!qn__enter(p)) return type;
    qn__advance(p);
    if (is_char_array(type) && qn__peek(p, FRONT_T_STRING) && p->at[1].kind == FRONT_T_RBRACE) {
        ast_expr *string = qn__parse_assignment(p);
        type = init_string(s, type, offset, string);
    } else if (is_aggregate(type) || type->kind == AST_VECTOR) {
        cursor c = {.type = type, .offset = offset, .length = cursor_length(type)};
        init_list(s, &c);
        if (type->kind == AST_ARRAY && type->is_incomplete)
            type = qn__type_array(p->types, type->base, c.used);
    } else if (!qn__peek(p, FRONT_T_RBRACE)) {
        init_element(s, type, offset, bit_field);
        if (qn__accept(p, FRONT_T_COMMA) && !qn__peek(p, FRONT_T_RBRACE)) {
            qn__diag_warning(p->diag, FRONT_WARN_OTHER, qn__here(p),
                             "more than one initializer for a scalar");
            while (!p->panic && !qn__peek(p, FRONT_T_RBRACE) && !qn__peek(p, FRONT_T_END)) {
                skip_initializer(s);
                if (!qn__accept(p, FRONT_T_COMMA)) break;
            }
        }
    } else {
        s->has_gaps = true;
    }
    qn__expect(p, FRONT_T_RBRACE, "at the end of the initializer");
    qn__leave(p);
    return type;
}

/* initializer: assignment | '{' (designators? initializer (',' ...)*)? '}' */
ast_init *qn__parse_initializer(front_parser *p, const ast_type **type) {
    ast_init *init = QN__NEW(p->arena, ast_init);
    init_state s = {.p = p, .init = init};
    const ast_type *object = *type;
    if (qn__type_is_error(p->types, object)) {
        skip_initializer(&s);
        return init;
    }
    const ast_type *element = object;
    while (element->kind == AST_ARRAY) element = element->base;
    if (qn__type_is_matrix(element) && qn__peek(p, FRONT_T_LBRACE)) {
        qn__diag_error(p->diag, qn__here(p), "a matrix fragment has no initializer in braces");
        qn__diag_hint(p->diag, "qn_matrix_fill gives its elements a value");
        skip_initializer(&s);
        return init;
    }
    if (qn__peek(p, FRONT_T_LBRACE)) {
        object = init_braced(&s, object, 0, NULL);
    } else {
        ast_expr *e = qn__parse_assignment(p);
        if (e->expr_kind == EXPR_STRING && is_char_array(object)) {
            object = init_string(&s, object, 0, e);
        } else if (object->kind == AST_ARRAY) {
            if (!qn__is_error(p, e))
                qn__diag_error(p->diag, e->loc, "an array must be initialized from a list in braces");
        } else {
            init_value(&s, object, 0, NULL, e);
        }
    }
    init->zero_first = s.has_gaps || s.covered < object->size;
    *type = object;
    return init;
}
