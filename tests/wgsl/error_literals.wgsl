// Literals out of range, or written wrongly.
// error: 10: u32
// error: 11: i32
// error: 12: i32
// error: 13: large
// error: 14: large
// error: 15: f32
// error: 18: u32
@group(0) @binding(0) var<storage, read_write> out: array<i32>;
const a = 4294967296u;
const b = 2147483648i;
const c: i32 = 2147483648;
const d = 1e40f;
const e = 9223372036854775808;
const f: f32 = 1e39;
@compute @workgroup_size(1)
fn main() {
    let g: u32 = -1;
    out[0] = 1;
}
