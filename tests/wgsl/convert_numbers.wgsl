// Conversions between i32, u32 and f32: floats are cut off toward zero, bits of integers kept.
// kernel: main
// arg: buf:float:4=3.99, -3.99, 2147483520, 4294967040
// arg: buf:int:8
// expect: 3, -3, 2147483520, 3, -1, -2147483648, 2147483520, -256
@group(0) @binding(0) var<storage, read> in: array<f32>;
@group(0) @binding(1) var<storage, read_write> out: array<i32>;
@compute @workgroup_size(1)
fn main() {
    out[0] = i32(in[0]);
    out[1] = i32(in[1]);
    out[2] = i32(in[2]);
    out[3] = i32(u32(in[0]));
    var all = 4294967295u;
    out[4] = i32(all);
    var least = -2147483648;
    out[5] = i32(u32(least));
    out[6] = i32(u32(in[2]));
    out[7] = i32(u32(in[3]));
}
