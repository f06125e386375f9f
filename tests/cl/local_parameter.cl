// __local parameters sized by the host; two of them do not overlap.
// kernel: run
// global: 4
// local: 4
// arg: local:16
// arg: local:32
// arg: buf:int:4
// expect: 30, 21, 12, 3
kernel void run(local int *a, local long *b, global int *out) {
    int l = get_local_id(0);
    a[l] = l;
    b[l] = l * 10;
    barrier(CLK_LOCAL_MEM_FENCE);
    out[l] = a[l] + (int)b[3 - l];
}
