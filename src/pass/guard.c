/* Safe kernels: no access leaves the memory that the kernel was given or has. One that would reads zero, or is dropped, and is
   noted in the faults that the last parameter points to (util/faults.h):

       %v = load %x + %at    ->   %v = if ult %at, %room { yield load %x + %at } else { note it; yield 0 }

   %room is one more than the last byte at which the access may begin: a constant of private, local and constant objects, else
   made of the parameter's size, which is one more argument. A pointer that may be into one of several pieces of memory is
   compared with each of them; what it may be into, points_to.c finds.

   An access whose address is not known to be aligned as its type asks is looked at likewise: some devices are lost by it.

   Of a kernel two are made where that helps: the kernel, in which accesses that the limits (ir/limits.h) bound are left as they
   are, and a checked one, behind all others, which is launched where the limits do not hold. */
#include "pass/guard.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "ir/matrix.h"
#include "util/faults.h"

enum { MOST_CANDIDATES = 32 };

/* How far into a parameter's memory an access of so many bytes may begin, plus one. */
typedef struct room {
    int32_t param;
    uint64_t bytes;
    ir_value *value;
} room;

typedef struct guard {
    qn__pass_context *context;
    ir_module *module;
    ir_function *kernel;
    const char *name; /* in the source */
    ir_builder b;
    qn__rewrite rewrite;
    qn__points_to sets;
    uint32_t num_params;  /* those of the source, and the state */
    const uint8_t *zeros; /* low bits that addresses are known to have */
    uint32_t num_zeros;   /* by value id below */
    QN__VEC(room) rooms;  /* at the body's begin */
    ir_value *faults;
    qn__quiet_loops quiet;
    ir_value *seen; /* in a quiet loop: its variable, else NULL */
    unsigned least; /* verdicts below get a guard */
    bool changed;
} guard;

static const ir_type word_type = {.kind = IR_I32, .lanes = 1}, wide_type = {.kind = IR_I64, .lanes = 1};

/* ---- memory ---- */

static qn__memory memory_of(const ir_value *root, const char *name, int32_t param, uint64_t size) {
    return (qn__memory){.root = root, .name = name, .param = param, .size = size};
}

qn__memory qn__memory_at(const ir_function *kernel, const ir_value *pointer) {
    const qn__memory nowhere = {.root = NULL, .param = -1};
    if (pointer->value_kind == IR_VALUE_ARG) {
        const ir_arg *arg = &kernel->args.data[pointer->index];
        const bool is_told = arg->arg_kind == IR_ARG_BUFFER || arg->arg_kind == IR_ARG_LOCAL;
        if (is_told) return memory_of(pointer, arg->name, (int32_t)pointer->index, 0);
        return arg->arg_kind == IR_ARG_STRUCT ? memory_of(pointer, arg->name, -1, arg->size) : nowhere;
    }
    if (pointer->value_kind != IR_VALUE_RESULT) return nowhere;
    const ir_instr *def = pointer->def;
    if (def->op == IR_VAR) return memory_of(pointer, def->attr.var->name, -1, def->attr.var->size);
    if (def->op == IR_LOCAL) {
        const ir_local *local = &kernel->locals.data[def->attr.index];
        return memory_of(pointer, local->name, -1, local->size);
    }
    if (def->op != IR_GLOBAL) return nowhere;
    const ir_global *global = &kernel->module->globals.data[def->attr.index];
    return memory_of(pointer, global->name, -1, global->size);
}

qn__memory qn__memory_of(const ir_function *kernel, const ir_value *pointer) {
    while (qn__defined_by(pointer, IR_PTR_ADD)) pointer = pointer->def->operands[0];
    return qn__memory_at(kernel, pointer);
}

/* Bytes that a value takes there; a 3-vector has three lanes. */
static uint64_t size_of(ir_type type) { return (uint64_t)qn__ir_bits(type) / 8 * type.lanes; }

/* Notes of faults stay as they are. */
static bool is_note(const ir_instr *i) {
    const ir_value *to = i->num_operands ? i->operands[0] : NULL;
    return to && to->value_kind == IR_VALUE_ARG &&
           i->parent->function->args.data[to->index].flags & IR_ARG_FAULTS;
}

/* Atomics have it of their size, whatever their type's is. */
static uint32_t align_of(const ir_instr *i) {
    switch (i->op) {
    case IR_ATOMIC_LOAD: return (uint32_t)size_of(i->results[0]->type);
    case IR_ATOMIC_STORE:
    case IR_ATOMIC_RMW:
    case IR_ATOMIC_CAS: return (uint32_t)size_of(i->operands[1]->type);
    case IR_COPY:
    case IR_LOAD:
    case IR_STORE: break;
    default: return 1;
    }
    uint32_t align = i->attr.align;
    if (!align)
        align = i->op == IR_COPY
                    ? 1
                    : qn__ir_memory_size(i->op == IR_LOAD ? i->results[0]->type : i->operands[1]->type);
    return align < QN__BEGIN_ALIGN ? align : QN__BEGIN_ALIGN;
}

unsigned qn__accesses_of(const ir_instr *i, qn__access accesses[QN__MOST_ACCESSES]) {
    if (is_note(i)) return 0;
    switch (i->op) {
    case IR_LOAD:
    case IR_ATOMIC_LOAD:
        accesses[0] =
            (qn__access){i->operands[0], i->attr.offset, size_of(i->results[0]->type), false, align_of(i)};
        return 1;
    case IR_STORE:
    case IR_ATOMIC_STORE:
    case IR_ATOMIC_RMW:
    case IR_ATOMIC_CAS:
        accesses[0] =
            (qn__access){i->operands[0], i->attr.offset, size_of(i->operands[1]->type), true, align_of(i)};
        return 1;
    case IR_COPY:
        accesses[0] = (qn__access){i->operands[0], 0, i->attr.size, true, align_of(i)};
        accesses[1] = (qn__access){i->operands[1], 0, i->attr.size, false, align_of(i)};
        return 2;
    case IR_MATRIX_LOAD:
    case IR_MATRIX_STORE:
        accesses[0] = (qn__access){i->operands[1], 0, 0, i->op == IR_MATRIX_STORE, 1};
        return 1;
    default: return 0;
    }
}

/* ---- building ---- */

static ir_value *op2(guard *g, ir_op op, ir_value *a, ir_value *b) { return qn__ir_op2(&g->b, op, a, b); }
static ir_value *wide(guard *g, uint64_t value) {
    return qn__ir_const_int(g->kernel, IR_I64, (int64_t)value);
}

static ir_value *with(guard *g, ir_op op, ir_value *a, uint64_t b) { return op2(g, op, a, wide(g, b)); }

/* Stands behind the variables. */
static ir_builder at_begin(ir_function *kernel) {
    ir_instr *first = kernel->body->first;
    while (first->op == IR_VAR) first = first->next;
    ir_builder b = {.function = kernel};
    qn__ir_at(&b, first);
    return b;
}

static ir_value *extent_of(const guard *g, uint32_t param) {
    for (size_t i = g->num_params; i < g->kernel->args.len; i++)
        if (g->kernel->args.data[i].extent_of == param + 1) return g->kernel->args.data[i].value;
    return NULL;
}

/* 0 where the memory has fewer bytes. */
static ir_value *room_in_param(guard *g, int32_t param, uint64_t bytes) {
    for (size_t i = 0; i < g->rooms.len; i++)
        if (g->rooms.data[i].param == param && g->rooms.data[i].bytes == bytes) return g->rooms.data[i].value;
    const ir_builder here = g->b;
    g->b = at_begin(g->kernel);
    ir_value *size = extent_of(g, (uint32_t)param);
    ir_value *most = qn__ir_op2(&g->b, IR_UMAX, size, wide(g, bytes - 1));
    ir_value *value = with(g, IR_SUB, most, bytes - 1);
    g->b = here;
    qn__vec_push(g->context->scratch, &g->rooms, ((room){param, bytes, value}));
    return value;
}

static ir_value *room_in(guard *g, const qn__memory *memory, uint64_t bytes) {
    if (memory->param >= 0) return room_in_param(g, memory->param, bytes);
    return wide(g, bytes > memory->size ? 0 : memory->size - bytes + 1);
}

static ir_value *size_in(guard *g, const qn__memory *memory) {
    return memory->param >= 0 ? extent_of(g, (uint32_t)memory->param) : wide(g, memory->size);
}

/* ---- where a pointer may be ---- */

/* How far behind the begin of its memory it is, where that is seen. */
static ir_value *distance(guard *g, const ir_value *pointer, int64_t offset) {
    ir_value *total = NULL;
    for (; qn__defined_by(pointer, IR_PTR_ADD); pointer = pointer->def->operands[0]) {
        ir_value *bytes = qn__rewrite_get(pointer->def->operands[1]);
        total = total ? op2(g, IR_ADD, total, bytes) : bytes;
        offset += pointer->def->attr.offset;
    }
    if (!total) return wide(g, (uint64_t)offset);
    return offset ? with(g, IR_ADD, total, (uint64_t)offset) : total;
}

typedef struct candidates {
    qn__memory list[MOST_CANDIDATES];
    unsigned count;
    bool too_many;
} candidates;

static void add_candidate(candidates *c, qn__memory memory) {
    if (c->count == MOST_CANDIDATES)
        c->too_many = true;
    else
        c->list[c->count++] = memory;
}

static void consider(guard *g, candidates *c, const ir_value *pointer, const ir_value *begin) {
    const qn__memory memory = qn__memory_at(g->kernel, begin);
    if (!memory.root || begin->type.space != pointer->type.space || begin->id >= g->sets.num_values) return;
    if (qn__points_to_root(&g->sets, begin->id) == qn__points_to_root(&g->sets, pointer->id))
        add_candidate(c, memory);
}

typedef struct considering {
    guard *g;
    candidates *c;
    const ir_value *pointer;
} considering;

static void consider_begin(ir_instr *i, void *user) {
    const considering *s = user;
    if (i->op == IR_VAR || i->op == IR_LOCAL || i->op == IR_GLOBAL)
        consider(s->g, s->c, s->pointer, i->results[0]);
}

/* The constant objects whose addresses stand in others. */
static void add_kept(guard *g, candidates *c) {
    const ir_module *module = g->module;
    for (uint32_t n = 0; n < module->globals.len; n++) {
        bool is_kept = false;
        for (size_t k = 0; k < module->globals.len; k++)
            for (size_t r = 0; r < module->globals.data[k].relocations.len; r++)
                is_kept = is_kept || module->globals.data[k].relocations.data[r].target == n;
        if (is_kept)
            add_candidate(c, (qn__memory){.name = module->globals.data[n].name,
                                          .param = -1,
                                          .size = module->globals.data[n].size,
                                          .object = n});
    }
}

/* The pieces of memory that it may be into: the begins that flow together with it. */
static void find_candidates(guard *g, const ir_value *pointer, candidates *c) {
    considering s = {g, c, pointer};
    *c = (candidates){.count = 0};
    if (pointer->type.space == IR_CONSTANT_SPACE &&
        qn__points_to_root(&g->sets, pointer->id) ==
            qn__points_to_root(&g->sets, qn__points_to_escaped(&g->sets, IR_CONSTANT_SPACE)))
        add_kept(g, c);
    for (uint32_t i = 0; i < g->num_params; i++)
        if (g->kernel->args.data[i].value->type.kind == IR_PTR)
            consider(g, c, pointer, g->kernel->args.data[i].value);
    qn__ir_walk(g->kernel->body, consider_begin, &s);
}

/* Local and constant objects have an address wherever it is asked for. */
static ir_value *begin_here(guard *g, const qn__memory *memory) {
    const ir_value *root = memory->root;
    const ir_instr *def = root && root->value_kind == IR_VALUE_RESULT ? root->def : NULL;
    if (root && (!def || def->op == IR_VAR)) return (ir_value *)root;
    const ir_type type = root ? root->type : qn__ir_pointer(IR_CONSTANT_SPACE);
    ir_instr *again = qn__ir_emit(&g->b, def ? (ir_op)def->op : IR_GLOBAL, NULL, 0, &type, 1);
    again->attr.index = def ? def->attr.index : memory->object;
    return again->results[0];
}

/* What an access comes to: whether it stays inside, else where it would have been. */
typedef struct check {
    ir_value *inside, *at, *size; /* bool; bytes behind the begin, bytes that are there */
    const char *name;             /* of the memory, or NULL */
    ir_value *is_aligned;         /* NULL: it was not looked at */
} check;

static ir_value *both(guard *g, ir_value *a, ir_value *b) { return a ? op2(g, IR_AND, a, b) : b; }

static bool check_candidates(guard *g, ir_value *pointer, const ir_instr *instr, int64_t offset,
                             uint64_t bytes, check *result) {
    candidates c;
    find_candidates(g, pointer, &c);
    if (!c.count && g->module->has_generic) { /* a generic one's access in a space that it never leads to */
        *result = (check){.inside = qn__ir_const_int(g->kernel, IR_BOOL, 0),
                          .at = qn__ir_const_int(g->kernel, IR_I64, 0),
                          .size = qn__ir_const_int(g->kernel, IR_I64, 0)};
        return true;
    }
    if (!c.count || c.too_many) {
        qn__pass_refuse(g->context, instr->loc,
                        c.count ? "safe: this access may be to any of more than 32 pieces of memory"
                                : "safe: the kernel hides where the pointer of this access is from");
        return false;
    }
    ir_value *address = qn__ir_convert(&g->b, IR_PTR2INT, pointer, wide_type);
    *result = (check){.name = c.count == 1 ? c.list[0].name : NULL};
    for (unsigned i = 0; i < c.count; i++) {
        ir_value *begin = qn__ir_convert(&g->b, IR_PTR2INT, begin_here(g, &c.list[i]), wide_type);
        ir_value *at = op2(g, IR_SUB, address, begin);
        if (offset) at = with(g, IR_ADD, at, (uint64_t)offset);
        ir_value *inside = op2(g, IR_ULT, at, room_in(g, &c.list[i], bytes));
        result->inside = result->inside ? op2(g, IR_OR, result->inside, inside) : inside;
        if (i == 0) result->at = at, result->size = size_in(g, &c.list[i]);
    }
    return true;
}

static bool check_access(guard *g, const qn__access *access, const ir_instr *instr, check *result) {
    const qn__memory memory = qn__memory_of(g->kernel, access->pointer);
    if (!memory.root)
        return check_candidates(g, access->pointer, instr, access->offset, access->size, result);
    *result = (check){
        .at = distance(g, access->pointer, access->offset), .size = size_in(g, &memory), .name = memory.name};
    result->inside = op2(g, IR_ULT, result->at, room_in(g, &memory, access->size));
    return true;
}

/* Lines of a matrix, a stride apart. */
static bool check_lines(guard *g, const qn__access *access, const ir_instr *instr, check *result) {
    enum { FURTHEST = 1 << 30 };
    const ir_matrix m = instr->attr.matrices[0];
    const bool is_transposed = instr->flags & IR_TRANSPOSED;
    const uint64_t lines = is_transposed ? m.columns : m.rows, length = is_transposed ? m.rows : m.columns;
    const uint64_t bytes = qn__ir_matrix_bytes(m);
    qn__memory memory = qn__memory_of(g->kernel, access->pointer);
    if (!memory.root) {
        qn__pass_refuse(g->context, instr->loc,
                        "safe: the kernel hides where the pointer of this fragment is from");
        return false;
    }
    ir_value *stride = instr->operands[2];
    ir_value *span = with(g, IR_ADD, with(g, IR_MUL, stride, (lines - 1) * bytes), length * bytes);
    *result = (check){
        .at = distance(g, access->pointer, access->offset), .size = size_in(g, &memory), .name = memory.name};
    result->inside = with(g, IR_ULT, stride, FURTHEST);
    result->inside = both(g, result->inside, op2(g, IR_ULE, span, result->size));
    result->inside = both(g, result->inside, op2(g, IR_ULE, result->at, op2(g, IR_SUB, result->size, span)));
    return true;
}

/* ---- alignment ---- */

static bool is_aligned(const guard *g, const qn__access *access) {
    const uint32_t id = access->pointer->id;
    const unsigned zeros = id < g->num_zeros ? g->zeros[id] : 0;
    const uint64_t mask = access->align - 1u;
    return !((uint64_t)access->offset & mask) && !(mask >> zeros);
}

/* The begins of all memory are aligned as far as any access asks for: how far behind it is tells. */
static void check_alignment(guard *g, const qn__access *access, bool is_inside, check *c) {
    ir_value *rest = with(g, IR_AND, c->at, access->align - 1u);
    ir_value *is_whole = op2(g, IR_EQ, rest, wide(g, 0));
    if (is_inside) c->inside = NULL;
    c->is_aligned = is_whole;
}

static void raise_to(uint32_t *align, uint32_t wanted) {
    if (*align < wanted) *align = wanted;
}

typedef struct raising {
    ir_function *kernel;
    const ir_value *root; /* NULL: all objects of the space */
    ir_space space;
    uint32_t align;
} raising;

static void raise_object(ir_instr *i, void *user) {
    const raising *r = user;
    if (i->op != IR_VAR && i->op != IR_LOCAL && i->op != IR_GLOBAL) return;
    if (r->root ? r->root != i->results[0] : i->results[0]->type.space != r->space) return;
    if (i->op == IR_VAR) raise_to(&i->attr.var->align, r->align);
    if (i->op == IR_LOCAL) raise_to(&r->kernel->locals.data[i->attr.index].align, r->align);
    if (i->op == IR_GLOBAL) raise_to(&r->kernel->module->globals.data[i->attr.index].align, r->align);
}

/* Objects are aligned as the widest access to them wants; none wants more than buffers have. */
static void raise_objects(ir_instr *i, void *user) {
    qn__access accesses[QN__MOST_ACCESSES];
    ir_function *kernel = user;
    const unsigned count = qn__accesses_of(i, accesses);
    for (unsigned k = 0; k < count; k++) {
        const qn__memory memory = qn__memory_of(kernel, accesses[k].pointer);
        raising r = {kernel, memory.root, (ir_space)accesses[k].pointer->type.space, accesses[k].align};
        const ir_instr *def =
            memory.root && memory.root->value_kind == IR_VALUE_RESULT ? memory.root->def : NULL;
        if (def)
            raise_object(memory.root->def, &r);
        else if (!memory.root)
            qn__ir_walk(kernel->body, raise_object, &r);
        if (!memory.root && r.space == IR_CONSTANT_SPACE) /* those whose addresses stand in others */
            for (size_t n = 0; n < kernel->module->globals.len; n++)
                raise_to(&kernel->module->globals.data[n].align, r.align);
    }
    if (!count || !qn__ir_has(i->op, IR_ATTR_ALIGN) || i->attr.align <= QN__BEGIN_ALIGN) return;
    i->attr.align = QN__BEGIN_ALIGN;
    qn__ir_touch(i);
}

/* Of parameters by value, which no launch can move: read in smaller parts. */
static void lower_alignment(ir_instr *instr, const guard *g, const qn__access *access) {
    qn__access less = *access;
    while (!is_aligned(g, &less)) less.align /= 2;
    if (instr->attr.align == less.align) return;
    instr->attr.align = less.align;
    qn__ir_touch(instr);
}

/* ---- what happens then ---- */

static void store_fault(ir_builder *b, ir_value *faults, ir_value *value, int64_t offset) {
    qn__ir_store(b, faults, value, 0, 0)->attr.offset = offset;
}

void qn__note_fault(ir_builder *b, const qn__fault *fault) {
    ir_value *one = qn__ir_const_int(b->function, IR_I32, 1),
             *none = qn__ir_const_int(b->function, IR_I32, 0);
    ir_instr *count = qn__ir_emit(b, IR_ATOMIC_RMW, (ir_value *[]){fault->faults, one}, 2, &word_type, 1);
    count->attr.align = sizeof(uint32_t);
    count->attr.order = IR_RELAXED;
    count->attr.scope = IR_SCOPE_DEVICE;
    count->attr.combine = IR_COMBINE_ADD;
    ir_region *here = b->region;
    ir_instr *before = b->before;
    ir_instr *first = qn__ir_if(b, qn__ir_op2(b, IR_EQ, count->results[0], none), NULL, 0);
    first->flags |= IR_BRANCH;
    qn__ir_at_end(b, first->regions[0]);
    store_fault(b, fault->faults, fault->site, offsetof(qn__faults, site));
    store_fault(b, fault->faults, fault->at, offsetof(qn__faults, at));
    store_fault(b, fault->faults, fault->size, offsetof(qn__faults, size));
    qn__ir_yield(b, NULL, 0);
    qn__ir_at_end(b, first->regions[1]);
    qn__ir_yield(b, NULL, 0);
    qn__ir_at_end(b, here);
    b->before = before;
}

uint32_t qn__add_site(ir_module *module, ir_loc loc, const char *kernel, const char *what) {
    const char *file = loc.line && loc.file < module->files.len ? module->files.data[loc.file] : "?";
    const char *site =
        qn__arena_printf(module->arena, "%s:%u: kernel '%s' %s", file, (unsigned)loc.line, kernel, what);
    qn__vec_push(module->arena, &module->sites, site);
    return (uint32_t)module->sites.len - 1;
}

/* The number of the check, for one of its two reasons. */
static ir_value *site_of(guard *g, const ir_instr *instr, const qn__access *access, const check *c,
                         bool is_for_alignment) {
    const char *name = c->name;
    char size[32] = "a fragment", align[32] = "";
    if (is_for_alignment) snprintf(align, sizeof align, ", not aligned to %u,", (unsigned)access->align);
    if (access->size) snprintf(size, sizeof size, "%llu bytes", (unsigned long long)access->size);
    const char *what =
        qn__arena_printf(g->context->scratch, "%s %s %s%s%s%s", access->writes ? "writes" : "reads", size,
                         name ? "of '" : "where a pointer leads", name ? name : "", name ? "'" : "", align);
    return qn__ir_const_int(g->kernel, IR_I32, qn__add_site(g->module, instr->loc, g->name, what));
}

static void note_access(guard *g, const ir_instr *instr, const qn__access *access, const check *c) {
    ir_value *site = c->inside ? site_of(g, instr, access, c, false) : NULL;
    if (c->is_aligned) {
        ir_value *unaligned = site_of(g, instr, access, c, true);
        site = site ? qn__ir_select(&g->b, c->inside, unaligned, site) : unaligned;
    }
    qn__note_fault(&g->b, &(qn__fault){g->faults, site, c->at, c->size});
}

/* Whether the access happens. */
static ir_value *is_right(guard *g, const check *c) {
    if (!c->is_aligned) return c->inside;
    return both(g, c->inside, c->is_aligned);
}

static ir_instr *copy_of(guard *g, const ir_instr *from) {
    ir_type types[1];
    if (from->num_results) types[0] = from->results[0]->type;
    ir_instr *copy =
        qn__ir_emit(&g->b, (ir_op)from->op, from->operands, from->num_operands, types, from->num_results);
    copy->attr = from->attr;
    copy->flags = from->flags;
    if (from->num_results) copy->results[0]->name = from->results[0]->name;
    return copy;
}

/* What stands in for a fragment that is not read. */
static void fill_fragment(guard *g, const ir_instr *load) {
    const ir_type type = qn__ir_type((ir_kind)qn__ir_matrix_info(load->attr.matrices[0])->kind, 1);
    ir_value *zero = qn__ir_const_splat(g->kernel, type, 0);
    ir_instr *fill = qn__ir_emit(&g->b, IR_MATRIX_FILL, (ir_value *[]){load->operands[0], zero}, 2, NULL, 0);
    fill->attr.matrices[0] = load->attr.matrices[0];
}

/* Zero where it is outside, which the loop's variable then tells. */
static void load_quietly(guard *g, ir_instr *load, ir_value *inside) {
    const ir_type type = load->results[0]->type;
    ir_instr *choice = qn__ir_if(&g->b, inside, &type, 1);
    qn__ir_at_end(&g->b, choice->regions[0]);
    qn__ir_yield(&g->b, copy_of(g, load)->results, 1);
    qn__ir_at_end(&g->b, choice->regions[1]);
    ir_value *zero = qn__ir_const_splat(g->kernel, type, 0);
    qn__ir_yield(&g->b, &zero, 1);
    qn__ir_at(&g->b, load);
    ir_value *before = qn__ir_load(&g->b, g->seen, word_type, 0, 0);
    ir_value *one = qn__ir_const_int(g->kernel, IR_I32, 1);
    qn__ir_store(&g->b, g->seen, qn__ir_select(&g->b, inside, before, one), 0, 0);
    qn__rewrite_set(&g->rewrite, load->results[0], choice->results[0]);
    qn__ir_unlink(load);
    g->changed = true;
}

static void enclose(guard *g, ir_instr *instr, const qn__access *accesses, const check *checks,
                    unsigned count) {
    const bool gives = instr->num_results > 0;
    const ir_type type = gives ? instr->results[0]->type : word_type;
    ir_value *inside = NULL;
    ir_value *right[QN__MOST_ACCESSES];
    for (unsigned k = 0; k < count; k++) inside = both(g, inside, right[k] = is_right(g, &checks[k]));
    if (g->seen) {
        load_quietly(g, instr, inside);
        return;
    }
    ir_instr *branch = qn__ir_if(&g->b, inside, &type, gives);
    branch->flags |= IR_BRANCH;
    qn__ir_at_end(&g->b, branch->regions[0]);
    ir_instr *again = copy_of(g, instr);
    qn__ir_yield(&g->b, again->results, gives);
    qn__ir_at_end(&g->b, branch->regions[1]);
    for (unsigned k = 0; k < count; k++) {
        if (k + 1 < count) { /* which of them was it? */
            ir_instr *which = qn__ir_if(&g->b, right[k], NULL, 0);
            qn__ir_at_end(&g->b, which->regions[0]);
            note_access(g, instr, &accesses[k + 1], &checks[k + 1]);
            qn__ir_yield(&g->b, NULL, 0);
            qn__ir_at_end(&g->b, which->regions[1]);
            note_access(g, instr, &accesses[k], &checks[k]);
            qn__ir_yield(&g->b, NULL, 0);
            qn__ir_at_end(&g->b, branch->regions[1]);
            break;
        }
        note_access(g, instr, &accesses[k], &checks[k]);
    }
    if (instr->op == IR_MATRIX_LOAD) fill_fragment(g, instr);
    ir_value *zero = gives ? qn__ir_const_splat(g->kernel, type, 0) : NULL;
    qn__ir_yield(&g->b, &zero, gives);
    if (gives) qn__rewrite_set(&g->rewrite, instr->results[0], branch->results[0]);
    qn__ir_unlink(instr);
    g->changed = true;
}

static void guard_access(guard *g, ir_instr *instr) {
    qn__access accesses[QN__MOST_ACCESSES], wanted[QN__MOST_ACCESSES];
    check checks[QN__MOST_ACCESSES];
    unsigned count = 0;
    const unsigned all = qn__accesses_of(instr, accesses);
    qn__ir_at(&g->b, instr);
    for (unsigned k = 0; k < all; k++) {
        const bool is_inside = qn__limit_of(instr, k) >= g->least;
        accesses[k].pointer = qn__rewrite_get(accesses[k].pointer);
        bool must_align = !is_aligned(g, &accesses[k]);
        if (must_align && accesses[k].pointer->type.space == IR_PARAM_SPACE) {
            lower_alignment(instr, g, &accesses[k]);
            must_align = false;
        }
        if (is_inside && !must_align) continue;
        const bool found = accesses[k].size ? check_access(g, &accesses[k], instr, &checks[count])
                                            : check_lines(g, &accesses[k], instr, &checks[count]);
        if (!found) return;
        if (must_align) check_alignment(g, &accesses[k], is_inside, &checks[count]);
        wanted[count++] = accesses[k];
    }
    if (count) enclose(g, instr, wanted, checks, count);
}

/* ---- what cannot be checked ---- */

static bool is_whole_string(const guard *g, const ir_value *pointer) {
    if (!qn__defined_by(pointer, IR_GLOBAL)) return false;
    const ir_global *global = &g->module->globals.data[pointer->def->attr.index];
    return global->size && memchr(global->data, 0, global->size);
}

static void refuse(guard *g, const ir_instr *instr) {
    switch (instr->op) {
    case IR_LDMATRIX:
    case IR_NATIVE:
    case IR_QUAD_PRODUCT:
    case IR_PANEL_PRODUCT:
        qn__pass_refuse(g->context, instr->loc,
                        "safe: where this built-in reads and writes cannot be checked");
        break;
    case IR_PRINTF:
        for (uint32_t n = 0; n < instr->num_operands; n++)
            if (instr->operands[n]->type.kind == IR_PTR &&
                instr->operands[n]->type.space == IR_CONSTANT_SPACE &&
                !is_whole_string(g, instr->operands[n]))
                qn__pass_refuse(
                    g->context, instr->loc,
                    "safe: printf may print strings of the program, one from its begin each time");
        break;
    default: break;
    }
}

static void visit(guard *g, ir_region *region);

static void visit_regions(guard *g, const ir_instr *i) {
    ir_value *before = g->seen;
    for (size_t n = 0; n < g->quiet.len; n++)
        if (g->quiet.data[n].loop == i) g->seen = g->quiet.data[n].seen;
    for (uint32_t r = 0; r < i->num_regions; r++) visit(g, i->regions[r]);
    g->seen = before;
}

static void visit(guard *g, ir_region *region) {
    for (ir_instr *i = region->first, *next; i && !g->context->error; i = next) {
        next = i->next;
        qn__rewrite_operands(&g->rewrite, i);
        visit_regions(g, i);
        refuse(g, i);
        if (!g->context->error) guard_access(g, i);
    }
}

/* ---- kernels ---- */

static void add_param(ir_function *kernel, ir_type type, uint8_t kind, uint8_t flags, uint32_t extent) {
    const char *name =
        qn__arena_printf(kernel->module->arena, extent ? "qn_size_%u" : "qn_faults", (unsigned)extent);
    qn__ir_arg_add(kernel, type, name);
    ir_arg *arg = &qn__vec_last(&kernel->args);
    *arg = (ir_arg){.value = arg->value,
                    .arg_kind = kind,
                    .flags = flags,
                    .element = extent ? type : word_type,
                    .size = 8,
                    .align = 8,
                    .pointee_size = extent ? 0 : (uint32_t)sizeof(uint32_t),
                    .name = name,
                    .type_name = extent ? "ulong" : "uint*",
                    .extent_of = extent};
}

/* Behind those that there are: the size of each memory that a parameter leads to, and the faults. */
static void add_params(ir_function *kernel) {
    const size_t count = kernel->args.len;
    for (size_t i = 0; i < count; i++) {
        const uint8_t kind = kernel->args.data[i].arg_kind;
        if (kind == IR_ARG_BUFFER || kind == IR_ARG_LOCAL)
            add_param(kernel, wide_type, IR_ARG_VALUE, 0, (uint32_t)i + 1);
    }
    add_param(kernel, qn__ir_pointer(IR_GLOBAL_SPACE), IR_ARG_BUFFER, IR_ARG_FAULTS, 0);
}

static ir_function *copy_kernel(ir_function *kernel) {
    ir_module *module = kernel->module;
    const char *name = qn__arena_printf(module->arena, "__qn_checked_%s", kernel->name);
    ir_function *copy = qn__ir_function_new(module, name, kernel->result);
    ir_region *body = copy->body;
    ir_value **map = QN__NEW_ARRAY(module->arena, ir_value *, kernel->num_values);
    const uint32_t index = copy->index;
    ir_function fields = *kernel;
    fields.name = name, fields.body = body, fields.index = index;
    fields.args = copy->args, fields.constants = copy->constants, fields.locals = copy->locals;
    fields.num_values = copy->num_values, fields.last_var = NULL, fields.now = copy->now;
    *copy = fields;
    for (size_t i = 0; i < kernel->args.len; i++) {
        const ir_arg *from = &kernel->args.data[i];
        ir_value *value = qn__ir_arg_add(copy, from->value->type, from->name);
        qn__vec_last(&copy->args) = *from;
        qn__vec_last(&copy->args).value = value;
        map[from->value->id] = value;
    }
    for (size_t i = 0; i < kernel->locals.len; i++) qn__ir_local_add(copy, kernel->locals.data[i]);
    ir_builder b = {.function = copy};
    qn__ir_at_end(&b, body);
    qn__ir_clone_into(&b, kernel->body, map);
    return copy;
}

/* Overflow is no promise any more: a place that is computed twice must come out the same. */
static void forget_promises(ir_instr *instr, void *unused) {
    (void)unused;
    if (!(instr->flags & (IR_NSW | IR_NUW)) || !(qn__ir_ops[instr->op].flags & (IR_NSW | IR_NUW))) return;
    instr->flags &= (uint16_t) ~(IR_NSW | IR_NUW);
    qn__ir_touch(instr);
}

/* Accesses whose alignment is known. */
typedef struct counting {
    guard g;
    unsigned aligned;
} counting;

static void count_aligned(ir_instr *i, void *user) {
    counting *c = user;
    qn__access accesses[QN__MOST_ACCESSES];
    const unsigned count = qn__accesses_of(i, accesses);
    for (unsigned k = 0; k < count; k++) c->aligned += is_aligned(&c->g, &accesses[k]);
}

static unsigned num_aligned(qn__arena *scratch, ir_function *kernel, const bool *multiples) {
    counting c = {
        .g = {.zeros = qn__find_zeros(scratch, kernel, multiples), .num_zeros = kernel->num_values}};
    qn__ir_walk(kernel->body, count_aligned, &c);
    return c.aligned;
}

/* The integers among the arguments without which, as multiples of QN__MULTIPLE, fewer accesses would be aligned; NULL: none. */
static const bool *find_multiples(qn__arena *scratch, ir_function *kernel) {
    bool *multiples = QN__NEW_ARRAY(scratch, bool, kernel->args.len + 1);
    const unsigned least = num_aligned(scratch, kernel, NULL);
    for (size_t i = 0; i < kernel->args.len; i++) {
        const ir_arg *arg = &kernel->args.data[i];
        const ir_type type = arg->value->type;
        multiples[i] = arg->arg_kind == IR_ARG_VALUE && type.lanes == 1 && !arg->extent_of &&
                       (type.kind == IR_I32 || type.kind == IR_I64);
    }
    const unsigned most = num_aligned(scratch, kernel, multiples);
    if (most == least) return NULL;
    for (size_t i = 0; i < kernel->args.len; i++) {
        if (!multiples[i]) continue;
        multiples[i] = false;
        multiples[i] = num_aligned(scratch, kernel, multiples) < most;
    }
    return multiples;
}

static void guard_kernel(qn__pass_context *context, ir_function *kernel, const char *name,
                         uint32_t num_params, unsigned least, const bool *multiples) {
    enum { ALL = (1 << IR_SPACE_COUNT) - 1 };
    guard g = {.context = context,
               .module = context->module,
               .kernel = kernel,
               .name = name,
               .num_params = num_params,
               .least = least};
    g.faults = qn__vec_last(&kernel->args).value;
    if (context->options->target.wants_quiet_loops && context->options->level)
        qn__split_loops(context->scratch, kernel, least, &g.quiet);
    g.sets = qn__points_to_find(context->scratch, kernel, ALL, 0, false);
    g.zeros = qn__find_zeros(context->scratch, kernel, multiples);
    g.num_zeros = kernel->num_values;
    g.b = (ir_builder){.function = kernel};
    visit(&g, kernel->body);
    if (g.changed) qn__ir_walk(kernel->body, forget_promises, NULL);
}

static void make_safe(qn__pass_context *context, ir_function *kernel) {
    const uint32_t num_params = (uint32_t)kernel->args.len;
    qn__index_pointers(context, kernel);
    add_params(kernel);
    qn__ir_walk(kernel->body, raise_objects, kernel);
    if (context->options->loop_budget) qn__budget_loops(context, kernel, qn__vec_last(&kernel->args).value);
    const bool *multiples = find_multiples(context->scratch, kernel);
    const qn__limits limits = qn__find_limits(context->module->arena, context->scratch, kernel, multiples);
    if (limits.words) {
        ir_function *checked = copy_kernel(kernel);
        qn__find_limits(context->scratch, context->scratch, checked, NULL);
        kernel->limits = limits.words;
        kernel->num_limits = limits.count;
        kernel->checked = checked;
        checked->is_checked = true;
        guard_kernel(context, checked, kernel->name, num_params, QN__IS_INSIDE, NULL);
    }
    if (!context->error)
        guard_kernel(context, kernel, kernel->name, num_params, limits.words ? QN__IS_LIMITED : QN__IS_INSIDE,
                     limits.has_multiples ? multiples : NULL);
}

bool qn__pass_guard(qn__pass_context *context) {
    const size_t count = context->module->functions.len;
    if (!context->options->safe) return false;
    for (size_t i = 0; i < count && !context->error; i++)
        if (context->module->functions.data[i]->is_kernel)
            make_safe(context, context->module->functions.data[i]);
    return true;
}
