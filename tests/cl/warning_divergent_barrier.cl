// A barrier in a branch that depends on the work-item.
// skip: webgpu WGSL wants barriers where it shows that all work-items come by
// warning: 8: barrier
// kernel: run
// arg: buf:int:1
// expect: 1
kernel void run(global int *p) {
    if (get_local_id(0) == 0) barrier(CLK_LOCAL_MEM_FENCE);
    p[0] = 1;
}
