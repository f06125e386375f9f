/* States: tensors from files and into them, by rules, with a report of what does not fit. */
#include <quern/files.h>
#include <unistd.h>

#include "tensor_common.h"

static const float six[] = {1, 2, 3, 4, 5, 6};
static const double doubles[] = {0.1, -2, 3e10};
static const int32_t ints[] = {7, -8};

/* A file of arrays that are called as another program calls them. */
static const qn_host_array arrays[] = {
    {.name = "h.0.attn.weight", .rank = 2, .sizes = {2, 3}, .data = six},
    {.name = "h.1.attn.weight", .rank = 2, .sizes = {2, 3}, .strides = {1, 2}, .data = six},
    {.name = "scale", .encoding = QN_ENCODING_F64, .rank = 1, .sizes = {3}, .data = doubles},
    {.name = "ids", .encoding = QN_ENCODING_I32, .rank = 1, .sizes = {2}, .data = ints},
    {.name = "none", .rank = 2, .sizes = {0, 3}},
    {.name = "h.0.attn.bias.mask", .encoding = QN_ENCODING_U8, .rank = 1, .sizes = {2}, .data = "ab"}};
enum { ARRAYS = sizeof arrays / sizeof *arrays };

typedef struct file_fixture {
    tensor_fixture tensors;
    char path[64];
    qn_archive *archive;
} file_fixture;

static file_fixture make_file(void) {
    file_fixture f = {.tensors = make_tensors(NULL)};
    snprintf(f.path, sizeof f.path, "/tmp/quern-state-%ld.safetensors", (long)getpid());
    const qn_archive_write_desc desc = {.arrays = arrays, .count = ARRAYS};
    assert_ok(f.tensors.context, qn_archive_write(f.tensors.context, f.path, &desc));
    assert_ok(f.tensors.context, qn_archive_open(f.tensors.context, f.path, NULL, &f.archive));
    return f;
}

static void end_file(file_fixture *f) {
    qn_archive_close(f->archive);
    unlink(f->path);
    end_tensors(&f->tensors);
}

static void assert_floats(file_fixture *f, qn_tensor *x, uint64_t count, const float *wanted) {
    float values[16];
    read_floats(&f->tensors, x, values, count);
    assert_memory_equal(values, wanted, count * sizeof *values);
}

static void arrays_become_tensors(void **state) {
    (void)state;
    file_fixture f = make_file();
    qn_tensors *t = f.tensors.t;
    assert_floats(&f, qn_from_archive(t, f.archive, "h.0.attn.weight", QN_OWN_TYPE), 6, six);
    assert_null(qn_archive_find(f.archive, "h.0.attn.weight")->data);
    assert_floats(&f, qn_from_archive(t, f.archive, "h.1.attn.weight", QN_OWN_TYPE), 6,
                  (const float[]){1, 3, 5, 2, 4, 6});
    assert_floats(&f, qn_from_archive(t, f.archive, "scale", QN_F32), 3, (const float[]){0.1f, -2, 3e10f});
    assert_floats(&f, qn_from_archive(t, f.archive, "ids", QN_F32), 2, (const float[]){7, -8});
    assert_int_equal(qn_tensor_type(qn_from_archive(t, f.archive, "ids", QN_OWN_TYPE)), QN_I32);
    qn_tensor *none = qn_from_archive(t, f.archive, "none", QN_OWN_TYPE);
    assert_ok(f.tensors.context, qn_tensor_realize(none));
    assert_int_equal(qn_tensor_shape(none).sizes[1], 3);
    assert_fails(f.tensors.context, qn_tensor_status(qn_from_archive(t, f.archive, "x", QN_F32)),
                 QN_ERROR_ARGUMENT, "qn_from_archive: the archive has no array 'x'");
    assert_fails(f.tensors.context, qn_tensor_status(qn_from_archive(t, NULL, "x", QN_F32)), QN_ERROR_NULL,
                 "archive is NULL");
    assert_fails(f.tensors.context, qn_tensor_status(qn_from_archive(t, f.archive, NULL, QN_F32)),
                 QN_ERROR_NULL, "name is NULL");
    /* With strides, on the host. */
    const qn_host_array turned = {
        .name = "t", .rank = 2, .sizes = {3, 2}, .strides = {1, 3}, .data = six, .bytes = 24};
    assert_floats(&f, qn_from_host_array(t, &turned, QN_OWN_TYPE), 6, (const float[]){1, 4, 2, 5, 3, 6});
    end_file(&f);
}

/* More than goes to the device at a time. */
static void large_arrays_go_in_pieces(void **state) {
    (void)state;
    tensor_fixture f = make_tensors(NULL);
    enum { COUNT = (40 << 20) / 4 + 3 };
    int32_t *data = malloc(COUNT * sizeof *data), *got = malloc(COUNT * sizeof *got);
    for (int i = 0; i < COUNT; i++) data[i] = (int32_t)((uint32_t)i * 2654435761u);
    const qn_host_array array = {.name = "x",
                                 .encoding = QN_ENCODING_I32,
                                 .rank = 1,
                                 .sizes = {COUNT},
                                 .data = data,
                                 .bytes = COUNT * sizeof *data};
    qn_tensor *x = qn_from_host_array(f.t, &array, QN_OWN_TYPE);
    assert_ok(f.context, qn_tensor_read(x, got, COUNT * sizeof *got));
    assert_memory_equal(got, data, COUNT * sizeof *got);
    char path[64];
    snprintf(path, sizeof path, "/tmp/quern-state-%ld.npy", (long)getpid());
    assert_ok(f.context, qn_save(f.t, path, &(qn_named_tensor){"x", x}, 1, NULL));
    qn_archive *archive;
    const void *back;
    assert_ok(f.context, qn_archive_open(f.context, path, NULL, &archive));
    assert_ok(f.context, qn_archive_data(archive, qn_archive_at(archive, 0), &back));
    assert_memory_equal(back, data, COUNT * sizeof *data);
    qn_archive_close(archive);
    unlink(path);
    free(data);
    free(got);
    end_tensors(&f);
}

static const qn_load_rule rules[] = {
    {.name = "block.*.first", .from = "h.*.attn.weight", .axis = -1, .size = 1},
    {.name = "block.*.rest", .from = "h.*.attn.weight", .axis = 1, .begin = 1, .size = 2, .transpose = true},
    {.name = "**.turned", .from = "h.1.attn.weight", .transpose = true},
    {.from = "**.mask"}};

typedef struct findings {
    int count[3];
    char text[1024];
} findings;

static void collect(void *user, qn_load_finding finding, const char *name, const char *sentence) {
    findings *found = user;
    assert_non_null(strstr(sentence, name));
    found->count[finding]++;
    strncat(found->text, sentence, sizeof found->text - strlen(found->text) - 1);
    strncat(found->text, "\n", sizeof found->text - strlen(found->text) - 1);
}

static void rules_name_and_shape(void **state) {
    (void)state;
    file_fixture f = make_file();
    qn_tensors *t = f.tensors.t;
    assert_ok(f.tensors.context, qn_scope_begin(t));
    const qn_named_tensor wanted[] = {{"block.0.first", qn_zeros(t, QN_F32, QN_SHAPE(2, 1))},
                                      {"block.0.rest", qn_zeros(t, QN_F32, QN_SHAPE(2, 2))},
                                      {"a.b.turned", NULL},
                                      {"scale", qn_zeros(t, QN_F16, QN_SHAPE(3))},
                                      {"ids", NULL},
                                      {"none", qn_zeros(t, QN_BF16, QN_SHAPE(0, 3))}};
    enum { COUNT = sizeof wanted / sizeof *wanted };
    qn_tensor *values[COUNT];
    const qn_load_desc desc = {.rules = rules, .num_rules = 4};
    const uint64_t before = stats_of(&f.tensors).tensors;
    assert_ok(f.tensors.context, qn_load(t, f.archive, wanted, COUNT, &desc, values));
    assert_int_equal(stats_of(&f.tensors).tensors, before + COUNT); /* nothing else is left */
    assert_floats(&f, values[0], 2, (const float[]){1, 4});
    assert_floats(&f, values[1], 4, (const float[]){2, 5, 3, 6});
    assert_floats(&f, values[2], 6, (const float[]){1, 2, 3, 4, 5, 6});
    assert_int_equal(qn_tensor_shape(values[2]).sizes[0], 3);
    assert_int_equal(qn_tensor_type(values[3]), QN_F16);
    assert_int_equal(qn_tensor_type(values[4]), QN_I32);
    assert_int_equal(qn_tensor_type(values[5]), QN_BF16);
    assert_ok(f.tensors.context, qn_scope_end(t));
    end_file(&f);
}

/* Tensors themselves get the values, and stay what they are. */
static void parameters_are_assigned(void **state) {
    (void)state;
    file_fixture f = make_file();
    qn_tensors *t = f.tensors.t;
    qn_tensor *weight = qn_tensor_require_gradient(qn_zeros(t, QN_F32, QN_SHAPE(2, 3)), true),
              *scale = qn_zeros(t, QN_F32, QN_SHAPE(3));
    qn_tensor *before = qn_add(weight, 1);
    const qn_named_tensor wanted[] = {{"h.0.attn.weight", weight}, {"gone", scale}, {"scale", scale}};
    const qn_load_desc partial = {.partial = true};
    assert_fails(f.tensors.context, qn_load(t, f.archive, wanted, 3, NULL, NULL), QN_ERROR_ARGUMENT,
                 "'gone' is missing");
    assert_floats(&f, weight, 6, (const float[6]){0});
    const uint64_t handles = stats_of(&f.tensors).tensors;
    assert_ok(f.tensors.context, qn_load(t, f.archive, wanted, 3, &partial, NULL));
    assert_int_equal(stats_of(&f.tensors).tensors, handles);
    assert_floats(&f, weight, 6, six);
    assert_floats(&f, before, 6, (const float[]){1, 1, 1, 1, 1, 1});
    assert_floats(&f, scale, 3, (const float[]){0.1f, -2, 3e10f});
    assert_ok(f.tensors.context, qn_backward(qn_sum(qn_square(weight), QN_ALL_AXES, false)));
    assert_floats(&f, qn_tensor_gradient(weight), 6, (const float[]){2, 4, 6, 8, 10, 12});
    end_file(&f);
}

static void what_does_not_fit_is_reported(void **state) {
    (void)state;
    file_fixture f = make_file();
    qn_tensors *t = f.tensors.t;
    const qn_named_tensor wanted[] = {{"h.0.attn.weight", qn_zeros(t, QN_F32, QN_SHAPE(3, 2))},
                                      {"block.7.rest", NULL},
                                      {"gone", NULL},
                                      {"scale", NULL},
                                      {"ids.turned", NULL}};
    const qn_load_rule all[] = {
        rules[1], {.name = "*.turned", .from = "*", .transpose = true}, {.from = "h.1.**"}};
    qn_tensor *values[5] = {wanted[0].tensor};
    findings found = {{0}, ""};
    qn_load_desc desc = {.rules = all, .num_rules = 3, .report = collect, .user = &found};
    assert_fails(f.tensors.context, qn_load(t, f.archive, wanted, 5, &desc, values), QN_ERROR_ARGUMENT,
                 "qn_load: of 5 tensors 2 are missing: 'block.7.rest' is missing, in the file "
                 "'h.7.attn.weight', 2 do not fit: "
                 "'h.0.attn.weight' is 2x3 in the file, but 3x2 is wanted; 2 arrays are unexpected: 'none' "
                 "is unexpected");
    assert_int_equal(found.count[QN_LOAD_MISSING], 2);
    assert_int_equal(found.count[QN_LOAD_MISMATCHED], 2);
    assert_int_equal(found.count[QN_LOAD_UNEXPECTED], 2);
    assert_non_null(strstr(found.text, "'gone' is missing\n"));
    assert_non_null(strstr(found.text, "'ids.turned' is 2 in the file, which the rule does not fit\n"));
    assert_non_null(strstr(found.text, "'h.0.attn.bias.mask' is unexpected\n"));
    for (int i = 0; i < 5; i++) assert_null(values[i]);
    desc.partial = true;
    assert_ok(f.tensors.context, qn_load(t, f.archive, wanted, 5, &desc, values));
    assert_int_equal(found.count[QN_LOAD_MISSING], 4);
    for (int i = 0; i < 5; i++) assert_true((values[i] != NULL) == (i == 3));
    end_file(&f);
}

static void wrong_calls_are_refused(void **state) {
    (void)state;
    file_fixture f = make_file();
    qn_tensors *t = f.tensors.t;
    qn_context *context = f.tensors.context;
    qn_tensor *value;
    qn_named_tensor wanted = {"scale", NULL};
    assert_fails(context, qn_load(t, NULL, &wanted, 1, NULL, &value), QN_ERROR_NULL,
                 "qn_load: archive is NULL");
    assert_fails(context, qn_load(t, f.archive, NULL, 1, NULL, &value), QN_ERROR_NULL,
                 "qn_load: state is NULL");
    assert_fails(context, qn_load(t, f.archive, &wanted, 1, NULL, NULL), QN_ERROR_NULL,
                 "qn_load: state[0] has no tensor, and values is NULL");
    assert_fails(context, qn_load(NULL, f.archive, &wanted, 1, NULL, &value), QN_ERROR_NULL,
                 "qn_load: tensors is NULL");
    static const struct {
        qn_load_rule rule;
        const char *message;
    } rows[] = {
        {{0}, "rules[0] has neither name nor from"},
        {{.name = "*", .from = "*.*"}, "rules[0] has more stars in from than in name"},
        {{.name = "*a*b*c*d*e*f*g*h*"}, "rules[0] is longer than 255 or has more than 8 stars"},
        {{.name = "a", .begin = UINT64_MAX, .size = 1}, "rules[0] has a begin or size beyond all arrays"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const qn_load_desc desc = {.rules = &rows[i].rule, .num_rules = 1, .partial = true};
        assert_fails(context, qn_load(t, f.archive, &wanted, 1, &desc, &value), QN_ERROR_ARGUMENT,
                     rows[i].message);
    }
    assert_fails(context, qn_load(t, f.archive, &wanted, 1, &(qn_load_desc){.num_rules = 1}, &value),
                 QN_ERROR_NULL, "desc->rules is NULL");
    wanted.name = NULL;
    assert_fails(context, qn_load(t, f.archive, &wanted, 1, NULL, &value), QN_ERROR_NULL,
                 "state[0] has no name");
    wanted =
        (qn_named_tensor){"a", qn_add(qn_zeros(t, QN_F32, QN_SHAPE(2)), qn_zeros(t, QN_F32, QN_SHAPE(3)))};
    assert_fails(context, qn_load(t, f.archive, &wanted, 1, NULL, &value), QN_ERROR_ARGUMENT, "qn_add");
    assert_fails(context, qn_save(t, "/tmp/x.npy", &wanted, 1, NULL), QN_ERROR_ARGUMENT, "qn_add");
    wanted.tensor = NULL;
    assert_fails(context, qn_save(t, "/tmp/x.npy", &wanted, 1, NULL), QN_ERROR_NULL,
                 "state[0] has no tensor");
    assert_fails(context, qn_save(t, NULL, &wanted, 1, NULL), QN_ERROR_NULL, "qn_save: path is NULL");
    assert_fails(context, qn_save(t, "/tmp/x.npy", NULL, 1, NULL), QN_ERROR_NULL, "qn_save: state is NULL");
    end_file(&f);
}

/* Names of any form, by one rule: the array of that name is found, or it is missing under a name that shows what matched. */
static void patterns_match(void **state) {
    (void)state;
    static const struct {
        const char *name, *from, *tensor, *wanted;
    } rows[] = {{"*", "<*>", "abc", "'<abc>'"},
                {"*", "<*>", "a.c", NULL},
                {"**", "<**>", "a.c", "'<a.c>'"},
                {"a.*.c.*", "*|*", "a.b1.c.d2", "'b1|d2'"},
                {"a.*.c.*", "*|*", "a.b1.c.", NULL},
                {"**.*", "**|*", "a.b.c", "'a.b|c'"},
                {"*b*", "*|*", "abbbc", "'a|bbc'"},
                {"**x", "**", "xxxx", "'xxx'"},
                {"a", "b", "a", "'b'"},
                {"a", "b", "aa", NULL},
                {"***", "**|*", "a.bc", "'a.|bc'"},
                {"*a*a*a*a*a*a*a*b", "*",
                 "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", NULL}};
    file_fixture f = make_file();
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const qn_load_rule rule = {.name = rows[i].name, .from = rows[i].from};
        findings found = {{0}, ""};
        const qn_load_desc desc = {
            .rules = &rule, .num_rules = 1, .partial = true, .report = collect, .user = &found};
        qn_tensor *value;
        assert_ok(f.tensors.context, qn_load(f.tensors.t, f.archive, &(qn_named_tensor){rows[i].tensor, NULL},
                                             1, &desc, &value));
        char wanted[128];
        snprintf(wanted, sizeof wanted, rows[i].wanted ? "is missing, in the file %s\n" : "is missing\n",
                 rows[i].wanted);
        if (!strstr(found.text, wanted)) fail_msg("%s of %s: %s", rows[i].name, rows[i].tensor, found.text);
    }
    end_file(&f);
}

static void values_are_saved(void **state) {
    (void)state;
    file_fixture f = make_file();
    qn_tensors *t = f.tensors.t;
    qn_tensor *x = qn_from_data(t, QN_F32, QN_SHAPE(2, 3), six);
    /* Views and what is not computed yet are written in order. */
    const qn_named_tensor saved[] = {{"turned", qn_transpose(x, 0, 1)},
                                     {"twice", qn_cast(qn_multiply(x, 2), QN_BF16)},
                                     {"row", qn_slice(x, 0, 1, 2, 1)},
                                     {"none", qn_zeros(t, QN_I8, QN_SHAPE(0))}};
    static const qn_text epoch = {"7", 1};
    const qn_metadata note = {.key = "epoch", .count = 1, .values = {.texts = &epoch}};
    assert_ok(f.tensors.context,
              qn_save(t, f.path, saved, 4, &(qn_save_desc){.metadata = &note, .metadata_count = 1}));
    qn_archive *archive;
    assert_ok(f.tensors.context, qn_archive_open(f.tensors.context, f.path, NULL, &archive));
    assert_string_equal(qn_archive_metadata(archive, "epoch")->values.texts->text, "7");
    qn_tensor *values[4];
    assert_ok(f.tensors.context, qn_load(t, archive, saved, 4, NULL, values));
    assert_floats(&f, values[0], 6, (const float[]){1, 4, 2, 5, 3, 6});
    assert_int_equal(qn_tensor_type(values[1]), QN_BF16);
    assert_floats(&f, qn_cast(values[1], QN_F32), 6, (const float[]){2, 4, 6, 8, 10, 12});
    assert_floats(&f, values[2], 3, (const float[]){4, 5, 6});
    assert_int_equal(qn_tensor_count(values[3]), 0);
    qn_archive_close(archive);
    end_file(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(arrays_become_tensors),
                                       cmocka_unit_test(large_arrays_go_in_pieces),
                                       cmocka_unit_test(rules_name_and_shape),
                                       cmocka_unit_test(parameters_are_assigned),
                                       cmocka_unit_test(what_does_not_fit_is_reported),
                                       cmocka_unit_test(wrong_calls_are_refused),
                                       cmocka_unit_test(patterns_match),
                                       cmocka_unit_test(values_are_saved)};
    return run_device_tests(tests);
}
