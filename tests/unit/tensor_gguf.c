/* GGUF: metadata of all types, arrays in blocks; what is damaged. */
#include "files_support.h"

enum { U8, I8, U16, I16, U32, I32, F32, BOOL, TEXT, LIST, U64, I64, F64 };

static void put_string(bytes *b, const char *text) {
    put_number(b, strlen(text), 8);
    put_text(b, text);
}

static void put_key(bytes *b, const char *key, uint32_t type) {
    put_string(b, key);
    put_number(b, type, 4);
}

static bytes head(uint32_t version, uint64_t arrays, uint64_t metadata) {
    bytes b = {0};
    put_text(&b, "GGUF");
    put_number(&b, version, 4);
    put_number(&b, arrays, 8);
    put_number(&b, metadata, 8);
    return b;
}

/* An array of two dimensions, the inner first as in the file. */
static void put_array(bytes *b, const char *name, uint64_t inner, uint64_t outer, uint32_t type,
                      uint64_t at) {
    put_string(b, name);
    put_number(b, 2, 4);
    put_number(b, inner, 8);
    put_number(b, outer, 8);
    put_number(b, type, 4);
    put_number(b, at, 8);
}

static void put_to(bytes *b, size_t align) {
    while (b->size % align) put_zeros(b, 1);
}

static const qn_metadata *find(const qn_archive *archive, const char *key, qn_metadata_kind kind,
                               uint64_t count) {
    const qn_metadata *m = qn_archive_metadata(archive, key);
    assert_non_null(m);
    assert_string_equal(m->key, key);
    assert_int_equal(m->kind, kind);
    assert_int_equal(m->count, count);
    return m;
}

static void all_is_found(void **state) {
    (void)state;
    qn_context *context = make_context(NULL);
    bytes b = head(3, 2, 6);
    put_key(&b, "general.alignment", U32);
    put_number(&b, 64, 4);
    put_key(&b, "i16", I16);
    put_number(&b, (uint16_t)-2, 2);
    put_key(&b, "f32", F32);
    put(&b, &(float){1.5f}, 4);
    put_key(&b, "texts", LIST);
    put_number(&b, TEXT, 4);
    put_number(&b, 2, 8);
    put_string(&b, "");
    put_number(&b, 3, 8);
    put(&b, "a\0\xff", 3);
    put_key(&b, "lists", LIST);
    put_number(&b, LIST, 4);
    put_number(&b, 2, 8);
    for (uint64_t i = 0; i < 2; i++) {
        put_number(&b, BOOL, 4);
        put_number(&b, i, 8);
        put_zeros(&b, i);
    }
    put_key(&b, "u64", U64);
    put_number(&b, UINT64_MAX, 8);
    put_array(&b, "q", 64, 3, 2, 64); /* Q4_0 */
    put_array(&b, "f", 3, 5, 0, 0);
    put_to(&b, 64);
    put_zeros(&b, 64);
    for (int i = 0; i < 6 * 18; i++) put_number(&b, (uint64_t)i, 1);
    qn_archive *archive = open_bytes(context, &b, QN_FILE_ANY);
    assert_int_equal(qn_archive_format(archive), QN_FILE_GGUF);
    const qn_host_array *q = qn_archive_at(archive, 0), *f = qn_archive_find(archive, "f");
    assert_int_equal(q->encoding, QN_ENCODING_Q4_0);
    assert_int_equal(q->sizes[0], 3);
    assert_int_equal(q->sizes[1], 64);
    assert_int_equal(q->bytes, 6 * 18);
    assert_int_equal(f->sizes[0], 5);
    assert_int_equal(f->bytes, 60);
    assert_ok(context, qn_archive_data(archive, q, NULL));
    assert_memory_equal(q->data, b.data + b.size - 6 * 18, 6 * 18);
    assert_int_equal(*find(archive, "general.alignment", QN_METADATA_UNSIGNED, 1)->values.numbers, 64);
    assert_int_equal(*find(archive, "i16", QN_METADATA_INTEGER, 1)->values.integers, -2);
    assert_true(*find(archive, "f32", QN_METADATA_FLOAT, 1)->values.floats == 1.5);
    assert_true(*find(archive, "u64", QN_METADATA_UNSIGNED, 1)->values.numbers == UINT64_MAX);
    const qn_metadata *texts = find(archive, "texts", QN_METADATA_TEXT, 2);
    assert_true(texts->is_list);
    assert_int_equal(texts->values.texts[0].size, 0);
    assert_int_equal(texts->values.texts[1].size, 3);
    assert_memory_equal(texts->values.texts[1].text, "a\0\xff", 4);
    const qn_metadata *lists = find(archive, "lists", QN_METADATA_LIST, 2);
    assert_int_equal(lists->values.lists[0].count, 0);
    assert_int_equal(lists->values.lists[1].kind, QN_METADATA_BOOL);
    assert_false(lists->values.lists[1].values.bools[0]);
    qn_archive_close(archive);
    assert_parts_refused(context, &b, QN_FILE_GGUF, b.size);
    free(b.data);
    qn_context_destroy(context);
}

/* A file of version 3 with one piece of metadata of this type, of `size` bytes of `fill`. */
static bytes with_metadata(const char *key, uint32_t type, uint64_t number, unsigned size) {
    bytes b = head(3, 0, 1);
    put_key(&b, key, type);
    put_number(&b, number, size);
    return b;
}

static bytes with_array(const char *name, uint64_t inner, uint64_t outer, uint32_t type, uint64_t at) {
    bytes b = head(3, 1, 0);
    put_array(&b, name, inner, outer, type, at);
    put_to(&b, 32);
    put_zeros(&b, 64);
    return b;
}

static void damaged_metadata_is_refused(void **state) {
    (void)state;
    qn_context *context = make_context(NULL);
    bytes b = {0};
    put_text(&b, "GGML1234");
    assert_refused(context, &b, QN_FILE_GGUF, QN_ERROR_ARGUMENT, "it does not begin as GGUF files do");
    b = head(1, 0, 0);
    assert_refused(context, &b, QN_FILE_GGUF, QN_ERROR_UNSUPPORTED,
                   "it is of GGUF's version 1; 2 and 3 are known");
    b = head(3u << 24, 0, 0);
    assert_refused(context, &b, QN_FILE_GGUF, QN_ERROR_UNSUPPORTED, "it is big-endian");
    b = head(3, UINT64_MAX, 0);
    assert_refused(context, &b, QN_FILE_GGUF, QN_ERROR_ARGUMENT, "it ends within the name of an array");
    b = head(3, 0, UINT64_MAX);
    assert_refused(context, &b, QN_FILE_GGUF, QN_ERROR_ARGUMENT, "it ends within a key of the metadata");
    b = with_metadata("", U8, 0, 1);
    assert_refused(context, &b, QN_FILE_GGUF, QN_ERROR_ARGUMENT,
                   "a key of the metadata is empty, too long or no UTF-8: ''");
    b = with_metadata("\xff", U8, 0, 1);
    assert_refused(context, &b, QN_FILE_GGUF, QN_ERROR_ARGUMENT,
                   "a key of the metadata is empty, too long or no UTF-8");
    b = with_metadata("k", 13, 0, 8);
    assert_refused(context, &b, QN_FILE_GGUF, QN_ERROR_ARGUMENT,
                   "the metadata 'k' is of type 13, which is none");
    b = with_metadata("k", TEXT, UINT64_MAX, 8);
    assert_refused(context, &b, QN_FILE_GGUF, QN_ERROR_ARGUMENT, "it ends within metadata");
    for (uint32_t type = 0; type <= F64;
         type++) { /* lists of more than the file has, and more than 64 bits count */
        for (int i = 0; i < 3; i++) {
            b = with_metadata("k", LIST, type, 4);
            put_number(&b, i == 0 ? 100 : i == 1 ? UINT64_MAX : UINT64_MAX / 8 + 2, 8);
            put_zeros(&b, 90);
            assert_refused(context, &b, QN_FILE_GGUF, QN_ERROR_ARGUMENT, "it ends within metadata");
        }
    }
    b = with_metadata("k", LIST, LIST, 4);
    for (int i = 0; i < 100000; i++) {
        put_number(&b, 1, 8);
        put_number(&b, LIST, 4);
    }
    assert_refused(context, &b, QN_FILE_GGUF, QN_ERROR_UNSUPPORTED,
                   "the lists of the metadata 'k' are nested more than 8 deep");
    b = head(3, 0, 2);
    for (int i = 0; i < 2; i++) {
        put_key(&b, "k", U8);
        put_number(&b, 0, 1);
    }
    assert_refused(context, &b, QN_FILE_GGUF, QN_ERROR_ARGUMENT, "two pieces of metadata are called 'k'");
    qn_context_destroy(context);
}

static void damaged_arrays_are_refused(void **state) {
    (void)state;
    qn_context *context = make_context(NULL);
    bytes b;
    for (uint32_t alignment = 0; alignment < 3; alignment++) { /* 0, 12, a text */
        b = with_metadata("general.alignment", alignment == 2 ? TEXT : U32,
                          alignment == 2 ? 0 : 12 * alignment, alignment == 2 ? 8 : 4);
        assert_refused(context, &b, QN_FILE_GGUF, QN_ERROR_ARGUMENT,
                       "'general.alignment' is no multiple of 8");
    }
    b = with_array("", 2, 2, 0, 0);
    assert_refused(context, &b, QN_FILE_GGUF, QN_ERROR_ARGUMENT, "the name of an array is empty");
    b = with_array("a", 2, 2, 4, 0);
    assert_refused(context, &b, QN_FILE_GGUF, QN_ERROR_UNSUPPORTED,
                   "'a' is of ggml's type 4, which is not known");
    b = with_array("a", 31, 32, 2, 0);
    assert_refused(context, &b, QN_FILE_GGUF, QN_ERROR_ARGUMENT,
                   "'a' has rows of 31 elements, which are no whole blocks of 32");
    b = with_array("a", UINT64_MAX, UINT64_MAX, 0, 0);
    assert_refused(context, &b, QN_FILE_GGUF, QN_ERROR_ARGUMENT, "'a' has more elements than 63 bits count");
    b = with_array("a", 16, 2, 0, 0);
    assert_refused(
        context, &b, QN_FILE_GGUF, QN_ERROR_ARGUMENT,
        "'a' is said to be 128 bytes from byte 0 of the data on, which are 64 bytes, aligned to 32");
    b = with_array("a", 2, 2, 0, 16);
    assert_refused(context, &b, QN_FILE_GGUF, QN_ERROR_ARGUMENT, "'a' is said to be 16 bytes from byte 16");
    b = with_array("a", 2, 2, 0, 96);
    assert_refused(context, &b, QN_FILE_GGUF, QN_ERROR_ARGUMENT, "'a' is said to be 16 bytes from byte 96");
    b = with_array("a", 2, 2, 0, UINT64_MAX - 31);
    assert_refused(context, &b, QN_FILE_GGUF, QN_ERROR_ARGUMENT,
                   "'a' is said to be 16 bytes from byte 18446744073709551584");
    b = head(3, 1, 0);
    put_string(&b, "a");
    put_number(&b, 9, 4);
    put_zeros(&b, 200);
    assert_refused(context, &b, QN_FILE_GGUF, QN_ERROR_UNSUPPORTED,
                   "'a' has 9 dimensions; at most 8 are possible");
    b = head(2, 2, 0);
    put_array(&b, "a", 1, 1, 0, 0);
    put_array(&b, "a", 1, 1, 0, 32);
    put_to(&b, 32);
    put_zeros(&b, 64);
    assert_refused(context, &b, QN_FILE_GGUF, QN_ERROR_ARGUMENT, "two arrays are called 'a'");
    qn_context_destroy(context);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(all_is_found),
                                       cmocka_unit_test(damaged_metadata_is_refused),
                                       cmocka_unit_test(damaged_arrays_are_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
