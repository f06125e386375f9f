/* Atomics in WGSL: on words; floats and signed extremes by comparing and exchanging. Private memory has none. */
#include <string.h>

#include "emit/wgsl/internal.h"

static const char *const functions[IR_COMBINE_COUNT] = {
    [IR_COMBINE_ADD] = "atomicAdd",  [IR_COMBINE_SUB] = "atomicSub", [IR_COMBINE_XCHG] = "atomicExchange",
    [IR_COMBINE_AND] = "atomicAnd",  [IR_COMBINE_OR] = "atomicOr",   [IR_COMBINE_XOR] = "atomicXor",
    [IR_COMBINE_UMIN] = "atomicMin", [IR_COMBINE_UMAX] = "atomicMax"};

/* How a, the old word, and b join. */
static const char *const joined[IR_COMBINE_COUNT] = {
    [IR_COMBINE_ADD] = "a + b",
    [IR_COMBINE_SUB] = "a - b",
    [IR_COMBINE_XCHG] = "b",
    [IR_COMBINE_AND] = "a & b",
    [IR_COMBINE_OR] = "a | b",
    [IR_COMBINE_XOR] = "a ^ b",
    [IR_COMBINE_UMIN] = "min(a, b)",
    [IR_COMBINE_UMAX] = "max(a, b)",
    [IR_COMBINE_SMIN] = "bitcast<u32>(min(bitcast<i32>(a), bitcast<i32>(b)))",
    [IR_COMBINE_SMAX] = "bitcast<u32>(max(bitcast<i32>(a), bitcast<i32>(b)))",
    [IR_COMBINE_FADD] = "bitcast<u32>(bitcast<f32>(a) + bitcast<f32>(b))",
    [IR_COMBINE_FMIN] =
        "select(b, a, bitcast<f32>(a) < bitcast<f32>(b) || !(bitcast<f32>(b) == bitcast<f32>(b)))",
    [IR_COMBINE_FMAX] =
        "select(b, a, bitcast<f32>(a) > bitcast<f32>(b) || !(bitcast<f32>(b) == bitcast<f32>(b)))",
};

static const char *bits_of(wgsl_emitter *e, const ir_value *value) {
    const char *text = qn__wgsl_use(e, value);
    return value->type.kind == IR_F32 ? qn__wgsl_text(e, "bitcast<u32>(%s)", text) : text;
}

static const char *from_bits(wgsl_emitter *e, const ir_value *result, const char *text) {
    return result->type.kind == IR_F32 ? qn__wgsl_text(e, "bitcast<f32>(%s)", text) : text;
}

static bool is_several(const wgsl_class *class) {
    return class->num_objects > 1 && (class->space == IR_GLOBAL_SPACE || class->space == IR_CONSTANT_SPACE);
}

/* A function over all the buffers of a class, or its only array: `body` does it with the element, which %s is. */
static const char *function(wgsl_emitter *e, const wgsl_class *class, const char *what,
                            const char *parameters,
                            void (*body)(wgsl_emitter *e, const char *element, const char *what)) {
    const unsigned number = (unsigned)(class - e->classes.data);
    const char *name = qn__wgsl_text(e, "%s_%u_of_%s", what, number, e->symbol);
    if (!qn__wgsl_need(e, name)) return name;
    qn__buf_printf(&e->helpers, "fn %s(%si: u32, %s) -> u32 {\n", name,
                   is_several(class) ? "which: u32, " : "", parameters);
    if (!is_several(class)) {
        body(e, qn__wgsl_element(e, class, class->object, "i"), what);
        qn__buf_puts(&e->helpers, "}\n");
        return name;
    }
    qn__buf_puts(&e->helpers, "    switch which {\n");
    uint32_t left = class->num_objects;
    for (uint32_t i = 0; i < e->objects.len; i++) {
        const wgsl_object *object = &e->objects.data[i];
        if (&e->classes.data[object->class_index] != class) continue;
        if (--left)
            qn__buf_printf(&e->helpers, "    case %uu: {\n", (unsigned)object->offset);
        else
            qn__buf_puts(&e->helpers, "    default: {\n");
        body(e, qn__wgsl_element(e, class, i, "i"), what);
        qn__buf_puts(&e->helpers, "    }\n");
    }
    qn__buf_puts(&e->helpers, "    }\n}\n");
    return name;
}

static unsigned combine_of(const char *what) {
    for (unsigned c = 0; c < IR_COMBINE_COUNT; c++)
        if (strcmp(what, qn__ir_combine_name(c)) == 0) return c;
    return 0;
}

static void plain_body(wgsl_emitter *e, const char *element, const char *what) {
    qn__buf_printf(&e->helpers, "    return %s(&%s, b);\n", functions[combine_of(what)], element);
}

static void loop_body(wgsl_emitter *e, const char *element, const char *what) {
    qn__buf_printf(&e->helpers,
                   "    var a = atomicLoad(&%s);\n"
                   "    loop {\n"
                   "        let seen = atomicCompareExchangeWeak(&%s, a, %s);\n"
                   "        if (seen.exchanged) { break; }\n"
                   "        a = seen.old_value;\n"
                   "    }\n"
                   "    return a;\n",
                   element, element, joined[combine_of(what)]);
}

static void cas_body(wgsl_emitter *e, const char *element, const char *what) {
    (void)what;
    qn__buf_printf(&e->helpers,
                   "    var old = a;\n"
                   "    loop {\n"
                   "        let seen = atomicCompareExchangeWeak(&%s, a, b);\n"
                   "        old = seen.old_value;\n"
                   "        if (seen.exchanged || old != a) { break; }\n"
                   "    }\n"
                   "    return old;\n",
                   element);
}

static const char *where(wgsl_emitter *e, const wgsl_place *place) {
    const char *index = qn__wgsl_index(e, place, 0);
    return place->tag ? qn__wgsl_text(e, "%s, %s", place->tag, index) : index;
}

static void atomic_rmw(wgsl_emitter *e, const ir_instr *instr) {
    const ir_value *result = instr->results[0];
    const wgsl_place place = qn__wgsl_place(e, instr->operands[0], instr->attr.offset);
    const unsigned combine = instr->attr.combine;
    const char *bits = bits_of(e, instr->operands[1]);
    if (place.class->space == IR_PRIVATE) {
        const char *element =
            qn__wgsl_element(e, place.class, 0, qn__wgsl_let(e, qn__wgsl_index(e, &place, 0)));
        qn__wgsl_open(e, "let %s = %s;", qn__wgsl_name(e, result), from_bits(e, result, element));
        e->text.depth--;
        qn__wgsl_open(e, "{");
        qn__wgsl_line(e, "let a = %s;", element);
        qn__wgsl_line(e, "let b = %s;", bits);
        qn__wgsl_line(e, "%s = %s;", element, joined[combine]);
        qn__wgsl_close(e, "}");
        return;
    }
    const char *text;
    if (functions[combine] && !place.tag) {
        const char *element =
            qn__wgsl_element(e, place.class, place.class->object, qn__wgsl_index(e, &place, 0));
        text = qn__wgsl_text(e, "%s(&%s, %s)", functions[combine], element, bits);
    } else {
        const char *name = function(e, place.class, qn__ir_combine_name(combine), "b: u32",
                                    functions[combine] ? plain_body : loop_body);
        text = qn__wgsl_text(e, "%s(%s, %s)", name, where(e, &place), bits);
    }
    qn__wgsl_define(e, result, from_bits(e, result, text));
}

static void atomic_cas(wgsl_emitter *e, const ir_instr *instr) {
    const ir_value *result = instr->results[0];
    const wgsl_place place = qn__wgsl_place(e, instr->operands[0], instr->attr.offset);
    const char *a = bits_of(e, instr->operands[1]), *b = bits_of(e, instr->operands[2]);
    if (place.class->space == IR_PRIVATE) {
        const char *element =
            qn__wgsl_element(e, place.class, 0, qn__wgsl_let(e, qn__wgsl_index(e, &place, 0)));
        const char *old = qn__wgsl_let(e, element);
        qn__wgsl_line(e, "%s = select(%s, %s, %s == %s);", element, old, b, old, a);
        qn__wgsl_define(e, result, from_bits(e, result, old));
        return;
    }
    const char *name = function(e, place.class, "cas", "a: u32, b: u32", cas_body);
    qn__wgsl_define(e, result,
                    from_bits(e, result, qn__wgsl_text(e, "%s(%s, %s, %s)", name, where(e, &place), a, b)));
}

/* Loads and stores of such classes are atomic in any case. */
static void atomic_access(wgsl_emitter *e, const ir_instr *instr) {
    ir_instr plain = *instr;
    plain.op = instr->op == IR_ATOMIC_LOAD ? IR_LOAD : IR_STORE;
    plain.attr.align = 4;
    qn__wgsl_memory(e, &plain);
}

bool qn__wgsl_atomic(wgsl_emitter *e, const ir_instr *instr) {
    switch (instr->op) {
    case IR_ATOMIC_LOAD:
    case IR_ATOMIC_STORE: atomic_access(e, instr); return true;
    case IR_ATOMIC_RMW: atomic_rmw(e, instr); return true;
    case IR_ATOMIC_CAS: atomic_cas(e, instr); return true;
    default: return false;
    }
}
