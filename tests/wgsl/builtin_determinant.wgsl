// determinant of matrices of 2, 3 and 4.
// skip: naga has it not in constant expressions
// kernel: main
// arg: buf:float:4=2, 3, 5, 7
// arg: buf:float:4
// expect: -1, 3, 24, -2 ~1e-5
@group(0) @binding(0) var<storage, read> in: mat2x2f;
@group(0) @binding(1) var<storage, read_write> out: array<f32>;
@compute @workgroup_size(1)
fn main() {
    out[0] = determinant(in);
    out[1] = determinant(mat3x3f(vec3f(in[0], 3), vec3f(5, 7, 11), vec3f(1, 1, 2)) * mat3x3f(1, 0, 0, 0, 1, 0, 0, 0, 1));
    out[2] = determinant(mat4x4f(in[0][0], 0, 0, 0, 5, 3, 0, 0, 6, 7, 4, 0, 8, 9, 10, 1));
    out[3] = determinant(mat2x2(1, 2, 3, 4));
}
