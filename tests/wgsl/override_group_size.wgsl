// The size of the work-group, and that of an array of its memory, by override constants.
// kernel: reverse
// global: 8
// local: 4
// arg: buf:int:8=1, 2, 3, 4, 5, 6, 7, 8
// expect: 4, 3, 2, 1, 8, 7, 6, 5
// kernel: reverse
// options: -D size=8
// global: 8
// local: 8
// arg: buf:int:8=1, 2, 3, 4, 5, 6, 7, 8
// expect: 8, 7, 6, 5, 4, 3, 2, 1
override size = 4;
@group(0) @binding(0) var<storage, read_write> data: array<i32>;
var<workgroup> tile: array<i32, size>;
@compute @workgroup_size(size)
fn reverse(@builtin(global_invocation_id) id: vec3u, @builtin(local_invocation_index) local: u32) {
    tile[local] = data[id.x];
    workgroupBarrier();
    data[id.x] = tile[size - 1 - i32(local)];
}
