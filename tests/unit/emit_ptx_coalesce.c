/* Registers that become one: random programs in the few instructions that matter (moves, sums, tests, branches,
   stores) are interpreted before and after, and must store the same in the same order. Values of registers that
   were never written differ from run to run, as on a device. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "emit/ptx/internal.h"

enum {
    REGISTERS = 12,
    PREDICATES = 3,
    MAX_LINES = 256,
    STEPS = 400,
    STORES = 200,
    PROGRAMS = 3000,
    LABELS = 32
};

typedef struct stores {
    int32_t values[STORES];
    int count;
    bool finished;
} stores;

static uint32_t pick(uint64_t *seed, uint32_t count) {
    *seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)((*seed >> 33) % count);
}

/* ---- a program ---- */

static void put_random(qn__buf *out, uint64_t *seed, uint32_t labels) {
    const uint32_t a = pick(seed, REGISTERS), b = pick(seed, REGISTERS), d = pick(seed, REGISTERS),
                   p = pick(seed, PREDICATES);
    switch (pick(seed, 9)) {
    case 0: qn__buf_printf(out, "\tadd.s32 %%r%u, %%r%u, %%r%u;\n", d, a, b); break;
    case 1: qn__buf_printf(out, "\tadd.s32 %%r%u, %%r%u, %u;\n", d, a, pick(seed, 9)); break;
    case 2: qn__buf_printf(out, "\tsetp.lt.s32 %%p%u, %%r%u, %%r%u;\n", p, a, b); break;
    case 3: qn__buf_printf(out, "\tst.global.b32 [%%r%u+0], %%r%u;\n", a, b); break;
    case 4:
        qn__buf_printf(out, "\t@%s%%p%u bra L%u;\n", pick(seed, 2) ? "!" : "", p, 1 + pick(seed, labels));
        break;
    case 5: qn__buf_printf(out, "\t@%%p%u add.s32 %%r%u, %%r%u, 1;\n", p, d, a); break;
    default: qn__buf_printf(out, "\tmov.b32 %%r%u, %%r%u;\n", d, a);
    }
}

/* The loops that the emitter makes end so. */
static void put_way_back(qn__buf *out, uint64_t *seed, uint32_t head, uint32_t out_label) {
    qn__buf_printf(out, "\t@%s%%p%u bra L%u;\n", pick(seed, 2) ? "!" : "", pick(seed, PREDICATES), out_label);
    for (uint32_t n = pick(seed, 3); n > 0; n--)
        qn__buf_printf(out, "\tmov.b32 %%r%u, %%r%u;\n", pick(seed, REGISTERS), pick(seed, REGISTERS));
    qn__buf_printf(out, "\tbra L%u;\nL%u:\n", head, out_label);
}

static void make_program(qn__buf *out, uint64_t seed) {
    const uint32_t labels = 2 + pick(&seed, 4);
    for (uint32_t r = 0; r < REGISTERS; r++)
        qn__buf_printf(out, "\tmov.b32 %%r%u, %u;\n", r, pick(&seed, 20));
    for (uint32_t p = 0; p < PREDICATES; p++)
        qn__buf_printf(out, "\tsetp.lt.s32 %%p%u, %%r%u, %%r0;\n", p, p + 1);
    for (uint32_t label = 1; label <= labels; label++) {
        for (uint32_t n = 1 + pick(&seed, 6); n > 0; n--) put_random(out, &seed, labels);
        qn__buf_printf(out, "L%u:\n", label);
        for (uint32_t n = pick(&seed, 6); n > 0; n--) put_random(out, &seed, labels);
        if (pick(&seed, 2)) put_way_back(out, &seed, label, label + 10);
    }
    for (uint32_t n = 0; n < 4; n++) put_random(out, &seed, labels);
    qn__buf_printf(out, "\tst.global.b32 [%%r1+0], %%r%u;\n\tret;\n", pick(&seed, REGISTERS));
}

/* ---- running it ---- */

static int32_t value_of(const char *at, const int32_t *registers) {
    return at[0] == '%' ? registers[atoi(at + 2)] : atoi(at);
}

static const char *find_label(const char *text, int label) {
    char wanted[16];
    const int length = snprintf(wanted, sizeof wanted, "L%d:\n", label);
    for (const char *at = text; at; at = strchr(at, '\n') ? strchr(at, '\n') + 1 : NULL)
        if (strncmp(at, wanted, (size_t)length) == 0) return at;
    fail_msg("no label %d in\n%s", label, text);
    return NULL;
}

static void run(const char *text, int32_t garbage, stores *result) {
    int32_t registers[REGISTERS], predicates[PREDICATES];
    for (int i = 0; i < REGISTERS; i++) registers[i] = garbage + i;
    for (int i = 0; i < PREDICATES; i++) predicates[i] = garbage & 1;
    *result = (stores){.count = 0};
    int steps = 0;
    for (const char *at = text; *at; at = strchr(at, '\n') + 1) {
        char op[32], a[16] = "", b[16] = "", c[16] = "";
        if (*at++ == 'L') continue;
        if (++steps > STEPS || result->count == STORES) return;
        if (*at == '@') {
            const bool inverse = at[1] == '!';
            const int p = atoi(at + 3 + inverse);
            at = strchr(at, ' ') + 1;
            if ((predicates[p] != 0) == inverse) continue;
        }
        sscanf(at, "%31s %15[^,;\n], %15[^,;\n], %15[^,;\n]", op, a, b, c);
        if (!strcmp(op, "bra"))
            at = find_label(text, atoi(a + 1));
        else if (!strcmp(op, "mov.b32"))
            registers[atoi(a + 2)] = value_of(b, registers);
        else if (!strcmp(op, "add.s32"))
            registers[atoi(a + 2)] =
                (int32_t)((uint32_t)value_of(b, registers) + (uint32_t)value_of(c, registers));
        else if (!strcmp(op, "setp.lt.s32"))
            predicates[atoi(a + 2)] = value_of(b, registers) < value_of(c, registers);
        else if (!strcmp(op, "st.global.b32"))
            result->values[result->count++] =
                (int32_t)((uint32_t)value_of(a + 1, registers) * 31 + (uint32_t)value_of(b, registers));
        else if (!strncmp(op, "ret", 3))
            break;
    }
    result->finished = true;
}

/* ---- comparing ---- */

/* One line of the text, given to the emitter's own writer; gives the next line. The first register of a line that is no
   store is written, behind its predicate. */
static const char *write_line(ptx_emitter *e, const char *at) {
    enum { MOST = 4, LONGEST = 80 };
    ptx_operand operands[MOST] = {0};
    char *pattern = qn__arena_alloc(e->arena, LONGEST); /* the line keeps it */
    size_t length = 0, count = 0;
    if (*at == 'L') {
        qn__ptx_label(e, (uint32_t)atoi(at + 1));
        return strchr(at, '\n') + 1;
    }
    const size_t written = strncmp(at + 1, "st.", 3) == 0 ? MOST : at[1] == '@' ? 1 : 0;
    int64_t label = -1;
    for (at++; *at != '\n'; at++) {
        assert_true(length < LONGEST - 2 && count < MOST);
        char *end = NULL;
        if (*at == '%') {
            const ptx_class cls = at[1] == 'p' ? PTX_PRED : PTX_B32;
            pattern[length++] = count == written ? '=' : '$';
            operands[count++] = (ptx_operand){
                .kind = PTX_REG, .cls = (uint8_t)cls, .reg = (uint32_t)strtoul(at + 2, &end, 10)};
        } else if (*at == 'L') {
            pattern[length++] = 'L';
            pattern[length++] = '#';
            label = strtol(at + 1, &end, 10);
        } else {
            pattern[length++] = *at;
        }
        if (end) at = end - 1;
    }
    if (!strcmp(pattern, "mov.b32 =, $;"))
        qn__ptx_move(e, operands[0], operands[1]);
    else if (label < 0)
        qn__ptx(e, pattern, operands[0], operands[1], operands[2], operands[3]);
    else if (count)
        qn__ptx(e, pattern, operands[0], label);
    else
        qn__ptx(e, pattern, label);
    return at + 1;
}

static void coalesce(qn__arena *arena, const char *text, qn__buf *out) {
    static const qn__emit_options options = {.source_name = NULL};
    ptx_emitter e = {.arena = arena, .options = &options, .next_label = LABELS};
    e.num_registers[PTX_PRED] = PREDICATES;
    e.num_registers[PTX_B32] = REGISTERS;
    for (const char *at = text; *at;) at = write_line(&e, at);
    qn__buf_init(out, arena);
    qn__ptx_print(&e, out);
    assert_string_equal(out->data, text);
    qn__ptx_coalesce(&e);
    qn__buf_init(out, arena);
    qn__ptx_print(&e, out);
}

static uint32_t count_moves(const char *text) {
    uint32_t count = 0;
    for (const char *at = text; (at = strstr(at, "mov.b32 %r")); at++) count += strchr(at, ',')[2] == '%';
    return count;
}

/* A program that was cut short stored as much as the steps allowed: the shorter one is the start of the other. */
static void compare(const char *before, const char *after) {
    stores a, b;
    run(before, 1000, &a);
    run(after, -77, &b);
    const int count = a.count < b.count ? a.count : b.count;
    if ((a.finished && b.finished && a.count != b.count) ||
        memcmp(a.values, b.values, (size_t)count * sizeof *a.values))
        fail_msg("differs\n%s\nbecame\n%s", before, after);
}

static void with_arena(void (*body)(qn__arena *)) {
    qn__arena arena;
    jmp_buf escape;
    qn__arena_init(&arena, NULL, 0);
    if (setjmp(escape)) fail_msg("out of memory");
    arena.escape = &escape;
    body(&arena);
    qn__arena_free(&arena);
}

static void try_random(qn__arena *arena) {
    uint32_t before = 0, after = 0;
    for (uint64_t seed = 1; seed <= PROGRAMS; seed++) {
        qn__buf text, out;
        qn__buf_init(&text, arena);
        make_program(&text, seed);
        coalesce(arena, text.data, &out);
        compare(text.data, out.data);
        before += count_moves(text.data);
        after += count_moves(out.data);
    }
    assert_true(after < before);
}

static void random_programs_store_the_same(void **state) {
    (void)state;
    with_arena(try_random);
}

static void try_loop(qn__arena *arena) {
    static const char loop[] = "\tmov.b32 %r0, 0;\n"
                               "\tmov.b32 %r1, %r0;\n"
                               "L1:\n"
                               "\tadd.s32 %r2, %r1, 1;\n"
                               "\tmov.b32 %r5, %r2;\n"
                               "\tst.global.b32 [%r3+0], %r5;\n"
                               "\tsetp.lt.s32 %p0, %r2, %r4;\n"
                               "\t@!%p0 bra L2;\n"
                               "\tmov.b32 %r1, %r2;\n"
                               "\tbra L1;\n"
                               "L2:\n"
                               "\tret;\n";
    qn__buf out;
    coalesce(arena, loop, &out);
    assert_non_null(strstr(out.data, "\t@%p0 bra L1;"));
    assert_int_equal(count_moves(out.data), 0);
}

static void a_loop_has_one_branch_and_no_moves(void **state) {
    (void)state;
    with_arena(try_loop);
}

static void try_numbers(qn__arena *arena) {
    static const uint32_t numbers[] = {0, 9, 10, 99, 100, 999, 1000, 9999, 10000, 99999, 100000, 1234567};
    static const qn__emit_options options = {.source_name = NULL};
    ptx_emitter e = {.arena = arena, .options = &options};
    qn__buf wanted, out;
    e.num_registers[PTX_B32] = 1234568;
    qn__buf_init(&wanted, arena);
    qn__buf_init(&out, arena);
    for (size_t i = 0; i < QN__COUNT(numbers); i++) {
        const ptx_operand a = {.kind = PTX_REG, .cls = PTX_B32, .reg = numbers[i]};
        qn__ptx_move(&e, a, a);
        qn__ptx(&e, "st.global.b32 [$+#], $;", a, -(int64_t)numbers[i], a);
        qn__buf_printf(&wanted, "\tmov.b32 %%r%u, %%r%u;\n", numbers[i], numbers[i]);
        qn__buf_printf(&wanted, "\tst.global.b32 [%%r%u+%lld], %%r%u;\n", numbers[i], -(long long)numbers[i],
                       numbers[i]);
    }
    qn__ptx_print(&e, &out);
    assert_string_equal(out.data, wanted.data);
}

/* Names are copied whole, up to a length. */
static void registers_have_any_number_of_digits(void **state) {
    (void)state;
    with_arena(try_numbers);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(random_programs_store_the_same),
                                       cmocka_unit_test(a_loop_has_one_branch_and_no_moves),
                                       cmocka_unit_test(registers_have_any_number_of_digits)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
