// Four neighbours of an array at once, at an address that is a multiple of their size; see element.h.
#include "../element.h"

static float4 f32_load4(global const float *p, size_t i) { return *(global const float4 *)(p + i); }
static float4 f16_load4(global const half *p, size_t i) { return vloada_half4(i / 4, p); }
static float4 bf16_load4(global const ushort *p, size_t i) {
    return as_float4(convert_uint4(*(global const ushort4 *)(p + i)) << 16);
}
static float4 e4m3_load4(global const uchar *p, size_t i) {
    const uint4 bits = convert_uint4(*(global const uchar4 *)(p + i)), size = bits & 0x7f,
                sign = (bits & 0x80) << 24;
    const uint4 small = as_uint4(convert_float4(size) * 0x1p-9f), large = (size << 20) + (120u << 23);
    return as_float4(sign | select(select(large, small, size < 8), (uint4)0x7fc00000, size == 0x7f));
}
static float4 e5m2_load4(global const uchar *p, size_t i) {
    return (float4)(e5m2_load(p, i), e5m2_load(p, i + 1), e5m2_load(p, i + 2), e5m2_load(p, i + 3));
}
static int4 i8_load4(global const char *p, size_t i) { return convert_int4(*(global const char4 *)(p + i)); }
static int4 u8_load4(global const uchar *p, size_t i) {
    return convert_int4(*(global const uchar4 *)(p + i));
}

static void f32_store4(global float *p, size_t i, float4 v) { *(global float4 *)(p + i) = v; }
static void f16_store4(global half *p, size_t i, float4 v) { vstorea_half4_rte(v, i / 4, p); }
static void bf16_store4(global ushort *p, size_t i, float4 v) {
    const uint4 bits = as_uint4(v), rounded = (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
    *(global ushort4 *)(p + i) =
        convert_ushort4(select(rounded, bits >> 16 | 0x40, (bits & 0x7fffffff) > 0x7f800000));
}
static void i32_store4(global int *p, size_t i, int4 v) { *(global int4 *)(p + i) = v; }

#ifdef cl_khr_fp64
static double4 f64_load4(global const double *p, size_t i) { return *(global const double4 *)(p + i); }
static void f64_store4(global double *p, size_t i, double4 v) { *(global double4 *)(p + i) = v; }
#endif
