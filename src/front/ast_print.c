/* The typed tree as compact S-expressions, for tests and debugging: each expression with its type where that
   is not plain from its parts. */
#include "front/builtin.h"
#include "front/parse/parse.h"

typedef struct printer {
    qn__buf *out;
    unsigned indent;
} printer;

static const char *const binary_names[] = {"+", "-", "*",  "/",  "%", "<<", ">>", "&",
                                           "|", "^", "==", "!=", "<", "<=", ">",  ">="};

static void put_expr(printer *p, const ast_expr *e);

static void put_type(printer *p, const ast_type *type) {
    qn__buf_puts(p->out, qn__type_name(p->out->arena, type));
}

static void put_operand(printer *p, const ast_expr *e) {
    if (!e) return;
    qn__buf_putc(p->out, ' ');
    put_expr(p, e);
}

static void put_init(printer *p, const ast_init *init) {
    qn__buf_puts(p->out, init->zero_first ? "{0" : "{");
    for (size_t i = 0; i < init->items.len; i++) {
        const ast_init_item *item = &init->items.data[i];
        qn__buf_printf(p->out, "%s%llu", i || init->zero_first ? ", " : "", (unsigned long long)item->offset);
        if (item->bit_field)
            qn__buf_printf(p->out, ".%u:%u", item->bit_field->bit_offset, item->bit_field->bit_width);
        qn__buf_puts(p->out, " = ");
        put_expr(p, item->value);
    }
    qn__buf_putc(p->out, '}');
}

static void put_convert(printer *p, const ast_expr *e) {
    static const char *const names[] = {"to", "bool", "splat", "as", "ptr", "int2ptr", "ptr2int", "void"};
    static const char *const modes[] = {"", "_rte", "_rtz", "_rtp", "_rtn"};
    qn__buf_printf(p->out, "(%s%s%s", names[e->convert], e->saturate ? "_sat" : "", modes[e->rounding]);
    if (e->convert != CONVERT_TO_BOOL && e->convert != CONVERT_VOID) {
        qn__buf_putc(p->out, ' ');
        put_type(p, e->type);
    }
}

static void put_string(printer *p, qn__str text) {
    qn__buf_putc(p->out, '"');
    for (size_t i = 0; i + 1 < text.len; i++) {
        unsigned char c = (unsigned char)text.data[i];
        if (c < ' ' || c >= 127 || c == '"' || c == '\\')
            qn__buf_printf(p->out, "\\%03o", c);
        else
            qn__buf_putc(p->out, (char)c);
    }
    qn__buf_putc(p->out, '"');
}

static void put_leaf(printer *p, const ast_expr *e) {
    switch (e->expr_kind) {
    case EXPR_INT:
        if (qn__type_is_signed(e->type) || e->type->kind == AST_EVENT)
            qn__buf_printf(p->out, "%lld", (long long)e->int_value);
        else
            qn__buf_printf(p->out, "%llu", (unsigned long long)e->int_value);
        if (e->type->kind != AST_INT) {
            qn__buf_putc(p->out, ':');
            put_type(p, e->type);
        }
        break;
    case EXPR_FLOAT:
        qn__buf_printf(p->out, "%.9g:", e->float_value);
        put_type(p, e->type);
        break;
    case EXPR_STRING: put_string(p, e->string); break;
    default: qn__buf_puts(p->out, e->decl->name ? e->decl->name : "?"); break;
    }
}

/* Opens the parenthesis and names the operator. */
static void put_head(printer *p, const ast_expr *e) {
    static const char *const unary_names[] = {"neg", "~", "!"};
    static const char *const names[] = {
        [EXPR_ASSIGN] = "=",    [EXPR_CONDITIONAL] = "?:", [EXPR_SELECT] = "select",   [EXPR_COMMA] = ",",
        [EXPR_LOAD] = "load",   [EXPR_DECAY] = "decay",    [EXPR_ADDRESS] = "&",       [EXPR_DEREF] = "deref",
        [EXPR_INDEX] = "index", [EXPR_VECTOR] = "vec",     [EXPR_COMPOUND] = "literal"};
    switch (e->expr_kind) {
    case EXPR_UNARY: qn__buf_printf(p->out, "(%s", unary_names[e->unary]); break;
    case EXPR_BINARY: qn__buf_printf(p->out, "(%s", binary_names[e->binary]); break;
    case EXPR_LOGICAL: qn__buf_puts(p->out, e->binary == BINARY_AND ? "(&&" : "(||"); break;
    case EXPR_ASSIGN_OP:
        qn__buf_printf(p->out, "(%s=:", binary_names[e->binary]);
        put_type(p, e->compute_type);
        break;
    case EXPR_INCREMENT:
        qn__buf_printf(p->out, "(%s%s", e->is_postfix ? "post" : "pre", e->is_decrement ? "--" : "++");
        break;
    case EXPR_CONVERT: put_convert(p, e); break;
    case EXPR_MEMBER: qn__buf_printf(p->out, "(.%s", e->field->name ? e->field->name : "<anonymous>"); break;
    case EXPR_SWIZZLE:
        qn__buf_puts(p->out, "(.s");
        for (unsigned i = 0; i < e->num_lanes; i++) qn__buf_printf(p->out, "%x", e->lanes[i]);
        break;
    case EXPR_CALL: qn__buf_printf(p->out, "(call %s", e->callee->name); break;
    case EXPR_BUILTIN: qn__buf_printf(p->out, "(%s", e->builtin->name); break;
    default: qn__buf_printf(p->out, "(%s", names[e->expr_kind]); break;
    }
    if (e->expr_kind == EXPR_VECTOR || e->expr_kind == EXPR_COMPOUND) {
        qn__buf_putc(p->out, ' ');
        put_type(p, e->type);
    }
}

static void put_expr(printer *p, const ast_expr *e) {
    switch (e->expr_kind) {
    case EXPR_INT:
    case EXPR_FLOAT:
    case EXPR_STRING:
    case EXPR_VARIABLE: put_leaf(p, e); return;
    default: break;
    }
    put_head(p, e);
    put_operand(p, e->a);
    put_operand(p, e->b);
    put_operand(p, e->c);
    for (size_t i = 0; i < e->args.len; i++) put_operand(p, e->args.data[i]);
    if (e->expr_kind == EXPR_COMPOUND) {
        qn__buf_putc(p->out, ' ');
        put_init(p, e->init);
    }
    qn__buf_putc(p->out, ')');
}

/* ---- statements ---- */

static void put_stmt(printer *p, const ast_stmt *stmt);

static void put_line(printer *p) {
    qn__buf_putc(p->out, '\n');
    for (unsigned i = 0; i < p->indent; i++) qn__buf_putc(p->out, ' ');
}

static void put_inner(printer *p, const ast_stmt *stmt) {
    if (!stmt) return;
    p->indent++;
    put_line(p);
    put_stmt(p, stmt);
    p->indent--;
}

static void put_decl(printer *p, const ast_decl *decl) {
    qn__buf_printf(p->out, "(var %s ", decl->name ? decl->name : "?");
    put_type(p, decl->type);
    if (decl->align > decl->type->align) qn__buf_printf(p->out, " align %u", decl->align);
    if (decl->init) {
        qn__buf_putc(p->out, ' ');
        put_init(p, decl->init);
    }
    qn__buf_putc(p->out, ')');
}

static void put_stmt_head(printer *p, const ast_stmt *stmt) {
    static const char *const names[] = {"empty",    "do",     "decl",   "block", "if",      "while",
                                        "do-while", "for",    "switch", "case",  "default", "break",
                                        "continue", "return", "goto",   "label"};
    if (stmt->stmt_kind == STMT_EXPR) return;
    qn__buf_printf(p->out, "(%s", names[stmt->stmt_kind]);
    if (stmt->stmt_kind == STMT_CASE) qn__buf_printf(p->out, " %lld", (long long)stmt->case_low);
    if (stmt->label) qn__buf_printf(p->out, " %s", stmt->label);
    if (stmt->unroll) qn__buf_printf(p->out, " unroll %d", stmt->unroll);
}

static void put_stmt(printer *p, const ast_stmt *stmt) {
    if (stmt->stmt_kind == STMT_DECL && stmt->decls.len == 1) {
        put_decl(p, stmt->decls.data[0]);
        return;
    }
    if (stmt->stmt_kind == STMT_EXPR) {
        put_expr(p, stmt->expr);
        return;
    }
    put_stmt_head(p, stmt);
    if (stmt->init) put_inner(p, stmt->init);
    put_operand(p, stmt->cond);
    put_operand(p, stmt->step);
    for (size_t i = 0; i < stmt->decls.len; i++) {
        qn__buf_putc(p->out, ' ');
        put_decl(p, stmt->decls.data[i]);
    }
    for (size_t i = 0; i < stmt->body.len; i++) put_inner(p, stmt->body.data[i]);
    put_inner(p, stmt->then_stmt);
    put_inner(p, stmt->else_stmt);
    qn__buf_putc(p->out, ')');
}

static void put_function(printer *p, const ast_decl *function) {
    qn__buf_printf(p->out, "(%s %s ", function->is_kernel ? "kernel" : "function", function->name);
    put_type(p, function->type->base);
    qn__buf_puts(p->out, " (");
    for (size_t i = 0; i < function->params.len; i++) {
        qn__buf_printf(p->out, "%s%s ", i ? ", " : "",
                       function->params.data[i]->name ? function->params.data[i]->name : "?");
        put_type(p, function->params.data[i]->type);
    }
    qn__buf_putc(p->out, ')');
    for (size_t i = 0; i < function->body->body.len; i++) put_inner(p, function->body->body.data[i]);
    qn__buf_puts(p->out, ")\n");
}

static void put_constant(printer *p, const ast_decl *decl) {
    qn__buf_printf(p->out, "(constant %s ", decl->name);
    put_type(p, decl->type);
    for (uint64_t i = 0; decl->data && i < decl->type->size && i < 256; i++)
        qn__buf_printf(p->out, "%s%02x", i % 4 ? "" : " ", decl->data[i]);
    for (size_t i = 0; i < decl->addresses.len; i++)
        qn__buf_printf(p->out, " %llu=&%s%+lld", (unsigned long long)decl->addresses.data[i].offset,
                       decl->addresses.data[i].target->name, (long long)decl->addresses.data[i].addend);
    qn__buf_puts(p->out, ")\n");
}

void qn__ast_print(qn__buf *out, const ast_unit *unit) {
    printer p = {.out = out};
    for (size_t i = 0; i < unit->constants.len; i++) put_constant(&p, unit->constants.data[i]);
    for (size_t i = 0; i < unit->functions.len; i++)
        if (!unit->functions.data[i]->is_library) put_function(&p, unit->functions.data[i]);
}
