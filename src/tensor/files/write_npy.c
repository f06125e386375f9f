/* Writes .npy, and .npz: a zip archive of them, stored, whose arrays begin at multiples of 64, for which a field of padding is
   in front of each; with zip's 64-bit records where sizes, places or counts need them. */
#include <stdio.h>
#include <string.h>

#include "tensor/files/deflate.h"
#include "tensor/files/encoding.h"
#include "tensor/files/write.h"

enum { ALIGN = 64, HEAD = 30, RECORD = 46, END = 22, END64 = 56, LOCATOR = 20, WIDE = 20, RECORD_WIDE = 28 };
enum { PADDING = 0xd935 /* the field's number, as Android's zipalign has it */, LONGEST_NAME = 60000 };

qn_status qn__npy_check(const qn__writer *w) {
    for (uint64_t i = 0; i < w->archive.count; i++) {
        const qn_host_array *array = &w->archive.entries[i].array;
        if (!qn__encoding(array->encoding)->npy)
            return qn__archive_fail(
                &w->archive, QN_ERROR_UNSUPPORTED, "%s is of %s, which NumPy's files cannot have",
                qn__quote_of(array->name, strlen(array->name)).text, qn__encoding(array->encoding)->name);
    }
    return QN_OK;
}

uint32_t qn__npy_write_header(const qn_host_array *array, char header[QN__NPY_HEADER_ROOM]) {
    const qn__encoding_info *info = qn__encoding(array->encoding);
    char *to = header + 10;
    to += sprintf(to, "{'descr': '%c%s', 'fortran_order': False, 'shape': (", info->bytes > 1 ? '<' : '|',
                  info->npy);
    for (uint32_t i = 0; i < array->rank; i++)
        to += sprintf(to, i ? " %llu," : "%llu,", (unsigned long long)array->sizes[i]);
    if (array->rank > 1) to--; /* (5,) but (5, 6) */
    to += sprintf(to, "), }");
    while ((to - header + 1) % ALIGN) *to++ = ' ';
    *to++ = '\n';
    const uint32_t size = (uint32_t)(to - header);
    memcpy(header, "\x93NUMPY\1\0", 8);
    qn__set16((uint8_t *)header + 8, size - 10);
    return size;
}

qn_status qn__write_npy(qn__writer *w) {
    char header[QN__NPY_HEADER_ROOM];
    qn_status status = qn__npy_check(w);
    if (!status && w->archive.count != 1)
        status = qn__archive_fail(&w->archive, QN_ERROR_ARGUMENT, ".npy is of one array, not %llu",
                                  (unsigned long long)w->archive.count);
    if (status) return status;
    const uint32_t size = qn__npy_write_header(&w->archive.entries[0].array, header);
    status = qn__put(w, header, size);
    return status ? status : qn__put_elements(w, 0, NULL);
}

/* ---- .npz ---- */

/* An entry as it has been written: in the head, and again in the directory. */
typedef struct written {
    uint64_t head, size;
    uint32_t crc;
} written;

/* What heads and records of the directory have in common, from "version needed" to the name's length. */
static void fill_common(uint8_t *to, const written *e, uint64_t name_size, bool is_wide) {
    qn__set16(to, is_wide ? 45 : 20);
    qn__set16(to + 2, 0x800); /* the name is UTF-8 */
    qn__set16(to + 4, 0);
    qn__set16(to + 6, 0);
    qn__set16(to + 8, 0x21); /* the first day that there is */
    qn__set32(to + 10, e->crc);
    qn__set32(to + 14, is_wide ? UINT32_MAX : e->size);
    qn__set32(to + 18, is_wide ? UINT32_MAX : e->size);
    qn__set16(to + 22, name_size);
}

static bool is_wide(const written *e) { return e->size >= UINT32_MAX || e->head >= UINT32_MAX; }

/* The head, the name, and what brings the entry's bytes to a multiple of ALIGN. */
static qn_status put_head(qn__writer *w, const char *name, const written *e) {
    uint8_t head[HEAD], extra[WIDE + 4 + ALIGN] = {0};
    const uint64_t name_size = strlen(name) + 4;
    uint64_t extra_size = is_wide(e) ? WIDE : 0;
    const uint64_t end = w->at + HEAD + name_size + extra_size + 4, pad = (ALIGN - end % ALIGN) % ALIGN;
    if (is_wide(e)) {
        qn__set16(extra, 1);
        qn__set16(extra + 2, WIDE - 4);
        qn__set64(extra + 4, e->size);
        qn__set64(extra + 12, e->size);
    }
    qn__set16(extra + extra_size, PADDING);
    qn__set16(extra + extra_size + 2, pad);
    extra_size += 4 + pad;
    memcpy(head, "PK\3\4", 4);
    fill_common(head + 4, e, name_size, is_wide(e));
    qn__set16(head + 28, extra_size);
    qn_status status = qn__put(w, head, HEAD);
    if (!status) status = qn__put(w, name, name_size - 4);
    if (!status) status = qn__put(w, ".npy", 4);
    return status ? status : qn__put(w, extra, extra_size);
}

/* The checksum is known when all bytes were there: it is written into the head then. */
static qn_status put_entry(qn__writer *w, uint64_t index, written *e) {
    const qn_host_array *array = &w->archive.entries[index].array;
    char header[QN__NPY_HEADER_ROOM];
    const uint32_t size = qn__npy_write_header(array, header);
    *e = (written){.head = w->at, .size = size + array->bytes, .crc = qn__crc32(0, (uint8_t *)header, size)};
    if (strlen(array->name) > LONGEST_NAME)
        return qn__archive_fail(&w->archive, QN_ERROR_ARGUMENT, "the name %s is too long for a zip archive",
                                qn__quote_of(array->name, strlen(array->name)).text);
    qn_status status = put_head(w, array->name, e);
    if (!status) status = qn__put(w, header, size);
    if (!status) status = qn__put_elements(w, index, &e->crc);
    uint8_t crc[4];
    qn__set32(crc, e->crc);
    return status ? status : qn__put_over(w, crc, sizeof crc, e->head + 14);
}

static qn_status put_record(qn__writer *w, const char *name, const written *e) {
    uint8_t record[RECORD] = {0}, extra[RECORD_WIDE];
    const uint64_t name_size = strlen(name) + 4;
    memcpy(record, "PK\1\2", 4);
    qn__set16(record + 4, 45);
    fill_common(record + 6, e, name_size, is_wide(e));
    qn__set16(record + 30, is_wide(e) ? RECORD_WIDE : 0);
    qn__set32(record + 42, is_wide(e) ? UINT32_MAX : e->head);
    qn_status status = qn__put(w, record, RECORD);
    if (!status) status = qn__put(w, name, name_size - 4);
    if (!status) status = qn__put(w, ".npy", 4);
    if (status || !is_wide(e)) return status;
    qn__set16(extra, 1);
    qn__set16(extra + 2, RECORD_WIDE - 4);
    qn__set64(extra + 4, e->size);
    qn__set64(extra + 12, e->size);
    qn__set64(extra + 20, e->head);
    return qn__put(w, extra, sizeof extra);
}

static qn_status put_end(qn__writer *w, uint64_t count, uint64_t directory) {
    const uint64_t size = w->at - directory;
    const bool wide = count >= UINT16_MAX || directory >= UINT32_MAX || size >= UINT32_MAX;
    uint8_t end64[END64 + LOCATOR] = {0}, end[END] = {0};
    if (wide) {
        memcpy(end64, "PK\6\6", 4);
        qn__set64(end64 + 4, END64 - 12);
        qn__set16(end64 + 12, 45);
        qn__set16(end64 + 14, 45);
        qn__set64(end64 + 24, count);
        qn__set64(end64 + 32, count);
        qn__set64(end64 + 40, size);
        qn__set64(end64 + 48, directory);
        memcpy(end64 + END64, "PK\6\7", 4);
        qn__set64(end64 + END64 + 8, w->at);
        qn__set32(end64 + END64 + 16, 1);
        const qn_status status = qn__put(w, end64, sizeof end64);
        if (status) return status;
    }
    memcpy(end, "PK\5\6", 4);
    qn__set16(end + 8, wide ? UINT16_MAX : count);
    qn__set16(end + 10, wide ? UINT16_MAX : count);
    qn__set32(end + 12, wide ? UINT32_MAX : size);
    qn__set32(end + 16, wide ? UINT32_MAX : directory);
    return qn__put(w, end, END);
}

qn_status qn__write_npz(qn__writer *w) {
    qn_archive *a = &w->archive;
    qn_status status = qn__npy_check(w);
    if (status) return status;
    written *entries = qn__archive_keep_array(a, a->count, sizeof *entries);
    if (!entries) return QN_ERROR_OUT_OF_MEMORY;
    for (uint64_t i = 0; i < a->count && !status; i++) status = put_entry(w, i, &entries[i]);
    const uint64_t directory = w->at;
    for (uint64_t i = 0; i < a->count && !status; i++)
        status = put_record(w, a->entries[i].array.name, &entries[i]);
    return status ? status : put_end(w, a->count, directory);
}
