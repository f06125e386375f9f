/* What looks into a network as it computes: hooks, and modules of one's own. */
#include "tensor_common.h"

#include <quern/nn.h>

static tensor_fixture *fixture_of(void **state) { return *state; }

/* ---- hooks of modules ---- */

typedef struct notes {
    char text[200];
} notes;

static qn_tensor *note(void *user, qn_module *module, qn_tensor *x, qn_tensor *y) {
    notes *n = user;
    const size_t at = strlen(n->text);
    snprintf(n->text + at, sizeof n->text - at, "%s %u>%u ", module->name,
             (unsigned)qn_tensor_shape(x).sizes[1], (unsigned)qn_tensor_shape(y).sizes[1]);
    return NULL;
}

static qn_tensor *twice(void *user, qn_module *module, qn_tensor *x, qn_tensor *y) {
    (void)user, (void)module, (void)x;
    return qn_multiply(y, 2);
}

static void results_are_seen_and_replaced(void **state) {
    tensor_fixture *f = fixture_of(state);
    qn_module sequence;
    qn_linear a;
    qn_function_layer b;
    qn_norm_layer c;
    notes n = {""};
    qn_module_hook hooks[] = {{note, &n, NULL}, {note, &n, NULL}, {note, &n, NULL}},
                   doubling = {twice, NULL, NULL};
    qn_sequential_init(&sequence, f->t);
    assert_ok(f->context, qn_linear_init(&a, f->t, &(qn_linear_desc){.inputs = 3, .outputs = 4}));
    qn_function_layer_init(&b, f->t, qn_abs);
    assert_ok(f->context, qn_norm_layer_init(&c, f->t, &(qn_norm_layer_desc){.size = 4}));
    qn_module *const parts[] = {&a.module, &b.module, &c.module};
    for (uint32_t i = 0; i < 3; i++) {
        assert_ok(f->context, qn_sequential_add(&sequence, parts[i]));
        qn_module_add_hook(parts[i], &hooks[i]);
    }
    qn_tensor *x = counting(f, QN_SHAPE(2, 3), -1, 0.25f);
    float once[8], doubled[8];
    read_floats(f, qn_module_forward(&sequence, x), once, 8);
    assert_string_equal(n.text, "0 3>4 1 4>4 2 4>4 ");
    qn_module_add_hook(&c.module, &doubling);
    qn_module_remove_hook(&a.module, &hooks[0]);
    read_floats(f, qn_module_forward(&sequence, x), doubled, 8);
    for (uint32_t i = 0; i < 8; i++) assert_near(doubled[i], 2 * (double)once[i]);
    assert_string_equal(n.text, "0 3>4 1 4>4 2 4>4 1 4>4 2 4>4 ");
    qn_module_release(&sequence);
}

/* ---- modules of one's own ---- */

static qn_tensor *refuse(qn_module *module, qn_tensor *x) {
    qn_module_begin(module);
    return qn_module_end(module, x, qn_tensor_fail(module->tensors, QN_ERROR_UNSUPPORTED, "not today"));
}

static void failures_say_where(void **state) {
    tensor_fixture *f = fixture_of(state);
    static const qn_module_type type = {"refusing", refuse};
    qn_module m;
    qn_module_init(&m, f->t, &type);
    assert_fails(f->context,
                 qn_tensor_status(qn_relu(qn_module_forward(&m, qn_ones(f->t, QN_F32, QN_SCALAR)))),
                 QN_ERROR_UNSUPPORTED, "not today; in refusing");
    qn_module_init(&m, f->t, NULL);
    assert_fails(f->context, qn_tensor_status(qn_module_forward(&m, qn_ones(f->t, QN_F32, QN_SCALAR))),
                 QN_ERROR_ARGUMENT, "no function of one tensor");
    assert_int_equal(qn_tensor_status(qn_module_forward(NULL, NULL)), QN_ERROR_NULL);
    assert_fails(f->context, qn_linear_init(NULL, f->t, &(qn_linear_desc){.inputs = 3}), QN_ERROR_NULL,
                 "the module is NULL");
}

static int start(void **state) {
    static tensor_fixture fixture;
    fixture = make_tensors(&(qn_tensors_desc){.seed = 3});
    *state = &fixture;
    return 0;
}

static int finish(void **state) {
    end_tensors(fixture_of(state));
    return 0;
}

int main(void) {
    if (device_is_missing()) return TEST_SKIPPED;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(results_are_seen_and_replaced),
        cmocka_unit_test(failures_say_where),
    };
    return cmocka_run_group_tests(tests, start, finish);
}
