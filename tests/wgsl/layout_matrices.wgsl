// Matrices in buffers: columns of 3 rows lie 16 bytes apart, of 2 rows 8.
// kernel: main
// arg: buf:float:24=1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24
// arg: buf:float:7
// expect: 5, 11, 13, 18, 15, 17, 24
struct Data {
    m: mat3x3f,   // 0: 48
    n: mat2x2f,   // 48
    o: mat2x4f,   // 64
}
@group(0) @binding(0) var<storage, read> data: Data;
@group(0) @binding(1) var<storage, read_write> out: array<f32>;
@compute @workgroup_size(1)
fn main() {
    out[0] = data.m[1][0];
    out[1] = data.m[2][2];
    out[2] = data.n[0][0];
    out[3] = data.o[0].y;
    out[4] = data.n[1].x;
    let o = data.o;
    out[5] = o[0].x;
    out[6] = o[1].w;
}
