// Patterns of others, written anew: what memcheck, racecheck, initcheck and synccheck are for (NVIDIA), GPUVerify's examples, DataRaceBench and
// Indigo, each beside a twin that is right.
// options: -w
// kernel: barrier_in_both
// global: 32
// local: 32
// arg: buf:int:32
// kernel: barrier_in_uneven_loop
// global: 32
// local: 32
// arg: buf:int:32
// kernel: barrier_by_group
// global: 64
// local: 32
// arg: buf:int:64
// kernel: barrier_behind_break
// global: 32
// local: 32
// arg: buf:int:32=1,1,1,0
// kernel: collective_in_branch
// global: 32
// local: 32
// arg: buf:int:32
// kernel: vote_by_all
// global: 32
// local: 32
// arg: buf:int:32
// kernel: partial_array
// global: 4
// local: 4
// arg: buf:int:4
// kernel: max_of_nothing
// global: 4
// local: 4
// arg: buf:int:4=0,0,3,0
// kernel: padding_copied
// global: 4
// local: 4
// arg: buf:int:16
// kernel: local_halo
// global: 16
// local: 16
// arg: buf:int:16
// kernel: local_halo_filled
// global: 16
// local: 16
// arg: buf:int:16
// kernel: unset_masked
// global: 4
// local: 4
// arg: buf:uint:4
// kernel: unset_index
// global: 4
// local: 4
// arg: buf:int:4
// kernel: average_of_none
// global: 4
// local: 4
// arg: buf:int:4=1,0,2,3
// kernel: least_by_minus_one
// global: 4
// local: 4
// arg: buf:int:4=-2147483648,1,2,3
// kernel: large_to_int
// global: 4
// local: 4
// arg: buf:float:4=1,3e9,-3e9,2
// arg: buf:int:4
// kernel: large_saturated
// global: 4
// local: 4
// arg: buf:float:4=1,3e9,-3e9,2
// arg: buf:int:4
// kernel: negative_to_uchar
// global: 4
// local: 4
// arg: buf:float:4=1,-2,255.5,256
// arg: buf:uchar:4
// kernel: unsigned_countdown
// global: 1
// local: 1
// arg: buf:int:4
// kernel: spin_in_group
// global: 2
// local: 2
// arg: buf:int:2
kernel void barrier_in_both(global int *x) {
    int l = get_local_id(0);
    if (l < 16) {
        x[l] = 1;
        barrier(CLK_GLOBAL_MEM_FENCE); // finds: divergence
    } else {
        x[l] = 2;
        barrier(CLK_GLOBAL_MEM_FENCE); // finds: divergence
    }
}
kernel void barrier_in_uneven_loop(global int *x) {
    int l = get_local_id(0);
    for (int k = 0; k < l % 3; k++) {
        x[l] += k;
        barrier(CLK_GLOBAL_MEM_FENCE); // finds: divergence
    }
}
kernel void barrier_by_group(global int *x) {
    int i = get_global_id(0);
    if (get_group_id(0) == 1) {
        x[i] = 1;
        barrier(CLK_GLOBAL_MEM_FENCE);
        x[95 - i] += 1;
    }
}
kernel void barrier_behind_break(global int *x) {
    int l = get_local_id(0);
    for (int k = 0; k < 2; k++) {
        if (x[l] == 0) break;
        barrier(CLK_LOCAL_MEM_FENCE); // finds: divergence
    }
}
kernel void collective_in_branch(global int *x) {
    int l = get_local_id(0);
    if (l != 5) x[l] = work_group_reduce_add(l); // finds: divergence
}
kernel void vote_by_all(global int *x) {
    int l = get_local_id(0);
    if (work_group_any(l == 5)) {
        x[l] = work_group_reduce_add(l);
        barrier(CLK_GLOBAL_MEM_FENCE);
    }
}
kernel void partial_array(global int *x) {
    int t[4], i = get_global_id(0);
    for (int k = 0; k < 3; k++) t[k] = k;
    x[i] = t[i]; // finds: uninitialised
}
kernel void max_of_nothing(global int *x) {
    int best, i = get_global_id(0);
    for (int k = 0; k < x[i]; k++) best = k;
    barrier(CLK_GLOBAL_MEM_FENCE);
    x[i] = best; // finds: uninitialised
}
typedef struct padded {
    char c;
    int n;
} padded;
kernel void padding_copied(global int *x) {
    padded p, q;
    p.c = 1;
    p.n = 2;
    q = p;
    x[get_global_id(0)] = q.c + q.n;
}
kernel void local_halo(global int *x) {
    local int t[18];
    int l = get_local_id(0);
    t[l + 1] = x[l];
    barrier(CLK_LOCAL_MEM_FENCE);
    x[l] = t[l] + t[l + 2]; // finds: uninitialised
}
kernel void local_halo_filled(global int *x) {
    local int t[18];
    int l = get_local_id(0);
    t[l + 1] = x[l];
    if (l == 0) t[0] = t[17] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    x[l] = t[l] + t[l + 2];
}
kernel void unset_masked(global uint *x) {
    uint flags;
    flags = (flags & ~0xffu) | 3;
    x[get_global_id(0)] = flags & 0xff;
}
kernel void unset_index(global int *x) {
    int at;
    if (get_global_id(0) > 0) at = 1;
    if (x[at & 3] == 9) x[0] = 1; // finds: uninitialised
}
kernel void average_of_none(global int *x) {
    int i = get_global_id(0);
    x[i] = 100 / x[i]; // finds: division
}
kernel void least_by_minus_one(global int *x) {
    int i = get_global_id(0);
    x[i] = x[i] % -(i < 4); // finds: division
}
kernel void large_to_int(global const float *x, global int *y) {
    int i = get_global_id(0);
    y[i] = (int)x[i]; // finds: conversion
}
kernel void large_saturated(global const float *x, global int *y) {
    int i = get_global_id(0);
    y[i] = convert_int_sat(x[i]);
}
kernel void negative_to_uchar(global const float *x, global uchar *y) {
    int i = get_global_id(0);
    y[i] = (uchar)x[i]; // finds: conversion
}
kernel void unsigned_countdown(global int *x) {
    for (uint k = 3; k >= 0; k--) x[k & 3] = 1; // finds: runaway
}
kernel void spin_in_group(volatile global int *lock) {
    while (atomic_cmpxchg(lock, 0, 1)) { // finds: runaway
    }
    lock[1]++;
    if (get_global_id(0) > 5) atomic_xchg(lock, 0);
}
