/* Lines, constructs and jumps of targets whose text is like C; see cflow.h. */
#include "emit/cflow.h"

#include <stdarg.h>

#include "emit/cfamily.h"

/* ---- lines ---- */

/* Nesting may be deep; past MOST_INDENT levels spaces would be most of the text. Every line says where it comes from:
   the lines of one statement would count on otherwise. */
static void begin(qn__c_writer *w) {
    enum { MOST_INDENT = 8 };
    static const char spaces[4 * MOST_INDENT + 1] = "                                ";
    if (w->line) {
        qn__buf_printf(w->out, "#line %u ", w->line);
        qn__c_quote(w->out, w->source);
        qn__buf_putc(w->out, '\n');
    }
    qn__buf_append(w->out, spaces, 4 * (size_t)(w->depth < MOST_INDENT ? w->depth : MOST_INDENT));
}

void qn__c_write(qn__c_writer *w, const char *format, ...) {
    va_list args;
    begin(w);
    va_start(args, format);
    qn__buf_vprintf(w->out, format, args);
    va_end(args);
    qn__buf_putc(w->out, '\n');
}

void qn__c_write_open(qn__c_writer *w, const char *format, ...) {
    va_list args;
    begin(w);
    va_start(args, format);
    qn__buf_vprintf(w->out, format, args);
    va_end(args);
    qn__buf_putc(w->out, '\n');
    w->depth++;
}

void qn__c_write_close(qn__c_writer *w, const char *text) {
    w->depth--;
    qn__c_write(w, "%s", text);
}

void qn__c_write_else(qn__c_writer *w) {
    w->depth--;
    qn__c_write_open(w, "} else {");
}

void qn__c_write_label(qn__c_writer *w, const char *name, unsigned number) {
    qn__buf_printf(w->out, "%s%u:;\n", name, number);
}

void qn__c_write_from(qn__c_writer *w, const ir_module *module, const qn__emit_options *options, ir_loc loc) {
    if (!options->debug || !loc.line) return;
    const char *file = loc.file < module->files.len ? module->files.data[loc.file] : NULL;
    if (!file || (loc.file == 0 && options->source_name)) file = options->source_name;
    if (!file) return;
    w->line = loc.line;
    w->source = file;
}

/* ---- the values of a jump ---- */

/* True where an earlier assignment of the list overwrites what a later one reads. */
static bool overlaps(ir_value *const *targets, ir_value *const *values, uint32_t count) {
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t j = 0; j < i; j++)
            if (values[i] == targets[j] && values[j] != targets[j]) return true;
    return false;
}

static bool is_used(const qn__c_dialect *dialect, void *user, const ir_value *value) {
    return !dialect->is_used || dialect->is_used(user, value);
}

static bool is_set(const qn__c_dialect *dialect, void *user, const ir_value *target, const ir_value *value) {
    return value != target && value->value_kind != IR_VALUE_UNDEF && is_used(dialect, user, target);
}

void qn__c_hand_over(qn__c_writer *w, qn__arena *arena, const qn__c_dialect *dialect, void *user,
                     ir_value *const *targets, ir_value *const *values, uint32_t count) {
    QN__VEC(const char *) copies = {0};
    const bool copy = overlaps(targets, values, count);
    if (copy) qn__c_write_open(w, "{");
    for (uint32_t i = 0; copy && i < count; i++) {
        if (!is_set(dialect, user, targets[i], values[i])) continue;
        const unsigned pieces = dialect->num_pieces(user, targets[i]);
        for (unsigned piece = 0; piece < pieces; piece++)
            qn__vec_push(arena, &copies, dialect->keep(user, targets[i], values[i], i, piece));
    }
    size_t at = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (!is_set(dialect, user, targets[i], values[i])) continue;
        const unsigned pieces = dialect->num_pieces(user, targets[i]);
        for (unsigned piece = 0; piece < pieces; piece++)
            dialect->set(user, targets[i], values[i], copy ? copies.data[at++] : NULL, piece);
    }
    if (copy) qn__c_write_close(w, "}");
}

/* ---- if ---- */

bool qn__c_is_empty(const qn__c_dialect *dialect, void *user, const ir_region *region) {
    const ir_instr *last = region->last;
    if (region->first != last || last->op != IR_YIELD) return false;
    for (uint32_t i = 0; i < last->num_operands; i++)
        if (is_used(dialect, user, region->owner->results[i])) return false;
    return true;
}

void qn__c_if(qn__c_writer *w, const qn__c_dialect *dialect, void *user, const ir_instr *instr) {
    const bool no_then = qn__c_is_empty(dialect, user, instr->regions[0]);
    const bool no_else = qn__c_is_empty(dialect, user, instr->regions[1]);
    if (no_then && no_else) return;
    const bool likely = !no_then && dialect->is_likely && dialect->is_likely(user, instr);
    qn__c_write_open(w,
                     no_then  ? "if (!%s) {"
                     : likely ? "if (QN_LIKELY(%s)) {"
                              : "if (%s) {",
                     dialect->condition(user, instr->operands[0]));
    if (!no_then) dialect->region(user, instr->regions[0]);
    if (!no_then && !no_else) qn__c_write_else(w);
    if (!no_else) dialect->region(user, instr->regions[1]);
    qn__c_write_close(w, "}");
}

/* ---- jumps ---- */

void qn__c_flow_begin(qn__c_flow *flow, qn__arena *arena, qn__c_writer *text, uint32_t num_instrs) {
    *flow = (qn__c_flow){.text = text};
    flow->is_left = QN__NEW_ARRAY(arena, bool, (size_t)num_instrs + 1);
    flow->is_repeated = QN__NEW_ARRAY(arena, bool, (size_t)num_instrs + 1);
}

void qn__c_repeat_label(qn__c_flow *flow, const ir_instr *loop) {
    if (flow->is_repeated[loop->mark]) qn__c_write_label(flow->text, "again", loop->mark);
}

void qn__c_leave_label(qn__c_flow *flow, const ir_instr *construct) {
    if (flow->is_left[construct->mark]) qn__c_write_label(flow->text, "leave", construct->mark);
}

void qn__c_jump(qn__c_flow *flow, const ir_instr *jump) {
    const ir_instr *target = qn__ir_jump_target(jump);
    const bool is_break = jump->op == IR_BREAK, is_loop = target->op == IR_LOOP;
    const bool falls_through = jump->parent->owner == target && !(is_break && is_loop);
    if (jump->op == IR_YIELD || falls_through) return;
    if (is_loop && flow->inner_loop == target) {
        qn__c_write(flow->text, is_break ? "break;" : "continue;");
    } else {
        (is_break ? flow->is_left : flow->is_repeated)[target->mark] = true;
        qn__c_write(flow->text, "goto %s%u;", is_break ? "leave" : "again", target->mark);
    }
}

/* ---- loops and blocks ---- */

const ir_instr *qn__c_open_loop(qn__c_flow *flow, const ir_instr *loop, const char *head) {
    const ir_instr *outer = flow->inner_loop;
    qn__c_write_open(flow->text, "%s", head);
    flow->inner_loop = loop;
    return outer;
}

void qn__c_close_loop(qn__c_flow *flow, const ir_instr *outer) {
    qn__c_write_close(flow->text, "}");
    flow->inner_loop = outer;
}

static void write_loop(qn__c_flow *flow, const qn__c_dialect *dialect, void *user, ir_instr *loop) {
    ir_region *body = loop->regions[0];
    for (uint32_t i = 0; i < body->num_params; i++) dialect->start(user, body->params[i], loop->operands[i]);
    if (dialect->loop && dialect->loop(user, loop)) return;
    const ir_instr *outer = qn__c_open_loop(flow, loop, "for (;;) {");
    dialect->region(user, body);
    qn__c_repeat_label(flow, loop);
    qn__c_close_loop(flow, outer);
}

void qn__c_construct(qn__c_flow *flow, const qn__c_dialect *dialect, void *user, ir_instr *construct) {
    for (uint32_t i = 0; i < construct->num_results; i++) dialect->declare(user, construct->results[i]);
    if (construct->op == IR_IF) {
        qn__c_if(flow->text, dialect, user, construct);
    } else if (construct->op == IR_LOOP) {
        write_loop(flow, dialect, user, construct);
    } else {
        qn__c_write_open(flow->text, "{");
        dialect->region(user, construct->regions[0]);
        qn__c_write_close(flow->text, "}");
    }
    qn__c_leave_label(flow, construct);
}
