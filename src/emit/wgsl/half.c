/* f16 by WGSL's extension. naga makes no integer of a vec2<f16>, so that an f16 has one form for all its life: it is the language's
   own where it goes from memory of such to conversions and back, the bits of it where anything else is done with it or its
   memory. Values that are handed on to one another, and memory that they come from and go to, are one class (Tarjan's
   union-find); arithmetic on f16 has been lowered to that on f32. Buffers of f16 are one class: a kernel may be given
   one buffer for several, which then is of one type (backend/webgpu/alias.c). */
#include <string.h>

#include "emit/wgsl/internal.h"
#include "util/float.h"

/* Nodes: values by id; memory behind them. */
typedef struct search {
    wgsl_emitter *e;
    uint32_t *parent;
    bool *is_bits; /* by root */
    bool *holds;   /* by memory: an f16 is loaded or stored */
    uint32_t first_memory;
} search;

static uint32_t root_of(uint32_t *parent, uint32_t node) {
    while (parent[node] != node) node = parent[node] = parent[parent[node]];
    return node;
}

static void join(search *s, uint32_t a, uint32_t b) {
    a = root_of(s->parent, a);
    b = root_of(s->parent, b);
    s->is_bits[b] |= s->is_bits[a];
    s->parent[a] = b;
}

static void mark(search *s, uint32_t node) { s->is_bits[root_of(s->parent, node)] = true; }

static bool is_f16(const ir_value *value) { return value->type.kind == IR_F16; }
static bool is_constant(const ir_value *value) { return value->value_kind >= IR_VALUE_CONST; }

static void join_values(search *s, const ir_value *a, const ir_value *b) {
    if (is_f16(a) && is_f16(b) && !is_constant(a) && !is_constant(b)) join(s, a->id, b->id);
}

static void mark_values(search *s, const ir_instr *i) {
    for (uint32_t n = 0; n < i->num_operands; n++)
        if (is_f16(i->operands[n]) && !is_constant(i->operands[n])) mark(s, i->operands[n]->id);
    for (uint32_t n = 0; n < i->num_results; n++)
        if (is_f16(i->results[n])) mark(s, i->results[n]->id);
}

/* The node of what a pointer points to; UINT32_MAX: nothing. */
static uint32_t memory_of(const search *s, const ir_value *pointer) {
    const wgsl_class *class = qn__wgsl_class(s->e, pointer);
    return class ? s->first_memory + (uint32_t)(class - s->e->classes.data) : UINT32_MAX;
}

static void mark_memory(search *s, const ir_value *pointer) {
    const uint32_t memory = memory_of(s, pointer);
    if (memory != UINT32_MAX) mark(s, memory);
}

static void see_access(search *s, const ir_instr *i, const ir_value *value) {
    enum { SIZE = 2 };
    const uint32_t memory = memory_of(s, i->operands[0]);
    const bool is_own = is_f16(value) && !(i->flags & IR_VOLATILE) && !(i->attr.offset % SIZE) &&
                        (!i->attr.align || i->attr.align >= SIZE);
    if (memory == UINT32_MAX) {
        mark_values(s, i);
        return;
    }
    if (!is_own) mark(s, memory);
    if (!is_f16(value)) return;
    s->holds[memory - s->first_memory] = true;
    if (!is_constant(value)) join(s, value->id, memory);
}

/* Constants have the form that they are wanted in where a choice, a store or a construct takes them. */
static void see_move(search *s, const ir_instr *i) {
    if (!is_f16(i->results[0]) && !is_f16(i->operands[0])) return;
    for (uint32_t n = 0; n < i->num_operands; n++) {
        join_values(s, i->operands[n], i->results[0]);
        if (i->op != IR_SELECT && is_f16(i->operands[n]) && is_constant(i->operands[n])) mark_values(s, i);
    }
}

static void see(ir_instr *i, void *user) {
    search *s = user;
    ir_value *const *to = qn__ir_receivers(i).values;
    for (uint32_t n = 0; to && n < i->num_operands; n++) join_values(s, i->operands[n], to[n]);
    if (to || qn__ir_is_construct(i)) return;
    switch (i->op) {
    case IR_LOAD: see_access(s, i, i->results[0]); break;
    case IR_STORE: see_access(s, i, i->operands[1]); break;
    case IR_COPY: mark_memory(s, i->operands[1]); /* fall through */
    case IR_ATOMIC_LOAD:
    case IR_ATOMIC_STORE:
    case IR_ATOMIC_RMW:
    case IR_ATOMIC_CAS: mark_memory(s, i->operands[0]); break;
    case IR_PTR_ADD:
        if (qn__offset_bits(i) & 1) mark_memory(s, i->results[0]);
        break;
    case IR_VECTOR:
    case IR_SPLAT:
    case IR_EXTRACT:
    case IR_EXTRACT_DYNAMIC:
    case IR_INSERT:
    case IR_SHUFFLE:
    case IR_SELECT: see_move(s, i); break;
    case IR_FCONVERT: join_values(s, i->operands[0], i->results[0]); break; /* of f16 to f16 */
    default: mark_values(s, i); break;
    }
}

static bool may_hold(const wgsl_class *class) {
    const bool is_buffer = class->space == IR_GLOBAL_SPACE;
    if (is_buffer && class->num_objects > 1) return false;
    return is_buffer || class->space == IR_LOCAL_SPACE || class->space == IR_PRIVATE;
}

static void settle(search *s) {
    wgsl_emitter *e = s->e;
    uint32_t buffers = UINT32_MAX;
    for (uint32_t i = 0; i < e->classes.len; i++) {
        if (!s->holds[i]) continue;
        const bool is_buffer = e->classes.data[i].space == IR_GLOBAL_SPACE;
        if (!may_hold(&e->classes.data[i]) || (is_buffer && e->one_type)) mark(s, s->first_memory + i);
        if (!is_buffer) continue;
        if (buffers != UINT32_MAX) join(s, s->first_memory + i, buffers);
        buffers = s->first_memory + i;
    }
    for (uint32_t i = 0; i < e->classes.len; i++)
        e->classes.data[i].halves = s->holds[i] && !s->is_bits[root_of(s->parent, s->first_memory + i)];
}

void qn__wgsl_find_halves(wgsl_emitter *e) {
    const uint32_t values = e->kernel->num_values + 1, count = values + (uint32_t)e->classes.len;
    e->is_half = QN__NEW_ARRAY(e->arena, bool, values);
    if (!e->options->target.has_f16_conversions) return;
    search s = {.e = e, .first_memory = values};
    s.parent = QN__NEW_ARRAY(e->arena, uint32_t, count);
    s.is_bits = QN__NEW_ARRAY(e->arena, bool, count);
    s.holds = QN__NEW_ARRAY(e->arena, bool, e->classes.len + 1);
    for (uint32_t i = 0; i < count; i++) s.parent[i] = i;
    for (size_t i = 0; i < e->kernel->args.len; i++) mark(&s, e->kernel->args.data[i].value->id);
    qn__ir_walk(e->kernel->body, see, &s);
    settle(&s);
    for (uint32_t i = 0; i < values; i++) e->is_half[i] = !s.is_bits[root_of(s.parent, i)];
}

bool qn__wgsl_is_half(const wgsl_emitter *e, const ir_value *value) {
    return is_f16(value) && !is_constant(value) && e->is_half[value->id];
}

/* ---- text ---- */

const char *qn__wgsl_half_type(wgsl_emitter *e, ir_type type) {
    e->enables_f16 = true;
    return type.lanes <= 1 ? "f16" : qn__wgsl_text(e, "vec%u<f16>", type.lanes);
}

static const char *literal(wgsl_emitter *e, uint16_t bits) {
    enum { EXPONENT = 0x7c00 };
    const float value = (float)qn__f16_to_double(bits);
    uint32_t word;
    if (!bits || ((bits & EXPONENT) && (bits & EXPONENT) != EXPONENT))
        return qn__wgsl_text(e, "f16(%.9gf)", (double)value);
    e->uses_zero = true; /* as qn__wgsl_literal */
    memcpy(&word, &value, sizeof word);
    return qn__wgsl_text(e, "f16(bitcast<f32>(0x%xu | zero))", (unsigned)word);
}

const char *qn__wgsl_half_constant(wgsl_emitter *e, const ir_value *value, unsigned lane) {
    e->enables_f16 = true;
    return literal(e, value->value_kind == IR_VALUE_CONST ? (uint16_t)value->bits[lane] : 0);
}

const char *qn__wgsl_half_constants(wgsl_emitter *e, const ir_value *value) {
    if (value->type.lanes <= 1) return qn__wgsl_half_constant(e, value, 0);
    qn__buf text;
    qn__buf_init(&text, e->arena);
    for (unsigned i = 0; i < value->type.lanes; i++)
        qn__buf_printf(&text, "%s%s", i ? ", " : "", qn__wgsl_half_constant(e, value, i));
    return qn__wgsl_text(e, "%s(%s)", qn__wgsl_half_type(e, value->type), text.data);
}

/* ---- conversions ---- */

/* Each lane's, where f16 is the bits. */
static const char *of_lanes(wgsl_emitter *e, ir_type result, const char *operand, const char *before,
                            const char *behind) {
    if (result.lanes <= 1) return qn__wgsl_text(e, "%s%s%s", before, operand, behind);
    qn__buf text;
    qn__buf_init(&text, e->arena);
    operand = qn__wgsl_let(e, operand);
    qn__buf_printf(&text, "%s(", qn__wgsl_type(e, result));
    for (unsigned i = 0; i < result.lanes; i++)
        qn__buf_printf(&text, "%s%s%s.%c%s", i ? ", " : "", before, operand, "xyzw"[i & 3], behind);
    qn__buf_putc(&text, ')');
    return text.data;
}

const char *qn__wgsl_half_conversion(wgsl_emitter *e, const ir_instr *instr, const char *operand) {
    const ir_value *from = instr->operands[0], *result = instr->results[0];
    if (from->type.kind == IR_F16 && result->type.kind == IR_F32) {
        if (qn__wgsl_is_half(e, from))
            return qn__wgsl_text(e, "%s(%s)", qn__wgsl_type(e, result->type), operand);
        return of_lanes(e, result->type, operand, "unpack2x16float(", ").x");
    }
    if (from->type.kind != IR_F32 || result->type.kind != IR_F16) return NULL;
    const char *half = qn__wgsl_text(e, "%s(%s)", qn__wgsl_half_type(e, result->type), operand);
    if (qn__wgsl_is_half(e, result)) return half;
    return of_lanes(e, result->type, half, "pack2x16float(vec2<f32>(f32(", "), 0.0f))");
}
