// Integer vectors: operators with scalars and vectors, signed and unsigned.
// kernel: main
// arg: buf:int4:1=7, -7, 100, 0
// arg: buf:int:28
// expect: 9, -5, 102, 2, 3, -3, 50, 0, 1, -1, 0, 0, -7, 7, -100, 0, 14, -14, 200, 0, 7, 1, 4, 0, 3, -4, 50, 0
@group(0) @binding(0) var<storage, read> in: vec4i;
@group(0) @binding(1) var<storage, read_write> out: array<vec4i>;
@compute @workgroup_size(1)
fn main() {
    out[0] = in + 2;
    out[1] = in / 2;
    out[2] = in % vec4i(2);
    out[3] = -in;
    out[4] = in * 2;
    out[5] = vec4i(vec4u(in) & vec4u(7, 3, 4, 9));
    out[6] = in >> vec4u(1);
}
