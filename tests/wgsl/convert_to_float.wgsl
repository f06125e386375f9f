// Integers beyond 2^24 become the nearest float, ties to even; i32 and u32 differ in the top bit.
// kernel: main
// arg: buf:int:5=16777216, 16777219, -1, 2147483647, -16777221
// arg: buf:float:6
// expect: 16777216, 16777220, 4294967296, 2147483648, -16777220, -1
@group(0) @binding(0) var<storage, read> in: array<i32>;
@group(0) @binding(1) var<storage, read_write> out: array<f32>;
@compute @workgroup_size(1)
fn main() {
    out[0] = f32(in[0]);
    out[1] = f32(in[1]);
    out[2] = f32(u32(in[2]));
    out[3] = f32(in[3]);
    out[4] = f32(in[4]);
    out[5] = f32(in[2]);
}
