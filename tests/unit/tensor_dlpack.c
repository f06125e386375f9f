/* Tensors shared by DLPack: what is given away stays, what is taken goes back, and what cannot be is refused. */
#include <quern/dlpack.h>

#include "tensor_common.h"

/* As DLPack's page has them. */
typedef struct DLTensor {
    void *data;
    int32_t device_type, device_id, ndim;
    uint8_t code, bits;
    uint16_t lanes;
    int64_t *shape, *strides;
    uint64_t byte_offset;
} DLTensor;
typedef struct DLManagedTensor {
    DLTensor dl_tensor;
    void *manager_ctx;
    void (*deleter)(struct DLManagedTensor *self);
} DLManagedTensor;
typedef struct DLManagedTensorVersioned {
    uint32_t major, minor;
    void *manager_ctx;
    void (*deleter)(struct DLManagedTensorVersioned *self);
    uint64_t flags;
    DLTensor dl_tensor;
} DLManagedTensorVersioned;

static void count_old(DLManagedTensor *self) { ++*(int *)self->manager_ctx; }
static void count_versioned(DLManagedTensorVersioned *self) { ++*(int *)self->manager_ctx; }

/* Whether the device shares memory by DLPack. */
static bool shares(const tensor_fixture *f) {
    return f->info.kind == QN_DEVICE_CPU || f->info.kind == QN_DEVICE_CUDA;
}

static void given_memory_stays(void **state) {
    (void)state;
    tensor_fixture f = make_tensors(NULL);
    DLManagedTensorVersioned *shared = (DLManagedTensorVersioned *)&f;
    assert_ok(f.context, qn_scope_begin(f.t));
    qn_tensor *x = qn_transpose(qn_multiply(counting(&f, QN_SHAPE(2, 3), 0, 1), 10), 0, 1);
    if (!shares(&f)) {
        assert_fails(f.context, qn_tensor_to_dlpack(x, &shared), QN_ERROR_UNSUPPORTED,
                     "cannot be shared by DLPack");
        assert_null(shared);
        end_tensors(&f);
        return;
    }
    DLManagedTensor *old;
    assert_ok(f.context, qn_tensor_to_dlpack(x, &shared));
    assert_ok(f.context, qn_tensor_to_dlpack_unversioned(x, &old));
    assert_int_equal(shared->major, 1);
    assert_int_equal(shared->flags, 1);
    const DLTensor *t = &shared->dl_tensor;
    assert_int_equal(t->device_type, f.info.kind == QN_DEVICE_CPU ? 1 : 2);
    assert_int_equal(t->ndim, 2);
    assert_int_equal(t->code, 2);
    assert_int_equal(t->bits, 32);
    assert_int_equal(t->lanes, 1);
    assert_int_equal(t->byte_offset, 0);
    assert_int_equal(t->shape[0], 3);
    assert_int_equal(t->shape[1], 2);
    assert_ptr_equal(t->data, old->dl_tensor.data);
    assert_int_equal(old->dl_tensor.strides[1], t->strides[1]);
    /* The memory is given to no other tensor, though this one is gone; and it outlives them all. */
    assert_ok(f.context, qn_scope_end(f.t));
    for (int i = 0; i < 4; i++) {
        qn_tensor *other = qn_add(counting(&f, QN_SHAPE(2, 3), 0, 1), i);
        assert_ok(f.context, qn_tensor_realize(other));
        DLManagedTensor *again;
        assert_ok(f.context, qn_tensor_to_dlpack_unversioned(other, &again));
        assert_ptr_not_equal(again->dl_tensor.data, t->data);
        again->deleter(again);
    }
    old->deleter(old);
    qn_tensors_destroy(f.t);
    if (f.info.kind == QN_DEVICE_CPU)
        for (int64_t i = 0; i < 6; i++)
            assert_true(((const float *)t->data)[i / 2 * t->strides[0] + i % 2 * t->strides[1]] ==
                        (float)(10 * (i / 2 + 3 * (i % 2))));
    shared->deleter(shared);
    qn_context_destroy(f.context);
}

static void own_memory_comes_back(void **state) {
    (void)state;
    tensor_fixture f = make_tensors(NULL);
    if (!shares(&f)) {
        end_tensors(&f);
        return;
    }
    qn_tensor *x = qn_slice(counting(&f, QN_SHAPE(4, 3), 0, 1), 0, 1, 3, 1);
    DLManagedTensorVersioned *shared;
    assert_ok(f.context, qn_tensor_to_dlpack(x, &shared));
    qn_tensor *y = qn_from_dlpack(f.t, shared);
    float values[6];
    read_floats(&f, qn_add(y, x), values, 6);
    for (int i = 0; i < 6; i++) assert_true(values[i] == (float)(2 * (i + 3)));
    /* What was taken is copied to be given again. */
    DLManagedTensorVersioned *again;
    assert_ok(f.context, qn_tensor_to_dlpack(y, &again));
    assert_ptr_not_equal(again->dl_tensor.data, shared->dl_tensor.data);
    again->deleter(again);
    end_tensors(&f);
}

/* Memory of the processor: `values` from the element `first` on. */
static DLManagedTensorVersioned lent(const float *values, size_t first, int32_t ndim, int64_t *shape,
                                     int64_t *strides, int *returned) {
    return (DLManagedTensorVersioned){.major = 1,
                                      .manager_ctx = returned,
                                      .deleter = count_versioned,
                                      .flags = 1,
                                      .dl_tensor = {.data = (void *)(uintptr_t)values,
                                                    .device_type = 1,
                                                    .ndim = ndim,
                                                    .code = 2,
                                                    .bits = 32,
                                                    .lanes = 1,
                                                    .shape = shape,
                                                    .strides = strides,
                                                    .byte_offset = 4 * first}};
}

static void memory_is_used_in_place(void **state) {
    (void)state;
    static const struct {
        size_t first;
        int64_t shape[2], strides[2];
        bool has_strides;
    } rows[] = {{0, {3, 4}, {0}, false},      {5, {1, 7}, {0}, false},   {1, {3, 3}, {4, 1}, true},
                {11, {3, 4}, {-4, -1}, true}, {2, {5, 2}, {1, 5}, true}, {7, {3, 2}, {0, 0}, true},
                {3, {4, 2}, {0, 1}, true},    {0, {0, 4}, {4, 1}, true}, {9, {1, 1}, {77, -77}, true}};
    for (int eager = 0; eager < 2; eager++) {
        tensor_fixture f = make_tensors(&(qn_tensors_desc){.eager = eager});
        _Alignas(64) float values[12];
        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
            int64_t shape[2] = {rows[i].shape[0], rows[i].shape[1]},
                    strides[2] = {rows[i].strides[0], rows[i].strides[1]};
            for (int k = 0; k < 12; k++) values[k] = (float)k;
            int returned = 0;
            DLManagedTensorVersioned shared =
                lent(values, rows[i].first, 2, shape, rows[i].has_strides ? strides : NULL, &returned);
            assert_ok(f.context, qn_scope_begin(f.t));
            qn_tensor *x = qn_from_dlpack(f.t, &shared);
            assert_ok(f.context, qn_tensor_status(x));
            const bool is_shared = f.info.kind == QN_DEVICE_CPU && !eager && shape[0] > 0;
            assert_int_equal(returned, is_shared ? 0 : f.info.kind == QN_DEVICE_CPU && eager ? returned : 1);
            if (is_shared)
                for (int k = 0; k < 12; k++)
                    values[k] = (float)(100 + k); /* seen, as it is the same memory */
            float got[16];
            read_floats(&f, qn_multiply(x, 1), got, (uint64_t)(shape[0] * shape[1]));
            for (int64_t k = 0; k < shape[0] * shape[1]; k++) {
                const int64_t at =
                    rows[i].has_strides ? k / shape[1] * strides[0] + k % shape[1] * strides[1] : k;
                assert_true(got[k] == (float)((int64_t)rows[i].first + at + (is_shared ? 100 : 0)));
            }
            assert_ok(f.context, qn_scope_end(f.t));
            assert_int_equal(returned, 1);
        }
        end_tensors(&f);
    }
}

static void what_cannot_be_taken_is_refused(void **state) {
    (void)state;
    tensor_fixture f = make_tensors(NULL);
    static const float values[12] = {0};
    static int64_t shape[9] = {2, 2, 1, 1, 1, 1, 1, 1, 1}, huge[2] = {1ll << 40, 1ll << 40},
                   negative[2] = {2, -1};
    static int64_t far[2] = {1ll << 60, 1};
    int returned = 0;
    DLManagedTensorVersioned good = lent(values, 0, 2, shape, NULL, &returned), bad;
#define REFUSED(change, status, message)                                                                     \
    bad = good;                                                                                              \
    bad.change;                                                                                              \
    assert_fails(f.context, qn_tensor_status(qn_from_dlpack(f.t, &bad)), status, message)
    REFUSED(major = 2, QN_ERROR_UNSUPPORTED, "it is of DLPack's version 2; 1 is known");
    REFUSED(dl_tensor.ndim = 9, QN_ERROR_UNSUPPORTED, "it has 9 dimensions");
    REFUSED(dl_tensor.ndim = -1, QN_ERROR_UNSUPPORTED, "it has -1 dimensions");
    REFUSED(dl_tensor.shape = NULL, QN_ERROR_UNSUPPORTED, "it has 2 dimensions");
    REFUSED(dl_tensor.code = 5, QN_ERROR_UNSUPPORTED,
            "elements of DLPack's type 5 of 32 bits and 1 lanes are not known");
    REFUSED(dl_tensor.lanes = 4, QN_ERROR_UNSUPPORTED, "of 32 bits and 4 lanes are not known");
    REFUSED(dl_tensor.device_type = 4, QN_ERROR_UNSUPPORTED, "memory of DLPack's device type 4 is not known");
    REFUSED(dl_tensor.data = NULL, QN_ERROR_ARGUMENT, "data is NULL");
    REFUSED(dl_tensor.byte_offset = 2, QN_ERROR_ARGUMENT, "elements do not lie at multiples of their size");
    REFUSED(dl_tensor.shape = huge, QN_ERROR_ARGUMENT, "there are more elements than can be counted");
    REFUSED(dl_tensor.shape = negative, QN_ERROR_ARGUMENT, "a size is below 0");
    REFUSED(dl_tensor.strides = far, QN_ERROR_ARGUMENT, "strides lead too far");
    bad = good;
    bad.dl_tensor.device_type = 2;
    bad.dl_tensor.device_id = 63;
    assert_fails(f.context, qn_tensor_status(qn_from_dlpack(f.t, &bad)), QN_ERROR_ARGUMENT,
                 "the memory is of cuda:63");
    assert_fails(f.context, qn_tensor_status(qn_from_dlpack(f.t, NULL)), QN_ERROR_NULL, "shared is NULL");
    assert_fails(f.context, qn_tensor_status(qn_from_dlpack_unversioned(f.t, NULL)), QN_ERROR_NULL,
                 "shared is NULL");
    assert_int_equal(qn_tensor_status(qn_from_dlpack(NULL, &good)), QN_ERROR_NULL);
    qn_tensor *x = counting(&f, QN_SHAPE(2), 0, 1);
    assert_fails(f.context, qn_tensor_to_dlpack(x, NULL), QN_ERROR_NULL,
                 "qn_tensor_to_dlpack: shared is NULL");
    assert_fails(f.context, qn_tensor_to_dlpack_unversioned(x, NULL), QN_ERROR_NULL, "shared is NULL");
    DLManagedTensor *shared = (DLManagedTensor *)&f;
    assert_int_equal(qn_tensor_to_dlpack_unversioned(NULL, &shared), QN_ERROR_NULL);
    assert_null(shared);
    assert_int_equal(returned, 0);
    /* The older form, without a deleter and with one. */
    DLManagedTensor old = {.dl_tensor = good.dl_tensor, .manager_ctx = &returned};
    assert_ok(f.context, qn_tensor_status(qn_from_dlpack_unversioned(f.t, &old)));
    DLManagedTensor other = {.dl_tensor = good.dl_tensor, .manager_ctx = &returned, .deleter = count_old};
    assert_ok(f.context, qn_tensor_status(qn_from_dlpack_unversioned(f.t, &other)));
    end_tensors(&f);
    assert_int_equal(returned, 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(given_memory_stays), cmocka_unit_test(own_memory_comes_back),
        cmocka_unit_test(memory_is_used_in_place), cmocka_unit_test(what_cannot_be_taken_is_refused)};
    return run_device_tests(tests);
}
