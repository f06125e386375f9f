// Whole matrices, columns and components written to a buffer leave what is between columns.
// kernel: main
// arg: buf:float:20=-1
// expect: 1, 2, 3, -1, 4, 50, 6, -1, 7, 8, 9, -1, 10, 11, 12, -1, 20, 21, 22, 23
@group(0) @binding(0) var<storage, read_write> data: Data;
struct Data {
    m: mat4x3f,
    n: mat2x2f,
}
@compute @workgroup_size(1)
fn main() {
    data.m = mat4x3f(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12);
    data.m[1].y *= 10;
    data.n = mat2x2f(20, 0, 0, 23);
    data.n[0][1] = 21;
    data.n[1].x = 22;
}
