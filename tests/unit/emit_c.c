/* The C target: IR text is emitted, compiled by the system's compiler with warnings as errors, loaded and
   run, and what the kernels wrote is compared with what the IR means. One module (emit_c.ir) holds most
   kernels, so that the compiler starts few times; it runs optimised, and once more as for a debugger. */
#include "emit_support.h"

static emitted compiled[3]; /* for any machine, for this machine, for a debugger */
static qn__arena arena;

static int compile_all(void **state) {
    void *unused;
    static const qn__emit_options plain = {.source_name = "test.cl", .target.sub_group_size = 8};
    static const qn__emit_options debug = {
        .source_name = "test.cl", .debug = true, .target.sub_group_size = 8};
    ir_setup(&unused);
    arena = *(qn__arena *)unused;
    const char *kernels = emit_read(&arena, "tests/unit/emit_c.ir");
    compiled[0] = emit_compiled(&arena, kernels, &plain, "-O3");
    compiled[1] = emit_compiled(&arena, kernels, &plain, "-O3 -march=native");
    compiled[2] = emit_compiled(&arena, kernels, &debug, "-O0 -g");
    *state = compiled;
    return 0;
}

static int release_all(void **state) {
    (void)state;
    for (int i = 0; i < 3; i++) {
        if (compiled[i].handle) dlclose(compiled[i].handle);
    }
    qn__arena_free(&arena);
    return 0;
}

/* Once for each way of compiling. */
#define EACH(state, e)                                                                                       \
    for (const emitted *e = (const emitted *)*(state); e < (const emitted *)*(state) + 3; e++)

static void saxpy_with_offset_and_partial_group(void **state) {
    EACH(state, e) {
        float x[103], y[103], out[103];
        for (int i = 0; i < 103; i++) x[i] = (float)i, y[i] = 100.0f, out[i] = -1;
        struct {
            float *out, *x, *y, a;
            int n;
        } args = {out, x, y, 2, 100};
        emit_launch(e, "saxpy", (launch_sizes){{100}, {16}, {3}}, &args, NULL, 0);
        for (int i = 0; i < 103; i++) assert_true(out[i] == (i >= 3 && i < 100 ? 2.0f * x[i] + 100 : -1));
    }
}

static int32_t loops_expected(int n, int id) {
    int a = 0, b = 1;
    for (int i = 0; i < n; i++) {
        if (i % 3 == 2) {
            int t = a;
            a = b, b = t;
            continue;
        }
        if (id > 9) return a + 1000;
        a += id;
    }
    return a;
}

static void nested_loops(void **state) {
    EACH(state, e) {
        int32_t out[12];
        struct {
            int32_t *out;
            int n;
        } args = {out, 8};
        emit_launch(e, "loops", (launch_sizes){{12}, {4}, {0}}, &args, NULL, 0);
        for (int i = 0; i < 12; i++) assert_int_equal(out[i], loops_expected(8, i));
    }
}

static void early_iterations(void **state) {
    EACH(state, e) {
        int32_t out[40];
        struct {
            int32_t *out;
            int n;
        } args = {out, 4};
        emit_launch(e, "iterations", (launch_sizes){{40}, {20}, {0}}, &args, NULL, 0);
        for (int i = 0; i < 40; i++) {
            int expected = 0;
            for (int k = 1; k <= 4; k++) expected += i >> k & 1 ? 10 * k : 1;
            assert_int_equal(out[i], expected);
        }
    }
}

static void barriers_in_a_loop(void **state) {
    EACH(state, e) {
        int32_t out[4] = {0};
        struct {
            int32_t *out;
        } args = {out};
        emit_launch(e, "tree", (launch_sizes){{200}, {64}, {0}}, &args, NULL, 0);
        for (int g = 0; g < 4; g++) {
            int first = g * 64, last = g == 3 ? 200 : first + 64, sum = 0;
            for (int i = first; i < last; i++) sum += i;
            assert_int_equal(out[g], sum);
        }
    }
}

static void divergent_barriers(void **state) {
    EACH(state, e) {
        int32_t out[16];
        for (int i = 0; i < 16; i++) out[i] = -7;
        struct {
            int32_t *out;
            int n;
        } args = {out, 11};
        emit_launch(e, "divergent", (launch_sizes){{16}, {16}, {0}}, &args, NULL, 0);
        for (int i = 0; i < 16; i++) {
            int neighbour = i % 2 ? -1 : i + 1 < 11 ? (i + 1) * 10 : 0;
            assert_int_equal(out[i], i >= 11 ? -7 : (i % 2 ? 5 : 11) * 1000 + neighbour);
        }
    }
}

static void collectives(void **state) {
    EACH(state, e) {
        int32_t out[27][8];
        struct {
            void *out;
        } args = {out};
        emit_launch(e, "collect", (launch_sizes){{27}, {20}, {0}}, &args, NULL, 0);
        for (int i = 0; i < 27; i++) {
            int first = i < 20 ? 0 : 20, last = i < 20 ? 19 : 26, local = i - first;
            int sub = first + local / 8 * 8, sub_last = sub + 7 < last ? sub + 7 : last, scan = 0, sum = 0,
                odd = 0;
            for (int k = first; k <= i; k++) scan += k;
            for (int k = sub; k <= sub_last; k++) sum += k, odd |= (k & 1) << (k - sub);
            int other = sub + ((local % 8) ^ 1);
            assert_int_equal(out[i][0], last);
            assert_int_equal(out[i][1], scan);
            assert_int_equal(out[i][2], local % 8 ? sub : INT32_MAX);
            assert_int_equal(out[i][3], sum);
            assert_int_equal(out[i][4], first + 3);
            if (other <= sub_last) assert_int_equal(out[i][5], other);
            assert_int_equal(out[i][6], odd);
            assert_int_equal(out[i][7], odd != 0);
        }
    }
}

static void values_across_a_barrier(void **state) {
    EACH(state, e) {
        int32_t out[16];
        struct {
            void *out;
            uint64_t tile;
        } args = {out, 0};
        emit_launch(e, "across", (launch_sizes){{16}, {8}, {0}}, &args, NULL, 32);
        for (int i = 0; i < 16; i++) {
            int square = i * i, cube = square * i, value = ((cube ^ square) + cube) * 3;
            assert_int_equal(out[i], (i % 4 == 1 ? value : 0) + (i ^ 1) + value);
        }
    }
}

static void atomics(void **state) {
    EACH(state, e) {
        struct {
            int32_t bins[4], most;
            float sum;
            int32_t swapped;
        } out = {{1, 2, 3, 4}, 0, 0, 0};
        struct {
            void *out;
        } args = {&out};
        emit_launch(e, "atomics", (launch_sizes){{20}, {8}, {0}}, &args, NULL, 0);
        for (int i = 0; i < 4; i++) assert_int_equal(out.bins[i], i + 1 + 5);
        assert_int_equal(out.most, 2);
        assert_true(out.sum == 6.0f);
        assert_int_equal(out.swapped, 7);
    }
}

static void conversions(void **state) {
    const float in[] = {1.5f, -1.5f, 3e9f, -3e9f, NAN, 127.25f, 65519.0f, 2.5f};
    const struct {
        uint32_t s32, u32;
        int32_t s8;
        uint32_t half, half_zero, top;
        float up, least;
    } expected[] = {
        {1, 2, 2, 0x3e00, 0x3e00, 0x3f, 1, 1},
        {(uint32_t)-1, 0, -1, 0xbe00, 0xbe00, 0xbf, -2, -1.5f},
        {0x7fffffff, 3000000000u, 127, 0x7c00, 0x7bff, 0x4f, 3e9f, 1},
        {0x80000000, 0, -128, 0xfc00, 0xfbff, 0xcf, -3e9f, -3e9f},
        {0, 0, 0, 0x7e00, 0x7e00, 0x7f, 0, 1},
        {127, 127, 127, 0x57f4, 0x57f4, 0x42, 127, 1},
        {65519, 65519, 127, 0x7bff, 0x7bff, 0x47, 65519, 1},
        {2, 2, 3, 0x4100, 0x4100, 0x40, 2, 1},
    };
    EACH(state, e) {
        uint32_t out[8][8];
        struct {
            void *out;
            const void *in;
        } args = {out, in};
        emit_launch(e, "convert", (launch_sizes){{8}, {8}, {0}}, &args, NULL, 0);
        for (int i = 0; i < 8; i++) assert_memory_equal(out[i], &expected[i], sizeof out[i]);
    }
}

static void integers(void **state) {
    EACH(state, e) {
        int32_t out[8];
        struct {
            void *out;
            int32_t a, b;
        } args = {out, INT32_MIN, -1};
        emit_launch(e, "integers", (launch_sizes){{1}, {1}, {0}}, &args, NULL, 0);
        const int32_t wrapped[8] = {INT32_MIN, 0, 0, 0x40000000, 50, 0, 0, 1};
        assert_memory_equal(out, wrapped, sizeof out);
        args.a = 100, args.b = 0;
        emit_launch(e, "integers", (launch_sizes){{1}, {1}, {0}}, &args, NULL, 0);
        const int32_t by_zero[8] = {100, 0, 100, 0, -28, 25, 32, 200};
        assert_memory_equal(out, by_zero, sizeof out);
    }
}

typedef struct printed {
    char text[64];
} printed;

static int32_t print_two(void *user, const char *format, const unsigned char *values, uint64_t size) {
    int32_t i;
    double d;
    assert_int_equal(size, 16);
    memcpy(&i, values, 4);
    memcpy(&d, values + 8, 8);
    assert_string_equal(format, "%d %f\n");
    snprintf(((printed *)user)->text, sizeof((printed *)user)->text, "%d %.2f", i, d);
    return 0;
}

static void tables_and_printf(void **state) {
    EACH(state, e) {
        printed text = {""};
        qn_cpu_services services = {&text, print_two};
        struct {
            float v[3];
            int32_t entry;
        } out;
        struct {
            void *out;
            uint64_t gap;
            float v[4];
        } args = {&out, 0, {1, 2, 0.5f, 0}};
        emit_launch(e, "tables", (launch_sizes){{1}, {1}, {0}}, &args, &services, 0);
        assert_true(out.v[0] == 1.5f && out.v[1] == 0 && out.v[2] == 2.5f);
        assert_int_equal(out.entry, 4);
        assert_string_equal(text.text, "4 1.00");
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(saxpy_with_offset_and_partial_group),
        cmocka_unit_test(nested_loops),
        cmocka_unit_test(early_iterations),
        cmocka_unit_test(barriers_in_a_loop),
        cmocka_unit_test(divergent_barriers),
        cmocka_unit_test(collectives),
        cmocka_unit_test(values_across_a_barrier),
        cmocka_unit_test(atomics),
        cmocka_unit_test(conversions),
        cmocka_unit_test(integers),
        cmocka_unit_test(tables_and_printf),
    };
    return cmocka_run_group_tests_name("emit.c", tests, compile_all, release_all);
}
