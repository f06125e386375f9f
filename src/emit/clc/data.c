/* Constants of the OpenCL C target: literals, and the module's __constant objects. */
#include <string.h>

#include "emit/cdata.h"
#include "emit/clc/internal.h"

/* ---- literals ---- */

static void integer(qn__buf *out, ir_kind kind, uint64_t bits, bool listed) {
    unsigned long long word = bits;
    switch (kind) {
    case IR_I8: qn__buf_printf(out, listed ? "%llu" : "(uchar)%llu", word & 0xff); break;
    case IR_I16:
    case IR_F16: qn__buf_printf(out, listed ? "%llu" : "(ushort)%llu", word & 0xffff); break;
    case IR_I32: qn__buf_printf(out, "%lluu", word & 0xffffffff); break;
    case IR_I64: qn__buf_printf(out, "%lluul", word); break;
    default: qn__buf_printf(out, "0x%llxul", word); break;
    }
}

static void not_finite(qn__buf *out, ir_kind kind, double value, uint64_t bits) {
    (void)value;
    if (kind == IR_F64)
        qn__buf_printf(out, "as_double(0x%llxul)", (unsigned long long)bits);
    else
        qn__buf_printf(out, "as_float(0x%llxu)", (unsigned long long)bits & 0xffffffff);
}

static const qn__c_literals literals = {
    .truth = {"false", "true"}, .f16_is_bits = true, .integer = integer, .not_finite = not_finite};

static void lane_literal(qn__buf *out, ir_type type, uint64_t bits) {
    if (type.kind == IR_BOOL && type.lanes > 1)
        qn__buf_puts(out, bits & 1 ? "-1" : "0");
    else
        qn__c_literal(out, &literals, (ir_kind)type.kind, bits);
}

const char *qn__clc_constant(clc_emitter *e, const ir_value *value) {
    ir_type type = value->type;
    qn__buf text;
    qn__buf_init(&text, e->arena);
    const uint64_t *bits = value->value_kind == IR_VALUE_CONST ? value->bits : NULL;
    if (type.kind == IR_PTR) {
        if (!bits || !bits[0]) return "0";
        return qn__arena_printf(e->arena, "(%s uchar *)0x%llxul", qn__clc_space(e, value),
                                (unsigned long long)bits[0]);
    }
    const char *name = qn__clc_type(e, type);
    if (type.lanes == 1) {
        bool narrow = type.kind == IR_I8 || type.kind == IR_I16 || type.kind == IR_F16;
        if (narrow) qn__buf_putc(&text, '(');
        lane_literal(&text, type, bits ? bits[0] : 0);
        if (narrow) qn__buf_putc(&text, ')');
        return text.data;
    }
    bool splat = !bits || qn__ir_is_splat(value, bits[0]);
    qn__buf_printf(&text, "((%s)(", name);
    for (unsigned i = 0; i < (splat ? 1u : type.lanes); i++) {
        if (i) qn__buf_puts(&text, ", ");
        lane_literal(&text, type, bits ? bits[i] : 0);
    }
    qn__buf_puts(&text, "))");
    return text.data;
}

/* ---- __constant objects ---- */

/* Not finite floats have no spelling in an initialiser: words instead. */
static ir_kind element(void *user, const ir_global *global) {
    const clc_emitter *e = user;
    ir_kind kind = (ir_kind)global->element.kind;
    unsigned size = qn__ir_bits(qn__ir_type(kind, 1)) / 8;
    if (kind == IR_F16) kind = IR_I16;
    bool number = qn__ir_is_int(qn__ir_type(kind, 1)) || kind == IR_F32 || kind == IR_F64;
    if (!number || global->size % size) return IR_VOID;
    if (kind == IR_F64 && e->options->target.lacks_f64) return IR_I64;
    for (uint64_t at = 0; qn__ir_is_float(qn__ir_type(kind, 1)) && at < global->size; at += size) {
        uint64_t word = 0, mask = kind == IR_F32 ? 0x7f800000 : (uint64_t)0x7ff << 52;
        memcpy(&word, global->data + at, size);
        if ((word & mask) == mask) return kind == IR_F32 ? IR_I32 : IR_I64;
    }
    return kind;
}

static const char *element_type(void *user, ir_kind kind) { return qn__clc_type(user, qn__ir_type(kind, 1)); }

void qn__clc_constants(clc_emitter *e, qn__buf *out) {
    static const qn__c_objects objects = {.literals = &literals,
                                          .storage = "__constant",
                                          .byte = "uchar",
                                          .pointer = "__constant uchar *",
                                          .name = "constant",
                                          .element = element,
                                          .type = element_type};
    qn__c_constants(out, &objects, e, e->module, e->global_used);
}
