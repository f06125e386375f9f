/* The PTX target: text for the CUDA driver, one .entry a kernel. Each module asks for the lowest ISA and
   architecture that what it uses needs; what the device has beyond that is used where options.arch says so.
   Source: "Parallel Thread Execution ISA", NVIDIA. */
#include "emit/ptx/internal.h"

enum { LOWEST_TARGET = 60, LOWEST_VERSION = 50 };

/* ---- constants ---- */

static uint64_t word_at(const ir_global *global, uint64_t word) {
    uint64_t value = 0;
    for (unsigned i = 0; i < 8 && word * 8 + i < global->size; i++)
        value |= (uint64_t)global->data[word * 8 + i] << (8 * i);
    return value;
}

/* By word: the relocation there, or NULL. */
static const ir_relocation **relocations_of(ptx_emitter *e, const ir_global *global, uint64_t words) {
    const ir_relocation **by_word = QN__NEW_ARRAY(e->arena, const ir_relocation *, (size_t)words);
    for (size_t i = 0; i < global->relocations.len; i++) {
        const ir_relocation *r = &global->relocations.data[i];
        if (r->offset % 8) qn__ptx_fail(e, "a pointer in a __constant object is not aligned");
        if (r->offset / 8 < words) by_word[r->offset / 8] = r;
    }
    return by_word;
}

static void declare_constant(ptx_emitter *e, qn__buf *text, size_t index) {
    const ir_global *global = &e->module->globals.data[index];
    uint64_t words = global->size ? (global->size + 7) / 8 : 1;
    unsigned align = global->align > 8 ? global->align : 8;
    const ir_relocation **relocations = relocations_of(e, global, words);
    qn__buf_printf(text, ".global .align %u .u64 qn_constant_%zu[%llu] = {", align, index,
                   (unsigned long long)words);
    for (uint64_t i = 0; i < words; i++) {
        const ir_relocation *r = relocations[i];
        if (i) qn__buf_puts(text, i % 8 ? ", " : ",\n\t");
        if (!r) {
            qn__buf_putu(text, word_at(global, i));
            continue;
        }
        qn__buf_printf(text, "generic(qn_constant_%u)", r->target);
        if (r->addend) qn__buf_printf(text, "+%lld", (long long)r->addend);
    }
    qn__buf_puts(text, "};\n");
}

/* An object that points at another stands behind it: depth first, with a stack of our own, for chains may be
   long. A circle is the only thing that PTX cannot say. */
static void declare_in_order(ptx_emitter *e, qn__buf *text, uint32_t root, uint32_t *next) {
    const uint32_t unseen = 0, done = UINT32_MAX;
    QN__VEC(uint32_t) stack = {0};
    qn__vec_push(e->arena, &stack, root);
    while (stack.len) {
        uint32_t index = qn__vec_last(&stack);
        const ir_global *global = &e->module->globals.data[index];
        if (next[index] == done || next[index] >= global->relocations.len) {
            if (next[index] != done) declare_constant(e, text, index);
            next[index] = done;
            (void)qn__vec_pop(&stack);
            continue;
        }
        uint32_t target = global->relocations.data[next[index]++].target;
        if (next[target] == unseen)
            qn__vec_push(e->arena, &stack, target);
        else if (next[target] != done && target != index)
            qn__ptx_fail(e, "__constant objects that point at each other in a circle");
    }
}

static void constants(ptx_emitter *e, qn__buf *text) {
    uint32_t *next = QN__NEW_ARRAY(e->arena, uint32_t, e->module->globals.len + 1);
    for (size_t i = 0; i < e->module->globals.len; i++)
        if (e->global_used[i]) declare_in_order(e, text, (uint32_t)i, next);
}

/* ---- module ---- */

static void header(const ptx_emitter *e, qn__buf *text) {
    qn__buf_printf(text, ".version %u.%u\n.target sm_%u%s\n.address_size 64\n", e->need_version / 10,
                   e->need_version % 10, e->need_target, e->is_specific ? "a" : "");
    if (!e->options->debug) return;
    for (size_t i = 0; i < e->module->files.len; i++) {
        qn__buf_printf(text, ".file %zu \"", i + 1);
        for (const char *p = e->module->files.data[i]; *p; p++)
            qn__buf_putc(text, *p == '"' || *p == '\\' || *p < 32 ? '_' : *p);
        qn__buf_puts(text, "\"\n");
    }
}

/* About what the largest kernel will take, and the text of all, so that little is copied while it grows. */
static void reserve(ptx_emitter *e, qn__buf *body) {
    enum { LINES = 1, OPERANDS = 3, LANES = 2, TEXT = 24, MANY = 1 << 14 };
    size_t most = 1, all = 0;
    for (size_t i = 0; i < e->module->functions.len; i++) {
        const size_t values = e->module->functions.data[i]->num_values;
        all += values;
        if (values > most) most = values;
    }
    if (most > MANY) most = MANY;
    qn__vec_reserve(e->arena, &e->lines, most * LINES);
    qn__vec_reserve(e->arena, &e->operands, most * OPERANDS);
    qn__vec_reserve(e->arena, &e->lanes, most * LANES);
    qn__buf_reserve(body, (all < MANY ? all : MANY) * TEXT);
}

static void emit(qn__arena *arena, ir_module *module, const qn__emit_options *options,
                 qn__emit_result *result) {
    ptx_emitter e = {.arena = arena,
                     .module = module,
                     .options = options,
                     .result = result,
                     .arch = options->target.arch,
                     .need_target = LOWEST_TARGET,
                     .need_version = LOWEST_VERSION};
    qn__buf body, text;
    *result = (qn__emit_result){0};
    qn__buf_init(&body, arena);
    qn__buf_init(&text, arena);
    reserve(&e, &body);
    e.global_used = QN__NEW_ARRAY(arena, bool, module->globals.len + 1);
    for (size_t i = 0; i < module->functions.len; i++)
        if (module->functions.data[i]->is_kernel) qn__ptx_kernel(&e, module->functions.data[i], &body);
    header(&e, &text);
    constants(&e, &text);
    if (e.dynamic_used)
        qn__buf_printf(&text, ".extern .shared .align %d .b8 qn_dynamic[];\n", QN__LOCAL_ALIGN);
    if (body.len) qn__buf_append(&text, body.data, body.len);
    result->text = text.data;
    result->size = text.len;
}

static void complete(qn__target *target) {
    target->has_dot4 = target->arch >= 61;
    target->has_async_copies = target->arch >= 80; /* cp.async */
    target->has_mma = target->arch >= 75;
    target->has_active_reductions = target->arch >= 80; /* redux */
    target->has_bf16_convert = target->arch >= 80;
    target->has_f8_convert = target->arch >= 89;
    target->has_hopper = target->arch == 90;
}

const qn__emitter qn__emitter_ptx = {
    .base =
        {
            .lacks_collectives = true,
            .lacks_printf = true,
            .lacks_zero_divisors = true,
            .lacks_constant_division = true,
            .lacks_active = true,
            .wants_narrow = true,
            .wants_quiet_loops = true,
            .wants_vector_memory = true,
            .wants_offsets = true,
            .wants_end_tests = true,
            .wants_unrolled = true,
            .private_bytes = QN__GPU_PRIVATE,
        },
    .complete = complete,
    .emit = emit,
};
