// Vectors of 2, 3 and 4: made of scalars and shorter vectors, of one value, zeros, of other component types.
// kernel: main
// arg: buf:float:4=1, 2, 3, 4
// arg: buf:float:16
// expect: 1, 2, 3, 4, 1, 1, 2, 3, 5, 5, 5, 0, 1, 2, 3, 3
@group(0) @binding(0) var<storage, read> in: array<f32>;
@group(0) @binding(1) var<storage, read_write> out: array<vec4<f32>>;
@compute @workgroup_size(1)
fn main() {
    let a = vec2(in[0], in[1]);
    let b = vec3(in[0], a);
    out[0] = vec4(a, vec2(in[2], in[3]));
    out[1] = vec4(b, in[2]);
    out[2] = vec4(vec3<f32>(5), vec4<f32>().x);
    out[3] = vec4<f32>(vec4<i32>(vec4(1.9, 2.9, 3.1, 3.9)));
}
