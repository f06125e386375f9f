/* Sets of examples out of arrays in host memory, and out of the columns of tables. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "data/data.h"

static qn_status need(qn_context *context, const void *array, const void *dataset, const char *function) {
    return array && dataset ? QN_OK
                            : qn__data_fail(context, QN_ERROR_NULL, "%s: %s is NULL", function,
                                            array ? "dataset" : "there are no arrays, or one");
}

static const char *name_of(const qn_host_array *array) { return array->name ? array->name : ""; }

/* ---- arrays ---- */

typedef struct arrays {
    qn_context *context;
    uint32_t count;
    struct {
        qn_host_array example; /* the first one: what others are like */
        uint64_t stride;       /* bytes from one to the next */
    } of[QN_MAX_FIELDS];
} arrays;

static qn_status get_of_arrays(void *user, uint64_t index, void *const *to) {
    const arrays *a = user;
    for (uint32_t i = 0; i < a->count; i++) {
        qn_host_array example = a->of[i].example;
        example.data = (const char *)example.data + index * a->of[i].stride;
        const qn_status status = qn_host_array_copy(&example, to[i], example.bytes);
        if (status)
            return qn__data_fail(a->context, status, "qn_dataset_get: '%.100s' cannot be copied",
                                 name_of(&example));
    }
    return QN_OK;
}

static void release_arrays(void *user) { qn__data_release(((arrays *)user)->context, user); }

static qn_status check_array(qn_context *context, const qn_host_array *array, uint64_t examples) {
    static const char function[] = "qn_dataset_from_arrays";
    const char *name = name_of(array);
    qn_element type;
    if (!array->rank || array->rank > QN_MAX_RANK)
        return qn__data_fail(context, QN_ERROR_ARGUMENT, "%s: '%.100s' has no dimension for examples",
                             function, name);
    if ((unsigned)array->encoding >= QN_ENCODING_COUNT || !qn_encoding_element(array->encoding, &type))
        return qn__data_fail(context, QN_ERROR_ARGUMENT, "%s: '%.100s' is of an encoding that tensors lack",
                             function, name);
    if (array->sizes[0] != examples)
        return qn__data_fail(context, QN_ERROR_ARGUMENT,
                             "%s: '%.100s' has %llu examples, the first array %llu", function, name,
                             (unsigned long long)array->sizes[0], (unsigned long long)examples);
    const uint64_t count = qn_host_array_count(array);
    if (count > ((uint64_t)1 << 58) || count * qn_element_size(type) != array->bytes)
        return qn__data_fail(context, QN_ERROR_ARGUMENT,
                             "%s: '%.100s' has %llu bytes, which are not those of its sizes", function, name,
                             (unsigned long long)array->bytes);
    return array->data || !array->bytes
               ? QN_OK
               : qn__data_fail(context, QN_ERROR_NULL,
                               "%s: '%.100s' has no data; qn_archive_data gets an archive's", function, name);
}

/* An example of the array as an array of its own. */
static void take_array(const qn_host_array *array, qn_field *field, qn_host_array *example,
                       uint64_t *stride) {
    bool strided = false;
    uint64_t elements = 1;
    for (uint32_t d = 0; d < array->rank; d++) strided = strided || array->strides[d];
    *example = *array;
    example->rank = array->rank - 1;
    qn_encoding_element(array->encoding, &field->type);
    field->shape = (qn_shape){.rank = example->rank};
    for (uint32_t d = 0; d < example->rank; d++) {
        example->sizes[d] = field->shape.sizes[d] = array->sizes[d + 1];
        example->strides[d] = array->strides[d + 1];
        elements *= example->sizes[d];
    }
    const uint64_t size = qn_element_size(field->type);
    example->bytes = elements * size;
    *stride = strided ? (uint64_t)array->strides[0] * size : example->bytes;
}

qn_status qn_dataset_from_arrays(qn_context *context, const qn_host_array *from, uint32_t count,
                                 qn_dataset **dataset) {
    qn_status status = need(context, count ? from : NULL, dataset, "qn_dataset_from_arrays");
    if (!status && count > QN_MAX_FIELDS)
        status = qn__data_fail(context, QN_ERROR_ARGUMENT, "qn_dataset_from_arrays: %u arrays; at most %u",
                               (unsigned)count, (unsigned)QN_MAX_FIELDS);
    for (uint32_t i = 0; i < count && !status; i++) status = check_array(context, &from[i], from[0].sizes[0]);
    if (status) return status;
    arrays *a = qn__data_allocate(context, sizeof *a);
    if (!a) return QN_ERROR_OUT_OF_MEMORY;
    a->context = context;
    a->count = count;
    qn_dataset_desc desc = {.count = from[0].sizes[0],
                            .num_fields = count,
                            .get = get_of_arrays,
                            .user = a,
                            .release = release_arrays};
    for (uint32_t i = 0; i < count; i++)
        take_array(&from[i], &desc.fields[i], &a->of[i].example, &a->of[i].stride);
    status = qn_dataset_create(context, &desc, dataset);
    if (status) release_arrays(a);
    return status;
}

/* ---- tables ---- */

typedef struct table {
    qn_context *context;
    const double *rows;
    uint64_t columns;
    uint32_t count;
    struct {
        uint64_t column, elements;
        qn_element type;
    } fields[QN_MAX_FIELDS];
} table;

/* Types that columns become, and the whole numbers that each has. */
static const struct {
    qn_element type;
    double least, most;
} whole_types[] = {{QN_I32, -2147483648.0, 2147483647.0},
                   {QN_I64, -9007199254740992.0, 9007199254740992.0},
                   {QN_U8, 0, 255}};

static bool is_column_type(qn_element type) {
    bool found = type == QN_F32 || type == QN_F64;
    for (size_t i = 0; i < sizeof whole_types / sizeof *whole_types; i++)
        found = found || whole_types[i].type == type;
    return found;
}

static bool fits(qn_element type, double number) {
    for (size_t i = 0; i < sizeof whole_types / sizeof *whole_types; i++)
        if (whole_types[i].type == type)
            return number >= whole_types[i].least && number <= whole_types[i].most && floor(number) == number;
    return true;
}

static void store(qn_element type, double number, void *to, uint64_t at) {
    switch (type) {
    case QN_F32: ((float *)to)[at] = (float)number; break;
    case QN_I32: ((int32_t *)to)[at] = (int32_t)number; break;
    case QN_I64: ((int64_t *)to)[at] = (int64_t)number; break;
    case QN_U8: ((uint8_t *)to)[at] = (uint8_t)number; break;
    default: ((double *)to)[at] = number;
    }
}

static qn_status get_of_table(void *user, uint64_t index, void *const *to) {
    const table *t = user;
    for (uint32_t f = 0; f < t->count; f++) {
        const double *row = t->rows + index * t->columns + t->fields[f].column;
        const qn_element type = t->fields[f].type;
        for (uint64_t i = 0; i < t->fields[f].elements; i++) {
            if (!fits(type, row[i]))
                return qn__data_fail(t->context, QN_ERROR_ARGUMENT,
                                     "qn_dataset_get: row %llu, column %llu: %g is no %s",
                                     (unsigned long long)index, (unsigned long long)(t->fields[f].column + i),
                                     row[i], qn_element_name(type));
            store(type, row[i], to[f], i);
        }
    }
    return QN_OK;
}

static void release_table(void *user) { qn__data_release(((table *)user)->context, user); }

static qn_status check_table(qn_context *context, const qn_host_array *from) {
    bool strided = false;
    for (uint32_t d = 0; d < from->rank && d < QN_MAX_RANK; d++) strided = strided || from->strides[d];
    if (from->encoding != QN_ENCODING_F64 || from->rank != 2 || strided ||
        qn_host_array_count(from) != from->bytes / sizeof(double))
        return qn__data_fail(context, QN_ERROR_ARGUMENT,
                             "qn_dataset_from_table: '%.100s' is no table of f64, rows by columns",
                             name_of(from));
    return from->data || !from->bytes
               ? QN_OK
               : qn__data_fail(
                     context, QN_ERROR_NULL,
                     "qn_dataset_from_table: '%.100s' has no data; qn_archive_data gets an archive's",
                     name_of(from));
}

static qn_status take_field(table *t, const qn_table_field *from, uint32_t index) {
    uint64_t elements = 1;
    for (uint32_t d = 0; d < from->field.shape.rank && d < QN_MAX_RANK; d++) {
        const uint64_t size = from->field.shape.sizes[d];
        elements = size && elements > t->columns / size ? t->columns + 1 : elements * size;
    }
    if (!is_column_type(from->field.type))
        return qn__data_fail(t->context, QN_ERROR_ARGUMENT,
                             "qn_dataset_from_table: field %u is of a type that columns do not become",
                             (unsigned)index);
    if (from->column > t->columns || elements > t->columns - from->column)
        return qn__data_fail(t->context, QN_ERROR_RANGE,
                             "qn_dataset_from_table: field %u goes beyond the table's %llu columns",
                             (unsigned)index, (unsigned long long)t->columns);
    t->fields[index].column = from->column;
    t->fields[index].elements = elements;
    t->fields[index].type = from->field.type;
    return QN_OK;
}

qn_status qn_dataset_from_table(qn_context *context, const qn_host_array *from, const qn_table_field *fields,
                                uint32_t num_fields, qn_dataset **dataset) {
    qn_status status = need(context, num_fields && fields ? from : NULL, dataset, "qn_dataset_from_table");
    if (!status) status = check_table(context, from);
    if (!status && num_fields > QN_MAX_FIELDS)
        status = qn__data_fail(context, QN_ERROR_ARGUMENT, "qn_dataset_from_table: %u fields; at most %u",
                               (unsigned)num_fields, (unsigned)QN_MAX_FIELDS);
    if (status) return status;
    table *t = qn__data_allocate(context, sizeof *t);
    if (!t) return QN_ERROR_OUT_OF_MEMORY;
    *t = (table){.context = context, .rows = from->data, .columns = from->sizes[1], .count = num_fields};
    qn_dataset_desc desc = {.count = from->sizes[0],
                            .num_fields = num_fields,
                            .get = get_of_table,
                            .user = t,
                            .release = release_table};
    for (uint32_t i = 0; i < num_fields && !status; i++) {
        desc.fields[i] = fields[i].field;
        status = take_field(t, &fields[i], i);
    }
    if (!status) status = qn_dataset_create(context, &desc, dataset);
    if (status) release_table(t);
    return status;
}
