/* Matrix fragments for SPIR-V, where they are types (SPV_KHR_cooperative_matrix, with the elements of SPV_KHR_bfloat16 and
   SPV_EXT_float8). A fragment is an element of a private variable of its class; lower_matrix has left those of shapes that
   the device lists. Sums of integers are named after their operands: of uint, unless one has a sign. */
#include "ir/matrix.h"
#include "emit/spirv/internal.h"

/* ---- types ---- */

/* Floats that are no type of the IR: as fragments' elements and to make them of bits. 0: not such an element. */
static uint32_t small_float(spv *e, unsigned element) {
    static const struct {
        uint8_t element, bits, cap, matrix_cap;
        uint16_t encoding;
    } rows[] = {{IR_MATRIX_BF16, 16, CAP_BF16, CAP_BF16_MATRIX, SP_BFLOAT16},
                {IR_MATRIX_E4M3, 8, CAP_FLOAT8, CAP_FLOAT8_MATRIX, SP_FLOAT8_E4M3},
                {IR_MATRIX_E5M2, 8, CAP_FLOAT8, CAP_FLOAT8_MATRIX, SP_FLOAT8_E5M2}};
    for (size_t i = 0; i < QN__COUNT(rows); i++) {
        if (rows[i].element != element) continue;
        qn__spv_need(e, (spv_cap)rows[i].cap);
        qn__spv_need(e, (spv_cap)rows[i].matrix_cap);
        return SPV_ONCE(e, SP_TYPE_FLOAT, 0, rows[i].bits, rows[i].encoding);
    }
    return 0;
}

static uint32_t element_type(spv *e, ir_matrix m) {
    const uint32_t small = small_float(e, m.element);
    return small ? small : qn__spv_type(e, qn__ir_type(qn__ir_matrix_info(m)->kind, 1));
}

uint32_t qn__spv_matrix_type(spv *e, ir_matrix m) {
    static const uint8_t uses[IR_MATRIX_USES] = {
        [IR_USE_A] = SP_USE_A, [IR_USE_B] = SP_USE_B, [IR_USE_ACCUMULATOR] = SP_USE_ACCUMULATOR};
    qn__spv_need(e, CAP_MATRIX);
    const uint32_t element = element_type(e, m), scope = qn__spv_u32(e, SP_SCOPE_SUBGROUP);
    const uint32_t rows = qn__spv_u32(e, m.rows), columns = qn__spv_u32(e, m.columns);
    return SPV_ONCE(e, SP_TYPE_MATRIX, 0, element, scope, rows, columns, qn__spv_u32(e, uses[m.use]));
}

uint32_t qn__spv_matrix_step(const spv *e, ir_matrix m) {
    return qn__ir_matrix_share(m, e->function->required_sub_group_size) * qn__ir_matrix_bytes(m);
}

/* ---- fragments in private memory ---- */

static uint32_t fragment_at(spv *e, const ir_instr *instr, unsigned operand) {
    const ir_value *pointer = instr->operands[operand];
    const spv_class *class = qn__spv_class(e, pointer);
    if (!class || !qn__ir_matrix_same(class->matrix, instr->attr.matrices[operand])) {
        qn__spv_fail(e, "matrix fragments of different types share their memory");
        return 0;
    }
    const uint32_t type = qn__spv_matrix_type(e, class->matrix);
    const uint32_t place = qn__spv_pointer(e, SP_FUNCTION_CLASS, type), index = qn__spv_low(e, pointer);
    return SPV(e, SP_ACCESS_CHAIN, place, class->variable, index);
}

static uint32_t take(spv *e, const ir_instr *instr, unsigned operand) {
    const uint32_t at = fragment_at(e, instr, operand);
    return SPV(e, SP_LOAD, qn__spv_matrix_type(e, instr->attr.matrices[operand]), at);
}

static void put(spv *e, const ir_instr *instr, uint32_t value) {
    const uint32_t at = fragment_at(e, instr, 0);
    SPV_DO(e, SP_STORE, at, value);
}

/* ---- memory ---- */

/* Where a fragment is in memory: vectors of words, of which there are `stride` from a line to the next. */
typedef struct spot {
    uint32_t pointer, stride, align; /* align 0: need not be told */
} spot;

unsigned qn__spv_matrix_align(const ir_instr *instr) {
    enum { MOST = 16 };
    const ir_matrix m = instr->attr.matrices[0];
    const unsigned bytes =
        (instr->flags & IR_TRANSPOSED ? m.rows : m.columns) * (unsigned)qn__ir_matrix_bytes(m);
    return bytes < MOST ? bytes : MOST;
}

/* The operand 2, in units of so many bytes. */
static uint32_t stride_in(spv *e, const ir_instr *instr, unsigned unit) {
    const unsigned bytes = qn__ir_matrix_bytes(instr->attr.matrices[0]);
    const uint32_t stride = qn__spv_low(e, instr->operands[2]);
    if (unit <= bytes) return qn__spv_mul(e, stride, bytes / unit);
    unsigned shift = 0;
    while (bytes << shift < unit) shift++;
    return qn__spv_shr(e, stride, shift);
}

/* Fragments are read from arrays: in a buffer, of a structure that is nothing else. */
static uint32_t array_at(spv *e, uint32_t address, unsigned align) {
    const uint32_t vector = qn__spv_type(e, qn__ir_type(IR_I32, align / 4));
    const uint32_t array = SPV_ONCE(e, SP_TYPE_RUNTIME_ARRAY, 0, vector);
    uint32_t box = (uint32_t)(uintptr_t)qn__map64_get(&e->boxes, array);
    if (!box) {
        SPV_INTO(e, &e->annotations, SP_DECORATE, array, SP_ARRAY_STRIDE, align);
        box = SPV_ONCE(e, SP_TYPE_STRUCT, 0, array);
        SPV_INTO(e, &e->annotations, SP_MEMBER_DECORATE, box, 0, SP_OFFSET, 0);
        qn__spv_decorate(e, box, SP_BLOCK);
        qn__map64_set(e->arena, &e->boxes, array, (void *)(uintptr_t)box);
    }
    const uint32_t to_box = qn__spv_pointer(e, SP_PHYSICAL_STORAGE, box);
    const uint32_t to_vector = qn__spv_pointer(e, SP_PHYSICAL_STORAGE, vector), zero = qn__spv_u32(e, 0);
    const uint32_t base = SPV(e, e->native ? SP_CONVERT_U_TO_PTR : SP_BITCAST, to_box, address);
    return SPV(e, SP_ACCESS_CHAIN, to_vector, base, zero, zero);
}

static spot spot_of(spv *e, const ir_instr *instr) {
    const ir_value *memory = instr->operands[1];
    const spv_class *class = qn__spv_class(e, memory);
    spot s = {.align = 0};
    if (!class && !qn__spv_is_wide(memory->type))
        qn__spv_fail(e, "a matrix fragment is loaded from, or stored to, a null pointer");
    if (class) {
        s.pointer = qn__spv_element(e, class, qn__spv_low(e, memory), 0, class->lanes > 1);
        s.stride = stride_in(e, instr, (unsigned)class->unit * class->lanes);
    } else {
        s.align = qn__spv_matrix_align(instr);
        s.pointer = array_at(e, qn__spv_use(e, memory), s.align);
        s.stride = stride_in(e, instr, s.align);
    }
    return s;
}

static uint32_t layout_of(spv *e, const ir_instr *instr) {
    return qn__spv_u32(e, instr->flags & IR_TRANSPOSED ? SP_COLUMN_MAJOR : SP_ROW_MAJOR);
}

/* Behind the `count` arguments. */
static unsigned memory_operands(spv *e, const ir_instr *instr, const spot *s, uint32_t *args,
                                unsigned count) {
    const bool is_shared = qn__spv_is_shared(e, instr->operands[1], instr);
    const uint32_t mask = (s->align ? SP_ALIGNED : 0) | (is_shared ? SP_NON_PRIVATE : 0);
    if (mask) args[count++] = mask;
    if (s->align) args[count++] = s->align;
    return count;
}

static void load(spv *e, const ir_instr *instr) {
    const spot s = spot_of(e, instr);
    uint32_t args[5] = {s.pointer, layout_of(e, instr), s.stride};
    const unsigned count = memory_operands(e, instr, &s, args, 3);
    const uint32_t type = qn__spv_matrix_type(e, instr->attr.matrices[0]);
    put(e, instr, qn__spv_emit(e, SP_MATRIX_LOAD, type, args, count));
}

static void store(spv *e, const ir_instr *instr) {
    const uint32_t value = take(e, instr, 0);
    const spot s = spot_of(e, instr);
    uint32_t args[6] = {s.pointer, value, layout_of(e, instr), s.stride};
    const unsigned count = memory_operands(e, instr, &s, args, 4);
    qn__spv_do(e, SP_MATRIX_STORE, args, count);
}

/* ---- values ---- */

static uint32_t to_element(spv *e, ir_matrix m, const ir_value *value) {
    const uint32_t id = qn__spv_use(e, value), small = small_float(e, m.element);
    return small ? SPV(e, SP_BITCAST, small, id) : id;
}

static void fill(spv *e, const ir_instr *instr) {
    const ir_matrix m = instr->attr.matrices[0];
    const uint32_t type = qn__spv_matrix_type(e, m), value = to_element(e, m, instr->operands[1]);
    put(e, instr, SPV(e, SP_COMPOSITE_CONSTRUCT, type, value));
}

static void multiply_add(spv *e, const ir_instr *instr) {
    const ir_matrix *m = instr->attr.matrices;
    const bool signed_a = m[1].element == IR_MATRIX_I8, signed_b = m[2].element == IR_MATRIX_I8;
    const uint32_t signs = (signed_a ? SP_A_SIGNED : 0) | (signed_b ? SP_B_SIGNED : 0) |
                           (signed_a || signed_b ? SP_SUM_SIGNED : 0);
    const uint32_t sum = take(e, instr, 0), a = take(e, instr, 1), b = take(e, instr, 2);
    const uint32_t args[] = {a, b, sum, signs}, type = qn__spv_matrix_type(e, m[0]);
    put(e, instr, qn__spv_emit(e, SP_MATRIX_MULTIPLY_ADD, type, args, signs ? 4 : 3));
}

/* To wider floats; lower_matrix leaves no others. */
static void convert(spv *e, const ir_instr *instr) {
    const ir_matrix *m = instr->attr.matrices;
    const uint32_t value = take(e, instr, 1);
    if (qn__ir_matrix_same(m[0], m[1]))
        put(e, instr, value);
    else
        put(e, instr, SPV(e, SP_F_CONVERT, qn__spv_matrix_type(e, m[0]), value));
}

/* ---- elements ---- */

static uint32_t element_at(spv *e, const ir_instr *instr) {
    const uint32_t fragment = fragment_at(e, instr, 0), type = element_type(e, instr->attr.matrices[0]);
    const uint32_t place = qn__spv_pointer(e, SP_FUNCTION_CLASS, type);
    return SPV(e, SP_ACCESS_CHAIN, place, fragment, qn__spv_use(e, instr->operands[1]));
}

static void get(spv *e, const ir_instr *instr) {
    const ir_matrix m = instr->attr.matrices[0];
    const ir_value *result = instr->results[0];
    const uint32_t at = element_at(e, instr);
    uint32_t value = SPV(e, SP_LOAD, element_type(e, m), at);
    if (small_float(e, m.element)) value = SPV(e, SP_BITCAST, qn__spv_type(e, result->type), value);
    qn__spv_define(e, result, value);
}

static void set(spv *e, const ir_instr *instr) {
    const uint32_t at = element_at(e, instr);
    SPV_DO(e, SP_STORE, at, to_element(e, instr->attr.matrices[0], instr->operands[2]));
}

bool qn__spv_matrix(spv *e, const ir_instr *instr) {
    switch (instr->op) {
    case IR_MATRIX_FILL: fill(e, instr); return true;
    case IR_MATRIX_LOAD: load(e, instr); return true;
    case IR_MATRIX_STORE: store(e, instr); return true;
    case IR_MATRIX_MULTIPLY_ADD: multiply_add(e, instr); return true;
    case IR_MATRIX_CONVERT: convert(e, instr); return true;
    case IR_MATRIX_GET: get(e, instr); return true;
    case IR_MATRIX_SET: set(e, instr); return true;
    case IR_MATRIX_LENGTH: {
        const uint32_t type = qn__spv_matrix_type(e, instr->attr.matrices[0]);
        qn__spv_define(e, instr->results[0], SPV(e, SP_MATRIX_LENGTH, qn__spv_u32t(e), type));
        return true;
    }
    default: return false;
    }
}
