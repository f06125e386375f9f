// work_group_reduce_min of every type, in a full group and in a smaller last one.
// kernel: of_int
// global: 12
// local: 8
// arg: buf:int:12=3, -1, 4, 1, -5, 9, 2, 6, 5, 3, 5, -8
// arg: buf:int:12
// expect: -5, -5, -5, -5, -5, -5, -5, -5, -8, -8, -8, -8
// kernel: of_uint
// global: 12
// local: 8
// arg: buf:uint:12=3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8
// arg: buf:uint:12
// expect: 1, 1, 1, 1, 1, 1, 1, 1, 3, 3, 3, 3
// kernel: of_long
// global: 12
// local: 8
// arg: buf:long:12=3, -1, 4, 1, -5, 9, 2, 6, 5, 3, 5, -8
// arg: buf:long:12
// expect: -5, -5, -5, -5, -5, -5, -5, -5, -8, -8, -8, -8
// kernel: of_ulong
// global: 12
// local: 8
// arg: buf:ulong:12=3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8
// arg: buf:ulong:12
// expect: 1, 1, 1, 1, 1, 1, 1, 1, 3, 3, 3, 3
// kernel: of_float
// global: 12
// local: 8
// arg: buf:float:12=3, -1, 4, 1, -5, 9, 2, 6, 5, 3, 5, -8
// arg: buf:float:12
// expect: -5, -5, -5, -5, -5, -5, -5, -5, -8, -8, -8, -8
// kernel: of_double
// needs: f64
// global: 12
// local: 8
// arg: buf:double:12=3, -1, 4, 1, -5, 9, 2, 6, 5, 3, 5, -8
// arg: buf:double:12
// expect: -5, -5, -5, -5, -5, -5, -5, -5, -8, -8, -8, -8
#define KERNEL(type) \
    kernel void of_##type(global const type *in, global type *out) { \
        size_t i = get_global_id(0); \
        out[i] = work_group_reduce_min(in[i]); \
    }
KERNEL(int)
KERNEL(uint)
KERNEL(long)
KERNEL(ulong)
KERNEL(float)
#ifdef cl_khr_fp64
KERNEL(double)
#endif
