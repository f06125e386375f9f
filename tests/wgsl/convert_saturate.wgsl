// Floats outside of an integer type's range become its nearest value, or the nearest float in it.
// kernel: main
// arg: buf:float:5=1e20, -1e20, -5, 3e9, -3e9
// arg: buf:int:8
// expect: 2147483647, -2147483648, 2147483647, -2147483648, -1, 0, 0, -1294967296
@group(0) @binding(0) var<storage, read> in: array<f32>;
@group(0) @binding(1) var<storage, read_write> out: array<i32>;
@compute @workgroup_size(1)
fn main() {
    out[0] = i32(in[0]) | 127;
    out[1] = i32(in[1]);
    out[2] = i32(in[3]) | 127;
    out[3] = i32(in[4]);
    out[4] = bitcast<i32>(u32(in[0]) | 255);
    out[5] = i32(u32(in[1]));
    out[6] = i32(u32(in[2]));
    out[7] = bitcast<i32>(u32(in[3]));
}
