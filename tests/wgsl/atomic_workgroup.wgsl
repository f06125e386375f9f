// Atomics in work-group memory: a histogram of a group, merged into the buffer's.
// skip: wgpu leaves zeros of work-group memory to lavapipe 22.3, which does not write them
// kernel: main
// global: 64
// arg: buf:uint:4
// expect: 16, 16, 16, 16
@group(0) @binding(0) var<storage, read_write> out: array<atomic<u32>, 4>;
var<workgroup> bins: array<atomic<u32>, 4>;
@compute @workgroup_size(32)
fn main(@builtin(global_invocation_id) id: vec3u, @builtin(local_invocation_index) i: u32) {
    atomicAdd(&bins[(id.x * 7) % 4], 1);
    workgroupBarrier();
    if i < 4 { atomicAdd(&out[i], atomicLoad(&bins[i])); }
}
