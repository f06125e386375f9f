// @align and @size move members and make them longer; the struct's size is rounded up to its largest alignment.
// kernel: main
// arg: buf:int:32=0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27,
//      28, 29, 30, 31
// arg: buf:int:8
// expect: 0, 4, 5, 12, 16, 20, 21, 28
struct Data {
    a: i32,                      // 0
    @align(16) b: i32,           // 16
    @size(20) c: i32,            // 20, to 40
    @align(16) @size(16) d: i32, // 48, to 64
}
@group(0) @binding(0) var<storage, read> data: array<Data>;
@group(0) @binding(1) var<storage, read_write> out: array<i32>;
@compute @workgroup_size(1)
fn main() {
    for (var i = 0u; i < 2; i++) {
        out[4 * i] = data[i].a;
        out[4 * i + 1] = data[i].b;
        out[4 * i + 2] = data[i].c;
        out[4 * i + 3] = data[i].d;
    }
}
