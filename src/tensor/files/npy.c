/* NumPy's .npy files (numpy.lib.format, versions 1 to 3): a magic, the length of a header, a Python dictionary with the type of
   elements, their order and the shape, then the elements. */
#include <string.h>

#include "tensor/files/archive.h"
#include "tensor/files/encoding.h"

enum { LONGEST_HEADER = 1 << 20, MAGIC = 6 };

/* The dictionary while it is read. */
typedef struct header {
    const uint8_t *at, *end;
    qn_archive *archive;
    qn__entry *entry;
    bool has_descr, has_order, has_shape, is_fortran;
} header;

static qn_status wrong(const header *h, const char *what) {
    return qn__archive_fail(h->archive, QN_ERROR_ARGUMENT, "the header of %s is damaged: %s",
                            qn__quote_of(h->entry->array.name, strlen(h->entry->array.name)).text, what);
}

static bool next_is(header *h, char c) {
    while (h->at < h->end && (*h->at == ' ' || *h->at == '\n' || *h->at == '\t')) h->at++;
    if (h->at == h->end || *h->at != (uint8_t)c) return false;
    h->at++;
    return true;
}

/* A string in single or double quotes, without escapes. */
static bool read_text(header *h, const char **text, uint64_t *size) {
    const char quote = next_is(h, '\'') ? '\'' : next_is(h, '"') ? '"' : 0;
    if (!quote) return false;
    *text = (const char *)h->at;
    while (h->at < h->end && *h->at != (uint8_t)quote && *h->at != '\\') h->at++;
    *size = (uint64_t)(h->at - (const uint8_t *)*text);
    return next_is(h, quote);
}

static qn_status fail_type(const header *h, const char *type, uint64_t size) {
    const qn__quote name = qn__quote_of(h->entry->array.name, strlen(h->entry->array.name));
    return qn__archive_fail(h->archive, QN_ERROR_UNSUPPORTED,
                            "%s has elements of NumPy's type %s; numbers and truth values alone are possible",
                            name.text, qn__quote_of(type, size).text);
}

static qn_status read_descr(header *h) {
    const char *text;
    uint64_t size;
    if (next_is(h, '['))
        return qn__archive_fail(h->archive, QN_ERROR_UNSUPPORTED,
                                "%s has structured elements; save its fields as arrays",
                                qn__quote_of(h->entry->array.name, strlen(h->entry->array.name)).text);
    if (!read_text(h, &text, &size)) return wrong(h, "'descr' is no string");
    const bool has_order = size && memchr("<>|=", text[0], 4);
    if (!qn__encoding_by_npy(text + has_order, size - has_order, &h->entry->array.encoding))
        return fail_type(h, text, size);
    h->entry->is_swapped = has_order && text[0] == '>' && qn__encoding(h->entry->array.encoding)->align > 1;
    if (h->entry->is_swapped && h->entry->array.encoding == QN_ENCODING_BF16) return fail_type(h, text, size);
    h->has_descr = true;
    return QN_OK;
}

static bool skip_word(header *h, const char *word) {
    const size_t size = strlen(word);
    if (!next_is(h, word[0])) return false;
    if ((size_t)(h->end - h->at) < size - 1 || memcmp(h->at, word + 1, size - 1) != 0) return false;
    h->at += size - 1;
    return true;
}

static qn_status read_order(header *h) {
    h->is_fortran = next_is(h, 'T');
    if (h->is_fortran) h->at--;
    if (!skip_word(h, h->is_fortran ? "True" : "False"))
        return wrong(h, "'fortran_order' is neither True nor False");
    h->has_order = true;
    return QN_OK;
}

static bool read_size(header *h, uint64_t *size) {
    const uint8_t *begin = h->at;
    *size = 0;
    for (; h->at < h->end && *h->at >= '0' && *h->at <= '9'; h->at++) {
        const uint64_t digit = *h->at - (uint64_t)'0';
        if (!qn__multiply(size, 10) || *size > UINT64_MAX - digit) return false;
        *size += digit;
    }
    const bool is_one = h->at > begin;
    next_is(h, 'L'); /* as Python 2 wrote them */
    return is_one;
}

static qn_status read_shape(header *h) {
    qn_host_array *array = &h->entry->array;
    if (!next_is(h, '(')) return wrong(h, "'shape' is no tuple");
    bool more = true;
    array->rank = 0;
    while (!next_is(h, ')')) {
        if (!more) return wrong(h, "the sizes in 'shape' have no commas between");
        if (array->rank == QN_MAX_RANK)
            return qn__archive_fail(h->archive, QN_ERROR_UNSUPPORTED, "%s has more than %u dimensions",
                                    qn__quote_of(array->name, strlen(array->name)).text,
                                    (unsigned)QN_MAX_RANK);
        if (!read_size(h, &array->sizes[array->rank++])) return wrong(h, "a size in 'shape' is no number");
        more = next_is(h, ',');
    }
    if (!more && array->rank == 1) return wrong(h, "'shape' is no tuple"); /* (5) is a number */
    h->has_shape = true;
    return QN_OK;
}

static qn_status read_dictionary(header *h) {
    if (!next_is(h, '{')) return wrong(h, "it is no dictionary");
    bool more = true;
    while (!next_is(h, '}')) {
        const char *key;
        uint64_t size;
        if (!more) return wrong(h, "a comma is missing");
        if (!read_text(h, &key, &size) || !next_is(h, ':')) return wrong(h, "a key was expected");
        qn_status status;
        if (size == 5 && memcmp(key, "descr", 5) == 0 && !h->has_descr)
            status = read_descr(h);
        else if (size == 13 && memcmp(key, "fortran_order", 13) == 0 && !h->has_order)
            status = read_order(h);
        else if (size == 5 && memcmp(key, "shape", 5) == 0 && !h->has_shape)
            status = read_shape(h);
        else
            status = wrong(h, "it has a key other than 'descr', 'fortran_order' and 'shape', or one twice");
        if (status) return status;
        more = next_is(h, ',');
    }
    if (!h->has_descr || !h->has_order || !h->has_shape)
        return wrong(h, "it lacks one of 'descr', 'fortran_order' and 'shape'");
    next_is(h, '\n');
    return h->at == h->end ? QN_OK : wrong(h, "there is something behind it");
}

/* The first dimension fastest. Their product is known to fit. */
static void set_fortran_strides(qn_host_array *array) {
    int64_t stride = 1;
    if (array->rank < 2 || qn_host_array_count(array) == 0) return;
    for (uint32_t i = 0; i < array->rank; i++) {
        array->strides[i] = stride;
        stride *= (int64_t)array->sizes[i];
    }
}

qn_status qn__npy_header(qn_archive *a, qn__entry *entry, const uint8_t *bytes, uint64_t have, uint64_t size,
                         uint64_t *start, uint64_t *wants) {
    const qn__quote name = qn__quote_of(entry->array.name, strlen(entry->array.name));
    *wants = 0;
    if (have < 12 || memcmp(bytes, "\x93NUMPY", MAGIC) != 0)
        return qn__archive_fail(a, QN_ERROR_ARGUMENT, "%s does not begin as NumPy's .npy files do",
                                name.text);
    if (bytes[6] < 1 || bytes[6] > 3)
        return qn__archive_fail(a, QN_ERROR_UNSUPPORTED,
                                "%s is of version %u of NumPy's format; 1 to 3 are known", name.text,
                                (unsigned)bytes[6]);
    const uint64_t begin = bytes[6] == 1 ? 10 : 12,
                   length = bytes[6] == 1 ? qn__get16(bytes + 8) : qn__get32(bytes + 8);
    if (length > LONGEST_HEADER || length > size - begin)
        return qn__archive_fail(
            a, QN_ERROR_ARGUMENT,
            "the header of %s is said to be %llu bytes long; %llu follow, and %d are the most", name.text,
            (unsigned long long)length, (unsigned long long)(size - begin), (int)LONGEST_HEADER);
    *start = begin + length;
    if (*start > have) {
        *wants = *start;
        return QN_OK;
    }
    header h = {.at = bytes + begin, .end = bytes + *start, .archive = a, .entry = entry};
    qn_status status = read_dictionary(&h);
    if (!status) status = qn__host_array_measure(a, &entry->array, name.text);
    if (status) return status;
    if (entry->array.bytes > size - *start)
        return qn__archive_fail(a, QN_ERROR_ARGUMENT,
                                "%s takes %llu bytes by its type and shape, but %llu follow", name.text,
                                (unsigned long long)entry->array.bytes, (unsigned long long)(size - *start));
    if (h.is_fortran) set_fortran_strides(&entry->array);
    return QN_OK;
}

qn_status qn__read_npy(qn_archive *a) {
    qn__entry *e = qn__archive_add(a);
    if (!e) return QN_ERROR_OUT_OF_MEMORY;
    e->array.name = "data";
    uint64_t start = 0, wants;
    const qn_status status = qn__npy_header(a, e, a->bytes, a->size, a->size, &start, &wants);
    if (status) return status;
    e->at = a->bytes + start;
    e->packed = e->whole = e->array.bytes;
    return QN_OK;
}
