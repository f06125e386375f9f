/* Arrays of blocks as tensors: what the device makes of GGUF's quantised numbers is what a plain decoder makes of them, one block after
   the other as ggml's documentation describes them. */
#include <quern/files.h>

#include "tensor_common.h"

enum { BLOCKS = 37, LONGEST = 256 };

static float half_of(const uint8_t *at) {
    const uint32_t bits = at[0] | (uint32_t)at[1] << 8, exponent = bits >> 10 & 31, fraction = bits & 1023;
    const float size =
        exponent ? ldexpf((float)(1024 + fraction), (int)exponent - 25) : ldexpf((float)fraction, -24);
    return bits >> 15 ? -size : size;
}

/* 16 bytes: their low halves first, then the high ones; `high` has a fifth bit for each. */
static void nibbles(const uint8_t *q, uint32_t high, int numbers[32]) {
    for (int j = 0; j < 16; j++) {
        numbers[j] = (q[j] & 15) + (int)(high >> j & 1) * 16;
        numbers[j + 16] = (q[j] >> 4) + (int)(high >> (j + 16) & 1) * 16;
    }
}

static uint32_t word_of(const uint8_t *at) {
    return at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

static void decode_small(qn_encoding encoding, const uint8_t *b, float *y) {
    int q[32];
    const float d = half_of(b);
    const bool has_least = encoding == QN_ENCODING_Q4_1 || encoding == QN_ENCODING_Q5_1,
               is_five = encoding == QN_ENCODING_Q5_0 || encoding == QN_ENCODING_Q5_1;
    const float least = has_least ? half_of(b + 2) : 0;
    const uint8_t *rest = b + (has_least ? 4 : 2);
    nibbles(rest + (is_five ? 4 : 0), is_five ? word_of(rest) : 0, q);
    const int zero = has_least ? 0 : is_five ? 16 : 8;
    for (int j = 0; j < 32; j++) y[j] = d * (float)(q[j] - zero) + least;
}

static void decode_q8(const uint8_t *b, float d, int count, float *y) {
    for (int j = 0; j < count; j++) y[j] = d * (float)(int8_t)b[j];
}

static void decode_q2_k(const uint8_t *b, float *y) {
    const uint8_t *scales = b, *q = b + 16;
    const float d = half_of(b + 80), least = half_of(b + 82);
    for (int n = 0; n < 2; n++, q += 32)
        for (int shift = 0; shift < 8; shift += 2)
            for (int part = 0; part < 2; part++, scales++)
                for (int l = 0; l < 16; l++)
                    *y++ = d * (float)(*scales & 15) * (float)(q[16 * part + l] >> shift & 3) -
                           least * (float)(*scales >> 4);
}

static void decode_q3_k(const uint8_t *b, float *y) {
    const uint8_t *high = b, *q = b + 32, *packed = b + 96;
    int scales[16];
    for (int s = 0; s < 16; s++) {
        const int low = s < 8 ? packed[s] & 15 : packed[s - 8] >> 4;
        scales[s] = (low | (packed[8 + s % 4] >> 2 * (s / 4) & 3) << 4) - 32;
    }
    const float d = half_of(b + 108);
    const int *scale = scales;
    uint8_t mask = 1;
    for (int n = 0; n < 2; n++, q += 32)
        for (int shift = 0; shift < 8; shift += 2, mask = (uint8_t)(mask << 1))
            for (int part = 0; part < 2; part++, scale++)
                for (int l = 16 * part; l < 16 * part + 16; l++)
                    *y++ = d * (float)*scale * (float)((q[l] >> shift & 3) - (high[l] & mask ? 0 : 4));
}

static void scale_and_least(int s, const uint8_t *q, int *scale, int *least) {
    if (s < 4) {
        *scale = q[s] & 63;
        *least = q[s + 4] & 63;
    } else {
        *scale = (q[s + 4] & 15) | (q[s - 4] >> 6) << 4;
        *least = q[s + 4] >> 4 | (q[s] >> 6) << 4;
    }
}

static void decode_q45_k(bool is_five, const uint8_t *b, float *y) {
    const float d = half_of(b), least = half_of(b + 2);
    const uint8_t *high = b + 16, *q = b + (is_five ? 48 : 16);
    for (int s = 0; s < 8; s++) {
        int scale, low;
        scale_and_least(s, b + 4, &scale, &low);
        for (int l = 0; l < 32; l++) {
            int number = s % 2 ? q[32 * (s / 2) + l] >> 4 : q[32 * (s / 2) + l] & 15;
            if (is_five && high[l] >> s & 1) number += 16;
            *y++ = d * (float)scale * (float)number - least * (float)low;
        }
    }
}

static void decode_q6_k(const uint8_t *b, float *y) {
    const uint8_t *low = b, *high = b + 128;
    const int8_t *scales = (const int8_t *)b + 192;
    const float d = half_of(b + 208);
    for (int n = 0; n < 2; n++, y += 128, low += 64, high += 32, scales += 8)
        for (int l = 0; l < 32; l++) {
            const int q[4] = {
                (low[l] & 15) | (high[l] & 3) << 4, (low[l + 32] & 15) | (high[l] >> 2 & 3) << 4,
                low[l] >> 4 | (high[l] >> 4 & 3) << 4, low[l + 32] >> 4 | (high[l] >> 6 & 3) << 4};
            for (int k = 0; k < 4; k++)
                y[l + 32 * k] = d * (float)scales[l / 16 + 2 * k] * (float)(q[k] - 32);
        }
}

static const int8_t curve[16] = {-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113};

static void decode_curve(float d, const uint8_t *q, float *y) {
    int numbers[32];
    nibbles(q, 0, numbers);
    for (int j = 0; j < 32; j++) y[j] = d * (float)curve[numbers[j]];
}

static void decode_iq4_xs(const uint8_t *b, float *y) {
    const unsigned high = b[2] | (unsigned)b[3] << 8;
    for (int s = 0; s < 8; s++) {
        const int scale = (b[4 + s / 2] >> 4 * (s % 2) & 15) | (int)(high >> 2 * s & 3) << 4;
        decode_curve(half_of(b) * (float)(scale - 32), b + 8 + 16 * s, y + 32 * s);
    }
}

static void decode_mxfp4(const uint8_t *b, float *y) {
    static const float values[16] = {0, 0.5f, 1, 1.5f, 2, 3, 4, 6, 0, -0.5f, -1, -1.5f, -2, -3, -4, -6};
    int numbers[32];
    nibbles(b + 1, 0, numbers);
    for (int j = 0; j < 32; j++) y[j] = ldexpf(values[numbers[j]], b[0] - 127);
}

static void decode(qn_encoding encoding, const uint8_t *b, float *y) {
    float d;
    memcpy(&d, b, sizeof d);
    switch (encoding) {
    case QN_ENCODING_Q8_0: decode_q8(b + 2, half_of(b), 32, y); break;
    case QN_ENCODING_Q8_K: decode_q8(b + 4, d, 256, y); break;
    case QN_ENCODING_Q2_K: decode_q2_k(b, y); break;
    case QN_ENCODING_Q3_K: decode_q3_k(b, y); break;
    case QN_ENCODING_Q4_K: decode_q45_k(false, b, y); break;
    case QN_ENCODING_Q5_K: decode_q45_k(true, b, y); break;
    case QN_ENCODING_Q6_K: decode_q6_k(b, y); break;
    case QN_ENCODING_IQ4_NL: decode_curve(half_of(b), b + 2, y); break;
    case QN_ENCODING_IQ4_XS: decode_iq4_xs(b, y); break;
    case QN_ENCODING_MXFP4: decode_mxfp4(b, y); break;
    default: decode_small(encoding, b, y); break;
    }
}

/* Bytes that `bytes` of an encoding's blocks may have: all are random but for the scales, which are numbers of moderate size. */
static void fill(qn_encoding encoding, uint8_t *b, uint32_t bytes, uint32_t *seed) {
    static const int halves[QN_ENCODING_COUNT][2] = {
        [QN_ENCODING_Q4_1] = {0, 2},     [QN_ENCODING_Q5_1] = {0, 2}, [QN_ENCODING_Q2_K] = {80, 82},
        [QN_ENCODING_Q3_K] = {108, 108}, [QN_ENCODING_Q4_K] = {0, 2}, [QN_ENCODING_Q5_K] = {0, 2},
        [QN_ENCODING_Q6_K] = {208, 208},
    };
    for (uint32_t i = 0; i < bytes; i++) b[i] = (uint8_t)((*seed = *seed * 1664525u + 1013904223u) >> 24);
    if (encoding == QN_ENCODING_MXFP4) {
        b[0] = (uint8_t)(120 + b[0] % 16);
    } else if (encoding == QN_ENCODING_Q8_K) {
        memcpy(b, &(float){(float)b[0] / -64 + 3}, sizeof(float));
    } else {
        for (int i = 0; i < 2; i++)
            b[halves[encoding][i] + 1] = (uint8_t)((b[halves[encoding][i] + 1] & 0x83) | 0x30);
    }
}

static const qn_encoding encodings[] = {
    QN_ENCODING_Q4_0, QN_ENCODING_Q4_1,   QN_ENCODING_Q5_0,   QN_ENCODING_Q5_1, QN_ENCODING_Q8_0,
    QN_ENCODING_Q2_K, QN_ENCODING_Q3_K,   QN_ENCODING_Q4_K,   QN_ENCODING_Q5_K, QN_ENCODING_Q6_K,
    QN_ENCODING_Q8_K, QN_ENCODING_IQ4_NL, QN_ENCODING_IQ4_XS, QN_ENCODING_MXFP4};

static void blocks_are_decoded(void **state) {
    (void)state;
    tensor_fixture f = make_tensors(NULL);
    uint32_t seed = 1;
    for (size_t e = 0; e < sizeof encodings / sizeof *encodings; e++) {
        uint32_t elements, bytes;
        qn_encoding_block(encodings[e], &elements, &bytes);
        uint8_t *data = malloc((size_t)BLOCKS * bytes);
        float wanted[BLOCKS * LONGEST], got[BLOCKS * LONGEST];
        for (uint32_t i = 0; i < BLOCKS; i++) {
            fill(encodings[e], data + i * bytes, bytes, &seed);
            decode(encodings[e], data + i * bytes, wanted + i * elements);
        }
        const qn_host_array array = {.name = "blocks",
                                     .encoding = encodings[e],
                                     .rank = 2,
                                     .sizes = {BLOCKS, elements},
                                     .data = data,
                                     .bytes = (uint64_t)BLOCKS * bytes};
        qn_tensor *x = qn_from_host_array(f.t, &array, QN_OWN_TYPE);
        read_floats(&f, x, got, (uint64_t)BLOCKS * elements);
        for (uint32_t i = 0; i < BLOCKS * elements; i++)
            if (!(fabsf(got[i] - wanted[i]) <= 1e-5f * (fabsf(wanted[i]) + 0.1f)))
                fail_msg("%s: number %u is %g, not %g", qn_encoding_name(encodings[e]), (unsigned)i,
                         (double)got[i], (double)wanted[i]);
        /* Other types, rounded once; integers by way of f32. */
        static const qn_element others[] = {QN_BF16, QN_F16, QN_I32};
        for (int o = 0; o < 3; o++) {
            x = qn_cast(qn_from_host_array(f.t, &array, others[o]), QN_F32);
            read_floats(&f, x, got, (uint64_t)BLOCKS * elements);
            const float relative = o == 0 ? 1 / 255.0f : o == 1 ? 1 / 2047.0f : 0;
            for (uint32_t i = 0; i < BLOCKS * elements; i++)
                assert_true(fabsf(got[i] - wanted[i]) <=
                            fabsf(wanted[i]) * relative + (o == 2 ? 1.001f : 1e-5f));
        }
        free(data);
    }
    end_tensors(&f);
}

static void other_blocks_are_refused(void **state) {
    (void)state;
    tensor_fixture f = make_tensors(NULL);
    static const uint8_t data[512] = {0};
    qn_host_array array = {
        .name = "x", .encoding = QN_ENCODING_IQ1_S, .rank = 1, .sizes = {256}, .data = data, .bytes = 50};
    assert_fails(f.context, qn_tensor_status(qn_from_host_array(f.t, &array, QN_OWN_TYPE)),
                 QN_ERROR_UNSUPPORTED, "qn_from_host_array: 'x' is of iq1_s, which tensors cannot have");
    array.encoding = QN_ENCODING_C64;
    assert_fails(f.context, qn_tensor_status(qn_from_host_array(f.t, &array, QN_F32)), QN_ERROR_UNSUPPORTED,
                 "'x' is of c64");
    array.encoding = QN_ENCODING_Q4_0;
    assert_fails(f.context, qn_tensor_status(qn_from_host_array(f.t, &array, QN_F32)), QN_ERROR_ARGUMENT,
                 "'x' has 50 bytes, which are not those of its sizes");
    array.sizes[0] = 64;
    array.bytes = 36;
    array.strides[0] = 2;
    assert_fails(f.context, qn_tensor_status(qn_from_host_array(f.t, &array, QN_F32)), QN_ERROR_UNSUPPORTED,
                 "blocks and strides");
    array.strides[0] = 0;
    array.data = NULL;
    assert_fails(f.context, qn_tensor_status(qn_from_host_array(f.t, &array, QN_F32)), QN_ERROR_NULL,
                 "'x' has no data");
    array.rank = 9;
    assert_fails(f.context, qn_tensor_status(qn_from_host_array(f.t, &array, QN_F32)), QN_ERROR_ARGUMENT,
                 "'x' has 9 dimensions");
    assert_fails(f.context, qn_tensor_status(qn_from_host_array(f.t, NULL, QN_F32)), QN_ERROR_NULL,
                 "array is NULL");
    assert_int_equal(qn_tensor_status(qn_from_host_array(NULL, &array, QN_F32)), QN_ERROR_NULL);
    array = (qn_host_array){
        .name = "x", .encoding = QN_ENCODING_U8, .rank = 1, .sizes = {4}, .data = data, .bytes = 4};
    assert_fails(f.context, qn_tensor_status(qn_from_host_array(f.t, &array, (qn_element)99)),
                 QN_ERROR_ARGUMENT, "99 is no qn_element");
    end_tensors(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(blocks_are_decoded),
                                       cmocka_unit_test(other_blocks_are_refused)};
    return run_device_tests(tests);
}
