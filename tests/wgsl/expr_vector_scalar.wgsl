// Arithmetic of vectors with scalars on either side, and with vectors.
// kernel: main
// arg: buf:float:2=2, 8
// arg: buf:float:14
// expect: 3, 4, 1, 0, 2, 4, 4, 2, 0.5, 1, 0, 1, 3, 10
@group(0) @binding(0) var<storage, read> in: array<f32>;
@group(0) @binding(1) var<storage, read_write> out: array<vec2f>;
@compute @workgroup_size(1)
fn main() {
    let a = in[0];
    let v = vec2f(1, 2);
    out[0] = v + a;
    out[1] = a - v + vec2f(0, 0);
    out[2] = a * v;
    out[3] = in[1] / (v * a);
    out[4] = v / a;
    out[5] = vec2f(in[1], 5) % a;
    out[6] = v + vec2f(a, in[1]);
}
