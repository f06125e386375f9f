/* GGUF, versions 2 and 3 (ggml's docs/gguf.md): counts, metadata of typed values, descriptions of arrays, and from an aligned
   place on their bytes. All little-endian; a dimension's number counts from the innermost. */
#include <string.h>

#include "tensor/files/archive.h"
#include "tensor/files/encoding.h"

enum { DEEPEST = 8, USUAL_ALIGNMENT = 32, LONGEST_KEY = 65535 };
enum { TYPE_TEXT = 8, TYPE_LIST = 9 };

/* The types of metadata, by their numbers. */
static const struct value_type {
    uint32_t size; /* in the file, at least */
    qn_metadata_kind kind;
} types[] = {{1, QN_METADATA_UNSIGNED}, {1, QN_METADATA_INTEGER},  {2, QN_METADATA_UNSIGNED},
             {2, QN_METADATA_INTEGER},  {4, QN_METADATA_UNSIGNED}, {4, QN_METADATA_INTEGER},
             {4, QN_METADATA_FLOAT},    {1, QN_METADATA_BOOL},     {8, QN_METADATA_TEXT},
             {12, QN_METADATA_LIST},    {8, QN_METADATA_UNSIGNED}, {8, QN_METADATA_INTEGER},
             {8, QN_METADATA_FLOAT}};
enum { TYPES = sizeof types / sizeof *types };

typedef struct reader {
    qn_archive *archive;
    const uint8_t *at, *end;
} reader;

static qn_status cut_off(const reader *r, const char *what) {
    return qn__archive_fail(r->archive, QN_ERROR_ARGUMENT, "it ends within %s", what);
}

static bool has(const reader *r, uint64_t size) { return (uint64_t)(r->end - r->at) >= size; }

static uint64_t take(reader *r, uint32_t size) {
    const uint64_t value = size == 1   ? *r->at
                           : size == 2 ? qn__get16(r->at)
                           : size == 4 ? qn__get32(r->at)
                                       : qn__get64(r->at);
    r->at += size;
    return value;
}

static bool read_bytes(reader *r, const uint8_t **text, uint64_t *size) {
    if (!has(r, 8)) return false;
    *size = take(r, 8);
    if (!has(r, *size)) return false;
    *text = r->at;
    r->at += *size;
    return true;
}

/* A key or a name. */
static qn_status read_name(reader *r, const char *what, const char **name) {
    const uint8_t *text;
    uint64_t size;
    if (!read_bytes(r, &text, &size)) return cut_off(r, what);
    if (!size || size > LONGEST_KEY || !qn__is_name(text, size))
        return qn__archive_fail(r->archive, QN_ERROR_ARGUMENT, "%s is empty, too long or no UTF-8: %s", what,
                                qn__quote_of(text, size).text);
    *name = qn__archive_keep_text(r->archive, text, size);
    return *name ? QN_OK : QN_ERROR_OUT_OF_MEMORY;
}

static qn_status read_texts(reader *r, qn_metadata *m) {
    qn_text *texts = qn__archive_keep_array(r->archive, m->count, sizeof *texts);
    if (!texts) return QN_ERROR_OUT_OF_MEMORY;
    for (uint64_t i = 0; i < m->count; i++) {
        const uint8_t *text;
        if (!read_bytes(r, &text, &texts[i].size)) return cut_off(r, "metadata");
        texts[i].text = qn__archive_keep_text(r->archive, text, texts[i].size);
        if (!texts[i].text) return QN_ERROR_OUT_OF_MEMORY;
    }
    m->values.texts = texts;
    return QN_OK;
}

static double float_of(uint64_t bits, uint32_t size) {
    const uint32_t low = (uint32_t)bits;
    float single;
    double value;
    memcpy(&single, &low, sizeof single);
    memcpy(&value, &bits, sizeof value);
    return size == 4 ? (double)single : value;
}

/* A signed number of fewer bits. */
static int64_t extend(uint64_t bits, uint32_t size) {
    const uint64_t sign = 1ull << (8 * size - 1);
    const uint64_t wide = (bits ^ sign) - sign;
    int64_t value;
    memcpy(&value, &wide, sizeof value);
    return value;
}

static qn_status read_numbers(reader *r, qn_metadata *m, uint32_t size) {
    void *values =
        qn__archive_keep_array(r->archive, m->count, m->kind == QN_METADATA_BOOL ? sizeof(bool) : 8);
    if (!values) return QN_ERROR_OUT_OF_MEMORY;
    for (uint64_t i = 0; i < m->count; i++) {
        const uint64_t bits = take(r, size);
        switch (m->kind) {
        case QN_METADATA_BOOL: ((bool *)values)[i] = bits != 0; break;
        case QN_METADATA_INTEGER: ((int64_t *)values)[i] = extend(bits, size); break;
        case QN_METADATA_UNSIGNED: ((uint64_t *)values)[i] = bits; break;
        default: ((double *)values)[i] = float_of(bits, size); break;
        }
    }
    m->values.numbers = values;
    return QN_OK;
}

static qn_status read_values(reader *r, qn_metadata *m, uint32_t type, int depth);

static qn_status read_list(reader *r, qn_metadata *m, int depth) {
    if (!has(r, 12)) return cut_off(r, "metadata");
    const uint32_t type = (uint32_t)take(r, 4);
    m->is_list = true;
    m->count = take(r, 8);
    return read_values(r, m, type, depth + 1);
}

/* m->count values of a type. */
static qn_status read_values(reader *r, qn_metadata *m, uint32_t type, int depth) {
    if (type >= TYPES)
        return qn__archive_fail(r->archive, QN_ERROR_ARGUMENT, "the metadata %s is of type %u, which is none",
                                qn__quote_of(m->key, strlen(m->key)).text, (unsigned)type);
    if (depth > DEEPEST)
        return qn__archive_fail(r->archive, QN_ERROR_UNSUPPORTED,
                                "the lists of the metadata %s are nested more than %d deep",
                                qn__quote_of(m->key, strlen(m->key)).text, (int)DEEPEST);
    if (m->count > (uint64_t)(r->end - r->at) / types[type].size) return cut_off(r, "metadata");
    m->kind = types[type].kind;
    if (type == TYPE_TEXT) return read_texts(r, m);
    if (type != TYPE_LIST) return read_numbers(r, m, types[type].size);
    qn_metadata *lists = qn__archive_keep_array(r->archive, m->count, sizeof *lists);
    if (!lists) return QN_ERROR_OUT_OF_MEMORY;
    m->values.lists = lists;
    for (uint64_t i = 0; i < m->count; i++) {
        lists[i].key = m->key;
        const qn_status status = read_list(r, &lists[i], depth);
        if (status) return status;
    }
    return QN_OK;
}

static qn_status read_metadata(reader *r) {
    qn_metadata m = {.count = 1};
    qn_status status = read_name(r, "a key of the metadata", &m.key);
    if (status) return status;
    if (!has(r, 4)) return cut_off(r, "metadata");
    const uint32_t type = (uint32_t)take(r, 4);
    status = type == TYPE_LIST ? read_list(r, &m, 0) : read_values(r, &m, type, 0);
    if (status) return status;
    qn_metadata *place = qn__archive_add_metadata(r->archive);
    if (!place) return QN_ERROR_OUT_OF_MEMORY;
    *place = m;
    return QN_OK;
}

/* The description of an array. Its place is kept in `skip` until it is known where the arrays begin. */
static qn_status read_description(reader *r) {
    qn_archive *a = r->archive;
    qn__entry *e = qn__archive_add(a);
    if (!e) return QN_ERROR_OUT_OF_MEMORY;
    qn_host_array *array = &e->array;
    const qn_status status = read_name(r, "the name of an array", &array->name);
    if (status) return status;
    const qn__quote name = qn__quote_of(array->name, strlen(array->name));
    if (!has(r, 4)) return cut_off(r, "the description of an array");
    array->rank = (uint32_t)take(r, 4);
    if (array->rank > QN_MAX_RANK)
        return qn__archive_fail(a, QN_ERROR_UNSUPPORTED, "%s has %u dimensions; at most %u are possible",
                                name.text, (unsigned)array->rank, (unsigned)QN_MAX_RANK);
    if (!has(r, 8 * (uint64_t)array->rank + 12)) return cut_off(r, "the description of an array");
    for (uint32_t i = array->rank; i-- > 0;) array->sizes[i] = take(r, 8);
    const uint32_t type = (uint32_t)take(r, 4);
    e->skip = take(r, 8);
    if (!qn__encoding_by_gguf(type, &array->encoding))
        return qn__archive_fail(a, QN_ERROR_UNSUPPORTED, "%s is of ggml's type %u, which is not known",
                                name.text, (unsigned)type);
    const qn__encoding_info *info = qn__encoding(array->encoding);
    if (info->elements > 1 && (!array->rank || array->sizes[array->rank - 1] % info->elements))
        return qn__archive_fail(
            a, QN_ERROR_ARGUMENT, "%s has rows of %llu elements, which are no whole blocks of %u", name.text,
            (unsigned long long)(array->rank ? array->sizes[array->rank - 1] : 1), (unsigned)info->elements);
    return qn__host_array_measure(a, array, name.text);
}

/* Where arrays have to begin, from what the metadata says. */
static qn_status find_alignment(const qn_archive *a, uint64_t *alignment) {
    *alignment = USUAL_ALIGNMENT;
    const qn_metadata *m = NULL;
    for (uint64_t i = 0; i < a->metadata_count && !m; i++)
        if (strcmp(a->metadata[i].key, "general.alignment") == 0) m = &a->metadata[i];
    if (!m) return QN_OK;
    const bool is_number = m->kind == QN_METADATA_UNSIGNED && !m->is_list;
    *alignment = is_number ? *m->values.numbers : 0;
    if (*alignment && *alignment % 8 == 0 && *alignment <= 1u << 20) return QN_OK;
    return qn__archive_fail(a, QN_ERROR_ARGUMENT, "'general.alignment' is no multiple of 8");
}

static qn_status place_arrays(const reader *r) {
    qn_archive *a = r->archive;
    uint64_t alignment;
    const qn_status status = find_alignment(a, &alignment);
    if (status) return status;
    const uint64_t at = (uint64_t)(r->at - a->bytes), begin = at + (alignment - at % alignment) % alignment,
                   size = begin < a->size ? a->size - begin : 0;
    for (uint64_t i = 0; i < a->count; i++) {
        qn__entry *e = &a->entries[i];
        const uint64_t skip = e->skip, bytes = e->array.bytes;
        if (skip % alignment || skip > size || bytes > size - skip)
            return qn__archive_fail(
                a, QN_ERROR_ARGUMENT,
                "%s is said to be %llu bytes from byte %llu of the data on, which are %llu bytes, "
                "aligned to %llu",
                qn__quote_of(e->array.name, strlen(e->array.name)).text, (unsigned long long)bytes,
                (unsigned long long)skip, (unsigned long long)size, (unsigned long long)alignment);
        e->skip = 0;
        e->at = bytes ? a->bytes + begin + skip : a->bytes;
        e->packed = e->whole = bytes;
    }
    return QN_OK;
}

qn_status qn__read_gguf(qn_archive *a) {
    reader r = {.archive = a, .at = a->bytes, .end = a->bytes + a->size};
    if (!has(&r, 8) || memcmp(r.at, "GGUF", 4) != 0)
        return qn__archive_fail(a, QN_ERROR_ARGUMENT, "it does not begin as GGUF files do");
    r.at += 4;
    const uint32_t version = (uint32_t)take(&r, 4);
    if (version == 2u << 24 || version == 3u << 24)
        return qn__archive_fail(a, QN_ERROR_UNSUPPORTED,
                                "it is big-endian; convert it by gguf_convert_endian.py");
    if (version != 2 && version != 3)
        return qn__archive_fail(a, QN_ERROR_UNSUPPORTED, "it is of GGUF's version %u; 2 and 3 are known",
                                (unsigned)version);
    if (!has(&r, 16)) return cut_off(&r, "its head");
    const uint64_t arrays = take(&r, 8), metadata = take(&r, 8);
    qn_status status = QN_OK;
    for (uint64_t i = 0; i < metadata && !status; i++) status = read_metadata(&r);
    for (uint64_t i = 0; i < arrays && !status; i++) status = read_description(&r);
    return status ? status : place_arrays(&r);
}
