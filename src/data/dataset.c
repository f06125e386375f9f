/* Sets of examples: a table of fields and a function that writes an example, counted; parts of other sets. */
#include "data/data.h"

#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

struct qn_dataset {
    qn_context *context;
    atomic_uint refs;
    qn_dataset_desc desc;
};

/* ---- what the room shares ---- */

qn_status qn__data_fail(qn_context *context, qn_status status, const char *format, ...) {
    char text[512];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    return qn_error_set(context, status, text);
}

void *qn__data_allocate(qn_context *context, uint64_t size) {
    qn_allocator a;
    if (qn_context_get_allocator(context, &a)) return NULL;
    void *memory = size < SIZE_MAX ? a.allocate(a.user, (size_t)size + 1) : NULL;
    if (memory)
        memset(memory, 0, (size_t)size);
    else
        qn__data_fail(context, QN_ERROR_OUT_OF_MEMORY, "out of memory: %llu bytes for data",
                      (unsigned long long)size);
    return memory;
}

void qn__data_release(qn_context *context, void *memory) {
    qn_allocator a;
    if (memory && !qn_context_get_allocator(context, &a)) a.release(a.user, memory);
}

uint64_t qn__data_random(uint64_t *state) {
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

void qn__data_shuffle(uint64_t *order, uint64_t count, uint64_t seed) {
    for (uint64_t i = 0; i < count; i++) order[i] = i;
    for (uint64_t i = count; i > 1; i--) {
        const uint64_t j = qn__data_random(&seed) % i, kept = order[i - 1];
        order[i - 1] = order[j];
        order[j] = kept;
    }
}

uint64_t qn__field_bytes(const qn_field *field) {
    uint64_t bytes = qn_element_size(field->type);
    for (uint32_t d = 0; d < field->shape.rank; d++) bytes *= field->shape.sizes[d];
    return bytes;
}

qn_context *qn__dataset_context(const qn_dataset *dataset) { return dataset->context; }

qn_dataset *qn__dataset_retain(qn_dataset *dataset) {
    atomic_fetch_add(&dataset->refs, 1);
    return dataset;
}

/* ---- making ---- */

/* An example has fewer than 2^40 bytes, so that a batch's can be counted. */
static qn_status check_field(qn_context *context, const qn_field *field, uint32_t index) {
    if ((unsigned)field->type >= QN_ELEMENT_COUNT)
        return qn__data_fail(context, QN_ERROR_ARGUMENT, "qn_dataset_create: field %u is of no qn_element",
                             (unsigned)index);
    if (field->shape.rank >= QN_MAX_RANK)
        return qn__data_fail(context, QN_ERROR_ARGUMENT,
                             "qn_dataset_create: field %u has %u dimensions; at most %u", (unsigned)index,
                             (unsigned)field->shape.rank, (unsigned)QN_MAX_RANK - 1);
    uint64_t count = 1;
    for (uint32_t d = 0; d < field->shape.rank; d++) {
        const uint64_t size = field->shape.sizes[d];
        if (!size || size > ((uint64_t)1 << 36) / count)
            return qn__data_fail(context, QN_ERROR_ARGUMENT,
                                 "qn_dataset_create: field %u has %s elements an example", (unsigned)index,
                                 size ? "over 2^36" : "no");
        count *= size;
    }
    return QN_OK;
}

static qn_status check_desc(qn_context *context, const qn_dataset_desc *desc) {
    if (!desc->num_fields || desc->num_fields > QN_MAX_FIELDS)
        return qn__data_fail(context, QN_ERROR_ARGUMENT, "qn_dataset_create: %u fields; 1 to %u are possible",
                             (unsigned)desc->num_fields, (unsigned)QN_MAX_FIELDS);
    if (!desc->get) return qn__data_fail(context, QN_ERROR_NULL, "qn_dataset_create: get is NULL");
    qn_status status = QN_OK;
    for (uint32_t i = 0; i < desc->num_fields && !status; i++)
        status = check_field(context, &desc->fields[i], i);
    return status;
}

qn_status qn_dataset_create(qn_context *context, const qn_dataset_desc *desc, qn_dataset **dataset) {
    if (!desc || !dataset)
        return qn__data_fail(context, QN_ERROR_NULL, "qn_dataset_create: %s is NULL",
                             desc ? "dataset" : "desc");
    const qn_status status = check_desc(context, desc);
    if (status) return status;
    qn_dataset *d = qn__data_allocate(context, sizeof *d);
    if (!d) return QN_ERROR_OUT_OF_MEMORY;
    d->context = context;
    d->desc = *desc;
    atomic_init(&d->refs, 1);
    *dataset = d;
    return QN_OK;
}

void qn_dataset_destroy(qn_dataset *dataset) {
    if (!dataset || atomic_fetch_sub(&dataset->refs, 1) > 1) return;
    if (dataset->desc.release) dataset->desc.release(dataset->desc.user);
    qn__data_release(dataset->context, dataset);
}

uint64_t qn_dataset_count(const qn_dataset *dataset) { return dataset ? dataset->desc.count : 0; }
uint32_t qn_dataset_num_fields(const qn_dataset *dataset) { return dataset ? dataset->desc.num_fields : 0; }

qn_field qn_dataset_field(const qn_dataset *dataset, uint32_t index) {
    return index < qn_dataset_num_fields(dataset) ? dataset->desc.fields[index] : (qn_field){QN_F32, {0}};
}

qn_status qn_dataset_get(qn_dataset *dataset, uint64_t index, void *const *to) {
    if (!dataset || !to)
        return qn__data_fail(dataset ? dataset->context : NULL, QN_ERROR_NULL, "qn_dataset_get: %s is NULL",
                             dataset ? "to" : "dataset");
    if (index >= dataset->desc.count)
        return qn__data_fail(dataset->context, QN_ERROR_RANGE,
                             "qn_dataset_get: there is no example %llu: the set has %llu",
                             (unsigned long long)index, (unsigned long long)dataset->desc.count);
    return dataset->desc.get(dataset->desc.user, index, to);
}

/* ---- parts ---- */

typedef struct part {
    qn_dataset *whole;
    uint64_t indices[];
} part;

static qn_status get_of_part(void *user, uint64_t index, void *const *to) {
    const part *p = user;
    return p->whole->desc.get(p->whole->desc.user, p->indices[index], to);
}

void *qn__dataset_user(const qn_dataset *dataset, qn_example_callback *get) {
    while (dataset->desc.get == get_of_part) dataset = ((const part *)dataset->desc.user)->whole;
    return dataset->desc.get == get ? dataset->desc.user : NULL;
}

static void release_part(void *user) {
    part *p = user;
    qn_context *context = p->whole->context;
    qn_dataset_destroy(p->whole);
    qn__data_release(context, p);
}

qn_status qn_dataset_part(qn_dataset *dataset, const uint64_t *indices, uint64_t count, qn_dataset **out) {
    if (!dataset || (count && !indices) || !out)
        return qn__data_fail(dataset ? dataset->context : NULL, QN_ERROR_NULL, "qn_dataset_part: %s is NULL",
                             !dataset ? "dataset"
                             : out    ? "indices"
                                      : "part");
    for (uint64_t i = 0; i < count; i++)
        if (indices[i] >= dataset->desc.count)
            return qn__data_fail(dataset->context, QN_ERROR_RANGE,
                                 "qn_dataset_part: there is no example %llu: the set has %llu",
                                 (unsigned long long)indices[i], (unsigned long long)dataset->desc.count);
    if (count > (SIZE_MAX - sizeof(part)) / sizeof *indices) return QN_ERROR_OUT_OF_MEMORY;
    part *p = qn__data_allocate(dataset->context, sizeof *p + count * sizeof *indices);
    if (!p) return QN_ERROR_OUT_OF_MEMORY;
    p->whole = qn__dataset_retain(dataset);
    if (count) memcpy(p->indices, indices, (size_t)count * sizeof *indices);
    qn_dataset_desc desc = dataset->desc;
    desc.count = count;
    desc.get = get_of_part;
    desc.user = p;
    desc.release = release_part;
    const qn_status status = qn_dataset_create(dataset->context, &desc, out);
    if (status) release_part(p);
    return status;
}

qn_status qn_dataset_split(qn_dataset *dataset, uint64_t count, uint64_t seed, qn_dataset **first,
                           qn_dataset **others) {
    if (!dataset || !first || !others)
        return qn__data_fail(dataset ? dataset->context : NULL, QN_ERROR_NULL, "qn_dataset_split: %s is NULL",
                             !dataset ? "dataset"
                             : first  ? "others"
                                      : "first");
    const uint64_t all = dataset->desc.count;
    if (count > all)
        return qn__data_fail(dataset->context, QN_ERROR_RANGE,
                             "qn_dataset_split: a part of %llu examples of a set of %llu",
                             (unsigned long long)count, (unsigned long long)all);
    uint64_t *order =
        all < SIZE_MAX / sizeof *order ? qn__data_allocate(dataset->context, all * sizeof *order) : NULL;
    if (!order) return QN_ERROR_OUT_OF_MEMORY;
    qn__data_shuffle(order, all, seed);
    qn_status status = qn_dataset_part(dataset, order, count, first);
    if (!status) {
        status = qn_dataset_part(dataset, order + count, all - count, others);
        if (status) qn_dataset_destroy(*first);
    }
    qn__data_release(dataset->context, order);
    return status;
}
