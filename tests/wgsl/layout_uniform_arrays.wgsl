// Arrays in uniform buffers have strides of 16: of vec4, of structs, and of scalars with @size.
// kernel: main
// arg: buf:int:32=0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27,
//      28, 29, 30, 31
// arg: buf:int:6
// expect: 5, 8, 12, 20, 26, 30
struct Padded {
    @size(16) value: i32,
}
struct Pair {
    a: vec2i,
    b: vec2i,
}
struct Data {
    vectors: array<vec4i, 2>,
    numbers: array<Padded, 4>,
    pairs: array<Pair, 2>,
}
@group(0) @binding(0) var<uniform> data: Data;
@group(0) @binding(1) var<storage, read_write> out: array<i32>;
@compute @workgroup_size(1)
fn main() {
    out[0] = data.vectors[1].y;
    out[1] = data.numbers[0].value;
    out[2] = data.numbers[1].value;
    out[3] = data.numbers[3].value;
    out[4] = data.pairs[0].b.x;
    out[5] = data.pairs[1].b.x;
}
