/* The C target: text for the host's compiler, with nothing included, so that the compiler starts fast. What
   the text relies on is gcc's and clang's dialect of C11 on a 64-bit little-endian machine, and
   -fno-strict-aliasing. */
#include "emit/c/gang.h"
#include "emit/cpu_abi.h"

static const char prelude[] =
    "typedef signed char i8; typedef short i16; typedef int i32; typedef long i64;\n"
    "typedef unsigned char u8; typedef unsigned short u16; typedef unsigned int u32; typedef unsigned long "
    "u64;\n"
    "typedef float f32; typedef double f64; typedef _Bool b1;\n"
    "typedef struct qn_cpu_services {\n"
    "    void *user;\n"
    "    i32 (*print)(void *user, const char *format, const u8 *values, u64 size);\n"
    "} qn_cpu_services;\n"
    "typedef struct qn_cpu_launch {\n"
    "    u32 work_dim, cancelled;\n"
    "    u64 global_size[3], global_offset[3], local_size[3], num_groups[3];\n"
    "    const u8 *args;\n"
    "    const qn_cpu_services *services;\n"
    "} qn_cpu_launch;\n"
    "#define QN_LIKELY(x) __builtin_expect(x, 1)\n"
    "#define QN_CANCELLED __builtin_expect(__atomic_load_n((u32 *)&launch->cancelled, __ATOMIC_RELAXED), 0)\n"
    "/* Work-items that do not meet may not depend on each other: the loops over them vectorise. */\n"
    "#ifdef __clang__\n"
    "#define QN_INDEPENDENT _Pragma(\"clang loop vectorize(assume_safety)\")\n"
    "#else\n"
    "#define QN_INDEPENDENT _Pragma(\"GCC ivdep\")\n"
    "#endif\n"
    "#pragma GCC diagnostic ignored \"-Wunused-variable\"\n"
    "#pragma GCC diagnostic ignored \"-Wunused-function\"\n"
    "#pragma GCC diagnostic ignored \"-Wunused-but-set-variable\"\n"
    "#pragma GCC diagnostic ignored \"-Wuninitialized\"\n"
    "#pragma GCC diagnostic ignored \"-Wtautological-compare\"\n"
    "#ifdef __clang__\n"
    "#pragma GCC diagnostic ignored \"-Wunused-value\"\n"
    "#pragma GCC diagnostic ignored \"-Wpass-failed\"\n"
    "#pragma GCC diagnostic ignored \"-Wparentheses-equality\"\n"
    "#else\n"
    "#pragma GCC diagnostic ignored \"-Wmaybe-uninitialized\"\n"
    "#endif\n";

/* gcc 12 takes vectors of floats that are made of as many doubles, and made doubles again, for those doubles. It only makes such of
   straight code. */
static const char exact_floats[] = "#if defined __GNUC__ && !defined __clang__\n"
                                   "#pragma GCC optimize(\"no-tree-slp-vectorize\")\n"
                                   "#endif\n";

static void emit(qn__arena *arena, ir_module *module, const qn__emit_options *options,
                 qn__emit_result *result) {
    c_emitter e = {.arena = arena, .module = module, .options = options, .result = result};
    qn__buf body, text;
    *result = (qn__emit_result){0};
    qn__buf_init(&body, arena);
    qn__buf_init(&text, arena);
    qn__buf_init(&e.helpers, arena);
    e.text.out = &body;
    e.global_used = QN__NEW_ARRAY(arena, bool, module->globals.len + 1);
    for (size_t i = 0; i < module->functions.len; i++) {
        if (module->functions.data[i]->is_kernel) qn__c_kernel(&e, module->functions.data[i]);
    }
    qn__buf_puts(&text, prelude);
    if (e.has_to_f32 && e.has_to_f64) qn__buf_puts(&text, exact_floats);
    qn__buf_printf(&text, "const u32 qn_cpu_abi_version = %d;\n", QN__CPU_ABI_VERSION);
    if (e.gangs) qn__buf_puts(&text, qn__c_gang_prelude);
    if (e.helpers.len) qn__buf_append(&text, e.helpers.data, e.helpers.len);
    qn__c_globals(&e, &text);
    if (body.len) qn__buf_append(&text, body.data, body.len);
    result->text = text.data;
    result->size = text.len;
}

const qn__emitter qn__emitter_c = {
    .base = {.lacks_f16_values = true, .has_dot4_vectors = true, .has_panels = true}, .emit = emit};
