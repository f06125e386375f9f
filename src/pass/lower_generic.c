/* Pointers to the generic address space. What flows together from one address space only is a pointer to that. Any other is
   a number: the address, with the address space in its top bits; what goes through it chooses by them.

       %g = select %c, ptr_cast %a, ptr_cast %b      ->   %n = select %c, ptr2int %a, (ptr2int %b | 1 << 62)
       %v = load %g                                       %v = if 1 << 62 <= %n { yield load int2ptr (%n & (1 << 62) - 1) }
                                                               else { yield load int2ptr %n }

   (%a is global, %b local.) The number of a global pointer is its address as it is, of 62 bits with a sign; that of null is 0 wherever
   it is from. In memory and as integers generic pointers are these numbers, too. Which address spaces a value is from is found flow by
   flow through values; memory is one place for all: whatever a kernel stores in it, or makes an integer of, may be loaded. */
#include "pass/lowering.h"

enum {
    ALL_SPACES = 1 << IR_PRIVATE | 1 << IR_GLOBAL_SPACE | 1 << IR_LOCAL_SPACE,
    MAY_BE_NULL = 1 << IR_CONSTANT_SPACE, /* beside them; no generic pointer is to constant memory */
    IS_GENERIC = 1 << IR_GENERIC_SPACE
};

#define LOCAL_TAG   (UINT64_C(1) << 62)
#define PRIVATE_TAG (UINT64_C(2) << 62)
#define ADDRESS     (LOCAL_TAG - 1)

static const ir_type i64 = {.kind = IR_I64, .lanes = 1};

typedef struct generics {
    qn__lowering l;
    uint8_t *
        sources; /* by value id: the address spaces (1 << ir_space) that it may be from, and the bits above */
    uint32_t num_values;
    uint8_t kept; /* sources of what memory and integers may hold */
    bool grows;
} generics;

static bool is_generic(const ir_value *value) {
    return value->type.kind == IR_PTR && value->type.space == IR_GENERIC_SPACE;
}
static bool is_near(ir_space space) { return space == IR_PRIVATE || space == IR_LOCAL_SPACE; }

/* ---- where values are from ---- */

/* Whether a pointer is into an object, so that it is not null. */
static bool is_object(const generics *g, const ir_value *pointer) {
    while (qn__defined_by(pointer, IR_PTR_ADD)) pointer = pointer->def->operands[0];
    if (pointer->value_kind == IR_VALUE_ARG)
        return g->l.context->function->args.data[pointer->index].arg_kind == IR_ARG_LOCAL;
    return qn__defined_by(pointer, IR_VAR) || qn__defined_by(pointer, IR_LOCAL);
}

static uint8_t sources_of(const generics *g, const ir_value *value) {
    if (qn__ir_is_const(value)) return value->bits[0] ? 1 << IR_GLOBAL_SPACE : MAY_BE_NULL;
    if (is_generic(value)) return g->sources[value->id];
    return (uint8_t)(1u << value->type.space | (is_object(g, value) ? 0 : MAY_BE_NULL));
}

static void add(generics *g, const ir_value *value, uint8_t sources) {
    if (!is_generic(value) || !(sources & ~g->sources[value->id])) return;
    g->sources[value->id] |= sources;
    g->grows = true;
}

static void keep_sources(generics *g, uint8_t sources) {
    if (!(sources & ~g->kept)) return;
    g->kept |= sources;
    g->grows = true;
}

static void keep(generics *g, const ir_value *value) {
    if (is_generic(value)) keep_sources(g, sources_of(g, value));
}

/* Memory that outlives the launch may hold what an earlier kernel has stored: global pointers. */
static bool is_lasting(const generics *g, const ir_value *pointer) {
    if (is_generic(pointer)) return g->sources[pointer->id] & 1 << IR_GLOBAL_SPACE;
    return !is_near((ir_space)pointer->type.space);
}

static void flow_through_memory(generics *g, const ir_instr *i) {
    enum { ANY_GLOBAL = 1 << IR_GLOBAL_SPACE | MAY_BE_NULL };
    switch (i->op) {
    case IR_LOAD:
        add(g, i->results[0], (uint8_t)(g->kept | MAY_BE_NULL));
        if (is_lasting(g, i->operands[0])) add(g, i->results[0], ANY_GLOBAL);
        break;
    case IR_INT2PTR: add(g, i->results[0], (uint8_t)(g->kept | ANY_GLOBAL)); break;
    case IR_PTR2INT: keep(g, i->operands[0]); break;
    case IR_COPY:
        if (is_lasting(g, i->operands[1])) keep_sources(g, ANY_GLOBAL);
        break;
    case IR_STORE: /* what else is stored may be such a pointer's bits, or a part of them */
        if (!is_generic(i->operands[1]) && !is_lasting(g, i->operands[0])) keep_sources(g, ANY_GLOBAL);
        keep(g, i->operands[1]);
        break;
    default: break;
    }
}

static void flow(ir_instr *i, void *user) {
    generics *g = user;
    const ir_receivers to = qn__ir_receivers(i);
    for (uint32_t n = 0; n < to.count; n++)
        if (is_generic(to.values[n])) add(g, to.values[n], sources_of(g, i->operands[n]));
    if (i->op == IR_SELECT && is_generic(i->results[0])) {
        add(g, i->results[0], sources_of(g, i->operands[1]));
        add(g, i->results[0], sources_of(g, i->operands[2]));
    } else if ((i->op == IR_PTR_ADD || i->op == IR_PTR_CAST) && is_generic(i->results[0])) {
        add(g, i->results[0], sources_of(g, i->operands[0]));
    } else {
        flow_through_memory(g, i);
    }
}

/* ---- what becomes of them ---- */

static bool is_single(unsigned spaces) { return !(spaces & (spaces - 1)); }

/* The only one of a set; global for none, which is null. */
static ir_space single(unsigned spaces) {
    return spaces & 1 << IR_PRIVATE       ? IR_PRIVATE
           : spaces & 1 << IR_LOCAL_SPACE ? IR_LOCAL_SPACE
                                          : IR_GLOBAL_SPACE;
}

static void settle(generics *g, ir_value *value) {
    if (!is_generic(value)) return;
    const unsigned spaces = g->sources[value->id] & ALL_SPACES;
    g->sources[value->id] |= IS_GENERIC;
    value->type = is_single(spaces) ? qn__ir_pointer(single(spaces)) : i64;
}

static void settle_results(ir_instr *i, void *user) {
    for (uint32_t n = 0; n < i->num_results; n++) settle(user, i->results[n]);
    for (uint32_t r = 0; r < i->num_regions; r++)
        for (uint32_t n = 0; n < i->regions[r]->num_params; n++) settle(user, i->regions[r]->params[n]);
}

/* Whether it was a generic pointer before they were settled. */
static bool was_generic(const generics *g, const ir_value *value) {
    return is_generic(value) || (value->id < g->num_values && g->sources[value->id] & IS_GENERIC);
}

static unsigned spaces_of(const generics *g, const ir_value *value) {
    return (is_generic(value) ? sources_of(g, value) : g->sources[value->id]) & ALL_SPACES;
}

/* ---- numbers and pointers ---- */

static ir_value *number(generics *g, uint64_t bits) { return qn__make_int(&g->l, i64, bits); }

static uint64_t tag_of(ir_space space) {
    return space == IR_LOCAL_SPACE ? LOCAL_TAG : space == IR_PRIVATE ? PRIVATE_TAG : 0;
}

/* The number of a pointer to one address space. */
static ir_value *tagged(generics *g, ir_value *pointer, bool may_be_null) {
    qn__lowering *l = &g->l;
    ir_value *address = qn__make_convert(l, IR_PTR2INT, pointer, i64);
    if (pointer->type.space == IR_GLOBAL_SPACE) return address;
    ir_value *with_tag = qn__make2(l, IR_OR, address, number(g, tag_of((ir_space)pointer->type.space)));
    if (!may_be_null) return with_tag;
    ir_value *null = qn__make_int(l, pointer->type, 0);
    ir_value *is_null = qn__make2(l, IR_EQ, pointer, null);
    return qn__make_select(l, is_null, number(g, 0), with_tag);
}

/* The pointer that a number was made of by `tagged`, or NULL. */
static ir_value *origin(const ir_value *n) {
    const bool has_tag = qn__defined_by(n, IR_OR) && qn__ir_is_const(n->def->operands[1]);
    const ir_value *address = has_tag ? n->def->operands[0] : n;
    ir_value *pointer = qn__defined_by(address, IR_PTR2INT) ? address->def->operands[0] : NULL;
    const uint64_t tag = has_tag ? n->def->operands[1]->bits[0] : 0;
    return pointer && tag == tag_of((ir_space)pointer->type.space) ? pointer : NULL;
}

enum { MOST_STEPS = 4 }; /* from a number to the pointers that it is made of */

/* Whether a number is chosen, in a few steps, of pointers and null: what chooses tells the address space, too. */
static bool is_choice(const ir_value *n, unsigned steps) {
    if (qn__ir_is_const(n)) return n->bits[0] == 0;
    if (origin(n)) return true;
    if (!steps) return false;
    if (qn__defined_by(n, IR_ADD)) return is_choice(n->def->operands[0], steps - 1);
    return qn__defined_by(n, IR_SELECT) && is_choice(n->def->operands[1], steps - 1) &&
           is_choice(n->def->operands[2], steps - 1);
}

static ir_value *choice_is_in(generics *g, ir_value *n, ir_space space) {
    while (qn__defined_by(n, IR_ADD)) n = n->def->operands[0];
    if (!qn__defined_by(n, IR_SELECT))
        return qn__ir_const_bool(g->l.b.function,
                                 (qn__ir_is_const(n) ? IR_GLOBAL_SPACE : origin(n)->type.space) == space);
    ir_value *a = choice_is_in(g, n->def->operands[1], space),
             *b = choice_is_in(g, n->def->operands[2], space);
    const bool is_condition = qn__ir_is_const(a) && qn__ir_is_const(b) && a != b;
    if (is_condition) return a->bits[0] ? n->def->operands[0] : qn__make1(&g->l, IR_NOT, n->def->operands[0]);
    return qn__make_select(&g->l, n->def->operands[0], a, b);
}

/* Where a choice is of that address space, the pointer that it is; NULL: it is not. */
static ir_value *choice_pointer(generics *g, ir_value *n, ir_space space) {
    if (qn__ir_is_const(n)) return NULL;
    if (qn__defined_by(n, IR_ADD)) {
        ir_value *base = choice_pointer(g, n->def->operands[0], space);
        return base ? qn__ir_ptr_add(&g->l.b, base, n->def->operands[1]) : NULL;
    }
    if (!qn__defined_by(n, IR_SELECT)) return origin(n)->type.space == space ? origin(n) : NULL;
    ir_value *a = choice_pointer(g, n->def->operands[1], space),
             *b = choice_pointer(g, n->def->operands[2], space);
    return a && b ? qn__make_select(&g->l, n->def->operands[0], a, b) : a ? a : b;
}

/* A number that is of that address space, or memory's of which all are, as a pointer. */
static ir_value *pointer_in(generics *g, ir_value *n, ir_space space) {
    ir_value *pointer = is_choice(n, MOST_STEPS) ? choice_pointer(g, n, space) : NULL;
    if (pointer) return pointer;
    if (is_near(space)) n = qn__make2(&g->l, IR_AND, n, number(g, ADDRESS));
    return qn__make_convert(&g->l, IR_INT2PTR, n, qn__ir_pointer(space));
}

/* Whether a number is of that address space, out of several. */
static ir_value *is_in(generics *g, ir_value *n, ir_space space) {
    qn__lowering *l = &g->l;
    if (is_choice(n, MOST_STEPS)) return choice_is_in(g, n, space);
    if (space == IR_LOCAL_SPACE) return qn__make2(l, IR_SLT, number(g, ADDRESS), n);
    if (space == IR_PRIVATE) return qn__make2(l, IR_SLT, n, number(g, 0 - LOCAL_TAG));
    ir_value *zero = number(g, 0);
    return qn__make2(l, IR_SLE, zero, qn__make2(l, IR_ADD, n, number(g, LOCAL_TAG)));
}

/* An operand that was generic, as a number. */
static ir_value *as_number(generics *g, ir_value *operand) {
    ir_value *now = qn__rewrite_get(operand);
    if (qn__ir_is_const(now)) return number(g, now->bits[0]);
    if (now->value_kind == IR_VALUE_UNDEF) return qn__ir_undef(g->l.b.function, i64);
    if (now->type.kind == IR_I64) return now;
    return tagged(g, now, g->sources[operand->id] & MAY_BE_NULL);
}

/* An operand that was generic and is of that address space only, or null. */
static ir_value *as_pointer(generics *g, ir_value *operand, ir_space space) {
    const ir_type type = qn__ir_pointer(space);
    ir_value *now = qn__rewrite_get(operand);
    if (qn__ir_same(now->type, type)) return now;
    if (now->value_kind == IR_VALUE_UNDEF) return qn__ir_undef(g->l.b.function, type);
    return qn__make_int(&g->l, type, qn__ir_is_const(now) ? now->bits[0] : 0);
}

static ir_value *as_type(generics *g, ir_value *operand, ir_type type) {
    return type.kind == IR_I64 ? as_number(g, operand) : as_pointer(g, operand, (ir_space)type.space);
}

/* ---- accesses ---- */

/* One on its way: operands that are still numbers have several address spaces. */
typedef struct access {
    const ir_instr *instr;
    ir_type result; /* IR_VOID: none */
    ir_value *operands[3];
    unsigned spaces[3]; /* 0: the operand is what it should be */
} access;

/* No other work-item sees private memory. */
static ir_value *private_atomic(generics *g, const access *a) {
    ir_builder *b = &g->l.b;
    const ir_instr *i = a->instr;
    const ir_type type = i->num_results ? a->result : a->operands[1]->type;
    const uint32_t align = i->attr.align;
    ir_value *pointer = qn__ir_ptr_offset(b, a->operands[0], i->attr.offset), *next = a->operands[1];
    if (i->op == IR_ATOMIC_STORE) {
        qn__ir_store(b, pointer, next, align, 0);
        return NULL;
    }
    ir_value *old = qn__ir_load(b, pointer, type, align, 0);
    if (i->op == IR_ATOMIC_LOAD) return old;
    if (i->op == IR_ATOMIC_RMW) {
        next = qn__ir_combine(b, (ir_combine)i->attr.combine, old, next);
    } else {
        const ir_type bits = qn__ir_type(qn__ir_bits(type) == 64 ? IR_I64 : IR_I32, 1);
        ir_value *expected = qn__ir_convert(b, IR_BITCAST, next, bits);
        ir_value *same = qn__ir_op2(b, IR_EQ, qn__ir_convert(b, IR_BITCAST, old, bits), expected);
        next = qn__ir_select(b, same, a->operands[2], old);
    }
    qn__ir_store(b, pointer, next, align, 0);
    return old;
}

static bool is_atomic(const ir_instr *i) { return i->op >= IR_ATOMIC_LOAD && i->op <= IR_ATOMIC_CAS; }

static ir_value *settled_access(generics *g, const access *a) {
    const ir_instr *i = a->instr;
    if (is_atomic(i) && a->operands[0]->type.space == IR_PRIVATE) return private_atomic(g, a);
    ir_instr *made =
        qn__ir_emit(&g->l.b, (ir_op)i->op, a->operands, i->num_operands, &a->result, i->num_results);
    made->attr = i->attr;
    made->flags = i->flags;
    return made->num_results ? made->results[0] : NULL;
}

/* Builds the access with its choices; gives its value. */
static ir_value *build_access(generics *g, const access *a) {
    qn__lowering *l = &g->l;
    uint32_t n = 0;
    while (n < 2 && !a->spaces[n]) n++;
    if (n == 2) return settled_access(g, a);
    access inner = *a;
    if (is_single(a->spaces[n])) {
        inner.operands[n] = pointer_in(g, a->operands[n], single(a->spaces[n]));
        inner.spaces[n] = 0;
        return build_access(g, &inner);
    }
    const ir_builder outside = l->b;
    const ir_space near = a->spaces[n] & 1 << IR_LOCAL_SPACE ? IR_LOCAL_SPACE : IR_PRIVATE;
    const uint32_t has_result = a->instr->num_results;
    ir_instr *choice = qn__ir_if(&l->b, is_in(g, a->operands[n], near), &a->result, has_result);
    for (unsigned r = 0; r < 2; r++) {
        inner.spaces[n] = r ? a->spaces[n] & ~(1u << near) : 1u << near;
        qn__ir_at_end(&l->b, choice->regions[r]);
        ir_value *value = build_access(g, &inner);
        qn__ir_yield(&l->b, &value, has_result);
    }
    l->b = outside;
    return has_result ? choice->results[0] : NULL;
}

static bool lower_access(generics *g, ir_instr *i) {
    access a = {.instr = i};
    bool any = false;
    for (uint32_t n = 0; n < i->num_operands; n++) {
        ir_value *operand = i->operands[n];
        const bool is_address = n == 0 || i->op == IR_COPY;
        a.operands[n] = qn__rewrite_get(operand);
        if (!was_generic(g, operand)) continue;
        any = true;
        const unsigned spaces = spaces_of(g, operand);
        if (!is_address)
            a.operands[n] = as_number(g, operand);
        else if (is_single(spaces))
            a.operands[n] = as_pointer(g, operand, single(spaces));
        else
            a.spaces[n] = spaces;
    }
    const bool gives_generic = i->op == IR_LOAD && was_generic(g, i->results[0]);
    if (!any && !gives_generic) return false;
    if (i->num_results) a.result = gives_generic ? i64 : i->results[0]->type;
    if (i->op == IR_PREFETCH && a.spaces[0]) return true; /* a hint that is not worth a choice */
    ir_value *value = build_access(g, &a);
    if (gives_generic && i->results[0]->type.kind == IR_PTR)
        value = pointer_in(g, value, (ir_space)i->results[0]->type.space);
    if (value) qn__rewrite_set(&g->l.rewrite, i->results[0], value);
    return true;
}

/* ---- other uses ---- */

static void set_operand(ir_instr *i, uint32_t n, ir_value *value) {
    i->operands[n] = value;
    qn__ir_touch(i);
}

/* A generic pointer as one of an address space: null where it lies elsewhere. */
static ir_value *to_named(generics *g, ir_value *operand, ir_space space) {
    const ir_type type = qn__ir_pointer(space);
    const unsigned spaces = spaces_of(g, operand);
    if (!(spaces & 1u << space)) return qn__make_int(&g->l, type, 0);
    if (is_single(spaces)) return as_pointer(g, operand, space);
    ir_value *n = as_number(g, operand), *null = qn__make_int(&g->l, type, 0);
    ir_value *pointer = pointer_in(g, n, space);
    return qn__make_select(&g->l, is_in(g, n, space), pointer, null);
}

static ir_value *lower_cast(generics *g, ir_instr *i) {
    ir_value *operand = i->operands[0], *result = i->results[0];
    if (!was_generic(g, result)) return to_named(g, operand, (ir_space)result->type.space);
    ir_value *now = qn__rewrite_get(operand);
    return result->type.kind == IR_PTR ? now : tagged(g, now, g->sources[result->id] & MAY_BE_NULL);
}

static ir_value *lower_add(generics *g, ir_instr *i) {
    ir_value *by = qn__rewrite_get(i->operands[1]), *base = as_type(g, i->operands[0], i->results[0]->type);
    if (base->type.kind == IR_PTR) {
        set_operand(i, 0, base);
        return NULL;
    }
    base = qn__make2(&g->l, IR_ADD, base, by);
    return i->attr.offset ? qn__make2(&g->l, IR_ADD, base, number(g, (uint64_t)i->attr.offset)) : base;
}

/* to_local(p) == NULL and its like by the number alone: an address may be 0. */
static ir_value *compare_cast(generics *g, const ir_instr *i) {
    const ir_value *cast = i->operands[0];
    const bool equal = i->op == IR_EQ;
    if ((!equal && i->op != IR_NE) || !qn__ir_is_const(i->operands[1]) || i->operands[1]->bits[0] ||
        !qn__defined_by(cast, IR_PTR_CAST) || was_generic(g, cast) || !is_near((ir_space)cast->type.space))
        return NULL;
    ir_value *operand = cast->def->operands[0];
    if (is_single(spaces_of(g, operand))) return NULL;
    ir_value *is = is_in(g, as_number(g, operand), (ir_space)cast->type.space);
    return equal ? qn__make1(&g->l, IR_NOT, is) : is;
}

static ir_value *lower_compare(generics *g, ir_instr *i) {
    if (!was_generic(g, i->operands[0])) return compare_cast(g, i);
    const ir_value *a = qn__rewrite_get(i->operands[0]), *b = qn__rewrite_get(i->operands[1]);
    const ir_type type = is_generic(a) ? b->type : a->type; /* null is of any */
    const bool same = type.kind == IR_PTR && type.space != IR_GENERIC_SPACE &&
                      (is_generic(a) || is_generic(b) || qn__ir_same(a->type, b->type));
    const ir_type common = same ? type : i64;
    for (uint32_t n = 0; n < 2; n++) set_operand(i, n, as_type(g, i->operands[n], common));
    return NULL;
}

static void lower_receivers(generics *g, ir_instr *i) {
    const ir_receivers to = qn__ir_receivers(i);
    for (uint32_t n = 0; n < to.count; n++)
        if (was_generic(g, to.values[n])) set_operand(i, n, as_type(g, i->operands[n], to.values[n]->type));
}

static void lower_printed(generics *g, ir_instr *i) {
    for (uint32_t n = 0; n < i->num_operands; n++) {
        if (!was_generic(g, i->operands[n])) continue;
        ir_value *address = as_number(g, i->operands[n]);
        address = qn__make2(&g->l, IR_AND, address, number(g, ADDRESS));
        set_operand(i, n, pointer_in(g, address, IR_GLOBAL_SPACE));
    }
}

/* Gives the value that takes the place of the instruction's; NULL: it stays. */
static ir_value *lower_value(generics *g, ir_instr *i) {
    const bool gives = i->num_results && was_generic(g, i->results[0]);
    switch (i->op) {
    case IR_PTR_CAST: return lower_cast(g, i);
    case IR_PTR_ADD: return gives ? lower_add(g, i) : NULL;
    case IR_PTR2INT: return was_generic(g, i->operands[0]) ? as_number(g, i->operands[0]) : NULL;
    case IR_INT2PTR: {
        ir_value *n = qn__rewrite_get(i->operands[0]);
        const ir_type type = i->results[0]->type;
        if (!gives) return NULL;
        return type.kind == IR_PTR ? pointer_in(g, n, (ir_space)type.space) : n;
    }
    case IR_EQ:
    case IR_NE:
    case IR_ULT:
    case IR_ULE: return lower_compare(g, i);
    case IR_SELECT:
        for (uint32_t n = 1; gives && n < 3; n++)
            set_operand(i, n, as_type(g, i->operands[n], i->results[0]->type));
        return NULL;
    default: return NULL;
    }
}

static void lower(generics *g, ir_region *region) {
    for (ir_instr *i = region->first, *next; i; i = next) {
        next = i->next;
        qn__ir_at(&g->l.b, i);
        lower_receivers(g, i);
        if (i->op == IR_PRINTF) lower_printed(g, i);
        const bool is_access = (i->op >= IR_LOAD && i->op <= IR_ATOMIC_CAS) || i->op == IR_PREFETCH;
        ir_value *value = is_access ? NULL : lower_value(g, i);
        if (value) qn__rewrite_set(&g->l.rewrite, i->results[0], value);
        if (value || (is_access && lower_access(g, i)))
            qn__ir_unlink(i);
        else
            qn__rewrite_operands(&g->l.rewrite, i);
        for (uint32_t r = 0; r < i->num_regions; r++) lower(g, i->regions[r]);
    }
}

bool qn__pass_lower_generic(qn__pass_context *context) {
    ir_function *function = context->function;
    generics g = {.l = {.b = {.function = function}, .context = context}, .num_values = function->num_values};
    g.sources = QN__NEW_ARRAY(context->scratch, uint8_t, function->num_values + 1);
    do {
        g.grows = false;
        qn__ir_walk(function->body, flow, &g);
    } while (g.grows);
    qn__ir_walk(function->body, settle_results, &g);
    lower(&g, function->body);
    return true;
}
