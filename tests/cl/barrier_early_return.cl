// Work-items past the end return before a barrier that the others reach, as many real kernels do.
// skip: opencl PoCL 3.1 stops with a segmentation fault, with its own front end too
// skip: webgpu WGSL wants barriers where it shows that all work-items come by
// kernel: run
// global: 8
// local: 8
// arg: int:5
// arg: buf:int:8
// expect: 4, 3, 2, 1, 0, 0, 0, 0
kernel void run(int n, global int *out) {
    local int tile[8];
    int l = get_local_id(0);
    if (l >= n) return;
    tile[l] = l;
    barrier(CLK_LOCAL_MEM_FENCE); // finds: divergence
    out[l] = tile[n - 1 - l];
}
