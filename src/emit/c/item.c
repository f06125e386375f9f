/* Code that runs per work-item in the C target: chunks with their loops, and the constructs inside. */
#include <string.h>

#include "emit/c/gang.h"

static void item_region(c_emitter *e, ir_region *region);

/* ---- the loops ---- */

void qn__c_items_open(c_emitter *e, bool independent) {
    bool flat = e->plan->flat;
    qn__c_locate(e, e->plan->kernel->loc); /* from work-item to work-item by way of the kernel's first line */
    qn__c_line(e, "for (i32 id2 = 0; id2 < count2; ++id2)");
    qn__c_open(e, "for (i32 id1 = 0; id1 < count1; ++id1) {");
    if (!flat) qn__c_line(e, "const i32 row = (id2 * count1 + id1) * count0;");
    if (independent && !e->options->debug) qn__c_line(e, "QN_INDEPENDENT");
    qn__c_open(e, "for (i32 id0 = 0; id0 < count0; ++id0) {");
    if (!flat) qn__c_line(e, "const i32 item = row + id0;");
    if (e->plan->masked) qn__c_open(e, "if (pend[item] == 0) {");
    e->per_item = true;
    e->next_used = false;
    e->flow.inner_loop = NULL;
    e->epoch++;
}

void qn__c_items_close(c_emitter *e) {
    if (e->plan->masked) qn__c_close(e, "}");
    if (e->next_used) qn__c_write_label(&e->text, "next", e->epoch);
    qn__c_close(e, "}");
    qn__c_close(e, "}");
    e->per_item = false;
}

/* ---- values from outside the chunk ---- */

/* Names that the text around uses, or that C does: the first part, with digits behind or without. */
static bool is_taken(const char *name) {
    static const char *const stems[] = {
        "any",    "asm",    "auto",       "b",       "base",     "begin",    "bits",   "bool",    "c",
        "char",   "count",  "done",       "double",  "end",      "exponent", "extern", "f",       "first",
        "float",  "from",   "full_items", "group",   "i",        "id",       "int",    "item",    "items",
        "l",      "last",   "launch",     "left",    "local",    "long",     "m",      "main",    "narrow",
        "next",   "object", "pend",       "pointer", "register", "row",      "s",      "scratch", "short",
        "sign",   "size",   "start",      "stop",    "switch",   "typeof",   "u",      "v",       "volatile",
        "wanted", "whole",  "x",          "y",       "z"};
    size_t length = strlen(name), stem = length;
    while (stem && name[stem - 1] >= '0' && name[stem - 1] <= '9') stem--;
    if (strncmp(name, "qn_", 3) == 0 || strncmp(name, "__", 2) == 0) return true;
    for (size_t i = 0; i < QN__COUNT(stems); i++) {
        if (strlen(stems[i]) != stem || memcmp(stems[i], name, stem) != 0) continue;
        return length > 1 || stem == 0; /* one letter alone is the user's */
    }
    return false;
}

/* The name of a private object for a debugger: as in the source, where that is free. */
static const char *variable_name(c_emitter *e, const ir_value *value) {
    const char *name = value->def->attr.var->name;
    if (!e->options->debug || !qn__c_is_identifier(name))
        return qn__arena_printf(e->arena, "object%u", value->id);
    const ir_value *owner = qn__map_get(&e->variable_names, qn__str_of(name));
    if (!owner) qn__map_set(e->arena, &e->variable_names, qn__str_of(name), (void *)value);
    if (owner && owner != value) return qn__arena_printf(e->arena, "%s_%u", name, value->id);
    return is_taken(name) ? qn__arena_printf(e->arena, "%s_", name) : name;
}

/* A declaration of `declarator` ("x", "(*x)") with the object's source type; NULL where that is not known. */
static const char *declaration(c_emitter *e, const ir_var *var, const char *declarator) {
    const ir_debug_type *debug = &var->debug;
    uint64_t size = qn__ir_memory_size(debug->type);
    for (unsigned i = 0; i < 3 && debug->lengths[i]; i++) size *= debug->lengths[i];
    if (debug->type.kind == IR_VOID || debug->type.kind == IR_BOOL || size != var->size) return NULL;
    qn__buf text;
    qn__buf_init(&text, e->arena);
    ir_kind kind = (ir_kind)debug->type.kind;
    bool is_unsigned = qn__ir_is_int(debug->type) && !debug->is_signed;
    const char *type = is_unsigned ? qn__c_unsigned(kind) : kind == IR_F16 ? "u16" : qn__c_scalar(kind);
    qn__buf_printf(&text, "%s %s", type, declarator);
    for (unsigned i = 0; i < 3 && debug->lengths[i]; i++) qn__buf_printf(&text, "[%u]", debug->lengths[i]);
    if (debug->type.lanes > 1) qn__buf_printf(&text, "[%u]", debug->type.lanes == 3 ? 4 : debug->type.lanes);
    return text.data;
}

/* A debugger gets a pointer of the object's name. */
static void name_object(c_emitter *e, const ir_value *value) {
    const ir_var *var = value->def->attr.var;
    if (!e->options->debug || !qn__c_is_identifier(var->name)) return;
    const char *typed = declaration(e, var, qn__arena_printf(e->arena, "(*%s)", variable_name(e, value)));
    if (typed) qn__c_line(e, "%s __attribute__((unused)) = (void *)%s;", typed, qn__c_use(e, value, 0));
}

/* Private objects on the stack: one, and those of a kernel together. What is larger lies in scratch memory. */
enum { STACK_OBJECT = 16 << 10, STACK_OBJECTS = 64 << 10 };

static void scratch_object(c_emitter *e, const ir_value *value) {
    const ir_var *var = value->def->attr.var;
    const char *name = qn__arena_printf(e->arena, "object%u", value->id);
    qn__vec_push(e->arena, &e->contexts,
                 ((c_context_array){"u8", name, var->size, var->align ? var->align : 8}));
    qn__c_line(e, "u8 *%s = %s;", qn__c_use(e, value, 0), name);
    name_object(e, value);
}

/* A private object as a C variable, with its source type where that is known. */
static void declare_object(c_emitter *e, const ir_value *value) {
    const ir_var *var = value->def->attr.var;
    if (var->size > STACK_OBJECT || e->stack + var->size > STACK_OBJECTS) {
        scratch_object(e, value);
        return;
    }
    e->stack += var->size;
    const char *name = variable_name(e, value), *typed = declaration(e, var, name);
    unsigned align = var->align ? var->align : 8;
    if (!typed)
        typed =
            qn__arena_printf(e->arena, "u8 %s[%llu]", name, (unsigned long long)(var->size ? var->size : 1));
    qn__c_line(e, "%s __attribute__((aligned(%u)));", typed, align);
    qn__c_line(e, "u8 *%s = (u8 *)&%s;", qn__c_use(e, value, 0), name);
}

/* One that lives across sync points is in an array over the work-items. */
static void context_object(c_emitter *e, const ir_value *value) {
    const ir_var *var = value->def->attr.var;
    uint64_t align = var->align ? var->align : 8, size = (var->size + align - 1) / align * align;
    const char *name = qn__arena_printf(e->arena, "object%u", value->id);
    if (qn__c_need(e, qn__arena_printf(e->arena, "object of %s: %u", e->plan->kernel->name, value->id))) {
        c_context_array array = {"u8", name, size ? size : align, 0};
        qn__vec_push(e->arena, &e->contexts, array);
    }
    qn__c_line(e, "u8 *%s = %s + (i64)item * %llu;", qn__c_use(e, value, 0), name, (unsigned long long)size);
    name_object(e, value);
}

void qn__c_make_available(c_emitter *e, const ir_value *value) {
    if (value->value_kind > IR_VALUE_PARAM || e->seen[value->id] == e->epoch) return;
    const c_plan *plan = e->plan;
    c_storage storage = (c_storage)plan->storage[value->id];
    bool is_var = value->value_kind == IR_VALUE_RESULT && value->def->op == IR_VAR;
    bool at_home = !plan->in_step[value->def->mark] && plan->chunk[value->def->mark] == e->chunk;
    if (!is_var && (at_home || (storage != STORAGE_CONTEXT && storage != STORAGE_AGAIN))) return;
    e->seen[value->id] = e->epoch;
    if (is_var && storage == STORAGE_ITEM) {
        declare_object(e, value);
    } else if (is_var) {
        context_object(e, value);
    } else if (storage == STORAGE_AGAIN) {
        for (uint32_t i = 0; i < value->def->num_operands; i++)
            qn__c_make_available(e, value->def->operands[i]);
        (e->gang ? qn__c_gang_instr : qn__c_instr)(e, value->def);
    } else if (e->gang) {
        qn__c_gang_available(e, value);
    } else {
        for (unsigned lane = 0; lane < value->type.lanes; lane++)
            qn__c_line(e, "%s = %s[item];", qn__c_variable(e, value, lane), qn__c_context(e, value, lane));
    }
}

static void visit_operands(ir_instr *instr, void *user) {
    c_emitter *e = user;
    if (e->plan->hoisted[instr->mark]) return;
    if (instr->op == IR_VAR && e->options->debug && e->plan->storage[instr->results[0]->id] == STORAGE_ITEM)
        qn__c_make_available(e, instr->results[0]);
    for (uint32_t i = 0; i < instr->num_operands; i++) qn__c_make_available(e, instr->operands[i]);
}

/* ---- jumps ---- */

static void go_to_next(c_emitter *e) {
    if (!e->flow.inner_loop) {
        qn__c_line(e, "continue;");
    } else {
        e->next_used = true;
        qn__c_line(e, "goto next%u;", e->epoch);
    }
}

/* Hands values over to a construct that is in step: arrays for what varies, else plain variables. */
static void hand_over(c_emitter *e, const ir_instr *jump, bool uniform_too) {
    const ir_receivers to = qn__ir_receivers(jump);
    for (uint32_t i = 0; i < to.count; i++) {
        const ir_value *value = jump->operands[i];
        if (value->value_kind == IR_VALUE_UNDEF) continue;
        for (unsigned lane = 0; lane < value->type.lanes; lane++) {
            if (e->plan->storage[to.values[i]->id] == STORAGE_CONTEXT) {
                qn__c_line(e, "%s[item] = %s;", qn__c_context(e, to.values[i], lane),
                           qn__c_use(e, value, lane));
            } else if (uniform_too) {
                qn__c_line(e, "%s = %s;", qn__c_use(e, to.values[i], lane), qn__c_use(e, value, lane));
            }
        }
    }
}

static void pend_at(c_emitter *e, const ir_instr *jump) {
    if (jump->op == IR_RETURN) {
        qn__c_line(e, "pend[item] = -1;");
    } else {
        int how = jump->op == IR_BREAK ? PEND_BREAK : PEND_CONTINUE;
        qn__c_line(e, "pend[item] = %d;", qn__c_pend(qn__ir_jump_target(jump), how));
    }
}

static void item_jump(c_emitter *e, const ir_instr *jump) {
    qn__c_locate(e, jump->loc);
    const ir_receivers to = qn__ir_receivers(jump);
    const ir_instr *target = qn__ir_jump_target(jump);
    if (jump->op == IR_UNREACHABLE) {
        qn__c_line(e, "__builtin_unreachable();");
    } else if (jump->op == IR_RETURN) {
        if (e->plan->masked) pend_at(e, jump);
        if (jump->parent->owner) go_to_next(e);
    } else if (e->plan->in_step[target->mark]) {
        hand_over(e, jump, true);
        pend_at(e, jump);
        go_to_next(e);
    } else {
        qn__c_assign(e, to.values, jump->operands, to.count);
        qn__c_jump(&e->flow, jump);
    }
}

/* ---- constructs ---- */

static void declare(void *user, const ir_value *value) { qn__c_declare(user, value); }

static void start(void *user, const ir_value *param, const ir_value *value) {
    c_emitter *e = user;
    if (qn__c_is_wide(e, param)) {
        qn__c_line(e, "%s %s = %s;", qn__c_wide_type(e, param->type, ""), qn__c_name(e, param),
                   qn__c_wide_use(e, value));
        return;
    }
    for (unsigned lane = 0; lane < param->type.lanes; lane++)
        qn__c_line(e, "%s = %s;", qn__c_variable(e, param, lane), qn__c_use(e, value, lane));
}

static const char *condition(void *user, const ir_value *value) { return qn__c_use(user, value, 0); }

static void write_region(void *user, ir_region *region) {
    if (region->owner->op == IR_LOOP) qn__c_look(user, region->owner);
    item_region(user, region);
}

static void store_results(c_emitter *e, const ir_instr *construct) {
    for (uint32_t i = 0; i < construct->num_results; i++) {
        const ir_value *result = construct->results[i];
        if (e->plan->storage[result->id] != STORAGE_CONTEXT) continue;
        for (unsigned lane = 0; lane < result->type.lanes; lane++)
            qn__c_line(e, "%s[item] = %s;", qn__c_context(e, result, lane), qn__c_use(e, result, lane));
    }
}

/* What notes a fault of a safe kernel is seldom come to. */
static bool is_likely(void *user, const ir_instr *branch) {
    (void)user;
    const ir_instr *first = branch->regions[1]->first;
    const ir_value *to = first->num_operands ? first->operands[0] : NULL;
    return first->op == IR_ATOMIC_RMW && to->value_kind == IR_VALUE_ARG &&
           branch->parent->function->args.data[to->index].flags & IR_ARG_FAULTS;
}

static void item_construct(c_emitter *e, ir_instr *instr) {
    static const qn__c_dialect dialect = {.declare = declare,
                                          .start = start,
                                          .condition = condition,
                                          .is_likely = is_likely,
                                          .region = write_region};
    qn__c_locate(e, instr->loc);
    qn__c_construct(&e->flow, &dialect, e, instr);
    store_results(e, instr);
}

static void item_instr(c_emitter *e, ir_instr *instr) {
    if (qn__ir_is_construct(instr)) {
        item_construct(e, instr);
    } else if (qn__ir_is_jump(instr)) {
        item_jump(e, instr);
    } else if (!e->plan->hoisted[instr->mark]) {
        qn__c_instr(e, instr);
    }
}

static void item_region(c_emitter *e, ir_region *region) {
    for (ir_instr *i = region->first; i; i = i->next) item_instr(e, i);
}

/* ---- chunks ---- */

/* Uniform values that the loops compute for use outside. */
static void declare_uniform(c_emitter *e, const ir_instr *instr) {
    for (uint32_t i = 0; i < instr->num_results; i++) {
        const ir_value *result = instr->results[i];
        if (e->plan->storage[result->id] == STORAGE_GROUP && e->plan->uses[result->id])
            qn__c_declare(e, result);
    }
}

/* A jump at the end of the chunk that has something to do per item. */
static bool jump_needs_items(const c_emitter *e, const ir_instr *jump) {
    const ir_receivers to = qn__ir_receivers(jump);
    for (uint32_t i = 0; i < to.count; i++) {
        if (e->plan->storage[to.values[i]->id] == STORAGE_CONTEXT) return true;
    }
    return false;
}

static bool instr_needs_items(const c_emitter *e, const ir_instr *instr) {
    if (qn__ir_is_jump(instr)) return jump_needs_items(e, instr);
    if (e->plan->hoisted[instr->mark] || (instr->op == IR_VAR && !e->options->debug)) return false;
    return !(instr->num_results == 1 && e->plan->storage[instr->results[0]->id] == STORAGE_AGAIN);
}

/* The chunk that starts at `first`. Private objects count for the chunk of their uses, wherever they stand. */
static uint32_t chunk_at(const c_plan *plan, const ir_instr *first) {
    const ir_instr *i = first;
    while (i->op == IR_VAR && i->next && !plan->in_step[i->next->mark]) i = i->next;
    return plan->chunk[i->mark];
}

void qn__c_chunk(c_emitter *e, ir_instr *first) {
    bool needed = false;
    e->chunk = chunk_at(e->plan, first);
    for (ir_instr *i = first; i && !e->plan->in_step[i->mark]; i = i->next) {
        needed = needed || instr_needs_items(e, i);
        if (e->plan->hoisted[i->mark]) {
            qn__c_instr(e, i);
        } else {
            declare_uniform(e, i);
        }
    }
    if (!needed) return;
    bool gang = e->gang_plan->chunks[e->chunk] && !e->options->debug;
    if (gang) {
        qn__c_gang_open(e);
    } else {
        qn__c_items_open(e, !e->plan->chunk_ordered[e->chunk]);
    }
    qn__c_look_between(e, first);
    for (ir_instr *i = first; i && !e->plan->in_step[i->mark]; i = i->next) {
        visit_operands(i, e);
        for (unsigned r = 0; r < i->num_regions; r++) qn__ir_walk(i->regions[r], visit_operands, e);
    }
    if (gang) {
        qn__c_gang_body(e, first);
        qn__c_gang_close(e);
        return;
    }
    for (ir_instr *i = first; i && !e->plan->in_step[i->mark]; i = i->next) {
        if (!qn__ir_is_jump(i)) {
            item_instr(e, i);
        } else if (e->plan->sync) {
            hand_over(e, i, false);
        }
    }
    qn__c_items_close(e);
}
