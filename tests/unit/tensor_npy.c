/* NumPy's files: versions, orders and types of .npy; stored and deflated entries of .npz; what is damaged. */
#include "files_support.h"

static bytes npy_of(int version, const char *header, size_t data) {
    bytes b = {0};
    put(&b, "\x93NUMPY", 6);
    put_number(&b, (uint64_t)version, 2);
    put_number(&b, strlen(header), version == 1 ? 2 : 4);
    put_text(&b, header);
    for (size_t i = 0; i < data; i++) put(&b, &(uint8_t){(uint8_t)i}, 1);
    return b;
}

static void orders_are_seen(void **state) {
    (void)state;
    qn_context *context = make_context(NULL);
    bytes b = npy_of(3, "{\"fortran_order\": True, 'shape' : (2L, 3), 'descr':'>i2'} \n", 12);
    qn_archive *archive = open_bytes(context, &b, QN_FILE_ANY);
    const qn_host_array *array = qn_archive_find(archive, "data");
    assert_int_equal(qn_archive_format(archive), QN_FILE_NPY);
    assert_int_equal(array->encoding, QN_ENCODING_I16);
    assert_int_equal(array->strides[0], 1);
    assert_int_equal(array->strides[1], 2);
    assert_ok(context, qn_archive_data(archive, array, NULL));
    int16_t got[6];
    const int16_t wanted[] = {0x0001, 0x0405, 0x0809, 0x0203, 0x0607, 0x0a0b};
    assert_int_equal(qn_host_array_copy(array, got, 11), QN_ERROR_RANGE);
    assert_int_equal(qn_host_array_copy(array, got, 12), QN_OK);
    assert_memory_equal(got, wanted, sizeof wanted);
    qn_archive_close(archive);
    free(b.data);
    qn_context_destroy(context);
}

static void damaged_npy_is_refused(void **state) {
    (void)state;
#define SHAPE(text) "{'descr': '<f4', 'fortran_order': False, 'shape': " text ", }\n"
#define DESCR(text) "{'descr': " text ", 'fortran_order': False, 'shape': (1,), }\n"
    static const struct {
        const char *header;
        const char *message;
        qn_status status;
        int version; /* 0: 1 */
    } rows[] = {
        {SHAPE("(2,)"), "'data' takes 8 bytes by its type and shape, but 4 follow", 0, 0},
        {SHAPE("(4611686018427387904,)"), "'data' has more elements than 63 bits count", 0, 0},
        {SHAPE("(4294967296, 4294967296)"), "'data' has more elements than 63 bits count", 0, 0},
        {SHAPE("(18446744073709551616,)"), "a size in 'shape' is no number", 0, 0},
        {SHAPE("(-1,)"), "a size in 'shape' is no number", 0, 0},
        {SHAPE("(,)"), "a size in 'shape' is no number", 0, 0},
        {SHAPE("(1 1)"), "the sizes in 'shape' have no commas between", 0, 0},
        {SHAPE("(1)"), "'shape' is no tuple", 0, 0},
        {SHAPE("1"), "'shape' is no tuple", 0, 0},
        {SHAPE("(1,1,1,1,1,1,1,1,1)"), "'data' has more than 8 dimensions", QN_ERROR_UNSUPPORTED, 0},
        {SHAPE("(1,), 'x': 1"), "a key other than", 0, 0},
        {SHAPE("(1,), 'shape': (1,)"), "or one twice", 0, 0},
        {SHAPE("(1,) 'x'"), "a comma is missing", 0, 0},
        {SHAPE("(1,)") "x", "there is something behind it", 0, 0},
        {"{'shape': (1,", "a size in 'shape' is no number", 0, 0},
        {"{'descr': '<f4", "'descr' is no string", 0, 0},
        {"{'descr", "a key was expected", 0, 0},
        {"{}", "it lacks one of 'descr', 'fortran_order' and 'shape'", 0, 0},
        {"(", "it is no dictionary", 0, 0},
        {"", "it is no dictionary", 0, 0},
        {"{'fortran_order': Truth}", "'fortran_order' is neither True nor False", 0, 0},
        {DESCR("[('a', '<f4')]"), "'data' has structured elements; save its fields as arrays",
         QN_ERROR_UNSUPPORTED, 0},
        {DESCR("'|O'"), "'data' has elements of NumPy's type '|O'; numbers", QN_ERROR_UNSUPPORTED, 0},
        {DESCR("'<U7'"), "NumPy's type '<U7'", QN_ERROR_UNSUPPORTED, 0},
        {DESCR("'<M8[ns]'"), "NumPy's type '<M8[ns]'", QN_ERROR_UNSUPPORTED, 0},
        {DESCR("'<f16'"), "NumPy's type '<f16'", QN_ERROR_UNSUPPORTED, 0},
        {DESCR("'>V2'"), "NumPy's type '>V2'", QN_ERROR_UNSUPPORTED, 0},
        {DESCR("''"), "NumPy's type ''", QN_ERROR_UNSUPPORTED, 0},
        {DESCR("'<f\\x34'"), "'descr' is no string", 0, 0},
        {SHAPE("(1,)"), "'data' is of version 4 of NumPy's format; 1 to 3 are known", QN_ERROR_UNSUPPORTED,
         4},
    };
    qn_context *context = make_context(NULL);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        bytes b = npy_of(rows[i].version ? rows[i].version : 1, rows[i].header, 4);
        assert_refused(context, &b, QN_FILE_NPY, rows[i].status ? rows[i].status : QN_ERROR_ARGUMENT,
                       rows[i].message);
    }
    bytes b = npy_of(2, SHAPE("(2, 1)"), 8);
    assert_parts_refused(context, &b, QN_FILE_NPY, b.size);
    b.data[11] = 1; /* the header's length */
    assert_refused(context, &b, QN_FILE_NPY, QN_ERROR_ARGUMENT, "bytes long; ");
    put_text(&b, "no file at all");
    assert_refused(context, &b, QN_FILE_NPY, QN_ERROR_ARGUMENT, "does not begin as NumPy's .npy files do");
    qn_context_destroy(context);
}

/* ---- .npz ---- */

/* One entry, "a.npy", whose bytes are `packed`; what is wrong with it is written over afterwards. */
typedef struct zip {
    bytes file;
    size_t record, end; /* where these begin */
} zip;

enum { NAME = 5, STORED = 0, DEFLATED = 8 };

static zip zip_of(const bytes *packed, unsigned method, uint32_t crc, uint64_t whole) {
    zip z = {0};
    bytes *f = &z.file;
    for (int i = 0; i < 2; i++) {
        if (i) z.record = f->size;
        put(f, i ? "PK\1\2\24\0" : "PK\3\4", i ? 6 : 4);
        put_number(f, 20, 2);
        put_number(f, 0, 2);
        put_number(f, method, 2);
        put_number(f, 0, 4);
        put_number(f, crc, 4);
        put_number(f, packed->size, 4);
        put_number(f, whole, 4);
        put_number(f, NAME, 2);
        put_zeros(f, i ? 16 : 2);
        put_text(f, "a.npy");
        if (!i) put(f, packed->data, packed->size);
    }
    z.end = f->size;
    put(f, "PK\5\6\0\0\0\0\1\0\1\0", 12);
    put_number(f, z.end - z.record, 4);
    put_number(f, z.record, 4);
    put_number(f, 0, 2);
    return z;
}

/* What zlib makes of npy_of(1, SHAPE("(2,)"), 8), its size and the checksum of it. */
static const uint8_t deflated[] = {
    0x9b, 0xec, 0x17, 0xea, 0x1b, 0x10, 0xc9, 0xc8, 0x60, 0xc5, 0x50, 0xad, 0x9e, 0x92, 0x5a,
    0x9c, 0x5c, 0xa4, 0x6e, 0xa5, 0xa0, 0x6e, 0x93, 0x66, 0xa2, 0xae, 0xa3, 0xa0, 0x9e, 0x96,
    0x5f, 0x54, 0x52, 0x94, 0x98, 0x17, 0x9f, 0x5f, 0x94, 0x92, 0x0a, 0x12, 0x77, 0x4b, 0xcc,
    0x29, 0x4e, 0x05, 0x8a, 0x17, 0x67, 0x24, 0x16, 0xa4, 0x02, 0xf9, 0x1a, 0x46, 0x3a, 0x9a,
    0x3a, 0x0a, 0xb5, 0x5c, 0x0c, 0x8c, 0x4c, 0xcc, 0x2c, 0xac, 0x6c, 0xec, 0x00};
enum { INFLATED = 76, CRC = 0x3d67beac };

static zip good_zip(void) {
    bytes packed = {0};
    put(&packed, deflated, sizeof deflated);
    const zip z = zip_of(&packed, DEFLATED, CRC, INFLATED);
    free(packed.data);
    return z;
}

static void entries_are_inflated(void **state) {
    (void)state;
    qn_context *context = make_context(NULL);
    zip z = good_zip();
    qn_archive *archive = open_bytes(context, &z.file, QN_FILE_ANY);
    assert_int_equal(qn_archive_format(archive), QN_FILE_NPZ);
    const qn_host_array *a = qn_archive_find(archive, "a");
    assert_int_equal(a->encoding, QN_ENCODING_F32);
    assert_int_equal(a->sizes[0], 2);
    for (int i = 0; i < 2; i++) {
        assert_null(a->data);
        const void *data;
        assert_ok(context, qn_archive_data(archive, a, &data));
        assert_memory_equal(data, "\0\1\2\3\4\5\6\7", 8);
        assert_int_equal((uintptr_t)data % 4, 0);
        qn_archive_forget(archive, a);
    }
    qn_archive_close(archive);
    free(z.file.data);
    qn_context_destroy(context);
}

/* Numbers written over what is at a place. */
typedef struct damage {
    int from; /* 0: the beginning; 1: the directory; 2: its end; 3: the entry's bytes */
    int at;
    uint64_t number;
    unsigned size;
    const char *message;
    qn_status status;
} damage;

static void overwrite(zip *z, const damage *d) {
    const size_t bases[] = {0, z->record, z->end, 30 + NAME};
    for (unsigned i = 0; i < d->size; i++)
        z->file.data[bases[d->from] + (size_t)d->at + i] = (uint8_t)(d->number >> 8 * i);
}

static void damaged_npz_is_refused(void **state) {
    (void)state;
    static const damage rows[] = {
        {2, 0, 0, 1, "its directory's end is missing", 0},
        {2, 20, 1, 1, "its directory's end is missing", 0},
        {2, 4, 1, 1, "it is one of several parts", 0},
        {2, 12, 0xffff, 2, "its directory lies outside of it", 0},
        {2, 16, 0xffffffff, 4, "its directory lies outside of it", 0},
        {2, 10, 2, 1, "its directory has fewer entries than it says", 0},
        {2, 10, 0, 1, "its directory has more entries than it says", 0},
        {1, 0, 0, 1, "its directory is damaged", 0},
        {1, 28, 100, 2, "its directory is damaged", 0},
        {1, 28, 0, 2, "the name '' is empty or no UTF-8", 0},
        {1, 46, 0xff, 1, "is empty or no UTF-8", 0},
        {1, 8, 1, 1, "'a.npy' is encrypted", QN_ERROR_UNSUPPORTED},
        {1, 10, 12, 1, "'a.npy' is compressed by method 12 of zip's; only deflate, 8, is known",
         QN_ERROR_UNSUPPORTED},
        {1, 10, 0, 1, "'a.npy' cannot be 76 bytes when it is 73 in the file", 0},
        {1, 24, 100000000, 4, "'a.npy' cannot be 100000000 bytes when it is 73 in the file", 0},
        {1, 24, 0xffffffff, 4, "its directory is damaged", 0}, /* a 64-bit size that is not there */
        {1, 42, 1, 1, "'a.npy' does not begin where the directory says", 0},
        {1, 42, 0x10000, 4, "'a.npy' does not begin where the directory says", 0},
        {1, 20, 100, 1, "'a.npy' is said to be 100 bytes, more than the file has", 0},
        {0, 26, 0xffff, 2, "'a.npy' is said to be 73 bytes, more than the file has", 0},
        {3, 0, 7, 1, "the compressed bytes of 'a' are damaged: there is a block of a kind that is none", 0},
        {3, 0, 0, 5, "are damaged: the size of a stored block is damaged", 0},
        {3, 0, 0xffff000101, 5, "are damaged: the size of a stored block is damaged", 0},
        {3, 0, 0xffff000001, 5, "are damaged: they are fewer than the file says", 0},
        {3, 1, 0, 1, "there is a distance to before the beginning", 0},
        {1, 24, 75, 1, "'a' takes 8 bytes by its type and shape, but 7 follow", 0},
        {1, 24, 9, 1, "'a' does not begin as NumPy's .npy files do", 0},
        {1, 24, 77, 1, "the compressed bytes of 'a' are damaged: they are fewer than the file says", 0},
    };
    qn_context *context = make_context(NULL);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        zip z = good_zip();
        overwrite(&z, &rows[i]);
        assert_refused(context, &z.file, QN_FILE_NPZ, rows[i].status ? rows[i].status : QN_ERROR_ARGUMENT,
                       rows[i].message);
    }
    zip z = good_zip();
    assert_parts_refused(context, &z.file, QN_FILE_NPZ, z.file.size);
    free(z.file.data);
    qn_context_destroy(context);
}

/* A checksum is looked at when the elements are asked for; a wrong one leaves the archive as it was. */
static void damaged_elements_are_refused(void **state) {
    (void)state;
    qn_context *context = make_context(NULL);
    zip z = good_zip();
    overwrite(&z, &(damage){1, 16, 1, 4, NULL, 0});
    qn_archive *archive = open_bytes(context, &z.file, QN_FILE_NPZ);
    const void *data = archive;
    for (int again = 0; again < 2; again++) {
        assert_fails(context, qn_archive_data(archive, qn_archive_at(archive, 0), &data), QN_ERROR_ARGUMENT,
                     "the checksum of 'a' is wrong");
        assert_null(data);
        assert_null(qn_archive_at(archive, 0)->data);
    }
    qn_archive_close(archive);
    free(z.file.data);
    qn_context_destroy(context);
}

/* Whatever bit is wrong: a status, or elements that are right by their checksum. */
static void any_bit_may_be_wrong(void **state) {
    (void)state;
    qn_context *context = make_context(NULL);
    zip z = good_zip();
    uint32_t refused = 0;
    for (size_t bit = 0; bit < 8 * z.file.size; bit++) {
        uint8_t *exact = malloc(z.file.size);
        assert_non_null(exact);
        memcpy(exact, z.file.data, z.file.size);
        exact[bit / 8] ^= (uint8_t)(1u << bit % 8);
        qn_archive *archive;
        qn_status status = qn_archive_open_memory(context, exact, z.file.size, NULL, NULL, &archive);
        const void *data;
        if (!status) status = qn_archive_data(archive, qn_archive_at(archive, 0), &data);
        assert_true(!status || status == QN_ERROR_ARGUMENT || status == QN_ERROR_UNSUPPORTED);
        if (!status) assert_int_equal(((const uint8_t *)data)[qn_archive_at(archive, 0)->bytes - 1] & 7, 7);
        refused += status != QN_OK;
        qn_archive_close(archive);
        free(exact);
    }
    assert_true(refused > 8 * sizeof deflated);
    free(z.file.data);
    qn_context_destroy(context);
}

/* An entry of a method, whose bytes are packed; stored ones that share bytes. */
static void entries_may_not_overlap(void **state) {
    (void)state;
    qn_context *context = make_context(NULL);
    zip z = good_zip();
    bytes twice = {0};
    put(&twice, z.file.data, z.end);
    put(&twice, z.file.data + z.record, z.end - z.record);
    twice.data[twice.size - NAME] = 'b';
    put(&twice, z.file.data + z.end, z.file.size - z.end);
    uint8_t *end = twice.data + twice.size - 22;
    end[8] = end[10] = 2;
    end[12] = (uint8_t)(2 * (z.end - z.record));
    assert_refused(context, &twice, QN_FILE_NPZ, QN_ERROR_ARGUMENT, "'b' overlaps another entry");
    free(z.file.data);
    qn_context_destroy(context);
}

/* Streams of deflate that go wrong in all the ways that there are, as entries that are no .npy. */
static void wrong_codes_are_refused(void **state) {
    (void)state;
    static const struct {
        const char *packed; /* bits in their order, as the format's document writes them */
        const char *message;
    } rows[] = {
        {"1 10 ", "they end early"},
        {"1 11 ", "there is a block of a kind that is none"},
        {"1 10 00110000 11000110 ", "there is a length that is none"},
        {"1 10 00110000 0000001 00001 0000000", "there is a distance to before the beginning"},
        {"1 10 00110000 0000001 11110 0000000", "there is a distance that is none"},
        {"1 01 11111 00000 0000", "there are too many codes"},    /* 288 literals and lengths */
        {"1 01 00000 01111 0000", "there are too many codes"},    /* 31 distances */
        {"1 01 00000 00000 0000 100 100 100 000", "fit no code"}, /* three codes of one bit */
        {"1 01 00000 00000 0000 100 000 000 000 0 00",
         "the lengths of codes are damaged"}, /* repeats nothing */
    };
    qn_context *context = make_context(NULL);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        bytes packed = {0};
        put_zeros(&packed, 8);
        size_t bit = 0;
        for (const char *at = rows[i].packed; *at; at++) {
            if (*at == ' ') continue;
            packed.data[bit / 8] |= (uint8_t)((*at - '0') << bit % 8);
            bit++;
        }
        packed.size = (bit + 7) / 8;
        zip z = zip_of(&packed, DEFLATED, 0, 100);
        memcpy(z.file.data + z.end - NAME, "a.txt", NAME);
        qn_archive *archive = open_bytes(context, &z.file, QN_FILE_NPZ);
        const qn_host_array *array = qn_archive_find(archive, "a.txt");
        assert_int_equal(array->bytes, 100);
        const qn_status status = qn_archive_data(archive, array, NULL);
        if (status != QN_ERROR_ARGUMENT || !strstr(qn_error_message(context), rows[i].message))
            fail_msg("'%s' instead of '%s'", qn_error_message(context), rows[i].message);
        qn_archive_close(archive);
        free(z.file.data);
        free(packed.data);
    }
    qn_context_destroy(context);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(orders_are_seen),
                                       cmocka_unit_test(damaged_npy_is_refused),
                                       cmocka_unit_test(entries_are_inflated),
                                       cmocka_unit_test(damaged_npz_is_refused),
                                       cmocka_unit_test(damaged_elements_are_refused),
                                       cmocka_unit_test(any_bit_may_be_wrong),
                                       cmocka_unit_test(entries_may_not_overlap),
                                       cmocka_unit_test(wrong_codes_are_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
