// sign of i32 and vectors of it.
// kernel: main
// arg: buf:int4:1=-5, 5, 0, -2147483648
// arg: buf:int:6
// expect: -1, 1, 0, -1, -1, 1
@group(0) @binding(0) var<storage, read> in: vec4i;
@group(0) @binding(1) var<storage, read_write> out: array<i32>;
@compute @workgroup_size(1)
fn main() {
    let v = sign(in);
    for (var i = 0; i < 4; i++) { out[i] = v[i]; }
    out[4] = sign(in.x);
    out[5] = sign(9);
}
