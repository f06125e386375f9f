// A matrix and scalars in a uniform buffer.
// kernel: main
// arg: buf:float:20=2, 0, 0, 0, 0, 3, 0, 0, 0, 0, 4, 0, 10, 20, 30, 1, 1, 1, 1, 5
// arg: buf:float:4
// expect: 12, 23, 34, 5
struct Camera {
    transform: mat4x4f,
    point: vec3f,
    scale: f32,
}
@group(0) @binding(0) var<uniform> camera: Camera;
@group(0) @binding(1) var<storage, read_write> out: vec4f;
@compute @workgroup_size(1)
fn main() {
    let p = camera.transform * vec4f(camera.point, 1);
    out = vec4f(p.xyz / p.w, camera.scale);
}
