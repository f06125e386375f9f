/* Images as tensors: read, written, many on one sheet. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "data/pixels.h"

static qn_context *context_of(qn_tensors *tensors) { return qn_device_context(qn_tensors_device(tensors)); }

/* ---- reading ---- */

/* Pixels as planes of channels. */
static qn_tensor *from_pixels(qn_tensors *tensors, const pixels *image) {
    qn_tensor *x =
        qn_from_data(tensors, QN_U8, QN_SHAPE(image->height, image->width, image->channels), image->data);
    return qn_permute(x, QN_AXES(2, 0, 1));
}

qn_tensor *qn_read_image(qn_tensors *tensors, const char *path, uint32_t channels) {
    pixels image = {.data = NULL};
    if (!tensors) return qn_tensor_fail(NULL, QN_ERROR_NULL, "qn_read_image: tensors is NULL");
    qn_status status = QN_OK;
    if (!path)
        status = qn__data_fail(context_of(tensors), QN_ERROR_NULL, "qn_read_image: path is NULL");
    else if (channels == 2 || channels > 4)
        status = qn__data_fail(context_of(tensors), QN_ERROR_ARGUMENT,
                               "qn_read_image: %u channels; 1, 3 or 4 can be", (unsigned)channels);
    if (!status) status = qn__pixels_read(context_of(tensors), path, channels, &image);
    if (status) return qn_tensor_fail(tensors, status, qn_error_message(context_of(tensors)));
    qn_tensor *x = from_pixels(tensors, &image);
    qn__pixels_release(&image);
    return x;
}

/* ---- writing ---- */

static bool ends_with(const char *path, const char *end) {
    const size_t length = strlen(path), size = strlen(end);
    if (length <= size) return false;
    for (size_t i = 0; i < size; i++)
        if ((path[length - size + i] | 32) != (end[i] | 32)) return false;
    return true;
}

/* Netpbm's binary formats. */
static qn_status write_plain(qn_context *context, const char *path, const pixels *image) {
    FILE *f = fopen(path, "wb");
    if (!f) return qn__data_fail(context, QN_ERROR_IO, "%.200s: %s", path, strerror(errno));
    const size_t size = (size_t)image->width * image->height * image->channels;
    fprintf(f, "P%c\n%u %u\n255\n", image->channels == 1 ? '5' : '6', (unsigned)image->width,
            (unsigned)image->height);
    const bool written = fwrite(image->data, 1, size, f) == size;
    if (fclose(f) || !written)
        return qn__data_fail(context, QN_ERROR_IO, "%.200s: %s", path, strerror(errno));
    return QN_OK;
}

static qn_status fail_shape(qn_context *context, const char *sentence) {
    return qn__data_fail(context, QN_ERROR_ARGUMENT, "qn_write_image: %s", sentence);
}

/* What the tensor is as an image, and the pixels as [height, width, channels] of QN_U8. */
static qn_status take_pixels(qn_context *context, qn_tensor **x, pixels *image) {
    const qn_shape shape = qn_tensor_shape(*x);
    const qn_element type = qn_tensor_type(*x);
    if (shape.rank != 2 && shape.rank != 3)
        return fail_shape(context, "an image is [height, width] or [channels, height, width]");
    const uint64_t *sizes = shape.sizes + (shape.rank - 2);
    const uint64_t channels = shape.rank == 3 ? shape.sizes[0] : 1;
    if ((channels != 1 && channels != 3) || !sizes[0] || !sizes[1] || sizes[0] > 1 << 20 ||
        sizes[1] > 1 << 20)
        return fail_shape(context, "an image has 1 or 3 channels, and up to 2^20 rows and columns");
    if (type != QN_U8 && type != QN_F32 && type != QN_F64 && type != QN_F16 && type != QN_BF16)
        return fail_shape(context, "pixels are floats or u8");
    image->channels = (uint32_t)channels;
    image->height = (uint32_t)sizes[0];
    image->width = (uint32_t)sizes[1];
    if (type != QN_U8) *x = qn_cast(qn_round(qn_multiply(qn_clip(qn_cast(*x, QN_F32), 0, 1), 255)), QN_U8);
    *x = qn_permute(qn_reshape(*x, QN_SHAPE(channels, sizes[0], sizes[1])), QN_AXES(1, 2, 0));
    return QN_OK;
}

static qn_status write_pixels(qn_context *context, const char *path, const pixels *image) {
    if (ends_with(path, ".pgm") || ends_with(path, ".ppm")) {
        if ((image->channels == 1) == ends_with(path, ".pgm")) return write_plain(context, path, image);
        return fail_shape(context, "a .pgm has one channel, a .ppm three");
    }
    if (qn__is_image_name(path)) return qn__pixels_write(context, path, image);
    return fail_shape(context, "the path ends with none of .png, .jpg, .jpeg, .pgm and .ppm");
}

qn_status qn_write_image(qn_tensor *x, const char *path) {
    qn_status status = qn_tensor_status(x);
    if (status) return status;
    qn_tensors *tensors = qn_tensor_owner(x);
    qn_context *context = context_of(tensors);
    if (!path) return qn__data_fail(context, QN_ERROR_NULL, "qn_write_image: path is NULL");
    pixels image = {.data = NULL};
    status = qn_scope_begin(tensors);
    if (status) return status;
    status = take_pixels(context, &x, &image);
    const uint64_t size = (uint64_t)image.width * image.height * image.channels;
    if (!status && !(image.data = qn__data_allocate(context, size))) status = QN_ERROR_OUT_OF_MEMORY;
    if (!status) status = qn_tensor_read(x, image.data, size);
    if (!status) status = write_pixels(context, path, &image);
    qn__data_release(context, image.data);
    qn_scope_end(tensors);
    return status;
}

qn_tensor *qn_image_sheet(qn_tensor *x, uint64_t columns) {
    const qn_shape shape = qn_tensor_shape(x);
    if (qn_tensor_status(x)) return x;
    if (shape.rank != 4 || !columns || !shape.sizes[0]) {
        static const char sentence[] =
            "qn_image_sheet: images are [n, channels, height, width], in one column or more";
        return qn_tensor_fail(qn_tensor_owner(x), QN_ERROR_ARGUMENT, sentence);
    }
    const uint64_t *sizes = shape.sizes, rows = (sizes[0] + columns - 1) / columns, height = sizes[2] + 1,
                   width = sizes[3] + 1;
    x = qn_pad(x, 0, 0, rows * columns - sizes[0], 0);
    x = qn_pad(qn_pad(x, 2, 0, 1, 0), 3, 0, 1, 0);
    x = qn_reshape(x, QN_SHAPE(rows, columns, sizes[1], height, width));
    x = qn_reshape(qn_permute(x, QN_AXES(2, 0, 3, 1, 4)), QN_SHAPE(sizes[1], rows * height, columns * width));
    return qn_slice(qn_slice(x, 1, 0, -1, 1), 2, 0, -1, 1);
}
