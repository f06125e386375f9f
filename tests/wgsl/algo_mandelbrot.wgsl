// Iteration counts of the Mandelbrot set at exact coordinates.
// kernel: main
// global: 12, 8
// arg: buf:uint:96
// expect: 1, 1, 2, 3, 3, 3, 4, 6, 24, 4, 2, 2, 1, 2, 3, 3, 3, 4, 6, 22, 24, 5, 3, 2, 1, 3, 3, 4, 5, 6, 24,
//         24, 24, 24, 5, 3, 1, 4, 5, 9, 24, 13, 24, 24, 24, 24, 5, 3, 24, 24, 24, 24, 24, 24, 24, 24, 24, 24,
//         5, 3, 1, 4, 5, 9, 24, 13, 24, 24, 24, 24, 5, 3, 1, 3, 3, 4, 5, 6, 24, 24, 24, 24, 5, 3, 1, 2, 3, 3,
//         3, 4, 6, 22, 24, 5, 3, 2
@group(0) @binding(0) var<storage, read_write> out: array<u32>;
fn squared(z: vec2f) -> vec2f {
    return vec2f(z.x * z.x - z.y * z.y, 2 * z.x * z.y);
}
@compute @workgroup_size(4, 4)
fn main(@builtin(global_invocation_id) id: vec3u, @builtin(num_workgroups) groups: vec3u) {
    let c = vec2f(-2, -1) + 0.25 * vec2f(id.xy);
    var z = vec2f();
    var n = 0u;
    while n < 24 && dot(z, z) <= 4 {
        z = squared(z) + c;
        n++;
    }
    out[id.y * groups.x * 4 + id.x] = n;
}
