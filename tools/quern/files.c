/* Whole files, and pictures by stb. */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include "tool.h"

/* stb's implementation is compiled here. It declares static functions that it then leaves out, which gcc
   reports at the end of the file: so that warning is off for all of it. */
#pragma GCC diagnostic ignored "-Wunused-function"
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"
#define STB_IMAGE_IMPLEMENTATION
#define STB_IMAGE_STATIC
#define STBI_ONLY_PNG
#define STBI_ONLY_JPEG
#include <stb_image.h>
#define STB_IMAGE_WRITE_IMPLEMENTATION
#define STB_IMAGE_WRITE_STATIC
#include <stb_image_write.h>
#pragma GCC diagnostic pop

bool tool_ends_with(const char *text, const char *end) {
    size_t a = strlen(text), b = strlen(end);
    return a >= b && strcasecmp(text + a - b, end) == 0;
}

const char *tool_stream_read(FILE *file, unsigned char **data, size_t *size) {
    size_t cap = 1 << 16;
    *size = 0;
    *data = tool_alloc(cap);
    for (size_t got; (got = fread(*data + *size, 1, cap - *size, file)) > 0;) {
        *size += got;
        if (*size < cap) continue;
        unsigned char *grown = realloc(*data, cap *= 2);
        if (!grown) return "out of memory";
        *data = grown;
    }
    return ferror(file) ? strerror(errno) : NULL;
}

const char *tool_file_read(const char *path, unsigned char **data, size_t *size) {
    FILE *file = fopen(path, "rb");
    if (!file) return strerror(errno);
    const char *error = tool_stream_read(file, data, size);
    fclose(file);
    return error;
}

/* Where a file system has no numbers of files, paths tell. */
bool tool_is_same_file(const char *a, const char *b) {
    struct stat of_a, of_b;
    if (strcmp(a, b) == 0) return true;
    return !stat(a, &of_a) && !stat(b, &of_b) && of_a.st_ino && of_a.st_ino == of_b.st_ino &&
           of_a.st_dev == of_b.st_dev;
}

const char *tool_file_write(const char *path, const unsigned char *data, size_t size) {
    FILE *file = fopen(path, "wb");
    if (!file) return strerror(errno);
    bool written = fwrite(data, 1, size, file) == size;
    if (fclose(file) || !written) return strerror(errno ? errno : EIO);
    return NULL;
}

const char *tool_image_read(const char *path, tool_arg *arg) {
    unsigned char *file;
    size_t size;
    const char *error = tool_file_read(path, &file, &size);
    if (error) return error;
    int width = 0, height = 0, channels;
    unsigned char *pixels =
        size <= INT_MAX ? stbi_load_from_memory(file, (int)size, &width, &height, &channels, 4) : NULL;
    free(file);
    if (!pixels) return stbi_failure_reason() ? stbi_failure_reason() : "it is no picture";
    arg->data = pixels;
    arg->size = (uint64_t)width * (uint64_t)height * 4;
    arg->type = (tool_type){QN_TYPE_U8, 4};
    arg->has_type = true;
    arg->width = (unsigned)width;
    arg->height = (unsigned)height;
    arg->shape = (tool_shape){.known = true, .ndim = 3, .dims = {arg->height, arg->width, 4}};
    return NULL;
}

const char *tool_png_write(const char *path, unsigned width, unsigned height, unsigned channels,
                           const unsigned char *data) {
    errno = 0;
    if (stbi_write_png(path, (int)width, (int)height, (int)channels, data, (int)(width * channels)))
        return NULL;
    return errno ? strerror(errno) : "the picture could not be written";
}
