/* How elements are encoded in files: the table that all formats read. */
#include "tensor/files/encoding.h"

#include <string.h>

#define NO_GGUF QN__NO_ID
/* Name, element, block, alignment, safetensors' name and order, NumPy's name, GGUF's number. */
static const qn__encoding_info encodings[QN_ENCODING_COUNT] = {
    [QN_ENCODING_F32] = {"f32", QN_F32, 1, 4, 4, "F32", 17, "f4", 0},
    [QN_ENCODING_F64] = {"f64", QN_F64, 1, 8, 8, "F64", 19, "f8", 28},
    [QN_ENCODING_F16] = {"f16", QN_F16, 1, 2, 2, "F16", 13, "f2", 1},
    [QN_ENCODING_BF16] = {"bf16", QN_BF16, 1, 2, 2, "BF16", 14, "V2", 30},
    [QN_ENCODING_E4M3] = {"e4m3", QN_E4M3, 1, 1, 1, "F8_E4M3", 7, NULL, NO_GGUF},
    [QN_ENCODING_E5M2] = {"e5m2", QN_E5M2, 1, 1, 1, "F8_E5M2", 6, NULL, NO_GGUF},
    [QN_ENCODING_I8] = {"i8", QN_I8, 1, 1, 1, "I8", 5, "i1", 24},
    [QN_ENCODING_I16] = {"i16", QN_I16, 1, 2, 2, "I16", 11, "i2", 25},
    [QN_ENCODING_I32] = {"i32", QN_I32, 1, 4, 4, "I32", 15, "i4", 26},
    [QN_ENCODING_I64] = {"i64", QN_I64, 1, 8, 8, "I64", 20, "i8", 27},
    [QN_ENCODING_U8] = {"u8", QN_U8, 1, 1, 1, "U8", 4, "u1", NO_GGUF},
    [QN_ENCODING_U16] = {"u16", QN_U16, 1, 2, 2, "U16", 12, "u2", NO_GGUF},
    [QN_ENCODING_U32] = {"u32", QN_U32, 1, 4, 4, "U32", 16, "u4", NO_GGUF},
    [QN_ENCODING_U64] = {"u64", QN_U64, 1, 8, 8, "U64", 21, "u8", NO_GGUF},
    [QN_ENCODING_BOOL] = {"bool", QN_BOOL, 1, 1, 1, "BOOL", 0, "b1", NO_GGUF},
    [QN_ENCODING_C64] = {"c64", -1, 1, 8, 4, "C64", 18, "c8", NO_GGUF},
    [QN_ENCODING_C128] = {"c128", -1, 1, 16, 8, NULL, 0, "c16", NO_GGUF},
    [QN_ENCODING_E8M0] = {"e8m0", -1, 1, 1, 1, "F8_E8M0", 8, NULL, NO_GGUF},
    [QN_ENCODING_E4M3FNUZ] = {"e4m3fnuz", -1, 1, 1, 1, "F8_E4M3FNUZ", 9, NULL, NO_GGUF},
    [QN_ENCODING_E5M2FNUZ] = {"e5m2fnuz", -1, 1, 1, 1, "F8_E5M2FNUZ", 10, NULL, NO_GGUF},
    [QN_ENCODING_E2M1] = {"e2m1", -1, 2, 1, 1, "F4", 1, NULL, NO_GGUF},
    [QN_ENCODING_E2M3] = {"e2m3", -1, 4, 3, 1, "F6_E2M3", 2, NULL, NO_GGUF},
    [QN_ENCODING_E3M2] = {"e3m2", -1, 4, 3, 1, "F6_E3M2", 3, NULL, NO_GGUF},
    [QN_ENCODING_Q4_0] = {"q4_0", -1, 32, 18, 2, NULL, 0, NULL, 2},
    [QN_ENCODING_Q4_1] = {"q4_1", -1, 32, 20, 2, NULL, 0, NULL, 3},
    [QN_ENCODING_Q5_0] = {"q5_0", -1, 32, 22, 2, NULL, 0, NULL, 6},
    [QN_ENCODING_Q5_1] = {"q5_1", -1, 32, 24, 2, NULL, 0, NULL, 7},
    [QN_ENCODING_Q8_0] = {"q8_0", -1, 32, 34, 2, NULL, 0, NULL, 8},
    [QN_ENCODING_Q8_1] = {"q8_1", -1, 32, 40, 2, NULL, 0, NULL, 9},
    [QN_ENCODING_Q2_K] = {"q2_k", -1, 256, 84, 2, NULL, 0, NULL, 10},
    [QN_ENCODING_Q3_K] = {"q3_k", -1, 256, 110, 2, NULL, 0, NULL, 11},
    [QN_ENCODING_Q4_K] = {"q4_k", -1, 256, 144, 2, NULL, 0, NULL, 12},
    [QN_ENCODING_Q5_K] = {"q5_k", -1, 256, 176, 2, NULL, 0, NULL, 13},
    [QN_ENCODING_Q6_K] = {"q6_k", -1, 256, 210, 2, NULL, 0, NULL, 14},
    [QN_ENCODING_Q8_K] = {"q8_k", -1, 256, 292, 4, NULL, 0, NULL, 15},
    [QN_ENCODING_IQ2_XXS] = {"iq2_xxs", -1, 256, 66, 2, NULL, 0, NULL, 16},
    [QN_ENCODING_IQ2_XS] = {"iq2_xs", -1, 256, 74, 2, NULL, 0, NULL, 17},
    [QN_ENCODING_IQ2_S] = {"iq2_s", -1, 256, 82, 2, NULL, 0, NULL, 22},
    [QN_ENCODING_IQ3_XXS] = {"iq3_xxs", -1, 256, 98, 2, NULL, 0, NULL, 18},
    [QN_ENCODING_IQ3_S] = {"iq3_s", -1, 256, 110, 2, NULL, 0, NULL, 21},
    [QN_ENCODING_IQ1_S] = {"iq1_s", -1, 256, 50, 2, NULL, 0, NULL, 19},
    [QN_ENCODING_IQ1_M] = {"iq1_m", -1, 256, 56, 2, NULL, 0, NULL, 29},
    [QN_ENCODING_IQ4_NL] = {"iq4_nl", -1, 32, 18, 2, NULL, 0, NULL, 20},
    [QN_ENCODING_IQ4_XS] = {"iq4_xs", -1, 256, 136, 2, NULL, 0, NULL, 23},
    [QN_ENCODING_TQ1_0] = {"tq1_0", -1, 256, 54, 2, NULL, 0, NULL, 34},
    [QN_ENCODING_TQ2_0] = {"tq2_0", -1, 256, 66, 2, NULL, 0, NULL, 35},
    [QN_ENCODING_MXFP4] = {"mxfp4", -1, 32, 17, 1, NULL, 0, NULL, 39},
};

const qn__encoding_info *qn__encoding(qn_encoding encoding) { return &encodings[encoding]; }

static bool is_text(const char *zeroed, const char *text, uint64_t size) {
    return zeroed && strlen(zeroed) == size && memcmp(zeroed, text, size) == 0;
}

bool qn__encoding_by_safetensors(const char *name, uint64_t size, qn_encoding *encoding) {
    for (int i = 0; i < QN_ENCODING_COUNT; i++) {
        *encoding = (qn_encoding)i;
        if (is_text(encodings[i].safetensors, name, size)) return true;
    }
    return false;
}

bool qn__encoding_by_npy(const char *name, uint64_t size, qn_encoding *encoding) {
    for (int i = 0; i < QN_ENCODING_COUNT; i++) {
        *encoding = (qn_encoding)i;
        if (is_text(encodings[i].npy, name, size)) return true;
    }
    return false;
}

bool qn__encoding_by_gguf(uint32_t id, qn_encoding *encoding) {
    for (int i = 0; i < QN_ENCODING_COUNT; i++) {
        *encoding = (qn_encoding)i;
        if (encodings[i].gguf >= 0 && (uint32_t)encodings[i].gguf == id) return true;
    }
    return false;
}

const char *qn_encoding_name(qn_encoding encoding) {
    return (unsigned)encoding < QN_ENCODING_COUNT ? encodings[encoding].name : NULL;
}

bool qn_encoding_element(qn_encoding encoding, qn_element *element) {
    if ((unsigned)encoding >= QN_ENCODING_COUNT || encodings[encoding].element < 0) return false;
    if (element) *element = (qn_element)encodings[encoding].element;
    return true;
}

qn_encoding qn_encoding_of(qn_element element) {
    for (int i = 0; i < QN_ENCODING_COUNT; i++)
        if (encodings[i].element == (int)element) return (qn_encoding)i;
    return QN_ENCODING_COUNT;
}

void qn_encoding_block(qn_encoding encoding, uint32_t *elements, uint32_t *bytes) {
    const bool is_one = (unsigned)encoding < QN_ENCODING_COUNT;
    if (elements) *elements = is_one ? encodings[encoding].elements : 0;
    if (bytes) *bytes = is_one ? encodings[encoding].bytes : 0;
}
