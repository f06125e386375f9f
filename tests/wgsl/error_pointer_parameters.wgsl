// Pointers as parameters: other spaces, one variable by two ways, results.
// error: 12: ptr
// error: 17: ptr
// error: 18: ptr
// error: 19: ptr
// error: 20: &i
// error: 21: &global
fn take(p: ptr<function, i32>) { *p = 1; }
fn both(p: ptr<function, i32>, q: ptr<function, i32>) { *p = *q; }
var<private> global: i32;
fn of_global(p: ptr<private, i32>) { *p = global; }
fn gives(p: ptr<function, i32>) -> ptr<function, i32> { return p; }
@compute @workgroup_size(1)
fn main() {
    var i = 1;
    var f = 1.5;
    take(i);
    take(&f);
    take(&global);
    both(&i, &i);
    of_global(&global);
}
