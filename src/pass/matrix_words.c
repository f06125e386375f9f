/* Matrix fragments as words in registers, for PTX. A fragment is cut into units of 8 lines of 16 bytes (of a: 8 rows and 16
   bytes of k; of b: 8 columns and 16 bytes of k), of which each work-item of the 32 holds one word: that of line lane / 4, bytes
   4 (lane % 4) on. ldmatrix loads such units, and mma.sync takes them, whatever the element: a 16 x 32 bytes in 4 words,
   b 32 bytes x 8 in 2. Accumulators are cut into units of 8 x 8, of which a work-item holds two elements next to each other:
   row lane / 4, columns 2 (lane % 4) and the next; with half they are one word. PTX ISA 9.7.14.5.8, "Matrix Fragments for
   mma.m16n8k16 with floating point type", and those beside it.

   Elements of f64 are words of 8 bytes: their units are 8 lines of 32 bytes, which mma.sync takes in the same order and ldmatrix
   does not load.

   In memory the units of a fragment follow each other, line by line. */
#include "pass/matrix.h"

enum { UNIT_LINES = 8, WORD = 4, QUAD = 4 };

/* How a fragment is cut. */
typedef struct cut {
    ir_matrix m;
    uint32_t bytes;    /* of an element */
    uint32_t size;     /* bytes of a word: 4, of f64 8 */
    uint32_t lines;    /* units down: 8 rows; of b: 8 columns */
    uint32_t across;   /* units in a line: 4 words of k; of accumulators 8 columns */
    uint32_t unit;     /* bytes of a unit that a work-item holds */
    uint32_t elements; /* in as many bytes */
    ir_type word;      /* what is loaded and stored of a share at once: a word, or an accumulator's element */
} cut;

static cut cut_of(ir_matrix m) {
    cut c = {.m = m, .bytes = qn__ir_matrix_bytes(m)};
    const bool is_b = m.use == IR_USE_B, is_sum = m.use == IR_USE_ACCUMULATOR;
    c.lines = (uint32_t)(is_b ? m.columns : m.rows) / UNIT_LINES;
    c.size = c.bytes > WORD ? c.bytes : WORD;
    c.across = is_sum ? m.columns / 8u : (is_b ? m.rows : m.columns) * c.bytes / (QUAD * c.size);
    c.elements = is_sum ? 2 : c.size / c.bytes;
    c.unit = c.elements * c.bytes;
    const bool is_word = c.bytes < WORD || (c.bytes == WORD && !is_sum);
    c.word = is_word ? qn__ir_type(IR_I32, 1) : qn__ir_type(qn__ir_matrix_info(m)->kind, 1);
    return c;
}

static uint32_t num_units(const cut *c) { return c->lines * c->across; }
static bool is_sum(const cut *c) { return c->m.use == IR_USE_ACCUMULATOR; }
/* Words of a unit: an accumulator of float has two. */
static uint32_t words_of_unit(const cut *c) { return c->unit / c->size; }

/* ---- which instructions there are ---- */

static const struct mma_row {
    uint8_t a, b, accumulator, k, arch;
} mma_rows[] = {
#define MMA(a, b, accumulator, k, arch) {IR_MATRIX_##a, IR_MATRIX_##b, IR_MATRIX_##accumulator, k, arch},
#include "target/mma.def"
};

/* The longest k that divides that of the product; NULL: there is none. */
static const struct mma_row *find_mma(uint32_t arch, const ir_matrix *m) {
    for (size_t n = 0; n < QN__COUNT(mma_rows); n++) {
        const struct mma_row *r = &mma_rows[n];
        if (r->accumulator == m[0].element && r->a == m[1].element && r->b == m[2].element &&
            m[1].columns % r->k == 0 && m[0].rows % 16 == 0 && arch >= r->arch)
            return r;
    }
    return NULL;
}

static bool whole_units(ir_matrix m) {
    const cut c = cut_of(m);
    const uint32_t k = m.use == IR_USE_A ? m.columns : m.rows;
    return is_sum(&c) || k * c.bytes % (QUAD * c.size) == 0;
}

/* Both have each element in the same place of the same work-item. */
static bool same_places(ir_matrix a, ir_matrix b) {
    if (a.use == b.use && (a.use == IR_USE_ACCUMULATOR || cut_of(a).elements == cut_of(b).elements))
        return true;
    const ir_matrix sum = a.use == IR_USE_ACCUMULATOR ? a : b, other = a.use == IR_USE_ACCUMULATOR ? b : a;
    return sum.use == IR_USE_ACCUMULATOR && other.use == IR_USE_A && qn__ir_matrix_bytes(other) == 2;
}

bool qn__matrix_has_words(const qn__target *target, const ir_instr *i) {
    const ir_matrix *m = i->attr.matrices;
    for (unsigned n = 0; n < IR_MATRICES && m[n].element; n++)
        if (!whole_units(m[n])) return false;
    if (i->op == IR_MATRIX_MULTIPLY_ADD) return find_mma(target->arch, m) != NULL;
    return i->op != IR_MATRIX_CONVERT || same_places(m[0], m[1]);
}

/* ---- shares in private memory ---- */

static ir_value *take(qn__matrix_lowering *l, const cut *c, ir_value *fragment, uint32_t word) {
    return qn__ir_load(&l->b, qn__ir_ptr_offset(&l->b, fragment, (int64_t)word * c->size), c->word, c->size,
                       0);
}

static void put(qn__matrix_lowering *l, const cut *c, ir_value *fragment, uint32_t word, ir_value *value) {
    qn__ir_store(&l->b, qn__ir_ptr_offset(&l->b, fragment, (int64_t)word * c->size), value, c->size, 0);
}

static ir_type element_type(const cut *c) { return qn__ir_type(qn__ir_matrix_info(c->m)->kind, 1); }

/* A word of elements, and back. */
static ir_value *pack(qn__matrix_lowering *l, const cut *c, ir_value *const *elements) {
    if (qn__ir_same(c->word, element_type(c))) return elements[0];
    const uint32_t count = c->size / c->bytes;
    ir_value *vector = count == 1 ? elements[0] : qn__ir_vector(&l->b, elements, count);
    return qn__ir_convert(&l->b, IR_BITCAST, vector, c->word);
}

static ir_value *unpack(qn__matrix_lowering *l, const cut *c, ir_value *word, uint32_t n) {
    const uint32_t count = c->size / c->bytes;
    ir_value *vector = qn__ir_convert(&l->b, IR_BITCAST, word, qn__ir_with_lanes(element_type(c), count));
    return count == 1 ? vector : qn__ir_extract(&l->b, vector, n);
}

static ir_value *fill(qn__matrix_lowering *l, const ir_instr *i) {
    const cut c = cut_of(i->attr.matrices[0]);
    ir_value *same[WORD] = {i->operands[1], i->operands[1], i->operands[1], i->operands[1]};
    ir_value *value = pack(l, &c, same);
    for (uint32_t word = 0; word < num_units(&c) * words_of_unit(&c); word++)
        put(l, &c, i->operands[0], word, value);
    return NULL;
}

/* The word with the element whose number is a value, which need not be constant. */
static ir_value *word_address(qn__matrix_lowering *l, const cut *c, const ir_instr *i) {
    ir_value *word = qn__matrix_over(l, i->operands[1], c->size / c->bytes);
    word = qn__ir_convert(&l->b, IR_ZEXT, word, qn__ir_type(IR_I64, 1));
    return qn__ir_ptr_add(&l->b, i->operands[0], qn__matrix_times(l, word, c->size));
}

/* By how many bits the element lies above the word's lowest. */
static ir_value *bits_above(qn__matrix_lowering *l, const cut *c, const ir_instr *i) {
    return qn__matrix_times(l, qn__matrix_modulo(l, i->operands[1], c->size / c->bytes), 8 * c->bytes);
}

static ir_type integer_of(const cut *c) { return qn__ir_type(c->bytes == 1 ? IR_I8 : IR_I16, 1); }

static ir_value *get(qn__matrix_lowering *l, const ir_instr *i) {
    const cut c = cut_of(i->attr.matrices[0]);
    ir_value *word = qn__ir_load(&l->b, word_address(l, &c, i), c.word, c.size, 0);
    if (c.bytes == c.size) return qn__ir_convert(&l->b, IR_BITCAST, word, element_type(&c));
    word = qn__ir_op2(&l->b, IR_LSHR, word, bits_above(l, &c, i));
    word = qn__ir_convert(&l->b, IR_TRUNC, word, integer_of(&c));
    return qn__ir_convert(&l->b, IR_BITCAST, word, element_type(&c));
}

static ir_value *set(qn__matrix_lowering *l, const ir_instr *i) {
    const cut c = cut_of(i->attr.matrices[0]);
    ir_value *address = word_address(l, &c, i), *value = i->operands[2];
    if (c.bytes == c.size) {
        qn__ir_store(&l->b, address, qn__ir_convert(&l->b, IR_BITCAST, value, c.word), c.size, 0);
        return NULL;
    }
    ir_value *above = bits_above(l, &c, i);
    ir_value *mask = qn__ir_op2(&l->b, IR_SHL, qn__matrix_word(l, (UINT32_C(1) << 8 * c.bytes) - 1), above);
    value = qn__ir_convert(&l->b, IR_BITCAST, value, integer_of(&c));
    value = qn__ir_op2(&l->b, IR_SHL, qn__ir_convert(&l->b, IR_ZEXT, value, c.word), above);
    ir_value *word = qn__ir_load(&l->b, address, c.word, WORD, 0);
    word = qn__ir_op2(&l->b, IR_AND, word, qn__ir_op1(&l->b, IR_NOT, mask));
    qn__ir_store(&l->b, address, qn__ir_op2(&l->b, IR_OR, word, value), WORD, 0);
    return NULL;
}

/* Element n of a unit, from and to words. */
static ir_value *element_of(qn__matrix_lowering *l, const cut *c, ir_value *fragment, uint32_t unit,
                            uint32_t n) {
    const uint32_t in_word = c->size / c->bytes;
    ir_value *word = take(l, c, fragment, unit * words_of_unit(c) + n / in_word);
    return unpack(l, c, word, n % in_word);
}

static ir_value *convert(qn__matrix_lowering *l, const ir_instr *i) {
    const ir_matrix *m = i->attr.matrices;
    const cut to = cut_of(m[0]), from = cut_of(m[1]);
    const uint32_t in_word = to.size / to.bytes;
    for (uint32_t unit = 0; unit < num_units(&to); unit++) {
        ir_value *elements[WORD];
        for (uint32_t n = 0; n < to.elements; n++) {
            ir_value *value = element_of(l, &from, i->operands[1], unit, n);
            elements[n] = qn__matrix_convert_value(l, value, m[1], m[0]);
        }
        for (uint32_t word = 0; word < words_of_unit(&to); word++)
            put(l, &to, i->operands[0], unit * words_of_unit(&to) + word,
                pack(l, &to, elements + word * in_word));
    }
    return NULL;
}

/* ---- where elements are ---- */

/* In its unit: the line, and the first element of this work-item's part. */
static ir_value *line_in_unit(qn__matrix_lowering *l) { return qn__matrix_over(l, qn__matrix_lane(l), QUAD); }
static ir_value *place_in_unit(qn__matrix_lowering *l, const cut *c) {
    return qn__matrix_times(l, qn__matrix_modulo(l, qn__matrix_lane(l), QUAD), c->elements);
}

/* Elements of k (or columns of the accumulator) of a unit. */
static uint32_t across_unit(const cut *c) { return is_sum(c) ? 8 : QUAD * c->size / c->bytes; }

static ir_value *line_of(qn__matrix_lowering *l, const cut *c, ir_value *index) {
    ir_value *unit = qn__matrix_over(l, qn__matrix_over(l, index, c->elements), c->across);
    ir_value *first = qn__matrix_times(l, unit, UNIT_LINES);
    return qn__matrix_add(l, first, line_in_unit(l));
}

static ir_value *place_of(qn__matrix_lowering *l, const cut *c, ir_value *index) {
    ir_value *unit = qn__matrix_modulo(l, qn__matrix_over(l, index, c->elements), c->across);
    ir_value *first = qn__matrix_times(l, unit, across_unit(c));
    first = qn__matrix_add(l, first, place_in_unit(l, c));
    return qn__matrix_add(l, first, qn__matrix_modulo(l, index, c->elements));
}

static ir_value *row(qn__matrix_lowering *l, const ir_instr *i) {
    const cut c = cut_of(i->attr.matrices[0]);
    return (c.m.use == IR_USE_B ? place_of : line_of)(l, &c, i->operands[0]);
}

static ir_value *column(qn__matrix_lowering *l, const ir_instr *i) {
    const cut c = cut_of(i->attr.matrices[0]);
    return (c.m.use == IR_USE_B ? line_of : place_of)(l, &c, i->operands[0]);
}

/* ---- memory ---- */

/* A load or store under way. */
typedef struct transfer {
    qn__matrix_lowering *l;
    const ir_instr *instr;
    cut c;
    bool along;       /* what a unit's line has lies together in memory */
    ir_value *stride; /* bytes, i64 */
    ir_value *base;   /* of this work-item, in the first unit */
} transfer;

static ir_value *address_of(const transfer *t, ir_value *line, ir_value *place) {
    ir_value *bytes = qn__matrix_times(t->l, t->along ? place : line, t->c.bytes);
    return qn__matrix_address(t->l, t->instr->operands[1], t->along ? line : place, t->stride, bytes);
}

/* From an address in the first unit to the same in the one `lines` down and `places` across. */
static ir_value *step(const transfer *t, ir_value *address, uint32_t lines, uint32_t places) {
    const uint32_t far = t->along ? lines : places, near = t->along ? places : lines;
    ir_value *factor = qn__ir_const_int(t->l->b.function, IR_I64, far);
    if (far) address = qn__ir_ptr_add(&t->l->b, address, qn__ir_op2(&t->l->b, IR_MUL, t->stride, factor));
    return qn__ir_ptr_offset(&t->l->b, address, (int64_t)near * t->c.bytes);
}

/* Whether ldmatrix can load it: local memory; across the lines where elements are of 16 bits. A safe kernel checks each load, which
   ldmatrix leaves to others' addresses. */
static bool has_ldmatrix(const transfer *t) {
    return !t->l->context->options->safe && t->instr->op == IR_MATRIX_LOAD &&
           t->instr->operands[1]->type.space == IR_LOCAL_SPACE && !is_sum(&t->c) && t->c.size == WORD &&
           (t->along || t->c.bytes == 2);
}

/* One ldmatrix: units `down` x `across` of them, whose lines' addresses are brought by 8 work-items each. */
static void load_units(const transfer *t, ir_value *address, uint32_t line, uint32_t place, uint32_t down,
                       uint32_t across) {
    qn__matrix_lowering *l = t->l;
    const uint32_t count = down * across;
    const ir_type types[] = {t->c.word, t->c.word, t->c.word, t->c.word};
    ir_value *at = step(t, address, line * UNIT_LINES, place * across_unit(&t->c));
    ir_instr *made = qn__ir_emit(&l->b, IR_LDMATRIX, &at, 1, types, count);
    if (!t->along) made->flags |= IR_TRANSPOSED;
    for (uint32_t n = 0; n < count; n++) {
        const uint32_t unit = (line + n % down) * t->c.across + place + n / down;
        put(l, &t->c, t->instr->operands[0], unit, made->results[n]);
    }
}

static void load_by_ldmatrix(const transfer *t) {
    qn__matrix_lowering *l = t->l;
    const uint32_t down = t->c.lines % 2 ? 1 : 2, across = t->c.across % 2 ? 1 : 2;
    ir_value *lane = qn__matrix_lane(l), *inside = qn__matrix_modulo(l, lane, UNIT_LINES);
    /* Which of the units this work-item brings an address for: the one down, then the one across. */
    ir_value *number = qn__matrix_over(l, lane, UNIT_LINES);
    ir_value *lines = qn__matrix_times(l, qn__matrix_modulo(l, number, down), UNIT_LINES);
    ir_value *places = qn__matrix_modulo(l, qn__matrix_over(l, number, down), across);
    places = qn__matrix_times(l, places, across_unit(&t->c));
    ir_value *address = t->along ? address_of(t, qn__matrix_add(l, lines, inside), places)
                                 : address_of(t, lines, qn__matrix_add(l, places, inside));
    for (uint32_t line = 0; line < t->c.lines; line += down)
        for (uint32_t place = 0; place < t->c.across; place += across)
            load_units(t, address, line, place, down, across);
}

/* The part of a unit that this work-item holds, where it lies together: of 4, 8 or 16 bytes. */
static void move_together(const transfer *t, uint32_t unit, ir_value *address) {
    qn__matrix_lowering *l = t->l;
    const uint32_t words = words_of_unit(&t->c), first = unit * words;
    const ir_type type = qn__ir_with_lanes(t->c.word, words);
    ir_value *fragment = t->instr->operands[0];
    if (t->instr->op == IR_MATRIX_LOAD) {
        ir_value *value = qn__ir_load(&l->b, address, type, t->c.unit, 0);
        for (uint32_t n = 0; n < words; n++)
            put(l, &t->c, fragment, first + n, words == 1 ? value : qn__ir_extract(&l->b, value, n));
        return;
    }
    ir_value *parts[2];
    for (uint32_t n = 0; n < words; n++) parts[n] = take(l, &t->c, fragment, first + n);
    qn__ir_store(&l->b, address, words == 1 ? parts[0] : qn__ir_vector(&l->b, parts, words), t->c.unit, 0);
}

/* The same element by element. */
static void move_apart(const transfer *t, uint32_t unit, ir_value *address) {
    qn__matrix_lowering *l = t->l;
    ir_value *elements[WORD], *fragment = t->instr->operands[0];
    const uint32_t words = words_of_unit(&t->c), in_word = t->c.size / t->c.bytes;
    for (uint32_t n = 0; n < t->c.elements; n++) {
        ir_value *at = step(t, address, 0, n);
        if (t->instr->op == IR_MATRIX_LOAD)
            elements[n] = qn__ir_load(&l->b, at, element_type(&t->c), t->c.bytes, 0);
        else
            qn__ir_store(&l->b, at, element_of(l, &t->c, fragment, unit, n), t->c.bytes, 0);
    }
    for (uint32_t n = 0; n < words && t->instr->op == IR_MATRIX_LOAD; n++)
        put(l, &t->c, fragment, unit * words + n, pack(l, &t->c, elements + n * in_word));
}

static ir_value *move(qn__matrix_lowering *l, const ir_instr *i) {
    transfer t = {.l = l, .instr = i, .c = cut_of(i->attr.matrices[0]), .stride = qn__matrix_stride(l, i)};
    t.along = (t.c.m.use == IR_USE_B) == ((i->flags & IR_TRANSPOSED) != 0);
    if (has_ldmatrix(&t)) {
        load_by_ldmatrix(&t);
        return NULL;
    }
    ir_value *line = line_in_unit(l), *place = place_in_unit(l, &t.c);
    ir_value *address = address_of(&t, line, place);
    for (uint32_t unit = 0; unit < num_units(&t.c); unit++) {
        const uint32_t down = unit / t.c.across * UNIT_LINES, across = unit % t.c.across * across_unit(&t.c);
        (t.along ? move_together : move_apart)(&t, unit, step(&t, address, down, across));
    }
    return NULL;
}

/* ---- products ---- */

/* The instruction for rows 16 i on and columns 8 j on of the accumulator, and `k` units of k from `at` on. */
static void multiply_tile(qn__matrix_lowering *l, const ir_instr *instr, const cut *c,
                          const struct mma_row *mma, uint32_t i, uint32_t j, uint32_t at) {
    enum { MOST = 4 + 8 + 4 };
    const uint32_t k = mma->k / across_unit(&c[1]), words = words_of_unit(&c[0]);
    ir_value *operands[MOST];
    const ir_type word = c[0].word, types[] = {word, word, word, word};
    uint32_t count = 0;
    for (uint32_t half = 0; half < 2; half++)
        for (uint32_t n = 0; n < words; n++)
            operands[count++] =
                take(l, &c[0], instr->operands[0], ((2 * i + half) * c[0].across + j) * words + n);
    const uint32_t sums = count;
    for (uint32_t unit = 0; unit < k; unit++)
        for (uint32_t half = 0; half < 2; half++)
            operands[count++] = take(l, &c[1], instr->operands[1], (2 * i + half) * c[1].across + at + unit);
    for (uint32_t unit = 0; unit < k; unit++)
        operands[count++] = take(l, &c[2], instr->operands[2], j * c[2].across + at + unit);
    ir_instr *made = qn__ir_emit(&l->b, IR_MMA, operands, count, types, sums);
    made->attr.matrices[0] = (ir_matrix){mma->accumulator, 16, 8, IR_USE_ACCUMULATOR};
    made->attr.matrices[1] = (ir_matrix){mma->a, 16, mma->k, IR_USE_A};
    made->attr.matrices[2] = (ir_matrix){mma->b, mma->k, 8, IR_USE_B};
    for (uint32_t n = 0; n < sums; n++)
        put(l, &c[0], instr->operands[0], ((2 * i + n / words) * c[0].across + j) * words + n % words,
            made->results[n]);
}

static ir_value *multiply_add(qn__matrix_lowering *l, const ir_instr *instr) {
    const ir_matrix *m = instr->attr.matrices;
    const struct mma_row *mma = find_mma(l->context->options->target.arch, m);
    const cut c[] = {cut_of(m[0]), cut_of(m[1]), cut_of(m[2])};
    const uint32_t k = mma->k / across_unit(&c[1]);
    for (uint32_t at = 0; at < c[1].across; at += k)
        for (uint32_t i = 0; i < c[0].lines / 2; i++)
            for (uint32_t j = 0; j < c[0].across; j++) multiply_tile(l, instr, c, mma, i, j, at);
    return NULL;
}

const qn__matrix_form qn__matrix_words = {.fill = fill,
                                          .load = move,
                                          .store = move,
                                          .multiply_add = multiply_add,
                                          .convert = convert,
                                          .get = get,
                                          .set = set,
                                          .row = row,
                                          .column = column};
