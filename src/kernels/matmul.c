/* qn_kernels_matmul: what is asked for is checked here; src/kernels/matmul_plan.c decides how it is done. */
#include <string.h>

#include "kernels/matmul.h"

static const char *const names[QN__MATMUL_OPERANDS] = {"out", "a", "b", "c", "bias", "residual"};

const char *qn_matmul_variant(uint32_t index) { return qn__matmul_variant_name(index); }

static bool is_narrow_float(qn_element t) { return qn__element(t)->is_float && t != QN_F64; }
static bool is_byte(qn_element t) { return t == QN_I8 || t == QN_U8; }

static qn_status check_types(const qn_kernels *kernels, const qn__matmul *q) {
    const qn_element a = q->arrays[QN__MATMUL_A].type, b = q->arrays[QN__MATMUL_B].type;
    const bool good = (is_narrow_float(a) && is_narrow_float(b)) || (a == QN_F64 && b == QN_F64) ||
                      (is_byte(a) && is_byte(b));
    if (!good)
        return qn__op_fail(
            kernels, QN_ERROR_ARGUMENT,
            "qn_kernels_matmul: a is %s and b is %s; both are floats of up to 32 bits, or f64, or i8 and u8",
            qn__element(a)->name, qn__element(b)->name);
    for (int i = 0; i < QN__MATMUL_OPERANDS; i++) {
        if (!q->has[i] || q->arrays[i].type != QN_F64) continue;
        if (!(kernels->info.capabilities & QN_CAN_F64))
            return qn__op_fail(kernels, QN_ERROR_UNSUPPORTED,
                               "qn_kernels_matmul: %s is f64, which %s does not have", names[i],
                               kernels->info.name);
    }
    return QN_OK;
}

static qn_status check_shapes(const qn_kernels *kernels, qn__matmul *q) {
    const qn_array *out = &q->arrays[QN__MATMUL_OUT], *a = &q->arrays[QN__MATMUL_A],
                   *b = &q->arrays[QN__MATMUL_B];
    for (int i = QN__MATMUL_OUT; i <= QN__MATMUL_B; i++)
        if (q->arrays[i].rank < 2)
            return qn__op_fail(
                kernels, QN_ERROR_ARGUMENT,
                "qn_kernels_matmul: %s has %u dimensions; a matrix has two, and batches before them",
                names[i], q->arrays[i].rank);
    q->m = out->sizes[out->rank - 2];
    q->n = out->sizes[out->rank - 1];
    q->k = a->sizes[a->rank - 1];
    if (a->sizes[a->rank - 2] != q->m || b->sizes[b->rank - 2] != q->k || b->sizes[b->rank - 1] != q->n)
        return qn__op_fail(kernels, QN_ERROR_ARGUMENT, "qn_kernels_matmul: a (%s) by b (%s) is not out (%s)",
                           qn__shape(a).text, qn__shape(b).text, qn__shape(out).text);
    return QN_OK;
}

/* Strides along the last two dimensions; c, bias and residual are broadcast. */
static qn_status set_strides(const qn_kernels *kernels, qn__matmul *q) {
    const qn_array *out = &q->arrays[QN__MATMUL_OUT];
    for (int i = 0; i < QN__MATMUL_OPERANDS; i++) {
        const qn_array *x = &q->arrays[i];
        const uint32_t r = x->rank;
        if (!q->has[i]) continue;
        q->column[i] = r > 0 ? x->strides[r - 1] : 0;
        q->row[i] = r > 1 ? x->strides[r - 2] : 0;
        if (i <= QN__MATMUL_B) continue;
        const uint64_t columns = r > 0 ? x->sizes[r - 1] : 1, rows = r > 1 ? x->sizes[r - 2] : 1;
        if (r > out->rank || (columns != 1 && columns != q->n) || (rows != 1 && rows != q->m))
            return qn__op_fail(kernels, QN_ERROR_ARGUMENT,
                               "qn_kernels_matmul: %s (%s) cannot be broadcast to out (%s)", names[i],
                               qn__shape(x).text, qn__shape(out).text);
        if (columns == 1) q->column[i] = 0;
        if (rows == 1) q->row[i] = 0;
    }
    return QN_OK;
}

static qn_status check_memory(const qn_kernels *kernels, const qn__matmul *q) {
    const qn_array *out = &q->arrays[QN__MATMUL_OUT];
    qn_status status = QN_OK;
    for (int i = QN__MATMUL_A; i < QN__MATMUL_OPERANDS && !status; i++)
        if (q->has[i] && !(i >= QN__MATMUL_C && qn__array_is_same(out, &q->arrays[i])))
            status = qn__array_apart(kernels, "qn_kernels_matmul", "out", out, names[i], &q->arrays[i]);
    return status;
}

static qn_status find_variant(const qn_kernels *kernels, const char *name, int *variant) {
    *variant = -1;
    if (!name) return QN_OK;
    for (uint32_t i = 0; qn_matmul_variant(i); i++)
        if (strcmp(qn_matmul_variant(i), name) == 0) {
            *variant = (int)i;
            return QN_OK;
        }
    return qn__op_fail(kernels, QN_ERROR_ARGUMENT,
                       "qn_kernels_matmul: there is no variant '%s' (see qn_matmul_variant)", name);
}

static qn_status read_arrays(const qn_kernels *kernels, const qn_matmul_desc *desc, qn__matmul *q) {
    const bool adds = desc->beta != 0;
    const qn_array *given[QN__MATMUL_OPERANDS] = {&desc->out,
                                                  &desc->a,
                                                  &desc->b,
                                                  adds ? desc->c.buffer ? &desc->c : &desc->out : NULL,
                                                  desc->bias.buffer ? &desc->bias : NULL,
                                                  desc->residual.buffer ? &desc->residual : NULL};
    qn_status status =
        qn__array_check_written(kernels, "qn_kernels_matmul", names[0], given[0], &q->arrays[0]);
    for (int i = 0; i < QN__MATMUL_OPERANDS && !status; i++) {
        q->has[i] = given[i] != NULL;
        if (i > 0 && given[i])
            status = qn__array_check(kernels, "qn_kernels_matmul", names[i], given[i], &q->arrays[i]);
    }
    return status;
}

static qn_status read_desc(const qn_kernels *kernels, const qn_matmul_desc *desc, qn__matmul *q) {
    *q = (qn__matmul){.activation = desc->activation, .splits = desc->splits, .tf32 = desc->tf32};
    if ((unsigned)desc->activation >= QN_ACTIVATION_COUNT)
        return qn__op_fail(kernels, QN_ERROR_ARGUMENT,
                           "qn_kernels_matmul: activation is %u, which is no qn_activation",
                           (unsigned)desc->activation);
    q->plain = (desc->alpha == 0 || desc->alpha == 1) && (desc->scale == 0 || desc->scale == 1) &&
               desc->beta == 0 && !desc->bias.buffer && !desc->residual.buffer && !desc->activation;
    qn_status status = read_arrays(kernels, desc, q);
    if (!status) status = check_types(kernels, q);
    if (!status) status = check_shapes(kernels, q);
    if (!status) status = set_strides(kernels, q);
    if (!status) status = check_memory(kernels, q);
    return status ? status : find_variant(kernels, desc->variant, &q->variant);
}

/* All that the plan looks at. Where arrays begin counts by what vectors of 16 bytes need. */
static void make_key(const qn__matmul *q, qn__key *key) {
    uint64_t flags = (uint64_t)q->activation | (uint64_t)q->plain << 8 | (uint64_t)(q->variant + 1) << 16 |
                     (uint64_t)q->tf32 << 31;
    for (int i = 0; i < QN__MATMUL_OPERANDS; i++) {
        flags |= (uint64_t)q->has[i] << (24 + i) | (q->arrays[i].offset & 15) << (32 + 4 * i);
        if (q->has[i]) qn__key_add_array(key, &q->arrays[i]);
    }
    qn__key_add(key, flags);
    qn__key_add(key, q->splits);
}

/* For what is not there, and which the kernel does not touch, out stands in: a launch looks closer at null pointers. */
static qn_arg buffer_arg(const qn__matmul *q, qn__matmul_operand x) {
    qn_buffer *buffer = q->arrays[x].buffer;
    return qn_arg_buffer(buffer ? buffer : q->arrays[QN__MATMUL_OUT].buffer);
}

/* Buffers of a call's own. */
typedef struct scratch {
    qn_buffer *work, *brought[2];
} scratch;

static qn_status launch(qn_kernels *kernels, const qn__matmul_plan *p, qn_stream *stream, const qn__matmul *q,
                        const qn_matmul_desc *desc, scratch *own) {
    enum { MOST = QN__MATMUL_TENSOR_ARGS + 11, BLOCK_ARGS = 2 };
    uint64_t words[QN__MATMUL_WORDS];
    qn_tensor_map maps[3];
    qn_arg args[MOST];
    size_t first = 0;
    if (p->has_tensors) {
        const qn_status status =
            qn__matmul_quad_bring(kernels, stream, q, &p->tensors, own->brought, maps, args);
        if (status) return status;
        first = QN__MATMUL_TENSOR_ARGS;
    }
    memcpy(words, p->words, p->num_words * sizeof *words);
    static const qn__matmul_operand begins[] = {QN__MATMUL_A, QN__MATMUL_B,    QN__MATMUL_OUT,
                                                QN__MATMUL_C, QN__MATMUL_BIAS, QN__MATMUL_RESIDUAL};
    for (int i = 0; i < QN__MATMUL_OPERANDS; i++) words[QN__MATMUL_BEGINS + i] = q->arrays[begins[i]].offset;
    const bool turned = p->has_tensors && p->tensors.turned;
    const qn__matmul_operand a = turned ? QN__MATMUL_B : QN__MATMUL_A,
                             b = turned ? QN__MATMUL_A : QN__MATMUL_B;
    const qn_arg rest[] = {qn_arg_bytes(words, p->num_words * sizeof *words),
                           own->brought[0] ? qn_arg_buffer(own->brought[0]) : buffer_arg(q, a),
                           own->brought[1] ? qn_arg_buffer(own->brought[1]) : buffer_arg(q, b),
                           buffer_arg(q, QN__MATMUL_OUT),
                           buffer_arg(q, QN__MATMUL_C),
                           buffer_arg(q, QN__MATMUL_BIAS),
                           buffer_arg(q, QN__MATMUL_RESIDUAL),
                           qn_arg_double(desc->alpha == 0 ? 1 : desc->alpha),
                           qn_arg_double(desc->beta),
                           qn_arg_double(desc->scale == 0 ? 1 : desc->scale),
                           own->work ? qn_arg_buffer(own->work) : buffer_arg(q, QN__MATMUL_OUT)};
    memcpy(args + first, rest, sizeof rest);
    const size_t count = sizeof rest / sizeof *rest;
    qn_status status = QN_OK;
    size_t more = first;
    if (p->pack) status = qn_launch(stream, p->pack, &p->pack_range, args, count);
    if (p->block_rows) {
        args[count] = qn_arg_unsigned(p->block_rows);
        args[count + 1] = qn_arg_unsigned(p->block_columns);
        more = BLOCK_ARGS;
    }
    if (!status) status = qn_launch(stream, p->kernel, &p->range, args, count + more);
    if (status || !p->finish) return status;
    words[QN__MATMUL_PART] = p->splits;
    return qn_launch(stream, p->finish, &p->finish_range, args + first, count);
}

static qn_status read_call(const qn_kernels *kernels, const qn_stream *stream, const qn_matmul_desc *desc,
                           qn__matmul *q) {
    const qn_status status = qn__op_begin(kernels, stream, desc, "qn_kernels_matmul");
    return status ? status : read_desc(kernels, desc, q);
}

qn_status qn_kernels_matmul_choice(qn_kernels *kernels, const qn_matmul_desc *desc, const char **variant,
                                   uint32_t *splits) {
    qn__matmul q;
    qn__matmul_choice c = {.variant = NULL};
    qn_status status = read_call(kernels, NULL, desc, &q);
    if (status) return status;
    if (!variant || !splits)
        return qn__op_fail(kernels, QN_ERROR_NULL, "qn_kernels_matmul_choice: %s is NULL",
                           variant ? "splits" : "variant");
    if (qn_array_count(&q.arrays[QN__MATMUL_OUT]) > 0) status = qn__matmul_choose(kernels, &q, &c);
    if (status) return status;
    *variant = c.variant ? c.variant->name : NULL;
    *splits = (uint32_t)c.cut.splits;
    return QN_OK;
}

qn_status qn_kernels_matmul(qn_kernels *kernels, qn_stream *stream, const qn_matmul_desc *desc) {
    qn__matmul q;
    qn_status status = read_call(kernels, stream, desc, &q);
    if (status || qn_array_count(&q.arrays[QN__MATMUL_OUT]) == 0) return status;
    qn__key key = {.count = 0};
    make_key(&q, &key);
    qn__matmul_plan p;
    status = qn__plan_get(kernels, &qn__matmul_op, &key, &q, &p);
    if (status) return status;
    scratch own = {.work = NULL};
    const qn_buffer_desc parts = {
        .size = p.work, .uninitialised = true, .pool = kernels->pool, .label = "qn_kernels_matmul's parts"};
    if (p.work) status = qn_buffer_create(kernels->device, &parts, &own.work);
    if (!status) status = launch(kernels, &p, stream, &q, desc, &own);
    if (own.work) qn_buffer_destroy(own.work);
    for (int i = 0; i < 2; i++)
        if (own.brought[i]) qn_buffer_destroy(own.brought[i]);
    return status;
}
