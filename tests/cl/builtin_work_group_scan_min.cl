// work_group_scan_inclusive_min and work_group_scan_exclusive_min of every type, in a full group and in a smaller last one.
// kernel: of_int
// global: 12
// local: 8
// arg: buf:int:12=3, -1, 4, 1, -5, 9, 2, 6, 5, 3, 5, -8
// arg: buf:int:12
// expect: 3, -1, -1, -1, -5, -5, -5, -5, 5, 3, 3, -8
// arg: buf:int:12
// expect: 2147483647, 3, -1, -1, -1, -5, -5, -5, 2147483647, 5, 3, 3
// kernel: of_uint
// global: 12
// local: 8
// arg: buf:uint:12=3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8
// arg: buf:uint:12
// expect: 3, 1, 1, 1, 1, 1, 1, 1, 5, 3, 3, 3
// arg: buf:uint:12
// expect: 4294967295, 3, 1, 1, 1, 1, 1, 1, 4294967295, 5, 3, 3
// kernel: of_long
// global: 12
// local: 8
// arg: buf:long:12=3, -1, 4, 1, -5, 9, 2, 6, 5, 3, 5, -8
// arg: buf:long:12
// expect: 3, -1, -1, -1, -5, -5, -5, -5, 5, 3, 3, -8
// arg: buf:long:12
// expect: 9223372036854775807, 3, -1, -1, -1, -5, -5, -5, 9223372036854775807, 5, 3, 3
// kernel: of_ulong
// global: 12
// local: 8
// arg: buf:ulong:12=3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8
// arg: buf:ulong:12
// expect: 3, 1, 1, 1, 1, 1, 1, 1, 5, 3, 3, 3
// arg: buf:ulong:12
// expect: 18446744073709551615, 3, 1, 1, 1, 1, 1, 1, 18446744073709551615, 5, 3, 3
// kernel: of_float
// global: 12
// local: 8
// arg: buf:float:12=3, -1, 4, 1, -5, 9, 2, 6, 5, 3, 5, -8
// arg: buf:float:12
// expect: 3, -1, -1, -1, -5, -5, -5, -5, 5, 3, 3, -8
// arg: buf:float:12
// expect: inf, 3, -1, -1, -1, -5, -5, -5, inf, 5, 3, 3
// kernel: of_double
// needs: f64
// global: 12
// local: 8
// arg: buf:double:12=3, -1, 4, 1, -5, 9, 2, 6, 5, 3, 5, -8
// arg: buf:double:12
// expect: 3, -1, -1, -1, -5, -5, -5, -5, 5, 3, 3, -8
// arg: buf:double:12
// expect: inf, 3, -1, -1, -1, -5, -5, -5, inf, 5, 3, 3
#define KERNEL(type) \
    kernel void of_##type(global const type *in, global type *inclusive, global type *exclusive) { \
        size_t i = get_global_id(0); \
        inclusive[i] = work_group_scan_inclusive_min(in[i]); \
        exclusive[i] = work_group_scan_exclusive_min(in[i]); \
    }
KERNEL(int)
KERNEL(uint)
KERNEL(long)
KERNEL(ulong)
KERNEL(float)
#ifdef cl_khr_fp64
KERNEL(double)
#endif
