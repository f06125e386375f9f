// reverseBits of u32, i32, vectors.
// kernel: main
// arg: buf:uint:3=1, 0x0000ffff, 0x12345678
// arg: buf:uint:6
// expect: 0x80000000, 0xffff0000, 0x1e6a2c48, 0x80000000, 0xffff0000, 0x1e6a2c48
@group(0) @binding(0) var<storage, read> in: array<u32, 3>;
@group(0) @binding(1) var<storage, read_write> out: array<u32>;
@compute @workgroup_size(1)
fn main() {
    let v = bitcast<vec3u>(reverseBits(bitcast<vec3i>(vec3u(in[0], in[1], in[2]))));
    for (var i = 0; i < 3; i++) {
        out[i] = reverseBits(in[i]);
        out[3 + i] = v[i];
    }
}
