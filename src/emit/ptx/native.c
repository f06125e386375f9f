/* What the PTX target has for one architecture alone: instructions by their pattern (ir/natives.def), and products by quads of
   sub-groups, wgmma, on tiles in local memory whose rows of 128 bytes lie as tile loads leave them (128-byte swizzle).
   Source: "Parallel Thread Execution ISA", asynchronous warpgroup-level matrix instructions. */
#include "emit/ptx/internal.h"

static const struct native {
    const char *pattern;
    uint8_t arch, version;
} natives[IR_NATIVE_COUNT] = {
#define NATIVE(ID, name, signature, arch, version, pattern, doc) {pattern, arch, version},
#include "ir/natives.def"
};

enum { SPECIFIC = 90 }; /* the architecture whose instructions later ones do not have */

static void require(ptx_emitter *e, uint32_t arch, uint32_t version) {
    qn__ptx_require(e, arch, version);
    e->is_specific |= arch == SPECIFIC;
}

/* A map of a tensor is read through its generic address. */
static ptx_operand map_address(ptx_emitter *e, const ir_value *map) {
    ptx_operand address = qn__ptx_in_register(e, qn__ptx_use(e, map, 0));
    return qn__ptx_op1(e, "cvta.param.u64", PTX_B64, address);
}

/* Constants stay what they are: some instructions take nothing else. Those in vectors do not, which no instruction takes. */
static uint32_t operands_of(ptx_emitter *e, const ir_value *value, ptx_operand *out) {
    if (value->type.kind == IR_PTR && value->type.space == IR_PARAM_SPACE) {
        *out = map_address(e, value);
        return 1;
    }
    for (unsigned lane = 0; lane < value->type.lanes; lane++) {
        out[lane] = qn__ptx_use(e, value, lane);
        if (out[lane].kind != PTX_INT || value->type.lanes > 1) out[lane] = qn__ptx_in_register(e, out[lane]);
    }
    return value->type.lanes;
}

static bool is_init(const ir_instr *instr) {
    return instr->op == IR_NATIVE && instr->attr.index == IR_NATIVE_BARRIER_INIT;
}

/* Barriers that have been made are shown to the cluster and to tile copies: by fences, which take as long as memory does. One is
   enough for all that are made in a row. */
static void show_barriers(ptx_emitter *e, const ir_instr *instr) {
    const ir_instr *next = instr->next;
    while (next && qn__ir_ops[next->op].effects <= IR_EFFECT_QUERY) next = next->next;
    if (next && is_init(next)) return;
    qn__ptx(e, "fence.mbarrier_init.release.cluster;");
    qn__ptx(e, "fence.proxy.async.shared::cta;");
}

static void native(ptx_emitter *e, const ir_instr *instr) {
    enum { MOST = 24 };
    const struct native *row = &natives[instr->attr.index];
    ptx_operand operands[MOST];
    uint32_t count = 0;
    require(e, row->arch, row->version);
    e->sets_registers |=
        instr->attr.index == IR_NATIVE_REGISTERS_TAKE || instr->attr.index == IR_NATIVE_REGISTERS_GIVE;
    ptx_operand results[4];
    const uint32_t lanes = instr->num_results ? instr->results[0]->type.lanes : 0;
    for (uint32_t i = 0; i < lanes; i++) operands[count++] = results[i] = qn__ptx_new(e, PTX_B32);
    for (uint32_t i = 0; i < instr->num_operands && count < MOST - 4; i++)
        count += operands_of(e, instr->operands[i], operands + count);
    qn__ptx_list(e, row->pattern, operands, count);
    for (uint32_t i = 0; i < lanes; i++) qn__ptx_define(e, instr->results[0], i, results[i]);
    if (is_init(instr)) show_barriers(e, instr);
}

/* ---- products ---- */

static const struct quad_row {
    const char *types; /* of the sums, a and b */
    uint8_t k;         /* elements of 32 bytes: what one instruction takes along the rows */
    bool has_layouts, has_signs;
} quad_rows[IR_QUAD_ELEMENTS] = {
    [IR_QUAD_F16] = {"f32.f16.f16", 16, true, true},     [IR_QUAD_BF16] = {"f32.bf16.bf16", 16, true, true},
    [IR_QUAD_TF32] = {"f32.tf32.tf32", 8, false, true},  [IR_QUAD_I8] = {"s32.s8.s8", 32, false, false},
    [IR_QUAD_U8] = {"s32.u8.u8", 32, false, false},      [IR_QUAD_E4M3] = {"f32.e4m3.e4m3", 32, false, true},
    [IR_QUAD_E5M2] = {"f32.e5m2.e5m2", 32, false, true},
};

/* Bytes between what the descriptor of a tile in local memory leads to. Rows of 128 bytes, eight of which are a unit of the
   swizzle: `group` from one such unit to the next; `block` from one block of 64 columns to the next, where rows are b's. */
enum { UNIT = 1024, COLUMN_BLOCK = 8192, STEP = 32, ROW_STEP = 16 * 128, STEPS = 4, SWIZZLE_128 = 1 << 30 };

static ptx_operand descriptor(ptx_emitter *e, const ir_value *tile, uint32_t block) {
    ptx_operand address = qn__ptx_in_register(e, qn__ptx_use(e, tile, 0));
    ptx_operand low = qn__ptx_op2(e, "and.b32", PTX_B32, address, qn__ptx_int(PTX_B32, 0x3ffff));
    low = qn__ptx_op2(e, "shr.u32", PTX_B32, low, qn__ptx_int(PTX_B32, 4));
    if (block) low = qn__ptx_op2(e, "or.b32", PTX_B32, low, qn__ptx_int(PTX_B32, block >> 4 << 16));
    ptx_operand high = qn__ptx_in_register(e, qn__ptx_int(PTX_B32, UNIT >> 4 | SWIZZLE_128)),
                made = qn__ptx_new(e, PTX_B64);
    qn__ptx(e, "mov.b64 =, {$, $};", made, low, high);
    return made;
}

static ptx_operand step(ptx_emitter *e, ptx_operand descriptor, uint32_t bytes) {
    return qn__ptx_op2(e, "add.s64", PTX_B64, descriptor, qn__ptx_int(PTX_B64, bytes >> 4));
}

static void put_list(qn__buf *text, const char *word, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) qn__buf_printf(text, i ? ", %s" : "%s", word);
}

static const char *product_pattern(ptx_emitter *e, const ir_instr *instr) {
    const struct quad_row *row = &quad_rows[instr->attr.index % IR_QUAD_ROWS];
    const bool is_held = instr->attr.index & IR_QUAD_HELD;
    qn__buf text;
    qn__buf_init(&text, e->arena);
    qn__buf_printf(&text, "wgmma.mma_async.sync.aligned.m64n%uk%u.%s {", instr->num_results * 2, row->k,
                   row->types);
    put_list(&text, "=", instr->num_results);
    qn__buf_puts(&text, is_held ? "}, {" : "}, ");
    put_list(&text, "$", is_held ? IR_QUAD_WORDS / STEPS : 1);
    qn__buf_puts(&text, is_held ? "}, $, $" : ", $, $");
    if (row->has_signs) qn__buf_puts(&text, ", 1, 1");
    if (row->has_layouts && !is_held)
        qn__buf_printf(&text, ", %d", (instr->attr.index & IR_QUAD_COLUMNS) != 0);
    if (row->has_layouts) qn__buf_printf(&text, ", %d", (instr->attr.index & IR_QUAD_ROWS) != 0);
    qn__buf_puts(&text, ";");
    return text.data;
}

/* The sums are read and written in place; what they were is not asked for where it does not count. */
static void take_sums(ptx_emitter *e, const ir_instr *instr, bool counts, uint32_t first, ptx_operand *sums) {
    for (uint32_t i = 0; i < instr->num_results; i++) {
        sums[i] = qn__ptx_new(e, PTX_B32);
        if (counts) qn__ptx_move(e, sums[i], qn__ptx_use(e, instr->operands[first + i], 0));
    }
}

static void quad_product(ptx_emitter *e, const ir_instr *instr) {
    enum { MOST = 128 + IR_QUAD_WORDS / STEPS + 2 };
    const uint32_t num_sums = instr->num_results;
    const bool by_rows = instr->attr.index & IR_QUAD_ROWS, by_columns = instr->attr.index & IR_QUAD_COLUMNS,
               is_held = instr->attr.index & IR_QUAD_HELD;
    const uint32_t num_words = is_held ? IR_QUAD_WORDS : 1, per_step = is_held ? IR_QUAD_WORDS / STEPS : 1;
    const ir_value *counts = instr->operands[num_words + 1];
    const bool may_count = !qn__ir_is_const(counts) || counts->bits[0];
    ptx_operand operands[MOST], words[IR_QUAD_WORDS], *inputs = operands + num_sums;
    require(e, SPECIFIC, 80);
    take_sums(e, instr, may_count, num_words + 2, operands);
    for (uint32_t i = 0; is_held && i < num_words; i++)
        words[i] = qn__ptx_in_register(e, qn__ptx_use(e, instr->operands[i], 0));
    if (!is_held) words[0] = descriptor(e, instr->operands[0], 0);
    ptx_operand b = descriptor(e, instr->operands[num_words], by_rows ? COLUMN_BLOCK : 0);
    ptx_operand counted = qn__ptx_in_register(e, qn__ptx_use(e, counts, 0));
    ptx_operand counting = qn__ptx_op2(e, "setp.ne.s32", PTX_PRED, counted, qn__ptx_int(PTX_B32, 0));
    const char *pattern = product_pattern(e, instr);
    qn__ptx(e, "wgmma.fence.sync.aligned;");
    for (uint32_t i = 0; i < STEPS; i++) {
        if (i) {
            if (!is_held) words[0] = step(e, words[0], by_columns ? ROW_STEP : STEP);
            b = step(e, b, by_rows ? ROW_STEP : STEP);
            counting = qn__ptx_op2(e, "setp.eq.s32", PTX_PRED, counted, counted);
        }
        for (uint32_t w = 0; w < per_step; w++) inputs[w] = words[is_held ? i * per_step + w : 0];
        inputs[per_step] = b;
        inputs[per_step + 1] = counting;
        qn__ptx_list(e, pattern, operands, num_sums + per_step + 2);
        qn__vec_last(&e->lines).predicated = i || may_count; /* what it writes it reads first */
    }
    qn__ptx(e, "wgmma.commit_group.sync.aligned;");
    for (uint32_t i = 0; i < num_sums; i++) qn__ptx_define(e, instr->results[i], 0, operands[i]);
}

bool qn__ptx_native(ptx_emitter *e, const ir_instr *instr) {
    switch (instr->op) {
    case IR_NATIVE: native(e, instr); return true;
    case IR_QUAD_PRODUCT: quad_product(e, instr); return true;
    default: return false;
    }
}
