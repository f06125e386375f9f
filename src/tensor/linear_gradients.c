/* The gradients of linear algebra, made of it: M. Giles, An extended collection of matrix derivative results, 2008; of QR factors, S. F.
   Walter and L. Lehmann, Algorithmic differentiation of linear algebra functions, 2010. g is the gradient by a result, ' is transposed. */
#include "tensor/linear.h"

/* Where an op's integers are (linear.c). */
enum { UPPER, UNIT };
enum { COLUMNS };

static qn_tensor *turned(qn_tensor *x) { return qn_transpose(x, -1, -2); }
static qn_tensor *negative(qn_tensor *x) { return qn_negate(x); }
static qn_tensor *symmetric(qn_tensor *x) { return qn_multiply(qn_add(x, turned(x)), 0.5); }

/* x times the inverse of a triangular matrix that is turned: x t'^-1. */
static qn_tensor *behind_inverse(qn_tensor *x, qn_tensor *t, bool upper) {
    return turned(qn_solve_triangular(t, turned(x), upper, false));
}

/* L L' = a: half of L'^-1 phi(L' g) L^-1 and of its transpose, where phi has the lower triangle, its diagonal halved. */
void qn__cholesky_gradient(qn__backward *b) {
    qn_tensor *l = b->value, *product = qn_matmul(turned(l), qn_tril(b->gradient, 0));
    qn_tensor *phi = qn_multiply(qn_add(qn_tril(product, 0), qn_tril(product, -1)), 0.5);
    b->given[0] =
        symmetric(behind_inverse(qn_solve_triangular(turned(l), phi, true, false), turned(l), true));
}

void qn__solve_gradient(qn__backward *b) {
    qn_tensor *side = qn_solve(turned(b->sources[0]), b->gradient);
    if (qn__wants_gradient(b, 0)) b->given[0] = negative(qn_matmul(side, turned(b->value)));
    b->given[1] = side;
}

void qn__solve_triangular_gradient(qn__backward *b) {
    const bool upper = b->node->attributes.integers[UPPER] != 0,
               unit = b->node->attributes.integers[UNIT] != 0;
    qn_tensor *side = qn_solve_triangular(turned(b->sources[0]), b->gradient, !upper, unit);
    if (qn__wants_gradient(b, 0)) {
        qn_tensor *whole = negative(qn_matmul(side, turned(b->value)));
        b->given[0] = upper ? qn_triu(whole, unit) : qn_tril(whole, unit ? -1 : 0);
    }
    b->given[1] = side;
}

/* Of the logarithm: the inverse, turned. The sign is the same all around. */
void qn__determinant_gradient(qn__backward *b) {
    uint64_t begin = 0;
    qn_tensor *g = qn__linear_part(b->gradient, &begin, b->node->sources[0], 0, 0, 0);
    b->given[0] = qn_multiply(qn_unsqueeze(qn_unsqueeze(g, -1), -1), turned(qn_inverse(b->sources[0])));
}

/* (g_q + q sym(r g_r' - g_q' q)) r'^-1, where sym has the lower triangle on both sides. */
void qn__qr_gradient(qn__backward *b) {
    const qn__node *x = b->node->sources[0];
    const uint64_t m = x->sizes[x->rank - 2], n = x->sizes[x->rank - 1],
                   columns = (uint64_t)b->node->attributes.integers[COLUMNS];
    if (columns != n) {
        b->given[0] = qn__failed(b->tensors, "qn_qr", QN_ERROR_UNSUPPORTED,
                                 "columns of q beyond those of %s have no gradient", qn__describe(x).text);
        return;
    }
    uint64_t begin = 0, at = 0;
    qn_tensor *q = qn__linear_part(b->value, &begin, x, 2, m, n),
              *r = qn__linear_part(b->value, &begin, x, 2, n, n);
    qn_tensor *g_q = qn__linear_part(b->gradient, &at, x, 2, m, n),
              *g_r = qn_triu(qn__linear_part(b->gradient, &at, x, 2, n, n), 0);
    qn_tensor *inner = qn_subtract(qn_matmul(r, turned(g_r)), qn_matmul(turned(g_q), q));
    qn_tensor *both = qn_add(qn_tril(inner, 0), turned(qn_tril(inner, -1)));
    b->given[0] = behind_inverse(qn_add(g_q, qn_matmul(q, both)), r, true);
}

/* x divided by how much value `column` is above value `row`; 0 where they are the same. */
static qn_tensor *over_gaps(qn_tensor *x, qn_tensor *values) {
    qn_tensor *gaps = qn_subtract(qn_unsqueeze(values, -2), qn_unsqueeze(values, -1));
    qn_tensor *same = qn_equal(gaps, 0);
    return qn_where(same, 0, qn_divide(x, qn_where(same, 1, gaps)));
}

/* A row as the diagonal of a matrix. */
static qn_tensor *on_diagonal(qn_tensor *row, uint64_t n) {
    return qn_multiply(qn_eye(row->owner, qn_tensor_type(row), n, n, 0), qn_unsqueeze(row, -2));
}

/* v (diag(g_values) + v' g_vectors / gaps) v'. */
void qn__eigen_gradient(qn__backward *b) {
    const qn__node *x = b->node->sources[0];
    const uint64_t n = x->sizes[x->rank - 1];
    uint64_t begin = 0, at = 0;
    qn_tensor *values = qn__linear_part(b->value, &begin, x, 1, n, 0),
              *v = qn__linear_part(b->value, &begin, x, 2, n, n);
    qn_tensor *g_values = qn__linear_part(b->gradient, &at, x, 1, n, 0),
              *g_v = qn__linear_part(b->gradient, &at, x, 2, n, n);
    qn_tensor *inner = qn_add(on_diagonal(g_values, n), over_gaps(qn_matmul(turned(v), g_v), values));
    b->given[0] = symmetric(qn_matmul(qn_matmul(v, inner), turned(v)));
}

/* u ((skew(u' g_u) / gaps) s + s (skew(v' g_v) / gaps) + diag(g_s)) v' with gaps of squares, and what g_u has beside u's columns, / s, v'. */
void qn__svd_gradient(qn__backward *b) {
    const qn__node *x = b->node->sources[0];
    const uint64_t m = x->sizes[x->rank - 2], n = x->sizes[x->rank - 1];
    uint64_t begin = 0, at = 0;
    qn_tensor *s = qn__linear_part(b->value, &begin, x, 1, n, 0),
              *u = qn__linear_part(b->value, &begin, x, 2, m, n),
              *v = qn__linear_part(b->value, &begin, x, 2, n, n);
    qn_tensor *g_s = qn__linear_part(b->gradient, &at, x, 1, n, 0),
              *g_u = qn__linear_part(b->gradient, &at, x, 2, m, n),
              *g_v = qn__linear_part(b->gradient, &at, x, 2, n, n);
    qn_tensor *of_u = qn_matmul(turned(u), g_u), *of_v = qn_matmul(turned(v), g_v);
    qn_tensor *left = over_gaps(qn_subtract(of_u, turned(of_u)), qn_square(s)),
              *right = over_gaps(qn_subtract(of_v, turned(of_v)), qn_square(s));
    qn_tensor *inner =
        qn_add(qn_add(qn_multiply(left, qn_unsqueeze(s, -2)), qn_multiply(qn_unsqueeze(s, -1), right)),
               on_diagonal(g_s, n));
    qn_tensor *all = qn_matmul(u, inner);
    if (m > n) {
        qn_tensor *beside = qn_subtract(g_u, qn_matmul(u, of_u)), *is_zero = qn_equal(s, 0);
        qn_tensor *inverse = qn_where(is_zero, 0, qn_reciprocal(qn_where(is_zero, 1, s)));
        all = qn_add(all, qn_multiply(beside, qn_unsqueeze(inverse, -2)));
    }
    b->given[0] = qn_matmul(all, turned(v));
}
