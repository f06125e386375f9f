/* goto. Within one list of statements, gotos ahead to a label become breaks out of a block that ends before
   it, gotos back to it become repeats of a loop that starts at it. Blocks may start earlier and loops may end
   later than needed, which is how crossing ranges are made to nest; what still does not nest is reported. Jumps into
   a statement from outside are none any more (enter.c). */
#include "front/lower/internal.h"

enum { MAX_LABELS = 100 };

typedef struct range {
    size_t from, to; /* statements from..to-1 */
    ast_stmt *label;
    const ast_stmt *cause; /* the goto to blame */
    bool is_loop, is_open;
} range;

typedef struct range_list {
    QN__VEC(range) ranges;
    ast_stmt *const *list;
} range_list;

/* ---- finding ranges ---- */

typedef struct goto_query {
    const ast_stmt *label;
    const ast_stmt *found;
} goto_query;

static bool is_goto_to(const ast_stmt *stmt, const void *user) {
    goto_query *query = *(goto_query *const *)user;
    if (stmt->stmt_kind != STMT_GOTO || stmt->target != query->label) return false;
    query->found = stmt;
    return true;
}

static const ast_stmt *find_goto(ast_stmt *stmt, const ast_stmt *label) {
    goto_query query = {.label = label}, *user = &query;
    qn__lower_find(stmt, is_goto_to, &user);
    return query.found;
}

/* Ranges for one label at position `at` of the list. */
static void add_label(lower *l, range_list *r, size_t len, size_t at, ast_stmt *label) {
    const ast_stmt *ahead = NULL, *back = NULL;
    size_t first = at, last = at;
    for (size_t i = 0; i < len; i++) {
        const ast_stmt *found = find_goto(r->list[i], label);
        if (!found) continue;
        if (i < at && !ahead) first = i;
        if (i < at) ahead = found;
        if (i >= at) last = i;
        if (i >= at) back = found;
    }
    if (ahead)
        qn__vec_push(l->arena, &r->ranges, (range){.from = first, .to = at, .label = label, .cause = ahead});
    if (back)
        qn__vec_push(l->arena, &r->ranges,
                     (range){.from = at, .to = last + 1, .label = label, .cause = back, .is_loop = true});
}

static bool crosses(const range *a, const range *b) {
    return a->from < b->from && b->from < a->to && a->to < b->to;
}

/* Makes two ranges nest, the first starting earlier; false where they cannot. */
static bool untangle(range *a, range *b) {
    if (!b->is_loop) { /* the later block can start with the earlier range */
        b->from = a->from;
        return true;
    }
    if (a->is_loop) { /* the earlier loop can end with the later one */
        a->to = b->to;
        return true;
    }
    return false; /* a jump from before a loop into it */
}

static void nest(lower *l, range_list *r) {
    bool changed = true;
    while (changed) {
        changed = false;
        for (size_t i = 0; i < r->ranges.len; i++)
            for (size_t k = 0; k < r->ranges.len; k++) {
                range *a = &r->ranges.data[i], *b = &r->ranges.data[k];
                if (!crosses(a, b)) continue;
                if (!untangle(a, b)) {
                    qn__lower_error(l, a->cause->loc, "this goto jumps into a loop that another goto makes",
                                    "write that loop with for or while: a goto may jump into it then");
                    a->to = a->from;
                }
                changed = true;
            }
    }
}

/* ---- lowering ranges ---- */

static void lower_range(lower *l, range_list *r, size_t from, size_t to);

static void end_region(lower *l) {
    if (!l->b.region->last || !qn__ir_is_jump(l->b.region->last)) qn__ir_yield(&l->b, NULL, 0);
}

static void open_block(lower *l, range_list *r, range *open) {
    ir_instr *block = qn__ir_block(&l->b, NULL, 0);
    ir_region *after = l->b.region;
    lower_frame frame = {.outer = l->frames, .stmt = open->label, .break_to = block};
    l->frames = &frame;
    qn__ir_at_end(&l->b, block->regions[0]);
    lower_range(l, r, open->from, open->to);
    end_region(l);
    l->frames = frame.outer;
    qn__ir_at_end(&l->b, after);
}

static void open_loop(lower *l, range_list *r, range *open) {
    ir_instr *loop = qn__lower_loop(l, open->label->loc);
    ir_region *after = l->b.region;
    lower_frame frame = {.outer = l->frames, .stmt = open->label, .continue_to = loop};
    l->frames = &frame;
    qn__ir_at_end(&l->b, loop->regions[0]);
    lower_range(l, r, open->from, open->to);
    bool is_reached = !qn__lower_is_dead(l);
    if (is_reached) qn__ir_break(&l->b, loop, NULL, 0);
    l->frames = frame.outer;
    qn__ir_at_end(&l->b, after);
    if (!is_reached) qn__lower_unreachable(l);
}

static range *widest_at(range_list *r, size_t from, size_t to) {
    range *best = NULL;
    for (size_t i = 0; i < r->ranges.len; i++) {
        range *candidate = &r->ranges.data[i];
        bool fits =
            !candidate->is_open && candidate->from == from && candidate->to <= to && candidate->to > from;
        if (fits && (!best || candidate->to > best->to)) best = candidate;
    }
    return best;
}

static void lower_one(lower *l, ast_stmt *stmt) {
    while (stmt->stmt_kind == STMT_LABEL) stmt = stmt->then_stmt;
    qn__lower_stmt(l, stmt);
}

/* Code behind a jump is dropped only up to the next label's range. */
static void lower_range(lower *l, range_list *r, size_t from, size_t to) {
    while (from < to && !qn__lower_is_dead(l)) {
        range *open = widest_at(r, from, to);
        if (!open) {
            lower_one(l, r->list[from++]);
            continue;
        }
        open->is_open = true;
        qn__lower_at(l, open->cause->loc);
        size_t next = open->to;
        if (open->is_loop)
            open_loop(l, r, open);
        else
            open_block(l, r, open);
        from = next;
    }
}

void qn__lower_labelled_list(lower *l, ast_stmt *const *list, size_t len) {
    range_list r = {.list = list};
    unsigned labels = 0;
    for (size_t i = 0; i < len; i++)
        for (ast_stmt *stmt = list[i]; stmt->stmt_kind == STMT_LABEL; stmt = stmt->then_stmt) {
            if (++labels > MAX_LABELS) {
                qn__lower_error(l, stmt->loc, "too many labels in one block", "use a switch in a loop");
                return;
            }
            add_label(l, &r, len, i, stmt);
        }
    nest(l, &r);
    lower_range(l, &r, 0, len);
}

void qn__lower_goto(lower *l, ast_stmt *stmt) {
    lower_frame *frame = l->frames;
    while (frame && frame->stmt != stmt->target) frame = frame->outer;
    qn__lower_at(l, stmt->loc);
    if (!frame) {
        qn__diag_error(l->config->diag, stmt->loc, "goto into a statement that this one is not a part of");
        qn__diag_hint(l->config->diag, "only labels of the same or an enclosing block can be reached");
        qn__lower_unreachable(l);
        return;
    }
    if (frame->continue_to)
        qn__ir_continue(&l->b, frame->continue_to, NULL, 0);
    else
        qn__ir_break(&l->b, frame->break_to, NULL, 0);
}
