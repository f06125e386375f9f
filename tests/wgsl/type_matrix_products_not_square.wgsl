// Products of matrices that are not square: mat2x3 by mat4x2 is a mat4x3.
// kernel: main
// arg: buf:float:12
// expect: 9, 12, 15, 19, 26, 33, 29, 40, 51, 39, 54, 69
@group(0) @binding(0) var<storage, read_write> out: array<f32>;
@compute @workgroup_size(1)
fn main() {
    var a = mat2x3f(1, 2, 3, 4, 5, 6);
    var b = mat4x2f(1, 2, 3, 4, 5, 6, 7, 8);
    let c: mat4x3f = a * b;
    for (var i = 0; i < 4; i++) {
        for (var j = 0; j < 3; j++) {
            out[3 * i + j] = c[i][j];
        }
    }
}
