/* Files of arrays, as tables of named arrays in host memory and as tensors: safetensors, NumPy's .npy and .npz, GGUF, IDX and CSV, any of
   them also compressed by gzip.

       qn_archive *archive;
       qn_archive_open(context, "model.safetensors", NULL, &archive);
       const qn_host_array *array = qn_archive_find(archive, "wte.weight");
       const void *data;
       qn_archive_data(archive, array, &data); // in the mapped file: nothing was copied
       qn_archive_close(archive);

   And as tensors: qn_from_archive, qn_load for all of a state, qn_save.

   What holds for all of it
   - Files are not trusted: what is damaged, cut off, or says other sizes than it has is QN_ERROR_ARGUMENT with a sentence
   (qn_error_message of the context) that names the file and the place. A file that cannot be read or written is QN_ERROR_IO.
   What a format has and this library does not is QN_ERROR_UNSUPPORTED.
   - Files are mapped, read only. A file that shrinks while it is mapped ends the process (SIGBUS), as with any mapping: one
   that others change is opened with `copy`.
   - An archive is for one thread at a time. Names and texts are UTF-8, end with a zero and have none within, and live as long
   as the archive. */
#ifndef QUERN_FILES_H
#define QUERN_FILES_H

#include <quern/tensor.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- how elements are encoded ---- */

/* X(NAME, word): types of elements in files: first those of qn_element; then numbers that it lacks; then GGUF's blocks of
   quantised numbers. */
#define QN_ENCODING_MAP(X)                                                                                   \
    X(QN_ENCODING_F32, "f32")                                                                                \
    X(QN_ENCODING_F64, "f64")                                                                                \
    X(QN_ENCODING_F16, "f16")                                                                                \
    X(QN_ENCODING_BF16, "bf16")                                                                              \
    X(QN_ENCODING_E4M3, "e4m3")                                                                              \
    X(QN_ENCODING_E5M2, "e5m2")                                                                              \
    X(QN_ENCODING_I8, "i8")                                                                                  \
    X(QN_ENCODING_I16, "i16")                                                                                \
    X(QN_ENCODING_I32, "i32")                                                                                \
    X(QN_ENCODING_I64, "i64")                                                                                \
    X(QN_ENCODING_U8, "u8")                                                                                  \
    X(QN_ENCODING_U16, "u16")                                                                                \
    X(QN_ENCODING_U32, "u32")                                                                                \
    X(QN_ENCODING_U64, "u64")                                                                                \
    X(QN_ENCODING_BOOL, "bool")                                                                              \
    X(QN_ENCODING_C64, "c64")           /* two f32: a complex number */                                      \
    X(QN_ENCODING_C128, "c128")         /* two f64 */                                                        \
    X(QN_ENCODING_E8M0, "e8m0")         /* a power of two in 8 bits */                                       \
    X(QN_ENCODING_E4M3FNUZ, "e4m3fnuz") /* 8 bits without infinities and -0 */                               \
    X(QN_ENCODING_E5M2FNUZ, "e5m2fnuz")                                                                      \
    X(QN_ENCODING_E2M1, "e2m1") /* 4 bits: 2 numbers a byte */                                               \
    X(QN_ENCODING_E2M3, "e2m3") /* 6 bits: 4 numbers in 3 bytes */                                           \
    X(QN_ENCODING_E3M2, "e3m2")                                                                              \
    X(QN_ENCODING_Q4_0, "q4_0")                                                                              \
    X(QN_ENCODING_Q4_1, "q4_1")                                                                              \
    X(QN_ENCODING_Q5_0, "q5_0")                                                                              \
    X(QN_ENCODING_Q5_1, "q5_1")                                                                              \
    X(QN_ENCODING_Q8_0, "q8_0")                                                                              \
    X(QN_ENCODING_Q8_1, "q8_1")                                                                              \
    X(QN_ENCODING_Q2_K, "q2_k")                                                                              \
    X(QN_ENCODING_Q3_K, "q3_k")                                                                              \
    X(QN_ENCODING_Q4_K, "q4_k")                                                                              \
    X(QN_ENCODING_Q5_K, "q5_k")                                                                              \
    X(QN_ENCODING_Q6_K, "q6_k")                                                                              \
    X(QN_ENCODING_Q8_K, "q8_k")                                                                              \
    X(QN_ENCODING_IQ2_XXS, "iq2_xxs")                                                                        \
    X(QN_ENCODING_IQ2_XS, "iq2_xs")                                                                          \
    X(QN_ENCODING_IQ2_S, "iq2_s")                                                                            \
    X(QN_ENCODING_IQ3_XXS, "iq3_xxs")                                                                        \
    X(QN_ENCODING_IQ3_S, "iq3_s")                                                                            \
    X(QN_ENCODING_IQ1_S, "iq1_s")                                                                            \
    X(QN_ENCODING_IQ1_M, "iq1_m")                                                                            \
    X(QN_ENCODING_IQ4_NL, "iq4_nl")                                                                          \
    X(QN_ENCODING_IQ4_XS, "iq4_xs")                                                                          \
    X(QN_ENCODING_TQ1_0, "tq1_0")                                                                            \
    X(QN_ENCODING_TQ2_0, "tq2_0")                                                                            \
    X(QN_ENCODING_MXFP4, "mxfp4")

typedef enum qn_encoding {
#define QN_ENCODING_ENUM(name, word) name,
    QN_ENCODING_MAP(QN_ENCODING_ENUM)
#undef QN_ENCODING_ENUM
        QN_ENCODING_COUNT
} qn_encoding;

/* "q4_k". NULL for what is none. Any thread. */
QN_API const char *qn_encoding_name(qn_encoding encoding);
/* The type of element that kernels know it by; false: it is none of theirs. Any thread. */
QN_API bool qn_encoding_element(qn_encoding encoding, qn_element *element);
/* The encoding of a type of element; QN_ENCODING_COUNT for what is none. Any thread. */
QN_API qn_encoding qn_encoding_of(qn_element element);
/* So many elements that follow each other take so many bytes: 1 and 4 of f32, 256 and 144 of q4_k. Zeros for what is none.
   Any thread. */
QN_API void qn_encoding_block(qn_encoding encoding, uint32_t *elements, uint32_t *bytes);

/* ---- arrays in host memory ---- */

/* `rank` dimensions, outermost first; rank 0 is one element. Strides are in elements; when all of them are 0 the array is
   contiguous, the last dimension fastest. `bytes` are those of all elements. */
typedef struct qn_host_array {
    const char *name;
    qn_encoding encoding;
    uint32_t rank;
    uint64_t sizes[QN_MAX_RANK];
    int64_t strides[QN_MAX_RANK];
    /* At a multiple of the element's size. In an archive that is read: where it is in memory now; NULL until
       qn_archive_data has been asked for it. */
    const void *data;
    uint64_t bytes;
} qn_host_array;

/* How many elements it has; UINT64_MAX where that is beyond 64 bits. Any thread. */
QN_API uint64_t qn_host_array_count(const qn_host_array *array);
/* Writes all elements to `to`, contiguous, the last dimension fastest. `size` is that of `to`, array->bytes at least. Arrays
   with strides have whole bytes an element. Errors, without a sentence: QN_ERROR_NULL, QN_ERROR_RANGE (`to` is too small),
   QN_ERROR_UNSUPPORTED (strides and blocks). Any thread. */
QN_API qn_status qn_host_array_copy(const qn_host_array *array, void *to, uint64_t size);

/* ---- metadata ---- */

typedef enum qn_metadata_kind {
    QN_METADATA_TEXT,
    QN_METADATA_BOOL,
    QN_METADATA_INTEGER,  /* signed */
    QN_METADATA_UNSIGNED, /* integers that the file has as unsigned */
    QN_METADATA_FLOAT,
    QN_METADATA_LIST /* of further metadata: arrays of arrays */
} qn_metadata_kind;

/* Some texts in files have zeros within or are not UTF-8 (the tokens of a vocabulary): here they are as they are, with their
   size, and a zero behind. */
typedef struct qn_text {
    const char *text;
    uint64_t size;
} qn_text;

/* A key and its value: one, or with is_list `count` of the same kind. */
typedef struct qn_metadata {
    const char *key;
    qn_metadata_kind kind;
    bool is_list;
    uint64_t count; /* 1 where it is no list */
    union {         /* which, says the kind */
        const qn_text *texts;
        const bool *bools;
        const int64_t *integers;
        const uint64_t *numbers;
        const double *floats;
        const struct qn_metadata *lists;
    } values;
} qn_metadata;

/* ---- archives: files of arrays ---- */

typedef enum qn_file_format {
    QN_FILE_ANY, /* found out by what the file begins with; CSV by a name that ends with .csv or .tsv */
    QN_FILE_SAFETENSORS,
    QN_FILE_NPY, /* one array, "data". Versions 1 to 3, either byte order, Fortran order (as strides) */
    QN_FILE_NPZ, /* names are those of the files in it without ".npy"; files of other kinds are arrays of u8 */
    QN_FILE_GGUF, /* versions 2 and 3, little-endian. Dimensions are outermost first here, in the file the other way round */
    QN_FILE_IDX, /* MNIST's: one array, "data" */
    QN_FILE_CSV, /* one array of f64, "data", of rows and columns; names of columns are the metadata "columns" */
    QN_FILE_FORMAT_COUNT
} qn_file_format;

/* "safetensors". NULL for what is none. Any thread. */
QN_API const char *qn_file_format_name(qn_file_format format);

typedef enum qn_csv_header {
    QN_CSV_HEADER_GUESS, /* the first line is one if something in it is neither a number nor missing */
    QN_CSV_HEADER_NONE,
    QN_CSV_HEADER_LINE
} qn_csv_header;

/* How to read CSV (RFC 4180). Fields are decimal numbers, or missing: nothing at all, NA, N/A, NaN, null, None, in upper or
   lower case, which become NaN. Fields may stand in double quotes; blanks around them do not count. Lines without anything are
   left out. Defaults: the one of , ; and tabulator that the first line has most of; no line is a comment. */
typedef struct qn_csv_desc {
    char delimiter;
    char comment; /* lines that begin with it are left out */
    qn_csv_header header;
} qn_csv_desc;

/* Defaults: any format; the file is mapped. */
typedef struct qn_archive_desc {
    qn_file_format format;
    bool copy; /* read the file into memory, for one that others may change */
    qn_csv_desc csv;
} qn_archive_desc;

/* A file that is read. */
typedef struct qn_archive qn_archive;

/* Reads what arrays a file has; their elements are not looked at yet, but for IDX in other than bytes and CSV. Memory is taken
   by the context's allocator. `desc` may be NULL. Errors: QN_ERROR_NULL, QN_ERROR_ARGUMENT (the file is damaged, or of none of
   the formats), QN_ERROR_IO, QN_ERROR_UNSUPPORTED (more than 8 dimensions; encodings, versions and compressions that are not
   known), QN_ERROR_OUT_OF_MEMORY. Any thread. */
QN_API qn_status qn_archive_open(qn_context *context, const char *path, const qn_archive_desc *desc,
                                 qn_archive **archive);
/* The same of a file's bytes in memory, which stay the caller's and where they are until the archive is closed. `name` is
   what messages call it; NULL: "memory". */
QN_API qn_status qn_archive_open_memory(qn_context *context, const void *data, uint64_t size,
                                        const char *name, const qn_archive_desc *desc, qn_archive **archive);
/* All that was given of it ends. Before the context. NULL: nothing to do. */
QN_API void qn_archive_close(qn_archive *archive);

QN_API qn_file_format qn_archive_format(const qn_archive *archive);
/* How many arrays it has, and each, in the order of the file; NULL past the end. */
QN_API uint64_t qn_archive_count(const qn_archive *archive);
QN_API const qn_host_array *qn_archive_at(const qn_archive *archive, uint64_t index);
/* An array by its name; NULL: there is none. */
QN_API const qn_host_array *qn_archive_find(const qn_archive *archive, const char *name);
/* Which of its arrays it is, from 0; UINT64_MAX: none. */
QN_API uint64_t qn_archive_index(const qn_archive *archive, const qn_host_array *array);
/* The elements of one of the archive's arrays, which its `data` is from then on. They are in the file's memory; but what is
   compressed, of the other byte order or not aligned in the file gets memory of its own, kept until qn_archive_forget or
   qn_archive_close. Those of an .npz are checked by its checksums. `data` may be NULL. Errors: QN_ERROR_NULL,
   QN_ERROR_ARGUMENT (the array is none of the archive's; compressed data or a checksum is wrong), QN_ERROR_OUT_OF_MEMORY. */
QN_API qn_status qn_archive_data(qn_archive *archive, const qn_host_array *array, const void **data);
/* Gives back the memory that qn_archive_data took for the array. Its `data` is NULL then. */
QN_API void qn_archive_forget(qn_archive *archive, const qn_host_array *array);
/* Metadata, in the order of the file, NULL past the end; and by key, NULL where there is none. */
QN_API const qn_metadata *qn_archive_metadata_at(const qn_archive *archive, uint64_t index);
QN_API const qn_metadata *qn_archive_metadata(const qn_archive *archive, const char *key);

/* ---- writing ---- */

/* Gives `size` bytes of array `index`, from byte `offset` of its elements in order on, so that not all of them have to be in
   memory at once. Arrays are asked for in the
   order of the file, each from its first byte to its last. What it returns but QN_OK ends the writing, with that status and the
   sentence of the context. */
typedef qn_status qn_archive_source(void *user, uint64_t index, uint64_t offset, void *to, uint64_t size);

/* Defaults: the format that the path ends with; no metadata. Arrays without `data` come from `source`; those with strides are
   written in order. .npy is of one array, whose name is not written. safetensors takes metadata of single texts, .npy and .npz
   none. */
typedef struct qn_archive_write_desc {
    qn_file_format format; /* QN_FILE_SAFETENSORS, QN_FILE_NPY or QN_FILE_NPZ */
    const qn_host_array *arrays;
    uint64_t count;
    const qn_metadata *metadata;
    uint64_t metadata_count;
    qn_archive_source *source;
    void *user;
} qn_archive_write_desc;

/* Writes a file of arrays. The same arrays make the same bytes. Data begin at multiples of 64 in .npy and .npz, of 8 in
   safetensors, where arrays are ordered by the size of their elements and then by name. The file is whole or not there: it is
   written beside `path`, as `path`.part, to the disk, and then takes its name. bf16 is V2 in .npy, as ml_dtypes has it.
   Errors: QN_ERROR_NULL, QN_ERROR_ARGUMENT (no format, names that are empty, twice there or no UTF-8, `bytes` that are neither 0
   nor those of the sizes), QN_ERROR_UNSUPPORTED (an encoding that the format lacks), QN_ERROR_IO, QN_ERROR_OUT_OF_MEMORY, and what `source`
   returns. Any thread. */
QN_API qn_status qn_archive_write(qn_context *context, const char *path, const qn_archive_write_desc *desc);

/* ---- tensors ---- */

/* In place of a type: that of the array's elements, QN_F32 for blocks. */
#define QN_OWN_TYPE QN_ELEMENT_COUNT

/* A tensor of an array's elements, which are copied to the device: `data` may go when the call returns. Blocks of Q4_0, Q4_1, Q5_0, Q5_1,
   Q8_0, Q2_K to Q6_K, Q8_K, IQ4_NL, IQ4_XS and MXFP4 are made numbers of by the device. Other types are converted as by qn_cast; where the
   device lacks f64, such elements become QN_F32 if that is asked for. Encodings of neither kind make a failed tensor
   (QN_ERROR_UNSUPPORTED). */
QN_API qn_tensor *qn_from_host_array(qn_tensors *tensors, const qn_host_array *array, qn_element type);
/* The same of an archive's array, by its name. What qn_archive_data took for it is given back. */
QN_API qn_tensor *qn_from_archive(qn_tensors *tensors, qn_archive *archive, const char *name,
                                  qn_element type);

/* A tensor of a state, all that a model has learnt, by its name there. */
typedef struct qn_named_tensor {
    const char *name;
    qn_tensor *tensor;
} qn_named_tensor;

/* Where tensors of a state come from if the file calls them otherwise, or has them in another form. Patterns: * is one character or
   more other than '.', ** any one or more. `from` has what those of `name` stand for, one after the other:
   {.name = "block.*.query.weight", .from = "h.*.attn.c_attn.weight", .axis = 1, .size = 768, .transpose = true}.
   Defaults: `from`: as `name`; all along the axis; not transposed. Without `name` arrays that match `from` are expected, but not used. */
typedef struct qn_load_rule {
    const char *name, *from;
    int32_t axis; /* of the array: elements begin to begin + size - 1 alone */
    uint64_t begin, size;
    bool transpose; /* then the last two dimensions are exchanged */
} qn_load_rule;

/* Whether a name matches such a pattern. Any thread. */
QN_API bool qn_pattern_matches(const char *pattern, const char *name);

typedef enum qn_load_finding {
    QN_LOAD_MISSING,    /* the file has no such array */
    QN_LOAD_MISMATCHED, /* it is of another shape, or of an encoding that cannot be */
    QN_LOAD_UNEXPECTED  /* an array that no tensor comes from */
} qn_load_finding;
/* `name`: of the tensor, or of the unexpected array. Valid during the call. */
typedef void qn_load_report(void *user, qn_load_finding finding, const char *name, const char *sentence);

/* Defaults: no rules; everything has to be found. `partial`: what is missing, mismatched or unexpected is only reported. */
typedef struct qn_load_desc {
    const qn_load_rule *rules; /* the first whose `name` matches counts */
    uint64_t num_rules;
    bool partial;
    qn_load_report *report; /* gets each finding; NULL: none does */
    void *user;
} qn_load_desc;

/* Values for the tensors of a state: values[i], in the innermost scope, is of the shape and type of state[i].tensor, or of the array's own
   where that is NULL. Arrays go to the device one after the other: the host has at most one of those that cannot be
   read where they are mapped. values[i] is NULL where there is none; after an error all are. Without `values` the tensors
   themselves get them (qn_assign): findings are an error before that begins, a file that cannot be read on may be one in between.
   `desc` may be NULL. Errors:
   QN_ERROR_NULL, QN_ERROR_ARGUMENT (findings, of which the sentence has the first of each kind; rules that cannot be), what
   qn_archive_data returns, and a tensor's failure. */
QN_API qn_status qn_load(qn_tensors *tensors, qn_archive *archive, const qn_named_tensor *state,
                         uint64_t count, const qn_load_desc *desc, qn_tensor **values);

/* Defaults: the format that the path ends with; no metadata. */
typedef struct qn_save_desc {
    qn_file_format format;
    const qn_metadata *metadata;
    uint64_t metadata_count;
} qn_save_desc;
/* Writes the values of all tensors as qn_archive_write does, one after the other: the host has 4 MiB of them at a time. `desc` may be
   NULL. Errors: as there, and a tensor's failure. */
QN_API qn_status qn_save(qn_tensors *tensors, const char *path, const qn_named_tensor *state, uint64_t count,
                         const qn_save_desc *desc);

#ifdef __cplusplus
}
#endif

#endif
