// Global memory: between groups, within one, beside atomics, and what orders it.
// kernel: shift_unsafe
// global: 64
// local: 16
// arg: buf:int:65
// kernel: shift_safe
// global: 64
// local: 16
// arg: buf:int:65
// arg: buf:int:65
// kernel: sum_unsafe
// global: 64
// local: 16
// arg: buf:int:1
// kernel: sum_safe
// global: 64
// local: 16
// arg: buf:int:1
// expect: 64
// kernel: across_groups, within_group
// global: 32
// local: 16
// arg: buf:int:32
// kernel: mixed
// global: 32
// local: 16
// arg: buf:int:2
// kernel: last_group_unfenced, last_group_fenced
// global: 32
// local: 8
// arg: buf:int:8
// arg: buf:int:1
// kernel: flag_first, flag_last
// global: 16
// local: 8
// arg: buf:int:2
// arg: buf:int:1
// kernel: narrow_scope, wide_scope
// global: 16
// local: 8
// arg: buf:int:1
kernel void shift_unsafe(global int *x) {
    int i = get_global_id(0);
    x[i] = x[i + 1]; // finds: race
}
kernel void shift_safe(global int *x, global int *y) {
    int i = get_global_id(0);
    y[i] = x[i + 1];
}
kernel void sum_unsafe(global int *sum) {
    *sum += get_global_id(0); // finds: race
}
kernel void sum_safe(global int *sum) {
    atomic_inc(sum);
}
kernel void across_groups(global int *x) {
    int i = get_global_id(0);
    x[i] = i;
    barrier(CLK_GLOBAL_MEM_FENCE);
    x[i] += x[31 - i]; // finds: race
}
kernel void within_group(global int *x) {
    int i = get_global_id(0), l = get_local_id(0);
    x[i] = i;
    barrier(CLK_GLOBAL_MEM_FENCE);
    int other = x[i - l + 15 - l];
    barrier(CLK_GLOBAL_MEM_FENCE);
    x[i] += other;
}
kernel void mixed(global int *x) {
    atomic_inc(&x[0]);
    if (get_global_id(0) == 31) x[1] = x[0]; // finds: race
}
// The last group to come sums what all have left.
kernel void last_group_unfenced(global int *parts, volatile global int *come) {
    if (get_local_id(0)) return;
    parts[get_group_id(0)] = get_group_id(0);
    if (atomic_inc(come) == (int)get_num_groups(0) - 1) {
        int sum = 0;
        for (int g = 0; g < (int)get_num_groups(0); g++) sum += parts[g]; // finds: race
        parts[7] = sum;
    }
}
kernel void last_group_fenced(global int *parts, volatile global int *come) {
    if (get_local_id(0)) return;
    parts[get_group_id(0)] = get_group_id(0);
    mem_fence(CLK_GLOBAL_MEM_FENCE);
    if (atomic_inc(come) == (int)get_num_groups(0) - 1) {
        int sum = 0;
        mem_fence(CLK_GLOBAL_MEM_FENCE);
        for (int g = 0; g < (int)get_num_groups(0); g++) sum += parts[g];
        parts[7] = sum;
    }
}
// A group tells another one that a value is there.
kernel void flag_first(global int *x, global atomic_int *flag) {
    if (get_local_id(0)) return;
    if (get_group_id(0) == 0) {
        atomic_store_explicit(flag, 1, memory_order_release, memory_scope_device);
        x[0] = 5;
    } else if (atomic_load_explicit(flag, memory_order_acquire, memory_scope_device)) {
        x[1] = x[0]; // finds: race
    }
}
kernel void flag_last(global int *x, global atomic_int *flag) {
    if (get_local_id(0)) return;
    if (get_group_id(0) == 0) {
        x[0] = 5;
        atomic_store_explicit(flag, 1, memory_order_release, memory_scope_device);
    } else if (atomic_load_explicit(flag, memory_order_acquire, memory_scope_device)) {
        x[1] = x[0];
    }
}
kernel void narrow_scope(global atomic_int *x) {
    atomic_fetch_add_explicit(x, 1, memory_order_relaxed, memory_scope_work_group); // finds: race
}
kernel void wide_scope(global atomic_int *x) {
    atomic_fetch_add_explicit(x, 1, memory_order_relaxed, memory_scope_device);
}
