// radians: degrees to radians; of scalars, vectors, and in constant expressions.
// kernel: main
// arg: buf:float:9=0, 90, -90, 180, 45, -30, 360, 1, 57.2957802
// arg: buf:float:20
// expect: 0, 1.57079633, -1.57079633, 3.14159265, 0.785398163, -0.523598776, 6.28318531, 0.0174532925,
//         1.00000001, 0, 1.57079633, -1.57079633, 3.14159265, 0.785398163, -0.523598776, 6.28318531,
//         0.0174532925, 1.00000001, 3.14159265, 3.14159265 ulp 4
@group(0) @binding(0) var<storage, read> in: array<f32, 9>;
@group(0) @binding(1) var<storage, read_write> out: array<f32>;
const known = radians(180.0);
@compute @workgroup_size(1)
fn main() {
    for (var i = 0; i < 9; i++) {
        out[i] = radians(in[i]);
    }
    let a = radians(vec2f(in[0], in[1]));
    let b = radians(vec3f(in[2], in[3], in[4]));
    let c = radians(vec4f(in[5], in[6], in[7], in[8]));
    for (var i = 0; i < 4; i++) {
        if i < 2 { out[9 + i] = a[i]; }
        if i < 3 { out[11 + i] = b[i]; }
        out[14 + i] = c[i];
    }
    out[18] = known;
    out[19] = radians(vec2(180.0, 180.0)).x;
}
