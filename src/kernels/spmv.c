/* qn_kernels_spmv, with kernels/csr.cl: work-groups get the same number of elements, so that long rows and short ones cost the same. */
#include <stdio.h>

#include "kernels/op.h"

typedef struct plan {
    qn_kernel *find, *multiply, *finish; /* `find` NULL: work-groups find their first row themselves */
    uint32_t group, value_size;
    uint64_t chunks;
} plan;

/* As csr.cl has it. */
typedef struct matrix {
    uint64_t rows, columns, elements;
    uint64_t starts_begin, columns_begin, values_begin, x_begin, y_begin;
} matrix;

static qn_status make(qn_kernels *kernels, const void *request, void *out) {
    const qn_spmv_desc *d = request;
    const qn_device_info *info = &kernels->info;
    const qn__element_info *e = qn__element(d->values.type);
    plan *p = out;
    uint32_t group = 1;
    while (!qn__is_processor(kernels) && group < 256 && group * 2 <= info->max_local_size[0]) group *= 2;
    const uint32_t chunk = group == 1 ? 1u << 13 : group * 8;
    const uint64_t elements = qn_array_count(&d->values);
    p->group = group;
    p->value_size = d->values.type == QN_F64 ? 8 : 4;
    p->chunks = elements ? (elements - 1) / chunk + 1 : 1;
    char options[320];
    snprintf(
        options, sizeof options,
        "-D STORAGE=%s -D LOAD=%s -D STORE=%s -D VALUE=%s -D START=%s -D COLUMN=%s -D GROUP=%u -D CHUNK=%u "
        "-D WIDTH=%u",
        e->storage, e->load, e->store, e->value, qn__element(d->starts.type)->storage,
        qn__element(d->columns.type)->storage, group, chunk,
        info->sub_group_size > 1 && group % info->sub_group_size == 0 ? info->sub_group_size : 1);
    qn_status status = qn__variant_get(kernels, &(qn__variant){"csr.cl", "multiply", options}, &p->multiply);
    if (!status && group > 1)
        status = qn__variant_get(kernels, &(qn__variant){"csr.cl", "find_rows", options}, &p->find);
    return status ? status
                  : qn__variant_get(kernels, &(qn__variant){"csr.cl", "finish", options}, &p->finish);
}

static const qn__op spmv_op = {"qn_kernels_spmv", sizeof(plan), make};

static qn_status check_indices(const qn_kernels *kernels, const char *name, const qn_array *a) {
    const qn__element_info *e = qn__element(a->type);
    if (!e->is_float && e->size >= 4) return QN_OK;
    return qn__op_fail(kernels, QN_ERROR_ARGUMENT,
                       "qn_kernels_spmv: %s.type is %s; it must be i32, u32, i64 or u64", name, e->name);
}

static qn_status check_sizes(const qn_kernels *kernels, const qn_spmv_desc *d) {
    const struct {
        const char *name;
        const qn_array *array;
    } all[] = {
        {"starts", &d->starts}, {"columns", &d->columns}, {"values", &d->values}, {"x", &d->x}, {"y", &d->y}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (all[i].array->rank != 1)
            return qn__op_fail(kernels, QN_ERROR_ARGUMENT,
                               "qn_kernels_spmv: %s has %u dimensions; it must have one", all[i].name,
                               all[i].array->rank);
    if (d->starts.sizes[0] != d->y.sizes[0] + 1)
        return qn__op_fail(
            kernels, QN_ERROR_ARGUMENT,
            "qn_kernels_spmv: starts is %s and y is %s; there must be one start more than rows",
            qn__shape(&d->starts).text, qn__shape(&d->y).text);
    if (d->columns.sizes[0] != d->values.sizes[0])
        return qn__op_fail(kernels, QN_ERROR_ARGUMENT,
                           "qn_kernels_spmv: columns is %s and values is %s; they must be the same",
                           qn__shape(&d->columns).text, qn__shape(&d->values).text);
    return QN_OK;
}

static qn_status check_types(const qn_kernels *kernels, const qn_spmv_desc *d) {
    const qn_element type = d->values.type;
    const qn_status status = check_indices(kernels, "starts", &d->starts);
    if (status) return status;
    if (type != d->x.type || type != d->y.type || !qn__element(type)->is_float)
        return qn__op_fail(kernels, QN_ERROR_ARGUMENT,
                           "qn_kernels_spmv: the types of values, x and y are %s, %s and %s; they must be "
                           "one type of floats",
                           qn__element(type)->name, qn__element(d->x.type)->name,
                           qn__element(d->y.type)->name);
    if (type == QN_F64 && !(kernels->info.capabilities & QN_CAN_F64))
        return qn__op_fail(kernels, QN_ERROR_UNSUPPORTED, "qn_kernels_spmv: %s has no f64",
                           kernels->info.name);
    return check_indices(kernels, "columns", &d->columns);
}

static qn_status check(const qn_kernels *kernels, const qn_stream *stream, const qn_spmv_desc *desc,
                       qn_spmv_desc *d) {
    qn_status status = qn__op_begin(kernels, stream, desc, "qn_kernels_spmv");
    if (status) return status;
    *d = *desc;
    status = qn__array_check(kernels, "qn_kernels_spmv", "starts", &desc->starts, &d->starts);
    if (!status) status = qn__array_check(kernels, "qn_kernels_spmv", "columns", &desc->columns, &d->columns);
    if (!status) status = qn__array_check(kernels, "qn_kernels_spmv", "values", &desc->values, &d->values);
    if (!status) status = qn__array_check(kernels, "qn_kernels_spmv", "x", &desc->x, &d->x);
    if (!status) status = qn__array_check_written(kernels, "qn_kernels_spmv", "y", &desc->y, &d->y);
    if (!status) status = check_sizes(kernels, d);
    if (!status) status = check_types(kernels, d);
    const qn_array *const read[] = {&d->starts, &d->columns, &d->values, &d->x};
    static const char *const names[] = {"starts", "columns", "values", "x"};
    for (int i = 0; i < 4 && !status; i++)
        status = qn__array_apart(kernels, "qn_kernels_spmv", "y", &d->y, names[i], read[i]);
    return status;
}

static qn_arg buffer_of(const qn_array *a) { return a->buffer ? qn_arg_buffer(a->buffer) : qn_arg_null(); }

/* Memory between the kernels, with an element for each chunk: sums of the rows that are under way where it begins and that go on behind
   it, which row that is, and the first row (and one more). */
typedef struct scratch {
    qn_buffer *leads, *tails, *open, *firsts;
} scratch;

static qn_status launch(qn_stream *stream, const plan *p, const qn_spmv_desc *d, const scratch *s) {
    const matrix m = {d->y.sizes[0],     d->x.sizes[0],    d->values.sizes[0], d->starts.offset,
                      d->columns.offset, d->values.offset, d->x.offset,        d->y.offset};
    const double alpha = d->alpha == 0 ? 1 : d->alpha;
    const bool wide = p->value_size == 8;
    const qn_arg factors[] = {wide ? qn_arg_double(alpha) : qn_arg_float((float)alpha),
                              wide ? qn_arg_double(d->beta) : qn_arg_float((float)d->beta)};
    const qn_range chunks = {.global = {p->chunks * p->group}, .local = {p->group}},
                   each = {.global = {p->chunks}};
    const qn_arg args[] = {QN_BYTES(m),
                           factors[0],
                           factors[1],
                           buffer_of(&d->starts),
                           buffer_of(&d->columns),
                           buffer_of(&d->values),
                           buffer_of(&d->x),
                           buffer_of(&d->y),
                           qn_arg_buffer(s->leads),
                           qn_arg_buffer(s->tails),
                           qn_arg_buffer(s->open),
                           qn_arg_buffer(s->firsts)};
    const uint32_t count = sizeof args / sizeof *args - (p->find ? 0 : 1);
    const qn_range ends = {.global = {p->chunks + 1}};
    const qn_arg find[] = {args[0], args[3], args[11]};
    qn_status status = p->find ? qn_launch(stream, p->find, &ends, find, 3) : QN_OK;
    if (!status) status = qn_launch(stream, p->multiply, &chunks, args, count);
    if (status || p->chunks == 1) return status;
    const qn_arg rest[] = {args[0], args[1], args[2], qn_arg_unsigned(p->chunks), args[3], args[7],
                           args[8], args[9], args[10]};
    return qn_launch(stream, p->finish, &each, rest, sizeof rest / sizeof *rest);
}

static qn_status run_packed(qn_kernels *kernels, qn_stream *stream, const qn_spmv_desc *d) {
    qn__key key = {0};
    qn__key_add_array(&key, &d->starts);
    qn__key_add_array(&key, &d->columns);
    qn__key_add(&key, d->values.type);
    plan p;
    scratch s = {NULL, NULL, NULL, NULL};
    qn_status status = qn__plan_get(kernels, &spmv_op, &key, d, &p);
    if (!status) status = qn__scratch(kernels, p.chunks * p.value_size, &s.leads);
    if (!status) status = qn__scratch(kernels, p.chunks * p.value_size, &s.tails);
    if (!status) status = qn__scratch(kernels, p.chunks * sizeof(uint64_t), &s.open);
    if (!status && p.find) status = qn__scratch(kernels, (p.chunks + 1) * sizeof(uint64_t), &s.firsts);
    if (!status) status = launch(stream, &p, d, &s);
    qn_buffer_destroy(s.leads);
    qn_buffer_destroy(s.tails);
    qn_buffer_destroy(s.open);
    qn_buffer_destroy(s.firsts);
    return status;
}

qn_status qn_kernels_spmv(qn_kernels *kernels, qn_stream *stream, const qn_spmv_desc *desc) {
    qn_spmv_desc d, packed;
    qn_status status = check(kernels, stream, desc, &d);
    if (status || qn_array_count(&d.y) == 0) return status;
    packed = d;
    const qn_array *const arrays[] = {&d.starts, &d.columns, &d.values, &d.x, &d.y};
    qn_array *const to[] = {&packed.starts, &packed.columns, &packed.values, &packed.x, &packed.y};
    qn__packed copies[5] = {{.copy = NULL}};
    for (int i = 0; i < 5 && !status; i++) {
        status = qn__packed_open(kernels, stream, arrays[i], &copies[i]);
        *to[i] = copies[i].array;
    }
    if (!status) status = run_packed(kernels, stream, &packed);
    for (int i = 0; i < 5; i++)
        status = qn__packed_close(kernels, stream, i == 4 ? &d.y : NULL, &copies[i], status);
    return status;
}
