// Computed indices outside of vectors and matrices: something of them or zero, nothing else is changed.
// kernel: main
// arg: buf:uint:2=4, 0xfffffff0
// arg: buf:float:4
// expect: 1, 1, 3, 5
@group(0) @binding(0) var<storage, read> at: array<u32>;
@group(0) @binding(1) var<storage, read_write> out: array<f32>;
@compute @workgroup_size(1)
fn main() {
    var v = vec3f(1, 1, 1);
    var other = 3.0;
    var m = mat2x2f(1, 1, 1, 1);
    var last = 5.0;
    let x = v[at[0]] + v[at[1]]; // finds: out-of-bounds
    let y = m[at[0]][at[1]]; // finds: out-of-bounds
    out[0] = f32(x >= 0 && x <= 2);
    out[1] = f32(y >= 0 && y <= 1);
    v[at[0]] = 1; // finds: out-of-bounds
    m[at[1]][at[0]] = 1; // finds: out-of-bounds
    out[2] = other * v.x;
    out[3] = last * m[1][0];
}
