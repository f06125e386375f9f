// Work-group memory is shared by the work-items of a group, apart from other groups'.
// kernel: main
// global: 8
// arg: buf:int:8=1, 2, 3, 4, 5, 6, 7, 8
// expect: 10, 10, 10, 10, 26, 26, 26, 26
@group(0) @binding(0) var<storage, read_write> data: array<i32>;
var<workgroup> tile: array<i32, 4>;
@compute @workgroup_size(4)
fn main(@builtin(global_invocation_id) id: vec3u, @builtin(local_invocation_index) i: u32) {
    tile[i] = data[id.x];
    workgroupBarrier();
    data[id.x] = tile[0] + tile[1] + tile[2] + tile[3];
}
