/* The disk cache's file of a program: a head with sizes and a hash, the SPIR-V words, and what the driver's
   pipeline cache gave. It is written when the program is loaded from text, and again when it is unloaded if the
   driver has compiled more by then. */
#include <stdio.h>
#include <string.h>

#include "backend/vulkan/vulkan.h"
#include "util/folder.h"
#include "util/hash.h"

enum { MAX_FILE = 256 << 20 };

typedef struct head {
    char magic[8];
    uint64_t words_size, cache_size, hash;
} head;

static const char magic[8] = "qnspirv1";

/* What the driver has compiled so far; NULL: nothing to be had. The caller releases it. */
static unsigned char *cache_data(qn__code *code, size_t *size) {
    qn__gpu *gpu = code->gpu;
    *size = 0;
    if (gpu->vk.GetPipelineCacheData(gpu->device, code->cache, size, NULL) != VK_SUCCESS || *size == 0)
        return NULL;
    unsigned char *data = qn__allocate(gpu->services->allocator, *size);
    if (data && gpu->vk.GetPipelineCacheData(gpu->device, code->cache, size, data) == VK_SUCCESS) return data;
    qn__release(gpu->services->allocator, data);
    *size = 0;
    return NULL;
}

void qn__vk_code_store(qn__code *code) {
    const qn__allocator *allocator = code->gpu->services->allocator;
    size_t cache_size;
    unsigned char *cache = cache_data(code, &cache_size);
    size_t size = sizeof(head) + code->words_size + cache_size;
    unsigned char *file = qn__allocate(allocator, size);
    if (file) {
        unsigned char *words = file + sizeof(head);
        memcpy(words, code->words, code->words_size);
        if (cache_size) memcpy(words + code->words_size, cache, cache_size);
        head h = {.words_size = code->words_size, .cache_size = cache_size};
        memcpy(h.magic, magic, sizeof magic);
        h.hash = qn__hash(words, code->words_size + cache_size, code->words_size);
        memcpy(file, &h, sizeof h);
        if (qn__private_write(code->path, file, size) == 0) code->grown = false;
    }
    qn__release(allocator, file);
    qn__release(allocator, cache);
}

qn_status qn__vk_code_fetch(qn__gpu *gpu, const char *path, char **file, const unsigned char **words,
                            size_t *words_size, const unsigned char **cache, size_t *cache_size, char *why) {
    size_t size = 0;
    *file = NULL;
    int error = qn__private_read(gpu->services->allocator, path, MAX_FILE, file, &size);
    if (error) {
        snprintf(why, QN__WHY, "%.300s: %s", path, strerror(error));
        return QN_ERROR_IO;
    }
    head h = {0};
    if (size >= sizeof h) memcpy(&h, *file, sizeof h);
    bool whole = size >= sizeof h && memcmp(h.magic, magic, sizeof magic) == 0 &&
                 h.words_size <= size - sizeof h && h.cache_size == size - sizeof h - h.words_size &&
                 h.words_size >= 20 && h.words_size % 4 == 0;
    const unsigned char *behind = (const unsigned char *)*file + sizeof h;
    if (!whole || qn__hash(behind, size - sizeof h, h.words_size) != h.hash) {
        snprintf(why, QN__WHY, "%.300s is damaged", path);
        qn__release(gpu->services->allocator, *file);
        *file = NULL;
        return QN_ERROR_IO;
    }
    *words = behind;
    *words_size = h.words_size;
    *cache = behind + h.words_size;
    *cache_size = h.cache_size;
    return QN_OK;
}
