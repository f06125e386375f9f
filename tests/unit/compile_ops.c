/* Every op that computes, on every type that the verifier lets it have, is printed by every target and run by the
   interpreter, or stands in that target's list of what passes have lowered: then it is refused with a sentence. So a
   row in ops.def without its spellings fails here. What is printed is checked by emit.operations. */
#include <stdio.h>

#include "emit/emit.h"
#include "ir_support.h"
#include "vm/vm.h"

enum { TEXT = 2048 };

typedef void emit_function(qn__arena *arena, ir_module *module, const qn__emit_options *options,
                           qn__emit_result *result);

typedef enum target { C, PTX, SPIRV, CLC, TARGETS } target;

static const struct {
    const char *name;
    emit_function *emit;
} targets[TARGETS] = {
    [C] = {"C", qn__emit_c},
    [PTX] = {"PTX", qn__emit_ptx},
    [SPIRV] = {"SPIR-V", qn__emit_spirv},
    [CLC] = {"OpenCL C", qn__emit_clc},
};

/* What a target need not know, because a pass has lowered it, or nothing makes it. */
enum { ANY = 255 };
static const struct lowered {
    uint8_t target, first, last; /* ops */
    uint8_t kind, lanes;         /* of an operand or the result; from so many lanes on */
    const char *why;
} lowered[] = {
    {SPIRV, 0, ANY, ANY, 8, "lower_long_vectors"},
    {CLC, IR_FADD, IR_FRINT, IR_F16, 1, "lower_f16"},
    {CLC, IR_FEQ, IR_FLE, IR_F16, 1, "lower_f16"},
    {CLC, IR_UDOT4, IR_SUDOT4, ANY, 1, "lower_dot4"},
    {C, IR_UDOT4, IR_SUDOT4, ANY, 1, "lower_dot4"},
    {PTX, IR_FREM, IR_FREM, ANY, 1, "fmod is a function of src/lib"},
};

static bool is_lowered(target t, ir_op op, ir_type type, ir_type result) {
    for (size_t i = 0; i < sizeof lowered / sizeof *lowered; i++) {
        const struct lowered *l = &lowered[i];
        bool lanes = type.lanes >= l->lanes || result.lanes >= l->lanes;
        bool kind = l->kind == ANY || type.kind == l->kind || result.kind == l->kind;
        if (l->target == t && op >= l->first && op <= l->last && lanes && kind) return true;
    }
    return false;
}

/* ---- modules of one op ---- */

typedef struct writer {
    char text[TEXT];
    size_t length;
} writer;

static void put(writer *w, const char *format, ...) {
    va_list args;
    va_start(args, format);
    int more = vsnprintf(w->text + w->length, TEXT - w->length, format, args);
    va_end(args);
    assert_true(more >= 0 && w->length + (size_t)more < TEXT);
    w->length += (size_t)more;
}

/* Operand types of an op on values of `type`: false where it has another shape. */
static unsigned operand_types(ir_op op, ir_type type, ir_type result, ir_type *types) {
    const ir_op_info *info = &qn__ir_ops[op];
    unsigned count = info->operands == IR_ANY ? result.lanes : info->operands;
    for (unsigned i = 0; i < count; i++) types[i] = type;
    switch (info->rule) {
    case RULE_SELECT: types[0] = qn__ir_type(IR_BOOL, type.lanes); break;
    case RULE_INSERT: types[1] = qn__ir_element(type); break;
    case RULE_EXTRACT:
        if (op == IR_EXTRACT_DYNAMIC) types[1] = qn__ir_type(IR_I32, 1);
        break;
    default: break;
    }
    return count;
}

/* A kernel has no bool parameters, so those are found by comparisons. */
static void put_operands(qn__arena *arena, writer *w, const ir_type *types, unsigned count) {
    put(w, "kernel @k(%%o: ptr.global buffer");
    for (unsigned i = 0; i < count; i++) {
        ir_type type = types[i].kind == IR_BOOL ? qn__ir_type(IR_I32, types[i].lanes) : types[i];
        put(w, ", %%p%u: %s %s", i, qn__ir_type_name(arena, type), type.kind == IR_PTR ? "buffer" : "value");
    }
    put(w, ") {\n");
    for (unsigned i = 0; i < count; i++) {
        if (types[i].kind != IR_BOOL) continue;
        const char *name = qn__ir_type_name(arena, qn__ir_type(IR_I32, types[i].lanes));
        put(w, "%%b%u: %s = ne %%p%u, %s 0\n", i, qn__ir_type_name(arena, types[i]), i, name);
    }
}

static void put_op(qn__arena *arena, writer *w, ir_op op, ir_type result, const ir_type *types,
                   unsigned count) {
    const ir_op_info *info = &qn__ir_ops[op];
    put(w, "%%r: %s = %s", qn__ir_type_name(arena, result), info->name);
    if (op == IR_EXTRACT || op == IR_INSERT) put(w, " [0]");
    if (info->rule == RULE_SHUFFLE) put(w, " [");
    for (unsigned i = 0; info->rule == RULE_SHUFFLE && i < result.lanes; i++)
        put(w, "%s%u", i ? ", " : "", (i + 1) % types[0].lanes);
    if (info->rule == RULE_SHUFFLE) put(w, "]");
    for (unsigned i = 0; i < count; i++)
        put(w, "%s%%%s%u", i ? ", " : " ", types[i].kind == IR_BOOL ? "b" : "p", i);
    put(w, "\n");
}

static void put_store(qn__arena *arena, writer *w, ir_type result) {
    const char *name = "%r";
    if (result.kind == IR_BOOL) {
        put(w, "%%n: %s = zext %%r\n", qn__ir_type_name(arena, qn__ir_type(IR_I32, result.lanes)));
        name = "%n";
    }
    put(w, "store align 1 %%o, %s\nreturn\n}\n", name);
}

/* NULL: there is no such op. */
static ir_module *module_of(qn__arena *arena, ir_op op, ir_type type, ir_type result, writer *w) {
    ir_type types[16];
    const char *error = NULL;
    w->length = 0;
    unsigned count = operand_types(op, type, result, types);
    put_operands(arena, w, types, count);
    put_op(arena, w, op, result, types, count);
    put_store(arena, w, result);
    ir_module *module = qn__ir_parse(arena, w->text, w->length, &error);
    return module && !qn__ir_verify(arena, module) ? module : NULL;
}

/* ---- what becomes of them ---- */

typedef struct counts {
    unsigned printed[TARGETS], lowered[TARGETS], interpreted;
} counts;

static void look_at(qn__arena *arena, ir_op op, ir_type type, ir_type result, counts *c) {
    writer w;
    const char *error;
    const qn__emit_options options = {0};
    for (target t = 0; t < TARGETS; t++) {
        qn__emit_result emitted = {0};
        ir_module *module = module_of(arena, op, type, result, &w);
        if (!module) return;
        if (is_lowered(t, op, type, result)) {
            c->lowered[t]++;
            continue;
        }
        targets[t].emit(arena, module, &options, &emitted);
        if (emitted.error) fail_msg("%s: %s\n%s", targets[t].name, emitted.error, w.text);
        if (!emitted.size) fail_msg("%s prints nothing of\n%s", targets[t].name, w.text);
        c->printed[t]++;
    }
    ir_module *module = module_of(arena, op, type, result, &w);
    ir_function *kernel = qn__ir_function_find(module, qn__str_of("k"));
    if (!qn__vm_prepare(arena, kernel, 0, &error)) fail_msg("the interpreter: %s\n%s", error, w.text);
    c->interpreted++;
}

/* Spares the parser what no rule allows. */
static bool is_possible(ir_op op, ir_type type, ir_type result) {
    unsigned rule = qn__ir_ops[op].rule;
    if (rule == RULE_BITCAST) return true;
    if (rule == RULE_CONVERT) return type.lanes == result.lanes;
    if (rule == RULE_COMPARE || rule == RULE_FCOMPARE)
        return result.kind == IR_BOOL && type.lanes == result.lanes;
    if (rule == RULE_VECTOR && type.lanes > 1) return false;
    bool regroups = rule == RULE_VECTOR || rule == RULE_SPLAT || rule == RULE_EXTRACT || rule == RULE_SHUFFLE;
    return type.kind == result.kind && (regroups || type.lanes == result.lanes);
}

static void look_at_results(ir_op op, ir_type type, counts *c) {
    static const uint8_t lanes[] = {1, 2, 3, 4, 8, 16};
    for (unsigned kind = IR_BOOL; kind < IR_PTR; kind++)
        for (size_t i = 0; i < sizeof lanes; i++) {
            ir_type result = qn__ir_type((ir_kind)kind, lanes[i]);
            if (!is_possible(op, type, result)) continue;
            void *arena = NULL;
            ir_setup(&arena);
            look_at(arena, op, type, result, c);
            ir_teardown(&arena);
        }
}

static void every_op_is_printed_or_lowered(void **state) {
    (void)state;
    static const uint8_t lanes[] = {1, 2, 3, 4, 8, 16};
    for (unsigned op = 0; op < IR_OP_COUNT; op++) {
        counts c = {{0}, {0}, 0};
        unsigned effects = qn__ir_ops[op].effects, rule = qn__ir_ops[op].rule;
        bool address =
            rule == RULE_POINTER_RESULT || rule == RULE_PTR_ADD || op == IR_PTR2INT || op == IR_INT2PTR;
        if (effects > IR_EFFECT_PURE_TRAP || address) continue;
        for (unsigned kind = IR_BOOL; kind < IR_PTR; kind++)
            for (size_t i = 0; i < sizeof lanes; i++)
                look_at_results((ir_op)op, qn__ir_type((ir_kind)kind, lanes[i]), &c);
        if (!c.interpreted) fail_msg("no type is found that '%s' is for", qn__ir_ops[op].name);
        for (target t = 0; t < TARGETS; t++)
            if (!c.printed[t] && !c.lowered[t])
                fail_msg("%s never prints '%s'", targets[t].name, qn__ir_ops[op].name);
    }
}

/* The sentence names the op. */
static void what_has_no_spelling_is_refused(void **state) {
    static const struct {
        target target;
        ir_op op;
        ir_kind kind;
    } rows[] = {{C, IR_UDOT4, IR_I32}, {CLC, IR_SDOT4, IR_I32}, {PTX, IR_FREM, IR_F64}};
    const qn__emit_options options = {0};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        writer w;
        qn__emit_result emitted = {0};
        ir_type type = qn__ir_type(rows[i].kind, 1);
        ir_module *module = module_of(*state, rows[i].op, type, type, &w);
        assert_non_null(module);
        targets[rows[i].target].emit(*state, module, &options, &emitted);
        assert_non_null(emitted.error);
        assert_non_null(strstr(emitted.error, qn__ir_ops[rows[i].op].name));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_op_is_printed_or_lowered),
        cmocka_unit_test_setup_teardown(what_has_no_spelling_is_refused, ir_setup, ir_teardown)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
