/* Tile copies, barriers that count bytes, clusters and products by quads of sub-groups: on devices that have them, right against
   plain arithmetic; on others, sentences. */
#include <math.h>
#include <stdlib.h>

#include "api_support.h"

enum { ROWS = 128, COLUMNS = 64, DEPTH = 192, GROUP = 128, CLUSTER = 2 };

/* Each work-group of a cluster computes 64 rows; the two share b's tiles, of which each loads one half of the rows. */
static const char source[] =
    "#define STEP ((int)(128 / sizeof(TYPE)))\n"
    "kernel __attribute__((reqd_work_group_size(128, 1, 1), qn_cluster_size(2)))\n"
    "void product(qn_tensor_map am, qn_tensor_map bm, qn_tensor_map cm, global const TYPE *a, global const "
    "TYPE *b,\n"
    "             global float *c, int depth) {\n"
    "    local TYPE as[64 * STEP] __attribute__((aligned(1024))), bs[STEP * 64] "
    "__attribute__((aligned(1024)));\n"
    "    local float cs[64 * 64] __attribute__((aligned(1024)));\n"
    "    local qn_barrier full, empty;\n"
    "    const uint rank = qn_cluster_rank(), item = get_local_id(0), lane = item % 32;\n"
    "    float sums[32];\n"
    "    if (item == 0) { qn_barrier_init(&full, 1); qn_barrier_init(&empty, 2); }\n"
    "    qn_cluster_barrier();\n"
    "    for (int k = 0; k < depth; k += STEP) {\n"
    "        const uint parity = k / STEP & 1;\n"
    "        if (item == 0) {\n"
    "            qn_barrier_wait(&empty, parity ^ 1);\n"
    "            qn_barrier_expect(&full, 2 * 64 * STEP * sizeof(TYPE));\n"
    "            qn_tile_load(as, am, A_X, A_Y, 0, &full);\n"
    "            qn_tile_load_to(bs + rank * 32 * STEP, bm, HALF_X, HALF_Y, 0, &full, 3);\n"
    "        }\n"
    "        qn_barrier_wait(&full, parity);\n"
    "#ifdef HELD\n"
    "        uint words[16];\n"
    "        #pragma unroll\n"
    "        for (int i = 0; i < 16; i++)\n"
    "            words[i] = *(global const uint *)(a + (rank * 64 + item / 32 * 16 + lane / 4 + i % 2 * 8) * "
    "depth + k +\n"
    "                                              (sizeof(TYPE) == 2 ? i / 2 * 8 + lane % 4 * 2\n"
    "                                                                 : i / 4 * 8 + lane % 4 + i / 2 % 2 * "
    "4));\n"
    "        qn_quad_multiply_add(sums, 64, words, bs, LAYOUT, k > 0);\n"
    "#else\n"
    "        qn_quad_multiply_add(sums, 64, as, bs, LAYOUT, k > 0);\n"
    "#endif\n"
    "        qn_quad_wait(0);\n"
    "        if (item < 2) qn_barrier_arrive_at(&empty, item);\n"
    "    }\n"
    "    #pragma unroll\n"
    "    for (int i = 0; i < 32; i++) {\n"
    "        const uint row = item / 32 * 16 + lane / 4 + i / 2 % 2 * 8, column = i / 4 * 8 + lane % 4 * 2 + "
    "i % 2;\n"
    "        cs[column / 32 * 64 * 32 + row * 32 + ((column % 32 / 4 ^ row % 8) * 4 + column % 4)] = "
    "sums[i];\n"
    "    }\n"
    "    qn_async_fence();\n"
    "    qn_named_barrier(1, 128);\n"
    "    if (item == 0) {\n"
    "        qn_tile_store(cm, 0, (int)(rank * 64), 0, cs);\n"
    "        qn_tile_store(cm, 32, (int)(rank * 64), 0, cs + 64 * 32);\n"
    "        qn_tile_store_wait(0);\n"
    "    }\n"
    "    qn_cluster_barrier();\n"
    "}\n";

typedef struct kind {
    const char *options;
    uint32_t size;
} kind;

static uint32_t bits_of(float f) {
    uint32_t bits;
    memcpy(&bits, &f, sizeof bits);
    return bits;
}

/* Small integers, which every type holds. */
static float number(int row, int column, int salt) { return (float)((row * 7 + column * 13 + salt) % 9 - 4); }

static void put(void *data, const kind *k, size_t at, float value) {
    const uint32_t bits = bits_of(value);
    const uint16_t upper = (uint16_t)(bits >> 16),
                   half = value == 0 ? 0
                                     : (uint16_t)((bits >> 16 & 0x8000) | (((bits >> 23 & 255) - 112) << 10) |
                                                  (bits >> 13 & 1023));
    if (k->size == 4)
        memcpy((char *)data + 4 * at, &bits, 4);
    else
        memcpy((char *)data + 2 * at, strstr(k->options, "bf16") ? &upper : &half, 2);
}

/* b is given by rows (depth x columns), or by columns; a by columns or rows. */
static void check_product(qn_device *device, const kind *k, bool by_rows, bool by_columns) {
    qn_context *context = qn_device_context(device);
    qn_buffer *a, *b, *c;
    qn_tensor_map maps[3];
    float *sums = malloc(ROWS * COLUMNS * sizeof *sums);
    char options[256], *data = calloc(ROWS * DEPTH, k->size);
    snprintf(options, sizeof options, "%s -D LAYOUT=%d %s %s", k->options, by_rows + 2 * by_columns,
             by_rows ? "-D HALF_X=0 -D HALF_Y=(int)(k+rank*32)" : "-D HALF_X=k -D HALF_Y=(int)(rank*32)",
             by_columns ? "-D A_X=(int)(rank*64) -D A_Y=k" : "-D A_X=k -D A_Y=(int)(rank*64)");
    qn_program *program;
    const qn_program_desc desc = {.source = source, .options = options};
    assert_ok(context, qn_program_create(device, &desc, &program));
    qn_kernel *kernel = make_kernel(program, context, "product");
    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < DEPTH; j++)
            put(data, k, by_columns ? (size_t)(j * ROWS + i) : (size_t)(i * DEPTH + j), number(i, j, 1));
    a = make_buffer(device, (uint64_t)ROWS * DEPTH * k->size, data);
    for (int i = 0; i < DEPTH; i++)
        for (int j = 0; j < COLUMNS; j++)
            put(data, k, by_rows ? (size_t)(i * COLUMNS + j) : (size_t)(j * DEPTH + i), number(i, j, 2));
    b = make_buffer(device, (uint64_t)COLUMNS * DEPTH * k->size, data);
    c = make_buffer(device, ROWS * COLUMNS * sizeof *sums, NULL);
    const uint64_t b_inner = by_rows ? COLUMNS : DEPTH, b_outer = by_rows ? DEPTH : COLUMNS;
    const uint64_t a_inner = by_columns ? ROWS : DEPTH, a_outer = by_columns ? DEPTH : ROWS;
    const qn_tensor_desc tensors[3] = {
        {.element_size = k->size, .sizes = {a_inner, a_outer}, .tile = {128 / k->size, 64}},
        {.element_size = k->size, .sizes = {b_inner, b_outer}, .tile = {128 / k->size, 32}},
        {.element_size = 4, .sizes = {COLUMNS, ROWS}, .tile = {32, 64}}};
    assert_ok(context, qn_buffer_tensor_map(a, &tensors[0], &maps[0]));
    assert_ok(context, qn_buffer_tensor_map(b, &tensors[1], &maps[1]));
    assert_ok(context, qn_buffer_tensor_map(c, &tensors[2], &maps[2]));
    assert_ok(context,
              qn_launch(NULL, kernel, QN_RANGE(CLUSTER * GROUP),
                        QN_ARGS(QN_BYTES(maps[0]), QN_BYTES(maps[1]), QN_BYTES(maps[2]), a, b, c, DEPTH)));
    assert_ok(context, qn_buffer_read(c, 0, sums, ROWS * COLUMNS * sizeof *sums));
    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < COLUMNS; j++) {
            float wanted = 0;
            for (int d = 0; d < DEPTH; d++) wanted += number(i, d, 1) * number(d, j, 2);
            if (sums[i * COLUMNS + j] != wanted)
                fail_msg("%s: %d, %d is %g, not %g", options, i, j, (double)sums[i * COLUMNS + j],
                         (double)wanted);
        }
    qn_buffer_destroy(a);
    qn_buffer_destroy(b);
    qn_buffer_destroy(c);
    qn_kernel_destroy(kernel);
    qn_program_destroy(program);
    free(data);
    free(sums);
}

static void products(void **state) {
    (void)state;
    static const kind kinds[] = {{"-D TYPE=half", 2}, {"-D TYPE=qn_bf16", 2}},
                      held[] = {{"-D HELD -D TYPE=half", 2}, {"-D HELD -D TYPE=qn_bf16", 2}},
                      wide[] = {{"-D TYPE=float", 4}, {"-D HELD -D TYPE=float", 4}};
    if (!device_can(QN_CAN_COPY_TILES, "tile copies")) return;
    qn_context *context = make_context(NULL);
    qn_device *device = get_device(context, test_device());
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        for (int layout = 0; layout < 4; layout++) check_product(device, &kinds[i], layout & 1, layout & 2);
    for (size_t i = 0; i < sizeof wide / sizeof *wide; i++) check_product(device, &wide[i], false, false);
    for (size_t i = 0; i < sizeof held / sizeof *held; i++)
        for (int layout = 0; layout < 2; layout++) check_product(device, &held[i], layout & 1, false);
    qn_context_destroy(context);
}

/* Each work-group of a cluster adds up, for its own part, what all of them have in local memory. */
static void words_of_neighbours(void **state) {
    (void)state;
    static const char text[] =
        "kernel __attribute__((reqd_work_group_size(64, 1, 1), qn_cluster_size(4))) void add(global float "
        "*to) {\n"
        "    local float own[64];\n"
        "    const uint item = get_local_id(0), rank = qn_cluster_rank();\n"
        "    own[item] = (float)(item * 10 + rank);\n"
        "    qn_cluster_barrier();\n"
        "    float sum = 0;\n"
        "    for (uint i = 0; i < 4; i++) sum = sum * 10 + as_float(qn_cluster_read(qn_cluster_address(own + "
        "rank, i) + item / 4 * 4));\n"
        "    qn_cluster_barrier();\n"
        "    to[get_global_id(0)] = sum;\n"
        "}\n";
    enum { ITEMS = 64, GROUPS = 8 };
    if (!device_can(QN_CAN_COPY_TILES, "tile copies")) return;
    qn_context *context = make_context(NULL);
    qn_device *device = get_device(context, test_device());
    qn_program *program;
    assert_ok(context, qn_program_create(device, &(qn_program_desc){.source = text}, &program));
    qn_kernel *kernel = make_kernel(program, context, "add");
    float sums[GROUPS * ITEMS];
    qn_buffer *to = make_buffer(device, sizeof sums, NULL);
    assert_ok(context, qn_launch(NULL, kernel, QN_RANGE(GROUPS * ITEMS), QN_ARGS(to)));
    assert_ok(context, qn_buffer_read(to, 0, sums, sizeof sums));
    for (int i = 0; i < GROUPS * ITEMS; i++) {
        const int word = i / ITEMS % 4 + i % ITEMS / 4;
        float wanted = 0;
        for (int rank = 0; rank < 4; rank++) wanted = wanted * 10 + (float)(word * 10 + rank);
        assert_float_equal(sums[i], wanted, 0);
    }
    qn_buffer_destroy(to);
    qn_kernel_destroy(kernel);
    qn_program_destroy(program);
    qn_context_destroy(context);
}

/* Each work-group reads what the next one of its cluster has written. */
static void vectors_of_neighbours(void **state) {
    (void)state;
    static const char text[] =
        "kernel __attribute__((reqd_work_group_size(32, 1, 1), qn_cluster_size(4))) void f(global uint4 "
        "*out) {\n"
        "    local uint words[128] __attribute__((aligned(16)));\n"
        "    const uint item = get_local_id(0), group = get_group_id(0);\n"
        "    for (uint i = 0; i < 4; i++) words[item * 4 + i] = group * 1000 + item * 4 + i;\n"
        "    qn_cluster_barrier();\n"
        "    out[get_global_id(0)] = qn_cluster_read4(qn_cluster_address(&words[item * 4], "
        "(qn_cluster_rank() + 1) % 4));\n"
        "    qn_cluster_barrier();\n"
        "}\n";
    enum { GROUPS = 8, WORDS = 128 };
    uint32_t got[GROUPS][WORDS];
    if (!device_can(QN_CAN_COPY_TILES, "tile copies")) return;
    fixture f = make_fixture(test_device(), text, "f");
    qn_buffer *out = make_buffer(f.device, sizeof got, NULL);
    assert_ok(f.context, qn_launch(NULL, f.kernel, QN_RANGE(GROUPS * 32), QN_ARGS(out)));
    assert_ok(f.context, qn_buffer_read(out, 0, got, sizeof got));
    for (uint32_t g = 0; g < GROUPS; g++)
        for (uint32_t i = 0; i < WORDS; i++)
            assert_int_equal(got[g][i], (g / 4 * 4 + (g + 1) % 4) * 1000 + i);
    qn_context_destroy(f.context);
}

/* Where there are no tile copies. */
static void are_refused_elsewhere(void **state) {
    (void)state;
    qn_context *context = make_context(NULL);
    qn_device *device = get_device(context, test_device());
    qn_device_info info;
    qn_program *program;
    qn_tensor_map map;
    assert_ok(context, qn_device_get_info(device, &info));
    if (!(info.capabilities & QN_CAN_COPY_TILES)) {
        static const char *const texts[][2] = {
            {"kernel void f(global int *p) { local qn_barrier b; qn_barrier_init(&b, 1); }",
             "'qn_barrier_init' needs something that this device does not have"},
            {"kernel __attribute__((qn_cluster_size(2))) void f(global int *p) { *p = 1; }",
             "this device has no clusters of work-groups"}};
        for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
            const qn_program_desc desc = {.source = texts[i][0]};
            assert_fails(context, qn_program_create(device, &desc, &program), QN_ERROR_COMPILE, texts[i][1]);
        }
        qn_buffer *buffer = make_buffer(device, 4096, NULL);
        assert_fails(context,
                     qn_buffer_tensor_map(
                         buffer, &(qn_tensor_desc){.element_size = 4, .sizes = {16}, .tile = {16}}, &map),
                     QN_ERROR_UNSUPPORTED, "has no tile copies");
    }
    qn_context_destroy(context);
}

static void wrong_descriptions(void **state) {
    (void)state;
    static const struct {
        qn_tensor_desc desc;
        qn_status status;
        const char *what;
    } rows[] = {
        {{.element_size = 3, .sizes = {16}, .tile = {16}}, QN_ERROR_ARGUMENT, "element_size is 3"},
        {{.element_size = 4, .sizes = {0}, .tile = {16}}, QN_ERROR_ARGUMENT, "sizes[0] is 0"},
        {{.element_size = 4, .sizes = {16, (uint64_t)1 << 32}, .tile = {16}}, QN_ERROR_ARGUMENT, "sizes[1]"},
        {{.element_size = 4, .sizes = {16, 4}, .tile = {16, 257}}, QN_ERROR_ARGUMENT, "tile[1] is 257"},
        {{.element_size = 4, .sizes = {16}, .tile = {3}}, QN_ERROR_ARGUMENT, "multiple of 16 up to 128"},
        {{.element_size = 4, .sizes = {64}, .tile = {64}}, QN_ERROR_ARGUMENT, "multiple of 16 up to 128"},
        {{.offset = 8, .element_size = 4, .sizes = {16}, .tile = {16}}, QN_ERROR_ARGUMENT, "offset is 8"},
        {{.element_size = 4, .sizes = {16, 4}, .strides = {40}, .tile = {16}},
         QN_ERROR_ARGUMENT,
         "strides[0] is 40"},
        {{.element_size = 4, .sizes = {16, 65}, .tile = {16}},
         QN_ERROR_RANGE,
         "takes 4160 bytes at 0 of a buffer of 4096"},
        {{.offset = 16, .element_size = 4, .sizes = {16, 64}, .tile = {16}}, QN_ERROR_RANGE, "at 16"},
        {{.element_size = 4, .sizes = {16, 2, 0xffffffff}, .strides = {64, (uint64_t)1 << 39}, .tile = {16}},
         QN_ERROR_RANGE,
         "takes"},
    };
    qn_context *context = make_context(NULL);
    qn_device *device = get_device(context, test_device());
    qn_buffer *buffer = make_buffer(device, 4096, NULL);
    qn_tensor_map map;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_fails(context, qn_buffer_tensor_map(buffer, &rows[i].desc, &map), rows[i].status,
                     rows[i].what);
    assert_fails(context, qn_buffer_tensor_map(buffer, NULL, &map), QN_ERROR_NULL, "desc");
    assert_fails(context, qn_buffer_tensor_map(buffer, &rows[0].desc, NULL), QN_ERROR_NULL, "map");
    qn_context_destroy(context);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(products),
        cmocka_unit_test(words_of_neighbours),
        cmocka_unit_test(vectors_of_neighbours),
        cmocka_unit_test(are_refused_elsewhere),
        cmocka_unit_test(wrong_descriptions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
