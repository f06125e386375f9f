// OpenCL C as CUDA C++: what stands before the text of a kernel file when NVRTC compiles it. Functions mean what a CUDA
// programmer would write: indices are products of 32-bit registers, widened; maths is CUDA's own.
#define kernel extern "C" __global__
#define __kernel kernel
#define __global
#define constant const
#define local __shared__
#define __local __shared__
#define restrict __restrict__
#define reqd_work_group_size(x, y, z) launch_bounds((x) * (y) * (z))
#define CLK_LOCAL_MEM_FENCE 1
#define barrier(flags) __syncthreads()

typedef unsigned char uchar;
typedef unsigned int uint;
typedef unsigned long size_t;

__forceinline__ size_t get_global_id(int d) {
    return d ? blockIdx.y * blockDim.y + threadIdx.y : blockIdx.x * blockDim.x + threadIdx.x;
}
__forceinline__ size_t get_local_id(int d) { return d ? threadIdx.y : threadIdx.x; }
__forceinline__ size_t get_group_id(int d) { return d ? blockIdx.y : blockIdx.x; }
__forceinline__ size_t get_local_size(int d) { return d ? blockDim.y : blockDim.x; }
__forceinline__ size_t get_global_size(int d) { return d ? gridDim.y * blockDim.y : gridDim.x * blockDim.x; }

__forceinline__ uint atomic_inc(uint *p) { return atomicAdd(p, 1u); }
__forceinline__ uint atomic_add(uint *p, uint v) { return atomicAdd(p, v); }

__forceinline__ int clamp(int x, int low, int high) { return min(max(x, low), high); }

__forceinline__ float4 operator+(float4 a, float4 b) { return make_float4(a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w); }
__forceinline__ float4 operator*(float s, float4 a) { return make_float4(s * a.x, s * a.y, s * a.z, s * a.w); }
__forceinline__ float4 operator*(float4 a, float s) { return s * a; }
__forceinline__ void operator+=(float4 &a, float4 b) { a = a + b; }

__forceinline__ float4 convert_float4(uchar4 p) { return make_float4(p.x, p.y, p.z, p.w); }
__forceinline__ uchar convert_uchar_sat_rte(float f) { return (uchar)min(max(__float2int_rn(f), 0), 255); }
__forceinline__ uchar4 convert_uchar4_sat_rte(float4 f) {
    return make_uchar4(convert_uchar_sat_rte(f.x), convert_uchar_sat_rte(f.y), convert_uchar_sat_rte(f.z),
                       convert_uchar_sat_rte(f.w));
}

struct float16 {
    float lane[16];
    float16() = default;
    __forceinline__ float16(float f) {
        #pragma unroll
        for (int i = 0; i < 16; i++) lane[i] = f;
    }
};
__forceinline__ float16 fma(float16 a, float16 b, float16 c) {
    float16 r;
    #pragma unroll
    for (int i = 0; i < 16; i++) r.lane[i] = fmaf(a.lane[i], b.lane[i], c.lane[i]);
    return r;
}
__forceinline__ float16 vload16(size_t, const float *__restrict__ p) {
    float16 r;
    #pragma unroll
    for (int i = 0; i < 16; i++) r.lane[i] = p[i];
    return r;
}
__forceinline__ void vstore16(float16 v, size_t, float *__restrict__ p) {
    #pragma unroll
    for (int i = 0; i < 16; i++) p[i] = v.lane[i];
}
