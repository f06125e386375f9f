/* Every op that computes, also of a sub-group together, on every type that the verifier lets it have, is printed by every target and run by the
   interpreter, or stands in that target's list of what passes have lowered: then it is refused with a message. So a
   row in ops.def without its spellings fails here. What is printed is checked by emit.operations. */
#include <stdio.h>

#include "emit/emit.h"
#include "ir_support.h"
#include "vm/vm.h"

enum { TEXT = 2048, MOST_OPERANDS = 16 };

static const qn__emitter *const emitters[QN__TARGET_COUNT] = {
#define TARGET(ID, name, emitter) &emitter,
#include "target/target.def"
};

/* IR, which is not printed, comes first. */
enum { FIRST_PRINTED = QN__TARGET_IR + 1 };

/* What a target need not know, because a pass has lowered it, or nothing makes it. */
enum { ANY = 255 };
static const struct lowered {
    uint8_t target, first, last; /* ops */
    uint8_t kind, lanes;         /* of an operand or the result; from so many lanes on */
    const char *why;
} lowered[] = {
    {QN__TARGET_SPIRV, 0, ANY, ANY, 8, "lower_long_vectors"},
    {QN__TARGET_CLC, IR_FADD, IR_FRINT, IR_F16, 1, "lower_f16"},
    {QN__TARGET_CLC, IR_FEQ, IR_FLE, IR_F16, 1, "lower_f16"},
    {QN__TARGET_CLC, IR_UDOT4, IR_SUDOT4, ANY, 1, "lower_dot4"},
    {QN__TARGET_C, IR_BF16_TO_F32, IR_F32_TO_E5M2_SAT, ANY, 1, "lower_small_floats"},
    {QN__TARGET_CLC, IR_BF16_TO_F32, IR_F32_TO_E5M2_SAT, ANY, 1, "lower_small_floats"},
    {QN__TARGET_SPIRV, IR_BF16_TO_F32, IR_F32_TO_E5M2_SAT, ANY, 1, "lower_small_floats"},
    {QN__TARGET_PTX, IR_F32_TO_E4M3, IR_F32_TO_E4M3, ANY, 1, "lower_small_floats"},
    {QN__TARGET_PTX, IR_F32_TO_E5M2, IR_F32_TO_E5M2, ANY, 1, "lower_small_floats"},
    {QN__TARGET_WGSL, 0, ANY, ANY, 8, "lower_long_vectors"},
    {QN__TARGET_WGSL, 0, ANY, IR_I64, 1, "lower_wide"},
    {QN__TARGET_WGSL, 0, ANY, IR_F64, 1, "the language has no double there"},
    {QN__TARGET_WGSL, IR_FADD, IR_FRINT, IR_F16, 1, "lower_f16"},
    {QN__TARGET_WGSL, IR_FEQ, IR_FLE, IR_F16, 1, "lower_f16"},
    {QN__TARGET_WGSL, IR_FCONVERT, IR_BITCAST, IR_F16, 1, "lower_conversions"},
    {QN__TARGET_WGSL, IR_UDOT4, IR_SUDOT4, ANY, 1, "lower_dot4"},
    {QN__TARGET_WGSL, IR_BF16_TO_F32, IR_F32_TO_E5M2_SAT, ANY, 1, "lower_small_floats"},
    {QN__TARGET_WGSL, IR_FREM, IR_FREM, ANY, 1, "fmod is a function of src/lib"},
    {QN__TARGET_PTX, IR_FREM, IR_FREM, ANY, 1, "fmod is a function of src/lib"},
};

static bool is_lowered(unsigned target, ir_op op, ir_type type, ir_type result) {
    for (size_t i = 0; i < sizeof lowered / sizeof *lowered; i++) {
        const struct lowered *l = &lowered[i];
        bool lanes = type.lanes >= l->lanes || result.lanes >= l->lanes;
        bool kind = l->kind == ANY || type.kind == l->kind || result.kind == l->kind;
        if (l->target == target && op >= l->first && op <= l->last && lanes && kind) return true;
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
    assert_true(count <= MOST_OPERANDS);
    for (unsigned i = 0; i < MOST_OPERANDS; i++) types[i] = type;
    switch (info->rule) {
    case RULE_SELECT: types[0] = qn__ir_type(IR_BOOL, type.lanes); break;
    case RULE_INSERT: types[1] = qn__ir_element(type); break;
    case RULE_EXTRACT:
        if (op == IR_EXTRACT_DYNAMIC) types[1] = qn__ir_type(IR_I32, 1);
        break;
    case RULE_GROUP_INDEX: types[1] = qn__ir_type(IR_I32, 1); break;
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
    if (info->has & IR_ATTR_COMBINE) put(w, " combine %s", qn__ir_is_float(result) ? "fadd" : "add");
    if (info->has & IR_ATTR_SCOPE) put(w, " scope sub_group");
    if (info->has & IR_ATTR_DIM) put(w, " [1]");
    if (info->has & IR_ATTR_LANE) put(w, " [0]");
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
    ir_type types[MOST_OPERANDS];
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
    unsigned printed[QN__TARGET_COUNT], lowered[QN__TARGET_COUNT], interpreted;
} counts;

static void look_at(qn__arena *arena, ir_op op, ir_type type, ir_type result, counts *c) {
    writer w;
    const char *error;
    for (unsigned t = FIRST_PRINTED; t < QN__TARGET_COUNT; t++) {
        const qn__emit_options options = {.target.kind = (qn__target_kind)t};
        const char *name = qn__target_name((qn__target_kind)t);
        qn__emit_result emitted = {0};
        ir_module *module = module_of(arena, op, type, result, &w);
        if (!module) return;
        if (is_lowered(t, op, type, result)) {
            c->lowered[t]++;
            continue;
        }
        emitters[t]->emit(arena, module, &options, &emitted);
        if (emitted.error) fail_msg("%s: %s\n%s", name, emitted.error, w.text);
        if (!emitted.size) fail_msg("%s prints nothing of\n%s", name, w.text);
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
    if (rule == RULE_BALLOT) return qn__ir_same(result, qn__ir_type(IR_I32, 4)) && type.kind == IR_BOOL;
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
        bool address = rule == RULE_POINTER_RESULT || rule == RULE_PTR_ADD || op == IR_PTR2INT ||
                       op == IR_INT2PTR || op == IR_PTR_CAST;
        if (rule == RULE_MMA) continue; /* its operands follow from the matrices: cl.matrix_* */
        if ((effects > IR_EFFECT_PURE_TRAP && effects != IR_EFFECT_CONVERGENT) || address) continue;
        for (unsigned kind = IR_BOOL; kind < IR_PTR; kind++)
            for (size_t i = 0; i < sizeof lanes; i++)
                look_at_results((ir_op)op, qn__ir_type((ir_kind)kind, lanes[i]), &c);
        if (!c.interpreted) fail_msg("no type is found that '%s' is for", qn__ir_ops[op].name);
        for (unsigned t = FIRST_PRINTED; t < QN__TARGET_COUNT; t++)
            if (!c.printed[t] && !c.lowered[t])
                fail_msg("%s never prints '%s'", qn__target_name((qn__target_kind)t), qn__ir_ops[op].name);
    }
}

/* The message names the op. */
static void what_has_no_spelling_is_refused(void **state) {
    static const struct {
        qn__target_kind target;
        ir_op op;
        ir_kind kind;
    } rows[] = {{QN__TARGET_CLC, IR_SDOT4, IR_I32}, {QN__TARGET_PTX, IR_FREM, IR_F64}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        writer w;
        qn__emit_result emitted = {0};
        ir_type type = qn__ir_type(rows[i].kind, 1);
        ir_module *module = module_of(*state, rows[i].op, type, type, &w);
        assert_non_null(module);
        const qn__emit_options options = {.target.kind = rows[i].target};
        emitters[rows[i].target]->emit(*state, module, &options, &emitted);
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
