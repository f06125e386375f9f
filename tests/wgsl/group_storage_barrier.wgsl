// storageBarrier orders what a group's work-items write to a buffer.
// kernel: main
// global: 8
// arg: buf:int:8
// expect: 3, 2, 1, 0, 7, 6, 5, 4
// arg: buf:int:8
// expect: 0, 1, 2, 3, 4, 5, 6, 7
@group(0) @binding(0) var<storage, read_write> out: array<i32>;
@group(0) @binding(1) var<storage, read_write> between: array<i32>;
@compute @workgroup_size(4)
fn main(@builtin(global_invocation_id) id: vec3u, @builtin(local_invocation_id) local: vec3u) {
    between[id.x] = i32(id.x);
    storageBarrier();
    out[id.x] = between[id.x - local.x + 3 - local.x];
}
