/* Uniformity (WGSL section 15.2): a barrier must be reached by all work-items of a work-group together. The analysis walks a kernel
   as it was lowered, its functions in place of their calls, with the specification's rules: what comes from an id, an atomic, or memory
   that others write varies; a variable varies from a store of what varies, or of anything where control flow is not uniform, up to
   the next store; control flow that has parted is uniform again behind the construct in which it parted, but where something leaves that construct early. */
#include <limits.h>

#include "wgsl/internal.h"

enum { MARK_DIVERGENT = 4, MOST_ROUNDS = 100 };

/* What is so at one point of the kernel. */
typedef struct flow {
    bool *vars;     /* by number: its contents vary */
    bool divergent; /* not all work-items come by together */
    bool dead;
} flow;

/* A construct around the point: where breaks out of it, and continues, bring their flows. */
typedef struct around {
    struct around *outer;
    const ir_instr *construct;
    flow left, again;
    unsigned depth;
} around;

typedef struct uniform {
    wgsl_lower *w;
    qn__arena *arena;
    bool *varies;   /* by value id */
    uint32_t *vars; /* by value id of a VAR's address: its number + 1 */
    uint32_t num_vars;
    bool *is_private; /* by number: a variable at module scope */
    around *around;
    unsigned escape;       /* least depth of a construct that a jump seen since has left; 0: the kernel */
    const ir_instr *cause; /* the first construct where control flow parted */
    bool changed;
} uniform;

/* ---- flows ---- */

static flow copy_of(uniform *u, const flow *f) {
    flow copy = *f;
    copy.vars = qn__arena_copy(u->arena, f->vars, u->num_vars + 1);
    return copy;
}

static flow nowhere(uniform *u) {
    return (flow){.vars = QN__NEW_ARRAY(u->arena, bool, u->num_vars + 1), .dead = true};
}

/* Whether `into` has changed. */
static bool merge(uniform *u, flow *into, const flow *from) {
    bool changed = false;
    if (from->dead) return false;
    if (into->dead) changed = true;
    into->dead = false;
    if (from->divergent && !into->divergent) into->divergent = changed = true;
    for (uint32_t i = 0; i < u->num_vars; i++) {
        if (!from->vars[i] || into->vars[i]) continue;
        into->vars[i] = changed = true;
    }
    return changed;
}

static void set(uniform *u, const ir_value *value) {
    if (u->varies[value->id]) return;
    u->varies[value->id] = u->changed = true;
}

static bool any_operand_varies(const uniform *u, const ir_instr *i) {
    for (uint32_t n = 0; n < i->num_operands; n++)
        if (u->varies[i->operands[n]->id]) return true;
    return false;
}

/* ---- memory ---- */

/* The number + 1 of the variable that a pointer leads into, or 0. */
static uint32_t variable_of(const uniform *u, const ir_value *pointer) {
    while (pointer->def && pointer->def->op == IR_PTR_ADD) pointer = pointer->def->operands[0];
    return u->vars[pointer->id];
}

static bool load_varies(const uniform *u, const ir_instr *i, const flow *f) {
    const ir_value *pointer = i->operands[0];
    const uint32_t var = variable_of(u, pointer);
    if (u->varies[pointer->id]) return true;
    if (var) return f->vars[var - 1] || u->is_private[var - 1];
    if (i->mark & WGSL_MARK_UNIFORM) return false;
    return pointer->type.space != IR_CONSTANT_SPACE && !(i->flags & IR_READONLY);
}

static void store(const uniform *u, const ir_instr *i, flow *f) {
    const ir_value *pointer = i->operands[0];
    const uint32_t var = variable_of(u, pointer);
    if (!var) return;
    bool varies = f->divergent || u->varies[pointer->id];
    if (i->op == IR_COPY) {
        const uint32_t from = variable_of(u, i->operands[1]);
        varies |= u->varies[i->operands[1]->id] ||
                  (from ? f->vars[from - 1] : i->operands[1]->type.space != IR_CONSTANT_SPACE);
    } else {
        varies |= u->varies[i->operands[1]->id];
    }
    const bool is_whole = pointer->def->op == IR_VAR &&
                          (i->op == IR_COPY ? i->attr.size : qn__ir_memory_size(i->operands[1]->type)) >=
                              pointer->def->attr.var->size;
    f->vars[var - 1] = varies || (!is_whole && f->vars[var - 1]);
}

/* ---- constructs ---- */

static void visit_region(uniform *u, ir_region *region, flow *f);

static void receive(uniform *u, const ir_instr *jump, const flow *f) {
    const ir_receivers to = qn__ir_receivers(jump);
    for (uint32_t n = 0; n < to.count; n++)
        if (f->divergent || u->varies[jump->operands[n]->id]) set(u, to.values[n]);
}

static void visit_jump(uniform *u, ir_instr *i, flow *f) {
    receive(u, i, f);
    if (i->op == IR_YIELD) return;
    unsigned depth = 0;
    for (around *a = u->around; a && i->op != IR_RETURN; a = a->outer) {
        if (a->construct != i->attr.target) continue;
        merge(u, i->op == IR_BREAK ? &a->left : &a->again, f);
        depth = a->depth;
        break;
    }
    if (depth < u->escape) u->escape = depth;
    f->dead = true;
}

/* Behind a construct: uniform as before it, unless a jump inside has left more than it. */
static void rejoin(uniform *u, unsigned depth, bool before, unsigned escape, flow *f) {
    if (u->escape >= depth) f->divergent = before;
    if (escape < u->escape) u->escape = escape;
}

static void visit_if(uniform *u, ir_instr *i, flow *f) {
    const bool before = f->divergent, parts = u->varies[i->operands[0]->id];
    const unsigned escape = u->escape, depth = u->around ? u->around->depth + 1 : 1;
    if (parts && !before && !u->cause) u->cause = i;
    for (uint32_t n = 0; parts && n < i->num_results; n++) set(u, i->results[n]);
    u->escape = depth;
    f->divergent |= parts;
    flow other = copy_of(u, f);
    visit_region(u, i->regions[0], f);
    visit_region(u, i->regions[1], &other);
    merge(u, f, &other);
    if (!f->dead) f->divergent |= other.divergent && !other.dead;
    rejoin(u, depth, before, escape, f);
}

static around enter(uniform *u, const ir_instr *construct) {
    return (around){.outer = u->around,
                    .construct = construct,
                    .left = nowhere(u),
                    .again = nowhere(u),
                    .depth = u->around ? u->around->depth + 1 : 1};
}

static void visit_block(uniform *u, ir_instr *i, flow *f) {
    const bool before = f->divergent, is_body = i->mark & WGSL_MARK_CONTINUED;
    const unsigned escape = u->escape;
    around here = enter(u, i);
    u->around = &here;
    u->escape = here.depth;
    visit_region(u, i->regions[0], f);
    u->around = here.outer;
    const bool left = !here.left.dead, at_end = f->divergent && !f->dead;
    merge(u, f, &here.left);
    if (is_body) {
        f->divergent = at_end || (left && here.left.divergent);
        if (escape < u->escape) u->escape = escape;
    } else {
        rejoin(u, here.depth, before, escape, f);
    }
}

static void visit_loop(uniform *u, ir_instr *i, flow *f) {
    const bool before = f->divergent;
    const unsigned escape = u->escape;
    flow head = copy_of(u, f), left = nowhere(u);
    const ir_receivers params = {i->regions[0]->params, i->regions[0]->num_params};
    unsigned lowest = 0;
    for (uint32_t n = 0; n < params.count; n++)
        if (u->varies[i->operands[n]->id]) set(u, params.values[n]);
    for (unsigned round = 0; round < MOST_ROUNDS; round++) {
        around here = enter(u, i);
        flow body = copy_of(u, &head);
        u->around = &here;
        u->escape = here.depth;
        visit_region(u, i->regions[0], &body);
        u->around = here.outer;
        left = here.left;
        lowest = u->escape;
        const unsigned depth = here.depth;
        if (!merge(u, &head, &here.again)) {
            u->escape = lowest;
            *f = left;
            if (lowest < depth) f->divergent = head.divergent || left.divergent;
            rejoin(u, depth, before, escape, f);
            return;
        }
    }
    *f = left;
    f->divergent = true;
}

/* ---- all ---- */

static void visit(uniform *u, ir_instr *i, flow *f) {
    bool varies = any_operand_varies(u, i);
    if (f->divergent) i->mark |= MARK_DIVERGENT;
    switch (i->op) {
    case IR_VAR: return;
    case IR_STORE:
    case IR_COPY: store(u, i, f); return;
    case IR_IF: visit_if(u, i, f); return;
    case IR_LOOP: visit_loop(u, i, f); return;
    case IR_BLOCK: visit_block(u, i, f); return;
    case IR_YIELD:
    case IR_BREAK:
    case IR_CONTINUE:
    case IR_RETURN: visit_jump(u, i, f); return;
    case IR_UNREACHABLE: f->dead = true; return;
    case IR_LOAD: varies = load_varies(u, i, f); break;
    case IR_ATOMIC_LOAD: varies = !(i->mark & WGSL_MARK_UNIFORM) || u->varies[i->operands[0]->id]; break;
    case IR_CALL: break; /* the library's: of its arguments alone */
    default:
        varies |= qn__ir_has(i->op, IR_VARIES) || qn__ir_is_of_sub_group(i) || i->op == IR_SUB_GROUP_ID;
        break;
    }
    for (uint32_t r = 0; varies && r < i->num_results; r++) set(u, i->results[r]);
}

static void visit_region(uniform *u, ir_region *region, flow *f) {
    for (ir_instr *i = region->first; i && !f->dead; i = i->next) visit(u, i, f);
}

static void number_variables(uniform *u, const ir_function *kernel) {
    u->is_private = QN__NEW_ARRAY(u->arena, bool, kernel->num_values);
    for (const ir_instr *i = kernel->body->first; i && i->op == IR_VAR; i = i->next) {
        u->is_private[u->num_vars] = i->mark & WGSL_MARK_PRIVATE;
        u->vars[i->results[0]->id] = ++u->num_vars;
    }
}

static bool parts(const uniform *u, const ir_instr *i) {
    return i->op == IR_IF && u->varies[i->operands[0]->id];
}

/* What makes work-items part before they come to the instruction: the nearest `if` around it, or in a loop around it, that does;
   else something that they have not all come out of. */
static const ir_instr *cause_of(const uniform *u, const ir_instr *instr) {
    for (const ir_instr *at = instr->parent->owner; at; at = at->parent->owner) {
        if (parts(u, at)) return at;
        if (at->op != IR_LOOP) continue;
        for (const ir_instr *i = at->regions[0]->first; i; i = i->next)
            if (parts(u, i)) return i;
    }
    return u->cause;
}

static void complain(uniform *u, const wgsl_gathering *note) {
    const bool is_value = note->wants_value;
    front_diag *diag = u->w->diag;
    const char *who = note->is_of_sub_group ? "sub-group" : "work-group";
    const char *text = is_value ? "what '%s' is given here must be the same for all work-items of the %s"
                                : "'%s' must be reached by all work-items of the %s together";
    if (note->severity == WGSL_SEVERITY_WARNING)
        qn__diag_warning(diag, FRONT_WARN_DIVERGENCE, note->loc, text, note->name, who);
    else
        qn__diag_error(diag, note->loc, text, note->name, who);
    if (note->inner) qn__diag_note(diag, note->inner_loc, "'%s' is here", note->inner);
    const ir_instr *cause = is_value ? NULL : cause_of(u, note->instr);
    if (cause) {
        front_loc loc = cause->loc;
        loc.file = note->loc.file;
        qn__diag_note(diag, loc, "work-items part here, where a condition is not the same for all");
    }
}

/* Marks are the passes' from now on. */
static void clear_mark(ir_instr *instr, void *user) {
    (void)user;
    instr->mark = 0;
}

void qn__wf_check_uniformity(wgsl_lower *w, ir_function *kernel) {
    if (!w->gatherings.len) return;
    uniform u = {.w = w, .arena = w->arena};
    u.varies = QN__NEW_ARRAY(w->arena, bool, kernel->num_values);
    u.vars = QN__NEW_ARRAY(w->arena, uint32_t, kernel->num_values);
    number_variables(&u, kernel);
    do {
        flow f = {.vars = QN__NEW_ARRAY(w->arena, bool, u.num_vars + 1)};
        u.changed = false;
        u.around = NULL;
        u.escape = UINT_MAX;
        visit_region(&u, kernel->body, &f);
    } while (u.changed);
    for (size_t i = 0; i < w->gatherings.len; i++) {
        const wgsl_gathering *note = &w->gatherings.data[i];
        if (note->severity == WGSL_SEVERITY_OFF) continue;
        const bool wrong = note->wants_value ? u.varies[note->instr->operands[note->operand]->id]
                                             : (note->instr->mark & MARK_DIVERGENT) != 0;
        if (wrong) complain(&u, note);
    }
    qn__ir_walk(kernel->body, clear_mark, NULL);
}
