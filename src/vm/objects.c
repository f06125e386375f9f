/* What a kernel's pointers lead to. A pointer that comes from one argument, variable or __constant object, on whatever way, is
   bounded by that object; one that comes from memory, from an integer or from several objects is looked up where it is used
   (bounds.c). Values only ever go from "not seen" to an object to "unknown", so that repeated walks settle. */
#include "vm/internal.h"

enum { UNKNOWN = 0 };
static const uint32_t unseen = UINT32_MAX;

typedef struct search {
    qn__arena *arena;
    qn__vm_program *program;
    uint32_t *objects; /* by value id */
    bool changed;
} search;

static uint32_t object_of(const search *s, const ir_value *value) {
    const bool is_constant = value->value_kind == IR_VALUE_CONST || value->value_kind == IR_VALUE_UNDEF;
    return is_constant ? UNKNOWN : s->objects[value->id];
}

static void join(search *s, const ir_value *value, uint32_t object) {
    uint32_t *now = &s->objects[value->id];
    const uint32_t joined = *now == unseen || *now == object ? object : object == unseen ? *now : UNKNOWN;
    s->changed |= joined != *now;
    *now = joined;
}

static uint32_t add(search *s, qn__vm_object object) {
    qn__vec_push(s->arena, &s->program->objects, object);
    return (uint32_t)s->program->objects.len - 1;
}

/* A variable or __constant object: its own. `place` of what prepare.c lays out is set there. */
static void found(search *s, const ir_instr *instr) {
    const ir_function *kernel = s->program->kernel;
    const uint32_t index = instr->op == IR_VAR ? 0 : instr->attr.index;
    qn__vm_object object = {.name = NULL};
    if (s->objects[instr->results[0]->id] != unseen) return;
    if (instr->op == IR_VAR) {
        const ir_var *var = instr->attr.var;
        object = (qn__vm_object){QN__VM_PRIVATE, 0, var->size, var->name, 0, instr->loc};
    } else if (instr->op == IR_LOCAL && index < kernel->locals.len) {
        const ir_local *local = &kernel->locals.data[index];
        object = (qn__vm_object){QN__VM_LOCAL, 0, local->size, local->name, 0, local->loc};
    } else if (instr->op == IR_GLOBAL && index < kernel->module->globals.len) {
        const ir_global *global = &kernel->module->globals.data[index];
        object = (qn__vm_object){QN__VM_CONSTANT, index, global->size, global->name, 0, global->loc};
    }
    join(s, instr->results[0], object.size ? add(s, object) : UNKNOWN);
}

static void visit(ir_instr *instr, void *user) {
    search *s = user;
    const ir_receivers receivers = qn__ir_receivers(instr);
    for (uint32_t k = 0; k < receivers.count && k < instr->num_operands; k++)
        if (receivers.values[k]->type.kind == IR_PTR)
            join(s, receivers.values[k], object_of(s, instr->operands[k]));
    if (qn__ir_is_construct(instr) || !instr->num_results || instr->results[0]->type.kind != IR_PTR) return;
    switch (instr->op) {
    case IR_VAR:
    case IR_LOCAL:
    case IR_GLOBAL: found(s, instr); break;
    case IR_PTR_ADD:
    case IR_PTR_CAST: join(s, instr->results[0], object_of(s, instr->operands[0])); break;
    case IR_SELECT:
        join(s, instr->results[0], object_of(s, instr->operands[1]));
        join(s, instr->results[0], object_of(s, instr->operands[2]));
        break;
    default: join(s, instr->results[0], UNKNOWN);
    }
}

static void add_args(search *s) {
    const ir_function *kernel = s->program->kernel;
    for (uint32_t i = 0; i < kernel->args.len; i++) {
        const ir_arg *arg = &kernel->args.data[i];
        const ir_type type = arg->value->type;
        qn__vm_object object = {QN__VM_BUFFER, i, 0, arg->name, 0, arg->loc};
        if (type.kind != IR_PTR) continue;
        if (type.space == IR_LOCAL_SPACE) object.kind = QN__VM_LOCAL_ARG;
        if (type.space == IR_PARAM_SPACE) object.kind = QN__VM_STRUCT, object.size = arg->size;
        s->objects[arg->value->id] = add(s, object);
    }
}

uint32_t *qn__vm_find_objects(qn__arena *arena, qn__vm_program *program) {
    const ir_function *kernel = program->kernel;
    search s = {.arena = arena,
                .program = program,
                .objects = QN__NEW_ARRAY(arena, uint32_t, kernel->num_values + 1u),
                .changed = true};
    for (uint32_t i = 0; i <= kernel->num_values; i++) s.objects[i] = unseen;
    add(&s, (qn__vm_object){.name = NULL}); /* UNKNOWN */
    add_args(&s);
    while (s.changed) {
        s.changed = false;
        qn__ir_walk(kernel->body, visit, &s);
    }
    for (uint32_t i = 0; i <= kernel->num_values; i++)
        if (s.objects[i] == unseen) s.objects[i] = UNKNOWN;
    return s.objects;
}
