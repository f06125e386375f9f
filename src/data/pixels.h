/* Pixels of images in host memory: read from files, scaled, written. */
#ifndef QN__DATA_PIXELS_H
#define QN__DATA_PIXELS_H

#include "data/data.h"

/* Rows from the top, pixels from the left, channels side by side. */
typedef struct pixels {
    uint32_t width, height, channels;
    uint8_t *data; /* to be released by qn__pixels_release */
} pixels;

/* Whether files can be images: by what their names end with. */
bool qn__is_image_name(const char *name);
/* `channels` 0: those of the file. Errors are those of qn_read_image, for the context. */
qn_status qn__pixels_read(qn_context *context, const char *path, uint32_t channels, pixels *image);
/* The image of a file's bytes, which messages call `name`. */
qn_status qn__pixels_decode(qn_context *context, const void *file, uint64_t size, const char *name,
                            uint32_t channels, pixels *image);
void qn__pixels_release(pixels *image);
/* As .png and .jpg, by the end of the path. */
qn_status qn__pixels_write(qn_context *context, const char *path, const pixels *image);

/* The middle of the image, scaled to fill width by height, as [channels, height, width]. */
qn_status qn__pixels_fit(qn_context *context, const pixels *image, uint32_t width, uint32_t height,
                         uint8_t *to);

#endif
