// Variables in address spaces that do not go where they stand.
// error: 11: a
// error: 12: address space
// error: 13: atomic
// error: 14: d
// error: 15: array
// error: 16: address space
// error: 19: address space
// error: 20: address space
// error: 21: atomic
var a: i32;
var<function> b: i32;
var<private> c: atomic<i32>;
var<workgroup> d: i32 = 4;
var<workgroup> e: array<i32>;
var<shared> f: i32;
@compute @workgroup_size(1)
fn main() {
    var<private> h: i32;
    var<workgroup> i: i32;
    var j: atomic<i32>;
}
