/* Declaration specifiers: storage classes, qualifiers, address spaces, type specifiers, structs, unions and
   enums (C99 6.7, OpenCL C 6.5, 6.7). */
#include "front/parse/parser.h"

#include <string.h>

/* ---- what begins a type or a declaration ---- */

bool qn__is_type_start(front_parser *p, const front_token *token) {
    switch (token->kind) {
    case FRONT_T_VOID:
    case FRONT_T_BOOL:
    case FRONT_T_CHAR_TYPE:
    case FRONT_T_SHORT:
    case FRONT_T_INT_TYPE:
    case FRONT_T_LONG:
    case FRONT_T_FLOAT_TYPE:
    case FRONT_T_DOUBLE:
    case FRONT_T_HALF:
    case FRONT_T_SIGNED:
    case FRONT_T_UNSIGNED:
    case FRONT_T_STRUCT:
    case FRONT_T_UNION:
    case FRONT_T_ENUM:
    case FRONT_T_CONST:
    case FRONT_T_VOLATILE:
    case FRONT_T_RESTRICT:
    case FRONT_T_GLOBAL:
    case FRONT_T_LOCAL:
    case FRONT_T_CONSTANT:
    case FRONT_T_PRIVATE:
    case FRONT_T_GENERIC:
    case FRONT_T_READ_ONLY:
    case FRONT_T_WRITE_ONLY:
    case FRONT_T_READ_WRITE:
    case FRONT_T_ATOMIC:
    case FRONT_T_COMPLEX:
    case FRONT_T_IMAGINARY:
    case FRONT_T_MATRIX:
    case FRONT_T_TYPEOF: return true;
    case FRONT_T_IDENTIFIER: {
        front_symbol *symbol = qn__lookup(p, token->name);
        bool is_unsupported = false;
        if (symbol) return symbol->symbol_kind == SYMBOL_TYPEDEF;
        if (token->name->is_reported && token->name->is_type) return true;
        return qn__type_by_name(p->types, (qn__str){token->name->data, token->name->len}, &is_unsupported) !=
               NULL;
    }
    default: return false;
    }
}

bool qn__is_declaration_start(front_parser *p) {
    switch (p->at->kind) {
    case FRONT_T_TYPEDEF:
    case FRONT_T_EXTERN:
    case FRONT_T_STATIC:
    case FRONT_T_AUTO:
    case FRONT_T_REGISTER:
    case FRONT_T_INLINE:
    case FRONT_T_NORETURN:
    case FRONT_T_THREAD_LOCAL:
    case FRONT_T_ALIGNAS:
    case FRONT_T_KERNEL: return true;
    default: return qn__is_type_start(p, p->at) || qn__is_foreign_specifier(p, p->at);
    }
}

/* ---- records ---- */

static bool field_exists(const ast_record *record, const char *name) {
    for (size_t i = 0; i < record->fields.len; i++) {
        const ast_field *field = &record->fields.data[i];
        if (field->name == name) return true;
        if (!field->name && !field->is_bit_field && field_exists(field->type->record, name)) return true;
    }
    return false;
}

static bool check_field_type(front_parser *p, front_declarator *declarator) {
    const ast_type *type = declarator->type;
    const char *name = declarator->name ? declarator->name->data : "<unnamed>";
    if (qn__type_is_error(p->types, type)) return false;
    if (type->kind == AST_ARRAY && type->is_incomplete) {
        qn__diag_error(p->diag, declarator->loc, "flexible array member '%s' is not allowed in OpenCL C",
                       name);
        return false;
    }
    if (!qn__type_is_complete(type)) {
        qn__diag_error(p->diag, declarator->loc, "field '%s' has incomplete type '%s'", name,
                       qn__type_text(p, type));
        return false;
    }
    if (type->kind == AST_EVENT) {
        qn__diag_error(p->diag, declarator->loc, "an event_t cannot be a member of a struct or union");
        return false;
    }
    const ast_type *element = type;
    while (element->kind == AST_ARRAY) element = element->base;
    if (qn__type_is_matrix(element)) {
        qn__diag_error(p->diag, declarator->loc, "a matrix fragment cannot be a member of a struct or union");
        return false;
    }
    if (qn__type_is_opaque(type)) {
        qn__diag_error(p->diag, declarator->loc,
                       "an image or sampler cannot be a member of a struct or union");
        return false;
    }
    if (type->space != IR_PRIVATE) {
        qn__diag_error(p->diag, declarator->loc, "field '%s' must not have an address space", name);
        return false;
    }
    return true;
}

static void parse_bit_width(front_parser *p, ast_field *field) {
    front_loc loc = qn__here(p);
    int64_t width = 0;
    field->is_bit_field = true;
    if (!qn__parse_constant(p, "width of a bit-field", &width, NULL)) width = 1;
    int64_t most = field->type->kind == AST_BOOL ? 1 : (int64_t)field->type->size * 8;
    if (!qn__type_is_integer(field->type)) {
        qn__diag_error(p->diag, loc, "bit-field has type '%s', which is no integer",
                       qn__type_text(p, field->type));
        field->type = p->types->scalars[AST_INT];
        width = 1;
    } else if (width < 0 || width > most) {
        qn__diag_error(p->diag, loc, "width of a bit-field of type '%s' must be between 0 and %d",
                       qn__type_text(p, field->type), (int)most);
        width = 1;
    } else if (width == 0 && field->name) {
        qn__diag_error(p->diag, loc, "bit-field '%s' has zero width", field->name);
        width = 1;
    }
    field->bit_width = (uint8_t)width;
}

static void add_field(front_parser *p, ast_record *record, front_declarator *declarator) {
    if (!check_field_type(p, declarator)) return;
    ast_field field = {.name = declarator->name ? declarator->name->data : NULL,
                       .type = declarator->type,
                       .offset = declarator->attributes.align,
                       .loc = declarator->loc};
    if (qn__accept(p, FRONT_T_COLON)) parse_bit_width(p, &field);
    if (!field.name && !field.is_bit_field) {
        qn__diag_error(p->diag, declarator->loc, "expected the name of a field");
        return;
    }
    if (field.name && field_exists(record, field.name)) {
        qn__diag_error(p->diag, declarator->loc, "duplicate member '%s'", field.name);
        return;
    }
    qn__vec_push(p->arena, &record->fields, field);
}

/* A struct or union without tag and declarator: its members are those of the outer record. */
static void add_anonymous(front_parser *p, ast_record *record, const front_specifiers *specifiers) {
    const ast_type *type = specifiers->type;
    if (qn__type_is_record(type) && type->record->is_complete) {
        ast_field field = {.type = type, .offset = specifiers->attributes.align, .loc = specifiers->loc};
        for (size_t i = 0; i < type->record->fields.len; i++) {
            const ast_field *inner = &type->record->fields.data[i];
            if (inner->name && field_exists(record, inner->name)) {
                qn__diag_error(p->diag, inner->loc, "duplicate member '%s'", inner->name);
                return;
            }
        }
        qn__vec_push(p->arena, &record->fields, field);
    } else if (!qn__type_is_error(p->types, type)) {
        qn__diag_warning(p->diag, FRONT_WARN_OTHER, specifiers->loc, "declaration does not declare anything");
    }
}

/* struct-declaration: specifiers (declarator (':' constant)? (',' ...)*)? ';' */
static void parse_fields(front_parser *p, ast_record *record) {
    front_specifiers specifiers;
    if (qn__accept(p, FRONT_T_SEMICOLON)) return;
    if (qn__peek(p, FRONT_T_STATIC_ASSERT)) {
        qn__parse_static_assert(p);
        return;
    }
    if (!qn__parse_specifiers(p, &specifiers, false)) return;
    if (qn__accept(p, FRONT_T_SEMICOLON)) {
        add_anonymous(p, record, &specifiers);
        return;
    }
    do {
        front_declarator declarator;
        if (qn__peek(p, FRONT_T_COLON)) { /* unnamed bit-field */
            declarator = (front_declarator){.type = specifiers.type, .loc = qn__here(p)};
            ast_field field = {.type = specifiers.type, .loc = declarator.loc};
            qn__advance(p);
            parse_bit_width(p, &field);
            if (!p->panic) qn__vec_push(p->arena, &record->fields, field);
            continue;
        }
        qn__parse_declarator(p, &specifiers, &declarator, false);
        if (p->panic) return;
        if (specifiers.attributes.align > declarator.attributes.align)
            declarator.attributes.align = specifiers.attributes.align;
        add_field(p, record, &declarator);
        qn__parse_attributes(p, &declarator.attributes);
    } while (!p->panic && qn__accept(p, FRONT_T_COMMA));
    qn__expect(p, FRONT_T_SEMICOLON, "after the member's declaration");
}

static void parse_record_body(front_parser *p, const ast_type *type, front_attributes *attributes) {
    ast_record *record = type->record;
    front_loc loc = qn__here(p);
    if (!qn__enter(p)) return;
    record->is_open = true;
    while (!qn__peek(p, FRONT_T_RBRACE) && !qn__peek(p, FRONT_T_END)) {
        const front_token *before = p->at;
        parse_fields(p, record);
        if (p->panic) {
            qn__skip_to(p, FRONT_T_SEMICOLON);
            p->panic = false;
        }
        if (p->at == before) qn__advance(p);
    }
    qn__expect(p, FRONT_T_RBRACE, "at the end of the struct or union");
    qn__leave(p);
    qn__parse_attributes(p, attributes);
    record->is_packed = attributes->packed;
    record->is_open = false;
    if (!qn__record_layout(p->types, type, attributes->align))
        qn__diag_error(p->diag, loc, "'%s' is too large", qn__type_text(p, type));
}

/* The record that the tag names; declared where it is not known yet, or a body follows in a new scope. */
static const ast_type *record_by_tag(front_parser *p, ast_kind kind, const front_token *tag, bool has_body) {
    front_symbol *symbol = qn__lookup_tag(p, tag->name);
    bool is_here = symbol && symbol->level == p->level;
    bool is_reference = !has_body && !qn__peek(p, FRONT_T_SEMICOLON);
    if (!symbol || (!is_here && !is_reference)) {
        symbol = qn__declare(p, SYMBOL_TAG, tag->name, tag->loc);
        symbol->type = qn__type_record(p->types, kind, tag->name->data);
        return symbol->type;
    }
    if (symbol->type->kind != kind) {
        qn__diag_error(p->diag, tag->loc, "use of '%s' with a tag that is not a %s", tag->name->data,
                       kind == AST_STRUCT ? "struct" : "union");
        qn__diag_note(p->diag, symbol->loc, "previous use is here");
        return p->types->error;
    }
    if (has_body && (symbol->type->record->is_complete || symbol->type->record->is_open)) {
        qn__diag_error(p->diag, tag->loc, "redefinition of '%s'", tag->name->data);
        qn__diag_note(p->diag, symbol->loc, "previous definition is here");
        return qn__type_record(p->types, kind, tag->name->data);
    }
    return symbol->type;
}

/* struct-or-union: ('struct' | 'union') attributes (identifier | identifier? '{' fields '}') attributes */
static const ast_type *parse_record(front_parser *p) {
    ast_kind kind = qn__peek(p, FRONT_T_STRUCT) ? AST_STRUCT : AST_UNION;
    front_attributes attributes = {0};
    qn__advance(p);
    qn__parse_attributes(p, &attributes);
    const front_token *tag = qn__peek(p, FRONT_T_IDENTIFIER) ? p->at : NULL;
    if (tag) qn__advance(p);
    qn__parse_attributes(p, &attributes);
    bool has_body = qn__peek(p, FRONT_T_LBRACE);
    if (!tag && !has_body) {
        qn__syntax_error(p, "expected the tag or the members of a struct or union");
        return p->types->error;
    }
    const ast_type *type =
        tag ? record_by_tag(p, kind, tag, has_body) : qn__type_record(p->types, kind, NULL);
    if (!has_body) return type;
    if (qn__type_is_error(p->types, type)) type = qn__type_record(p->types, kind, NULL);
    qn__advance(p);
    parse_record_body(p, type, &attributes);
    return type;
}

/* ---- enums ---- */

static const ast_type *enumerator_type(front_parser *p, int64_t value) {
    ast_kind kind = value >= INT32_MIN && value <= INT32_MAX ? AST_INT
                    : value >= 0 && value <= UINT32_MAX      ? AST_UINT
                                                             : AST_LONG;
    return p->types->scalars[kind];
}

static void declare_enumerator(front_parser *p, const front_token *token, int64_t value) {
    front_symbol *known = qn__lookup(p, token->name);
    if (known && known->level == p->level) {
        qn__diag_error(p->diag, token->loc, "redefinition of '%s'", token->name->data);
        qn__diag_note(p->diag, known->loc, "previous definition is here");
        return;
    }
    front_symbol *symbol = qn__declare(p, SYMBOL_ENUMERATOR, token->name, token->loc);
    symbol->value = value;
    symbol->type = enumerator_type(p, value);
}

/* enumerators: identifier ('=' constant)? (',' ...)* ','? '}' */
static const ast_type *parse_enumerators(front_parser *p) {
    int64_t next = 0;
    bool is_unsigned = false, has_negative = false;
    while (!qn__peek(p, FRONT_T_RBRACE)) {
        const front_token *token = p->at;
        front_attributes attributes = {0};
        if (!qn__expect(p, FRONT_T_IDENTIFIER, "in the enum")) return p->types->scalars[AST_INT];
        qn__parse_attributes(p, &attributes);
        if (qn__accept(p, FRONT_T_ASSIGN) && !qn__parse_constant(p, "value of an enumerator", &next, NULL))
            next = 0;
        declare_enumerator(p, token, next);
        has_negative |= next < 0;
        is_unsigned |= next > INT32_MAX;
        next = (int64_t)((uint64_t)next + 1);
        if (!qn__accept(p, FRONT_T_COMMA)) break;
    }
    qn__expect(p, FRONT_T_RBRACE, "at the end of the enum");
    return p->types->scalars[is_unsigned && !has_negative ? AST_UINT : AST_INT];
}

/* enum: 'enum' (identifier | identifier? '{' enumerators '}') */
static const ast_type *parse_enum(front_parser *p) {
    front_attributes attributes = {0};
    qn__advance(p);
    qn__parse_attributes(p, &attributes);
    const front_token *tag = qn__peek(p, FRONT_T_IDENTIFIER) ? p->at : NULL;
    if (tag) qn__advance(p);
    if (!qn__accept(p, FRONT_T_LBRACE)) {
        if (!tag) {
            qn__syntax_error(p, "expected the tag or the members of an enum");
            return p->types->error;
        }
        front_symbol *symbol = qn__lookup_tag(p, tag->name);
        if (symbol && !qn__type_is_record(symbol->type)) return symbol->type;
        qn__diag_error(p->diag, tag->loc, "enum '%s' is not defined", tag->name->data);
        return p->types->error;
    }
    front_symbol *known = tag ? qn__lookup_tag(p, tag->name) : NULL;
    if (known && known->level == p->level) {
        qn__diag_error(p->diag, tag->loc, "redefinition of '%s'", tag->name->data);
        qn__diag_note(p->diag, known->loc, "previous definition is here");
    }
    const ast_type *type = parse_enumerators(p);
    qn__parse_attributes(p, &attributes);
    if (tag) qn__declare(p, SYMBOL_TAG, tag->name, tag->loc)->type = type;
    return type;
}

/* ---- type specifiers ---- */

/* Words of a number type are counted, each in bits of its own, so that `unsigned long int` in any order is
   one sum (the idea is chibicc's). */
enum {
    WORD_VOID = 1 << 0,
    WORD_BOOL = 1 << 2,
    WORD_CHAR = 1 << 4,
    WORD_SHORT = 1 << 6,
    WORD_INT = 1 << 8,
    WORD_LONG = 1 << 10,
    WORD_FLOAT = 1 << 13,
    WORD_DOUBLE = 1 << 15,
    WORD_HALF = 1 << 17,
    WORD_SIGNED = 1 << 19,
    WORD_UNSIGNED = 1 << 21,
    WORD_OTHER = 1 << 23
};

static const struct word_row {
    uint32_t words;
    ast_kind kind;
} word_rows[] = {
    {WORD_VOID, AST_VOID},
    {WORD_BOOL, AST_BOOL},
    {WORD_CHAR, AST_CHAR},
    {WORD_SIGNED + WORD_CHAR, AST_CHAR},
    {WORD_UNSIGNED + WORD_CHAR, AST_UCHAR},
    {WORD_SHORT, AST_SHORT},
    {WORD_SHORT + WORD_INT, AST_SHORT},
    {WORD_SIGNED + WORD_SHORT, AST_SHORT},
    {WORD_SIGNED + WORD_SHORT + WORD_INT, AST_SHORT},
    {WORD_UNSIGNED + WORD_SHORT, AST_USHORT},
    {WORD_UNSIGNED + WORD_SHORT + WORD_INT, AST_USHORT},
    {WORD_INT, AST_INT},
    {WORD_SIGNED, AST_INT},
    {WORD_SIGNED + WORD_INT, AST_INT},
    {WORD_UNSIGNED, AST_UINT},
    {WORD_UNSIGNED + WORD_INT, AST_UINT},
    {WORD_LONG, AST_LONG},
    {WORD_LONG + WORD_INT, AST_LONG},
    {WORD_SIGNED + WORD_LONG, AST_LONG},
    {WORD_SIGNED + WORD_LONG + WORD_INT, AST_LONG},
    {WORD_UNSIGNED + WORD_LONG, AST_ULONG},
    {WORD_UNSIGNED + WORD_LONG + WORD_INT, AST_ULONG},
    {2 * WORD_LONG, AST_LONG},
    {2 * WORD_LONG + WORD_INT, AST_LONG},
    {WORD_SIGNED + 2 * WORD_LONG, AST_LONG},
    {WORD_SIGNED + 2 * WORD_LONG + WORD_INT, AST_LONG},
    {WORD_UNSIGNED + 2 * WORD_LONG, AST_ULONG},
    {WORD_UNSIGNED + 2 * WORD_LONG + WORD_INT, AST_ULONG},
    {WORD_FLOAT, AST_FLOAT},
    {WORD_DOUBLE, AST_DOUBLE},
    {WORD_HALF, AST_HALF},
};

static uint32_t word_of(unsigned kind) {
    switch (kind) {
    case FRONT_T_VOID: return WORD_VOID;
    case FRONT_T_BOOL: return WORD_BOOL;
    case FRONT_T_CHAR_TYPE: return WORD_CHAR;
    case FRONT_T_SHORT: return WORD_SHORT;
    case FRONT_T_INT_TYPE: return WORD_INT;
    case FRONT_T_LONG: return WORD_LONG;
    case FRONT_T_FLOAT_TYPE: return WORD_FLOAT;
    case FRONT_T_DOUBLE: return WORD_DOUBLE;
    case FRONT_T_HALF: return WORD_HALF;
    case FRONT_T_SIGNED: return WORD_SIGNED;
    case FRONT_T_UNSIGNED: return WORD_UNSIGNED;
    default: return 0;
    }
}

typedef struct specifier_state {
    front_specifiers *out;
    uint32_t words;
    const ast_type *other; /* record, enum, typedef, typeof */
    unsigned quals;
    int space; /* -1: none given */
} specifier_state;

static void check_double(front_parser *p, const ast_type *type, front_loc loc) {
    if (qn__type_element(type)->kind != AST_DOUBLE || p->is_library) return;
    if (!p->context->target.lacks_f64) return;
    qn__diag_error(p->diag, loc, "this device has no double precision");
    qn__diag_hint(
        p->diag,
        "use float, or the option -qn-soft-f64 for doubles made of integers, which are slow and exact");
}

static bool storage_class(front_parser *p, specifier_state *state) {
    front_specifiers *out = state->out;
    switch (p->at->kind) {
    case FRONT_T_TYPEDEF: out->is_typedef = true; return true;
    case FRONT_T_EXTERN: out->is_extern = true; return true;
    case FRONT_T_STATIC: out->is_static = true; return true;
    case FRONT_T_INLINE: out->is_inline = true; return true;
    case FRONT_T_KERNEL: out->is_kernel = true; return true;
    case FRONT_T_EXTENSION:
    case FRONT_T_NORETURN: return true;
    case FRONT_T_AUTO:
    case FRONT_T_REGISTER:
    case FRONT_T_THREAD_LOCAL:
        qn__diag_error(p->diag, qn__here(p), "storage class '%.*s' is not allowed in OpenCL C",
                       (int)p->at->len, p->at->text);
        return true;
    default: return false;
    }
}

static bool qualifier(front_parser *p, specifier_state *state) {
    int space = -1;
    switch (p->at->kind) {
    case FRONT_T_CONST: state->quals |= AST_CONST; return true;
    case FRONT_T_VOLATILE: state->quals |= AST_VOLATILE; return true;
    case FRONT_T_RESTRICT: state->quals |= AST_RESTRICT; return true;
    case FRONT_T_GLOBAL: space = IR_GLOBAL_SPACE; break;
    case FRONT_T_LOCAL: space = IR_LOCAL_SPACE; break;
    case FRONT_T_CONSTANT: space = IR_CONSTANT_SPACE; break;
    case FRONT_T_PRIVATE: space = IR_PRIVATE; break;
    case FRONT_T_GENERIC:
        if (qn__standard(p) < 200)
            qn__diag_error(p->diag, qn__here(p), "'__generic' needs -cl-std=CL2.0 or later");
        return true;
    default: return false;
    }
    if (state->space >= 0 && state->space != space)
        qn__diag_error(p->diag, qn__here(p), "more than one address space is given for a type");
    state->space = space;
    return true;
}

static void unsupported_type(front_parser *p) {
    qn__diag_error(p->diag, qn__here(p), "pipes and queues on the device are not supported");
    qn__diag_hint(p->diag, "launch the kernels from the host, and pass data between them in buffers");
}

/* typeof: 'typeof' '(' (type-name | expression) ')' */
static const ast_type *parse_typeof(front_parser *p) {
    const ast_type *type = p->types->error;
    qn__advance(p);
    if (!qn__expect(p, FRONT_T_LPAREN, "after 'typeof'")) return type;
    type = qn__is_type_start(p, p->at) ? qn__parse_type_name(p) : qn__parse_expression(p)->type;
    qn__expect(p, FRONT_T_RPAREN, "after the operand of 'typeof'");
    return type;
}

/* matrix: 'qn_matrix' '(' type-name ',' rows ',' columns ',' use ')' */
static const ast_type *parse_matrix(front_parser *p) {
    const front_loc loc = qn__here(p);
    int64_t numbers[3] = {0};
    static const char *const what[] = {"number of rows", "number of columns", "use of a matrix fragment"};
    qn__advance(p);
    if (!qn__expect(p, FRONT_T_LPAREN, "after 'qn_matrix'")) return p->types->error;
    const ast_type *element = qn__parse_type_name(p);
    for (size_t i = 0; i < QN__COUNT(numbers); i++) {
        qn__expect(p, FRONT_T_COMMA, "in qn_matrix(type, rows, columns, use)");
        if (p->panic || !qn__parse_constant(p, what[i], &numbers[i], NULL)) element = p->types->error;
    }
    qn__expect(p, FRONT_T_RPAREN, "after the use of a matrix fragment");
    if (p->panic) return p->types->error;
    return qn__sema_matrix_type(p, element, numbers[0], numbers[1], numbers[2], loc);
}

static bool is_size_name(const front_name *name) {
    static const char *const names[] = {"size_t", "ptrdiff_t", "intptr_t", "uintptr_t"};
    for (size_t i = 0; i < QN__COUNT(names); i++)
        if (strcmp(name->data, names[i]) == 0) return true;
    return false;
}

/* A name that stands for a type, if no type was given yet. */
static bool named_type(front_parser *p, specifier_state *state) {
    if (state->words || !qn__peek(p, FRONT_T_IDENTIFIER)) return false;
    front_symbol *symbol = qn__lookup(p, p->at->name);
    bool is_unsupported = false;
    const ast_type *type = NULL;
    if (!symbol)
        type = qn__type_by_name(p->types, (qn__str){p->at->name->data, p->at->name->len}, &is_unsupported);
    else if (symbol->symbol_kind == SYMBOL_TYPEDEF)
        type = symbol->type;
    if (!symbol && !type && p->at->name->is_type)
        type = p->types->error; /* reported where it was met first */
    if (!type) return false;
    if (is_unsupported) unsupported_type(p);
    state->out->is_size_type |= !symbol && is_size_name(p->at->name);
    check_double(p, type, qn__here(p));
    state->other = type;
    state->words += WORD_OTHER;
    qn__advance(p);
    return true;
}

/* Type specifier or qualifier at the current token; false if there is none. */
static bool type_specifier(front_parser *p, specifier_state *state) {
    uint32_t word = word_of(p->at->kind);
    if (word) {
        uint32_t limit = word == WORD_LONG ? 3 : 1;
        if (state->words / word % (word == WORD_LONG ? 8 : 4) >= limit || state->words >= WORD_OTHER) {
            qn__syntax_error(p, "cannot combine these type specifiers");
            return false;
        }
        state->words += word;
        qn__advance(p);
        return true;
    }
    if (qualifier(p, state)) {
        qn__advance(p);
        return true;
    }
    switch (p->at->kind) {
    case FRONT_T_STRUCT:
    case FRONT_T_UNION:
    case FRONT_T_ENUM:
    case FRONT_T_MATRIX:
    case FRONT_T_TYPEOF:
        if (state->words) return false;
        state->words += WORD_OTHER;
        state->other = qn__peek(p, FRONT_T_ENUM)     ? parse_enum(p)
                       : qn__peek(p, FRONT_T_TYPEOF) ? parse_typeof(p)
                       : qn__peek(p, FRONT_T_MATRIX) ? parse_matrix(p)
                                                     : parse_record(p);
        return true;
    case FRONT_T_READ_ONLY:
    case FRONT_T_WRITE_ONLY:
    case FRONT_T_READ_WRITE: qn__advance(p); return true;
    case FRONT_T_ATOMIC:
    case FRONT_T_COMPLEX:
    case FRONT_T_IMAGINARY:
        qn__diag_error(p->diag, qn__here(p), "'%.*s' is not part of OpenCL C", (int)p->at->len, p->at->text);
        qn__advance(p);
        return true;
    default: return named_type(p, state);
    }
}

static void parse_alignas(front_parser *p, front_attributes *attributes) {
    int64_t align = 0;
    qn__advance(p);
    if (!qn__expect(p, FRONT_T_LPAREN, "after '_Alignas'")) return;
    front_loc loc = qn__here(p);
    if (qn__is_type_start(p, p->at))
        align = qn__parse_type_name(p)->align;
    else
        qn__parse_constant(p, "alignment", &align, NULL);
    if (align < 0 || align > 65536 || (align & (align - 1)))
        qn__diag_error(p->diag, loc, "alignment must be a power of two up to 65536");
    else if (align > attributes->align)
        attributes->align = (uint32_t)align;
    qn__expect(p, FRONT_T_RPAREN, "after the alignment");
}

static const ast_type *words_type(front_parser *p, const specifier_state *state) {
    if (state->other && state->words == WORD_OTHER) return state->other;
    for (size_t i = 0; i < QN__COUNT(word_rows); i++) {
        if (word_rows[i].words != state->words) continue;
        const ast_type *type = p->types->scalars[word_rows[i].kind];
        check_double(p, type, state->out->loc);
        return type;
    }
    qn__diag_error(p->diag, state->out->loc, "these type specifiers make no type");
    return p->types->error;
}

static void report_type(front_parser *p, front_name *name) {
    if (!qn__foreign_word(p, name, qn__here(p))) {
        qn__diag_error(p->diag, qn__here(p), "unknown type name '%s'", name->data);
        qn__diag_range(p->diag, qn__here(p), name->len);
        if (qn__lookup_tag(p, name))
            qn__diag_hint(p->diag, "write 'struct %s', or give it a name with typedef", name->data);
    }
    name->is_reported = name->is_type = true;
}

/* `name x` or `name *x` where a type is missing: the name was meant as one. */
static bool unknown_type(front_parser *p, specifier_state *state) {
    if (!qn__peek(p, FRONT_T_IDENTIFIER) || p->at + 1 >= p->end) return false;
    const front_token *next = p->at + 1;
    bool is_pointer = next->kind == FRONT_T_STAR && p->at + 2 < p->end && p->at[2].kind == FRONT_T_IDENTIFIER;
    if (next->kind != FRONT_T_IDENTIFIER && !is_pointer) return false;
    report_type(p, p->at->name);
    state->words = WORD_OTHER;
    state->other = p->types->error;
    qn__advance(p);
    return true;
}

static const ast_type *apply_qualifiers(front_parser *p, const specifier_state *state, const ast_type *type) {
    unsigned lanes = state->out->attributes.vector_lanes;
    if (lanes && qn__type_is_scalar(type)) type = qn__type_vector(p->types, type, lanes);
    unsigned space = state->space >= 0 ? (unsigned)state->space : type->space;
    if (state->space >= 0 && type->space != IR_PRIVATE && type->space != (unsigned)state->space)
        qn__diag_error(p->diag, state->out->loc, "more than one address space is given for a type");
    unsigned quals = type->kind == AST_POINTER ? state->quals : state->quals & ~(unsigned)AST_RESTRICT;
    return qn__type_qualified(p->types, type, type->quals | quals, space);
}

/* A word of another language, with what stands behind it in parentheses. */
static void skip_foreign(front_parser *p) {
    qn__foreign_word(p, p->at->name, qn__here(p));
    qn__advance(p);
    if (!qn__accept(p, FRONT_T_LPAREN)) return;
    qn__skip_to(p, FRONT_T_RPAREN);
}

/* `NAME void f()`: what was to be a macro. */
static bool is_unknown_prefix(front_parser *p, const specifier_state *state) {
    if (state->words || !qn__peek(p, FRONT_T_IDENTIFIER) || p->at + 1 >= p->end) return false;
    if (p->function || qn__lookup(p, p->at->name) || p->at->name->is_type) return false;
    front_parser next = *p;
    next.at++;
    return !qn__peek(&next, FRONT_T_IDENTIFIER) && qn__is_declaration_start(&next);
}

static void skip_prefix(front_parser *p) {
    front_name *name = p->at->name;
    if (!name->is_reported) {
        qn__diag_error(p->diag, qn__here(p), "unknown name '%s' before a declaration", name->data);
        qn__diag_range(p->diag, qn__here(p), name->len);
        qn__diag_hint(p->diag, "if it is a macro, include the header that defines it, or define it with -D");
    }
    name->is_reported = true;
    qn__advance(p);
}

/* declaration-specifiers: (storage-class | qualifier | type-specifier | attributes)+
   False after a syntax error, or where there is none of it. */
bool qn__parse_specifiers(front_parser *p, front_specifiers *specifiers, bool storage) {
    *specifiers = (front_specifiers){.loc = qn__here(p), .start = p->at};
    specifier_state state = {.out = specifiers, .space = -1};
    const front_token *start = p->at;
    for (;;) {
        if (storage && storage_class(p, &state)) {
            qn__advance(p);
        } else if (qn__is_foreign_specifier(p, p->at)) {
            skip_foreign(p);
        } else if (qn__peek(p, FRONT_T_ATTRIBUTE)) {
            qn__parse_attributes(p, &specifiers->attributes);
        } else if (qn__peek(p, FRONT_T_ALIGNAS)) {
            parse_alignas(p, &specifiers->attributes);
        } else if (!type_specifier(p, &state)) {
            if (!is_unknown_prefix(p, &state)) break;
            skip_prefix(p);
        }
        if (p->panic) return false;
    }
    specifiers->has_space = state.space >= 0;
    specifiers->type = p->types->error;
    if (p->panic) return false;
    if (state.words == 0 && !unknown_type(p, &state)) {
        if (p->at == start) {
            qn__syntax_error(p, "expected a type");
            return false;
        }
        qn__syntax_error(p, "expected a type after the specifiers");
        return false;
    }
    specifiers->type = apply_qualifiers(p, &state, words_type(p, &state));
    return true;
}
