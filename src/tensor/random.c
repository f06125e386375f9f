/* Random numbers, the same on every device and as qn_kernels_random has them: word i of a seed's sequence is a function of i, so that they
   are made where they are used, in fused kernels. Each call takes the next words of the sequence. */
#include <math.h>

#include "tensor/graph.h"

/* The place of the first of `count` further words, as u64 without dimensions; blocks of four begin there. A step that is recorded has it
   in memory. */
static qn_tensor *take(qn_tensors *tensors, uint64_t count) {
    const uint64_t whole = (count + 3) & ~(uint64_t)3;
    qn_tensor *first = qn__step_words(tensors, whole);
    if (first) return first;
    first = qn_full(tensors, QN_U64, QN_SCALAR, tensors->random_words);
    tensors->random_words += whole;
    return first;
}

static uint64_t count_of(const qn_shape *shape) {
    uint64_t count = 1;
    for (uint32_t d = 0; d < shape->rank; d++) count *= shape->sizes[d];
    return count;
}

static qn_operand tensor_operand(qn_tensor *x) { return (qn_operand){QN_OPERAND_TENSOR, {.tensor = x}}; }
static qn_operand number_operand(uint64_t x) { return (qn_operand){QN_OPERAND_UNSIGNED, {.u = x}}; }

static qn_tensor *apply(qn__op op, qn_tensor *a, qn_operand b) {
    return qn__apply(op, "random numbers", (qn_operand[]){tensor_operand(a), b}, 2);
}

/* The words whose numbers a tensor of u64 has, as u64. */
static qn_tensor *words_at(qn_tensors *tensors, qn_tensor *places) {
    return apply(QN__OP_RANDOM, places, number_operand(tensors->desc.seed));
}

static qn_tensor *places(qn_tensors *tensors, uint64_t count) {
    return qn_cast(qn__index_tensor(tensors, count), QN_U64);
}

/* 32 random bits each, as u32. */
static qn_tensor *bits32(qn_tensors *tensors, uint64_t count) {
    return qn_cast(words_at(tensors, qn_add(places(tensors, count), take(tensors, count))), QN_U32);
}

/* 64 each: two neighbouring words. */
static qn_tensor *bits64(qn_tensors *tensors, uint64_t count) {
    qn_tensor *low = qn_multiply_add(places(tensors, count), 2, take(tensors, 2 * count));
    return qn_bit_or(words_at(tensors, low), qn_shift_left(words_at(tensors, qn_add(low, 1)), 32));
}

/* So many of a word's upper bits make numbers from 0 up to, not including, 1 that the type has exactly. */
static uint32_t digits_of(qn_element type) {
    switch (type) {
    case QN_F16: return 11;
    case QN_BF16: return 8;
    case QN_E4M3: return 4;
    case QN_E5M2: return 3;
    case QN_F64: return 53;
    default: return 24;
    }
}

static qn_tensor *fraction(qn_tensor *bits, uint32_t width, uint32_t digits, qn_element type) {
    return qn_multiply(qn_cast(qn_shift_right(bits, width - digits), type), ldexp(1, -(int)digits));
}

static qn_tensor *refuse(qn_tensors *tensors, const char *function, qn_element type, const qn_shape *shape,
                         bool wants_float) {
    qn_tensor *wrong = qn__check_creation(tensors, function, type, shape);
    if (!wrong && qn__is_float(type) != wants_float)
        wrong = qn__failed(tensors, function, QN_ERROR_ARGUMENT, "it makes numbers of %s types, not of %s",
                           wants_float ? "float" : "integer", qn_element_name(type));
    return wrong;
}

qn_tensor *qn_rand(qn_tensors *tensors, qn_element type, qn_shape shape) {
    qn_tensor *wrong = refuse(tensors, "qn_rand", type, &shape, true);
    if (wrong) return wrong;
    const uint64_t count = count_of(&shape);
    const bool wide = type == QN_F64;
    qn_tensor *bits = wide ? bits64(tensors, count) : bits32(tensors, count);
    const qn_element computed = wide ? QN_F64 : QN_F32;
    qn_tensor *numbers = fraction(bits, wide ? 64 : 32, digits_of(type), computed);
    return qn_reshape(qn_cast(numbers, type), shape);
}

/* Box and Muller: of two fractions, one of the even and one of the odd neighbour, come two numbers of the normal distribution. */
static qn_tensor *normal(qn_tensor *even, qn_tensor *odd, qn_tensor *is_odd, double half_step) {
    qn_tensor *radius = qn_sqrt(qn_multiply(qn_log(qn_add(even, half_step)), -2));
    qn_tensor *angle = qn_multiply(odd, 6.283185307179586477);
    return qn_multiply(radius, qn_where(is_odd, qn_sin(angle), qn_cos(angle)));
}

static qn_tensor *normal32(qn_tensors *tensors, uint64_t count) {
    qn_tensor *at = qn_add(places(tensors, count), take(tensors, count + 1));
    qn_tensor *even = qn_cast(words_at(tensors, qn_bit_and(at, ~(uint64_t)1)), QN_U32);
    qn_tensor *odd = qn_cast(words_at(tensors, qn_bit_or(at, 1)), QN_U32);
    return normal(fraction(even, 32, 24, QN_F32), fraction(odd, 32, 24, QN_F32),
                  qn_equal(qn_bit_and(at, 1), 1), 0x1p-25);
}

static qn_tensor *normal64(qn_tensors *tensors, uint64_t count) {
    qn_tensor *first = take(tensors, 2 * count + 2), *number = places(tensors, count), *bits[2];
    for (uint32_t k = 0; k < 2; k++) {
        qn_tensor *half = k ? qn_bit_or(number, 1) : qn_bit_and(number, ~(uint64_t)1);
        qn_tensor *low = qn_multiply_add(half, 2, first);
        bits[k] = qn_bit_or(words_at(tensors, low), qn_shift_left(words_at(tensors, qn_add(low, 1)), 32));
    }
    return normal(fraction(bits[0], 64, 53, QN_F64), fraction(bits[1], 64, 53, QN_F64),
                  qn_equal(qn_bit_and(number, 1), 1), 0x1p-54);
}

qn_tensor *qn_randn(qn_tensors *tensors, qn_element type, qn_shape shape) {
    qn_tensor *wrong = refuse(tensors, "qn_randn", type, &shape, true);
    if (wrong) return wrong;
    const uint64_t count = count_of(&shape);
    qn_tensor *numbers = type == QN_F64 ? normal64(tensors, count) : normal32(tensors, count);
    return qn_reshape(qn_cast(numbers, type), shape);
}

qn_tensor *qn_randint(qn_tensors *tensors, qn_element type, qn_shape shape, int64_t low, int64_t high) {
    qn_tensor *wrong = refuse(tensors, "qn_randint", type, &shape, false);
    if (wrong) return wrong;
    const qn_operand ends[] = {{QN_OPERAND_SIGNED, {.i = low}}, {QN_OPERAND_SIGNED, {.i = high - 1}}};
    if (low >= high || !qn__holds(type, &ends[0]) || !qn__holds(type, &ends[1]))
        return qn__failed(tensors, "qn_randint", QN_ERROR_ARGUMENT,
                          "there are no numbers of %s from %lld up to, not including, %lld",
                          qn_element_name(type), (long long)low, (long long)high);
    const uint64_t count = count_of(&shape), span = (uint64_t)high - (uint64_t)low;
    const bool wide = qn_element_size(type) == 8;
    qn_tensor *bits = wide ? bits64(tensors, count) : bits32(tensors, count);
    qn_tensor *number = apply(QN__OP_MULTIPLY_HIGH, bits, number_operand(span));
    if (span >> 32 && !wide) number = bits; /* all that 32 bits have */
    const uint64_t base = (uint64_t)low & (wide ? UINT64_MAX : UINT32_MAX);
    return qn_reshape(qn_cast(qn_add(number, base), type), shape);
}

qn_tensor *qn_bernoulli(qn_tensor *p) {
    qn_tensors *tensors;
    qn_tensor *wrong = qn__refuse("qn_bernoulli", &p, 1, &tensors);
    if (wrong) return wrong;
    return qn_cast(qn_less(qn_rand(tensors, QN_F32, qn_tensor_shape(p)), p), (qn_element)p->node->type);
}

qn_tensor *qn_truncated_normal(qn_tensors *tensors, qn_element type, qn_shape shape, double mean,
                               double deviation, double low, double high) {
    qn_tensor *wrong = refuse(tensors, "qn_truncated_normal", type, &shape, true);
    if (wrong) return wrong;
    if (!(low < high) || !(deviation > 0))
        return qn__failed(tensors, "qn_truncated_normal", QN_ERROR_ARGUMENT,
                          "there are no numbers of deviation %g from %g to %g", deviation, low, high);
    const double begin = erf((low - mean) / deviation * M_SQRT1_2),
                 end = erf((high - mean) / deviation * M_SQRT1_2);
    const qn_element computed = type == QN_F64 ? QN_F64 : QN_F32;
    qn_tensor *share = qn_multiply_add(qn_rand(tensors, computed, shape), end - begin, begin);
    qn_tensor *numbers = qn_multiply_add(qn_erf_inverse(share), deviation * M_SQRT2, mean);
    return qn_cast(qn_clip(numbers, low, high), type);
}

/* ---- first values of parameters ---- */

/* What a weight of [out, in, ...] sums up over, and what it gives to. */
static qn_tensor *fans(qn_tensors *tensors, const char *function, qn_element type, const qn_shape *shape,
                       double *in, double *out) {
    qn_tensor *wrong = refuse(tensors, function, type, shape, true);
    if (!wrong && shape->rank < 2)
        wrong = qn__failed(tensors, function, QN_ERROR_ARGUMENT,
                           "a shape of %u dimensions has no inputs and outputs; it takes two or more",
                           (unsigned)shape->rank);
    if (wrong) return wrong;
    double kernel = 1;
    for (uint32_t d = 2; d < shape->rank; d++) kernel *= (double)shape->sizes[d];
    *out = (double)shape->sizes[0] * kernel;
    *in = (double)shape->sizes[1] * kernel;
    return NULL;
}

/* From -bound to bound, or of that deviation; in f32 or f64, rounded once. */
static qn_tensor *spread(qn_tensors *tensors, qn_element type, const qn_shape *shape, bool is_normal,
                         double deviation) {
    const qn_element computed = type == QN_F64 ? QN_F64 : QN_F32;
    if (is_normal) return qn_cast(qn_multiply(qn_randn(tensors, computed, *shape), deviation), type);
    const double bound = sqrt(3) * deviation;
    return qn_cast(qn_multiply_add(qn_rand(tensors, computed, *shape), 2 * bound, -bound), type);
}

static qn_tensor *initial(qn_tensors *tensors, const char *function, qn_element type, const qn_shape *shape,
                          double gain, bool both_fans, bool is_normal) {
    double in, out;
    qn_tensor *wrong = fans(tensors, function, type, shape, &in, &out);
    const double deviation = wrong ? 0 : gain * sqrt(both_fans ? 2 / (in + out) : 1 / in);
    return wrong ? wrong : spread(tensors, type, shape, is_normal, deviation);
}

qn_tensor *qn_xavier_uniform(qn_tensors *tensors, qn_element type, qn_shape shape, double gain) {
    return initial(tensors, "qn_xavier_uniform", type, &shape, gain, true, false);
}
qn_tensor *qn_xavier_normal(qn_tensors *tensors, qn_element type, qn_shape shape, double gain) {
    return initial(tensors, "qn_xavier_normal", type, &shape, gain, true, true);
}
qn_tensor *qn_kaiming_uniform(qn_tensors *tensors, qn_element type, qn_shape shape, double gain) {
    return initial(tensors, "qn_kaiming_uniform", type, &shape, gain, false, false);
}
qn_tensor *qn_kaiming_normal(qn_tensors *tensors, qn_element type, qn_shape shape, double gain) {
    return initial(tensors, "qn_kaiming_normal", type, &shape, gain, false, true);
}

/* ---- the place in the sequence ---- */

qn_status qn_random_get_place(const qn_tensors *tensors, qn_random_place *place) {
    const qn_status status = qn__tensors_check(tensors, "qn_random_get_place");
    if (status) return status;
    if (!place) return qn__tensors_fail(tensors, QN_ERROR_NULL, "qn_random_get_place: place is NULL");
    *place = (qn_random_place){tensors->desc.seed, tensors->random_words};
    return QN_OK;
}

qn_status qn_random_set_place(qn_tensors *tensors, const qn_random_place *place) {
    const qn_status status = qn__tensors_check(tensors, "qn_random_set_place");
    if (status) return status;
    if (!place) return qn__tensors_fail(tensors, QN_ERROR_NULL, "qn_random_set_place: place is NULL");
    tensors->desc.seed = place->seed;
    tensors->random_words = place->taken;
    return QN_OK;
}
