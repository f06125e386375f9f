/* The disk cache's file of a program: a head with a checksum and sizes, the text (for the build without a required
   local size), the driver's binary, and that of the other build once there was need for it. */
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "backend/opencl/opencl.h"
#include "util/folder.h"
#include "util/hash.h"

enum { MAX_FILE = 256 << 20 };

typedef struct head {
    char magic[8];
    uint64_t sum; /* of all behind it */
    uint64_t sizes[QN__CL_PARTS];
} head;

enum { SUMMED = offsetof(head, sizes) };
static const char magic[8] = {'q', 'u', 'e', 'r', 'n', 'c', 'l', '2'};

void qn__cl_file_write(const qn__gpu *gpu, const char *path, const cl_file *file) {
    const qn__allocator *allocator = gpu->services->allocator;
    head h = {.sizes = {0}};
    size_t total = sizeof h;
    for (int i = 0; i < QN__CL_PARTS; i++) {
        h.sizes[i] = file->sizes[i];
        total += file->sizes[i];
    }
    unsigned char *data = qn__allocate(allocator, total);
    if (!data) return;
    unsigned char *at = data + sizeof h;
    memcpy(h.magic, magic, sizeof magic);
    memcpy(data, &h, sizeof h);
    for (int i = 0; i < QN__CL_PARTS; i++) {
        if (file->sizes[i]) memcpy(at, file->parts[i], file->sizes[i]);
        at += file->sizes[i];
    }
    h.sum = qn__hash(data + SUMMED, total - SUMMED, 0);
    memcpy(data, &h, sizeof h);
    int error = qn__private_write(path, data, total);
    qn__release(allocator, data);
    if (!error) return;
    char text[QN__WHY];
    snprintf(text, sizeof text, "opencl: the cache file %.300s: %s", path, strerror(error));
    gpu->services->log(gpu->services->log_user, QN_LOG_WARNING, text);
}

static bool find_parts(cl_file *file, size_t size) {
    head h;
    if (size < sizeof h) return false;
    memcpy(&h, file->data, sizeof h);
    if (memcmp(h.magic, magic, sizeof magic) != 0) return false;
    const unsigned char *at = (const unsigned char *)file->data + sizeof h;
    size_t rest = size - sizeof h;
    for (int i = 0; i < QN__CL_PARTS; i++) {
        if (h.sizes[i] > rest) return false;
        file->parts[i] = at;
        file->sizes[i] = (size_t)h.sizes[i];
        at += file->sizes[i];
        rest -= file->sizes[i];
    }
    return rest == 0 && h.sum == qn__hash(file->data + SUMMED, size - SUMMED, 0);
}

bool qn__cl_file_read(const qn__gpu *gpu, const char *path, cl_file *file) {
    size_t size = 0;
    *file = (cl_file){0};
    if (qn__private_read(gpu->services->allocator, path, MAX_FILE, &file->data, &size)) return false;
    if (find_parts(file, size)) return true;
    qn__cl_file_free(gpu, file);
    return false;
}

void qn__cl_file_free(const qn__gpu *gpu, cl_file *file) {
    qn__release(gpu->services->allocator, file->data);
    *file = (cl_file){0};
}
