// Compound assignment of matrices: sum, scale, product.
// kernel: main
// arg: buf:float:8
// expect: 2, 4, 6, 8, 4, 2, 8, 6
@group(0) @binding(0) var<storage, read_write> out: array<f32>;
@compute @workgroup_size(1)
fn main() {
    var m = mat2x2f(1, 2, 3, 4);
    var n = m;
    n += m;
    m *= 2;
    m *= mat2x2f(0, 1, 1, 0);
    for (var i = 0; i < 4; i++) {
        out[i] = n[i / 2][i % 2];
    }
    out[4] = m[1].y;
    out[5] = m[1].x;
    out[6] = m[0].y;
    out[7] = m[0].x;
}
