struct Args { n: u32, a: f32 }
@group(0) @binding(0) var<uniform> args: Args;
@group(0) @binding(1) var<storage> x: array<f32>;
@group(0) @binding(2) var<storage, read_write> y: array<f32>;

@compute @workgroup_size(local_x, local_y)
fn saxpy(@builtin(global_invocation_id) id: vec3u) {
    let i = id.x;
    if (i < args.n) { y[i] = args.a * x[i] + y[i]; }
}
