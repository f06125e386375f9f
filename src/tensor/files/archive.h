/* What the readers and writers of files share: an archive while it is being read, memory that lives as long as it, sentences
   that name the file. A reader is one function: it looks at the file's bytes and adds entries. */
#ifndef QN__ARCHIVE_H
#define QN__ARCHIVE_H

#include <quern/files.h>

#include "tensor/files/system.h"

/* An array, and how its elements lie in the file. */
typedef struct qn__entry {
    qn_host_array array; /* first: callers have pointers to it */
    const uint8_t *at;   /* `packed` bytes of the file */
    uint64_t packed;
    uint64_t whole; /* how many bytes they are when inflated; else as many */
    uint64_t skip;  /* where among those the elements begin */
    bool is_deflated;
    bool is_swapped; /* of the other byte order */
    bool has_crc;
    uint32_t crc; /* of the whole */
    void *made;   /* memory that qn_archive_data has taken */
} qn__entry;

typedef struct qn__block qn__block;

struct qn_archive {
    uint32_t magic;
    qn_context *context;
    qn_allocator allocator;
    qn_file_format format;
    qn_archive_desc desc;
    const char *name;     /* for sentences */
    const uint8_t *bytes; /* of the file */
    uint64_t size;
    qn__mapping mapping; /* or memory of the archive's, or the caller's */
    void *owned;
    qn__block *blocks; /* of qn__archive_keep */
    qn__entry *entries;
    uint64_t count, entry_room;
    uint64_t *by_name; /* indices of entries, ordered by name */
    qn_metadata *metadata;
    uint64_t metadata_count, metadata_room;
};

/* Leaves "NAME: ..." as the sentence. */
qn_status qn__archive_fail(const qn_archive *archive, qn_status status, const char *format, ...);
qn_status qn__archive_no_memory(const qn_archive *archive, uint64_t size);

/* Memory, zeroed, until the archive is closed; NULL with a sentence. */
void *qn__archive_keep(qn_archive *archive, uint64_t size);
/* `count` of `size` bytes. */
void *qn__archive_keep_array(qn_archive *archive, uint64_t count, uint64_t size);
/* A copy of a text, with a zero behind. */
char *qn__archive_keep_text(qn_archive *archive, const void *text, uint64_t size);
void qn__archive_drop_blocks(qn_archive *archive);
/* Memory that the caller gives back by qn__archive_release. */
void *qn__archive_allocate(const qn_archive *archive, uint64_t size);
void qn__archive_release(const qn_archive *archive, void *memory);

/* A further entry or piece of metadata, zeroed; NULL with a sentence. The pointer holds until the next one. */
qn__entry *qn__archive_add(qn_archive *archive);
qn_metadata *qn__archive_add_metadata(qn_archive *archive);

/* Fills `bytes` from encoding and sizes. Fails where they are beyond 64 bits, or no whole blocks or bytes. `what` is what
   sentences call the array. */
qn_status qn__host_array_measure(const qn_archive *archive, qn_host_array *array, const char *what);

/* Orders indices of items. */
typedef bool qn__before(const void *items, uint64_t a, uint64_t b);
void qn__sort(uint64_t *index, uint64_t count, qn__before *before, const void *items);

/* By the ending of its name; QN_FILE_ANY: none. */
qn_file_format qn__format_of_path(const char *path);

/* What a sentence quotes of a file: cut, without control characters. */
typedef struct qn__quote {
    char text[80];
} qn__quote;
qn__quote qn__quote_of(const void *text, uint64_t size);
/* Whether it is UTF-8 without zeros: what names have to be. */
bool qn__is_name(const void *text, uint64_t size);

/* The formats' readers. */
qn_status qn__read_safetensors(qn_archive *archive);
qn_status qn__read_npy(qn_archive *archive);
qn_status qn__read_npz(qn_archive *archive);
qn_status qn__read_gguf(qn_archive *archive);
qn_status qn__read_idx(qn_archive *archive);
qn_status qn__read_csv(qn_archive *archive);
/* All of a gzip file, in memory that the caller releases. */
qn_status qn__read_gzip(qn_archive *archive, uint8_t **data, uint64_t *size);

/* The header of a .npy file in `bytes`: fills the entry's array, and says in *start where the elements begin. `size` is the
   size of all of the file, of which `have` bytes are there: *wants is set to more than `have` where they are not enough. */
qn_status qn__npy_header(qn_archive *archive, qn__entry *entry, const uint8_t *bytes, uint64_t have,
                         uint64_t size, uint64_t *start, uint64_t *wants);

static inline uint16_t qn__get16(const uint8_t *at) { return (uint16_t)(at[0] | at[1] << 8); }
static inline uint32_t qn__get32(const uint8_t *at) {
    return (uint32_t)qn__get16(at) | (uint32_t)qn__get16(at + 2) << 16;
}
static inline uint64_t qn__get64(const uint8_t *at) {
    return (uint64_t)qn__get32(at) | (uint64_t)qn__get32(at + 4) << 32;
}
/* False where it is beyond 64 bits. */
static inline bool qn__multiply(uint64_t *to, uint64_t factor) {
    if (factor && *to > UINT64_MAX / factor) return false;
    *to *= factor;
    return true;
}

#endif
