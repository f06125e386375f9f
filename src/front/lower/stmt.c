/* Statements to regions. A loop is `loop { if (!cond) break; body; step; continue }`; where the body has a
   `continue` and something follows the body, the body stands in a block that the continue leaves. Statements
   behind a jump are dropped. */
#include "front/lower/internal.h"

/* ---- looking through statements ---- */

bool qn__lower_find(ast_stmt *stmt, bool (*visit)(const ast_stmt *stmt, const void *user), const void *user) {
    if (!stmt) return false;
    if (visit(stmt, user)) return true;
    for (size_t i = 0; i < stmt->body.len; i++)
        if (qn__lower_find(stmt->body.data[i], visit, user)) return true;
    return qn__lower_find(stmt->then_stmt, visit, user) || qn__lower_find(stmt->else_stmt, visit, user);
}

static bool is_continue_of(const ast_stmt *stmt, const void *loop) {
    return stmt->stmt_kind == STMT_CONTINUE && stmt->target == loop;
}

static bool has_continue(const ast_stmt *loop) {
    return qn__lower_find(loop->then_stmt, is_continue_of, loop);
}

bool qn__lower_ends_in_jump(const ast_stmt *stmt) {
    switch (stmt->stmt_kind) {
    case STMT_BREAK:
    case STMT_CONTINUE:
    case STMT_RETURN:
    case STMT_GOTO: return true;
    case STMT_COMPOUND: return stmt->body.len && qn__lower_ends_in_jump(qn__vec_last(&stmt->body));
    case STMT_CASE:
    case STMT_DEFAULT:
    case STMT_LABEL: return qn__lower_ends_in_jump(stmt->then_stmt);
    case STMT_IF:
        return stmt->else_stmt && qn__lower_ends_in_jump(stmt->then_stmt) &&
               qn__lower_ends_in_jump(stmt->else_stmt);
    default: return false;
    }
}

/* ---- regions ---- */

void qn__lower_unreachable(lower *l) { qn__ir_emit(&l->b, IR_UNREACHABLE, NULL, 0, NULL, 0); }

/* Ends the region of an if or block unless a jump already does; returns whether control reaches its end. */
static bool end_region(lower *l) {
    if (l->b.region->last && qn__ir_is_jump(l->b.region->last)) return false;
    qn__ir_yield(&l->b, NULL, 0);
    return true;
}

static lower_frame *push_frame(lower *l, lower_frame *frame) {
    frame->outer = l->frames;
    return l->frames = frame;
}

/* ---- if ---- */

static void lower_if(lower *l, ast_stmt *stmt) {
    ir_value *condition = qn__lower_truth(l, stmt->cond);
    qn__lower_at(l, stmt->loc);
    ir_instr *branch = qn__ir_if(&l->b, condition, NULL, 0);
    ir_region *after = l->b.region;
    bool is_reached = false;
    for (int arm = 0; arm < 2; arm++) {
        qn__ir_at_end(&l->b, branch->regions[arm]);
        ast_stmt *body = arm ? stmt->else_stmt : stmt->then_stmt;
        if (body) qn__lower_stmt(l, body);
        qn__lower_at(l, stmt->loc);
        is_reached |= end_region(l);
    }
    qn__ir_at_end(&l->b, after);
    if (!is_reached) qn__lower_unreachable(l);
}

/* ---- loops ---- */

/* Leaves the loop unless the condition holds. */
static void loop_condition(lower *l, lower_frame *frame, ast_expr *cond) {
    ir_value *condition = qn__lower_truth(l, cond);
    if (qn__ir_is_const(condition) && condition->bits[0]) return;
    qn__lower_at(l, cond->loc);
    ir_instr *branch = qn__ir_if(&l->b, condition, NULL, 0);
    ir_region *after = l->b.region;
    qn__ir_at_end(&l->b, branch->regions[0]);
    qn__ir_yield(&l->b, NULL, 0);
    qn__ir_at_end(&l->b, branch->regions[1]);
    qn__ir_break(&l->b, frame->break_to, NULL, 0);
    frame->is_left = true;
    qn__ir_at_end(&l->b, after);
}

/* The body, in a block of its own if a `continue` in it must still run what follows. */
static void loop_body(lower *l, lower_frame *frame, ast_stmt *stmt, bool has_tail) {
    if (!has_tail || !has_continue(stmt)) {
        qn__lower_stmt(l, stmt->then_stmt);
        return;
    }
    ir_instr *loop = frame->continue_to;
    ir_instr *block = qn__ir_block(&l->b, NULL, 0);
    ir_region *after = l->b.region;
    frame->continue_to = block;
    frame->continue_breaks = true;
    qn__ir_at_end(&l->b, block->regions[0]);
    qn__lower_stmt(l, stmt->then_stmt);
    end_region(l);
    qn__ir_at_end(&l->b, after);
    frame->continue_to = loop;
    frame->continue_breaks = false;
}

static void end_loop(lower *l, lower_frame *frame, ast_stmt *stmt, ir_region *after) {
    qn__lower_at(l, stmt->loc);
    if (!qn__lower_is_dead(l)) qn__ir_continue(&l->b, frame->break_to, NULL, 0);
    l->frames = frame->outer;
    qn__ir_at_end(&l->b, after);
    if (!frame->is_left) qn__lower_unreachable(l);
}

static ir_region *begin_loop(lower *l, lower_frame *frame, ast_stmt *stmt) {
    qn__lower_at(l, stmt->loc);
    ir_instr *loop = qn__lower_loop(l, stmt->loc);
    loop->attr.unroll = stmt->unroll;
    *frame = (lower_frame){.stmt = stmt, .break_to = loop, .continue_to = loop};
    push_frame(l, frame);
    ir_region *after = l->b.region;
    qn__ir_at_end(&l->b, loop->regions[0]);
    return after;
}

static void lower_while(lower *l, ast_stmt *stmt) {
    lower_frame frame;
    ir_region *after = begin_loop(l, &frame, stmt);
    loop_condition(l, &frame, stmt->cond);
    loop_body(l, &frame, stmt, false);
    end_loop(l, &frame, stmt, after);
}

static void lower_for(lower *l, ast_stmt *stmt) {
    if (stmt->init) qn__lower_stmt(l, stmt->init);
    lower_frame frame;
    ir_region *after = begin_loop(l, &frame, stmt);
    if (stmt->cond) loop_condition(l, &frame, stmt->cond);
    loop_body(l, &frame, stmt, stmt->step != NULL);
    if (stmt->step && !qn__lower_is_dead(l)) qn__lower_effects(l, stmt->step);
    end_loop(l, &frame, stmt, after);
}

/* do { ... } while (0), as macros are written, is a block that break and continue leave. */
static void lower_once(lower *l, ast_stmt *stmt) {
    qn__lower_at(l, stmt->loc);
    ir_instr *block = qn__ir_block(&l->b, NULL, 0);
    ir_region *after = l->b.region;
    lower_frame frame = {.stmt = stmt, .break_to = block, .continue_to = block, .continue_breaks = true};
    push_frame(l, &frame);
    qn__ir_at_end(&l->b, block->regions[0]);
    qn__lower_stmt(l, stmt->then_stmt);
    bool is_reached = end_region(l);
    l->frames = frame.outer;
    qn__ir_at_end(&l->b, after);
    if (!is_reached && !frame.is_left && !has_continue(stmt)) qn__lower_unreachable(l);
}

static void lower_do(lower *l, ast_stmt *stmt) {
    const ast_expr *cond = stmt->cond;
    while (cond->expr_kind == EXPR_CONVERT && cond->convert == CONVERT_TO_BOOL) cond = cond->a;
    int64_t constant;
    if (qn__lower_const_int(cond, &constant) && !constant) {
        lower_once(l, stmt);
        return;
    }
    lower_frame frame;
    ir_region *after = begin_loop(l, &frame, stmt);
    loop_body(l, &frame, stmt, true);
    if (!qn__lower_is_dead(l)) loop_condition(l, &frame, stmt->cond);
    end_loop(l, &frame, stmt, after);
}

/* ---- jumps ---- */

static lower_frame *find_frame(lower *l, const ast_stmt *target) {
    lower_frame *frame = l->frames;
    while (frame && frame->stmt != target) frame = frame->outer;
    return frame;
}

static void lower_break(lower *l, ast_stmt *stmt) {
    lower_frame *frame = find_frame(l, stmt->target);
    qn__lower_at(l, stmt->loc);
    if (!frame || !frame->break_to) {
        qn__lower_unreachable(l);
        return;
    }
    frame->is_left = true;
    qn__ir_break(&l->b, frame->break_to, NULL, 0);
}

static void lower_continue(lower *l, ast_stmt *stmt) {
    lower_frame *frame = find_frame(l, stmt->target);
    qn__lower_at(l, stmt->loc);
    if (!frame || !frame->continue_to)
        qn__lower_unreachable(l);
    else if (frame->continue_breaks)
        qn__ir_break(&l->b, frame->continue_to, NULL, 0);
    else
        qn__ir_continue(&l->b, frame->continue_to, NULL, 0);
}

static void lower_return(lower *l, ast_stmt *stmt) {
    ir_value *v = NULL;
    if (stmt->cond && l->result && qn__type_is_record(stmt->cond->type))
        qn__lower_record_copy(l, l->result, stmt->cond->type->align, stmt->cond);
    else if (stmt->cond)
        v = qn__lower_value(l, stmt->cond);
    qn__lower_at(l, stmt->loc);
    bool has_value = l->b.function->result.kind != IR_VOID;
    if (has_value && !v) v = qn__ir_undef(l->b.function, l->b.function->result);
    qn__ir_return(&l->b, has_value ? v : NULL);
}

/* ---- declarations ---- */

/* Whether the declaration may come again in one run of the kernel: in a loop, or in a function that is called in one. */
static bool may_repeat(const lower *l) {
    if (!l->as_kernel) return true;
    for (const lower_frame *f = l->frames; f; f = f->outer)
        if (f->continue_to) return true;
    return false;
}

/* For the checker: a variable that is declared again has no value, whatever it held before. It gets that of one which nobody writes. */
static void forget(lower *l, const ast_decl *decl, uint32_t align) {
    const ast_type *type = decl->type;
    ir_value *never = qn__lower_temporary(l, type, decl->name, align);
    if (type->kind == AST_ARRAY || qn__type_is_record(type)) {
        qn__ir_copy(&l->b, decl->address, never, type->size, align);
    } else {
        const ir_type held = qn__lower_memory_type(type);
        ir_value *unset = qn__ir_load(&l->b, never, held, align, IR_VOLATILE | IR_READONLY);
        qn__ir_store(&l->b, decl->address, unset, align, 0);
    }
}

static void lower_decl(lower *l, ast_decl *decl) {
    if (decl->decl_kind != DECL_VARIABLE || decl->is_static_local || decl->is_state) return;
    if (decl->type->space == IR_CONSTANT_SPACE) return;
    qn__lower_at(l, decl->loc);
    uint32_t align = decl->align > decl->type->align ? decl->align : decl->type->align;
    if (decl->type->space == IR_LOCAL_SPACE) {
        ir_local local = {.name = decl->name, .size = decl->type->size, .align = align, .loc = l->b.loc};
        decl->global_index = qn__ir_local_add(l->b.function, local);
        return;
    }
    decl->address = qn__lower_temporary(l, decl->type, decl->name, align);
    if (decl->init)
        qn__lower_init(l, decl->address, decl->type, align, decl->init);
    else if (l->config->target.wants_checks && decl->type->size && may_repeat(l))
        forget(l, decl, align);
}

/* ---- all of them ---- */

void qn__lower_list(lower *l, ast_stmt *const *list, size_t len) {
    if (l->has_labels) {
        qn__lower_labelled_list(l, list, len);
        return;
    }
    for (size_t i = 0; i < len; i++) {
        if (qn__lower_is_dead(l)) return;
        qn__lower_stmt(l, list[i]);
    }
}

static void stmt_by_kind(lower *l, ast_stmt *stmt) {
    switch (stmt->stmt_kind) {
    case STMT_EXPR: qn__lower_effects(l, stmt->expr); break;
    case STMT_DECL:
        for (size_t i = 0; i < stmt->decls.len; i++) lower_decl(l, stmt->decls.data[i]);
        break;
    case STMT_COMPOUND: qn__lower_list(l, stmt->body.data, stmt->body.len); break;
    case STMT_IF: lower_if(l, stmt); break;
    case STMT_WHILE: lower_while(l, stmt); break;
    case STMT_DO: lower_do(l, stmt); break;
    case STMT_FOR: lower_for(l, stmt); break;
    case STMT_SWITCH: qn__lower_switch(l, stmt); break;
    case STMT_CASE:
    case STMT_DEFAULT: qn__lower_stmt(l, stmt->then_stmt); break;
    case STMT_LABEL:
        if (l->has_labels)
            qn__lower_labelled_list(l, &stmt, 1);
        else
            qn__lower_stmt(l, stmt->then_stmt);
        break;
    case STMT_BREAK: lower_break(l, stmt); break;
    case STMT_CONTINUE: lower_continue(l, stmt); break;
    case STMT_RETURN: lower_return(l, stmt); break;
    case STMT_GOTO: qn__lower_goto(l, stmt); break;
    default: break;
    }
}

void qn__lower_stmt(lower *l, ast_stmt *stmt) {
    if (qn__lower_is_dead(l) || !qn__lower_enter(l, stmt->loc)) return;
    stmt_by_kind(l, stmt);
    l->depth--;
}
