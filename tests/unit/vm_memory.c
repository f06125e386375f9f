/* Memory on the VM: vectors, copies, kernel arguments of every kind, __constant objects with addresses in
   them, local memory of each group, printf, and what cannot be prepared. */
#include "vm_support.h"

static const char three_lanes[] = "kernel @k(%in: ptr.global buffer size 8 align 8,\n"
                                  "  %out: ptr.global buffer size 8 align 8) {\n"
                                  "%id: i64 = global_id [0]\n%a: i64 = shl %id, i64 4\n"
                                  "%p: ptr.global = ptr_add %in, %a\n%q: ptr.global = ptr_add %out, %a\n"
                                  "%v: i32x3 = load align 16 %p\n"
                                  "%w: i32x3 = add %v, i32x3 (10, 20, 30)\n"
                                  "store align 16 %q, %w\nreturn\n}\n";

/* A 3-vector is read and written as three lanes. */
static void test_vector_of_three(void **state) {
    (void)state;
    static const int32_t in[8] = {1, 2, 3, -1, 5, 6, 7, -1};
    int32_t out[8] = {0, 0, 0, 77, 0, 0, 0, 78};
    uint64_t args[] = {(uintptr_t)in, (uintptr_t)out};
    vm_ok(&(vm_launch){.text = three_lanes, .global = {2}, .local = {2}, .args = args});
    static const int32_t expected[8] = {11, 22, 33, 77, 15, 26, 37, 78};
    assert_memory_equal(out, expected, sizeof out);
}

/* Elements of every size, at addresses without alignment. */
static void test_sizes(void **state) {
    (void)state;
    static const char text[] = "kernel @k(%in: ptr.global buffer size 8 align 8,\n"
                               "  %out: ptr.global buffer size 8 align 8) {\n"
                               "%a: i8 = load align 1 %in\nstore align 1 %out, %a\n"
                               "%b: i16x2 = load align 1 offset 1 %in\nstore align 1 offset 1 %out, %b\n"
                               "%c: f32 = load align 1 offset 5 %in\nstore align 1 offset 5 %out, %c\n"
                               "%d: f64x2 = load align 1 offset 9 %in\nstore align 1 offset 9 %out, %d\n"
                               "%e: i8x16 = load align 1 offset 25 %in\nstore align 1 offset 25 %out, %e\n"
                               "%i: ptr.global = ptr_add offset 41 %in, i64 0\n"
                               "%o: ptr.global = ptr_add offset 41 %out, i64 0\n"
                               "copy size 5 align 1 %o, %i\nreturn\n}\n";
    unsigned char in[48], out[48] = {0};
    for (unsigned i = 0; i < sizeof in; i++) in[i] = (unsigned char)(i + 1);
    uint64_t args[] = {(uintptr_t)in, (uintptr_t)out};
    vm_ok(&(vm_launch){.text = text, .args = args});
    assert_memory_equal(in, out, 46);
    assert_int_equal(out[46], 0);
}

/* The argument block: each at its natural alignment; a struct's value is its address there. */
static void test_arguments(void **state) {
    (void)state;
    static const char text[] = "kernel @k(%c: i8 value size 1 align 1, %v: f32x3 value size 16 align 16,\n"
                               "  %s: ptr.param struct size 12 align 4, %l: ptr.local local size 8 align 8,\n"
                               "  %d: f64 value size 8 align 8, %out: ptr.global buffer size 8 align 8)\n"
                               "  local #0 \"fixed\" size 8 align 8 {\n"
                               "%c32: i32 = sext %c\nstore align 4 %out, %c32\n"
                               "%v2: f32 = extract [2] %v\nstore align 4 offset 4 %out, %v2\n"
                               "%f: i32 = load align 4 offset 8 %s\nstore align 4 offset 8 %out, %f\n"
                               "%fixed: ptr.local = local #0\n"
                               "%la: i64 = ptr2int %l\n%fa: i64 = ptr2int %fixed\n%gap: i64 = sub %la, %fa\n"
                               "store align 8 %l, %d\n%back: f64 = load align 8 %l\n"
                               "store align 8 offset 16 %out, %back\n"
                               "store align 8 offset 24 %out, %gap\nreturn\n}\n";
    struct {
        int8_t c;
        char gap0[15];
        float v[4];
        int32_t s[3], gap1;
        uint64_t l;
        double d;
        uint64_t out;
    } args = {.c = -3, .v = {1, 2, 3.5f, 4}, .s = {7, 8, 9}, .l = 16, .d = 2.25};
    struct {
        int32_t c;
        float v;
        int32_t s, gap;
        double d;
        int64_t distance;
    } out = {0};
    args.out = (uintptr_t)&out;
    vm_ok(&(vm_launch){.text = text, .args = &args, .local_bytes = 64});
    assert_int_equal(out.c, -3);
    assert_true(out.v == 3.5f);
    assert_int_equal(out.s, 9);
    assert_true(out.d == 2.25);
    assert_int_equal(out.distance, 16);
}

/* Object 0 holds the address of object 1's second element. */
static void test_constant_objects(void **state) {
    (void)state;
    static const char text[] =
        "constant #0 \"table\" size 16 align 8 zero\n    at 8 #1 4\n"
        "constant #1 \"numbers\" size 8 align 64 hex \"01000000 02000000\"\n"
        "kernel @k(%out: ptr.global buffer size 8 align 8) {\n"
        "%t: ptr.constant = global #0\n%a: i64 = load align 8 offset 8 %t\n"
        "%p: ptr.constant = int2ptr %a\n%v: i32 = load align 4 readonly %p\n"
        "store align 4 %out, %v\n"
        "%n: ptr.constant = global #1\n%b: i64 = ptr2int %n\n%c: i64 = and %b, i64 63\n"
        "store align 8 offset 8 %out, %c\nreturn\n}\n";
    int64_t out[2] = {0, -1};
    uint64_t args[] = {(uintptr_t)out};
    vm_ok(&(vm_launch){.text = text, .args = args});
    assert_int_equal(out[0], 2);
    assert_int_equal(out[1], 0);
}

/* ---- printf ---- */

typedef struct printed {
    unsigned calls;
    char format[32];
    unsigned char values[3][64];
    uint64_t size;
} printed;

static int32_t take_print(void *user, const char *format, const unsigned char *values, uint64_t size) {
    printed *p = user;
    snprintf(p->format, sizeof p->format, "%s", format);
    if (p->calls < 3 && size <= 64) memcpy(p->values[p->calls], values, size);
    p->size = size;
    return (int32_t)p->calls++;
}

static void test_printf(void **state) {
    (void)state;
    static const char text[] = "constant #0 \"f\" size 7 align 1 format text \"%d %v3f\"\n"
                               "kernel @k(%out: ptr.global buffer size 8 align 8) {\n"
                               "%id: i64 = global_id [0]\n%x: i32 = trunc %id\n%c: bool = ne %x, i32 1\n"
                               "if %c {\n%f: f64 = s2f %x\n"
                               "%v: f32x3 = splat f32 0.5\n%r: i32 = printf #0 %x, %f, %v\n"
                               "%a: i64 = shl %id, i64 2\n%p: ptr.global = ptr_add %out, %a\n"
                               "store align 4 %p, %r\nyield\n} else {\nyield\n}\nreturn\n}\n";
    int32_t out[3] = {9, 9, 9};
    uint64_t args[] = {(uintptr_t)out};
    printed got = {0};
    qn_cpu_services services = {&got, take_print};
    vm_launch launch = {.text = text, .global = {3}, .local = {3}, .args = args, .services = &services};
    vm_ok(&launch);
    assert_int_equal(got.calls, 2);
    assert_string_equal(got.format, "%d %v3f");
    assert_int_equal(got.size, 28);
    int32_t x;
    double f;
    float v[3];
    memcpy(&x, got.values[1], sizeof x);
    memcpy(&f, got.values[1] + 8, sizeof f);
    memcpy(v, got.values[1] + 16, sizeof v);
    assert_int_equal(x, 2);
    assert_true(f == 2.0 && v[0] == 0.5f && v[2] == 0.5f);
    assert_int_equal(out[0], 0);
    assert_int_equal(out[1], 9);
    assert_int_equal(out[2], 1);

    launch.services = NULL;
    vm_ok(&launch);
    assert_int_equal(out[2], -1);
}

/* ---- what cannot be prepared ---- */

static void test_errors(void **state) {
    (void)state;
    static const struct {
        const char *text, *message;
    } cases[] = {
        {"kernel @k() {\ncall @f\nreturn\n}\nfunction @f() {\nreturn\n}\n", "inlined"},
        {"kernel @k() {\n%v: ptr.private = var \"big\" size 8000000000 align 4\nreturn\n}\n",
         "private variables take over 1073741824 bytes"},
        {"kernel @k() local #0 \"big\" size 8000000000 align 4 {\nreturn\n}\n", "too large"},
    };
    for (size_t i = 0; i < QN__COUNT(cases); i++) {
        qn__arena arena;
        jmp_buf escape;
        qn__arena_init(&arena, NULL, 0);
        if (setjmp(escape)) fail_msg("out of memory");
        arena.escape = &escape;
        const char *error = NULL;
        assert_null(qn__vm_prepare(&arena, vm_parse(&arena, cases[i].text), 0, &error));
        assert_non_null(error);
        if (!strstr(error, cases[i].message)) fail_msg("%s", error);
        qn__arena_free(&arena);
    }
}

/* An async copy is there after its wait; its event is not 0. */
static void test_async_copy(void **state) {
    (void)state;
    static const char text[] = "kernel @k(%in: ptr.global buffer size 8 align 8,\n"
                               "  %out: ptr.global buffer size 8 align 8) local #0 size 16 align 16 {\n"
                               "%tile: ptr.local = local #0\ncopy async size 16 align 16 %tile, %in\n"
                               "%e: i32 = async_commit i32 0\nasync_wait %e\n"
                               "%v: i32 = load align 4 offset 8 %tile\nstore align 4 %out, %v\n"
                               "%some: bool = ne %e, i32 0\n%i: i32 = zext %some\n"
                               "store align 4 offset 4 %out, %i\nreturn\n}\n";
    static const int32_t in[4] = {5, 6, 7, 8};
    int32_t out[2] = {0};
    uint64_t args[] = {(uintptr_t)in, (uintptr_t)out};
    vm_ok(&(vm_launch){.text = text, .args = args});
    assert_int_equal(out[0], 7);
    assert_int_equal(out[1], 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_vector_of_three), cmocka_unit_test(test_sizes),
        cmocka_unit_test(test_arguments),       cmocka_unit_test(test_constant_objects),
        cmocka_unit_test(test_printf),          cmocka_unit_test(test_async_copy),
        cmocka_unit_test(test_errors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
