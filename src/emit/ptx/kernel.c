/* A kernel of the PTX target: its parameters, its guard against work-items past the end, its variables, and the
   frame around its instructions. The ABI is emit/gpu_abi.h. */
#include <string.h>

#include "emit/ptx/internal.h"
#include "emit/symbol.h"

enum {
    STATIC_SHARED = 48 << 10, /* the most that a device gives to variables of fixed size */
    ASYNC_ALIGN = 16          /* of what async copies go to, so that they are of the largest pieces */
};

static uint64_t round_up(uint64_t value, uint64_t align) {
    return align ? (value + align - 1) / align * align : value;
}

/* ---- parameters ---- */

static const qn__implicit *implicit_of(ptx_emitter *e, qn__implicit_kind kind, unsigned dim) {
    static const uint8_t sizes[QN__IMPLICIT_KIND_COUNT] = {
        [QN__IMPLICIT_GLOBAL_BASE] = 8, [QN__IMPLICIT_GLOBAL_SIZE] = 8,  [QN__IMPLICIT_GLOBAL_OFFSET] = 8,
        [QN__IMPLICIT_GROUP_BASE] = 4,  [QN__IMPLICIT_NUM_GROUPS] = 4,   [QN__IMPLICIT_ENQUEUED_SIZE] = 4,
        [QN__IMPLICIT_WORK_DIM] = 4,    [QN__IMPLICIT_OVERHANG] = 4,     [QN__IMPLICIT_PRINT] = 8,
        [QN__IMPLICIT_CONSTANTS] = 8,   [QN__IMPLICIT_BUFFER_OFFSET] = 8};
    for (size_t i = 0; i < e->implicit.len; i++)
        if (e->implicit.data[i].kind == kind && e->implicit.data[i].dim == dim) return &e->implicit.data[i];
    uint32_t size = sizes[kind], offset = (uint32_t)round_up(e->params_size, size);
    qn__vec_push(e->arena, &e->implicit, (qn__implicit){(uint8_t)kind, (uint8_t)size, (uint16_t)dim, offset});
    e->params_size = offset + size;
    return &qn__vec_last(&e->implicit);
}

ptx_operand qn__ptx_implicit(ptx_emitter *e, qn__implicit_kind kind, unsigned dim) {
    const qn__implicit *implicit = implicit_of(e, kind, dim);
    ptx_operand r = qn__ptx_new(e, implicit->size == 8 ? PTX_B64 : PTX_B32);
    qn__ptx(e, "ld.param.~ =, [params+#];", implicit->size == 8 ? "b64" : "b32", r,
            (int64_t)implicit->offset);
    return r;
}

ptx_operand qn__ptx_implicit_low(ptx_emitter *e, qn__implicit_kind kind, unsigned dim) {
    ptx_operand r = qn__ptx_new(e, PTX_B32);
    qn__ptx(e, "ld.param.b32 =, [params+#];", r, (int64_t)implicit_of(e, kind, dim)->offset);
    return r;
}

static void load_value(ptx_emitter *e, const ir_value *value, uint32_t offset) {
    static const char *const types[] = {[1] = "u8", [2] = "u16", [4] = "b32", [8] = "b64"};
    const unsigned size = qn__ir_bits(value->type) / 8;
    for (unsigned lane = 0; lane < value->type.lanes; lane++) {
        ptx_class cls = size == 8 ? PTX_B64 : value->type.kind == IR_F16 ? PTX_B16 : PTX_B32;
        ptx_operand r = qn__ptx_new(e, cls);
        const char *type = cls == PTX_B16 ? "b16" : types[size];
        qn__ptx(e, "ld.param.~ =, [params+#];", type, r, (int64_t)(offset + lane * size));
        if (size < 4) r.extended = PTX_ZERO_EXTENDED;
        qn__ptx_define(e, value, lane, r);
    }
}

/* The argument is an offset that counts from the start of all local memory, with the static part in front. */
static void load_local(ptx_emitter *e, const ir_value *value, uint32_t offset) {
    ptx_operand r = qn__ptx_new(e, PTX_B32);
    ptx_operand base = qn__ptx_in_register(e, qn__ptx_address(PTX_DYNAMIC, PTX_B32, 0));
    e->dynamic_used = true;
    qn__ptx(e, "ld.param.b32 =, [params+#];", r, (int64_t)offset);
    r = qn__ptx_op2(e, "add.s32", PTX_B32, r, base);
    uint64_t before = e->locals_in_dynamic ? 0 : round_up(e->static_local, QN__LOCAL_ALIGN);
    if (before) r = qn__ptx_op2(e, "add.s32", PTX_B32, r, qn__ptx_int(PTX_B32, 0 - before));
    qn__ptx_define(e, value, 0, r);
}

/* Places all arguments, and loads them where `load` says so. */
static void arguments(ptx_emitter *e, bool load) {
    uint64_t offset = 0;
    for (size_t i = 0; i < e->function->args.len; i++) {
        const ir_arg *arg = &e->function->args.data[i];
        if (arg->arg_kind == IR_ARG_PRINT) {
            if (!load) continue;
            e->uses_printf = true;
            qn__ptx_define(e, arg->value, 0, qn__ptx_implicit(e, QN__IMPLICIT_PRINT, 0));
            continue;
        }
        offset = round_up(offset, arg->align ? arg->align : 1);
        if (load && e->uses[arg->value->id]) {
            if (arg->arg_kind == IR_ARG_STRUCT)
                qn__ptx_define(e, arg->value, 0, qn__ptx_address(PTX_PARAMS, PTX_B64, offset));
            else if (arg->arg_kind == IR_ARG_LOCAL)
                load_local(e, arg->value, (uint32_t)offset);
            else
                load_value(e, arg->value, (uint32_t)offset);
        }
        offset += arg->size;
    }
    if (!load) e->params_size = (uint32_t)offset;
}

/* ---- frame ---- */

static void place_locals(ptx_emitter *e) {
    uint64_t size = e->compares_near && e->function->locals.len ? PTX_FIRST_ADDRESS : 0;
    e->local_offset = QN__NEW_ARRAY(e->arena, uint32_t, e->function->locals.len + 1);
    for (size_t i = 0; i < e->function->locals.len; i++) {
        const ir_local *local = &e->function->locals.data[i];
        const bool wide = e->uses_events && local->size >= ASYNC_ALIGN && local->align < ASYNC_ALIGN;
        size = round_up(size, wide ? ASYNC_ALIGN : local->align);
        e->local_offset[i] = (uint32_t)size;
        size += local->size;
    }
    if (size > UINT32_MAX / 2) qn__ptx_fail(e, "the kernel's __local variables are too large");
    e->static_local = size;
    e->locals_in_dynamic = size > STATIC_SHARED;
    e->dynamic_used |= e->locals_in_dynamic;
}

/* Work-items past the end leave; all else of the launch passes by with one branch not taken, for the code that
   finds them stands behind the kernel's. */
typedef struct guard_labels {
    uint32_t outside, inside;
} guard_labels;

static guard_labels guard(ptx_emitter *e) {
    guard_labels g = {e->next_label, e->next_label + 1};
    e->next_label += 2;
    ptx_operand overhang = qn__ptx_implicit(e, QN__IMPLICIT_OVERHANG, 0);
    ptx_operand hangs = qn__ptx_op2(e, "setp.ne.s32", PTX_PRED, overhang, qn__ptx_int(PTX_B32, 0));
    qn__ptx(e, "@$ bra L#;", hangs, (int64_t)g.outside);
    qn__ptx_label(e, g.inside);
    return g;
}

static void guard_end(ptx_emitter *e, guard_labels g) {
    qn__ptx_label(e, g.outside);
    for (unsigned dim = 0; dim < 3; dim++) {
        ptx_operand end = qn__ptx_implicit(e, QN__IMPLICIT_GLOBAL_SIZE, dim);
        ptx_operand offset = qn__ptx_implicit(e, QN__IMPLICIT_GLOBAL_OFFSET, dim);
        end = qn__ptx_op2(e, "add.s64", PTX_B64, end, offset);
        qn__ptx(e, "@$ ret;", qn__ptx_op2(e, "setp.ge.u64", PTX_PRED, qn__ptx_global_id(e, dim), end));
    }
    qn__ptx(e, "bra L#;", (int64_t)g.inside);
}

/* More than all devices take needs a newer one, and its driver to know that. */
static void check_params(ptx_emitter *e) {
    const bool takes_few = (e->arch && e->arch < 70) || e->options->target.lacks_large_params;
    const unsigned most = takes_few ? QN__PTX_PARAMS : QN__PTX_MOST_PARAMS;
    if (e->params_size <= QN__PTX_PARAMS) return;
    qn__ptx_require(e, 70, 81);
    if (e->params_size <= most) return;
    e->loc = e->function->loc;
    qn__ptx_fail(e,
                 qn__arena_printf(e->arena,
                                  "kernel '%s' has %u bytes of parameters, with those that quern adds; %s "
                                  "takes %u: pass a buffer",
                                  e->function->name, (unsigned)e->params_size,
                                  takes_few ? "this device or its driver" : "quern's code for CUDA", most));
}

static void group_size(const ptx_emitter *e, qn__buf *text) {
    const uint32_t *size = e->function->reqd_local;
    if (!size[0]) return;
    qn__buf_printf(text, "%s %u, %u, %u\n", qn__ptx_has_size(e) ? ".reqntid" : ".maxntid", size[0],
                   size[1] ? size[1] : 1, size[2] ? size[2] : 1);
}

static uint32_t params_align(const ptx_emitter *e) {
    uint32_t align = 16;
    for (size_t i = 0; i < e->function->args.len; i++)
        if (e->function->args.data[i].align > align) align = e->function->args.data[i].align;
    return align;
}

static void frame(ptx_emitter *e, qn__buf *text) {
    static const char *const names[PTX_CLASS_COUNT] = {".pred %p", ".b16 %h", ".b32 %r", ".b64 %d"};
    qn__buf_printf(text, "\n.visible .entry %s(", e->symbol);
    if (e->params_size)
        qn__buf_printf(text, ".param .align %u .b8 params[%u]", params_align(e), e->params_size);
    qn__buf_puts(text, ")\n");
    group_size(e, text);
    if (e->function->cluster) {
        qn__ptx_require(e, 90, 78);
        qn__buf_printf(text, ".explicitcluster\n.reqnctapercluster %u, 1, 1\n", e->function->cluster);
    }
    if (e->function->max_registers) qn__buf_printf(text, ".maxnreg %u\n", e->function->max_registers);
    if (e->sets_registers)
        qn__buf_puts(text, ".minnctapersm 1\n"); /* else ptxas has no number to begin with */
    qn__buf_puts(text, "{\n");
    for (int c = 0; c < PTX_CLASS_COUNT; c++)
        if (e->num_registers[c]) qn__buf_printf(text, "\t.reg %s<%u>;\n", names[c], e->num_registers[c]);
    if (e->depot_size)
        qn__buf_printf(text, "\t.local .align %u .b8 depot[%llu];\n", e->depot_align,
                       (unsigned long long)e->depot_size);
    if (e->uses_locals && !e->locals_in_dynamic && e->static_local)
        qn__buf_printf(text, "\t.shared .align %d .b8 locals[%llu];\n", QN__LOCAL_ALIGN,
                       (unsigned long long)e->static_local);
    if (!e->options->debug) qn__ptx_coalesce(e);
    qn__ptx_print(e, text);
    qn__buf_puts(text, "}\n");
}

static void report(ptx_emitter *e) {
    qn__kernel_info *kernel = qn__describe_kernel(e->arena, &e->result->info, e->function);
    kernel->symbol = e->symbol;
    kernel->static_local = e->static_local;
    kernel->uses_sync = e->uses_sync;
    kernel->uses_printf = e->uses_printf;
    kernel->guarded = !e->uses_group;
    kernel->params_size = e->params_size;
    kernel->implicit = e->implicit.data;
    kernel->num_implicit = (uint32_t)e->implicit.len;
}

void qn__ptx_kernel(ptx_emitter *module, ir_function *kernel, qn__buf *text) {
    ptx_emitter e = *module;
    e.function = kernel;
    e.symbol = qn__symbol_of(e.arena, kernel->name);
    e.loc = kernel->loc;
    e.next_label = 1;
    e.lines.len = e.operands.len = 0;
    e.lanes.len = 1; /* the first is nobody's */
    qn__ptx_plan(&e);
    place_locals(&e);
    arguments(&e, false);
    guard_labels guarded = {0};
    if (!e.uses_group) guarded = guard(&e);
    if (e.uses_locals)
        e.locals = qn__ptx_in_register(
            &e, qn__ptx_address(e.locals_in_dynamic ? PTX_DYNAMIC : PTX_LOCALS, PTX_B32, 0));
    arguments(&e, true);
    if (e.uses_events) qn__ptx_async_begin(&e);
    qn__ptx_region(&e, kernel->body);
    if (!e.uses_group) guard_end(&e, guarded);
    check_params(&e);
    frame(&e, text);
    report(&e);
    module->lines.data = e.lines.data, module->lines.cap = e.lines.cap; /* their room */
    module->operands.data = e.operands.data, module->operands.cap = e.operands.cap;
    module->lanes.data = e.lanes.data, module->lanes.cap = e.lanes.cap;
    module->is_specific = e.is_specific;
    module->need_target = e.need_target;
    module->need_version = e.need_version;
    module->dynamic_used = e.dynamic_used;
}
