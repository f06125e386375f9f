// A file with one generic pointer, which never lies in memory.
// options: -cl-std=CL2.0
// kernel: only
// global: 2
// local: 2
// arg: buf:int:2=1,2
// arg: local:8
// arg: buf:int:2
// expect: 1, 40
kernel void only(global const int *g, local int *l, global int *out) {
    const int i = get_local_id(0);
    l[i] = 40;
    barrier(CLK_LOCAL_MEM_FENCE);
    out[i] = *(i ? l : g);
}
