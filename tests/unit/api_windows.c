/* Copies of what the taps of a convolution meet: on devices that have them, right against plain loops; on others, sentences. */
#include "api_support.h"

enum { CHANNELS = 8, COLUMNS = 5, ROWS = 4, IMAGES = 3 };
enum {
    WIDE = 3,
    HIGH = 5,
    POSITIONS = WIDE * HIGH * IMAGES,
    TILE = 16,
    RUN = 4,
    TILES = (POSITIONS + TILE - 1) / TILE
};

static const int first[2] = {-1, -2}, steps[2] = {2, 1};

/* A tile of each 16 positions goes to `met`, in the order of the window, and through a map to the images `to`. */
static const char source[] =
    "kernel __attribute__((reqd_work_group_size(32, 1, 1)))\n"
    "void window(qn_tensor_map fm, qn_tensor_map tm, global const int *from, global int *to, global int "
    "*met,\n"
    "            uint tap_column, uint tap_row) {\n"
    "    local int tile[64] __attribute__((aligned(128)));\n"
    "    local qn_barrier full;\n"
    "    const int item = (int)get_local_id(0), at = (int)get_group_id(0) * 16;\n"
    "    const int column = at % 3, row = at / 3 % 5, image = at / 15;\n"
    "    if (item == 0) qn_barrier_init(&full, 1);\n"
    "    barrier(CLK_LOCAL_MEM_FENCE);\n"
    "    if (item == 0) {\n"
    "        qn_barrier_expect(&full, sizeof tile);\n"
    "        qn_window_load(tile, fm, 4, column * 2 - 1, row - 2, image, tap_column, tap_row, &full);\n"
    "    }\n"
    "    qn_barrier_wait(&full, 0);\n"
    "    for (int i = item; i < 64; i += 32) met[at * 4 + i] = tile[i];\n"
    "    if (item == 0) {\n"
    "        qn_window_store(tm, 4, column, row, image, tile);\n"
    "        qn_tile_store_wait(0);\n"
    "    }\n"
    "}\n";

static int element(int channel, int column, int row, int image) {
    return 1 + channel + CHANNELS * (column + COLUMNS * (row + ROWS * image));
}

static int *all_elements(void) {
    int *data = malloc(sizeof(int) * CHANNELS * COLUMNS * ROWS * IMAGES), *next = data;
    for (int i = 0; i < CHANNELS * COLUMNS * ROWS * IMAGES; i++) *next++ = i + 1;
    return data;
}

/* What a tap meets at a position. */
static int met_at(int position, int channel, const uint32_t tap[2]) {
    if (position >= POSITIONS) return 0;
    const int column = first[0] + position % WIDE * steps[0] + (int)tap[0],
              row = first[1] + position / WIDE % HIGH * steps[1] + (int)tap[1];
    const bool inside = column >= 0 && column < COLUMNS && row >= 0 && row < ROWS;
    return inside ? element(channel, column, row, position / WIDE / HIGH) : 0;
}

static void check_tap(fixture *f, const uint32_t tap[2]) {
    int *data = all_elements(), met[TILES * TILE * RUN], to[POSITIONS * CHANNELS] = {0};
    qn_buffer *images = make_buffer(f->device, sizeof(int) * CHANNELS * COLUMNS * ROWS * IMAGES, data),
              *results = make_buffer(f->device, sizeof to, to),
              *tiles = make_buffer(f->device, sizeof met, NULL);
    qn_tensor_map maps[2];
    const uint64_t pixel = CHANNELS * sizeof(int);
    const qn_window_desc descs[2] = {{.element_size = sizeof(int),
                                      .sizes = {CHANNELS, COLUMNS, ROWS, IMAGES},
                                      .strides = {pixel, pixel * COLUMNS, pixel * COLUMNS * ROWS},
                                      .first = {first[0], first[1]},
                                      .steps = {(uint32_t)steps[0], (uint32_t)steps[1]},
                                      .positions = {WIDE, HIGH},
                                      .tile = {RUN, TILE}},
                                     {.element_size = sizeof(int),
                                      .sizes = {CHANNELS, WIDE, HIGH, IMAGES},
                                      .strides = {pixel, pixel * WIDE, pixel * WIDE * HIGH},
                                      .positions = {WIDE, HIGH},
                                      .tile = {RUN, TILE}}};
    assert_ok(f->context, qn_buffer_window_map(images, &descs[0], &maps[0]));
    assert_ok(f->context, qn_buffer_window_map(results, &descs[1], &maps[1]));
    assert_ok(f->context, qn_launch(NULL, f->kernel, QN_RANGE(TILES * 32),
                                    QN_ARGS(QN_BYTES(maps[0]), QN_BYTES(maps[1]), images, results, tiles,
                                            tap[0], tap[1])));
    assert_ok(f->context, qn_buffer_read(tiles, 0, met, sizeof met));
    assert_ok(f->context, qn_buffer_read(results, 0, to, sizeof to));
    for (int i = 0; i < TILES * TILE; i++)
        for (int c = 0; c < RUN; c++) {
            const int wanted = met_at(i, RUN + c, tap);
            if (met[i * RUN + c] != wanted)
                fail_msg("tap %u, %u at position %d meets %d, not %d", (unsigned)tap[0], (unsigned)tap[1], i,
                         met[i * RUN + c], wanted);
            if (i < POSITIONS && to[i * CHANNELS + RUN + c] != wanted)
                fail_msg("tap %u, %u: at position %d %d was stored, not %d", (unsigned)tap[0],
                         (unsigned)tap[1], i, to[i * CHANNELS + RUN + c], wanted);
            if (i < POSITIONS) assert_int_equal(to[i * CHANNELS + c], 0);
        }
    qn_buffer_destroy(images);
    qn_buffer_destroy(results);
    qn_buffer_destroy(tiles);
    free(data);
}

static void taps_meet_pixels(void **state) {
    (void)state;
    static const uint32_t taps[][2] = {{0, 0}, {1, 0}, {0, 1}, {2, 3}, {200, 0}};
    if (!device_can(QN_CAN_COPY_TILES, "tile copies")) return;
    fixture f = make_fixture(test_device(), source, "window");
    for (size_t i = 0; i < sizeof taps / sizeof *taps; i++) check_tap(&f, taps[i]);
    qn_context_destroy(f.context);
}

#define IMAGE  .element_size = 4, .sizes = {8, 5, 4, 3}, .strides = {32, 160, 640}
#define PLACES .positions = {5, 4}

static void wrong_descriptions(void **state) {
    (void)state;
    static const struct {
        qn_window_desc desc;
        qn_status status;
        const char *what;
    } rows[] = {
        {{IMAGE, PLACES, .tile = {3, 16}}, QN_ERROR_ARGUMENT, "multiple of 16 up to 128"},
        {{IMAGE, PLACES, .tile = {0, 16}}, QN_ERROR_ARGUMENT, "multiple of 16 up to 128"},
        {{IMAGE, PLACES, .tile = {4, 0}}, QN_ERROR_ARGUMENT, "tile[1] is 0"},
        {{IMAGE, PLACES, .tile = {4, 257}}, QN_ERROR_ARGUMENT, "tile[1] is 257"},
        {{IMAGE, .positions = {5, 0}, .tile = {4, 16}}, QN_ERROR_ARGUMENT, "positions[1] is 0"},
        {{IMAGE, .positions = {5, 132}, .tile = {4, 16}}, QN_ERROR_ARGUMENT, "positions[1] is 132"},
        {{IMAGE, PLACES, .steps = {9, 1}, .tile = {4, 16}}, QN_ERROR_ARGUMENT, "steps[0] is 9"},
        {{IMAGE, PLACES, .first = {0, -129}, .tile = {4, 16}}, QN_ERROR_ARGUMENT, "first[1] is -129"},
        {{IMAGE, PLACES, .offset = 8, .tile = {4, 16}}, QN_ERROR_ARGUMENT, "offset is 8"},
        {{.element_size = 4, .sizes = {8, 5, 4, 0}, PLACES, .tile = {4, 16}},
         QN_ERROR_ARGUMENT,
         "sizes[3] is 0"},
        {{.element_size = 4, .sizes = {8, 5, 4, 3}, .strides = {24, 160, 640}, PLACES, .tile = {4, 16}},
         QN_ERROR_ARGUMENT,
         "strides[0] is 24"},
        {{.element_size = 4, .sizes = {8, 5, 4, 8}, .strides = {32, 160, 640}, PLACES, .tile = {4, 16}},
         QN_ERROR_RANGE,
         "takes 5120 bytes at 0 of a buffer of 4096"},
    };
    qn_context *context = make_context(NULL);
    qn_device *device = get_device(context, test_device());
    qn_buffer *buffer = make_buffer(device, 4096, NULL);
    qn_tensor_map map;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_fails(context, qn_buffer_window_map(buffer, &rows[i].desc, &map), rows[i].status,
                     rows[i].what);
    const qn_window_desc good = {IMAGE, PLACES, .tile = {4, 16}};
    assert_fails(context, qn_buffer_window_map(buffer, NULL, &map), QN_ERROR_NULL, "desc");
    assert_fails(context, qn_buffer_window_map(buffer, &good, NULL), QN_ERROR_NULL, "map");
    if (!device_can(QN_CAN_COPY_TILES, "tile copies"))
        assert_fails(context, qn_buffer_window_map(buffer, &good, &map), QN_ERROR_UNSUPPORTED,
                     "has no tile copies");
    qn_context_destroy(context);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(taps_meet_pixels),
                                       cmocka_unit_test(wrong_descriptions)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
