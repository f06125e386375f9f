/* Matrix fragments as elements, on any target. Lines of consecutive elements of a row are dealt out to the work-items of the
   sub-group, in order: with 32 of them and 16 x 16, work-item 0 holds columns 0..7 of row 0, work-item 1 columns 8..15. A
   product goes over k: each work-item gets its rows' elements of a, and those of b's row k above its columns, by shuffles. */
#include "pass/matrix.h"

enum { MOST_LANES = 8 }; /* of the vectors that are moved at once */

/* How R x C elements are dealt out. */
typedef struct deal {
    uint32_t bytes;    /* of an element */
    uint32_t per_row;  /* work-items that share a row */
    uint32_t rows;     /* of which a work-item has a part */
    uint32_t width;    /* elements of that part */
    uint32_t row_step; /* from one such row to the next */
    uint32_t vector;   /* elements that are moved at once */
    ir_type type;      /* of as many */
} deal;

static uint32_t least(uint32_t a, uint32_t b) { return a < b ? a : b; }

static deal deal_of(const qn__matrix_lowering *l, ir_matrix m) {
    deal d = {.bytes = qn__ir_matrix_bytes(m)};
    d.per_row = l->size > m.rows ? l->size / m.rows : 1;
    d.row_step = l->size / d.per_row;
    d.rows = m.rows / d.row_step;
    d.width = m.columns / d.per_row;
    d.vector = least(d.width, MOST_LANES);
    d.type = qn__ir_type(qn__ir_matrix_info(m)->kind, d.vector);
    return d;
}

static ir_type part(const deal *d, uint32_t lanes) { return qn__ir_with_lanes(d->type, lanes); }

/* ---- loops from 0: the code stays small however large the fragments are ---- */

typedef struct counted {
    ir_builder behind;
    ir_instr *loop;
    ir_value *counter;
} counted;

/* What is built until the end is its body. One time needs no loop. */
static counted loop_begin(qn__matrix_lowering *l, uint32_t times) {
    ir_builder *b = &l->b;
    counted c = {.behind = *b, .counter = qn__matrix_word(l, 0)};
    if (times == 1) return c;
    c.loop = qn__ir_loop(b, &c.counter, 1, NULL, 0);
    c.loop->attr.unroll = 1;
    c.counter = c.loop->regions[0]->params[0];
    qn__ir_at_end(b, c.loop->regions[0]);
    ir_instr *test = qn__ir_if(b, qn__ir_op2(b, IR_ULT, c.counter, qn__matrix_word(l, times)), NULL, 0);
    qn__ir_at_end(b, test->regions[0]);
    qn__ir_yield(b, NULL, 0);
    qn__ir_at_end(b, test->regions[1]);
    qn__ir_break(b, c.loop, NULL, 0);
    qn__ir_at_end(b, c.loop->regions[0]);
    return c;
}

static void loop_end(qn__matrix_lowering *l, const counted *c) {
    if (!c->loop) return;
    ir_value *next = qn__ir_op2(&l->b, IR_ADD, c->counter, qn__matrix_word(l, 1));
    qn__ir_continue(&l->b, c->loop, &next, 1);
    l->b = c->behind;
}

/* ---- shares in private memory ---- */

static ir_value *element_at(qn__matrix_lowering *l, ir_value *fragment, ir_value *index, uint32_t bytes) {
    index = qn__ir_convert(&l->b, IR_ZEXT, index, qn__ir_type(IR_I64, 1));
    return qn__ir_ptr_add(&l->b, fragment, qn__matrix_times(l, index, bytes));
}

static ir_value *take(qn__matrix_lowering *l, const deal *d, ir_value *fragment, ir_value *index,
                      uint32_t lanes) {
    return qn__ir_load(&l->b, element_at(l, fragment, index, d->bytes), part(d, lanes), d->bytes, 0);
}

static void put(qn__matrix_lowering *l, const deal *d, ir_value *fragment, ir_value *index, ir_value *value) {
    qn__ir_store(&l->b, element_at(l, fragment, index, d->bytes), value, d->bytes, 0);
}

static ir_value *get(qn__matrix_lowering *l, const ir_instr *i) {
    const deal d = deal_of(l, i->attr.matrices[0]);
    return take(l, &d, i->operands[0], i->operands[1], 1);
}

static ir_value *set(qn__matrix_lowering *l, const ir_instr *i) {
    const deal d = deal_of(l, i->attr.matrices[0]);
    put(l, &d, i->operands[0], i->operands[1], i->operands[2]);
    return NULL;
}

static ir_value *fill(qn__matrix_lowering *l, const ir_instr *i) {
    const deal d = deal_of(l, i->attr.matrices[0]);
    ir_value *value = qn__ir_splat(&l->b, i->operands[1], d.vector);
    const counted n = loop_begin(l, d.rows * d.width / d.vector);
    put(l, &d, i->operands[0], qn__matrix_times(l, n.counter, d.vector), value);
    loop_end(l, &n);
    return NULL;
}

static void convert_share(qn__matrix_lowering *l, ir_value *to, ir_matrix to_m, ir_value *from,
                          ir_matrix from_m) {
    const deal t = deal_of(l, to_m), f = deal_of(l, from_m);
    const counted n = loop_begin(l, t.rows * t.width / t.vector);
    ir_value *at = qn__matrix_times(l, n.counter, t.vector);
    put(l, &t, to, at, qn__matrix_convert_value(l, take(l, &f, from, at, t.vector), from_m, to_m));
    loop_end(l, &n);
}

static ir_value *convert(qn__matrix_lowering *l, const ir_instr *i) {
    convert_share(l, i->operands[0], i->attr.matrices[0], i->operands[1], i->attr.matrices[1]);
    return NULL;
}

/* ---- where elements are ---- */

static ir_value *row_of(qn__matrix_lowering *l, const deal *d, ir_value *index) {
    ir_value *first = qn__matrix_over(l, qn__matrix_lane(l), d->per_row);
    return qn__matrix_add(l, first, qn__matrix_times(l, qn__matrix_over(l, index, d->width), d->row_step));
}

static ir_value *column_of(qn__matrix_lowering *l, const deal *d, ir_value *index) {
    ir_value *first = qn__matrix_times(l, qn__matrix_modulo(l, qn__matrix_lane(l), d->per_row), d->width);
    return qn__matrix_add(l, first, qn__matrix_modulo(l, index, d->width));
}

static ir_value *row(qn__matrix_lowering *l, const ir_instr *i) {
    const deal d = deal_of(l, i->attr.matrices[0]);
    return row_of(l, &d, i->operands[0]);
}

static ir_value *column(qn__matrix_lowering *l, const ir_instr *i) {
    const deal d = deal_of(l, i->attr.matrices[0]);
    return column_of(l, &d, i->operands[0]);
}

/* ---- memory ---- */

/* What of the share lies together in memory, one after another: vectors of rows, or elements of columns. */
static ir_value *move(qn__matrix_lowering *l, const ir_instr *i) {
    const deal d = deal_of(l, i->attr.matrices[0]);
    const bool transposed = i->flags & IR_TRANSPOSED;
    const uint32_t step = transposed ? 1 : d.vector;
    ir_value *stride = qn__matrix_stride(l, i);
    const counted n = loop_begin(l, d.rows * d.width / step);
    ir_value *at = qn__matrix_times(l, n.counter, step);
    ir_value *r = row_of(l, &d, at), *c = column_of(l, &d, at);
    ir_value *bytes = qn__matrix_times(l, transposed ? r : c, d.bytes);
    ir_value *memory = qn__matrix_address(l, i->operands[1], transposed ? c : r, stride, bytes);
    if (i->op == IR_MATRIX_LOAD)
        put(l, &d, i->operands[0], at, qn__ir_load(&l->b, memory, part(&d, step), d.bytes, 0));
    else
        qn__ir_store(&l->b, memory, take(l, &d, i->operands[0], at, step), d.bytes, 0);
    loop_end(l, &n);
    return NULL;
}

/* ---- products ---- */

static ir_value *shuffled(qn__matrix_lowering *l, ir_value *value, ir_value *from) {
    ir_value *operands[] = {value, from};
    ir_instr *made = qn__ir_emit(&l->b, IR_SUB_GROUP_SHUFFLE, operands, 2, &value->type, 1);
    return made->results[0];
}

/* A product under way. */
typedef struct product {
    qn__matrix_lowering *l;
    const ir_instr *instr;
    ir_matrix a, b, sum; /* sum: what is summed in, float, double or int */
    deal acc_deal, a_deal, b_deal;
    ir_value *lane, *in_row; /* of the sub-group; among those that share a row of the accumulator */
    ir_value *sums;          /* in private memory */
} product;

/* ---- elements of the three ---- */

/* Of the row of a part that stands `line` in the share, the element `place`. */
static ir_value *own(product *p, const deal *d, ir_value *fragment, ir_value *line, ir_value *place) {
    ir_value *index = qn__matrix_add(p->l, qn__matrix_times(p->l, line, d->width), place);
    return take(p->l, d, fragment, index, 1);
}

/* b's row k, above column j of this work-item's share. */
static ir_value *element_of_b(product *p, ir_value *k, ir_value *j) {
    qn__matrix_lowering *l = p->l;
    const deal *b = &p->b_deal;
    const uint32_t width = p->acc_deal.width;
    ir_value *fragment = p->instr->operands[2], *line = qn__matrix_over(l, k, b->row_step);
    ir_value *column = qn__matrix_add(l, qn__matrix_times(l, p->in_row, width), j);
    ir_value *from = qn__matrix_times(l, qn__matrix_modulo(l, k, b->row_step), b->per_row);
    from = qn__matrix_add(l, from, qn__matrix_over(l, column, b->width));
    /* Where one holds more than this one is above, each part goes to those that want it. */
    const uint32_t parts = width < b->width ? b->width / width : 1;
    ir_value *mine = qn__matrix_modulo(l, p->in_row, parts), *place = qn__matrix_modulo(l, j, b->width);
    ir_value *value = shuffled(l, own(p, b, fragment, line, place), from);
    for (uint32_t n = 1; n < parts; n++) {
        ir_value *in_part = qn__matrix_add(l, place, qn__matrix_word(l, n * width));
        ir_value *other = shuffled(l, own(p, b, fragment, line, in_part), from);
        ir_value *is_mine = qn__ir_op2(&l->b, IR_EQ, mine, qn__matrix_word(l, n));
        value = qn__ir_select(&l->b, is_mine, other, value);
    }
    return qn__matrix_convert_value(l, value, p->b, p->sum);
}

/* a's column k, in row n of this work-item's share. */
static ir_value *element_of_a(product *p, ir_value *k, ir_value *n) {
    qn__matrix_lowering *l = p->l;
    const deal *a = &p->a_deal;
    ir_value *value = own(p, a, p->instr->operands[1], n, qn__matrix_modulo(l, k, a->width));
    if (a->per_row > 1) {
        ir_value *first = qn__ir_op2(&l->b, IR_SUB, p->lane, p->in_row);
        value = shuffled(l, value, qn__matrix_add(l, first, qn__matrix_over(l, k, a->width)));
    }
    return qn__matrix_convert_value(l, value, p->a, p->sum);
}

static void add_product(product *p, ir_value *a, ir_value *b, ir_value *index) {
    ir_builder *at = &p->l->b;
    const bool is_float = qn__ir_is_float(a->type);
    ir_value *place = element_at(p->l, p->sums, index, qn__ir_matrix_bytes(p->sum));
    ir_value *times = qn__ir_op2(at, is_float ? IR_FMUL : IR_MUL, a, b);
    ir_value *sum = qn__ir_load(at, place, a->type, 0, 0);
    sum = qn__ir_op2(at, is_float ? IR_FADD : IR_ADD, sum, times);
    if (is_float) times->def->flags = sum->def->flags = IR_CONTRACT;
    qn__ir_store(at, place, sum, 0, 0);
}

/* A work-item that has several rows has them alone; one that shares a row has no other. So a is moved once for each k. */
static void go_over_k(product *p) {
    qn__matrix_lowering *l = p->l;
    const deal *d = &p->acc_deal;
    counted k = loop_begin(l, p->a.columns);
    ir_value *shared = d->per_row > 1 ? element_of_a(p, k.counter, qn__matrix_word(l, 0)) : NULL;
    counted j = loop_begin(l, d->width);
    ir_value *b = element_of_b(p, k.counter, j.counter);
    counted n = loop_begin(l, d->rows);
    ir_value *index = qn__matrix_add(l, qn__matrix_times(l, n.counter, d->width), j.counter);
    add_product(p, shared ? shared : element_of_a(p, k.counter, n.counter), b, index);
    loop_end(l, &n);
    loop_end(l, &j);
    loop_end(l, &k);
}

static ir_value *multiply_add(qn__matrix_lowering *l, const ir_instr *i) {
    const ir_matrix *m = i->attr.matrices;
    product p = {.l = l, .instr = i, .a = m[1], .b = m[2], .sum = m[0], .sums = i->operands[0]};
    const bool is_float = qn__ir_is_float(qn__ir_type(qn__ir_matrix_info(m[0])->kind, 1));
    p.sum.element = m[0].element == IR_MATRIX_F64 ? IR_MATRIX_F64 : is_float ? IR_MATRIX_F32 : IR_MATRIX_I32;
    p.acc_deal = deal_of(l, m[0]);
    p.a_deal = deal_of(l, p.a);
    p.b_deal = deal_of(l, p.b);
    p.lane = qn__matrix_lane(l);
    p.in_row = qn__matrix_modulo(l, p.lane, p.acc_deal.per_row);
    const bool is_narrow = p.sum.element != m[0].element;
    if (is_narrow) {
        const uint32_t bytes = qn__ir_matrix_bytes(p.sum);
        p.sums = qn__ir_variable(
            &l->b, (ir_var){.size = (uint64_t)qn__ir_matrix_share(p.sum, l->size) * bytes, .align = bytes});
        convert_share(l, p.sums, p.sum, i->operands[0], m[0]);
    }
    go_over_k(&p);
    if (is_narrow) convert_share(l, i->operands[0], m[0], p.sums, p.sum);
    return NULL;
}

const qn__matrix_form qn__matrix_plain = {.fill = fill,
                                          .load = move,
                                          .store = move,
                                          .multiply_add = multiply_add,
                                          .convert = convert,
                                          .get = get,
                                          .set = set,
                                          .row = row,
                                          .column = column};
