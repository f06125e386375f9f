// dot of float and integer vectors.
// kernel: main
// arg: buf:float4:1=1, 2, 3, 4
// arg: buf:float:7
// expect: 5, 14, 30, 20, -11, 32, 26
@group(0) @binding(0) var<storage, read> in: vec4f;
@group(0) @binding(1) var<storage, read_write> out: array<f32>;
@compute @workgroup_size(1)
fn main() {
    out[0] = dot(in.xy, in.xy);
    out[1] = dot(in.xyz, in.xyz);
    out[2] = dot(in, in);
    out[3] = dot(in, in.wzyx);
    out[4] = f32(dot(vec2i(in.xy), vec2i(-3, -4)));
    out[5] = f32(dot(vec3u(in.xyz), vec3u(4, 5, 6)));
    out[6] = dot(vec2(2, 4), vec2(3, 5));
}
