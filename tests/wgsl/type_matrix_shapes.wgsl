// Matrices of all nine shapes: columns of rows, made of scalars or columns, m[column][row].
// kernel: main
// arg: buf:float:18
// expect: 3, 4, 4, 6, 5, 8, 4, 6, 6, 9, 8, 12, 5, 8, 8, 12, 11, 16
@group(0) @binding(0) var<storage, read_write> out: array<f32>;
@compute @workgroup_size(1)
fn main() {
    let a = mat2x2f(1, 2, 3, 4);
    let b = mat2x3f(vec3f(1, 2, 3), vec3f(4, 5, 6));
    let c = mat2x4<f32>(1, 2, 3, 4, 5, 6, 7, 8);
    let d = mat3x2(1.0, 2.0, 3.0, 4.0, 5.0, 6.0);
    let e = mat3x3f(1, 2, 3, 4, 5, 6, 7, 8, 9);
    let f = mat3x4f(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12);
    let g = mat4x2f(1, 2, 3, 4, 5, 6, 7, 8);
    let h = mat4x3f(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12);
    let i = mat4x4f(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16);
    out[0] = a[1][0];
    out[1] = a[1].y;
    out[2] = b[1][0];
    out[3] = b[1].z;
    out[4] = c[1].x;
    out[5] = c[1][3];
    out[6] = d[1][1];
    out[7] = d[2].y;
    out[8] = e[1].z;
    out[9] = e[2][2];
    out[10] = f[1][3];
    out[11] = f[2].w;
    out[12] = g[2].x;
    out[13] = g[3][1];
    out[14] = h[2][1];
    out[15] = h[3].z;
    out[16] = i[2].z;
    out[17] = i[3][3];
}
