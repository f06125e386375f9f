// A barrier in a branch that depends on the work-item.
// warning: 7: barrier
// kernel: run
// arg: buf:int:1
// expect: 1
kernel void run(global int *p) {
    if (get_local_id(0) == 0) barrier(CLK_LOCAL_MEM_FENCE);
    p[0] = 1;
}
