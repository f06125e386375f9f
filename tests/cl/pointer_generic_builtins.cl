// What takes a pointer takes a generic one whose address space is known at run time only: atomics, of private memory too,
// vector loads and stores, halves, maths functions with two results; and all kinds of members behind one.
// options: -cl-std=CL3.0
// kernel: counted
// global: 8
// local: 8
// arg: buf:int:3=100,5,0
// arg: local:12
// arg: buf:int:6
// expect: 110, 1, 4, 28, 0, 8
// kernel: exchanged
// global: 4
// local: 4
// arg: buf:uint:4=7,7,7,7
// arg: local:16
// arg: buf:uint:12
// expect: 9, 7, 9, 7, 7, 7, 7, 7, 1, 0, 1, 0
// kernel: vectors
// global: 2
// local: 2
// arg: buf:float:8=1,2,3,4,5,6,7,8
// arg: local:32
// arg: buf:float:12
// expect: 6, 66, 7, 77, 4, 44, 2, 3, 20, 30, 11, 16
// kernel: results
// global: 2
// local: 2
// arg: buf:float:2
// arg: local:8
// arg: buf:float:6
// expect: 0.25, 0.75, 2, 3, 1, -5
// kernel: members
// global: 3
// local: 3
// arg: buf:uint:12
// arg: buf:int:6
// expect: 111, 117, 123, 1, 1, 1
// kernel: both
// global: 2
// local: 2
// arg: buf:int:6=1,2,3,4,5,6
// arg: buf:int:6
// expect: 10, 20, 30, 1, 2, 3
kernel void counted(global int *g, local int *l, global int *out) {
    const int i = get_local_id(0);
    int own[3] = {i, i, i};
    if (i < 3) l[i] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    volatile int *p = i < 2 ? g : i < 6 ? l : own;
    atomic_add(p, 5);
    atomic_inc(p + 1);
    const int old = atomic_max(p + 2, i);
    int mine = 1, *q = &mine; /* known to be private */
    const int first = atomic_fetch_add((atomic_int *)q, i), second = atomic_inc(&mine);
    if (first != 1 || second != 1 + i || atomic_load((atomic_int *)q) != 2 + i) own[2] = 99;
    if (i >= 6) atomic_fetch_add_explicit((atomic_int *)p, old, memory_order_relaxed, memory_scope_work_group);
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    if (i == 0) {
        out[0] = g[0];
        out[1] = g[2];
        out[2] = l[1];
    }
    if (i == 7) {
        out[3] = 2 * own[0] - 10;
        out[4] = own[2] - i;
        out[5] = own[1];
    }
}

kernel void exchanged(global uint *g, local uint *l, global uint *out) {
    const int i = get_local_id(0);
    uint own = 7, expected = i & 1 ? 8 : 7, *want = &expected;
    l[i] = 7;
    barrier(CLK_LOCAL_MEM_FENCE);
    uint *p = i == 0 ? g : i == 1 ? l + 1 : i == 2 ? &own : g + 3;
    if (i == 3) want = l + 3;
    if (i == 3) l[3] = 8;
    const bool done = atomic_compare_exchange_strong((atomic_uint *)p, want, 9);
    out[i] = atomic_load((atomic_uint *)p);
    out[4 + i] = *want;
    out[8 + i] = done;
    atomic_store((atomic_uint *)p, 1);
    if (*p != 1 || atomic_exchange((atomic_uint *)p, 2) != 1 || *p != 2) out[8 + i] = 99;
}

kernel void vectors(global float *g, local float *l, global float *out) {
    const int i = get_local_id(0);
    for (int n = i; n < 8; n += 2) l[n] = 11 * (n + 1);
    barrier(CLK_LOCAL_MEM_FENCE);
    float *p = i ? l : g;
    const float3 v = vload3(0, p);
    out[i] = v.x + v.y + v.z;
    const float4 w = vload4(1, p);
    out[2 + i] = w.z;
    float4 *q = (float4 *)p;
    out[4 + i] = q->w;
    q[1].xz = (float2)(i ? 20 : 2, i ? 30 : 3);
    vstore2(p[4] > 0 ? q[1].xz : (float2)0, 3, p);
    out[6 + 2 * i] = p[6];
    out[7 + 2 * i] = p[7];
    half *h = (half *)(i ? (float *)l : (float *)g);
    vstore_half(i ? 16.f : 11.f, 1, h);
    out[10 + i] = vload_half(1, (const half *)h);
}

kernel void results(global float *g, local float *l, global float *out) {
    const int i = get_local_id(0);
    float *p = i ? l : g, own;
    float *both = i ? &own : g + 1;
    out[i] = fract(i ? 3.75f : 2.25f, p);
    out[2 + i] = *p;
    int exponent, shared = 0, *e = i ? &exponent : &shared;
    frexp(i ? 0.02f : 1.5f, e);
    out[4 + i] = *e;
    modf(1.5f, both);
    if (*both != 1) out[4 + i] = 99;
}

struct mixed {
    uint low : 5, high : 7;
    bool flag;
    uchar3 bytes;
    struct {
        short s[2];
    } inner;
};
kernel void members(global uint *g, global int *out) {
    local struct mixed shared;
    struct mixed own, *p;
    const int i = get_local_id(0);
    p = i == 0 ? (struct mixed *)(global struct mixed *)g : i == 1 ? &shared : &own;
    p->low = 1;
    p->high = 100;
    p->flag = i + 1;
    p->bytes = (uchar3)(1, 2, 3);
    p->bytes.y += 5 * i;
    p->inner.s[1] = -7;
    p->inner.s[1] += p->inner.s[1] * -2 + i;
    p->high += 1;
    out[i] = p->low + p->high + p->bytes.y + p->inner.s[1];
    out[3 + i] = p->flag;
    barrier(CLK_GLOBAL_MEM_FENCE);
    if (i < 3) g[i] = g[3 + i] = 0;
}

struct three {
    int a, b, c;
};
kernel void both(global int *g, global int *out) {
    local struct three shared;
    const int i = get_local_id(0);
    if (!i) shared = (struct three){10, 20, 30};
    barrier(CLK_LOCAL_MEM_FENCE);
    global struct three *far = (global struct three *)g;
    struct three own = {1, 2, 3}, *from = i ? &own : &shared, *to = i ? (struct three *)(far + 1) : (struct three *)far;
    *to = *from;
    out[3 * i] = to->a;
    out[3 * i + 1] = to->b;
    out[3 * i + 2] = to->c;
}
