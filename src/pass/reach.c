/* Finds the accesses to buffers that a kernel is sure to do: those whose conditions are integers made of ids, sizes and
   arguments by value. Where the place is none, only the bytes of the access are known to be there. The IR stays as it is; the
   findings go to ir_function.reach, as ir/reach.h describes them.

       kernel @f(%0.x: ptr.global buffer, %1.n: i32 value)          x, at 4 * global_id(0), 4 bytes,
           ... if (global_id(0) < %1.n) { store x[global_id(0)] }   where global_id(0) < n

   Regions are walked in the order in which they run. Behind a construct that may be left for elsewhere on the way, only what
   holds where it was not left is sure; if that cannot be said, nothing is. Of a loop the first iteration is looked at, where
   its parameters are what it begins with. Stands where variables have become values and before loops are changed. */
#include "ir/reach.h"

#include "pass/tools.h"

static const uint32_t none = UINT32_MAX, not_yet = UINT32_MAX - 1;

typedef struct finder {
    qn__arena *arena; /* of the module */
    const ir_function *kernel;
    QN__VEC(uint32_t) nodes, accesses, conditions;
    uint32_t *made; /* node of a value by its id */
    uint32_t num_nodes, num_accesses;
} finder;

/* ---- expressions ---- */

static uint32_t add_node(finder *f, unsigned op, unsigned kind, unsigned from, uint32_t a, uint32_t b,
                         uint32_t c) {
    if (f->num_nodes == QN__REACH_MOST) return none;
    const uint32_t words[QN__REACH_NODE] = {op | kind << 8 | from << 16, a, b, c};
    for (unsigned i = 0; i < QN__REACH_NODE; i++) qn__vec_push(f->arena, &f->nodes, words[i]);
    return f->num_nodes++;
}

static uint32_t add_const(finder *f, unsigned kind, uint64_t bits) {
    return add_node(f, QN__REACH_CONST, kind, kind, (uint32_t)bits, (uint32_t)(bits >> 32), 0);
}

static bool is_number(ir_type type) {
    return type.lanes == 1 && (qn__ir_is_int(type) || type.kind == IR_BOOL);
}

static uint32_t add_arg(finder *f, const ir_value *arg, uint64_t byte, ir_type type) {
    const unsigned size = qn__ir_bits(type) / 8;
    return add_node(f, QN__REACH_ARG, type.kind, type.kind, arg->index, (uint32_t)byte, size);
}

/* A field of a struct by value. */
static uint32_t loaded(finder *f, const ir_instr *load) {
    const ir_value *at = load->operands[0];
    int64_t byte = load->attr.offset;
    while (qn__defined_by(at, IR_PTR_ADD) && qn__ir_is_const(at->def->operands[1])) {
        byte += (int64_t)at->def->operands[1]->bits[0] + at->def->attr.offset;
        at = at->def->operands[0];
    }
    const bool is_field = at->value_kind == IR_VALUE_ARG && at->type.space == IR_PARAM_SPACE && byte >= 0;
    return is_field ? add_arg(f, at, (uint64_t)byte, load->results[0]->type) : none;
}

static uint32_t express(finder *f, const ir_value *value, unsigned depth);

static uint32_t computed(finder *f, const ir_instr *instr, ir_type type, unsigned depth) {
    uint32_t nodes[3] = {0, 0, 0};
    if (qn__reach_is_query(instr->op))
        return add_node(f, instr->op, type.kind, type.kind, instr->attr.dim, 0, 0);
    if (instr->op == IR_LOAD) return loaded(f, instr);
    if (instr->op == IR_EXTRACT && instr->operands[0]->value_kind == IR_VALUE_ARG)
        return add_arg(f, instr->operands[0], instr->attr.lanes[0] * (qn__ir_bits(type) / 8u), type);
    if (!qn__reach_is_node(instr->op) || instr->num_operands > 3) return none;
    for (uint32_t k = 0; k < instr->num_operands; k++) {
        nodes[k] = express(f, instr->operands[k], depth + 1);
        if (nodes[k] == none) return none;
    }
    return add_node(f, instr->op, type.kind, instr->operands[0]->type.kind, nodes[0], nodes[1], nodes[2]);
}

/* The node of a value; none: it depends on memory or is no integer. */
static uint32_t express(finder *f, const ir_value *value, unsigned depth) {
    enum { DEEPEST = 100 };
    const ir_type type = value->type;
    uint32_t *node = &f->made[value->id];
    if (*node != not_yet) return *node;
    *node = none;
    if (!is_number(type) || depth > DEEPEST) return none;
    switch (value->value_kind) {
    case IR_VALUE_CONST: *node = add_const(f, type.kind, value->bits[0]); break;
    case IR_VALUE_ARG: *node = add_arg(f, value, 0, type); break;
    case IR_VALUE_RESULT: *node = computed(f, value->def, type, depth); break;
    default: break;
    }
    return *node;
}

/* ---- accesses ---- */

static uint32_t sum(finder *f, uint32_t a, uint32_t b) {
    return a == none || b == none ? none : add_node(f, IR_ADD, IR_I64, IR_I64, a, b, 0);
}

/* The argument whose buffer the pointer leads into, or none. */
static uint32_t buffer_of(const finder *f, const ir_value *pointer) {
    while (qn__defined_by(pointer, IR_PTR_ADD)) pointer = pointer->def->operands[0];
    const bool is_buffer =
        pointer->value_kind == IR_VALUE_ARG && f->kernel->args.data[pointer->index].arg_kind == IR_ARG_BUFFER;
    return is_buffer ? pointer->index : none;
}

/* The pointer's distance from the begin of that buffer. */
static uint32_t distance(finder *f, const ir_value *pointer, int64_t offset) {
    uint32_t total = none;
    for (; qn__defined_by(pointer, IR_PTR_ADD); pointer = pointer->def->operands[0]) {
        const uint32_t bytes = express(f, pointer->def->operands[1], 0);
        if (bytes == none) return none;
        total = total == none ? bytes : sum(f, total, bytes);
        offset += pointer->def->attr.offset;
    }
    const uint32_t constant = offset || total == none ? add_const(f, IR_I64, (uint64_t)offset) : none;
    return total == none ? constant : constant == none ? total : sum(f, total, constant);
}

static void note(finder *f, const ir_value *pointer, int64_t offset, uint64_t size) {
    const uint32_t param = buffer_of(f, pointer);
    if (param == none || f->num_accesses == QN__REACH_MOST || size > UINT32_MAX) return;
    uint32_t begin = distance(f, pointer, offset);
    if (begin == none) begin = add_const(f, IR_I64, 0);
    if (begin == none) return;
    const uint32_t words[] = {param, begin, (uint32_t)size, (uint32_t)f->conditions.len};
    for (size_t i = 0; i < QN__COUNT(words); i++) qn__vec_push(f->arena, &f->accesses, words[i]);
    for (size_t i = 0; i < f->conditions.len; i++)
        qn__vec_push(f->arena, &f->accesses, f->conditions.data[i]);
    f->num_accesses++;
}

/* Bytes that a value takes there; a 3-vector has three lanes. */
static uint64_t size_of(ir_type type) { return (uint64_t)qn__ir_bits(type) / 8 * type.lanes; }

static void look_at(finder *f, const ir_instr *instr) {
    switch (instr->op) {
    case IR_LOAD:
    case IR_ATOMIC_LOAD:
        note(f, instr->operands[0], instr->attr.offset, size_of(instr->results[0]->type));
        break;
    case IR_STORE:
    case IR_ATOMIC_STORE:
    case IR_ATOMIC_RMW:
    case IR_ATOMIC_CAS:
        note(f, instr->operands[0], instr->attr.offset, size_of(instr->operands[1]->type));
        break;
    case IR_COPY:
        note(f, instr->operands[0], 0, instr->attr.size);
        note(f, instr->operands[1], 0, instr->attr.size);
        break;
    default: break;
    }
}

/* ---- the way there ---- */

static bool is_inside(const ir_instr *target, const ir_instr *construct) {
    while (target && target != construct) target = target->parent->owner;
    return target != NULL;
}

/* How many jumps in the region leave the construct around it for elsewhere. */
static uint32_t leaving(const ir_region *region, const ir_instr *construct) {
    uint32_t count = 0;
    for (const ir_instr *i = region->first; i; i = i->next) {
        if (qn__ir_is_jump(i) && i->op != IR_YIELD) count += !is_inside(qn__ir_jump_target(i), construct);
        for (uint32_t r = 0; r < i->num_regions; r++) count += leaving(i->regions[r], construct);
    }
    return count;
}

static void walk(finder *f, const ir_region *region);

static void walk_if(finder *f, const ir_instr *branch) {
    const uint32_t condition = express(f, branch->operands[0], 0);
    for (uint32_t r = 0; r < branch->num_regions && condition != none; r++) {
        qn__vec_push(f->arena, &f->conditions, condition * 2 + !r);
        walk(f, branch->regions[r]);
        f->conditions.len--;
    }
}

/* Whether it can be said when the construct is not left for elsewhere; that becomes a condition of what follows. */
static bool goes_on(finder *f, const ir_instr *construct) {
    uint32_t counts[2] = {0, 0};
    for (uint32_t r = 0; r < construct->num_regions && r < 2; r++)
        counts[r] = leaving(construct->regions[r], construct);
    if (!counts[0] && !counts[1]) return true;
    if (construct->op != IR_IF || (counts[0] && counts[1])) return false;
    const ir_instr *last = construct->regions[counts[1] != 0]->last;
    const bool always = counts[0] + counts[1] == 1 && last->op != IR_YIELD && qn__ir_is_jump(last) &&
                        !is_inside(qn__ir_jump_target(last), construct);
    const uint32_t condition = express(f, construct->operands[0], 0);
    if (!always || condition == none) return false;
    qn__vec_push(f->arena, &f->conditions, condition * 2 + (counts[1] != 0));
    return true;
}

static void begin_loop(finder *f, const ir_instr *loop) {
    const ir_region *body = loop->regions[0];
    for (uint32_t k = 0; k < body->num_params && k < loop->num_operands; k++)
        f->made[body->params[k]->id] = express(f, loop->operands[k], 0);
}

static void walk(finder *f, const ir_region *region) {
    const size_t conditions = f->conditions.len;
    for (const ir_instr *i = region->first; i; i = i->next) {
        look_at(f, i);
        if (!qn__ir_is_construct(i)) continue;
        if (i->op == IR_LOOP) begin_loop(f, i);
        if (i->op == IR_IF)
            walk_if(f, i);
        else
            walk(f, i->regions[0]);
        if (!goes_on(f, i)) break;
    }
    f->conditions.len = conditions;
}

bool qn__pass_reach(qn__pass_context *context) {
    ir_function *kernel = context->function;
    if (!kernel->is_kernel) return false;
    finder f = {.arena = context->module->arena, .kernel = kernel};
    f.made = QN__NEW_ARRAY(context->scratch, uint32_t, kernel->num_values + 1u);
    for (uint32_t i = 0; i <= kernel->num_values; i++) f.made[i] = not_yet;
    walk(&f, kernel->body);
    if (!f.num_accesses) return false;
    QN__VEC(uint32_t) words = {0};
    qn__vec_push(f.arena, &words, qn__ir_ops_signature());
    qn__vec_push(f.arena, &words, f.num_nodes);
    qn__vec_push(f.arena, &words, f.num_accesses);
    for (size_t i = 0; i < f.nodes.len; i++) qn__vec_push(f.arena, &words, f.nodes.data[i]);
    for (size_t i = 0; i < f.accesses.len; i++) qn__vec_push(f.arena, &words, f.accesses.data[i]);
    kernel->reach = words.data;
    kernel->num_reach = (uint32_t)words.len;
    return false;
}
