/* Random tensors: the numbers of qn_kernels_random, in every type; what the distributions promise; first values of parameters. */
#include "tensor_common.h"

enum { COUNT = 1003 };

static void read_doubles(tensor_fixture *f, qn_tensor *x, double *values, uint64_t count) {
    float narrow[COUNT];
    assert_true(count <= COUNT);
    read_floats(f, qn_tensor_type(x) == QN_F32 ? x : qn_cast(x, QN_F32), narrow, count);
    for (uint64_t i = 0; i < count; i++) values[i] = (double)narrow[i];
}

/* The same numbers as a call of kernels.h, from word `first` of the sequence of the seed 7 on. */
static void assert_as_kernels(tensor_fixture *f, qn_tensor *x, const qn_random_desc *desc) {
    const qn_element type = qn_tensor_type(x);
    const uint64_t bytes = COUNT * (uint64_t)qn_element_size(type);
    qn_buffer *buffer;
    assert_ok(f->context, qn_buffer_create(f->device, &(qn_buffer_desc){.size = bytes}, &buffer));
    qn_random_desc d = *desc;
    d.to = QN_ARRAY(buffer, type, COUNT);
    assert_ok(f->context, qn_kernels_random(qn_tensors_kernels(f->t), NULL, &d));
    unsigned char wanted[COUNT * 8], got[COUNT * 8];
    assert_ok(f->context, qn_buffer_read(buffer, 0, wanted, bytes));
    assert_ok(f->context, qn_tensor_status(x));
    assert_ok(f->context, qn_tensor_read(x, got, bytes));
    assert_memory_equal(got, wanted, bytes);
    qn_buffer_destroy(buffer);
}

static void numbers_are_those_of_kernels(void **state) {
    tensor_fixture *f = fixture_of(state);
    const qn_shape shape = QN_SHAPE(17, 59);
    const qn_random_desc uniform = {.seed = 7};
    assert_as_kernels(f, qn_rand(f->t, QN_F32, shape), &uniform);
    /* 1003 words, up to a multiple of four. */
    assert_as_kernels(f, qn_rand(f->t, QN_F32, shape), &(qn_random_desc){.seed = 7, .offset = 1004});
    assert_as_kernels(f, qn_randint(f->t, QN_I32, shape, -5, 12),
                      &(qn_random_desc){.seed = 7, .offset = 2008, .a = -5, .b = 12});
    assert_as_kernels(f, qn_randint(f->t, QN_U64, shape, 3, 1000000),
                      &(qn_random_desc){.seed = 7, .offset = 3012 / 2, .a = 3, .b = 1000000});
    if (!(f->info.capabilities & QN_CAN_F64)) return;
    assert_as_kernels(f, qn_rand(f->t, QN_F64, shape),
                      &(qn_random_desc){.seed = 7, .offset = (3012 + 2008) / 2});
}

static void normal_numbers_are_those_of_kernels(void **state) {
    tensor_fixture *f = fixture_of(state);
    const qn_shape shape = QN_SHAPE(COUNT);
    double got[COUNT], wanted[COUNT], sum = 0, squares = 0;
    qn_buffer *buffer;
    assert_ok(f->context,
              qn_buffer_create(f->device, &(qn_buffer_desc){.size = sizeof(float[COUNT])}, &buffer));
    const qn_array array = QN_ARRAY(buffer, QN_F32, COUNT);
    const qn_random_desc desc = {.to = array, .seed = 7, .distribution = QN_RANDOM_NORMAL};
    assert_ok(f->context, qn_kernels_random(qn_tensors_kernels(f->t), NULL, &desc));
    read_doubles(f, qn_randn(f->t, QN_F32, shape), got, COUNT);
    read_doubles(f, qn_from_array(f->t, &array), wanted, COUNT);
    for (uint32_t i = 0; i < COUNT; i++) {
        assert_near((float)got[i], wanted[i]);
        sum += got[i];
        squares += got[i] * got[i];
    }
    assert_true(fabs(sum / COUNT) < 0.1 && fabs(squares / COUNT - 1) < 0.15);
    qn_buffer_destroy(buffer);
}

static void assert_within(tensor_fixture *f, qn_tensor *x, double low, double high, double mean) {
    double values[COUNT], sum = 0;
    read_doubles(f, x, values, COUNT);
    for (uint32_t i = 0; i < COUNT; i++) {
        if (!(values[i] >= low && values[i] <= high))
            fail_msg("%g is not from %g to %g", values[i], low, high);
        sum += values[i];
    }
    if (!(fabs(sum / COUNT - mean) < 0.06 * (high - low)))
        fail_msg("their mean is %g, not %g", sum / COUNT, mean);
}

static void distributions_keep_their_limits(void **state) {
    tensor_fixture *f = fixture_of(state);
    static const struct {
        qn_element type;
        double most;
    } types[] = {{QN_F32, 1 - 0x1p-24},
                 {QN_F16, 1 - 0x1p-11},
                 {QN_BF16, 1 - 0x1p-8},
                 {QN_E4M3, 0.9375},
                 {QN_E5M2, 0.875}};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        assert_within(f, qn_rand(f->t, types[i].type, QN_SHAPE(COUNT)), 0, types[i].most, types[i].most / 2);
    assert_within(f, qn_bernoulli(qn_full(f->t, QN_F32, QN_SHAPE(COUNT), 0.25)), 0, 1, 0.25);
    assert_within(f, qn_truncated_normal(f->t, QN_F32, QN_SHAPE(COUNT), 1, 2, 0, 3), 0, 3, 1.45);
    assert_within(f, qn_randint(f->t, QN_I8, QN_SHAPE(COUNT), -128, 128), -128, 127, -0.5);
    assert_within(f, qn_xavier_uniform(f->t, QN_F32, QN_SHAPE(17, 59), 1), -sqrt(6.0 / 76), sqrt(6.0 / 76),
                  0);
    assert_within(f, qn_kaiming_uniform(f->t, QN_F32, QN_SHAPE(17, 59), sqrt(2)), -sqrt(6.0 / 59),
                  sqrt(6.0 / 59), 0);
    assert_within(f, qn_xavier_normal(f->t, QN_F32, QN_SHAPE(17, 59), 1), -1, 1, 0);
    assert_within(f, qn_kaiming_normal(f->t, QN_F32, QN_SHAPE(17, 59), 1), -0.8, 0.8, 0);
}

static void a_tensor_keeps_its_numbers(void **state) {
    tensor_fixture *f = fixture_of(state);
    qn_tensor *x = qn_rand(f->t, QN_F32, QN_SHAPE(COUNT)), *y = qn_rand(f->t, QN_F32, QN_SHAPE(COUNT));
    double first[COUNT], again[COUNT], other[COUNT];
    read_doubles(f, qn_add(x, 0), first, COUNT);
    read_doubles(f, x, again, COUNT);
    read_doubles(f, y, other, COUNT);
    assert_memory_equal(first, again, sizeof first);
    assert_true(memcmp(first, other, sizeof first) != 0);
}

static qn_status draw(void *user, qn_tensor *const *inputs, size_t num_inputs, qn_tensor **outputs,
                      size_t num_outputs) {
    qn_tensors *t = qn_tensor_owner(inputs[0]);
    (void)user;
    assert_int_equal(num_inputs, 1);
    assert_int_equal(num_outputs, 2);
    outputs[0] = qn_add(qn_rand(t, QN_F32, qn_tensor_shape(inputs[0])), inputs[0]);
    outputs[1] = qn_randint(t, QN_I32, QN_SHAPE(COUNT), -5, 12);
    return QN_OK;
}

/* The numbers of a run whose input has `count` elements begin at word `first`. */
static void assert_drawn(tensor_fixture *f, qn_step *step, uint64_t count, uint64_t first) {
    qn_tensor *outputs[2], *input = qn_zeros(f->t, QN_F32, QN_SHAPE(count));
    assert_ok(f->context, qn_step_run(step, &input, 1, outputs, 2));
    if (count == COUNT) assert_as_kernels(f, outputs[0], &(qn_random_desc){.seed = 7, .offset = first});
    first += (count + 3) & ~(uint64_t)3;
    assert_as_kernels(f, outputs[1], &(qn_random_desc){.seed = 7, .offset = first, .a = -5, .b = 12});
}

static void runs_of_a_step_go_on_in_the_sequence(void **state) {
    tensor_fixture *f = fixture_of(state);
    qn_step *step;
    assert_ok(f->context, qn_step_create(f->t, draw, NULL, &step));
    assert_drawn(f, step, COUNT, 0);
    assert_drawn(f, step, COUNT, 2008);
    assert_as_kernels(f, qn_rand(f->t, QN_F32, QN_SHAPE(COUNT)),
                      &(qn_random_desc){.seed = 7, .offset = 4016});
    assert_drawn(f, step, COUNT, 5020);
    assert_drawn(f, step, 7, 7028); /* another recording */
    assert_drawn(f, step, COUNT, 8040);
    assert_drawn(f, step, COUNT, 10048);
    qn_step_destroy(step);
}

static void a_permutation_has_each_number_once(void **state) {
    tensor_fixture *f = fixture_of(state);
    int64_t numbers[COUNT], there[COUNT] = {0}, stays = 0;
    assert_ok(f->context, qn_tensor_read(qn_permutation(f->t, COUNT), numbers, sizeof numbers));
    for (int64_t i = 0; i < COUNT; i++) {
        assert_in_range(numbers[i], 0, COUNT - 1);
        there[numbers[i]]++;
        stays += numbers[i] == i;
    }
    for (int i = 0; i < COUNT; i++) assert_int_equal(there[i], 1);
    assert_true(stays < 8); /* one, on average */
    assert_int_equal(qn_tensor_count(qn_permutation(f->t, 0)), 0);
}

static void wrong_ones_are_refused(void **state) {
    tensor_fixture *f = fixture_of(state);
    const qn_shape shape = QN_SHAPE(3);
    assert_fails(f->context, qn_tensor_status(qn_rand(f->t, QN_I32, shape)), QN_ERROR_ARGUMENT,
                 "float types, not of i32");
    assert_fails(f->context, qn_tensor_status(qn_randint(f->t, QN_F32, shape, 0, 2)), QN_ERROR_ARGUMENT,
                 "integer types, not of f32");
    assert_fails(f->context, qn_tensor_status(qn_randint(f->t, QN_I32, shape, 2, 2)), QN_ERROR_ARGUMENT,
                 "from 2 up to, not including, 2");
    assert_fails(f->context, qn_tensor_status(qn_randint(f->t, QN_U8, shape, 0, 257)), QN_ERROR_ARGUMENT,
                 "no numbers of u8");
    assert_fails(f->context, qn_tensor_status(qn_xavier_normal(f->t, QN_F32, shape, 1)), QN_ERROR_ARGUMENT,
                 "no inputs and outputs");
    assert_fails(f->context, qn_tensor_status(qn_truncated_normal(f->t, QN_F32, shape, 0, 1, 2, 2)),
                 QN_ERROR_ARGUMENT, "from 2 to 2");
    assert_fails(f->context, qn_tensor_status(qn_bernoulli(NULL)), QN_ERROR_NULL, "an op got no tensor");
}

/* Rows, or columns, times each other are gain^2 or 0. */
static void orthogonal_ones_are(void **state) {
    tensor_fixture *f = *state;
    const qn_shape shapes[] = {QN_SHAPE(5, 3), QN_SHAPE(3, 5), QN_SHAPE(4, 2, 3), QN_SHAPE(6, 6),
                               QN_SHAPE(0, 2)};
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        qn_tensor *x = qn_orthogonal(f->t, QN_F32, shapes[i], 2), *flat = x;
        assert_ok(f->context, qn_tensor_status(x));
        assert_int_equal(qn_tensor_shape(x).rank, shapes[i].rank);
        if (!shapes[i].sizes[0]) continue;
        if (shapes[i].rank > 2) flat = qn_flatten(x, 1, -1);
        const qn_shape s = qn_tensor_shape(flat);
        if (s.sizes[0] > s.sizes[1]) flat = qn_transpose(flat, 0, 1);
        const uint64_t size = qn_tensor_shape(flat).sizes[0];
        qn_tensor *wanted = qn_multiply(qn_eye(f->t, QN_F32, size, size, 0), 4);
        qn_tensor *rest = qn_subtract(qn_matmul(flat, qn_transpose(flat, 0, 1)), wanted);
        assert_true(qn_tensor_item(qn_max(qn_abs(rest), QN_ALL_AXES, false)) < 1e-5);
    }
    assert_fails(f->context, qn_tensor_status(qn_orthogonal(f->t, QN_I32, shapes[0], 1)), QN_ERROR_ARGUMENT,
                 "i32 of 2 dimensions");
}

static int start(void **state) {
    static tensor_fixture fixture;
    fixture = make_tensors(&(qn_tensors_desc){.seed = 7});
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
        cmocka_unit_test_setup_teardown(numbers_are_those_of_kernels, start, finish),
        cmocka_unit_test_setup_teardown(normal_numbers_are_those_of_kernels, start, finish),
        cmocka_unit_test_setup_teardown(distributions_keep_their_limits, start, finish),
        cmocka_unit_test_setup_teardown(a_tensor_keeps_its_numbers, start, finish),
        cmocka_unit_test_setup_teardown(runs_of_a_step_go_on_in_the_sequence, start, finish),
        cmocka_unit_test_setup_teardown(a_permutation_has_each_number_once, start, finish),
        cmocka_unit_test_setup_teardown(orthogonal_ones_are, start, finish),
        cmocka_unit_test_setup_teardown(wrong_ones_are_refused, start, finish),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
