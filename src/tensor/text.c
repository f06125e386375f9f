/* Texts of kernels: the expressions of the table of ops with names for their operands, conversions, and the functions that some of
   them call. */
#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "tensor/plan.h"

void qn__text_free(qn__text *text) {
    if (text->tensors) qn__tensors_release(text->tensors, text->text);
    *text = (qn__text){.tensors = text->tensors};
}

static bool make_room(qn__text *t, size_t more) {
    if (t->length + more < t->room) return true;
    size_t room = t->room ? t->room : 512;
    while (room <= t->length + more) room *= 2;
    char *grown = qn__tensors_allocate(t->tensors, room);
    if (!grown) {
        t->failed = true;
        return false;
    }
    if (t->text) memcpy(grown, t->text, t->length + 1);
    qn__tensors_release(t->tensors, t->text);
    t->text = grown;
    t->room = room;
    return true;
}

void qn__text_add(qn__text *t, const char *format, ...) {
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    const int length = vsnprintf(NULL, 0, format, args);
    if (length >= 0 && make_room(t, (size_t)length + 1))
        t->length += (size_t)vsnprintf(t->text + t->length, t->room - t->length, format, again);
    va_end(again);
    va_end(args);
}

/* Functions that expressions call, with T for the type. */
static const struct {
    const char *name, *text;
} functions[] = {
    {"python_mod_", "static T python_mod_T(T a, T b) {\n"
                    "    const T m = fmod(a, b);\n"
                    "    return m != 0 && (m < 0) != (b < 0) ? m + b : m;\n"
                    "}\n"},
    {"whole_mod_", "static T whole_mod_T(T a, T b) {\n"
                   "    const T m = a % b;\n"
                   "    return m != 0 && (m < 0) != (b < 0) ? m + b : m;\n"
                   "}\n"},
    {"whole_power_", "static T whole_power_T(T a, T b) {\n"
                     "    if (b < 0) return a == 1 ? 1 : a == (T)-1 ? (b & 1 ? -1 : 1) : 0;\n"
                     "    T r = 1;\n"
                     "    for (; b > 0; b = b >> 1) {\n"
                     "        if (b & 1) r = r * a;\n"
                     "        a = a * a;\n"
                     "    }\n"
                     "    return r;\n"
                     "}\n"},
    /* Philox 4x32-10, as kernels/random.cl has it. */
    {"philox_", "static T philox_T(T i, T seed) {\n"
                "    const T block = i / 4;\n"
                "    uint4 c = (uint4)((uint)block, (uint)(block >> 32), 0, 0);\n"
                "    uint2 key = (uint2)((uint)seed, (uint)(seed >> 32));\n"
                "    #pragma unroll\n"
                "    for (uint round = 0; round < 10; round++) {\n"
                "        const uint high0 = mul_hi(0xd2511f53u, c.x), low0 = 0xd2511f53u * c.x;\n"
                "        const uint high1 = mul_hi(0xcd9e8d57u, c.z), low1 = 0xcd9e8d57u * c.z;\n"
                "        c = (uint4)(high1 ^ c.y ^ key.x, low1, high0 ^ c.w ^ key.y, low0);\n"
                "        key += (uint2)(0x9e3779b9u, 0xbb67ae85u);\n"
                "    }\n"
                "    return (i & 2) ? (i & 1) ? c.w : c.z : (i & 1) ? c.y : c.x;\n"
                "}\n"},
    /* M. Giles, Approximating the erfinv function, 2010, in single precision; steps of Newton's method behind it. */
    {"erf_inverse_", "static T erf_inverse_T(T x) {\n"
                     "    const float v = (float)x, w = -log1p(-v * v), s = w < 5 ? w - 2.5f : sqrt(w) - 3;\n"
                     "    float p = w < 5 ? 2.81022636e-08f : -0.000200214257f;\n"
                     "    p = (w < 5 ? 3.43273939e-07f : 0.000100950558f) + p * s;\n"
                     "    p = (w < 5 ? -3.5233877e-06f : 0.00134934322f) + p * s;\n"
                     "    p = (w < 5 ? -4.39150654e-06f : -0.00367342844f) + p * s;\n"
                     "    p = (w < 5 ? 0.00021858087f : 0.00573950773f) + p * s;\n"
                     "    p = (w < 5 ? -0.00125372503f : -0.0076224613f) + p * s;\n"
                     "    p = (w < 5 ? -0.00417768164f : 0.00943887047f) + p * s;\n"
                     "    p = (w < 5 ? 0.246640727f : 1.00167406f) + p * s;\n"
                     "    p = (w < 5 ? 1.50140941f : 2.83297682f) + p * s;\n"
                     "    if (!(fabs(x) < 1)) return fabs(x) == 1 ? x * INFINITY : NAN;\n"
                     "    T y = p * v;\n"
                     "    #pragma unroll\n"
                     "    for (uint step = 0; step < sizeof(T) / 4; step++) {\n"
                     "        const T off = x < 0 ? erfc(-y) - (1 + x) : (1 - x) - erfc(y);\n"
                     "        y = y - off * (T)0.88622692545275801365 * exp(y * y);\n"
                     "    }\n"
                     "    return y;\n"
                     "}\n"},
    /* e^x = 2^t e^(x - t log(2)), where t is x log2(e) as it is rounded. The second factor is near to 1: 1 + x - t log(2), where x times a small number
       is what log(2) has lost by its rounding. Of infinite numbers, and of some near them, it is infinite or a NaN, and 2 does instead. */
    {"quick_exp_", "static T quick_exp_T(T x) {\n"
                   "    const T t = x * 0x1.715476p+0f, one = fma(x, 0x1.79a8dcp-29f, 1.0f);\n"
                   "    const T rest = one + fma(t, -0x1.62e43p-1f, x);\n"
                   "    return native_exp2(t) * fabs(fmin(rest, 2.0f));\n"
                   "}\n"},
    {"quick_sigmoid_", "static T quick_sigmoid_T(T x) {\n"
                       "    const T t = x * -0x1.715476p+0f, one = fma(x, -0x1.79a8dcp-29f, 1.0f);\n"
                       "    const T rest = one - fma(t, 0x1.62e43p-1f, x);\n"
                       "    return native_recip(fma(native_exp2(t), fmin(rest, 2.0f), 1.0f));\n"
                       "}\n"},
    /* A polynomial below 0.55, where 1 - 2 / (1 + e^2x) would cancel. */
    {"quick_tanh_", "static T quick_tanh_T(T x) {\n"
                    "    const T z = x * x, e = native_exp2(x * 0x1.715476p+1f);\n"
                    "    T p = fma(0.01634879f, z, -0.05262778f);\n"
                    "    p = fma(fma(p, z, 0.1332009f), z, -0.33332923f);\n"
                    "    const T large = fma(-2.0f, native_recip(1 + e), 1.0f);\n"
                    "    return fabs(x) > 0.55f ? large : fma(p * z, x, x);\n"
                    "}\n"},
    /* For numbers within 1, by polynomials of x^2 that are fitted up to 1.01: their error is a tenth of a rounding's. */
    {"near_tanh_", "static T near_tanh_T(T x) {\n"
                   "    const T z = x * x;\n"
                   "    T p = fma(-0x1.6eaed8p-12f, z, 0x1.29e922p-9f);\n"
                   "    p = fma(fma(p, z, -0x1.03326p-7f), z, 0x1.5fac04p-6f);\n"
                   "    p = fma(fma(p, z, -0x1.b9539cp-5f), z, 0x1.110b5ep-3f);\n"
                   "    return fma(fma(p, z, -0x1.555538p-2f) * z, x, x);\n"
                   "}\n"},
    {"near_sigmoid_", "static T near_sigmoid_T(T x) {\n"
                      "    const T z = x * x;\n"
                      "    T p = fma(0x1.0efc9p-16f, z, -0x1.af54eap-13f);\n"
                      "    p = fma(fma(p, z, 0x1.10c384p-9f), z, -0x1.55538p-6f);\n"
                      "    return fma(fma(p, z, 0x1.fffffcp-3f), x, 0.5f);\n"
                      "}\n"},
    {"near_gelu_", "static T near_gelu_T(T x) {\n"
                   "    const T z = x * x;\n"
                   "    T p = fma(-0x1.f26cf6p-18f, z, 0x1.d95ba6p-14f);\n"
                   "    p = fma(fma(p, z, -0x1.36d288p-10f), z, 0x1.46cbecp-7f);\n"
                   "    p = fma(fma(p, z, -0x1.105824p-4f), z, 0x1.988454p-2f);\n"
                   "    return fma(p, x, 0.5f) * x;\n"
                   "}\n"},
    /* max(x, 0) - |x| Phi(-|x|). Phi(-t) is 2 to the power of a polynomial that is fitted up to 5.6, and falls further beyond. */
    {"quick_gelu_", "static T quick_gelu_T(T x) {\n"
                    "    const T t = fmin(fabs(x), 20.0f);\n"
                    "    T p = fma(-0x1.929c22p-26f, t, 0x1.7f5fd4p-21f);\n"
                    "    p = fma(fma(p, t, -0x1.39bad2p-17f), t, 0x1.17aa14p-14f);\n"
                    "    p = fma(fma(p, t, -0x1.00ca42p-12f), t, -0x1.36757ap-14f);\n"
                    "    p = fma(fma(p, t, 0x1.cd50fcp-8f), t, -0x1.ae1dc8p-5f);\n"
                    "    p = fma(fma(p, t, -0x1.d6387cp-2f), t, -0x1.26aeeep+0f);\n"
                    "    p = fma(p, t, -0x1.fffffep-1f);\n"
                    "    return fma(-t, native_exp2(p), x <= 0 ? 0 : x);\n"
                    "}\n"},
};

/* What is computed in f32 on CUDA devices by their powers of 2 and reciprocals, which are right to two units in the last place: the
   functions of the maths library would take longer than memory does. */
static const struct {
    qn__op op;
    const char *text;
} quick[] = {
    {QN__OP_EXP, "quick_exp_T(A)"},
    {QN__OP_RELU, "A <= 0 ? 0 : A"},                           /* an instruction of theirs */
    {QN__OP_MAXIMUM, "A != A || B != B ? A + B : fmax(A, B)"}, /* another one, as the next three */
    {QN__OP_MINIMUM, "A != A || B != B ? A + B : fmin(A, B)"},
    {QN__OP_MAX, "A != A || X != X ? A + X : fmax(A, X)"},
    {QN__OP_MIN, "A != A || X != X ? A + X : fmin(A, X)"},
    {QN__OP_TANH, "quick_tanh_T(A)"},
    {QN__OP_SIGMOID, "quick_sigmoid_T(A)"},
    {QN__OP_SILU, "A * quick_sigmoid_T(A)"},
    {QN__OP_GELU, "quick_gelu_T(A)"},
    {QN__OP_GELU_TANH, "A * quick_sigmoid_T(K(1.59576912160573071176) * (A + K(0.044715) * A * A * A))"},
};

/* What is computed in f32 of a number that is known to lie between two: near 1 by polynomials, which take no power of 2 and no reciprocal. */
static const struct {
    qn__op op;
    qn__bounds bounds;
    const char *text;
} bounded[] = {
    {QN__OP_TANH, {-1, 1}, "near_tanh_T(A)"},
    {QN__OP_SIGMOID, {-1, 1}, "near_sigmoid_T(A)"},
    {QN__OP_SILU, {-1, 1}, "A * near_sigmoid_T(A)"},
    {QN__OP_GELU, {-1, 1}, "near_gelu_T(A)"},
    {QN__OP_RELU, {0, INFINITY}, "A"},
};

static size_t word_length(const char *text) {
    size_t n = 0;
    while (isalnum((unsigned char)text[n]) || text[n] == '_') n++;
    return n;
}

/* The text with T as a word, or behind the last '_' of one, replaced. */
static void add_typed(qn__text *to, const char *text, const char *type) {
    while (*text) {
        const size_t n = word_length(text);
        if (n && text[n - 1] == 'T' && (n == 1 || text[n - 2] == '_'))
            qn__text_add(to, "%.*s%s", (int)n - 1, text, type);
        else
            qn__text_add(to, "%.*s", (int)(n ? n : 1), text);
        text += n ? n : 1;
    }
}

static void add_function(qn__text *helpers, const char *word, size_t length, const char *type) {
    char head[64];
    snprintf(head, sizeof head, "static %s %.*s%s(", type, (int)length, word, type);
    if (helpers->text && strstr(helpers->text, head)) return;
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
        if (strlen(functions[i].name) == length && memcmp(functions[i].name, word, length) == 0)
            add_typed(helpers, functions[i].text, type);
}

/* The constant in "K(...)" behind the K, and how far it goes. */
static size_t add_constant(qn__text *to, const char *text, bool is_double) {
    const size_t n = strcspn(text, ")");
    qn__text_add(to, "%.*s%s", (int)n - 1, text + 1, is_double ? "" : "f");
    return n + 1;
}

static const char *expression_of(const qn_tensors *tensors, qn__op op, qn_element type, qn__bounds of) {
    const qn__op_info *info = &qn__ops[op];
    const bool is_float = qn__value_type(type) == QN_F32,
               is_quick = is_float && tensors->info.kind == QN_DEVICE_CUDA;
    for (size_t i = 0; is_float && i < sizeof bounded / sizeof *bounded; i++)
        if (bounded[i].op == op && of.low >= bounded[i].bounds.low && of.high <= bounded[i].bounds.high)
            return bounded[i].text;
    for (size_t i = 0; is_quick && i < sizeof quick / sizeof *quick; i++)
        if (quick[i].op == op) return quick[i].text;
    if (op == QN__OP_BIT_NOT && type == QN_BOOL) return "!A";
    if (qn__is_float(type)) return info->real;
    return info->integer && strcmp(info->integer, "=") == 0 ? info->real : info->integer;
}

void qn__text_op(qn__text *to, qn__text *helpers, qn__op op, qn_element type, const char *const *operands,
                 qn__bounds bounds, const char *result) {
    const char *at = expression_of(to->tensors, op, type, bounds), *value = qn__element_of(type)->value;
    const bool wrap = type == QN_BOOL && qn__ops[op].rule != QN__TRUTH && op != QN__OP_WHERE;
    if (wrap) qn__text_add(to, "(");
    while (*at) {
        const size_t n = word_length(at);
        if (n == 1 && *at >= 'A' && *at <= 'C') {
            qn__text_add(to, "%s", operands[*at - 'A']);
        } else if (n == 1 && *at == 'X') {
            qn__text_add(to, "%s", result);
        } else if (n == 1 && *at == 'T') {
            qn__text_add(to, "%s", value);
        } else if (n == 1 && *at == 'K') {
            at += add_constant(to, at + 1, type == QN_F64);
        } else if (n > 2 && at[n - 1] == 'T' && at[n - 2] == '_') {
            qn__text_add(to, "%.*s%s", (int)n - 1, at, value);
            add_function(helpers, at, n - 1, value);
        } else {
            qn__text_add(to, "%.*s", (int)(n ? n : 1), at);
        }
        at += n ? n : 1;
    }
    if (wrap) qn__text_add(to, ") != 0");
}

void qn__text_cast(qn__text *to, qn_element from, qn_element type, const char *a) {
    const qn__element_info *f = qn__element_of(from), *t = qn__element_of(type);
    if (type == QN_BOOL)
        qn__text_add(to, "%s != 0", a);
    else if (from == QN_BOOL && (type == QN_F32 || type == QN_F64)) /* which processors have vectors for */
        qn__text_add(to, type == QN_F64 ? "%s ? 1.0 : 0.0" : "%s ? 1.0f : 0.0f", a);
    else if (t->class == QN__FLOAT && type != QN_F32 && type != QN_F64)
        qn__text_add(to, "(float)(%s)%s", t->storage, a); /* rounded to it */
    else if (f->class == QN__FLOAT && t->class != QN__FLOAT)
        qn__text_add(to, "convert_%s_sat(%s)", t->value, a);
    else
        qn__text_add(to, "(%s)%s", t->value, a);
}

const char *qn__text_start(qn__op op, qn_element type) {
    switch (op) {
    case QN__OP_MAX: return qn__element_of(type)->least;
    case QN__OP_MIN: return qn__element_of(type)->most;
    case QN__OP_PRODUCT:
    case QN__OP_ALL: return "1";
    default: return "0";
    }
}
