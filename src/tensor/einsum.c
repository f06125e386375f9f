/* Sums of products over named dimensions. Two tensors at a time become one product of matrices: the dimensions of both that stay are
   its batches, those that go are summed up in it. */
#include <string.h>

#include "tensor/graph.h"

enum { LETTERS = 52, OPERANDS = 16 };

/* A tensor whose dimension d is called names[d]: a number below LETTERS. */
typedef struct term {
    qn_tensor *x;
    uint32_t rank;
    uint8_t names[QN_MAX_RANK];
} term;

typedef uint64_t name_set;

static name_set names_of(const term *t) {
    name_set names = 0;
    for (uint32_t d = 0; d < t->rank; d++) names |= (name_set)1 << t->names[d];
    return names;
}

static bool has(name_set names, uint32_t name) { return names >> name & 1; }

/* Without the dimensions that `keep` has not, by sums. */
static term sum_out(term t, name_set keep) {
    qn_axes axes = {.count = 0};
    term left = {.x = t.x};
    for (uint32_t d = 0; d < t.rank; d++) {
        if (has(keep, t.names[d]))
            left.names[left.rank++] = t.names[d];
        else
            axes.axes[axes.count++] = (int32_t)d;
    }
    if (axes.count && !t.x->status) left.x = qn_cast(qn_sum(t.x, axes, false), qn_tensor_type(t.x));
    return left;
}

/* Each name once: dimensions of one name give their diagonal. */
static term without_twins(term t) {
    for (uint32_t a = 0; a < t.rank; a++)
        for (uint32_t b = a + 1; b < t.rank; b++) {
            if (t.names[a] != t.names[b]) continue;
            const uint8_t name = t.names[a];
            t.x = qn_diagonal(t.x, 0, (int32_t)a, (int32_t)b);
            memmove(&t.names[b], &t.names[b + 1], t.rank - b - 1);
            memmove(&t.names[a], &t.names[a + 1], t.rank - a - 2);
            t.names[t.rank - 2] = name;
            t.rank--;
            a = UINT32_MAX; /* from the begin: places have changed */
            break;
        }
    return t;
}

/* The dimensions as three, in this order: those of each set are one. */
static qn_tensor *as_three(const term *t, const name_set sets[3]) {
    qn_axes order = {.count = 0};
    qn_shape shape = {.rank = 3, .sizes = {1, 1, 1}};
    const qn_shape own = qn_tensor_shape(t->x);
    for (uint32_t s = 0; s < 3; s++)
        for (uint32_t name = 0; name < LETTERS; name++)
            for (uint32_t d = 0; d < t->rank; d++)
                if (has(sets[s], name) && t->names[d] == name) {
                    order.axes[order.count++] = (int32_t)d;
                    shape.sizes[s] *= own.sizes[d];
                }
    return qn_reshape(order.count ? qn_permute(t->x, order) : t->x, shape);
}

/* Adds the dimensions of t that are of the set, in the order of names. */
static void add_names(term *to, qn_shape *shape, const term *t, name_set set) {
    const qn_shape own = qn_tensor_shape(t->x);
    for (uint32_t name = 0; name < LETTERS; name++)
        for (uint32_t d = 0; d < t->rank; d++)
            if (has(set, name) && t->names[d] == name && shape->rank < QN_MAX_RANK) {
                to->names[to->rank++] = (uint8_t)name;
                shape->sizes[shape->rank++] = own.sizes[d];
            }
}

static uint32_t count_of(name_set names) {
    uint32_t count = 0;
    for (; names; names &= names - 1) count++;
    return count;
}

/* The product of both, without the dimensions of both that `keep` has not. Its dimensions: those of both, then a's own, then b's. */
static term join(const char *function, term a, term b, name_set keep) {
    a = sum_out(a, keep | names_of(&b));
    b = sum_out(b, keep | names_of(&a));
    if (a.x->status || b.x->status) return a.x->status ? a : b;
    const name_set both = names_of(&a) & names_of(&b), batch = both & keep, summed = both & ~keep;
    const name_set of_a = names_of(&a) & ~both, of_b = names_of(&b) & ~both;
    term result = {.rank = 0};
    if (count_of(batch | of_a | of_b) > QN_MAX_RANK) {
        result.x =
            qn__failed(a.x->owner, function, QN_ERROR_ARGUMENT, "%s and %s make more than %u dimensions",
                       qn__describe(a.x->node).text, qn__describe(b.x->node).text, (unsigned)QN_MAX_RANK);
        return result;
    }
    qn_shape shape = {.rank = 0};
    add_names(&result, &shape, &a, batch);
    add_names(&result, &shape, &a, of_a);
    add_names(&result, &shape, &b, of_b);
    qn_tensor *left = as_three(&a, (name_set[]){batch, of_a, summed});
    qn_tensor *right = as_three(&b, (name_set[]){batch, summed, of_b});
    if (!batch) {
        left = qn_squeeze(left, QN_AXES(0));
        right = qn_squeeze(right, QN_AXES(0));
    }
    /* A product without sums is a map, which fuses. */
    qn_tensor *product = summed ? qn_matmul(left, right) : qn_multiply(left, right);
    result.x = qn_reshape(product, shape);
    return result;
}

/* ---- the text ---- */

static int letter_of(char c) {
    if (c >= 'a' && c <= 'z') return c - 'a';
    return c >= 'A' && c <= 'Z' ? c - 'A' + 26 : -1;
}

typedef struct reader {
    qn_tensors *tensors;
    const char *text, *at;
    term terms[OPERANDS];
    uint32_t count;
    uint64_t sizes[LETTERS];
    uint32_t times[LETTERS]; /* that a letter is used */
    term result;
} reader;

static qn_tensor *wrong_text(const reader *r, const char *what) {
    return qn__failed(r->tensors, "qn_einsum", QN_ERROR_ARGUMENT, "\"%.80s\": %s", r->text, what);
}

/* The names up to a comma, an arrow or the end. */
static qn_tensor *read_names(reader *r, term *t) {
    for (; *r->at && *r->at != ',' && *r->at != '-'; r->at++) {
        if (*r->at == ' ') continue;
        const int letter = letter_of(*r->at);
        if (letter < 0) return wrong_text(r, "names of dimensions are letters, one each");
        if (t->rank == QN_MAX_RANK) return wrong_text(r, "a tensor has more dimensions than there can be");
        t->names[t->rank++] = (uint8_t)letter;
    }
    return NULL;
}

static qn_tensor *read_operand(reader *r, uint32_t i) {
    term *t = &r->terms[i];
    qn_tensor *wrong = read_names(r, t);
    if (wrong) return wrong;
    const qn__node *node = t->x->node;
    if (t->rank != node->rank)
        return qn__failed(r->tensors, "qn_einsum", QN_ERROR_ARGUMENT,
                          "\"%.80s\" names %u dimensions of operand %u, which is %s", r->text,
                          (unsigned)t->rank, (unsigned)i, qn__describe(node).text);
    for (uint32_t d = 0; d < t->rank; d++) {
        const uint8_t name = t->names[d];
        if (r->times[name]++ && r->sizes[name] != node->sizes[d])
            return qn__failed(r->tensors, "qn_einsum", QN_ERROR_ARGUMENT,
                              "\"%.80s\": dimension %c is of size %llu and of size %llu", r->text,
                              name < 26 ? 'a' + name : 'A' + name - 26, (unsigned long long)r->sizes[name],
                              (unsigned long long)node->sizes[d]);
        r->sizes[name] = node->sizes[d];
    }
    return NULL;
}

/* What is behind the arrow; without one the letters that are used once, in the alphabet's order (capitals first). */
static qn_tensor *read_result(reader *r) {
    if (!*r->at) {
        for (uint32_t i = 0; i < LETTERS; i++) {
            const uint32_t name = (i + 26) % LETTERS;
            if (r->times[name] != 1) continue;
            if (r->result.rank == QN_MAX_RANK) return wrong_text(r, "the result has too many dimensions");
            r->result.names[r->result.rank++] = (uint8_t)name;
        }
        return NULL;
    }
    if (r->at[0] != '-' || r->at[1] != '>') return wrong_text(r, "there are more operands than tensors");
    r->at += 2;
    qn_tensor *wrong = read_names(r, &r->result);
    if (wrong) return wrong;
    if (*r->at) return wrong_text(r, "something is behind the result");
    for (uint32_t d = 0; d < r->result.rank; d++) {
        if (!r->times[r->result.names[d]])
            return wrong_text(r, "the result has a dimension that no operand has");
        for (uint32_t e = 0; e < d; e++)
            if (r->result.names[e] == r->result.names[d])
                return wrong_text(r, "the result names a dimension twice");
    }
    return NULL;
}

static qn_tensor *read_text(reader *r) {
    qn_tensor *wrong = NULL;
    for (uint32_t i = 0; i < r->count && !wrong; i++) {
        wrong = read_operand(r, i);
        if (wrong || i + 1 == r->count) break;
        if (*r->at != ',') return wrong_text(r, "there are fewer operands than tensors");
        r->at++;
    }
    return wrong ? wrong : read_result(r);
}

qn_tensor *qn_einsum(const char *text, qn_tensor *const *operands, size_t count) {
    reader r = {.text = text, .at = text, .count = (uint32_t)count};
    if (!text || !operands || !count || count > OPERANDS)
        return qn__failed(NULL, "qn_einsum", QN_ERROR_ARGUMENT,
                          "%llu operands; from 1 to %u, and neither text nor list NULL",
                          (unsigned long long)count, (unsigned)OPERANDS);
    qn_tensor *wrong = qn__refuse("qn_einsum", operands, r.count, &r.tensors);
    for (uint32_t i = 0; !wrong && i < r.count; i++) r.terms[i].x = operands[i];
    if (!wrong) wrong = read_text(&r);
    if (wrong) return wrong;
    const name_set wanted = names_of(&r.result);
    term all = without_twins(r.terms[0]);
    for (uint32_t i = 1; i < r.count; i++) {
        name_set keep = wanted;
        for (uint32_t k = i + 1; k < r.count; k++) keep |= names_of(&r.terms[k]);
        all = join("qn_einsum", all, without_twins(r.terms[i]), keep);
        if (all.x->status) return all.x;
    }
    all = sum_out(all, wanted);
    qn_axes order = {.count = all.rank};
    for (uint32_t d = 0; d < all.rank; d++)
        for (uint32_t e = 0; e < all.rank; e++)
            if (all.names[e] == r.result.names[d]) order.axes[d] = (int32_t)e;
    return all.rank ? qn_permute(all.x, order) : all.x;
}

/* ---- by axes ---- */

qn_tensor *qn_tensordot(qn_tensor *a, qn_tensor *b, qn_axes axes_a, qn_axes axes_b) {
    static const char function[] = "qn_tensordot";
    qn_tensors *tensors;
    qn_tensor *wrong = qn__refuse(function, (qn_tensor *[]){a, b}, 2, &tensors);
    if (wrong) return wrong;
    const qn__node *x = a->node, *y = b->node;
    term left = {.x = a, .rank = x->rank}, right = {.x = b, .rank = y->rank};
    for (uint32_t d = 0; d < QN_MAX_RANK; d++) {
        left.names[d] = (uint8_t)d;
        right.names[d] = (uint8_t)(QN_MAX_RANK + d);
    }
    uint32_t bits_a = 0, bits_b = 0;
    if (axes_a.count) wrong = qn__axes(tensors, function, x, &axes_a, &bits_a);
    if (!wrong && axes_b.count) wrong = qn__axes(tensors, function, y, &axes_b, &bits_b);
    bool fits = axes_a.count == axes_b.count;
    for (uint32_t i = 0; !wrong && fits && i < axes_a.count; i++) {
        uint32_t d, e;
        qn__axis(axes_a.axes[i], x->rank, &d);
        qn__axis(axes_b.axes[i], y->rank, &e);
        fits = x->sizes[d] == y->sizes[e];
        right.names[e] = (uint8_t)d;
    }
    if (!wrong && !fits)
        wrong = qn__failed(tensors, function, QN_ERROR_ARGUMENT,
                           "the axes of %s and %s are not of the same sizes", qn__describe(x).text,
                           qn__describe(y).text);
    if (wrong) return wrong;
    return join(function, left, right, names_of(&left) ^ names_of(&right)).x;
}

qn_tensor *qn_outer(qn_tensor *a, qn_tensor *b) {
    return qn_multiply(qn_reshape(a, QN_SHAPE(QN_REST, 1)), qn_reshape(b, QN_SHAPE(1, QN_REST)));
}

qn_tensor *qn_kron(qn_tensor *a, qn_tensor *b) {
    qn_tensors *tensors;
    qn_tensor *wrong = qn__refuse("qn_kron", (qn_tensor *[]){a, b}, 2, &tensors);
    if (wrong) return wrong;
    const qn__node *x = a->node, *y = b->node;
    const uint32_t rank = x->rank > y->rank ? x->rank : y->rank;
    if (2 * rank > QN_MAX_RANK)
        return qn__failed(tensors, "qn_kron", QN_ERROR_ARGUMENT, "%s and %s have more than %u dimensions",
                          qn__describe(x).text, qn__describe(y).text, (unsigned)QN_MAX_RANK / 2);
    qn_shape of_a = {.rank = 2 * rank}, of_b = of_a, joined = {.rank = rank};
    for (uint32_t d = 0; d < rank; d++) {
        const uint64_t m = d + x->rank < rank ? 1 : x->sizes[d + x->rank - rank];
        const uint64_t n = d + y->rank < rank ? 1 : y->sizes[d + y->rank - rank];
        of_a.sizes[2 * d] = m, of_a.sizes[2 * d + 1] = 1;
        of_b.sizes[2 * d] = 1, of_b.sizes[2 * d + 1] = n;
        joined.sizes[d] = m * n;
    }
    return qn_reshape(qn_multiply(qn_reshape(a, of_a), qn_reshape(b, of_b)), joined);
}
