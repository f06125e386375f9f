/* Checks every rule of the IR: lists, ids, scopes, constructs and jumps here, types and attributes in
   verify_ops.c. Trusts no pointer of a value or region more than it must, so that a pass that went wrong gets
   a message and not a crash. */
#include <string.h>

#include "ir/internal.h"

typedef struct verifier {
    qn__arena *arena;
    const ir_module *module;
    const ir_function *function;
    const ir_value **values;              /* by id: who has it */
    bool *visible;                        /* by id: defined in a region that is open */
    QN__VEC(uint32_t) scope;              /* ids of the visible, innermost last */
    QN__VEC(const ir_instr *) constructs; /* around the current place */
    const char *error;
    jmp_buf escape;
} verifier;

QN__NORETURN static void fail(verifier *v, const ir_instr *instr, const char *message) {
    qn__buf out;
    qn__buf_init(&out, v->arena);
    if (v->function) qn__buf_printf(&out, "@%s: ", v->function->name ? v->function->name : "");
    qn__buf_puts(&out, message);
    if (instr) {
        qn__buf_puts(&out, ": ");
        qn__ir_print_instr(&out, v->function, instr);
    }
    v->error = out.data;
    longjmp(v->escape, 1);
}

/* ---- values ---- */

static void check_definition(verifier *v, const ir_instr *instr, const ir_value *value, ir_value_kind kind,
                             uint32_t index) {
    if (!value || value->id >= v->function->num_values) fail(v, instr, "a value without a proper id");
    if (v->values[value->id]) fail(v, instr, "two values have the same id, or one is defined twice");
    if (value->value_kind != kind || value->index != index ||
        value->def != (kind == IR_VALUE_ARG ? NULL : instr))
        fail(v, instr, "a value does not know its definition");
    if (!qn__ir_type_valid(value->type)) fail(v, instr, "a value of no valid type");
    v->values[value->id] = value;
    v->visible[value->id] = true;
    qn__vec_push(v->arena, &v->scope, value->id);
}

static void check_use(verifier *v, const ir_instr *instr, const ir_value *value) {
    if (!value || value->id >= v->function->num_values) fail(v, instr, "an operand without a proper id");
    if (value->instead) fail(v, instr, "an operand that a pass has replaced");
    const ir_value *owner = v->values[value->id];
    if (value->value_kind == IR_VALUE_CONST || value->value_kind == IR_VALUE_UNDEF) {
        if (owner == value) return;
        if (owner || !qn__ir_type_valid(value->type) || !qn__ir_is_interned(v->function, value))
            fail(v, instr, "a constant that is not this function's");
        v->values[value->id] = value;
        return;
    }
    if (owner != value || !v->visible[value->id])
        fail(v, instr, "an operand is not defined before, in this scope");
}

static void close_scope(verifier *v, size_t len) {
    while (v->scope.len > len) v->visible[qn__vec_pop(&v->scope)] = false;
}

/* ---- jumps ---- */

static void check_values(verifier *v, const ir_instr *jump) {
    const ir_receivers wanted = qn__ir_receivers(jump);
    if (jump->num_operands != wanted.count) fail(v, jump, "wrong number of values");
    for (uint32_t i = 0; i < wanted.count; i++)
        if (!qn__ir_same(jump->operands[i]->type, wanted.values[i]->type))
            fail(v, jump, "a value of the wrong type");
}

static void check_target(verifier *v, const ir_instr *jump) {
    const ir_instr *target = jump->attr.target;
    size_t i = 0;
    while (i < v->constructs.len && v->constructs.data[i] != target) i++;
    if (i == v->constructs.len) fail(v, jump, "the jump's target is not around it");
    if (jump->op == IR_CONTINUE && target->op != IR_LOOP) fail(v, jump, "only a loop continues");
    if (target->op == IR_IF) fail(v, jump, "break leaves a loop or a block");
}

static void check_jump(verifier *v, const ir_instr *jump) {
    const ir_instr *owner = jump->parent->owner;
    ir_type result = v->function->result;
    switch (jump->op) {
    case IR_YIELD:
        if (!owner || owner->op == IR_LOOP) fail(v, jump, "yield ends a region of an if or a block");
        check_values(v, jump);
        break;
    case IR_BREAK:
    case IR_CONTINUE:
        check_target(v, jump);
        check_values(v, jump);
        break;
    case IR_RETURN:
        if (jump->num_operands != (result.kind != IR_VOID)) fail(v, jump, "wrong number of values");
        if (jump->num_operands && !qn__ir_same(jump->operands[0]->type, result))
            fail(v, jump, "a value of the wrong type");
        break;
    default: break;
    }
}

/* ---- instructions and regions ---- */

static void check_region(verifier *v, const ir_region *region, const ir_instr *owner);

static void check_regions(verifier *v, const ir_instr *instr) {
    unsigned wanted = instr->op == IR_IF ? 2 : qn__ir_is_construct(instr) ? 1 : 0;
    if (instr->num_regions != wanted) fail(v, NULL, "an instruction with the wrong number of regions");
    for (unsigned i = 0; i < wanted; i++)
        if (!instr->regions[i]) fail(v, NULL, "a region is missing");
}

static void check_var_place(verifier *v, const ir_instr *instr) {
    bool first = !instr->prev || instr->prev->op == IR_VAR;
    if (instr->parent->owner || !first) fail(v, instr, "var stands only at the start of a function's body");
}

static void check_instr(verifier *v, const ir_instr *instr) {
    if (instr->op >= IR_OP_COUNT) fail(v, NULL, "an instruction of no known op");
    const ir_op_info *info = &qn__ir_ops[instr->op];
    check_regions(v, instr);
    for (uint32_t i = 0; i < instr->num_operands; i++) check_use(v, instr, instr->operands[i]);
    if (info->operands != IR_ANY && instr->num_operands != info->operands)
        fail(v, instr, "wrong number of operands");
    if (info->results != IR_ANY && instr->num_results != info->results)
        fail(v, instr, "wrong number of results");
    for (uint32_t i = 0; i < instr->num_results; i++)
        if (!instr->results[i] || !qn__ir_type_valid(instr->results[i]->type))
            fail(v, NULL, "a result of no valid type");
    const char *broken = qn__ir_broken_types(v->function, instr);
    if (!broken) broken = qn__ir_broken_attrs(v->function, instr);
    if (broken) fail(v, instr, broken);
    if (instr->op == IR_VAR) check_var_place(v, instr);
    if (instr->loc.line && instr->loc.file && instr->loc.file >= v->module->files.len)
        fail(v, instr, "its position is in no file of the module");
    if (qn__ir_is_jump(instr)) check_jump(v, instr);

    qn__vec_push(v->arena, &v->constructs, instr);
    for (unsigned i = 0; i < instr->num_regions; i++) check_region(v, instr->regions[i], instr);
    v->constructs.len--;
    for (uint32_t i = 0; i < instr->num_results; i++)
        check_definition(v, instr, instr->results[i], IR_VALUE_RESULT, i);
}

static void check_region(verifier *v, const ir_region *region, const ir_instr *owner) {
    size_t scope = v->scope.len;
    if (v->constructs.len > IR_MAX_NESTING) fail(v, NULL, "constructs are nested too deep");
    if (region->owner != owner || region->function != v->function)
        fail(v, owner, "a region does not know its owner");
    if (region->num_params && !(owner && owner->op == IR_LOOP)) fail(v, owner, "only a loop has parameters");
    for (uint32_t i = 0; i < region->num_params; i++)
        check_definition(v, owner, region->params[i], IR_VALUE_PARAM, i);
    const ir_instr *prev = NULL;
    for (const ir_instr *instr = region->first; instr; prev = instr, instr = instr->next) {
        if (instr->prev != prev || instr->parent != region) fail(v, NULL, "a region's list is broken");
        if (prev && qn__ir_is_jump(prev)) fail(v, instr, "an instruction stands behind a jump");
        check_instr(v, instr);
    }
    if (region->last != prev) fail(v, NULL, "a region's list is broken");
    if (!prev || !qn__ir_is_jump(prev)) {
        if (owner) fail(v, owner, "a region does not end in a jump");
        fail(v, NULL, "the body does not end in a jump");
    }
    close_scope(v, scope);
}

/* ---- functions and modules ---- */

static bool is_power_of_two(uint32_t n) { return n && (n & (n - 1)) == 0; }

static bool points_to(const ir_value *value, ir_space space) {
    return value->type.kind == IR_PTR && value->type.space == space;
}

static const char *broken_arg(const ir_arg *arg) {
    const ir_value *value = arg->value;
    const bool global = points_to(value, IR_GLOBAL_SPACE) || points_to(value, IR_CONSTANT_SPACE);
    switch (arg->arg_kind) {
    case IR_ARG_VALUE: return value->type.kind != IR_PTR ? NULL : "a value argument is no pointer";
    case IR_ARG_STRUCT: return points_to(value, IR_PARAM_SPACE) ? NULL : "a struct argument is a ptr.param";
    case IR_ARG_PRINT:
    case IR_ARG_BUFFER: return global ? NULL : "a buffer argument is a ptr.global or ptr.constant";
    case IR_ARG_LOCAL: return points_to(value, IR_LOCAL_SPACE) ? NULL : "a local argument is a ptr.local";
    default: return "an argument of no known kind";
    }
}

static void check_function(verifier *v, const ir_function *function) {
    v->function = function;
    if (!function->name || !*function->name) fail(v, NULL, "a function without a name");
    if (!function->body || function->module != v->module)
        fail(v, NULL, "a function without a body or a module");
    if (function->is_kernel && function->result.kind != IR_VOID) fail(v, NULL, "a kernel gives no result");
    v->values = QN__NEW_ARRAY(v->arena, const ir_value *, (size_t)function->num_values + 1);
    v->visible = QN__NEW_ARRAY(v->arena, bool, (size_t)function->num_values + 1);
    v->scope.len = v->constructs.len = 0;
    for (size_t i = 0; i < function->args.len; i++) {
        const ir_arg *arg = &function->args.data[i];
        check_definition(v, NULL, arg->value, IR_VALUE_ARG, (uint32_t)i);
        const char *broken = function->is_kernel ? broken_arg(arg) : NULL;
        if (broken) fail(v, NULL, broken);
    }
    for (size_t i = 0; i < function->locals.len; i++)
        if (!is_power_of_two(function->locals.data[i].align))
            fail(v, NULL, "a local's alignment must be a power of two");
    check_region(v, function->body, NULL);
}

static void check_unique(verifier *v, qn__map *names, const char *name, const char *message) {
    if (!name) return;
    if (qn__map_has(names, qn__str_of(name))) fail(v, NULL, message);
    qn__map_set(v->arena, names, qn__str_of(name), NULL);
}

static void check_globals(verifier *v) {
    const ir_module *module = v->module;
    qn__map names = {0};
    for (size_t i = 0; i < module->globals.len; i++) {
        const ir_global *global = &module->globals.data[i];
        check_unique(v, &names, global->name, "two constants have the same name");
        if (!is_power_of_two(global->align)) fail(v, NULL, "a constant's alignment must be a power of two");
        if (global->size && !global->data) fail(v, NULL, "a constant without data");
        for (size_t r = 0; r < global->relocations.len; r++) {
            const ir_relocation *relocation = &global->relocations.data[r];
            if (global->size < 8 || relocation->offset > global->size - 8)
                fail(v, NULL, "a relocation lies outside its constant");
            if (relocation->target >= module->globals.len) fail(v, NULL, "a relocation to no constant");
        }
    }
}

const char *qn__ir_verify(qn__arena *arena, const ir_module *module) {
    verifier *v = QN__NEW(arena, verifier);
    v->arena = arena;
    v->module = module;
    if (setjmp(v->escape)) return v->error;
    check_globals(v);
    qn__map names = {0};
    for (size_t i = 0; i < module->functions.len; i++) {
        check_function(v, module->functions.data[i]);
        check_unique(v, &names, module->functions.data[i]->name, "two functions have the same name");
    }
    return NULL;
}
