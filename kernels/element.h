// Elements of arrays, as the calls of quern/kernels.h store them: T_load gives the number that is computed with, T_store takes
// it. Which of them a kernel uses comes by -D, from the table in src/kernels/element.c.

static float f32_load(global const float *p, size_t i) { return p[i]; }
static void f32_store(global float *p, size_t i, float v) { p[i] = v; }

static float f16_load(global const half *p, size_t i) { return vload_half(i, p); }
static void f16_store(global half *p, size_t i, float v) { vstore_half_rte(v, i, p); }

// bf16: the upper half of a float.
static float bf16_load(global const ushort *p, size_t i) { return as_float((uint)p[i] << 16); }
static void bf16_store(global ushort *p, size_t i, float v) {
    const uint bits = as_uint(v);
    const bool nan = (bits & 0x7fffffff) > 0x7f800000;
    p[i] = (ushort)(nan ? bits >> 16 | 0x40 : (bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

// The 8 bits of a float with `mantissa` bits, to nearest even. `least`: the smallest normal number; `unit`: 1 / the smallest
// one. What is above `largest` becomes `beyond`. An exponent is 127 - bias = `shift` below that of a float.
static uint narrow_bits(float v, uint mantissa, uint shift, float least, float unit, uint largest,
                        uint beyond, uint nan) {
    const float size = fabs(v);
    const uint sign = as_uint(v) >> 24 & 0x80, bits = as_uint(size), drop = 23 - mantissa;
    if (bits > 0x7f800000) return sign | nan;
    uint code;
    if (size < least)
        code = (uint)rint(size * unit);
    else
        code = ((bits + (1u << (drop - 1)) - 1 + (bits >> drop & 1)) >> drop) - (shift << mantissa);
    return sign | (code > largest ? beyond : code);
}

// e4m3: no infinities; 0x7f is the NaN.
static float e4m3_load(global const uchar *p, size_t i) {
    const uint bits = p[i], size = bits & 0x7f, sign = (bits & 0x80) << 24;
    const float small = (float)size * 0x1p-9f; // of those without a leading one
    const uint code = size == 0x7f ? 0x7fc00000 : size < 8 ? as_uint(small) : (size << 20) + (120u << 23);
    return as_float(sign | code);
}
static void e4m3_store(global uchar *p, size_t i, float v) {
    p[i] = (uchar)narrow_bits(v, 3, 120, 0x1p-6f, 0x1p9f, 0x7e, 0x7f, 0x7f);
}

// e5m2: as f16 without its lower half.
static float e5m2_load(global const uchar *p, size_t i) {
    const uint bits = p[i], size = bits & 0x7f, sign = (bits & 0x80) << 24;
    const float small = (float)size * 0x1p-16f;
    const uint code = size > 0x7c    ? 0x7fc00000
                      : size == 0x7c ? 0x7f800000
                      : size < 4     ? as_uint(small)
                                     : (size << 21) + (112u << 23);
    return as_float(sign | code);
}
static void e5m2_store(global uchar *p, size_t i, float v) {
    p[i] = (uchar)narrow_bits(v, 2, 112, 0x1p-14f, 0x1p16f, 0x7b, 0x7c, 0x7e);
}

static char i8_load(global const char *p, size_t i) { return p[i]; }
static void i8_store(global char *p, size_t i, char v) { p[i] = v; }
static short i16_load(global const short *p, size_t i) { return p[i]; }
static void i16_store(global short *p, size_t i, short v) { p[i] = v; }
static int i32_load(global const int *p, size_t i) { return p[i]; }
static void i32_store(global int *p, size_t i, int v) { p[i] = v; }
static long i64_load(global const long *p, size_t i) { return p[i]; }
static void i64_store(global long *p, size_t i, long v) { p[i] = v; }
static uchar u8_load(global const uchar *p, size_t i) { return p[i]; }
static void u8_store(global uchar *p, size_t i, uchar v) { p[i] = v; }
static ushort u16_load(global const ushort *p, size_t i) { return p[i]; }
static void u16_store(global ushort *p, size_t i, ushort v) { p[i] = v; }
static uint u32_load(global const uint *p, size_t i) { return p[i]; }
static void u32_store(global uint *p, size_t i, uint v) { p[i] = v; }
static ulong u64_load(global const ulong *p, size_t i) { return p[i]; }
static void u64_store(global ulong *p, size_t i, ulong v) { p[i] = v; }

#define to_bool(x) ((uchar)((x) != 0))

// On the way to a float narrower than 32 bits a number is rounded once: here towards zero, with the last bit set where
// something was cut off, so that the rounding that follows sees it.
static float long_to_narrow(long v) {
    const float f = convert_float_rtz(v);
    return convert_long(f) == v ? f : as_float(as_uint(f) | 1);
}
static float ulong_to_narrow(ulong v) {
    const float f = convert_float_rtz(v);
    return convert_ulong(f) == v ? f : as_float(as_uint(f) | 1);
}

#ifdef cl_khr_fp64
static double f64_load(global const double *p, size_t i) { return p[i]; }
static void f64_store(global double *p, size_t i, double v) { p[i] = v; }
static float double_to_narrow(double v) {
    const float f = convert_float_rtz(v);
    return (double)f == v || isnan(v) ? f : as_float(as_uint(f) | 1);
}
#endif
