/* Built-in functions of memory that others see, and of work-items together: atomics, barriers, sub-groups. Atomics are relaxed
   (WGSL section 17.8). */
#include "wgsl/internal.h"
#include "wgsl/special.h"

static const wgsl_value failed = {.form = WGSL_FORM_ERROR};
static const wgsl_value nothing = {.form = WGSL_FORM_NONE};

/* ---- atomics ---- */

static ir_instr *atomic_instr(wgsl_lower *w, ir_op op, const wgsl_value *place, ir_value *const *operands,
                              unsigned count, bool has_result) {
    const ir_type word = qn__ir_type(IR_I32, 1);
    ir_instr *made = qn__ir_emit(&w->b, op, operands, count, &word, has_result);
    made->attr.align = 4;
    made->attr.order = IR_RELAXED;
    made->attr.scope = place->place.space == WGSL_WORKGROUP ? IR_SCOPE_WORK_GROUP : IR_SCOPE_DEVICE;
    return made;
}

static unsigned combine_of(unsigned combine, const wgsl_type *type) {
    if (qn__wf_is_float(type))
        return combine == IR_COMBINE_ADD    ? IR_COMBINE_FADD
               : combine == IR_COMBINE_MUL  ? IR_COMBINE_FMUL
               : combine == IR_COMBINE_SMIN ? IR_COMBINE_FMIN
                                            : IR_COMBINE_FMAX;
    if (type->kind != WGSL_U32) return combine;
    return combine == IR_COMBINE_SMIN   ? IR_COMBINE_UMIN
           : combine == IR_COMBINE_SMAX ? IR_COMBINE_UMAX
                                        : combine;
}

/* Old value, and whether it was exchanged. */
static wgsl_value compare_exchange(wgsl_lower *w, const wgsl_value *place, const wgsl_type *type,
                                   ir_value *pointer, const wgsl_value *args) {
    static const char *const names[] = {"old_value", "exchanged"};
    const wgsl_type *const types[] = {type, w->scalars[WGSL_BOOL]};
    ir_value *operands[] = {pointer, qn__wf_ir(w, &args[1]), qn__wf_ir(w, &args[2])};
    ir_instr *made = atomic_instr(w, IR_ATOMIC_CAS, place, operands, 3, true);
    made->attr.order_fail = IR_RELAXED;
    const wgsl_value parts[] = {
        qn__wf_of_ir(type, made->results[0]),
        qn__wf_of_ir(types[1], qn__ir_op2(&w->b, IR_EQ, made->results[0], operands[1]))};
    return qn__wf_of_parts(w, qn__wf_result_struct(w, "__atomic_compare_exchange_result", names, types, 2),
                           parts, 2);
}

wgsl_value qn__wf_atomic(wgsl_lower *w, const wgsl_builtin *row, wgsl_value *args, unsigned count,
                         const wgsl_expr *e) {
    const wgsl_value *place = &args[0];
    if (place->type->kind != WGSL_ATOMIC)
        return qn__wf_error(w, e->args.data[0]->loc, "'%s' takes a pointer to an atomic, not to '%s'",
                            row->name, qn__wf_type_name(w, place->type));
    if (place->place.access != WGSL_READ_WRITE)
        return qn__wf_error(w, e->args.data[0]->loc, "the atomic is in memory that is only read");
    const wgsl_type *type = place->type->element;
    for (unsigned i = 1; i < count; i++) {
        args[i] = qn__wf_convert(w, args[i], type, e->args.data[i]->loc,
                                 qn__arena_printf(w->arena, "an argument of '%s'", row->name));
        if (qn__wf_is_error(&args[i])) return failed;
    }
    qn__wf_note_use(w, &place->place, row->variant != ATOMIC_LOAD);
    ir_value *operands[] = {place->place.pointer, count > 1 ? qn__wf_ir(w, &args[1]) : NULL};
    switch (row->variant) {
    case ATOMIC_LOAD:
        return qn__wf_of_ir(type, atomic_instr(w, IR_ATOMIC_LOAD, place, operands, 1, true)->results[0]);
    case ATOMIC_STORE: atomic_instr(w, IR_ATOMIC_STORE, place, operands, 2, false); return nothing;
    case ATOMIC_COMPARE: return compare_exchange(w, place, type, operands[0], args);
    default: break;
    }
    ir_instr *made = atomic_instr(w, IR_ATOMIC_RMW, place, operands, 2, true);
    made->attr.combine = (uint8_t)combine_of(row->variant, type);
    return qn__wf_of_ir(type, made->results[0]);
}

wgsl_value qn__wf_array_length(wgsl_lower *w, const wgsl_builtin *row, wgsl_value *args, unsigned count,
                               const wgsl_expr *e) {
    (void)row, (void)count;
    const wgsl_value *place = &args[0];
    if (place->type->kind != WGSL_ARRAY || place->type->length)
        return qn__wf_error(w, e->loc,
                            "arrayLength takes a pointer to an array without a length, not to '%s'",
                            qn__wf_type_name(w, place->type));
    if (!place->place.binding)
        return qn__wf_of_ir(w->scalars[WGSL_U32], qn__ir_const_int(w->b.function, IR_I32, 1));
    qn__wf_runtime_length(w, place->place.binding);
    return qn__wf_of_ir(w->scalars[WGSL_U32], place->place.binding->length);
}

/* ---- barriers ---- */

/* Told of where the entry point does it, or calls a function for it. */
void qn__wf_gather_note(wgsl_lower *w, const ir_instr *instr, const char *name, bool is_of_sub_group,
                        int operand) {
    wgsl_gathering note = {.instr = instr,
                           .loc = w->loc,
                           .name = name,
                           .is_of_sub_group = is_of_sub_group,
                           .wants_value = operand >= 0,
                           .operand = (uint8_t)(operand >= 0 ? operand : 0),
                           .severity =
                               is_of_sub_group ? w->sub_group_severity : (uint8_t)WGSL_SEVERITY_ERROR};
    const wgsl_call *outer = w->call;
    while (outer && outer->outer && !outer->outer->is_kernel) outer = outer->outer;
    if (outer && outer->decl && !outer->is_kernel) {
        note.inner = name;
        note.inner_loc = w->loc;
        note.loc = outer->loc;
        note.name = qn__arena_strndup(w->arena, outer->decl->name.data, outer->decl->name.len);
    }
    qn__vec_push(w->arena, &w->gatherings, note);
}

static bool only_in_entry(wgsl_lower *w, const char *name, const wgsl_expr *e) {
    if (w->b.region != w->scratch->body) return true;
    qn__wf_error(w, e->loc, "'%s' is no constant", name);
    return false;
}

static void barrier(wgsl_lower *w, unsigned fence, const char *name) {
    qn__wf_gather_note(w, qn__ir_barrier(&w->b, fence, IR_SCOPE_WORK_GROUP), name, false, -1);
}

wgsl_value qn__wf_barrier(wgsl_lower *w, const wgsl_builtin *row, wgsl_value *args, unsigned count,
                          const wgsl_expr *e) {
    (void)args, (void)count;
    if (!only_in_entry(w, row->name, e)) return failed;
    barrier(w, row->variant, row->name);
    return nothing;
}

/* Loads between two barriers: all get what lies there, and the same. */
wgsl_value qn__wf_uniform_load(wgsl_lower *w, const wgsl_builtin *row, wgsl_value *args, unsigned count,
                               const wgsl_expr *e) {
    (void)count;
    wgsl_value place = args[0];
    if (place.place.space != WGSL_WORKGROUP)
        return qn__wf_error(w, e->loc, "workgroupUniformLoad takes a pointer to workgroup memory");
    if (place.type->has_atomic && place.type->kind != WGSL_ATOMIC)
        return qn__wf_error(w, e->loc, "workgroupUniformLoad takes no pointer to '%s', which holds atomics",
                            qn__wf_type_name(w, place.type));
    barrier(w, IR_FENCE_LOCAL, row->name);
    const ir_instr *before = w->b.region->last;
    wgsl_value v;
    if (place.type->kind == WGSL_ATOMIC) {
        v = qn__wf_of_ir(place.type->element,
                         atomic_instr(w, IR_ATOMIC_LOAD, &place, &place.place.pointer, 1, true)->results[0]);
    } else {
        place.form = WGSL_FORM_PLACE;
        v = qn__wf_load(w, place);
    }
    for (ir_instr *i = before->next; i; i = i->next) {
        if (i->op != IR_LOAD && i->op != IR_ATOMIC_LOAD) continue;
        i->mark = WGSL_MARK_UNIFORM;
        qn__wf_gather_note(w, i, row->name, false, 0);
    }
    barrier(w, IR_FENCE_LOCAL, row->name);
    return v;
}

/* ---- sub-groups ---- */

static ir_value *sub_group_op(wgsl_lower *w, const char *name, ir_op op, ir_value *const *operands,
                              unsigned count, ir_type type) {
    ir_instr *made = qn__ir_emit(&w->b, op, operands, count, &type, 1);
    made->attr.scope = IR_SCOPE_SUB_GROUP;
    const bool may_diverge = w->sub_group_severity != WGSL_SEVERITY_ERROR || op == IR_SUB_GROUP_SHUFFLE ||
                             op == IR_SUB_GROUP_BALLOT;
    if (may_diverge && op != IR_GROUP_BROADCAST) made->flags |= IR_ACTIVE;
    qn__wf_gather_note(w, made, name, true, -1);
    return made->results[0];
}

static ir_value *word(wgsl_lower *w, int64_t value) { return qn__ir_const_int(w->b.function, IR_I32, value); }
static ir_value *own_id(wgsl_lower *w) { return qn__ir_query(&w->b, IR_SUB_GROUP_LOCAL_ID, 0); }

/* Sums, scans: of scalars, so lane by lane. */
static wgsl_value joined(wgsl_lower *w, const wgsl_builtin *row, const wgsl_value *v) {
    const unsigned family = row->variant / SUB_GROUP_FAMILY * SUB_GROUP_FAMILY;
    const unsigned combine = combine_of(row->variant % SUB_GROUP_FAMILY, qn__wf_scalar_of(v->type));
    const unsigned lanes = qn__wf_lanes(v->type);
    wgsl_value made[4];
    for (unsigned i = 0; i < lanes; i++) {
        const wgsl_value lane = qn__wf_lane(w, v, i);
        ir_value *operand = qn__wf_ir(w, &lane);
        ir_value *result =
            sub_group_op(w, row->name, family == SUB_GROUP_REDUCE ? IR_GROUP_REDUCE : IR_GROUP_SCAN, &operand,
                         1, operand->type);
        result->def->attr.combine = (uint8_t)combine;
        if (family == SUB_GROUP_EXCLUSIVE) result->def->flags |= IR_EXCLUSIVE;
        made[i] = qn__wf_of_ir(lane.type, result);
    }
    return qn__wf_gather(w, v->type, made);
}

static wgsl_value shuffled(wgsl_lower *w, const char *name, const wgsl_value *v, ir_value *source) {
    ir_value *operands[] = {qn__wf_ir(w, v), source};
    return qn__wf_of_ir(v->type, sub_group_op(w, name, IR_SUB_GROUP_SHUFFLE, operands, 2, operands[0]->type));
}

/* The least id of those that are here. */
static ir_value *first_here(wgsl_lower *w, const char *name) {
    if (w->sub_group_severity == WGSL_SEVERITY_ERROR) return word(w, 0);
    ir_value *here = qn__ir_const_bool(w->b.function, true);
    ir_value *ballot = sub_group_op(w, name, IR_SUB_GROUP_BALLOT, &here, 1, qn__ir_type(IR_I32, 4));
    ir_value *first = word(w, 0);
    for (unsigned i = 4; i-- > 0;) {
        ir_value *bits = qn__ir_extract(&w->b, ballot, i);
        ir_value *at = qn__ir_op2(&w->b, IR_ADD, qn__ir_op1(&w->b, IR_CTZ, bits), word(w, 32 * (int64_t)i));
        first = qn__ir_select(&w->b, qn__ir_op2(&w->b, IR_NE, bits, word(w, 0)), at, first);
    }
    return first;
}

/* The argument that has to be a constant: which work-item speaks. */
static ir_value *speaker(wgsl_lower *w, wgsl_value *args, const wgsl_expr *e, int64_t limit) {
    wgsl_value v = qn__wf_concrete(w, args[1], e->args.data[1]->loc);
    if (qn__wf_is_error(&v)) return NULL;
    const bool is_int = v.form == WGSL_FORM_VALUE && qn__wf_is_int(v.type);
    if (!is_int || !v.bits || v.stage != WGSL_STAGE_CONST || (int64_t)(int32_t)v.bits[0] < 0 ||
        (int64_t)v.bits[0] >= limit) {
        qn__wf_error(w, e->args.data[1]->loc, "the id must be a constant from 0 to %lld",
                     (long long)limit - 1);
        return NULL;
    }
    return qn__wf_ir(w, &v);
}

static wgsl_value quad(wgsl_lower *w, const wgsl_builtin *row, wgsl_value *args, const wgsl_expr *e) {
    const unsigned change = row->variant % SUB_GROUP_FAMILY;
    if (change)
        return shuffled(w, row->name, &args[0], qn__ir_op2(&w->b, IR_XOR, own_id(w), word(w, change)));
    ir_value *which = speaker(w, args, e, 4);
    if (!which) return failed;
    ir_value *base = qn__ir_op2(&w->b, IR_AND, own_id(w), word(w, ~3));
    return shuffled(w, row->name, &args[0], qn__ir_op2(&w->b, IR_OR, base, which));
}

static wgsl_value shuffle(wgsl_lower *w, const wgsl_builtin *row, wgsl_value *args) {
    static const uint16_t ops[] = {IR_ADD, IR_XOR, IR_SUB, IR_ADD};
    const unsigned kind = row->variant % SUB_GROUP_FAMILY;
    ir_value *given = qn__wf_ir(w, &args[1]);
    if (kind) {
        given = qn__ir_op2(&w->b, (ir_op)ops[kind], own_id(w), given);
        qn__wf_gather_note(w, given->def, row->name, true, 1);
    }
    return shuffled(w, row->name, &args[0], given);
}

static wgsl_value single(wgsl_lower *w, const wgsl_builtin *row, wgsl_value *args, const wgsl_expr *e) {
    ir_value *operands[2];
    switch (row->variant) {
    case SUB_GROUP_BALLOT:
        operands[0] = qn__wf_ir(w, &args[0]);
        return qn__wf_of_ir(
            qn__wf_vector(w, w->scalars[WGSL_U32], 4),
            sub_group_op(w, row->name, IR_SUB_GROUP_BALLOT, operands, 1, qn__ir_type(IR_I32, 4)));
    case SUB_GROUP_ELECT:
        operands[0] = first_here(w, row->name);
        return qn__wf_of_ir(w->scalars[WGSL_BOOL], qn__ir_op2(&w->b, IR_EQ, own_id(w), operands[0]));
    default: break;
    }
    operands[1] = row->variant == SUB_GROUP_FIRST ? first_here(w, row->name) : speaker(w, args, e, 128);
    if (!operands[1]) return failed;
    if (w->sub_group_severity != WGSL_SEVERITY_ERROR) return shuffled(w, row->name, &args[0], operands[1]);
    operands[0] = qn__wf_ir(w, &args[0]);
    return qn__wf_of_ir(args[0].type,
                        sub_group_op(w, row->name, IR_GROUP_BROADCAST, operands, 2, operands[0]->type));
}

wgsl_value qn__wf_sub_group(wgsl_lower *w, const wgsl_builtin *row, wgsl_value *args, unsigned count,
                            const wgsl_expr *e) {
    if (!w->source->enables_subgroups) {
        const wgsl_value error = qn__wf_error(w, e->loc, "'%s' needs the extension subgroups", row->name);
        qn__wf_hint(w, "begin the module with 'enable subgroups;'");
        return error;
    }
    if (!only_in_entry(w, row->name, e)) return failed;
    if (count) args[0] = qn__wf_concrete(w, args[0], e->args.data[0]->loc);
    if (count && qn__wf_is_error(&args[0])) return failed;
    if (row->variant >= SUB_GROUP_VOTE) {
        ir_value *v = qn__wf_ir(w, &args[0]);
        return qn__wf_of_ir(
            args[0].type, sub_group_op(w, row->name, (ir_op)(row->variant - SUB_GROUP_VOTE), &v, 1, v->type));
    }
    if (row->variant >= SUB_GROUP_QUAD) return quad(w, row, args, e);
    if (row->variant >= SUB_GROUP_SHUFFLE) return shuffle(w, row, args);
    if (row->variant >= SUB_GROUP_BALLOT) return single(w, row, args, e);
    return joined(w, row, &args[0]);
}
