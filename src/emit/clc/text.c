/* Lines, names and types of OpenCL C text. */
#include <string.h>

#include "emit/cfamily.h"
#include "emit/clc/internal.h"

/* ---- where the text is ---- */

void qn__clc_locate(clc_emitter *e, ir_loc loc) {
    e->loc = loc;
    qn__c_write_from(&e->text, e->module, e->options, loc);
}

void qn__clc_error(clc_emitter *e, const char *message) {
    if (e->result->error) return;
    e->result->error = message;
    e->result->error_loc = e->loc;
}

bool qn__clc_need(clc_emitter *e, const char *name) {
    qn__str key = qn__str_of(name);
    if (qn__map_has(&e->helper_names, key)) return false;
    qn__map_set(e->arena, &e->helper_names, key, NULL);
    return true;
}

/* ---- types ---- */

static const char *const scalars[IR_KIND_COUNT] = {
    [IR_VOID] = "void", [IR_BOOL] = "bool",  [IR_I8] = "uchar",  [IR_I16] = "ushort", [IR_I32] = "uint",
    [IR_I64] = "ulong", [IR_F16] = "ushort", [IR_F32] = "float", [IR_F64] = "double", [IR_PTR] = "ulong",
};
static const char *const signed_scalars[IR_KIND_COUNT] = {
    [IR_VOID] = "void", [IR_BOOL] = "int",  [IR_I8] = "char", [IR_I16] = "short", [IR_I32] = "int",
    [IR_I64] = "long",  [IR_F16] = "short", [IR_F32] = "int", [IR_F64] = "long",  [IR_PTR] = "long",
};

const char *qn__clc_type(clc_emitter *e, ir_type type) {
    if (type.kind == IR_F64) {
        e->uses_f64 = true;
        if (e->options->target.lacks_f64) qn__clc_error(e, "the device has no double precision");
    }
    if (type.lanes <= 1) return scalars[type.kind];
    const char *name = type.kind == IR_BOOL ? "int" : scalars[type.kind];
    return qn__arena_printf(e->arena, "%s%u", name, type.lanes);
}

const char *qn__clc_signed(clc_emitter *e, ir_type type) {
    const char *name = signed_scalars[type.kind];
    return type.lanes <= 1 ? name : qn__arena_printf(e->arena, "%s%u", name, type.lanes);
}

const char *qn__clc_space(clc_emitter *e, const ir_value *pointer) {
    switch (pointer->type.space) {
    case IR_GLOBAL_SPACE: return "__global";
    case IR_CONSTANT_SPACE: return qn__clc_is_object(e, pointer) ? "__constant" : "__global";
    case IR_LOCAL_SPACE: return "__local";
    default: return "__private";
    }
}

const char *qn__clc_declarator(clc_emitter *e, const ir_value *value) {
    if (value->type.kind == IR_PTR) return qn__arena_printf(e->arena, "%s uchar *", qn__clc_space(e, value));
    return qn__arena_printf(e->arena, "%s ", qn__clc_type(e, value->type));
}

/* ---- values ---- */

const char *qn__clc_name(clc_emitter *e, const ir_value *value) {
    return qn__arena_printf(e->arena, "v%u", value->id);
}

const char *qn__clc_use(clc_emitter *e, const ir_value *value) {
    if (value->value_kind >= IR_VALUE_CONST) return qn__clc_constant(e, value);
    return qn__clc_name(e, value);
}

void qn__clc_define(clc_emitter *e, const ir_value *value, const char *expression) {
    if (!e->uses[value->id]) {
        qn__clc_line(e, "(void)(%s);", expression);
    } else {
        qn__clc_line(e, "%s%s = %s;", qn__clc_declarator(e, value), qn__clc_name(e, value), expression);
    }
}

const char *qn__clc_implicit(clc_emitter *e, qn__implicit_kind kind, uint32_t dim) {
    static const char *const names[QN__IMPLICIT_KIND_COUNT] = {
        [QN__IMPLICIT_GLOBAL_BASE] = "global_base",     [QN__IMPLICIT_GLOBAL_SIZE] = "global_size",
        [QN__IMPLICIT_GLOBAL_OFFSET] = "global_offset", [QN__IMPLICIT_GROUP_BASE] = "group_base",
        [QN__IMPLICIT_NUM_GROUPS] = "num_groups",       [QN__IMPLICIT_ENQUEUED_SIZE] = "enqueued_size",
        [QN__IMPLICIT_WORK_DIM] = "work_dim",           [QN__IMPLICIT_OVERHANG] = "overhang",
        [QN__IMPLICIT_PRINT] = "print_buffer",          [QN__IMPLICIT_CONSTANTS] = "constants",
        [QN__IMPLICIT_BUFFER_OFFSET] = "buffer_offset", [QN__IMPLICIT_LIMIT] = "limit"};
    if (kind == QN__IMPLICIT_PRINT) {
        e->prints = true;
        return names[kind];
    }
    size_t i = 0;
    while (i < e->implicit.len && (e->implicit.data[i].kind != kind || e->implicit.data[i].dim != dim)) i++;
    if (i == e->implicit.len) {
        qn__implicit implicit = {
            .kind = (uint8_t)kind, .size = 8, .dim = (uint16_t)dim, .offset = (uint32_t)(8 * i)};
        qn__vec_push(e->arena, &e->implicit, implicit);
    }
    return qn__arena_printf(e->arena, "implicit.%s%u", names[kind], dim);
}
