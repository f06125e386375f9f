/* Archives: wrong calls, files on disk, encodings, copies of arrays with strides, writing, memory that runs out. */
#include <errno.h>

#include "files_support.h"

static void encodings_are_known(void **state) {
    (void)state;
    for (int i = 0; i < QN_ENCODING_COUNT; i++) {
        uint32_t elements, size;
        qn_element element;
        qn_encoding_block((qn_encoding)i, &elements, &size);
        assert_true(elements > 0 && size > 0);
        assert_non_null(qn_encoding_name((qn_encoding)i));
        if (qn_encoding_element((qn_encoding)i, &element)) {
            assert_string_equal(qn_encoding_name((qn_encoding)i), qn_element_name(element));
            assert_int_equal(elements, 1);
            assert_int_equal(size, qn_element_size(element));
            assert_int_equal(qn_encoding_of(element), i);
        }
    }
    for (int i = 0; i < QN_ELEMENT_COUNT; i++) assert_true(qn_encoding_of((qn_element)i) < QN_ENCODING_COUNT);
    uint32_t elements = 1, size = 1;
    qn_encoding_block(QN_ENCODING_COUNT, &elements, &size);
    assert_int_equal(elements + size, 0);
    qn_encoding_block(QN_ENCODING_F32, NULL, NULL);
    assert_false(qn_encoding_element(QN_ENCODING_COUNT, NULL));
    assert_int_equal(qn_encoding_of(QN_ELEMENT_COUNT), QN_ENCODING_COUNT);
    assert_null(qn_encoding_name(QN_ENCODING_COUNT));
    assert_null(qn_file_format_name(QN_FILE_FORMAT_COUNT));
    assert_null(qn_file_format_name(QN_FILE_ANY));
    assert_string_equal(qn_file_format_name(QN_FILE_NPZ), "npz");
}

static void arrays_are_copied_in_order(void **state) {
    (void)state;
    const int16_t data[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};
    int16_t to[12];
    /* Reversed, repeated and exchanged dimensions. */
    qn_host_array array = {.encoding = QN_ENCODING_I16,
                           .rank = 3,
                           .sizes = {2, 2, 3},
                           .strides = {-6, 0, 2},
                           .data = data + 6,
                           .bytes = 24};
    const int16_t wanted[] = {6, 8, 10, 6, 8, 10, 0, 2, 4, 0, 2, 4};
    assert_int_equal(qn_host_array_copy(&array, to, sizeof to), QN_OK);
    assert_memory_equal(to, wanted, sizeof wanted);
    array = (qn_host_array){
        .encoding = QN_ENCODING_I16, .rank = 1, .sizes = {4}, .strides = {3}, .data = data, .bytes = 8};
    assert_int_equal(qn_host_array_copy(&array, to, 8), QN_OK);
    assert_memory_equal(to, ((const int16_t[]){0, 3, 6, 9}), 8);
    array.strides[0] = 0;
    assert_int_equal(qn_host_array_copy(&array, to, 8), QN_OK);
    assert_memory_equal(to, data, 8);
    assert_int_equal(qn_host_array_copy(&array, to, 7), QN_ERROR_RANGE);
    assert_int_equal(qn_host_array_copy(&array, NULL, 8), QN_ERROR_NULL);
    assert_int_equal(qn_host_array_copy(NULL, to, 8), QN_ERROR_NULL);
    array.strides[0] = 1;
    array.sizes[0] = 5; /* not what its bytes say */
    assert_int_equal(qn_host_array_copy(&array, to, 8), QN_ERROR_RANGE);
    array.encoding = QN_ENCODING_E2M1;
    assert_int_equal(qn_host_array_copy(&array, to, 8), QN_ERROR_UNSUPPORTED);
    array.rank = 9;
    assert_int_equal(qn_host_array_copy(&array, to, 8), QN_ERROR_ARGUMENT);
    array = (qn_host_array){.rank = 3, .sizes = {UINT64_MAX, 2, 1}};
    assert_true(qn_host_array_count(&array) == UINT64_MAX);
    array.sizes[2] = 0;
    assert_int_equal(qn_host_array_count(&array), 0);
    assert_int_equal(qn_host_array_copy(&array, NULL, 0), QN_OK);
}

static void wrong_calls_are_refused(void **state) {
    (void)state;
    qn_context *context = make_context(NULL);
    qn_archive *archive = (qn_archive *)context;
    assert_fails(context, qn_archive_open(context, "x", NULL, NULL), QN_ERROR_NULL,
                 "qn_archive_open: archive is NULL");
    assert_fails(context, qn_archive_open(context, NULL, NULL, &archive), QN_ERROR_NULL,
                 "qn_archive_open: path is NULL");
    assert_null(archive);
    assert_fails(context, qn_archive_open_memory(context, NULL, 1, NULL, NULL, &archive), QN_ERROR_NULL,
                 "qn_archive_open_memory: data is NULL");
    assert_int_equal(qn_archive_open(NULL, "x", NULL, &archive), QN_ERROR_NULL);
    const qn_archive_desc desc = {.format = QN_FILE_FORMAT_COUNT};
    assert_fails(context, qn_archive_open(context, "x", &desc, &archive), QN_ERROR_ARGUMENT,
                 "format 7 is none of qn_file_format");
    assert_fails(context, qn_archive_open(context, "/no/such.npy", NULL, &archive), QN_ERROR_IO,
                 "/no/such.npy: it cannot be read: No such file or directory");
    assert_fails(context, qn_archive_open(context, "/tmp", NULL, &archive), QN_ERROR_IO,
                 "/tmp: it cannot be read: Is a directory");
    assert_fails(context, qn_archive_open(context, "/dev/null", NULL, &archive), QN_ERROR_IO,
                 "/dev/null: it cannot be read");
    assert_fails(context, qn_archive_open_memory(context, "hello", 5, NULL, NULL, &archive),
                 QN_ERROR_ARGUMENT, "memory: it is of no format that is known by how it begins");
    assert_fails(context, qn_archive_open_memory(context, NULL, 0, "x.npz", NULL, &archive),
                 QN_ERROR_ARGUMENT, "x.npz: it is no whole zip archive");
    assert_fails(context, qn_archive_data(NULL, NULL, NULL), QN_ERROR_NULL,
                 "qn_archive_data: archive is NULL");
    assert_fails(context, qn_archive_data((qn_archive *)context, NULL, NULL), QN_ERROR_ARGUMENT,
                 "archive is no object of qn_archive_open");
    assert_int_equal(qn_archive_count(NULL), 0);
    assert_int_equal(qn_archive_format(NULL), QN_FILE_ANY);
    assert_null(qn_archive_at(NULL, 0));
    assert_null(qn_archive_find(NULL, "a"));
    assert_null(qn_archive_metadata(NULL, "a"));
    assert_null(qn_archive_metadata_at(NULL, 0));
    qn_archive_forget(NULL, NULL);
    qn_archive_close(NULL);
    qn_archive_close((qn_archive *)context);
    assert_ok(context, qn_archive_open_memory(context, "1,2\n", 4, "x.csv", NULL, &archive));
    qn_host_array other = {0};
    assert_fails(context, qn_archive_data(archive, &other, NULL), QN_ERROR_ARGUMENT,
                 "the array is none of its own");
    assert_fails(context, qn_archive_data(archive, NULL, NULL), QN_ERROR_NULL, "array is NULL");
    const qn_host_array *inside = (const void *)((const char *)qn_archive_at(archive, 0) + 8);
    assert_fails(context, qn_archive_data(archive, inside, NULL), QN_ERROR_ARGUMENT,
                 "the array is none of its own");
    assert_true(qn_archive_index(archive, inside) == UINT64_MAX);
    assert_true(qn_archive_index(NULL, inside) == UINT64_MAX);
    assert_int_equal(qn_archive_index(archive, qn_archive_at(archive, 0)), 0);
    assert_null(qn_archive_find(archive, NULL));
    assert_null(qn_archive_metadata(archive, NULL));
    qn_archive_forget(archive, &other);
    qn_archive_close(archive);
    qn_context_destroy(context);
}

/* ---- writing ---- */

static const float numbers[6] = {1, 2, 3, 4, 5, 6};
static const uint8_t flags[3] = {1, 0, 1};

/* An array with strides; one without elements; one of bytes. */
static const qn_host_array arrays[] = {
    {.name = "turned",
     .encoding = QN_ENCODING_F32,
     .rank = 2,
     .sizes = {3, 2},
     .strides = {1, 3},
     .data = numbers},
    {.name = "none", .encoding = QN_ENCODING_I64, .rank = 2, .sizes = {0, 5}},
    {.name = "fl\"ags", .encoding = QN_ENCODING_BOOL, .rank = 1, .sizes = {3}, .data = flags, .bytes = 3}};
static const qn_text note = {"line\n\1\"\\", 8};
static const qn_metadata metadata[] = {{.key = "note", .count = 1, .values = {.texts = &note}}};

static char *in_folder(const char *folder, const char *name, char path[128]) {
    snprintf(path, 128, "%s/%s", folder, name);
    return path;
}

static void assert_no_file(const char *folder, const char *name) {
    char path[128];
    assert_int_equal(access(in_folder(folder, name, path), F_OK), -1);
    assert_int_equal(errno, ENOENT);
}

static void what_is_written_is_read(void **state) {
    (void)state;
    qn_context *context = make_context(NULL);
    char folder[64], path[128];
    make_folder(folder);
    static const float turned[] = {1, 4, 2, 5, 3, 6};
    static const char *const names[] = {"a.safetensors", "a.npz", "a.npy"};
    for (int i = 0; i < 3; i++) {
        in_folder(folder, names[i], path);
        const qn_archive_write_desc desc = {
            .arrays = arrays, .count = i == 2 ? 1 : 3, .metadata = metadata, .metadata_count = i == 0};
        assert_ok(context, qn_archive_write(context, path, &desc));
        for (int copy = 0; copy < 2; copy++) {
            qn_archive *archive;
            assert_ok(context, qn_archive_open(context, path, &(qn_archive_desc){.copy = copy}, &archive));
            assert_int_equal(qn_archive_count(archive), desc.count);
            const qn_host_array *found = qn_archive_find(archive, i == 2 ? "data" : "turned");
            const void *data;
            assert_ok(context, qn_archive_data(archive, found, &data));
            assert_memory_equal(data, turned, sizeof turned);
            assert_int_equal(found->sizes[0], 3);
            if (i < 2) {
                assert_ok(context, qn_archive_data(archive, qn_archive_find(archive, "fl\"ags"), &data));
                assert_memory_equal(data, flags, 3);
                assert_int_equal(qn_archive_find(archive, "none")->sizes[1], 5);
            }
            if (i == 0)
                assert_string_equal(qn_archive_metadata(archive, "note")->values.texts->text, note.text);
            qn_archive_close(archive);
        }
        assert_no_file(folder, "a.safetensors.part");
        assert_int_equal(unlink(path), 0);
    }
    rmdir(folder);
    qn_context_destroy(context);
}

static qn_status refuse(void *user, uint64_t index, uint64_t offset, void *to, uint64_t size) {
    (void)index, (void)offset, (void)to, (void)size;
    return qn_error_set(user, QN_ERROR_TIMEOUT, "the source gave nothing");
}

static void what_cannot_be_written_is_refused(void **state) {
    (void)state;
    qn_context *context = make_context(NULL);
    char folder[64], path[128], inside[160];
    make_folder(folder);
    in_folder(folder, "a.safetensors", path);
    static const qn_text half = {"\xff", 1};
    const qn_host_array good = {
        .name = "a", .encoding = QN_ENCODING_U8, .rank = 1, .sizes = {1}, .data = "", .bytes = 1};
    qn_host_array two[2] = {good, good};
    const struct {
        qn_host_array array;
        qn_metadata metadata;
        qn_file_format format;
        qn_status status;
        const char *message;
    } rows[] = {
        {{.data = ""}, {0}, 0, QN_ERROR_ARGUMENT, "arrays[0]: the name '' is empty or no UTF-8"},
        {{.name = "\xff", .data = ""}, {0}, 0, QN_ERROR_ARGUMENT, "is empty or no UTF-8"},
        {{.name = "a", .rank = 9}, {0}, 0, QN_ERROR_ARGUMENT, "'a': encoding 0 or rank 9 is none"},
        {{.name = "a", .encoding = QN_ENCODING_COUNT}, {0}, 0, QN_ERROR_ARGUMENT, "'a': encoding"},
        {{.name = "a", .data = "", .bytes = 8},
         {0},
         0,
         QN_ERROR_ARGUMENT,
         "'a' has 8 bytes, but 4 by its encoding"},
        {{.name = "a"}, {0}, 0, QN_ERROR_NULL, "'a' has no data, and there is no source"},
        {{.name = "a", .rank = 2, .sizes = {1ull << 62, 4}},
         {0},
         0,
         QN_ERROR_ARGUMENT,
         "more elements than 63 bits"},
        {{.name = "__metadata__", .data = ""},
         {0},
         0,
         QN_ERROR_ARGUMENT,
         "no array can be called '__metadata__'"},
        {{.name = "a", .encoding = QN_ENCODING_Q4_0, .rank = 1, .sizes = {32}, .data = ""},
         {0},
         0,
         QN_ERROR_UNSUPPORTED,
         "'a' is of q4_0, which safetensors files cannot have"},
        {{.name = "a", .encoding = QN_ENCODING_E4M3, .data = ""},
         {0},
         QN_FILE_NPZ,
         QN_ERROR_UNSUPPORTED,
         "'a' is of e4m3, which NumPy's files cannot have"},
        {good,
         {.key = "k", .count = 1, .values = {.texts = &note}},
         QN_FILE_NPY,
         QN_ERROR_UNSUPPORTED,
         "npy files have no metadata"},
        {good,
         {.key = "k", .count = 1, .values = {.texts = &half}},
         0,
         QN_ERROR_ARGUMENT,
         "metadata[0] is no text in UTF-8"},
        {good,
         {.key = "k", .count = 1, .kind = QN_METADATA_FLOAT},
         0,
         QN_ERROR_ARGUMENT,
         "metadata[0] is no text"},
        {good, {0}, QN_FILE_GGUF, QN_ERROR_ARGUMENT, "safetensors, npy and npz can be written"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const qn_archive_write_desc desc = {.format = rows[i].format,
                                            .arrays = &rows[i].array,
                                            .count = 1,
                                            .metadata = &rows[i].metadata,
                                            .metadata_count = rows[i].metadata.key != NULL};
        assert_fails(context, qn_archive_write(context, path, &desc), rows[i].status, rows[i].message);
    }
    qn_archive_write_desc desc = {.arrays = two, .count = 2};
    assert_fails(context, qn_archive_write(context, path, &desc), QN_ERROR_ARGUMENT,
                 "two arrays are called 'a'");
    two[1].name = "b";
    desc.format = QN_FILE_NPY;
    assert_fails(context, qn_archive_write(context, path, &desc), QN_ERROR_ARGUMENT,
                 ".npy is of one array, not 2");
    assert_no_file(folder, "a.safetensors.part");
    desc.format = QN_FILE_ANY;
    two[1].data = NULL;
    desc.source = refuse;
    desc.user = context;
    assert_fails(context, qn_archive_write(context, path, &desc), QN_ERROR_TIMEOUT,
                 "the source gave nothing");
    assert_no_file(folder, "a.safetensors.part");
    assert_no_file(folder, "a.safetensors");
    two[1].data = "";
    snprintf(inside, sizeof inside, "%s/no/a.npz", folder);
    assert_fails(context, qn_archive_write(context, inside, &desc), QN_ERROR_IO,
                 "it cannot be written: No such file");
    assert_fails(context, qn_archive_write(context, in_folder(folder, "a.bin", path), &desc),
                 QN_ERROR_ARGUMENT, "`format` or the name's ending says which");
    assert_fails(context, qn_archive_write(context, NULL, &desc), QN_ERROR_NULL, "path is NULL");
    assert_fails(context, qn_archive_write(context, path, NULL), QN_ERROR_NULL, "desc is NULL");
    desc.arrays = NULL;
    assert_fails(context, qn_archive_write(context, path, &desc), QN_ERROR_NULL, "arrays is NULL");
    assert_int_equal(rmdir(folder), 0); /* nothing was left */
    qn_context_destroy(context);
}

/* A disk that is full. */
static void failed_writes_are_reported(void **state) {
    (void)state;
    qn_context *context = make_context(NULL);
    char folder[64], path[128];
    make_folder(folder);
    in_folder(folder, "a.npy.part", path);
    if (symlink("/dev/full", path) == 0) {
        const qn_archive_write_desc desc = {.arrays = arrays, .count = 1};
        assert_fails(context, qn_archive_write(context, in_folder(folder, "a.npy", path), &desc), QN_ERROR_IO,
                     "it cannot be written: No space left on device");
        assert_no_file(folder, "a.npy");
    }
    rmdir(folder);
    qn_context_destroy(context);
}

/* ---- memory ---- */

static int left; /* allocations that succeed; below 0: all do */
static void *take_some(void *user, size_t size) {
    (void)user;
    return left == 0 ? NULL : (left -= left > 0, malloc(size));
}
static void *take_more(void *user, void *memory, size_t size) {
    (void)user;
    return left == 0 ? NULL : (left -= left > 0, realloc(memory, size));
}
static void give_back(void *user, void *memory) {
    (void)user;
    free(memory);
}

/* All of an archive's elements; the first failure. */
static qn_status read_all(qn_context *context, const char *path) {
    qn_archive *archive = NULL;
    qn_status status = qn_archive_open(context, path, NULL, &archive);
    for (uint64_t i = 0; !status && i < qn_archive_count(archive); i++)
        status = qn_archive_data(archive, qn_archive_at(archive, i), NULL);
    qn_archive_close(archive);
    return status;
}

/* Its sentence is there, though nothing is left to keep it in. The next one is not to be taken for it. */
static void assert_out_of_memory(qn_context *context, qn_status status, const char *path) {
    assert_int_equal(status, QN_ERROR_OUT_OF_MEMORY);
    const char *said = qn_error_message(context);
    if (!strstr(said, path) || !strstr(said, ": out of host memory (")) fail_msg("it says '%s'", said);
    assert_int_equal(qn_error_set(context, QN_OK, ""), QN_OK);
}

static void memory_may_run_out(void **state) {
    (void)state;
    left = -1;
    qn_context *context =
        make_context(&(qn_context_desc){.allocator = {take_some, take_more, give_back, NULL}});
    char folder[64], path[128];
    make_folder(folder);
    static const char *const names[] = {"a.safetensors", "a.npz", "a.npy", "a.csv"};
    for (int i = 0; i < 4; i++) {
        const qn_archive_write_desc desc = {
            .arrays = arrays, .count = i == 2 ? 1 : 3, .metadata = metadata, .metadata_count = i == 0};
        in_folder(folder, names[i], path);
        for (int n = 0, done = i == 3; !done; n++) {
            left = n;
            const qn_status status = qn_archive_write(context, path, &desc);
            left = -1;
            if (status) assert_out_of_memory(context, status, path);
            done = status == QN_OK;
            assert_true(n < 1000);
        }
        if (i == 3) {
            FILE *file = fopen(path, "w");
            fputs("a,b\n1,2\n", file);
            fclose(file);
        }
        int failed = 0;
        for (int done = 0; !done; failed++) {
            left = failed;
            const qn_status status = read_all(context, path);
            left = -1;
            if (status) assert_out_of_memory(context, status, path);
            done = status == QN_OK;
            assert_true(failed < 1000);
        }
        assert_true(failed > 3);
        unlink(path);
    }
    rmdir(folder);
    qn_context_destroy(context);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(encodings_are_known),
                                       cmocka_unit_test(arrays_are_copied_in_order),
                                       cmocka_unit_test(wrong_calls_are_refused),
                                       cmocka_unit_test(what_is_written_is_read),
                                       cmocka_unit_test(what_cannot_be_written_is_refused),
                                       cmocka_unit_test(failed_writes_are_reported),
                                       cmocka_unit_test(memory_may_run_out)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
