/* What a kernel takes of its device: within what the device has, and what it promises can be launched. */
#include "api_support.h"

static const char source[] =
    "kernel void plain(global int *a) { a[get_global_id(0)] += 1; }\n"
    "kernel void shares(global int *a) {\n"
    "    local int tile[256];\n"
    "    tile[get_local_id(0)] = a[get_global_id(0)];\n"
    "    barrier(CLK_LOCAL_MEM_FENCE);\n"
    "    a[get_global_id(0)] = tile[get_local_size(0) - 1 - get_local_id(0)];\n"
    "}\n"
    "kernel __attribute__((reqd_work_group_size(8, 4, 1))) void fixed(global int *a) { a[get_global_id(0)] = "
    "1; }\n"
    "kernel void large(global int *a, int n) {\n"
    "    int table[300];\n"
    "    for (int i = 0; i < 300; i++) table[i] = a[i] + i;\n"
    "    int k = a[get_global_id(0)];\n"
    "    for (int i = 0; i < n; i++) { table[k % 300] += k; k = table[(k + i) % 300] & 1023; }\n"
    "    a[get_global_id(0)] = k;\n"
    "}\n";

static qn_kernel_resources ask(fixture *f, const char *name, const qn_range *range) {
    qn_kernel_resources r;
    qn_kernel *kernel = make_kernel(f->program, f->context, name);
    memset(&r, 0xff, sizeof r);
    assert_ok(f->context, qn_kernel_get_resources(kernel, range, &r));
    qn_kernel_destroy(kernel);
    return r;
}

static void they_are_within_the_devices(void **state) {
    const char *devices[] = {test_device(), "null"};
    static const char *const names[] = {"plain", "shares", "fixed", "large"};
    (void)state;
    for (int d = 0; d < 2; d++) {
        fixture f = make_fixture(devices[d], source, "plain");
        qn_device_info info;
        assert_ok(f.context, qn_device_get_info(f.device, &info));
        for (int i = 0; i < 4; i++) {
            const qn_kernel_resources r = ask(&f, names[i], NULL);
            assert_true(r.max_group_size >= 1 && r.max_group_size <= info.max_group_size);
            assert_true(r.preferred_multiple >= 1 && r.preferred_multiple <= info.max_group_size);
            assert_true(r.local_memory >= (i == 1 ? 1024 : 0) && r.local_memory <= info.local_memory);
            assert_true(r.local_size[0] >= 1 && r.local_size[1] >= 1 && r.local_size[2] >= 1);
            assert_int_equal(r.resident_on_device, (uint64_t)r.resident_groups * info.compute_units);
            print_message("%s, %s: group %u multiple %u registers %u private %llu local %llu code %llu "
                          "resident %u of %u\n",
                          info.name, names[i], (unsigned)r.max_group_size, (unsigned)r.preferred_multiple,
                          (unsigned)r.registers, (unsigned long long)r.private_memory,
                          (unsigned long long)r.local_memory, (unsigned long long)r.code_size,
                          (unsigned)r.resident_groups,
                          (unsigned)(r.local_size[0] * r.local_size[1] * r.local_size[2]));
        }
        qn_context_destroy(f.context);
    }
}

/* Registers, code and private arrays are told where the driver tells them: CUDA's, and NVIDIA's Vulkan. */
static void nvidia_tells_of_the_code(void **state) {
    (void)state;
    fixture f = make_fixture(test_device(), source, "plain");
    qn_device_info info;
    assert_ok(f.context, qn_device_get_info(f.device, &info));
    if (info.kind != QN_DEVICE_CUDA && !(info.kind == QN_DEVICE_VULKAN && strstr(info.driver, "NVIDIA"))) {
        print_message("skipped: %s is no GPU of NVIDIA's\n", info.name);
        qn_context_destroy(f.context);
        return;
    }
    const qn_kernel_resources plain = ask(&f, "plain", NULL), large = ask(&f, "large", NULL);
    assert_true(plain.registers >= 4 && plain.registers <= 64);
    assert_true(large.registers >= 4 && large.registers <= 255);
    assert_int_equal(plain.private_memory, 0);
    assert_true(large.private_memory >= 1200 && large.private_memory < 2000); /* its array has 1,200 bytes */
    assert_true(plain.code_size > 0 && large.code_size > plain.code_size);
    assert_int_equal(plain.preferred_multiple, 32);
    qn_context_destroy(f.context);
}

static void the_largest_group_can_be_launched(void **state) {
    (void)state;
    fixture f = make_fixture(test_device(), source, "plain");
    qn_device_info info;
    assert_ok(f.context, qn_device_get_info(f.device, &info));
    const qn_kernel_resources r = ask(&f, "plain", NULL);
    const uint32_t size =
        r.max_group_size < info.max_local_size[0] ? r.max_group_size : info.max_local_size[0];
    int *out = calloc(size, sizeof *out);
    qn_buffer *buffer = make_buffer(f.device, size * sizeof *out, NULL);
    assert_ok(f.context,
              qn_launch(NULL, f.kernel, QN_RANGE_LOCAL(QN_GROUP(size), QN_GROUP(size)), QN_ARGS(buffer)));
    assert_ok(f.context, qn_buffer_read(buffer, 0, out, size * sizeof *out));
    assert_int_equal(out[size - 1], 1);
    free(out);
    qn_context_destroy(f.context);
}

static void they_are_for_the_ranges_groups(void **state) {
    (void)state;
    fixture f = make_fixture(test_device(), source, "plain");
    qn_kernel_resources r = ask(&f, "fixed", NULL);
    assert_int_equal(r.max_group_size, 32);
    assert_true(r.local_size[0] == 8 && r.local_size[1] == 4 && r.local_size[2] == 1);
    const qn_range two = {.global = {64, 64}, .local = {4, 2}};
    r = ask(&f, "plain", &two);
    assert_true(r.local_size[0] == 4 && r.local_size[1] == 2 && r.local_size[2] == 1);
    const qn_range wrong = {.global = {64}, .local = {1u << 30}};
    assert_fails(f.context, qn_kernel_get_resources(f.kernel, &wrong, &r), QN_ERROR_LAUNCH_SIZE,
                 "qn_kernel_get_resources: local size 1073741824");
    assert_fails(f.context, qn_kernel_get_resources(f.kernel, NULL, NULL), QN_ERROR_NULL,
                 "resources is NULL");
    qn_context_destroy(f.context);
}

/* A thread is a compute unit, and runs a group at a time. The code is what the C compiler makes of a kernel. */
static void the_processor_runs_a_group_a_thread(void **state) {
    (void)state;
    fixture f = make_fixture("cpu", source, "plain");
    qn_device_info info;
    assert_ok(f.context, qn_device_get_info(f.device, &info));
    const qn_kernel_resources plain = ask(&f, "plain", NULL), large = ask(&f, "large", NULL);
    assert_int_equal(plain.resident_groups, 1);
#ifdef __ELF__
    if (strcmp(info.driver, "interpreter") != 0)
        assert_true(plain.code_size >= 32 && large.code_size > plain.code_size && large.code_size < 1 << 20);
#endif
    qn_context_destroy(f.context);
}

static uint64_t code_size(qn_context *context, const qn_program_desc *desc, const char *name) {
    qn_program *program;
    qn_kernel_resources r;
    assert_ok(context, qn_program_create(get_device(context, "cpu"), desc, &program));
    assert_ok(context, qn_program_wait(program, QN_FOREVER));
    assert_ok(context, qn_kernel_get_resources(make_kernel(program, context, name), NULL, &r));
    return r.code_size;
}

/* Compiled without a cache, compiled for it, found there, and shipped; beside a kernel whose name only looks alike. */
static void code_is_as_large_wherever_it_comes_from(void **state) {
    (void)state;
    static const char text[] = "kernel void k(global int *a) { a[get_global_id(0)] += 1; }\n"
                               "kernel void k_groups(global float *a) {\n"
                               "    a[get_global_id(0)] = sin(a[get_global_id(0)]) / a[0];\n"
                               "}\n"
                               "kernel void groups(global int *a) { a[0] = 7; }\n";
    char folder[] = "/tmp/quern-test-XXXXXX", *packed;
    size_t size;
    uint64_t first[3] = {0};
    const qn_program_desc desc = {.source = text};
    assert_non_null(mkdtemp(folder));
    for (int round = 0; round < 3 + (first[0] > 0); round++) {
        qn_context *context =
            make_context(&(qn_context_desc){.cache_dir = folder, .disable_cache = round == 0});
        qn_program_desc from = desc;
        if (round == 3) {
            const qn_pack_desc all = {.program = &desc, .targets = "c", .archs = "native"};
            assert_ok(context, qn_program_pack(context, &all, &packed, &size, NULL));
            from = (qn_program_desc){.binary = packed, .binary_size = size};
        }
        static const char *const names[] = {"k", "k_groups", "groups"};
        for (int i = 0; i < 3; i++) {
            const uint64_t got = code_size(context, &from, names[i]);
            if (round == 0) first[i] = got;
            if (round < 3)
                assert_int_equal(got, first[i]);
            else /* by the name of a processor, not for this very one */
                assert_int_equal(got > 0, first[i] > 0);
        }
        if (round == 3) qn_text_free(context, packed);
        qn_context_destroy(context);
    }
    assert_true(first[1] > first[0] || first[0] == 0); /* 0: no ELF, or interpreted */
    char command[64];
    snprintf(command, sizeof command, "rm -rf %s", folder);
    assert_int_equal(system(command), 0);
}

static void interpreted_kernels_have_no_code(void **state) {
    (void)state;
    qn_context *context = make_context(&(qn_context_desc){.cpu_compiler = "none"});
    qn_device *device = get_device(context, "cpu");
    qn_kernel *kernel = make_kernel(make_program(device, source), context, "plain");
    qn_kernel_resources got;
    assert_ok(context, qn_kernel_get_resources(kernel, NULL, &got));
    assert_int_equal(got.code_size, 0);
    qn_context_destroy(context);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(they_are_within_the_devices),
        cmocka_unit_test(nvidia_tells_of_the_code),
        cmocka_unit_test(the_largest_group_can_be_launched),
        cmocka_unit_test(they_are_for_the_ranges_groups),
        cmocka_unit_test(the_processor_runs_a_group_a_thread),
        cmocka_unit_test(code_is_as_large_wherever_it_comes_from),
        cmocka_unit_test(interpreted_kernels_have_no_code),
    };
    return run_device_tests(tests);
}
