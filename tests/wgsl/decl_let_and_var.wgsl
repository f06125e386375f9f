// let keeps a value, var a variable; types that are given convert abstract numbers, others are those of the value.
// kernel: main
// arg: buf:float:7
// expect: 1, 2.5, 3, 4, 0, 6, 2.5
@group(0) @binding(0) var<storage, read_write> out: array<f32>;
@compute @workgroup_size(1)
fn main() {
    let a = 1;
    let b: f32 = 2.5;
    var c = 3u;
    var d: f32 = 4;
    var e: f32;
    let before = b;
    var f = vec2f(5, 6);
    out[0] = f32(a);
    out[1] = b;
    out[2] = f32(c);
    out[3] = d;
    out[4] = e;
    out[5] = f.y;
    d = before;
    out[6] = d;
}
