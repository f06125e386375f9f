// Writes outside of a buffer change at most an element of it: other buffers, and the elements in front, stay.
// kernel: main
// global: 8
// arg: buf:int:8=1, 2, 3, 4, 5, 6, 7, 8
// expect: 1, 2, 3, 4, 5, 6, 7, *
// arg: buf:int:8=1, 2, 3, 4, 5, 6, 7, 8
// expect: 11, 12, 13, 14, 15, 16, 17, 18
@group(0) @binding(0) var<storage, read_write> data: array<i32>;
@group(0) @binding(1) var<storage, read_write> other: array<i32>;
@compute @workgroup_size(8)
fn main(@builtin(local_invocation_index) i: u32) {
    data[8 + i * 1000000u] = 99; // finds: out-of-bounds
    other[i] += 10;
}
