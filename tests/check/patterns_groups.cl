// What groups do together: scans, sorts, transposes, double buffers, warps that are taken to be in step; after GPUVerify's and
// racecheck's examples.
// kernel: scan_unsafe, scan_safe, in_step, by_sub_group
// global: 32
// local: 32
// arg: buf:int:32=1
// kernel: bitonic_unsafe, bitonic_safe
// global: 32
// local: 32
// arg: buf:int:32=9,3,7,1
// kernel: transpose_unsafe, transpose_safe
// global: 8, 8
// local: 8, 8
// arg: buf:int:64=1,2,3
// kernel: one_buffer, two_buffers
// global: 16
// local: 16
// arg: buf:int:64=1,2,3
// kernel: two_sub_groups
// global: 64
// local: 64
// arg: buf:int:64=1
// kernel: leader_unsafe, leader_safe, copy_unwaited, copy_waited, reused_too_early, reused
// global: 16
// local: 16
// arg: buf:int:16
kernel void scan_unsafe(global int *x) {
    local int t[32];
    int l = get_local_id(0);
    t[l] = x[l];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int d = 1; d < 32; d *= 2) {
        int more = l >= d ? t[l - d] : 0; // finds: race
        t[l] += more;
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    x[l] = t[l];
}
kernel void scan_safe(global int *x) {
    local int t[32];
    int l = get_local_id(0);
    t[l] = x[l];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int d = 1; d < 32; d *= 2) {
        int more = l >= d ? t[l - d] : 0;
        barrier(CLK_LOCAL_MEM_FENCE);
        t[l] += more;
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    x[l] = t[l];
}
static void order(local int *t, int a, int b, bool up) {
    int x = t[a], y = t[b];
    if ((x > y) == up) t[a] = y, t[b] = x; // finds: race
}
kernel void bitonic_unsafe(global int *x) {
    local int t[32];
    int l = get_local_id(0);
    t[l] = x[l];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int k = 2; k <= 32; k *= 2) {
        for (int j = k / 2; j > 0; j /= 2)
            if ((l ^ j) > l) order(t, l, l ^ j, (l & k) == 0);
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    x[l] = t[l];
}
static void order_safely(local int *t, int a, int b, bool up) {
    int x = t[a], y = t[b];
    if ((x > y) == up) t[a] = y, t[b] = x;
}
kernel void bitonic_safe(global int *x) {
    local int t[32];
    int l = get_local_id(0);
    t[l] = x[l];
    for (int k = 2; k <= 32; k *= 2)
        for (int j = k / 2; j > 0; j /= 2) {
            barrier(CLK_LOCAL_MEM_FENCE);
            if ((l ^ j) > l) order_safely(t, l, l ^ j, (l & k) == 0);
        }
    barrier(CLK_LOCAL_MEM_FENCE);
    x[l] = t[l];
}
kernel void transpose_unsafe(global int *x) {
    int c = get_local_id(0), r = get_local_id(1);
    int v = x[r * 8 + c]; // finds: race
    x[c * 8 + r] = v;
}
kernel void transpose_safe(global int *x) {
    local int t[8][9];
    int c = get_local_id(0), r = get_local_id(1);
    t[r][c] = x[r * 8 + c];
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    x[r * 8 + c] = t[c][r];
}
kernel void one_buffer(global int *x) {
    local int t[16];
    int l = get_local_id(0), sum = 0;
    for (int k = 0; k < 4; k++) {
        t[l] = x[k * 16 + l]; // finds: race
        barrier(CLK_LOCAL_MEM_FENCE);
        sum += t[(l + 1) & 15];
    }
    x[l] = sum;
}
kernel void two_buffers(global int *x) {
    local int t[2][16];
    int l = get_local_id(0), sum = 0;
    for (int k = 0; k < 4; k++) {
        t[k & 1][l] = x[k * 16 + l];
        barrier(CLK_LOCAL_MEM_FENCE);
        sum += t[k & 1][(l + 1) & 15];
    }
    x[l] = sum;
}
// A sub-group runs in step on the hardware, but the language does not say so.
kernel void in_step(global int *x) {
    volatile local int t[64];
    int l = get_local_id(0);
    t[l] = x[l], t[l + 32] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int d = 16; d > 0; d /= 2)
        if (l < d) t[l] += t[l + d]; // finds: race
    if (l == 0) x[0] = t[0];
}
kernel void by_sub_group(global int *x) {
    local int t[64];
    int l = get_local_id(0);
    t[l] = x[l], t[l + 32] = 0;
    for (int d = 16; d > 0; d /= 2) {
        sub_group_barrier(CLK_LOCAL_MEM_FENCE);
        int more = t[l + d];
        sub_group_barrier(CLK_LOCAL_MEM_FENCE);
        t[l] += more;
    }
    if (l == 0) x[0] = t[0];
}
kernel void two_sub_groups(global int *x) {
    local int t[64];
    int l = get_local_id(0);
    t[l] = x[l];
    sub_group_barrier(CLK_LOCAL_MEM_FENCE);
    x[l] = t[63 - l]; // finds: race
}
kernel void leader_unsafe(global int *x) {
    local int chosen;
    int l = get_local_id(0);
    if (l == 0) chosen = x[3];
    x[l] = chosen; // finds: race
}
kernel void leader_safe(global int *x) {
    local int chosen;
    int l = get_local_id(0);
    if (l == 0) chosen = x[3];
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    x[l] = chosen;
}
kernel void copy_unwaited(global int *x) {
    local int t[16];
    int l = get_local_id(0);
    async_work_group_copy(t, x, 16, 0);
    x[l] = t[15 - l]; // finds: race, race
}
kernel void copy_waited(global int *x) {
    local int t[16];
    int l = get_local_id(0);
    event_t e = async_work_group_copy(t, x, 16, 0);
    wait_group_events(1, &e);
    x[l] = t[15 - l];
}
kernel void reused_too_early(global int *x) {
    local int t[16];
    int l = get_local_id(0);
    t[l] = x[l];
    barrier(CLK_LOCAL_MEM_FENCE);
    int other = t[15 - l]; // finds: race
    t[l] = other * 2;
    x[l] = t[l];
}
kernel void reused(global int *x) {
    local int t[16];
    int l = get_local_id(0);
    t[l] = x[l];
    barrier(CLK_LOCAL_MEM_FENCE);
    int other = t[15 - l];
    barrier(CLK_LOCAL_MEM_FENCE);
    t[l] = other * 2;
    x[l] = t[l];
}
