/* Tensors: arrays of numbers on a device, computed lazily, fused into few kernels. A library of its own above quern.h and
   kernels.h (libquern_tensor; CMake's quern::tensor, pkg-config's quern_tensor).

       qn_tensors *t;
       qn_tensors_create(device, NULL, &t);
       qn_tensor *x = qn_from_data(t, QN_F32, QN_SHAPE(64, 100), data);
       qn_tensor *y = qn_relu(qn_add(qn_multiply(x, 2), 1));       // nothing is computed yet
       qn_tensor_read(y, result, sizeof result);                   // one kernel

   Conventions
   - A tensor is a handle. It belongs to the innermost scope that was open when it was made (qn_scope_begin), and is gone when that
   scope ends, unless it was retained (qn_tensor_retain). Without a scope it stays until qn_tensors_destroy. What a tensor is
   computed from lives as long as it needs it.
   - An op makes a note and returns. Work happens when a value is asked for (qn_tensor_read, qn_tensor_realize). What can be one
   kernel becomes one: chains of functions of elements, with reductions of the same rows between them, and views; a product with the bias,
   activation, factor, residual and conversion behind it (qn_matmul_desc). Kernels are
   OpenCL C text (qn_tensor_explain shows it), compiled once for a structure and kept.
   - An op never gives NULL. Where it cannot be, it gives a tensor that carries the error: its status and a sentence that names the
   op, types and shapes. An op of a failed tensor gives that failure on; qn_tensor_read, qn_tensor_realize and qn_tensor_status
   return it, with the sentence in qn_error_message.
   - Shapes are broadcast as in NumPy. Axes count from the end where negative.
   - Types: where operands differ, a float type wins over integers, of two float types the wider (f16 and bf16: f32), of
   two integer types the smallest that holds both (u64 and a signed one: none, an error). A number in place of a tensor is weak:
   it takes the tensor's type, but a fraction makes integers QN_F32. Functions that are of real numbers make integers QN_F32.
   - Types narrower than f32 are computed in f32. A fused kernel rounds what it stores and what qn_cast makes, not what it hands
   on inside.
   - Functions meet the bounds of OpenCL C. On CUDA devices exp, tanh, sigmoid, silu and the two gelu are computed in f32 by the
   device's own powers of 2 and reciprocals: within 4 units in the last place, of gelu (1 + x^2 / 2) times that and below -5.5
   within 2^-24; what is below 2^-119 may be 0.
   - Threads: all tensors of one qn_tensors are for one thread at a time. */
#ifndef QUERN_TENSOR_H
#define QUERN_TENSOR_H

#include <quern/kernels.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct qn_tensors qn_tensors; /* what the tensors of one device share */
typedef struct qn_tensor qn_tensor;

/* ---- shapes, axes, operands ---- */

typedef struct qn_shape {
    uint32_t rank;
    uint64_t sizes[QN_MAX_RANK];
} qn_shape;

/* Axes of a tensor; a count of 0: all of them. */
typedef struct qn_axes {
    uint32_t count;
    int32_t axes[QN_MAX_RANK];
} qn_axes;

/* QN_SHAPE(64, 10), and of one element without dimensions QN_SCALAR; QN_AXES(0, -1), QN_ALL_AXES. */
#ifndef __cplusplus
#define QN_SHAPE(...)                                                                                        \
    ((qn_shape){.rank = sizeof((uint64_t[]){__VA_ARGS__}) / sizeof(uint64_t), .sizes = {__VA_ARGS__}})
#define QN_SCALAR ((qn_shape){.rank = 0})
#define QN_AXES(...)                                                                                         \
    ((qn_axes){.count = sizeof((int32_t[]){__VA_ARGS__}) / sizeof(int32_t), .axes = {__VA_ARGS__}})
#define QN_ALL_AXES ((qn_axes){.count = 0})
#else
} /* templates have no C linkage */
template <class... Sizes> qn_shape QN_SHAPE(Sizes... sizes) {
    static_assert(sizeof...(Sizes) <= QN_MAX_RANK, "at most eight dimensions");
    return qn_shape{sizeof...(Sizes), {static_cast<uint64_t>(sizes)...}};
}
template <class... Axes> qn_axes QN_AXES(Axes... axes) {
    static_assert(sizeof...(Axes) <= QN_MAX_RANK, "at most eight axes");
    return qn_axes{sizeof...(Axes), {static_cast<int32_t>(axes)...}};
}
#define QN_SCALAR   (qn_shape{})
#define QN_ALL_AXES (qn_axes{})
extern "C" {
#endif

typedef enum qn_operand_kind {
    QN_OPERAND_TENSOR,
    QN_OPERAND_BOOL,
    QN_OPERAND_SIGNED,
    QN_OPERAND_UNSIGNED,
    QN_OPERAND_FLOAT
} qn_operand_kind;

/* What an op takes: a tensor or a number. Functions that take it are called with either: qn_add(x, y), qn_add(x, 2). */
typedef struct qn_operand {
    qn_operand_kind kind;
    union {
        qn_tensor *tensor;
        int64_t i;
        uint64_t u;
        double d;
    } value;
#ifdef __cplusplus
    qn_operand(qn_tensor *x) : kind(QN_OPERAND_TENSOR) { value.tensor = x; }
    qn_operand(bool x) : kind(QN_OPERAND_BOOL) { value.u = x; }
    qn_operand(int x) : kind(QN_OPERAND_SIGNED) { value.i = x; }
    qn_operand(long x) : kind(QN_OPERAND_SIGNED) { value.i = x; }
    qn_operand(long long x) : kind(QN_OPERAND_SIGNED) { value.i = x; }
    qn_operand(unsigned x) : kind(QN_OPERAND_UNSIGNED) { value.u = x; }
    qn_operand(unsigned long x) : kind(QN_OPERAND_UNSIGNED) { value.u = x; }
    qn_operand(unsigned long long x) : kind(QN_OPERAND_UNSIGNED) { value.u = x; }
    qn_operand(double x) : kind(QN_OPERAND_FLOAT) { value.d = x; }
#endif
} qn_operand;

#ifndef __cplusplus
static inline qn_operand qn_operand_self(qn_operand x) { return x; }
static inline qn_operand qn_operand_tensor(qn_tensor *x) {
    return (qn_operand){QN_OPERAND_TENSOR, {.tensor = x}};
}
static inline qn_operand qn_operand_bool(bool x) { return (qn_operand){QN_OPERAND_BOOL, {.u = x}}; }
static inline qn_operand qn_operand_signed(int64_t x) { return (qn_operand){QN_OPERAND_SIGNED, {.i = x}}; }
static inline qn_operand qn_operand_unsigned(uint64_t x) {
    return (qn_operand){QN_OPERAND_UNSIGNED, {.u = x}};
}
static inline qn_operand qn_operand_float(double x) { return (qn_operand){QN_OPERAND_FLOAT, {.d = x}}; }
#define QN_OPERAND(x)                                                                                        \
    _Generic((x), qn_operand                                                                                 \
             : qn_operand_self, qn_tensor *                                                                  \
             : qn_operand_tensor, bool                                                                       \
             : qn_operand_bool, float                                                                        \
             : qn_operand_float, double                                                                      \
             : qn_operand_float, char                                                                        \
             : qn_operand_signed, signed char                                                                \
             : qn_operand_signed, short                                                                      \
             : qn_operand_signed, int                                                                        \
             : qn_operand_signed, long                                                                       \
             : qn_operand_signed, long long                                                                  \
             : qn_operand_signed, unsigned char                                                              \
             : qn_operand_unsigned, unsigned short                                                           \
             : qn_operand_unsigned, unsigned                                                                 \
             : qn_operand_unsigned, unsigned long                                                            \
             : qn_operand_unsigned, unsigned long long                                                       \
             : qn_operand_unsigned)(x)
#endif

/* ---- the tensors of a device ---- */

/* `stream`: what work is enqueued on; it has to outlive the tensors. `seed`: of random numbers. `eager`: for debugging, each op is computed
   at once, in steps too (qn_step_run calls the function), so that a failure shows in the op that made it. `check_numbers`: that, and
   an op that makes a NaN, or an infinity, of operands that have none gives a failed tensor, whose sentence names it (QN_ERROR_KERNEL_FAILED).
   Defaults: the device's default stream, seed 0, neither. */
typedef struct qn_tensors_desc {
    qn_stream *stream;
    uint64_t seed;
    bool eager, check_numbers;
} qn_tensors_desc;

/* As qn_tensors_create, for a program with the structs of that version of quern.h. */
QN_API qn_status qn_tensors_create_for(uint32_t header_version, qn_device *device,
                                       const qn_tensors_desc *desc, qn_tensors **tensors);
/* `desc` may be NULL. It takes memory by the context's allocator, and is to be destroyed before the context. Errors:
   QN_ERROR_NULL, QN_ERROR_OUT_OF_MEMORY, QN_ERROR_UNSUPPORTED (the library is older than this header). Any thread. */
static inline qn_status qn_tensors_create(qn_device *device, const qn_tensors_desc *desc,
                                          qn_tensors **tensors) {
    return qn_tensors_create_for(QN_HEADER_VERSION, device, desc, tensors);
}
/* All its tensors are gone, retained or not; work that has been enqueued goes on. NULL: nothing to do. */
QN_API void qn_tensors_destroy(qn_tensors *tensors);
QN_API qn_device *qn_tensors_device(const qn_tensors *tensors);
/* The kernels that its tensors use, for calls of kernels.h beside them. */
QN_API qn_kernels *qn_tensors_kernels(const qn_tensors *tensors);
QN_API qn_stream *qn_tensors_stream(const qn_tensors *tensors);

/* What it has and has done so far. */
typedef struct qn_tensors_stats {
    uint64_t tensors;       /* handles that are alive */
    uint64_t nodes;         /* notes of ops, and values, that are kept for them */
    uint64_t launches;      /* kernels and calls of kernels.h enqueued */
    uint64_t plans;         /* different graphs scheduled */
    uint64_t plan_hits;     /* graphs met again */
    uint64_t programs;      /* different texts compiled */
    uint64_t bytes, pooled; /* of device memory: in values, and kept for the next ones */
    /* Of device memory, taken from the device now, recorded steps' too, and the most so far. */
    uint64_t allocated, most_allocated;
} qn_tensors_stats;
QN_API qn_status qn_tensors_get_stats(const qn_tensors *tensors, qn_tensors_stats *stats);
/* Gives memory that is kept for the next values back to the device. */
QN_API qn_status qn_tensors_trim(qn_tensors *tensors);
/* Until the code of all kernels compiled so far is final (qn_program_wait): for measurements. Errors: as there. */
QN_API qn_status qn_tensors_wait(qn_tensors *tensors, uint64_t timeout_ns);

/* Tensors made between belong to the scope, the innermost of those that are open. qn_scope_end without a begin is QN_ERROR_STATE.
   Errors: QN_ERROR_OUT_OF_MEMORY. */
QN_API qn_status qn_scope_begin(qn_tensors *tensors);
QN_API qn_status qn_scope_end(qn_tensors *tensors);
/* One more to whom the tensor belongs, and one less. Both take NULL and do nothing then; retain gives the tensor. */
QN_API qn_tensor *qn_tensor_retain(qn_tensor *x);
QN_API void qn_tensor_release(qn_tensor *x);

/* Messages of ops that fail in between say where they are: "in encoder, block 3". The text is copied. Labels nest. */
QN_API void qn_label_begin(qn_tensors *tensors, const char *text);
QN_API void qn_label_end(qn_tensors *tensors);

/* ---- making tensors ---- */

/* A copy of `data`: contiguous elements of the type, the last dimension fastest. */
QN_API qn_tensor *qn_from_data(qn_tensors *tensors, qn_element type, qn_shape shape, const void *data);
/* The elements of an array of kernels.h, without a copy: the buffer, which is of the same device, has to stay and keep its contents while
   tensors use it. */
QN_API qn_tensor *qn_from_array(qn_tensors *tensors, const qn_array *array);
/* The same of memory that its owner wants back: `release` is called as soon as no tensor needs the buffer any more, at the latest by
   qn_tensors_destroy. The work that reads it is enqueued on the tensors' stream then, and perhaps not done: an event recorded
   there tells. A failed tensor calls nothing. */
typedef void qn_release_callback(void *user);
QN_API qn_tensor *qn_from_lent_array(qn_tensors *tensors, const qn_array *array, qn_release_callback *release,
                                     void *user);
QN_API qn_tensor *qn_full(qn_tensors *tensors, qn_element type, qn_shape shape, qn_operand value);
QN_API qn_tensor *qn_zeros(qn_tensors *tensors, qn_element type, qn_shape shape);
QN_API qn_tensor *qn_ones(qn_tensors *tensors, qn_element type, qn_shape shape);
/* The numbers from start up to, not including, stop, `step` apart: ceil((stop - start) / step) of them. */
QN_API qn_tensor *qn_arange(qn_tensors *tensors, qn_element type, double start, double stop, double step);
/* `count` numbers from start to stop, both included. */
QN_API qn_tensor *qn_linspace(qn_tensors *tensors, qn_element type, double start, double stop,
                              uint64_t count);
/* 1 where row + offset = column, else 0. */
QN_API qn_tensor *qn_eye(qn_tensors *tensors, qn_element type, uint64_t rows, uint64_t columns,
                         int64_t offset);
#ifndef __cplusplus
#define qn_full(tensors, type, shape, value) qn_full(tensors, type, shape, QN_OPERAND(value))
#endif

/* ---- random numbers ---- */

/* By Philox 4x32-10 (Salmon, Moraes, Dror and Shaw, 2011): the numbers depend on the seed and on how many were taken before alone, so they are the same on
   each device. Each call takes the next ones, and gives the same each time it is computed; in a
   step, each run takes the next ones, as if its function were called anew. Types are floats, of qn_randint
   integers; failed tensors tell. */

/* From 0 up to, not including, 1: as qn_kernels_random has them for f32 and f64; narrower types have as many digits as fit. */
QN_API qn_tensor *qn_rand(qn_tensors *tensors, qn_element type, qn_shape shape);
/* Of the normal distribution of mean 0 and deviation 1, as qn_kernels_random has them. */
QN_API qn_tensor *qn_randn(qn_tensors *tensors, qn_element type, qn_shape shape);
/* From low up to, not including, high. */
QN_API qn_tensor *qn_randint(qn_tensors *tensors, qn_element type, qn_shape shape, int64_t low, int64_t high);
/* 1 with the probability that each element of p is, else 0; of p's type. */
QN_API qn_tensor *qn_bernoulli(qn_tensor *p);
/* Of the normal distribution, but from low to high alone. */
QN_API qn_tensor *qn_truncated_normal(qn_tensors *tensors, qn_element type, qn_shape shape, double mean,
                                      double deviation, double low, double high);
/* First values for weights of [outputs, inputs, ...]: uniform or normal, of deviation gain * sqrt(2 / (inputs + outputs)) (Glorot and Bengio,
   2010) or gain / sqrt(inputs) (He, Zhang, Ren and Sun, 2015), where further dimensions, those of a window, count for both. A relu wants a gain of sqrt(2). */
QN_API qn_tensor *qn_xavier_uniform(qn_tensors *tensors, qn_element type, qn_shape shape, double gain);
QN_API qn_tensor *qn_xavier_normal(qn_tensors *tensors, qn_element type, qn_shape shape, double gain);
QN_API qn_tensor *qn_kaiming_uniform(qn_tensors *tensors, qn_element type, qn_shape shape, double gain);
QN_API qn_tensor *qn_kaiming_normal(qn_tensors *tensors, qn_element type, qn_shape shape, double gain);
/* Weights of [outputs, inputs...] whose rows, or where they are more than there are inputs whose columns, are orthogonal and of length gain (Saxe, McClelland and
   Ganguli, 2014). They are made on the host, which waits for the device; not in a step. */
QN_API qn_tensor *qn_orthogonal(qn_tensors *tensors, qn_element type, qn_shape shape, double gain);

/* Where the sequence of random numbers is: for going on with it elsewhere. `seed` of steps that are recorded stays. Errors: QN_ERROR_NULL, QN_ERROR_ARGUMENT. */
typedef struct qn_random_place {
    uint64_t seed, taken;
} qn_random_place;
QN_API qn_status qn_random_get_place(const qn_tensors *tensors, qn_random_place *place);
QN_API qn_status qn_random_set_place(qn_tensors *tensors, const qn_random_place *place);

/* ---- asking for values ---- */

/* QN_OK, or the failure that the tensor carries, which becomes the sentence of qn_error_message. */
QN_API qn_status qn_tensor_status(const qn_tensor *x);
/* A failed tensor, for functions of one's own that cannot do what they are asked. Messages add the place to the text. QN_OK counts as
   QN_ERROR_ARGUMENT. */
QN_API qn_tensor *qn_tensor_fail(qn_tensors *tensors, qn_status status, const char *text);
QN_API qn_element qn_tensor_type(const qn_tensor *x);
QN_API qn_shape qn_tensor_shape(const qn_tensor *x); /* of a failed one: no dimensions */
QN_API uint64_t qn_tensor_count(const qn_tensor *x); /* elements */
QN_API qn_tensors *qn_tensor_owner(const qn_tensor *x);
/* Enqueues what makes the values of all these tensors, together, and returns. Errors: a tensor's failure, and what
   qn_program_create, qn_buffer_create and qn_launch report. */
QN_API qn_status qn_realize(qn_tensor *const *tensors, size_t count);
QN_API qn_status qn_tensor_realize(qn_tensor *x);
/* The values as contiguous elements of the tensor's type, of which there have to be `size` bytes (else QN_ERROR_ARGUMENT); waits for
   the device. */
QN_API qn_status qn_tensor_read(qn_tensor *x, void *data, uint64_t size);
/* The value of a tensor of one element, converted; NaN, with a sentence, where it fails. */
QN_API double qn_tensor_item(qn_tensor *x);
/* The values as an array of kernels.h, computed if need be. The buffer is the tensor's: good as long as the tensor, and for
   reading alone. */
QN_API qn_status qn_tensor_array(qn_tensor *x, qn_array *array);

/* Gets one line, or several with newlines between; valid during the call. */
typedef void qn_text_callback(void *user, const char *text);
/* What qn_realize would do for the tensors, without doing it: each kernel, the ops that it fuses, the bytes that it reads and writes, and
   operations, a function or a reduction of an element being one and a product's step two; with
   `text`, its OpenCL C; with `svg` a picture instead, in pieces: a box for each kernel, and lines to those that need its values. Errors: as
   qn_realize. */
typedef struct qn_explain_desc {
    bool text, svg;
} qn_explain_desc;
QN_API qn_status qn_tensor_explain(qn_tensor *const *tensors, size_t count, const qn_explain_desc *desc,
                                   qn_text_callback *callback, void *user);

/* ---- functions of elements ---- */

/* Converted as by qn_kernels_copy; the value is rounded to the type. */
QN_API qn_tensor *qn_cast(qn_tensor *x, qn_element type);

QN_API qn_tensor *qn_negate(qn_tensor *x);
QN_API qn_tensor *qn_abs(qn_tensor *x);
QN_API qn_tensor *qn_sign(qn_tensor *x); /* -1, 0, 1; a NaN stays */
QN_API qn_tensor *qn_square(qn_tensor *x);
QN_API qn_tensor *qn_relu(qn_tensor *x);
QN_API qn_tensor *qn_reciprocal(qn_tensor *x);
QN_API qn_tensor *qn_sqrt(qn_tensor *x);
QN_API qn_tensor *qn_rsqrt(qn_tensor *x);
QN_API qn_tensor *qn_cbrt(qn_tensor *x);
QN_API qn_tensor *qn_exp(qn_tensor *x);
QN_API qn_tensor *qn_exp2(qn_tensor *x);
QN_API qn_tensor *qn_expm1(qn_tensor *x);
QN_API qn_tensor *qn_log(qn_tensor *x);
QN_API qn_tensor *qn_log2(qn_tensor *x);
QN_API qn_tensor *qn_log10(qn_tensor *x);
QN_API qn_tensor *qn_log1p(qn_tensor *x);
QN_API qn_tensor *qn_sin(qn_tensor *x);
QN_API qn_tensor *qn_cos(qn_tensor *x);
QN_API qn_tensor *qn_tan(qn_tensor *x);
QN_API qn_tensor *qn_asin(qn_tensor *x);
QN_API qn_tensor *qn_acos(qn_tensor *x);
QN_API qn_tensor *qn_atan(qn_tensor *x);
QN_API qn_tensor *qn_sinh(qn_tensor *x);
QN_API qn_tensor *qn_cosh(qn_tensor *x);
QN_API qn_tensor *qn_tanh(qn_tensor *x);
QN_API qn_tensor *qn_asinh(qn_tensor *x);
QN_API qn_tensor *qn_acosh(qn_tensor *x);
QN_API qn_tensor *qn_atanh(qn_tensor *x);
QN_API qn_tensor *qn_erf(qn_tensor *x);
QN_API qn_tensor *qn_erfc(qn_tensor *x);
QN_API qn_tensor *qn_erf_inverse(qn_tensor *x); /* of -1 to 1 */
QN_API qn_tensor *qn_floor(qn_tensor *x);       /* of integers: themselves; so the next three */
QN_API qn_tensor *qn_ceil(qn_tensor *x);
QN_API qn_tensor *qn_round(qn_tensor *x); /* to nearest even */
QN_API qn_tensor *qn_trunc(qn_tensor *x);
QN_API qn_tensor *qn_sigmoid(qn_tensor *x);
QN_API qn_tensor *qn_silu(qn_tensor *x);
QN_API qn_tensor *qn_softplus(qn_tensor *x);
QN_API qn_tensor *qn_mish(qn_tensor *x);
QN_API qn_tensor *qn_gelu(qn_tensor *x);      /* x (1 + erf(x / sqrt 2)) / 2 */
QN_API qn_tensor *qn_gelu_tanh(qn_tensor *x); /* its approximation by tanh */
QN_API qn_tensor *qn_is_nan(qn_tensor *x);    /* QN_BOOL, as the next four */
QN_API qn_tensor *qn_is_inf(qn_tensor *x);
QN_API qn_tensor *qn_is_finite(qn_tensor *x);
QN_API qn_tensor *qn_sign_bit(qn_tensor *x);
QN_API qn_tensor *qn_logical_not(qn_tensor *x);
QN_API qn_tensor *qn_bit_not(qn_tensor *x); /* of integers; of QN_BOOL: not */

QN_API qn_tensor *qn_add(qn_operand a, qn_operand b);
QN_API qn_tensor *qn_subtract(qn_operand a, qn_operand b);
QN_API qn_tensor *qn_multiply(qn_operand a, qn_operand b);
QN_API qn_tensor *qn_divide(qn_operand a, qn_operand b);       /* of real numbers */
QN_API qn_tensor *qn_floor_divide(qn_operand a, qn_operand b); /* integers by 0: as in kernels */
QN_API qn_tensor *qn_remainder(qn_operand a, qn_operand b);    /* of the sign of b */
QN_API qn_tensor *qn_fmod(qn_operand a, qn_operand b);         /* of the sign of a */
QN_API qn_tensor *qn_power(qn_operand a, qn_operand b);
QN_API qn_tensor *qn_maximum(qn_operand a, qn_operand b); /* NaN where one is */
QN_API qn_tensor *qn_minimum(qn_operand a, qn_operand b);
QN_API qn_tensor *qn_atan2(qn_operand a, qn_operand b);
QN_API qn_tensor *qn_hypot(qn_operand a, qn_operand b);
QN_API qn_tensor *qn_copy_sign(qn_operand a, qn_operand b);
QN_API qn_tensor *qn_log_add_exp(qn_operand a, qn_operand b); /* log(exp(a) + exp(b)) */
QN_API qn_tensor *qn_next_after(qn_operand a,
                                qn_operand b);          /* the next number from a towards b; QN_F32, QN_F64 */
QN_API qn_tensor *qn_equal(qn_operand a, qn_operand b); /* QN_BOOL, as the next five */
QN_API qn_tensor *qn_not_equal(qn_operand a, qn_operand b);
QN_API qn_tensor *qn_less(qn_operand a, qn_operand b);
QN_API qn_tensor *qn_less_equal(qn_operand a, qn_operand b);
QN_API qn_tensor *qn_greater(qn_operand a, qn_operand b);
QN_API qn_tensor *qn_greater_equal(qn_operand a, qn_operand b);
QN_API qn_tensor *qn_logical_and(qn_operand a, qn_operand b);
QN_API qn_tensor *qn_logical_or(qn_operand a, qn_operand b);
QN_API qn_tensor *qn_logical_xor(qn_operand a, qn_operand b);
QN_API qn_tensor *qn_bit_and(qn_operand a, qn_operand b);
QN_API qn_tensor *qn_bit_or(qn_operand a, qn_operand b);
QN_API qn_tensor *qn_bit_xor(qn_operand a, qn_operand b);
QN_API qn_tensor *qn_shift_left(qn_operand a, qn_operand b); /* by b modulo the bits of the type */
QN_API qn_tensor *qn_shift_right(qn_operand a, qn_operand b);
QN_API qn_tensor *qn_where(qn_operand condition, qn_operand a, qn_operand b); /* a where it is not 0 */
QN_API qn_tensor *qn_clip(qn_operand x, qn_operand low, qn_operand high);
QN_API qn_tensor *qn_lerp(qn_operand a, qn_operand b, qn_operand weight);    /* a + weight (b - a) */
QN_API qn_tensor *qn_multiply_add(qn_operand a, qn_operand b, qn_operand c); /* a b + c */

#ifndef __cplusplus
#define QN__OPERANDS2(a, b)       QN_OPERAND(a), QN_OPERAND(b)
#define QN__OPERANDS3(a, b, c)    QN_OPERAND(a), QN_OPERAND(b), QN_OPERAND(c)
#define qn_add(a, b)              qn_add(QN__OPERANDS2(a, b))
#define qn_subtract(a, b)         qn_subtract(QN__OPERANDS2(a, b))
#define qn_multiply(a, b)         qn_multiply(QN__OPERANDS2(a, b))
#define qn_divide(a, b)           qn_divide(QN__OPERANDS2(a, b))
#define qn_floor_divide(a, b)     qn_floor_divide(QN__OPERANDS2(a, b))
#define qn_remainder(a, b)        qn_remainder(QN__OPERANDS2(a, b))
#define qn_fmod(a, b)             qn_fmod(QN__OPERANDS2(a, b))
#define qn_power(a, b)            qn_power(QN__OPERANDS2(a, b))
#define qn_maximum(a, b)          qn_maximum(QN__OPERANDS2(a, b))
#define qn_minimum(a, b)          qn_minimum(QN__OPERANDS2(a, b))
#define qn_atan2(a, b)            qn_atan2(QN__OPERANDS2(a, b))
#define qn_hypot(a, b)            qn_hypot(QN__OPERANDS2(a, b))
#define qn_copy_sign(a, b)        qn_copy_sign(QN__OPERANDS2(a, b))
#define qn_log_add_exp(a, b)      qn_log_add_exp(QN__OPERANDS2(a, b))
#define qn_next_after(a, b)       qn_next_after(QN__OPERANDS2(a, b))
#define qn_equal(a, b)            qn_equal(QN__OPERANDS2(a, b))
#define qn_not_equal(a, b)        qn_not_equal(QN__OPERANDS2(a, b))
#define qn_less(a, b)             qn_less(QN__OPERANDS2(a, b))
#define qn_less_equal(a, b)       qn_less_equal(QN__OPERANDS2(a, b))
#define qn_greater(a, b)          qn_greater(QN__OPERANDS2(a, b))
#define qn_greater_equal(a, b)    qn_greater_equal(QN__OPERANDS2(a, b))
#define qn_logical_and(a, b)      qn_logical_and(QN__OPERANDS2(a, b))
#define qn_logical_or(a, b)       qn_logical_or(QN__OPERANDS2(a, b))
#define qn_logical_xor(a, b)      qn_logical_xor(QN__OPERANDS2(a, b))
#define qn_bit_and(a, b)          qn_bit_and(QN__OPERANDS2(a, b))
#define qn_bit_or(a, b)           qn_bit_or(QN__OPERANDS2(a, b))
#define qn_bit_xor(a, b)          qn_bit_xor(QN__OPERANDS2(a, b))
#define qn_shift_left(a, b)       qn_shift_left(QN__OPERANDS2(a, b))
#define qn_shift_right(a, b)      qn_shift_right(QN__OPERANDS2(a, b))
#define qn_where(condition, a, b) qn_where(QN__OPERANDS3(condition, a, b))
#define qn_clip(x, low, high)     qn_clip(QN__OPERANDS3(x, low, high))
#define qn_lerp(a, b, weight)     qn_lerp(QN__OPERANDS3(a, b, weight))
#define qn_multiply_add(a, b, c)  qn_multiply_add(QN__OPERANDS3(a, b, c))
#endif

/* ---- reductions ---- */

/* Along the axes, which are gone then, or stay with a size of 1 (`keep`). Floats are summed up in f32 (f64 in f64), in an order that
   is the same at each call; integers and QN_BOOL become QN_I64, or QN_U64 of unsigned ones, for sums and products. Of no elements a sum is 0, a
   product 1, `any` false, `all` true, a mean NaN; max and min are an error. */
QN_API qn_tensor *qn_sum(qn_tensor *x, qn_axes axes, bool keep);
QN_API qn_tensor *qn_product(qn_tensor *x, qn_axes axes, bool keep);
QN_API qn_tensor *qn_mean(qn_tensor *x, qn_axes axes, bool keep); /* integers: QN_F32 */
QN_API qn_tensor *qn_max(qn_tensor *x, qn_axes axes, bool keep);  /* NaN where one is */
QN_API qn_tensor *qn_min(qn_tensor *x, qn_axes axes, bool keep);
QN_API qn_tensor *qn_any(qn_tensor *x, qn_axes axes, bool keep);
QN_API qn_tensor *qn_all(qn_tensor *x, qn_axes axes, bool keep);
/* QN_I64: the first place of the largest, a NaN being larger than all, along an axis. */
QN_API qn_tensor *qn_argmax(qn_tensor *x, int32_t axis, bool keep);
QN_API qn_tensor *qn_argmin(qn_tensor *x, int32_t axis, bool keep);
/* The mean of the squared distances from the mean, and its root, with count - correction for the count. */
QN_API qn_tensor *qn_variance(qn_tensor *x, qn_axes axes, double correction, bool keep);
QN_API qn_tensor *qn_deviation(qn_tensor *x, qn_axes axes, double correction, bool keep);
QN_API qn_tensor *qn_norm(qn_tensor *x, qn_axes axes, bool keep); /* the root of the sum of the squares */
/* (sum of |x|^order)^(1 / order): with an order of 0 how many are not 0, of infinity the largest, of -infinity the least. */
QN_API qn_tensor *qn_vector_norm(qn_tensor *x, double order, qn_axes axes, bool keep);
QN_API qn_tensor *qn_count_nonzero(qn_tensor *x, qn_axes axes, bool keep); /* QN_I64 */
QN_API qn_tensor *qn_log_sum_exp(qn_tensor *x, qn_axes axes, bool keep);
QN_API qn_tensor *qn_softmax(qn_tensor *x, int32_t axis);
QN_API qn_tensor *qn_log_softmax(qn_tensor *x, int32_t axis);

/* ---- rearranging ---- */

/* Compositions of views and maps: they cost nothing where a kernel reads them as it goes. */

QN_API qn_tensor *qn_full_like(qn_tensor *x, qn_operand value); /* of x's shape and type, as the next two */
QN_API qn_tensor *qn_zeros_like(qn_tensor *x);
QN_API qn_tensor *qn_ones_like(qn_tensor *x);
/* parts[i] is the next sizes[i] elements along an axis, whose size they have to add up to. After an error all parts carry it. */
QN_API qn_status qn_split(qn_tensor *x, const uint64_t *sizes, size_t count, int32_t axis, qn_tensor **parts);
/* The slices at each place along an axis, which has `count`, without it. */
QN_API qn_status qn_unstack(qn_tensor *x, int32_t axis, qn_tensor **parts, size_t count);
/* Each element's difference from the one before along an axis, so many times; of QN_BOOL: whether they differ. */
QN_API qn_tensor *qn_difference(qn_tensor *x, uint32_t times, int32_t axis);
/* Each element `shift` places further along an axis; those that would be behind the end begin it. */
QN_API qn_tensor *qn_roll(qn_tensor *x, int64_t shift, int32_t axis);
QN_API qn_tensor *qn_move_axis(qn_tensor *x, int32_t axis, int32_t to); /* the others keep their order */
/* Each element so many times, one behind the other along the axis; and the whole so many times along each of the last dimensions. */
QN_API qn_tensor *qn_repeat(qn_tensor *x, uint64_t times, int32_t axis);
QN_API qn_tensor *qn_tile(qn_tensor *x, qn_shape times);
/* Where index along `axis` + offset = index along `other`: as a new last dimension, instead of both. */
QN_API qn_tensor *qn_diagonal(qn_tensor *x, int64_t offset, int32_t axis, int32_t other);
QN_API qn_tensor *qn_trace(qn_tensor *x,
                           int64_t offset); /* the sum of the diagonal of the last two dimensions */
/* Of matrices the part where column <= row + offset, and where column >= row + offset, zeros elsewhere. */
QN_API qn_tensor *qn_tril(qn_tensor *x, int64_t offset);
QN_API qn_tensor *qn_triu(qn_tensor *x, int64_t offset);
/* grids[i] has tensors[i], which has one dimension, along dimension i, and the same along the others. After an error all carry it. */
QN_API qn_status qn_meshgrid(qn_tensor *const *tensors, size_t count, qn_tensor **grids);
#ifndef __cplusplus
#define qn_full_like(x, value) qn_full_like(x, QN_OPERAND(value))
#endif

/* ---- elements that indices name ---- */

/* Indices are of an integer type. One that is negative, or as large as the size or larger, names nothing: taken it is 0, written to it is
   left out. Sums of slices with the same index may differ in their last digits from run to run. */

/* The slices along an axis that the indices name, in place of the dimension: of a table of 50000x512 and 8x100 indices, 8x100x512. */
QN_API qn_tensor *qn_take(qn_tensor *x, qn_tensor *indices, int32_t axis);
/* x with the slices that the indices name replaced by, or with the addition of, those of `values`, which are broadcast to the shape that
   qn_take gives, and cast. Where indices are the same the last one is left. QN_BOOL cannot be added. */
QN_API qn_tensor *qn_scatter(qn_tensor *x, qn_tensor *indices, qn_tensor *values, int32_t axis);
QN_API qn_tensor *qn_scatter_add(qn_tensor *x, qn_tensor *indices, qn_tensor *values, int32_t axis);
/* For each index the element along the axis that it names, at the index's own place in the other dimensions, which are broadcast:
   what qn_argsort and qn_top_k say is meant so. */
QN_API qn_tensor *qn_take_along_axis(qn_tensor *x, qn_tensor *indices, int32_t axis);
/* x with elements of `values`, which are broadcast to the shape of the indices, added where qn_take_along_axis would take. */
QN_API qn_tensor *qn_scatter_add_along_axis(qn_tensor *x, qn_tensor *indices, qn_tensor *values,
                                            int32_t axis);
/* x[indices[0], indices[1], ...]: the indices, broadcast to one shape, say elements along the first `count` axes. */
QN_API qn_tensor *qn_index(qn_tensor *x, qn_tensor *const *indices, size_t count);
/* 1 where the place along a new last dimension is the index, else 0. */
QN_API qn_tensor *qn_one_hot(qn_tensor *indices, uint64_t classes, qn_element type);

/* How many elements these give is known when they are counted: they wait for the device, and fail in a step. */

/* Where x is not 0, in order: rows of a place along each dimension, QN_I64. */
QN_API qn_tensor *qn_nonzero(qn_tensor *x);
/* x where the mask, which is bool and of x's first sizes, is true. */
QN_API qn_tensor *qn_masked_select(qn_tensor *x, qn_tensor *mask);
/* The different elements in order, as one dimension. NaNs are different where their bits are. Without gradients. */
QN_API qn_tensor *qn_unique(qn_tensor *x);

/* Likewise, and where the pointers say, unless they are NULL: the first place of each in x as it is flattened, for each element of x its place among
   the different ones, and how often each is there, all QN_I64. NaNs are one. */
QN_API qn_tensor *qn_unique_all(qn_tensor *x, qn_tensor **places, qn_tensor **inverse, qn_tensor **counts);

/* How many elements each of `bins` equal parts of the range from low to high has, QN_I64; `high` is in the last one, what is outside, and a NaN, in
   none. Bins are found in f32. And how often each of the integers 0, ..., bins - 1 is there. Without waiting, and without gradients. */
QN_API qn_tensor *qn_histogram(qn_tensor *x, uint64_t bins, double low, double high);
QN_API qn_tensor *qn_bincount(qn_tensor *x, uint64_t bins);

/* For each value how many elements of `sorted`, one dimension in ascending order, are less; with `right`, less or equal. QN_I64. A NaN is above all. And
   whether each element of x is one of the set's. Neither waits, nor has gradients. */
QN_API qn_tensor *qn_search_sorted(qn_tensor *sorted, qn_tensor *values, bool right);
QN_API qn_tensor *qn_is_in(qn_tensor *x, qn_tensor *set);

/* ---- order ---- */

/* The order is that of qn_kernels_sort: stable, a NaN above all numbers, with its sign bit set below all, -0 before 0. */
QN_API qn_tensor *qn_sort(qn_tensor *x, int32_t axis, bool descending);
QN_API qn_tensor *qn_argsort(qn_tensor *x, int32_t axis, bool descending); /* QN_I64: where they were */
/* The k largest along an axis, the largest first, or the smallest; among equal ones the first. `indices`, where it is not NULL, becomes a tensor of
   where they are, QN_I64. */
QN_API qn_tensor *qn_top_k(qn_tensor *x, uint64_t k, int32_t axis, bool smallest, qn_tensor **indices);
/* What so large a part of the elements along an axis is below (0.5: the median), between neighbours in proportion; NaN where one is. */
QN_API qn_tensor *qn_quantile(qn_tensor *x, double part, int32_t axis, bool keep);
/* The numbers from 0 to count - 1 in random order, QN_I64. */
QN_API qn_tensor *qn_permutation(qn_tensors *tensors, uint64_t count);

/* ---- cumulative ---- */

/* Each element joined with all before it along the axis. Types are those of qn_sum, qn_product, qn_max and qn_min; NaNs count for max and
   min only where there is nothing else before. */
QN_API qn_tensor *qn_cumulative_sum(qn_tensor *x, int32_t axis);
QN_API qn_tensor *qn_cumulative_product(qn_tensor *x, int32_t axis);
QN_API qn_tensor *qn_cumulative_max(qn_tensor *x, int32_t axis);
QN_API qn_tensor *qn_cumulative_min(qn_tensor *x, int32_t axis);
QN_API qn_tensor *qn_cumulative_log_sum_exp(qn_tensor *x, int32_t axis); /* integers: QN_F32 */

/* ---- products ---- */

/* Of matrices: a's rows by b's columns, the last two dimensions; those before are batches, which are broadcast. A tensor of one
   dimension is a row as `a`, a column as `b`, without that dimension in the result. Sums are taken as by qn_kernels_matmul. */
QN_API qn_tensor *qn_matmul(qn_tensor *a, qn_tensor *b);
/* Sums of products over named dimensions, as Einstein wrote them: "bij,bjk->bik" are products of matrices, "ii->i" a diagonal, "ij->" a
   sum. A letter is a dimension; those that the result does not name are summed over. Without "->" the result has the letters that are
   used once, capitals first. Operands are joined from the left, each two by one product of matrices. Up to 16. */
QN_API qn_tensor *qn_einsum(const char *text, qn_tensor *const *operands, size_t count);
/* Summed over axes_a[i] of a and axes_b[i] of b, each pair of one size; what is left of a, then of b. Of no axes: all products. */
QN_API qn_tensor *qn_tensordot(qn_tensor *a, qn_tensor *b, qn_axes axes_a, qn_axes axes_b);
QN_API qn_tensor *qn_outer(qn_tensor *a, qn_tensor *b); /* each element of a with each of b: a matrix */
QN_API qn_tensor *qn_vector_dot(qn_tensor *a, qn_tensor *b,
                                int32_t axis); /* the sum of the products along an axis, broadcast */
QN_API qn_tensor *qn_cross(qn_tensor *a, qn_tensor *b,
                           int32_t axis); /* of vectors of three elements along an axis */
QN_API qn_tensor *qn_matrix_power(qn_tensor *x, int64_t power); /* negative: of the inverse */
QN_API qn_tensor *qn_kron(qn_tensor *a, qn_tensor *b); /* each element of a times the whole b, in its place */

/* softmax(scale q k' + mask) v, for each head of each batch, as qn_kernels_attention, which does it where heads have at most 256 elements: q of [batches, heads,
   queries, size], k and v of [batches, key heads, keys, size], heads a multiple of key heads; without the heads, or both, there is one.
   The mask is broadcast to [batches, heads, queries, keys]: of QN_BOOL, keys where it is false are not seen; of a float type it is
   added. With `causal` the last query sees all keys, each one before one less. Queries that see no key give zeros. `dropout`: weights become
   0 with this probability. Where the mask requires gradients, or with dropout, queries x keys weights are kept in memory.
   Defaults: scale 1 / sqrt(size); no mask. `desc` may be NULL. */
typedef struct qn_tensor_attention_desc {
    double scale;
    bool causal;
    qn_tensor *mask;
    double dropout;
} qn_tensor_attention_desc;
QN_API qn_tensor *qn_attention(qn_tensor *q, qn_tensor *k, qn_tensor *v,
                               const qn_tensor_attention_desc *desc);

/* ---- small matrices ---- */

/* Of the last two dimensions; those before are batches. What is computed is as kernels.h says (qn_kernels_cholesky and on), in QN_F32, or of QN_F64 in
   that; narrower floats are rounded to their type at the end. A further result goes where its pointer says, unless that is NULL. */

QN_API qn_tensor *qn_cholesky(qn_tensor *x); /* the lower triangle; the upper one of x is not read */
/* X with a X = b; a `b` of one dimension is a column. Batches are broadcast. The second: `a` is the triangle, whose diagonal is ones with `unit`. */
QN_API qn_tensor *qn_solve(qn_tensor *a, qn_tensor *b);
QN_API qn_tensor *qn_solve_triangular(qn_tensor *a, qn_tensor *b, bool upper, bool unit);
QN_API qn_tensor *qn_inverse(qn_tensor *x);
/* The logarithm of its size, and its sign: 1, -1 or 0. And the determinant itself, which may be too large, or too small, for its type; where
   it is 0 its gradient is NaN. */
QN_API qn_tensor *qn_log_determinant(qn_tensor *x, qn_tensor **sign);
QN_API qn_tensor *qn_determinant(qn_tensor *x);
/* q of x = q r: of as many columns as the lesser of x's sizes or, if complete, as rows; there without gradients, if that is more than x has. */
QN_API qn_tensor *qn_qr(qn_tensor *x, bool complete, qn_tensor **r);
/* The eigenvalues of symmetric matrices, whose lower triangle is read, the least first; vectors are columns. Gradients are of vectors that have values of
   their own: between those of the same value nothing goes. */
QN_API qn_tensor *qn_eigen(qn_tensor *x, qn_tensor **vectors);
/* The singular values, the largest first, of x = u diag(values) v^T; u and v have as many columns. Gradients: as there. */
QN_API qn_tensor *qn_svd(qn_tensor *x, qn_tensor **u, qn_tensor **v);
/* Singular values that are not more than the tolerance times the largest are taken as 0; a tolerance of 0: the larger of the sizes times the
   distance of numbers near 1. The rank is QN_I64. */
QN_API qn_tensor *qn_matrix_rank(qn_tensor *x, double tolerance);
QN_API qn_tensor *qn_pseudo_inverse(qn_tensor *x, double tolerance);
typedef enum qn_matrix_norm_kind {
    QN_NORM_FROBENIUS,      /* the root of the sum of squares */
    QN_NORM_NUCLEAR,        /* the sum of singular values */
    QN_NORM_SPECTRAL,       /* the largest of them */
    QN_NORM_LEAST_SPECTRAL, /* the least */
    QN_NORM_COLUMNS,
    QN_NORM_LEAST_COLUMN, /* the largest and the least sum of sizes in a column */
    QN_NORM_ROWS,
    QN_NORM_LEAST_ROW /* in a row */
} qn_matrix_norm_kind;
QN_API qn_tensor *qn_matrix_norm(qn_tensor *x, qn_matrix_norm_kind kind);

/* ---- views ---- */

/* The same elements in other places: none is moved where a kernel can read them as they lie. */

/* As many elements, in the same order. One size may be QN_REST: what is left for it. */
#define QN_REST UINT64_MAX
QN_API qn_tensor *qn_reshape(qn_tensor *x, qn_shape shape);
QN_API qn_tensor *qn_permute(qn_tensor *x, qn_axes axes); /* dimension d is dimension axes[d] of x */
QN_API qn_tensor *qn_transpose(qn_tensor *x, int32_t axis, int32_t other);
QN_API qn_tensor *qn_broadcast_to(qn_tensor *x, qn_shape shape);
/* Along an axis the elements begin, begin + step, ... before `end`; begin and end count from the end where negative, and are cut to the
   size. A negative step goes back from `begin`; QN_END as `end` is behind the last one in either direction. */
#define QN_END INT64_MAX
QN_API qn_tensor *qn_slice(qn_tensor *x, int32_t axis, int64_t begin, int64_t end, int64_t step);
QN_API qn_tensor *qn_flip(qn_tensor *x, qn_axes axes);
/* So many elements of `value` before and behind those along an axis. */
QN_API qn_tensor *qn_pad(qn_tensor *x, int32_t axis, uint64_t before, uint64_t after, qn_operand value);
QN_API qn_tensor *qn_unsqueeze(qn_tensor *x, int32_t axis); /* a dimension of size 1 there */
QN_API qn_tensor *qn_squeeze(qn_tensor *x, qn_axes axes);   /* without these; all: those of size 1 */
QN_API qn_tensor *qn_flatten(qn_tensor *x, int32_t first, int32_t last); /* these dimensions as one */
/* One behind the other along an axis, of one type. */
QN_API qn_tensor *qn_concat(qn_tensor *const *tensors, size_t count, int32_t axis);
QN_API qn_tensor *qn_stack(qn_tensor *const *tensors, size_t count, int32_t axis); /* along a new axis */
#ifndef __cplusplus
#define qn_pad(x, axis, before, after, value) qn_pad(x, axis, before, after, QN_OPERAND(value))
#endif

/* ---- images ---- */

/* Per dimension of an image, of which there are one to three. Defaults: strides, dilations and groups of 1, no padding; nothing further. */
typedef struct qn_convolution_desc {
    uint32_t stride[3], padding[3], dilation[3];
    uint32_t groups;
    uint32_t further[3]; /* of a transposed one: elements behind the others */
} qn_convolution_desc;
/* As qn_kernels_convolve: x of [images, channels, ...], weights of [outputs, channels / groups, ...], bias of [outputs] or NULL. Of three dimensions: a sum of
   convolutions of two. */
QN_API qn_tensor *qn_convolution(qn_tensor *x, qn_tensor *weights, qn_tensor *bias,
                                 const qn_convolution_desc *desc);
/* What qn_convolution does to gradients by its x, as an op: x of [images, channels, ...], weights of [channels, outputs / groups, ...]. Each dimension becomes
   (size - 1) stride + (taps - 1) dilation + 1 - 2 padding + further. Of three
   dimensions: a sum of those of two. */
QN_API qn_tensor *qn_transposed_convolution(qn_tensor *x, qn_tensor *weights, qn_tensor *bias,
                                            const qn_convolution_desc *desc);
/* The largest, or the mean, of each window of images of [images, channels, ...]. Padding is less than any number for the largest, 0 for the mean, and
   counts there. Of equal elements of a window the first has the gradient; where windows lie side by side, fill the images and have no padding, or have more than 64 elements
   in the last two dimensions, they share it, as those of a window of three dimensions do that differ in the first. Defaults: a stride of the window. */
typedef struct qn_pool_desc {
    uint32_t window[3], stride[3], padding[3];
} qn_pool_desc;
QN_API qn_tensor *qn_max_pool(qn_tensor *x, const qn_pool_desc *desc);
QN_API qn_tensor *qn_average_pool(qn_tensor *x, const qn_pool_desc *desc);

/* Images of [images, channels, ...] with other sizes of their one to three further dimensions, each interpolated along each. An element's middle is where it
   lies in what the image covers; with `align_corners`, which QN_INTERPOLATE_NEAREST has not, the first and the last elements lie on each other.
   Beyond an edge the element there is repeated. All sizes have to be given. Defaults: the nearest, which is the one below where it lies between. */
typedef enum qn_interpolation {
    QN_INTERPOLATE_NEAREST,
    QN_INTERPOLATE_LINEAR, /* from 2 along each dimension */
    QN_INTERPOLATE_CUBIC   /* from 4: Keys' with a = -0.75 */
} qn_interpolation;
typedef struct qn_interpolate_desc {
    uint64_t sizes[3];
    qn_interpolation how;
    bool align_corners;
} qn_interpolate_desc;
QN_API qn_tensor *qn_interpolate(qn_tensor *x, const qn_interpolate_desc *desc);

/* The windows of images of [images, channels, rows, columns] as columns: [images, channels times taps, windows], and what they add up to when they are laid back in
   their places. Defaults: strides and dilations of 1, no padding, which is 0. */
typedef struct qn_unfold_desc {
    uint32_t window[2], stride[2], padding[2], dilation[2];
} qn_unfold_desc;
QN_API qn_tensor *qn_unfold(qn_tensor *x, const qn_unfold_desc *desc);
QN_API qn_tensor *qn_fold(qn_tensor *x, uint64_t rows, uint64_t columns, const qn_unfold_desc *desc);
/* Each factor^2 channels as squares of pixels, and back: [n, c f^2, h, w] and [n, c, h f, w f]. */
QN_API qn_tensor *qn_pixel_shuffle(qn_tensor *x, uint64_t factor);
QN_API qn_tensor *qn_pixel_unshuffle(qn_tensor *x, uint64_t factor);

/* ---- gradients ---- */

/* Gradients are ops themselves: they are computed when asked for, fuse, and have gradients of their own. What they need of a
   computation stays in memory until the tensors that were made of it are gone: with their scope. Functions that are the same all around
   (comparisons, rounding, indices) have none; where an argument is at an edge (relu at 0, max of equal ones) it is a number between those
   on both sides. */

/* Whether gradients go to the tensor, and then stop: it is a parameter. Its type is a float (else the tensor's failure tells). Gives the tensor. */
QN_API qn_tensor *qn_tensor_require_gradient(qn_tensor *x, bool required);
/* The gradients of `loss`, summed up over its elements, by each of the inputs, which have to require gradients; zeros where it does not depend
   on one. The results are tensors of the innermost scope, failed ones after an error, which is the status too. */
QN_API qn_status qn_gradients(qn_tensor *loss, qn_tensor *const *inputs, size_t count, qn_tensor **gradients);
/* Adds the gradient by each tensor that requires one and that the loss depends on to what the tensor has (qn_tensor_gradient). */
QN_API qn_status qn_backward(qn_tensor *loss);
/* What qn_backward has added up; NULL: nothing so far. The tensor's: retain it to keep it longer. */
QN_API qn_tensor *qn_tensor_gradient(qn_tensor *x);
QN_API void qn_tensor_clear_gradient(qn_tensor *x);
/* Another tensor of its shape as what it has. Errors: QN_ERROR_ARGUMENT (another shape, an x that requires no gradients), and a tensor's failure. */
QN_API qn_status qn_tensor_set_gradient(qn_tensor *x, qn_tensor *gradient);
/* Ops between have no gradients: for evaluation, and for updates of parameters. They nest. */
QN_API void qn_no_gradient_begin(qn_tensors *tensors);
QN_API void qn_no_gradient_end(qn_tensors *tensors);
/* The same values, to which no gradients go. */
QN_API qn_tensor *qn_detach(qn_tensor *x);

/* A function of tensors: it makes a tensor of the inputs, and nothing else that stays. */
typedef qn_tensor *qn_tensor_function(void *user, qn_tensor *const *inputs, size_t count);
/* The function's result, and how it changes as each input moves along its tangent, which has the input's shape: forward mode, at the cost of
   some times the function's. Up to 64 inputs, of float types. */
QN_API qn_tensor *qn_jvp(qn_tensor_function *function, void *user, qn_tensor *const *inputs,
                         qn_tensor *const *tangents, size_t count, qn_tensor **tangent);
/* A function of one example, for many: the first dimension of each input is the examples, and so is that of the result. It is called once, with examples that
   have no values (what asks for one fails), and computes all together; what it uses beside its inputs, random numbers too, is the same for all.
   Gradients go through it, and may be taken in it. What it cannot do for many at once (elements counted by their values, convolutions with
   weights of each example, writing where indices of each say, qn_recompute, qn_hook_gradient) is QN_ERROR_UNSUPPORTED with a sentence. Up to 64 inputs. */
QN_API qn_tensor *qn_vmap(qn_tensor_function *function, void *user, qn_tensor *const *inputs, size_t count);
/* The function's result, of which the values in between are not kept for the gradients: the function is called again, with the same random numbers, when these are
   made, and what it needs is computed again (Chen, Xu, Zhang and Guestrin, 2016). Less memory for more work: for each layer of a deep model.
   It may use parameters beside its inputs, of which there is one at least; it and `user` have to stay until the gradients are made. What it
   assigns it assigns twice. Where it takes random numbers, its gradients are to be asked for in the same step, or both in none (else
   QN_ERROR_UNSUPPORTED). */
QN_API qn_tensor *qn_recompute(qn_tensor_function *function, void *user, qn_tensor *const *inputs,
                               size_t count);
/* Gets the gradient by a tensor when gradients are made, before it goes on, and gives what goes on instead, of the same shape and type; NULL: the same. */
typedef qn_tensor *qn_gradient_hook(void *user, qn_tensor *gradient);
/* x, whose gradient goes through the function. Both stay as long as what is made of the result. Without gradients it is x. */
QN_API qn_tensor *qn_hook_gradient(qn_tensor *x, qn_gradient_hook *function, void *user);

/* Compares the gradients of a function with what it does when each element of each input is moved a little: with central differences of its
   results, weighted with numbers that differ. For tests: it computes the function twice for each element. Inputs should be QN_F64, where the
   device has it. Errors: QN_ERROR_KERNEL_FAILED where they differ (the sentence names the input, the element and both numbers), and
   what qn_gradients and qn_tensor_read report. Defaults: a step of 1e-5 (types other than QN_F64: 1e-2), differences of 1e-5 (3e-2), relative to
   1 + their size. */
typedef struct qn_check_desc {
    double step, tolerance;
} qn_check_desc;
QN_API qn_status qn_check_gradients(qn_tensor_function *function, void *user, qn_tensor *const *inputs,
                                    size_t count, const qn_check_desc *desc);

/* ---- giving tensors new values ---- */

/* `x` has the value from now on: what was made of it before keeps its meaning. Shape and type are those of x, to which the value is
   broadcast and cast. Whether it requires gradients stays as it was; where the value comes from is forgotten. Of a loss
   that was made of the value before there are no gradients any more (QN_ERROR_STATE) if x requires them. */
QN_API qn_status qn_assign(qn_tensor *x, qn_tensor *value);

/* ---- steps ---- */

/* A function of tensors that is called once for inputs of some shapes and types, recorded as a graph of launches (qn_graph), and replayed from
   then on: a step of training, say, whose inputs are a batch and the learning rate. */
typedef struct qn_step qn_step;
/* Makes outputs[0] to outputs[num_outputs - 1] of the inputs, whose values are not known while it is recorded: what it asks for fails. It may use
   other tensors. Their values become part of the recording, but for those that require gradients and those that it assigns (qn_assign),
   which are looked up in each run: an assigned tensor has its new value after the run. It has to be realised before (qn_realize). */
typedef qn_status qn_step_function(void *user, qn_tensor *const *inputs, size_t num_inputs,
                                   qn_tensor **outputs, size_t num_outputs);
/* `function` and `user` are kept, and have to stay. To be destroyed before the tensors' owner. Errors: QN_ERROR_NULL, QN_ERROR_OUT_OF_MEMORY. */
QN_API qn_status qn_step_create(qn_tensors *tensors, qn_step_function *function, void *user, qn_step **step);
QN_API void qn_step_destroy(qn_step *step);
/* Whether a step's function is called at the moment: functions that are of use in and outside of steps leave it then to the step to
   compute what they assign. */
QN_API bool qn_tensors_is_recording(const qn_tensors *tensors);
/* Enqueues the step, and records it first where it was not with inputs of these shapes and types. The outputs are tensors of the innermost
   scope that show the step's memory: the next run with inputs of these shapes changes their values. Up to 64 inputs and
   outputs. Errors: what the function returns, what qn_realize and qn_graph_launch report, QN_ERROR_STATE (a value is asked for
   in the function, or an assigned tensor was not realised), QN_ERROR_RANGE. */
QN_API qn_status qn_step_run(qn_step *step, qn_tensor *const *inputs, size_t num_inputs, qn_tensor **outputs,
                             size_t num_outputs);

#ifdef __cplusplus
}
#endif

#endif
