// Memory that nobody has written, where it matters: branches, addresses, outputs. What is not used, or comes to nothing, is fine.
// kernel: branch, output, index
// global: 4
// arg: buf:int:4
// arg: int:0
// kernel: branch_set
// global: 4
// arg: buf:int:4
// arg: int:1
// kernel: local_cell, local_set
// global: 4
// local: 4
// arg: buf:int:4
// kernel: array_part
// global: 4
// arg: buf:int:4
// arg: int:3
// kernel: masked, accumulator
// global: 4
// arg: buf:int:4
// kernel: lane, unused_lane
// global: 4
// arg: buf:float4:4
// kernel: again, again_array, again_called, again_struct
// global: 1
// arg: buf:int:8
// arg: int:8
// kernel: kept, set_again
// global: 1
// arg: buf:int:8
// arg: int:8
kernel void branch(global int *x, int set) {
    int v;
    if (set) v = 1;
    if (v > 0) x[get_global_id(0)] = 1; // finds: uninitialised
}
kernel void branch_set(global int *x, int set) {
    int v;
    if (set) v = 1;
    if (v > 0) x[get_global_id(0)] = 1;
}
kernel void output(global int *x, int set) {
    int v;
    if (set) v = 1;
    x[get_global_id(0)] = v * 2 + 1; // finds: uninitialised
}
kernel void index(global int *x, int set) {
    int v;
    if (set) v = 1;
    x[v & 3] = 1; // finds: uninitialised
}
kernel void local_cell(global int *x) {
    local int t[4];
    int l = get_local_id(0);
    if (l < 3) t[l] = l;
    barrier(CLK_LOCAL_MEM_FENCE);
    x[l] = t[l]; // finds: uninitialised
}
kernel void local_set(global int *x) {
    local int t[4];
    int l = get_local_id(0);
    t[3 - l] = l;
    barrier(CLK_LOCAL_MEM_FENCE);
    x[l] = t[l];
}
kernel void array_part(global int *x, int n) {
    int a[4], sum = 0;
    for (int i = 0; i < n; i++) a[i] = i;
    for (int i = 0; i < 4; i++) sum += a[i];
    x[get_global_id(0)] = sum; // finds: uninitialised
}
kernel void masked(global int *x) {
    local int t[4];
    int l = get_local_id(0);
    int low = t[l] & 0;
    x[l] = low | 1;
}
kernel void accumulator(global int *x) {
    int sum;
    for (int i = 0; i < 4; i++) sum += x[i];
    x[get_global_id(0)] = sum; // finds: uninitialised, race
}
kernel void lane(global float4 *x) {
    float4 v;
    v.xyz = (float3)(1, 2, 3);
    x[get_global_id(0)] = v; // finds: uninitialised
}
kernel void unused_lane(global float4 *x) {
    float4 v;
    v.xyz = (float3)(1, 2, 3);
    x[get_global_id(0)] = (float4)(v.xyz, 0);
}
// What a variable held in the iteration before is lost where it is declared again.
kernel void again(global int *x, int n) {
    for (int i = 0; i < n; i++) {
        int v;
        if (i % 2 == 0) v = i;
        x[i] = v; // finds: uninitialised
    }
}
kernel void again_array(global int *x, int n) {
    for (int i = 0; i < n; i++) {
        int a[4];
        if (i < 4) a[i] = i;
        x[i] = a[i & 3]; // finds: uninitialised
    }
}
int held(int i) {
    int v;
    if (i < 3) v = i;
    return v;
}
kernel void again_called(global int *x, int n) {
    int k = 0;
    while (k < n) {
        x[k] = held(k); // finds: uninitialised
        k++;
    }
}
typedef struct pair {
    int a, b;
} pair;
kernel void again_struct(global int *x, int n) {
    for (int i = 0; i < n; i++) {
        pair p;
        p.a = i;
        if (i != 5) p.b = i;
        x[i] = p.a + p.b; // finds: uninitialised
    }
}
kernel void kept(global int *x, int n) {
    int v, a[4];
    for (int i = 0; i < n; i++) {
        if (i % 2 == 0) v = i;
        if (i < 4) a[i] = i;
        x[i] = v + a[i & 3];
    }
}
kernel void set_again(global int *x, int n) {
    for (int i = 0; i < n; i++) {
        int v, a[2];
        pair p;
        for (int k = 0; k < 2; k++) a[k] = i + k;
        p.a = a[0];
        if (i & 1) v = 1;
        else v = 2;
        x[i] = v + p.a + a[1];
    }
}
