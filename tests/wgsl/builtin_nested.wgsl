// Calls within calls, of vectors and scalars.
// kernel: main
// arg: buf:float4:1=-1.5, 2.5, 9, 0.25
// arg: buf:float:4
// expect: 3, 2, 0.5, 2
@group(0) @binding(0) var<storage, read> in: vec4f;
@group(0) @binding(1) var<storage, read_write> out: array<f32>;
@compute @workgroup_size(1)
fn main() {
    out[0] = sqrt(max(abs(in.x), min(in.z, max(in.y, 100.0))));
    out[1] = clamp(floor(abs(in)).x, round(in.y), trunc(in.z));
    out[2] = select(sqrt(in.w), 0.0, all(in > vec4f()));
    out[3] = dot(saturate(in), vec4f(1)) - fract(in.w);
}
