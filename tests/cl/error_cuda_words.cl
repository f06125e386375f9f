// CUDA's words: each is reported once, with what OpenCL C has for it.
// error: 13: '__global__' is a word of CUDA
// error: 14: '__shared__' is a word of CUDA
// error: 15: 'blockIdx' is a word of CUDA
// error: 15: 'blockDim' is a word of CUDA
// error: 15: 'threadIdx' is a word of CUDA
// error: 17: '__syncthreads' is a word of CUDA
// error: 19: 'atomicAdd' is a word of CUDA
// error: 22: '__device__' is a word of CUDA
// error: 23: '__launch_bounds__' is a word of CUDA
// error: 24: '__nv_bfloat16' is a word of CUDA
// error: 25: '__bfloat162float' is a word of CUDA
__global__ void add(global float *x) {
    __shared__ float tile[16];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    tile[threadIdx.x] = x[i];
    __syncthreads();
    x[i] = tile[15 - threadIdx.x];
    atomicAdd(x, 1.0f);
    __syncthreads();
}
__device__ inline float twice(float x) { return 2 * x; }
__global__ __launch_bounds__(256) void more(global float *x) { x[blockIdx.x] = 1; }
kernel void small(global __nv_bfloat16 *x) {}
kernel void widened(global ushort *x, global float *y) { y[0] = __bfloat162float(x[0]); }
