/* The disk cache's file of a program: what a backend keeps of it, in sections one after another, and behind them their
   sizes and a checksum, so that a damaged file is not given to a driver. An ELF image in the first section can be loaded
   from the file as it is. */
#include <stdio.h>
#include <string.h>

#include "backend/common/common.h"
#include "util/folder.h"
#include "util/hash.h"

enum { MAX_FILE = 256 << 20 };

/* The end of the file. */
typedef struct footer {
    uint64_t sizes[QN__MAX_SECTIONS];
    uint64_t sum; /* of all before it */
    char magic[8];
} footer;

static const char magic[8] = {'q', 'u', 'e', 'r', 'n', 'b', 'i', 'n'};

static uint64_t hash(const void *data, size_t size) {
    return qn__hash(data, size - sizeof(footer) + offsetof(footer, sum), 0);
}

unsigned char *qn__code_file_pack(const qn__allocator *allocator, const qn__section *sections, size_t *size) {
    footer f = {.sizes = {0}};
    *size = sizeof f;
    for (int i = 0; i < QN__MAX_SECTIONS; i++) *size += f.sizes[i] = sections[i].size;
    unsigned char *data = qn__allocate(allocator, *size), *at = data;
    if (!data) return NULL;
    for (int i = 0; i < QN__MAX_SECTIONS; i++) {
        if (sections[i].size) memcpy(at, sections[i].data, sections[i].size);
        at += sections[i].size;
    }
    memcpy(f.magic, magic, sizeof magic);
    memcpy(at, &f, sizeof f);
    f.sum = hash(data, *size);
    memcpy(at, &f, sizeof f);
    return data;
}

/* Where the sections lie; what is in them is not looked at. */
static bool find_sections(const void *data, size_t size, qn__section *sections, uint64_t *sum) {
    footer f;
    if (size < sizeof f) return false;
    const unsigned char *at = data;
    memcpy(&f, at + size - sizeof f, sizeof f);
    if (memcmp(f.magic, magic, sizeof magic) != 0) return false;
    size_t rest = size - sizeof f;
    for (int i = 0; i < QN__MAX_SECTIONS; i++) {
        if (f.sizes[i] > rest) return false;
        sections[i] = (qn__section){at, (size_t)f.sizes[i]};
        at += sections[i].size;
        rest -= sections[i].size;
    }
    *sum = f.sum;
    return rest == 0;
}

bool qn__code_file_unpack(const void *data, size_t size, qn__section *sections) {
    uint64_t sum;
    return find_sections(data, size, sections, &sum) && sum == hash(data, size);
}

bool qn__code_file_write(const qn__services *services, const char *path, const qn__section *sections) {
    size_t size;
    unsigned char *data = qn__code_file_pack(services->allocator, sections, &size);
    if (!data) return false;
    const int error = qn__private_write(path, data, size);
    qn__release(services->allocator, data);
    if (!error) return true;
    char text[QN__WHY];
    snprintf(text, sizeof text, "the cache file %.300s: %s", path, strerror(error));
    services->log(services->log_user, QN_LOG_WARNING, text);
    return false;
}

char *qn__code_file_read(const qn__services *services, const char *path, qn__section *sections, char *why) {
    char *data = NULL;
    size_t size = 0;
    if (path && qn__private_read(services->allocator, path, MAX_FILE, &data, &size) == 0) {
        if (qn__code_file_unpack(data, size, sections)) return data;
        qn__release(services->allocator, data);
    }
    snprintf(why, QN__WHY, "the cached code %.300s is missing or damaged", path ? path : "without a name");
    return NULL;
}

qn_status qn__code_file_open(const qn__services *services, const qn__code_source *source,
                             qn__section *sections, char **memory, char *why) {
    uint64_t sum;
    *memory = NULL;
    if (source->binary) {
        if (find_sections(source->binary, source->binary_size, sections, &sum)) return QN_OK;
        snprintf(why, QN__WHY, "the machine code is damaged");
        return QN_ERROR_IO;
    }
    *memory = qn__code_file_read(services, source->binary_path, sections, why);
    return *memory ? QN_OK : QN_ERROR_IO;
}
