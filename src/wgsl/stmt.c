/* Statements (WGSL section 9) to regions of the IR. A loop is `loop { block { body } continuing; if (break_if) break }`, with the
   block only where something continues; a switch is a chain of ifs, in a block where something breaks. Statements behind a jump
   are looked at in a region that is thrown away. */
#include "wgsl/internal.h"

static void list(wgsl_lower *w, const wgsl_stmts *stmts) {
    for (size_t i = 0; i < stmts->len && !w->stopped; i++) qn__wf_stmt(w, stmts->data[i]);
}

/* Names that a block declares end with it. */
static void block(wgsl_lower *w, const wgsl_stmt *s) {
    const size_t symbols = w->symbols.len;
    list(w, &s->body);
    w->symbols.len = symbols;
}

static wgsl_value condition(wgsl_lower *w, const wgsl_expr *e, const char *of) {
    const wgsl_value v = qn__wf_rvalue(w, e);
    if (qn__wf_is_error(&v) || (v.form == WGSL_FORM_VALUE && v.type->kind == WGSL_BOOL)) return v;
    return qn__wf_error(w, e->loc, "the condition of '%s' must be bool, not '%s'", of,
                        v.type ? qn__wf_type_name(w, v.type) : "nothing");
}

static ir_value *truth(wgsl_lower *w, const wgsl_expr *e, const char *of) {
    const wgsl_value v = condition(w, e, of);
    return qn__wf_is_error(&v) ? qn__ir_const_bool(w->b.function, false) : qn__wf_ir(w, &v);
}

/* Goes on behind a construct, which nothing leaves normally where `ends` is set. */
static void go_on(wgsl_lower *w, ir_region *region, ir_instr *before, bool ends) {
    w->b.region = region;
    w->b.before = before;
    if (ends) qn__ir_emit(&w->b, IR_UNREACHABLE, NULL, 0, NULL, 0);
}

static void end_region(wgsl_lower *w) {
    if (!w->b.region->last || !qn__ir_is_jump(w->b.region->last)) qn__ir_yield(&w->b, NULL, 0);
}

static bool ends_in_yield(const ir_region *region) { return region->last && region->last->op == IR_YIELD; }

/* ---- if, switch ---- */

static void if_statement(wgsl_lower *w, const wgsl_stmt *s) {
    ir_instr *branch = qn__ir_if(&w->b, truth(w, s->a, "if"), NULL, 0);
    ir_region *outer = w->b.region;
    qn__ir_at_end(&w->b, branch->regions[0]);
    qn__wf_stmt(w, s->then);
    end_region(w);
    qn__ir_at_end(&w->b, branch->regions[1]);
    if (s->otherwise) qn__wf_stmt(w, s->otherwise);
    end_region(w);
    go_on(w, outer, NULL, !ends_in_yield(branch->regions[0]) && !ends_in_yield(branch->regions[1]));
}

typedef struct switching {
    const wgsl_stmt *stmt, *other; /* the clause with `default` */
    wgsl_value selector;
    QN__VEC(uint64_t) seen;
    size_t next;
} switching;

static bool is_seen(const switching *s, uint64_t bits) {
    for (size_t i = 0; i < s->seen.len; i++)
        if (s->seen.data[i] == bits) return true;
    return false;
}

/* Whether the selector is one of the clause's values. */
static ir_value *is_chosen(wgsl_lower *w, switching *s, const wgsl_stmt *clause) {
    ir_value *chosen = NULL;
    for (size_t i = 0; i < clause->values.len; i++) {
        const wgsl_expr *e = clause->values.data[i];
        wgsl_value v = qn__wf_rvalue(w, e);
        if (!qn__wf_is_error(&v) && (v.stage != WGSL_STAGE_CONST || v.form != WGSL_FORM_VALUE))
            v = qn__wf_error(w, e->loc, "a case's value must be a constant, which %s is not",
                             qn__wf_quote(w, e));
        v = qn__wf_convert(w, v, s->selector.type, e->loc,
                           qn__arena_printf(w->arena, "the case's value %s", qn__wf_quote(w, e)));
        if (qn__wf_is_error(&v)) continue;
        if (is_seen(s, v.bits[0]))
            qn__wf_error(w, e->loc, "the value %lld is there twice", (long long)(int32_t)v.bits[0]);
        qn__vec_push(w->arena, &s->seen, v.bits[0]);
        ir_value *same = qn__ir_op2(&w->b, IR_EQ, qn__wf_ir(w, &s->selector), qn__wf_ir(w, &v));
        chosen = chosen ? qn__ir_op2(&w->b, IR_OR, chosen, same) : same;
    }
    return chosen ? chosen : qn__ir_const_bool(w->b.function, false);
}

static void clause_body(wgsl_lower *w, const wgsl_stmt *clause) {
    if (clause) qn__wf_stmt(w, clause->then);
}

/* The clauses in order, each but the last an `if` with the rest as its else. The default's values count for nothing. */
static void clauses(wgsl_lower *w, switching *s) {
    QN__VEC(ir_instr *) branches = {0};
    const size_t count = s->stmt->body.len;
    for (size_t i = 0; i < count && !w->stopped; i++) {
        const wgsl_stmt *clause = s->stmt->body.data[i];
        ir_value *chosen = is_chosen(w, s, clause);
        if (clause->is_default) continue;
        ir_instr *branch = qn__ir_if(&w->b, chosen, NULL, 0);
        qn__vec_push(w->arena, &branches, branch);
        qn__ir_at_end(&w->b, branch->regions[0]);
        clause_body(w, clause);
        end_region(w);
        qn__ir_at_end(&w->b, branch->regions[1]);
    }
    clause_body(w, s->other);
    for (size_t i = branches.len; i-- > 0;) {
        ir_instr *branch = branches.data[i];
        end_region(w);
        const bool ends = !ends_in_yield(branch->regions[0]) && !ends_in_yield(branch->regions[1]);
        go_on(w, branch->parent, NULL, ends);
    }
}

static const wgsl_stmt *default_of(const wgsl_stmt *s) {
    for (size_t i = 0; i < s->body.len; i++)
        if (s->body.data[i]->is_default) return s->body.data[i];
    return NULL;
}

/* The selector and the cases get one type. */
static bool select_type(wgsl_lower *w, const wgsl_stmt *s, wgsl_value *selector) {
    for (size_t i = 0; i < s->body.len && qn__wf_is_abstract(selector->type); i++) {
        const wgsl_exprs *values = &s->body.data[i]->values;
        for (size_t k = 0; k < values->len; k++) {
            const wgsl_value v = qn__wf_rvalue(w, values->data[k]);
            if (v.form == WGSL_FORM_VALUE && v.type->kind == WGSL_U32)
                *selector = qn__wf_convert(w, *selector, v.type, s->a->loc, NULL);
        }
    }
    *selector = qn__wf_concrete(w, *selector, s->a->loc);
    return selector->form == WGSL_FORM_VALUE;
}

static void switch_statement(wgsl_lower *w, const wgsl_stmt *s) {
    switching plan = {.stmt = s, .other = default_of(s), .selector = qn__wf_rvalue(w, s->a)};
    if (qn__wf_is_error(&plan.selector)) return;
    if (plan.selector.form != WGSL_FORM_VALUE || !qn__wf_is_int(plan.selector.type)) {
        qn__wf_error(w, s->a->loc, "a switch chooses by i32 or u32, not '%s'",
                     plan.selector.type ? qn__wf_type_name(w, plan.selector.type) : "nothing");
        return;
    }
    if (!select_type(w, s, &plan.selector)) return;
    ir_instr *whole = qn__ir_block(&w->b, NULL, 0);
    ir_region *outer = w->b.region;
    wgsl_frame frame = {.outer = w->call->frames, .leave = whole};
    w->call->frames = &frame;
    qn__ir_at_end(&w->b, whole->regions[0]);
    clauses(w, &plan);
    end_region(w);
    w->call->frames = frame.outer;
    go_on(w, outer, NULL, !frame.is_left && !ends_in_yield(whole->regions[0]));
}

/* ---- loops ---- */

/* Body, continuing, and back. */
static void repeat(wgsl_lower *w, const wgsl_stmt *s, ir_instr *loop, wgsl_frame *frame) {
    const size_t symbols = w->symbols.len;
    ir_instr *inner = s->has_continue ? qn__ir_block(&w->b, NULL, 0) : NULL;
    ir_region *outer = w->b.region;
    frame->repeat = inner;
    if (inner) inner->mark = WGSL_MARK_CONTINUED;
    w->first_in_scope = symbols;
    if (inner) qn__ir_at_end(&w->b, inner->regions[0]);
    for (size_t i = 0; i < s->then->body.len && !w->stopped; i++) {
        frame->level = w->symbols.len;
        qn__wf_stmt(w, s->then->body.data[i]); /* its names are known in `continuing` */
    }
    frame->level = w->symbols.len;
    if (inner) {
        end_region(w);
        w->b.region = outer;
        w->b.before = NULL;
    }
    frame->repeat = NULL;
    frame->is_continuing = true;
    if (!qn__wf_is_dead(w)) {
        if (s->step) w->symbols.len = symbols; /* a `for` does not see what its body declares */
        if (s->continuing) list(w, &s->continuing->body);
        if (s->step) qn__wf_stmt(w, s->step);
        if (s->break_if) {
            ir_instr *branch = qn__ir_if(&w->b, truth(w, s->break_if, "break if"), NULL, 0);
            qn__ir_at_end(&w->b, branch->regions[0]);
            qn__ir_break(&w->b, loop, NULL, 0);
            frame->is_left = true;
            qn__ir_at_end(&w->b, branch->regions[1]);
            qn__ir_yield(&w->b, NULL, 0);
            w->b.region = branch->parent;
        }
    }
    if (!w->b.region->last || !qn__ir_is_jump(w->b.region->last)) qn__ir_continue(&w->b, loop, NULL, 0);
    w->symbols.len = symbols;
}

static void loop_statement(wgsl_lower *w, const wgsl_stmt *s) {
    const size_t symbols = w->symbols.len;
    const unsigned returns = w->call->returns;
    if (s->init) qn__wf_stmt(w, s->init);
    qn__wf_at(w, s->loc);
    ir_instr *loop = qn__ir_loop(&w->b, NULL, 0, NULL, 0);
    ir_region *outer = w->b.region;
    wgsl_frame frame = {.outer = w->call->frames, .leave = loop, .skipped = SIZE_MAX};
    w->call->frames = &frame;
    qn__ir_at_end(&w->b, loop->regions[0]);
    if (s->a) {
        ir_instr *branch = qn__ir_if(&w->b, truth(w, s->a, s->init || s->step ? "for" : "while"), NULL, 0);
        qn__ir_at_end(&w->b, branch->regions[0]);
        qn__ir_yield(&w->b, NULL, 0);
        qn__ir_at_end(&w->b, branch->regions[1]);
        qn__ir_break(&w->b, loop, NULL, 0);
        frame.is_left = true;
        w->b.region = branch->parent;
    }
    repeat(w, s, loop, &frame);
    w->call->frames = frame.outer;
    w->symbols.len = symbols;
    if (!frame.is_left && w->call->returns == returns) {
        qn__wf_error(w, s->loc, "this loop by '%s' never ends",
                     qn__wf_token_name((wgsl_token_kind)s->keyword));
        qn__wf_hint(w, "leave it by 'break', 'break if' or 'return'");
    }
    go_on(w, outer, NULL, !frame.is_left);
}

static void break_statement(wgsl_lower *w, const wgsl_stmt *s) {
    wgsl_frame *frame = w->call->frames;
    if (!frame) {
        qn__wf_error(w, s->loc, "'break' stands in a loop or switch only");
        return;
    }
    if (frame->is_continuing) {
        qn__wf_error(w, s->loc, "a 'continuing' is left by 'break if' at its end only");
        return;
    }
    frame->is_left = true;
    qn__ir_break(&w->b, frame->leave, NULL, 0);
}

static void continue_statement(wgsl_lower *w, const wgsl_stmt *s) {
    wgsl_frame *frame = w->call->frames;
    while (frame && !frame->repeat) frame = frame->outer;
    if (!frame) {
        qn__wf_error(w, s->loc, "'continue' stands in a loop only, and not in its 'continuing'");
        return;
    }
    if (frame->level < frame->skipped) {
        frame->skipped = frame->level;
        frame->continued = s->loc;
    }
    qn__ir_break(&w->b, frame->repeat, NULL, 0);
}

static void return_statement(wgsl_lower *w, const wgsl_stmt *s) {
    wgsl_call *call = w->call;
    const wgsl_type *type = call->result;
    for (const wgsl_frame *f = call->frames; f; f = f->outer)
        if (f->is_continuing) qn__wf_error(w, s->loc, "'return' cannot stand in a 'continuing'");
    call->returns++;
    wgsl_value v = {.form = WGSL_FORM_NONE};
    if (s->a) v = qn__wf_rvalue(w, s->a);
    if (s->a && !type && !qn__wf_is_error(&v))
        v = qn__wf_error(w, s->a->loc, "'return' with a value in a function without a result type");
    if (!s->a && type)
        v = qn__wf_error(w, s->loc, "the function must return a '%s'", qn__wf_type_name(w, type));
    if (type) v = qn__wf_convert(w, v, type, s->a ? s->a->loc : s->loc, "the result");
    qn__wf_at(w, s->loc);
    if (call->is_kernel) {
        qn__ir_return(&w->b, NULL);
        return;
    }
    if (call->block) {
        if (type) qn__wf_store(w, &call->value, &v);
        qn__ir_break(&w->b, call->block, NULL, 0);
        return;
    }
    call->value = qn__wf_is_error(&v) || !type ? v : qn__wf_at_run_time(w, v); /* the last statement */
    call->returned = true;
}

/* ---- assignments ---- */

static bool check_target(wgsl_lower *w, const wgsl_value *place, const wgsl_stmt *s) {
    if (qn__wf_is_error(place)) return false;
    if (place->form != WGSL_FORM_PLACE) {
        qn__wf_error(w, s->loc, "%s cannot be assigned to", qn__wf_quote(w, s->a));
        if (place->form >= WGSL_FORM_VALUE && place->form <= WGSL_FORM_COPY && s->a->kind == WGSL_EXPR_NAME)
            qn__wf_hint(w, "'%.*s' is a value; a variable is declared by 'var'", QN__STR_PRINTF(s->a->name));
        return false;
    }
    if (!(place->place.access & WGSL_WRITE)) {
        qn__wf_error(w, s->loc, "%s is only read: it is %s", qn__wf_quote(w, s->a),
                     place->place.space == WGSL_STORAGE   ? "storage with the access mode read"
                     : place->place.space == WGSL_UNIFORM ? "uniform"
                                                          : "a constant");
        if (place->place.space == WGSL_STORAGE) qn__wf_hint(w, "declare it by var<storage, read_write>");
        return false;
    }
    if (place->type->has_atomic || place->type->has_runtime) {
        qn__wf_error(w, s->loc,
                     place->type->has_atomic
                         ? "%s is an atomic, which atomicStore writes"
                         : "%s is an array without a length, which cannot be assigned as a whole",
                     qn__wf_quote(w, s->a));
        return false;
    }
    return true;
}

static void phony(wgsl_lower *w, const wgsl_stmt *s) {
    const wgsl_value v = qn__wf_eval(w, s->b);
    if (v.form == WGSL_FORM_NONE) qn__wf_error(w, s->b->loc, "%s has no result", qn__wf_quote(w, s->b));
    if (v.form == WGSL_FORM_PLACE && !v.type->has_atomic && !v.type->has_runtime) qn__wf_load(w, v);
}

static void assignment(wgsl_lower *w, const wgsl_stmt *s) {
    if (!s->a) {
        phony(w, s);
        return;
    }
    const wgsl_value place = qn__wf_eval(w, s->a);
    const bool steps = s->kind == WGSL_STMT_STEP, is_plain = s->op == WGSL_T_ASSIGN && !s->joined;
    const bool fits = check_target(w, &place, s);
    if (fits && steps && !qn__wf_is_int(place.type)) {
        qn__wf_error(w, s->loc, "only i32 and u32 are counted up and down, not '%s'",
                     qn__wf_type_name(w, place.type));
        return;
    }
    const wgsl_value old = fits && !is_plain ? qn__wf_load(w, place) : place;
    wgsl_value v = steps && fits ? qn__wf_known_splat(w, place.type, 1)
                   : steps       ? place
                                 : qn__wf_rvalue(w, s->b);
    if (!fits) return;
    qn__wf_at(w, s->loc);
    if (!is_plain) v = qn__wf_binary(w, s->op, s->joined, old, v, s->loc);
    v = qn__wf_convert(w, v, place.type, s->loc, "the value");
    qn__wf_store(w, &place, &v);
}

/* ---- calls ---- */

static void call_statement(wgsl_lower *w, const wgsl_stmt *s) {
    const wgsl_value v = qn__wf_eval(w, s->a);
    if (qn__wf_is_error(&v) || v.form == WGSL_FORM_NONE) return;
    wgsl_expr callee = *s->a;
    callee.kind = WGSL_EXPR_NAME;
    const wgsl_value function = qn__wf_is_generator(callee.name) ? v : qn__wf_lookup(w, &callee);
    const bool is_atomic = function.form == WGSL_FORM_BUILTIN && function.builtin->special == qn__wf_atomic;
    const bool must_use = function.form == WGSL_FORM_FUNCTION
                              ? qn__wf_attribute(&function.decl->attributes, "must_use") != NULL
                              : !is_atomic && (function.form != WGSL_FORM_BUILTIN ||
                                               function.builtin->special != qn__wf_uniform_load);
    if (!must_use) return;
    qn__wf_error(w, s->loc, "the result of '%.*s' must be used", QN__STR_PRINTF(s->a->name));
    qn__wf_hint(w, "write '_ = %.*s(...)' to drop it", QN__STR_PRINTF(s->a->name));
}

static void declaration(wgsl_lower *w, const wgsl_stmt *s, size_t first) {
    for (size_t i = first; s->decl->name.len && i < w->symbols.len; i++) {
        if (!qn__str_equal(w->symbols.data[i].name, s->decl->name)) continue;
        qn__wf_error(w, s->decl->loc, "'%.*s' is declared twice", QN__STR_PRINTF(s->decl->name));
        qn__diag_note(w->diag, w->symbols.data[i].loc, "the other declaration is here");
        return;
    }
    qn__wf_local_decl(w, s->decl);
}

/* ---- all of them ---- */

static void statement(wgsl_lower *w, const wgsl_stmt *s) {
    const size_t outer = w->first_in_scope;
    switch (s->kind) {
    case WGSL_STMT_BLOCK:
        w->first_in_scope = w->symbols.len;
        block(w, s);
        w->first_in_scope = outer;
        return;
    case WGSL_STMT_DECL: declaration(w, s, w->first_in_scope); return;
    case WGSL_STMT_ASSIGN:
    case WGSL_STMT_STEP: assignment(w, s); return;
    case WGSL_STMT_CALL: call_statement(w, s); return;
    case WGSL_STMT_IF: if_statement(w, s); return;
    case WGSL_STMT_SWITCH: switch_statement(w, s); return;
    case WGSL_STMT_LOOP:
        w->first_in_scope = w->symbols.len;
        loop_statement(w, s);
        w->first_in_scope = outer;
        return;
    case WGSL_STMT_BREAK: break_statement(w, s); return;
    case WGSL_STMT_CONTINUE: continue_statement(w, s); return;
    default: return_statement(w, s);
    }
}

/* What stands behind a jump is never reached: it goes into a branch that is not taken, so that it is looked at like the rest. */
static ir_region *unreached(wgsl_lower *w) {
    ir_region *outer = w->b.region;
    w->b.region = QN__NEW(w->arena, ir_region);
    w->b.region->function = w->b.function;
    w->b.region->owner = outer->owner;
    w->b.before = NULL;
    return outer;
}

void qn__wf_stmt(wgsl_lower *w, const wgsl_stmt *s) {
    if (!s || !qn__wf_enter(w, s->loc)) return;
    ir_region *outer = qn__wf_is_dead(w) ? unreached(w) : NULL;
    const size_t notes = w->gatherings.len;
    qn__wf_at(w, s->loc);
    statement(w, s);
    if (outer) {
        w->b.region = outer;
        w->b.before = NULL;
        w->gatherings.len = notes;
    }
    w->depth--;
}

void qn__wf_function_body(wgsl_lower *w, wgsl_decl *decl) {
    const size_t outer = w->first_in_scope;
    w->first_in_scope = w->call->first_symbol; /* parameters and the body share a scope */
    block(w, decl->body);
    w->first_in_scope = outer;
    const bool ends = qn__wf_is_dead(w) || w->call->returned;
    if (ends || !w->call->result || w->stopped) return;
    qn__wf_error(w, decl->body->end, "function '%.*s' does not return a '%s' on every way through it",
                 QN__STR_PRINTF(decl->name), qn__wf_type_name(w, w->call->result));
}
