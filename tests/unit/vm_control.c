/* Control flow of the VM in lock step: divergent branches and loops, jumps out of nests, partial groups, the
   step limit. Every kernel writes one i32 a work-item, %p being its place in the output and %x its global
   id. */
#include "vm_support.h"

#define HEAD "kernel @k(%out: ptr.global buffer size 8 align 8) {\n"
#define IDS                                                                                                  \
    "%id: i64 = global_id [0]\n"                                                                             \
    "%at: i64 = shl %id, i64 2\n"                                                                            \
    "%p: ptr.global = ptr_add %out, %at\n"                                                                   \
    "%x: i32 = trunc %id\n"
#define PROLOGUE HEAD IDS

enum { COUNT = 600 };

/* Runs `text` over COUNT work-items for several local sizes and compares with `expected`. */
static void check(const char *text, int32_t (*expected)(int32_t x)) {
    static const uint64_t locals[] = {1, 7, 64, 300, COUNT};
    for (size_t k = 0; k < QN__COUNT(locals); k++) {
        int32_t out[COUNT];
        memset(out, 0xee, sizeof out);
        uint64_t args[] = {(uintptr_t)out};
        vm_ok(&(vm_launch){.text = text, .global = {COUNT}, .local = {locals[k]}, .args = args});
        for (int32_t i = 0; i < COUNT; i++)
            if (out[i] != expected(i)) fail_msg("work-item %d: %d, expected %d", i, out[i], expected(i));
    }
}

static int32_t if_expected(int32_t x) { return x < 3 ? x * 10 : x + 100; }

static void test_if(void **state) {
    (void)state;
    check(PROLOGUE "%c: bool = slt %x, i32 3\n"
                   "%r: i32 = if %c {\n%a: i32 = mul %x, i32 10\nyield %a\n} else {\n"
                   "%b: i32 = add %x, i32 100\nyield %b\n}\n"
                   "store align 4 %p, %r\nreturn\n}\n",
          if_expected);
}

static int32_t collatz_expected(int32_t x) {
    int32_t steps = 0;
    for (int64_t n = x + 1; n != 1; n = n % 2 ? 3 * n + 1 : n / 2) steps++;
    return steps;
}

/* Each work-item leaves the loop at its own time. */
static void test_divergent_loop(void **state) {
    (void)state;
    check(PROLOGUE "%first: i32 = add %x, i32 1\n"
                   "%r: i32 = loop @l (%n: i32 = %first, %steps: i32 = i32 0) {\n"
                   "%done: bool = eq %n, i32 1\n"
                   "if %done {\nbreak @l %steps\n} else {\nyield\n}\n"
                   "%odd: i32 = and %n, i32 1\n%is: bool = ne %odd, i32 0\n"
                   "%next: i32 = if %is {\n%t: i32 = mul %n, i32 3\n%u: i32 = add %t, i32 1\nyield %u\n}"
                   " else {\n%h: i32 = lshr %n, i32 1\nyield %h\n}\n"
                   "%s: i32 = add %steps, i32 1\n"
                   "continue @l %next, %s\n}\n"
                   "store align 4 %p, %r\nreturn\n}\n",
          collatz_expected);
}

static int32_t fibonacci_expected(int32_t x) {
    uint32_t a = 0, b = 1;
    for (int32_t i = 0; i < x % 20; i++) {
        uint32_t sum = a + b;
        a = b, b = sum;
    }
    return (int32_t)(a * 1000 + b);
}

/* The next parameters are made of the present ones: all are read before any is written. */
static void test_parameter_swap(void **state) {
    (void)state;
    check(PROLOGUE "%n: i32 = urem %x, i32 20\n"
                   "%ra: i32, %rb: i32 = loop @l (%i: i32 = i32 0, %a: i32 = i32 0, %b: i32 = i32 1) {\n"
                   "%done: bool = eq %i, %n\n"
                   "if %done {\nbreak @l %a, %b\n} else {\nyield\n}\n"
                   "%sum: i32 = add %a, %b\n%j: i32 = add %i, i32 1\n"
                   "continue @l %j, %b, %sum\n}\n"
                   "%t: i32 = mul %ra, i32 1000\n%r: i32 = add %t, %rb\n"
                   "store align 4 %p, %r\nreturn\n}\n",
          fibonacci_expected);
}

static int32_t nest_expected(int32_t x) {
    int32_t sum = 0;
    for (int32_t i = 0; i < 10; i++) {
        if (i == x % 4) continue;
        for (int32_t j = 0;; j++) {
            if (j == 5) break;
            if (i * j == x % 17) goto next;
            if (i + j == x % 19) goto out;
            if (sum > 60) return -sum;
            sum += j;
        }
        sum += 100 * (x % 2);
    next:;
    }
    sum += 1000;
out:
    return sum;
}

/* Jumps out of nested constructs from the depth: to the outer loop's next iteration, out of both loops and of
   the block around them, and out of the kernel. */
static void test_nested_jumps(void **state) {
    (void)state;
    check(PROLOGUE
          "%m4: i32 = urem %x, i32 4\n%m17: i32 = urem %x, i32 17\n%m19: i32 = urem %x, i32 19\n"
          "%m2: i32 = urem %x, i32 2\n%bonus: i32 = mul %m2, i32 100\n"
          "%r: i32 = block @b {\n"
          "%all: i32 = loop @o (%i: i32 = i32 0, %s: i32 = i32 0) {\n"
          "%end: bool = eq %i, i32 10\nif %end {\nbreak @o %s\n} else {\nyield\n}\n"
          "%i1: i32 = add %i, i32 1\n"
          "%skip: bool = eq %i, %m4\nif %skip {\ncontinue @o %i1, %s\n} else {\nyield\n}\n"
          "%in: i32 = loop @n (%j: i32 = i32 0, %q: i32 = %s) {\n"
          "%e5: bool = eq %j, i32 5\nif %e5 {\nbreak @n %q\n} else {\n"
          "%ij: i32 = mul %i, %j\n%c17: bool = eq %ij, %m17\n"
          "if %c17 {\ncontinue @o %i1, %q\n} else {\nyield\n}\n"
          "%sij: i32 = add %i, %j\n%c19: bool = eq %sij, %m19\n"
          "if %c19 {\nbreak @b %q\n} else {\nyield\n}\n"
          "%big: bool = slt i32 60, %q\n"
          "if %big {\n%neg: i32 = sub i32 0, %q\nstore align 4 %p, %neg\nreturn\n} else {\nyield\n}\n"
          "yield\n}\n"
          "%j1: i32 = add %j, i32 1\n%q1: i32 = add %q, %j\ncontinue @n %j1, %q1\n}\n"
          "%s1: i32 = add %in, %bonus\n"
          "continue @o %i1, %s1\n}\n"
          "%k: i32 = add %all, i32 1000\nyield %k\n}\n"
          "store align 4 %p, %r\nreturn\n}\n",
          nest_expected);
}

static int32_t return_expected(int32_t x) { return x % 3 == 0 ? 1 : 2; }

static void test_early_return(void **state) {
    (void)state;
    check(PROLOGUE "store align 4 %p, i32 1\n%m: i32 = urem %x, i32 3\n%c: bool = eq %m, i32 0\n"
                   "if %c {\nreturn\n} else {\nyield\n}\n"
                   "store align 4 %p, i32 2\nreturn\n}\n",
          return_expected);
}

static int32_t private_expected(int32_t x) {
    int32_t a[8], sum = 0;
    for (int32_t i = 0; i < 8; i++) a[(i + x) % 8] = i * x;
    for (int32_t i = 0; i < 8; i++) sum = sum * 3 + a[i];
    return sum;
}

static void test_private_array(void **state) {
    (void)state;
    check(HEAD "%guard: ptr.private = var \"g\" size 3 align 1\n"
               "%a: ptr.private = var \"a\" size 32 align 128\n" IDS
               "%address: i64 = ptr2int %a\n%low: i64 = and %address, i64 127\n%bad: bool = ne %low, i64 0\n"
               "if %bad {\nreturn\n} else {\nyield\n}\n"
               "loop @w (%i: i32 = i32 0) {\n%e: bool = eq %i, i32 8\n"
               "if %e {\nbreak @w\n} else {\nyield\n}\n"
               "%k: i32 = add %i, %x\n%k8: i32 = urem %k, i32 8\n%k64: i64 = zext %k8\n"
               "%o: i64 = shl %k64, i64 2\n%q: ptr.private = ptr_add %a, %o\n"
               "%v: i32 = mul %i, %x\nstore align 4 %q, %v\nstore align 1 offset 2 %guard, i8 7\n"
               "%i1: i32 = add %i, i32 1\ncontinue @w %i1\n}\n"
               "%r: i32 = loop @s (%j: i64 = i64 0, %t: i32 = i32 0) {\n%f: bool = eq %j, i64 32\n"
               "if %f {\nbreak @s %t\n} else {\nyield\n}\n"
               "%b: ptr.private = ptr_add %a, %j\n%u: i32 = load align 4 %b\n"
               "%t3: i32 = mul %t, i32 3\n%t1: i32 = add %t3, %u\n%j1: i64 = add %j, i64 4\n"
               "continue @s %j1, %t1\n}\n"
               "store align 4 %p, %r\nreturn\n}\n",
          private_expected);
}

/* A value that dies leaves its slot to others; one that lives across a divergent construct does not. */
static int32_t slots_expected(int32_t x) {
    int32_t a = x * 3, b = a + 1;
    return x % 2 ? b * 5 + a : (b + 2) * 7 + a;
}

static void test_slots_across_branches(void **state) {
    (void)state;
    check(PROLOGUE "%a: i32 = mul %x, i32 3\n%b: i32 = add %a, i32 1\n%m: i32 = urem %x, i32 2\n"
                   "%c: bool = ne %m, i32 0\n"
                   "%r: i32 = if %c {\n%y: i32 = mul %b, i32 5\n%z: i32 = add %y, i32 0\nyield %z\n} else {\n"
                   "%v: i32 = add %b, i32 2\n%w: i32 = mul %v, i32 7\n%u: i32 = add %w, i32 0\nyield %u\n}\n"
                   "%s: i32 = add %r, %a\nstore align 4 %p, %s\nreturn\n}\n",
          slots_expected);
}

/* A staged continue of some work-items must not disturb what the others still need. */
static int32_t staged_expected(int32_t x) {
    int32_t a = x, b = 1, keep = x * 7;
    for (int32_t i = 0; i < 12; i++) {
        int32_t t = a;
        if ((x + i) % 3 == 0) {
            a = b, b = t;
            continue;
        }
        int32_t d = a + i, e = b ^ keep;
        a = e, b = d;
    }
    return a * 31 + b + keep;
}

static void test_staged_continue(void **state) {
    (void)state;
    check(PROLOGUE "%keep: i32 = mul %x, i32 7\n"
                   "%ra: i32, %rb: i32 = loop @l (%i: i32 = i32 0, %a: i32 = %x, %b: i32 = i32 1) {\n"
                   "%e: bool = eq %i, i32 12\nif %e {\nbreak @l %a, %b\n} else {\nyield\n}\n"
                   "%i1: i32 = add %i, i32 1\n%s: i32 = add %x, %i\n%m: i32 = urem %s, i32 3\n"
                   "%c: bool = eq %m, i32 0\n"
                   "if %c {\ncontinue @l %i1, %b, %a\n} else {\nyield\n}\n"
                   "%d: i32 = add %a, %i\n%f: i32 = xor %b, %keep\ncontinue @l %i1, %f, %d\n}\n"
                   "%t: i32 = mul %ra, i32 31\n%u: i32 = add %t, %rb\n%v: i32 = add %u, %keep\n"
                   "store align 4 %p, %v\nreturn\n}\n",
          staged_expected);
}

static void test_step_limit(void **state) {
    (void)state;
    int32_t out[4];
    uint64_t args[] = {(uintptr_t)out};
    vm_launch launch = {.text = PROLOGUE "loop @l {\ncontinue @l\n}\nunreachable\n}\n",
                        .global = {4},
                        .local = {4},
                        .args = args,
                        .max_steps = 10000};
    const char *error = vm_run(&launch);
    assert_non_null(error);
    assert_non_null(strstr(error, "steps"));
    launch.text = PROLOGUE "store align 4 %p, %x\nreturn\n}\n";
    assert_null(vm_run(&launch));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_if),
        cmocka_unit_test(test_divergent_loop),
        cmocka_unit_test(test_parameter_swap),
        cmocka_unit_test(test_nested_jumps),
        cmocka_unit_test(test_early_return),
        cmocka_unit_test(test_private_array),
        cmocka_unit_test(test_slots_across_branches),
        cmocka_unit_test(test_staged_continue),
        cmocka_unit_test(test_step_limit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
