/* Building and editing: builder conveniences, cloning within and between functions, replacing, walking. */
#include "ir_support.h"

static ir_builder at_end_of(ir_function *f) {
    ir_builder builder = {0};
    qn__ir_at_end(&builder, f->body);
    return builder;
}

static void sound(qn__arena *arena, const ir_module *module) {
    const char *broken = qn__ir_verify(arena, module);
    if (broken) fail_msg("%s", broken);
}

/* sum of 0 .. n-1, as a front end would write it */
static void a_loop_is_built(void **state) {
    ir_module *module = qn__ir_module_new(*state);
    ir_type i32 = qn__ir_type(IR_I32, 1);
    ir_function *f = qn__ir_function_new(module, "sum", i32);
    ir_value *n = qn__ir_arg_add(f, i32, "n");
    ir_builder b = at_end_of(f);
    ir_value *zero = qn__ir_const_int(f, IR_I32, 0);
    ir_instr *loop = qn__ir_loop(&b, (ir_value *[]){zero, zero}, 2, &i32, 1);
    ir_value **params = loop->regions[0]->params;
    qn__ir_at_end(&b, loop->regions[0]);
    ir_instr *test = qn__ir_if(&b, qn__ir_op2(&b, IR_SLT, params[0], n), NULL, 0);
    ir_value *sum = qn__ir_op2(&b, IR_ADD, params[1], params[0]);
    ir_value *next = qn__ir_op2(&b, IR_ADD, params[0], qn__ir_const_int(f, IR_I32, 1));
    qn__ir_continue(&b, loop, (ir_value *[]){next, sum}, 2);
    qn__ir_at_end(&b, test->regions[0]);
    qn__ir_yield(&b, NULL, 0);
    qn__ir_at_end(&b, test->regions[1]);
    qn__ir_break(&b, loop, &params[1], 1);
    qn__ir_at_end(&b, f->body);
    qn__ir_return(&b, loop->results[0]);
    sound(*state, module);
    assert_string_equal(ir_printed(*state, module),
                        "function @sum(%0.n: i32 value) -> i32 {\n"
                        "    %1: i32 = loop @0 (%2: i32 = i32 0, %3: i32 = i32 0) {\n"
                        "        %4: bool = slt %2, %0.n\n"
                        "        if %4 {\n"
                        "            yield\n"
                        "        } else {\n"
                        "            break @0 %3\n"
                        "        }\n"
                        "        %5: i32 = add %3, %2\n"
                        "        %6: i32 = add %2, i32 1\n"
                        "        continue @0 %6, %5\n"
                        "    }\n"
                        "    return %1\n"
                        "}\n");
}

static void equal_constants_are_one_value(void **state) {
    ir_module *module = qn__ir_module_new(*state);
    ir_function *f = qn__ir_function_new(module, "f", qn__ir_type(IR_VOID, 1));
    assert_ptr_equal(qn__ir_const_int(f, IR_I8, -1), qn__ir_const_int(f, IR_I8, 255));
    assert_ptr_not_equal(qn__ir_const_int(f, IR_I8, 1), qn__ir_const_int(f, IR_I16, 1));
    assert_ptr_not_equal(qn__ir_const_float(f, IR_F32, 0.0), qn__ir_const_float(f, IR_F32, -0.0));
    assert_ptr_equal(qn__ir_const_float(f, IR_F32, 0.1), qn__ir_const_float(f, IR_F32, (double)0.1f));
    assert_ptr_equal(qn__ir_undef(f, qn__ir_type(IR_I32, 4)), qn__ir_undef(f, qn__ir_type(IR_I32, 4)));
    for (int i = 0; i < 10000; i++) assert_int_equal(qn__ir_const_int(f, IR_I32, i)->bits[0], i);
    assert_true(qn__ir_is_splat(qn__ir_const_splat(f, qn__ir_type(IR_I8, 4), 0x1ff), 0xff));
}

static void variables_gather_at_the_start(void **state) {
    ir_module *module = qn__ir_module_new(*state);
    ir_function *f = qn__ir_function_new(module, "f", qn__ir_type(IR_VOID, 1));
    ir_builder b = at_end_of(f);
    qn__ir_query(&b, IR_WORK_DIM, 0);
    ir_value *first = qn__ir_variable(&b, (ir_var){.name = "a", .size = 4, .align = 4});
    ir_value *second = qn__ir_variable(&b, (ir_var){.name = "b", .size = 4, .align = 4});
    assert_ptr_equal(f->body->first, first->def);
    assert_ptr_equal(first->def->next, second->def);
    qn__ir_unlink(second->def);
    qn__ir_variable(&b, (ir_var){.name = "c", .size = 4, .align = 4});
    qn__ir_return(&b, NULL);
    sound(*state, module);
    assert_ptr_equal(f->body->first, first->def);
}

static void constant_offsets_gather(void **state) {
    ir_module *module = qn__ir_module_new(*state);
    ir_function *f = qn__ir_function_new(module, "f", qn__ir_type(IR_VOID, 1));
    ir_value *p = qn__ir_arg_add(f, qn__ir_pointer(IR_GLOBAL_SPACE), "p");
    ir_value *i = qn__ir_arg_add(f, qn__ir_type(IR_I64, 1), "i");
    ir_builder b = at_end_of(f);
    assert_ptr_equal(qn__ir_ptr_offset(&b, p, 0), p);
    ir_value *q = qn__ir_ptr_offset(&b, qn__ir_ptr_add(&b, p, i), 8);
    q = qn__ir_ptr_add(&b, q, qn__ir_const_int(f, IR_I64, -3));
    assert_ptr_equal(q->def->operands[0], p);
    assert_ptr_equal(q->def->operands[1], i);
    assert_int_equal(q->def->attr.offset, 5);
    q = qn__ir_ptr_offset(&b, qn__ir_ptr_offset(&b, p, INT64_MAX), 1);
    assert_int_equal(q->def->attr.offset, 1);
    qn__ir_return(&b, NULL);
    sound(*state, module);
}

static const char callee_text[] = "function @callee(%0.n: i32 value) -> i32 {\n"
                                  "    %1.v: ptr.private = var \"v\" size 4 align 4\n"
                                  "    store align 4 %1.v, i32 1\n"
                                  "    %2: i32 = loop @0 (%3.i: i32 = %0.n) {\n"
                                  "        break @0 %3.i\n"
                                  "    }\n"
                                  "    return %2\n"
                                  "}\n"
                                  "\n"
                                  "function @caller(%0: i32 value) -> i32 {\n"
                                  "    %1: i32 = add %0, i32 1\n"
                                  "    return %1\n"
                                  "}\n";

/* What inlining does: the body goes to the place before the caller's return. */
static void a_body_is_cloned_into_another_function(void **state) {
    ir_module *module = ir_parsed(*state, callee_text);
    ir_function *callee = module->functions.data[0], *caller = module->functions.data[1];
    ir_value **map = QN__NEW_ARRAY((qn__arena *)*state, ir_value *, callee->num_values);
    map[callee->args.data[0].value->id] = caller->body->first->results[0];
    ir_builder b = {0};
    qn__ir_at(&b, caller->body->last);
    qn__ir_clone_into(&b, callee->body, map);
    qn__ir_unlink(caller->body->last); /* the copied return takes its place */
    sound(*state, module);
    assert_string_equal(strstr(ir_printed(*state, module), "function @caller"),
                        "function @caller(%0: i32 value) -> i32 {\n"
                        "    %1.v: ptr.private = var \"v\" size 4 align 4\n"
                        "    %2: i32 = add %0, i32 1\n"
                        "    store align 4 %1.v, i32 1\n"
                        "    %3: i32 = loop @0 (%4.i: i32 = %2) {\n"
                        "        break @0 %4.i\n"
                        "    }\n"
                        "    return %3\n"
                        "}\n");
}

/* Unrolling copies a loop's body; a jump that leaves the body keeps its target. */
static void a_body_is_cloned_in_its_function(void **state) {
    ir_module *module = ir_parsed(*state, "function @f() {\n"
                                          "    loop @0 {\n"
                                          "        block @1 {\n"
                                          "            break @1\n"
                                          "        }\n"
                                          "        break @0\n"
                                          "    }\n"
                                          "    return\n"
                                          "}\n");
    ir_function *f = module->functions.data[0];
    ir_instr *loop = f->body->first;
    ir_region *body = loop->regions[0], copy = {.function = f, .owner = loop};
    ir_builder b = {0};
    qn__ir_at_end(&b, &copy);
    qn__ir_clone_into(&b, body, QN__NEW_ARRAY((qn__arena *)*state, ir_value *, f->num_values + 1u));
    assert_ptr_equal(copy.last->attr.target, loop);
    assert_ptr_not_equal(copy.first, body->first);
    assert_ptr_equal(copy.first->regions[0]->first->attr.target, copy.first);
    assert_int_equal(qn__ir_count_instrs(&copy), 3);
}

static void replacement_follows_chains(void **state) {
    ir_module *module = ir_parsed(*state, "function @f(%0: i32, %1: i32, %2: i32) -> i32 {\n"
                                          "    %3: i32 = add %0, %1\n"
                                          "    return %3\n"
                                          "}\n");
    ir_function *f = module->functions.data[0];
    ir_value **map = QN__NEW_ARRAY((qn__arena *)*state, ir_value *, f->num_values);
    ir_value *a = f->args.data[0].value, *b = f->args.data[1].value, *c = f->args.data[2].value;
    map[a->id] = b;
    map[b->id] = c;
    qn__ir_replace(f, map);
    const ir_instr *add = f->body->first;
    assert_ptr_equal(add->operands[0], c);
    assert_ptr_equal(add->operands[1], c);
    uint32_t *uses = qn__ir_count_uses(*state, f);
    assert_int_equal(uses[a->id], 0);
    assert_int_equal(uses[c->id], 2);
}

static void results_and_parameters_grow(void **state) {
    ir_module *module = ir_parsed(*state, "function @f(%0: i32) -> i32 {\n"
                                          "    loop @0 {\n"
                                          "        break @0\n"
                                          "    }\n"
                                          "    return i32 1\n"
                                          "}\n");
    ir_function *f = module->functions.data[0];
    ir_instr *loop = f->body->first;
    for (int i = 0; i < 5; i++) {
        ir_value *param = qn__ir_param_add(loop, f->args.data[0].value, "p");
        ir_value *result = qn__ir_result_add(loop, param->type, "r");
        qn__ir_set_operands(f, loop->regions[0]->last, loop->regions[0]->params, (uint32_t)i + 1);
        qn__ir_set_operands(f, f->body->last, &result, 1);
    }
    sound(*state, module);
    assert_int_equal(loop->num_results, 5);
    assert_int_equal(loop->regions[0]->params[4]->index, 4);
}

static void unlink_stores(ir_instr *instr, void *user) {
    ++*(int *)user;
    if (instr->op == IR_STORE || instr->op == IR_BLOCK) qn__ir_unlink(instr);
}

static void a_visitor_may_unlink(void **state) {
    ir_module *module = ir_parsed(*state, "function @f(%0: ptr.global) {\n"
                                          "    store align 4 %0, i32 1\n"
                                          "    store align 4 %0, i32 2\n"
                                          "    block @0 {\n"
                                          "        yield\n"
                                          "    }\n"
                                          "    return\n"
                                          "}\n");
    int visited = 0;
    qn__ir_walk(module->functions.data[0]->body, unlink_stores, &visited);
    assert_int_equal(visited, 4);
    assert_int_equal(qn__ir_count_instrs(module->functions.data[0]->body), 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_loop_is_built, ir_setup, ir_teardown),
        cmocka_unit_test_setup_teardown(equal_constants_are_one_value, ir_setup, ir_teardown),
        cmocka_unit_test_setup_teardown(variables_gather_at_the_start, ir_setup, ir_teardown),
        cmocka_unit_test_setup_teardown(constant_offsets_gather, ir_setup, ir_teardown),
        cmocka_unit_test_setup_teardown(a_body_is_cloned_into_another_function, ir_setup, ir_teardown),
        cmocka_unit_test_setup_teardown(a_body_is_cloned_in_its_function, ir_setup, ir_teardown),
        cmocka_unit_test_setup_teardown(replacement_follows_chains, ir_setup, ir_teardown),
        cmocka_unit_test_setup_teardown(results_and_parameters_grow, ir_setup, ir_teardown),
        cmocka_unit_test_setup_teardown(a_visitor_may_unlink, ir_setup, ir_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
