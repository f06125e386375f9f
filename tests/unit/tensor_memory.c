/* Memory of recorded steps: what lies between their launches shares one memory by its life, and runs take no more of the device's, nor of the
   host's beyond what a device needs while it works. */
#include "tensor_common.h"

enum { LAYERS = 8, ROWS = 64, FIRST = 512, FURTHER = 512, RUNS = 40 };

/* What is not released, of any thread. */
typedef struct allocations {
    _Atomic size_t count;
} allocations;

static void *allocate(void *user, size_t size) {
    ((allocations *)user)->count++;
    return malloc(size);
}
static void *reallocate(void *user, void *memory, size_t size) {
    if (!memory) ((allocations *)user)->count++;
    return realloc(memory, size);
}
static void release(void *user, void *memory) {
    if (memory) ((allocations *)user)->count--;
    free(memory);
}

static tensor_fixture make_counted(allocations *all) {
    tensor_fixture f;
    const qn_context_desc desc = {.cpu_compiler = "none", .allocator = {allocate, reallocate, release, all}};
    f.context = make_context(&desc);
    f.device = get_device(f.context, test_device());
    assert_ok(f.context, qn_device_get_info(f.device, &f.info));
    assert_ok(f.context, qn_tensors_create(f.device, NULL, &f.t));
    return f;
}

static uint64_t columns_of(int layer) { return FIRST + (uint64_t)layer * FURTHER; }

/* Sums along columns between tensors of all sizes, which are stored as a sum and a product of them both need them. */
static qn_status widen(void *user, qn_tensor *const *inputs, size_t num_inputs, qn_tensor **outputs,
                       size_t num_outputs) {
    tensor_fixture *f = user;
    (void)num_inputs, (void)num_outputs;
    qn_tensor *x = inputs[0];
    for (int i = 0; i < LAYERS; i++) {
        qn_tensor *sums = qn_cumulative_sum(x, 0); /* a call: it reads memory, and writes it */
        qn_tensor *more = qn_broadcast_to(qn_slice(sums, 1, 0, 1, 1), QN_SHAPE(ROWS, columns_of(i)));
        x = qn_concat(
            (qn_tensor *[]){qn_multiply(more, 0.015625), qn_full(f->t, QN_F32, QN_SHAPE(ROWS, FURTHER), 1)},
            2, 1);
    }
    outputs[0] = qn_sum(x, QN_AXES(0), false);
    return QN_OK;
}

static void run(tensor_fixture *f, qn_step *step, qn_tensor *x, float *values) {
    qn_tensor *output;
    assert_ok(f->context, qn_scope_begin(f->t));
    assert_ok(f->context, qn_step_run(step, &x, 1, &output, 1));
    if (values) read_floats(f, output, values, columns_of(LAYERS));
    assert_ok(f->context, qn_scope_end(f->t));
}

/* Values of different sizes, none of which is alive with more than its neighbours. */
static void what_is_not_alive_at_once_shares_memory(void **state) {
    (void)state;
    allocations all = {0};
    tensor_fixture f = make_counted(&all);
    qn_step *step;
    float once[FIRST + LAYERS * FURTHER], again[FIRST + LAYERS * FURTHER];
    qn_tensor *x = counting(&f, QN_SHAPE(ROWS, FIRST), 0, 0.001f);
    assert_ok(f.context, qn_step_create(f.t, widen, &f, &step));
    const uint64_t before = stats_of(&f).allocated;
    run(&f, step, x, once);
    const uint64_t row = ROWS * sizeof(float), largest = row * (columns_of(LAYERS) + columns_of(LAYERS - 1));
    const uint64_t of_inputs = row * FIRST, of_output = columns_of(LAYERS) * sizeof(float);
    const uint64_t taken = stats_of(&f).allocated - before;
    /* Rounded up to an eighth; what is stored between has the size of one layer, or of two. */
    if (taken > (largest + of_inputs + of_output) * 5 / 4)
        fail_msg("it takes %llu bytes", (unsigned long long)taken);
    run(&f, step, x, again);
    assert_memory_equal(once, again, sizeof once);
    assert_int_equal(stats_of(&f).most_allocated, stats_of(&f).allocated);
    qn_step_destroy(step);
    /* The memory is kept for others, and given back when they want none. */
    assert_int_equal(stats_of(&f).allocated, before + taken);
    assert_ok(f.context, qn_tensors_trim(f.t));
    assert_true(stats_of(&f).allocated <= before);
    assert_int_equal(stats_of(&f).pooled, 0);
    end_tensors(&f);
}

static qn_status learn(void *user, qn_tensor *const *inputs, size_t num_inputs, qn_tensor **outputs,
                       size_t num_outputs) {
    qn_tensor *weights = user, *gradient;
    (void)num_inputs, (void)num_outputs;
    outputs[0] = qn_mean(qn_square(qn_subtract(qn_matmul(inputs[0], weights), 1)), QN_ALL_AXES, false);
    const qn_status status = qn_gradients(outputs[0], &weights, 1, &gradient);
    return status ? status : qn_assign(weights, qn_subtract(weights, qn_multiply(gradient, 0.01)));
}

static void runs_take_no_more_memory(void **state) {
    (void)state;
    allocations all = {0};
    tensor_fixture f = make_counted(&all);
    qn_step *step;
    qn_tensor *x = counting(&f, QN_SHAPE(8, 16), -1, 0.01f),
              *weights = counting(&f, QN_SHAPE(16, 4), 0, 0.01f);
    qn_tensor_require_gradient(weights, true);
    assert_ok(f.context, qn_step_create(f.t, learn, weights, &step));
    double first = 0, last = 0;
    size_t kept = 0;
    for (int i = 0; i < 2 * RUNS; i++) {
        qn_tensor *loss;
        const uint64_t device = stats_of(&f).allocated;
        assert_ok(f.context, qn_scope_begin(f.t));
        assert_ok(f.context, qn_step_run(step, &x, 1, &loss, 1));
        if (i >= RUNS) assert_int_equal(stats_of(&f).allocated, device);
        last = qn_tensor_item(loss);
        if (i == 0) first = last;
        assert_ok(f.context, qn_scope_end(f.t));
        assert_ok(f.context, qn_device_wait(f.device, QN_FOREVER));
        if (i == RUNS - 1) kept = all.count;
    }
    assert_int_equal(all.count, kept);
    assert_true(last < first);
    qn_step_destroy(step);
    end_tensors(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_not_alive_at_once_shares_memory),
        cmocka_unit_test(runs_take_no_more_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
