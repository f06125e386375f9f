// Elements of structs outside of a runtime-sized array of a struct: its head and the elements inside stay.
// kernel: main
// global: 4
// arg: buf:int:8=9, 9, 1, 2, 3, 4, 5, 6
// expect: 9, 9, 11, 12, 13, 14, *, *
struct Pair { a: i32, b: i32 }
struct Data { head: vec2i, pairs: array<Pair> }
@group(0) @binding(0) var<storage, read_write> data: Data;
@compute @workgroup_size(4)
fn main(@builtin(local_invocation_index) i: u32) {
    if i < 2 {
        data.pairs[i].a += 10;
        data.pairs[i].b += 10;
    } else {
        data.pairs[i + 1].a = -1; // finds: out-of-bounds
        data.pairs[i * 1000].b = -1; // finds: out-of-bounds
    }
}
