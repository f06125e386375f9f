/* What a WebGPU device does its own way: one buffer for several parameters, which Dawn refuses to bind twice; views that begin
   where no binding may; copies of parts of words, which go by way of the host; pointers that lead to one buffer or another. */
#include "api_support.h"

static qn_buffer *buffer_of(qn_device *device, const void *data, size_t size) {
    qn_buffer *buffer;
    assert_ok(qn_device_context(device),
              qn_buffer_create(device, &(qn_buffer_desc){.size = size, .data = data}, &buffer));
    return buffer;
}

static bool has_device(qn_context *context, qn_device **device) {
    if (qn_device_get(context, "webgpu", device) == QN_OK) return true;
    printf("skipped: %s\n", qn_error_message(context));
    return false;
}

static void one_buffer_is_several_parameters(void **state) {
    (void)state;
    qn_context *context = make_context(NULL);
    qn_device *device;
    if (has_device(context, &device)) {
        int numbers[] = {1, 2, 3, 4, 5, 6, 7, 8};
        qn_program *program = make_program(
            device, "kernel void add(global const int *a, global const int *b, global int *c) {\n"
                    "    int i = get_global_id(0);\n"
                    "    c[i] = a[i] + 10 * b[i];\n}\n"
                    "kernel void mixed(global const float *a, global int *b) {\n"
                    "    b[0] = (int)a[1];\n}\n");
        qn_kernel *add = make_kernel(program, context, "add"),
                  *mixed = make_kernel(program, context, "mixed");
        qn_buffer *all = buffer_of(device, numbers, sizeof numbers), *view;
        assert_ok(context, qn_buffer_view(all, 4 * sizeof(int), 4 * sizeof(int), &view));
        assert_ok(context, qn_launch(NULL, add, QN_RANGE(4), QN_ARGS(all, view, all)));
        assert_ok(context, qn_launch(NULL, add, QN_RANGE(4), QN_ARGS(view, view, view)));
        assert_ok(context, qn_buffer_read(all, 0, numbers, sizeof numbers));
        const int wanted[] = {51, 62, 73, 84, 55, 66, 77, 88};
        assert_memory_equal(numbers, wanted, sizeof wanted);
        /* as two types: it works, or is refused with the parameters */
        const qn_status status = qn_launch(NULL, mixed, QN_RANGE(1), QN_ARGS(all, all));
        if (status) assert_fails(context, status, QN_ERROR_UNSUPPORTED, "parameters 1 and 2 are one buffer");
    }
    qn_context_destroy(context);
}

static void pointers_lead_to_either_buffer(void **state) {
    (void)state;
    qn_context *context = make_context(NULL);
    qn_device *device;
    if (has_device(context, &device)) {
        int a[] = {1, 2, 3, 4}, b[] = {10, 20, 30, 40}, out[4];
        qn_program *program =
            make_program(device, "kernel void choose(global int *a, global int *b, global int *out) {\n"
                                 "    int i = get_global_id(0);\n"
                                 "    global int *p = i & 1 ? a : b;\n"
                                 "    atomic_add(p + i, 100);\n"
                                 "    out[i] = p[i] + (p == a);\n}\n");
        qn_kernel *choose = make_kernel(program, context, "choose");
        qn_buffer *as = buffer_of(device, a, sizeof a), *bs = buffer_of(device, b, sizeof b);
        qn_buffer *outs = buffer_of(device, NULL, sizeof out);
        assert_ok(context, qn_launch(NULL, choose, QN_RANGE(4), QN_ARGS(as, bs, outs)));
        assert_ok(context, qn_buffer_read(outs, 0, out, sizeof out));
        const int wanted[] = {110, 103, 130, 105};
        assert_memory_equal(out, wanted, sizeof wanted);
    }
    qn_context_destroy(context);
}

static void parts_of_words_are_copied(void **state) {
    (void)state;
    qn_context *context = make_context(NULL);
    qn_device *device;
    if (has_device(context, &device)) {
        char text[16] = "abcdefghijklmno", out[17] = "";
        qn_buffer *buffer = buffer_of(device, text, sizeof text);
        assert_ok(context, qn_buffer_write(buffer, 3, "XYZ", 3));
        assert_ok(context, qn_stream_copy(NULL, buffer, 1, buffer, 9, 5));
        assert_ok(context, qn_stream_fill(NULL, buffer, 14, 1, "!", 1));
        assert_ok(context, qn_buffer_read(buffer, 1, out, 14));
        assert_string_equal(out, "bcXYZghibcXYZ!");
    }
    qn_context_destroy(context);
}

int main(void) {
    qn_context *context = make_context(NULL);
    qn_device *device;
    const bool there = has_device(context, &device);
    qn_context_destroy(context);
    if (!there) return 77;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_buffer_is_several_parameters),
        cmocka_unit_test(pointers_lead_to_either_buffer),
        cmocka_unit_test(parts_of_words_are_copied),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
