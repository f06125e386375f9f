/* Maps that read across the order in which they write, which GPUs do by tiles in local memory. */
#include "tensor_common.h"

#include <stdio.h>
#include <string.h>

enum { PLANES = 3, ROWS = 45, COLUMNS = 70, COUNT = PLANES * ROWS * COLUMNS };

static void note_tiles(void *user, const char *text) {
    if (strstr(text, "local ")) *(bool *)user = true;
}

/* All but processors have tiles. */
static void check_tiles(tensor_fixture *f, qn_tensor *x) {
    bool has_tiles = false;
    const bool is_processor = f->info.kind == QN_DEVICE_CPU ||
                              (f->info.kind == QN_DEVICE_OPENCL && (f->info.capabilities & QN_CAN_EMULATE));
    assert_ok(f->context, qn_tensor_explain(&x, 1, &(qn_explain_desc){.text = true}, note_tiles, &has_tiles));
    assert_int_equal(has_tiles, !is_processor);
}

/* x of [PLANES, ROWS, COLUMNS] counts by 1; y, of the result's shape, by 1, too. */
static void check_order(tensor_fixture *f, qn_element type, const int32_t order[3]) {
    static const uint64_t sizes[] = {PLANES, ROWS, COLUMNS};
    static const uint64_t strides[] = {ROWS * COLUMNS, COLUMNS, 1};
    static float values[COUNT];
    const uint64_t to[] = {sizes[order[0]], sizes[order[1]], sizes[order[2]]};
    const float modulus = 2048; /* which f16 has */
    qn_tensor *x = qn_cast(qn_remainder(counting(f, QN_SHAPE(PLANES, ROWS, COLUMNS), 0, 1), modulus), type);
    qn_tensor *y = qn_cast(qn_remainder(counting(f, QN_SHAPE(to[0], to[1], to[2]), 0, 1), 3), type);
    assert_ok(f->context, qn_realize((qn_tensor *[]){x, y}, 2));
    qn_tensor *turned = qn_permute(x, QN_AXES(order[0], order[1], order[2]));
    qn_tensor *sum = qn_add(qn_multiply(qn_flip(turned, QN_AXES(0)), 2), y);
    check_tiles(f, sum);
    read_floats(f, qn_cast(sum, QN_F32), values, COUNT);
    for (uint64_t i = 0, at = 0; i < to[0]; i++)
        for (uint64_t j = 0; j < to[1]; j++)
            for (uint64_t k = 0; k < to[2]; k++, at++) {
                const uint64_t from =
                    (to[0] - 1 - i) * strides[order[0]] + j * strides[order[1]] + k * strides[order[2]];
                const float wanted = 2 * (float)(from % 2048) + (float)(at % 3);
                /* f16 has each even number up to 4096 */
                if (!(fabsf(values[at] - wanted) <= (type == QN_F16 && wanted > 2048 ? 2 : 0)))
                    fail_msg("%d%d%d: element %d is %g, not %g", (int)order[0], (int)order[1], (int)order[2],
                             (int)at, (double)values[at], (double)wanted);
            }
}

static void elements_are_where_they_belong(void **state) {
    (void)state;
    static const int32_t orders[][3] = {{0, 2, 1}, {2, 0, 1}};
    tensor_fixture f = make_tensors(NULL);
    for (size_t i = 0; i < 2; i++) check_order(&f, QN_F32, orders[i]);
    check_order(&f, QN_I32, orders[0]);
    if (f.info.capabilities & QN_CAN_F16) check_order(&f, QN_F16, orders[1]);
    end_tensors(&f);
}

/* Two arrays across, one along, and one number for each row. */
static void tiles_are_shared(void **state) {
    (void)state;
    enum { SIDE = 100 };
    static float values[SIDE * SIDE];
    tensor_fixture f = make_tensors(NULL);
    qn_tensor *a = counting(&f, QN_SHAPE(SIDE, SIDE), 0, 1), *b = counting(&f, QN_SHAPE(SIDE, SIDE), 0, -1),
              *c = counting(&f, QN_SHAPE(SIDE, SIDE), 0, 0.5f), *rows = counting(&f, QN_SHAPE(SIDE, 1), 1, 1);
    qn_tensor *both = qn_multiply(qn_add(qn_transpose(a, 0, 1), qn_multiply(qn_transpose(b, 0, 1), 3)), rows);
    qn_tensor *all = qn_subtract(both, c);
    check_tiles(&f, all);
    read_floats(&f, all, values, SIDE * SIDE);
    for (int i = 0; i < SIDE; i++)
        for (int j = 0; j < SIDE; j++)
            assert_near(values[i * SIDE + j], -2.0 * (j * SIDE + i) * (i + 1) - 0.5 * (i * SIDE + j));
    end_tensors(&f);
}

int main(void) {
    if (device_is_missing()) return TEST_SKIPPED;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(elements_are_where_they_belong),
        cmocka_unit_test(tiles_are_shared),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
