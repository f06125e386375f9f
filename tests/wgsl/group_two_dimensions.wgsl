// A transpose by way of a tile of work-group memory.
// kernel: transpose
// global: 8, 4
// arg: buf:int:32=0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27,
//      28, 29, 30, 31
// arg: buf:int:32
// expect: 0, 8, 16, 24, 1, 9, 17, 25, 2, 10, 18, 26, 3, 11, 19, 27, 4, 12, 20, 28, 5, 13, 21, 29, 6, 14, 22, 30, 7, 15,
//         23, 31
@group(0) @binding(0) var<storage, read> in: array<i32>;
@group(0) @binding(1) var<storage, read_write> out: array<i32>;
var<workgroup> tile: array<array<i32, 5>, 4>;
@compute @workgroup_size(4, 4)
fn transpose(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_id) local: vec3u) {
    tile[local.y][local.x] = in[local.y * 8 + group.x * 4 + local.x];
    workgroupBarrier();
    out[(group.x * 4 + local.y) * 4 + local.x] = tile[local.x][local.y];
}
