// A matrix product by tiles of 4 x 4 in work-group memory; small integers, so that sums are exact.
// kernel: main
// global: 8, 8
// local: 4, 4
// arg: buf:uint:4=8, 12, 8, 0
// arg: buf:float:96=5, 0, 1, 4, -4, 3, -1, -4, -2, -3, 1, 3, -1, 2, 4, -3, 5, -1, -4, -1, 2, 0, -2, 2, -2,
//         -3, -2, 5, 5, 3, -2, -2, -4, -4, -1, -1, -2, -2, 0, 1, -1, 4, -1, -2, -1, 2, 0, -4, 1, 2, -2, -2,
//         0, -3, 1, 0, 5, 5, -4, 5, 1, -3, 0, 1, 0, 3, 1, -2, 3, 3, -2, -4, 0, -4, 1, 2, -4, 4, 2, 1, 2, 5,
//         -4, 3, -4, -2, 5, -1, -3, -1, 3, 1, 4, 1, 4, 0
// arg: buf:float:96=3, -3, 5, 1, 0, -4, 2, -3, -1, 1, 4, 5, 1, -2, 1, 0, 4, -3, 0, 1, 0, -2, -3, -2, 0, 3,
//         -2, -4, -3, 5, 4, 2, -4, -1, 5, 1, 0, 3, 2, -2, -4, -4, 3, 1, -1, -2, 5, -2, 2, -3, -2, 2, 1, -2,
//         -4, 2, 0, -2, 3, 5, -2, 4, 3, 3, 1, 3, 0, 0, 3, 2, -2, -3, 2, 4, -2, 3, 1, -2, -3, 3, 0, 4, 4, 4,
//         1, -3, 1, 5, -4, 0, 1, 4, 0, 3, 0, 0
// arg: buf:float:64
// expect: 1, -17, 9, -26, -16, -26, 36, -19, -19, -5, 30, 16, 14, 14, -12, -46, -55, -15, 3, -65, -36, 48,
//         65, -11, 1, 4, -25, -35, -7, -18, 10, 3, 2, 27, -15, 35, 28, 17, -46, -15, 21, -1, -26, -38, 6,
//         -15, -9, -21, 12, -11, -52, -7, -7, 11, -15, -2, 38, 20, -33, 21, 20, -10, -56, 28
struct Sizes {
    m: u32,
    k: u32,
    n: u32,
}
@group(0) @binding(0) var<uniform> sizes: Sizes;
@group(0) @binding(1) var<storage, read> a: array<f32>;
@group(0) @binding(2) var<storage, read> b: array<f32>;
@group(0) @binding(3) var<storage, read_write> c: array<f32>;
const tile = 4u;
alias Tile = array<array<f32, tile>, tile>;
var<workgroup> of_a: Tile;
var<workgroup> of_b: Tile;
@compute @workgroup_size(tile, tile)
fn main(@builtin(global_invocation_id) id: vec3u, @builtin(local_invocation_id) local: vec3u) {
    var sum = 0.0;
    for (var at = 0u; at < sizes.k; at += tile) {
        of_a[local.y][local.x] = a[id.y * sizes.k + at + local.x];
        of_b[local.y][local.x] = b[(at + local.y) * sizes.n + id.x];
        workgroupBarrier();
        for (var i = 0u; i < tile; i++) {
            sum = fma(of_a[local.y][i], of_b[i][local.x], sum);
        }
        workgroupBarrier();
    }
    c[id.y * sizes.n + id.x] = sum;
}
