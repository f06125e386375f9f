/* Lines, names and helper functions of the emitted C text. */
#include <string.h>

#include "emit/c/gang.h"

void qn__c_locate(c_emitter *e, ir_loc loc) { qn__c_write_from(&e->text, e->module, e->options, loc); }

/* ---- names ---- */

static bool is_temporary_name(const char *name) {
    /* v12, c12: names of the emitter's own making must not meet those of the source. */
    if (name[0] != 'v' && name[0] != 'c') return false;
    return name[1] >= '0' && name[1] <= '9';
}

const char *qn__c_name(c_emitter *e, const ir_value *value) {
    const char **name = &e->names[value->id];
    if (*name) return *name;
    if (qn__c_is_identifier(value->name) && strlen(value->name) < 40 && !is_temporary_name(value->name)) {
        *name = qn__arena_printf(e->arena, "%s_v%u", value->name, value->id);
    } else {
        *name = qn__arena_printf(e->arena, "v%u", value->id);
    }
    return *name;
}

static const char *lane_name(c_emitter *e, const char *name, const ir_value *value, unsigned lane) {
    return value->type.lanes == 1 ? name : qn__arena_printf(e->arena, "%s_%u", name, lane);
}

const char *qn__c_use(c_emitter *e, const ir_value *value, unsigned lane) {
    if (value->value_kind == IR_VALUE_CONST || value->value_kind == IR_VALUE_UNDEF) {
        qn__buf text;
        qn__buf_init(&text, e->arena);
        bool undefined = value->value_kind == IR_VALUE_UNDEF;
        qn__c_number(&text, (ir_kind)value->type.kind, undefined ? 0 : value->bits[lane]);
        return text.data;
    }
    if (e->gang && e->gang->in_lane) return qn__c_gang_lane_use(e, value, lane);
    if (qn__c_is_wide(e, value)) return qn__arena_printf(e->arena, "%s[%u]", qn__c_name(e, value), lane);
    return lane_name(e, qn__c_name(e, value), value, lane);
}

const char *qn__c_variable(c_emitter *e, const ir_value *value, unsigned lane) {
    const char *type = qn__c_scalar((ir_kind)value->type.kind), *name = qn__c_use(e, value, lane);
    return qn__arena_printf(e->arena, "%s%s%s", type, value->type.kind == IR_PTR ? "" : " ", name);
}

const char *qn__c_context(c_emitter *e, const ir_value *value, unsigned lane) {
    const char *name = lane_name(e, qn__arena_printf(e->arena, "c%u", value->id), value, lane);
    if (!qn__c_need(e, qn__arena_printf(e->arena, "context of %s: %u", e->plan->kernel->name, value->id)))
        return name;
    for (unsigned i = 0; i < value->type.lanes; i++) {
        c_context_array array = {0};
        array.name = lane_name(e, qn__arena_printf(e->arena, "c%u", value->id), value, i);
        array.type = qn__c_scalar((ir_kind)value->type.kind);
        array.size = value->type.kind == IR_BOOL  ? 1
                     : value->type.kind == IR_F16 ? 4
                                                  : qn__ir_bits(value->type) / 8;
        qn__vec_push(e->arena, &e->contexts, array);
    }
    return name;
}

/* ---- helpers ---- */

bool qn__c_need(c_emitter *e, const char *name) {
    qn__str key = qn__str_of(name);
    if (qn__map_has(&e->helper_names, key)) return false;
    qn__map_set(e->arena, &e->helper_names, key, NULL);
    return true;
}

const char *qn__c_helper(c_emitter *e, const char *name, const char *text, const qn__c_pattern *with) {
    qn__c_pattern formal = *with;
    formal.a = "a";
    formal.b = "b";
    formal.c = "c";
    qn__buf full;
    qn__buf_init(&full, e->arena);
    qn__c_expand(&full, name, &formal);
    if (qn__c_need(e, full.data)) qn__c_expand(&e->helpers, text, &formal);
    return full.data;
}

/* ---- definitions ---- */

static c_storage storage_of(const c_emitter *e, const ir_value *value) {
    return (c_storage)e->plan->storage[value->id];
}

/* A wide value, once its last lane is known. */
static void define_wide(c_emitter *e, const ir_value *value, unsigned lane, const char *expression) {
    e->wide_lanes[lane] = expression;
    if (lane + 1 < value->type.lanes) return;
    qn__buf text;
    qn__buf_init(&text, e->arena);
    for (unsigned i = 0; i <= lane; i++) qn__buf_printf(&text, "%s%s", i ? ", " : "", e->wide_lanes[i]);
    qn__c_line(e, "%s %s = {%s};", qn__c_wide_type(e, value->type, ""), qn__c_name(e, value), text.data);
}

void qn__c_define(c_emitter *e, const ir_value *value, unsigned lane, const char *expression) {
    c_storage storage = storage_of(e, value);
    if (e->gang && e->gang->in_lane) {
        qn__c_gang_define_lane(e, value, lane, expression);
        return;
    }
    if (!e->plan->uses[value->id]) {
        qn__c_line(e, "(void)%s;", expression);
    } else if (qn__c_is_wide(e, value)) {
        define_wide(e, value, lane, expression);
    } else if (storage == STORAGE_GROUP && e->per_item) {
        qn__c_line(e, "%s = %s;", qn__c_use(e, value, lane), expression);
    } else {
        qn__c_line(e, "%s = %s;", qn__c_variable(e, value, lane), expression);
        if (storage == STORAGE_CONTEXT)
            qn__c_line(e, "%s[item] = %s;", qn__c_context(e, value, lane), qn__c_use(e, value, lane));
    }
}

void qn__c_declare(c_emitter *e, const ir_value *value) {
    if (storage_of(e, value) == STORAGE_GROUP && e->per_item) return;
    if (qn__c_is_wide(e, value)) {
        qn__c_line(e, "%s %s = {0};", qn__c_wide_type(e, value->type, ""), qn__c_name(e, value));
        return;
    }
    for (unsigned lane = 0; lane < value->type.lanes; lane++)
        qn__c_line(e, "%s = 0;", qn__c_variable(e, value, lane));
}

/* ---- the values of a jump ---- */

static unsigned num_pieces(void *user, const ir_value *target) {
    return qn__c_is_wide(user, target) ? 1 : target->type.lanes;
}

static const char *keep(void *user, const ir_value *target, const ir_value *value, unsigned index,
                        unsigned piece) {
    c_emitter *e = user;
    const bool wide = qn__c_is_wide(e, target);
    const char *name = qn__arena_printf(e->arena, wide ? "next%u" : "next%u_%u", index, piece);
    if (wide)
        qn__c_line(e, "%s %s = %s;", qn__c_wide_type(e, target->type, ""), name, qn__c_wide_use(e, value));
    else
        qn__c_line(e, "%s %s = %s;", qn__c_scalar((ir_kind)value->type.kind), name,
                   qn__c_use(e, value, piece));
    return name;
}

static void set(void *user, const ir_value *target, const ir_value *value, const char *copy, unsigned piece) {
    c_emitter *e = user;
    if (qn__c_is_wide(e, target))
        qn__c_line(e, "%s = %s;", qn__c_name(e, target), copy ? copy : qn__c_wide_use(e, value));
    else
        qn__c_line(e, "%s = %s;", qn__c_use(e, target, piece), copy ? copy : qn__c_use(e, value, piece));
}

void qn__c_assign(c_emitter *e, ir_value *const *targets, ir_value *const *values, uint32_t count) {
    static const qn__c_dialect dialect = {.num_pieces = num_pieces, .keep = keep, .set = set};
    qn__c_hand_over(&e->text, e->arena, &dialect, e, targets, values, count);
}
