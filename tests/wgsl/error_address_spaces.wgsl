// Variables in address spaces that do not go where they stand.
// error: 12: a
// error: 13: function
// error: 14: atomic
// error: 15: d
// error: 16: array
// error: 17: shared
// error: 18: let
// error: 21: private
// error: 22: workgroup
// error: 23: atomic
var a: i32;
var<function> b: i32;
var<private> c: atomic<i32>;
var<workgroup> d: i32 = 4;
var<workgroup> e: array<i32>;
var<shared> f: i32;
let g = 1;
@compute @workgroup_size(1)
fn main() {
    var<private> h: i32;
    var<workgroup> i: i32;
    var j: atomic<i32>;
}
