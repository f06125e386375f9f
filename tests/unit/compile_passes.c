/* Random programs, before and after the passes: what a kernel leaves in memory must not depend on the level,
   nor on what the target lacks. The programs are made as the front end makes them, with variables in memory
   and structured control flow: nested ifs, loops with breaks and continues, blocks, early returns of helpers,
   arrays at constant and at computed places, copies, vectors of every kind. The VM is the judge. A program
   that differs is named by its seed, and the pass after which it first differed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "pass/pass.h"
#include "vm/vm.h"

enum { ITEMS = 8, SLICE = 128, BYTES = ITEMS * SLICE, RUNS = 3, PROGRAMS = 200 };
enum { INTS = 4, FLOATS = 2, VECTORS = 2, ARRAYS = 2, ELEMENTS = 8, MAX_OPEN = 8 };

/* ---- the generator's state ---- */

static const ir_type I8 = {IR_I8, 1, 0}, I32 = {IR_I32, 1, 0}, I64 = {IR_I64, 1, 0}, F16 = {IR_F16, 1, 0},
                     F32 = {IR_F32, 1, 0}, F32X3 = {IR_F32, 3, 0}, I32X4 = {IR_I32, 4, 0},
                     I32X8 = {IR_I32, 8, 0}, I8X4 = {IR_I8, 4, 0};

typedef struct maker {
    uint64_t seed;
    ir_function *function, *helper; /* helper: to call, or NULL */
    ir_builder b;
    ir_value *n;
    ir_value *ints[INTS], *floats[FLOATS], *vectors[VECTORS], *arrays[ARRAYS]; /* addresses of variables */
    ir_value *triple, *wide, *half, *bytes;
    ir_value *out; /* ELEMENTS words of this work-item, aligned to 16 */
    ir_instr *open[MAX_OPEN];
    unsigned num_open, depth;
    int statements; /* left to make */
} maker;

static uint32_t pick(maker *m, uint32_t count) {
    m->seed = m->seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)((m->seed >> 33) % count);
}
#define PICK(m, array) (array)[pick((m), (uint32_t)QN__COUNT(array))]

static ir_value *word(maker *m, int64_t value) { return qn__ir_const_int(m->function, IR_I32, value); }
static ir_value *load(maker *m, ir_value *pointer, ir_type type) {
    return qn__ir_load(&m->b, pointer, type, 0, 0);
}
static ir_value *convert(maker *m, ir_op op, ir_value *value, ir_type type) {
    return qn__ir_convert(&m->b, op, value, type);
}
static ir_value *op2(maker *m, ir_op op, ir_value *a, ir_value *b) { return qn__ir_op2(&m->b, op, a, b); }

static ir_value *integer(maker *m, int depth);
static ir_value *condition(maker *m, int depth);
static ir_value *number(maker *m, int depth);
static ir_value *vector(maker *m, int depth);

/* ---- expressions ---- */

static ir_value *element_address(maker *m, ir_value *base, int depth) {
    ir_value *index = word(m, pick(m, ELEMENTS));
    if (pick(m, 2)) index = op2(m, IR_AND, integer(m, depth), word(m, ELEMENTS - 1));
    ir_value *bytes =
        op2(m, IR_SHL, convert(m, IR_SEXT, index, I64), qn__ir_const_int(m->function, IR_I64, 2));
    return qn__ir_ptr_add(&m->b, base, bytes);
}

/* Some neighbours of the output, with the alignment that each is known to have. */
static ir_value *neighbours(maker *m) {
    ir_value *all = NULL;
    const unsigned from = pick(m, ELEMENTS);
    for (unsigned i = from; i < ELEMENTS && i <= from + pick(m, 4); i++) {
        const uint32_t align = i % 4 == 0 ? 16 : i % 2 == 0 ? 8 : 4;
        ir_value *one = qn__ir_load(&m->b, qn__ir_ptr_offset(&m->b, m->out, 4 * i), I32, align, 0);
        all = all ? op2(m, IR_XOR, all, one) : one;
    }
    return all;
}

static ir_value *call(maker *m, int depth) {
    ir_value *args[] = {integer(m, depth), integer(m, depth)};
    if (!m->helper) return args[0];
    ir_instr *instr = qn__ir_emit(&m->b, IR_CALL, args, 2, &I32, 1);
    instr->attr.callee = m->helper;
    return instr->results[0];
}

static ir_value *narrow_integer(maker *m, int depth) {
    const ir_type narrow = pick(m, 2) ? I8 : qn__ir_type(IR_I16, 1);
    ir_value *value = convert(m, IR_TRUNC, integer(m, depth), narrow);
    return convert(m, pick(m, 2) ? IR_SEXT : IR_ZEXT, value, I32);
}

/* Sums marked as not overflowing, of which that is true. */
static ir_value *small_sum(maker *m, int depth) {
    ir_value *sum = op2(m, IR_AND, integer(m, depth), word(m, 255));
    for (int i = 0; i < 2; i++) {
        sum = op2(m, IR_ADD, sum, word(m, pick(m, 9)));
        sum->def->flags = IR_NSW | IR_NUW;
    }
    return sum;
}

static ir_value *lane_of_vector(maker *m, int depth) {
    ir_value *from = pick(m, 2) ? vector(m, depth) : load(m, m->wide, I32X8);
    const unsigned lanes = from->type.lanes;
    if (pick(m, 2)) return qn__ir_extract(&m->b, from, pick(m, lanes));
    ir_value *operands[] = {from, op2(m, IR_AND, integer(m, depth), word(m, lanes - 1))};
    return qn__ir_emit(&m->b, IR_EXTRACT_DYNAMIC, operands, 2, &I32, 1)->results[0];
}

static ir_value *integer_leaf(maker *m) {
    switch (pick(m, 4)) {
    case 0: return word(m, (int)pick(m, 20) - 8);
    case 1: return m->n;
    default: return load(m, PICK(m, m->ints), I32);
    }
}

static ir_value *integer(maker *m, int depth) {
    static const ir_op any[] = {IR_ADD,  IR_SUB, IR_MUL,  IR_AND,  IR_OR,   IR_XOR,  IR_SMIN,
                                IR_UMAX, IR_SHL, IR_LSHR, IR_ASHR, IR_ROTL, IR_SMAX, IR_UMIN};
    static const ir_op divisions[] = {IR_UDIV, IR_UREM, IR_SDIV, IR_SREM};
    if (depth <= 0 || pick(m, 6) == 0) return integer_leaf(m);
    depth--;
    switch (pick(m, 17)) {
    case 0: return op2(m, PICK(m, any), integer(m, depth), integer(m, depth));
    case 1:
    case 2: return op2(m, PICK(m, any), integer(m, depth), word(m, 1 << pick(m, 5)));
    case 3:
        return op2(m, PICK(m, divisions), integer(m, depth),
                   word(m, pick(m, 2) ? 1u << pick(m, 4) : 1 + pick(m, 9)));
    case 4: return qn__ir_select(&m->b, condition(m, depth), integer(m, depth), integer(m, depth));
    case 5: return convert(m, IR_ZEXT, condition(m, depth), I32);
    case 6: return convert(m, IR_F2S, number(m, depth), I32);
    case 7:
    case 8: return lane_of_vector(m, depth);
    case 9: return load(m, element_address(m, PICK(m, m->arrays), depth), I32);
    case 10: return load(m, element_address(m, m->out, depth), I32);
    case 11: return neighbours(m);
    case 12: return narrow_integer(m, depth);
    case 13: return call(m, depth);
    case 14: return small_sum(m, depth);
    case 15: return convert(m, IR_SEXT, load(m, qn__ir_ptr_offset(&m->b, m->bytes, pick(m, 4)), I8), I32);
    default:
        return convert(m, IR_SEXT,
                       qn__ir_extract(&m->b, convert(m, IR_BITCAST, integer(m, depth), I8X4), pick(m, 4)),
                       I32);
    }
}

static ir_value *number(maker *m, int depth) {
    static const ir_op any[] = {IR_FADD, IR_FSUB, IR_FMUL, IR_FMIN, IR_FMAX, IR_FDIV};
    if (depth <= 0 || pick(m, 5) == 0)
        return pick(m, 3) ? load(m, PICK(m, m->floats), F32)
                          : qn__ir_const_float(m->function, IR_F32, (int)pick(m, 8) - 3);
    depth--;
    switch (pick(m, 8)) {
    case 0:
    case 1: return op2(m, PICK(m, any), number(m, depth), number(m, depth));
    case 2:
        return op2(m, pick(m, 2) ? IR_FMUL : IR_FDIV, number(m, depth),
                   qn__ir_const_float(m->function, IR_F32, 4));
    case 3: return qn__ir_op1(&m->b, pick(m, 2) ? IR_FNEG : IR_FABS, number(m, depth));
    case 4: return convert(m, IR_S2F, op2(m, IR_AND, integer(m, depth), word(m, 1023)), F32);
    case 5: return qn__ir_op3(&m->b, IR_FMA, number(m, depth), number(m, depth), number(m, depth));
    case 6: return convert(m, IR_FCONVERT, load(m, m->half, F16), F32);
    default: return qn__ir_extract(&m->b, load(m, m->triple, F32X3), pick(m, 3));
    }
}

static ir_value *vector(maker *m, int depth) {
    static const ir_op any[] = {IR_ADD, IR_SUB, IR_MUL, IR_XOR, IR_SMIN};
    uint8_t lanes[4];
    if (depth <= 0 || pick(m, 4) == 0) return load(m, PICK(m, m->vectors), I32X4);
    depth--;
    for (int i = 0; i < 4; i++) lanes[i] = (uint8_t)pick(m, 8);
    switch (pick(m, 5)) {
    case 0: return op2(m, PICK(m, any), vector(m, depth), vector(m, depth));
    case 1: return qn__ir_insert(&m->b, vector(m, depth), integer(m, depth), pick(m, 4));
    case 2: return qn__ir_shuffle(&m->b, vector(m, depth), vector(m, depth), lanes, 4);
    case 3: return qn__ir_splat(&m->b, integer(m, depth), 4);
    default: {
        ir_value *less = op2(m, IR_SLT, vector(m, depth), vector(m, depth));
        return qn__ir_select(&m->b, less, vector(m, depth), vector(m, depth));
    }
    }
}

static ir_value *condition(maker *m, int depth) {
    static const ir_op integers[] = {IR_EQ, IR_NE, IR_SLT, IR_SLE, IR_ULT, IR_ULE};
    static const ir_op floats[] = {IR_FLT, IR_FLE, IR_FEQ, IR_FNE};
    if (depth <= 0) return op2(m, PICK(m, integers), integer(m, 0), integer(m, 0));
    depth--;
    switch (pick(m, 6)) {
    case 0: return qn__ir_op1(&m->b, IR_NOT, condition(m, depth));
    case 1: return op2(m, pick(m, 2) ? IR_AND : IR_OR, condition(m, depth), condition(m, depth));
    case 2: return op2(m, PICK(m, floats), number(m, depth), number(m, depth));
    case 3:
        return op2(m, IR_NE, convert(m, pick(m, 2) ? IR_ZEXT : IR_SEXT, condition(m, depth), I32),
                   word(m, pick(m, 2)));
    default: return op2(m, PICK(m, integers), integer(m, depth), integer(m, depth));
    }
}

/* ---- statements: each returns whether control has left the region ---- */

static bool statements(maker *m, unsigned count);

static void put(maker *m, ir_value *pointer, ir_value *value) { qn__ir_store(&m->b, pointer, value, 0, 0); }

static void copy(maker *m) {
    ir_value *upper = qn__ir_ptr_offset(&m->b, m->arrays[pick(m, ARRAYS)], 16);
    switch (pick(m, 4)) {
    case 0: qn__ir_copy(&m->b, m->arrays[0], m->arrays[1], 32, 4); break;
    case 1: qn__ir_copy(&m->b, m->arrays[1], m->out, 16, 4); break;
    case 2: qn__ir_copy(&m->b, m->out, PICK(m, m->arrays), 32, 4); break;
    default: qn__ir_copy(&m->b, upper, PICK(m, m->vectors), 16, 4); break;
    }
}

static void assign(maker *m) {
    switch (pick(m, 13)) {
    case 0: put(m, PICK(m, m->floats), number(m, 3)); break;
    case 1: put(m, PICK(m, m->vectors), vector(m, 3)); break;
    case 2: put(m, qn__ir_ptr_offset(&m->b, PICK(m, m->vectors), 4 * pick(m, 4)), integer(m, 2)); break;
    case 3: put(m, qn__ir_ptr_offset(&m->b, m->triple, 4 * pick(m, 3)), number(m, 2)); break;
    case 4: put(m, m->wide, qn__ir_insert(&m->b, load(m, m->wide, I32X8), integer(m, 2), pick(m, 8))); break;
    case 5:
        put(m, m->half, op2(m, IR_FADD, load(m, m->half, F16), convert(m, IR_FCONVERT, number(m, 2), F16)));
        break;
    case 6:
        put(m, qn__ir_ptr_offset(&m->b, m->bytes, pick(m, 4)), convert(m, IR_TRUNC, integer(m, 2), I8));
        break;
    case 7: put(m, m->bytes, integer(m, 2)); break;
    case 8: put(m, element_address(m, PICK(m, m->arrays), 2), integer(m, 2)); break;
    case 9: put(m, element_address(m, m->out, 2), integer(m, 2)); break;
    case 10: copy(m); break;
    default: put(m, PICK(m, m->ints), integer(m, 3)); break;
    }
}

static void make_if(maker *m) {
    ir_instr *instr = qn__ir_if(&m->b, condition(m, 2), NULL, 0);
    ir_region *here = m->b.region;
    for (unsigned r = 0; r < 2; r++) {
        qn__ir_at_end(&m->b, instr->regions[r]);
        if (!statements(m, r ? pick(m, 3) : 1 + pick(m, 3))) qn__ir_yield(&m->b, NULL, 0);
    }
    qn__ir_at_end(&m->b, here);
}

static void make_loop(maker *m) {
    static const int32_t hints[] = {0, 0, 0, 1, 2, 3, 4, -1};
    ir_value *counter = qn__ir_variable(&m->b, (ir_var){.name = "i", .size = 4, .align = 4});
    put(m, counter, word(m, 0));
    ir_value *limit = pick(m, 2) ? word(m, pick(m, 6)) : op2(m, IR_AND, integer(m, 1), word(m, 3));
    ir_instr *loop = qn__ir_loop(&m->b, NULL, 0, NULL, 0);
    loop->attr.unroll = PICK(m, hints);
    ir_region *here = m->b.region;
    qn__ir_at_end(&m->b, loop->regions[0]);
    ir_value *i = load(m, counter, I32);
    ir_instr *test = qn__ir_if(&m->b, op2(m, IR_SLT, i, limit), NULL, 0);
    qn__ir_at_end(&m->b, test->regions[0]);
    qn__ir_yield(&m->b, NULL, 0);
    qn__ir_at_end(&m->b, test->regions[1]);
    qn__ir_break(&m->b, loop, NULL, 0);
    qn__ir_at_end(&m->b, loop->regions[0]);
    put(m, counter, op2(m, IR_ADD, i, word(m, 1)));
    ir_value *bytes = op2(m, IR_SHL, convert(m, IR_SEXT, i, I64), qn__ir_const_int(m->function, IR_I64, 2));
    put(m, qn__ir_ptr_add(&m->b, PICK(m, m->arrays), bytes), integer(m, 2));
    m->open[m->num_open++] = loop;
    if (!statements(m, 1 + pick(m, 4))) qn__ir_continue(&m->b, loop, NULL, 0);
    m->num_open--;
    qn__ir_at_end(&m->b, here);
}

static void make_block(maker *m) {
    ir_instr *block = qn__ir_block(&m->b, NULL, 0);
    ir_region *here = m->b.region;
    qn__ir_at_end(&m->b, block->regions[0]);
    m->open[m->num_open++] = block;
    if (!statements(m, 1 + pick(m, 5))) {
        if (pick(m, 2))
            qn__ir_yield(&m->b, NULL, 0);
        else
            qn__ir_break(&m->b, block, NULL, 0);
    }
    m->num_open--;
    qn__ir_at_end(&m->b, here);
}

static bool leave(maker *m) {
    if (m->function->is_kernel ? m->depth > 1 && pick(m, 12) == 0 : m->depth > 0 && pick(m, 4) == 0) {
        qn__ir_return(&m->b, m->function->is_kernel ? NULL : integer(m, 1));
        return true;
    }
    if (!m->num_open || !m->depth) return false;
    ir_instr *target = m->open[pick(m, m->num_open)];
    if (target->op == IR_LOOP && pick(m, 2))
        qn__ir_continue(&m->b, target, NULL, 0);
    else
        qn__ir_break(&m->b, target, NULL, 0);
    return true;
}

static bool statement(maker *m) {
    const unsigned kind = pick(m, 16);
    if (m->statements-- <= 0) return false;
    if (kind >= 6 || m->depth > 4 || m->num_open == MAX_OPEN) {
        assign(m);
        return false;
    }
    if (kind == 0) return leave(m);
    m->depth++;
    if (kind <= 2)
        make_if(m);
    else if (kind <= 4)
        make_loop(m);
    else
        make_block(m);
    m->depth--;
    return false;
}

static bool statements(maker *m, unsigned count) {
    for (unsigned i = 0; i < count; i++)
        if (statement(m)) return true;
    return false;
}

/* ---- programs ---- */

static ir_value *variable(maker *m, const char *name, ir_value *value) {
    const uint32_t size = qn__ir_memory_size(value->type);
    ir_value *made = qn__ir_variable(&m->b, (ir_var){.name = name, .size = size, .align = size});
    put(m, made, value);
    return made;
}

static ir_value *array(maker *m, const char *name, int first) {
    ir_value *made = qn__ir_variable(&m->b, (ir_var){.name = name, .size = 4 * ELEMENTS, .align = 16});
    for (int i = 0; i < ELEMENTS; i++) put(m, qn__ir_ptr_offset(&m->b, made, 4 * i), word(m, first + i));
    return made;
}

static void make_variables(maker *m) {
    ir_value *two = qn__ir_const_float(m->function, IR_F32, 2);
    for (int i = 0; i < INTS; i++) m->ints[i] = variable(m, "x", pick(m, 2) ? m->n : word(m, pick(m, 9)));
    for (int i = 0; i < FLOATS; i++)
        m->floats[i] = variable(m, "f", qn__ir_const_float(m->function, IR_F32, i));
    for (int i = 0; i < VECTORS; i++) m->vectors[i] = variable(m, "v", qn__ir_splat(&m->b, m->n, 4));
    for (int i = 0; i < ARRAYS; i++) m->arrays[i] = array(m, "a", i);
    m->triple = variable(m, "t", qn__ir_splat(&m->b, two, 3));
    m->wide = variable(m, "w", qn__ir_splat(&m->b, m->n, 8));
    m->half = variable(m, "h", qn__ir_const_float(m->function, IR_F16, 2));
    m->bytes = variable(m, "b", word(m, 77));
}

static ir_value *mixed(maker *m, ir_value *sum, ir_value *value) {
    return op2(m, IR_XOR, op2(m, IR_MUL, sum, word(m, 31)), value);
}

/* One word that depends on every variable. */
static ir_value *everything(maker *m) {
    ir_value *sum = word(m, 1);
    for (int i = 0; i < INTS; i++) sum = mixed(m, sum, load(m, m->ints[i], I32));
    for (int i = 0; i < FLOATS; i++) sum = mixed(m, sum, convert(m, IR_F2S, load(m, m->floats[i], F32), I32));
    for (int i = 0; i < ARRAYS * ELEMENTS; i++)
        sum =
            mixed(m, sum, load(m, qn__ir_ptr_offset(&m->b, m->arrays[i / ELEMENTS], i % ELEMENTS * 4), I32));
    for (unsigned i = 0; i < 4 * VECTORS; i++)
        sum = mixed(m, sum, qn__ir_extract(&m->b, load(m, m->vectors[i / 4], I32X4), i % 4));
    for (unsigned i = 0; i < 8; i++) sum = mixed(m, sum, qn__ir_extract(&m->b, load(m, m->wide, I32X8), i));
    sum = mixed(m, sum, convert(m, IR_F2S, load(m, m->half, F16), I32));
    return mixed(m, sum, load(m, m->bytes, I32));
}

static maker begin(ir_module *module, uint64_t seed, const char *name, ir_type result) {
    maker m = {.seed = seed};
    m.function = qn__ir_function_new(module, name, result);
    qn__ir_at_end(&m.b, m.function->body);
    return m;
}

static ir_function *make_helper(ir_module *module, uint64_t seed) {
    maker m = begin(module, seed, "helper", I32);
    m.n = qn__ir_arg_add(m.function, I32, "a");
    ir_value *second = qn__ir_arg_add(m.function, I32, "b");
    m.out = array(&m, "out", 5);
    make_variables(&m);
    put(&m, m.ints[0], second);
    m.statements = 12;
    if (!statements(&m, 8)) qn__ir_return(&m.b, everything(&m));
    return m.function;
}

static ir_module *make_program(qn__arena *arena, uint64_t seed) {
    ir_module *module = qn__ir_module_new(arena);
    ir_function *helper = seed % 3 ? make_helper(module, seed + 77) : NULL;
    maker m = begin(module, seed, "kernel", qn__ir_type(IR_VOID, 1));
    m.function->is_kernel = true;
    m.helper = helper;
    ir_value *buffer = qn__ir_arg_add(m.function, qn__ir_pointer(IR_GLOBAL_SPACE), "out");
    m.n = qn__ir_arg_add(m.function, I32, "n");
    m.function->args.data[0].arg_kind = IR_ARG_BUFFER;
    for (int i = 0; i < 2; i++) m.function->args.data[i].size = m.function->args.data[i].align = i ? 4 : 8;
    ir_value *id = qn__ir_query(&m.b, IR_GLOBAL_ID, 0);
    m.out = qn__ir_ptr_add(&m.b, buffer, op2(&m, IR_MUL, id, qn__ir_const_int(m.function, IR_I64, SLICE)));
    make_variables(&m);
    m.statements = 50;
    if (!statements(&m, 14)) {
        put(&m, qn__ir_ptr_offset(&m.b, m.out, 4 * ELEMENTS), everything(&m));
        qn__ir_return(&m.b, NULL);
    }
    return module;
}

/* ---- judging ---- */

typedef struct trial {
    uint64_t seed;
    unsigned char expected[RUNS][BYTES];
} trial;

/* Runs the kernel on memory of known contents. */
static void run(ir_function *kernel, int n, unsigned char *result) {
    static _Alignas(64) unsigned char memory[BYTES];
    qn__arena arena;
    jmp_buf escape;
    qn__arena_init(&arena, NULL, 0);
    if (setjmp(escape)) fail_msg("out of memory");
    arena.escape = &escape;
    const char *error = NULL;
    qn__vm_program *program = qn__vm_prepare(&arena, kernel, ITEMS, &error);
    if (!program) fail_msg("%s", error);
    for (int i = 0; i < BYTES; i++) memory[i] = (unsigned char)(i * 7 + n);
    const struct {
        void *out;
        int32_t n;
    } args = {memory, n};
    const qn_cpu_launch launch = {.work_dim = 1,
                                  .args = (const unsigned char *)&args,
                                  .global_size = {ITEMS, 1, 1},
                                  .local_size = {ITEMS, 1, 1},
                                  .num_groups = {1, 1, 1}};
    unsigned char *scratch = aligned_alloc(
        QN__CPU_ALIGN, (size_t)(qn__vm_scratch_size(program, ITEMS) / QN__CPU_ALIGN + 1) * QN__CPU_ALIGN);
    unsigned char *local = aligned_alloc(64, 64);
    error = qn__vm_run(program, &launch, 0, 1, 0, 0, local, scratch, 10000000);
    free(scratch);
    free(local);
    if (error) fail_msg("%s", error);
    memcpy(result, memory, BYTES);
    qn__arena_free(&arena);
}

static void compare(void *user, const char *pass, const ir_module *module) {
    const trial *t = user;
    unsigned char result[BYTES];
    if (!module->functions.data[0]->is_kernel || module->functions.len != 1) return; /* not inlined yet */
    for (int r = 0; r < RUNS; r++) {
        run(module->functions.data[0], r * 5 - 3, result);
        if (memcmp(result, t->expected[r], BYTES))
            fail_msg("program %u differs after %s", (unsigned)t->seed, pass);
    }
}

/* Jumps that leave more than the innermost loop, or blocks. */
static bool has_far_jumps(const ir_region *region) {
    for (const ir_instr *i = region->first; i; i = i->next) {
        if (i->op == IR_BLOCK) return true;
        const ir_instr *loop = region->owner;
        while (loop && loop->op != IR_LOOP) loop = loop->parent->owner;
        if ((i->op == IR_BREAK || i->op == IR_CONTINUE) && i->attr.target != loop) return true;
        for (uint32_t r = 0; r < i->num_regions; r++)
            if (has_far_jumps(i->regions[r])) return true;
    }
    return false;
}

static void try_program(uint64_t seed) {
    qn__arena arena;
    jmp_buf escape;
    trial t = {.seed = seed};
    qn__arena_init(&arena, NULL, 0);
    if (setjmp(escape)) fail_msg("out of memory");
    arena.escape = &escape;
    const qn__pass_options plain = {.level = 0, .verify = true};
    ir_module *module = make_program(&arena, seed);
    const char *error = qn__pass_run(module, &plain);
    if (error) fail_msg("program %u: %s", (unsigned)seed, error);
    for (int r = 0; r < RUNS; r++) run(module->functions.data[0], r * 5 - 3, t.expected[r]);

    /* contraction changes results, as it may */
    qn__pass_options options = {
        .level = seed % 4 == 0 ? 1 : 2, .verify = true, .target.lacks_fast_fma32 = true};
    if (seed % 3 == 1)
        options.target.lacks_f16 = options.target.lacks_long_vectors = options.target.wants_vector_memory =
            true;
    if (seed % 13 < 4) options.target.lacks_long_vectors = options.target.lacks_i64 = true;
    if (seed % 17 < 5) options.target.lacks_i8 = options.target.lacks_i16 = true;
    if (seed % 7 < 3)
        options.target.wants_end_tests = options.target.wants_offsets = options.target.wants_narrow = true;
    if (seed % 11 < 6) options.target.wants_unrolled = true;
    if (seed % 2) options.target.wants_large_unrolled = options.target.wants_large_end_tests = true;
    if (seed % 19 < 5) options.target.wants_even_unrolled = true;
    if (seed % 5 < 2) options.target.lacks_far_jumps = true;
    if (seed % 24 < 2) options.level = 0;
    options.dump = compare;
    options.user = &t;
    ir_module *last = make_program(&arena, seed);
    error = qn__pass_run(last, &options);
    if (error) fail_msg("program %u: %s", (unsigned)seed, error);
    if (options.target.lacks_far_jumps && has_far_jumps(last->functions.data[0]->body))
        fail_msg("program %u: far jumps", (unsigned)seed);
    qn__arena_free(&arena);
}

/* QN_PASS_SEED=FIRST:COUNT tries others. */
static void random_programs_keep_their_meaning(void **state) {
    (void)state;
    const char *wanted = getenv("QN_PASS_SEED"), *count = wanted ? strchr(wanted, ':') : NULL;
    const uint64_t first = wanted ? strtoull(wanted, NULL, 10) : 1;
    const uint64_t number = count ? strtoull(count + 1, NULL, 10) : wanted ? 1 : PROGRAMS;
    for (uint64_t seed = first; seed < first + number; seed++) try_program(seed);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(random_programs_keep_their_meaning)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
