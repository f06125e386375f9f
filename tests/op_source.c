/* The tables of operations and idioms, and the generator of random expressions. A row is an expression of the operands
   a, b and c; where it names a type it has a letter behind %, those of src/front/builtins.def:
       T  the row's type     U, D  unsigned and signed integer as wide    R  what a comparison of T gives
       W  unsigned integer twice as wide    H  half as wide    B  uchar   I, F  int and float in as many lanes
   %x is the suffix of the lanes of a small float;
   %w is the width in bits, %k a number that goes from the row's first to its last; %s is the suffix of the lanes. */
#include "op_source.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* ---- types ---- */

static const struct {
    const char *name;
    unsigned size;
} kinds[OP_KINDS] = {{"char", 1}, {"uchar", 1}, {"short", 2}, {"ushort", 2}, {"int", 4},   {"uint", 4},
                     {"long", 8}, {"ulong", 8}, {"half", 2},  {"float", 4},  {"double", 8}};

const char *const op_family_names[] = {"arithmetic", "conversions", "memory", "idioms", "random"};

unsigned op_size(op_kind kind) { return kinds[kind].size; }
const char *op_name(op_kind kind) { return kinds[kind].name; }

static bool is_signed(op_kind kind) { return op_is_float(kind) || kind % 2 == 0; }

static op_kind integer(unsigned size, bool with_sign) {
    unsigned kind = size == 1 ? OP_UCHAR : size == 2 ? OP_USHORT : size == 4 ? OP_UINT : OP_ULONG;
    return (op_kind)(kind - with_sign);
}

/* The type that a letter stands for, where the row's is `kind`. */
static op_kind kind_of(char letter, op_kind kind, unsigned lanes) {
    unsigned size = kinds[kind].size;
    switch (letter) {
    case 'U': return integer(size, false);
    case 'D': return integer(size, true);
    case 'R': return lanes == 1 ? OP_INT : integer(size, true);
    case 'W': return integer(size < 8 ? 2 * size : 8, false);
    case 'H': return integer(size > 1 ? size / 2 : 1, false);
    case 'B': return OP_UCHAR;
    case 'I': return OP_INT;
    case 'F': return OP_FLOAT;
    default: return kind;
    }
}

static const unsigned widths[] = {1, 2, 3, 4, 8, 16};
enum { WIDTHS = sizeof widths / sizeof *widths };

static const char *suffix(unsigned lanes) {
    static const char *const names[] = {[1] = "", [2] = "2", [3] = "3", [4] = "4", [8] = "8", [16] = "16"};
    return names[lanes];
}

/* ---- text ---- */

typedef struct writer {
    op_kernel kernel;
    size_t length;
    unsigned number, ulps; /* ulps: of the kernels to come */
    op_visitor *visit;
    void *user;
    bool stopped;
} writer;

static void put(writer *w, const char *format, ...) {
    va_list args;
    va_start(args, format);
    int more = vsnprintf(w->kernel.text + w->length, OP_TEXT - w->length, format, args);
    va_end(args);
    if (more > 0) w->length += (size_t)more;
    if (w->length >= OP_TEXT) w->length = OP_TEXT - 1;
}

static void put_pattern(writer *w, const char *pattern, op_kind kind, unsigned lanes, unsigned k) {
    for (const char *p = pattern; *p; p++) {
        if (*p != '%' || !p[1]) {
            put(w, "%c", *p);
            continue;
        }
        switch (*++p) {
        case '%': put(w, "%%"); break;
        case 'w': put(w, "%u", kinds[kind].size * 8); break;
        case 'k': put(w, "%u", k); break;
        case 's': put(w, "%s", suffix(lanes)); break;
        case 'x': put(w, "%s%s", lanes > 1 ? "x" : "", suffix(lanes)); break;
        default: put(w, "%s%s", kinds[kind_of(*p, kind, lanes)].name, suffix(lanes)); break;
        }
    }
}

static void begin(writer *w, unsigned family, unsigned lanes, op_kind result, const op_kind *operands) {
    static const char names[] = "xyz";
    w->length = 0;
    w->kernel.family = family;
    w->kernel.result = result;
    w->kernel.ulps = w->ulps;
    memcpy(w->kernel.operands, operands, sizeof w->kernel.operands);
    put(w, "kernel void k%u(global %s%s *o", w->number, kinds[result].name, suffix(lanes));
    for (int i = 0; i < 3; i++)
        put(w, ", global const %s%s *%c", kinds[operands[i]].name, suffix(lanes), names[i]);
    put(w, ") {\n    size_t i = get_global_id(0);\n");
    for (int i = 0; i < 3; i++)
        put(w, "    %s%s %c = %c[i];\n", kinds[operands[i]].name, suffix(lanes), "abc"[i], names[i]);
}

static void end(writer *w) {
    put(w, "}\n");
    if (!w->stopped) w->stopped = !w->visit(w->user, &w->kernel, w->number);
    w->number++;
}

/* ---- rows ---- */

/* Which types a row is for. */
enum {
    SMALL = 1 << OP_CHAR | 1 << OP_UCHAR | 1 << OP_SHORT | 1 << OP_USHORT,
    WORDS = 1 << OP_INT | 1 << OP_UINT,
    INTS = SMALL | WORDS | 1 << OP_LONG | 1 << OP_ULONG,
    SIGNED = 1 << OP_CHAR | 1 << OP_SHORT | 1 << OP_INT | 1 << OP_LONG,
    UNSIGNED = INTS & ~SIGNED,
    BYTES = 1 << OP_CHAR | 1 << OP_UCHAR,
    SHORTS = 1 << OP_SHORT | 1 << OP_USHORT,
    U16 = 1 << OP_USHORT,
    U32 = 1 << OP_UINT,
    U64 = 1 << OP_ULONG,
    FLOATS = 1 << OP_HALF | 1 << OP_FLOAT | 1 << OP_DOUBLE,
    NUMBERS = INTS | FLOATS,
    WIDENED = INTS & ~(1 << OP_LONG | 1 << OP_ULONG)
};

typedef struct row {
    unsigned types;
    const char
        *signature; /* result and operands; those left out are T. In front s: scalars, v: vectors only */
    const char *expression;
    unsigned char first, last; /* of %k */
} row;

static const row arithmetic[] = {
    {UNSIGNED, "T", "a + b", 0, 0},
    {UNSIGNED, "T", "a - b", 0, 0},
    {UNSIGNED & ~U16, "T", "a * b", 0, 0},
    {U16, "T", "(%T)(a * (%T)(b & (%T)0x7fff))", 0, 0}, /* as ints, two of 16 bits overflow */
    {SIGNED, "T", "(a >> (%T)1) + (b >> (%T)1)", 0, 0},
    {SIGNED, "T", "(a >> (%T)1) - (b >> (%T)1)", 0, 0},
    {SIGNED, "T", "(a >> (%T)(%w / 2)) * (b >> (%T)(%w / 2))", 0, 0},
    {SIGNED, "T", "-(a | (%T)1)", 0, 0},
    {UNSIGNED, "T", "-a", 0, 0},
    {INTS, "T", "~a", 0, 0},
    {INTS, "R", "!a", 0, 0},
    {INTS, "T", "a & b", 0, 0},
    {INTS, "T", "a | b", 0, 0},
    {INTS, "T", "a ^ b", 0, 0},
    {INTS, "v:TTU", "a << (b & (%U)(%w - 1))", 0, 0},
    {UNSIGNED & ~SMALL, "s:T", "a << (b & (%U)(%w - 1))", 0, 0},
    {INTS, "TTU", "a >> (b & (%U)(%w - 1))", 0, 0},
    {INTS, "T", "a / b", 0, 0},
    {INTS, "T", "a %% b", 0, 0},
    {INTS, "T", "a / (b | (%T)1)", 0, 0},
    {INTS, "T", "a %% ((b >> (%T)2) | (%T)2)", 0, 0},
    {INTS, "T", "a / (%T)7", 0, 0},
    {NUMBERS, "R", "a == b", 0, 0},
    {NUMBERS, "R", "a != b", 0, 0},
    {NUMBERS, "R", "a < b", 0, 0},
    {NUMBERS, "R", "a <= b", 0, 0},
    {NUMBERS, "R", "a > b", 0, 0},
    {NUMBERS, "R", "a >= b", 0, 0},
    {INTS, "R", "a && b", 0, 0},
    {INTS, "R", "a || b", 0, 0},
    {NUMBERS, "T", "a < b ? b : c", 0, 0},
    {NUMBERS, "TTTD", "select(a, b, c)", 0, 0},
    {NUMBERS, "T", "bitselect(a, b, c)", 0, 0},
    {INTS, "U", "abs(a)", 0, 0},
    {INTS, "U", "abs_diff(a, b)", 0, 0},
    {INTS, "T", "add_sat(a, b)", 0, 0},
    {INTS, "T", "sub_sat(a, b)", 0, 0},
    {INTS, "T", "hadd(a, b)", 0, 0},
    {INTS, "T", "rhadd(a, b)", 0, 0},
    {INTS, "T", "clamp(a, min(b, c), max(b, c))", 0, 0},
    {INTS, "T", "clz(a)", 0, 0},
    {INTS, "T", "ctz(a)", 0, 0},
    {INTS, "T", "popcount(a)", 0, 0},
    {UNSIGNED & ~U16, "T", "mad_hi(a, b, c)", 0, 0},
    {INTS, "T", "mad_sat(a, b, c)", 0, 0},
    {INTS, "T", "mul_hi(a, b)", 0, 0},
    {INTS, "T", "max(a, b)", 0, 0},
    {INTS, "T", "min(a, b)", 0, 0},
    {INTS, "T", "rotate(a, b)", 0, 0},
    {WORDS, "T", "mul24(a >> (%T)20, b >> (%T)20)", 0, 0},
    {WORDS, "T", "mad24(a >> (%T)20, b >> (%T)20, c >> (%T)4)", 0, 0},
    {FLOATS, "T", "a + b", 0, 0},
    {FLOATS, "T", "a - b", 0, 0},
    {FLOATS, "T", "a * b", 0, 0},
    {FLOATS & ~(1 << OP_FLOAT), "T", "a / b", 0, 0},
    {FLOATS, "T", "-a", 0, 0},
    {FLOATS, "T", "fabs(a)", 0, 0},
    {FLOATS, "T", "fma(a, b, c)", 0, 0},
    {FLOATS, "T", "sqrt(a)", 0, 0},
    {FLOATS, "T", "copysign(a, b)", 0, 0},
    {FLOATS, "T", "floor(a)", 0, 0},
    {FLOATS, "T", "ceil(a)", 0, 0},
    {FLOATS, "T", "trunc(a)", 0, 0},
    {FLOATS, "T", "rint(a)", 0, 0},
    {FLOATS, "T", "round(a)", 0, 0},
    {FLOATS, "T", "fmod(a, b)", 0, 0},
    {FLOATS, "T", "fmin(a, b) + (%T)0", 0, 0},
    {FLOATS, "T", "fmax(a, b) + (%T)0", 0, 0},
    {FLOATS, "R", "isnan(a)", 0, 0},
    {FLOATS, "R", "isinf(a)", 0, 0},
    {FLOATS, "R", "isfinite(a)", 0, 0},
    {FLOATS, "R", "isless(a, b)", 0, 0},
    {FLOATS, "R", "islessgreater(a, b)", 0, 0},
    {FLOATS, "R", "isunordered(a, b)", 0, 0},
    {FLOATS, "R", "signbit(a)", 0, 0},
};

/* Within 2.5 ulp, as the language has it. */
static const row quotients[] = {{1 << OP_FLOAT, "TTTT", "a / b", 0, 0}};

/* The same thing is said in several ways where people do; `(%T)` cuts what was promoted. */
static const row idioms[] = {
    /* rotations and byte swaps of a short */
    {INTS & ~SIGNED, "T", "(%T)((a << (%T)%k) | (a >> (%T)(%w - %k)))", 1, 15},
    {UNSIGNED & SMALL, "T", "(%T)((a >> (%T)%k) ^ (a << (%T)(%w - %k)))", 1, 15},
    {UNSIGNED & SMALL, "T", "(%T)((a << (%T)%k) + (a >> (%T)(%w - %k)))", 4, 8},
    {INTS, "T", "rotate(a, (%T)%k)", 1, 15},
    {U16, "T", "(%T)(((a & (%T)0xff) << (%T)8) | (a >> (%T)8))", 0, 0},
    {U16, "T", "(%T)(((a & (%T)0xff) << (%T)8) | ((a & (%T)0xff00) >> (%T)8))", 0, 0},
    {U16, "T", "(%T)((a >> (%T)8) | (a << (%T)8)) + (%T)1", 0, 0},
    {U16, "T", "(%T)((a << (%T)8) | (a >> (%T)8)) ^ b", 0, 0},
    {U16, "s:T", "as_ushort(as_uchar2(a).yx)", 0, 0},
    {SHORTS, "T", "(%T)((a << (%T)8) | ((a >> (%T)8) & (%T)0xff))", 0, 0},
    {U16, "v:T", "a * (%T)256 + ((a >> (%T)8) & (%T)255)", 0, 0},
    {U16, "s:T", "(%T)((uint)a * 0x101u >> 8)", 0, 0},
    {U16, "T", "(%T)(((a << (%T)8) & (%T)0xff00) | ((b >> (%T)8) & (%T)0xff))", 0, 0},
    {U16, "T", "(%T)((a << (%T)8) | (b >> (%T)8))", 0, 0},
    {U16, "T", "(%T)((a << (%T)8) | (a >> (%T)8)) > b ? a : c", 0, 0},
    {U16, "T", "popcount((%T)((a << (%T)8) | (a >> (%T)8)))", 0, 0},
    /* of words */
    {U32, "T", "(a << 24) | ((a & 0xff00) << 8) | ((a >> 8) & 0xff00) | (a >> 24)", 0, 0},
    {U32, "T", "((a & 0x00ff00ff) << 8) | ((a >> 8) & 0x00ff00ff)", 0, 0},
    {U32, "T", "(rotate(a, (%T)8) & (%T)0x00ff00ff) | (rotate(a, (%T)24) & (%T)0xff00ff00)", 0, 0},
    {U32, "s:T", "as_uint(as_uchar4(a).wzyx)", 0, 0},
    {U32, "s:T", "as_uint(as_ushort2(a).yx)", 0, 0},
    {U64, "s:T", "as_ulong(as_uchar8(a).s76543210)", 0, 0},
    {U64, "s:T", "as_ulong(as_ushort4(a).wzyx)", 0, 0},
    {U64, "T", "((a & (%T)0x00ff00ff00ff00fful) << (%T)8) | ((a >> (%T)8) & (%T)0x00ff00ff00ff00fful)", 0, 0},
    /* packing */
    {WIDENED & UNSIGNED, "W", "(convert_%W(a) << (%W)%w) | convert_%W(b)", 0, 0},
    {WIDENED & UNSIGNED, "W", "convert_%W(a) | (convert_%W(b) << (%W)%w)", 0, 0},
    {WIDENED & UNSIGNED, "W", "convert_%W(a) * ((%W)1 << (%W)%w) + convert_%W(b)", 0, 0},
    {WIDENED, "W", "as_%W(upsample(a, as_%U(b)))", 0, 0},
    {1 << OP_UCHAR, "s:W", "(ushort)((a << 8) | b)", 0, 0},
    {1 << OP_UCHAR, "s:W", "(ushort)(a + b * 256)", 0, 0},
    {1 << OP_UCHAR, "s:W", "as_ushort((uchar2)(b, a))", 0, 0},
    {1 << OP_CHAR, "s:W", "(ushort)(((ushort)(uchar)a << 8) | (uchar)b)", 0, 0},
    {1 << OP_UCHAR, "s:I", "(int)((uint)a | (uint)b << 8 | (uint)c << 16 | (uint)a << 24)", 0, 0},
    {1 << OP_UCHAR, "s:I", "as_int((uchar4)(a, b, c, a))", 0, 0},
    {1 << OP_CHAR, "s:I", "as_int((char4)(c, b, a, b))", 0, 0},
    {U16, "s:I", "as_int((ushort2)(a, b))", 0, 0},
    {1 << OP_SHORT, "s:I", "(int)(((uint)(ushort)a << 16) | (ushort)b)", 0, 0},
    {1 << OP_UCHAR, "s:W", "(ushort)((a & 0xf8) << 8 | (b & 0xfc) << 3 | c >> 3)", 0, 0},
    {1 << OP_UCHAR, "T", "(%T)((a & (%T)0xf) << (%T)4 | (b & (%T)0xf))", 0, 0},
    /* parts */
    {INTS & ~BYTES, "H", "convert_%H(a >> (%T)%k)", 1, 9},
    {INTS & ~BYTES, "H", "convert_%H(a)", 0, 0},
    {INTS & ~BYTES, "B", "convert_%B(a >> (%T)8)", 0, 0},
    {INTS & ~BYTES, "T", "(a >> (%T)8) & (%T)0xff", 0, 0},
    {INTS & ~BYTES, "T", "(a >> (%T)(%w - 8)) & (%T)0xff", 0, 0},
    {WORDS, "s:B", "as_uchar4(a).s%k", 0, 3},
    {WORDS, "s:T", "as_short2(a).s%k", 0, 1},
    {SHORTS, "s:B", "as_uchar2(a).s%k", 0, 1},
    {U64, "s:B", "as_uchar8(a).s%k", 0, 7},
    {WORDS, "s:I", "(char)(a >> 8)", 0, 0},
    {WORDS, "s:I", "(int)(short)(a >> 8) + (uchar)a", 0, 0},
    /* bit fields */
    {INTS, "T", "(a >> (%T)%k) & (%T)7", 1, 6},
    {INTS, "v:T", "(%T)(a << (%T)%k) >> (%T)3", 1, 5},
    {UNSIGNED, "s:T", "(%T)(a << (%T)%k) >> (%T)3", 1, 5},
    {UNSIGNED, "T", "(a & (%T)~(%T)(15 << %k)) | (%T)((b & (%T)15) << (%T)%k)", 1, 4},
    {UNSIGNED, "T", "(a & b) | ((%T)~a & c)", 0, 0},
    {UNSIGNED, "T", "a ^ (a >> (%T)1)", 0, 0},
    {UNSIGNED, "T", "(%T)(((a >> (%T)1) & (%T)0x55) | ((a & (%T)0x55) << (%T)1))", 0, 0},
    {UNSIGNED & SMALL, "T", "a & (%T)-a", 0, 0},
    {UNSIGNED, "T", "a & (%T)(a - (%T)1)", 0, 0},
    {UNSIGNED & SMALL, "T", "(%T)(a | (a << (%T)4)) & (%T)0x3c", 0, 0},
    {SHORTS, "T", "(a & (%T)0xff) | ((a >> (%T)4) & (%T)0xf)", 0, 0},
    /* counts */
    {INTS, "T", "popcount((%T)(a ^ b))", 0, 0},
    {INTS, "T", "clz((%T)(a & b)) - ctz((%T)(a | b))", 0, 0},
    {INTS, "T", "popcount(a) & (%T)1", 0, 0},
    {SMALL, "s:I", "popcount((uint)(%U)a)", 0, 0},
    {SMALL, "s:I", "clz((uint)(%U)a) + ctz((int)a)", 0, 0},
    /* saturation and rounding */
    {SMALL, "s:T", "convert_%T_sat((int)a + (int)b)", 0, 0},
    {SMALL & ~U16, "s:T", "convert_%T_sat((int)a * (int)b - c)", 0, 0},
    {SMALL, "T", "convert_%T_sat(convert_%I(a) - convert_%I(b))", 0, 0},
    {SMALL & SIGNED, "T", "convert_%T_sat((convert_%I(a) * convert_%I(b)) >> 6)", 0, 0},
    {BYTES, "B", "convert_%B(clamp(convert_%I(a) + convert_%I(b), 0, 255))", 0, 0},
    {SHORTS, "B", "convert_%B_sat(a)", 0, 0},
    {SHORTS, "B", "convert_%B(min(max(a, (%T)0), (%T)255))", 0, 0},
    {UNSIGNED & SMALL, "s:T", "(%T)((convert_%W(a) + convert_%W(b)) >> (%W)1)", 0, 0},
    {UNSIGNED & SMALL, "s:T", "(%T)((a + b + 1) >> 1)", 0, 0},
    {UNSIGNED, "T", "(a & b) + ((a ^ b) >> (%T)1)", 0, 0},
    {UNSIGNED & SMALL, "T", "(%T)(a + b) < a ? (%T)-1 : (%T)(a + b)", 0, 0},
    {UNSIGNED, "v:T", "a > b ? a - b : b - a", 0, 0},
    {SMALL, "s:T", "(%T)(a > b ? a - b : b - a)", 0, 0},
    {UNSIGNED & SMALL, "s:T", "(%T)((convert_%W(a) * convert_%W(b)) >> (%W)%w)", 0, 0},
    {BYTES & UNSIGNED, "T", "mul_hi(a, b) + (%T)(a * b)", 0, 0},
    {BYTES & UNSIGNED, "s:T", "(%T)(((uint)a * b + 128u + (((uint)a * b + 128u) >> 8)) >> 8)", 0, 0},
    {SMALL & SIGNED, "T", "(a >> (%T)(%w - 1)) ^ b", 0, 0},
    {SMALL & SIGNED, "T", "a < (%T)0 ? (%T)-1 : (%T)1", 0, 0},
    /* halves and floats */
    {U16, "s:F", "convert_%F(as_half(a))", 0, 0},
    {SMALL, "T", "convert_%T_sat(convert_%F(a) * 1.5f)", 0, 0},
    {SMALL, "T", "convert_%T_sat_rte(convert_%F(a) * 0.5f)", 0, 0},
    {SMALL, "F", "convert_%F(a) * convert_%F(b) - convert_%F(c)", 0, 0},
    {1 << OP_FLOAT, "B", "convert_%B_sat(a * 255.0f)", 0, 0},
    {1 << OP_FLOAT, "B", "convert_%B_sat_rte(a)", 0, 0},
    {1 << OP_FLOAT, "s:T", "as_float(as_uint(a) ^ 0x80000000u)", 0, 0},
    {1 << OP_FLOAT, "s:I", "as_int(a) >> 23 & 0xff", 0, 0},
    {1 << OP_HALF, "U", "as_%U(a) ^ (%U)0x8000", 0, 0},
    /* small floats */
    {NUMBERS, "F", "convert_%F(convert_qn_bf16%x(a))", 0, 0},
    {NUMBERS, "B", "as_%B(convert_qn_e4m3%x(a))", 0, 0},
    {NUMBERS, "B", "as_%B(convert_qn_e5m2%x_sat_rtp(a))", 0, 0},
    {1 << OP_FLOAT, "H", "as_%H(convert_qn_bf16%x(a))", 0, 0},
    {1 << OP_FLOAT, "H", "as_%H(convert_qn_bf16%x_rtz(a * b))", 0, 0},
    {1 << OP_FLOAT, "H", "as_%H(convert_qn_bf16%x_rtn(a))", 0, 0},
    {1 << OP_FLOAT, "B", "as_%B(convert_qn_e4m3%x_sat(a))", 0, 0},
    {1 << OP_FLOAT, "B", "as_%B(convert_qn_e5m2%x(a))", 0, 0},
    {1 << OP_FLOAT, "B", "as_%B(convert_qn_e4m3%x_rtn(a))", 0, 0},
    {U16, "F", "convert_%F(as_qn_bf16%x(a))", 0, 0},
    {1 << OP_UCHAR, "F", "convert_%F(as_qn_e4m3%x(a)) * convert_%F(as_qn_e5m2%x(b))", 0, 0},
    {1 << OP_UCHAR, "I", "convert_%I(as_qn_e5m2%x(a))", 0, 0},
    {U16, "T",
     "as_%T(convert_qn_bf16%x(convert_%F(as_qn_bf16%x((%T)(a | (%T)0x1000))) + "
     "convert_%F(as_qn_bf16%x((%T)(b | (%T)0x1000)))))",
     0, 0},
    {1 << OP_HALF, "v:U", "(as_%U(a) << (%U)1) | (as_%U(a) >> (%U)15)", 0, 0},
    {1 << OP_HALF, "s:U", "(ushort)((as_ushort(a) << 8) | (as_ushort(a) >> 8))", 0, 0},
};

static void write_row(writer *w, unsigned family, const row *r, op_kind kind, unsigned lanes, unsigned k) {
    const char *letters = r->signature + (r->signature[1] == ':' ? 2 : 0);
    op_kind operands[3] = {kind, kind, kind}, result = kind_of(letters[0], kind, lanes);
    for (unsigned i = 0; i < 3 && letters[i] && letters[i + 1]; i++)
        operands[i] = kind_of(letters[i + 1], kind, lanes);
    begin(w, family, lanes, result, operands);
    put(w, "    o[i] = (%s%s)(", kinds[result].name, suffix(lanes));
    put_pattern(w, r->expression, kind, lanes, k);
    put(w, ");\n");
    end(w);
}

static void write_rows(writer *w, unsigned family, const row *rows, size_t count) {
    for (size_t i = 0; i < count; i++)
        for (unsigned kind = 0; kind < OP_KINDS; kind++)
            for (unsigned n = 0; n < WIDTHS && rows[i].types >> kind & 1; n++) {
                unsigned lanes = widths[n], last = rows[i].last, width = kinds[kind].size * 8;
                const char *signature = rows[i].signature;
                if (signature[1] == ':' && (signature[0] == 's') != (lanes == 1)) continue;
                for (unsigned k = rows[i].first; k <= last && k < width && !w->stopped; k++)
                    write_row(w, family, &rows[i], (op_kind)kind, lanes, k);
            }
}

/* ---- conversions ---- */

static void write_conversion(writer *w, op_kind from, op_kind to, unsigned lanes, const char *mode) {
    begin(w, OP_CONVERSIONS, lanes, to, (op_kind[]){from, from, from});
    put(w, "    o[i] = convert_%s%s%s(a);\n", kinds[to].name, suffix(lanes), mode);
    end(w);
}

static void write_conversions(writer *w) {
    static const char *const modes[] = {"", "_sat", "_rte", "_rtz", "_rtp", "_rtn", "_sat_rtp"};
    for (unsigned from = 0; from < OP_KINDS; from++)
        for (unsigned to = 0; to < OP_KINDS; to++)
            for (unsigned n = 0; n < WIDTHS; n++)
                for (unsigned m = 0; m < sizeof modes / sizeof *modes && !w->stopped; m++) {
                    bool floats = op_is_float((op_kind)from) || op_is_float((op_kind)to);
                    bool saturates = m == 1 || m == 6;
                    if (saturates ? op_is_float((op_kind)to) : m > 1 && !floats) continue;
                    write_conversion(w, (op_kind)from, (op_kind)to, widths[n], modes[m]);
                }
}

/* The same bits as another type, also one of other lanes. */
static void write_casts(writer *w) {
    for (unsigned from = 0; from < OP_KINDS; from++)
        for (unsigned to = 0; to < OP_KINDS; to++)
            for (unsigned n = 0; n < WIDTHS && !w->stopped; n++) {
                unsigned bytes = kinds[from].size * widths[n], lanes = bytes / kinds[to].size;
                bool exists = lanes && lanes * kinds[to].size == bytes && lanes <= 16 && widths[n] != 3 &&
                              lanes != 3 && from != to;
                if (!exists) continue;
                begin(w, OP_CONVERSIONS, widths[n], (op_kind)from, (op_kind[]){from, from, from});
                const char *name = kinds[to].name, *as = suffix(lanes);
                put(w, "    %s%s v = as_%s%s(a);\n", name, as, name, as);
                put(w, "    global %s%s *p = (global %s%s *)o;\n    p[i] = v;\n", name, as, name, as);
                end(w);
            }
}

/* ---- memory ---- */

static void write_memory_kernel(writer *w, op_kind kind, unsigned lanes, const char *qualifier, bool local) {
    const char *name = kinds[kind].name, *as = suffix(lanes);
    begin(w, OP_MEMORY, lanes, kind, (op_kind[]){kind, kind, OP_INT});
    w->length = 0;
    put(w, "__attribute__((reqd_work_group_size(%d, 1, 1)))\n", (int)OP_GROUP);
    put(w,
        "kernel void k%u(global %s%s *o, global const %s%s *x, global const %s%s *y, global const int *z) "
        "{\n",
        w->number, name, as, name, as, name, as);
    put(w, "    size_t i = get_global_id(0), l = get_local_id(0);\n");
    if (local) {
        put(w, "    %s local %s%s t[%d];\n", qualifier, name, as, (int)OP_GROUP);
        put(w, "    t[l] = x[i];\n    barrier(CLK_LOCAL_MEM_FENCE);\n");
        put(w, "    o[i] = t[l ^ (z[0] & 7)];\n");
    } else {
        put(w, "    %s %s%s t[4] = {x[i], y[i], x[i], y[i]};\n", qualifier, name, as);
        put(w, "    t[z[i] & 3] = y[i];\n    t[z[i + 1] & 3] = x[i];\n");
        put(w, "    o[i] = t[z[i + 2] & 3];\n");
    }
    end(w);
}

static void write_memory(writer *w) {
    for (unsigned kind = 0; kind < OP_KINDS; kind++)
        for (unsigned n = 0; n < WIDTHS; n++)
            for (unsigned form = 0; form < 4 && !w->stopped; form++)
                write_memory_kernel(w, (op_kind)kind, widths[n], form & 1 ? "volatile" : "", form & 2);
}

/* ---- random expressions ---- */

typedef struct generator {
    writer *out;
    uint64_t state;
    op_kind variables[6]; /* a, b, c and what has been computed */
    unsigned count, lanes;
} generator;

static uint32_t below(generator *g, uint32_t n) {
    g->state = g->state * 6364136223846793005u + 1442695040888963407u;
    uint32_t x = (uint32_t)(g->state >> 33);
    return (x ^ x >> 15) % n;
}

static op_kind any_integer(generator *g) {
    static const op_kind list[] = {OP_CHAR,   OP_UCHAR,  OP_UCHAR, OP_SHORT, OP_SHORT, OP_USHORT,
                                   OP_USHORT, OP_USHORT, OP_INT,   OP_UINT,  OP_UINT,  OP_ULONG};
    return list[below(g, sizeof list / sizeof *list)];
}

static void random_value(generator *g, op_kind kind, unsigned depth);

static void put_type(generator *g, op_kind kind) { put(g->out, "%s%s", kinds[kind].name, suffix(g->lanes)); }

/* A value of another type as one of `kind`. */
static void random_converted(generator *g, op_kind kind, unsigned depth) {
    op_kind from = any_integer(g);
    bool saturates = below(g, 3) == 0;
    put(g->out, "convert_");
    put_type(g, kind);
    put(g->out, saturates ? "_sat(" : "(");
    random_value(g, from, depth);
    put(g->out, ")");
}

static void random_leaf(generator *g, op_kind kind) {
    static const char *const numbers[] = {"0",    "1",   "2",    "3",    "7",   "8",
                                          "0x55", "100", "0x7f", "0x80", "0xff"};
    unsigned which = below(g, g->count + 1);
    if (which == g->count) {
        put(g->out, "(");
        put_type(g, kind);
        put(g->out, ")(%s)", numbers[below(g, 11)]);
        return;
    }
    bool same = g->variables[which] == kind;
    if (!same) {
        put(g->out, "convert_");
        put_type(g, kind);
    }
    put(g->out, same ? "%c" : "(%c)", "abcdef"[which]);
}

/* Sums and products are of unsigned numbers of at least 32 bits, or of vectors' lanes, which wrap. */
static void random_sum(generator *g, op_kind kind, unsigned depth) {
    static const char *const operators[] = {"+", "-", "*"};
    op_kind work = integer(g->lanes == 1 && kinds[kind].size < 4 ? 4 : kinds[kind].size, false);
    put(g->out, work == kind ? "((" : "convert_");
    if (work != kind) {
        put_type(g, kind);
        put(g->out, "((");
    }
    random_value(g, work, depth);
    put(g->out, ") %s (", operators[below(g, 3)]);
    random_value(g, work, depth);
    put(g->out, "))");
}

static void random_logic(generator *g, op_kind kind, unsigned depth) {
    static const char *const operators[] = {"&", "|", "^"};
    put(g->out, "(");
    put_type(g, kind);
    put(g->out, ")(");
    random_value(g, kind, depth);
    put(g->out, " %s ", operators[below(g, 3)]);
    random_value(g, kind, depth);
    put(g->out, ")");
}

/* A shift by a constant, or two that make a rotation or nearly one. */
static void random_shift(generator *g, op_kind kind, unsigned depth) {
    unsigned bits = kinds[kind].size * 8, by = 1 + below(g, bits - 1);
    if (below(g, 2)) by = bits / 2;
    op_kind work = integer(kinds[kind].size, false);
    char t[16];
    snprintf(t, sizeof t, "%s%s", kinds[work].name, suffix(g->lanes));
    bool right = below(g, 2);
    if (below(g, 2)) {
        put(g->out, "as_%s%s((%s)(", kinds[kind].name, suffix(g->lanes), t);
        random_value(g, work, depth);
        put(g->out, " %s (%s)%u))", right ? ">>" : "<<", t, by);
        return;
    }
    unsigned variable = below(g, g->count);
    put(g->out, "as_%s%s((%s)((convert_%s(%c) << (%s)%u) | (convert_%s(%c) >> (%s)%u)))", kinds[kind].name,
        suffix(g->lanes), t, t, "abcdef"[variable], t, by, t, "abcdef"[variable], t,
        below(g, 4) ? bits - by : by);
}

static void random_call(generator *g, op_kind kind, unsigned depth) {
    static const char *const functions[] = {"min",    "max",    "add_sat",  "sub_sat", "hadd", "rhadd",
                                            "rotate", "mul_hi", "popcount", "clz",     "ctz",  "abs_diff"};
    unsigned which = below(g, sizeof functions / sizeof *functions);
    bool one = which >= 8 && which <= 10, differs = which == 11 && is_signed(kind);
    if (differs) {
        put(g->out, "as_");
        put_type(g, kind);
        put(g->out, "(");
    }
    put(g->out, "%s(", functions[which]);
    random_value(g, kind, depth);
    if (!one) {
        put(g->out, ", ");
        random_value(g, kind, depth);
    }
    put(g->out, differs ? "))" : ")");
}

static void random_choice(generator *g, op_kind kind, unsigned depth) {
    put(g->out, "(");
    put_type(g, kind);
    put(g->out, ")(");
    random_value(g, kind, depth);
    put(g->out, " %s ", below(g, 2) ? "<" : "==");
    random_value(g, kind, depth);
    put(g->out, " ? ");
    random_value(g, kind, depth);
    put(g->out, " : ");
    random_value(g, kind, depth);
    put(g->out, ")");
}

static void random_value(generator *g, op_kind kind, unsigned depth) {
    if (!depth) {
        random_leaf(g, kind);
        return;
    }
    switch (below(g, 8)) {
    case 0: random_leaf(g, kind); break;
    case 1:
    case 2: random_sum(g, kind, depth - 1); break;
    case 3: random_logic(g, kind, depth - 1); break;
    case 4: random_shift(g, kind, depth - 1); break;
    case 5: random_call(g, kind, depth - 1); break;
    case 6: random_choice(g, kind, depth - 1); break;
    default: random_converted(g, kind, depth - 1); break;
    }
}

/* Three variables of random values, and the result. */
static void write_random(writer *w, uint64_t seed) {
    generator g = {.out = w, .state = seed * 0x9e3779b97f4a7c15u + 1};
    static const unsigned char lanes[] = {1, 1, 1, 1, 2, 3, 4, 8};
    g.lanes = lanes[below(&g, 8)];
    for (g.count = 0; g.count < 3; g.count++) g.variables[g.count] = any_integer(&g);
    op_kind result = any_integer(&g);
    begin(w, OP_RANDOM, g.lanes, result, g.variables);
    for (; g.count < 6; g.count++) {
        op_kind kind = g.variables[g.count] = any_integer(&g);
        put(w, "    ");
        put_type(&g, kind);
        put(w, " %c = ", "abcdef"[g.count]);
        random_value(&g, kind, 2);
        put(w, ";\n");
    }
    put(w, "    o[i] = ");
    random_value(&g, result, 2);
    put(w, ";\n");
    end(w);
}

/* ---- all of them ---- */

void op_each(unsigned families, uint64_t seed, unsigned count, op_visitor *visit, void *user) {
    static const size_t num_rows = sizeof arithmetic / sizeof *arithmetic;
    writer w = {.visit = visit, .user = user};
    if (families & OP_ARITHMETIC) write_rows(&w, OP_ARITHMETIC, arithmetic, num_rows);
    w.ulps = 2;
    if (families & OP_ARITHMETIC)
        write_rows(&w, OP_ARITHMETIC, quotients, sizeof quotients / sizeof *quotients);
    w.ulps = 0;
    if (families & OP_CONVERSIONS) write_conversions(&w);
    if (families & OP_CONVERSIONS) write_casts(&w);
    if (families & OP_MEMORY) write_memory(&w);
    if (families & OP_IDIOMS) write_rows(&w, OP_IDIOMS, idioms, sizeof idioms / sizeof *idioms);
    for (unsigned i = 0; families & OP_RANDOM && i < count && !w.stopped; i++) write_random(&w, seed + i);
}
