/* safetensors: 8 bytes with the length of a header in JSON, the header, then the arrays' bytes, which follow each other without
   gaps. https://github.com/huggingface/safetensors, its README, "Format". */
#include <string.h>

#include "tensor/files/archive.h"
#include "tensor/files/encoding.h"
#include "tensor/files/json.h"

enum { LONGEST_HEADER = 100000000 }; /* as of the format's own library */

/* An array as its header has it. */
typedef struct description {
    const char *name;
    qn_encoding encoding;
    const char *unknown; /* a dtype that is none of the table's */
    uint32_t rank;       /* all of them, also those that sizes has no room for */
    uint64_t sizes[QN_MAX_RANK];
    uint64_t begin, end;
    bool has_dtype, has_shape, has_offsets;
} description;

static bool read_dtype(qn__json *j, description *d) {
    const char *dtype;
    if (!qn__json_text(j, &dtype)) return false;
    d->has_dtype = true;
    d->unknown = qn__encoding_by_safetensors(dtype, strlen(dtype), &d->encoding) ? NULL : dtype;
    return true;
}

static bool read_shape(qn__json *j, description *d) {
    if (!qn__json_expect(j, '[')) return false;
    d->has_shape = true;
    if (qn__json_next_is(j, ']')) return true;
    do {
        uint64_t size;
        if (!qn__json_number(j, &size)) return false;
        if (d->rank < QN_MAX_RANK) d->sizes[d->rank] = size;
        if (d->rank < UINT32_MAX) d->rank++;
    } while (qn__json_next_is(j, ','));
    return qn__json_expect(j, ']');
}

static bool read_offsets(qn__json *j, description *d) {
    d->has_offsets = true;
    return qn__json_expect(j, '[') && qn__json_number(j, &d->begin) && qn__json_expect(j, ',') &&
           qn__json_number(j, &d->end) && qn__json_expect(j, ']');
}

static bool read_field(qn__json *j, description *d) {
    const char *key;
    if (!qn__json_text(j, &key) || !qn__json_expect(j, ':')) return false;
    const bool is_dtype = strcmp(key, "dtype") == 0, is_shape = strcmp(key, "shape") == 0,
               are_offsets = strcmp(key, "data_offsets") == 0;
    if ((is_dtype && d->has_dtype) || (is_shape && d->has_shape) || (are_offsets && d->has_offsets))
        return qn__json_wrong(j, "an array has this field twice");
    if (is_dtype) return read_dtype(j, d);
    if (is_shape) return read_shape(j, d);
    return are_offsets ? read_offsets(j, d) : qn__json_skip(j);
}

static bool read_description(qn__json *j, description *d) {
    if (!qn__json_expect(j, '{')) return false;
    if (qn__json_next_is(j, '}')) return true;
    do
        if (!read_field(j, d)) return false;
    while (qn__json_next_is(j, ','));
    return qn__json_expect(j, '}');
}

/* What the header says fits together, and to the bytes behind it. */
static qn_status add_array(qn_archive *a, const description *d, const uint8_t *data, uint64_t size) {
    const qn__quote name = qn__quote_of(d->name, strlen(d->name));
    if (!d->has_dtype || !d->has_shape || !d->has_offsets)
        return qn__archive_fail(a, QN_ERROR_ARGUMENT, "%s has no '%s'", name.text,
                                !d->has_dtype   ? "dtype"
                                : !d->has_shape ? "shape"
                                                : "data_offsets");
    if (d->unknown)
        return qn__archive_fail(a, QN_ERROR_UNSUPPORTED, "%s is of type %s, which is not known", name.text,
                                qn__quote_of(d->unknown, strlen(d->unknown)).text);
    if (d->rank > QN_MAX_RANK)
        return qn__archive_fail(a, QN_ERROR_UNSUPPORTED, "%s has %u dimensions; at most %u are possible",
                                name.text, (unsigned)d->rank, (unsigned)QN_MAX_RANK);
    if (d->begin > d->end || d->end > size)
        return qn__archive_fail(a, QN_ERROR_ARGUMENT,
                                "%s is said to lie from byte %llu to %llu of the data, which are %llu bytes",
                                name.text, (unsigned long long)d->begin, (unsigned long long)d->end,
                                (unsigned long long)size);
    qn__entry *e = qn__archive_add(a);
    if (!e) return QN_ERROR_OUT_OF_MEMORY;
    e->array = (qn_host_array){.name = d->name, .encoding = d->encoding, .rank = d->rank};
    memcpy(e->array.sizes, d->sizes, sizeof d->sizes);
    const qn_status status = qn__host_array_measure(a, &e->array, name.text);
    if (status) return status;
    if (e->array.bytes != d->end - d->begin)
        return qn__archive_fail(a, QN_ERROR_ARGUMENT,
                                "%s takes %llu bytes by its type and shape, but has %llu", name.text,
                                (unsigned long long)e->array.bytes, (unsigned long long)(d->end - d->begin));
    e->at = data + d->begin;
    e->packed = e->whole = e->array.bytes;
    return QN_OK;
}

/* "__metadata__": keys and values are texts. */
static bool read_metadata(qn__json *j) {
    if (!qn__json_expect(j, '{')) return false;
    if (qn__json_next_is(j, '}')) return true;
    do {
        const char *key, *value;
        if (!qn__json_text(j, &key)) return false;
        if (!qn__json_expect(j, ':') || !qn__json_text(j, &value)) return false;
        qn_metadata *m = qn__archive_add_metadata(j->archive);
        qn_text *text = m ? qn__archive_keep(j->archive, sizeof *text) : NULL;
        if (!text) {
            j->is_out_of_memory = true;
            return qn__json_wrong(j, "memory is exhausted");
        }
        *text = (qn_text){value, strlen(value)};
        m->key = key;
        m->values.texts = text;
    } while (qn__json_next_is(j, ','));
    return qn__json_expect(j, '}');
}

/* One key of the header and what belongs to it. */
static qn_status read_entry(qn__json *j, const uint8_t *data, uint64_t size, bool *had_metadata) {
    description d = {0};
    if (!qn__json_text(j, &d.name) || !qn__json_expect(j, ':')) return QN_OK;
    if (strcmp(d.name, "__metadata__") == 0) {
        if (*had_metadata) qn__json_wrong(j, "there is metadata twice");
        *had_metadata = true;
        read_metadata(j);
        return QN_OK;
    }
    return read_description(j, &d) ? add_array(j->archive, &d, data, size) : QN_OK;
}

static qn_status read_header(qn__json *j, const uint8_t *data, uint64_t size) {
    bool had_metadata = false;
    if (j->at == j->end || *j->at != '{') {
        qn__json_wrong(j, "an object, '{', was expected"); /* without blanks before it */
    } else if (qn__json_expect(j, '{') && !qn__json_next_is(j, '}')) {
        do {
            const qn_status status = read_entry(j, data, size, &had_metadata);
            if (status) return status;
        } while (qn__json_next_is(j, ','));
        qn__json_expect(j, '}');
    }
    qn__json_end(j);
    if (j->is_out_of_memory) return QN_ERROR_OUT_OF_MEMORY;
    if (!j->problem) return QN_OK;
    return qn__archive_fail(j->archive, QN_ERROR_ARGUMENT, "byte %llu of the header: %s",
                            (unsigned long long)(j->at - j->begin), j->problem);
}

/* By where they lie; those without bytes come before what begins there. */
static bool lies_before(const void *items, uint64_t a, uint64_t b) {
    const qn__entry *entries = items;
    if (entries[a].at != entries[b].at) return entries[a].at < entries[b].at;
    return entries[a].packed != entries[b].packed ? entries[a].packed < entries[b].packed : a < b;
}

/* All bytes belong to an array, and to one only. */
static qn_status check_places(qn_archive *a, const uint8_t *data, uint64_t size) {
    uint64_t *index = qn__archive_allocate(a, (a->count ? a->count : 1) * sizeof *index);
    if (!index) return QN_ERROR_OUT_OF_MEMORY;
    for (uint64_t i = 0; i < a->count; i++) index[i] = i;
    qn__sort(index, a->count, lies_before, a->entries);
    uint64_t end = 0;
    qn_status status = QN_OK;
    for (uint64_t i = 0; i < a->count && !status; i++) {
        const qn__entry *e = &a->entries[index[i]];
        const uint64_t begin = (uint64_t)(e->at - data);
        if (begin < end)
            status = qn__archive_fail(
                a, QN_ERROR_ARGUMENT, "%s overlaps the array before it, which ends at byte %llu",
                qn__quote_of(e->array.name, strlen(e->array.name)).text, (unsigned long long)end);
        else if (begin > end)
            status =
                qn__archive_fail(a, QN_ERROR_ARGUMENT, "bytes %llu to %llu of the data belong to no array",
                                 (unsigned long long)end, (unsigned long long)begin);
        end = begin + e->packed;
    }
    qn__archive_release(a, index);
    if (!status && end < size)
        status = qn__archive_fail(a, QN_ERROR_ARGUMENT, "bytes %llu to %llu of the data belong to no array",
                                  (unsigned long long)end, (unsigned long long)size);
    return status;
}

qn_status qn__read_safetensors(qn_archive *a) {
    if (a->size < 8)
        return qn__archive_fail(
            a, QN_ERROR_ARGUMENT,
            "it is %llu bytes long, but a safetensors file begins with 8 bytes that hold the "
            "length of its header",
            (unsigned long long)a->size);
    const uint64_t length = qn__get64(a->bytes);
    if (length > LONGEST_HEADER || length > a->size - 8)
        return qn__archive_fail(a, QN_ERROR_ARGUMENT,
                                "its header is said to be %llu bytes long; %llu follow, and %d are the most",
                                (unsigned long long)length, (unsigned long long)(a->size - 8),
                                (int)LONGEST_HEADER);
    const uint8_t *data = a->bytes + 8 + length;
    const uint64_t size = a->size - 8 - length;
    qn__json j = {.archive = a, .begin = a->bytes + 8, .at = a->bytes + 8, .end = data};
    const qn_status status = read_header(&j, data, size);
    return status ? status : check_places(a, data, size);
}
