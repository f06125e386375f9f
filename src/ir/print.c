/* The IR as text: complete, so that parsing gives the same module back (docs/ir.md has the grammar). Values
   and constructs are numbered in the order of the text, so the text of a function does not depend on its
   history. The printer copes with broken modules, because the verifier's messages come from here. */
#include <math.h>
#include <string.h>

#include "ir/internal.h"
#include "ir/matrix.h"
#include "util/map.h"

typedef struct printer {
    qn__buf *out;
    const ir_function *function;
    uint32_t *numbers; /* by value id: number + 1, or 0 */
    uint32_t next_value;
    qn__map64 labels; /* by construct: its number + 1 */
    uintptr_t next_label;
    unsigned depth;
} printer;

/* ---- words ---- */

static void put_string(qn__buf *out, const char *data, size_t len) {
    qn__buf_putc(out, '"');
    for (size_t i = 0; i < len; i++) {
        unsigned char c = (unsigned char)data[i];
        if (c == '"' || c == '\\')
            qn__buf_printf(out, "\\%c", c);
        else if (c == '\n')
            qn__buf_puts(out, "\\n");
        else if (c < 32 || c > 126)
            qn__buf_printf(out, "\\%02x", c);
        else
            qn__buf_putc(out, (char)c);
    }
    qn__buf_putc(out, '"');
}

static void put_text(qn__buf *out, const char *text) { put_string(out, text, strlen(text)); }

static bool is_word_char(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.';
}

/* A name as the text form allows it: what does not belong in a word becomes an underscore. */
static void put_word(qn__buf *out, const char *name) {
    for (; *name; name++) qn__buf_putc(out, is_word_char(*name) ? *name : '_');
}

static bool is_name(const char *name) {
    if (!*name || (*name >= '0' && *name <= '9')) return false;
    while (is_word_char(*name)) name++;
    return *name == 0;
}

static void put_function_name(qn__buf *out, const char *name) {
    qn__buf_putc(out, '@');
    if (name && is_name(name))
        qn__buf_puts(out, name);
    else
        put_text(out, name ? name : "");
}

static void put_type(qn__buf *out, ir_type type) {
    qn__buf_puts(out, type.kind < IR_KIND_COUNT ? qn__ir_kind_names[type.kind] : "?");
    if (type.kind == IR_PTR)
        qn__buf_printf(out, ".%s", qn__ir_space_name(type.space));
    else if (type.lanes != 1)
        qn__buf_printf(out, "x%u", type.lanes);
}

static const char *name_in(const char *const *names, unsigned count, unsigned index) {
    return index < count ? names[index] : "?";
}

/* ---- constants ---- */

/* By hand, not by printf's %a, which follows the host's locale. */
static void put_hex_float(qn__buf *out, double magnitude) {
    int exponent;
    uint64_t mantissa = (uint64_t)ldexp(frexp(magnitude, &exponent), 53);
    qn__buf_puts(out, "0x1");
    uint64_t fraction = mantissa & ((UINT64_C(1) << 52) - 1);
    if (fraction) qn__buf_putc(out, '.');
    for (; fraction; fraction = fraction << 4 & ((UINT64_C(1) << 52) - 1))
        qn__buf_putc(out, "0123456789abcdef"[fraction >> 48]);
    qn__buf_printf(out, "p%+d", exponent - 1);
}

/* As a short decimal fraction, if one reads back as exactly these bits. */
static bool put_decimal(qn__buf *out, ir_kind kind, double magnitude) {
    uint64_t bits = qn__ir_float_bits(kind, magnitude);
    uint64_t scale = 1;
    for (int decimals = 0; decimals <= 9; decimals++, scale *= 10) {
        double digits = magnitude * (double)scale + 0.5;
        if (digits >= 1e15) return false;
        uint64_t whole = (uint64_t)digits;
        if (qn__ir_float_decimal(kind, false, whole, decimals) != bits) continue;
        qn__buf_putu(out, whole / scale);
        if (decimals)
            qn__buf_printf(out, ".%0*llu", decimals, (unsigned long long)(whole % scale));
        else
            qn__buf_puts(out, ".0");
        return true;
    }
    return false;
}

static void put_float(qn__buf *out, ir_kind kind, uint64_t bits) {
    double value = qn__ir_float_value(kind, bits);
    bool negative = bits >> (qn__ir_bits(qn__ir_type(kind, 1)) - 1) & 1;
    double magnitude = negative ? -value : value;
    if (isnan(value)) {
        if (bits == qn__ir_float_bits(kind, (double)NAN))
            qn__buf_puts(out, "nan");
        else
            qn__buf_printf(out, "bits 0x%llx", (unsigned long long)bits);
        return;
    }
    if (negative) qn__buf_putc(out, '-');
    if (isinf(value))
        qn__buf_puts(out, "inf");
    else if (!put_decimal(out, kind, magnitude))
        put_hex_float(out, magnitude);
}

static void put_lane(qn__buf *out, ir_type type, uint64_t bits) {
    unsigned width = qn__ir_bits(type);
    if (type.kind == IR_BOOL)
        qn__buf_puts(out, bits ? "true" : "false");
    else if (type.kind == IR_PTR)
        qn__buf_printf(out, "0x%llx", (unsigned long long)bits);
    else if (qn__ir_is_float(type))
        put_float(out, type.kind, bits);
    else if (width && bits >> (width - 1) & 1)
        qn__buf_printf(out, "-%llu", (unsigned long long)((~bits & (UINT64_MAX >> (64 - width))) + 1));
    else
        qn__buf_putu(out, bits);
}

static void put_const(qn__buf *out, const ir_value *value) {
    put_type(out, value->type);
    qn__buf_putc(out, ' ');
    if (qn__ir_is_splat(value, value->bits[0])) {
        put_lane(out, value->type, value->bits[0]);
        return;
    }
    for (unsigned i = 0; i < value->type.lanes; i++) {
        qn__buf_puts(out, i ? ", " : "(");
        put_lane(out, value->type, value->bits[i]);
    }
    qn__buf_putc(out, ')');
}

/* ---- values ---- */

static void put_value(printer *p, const ir_value *value) {
    if (!value) {
        qn__buf_puts(p->out, "%?");
    } else if (value->value_kind == IR_VALUE_CONST) {
        put_const(p->out, value);
    } else if (value->value_kind == IR_VALUE_UNDEF) {
        qn__buf_puts(p->out, "undef ");
        put_type(p->out, value->type);
    } else {
        uint32_t number = value->id < p->function->num_values ? p->numbers[value->id] : 0;
        qn__buf_putc(p->out, '%');
        if (number)
            qn__buf_putu(p->out, number - 1);
        else
            qn__buf_puts(p->out, "?");
        if (value->name && *value->name) {
            qn__buf_putc(p->out, '.');
            put_word(p->out, value->name);
        }
    }
}

static void put_definition(printer *p, const ir_value *value) {
    put_value(p, value);
    qn__buf_puts(p->out, ": ");
    put_type(p->out, value ? value->type : (ir_type){0});
}

static void put_operands(printer *p, const ir_instr *instr) {
    for (uint32_t i = 0; i < instr->num_operands; i++) {
        qn__buf_puts(p->out, i ? ", " : " ");
        put_value(p, instr->operands[i]);
    }
}

static void number_value(printer *p, const ir_value *value) {
    if (value && value->id < p->function->num_values && !p->numbers[value->id])
        p->numbers[value->id] = ++p->next_value;
}

static void number_region(printer *p, const ir_region *region) {
    for (uint32_t i = 0; i < region->num_params; i++) number_value(p, region->params[i]);
    for (const ir_instr *instr = region->first; instr; instr = instr->next) {
        for (uint32_t i = 0; i < instr->num_results; i++) number_value(p, instr->results[i]);
        if (instr->op == IR_LOOP || instr->op == IR_BLOCK)
            qn__map64_set(p->out->arena, &p->labels, (uintptr_t)instr, (void *)++p->next_label);
        if (++p->depth <= IR_MAX_NESTING)
            for (unsigned i = 0; i < instr->num_regions; i++) number_region(p, instr->regions[i]);
        p->depth--;
    }
}

static printer printer_start(qn__buf *out, const ir_function *function) {
    printer p = {.out = out, .function = function};
    p.numbers = QN__NEW_ARRAY(out->arena, uint32_t, (size_t)function->num_values + 1);
    for (size_t i = 0; i < function->args.len; i++) number_value(&p, function->args.data[i].value);
    if (function->body) number_region(&p, function->body);
    return p;
}

static void put_label(printer *p, const ir_instr *construct) {
    uintptr_t label = (uintptr_t)qn__map64_get(&p->labels, (uintptr_t)construct);
    if (label)
        qn__buf_printf(p->out, " @%llu", (unsigned long long)(label - 1));
    else
        qn__buf_puts(p->out, " @?");
}

/* ---- attributes ---- */

static void put_matrix(qn__buf *out, ir_matrix m) {
    const char *use = m.use < IR_MATRIX_USES ? qn__ir_matrix_uses[m.use] : "?";
    qn__buf_printf(out, " matrix %s %u %u %s", qn__ir_matrix_info(m)->name, m.rows, m.columns, use);
}

static void put_var(qn__buf *out, const ir_var *var) {
    if (var->name) {
        qn__buf_putc(out, ' ');
        put_text(out, var->name);
    }
    qn__buf_printf(out, " size %llu align %u", (unsigned long long)var->size, var->align);
    if (var->matrix.element) put_matrix(out, var->matrix);
    if (var->debug.type.kind == IR_VOID) return;
    qn__buf_puts(out, var->debug.is_signed ? " debug signed " : " debug ");
    put_type(out, var->debug.type);
    for (unsigned i = 0; i < QN__COUNT(var->debug.lengths) && var->debug.lengths[i]; i++)
        qn__buf_printf(out, " [%u]", var->debug.lengths[i]);
}

static void put_lanes(qn__buf *out, const ir_instr *instr, unsigned count) {
    for (unsigned i = 0; i < count && i < 16; i++) {
        qn__buf_puts(out, i ? ", " : " [");
        if (instr->op == IR_SHUFFLE && instr->attr.lanes[i] == 255)
            qn__buf_puts(out, "undef");
        else
            qn__buf_putu(out, instr->attr.lanes[i]);
    }
    qn__buf_putc(out, ']');
}

static void put_unroll(qn__buf *out, int32_t unroll) {
    if (unroll == -1)
        qn__buf_puts(out, " unroll full");
    else if (unroll == 1)
        qn__buf_puts(out, " unroll none");
    else if (unroll)
        qn__buf_printf(out, " unroll %d", unroll);
}

static void put_access_attrs(qn__buf *out, const ir_attr *attr, uint32_t uses) {
    if (uses & IR_ATTR_COMBINE)
        qn__buf_printf(out, " combine %s", name_in(qn__ir_combine_names, IR_COMBINE_COUNT, attr->combine));
    if (uses & IR_ATTR_FENCE && attr->fence & IR_FENCE_LOCAL) qn__buf_puts(out, " local");
    if (uses & IR_ATTR_FENCE && attr->fence & IR_FENCE_GLOBAL) qn__buf_puts(out, " global");
    if (uses & IR_ATTR_ORDER)
        qn__buf_printf(out, " order %s", name_in(qn__ir_order_names, IR_ORDER_COUNT, attr->order));
    if (uses & IR_ATTR_FAIL)
        qn__buf_printf(out, " fail %s", name_in(qn__ir_order_names, IR_ORDER_COUNT, attr->order_fail));
    if (uses & IR_ATTR_SCOPE)
        qn__buf_printf(out, " scope %s", name_in(qn__ir_scope_names, IR_SCOPE_COUNT, attr->scope));
    if (uses & IR_ATTR_SIZE) qn__buf_printf(out, " size %llu", (unsigned long long)attr->size);
    if (uses & IR_ATTR_ALIGN) qn__buf_printf(out, " align %u", attr->align);
    if (uses & IR_ATTR_OFFSET && attr->offset) qn__buf_printf(out, " offset %lld", (long long)attr->offset);
}

static void put_attrs(printer *p, const ir_instr *instr) {
    qn__buf *out = p->out;
    const ir_attr *attr = &instr->attr;
    uint32_t uses = qn__ir_ops[instr->op].has;
    for (unsigned i = 0; i < IR_FLAG_COUNT; i++)
        if (instr->flags & 1u << i) qn__buf_printf(out, " %s", qn__ir_flag_names[i]);
    put_access_attrs(out, attr, uses);
    if (uses & IR_ATTR_LANE) put_lanes(out, instr, 1);
    if (uses & IR_ATTR_LANES) put_lanes(out, instr, instr->num_results ? instr->results[0]->type.lanes : 0);
    if (uses & IR_ATTR_DIM) qn__buf_printf(out, " [%u]", attr->dim);
    if (uses & IR_ATTR_INDEX) qn__buf_printf(out, " #%u", attr->index);
    if (uses & IR_ATTR_ROUNDING && attr->rounding)
        qn__buf_printf(out, " round %s", name_in(qn__ir_rounding_names, IR_ROUNDING_COUNT, attr->rounding));
    if (uses & IR_ATTR_VAR && attr->var) put_var(out, attr->var);
    if (uses & IR_ATTR_CALLEE) {
        qn__buf_putc(out, ' ');
        put_function_name(out, attr->callee ? attr->callee->name : NULL);
    }
    if (uses & IR_ATTR_TARGET || instr->op == IR_BLOCK || instr->op == IR_LOOP)
        put_label(p, uses & IR_ATTR_TARGET ? attr->target : instr);
    if (uses & IR_ATTR_UNROLL) put_unroll(out, attr->unroll);
    for (unsigned i = 0; i < IR_MATRICES && uses & IR_ATTR_MATRIX && attr->matrices[i].element; i++)
        put_matrix(out, attr->matrices[i]);
}

static void put_loc(qn__buf *out, ir_loc loc) {
    if (!loc.line) return;
    qn__buf_printf(out, " !%u:%u", loc.line, loc.column);
    if (loc.file) qn__buf_printf(out, ":%u", loc.file);
}

/* ---- instructions ---- */

static void put_head(printer *p, const ir_instr *instr) {
    for (uint32_t i = 0; i < instr->num_results; i++) {
        if (i) qn__buf_puts(p->out, ", ");
        put_definition(p, instr->results[i]);
    }
    if (instr->num_results) qn__buf_puts(p->out, " = ");
    qn__buf_puts(p->out, instr->op < IR_OP_COUNT ? qn__ir_ops[instr->op].name : "?");
    if (instr->op < IR_OP_COUNT) put_attrs(p, instr);
    const ir_region *params = instr->op == IR_LOOP && instr->num_regions ? instr->regions[0] : NULL;
    if (params && params->num_params == instr->num_operands) {
        for (uint32_t i = 0; i < instr->num_operands; i++) {
            qn__buf_puts(p->out, i ? ", " : " (");
            put_definition(p, params->params[i]);
            qn__buf_puts(p->out, " = ");
            put_value(p, instr->operands[i]);
        }
        if (instr->num_operands) qn__buf_putc(p->out, ')');
    } else {
        put_operands(p, instr);
    }
    put_loc(p->out, instr->loc);
}

static void indent(printer *p) {
    for (unsigned i = 0; i < p->depth; i++) qn__buf_puts(p->out, "    ");
}

static void put_region(printer *p, const ir_region *region) {
    qn__buf_puts(p->out, " {\n");
    p->depth++;
    for (const ir_instr *instr = region->first; instr && p->depth <= IR_MAX_NESTING + 1;
         instr = instr->next) {
        indent(p);
        put_head(p, instr);
        for (unsigned i = 0; i < instr->num_regions; i++) {
            if (i) qn__buf_puts(p->out, " else");
            put_region(p, instr->regions[i]);
        }
        qn__buf_putc(p->out, '\n');
    }
    p->depth--;
    indent(p);
    qn__buf_putc(p->out, '}');
}

void qn__ir_print_instr(qn__buf *out, const ir_function *function, const ir_instr *instr) {
    printer p = printer_start(out, function);
    put_head(&p, instr);
}

/* ---- functions ---- */

static void put_arg(printer *p, const ir_arg *arg) {
    qn__buf *out = p->out;
    put_definition(p, arg->value);
    qn__buf_printf(out, " %s", name_in(qn__ir_arg_kind_names, IR_ARG_KIND_COUNT, arg->arg_kind));
    for (unsigned i = 0; i < IR_ARG_FLAG_COUNT; i++)
        if (arg->flags & 1u << i) qn__buf_printf(out, " %s", qn__ir_arg_flag_names[i]);
    if (arg->is_signed) qn__buf_puts(out, " signed");
    if (arg->small_float)
        qn__buf_printf(out, " %s", name_in(qn__ir_small_float_names, IR_SMALL_FLOAT_COUNT, arg->small_float));
    if (arg->element.kind != IR_VOID) {
        qn__buf_puts(out, " element ");
        put_type(out, arg->element);
    }
    if (arg->size) qn__buf_printf(out, " size %u", arg->size);
    if (arg->align) qn__buf_printf(out, " align %u", arg->align);
    if (arg->pointee_size) qn__buf_printf(out, " pointee %u", arg->pointee_size);
    if (arg->least_size) qn__buf_printf(out, " least %llu", (unsigned long long)arg->least_size);
    const char *value_name = arg->value->name;
    if (arg->name && !(value_name && is_name(value_name) && strcmp(arg->name, value_name) == 0)) {
        qn__buf_puts(out, " name ");
        put_text(out, arg->name);
    }
    if (arg->type_name) {
        qn__buf_puts(out, " type ");
        put_text(out, arg->type_name);
    }
}

static void put_sizes(qn__buf *out, const char *word, const uint32_t sizes[3]) {
    if (sizes[0] || sizes[1] || sizes[2])
        qn__buf_printf(out, " %s (%u, %u, %u)", word, sizes[0], sizes[1], sizes[2]);
}

static void put_locals(qn__buf *out, const ir_function *function) {
    for (size_t i = 0; i < function->locals.len; i++) {
        const ir_local *local = &function->locals.data[i];
        qn__buf_printf(out, "\n    local #%u", (unsigned)i);
        if (local->name) {
            qn__buf_putc(out, ' ');
            put_text(out, local->name);
        }
        qn__buf_printf(out, " size %llu align %u", (unsigned long long)local->size, local->align);
    }
}

void qn__ir_print_function(qn__buf *out, const ir_function *function) {
    printer p = printer_start(out, function);
    qn__buf_puts(out, function->is_kernel ? "kernel " : "function ");
    put_function_name(out, function->name);
    qn__buf_putc(out, '(');
    for (size_t i = 0; i < function->args.len; i++) {
        if (i) qn__buf_puts(out, function->is_kernel ? ",\n       " : ", ");
        put_arg(&p, &function->args.data[i]);
    }
    qn__buf_putc(out, ')');
    if (function->result.kind != IR_VOID) {
        qn__buf_puts(out, " -> ");
        put_type(out, function->result);
    }
    if (function->is_const) qn__buf_puts(out, " const");
    put_sizes(out, "reqd", function->reqd_local);
    put_sizes(out, "hint", function->hint_local);
    if (function->required_sub_group_size)
        qn__buf_printf(out, " sub_group %u", function->required_sub_group_size);
    if (function->cluster) qn__buf_printf(out, " cluster %u", function->cluster);
    if (function->whole_sub_groups) qn__buf_puts(out, " whole");
    if (function->max_registers) qn__buf_printf(out, " registers %u", function->max_registers);
    if (function->uniform_groups) qn__buf_puts(out, " uniform");
    if (function->narrow_ids) qn__buf_puts(out, " narrow_ids");
    if (function->vec_type_hint) {
        qn__buf_puts(out, " vec_type_hint ");
        put_text(out, function->vec_type_hint);
    }
    put_loc(out, function->loc);
    put_locals(out, function);
    if (function->body) put_region(&p, function->body);
    qn__buf_putc(out, '\n');
}

/* ---- modules ---- */

static void put_hex(qn__buf *out, const uint8_t *data, uint64_t size) {
    enum { BYTES_A_LINE = 32 };
    for (uint64_t i = 0; i < size; i++) {
        if (i % BYTES_A_LINE == 0) qn__buf_puts(out, i ? "\"\n    \"" : "\n    \"");
        qn__buf_putc(out, "0123456789abcdef"[data[i] >> 4]);
        qn__buf_putc(out, "0123456789abcdef"[data[i] & 15]);
        if (i % 4 == 3 && i % BYTES_A_LINE != BYTES_A_LINE - 1 && i + 1 < size) qn__buf_putc(out, ' ');
    }
    qn__buf_putc(out, '"');
}

static bool is_zero(const uint8_t *data, uint64_t size) {
    for (uint64_t i = 0; i < size; i++)
        if (data[i]) return false;
    return true;
}

static void put_global(qn__buf *out, const ir_global *global, size_t index) {
    qn__buf_printf(out, "constant #%u", (unsigned)index);
    if (global->name) {
        qn__buf_putc(out, ' ');
        put_text(out, global->name);
    }
    qn__buf_printf(out, " size %llu align %u", (unsigned long long)global->size, global->align);
    if (global->element.kind != IR_VOID) {
        qn__buf_puts(out, " element ");
        put_type(out, global->element);
    }
    if (global->is_format) qn__buf_puts(out, " format");
    if (!global->data || is_zero(global->data, global->size)) {
        qn__buf_puts(out, " zero");
    } else if (global->is_format) {
        qn__buf_puts(out, " text ");
        put_string(out, (const char *)global->data, (size_t)global->size);
    } else {
        qn__buf_puts(out, " hex");
        put_hex(out, global->data, global->size);
    }
    for (size_t i = 0; i < global->relocations.len; i++) {
        const ir_relocation *r = &global->relocations.data[i];
        qn__buf_printf(out, "\n    at %llu #%u %lld", (unsigned long long)r->offset, r->target,
                       (long long)r->addend);
    }
    qn__buf_putc(out, '\n');
}

void qn__ir_print(qn__buf *out, const ir_module *module) {
    for (size_t i = 0; i < module->files.len; i++) {
        qn__buf_printf(out, "file #%u ", (unsigned)i);
        put_text(out, module->files.data[i] ? module->files.data[i] : "");
        qn__buf_putc(out, '\n');
    }
    for (size_t i = 0; i < module->globals.len; i++) put_global(out, &module->globals.data[i], i);
    for (size_t i = 0; i < module->functions.len; i++) {
        if (i || module->files.len || module->globals.len) qn__buf_putc(out, '\n');
        qn__ir_print_function(out, module->functions.data[i]);
    }
}
