// Types with wrong parameters, and names that are no types or no values.
// error: 15: vec2
// error: 16: vector
// error: 17: matrix
// error: 18: n
// error: 19: i32
// error: 20: max
// error: 21: ptr
// error: 22: atomic
// error: 23: mat5x2
// error: 26: i32
// error: 27: array
// error: 28: n
const n = 4;
var<private> a: vec2<bool, i32>;
var<private> b: vec2<array<i32, 2>>;
var<private> c: mat2x2<i32>;
var<private> d: n;
var<private> e: i32<f32>;
var<private> f: max;
var<private> g: ptr<i32>;
var<private> h: atomic<bool>;
var<private> j: mat5x2<f32>;
@compute @workgroup_size(1)
fn main() {
    let k = i32;
    let l = array<i32, 2>;
    let m = n(1);
}
