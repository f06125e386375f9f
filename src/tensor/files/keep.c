/* What the readers stand on: memory of an archive, its sentences, its lists, sizes of arrays. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "tensor/files/archive.h"
#include "tensor/files/encoding.h"

/* ---- sentences ---- */

qn_status qn__archive_fail(const qn_archive *archive, qn_status status, const char *format, ...) {
    char text[1024];
    const int begin = snprintf(text, sizeof text, "%.300s: ", archive->name);
    va_list args;
    va_start(args, format);
    vsnprintf(text + begin, sizeof text - (size_t)begin, format, args);
    va_end(args);
    return qn_error_set(archive->context, status, text);
}

qn_status qn__archive_no_memory(const qn_archive *archive, uint64_t size) {
    return qn__archive_fail(archive, QN_ERROR_OUT_OF_MEMORY, "out of host memory (%llu bytes were wanted)",
                            (unsigned long long)size);
}

qn__quote qn__quote_of(const void *text, uint64_t size) {
    const uint8_t *bytes = text;
    enum { ROOM = sizeof(qn__quote) - sizeof "'...'" };
    const bool is_cut = size > ROOM;
    uint64_t end = is_cut ? ROOM : size;
    while (is_cut && end > 0 && (bytes[end] & 0xc0) == 0x80) end--; /* not within a character */
    qn__quote quote = {.text = "'"};
    for (uint64_t i = 0; i < end; i++)
        quote.text[1 + i] = (char)(bytes[i] < 0x20 || bytes[i] == 0x7f ? '?' : bytes[i]);
    strcpy(quote.text + 1 + end, is_cut ? "...'" : "'");
    return quote;
}

/* The bytes of a character that begins with this one; 0: none does. */
static unsigned character_size(uint8_t first) {
    return first < 0x80 ? 1 : first < 0xc2 ? 0 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : first < 0xf5 ? 4 : 0;
}

bool qn__is_name(const void *text, uint64_t size) {
    const uint8_t *at = text, *end = at + size;
    while (at < end) {
        const unsigned n = character_size(*at);
        if (!*at || !n || (uint64_t)(end - at) < n) return false;
        for (unsigned i = 1; i < n; i++)
            if ((at[i] & 0xc0) != 0x80) return false;
        /* Longer than it has to be; halves of pairs; beyond the last. */
        if ((at[0] == 0xe0 && at[1] < 0xa0) || (at[0] == 0xed && at[1] > 0x9f) ||
            (at[0] == 0xf0 && at[1] < 0x90) || (at[0] == 0xf4 && at[1] > 0x8f))
            return false;
        at += n;
    }
    return true;
}

/* ---- memory ---- */

enum { BLOCK = 32 << 10, ALIGN = 16 };

struct qn__block {
    qn__block *next;
    uint64_t used, size; /* of the bytes behind it */
};

_Static_assert(sizeof(qn__block) <= 32, "what is behind a block's head begins at 32");

void *qn__archive_allocate(const qn_archive *archive, uint64_t size) {
    void *memory =
        size <= SIZE_MAX ? archive->allocator.allocate(archive->allocator.user, (size_t)size) : NULL;
    if (!memory) qn__archive_no_memory(archive, size);
    return memory;
}

void qn__archive_release(const qn_archive *archive, void *memory) {
    if (memory) archive->allocator.release(archive->allocator.user, memory);
}

static qn__block *new_block(qn_archive *archive, uint64_t size) {
    if (size > SIZE_MAX - 32) {
        qn__archive_no_memory(archive, size);
        return NULL;
    }
    qn__block *block = qn__archive_allocate(archive, 32 + size);
    if (!block) return NULL;
    *block = (qn__block){.size = size};
    return block;
}

void *qn__archive_keep(qn_archive *archive, uint64_t size) {
    if (size > UINT64_MAX - ALIGN) {
        qn__archive_no_memory(archive, size);
        return NULL;
    }
    size = (size + ALIGN - 1) / ALIGN * ALIGN;
    qn__block *block = archive->blocks;
    if (!block || block->size - block->used < size) {
        block = new_block(archive, size > BLOCK / 4 ? size : BLOCK);
        if (!block) return NULL;
        /* A large one goes behind the first, which has room left. */
        qn__block **place = size > BLOCK / 4 && archive->blocks ? &archive->blocks->next : &archive->blocks;
        block->next = *place;
        *place = block;
    }
    uint8_t *memory = (uint8_t *)block + 32 + block->used;
    block->used += size;
    return memset(memory, 0, (size_t)size);
}

void *qn__archive_keep_array(qn_archive *archive, uint64_t count, uint64_t size) {
    uint64_t bytes = count;
    if (qn__multiply(&bytes, size)) return qn__archive_keep(archive, bytes);
    qn__archive_no_memory(archive, UINT64_MAX);
    return NULL;
}

char *qn__archive_keep_text(qn_archive *archive, const void *text, uint64_t size) {
    char *copy = size < UINT64_MAX ? qn__archive_keep(archive, size + 1) : NULL;
    if (copy && size) memcpy(copy, text, (size_t)size);
    return copy;
}

void qn__archive_drop_blocks(qn_archive *archive) {
    for (qn__block *block = archive->blocks, *next; block; block = next) {
        next = block->next;
        qn__archive_release(archive, block);
    }
    archive->blocks = NULL;
}

/* A list with room for one more of `size` bytes; NULL with a sentence. */
static void *grow(const qn_archive *archive, void *list, uint64_t count, uint64_t *room, size_t size) {
    if (count < *room) return list;
    const uint64_t wanted = *room ? *room * 2 : 16;
    uint64_t bytes = wanted;
    void *grown = NULL;
    if (qn__multiply(&bytes, size) && bytes <= SIZE_MAX)
        grown = archive->allocator.reallocate(archive->allocator.user, list, (size_t)bytes);
    if (grown)
        *room = wanted;
    else
        qn__archive_no_memory(archive, bytes);
    return grown;
}

qn__entry *qn__archive_add(qn_archive *archive) {
    qn__entry *list =
        grow(archive, archive->entries, archive->count, &archive->entry_room, sizeof(qn__entry));
    if (!list) return NULL;
    archive->entries = list;
    list[archive->count] = (qn__entry){.array = {.name = ""}};
    return &list[archive->count++];
}

qn_metadata *qn__archive_add_metadata(qn_archive *archive) {
    qn_metadata *list = grow(archive, archive->metadata, archive->metadata_count, &archive->metadata_room,
                             sizeof(qn_metadata));
    if (!list) return NULL;
    archive->metadata = list;
    list[archive->metadata_count] = (qn_metadata){.key = "", .count = 1};
    return &list[archive->metadata_count++];
}

/* A heap: it takes no memory and is never slow. */
void qn__sort(uint64_t *index, uint64_t count, qn__before *before, const void *items) {
    uint64_t begin = count / 2, end = count;
    while (end > 1) {
        uint64_t moved;
        if (begin > 0) {
            moved = index[--begin];
        } else {
            moved = index[--end];
            index[end] = index[0];
        }
        uint64_t at = begin;
        for (uint64_t child; (child = 2 * at + 1) < end; at = child) {
            if (child + 1 < end && before(items, index[child], index[child + 1])) child++;
            if (!before(items, moved, index[child])) break;
            index[at] = index[child];
        }
        index[at] = moved;
    }
}

/* ---- arrays ---- */

uint64_t qn_host_array_count(const qn_host_array *array) {
    uint64_t count = 1;
    bool fits = true;
    for (uint32_t i = 0; i < array->rank && i < QN_MAX_RANK; i++) {
        if (array->sizes[i] == 0) return 0;
        fits = fits && qn__multiply(&count, array->sizes[i]);
    }
    return fits ? count : UINT64_MAX;
}

qn_status qn__host_array_measure(const qn_archive *archive, qn_host_array *array, const char *what) {
    const qn__encoding_info *info = qn__encoding(array->encoding);
    const uint64_t count = qn_host_array_count(array);
    /* Strides are signed. */
    uint64_t bytes = count / info->elements;
    if (count > INT64_MAX || !qn__multiply(&bytes, info->bytes) || bytes > INT64_MAX)
        return qn__archive_fail(archive, QN_ERROR_ARGUMENT, "%s has more elements than 63 bits count", what);
    if (count % info->elements)
        return qn__archive_fail(archive, QN_ERROR_ARGUMENT,
                                "%s has %llu elements; those of %s come in blocks of %u", what,
                                (unsigned long long)count, info->name, (unsigned)info->elements);
    array->bytes = bytes;
    return QN_OK;
}

static bool is_contiguous(const qn_host_array *array) {
    for (uint32_t i = 0; i < array->rank; i++)
        if (array->strides[i]) return false;
    return true;
}

/* To the next index of the outer dimensions, whose first element is at *from. False: that was the last. */
static bool step(const qn_host_array *array, uint64_t *index, int64_t size, const uint8_t **from) {
    for (uint32_t d = array->rank - 1; d-- > 0;) {
        *from += array->strides[d] * size;
        if (++index[d] < array->sizes[d]) return true;
        *from -= (int64_t)array->sizes[d] * array->strides[d] * size;
        index[d] = 0;
    }
    return false;
}

static void gather(const qn_host_array *array, uint32_t size, uint8_t *to) {
    uint64_t index[QN_MAX_RANK] = {0};
    const uint8_t *from = array->data;
    const uint32_t last = array->rank - 1;
    do {
        for (uint64_t i = 0; i < array->sizes[last]; i++, to += size)
            memcpy(to, from + (int64_t)i * array->strides[last] * (int64_t)size, size);
    } while (step(array, index, size, &from));
}

qn_status qn_host_array_copy(const qn_host_array *array, void *to, uint64_t size) {
    if (!array || (array->bytes && (!to || !array->data))) return QN_ERROR_NULL;
    if (array->rank > QN_MAX_RANK || (unsigned)array->encoding >= QN_ENCODING_COUNT) return QN_ERROR_ARGUMENT;
    if (size < array->bytes) return QN_ERROR_RANGE;
    if (array->bytes == 0) return QN_OK;
    if (is_contiguous(array)) {
        memcpy(to, array->data, (size_t)array->bytes);
        return QN_OK;
    }
    const qn__encoding_info *info = qn__encoding(array->encoding);
    if (info->elements != 1) return QN_ERROR_UNSUPPORTED;
    uint64_t bytes = qn_host_array_count(array);
    if (!qn__multiply(&bytes, info->bytes) || bytes > size) return QN_ERROR_RANGE;
    gather(array, info->bytes, to);
    return QN_OK;
}
