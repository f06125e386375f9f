/* Lines, names and types of WGSL text. */
#include <string.h>

#include "emit/cfamily.h"
#include "emit/wgsl/internal.h"

void qn__wgsl_error(wgsl_emitter *e, const char *message) {
    if (e->result->error) return;
    e->result->error = message;
    e->result->error_loc = e->loc;
}

bool qn__wgsl_need(wgsl_emitter *e, const char *name) {
    qn__str key = qn__str_of(name);
    if (qn__map_has(&e->names, key)) return false;
    qn__map_set(e->arena, &e->names, key, NULL);
    return true;
}

/* ---- types ---- */

static const char *const scalars[IR_KIND_COUNT] = {
    [IR_VOID] = "u32", [IR_BOOL] = "bool",     [IR_I8] = "u32",  [IR_I16] = "u32",       [IR_I32] = "u32",
    [IR_F16] = "u32",  [IR_I64] = "vec2<u32>", [IR_F32] = "f32", [IR_F64] = "vec2<u32>", [IR_PTR] = "u32",
};

const char *qn__wgsl_type(wgsl_emitter *e, ir_type type) {
    if (type.kind == IR_F64) qn__wgsl_error(e, "WGSL has no double precision");
    if (type.lanes <= 1) return scalars[type.kind];
    if (type.lanes > 4 || qn__ir_bits(type) == 64) /* arguments, of which single lanes are taken */
        return qn__wgsl_text(e, "array<%s, %u>", scalars[type.kind], type.lanes);
    return qn__wgsl_text(e, "vec%u<%s>", type.lanes, scalars[type.kind]);
}

const char *qn__wgsl_words(wgsl_emitter *e, ir_type type, bool is_signed) {
    const char *word = is_signed ? "i32" : "u32";
    return type.lanes <= 1 ? word : qn__wgsl_text(e, "vec%u<%s>", type.lanes, word);
}

const char *qn__wgsl_value_type(wgsl_emitter *e, const ir_value *value) {
    if (qn__wgsl_is_low(e, value)) return "u32";
    if (qn__wgsl_is_half(e, value)) return qn__wgsl_half_type(e, value->type);
    if (value->type.kind == IR_PTR) return qn__wgsl_is_tagged(e, value) ? "vec2<u32>" : "u32";
    return qn__wgsl_type(e, value->type);
}

/* ---- values ---- */

bool qn__wgsl_is_low(const wgsl_emitter *e, const ir_value *value) {
    return value->type.kind == IR_I64 && value->type.lanes == 1 && value->value_kind <= IR_VALUE_ARG &&
           !(e->demand[value->id] & QN__WANT_ALL);
}

/* The number keeps it apart from all words of the language. */
const char *qn__wgsl_name(wgsl_emitter *e, const ir_value *value) {
    enum { LONGEST = 32 };
    const bool named =
        qn__c_is_identifier(value->name) && value->name[0] != '_' && strlen(value->name) < LONGEST;
    return qn__wgsl_text(e, "%s%s%u", named ? value->name : "v", named ? "_" : "", value->id);
}

const char *qn__wgsl_use(wgsl_emitter *e, const ir_value *value) {
    return value->value_kind >= IR_VALUE_CONST ? qn__wgsl_constant(e, value) : qn__wgsl_name(e, value);
}

/* A number that is no buffer's address, or any other where nothing is known of the pointer. */
const char *qn__wgsl_use_as(wgsl_emitter *e, const ir_value *value, const ir_value *like) {
    if (value->value_kind >= IR_VALUE_CONST && qn__wgsl_is_half(e, like))
        return qn__wgsl_half_constants(e, value);
    if (value->type.kind != IR_PTR || value->value_kind < IR_VALUE_CONST) return qn__wgsl_use(e, value);
    const wgsl_class *class = qn__wgsl_class(e, like);
    const uint32_t bits = value->value_kind == IR_VALUE_CONST ? (uint32_t)value->bits[0] : 0;
    const uint32_t offset = (bits - (uint32_t)(class ? class->base : WGSL_BASE)) / (class ? class->step : 1);
    return qn__wgsl_text(e, qn__wgsl_is_tagged(e, like) ? "vec2<u32>(%uu, 0u)" : "%uu", offset);
}

const char *qn__wgsl_low(wgsl_emitter *e, const ir_value *value) {
    if (value->value_kind >= IR_VALUE_CONST)
        return qn__wgsl_literal(e, IR_I32, value->value_kind == IR_VALUE_CONST ? value->bits[0] : 0);
    const char *name = qn__wgsl_name(e, value);
    if (value->type.kind == IR_PTR ? !qn__wgsl_is_tagged(e, value) : qn__wgsl_is_low(e, value)) return name;
    return qn__wgsl_text(e, "%s.x", name);
}

void qn__wgsl_define(wgsl_emitter *e, const ir_value *value, const char *expression) {
    if (e->uses[value->id])
        qn__wgsl_line(e, "let %s = %s;", qn__wgsl_name(e, value), expression);
    else
        qn__wgsl_line(e, "_ = %s;", expression);
}

const char *qn__wgsl_let(wgsl_emitter *e, const char *expression) {
    const char *name = qn__wgsl_text(e, "t%u", e->num_temps++);
    qn__wgsl_line(e, "let %s = %s;", name, expression);
    return name;
}
