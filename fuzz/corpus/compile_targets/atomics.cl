//~ 1 1f0 8 -cl-std=CL3.0
kernel void atomics(global int *x, global atomic_float *f, local uint *l, global long *w) {
    atomic_add(x, 1);
    atomic_cmpxchg(&x[1], 2, 3);
    l[get_local_id(0)] = atomic_max(&x[2], (int)get_local_id(0));
    mem_fence(CLK_LOCAL_MEM_FENCE);
    atomic_fetch_add_explicit(f, 1.0f, memory_order_relaxed, memory_scope_device);
    x[3] = atomic_inc(l) + sub_group_shuffle(x[4], 3) + sub_group_ballot(x[5] > 0).x;
    w[0] = (w[1] << 3) + (w[2] & 255) * w[3];
}
