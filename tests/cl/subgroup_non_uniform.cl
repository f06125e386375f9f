// What the active work-items of a sub-group do together where others are elsewhere: in both arms of a branch, in a loop
// that some leave before others, and behind a return. Each is held against what one work-item computes by itself.
// needs: sub_groups
// skip: opencl its drivers lack sub-groups; where work-items diverge, local memory cannot serve
// kernel: joined
// global: 72
// local: 36
// arg: buf:int:72
// expect: 16383
// kernel: voted
// global: 72
// local: 36
// arg: buf:int:72
// expect: 31
// kernel: loops
// global: 36
// local: 36
// arg: buf:int:36
// expect: 0
// kernel: returns
// global: 64
// local: 64
// arg: buf:int:64
// expect: 1, -1
// Whether a work-item takes the first arm, and its number.
bool first_arm(uint lane) { return lane % 3 == 1 || lane == 8; }
int number(uint lane) { return (int)(lane * 7 % 13) - 5; }

// 0 sum, 1 product, 2 smaller, 3 larger, 4 and, 5 or, 6 xor of the work-items of an arm below `end`.
int expected(int how, bool arm, uint end) {
    const int nothing[] = {0, 1, INT_MAX, INT_MIN, -1, 0, 0};
    int s = nothing[how];
    for (uint l = 0; l < end; l++) {
        if (first_arm(l) != arm) continue;
        const int x = number(l);
        s = how == 0   ? s + x
            : how == 1 ? (int)((uint)s * (uint)(x | 1))
            : how == 2 ? min(s, x)
            : how == 3 ? max(s, x)
            : how == 4 ? s & x
            : how == 5 ? s | x
                       : s ^ x;
    }
    return s;
}

// What is joined, and up to whom: 0 all, 1 this one, 2 those before it.
constant uchar rows[14][2] = {{0, 0}, {1, 0}, {2, 0}, {3, 0}, {4, 0}, {5, 0}, {6, 0},
                              {0, 1}, {0, 2}, {2, 2}, {3, 1}, {6, 1}, {0, 0}, {0, 2}};

kernel void joined(global int *out) {
    const uint lane = get_sub_group_local_id(), size = get_sub_group_size();
    const int x = number(lane);
    int r[14], ok = first_arm(lane) ? 0 : 16383 & ~513;
    if (first_arm(lane)) {
        r[0] = sub_group_non_uniform_reduce_add(x);
        r[1] = sub_group_non_uniform_reduce_mul(x | 1);
        r[2] = sub_group_non_uniform_reduce_min(x);
        r[3] = sub_group_non_uniform_reduce_max(x);
        r[4] = sub_group_non_uniform_reduce_and(x);
        r[5] = sub_group_non_uniform_reduce_or(x);
        r[6] = sub_group_non_uniform_reduce_xor(x);
        r[7] = sub_group_non_uniform_scan_inclusive_add(x);
        r[8] = sub_group_non_uniform_scan_exclusive_add(x);
        r[9] = sub_group_non_uniform_scan_exclusive_min(x);
        r[10] = sub_group_non_uniform_scan_inclusive_max(x);
        r[11] = sub_group_non_uniform_scan_inclusive_xor(x);
        r[12] = (int)sub_group_non_uniform_reduce_add((float)x);
        r[13] = (int)(sub_group_non_uniform_scan_exclusive_add((long)x << 32) >> 32);
    } else {
        r[0] = sub_group_non_uniform_reduce_add(x);
        r[9] = sub_group_non_uniform_scan_exclusive_min(x);
    }
    const int step = first_arm(lane) ? 1 : 9; // the other arm has two
#pragma unroll 1
    for (int i = 0; i < 14; i += step)
        ok |= (r[i] == expected(rows[i][0], first_arm(lane), rows[i][1] == 0 ? size : lane + 2 - rows[i][1])) << i;
    out[get_global_id(0)] = ok;
}

kernel void voted(global int *out) {
    const uint lane = get_sub_group_local_id(), size = get_sub_group_size();
    int ok = 0;
    if (lane >= 3) {
        ok = sub_group_non_uniform_all(lane >= 3) != 0;
        ok |= (sub_group_non_uniform_any(lane < 3) == 0) << 1;
        ok |= (sub_group_non_uniform_all_equal(lane) == (size == 4)) << 2;
        ok |= ((sub_group_elect() != 0) == (lane == 3)) << 3;
        ok |= (sub_group_broadcast_first(lane) == 3) << 4;
    } else {
        ok = sub_group_ballot(1).x == (1u << min(size, 3u)) - 1 ? 31 : -1;
    }
    out[get_global_id(0)] = ok;
}

// In turn k those with a larger number are left.
kernel void loops(global int *out) {
    const uint lane = get_sub_group_local_id(), size = get_sub_group_size();
    int wrong = 0;
    for (uint k = 0; k < lane; k++) wrong += sub_group_non_uniform_reduce_add(1u) != size - 1 - k;
    out[get_global_id(0)] = wrong;
}

kernel void returns(global int *out) {
    const uint lane = get_sub_group_local_id(), size = get_sub_group_size();
    out[get_global_id(0)] = -1;
    if (lane & 1) return;
    out[get_global_id(0)] = sub_group_non_uniform_scan_inclusive_add(1u) == lane / 2 + 1 &&
                            sub_group_non_uniform_reduce_add(1u) == (size + 1) / 2;
}
