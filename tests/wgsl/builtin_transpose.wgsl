// transpose: columns are rows.
// skip: naga has it not in constant expressions
// kernel: main
// arg: buf:float:8=1, 2, 3, 0, 4, 5, 6, 0
// arg: buf:float:10
// expect: 1, 4, 2, 5, 3, 6, 1, 3, 2, 4
@group(0) @binding(0) var<storage, read> in: mat2x3f;
@group(0) @binding(1) var<storage, read_write> out: array<f32>;
@compute @workgroup_size(1)
fn main() {
    let m: mat3x2f = transpose(in);
    const k = transpose(mat2x2(1.0, 2.0, 3.0, 4.0));
    for (var i = 0; i < 6; i++) { out[i] = m[i / 2][i % 2]; }
    out[6] = k[0].x;
    out[7] = k[0].y;
    out[8] = k[1].x;
    out[9] = k[1].y;
}
