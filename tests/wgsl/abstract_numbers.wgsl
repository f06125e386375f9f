// Abstract numbers have the range of i64 and f64 until a type is asked for.
// kernel: main
// arg: buf:int:8
// expect: 1, 3, 7, 2, 1000, 15, 1, -2
@group(0) @binding(0) var<storage, read_write> out: array<i32>;
const big = 4294967296 * 1024;
const bits = 0x7fffffffffffffff;
const nearly = 1.0 + 1e-12;
@compute @workgroup_size(1)
fn main() {
    out[0] = big / 4398046511104;
    out[1] = bits >> 61;
    out[2] = i32(7.0);
    out[3] = i32(1e30 / 5e29);
    out[4] = i32((nearly - 1.0) * 1e15 + 0.5);
    out[5] = (1 << 36) / (1 << 33) + 7;
    out[6] = i32(0.1 + 0.2 != 0.3);
    out[7] = -7 / 3;
}
