/* A kernel as an entry point: its parameters in the push constants, the queries, the guard against work-items
   past the end, and the forms of values (internal.h). The ABI is emit/gpu_abi.h. */
#include "emit/spirv/internal.h"
#include "emit/symbol.h"

/* ---- parameters ---- */

static uint32_t round_up(uint32_t value, uint32_t align) { return (value + align - 1) / align * align; }

static uint32_t place_args(spv *e) {
    const ir_function *function = e->function;
    uint32_t offset = 0;
    e->arg_offsets = QN__NEW_ARRAY(e->arena, uint32_t, function->args.len + 1);
    for (size_t i = 0; i < function->args.len; i++) {
        const ir_arg *arg = &function->args.data[i];
        if (arg->arg_kind == IR_ARG_PRINT) continue;
        e->arg_offsets[i] = offset = round_up(offset, arg->align ? arg->align : 1);
        offset += arg->size;
    }
    return offset;
}

static void add_implicit(spv *e, qn__implicit_kind kind, unsigned dim, unsigned size) {
    qn__vec_push(e->arena, &e->implicit, (qn__implicit){(uint8_t)kind, (uint8_t)size, (uint16_t)dim, 0});
}

static bool is_asked(const spv *e, ir_op query, unsigned dim) {
    return e->plan.queries >> ((query - IR_GLOBAL_ID) * 3 + dim) & 1;
}

/* The implicit arguments in use, those of 8 bytes first. */
static void collect_implicit(spv *e) {
    static const struct {
        uint8_t query, kind, size;
    } rows[] = {
        {IR_GLOBAL_ID, QN__IMPLICIT_GLOBAL_BASE, 8},
        {IR_GLOBAL_SIZE, QN__IMPLICIT_GLOBAL_SIZE, 8},
        {IR_GLOBAL_OFFSET, QN__IMPLICIT_GLOBAL_OFFSET, 8},
        {IR_GROUP_ID, QN__IMPLICIT_GROUP_BASE, 4},
        {IR_NUM_GROUPS, QN__IMPLICIT_NUM_GROUPS, 4},
        {IR_WORK_DIM, QN__IMPLICIT_WORK_DIM, 4},
        {IR_ENQUEUED_LOCAL_SIZE, QN__IMPLICIT_ENQUEUED_SIZE, 4},
    };
    const ir_function *function = e->function;
    e->implicit.data = NULL;
    e->implicit.len = e->implicit.cap = 0;
    if (e->plan.uses_constants) add_implicit(e, QN__IMPLICIT_CONSTANTS, 0, 8);
    for (size_t i = 0; i < function->args.len; i++)
        if (function->args.data[i].arg_kind == IR_ARG_PRINT) add_implicit(e, QN__IMPLICIT_PRINT, 0, 8);
    for (size_t i = 0; i < QN__COUNT(rows); i++)
        for (unsigned d = 0; d < 3; d++)
            if (is_asked(e, (ir_op)rows[i].query, d))
                add_implicit(e, (qn__implicit_kind)rows[i].kind, d, rows[i].size);
    for (unsigned d = 0; d < 3 && e->plan.guarded; d++) add_implicit(e, QN__IMPLICIT_LIMIT, d, 4);
}

static void place_block(spv *e) {
    uint32_t at = place_args(e);
    collect_implicit(e);
    for (size_t i = 0; i < e->implicit.len; i++) {
        at = round_up(at, e->implicit.data[i].size);
        e->implicit.data[i].offset = at;
        at += e->implicit.data[i].size;
    }
    e->block_size = at;
}

static void declare_block(spv *e) {
    bool direct = e->block_size <= QN__MAX_PUSH_CONSTANTS;
    uint32_t words = direct ? (e->block_size + 3) / 4 : 2;
    e->block = e->block_address = 0;
    if (!words) return;
    uint32_t array = qn__spv_block_array(e, words), before = e->next_id;
    uint32_t type = SPV_ONCE(e, SP_TYPE_STRUCT, 0, array);
    if (type >= before) {
        SPV_INTO(e, &e->annotations, SP_MEMBER_DECORATE, type, 0, SP_OFFSET, 0);
        qn__spv_decorate(e, type, SP_BLOCK);
    }
    uint32_t pointer = qn__spv_pointer(e, SP_PUSH_CONSTANT, type);
    e->block = qn__spv_id(e);
    SPV_INTO(e, &e->globals, SP_VARIABLE, pointer, e->block, SP_PUSH_CONSTANT);
    qn__vec_push(e->arena, &e->interface, e->block);
}

uint32_t qn__spv_block_word(spv *e, uint32_t index) {
    uint32_t word = qn__spv_u32t(e), pointer;
    if (e->block_address) {
        uint32_t address = qn__spv_indexed(e, e->block_address, index, false, 4);
        pointer = qn__spv_pointer_at(e, address, qn__ir_type(IR_I32, 1));
        return SPV(e, SP_LOAD, word, pointer, SP_ALIGNED, 4);
    }
    pointer = SPV(e, SP_ACCESS_CHAIN, qn__spv_pointer(e, SP_PUSH_CONSTANT, word), e->block, qn__spv_u32(e, 0),
                  index);
    return SPV(e, SP_LOAD, word, pointer);
}

uint32_t qn__spv_implicit_word(spv *e, qn__implicit_kind kind, unsigned dim, unsigned word) {
    for (size_t i = 0; i < e->implicit.len; i++) {
        const qn__implicit *implicit = &e->implicit.data[i];
        if (implicit->kind == kind && implicit->dim == dim)
            return qn__spv_block_word(e, qn__spv_u32(e, implicit->offset / 4 + word));
    }
    return qn__spv_u32(e, 0);
}

static uint32_t implicit_wide(spv *e, qn__implicit_kind kind, unsigned dim) {
    uint32_t lo = qn__spv_implicit_word(e, kind, dim, 0), hi = qn__spv_implicit_word(e, kind, dim, 1);
    return qn__spv_join(e, (spv_pair){lo, hi});
}

/* ---- queries ---- */

static uint32_t built_in(spv *e, uint32_t number, unsigned lanes) {
    uint32_t type = qn__spv_vector(e, qn__spv_u32t(e), lanes);
    uint32_t pointer = qn__spv_pointer(e, SP_INPUT, type);
    uint32_t key = 0x10000 + number, id = (uint32_t)(uintptr_t)qn__map64_get(&e->built_ins, key);
    if (!id) {
        id = qn__spv_id(e);
        SPV_INTO(e, &e->globals, SP_VARIABLE, pointer, id, SP_INPUT);
        SPV_INTO(e, &e->annotations, SP_DECORATE, id, SP_BUILT_IN, number);
        qn__map64_set(e->arena, &e->built_ins, key, (void *)(uintptr_t)id);
    }
    bool listed = false;
    for (size_t i = 0; i < e->interface.len; i++) listed |= e->interface.data[i] == id;
    if (!listed) qn__vec_push(e->arena, &e->interface, id);
    return SPV(e, SP_LOAD, type, id);
}

uint32_t qn__spv_never(spv *e) {
    uint32_t word = qn__spv_u32t(e), group = built_in(e, SP_WORKGROUP_ID, 3);
    group = qn__spv_extract(e, word, group, 0);
    return SPV(e, SP_I_EQUAL, qn__spv_bool(e), group, qn__spv_u32(e, UINT32_MAX));
}

static bool asks_any(const spv *e, ir_op query) {
    return e->plan.queries >> ((query - IR_GLOBAL_ID) * 3) & 7;
}

static uint32_t local_id(spv *e, uint32_t locals, unsigned d) {
    uint32_t word = qn__spv_u32t(e);
    if (!e->linear) return qn__spv_extract(e, word, locals, d);
    uint32_t index = qn__spv_extract(e, word, locals, 0);
    if (d > 0) index = SPV(e, SP_U_DIV, word, index, e->local_size[0]);
    if (d > 1) return SPV(e, SP_U_DIV, word, index, e->local_size[1]);
    return SPV(e, SP_U_MOD, word, index, e->local_size[d]);
}

typedef struct divergence {
    bool *forced; /* by value id */
    bool loops, barriers;
    uint32_t num_instrs;
    qn__uniformity read, group; /* with what is read taken for different; of all that is there */
    bool *together;             /* by mark */
} divergence;

/* What is read differs in lanes past the group's end, where nothing is read. */
static void visit_divergence(ir_instr *instr, void *user) {
    divergence *d = user;
    unsigned effects = qn__ir_ops[instr->op].effects;
    bool id = instr->op == IR_LOCAL_ID || instr->op == IR_GLOBAL_ID;
    d->num_instrs++;
    if (instr->op == IR_LOOP && instr->num_results) d->loops = true;
    if (instr->op == IR_BARRIER) d->barriers = true;
    if (effects < IR_EFFECT_CONTROL && instr->num_results && (effects >= IR_EFFECT_READ || id))
        d->forced[instr->results[0]->id] = true;
}

static void visit_condition(ir_instr *instr, void *user) {
    divergence *d = user;
    if (instr->op != IR_IF) return;
    const uint32_t condition = instr->operands[0]->id;
    d->together[instr->mark] = d->read.varying[condition] && !d->group.varying[condition];
}

static void visit_barrier(ir_instr *instr, void *user) {
    if (instr->op == IR_BARRIER) *(bool *)user = true;
}

static void visit_barrier_loop(ir_instr *instr, void *user) {
    bool has_barrier = false;
    if (instr->op != IR_LOOP) return;
    qn__ir_walk(instr->regions[0], visit_barrier, &has_barrier);
    if (has_barrier) qn__ir_walk(instr->regions[0], visit_condition, user);
}

static void find_divergence(spv *e) {
    divergence d = {0};
    e->divergent = e->together = NULL;
    if (!e->options->target.lacks_loop_results) return;
    d.forced = QN__NEW_ARRAY(e->arena, bool, e->function->num_values + 1);
    qn__ir_walk(e->function->body, visit_divergence, &d);
    if (d.loops || d.barriers) d.read = qn__uniformity_analyse_row(e->arena, e->function, d.forced);
    if (d.loops) e->divergent = d.read.varying_branch;
    if (!d.barriers || e->options->target.lacks_sub_groups) return;
    d.group = qn__uniformity_analyse(e->arena, e->function);
    d.together = QN__NEW_ARRAY(e->arena, bool, d.num_instrs);
    qn__ir_walk(e->function->body, visit_barrier_loop, &d);
    e->together = d.together;
}

static void number_work_items(spv *e, uint32_t *group, uint32_t *local) {
    uint32_t word = qn__spv_u32t(e), groups = 0, locals = 0;
    bool wants_numbers = e->plan.guarded || asks_any(e, IR_GLOBAL_ID);
    if (wants_numbers || asks_any(e, IR_GROUP_ID)) groups = built_in(e, SP_WORKGROUP_ID, 3);
    if (wants_numbers || asks_any(e, IR_LOCAL_ID)) locals = built_in(e, SP_LOCAL_INVOCATION_ID, 3);
    for (unsigned d = 0; d < 3; d++) {
        bool number = e->plan.guarded || is_asked(e, IR_GLOBAL_ID, d);
        group[d] = number || is_asked(e, IR_GROUP_ID, d) ? qn__spv_extract(e, word, groups, d) : 0;
        local[d] = number || is_asked(e, IR_LOCAL_ID, d) ? local_id(e, locals, d) : 0;
        if (number)
            e->in_part[d] =
                SPV(e, SP_I_ADD, word, SPV(e, SP_I_MUL, word, group[d], e->local_size[d]), local[d]);
    }
}

/* Work-items past the end leave. */
static void write_guard(spv *e) {
    uint32_t out = 0, boolean = qn__spv_bool(e);
    for (unsigned d = 0; d < 3; d++) {
        uint32_t limit = qn__spv_implicit_word(e, QN__IMPLICIT_LIMIT, d, 0);
        uint32_t past = SPV(e, SP_U_GREATER_EQUAL, boolean, e->in_part[d], limit);
        out = out ? SPV(e, SP_LOGICAL_OR, boolean, out, past) : past;
    }
    uint32_t leave = qn__spv_id(e), stay = qn__spv_id(e);
    SPV_DO(e, SP_SELECTION_MERGE, stay, 0);
    SPV_DO(e, SP_BRANCH_CONDITIONAL, out, leave, stay);
    qn__spv_begin_block(e, leave);
    qn__spv_do(e, SP_RETURN, NULL, 0);
    qn__spv_begin_block(e, stay);
}

/* The built-in size is that of a full sub-group; the last one of a group may be smaller. */
static uint32_t sub_groups(spv *e, ir_op op) {
    uint32_t t = qn__spv_u32t(e), full = built_in(e, SP_SUBGROUP_SIZE, 1);
    uint32_t items = SPV(e, SP_I_MUL, t, e->local_size[0], e->local_size[1]);
    items = SPV(e, SP_I_MUL, t, items, e->local_size[2]);
    if (op == IR_NUM_SUB_GROUPS) {
        uint32_t most = SPV(e, SP_I_SUB, t, SPV(e, SP_I_ADD, t, items, full), qn__spv_u32(e, 1));
        return SPV(e, SP_U_DIV, t, most, full);
    }
    uint32_t before = SPV(e, SP_I_MUL, t, built_in(e, SP_SUBGROUP_ID, 1), full);
    return SPV_GLSL(e, GLSL_U_MIN, t, full, SPV(e, SP_I_SUB, t, items, before));
}

static uint32_t query_word(spv *e, ir_op op, unsigned d, const uint32_t *group, const uint32_t *local) {
    switch (op) {
    case IR_LOCAL_ID: return local[d];
    case IR_GROUP_ID:
        return SPV(e, SP_I_ADD, qn__spv_u32t(e), group[d],
                   qn__spv_implicit_word(e, QN__IMPLICIT_GROUP_BASE, d, 0));
    case IR_LOCAL_SIZE: return e->local_size[d];
    case IR_ENQUEUED_LOCAL_SIZE: return qn__spv_implicit_word(e, QN__IMPLICIT_ENQUEUED_SIZE, d, 0);
    case IR_NUM_GROUPS: return qn__spv_implicit_word(e, QN__IMPLICIT_NUM_GROUPS, d, 0);
    case IR_WORK_DIM: return qn__spv_implicit_word(e, QN__IMPLICIT_WORK_DIM, 0, 0);
    case IR_MAX_SUB_GROUP_SIZE:
        return qn__spv_u32(e, e->options->target.sub_group_size ? e->options->target.sub_group_size : 32);
    default: break;
    }
    qn__spv_need(e, CAP_GROUP);
    switch (op) {
    case IR_SUB_GROUP_SIZE:
    case IR_NUM_SUB_GROUPS: return sub_groups(e, op);
    case IR_SUB_GROUP_ID: return built_in(e, SP_SUBGROUP_ID, 1);
    default: return built_in(e, SP_SUBGROUP_LOCAL_ID, 1);
    }
}

/* What queries read, at the kernel's start, where it dominates all. */
static void write_queries(spv *e) {
    uint32_t group[3], local[3];
    number_work_items(e, group, local);
    if (e->plan.guarded) write_guard(e);
    for (unsigned op = IR_GLOBAL_ID; op <= IR_SUB_GROUP_LOCAL_ID; op++) {
        for (unsigned d = 0; d < 3; d++) {
            if (!is_asked(e, (ir_op)op, d)) continue;
            uint32_t *word = &e->query[(op - IR_GLOBAL_ID) * 3 + d];
            if (op == IR_GLOBAL_ID)
                *word = implicit_wide(e, QN__IMPLICIT_GLOBAL_BASE, d);
            else if (op == IR_GLOBAL_SIZE || op == IR_GLOBAL_OFFSET)
                *word = implicit_wide(
                    e, op == IR_GLOBAL_SIZE ? QN__IMPLICIT_GLOBAL_SIZE : QN__IMPLICIT_GLOBAL_OFFSET, d);
            else
                *word = query_word(e, (ir_op)op, d, group, local);
        }
    }
}

void qn__spv_query(spv *e, const ir_instr *instr) {
    unsigned dim = instr->op < IR_WORK_DIM ? instr->attr.dim : 0;
    uint32_t id = e->query[(instr->op - IR_GLOBAL_ID) * 3 + dim];
    const ir_value *result = instr->results[0];
    spv_value *v = &e->plan.values[result->id];
    const unsigned wanted = e->plan.demand[result->id];
    if (instr->op >= IR_WORK_DIM) {
        qn__spv_define(e, result, id);
    } else if (instr->op == IR_GLOBAL_ID) {
        uint32_t word = qn__spv_u32t(e);
        if (wanted & QN__WANT_LOW) v->low = SPV(e, SP_I_ADD, word, qn__spv_half(e, id, 0), e->in_part[dim]);
        if (wanted & QN__WANT_ALL) v->id = qn__spv_wide_add(e, id, qn__spv_widen(e, e->in_part[dim], false));
    } else if (instr->op == IR_GLOBAL_SIZE || instr->op == IR_GLOBAL_OFFSET) {
        if (wanted) qn__spv_define(e, result, id);
    } else {
        v->low = id;
        if (wanted & QN__WANT_ALL) v->id = qn__spv_widen(e, id, false);
    }
}

/* ---- values ---- */

static uint64_t made_of(uint32_t from, uint32_t key) { return (uint64_t)from << 32 | key; }

static unsigned bucket_of(uint64_t made_of) {
    return (unsigned)((made_of >> 32) + made_of * 31) % SPV_BUCKETS;
}

uint32_t qn__spv_chain(const spv *e, uint32_t from, uint32_t key) {
    enum { NEWEST = 128 };
    const uint64_t wanted = made_of(from, key);
    const size_t first = e->chains.len > NEWEST ? e->chains.len - NEWEST : 0;
    for (uint32_t at = e->newest[bucket_of(wanted)]; at > first; at = e->chains.data[at - 1].before)
        if (e->chains.data[at - 1].made_of == wanted) return e->chains.data[at - 1].id;
    return 0;
}

void qn__spv_note(spv *e, uint32_t from, uint32_t key, uint32_t id) {
    uint32_t *newest = &e->newest[bucket_of(made_of(from, key))];
    qn__vec_push(e->arena, &e->chains, (spv_chain){made_of(from, key), id, *newest});
    *newest = (uint32_t)e->chains.len;
}

void qn__spv_forget(spv *e, size_t kept) {
    while (e->chains.len > kept) {
        const spv_chain *chain = &qn__vec_pop(&e->chains);
        e->newest[bucket_of(chain->made_of)] = chain->before;
    }
}

uint32_t qn__spv_value_type(spv *e, const ir_value *value) { return qn__spv_type(e, value->type); }

uint32_t qn__spv_bits(spv *e, ir_type type, uint64_t bits) {
    if (type.kind == IR_PTR) return qn__spv_u64(e, bits);
    if (!qn__ir_is_float(type) || qn__spv_is_held(e, type.kind)) return qn__spv_int(e, type, bits);
    uint32_t words[] = {(uint32_t)bits, (uint32_t)(bits >> 32)};
    return qn__spv_intern(e, SP_CONSTANT, qn__spv_type(e, type), words, type.kind == IR_F64 ? 2 : 1);
}

static uint32_t constant(spv *e, const ir_value *value) {
    uint32_t parts[16];
    for (unsigned i = 0; i < value->type.lanes; i++)
        parts[i] = qn__spv_bits(e, qn__ir_element(value->type), value->bits[i]);
    if (value->type.lanes == 1) return parts[0];
    return qn__spv_intern(e, SP_CONSTANT_COMPOSITE, qn__spv_type(e, value->type), parts, value->type.lanes);
}

uint32_t qn__spv_first_use(spv *e, const ir_value *value) {
    spv_value *v = &e->plan.values[value->id];
    if (qn__spv_is_place(value->type)) return qn__spv_low(e, value);
    if (qn__ir_is_const(value)) return v->id = constant(e, value);
    if (qn__spv_is_held(e, value->type.kind) && value->value_kind == IR_VALUE_UNDEF)
        return v->id = qn__spv_int(e, value->type, 0); /* zeros above */
    if (value->value_kind == IR_VALUE_UNDEF) return v->id = qn__spv_undef(e, qn__spv_type(e, value->type));
    return qn__spv_undef(e, qn__spv_type(e, value->type)); /* never executed */
}

uint32_t qn__spv_use_as(spv *e, const ir_value *value, const ir_value *like) {
    if (qn__spv_is_place(value->type) && qn__ir_is_const(value))
        return qn__spv_place(e, like, qn__spv_u32(e, (uint32_t)value->bits[0]));
    return qn__spv_use(e, value);
}

uint32_t qn__spv_low(spv *e, const ir_value *value) {
    spv_value *v = &e->plan.values[value->id];
    if (v->low) return v->low;
    if (qn__ir_is_const(value)) return qn__spv_u32(e, (uint32_t)value->bits[0]);
    if (value->type.kind != IR_I64 || !v->id) return qn__spv_undef(e, qn__spv_u32t(e));
    return qn__spv_half(e, v->id, 0);
}

void qn__spv_define(spv *e, const ir_value *value, uint32_t id) {
    spv_value *v = &e->plan.values[value->id];
    if (qn__spv_is_place(value->type)) {
        v->low = id;
        return;
    }
    v->id = id;
    if (e->plan.demand[value->id] & QN__WANT_LOW) v->low = qn__spv_half(e, id, 0);
}

void qn__spv_line(spv *e, ir_loc loc) {
    bool same = e->loc.line == loc.line && e->loc.file == loc.file;
    e->loc = loc;
    if (same || !e->options->debug || !loc.line || loc.file >= e->module->files.len) return;
    SPV_DO(e, SP_LINE, e->line_files[loc.file], loc.line, loc.column);
}

/* ---- the kernel ---- */

static void define_args(spv *e) {
    const ir_function *function = e->function;
    for (size_t i = 0; i < function->args.len; i++) {
        const ir_arg *arg = &function->args.data[i];
        const ir_value *value = arg->value;
        spv_value *v = &e->plan.values[value->id];
        uint32_t at = qn__spv_u32(e, e->arg_offsets[i]);
        switch (arg->arg_kind) {
        case IR_ARG_STRUCT: v->low = at; break;
        case IR_ARG_LOCAL: v->low = qn__spv_object_place(e, value); break;
        case IR_ARG_PRINT: qn__spv_define(e, value, implicit_wide(e, QN__IMPLICIT_PRINT, 0)); break;
        default:
            if (e->uses[value->id] && !qn__spv_is_long(e, value->type))
                qn__spv_define(e, value, qn__spv_param(e, value->type, at, arg->align ? arg->align : 1));
        }
    }
}

uint32_t qn__spv_arg_lane(spv *e, const ir_value *arg, unsigned lane) {
    ir_type type = qn__ir_element(arg->type);
    uint32_t at = e->arg_offsets[arg->index] + lane * qn__ir_bits(type) / 8;
    return qn__spv_param(e, type, qn__spv_u32(e, at), qn__ir_bits(type) / 8);
}

static void find_block(spv *e) {
    if (e->block_size <= QN__MAX_PUSH_CONSTANTS) return;
    uint32_t lo = qn__spv_block_word(e, qn__spv_u32(e, 0)), hi = qn__spv_block_word(e, qn__spv_u32(e, 1));
    e->block_address = qn__spv_join(e, (spv_pair){lo, hi});
}

/* What floats are like, for each width that is computed with, as far as the device can promise it. That 32 bits round
   to nearest goes without saying; saying it makes drivers divide and take roots the exact, slow way. */
static void declare_float_modes(spv *e, uint32_t function_id) {
    const qn__target *target = &e->options->target;
    const struct {
        bool promised;
        spv_cap cap;
        uint32_t mode, widths;
    } rows[] = {
        {!target->lacks_float_controls, CAP_FLOAT_CONTROLS, SP_SIGNED_ZERO_INF_NAN_PRESERVE, 16 | 32 | 64},
        {target->has_denormals, CAP_DENORM_PRESERVE, SP_DENORM_PRESERVE, 16 | 32 | 64},
        {target->has_nearest, CAP_ROUNDING_RTE, SP_ROUNDING_MODE_RTE, 16 | 64},
    };
    for (unsigned i = 0; i < 3; i++) {
        if (!((e->kinds & ~e->held) >> (IR_F16 + i) & 1)) continue;
        for (size_t r = 0; r < QN__COUNT(rows); r++) {
            if (!rows[r].promised || !(rows[r].widths & 16u << i)) continue;
            qn__spv_need(e, rows[r].cap);
            SPV_INTO(e, &e->modes, SP_EXECUTION_MODE, function_id, rows[r].mode, 16u << i);
        }
    }
}

static void finish_entry(spv *e, uint32_t function_id) {
    const ir_function *function = e->function;
    const uint32_t head[] = {SP_MODEL_COMPUTE, function_id};
    qn__spv_text(e, &e->entries, SP_ENTRY_POINT, head, 2, qn__symbol_of(e->arena, function->name),
                 e->interface.data, (unsigned)e->interface.len);
    uint32_t size[3];
    for (unsigned d = 0; d < 3; d++) size[d] = function->reqd_local[d] ? function->reqd_local[d] : 1;
    if (e->linear) size[0] *= size[1] * size[2], size[1] = size[2] = 1;
    SPV_INTO(e, &e->modes, SP_EXECUTION_MODE, function_id, SP_LOCAL_SIZE, size[0], size[1], size[2]);
    declare_float_modes(e, function_id);
    if (e->options->debug) qn__spv_text(e, &e->names, SP_NAME, &function_id, 1, function->name, NULL, 0);
}

static void write_function(spv *e) {
    uint32_t nothing = qn__spv_void(e);
    uint32_t type = SPV_ONCE(e, SP_TYPE_FUNCTION, 0, nothing), id = qn__spv_id(e), start = qn__spv_id(e);
    e->label = start;
    SPV_DO(e, SP_FUNCTION, nothing, id, SP_FUNCTION_CONTROL_NONE, type);
    SPV_DO(e, SP_LABEL, start);
    qn__spv_class_variables(e);
    find_block(e);
    write_queries(e);
    find_divergence(e);
    define_args(e);
    qn__spv_region(e, e->function->body);
    qn__spv_do(e, SP_FUNCTION_END, NULL, 0);
    finish_entry(e, id);
}

void qn__spv_kernel(spv *e, ir_function *function) {
    e->function = function;
    e->interface.len = 0;
    qn__spv_forget(e, 0);
    e->jumps = NULL;
    e->kinds = 0;
    e->loc = function->loc;
    e->uses = qn__ir_count_uses(e->arena, function);
    e->read_only = e->plan.shares_buffers ? qn__find_read_only(e->arena, function) : NULL;
    for (unsigned d = 0; d < 3; d++) e->in_part[d] = 0;
    place_block(e);
    qn__spv_classes(e);
    declare_block(e);
    write_function(e);
    uint64_t local = 0;
    for (size_t i = 0; i < e->classes.len; i++)
        if (e->classes.data[i].space == IR_LOCAL_SPACE && e->classes.data[i].variable &&
            e->classes.data[i].local_arg < 0)
            local += (e->classes.data[i].size + 15) / 16 * 16;
    qn__kernel_info *kernel = qn__describe_kernel(e->arena, &e->result->info, function);
    kernel->symbol = qn__symbol_of(e->arena, function->name);
    kernel->static_local = local;
    kernel->uses_sync = e->plan.uses_sync;
    kernel->guarded = e->plan.guarded;
    kernel->params_size = e->block_size;
    kernel->implicit = e->implicit.data;
    kernel->num_implicit = (uint32_t)e->implicit.len;
    kernel->local_units = e->local_units;
    kernel->num_local_units = e->num_local_args;
    for (size_t i = 0; i < function->args.len; i++)
        kernel->uses_printf |= function->args.data[i].arg_kind == IR_ARG_PRINT;
}
