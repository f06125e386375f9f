/* safetensors: what a header says is found; what does not fit together is refused, with a sentence. */
#include "files_support.h"

static bytes file_of(const char *header, size_t data) {
    bytes b = {0};
    put_number(&b, strlen(header), 8);
    put_text(&b, header);
    for (size_t i = 0; i < data; i++) put(&b, &(uint8_t){(uint8_t)i}, 1);
    return b;
}

static void arrays_are_found(void **state) {
    (void)state;
    qn_context *context = make_context(NULL);
    /* In no order; without bytes; of an unknown field; escaped names. */
    bytes b = file_of("{ \"b\\u00e9\\ud83d\\ude00\\n\" : {\"shape\":[2, "
                      "3],\"dtype\":\"I16\",\"data_offsets\":[4,16], \"x\":"
                      "[1,{\"y\":[[],{},null,-1.5e+3,true]}]},\n\"a\":{\"data_offsets\":[0,4],\"dtype\":"
                      "\"F32\",\"shape\":[]},"
                      "\"__metadata__\":{\"k\":\"v\",\"\":\"\"},\"none\":{\"dtype\":\"F64\",\"shape\":[7,0],"
                      "\"data_offsets\":[4,4]}}   ",
                      16);
    qn_archive *archive = open_bytes(context, &b, QN_FILE_ANY);
    assert_int_equal(qn_archive_format(archive), QN_FILE_SAFETENSORS);
    assert_int_equal(qn_archive_count(archive), 3);
    const qn_host_array *first = qn_archive_at(archive, 0), *a = qn_archive_find(archive, "a"),
                        *none = qn_archive_find(archive, "none");
    assert_string_equal(first->name, "b\xc3\xa9\xf0\x9f\x98\x80\n");
    assert_ptr_equal(first, qn_archive_find(archive, first->name));
    assert_int_equal(first->encoding, QN_ENCODING_I16);
    assert_int_equal(first->rank, 2);
    assert_int_equal(first->sizes[0], 2);
    assert_int_equal(first->sizes[1], 3);
    assert_int_equal(first->bytes, 12);
    assert_null(first->data);
    const void *data;
    assert_ok(context, qn_archive_data(archive, first, &data));
    assert_ptr_equal(data, first->data);
    assert_memory_equal(data, "\4\5\6\7\x8\x9\xa\xb\xc\xd\xe\xf", 12);
    assert_int_equal((uintptr_t)data % 2, 0);
    qn_archive_forget(archive, first);
    assert_null(first->data);
    assert_int_equal(a->rank, 0);
    assert_int_equal(qn_host_array_count(a), 1);
    assert_int_equal(none->bytes, 0);
    assert_ok(context, qn_archive_data(archive, none, &data));
    assert_null(qn_archive_find(archive, "c"));
    assert_null(qn_archive_at(archive, 3));
    assert_string_equal(qn_archive_metadata(archive, "k")->values.texts->text, "v");
    assert_int_equal(qn_archive_metadata(archive, "")->values.texts->size, 0);
    assert_null(qn_archive_metadata(archive, "l"));
    assert_null(qn_archive_metadata_at(archive, 2));
    qn_archive_close(archive);
    free(b.data);
    b = file_of("{}", 0);
    archive = open_bytes(context, &b, QN_FILE_ANY);
    assert_int_equal(qn_archive_count(archive), 0);
    qn_archive_close(archive);
    free(b.data);
    qn_context_destroy(context);
}

/* Elements are used where they lie in the file, if that is aligned. */
static void nothing_is_copied(void **state) {
    (void)state;
    qn_context *context = make_context(NULL);
    for (unsigned shift = 0; shift < 2; shift++) {
        bytes b = file_of("{\"a\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8]}}  ", 8);
        uint8_t *memory = aligned_alloc(16, 256);
        assert_non_null(memory);
        memcpy(memory + shift, b.data, b.size);
        qn_archive *archive;
        assert_ok(context, qn_archive_open_memory(context, memory + shift, b.size, NULL, NULL, &archive));
        const void *data;
        assert_ok(context, qn_archive_data(archive, qn_archive_at(archive, 0), &data));
        assert_int_equal(data == memory + shift + b.size - 8, shift == 0);
        assert_int_equal((uintptr_t)data % 4, 0);
        assert_memory_equal(data, b.data + b.size - 8, 8);
        qn_archive_close(archive);
        free(memory);
        free(b.data);
    }
    qn_context_destroy(context);
}

#define ONE(text) "{\"a\":{" text "}}"
#define AN(dtype, shape, offsets)                                                                            \
    "\"dtype\":\"" dtype "\",\"shape\":[" shape "],\"data_offsets\":[" offsets "]"

static void what_does_not_fit_is_refused(void **state) {
    (void)state;
    static const struct {
        const char *header;
        size_t data;
        const char *message;
        qn_status status;
    } rows[] = {
        {"", 0, "byte 0 of the header: an object, '{', was expected", 0},
        {" {}", 0, "byte 0 of the header: an object, '{', was expected", 0},
        {"[]", 0, "an object, '{', was expected", 0},
        {"{", 0, "byte 1 of the header: a string was expected", 0},
        {"{} {", 0, "byte 3 of the header: there is something behind the end", 0},
        {"{\"a\"}", 0, "':' was expected", 0},
        {"{\"a\":{\"dtype\":\"F32\",\"shape\":4}}", 0, "an array, '[', was expected", 0},
        {"{\"a", 0, "byte 2 of the header: a string begins here that does not end", 0},
        {"{\"a\\", 0, "a string begins here that does not end", 0},
        {"{\"a\":1}", 0, "an object, '{', was expected", 0},
        {"{\"a\1\":{}}", 0, "byte 3 of the header: there is a control character in a string", 0},
        {"{\"\\x\":{}}", 0, "there is an escape in this string that is none", 0},
        {"{\"\\ud800\":{}}", 0, "there is an escape", 0},
        {"{\"\\ud800\\u0041\":{}}", 0, "there is an escape", 0},
        {"{\"\\udc00\":{}}", 0, "there is an escape", 0},
        {"{\"\\u12g4\":{}}", 0, "there is an escape", 0},
        {"{\"\\u0000\":{}}", 0, "this string is no UTF-8, or has a zero in it", 0},
        {"{\"\xff\":{}}", 0, "this string is no UTF-8", 0},
        {"{\"\xc0\x80\":{}}", 0, "this string is no UTF-8", 0},
        {"{\"\xed\xa0\x80\":{}}", 0, "this string is no UTF-8", 0},
        {"{\"\xf4\x90\x80\x80\":{}}", 0, "this string is no UTF-8", 0},
        {"{\"\xe4\xb8\":{}}", 0, "this string is no UTF-8", 0},
        {ONE(AN("F32", "1", "0,4")) ",", 4, "there is something behind the end", 0},
        {"{\"a\":{" AN("F32", "1", "0,4") "},}", 4, "a string was expected", 0},
        {"{\"a\":{" AN("F32", "1", "0,4") "} \"b\":{}}", 4, "',' or '}' was expected", 0},
        {"{\"a\":{" AN("F32", "1", "0,4") "},\"a\":{" AN("F32", "1", "4,8") "}}", 8,
         "two arrays are called 'a'", 0},
        {ONE("\"dtype\":\"F32\",\"dtype\":\"F32\""), 0, "an array has this field twice", 0},
        {ONE("\"shape\":[],\"shape\":[]"), 0, "an array has this field twice", 0},
        {ONE(""), 0, "'a' has no 'dtype'", 0},
        {ONE("\"dtype\":\"F32\""), 0, "'a' has no 'shape'", 0},
        {ONE("\"dtype\":\"F32\",\"shape\":[]"), 0, "'a' has no 'data_offsets'", 0},
        {ONE("\"dtype\":32"), 0, "a string was expected", 0},
        {ONE(AN("F31", "", "0,4")), 4, "'a' is of type 'F31', which is not known", QN_ERROR_UNSUPPORTED},
        {ONE(AN("F32", "1,1,1,1,1,1,1,1,1", "0,4")), 4, "'a' has 9 dimensions; at most 8 are possible",
         QN_ERROR_UNSUPPORTED},
        {ONE(AN("F32", "-1", "0,4")), 4, "an integer from 0 to 2^64 - 1 was expected", 0},
        {ONE(AN("F32", "1.0", "0,4")), 4, "an integer from 0 to 2^64 - 1 was expected", 0},
        {ONE(AN("F32", "1e0", "0,4")), 4, "an integer from 0 to 2^64 - 1 was expected", 0},
        {ONE(AN("F32", "01", "0,4")), 4, "an integer from 0 to 2^64 - 1 was expected", 0},
        {ONE(AN("F32", "18446744073709551616", "0,4")), 4, "an integer from 0 to 2^64 - 1 was expected", 0},
        {ONE(AN("F32", "18446744073709551615,2", "0,4")), 4, "'a' has more elements than 63 bits count", 0},
        {ONE(AN("F32", "4611686018427387904", "0,4")), 4, "'a' has more elements than 63 bits count", 0},
        {ONE(AN("F32", "1,", "0,4")), 4, "an integer from 0", 0},
        {ONE(AN("F32", "1 1", "0,4")), 4, "',' or ']' was expected", 0},
        {ONE(AN("F32", "1", "0")), 4, "',' was expected", 0},
        {ONE(AN("F32", "1", "0,4,8")), 4, "',' or ']' was expected", 0},
        {ONE(AN("F32", "1", "4,0")), 4, "'a' is said to lie from byte 4 to 0 of the data, which are 4 bytes",
         0},
        {ONE(AN("F32", "1", "0,5")), 4, "'a' is said to lie from byte 0 to 5", 0},
        {ONE(AN("F32", "1", "0,3")), 4, "'a' takes 4 bytes by its type and shape, but has 3", 0},
        {ONE(AN("F32", "2", "0,4")), 4, "'a' takes 8 bytes by its type and shape, but has 4", 0},
        {ONE(AN("F4", "3", "0,2")), 2, "'a' has 3 elements; those of e2m1 come in blocks of 2", 0},
        {"{\"a\":{" AN("U8", "4", "0,4") "},\"b\":{" AN("U8", "4", "3,7") "}}", 7,
         "'b' overlaps the array before it, which ends at byte 4", 0},
        {"{\"a\":{" AN("U8", "4", "0,4") "},\"b\":{" AN("U8", "4", "0,4") "}}", 4, "'b' overlaps", 0},
        {"{\"a\":{" AN("U8", "4", "0,4") "},\"b\":{" AN("U8", "2", "5,7") "}}", 7,
         "bytes 4 to 5 of the data belong to no array", 0},
        {ONE(AN("U8", "4", "0,4")), 6, "bytes 4 to 6 of the data belong to no array", 0},
        {"{\"__metadata__\":{\"a\":1}}", 0, "a string was expected", 0},
        {"{\"__metadata__\":[]}", 0, "an object", 0},
        {"{\"__metadata__\":{\"a\":\"\",\"a\":\"\"}}", 0, "two pieces of metadata are called 'a'", 0},
        {"{\"__metadata__\":{},\"__metadata__\":{}}", 0, "there is metadata twice", 0},
        {ONE("\"x\":tru"), 0, "a value was expected", 0},
        {ONE("\"x\":+1"), 0, "a value was expected", 0},
        {ONE("\"x\":"), 0, "a value was expected", 0},
        {ONE("\"x\":[1,]"), 0, "a value was expected", 0},
        {ONE("\"x\":[1}"), 0, "',' or ']' was expected", 0},
        {ONE("\"x\":{\"y\":1]"), 0, "',' or '}' was expected", 0},
        {ONE("\"x\":{1:1}"), 0, "a string was expected", 0},
    };
    qn_context *context = make_context(NULL);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        bytes b = file_of(rows[i].header, rows[i].data);
        assert_refused(context, &b, QN_FILE_SAFETENSORS, rows[i].status ? rows[i].status : QN_ERROR_ARGUMENT,
                       rows[i].message);
    }
    qn_context_destroy(context);
}

static void damaged_files_are_refused(void **state) {
    (void)state;
    qn_context *context = make_context(NULL);
    bytes b = {0};
    assert_refused(context, &b, QN_FILE_SAFETENSORS, QN_ERROR_ARGUMENT,
                   "it is 0 bytes long, but a safetensors file begins with 8 bytes");
    for (uint64_t length = 3; length; length = length == 3           ? 100000001
                                               : length == 100000001 ? UINT64_MAX
                                                                     : 0) {
        put_number(&b, length, 8);
        put_text(&b, "{}");
        char message[128];
        snprintf(message, sizeof message,
                 "its header is said to be %llu bytes long; 2 follow, and 100000000 are",
                 (unsigned long long)length);
        assert_refused(context, &b, QN_FILE_SAFETENSORS, QN_ERROR_ARGUMENT, message);
    }
    b = file_of("{\"a\":{" AN("U8", "4", "0,4") "},\"b\":{" AN("U8", "2", "4,6") "}}", 6);
    assert_parts_refused(context, &b, QN_FILE_SAFETENSORS, b.size);
    free(b.data);
    /* Nested: 62 deep in what is left out is fine, a million is not. */
    for (int deep = 62; deep < 2000000; deep += 999938) {
        b = (bytes){0};
        const size_t size =
            strlen("{\"a\":{\"x\":") + 2 * (size_t)deep + strlen("," AN("U8", "1", "0,1") "}}");
        put_number(&b, size, 8);
        put_text(&b, "{\"a\":{\"x\":");
        for (int i = 0; i < deep; i++) put_text(&b, "[");
        for (int i = 0; i < deep; i++) put_text(&b, "]");
        put_text(&b, "," AN("U8", "1", "0,1") "}}");
        put_zeros(&b, 1);
        if (deep > 62) {
            assert_refused(context, &b, QN_FILE_SAFETENSORS, QN_ERROR_ARGUMENT,
                           "values are nested more than 64 deep");
            continue;
        }
        qn_archive_close(open_bytes(context, &b, QN_FILE_ANY));
        free(b.data);
    }
    qn_context_destroy(context);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arrays_are_found), cmocka_unit_test(nothing_is_copied),
        cmocka_unit_test(what_does_not_fit_is_refused), cmocka_unit_test(damaged_files_are_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
