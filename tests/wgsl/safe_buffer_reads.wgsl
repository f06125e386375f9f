// Reads outside of a buffer give some element of it or zero, and the reads inside are right.
// kernel: main
// global: 8
// arg: buf:int:4=5, 5, 5, 5
// arg: buf:int:8
// expect: 1
@group(0) @binding(0) var<storage, read> in: array<i32>;
@group(0) @binding(1) var<storage, read_write> out: array<i32>;
@compute @workgroup_size(8)
fn main(@builtin(local_invocation_index) i: u32) {
    var far = array<u32, 8>(0, 3, 4, 5, 1000, 0x40000000, 0x80000000, 0xffffffff);
    let x = in[far[i]]; // finds: out-of-bounds
    let y = in[i32(i) - 4]; // finds: out-of-bounds
    let right = x == 5 || (x == 0 && i > 1);
    out[i] = i32(right && (y == 5 || y == 0));
}
