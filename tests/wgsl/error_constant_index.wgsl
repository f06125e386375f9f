// Constant indices outside of arrays, vectors and matrices.
// error: 15: 3
// error: 16: -1
// error: 17: 2
// error: 18: 2
// error: 19: 3
// error: 20: 5
// error: 21: -1
@group(0) @binding(0) var<storage, read_write> out: array<i32>;
@compute @workgroup_size(1)
fn main() {
    var a = array(1, 2, 3);
    var v = vec2f(1);
    var m = mat2x3f();
    out[0] = a[3];
    out[0] = a[-1];
    v[2] = 1;
    let x = m[2];
    let y = m[1][3];
    const k = array(1, 2)[5];
    out[-1] = 1;
}
