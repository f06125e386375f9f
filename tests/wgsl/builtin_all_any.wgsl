// all and any of vectors and of one bool.
// kernel: main
// arg: buf:int4:1=1, 0, 1, 1
// arg: buf:int:8
// expect: 0, 1, 1, 1, 0, 0, 1, 0
@group(0) @binding(0) var<storage, read> in: vec4i;
@group(0) @binding(1) var<storage, read_write> out: array<i32>;
@compute @workgroup_size(1)
fn main() {
    let v = in == vec4i(1);
    out[0] = i32(all(v));
    out[1] = i32(any(v));
    out[2] = i32(all(v.xzw));
    out[3] = i32(any(v.yx));
    out[4] = i32(any(v.yy));
    out[5] = i32(all(v.y));
    out[6] = i32(any(v.x));
    out[7] = i32(all(vec3(true, false, true)));
}
