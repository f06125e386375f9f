// bool: operators, conversions from and to numbers, vectors of it, zero values.
// kernel: main
// arg: buf:int:4=0, 3, -1, 0
// arg: buf:int:12
// expect: 0, 1, 1, 1, 0, 0, 1, 1, 0, 1, 0, 1
@group(0) @binding(0) var<storage, read> in: array<i32>;
@group(0) @binding(1) var<storage, read_write> out: array<i32>;
@compute @workgroup_size(1)
fn main() {
    let f = bool(in[0]);
    let t = bool(in[1]);
    out[0] = i32(f);
    out[1] = i32(t);
    out[2] = i32(bool(in[2]));
    out[3] = i32(t | f);
    out[4] = i32(t & f);
    out[5] = i32(bool(0.0));
    out[6] = i32(bool(-0.5));
    out[7] = i32(t != f);
    out[8] = i32(bool());
    var v = vec3<bool>(t, f, t);
    v.y = !v.y;
    out[9] = i32(all(v));
    v = !v;
    out[10] = i32(any(v));
    out[11] = i32(u32(t) == 1u && f32(t) == 1.0);
}
