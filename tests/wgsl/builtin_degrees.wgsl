// degrees: radians to degrees; of scalars, vectors, and in constant expressions.
// kernel: main
// arg: buf:float:9=0, 1, -1, 0.5, 3, -2, 2.5, 3.14159274, 1.5
// arg: buf:float:20
// expect: 0, 57.2957795, -57.2957795, 28.6478898, 171.887339, -114.591559, 143.239449, 180.000005,
//         85.9436693, 0, 57.2957795, -57.2957795, 28.6478898, 171.887339, -114.591559, 143.239449,
//         180.000005, 85.9436693, 28.6478898, 28.6478898 ulp 4
@group(0) @binding(0) var<storage, read> in: array<f32, 9>;
@group(0) @binding(1) var<storage, read_write> out: array<f32>;
const known = degrees(0.5);
@compute @workgroup_size(1)
fn main() {
    for (var i = 0; i < 9; i++) {
        out[i] = degrees(in[i]);
    }
    let a = degrees(vec2f(in[0], in[1]));
    let b = degrees(vec3f(in[2], in[3], in[4]));
    let c = degrees(vec4f(in[5], in[6], in[7], in[8]));
    for (var i = 0; i < 4; i++) {
        if i < 2 { out[9 + i] = a[i]; }
        if i < 3 { out[11 + i] = b[i]; }
        out[14 + i] = c[i];
    }
    out[18] = known;
    out[19] = degrees(vec2(0.5, 0.5)).x;
}
