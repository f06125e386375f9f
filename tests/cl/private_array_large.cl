// Private arrays too large for a C stack frame, alone and together, with what a work-item leaves in them and across a barrier.
// needs: private 33960
// kernel: alone
// global: 5
// arg: buf:int:5
// expect: 0, 4200, 8400, 12600, 16800
// arg: int:4200
// kernel: aligned
// global: 3
// arg: buf:int:6
// expect: 6, 0, 9, 0, 12, 0
// arg: int:3
// kernel: across
// global: 6
// local: 3
// arg: buf:int:6
// expect: 4202, 4201, 4200, 4202, 4201, 4200
// arg: int:4200
kernel void alone(global int *out, int n) {
    int a[4200], sum = 0, me = (int)get_global_id(0);
    for (int i = 0; i < n; i++) a[(i * 11) % 4200] = me + i;
    for (int i = 0; i < n; i++) sum += a[(i * 11) % 4200] - i;
    out[me] = sum;
}

kernel void aligned(global int *out, int n) {
    float8 v[530];
    int c[4250];
    int me = (int)get_global_id(0);
    for (int i = 0; i < n; i++) v[i * 7] = (float8)((float)(me + i + 1)), c[i * 5] = i;
    float sum = 0;
    for (int i = 0; i < n; i++) sum += v[i * 7].s5 + (float)(c[i * 5] - i);
    out[me * 2] = (int)sum;
    out[me * 2 + 1] = (int)((uintptr_t)&v[n] % sizeof(float8));
}

kernel void across(global int *out, int n) {
    local int last[3];
    int a[4200], me = (int)get_local_id(0);
    for (int i = 0; i < n; i++) a[(i * 13) % n] = i + me;
    last[me] = a[(n - 1) * 13 % n] + 1;
    barrier(CLK_LOCAL_MEM_FENCE);
    out[get_global_id(0)] = last[2 - me] + a[0] - me;
}
