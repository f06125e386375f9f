// The work-group's size by constant expressions.
// kernel: main
// global: 12
// arg: buf:uint:12
// expect: 0, 1, 2, 3, 4, 5
@group(0) @binding(0) var<storage, read_write> out: array<u32>;
const half_ = 3;
@compute @workgroup_size(6, 1, 1)
fn main(@builtin(global_invocation_id) id: vec3u, @builtin(local_invocation_index) i: u32) {
    const size = half_ * 2;
    out[id.x] = i * u32(size == 6);
}
