/* Reads the IR's text form (docs/ir.md). The parser checks only what it needs to build a module that can be
   printed: names are known, targets enclose, sizes fit. The rules are the verifier's. One pass; calls may
   name functions that follow. */
#include <string.h>

#include "ir/lexer.h"
#include "ir/matrix.h"
#include "util/map.h"

/* Zero-filled objects larger than this are refused, so that a short text cannot ask for much memory. */
#define MAX_ZERO_SIZE (UINT64_C(1) << 26)

typedef struct pending_call {
    ir_instr *instr;
    qn__str name;
    ir_token token;
} pending_call;

/* `%name: type` before it has a value. */
typedef struct definition {
    ir_token token;
    ir_type type;
} definition;

typedef struct open_label {
    qn__str name;
    ir_instr *construct;
} open_label;

typedef struct parser {
    ir_lexer lex;
    ir_module *module;
    ir_function *function;
    qn__map functions; /* by name */
    qn__map values;    /* of the current function, by name or by number where they have one */
    QN__VEC(pending_call) calls;
    QN__VEC(open_label) labels;
    /* Of the instruction at hand; regions follow only when these have been used. */
    QN__VEC(definition) results;
    QN__VEC(definition) params;
    QN__VEC(ir_value *) operands;
    unsigned depth;
} parser;

/* ---- types and values ---- */

static bool type_of_word(qn__str word, ir_type *type) {
    if (qn__str_starts(word, "ptr.")) {
        for (unsigned i = 0; i < IR_SPACE_COUNT; i++) {
            *type = qn__ir_pointer((ir_space)i);
            if (qn__str_is((qn__str){word.data + 4, word.len - 4}, qn__ir_space_names[i])) return true;
        }
        return false;
    }
    for (unsigned kind = IR_BOOL; kind < IR_PTR; kind++) {
        const char *name = qn__ir_kind_names[kind];
        size_t len = strlen(name);
        if (!qn__str_starts(word, name)) continue;
        qn__str rest = {word.data + len, word.len - len};
        *type = qn__ir_type((ir_kind)kind, 1);
        if (rest.len == 0) return true;
        static const struct {
            const char *text;
            uint8_t lanes;
        } suffixes[] = {{"x2", 2}, {"x3", 3}, {"x4", 4}, {"x8", 8}, {"x16", 16}};
        for (size_t i = 0; i < QN__COUNT(suffixes); i++) {
            type->lanes = suffixes[i].lanes;
            if (qn__str_is(rest, suffixes[i].text)) return true;
        }
    }
    return false;
}

static bool at_type(const parser *p, ir_type *type) {
    return p->lex.token.kind == IR_TOKEN_WORD && type_of_word(p->lex.token.text, type);
}

static ir_type parse_type(parser *p) {
    ir_type type;
    if (!at_type(p, &type)) qn__ir_lex_fail(&p->lex, "expected a type");
    qn__ir_lex_next(&p->lex);
    return type;
}

static uint64_t parse_lane(parser *p, ir_type type) {
    if (type.kind == IR_BOOL) {
        static const char *const names[] = {"false", "true"};
        return qn__ir_lex_choice(&p->lex, names, 2, "true or false");
    }
    if (qn__ir_is_float(type)) return qn__ir_lex_float(&p->lex, type.kind);
    return qn__ir_lex_integer(&p->lex, qn__ir_bits(type));
}

/* const: TYPE lane | TYPE '(' lane, ... ')'; one lane fills a vector */
static ir_value *parse_const(parser *p) {
    ir_type type = parse_type(p);
    uint64_t bits[16];
    if (!qn__ir_lex_accept(&p->lex, '(')) return qn__ir_const_splat(p->function, type, parse_lane(p, type));
    for (unsigned i = 0; i < type.lanes; i++) {
        if (i) qn__ir_lex_expect(&p->lex, ',');
        bits[i] = parse_lane(p, type);
    }
    qn__ir_lex_expect(&p->lex, ')');
    return qn__ir_const(p->function, type, bits);
}

/* %12.name is known by its number, %name by its name. */
static qn__str value_key(qn__str name) {
    size_t digits = 0;
    while (digits < name.len && name.data[digits] >= '0' && name.data[digits] <= '9') digits++;
    return digits ? (qn__str){name.data, digits} : name;
}

/* value: %name | undef TYPE | const */
static ir_value *parse_value(parser *p) {
    if (qn__ir_lex_accept_word(&p->lex, "undef")) return qn__ir_undef(p->function, parse_type(p));
    if (p->lex.token.kind != IR_TOKEN_VALUE) return parse_const(p);
    qn__str name = p->lex.token.text;
    ir_value *value = qn__map_get(&p->values, value_key(name));
    if (!value) qn__ir_lex_fail(&p->lex, "%%%.*s is not defined before its use", QN__STR_PRINTF(name));
    qn__ir_lex_next(&p->lex);
    return value;
}

/* definition: %name ':' TYPE */
static definition parse_definition(parser *p) {
    definition d = {.token = p->lex.token};
    if (d.token.kind != IR_TOKEN_VALUE || d.token.text.len == 0)
        qn__ir_lex_fail(&p->lex, "expected a value's name like %%0");
    qn__ir_lex_next(&p->lex);
    qn__ir_lex_expect(&p->lex, ':');
    d.type = parse_type(p);
    return d;
}

/* Gives a new value its names, in the text and in the source. */
static void define(parser *p, const definition *d, ir_value *value) {
    qn__str text = d->token.text, key = value_key(text);
    if (qn__map_has(&p->values, key)) {
        p->lex.token = d->token;
        qn__ir_lex_fail(&p->lex, "%%%.*s is defined twice", QN__STR_PRINTF(key));
    }
    qn__map_set(p->lex.arena, &p->values, key, value);
    qn__str name = text;
    if (key.len < text.len) name = (qn__str){text.data + key.len, text.len - key.len};
    if (key.len < text.len && *name.data == '.') name = (qn__str){name.data + 1, name.len - 1};
    bool only_number = key.len == text.len && *text.data >= '0' && *text.data <= '9';
    if (!only_number && name.len) value->name = qn__arena_strndup(p->lex.arena, name.data, name.len);
}

static uint32_t parse_u32(parser *p) { return (uint32_t)qn__ir_lex_unsigned(&p->lex, UINT32_MAX); }

/* '#' number */
static uint32_t parse_index(parser *p) {
    qn__ir_lex_expect(&p->lex, '#');
    return parse_u32(p);
}

static void expect_index(parser *p, size_t index) {
    ir_token token = p->lex.token;
    if (parse_index(p) == index) return;
    p->lex.token = token;
    qn__ir_lex_fail(&p->lex, "expected #%u here: they are numbered in order", (unsigned)index);
}

/* loc: '!' line ':' column [':' file] */
static ir_loc parse_loc(parser *p) {
    ir_loc loc = {0};
    if (!qn__ir_lex_accept(&p->lex, '!')) return loc;
    loc.line = parse_u32(p);
    qn__ir_lex_expect(&p->lex, ':');
    loc.column = (uint16_t)qn__ir_lex_unsigned(&p->lex, UINT16_MAX);
    if (qn__ir_lex_accept(&p->lex, ':')) loc.file = (uint16_t)qn__ir_lex_unsigned(&p->lex, UINT16_MAX);
    return loc;
}

/* ---- attributes ---- */

/* 'matrix' element rows columns use */
static ir_matrix parse_matrix(parser *p) {
    const char *elements[IR_MATRIX_ELEMENTS];
    for (unsigned i = 0; i < IR_MATRIX_ELEMENTS; i++) elements[i] = qn__ir_matrix_elements[i].name;
    ir_lexer *lex = &p->lex;
    ir_matrix m = {0};
    m.element = (uint8_t)qn__ir_lex_choice(lex, elements, IR_MATRIX_ELEMENTS, "an element of matrices");
    m.rows = (uint8_t)qn__ir_lex_unsigned(lex, UINT8_MAX);
    m.columns = (uint8_t)qn__ir_lex_unsigned(lex, UINT8_MAX);
    m.use = (uint8_t)qn__ir_lex_choice(lex, qn__ir_matrix_uses, IR_MATRIX_USES, "a, b or accumulator");
    return m;
}

static void parse_matrices(parser *p, ir_instr *instr) {
    for (unsigned i = 0; i < IR_MATRICES && qn__ir_lex_accept_word(&p->lex, "matrix"); i++)
        instr->attr.matrices[i] = parse_matrix(p);
}

/* var: [string] [size n] [align n] [matrix ...] [debug [signed] TYPE ['[' n ']' ...]] */
static void parse_var(parser *p, ir_instr *instr) {
    ir_lexer *lex = &p->lex;
    ir_var *var = QN__NEW(lex->arena, ir_var);
    instr->attr.var = var;
    var->align = 1;
    if (lex->token.kind == IR_TOKEN_STRING) var->name = qn__ir_lex_string(lex);
    if (qn__ir_lex_accept_word(lex, "size")) var->size = qn__ir_lex_unsigned(lex, UINT64_MAX);
    if (qn__ir_lex_accept_word(lex, "align")) var->align = parse_u32(p);
    if (qn__ir_lex_accept_word(lex, "matrix")) var->matrix = parse_matrix(p);
    if (!qn__ir_lex_accept_word(lex, "debug")) return;
    var->debug.is_signed = qn__ir_lex_accept_word(lex, "signed");
    var->debug.type = parse_type(p);
    for (unsigned i = 0; i < QN__COUNT(var->debug.lengths) && qn__ir_lex_accept(lex, '['); i++) {
        var->debug.lengths[i] = parse_u32(p);
        qn__ir_lex_expect(lex, ']');
    }
}

/* lanes: '[' n | undef, ... ']' */
static void parse_lanes(parser *p, ir_instr *instr, unsigned count) {
    for (unsigned i = 0; i < count; i++) {
        if (i) qn__ir_lex_expect(&p->lex, ',');
        bool undefined = instr->op == IR_SHUFFLE && qn__ir_lex_accept_word(&p->lex, "undef");
        instr->attr.lanes[i] = undefined ? 255 : (uint8_t)qn__ir_lex_unsigned(&p->lex, 255);
    }
}

static bool parse_bracket(parser *p, ir_instr *instr, uint32_t uses) {
    if (!(uses & (IR_ATTR_LANE | IR_ATTR_LANES | IR_ATTR_DIM)) || !qn__ir_lex_accept(&p->lex, '['))
        return false;
    if (uses & IR_ATTR_DIM)
        instr->attr.dim = parse_u32(p);
    else
        parse_lanes(p, instr, uses & IR_ATTR_LANE ? 1 : p->results.len ? p->results.data[0].type.lanes : 0);
    qn__ir_lex_expect(&p->lex, ']');
    return true;
}

static int32_t parse_unroll(parser *p) {
    if (qn__ir_lex_accept_word(&p->lex, "full")) return -1;
    if (qn__ir_lex_accept_word(&p->lex, "none")) return 1;
    return (int32_t)qn__ir_lex_unsigned(&p->lex, INT32_MAX);
}

/* '@' name: a function, a construct to leave, or the construct's own label */
static bool parse_at(parser *p, ir_instr *instr, uint32_t uses) {
    bool labelled = instr->op == IR_LOOP || instr->op == IR_BLOCK;
    if (p->lex.token.kind != IR_TOKEN_AT || !(labelled || uses & (IR_ATTR_CALLEE | IR_ATTR_TARGET)))
        return false;
    qn__str name = p->lex.token.text;
    if (uses & IR_ATTR_CALLEE) {
        qn__vec_push(p->lex.arena, &p->calls, (pending_call){instr, name, p->lex.token});
    } else if (labelled) {
        qn__vec_push(p->lex.arena, &p->labels, (open_label){name, instr});
    } else {
        size_t i = p->labels.len;
        while (i > 0 && !qn__str_equal(p->labels.data[i - 1].name, name)) i--;
        if (i == 0) qn__ir_lex_fail(&p->lex, "no construct @%.*s around this jump", QN__STR_PRINTF(name));
        instr->attr.target = p->labels.data[i - 1].construct;
    }
    qn__ir_lex_next(&p->lex);
    return true;
}

static bool parse_access_attr(parser *p, ir_attr *attr, uint32_t uses) {
    ir_lexer *lex = &p->lex;
    if (uses & IR_ATTR_COMBINE && qn__ir_lex_accept_word(lex, "combine"))
        attr->combine = (uint8_t)qn__ir_lex_choice(lex, qn__ir_combine_names, IR_COMBINE_COUNT, "a combiner");
    else if (uses & IR_ATTR_FENCE && qn__ir_lex_accept_word(lex, "local"))
        attr->fence |= IR_FENCE_LOCAL;
    else if (uses & IR_ATTR_FENCE && qn__ir_lex_accept_word(lex, "global"))
        attr->fence |= IR_FENCE_GLOBAL;
    else if (uses & IR_ATTR_ORDER && qn__ir_lex_accept_word(lex, "order"))
        attr->order = (uint8_t)qn__ir_lex_choice(lex, qn__ir_order_names, IR_ORDER_COUNT, "a memory order");
    else if (uses & IR_ATTR_FAIL && qn__ir_lex_accept_word(lex, "fail"))
        attr->order_fail =
            (uint8_t)qn__ir_lex_choice(lex, qn__ir_order_names, IR_ORDER_COUNT, "a memory order");
    else if (uses & IR_ATTR_SCOPE && qn__ir_lex_accept_word(lex, "scope"))
        attr->scope = (uint8_t)qn__ir_lex_choice(lex, qn__ir_scope_names, IR_SCOPE_COUNT, "a scope");
    else if (uses & IR_ATTR_SIZE && qn__ir_lex_accept_word(lex, "size"))
        attr->size = qn__ir_lex_unsigned(lex, UINT64_MAX);
    else if (uses & IR_ATTR_ALIGN && qn__ir_lex_accept_word(lex, "align"))
        attr->align = parse_u32(p);
    else if (uses & IR_ATTR_OFFSET && qn__ir_lex_accept_word(lex, "offset"))
        attr->offset = qn__ir_lex_signed(lex);
    else
        return false;
    return true;
}

static bool parse_flag(parser *p, ir_instr *instr) {
    for (unsigned i = 0; i < IR_FLAG_COUNT; i++)
        if (qn__ir_lex_accept_word(&p->lex, qn__ir_flag_names[i])) {
            instr->flags |= (uint16_t)(1u << i);
            return true;
        }
    return false;
}

static bool parse_attr(parser *p, ir_instr *instr, uint32_t uses) {
    if (p->lex.token.starts_line) return false;
    if (parse_flag(p, instr) || parse_access_attr(p, &instr->attr, uses) || parse_bracket(p, instr, uses) ||
        parse_at(p, instr, uses))
        return true;
    if (uses & IR_ATTR_INDEX && qn__ir_lex_is(&p->lex, '#'))
        instr->attr.index = parse_index(p);
    else if (uses & IR_ATTR_ROUNDING && qn__ir_lex_accept_word(&p->lex, "round"))
        instr->attr.rounding =
            (uint8_t)qn__ir_lex_choice(&p->lex, qn__ir_rounding_names, IR_ROUNDING_COUNT, "a rounding mode");
    else if (uses & IR_ATTR_UNROLL && qn__ir_lex_accept_word(&p->lex, "unroll"))
        instr->attr.unroll = parse_unroll(p);
    else
        return false;
    return true;
}

static void parse_attrs(parser *p, ir_instr *instr) {
    uint32_t uses = qn__ir_ops[instr->op].has;
    size_t calls = p->calls.len;
    while (parse_attr(p, instr, uses)) {
    }
    if (uses & IR_ATTR_VAR) parse_var(p, instr);
    if (uses & IR_ATTR_MATRIX) parse_matrices(p, instr);
    if (uses & IR_ATTR_CALLEE && p->calls.len != calls + 1)
        qn__ir_lex_fail(&p->lex, "expected one @function");
    if (uses & IR_ATTR_TARGET && !instr->attr.target)
        qn__ir_lex_fail(&p->lex, "expected the @label to jump to");
}

/* ---- instructions ---- */

static bool at_operand(const parser *p) {
    ir_type type;
    if (p->lex.token.starts_line) return false;
    return p->lex.token.kind == IR_TOKEN_VALUE || at_type(p, &type) || qn__ir_lex_is_word(&p->lex, "undef");
}

/* operands: value, ... (of a loop: '(' definition '=' value, ... ')') */
static void parse_operands(parser *p, ir_op op) {
    p->operands.len = p->params.len = 0;
    if (op == IR_LOOP) {
        if (!qn__ir_lex_accept(&p->lex, '(')) return;
        do {
            qn__vec_push(p->lex.arena, &p->params, parse_definition(p));
            qn__ir_lex_expect(&p->lex, '=');
            qn__vec_push(p->lex.arena, &p->operands, parse_value(p));
        } while (qn__ir_lex_accept(&p->lex, ','));
        qn__ir_lex_expect(&p->lex, ')');
        return;
    }
    if (!at_operand(p)) return;
    do qn__vec_push(p->lex.arena, &p->operands, parse_value(p));
    while (qn__ir_lex_accept(&p->lex, ','));
}

static ir_op parse_op(parser *p) {
    ir_op op;
    qn__str name = p->lex.token.text;
    if (p->lex.token.kind != IR_TOKEN_WORD) qn__ir_lex_fail(&p->lex, "expected an instruction");
    if (!qn__ir_op_by_name(name, &op)) qn__ir_lex_fail(&p->lex, "unknown op '%.*s'", QN__STR_PRINTF(name));
    qn__ir_lex_next(&p->lex);
    return op;
}

/* [definition, ... '='] */
static void parse_results(parser *p) {
    p->results.len = 0;
    if (p->lex.token.kind != IR_TOKEN_VALUE) return;
    do qn__vec_push(p->lex.arena, &p->results, parse_definition(p));
    while (qn__ir_lex_accept(&p->lex, ','));
    qn__ir_lex_expect(&p->lex, '=');
}

static void make_results(parser *p, ir_instr *instr) {
    instr->num_results = (uint32_t)p->results.len;
    if (instr->num_results) instr->results = QN__NEW_ARRAY(p->lex.arena, ir_value *, instr->num_results);
    for (uint32_t i = 0; i < instr->num_results; i++) {
        const definition *d = &p->results.data[i];
        instr->results[i] = qn__ir_value_new(p->function, d->type, IR_VALUE_RESULT, i, instr);
        define(p, d, instr->results[i]);
    }
}

static void make_params(parser *p, ir_instr *loop, ir_region *region) {
    region->num_params = (uint32_t)p->params.len;
    if (region->num_params) region->params = QN__NEW_ARRAY(p->lex.arena, ir_value *, region->num_params);
    for (uint32_t i = 0; i < region->num_params; i++) {
        const definition *d = &p->params.data[i];
        region->params[i] = qn__ir_value_new(p->function, d->type, IR_VALUE_PARAM, i, loop);
        define(p, d, region->params[i]);
    }
}

static void parse_region(parser *p, ir_region *region);

static void parse_regions(parser *p, ir_instr *instr) {
    size_t labels = p->labels.len;
    ir_region *region = qn__ir_region_new(p->function, instr);
    if (instr->op == IR_LOOP) make_params(p, instr, region);
    parse_region(p, region);
    if (instr->op == IR_IF) {
        if (!qn__ir_lex_accept_word(&p->lex, "else"))
            qn__ir_lex_fail(&p->lex, "expected else { ... } after if");
        parse_region(p, qn__ir_region_new(p->function, instr));
    }
    if (instr->op != IR_IF && labels > 0 && p->labels.data[labels - 1].construct == instr) labels--;
    p->labels.len = labels;
}

/* instruction: [definitions '='] OP flags attributes [operands] [loc] [regions] */
static void parse_instr(parser *p, ir_region *region) {
    parse_results(p);
    ir_op op = parse_op(p);
    ir_instr *instr = qn__ir_instr_new(p->function, op, NULL, 0, NULL, 0);
    parse_attrs(p, instr);
    parse_operands(p, op);
    qn__ir_set_operands(p->function, instr, p->operands.data, (uint32_t)p->operands.len);
    make_results(p, instr);
    if (!p->lex.token.starts_line) instr->loc = parse_loc(p);
    qn__ir_append(region, instr);
    if (qn__ir_is_construct(instr)) parse_regions(p, instr);
    if (!p->lex.token.starts_line && !qn__ir_lex_is(&p->lex, '}'))
        qn__ir_lex_fail(&p->lex, "unexpected '%.*s' in '%s'",
                        p->lex.token.text.len > 40 ? 40 : (int)p->lex.token.text.len, p->lex.token.text.data,
                        qn__ir_ops[op].name);
}

/* region: '{' instruction ... '}' */
static void parse_region(parser *p, ir_region *region) {
    if (p->depth++ > IR_MAX_NESTING) qn__ir_lex_fail(&p->lex, "nested too deep");
    qn__ir_lex_expect(&p->lex, '{');
    while (!qn__ir_lex_is(&p->lex, '}')) parse_instr(p, region);
    qn__ir_lex_next(&p->lex);
    p->depth--;
}

/* ---- functions ---- */

static bool parse_arg_attr(parser *p, ir_arg *arg) {
    ir_lexer *lex = &p->lex;
    for (unsigned i = 0; i < IR_ARG_FLAG_COUNT; i++)
        if (qn__ir_lex_accept_word(lex, qn__ir_arg_flag_names[i])) {
            arg->flags |= (uint8_t)(1u << i);
            return true;
        }
    for (unsigned i = 1; i < IR_SMALL_FLOAT_COUNT; i++)
        if (qn__ir_lex_accept_word(lex, qn__ir_small_float_names[i])) {
            arg->small_float = (uint8_t)i;
            return true;
        }
    if (qn__ir_lex_accept_word(lex, "signed"))
        arg->is_signed = true;
    else if (qn__ir_lex_accept_word(lex, "element"))
        arg->element = parse_type(p);
    else if (qn__ir_lex_accept_word(lex, "size"))
        arg->size = parse_u32(p);
    else if (qn__ir_lex_accept_word(lex, "align"))
        arg->align = parse_u32(p);
    else if (qn__ir_lex_accept_word(lex, "pointee"))
        arg->pointee_size = parse_u32(p);
    else if (qn__ir_lex_accept_word(lex, "least"))
        arg->least_size = qn__ir_lex_unsigned(&p->lex, UINT64_MAX);
    else if (qn__ir_lex_accept_word(lex, "name"))
        arg->name = qn__ir_lex_string(lex);
    else if (qn__ir_lex_accept_word(lex, "type"))
        arg->type_name = qn__ir_lex_string(lex);
    else
        return false;
    return true;
}

/* arg: definition [kind] attribute ... */
static void parse_arg(parser *p) {
    definition d = parse_definition(p);
    ir_value *value = qn__ir_arg_add(p->function, d.type, NULL);
    define(p, &d, value);
    ir_arg *arg = &qn__vec_last(&p->function->args);
    arg->name = value->name;
    for (unsigned i = 0; i < IR_ARG_KIND_COUNT; i++)
        if (qn__ir_lex_accept_word(&p->lex, qn__ir_arg_kind_names[i])) {
            arg->arg_kind = (uint8_t)i;
            break;
        }
    while (parse_arg_attr(p, arg)) {
    }
}

static void parse_sizes(parser *p, uint32_t sizes[3]) {
    qn__ir_lex_expect(&p->lex, '(');
    for (unsigned i = 0; i < 3; i++) {
        if (i) qn__ir_lex_expect(&p->lex, ',');
        sizes[i] = parse_u32(p);
    }
    qn__ir_lex_expect(&p->lex, ')');
}

static bool parse_function_attr(parser *p, ir_function *function) {
    ir_lexer *lex = &p->lex;
    if (qn__ir_lex_accept_word(lex, "const"))
        function->is_const = true;
    else if (qn__ir_lex_accept_word(lex, "reqd"))
        parse_sizes(p, function->reqd_local);
    else if (qn__ir_lex_accept_word(lex, "hint"))
        parse_sizes(p, function->hint_local);
    else if (qn__ir_lex_accept_word(lex, "whole"))
        function->whole_sub_groups = true;
    else if (qn__ir_lex_accept_word(lex, "registers"))
        function->max_registers = parse_u32(p);
    else if (qn__ir_lex_accept_word(lex, "uniform"))
        function->uniform_groups = true;
    else if (qn__ir_lex_accept_word(lex, "narrow_ids"))
        function->narrow_ids = true;
    else if (qn__ir_lex_accept_word(lex, "sub_group"))
        function->required_sub_group_size = parse_u32(p);
    else if (qn__ir_lex_accept_word(lex, "cluster"))
        function->cluster = parse_u32(p);
    else if (qn__ir_lex_accept_word(lex, "vec_type_hint"))
        function->vec_type_hint = qn__ir_lex_string(lex);
    else if (qn__ir_lex_is(lex, '!'))
        function->loc = parse_loc(p);
    else
        return false;
    return true;
}

/* local: 'local' index [string] 'size' n 'align' n */
static void parse_local(parser *p) {
    ir_local local = {.align = 1};
    expect_index(p, p->function->locals.len);
    if (p->lex.token.kind == IR_TOKEN_STRING) local.name = qn__ir_lex_string(&p->lex);
    if (qn__ir_lex_accept_word(&p->lex, "size")) local.size = qn__ir_lex_unsigned(&p->lex, UINT64_MAX);
    if (qn__ir_lex_accept_word(&p->lex, "align")) local.align = parse_u32(p);
    qn__ir_local_add(p->function, local);
}

static void parse_signature(parser *p) {
    qn__ir_lex_expect(&p->lex, '(');
    if (!qn__ir_lex_is(&p->lex, ')')) {
        do parse_arg(p);
        while (qn__ir_lex_accept(&p->lex, ','));
    }
    qn__ir_lex_expect(&p->lex, ')');
    if (p->lex.token.kind == IR_TOKEN_ARROW) {
        qn__ir_lex_next(&p->lex);
        p->function->result = parse_type(p);
    }
    while (parse_function_attr(p, p->function)) {
    }
    while (qn__ir_lex_accept_word(&p->lex, "local")) parse_local(p);
}

/* function: 'kernel' | 'function' @name '(' arg, ... ')' ['->' TYPE] attribute ... local ... region */
static void parse_function(parser *p, bool is_kernel) {
    qn__str name = p->lex.token.text;
    if (p->lex.token.kind != IR_TOKEN_AT || name.len == 0) qn__ir_lex_fail(&p->lex, "expected a @name");
    if (memchr(name.data, 0, name.len)) qn__ir_lex_fail(&p->lex, "zero byte in a name");
    if (qn__map_has(&p->functions, name))
        qn__ir_lex_fail(&p->lex, "function @%.*s is defined twice", QN__STR_PRINTF(name));
    qn__ir_lex_next(&p->lex);
    const char *own = qn__arena_strndup(p->lex.arena, name.data, name.len);
    p->function = qn__ir_function_new(p->module, own, (ir_type){.kind = IR_VOID, .lanes = 1});
    p->function->is_kernel = is_kernel;
    p->values = (qn__map){0};
    qn__map_set(p->lex.arena, &p->functions, name, p->function);
    parse_signature(p);
    parse_region(p, p->function->body);
}

/* ---- modules ---- */

/* data: 'zero' | 'text' string ... | 'hex' string ... */
static const uint8_t *parse_data(parser *p, uint64_t size) {
    ir_lexer *lex = &p->lex;
    ir_token start = lex->token;
    if (qn__ir_lex_accept_word(lex, "zero")) {
        lex->token = size > MAX_ZERO_SIZE ? start : lex->token;
        if (size > MAX_ZERO_SIZE) qn__ir_lex_fail(lex, "object is too large");
        return qn__arena_alloc(lex->arena, (size_t)size + 1);
    }
    static const char *const names[] = {"text", "hex"};
    bool hex = qn__ir_lex_choice(lex, names, 2, "zero, text or hex") == 1;
    qn__str bytes = qn__ir_lex_bytes(lex, hex);
    if (bytes.len != size) {
        lex->token = start;
        qn__ir_lex_fail(lex, "object of %llu bytes has data for %llu", (unsigned long long)size,
                        (unsigned long long)bytes.len);
    }
    return (const uint8_t *)bytes.data;
}

/* constant: 'constant' index [string] 'size' n 'align' n ['element' TYPE] ['format'] data relocation ...
   relocation: 'at' offset index addend */
static void parse_global(parser *p) {
    ir_lexer *lex = &p->lex;
    ir_global global = {.align = 1};
    expect_index(p, p->module->globals.len);
    if (lex->token.kind == IR_TOKEN_STRING) global.name = qn__ir_lex_string(lex);
    if (qn__ir_lex_accept_word(lex, "size")) global.size = qn__ir_lex_unsigned(lex, UINT64_MAX);
    if (qn__ir_lex_accept_word(lex, "align")) global.align = parse_u32(p);
    if (qn__ir_lex_accept_word(lex, "element")) global.element = parse_type(p);
    global.is_format = qn__ir_lex_accept_word(lex, "format");
    global.data = parse_data(p, global.size);
    while (qn__ir_lex_accept_word(lex, "at")) {
        ir_relocation relocation = {.offset = qn__ir_lex_unsigned(lex, UINT64_MAX)};
        relocation.target = parse_index(p);
        relocation.addend = qn__ir_lex_signed(lex);
        qn__vec_push(lex->arena, &global.relocations, relocation);
    }
    qn__ir_global_add(p->module, global);
}

static void parse_file(parser *p) {
    expect_index(p, p->module->files.len);
    const char *file = qn__ir_lex_string(&p->lex);
    qn__vec_push(p->lex.arena, &p->module->files, file);
}

static void resolve_calls(parser *p) {
    for (size_t i = 0; i < p->calls.len; i++) {
        pending_call *call = &p->calls.data[i];
        call->instr->attr.callee = qn__map_get(&p->functions, call->name);
        if (call->instr->attr.callee) continue;
        p->lex.token = call->token;
        qn__ir_lex_fail(&p->lex, "no function @%.*s", QN__STR_PRINTF(call->name));
    }
}

static void parse_module(parser *p) {
    qn__ir_lex_next(&p->lex);
    while (p->lex.token.kind != IR_TOKEN_END) {
        if (qn__ir_lex_accept_word(&p->lex, "file"))
            parse_file(p);
        else if (qn__ir_lex_accept_word(&p->lex, "constant"))
            parse_global(p);
        else if (qn__ir_lex_accept_word(&p->lex, "kernel"))
            parse_function(p, true);
        else if (qn__ir_lex_accept_word(&p->lex, "function"))
            parse_function(p, false);
        else
            qn__ir_lex_fail(&p->lex, "expected file, constant, kernel or function");
    }
    resolve_calls(p);
}

ir_module *qn__ir_parse(qn__arena *arena, const char *text, size_t size, const char **error) {
    parser *p = QN__NEW(arena, parser);
    p->module = qn__ir_module_new(arena);
    qn__ir_lex_start(&p->lex, arena, text, size);
    if (setjmp(p->lex.escape)) {
        *error = p->lex.error;
        return NULL;
    }
    parse_module(p);
    return p->module;
}
