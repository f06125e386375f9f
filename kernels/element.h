// Elements of arrays, as the calls of quern/kernels.h store them: T_load gives the number that is computed with, T_store takes
// it. Which of them a kernel uses comes by -D, from the table in src/kernels/element.c.

static float f32_load(global const float *p, size_t i) { return p[i]; }
static void f32_store(global float *p, size_t i, float v) { p[i] = v; }

static float f16_load(global const half *p, size_t i) { return p[i]; }
static void f16_store(global half *p, size_t i, float v) { p[i] = (half)v; }
static float bf16_load(global const qn_bf16 *p, size_t i) { return p[i]; }
static void bf16_store(global qn_bf16 *p, size_t i, float v) { p[i] = v; }
static float e4m3_load(global const qn_e4m3 *p, size_t i) { return p[i]; }
static void e4m3_store(global qn_e4m3 *p, size_t i, float v) { p[i] = v; }
static float e5m2_load(global const qn_e5m2 *p, size_t i) { return p[i]; }
static void e5m2_store(global qn_e5m2 *p, size_t i, float v) { p[i] = v; }

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
