/* Small dense matrices: factors, systems of equations, eigenvalues, with kernels/linear/. Each call says what shapes its operands have and what its
   kernel needs; the rest is the same for all. */
#include <stdio.h>

#include "kernels/op.h"

enum { ARRAYS = 4, NUMBERS = 3, TAIL = 2, GROUP = 256 };

typedef enum role { READ, WRITTEN, OPTIONAL } role; /* OPTIONAL: written, or not given */

typedef struct operand {
    const char *name;
    role role;
    qn_array array;
} operand;

/* A call: the first operand is the one whose batch all have. */
typedef struct problem {
    qn_kernels *kernels;
    qn_stream *stream;
    const char *function, *file, *kernel, *options;
    uint32_t num_operands, num_numbers;
    operand operands[ARRAYS];
    uint64_t numbers[NUMBERS]; /* the kernel's first arguments */
    uint64_t matrices;
    uint64_t work; /* elements for each matrix between the steps */
    uint64_t
        width; /* work-items that have something to do at once; 0: a work-item a column of the last operand */
    uint64_t rounds,
        of_game; /* of Jacobi's method: rounds of a sweep, iterations of loops that a pair takes in each */
    bool plain;  /* nobody waits for another: without groups of a size of their own */
} problem;

/* ---- checks ---- */

static bool is_given(const operand *o) { return o->role != OPTIONAL || o->array.buffer || o->array.rank; }

static qn_status check_type(const problem *p, const operand *o) {
    const qn_element type = p->operands[0].array.type;
    if (o->array.type != type || (type != QN_F32 && type != QN_F64))
        return qn__op_fail(p->kernels, QN_ERROR_ARGUMENT,
                           "%s: %s is of %s and %s of %s; all have to be of f32, or all of f64", p->function,
                           p->operands[0].name, qn__element(type)->name, o->name,
                           qn__element(o->array.type)->name);
    if (type == QN_F64 && !(p->kernels->info.capabilities & QN_CAN_F64))
        return qn__op_fail(p->kernels, QN_ERROR_UNSUPPORTED, "%s: %s has no f64", p->function,
                           p->kernels->info.name);
    return QN_OK;
}

/* The arrays, their types, and that what is written is apart from all others. */
static qn_status check_arrays(problem *p, const void *desc) {
    qn_status status = qn__op_begin(p->kernels, p->stream, desc, p->function);
    for (uint32_t i = 0; i < p->num_operands && !status; i++) {
        operand *o = &p->operands[i];
        const qn_array given = o->array;
        if (!is_given(o)) continue;
        status = o->role == READ
                     ? qn__array_check(p->kernels, p->function, o->name, &given, &o->array)
                     : qn__array_check_written(p->kernels, p->function, o->name, &given, &o->array);
        if (!status) status = check_type(p, o);
        for (uint32_t k = 0; k < i && o->role != READ && !status; k++)
            if (is_given(&p->operands[k]))
                status = qn__array_apart(p->kernels, p->function, o->name, &o->array, p->operands[k].name,
                                         &p->operands[k].array);
    }
    return status;
}

/* The last two sizes of the first operand. */
static qn_status matrix_of(const problem *p, uint64_t *rows, uint64_t *columns) {
    const operand *o = &p->operands[0];
    if (o->array.rank < 2)
        return qn__op_fail(p->kernels, QN_ERROR_ARGUMENT, "%s: %s is %s; it must have two dimensions or more",
                           p->function, o->name, qn__shape(&o->array).text);
    *rows = o->array.sizes[o->array.rank - 2];
    *columns = o->array.sizes[o->array.rank - 1];
    return QN_OK;
}

static qn_status square_of(const problem *p, uint64_t *n) {
    uint64_t rows = 0, columns = 0;
    qn_status status = matrix_of(p, &rows, &columns);
    if (!status && rows != columns)
        status = qn__op_fail(p->kernels, QN_ERROR_ARGUMENT, "%s: %s is %s; its matrices must be square",
                             p->function, p->operands[0].name, qn__shape(&p->operands[0].array).text);
    *n = rows;
    return status;
}

/* Whether operand i has the batch of the first, and behind it these sizes. One that is not given gets them. */
static qn_status expect(problem *p, uint32_t i, uint32_t rank, uint64_t first, uint64_t second) {
    const qn_array *like = &p->operands[0].array;
    operand *o = &p->operands[i];
    qn_array wanted = {.type = like->type, .rank = like->rank - 2 + rank};
    const uint64_t tail[TAIL] = {first, second};
    bool fits = true;
    uint64_t stride = 1;
    for (uint32_t d = wanted.rank; d-- > 0; stride *= wanted.sizes[d]) {
        wanted.sizes[d] = d + 2 < like->rank ? like->sizes[d] : tail[d + 2 - like->rank];
        wanted.strides[d] = (int64_t)stride;
        fits = fits && d < o->array.rank && o->array.sizes[d] == wanted.sizes[d];
    }
    if (is_given(o) && (!fits || o->array.rank != wanted.rank))
        return qn__op_fail(p->kernels, QN_ERROR_ARGUMENT, "%s: %s is %s; with %s of %s it must be %s",
                           p->function, o->name, qn__shape(&o->array).text, p->operands[0].name,
                           qn__shape(like).text, qn__shape(&wanted).text);
    if (!is_given(o)) o->array = wanted;
    return QN_OK;
}

/* ---- the kernel ---- */

typedef struct plan {
    qn_kernel *kernel;
    uint32_t group;
    bool local; /* what is worked on lies in local memory */
} plan;

static qn_status make(qn_kernels *kernels, const void *request, void *out) {
    const problem *p = request;
    const qn_element type = p->operands[0].array.type;
    const qn_device_info *info = &kernels->info;
    plan *made = out;
    *made = (plan){.group = 1};
    const uint32_t most =
        info->max_group_size < info->max_local_size[0] ? info->max_group_size : info->max_local_size[0];
    if (!qn__is_processor(kernels) && !p->plain)
        while (made->group < p->width && made->group < GROUP && made->group * 2 <= most) made->group *= 2;
    made->local =
        !p->plain && !qn__is_processor(kernels) &&
        p->work <= info->local_memory / 8 * 7 / qn_element_size(type); /* reductions need some, too */
    char options[160];
    snprintf(options, sizeof options, "-D T=%s -D ROUNDING=0x1p-%d -D GROUP=%u%s%s", qn__element(type)->value,
             type == QN_F64 ? 53 : 24, made->group, made->local ? " -D LOCAL" : "", p->options);
    return qn__variant_get(kernels, &(qn__variant){p->file, p->kernel, options}, &made->kernel);
}

static const qn__op linear_op = {"linear algebra", sizeof(plan), make};

static qn_status plan_of(const problem *p, plan *out) {
    qn__key key = {0};
    for (const char *c = p->kernel; *c; c++) qn__key_add(&key, (uint64_t)*c);
    for (const char *c = p->options; *c; c++) qn__key_add(&key, (uint64_t)*c);
    qn__key_add(&key, p->operands[0].array.type);
    qn__key_add(&key, p->width);
    qn__key_add(&key, p->work);
    return qn__plan_get(p->kernels, &linear_op, &key, p, out);
}

static qn_status launch(const problem *p, const plan *l, const qn__packed *packed, qn_buffer *work) {
    const uint32_t size = qn_element_size(p->operands[0].array.type);
    qn_arg args[NUMBERS + 2 * ARRAYS + 1];
    uint32_t count = 0;
    for (uint32_t i = 0; i < p->num_numbers; i++) args[count++] = qn_arg_unsigned(p->numbers[i]);
    for (uint32_t i = 0; i < p->num_operands; i++) {
        const qn_array *a = &packed[i].array;
        args[count++] = qn_arg_unsigned(a->offset);
        args[count++] = a->buffer ? qn_arg_buffer(a->buffer) : qn_arg_null();
    }
    if (l->local) args[count++] = qn_arg_local((p->work ? p->work : 1) * size);
    if (work) args[count++] = qn_arg_buffer(work);
    const qn_range groups = {.global = {p->matrices * l->group}, .local = {l->group}};
    const qn_range columns = {.global = {p->width, p->matrices}};
    return qn_launch(p->stream, l->kernel, p->plain ? &columns : &groups, args, count);
}

/* The operands as contiguous arrays; those that nobody wants get memory all the same. */
static qn_status open_operands(const problem *p, qn__packed *packed) {
    qn_status status = QN_OK;
    for (uint32_t i = 0; i < p->num_operands && !status; i++) {
        const operand *o = &p->operands[i];
        const uint64_t bytes = qn_array_count(&o->array) * qn_element_size(o->array.type);
        packed[i].array = o->array;
        if (o->role == READ)
            status = qn__packed_open(p->kernels, p->stream, &o->array, &packed[i]);
        else if (o->array.buffer)
            status = qn__packed_blank(p->kernels, &o->array, &packed[i]);
        else if (bytes)
            status = qn__scratch(p->kernels, bytes, &packed[i].copy);
        if (!packed[i].array.buffer) packed[i].array.buffer = packed[i].copy;
    }
    return status;
}

/* Refused where the driver would end a work-item's loops before they are done, and say nothing. */
static qn_status check_loops(const problem *p, const plan *l) {
    enum { USUAL_SWEEPS = 9 };
    const uint64_t limit = p->kernels->info.loop_limit, games = (p->width + l->group - 1) / l->group;
    if (!limit || (double)p->rounds * (double)games * (double)p->of_game * USUAL_SWEEPS <= (double)limit)
        return QN_OK;
    return qn__op_fail(p->kernels, QN_ERROR_UNSUPPORTED,
                       "%s: %s of %s takes more iterations than a work-item's loops have on %s: at most %llu "
                       "(loop_limit)",
                       p->function, p->operands[0].name, qn__shape(&p->operands[0].array).text,
                       p->kernels->info.name, (unsigned long long)limit);
}

static qn_status run(problem *p) {
    const qn_array *first = &p->operands[0].array;
    p->matrices = 1;
    for (uint32_t d = 0; d + 2 < first->rank; d++) p->matrices *= first->sizes[d];
    if (!p->matrices) return QN_OK;
    const uint64_t size = qn_element_size(first->type);
    if (p->work > UINT64_MAX / size / p->matrices)
        return qn__op_fail(p->kernels, QN_ERROR_DEVICE_MEMORY, "%s: %s of %s is too large", p->function,
                           p->operands[0].name, qn__shape(first).text);
    qn__packed packed[ARRAYS] = {{.copy = NULL}};
    qn_buffer *work = NULL;
    plan l;
    qn_status status = plan_of(p, &l);
    if (!status) status = check_loops(p, &l);
    if (status) return status;
    status = open_operands(p, packed);
    if (!status && !l.local && !p->plain)
        status = qn__scratch(p->kernels, p->matrices * p->work * size, &work);
    if (!status) status = launch(p, &l, packed, work);
    qn_buffer_destroy(work);
    for (uint32_t i = 0; i < p->num_operands; i++) {
        const operand *o = &p->operands[i];
        const bool back = o->role != READ && o->array.buffer;
        status = qn__packed_close(p->kernels, p->stream, back ? &o->array : NULL, &packed[i], status);
    }
    return status;
}

/* ---- the calls ---- */

/* Checks, sizes, and the run: `desc` may be NULL here, which the checks say. */
#define PROBLEM(name, program, count, ...)                                                                   \
    {                                                                                                        \
        .kernels = kernels, .stream = stream, .function = "qn_kernels_" #name,                               \
        .file = "linear/" program ".cl", .kernel = #name, .options = "", .num_operands = count,              \
        .operands = {                                                                                        \
            __VA_ARGS__                                                                                      \
        }                                                                                                    \
    }

qn_status qn_kernels_cholesky(qn_kernels *kernels, qn_stream *stream, const qn_cholesky_desc *desc) {
    const qn_cholesky_desc d = desc ? *desc : (qn_cholesky_desc){.to = {.rank = 0}};
    problem p = PROBLEM(cholesky, "cholesky", 2, {"from", READ, d.from}, {"to", WRITTEN, d.to});
    uint64_t n = 0;
    qn_status status = check_arrays(&p, desc);
    if (!status) status = square_of(&p, &n);
    if (!status) status = expect(&p, 1, 2, n, n);
    if (status || !n) return status;
    p.numbers[p.num_numbers++] = n;
    p.work = n * n;
    p.width = n;
    return run(&p);
}

/* Of a matrix and right sides. */
static qn_status begin_sides(problem *p, const void *desc) {
    uint64_t n = 0;
    qn_status status = check_arrays(p, desc);
    if (!status) status = square_of(p, &n);
    const qn_array *from = &p->operands[1].array;
    const uint64_t k = from->rank ? from->sizes[from->rank - 1] : 0;
    if (!status) status = expect(p, 1, 2, n, k);
    if (!status) status = expect(p, 2, 2, n, k);
    p->numbers[0] = n;
    p->numbers[1] = k;
    p->num_numbers = 2;
    return status;
}

qn_status qn_kernels_solve(qn_kernels *kernels, qn_stream *stream, const qn_solve_desc *desc) {
    const qn_solve_desc d = desc ? *desc : (qn_solve_desc){.to = {.rank = 0}};
    problem p = PROBLEM(solve, "eliminate", 3, {"matrix", READ, d.matrix}, {"from", READ, d.from},
                        {"to", WRITTEN, d.to});
    const qn_status status = begin_sides(&p, desc);
    const uint64_t n = p.numbers[0], k = p.numbers[1];
    if (status || !n || !k) return status;
    p.work = n * n;
    p.width = n > k ? n : k;
    return run(&p);
}

qn_status qn_kernels_solve_triangular(qn_kernels *kernels, qn_stream *stream,
                                      const qn_solve_triangular_desc *desc) {
    const qn_solve_triangular_desc d = desc ? *desc : (qn_solve_triangular_desc){.upper = false};
    problem p = PROBLEM(solve_triangular, "triangular", 3, {"matrix", READ, d.matrix}, {"from", READ, d.from},
                        {"to", WRITTEN, d.to});
    const qn_status status = begin_sides(&p, desc);
    if (status || !p.numbers[0] || !p.numbers[1]) return status;
    p.options = d.upper ? d.unit ? " -D UPPER -D UNIT" : " -D UPPER" : d.unit ? " -D UNIT" : "";
    p.width = p.numbers[1];
    p.plain = true;
    return run(&p);
}

qn_status qn_kernels_determinant(qn_kernels *kernels, qn_stream *stream, const qn_determinant_desc *desc) {
    const qn_determinant_desc d = desc ? *desc : (qn_determinant_desc){.log = {.rank = 0}};
    problem p = PROBLEM(determinant, "eliminate", 3, {"from", READ, d.from}, {"sign", OPTIONAL, d.sign},
                        {"log", OPTIONAL, d.log});
    uint64_t n = 0;
    qn_status status = check_arrays(&p, desc);
    if (!status) status = square_of(&p, &n);
    if (!status) status = expect(&p, 1, 0, 0, 0);
    if (!status) status = expect(&p, 2, 0, 0, 0);
    if (status) return status;
    p.numbers[p.num_numbers++] = n;
    p.work = n * n;
    p.width = n;
    return run(&p);
}

qn_status qn_kernels_qr(qn_kernels *kernels, qn_stream *stream, const qn_qr_desc *desc) {
    const qn_qr_desc d = desc ? *desc : (qn_qr_desc){.r = {.rank = 0}};
    problem p = PROBLEM(qr, "qr", 3, {"from", READ, d.from}, {"q", OPTIONAL, d.q}, {"r", OPTIONAL, d.r});
    uint64_t m = 0, n = 0;
    qn_status status = check_arrays(&p, desc);
    if (!status) status = matrix_of(&p, &m, &n);
    const qn_array *q = &p.operands[1].array, *r = &p.operands[2].array;
    const bool is_complete =
        m > n && ((q->rank && q->sizes[q->rank - 1] == m) || (r->rank > 1 && r->sizes[r->rank - 2] == m));
    const uint64_t columns = m < n || is_complete ? m : n;
    if (!status) status = expect(&p, 1, 2, m, columns);
    if (!status) status = expect(&p, 2, 2, columns, n);
    if (status || !m || !columns) return status;
    p.numbers[p.num_numbers++] = m;
    p.numbers[p.num_numbers++] = n;
    p.numbers[p.num_numbers++] = columns;
    p.work = m * n + n;
    p.width = n > columns ? n : columns;
    return run(&p);
}

qn_status qn_kernels_eigen(qn_kernels *kernels, qn_stream *stream, const qn_eigen_desc *desc) {
    const qn_eigen_desc d = desc ? *desc : (qn_eigen_desc){.values = {.rank = 0}};
    problem p = PROBLEM(eigen, "eigen", 3, {"from", READ, d.from}, {"values", OPTIONAL, d.values},
                        {"vectors", OPTIONAL, d.vectors});
    uint64_t n = 0;
    qn_status status = check_arrays(&p, desc);
    if (!status) status = square_of(&p, &n);
    if (!status) status = expect(&p, 1, 1, n, 0);
    if (!status) status = expect(&p, 2, 2, n, n);
    if (status || !n) return status;
    p.numbers[p.num_numbers++] = n;
    p.work = 2 * n * n + 2 * n;
    p.width = (n + 1) / 2;
    p.rounds = 2 * p.width - 1;
    p.of_game = 3 * n + 3;
    return run(&p);
}

qn_status qn_kernels_svd(qn_kernels *kernels, qn_stream *stream, const qn_svd_desc *desc) {
    const qn_svd_desc d = desc ? *desc : (qn_svd_desc){.values = {.rank = 0}};
    problem p = PROBLEM(svd, "svd", 4, {"from", READ, d.from}, {"u", OPTIONAL, d.u},
                        {"values", OPTIONAL, d.values}, {"v", OPTIONAL, d.v});
    uint64_t m = 0, n = 0;
    qn_status status = check_arrays(&p, desc);
    if (!status) status = matrix_of(&p, &m, &n);
    if (!status && m < n)
        status = qn__op_fail(kernels, QN_ERROR_ARGUMENT,
                             "qn_kernels_svd: from is %s; it must not have more columns than rows (take its "
                             "transpose, whose u is v)",
                             qn__shape(&p.operands[0].array).text);
    if (!status) status = expect(&p, 1, 2, m, n);
    if (!status) status = expect(&p, 2, 1, n, 0);
    if (!status) status = expect(&p, 3, 2, n, n);
    if (status || !n) return status;
    p.numbers[p.num_numbers++] = m;
    p.numbers[p.num_numbers++] = n;
    p.work = n * m + n * n + n;
    p.width = (n + 1) / 2;
    p.rounds = 2 * p.width - 1;
    p.of_game = 2 * m + n + 1;
    return run(&p);
}
