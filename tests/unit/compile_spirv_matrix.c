/* Matrix fragments in SPIR-V, for devices that list shapes: which instructions come out, what a module asks for, and which
   kernels go without. That results are right is shown by tests/cl/matrix_*.cl on devices that have them. */
#include "spirv_support.h"
#include "util/file.h"

/* Numbers in the specification and its extensions. */
enum {
    OP_EXTENSION = 10,
    OP_CAPABILITY = 17,
    OP_TYPE_FLOAT = 22,
    OP_F_CONVERT = 115,
    OP_BITCAST = 124,
    OP_TYPE_MATRIX = 4456,
    OP_LOAD = 4457,
    OP_STORE = 4458,
    OP_MULTIPLY_ADD = 4459,
    OP_LENGTH = 4460,
    FLOAT8 = 4212,
    FLOAT8_MATRIX = 4213,
    BFLOAT16 = 5116,
    BFLOAT16_MATRIX = 5118,
    MATRIX = 6022,
    ALL_SIGNED = 0xf
};

static qn__target target_of(const qn__unit_shape *shapes, size_t count) {
    qn__target target = {.kind = QN__TARGET_SPIRV, .sub_group_size = 32, .has_matrices = true};
    for (size_t i = 0; i < count; i++) qn__target_add_shape(&target, shapes[i]);
    return target;
}

/* As NVIDIA's driver lists them, and some more. */
static qn__target full_target(void) {
    static const qn__unit_shape shapes[] = {
        {QN__UNIT_F16, QN__UNIT_F16, QN__UNIT_F16, 16, 8, 16},
        {QN__UNIT_F16, QN__UNIT_F16, QN__UNIT_F32, 16, 8, 16},
        {QN__UNIT_F16, QN__UNIT_F16, QN__UNIT_F16, 16, 16, 16},
        {QN__UNIT_F16, QN__UNIT_F16, QN__UNIT_F32, 16, 16, 16},
        {QN__UNIT_BF16, QN__UNIT_BF16, QN__UNIT_F32, 16, 16, 16},
        {QN__UNIT_I8, QN__UNIT_I8, QN__UNIT_I32, 16, 16, 32},
        {QN__UNIT_U8, QN__UNIT_U8, QN__UNIT_I32, 16, 16, 32},
        {QN__UNIT_E4M3, QN__UNIT_E4M3, QN__UNIT_F32, 16, 16, 32},
        {QN__UNIT_E4M3, QN__UNIT_E5M2, QN__UNIT_F32, 16, 16, 32},
    };
    return target_of(shapes, sizeof shapes / sizeof *shapes);
}

typedef struct counted {
    unsigned op, operand; /* operand 0: any instruction `op` counts */
    uint32_t value, count;
} counted;

static void visit(const qn__compile_result *result, size_t at, unsigned op, unsigned length, void *user) {
    counted *c = user;
    if (op == c->op && (!c->operand || (c->operand < length && word(result, at + c->operand) == c->value)))
        c->count++;
}

static uint32_t count(const qn__compile_result *result, unsigned op) {
    counted c = {.op = op};
    each(result, visit, &c);
    return c.count;
}

static bool has(const qn__compile_result *result, unsigned op, unsigned operand, uint32_t value) {
    counted c = {.op = op, .operand = operand, .value = value};
    each(result, visit, &c);
    return c.count > 0;
}

static void compiled(qn__compile_result *result, const char *source, const char *options, qn__target target) {
    static const char *const folders[] = {QN__SOURCE_DIR "/tests/cl"};
    const qn__compile_request request = {.source = source,
                                         .name = "k.cl",
                                         .options = options,
                                         .include_dirs = folders,
                                         .num_include_dirs = 1,
                                         .target = target,
                                         .level = 2,
                                         .verify = true};
    if (qn__compile(&request, result) != QN__COMPILE_OK) fail_msg("%s\n%s", result->log, source);
    validate(result, source);
}

/* C += A B of fragments M x K and K x N, from global memory. */
static const char product[] =
    "kernel void k(global C *c, global const A *a, global const B *b, uint stride) {\n"
    "    qn_matrix(A, M, K, qn_use_a) x; qn_matrix(B, K, N, qn_use_b) y; qn_matrix(C, M, N, "
    "qn_use_accumulator) z;\n"
    "    qn_matrix_fill(&z, 0);\n"
    "    qn_matrix_load(&x, a, stride, qn_row_major); qn_matrix_load(&y, b, stride, qn_column_major);\n"
    "    qn_matrix_multiply_add(&z, &x, &y);\n"
    "    qn_matrix_store(&z, c, stride, qn_row_major);\n"
    "}\n";

/* ---- the tests ---- */

static void products_of_listed_shapes_are_instructions(void **state) {
    (void)state;
    static const struct {
        const char *options;
        uint32_t products, loads, capabilities[2], signs;
    } rows[] = {
        {"-D A=half -D B=half -D C=float -D M=16 -D N=16 -D K=16", 1, 2, {0, 0}, 0},
        {"-D A=half -D B=half -D C=half -D M=16 -D N=16 -D K=16", 1, 2, {0, 0}, 0},
        {"-D A=half -D B=half -D C=float -D M=16 -D N=8 -D K=16", 1, 2, {0, 0}, 0},
        {"-D A=half -D B=half -D C=float -D M=64 -D N=32 -D K=32", 16, 12, {0, 0}, 0},
        {"-D A=qn_bf16 -D B=qn_bf16 -D C=float -D M=16 -D N=16 -D K=16",
         1,
         2,
         {BFLOAT16, BFLOAT16_MATRIX},
         0},
        {"-D A=qn_e4m3 -D B=qn_e5m2 -D C=float -D M=16 -D N=16 -D K=32", 1, 2, {FLOAT8, FLOAT8_MATRIX}, 0},
        {"-D A=char -D B=char -D C=int -D M=16 -D N=16 -D K=32", 1, 2, {0, 0}, ALL_SIGNED},
        {"-D A=uchar -D B=uchar -D C=int -D M=16 -D N=16 -D K=64", 2, 4, {0, 0}, 0},
    };
    for (int wide = 0; wide < 2; wide++)
        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
            qn__compile_result result;
            qn__target target = full_target();
            target.wants_wide_addresses = wide;
            compiled(&result, product, rows[i].options, target);
            if (count(&result, OP_MULTIPLY_ADD) != rows[i].products ||
                count(&result, OP_LOAD) != rows[i].loads)
                fail_msg("%s: %u products, %u loads", rows[i].options, count(&result, OP_MULTIPLY_ADD),
                         count(&result, OP_LOAD));
            assert_true(has(&result, OP_CAPABILITY, 1, MATRIX));
            for (int c = 0; c < 2; c++)
                if (rows[i].capabilities[c])
                    assert_true(has(&result, OP_CAPABILITY, 1, rows[i].capabilities[c]));
            assert_int_equal(has(&result, OP_CAPABILITY, 1, BFLOAT16), rows[i].capabilities[0] == BFLOAT16);
            if (rows[i].signs) assert_true(has(&result, OP_MULTIPLY_ADD, 6, rows[i].signs));
            assert_int_equal(result.info.kernels[0].required_sub_group_size, 32);
            qn__compile_free(&result);
        }
}

static void other_products_are_plain(void **state) {
    (void)state;
    static const char *const options[] = {
        "-D A=float -D B=float -D C=float -D M=16 -D N=16 -D K=16",
        "-D A=char -D B=uchar -D C=int -D M=16 -D N=16 -D K=32",
        "-D A=half -D B=half -D C=float -D M=8 -D N=16 -D K=16",
        "-D A=qn_e5m2 -D B=qn_e4m3 -D C=float -D M=16 -D N=16 -D K=32",
    };
    for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
        qn__compile_result result;
        compiled(&result, product, options[i], full_target());
        assert_int_equal(count(&result, OP_TYPE_MATRIX), 0);
        assert_false(has(&result, OP_CAPABILITY, 1, MATRIX));
        qn__compile_free(&result);
    }
    qn__compile_result result;
    compiled(&result, product, "-D A=half -D B=half -D C=float -D M=16 -D N=16 -D K=16",
             (qn__target){.kind = QN__TARGET_SPIRV});
    assert_int_equal(count(&result, OP_TYPE_MATRIX), 0);
    qn__compile_free(&result);
}

/* Local memory that is moved as vectors stays made of them. */
static void local_memory_is_read_as_it_is_declared(void **state) {
    (void)state;
    static const char source[] =
        "kernel void k(global uint4 *from, global float *to) {\n"
        "    local uint4 tile[16 * 3]; local float out[256]; uint i = get_local_id(0);\n"
        "    tile[i / 2 * 3 + i % 2] = from[i];\n"
        "    barrier(CLK_LOCAL_MEM_FENCE);\n"
        "    qn_matrix(half, 16, 16, qn_use_a) a; qn_matrix(half, 16, 16, qn_use_b) b;\n"
        "    qn_matrix(float, 16, 16, qn_use_accumulator) c[2];\n"
        "    qn_matrix_load(&a, (local half *)tile, 24, qn_row_major);\n"
        "    qn_matrix_load(&b, (local half *)tile, 24, qn_row_major);\n"
        "    qn_matrix_fill(&c[0], 1); c[1] = c[0];\n"
        "    qn_matrix_multiply_add(&c[1], &a, &b);\n"
        "    qn_matrix_store(&c[1], out, 16, qn_row_major);\n"
        "    barrier(CLK_LOCAL_MEM_FENCE);\n"
        "    for (uint j = i; j < 256; j += 32) to[j] = out[j];\n"
        "}\n";
    enum { OP_TYPE_VECTOR = 23, OP_ACCESS_CHAIN = 65, OP_U_CONVERT = 113 };
    qn__compile_result result;
    compiled(&result, source, NULL, full_target());
    assert_int_equal(count(&result, OP_MULTIPLY_ADD), 1);
    assert_true(has(&result, OP_TYPE_VECTOR, 3, 4)); /* uvec4 */
    assert_int_equal(count(&result, OP_U_CONVERT), 0);
    qn__compile_free(&result);
}

static void elements_are_reached(void **state) {
    (void)state;
    static const char source[] =
        "kernel void k(global float *to, global const qn_bf16 *from) {\n"
        "    qn_matrix(float, 32, 16, qn_use_accumulator) c; qn_matrix(qn_bf16, 16, 16, qn_use_a) a;\n"
        "    qn_matrix_load(&c, to, 16, qn_row_major); qn_matrix_load(&a, from, 16, qn_row_major);\n"
        "    for (int i = 0; i < qn_matrix_length(&c); i++) qn_matrix_set(&c, i, qn_matrix_get(&c, i) * 2);\n"
        "    qn_matrix_set(&a, 1, qn_matrix_get(&a, 0));\n"
        "    qn_matrix_store(&c, to, 16, qn_row_major);\n"
        "    to[0] = qn_matrix_get(&a, 1);\n"
        "}\n";
    qn__compile_result result;
    compiled(&result, source, NULL, full_target());
    assert_true(count(&result, OP_LENGTH) > 0);
    assert_true(count(&result, OP_BITCAST) >= 2); /* bf16 is 16 bits elsewhere */
    assert_int_equal(count(&result, OP_STORE), 2);
    qn__compile_free(&result);
}

/* Half to float is exact; the way back is the language's own. */
static void exact_conversions_are_instructions(void **state) {
    (void)state;
    static const char source[] =
        "kernel void k(global TO *to, global const FROM *from) {\n"
        "    qn_matrix(TO, 16, 16, qn_use_accumulator) a; qn_matrix(FROM, 16, 16, qn_use_accumulator) b;\n"
        "    qn_matrix_load(&b, from, 16, qn_row_major);\n"
        "    qn_matrix_convert(&a, &b);\n"
        "    qn_matrix_store(&a, to, 16, qn_row_major);\n"
        "}\n";
    qn__compile_result result;
    compiled(&result, source, "-D TO=float -D FROM=half", full_target());
    assert_int_equal(count(&result, OP_F_CONVERT), 1);
    assert_int_equal(count(&result, OP_STORE), 1);
    qn__compile_free(&result);
    compiled(&result, source, "-D TO=half -D FROM=float", full_target());
    assert_int_equal(count(&result, OP_TYPE_MATRIX), 0);
    qn__compile_free(&result);
}

/* What runs on devices is valid, at each level and with addresses of either kind. */
static void the_tests_kernels_are_valid(void **state) {
    (void)state;
    static const struct {
        const char *file;
        bool listed; /* some product of it */
    } files[] = {{"half_float", true},   {"half_half", true}, {"shapes", true}, {"char", true},
                 {"small_floats", true}, {"elements", false}, {"float", false}};
    static char text[1 << 16];
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        char path[512];
        snprintf(path, sizeof path, "%s/tests/cl/matrix_%s.cl", QN__SOURCE_DIR, files[i].file);
        FILE *file = fopen(path, "r");
        assert_non_null(file);
        text[fread(text, 1, sizeof text - 1, file)] = 0;
        fclose(file);
        qn__compile_result result;
        qn__target target = full_target();
        target.wants_wide_addresses = i % 2;
        compiled(&result, text, NULL, target);
        assert_int_equal(count(&result, OP_MULTIPLY_ADD) > 0, files[i].listed);
        qn__compile_free(&result);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(products_of_listed_shapes_are_instructions),
        cmocka_unit_test(other_products_are_plain),
        cmocka_unit_test(local_memory_is_read_as_it_is_declared),
        cmocka_unit_test(elements_are_reached),
        cmocka_unit_test(exact_conversions_are_instructions),
        cmocka_unit_test(the_tests_kernels_are_valid),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
