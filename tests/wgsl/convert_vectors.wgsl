// Conversions of vectors, component by component.
// kernel: main
// arg: buf:float4:1=1.5, -2.5, 3.9, 0
// arg: buf:int:12
// expect: 1, -2, 3, 0, 1, 0, 3, 0, 1, 1, 1, 0
@group(0) @binding(0) var<storage, read> in: vec4f;
@group(0) @binding(1) var<storage, read_write> out: array<vec4<i32>>;
@compute @workgroup_size(1)
fn main() {
    out[0] = vec4<i32>(in);
    out[1] = vec4i(vec4u(in));
    out[2] = vec4i(vec4<bool>(in));
}
