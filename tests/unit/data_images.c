/* Images: written and read again, refused where they are damaged, scaled, in folders by class, on sheets; random changes. */
#include "tensor_common.h"

#include <quern/data.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PATH = 256 };
static char work[64];

static const char *path_of(char *path, const char *name) {
    snprintf(path, PATH, "%s/%s", work, name);
    return path;
}

/* An image of a file that the test has made. */
static void write_bytes(const char *path, const void *bytes, size_t size) {
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    fclose(file);
}

static size_t read_bytes(const char *path, unsigned char *bytes, size_t room) {
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    const size_t size = fread(bytes, 1, room, file);
    fclose(file);
    return size;
}

/* Three channels of 5 x 4 pixels that differ. */
static qn_tensor *colours(tensor_fixture *f) {
    uint8_t data[60];
    for (int i = 0; i < 60; i++) data[i] = (uint8_t)(i * 4);
    return qn_from_data(f->t, QN_U8, QN_SHAPE(3, 5, 4), data);
}

static void written_and_read(void **state) {
    tensor_fixture *f = fixture_of(state);
    char path[PATH];
    uint8_t got[60], wanted[60];
    qn_tensor *x = colours(f);
    assert_ok(f->context, qn_tensor_read(x, wanted, sizeof wanted));
    assert_ok(f->context, qn_write_image(x, path_of(path, "a.png")));
    qn_tensor *y = qn_read_image(f->t, path, 0);
    assert_ok(f->context, qn_tensor_status(y));
    assert_int_equal(qn_tensor_shape(y).rank, 3);
    assert_int_equal(qn_tensor_shape(y).sizes[1], 5);
    assert_ok(f->context, qn_tensor_read(y, got, sizeof got));
    assert_memory_equal(got, wanted, sizeof got);
    /* As floats from 0 to 1, what is outside cut; as gray. */
    qn_tensor *ramp = qn_divide(qn_cast(qn_slice(x, 0, 0, 1, 1), QN_F32), 40);
    assert_ok(f->context, qn_write_image(ramp, path_of(path, "b.PNG")));
    assert_ok(f->context, qn_tensor_read(qn_read_image(f->t, path, 1), got, 20));
    assert_int_equal(got[5], 128); /* 20 / 40 of 255 */
    assert_int_equal(got[19], 255);
    assert_ok(f->context, qn_write_image(x, path_of(path, "c.jpg")));
    assert_int_equal(qn_tensor_shape(qn_read_image(f->t, path, 4)).sizes[0], 4);
    /* .pgm needs nobody else. */
    unsigned char bytes[64];
    assert_ok(f->context, qn_write_image(qn_slice(x, 0, 0, 1, 1), path_of(path, "d.pgm")));
    assert_int_equal(read_bytes(path, bytes, sizeof bytes), 11 + 20);
    assert_memory_equal(bytes, "P5\n4 5\n255\n", 11);
    assert_memory_equal(bytes + 11, wanted, 20);
}

static void refused(void **state) {
    tensor_fixture *f = fixture_of(state);
    char path[PATH];
    unsigned char bytes[512];
    qn_tensor *x = colours(f);
    assert_fails(f->context, qn_write_image(x, path_of(path, "a.gif")), QN_ERROR_ARGUMENT,
                 "ends with none of");
    assert_fails(f->context, qn_write_image(x, path_of(path, "a.pgm")), QN_ERROR_ARGUMENT, "has one channel");
    assert_fails(f->context,
                 qn_write_image(qn_zeros(f->t, QN_F32, QN_SHAPE(2, 3, 3)), path_of(path, "a.png")),
                 QN_ERROR_ARGUMENT, "1 or 3 channels");
    assert_fails(f->context, qn_write_image(qn_zeros(f->t, QN_I32, QN_SHAPE(3, 3)), path), QN_ERROR_ARGUMENT,
                 "floats or u8");
    assert_fails(f->context, qn_write_image(qn_zeros(f->t, QN_F32, QN_SHAPE(3)), path), QN_ERROR_ARGUMENT,
                 "[height, width]");
    assert_fails(f->context, qn_write_image(x, path_of(path, "none/a.png")), QN_ERROR_IO, "none/a.png");
    assert_fails(f->context, qn_tensor_status(qn_read_image(f->t, path_of(path, "none.png"), 0)), QN_ERROR_IO,
                 "No such file");
    assert_fails(f->context, qn_tensor_status(qn_read_image(f->t, path, 2)), QN_ERROR_ARGUMENT, "2 channels");
    assert_fails(f->context, qn_tensor_status(qn_read_image(f->t, NULL, 0)), QN_ERROR_NULL, "path is NULL");
    write_bytes(path_of(path, "text.png"), "no image", 8);
    assert_fails(f->context, qn_tensor_status(qn_read_image(f->t, path, 0)), QN_ERROR_ARGUMENT,
                 "text.png: no PNG or JPEG");
    /* Cut off, and a size that nobody has memory for. */
    assert_ok(f->context, qn_write_image(x, path_of(path, "whole.png")));
    const size_t size = read_bytes(path, bytes, sizeof bytes);
    write_bytes(path_of(path, "half.png"), bytes, size / 2);
    assert_fails(f->context, qn_tensor_status(qn_read_image(f->t, path, 0)), QN_ERROR_ARGUMENT,
                 "half.png: the image is damaged");
    memcpy(bytes + 16, "\0\0\x80\0\0\0\x23\x28", 8); /* 32,768 x 9,000 */
    write_bytes(path_of(path, "large.png"), bytes, size);
    assert_fails(f->context, qn_tensor_status(qn_read_image(f->t, path, 0)), QN_ERROR_ARGUMENT,
                 "at most 2^28");
}

/* Where the marker's segment begins, behind it. */
static size_t segment_at(const unsigned char *file, size_t size, unsigned char marker) {
    for (size_t i = 0; i + 1 < size; i++)
        if (file[i] == 0xFF && file[i + 1] == marker) return i + 2;
    fail_msg("no marker %x", marker);
    return 0;
}

/* A table of more symbols than there are bytes, before and behind the first scan. What looks like one within another segment is none. */
static void tables_of_jpeg(void **state) {
    static const unsigned char profile[24] = {0xFF, 0xE2, 0, 22, 0xFF, 0xC4, 0, 20, 0, 0xFF, 0xFF, 0xFF};
    static const unsigned char behind[24] = {0xFF, 0xC4, 0, 22, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 2};
    tensor_fixture *f = fixture_of(state);
    char path[PATH];
    unsigned char file[2048], changed[sizeof file + sizeof profile];
    assert_ok(f->context, qn_write_image(colours(f), path_of(path, "tables.jpg")));
    const size_t size = read_bytes(path, file, sizeof file);
    assert_true(size < sizeof file);

    memcpy(changed, file, 2);
    memcpy(changed + 2, profile, sizeof profile);
    memcpy(changed + 2 + sizeof profile, file + 2, size - 2);
    write_bytes(path, changed, size + sizeof profile);
    assert_ok(f->context, qn_tensor_status(qn_read_image(f->t, path, 0)));

    memcpy(changed, file, size);
    memset(changed + segment_at(file, size, 0xC4) + 3, 17, 16);
    write_bytes(path, changed, size);
    assert_fails(f->context, qn_tensor_status(qn_read_image(f->t, path, 0)), QN_ERROR_ARGUMENT,
                 "tables.jpg: the image is damaged: a Huffman table of over 256 symbols");

    const size_t end = segment_at(file, size, 0xD9) - 2;
    memcpy(changed, file, end);
    memcpy(changed + end, behind, sizeof behind);
    write_bytes(path, changed, end + sizeof behind);
    assert_fails(f->context, qn_tensor_status(qn_read_image(f->t, path, 0)), QN_ERROR_ARGUMENT,
                 "a Huffman table");
}

/* ---- folders ---- */

static void write_gray(tensor_fixture *f, const char *name, uint64_t height, uint64_t width, double value) {
    char path[PATH];
    assert_ok(f->context, qn_write_image(qn_full(f->t, QN_F32, QN_SHAPE(height, width), value / 255),
                                         path_of(path, name)));
}

static void folders(void **state) {
    tensor_fixture *f = fixture_of(state);
    char path[PATH];
    static const char *const made[] = {"set", "set/dog", "set/cat", "set/dog/more", "set/.hidden", "empty"};
    for (size_t i = 0; i < sizeof made / sizeof *made; i++)
        assert_int_equal(mkdir(path_of(path, made[i]), 0777), 0);
    write_gray(f, "set/dog/b.png", 8, 8, 20);
    write_gray(f, "set/dog/a.png", 8, 8, 10);
    write_gray(f, "set/dog/more/c.png", 4, 16, 30);
    write_gray(f, "set/cat/z.png", 8, 8, 40);
    write_gray(f, "set/.hidden/h.png", 8, 8, 50);
    write_bytes(path_of(path, "set/dog/notes.txt"), "dog", 3);
    qn_dataset *set, *part;
    assert_ok(f->context,
              qn_dataset_from_folder(f->context, path_of(path, "set"),
                                     &(qn_folder_desc){.width = 6, .height = 4, .channels = 1}, &set));
    static const struct { int value, label; } wanted[] = {{40, 0}, {10, 1}, {20, 1}, {30, 1}};
    assert_int_equal(qn_dataset_count(set), 4);
    assert_string_equal(qn_dataset_class(set, 0), "cat");
    assert_string_equal(qn_dataset_class(set, 1), "dog");
    assert_null(qn_dataset_class(set, 2));
    for (uint64_t i = 0; i < 4; i++) {
        uint8_t image[24];
        int32_t label;
        assert_ok(f->context, qn_dataset_get(set, i, (void *[]){image, &label}));
        assert_int_equal(label, wanted[i].label);
        for (int p = 0; p < 24; p++) assert_int_equal(image[p], wanted[i].value);
    }
    assert_ok(f->context, qn_dataset_part(set, (uint64_t[]){1}, 1, &part));
    qn_dataset_destroy(set);
    assert_string_equal(qn_dataset_class(part, 1), "dog");
    qn_dataset_destroy(part);
    /* Without folders in it, of the first image's size, in colour. */
    assert_ok(f->context, qn_dataset_from_folder(f->context, path_of(path, "set/dog/more"), NULL, &set));
    assert_int_equal(qn_dataset_field(set, 0).shape.sizes[0], 3);
    assert_int_equal(qn_dataset_field(set, 0).shape.sizes[2], 16);
    qn_dataset_destroy(set);
    assert_fails(f->context, qn_dataset_from_folder(f->context, path_of(path, "empty"), NULL, &set),
                 QN_ERROR_IO, "no PNG or JPEG image");
    assert_fails(f->context, qn_dataset_from_folder(f->context, path_of(path, "nowhere"), NULL, &set),
                 QN_ERROR_IO, "No such file");
    assert_fails(f->context, qn_dataset_from_folder(f->context, path, &(qn_folder_desc){.channels = 2}, &set),
                 QN_ERROR_ARGUMENT, "2 channels");
}

/* A loader says which file is damaged. */
static void damaged(void **state) {
    tensor_fixture *f = fixture_of(state);
    char path[PATH];
    qn_dataset *set;
    qn_loader *loader;
    qn_tensor *batch[2];
    bool more;
    assert_int_equal(mkdir(path_of(path, "bad"), 0777), 0);
    write_gray(f, "bad/a.png", 4, 4, 10);
    write_bytes(path_of(path, "bad/b.png"), "nothing", 7);
    assert_ok(f->context, qn_dataset_from_folder(f->context, path_of(path, "bad"), NULL, &set));
    assert_ok(f->context, qn_loader_create(f->t, set, &(qn_loader_desc){.batch = 1}, &loader));
    qn_dataset_destroy(set);
    assert_ok(f->context, qn_loader_next(loader, batch, &more));
    assert_fails(f->context, qn_loader_next(loader, batch, &more), QN_ERROR_ARGUMENT,
                 "b.png: no PNG or JPEG");
    qn_loader_destroy(loader);
}

/* Scaled to half and to twice: means of pixels; a gradient stays one. The middle of what is too wide. */
static void scaled(void **state) {
    tensor_fixture *f = fixture_of(state);
    char path[PATH];
    uint8_t data[8 * 16], got[16];
    int32_t label;
    for (int i = 0; i < 8 * 16; i++) data[i] = (uint8_t)(10 * (i % 16));
    assert_int_equal(mkdir(path_of(path, "wide"), 0777), 0);
    assert_ok(f->context,
              qn_write_image(qn_from_data(f->t, QN_U8, QN_SHAPE(8, 16), data), path_of(path, "wide/a.png")));
    qn_dataset *set;
    assert_ok(f->context,
              qn_dataset_from_folder(f->context, path_of(path, "wide"),
                                     &(qn_folder_desc){.width = 4, .height = 4, .channels = 1}, &set));
    assert_ok(f->context, qn_dataset_get(set, 0, (void *[]){got, &label}));
    qn_dataset_destroy(set);
    static const int wanted[] = {45, 65, 85, 105}; /* of columns 4 to 11, two each */
    for (int i = 0; i < 16; i++)
        if (abs(got[i] - wanted[i % 4]) > 1) fail_msg("pixel %d is %d, not %d", i, got[i], wanted[i % 4]);
}

static void sheets(void **state) {
    tensor_fixture *f = fixture_of(state);
    float got[5 * 8];
    qn_tensor *x = counting(f, QN_SHAPE(5, 1, 2, 2), 1, 1);
    qn_tensor *sheet = qn_image_sheet(x, 3);
    assert_int_equal(qn_tensor_shape(sheet).sizes[1], 5);
    assert_int_equal(qn_tensor_shape(sheet).sizes[2], 8);
    read_floats(f, sheet, got, 40);
    static const float wanted[] = {1, 2, 0, 5, 6,  0,  9, 10, 3,  4, 0, 7, 8,  0,  11, 12, 0,  0, 0, 0,
                                   0, 0, 0, 0, 13, 14, 0, 17, 18, 0, 0, 0, 15, 16, 0,  19, 20, 0, 0, 0};
    for (int i = 0; i < 40; i++) assert_true(got[i] == wanted[i]);
    assert_fails(f->context, qn_tensor_status(qn_image_sheet(sheet, 3)), QN_ERROR_ARGUMENT, "qn_image_sheet");
}

/* ---- preparing batches ---- */

static void normalised(void **state) {
    tensor_fixture *f = fixture_of(state);
    static const uint8_t pixels[8] = {0, 255, 51, 102, 0, 255, 153, 204};
    static const double mean[] = {0.5, 0.2}, deviation[] = {0.25, 0.1};
    float got[8];
    qn_tensor *x = qn_from_data(f->t, QN_U8, QN_SHAPE(1, 2, 2, 2), pixels);
    read_floats(f, qn_normalize(x, 255, mean, deviation, 2), got, 8);
    for (int i = 0; i < 8; i++) assert_near(got[i], (pixels[i] / 255.0 - mean[i / 4]) / deviation[i / 4]);
    assert_fails(f->context, qn_tensor_status(qn_normalize(x, 255, mean, deviation, 3)), QN_ERROR_ARGUMENT,
                 "for each channel");
}

/* Pixel (y, x) of image 0 of 6 x 7: 1 + 7 y + x. */
static void augment(tensor_fixture *f, uint64_t n, qn_augment_desc desc, float *got, uint64_t count) {
    qn_tensor *x = qn_broadcast_to(counting(f, QN_SHAPE(1, 1, 6, 7), 1, 1), QN_SHAPE(n, 1, 6, 7));
    read_floats(f, qn_augment(x, &desc), got, count);
}

static void flips_and_shifts(void **state) {
    tensor_fixture *f = fixture_of(state);
    float got[64 * 42];
    augment(f, 1, (qn_augment_desc){.flip = 1}, got, 42);
    for (int i = 0; i < 42; i++) assert_true(got[i] == (float)(1 + i / 7 * 7 + 6 - i % 7));
    augment(f, 64, (qn_augment_desc){.flip = 0.5}, got, 64 * 42);
    int flipped = 0;
    for (int i = 0; i < 64; i++) flipped += got[42 * i] == 7;
    assert_in_range(flipped, 16, 48);
    /* Where the first image's pixel 25, the one at (3, 3), has gone to; what came from outside is 0. */
    bool seen[3][3] = {{false}};
    augment(f, 64, (qn_augment_desc){.shift = 1}, got, 64 * 42);
    for (int n = 0; n < 64; n++) {
        int at = 0;
        while (at < 42 && got[42 * n + at] != 25) at++;
        const int down = at / 7 - 3, right = at % 7 - 3;
        assert_true(abs(down) <= 1 && abs(right) <= 1);
        seen[down + 1][right + 1] = true;
        for (int i = 0; i < 42; i++) {
            const int y = i / 7 - down, x = i % 7 - right;
            assert_true(got[42 * n + i] == (y >= 0 && y < 6 && x >= 0 && x < 7 ? (float)(1 + 7 * y + x) : 0));
        }
    }
    for (int i = 0; i < 9; i++) assert_true(seen[i / 3][i % 3]);
}

static void cuts(void **state) {
    tensor_fixture *f = fixture_of(state);
    float got[64 * 16];
    bool rows[3] = {false}, columns[4] = {false};
    augment(f, 64, (qn_augment_desc){.height = 4, .width = 4}, got, 64 * 16);
    for (int n = 0; n < 64; n++) {
        const int first = (int)got[16 * n] - 1, y = first / 7, x = first % 7;
        assert_true(first >= 0 && y <= 2 && x <= 3);
        rows[y] = columns[x] = true;
        for (int i = 0; i < 16; i++) assert_true(got[16 * n + i] == (float)(1 + (y + i / 4) * 7 + x + i % 4));
    }
    for (int i = 0; i < 4; i++) assert_true(columns[i] && (i == 3 || rows[i]));
}

/* A plane stays one under turns and scales: inside, pixels are those of a linear function whose slope has turned. */
static void turns(void **state) {
    tensor_fixture *f = fixture_of(state);
    float got[16 * 42];
    double least = 10, most = 0;
    augment(f, 16, (qn_augment_desc){.rotate = 20, .scale = 0.2}, got, 16 * 42);
    for (int n = 0; n < 16; n++) {
        const float *image = got + 42 * n;
        /* The middle of the image is between rows 2 and 3 in column 3: (18 + 25) / 2. */
        assert_near((image[2 * 7 + 3] + image[3 * 7 + 3]) / 2, 21.5);
        const double down = image[3 * 7 + 3] - image[2 * 7 + 3], right = image[2 * 7 + 3] - image[2 * 7 + 2],
                     slope = sqrt(down * down + right * right) / sqrt(50),
                     angle = atan2(right, down) - atan2(1, 7);
        if (fabs(angle) > 20.1 * 3.1416 / 180 || slope < 1 / 1.21 || slope > 1.21)
            fail_msg("image %d: turned by %g, scaled by %g", n, angle, slope);
        least = slope < least ? slope : least;
        most = slope > most ? slope : most;
    }
    assert_true(least < 0.97 && most > 1.03);
    qn_tensor *x = qn_zeros(f->t, QN_F32, QN_SHAPE(1, 1, 4, 4));
    assert_fails(f->context, qn_tensor_status(qn_augment(x, &(qn_augment_desc){.height = 5})),
                 QN_ERROR_ARGUMENT, "larger than the images");
    assert_fails(f->context, qn_tensor_status(qn_augment(x, &(qn_augment_desc){.flip = 2})),
                 QN_ERROR_ARGUMENT, "no probability");
    assert_fails(f->context, qn_tensor_status(qn_augment(x, NULL)), QN_ERROR_ARGUMENT, "desc is NULL");
}

static int begin(void **state) {
    static tensor_fixture f;
    f = make_tensors(NULL);
    *state = &f;
    snprintf(work, sizeof work, "/tmp/quern-images-XXXXXX");
    return mkdtemp(work) ? 0 : -1;
}

static int end(void **state) {
    char command[128];
    end_tensors(*state);
    snprintf(command, sizeof command, "rm -r '%s'", work);
    return system(command);
}

int main(void) {
    if (device_is_missing()) return TEST_SKIPPED;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(written_and_read),
        cmocka_unit_test(refused),
        cmocka_unit_test(tables_of_jpeg),
        cmocka_unit_test(folders),
        cmocka_unit_test(damaged),
        cmocka_unit_test(scaled),
        cmocka_unit_test(sheets),
        cmocka_unit_test(normalised),
        cmocka_unit_test(flips_and_shifts),
        cmocka_unit_test(cuts),
        cmocka_unit_test(turns),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
