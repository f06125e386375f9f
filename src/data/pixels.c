/* Image files by stb (github.com/nothings/stb), where the library is built with its headers. Files are not trusted: sizes are looked at before anything
   is decoded. */
#include "data/pixels.h"

#include "data/jpeg.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool qn__is_image_name(const char *name) {
    static const char *const ends[] = {".png", ".jpg", ".jpeg"};
    const size_t length = strlen(name);
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        const size_t end = strlen(ends[i]);
        size_t same = 0;
        while (same < end && length > end && (name[length - end + same] | 32) == (ends[i][same] | 32)) same++;
        if (same == end) return true;
    }
    return false;
}

#ifdef QN__HAS_STB
/* Memory is zeroed, since a damaged file may use tables that it has not defined; and no file ends the process. */
#define STBI_MALLOC(size)          calloc(1, size)
#define STBI_REALLOC(memory, size) realloc(memory, size)
#define STBI_FREE(memory)          free(memory)
#define STBI_ASSERT(holds)         ((void)0)
/* stb's implementation is compiled here. It declares static functions that it then leaves out, which gcc reports at the end of the file: so
   that warning is off for all of it. */
#pragma GCC diagnostic ignored "-Wunused-function"
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"
#ifdef __clang__
/* stb adds 0 to null pointers, copies nothing from them and lets sums of damaged images wrap, which the fuzzer's sanitizer would end at; its bounds stay looked at. */
#pragma clang attribute push(__attribute__((no_sanitize("pointer-overflow", "nonnull-attribute",             \
                                                        "signed-integer-overflow", "shift"))),               \
                             apply_to = function)
#endif
#define STB_IMAGE_IMPLEMENTATION
#define STB_IMAGE_STATIC
#define STBI_ONLY_PNG
#define STBI_ONLY_JPEG
#define STBI_NO_STDIO
#include <stb_image.h>
#define STB_IMAGE_WRITE_IMPLEMENTATION
#define STB_IMAGE_WRITE_STATIC
#include <stb_image_write.h>
#ifdef __clang__
#pragma clang attribute pop
#endif
#pragma GCC diagnostic pop

static const int64_t MOST_PIXELS = (int64_t)1 << 28;

/* A failure's word of stb's, "bad huffman code". */
static const char *reason(void) {
    const char *text = stbi_failure_reason();
    return text ? text : "it is none that is known";
}

qn_status qn__pixels_decode(qn_context *context, const void *file, uint64_t size, const char *name,
                            uint32_t channels, pixels *image) {
    int width = 0, height = 0, has = 0;
    if (size > INT_MAX)
        return qn__data_fail(context, QN_ERROR_ARGUMENT, "%.200s: an image of over 2 GiB", name);
    if (!qn__jpeg_tables_fit(file, size))
        return qn__data_fail(context, QN_ERROR_ARGUMENT,
                             "%.200s: the image is damaged: a Huffman table of over 256 symbols", name);
    if (!stbi_info_from_memory(file, (int)size, &width, &height, &has))
        return qn__data_fail(context, QN_ERROR_ARGUMENT, "%.200s: no PNG or JPEG image: %s", name, reason());
    if ((int64_t)width * height > MOST_PIXELS)
        return qn__data_fail(context, QN_ERROR_ARGUMENT, "%.200s: the image has %d x %d pixels; at most 2^28",
                             name, width, height);
    if (!channels) channels = has == 2 ? 4 : (uint32_t)has; /* gray with alpha */
    image->data = stbi_load_from_memory(file, (int)size, &width, &height, &has, (int)channels);
    if (!image->data)
        return qn__data_fail(context, QN_ERROR_ARGUMENT, "%.200s: the image is damaged: %s", name, reason());
    image->width = (uint32_t)width;
    image->height = (uint32_t)height;
    image->channels = channels;
    return QN_OK;
}

void qn__pixels_release(pixels *image) {
    stbi_image_free(image->data);
    image->data = NULL;
}

static qn_status read_file(qn_context *context, const char *path, FILE *f, uint8_t **data, uint64_t *size) {
    const long end = fseek(f, 0, SEEK_END) ? -1 : ftell(f);
    if (end < 0 || fseek(f, 0, SEEK_SET))
        return qn__data_fail(context, QN_ERROR_IO, "%.200s: %s", path, strerror(errno));
    *data = qn__data_allocate(context, (uint64_t)end);
    if (!*data) return QN_ERROR_OUT_OF_MEMORY;
    *size = fread(*data, 1, (size_t)end, f);
    if (!ferror(f)) return QN_OK;
    qn__data_release(context, *data);
    return qn__data_fail(context, QN_ERROR_IO, "%.200s: %s", path, strerror(errno));
}

qn_status qn__pixels_read(qn_context *context, const char *path, uint32_t channels, pixels *image) {
    uint8_t *data = NULL;
    uint64_t size = 0;
    FILE *f = fopen(path, "rb");
    if (!f) return qn__data_fail(context, QN_ERROR_IO, "%.200s: %s", path, strerror(errno));
    qn_status status = read_file(context, path, f, &data, &size);
    fclose(f);
    if (status) return status;
    status = qn__pixels_decode(context, data, size, path, channels, image);
    qn__data_release(context, data);
    return status;
}

qn_status qn__pixels_write(qn_context *context, const char *path, const pixels *image) {
    const int width = (int)image->width, height = (int)image->height, channels = (int)image->channels;
    const size_t length = strlen(path);
    const bool is_png = length > 4 && (path[length - 3] | 32) == 'p';
    errno = 0;
    const int written = is_png ? stbi_write_png(path, width, height, channels, image->data, width * channels)
                               : stbi_write_jpg(path, width, height, channels, image->data, 90);
    return written ? QN_OK
                   : qn__data_fail(context, QN_ERROR_IO, "%.200s: %s", path,
                                   errno ? strerror(errno) : "the image could not be written");
}
#else
static qn_status fail_without(qn_context *context, const char *path) {
    return qn__data_fail(
        context, QN_ERROR_UNSUPPORTED,
        "%.200s: this libquern_tensor was built without the headers of stb, which it needs for images", path);
}

qn_status qn__pixels_decode(qn_context *context, const void *file, uint64_t size, const char *name,
                            uint32_t channels, pixels *image) {
    (void)file, (void)size, (void)channels, (void)image;
    return fail_without(context, name);
}

qn_status qn__pixels_read(qn_context *context, const char *path, uint32_t channels, pixels *image) {
    (void)channels, (void)image;
    return fail_without(context, path);
}

void qn__pixels_release(pixels *image) { (void)image; }

qn_status qn__pixels_write(qn_context *context, const char *path, const pixels *image) {
    (void)image;
    return fail_without(context, path);
}
#endif
