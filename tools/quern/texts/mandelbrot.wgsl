struct Args { left: f32, top: f32, pixel: f32, limit: u32 }
@group(0) @binding(0) var<uniform> args: Args;
@group(0) @binding(1) var<storage, read_write> steps: array<u32>;

@compute @workgroup_size(local_x, local_y)
fn mandelbrot(@builtin(global_invocation_id) id: vec3u, @builtin(num_workgroups) groups: vec3u) {
    let cx = args.left + args.pixel * f32(id.x);
    let cy = args.top - args.pixel * f32(id.y);
    var x = 0.0;
    var y = 0.0;
    var count = 0u;
    while (count < args.limit && x * x + y * y <= 4.0) {
        let next = x * x - y * y + cx;
        y = 2.0 * x * y + cy;
        x = next;
        count++;
    }
    steps[id.y * groups.x * local_x + id.x] = count;
}
