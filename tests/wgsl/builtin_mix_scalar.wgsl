// mix of vectors by one factor.
// kernel: main
// arg: buf:float:1=0.25
// arg: buf:float:5
// expect: 2, 4, 1.25, 2.5, 3.75
@group(0) @binding(0) var<storage, read> t: f32;
@group(0) @binding(1) var<storage, read_write> out: array<f32>;
@compute @workgroup_size(1)
fn main() {
    let a = mix(vec2f(1, 2), vec2f(5, 10), t);
    let b = mix(vec3f(1, 2, 3), vec3f(2, 4, 6), t);
    out[0] = a.x;
    out[1] = a.y;
    out[2] = b.x;
    out[3] = b.y;
    out[4] = b.z;
}
