/* The frame of a kernel in the C target: the function that runs a range of groups, and its entry point by the ABI
   of src/emit/cpu_abi.h. */
#include <string.h>

#include "emit/c/gang.h"
#include "emit/cpu_abi.h"

/* Static __local variables of a kernel live on the stack up to this size, where the compiler sees all of
   them. */
enum { STACK_LOCAL = 64 * 1024 };

/* ---- arguments ---- */

typedef struct c_argument {
    uint64_t offset;
    uint32_t size, align;
} c_argument;

static c_argument lay_out(const ir_arg *arg, uint64_t *at) {
    c_argument argument = {0, arg->size, arg->align};
    bool pointer = arg->arg_kind == IR_ARG_BUFFER || arg->arg_kind == IR_ARG_LOCAL;
    if (pointer || (!argument.size && arg->arg_kind == IR_ARG_VALUE && arg->value->type.kind == IR_PTR))
        argument.size = 8;
    if (!argument.size) argument.size = qn__ir_memory_size(arg->value->type);
    if (pointer || !argument.align)
        argument.align = argument.size < 8 || arg->arg_kind == IR_ARG_VALUE ? argument.size : 8;
    if (!argument.align) argument.align = 1;
    argument.offset = (*at + argument.align - 1) / argument.align * argument.align;
    *at = argument.offset + argument.size;
    return argument;
}

/* Parameters of the range function: a name and type for each argument's lane. */
static void parameters(c_emitter *e) {
    const ir_function *kernel = e->plan->kernel;
    for (size_t i = 0; i < kernel->args.len; i++) {
        const ir_arg *arg = &kernel->args.data[i];
        for (unsigned lane = 0; lane < arg->value->type.lanes; lane++) {
            if (arg->value->type.kind == IR_PTR) {
                bool restricted = (arg->flags & IR_ARG_RESTRICT) != 0;
                qn__buf_printf(e->text.out, ", u8 *%s%s", restricted ? "restrict " : "",
                               qn__c_use(e, arg->value, lane));
            } else {
                qn__buf_printf(e->text.out, ", %s", qn__c_variable(e, arg->value, lane));
            }
        }
    }
}

static void unpack(c_emitter *e) {
    const ir_function *kernel = e->plan->kernel;
    uint64_t at = 0;
    for (size_t i = 0; i < kernel->args.len; i++) {
        const ir_arg *arg = &kernel->args.data[i];
        const c_argument argument = lay_out(arg, &at);
        ir_type type = arg->value->type;
        unsigned long long offset = argument.offset;
        for (unsigned lane = 0; lane < type.lanes; lane++) {
            qn__buf_puts(e->text.out, ",\n        ");
            if (arg->arg_kind == IR_ARG_LOCAL) {
                qn__buf_printf(e->text.out, "local + *(const u64 *)(launch->args + %llu)", offset);
            } else if (arg->arg_kind == IR_ARG_STRUCT) {
                qn__buf_printf(e->text.out, "(u8 *)launch->args + %llu", offset);
            } else if (type.kind == IR_PTR) {
                qn__buf_printf(e->text.out, "*(u8 *const *)(launch->args + %llu)", offset);
            } else {
                const char *name = type.kind == IR_F16 ? "u16" : qn__c_scalar((ir_kind)type.kind);
                const char *text = qn__arena_printf(e->arena, "*(const %s *)(launch->args + %llu)", name,
                                                    offset + lane * (qn__ir_bits(type) / 8));
                qn__buf_puts(e->text.out, type.kind == IR_F16 ? qn__c_half_to_float(e, text) : text);
            }
        }
    }
}

/* ---- local memory and scratch ---- */

static uint64_t local_variables(c_emitter *e) {
    const ir_function *kernel = e->plan->kernel;
    uint64_t total = 0;
    for (size_t i = 0; i < kernel->locals.len; i++)
        total = (total + kernel->locals.data[i].size + QN__CPU_ALIGN - 1) / QN__CPU_ALIGN * QN__CPU_ALIGN;
    uint64_t at = 0;
    for (size_t i = 0; i < kernel->locals.len; i++) {
        const ir_local *variable = &kernel->locals.data[i];
        unsigned long long size = variable->size ? variable->size : 1;
        if (total <= STACK_LOCAL) {
            e->stack += size;
            qn__c_line(e, "u8 local%zu[%llu] __attribute__((aligned(%d)));", i, size, QN__CPU_ALIGN);
        } else {
            qn__c_line(e, "u8 *const local%zu = local + %llu;", i, (unsigned long long)at);
        }
        at = (at + variable->size + QN__CPU_ALIGN - 1) / QN__CPU_ALIGN * QN__CPU_ALIGN;
    }
    return total <= STACK_LOCAL ? 0 : total;
}

/* One object for all work-items. */
static void shared_object(c_emitter *e, const c_context_array *array, qn__kernel_info *info) {
    uint64_t align = array->align > QN__CPU_ALIGN ? array->align : QN__CPU_ALIGN;
    uint64_t size = (array->size + QN__CPU_ALIGN - 1) / QN__CPU_ALIGN * QN__CPU_ALIGN;
    qn__c_line(e, "u8 *restrict %s = (u8 *)(((u64)scratch + %llu) & -%lluUL);", array->name,
               (unsigned long long)(align - 1), (unsigned long long)align);
    qn__c_line(e, "scratch = %s + %lluUL;", array->name, (unsigned long long)size);
    info->scratch_fixed += size + align;
}

static void context_arrays(c_emitter *e, qn__kernel_info *info) {
    for (size_t i = 0; i < e->contexts.len; i++) {
        const c_context_array *array = &e->contexts.data[i];
        if (array->align) {
            shared_object(e, array, info);
            continue;
        }
        bool pointer = array->type[strlen(array->type) - 1] == '*';
        qn__c_line(e, "%s%s*restrict %s = (%s%s*)scratch;", array->type, pointer ? "" : " ", array->name,
                   array->type, pointer ? "" : " ");
        qn__c_line(e, "scratch += (full_items * %lluUL + %d) & -%dL;", (unsigned long long)array->size,
                   QN__CPU_ALIGN - 1, QN__CPU_ALIGN);
        info->scratch_per_item += array->size;
        info->scratch_fixed += QN__CPU_ALIGN;
    }
    if (e->contexts.len) info->scratch_fixed += QN__CPU_ALIGN;
}

/* ---- the function ---- */

static void dimension(c_emitter *e, unsigned dim) {
    qn__c_line(e, "const i64 start%u = group%u * (i64)launch->local_size[%u];", dim, dim, dim);
    qn__c_line(e, "const i64 left%u = (i64)launch->global_size[%u] - start%u;", dim, dim, dim);
    qn__c_line(e,
               "const i32 count%u = (i32)(left%u < (i64)launch->local_size[%u] ? left%u : "
               "(i64)launch->local_size[%u]);",
               dim, dim, dim, dim, dim);
    qn__c_line(e, "const i64 base%u = (i64)launch->global_offset[%u] + start%u;", dim, dim, dim);
    qn__c_line(e, "const i32 narrow%u = (i32)base%u;", dim, dim);
}

/* One loop over all x of the range, in pieces that a 32-bit counter can count. */
static void open_flat(c_emitter *e) {
    qn__c_line(e, "const i64 size0 = (i64)launch->local_size[0], whole0 = (i64)launch->global_size[0];");
    qn__c_line(e, "const i64 stop0 = end * size0 < whole0 ? end * size0 : whole0;");
    qn__c_open(e, "for (i64 start0 = begin * size0; start0 < stop0; start0 += 1 << 30) {");
    qn__c_line(e, "const i32 count0 = (i32)(stop0 - start0 < 1 << 30 ? stop0 - start0 : 1 << 30);");
    qn__c_line(e, "const i64 base0 = (i64)launch->global_offset[0] + start0;");
    qn__c_line(e, "const i32 narrow0 = (i32)base0;");
}

static void open_groups(c_emitter *e) {
    qn__c_open(e, "for (i64 group0 = begin; group0 < end; ++group0) {");
    dimension(e, 0);
    qn__c_line(e, "const i32 items = count0 * count1 * count2;");
    if (e->plan->masked) qn__c_line(e, "for (i32 i = 0; i < items; ++i) pend[i] = 0;");
}

enum { MOST_TWICE = 16 * 1024 };

/* A body whose group size is required is there twice: once for full groups, with sizes that the compiler knows. */
static bool is_worth_twice(const c_emitter *e, const qn__buf *body) {
    const ir_function *kernel = e->plan->kernel;
    if (e->plan->flat || e->options->debug || !kernel->reqd_local[0]) return false;
    return body->len > 0 && body->len < MOST_TWICE && !strstr(body->data, ":;\n"); /* labels */
}

static void full_groups(c_emitter *e, const qn__buf *body) {
    const uint32_t *size = e->plan->kernel->reqd_local;
    qn__c_open(e, "if (count0 == %u && count1 == %u && count2 == %u) {", size[0], size[1], size[2]);
    qn__c_line(e, "const i32 count0 = %u, count1 = %u, count2 = %u, items = %u;", size[0], size[1], size[2],
               size[0] * size[1] * size[2]);
    qn__buf_append(e->text.out, body->data, body->len);
    qn__c_line(e, "continue;");
    qn__c_close(e, "}");
}

static void kernel_body(c_emitter *e) {
    if (e->plan->flat) {
        open_flat(e);
    } else {
        open_groups(e);
    }
    qn__buf *out = e->text.out, body;
    qn__buf_init(&body, e->arena);
    e->text.out = &body;
    qn__c_in_step(e, e->plan->kernel->body);
    e->text.out = out;
    if (is_worth_twice(e, &body)) full_groups(e, &body);
    if (body.len) qn__buf_append(out, body.data, body.len);
    if (e->done_used) qn__buf_puts(out, "done:;\n");
    qn__c_close(e, "}");
}

static void entry(c_emitter *e, const qn__kernel_info *info, const char *range) {
    qn__c_open(
        e, "void %s(const qn_cpu_launch *launch, u64 begin, u64 end, u64 y, u64 z, u8 *local, u8 *scratch) {",
        info->symbol);
    for (unsigned i = 0; i < e->text.depth; i++) qn__buf_puts(e->text.out, "    ");
    qn__buf_printf(e->text.out, "%s(launch, (i64)begin, (i64)end, (i64)y, (i64)z, local, scratch", range);
    unpack(e);
    qn__buf_puts(e->text.out, ");\n");
    qn__c_close(e, "}");
}

static void start(c_emitter *e, ir_function *kernel) {
    const c_plan *plan = qn__c_plan(e->arena, kernel);
    e->plan = plan;
    e->gang_plan = qn__c_gang_plan(e->arena, plan);
    e->gang = NULL;
    e->names = QN__NEW_ARRAY(e->arena, const char *, (size_t)kernel->num_values + 1);
    e->seen = QN__NEW_ARRAY(e->arena, uint32_t, (size_t)kernel->num_values + 1);
    qn__c_flow_begin(&e->flow, e->arena, &e->text, plan->num_instrs);
    e->epoch = e->chunk = e->next_label = 0;
    e->per_item = e->next_used = e->done_used = e->uses_printf = false;
    e->contexts.len = 0;
    e->stack = 0;
    e->variable_names = (qn__map){0};
    e->sub_group_size = e->options->target.sub_group_size ? e->options->target.sub_group_size : 32;
    if (kernel->required_sub_group_size) e->sub_group_size = kernel->required_sub_group_size;
    if (plan->masked) qn__vec_push(e->arena, &e->contexts, (c_context_array){"i32", "pend", 4, 0});
}

void qn__c_kernel(c_emitter *e, ir_function *kernel) {
    qn__kernel_info *info = qn__describe_kernel(e->arena, &e->result->info, kernel);
    start(e, kernel);
    qn__buf *out = e->text.out, body;
    qn__buf_init(&body, e->arena);
    e->text.out = &body;
    e->text.depth = 1;
    e->text.line = 0;
    qn__c_locate(e, kernel->loc);
    kernel_body(e);
    e->text.out = out;
    e->text.depth = 0;
    const char *range = qn__arena_printf(e->arena, "%s" QN__CPU_GROUPS, kernel->name);
    info->symbol = qn__arena_printf(e->arena, "qn_kernel_%s", kernel->name);
    qn__buf_printf(
        out,
        /* Inlined into the entry, its many outer values would take the registers of inner loops. */
        "static __attribute__((noinline)) void %s(const qn_cpu_launch *launch, i64 begin, i64 end, i64 "
        "group1, i64 group2, "
        "u8 *local, u8 *scratch",
        range);
    parameters(e);
    qn__buf_puts(out, ") {\n");
    e->text.depth = 1;
    qn__c_locate(e, kernel->loc);
    qn__c_line(
        e, "const u64 full_items = launch->local_size[0] * launch->local_size[1] * launch->local_size[2];");
    const uint64_t total =
        local_variables(e); /* where they lie on the stack the interpreter still has them there */
    if (total > info->static_local) info->static_local = total;
    context_arrays(e, info);
    dimension(e, 1);
    dimension(e, 2);
    qn__buf_append(out, body.data, body.len);
    e->text.depth = 0;
    qn__c_line(e, "}");
    e->text.line = 0;
    if (e->options->debug) qn__c_line(e, "#line 1 \"quern.c\"");
    entry(e, info, range);
    info->uses_sync = e->plan->sync;
    info->uses_printf = e->uses_printf;
    info->stack = e->stack;
}
