/* Private variables become SSA values: a variable that is only loaded and stored as a whole, always with
   types of one size, is replaced by the values it holds. Control flow is structured, so no dominance
   frontiers are needed: a construct gains a result (a loop also a parameter) for each variable assigned
   inside it.

       %v = var x (4 bytes)
       store %v, 0                                   %x = if %c { yield 1 } else { yield 0 }
       if %c { store %v, 1; yield } else { yield }   use %x
       %x = load %v; use %x                     ->

   A variable whose first access in the innermost region around all its accesses is a store is local to that
   region: it needs no results or parameters outside, so a helper's temporaries inlined into a loop are not
   carried round it. Otherwise a variable may keep its value from the previous iteration, as C says of one
   declared outside the loop. */
#include <string.h>

#include "pass/tools.h"

typedef struct variable {
    ir_instr *var;
    ir_type type; /* of the first access */
    bool seen, rejected;
    ir_region *scope; /* the innermost region around all accesses; widened where the value survives outside */
    uint32_t last;    /* preorder number of the construct that recorded an assignment last */
    ir_value *current; /* while renaming; NULL: undefined */
    ir_value *unset;   /* what it is then, once it has been asked for */
} variable;

typedef struct construct {
    ir_instr *instr;
    struct construct *parent;
    uint32_t order;
    QN__VEC(uint32_t) assigned; /* variables */
} construct;

/* What matters of the function, in its order: accesses of variables, constructs and their ends. */
typedef struct event {
    ir_instr *instr;
    bool is_end;
} event;

typedef struct promoter {
    qn__pass_context *context;
    ir_function *function;
    QN__VEC(variable) variables; /* by mark of the VAR */
    QN__VEC(event) events;
    QN__VEC(construct *) constructs; /* by instruction mark */
    qn__rewrite rewrite;
} promoter;

static variable *variable_of(promoter *p, const ir_value *value) {
    const ir_instr *def = qn__private_pointer(value);
    return def && def->op == IR_VAR ? &p->variables.data[def->mark] : NULL;
}

/* ---- which variables ---- */

static bool compatible(ir_type a, ir_type b) {
    if (qn__ir_same(a, b)) return true;
    if (a.kind == IR_PTR || b.kind == IR_PTR) return false;
    return qn__ir_bits(a) * a.lanes == qn__ir_bits(b) * b.lanes;
}

/* `child` moved up until it holds `region` too. Depths are small. */
static ir_region *common_region(ir_region *a, ir_region *b) {
    uint32_t depth_a = 0, depth_b = 0;
    for (ir_region *r = a; r->owner; r = r->owner->parent) depth_a++;
    for (ir_region *r = b; r->owner; r = r->owner->parent) depth_b++;
    for (; depth_a > depth_b; depth_a--) a = a->owner->parent;
    for (; depth_b > depth_a; depth_b--) b = b->owner->parent;
    while (a != b) {
        a = a->owner->parent;
        b = b->owner->parent;
    }
    return a;
}

/* Three lanes are accessed, not the fourth that memory may have. */
static unsigned bytes_of(ir_type type) {
    const unsigned size = qn__ir_memory_size(type);
    return type.lanes == 3 ? size / 4 * 3 : size;
}

static void note_access(variable *v, const ir_instr *access, ir_type type) {
    if (!v->seen) {
        v->seen = true;
        v->type = type;
        v->scope = access->parent;
    }
    if (!compatible(v->type, type) || access->attr.offset || (access->flags & IR_VOLATILE) ||
        bytes_of(type) > v->var->attr.var->size)
        v->rejected = true;
    if (v->scope != access->parent) v->scope = common_region(v->scope, access->parent);
}

static void collect(promoter *p, ir_region *region) {
    for (ir_instr *i = region->first; i; i = i->next) {
        if (i->op == IR_VAR) {
            i->mark = (uint32_t)p->variables.len;
            qn__vec_push(p->context->scratch, &p->variables, (variable){.var = i});
        }
        for (uint32_t o = 0; o < i->num_operands; o++) {
            variable *v = variable_of(p, i->operands[o]);
            if (!v) continue;
            if (o == 0 && (i->op == IR_LOAD || i->op == IR_STORE))
                qn__vec_push(p->context->scratch, &p->events, (event){i, false});
            if (i->op == IR_LOAD)
                note_access(v, i, i->results[0]->type);
            else if (i->op == IR_STORE && o == 0)
                note_access(v, i, i->operands[1]->type);
            else
                v->rejected = true;
        }
        if (!i->num_regions) continue;
        qn__vec_push(p->context->scratch, &p->events, (event){i, false});
        for (uint32_t r = 0; r < i->num_regions; r++) collect(p, i->regions[r]);
        qn__vec_push(p->context->scratch, &p->events, (event){i, true});
    }
}

static bool inside_loop(const ir_region *region) {
    for (; region->owner; region = region->owner->parent)
        if (region->owner->op == IR_LOOP) return true;
    return false;
}

/* ---- where they are assigned ---- */

typedef struct scan {
    promoter *p;
    construct *inner;  /* the innermost open construct */
    bool *first_store; /* by variable: accessed in its scope, first by a store there */
    bool *accessed;
} scan;

/* What comes first in each variable's scope. */
static void find_first(scan *s) {
    for (size_t e = 0; e < s->p->events.len; e++) {
        const ir_instr *i = s->p->events.data[e].instr;
        if (i->num_regions) continue;
        const variable *v = variable_of(s->p, i->operands[0]);
        const size_t number = (size_t)(v - s->p->variables.data);
        if (!s->accessed[number]) s->first_store[number] = i->op == IR_STORE && i->parent == v->scope;
        s->accessed[number] = true;
    }
}

/* A construct that was still open when an assignment was recorded, and is open now, recorded it then. */
static void record_assignment(scan *s, variable *v) {
    construct *c = s->inner;
    for (; c && c->order > v->last && v->scope->owner != c->instr; c = c->parent)
        qn__vec_push(s->p->context->scratch, &c->assigned, (uint32_t)(v - s->p->variables.data));
    if (s->inner && s->inner->order > v->last) v->last = s->inner->order;
}

static void open_construct(scan *s, ir_instr *instr) {
    construct *c = QN__NEW(s->p->context->scratch, construct);
    *c = (construct){.instr = instr, .parent = s->inner, .order = (uint32_t)s->p->constructs.len + 1};
    instr->mark = (uint32_t)s->p->constructs.len;
    qn__vec_push(s->p->context->scratch, &s->p->constructs, c);
    s->inner = c;
}

static void find_assignments(scan *s) {
    for (size_t e = 0; e < s->p->events.len; e++) {
        ir_instr *i = s->p->events.data[e].instr;
        if (s->p->events.data[e].is_end) {
            s->inner = s->inner->parent;
        } else if (i->num_regions) {
            open_construct(s, i);
        } else if (i->op == IR_STORE) {
            variable *v = variable_of(s->p, i->operands[0]);
            if (!v->rejected) record_assignment(s, v);
        }
    }
}

static bool choose(promoter *p) {
    bool any = false;
    scan s = {.p = p,
              .first_store = QN__NEW_ARRAY(p->context->scratch, bool, p->variables.len + 1),
              .accessed = QN__NEW_ARRAY(p->context->scratch, bool, p->variables.len + 1)};
    find_first(&s);
    for (size_t n = 0; n < p->variables.len; n++) {
        variable *v = &p->variables.data[n];
        if (!v->seen) v->rejected = true;
        if (v->rejected) continue;
        any = true;
        if (!s.first_store[n] && inside_loop(v->scope)) v->scope = p->function->body;
    }
    if (any) find_assignments(&s);
    return any;
}

/* ---- renaming ---- */

/* A value that the checker sees to be undefined: what is loaded from a variable that nothing is ever stored to. Nothing but
   the value matters of it, so that it is gone where nobody wants it. */
static ir_value *unset_value(promoter *p, const variable *v) {
    ir_builder builder = {.function = p->function};
    ir_region *body = p->function->body;
    ir_instr *after = body->first;
    while (after->op == IR_VAR) after = after->next;
    qn__ir_at(&builder, after);
    builder.loc = v->var->loc;
    ir_value *pointer = qn__ir_variable(&builder, *v->var->attr.var);
    return qn__ir_load(&builder, pointer, v->type, 0, IR_VOLATILE | IR_READONLY);
}

static ir_value *current_value(promoter *p, variable *v) {
    if (v->current) return v->current;
    if (!v->unset)
        v->unset =
            p->context->options->target.wants_checks ? unset_value(p, v) : qn__ir_undef(p->function, v->type);
    return v->current = v->unset;
}

static ir_value *as_type(promoter *p, ir_instr *at, ir_value *value, ir_type type) {
    if (qn__ir_same(value->type, type)) return value;
    if (value->value_kind == IR_VALUE_UNDEF) return qn__ir_undef(p->function, type);
    ir_builder builder = {.function = p->function, .loc = at->loc};
    qn__ir_at(&builder, at);
    return qn__ir_convert(&builder, IR_BITCAST, value, type);
}

static const construct *construct_of(const promoter *p, const ir_instr *instr) {
    return p->constructs.data[instr->mark];
}

/* The values that variables have where a jump leaves, for the construct it goes to. */
static void extend_jump(promoter *p, ir_instr *jump) {
    const ir_instr *target = qn__ir_jump_target(jump);
    if (!target) return;
    const construct *c = construct_of(p, target);
    ir_value **values = QN__NEW_ARRAY(p->context->scratch, ir_value *, c->assigned.len + 1);
    for (size_t n = 0; n < c->assigned.len; n++)
        values[n] = current_value(p, &p->variables.data[c->assigned.data[n]]);
    qn__operands_extend(p->function, jump, values, (uint32_t)c->assigned.len);
}

static void rename_region(promoter *p, ir_region *region);

static void rename_construct(promoter *p, ir_instr *instr) {
    qn__arena *arena = p->context->scratch;
    const construct *c = construct_of(p, instr);
    const uint32_t count = (uint32_t)c->assigned.len;
    ir_value **before = QN__NEW_ARRAY(arena, ir_value *, count + 1);
    ir_type *types = QN__NEW_ARRAY(arena, ir_type, count + 1);
    const char **names = QN__NEW_ARRAY(arena, const char *, count + 1);
    for (uint32_t n = 0; n < count; n++) {
        variable *v = &p->variables.data[c->assigned.data[n]];
        before[n] = instr->op == IR_LOOP ? current_value(p, v) : v->current;
        types[n] = v->type;
        names[n] = v->var->attr.var->name;
    }
    const uint32_t first_result = instr->num_results, first_param = instr->num_operands;
    qn__results_extend(p->function, instr, types, names, count);
    if (instr->op == IR_LOOP) qn__params_extend(p->function, instr, before, names, count);
    for (uint32_t r = 0; r < instr->num_regions; r++) {
        for (uint32_t n = 0; n < count; n++)
            p->variables.data[c->assigned.data[n]].current =
                instr->op == IR_LOOP ? instr->regions[r]->params[first_param + n] : before[n];
        rename_region(p, instr->regions[r]);
    }
    for (uint32_t n = 0; n < count; n++)
        p->variables.data[c->assigned.data[n]].current = instr->results[first_result + n];
}

static void rename_region(promoter *p, ir_region *region) {
    for (ir_instr *i = region->first, *next; i; i = next) {
        next = i->next;
        qn__rewrite_operands(&p->rewrite, i);
        variable *v = i->op == IR_LOAD || i->op == IR_STORE ? variable_of(p, i->operands[0]) : NULL;
        if (v && !v->rejected) {
            if (i->op == IR_STORE)
                v->current = as_type(p, i, i->operands[1], v->type);
            else
                qn__rewrite_set(&p->rewrite, i->results[0],
                                as_type(p, i, current_value(p, v), i->results[0]->type));
            qn__ir_unlink(i);
        } else if (i->num_regions) {
            rename_construct(p, i);
        } else if (qn__ir_is_jump(i)) {
            extend_jump(p, i);
        }
    }
}

bool qn__pass_mem2reg(qn__pass_context *context) {
    ir_function *function = context->function;
    if (!qn__has_variables(function)) return false;
    promoter p = {.context = context, .function = function};
    collect(&p, function->body);
    if (!choose(&p)) return false;
    rename_region(&p, function->body);
    for (size_t n = 0; n < p.variables.len; n++)
        if (!p.variables.data[n].rejected) qn__ir_unlink(p.variables.data[n].var);
    return true;
}
