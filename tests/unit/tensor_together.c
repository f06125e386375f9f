/* Groups that do not need each other in one kernel: values as those of one kernel each, how few kernels there are, and what has to stay apart. */
#include "tensor_common.h"

#include <string.h>

enum { MOST = 80 };

/* Asks for all of them together, and for each alone; gives the number of launches of the former. */
static uint64_t compare(tensor_fixture *f, qn_tensor *(*make)(qn_tensor *x, uint32_t i),
                        qn_tensor *const *from, uint32_t count) {
    qn_tensor *all[MOST];
    for (uint32_t i = 0; i < count; i++) all[i] = make(from[i], i);
    const uint64_t before = stats_of(f).launches;
    assert_ok(f->context, qn_realize(all, count));
    const uint64_t launches = stats_of(f).launches - before;
    for (uint32_t i = 0; i < count; i++) {
        static float together[4096], alone[4096];
        const uint64_t elements = qn_tensor_count(all[i]);
        read_floats(f, all[i], together, elements);
        read_floats(f, make(from[i], i), alone, elements);
        if (memcmp(together, alone, (size_t)elements * sizeof *alone) != 0)
            fail_msg("tensor %u differs", (unsigned)i);
    }
    return launches;
}

/* Drivers take long to compile. */
static uint32_t few(const tensor_fixture *f, uint32_t count, uint32_t less) {
    return f->info.kind == QN_DEVICE_CPU ? count : less;
}

static qn_tensor *same(qn_tensor *x, uint32_t i) { return qn_multiply_add(x, x, 0.25 * i); }

static qn_tensor *different(qn_tensor *x, uint32_t i) {
    switch (i % 6) {
    case 0: return qn_sqrt(qn_abs(x));
    case 1: return qn_transpose(qn_add(x, qn_slice(x, 0, 0, 1, 1)), 0, 1);
    case 2: return qn_pad(qn_multiply(x, 2), 0, 1, 2, 7);
    case 3: return qn_flip(qn_sin(x), QN_AXES(1));
    case 4: return qn_cast(qn_cast(x, QN_I32), QN_F32);
    default:
        return qn_minimum(x,
                          qn_arange(qn_tensor_owner(x), QN_F32, 0, (double)qn_tensor_shape(x).sizes[1], 1));
    }
}

static void make_matrices(tensor_fixture *f, qn_tensor **x, uint32_t count) {
    for (uint32_t i = 0; i < count; i++)
        x[i] = counting(f, QN_SHAPE(2 + i * 5 % 7, 2 + i * 3 % 11), -3, 0.375f + (float)i / 16);
}

/* Kernels of the same text, whatever their sizes; those of other widths are branches of it. */
static void the_same_of_many_sizes(void **state) {
    tensor_fixture *f = fixture_of(state);
    qn_tensor *x[20];
    const uint32_t count = few(f, 20, 5);
    make_matrices(f, x, count);
    assert_int_equal(compare(f, same, x, count), 1);
    x[3] = counting(f, QN_SHAPE(50, 60), -2, 0.01f); /* several work-groups */
    assert_int_equal(compare(f, same, x, count), 1);
}

/* On a processor each text is a kernel. */
static void different_ones(void **state) {
    tensor_fixture *f = fixture_of(state);
    qn_tensor *x[12];
    const uint32_t count = few(f, 12, 6);
    make_matrices(f, x, count);
    const uint64_t launches = compare(f, different, x, count);
    const bool processor = f->info.kind == QN_DEVICE_CPU ||
                           (f->info.kind == QN_DEVICE_OPENCL && (f->info.capabilities & QN_CAN_EMULATE));
    assert_true(launches <= (processor ? count : 2));
}

/* More than a kernel's arguments are several kernels. */
static void too_many(void **state) {
    tensor_fixture *f = fixture_of(state);
    qn_tensor *x[MOST];
    if (f->info.kind != QN_DEVICE_CPU) skip(); /* it is about numbers, and drivers take long */
    make_matrices(f, x, MOST);
    const uint64_t launches = compare(f, same, x, MOST);
    assert_true(launches >= 3 && launches <= 12);
}

/* A work-group of a GPU chooses its arrays and numbers, and not from too many. */
static qn_tensor *of_many(qn_tensor *x, uint32_t i) {
    (void)i;
    return qn_add(qn_multiply_add(x, 0.5, 0.25), qn_multiply(qn_add(qn_square(x), 2), 3));
}

static void not_too_many_choices(void **state) {
    enum { PARTS = 32, LEAST = 2 };
    tensor_fixture *f = fixture_of(state);
    qn_tensor *x[PARTS];
    const bool processor = f->info.kind == QN_DEVICE_CPU ||
                           (f->info.kind == QN_DEVICE_OPENCL && (f->info.capabilities & QN_CAN_EMULATE));
    if (processor) skip();
    make_matrices(f, x, PARTS);
    assert_true(compare(f, of_many, x, PARTS) >= LEAST);
}

/* What needs another one comes behind it, and what others need does not come too late. */
static void those_that_wait(void **state) {
    tensor_fixture *f = fixture_of(state);
    enum { COUNT = 4 };
    qn_tensor *asked[3 * COUNT];
    const uint32_t count = few(f, COUNT, 2);
    for (uint32_t i = 0; i < count; i++) {
        qn_tensor *x = counting(f, QN_SHAPE(3 + i, 4), 1, 0.5f);
        qn_tensor *sum = qn_sum(x, QN_AXES(1), false), *scaled = qn_divide(x, qn_unsqueeze(sum, 1));
        asked[3 * i] = qn_multiply(x, 3);
        asked[3 * i + 1] = scaled;
        asked[3 * i + 2] = qn_matmul(scaled, qn_transpose(qn_multiply(x, 3), 0, 1));
    }
    assert_ok(f->context, qn_realize(asked, 3 * count));
    for (uint32_t i = 0; i < count; i++) {
        float x[28], scaled[28], product[49];
        const uint32_t rows = 3 + i;
        read_floats(f, asked[3 * i], x, 4 * rows);
        read_floats(f, asked[3 * i + 1], scaled, 4 * rows);
        read_floats(f, asked[3 * i + 2], product, rows * rows);
        for (uint32_t r = 0; r < rows; r++) {
            const float *row = x + 4 * r, sum = (row[0] + row[1] + row[2] + row[3]) / 3;
            for (uint32_t c = 0; c < 4; c++) assert_near(scaled[4 * r + c], (double)(row[c] / 3 / sum));
            double wanted = 0;
            for (uint32_t c = 0; c < 4; c++) wanted += (double)scaled[4 * r + c] * (double)x[c];
            assert_near(product[r * rows], wanted);
        }
    }
}

/* The scale is read by all, and gets a new value: in memory of its own, as nobody knows who reads it last. */
static qn_status scale_all(void *user, qn_tensor *const *inputs, size_t num_inputs, qn_tensor **outputs,
                           size_t num_outputs) {
    qn_tensor **x = user;
    (void)inputs, (void)outputs;
    assert_true(num_inputs == 0 && num_outputs == 0);
    qn_tensor *scale = x[0];
    qn_status status = QN_OK;
    for (uint32_t i = 1; i < 6 && !status; i++) status = qn_assign(x[i], qn_multiply(x[i], scale));
    return status ? status : qn_assign(x[0], qn_multiply(scale, scale));
}

static void read_and_written(void **state) {
    tensor_fixture *f = fixture_of(state);
    qn_tensor *x[6] = {qn_full(f->t, QN_F32, QN_SCALAR, 2)};
    for (uint32_t i = 1; i < 6; i++) x[i] = qn_ones(f->t, QN_F32, QN_SHAPE(i == 3 ? 4000 : i));
    assert_ok(f->context, qn_realize(x, 6));
    qn_step *step;
    assert_ok(f->context, qn_step_create(f->t, scale_all, x, &step));
    for (uint32_t run = 0; run < 3; run++) assert_ok(f->context, qn_step_run(step, NULL, 0, NULL, 0));
    assert_near((float)qn_tensor_item(x[0]), 256);
    for (uint32_t i = 1; i < 6; i++) {
        assert_near((float)qn_tensor_item(qn_min(x[i], QN_ALL_AXES, false)), 2 * 4 * 16);
        assert_near((float)qn_tensor_item(qn_max(x[i], QN_ALL_AXES, false)), 2 * 4 * 16);
    }
    qn_step_destroy(step);
}

/* Whether an element that all work-items read comes after the question which of them there are. */
typedef struct order {
    bool asked, early, late;
} order;

static void note_order(void *user, const char *text) {
    order *o = user;
    const char *question = strstr(text, "if (item < items)"), *read = strstr(text, "[0];");
    if (!question || !read) return;
    o->asked = true;
    *(read < question ? &o->early : &o->late) = true;
}

/* A processor's compiler makes no vectors of a loop that reads one element under a condition. */
static void what_all_need_comes_first(void **state) {
    tensor_fixture *f = fixture_of(state);
    qn_tensor *scale = qn_full(f->t, QN_F32, QN_SCALAR, 4), *y[3];
    assert_ok(f->context, qn_tensor_realize(scale));
    for (uint32_t i = 0; i < 3; i++)
        y[i] = qn_multiply(counting(f, QN_SHAPE(70 + i), 1, 0.5f), qn_sqrt(scale));
    order o = {.asked = false};
    assert_ok(f->context, qn_tensor_explain(y, 3, &(qn_explain_desc){.text = true}, note_order, &o));
    assert_true(o.asked && o.early && !o.late);
    for (uint32_t i = 0; i < 3; i++) {
        float values[72];
        read_floats(f, y[i], values, 70 + i);
        for (uint32_t k = 0; k < 70 + i; k++) assert_near(values[k], 2 * (1 + 0.5 * k));
    }
}

static int begin_scope(void **state) { return qn_scope_begin(fixture_of(state)->t) != QN_OK; }
static int end_scope(void **state) { return qn_scope_end(fixture_of(state)->t) != QN_OK; }

int main(void) {
    if (device_is_missing()) return TEST_SKIPPED;
    static const struct {
        const char *name;
        CMUnitTestFunction function;
    } list[] = {{"the same of many sizes", the_same_of_many_sizes},
                {"different ones", different_ones},
                {"too many", too_many},
                {"not too many choices", not_too_many_choices},
                {"those that wait", those_that_wait},
                {"read and written", read_and_written},
                {"what all need comes first", what_all_need_comes_first}};
    enum { COUNT = sizeof list / sizeof *list };
    struct CMUnitTest tests[COUNT];
    tensor_fixture f = make_tensors(NULL);
    for (size_t i = 0; i < COUNT; i++)
        tests[i] = (struct CMUnitTest){list[i].name, list[i].function, begin_scope, end_scope, &f};
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    end_tensors(&f);
    return failed;
}
