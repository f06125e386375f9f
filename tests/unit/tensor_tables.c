/* IDX, also compressed by gzip, and CSV: what is read, what is damaged. */
#include <locale.h>
#include <math.h>

#include "files_support.h"

static void idx_is_read(void **state) {
    (void)state;
    qn_context *context = make_context(NULL);
    bytes b = {0};
    put(&b, "\0\0\xd\2\0\0\0\1\0\0\0\2\x3f\x80\0\0\xc0\0\0\0", 20);
    qn_archive *archive = open_bytes(context, &b, QN_FILE_ANY);
    const qn_host_array *array = qn_archive_find(archive, "data");
    assert_int_equal(qn_archive_format(archive), QN_FILE_IDX);
    assert_int_equal(array->encoding, QN_ENCODING_F32);
    assert_int_equal(array->sizes[1], 2);
    assert_ok(context, qn_archive_data(archive, array, NULL));
    assert_memory_equal(array->data, ((const float[]){1, -2}), 8);
    qn_archive_close(archive);
    assert_parts_refused(context, &b, QN_FILE_IDX, b.size);
    put_zeros(&b, 1);
    assert_refused(context, &b, QN_FILE_IDX, QN_ERROR_ARGUMENT,
                   "'data' takes 8 bytes by its type and sizes, but 9 follow");
    put(&b, "\0\0\x8\x9", 4);
    put_zeros(&b, 40);
    assert_refused(context, &b, QN_FILE_IDX, QN_ERROR_UNSUPPORTED,
                   "it has 9 dimensions; at most 8 are possible");
    put(&b, "\0\0\xa\1\0\0\0\0", 8);
    assert_refused(context, &b, QN_FILE_IDX, QN_ERROR_ARGUMENT, "it does not begin as IDX files do");
    put(&b, "\0\0\x8\3\0\0\0", 7);
    assert_refused(context, &b, QN_FILE_IDX, QN_ERROR_ARGUMENT, "it ends within the sizes of its dimensions");
    put(&b, "\0\0\x8\3\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff", 16);
    assert_refused(context, &b, QN_FILE_IDX, QN_ERROR_ARGUMENT,
                   "'data' has more elements than 63 bits count");
    qn_context_destroy(context);
}

/* gzip's, of "\0\0\x8\1\0\0\0\3abc", with a name and a comment. */
static const uint8_t zipped[] = {0x1f, 0x8b, 0x08, 0x1c, 0x00, 0x00, 0x00, 0x00, 0x00, 0x03,
                                 0x02, 0x00, 0x78, 0x79, 0x6e, 0x00, 0x63, 0x00, 0x63, 0x60,
                                 0xe0, 0x60, 0x64, 0x60, 0x60, 0x60, 0x4e, 0x4c, 0x4a, 0x06,
                                 0x00, 0x54, 0x24, 0x25, 0xc4, 0x0b, 0x00, 0x00, 0x00};

static void gzip_is_inflated(void **state) {
    (void)state;
    qn_context *context = make_context(NULL);
    bytes b = {0};
    put(&b, zipped, sizeof zipped);
    qn_archive *archive = open_bytes(context, &b, QN_FILE_ANY);
    const qn_host_array *array = qn_archive_find(archive, "data");
    assert_ok(context, qn_archive_data(archive, array, NULL));
    assert_int_equal(array->bytes, 3);
    assert_memory_equal(array->data, "abc", 3);
    qn_archive_close(archive);
    assert_parts_refused(context, &b, QN_FILE_ANY, b.size);
    put_text(&b, "more");
    assert_refused(context, &b, QN_FILE_ANY, QN_ERROR_ARGUMENT,
                   "its compressed bytes are damaged: there is no head of gzip's");
    static const struct {
        size_t at;
        uint8_t is;
        const char *message;
    } rows[] = {{3, 0x20, "there is no head of gzip's"},
                {11, 0xff, "there is no head of gzip's"},
                {2, 7, "there is no head of gzip's"},
                {sizeof zipped - 8, 0, "their checksum is wrong"},
                {sizeof zipped - 4, 12, "their size is wrong"},
                {18, 0x67, "there is a block of a kind that is none"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        put(&b, zipped, sizeof zipped);
        b.data[rows[i].at] = rows[i].is;
        assert_refused(context, &b, QN_FILE_ANY, QN_ERROR_ARGUMENT, rows[i].message);
    }
    qn_context_destroy(context);
}

/* Rows and columns of a text, and the numbers one after another. */
static void assert_table(qn_context *context, const char *text, qn_csv_desc csv, uint64_t rows,
                         uint64_t columns, const double *wanted) {
    qn_archive *archive = NULL;
    assert_ok(context, qn_archive_open_memory(context, text, strlen(text), "table.csv",
                                              &(qn_archive_desc){.csv = csv}, &archive));
    assert_int_equal(qn_archive_format(archive), QN_FILE_CSV);
    const qn_host_array *array = qn_archive_find(archive, "data");
    assert_int_equal(array->sizes[0], rows);
    assert_int_equal(array->sizes[1], columns);
    assert_ok(context, qn_archive_data(archive, array, NULL));
    const double *got = array->data;
    for (uint64_t i = 0; i < rows * columns; i++)
        if (!(isnan(wanted[i]) ? isnan(got[i]) : memcmp(&got[i], &wanted[i], sizeof *got) == 0))
            fail_msg("'%s': number %d is %g", text, (int)i, got[i]);
    qn_archive_close(archive);
}

static void tables_are_read(void **state) {
    (void)state;
    qn_context *context = make_context(NULL);
    const qn_csv_desc plain = {0};
    const double numbers[] = {1, -0.0, 2.5e-3, NAN, INFINITY, 12345678901234567890.0};
    for (int locale = 0; locale < 2; locale++) {
        if (locale && !setlocale(LC_ALL, "de_DE.UTF-8")) { /* where a comma is the point */
            print_message("without the locale de_DE.UTF-8\n");
            break;
        }
        assert_table(context, "1,-0,2.5e-3\nNaN,inf,12345678901234567890\n", plain, 2, 3, numbers);
        assert_table(context, "\n 1 ; -0.0 ; \"0.0025\"\r\n\r\n\"\";+Infinity;12345678901234567890", plain, 2,
                     3, numbers);
        assert_table(context, "a\tb\tc\r1\t-0\t.0025\r\tinf\t12345678901234567890", plain, 2, 3, numbers);
        assert_table(context, "# of \"nothing\n1|-0|25E-4\n#\nn/a|INF|1.2345678901234567890e+19",
                     (qn_csv_desc){.delimiter = '|', .comment = '#'}, 2, 3, numbers);
    }
    setlocale(LC_ALL, "C");
    assert_table(context, "", plain, 0, 0, NULL);
    assert_table(context, "x,y\n", plain, 0, 2, NULL);
    assert_table(context, "1,2\n3,4", (qn_csv_desc){.header = QN_CSV_HEADER_LINE}, 1, 2,
                 (const double[]){3, 4});
    assert_table(context, "5\n\"\"\n", (qn_csv_desc){.header = QN_CSV_HEADER_NONE}, 2, 1,
                 (const double[]){5, NAN});
    qn_context_destroy(context);
}

static void names_of_columns_are_metadata(void **state) {
    (void)state;
    qn_context *context = make_context(NULL);
    static const char text[] = "\xef\xbb\xbf\"a \"\"b\"\"\", c d ,\"e,\nf\"\n1,2,3\n";
    qn_archive *archive;
    assert_ok(context, qn_archive_open_memory(context, text, sizeof text - 1, NULL,
                                              &(qn_archive_desc){.format = QN_FILE_CSV}, &archive));
    const qn_metadata *m = qn_archive_metadata(archive, "columns");
    assert_int_equal(m->count, 3);
    assert_string_equal(m->values.texts[0].text, "a \"b\"");
    assert_string_equal(m->values.texts[1].text, "c d");
    assert_string_equal(m->values.texts[2].text, "e,\nf");
    qn_archive_close(archive);
    qn_context_destroy(context);
}

static void damaged_tables_are_refused(void **state) {
    (void)state;
    static const struct {
        const char *text, *message;
        qn_csv_desc csv;
    } rows[] = {
        {"a,b\n1,2\n\n3,4,5\n", "line 4 has 3 fields, those before it 2", {0}},
        {"a,b\n1\n", "line 2 has 1 fields, those before it 2", {0}},
        {"1,2\n3,x4\n", "line 2, field 2: 'x4' is neither a number nor missing", {0}},
        {"1,2\n3,4x\n", "line 2, field 2: '4x' is neither", {0}},
        {"1\n.\n", "line 2, field 1: '.' is neither", {0}},
        {"1\n1e\n", "line 2, field 1: '1e' is neither", {0}},
        {"1\n1e+\n", "line 2, field 1: '1e+' is neither", {0}},
        {"1\n0x10\n", "line 2, field 1: '0x10' is neither", {0}},
        {"1\n1 2\n", "line 2, field 1: '1 2' is neither", {0}},
        {"1\n--1\n", "line 2, field 1: '--1' is neither", {0}},
        {"a\n", "line 1, field 1: 'a' is neither", {.header = QN_CSV_HEADER_NONE}},
        {"1\n\"2\n3\n", "line 2: a quote does not end", {0}},
        {"1\n\"2\"3\n", "line 2: there is something behind a quoted field", {0}},
        {"1,2", "csv.delimiter cannot be a quote, a blank or the end of a line", {.delimiter = '"'}},
        {"1,2", "csv.header 3 is none of qn_csv_header", {.header = (qn_csv_header)3}},
    };
    qn_context *context = make_context(NULL);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        qn_archive *archive = NULL;
        char *exact = malloc(strlen(rows[i].text));
        memcpy(exact, rows[i].text, strlen(rows[i].text));
        assert_fails(context,
                     qn_archive_open_memory(context, exact, strlen(rows[i].text), NULL,
                                            &(qn_archive_desc){.format = QN_FILE_CSV, .csv = rows[i].csv},
                                            &archive),
                     QN_ERROR_ARGUMENT, rows[i].message);
        free(exact);
    }
    bytes b = {0};
    put_text(&b, "1\n");
    for (int i = 0; i < 501; i++) put_text(&b, "7");
    assert_refused(context, &b, QN_FILE_CSV, QN_ERROR_ARGUMENT, "line 2, field 1: '77777");
    qn_context_destroy(context);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(idx_is_read), cmocka_unit_test(gzip_is_inflated), cmocka_unit_test(tables_are_read),
        cmocka_unit_test(names_of_columns_are_metadata), cmocka_unit_test(damaged_tables_are_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
