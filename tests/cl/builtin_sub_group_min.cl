// sub_group_reduce_min and the scans, against a loop over the values of the sub-group in local memory. The last
// sub-group of 21 work-items is not full on most devices.
// needs: sub_groups
// kernel: of_int
// global: 42
// local: 21
// arg: buf:int:42
// expect: 7
// kernel: of_uint
// global: 42
// local: 21
// arg: buf:int:42
// expect: 7
// kernel: of_long
// global: 42
// local: 21
// arg: buf:int:42
// expect: 7
// kernel: of_ulong
// global: 42
// local: 21
// arg: buf:int:42
// expect: 7
// kernel: of_float
// global: 42
// local: 21
// arg: buf:int:42
// expect: 7
// kernel: of_double
// needs: f64
// global: 42
// local: 21
// arg: buf:int:42
// expect: 7
#define KERNEL(type, nothing) \
    kernel void of_##type(global int *ok) { \
        local type values[32][32]; \
        uint row = get_sub_group_id() % 32, lane = get_sub_group_local_id() % 32; \
        type mine = (type)((get_local_id(0) * 7 + 3) % 11); \
        values[row][lane] = mine; \
        type total = sub_group_reduce_min(mine); \
        type inclusive = sub_group_scan_inclusive_min(mine), exclusive = sub_group_scan_exclusive_min(mine); \
        barrier(CLK_LOCAL_MEM_FENCE); \
        type before = nothing, all; \
        for (uint i = 0; i < lane; i++) before = min(before, values[row][i]); \
        type upto = min(before, mine); \
        all = upto; \
        for (uint i = lane + 1; i < get_sub_group_size(); i++) all = min(all, values[row][i]); \
        ok[get_global_id(0)] = (total == all) | (inclusive == upto) << 1 | (exclusive == before) << 2; \
    }
KERNEL(int, INT_MAX)
KERNEL(uint, UINT_MAX)
KERNEL(long, LONG_MAX)
KERNEL(ulong, ULONG_MAX)
KERNEL(float, INFINITY)
#ifdef cl_khr_fp64
KERNEL(double, INFINITY)
#endif
