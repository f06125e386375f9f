/* The SPIR-V target: one module for Vulkan 1.2, with an entry point a kernel. What is decided for the whole module
   is here: whether i64 is a type of it, the local size, and the blob of __constant objects, which have no
   address in SPIR-V. */
#include <string.h>

#include "emit/spirv/internal.h"

/* ---- constants ---- */

/* Objects that others hold the address of are used, too. */
static void follow_relocations(spv *e) {
    for (bool changed = true; changed;) {
        changed = false;
        for (size_t i = 0; i < e->module->globals.len; i++) {
            const ir_global *global = &e->module->globals.data[i];
            if (e->constant_offset[i] == UINT64_MAX) continue;
            for (size_t k = 0; k < global->relocations.len; k++) {
                uint64_t *offset = &e->constant_offset[global->relocations.data[k].target];
                changed |= *offset == UINT64_MAX;
                if (*offset == UINT64_MAX) *offset = 0;
            }
        }
    }
}

static void relocate(spv *e, const ir_global *global, uint8_t *data, uint64_t at, uint32_t *out) {
    for (size_t k = 0; k < global->relocations.len; k++) {
        const ir_relocation *r = &global->relocations.data[k];
        uint64_t value = e->constant_offset[r->target] + (uint64_t)r->addend;
        for (unsigned i = 0; i < 8; i++) data[at + r->offset + i] = (uint8_t)(value >> (8 * i));
        out[e->result->info.num_relocations++] = (uint32_t)(at + r->offset);
    }
}

static void place_constants(spv *e) {
    const ir_module *module = e->module;
    uint64_t size = 0, relocations = 0;
    follow_relocations(e);
    for (size_t i = 0; i < module->globals.len; i++) {
        const ir_global *global = &module->globals.data[i];
        if (e->constant_offset[i] == UINT64_MAX) continue;
        uint64_t align = global->align > 16 ? global->align : 16;
        size = (size + align - 1) / align * align;
        e->constant_offset[i] = size;
        size += global->size;
        relocations += global->relocations.len;
    }
    if (!size) return;
    uint8_t *data = QN__NEW_ARRAY(e->arena, uint8_t, size);
    uint32_t *out = QN__NEW_ARRAY(e->arena, uint32_t, relocations + 1);
    for (size_t i = 0; i < module->globals.len; i++) {
        const ir_global *global = &module->globals.data[i];
        if (e->constant_offset[i] == UINT64_MAX) continue;
        if (global->size) memcpy(data + e->constant_offset[i], global->data, global->size);
        relocate(e, global, data, e->constant_offset[i], out);
    }
    e->result->info.constants = data;
    e->result->info.constants_size = size;
    e->result->info.relocations = out;
}

/* ---- the local size ---- */

/* Specialisation constants 0 to 2; without a value the size of the first kernel that requires one. Sub-groups are
   consecutive work-items in OpenCL; Vulkan promises that of one-dimensional groups only, in practice, so where
   they are used the device sees all work-items in x. */
static void declare_local_size(spv *e) {
    uint32_t size[3] = {1, 1, 1};
    for (size_t i = 0; i < e->module->functions.len; i++) {
        const ir_function *function = e->module->functions.data[i];
        if (!function->is_kernel || !function->reqd_local[0]) continue;
        memcpy(size, function->reqd_local, sizeof size);
        break;
    }
    for (unsigned d = 0; d < 3; d++)
        e->local_size[d] = qn__spv_spec(e, QN__SPEC_LOCAL_SIZE + d, size[d] ? size[d] : 1);
    uint32_t word = qn__spv_u32t(e), type = qn__spv_vector(e, word, 3), held[3];
    memcpy(held, e->local_size, sizeof held);
    if (e->linear) {
        for (unsigned d = 1; d < 3; d++) {
            held[0] = SPV_ONCE(e, SP_SPEC_CONSTANT_OP, word, SP_I_MUL, held[0], e->local_size[d]);
            held[d] = qn__spv_u32(e, 1);
        }
    }
    uint32_t all = qn__spv_intern(e, SP_SPEC_CONSTANT_COMPOSITE, type, held, 3);
    SPV_INTO(e, &e->annotations, SP_DECORATE, all, SP_BUILT_IN, SP_WORKGROUP_SIZE);
}

/* ---- names of files ---- */

static void name_files(spv *e) {
    if (!e->options->debug) return;
    e->line_files = QN__NEW_ARRAY(e->arena, uint32_t, e->module->files.len + 1);
    for (size_t i = 0; i < e->module->files.len; i++) {
        e->line_files[i] = qn__spv_id(e);
        qn__spv_text(e, &e->strings, SP_STRING, &e->line_files[i], 1, e->module->files.data[i], NULL, 0);
    }
    SPV_INTO(e, &e->strings, SP_SOURCE, SP_SOURCE_OPENCL_C, 120);
}

/* ---- the module ---- */

/* Which kinds of numbers are values of 32 bits. */
static uint32_t held_kinds(const qn__target *target) {
    return (uint32_t)target->lacks_i8 << IR_I8 | (uint32_t)target->lacks_i16 << IR_I16 |
           (uint32_t)target->lacks_f16 << IR_F16;
}

/* About what is needed, so that little is copied while it grows. */
static void reserve(spv *e) {
    enum { WORDS = 6, DECORATIONS = 1, MANY = 1 << 15 };
    size_t values = 0;
    for (size_t i = 0; i < e->module->functions.len; i++) values += e->module->functions.data[i]->num_values;
    if (values > MANY) values = MANY;
    qn__vec_reserve(e->arena, &e->code, values * WORDS);
    qn__vec_reserve(e->arena, &e->annotations, values * DECORATIONS);
}

static void run(spv *e) {
    const ir_module *module = e->module;
    spv_plan *plans = QN__NEW_ARRAY(e->arena, spv_plan, module->functions.len + 1);
    e->constant_offset = QN__NEW_ARRAY(e->arena, uint64_t, module->globals.len + 1);
    for (size_t i = 0; i < module->globals.len; i++) e->constant_offset[i] = UINT64_MAX;
    for (size_t i = 0; i < module->functions.len; i++) {
        e->function = module->functions.data[i];
        if (!e->function->is_kernel) continue;
        qn__spv_plan(e);
        plans[i] = e->plan;
    }
    const qn__i64_use use = qn__find_i64_use(module);
    const bool better = use.wanted || e->options->target.wants_wide_addresses;
    e->native = use.needed || (better && !e->options->target.lacks_i64);
    if (use.needed) e->loc = use.needed->loc;
    if (e->native) qn__spv_need(e, CAP_INT64);
    name_files(e);
    place_constants(e);
    declare_local_size(e);
    for (size_t i = 0; i < module->functions.len; i++) {
        if (!module->functions.data[i]->is_kernel) continue;
        e->plan = plans[i];
        qn__spv_kernel(e, module->functions.data[i]);
    }
    qn__spv_finish(e);
}

static void emit(qn__arena *arena, ir_module *module, const qn__emit_options *options,
                 qn__emit_result *result) {
    *result = (qn__emit_result){0};
    spv *e = QN__NEW(arena, spv);
    e->arena = arena;
    e->module = module;
    e->options = options;
    e->result = result;
    e->next_id = 1;
    e->held = held_kinds(&options->target);
    reserve(e);
    if (!setjmp(e->give_up)) run(e);
}

static void complete(qn__target *target) {
    target->wants_words = !target->wants_wide_addresses;
    if (target->lacks_exact_fma) target->lacks_division = false; /* it computes on the processor, exactly */
}

const qn__emitter qn__emitter_spirv = {
    .base =
        {
            .lacks_collectives = true,
            .lacks_printf = true,
            .lacks_zero_divisors = true,
            .lacks_division_overflow = true,
            .wants_narrow = true,
            .wants_vector_memory = true,
            .wants_offsets = true,
            .lacks_long_vectors = true,
            .lacks_far_jumps = true,
            .lacks_linear_sub_groups = true,
            .wants_large_end_tests = true,
            .lacks_division = true,
            .lacks_f16_division = true,
            .lacks_i64_bits = true,
            .has_group_size = true,
            .private_bytes = QN__GPU_PRIVATE,
        },
    .complete = complete,
    .emit = emit,
};
