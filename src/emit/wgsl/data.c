/* Constants of the WGSL target: literals, and the module's __constant objects, which are one read-only buffer. */
#include <string.h>

#include "emit/cdata.h"
#include "emit/wgsl/internal.h"

/* ---- literals ---- */

static void integer(qn__buf *out, ir_kind kind, uint64_t bits, bool listed) {
    static const uint32_t masks[IR_KIND_COUNT] = {
        [IR_I8] = 0xff, [IR_I16] = 0xffff, [IR_F16] = 0xffff, [IR_I32] = UINT32_MAX};
    const unsigned long long high = bits >> 32, low = bits & UINT32_MAX;
    (void)listed;
    if (masks[kind])
        qn__buf_printf(out, "%lluu", low & masks[kind]);
    else
        qn__buf_printf(out, "vec2<u32>(%lluu, %lluu)", low, high);
}

/* A constant expression must not be one: `zero` is a variable. */
static void not_finite(qn__buf *out, ir_kind kind, double value, uint64_t bits) {
    (void)kind, (void)value;
    qn__buf_printf(out, "bitcast<f32>(0x%llxu | zero)", (unsigned long long)bits & UINT32_MAX);
}

static const qn__c_literals literals = {
    .truth = {"false", "true"}, .f16_is_bits = true, .integer = integer, .not_finite = not_finite};

const char *qn__wgsl_literal(wgsl_emitter *e, ir_kind kind, uint64_t bits) {
    const uint32_t exponent = (uint32_t)bits >> 23 & 0xff;
    qn__buf text;
    qn__buf_init(&text, e->arena);
    const bool is_delicate = kind == IR_F32 && !exponent && bits & UINT32_MAX;
    if (kind == IR_F32 && (exponent == 0xff || is_delicate)) e->uses_zero = true;
    if (is_delicate) /* Tint loses the sign of a zero, and denormal numbers, that it sees */
        return qn__wgsl_text(e, "bitcast<f32>(0x%xu | zero)", (uint32_t)bits);
    qn__c_literal(&text, &literals, kind, bits);
    return text.data;
}

const char *qn__wgsl_constant(wgsl_emitter *e, const ir_value *value) {
    const ir_type type = value->type;
    const uint64_t *bits = value->value_kind == IR_VALUE_CONST ? value->bits : NULL;
    if (type.kind == IR_PTR) return qn__wgsl_use_as(e, value, value);
    const char *name = qn__wgsl_type(e, type);
    if (type.lanes == 1) return qn__wgsl_literal(e, (ir_kind)type.kind, bits ? bits[0] : 0);
    const bool splat = !bits || qn__ir_is_splat(value, bits[0]);
    qn__buf text;
    qn__buf_init(&text, e->arena);
    qn__buf_printf(&text, "%s(", name);
    for (unsigned i = 0; i < (splat ? 1u : type.lanes); i++) {
        if (i) qn__buf_puts(&text, ", ");
        qn__buf_puts(&text, qn__wgsl_literal(e, (ir_kind)type.kind, bits ? bits[i] : 0));
    }
    qn__buf_putc(&text, ')');
    return text.data;
}

/* ---- __constant objects ---- */

static void follow_relocations(wgsl_emitter *e) {
    for (bool changed = true; changed;) {
        changed = false;
        for (size_t i = 0; i < e->module->globals.len; i++) {
            const ir_global *global = &e->module->globals.data[i];
            for (size_t k = 0; e->constants[i] != UINT64_MAX && k < global->relocations.len; k++) {
                uint64_t *offset = &e->constants[global->relocations.data[k].target];
                changed |= *offset == UINT64_MAX;
                if (*offset == UINT64_MAX) *offset = 0;
            }
        }
    }
}

static void visit(ir_instr *instr, void *user) {
    wgsl_emitter *e = user;
    if (instr->op == IR_GLOBAL) e->constants[instr->attr.index] = 0;
}

static void place(wgsl_emitter *e) {
    for (size_t i = 0; i < e->module->globals.len; i++) {
        const ir_global *global = &e->module->globals.data[i];
        const uint64_t align = global->align > 16 ? global->align : 16;
        if (e->constants[i] == UINT64_MAX) continue;
        e->constants[i] = (e->constants_size + align - 1) / align * align;
        e->constants_size = e->constants[i] + (global->size ? global->size : 1);
    }
    e->constants_size = (e->constants_size + 15) / 16 * 16;
}

/* An address is a word, and behind it the buffer's place in its class, which is 0. */
static void copy(wgsl_emitter *e, const ir_global *global, uint8_t *to) {
    if (global->size) memcpy(to, global->data, global->size);
    for (size_t k = 0; k < global->relocations.len; k++) {
        const ir_relocation *r = &global->relocations.data[k];
        const uint64_t value = WGSL_BASE + e->constants[r->target] + (uint64_t)r->addend;
        for (unsigned i = 0; i < 8; i++) to[r->offset + i] = i < 4 ? (uint8_t)(value >> (8 * i)) : 0;
    }
}

void qn__wgsl_place_constants(wgsl_emitter *e) {
    const ir_module *module = e->module;
    e->constants = QN__NEW_ARRAY(e->arena, uint64_t, module->globals.len + 1);
    for (size_t i = 0; i < module->globals.len; i++) e->constants[i] = UINT64_MAX;
    for (size_t i = 0; i < module->functions.len; i++)
        if (module->functions.data[i]->is_kernel) qn__ir_walk(module->functions.data[i]->body, visit, e);
    follow_relocations(e);
    place(e);
    if (!e->constants_size) return;
    uint8_t *data = QN__NEW_ARRAY(e->arena, uint8_t, e->constants_size);
    for (size_t i = 0; i < module->globals.len; i++)
        if (e->constants[i] != UINT64_MAX) copy(e, &module->globals.data[i], data + e->constants[i]);
    e->result->info.constants = data;
    e->result->info.constants_size = e->constants_size;
}
