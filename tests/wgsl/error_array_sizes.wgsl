// Sizes of arrays that are none.
// error: 9: 0
// error: 10: -1
// error: 11: integer
// error: 12: array
// error: 13: array
// error: 14: type
// error: 17: array
var<private> a: array<i32, 0>;
var<private> b: array<i32, -1>;
var<private> c: array<i32, 1.5>;
var<private> d: array<i32>;
var<private> e: array<array<i32>, 2>;
var<private> f: array<4, i32>;
@compute @workgroup_size(1)
fn main() {
    var g: array<f32>;
}
