/* Kernels that ship with quern, one call each: what stands between a service and its first hand-written kernel. A library
   of its own above quern.h (libquern_kernels; CMake's quern::kernels, pkg-config's quern_kernels).

       qn_kernels *kernels;
       qn_kernels_create(device, NULL, &kernels);
       qn_kernels_copy(kernels, stream, &(qn_copy_desc){.from = QN_ARRAY(x, QN_F16, 64, 1000), .to = QN_ARRAY(y, QN_F32, 64, 1000)});

   What holds for every call that takes a stream
   - It enqueues and returns; it never waits for the device, and can be recorded in a graph (qn_graph_begin). A NULL stream
   is the device's default one. What goes wrong while a kernel runs is reported by the next wait.
   - It works on every device: which kernel it takes is chosen by shape, type and capability from a table that always has
   one. Kernels are compiled at the first call that needs them, and kept; QN_ERROR_UNSUPPORTED is for types alone that the
   device does not have (QN_F64 without QN_CAN_F64).
   - Operands are arrays: views of buffers, with sizes and strides. Shapes, types and overlaps that the call does not take
   are QN_ERROR_ARGUMENT, what lies outside of a buffer is QN_ERROR_RANGE, each with a sentence (qn_error_message of the
   device's context) that names the field and the numbers. Further: QN_ERROR_NULL, QN_ERROR_WRONG_CONTEXT,
   QN_ERROR_OUT_OF_MEMORY, QN_ERROR_DEVICE_MEMORY, and what qn_program_create and qn_launch report.
   - Where an operand is to be written, it shares no memory with the others, unless the call says so: the bytes from its first
   element to its last are its own, so views that interleave are refused, too. No two of its indices
   may be one element, of which only strides of 0 are noticed.
   - A call is one launch or several: qn_graph_set_launch cannot tell which of a graph's launches are whose. One that fails
   while a graph is recorded adds nothing to it.
   - Arrays without elements are fine: there is nothing to do.
   - Sizes are 64-bit, also beyond 2^31 elements.
   - Zero is the default of each field; the defaults are listed above each descriptor. */
#ifndef QUERN_KERNELS_H
#define QUERN_KERNELS_H

#include <quern/quern.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- arrays ---- */

/* X(NAME, word): types of elements. */
#define QN_ELEMENT_MAP(X)                                                                                    \
    X(QN_F32, "f32")                                                                                         \
    X(QN_F64, "f64")                                                                                         \
    X(QN_F16, "f16")                                                                                         \
    X(QN_BF16, "bf16") /* the upper half of an f32 */                                                        \
    X(QN_E4M3, "e4m3") /* 8 bits as OCP has them: up to 448, no infinities, one NaN */                       \
    X(QN_E5M2, "e5m2") /* 8 bits as OCP has them: up to 57344, infinities, NaNs */                           \
    X(QN_I8, "i8")                                                                                           \
    X(QN_I16, "i16")                                                                                         \
    X(QN_I32, "i32")                                                                                         \
    X(QN_I64, "i64")                                                                                         \
    X(QN_U8, "u8")                                                                                           \
    X(QN_U16, "u16")                                                                                         \
    X(QN_U32, "u32")                                                                                         \
    X(QN_U64, "u64")                                                                                         \
    X(QN_BOOL, "bool") /* a byte, 0 or 1 */

typedef enum qn_element {
#define QN_ELEMENT_ENUM(name, word) name,
    QN_ELEMENT_MAP(QN_ELEMENT_ENUM)
#undef QN_ELEMENT_ENUM
        QN_ELEMENT_COUNT
} qn_element;

/* "f32", and the bytes of one. NULL and 0 for what is none. Any thread. */
QN_API const char *qn_element_name(qn_element type);
QN_API uint32_t qn_element_size(qn_element type);

#define QN_MAX_RANK 8

/* A view of a buffer as an array of `rank` dimensions, outermost first; rank 0 is one element. Strides are the elements
   from one index to the next, of any sign; 0 repeats. When all of them are 0 the array is contiguous, the last dimension
   fastest. (To repeat one element along all dimensions give it sizes of 1: calls that broadcast repeat those.)
   `offset` is where element (0, 0, ...) is, in elements. An array without elements needs no buffer. */
typedef struct qn_array {
    qn_buffer *buffer;
    uint64_t offset;
    qn_element type;
    uint32_t rank;
    uint64_t sizes[QN_MAX_RANK];
    int64_t strides[QN_MAX_RANK];
} qn_array;

/* A contiguous array of these sizes at the begin of a buffer: QN_ARRAY(buffer, QN_F32, 64, 1000). */
#ifndef __cplusplus
#define QN_ARRAY(array_buffer, element, ...)                                                                 \
    ((qn_array){.buffer = (array_buffer),                                                                    \
                .type = (element),                                                                           \
                .rank = sizeof((uint64_t[]){__VA_ARGS__}) / sizeof(uint64_t),                                \
                .sizes = {__VA_ARGS__}})
#endif

/* The array with two of its dimensions exchanged: the same elements. What is not among its dimensions leaves it as it is.
   Any thread. */
QN_API qn_array qn_array_transpose(qn_array array, uint32_t dimension, uint32_t other);
/* The array whose dimension i is `order[i]` of this one: the same elements. Images that lie as NHWC are for qn_kernels_convolve
   qn_array_permute(QN_ARRAY(buffer, QN_F16, n, h, w, c), (const uint32_t[]){0, 3, 1, 2}), and weights that lie as KRSC likewise.
   `order` has as many numbers as the array dimensions, each of these once: else it leaves the array as it is. Any thread. */
QN_API qn_array qn_array_permute(qn_array array, const uint32_t *order);
/* How many elements it has; UINT64_MAX where that is beyond 64 bits. Any thread. */
QN_API uint64_t qn_array_count(const qn_array *array);

/* ---- the kernels of a device ---- */

/* The shipped kernels of one device: programs compiled so far, and what was decided for shapes met before. Any thread. */
typedef struct qn_kernels qn_kernels;

/* What the text of a tuning begins with. */
#define QN_TUNING_HEAD "quern tuning 2"

/* `tuning`: the text (not the path) of a file that `quern tune --out` has written, zero-terminated, which is read here and not
   kept. Its choices take the place of the library's own on devices of the same kind, description and driver, for calls of
   the same types and layouts whose sizes are those that were tuned or near them; other lines are read past. Results may differ
   from those without in the order of their sums. Defaults: NULL: none. */
typedef struct qn_kernels_desc {
    const char *tuning;
} qn_kernels_desc;

/* As qn_kernels_create, for a program with the structs of that version of quern.h. */
QN_API qn_status qn_kernels_create_for(uint32_t header_version, qn_device *device,
                                       const qn_kernels_desc *desc, qn_kernels **kernels);
/* Compiles nothing yet. `desc` may be NULL. It takes memory by the context's allocator, and is to be destroyed before the
   context. Errors: QN_ERROR_NULL, QN_ERROR_ARGUMENT (a tuning that is none: the message has the line), QN_ERROR_OUT_OF_MEMORY, QN_ERROR_UNSUPPORTED (the library is older
   than this header). Any thread. */
static inline qn_status qn_kernels_create(qn_device *device, const qn_kernels_desc *desc,
                                          qn_kernels **kernels) {
    return qn_kernels_create_for(QN_HEADER_VERSION, device, desc, kernels);
}
/* Work that has been enqueued goes on, and graphs that were recorded stay good. NULL: nothing to do. */
QN_API void qn_kernels_destroy(qn_kernels *kernels);
QN_API qn_device *qn_kernels_device(const qn_kernels *kernels);
/* Writes the line of a tuning that says which devices the lines after it are for, those that are like this one: "device cuda |
   NVIDIA H200 | ...", zero-terminated, cut to `size` bytes. Any thread. */
QN_API void qn_kernels_tuning_device(const qn_kernels *kernels, char *text, size_t size);
/* Writes the line of a tuning that would have what the library chose for a call: "reduce f32 f32 sum rows 1x268435456: items 256, steps 16",
   zero-terminated, cut to `size` bytes. Of the first 16 different calls of this qn_kernels that had a choice, from index 0, those that
   other calls made among them. False: there are no more. Any thread. */
QN_API bool qn_kernels_tuning_line(qn_kernels *kernels, uint32_t index, char *text, size_t size);

/* A parameter that a line of a tuning may set, for those who search: `name` of calls whose lines begin with `call`. */
typedef struct qn_tunable {
    const char *call, *name;
} qn_tunable;
/* Number `index` of them, and of its values worth a trial number `value`, as a line has it. False: there are no more. Any thread. */
QN_API bool qn_kernels_tunable(uint32_t index, qn_tunable *tunable);
QN_API bool qn_kernels_tunable_value(uint32_t index, uint32_t value, char *text, size_t size);
/* Until the code of all kernels compiled so far is final (qn_program_wait): for measurements. Errors: as there. */
QN_API qn_status qn_kernels_wait(qn_kernels *kernels, uint64_t timeout_ns);

/* The text of a shipped file by its path under kernels/, "saxpy.cl" or "matmul/01_naive.cl": sets `source`, `path` and
   `headers` of a descriptor for qn_program_create and leaves the rest. The texts are static. False: there is no such file.
   Any thread. */
QN_API bool qn_kernels_source(const char *name, qn_program_desc *desc);

/* ---- the ladder ---- */

/* One of the kernels in kernels/matmul, each faster than the one before: C = A B for contiguous row-major matrices, A of m by k,
   B of k by n, all of 32-bit floats; the last one, for matrix units, takes A and B of bf16. Its parameters are (uint m, uint n,
   uint k, global const float *a, global const float *b, global float *c), with qn_bf16 where its type is QN_BF16; its name is
   matmul. They are there to be read and measured; qn_kernels_matmul is there to be used. */
typedef struct qn_rung {
    const char *file; /* for qn_kernels_source */
    const char *adds; /* in a few words */
    qn_range range;   /* of a launch for these m and n */
    /* Rows and columns of C that what is loaded from global memory at a time serves: a column of so many elements of A and
       a row of so many of B. */
    uint32_t reuse[2];
    qn_element type; /* of A and B: QN_F32 or QN_BF16 */
} qn_rung;

/* Rung `index` from the bottom, from 0. False: there are no more. Any thread. */
QN_API bool qn_matmul_rung(uint32_t index, uint32_t m, uint32_t n, qn_rung *rung);

/* ---- matrix multiplication ---- */

typedef enum qn_activation {
    QN_ACTIVATION_NONE,
    QN_ACTIVATION_RELU,
    QN_ACTIVATION_GELU,      /* x (1 + erf(x / sqrt 2)) / 2 */
    QN_ACTIVATION_GELU_TANH, /* its approximation by tanh */
    QN_ACTIVATION_SILU,      /* x / (1 + exp(-x)) */
    QN_ACTIVATION_TANH,
    QN_ACTIVATION_SIGMOID,
    QN_ACTIVATION_COUNT
} qn_activation;

/* out = scale * activation(alpha a b + beta c + bias) + residual.
   Shapes: a is [..., m, k], b [..., k, n], out [..., m, n]; a transposed operand is one by its strides
   (qn_array_transpose). The dimensions before the last two are batches, to which those of a and b are broadcast. c, bias and
   residual are broadcast to out: a bias for each column is [n], one for each row [m, 1].
   Types: a and b are of f32, f16, bf16, e4m3, e5m2 in any pairing, both f64, or of i8 and u8. Products of floats are summed up
   in f32 (of f64 in f64), in an order that is the same at each call on the same device; those of integers exactly in 32 bits,
   where sums beyond that wrap. Types of up to 16 bits go to the device's matrix units where it has some; those of compute
   capability 9.0 sum up e4m3 and e5m2 with 13 bits, so that up to 2^-12 of the products' sizes is lost. The epilogue is
   computed in f32, for f64 operands in f64; where there is none (alpha 1, and
   nothing else) integer sums stay integers. All other arrays are of any type, f64 only with a device that has it; out is
   converted as by qn_kernels_copy, integers to their limits.
   c, bias and residual may be the same array as out, in which case its contents are read first; otherwise out shares no
   memory with any operand.
   A NaN or an infinity of a or b is in all results that its row or column is in, also by 0; relu, gelu, silu, tanh and sigmoid
   of a NaN are NaN.
   Defaults: alpha and scale 0 are 1; beta 0: c is not read, so that NaNs in it do not count; c without a buffer: out as it was; bias and residual without
   a buffer: none; variant NULL and splits 0: the library chooses. */
typedef struct qn_matmul_desc {
    qn_array out, a, b;
    double alpha, beta;
    qn_array c, bias;
    qn_activation activation;
    double scale;
    qn_array residual;
    const char *
        variant; /* how, by a name of qn_matmul_variant: for measurements; QN_ERROR_ARGUMENT where it cannot */
    uint32_t
        splits; /* into how many parts k is cut, k at most, which are computed side by side and then added */
    bool tf32;  /* operands of f32 may lose all but 10 bits of fraction, which lets matrix units take them */
} qn_matmul_desc;
QN_API qn_status qn_kernels_matmul(qn_kernels *kernels, qn_stream *stream, const qn_matmul_desc *desc);
/* Names of the ways that there are to do it, "tile 128x128" and so on, from index 0; NULL: there are no more. Any thread. */
QN_API const char *qn_matmul_variant(uint32_t index);
/* What qn_kernels_matmul would do: the variant's name, and how many parts of k; NULL and 0 where out has no elements. Compiles and
   enqueues nothing. Errors: those of that call, QN_ERROR_NULL. */
QN_API qn_status qn_kernels_matmul_choice(qn_kernels *kernels, const qn_matmul_desc *desc,
                                          const char **variant, uint32_t *splits);

/* ---- copying ---- */

/* to = from, element by element; `from` is broadcast: where it has fewer dimensions they count as outer ones of size 1, and
   a size of 1 is repeated. Types convert: between floats to nearest even, what is too large becoming infinite (e4m3: NaN);
   a float to an integer towards zero, at most to the type's limits, NaN to 0; integers among each other by their low
   bits; anything to bool: whether it is not 0. Defaults: both arrays have to be given. */
typedef struct qn_copy_desc {
    qn_array to, from;
} qn_copy_desc;
QN_API qn_status qn_kernels_copy(qn_kernels *kernels, qn_stream *stream, const qn_copy_desc *desc);

/* Every element becomes `value`, converted as by qn_kernels_copy; or what `element` points to, if it is not NULL: one element of
   the array's type, which 64-bit integers beyond 2^53 need. Defaults: 0. */
typedef struct qn_fill_desc {
    qn_array to;
    double value;
    const void *element;
} qn_fill_desc;
QN_API qn_status qn_kernels_fill(qn_kernels *kernels, qn_stream *stream, const qn_fill_desc *desc);

/* ---- maps ---- */

/* X(NAME, word, operands, kind): functions of elements a, b, c. Kinds: ANY is computed in the operands' type; REAL likewise, but
   integers become f32; WHOLE is for integers alone; TRUTH gives 1 or 0. */
#define QN_MAP_MAP(X)                                                                                        \
    X(QN_MAP_COPY, copy, 1, ANY)                                                                             \
    X(QN_MAP_NEGATE, negate, 1, ANY)                                                                         \
    X(QN_MAP_ABS, abs, 1, ANY)                                                                               \
    X(QN_MAP_SIGN, sign, 1, ANY) /* -1, 0, 1; 0 of a NaN */                                                  \
    X(QN_MAP_SQUARE, square, 1, ANY)                                                                         \
    X(QN_MAP_RELU, relu, 1, ANY) /* a, but 0 below 0 */                                                      \
    X(QN_MAP_RECIPROCAL, reciprocal, 1, REAL)                                                                \
    X(QN_MAP_SQRT, sqrt, 1, REAL)                                                                            \
    X(QN_MAP_RSQRT, rsqrt, 1, REAL)                                                                          \
    X(QN_MAP_CBRT, cbrt, 1, REAL)                                                                            \
    X(QN_MAP_EXP, exp, 1, REAL)                                                                              \
    X(QN_MAP_EXP2, exp2, 1, REAL)                                                                            \
    X(QN_MAP_EXPM1, expm1, 1, REAL)                                                                          \
    X(QN_MAP_LOG, log, 1, REAL)                                                                              \
    X(QN_MAP_LOG2, log2, 1, REAL)                                                                            \
    X(QN_MAP_LOG10, log10, 1, REAL)                                                                          \
    X(QN_MAP_LOG1P, log1p, 1, REAL)                                                                          \
    X(QN_MAP_SIN, sin, 1, REAL)                                                                              \
    X(QN_MAP_COS, cos, 1, REAL)                                                                              \
    X(QN_MAP_TAN, tan, 1, REAL)                                                                              \
    X(QN_MAP_ASIN, asin, 1, REAL)                                                                            \
    X(QN_MAP_ACOS, acos, 1, REAL)                                                                            \
    X(QN_MAP_ATAN, atan, 1, REAL)                                                                            \
    X(QN_MAP_SINH, sinh, 1, REAL)                                                                            \
    X(QN_MAP_COSH, cosh, 1, REAL)                                                                            \
    X(QN_MAP_TANH, tanh, 1, REAL)                                                                            \
    X(QN_MAP_ERF, erf, 1, REAL)                                                                              \
    X(QN_MAP_FLOOR, floor, 1, REAL)                                                                          \
    X(QN_MAP_CEIL, ceil, 1, REAL)                                                                            \
    X(QN_MAP_ROUND, round, 1, REAL) /* to nearest even */                                                    \
    X(QN_MAP_TRUNC, trunc, 1, REAL)                                                                          \
    X(QN_MAP_SIGMOID, sigmoid, 1, REAL)     /* 1 / (1 + exp(-a)) */                                          \
    X(QN_MAP_SILU, silu, 1, REAL)           /* a sigmoid(a) */                                               \
    X(QN_MAP_SOFTPLUS, softplus, 1, REAL)   /* log(1 + exp(a)) */                                            \
    X(QN_MAP_GELU, gelu, 1, REAL)           /* a (1 + erf(a / sqrt 2)) / 2 */                                \
    X(QN_MAP_GELU_TANH, gelu_tanh, 1, REAL) /* the same approximated by tanh */                              \
    X(QN_MAP_IS_NAN, is_nan, 1, TRUTH)                                                                       \
    X(QN_MAP_IS_FINITE, is_finite, 1, REAL_TRUTH)                                                            \
    X(QN_MAP_LOGICAL_NOT, logical_not, 1, TRUTH)                                                             \
    X(QN_MAP_BIT_NOT, bit_not, 1, WHOLE)                                                                     \
    X(QN_MAP_ADD, add, 2, ANY)                                                                               \
    X(QN_MAP_SUBTRACT, subtract, 2, ANY)                                                                     \
    X(QN_MAP_MULTIPLY, multiply, 2, ANY)                                                                     \
    X(QN_MAP_DIVIDE, divide, 2, ANY)       /* of integers towards zero; by 0 as in kernels */                \
    X(QN_MAP_REMAINDER, remainder, 2, ANY) /* of the sign of a */                                            \
    X(QN_MAP_MAX, max, 2, ANY)             /* of a NaN and a number the number */                            \
    X(QN_MAP_MIN, min, 2, ANY)                                                                               \
    X(QN_MAP_POWER, power, 2, REAL)                                                                          \
    X(QN_MAP_ATAN2, atan2, 2, REAL)                                                                          \
    X(QN_MAP_HYPOT, hypot, 2, REAL)                                                                          \
    X(QN_MAP_EQUAL, equal, 2, TRUTH)                                                                         \
    X(QN_MAP_NOT_EQUAL, not_equal, 2, TRUTH)                                                                 \
    X(QN_MAP_LESS, less, 2, TRUTH)                                                                           \
    X(QN_MAP_LESS_EQUAL, less_equal, 2, TRUTH)                                                               \
    X(QN_MAP_LOGICAL_AND, logical_and, 2, TRUTH)                                                             \
    X(QN_MAP_LOGICAL_OR, logical_or, 2, TRUTH)                                                               \
    X(QN_MAP_LOGICAL_XOR, logical_xor, 2, TRUTH)                                                             \
    X(QN_MAP_BIT_AND, bit_and, 2, WHOLE)                                                                     \
    X(QN_MAP_BIT_OR, bit_or, 2, WHOLE)                                                                       \
    X(QN_MAP_BIT_XOR, bit_xor, 2, WHOLE)                                                                     \
    X(QN_MAP_SHIFT_LEFT, shift_left, 2, WHOLE)                                                               \
    X(QN_MAP_SHIFT_RIGHT, shift_right, 2, WHOLE)                                                             \
    X(QN_MAP_WHERE, where, 3, ANY)               /* b where a is not 0, else c; a may be of any type */      \
    X(QN_MAP_CLIP, clip, 3, ANY)                 /* a, but at least b and at most c */                       \
    X(QN_MAP_MULTIPLY_ADD, multiply_add, 3, ANY) /* a b + c, of floats rounded once */

typedef enum qn_map_function {
#define QN_MAP_ENUM(name, word, operands, kind) name,
    QN_MAP_MAP(QN_MAP_ENUM)
#undef QN_MAP_ENUM
        QN_MAP_COUNT
} qn_map_function;

/* "add", and how many operands it takes. NULL and 0 for what is none. Any thread. */
QN_API const char *qn_map_name(qn_map_function function);
QN_API uint32_t qn_map_operands(qn_map_function function);

/* to = f(from[0], from[1], from[2]), element by element; operands are broadcast as by qn_kernels_copy. It is computed in f64 if an
   operand has it; else in f32 if one is a float; else in the type of the operands, which must be one, bool counting as i32.
   The result is converted as by qn_kernels_copy. An operand is a number in place of an array where its bit in `scalars` is set; if all
   are, the type of `to` counts as theirs. `to` may be one of the operands: the same elements in the same order.
   Defaults: QN_MAP_COPY, and arrays for operands. */
typedef struct qn_map_desc {
    qn_map_function function;
    qn_array to, from[3];
    uint32_t scalars; /* bit i: scalar[i] in place of from[i] */
    double scalar[3];
} qn_map_desc;
QN_API qn_status qn_kernels_map(qn_kernels *kernels, qn_stream *stream, const qn_map_desc *desc);

/* ---- reductions ---- */

/* X(NAME, word): what many elements become one by. */
#define QN_REDUCE_MAP(X)                                                                                     \
    X(QN_REDUCE_SUM, sum)                                                                                    \
    X(QN_REDUCE_MEAN, mean)                                                                                  \
    X(QN_REDUCE_PRODUCT, product)                                                                            \
    X(QN_REDUCE_MAX, max) /* NaNs count only where there is nothing else */                                  \
    X(QN_REDUCE_MIN, min)                                                                                    \
    X(QN_REDUCE_ARGMAX,                                                                                      \
      argmax) /* the first index of the largest, among all elements of the axes in order */                  \
    X(QN_REDUCE_ARGMIN, argmin)                                                                              \
    X(QN_REDUCE_NORM2, norm2) /* the root of the sum of the squares */                                       \
    X(QN_REDUCE_ANY, any)     /* 1 where one is not 0, else 0 */                                             \
    X(QN_REDUCE_ALL, all)

typedef enum qn_reduce_operation {
#define QN_REDUCE_ENUM(name, word) name,
    QN_REDUCE_MAP(QN_REDUCE_ENUM)
#undef QN_REDUCE_ENUM
        QN_REDUCE_COUNT
} qn_reduce_operation;

/* to = the reduction of `from` along axes. `to` has the dimensions of `from` without those, or with sizes of 1 in their
   places. Floats are accumulated in f32 (f64 for f64); sums, products and means of integers in 64 bits, which wrap, and norms of
   them in f32. The order is the same for all arrays of one shape and strides: results are reproducible. The result is
   converted to the type of `to` as by qn_kernels_copy. Without elements a sum is 0, a product 1, `any` 0, `all` 1, a mean NaN; for the others that is
   QN_ERROR_ARGUMENT. Defaults: QN_REDUCE_SUM, all axes. */
typedef struct qn_reduce_desc {
    qn_reduce_operation operation;
    uint32_t axes; /* bit i: along dimension i; 0: all */
    qn_array to, from;
} qn_reduce_desc;
QN_API qn_status qn_kernels_reduce(qn_kernels *kernels, qn_stream *stream, const qn_reduce_desc *desc);

/* ---- scans ---- */

/* X(NAME, word): what elements are joined by. */
#define QN_SCAN_MAP(X)                                                                                       \
    X(QN_SCAN_SUM, sum)                                                                                      \
    X(QN_SCAN_PRODUCT, product)                                                                              \
    X(QN_SCAN_MAX, max) /* NaNs count only where there is nothing else before */                             \
    X(QN_SCAN_MIN, min)                                                                                      \
    X(QN_SCAN_LOG_SUM_EXP, log_sum_exp) /* log(exp(a) + exp(b)), of floats alone */

typedef enum qn_scan_operation {
#define QN_SCAN_ENUM(name, word) name,
    QN_SCAN_MAP(QN_SCAN_ENUM)
#undef QN_SCAN_ENUM
        QN_SCAN_COUNT
} qn_scan_operation;

/* to[i] = from[0], ..., from[i] joined, along a dimension, for each index of the others; with `exclusive` without from[i], so that it
   begins with 0 for sums, 1 for products, -infinity for QN_SCAN_LOG_SUM_EXP, and for max and min with the least and the largest number of from's type (of floats: an
   infinity). With `reverse` it begins at the other end. Floats are accumulated in f32 (f64 for f64); integers wrap, in 64 bits or in
   what `to` holds, and are exact for max and min. The result is converted to the type of `to` as by qn_kernels_copy. The order in which
   floats are added depends on shape, strides and device alone: results are reproducible. Both arrays have the same sizes; `to` may be
   `from`: the same view, of one type. Where rows are few and long it needs memory for a word for some thousand elements.
   Defaults: QN_SCAN_SUM, inclusive, dimension 0, from the begin. */
typedef struct qn_scan_desc {
    qn_scan_operation operation;
    uint32_t dimension;
    bool exclusive, reverse;
    qn_array to, from;
} qn_scan_desc;
QN_API qn_status qn_kernels_scan(qn_kernels *kernels, qn_stream *stream, const qn_scan_desc *desc);

/* ---- functions of rows ---- */

/* to = softmax of `from` along its last dimension: exp(x - m) / sum of exp(x - m), m being the largest; or, if `log` is set, its
   logarithm. Arrays are of the same shape and of float types; it is computed in f32 (f64 if one is f64). A row of 16384
   elements or less is read once. A row that is -infinity throughout becomes NaN. */
typedef struct qn_softmax_desc {
    qn_array to, from;
    bool log;
} qn_softmax_desc;
QN_API qn_status qn_kernels_softmax(qn_kernels *kernels, qn_stream *stream, const qn_softmax_desc *desc);

/* The gradient by what qn_kernels_softmax got, from its `result` and the `gradient` by that. Defaults: `log` as there. */
typedef struct qn_softmax_backward_desc {
    qn_array to, result, gradient;
    bool log;
} qn_softmax_backward_desc;
QN_API qn_status qn_kernels_softmax_backward(qn_kernels *kernels, qn_stream *stream,
                                             const qn_softmax_backward_desc *desc);

/* Layer norm: to = (x - mean) / sqrt(variance + epsilon) * weight + bias along the last dimension; RMS norm: to = x / sqrt(mean of x x + epsilon)
   * weight + bias. Types as for qn_kernels_softmax. Defaults: epsilon 1e-5; `weight` and `bias`, which have one dimension, without a buffer:
   1 and 0. */
typedef struct qn_norm_desc {
    qn_array to, from, weight, bias;
    double epsilon;
} qn_norm_desc;
QN_API qn_status qn_kernels_layer_norm(qn_kernels *kernels, qn_stream *stream, const qn_norm_desc *desc);
QN_API qn_status qn_kernels_rms_norm(qn_kernels *kernels, qn_stream *stream, const qn_norm_desc *desc);

/* The gradients of a norm, from what it got, `from`, with the same weight and epsilon, and the `gradient` by what it gave: `to` by from,
   to_weight and to_bias by its weight and bias, which have one dimension; those are sums over all rows, in an order that is the same
   at each call on the same device. Types as for qn_kernels_softmax. Defaults: epsilon 1e-5; `weight` without a buffer: 1; to_weight and
   to_bias without a buffer are not computed. */
typedef struct qn_norm_backward_desc {
    qn_array to, from, gradient, weight;
    qn_array to_weight, to_bias;
    double epsilon;
} qn_norm_backward_desc;
QN_API qn_status qn_kernels_layer_norm_backward(qn_kernels *kernels, qn_stream *stream,
                                                const qn_norm_backward_desc *desc);
QN_API qn_status qn_kernels_rms_norm_backward(qn_kernels *kernels, qn_stream *stream,
                                              const qn_norm_backward_desc *desc);

/* ---- attention ---- */

/* out = softmax(scale q k' + mask) v, for each head of each batch. q is batches x heads x queries x size, k is batches x key heads x
   keys x size, v has value size in place of size, and out is batches x heads x queries x value size; arrays that lie in another
   order, such as batches x length x heads x size, are those by their strides (qn_array_transpose). `heads` is a multiple of
   `key heads`: several heads of queries, neighbours, have one of keys and values. Heads have 1 to 256 elements, lengths any.
   With `causal`, query i sees the keys up to i + keys - queries: the last query sees all.
   The mask is broadcast to batches x heads x queries x keys: of QN_BOOL, keys where it is 0 are not seen; of a float type it is
   added to the scores. A query that sees no key gets zeros.
   logs, batches x heads x queries, become the logarithms of the sums of exp(score): what qn_kernels_attention_backward needs. They are
   of QN_F32 (QN_F64: of QN_F64). The others are of one float type; it is computed in f32 (f64), weights of f16 and bf16 being
   rounded to that type on matrix units. Nothing of queries x keys is kept in memory. Two calls give the same bits.
   Defaults: scale 0 is 1 / sqrt(size); mask and logs without a buffer: none; not causal; variant NULL: the library chooses. */
typedef struct qn_attention_desc {
    qn_array q, k, v;
    qn_array out;
    double scale;
    bool causal;
    qn_array mask;
    qn_array logs;
    const char *variant; /* how, by a name of qn_attention_variant: for measurements and tests */
} qn_attention_desc;
QN_API qn_status qn_kernels_attention(qn_kernels *kernels, qn_stream *stream, const qn_attention_desc *desc);

/* The gradients by q, k and v, from what qn_kernels_attention got, the `out` and `logs` that it wrote, and the `gradient` by out. Each array
   is of the shape of what it is the gradient of. The mask gets none. All have to be given but for the mask. With `deterministic` two calls give the
   same bits; without it, matrix units may add up the gradient by q in any order. The defaults are those of qn_kernels_attention;
   not deterministic. */
typedef struct qn_attention_backward_desc {
    qn_array q, k, v;
    qn_array out, logs, gradient;
    qn_array to_q, to_k, to_v;
    double scale;
    bool causal;
    qn_array mask;
    const char *variant;
    bool deterministic;
} qn_attention_backward_desc;
QN_API qn_status qn_kernels_attention_backward(qn_kernels *kernels, qn_stream *stream,
                                               const qn_attention_backward_desc *desc);
/* Names of the ways that there are to do both, from index 0; NULL: there are no more. Any thread. */
QN_API const char *qn_attention_variant(uint32_t index);

/* ---- random numbers ---- */

/* Uniform: from a up to, not including, b; with both 0, floats from 0 to 1 and integers of all values of the type. Normal: of
   mean a and deviation b; with both 0, 0 and 1; for float types. */
typedef enum qn_distribution { QN_RANDOM_UNIFORM, QN_RANDOM_NORMAL } qn_distribution;

/* Fills `to` with random numbers by Philox 4x32-10. The element that is number i in the order of the indices becomes number
   offset + i of the sequence that the seed begins, the same one on every device: an array may be filled in parts, each with its
   offset. (Normal numbers may differ in their last bits, as
   maths functions do.)
   Types of 64 bits have a sequence of their own. Elements narrower than f32 are rounded, and may so become b. Defaults: uniform, seed 0, offset 0. */
typedef struct qn_random_desc {
    qn_array to;
    qn_distribution distribution;
    uint64_t seed, offset;
    double a, b;
} qn_random_desc;
QN_API qn_status qn_kernels_random(qn_kernels *kernels, qn_stream *stream, const qn_random_desc *desc);

/* ---- sorting and choosing ---- */

/* to_keys = the keys of each row (the last dimension) in ascending order, and to_values the values that go with them. The sort
   is stable: equal keys keep their order, descending too. Floats are ordered by value, -0 before 0, a NaN with its sign bit
   set below all and others above all. All arrays have the same sizes, keys and to_keys one type, values and to_values
   too. to_keys may be keys itself, and to_values values: the same view; nothing else may overlap. It needs memory for a second
   copy of keys and values.
   Defaults: no values: only keys are sorted. With to_values but no values, each value is its key's place in the row, from
   0: of type QN_I32, QN_U32, QN_I64 or QN_U64. */
typedef struct qn_sort_desc {
    qn_array keys, values;
    qn_array to_keys, to_values;
    bool descending;
} qn_sort_desc;
QN_API qn_status qn_kernels_sort(qn_kernels *kernels, qn_stream *stream, const qn_sort_desc *desc);
/* to = the largest elements of each row (the last dimension) of `from`, the largest first, as many as to's rows have; to_indices
   their places in the row, from 0, of type QN_I32, QN_U32, QN_I64 or QN_U64. More than a row has is QN_ERROR_ARGUMENT. Among equal ones those that come first; the order
   is that of qn_kernels_sort. Rows are not sorted for it, but where more than 1024 and half of a row are wanted, which needs memory for two
   copies of `from`. Defaults: the largest; without to_indices there are none. */
typedef struct qn_top_k_desc {
    qn_array from;
    qn_array to, to_indices;
    bool smallest;
} qn_top_k_desc;
QN_API qn_status qn_kernels_top_k(qn_kernels *kernels, qn_stream *stream, const qn_top_k_desc *desc);

/* to = the elements of `from` where `mask` is not 0, in their order, and count how many there are. The mask has from's sizes,
   of bool or an integer type; `to` has one dimension, and what it has no room for is counted and not written; what is
   behind the count stays as it is. `count` is one element of type QN_I32, QN_U32, QN_I64 or QN_U64. All have to be given. */
typedef struct qn_compact_desc {
    qn_array from, mask;
    qn_array to, count;
} qn_compact_desc;
QN_API qn_status qn_kernels_compact(qn_kernels *kernels, qn_stream *stream, const qn_compact_desc *desc);

/* The same of the first element and each that differs from the one before it: of sorted elements, each once. They are compared by their
   bits: -0 and 0 differ, a NaN is equal to itself. */
typedef struct qn_unique_desc {
    qn_array from;
    qn_array to, count;
} qn_unique_desc;
QN_API qn_status qn_kernels_unique(qn_kernels *kernels, qn_stream *stream, const qn_unique_desc *desc);

/* ---- gathering and scattering ---- */

/* to = the slices of `from` along a dimension that the indices name: as many as there are, in their order. The sizes of `to` are from's
   with those of `indices` in place of the dimension: of a table of 50000 x 512 and 8 x 100 indices, 8 x 100 x 512. What an index
   names that `from` does not have (a negative one too) is 0. Types: any, the same in both; indices QN_I32, QN_U32, QN_I64 or
   QN_U64. Defaults: dimension 0. */
typedef struct qn_gather_desc {
    qn_array from, indices;
    qn_array to;
    uint32_t dimension;
} qn_gather_desc;
QN_API qn_status qn_kernels_gather(qn_kernels *kernels, qn_stream *stream, const qn_gather_desc *desc);

/* The other way: the slices of `from` are written to those of `to` that the indices name, or added to them; the rest of `to` stays.
   Slices whose index `to` does not have are left out. Sizes and types are as for qn_kernels_gather, with the two exchanged.
   Where indices are the same: with `add` all are added, QN_F32 in an order that may differ from call to call; without it any one of them
   is left, element by element. With `deterministic` all happens in the order of the indices: the last one is left, sums are the same
   at each call. That sorts the indices first, as adding does for types other than QN_F32, QN_I32 and QN_U32 in any case; processors of
   few threads do only where narrow types are added, which is in 32 bits, rounded once. QN_BOOL cannot be added.
   Defaults: dimension 0; written, not added; not deterministic. */
typedef struct qn_scatter_desc {
    qn_array from, indices;
    qn_array to;
    uint32_t dimension;
    bool add, deterministic;
} qn_scatter_desc;
QN_API qn_status qn_kernels_scatter(qn_kernels *kernels, qn_stream *stream, const qn_scatter_desc *desc);

/* ---- counting ---- */

/* to[b] = how many elements of `from` fall into bin b; `to` is one row of QN_U32. With low and high the range between them is cut
   into as many equal parts as there are bins: bin (x - low) * (bins / (high - low)), computed in 32-bit floats; an x equal to
   `high` is in the last bin, what is outside, and NaN, in none. Without them (both 0) elements are integers and an element is the
   number of its bin.
   Defaults: low and high 0; what `to` had is replaced; with `accumulate` counts are added to it. */
typedef struct qn_histogram_desc {
    qn_array from;
    qn_array to;
    double low, high;
    bool accumulate;
} qn_histogram_desc;
QN_API qn_status qn_kernels_histogram(qn_kernels *kernels, qn_stream *stream, const qn_histogram_desc *desc);

/* ---- sparse matrices ---- */

/* y = alpha A x + beta y for a sparse matrix A in compressed rows (CSR): row r has the elements starts[r] up to but not with
   starts[r + 1], each a value and its column; `starts` has one number more than A has rows, ascending from 0 to the number of
   elements. Rows of any lengths cost what their elements cost. Sums are taken in 32-bit floats (QN_F64: in 64 bits), in an order
   that does not change; y is rounded once. Values, x and y are of one type of floats, starts and columns of QN_I32, QN_U32,
   QN_I64 or QN_U64. A column that x does not have counts as 0. Where beta is 0, y is not read, so that NaNs in it do not count.
   Defaults: an alpha of 0 is 1. */
typedef struct qn_spmv_desc {
    qn_array starts, columns, values;
    qn_array x;
    qn_array y;
    double alpha, beta;
} qn_spmv_desc;
QN_API qn_status qn_kernels_spmv(qn_kernels *kernels, qn_stream *stream, const qn_spmv_desc *desc);

/* ---- small dense matrices ---- */

/* Batches of matrices, the last two dimensions; those before are the same in all operands. All are of one type, QN_F32 or QN_F64, in which it is
   computed. A work-group has a matrix, in local memory where it fits: they are made for many matrices of up to some hundred rows. Larger
   ones need memory for a copy or two. What an array without a buffer would get is not given where it says so. A matrix that cannot be
   (a NaN in it, or as said) has NaNs, or infinities, in its own results. */

/* to = the lower triangle L with L L^T = from, symmetric and positive definite, of which the lower triangle is read; zeros above. Of one that is not
   positive definite the columns from the first that shows it on are NaN. */
typedef struct qn_cholesky_desc {
    qn_array from;
    qn_array to;
} qn_cholesky_desc;
QN_API qn_status qn_kernels_cholesky(qn_kernels *kernels, qn_stream *stream, const qn_cholesky_desc *desc);

/* to = X with matrix X = from, of n x n and n x k: by elimination with pivots of columns. A singular matrix gives infinities or NaNs. */
typedef struct qn_solve_desc {
    qn_array matrix, from;
    qn_array to;
} qn_solve_desc;
QN_API qn_status qn_kernels_solve(qn_kernels *kernels, qn_stream *stream, const qn_solve_desc *desc);

/* The same with a triangular matrix, of which the other triangle is not read. Defaults: the lower triangle; its diagonal is read, with `unit` it is
   ones. */
typedef struct qn_solve_triangular_desc {
    qn_array matrix, from;
    qn_array to;
    bool upper, unit;
} qn_solve_triangular_desc;
QN_API qn_status qn_kernels_solve_triangular(qn_kernels *kernels, qn_stream *stream,
                                             const qn_solve_triangular_desc *desc);

/* The sign of each determinant (1, -1 or 0) and the logarithm of its size; both have the dimensions of the batch. Either may be left out. */
typedef struct qn_determinant_desc {
    qn_array from;
    qn_array sign, log;
} qn_determinant_desc;
QN_API qn_status qn_kernels_determinant(qn_kernels *kernels, qn_stream *stream,
                                        const qn_determinant_desc *desc);

/* from = q r, of m x n: q has orthogonal columns of length 1, as many as the lesser of m and n, or m; r as many rows, zeros below its diagonal. By
   Householder's reflections, with the signs that LAPACK gives. Either may be left out. */
typedef struct qn_qr_desc {
    qn_array from;
    qn_array q, r;
} qn_qr_desc;
QN_API qn_status qn_kernels_qr(qn_kernels *kernels, qn_stream *stream, const qn_qr_desc *desc);

/* The eigenvalues of symmetric matrices, of n x n, of which the lower triangle is read, the least first, and as columns of n x n eigenvectors of length 1. By
   Jacobi's method; where the driver ends long loops (loop_limit of qn_device_info), matrices that would take too many are
   QN_ERROR_UNSUPPORTED, of qn_kernels_svd too. Either may be left out. */
typedef struct qn_eigen_desc {
    qn_array from;
    qn_array values, vectors;
} qn_eigen_desc;
QN_API qn_status qn_kernels_eigen(qn_kernels *kernels, qn_stream *stream, const qn_eigen_desc *desc);

/* from = u diag(values) v^T, of m x n with m not less than n: u has n orthogonal columns of length 1, v n x n, the values are not negative, the largest first. By
   Jacobi's method on the columns, which has small values, too, to many digits. Each may be left out. */
typedef struct qn_svd_desc {
    qn_array from;
    qn_array u, values, v;
} qn_svd_desc;
QN_API qn_status qn_kernels_svd(qn_kernels *kernels, qn_stream *stream, const qn_svd_desc *desc);

/* ---- images ---- */

/* Convolution in two dimensions as neural networks have it (weights are not mirrored): `from` is images x channels x rows x columns
   (NCHW), `weights` outputs x channels x rows x columns, `bias` as many numbers as outputs, and to[n, k, p, q] = bias[k] + the sum of
   from[n, c, p stride - padding + r dilation, ...] weights[k, c, r, s]; what is outside of an image is 0. Another order of the
   dimensions in memory, such as NHWC, is one with other strides (qn_array_permute). With groups, the outputs of each see only the channels of their
   group: weights have channels / groups. `to` has (rows + 2 padding - (taps - 1) dilation - 1) / stride + 1 rows, and columns
   alike. All are of one type of floats; sums are taken in 32-bit floats (QN_F64: in 64 bits).
   Devices with QN_CAN_COPY_TILES compute 16-bit floats of 16 channels and outputs or more from NHWC: other orders are copied, as are
   images of few channels, to memory that the call takes.
   Defaults: no bias; a stride, dilation or number of groups of 0 is 1; no padding; variant NULL: the library chooses. Of each pair the first is
   for rows. A variant is how it is done, by a name of qn_convolve_variant, for measurements: QN_ERROR_ARGUMENT where it cannot. */
typedef struct qn_convolve_desc {
    qn_array from, weights, bias;
    qn_array to;
    uint32_t stride[2], padding[2], dilation[2];
    uint32_t groups;
    const char *variant;
} qn_convolve_desc;
QN_API qn_status qn_kernels_convolve(qn_kernels *kernels, qn_stream *stream, const qn_convolve_desc *desc);
/* Names of the ways that there are to do it, "tile 128x64" and so on, from index 0; NULL: there are no more. Any thread. */
QN_API const char *qn_convolve_variant(uint32_t index);

/* to = the gradient by what qn_kernels_convolve got as `from`, of whose sizes it is: from `gradient`, that by what came out, and the weights. All are of
   one type of floats; sums are taken as there. (The gradient by the bias is the sum of `gradient` along dimensions 0, 2 and 3:
   qn_kernels_reduce.) Defaults: as for qn_kernels_convolve. */
typedef struct qn_convolve_backward_input_desc {
    qn_array gradient, weights;
    qn_array to;
    uint32_t stride[2], padding[2], dilation[2];
    uint32_t groups;
    const char *variant;
} qn_convolve_backward_input_desc;
QN_API qn_status qn_kernels_convolve_backward_input(qn_kernels *kernels, qn_stream *stream,
                                                    const qn_convolve_backward_input_desc *desc);

/* to = the gradient by the weights, of whose sizes it is: from what qn_kernels_convolve got as `from`, and `gradient`, that by what came out. Types,
   sums and defaults as there. Sums over many pixels are taken in parts, in an order that depends on shapes and device alone: results are
   reproducible. It needs memory for the parts. */
typedef struct qn_convolve_backward_weights_desc {
    qn_array gradient, from;
    qn_array to;
    uint32_t stride[2], padding[2], dilation[2];
    uint32_t groups;
    const char *variant;
} qn_convolve_backward_weights_desc;
QN_API qn_status qn_kernels_convolve_backward_weights(qn_kernels *kernels, qn_stream *stream,
                                                      const qn_convolve_backward_weights_desc *desc);

/* Max pooling: to[..., p, q] = the largest of from[..., p stride - padding + r, q stride - padding + s] over r and s below the window's sizes, for planes of
   rows and columns, the last two dimensions. What is outside of a plane does not count; a window reaches into it, as padding is less than the window. `to`
   has (rows + 2 padding - window) / stride + 1 rows, and columns alike. `taps`, of QN_U8 and the shape of `to`, gets which element that is, r times the
   window's columns + s: of equal ones the first; of NaNs, which are larger than any number, the last. from and to are of one type of floats; a window has at
   most 256 elements. Either of to and taps may be left out.
   Defaults: a stride of 0 is the window; no padding. Of each pair the first is for rows. */
typedef struct qn_max_pool_desc {
    qn_array from;
    qn_array to, taps;
    uint32_t window[2], stride[2], padding[2];
} qn_max_pool_desc;
QN_API qn_status qn_kernels_max_pool(qn_kernels *kernels, qn_stream *stream, const qn_max_pool_desc *desc);

/* to = the gradient by what qn_kernels_max_pool got as `from`, of whose sizes it is: from `gradient`, that by what came out, and the taps. Each element gets
   the sum of what belongs to windows that chose it, taken in 32-bit floats (QN_F64: in 64 bits), or 0. All have to be given. */
typedef struct qn_max_pool_backward_desc {
    qn_array gradient, taps;
    qn_array to;
    uint32_t window[2], stride[2], padding[2];
} qn_max_pool_backward_desc;
QN_API qn_status qn_kernels_max_pool_backward(qn_kernels *kernels, qn_stream *stream,
                                              const qn_max_pool_backward_desc *desc);

/* to = `from` filtered along its rows and along its columns, the last two dimensions, by the same weights: an odd number of QN_F32, the
   middle one for the element itself. Beyond an edge the element there is repeated. from and to have the same sizes and one type,
   of floats, QN_U8 or QN_U16 (rounded to nearest even, within the type's limits). Sums are taken in 32-bit floats (QN_F64: in
   64 bits). With many weights it needs memory for one copy in the type of the sums. All have to be given. */
typedef struct qn_blur_desc {
    qn_array from, weights;
    qn_array to;
} qn_blur_desc;
QN_API qn_status qn_kernels_blur(qn_kernels *kernels, qn_stream *stream, const qn_blur_desc *desc);

#ifdef __cplusplus
}

/* The same in C++. */
template <class... Sizes> qn_array QN_ARRAY(qn_buffer *buffer, qn_element type, Sizes... sizes) {
    static_assert(sizeof...(Sizes) <= QN_MAX_RANK, "at most eight dimensions");
    qn_array array = {buffer, 0, type, sizeof...(Sizes), {static_cast<uint64_t>(sizes)...}, {}};
    return array;
}
#endif

#endif
