// Inclusive prefix sums of each work-group, by doubled distances and two buffers in turn.
// kernel: main
// global: 24
// arg: buf:int:24=-4, 9, 7, 4, 0, 8, -1, -9, -3, -4, 9, 5, -4, -2, -4, -8, 6, -2, -4, -8, -5, -6, 1, -4
// arg: buf:int:24
// expect: -4, 5, 12, 16, 16, 24, 23, 14, -3, -7, 2, 7, 3, 1, -3, -11, 6, 4, 0, -8, -13, -19, -18, -22
@group(0) @binding(0) var<storage, read> in: array<i32>;
@group(0) @binding(1) var<storage, read_write> out: array<i32>;
var<workgroup> sums: array<array<i32, 8>, 2>;
@compute @workgroup_size(8)
fn main(@builtin(global_invocation_id) id: vec3u, @builtin(local_invocation_index) i: u32) {
    var side = 0u;
    sums[0][i] = in[id.x];
    for (var by = 1u; by < 8; by <<= 1u) {
        workgroupBarrier();
        let more = select(0, sums[side][max(i, by) - by], i >= by);
        sums[1 - side][i] = sums[side][i] + more;
        side = 1 - side;
    }
    out[id.x] = sums[side][i];
}
