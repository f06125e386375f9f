// Barriers in a loop with a uniform bound: a sum by halves.
// kernel: main
// global: 32
// local: 16
// arg: buf:int:32=1
// arg: buf:int:2
// expect: 16, 16
@group(0) @binding(0) var<storage, read> data: array<i32>;
@group(0) @binding(1) var<storage, read_write> out: array<i32>;
const size = 16u;
var<workgroup> tile: array<i32, size>;
@compute @workgroup_size(size)
fn main(@builtin(global_invocation_id) id: vec3u, @builtin(local_invocation_index) i: u32,
        @builtin(workgroup_id) group: vec3u) {
    tile[i] = data[id.x];
    workgroupBarrier();
    for (var half_ = size / 2; half_ > 0; half_ /= 2) {
        if i < half_ { tile[i] += tile[i + half_]; }
        workgroupBarrier();
    }
    if i == 0 { out[group.x] = tile[0]; }
}
