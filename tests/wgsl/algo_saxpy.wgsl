// saxpy: y = a x + y, with the scalars in a uniform buffer.
// kernel: saxpy
// global: 8
// arg: buf:uint:2=7, 0x40000000
// arg: buf:float:8=1, 2, 3, 4, 5, 6, 7, 8
// arg: buf:float:8=10, 20, 30, 40, 50, 60, 70, 80
// expect: 12, 24, 36, 48, 60, 72, 84, 80
struct Params {
    n: u32,
    a: f32,
}
@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> x: array<f32>;
@group(0) @binding(2) var<storage, read_write> y: array<f32>;

@compute @workgroup_size(4)
fn saxpy(@builtin(global_invocation_id) id: vec3<u32>) {
    if (id.x < params.n) {
        y[id.x] += params.a * x[id.x];
    }
}
