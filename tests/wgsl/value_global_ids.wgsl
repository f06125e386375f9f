// The identities of a work-item in three dimensions.
// kernel: main
// global: 4, 2, 2
// arg: buf:uint:16
// expect: 0, 1, 2, 3, 10, 11, 12, 13, 100, 101, 102, 103, 110, 111, 112, 113
@group(0) @binding(0) var<storage, read_write> out: array<u32>;
@compute @workgroup_size(2, 1, 2)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    out[id.x + 4 * (id.y + 2 * id.z)] = id.x + 10 * id.y + 100 * id.z;
}
