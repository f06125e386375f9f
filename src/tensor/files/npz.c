/* NumPy's .npz files: zip archives (PKWARE's APPNOTE, also with its 64-bit records) of .npy files, stored or deflated. The
   directory at the end says what there is; each entry's own head is looked at for where its bytes begin. */
#include <string.h>

#include "tensor/files/archive.h"
#include "tensor/files/deflate.h"

enum { END = 22, END64 = 56, LOCATOR = 20, RECORD = 46, HEAD = 30, LONGEST_COMMENT = 65535 };
enum { STORED = 0, DEFLATED = 8, IS_ENCRYPTED = 1, MOST = 1032 };

/* An entry as the directory has it. */
typedef struct record {
    const uint8_t *name;
    uint64_t name_size, packed, whole, head;
    uint32_t crc, flags, method;
} record;

static qn_status damaged(const qn_archive *a, const char *what) {
    return qn__archive_fail(a, QN_ERROR_ARGUMENT, "it is no whole zip archive: %s", what);
}

/* The directory's end: the last one, whose comment reaches to the end of the file. NULL: there is none. */
static const uint8_t *find_end(const qn_archive *a) {
    for (uint64_t back = END; back <= a->size && back <= END + LONGEST_COMMENT; back++) {
        const uint8_t *at = a->bytes + a->size - back;
        if (memcmp(at, "PK\5\6", 4) == 0 && qn__get16(at + 20) == back - END) return at;
    }
    return NULL;
}

typedef struct directory {
    uint64_t at, size, count;
} directory;

static qn_status find_directory(const qn_archive *a, directory *d) {
    const uint8_t *end = find_end(a);
    if (!end) return damaged(a, "its directory's end is missing");
    if (qn__get16(end + 4) || qn__get16(end + 6)) return damaged(a, "it is one of several parts");
    *d = (directory){.at = qn__get32(end + 16), .size = qn__get32(end + 12), .count = qn__get16(end + 10)};
    const uint64_t place = (uint64_t)(end - a->bytes);
    uint64_t limit = place; /* what the directory ends before */
    if (place >= LOCATOR && memcmp(end - LOCATOR, "PK\6\7", 4) == 0) {
        const uint64_t at = qn__get64(end - LOCATOR + 8);
        if (place - LOCATOR < END64 || at > place - LOCATOR - END64 ||
            memcmp(a->bytes + at, "PK\6\6", 4) != 0)
            return damaged(a, "its directory's 64-bit end is missing");
        const uint8_t *end64 = a->bytes + at;
        *d = (directory){
            .at = qn__get64(end64 + 48), .size = qn__get64(end64 + 40), .count = qn__get64(end64 + 32)};
        limit = at;
    }
    if (d->size > limit || d->at > limit - d->size) return damaged(a, "its directory lies outside of it");
    if (d->count > d->size / RECORD) return damaged(a, "its directory has fewer entries than it says");
    return QN_OK;
}

/* The 64-bit values of an extra field, in the order of those that did not fit. False: they are not there. */
static bool read_wide(const uint8_t *extra, uint64_t size, record *r) {
    while (size >= 4) {
        const uint64_t part = qn__get16(extra + 2);
        if (part > size - 4) return false;
        if (qn__get16(extra) == 1) {
            uint64_t *const fields[] = {&r->whole, &r->packed, &r->head};
            uint64_t at = 4;
            for (int i = 0; i < 3; i++) {
                if (*fields[i] != UINT32_MAX) continue;
                if (at + 8 > 4 + part) return false;
                *fields[i] = qn__get64(extra + at);
                at += 8;
            }
            return true;
        }
        extra += 4 + part;
        size -= 4 + part;
    }
    return r->whole != UINT32_MAX && r->packed != UINT32_MAX && r->head != UINT32_MAX;
}

/* The record at *at, which moves behind it. */
static bool read_record(const uint8_t **at, const uint8_t *end, record *r) {
    const uint8_t *p = *at;
    if (end - p < RECORD || memcmp(p, "PK\1\2", 4) != 0) return false;
    const uint64_t name = qn__get16(p + 28), extra = qn__get16(p + 30), comment = qn__get16(p + 32);
    if (name + extra + comment > (uint64_t)(end - p) - RECORD) return false;
    *r = (record){.name = p + RECORD,
                  .name_size = name,
                  .packed = qn__get32(p + 20),
                  .whole = qn__get32(p + 24),
                  .head = qn__get32(p + 42),
                  .crc = qn__get32(p + 16),
                  .flags = qn__get16(p + 8),
                  .method = qn__get16(p + 10)};
    *at = p + RECORD + name + extra + comment;
    return read_wide(p + RECORD + name, extra, r);
}

/* Where the entry's bytes begin: behind its head, before the directory. */
static qn_status find_bytes(const qn_archive *a, const record *r, uint64_t limit, const uint8_t **bytes) {
    const qn__quote name = qn__quote_of(r->name, r->name_size);
    if (limit < HEAD || r->head > limit - HEAD || memcmp(a->bytes + r->head, "PK\3\4", 4) != 0)
        return qn__archive_fail(a, QN_ERROR_ARGUMENT, "%s does not begin where the directory says",
                                name.text);
    const uint8_t *head = a->bytes + r->head;
    const uint64_t begin = r->head + HEAD + qn__get16(head + 26) + qn__get16(head + 28);
    if (begin > limit || r->packed > limit - begin)
        return qn__archive_fail(a, QN_ERROR_ARGUMENT, "%s is said to be %llu bytes, more than the file has",
                                name.text, (unsigned long long)r->packed);
    *bytes = a->bytes + begin;
    return QN_OK;
}

static qn_status check_record(const qn_archive *a, const record *r) {
    const qn__quote name = qn__quote_of(r->name, r->name_size);
    if (!r->name_size || !qn__is_name(r->name, r->name_size))
        return qn__archive_fail(a, QN_ERROR_ARGUMENT, "the name %s is empty or no UTF-8", name.text);
    if (r->flags & IS_ENCRYPTED)
        return qn__archive_fail(a, QN_ERROR_UNSUPPORTED, "%s is encrypted", name.text);
    if (r->method != STORED && r->method != DEFLATED)
        return qn__archive_fail(a, QN_ERROR_UNSUPPORTED,
                                "%s is compressed by method %u of zip's; only deflate, 8, is known",
                                name.text, (unsigned)r->method);
    if (r->method == STORED ? r->packed != r->whole : r->whole / MOST > r->packed)
        return qn__archive_fail(a, QN_ERROR_ARGUMENT, "%s cannot be %llu bytes when it is %llu in the file",
                                name.text, (unsigned long long)r->whole, (unsigned long long)r->packed);
    return QN_OK;
}

/* The header of a deflated .npy file: of as many of its bytes as that takes. */
static qn_status inflate_header(qn_archive *a, qn__entry *e) {
    uint64_t room = 512;
    for (;;) {
        if (room > e->whole) room = e->whole;
        uint8_t *bytes = qn__archive_allocate(a, room ? room : 1);
        if (!bytes) return QN_ERROR_OUT_OF_MEMORY;
        qn__inflation job = {.at = e->at, .packed = e->packed, .to = bytes, .room = room};
        const char *problem = qn__inflate(&job);
        uint64_t wants = 0;
        qn_status status = QN_OK;
        if (problem || job.size < room)
            status = qn__archive_fail(a, QN_ERROR_ARGUMENT, "the compressed bytes of %s are damaged: %s",
                                      qn__quote_of(e->array.name, strlen(e->array.name)).text,
                                      problem ? problem : "they are fewer than the file says");
        else
            status = qn__npy_header(a, e, bytes, room, e->whole, &e->skip, &wants);
        qn__archive_release(a, bytes);
        if (status || !wants) return status;
        room = wants;
    }
}

static qn_status add_entry(qn_archive *a, const record *r, uint64_t limit) {
    const uint8_t *bytes = NULL;
    qn_status status = check_record(a, r);
    if (!status) status = find_bytes(a, r, limit, &bytes);
    if (status) return status;
    const bool is_npy = r->name_size > 4 && memcmp(r->name + r->name_size - 4, ".npy", 4) == 0;
    qn__entry *e = qn__archive_add(a);
    if (!e) return QN_ERROR_OUT_OF_MEMORY;
    e->array.name = qn__archive_keep_text(a, r->name, r->name_size - (is_npy ? 4 : 0));
    if (!e->array.name) return QN_ERROR_OUT_OF_MEMORY;
    e->at = bytes;
    e->packed = r->packed;
    e->whole = r->whole;
    e->is_deflated = r->method == DEFLATED;
    e->has_crc = true;
    e->crc = r->crc;
    if (is_npy) {
        uint64_t wants;
        return e->is_deflated ? inflate_header(a, e)
                              : qn__npy_header(a, e, e->at, e->whole, e->whole, &e->skip, &wants);
    }
    e->array.encoding = QN_ENCODING_U8;
    e->array.rank = 1;
    e->array.sizes[0] = r->whole;
    return qn__host_array_measure(a, &e->array, qn__quote_of(r->name, r->name_size).text);
}

static bool lies_before(const void *items, uint64_t a, uint64_t b) {
    const qn__entry *entries = items;
    return entries[a].at != entries[b].at ? entries[a].at < entries[b].at : a < b;
}

/* Entries that share bytes make much of little, and are nobody's work but a forger's. */
static qn_status check_places(qn_archive *a) {
    uint64_t *index = qn__archive_allocate(a, (a->count + 1) * sizeof *index);
    if (!index) return QN_ERROR_OUT_OF_MEMORY;
    for (uint64_t i = 0; i < a->count; i++) index[i] = i;
    qn__sort(index, a->count, lies_before, a->entries);
    qn_status status = QN_OK;
    for (uint64_t i = 1; i < a->count && !status; i++) {
        const qn__entry *before = &a->entries[index[i - 1]], *e = &a->entries[index[i]];
        if ((uint64_t)(e->at - before->at) < before->packed)
            status = qn__archive_fail(a, QN_ERROR_ARGUMENT, "%s overlaps another entry",
                                      qn__quote_of(e->array.name, strlen(e->array.name)).text);
    }
    qn__archive_release(a, index);
    return status;
}

qn_status qn__read_npz(qn_archive *a) {
    directory d = {0};
    const qn_status status = find_directory(a, &d);
    if (status) return status;
    const uint8_t *at = a->bytes + d.at, *end = at + d.size;
    for (uint64_t i = 0; i < d.count; i++) {
        record r;
        if (!read_record(&at, end, &r)) return damaged(a, "its directory is damaged");
        if (r.name_size && r.name[r.name_size - 1] == '/') continue; /* a folder */
        const qn_status added = add_entry(a, &r, d.at);
        if (added) return added;
    }
    return at == end ? check_places(a) : damaged(a, "its directory has more entries than it says");
}
