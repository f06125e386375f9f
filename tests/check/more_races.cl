// Patterns of others, written anew: what memcheck, racecheck, initcheck and synccheck are for (NVIDIA), GPUVerify's examples, DataRaceBench and
// Indigo, each beside a twin that is right.
// kernel: neighbour_sum
// global: 64
// local: 32
// arg: buf:int:65
// kernel: neighbour_twice
// global: 64
// local: 32
// arg: buf:int:65
// arg: buf:int:64
// kernel: even_odd
// global: 32
// local: 32
// arg: buf:int:33
// kernel: even_odd_groups
// global: 64
// local: 32
// arg: buf:int:65
// kernel: one_counter
// global: 64
// local: 32
// arg: buf:int:1
// kernel: histogram_private
// global: 64
// local: 32
// arg: buf:int:64
// arg: buf:int:4
// kernel: histogram_unready
// global: 64
// local: 32
// arg: buf:int:64
// arg: buf:int:4
// kernel: bytes_apart
// global: 32
// local: 32
// arg: buf:uchar:32
// kernel: bits_together
// global: 32
// local: 32
// arg: buf:uint:1
// kernel: bits_atomic
// global: 32
// local: 32
// arg: buf:uint:1
// kernel: permutation
// global: 32
// local: 32
// arg: buf:int:32=5,3,1,0,2,4,7,6,9,8,11,10,13,12,15,14,17,16,19,18,21,20,23,22,25,24,27,26,29,28,31,30
// arg: buf:int:32
// kernel: not_a_permutation
// global: 32
// local: 32
// arg: buf:int:32=5,3,1,0,2,4,7,6,9,8,11,10,13,12,15,14,17,16,19,18,21,20,23,22,25,24,27,26,29,28,31,5
// arg: buf:int:32
// kernel: barrier_in_wrong_space
// global: 32
// local: 32
// arg: buf:int:32
// kernel: ping_pong
// global: 32
// local: 32
// arg: buf:int:32
// kernel: ping_pong_in_place
// global: 32
// local: 32
// arg: buf:int:32
// kernel: flag_without_fence
// global: 2
// local: 1
// arg: buf:int:1
// arg: buf:int:1
// arg: buf:int:1
// kernel: flag_with_release
// global: 2
// local: 1
// arg: buf:int:1
// arg: buf:int:1
// arg: buf:int:1
// kernel: flag_of_group_scope
// global: 2
// local: 1
// arg: buf:int:1
// arg: buf:int:1
// arg: buf:int:1
// kernel: flag_relaxed
// global: 2
// local: 1
// arg: buf:int:1
// arg: buf:int:1
// arg: buf:int:1
// kernel: last_group_done
// global: 64
// local: 16
// arg: buf:int:4
// arg: buf:int:1
// arg: buf:int:1
// kernel: last_group_unfenced
// global: 64
// local: 16
// arg: buf:int:4
// arg: buf:int:1
// arg: buf:int:1
// kernel: counter_of_groups_unready
// global: 64
// local: 16
// arg: buf:int:64
// kernel: counter_of_group
// global: 64
// local: 16
// arg: buf:int:64
// kernel: counter_read_too_early
// global: 64
// local: 16
// arg: buf:int:64
kernel void neighbour_sum(global int *x) {
    int i = get_global_id(0);
    x[i] = x[i] + x[i + 1]; // finds: race
}
kernel void neighbour_twice(global const int *x, global int *y) {
    int i = get_global_id(0);
    y[i] = x[i] + x[i + 1];
}
kernel void even_odd(global int *x) {
    int i = get_global_id(0);
    if (i % 2 == 0) x[i] = x[i + 1];
    barrier(CLK_GLOBAL_MEM_FENCE);
    if (i % 2) x[i] = x[i + 1];
}
kernel void even_odd_groups(global int *x) {
    int i = get_global_id(0);
    if (i % 2 == 0) x[i] = x[i + 1];
    barrier(CLK_GLOBAL_MEM_FENCE);
    if (i % 2) x[i] = x[i + 1]; // finds: race
}
kernel void one_counter(global int *x) {
    x[0]++; // finds: race
}
kernel void histogram_private(global const int *x, global int *bins) {
    local int own[4];
    int l = get_local_id(0);
    if (l < 4) own[l] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    atomic_inc(&own[x[get_global_id(0)] & 3]);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (l < 4) atomic_add(&bins[l], own[l]);
}
kernel void histogram_unready(global const int *x, global int *bins) {
    local int own[4];
    int l = get_local_id(0);
    if (l < 4) own[l] = 0;
    atomic_inc(&own[x[get_global_id(0)] & 3]); // finds: race
    barrier(CLK_LOCAL_MEM_FENCE);
    if (l < 4) atomic_add(&bins[l], own[l]);
}
kernel void bytes_apart(global uchar *x) {
    x[get_global_id(0)] = get_global_id(0);
}
kernel void bits_together(global uint *x) {
    int i = get_global_id(0);
    x[0] |= 1u << i; // finds: race
}
kernel void bits_atomic(global uint *x) {
    atomic_or(x, 1u << get_global_id(0));
}
kernel void permutation(global const int *to, global int *x) {
    x[to[get_global_id(0)]] = get_global_id(0);
}
kernel void not_a_permutation(global const int *to, global int *x) {
    x[to[get_global_id(0)]] = get_global_id(0); // finds: race
}
kernel void barrier_in_wrong_space(global int *x) {
    int l = get_local_id(0);
    x[l] = l;
    barrier(CLK_LOCAL_MEM_FENCE);
    int v = x[31 - l]; // finds: race
    barrier(CLK_GLOBAL_MEM_FENCE);
    x[l] = v;
}
kernel void ping_pong(global int *x) {
    local int a[32], b[32];
    int l = get_local_id(0);
    local int *from = a, *to = b;
    from[l] = x[l];
    for (int step = 0; step < 4; step++) {
        barrier(CLK_LOCAL_MEM_FENCE);
        to[l] = from[(l + 1) % 32];
        local int *swap = from;
        from = to;
        to = swap;
    }
    x[l] = from[l];
}
kernel void ping_pong_in_place(global int *x) {
    local int a[32];
    int l = get_local_id(0);
    a[l] = x[l];
    for (int step = 0; step < 4; step++) {
        barrier(CLK_LOCAL_MEM_FENCE);
        a[l] = a[(l + 1) % 32]; // finds: race
    }
    x[l] = a[l];
}
kernel void flag_without_fence(global int *data, volatile global int *flag, global int *out) {
    if (get_group_id(0) == 0) {
        data[0] = 42;
        atomic_xchg(flag, 1);
    } else if (atomic_add(flag, 0)) {
        out[0] = data[0]; // finds: race
    }
}
kernel void flag_with_release(global int *data, global atomic_int *flag, global int *out) {
    if (get_group_id(0) == 0) {
        data[0] = 42;
        atomic_store_explicit(flag, 1, memory_order_release, memory_scope_device);
    } else if (atomic_load_explicit(flag, memory_order_acquire, memory_scope_device)) {
        out[0] = data[0];
    }
}
kernel void flag_of_group_scope(global int *data, global atomic_int *flag, global int *out) {
    if (get_group_id(0) == 0) {
        data[0] = 42;
        atomic_store_explicit(flag, 1, memory_order_release, memory_scope_work_group);
    } else if (atomic_load_explicit(flag, memory_order_acquire, memory_scope_work_group)) { // finds: race
        out[0] = data[0]; // finds: race
    }
}
kernel void flag_relaxed(global int *data, global atomic_int *flag, global int *out) {
    if (get_group_id(0) == 0) {
        data[0] = 42;
        atomic_store_explicit(flag, 1, memory_order_relaxed, memory_scope_device);
    } else if (atomic_load_explicit(flag, memory_order_relaxed, memory_scope_device)) {
        out[0] = data[0]; // finds: race
    }
}
kernel void last_group_done(global int *partial, global atomic_int *done, global int *out) {
    local int is_last;
    int g = get_group_id(0);
    if (get_local_id(0) == 0) {
        partial[g] = g;
        atomic_work_item_fence(CLK_GLOBAL_MEM_FENCE, memory_order_release, memory_scope_device);
        is_last = atomic_fetch_add_explicit(done, 1, memory_order_relaxed, memory_scope_device) == 3;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (is_last && get_local_id(0) == 0) {
        atomic_work_item_fence(CLK_GLOBAL_MEM_FENCE, memory_order_acquire, memory_scope_device);
        int sum = 0;
        for (int i = 0; i < 4; i++) sum += partial[i];
        out[0] = sum;
    }
}
kernel void last_group_unfenced(global int *partial, global atomic_int *done, global int *out) {
    if (get_local_id(0)) return;
    int g = get_group_id(0);
    partial[g] = g;
    if (atomic_fetch_add_explicit(done, 1, memory_order_relaxed, memory_scope_device) == 3) {
        int sum = 0;
        for (int i = 0; i < 4; i++) sum += partial[i]; // finds: race
        out[0] = sum;
    }
}
kernel void counter_of_groups_unready(global int *x) {
    if (get_global_id(0) == 0) x[0] = 0;
    barrier(CLK_GLOBAL_MEM_FENCE);
    atomic_inc(x); // finds: race
}
kernel void counter_of_group(global int *x) {
    local int n;
    if (get_local_id(0) == 0) n = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    atomic_inc(&n);
    barrier(CLK_LOCAL_MEM_FENCE);
    x[get_global_id(0)] = n;
}
kernel void counter_read_too_early(global int *x) {
    local int n;
    if (get_local_id(0) == 0) n = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    atomic_inc(&n);
    x[get_global_id(0)] = n; // finds: race
}
