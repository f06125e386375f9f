/* Private and __local memory for SPIR-V, where it is typed and pointers to it are not values. Objects that a
   pointer may point to are one class and one variable: an
   array whose element follows from all the accesses, so that float4 arrays stay so. Pointers are indices into it.
   As numbers (ptr2int, comparison, in memory) pointers are addresses that are given out here: each space
   counts from FIRST_ADDRESS, so that 0 is null, and __local parameters, whose sizes are not known, lie far
   apart. */
#include "emit/spirv/internal.h"

enum { FIRST_ADDRESS = 16, ALIGN = 16, ARG_ADDRESS_BITS = 24, JOINT_UNIT = 16 };

/* ---- who points where ---- */

static uint32_t find(const spv *e, uint32_t node) { return qn__points_to_root(&e->places, node); }

static bool is_place(const ir_value *value) {
    return qn__spv_is_place(value->type) && value->type.space != IR_PARAM_SPACE &&
           value->value_kind <= IR_VALUE_ARG;
}

static uint32_t object_node(const spv *e, uint32_t object) { return qn__points_to_own(&e->places, object); }

static void add_object(spv *e, const ir_value *value, spv_object object) {
    qn__vec_push(e->arena, &e->objects, object);
    e->object[value->id] = (uint32_t)e->objects.len;
}

/* Several LOCAL instructions may name one. */
static void find_object(spv *e, const ir_instr *instr) {
    if (instr->op == IR_VAR) {
        const ir_var *var = instr->attr.var;
        add_object(e, instr->results[0], (spv_object){var->size, var->align, IR_PRIVATE, -1, 0, 0, 0});
    } else if (instr->op == IR_LOCAL) {
        e->object[instr->results[0]->id] = instr->attr.index + 1;
    }
}

static void point_to_object(spv *e, const ir_value *pointer) {
    qn__points_to_join(&e->places, pointer->id, object_node(e, e->object[pointer->id] - 1));
}

/* ---- what is accessed how ---- */

spv_class *qn__spv_class(spv *e, const ir_value *pointer) {
    if (!e->classes.len || !is_place(pointer)) return NULL;
    uint32_t index = e->class_of[find(e, pointer->id)];
    return index ? &e->classes.data[index - 1] : NULL;
}

static unsigned smaller(unsigned a, unsigned b) { return a < b ? a : b; }

static void see_access(spv *e, const ir_value *pointer, ir_type type, uint32_t align, int64_t offset) {
    spv_class *class = qn__spv_class(e, pointer);
    if (!class) return;
    unsigned width = qn__ir_bits(type) / 8, lanes = type.lanes == 3 ? 4 : type.lanes;
    unsigned kind = type.kind == IR_PTR ? IR_I64 : type.kind;
    unsigned unit = smaller(width, align);
    if (width == 8 && kind != IR_F64 && !e->native) unit = smaller(unit, 4);
    if (unit != width || (class->unit && class->unit != unit)) class->mixed = true;
    class->has_half |= kind == IR_F16;
    class->kind = (uint8_t)(class->kind == IR_VOID || class->kind == kind ? kind : IR_KIND_COUNT);
    class->unit = (uint8_t)(class->unit ? smaller(class->unit, unit) : unit);
    class->offset_bits |= (uint64_t)offset & (width - 1);
    if (lanes == 1) return;
    unsigned fits = align / width ? align / width : 1;
    if (class->most_lanes < lanes) class->most_lanes = (uint8_t)smaller(lanes, 4);
    if (fits < class->lane_limit) class->lane_limit = (uint8_t)fits;
}

static unsigned unit_of(const spv_class *class) {
    unsigned unit = class->unit ? class->unit : 4;
    return class->copy_unit ? smaller(unit, class->copy_unit) : unit;
}

/* A copy moves units of both sides, which must therefore be of one size. True: it has changed one. */
static bool join_sides(spv *e, const ir_instr *copy) {
    bool changed = false;
    uint64_t bits = copy->attr.align | copy->attr.size | 4;
    unsigned unit = (unsigned)(bits & (0 - bits));
    spv_class *sides[2];
    for (int i = 0; i < 2; i++) {
        sides[i] = qn__spv_class(e, copy->operands[i]);
        if (sides[i]) unit = smaller(unit, unit_of(sides[i]));
    }
    for (int i = 0; i < 2; i++) {
        if (!sides[i] || sides[i]->copy_unit == unit) continue;
        sides[i]->copy_unit = (uint8_t)unit;
        changed = true;
    }
    return changed;
}

static bool join_all_sides(spv *e) {
    bool changed = false;
    for (size_t i = 0; i < e->plan.near.len; i++)
        if (e->plan.near.data[i]->op == IR_COPY) changed |= join_sides(e, e->plan.near.data[i]);
    return changed;
}

/* In local memory they are moved as vectors of words. */
static void find_fragments(spv *e, const ir_instr *instr) {
    for (uint32_t i = 0; i < instr->num_operands; i++) {
        const ir_value *pointer = instr->operands[i];
        if (pointer->type.kind != IR_PTR) continue;
        spv_class *class = qn__spv_class(e, pointer);
        const unsigned align = qn__spv_matrix_align(instr);
        if (pointer->type.space == IR_LOCAL_SPACE)
            see_access(e, pointer, qn__ir_type(IR_I32, align / 4), align, 0);
        else if (class)
            class->matrix = instr->attr.matrices[i];
    }
}

static void find_access(spv *e, const ir_instr *instr) {
    switch (instr->op) {
    case IR_PTR_ADD: {
        spv_class *class = qn__spv_class(e, instr->results[0]);
        if (class) class->offset_bits |= qn__offset_bits(instr);
        break;
    }
    case IR_LOAD:
        see_access(e, instr->operands[0], instr->results[0]->type, instr->attr.align, instr->attr.offset);
        break;
    case IR_STORE:
        see_access(e, instr->operands[0], instr->operands[1]->type, instr->attr.align, instr->attr.offset);
        break;
    case IR_ATOMIC_LOAD:
    case IR_ATOMIC_STORE:
    case IR_ATOMIC_RMW:
    case IR_ATOMIC_CAS: {
        ir_type type = instr->num_results ? instr->results[0]->type : instr->operands[1]->type;
        ir_kind kind = qn__ir_bits(type) == 64 ? IR_I64 : IR_I32;
        see_access(e, instr->operands[0], qn__ir_type(kind, 1), qn__ir_bits(type) / 8, instr->attr.offset);
        spv_class *class = qn__spv_class(e, instr->operands[0]);
        if (class) class->atomic = true;
        break;
    }
    default:
        if (qn__ir_ops[instr->op].rule == RULE_MATRIX) find_fragments(e, instr);
        break;
    }
}

static ir_kind integer_of(unsigned bytes) {
    return bytes == 1 ? IR_I8 : bytes == 2 ? IR_I16 : bytes == 4 ? IR_I32 : IR_I64;
}

static bool divides(uint32_t step, uint64_t bits) { return !(bits & (step - 1)); }

/* Whether narrow scalars can be elements: not beside atomics, which are of words. */
static bool must_be_packed(const spv *e, const spv_class *class) {
    if (class->unit >= 4) return false;
    if (class->atomic || (class->has_half && qn__spv_is_held(e, IR_F16))) return true;
    return qn__spv_is_held(e, class->unit == 1 ? IR_I8 : IR_I16);
}

static void settle_class(spv *e, spv_class *class) {
    if (class->matrix.element) {
        class->step = qn__spv_matrix_step(e, class->matrix);
        if (class->unit || class->copy_unit || class->escapes || !divides(class->step, class->offset_bits))
            qn__spv_fail(e, "a matrix fragment is used as bytes");
        return;
    }
    if (!class->unit || unit_of(class) < class->unit) {
        class->mixed = class->unit != 0;
        class->unit = (uint8_t)unit_of(class);
    }
    bool kept = class->kind < IR_KIND_COUNT && class->kind != IR_VOID && !class->mixed && !class->atomic;
    if (class->unit == 8 && class->kind != IR_F64 && !e->native) class->unit = 4, kept = false;
    if (!kept) class->kind = (uint8_t)integer_of(class->unit);
    if (class->unit == 8 && class->kind != IR_F64 && !e->native) {
        class->unit = 4; /* doubles mixed with pairs */
        class->kind = IR_I32;
        class->mixed = true;
    }
    if (must_be_packed(e, class)) {
        class->unit = 4;
        class->kind = IR_I32;
        class->mixed = class->packed = true;
    }
    unsigned lanes = smaller(class->most_lanes, class->lane_limit);
    class->lanes = (uint8_t)(class->mixed || class->atomic || lanes < 2 ? 1 : lanes);
    uint32_t element = (uint32_t) class->unit * class->lanes;
    class->step = class->escapes || class->packed            ? 1
                  : divides(element, class->offset_bits)     ? element
                  : divides(class->unit, class->offset_bits) ? class->unit
                                                             : 1;
}

/* ---- addresses ---- */

static uint64_t round_up(uint64_t value, uint64_t align) { return (value + align - 1) / align * align; }

static void place_objects(spv *e) {
    uint64_t next[IR_SPACE_COUNT];
    for (unsigned i = 0; i < IR_SPACE_COUNT; i++) next[i] = FIRST_ADDRESS;
    for (size_t c = 0; c < e->classes.len; c++) {
        spv_class *class = &e->classes.data[c];
        uint64_t at = class->base = round_up(next[class->space], 128);
        for (size_t i = 0; i < e->objects.len; i++) {
            spv_object *object = &e->objects.data[i];
            if (object->class_index != c || object->local_arg >= 0) continue;
            at = round_up(at, object->align > ALIGN ? object->align : ALIGN);
            object->address = at;
            at += object->size;
        }
        class->size = class->num_objects == 1 ? at - class->base : round_up(at - class->base, ALIGN);
        if (class->num_objects == 1 && class->num_args)
            class->base = (uint64_t)(class->local_arg + 1) << ARG_ADDRESS_BITS;
        else
            next[class->space] = at + 1;
    }
}

/* Parameters that share a class follow its other objects; their addresses depend on their sizes. */
static void place_joint_args(spv *e, spv_class *class, uint32_t index) {
    uint32_t at = qn__spv_u32(e, (uint32_t)(class->base + class->size));
    for (size_t i = 0; i < e->objects.len; i++) {
        spv_object *object = &e->objects.data[i];
        if (object->class_index != index || object->local_arg < 0) continue;
        object->address_id = at;
        uint32_t count = qn__spv_spec(e, QN__SPEC_LOCAL_ARG + (uint32_t)object->local_arg, 1);
        uint32_t unit = qn__spv_u32(e, JOINT_UNIT), word = qn__spv_u32t(e);
        uint32_t bytes = SPV_ONCE(e, SP_SPEC_CONSTANT_OP, word, SP_I_MUL, count, unit);
        at = SPV_ONCE(e, SP_SPEC_CONSTANT_OP, word, SP_I_ADD, at, bytes);
    }
    uint32_t word = qn__spv_u32t(e), base = qn__spv_u32(e, (uint32_t) class->base);
    uint32_t bytes = SPV_ONCE(e, SP_SPEC_CONSTANT_OP, word, SP_I_SUB, at, base);
    uint32_t element = qn__spv_u32(e, (uint32_t) class->unit * class->lanes);
    class->variable = SPV_ONCE(e, SP_SPEC_CONSTANT_OP, word, SP_U_DIV, bytes, element); /* its length */
}

/* ---- the whole plan ---- */

static void collect(spv *e) {
    const ir_function *function = e->function;
    e->objects.len = 0;
    for (size_t i = 0; i < function->locals.len; i++) {
        const ir_local *local = &function->locals.data[i];
        spv_object object = {local->size, local->align, IR_LOCAL_SPACE, -1, 0, 0, 0};
        qn__vec_push(e->arena, &e->objects, object);
    }
    e->num_local_args = 0;
    for (size_t i = 0; i < function->args.len; i++) {
        const ir_arg *arg = &function->args.data[i];
        if (arg->arg_kind != IR_ARG_LOCAL) continue;
        spv_object object = {0, ALIGN, IR_LOCAL_SPACE, (int)e->num_local_args++, 0, 0, 0};
        add_object(e, arg->value, object);
    }
    for (size_t i = 0; i < e->plan.near.len; i++) find_object(e, e->plan.near.data[i]);
}

static void make_classes(spv *e) {
    e->class_of = QN__NEW_ARRAY(e->arena, uint32_t, e->places.count);
    for (uint32_t i = 0; i < e->objects.len; i++) {
        spv_object *object = &e->objects.data[i];
        uint32_t root = find(e, object_node(e, i));
        if (!e->class_of[root]) {
            spv_class class = {.space = object->space, .local_arg = -1, .lane_limit = 4};
            qn__vec_push(e->arena, &e->classes, class);
            e->class_of[root] = (uint32_t)e->classes.len;
        }
        object->class_index = e->class_of[root] - 1;
        spv_class *class = &e->classes.data[object->class_index];
        class->num_objects++;
        class->num_args += object->local_arg >= 0;
        class->local_arg = object->local_arg;
        class->escapes = root == find(e, qn__points_to_escaped(&e->places, object->space));
    }
}

void qn__spv_classes(spv *e) {
    const ir_function *function = e->function;
    e->object = QN__NEW_ARRAY(e->arena, uint32_t, function->num_values + 1);
    collect(e);
    e->classes.len = 0;
    e->local_units = QN__NEW_ARRAY(e->arena, uint32_t, e->num_local_args + 1);
    if (!e->objects.len) return;
    const uint32_t spaces = 1u << IR_PRIVATE | 1u << IR_LOCAL_SPACE;
    e->places = qn__points_to_find(e->arena, function, spaces, (uint32_t)e->objects.len, false);
    for (size_t i = 0; i < function->args.len; i++) {
        const ir_value *value = function->args.data[i].value;
        if (e->object[value->id]) point_to_object(e, value);
    }
    for (size_t i = 0; i < e->plan.near.len; i++) {
        const ir_instr *instr = e->plan.near.data[i];
        if (instr->op == IR_VAR || instr->op == IR_LOCAL) point_to_object(e, instr->results[0]);
    }
    make_classes(e);
    for (size_t i = 0; i < e->plan.near.len; i++) find_access(e, e->plan.near.data[i]);
    while (join_all_sides(e)) {
    }
    for (size_t i = 0; i < e->classes.len; i++) settle_class(e, &e->classes.data[i]);
    place_objects(e);
    for (size_t i = 0; i < e->objects.len; i++) {
        const spv_object *object = &e->objects.data[i];
        const spv_class *class = &e->classes.data[object->class_index];
        if (object->local_arg >= 0)
            e->local_units[object->local_arg] =
                class->num_objects > 1 ? JOINT_UNIT : (uint32_t) class->unit * class->lanes;
    }
}

/* ---- variables ---- */

/* One of this type that the kernel does not use yet, or a new one. Drivers and the validation layer add up the
   local memory of all kernels of a module. */
static uint32_t local_variable(spv *e, uint32_t pointer) {
    size_t i = 0;
    while (i < e->locals.len &&
           (e->locals.data[i].pointer != pointer || e->locals.data[i].user == e->function))
        i++;
    if (i == e->locals.len) {
        spv_local made = {.pointer = pointer, .variable = qn__spv_id(e)};
        SPV_INTO(e, &e->globals, SP_VARIABLE, pointer, made.variable, SP_WORKGROUP);
        qn__vec_push(e->arena, &e->locals, made);
    }
    e->locals.data[i].user = e->function;
    qn__vec_push(e->arena, &e->interface, e->locals.data[i].variable);
    return e->locals.data[i].variable;
}

static void declare(spv *e, spv_class *class, uint32_t index) {
    const bool local = class->space == IR_LOCAL_SPACE, is_matrix = class->matrix.element != 0;
    const uint32_t element_size = is_matrix ? class->step : (uint32_t) class->unit * class->lanes;
    uint32_t length, element = is_matrix ? qn__spv_matrix_type(e, class->matrix)
                                         : qn__spv_type(e, qn__ir_type((ir_kind) class->kind, class->lanes));
    if (class->num_args && class->num_objects > 1) {
        place_joint_args(e, class, index);
        length = class->variable;
    } else if (class->num_args) {
        length = qn__spv_spec(e, QN__SPEC_LOCAL_ARG + (uint32_t) class->local_arg, 1);
    } else {
        uint64_t count = (class->size + element_size - 1) / element_size;
        if (count > UINT32_MAX / 16) qn__spv_fail(e, "a variable is too large for the device");
        length = qn__spv_u32(e, count ? (uint32_t)count : 1);
    }
    uint32_t array = SPV_ONCE(e, SP_TYPE_ARRAY, 0, element, length);
    uint32_t storage = local ? SP_WORKGROUP : SP_FUNCTION_CLASS;
    uint32_t pointer = qn__spv_pointer(e, storage, array);
    class->variable = local ? local_variable(e, pointer) : qn__spv_id(e);
    if (!local) SPV_DO(e, SP_VARIABLE, pointer, class->variable, storage);
}

void qn__spv_class_variables(spv *e) {
    for (size_t n = 0; n < e->plan.near.len; n++) {
        const ir_instr *instr = e->plan.near.data[n];
        if (!qn__spv_is_access(instr)) continue;
        for (uint32_t i = 0; i < instr->num_operands && i < IR_MATRICES; i++) {
            spv_class *class = qn__spv_class(e, instr->operands[i]);
            if (class && !class->variable) declare(e, class, (uint32_t)(class - e->classes.data));
        }
    }
}

uint32_t qn__spv_object_place(spv *e, const ir_value *pointer) {
    const spv_object *object = &e->objects.data[e->object[pointer->id] - 1];
    const spv_class *class = &e->classes.data[object->class_index];
    if (!object->address_id)
        return qn__spv_u32(
            e, (uint32_t)((object->local_arg >= 0 ? 0 : object->address - class->base) / class->step));
    uint32_t base = qn__spv_u32(e, (uint32_t) class->base), step = qn__spv_u32(e, class->step);
    uint32_t word = qn__spv_u32t(e);
    uint32_t offset = SPV_ONCE(e, SP_SPEC_CONSTANT_OP, word, SP_I_SUB, object->address_id, base);
    return SPV_ONCE(e, SP_SPEC_CONSTANT_OP, word, SP_U_DIV, offset, step);
}
