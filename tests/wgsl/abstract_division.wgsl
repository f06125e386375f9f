// Division and remainder of abstract integers truncate; of abstract floats they are exact to f64.
// kernel: main
// arg: buf:float:6
// expect: -3, -1, 3, 0.5, -1.5, 0.25
@group(0) @binding(0) var<storage, read_write> out: array<f32>;
const a = -7 / 2;
const b = -7 % 2;
const c = 7 % 4;
const d = 8.5 % 2.0;
const e = -7.5 % 2.0;
const f = 1.0 / 4;
@compute @workgroup_size(1)
fn main() {
    out[0] = a;
    out[1] = b;
    out[2] = c;
    out[3] = d;
    out[4] = e;
    out[5] = f;
}
