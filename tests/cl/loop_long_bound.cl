// Differences of 64 bits that stop at 0: as bounds of loops, which must end, and as values, beside numbers above 32 bits.
// kernel: bounds
// global: 128
// arg: ulong: 1000
// arg: ulong: 700
// arg: uint: 2
// arg: ulong: 0
// arg: buf:ushort:1000
// arg: buf:ushort:6=5, 0, 0, 0, 0, 0
// arg: buf:uint:128
// expect: 11, 11, 11, 11, 11, 11, 11, 11, 11, 11, 11, 11, 11, 11, 11, 11, 11, 11, 11, 11, 11,
//   11, 11, 11, 11, 11, 11, 11, 11, 11, 11, 11, 11, 11, 11, 11, 11, 11, 11, 11, 11, 11,
//   11, 11, 11, 11, 11, 11, 11, 11, 11, 11, 11, 11, 11, 11, 11, 11, 11, 11, 10, 10, 10,
//   10, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5,
//   5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4,
//   4, 4, 4, 4, 4, 4, 4, 4, 4
// kernel: values
// global: 12
// arg: buf:ulong:12=0, 3071, 3072, 3073, 4294967295, 4294967296, 4294970367, 4294970368,
//   18446744073709551615, 5, 1099511627776, 4294967297
// arg: buf:ulong:12=1, 3072, 3071, 0, 4294967296, 4294967295, 4294967296, 18446744073709551615, 1, 5,
//   4294967299, 2
// arg: buf:ulong:48
// expect: 0, 0, 0, 0, 0, 0, 3068, 0, 0, 1, 3069, 1, 1, 3073, 3070, 100, 4294964223, 0,
//   4294967292, 0, 4294964224, 1, 4294967293, 1, 4294967295, 3071, 4294970364, 100,
//   4294967296, 0, 4294970365, 0, 18446744073709548543, 18446744073709551614,
//   18446744073709551612, 100, 0, 0, 2, 0, 1099511624704, 1095216660477, 1099511627773,
//   100, 4294964225, 4294967295, 4294967294, 100
typedef struct limit {
    ushort key, mask;
    uint left, done;
} limit;

// A part of the keys is a group's: how many of them are below the limit.
kernel __attribute__((reqd_work_group_size(64, 1, 1))) void
bounds(ulong length, ulong part, uint parts, ulong begin_of, global const ushort *restrict keys, global const limit *restrict limits,
       global uint *restrict out) {
    const ulong row = get_group_id(0) / parts, begin = get_group_id(0) % parts * part, end = min(begin + part, length);
    const limit l = limits[row];
    keys += begin_of + row * length;
    uint2 sum = 0;
    for (ulong i = begin + get_local_id(0); i < end; i += 64) sum += (uint2)((keys[i] & ~l.mask) < l.key, keys[i] == l.key);
    out[get_global_id(0)] = sum.x + (sum.y << 16);
}

kernel void values(global const ulong *x, global const ulong *y, global ulong *out) {
    const size_t i = get_global_id(0);
    const ulong a = x[i], b = y[i];
    out[i * 4] = max(a, 3072ul) - 3072;
    out[i * 4 + 1] = a > b ? a - b : 0;
    ulong less = 0;
    if (a > 3) less = a - 3;
    out[i * 4 + 2] = less;
    out[i * 4 + 3] = min(sub_sat(a, b), 100ul);
}
