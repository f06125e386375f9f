/* What the tests of kernels.h share: the kernels of the device under test ($QUERN_DEVICE, or the processor), elements of all
   types as numbers of double precision, reproducible contents, walks over arrays. References are computed from these, on the
   host and without what the library does. */
#ifndef KERNELS_COMMON_H
#define KERNELS_COMMON_H

#include "api_support.h"

#include <math.h>
#include <quern/kernels.h>

typedef struct kernels_fixture {
    qn_context *context;
    qn_device *device;
    qn_device_info info;
    qn_kernels *kernels;
} kernels_fixture;

static inline kernels_fixture make_kernels_with(const qn_context_desc *desc) {
    kernels_fixture f;
    f.context = make_context(desc);
    f.device = get_device(f.context, test_device());
    assert_ok(f.context, qn_device_get_info(f.device, &f.info));
    assert_ok(f.context, qn_kernels_create(f.device, NULL, &f.kernels));
    return f;
}

static inline kernels_fixture make_kernels(void) { return make_kernels_with(NULL); }

/* On the processor without its C compiler, which takes seconds for a large kernel: for tests of many. */
static inline kernels_fixture make_kernels_quickly(void) {
    return make_kernels_with(&(qn_context_desc){.cpu_compiler = "none"});
}

static inline void end_kernels(kernels_fixture *f) {
    qn_kernels_destroy(f->kernels);
    assert_ok(f->context, qn_device_wait(f->device, QN_FOREVER));
    qn_context_destroy(f->context);
}

static inline bool has_type(const kernels_fixture *f, qn_element type) {
    return type != QN_F64 || (f->info.capabilities & QN_CAN_F64);
}

/* ---- elements as numbers ---- */

/* A float with `mantissa` bits and a bias: the number that a code without sign stands for, as if there were no codes for
   infinities and NaNs. */
static inline double narrow_number(uint32_t code, int mantissa, int bias) {
    const uint32_t exponent = code >> mantissa, rest = code & ((1u << mantissa) - 1);
    return exponent ? ldexp((double)(rest | 1u << mantissa), (int)exponent - bias - mantissa)
                    : ldexp(rest, 1 - bias - mantissa);
}

/* Mantissa, bias, the largest code of a number, the code beyond it, and that of a NaN; 0: not such a type. */
typedef struct narrow_type {
    int bits, mantissa, bias;
    uint32_t largest, beyond, nan;
} narrow_type;

static inline narrow_type narrow_of(qn_element type) {
    switch (type) {
    case QN_F16: return (narrow_type){16, 10, 15, 0x7bff, 0x7c00, 0x7e00};
    case QN_BF16: return (narrow_type){16, 7, 127, 0x7f7f, 0x7f80, 0x7fc0};
    case QN_E4M3: return (narrow_type){8, 3, 7, 0x7e, 0x7f, 0x7f};
    case QN_E5M2: return (narrow_type){8, 2, 15, 0x7b, 0x7c, 0x7f};
    default: return (narrow_type){0};
    }
}

static inline double narrow_decode(const narrow_type *t, uint32_t bits) {
    const uint32_t sign = bits >> (t->bits - 1), code = bits & ((1u << (t->bits - 1)) - 1);
    const double size = code <= t->largest                    ? narrow_number(code, t->mantissa, t->bias)
                        : code == t->beyond && code != t->nan ? INFINITY
                                                              : NAN;
    return sign ? -size : size;
}

/* The nearest code, found by halving: the codes are in the order of the numbers. */
static inline uint32_t narrow_encode(const narrow_type *t, double value) {
    const uint32_t sign = (uint32_t)(signbit(value) != 0) << (t->bits - 1);
    const double size = fabs(value);
    if (isnan(value)) return sign | t->nan;
    uint32_t low = 0, high = t->largest + 1;
    while (high - low > 1) {
        const uint32_t middle = (low + high) / 2;
        if (narrow_number(middle, t->mantissa, t->bias) <= size)
            low = middle;
        else
            high = middle;
    }
    const double below = size - narrow_number(low, t->mantissa, t->bias),
                 above = narrow_number(high, t->mantissa, t->bias) - size;
    const uint32_t code = above < below || (above == below && high % 2 == 0) ? high : low;
    return sign | (code > t->largest ? t->beyond : code);
}

/* Element `i` of the data. 64-bit integers lose what a double does not hold. */
static inline double element_get(qn_element type, const void *data, uint64_t i) {
    const narrow_type t = narrow_of(type);
    switch (type) {
    case QN_F32: return ((const float *)data)[i];
    case QN_F64: return ((const double *)data)[i];
    case QN_I8: return ((const int8_t *)data)[i];
    case QN_I16: return ((const int16_t *)data)[i];
    case QN_I32: return ((const int32_t *)data)[i];
    case QN_I64: return (double)((const int64_t *)data)[i];
    case QN_U16: return ((const uint16_t *)data)[i];
    case QN_U32: return ((const uint32_t *)data)[i];
    case QN_U64: return (double)((const uint64_t *)data)[i];
    case QN_U8:
    case QN_BOOL: return ((const uint8_t *)data)[i];
    default: break;
    }
    return narrow_decode(&t, t.bits == 16 ? ((const uint16_t *)data)[i] : ((const uint8_t *)data)[i]);
}

/* To the nearest that a float type has; an integer type holds the number exactly. */
static inline void element_set(qn_element type, void *data, uint64_t i, double value) {
    const narrow_type t = narrow_of(type);
    switch (type) {
    case QN_F32: ((float *)data)[i] = (float)value; return;
    case QN_F64: ((double *)data)[i] = value; return;
    case QN_I8: ((int8_t *)data)[i] = (int8_t)value; return;
    case QN_I16: ((int16_t *)data)[i] = (int16_t)value; return;
    case QN_I32: ((int32_t *)data)[i] = (int32_t)value; return;
    case QN_I64: ((int64_t *)data)[i] = (int64_t)value; return;
    case QN_U16: ((uint16_t *)data)[i] = (uint16_t)value; return;
    case QN_U32: ((uint32_t *)data)[i] = (uint32_t)value; return;
    case QN_U64: ((uint64_t *)data)[i] = (uint64_t)value; return;
    case QN_U8: ((uint8_t *)data)[i] = (uint8_t)value; return;
    case QN_BOOL: ((uint8_t *)data)[i] = value != 0; return;
    default: break;
    }
    if (t.bits == 16)
        ((uint16_t *)data)[i] = (uint16_t)narrow_encode(&t, value);
    else
        ((uint8_t *)data)[i] = (uint8_t)narrow_encode(&t, value);
}

/* What the type makes of a number: rounded to its precision. */
static inline double element_round(qn_element type, double value) {
    uint64_t bits = 0;
    element_set(type, &bits, 0, value);
    return element_get(type, &bits, 0);
}

/* Half of the distance of numbers near 1: what one rounding may be off, relatively; 0 for integers. */
static inline double element_epsilon(qn_element type) {
    switch (type) {
    case QN_F32: return 0x1p-24;
    case QN_F64: return 0x1p-53;
    default: return narrow_of(type).bits ? ldexp(1, -1 - narrow_of(type).mantissa) : 0;
    }
}

/* ---- contents ---- */

static inline uint32_t next_random(uint32_t *state) { /* Marsaglia's xorshift */
    *state ^= *state << 13;
    *state ^= *state >> 17;
    return *state ^= *state << 5;
}

/* Numbers from `low` to `high` (whole ones, for integers), which the type has exactly. To be freed. */
static inline void *random_elements(qn_element type, uint64_t count, double low, double high, uint32_t seed) {
    void *data = calloc(count + 1, qn_element_size(type));
    assert_non_null(data);
    uint32_t state = seed * 2654435761u + 1;
    for (uint64_t i = 0; i < count; i++) {
        double value = low + (high - low) * (next_random(&state) >> 8) * 0x1p-24;
        element_set(type, data, i, element_epsilon(type) > 0 ? value : floor(value));
    }
    return data;
}

static inline qn_buffer *elements_buffer(const kernels_fixture *f, qn_element type, uint64_t count,
                                         const void *data) {
    return make_buffer(f->device, (count ? count : 1) * qn_element_size(type), data);
}

/* All of a buffer. To be freed. */
static inline void *buffer_contents(const kernels_fixture *f, qn_buffer *buffer) {
    const uint64_t size = qn_buffer_size(buffer);
    void *data = malloc(size);
    assert_non_null(data);
    assert_ok(f->context, qn_buffer_read(buffer, 0, data, size));
    return data;
}

/* ---- walks ---- */

/* The next index, the last dimension fastest; false after the last. Begins with zeros. */
static inline bool next_index(const qn_array *array, uint64_t index[QN_MAX_RANK]) {
    for (uint32_t d = array->rank; d-- > 0;) {
        if (++index[d] < array->sizes[d]) return true;
        index[d] = 0;
    }
    return false;
}

/* Where an array has its element, in elements of the buffer. With all strides 0 it is contiguous. */
static inline uint64_t element_place(const qn_array *array, const uint64_t index[QN_MAX_RANK]) {
    bool given = false;
    for (uint32_t d = 0; d < array->rank; d++) given = given || array->strides[d];
    uint64_t at = array->offset, stride = 1;
    for (uint32_t d = array->rank; d-- > 0;) {
        at += index[d] * (given ? (uint64_t)array->strides[d] : stride);
        stride *= array->sizes[d];
    }
    return at;
}

#endif
