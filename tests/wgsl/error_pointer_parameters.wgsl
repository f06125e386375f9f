// Pointers as parameters: values and other spaces in their place, and as results.
// error: 8: ptr
// error: 13: ptr
// error: 14: ptr
// error: 15: ptr
fn take(p: ptr<function, i32>) { *p = 1; }
var<private> global: i32;
fn gives(p: ptr<function, i32>) -> ptr<function, i32> { return p; }
@compute @workgroup_size(1)
fn main() {
    var i = 1;
    var f = 1.5;
    take(i);
    take(&f);
    take(&global);
}
