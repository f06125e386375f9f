/* Which way qn_kernels_matmul takes on a device of compute capability 9.0, which tests/fake/libcuda.c plays, for the shapes and types of
   quern bench: kernels_choice.txt has them, a line each. A change of the table of variants or of the model of costs shows there: the
   program writes the file anew when it is called with its path, and who changes it has measured what it says. */
#include "kernels_common.h"

#include "find_fake.h"

static const char path[] = "tests/unit/kernels_choice.txt";

typedef struct type {
    const char *name;
    qn_element from, to;
    bool tf32, by_columns; /* b is stored so */
} type;

static const type types[] = {
    {"f32", QN_F32, QN_F32, false, false},    {"tf32", QN_F32, QN_F32, true, false},
    {"bf16", QN_BF16, QN_BF16, false, false}, {"f16", QN_F16, QN_F16, false, false},
    {"e4m3", QN_E4M3, QN_BF16, false, true},  {"e5m2", QN_E5M2, QN_BF16, false, true},
    {"i8", QN_I8, QN_I32, false, true},       {"f64", QN_F64, QN_F64, false, false},
};

static const type *type_named(const char *name) {
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (strcmp(types[i].name, name) == 0) return &types[i];
    return NULL;
}

/* A device, and buffers that are large enough for any of the shapes. */
typedef struct rig {
    qn_context *context;
    qn_kernels *kernels;
    qn_buffer *operands, *out;
} rig;

static rig make_rig(int capability) {
    const uint64_t size = (uint64_t)8192 * 8192 * 8;
    rig r;
    fake.reset();
    fake.set(FAKE_MEMORY, 80L << 30);
    fake.set(FAKE_CAPABILITY, capability);
    r.context = make_context(NULL);
    qn_device *device = get_device(r.context, "cuda:0");
    assert_ok(r.context, qn_kernels_create(device, NULL, &r.kernels));
    const qn_buffer_desc desc = {.size = size, .uninitialised = true};
    assert_ok(r.context, qn_buffer_create(device, &desc, &r.operands));
    assert_ok(r.context, qn_buffer_create(device, &desc, &r.out));
    return r;
}

static void end_rig(rig *r) {
    qn_buffer_destroy(r->operands), qn_buffer_destroy(r->out);
    qn_kernels_destroy(r->kernels);
    qn_context_destroy(r->context);
}

static qn_matmul_desc desc_of(const rig *r, const type *t, const unsigned long long shape[3]) {
    const uint64_t m = shape[0], n = shape[1], k = shape[2];
    return (qn_matmul_desc){.out = QN_ARRAY(r->out, t->to, m, n),
                            .a = QN_ARRAY(r->operands, t->from, m, k),
                            .b = t->by_columns
                                     ? qn_array_transpose(QN_ARRAY(r->operands, t->from, n, k), 0, 1)
                                     : QN_ARRAY(r->operands, t->from, k, n),
                            .tf32 = t->tf32};
}

/* "4096x4096x4096 bf16: quad 128x256 two, 1 part". */
static void describe(const rig *r, const char *subject, char *line, size_t size) {
    unsigned long long shape[3];
    char name[16];
    const char *variant;
    uint32_t parts;
    if (sscanf(subject, "%llux%llux%llu %15[a-z0-9]", &shape[0], &shape[1], &shape[2], name) != 4 ||
        !type_named(name))
        fail_msg("'%s' is no line", subject);
    const qn_matmul_desc desc = desc_of(r, type_named(name), shape);
    assert_ok(r->context, qn_kernels_matmul_choice(r->kernels, &desc, &variant, &parts));
    snprintf(line, size, "%llux%llux%llu %s: %s, %u part%s", shape[0], shape[1], shape[2], name, variant,
             parts, parts > 1 ? "s" : "");
}

static void each_product_goes_the_way_that_was_measured(void **state) {
    (void)state;
    enum { LEAST_LINES = 320 };
    rig r = make_rig(90);
    FILE *file = fopen(path, "r");
    char line[128], wanted[128];
    int wrong = 0, lines = 0;
    assert_non_null(file);
    for (; fgets(line, sizeof line, file); lines++) {
        line[strcspn(line, "\n")] = 0;
        describe(&r, line, wanted, sizeof wanted);
        if (strcmp(line, wanted) == 0) continue;
        print_error("%s:%d: '%s' is now '%s'\n", path, lines + 1, line, wanted);
        wrong++;
    }
    fclose(file);
    end_rig(&r);
    assert_true(lines >= LEAST_LINES);
    assert_int_equal(wrong, 0);
}

/* Said on its own, as the file could be written anew without a look at it. */
static void check_family(int capability, const char *family, const char *const *names, size_t count) {
    const unsigned long long shape[] = {4096, 4096, 4096};
    const char *variant;
    uint32_t parts;
    rig r = make_rig(capability);
    for (size_t i = 0; i < count; i++) {
        const qn_matmul_desc desc = desc_of(&r, type_named(names[i]), shape);
        assert_ok(r.context, qn_kernels_matmul_choice(r.kernels, &desc, &variant, &parts));
        if (strncmp(variant, family, strlen(family)) != 0) fail_msg("%s: %s", names[i], variant);
    }
    end_rig(&r);
}

static void large_products_of_narrow_namesgo_by_the_best_units(void **state) {
    (void)state;
    static const char *const narrow[] = {"tf32", "bf16", "f16", "i8"};
    check_family(90, "quad", narrow, 4);
    check_family(80, "units", narrow, 4);
    check_family(70, "tile", narrow, 4);
}

static void large_products_of_doubles_go_by_units(void **state) {
    (void)state;
    static const char *const wide[] = {"f64"};
    check_family(90, "units", wide, 1);
    check_family(80, "units", wide, 1);
    check_family(70, "tile", wide, 1);
}

static void what_it_may_be_asked(void **state) {
    (void)state;
    const unsigned long long shape[] = {64, 64, 64};
    const char *variant = "";
    uint32_t parts = 7;
    rig r = make_rig(90);
    qn_matmul_desc desc = desc_of(&r, type_named("bf16"), shape);
    desc.variant = "units 64x64";
    desc.splits = 3;
    assert_ok(r.context, qn_kernels_matmul_choice(r.kernels, &desc, &variant, &parts));
    assert_string_equal(variant, "units 64x64");
    assert_int_equal(parts, 3);
    desc.variant = "vector";
    assert_fails(r.context, qn_kernels_matmul_choice(r.kernels, &desc, &variant, &parts), QN_ERROR_ARGUMENT,
                 "qn_kernels_matmul: variant 'vector' cannot do this on");
    assert_fails(r.context, qn_kernels_matmul_choice(r.kernels, NULL, &variant, &parts), QN_ERROR_NULL,
                 "desc is NULL");
    desc.variant = NULL;
    assert_fails(r.context, qn_kernels_matmul_choice(r.kernels, &desc, NULL, &parts), QN_ERROR_NULL,
                 "qn_kernels_matmul_choice: variant is NULL");
    assert_fails(r.context, qn_kernels_matmul_choice(r.kernels, &desc, &variant, NULL), QN_ERROR_NULL,
                 "qn_kernels_matmul_choice: splits is NULL");
    desc.out.sizes[0] = desc.a.sizes[0] = 0;
    assert_ok(r.context, qn_kernels_matmul_choice(r.kernels, &desc, &variant, &parts));
    assert_null(variant);
    assert_int_equal(parts, 0);
    end_rig(&r);
}

/* The lines of a file again, as they are now. */
static int write_anew(const char *to) {
    enum { MOST = 1000 };
    static char lines[MOST][128];
    int count = 0;
    FILE *file = fopen(to, "r");
    if (!file || find_fake(NULL)) return 1;
    while (count < MOST && fgets(lines[count], sizeof *lines, file)) count++;
    fclose(file);
    rig r = make_rig(90);
    file = fopen(to, "w");
    for (int i = 0; i < count && file; i++) {
        char line[128];
        describe(&r, lines[i], line, sizeof line);
        fprintf(file, "%s\n", line);
    }
    end_rig(&r);
    return file ? fclose(file) : 1;
}

int main(int argc, char **argv) {
    if (argc > 1) return write_anew(argv[1]);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_product_goes_the_way_that_was_measured),
        cmocka_unit_test(large_products_of_narrow_namesgo_by_the_best_units),
        cmocka_unit_test(large_products_of_doubles_go_by_units),
        cmocka_unit_test(what_it_may_be_asked),
    };
    return cmocka_run_group_tests(tests, find_fake, NULL);
}
