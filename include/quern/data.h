/* Data to learn from: sets of examples (arrays, tables, folders of images, functions of one's own), loaders that make batches of
   them ahead of the program, and images. In libquern_tensor.

       qn_dataset *digits;
       qn_loader *loader;
       qn_tensor *batch[2]; // images of [64, 28, 28] and labels of [64]
       bool more;
       qn_dataset_from_arrays(context, (qn_host_array[]){*images, *labels}, 2, &digits);
       qn_loader_create(t, digits, &(qn_loader_desc){.batch = 64, .shuffle = true}, &loader);
       while (!(status = qn_loader_next(loader, batch, &more)) && more)   // one epoch; the next loop is the next one
           status = qn_step_run(step, batch, 2, &loss, 1);

   Conventions are those of tensor.h. */
#ifndef QUERN_DATA_H
#define QUERN_DATA_H

#include <quern/files.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- sets of examples ---- */

/* What all examples of a set have: fields, each of a type and a shape. An image of u8 [3, 32, 32] and a label of i32 and no
   dimensions, say. */
typedef struct qn_field {
    qn_element type;
    qn_shape shape;
} qn_field;

enum { QN_MAX_FIELDS = 8 };

/* Writes the fields of example `index`, contiguous, to to[0], to[1], ... Called by the threads of loaders, several at a time. What it returns
   but QN_OK is what the loader returns, with the sentence that it has left in the context (qn_error_set). */
typedef qn_status qn_example_callback(void *user, uint64_t index, void *const *to);

typedef struct qn_dataset_desc {
    uint64_t count;      /* examples */
    uint32_t num_fields; /* 1 to QN_MAX_FIELDS, of QN_MAX_RANK - 1 dimensions at most */
    qn_field fields[QN_MAX_FIELDS];
    qn_example_callback *get;
    void *user;
    void (*release)(void *user); /* when the set and its parts are gone; may be NULL */
} qn_dataset_desc;

/* Sets do not change; any thread. They are counted: parts and loaders keep what they are of, so that a set can be destroyed as soon as those
   are made. Errors of all that make one: QN_ERROR_NULL, QN_ERROR_ARGUMENT, QN_ERROR_OUT_OF_MEMORY; `release` is called only after
   success. */
typedef struct qn_dataset qn_dataset;
QN_API qn_status qn_dataset_create(qn_context *context, const qn_dataset_desc *desc, qn_dataset **dataset);
QN_API void qn_dataset_destroy(qn_dataset *dataset);
/* Of arrays whose first dimension is that of the examples: a field each. Their data (qn_archive_data) stays the caller's, and where it is.
   Encodings are those that tensors have. */
QN_API qn_status qn_dataset_from_arrays(qn_context *context, const qn_host_array *arrays, uint32_t count,
                                        qn_dataset **dataset);
/* Columns of a table as a field: as many from `column` on as its shape has elements. Numbers are converted; for an integer type they are
   whole ones that it has, else QN_ERROR_ARGUMENT when the example is asked for. */
typedef struct qn_table_field {
    uint64_t column;
    qn_field field;
} qn_table_field;
/* Of a table of f64, rows by columns, as CSV files are: each row is an example. Fields may be of QN_F32, QN_F64, QN_I32, QN_I64 and QN_U8. The
   table's data is taken as by qn_dataset_from_arrays. */
QN_API qn_status qn_dataset_from_table(qn_context *context, const qn_host_array *table,
                                       const qn_table_field *fields, uint32_t num_fields,
                                       qn_dataset **dataset);
/* The examples whose numbers `indices` has, which are copied, in that order, and perhaps more than once. */
QN_API qn_status qn_dataset_part(qn_dataset *dataset, const uint64_t *indices, uint64_t count,
                                 qn_dataset **part);
/* Two parts: `count` examples chosen by `seed`, and the others. The same seed chooses the same ones. */
QN_API qn_status qn_dataset_split(qn_dataset *dataset, uint64_t count, uint64_t seed, qn_dataset **first,
                                  qn_dataset **others);

QN_API uint64_t qn_dataset_count(const qn_dataset *dataset);
QN_API uint32_t qn_dataset_num_fields(const qn_dataset *dataset);
/* Of all zeros past the end. */
QN_API qn_field qn_dataset_field(const qn_dataset *dataset, uint32_t index);
/* One example in host memory, as its callback writes it. Errors: QN_ERROR_NULL, QN_ERROR_RANGE, and the callback's. */
QN_API qn_status qn_dataset_get(qn_dataset *dataset, uint64_t index, void *const *to);

/* Images in a folder: with folders in it each of those is a class, whose images are all below it, and classes are numbered in the order of their
   names; without, all are of class 0. Files and folders whose names begin with a dot are left out, files of other kinds too. An image is scaled so that it fills
   `width` by `height`, and cut at both sides alike. Examples are pixels, QN_U8 of [channels, height, width], and the class, QN_I32. Defaults: the
   size of the first image; 3 channels (1 is gray). What an image is: qn_read_image. */
typedef struct qn_folder_desc {
    uint32_t width, height, channels;
} qn_folder_desc;
/* Files are looked for now, and read when an example is asked for. `desc` may be NULL. Errors besides: QN_ERROR_IO (the folder cannot be read, or has no
   image), QN_ERROR_UNSUPPORTED (the library was built without images). */
QN_API qn_status qn_dataset_from_folder(qn_context *context, const char *path, const qn_folder_desc *desc,
                                        qn_dataset **dataset);
/* Of a set from a folder, or a part of one: the name of a class; NULL: there is none. As long as the set. */
QN_API const char *qn_dataset_class(const qn_dataset *dataset, uint32_t index);

/* ---- loaders ---- */

/* Defaults: batches of 32, in the set's order, the last one smaller where they do not come out even, one thread, two batches ahead. */
typedef struct qn_loader_desc {
    uint64_t batch;
    bool shuffle;   /* another order in each epoch, by `seed` and its number alone */
    bool drop_last; /* no batch is smaller than the others */
    uint64_t seed;
    uint32_t workers; /* threads that ask the set for examples, at most 256 */
    uint32_t
        ahead; /* batches that are ready, or on their way to the device, before they are asked for; at most 64 */
    /* Gets a progress bar: after a batch, ten times a second at most, and at the end of an epoch. It begins with a carriage return, and the
       last one of an epoch ends with a newline: on a terminal it is a line that grows. qn_progress_to_file is such a function. */
    qn_text_callback *progress;
    void *progress_user;
    /* Batches are copied to memory of the device's even where kernels could read the host's. */
    bool copies;
} qn_loader_desc;

/* Makes batches of a set ahead of the program, on threads of its own. On devices with memory of their own they are copied there on a stream of the loader's
   while the tensors' stream computes; elsewhere examples are written where kernels read them. */
typedef struct qn_loader qn_loader;
/* Errors: QN_ERROR_NULL, QN_ERROR_ARGUMENT (no batch can be made, or numbers out of range), QN_ERROR_WRONG_CONTEXT, QN_ERROR_OUT_OF_MEMORY (also: no more
   threads), QN_ERROR_UNSUPPORTED (the device lacks a type), and what qn_buffer_create reports. */
QN_API qn_status qn_loader_create(qn_tensors *tensors, qn_dataset *dataset, const qn_loader_desc *desc,
                                  qn_loader **loader);
/* Before the tensors' owner is destroyed. Batches that were retained stay. NULL: nothing to do. */
QN_API void qn_loader_destroy(qn_loader *loader);
/* The next batch: a tensor a field, of the field's shape behind the number of examples. They are the loader's until the next call:
   whoever needs them longer retains them. Behind the last batch of an epoch *more is false, and the tensors are NULL; the call after that begins the next
   epoch. Errors: what the set's callback returned for one of the examples; the batch is left out, and the next call goes on. And what
   qn_stream_write reports. */
QN_API qn_status qn_loader_next(qn_loader *loader, qn_tensor **batch, bool *more);
/* How many batches an epoch has. */
QN_API uint64_t qn_loader_batches(const qn_loader *loader);
/* Which batch of which epoch comes next, both from 0; and going on with another: a run that is resumed gets the same batches as one that was not
   interrupted. Errors: QN_ERROR_RANGE (there is no such batch). */
QN_API void qn_loader_position(const qn_loader *loader, uint64_t *epoch, uint64_t *batch);
QN_API qn_status qn_loader_seek(qn_loader *loader, uint64_t epoch, uint64_t batch);
/* A text behind the progress bar from now on, "loss 0.12"; copied, cut to 63 bytes. */
QN_API void qn_loader_note(qn_loader *loader, const char *note);
/* A qn_text_callback that writes to the FILE that `file` is, and flushes. */
QN_API void qn_progress_to_file(void *file, const char *text);

/* ---- images ---- */

/* The image in a file, PNG or JPEG of 8 bits a channel or made so, with at most 2^28 pixels: QN_U8 of [channels, height, width]. `channels`: 1
   (gray), 3, or 4 (with alpha); 0: as the file has. A failed tensor tells: QN_ERROR_IO, QN_ERROR_ARGUMENT (it is no such image, or damaged; the sentence names
   it), QN_ERROR_UNSUPPORTED (the library was built without the headers of stb). */
QN_API qn_tensor *qn_read_image(qn_tensors *tensors, const char *path, uint32_t channels);
/* Writes x, of [height, width] or of [1 or 3, height, width], to a file: floats from 0 to 1, what is outside cut, or QN_U8 from 0 to 255. By the end of the
   path: .png, .jpg, .jpeg, or .pgm and .ppm, which any library can. Errors: QN_ERROR_NULL, QN_ERROR_ARGUMENT (another shape or type, an
   unknown end), QN_ERROR_UNSUPPORTED, QN_ERROR_IO, and a tensor's failure. */
QN_API qn_status qn_write_image(qn_tensor *x, const char *path);
/* Images of [n, channels, height, width] as one, in rows of `columns`, with a gap of a pixel between. */
QN_API qn_tensor *qn_image_sheet(qn_tensor *x, uint64_t columns);

/* ---- preparing batches ---- */

/* On the device, as all ops: batches come as they are in files, QN_U8 say, and what is done to them fuses. See also qn_one_hot. */

/* (x / scale - mean[c]) / deviation[c] for channel c of x of [n, channels, ...], as QN_F32; x of narrower floats keeps its type. `scale`: 255 for pixels of
   QN_U8, 0 or 1 for what is in range already. Of images as ImageNet's: means 0.485, 0.456, 0.406, deviations 0.229, 0.224, 0.225. */
QN_API qn_tensor *qn_normalize(qn_tensor *x, double scale, const double *mean, const double *deviation,
                               uint64_t channels);

/* How images may change, each at random and in its own way. Zeros: nothing of that. Edges that come into view are 0. */
typedef struct qn_augment_desc {
    double flip;            /* the probability of an exchange of left and right */
    double shift;           /* up to so many pixels, whole ones, in each direction */
    double rotate;          /* up to so many degrees to either side */
    double scale;           /* larger or smaller by up to this factor less 1: 0.1 is from 1 / 1.1 to 1.1 */
    uint32_t height, width; /* of the results, cut out anywhere in the image; 0: as the image */
} qn_augment_desc;
/* Images of [n, channels, height, width], floats or QN_U8 (which become QN_F32), with changes by the next random numbers. Pixels between others are bilinear;
   flips, shifts and cuts alone change none. Gradients go through. */
QN_API qn_tensor *qn_augment(qn_tensor *x, const qn_augment_desc *desc);

#ifdef __cplusplus
}
#endif

#endif
