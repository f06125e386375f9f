struct Args { m: u32, n: u32, k: u32 }
@group(0) @binding(0) var<uniform> args: Args;
@group(0) @binding(1) var<storage> a: array<f32>;
@group(0) @binding(2) var<storage> b: array<f32>;
@group(0) @binding(3) var<storage, read_write> c: array<f32>;

@compute @workgroup_size(local_x, local_y)
fn matmul_naive(@builtin(global_invocation_id) id: vec3u) {
    let column = id.x;
    let row = id.y;
    if (row >= args.m || column >= args.n) { return; }
    var sum = 0.0;
    for (var i = 0u; i < args.k; i++) { sum += a[row * args.k + i] * b[i * args.n + column]; }
    c[row * args.n + column] = sum;
}
