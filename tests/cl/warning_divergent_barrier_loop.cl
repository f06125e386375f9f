// A loop that each work-item runs as often as its own id says: its barrier is warned of, those in a loop of a uniform
// length and in a branch on the group's id are not.
// skip: cuda it runs the barrier that it warns of, which may hang
// skip: vulkan it runs the barrier that it warns of, which may hang
// skip: opencl it runs the barrier that it warns of, which hangs on PoCL
// skip: webgpu WGSL wants barriers where it shows that all work-items come by
// warning: 18: barrier
// kernel: run
// global: 4
// local: 4
// arg: buf:int:4
// expect: 0, 1, 2, 3
// arg: int:2
kernel void run(global int *p, int n) {
    int mine = get_local_id(0), rounds = n;
    if (get_group_id(0) == 0) barrier(CLK_LOCAL_MEM_FENCE);
    for (int i = 0; i < rounds; i++) barrier(CLK_LOCAL_MEM_FENCE);
    for (int i = 0; i < mine; i++) barrier(CLK_LOCAL_MEM_FENCE); // finds: divergence
    p[mine] = mine;
}
