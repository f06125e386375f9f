/* What the tests of files share: bytes put together piece by piece, and archives of them that must open, or must not and say
   why. */
#ifndef FILES_SUPPORT_H
#define FILES_SUPPORT_H

#include <quern/files.h>

#include "api_support.h"

typedef struct bytes {
    uint8_t *data;
    size_t size, room;
} bytes;

static inline void put(bytes *b, const void *data, size_t size) {
    if (b->size + size > b->room) {
        b->room = 2 * (b->size + size);
        b->data = realloc(b->data, b->room);
        assert_non_null(b->data);
    }
    if (size) memcpy(b->data + b->size, data, size);
    b->size += size;
}

static inline void put_text(bytes *b, const char *text) { put(b, text, strlen(text)); }

/* The lowest `size` bytes, the lowest first. */
static inline void put_number(bytes *b, uint64_t number, unsigned size) {
    for (unsigned i = 0; i < size; i++) put(b, &(uint8_t){(uint8_t)(number >> 8 * i)}, 1);
}

static inline void put_zeros(bytes *b, size_t size) {
    while (size--) put(b, "", 1);
}

static inline qn_archive *open_bytes(qn_context *context, const bytes *b, qn_file_format format) {
    qn_archive *archive = NULL;
    assert_ok(context, qn_archive_open_memory(context, b->data, b->size, NULL,
                                              &(qn_archive_desc){.format = format}, &archive));
    return archive;
}

/* The bytes, which are released, must be refused with this status and sentence. The memory that they lie in ends with them, which
   shows reads beyond. */
static inline void assert_refused(qn_context *context, bytes *b, qn_file_format format, qn_status wanted,
                                  const char *part) {
    uint8_t *exact = malloc(b->size ? b->size : 1);
    assert_non_null(exact);
    if (b->size) memcpy(exact, b->data, b->size);
    qn_archive *archive = (qn_archive *)b;
    const qn_status status = qn_archive_open_memory(context, exact, b->size, "the file",
                                                    &(qn_archive_desc){.format = format}, &archive);
    if (status != wanted) fail_msg("%s instead of '%s'", qn_status_name(status), part);
    assert_null(archive);
    if (!strstr(qn_error_message(context), part) || !strstr(qn_error_message(context), "the file: "))
        fail_msg("'%s' instead of '%s'", qn_error_message(context), part);
    free(exact);
    free(b->data);
    *b = (bytes){0};
}

/* Each part of the bytes from their beginning on must be refused, but for `whole` bytes and more. */
static inline void assert_parts_refused(qn_context *context, const bytes *b, qn_file_format format,
                                        size_t whole) {
    for (size_t size = 0; size < whole; size++) {
        bytes part = {0};
        put(&part, b->data, size);
        assert_refused(context, &part, format, QN_ERROR_ARGUMENT, "");
    }
}

/* A folder for the test's files. */
static inline void make_folder(char folder[64]) {
    strcpy(folder, "/tmp/quern-files-XXXXXX");
    assert_non_null(mkdtemp(folder));
}

#endif
