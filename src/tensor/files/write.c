/* qn_archive_write: checks what is to be written, writes it beside the path, and gives it its name when it is whole. */
#include "tensor/files/write.h"

#include <string.h>

#include "tensor/files/deflate.h"
#include "tensor/files/encoding.h"

enum { CHUNK = 4 << 20 };

static qn_status (*const writers[QN_FILE_FORMAT_COUNT])(qn__writer *) = {
    [QN_FILE_SAFETENSORS] = qn__write_safetensors,
    [QN_FILE_NPY] = qn__write_npy,
    [QN_FILE_NPZ] = qn__write_npz,
};

static qn_status system_failed(const qn__writer *w, int error) {
    char text[128];
    qn__system_text(error, text, sizeof text);
    return qn__archive_fail(&w->archive, QN_ERROR_IO, "it cannot be written: %s", text);
}

qn_status qn__put(qn__writer *w, const void *data, uint64_t size) {
    const int error = qn__output_write(&w->output, data, size);
    w->at += size;
    return error ? system_failed(w, error) : QN_OK;
}

qn_status qn__put_over(qn__writer *w, const void *data, uint32_t size, uint64_t at) {
    const int error = qn__output_patch(&w->output, data, size, at);
    return error ? system_failed(w, error) : QN_OK;
}

/* ---- elements ---- */

static qn_status put_counted(qn__writer *w, const void *data, uint64_t size, uint32_t *crc) {
    if (crc) *crc = qn__crc32(*crc, data, size);
    return qn__put(w, data, size);
}

/* What the caller's function gives, piece by piece. */
static qn_status put_from_source(qn__writer *w, uint64_t index, uint32_t *crc) {
    const uint64_t bytes = w->archive.entries[index].array.bytes;
    uint8_t *chunk = qn__archive_allocate(&w->archive, bytes < CHUNK ? bytes : CHUNK);
    if (!chunk) return QN_ERROR_OUT_OF_MEMORY;
    qn_status status = QN_OK;
    for (uint64_t at = 0; at < bytes && !status;) {
        const uint64_t size = bytes - at < CHUNK ? bytes - at : CHUNK;
        status = w->desc->source(w->desc->user, index, at, chunk, size);
        if (!status) status = put_counted(w, chunk, size, crc);
        at += size;
    }
    qn__archive_release(&w->archive, chunk);
    return status;
}

static bool is_contiguous(const qn_host_array *array) {
    for (uint32_t i = 0; i < array->rank; i++)
        if (array->strides[i]) return false;
    return true;
}

qn_status qn__put_elements(qn__writer *w, uint64_t index, uint32_t *crc) {
    const qn_host_array *array = &w->archive.entries[index].array;
    if (!array->bytes) return QN_OK;
    if (!array->data) return put_from_source(w, index, crc);
    if (is_contiguous(array)) return put_counted(w, array->data, array->bytes, crc);
    uint8_t *copy = qn__archive_allocate(&w->archive, array->bytes);
    if (!copy) return QN_ERROR_OUT_OF_MEMORY;
    qn_status status = qn_host_array_copy(array, copy, array->bytes);
    if (status)
        qn__archive_fail(&w->archive, status, "%s has strides, which blocks cannot have",
                         qn__quote_of(array->name, strlen(array->name)).text);
    else
        status = put_counted(w, copy, array->bytes, crc);
    qn__archive_release(&w->archive, copy);
    return status;
}

/* ---- what is to be written ---- */

static qn_status check_array(qn__writer *w, uint64_t index) {
    const qn_archive *a = &w->archive;
    const qn_host_array *array = &w->desc->arrays[index];
    const char *name = array->name ? array->name : "";
    const qn__quote quote = qn__quote_of(name, strlen(name));
    if (!name[0] || !qn__is_name(name, strlen(name)))
        return qn__archive_fail(a, QN_ERROR_ARGUMENT, "arrays[%llu]: the name %s is empty or no UTF-8",
                                (unsigned long long)index, quote.text);
    if ((unsigned)array->encoding >= QN_ENCODING_COUNT || array->rank > QN_MAX_RANK)
        return qn__archive_fail(a, QN_ERROR_ARGUMENT, "%s: encoding %d or rank %u is none", quote.text,
                                (int)array->encoding, (unsigned)array->rank);
    qn__entry *e = qn__archive_add(&w->archive);
    if (!e) return QN_ERROR_OUT_OF_MEMORY;
    e->array = *array;
    const qn_status status = qn__host_array_measure(a, &e->array, quote.text);
    if (status) return status;
    if (array->bytes && array->bytes != e->array.bytes)
        return qn__archive_fail(a, QN_ERROR_ARGUMENT, "%s has %llu bytes, but %llu by its encoding and sizes",
                                quote.text, (unsigned long long)array->bytes,
                                (unsigned long long)e->array.bytes);
    if (!array->data && !w->desc->source && e->array.bytes)
        return qn__archive_fail(a, QN_ERROR_NULL, "%s has no data, and there is no source", quote.text);
    return QN_OK;
}

static qn_status check_metadata(const qn__writer *w) {
    for (uint64_t i = 0; i < w->desc->metadata_count; i++) {
        const qn_metadata *m = &w->desc->metadata[i];
        if (m->key && m->kind == QN_METADATA_TEXT && !m->is_list && m->values.texts &&
            m->values.texts->text && qn__is_name(m->key, strlen(m->key)) &&
            qn__is_name(m->values.texts->text, m->values.texts->size))
            continue;
        return qn__archive_fail(&w->archive, QN_ERROR_ARGUMENT,
                                "metadata[%llu] is no text in UTF-8 with a key", (unsigned long long)i);
    }
    return QN_OK;
}

static bool name_before(const void *items, uint64_t a, uint64_t b) {
    const qn__entry *entries = items;
    return strcmp(entries[a].array.name, entries[b].array.name) < 0;
}

static qn_status check_names(qn__writer *w) {
    qn_archive *a = &w->archive;
    uint64_t *index = qn__archive_keep_array(a, a->count, sizeof *index);
    if (!index) return QN_ERROR_OUT_OF_MEMORY;
    for (uint64_t i = 0; i < a->count; i++) index[i] = i;
    qn__sort(index, a->count, name_before, a->entries);
    for (uint64_t i = 1; i < a->count; i++)
        if (!name_before(a->entries, index[i - 1], index[i])) {
            const char *name = a->entries[index[i]].array.name;
            return qn__archive_fail(a, QN_ERROR_ARGUMENT, "two arrays are called %s",
                                    qn__quote_of(name, strlen(name)).text);
        }
    return QN_OK;
}

static qn_status check_all(qn__writer *w) {
    const qn_archive_write_desc *d = w->desc;
    qn_archive *a = &w->archive;
    if ((d->count && !d->arrays) || (d->metadata_count && !d->metadata))
        return qn__archive_fail(a, QN_ERROR_NULL, "qn_archive_write: %s is NULL",
                                d->count && !d->arrays ? "arrays" : "metadata");
    a->format = d->format ? d->format : qn__format_of_path(a->name);
    if ((unsigned)a->format >= QN_FILE_FORMAT_COUNT || !writers[a->format])
        return qn__archive_fail(
            a, QN_ERROR_ARGUMENT,
            "safetensors, npy and npz can be written; `format` or the name's ending says which");
    if (d->metadata_count && a->format != QN_FILE_SAFETENSORS)
        return qn__archive_fail(a, QN_ERROR_UNSUPPORTED, "%s files have no metadata",
                                qn_file_format_name(a->format));
    qn_status status = check_metadata(w);
    for (uint64_t i = 0; i < d->count && !status; i++) status = check_array(w, i);
    return status ? status : check_names(w);
}

static qn_status write_file(qn__writer *w, const char *path) {
    qn_archive *a = &w->archive;
    const size_t size = strlen(path);
    char *part = qn__archive_keep(a, size + sizeof ".part");
    if (!part) return QN_ERROR_OUT_OF_MEMORY;
    memcpy(part, path, size);
    memcpy(part + size, ".part", sizeof ".part");
    int error = qn__output_open(&w->output, part);
    if (error) return system_failed(w, error);
    qn_status status = writers[a->format](w);
    if (!status) {
        error = qn__output_finish(&w->output);
        if (!error) error = qn__output_rename(part, path);
        if (error) status = system_failed(w, error);
    }
    if (status) qn__output_drop(&w->output, part);
    return status;
}

qn_status qn_archive_write(qn_context *context, const char *path, const qn_archive_write_desc *desc) {
    qn__writer w = {.archive = {.context = context, .name = path}, .desc = desc, .output = {-1}};
    qn_status status = qn_context_get_allocator(context, &w.archive.allocator);
    if (status) return status;
    if (!path || !desc)
        return qn_error_set(context, QN_ERROR_NULL,
                            path ? "qn_archive_write: desc is NULL" : "qn_archive_write: path is NULL");
    status = check_all(&w);
    if (!status) status = write_file(&w, path);
    qn__archive_release(&w.archive, w.archive.entries);
    qn__archive_drop_blocks(&w.archive);
    return status;
}
