/* The OpenCL C target: text of OpenCL C 1.2 for a driver's compiler, by the ABI of src/emit/gpu_abi.h. This file
   is the frame: kernels with their parameters, what the text needs of extensions. The text
   relies on clang's dialect of OpenCL C, as all drivers of today do: typedefs with an alignment, may_alias,
   goto. */
#include <string.h>

#include "emit/cfamily.h"
#include "emit/clc/internal.h"
#include "emit/symbol.h"

/* ---- parameters ---- */

/* A struct by value is one of words of its alignment. */
static const char *struct_type(clc_emitter *e, const ir_arg *arg) {
    static const char *const words[] = {"uchar",  "ushort", "uint",   "ulong",
                                        "ulong2", "ulong4", "ulong8", "ulong16"};
    unsigned log = 0;
    while (log < 7 && arg->align >> (log + 1)) log++;
    unsigned count = arg->size >> log;
    const char *name = qn__arena_printf(e->arena, "struct qn_%ux%u", count, 1u << log);
    if (qn__clc_need(e, name)) qn__buf_printf(&e->helpers, "%s { %s w[%u]; };\n", name, words[log], count);
    return name;
}

static const char *parameter(clc_emitter *e, const ir_arg *arg, size_t index) {
    const char *space, *is_const = arg->flags & IR_ARG_CONST ? "const " : "";
    switch (arg->arg_kind) {
    case IR_ARG_STRUCT: return qn__arena_printf(e->arena, "%s p%zu", struct_type(e, arg), index);
    case IR_ARG_BUFFER:
        space = qn__clc_space(e, arg->value);
        if (arg->value->type.space == IR_CONSTANT_SPACE)
            is_const = *space == '_' && space[2] == 'g' ? "const " : "";
        return qn__arena_printf(e->arena, "%s %suchar *%sp%zu", space, is_const,
                                arg->flags & IR_ARG_RESTRICT ? "restrict " : "", index);
    /* The type gives the memory its alignment. */
    case IR_ARG_LOCAL: return qn__arena_printf(e->arena, "__local ulong16 *p%zu", index);
    default: return qn__arena_printf(e->arena, "%s p%zu", qn__clc_type(e, arg->value->type), index);
    }
}

/* The type that holds a kernel's implicit arguments; its members have the names of qn__clc_implicit. */
static void implicit_struct(clc_emitter *e) {
    qn__buf_printf(&e->helpers, "struct qn_implicit_%s {\n", qn__symbol_of(e->arena, e->kernel->name));
    for (size_t i = 0; i < e->implicit.len; i++) {
        const qn__implicit *implicit = &e->implicit.data[i];
        const char *member = qn__clc_implicit(e, (qn__implicit_kind)implicit->kind, implicit->dim);
        qn__buf_printf(&e->helpers, "    %s %s;\n",
                       qn__clc_in_words((qn__implicit_kind)implicit->kind) ? "uint2" : "ulong",
                       strchr(member, '.') + 1);
    }
    qn__buf_puts(&e->helpers, "};\n");
}

/* Arguments as values of the IR. */
static void unpack(clc_emitter *e) {
    for (size_t i = 0; i < e->kernel->args.len; i++) {
        const ir_arg *arg = &e->kernel->args.data[i];
        const char *declarator = qn__clc_declarator(e, arg->value), *name = qn__clc_name(e, arg->value);
        if (!e->uses[arg->value->id]) continue;
        switch (arg->arg_kind) {
        case IR_ARG_STRUCT: qn__clc_line(e, "%s%s = (%s)&p%zu;", declarator, name, declarator, i); break;
        case IR_ARG_BUFFER:
            qn__clc_line(e, "%s%s = (%s)p%zu + %s;", declarator, name, declarator, i,
                         qn__clc_implicit(e, QN__IMPLICIT_BUFFER_OFFSET, (uint32_t)i));
            break;
        case IR_ARG_LOCAL: qn__clc_line(e, "%s%s = (%s)p%zu;", declarator, name, declarator, i); break;
        case IR_ARG_PRINT:
            qn__clc_line(e, "%s%s = %s;", declarator, name, qn__clc_implicit(e, QN__IMPLICIT_PRINT, 0));
            break;
        default: qn__clc_line(e, "%s%s = p%zu;", declarator, name, i); break;
        }
    }
}

/* ---- kernels ---- */

static void look(ir_instr *instr, void *user) {
    clc_emitter *e = user;
    instr->mark = e->num_instrs++;
    const bool together = qn__ir_is_together((ir_op)instr->op);
    if (together) e->uses_sync = true;
    bool sub_group = instr->op >= IR_SUB_GROUP_SIZE && instr->op <= IR_SUB_GROUP_LOCAL_ID;
    sub_group = sub_group || qn__ir_is_of_sub_group(instr);
    if (together || qn__ir_has(instr->op, IR_WHOLE)) e->guarded = false;
    if (!sub_group) return;
    e->uses_sub_groups = true;
    qn__clc_locate(e, instr->loc);
    if (e->options->target.lacks_sub_groups) qn__clc_error(e, "the device has no sub-groups");
}

/* Work-items past the end leave at once. The ids are of this part of the launch. */
static void guard(clc_emitter *e) {
    qn__clc_open(e, "if (%s) {", qn__clc_implicit(e, QN__IMPLICIT_OVERHANG, 0));
    for (uint32_t dim = 0; dim < 3; dim++)
        qn__clc_line(e, "if (get_global_id(%u) - get_global_offset(%u) >= %s) return;", dim, dim,
                     qn__clc_implicit(e, QN__IMPLICIT_LIMIT, dim));
    qn__clc_close(e, "}");
}

/* Arrays begin where a vector may: NVIDIA's compiler joins accesses of neighbours only where it sees that. */
static uint64_t alignment(const ir_local *local) {
    enum { VECTOR = 16 };
    const uint64_t least = local->size >= VECTOR ? VECTOR : 1;
    return local->align > least ? local->align : least;
}

static uint64_t locals(clc_emitter *e) {
    uint64_t total = 0;
    for (size_t i = 0; i < e->kernel->locals.len; i++) {
        const ir_local *local = &e->kernel->locals.data[i];
        const uint64_t align = alignment(local);
        total = (total + align - 1) / align * align + local->size;
        qn__clc_line(e, "__local uchar local%zu[%llu] __attribute__((aligned(%llu)));", i,
                     (unsigned long long)(local->size ? local->size : 1), (unsigned long long)align);
    }
    return total;
}

static void variables(clc_emitter *e) {
    for (const ir_instr *i = e->kernel->body->first; i && i->op == IR_VAR; i = i->next) {
        const ir_var *var = i->attr.var;
        const ir_value *value = i->results[0];
        if (!e->uses[value->id]) continue;
        qn__clc_line(e, "uchar object%u[%llu] __attribute__((aligned(%u)));", value->id,
                     (unsigned long long)(var->size ? var->size : 1), var->align ? var->align : 8);
        qn__clc_line(e, "%s%s = object%u;", qn__clc_declarator(e, value), qn__clc_name(e, value), value->id);
    }
}

static void describe(clc_emitter *e, uint64_t static_local) {
    const size_t words = e->implicit.len;
    if (e->prints) {
        qn__implicit implicit = {.kind = QN__IMPLICIT_PRINT, .size = 8};
        qn__vec_push(e->arena, &e->implicit, implicit);
    }
    qn__kernel_info *kernel = qn__describe_kernel(e->arena, &e->result->info, e->kernel);
    kernel->symbol = qn__arena_printf(e->arena, "qn_kernel_%s", qn__symbol_of(e->arena, e->kernel->name));
    kernel->static_local = static_local;
    kernel->uses_sync = e->uses_sync;
    kernel->uses_printf = e->prints;
    kernel->guarded = e->guarded;
    kernel->params_size = kernel->args_size + 8 * (uint32_t)words;
    kernel->implicit = e->implicit.data;
    kernel->num_implicit = (uint32_t)e->implicit.len;
}

static void signature(clc_emitter *e, qn__buf *out) {
    const ir_function *kernel = e->kernel;
    const uint32_t *reqd = kernel->reqd_local;
    bool first = true;
    qn__buf_puts(out, "__kernel ");
    if (reqd[0] && qn__clc_need(e, "QN_LOCAL_SIZE"))
        qn__buf_puts(&e->helpers,
                     "#ifdef QN_ANY_LOCAL_SIZE /* for the smaller groups at the end of a launch */\n"
                     "#define QN_LOCAL_SIZE(x, y, z)\n"
                     "#else\n"
                     "#define QN_LOCAL_SIZE(x, y, z) __attribute__((reqd_work_group_size(x, y, z)))\n"
                     "#endif\n");
    if (reqd[0])
        qn__buf_printf(out, "QN_LOCAL_SIZE(%u, %u, %u) ", reqd[0], reqd[1] ? reqd[1] : 1,
                       reqd[2] ? reqd[2] : 1);
    qn__buf_printf(out, "void qn_kernel_%s(", qn__symbol_of(e->arena, kernel->name));
    for (size_t i = 0; i < kernel->args.len; i++) {
        if (kernel->args.data[i].arg_kind == IR_ARG_PRINT) continue;
        qn__buf_printf(out, "%s%s", first ? "" : ", ", parameter(e, &kernel->args.data[i], i));
        first = false;
    }
    if (e->implicit.len) {
        implicit_struct(e);
        qn__buf_printf(out, "%sstruct qn_implicit_%s implicit", first ? "" : ", ",
                       qn__symbol_of(e->arena, kernel->name));
        first = false;
    }
    if (e->prints) qn__buf_printf(out, "%s__global uchar *print_buffer", first ? "" : ", ");
    qn__buf_puts(out, ") {\n");
}

static void emit_kernel(clc_emitter *e, ir_function *kernel, qn__buf *text) {
    qn__buf body;
    qn__buf_init(&body, e->arena);
    e->text.out = &body;
    e->kernel = kernel;
    qn__clc_locate(e, kernel->loc);
    e->uses = qn__ir_count_uses(e->arena, kernel);
    e->implicit.data = NULL; /* the last kernel's are kept by its description */
    e->implicit.len = e->implicit.cap = 0;
    e->num_instrs = 0;
    e->guarded = true;
    e->uses_sync = e->prints = false;
    e->text.depth = 1;
    qn__clc_count_indexed(e);
    qn__clc_find_spaces(e);
    qn__ir_walk(kernel->body, look, e);
    qn__c_flow_begin(&e->flow, e->arena, &e->text, e->num_instrs);
    qn__clc_locate(e, kernel->loc);
    uint64_t static_local = locals(e);
    if (e->guarded) guard(e);
    unpack(e);
    variables(e);
    qn__clc_region(e, kernel->body);
    signature(e, text);
    if (body.len) qn__buf_append(text, body.data, body.len);
    qn__buf_puts(text, "}\n");
    e->text.out = text;
    describe(e, static_local);
}

/* ---- modules ---- */

static void prelude(const clc_emitter *e, qn__buf *out) {
    static const char *const sub_groups[] = {"cl_khr_subgroups", "cl_khr_subgroup_shuffle",
                                             "cl_khr_subgroup_ballot", "cl_khr_subgroup_extended_types",
                                             "cl_khr_subgroup_non_uniform_arithmetic"};
    if (e->uses_f64) qn__buf_puts(out, "#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n");
    if (e->uses_64_atomic)
        qn__buf_puts(out, "#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable\n"
                          "#pragma OPENCL EXTENSION cl_khr_int64_extended_atomics : enable\n");
    for (size_t i = 0; e->uses_sub_groups && i < QN__COUNT(sub_groups); i++)
        qn__buf_printf(out, "#ifdef %s\n#pragma OPENCL EXTENSION %s : enable\n#endif\n", sub_groups[i],
                       sub_groups[i]);
    qn__buf_puts(out, "#pragma OPENCL FP_CONTRACT OFF\n");
}

static void emit(qn__arena *arena, ir_module *module, const qn__emit_options *options,
                 qn__emit_result *result) {
    clc_emitter e = {.arena = arena, .module = module, .options = options, .result = result};
    qn__buf body, text, tables;
    *result = (qn__emit_result){0};
    qn__buf_init(&body, arena);
    qn__buf_init(&text, arena);
    qn__buf_init(&tables, arena);
    qn__buf_init(&e.helpers, arena);
    e.global_used = QN__NEW_ARRAY(arena, bool, module->globals.len + 1);
    for (size_t i = 0; i < module->functions.len; i++)
        if (module->functions.data[i]->is_kernel) emit_kernel(&e, module->functions.data[i], &body);
    qn__clc_constants(&e, &tables);
    prelude(&e, &text);
    if (e.helpers.len) qn__buf_append(&text, e.helpers.data, e.helpers.len);
    if (tables.len) qn__buf_append(&text, tables.data, tables.len);
    if (body.len) qn__buf_append(&text, body.data, body.len);
    result->text = text.data;
    result->size = text.len;
}

const qn__emitter qn__emitter_clc = {
    .base =
        {
            .lacks_collectives = true,
            .lacks_printf = true,
            .lacks_zero_divisors = true,
            .lacks_division_overflow = true,
            .wants_narrow = true,
            .wants_quiet_loops = true,
            .lacks_f16 = true,
            .lacks_f16_values = true,
            .lacks_linear_sub_groups = true,
            .wants_large_unrolled = true,
            .wants_even_unrolled = true,
            .private_bytes = QN__GPU_PRIVATE,
        },
    .emit = emit,
};
