// bitcast between i32, u32, f32 and vectors of them.
// kernel: main
// arg: buf:float:4=1, -2, 0.5, -0.0
// arg: buf:uint:12
// expect: 0x3f800000, 0xc0000000, 0x3f000000, 0x80000000, 0x3f800000, 0xc0000000, 0x3f800000, 0xffffffff, 1,
//         0xc0000000, 5, 7
@group(0) @binding(0) var<storage, read> in: vec4f;
@group(0) @binding(1) var<storage, read_write> out: array<u32>;
@compute @workgroup_size(1)
fn main() {
    let v = bitcast<vec4u>(in);
    out[0] = v.x;
    out[1] = v.y;
    out[2] = v.z;
    out[3] = v.w;
    out[4] = bitcast<u32>(in.x);
    out[5] = u32(bitcast<i32>(in.y));
    out[6] = bitcast<u32>(bitcast<f32>(0x3f800000));
    out[7] = bitcast<u32>(-1);
    out[8] = u32(bitcast<f32>(bitcast<i32>(in.x)));
    out[9] = bitcast<vec2u>(bitcast<vec2i>(in.xy)).y;
    out[10] = bitcast<u32>(5u);
    out[11] = bitcast<vec3u>(vec3i(5, 6, 7)).z;
}
