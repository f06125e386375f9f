/* panel_product of the C target: by the registers of tiles that x86 processors with AMX have, by AVX-512's products of pairs of bf16,
   else by loops. Eight registers of tiles hold 32 x 32 sums, 32 rows of 16 words of a, and 16 rows of 32 words of b. Source: "Intel 64
   and IA-32 Architectures Software Developer's Manual", volume 1, "Programming with Intel AMX", and volume 2, VDPBF16PS. */
#include "emit/c/internal.h"

static const struct panel_kind {
    const char *name, *instruction, *sum, *a, *b; /* the types: of a sum, and of the words' elements */
} kinds[IR_PANEL_KINDS] = {
    [IR_PANEL_BF16] = {"bf16", "tdpbf16ps", "f32", "u16", "u16"},
    [IR_PANEL_SS] = {"ss", "tdpbssd", "i32", "i8", "i8"},
    [IR_PANEL_SU] = {"su", "tdpbsud", "i32", "i8", "u8"},
    [IR_PANEL_US] = {"us", "tdpbusd", "i32", "u8", "i8"},
    [IR_PANEL_UU] = {"uu", "tdpbuud", "i32", "u8", "u8"},
};

static const char parameters[] =
    "(u8 *sums, const u8 *a, const u8 *b, i64 a_row, i64 panel, i32 words, i32 panels, i32 more) {\n";

/* Registers that are in use make a change of threads slower: they are given back. */
static const char begin_registers[] =
    "    struct { u8 palette, start, rest[14]; u16 bytes[16]; u8 rows[16]; } shape = {.palette = 1};\n"
    "    for (i32 i = 0; i < 8; ++i) shape.bytes[i] = 64, shape.rows[i] = 16;\n"
    "    __asm__ volatile(\"ldtilecfg %0\" : : \"m\"(shape));\n"
    "    for (i32 p = 0; p < panels; ++p) {\n"
    "        u8 *upper = sums + 4096l * p, *lower = upper + 2048;\n"
    "        const u8 *at = b + panel * p;\n"
    "        if (more)\n"
    "            __asm__ volatile(\"tileloadd (%0,%2,1), %%tmm0\\n\\ttileloadd 64(%0,%2,1), %%tmm1\\n\\t\"\n"
    "                \"tileloadd (%1,%2,1), %%tmm2\\n\\ttileloadd 64(%1,%2,1), %%tmm3\"\n"
    "                : : \"r\"(upper), \"r\"(lower), \"r\"(128l) : \"memory\");\n"
    "        else\n"
    "            __asm__ volatile(\"tilezero %%tmm0\\n\\ttilezero %%tmm1\\n\\ttilezero %%tmm2\\n\\ttilezero "
    "%%tmm3\" : :);\n"
    "        for (i32 w = 0; w < words / 16 * 16; w += 16)\n"
    "            __asm__ volatile(\"tileloadd (%0,%2,1), %%tmm4\\n\\ttileloadd (%3,%4,1), %%tmm6\\n\\t\"\n"
    "                \"tileloadd 64(%3,%4,1), %%tmm7\\n\\ttileloadd (%1,%2,1), %%tmm5\\n\\t\"\n";

static const char end_registers[] =
    "                : : \"r\"(a + 4l * w), \"r\"(a + 4l * w + 16 * a_row), \"r\"(a_row), \"r\"(at + 128l * "
    "w), "
    "\"r\"(128l) : \"memory\");\n"
    "        __asm__ volatile(\"tilestored %%tmm0, (%0,%2,1)\\n\\ttilestored %%tmm1, 64(%0,%2,1)\\n\\t\"\n"
    "            \"tilestored %%tmm2, (%1,%2,1)\\n\\ttilestored %%tmm3, 64(%1,%2,1)\"\n"
    "            : : \"r\"(upper), \"r\"(lower), \"r\"(128l) : \"memory\");\n"
    "    }\n    __asm__ volatile(\"tilerelease\");\n}\n";

static void by_registers(c_emitter *e, const struct panel_kind *kind) {
    qn__buf_puts(&e->helpers, begin_registers);
    for (unsigned i = 0; i < 4; i++)
        qn__buf_printf(&e->helpers, "                \"%s %%%%tmm%u, %%%%tmm%u, %%%%tmm%u%s\"\n",
                       kind->instruction, 6 + i % 2, 4 + i / 2, i, i < 3 ? "\\n\\t" : "");
    qn__buf_puts(&e->helpers, end_registers);
}

/* As many rows at a time as leave the latency of a product behind: their sums are 16 registers, beside two of b and an element of a. */
enum { ROWS_AT_ONCE = 8 };

static void by_pairs(c_emitter *e) {
    enum { SUMS = 2 * ROWS_AT_ONCE };
    qn__buf_printf(&e->helpers,
                   "    typedef f32 sums_16 __attribute__((vector_size(64), aligned(4), may_alias));\n"
                   "    typedef u32 words_16 __attribute__((vector_size(64), aligned(4), may_alias));\n"
                   "    for (i32 p = 0; p < panels; ++p)\n"
                   "        for (i64 r = 0; r < 32; r += %d) {\n"
                   "            sums_16 *to = (sums_16 *)(sums + 4096l * p + 128 * r);\n"
                   "            const u8 *x = a + a_row * r, *y = b + panel * p;\n",
                   ROWS_AT_ONCE);
    for (unsigned i = 0; i < SUMS; i++)
        qn__buf_printf(&e->helpers, "            sums_16 s%u = more ? to[%u] : (sums_16){0};\n", i, i);
    qn__buf_puts(
        &e->helpers,
        "            for (i32 w = 0; w < words / 16 * 16; ++w, x += 4, y += 128) {\n"
        "                const words_16 y0 = *(const words_16 *)y, y1 = *(const words_16 *)(y + 64);\n");
    for (unsigned i = 0; i < ROWS_AT_ONCE; i++)
        qn__buf_printf(
            &e->helpers,
            "                const words_16 x%u = *(const u32 *)(x + %u * a_row) - (words_16){0};\n"
            "                __asm__(\"vdpbf16ps %%2, %%1, %%0\" : \"+v\"(s%u) : \"v\"(x%u), \"v\"(y0));\n"
            "                __asm__(\"vdpbf16ps %%2, %%1, %%0\" : \"+v\"(s%u) : \"v\"(x%u), \"v\"(y1));\n",
            i, i, 2 * i, i, 2 * i + 1, i);
    qn__buf_puts(&e->helpers, "            }\n");
    for (unsigned i = 0; i < SUMS; i++) qn__buf_printf(&e->helpers, "            to[%u] = s%u;\n", i, i);
    qn__buf_puts(&e->helpers, "        }\n}\n");
}

static void by_loops(c_emitter *e, const struct panel_kind *kind) {
    const bool is_bf16 = kind == &kinds[IR_PANEL_BF16];
    qn__buf_printf(&e->helpers,
                   "    for (i64 p = 0; p < panels; ++p)\n"
                   "        for (i64 r = 0; r < 32; ++r)\n"
                   "            for (i64 c = 0; c < 32; ++c) {\n"
                   "                %s *sum = (%s *)sums + 1024 * p + 32 * r + c, s = more ? *sum : 0;\n"
                   "                for (i64 w = 0; w < words / 16 * 16; ++w) {\n"
                   "                    const %s *x = (const %s *)(a + a_row * r + 4 * w);\n"
                   "                    const %s *y = (const %s *)(b + panel * p + 128 * w + 4 * c);\n",
                   kind->sum, kind->sum, kind->a, kind->a, kind->b, kind->b);
    qn__buf_puts(&e->helpers, is_bf16 ? "                    for (i64 i = 0; i < 2; ++i)\n"
                                        "                        s += (union { u32 bits; f32 value; }){.bits "
                                        "= (u32)x[i] << 16}.value *\n"
                                        "                             (union { u32 bits; f32 value; }){.bits "
                                        "= (u32)y[i] << 16}.value;\n"
                                      : "                    for (i64 i = 0; i < 4; ++i) s = (i32)((u32)s + "
                                        "(u32)((i32)x[i] * (i32)y[i]));\n");
    qn__buf_puts(&e->helpers, "                }\n                *sum = s;\n            }\n}\n");
}

void qn__c_panel_product(c_emitter *e, const ir_instr *instr) {
    const struct panel_kind *kind = &kinds[instr->attr.index];
    const char *name = qn__arena_printf(e->arena, "qn_panel_product_%s", kind->name);
    if (qn__c_need(e, name)) {
        const bool pairs = !e->options->target.has_tile_registers && e->options->target.has_pair_products &&
                           kind == &kinds[IR_PANEL_BF16];
        qn__buf_printf(&e->helpers, "static __attribute__((noinline%s)) void %s%s",
                       pairs ? ", target(\"avx512f\")" : "", name, parameters);
        if (e->options->target.has_tile_registers)
            by_registers(e, kind);
        else if (pairs)
            by_pairs(e);
        else
            by_loops(e, kind);
    }
    qn__buf call;
    qn__buf_init(&call, e->arena);
    for (uint32_t i = 0; i < instr->num_operands; i++)
        qn__buf_printf(&call, "%s%s", i ? ", " : "", qn__c_use(e, instr->operands[i], 0));
    qn__c_line(e, "%s(%s);", name, call.data);
}
