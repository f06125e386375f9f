/* What the tests of tensor.h share: the tensors of the device under test ($QUERN_DEVICE, or the processor), and reading. */
#ifndef TENSOR_COMMON_H
#define TENSOR_COMMON_H

#include "api_support.h"

#include <math.h>
#include <quern/tensor.h>

typedef struct tensor_fixture {
    qn_context *context;
    qn_device *device;
    qn_device_info info;
    qn_tensors *t;
} tensor_fixture;

/* On the processor without its C compiler, which takes seconds: tests are of many small kernels. */
static inline tensor_fixture make_tensors(const qn_tensors_desc *desc) {
    tensor_fixture f;
    f.context = make_context(&(qn_context_desc){.cpu_compiler = "none"});
    f.device = get_device(f.context, test_device());
    assert_ok(f.context, qn_device_get_info(f.device, &f.info));
    assert_ok(f.context, qn_tensors_create(f.device, desc, &f.t));
    return f;
}

static inline void end_tensors(tensor_fixture *f) {
    qn_tensors_destroy(f->t);
    assert_ok(f->context, qn_device_wait(f->device, QN_FOREVER));
    qn_context_destroy(f->context);
}

static inline tensor_fixture *fixture_of(void **state) { return *state; }

/* Runs tests that share one owner of tensors, of which fixture_of tells. For main. */
static inline int run_sharing(const struct CMUnitTest *tests, size_t count, const qn_tensors_desc *desc) {
    enum { MOST = 64 };
    struct CMUnitTest sharing[MOST];
    if (device_is_missing()) return TEST_SKIPPED;
    if (count > MOST) return 1;
    tensor_fixture f = make_tensors(desc);
    for (size_t i = 0; i < count; i++) {
        sharing[i] = tests[i];
        sharing[i].initial_state = &f;
    }
    const int failed = _cmocka_run_group_tests("tests", sharing, count, NULL, NULL);
    end_tensors(&f);
    return failed;
}
#define run_tensor_tests(tests, desc) run_sharing(tests, sizeof(tests) / sizeof *(tests), desc)

static inline qn_tensors_stats stats_of(const tensor_fixture *f) {
    qn_tensors_stats stats;
    assert_ok(f->context, qn_tensors_get_stats(f->t, &stats));
    return stats;
}

/* `count` floats: begin, begin + step, ... */
static inline qn_tensor *counting(tensor_fixture *f, qn_shape shape, float begin, float step) {
    uint64_t count = 1;
    for (uint32_t d = 0; d < shape.rank; d++) count *= shape.sizes[d];
    float *data = malloc((size_t)count * sizeof *data + 1);
    for (uint64_t i = 0; i < count; i++) data[i] = begin + step * (float)i;
    qn_tensor *x = qn_from_data(f->t, QN_F32, shape, data);
    free(data);
    assert_ok(f->context, qn_tensor_status(x));
    return x;
}

/* The values of an f32 tensor, which has `count`. */
static inline void read_floats(tensor_fixture *f, qn_tensor *x, float *values, uint64_t count) {
    assert_ok(f->context, qn_tensor_status(x));
    assert_int_equal(qn_tensor_type(x), QN_F32);
    assert_int_equal(qn_tensor_count(x), count);
    assert_ok(f->context, qn_tensor_read(x, values, count * sizeof *values));
}

static inline void assert_near(float value, double wanted) {
    if (!(fabs(value - wanted) <= 2e-6 * (1 + fabs(wanted))))
        fail_msg("%.9g is not %.9g", (double)value, wanted);
}

/* Numbers from low to high, none twice. */
static inline qn_tensor *scattered(tensor_fixture *f, qn_shape shape, double low, double high,
                                   uint32_t seed) {
    double data[64];
    uint64_t count = 1;
    for (uint32_t d = 0; d < shape.rank; d++) count *= shape.sizes[d];
    assert_true(count <= 64);
    for (uint64_t i = 0; i < count; i++)
        data[i] = low + (high - low) * fmod(0.37 + (double)(i + 1) * 0.618034 + seed * 0.0913, 1);
    qn_tensor *x = qn_from_data(f->t, QN_F64, shape, data);
    return f->info.capabilities & QN_CAN_F64 ? x : qn_cast(x, QN_F32);
}

/* Its gradients are what differences say. */
static inline void check(tensor_fixture *f, const char *name, qn_tensor_function *function, void *user,
                         qn_tensor *const *x, size_t count) {
    const qn_status status = qn_check_gradients(function, user, x, count, NULL);
    if (status) fail_msg("%s: %s", name, qn_error_message(f->context));
}

#endif
