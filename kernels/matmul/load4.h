// Four neighbours of an array at once, at an address that is a multiple of their size; see element.h.
#include "../element.h"

static float4 f32_load4(global const float *p, size_t i) { return *(global const float4 *)(p + i); }
static float4 f16_load4(global const half *p, size_t i) { return vloada_half4(i / 4, p); }
static float4 bf16_load4(global const qn_bf16 *p, size_t i) {
    return convert_float4(*(global const qn_bf16x4 *)(p + i));
}
static float4 e4m3_load4(global const qn_e4m3 *p, size_t i) {
    return convert_float4(*(global const qn_e4m3x4 *)(p + i));
}
static float4 e5m2_load4(global const qn_e5m2 *p, size_t i) {
    return convert_float4(*(global const qn_e5m2x4 *)(p + i));
}
static int4 i8_load4(global const char *p, size_t i) { return convert_int4(*(global const char4 *)(p + i)); }
static int4 u8_load4(global const uchar *p, size_t i) {
    return convert_int4(*(global const uchar4 *)(p + i));
}

static void f32_store4(global float *p, size_t i, float4 v) { *(global float4 *)(p + i) = v; }
static void f16_store4(global half *p, size_t i, float4 v) { vstorea_half4_rte(v, i / 4, p); }
static void bf16_store4(global qn_bf16 *p, size_t i, float4 v) {
    *(global qn_bf16x4 *)(p + i) = convert_qn_bf16x4(v);
}
static void i32_store4(global int *p, size_t i, int4 v) { *(global int4 *)(p + i) = v; }

#ifdef cl_khr_fp64
static double4 f64_load4(global const double *p, size_t i) { return *(global const double4 *)(p + i); }
// Buffers may begin at any multiple of 16 bytes.
static void f64_store4(global double *p, size_t i, double4 v) {
    *(global double2 *)(p + i) = v.lo;
    *(global double2 *)(p + i + 2) = v.hi;
}
#endif
