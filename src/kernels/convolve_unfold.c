/* The gradient of a convolution by its weights on a processor: what taps meet is unfolded to a matrix (kernels/convolve/unfold.cl), whose product with the
   other gradient is one for qn_kernels_matmul. This goes by pieces, of images or of rows of one, so that the matrix is in the caches
   and takes no more memory than that. */
#include <stdio.h>

#include "kernels/convolve.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

enum {
    PIECE_BYTES = 1 << 20,
    APART = 16
}; /* rows of the matrix, in elements, whose places in the caches are to differ */
enum { MIN_OUTPUTS = 4, MIN_ROWS = 4 };
/* Multiplications, below which three more launches, and kernels to be compiled, are not worth it. */
static const double min_work = 1e5;
static const double most_row_bytes = 1 << 30;

/* As kernels/convolve/unfold.cl has it. */
typedef struct piece {
    uint64_t image, pitch;
    uint32_t row, rows, taps[2];
} piece;

typedef struct plan {
    qn_kernel *kernel;
    uint64_t images; /* of a piece */
    uint32_t rows;
} plan;

/* Buffers of a call's own: the matrix, the pixels of the gradient where they are no matrix, the sums. */
typedef struct call {
    qn_kernels *kernels;
    qn_stream *stream;
    const qn__convolve_problem *p;
    qn_buffer *matrix, *gradient, *sums;
} call;

static uint64_t divide_up(uint64_t a, uint64_t b) { return a / b + (a % b != 0); }
static qn_element sum_type(const qn__convolve_problem *p) { return p->type == QN_F64 ? QN_F64 : QN_F32; }

/* Channels and taps of a group. */
static uint64_t rows_of(const qn__convolve_problem *p) {
    return (uint64_t)p->numbers.channels * p->taps[0] * p->taps[1];
}

/* Bytes of the matrix for a row of what comes out. */
static double row_bytes(const qn__convolve_problem *p) {
    return (double)rows_of(p) * p->numbers.groups * p->numbers.to_columns * qn_element_size(sum_type(p));
}

static bool pays(const qn_kernels *kernels, const qn__convolve_problem *p) {
    const qn__convolve_numbers *n = &p->numbers;
    const double work = (double)n->pixels * n->outputs * n->groups * (double)rows_of(p);
    return kernels->info.kind == QN_DEVICE_CPU && kernels->info.vector_bytes && n->outputs >= MIN_OUTPUTS &&
           rows_of(p) >= MIN_ROWS && work >= min_work;
}

bool qn__convolve_unfolds(const qn_kernels *kernels, const qn__convolve_problem *p) {
    return row_bytes(p) <= most_row_bytes &&
           (p->variant < 0 ? pays(kernels, p) : qn__convolve_is_unfolded(p->variant));
}

/* ---- the plan ---- */

/* So many pieces as are needed, all of about one size. */
static void set_pieces(const qn__convolve_problem *p, plan *out) {
    const qn__convolve_numbers *n = &p->numbers;
    const double row = row_bytes(p), image = row * n->to_rows;
    const uint64_t images = image >= PIECE_BYTES ? 1 : (uint64_t)(PIECE_BYTES / image),
                   rows = row >= PIECE_BYTES ? 1 : (uint64_t)(PIECE_BYTES / row);
    out->images = divide_up(p->images, divide_up(p->images, images));
    out->rows = (uint32_t)divide_up(n->to_rows, images > 1 ? 1 : divide_up(n->to_rows, rows));
}

/* Rows of images lie behind each other, and what comes out has as many columns. */
static bool is_flat(const qn__convolve_numbers *n) {
    return n->from[3] == 1 && n->from[2] == n->columns && n->columns == (int64_t)n->to_columns &&
           n->stride[0] == 1 && n->stride[1] == 1;
}

static qn_status make(qn_kernels *kernels, const void *request, void *made) {
    const qn__convolve_problem *p = request;
    const qn__element_info *e = qn__element(p->type);
    plan *out = made;
    char options[128];
    snprintf(options, sizeof options, "-D STORAGE=%s -D LOAD=%s -D VALUE=%s -D NEXT=%s -D FLAT=%d",
             e->storage, e->load, e->value,
             p->numbers.from[3] * p->numbers.stride[1] == 1 ? "1" : "(h.stride[1]*h.from[3])",
             is_flat(&p->numbers));
    set_pieces(p, out);
    return qn__variant_get(kernels, &(qn__variant){"convolve/unfold.cl", NULL, options}, &out->kernel);
}

static const qn__op unfold_op = {"qn_kernels_convolve_backward_weights by unfolded images", sizeof(plan),
                                 make};

/* ---- a piece ---- */

static uint64_t pixels_of(const call *c, const piece *part, uint64_t images) {
    return images * part->rows * c->p->numbers.to_columns;
}

static qn_status unfold(const call *c, const plan *plan, const piece *part, uint64_t images) {
    const qn__convolve_numbers n = c->p->numbers;
    const qn_range range = {.global = {images, rows_of(c->p) * n.groups, 1}, .local = {1, 1, 1}};
    const qn_arg args[] = {QN_BYTES(n), QN_BYTES(*part), qn_arg_buffer(c->p->from), qn_arg_buffer(c->matrix)};
    return qn_launch(c->stream, plan->kernel, &range, args, COUNT(args));
}

/* Groups x pixels x outputs of the other gradient: where its pixels are not all as far from each other, from a copy. */
static qn_status take_gradient(const call *c, const piece *part, uint64_t images, qn_array *out) {
    const qn__convolve_numbers *n = &c->p->numbers;
    const uint64_t pixels = pixels_of(c, part, images);
    const int64_t row = n->to_columns * n->to[3], all = (int64_t)n->groups * n->outputs;
    const qn_array pieces = {c->p->to,
                             n->to_begin +
                                 (uint64_t)((int64_t)part->image * n->to[0] + (int64_t)part->row * n->to[2]),
                             c->p->type,
                             5,
                             {images, part->rows, n->to_columns, n->groups, n->outputs},
                             {n->to[0], n->to[2], n->to[3], n->to_group, n->to[1]}};
    *out = (qn_array){pieces.buffer,
                      pieces.offset,
                      pieces.type,
                      3,
                      {n->groups, pixels, n->outputs},
                      {n->to_group, n->to[3], n->to[1]}};
    if ((part->rows == 1 || n->to[2] == row) && (images == 1 || n->to[0] == part->rows * row)) return QN_OK;
    *out =
        (qn_array){c->gradient, 0, sum_type(c->p), 3, {n->groups, pixels, n->outputs}, {n->outputs, all, 1}};
    const qn_array copy = {
        c->gradient, 0, sum_type(c->p), 5, {images, part->rows, n->to_columns, n->groups, n->outputs}, {0}};
    return qn_kernels_copy(c->kernels, c->stream, &(qn_copy_desc){.to = copy, .from = pieces});
}

/* Adds a piece to the sums, groups x channels and taps x outputs, which the first one begins. */
static qn_status add_piece(const call *c, const plan *plan, const piece *part, uint64_t images) {
    const qn__convolve_numbers *n = &c->p->numbers;
    const uint64_t rows = rows_of(c->p);
    const qn_array matrix = {c->matrix,
                             0,
                             sum_type(c->p),
                             3,
                             {n->groups, rows, pixels_of(c, part, images)},
                             {(int64_t)(rows * part->pitch), (int64_t)part->pitch, 1}};
    qn_matmul_desc product = {.out = {c->sums, 0, sum_type(c->p), 3, {n->groups, rows, n->outputs}, {0}},
                              .a = matrix,
                              .beta = part->image > 0 || part->row > 0};
    qn_status status = unfold(c, plan, part, images);
    if (!status) status = take_gradient(c, part, images, &product.b);
    return status ? status : qn_kernels_matmul(c->kernels, c->stream, &product);
}

static qn_status add_pieces(const call *c, const plan *plan, uint64_t pitch) {
    const qn__convolve_numbers *n = &c->p->numbers;
    qn_status status = QN_OK;
    for (uint64_t i = 0; i < c->p->images && !status; i += plan->images)
        for (uint32_t row = 0; row < n->to_rows && !status; row += plan->rows) {
            const uint64_t images = c->p->images - i;
            const uint32_t rows = n->to_rows - row;
            const piece part = {
                i, pitch, row, rows < plan->rows ? rows : plan->rows, {c->p->taps[0], c->p->taps[1]}};
            status = add_piece(c, plan, &part, images < plan->images ? images : plan->images);
        }
    return status;
}

/* To outputs x channels x taps, in the type of the weights. */
static qn_status store(const call *c) {
    const qn__convolve_numbers *n = &c->p->numbers;
    const uint32_t *taps = c->p->taps;
    const int64_t row = (int64_t)taps[1] * n->outputs, channel = (int64_t)taps[0] * row;
    const qn_array sums = {c->sums,
                           0,
                           sum_type(c->p),
                           5,
                           {n->groups, n->outputs, n->channels, taps[0], taps[1]},
                           {n->channels * channel, 1, channel, row, n->outputs}},
                   weights = {c->p->weights,
                              n->weights_begin,
                              c->p->type,
                              5,
                              {n->groups, n->outputs, n->channels, taps[0], taps[1]},
                              {n->weights_group, n->weights[0], n->weights[1], n->weights[2], n->weights[3]}};
    return qn_kernels_copy(c->kernels, c->stream, &(qn_copy_desc){.to = weights, .from = sums});
}

qn_status qn__convolve_unfold_launch(qn_kernels *kernels, qn_stream *stream, const qn__convolve_problem *p) {
    const qn__convolve_numbers *n = &p->numbers;
    const qn__key key = qn__convolve_key(p);
    const uint32_t size = qn_element_size(sum_type(p));
    call c = {.kernels = kernels, .stream = stream, .p = p};
    plan plan;
    qn_status status = qn__plan_get(kernels, &unfold_op, &key, p, &plan);
    if (status) return status;
    const uint64_t pixels = plan.images * plan.rows * n->to_columns, pitch = pixels + APART;
    status = qn__scratch(kernels, rows_of(p) * n->groups * pitch * size, &c.matrix);
    if (!status) status = qn__scratch(kernels, pixels * n->groups * n->outputs * size, &c.gradient);
    if (!status) status = qn__scratch(kernels, rows_of(p) * n->groups * n->outputs * size, &c.sums);
    if (!status) status = add_pieces(&c, &plan, pitch);
    if (!status) status = store(&c);
    qn_buffer_destroy(c.matrix);
    qn_buffer_destroy(c.gradient);
    qn_buffer_destroy(c.sums);
    return status;
}
