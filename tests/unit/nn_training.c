/* Training as a whole: optimizers in steps that are replayed. */
#include "tensor_common.h"

#include <quern/nn.h>
#include <string.h>

/* Layers one behind the other, of the same weights each time it is made, and the optimizer that trains them. */
enum { MOST_LAYERS = 12 };
typedef struct trained {
    qn_module module;
    qn_linear layers[MOST_LAYERS];
    uint32_t count;
    qn_optimizer optimizer;
} trained;

static void make_trained(tensor_fixture *f, trained *m, const uint32_t *sizes, uint32_t count,
                         const qn_optimizer_desc *desc) {
    memset(m, 0, sizeof *m);
    qn_module_init(&m->module, f->t, NULL);
    m->count = count;
    for (uint32_t i = 0; i < count; i++) {
        char name[8];
        snprintf(name, sizeof name, "%u", (unsigned)i);
        const qn_linear_desc linear = {.inputs = sizes[i], .outputs = sizes[i + 1]};
        assert_ok(f->context, qn_linear_init(&m->layers[i], f->t, &linear));
        assert_ok(f->context, qn_module_add(&m->module, name, &m->layers[i].module));
        const uint64_t elements = (uint64_t)sizes[i] * sizes[i + 1];
        qn_tensor *weight = qn_reshape(qn_sin(qn_arange(f->t, QN_F32, i, i + (double)elements, 1)),
                                       QN_SHAPE(sizes[i + 1], sizes[i]));
        assert_ok(f->context, qn_assign(m->layers[i].weight.tensor, weight));
        assert_ok(f->context, qn_assign(m->layers[i].bias.tensor, qn_full(f->t, QN_F32, QN_SCALAR, 0.125)));
        assert_ok(f->context,
                  qn_realize((qn_tensor *[]){m->layers[i].weight.tensor, m->layers[i].bias.tensor}, 2));
    }
    assert_ok(f->context, qn_optimizer_init(&m->optimizer, &m->module, desc));
}

static void release_trained(trained *m) {
    qn_optimizer_release(&m->optimizer);
    qn_module_release(&m->module);
}

static qn_status train(void *user, qn_tensor *const *inputs, size_t num_inputs, qn_tensor **outputs,
                       size_t num_outputs) {
    trained *m = user;
    assert_true(num_inputs == 1 && num_outputs == 1);
    qn_tensor *x = inputs[0];
    for (uint32_t i = 0; i < m->count; i++) x = qn_tanh(qn_linear_forward(&m->layers[i], x));
    outputs[0] = qn_mean(qn_square(qn_subtract(x, 0.5)), QN_ALL_AXES, false);
    const qn_status status = qn_backward(outputs[0]);
    return status ? status : qn_optimizer_step(&m->optimizer);
}

static void assert_close(tensor_fixture *f, qn_tensor *a, qn_tensor *b) {
    const double most = qn_tensor_item(qn_max(qn_abs(qn_subtract(a, b)), QN_ALL_AXES, false));
    if (!(most < 1e-5)) fail_msg("they differ by %g", most);
    (void)f;
}

/* Trains twice, by a step and without; parameters and losses are the same. */
static void compare_step(tensor_fixture *f, const uint32_t *sizes, uint32_t count,
                         const qn_optimizer_desc *desc) {
    assert_ok(f->context, qn_scope_begin(f->t));
    static trained plain, stepped;
    make_trained(f, &plain, sizes, count, desc);
    make_trained(f, &stepped, sizes, count, desc);
    qn_step *step;
    assert_ok(f->context, qn_step_create(f->t, train, &stepped, &step));
    for (uint32_t run = 0; run < 3; run++) {
        qn_tensor *x = counting(f, QN_SHAPE(3, sizes[0]), -1, 0.25f), *out, *wanted;
        /* Each run has another rate, the first too. */
        assert_ok(f->context, qn_optimizer_set_rate(&plain.optimizer, 0.03 / (run + 1)));
        assert_ok(f->context, qn_optimizer_set_rate(&stepped.optimizer, 0.03 / (run + 1)));
        assert_ok(f->context, qn_step_run(step, &x, 1, &out, 1));
        assert_ok(f->context, train(&plain, &x, 1, &wanted, 1));
        assert_close(f, out, wanted);
    }
    for (uint32_t i = 0; i < count; i++) {
        assert_close(f, stepped.layers[i].weight.tensor, plain.layers[i].weight.tensor);
        assert_close(f, stepped.layers[i].bias.tensor, plain.layers[i].bias.tensor);
    }
    qn_step_destroy(step);
    release_trained(&plain);
    release_trained(&stepped);
    assert_ok(f->context, qn_scope_end(f->t));
}

static void optimizers_work_in_steps(void **state) {
    tensor_fixture *f = fixture_of(state);
    static const uint32_t sizes[] = {3, 4, 2};
    const bool all = f->info.kind == QN_DEVICE_CPU; /* drivers take long to compile */
    for (uint32_t kind = all ? 0 : QN_ADAM; kind < (all ? QN_OPTIMIZER_COUNT : QN_ADAM + 1); kind++)
        compare_step(f, sizes, 2, &(qn_optimizer_desc){.kind = (qn_optimizer_kind)kind, .rate = 0.05});
}

static void steps_assign_many_tensors(void **state) {
    static const uint32_t sizes[MOST_LAYERS + 1] = {3, 2, 3, 2, 3, 2, 3, 2, 3, 2, 3, 2, 3};
    tensor_fixture *f = fixture_of(state);
    if (f->info.kind != QN_DEVICE_CPU) skip(); /* it is about numbers, and drivers take long to compile */
    compare_step(f, sizes, MOST_LAYERS, &(qn_optimizer_desc){.kind = QN_ADAMW});
}

/* The updates of all parameters are one kernel, and so are two corrections before, which all of them read. Where a vector's parameters are
   wider than those of others the kernel has two branches. Muon's has products between. */
static void a_step_is_one_kernel(void **state) {
    tensor_fixture *f = fixture_of(state);
    static const uint32_t sizes[] = {12, 8, 5, 3};
    static const uint64_t launches[QN_MUON] = {
        [QN_SGD] = 1, [QN_ADAM] = 2, [QN_ADAMW] = 2, [QN_RMSPROP] = 1, [QN_ADAGRAD] = 1, [QN_LION] = 1};
    assert_int_equal(QN_OPTIMIZER_COUNT, QN_MUON + 1);
    const size_t count = f->info.kind == QN_DEVICE_CPU ? QN_MUON : QN_ADAM + 1;
    for (size_t k = 0; k < count; k++) {
        assert_ok(f->context, qn_scope_begin(f->t));
        static trained m;
        make_trained(f, &m, sizes, 3, &(qn_optimizer_desc){.kind = (qn_optimizer_kind)k});
        qn_tensor *x = counting(f, QN_SHAPE(4, 12), -1, 0.25f), *gradients[6];
        for (uint32_t i = 0; i < 3; i++) x = qn_tanh(qn_linear_forward(&m.layers[i], x));
        assert_ok(f->context, qn_backward(qn_mean(x, QN_ALL_AXES, false)));
        for (uint32_t i = 0; i < 3; i++) {
            gradients[2 * i] = qn_tensor_gradient(m.layers[i].weight.tensor);
            gradients[2 * i + 1] = qn_tensor_gradient(m.layers[i].bias.tensor);
        }
        assert_ok(f->context, qn_realize(gradients, 6));
        const uint64_t before = stats_of(f).launches;
        assert_ok(f->context, qn_optimizer_step(&m.optimizer));
        assert_int_equal(stats_of(f).launches - before, launches[k]);
        release_trained(&m);
        assert_ok(f->context, qn_scope_end(f->t));
    }
}

/* The gradient by weights that are used transposed is a product in their own order: no copy turns it. */
static void gradients_of_weights_are_products(void **state) {
    tensor_fixture *f = fixture_of(state);
    assert_ok(f->context, qn_scope_begin(f->t));
    qn_tensor *x = counting(f, QN_SHAPE(4, 5), 0, 0.5f), *scale = counting(f, QN_SHAPE(4, 3), 1, 1),
              *gradient;
    qn_tensor *w = qn_tensor_require_gradient(counting(f, QN_SHAPE(3, 5), 0, 1), true);
    qn_tensor *y = qn_multiply(qn_matmul(x, qn_transpose(w, 0, 1)), scale);
    assert_ok(f->context, qn_gradients(y, &w, 1, &gradient));
    const uint64_t before = stats_of(f).launches;
    float got[15];
    read_floats(f, gradient, got, 15);
    assert_int_equal(stats_of(f).launches - before, 2); /* ones times the scale, and the product */
    for (uint32_t i = 0; i < 15; i++) {
        double wanted = 0;
        for (uint32_t k = 0; k < 4; k++) wanted += (1 + 3 * k + i / 5) * 0.5 * (5 * k + i % 5);
        assert_near(got[i], wanted);
    }
    assert_ok(f->context, qn_scope_end(f->t));
}

/* Gradients of a loss made of a value that is gone are refused; of one made of the new value they are right, through views, too. */
static void gradients_after_assignments(void **state) {
    tensor_fixture *f = fixture_of(state);
    assert_ok(f->context, qn_scope_begin(f->t));
    qn_tensor *w = qn_tensor_require_gradient(counting(f, QN_SHAPE(2, 3), 1, 1), true), *gradient;
    qn_tensor *view = qn_slice(qn_transpose(w, 0, 1), 0, 0, 2, 1); /* 1 4; 2 5 */
    qn_tensor *loss = qn_square(view);
    assert_ok(f->context, qn_gradients(loss, &w, 1, &gradient));
    float got[6];
    read_floats(f, gradient, got, 6);
    assert_memory_equal(got, ((float[]){2, 4, 0, 8, 10, 0}), sizeof got);
    assert_ok(f->context, qn_assign(w, qn_multiply(qn_detach(w), 2)));
    assert_fails(f->context, qn_backward(loss), QN_ERROR_STATE,
                 "qn_backward: f32 2x3, which requires gradients");
    assert_fails(f->context, qn_gradients(loss, &w, 1, &gradient), QN_ERROR_STATE, "was given another value");
    assert_null(qn_tensor_gradient(w));
    /* The view shows the old values; one that is made now the new ones. */
    float shown[4];
    read_floats(f, view, shown, 4);
    assert_memory_equal(shown, ((float[]){1, 4, 2, 5}), sizeof shown);
    assert_ok(f->context, qn_backward(qn_square(qn_slice(qn_transpose(w, 0, 1), 0, 0, 2, 1))));
    read_floats(f, qn_tensor_gradient(w), got, 6);
    assert_memory_equal(got, ((float[]){4, 8, 0, 16, 20, 0}), sizeof got);
    /* What was made of a tensor that is not a parameter keeps its gradients. */
    qn_tensor *x = qn_multiply(w, 3), *product = qn_multiply(x, x);
    assert_ok(f->context, qn_assign(x, qn_zeros(f->t, QN_F32, QN_SHAPE(2, 3))));
    assert_ok(f->context, qn_gradients(product, &w, 1, &gradient));
    read_floats(f, gradient, got, 6);
    assert_near(got[0], 2 * 9 * 2);
    assert_ok(f->context, qn_scope_end(f->t));
}

/* Also of a step that ran since. */
static void gradients_after_steps(void **state) {
    tensor_fixture *f = fixture_of(state);
    static const uint32_t sizes[] = {3, 2};
    static trained m;
    assert_ok(f->context, qn_scope_begin(f->t));
    make_trained(f, &m, sizes, 1, &(qn_optimizer_desc){.kind = QN_SGD});
    qn_step *step;
    assert_ok(f->context, qn_step_create(f->t, train, &m, &step));
    qn_tensor *x = counting(f, QN_SHAPE(4, 3), 0, 0.25f), *out;
    for (int run = 0; run < 2; run++) {
        qn_tensor *loss = qn_square(qn_linear_forward(&m.layers[0], x));
        assert_ok(f->context, qn_step_run(step, &x, 1, &out, 1));
        assert_fails(f->context, qn_backward(loss), QN_ERROR_STATE, "was given another value");
        assert_ok(f->context, qn_backward(qn_square(qn_linear_forward(&m.layers[0], x))));
        qn_module_clear_gradients(&m.module);
    }
    qn_step_destroy(step);
    release_trained(&m);
    assert_ok(f->context, qn_scope_end(f->t));
}

/* ---- memory ---- */

/* Kilobytes that the process has in memory; 0 where it cannot be told, as sanitizers keep what is released. */
static long resident(void) {
    long pages = 0;
#if defined(__linux__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
    FILE *file = fopen("/proc/self/statm", "r");
    if (!file) return 0;
    if (fscanf(file, "%*s %ld", &pages) != 1) pages = 0;
    fclose(file);
#endif
    return pages * 4;
}

/* A model whose kernels are quickly interpreted. */
typedef struct tiny {
    qn_module module;
    qn_parameter weight;
    qn_optimizer optimizer;
} tiny;

static qn_status train_tiny(void *user, qn_tensor *const *inputs, size_t num_inputs, qn_tensor **outputs,
                            size_t num_outputs) {
    tiny *m = user;
    assert_true(num_inputs == 1 && num_outputs == 1);
    qn_tensor *noise = qn_rand(qn_tensor_owner(inputs[0]), QN_F32, QN_SHAPE(2));
    outputs[0] =
        qn_sum(qn_square(qn_subtract(qn_multiply(m->weight.tensor, inputs[0]), noise)), QN_ALL_AXES, false);
    const qn_status status = qn_backward(outputs[0]);
    return status ? status : qn_optimizer_step(&m->optimizer);
}

/* After 10,000 steps a training has what it had after 100, on the device too. */
static void nothing_grows(void **state) {
    enum { FIRST = 100 };
    tensor_fixture *f = fixture_of(state);
    const bool on_cpu = f->info.kind == QN_DEVICE_CPU;
    const uint32_t steps = on_cpu || f->info.kind == QN_DEVICE_CUDA ? 10000 : 1000; /* lavapipe's take long */
    qn_memory_stats memory_before = {.used = 0}, memory;
    tiny m;
    assert_ok(f->context, qn_scope_begin(f->t));
    qn_module_init(&m.module, f->t, NULL);
    assert_ok(f->context, qn_module_add_parameter(&m.module, "weight", &m.weight,
                                                  qn_ones(f->t, QN_F32, QN_SHAPE(2)), true));
    assert_ok(f->context, qn_optimizer_init(&m.optimizer, &m.module, &(qn_optimizer_desc){.kind = QN_ADAM}));
    qn_step *step;
    assert_ok(f->context, qn_step_create(f->t, train_tiny, &m, &step));
    qn_tensors_stats before = {.tensors = 0}, after;
    long resident_before = 0;
    for (uint32_t i = 0; i < steps; i++) {
        assert_ok(f->context, qn_scope_begin(f->t));
        qn_tensor *x = counting(f, QN_SHAPE(2), (float)(i % 3), 0.25f), *loss;
        assert_ok(f->context, qn_optimizer_set_rate(&m.optimizer, 1e-3 / (1 + i)));
        assert_ok(f->context, qn_step_run(step, &x, 1, &loss, 1));
        if (i % 50 == 49) assert_true(qn_tensor_item(loss) < 20);
        assert_ok(f->context, qn_scope_end(f->t));
        if (i + 1 != FIRST) continue;
        assert_ok(f->context, qn_device_wait(f->device, QN_FOREVER));
        before = stats_of(f);
        resident_before = resident();
        assert_ok(f->context, qn_device_memory(f->device, &memory_before));
    }
    assert_ok(f->context, qn_device_wait(f->device, QN_FOREVER));
    after = stats_of(f);
    assert_ok(f->context, qn_device_memory(f->device, &memory));
    assert_int_equal(memory.buffers, memory_before.buffers);
    assert_int_equal(memory.used, memory_before.used);
    assert_int_equal(memory.pooled, memory_before.pooled);
    assert_true(memory.host <= memory_before.host);
    assert_int_equal(after.tensors, before.tensors);
    assert_int_equal(after.nodes, before.nodes);
    assert_int_equal(after.bytes, before.bytes);
    assert_int_equal(after.pooled, before.pooled);
    assert_int_equal(after.plans, before.plans);
    assert_int_equal(after.programs, before.programs);
    /* Drivers keep what is theirs on the host. */
    if (on_cpu && resident() > resident_before + 1024)
        fail_msg("%ld KiB became %ld", resident_before, resident());
    qn_step_destroy(step);
    qn_optimizer_release(&m.optimizer);
    qn_module_release(&m.module);
    assert_ok(f->context, qn_scope_end(f->t));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(optimizers_work_in_steps),
        cmocka_unit_test(steps_assign_many_tensors),
        cmocka_unit_test(a_step_is_one_kernel),
        cmocka_unit_test(gradients_of_weights_are_products),
        cmocka_unit_test(gradients_after_assignments),
        cmocka_unit_test(gradients_after_steps),
        cmocka_unit_test(nothing_grows),
    };
    return run_tensor_tests(tests, &(qn_tensors_desc){.seed = 3});
}
