/* Declarations: variables, typedefs and functions, at file scope and in blocks (C99 6.7, 6.9; address spaces
   by OpenCL C 6.5). */
#include "front/parse/parser.h"

#include <string.h>

enum { MOST_PRIVATE_BYTES = 16 << 20, MOST_CONSTANT_BYTES = 64 << 20, MOST_STATE_BYTES = 64 << 20 };

/* ---- redeclarations ---- */

static bool redefinition(front_parser *p, front_name *name, front_loc loc) {
    front_symbol *known = qn__lookup(p, name);
    if (!known || known->level != p->level) return false;
    qn__diag_error(p->diag, loc, "redefinition of '%s'", name->data);
    qn__diag_note(p->diag, known->loc, "previous definition is here");
    return true;
}

static void declare_typedef(front_parser *p, const front_declarator *declarator) {
    front_symbol *known = qn__lookup(p, declarator->name);
    const ast_type *type = declarator->type;
    unsigned lanes = declarator->attributes.vector_lanes;
    if (lanes && qn__type_is_scalar(type)) type = qn__type_vector(p->types, type, lanes);
    if (known && known->level == p->level) {
        if (known->symbol_kind == SYMBOL_TYPEDEF && known->type == type) return;
        redefinition(p, declarator->name, declarator->loc);
        return;
    }
    qn__declare(p, SYMBOL_TYPEDEF, declarator->name, declarator->loc)->type = type;
    if (qn__type_is_record(type) && !type->record->tag) {
        type->record->tag = declarator->name->data;
        type->record->is_named_by_typedef = true;
    }
}

/* ---- variables ---- */

/* `is_open`: an initializer, or the definition, tells the length of an array. */
static bool check_object_type(front_parser *p, const front_declarator *declarator, bool is_open) {
    const ast_type *type = declarator->type;
    const char *name = declarator->name->data;
    if (qn__type_is_error(p->types, type)) return false;
    if (type->kind == AST_ARRAY && type->is_incomplete && is_open) return true;
    if (!qn__type_is_complete(type)) {
        qn__diag_error(p->diag, declarator->loc, "variable '%s' has incomplete type '%s'", name,
                       qn__type_text(p, type));
        return false;
    }
    uint64_t most = type->space == IR_CONSTANT_SPACE ? MOST_CONSTANT_BYTES
                    : type->space == IR_GLOBAL_SPACE ? MOST_STATE_BYTES
                                                     : MOST_PRIVATE_BYTES;
    if (type->size > most) {
        qn__diag_error(p->diag, declarator->loc, "variable '%s' of %llu bytes is too large: the most is %llu",
                       name, (unsigned long long)type->size, (unsigned long long)most);
        return false;
    }
    return true;
}

static const char *space_text(unsigned space) {
    static const char *const names[] = {"private", "__global", "__constant",
                                        "__local", "private",  "__generic"};
    return names[space % QN__COUNT(names)];
}

/* Where no address space is given, a variable that lives as long as the program is global since OpenCL C 2.0. */
static const ast_type *default_space(front_parser *p, const ast_type *type, bool is_lasting) {
    if (!is_lasting || qn__type_is_error(p->types, type) || type->space != IR_PRIVATE ||
        qn__standard(p) < 200)
        return type;
    return qn__type_qualified(p->types, type, type->quals, IR_GLOBAL_SPACE);
}

/* At file scope there are __constant and __global. */
static const ast_type *check_file_space(front_parser *p, const front_declarator *declarator,
                                        const ast_type *type) {
    if (qn__type_is_error(p->types, type) || type->space == IR_CONSTANT_SPACE) return type;
    if (!qn__matrix_place(p, type, declarator->loc)) return p->types->error;
    if (qn__type_is_opaque(type) || type->space == IR_GLOBAL_SPACE) return type;
    qn__diag_error(p->diag, declarator->loc,
                   "variable '%s' at file scope must be in the __constant or __global address space",
                   declarator->name->data);
    const ast_type *element = type;
    while (element->kind == AST_ARRAY) element = element->base;
    if (element->kind == AST_POINTER)
        qn__diag_hint(p->diag, "write '__constant' between '*' and the name");
    else if (type->space == IR_PRIVATE)
        qn__diag_hint(p->diag, "write '__constant' or '__global' before its type");
    else
        qn__diag_hint(p->diag, "%s memory is declared in a kernel or passed to it as a pointer",
                      space_text(type->space));
    return qn__type_qualified(p->types, type, type->quals, IR_CONSTANT_SPACE);
}

/* In a block: __global only with static; __local without initializer. */
static void check_block_space(front_parser *p, const front_specifiers *specifiers,
                              const front_declarator *declarator, bool has_init) {
    const ast_type *type = declarator->type;
    const char *name = declarator->name->data;
    qn__touch_image_type(p, type, declarator->loc);
    if (qn__type_is_opaque(type) || !qn__matrix_place(p, type, declarator->loc)) return;
    if (type->space == IR_GLOBAL_SPACE && (specifiers->is_static || specifiers->is_extern)) return;
    if (specifiers->is_extern && type->space != IR_CONSTANT_SPACE) {
        qn__diag_error(p->diag, declarator->loc,
                       "extern variable '%s' must be in the __constant or __global address space", name);
    } else if (type->space == IR_GLOBAL_SPACE) {
        qn__diag_error(p->diag, declarator->loc, "variable '%s' cannot be in the __global address space",
                       name);
        qn__diag_hint(p->diag, "a pointer to global memory is written '__global T *%s'", name);
    } else if (type->space == IR_LOCAL_SPACE && has_init) {
        qn__diag_error(p->diag, declarator->loc, "variable '%s' in local memory cannot have an initializer",
                       name);
        qn__diag_hint(p->diag, "let one work-item write it, then call barrier(CLK_LOCAL_MEM_FENCE)");
    } else if (type->space == IR_LOCAL_SPACE && p->function && !p->function->is_kernel) {
        qn__diag_warning(p->diag, FRONT_WARN_PORTABILITY, declarator->loc,
                         "variable '%s' in local memory is declared outside a kernel function", name);
    } else if (specifiers->is_static && type->space != IR_CONSTANT_SPACE) {
        qn__diag_error(p->diag, declarator->loc, "variable '%s' in a function cannot be static", name);
        qn__diag_hint(p->diag,
                      "for a table of constants, write '__constant' instead; for a variable that all "
                      "launches share, 'static __global'");
    }
}

/* OpenCL 2.0 and later leave the address space of a pointer open; that of its initializer is taken, or of what is first
   assigned to it. */
static bool is_space_open(const front_parser *p, const front_declarator *declarator, const ast_type *type) {
    return declarator->is_pointer_unspaced && type->kind == AST_POINTER && !p->all_generic;
}

static void variable_init(front_parser *p, ast_decl *decl, const front_declarator *declarator) {
    const ast_type *type = decl->type;
    if (p->function && !decl->is_state && is_space_open(p, declarator, type) &&
        !qn__peek(p, FRONT_T_LBRACE)) {
        ast_expr *value = qn__sema_value(p, qn__parse_assignment(p));
        ast_init *init = QN__NEW(p->arena, ast_init);
        decl->is_space_open = qn__is_null_constant(value);
        if (!decl->is_space_open) decl->type = qn__sema_space_of_value(p, type, value->type);
        decl->is_space_taken = decl->type != type;
        value = qn__sema_coerce(p, value, decl->type->unqualified, value->loc,
                                (front_use){.what = "initialization"});
        ast_init_item item = {.type = decl->type, .value = value};
        qn__vec_push(p->arena, &init->items, item);
        decl->init = init;
        return;
    }
    decl->init = qn__parse_initializer(p, &type);
    decl->type = type;
    if (decl->align < type->align) decl->align = type->align;
}

static ast_decl *variable_new(front_parser *p, const front_declarator *declarator, const ast_type *type) {
    ast_decl *decl = QN__NEW(p->arena, ast_decl);
    decl->decl_kind = DECL_VARIABLE;
    decl->name = declarator->name->data;
    decl->type = type;
    decl->loc = declarator->loc;
    decl->loop = p->loop;
    decl->align = declarator->attributes.align > type->align ? declarator->attributes.align : type->align;
    return decl;
}

static void constant_finish(front_parser *p, ast_decl *decl, bool has_init) {
    if (qn__type_is_error(p->types, decl->type) || qn__type_is_opaque(decl->type)) return;
    if (has_init) {
        qn__constant_image(p, decl);
        qn__vec_push(p->arena, &p->context->unit->constants, decl);
    } else if (decl->is_defined && !decl->init) {
        qn__diag_error(p->diag, decl->loc, "__constant variable '%s' must be initialized", decl->name);
    }
}

static void state_begin(front_parser *p, ast_decl *decl, const front_token *behind_name) {
    if (decl->type->space != IR_GLOBAL_SPACE || decl->is_state) return;
    decl->is_state = true;
    if (p->function) qn__map64_set(p->arena, &p->context->statics, (uint64_t)(uintptr_t)behind_name, decl);
}

/* Gives the variable its place in the program's state. */
static void state_finish(front_parser *p, ast_decl *decl, bool has_init, bool has_place) {
    ast_unit *unit = p->context->unit;
    if (!decl->is_state || qn__type_is_error(p->types, decl->type)) return;
    if (has_init) qn__constant_image(p, decl);
    if (decl->addresses.len)
        qn__diag_error(p->diag, decl->loc, "the initializer of global variable '%s' holds an address",
                       decl->name);
    if (!decl->is_defined || has_place) return;
    const uint64_t offset = (unit->state_size + decl->align - 1) / decl->align * decl->align;
    if (offset + decl->type->size > MOST_STATE_BYTES)
        qn__diag_error(p->diag, decl->loc, "the program's global variables take more than %d bytes",
                       MOST_STATE_BYTES);
    decl->state_offset = offset;
    unit->state_size = offset + decl->type->size;
    qn__vec_push(p->arena, &unit->state, decl);
}

/* A function with pointers to any address space is read once for each (generic.c), but has its static variables once. */
static ast_decl *static_before(front_parser *p) {
    return p->function ? qn__map64_get(&p->context->statics, (uint64_t)(uintptr_t)p->at) : NULL;
}

/* The same type, or an array whose length one of them leaves open. */
static bool is_same_object(const ast_type *a, const ast_type *b) {
    return a == b || (a->kind == AST_ARRAY && a->quals == b->quals && a->space == b->space &&
                      qn__type_compatible(a, b));
}

/* The variable that this declares once more: one of the file, which `extern` means in a block, too. NULL: a new one. */
static ast_decl *declared_before(front_parser *p, const front_specifiers *specifiers,
                                 const front_declarator *declarator, bool has_init) {
    const front_symbol *known = qn__lookup(p, declarator->name);
    const bool is_of_file = known && known->symbol_kind == SYMBOL_OBJECT && known->level == p->file_level;
    if (!is_of_file || (p->function && !specifiers->is_extern)) return NULL;
    if ((known->decl->init && has_init) || !is_same_object(known->decl->type, declarator->type)) return NULL;
    return known->decl;
}

/* The declaration of the variable, new or known, with what the specifiers say of it. */
static ast_decl *variable_begin(front_parser *p, const front_specifiers *specifiers,
                                front_declarator *declarator, bool good, bool has_init) {
    const front_token *behind_name = p->at;
    const bool is_linked = !p->is_library && (!p->function || specifiers->is_extern);
    ast_decl *again = declared_before(p, specifiers, declarator, has_init);
    ast_decl *before = again ? again : static_before(p);
    ast_decl *decl = before ? before : variable_new(p, declarator, good ? declarator->type : p->types->error);
    if (again && !declarator->type->is_incomplete) decl->type = declarator->type;
    if (again && !has_init) declarator->type = decl->type;
    state_begin(p, decl, behind_name);
    decl->is_static |= specifiers->is_static;
    if (!is_linked) decl->is_static_local = decl->is_state || decl->type->space == IR_CONSTANT_SPACE;
    if (again || !redefinition(p, declarator->name, declarator->loc)) {
        front_symbol *symbol = qn__declare(p, SYMBOL_OBJECT, declarator->name, declarator->loc);
        symbol->decl = decl;
        if (is_linked && !before) qn__link_note(p, decl, symbol);
    }
    return decl;
}

/* The rest of a variable's declaration behind its declarator: initializer, checks, scope. */
static ast_decl *declare_variable(front_parser *p, const front_specifiers *specifiers,
                                  front_declarator *declarator) {
    const bool has_init = qn__peek(p, FRONT_T_ASSIGN), is_file = !p->function;
    const bool is_lasting = is_file || specifiers->is_static || specifiers->is_extern;
    declarator->type = default_space(p, declarator->type, is_lasting);
    if (is_file) declarator->type = check_file_space(p, declarator, declarator->type);
    bool good = check_object_type(p, declarator, has_init || specifiers->is_extern);
    if (good && !is_file) check_block_space(p, specifiers, declarator, has_init);
    ast_decl *decl = variable_begin(p, specifiers, declarator, good, has_init);
    const bool was_defined = decl->is_defined;
    decl->is_defined |= has_init || !specifiers->is_extern;
    if (has_init) {
        qn__advance(p);
        variable_init(p, decl, declarator);
        declarator->type = decl->type;
        if (good && !check_object_type(p, declarator, false)) decl->type = p->types->error;
    } else {
        decl->is_space_open = !is_file && !decl->is_state && is_space_open(p, declarator, decl->type);
    }
    if (decl->type->space == IR_CONSTANT_SPACE) constant_finish(p, decl, has_init);
    state_finish(p, decl, has_init, was_defined);
    return decl;
}

/* ---- functions ---- */

static void apply_attributes(ast_decl *decl, const front_attributes *attributes) {
    if (attributes->reqd_local[0]) memcpy(decl->reqd_local, attributes->reqd_local, sizeof decl->reqd_local);
    if (attributes->hint_local[0]) memcpy(decl->hint_local, attributes->hint_local, sizeof decl->hint_local);
    if (attributes->sub_group_size) decl->sub_group_size = attributes->sub_group_size;
    if (attributes->cluster) decl->cluster = attributes->cluster;
    if (attributes->vec_type_hint) decl->vec_type_hint = attributes->vec_type_hint;
    decl->is_pure |= attributes->is_const;
}

static ast_decl *function_new(front_parser *p, const front_declarator *declarator) {
    ast_decl *decl = QN__NEW(p->arena, ast_decl);
    decl->decl_kind = DECL_FUNCTION;
    decl->name = declarator->name->data;
    decl->type = declarator->type;
    decl->loc = declarator->loc;
    decl->is_library = p->is_library;
    return decl;
}

/* The same function declared before, under a symbol; NULL where it is a new overload. */
static ast_decl *find_overload(const front_symbol *symbol, const ast_type *type) {
    for (size_t i = 0; i < symbol->overloads.len; i++) {
        const ast_type *known = symbol->overloads.data[i]->type;
        bool same = known->num_params == type->num_params &&
                    (!type->num_params ||
                     memcmp(known->params, type->params, type->num_params * sizeof *type->params) == 0);
        if (same) return symbol->overloads.data[i];
    }
    return NULL;
}

static void conflicting(front_parser *p, const front_declarator *declarator, front_loc previous) {
    qn__diag_error(p->diag, declarator->loc, "conflicting types for '%s'", declarator->name->data);
    qn__diag_note(p->diag, previous, "previous declaration is here");
}

/* Finds or makes the function that a declarator declares. */
static ast_decl *declare_function(front_parser *p, const front_specifiers *specifiers,
                                  const front_declarator *declarator) {
    bool is_overloadable = specifiers->attributes.is_overloadable || declarator->attributes.is_overloadable;
    front_symbol *symbol = qn__lookup(p, declarator->name);
    if (symbol && symbol->symbol_kind != SYMBOL_FUNCTION && symbol->level == p->level) {
        redefinition(p, declarator->name, declarator->loc);
        symbol = NULL;
    }
    if (symbol && symbol->symbol_kind != SYMBOL_FUNCTION) symbol = NULL;
    ast_decl *decl = symbol ? find_overload(symbol, declarator->type) : NULL;
    if (symbol && !decl && !(symbol->is_overloadable || is_overloadable))
        conflicting(p, declarator, symbol->loc);
    else if (decl && decl->type != declarator->type)
        conflicting(p, declarator, decl->loc);
    if (!symbol) {
        symbol = qn__declare(p, SYMBOL_FUNCTION, declarator->name, declarator->loc);
        symbol->is_overloadable = is_overloadable;
    }
    const bool is_new = !decl || decl->type != declarator->type;
    if (is_new) {
        decl = function_new(p, declarator);
        if (!symbol->decl) symbol->decl = decl;
        qn__vec_push(p->arena, &symbol->overloads, decl);
        if (!p->is_library) qn__link_note(p, decl, symbol);
    }
    decl->is_static |= specifiers->is_static;
    decl->is_inline = (is_new || decl->is_inline) && specifiers->is_inline && !specifiers->is_extern;
    symbol->is_overloadable |= is_overloadable;
    apply_attributes(decl, &specifiers->attributes);
    apply_attributes(decl, &declarator->attributes);
    decl->is_kernel |= specifiers->is_kernel;
    return decl;
}

static void declare_parameters(front_parser *p, const front_declarator *declarator) {
    for (size_t i = 0; i < declarator->params.len; i++) {
        front_name *name = declarator->param_names.data[i];
        ast_decl *param = declarator->params.data[i];
        qn__touch_image_type(p, param->type, param->loc);
        if (name && !redefinition(p, name, param->loc))
            qn__declare(p, SYMBOL_OBJECT, name, param->loc)->decl = param;
    }
}

static void define_body(front_parser *p, ast_decl *decl, const front_declarator *declarator) {
    const bool has_taken = p->instance && is_space_open(p, declarator, decl->type->base);
    const bool contract = p->contract;
    decl->is_space_open = has_taken;
    qn__scope_push(p);
    qn__function_begin(p, decl);
    declare_parameters(p, declarator);
    decl->body = qn__parse_compound(p, false);
    if (!p->is_given_up) {
        qn__warn_no_return(p, decl);
        if (decl->is_kernel) qn__check_kernel(p, decl);
    }
    decl->is_contracted = p->contract;
    p->contract = contract;
    qn__function_end(p);
    qn__scope_pop(p);
}

/* A parameter that has taken the address space of the call's argument is generic. */
static void make_generic(front_parser *p, ast_decl *function, size_t index) {
    ast_decl *param = function->params.data[index];
    const ast_type *type = function->type;
    if (!param->is_space_taken) return;
    const ast_type **params = QN__NEW_ARRAY(p->arena, const ast_type *, type->num_params);
    memcpy(params, type->params, type->num_params * sizeof *params);
    param->type = qn__type_in_space(p, param->type, IR_GENERIC_SPACE);
    params[index] = param->type->unqualified;
    function->type = qn__type_function(p->types, type->base, params, type->num_params, type->is_variadic);
}

static void make_result_generic(front_parser *p, ast_decl *function, const ast_type *result) {
    const ast_type *type = function->type;
    function->type = qn__type_function(p->types, qn__type_in_space(p, result, IR_GENERIC_SPACE), type->params,
                                       type->num_params, type->is_variadic);
}

/* function-definition: specifiers declarator compound-statement */
static void define_function(front_parser *p, ast_decl *decl, const front_declarator *declarator) {
    if (decl->is_defined) {
        qn__diag_error(p->diag, declarator->loc, "redefinition of '%s'", decl->name);
        qn__diag_note(p->diag, decl->loc, "previous definition is here");
    }
    const ast_type *result = decl->type->kind == AST_FUNCTION ? decl->type->base : p->types->error;
    if (result->kind != AST_VOID && !qn__type_is_complete(result))
        qn__diag_error(p->diag, declarator->loc, "function '%s' returns incomplete type '%s'", decl->name,
                       qn__type_text(p, result));
    decl->is_defined = true;
    decl->loc = declarator->loc;
    decl->params.len = 0;
    for (size_t i = 0; i < declarator->params.len; i++)
        qn__vec_push(p->arena, &decl->params, declarator->params.data[i]);
    p->instance_spaces = NULL;
    const front_token *body = p->at;
    const bool is_open = p->instance && is_space_open(p, declarator, result);
    define_body(p, decl, declarator);
    if (p->is_given_up) {
        p->at = body;
        p->panic = p->is_given_up = p->diag->stopped = false;
        p->all_generic = true;
        for (size_t i = 0; i < decl->params.len; i++) make_generic(p, decl, i);
        if (is_open) make_result_generic(p, decl, result);
        define_body(p, decl, declarator);
        p->all_generic = false;
    }
    qn__vec_push(p->arena, &p->context->unit->functions, decl);
}

/* ---- file scope ---- */

void qn__parse_static_assert(front_parser *p) {
    int64_t value = 0;
    front_loc loc = qn__here(p);
    qn__advance(p);
    if (!qn__expect(p, FRONT_T_LPAREN, "after '_Static_assert'")) return;
    bool known = qn__parse_constant(p, "condition of a static assertion", &value, NULL);
    const qn__str *text = NULL;
    if (qn__accept(p, FRONT_T_COMMA)) {
        if (qn__peek(p, FRONT_T_STRING)) text = p->at->string;
        qn__expect(p, FRONT_T_STRING, "in the static assertion");
    }
    qn__expect(p, FRONT_T_RPAREN, "after the static assertion");
    qn__expect(p, FRONT_T_SEMICOLON, "after the static assertion");
    if (!known || value) return;
    if (text)
        qn__diag_error(p->diag, loc, "static assertion failed: %.*s", QN__STR_PRINTF(*text));
    else
        qn__diag_error(p->diag, loc, "static assertion failed");
}

static void file_pragma(front_parser *p) {
    const front_pragma *pragma = p->at->pragma;
    if (pragma->kind == FRONT_PRAGMA_FP_CONTRACT) p->contract = pragma->setting != FRONT_OFF;
    qn__advance(p);
}

/* A declaration without declarators: that of a tag, at least. */
static void declares_nothing(front_parser *p, const front_specifiers *specifiers, const front_token *start) {
    bool has_tag =
        start->kind == FRONT_T_STRUCT || start->kind == FRONT_T_UNION || start->kind == FRONT_T_ENUM;
    if (qn__type_is_record(specifiers->type) || has_tag || qn__type_is_error(p->types, specifiers->type))
        return;
    if (specifiers->type->kind == AST_INT || specifiers->type->kind == AST_UINT) return; /* may be an enum */
    qn__diag_warning(p->diag, FRONT_WARN_OTHER, specifiers->loc, "declaration does not declare anything");
}

/* One declarator with what follows it; true after the body of a function, which ends the declaration. */
static bool declare_one(front_parser *p, const front_specifiers *specifiers, bool is_first, ast_stmt *stmt) {
    front_declarator declarator;
    qn__parse_declarator(p, specifiers, &declarator, false);
    if (p->panic || !declarator.name) return false;
    qn__parse_attributes(p, &declarator.attributes);
    if (specifiers->is_typedef) {
        declare_typedef(p, &declarator);
    } else if (declarator.is_function && declarator.type->kind == AST_FUNCTION) {
        bool is_instance = p->instance && !p->function;
        ast_decl *decl =
            is_instance ? function_new(p, &declarator) : declare_function(p, specifiers, &declarator);
        if (is_instance) *p->instance = decl;
        if (is_first && !p->function && qn__peek(p, FRONT_T_LBRACE)) {
            bool is_kept = !decl->is_defined && qn__generic_define(p, specifiers->start, &declarator, decl);
            decl->is_defined |= is_kept;
            if (!is_kept) define_function(p, decl, &declarator);
            return true;
        }
        if (p->function && qn__peek(p, FRONT_T_LBRACE))
            qn__syntax_error(p, "a function cannot be defined inside another");
    } else if (declarator.type->kind == AST_FUNCTION) {
        qn__diag_error(p->diag, declarator.loc, "'%s' must be declared with its parameters",
                       declarator.name->data);
    } else {
        ast_decl *decl = declare_variable(p, specifiers, &declarator);
        if (stmt) qn__vec_push(p->arena, &stmt->decls, decl);
    }
    return false;
}

/* external-declaration: specifiers (declarator initializer? (',' ...)*)? ';' | function-definition | ... */
void qn__parse_external_declaration(front_parser *p) {
    front_specifiers specifiers;
    const front_token *start = p->at;
    switch (p->at->kind) {
    case FRONT_T_SEMICOLON: qn__advance(p); return;
    case FRONT_T_PRAGMA: file_pragma(p); return;
    case FRONT_T_STATIC_ASSERT: qn__parse_static_assert(p); return;
    case FRONT_T_RBRACE:
        qn__syntax_error(p, "extraneous closing brace '}'");
        qn__advance(p);
        p->panic = false;
        return;
    case FRONT_T_ASM: qn__syntax_error(p, "assembler is not supported"); return;
    default: break;
    }
    if (!qn__parse_specifiers(p, &specifiers, true)) return;
    if (qn__accept(p, FRONT_T_SEMICOLON)) {
        declares_nothing(p, &specifiers, start);
        return;
    }
    bool is_first = true;
    do {
        if (declare_one(p, &specifiers, is_first, NULL)) return;
        is_first = false;
    } while (!p->panic && qn__accept(p, FRONT_T_COMMA));
    qn__expect(p, FRONT_T_SEMICOLON, "after the declaration");
}

/* declaration: the same in a block */
ast_stmt *qn__parse_declaration(front_parser *p) {
    front_specifiers specifiers;
    const front_token *start = p->at;
    ast_stmt *stmt = QN__NEW(p->arena, ast_stmt);
    stmt->stmt_kind = STMT_DECL;
    stmt->loc = qn__here(p);
    if (qn__peek(p, FRONT_T_STATIC_ASSERT)) {
        qn__parse_static_assert(p);
        return stmt;
    }
    if (!qn__parse_specifiers(p, &specifiers, true)) return stmt;
    if (qn__accept(p, FRONT_T_SEMICOLON)) {
        declares_nothing(p, &specifiers, start);
        return stmt;
    }
    do {
        declare_one(p, &specifiers, false, stmt);
    } while (!p->panic && qn__accept(p, FRONT_T_COMMA));
    qn__expect(p, FRONT_T_SEMICOLON, "after the declaration");
    return stmt;
}
