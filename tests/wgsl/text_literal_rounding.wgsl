// Literals are rounded to the nearest f32, ties to even.
// kernel: main
// arg: buf:uint:5
// expect: 0x3dcccccd, 0x3eaaaaab, 0x4b800000, 0x4b800002, 0x40490fdb
@group(0) @binding(0) var<storage, read_write> out: array<u32>;
@compute @workgroup_size(1)
fn main() {
    out[0] = bitcast<u32>(0.1f);
    out[1] = bitcast<u32>(0.3333333333333333333333f);
    out[2] = bitcast<u32>(16777217.0f);
    out[3] = bitcast<u32>(16777219.0f);
    out[4] = bitcast<u32>(3.14159265358979323846264338327950288f);
}
