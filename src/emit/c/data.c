/* Constants of the C target: literals, and the module's __constant objects. */
#include <string.h>

#include "emit/c/internal.h"
#include "emit/cpu_abi.h"

/* C compilers take a second and a hundred megabytes for each megabyte of numbers: __constant objects over this size are
   data for the loader (QN__CPU_CONSTANTS). */
enum { SPELLED_CONSTANT = 64 * 1024, CONSTANTS_ALIGN = 128 };

/* ---- literals ---- */

static void integer(qn__buf *out, ir_kind kind, uint64_t bits, bool listed) {
    const unsigned width = qn__ir_bits(qn__ir_type(kind, 1));
    const uint64_t sign = (uint64_t)1 << (width - 1);
    const long long value = (long long)(((bits & (sign | (sign - 1))) ^ sign) - sign); /* its sign extended */
    (void)listed;
    if (kind == IR_PTR) {
        qn__buf_printf(out, "(u8 *)0x%llxUL", (unsigned long long)bits);
    } else if (bits == sign && kind == IR_I64) {
        qn__buf_puts(out, "(-0x7fffffffffffffffL - 1)");
    } else if (bits == sign && kind == IR_I32) {
        qn__buf_puts(out, "(-0x7fffffff - 1)");
    } else {
        qn__buf_printf(out, value < 0 ? "(%lld%s)" : "%lld%s", value, width == 64 ? "L" : "");
    }
}

static void not_finite(qn__buf *out, ir_kind kind, double value, uint64_t bits) {
    const char *suffix = kind == IR_F64 ? "" : "f";
    (void)bits;
    if (value != value)
        qn__buf_printf(out, "__builtin_nan%s(\"\")", suffix);
    else
        qn__buf_printf(out, value < 0 ? "(-__builtin_inf%s())" : "__builtin_inf%s()", suffix);
}

static const qn__c_literals literals = {
    .truth = {"0", "1"}, .f16_is_bits = false, .integer = integer, .not_finite = not_finite};

void qn__c_number(qn__buf *out, ir_kind kind, uint64_t bits) { qn__c_literal(out, &literals, kind, bits); }

/* ---- __constant objects ---- */

static ir_kind element(void *user, const ir_global *global) {
    const ir_type type = qn__ir_element(global->element);
    (void)user;
    if (!qn__ir_is_int(type) && type.kind != IR_F32 && type.kind != IR_F64) return IR_VOID;
    return global->size % (qn__ir_bits(type) / 8) == 0 ? (ir_kind)type.kind : IR_VOID;
}

static const char *element_type(void *user, ir_kind kind) {
    (void)user;
    return qn__c_scalar(kind);
}

static bool is_data(const ir_global *global) {
    return global->relocations.len == 0 && global->size > SPELLED_CONSTANT &&
           global->align <= CONSTANTS_ALIGN;
}

/* The objects that the loader fills: one array, and a name for each offset in it. */
static void data_objects(c_emitter *e, qn__buf *out) {
    uint64_t total = 0;
    qn__code_info *info = &e->result->info;
    for (uint32_t i = 0; i < e->module->globals.len; i++) {
        const ir_global *global = &e->module->globals.data[i];
        if (!e->global_used[i] || !is_data(global)) continue;
        qn__buf_printf(out, "#define qn_constant%u " QN__CPU_CONSTANTS "[%llu]\n", i,
                       (unsigned long long)total);
        total += (global->size + CONSTANTS_ALIGN - 1) / CONSTANTS_ALIGN * CONSTANTS_ALIGN;
    }
    if (!total) return;
    qn__buf_printf(out, "u8 " QN__CPU_CONSTANTS "[%llu] __attribute__((aligned(%d)));\n",
                   (unsigned long long)total, CONSTANTS_ALIGN);
    uint8_t *data = qn__arena_alloc(e->arena, (size_t)total);
    info->constants = data;
    info->constants_size = total;
    for (uint32_t i = 0; i < e->module->globals.len; i++) {
        const ir_global *global = &e->module->globals.data[i];
        if (!e->global_used[i] || !is_data(global)) continue;
        memcpy(data, global->data, (size_t)global->size);
        data += (global->size + CONSTANTS_ALIGN - 1) / CONSTANTS_ALIGN * CONSTANTS_ALIGN;
    }
}

static bool own(void *user, const ir_global *global, uint32_t index) {
    (void)user, (void)index;
    return is_data(global);
}

void qn__c_globals(c_emitter *e, qn__buf *out) {
    static const qn__c_objects objects = {.literals = &literals,
                                          .storage = "static const",
                                          .byte = "u8",
                                          .pointer = "const u8 *",
                                          .name = "qn_constant",
                                          .comments = true,
                                          .element = element,
                                          .type = element_type,
                                          .own = own};
    qn__buf spelled;
    qn__buf_init(&spelled, e->arena);
    qn__c_constants(&spelled, &objects, e, e->module, e->global_used);
    data_objects(e, out);
    if (spelled.len) qn__buf_append(out, spelled.data, spelled.len);
}
