/* Work-items together on the VM: queries, barriers in loops, collectives, sub-groups (also partial ones),
   atomics. */
#include "vm_support.h"

/* Writes the i32 %r of each work-item at its linear global id of one dimension. */
#define HEAD "kernel @k(%out: ptr.global buffer size 8 align 8"
#define IDS                                                                                                  \
    "%id: i64 = global_id [0]\n"                                                                             \
    "%at: i64 = shl %id, i64 2\n"                                                                            \
    "%p: ptr.global = ptr_add %out, %at\n"                                                                   \
    "%x: i32 = trunc %id\n"
#define STORE "store align 4 %p, %r\nreturn\n}\n"

enum { MOST = 1000 };

static int32_t out[MOST];

static void run(const char *text, uint64_t global, uint64_t local, uint32_t sub_group_size) {
    memset(out, 0xee, sizeof out);
    uint64_t args[] = {(uintptr_t)out};
    vm_ok(&(vm_launch){
        .text = text, .global = {global}, .local = {local}, .args = args, .sub_group_size = sub_group_size});
}

#define EXPECT(i, value)                                                                                     \
    do {                                                                                                     \
        int32_t expected = (int32_t)(value);                                                                 \
        if (out[i] != expected) fail_msg("work-item %d: %d, expected %d", (int)(i), out[i], expected);       \
    } while (0)

/* ---- queries ---- */

static const struct {
    const char *op;
    int64_t expected[4]; /* of the first and last work-item of group (0, 0, 0), and of the last group */
} queries[] = {
    {"global_id [0]", {100, 103, 108, 109}},
    {"global_id [1]", {0, 1, 2, 2}},
    {"local_id [0]", {0, 3, 0, 1}},
    {"local_id [1]", {0, 1, 0, 0}},
    {"group_id [0]", {0, 0, 2, 2}},
    {"group_id [1]", {0, 0, 1, 1}},
    {"global_size [0]", {10, 10, 10, 10}},
    {"global_size [2]", {1, 1, 1, 1}},
    {"local_size [0]", {4, 4, 2, 2}},
    {"local_size [1]", {2, 2, 1, 1}},
    {"enqueued_local_size [0]", {4, 4, 4, 4}},
    {"num_groups [0]", {3, 3, 3, 3}},
    {"num_groups [1]", {2, 2, 2, 2}},
    {"global_offset [0]", {100, 100, 100, 100}},
    {"work_dim", {2, 2, 2, 2}},
    {"sub_group_size", {3, 2, 2, 2}},
    {"max_sub_group_size", {3, 3, 3, 3}},
    {"num_sub_groups", {3, 3, 1, 1}},
    {"sub_group_id", {0, 2, 0, 0}},
    {"sub_group_local_id", {0, 1, 0, 1}},
};

/* 10 x 3 work-items in groups of 4 x 2: the last groups of both dimensions are partial. */
static void test_queries(void **state) {
    (void)state;
    for (size_t k = 0; k < QN__COUNT(queries); k++) {
        bool wide = strchr(queries[k].op, '[') != NULL;
        char text[1024];
        snprintf(text, sizeof text,
                 "kernel @k(%%out: ptr.global buffer size 8 align 8) {\n"
                 "%%gx: i64 = global_id [0]\n%%x: i64 = sub %%gx, i64 100\n%%y: i64 = global_id [1]\n"
                 "%%row: i64 = mul %%y, i64 10\n%%n: i64 = add %%row, %%x\n%%at: i64 = shl %%n, i64 3\n"
                 "%%p: ptr.global = ptr_add %%out, %%at\n%%q: %s = %s\n%sstore align 8 %%p, %%r\nreturn\n}\n",
                 wide ? "i64" : "i32", queries[k].op,
                 wide ? "%r: i64 = add %q, i64 0\n" : "%r: i64 = zext %q\n");
        int64_t result[30];
        uint64_t args[] = {(uintptr_t)result};
        vm_ok(&(vm_launch){.text = text,
                           .global = {10, 3},
                           .local = {4, 2},
                           .offset = {100},
                           .args = args,
                           .sub_group_size = 3});
        const int64_t got[4] = {result[0], result[13], result[28], result[29]};
        for (unsigned i = 0; i < 4; i++)
            if (got[i] != queries[k].expected[i])
                fail_msg("%s: %d, expected %d", queries[k].op, (int)got[i], (int)queries[k].expected[i]);
    }
}

/* ---- barriers ---- */

/* Sum of a group by halves in local memory. */
static void test_barrier_in_loop(void **state) {
    (void)state;
    run(HEAD ")\n local #0 \"t\" size 256 align 64 {\n" IDS
             "%t: ptr.local = local #0\n%l: i64 = local_id [0]\n%lo: i64 = shl %l, i64 2\n"
             "%q: ptr.local = ptr_add %t, %lo\nstore align 4 %q, %x\nbarrier local scope work_group\n"
             "loop @h (%n: i64 = i64 32) {\n%e: bool = eq %n, i64 0\n"
             "if %e {\nbreak @h\n} else {\nyield\n}\n"
             "%c: bool = ult %l, %n\n"
             "if %c {\n%no: i64 = shl %n, i64 2\n%o: ptr.local = ptr_add %q, %no\n"
             "%u: i32 = load align 4 %q\n%v: i32 = load align 4 %o\n%w: i32 = add %u, %v\n"
             "store align 4 %q, %w\nyield\n} else {\nyield\n}\n"
             "barrier local scope work_group\n%n1: i64 = lshr %n, i64 1\ncontinue @h %n1\n}\n"
             "%r: i32 = load align 4 %t\n" STORE,
        256, 64, 0);
    for (int i = 0; i < 256; i++) EXPECT(i, 64 * (i / 64 * 64) + 64 * 63 / 2);
}

/* ---- collectives ---- */

static void test_work_group_collectives(void **state) {
    (void)state;
    run(HEAD ") {\n" IDS "%r: i32 = group_reduce combine add scope work_group %x\n" STORE, 10, 4, 0);
    for (int i = 0; i < 10; i++) EXPECT(i, i < 4 ? 6 : i < 8 ? 22 : 17);
    run(HEAD ") {\n" IDS "%r: i32 = group_scan combine smax scope work_group %x\n" STORE, 8, 8, 0);
    for (int i = 0; i < 8; i++) EXPECT(i, i);
    run(HEAD ") {\n" IDS "%r: i32 = group_scan exclusive combine smin scope work_group %x\n" STORE, 8, 4, 0);
    for (int i = 0; i < 8; i++) EXPECT(i, i % 4 ? i / 4 * 4 : INT32_MAX);
    run(HEAD ") {\n" IDS "%f: f32 = s2f %x\n%s: f32 = group_reduce combine fmul scope work_group %f\n"
             "%r: i32 = f2s round zero %s\n" STORE,
        6, 3, 0);
    for (int i = 0; i < 6; i++) EXPECT(i, i < 3 ? 0 : 60);
    run(HEAD ") {\n" IDS "%c: bool = slt %x, i32 6\n%a: bool = group_all scope work_group %c\n"
             "%o: bool = group_any scope work_group %c\n%ai: i32 = zext %a\n%oi: i32 = zext %o\n"
             "%a2: i32 = shl %ai, i32 1\n%r: i32 = or %a2, %oi\n" STORE,
        12, 4, 0);
    for (int i = 0; i < 12; i++) EXPECT(i, i < 4 ? 3 : i < 8 ? 1 : 0);
    run(HEAD ") {\n" IDS "%r: i32 = group_broadcast scope work_group %x, i32 2\n" STORE, 8, 4, 0);
    for (int i = 0; i < 8; i++) EXPECT(i, i / 4 * 4 + 2);
}

/* Collectives in a branch take in those that are there. */
static void test_collective_in_branch(void **state) {
    (void)state;
    run(HEAD ") {\n" IDS "%m: i32 = and %x, i32 1\n%c: bool = eq %m, i32 1\n"
             "%r: i32 = if %c {\n%s: i32 = group_reduce combine add scope sub_group %x\nyield %s\n} else {\n"
             "%n: i32 = group_scan combine add scope sub_group %x\nyield %n\n}\n" STORE,
        16, 16, 8);
    for (int i = 0; i < 16; i++) {
        int base = i / 8 * 8, scan = 0;
        for (int k = base; k <= i; k += 2) scan += k;
        EXPECT(i, i % 2 ? 4 * base + 1 + 3 + 5 + 7 : scan);
    }
}

/* Groups of 10 in sub-groups of 4: 4, 4 and 2 work-items. */
static void test_sub_groups(void **state) {
    (void)state;
    run(HEAD ") {\n" IDS "%r: i32 = group_reduce combine umax scope sub_group %x\n" STORE, 20, 10, 4);
    for (int i = 0; i < 20; i++) EXPECT(i, i % 10 >= 8 ? i / 10 * 10 + 9 : i / 10 * 10 + i % 10 / 4 * 4 + 3);
    run(HEAD ") {\n" IDS "%l: i32 = sub_group_local_id\n%n: i32 = xor %l, i32 1\n"
             "%r: i32 = sub_group_shuffle %x, %n\n" STORE,
        20, 10, 4);
    for (int i = 0; i < 20; i++) EXPECT(i, i ^ 1);
    run(HEAD ") {\n" IDS
             "%m: i32 = urem %x, i32 3\n%c: bool = eq %m, i32 0\n%b: i32x4 = sub_group_ballot %c\n"
             "%r: i32 = extract [1] %b\n" STORE,
        40, 40, 64);
    for (int i = 0; i < 40; i++) EXPECT(i, 1 << 1 | 1 << 4 | 1 << 7);
    run(HEAD ") {\n" IDS "%l: i32 = sub_group_id\n%v: i32x3 = splat %x\n"
             "%w: i32x3 = group_broadcast scope sub_group %v, %l\n%r: i32 = extract [2] %w\n" STORE,
        20, 10, 4);
    for (int i = 0; i < 20; i++)
        if (i % 10 < 8) EXPECT(i, i / 10 * 10 + i % 10 / 4 * 5);
}

/* ---- atomics ---- */

static const struct {
    const char *combine, *type, *operand, *initial, *expected; /* over work-items 1 to 5 */
} atomics[] = {
    {"add", "i32", "%x", "i32 10", "i32 25"},     {"sub", "i64", "%id", "i64 10", "i64 -5"},
    {"xchg", "i32", "%x", "i32 10", "i32 5"},     {"and", "i32", "%x", "i32 -1", "i32 0"},
    {"or", "i64", "%id", "i64 0", "i64 7"},       {"xor", "i32", "%x", "i32 0", "i32 1"},
    {"smin", "i32", "%x", "i32 -7", "i32 -7"},    {"umin", "i32", "%x", "i32 -7", "i32 1"},
    {"smax", "i64", "%id", "i64 -7", "i64 5"},    {"umax", "i32", "%x", "i32 -7", "i32 -7"},
    {"fadd", "f32", "%f", "f32 0.5", "f32 15.5"}, {"fmin", "f32", "%f", "f32 3.0", "f32 1.0"},
    {"fmax", "f32", "%f", "f32 3.0", "f32 5.0"},
};

static void test_atomics(void **state) {
    (void)state;
    for (size_t k = 0; k < QN__COUNT(atomics); k++) {
        char text[1024];
        snprintf(text, sizeof text,
                 "kernel @k(%%out: ptr.global buffer size 8 align 8) {\n%%id: i64 = global_id [0]\n%%x: i32 "
                 "= trunc %%id\n%%f: f32 = s2f %%x\n"
                 "%%last: bool = eq %%id, i64 5\n%%first: bool = eq %%id, i64 1\n"
                 "if %%first {\nstore align 8 %%out, %s\nstore align 8 offset 8 %%out, %s\nyield\n"
                 "} else {\nyield\n}\n"
                 "%%old: %s = atomic_rmw combine %s order relaxed scope device align 4 %%out, %s\n"
                 "return\n}\n",
                 atomics[k].initial, atomics[k].expected, atomics[k].type, atomics[k].combine,
                 atomics[k].operand);
        uint64_t memory[2] = {0};
        uint64_t args[] = {(uintptr_t)memory};
        vm_ok(&(vm_launch){.text = text, .global = {5}, .offset = {1}, .local = {5}, .args = args});
        if (memory[0] != memory[1]) fail_msg("atomic %s", atomics[k].combine);
    }
}

/* Old values, compare-and-swap, atomic load and store. */
static void test_atomic_values(void **state) {
    (void)state;
    run(HEAD ") {\n" IDS
             "%r: i32 = atomic_rmw combine add order seq_cst scope device align 4 offset 400 %out,"
             " i32 1\n" STORE,
        20, 5, 0);
    int32_t first = out[0];
    for (int i = 0; i < 20; i++) EXPECT(i, first + i);
    run(HEAD
        ") {\n" IDS "%z: bool = eq %x, i32 0\n"
        "if %z {\natomic_store order release scope device align 4 offset 400 %out, i32 3\nyield\n"
        "} else {\nyield\n}\n"
        "%n: i32 = add %x, i32 1\n"
        "%o: i32 = atomic_cas order seq_cst fail relaxed scope device align 4 offset 400 %out, %x, %n\n"
        "%r: i32 = atomic_load order acquire scope device align 4 offset 400 %out\nfence global order acq_rel"
        " scope device\n" STORE,
        8, 8, 0);
    for (int i = 0; i < 8; i++) EXPECT(i, 8);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_queries),
        cmocka_unit_test(test_barrier_in_loop),
        cmocka_unit_test(test_work_group_collectives),
        cmocka_unit_test(test_collective_in_branch),
        cmocka_unit_test(test_sub_groups),
        cmocka_unit_test(test_atomics),
        cmocka_unit_test(test_atomic_values),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
