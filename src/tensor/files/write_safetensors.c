/* Writes safetensors as the format's own library does: metadata first, arrays by the size of their elements, the largest first,
   then by name; the header is filled up with blanks to a multiple of 8. */
#include <stdio.h>
#include <string.h>

#include "tensor/files/encoding.h"
#include "tensor/files/json.h"
#include "tensor/files/write.h"

enum { FIXED = 96, NUMBER = 21 }; /* bytes of an array's fields; of a number and a comma */

static bool lies_before(const void *items, uint64_t a, uint64_t b) {
    const qn__entry *entries = items;
    const int left = qn__encoding(entries[a].array.encoding)->safetensors_order,
              right = qn__encoding(entries[b].array.encoding)->safetensors_order;
    return left != right ? left > right : strcmp(entries[a].array.name, entries[b].array.name) < 0;
}

static qn_status check_arrays(const qn_archive *a) {
    for (uint64_t i = 0; i < a->count; i++) {
        const qn_host_array *array = &a->entries[i].array;
        const qn__quote name = qn__quote_of(array->name, strlen(array->name));
        if (!qn__encoding(array->encoding)->safetensors)
            return qn__archive_fail(a, QN_ERROR_UNSUPPORTED,
                                    "%s is of %s, which safetensors files cannot have", name.text,
                                    qn__encoding(array->encoding)->name);
        if (strcmp(array->name, "__metadata__") == 0)
            return qn__archive_fail(a, QN_ERROR_ARGUMENT, "no array can be called '__metadata__'");
    }
    return QN_OK;
}

/* No more than the header takes. */
static uint64_t header_room(const qn__writer *w) {
    uint64_t room = 64;
    for (uint64_t i = 0; i < w->archive.count; i++)
        room += qn__json_quoted_size(w->archive.entries[i].array.name) + FIXED + (QN_MAX_RANK + 2) * NUMBER;
    for (uint64_t i = 0; i < w->desc->metadata_count; i++)
        room += qn__json_quoted_size(w->desc->metadata[i].key) +
                qn__json_quoted_size(w->desc->metadata[i].values.texts->text) + 2;
    return room;
}

static char *put_text(char *to, const char *text) {
    const size_t size = strlen(text);
    memcpy(to, text, size);
    return to + size;
}

static char *put_metadata(char *to, const qn__writer *w) {
    to = put_text(to, "\"__metadata__\":{");
    for (uint64_t i = 0; i < w->desc->metadata_count; i++) {
        if (i) *to++ = ',';
        to = qn__json_quote(to, w->desc->metadata[i].key);
        *to++ = ':';
        to = qn__json_quote(to, w->desc->metadata[i].values.texts->text);
    }
    *to++ = '}';
    return to;
}

static char *put_array(char *to, const qn_host_array *array, uint64_t begin) {
    to = qn__json_quote(to, array->name);
    to += sprintf(to, ":{\"dtype\":\"%s\",\"shape\":[", qn__encoding(array->encoding)->safetensors);
    for (uint32_t i = 0; i < array->rank; i++)
        to += sprintf(to, i ? ",%llu" : "%llu", (unsigned long long)array->sizes[i]);
    return to + sprintf(to, "],\"data_offsets\":[%llu,%llu]}", (unsigned long long)begin,
                        (unsigned long long)(begin + array->bytes));
}

static char *put_header(char *to, const qn__writer *w, const uint64_t *order) {
    const qn_archive *a = &w->archive;
    uint64_t begin = 0;
    *to++ = '{';
    if (w->desc->metadata_count) to = put_metadata(to, w);
    for (uint64_t i = 0; i < a->count; i++) {
        if (i || w->desc->metadata_count) *to++ = ',';
        to = put_array(to, &a->entries[order[i]].array, begin);
        begin += a->entries[order[i]].array.bytes;
    }
    *to++ = '}';
    return to;
}

qn_status qn__write_safetensors(qn__writer *w) {
    qn_archive *a = &w->archive;
    qn_status status = check_arrays(a);
    if (status) return status;
    uint64_t *order = qn__archive_keep_array(a, a->count, sizeof *order);
    uint8_t *header = order ? qn__archive_keep(a, 8 + header_room(w)) : NULL;
    if (!header) return QN_ERROR_OUT_OF_MEMORY;
    for (uint64_t i = 0; i < a->count; i++) order[i] = i;
    qn__sort(order, a->count, lies_before, a->entries);
    uint64_t size = (uint64_t)(put_header((char *)header + 8, w, order) - ((char *)header + 8));
    while (size % 8) header[8 + size++] = ' ';
    qn__set64(header, size);
    status = qn__put(w, header, 8 + size);
    for (uint64_t i = 0; i < a->count && !status; i++) status = qn__put_elements(w, order[i], NULL);
    return status;
}
