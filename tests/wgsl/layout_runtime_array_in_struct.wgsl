// A runtime-sized array as the last member of a struct: arrayLength counts what is behind the others.
// kernel: main
// arg: buf:int:10=100, 0, 1, 2, 3, 4, 5, 6, 7, 8
// expect: 100, 4, 3, 4, 5, 6, 7, 8, 9, 10
struct Data {
    bias: i32,
    count: u32,
    items: array<vec2i>,
}
@group(0) @binding(0) var<storage, read_write> data: Data;
@compute @workgroup_size(1)
fn main() {
    data.count = arrayLength(&data.items);
    for (var i = 0u; i < data.count; i++) {
        data.items[i] += i32(data.bias / 50);
    }
}
