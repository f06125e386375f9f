/* Archives: which reader a file is for, what it found, the elements of its arrays. */
#include "tensor/files/archive.h"

#include <stdio.h>
#include <string.h>

#include "tensor/files/deflate.h"
#include "tensor/files/encoding.h"

enum { MAGIC = 0x71617263 };

typedef struct format_info {
    const char *name;
    const char *ending; /* of file names */
    qn_status (*read)(qn_archive *archive);
} format_info;

static const format_info formats[QN_FILE_FORMAT_COUNT] = {
    [QN_FILE_SAFETENSORS] = {"safetensors", ".safetensors", qn__read_safetensors},
    [QN_FILE_NPY] = {"npy", ".npy", qn__read_npy},
    [QN_FILE_NPZ] = {"npz", ".npz", qn__read_npz},
    [QN_FILE_GGUF] = {"gguf", ".gguf", qn__read_gguf},
    [QN_FILE_IDX] = {"idx", NULL, qn__read_idx},
    [QN_FILE_CSV] = {"csv", ".csv", qn__read_csv},
};

const char *qn_file_format_name(qn_file_format format) {
    return (unsigned)format < QN_FILE_FORMAT_COUNT ? formats[format].name : NULL;
}

static bool ends_with(const char *text, const char *ending) {
    const size_t size = strlen(text), part = strlen(ending);
    return size >= part && strcmp(text + size - part, ending) == 0;
}

qn_file_format qn__format_of_path(const char *path) {
    for (int i = 0; i < QN_FILE_FORMAT_COUNT; i++)
        if (formats[i].ending && ends_with(path, formats[i].ending)) return (qn_file_format)i;
    return ends_with(path, ".tsv") ? QN_FILE_CSV : QN_FILE_ANY;
}

/* ---- opening ---- */

static bool begins_with(const qn_archive *a, const void *bytes, size_t size) {
    return a->size >= size && memcmp(a->bytes, bytes, size) == 0;
}

/* By what it begins with; a safetensors file has a length first, then a brace. */
static qn_file_format guess(const qn_archive *a) {
    if (begins_with(a, "\x93NUMPY", 6)) return QN_FILE_NPY;
    if (begins_with(a, "PK\3\4", 4) || begins_with(a, "PK\5\6", 4)) return QN_FILE_NPZ;
    if (begins_with(a, "GGUF", 4)) return QN_FILE_GGUF;
    if (a->size >= 9 && a->bytes[8] == '{' && qn__get64(a->bytes) <= a->size - 8) return QN_FILE_SAFETENSORS;
    if (a->size >= 4 && !a->bytes[0] && !a->bytes[1] && a->bytes[2] >= 8 && a->bytes[2] <= 14)
        return QN_FILE_IDX;
    return QN_FILE_ANY;
}

/* What the file is called tells it where its bytes do not: also of a damaged one, which gets its reader's sentence. */
static qn_status choose_format(qn_archive *a, const char *name) {
    if (a->desc.format != QN_FILE_ANY) {
        a->format = a->desc.format;
        return QN_OK;
    }
    a->format = guess(a);
    if (a->format == QN_FILE_ANY) a->format = qn__format_of_path(name);
    if (a->format != QN_FILE_ANY) return QN_OK;
    return qn__archive_fail(a, QN_ERROR_ARGUMENT,
                            "it is of no format that is known by how it begins: safetensors, npy, npz, gguf, "
                            "idx (set `format` for csv)");
}

/* The name that a compressed file has without ".gz". */
static const char *plain_name(qn_archive *a, const char *name) {
    return ends_with(name, ".gz") ? qn__archive_keep_text(a, name, strlen(name) - 3) : name;
}

static qn_status read_archive(qn_archive *a) {
    const char *name = a->name;
    qn_status status = QN_OK;
    if (begins_with(a, "\x1f\x8b", 2)) {
        uint8_t *data;
        uint64_t size;
        status = qn__read_gzip(a, &data, &size);
        if (status) return status;
        qn__archive_release(a, a->owned);
        qn__unmap_file(&a->mapping);
        a->owned = data;
        a->bytes = data;
        a->size = size;
        name = plain_name(a, name);
        if (!name) return QN_ERROR_OUT_OF_MEMORY;
    }
    status = choose_format(a, name);
    return status ? status : formats[a->format].read(a);
}

static bool name_before(const void *items, uint64_t a, uint64_t b) {
    const qn__entry *entries = items;
    return strcmp(entries[a].array.name, entries[b].array.name) < 0;
}

static bool key_before(const void *items, uint64_t a, uint64_t b) {
    const qn_metadata *metadata = items;
    return strcmp(metadata[a].key, metadata[b].key) < 0;
}

/* Indices in order. */
static uint64_t *sorted(qn_archive *a, const void *items, uint64_t count, qn__before *before) {
    uint64_t *index = qn__archive_keep_array(a, count, sizeof *index);
    if (!index) return NULL;
    for (uint64_t i = 0; i < count; i++) index[i] = i;
    qn__sort(index, count, before, items);
    return index;
}

static qn_status fail_twice(const qn_archive *a, const char *what, const char *name) {
    return qn__archive_fail(a, QN_ERROR_ARGUMENT, "two %s are called %s", what,
                            qn__quote_of(name, strlen(name)).text);
}

/* Names are in order for qn_archive_find, and each is there once. */
static qn_status order_names(qn_archive *a) {
    a->by_name = sorted(a, a->entries, a->count, name_before);
    const uint64_t *keys = sorted(a, a->metadata, a->metadata_count, key_before);
    if (!a->by_name || !keys) return QN_ERROR_OUT_OF_MEMORY;
    for (uint64_t i = 1; i < a->count; i++)
        if (!name_before(a->entries, a->by_name[i - 1], a->by_name[i]))
            return fail_twice(a, "arrays", a->entries[a->by_name[i]].array.name);
    for (uint64_t i = 1; i < a->metadata_count; i++)
        if (!key_before(a->metadata, keys[i - 1], keys[i]))
            return fail_twice(a, "pieces of metadata", a->metadata[keys[i]].key);
    return QN_OK;
}

static qn_status check_desc(qn_context *context, const void *data, const qn_archive_desc *desc,
                            qn_archive **archive, const char *function, const char *what) {
    char text[160];
    if (archive) *archive = NULL;
    if (!archive || !data) {
        snprintf(text, sizeof text, "%s: %s is NULL", function, data ? "archive" : what);
        return qn_error_set(context, QN_ERROR_NULL, text);
    }
    if (desc && (unsigned)desc->format >= QN_FILE_FORMAT_COUNT) {
        snprintf(text, sizeof text, "%s: format %d is none of qn_file_format", function, (int)desc->format);
        return qn_error_set(context, QN_ERROR_ARGUMENT, text);
    }
    return QN_OK;
}

static qn_status create(qn_context *context, const char *name, const qn_archive_desc *desc,
                        qn_archive **archive) {
    qn_archive made = {.magic = MAGIC, .context = context, .name = name};
    qn_status status = qn_context_get_allocator(context, &made.allocator);
    if (status) return status;
    if (desc) made.desc = *desc;
    qn_archive *a = qn__archive_allocate(&made, sizeof *a);
    if (!a) return QN_ERROR_OUT_OF_MEMORY;
    *a = made;
    a->name = qn__archive_keep_text(a, name, strlen(name));
    if (!a->name) {
        qn_archive_close(a);
        return QN_ERROR_OUT_OF_MEMORY;
    }
    *archive = a;
    return QN_OK;
}

static qn_status finish(qn_archive *a, qn_archive **archive) {
    qn_status status = read_archive(a);
    if (!status) status = order_names(a);
    if (status) {
        qn_archive_close(a);
        return status;
    }
    *archive = a;
    return QN_OK;
}

/* The mapped file's bytes; a copy of them, in memory of the archive's. */
static qn_status copy_bytes(qn_archive *a) {
    a->owned = qn__archive_allocate(a, a->size ? a->size : 1);
    if (!a->owned) return QN_ERROR_OUT_OF_MEMORY;
    int error = qn__read_file(a->name, a->owned, &a->size);
    if (!error) {
        a->bytes = a->owned;
        return QN_OK;
    }
    char text[128];
    qn__system_text(error, text, sizeof text);
    return qn__archive_fail(a, QN_ERROR_IO, "it cannot be read: %s", text);
}

static qn_status open_file(qn_archive *a) {
    const int error = qn__map_file(a->name, &a->mapping);
    if (error) {
        char text[128];
        qn__system_text(error, text, sizeof text);
        return qn__archive_fail(a, QN_ERROR_IO, "it cannot be read: %s", text);
    }
    a->size = a->mapping.size;
    a->bytes = a->mapping.bytes ? a->mapping.bytes : (const uint8_t *)"";
    if (!a->desc.copy) return QN_OK;
    qn__unmap_file(&a->mapping);
    return copy_bytes(a);
}

qn_status qn_archive_open(qn_context *context, const char *path, const qn_archive_desc *desc,
                          qn_archive **archive) {
    qn_status status = check_desc(context, path, desc, archive, "qn_archive_open", "path");
    if (status) return status;
    qn_archive *a;
    status = create(context, path, desc, &a);
    if (status) return status;
    status = open_file(a);
    if (!status) return finish(a, archive);
    qn_archive_close(a);
    return status;
}

qn_status qn_archive_open_memory(qn_context *context, const void *data, uint64_t size, const char *name,
                                 const qn_archive_desc *desc, qn_archive **archive) {
    const void *bytes = data || size ? data : "";
    qn_status status = check_desc(context, bytes, desc, archive, "qn_archive_open_memory", "data");
    if (status) return status;
    qn_archive *a;
    status = create(context, name ? name : "memory", desc, &a);
    if (status) return status;
    a->bytes = bytes;
    a->size = size;
    return finish(a, archive);
}

void qn_archive_close(qn_archive *a) {
    if (!a || a->magic != MAGIC) return;
    for (uint64_t i = 0; i < a->count; i++) qn__archive_release(a, a->entries[i].made);
    qn__archive_release(a, a->entries);
    qn__archive_release(a, a->metadata);
    qn__archive_release(a, a->owned);
    qn__unmap_file(&a->mapping);
    qn__archive_drop_blocks(a);
    a->magic = 0;
    qn__archive_release(a, a);
}

/* ---- what it has ---- */

/* Whether it is an archive. Leaves a sentence where it is not. */
static bool check(const qn_archive *a, const char *function) {
    if (a && a->magic == MAGIC) return true;
    char text[128];
    snprintf(text, sizeof text, a ? "%s: archive is no object of qn_archive_open" : "%s: archive is NULL",
             function);
    qn_error_set(NULL, a ? QN_ERROR_ARGUMENT : QN_ERROR_NULL, text);
    return false;
}

qn_file_format qn_archive_format(const qn_archive *a) {
    return check(a, "qn_archive_format") ? a->format : QN_FILE_ANY;
}

uint64_t qn_archive_count(const qn_archive *a) { return check(a, "qn_archive_count") ? a->count : 0; }

const qn_host_array *qn_archive_at(const qn_archive *a, uint64_t index) {
    return check(a, "qn_archive_at") && index < a->count ? &a->entries[index].array : NULL;
}

const qn_host_array *qn_archive_find(const qn_archive *a, const char *name) {
    if (!check(a, "qn_archive_find") || !name) return NULL;
    uint64_t begin = 0, end = a->count;
    while (begin < end) {
        const uint64_t middle = begin + (end - begin) / 2;
        const qn__entry *entry = &a->entries[a->by_name[middle]];
        const int order = strcmp(name, entry->array.name);
        if (order == 0) return &entry->array;
        if (order < 0)
            end = middle;
        else
            begin = middle + 1;
    }
    return NULL;
}

const qn_metadata *qn_archive_metadata_at(const qn_archive *a, uint64_t index) {
    return check(a, "qn_archive_metadata_at") && index < a->metadata_count ? &a->metadata[index] : NULL;
}

const qn_metadata *qn_archive_metadata(const qn_archive *a, const char *key) {
    if (!check(a, "qn_archive_metadata") || !key) return NULL;
    for (uint64_t i = 0; i < a->metadata_count; i++)
        if (strcmp(a->metadata[i].key, key) == 0) return &a->metadata[i];
    return NULL;
}

/* ---- elements ---- */

static qn__entry *entry_of(const qn_archive *a, const qn_host_array *array) {
    const uintptr_t begin = (uintptr_t)a->entries, at = (uintptr_t)array;
    if (!a->count || at < begin || at - begin >= a->count * sizeof *a->entries) return NULL;
    if ((at - begin) % sizeof *a->entries) return NULL;
    return &a->entries[(at - begin) / sizeof *a->entries];
}

uint64_t qn_archive_index(const qn_archive *a, const qn_host_array *array) {
    const qn__entry *e = check(a, "qn_archive_index") ? entry_of(a, array) : NULL;
    return e ? (uint64_t)(e - a->entries) : UINT64_MAX;
}

static qn_status check_crc(const qn_archive *a, const qn__entry *e, const uint8_t *whole) {
    if (!e->has_crc || qn__crc32(0, whole, e->whole) == e->crc) return QN_OK;
    return qn__archive_fail(a, QN_ERROR_ARGUMENT, "the checksum of %s is wrong",
                            qn__quote_of(e->array.name, strlen(e->array.name)).text);
}

/* Memory for the whole entry, so that its elements are aligned: their address is *data. */
static uint8_t *make_room(const qn_archive *a, qn__entry *e, uint64_t skip, uint64_t size) {
    const uint64_t align = 64, pad = (align - skip % align) % align;
    if (size > UINT64_MAX - 2 * align) {
        qn__archive_no_memory(a, size);
        return NULL;
    }
    uint8_t *memory = qn__archive_allocate(a, size + 2 * align);
    if (!memory) return NULL;
    e->made = memory;
    return memory + (align - (uintptr_t)memory % align) % align + pad;
}

static void swap_numbers(uint8_t *bytes, uint64_t size, uint32_t width) {
    for (uint64_t i = 0; i + width <= size; i += width)
        for (uint32_t b = 0; b < width / 2; b++) {
            const uint8_t kept = bytes[i + b];
            bytes[i + b] = bytes[i + width - 1 - b];
            bytes[i + width - 1 - b] = kept;
        }
}

static qn_status inflate_entry(const qn_archive *a, qn__entry *e, uint8_t **elements) {
    uint8_t *whole = make_room(a, e, e->skip, e->whole);
    if (!whole) return QN_ERROR_OUT_OF_MEMORY;
    qn__inflation job = {.at = e->at, .packed = e->packed, .to = whole, .room = e->whole};
    const char *problem = qn__inflate(&job);
    if (!problem && job.is_more) problem = "they are more than the file says";
    if (!problem && job.size != e->whole) problem = "they are fewer than the file says";
    if (problem)
        return qn__archive_fail(a, QN_ERROR_ARGUMENT, "the compressed bytes of %s are damaged: %s",
                                qn__quote_of(e->array.name, strlen(e->array.name)).text, problem);
    *elements = whole + e->skip;
    return check_crc(a, e, whole);
}

static qn_status copy_elements(const qn_archive *a, qn__entry *e, uint8_t **elements) {
    *elements = make_room(a, e, 0, e->array.bytes);
    if (!*elements) return QN_ERROR_OUT_OF_MEMORY;
    if (e->array.bytes) memcpy(*elements, e->at + e->skip, (size_t)e->array.bytes);
    return QN_OK;
}

static qn_status take_elements(const qn_archive *a, qn__entry *e, const void **data) {
    const uint32_t align = qn__encoding(e->array.encoding)->align;
    uint8_t *own = NULL; /* where they are not used as they are in the file */
    qn_status status = QN_OK;
    if (e->is_deflated) {
        status = inflate_entry(a, e, &own);
    } else {
        status = check_crc(a, e, e->at);
        if (!status && (e->is_swapped || (uintptr_t)(e->at + e->skip) % align))
            status = copy_elements(a, e, &own);
    }
    if (status) return status;
    if (own && e->is_swapped) swap_numbers(own, e->array.bytes, align);
    *data = own ? own : e->at + e->skip;
    return QN_OK;
}

qn_status qn_archive_data(qn_archive *a, const qn_host_array *array, const void **data) {
    if (data) *data = NULL;
    if (!check(a, "qn_archive_data")) return a ? QN_ERROR_ARGUMENT : QN_ERROR_NULL;
    if (!array) return qn__archive_fail(a, QN_ERROR_NULL, "qn_archive_data: array is NULL");
    qn__entry *e = entry_of(a, array);
    if (!e) return qn__archive_fail(a, QN_ERROR_ARGUMENT, "qn_archive_data: the array is none of its own");
    if (!e->array.data) {
        const qn_status status = take_elements(a, e, &e->array.data);
        if (status) {
            qn__archive_release(a, e->made);
            e->made = NULL;
            return status;
        }
    }
    if (data) *data = e->array.data;
    return QN_OK;
}

void qn_archive_forget(qn_archive *a, const qn_host_array *array) {
    if (!check(a, "qn_archive_forget")) return;
    qn__entry *e = entry_of(a, array);
    if (!e) return;
    qn__archive_release(a, e->made);
    e->made = NULL;
    e->array.data = NULL;
}
