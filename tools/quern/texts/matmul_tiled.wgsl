struct Args { m: u32, n: u32, k: u32 }
@group(0) @binding(0) var<uniform> args: Args;
@group(0) @binding(1) var<storage> a: array<f32>;
@group(0) @binding(2) var<storage> b: array<f32>;
@group(0) @binding(3) var<storage, read_write> c: array<f32>;
const tile = 16u;
var<workgroup> a_tile: array<array<f32, tile>, tile>;
var<workgroup> b_tile: array<array<f32, tile>, tile>;

@compute @workgroup_size(local_x, local_y)
fn matmul_tiled(@builtin(global_invocation_id) id: vec3u, @builtin(local_invocation_id) local: vec3u) {
    let x = local.x;
    let y = local.y;
    let column = id.x;
    let row = id.y;
    var sum = 0.0;
    for (var start = 0u; start < args.k; start += tile) {
        a_tile[y][x] = a[row * args.k + start + x];
        b_tile[y][x] = b[(start + y) * args.n + column];
        workgroupBarrier();
        for (var i = 0u; i < tile; i++) { sum += a_tile[y][i] * b_tile[i][x]; }
        workgroupBarrier();
    }
    c[row * args.n + column] = sum;
}
