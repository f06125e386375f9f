// length, distance and normalize of scalars and vectors.
// kernel: main
// arg: buf:float4:1=3, 4, 12, 84
// arg: buf:float:11
// expect: 5, 13, 85, 4, 5, 3, 0.6, 0.8, 0.923076923, 0.988235294, 5 ~1e-6
@group(0) @binding(0) var<storage, read> in: vec4f;
@group(0) @binding(1) var<storage, read_write> out: array<f32>;
@compute @workgroup_size(1)
fn main() {
    out[0] = length(in.xy);
    out[1] = length(in.xyz);
    out[2] = length(in);
    out[3] = length(-in.y);
    out[4] = distance(in.xy, vec2f(0, 8));
    out[5] = distance(in.x, 6.0);
    let n = normalize(in.xy);
    out[6] = n.x;
    out[7] = n.y;
    out[8] = normalize(in.xyz).z;
    out[9] = normalize(in).w;
    out[10] = length(vec2(3.0, 4.0));
}
