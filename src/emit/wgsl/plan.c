/* The plan of a kernel for WGSL: which i64s are wanted whole (pass/demand.c), and which memory there is. WGSL's memory is
   typed and pointers to it are no values: objects that a pointer may point to are one class (pass/points_to.c) and one
   array of words, or of floats where all accesses are of those. */
#include "emit/wgsl/internal.h"

/* ---- the halves of i64 ---- */

static bool own_demand(qn__demand *d, const ir_instr *instr) {
    if (instr->op != IR_PTR_ADD) return false;
    qn__sum sum = {.count = 0};
    qn__linear(instr->operands[1], 1, true, &sum);
    for (unsigned i = 0; i < sum.count; i++) qn__want(d, sum.terms[i].value, QN__WANT_LOW);
    return true;
}

static bool has_low(const ir_instr *instr) {
    switch (qn__ir_ops[instr->op].rule) {
    case RULE_INT:
    case RULE_LOGIC: return qn__is_made_of_low(instr);
    case RULE_SELECT:
    case RULE_CONVERT:
    case RULE_BITCAST:
    case RULE_LOAD:
    case RULE_QUERY64:
    case RULE_CONSTRUCT: return true;
    default: return false;
    }
}

static const qn__demand_rules demand_rules = {.near = UINT32_MAX, .has_low = has_low, .own = own_demand};

/* ---- objects ---- */

static void add_object(wgsl_emitter *e, wgsl_object object, const ir_value *pointer) {
    qn__vec_push(e->arena, &e->objects, object);
    if (pointer) e->object_of[pointer->id] = (uint32_t)e->objects.len;
}

static void add_args(wgsl_emitter *e) {
    static const uint8_t spaces[] = {
        [IR_ARG_STRUCT] = IR_PARAM_SPACE, [IR_ARG_LOCAL] = IR_LOCAL_SPACE, [IR_ARG_PRINT] = IR_GLOBAL_SPACE};
    for (size_t i = 0; i < e->kernel->args.len; i++) {
        const ir_arg *arg = &e->kernel->args.data[i];
        if (arg->arg_kind == IR_ARG_VALUE || !e->uses[arg->value->id]) continue;
        const uint8_t space = arg->arg_kind == IR_ARG_BUFFER ? arg->value->type.space : spaces[arg->arg_kind];
        const uint64_t offset = arg->arg_kind == IR_ARG_PRINT ? 0 : e->params[i].offset;
        add_object(e, (wgsl_object){.space = space, .arg = (int32_t)i, .offset = offset, .name = arg->name},
                   arg->value);
    }
}

/* Several LOCAL instructions may name one; all __constant objects of the module lie in one buffer. */
static void find_object(ir_instr *instr, void *user) {
    wgsl_emitter *e = user;
    if (instr->op == IR_VAR) {
        const ir_var *var = instr->attr.var;
        add_object(
            e,
            (wgsl_object){
                .space = IR_PRIVATE, .arg = -1, .size = var->size, .align = var->align, .name = var->name},
            instr->results[0]);
    } else if (instr->op == IR_GLOBAL) {
        e->object_of[instr->results[0]->id] = 1;
    } else if (instr->op == IR_LOCAL) {
        e->object_of[instr->results[0]->id] = instr->attr.index + 2;
    }
}

/* The module's constants are the first object and so the first of its class, which addresses in them rely on. */
static void collect(wgsl_emitter *e) {
    const ir_function *kernel = e->kernel;
    e->objects.len = 0;
    add_object(e, (wgsl_object){.space = IR_CONSTANT_SPACE, .arg = -1, .size = e->constants_size}, NULL);
    for (size_t i = 0; i < kernel->locals.len; i++) {
        const ir_local *local = &kernel->locals.data[i];
        add_object(
            e, (wgsl_object){.space = IR_LOCAL_SPACE, .arg = -1, .size = local->size, .align = local->align},
            NULL);
    }
    add_args(e);
    qn__ir_walk(e->kernel->body, find_object, e);
}

static uint32_t node_of(const wgsl_emitter *e, uint32_t object) {
    return qn__points_to_own(&e->sets, object);
}

static void point_to_object(wgsl_emitter *e, const ir_value *pointer) {
    const uint32_t object = e->object_of[pointer->id];
    if (object) qn__points_to_join(&e->sets, pointer->id, node_of(e, object - 1));
}

static void point(ir_instr *instr, void *user) {
    wgsl_emitter *e = user;
    if (instr->op == IR_VAR || instr->op == IR_LOCAL || instr->op == IR_GLOBAL)
        point_to_object(e, instr->results[0]);
    if (instr->op == IR_GLOBAL && e->module->globals.data[instr->attr.index].relocations.len)
        qn__points_to_join(&e->sets, node_of(e, 0), qn__points_to_escaped(&e->sets, IR_CONSTANT_SPACE));
}

/* All __local parameters lie behind one another. */
static void find_sets(wgsl_emitter *e) {
    int32_t dynamic = -1;
    e->sets = qn__points_to_find(e->arena, e->kernel, UINT32_MAX, (uint32_t)e->objects.len, false);
    for (size_t i = 0; i < e->kernel->args.len; i++) point_to_object(e, e->kernel->args.data[i].value);
    qn__ir_walk(e->kernel->body, point, e);
    for (uint32_t i = 0; i < e->objects.len; i++) {
        const wgsl_object *object = &e->objects.data[i];
        if (object->space != IR_LOCAL_SPACE || object->arg < 0) continue;
        if (dynamic >= 0) qn__points_to_join(&e->sets, node_of(e, i), node_of(e, (uint32_t)dynamic));
        dynamic = (int32_t)i;
    }
}

static bool is_buffer(const wgsl_class *class) {
    return class->space == IR_GLOBAL_SPACE || class->space == IR_CONSTANT_SPACE;
}

static void make_classes(wgsl_emitter *e) {
    e->classes.len = 0;
    e->class_of = QN__NEW_ARRAY(e->arena, uint32_t, e->sets.count);
    for (uint32_t i = 0; i < e->objects.len; i++) {
        wgsl_object *object = &e->objects.data[i];
        const uint32_t root = qn__points_to_root(&e->sets, node_of(e, i));
        if (!e->class_of[root]) {
            wgsl_class made = {.space = object->space, .object = i};
            made.escapes = root == qn__points_to_root(
                                       &e->sets, qn__points_to_escaped(&e->sets, (ir_space)object->space));
            qn__vec_push(e->arena, &e->classes, made);
            e->class_of[root] = (uint32_t)e->classes.len;
        }
        object->class_index = e->class_of[root] - 1;
        wgsl_class *class = &e->classes.data[object->class_index];
        class->num_objects++;
        if (is_buffer(class)) object->offset = class->num_objects - 1;
        class->has_dynamic |= object->space == IR_LOCAL_SPACE && object->arg >= 0;
    }
}

wgsl_class *qn__wgsl_class(wgsl_emitter *e, const ir_value *pointer) {
    if (pointer->type.kind != IR_PTR || pointer->value_kind >= IR_VALUE_CONST) return NULL;
    const uint32_t index = e->class_of[qn__points_to_root(&e->sets, pointer->id)];
    return index ? &e->classes.data[index - 1] : NULL;
}

bool qn__wgsl_is_tagged(wgsl_emitter *e, const ir_value *pointer) {
    const wgsl_class *class = qn__wgsl_class(e, pointer);
    return class && is_buffer(class) && class->num_objects > 1;
}

/* ---- accesses ---- */

bool qn__wgsl_is_quad(ir_type type, uint32_t align) {
    return type.lanes == 4 && qn__ir_bits(type) == 32 && align >= 16;
}

static void see_access(wgsl_emitter *e, const ir_value *pointer, ir_type type, uint32_t align,
                       int64_t offset) {
    wgsl_class *class = qn__wgsl_class(e, pointer);
    if (!class) return;
    const unsigned width = qn__ir_bits(type) / 8;
    const uint8_t kind = class->halves ? IR_F16 : type.kind == IR_F32 && align >= 4 ? IR_F32 : IR_I32;
    class->is_mixed |= class->is_seen && class->kind != kind;
    class->kind = kind;
    class->is_seen = true;
    class->narrow |= width < 4 || align < 4;
    class->quads |= qn__wgsl_is_quad(type, align);
    class->scalars |= !qn__wgsl_is_quad(type, align);
    class->offset_bits |= (uint64_t)offset;
}

/* Stores of parts of words are atomic: work-items may share one. */
static void see_store(wgsl_emitter *e, const ir_instr *instr) {
    const ir_type type = instr->operands[1]->type;
    see_access(e, instr->operands[0], type, instr->attr.align, instr->attr.offset);
    wgsl_class *class = qn__wgsl_class(e, instr->operands[0]);
    if (class) class->is_written = true;
    const bool whole = instr->attr.align >= 4 && qn__ir_bits(type) * type.lanes % 32 == 0;
    if (class && !whole && !class->halves &&
        (class->space == IR_GLOBAL_SPACE || class->space == IR_LOCAL_SPACE))
        class->atomic = true;
}

static void see_copy(wgsl_emitter *e, const ir_instr *instr) {
    const bool words = instr->attr.align >= 4 && instr->attr.size % 4 == 0;
    for (int i = 0; i < 2; i++) {
        wgsl_class *class = qn__wgsl_class(e, instr->operands[i]);
        see_access(e, instr->operands[i], qn__ir_type(words ? IR_I32 : IR_I8, 1), words ? 4 : 1, 0);
        if (class && !i) class->is_written = true;
        if (class && !words && !i && class->space != IR_PRIVATE) class->atomic = true;
    }
}

static void see_atomic(wgsl_emitter *e, const ir_instr *instr) {
    const ir_type type = instr->num_results ? instr->results[0]->type : instr->operands[1]->type;
    wgsl_class *class = qn__wgsl_class(e, instr->operands[0]);
    see_access(e, instr->operands[0], qn__ir_type(IR_I32, 1), 4, instr->attr.offset);
    if (qn__ir_bits(type) != 32) {
        e->loc = instr->loc;
        qn__wgsl_error(e, "WGSL has atomics of 32 bits only");
    }
    if (class && class->space != IR_PRIVATE) class->atomic = true;
}

/* What is volatile has to be atomic, lest compilers merge it. */
static void see_volatile(wgsl_emitter *e, const ir_instr *instr) {
    wgsl_class *class = instr->flags & IR_VOLATILE ? qn__wgsl_class(e, instr->operands[0]) : NULL;
    if (class && (class->space == IR_GLOBAL_SPACE || class->space == IR_LOCAL_SPACE)) class->atomic = true;
}

static void see(ir_instr *instr, void *user) {
    wgsl_emitter *e = user;
    if (instr->op == IR_LOAD || instr->op == IR_STORE) see_volatile(e, instr);
    switch (instr->op) {
    case IR_PTR_ADD: {
        wgsl_class *class = qn__wgsl_class(e, instr->results[0]);
        if (class) class->offset_bits |= qn__offset_bits(instr);
        break;
    }
    case IR_LOAD:
        see_access(e, instr->operands[0], instr->results[0]->type, instr->attr.align, instr->attr.offset);
        break;
    case IR_STORE: see_store(e, instr); break;
    case IR_COPY: see_copy(e, instr); break;
    case IR_ATOMIC_LOAD:
    case IR_ATOMIC_STORE:
    case IR_ATOMIC_RMW:
    case IR_ATOMIC_CAS: see_atomic(e, instr); break;
    default: break;
    }
}

/* ---- the form of classes ---- */

static bool is_passed(const wgsl_emitter *e, const wgsl_class *class) {
    const int32_t arg = e->objects.data[class->object].arg;
    return is_buffer(class) && arg >= 0 && e->kernel->args.data[arg].arg_kind == IR_ARG_BUFFER;
}

/* All buffers that are passed become words, atomic ones where one has to be. */
static void make_one_type(wgsl_emitter *e) {
    bool atomic = false;
    for (size_t i = 0; i < e->classes.len; i++)
        atomic |= is_passed(e, &e->classes.data[i]) && e->classes.data[i].atomic;
    for (size_t i = 0; i < e->classes.len; i++) {
        wgsl_class *class = &e->classes.data[i];
        if (!is_passed(e, class)) continue;
        class->is_mixed = true;
        class->quads = false;
        class->atomic = atomic;
    }
}

static void settle(wgsl_class *class) {
    const bool fixed = class->space == IR_PARAM_SPACE || class->space == IR_CONSTANT_SPACE;
    if (fixed || class->atomic || class->is_mixed || !class->is_seen ||
        (is_buffer(class) && class->num_objects > 1))
        class->kind = IR_I32;
    class->step = class->halves ? 2 : class->escapes || class->narrow || class->offset_bits & 3 ? 1 : 4;
}

/* Arrays of vectors, where some access is one's. All buffers of a kernel are, floats and words apart: one memory may be passed for
   several parameters, which are one type then (backend/webgpu/alias.c). */
static void settle_quads(wgsl_emitter *e) {
    bool wanted[2] = {false, false}, refused[2] = {false, false};
    for (size_t i = 0; i < e->classes.len; i++) {
        const wgsl_class *class = &e->classes.data[i];
        const bool is_float = class->kind == IR_F32;
        if (!is_buffer(class) || class->atomic || class->halves || !class->is_seen) continue;
        if (class->num_objects > 1)
            refused[is_float] = true;
        else
            wanted[is_float] |= class->quads;
    }
    for (size_t i = 0; i < e->classes.len; i++) {
        wgsl_class *class = &e->classes.data[i];
        const bool is_float = class->kind == IR_F32;
        if (class->space == IR_LOCAL_SPACE || class->halves) class->quads &= !class->atomic && !class->halves;
        if (class->space == IR_LOCAL_SPACE || class->halves) continue;
        class->quads = is_buffer(class) && class->is_seen && !class->atomic && class->num_objects == 1 &&
                       e->objects.data[class->object].arg >= 0 && wanted[is_float] && !refused[is_float];
    }
}

/* Objects of private and local memory one after another, parameters at the end; addresses as numbers start beyond 0. */
static void lay_out(wgsl_emitter *e) {
    uint64_t next[IR_SPACE_COUNT];
    for (unsigned i = 0; i < IR_SPACE_COUNT; i++) next[i] = WGSL_BASE;
    for (uint32_t c = 0; c < e->classes.len; c++) {
        wgsl_class *class = &e->classes.data[c];
        settle(class);
        class->base = is_buffer(class) ? WGSL_BASE : next[class->space];
        if (is_buffer(class) || class->space == IR_PARAM_SPACE) continue;
        for (size_t i = 0; i < e->objects.len; i++) {
            wgsl_object *object = &e->objects.data[i];
            if (object->class_index != c || object->arg >= 0) continue;
            const uint64_t align = object->align > 16 ? object->align : 16;
            object->offset = (class->size + align - 1) / align * align;
            class->size = object->offset + object->size;
        }
        enum { ROOM = 1 << 24 }; /* for parameters */
        class->size = (class->size + 3) / 4 * 4;
        if (class->has_dynamic) class->size = (class->size + 127) / 128 * 128;
        next[class->space] = (class->base + class->size + (class->has_dynamic ? ROOM : 0) + 255) / 128 * 128;
    }
}

/* Where all that accesses vectors of four accesses whole ones, pointers count these. */
static void count_in_quads(wgsl_emitter *e) {
    for (size_t i = 0; i < e->classes.len; i++) {
        wgsl_class *class = &e->classes.data[i];
        if (class->quads && class->step == 4 && !class->scalars && !(class->offset_bits & 15))
            class->step = 16;
    }
}

void qn__wgsl_plan(wgsl_emitter *e) {
    e->object_of = QN__NEW_ARRAY(e->arena, uint32_t, e->kernel->num_values + 1);
    e->demand = qn__find_demand(e->arena, e->kernel, &demand_rules);
    collect(e);
    find_sets(e);
    make_classes(e);
    qn__wgsl_find_halves(e);
    qn__ir_walk(e->kernel->body, see, e);
    if (e->one_type) make_one_type(e);
    lay_out(e);
    settle_quads(e);
    count_in_quads(e);
}
