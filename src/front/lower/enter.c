/* Jumps into statements, which C has and the IR has not: a goto to a label inside a loop or an if that the goto stands
   outside of, and a case label inside a nested statement of its switch. The tree is rewritten before it is lowered. A
   variable, the entry, says which label is on its way to be reached; 0: none.

       goto in;                            entry = 1; goto before;
       ...                                 ...
       while (c) { a; in: b; }      ->     before: while (entry == 1 || c) {
                                               if (entry == 1) goto here;
                                               a;
                                               here: in: if (entry == 1) entry = 0; b;
                                           }

   The gotos that are left lead to labels of lists around them, which goto.c turns into blocks and loops. A switch with
   nested labels becomes a switch of gotos in front of its body. */
#include "front/lower/internal.h"

enum { MOST_ENTRIES = 200 };

static const ast_type int_type = {.kind = AST_INT, .unqualified = &int_type, .size = 4, .align = 4};
static const ast_type bool_type = {.kind = AST_BOOL, .unqualified = &bool_type, .size = 1, .align = 1};

typedef struct way {
    const ast_stmt *label, *list;
    ast_stmt *before;
    unsigned id;
} way;

typedef struct enterer {
    lower *l;
    ast_decl *entry;
    qn__map64 parents; /* of each statement below the root */
    QN__VEC(ast_stmt *) gotos;
    QN__VEC(way) ways;
} enterer;

/* ---- making trees ---- */

static ast_stmt *new_stmt(lower *l, ast_stmt_kind kind, front_loc loc) {
    ast_stmt *stmt = QN__NEW(l->arena, ast_stmt);
    stmt->stmt_kind = (uint8_t)kind;
    stmt->loc = stmt->end = loc;
    return stmt;
}

static ast_stmt *new_label(lower *l, front_loc loc) {
    ast_stmt *label = new_stmt(l, STMT_LABEL, loc);
    label->label = "";
    label->then_stmt = new_stmt(l, STMT_EMPTY, loc);
    return label;
}

static ast_stmt *new_goto(lower *l, ast_stmt *target, front_loc loc) {
    ast_stmt *stmt = new_stmt(l, STMT_GOTO, loc);
    stmt->target = target;
    return stmt;
}

static ast_expr *new_expr(lower *l, ast_expr_kind kind, const ast_type *type, front_loc loc, ast_expr *a,
                          ast_expr *b) {
    ast_expr *e = QN__NEW(l->arena, ast_expr);
    e->expr_kind = (uint8_t)kind;
    e->type = type;
    e->loc = loc;
    e->a = a;
    e->b = b;
    return e;
}

static ast_expr *as_bool(lower *l, ast_expr *e) {
    ast_expr *made = new_expr(l, EXPR_CONVERT, &bool_type, e->loc, e, NULL);
    made->convert = CONVERT_TO_BOOL;
    return made;
}

static ast_expr *entry_place(enterer *n, front_loc loc) {
    ast_expr *e = new_expr(n->l, EXPR_VARIABLE, &int_type, loc, NULL, NULL);
    e->decl = n->entry;
    e->is_lvalue = true;
    return e;
}

static ast_expr *number(enterer *n, unsigned value, front_loc loc) {
    ast_expr *e = new_expr(n->l, EXPR_INT, &int_type, loc, NULL, NULL);
    e->int_value = value;
    return e;
}

static ast_stmt *set_entry(enterer *n, unsigned id, front_loc loc) {
    ast_stmt *stmt = new_stmt(n->l, STMT_EXPR, loc);
    stmt->expr = new_expr(n->l, EXPR_ASSIGN, &int_type, loc, entry_place(n, loc), number(n, id, loc));
    return stmt;
}

/* entry == id, or != */
static ast_expr *compare_entry(enterer *n, ast_binary op, unsigned id, front_loc loc) {
    ast_expr *value = new_expr(n->l, EXPR_LOAD, &int_type, loc, entry_place(n, loc), NULL);
    ast_expr *e = new_expr(n->l, EXPR_BINARY, &int_type, loc, value, number(n, id, loc));
    e->binary = (uint8_t)op;
    return as_bool(n->l, e);
}

/* entry == id || cond, or entry != id && cond */
static ast_expr *with_entry(enterer *n, ast_expr *cond, unsigned id, bool enters) {
    ast_expr *entered = compare_entry(n, enters ? BINARY_EQ : BINARY_NE, id, cond->loc);
    ast_expr *e = new_expr(n->l, EXPR_LOGICAL, &int_type, cond->loc, entered, cond);
    e->binary = enters ? BINARY_OR : BINARY_AND;
    return as_bool(n->l, e);
}

static ast_stmt *new_if(enterer *n, ast_expr *cond, ast_stmt *then) {
    ast_stmt *stmt = new_stmt(n->l, STMT_IF, then->loc);
    stmt->cond = cond;
    stmt->then_stmt = then;
    return stmt;
}

static void insert(lower *l, ast_stmt *list, size_t at, ast_stmt *stmt) {
    qn__vec_push(l->arena, &list->body, stmt);
    for (size_t i = list->body.len - 1; i > at; i--) list->body.data[i] = list->body.data[i - 1];
    list->body.data[at] = stmt;
}

/* ---- a switch as gotos ---- */

static void breaks_to_gotos(ast_stmt *stmt, const ast_stmt *target, ast_stmt *end) {
    if (!stmt) return;
    if (stmt->stmt_kind == STMT_BREAK && stmt->target == target) {
        stmt->stmt_kind = STMT_GOTO;
        stmt->target = end;
    }
    for (size_t i = 0; i < stmt->body.len; i++) breaks_to_gotos(stmt->body.data[i], target, end);
    breaks_to_gotos(stmt->then_stmt, target, end);
    breaks_to_gotos(stmt->else_stmt, target, end);
}

/* { switch (x) { case 1: goto one; default: goto end; } BODY, its case labels plain ones; end: } */
static void switch_to_gotos(lower *l, ast_stmt *stmt) {
    ast_stmt *body = stmt->then_stmt, *end = new_label(l, stmt->loc);
    ast_stmt *dispatch = new_stmt(l, STMT_SWITCH, stmt->loc), *list = new_stmt(l, STMT_COMPOUND, stmt->loc);
    bool has_default = false;
    dispatch->cond = stmt->cond;
    dispatch->then_stmt = list;
    breaks_to_gotos(body, stmt, end);
    for (size_t i = 0; i <= stmt->cases.len; i++) {
        ast_stmt *label = i < stmt->cases.len ? stmt->cases.data[i] : NULL;
        if (!label && has_default) break;
        ast_stmt *made = new_stmt(l, label ? (ast_stmt_kind)label->stmt_kind : STMT_DEFAULT, stmt->loc);
        has_default |= made->stmt_kind == STMT_DEFAULT;
        made->case_low = label ? label->case_low : 0;
        made->then_stmt = new_goto(l, label ? label : end, stmt->loc);
        if (label) label->stmt_kind = STMT_LABEL;
        qn__vec_push(l->arena, &dispatch->cases, made);
        qn__vec_push(l->arena, &list->body, made);
    }
    *stmt = (ast_stmt){.stmt_kind = STMT_COMPOUND, .loc = stmt->loc, .end = stmt->end};
    qn__vec_push(l->arena, &stmt->body, dispatch);
    if (body->stmt_kind == STMT_COMPOUND)
        for (size_t i = 0; i < body->body.len; i++) qn__vec_push(l->arena, &stmt->body, body->body.data[i]);
    else
        qn__vec_push(l->arena, &stmt->body, body);
    qn__vec_push(l->arena, &stmt->body, end);
}

/* ---- who is inside what ---- */

static void look_at(enterer *n, ast_stmt *stmt, ast_stmt *parent) {
    if (!stmt) return;
    qn__map64_set(n->l->arena, &n->parents, (uint64_t)(uintptr_t)stmt, parent);
    if (stmt->stmt_kind == STMT_GOTO) qn__vec_push(n->l->arena, &n->gotos, stmt);
    for (size_t i = 0; i < stmt->body.len; i++) look_at(n, stmt->body.data[i], stmt);
    look_at(n, stmt->then_stmt, stmt);
    look_at(n, stmt->else_stmt, stmt);
}

static ast_stmt *parent_of(enterer *n, const ast_stmt *stmt) {
    return qn__map64_get(&n->parents, (uint64_t)(uintptr_t)stmt);
}

static bool is_inside(enterer *n, const ast_stmt *stmt, const ast_stmt *outer) {
    while (stmt && stmt != outer) stmt = parent_of(n, stmt);
    return stmt != NULL;
}

/* The list that a label stands in; of one that is all of a loop's body or an if's arm, the label itself. */
static ast_stmt *list_of(enterer *n, ast_stmt *label) {
    ast_stmt *parent = parent_of(n, label);
    while (parent && (parent->stmt_kind == STMT_LABEL || parent->stmt_kind == STMT_CASE ||
                      parent->stmt_kind == STMT_DEFAULT)) {
        label = parent;
        parent = parent_of(n, label);
    }
    return parent && parent->stmt_kind == STMT_COMPOUND ? parent : label;
}

static ast_stmt *switch_around(enterer *n, const ast_stmt *list) {
    ast_stmt *parent = parent_of(n, list);
    return parent && parent->stmt_kind == STMT_SWITCH ? parent : NULL;
}

/* ---- ways to labels ---- */

static void lead(enterer *n, ast_stmt *stmt, ast_stmt *label, unsigned id);

static void lead_into_list(enterer *n, ast_stmt *list, ast_stmt *label, unsigned id) {
    for (size_t i = 0; i < list->body.len; i++) {
        ast_stmt *inner = list->body.data[i];
        if (!is_inside(n, label, inner)) continue;
        ast_stmt *here = new_label(n->l, inner->loc);
        insert(n->l, list, i, here);
        ast_expr *entered = compare_entry(n, BINARY_EQ, id, inner->loc);
        insert(n->l, list, 0, new_if(n, entered, new_goto(n->l, here, inner->loc)));
        lead(n, inner, label, id);
        return;
    }
}

static void lead_into_if(enterer *n, ast_stmt *stmt, ast_stmt *label, unsigned id) {
    const bool is_then = is_inside(n, label, stmt->then_stmt);
    stmt->cond = with_entry(n, stmt->cond, id, is_then);
    lead(n, is_then ? stmt->then_stmt : stmt->else_stmt, label, id);
}

/* Makes the statement go to the label inside it where the entry is `id`. */
static void lead(enterer *n, ast_stmt *stmt, ast_stmt *label, unsigned id) {
    if (stmt == label) {
        ast_stmt *list = new_stmt(n->l, STMT_COMPOUND, stmt->loc);
        /* Only then: the way to another label may lead past this one. */
        ast_expr *arrives = compare_entry(n, BINARY_EQ, id, stmt->loc);
        ast_stmt *arrived = new_if(n, arrives, set_entry(n, 0, stmt->loc));
        qn__vec_push(n->l->arena, &list->body, arrived);
        qn__vec_push(n->l->arena, &list->body, stmt->then_stmt);
        stmt->then_stmt = list;
        return;
    }
    switch (stmt->stmt_kind) {
    case STMT_SWITCH:
        switch_to_gotos(n->l, stmt);
        lead_into_list(n, stmt, label, id);
        return;
    case STMT_COMPOUND: lead_into_list(n, stmt, label, id); return;
    case STMT_IF: lead_into_if(n, stmt, label, id); return;
    case STMT_FOR:
        if (stmt->init) stmt->init = new_if(n, compare_entry(n, BINARY_NE, id, stmt->loc), stmt->init);
        break;
    default: break;
    }
    const bool has_condition = stmt->stmt_kind == STMT_FOR || stmt->stmt_kind == STMT_WHILE;
    if (has_condition && stmt->cond) stmt->cond = with_entry(n, stmt->cond, id, true);
    lead(n, stmt->then_stmt, label, id);
}

static way *find_way(enterer *n, const ast_stmt *label, const ast_stmt *list) {
    for (size_t i = 0; i < n->ways.len; i++)
        if (n->ways.data[i].label == label && n->ways.data[i].list == list) return &n->ways.data[i];
    return NULL;
}

static way *make_way(enterer *n, ast_stmt *label, ast_stmt *list) {
    way made = {label, list, new_label(n->l, label->loc), (unsigned)n->ways.len + 1};
    for (size_t i = 0; i < list->body.len; i++) {
        ast_stmt *stmt = list->body.data[i];
        if (!is_inside(n, label, stmt)) continue;
        insert(n->l, list, i, made.before);
        lead(n, stmt, label, made.id);
        break;
    }
    qn__vec_push(n->l->arena, &n->ways, made);
    return &qn__vec_last(&n->ways);
}

/* Turns one goto that cannot stay as it is into one to a label around it; false: all can. */
static bool lead_one(enterer *n) {
    for (size_t i = 0; i < n->gotos.len; i++) {
        ast_stmt *jump = n->gotos.data[i], *label = jump->target;
        if (!parent_of(n, label)) continue; /* outside of the root */
        ast_stmt *list = list_of(n, label), *around = switch_around(n, list);
        const bool is_reached = is_inside(n, jump, list);
        if (is_reached && !around) continue;
        if (!is_reached) {
            for (list = parent_of(n, jump);
                 list && !(list->stmt_kind == STMT_COMPOUND && is_inside(n, label, list));)
                list = parent_of(n, list);
            if (!list) continue;
            around = switch_around(n, list);
        }
        if (around) {
            switch_to_gotos(n->l, around);
            return true;
        }
        way *to = find_way(n, label, list);
        if (!to) to = make_way(n, label, list);
        ast_stmt *leave = new_goto(n->l, to->before, jump->loc);
        *jump = (ast_stmt){.stmt_kind = STMT_COMPOUND, .loc = jump->loc, .end = jump->loc};
        qn__vec_push(n->l->arena, &jump->body, set_entry(n, to->id, jump->loc));
        qn__vec_push(n->l->arena, &jump->body, leave);
        return true;
    }
    return false;
}

void qn__lower_enter_statements(lower *l, ast_stmt *root) {
    enterer n = {.l = l, .entry = QN__NEW(l->arena, ast_decl)};
    *n.entry = (ast_decl){
        .decl_kind = DECL_VARIABLE, .name = "entry", .type = &int_type, .loc = root->loc, .align = 4};
    do {
        if (n.ways.len > MOST_ENTRIES) {
            qn__lower_error(l, root->loc, "too many jumps into statements", "write loops and functions");
            return;
        }
        n.parents = (qn__map64){0};
        n.gotos.len = 0;
        look_at(&n, root, NULL);
    } while (lead_one(&n));
    if (n.ways.len) insert(l, root, 0, set_entry(&n, 0, root->loc));
}

void qn__lower_nested_switch(lower *l, ast_stmt *stmt) {
    const bool outer = l->has_labels;
    l->decl->uses_goto = true; /* where it is lowered a second time */
    switch_to_gotos(l, stmt);
    qn__lower_enter_statements(l, stmt);
    l->has_labels = true;
    qn__lower_stmt(l, stmt);
    l->has_labels = outer;
}
