// Columns and components of matrix variables are assigned by constant and computed indices.
// kernel: main
// arg: buf:int:1=2
// arg: buf:float:9
// expect: 1, 2, 3, 0, 20, 0, 7, 8, 11
@group(0) @binding(0) var<storage, read> at: array<i32>;
@group(0) @binding(1) var<storage, read_write> out: array<f32>;
@compute @workgroup_size(1)
fn main() {
    var m: mat3x3f;
    m[0] = vec3f(1, 2, 3);
    m[1].y = 20;
    m[at[0]] = vec3f(7, 8, 9);
    m[at[0]][at[0]] += 2;
    for (var i = 0; i < 9; i++) {
        out[i] = m[i / 3][i % 3];
    }
}
