// work_group_scan_inclusive_max and work_group_scan_exclusive_max of every type, in a full group and in a smaller last one.
// kernel: of_int
// global: 12
// local: 8
// arg: buf:int:12=3, -1, 4, 1, -5, 9, 2, 6, 5, 3, 5, -8
// arg: buf:int:12
// expect: 3, 3, 4, 4, 4, 9, 9, 9, 5, 5, 5, 5
// arg: buf:int:12
// expect: -2147483648, 3, 3, 4, 4, 4, 9, 9, -2147483648, 5, 5, 5
// kernel: of_uint
// global: 12
// local: 8
// arg: buf:uint:12=3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8
// arg: buf:uint:12
// expect: 3, 3, 4, 4, 5, 9, 9, 9, 5, 5, 5, 8
// arg: buf:uint:12
// expect: 0, 3, 3, 4, 4, 5, 9, 9, 0, 5, 5, 5
// kernel: of_long
// global: 12
// local: 8
// arg: buf:long:12=3, -1, 4, 1, -5, 9, 2, 6, 5, 3, 5, -8
// arg: buf:long:12
// expect: 3, 3, 4, 4, 4, 9, 9, 9, 5, 5, 5, 5
// arg: buf:long:12
// expect: -9223372036854775808, 3, 3, 4, 4, 4, 9, 9, -9223372036854775808, 5, 5, 5
// kernel: of_ulong
// global: 12
// local: 8
// arg: buf:ulong:12=3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8
// arg: buf:ulong:12
// expect: 3, 3, 4, 4, 5, 9, 9, 9, 5, 5, 5, 8
// arg: buf:ulong:12
// expect: 0, 3, 3, 4, 4, 5, 9, 9, 0, 5, 5, 5
// kernel: of_float
// global: 12
// local: 8
// arg: buf:float:12=3, -1, 4, 1, -5, 9, 2, 6, 5, 3, 5, -8
// arg: buf:float:12
// expect: 3, 3, 4, 4, 4, 9, 9, 9, 5, 5, 5, 5
// arg: buf:float:12
// expect: -inf, 3, 3, 4, 4, 4, 9, 9, -inf, 5, 5, 5
// kernel: of_double
// needs: f64
// global: 12
// local: 8
// arg: buf:double:12=3, -1, 4, 1, -5, 9, 2, 6, 5, 3, 5, -8
// arg: buf:double:12
// expect: 3, 3, 4, 4, 4, 9, 9, 9, 5, 5, 5, 5
// arg: buf:double:12
// expect: -inf, 3, 3, 4, 4, 4, 9, 9, -inf, 5, 5, 5
#define KERNEL(type) \
    kernel void of_##type(global const type *in, global type *inclusive, global type *exclusive) { \
        size_t i = get_global_id(0); \
        inclusive[i] = work_group_scan_inclusive_max(in[i]); \
        exclusive[i] = work_group_scan_exclusive_max(in[i]); \
    }
KERNEL(int)
KERNEL(uint)
KERNEL(long)
KERNEL(ulong)
KERNEL(float)
#ifdef cl_khr_fp64
KERNEL(double)
#endif
