// Matrix by matrix, by vector from either side, by scalar; sums and differences.
// kernel: main
// arg: buf:float:4=2, 3, 5, 7
// arg: buf:float:24
// expect: 12, 17, 8, 19, 12, 17, 9, 13, 4, 6, 10, 14, 4, 6, 10, 14, 6, 10, 12, 18, 0, 0, 0, 0
@group(0) @binding(0) var<storage, read> in: mat2x2<f32>;
@group(0) @binding(1) var<storage, read_write> out: array<f32>;
@compute @workgroup_size(1)
fn main() {
    let v = vec2f(1, 2);
    let column = in * v;
    let row = v * in;
    let product = in * mat2x2f(1, 2, 2, 1);
    out[0] = column.x;
    out[1] = column.y;
    out[2] = row.x;
    out[3] = row.y;
    let twice = in * 2;
    let again = 2 * in;
    let sum = in + in + mat2x2f(2, 4, 2, 4);
    let nothing = in - in;
    for (var i = 0; i < 4; i++) {
        out[4 + i] = product[i / 2][i % 2];
        out[8 + i] = twice[i / 2][i % 2];
        out[12 + i] = again[i / 2][i % 2];
        out[16 + i] = sum[i / 2][i % 2];
        out[20 + i] = nothing[i / 2][i % 2];
    }
}
