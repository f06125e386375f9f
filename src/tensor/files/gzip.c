/* gzip (RFC 1952): members one after another, each with a head, deflated bytes, their checksum and size. */
#include <string.h>

#include "tensor/files/archive.h"
#include "tensor/files/deflate.h"

enum { HEAD = 10, TAIL = 8, MOST = 1032 /* bytes that one of deflate's can become */ };
enum { HAS_HEADER_CRC = 2, HAS_EXTRA = 4, HAS_NAME = 8, HAS_COMMENT = 16, RESERVED = 0xe0 };

static qn_status damaged(const qn_archive *a, const char *what) {
    return qn__archive_fail(a, QN_ERROR_ARGUMENT, "its compressed bytes are damaged: %s", what);
}

static bool skip_text(const qn_archive *a, uint64_t *at) {
    const uint8_t *end = *at < a->size ? memchr(a->bytes + *at, 0, (size_t)(a->size - *at)) : NULL;
    if (!end) return false;
    *at = (uint64_t)(end - a->bytes) + 1;
    return true;
}

/* Where a member's deflated bytes begin, and at least TAIL bytes follow. False: its head is damaged. */
static bool skip_head(const qn_archive *a, uint64_t *at) {
    const uint8_t *head = a->bytes + *at;
    if (a->size - *at < HEAD + TAIL || head[0] != 0x1f || head[1] != 0x8b || head[2] != 8) return false;
    const unsigned flags = head[3];
    if (flags & RESERVED) return false;
    *at += HEAD;
    if (flags & HAS_EXTRA) {
        const uint64_t extra = 2 + (uint64_t)qn__get16(a->bytes + *at);
        if (extra > a->size - *at) return false;
        *at += extra;
    }
    if (((flags & HAS_NAME) && !skip_text(a, at)) || ((flags & HAS_COMMENT) && !skip_text(a, at)))
        return false;
    if (flags & HAS_HEADER_CRC) *at += 2;
    return *at <= a->size && a->size - *at >= TAIL;
}

typedef struct output {
    uint8_t *data;
    uint64_t size, room;
} output;

/* At most what the file can become. */
static qn_status widen(const qn_archive *a, output *out) {
    const uint64_t most = a->size > UINT64_MAX / MOST ? UINT64_MAX : a->size * MOST;
    if (out->room >= most) return damaged(a, "they are more than can be");
    const uint64_t wanted = out->room > most / 2 ? most : out->room * 2;
    void *data =
        wanted <= SIZE_MAX ? a->allocator.reallocate(a->allocator.user, out->data, (size_t)wanted) : NULL;
    if (!data) return qn__archive_no_memory(a, wanted);
    out->data = data;
    out->room = wanted;
    return QN_OK;
}

/* From *at on, where a head is; leaves *at behind the tail. */
static qn_status inflate_member(const qn_archive *a, output *out, uint64_t *at) {
    if (!skip_head(a, at)) return damaged(a, "there is no head of gzip's");
    qn__inflation job;
    for (;;) {
        job = (qn__inflation){.at = a->bytes + *at,
                              .packed = a->size - TAIL - *at,
                              .to = out->data + out->size,
                              .room = out->room - out->size};
        const char *problem = qn__inflate(&job);
        if (problem) return damaged(a, problem);
        if (!job.is_more) break;
        const qn_status status = widen(a, out);
        if (status) return status;
    }
    const uint8_t *tail = a->bytes + *at + job.used;
    *at += job.used + TAIL;
    if (qn__crc32(0, job.to, job.size) != qn__get32(tail)) return damaged(a, "their checksum is wrong");
    if ((uint32_t)job.size != qn__get32(tail + 4)) return damaged(a, "their size is wrong");
    out->size += job.size;
    return QN_OK;
}

qn_status qn__read_gzip(qn_archive *a, uint8_t **data, uint64_t *size) {
    if (a->size < HEAD + TAIL) return damaged(a, "they end early");
    /* The last bytes say the size of a single member below 4 GiB; what they say is not trusted. */
    const uint64_t said = qn__get32(a->bytes + a->size - 4);
    output out = {.room = said / MOST < a->size ? said : a->size};
    if (out.room < 64) out.room = 64;
    out.data = qn__archive_allocate(a, out.room);
    if (!out.data) return QN_ERROR_OUT_OF_MEMORY;
    qn_status status = QN_OK;
    for (uint64_t at = 0; at < a->size && !status;) status = inflate_member(a, &out, &at);
    if (status) {
        qn__archive_release(a, out.data);
        return status;
    }
    *data = out.data;
    *size = out.size;
    return QN_OK;
}
