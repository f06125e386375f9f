/* Declarators: what stands around a name and makes pointers, arrays and functions of the type before it
   (C99 6.7.5), and type names, which are declarators without a name. */
#include "front/parse/parser.h"

/* ---- derived types, checked ---- */

static const ast_type *pointer_to(front_parser *p, const ast_type *pointee, front_loc loc) {
    if (pointee->kind == AST_FUNCTION) {
        qn__diag_error(p->diag, loc, "pointers to functions are not allowed in OpenCL C");
        return p->types->error;
    }
    if (qn__type_is_opaque(pointee)) {
        qn__diag_error(p->diag, loc, "pointers to images and samplers are not allowed in OpenCL C");
        return p->types->error;
    }
    if (!qn__matrix_place(p, pointee, loc)) return p->types->error;
    const ast_type *type = qn__type_pointer(p->types, pointee);
    if (qn__type_is_error(p->types, type) && !qn__type_is_error(p->types, pointee))
        qn__diag_error(p->diag, loc, "type is nested too deeply");
    return type;
}

static bool check_element(front_parser *p, const ast_type *element, front_loc loc) {
    if (qn__type_is_error(p->types, element)) return false;
    if (qn__type_is_opaque(element)) {
        qn__diag_error(p->diag, loc, "arrays of images and samplers are not allowed in OpenCL C");
        return false;
    }
    if (element->kind == AST_FUNCTION || element->kind == AST_VOID || !qn__type_is_complete(element)) {
        qn__diag_error(p->diag, loc, "array has elements of incomplete type '%s'", qn__type_text(p, element));
        return false;
    }
    return true;
}

static const ast_type *array_of(front_parser *p, const ast_type *element, int64_t length, front_loc loc) {
    if (!check_element(p, element, loc)) return p->types->error;
    if (length < 0) {
        qn__diag_error(p->diag, loc, "array has a negative size");
        return p->types->error;
    }
    if (element->size && (uint64_t)length > FRONT_MAX_OBJECT / element->size) {
        qn__diag_error(p->diag, loc, "array is too large");
        return p->types->error;
    }
    const ast_type *type = qn__type_array(p->types, element, (uint64_t)length);
    if (qn__type_is_error(p->types, type)) qn__diag_error(p->diag, loc, "type is nested too deeply");
    return type;
}

/* ---- parameters ---- */

/* Arrays become pointers (C99 6.7.5.3); what cannot be passed is refused. */
static const ast_type *adjust_parameter(front_parser *p, front_declarator *declarator) {
    const ast_type *type = declarator->type;
    if (qn__type_is_error(p->types, type)) return type;
    if (type->kind == AST_ARRAY) return qn__type_pointer(p->types, type->base);
    if (type->kind == AST_FUNCTION) {
        qn__diag_error(p->diag, declarator->loc, "pointers to functions are not allowed in OpenCL C");
        return p->types->error;
    }
    if (type->kind == AST_VOID || !qn__type_is_complete(type)) {
        qn__diag_error(p->diag, declarator->loc, "parameter has incomplete type '%s'",
                       qn__type_text(p, type));
        return p->types->error;
    }
    if (type->space != IR_PRIVATE) {
        qn__diag_error(p->diag, declarator->loc, "a parameter by value must not have an address space");
        qn__diag_hint(p->diag, "address spaces belong to what a pointer points to: '%s *'",
                      qn__type_text(p, type));
        return type->unqualified;
    }
    return type;
}

/* parameter: specifiers declarator? */
static bool parse_parameter(front_parser *p, front_declarator *function) {
    front_specifiers specifiers;
    front_declarator declarator;
    if (!qn__parse_specifiers(p, &specifiers, false)) return false;
    qn__parse_declarator(p, &specifiers, &declarator, true);
    if (p->panic) return false;
    const ast_type *type = adjust_parameter(p, &declarator);
    size_t index = function->params.len;
    const bool is_unspaced = type->kind == AST_POINTER && declarator.is_pointer_unspaced;
    if (is_unspaced) type = qn__type_in_space(p, type, IR_GENERIC_SPACE);
    if (is_unspaced && p->instance_spaces) type = qn__type_in_space(p, type, p->instance_spaces[index]);
    ast_decl *decl = QN__NEW(p->arena, ast_decl);
    decl->is_space_taken = is_unspaced;
    decl->decl_kind = DECL_PARAMETER;
    decl->name = declarator.name ? declarator.name->data : NULL;
    decl->type = type;
    decl->loc = declarator.loc;
    decl->align = type->align;
    decl->is_size_type = specifiers.is_size_type && type->kind != AST_POINTER;
    qn__vec_push(p->arena, &function->params, decl);
    qn__vec_push(p->arena, &function->param_names, declarator.name);
    function->has_unspaced |= is_unspaced;
    return true;
}

static const ast_type *function_type(front_parser *p, const ast_type *result, front_declarator *declarator) {
    size_t num = declarator->params.len;
    const ast_type **params = QN__NEW_ARRAY(p->arena, const ast_type *, num + 1);
    for (size_t i = 0; i < num; i++) params[i] = declarator->params.data[i]->type->unqualified;
    if (result->kind == AST_ARRAY || result->kind == AST_FUNCTION) {
        qn__diag_error(p->diag, declarator->loc, "a function cannot return '%s'", qn__type_text(p, result));
        return p->types->error;
    }
    const ast_type *plain = result->kind == AST_VOID ? result : result->unqualified;
    const ast_type *type = qn__type_function(p->types, plain, params, (uint32_t)num, false);
    if (qn__type_is_error(p->types, type))
        qn__diag_error(p->diag, declarator->loc, "type is nested too deeply");
    return type;
}

/* parameter-list: '(' ('void' | parameter (',' parameter)*)? ')'; the '(' is read already */
static const ast_type *parse_parameters(front_parser *p, const ast_type *result,
                                        front_declarator *declarator) {
    enum { MOST_PARAMETERS = 1024 };
    declarator->params.len = declarator->param_names.len = 0;
    declarator->is_function = true;
    declarator->has_unspaced = false;
    bool is_void = qn__peek(p, FRONT_T_VOID) && p->at[1].kind == FRONT_T_RPAREN;
    if (is_void) qn__advance(p);
    if (qn__accept(p, FRONT_T_RPAREN)) return function_type(p, result, declarator);
    qn__scope_push(p);
    do {
        if (qn__peek(p, FRONT_T_ELLIPSIS)) {
            qn__diag_error(p->diag, qn__here(p),
                           "functions with a variable number of arguments are not allowed");
            qn__advance(p);
            break;
        }
        if (!parse_parameter(p, declarator)) break;
        if (declarator->params.len > MOST_PARAMETERS) {
            qn__syntax_error(p, "too many parameters");
            break;
        }
    } while (qn__accept(p, FRONT_T_COMMA));
    qn__scope_pop(p);
    if (p->panic) return p->types->error;
    qn__expect(p, FRONT_T_RPAREN, "after the parameters");
    return function_type(p, result, declarator);
}

/* ---- declarators ---- */

static void skip_array_qualifiers(front_parser *p) {
    while (qn__accept(p, FRONT_T_STATIC) || qn__accept(p, FRONT_T_CONST) || qn__accept(p, FRONT_T_RESTRICT) ||
           qn__accept(p, FRONT_T_VOLATILE)) {
    }
}

/* suffix: ('[' constant? ']' suffix?) | parameter-list suffix? | nothing */
static const ast_type *parse_suffix(front_parser *p, const ast_type *base, front_declarator *declarator) {
    front_loc loc = qn__here(p);
    if (qn__accept(p, FRONT_T_LPAREN)) return parse_parameters(p, base, declarator);
    if (!qn__peek(p, FRONT_T_LBRACKET)) return base;
    if (!qn__enter(p)) return p->types->error;
    qn__advance(p);
    declarator->is_function = false;
    skip_array_qualifiers(p);
    const ast_type *type = p->types->error;
    if (qn__accept(p, FRONT_T_RBRACKET)) {
        base = parse_suffix(p, base, declarator);
        if (check_element(p, base, loc)) type = qn__type_array_incomplete(p->types, base);
    } else {
        int64_t length = 0;
        front_loc length_loc = qn__here(p);
        bool is_constant = qn__parse_constant(p, "size of an array", &length, NULL);
        qn__expect(p, FRONT_T_RBRACKET, "after the array's size");
        base = parse_suffix(p, base, declarator);
        if (is_constant) type = array_of(p, base, length, length_loc);
    }
    qn__leave(p);
    return type;
}

/* pointer: ('*' (qualifier | address-space | attributes)*)* */
static const ast_type *parse_pointers(front_parser *p, const ast_type *type, front_declarator *declarator) {
    while (qn__peek(p, FRONT_T_STAR)) {
        front_loc loc = qn__here(p);
        unsigned quals = 0, space = IR_PRIVATE;
        qn__advance(p);
        if (!declarator->has_space && type->space == IR_PRIVATE && qn__has_generic(p) &&
            !qn__type_is_matrix(type))
            type = qn__type_qualified(p->types, type, type->quals, IR_GENERIC_SPACE);
        declarator->has_space = false;
        for (;; qn__advance(p)) {
            if (qn__peek(p, FRONT_T_CONST)) {
                quals |= AST_CONST;
            } else if (qn__peek(p, FRONT_T_VOLATILE)) {
                quals |= AST_VOLATILE;
            } else if (qn__peek(p, FRONT_T_RESTRICT)) {
                quals |= AST_RESTRICT;
            } else if (qn__peek(p, FRONT_T_GLOBAL)) {
                space = IR_GLOBAL_SPACE;
            } else if (qn__peek(p, FRONT_T_LOCAL)) {
                space = IR_LOCAL_SPACE;
            } else if (qn__peek(p, FRONT_T_CONSTANT)) {
                space = IR_CONSTANT_SPACE;
            } else if (qn__peek(p, FRONT_T_PRIVATE)) {
                declarator->has_space = true;
            } else if (!qn__peek(p, FRONT_T_GENERIC)) {
                break;
            }
        }
        qn__parse_attributes(p, &declarator->attributes);
        type = qn__type_qualified(p->types, pointer_to(p, type, loc), quals, space);
    }
    return type;
}

/* Whether the '(' here opens a nested declarator, not a list of parameters. */
static bool is_nested_declarator(front_parser *p, bool may_be_abstract) {
    if (!qn__peek(p, FRONT_T_LPAREN)) return false;
    const front_token *next = p->at + 1;
    if (!may_be_abstract) return true;
    switch (next->kind) {
    case FRONT_T_STAR:
    case FRONT_T_LPAREN:
    case FRONT_T_LBRACKET:
    case FRONT_T_ATTRIBUTE: return true;
    case FRONT_T_IDENTIFIER: return !qn__is_type_start(p, next);
    default: return false;
    }
}

static const ast_type *parse_derived(front_parser *p, const ast_type *type, front_declarator *declarator,
                                     bool may_be_abstract);

/* '(' declarator ')' suffix: the suffix binds first, so the inside is passed over, then read with its
   type. */
static const ast_type *parse_nested(front_parser *p, const ast_type *type, front_declarator *declarator,
                                    bool may_be_abstract) {
    qn__advance(p);
    const front_token *inside = p->at;
    qn__skip_to(p, FRONT_T_RPAREN);
    if (p->at == inside || p->at[-1].kind != FRONT_T_RPAREN) {
        p->at = inside;
        qn__syntax_error(p, "expected a matching ')'");
        return p->types->error;
    }
    type = parse_suffix(p, type, declarator);
    const front_token *behind = p->at;
    if (p->panic) return p->types->error;
    p->at = inside;
    type = parse_derived(p, type, declarator, may_be_abstract);
    if (p->at == p->end || !qn__expect(p, FRONT_T_RPAREN, "in the declarator")) return p->types->error;
    p->at = behind;
    return type;
}

/* declarator: pointer ('(' declarator ')' | identifier | nothing) suffix */
static const ast_type *parse_derived(front_parser *p, const ast_type *type, front_declarator *declarator,
                                     bool may_be_abstract) {
    if (!qn__enter(p)) return p->types->error;
    type = parse_pointers(p, type, declarator);
    if (is_nested_declarator(p, may_be_abstract)) {
        type = parse_nested(p, type, declarator, may_be_abstract);
    } else {
        declarator->loc = qn__here(p);
        if (qn__peek(p, FRONT_T_IDENTIFIER)) {
            declarator->name = p->at->name;
            qn__advance(p);
        } else if (!may_be_abstract) {
            qn__syntax_error(p, "expected a name");
        }
        if (!p->panic) type = parse_suffix(p, type, declarator);
    }
    qn__leave(p);
    return type;
}

void qn__parse_declarator(front_parser *p, const front_specifiers *specifiers, front_declarator *declarator,
                          bool in_parameter) {
    *declarator = (front_declarator){.loc = qn__here(p), .has_space = specifiers->has_space};
    declarator->attributes.align = specifiers->attributes.align;
    declarator->type = parse_derived(p, specifiers->type, declarator, in_parameter);
    declarator->is_function &= declarator->type->kind == AST_FUNCTION;
    const ast_type *type = declarator->is_function ? declarator->type->base : declarator->type;
    const bool is_unspaced_array = type->kind == AST_ARRAY && type->space == IR_PRIVATE &&
                                   !declarator->has_space && qn__has_generic(p); /* as a parameter */
    declarator->is_pointer_unspaced =
        is_unspaced_array || (type->kind == AST_POINTER && type->base->space == IR_GENERIC_SPACE);
    qn__parse_attributes(p, &declarator->attributes);
    if (p->panic) declarator->type = p->types->error;
}

/* type-name: specifiers abstract-declarator */
const ast_type *qn__parse_type_name(front_parser *p) {
    front_specifiers specifiers;
    front_declarator declarator = {0};
    if (!qn__parse_specifiers(p, &specifiers, false)) return p->types->error;
    front_loc loc = qn__here(p);
    qn__touch_image_type(p, specifiers.type, specifiers.loc);
    if (qn__peek(p, FRONT_T_RPAREN) || qn__peek(p, FRONT_T_COMMA)) return specifiers.type;
    qn__parse_declarator(p, &specifiers, &declarator, true);
    if (declarator.name) {
        qn__diag_error(p->diag, loc, "unexpected name '%s' in a type", declarator.name->data);
        return p->types->error;
    }
    return declarator.type;
}
